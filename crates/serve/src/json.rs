//! Bodies of JSON. A body is read once, into a value from which its fields are made. Names that an object has
//! twice are refused in this reading, as in files: readers differ in which of the two counts. Among features,
//! names are paths: `{"user.age": 1, "user": {"age": 2}}` has one twice.

use std::collections::HashSet;
use std::fmt;

use noregret_stream::without_nan;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::map::{Entry, Map};
use serde_json::{Number, Value};

use crate::refusal::{Refusal, cut, shown};

/// The key of the features.
const FEATURES: &str = "x";

/// Parses JSON of a request.
/// Refused with 400 for invalid JSON, and 422 for invalid content or a name that comes twice, with the field.
pub(crate) fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    made(read(bytes)?, bytes)
}

/// The same for the body of a round: its features are handed over as they were read, and null in the body,
/// because fields of any value are made by building them again.
/// Fails as [`parsed`] does.
pub(crate) fn parsed_round<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, Value), Refusal> {
    let mut value = read(bytes)?;
    let x = value.as_object_mut().and_then(|body| body.get_mut(FEATURES)).map(Value::take);
    Ok((made(value, bytes)?, x.unwrap_or_default()))
}

/// What `value` says, which was read from `bytes`.
fn made<T: DeserializeOwned>(value: Value, bytes: &[u8]) -> Result<T, Refusal> {
    // serde would accept lists of values for structs.
    if value.is_array() {
        return Err(Refusal::invalid("body", format!("the body is a list; an object was needed{MANY}")));
    }
    if let Ok(parsed) = T::deserialize(value) {
        return Ok(parsed);
    }
    // The path of fields is only tracked after an error.
    serde_path_to_error::deserialize(read(bytes)?).map_err(|error| {
        let path = error.path().to_string();
        let what = error.into_inner().to_string();
        let field = cut(&named(&path, &what), MOST_REPEATED);
        let what = sentence(&field, &what);
        Refusal::invalid(&field, what)
    })
}

/// The way out where several objects are sent as one body.
const MANY: &str = "; predict, learn, decide, feedback and activate take many, a line each, with the header \
                    content-type: application/x-ndjson";

/// Whether several objects are in a body, a line each.
fn has_lines(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').filter(|line| line.trim_ascii_start().starts_with(b"{")).count() > 1
}

/// Number of characters of a body that are repeated in a refusal.
const MOST_REPEATED: usize = 200;

/// What serde says of a value of another kind, or of a name that is no field, in the words of JSON.
fn sentence(field: &str, what: &str) -> String {
    let unknown = what.strip_prefix("unknown field `").and_then(|rest| rest.rsplit_once("`, expected "));
    if let Some((_, known)) = unknown {
        let known = known.trim_start_matches("one of ").replace('`', "");
        return format!("{field} is no field of this request, which may have {known}");
    }
    if what.starts_with("missing field ") {
        return format!("{field} is missing; it was needed");
    }
    let word = what.strip_prefix("unknown variant `").and_then(|rest| rest.rsplit_once("`, expected "));
    if let Some((found, words)) = word {
        return format!("{field} is {}; {} was needed", shown(found), words.replace('`', ""));
    }
    let other = what.strip_prefix("invalid type: ").or_else(|| what.strip_prefix("invalid value: "));
    let Some((found, needed)) = other.and_then(|rest| rest.rsplit_once(", expected ")) else {
        return cut(what, MOST_REPEATED);
    };
    let scalar = found.strip_prefix("string ").or_else(|| found.split_once('`')?.1.strip_suffix('`'));
    let found = match found {
        "map" => "an object",
        "sequence" => "a list",
        _ => scalar.unwrap_or(found),
    };
    let needed = match needed {
        "u32" | "u64" | "usize" => "a whole number from 0",
        "f64" => "a number",
        "a string" | "string or map" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if needed.starts_with("struct ") => "an object",
        _ => needed,
    };
    format!("{field} is {}; {needed} was needed", cut(found, MOST_REPEATED))
}

/// The field that an error of serde at `path` is about: a missing one is named in its text only.
fn named(path: &str, what: &str) -> String {
    let missing = what.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    match (path, missing) {
        (".", None) => "body".to_owned(),
        (".", Some(name)) => name.to_owned(),
        (path, None) => path.to_owned(),
        (path, Some(name)) => format!("{path}.{name}"),
    }
}

/// Reads a body.
/// Fails if it is no JSON, or an object has a name twice.
fn read(bytes: &[u8]) -> Result<Value, Refusal> {
    // A byte order mark, as some programs of Windows write it.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reading = Reading::default();
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let place = Place { reading: &mut reading, is_body: true, is_feature: false };
    let error = match place.deserialize(&mut json) {
        Ok(value) => {
            return match json.end() {
                Ok(()) => Ok(value),
                Err(_) => {
                    let way_out = if has_lines(bytes) { MANY } else { "" };
                    Err(Refusal::malformed(format!("there is text after the JSON of the body{way_out}")))
                }
            };
        }
        Err(error) => error,
    };
    if reading.is_twice {
        return Err(reading.twice());
    }
    // NaN is no JSON, but programs write it for a missing number.
    if let Some(plain) = std::str::from_utf8(bytes).ok().and_then(without_nan) {
        return read(plain.as_bytes());
    }
    if bytes.trim_ascii().is_empty() {
        return Err(Refusal::malformed("the body is empty; JSON was needed"));
    }
    if error.is_eof() {
        let what = format!("the body ends before its JSON does, after {} bytes", bytes.len());
        return Err(Refusal::malformed(what));
    }
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
    if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
        let field = reading.field();
        return Err(Refusal::invalid(&field, format!("{field} cannot be read: {what}")));
    }
    let what = format!("the body cannot be read as JSON: {what} at column {}", error.column());
    Err(Refusal::malformed(what))
}

/// Where reading has failed.
#[derive(Default)]
struct Reading {
    /// The keys and indices of the place, the innermost first.
    place: Vec<String>,
    /// Whether it has a name that its object has already.
    is_twice: bool,
}

impl Reading {
    fn field(&self) -> String {
        if self.place.is_empty() {
            return "body".to_owned();
        }
        self.place.iter().rev().map(String::as_str).collect::<Vec<_>>().join(".")
    }

    fn twice(&self) -> Refusal {
        let (Some(name), Some(first)) = (self.place.first(), self.place.last()) else {
            return Refusal::invalid("body", "a name appears twice");
        };
        match (self.place.len(), &**first) {
            (1, field) => Refusal::invalid(field, format!("the name {} appears twice", shown(field))),
            (_, FEATURES) => {
                let path = self.field();
                let path = path.split_once('.').map_or(&*path, |(_, path)| path);
                Refusal::invalid(FEATURES, format!("feature {} appears twice", shown(path)))
            }
            (_, field) => {
                Refusal::invalid(field, format!("the name {} appears twice in one object", shown(name)))
            }
        }
    }
}

/// A value to be read.
struct Place<'a> {
    reading: &'a mut Reading,
    /// Whether it is the body.
    is_body: bool,
    /// Whether it is the features of the body, or among them.
    is_feature: bool,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let Self { reading, is_feature, .. } = self;
        let mut values = Vec::new();
        loop {
            let item = Place { reading: &mut *reading, is_body: false, is_feature };
            match list.next_element_seed(item) {
                Ok(Some(value)) => values.push(value),
                Ok(None) => return Ok(Value::Array(values)),
                Err(error) => {
                    reading.place.push(values.len().to_string());
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Self { reading, is_body, is_feature } = self;
        let mut object = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let place = match object.entry(name) {
                Entry::Vacant(place) => place,
                Entry::Occupied(place) => {
                    reading.is_twice = true;
                    reading.place.push(place.key().clone());
                    return Err(A::Error::custom("twice"));
                }
            };
            let is_feature = is_feature || (is_body && place.key() == FEATURES);
            match map.next_value_seed(Place { reading: &mut *reading, is_body: false, is_feature }) {
                Ok(value) => drop(place.insert(value)),
                Err(error) => {
                    reading.place.push(place.key().clone());
                    return Err(error);
                }
            }
        }
        if is_feature && let Some(path) = path_twice(&object) {
            reading.is_twice = true;
            reading.place.push(path);
            return Err(A::Error::custom("twice"));
        }
        Ok(Value::Object(object))
    }
}

/// A path of features that `object` has twice.
fn path_twice(object: &Map<String, Value>) -> Option<String> {
    // Paths of different keys are only equal where one key goes on from another: `user.age` from `user`.
    let goes_on = |key: &String| {
        let before =
            |(at, _)| object.get(&key[..at]).is_some_and(|value| value.is_object() || value.is_array());
        key.match_indices('.').any(before)
    };
    if !object.keys().any(goes_on) {
        return None;
    }
    noted(object, "", &mut HashSet::new())
}

/// Adds the paths of `object`, which itself is at `at`, to `seen`, until one is there already.
fn noted(object: &Map<String, Value>, at: &str, seen: &mut HashSet<String>) -> Option<String> {
    object.iter().find_map(|(key, value)| noted_value(value, format!("{at}{key}"), seen))
}

fn noted_value(value: &Value, path: String, seen: &mut HashSet<String>) -> Option<String> {
    if !seen.insert(path.clone()) {
        return Some(path);
    }
    match value {
        Value::Object(object) => noted(object, &format!("{path}."), seen),
        Value::Array(list) => {
            // Texts of a list are a set without order.
            let numbered = list.iter().enumerate().filter(|(_, item)| !item.is_string());
            numbered.into_iter().find_map(|(at, item)| noted_value(item, format!("{path}.{at}"), seen))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> (u16, String, String) {
        let refusal = read(text.as_bytes()).expect_err(text);
        (refusal.status, refusal.field.unwrap_or_default(), refusal.detail)
    }

    #[test]
    fn a_body_is_the_value_that_serde_json_reads() {
        for text in [
            "null",
            r#"{"a": [1, -1, 18446744073709551615, 1e30, -0.0, 0.1], "b": {"c": "\u00e9\n"}, "": true}"#,
            r#"{"x": {"u.a": 1, "u": 2, "v": {"a": null}, "v.b": 3, "tags": ["a", "a"]}}"#,
        ] {
            let expected: Value = serde_json::from_str(text).expect("JSON");
            let found = read(text.as_bytes()).expect("JSON");
            assert_eq!(found.to_string(), expected.to_string());
        }
        assert_eq!(read(br#"{"a": NaN}"#), Ok(serde_json::json!({"a": null})));
        assert_eq!(read("\u{feff}{\"a\": 1}".as_bytes()), Ok(serde_json::json!({"a": 1})));
    }

    /// Values of another kind, in plain words, and not at their full length.
    #[test]
    fn values_of_another_kind_are_told() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Kind {
            Full,
            Bandit,
        }
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "none is read")]
        struct Body {
            count: u64,
            weight: Option<f64>,
            name: Option<String>,
            is: Option<bool>,
            list: Option<Vec<String>>,
            kind: Option<Kind>,
        }
        let long = "a".repeat(1000);
        for (text, what) in [
            (r#"{"count": 1.5}"#.to_owned(), "count is 1.5; a whole number from 0 was needed".to_owned()),
            (r#"{"count": -1}"#.to_owned(), "count is -1; a whole number from 0 was needed".to_owned()),
            (
                r#"{"count": {}}"#.to_owned(),
                "count is an object; a whole number from 0 was needed".to_owned(),
            ),
            (r#"{"count": 1, "weight": true}"#.to_owned(), "weight is true; a number was needed".to_owned()),
            (r#"{"count": 1, "name": [1]}"#.to_owned(), "name is a list; a text was needed".to_owned()),
            (r#"{"count": 1, "is": "a"}"#.to_owned(), "is is \"a\"; true or false was needed".to_owned()),
            (r#"{"count": 1, "list": {}}"#.to_owned(), "list is an object; a list was needed".to_owned()),
            ("{}".to_owned(), "count is missing; it was needed".to_owned()),
            (
                r#"{"count": 1, "kind": "bandits"}"#.to_owned(),
                "kind is \"bandits\"; full or bandit was needed".to_owned(),
            ),
            ("3".to_owned(), "body is 3; an object was needed".to_owned()),
            (r#"[{"count": 1}]"#.to_owned(), format!("the body is a list; an object was needed{MANY}")),
            (
                r#"{"counts": 1}"#.to_owned(),
                "counts is no field of this request, which may have count, weight, name, is, list, kind"
                    .to_owned(),
            ),
            (
                format!(r#"{{"count": "{long}"}}"#),
                format!("count is \"{}…; a whole number from 0 was needed", &long[1..MOST_REPEATED]),
            ),
        ] {
            assert_eq!(parsed::<Body>(text.as_bytes()).expect_err(&text).detail, what);
        }
        let refusal = parsed::<Body>(format!(r#"{{"{long}": 1}}"#).as_bytes()).expect_err("no such field");
        assert!(refusal.detail.len() < 300 && refusal.field.is_some_and(|field| field.len() < 300));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let twice = |what: &str| format!("{what} appears twice");
        for (text, status, field, what) in [
            (r#"{"a": 1, "a": 2}"#, 422, "a", twice("the name \"a\"")),
            (r#"{"x": {"u": [0, {"a": 1, "a": NaN}]}}"#, 422, "x", twice("feature \"u.1.a\"")),
            (r#"{"x": {"u": {"v": 1}, "u.v": 1}}"#, 422, "x", twice("feature \"u.v\"")),
            (r#"{"x": {"w": {"u.0": 1, "u": [2]}}}"#, 422, "x", twice("feature \"w.u.0\"")),
            (r#"{"x": {"a.b": {"c": 1}, "a": {"b.c": 1}}}"#, 422, "x", twice("feature \"a.b.c\"")),
            (r#"{"y": [{"a": NaN, "a": 1}]}"#, 422, "y", twice("the name \"a\"") + " in one object"),
            (r#"{"x": {"v": [1, 1e999]}}"#, 422, "x.v.1", "x.v.1 cannot be read: number out of range".into()),
            (r#"{"a": 1} 2"#, 400, "", "there is text after the JSON of the body".into()),
            ("{\"a\": 1}\n{\"a\": 2}\n", 400, "", format!("there is text after the JSON of the body{MANY}")),
            (" ", 400, "", "the body is empty; JSON was needed".into()),
            (r#"{"a": 1"#, 400, "", "the body ends before its JSON does, after 7 bytes".into()),
            (r#"{"a": }"#, 400, "", "the body cannot be read as JSON: expected value at column 7".into()),
        ] {
            assert_eq!(refusal(text), (status, field.to_owned(), what), "{text}");
        }
    }
}

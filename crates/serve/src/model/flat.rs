//! Features of a round by name, read from JSON in one pass: `{"user": {"age": 31}, "hue": "red"}`
//! has `user.age` = 31 and `hue=red` = 1; a text that is a time has the features of a time in a table. This
//! list is stored and logged; reading it again gives bit-equal features.

use std::fmt;

use noregret_stream::encode::LARGEST_NORM;
use noregret_stream::moment_features;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::refusal::{Refusal, shown};
use crate::safety::limits::Limits;

/// Greatest depth of nested objects.
const DEEPEST: usize = 16;
/// See the [module](self).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flat {
    /// All names, concatenated.
    names: String,
    /// End of each name, and the value.
    ends: Vec<(u32, f64)>,
    /// The longest name: where it begins, and its length in bytes.
    longest: (usize, usize),
    /// The paths with null: numbers that are missing; those with empty texts have `=` and these behind them.
    missing: Vec<String>,
    /// Whether there is an object or a list, rather than null.
    some: bool,
    /// The first error.
    wrong: Option<String>,
}

impl Flat {
    /// The features by name, in their original form.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        let mut begin = 0;
        self.ends.iter().map(move |(end, value)| {
            let name = &self.names[begin..*end as usize];
            begin = *end as usize;
            (name, *value)
        })
    }

    /// Features that were read otherwise; those without a value are missing.
    pub(crate) fn named<'a>(features: impl IntoIterator<Item = (&'a str, Option<f64>)>) -> Self {
        let mut flat = Self { some: true, ..Self::default() };
        for (name, value) in features {
            match value {
                Some(value) => flat.push(name, None, value),
                None => flat.missing.push(name.to_owned()),
            }
        }
        flat
    }

    /// The names of missing numbers, and of empty texts, which end with `=` and the text.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        self.missing.iter().map(String::as_str)
    }

    /// Whether the features are absent.
    pub fn is_null(&self) -> bool {
        !self.some && self.wrong.is_none()
    }

    /// Checks the features.
    /// Fails if a value is not a feature, a number is too large, or there are too many features.
    pub(crate) fn check(&self, field: &str, limits: &Limits) -> Result<(), Refusal> {
        let (begin, length) = self.longest;
        let names = self.missing().chain([&self.names[begin..begin + length]]);
        let longest = names.max_by_key(|name| name.len()).unwrap_or_default();
        let wrong = match &self.wrong {
            None if longest.len() > limits.name => {
                let (name, most) = (shown(longest), limits.name);
                format!(
                    "feature {name} has a name of more than {most} bytes, which is the limit (--name-bytes)"
                )
            }
            None if self.ends.len() <= limits.columns => return Ok(()),
            None => {
                format!("there are more than {} features, which is the limit (--columns)", limits.columns)
            }
            Some(what) => what.clone(),
        };
        Err(Refusal::invalid(field, wrong))
    }

    /// The same for a JSON value.
    /// Fails as [`Flat::check`] does.
    pub(crate) fn of(field: &str, value: &Value, limits: &Limits) -> Result<Self, Refusal> {
        let flat = Self::deserialize(value).expect("a value is JSON");
        flat.check(field, limits).map(|()| flat)
    }

    fn push(&mut self, path: &str, text: Option<&str>, value: f64) {
        if self.wrong.is_some() {
            return;
        }
        self.names.push_str(path);
        if let Some(text) = text {
            self.names.push('=');
            self.names.push_str(text);
        }
        let begin = self.ends.last().map_or(0, |(end, _)| *end as usize);
        if self.names.len() - begin > self.longest.1 {
            self.longest = (begin, self.names.len() - begin);
        }
        if value.is_nan() || value.abs() > LARGEST_NORM {
            let name = shown(path);
            self.wrong =
                Some(format!("feature {name} is {value:e}; a number of at most {LARGEST_NORM:e} was needed"));
        } else {
            // Bodies are shorter than 4 GiB.
            self.ends.push((self.names.len() as u32, value));
        }
    }
}

/// The features of a request. In logs of before, a time is a category, and stays one: they are deserialised.
impl From<Value> for Flat {
    fn from(value: Value) -> Self {
        let flat = Self::deserialize(value).expect("a value is JSON");
        if flat.wrong.is_some() || flat.iter().all(|(name, _)| time_of(name).is_none()) {
            return flat;
        }
        let mut told = Self { missing: flat.missing.clone(), some: flat.some, ..Self::default() };
        for (name, value) in flat.iter() {
            match time_of(name) {
                Some(features) => features.iter().for_each(|(name, value)| told.push(name, None, *value)),
                None => told.push(name, None, value),
            }
        }
        told
    }
}

/// The features of the time that the category `name` has as its text.
fn time_of(name: &str) -> Option<Vec<(String, f64)>> {
    let (path, text) = name.rsplit_once('=')?;
    moment_features(path, text)
}

/// Whether a text in `x` is a time.
pub(crate) fn has_times(x: &Value) -> bool {
    match x {
        Value::String(text) => moment_features("", text).is_some(),
        Value::Array(list) => list.iter().any(has_times),
        Value::Object(features) => features.values().any(has_times),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

impl Serialize for Flat {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if !self.some {
            return to.serialize_unit();
        }
        let mut map = to.serialize_map(Some(self.ends.len() + self.missing.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, &value)?;
        }
        for name in &self.missing {
            map.serialize_entry(name, &())?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Flat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut flat = Self::default();
        let mut path = String::new();
        Place { flat: &mut flat, path: &mut path, depth: 0, at: None }.deserialize(from)?;
        Ok(flat)
    }
}

/// A value at `path`.
struct Place<'a> {
    flat: &'a mut Flat,
    path: &'a mut String,
    /// 0 is the root.
    depth: usize,
    /// Its index in a list, not yet part of the path.
    at: Option<usize>,
}

impl Place<'_> {
    /// Appends the index in a list to the path, except for texts, which are a set without order.
    fn enter(&mut self, is_text: bool) {
        use std::fmt::Write as _;
        let Some(at) = self.at.take() else { return };
        // Writing to a text does not fail.
        let _ = match self.depth {
            1 => write!(self.path, "{at}"),
            _ if is_text => Ok(()),
            _ => write!(self.path, ".{at}"),
        };
    }

    fn number(mut self, value: f64) {
        self.enter(false);
        if self.depth == 0 {
            self.no_features(&value.to_string());
        } else {
            self.flat.push(self.path, None, value);
        }
    }

    fn no_features(self, found: &str) {
        let what = format!("the features are {found}; an object of them, or an array, was needed");
        self.flat.wrong.get_or_insert(what);
    }

    /// Whether nested values are read.
    fn begin(&mut self) -> bool {
        self.enter(false);
        if self.depth == 0 {
            self.flat.some = true;
        } else if self.depth > DEEPEST {
            let what = format!("feature {} is nested more than {DEEPEST} deep", shown(self.path));
            self.flat.wrong.get_or_insert(what);
            return false;
        }
        true
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

/// A key, which is added to the path.
struct Key<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<(), E> {
        self.0.push_str(name);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("features")
    }

    fn visit_unit<E>(mut self) -> Result<(), E> {
        self.enter(false);
        if self.depth > 0 && self.flat.wrong.is_none() {
            self.flat.missing.push(self.path.clone());
        }
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        if self.depth == 0 {
            self.no_features(&value.to_string());
        } else {
            self.number(f64::from(u8::from(value)));
        }
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.number(value as f64);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.number(value as f64);
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.number(value);
        Ok(())
    }

    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        self.enter(true);
        if self.depth == 0 {
            self.no_features(&shown(text));
        } else if text.trim_ascii().is_empty() {
            self.flat.missing.push(format!("{}={text}", self.path));
        } else {
            self.flat.push(self.path, Some(text), 1.0);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        if !self.begin() {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let length = self.path.len();
        let mut at = 0;
        loop {
            let item = Place { flat: self.flat, path: self.path, depth: self.depth + 1, at: Some(at) };
            if list.next_element_seed(item)?.is_none() {
                return Ok(());
            }
            self.path.truncate(length);
            at += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        if !self.begin() {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let length = self.path.len();
        if self.depth > 0 {
            self.path.push('.');
        }
        let begin = self.path.len();
        while map.next_key_seed(Key(self.path))?.is_some() {
            let value = Place { flat: self.flat, path: self.path, depth: self.depth + 1, at: None };
            map.next_value_seed(value)?;
            self.path.truncate(begin);
        }
        self.path.truncate(length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flat(text: &str) -> Flat {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn objects_are_paths_texts_are_categories() {
        let text = r#"{"user": {"age": 31, "tags": ["a", "b", {"deep": true}, [7]]}, "hue": "red", "none": null, "zero": -0.0}"#;
        let read = flat(text);
        let listed: Vec<(&str, f64)> = read.iter().collect();
        let expected = [
            ("user.age", 31.0),
            ("user.tags=a", 1.0),
            ("user.tags=b", 1.0),
            ("user.tags.2.deep", 1.0),
            ("user.tags.3.0", 7.0),
            ("hue=red", 1.0),
            ("zero", 0.0),
        ];
        assert_eq!(listed, expected);
        let again = serde_json::to_string(&read).expect("plain data");
        assert_eq!(flat(&again), read);
        assert!(again.contains(r#""zero":-0.0,"none":null"#), "{again}");
        assert_eq!(read.missing().collect::<Vec<_>>(), ["none"]);
        let listed = flat(r#"[1, "red", [2]]"#);
        assert_eq!(listed.iter().collect::<Vec<_>>(), [("0", 1.0), ("1=red", 1.0), ("2.0", 2.0)]);
        let listed = flat(r#"[1, null, {"a": null, "hue": "", "tags": ["red", " "]}]"#);
        assert_eq!(listed.missing().collect::<Vec<_>>(), ["1", "2.a", "2.hue=", "2.tags= "]);
        let again = serde_json::to_string(&listed).expect("plain data");
        assert_eq!(flat(&again).missing().collect::<Vec<_>>(), ["1", "2.a", "2.hue=", "2.tags= "]);
    }

    /// A time in a request has the features of a time in a table; what is logged is read as it stands.
    #[test]
    fn times_are_no_categories() {
        let given = r#"{"at": "2000-01-03T12:00:00Z", "seen": ["2000-01-04"], "month": "2000-01", "no": null, "age": 3}"#;
        let given: Value = serde_json::from_str(given).expect("JSON");
        assert!(has_times(&given) && !has_times(&json!({"a": ["2000-01", 1], "b": null})));
        let logged = Flat::of("x", &given, &Limits::default()).expect("features");
        assert!(logged.iter().any(|(name, _)| name == "at=2000-01-03T12:00:00Z"), "{logged:?}");
        let told = Flat::from(given);
        let names: Vec<&str> = told.iter().map(|(name, _)| name).collect();
        let of_time = ["days", "hour_sin", "hour_cos", "year_sin", "year_cos"];
        let wanted: Vec<String> = (of_time.iter().map(|part| format!("at:{part}")))
            .chain(["at:weekday=Mon".to_owned()])
            .chain(of_time.iter().map(|part| format!("seen:{part}")))
            .chain(["seen:weekday=Tue", "month=2000-01", "age"].map(str::to_owned))
            .collect();
        assert_eq!(names, wanted);
        assert_eq!(
            (told.iter().next(), told.missing().collect::<Vec<_>>()),
            (Some(("at:days", 2.5)), vec!["no"])
        );
        let again = serde_json::to_string(&told).expect("plain data");
        assert_eq!(flat(&again), told);
    }

    #[test]
    fn nothing_is_null_and_null_again() {
        assert!(flat("null").is_null() && !flat("{}").is_null());
        assert_eq!(serde_json::to_string(&flat("null")).expect("plain"), "null");
        assert_eq!(serde_json::to_string(&flat("{}")).expect("plain"), "{}");
    }

    #[test]
    fn what_is_no_feature_is_named() {
        let limits = Limits { columns: 2, ..Limits::default() };
        let deep = format!("{}1{}", r#"{"a":"#.repeat(18), "}".repeat(18));
        let long = format!(r#"{{"{}": 1}}"#, "a".repeat(1025));
        for (text, what) in [
            ("1", "the features are 1; an object of them, or an array, was needed"),
            ("\"a\"", "the features are \"a\"; an object of them, or an array, was needed"),
            (r#"{"v": 1e200}"#, "feature \"v\" is 1e200; a number of at most 1e100 was needed"),
            (r#"{"a": 1, "b": 2, "c": 3}"#, "there are more than 2 features, which is the limit"),
            (&deep, "nested more than 16 deep"),
            (&long, "has a name of more than 1024 bytes"),
            (&long.replace('1', "null"), "has a name of more than 1024 bytes"),
        ] {
            let refusal = flat(text).check("x", &limits).expect_err(text);
            assert!(refusal.detail.contains(what), "{}", refusal.detail);
        }
        assert!(flat(&deep.replacen(r#"{"a":"#, "", 1).replacen('}', "", 1)).check("x", &limits).is_ok());
    }
}

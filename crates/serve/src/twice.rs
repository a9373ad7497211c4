//! Names that an object of JSON has twice. Readers differ in which of the two counts, so they are refused, as
//! in files. Among features, names are paths: `{"user.age": 1, "user": {"age": 2}}` has one twice.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::model::spec::shown;
use crate::refusal::Refusal;

/// The key of the features.
const FEATURES: &str = "x";

/// Separates the keys of a path, except those of features, where a dot does.
const BETWEEN: char = '\0';

/// Refuses a body of JSON, `bytes`, in which an object has a name twice.
///
/// # Errors
/// 422, with the field.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Refusal> {
    let mut names = Names::default();
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let done = Place { names: &mut names, depth: 0, is_feature: false }.deserialize(&mut json);
    // What is no JSON has been refused before.
    let (Err(_), Some(twice)) = (done, names.twice) else { return Ok(()) };
    let (first, name) = twice.split_once(BETWEEN).unwrap_or(("", &twice));
    let name = name.rsplit(BETWEEN).next().unwrap_or(name);
    Err(match first {
        FEATURES => Refusal::invalid(FEATURES, format!("feature {} appears twice", shown(name))),
        "" => Refusal::invalid("body", format!("the name {} appears twice", shown(name))),
        field => Refusal::invalid(field, format!("the name {} appears twice in one object", shown(name))),
    })
}

/// The paths so far.
#[derive(Default)]
struct Names {
    seen: HashSet<String>,
    path: String,
    twice: Option<String>,
}

/// A value, so many objects and lists deep.
struct Place<'a> {
    names: &'a mut Names,
    depth: usize,
    is_feature: bool,
}

impl Place<'_> {
    /// Enters the part `name` of an object or a list, whose path has `length` bytes.
    fn enter(&mut self, length: usize, name: fmt::Arguments<'_>) -> Place<'_> {
        use fmt::Write as _;
        let (names, is_first) = (&mut *self.names, self.depth == 0);
        names.path.truncate(length);
        if !is_first {
            names.path.push(if self.is_feature && self.depth > 1 { '.' } else { BETWEEN });
        }
        // Writing to a text does not fail.
        let _ = names.path.write_fmt(name);
        let is_feature = self.is_feature || (is_first && names.path == FEATURES);
        Place { names, depth: self.depth + 1, is_feature }
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        let length = self.names.path.len();
        let mut at = 0;
        while list.next_element_seed(self.enter(length, format_args!("{at}")))?.is_some() {
            at += 1;
        }
        self.names.path.truncate(length);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let length = self.names.path.len();
        while let Some(name) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            let place = self.enter(length, format_args!("{name}"));
            if !place.names.seen.insert(place.names.path.clone()) {
                place.names.twice = Some(place.names.path.clone());
                return Err(A::Error::custom(""));
            }
            map.next_value_seed(place)?;
        }
        self.names.path.truncate(length);
        Ok(())
    }
}

//! A JSON value whose objects keep repeated keys, and its features.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::fault::{Fault, fault};
use crate::read::error::shown;
use crate::read::number::LARGEST_NORM;
use crate::read::round::Described;
use crate::read::table::moment_features;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    /// In the order of the text.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The last value under `key`, in any case, of an object.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        let Node::Object(pairs) = self else { return None };
        let same = pairs.iter().rev().find(|(name, _)| name == key);
        same.or_else(|| pairs.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case(key)))
            .map(|(_, node)| node)
    }

    /// The number under `key`.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, Fault> {
        match self.get(key) {
            None | Some(Node::Null) => Ok(None),
            Some(Node::Number(number)) => Ok(Some(*number)),
            Some(_) => Err(fault!("{} is not a number", shown(key))),
        }
    }

    /// The numbers in the list under `key`; none if there is no such list.
    pub(super) fn numbers(&self, key: &str) -> Vec<f64> {
        let number = |node: &Node| if let Node::Number(number) = node { Some(*number) } else { None };
        self.get(key).and_then(|list| list.list().iter().map(number).collect()).unwrap_or_default()
    }

    /// The same, also for one number without a list.
    pub(super) fn number_or_numbers(&self, key: &str) -> Vec<f64> {
        match self.get(key) {
            Some(Node::Number(number)) => vec![*number],
            _ => self.numbers(key),
        }
    }

    /// The text under `key`.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        match self.get(key) {
            Some(Node::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// The members of a list.
    pub(super) fn list(&self) -> &[Node] {
        if let Node::List(members) = self { members } else { &[] }
    }
}

/// Adds the features of `node`, which is called `path`; see [`super::json`]. Null is NaN, a missing number.
pub(super) fn features(node: &Node, path: &mut String, into: &mut Described) -> Result<(), Fault> {
    let length = path.len();
    match node {
        Node::Null if path.is_empty() => {}
        Node::Null => into.push((path.clone(), f64::NAN)),
        Node::Bool(flag) => into.push((path.clone(), f64::from(u8::from(*flag)))),
        Node::Number(number) if number.abs() <= LARGEST_NORM => into.push((path.clone(), *number)),
        Node::Number(number) => {
            let what = shown(&**path);
            return Err(fault!(
                "feature {what} is {number:e}; a number of at most {LARGEST_NORM:e} was needed"
            ));
        }
        Node::Text(text) => match moment_features(path, text) {
            Some(of_time) => into.extend(of_time),
            None => into.push((format!("{path}={text}"), 1.0)),
        },
        Node::List(members) => {
            for (at, member) in members.iter().enumerate() {
                if let Node::Number(_) | Node::Null = member {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(&at.to_string());
                }
                features(member, path, into)?;
                path.truncate(length);
            }
        }
        Node::Object(pairs) => {
            for (key, member) in pairs {
                match member {
                    Node::Text(text) if key == "_text" => {
                        into.extend(text.split_whitespace().map(|word| (format!("{path}~{word}"), 1.0)));
                        continue;
                    }
                    _ if key.starts_with('_') => continue,
                    _ => {}
                }
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(key);
                features(member, path, into)?;
                path.truncate(length);
            }
        }
    }
    Ok(())
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Tree)
    }
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut members: S) -> Result<Node, S::Error> {
        let mut list = Vec::new();
        while let Some(member) = members.next_element()? {
            list.push(member);
        }
        Ok(Node::List(list))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut pairs: M) -> Result<Node, M::Error> {
        let mut object = Vec::new();
        while let Some(pair) = pairs.next_entry()? {
            object.push(pair);
        }
        Ok(Node::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in the rows of tables and in requests of the service.
    #[test]
    fn times_are_no_categories() {
        let node: Node = serde_json::from_str(r#"{"User": {"at": "2000-01-03T12:00:00Z"}}"#).expect("JSON");
        let mut found = Vec::new();
        features(&node, &mut String::new(), &mut found).expect("features");
        assert_eq!(found.first(), Some(&("User.at:days".to_owned(), 2.5)));
        assert_eq!(found.last(), Some(&("User.at:weekday=Mon".to_owned(), 1.0)));
    }

    #[test]
    fn repeated_keys_and_words_are_features() {
        let text = r#"{"s": "1", "s": "2", "n": {"a": true, "_x": 3, "b": [1, 2], "c": [{"d": null}, {"e": 4}]}, "_text": "x y"}"#;
        let node: Node = serde_json::from_str(text).expect("JSON");
        let mut found = Vec::new();
        features(&node, &mut String::new(), &mut found).expect("features");
        let found: Vec<(&str, f64)> = found.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let want = [
            ("s=1", 1.0),
            ("s=2", 1.0),
            ("n.a", 1.0),
            ("n.b.0", 1.0),
            ("n.b.1", 2.0),
            ("n.c.d", f64::NAN),
            ("n.c.e", 4.0),
            ("~x", 1.0),
            ("~y", 1.0),
        ];
        assert_eq!(format!("{found:?}"), format!("{want:?}"), "null is a missing number");
        assert_eq!(node.text("S"), Some("2".to_owned()));
    }
}

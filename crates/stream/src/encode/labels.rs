//! The names of classes and of real-valued targets.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use noregret::example::Label;
use serde::{Deserialize, Serialize};

/// Class names and their indices. Saved with a model, so that `predict` can print names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Labels {
    names: Vec<String>,
    index: HashMap<String, u32, RandomState>,
}

impl Labels {
    /// `count` classes that are called by their numbers, from 0.
    pub fn numbered(count: usize) -> Self {
        let names: Vec<String> = (0..count).map(|class| class.to_string()).collect();
        names.iter().map(String::as_str).collect()
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name of a class; `#3` for class 3 if it has no name yet.
    pub fn name(&self, label: Label) -> Cow<'_, str> {
        match self.names.get(label.index()) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("#{}", label.index())),
        }
    }

    /// The class called `name`.
    pub fn find(&self, name: &str) -> Option<Label> {
        self.index.get(name).map(|index| Label(*index))
    }

    /// The class called `name`, added at the end if it is new.
    pub fn intern(&mut self, name: &str) -> Label {
        if let Some(label) = self.find(name) {
            return label;
        }
        let label = Label::from(self.names.len());
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), label.0);
        label
    }

    /// The names in order of class.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The classes sorted: numbers by value, then words alphabetically.
    pub fn sorted(&self) -> Self {
        let mut names = self.names.clone();
        names.sort_by(|a, b| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a_value), Ok(b_value)) => a_value.total_cmp(&b_value).then_with(|| a.cmp(b)),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => a.cmp(b),
        });
        names.iter().map(String::as_str).collect()
    }
}

impl<'a> FromIterator<&'a str> for Labels {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut labels = Self::default();
        for name in names {
            labels.intern(name);
        }
        labels
    }
}

impl TryFrom<Vec<String>> for Labels {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        let labels: Self = names.iter().map(String::as_str).collect();
        match names.iter().enumerate().find(|(at, name)| labels.find(name) != Some(Label::from(*at))) {
            Some((_, name)) => Err(format!("class {name:?} appears twice")),
            None => Ok(labels),
        }
    }
}

impl From<Labels> for Vec<String> {
    fn from(labels: Labels) -> Self {
        labels.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_sorted_by_number_and_then_by_name() {
        let seen: Labels = ["10", "b", "2", "-1", "a", "2"].into_iter().collect();
        assert_eq!(seen.sorted().iter().collect::<Vec<_>>(), ["-1", "2", "10", "a", "b"]);
        assert_eq!(seen.find("2"), Some(Label(2)));
        assert_eq!(seen.sorted().find("2"), Some(Label(1)));
        assert_eq!(seen.find("c"), None);
        assert_eq!((seen.name(Label(1)), seen.name(Label(9))), ("b".into(), "#9".into()));
    }

    #[test]
    fn a_saved_list_with_a_repeated_class_is_refused() {
        assert!(serde_json::from_str::<Labels>(r#"["a", "b"]"#).is_ok());
        let error = serde_json::from_str::<Labels>(r#"["a", "a"]"#).expect_err("twice").to_string();
        assert!(error.contains("appears twice"), "{error}");
    }
}

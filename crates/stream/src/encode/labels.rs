//! The names of classes, with the types of the labels that were given.
//!
//! A class is known by its text. Labels of different texts are different classes, except for numbers, which
//! may be written in several ways: a label that is a number by its type (in JSON, in Python) is the class of
//! the same number; and where all labels are whole numbers, `1.0` is the class `1`, as in a column that a
//! program has turned into decimals. `1.1` and `1.10`, `1` and `01`, `300000` and `3E5` are different classes
//! in CSV, and `1` and `1.0` are, too, beside a label such as `1.1` or `a`. In LIBSVM and VW text, where
//! `+1`, `1` and `1.0` are one class, it is called as it was first written.
//!
//! A text and a number of the same writing, `"1"` and `1` in JSON, are no labels of one model, and neither
//! are `a` and `" a"`: the second one is refused, see [`Labels::clash`].

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use noregret::example::Label;
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, fault};
use crate::read::label::{GivenLabel, LabelType, is_beyond, is_whole, json, truth, value};

/// Class names, their types and their indices. Saved with a model, so that `predict` can print names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Written>", into = "Vec<Written>")]
pub struct Labels {
    names: Vec<String>,
    types: Vec<LabelType>,
    index: HashMap<String, u32, RandomState>,
    /// The classes that are numbers, by the bits of their values; [`SEVERAL`] where several have one value.
    numbers: HashMap<u64, u32, RandomState>,
    /// Number of classes that are not whole numbers.
    others: usize,
    /// Number of classes with blanks around their names.
    padded: usize,
}

/// In place of a class: several classes are the same number in different writings.
const SEVERAL: u32 = u32::MAX;

/// Below 2^53, different whole numbers are different floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A class in a model file: a text, as in the files of earlier programs, or a text with its type where the
/// text alone would be taken for something else.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Written {
    Plain(String),
    Typed(Typed),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Typed {
    Text(String),
    Whole(String),
    Real(String),
    Truth(String),
    Time(String),
}

impl Written {
    fn of(name: &str, of: LabelType) -> Self {
        let name = name.to_owned();
        match of {
            LabelType::Unstated | LabelType::Figure => Self::Plain(name),
            LabelType::Text => Self::Typed(Typed::Text(name)),
            LabelType::Whole => Self::Typed(Typed::Whole(name)),
            LabelType::Real => Self::Typed(Typed::Real(name)),
            LabelType::Truth => Self::Typed(Typed::Truth(name)),
            LabelType::Time => Self::Typed(Typed::Time(name)),
        }
    }

    /// The text and its type.
    pub(crate) fn label(self) -> (String, LabelType) {
        match self {
            Self::Plain(name) => (name, LabelType::Unstated),
            Self::Typed(Typed::Text(name)) => (name, LabelType::Text),
            Self::Typed(Typed::Whole(name)) => (name, LabelType::Whole),
            Self::Typed(Typed::Real(name)) => (name, LabelType::Real),
            Self::Typed(Typed::Truth(name)) => (name, LabelType::Truth),
            Self::Typed(Typed::Time(name)) => (name, LabelType::Time),
        }
    }
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

    /// The name of a class in JSON, with the type that its label was given.
    pub fn json(&self, label: Label) -> serde_json::Value {
        match self.types.get(label.index()) {
            Some(of) => json(&self.names[label.index()], *of),
            None => self.name(label).into(),
        }
    }

    /// The classes from `first` on, as files have them.
    pub(crate) fn written(&self, first: usize) -> Vec<Written> {
        self.typed().skip(first).map(|(name, of)| Written::of(name, of)).collect()
    }

    /// A class as it was given.
    pub(crate) fn given_of(&self, label: Label) -> GivenLabel {
        let of = self.types.get(label.index()).copied().unwrap_or_default();
        GivenLabel { text: self.name(label).into_owned(), of }
    }

    /// The classes in order, as they were given.
    pub fn given(&self) -> impl Iterator<Item = GivenLabel> {
        self.typed().map(|(text, of)| GivenLabel { text: text.to_owned(), of })
    }

    /// The class of a label whose type is not stated.
    pub fn find(&self, name: &str) -> Option<Label> {
        self.find_as(name, LabelType::Unstated)
    }

    /// The class of a label of a type.
    pub fn find_as(&self, name: &str, of: LabelType) -> Option<Label> {
        let exact = self.index.get(name).map(|index| Label(*index));
        exact.or_else(|| match of {
            LabelType::Text | LabelType::Time => None,
            LabelType::Truth => self.find_truth(name, |of| of != LabelType::Text),
            LabelType::Whole | LabelType::Real | LabelType::Unstated | LabelType::Figure => {
                let number = self.find_number(name, of);
                number.or_else(|| self.find_truth(name, |of| of == LabelType::Truth))
            }
        })
    }

    /// Why a label cannot be one of these classes, nor a new one: a class of the same text has another type,
    /// as `"1"` has where `1` is a class, or differs by the blanks around it alone, as `" a"` from `a`.
    pub fn clash(&self, name: &str, of: LabelType) -> Option<String> {
        if let Some(known) = self.apart_by_blanks(name) {
            return Some(format!(
                "the label {name:?} is the class {known:?} but for the blanks around it: write both alike, or give them different names \
                 (blanks around a cell of CSV and ARFF are no part of it; a text of JSON, Python or Parquet is taken as it is)"
            ));
        }
        let noun = of.noun()?;
        let known = self.types[*self.index.get(name)? as usize];
        let other = known.noun()?;
        let texts = (of == LabelType::Text) != (known == LabelType::Text);
        // A whole number of Python beyond 64 bits is a text in JSON.
        (texts && !is_beyond(name)).then(|| {
            format!(
                "the label {name:?} is {noun}, and the class of this name is {other}: labels of one name need one type; write both as numbers, or both as texts (in quotation marks)"
            )
        })
    }

    /// The first of labels that are given as classes which cannot be one beside those before it: its place,
    /// and why, as [`Labels::clash`] says it.
    pub fn first_clash<'a>(names: impl IntoIterator<Item = (&'a str, LabelType)>) -> Option<(usize, String)> {
        let mut before = Self::default();
        names.into_iter().enumerate().find_map(|(at, (name, of))| {
            let clash = before.clash(name, of);
            before.collect(name, of);
            clash.map(|why| (at, why))
        })
    }

    /// The class whose name differs from this one, which is no class, by the blanks around it alone.
    fn apart_by_blanks(&self, name: &str) -> Option<&str> {
        let bare = name.trim();
        if (bare.len() == name.len() && self.padded == 0) || self.index.contains_key(name) {
            return None;
        }
        let known = self.index.get_key_value(bare).map(|(known, _)| &**known);
        known.or_else(|| self.iter().filter(|_| self.padded > 0).find(|known| known.trim() == bare))
    }

    /// The class of the same number. A number without a type is one only among numbers.
    fn find_number(&self, name: &str, of: LabelType) -> Option<Label> {
        // Larger numbers of LIBSVM may be equal as floats although they differ.
        let value = value(name).filter(|value| of != LabelType::Figure || value.abs() < EXACT)?;
        let at = *self.numbers.get(&bits(value)).filter(|at| **at != SEVERAL)?;
        let fits =
            of.is_number() || self.types[at as usize].is_number() || (self.others == 0 && is_whole(name));
        fits.then_some(Label(at))
    }

    /// The class of the same truth value in upper or lower case, if its type is right.
    fn find_truth(&self, name: &str, is_right: impl Fn(LabelType) -> bool) -> Option<Label> {
        let writings = match truth(name)? {
            true => ["true", "True", "TRUE"],
            false => ["false", "False", "FALSE"],
        };
        let at = writings.into_iter().find_map(|writing| self.index.get(writing))?;
        is_right(self.types[*at as usize]).then_some(Label(*at))
    }

    /// The class of a label whose type is not stated, added at the end if it is new.
    pub fn intern(&mut self, name: &str) -> Label {
        self.intern_as(name, LabelType::Unstated)
    }

    /// The class of a label of a type, added at the end if it is new.
    pub fn intern_as(&mut self, name: &str, of: LabelType) -> Label {
        match self.find_as(name, of) {
            Some(label) => {
                self.state(label, of);
                label
            }
            None => self.add(name, of),
        }
    }

    /// The class of exactly this text, added at the end if it is new. A first pass collects labels so:
    /// whether all of them are whole numbers is known at its end, by [`Labels::sorted`].
    pub fn collect(&mut self, name: &str, of: LabelType) {
        match self.index.get(name) {
            Some(at) => self.state(Label(*at), of),
            None if of == LabelType::Figure => drop(self.intern_as(name, of)),
            None => drop(self.add(name, of)),
        }
    }

    /// Gives a class its type, if that was not stated yet.
    pub fn state(&mut self, label: Label, of: LabelType) {
        if self.learns_type(label, of) {
            self.types[label.index()] = simplest(&self.names[label.index()], of);
            self.count_again();
        }
    }

    /// Whether [`Labels::state`] would change anything.
    pub(crate) fn learns_type(&self, label: Label, of: LabelType) -> bool {
        of != LabelType::Unstated
            && self.types[label.index()] == LabelType::Unstated
            && simplest(&self.names[label.index()], of) != LabelType::Unstated
    }

    fn add(&mut self, name: &str, of: LabelType) -> Label {
        let label = Label::from(self.names.len());
        self.names.push(name.to_owned());
        self.types.push(simplest(name, of));
        self.index.insert(name.to_owned(), label.0);
        self.padded += usize::from(name.trim().len() < name.len());
        self.count(label.index());
        label
    }

    /// Notes whether a class is a number.
    fn count(&mut self, at: usize) {
        let (name, of) = (&self.names[at], self.types[at]);
        let is_number = of == LabelType::Unstated || of.is_number();
        self.others += usize::from(!is_number || !is_whole(name));
        if let Some(value) = value(name).filter(|_| is_number) {
            self.numbers.entry(bits(value)).and_modify(|at| *at = SEVERAL).or_insert(at as u32);
        }
    }

    fn count_again(&mut self) {
        self.numbers.clear();
        self.others = 0;
        (0..self.names.len()).for_each(|at| self.count(at));
    }

    /// The names in order of class.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        self.names.iter().map(String::as_str)
    }

    /// The names in order of class, with their types.
    pub fn typed(&self) -> impl Iterator<Item = (&str, LabelType)> {
        self.iter().zip(self.types.iter().copied())
    }

    /// The classes sorted: numbers by value, then words alphabetically. Where all of them are whole numbers,
    /// those that are equal become one.
    pub fn sorted(&self) -> Self {
        let mut names: Vec<_> = self.typed().collect();
        names.sort_by(|(a, _), (b, _)| match (value(a), value(b)) {
            (Some(a_value), Some(b_value)) => a_value.total_cmp(&b_value).then_with(|| a.cmp(b)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => a.cmp(b),
        });
        let mut sorted = Self::default();
        for (name, of) in names {
            if self.others == 0 {
                sorted.intern_as(name, of);
            } else {
                sorted.collect(name, of);
            }
        }
        sorted
    }
}

/// The bits of a value, the same for 0 and -0.
fn bits(value: f64) -> u64 {
    if value == 0.0 { 0 } else { value.to_bits() }
}

/// No type for a text that nobody takes for anything else, nor for a label whose format states none.
fn simplest(name: &str, of: LabelType) -> LabelType {
    match of {
        LabelType::Text if value(name).is_none() && truth(name).is_none() => LabelType::Unstated,
        LabelType::Figure => LabelType::Unstated,
        of => of,
    }
}

impl<'a> FromIterator<&'a str> for Labels {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        names.into_iter().map(|name| (name, LabelType::Unstated)).collect()
    }
}

impl<'a> FromIterator<(&'a str, LabelType)> for Labels {
    fn from_iter<I: IntoIterator<Item = (&'a str, LabelType)>>(names: I) -> Self {
        let mut labels = Self::default();
        for (name, of) in names {
            labels.collect(name, of);
        }
        labels
    }
}

impl Labels {
    /// These classes in this order.
    ///
    /// # Errors
    /// If a text appears twice.
    pub fn of(names: &[(String, LabelType)]) -> Result<Self, Fault> {
        let labels: Self = names.iter().map(|(name, of)| (&**name, *of)).collect();
        match names.iter().enumerate().find(|(at, (name, _))| labels.index.get(name) != Some(&(*at as u32))) {
            Some((_, (name, _))) => Err(fault!("class {name:?} appears twice")),
            None => Ok(labels),
        }
    }
}

impl TryFrom<Vec<String>> for Labels {
    type Error = Fault;

    fn try_from(names: Vec<String>) -> Result<Self, Fault> {
        if let Some((_, why)) = Self::first_clash(names.iter().map(|name| (&**name, LabelType::Unstated))) {
            return Err(why.into());
        }
        Self::of(&names.into_iter().map(|name| (name, LabelType::Unstated)).collect::<Vec<_>>())
    }
}

impl TryFrom<Vec<Written>> for Labels {
    type Error = Fault;

    fn try_from(names: Vec<Written>) -> Result<Self, Fault> {
        Self::of(&names.into_iter().map(Written::label).collect::<Vec<_>>())
    }
}

impl From<Labels> for Vec<Written> {
    fn from(labels: Labels) -> Self {
        labels.written(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LabelType::{Figure, Real, Text, Time, Truth, Unstated, Whole};

    #[test]
    fn classes_are_sorted_by_number_and_then_by_name() {
        let seen: Labels = ["10", "b", "2", "-1", "a", "2", "Nan", "Infinity"].into_iter().collect();
        assert_eq!(seen.sorted().iter().collect::<Vec<_>>(), ["-1", "2", "10", "Infinity", "Nan", "a", "b"]);
        assert_eq!(seen.find("2"), Some(Label(2)));
        assert_eq!(seen.sorted().find("2"), Some(Label(1)));
        assert_eq!(seen.find("c"), None);
        assert_eq!((seen.name(Label(1)), seen.name(Label(9))), ("b".into(), "#9".into()));
    }

    #[test]
    fn texts_are_kept_apart_unless_all_are_whole_numbers() {
        let sorted = |names: &[&str]| -> Vec<String> {
            let mut labels = Labels::default();
            names.iter().for_each(|name| labels.collect(name, Unstated));
            labels.sorted().iter().map(str::to_owned).collect()
        };
        assert_eq!(sorted(&["1.10", "1.1", "1.2"]), ["1.1", "1.10", "1.2"]);
        assert_eq!(sorted(&["3E5", "300000", "4E5"]), ["300000", "3E5", "4E5"]);
        assert_eq!(sorted(&["01", "1", "02"]), ["01", "1", "02"]);
        assert_eq!(sorted(&["1.0", "1", "0", "0.0"]), ["0", "1"]);
        assert_eq!(sorted(&["1.0", "2.0"]), ["1.0", "2.0"]);
        assert_eq!(sorted(&["1.0", "1", "1.1"]), ["1", "1.0", "1.1"]);
        assert_eq!(sorted(&["1.0", "1", "a"]), ["1", "1.0", "a"]);
        assert_eq!(sorted(&["-0", "0", "1"]), ["-0", "0", "1"]);
    }

    /// Neither is taken for the other, nor are both learnt.
    #[test]
    fn a_label_apart_by_blanks_is_refused() {
        let labels: Labels = ["a", "b "].into_iter().collect();
        for (name, known) in [(" a", "a"), ("a\t", "a"), ("b", "b "), (" b", "b ")] {
            for of in [Text, Unstated] {
                let sentence = labels.clash(name, of).expect(name);
                let said =
                    format!("the label {name:?} is the class {known:?} but for the blanks around it: ");
                assert!(sentence.starts_with(&said), "{sentence}");
            }
        }
        for name in ["a", "b ", "c", " c", "a b"] {
            assert_eq!(labels.clash(name, Text), None, "{name}");
        }
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let error = Labels::try_from(owned(&["a", "b", " a"])).expect_err("one but for a blank").to_string();
        assert!(error.starts_with("the label \" a\" is the class \"a\" but for the blanks"), "{error}");
        assert!(Labels::try_from(owned(&["a", " b", "c d"])).is_ok());
        let clash = Labels::first_clash([("a", Text), ("1", Whole), ("1", Text)]);
        assert_eq!(clash.map(|(at, _)| at), Some(2));
        let numbers: Labels = [("1", Whole)].into_iter().collect();
        assert!(numbers.clash(" 1", Text).is_some() && numbers.clash("1", Whole).is_none());
        let beyond = "340282366920938463463374607431768211456";
        let labels: Labels = [(beyond, Whole)].into_iter().collect();
        assert_eq!(labels.clash(beyond, Text), None);
    }

    #[test]
    fn a_number_is_found_in_other_writings() {
        let whole: Labels = ["0", "1"].into_iter().collect();
        assert_eq!((whole.find("1.0"), whole.find("+1"), whole.find("01")), (Some(Label(1)), None, None));
        assert_eq!(whole.find_as("1.0", Text), None);
        let real: Labels = [("0.5", Real), ("1", Real)].into_iter().collect();
        assert_eq!(
            (real.find("0.50"), real.find("1.00"), real.find("x")),
            (Some(Label(0)), Some(Label(1)), None)
        );
        let cells: Labels = ["1.10", "1.2", "1.20"].into_iter().collect();
        assert_eq!(
            (cells.find_as("1.1", Real), cells.find_as("1.2", Real)),
            (Some(Label(0)), Some(Label(1)))
        );
        assert_eq!((cells.find("1.1"), cells.find_as("1.200", Real)), (None, None));
        let truths: Labels = [("false", Truth), ("true", Truth)].into_iter().collect();
        assert_eq!((truths.find("True"), truths.find("1")), (Some(Label(1)), None));
        let cells: Labels = ["True", "yes"].into_iter().collect();
        assert_eq!((cells.find_as("true", Truth), cells.find("true")), (Some(Label(0)), None));
    }

    /// `+1`, `1` and `1.0` of LIBSVM are one class, which is called as it was first written.
    #[test]
    fn a_figure_comes_back_as_it_was_written() {
        let mut labels = Labels::default();
        for name in ["+1", "1", "1e0", "-1", "01.0", "1e3", "1000", "9007199254740993", "9007199254740992"] {
            labels.collect(name, Figure);
        }
        let names = ["+1", "-1", "1e3", "9007199254740993", "9007199254740992"];
        assert_eq!(labels.iter().collect::<Vec<_>>(), names);
        assert!(labels.typed().all(|(_, of)| of == Unstated));
        assert_eq!(labels.find_as("1.00", Figure), Some(Label(0)));
        assert_eq!((labels.find_as("1", Whole), labels.find("1")), (Some(Label(0)), None));
        assert_eq!((labels.find_as("x", Figure), labels.find_as("2", Figure)), (None, None));
    }

    #[test]
    fn a_text_is_no_number_of_the_same_writing() {
        let labels: Labels = [("1", Whole), ("true", Truth), ("2", Text), ("False", Text), ("x", Unstated)]
            .into_iter()
            .collect();
        for (name, of) in [("1", Text), ("true", Text), ("2", Whole), ("2", Real), ("False", Truth)] {
            assert!(labels.clash(name, of).is_some(), "{name} {of:?}");
        }
        for (name, of) in [("1", Real), ("1", Unstated), ("1", Figure), ("2", Text), ("x", Text), ("3", Text)]
        {
            assert_eq!(labels.clash(name, of), None, "{name} {of:?}");
        }
        let sentence = labels.clash("1", Text).expect("another type");
        assert!(sentence.starts_with("the label \"1\" is a text, and the class of this name is a number: "));
        assert_eq!(labels.find_as("false", Truth), None);
    }

    #[test]
    fn a_type_is_stated_once() {
        let mut labels: Labels = ["1", "x"].into_iter().collect();
        assert_eq!(labels.intern_as("1", Whole), Label(0));
        assert_eq!(labels.typed().collect::<Vec<_>>(), [("1", Whole), ("x", Unstated)]);
        assert_eq!(labels.find("1.0"), Some(Label(0)));
    }

    #[test]
    fn types_survive_a_model_file_where_they_say_something() {
        let saved = |names: &[(&str, LabelType)]| -> String {
            let labels: Labels = names.iter().copied().collect();
            let text = serde_json::to_string(&labels).expect("plain data");
            let again: Labels = serde_json::from_str(&text).expect("as written");
            assert_eq!(serde_json::to_string(&again).expect("plain data"), text);
            assert_eq!(again.iter().collect::<Vec<_>>(), labels.iter().collect::<Vec<_>>());
            text
        };
        assert_eq!(saved(&[("a", Text), ("b", Unstated)]), r#"["a","b"]"#);
        assert_eq!(saved(&[("0", Whole), ("1", Whole)]), r#"[{"whole":"0"},{"whole":"1"}]"#);
        assert_eq!(saved(&[("0", Text), ("01", Text)]), r#"[{"text":"0"},{"text":"01"}]"#);
        assert_eq!(saved(&[("0.5", Real), ("1", Real)]), r#"[{"real":"0.5"},{"real":"1"}]"#);
        assert_eq!(saved(&[("1", Whole), ("a", Text)]), r#"[{"whole":"1"},"a"]"#);
        assert_eq!(
            saved(&[("true", Truth), ("2026-01-02", Time)]),
            r#"[{"truth":"true"},{"time":"2026-01-02"}]"#
        );
    }

    #[test]
    fn a_saved_list_with_a_repeated_class_is_refused() {
        assert!(serde_json::from_str::<Labels>(r#"["a", "b"]"#).is_ok());
        let error = serde_json::from_str::<Labels>(r#"["a", "a"]"#).expect_err("twice").to_string();
        assert!(error.contains("appears twice"), "{error}");
    }
}

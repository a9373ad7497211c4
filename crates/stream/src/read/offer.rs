//! Labels on offer, with features of their own or without, as they are read: a row with such labels gets a
//! [`round`](super::round). The same for data, pipes and the service, so that a model of one reads the other.

use noregret::bandit::offers::key;
use serde_json::Value;

use crate::fault::{Fault, fault};
use crate::read::error::shown;
use crate::read::label::{GivenLabel, LabelType};
use crate::read::number::LARGEST_NORM;
use crate::read::round::{Described, DescribedRound, HashedRound, Part};
use crate::read::row::Row;
use crate::read::table::moment_features;

/// Rounds with more categories than this get no products of two; 12 categories have 66.
const MOST_PAIRED: usize = 12;
/// The value of a product. On simulated sites the reward is smaller with 1, and similar from 3 to 8.
const PAIR: f64 = 4.0;

/// The names of the labels on offer in a text: a list in JSON, or names separated by spaces.
/// Fails if it is a list in another writing, or has anything but names.
pub(crate) fn names(text: &str) -> Result<Vec<String>, Fault> {
    const NEEDED: &str = "names separated by blanks, as in a b, or a list in JSON, as in [\"a\", \"b\"]";
    let text = text.trim_ascii();
    if !text.starts_with('[') {
        if text.contains([';', '|', ',']) || text.starts_with(['(', '{']) {
            return Err(fault!("is {}; {NEEDED}, were needed", shown(text)));
        }
        return Ok(text.split_ascii_whitespace().map(str::to_owned).collect());
    }
    let list: Vec<Value> = serde_json::from_str(text).map_err(|error| {
        format!("is {}, which is no list in JSON: {error}; {NEEDED}, were needed", shown(text))
    })?;
    let name = |value: Value| match value {
        Value::String(name) => Ok(name),
        Value::Number(number) => GivenLabel::of_number(&number).map(|label| label.text),
        other => Err(fault!("has {other}, where the name of a label was needed")),
    };
    list.into_iter().map(name).collect()
}

/// The products of every two categories of a round, if it has few: the effect of a pair, such as a user and a
/// time of day, does not follow from the effects of both. A pair occurs in few rounds, so its value is larger
/// than 1.
fn pairs(context: &[(String, f64)]) -> Described {
    let own: Vec<_> = context.iter().filter(|(name, _)| name.contains('=')).collect();
    let mut pairs = Described::new();
    for (at, (first, a)) in own.iter().enumerate().filter(|_| own.len() <= MOST_PAIRED) {
        let others = own[at + 1..].iter();
        pairs.extend(others.map(|(second, b)| (format!("{first}*{second}"), PAIR * a * b)));
    }
    pairs
}

/// Gives `row` a round with these features (`context`), of which the encoder makes a block of `width` columns
/// for each label. `labels` have their [`key`]s and features.
///
/// # Errors
/// If a feature is too large, or there are too many labels.
pub fn fill_round(
    context: &[(String, f64)],
    labels: &[(u64, Described)],
    width: u32,
    row: &mut Row,
) -> Result<(), Fault> {
    if u32::try_from(labels.len()).ok().and_then(|count| count.checked_mul(width)).is_none() {
        return Err(fault!("{} labels are on offer; these are too many for the columns", labels.len()));
    }
    let round = HashedRound {
        width,
        context: Part::of(context),
        pairs: Part::of(&pairs(context)),
        labels: labels.iter().map(|(key, own)| (*key, Part::of(own))).collect(),
    };
    if let Some(value) = round.large() {
        return Err(fault!("a feature of the round is {value:e}; at most {LARGEST_NORM:e} is allowed"));
    }
    row.set_round(round);
    Ok(())
}

impl DescribedRound {
    /// Gives `row` the round without the features called `name`, with blocks of `width` columns.
    ///
    /// # Errors
    /// If a feature is too large.
    pub fn fill_without(&self, name: &str, width: u32, row: &mut Row) -> Result<(), Fault> {
        let rest =
            |all: &Described| all.iter().filter(|(own, _)| own != name).cloned().collect::<Described>();
        let labels: Vec<_> = self.labels.iter().map(|(key, own)| (*key, rest(own))).collect();
        fill_round(&rest(&self.context), &labels, width, row)
    }
}

/// A round while it is read: its features, and the labels on offer by name.
#[derive(Debug, Default)]
pub(crate) struct Round {
    pub(crate) context: Described,
    names: Vec<GivenLabel>,
    labels: Vec<(u64, Described)>,
    /// Whether rows keep the features by name.
    keeps: bool,
}

impl Round {
    /// Without labels. If `keeps`, rows keep the features by name.
    pub(crate) fn new(keeps: bool) -> Self {
        Self { keeps, ..Self::default() }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.keeps);
    }

    /// Adds a label on offer. Without a name, only its features identify it.
    pub(crate) fn offer(&mut self, name: &str, features: Described) -> Result<(), Fault> {
        self.offer_as(name, LabelType::Unstated, features)
    }

    /// The same for a label whose name is of a type.
    pub(crate) fn offer_as(&mut self, name: &str, of: LabelType, features: Described) -> Result<(), Fault> {
        if !name.is_empty() && self.position(name).is_some() {
            return Err(fault!("the label {} is on offer twice", shown(name)));
        }
        self.labels.push((key(name), features));
        self.names.push(GivenLabel { text: name.to_owned(), of });
        Ok(())
    }

    /// The round of some of the labels, those at the positions `which`, with the features `besides`.
    pub(crate) fn part(&self, besides: &[(String, f64)], which: &[usize]) -> Self {
        Self {
            context: self.context.iter().chain(besides).cloned().collect(),
            names: which.iter().map(|at| self.names[*at].clone()).collect(),
            labels: which.iter().map(|at| self.labels[*at].clone()).collect(),
            keeps: self.keeps,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether nothing tells some of the labels apart: they have neither a name nor features.
    pub(crate) fn has_bare(&self) -> bool {
        let bare =
            |(name, (_, own)): &(&GivenLabel, &(u64, Described))| name.text.is_empty() && own.is_empty();
        self.names.iter().zip(&self.labels).filter(bare).count() > 1
    }

    /// The position of the label called `name`.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known.text == name)
    }

    /// Gives `row` the round, with blocks of `width` columns, and the labels on offer, whose names are their
    /// positions.
    pub(crate) fn fill(&mut self, width: u32, row: &mut Row) -> Result<(), Fault> {
        if self.names.is_empty() {
            return Err("no label is on offer".into());
        }
        let context = std::mem::take(&mut self.context);
        if self.keeps {
            let named = self.names.iter().all(|name| !name.text.is_empty());
            let called = if named { self.names.clone() } else { vec![] };
            row.describe(DescribedRound { context: context.clone(), labels: self.labels.clone(), called });
        }
        fill_round(&context, &self.labels, width, row)?;
        (0..self.names.len()).for_each(|position| {
            row.push_offered(&position.to_string());
        });
        Ok(())
    }
}

/// Adds the features of `value`, which is named `path`: members of objects by path, members of lists by
/// position, texts as categories or times; null is no feature.
pub(crate) fn flatten(path: &mut String, value: &Value, into: &mut Described) -> Result<(), Fault> {
    let length = path.len();
    let mut push = |name: String, value: f64| {
        if value.is_nan() || value.abs() > LARGEST_NORM {
            return Err(fault!(
                "feature {} is {value:e}; a number of at most {LARGEST_NORM:e} was needed",
                shown(&*name)
            ));
        }
        into.push((name, value));
        Ok(())
    };
    match value {
        Value::Null => Ok(()),
        Value::Bool(flag) => push(path.clone(), f64::from(u8::from(*flag))),
        Value::Number(number) => push(path.clone(), number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => match moment_features(path, text) {
            Some(features) => features.into_iter().try_for_each(|(name, value)| push(name, value)),
            None => push(format!("{path}={text}"), 1.0),
        },
        Value::Array(list) => {
            for (at, member) in list.iter().enumerate() {
                // The order of texts in a list is irrelevant.
                if !member.is_string() {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(&at.to_string());
                }
                flatten(path, member, into)?;
                path.truncate(length);
            }
            Ok(())
        }
        Value::Object(map) => {
            for (key, member) in map {
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(key);
                flatten(path, member, into)?;
                path.truncate(length);
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(text: &str) -> Result<Described, Fault> {
        let mut described = Vec::new();
        flatten(&mut String::new(), &serde_json::from_str(text).expect("JSON"), &mut described)?;
        Ok(described)
    }

    #[test]
    fn texts_that_are_times_are_no_categories() {
        let found = flat(r#"{"at": "2000-01-03T12:00:00Z", "month": "2000-01"}"#).expect("features");
        let names: Vec<&str> = found.iter().map(|(name, _)| &**name).collect();
        let of_time =
            ["at:days", "at:hour_sin", "at:hour_cos", "at:year_sin", "at:year_cos", "at:weekday=Mon"];
        assert_eq!((&names[..6], &names[6..]), (&of_time[..], &["month=2000-01"][..]));
        assert_eq!(found[0].1, 2.5);
    }

    #[test]
    fn nested_features_are_called_by_their_path() {
        let found = flat(
            r#"{"user": {"age": 31, "hue": "red"}, "tags": ["a", "b"], "size": [1, {"w": 2}], "on": true, "no": null}"#,
        );
        let mut found = found.expect("features");
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let want = [
            ("on", 1.0),
            ("size.0", 1.0),
            ("size.1.w", 2.0),
            ("tags=a", 1.0),
            ("tags=b", 1.0),
            ("user.age", 31.0),
            ("user.hue=red", 1.0),
        ];
        assert!(found.iter().map(|(name, value)| (name.as_str(), *value)).eq(want), "{found:?}");
        assert!(
            flat(r#"{"a": 1e200}"#).expect_err("large").to_string().starts_with("feature \"a\" is 1e200")
        );
    }

    #[test]
    fn a_list_in_another_writing_is_refused() {
        let list = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(names(" a  b 1.10 "), list(&["a", "b", "1.10"]));
        assert_eq!(names(r#"["a b", "c;d", 7]"#), list(&["a b", "c;d", "7"]));
        assert_eq!(names(""), list(&[]));
        let needed =
            r#"names separated by blanks, as in a b, or a list in JSON, as in ["a", "b"], were needed"#;
        for text in ["a;b", "a|b", "a, b", "['a', 'b']", "('a', 'b')", "{'a', 'b'}", "[a"] {
            let why = names(text).expect_err(text).to_string();
            assert!(why.starts_with(&format!("is {}", shown(text))) && why.ends_with(needed), "{why}");
        }
    }

    /// A label's block depends on its name and features, not on its position.
    #[test]
    fn blocks_do_not_depend_on_the_position() {
        let row = |order: [&str; 2]| {
            let mut round = Round { context: vec![("hue=red".to_owned(), 1.0)], ..Round::default() };
            for name in order {
                round.offer(name, vec![(format!("of {name}"), 2.0)]).expect("new");
            }
            let mut row = Row::new();
            round.fill(64, &mut row).expect("small");
            row
        };
        let (one, other) = (row(["a", "b"]), row(["b", "a"]));
        assert_eq!(one.offered().iter().map(|label| &*label.text).collect::<Vec<_>>(), ["0", "1"]);
        let block = |row: &Row, at: u32| -> Vec<(u32, f64)> {
            let round = row.round().expect("a round");
            let (indices, values) = round.blocks(64, None).expect("small");
            let pairs = indices.iter().zip(&values);
            let block: Vec<_> = pairs.filter(|(i, _)| **i / 64 == at).map(|(i, v)| (i % 64, *v)).collect();
            let alone = round.blocks(64, Some(at)).expect("small");
            assert_eq!(alone.0.iter().map(|i| i % 64).zip(alone.1).collect::<Vec<_>>(), block);
            block
        };
        assert!(!block(&one, 0).is_empty() && block(&one, 0) != block(&one, 1));
        assert_eq!((block(&one, 0), block(&one, 1)), (block(&other, 1), block(&other, 0)));
        let named: Vec<_> = one.round().expect("a round").named().collect();
        let again = HashedRound::of_named(64, named.clone(), 128).expect("just written");
        assert_eq!(Some(&again), one.round());
        assert!(HashedRound::of_named(64, named, 127).is_err(), "no room");
        for text in ["1#5", "0.7", "*x", "", "7.0#1", "5000000000"] {
            assert!(HashedRound::of_named(64, vec![(text.to_owned(), 1.0)], 128).is_err(), "{text}");
        }
        let mut twice = Round::default();
        twice.offer("a", vec![]).expect("new");
        assert_eq!(twice.offer("a", vec![]), Err("the label \"a\" is on offer twice".into()));
    }
}

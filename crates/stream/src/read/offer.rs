//! A round in which labels with features of their own are on offer. Its row has the features, by the hashes
//! of their names, of the round and of each label, in the order of the round ([`HashedRound`]). The same for
//! data, pipes and the service, so that a model of one reads the other. The encoder makes of them a block of
//! hashed columns for each label, since products are made of numbers that it has scaled.

use std::collections::HashSet;

use noregret::bandit::offers::{Offer, OfferRow, OfferedLabel, key};
use noregret::example::Features;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::{Fault, fault};
use crate::read::error::shown;
use crate::read::hash::hash_name;
use crate::read::label::{GivenLabel, LabelType};
use crate::read::number::LARGEST_NORM;
use crate::read::row::Row;
use crate::read::table::moment_features;

/// Bits of the hash of a feature, before it is hashed into a block.
const BITS: u32 = 31;
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

/// Features by name.
pub type Described = Vec<(String, f64)>;

/// Hashed names with their values, increasing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) names: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl Part {
    fn of(features: &[(String, f64)]) -> Self {
        Self::of_list(features.iter().map(|(name, value)| (hash_name(name, BITS), *value)).collect())
    }

    /// Values of equal names are summed.
    fn of_list(mut list: Vec<(u32, f64)>) -> Self {
        list.sort_by_key(|(name, _)| *name);
        list.dedup_by(|later, first| {
            let same = later.0 == first.0;
            first.1 += if same { later.1 } else { 0.0 };
            same
        });
        let (names, values) = list.into_iter().unzip();
        Self { names, values }
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, f64)> {
        self.names.iter().copied().zip(self.values.iter().copied())
    }

    /// Adds those of `others`, whose names increase, that are not there.
    pub(crate) fn add_absent(&mut self, others: impl Iterator<Item = (u32, f64)>) {
        let others: Vec<(u32, f64)> =
            others.filter(|(name, _)| self.names.binary_search(name).is_err()).collect();
        if !others.is_empty() {
            *self = Self::of_list(self.pairs().chain(others).collect());
        }
    }

    fn features(&self) -> Features<'_> {
        Features::Sparse { indices: &self.names, values: &self.values }
    }

    /// Whether it, from an untrusted source, is one.
    fn is_sound(&self) -> bool {
        let increase = self.names.is_sorted_by(|a, b| a < b);
        let few = self.names.last().is_none_or(|last| last >> BITS == 0);
        self.names.len() == self.values.len()
            && increase
            && few
            && self.values.iter().all(|value| is_small(*value))
    }
}

/// Infinity and NaN are not.
fn is_small(value: f64) -> bool {
    value.abs() <= LARGEST_NORM
}

/// The features of a round and of the labels on offer in it, by the hashes of their names, as given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HashedRound {
    /// The columns of a block.
    pub(crate) width: u32,
    pub(crate) context: Part,
    /// Products of two categories of the round, which are features of the round, too.
    pub(crate) pairs: Part,
    /// Of each label on offer, with its key.
    pub(crate) labels: Vec<(u64, Part)>,
}

impl HashedRound {
    /// The columns and values of the round: a block for each label with the features of the round, of the
    /// label, and their products; of the label at the position `only`, if it is given.
    /// Fails if products are too large.
    pub(crate) fn blocks(&self, width: u32, only: Option<u32>) -> Result<(Vec<u32>, Vec<f64>), Fault> {
        let context = Part::of_list(self.context.pairs().chain(self.pairs.pairs()).collect());
        let all = self.labels.iter().map(|(key, own)| OfferedLabel { key: *key, features: own.features() });
        let first = only.unwrap_or(0);
        let labels: Vec<OfferedLabel<'_>> = match only {
            Some(at) => all.skip(at as usize).take(1).collect(),
            None => all.collect(),
        };
        let mut made = OfferRow::default();
        Offer { context: context.features(), labels: &labels }.encode(width, &mut made);
        let Features::Sparse { indices, values } = made.features() else { unreachable!("blocks are sparse") };
        if !values.iter().all(|value| is_small(*value)) {
            return Err("products of the features are too large".into());
        }
        let there = indices.iter().zip(values).filter(|(_, value)| **value != 0.0);
        Ok(there.map(|(column, value)| (first * width + column, *value)).unzip())
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        [&self.context, &self.pairs].into_iter().chain(self.labels.iter().map(|(_, own)| own))
    }

    /// Its size.
    pub(crate) fn bytes(&self) -> usize {
        let features: usize = self.parts().map(|part| part.names.len()).sum();
        size_of::<Self>() + size_of_val(&*self.labels) + features * (size_of::<u32>() + size_of::<f64>())
    }

    /// Whether it, from an untrusted source, has room in so many `columns`, which have a block for the label
    /// at the position `played`.
    pub(crate) fn fits(&self, columns: usize, played: u32) -> bool {
        self.width > 0
            && (played as usize) < self.labels.len()
            && self.labels.len().checked_mul(self.width as usize).is_some_and(|all| all <= columns)
            && self.parts().all(Part::is_sound)
    }

    /// The features by name of a decision log: `12` is one of the round, `*12` a product of two of its
    /// categories, `3.12` one of the label at the position 3, and `3#key`, which is 1, says that it is on
    /// offer; 12 is the hash of a name.
    pub(crate) fn named(&self) -> impl Iterator<Item = (String, f64)> {
        let context = self.context.pairs().map(|(name, value)| (name.to_string(), value));
        let pairs = self.pairs.pairs().map(|(name, value)| (format!("*{name}"), value));
        let labels = self.labels.iter().enumerate().flat_map(|(at, (key, own))| {
            let features = own.pairs().map(move |(name, value)| (format!("{at}.{name}"), value));
            std::iter::once((format!("{at}#{key}"), 1.0)).chain(features)
        });
        context.chain(pairs).chain(labels)
    }

    /// The round that has these features.
    /// Fails if one is none of [`HashedRound::named`], or the columns are too few.
    pub(crate) fn of_named(width: u32, features: Vec<(String, f64)>, columns: u32) -> Result<Self, Fault> {
        let (mut context, mut pairs, mut labels) = (vec![], vec![], Vec::<(u64, Vec<(u32, f64)>)>::new());
        for (text, value) in features {
            let wrong = || fault!("feature {} is none of a round with labels on offer", shown(&*text));
            let hash = |text: &str| text.parse::<u32>().map_err(|_| wrong());
            if !is_small(value) {
                return Err(wrong());
            }
            if let Some((at, key)) = text.split_once('#') {
                let next = at.parse().is_ok_and(|at: usize| at == labels.len());
                let key = key.parse().ok().filter(|_| next).ok_or_else(wrong)?;
                labels.push((key, vec![]));
            } else if let Some((at, name)) = text.split_once('.') {
                let label = at.parse().ok().and_then(|at: usize| labels.get_mut(at)).ok_or_else(wrong)?;
                label.1.push((hash(name)?, value));
            } else if let Some(name) = text.strip_prefix('*') {
                pairs.push((hash(name)?, value));
            } else {
                context.push((hash(&text)?, value));
            }
        }
        let labels = labels.into_iter().map(|(key, own)| (key, Part::of_list(own))).collect();
        let round = Self { width, context: Part::of_list(context), pairs: Part::of_list(pairs), labels };
        if !round.fits(columns as usize, 0) {
            return Err(fault!("{} labels on offer have no room in {columns} columns", round.labels.len()));
        }
        Ok(round)
    }
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
    let large = round.parts().flat_map(|part| &part.values).find(|value| !is_small(**value));
    if let Some(value) = large {
        return Err(fault!("a feature of the round is {value:e}; at most {LARGEST_NORM:e} is allowed"));
    }
    row.set_round(round);
    Ok(())
}

/// The features of a round by name, before they are hashed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribedRound {
    context: Described,
    /// Of each label on offer, with its key.
    labels: Vec<(u64, Described)>,
    /// What the labels on offer are called; empty where one has no name.
    called: Vec<GivenLabel>,
}

impl DescribedRound {
    /// A round of these features, with the keys and the features of its labels.
    pub fn new(context: Described, labels: Vec<(u64, Described)>) -> Self {
        Self { context, labels, called: vec![] }
    }

    /// The names of the labels on offer with their types, in their order; nothing where they have none.
    pub fn labels(&self) -> Option<impl Iterator<Item = (&str, LabelType)>> {
        (!self.called.is_empty()).then(|| self.called.iter().map(|label| (&*label.text, label.of)))
    }

    /// The names of all features, each once: those of the round, then those of the labels.
    pub fn names(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let all = self.context.iter().chain(self.labels.iter().flat_map(|(_, own)| own));
        all.map(|(name, _)| name.as_str()).filter(|name| seen.insert(*name)).collect()
    }

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

//! The description of a member, and its text form in the parameter `members`.

use std::fmt;
use std::str::FromStr;

use crate::param::{self, ParamError, ParamValue, Value};
use crate::problem::Problem;

use super::kind::{Kind, Settings};
use super::kinds::KINDS;
use super::member::Member;
use super::row::View;

/// A kind of member with its settings.
#[derive(Clone, Copy, PartialEq)]
pub struct Description {
    /// The position in [`KINDS`].
    kind: usize,
    settings: Settings,
}

/// A member, and whether it was dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Its description.
    pub member: Description,
    /// Whether it was dropped to stay within the budget.
    pub dropped: bool,
}

/// All members, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Lineup(pub Vec<Place>);

impl Description {
    /// The member of the kind `name`, which is one of [`KINDS`], with these `settings`.
    pub(super) fn of(name: &str, settings: Settings) -> Self {
        Self { kind: position(name).expect("a kind that is known"), settings }
    }

    /// Frequencies of the classes.
    pub(super) fn labels() -> Self {
        Self::of("labels", [0.0; 2])
    }

    /// All members to consider for `problem`, in order of preference: first one of each kind, then the second
    /// of each kind, and so on, since the stacks gain most from members of different kinds.
    pub(super) fn candidates(problem: &Problem) -> Vec<Self> {
        let of_kinds: Vec<Vec<Settings>> = KINDS.iter().map(|kind| kind.candidates(problem)).collect();
        let most = of_kinds.iter().map(Vec::len).max().unwrap_or(0);
        let rank = |rank: usize| {
            let of_kinds = of_kinds.iter().enumerate();
            of_kinds.filter_map(move |(kind, all)| Some(Self { kind, settings: *all.get(rank)? }))
        };
        (0..most).flat_map(rank).collect()
    }

    /// What is known of the member's kind.
    pub(super) fn kind(self) -> &'static dyn Kind {
        KINDS[self.kind]
    }

    /// The position of the member's kind in [`KINDS`].
    pub(super) fn position(self) -> usize {
        self.kind
    }

    /// See [`Kind::title`].
    pub(super) fn title(self) -> String {
        self.kind().title(self.settings)
    }

    /// Whether the member depends on the scale of the features.
    pub(super) fn has_unit(self) -> bool {
        !matches!(self.kind().traits().view, View::Plain | View::Given)
    }

    /// See [`Kind::columns`].
    pub(super) fn columns(self) -> usize {
        self.kind().columns(self.settings)
    }

    /// See [`Kind::heads`].
    pub(super) fn heads(self) -> usize {
        self.kind().heads(self.settings)
    }

    /// The regularization, if the member belongs to a grid that can be extended.
    pub(super) fn extensible_ratio(self) -> Option<f64> {
        let [ratio, forgetting] = self.settings;
        (self.kind().traits().has_grid && forgetting == 0.0).then_some(ratio)
    }

    /// A member of the same grid with another regularization.
    pub(super) fn with_ratio(self, ratio: f64) -> Self {
        Self { settings: [ratio, self.settings[1]], ..self }
    }

    /// See [`Kind::made_smaller`].
    pub(super) fn made_smaller(self, problem: &Problem) -> Vec<String> {
        self.kind().made_smaller(self.settings, problem)
    }

    /// See [`Kind::work`].
    pub(super) fn work(self, problem: &Problem) -> f64 {
        self.kind().work(self.settings, problem)
    }

    /// See [`Kind::numbers`].
    pub(super) fn numbers(self, problem: &Problem) -> usize {
        self.kind().numbers(self.settings, problem)
    }

    /// See [`Kind::numbers_at_first`].
    pub(super) fn numbers_at_first(self, problem: &Problem) -> usize {
        self.kind().numbers_at_first(self.settings, problem)
    }

    /// See [`Kind::make`].
    pub(super) fn make(self, problem: &Problem, seed: u64) -> Result<Box<dyn Member>, ParamError> {
        self.kind().make(self.settings, problem, seed)
    }
}

/// The position of the kind `name` in [`KINDS`].
pub(super) fn position(name: &str) -> Option<usize> {
    KINDS.iter().position(|kind| kind.traits().name == name)
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().traits().name)?;
        let given = self.settings.iter().take_while(|number| **number > 0.0);
        given.zip(['@', ':']).try_for_each(|(number, mark)| write!(f, "{mark}{number}"))
    }
}

impl fmt::Debug for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Description {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (name, numbers) = text.split_once('@').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let (first, second) = match numbers.map(|numbers| (numbers, numbers.split_once(':'))) {
            None => (None, None),
            Some((first, None)) => (Some(first), None),
            Some((_, Some((first, second)))) => (Some(first), Some(second)),
        };
        let kind = position(name).ok_or(())?;
        Ok(Self { kind, settings: KINDS[kind].read(first, second).ok_or(())? })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.dropped { "-" } else { "" }, self.member)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (dropped, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        Ok(Self { member: text.parse()?, dropped })
    }
}

impl ParamValue for Lineup {
    const KIND: param::Kind = param::Kind::List;

    const WORDS: &'static [&'static str] = &["labels+shared@0.1+products@0.001"];

    const NEED: &'static str = "words as labels, pairs, booster@3:4, trees, forest, neighbours, bayes, part, full@0.1, shared@0.1, products@0.01 (or shared@0.1:0.001, which forgets), waves@0.01:0.3, diagonals@3 or diagonal@0.1:0.5, with + between them, of which at least one stays";

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let places: Vec<Place> = text.split('+').map(str::parse).collect::<Result<_, ()>>().ok()?;
        places.iter().any(|place| !place.dropped).then_some(Self(places))
    }

    fn to_value(&self) -> Value {
        Value::Text(self.0.iter().map(Place::to_string).collect::<Vec<_>>().join("+"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Users read of every kind what it is called, and how its numbers are given.
    #[test]
    fn every_kind_is_named_where_members_are_refused() {
        for kind in KINDS {
            let name = kind.traits().name;
            assert!(Lineup::NEED.split([' ', ',', '@']).any(|word| word == name), "{name} is not named");
        }
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        let text = "labels+-pairs+booster+booster@3+booster@3:2+booster@3:3+booster@3:4+trees+forest+neighbours+bayes+full@0.1+-shared@1+products@0.0001:0.01+waves@0.01:0.3+diagonal@0.1:0.5\
                    +diagonals@2+diagonals@9:1000";
        let lineup = Lineup::from_value(&Value::from(text)).expect("all words are known");
        assert_eq!(lineup.to_value(), Value::from(text));
        assert_eq!(lineup.0.iter().filter(|place| place.dropped).count(), 2);
        for wrong in [
            "",
            "labels+",
            "labels@1",
            "booster@4",
            "booster@3:1",
            "trees@1",
            "forest@1",
            "neighbours@1",
            "bayes@1",
            "full",
            "full@0",
            "full@-1",
            "full@inf",
            "-labels",
            "diagonal@1",
            "diagonal@1:",
            "diagonals",
            "diagonals@0",
            "diagonals@10",
            "diagonals@1.5",
            "diagonals@1:0",
            "shared@1:1",
            "fool@1",
            "waves@1",
            "waves@1:0",
        ] {
            assert_eq!(Lineup::from_value(&Value::from(wrong)), None, "{wrong}");
        }
    }
}

//! The description of a member, and its text form in the parameter `members`.

use std::fmt;
use std::str::FromStr;

use crate::param::{Kind, ParamError, ParamValue, Value, Values};
use crate::problem::Problem;
use crate::registry;

use super::context::Context;
use super::diagonals::{Diagonals, HEADS};
use super::expansion::Expansion;
use super::family::Family;
use super::forest::Forest;
use super::fourier::Fourier;
use super::member::{Learner, Member};
use super::neighbours::Neighbours;
use super::trees::Trees;

/// Curvatures $\gamma$ of a family's heads. A valid surrogate has at most ½; the theorem's curvature
/// decreases with the norm of the comparator.
const CURVATURES: [f64; 5] = [0.5, 0.2, 0.08, 0.03, 0.01];

/// Forgetting rates of the counts of labels.
const FORGETTING: [f64; 3] = [0.0, 1.0 / 256.0, 1.0 / 32.0];

/// The kind of a member with its parameters. `ratio` is $\lambda/\gamma$ in multiples of the squared unit;
/// `forgetting` is $\delta$, the part of its sums that a family forgets in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Description {
    /// Frequencies of the classes.
    Labels,
    /// Frequencies of the classes after each previous class.
    Pairs,
    /// Boosted trees.
    Trees,
    /// A forest of trees whose splits can be undone.
    Forest,
    /// The classes of the nearest rows among the latest ones.
    Neighbours,
    /// FOLKLORE learners that share a matrix with $(K-1)d$ rows.
    Full {
        /// $\lambda/\gamma$.
        ratio: f64,
        /// $\delta$.
        forgetting: f64,
    },
    /// FOLKLORE learners that share a matrix with $d$ rows, for all classes.
    Shared {
        /// $\lambda/\gamma$.
        ratio: f64,
        /// $\delta$.
        forgetting: f64,
    },
    /// As `Shared`, over the features and their products.
    Products {
        /// $\lambda/\gamma$.
        ratio: f64,
        /// $\delta$.
        forgetting: f64,
    },
    /// As `Shared`, over the features and random Fourier features.
    Waves {
        /// $\lambda/\gamma$.
        ratio: f64,
        /// $\sigma$, the standard deviation of the Gaussian kernel in multiples of the unit.
        deviation: f64,
    },
    /// FOLKLORE learners with diagonal matrices: the first `heads` of a fixed list.
    Diagonals {
        /// Number of learners.
        heads: usize,
        /// Number of cells; further features share them by hashing. `None`: a cell for every feature.
        cells: Option<usize>,
    },
    /// One FOLKLORE with a diagonal matrix, in double precision.
    Diagonal {
        /// $\lambda/\gamma$.
        ratio: f64,
        /// $\gamma$.
        curvature: f64,
    },
}

/// The names of the kinds of members.
pub(super) const KINDS: [&str; 11] = [
    "labels",
    "pairs",
    "trees",
    "forest",
    "neighbours",
    "full",
    "shared",
    "products",
    "waves",
    "diagonals",
    "diagonal",
];

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
    /// The name that precedes the numbers.
    pub(super) fn name(self) -> &'static str {
        KINDS[self.kind()]
    }

    /// The position of the member's kind in [`KINDS`].
    pub(super) fn kind(self) -> usize {
        match self {
            Self::Labels => 0,
            Self::Pairs => 1,
            Self::Trees => 2,
            Self::Forest => 3,
            Self::Neighbours => 4,
            Self::Full { .. } => 5,
            Self::Shared { .. } => 6,
            Self::Products { .. } => 7,
            Self::Waves { .. } => 8,
            Self::Diagonals { .. } => 9,
            Self::Diagonal { .. } => 10,
        }
    }

    /// A description in English, for the table of weights.
    pub(super) fn title(self) -> String {
        let (what, ratio, beside) = match self {
            Self::Labels => return "frequencies of labels".to_owned(),
            Self::Pairs => return "labels given the previous label".to_owned(),
            Self::Trees => return "boosted trees".to_owned(),
            Self::Forest => return "forest of trees".to_owned(),
            Self::Neighbours => return "nearest neighbours in windows".to_owned(),
            Self::Full { ratio, forgetting } => ("linear with a full matrix", ratio, forgetting),
            Self::Shared { ratio, forgetting } => ("linear with a shared matrix", ratio, forgetting),
            Self::Products { ratio, forgetting } => ("products of features", ratio, forgetting),
            Self::Waves { ratio, deviation } => {
                return format!("waves of features, width {deviation}, regularization {ratio}");
            }
            Self::Diagonals { heads, .. } => return format!("{heads} diagonal linear learners"),
            Self::Diagonal { ratio, curvature } => {
                return format!("diagonal linear, regularization {ratio}, curvature {curvature}");
            }
        };
        let forgetting = if beside > 0.0 { format!(", forgetting {beside}") } else { String::new() };
        format!("{what}, regularization {ratio}{forgetting}")
    }

    /// Whether the member uses the labels only.
    pub(super) fn counts_labels(self) -> bool {
        matches!(self, Self::Labels | Self::Pairs)
    }

    /// Whether the member consists of trees, boosted or in a forest.
    pub(super) fn has_trees(self) -> bool {
        matches!(self, Self::Trees | Self::Forest)
    }

    /// Whether the member consists of linear learners with diagonal matrices.
    pub(super) fn is_diagonal(self) -> bool {
        matches!(self, Self::Diagonals { .. } | Self::Diagonal { .. })
    }

    /// Whether the member takes both views of a sparse row.
    pub(super) fn takes_both_views(self) -> bool {
        matches!(self, Self::Diagonals { .. })
    }

    /// Whether the member consists of heads that share one matrix.
    pub(super) fn is_family(self) -> bool {
        matches!(self, Self::Full { .. } | Self::Shared { .. } | Self::Products { .. } | Self::Waves { .. })
    }

    /// Whether forecasts of many rows at once take less time than row by row.
    pub(super) fn is_foreseen(self) -> bool {
        self.is_family() || self == Self::Neighbours
    }

    /// Whether the member depends on the scale of the features.
    pub(super) fn has_unit(self) -> bool {
        !self.counts_labels() && !self.has_trees()
    }

    /// Whether the member depends on all rounds so far, unless it forgets: the others count labels, or have
    /// windows.
    pub(super) fn keeps_all(self) -> bool {
        !self.counts_labels() && self != Self::Neighbours
    }

    /// The number of columns that a stack has for the member: one for each head of `diagonals`, whose
    /// regularizations differ, otherwise one for the mixture of its heads.
    pub(super) fn columns(self) -> usize {
        if let Self::Diagonals { heads, .. } = self { heads } else { 1 }
    }

    /// The regularization, if the member belongs to a grid that can be extended.
    pub(super) fn extensible_ratio(self) -> Option<f64> {
        match self {
            Self::Full { ratio, forgetting }
            | Self::Shared { ratio, forgetting }
            | Self::Products { ratio, forgetting } => (forgetting == 0.0).then_some(ratio),
            _ => None,
        }
    }

    /// The same kind of family with another regularization.
    pub(super) fn with_ratio(self, ratio: f64) -> Self {
        match self {
            Self::Full { forgetting, .. } => Self::Full { ratio, forgetting },
            Self::Shared { forgetting, .. } => Self::Shared { ratio, forgetting },
            Self::Products { forgetting, .. } => Self::Products { ratio, forgetting },
            other => other,
        }
    }

    /// The number of heads: the forecasts that the member makes.
    pub(super) fn heads(self) -> usize {
        match self {
            Self::Labels | Self::Pairs => FORGETTING.len(),
            Self::Full { .. } | Self::Shared { .. } | Self::Products { .. } | Self::Waves { .. } => {
                CURVATURES.len()
            }
            Self::Diagonals { heads, .. } => heads,
            Self::Diagonal { .. } => 1,
            Self::Trees => Trees::HEADS,
            Self::Forest => Forest::HEADS,
            Self::Neighbours => Neighbours::HEADS,
        }
    }

    /// Makes the member for `problem`, whose rows are in multiples of the unit; `seed` determines its random
    /// draws.
    pub(super) fn make(self, problem: &Problem, seed: u64) -> Result<Box<dyn Member>, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let family = |expansion, shared, ratio, forgetting| {
            Box::new(Family::new(k, d, expansion, shared, (ratio, forgetting), &CURVATURES))
        };
        Ok(match self {
            Self::Labels => Box::new(Context::new(k, false, &FORGETTING)),
            Self::Pairs => Box::new(Context::new(k, true, &FORGETTING)),
            Self::Trees => Box::new(Trees::new(problem, seed)?),
            Self::Forest => Box::new(Forest::new(problem, seed)),
            Self::Neighbours => Box::new(Neighbours::new(problem)),
            Self::Full { ratio, forgetting } => family(Expansion::Plain, false, ratio, forgetting),
            Self::Shared { ratio, forgetting } => family(Expansion::Plain, true, ratio, forgetting),
            Self::Products { ratio, forgetting } => family(Expansion::Products, true, ratio, forgetting),
            Self::Waves { ratio, deviation } => {
                family(Expansion::Waves(Fourier::new(d, deviation)), true, ratio, 0.0)
            }
            Self::Diagonals { heads, cells } => {
                Box::new(Diagonals::new(problem, heads, cells.unwrap_or(usize::MAX)))
            }
            Self::Diagonal { ratio, curvature } => {
                let values = Values::from([
                    ("radius".to_owned(), Value::from(1.0)),
                    ("regularization".to_owned(), Value::from(ratio * curvature)),
                    ("curvature".to_owned(), Value::from(curvature)),
                ]);
                Box::new(Learner(registry::find("folklore-diag")?.make(&values, problem.clone(), 0)?))
            }
        })
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match *self {
            Self::Labels | Self::Pairs | Self::Trees | Self::Forest | Self::Neighbours => Ok(()),
            Self::Full { ratio, forgetting }
            | Self::Shared { ratio, forgetting }
            | Self::Products { ratio, forgetting }
                if forgetting > 0.0 =>
            {
                write!(f, "@{ratio}:{forgetting}")
            }
            Self::Full { ratio, .. } | Self::Shared { ratio, .. } | Self::Products { ratio, .. } => {
                write!(f, "@{ratio}")
            }
            Self::Waves { ratio, deviation } => write!(f, "@{ratio}:{deviation}"),
            Self::Diagonals { heads, cells: None } => write!(f, "@{heads}"),
            Self::Diagonals { heads, cells: Some(cells) } => write!(f, "@{heads}:{cells}"),
            Self::Diagonal { ratio, curvature } => write!(f, "@{ratio}:{curvature}"),
        }
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
        let number = |text: &str| text.parse().ok().filter(|x: &f64| (1e-9..=1e9).contains(x)).ok_or(());
        let rate = |text: &str| number(text).and_then(|x| if x < 1.0 { Ok(x) } else { Err(()) });
        let count = |text: &str, most: usize| {
            text.parse().ok().filter(|count: &usize| (1..=most).contains(count)).ok_or(())
        };
        let forgetting = || second.map_or(Ok(0.0), rate);
        Ok(match (name, first, second) {
            ("labels", None, None) => Self::Labels,
            ("pairs", None, None) => Self::Pairs,
            ("trees", None, None) => Self::Trees,
            ("forest", None, None) => Self::Forest,
            ("neighbours", None, None) => Self::Neighbours,
            ("full", Some(ratio), _) => Self::Full { ratio: number(ratio)?, forgetting: forgetting()? },
            ("shared", Some(ratio), _) => Self::Shared { ratio: number(ratio)?, forgetting: forgetting()? },
            ("products", Some(ratio), _) => {
                Self::Products { ratio: number(ratio)?, forgetting: forgetting()? }
            }
            ("waves", Some(ratio), Some(deviation)) => {
                Self::Waves { ratio: number(ratio)?, deviation: number(deviation)? }
            }
            ("diagonals", Some(heads), cells) => Self::Diagonals {
                heads: count(heads, HEADS)?,
                cells: cells.map(|cells| count(cells, u32::MAX as usize - 1)).transpose()?,
            },
            ("diagonal", Some(ratio), Some(curvature)) => {
                Self::Diagonal { ratio: number(ratio)?, curvature: number(curvature)? }
            }
            _ => return Err(()),
        })
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
    const KIND: Kind = Kind::List;

    const WORDS: &'static [&'static str] = &["labels+shared@0.1+products@0.001"];

    const NEED: &'static str = "words as labels, pairs, trees, forest, neighbours, full@0.1, shared@0.1, products@0.01 (or shared@0.1:0.001, which forgets), waves@0.01:0.3, diagonals@3 or diagonal@0.1:0.5, with + between them, of which at least one stays";

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

    #[test]
    fn words_are_read_as_they_are_written() {
        let text = "labels+-pairs+trees+forest+neighbours+full@0.1+-shared@1+products@0.0001:0.01+waves@0.01:0.3+diagonal@0.1:0.5\
                    +diagonals@2+diagonals@9:1000";
        let lineup = Lineup::from_value(&Value::from(text)).expect("all words are known");
        assert_eq!(lineup.to_value(), Value::from(text));
        assert_eq!(lineup.0.iter().filter(|place| place.dropped).count(), 2);
        for wrong in [
            "",
            "labels+",
            "labels@1",
            "trees@1",
            "forest@1",
            "neighbours@1",
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

//! Who takes part in the mixture: one word for each member, and which of them a budget allows.

use std::fmt;
use std::str::FromStr;

use crate::param::{ParamError, ParamValue, Value, Values};
use crate::problem::Problem;
use crate::registry;

use super::context::Context;
use super::expansion::{Expansion, with_products};
use super::family::{EVERY, Family};
use super::fourier::{Fourier, WAVES};
use super::member::{Learner, Member};
use super::trees::Trees;

/// Curvatures $\gamma$ of a family's heads. A valid surrogate has at most ½; theory's falls as the comparator grows.
const CURVATURES: [f64; 5] = [0.5, 0.2, 0.08, 0.03, 0.01];

/// Rates at which counts of labels are forgotten.
const FORGETTING: [f64; 3] = [0.0, 1.0 / 256.0, 1.0 / 32.0];

/// Ratios of families of the features themselves.
const RATIOS: [f64; 4] = [1.0, 0.1, 0.01, 0.001];

/// Ratios of families of products: they are many, and of a smaller scale.
const PRODUCT_RATIOS: [f64; 3] = [0.1, 0.01, 0.001];

/// Ratios and rates of families that forget, of the features themselves and of their products: where a stream drifts, they are
/// the best to be had, and elsewhere nobody listens to them.
const FORGETFUL: [(Kind, f64, f64); 3] =
    [(Kind::Shared, 0.01, 0.004), (Kind::Shared, 0.01, 0.016), (Kind::Products, 0.0001, 0.016)];

/// Ratios of families of waves, and the deviations of their kernels in multiples of the unit, of which most norms are a half or
/// more: from neighbourhoods to trends.
const WAVES_OF: [(f64, f64); 3] = [(0.01, 0.3), (0.3, 0.6), (0.001, 0.8)];

/// Stored entries that a sparse row is taken to have: how many it has is not known before it comes.
const STORED: f64 = 256.0;

/// Ratios and curvatures of diagonal learners.
const DIAGONALS: [(f64, f64); 6] =
    [(0.1, 0.1), (0.01, 0.1), (0.1, 0.02), (0.01, 0.02), (0.01, 0.5), (0.001, 0.5)];

/// Counting pairs of labels takes $K^2$ numbers: not for more classes than this.
const MOST_PAIRED: usize = 256;

/// In the first rounds all members together may cost this many budgets.
pub(super) const TRIAL: f64 = 4.0;

/// Who costs less than this part of the budget stays.
const CHEAP: f64 = 0.02;

/// The same for trees, which know what no other kind knows.
const CHEAP_TREES: f64 = 0.8;

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How often each class came.
    Labels,
    /// How often each class came after the class before.
    Pairs,
    /// FOLKLOREs that share one matrix of $(K-1)d$ rows.
    Full,
    /// FOLKLOREs that share one matrix of $d$ rows, for all classes.
    Shared,
    /// The same over the features and their products.
    Products,
    /// The same over the features and waves of them.
    Waves,
    /// FOLKLORE with a diagonal matrix.
    Diagonal,
    /// Boosted trees.
    Trees,
}

impl Kind {
    const ALL: [(&str, Kind); 8] = [
        ("labels", Kind::Labels),
        ("pairs", Kind::Pairs),
        ("full", Kind::Full),
        ("shared", Kind::Shared),
        ("products", Kind::Products),
        ("waves", Kind::Waves),
        ("diagonal", Kind::Diagonal),
        ("trees", Kind::Trees),
    ];

    /// The part of the budget that it may cost and stay.
    pub(super) fn tolerated(self) -> f64 {
        if self == Kind::Trees { CHEAP_TREES } else { CHEAP }
    }

    /// Whether it is about features, and the unit in which they are measured matters to it.
    pub(super) fn has_unit(self) -> bool {
        !matches!(self, Kind::Labels | Kind::Pairs | Kind::Trees)
    }
}

/// A member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Word {
    /// What it is.
    pub kind: Kind,
    /// $\lambda/\gamma$ in multiples of the squared unit, for kinds with features.
    pub ratio: f64,
    /// $\gamma$, for [`Kind::Diagonal`].
    pub curvature: f64,
    /// $\sigma$ in multiples of the unit, for [`Kind::Waves`].
    pub deviation: f64,
    /// $\delta$, what a family forgets in a round.
    pub forgetting: f64,
    /// Whether it had to leave for the sake of the budget.
    pub left: bool,
}

/// All members, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Lineup(pub Vec<Word>);

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = Kind::ALL.iter().find(|(_, kind)| *kind == self.kind).expect("all kinds have a name");
        let left = if self.left { "-" } else { "" };
        match self.kind {
            Kind::Labels | Kind::Pairs | Kind::Trees => write!(f, "{left}{name}"),
            Kind::Diagonal => write!(f, "{left}{name}@{}:{}", self.ratio, self.curvature),
            Kind::Waves => write!(f, "{left}{name}@{}:{}", self.ratio, self.deviation),
            Kind::Full | Kind::Shared | Kind::Products if self.forgetting > 0.0 => {
                write!(f, "{left}{name}@{}:{}", self.ratio, self.forgetting)
            }
            Kind::Full | Kind::Shared | Kind::Products => write!(f, "{left}{name}@{}", self.ratio),
        }
    }
}

impl FromStr for Word {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (left, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (name, numbers) = text.split_once('@').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let (_, kind) = *Kind::ALL.iter().find(|(known, _)| *known == name).ok_or(())?;
        let number = |text: &str| text.parse().ok().filter(|x| (1e-9..=1e9).contains(x)).ok_or(());
        let (ratio, second) = match numbers.map(|numbers| (numbers, numbers.split_once(':'))) {
            None => (1.0, None),
            Some((ratio, None)) => (number(ratio)?, None),
            Some((_, Some((ratio, second)))) => (number(ratio)?, Some(number(second)?)),
        };
        let word = Self { left, ..Self::new(kind, ratio) };
        match (kind, numbers, second) {
            (Kind::Labels | Kind::Pairs | Kind::Trees, None, _) => Ok(word),
            (Kind::Full | Kind::Shared | Kind::Products, Some(_), None) => Ok(word),
            (Kind::Full | Kind::Shared | Kind::Products, Some(_), Some(forgetting)) if forgetting < 1.0 => {
                Ok(Self { forgetting, ..word })
            }
            (Kind::Waves, Some(_), Some(deviation)) => Ok(Self { deviation, ..word }),
            (Kind::Diagonal, Some(_), Some(curvature)) => Ok(Self { curvature, ..word }),
            _ => Err(()),
        }
    }
}

impl ParamValue for Lineup {
    const KIND: crate::param::Kind = crate::param::Kind::List;

    const WORDS: &'static [&'static str] = &["labels+shared@0.1+products@0.001"];

    const NEED: &'static str = "words as labels, pairs, trees, full@0.1, shared@0.1, products@0.01 (or shared@0.1:0.001, which forgets), waves@0.01:0.3 or diagonal@0.1:0.5, with + between them, of which at least one stays";

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let words: Vec<Word> = text.split('+').map(str::parse).collect::<Result<_, ()>>().ok()?;
        words.iter().any(|word| !word.left).then_some(Self(words))
    }

    fn to_value(&self) -> Value {
        Value::Text(self.0.iter().map(Word::to_string).collect::<Vec<_>>().join("+"))
    }
}

impl Lineup {
    /// Who takes part in `problem`, where a round may cost `budget` multiply-adds.
    ///
    /// Counts always; trees, and the families over features, waves of them, their products, and classes and features, of which one
    /// alone is within the budget; learners with a diagonal where no family is. All of them together stay within [`TRIAL`]
    /// budgets, or the last are left out.
    pub fn within(problem: &Problem, budget: f64) -> Self {
        let mut words = vec![Word::new(Kind::Labels, 1.0)];
        if problem.classes <= MOST_PAIRED {
            words.push(Word::new(Kind::Pairs, 1.0));
        }
        let grid = |kind, ratios: &[f64]| -> Vec<Word> {
            let forgetful = FORGETFUL.iter().filter(|(of, ..)| *of == kind);
            let forgetful =
                forgetful.map(|&(_, ratio, forgetting)| Word { forgetting, ..Word::new(kind, ratio) });
            ratios.iter().map(|ratio| Word::new(kind, *ratio)).chain(forgetful).collect()
        };
        let waves = |&(ratio, deviation)| Word { deviation, ..Word::new(Kind::Waves, ratio) };
        let mut candidates = vec![Word::new(Kind::Trees, 1.0)];
        candidates.extend(grid(Kind::Shared, &RATIOS));
        candidates.extend(WAVES_OF.iter().map(waves));
        candidates.extend(grid(Kind::Products, &PRODUCT_RATIOS));
        // For two classes the matrices are the same.
        if problem.classes > 2 {
            candidates.extend(grid(Kind::Full, &RATIOS));
        }
        let mut total = 0.0;
        for word in candidates {
            let work = word.work(problem);
            if work <= budget && total + work <= TRIAL * budget {
                total += work;
                words.push(word);
            }
        }
        if !words.iter().any(|word| word.kind.has_unit()) {
            let diagonal = |&(ratio, curvature)| Word { curvature, ..Word::new(Kind::Diagonal, ratio) };
            words.extend(DIAGONALS.iter().map(diagonal));
        }
        Self(words)
    }
}

impl Word {
    fn new(kind: Kind, ratio: f64) -> Self {
        Self { kind, ratio, curvature: 1.0, deviation: 1.0, forgetting: 0.0, left: false }
    }

    /// The member for `problem` with rows in multiples of the unit, which draws what it draws by `seed`.
    pub(super) fn make(self, problem: &Problem, seed: u64) -> Result<Box<dyn Member>, ParamError> {
        let (k, d, ratio) = (problem.classes, problem.features, self.ratio);
        let ratios = (ratio, self.forgetting);
        let family = |expansion, shared| Box::new(Family::new(k, d, expansion, shared, ratios, &CURVATURES));
        Ok(match self.kind {
            Kind::Labels => Box::new(Context::new(k, false, &FORGETTING)),
            Kind::Pairs => Box::new(Context::new(k, true, &FORGETTING)),
            Kind::Trees => Box::new(Trees::new(problem, seed)?),
            Kind::Full => family(Expansion::Plain, false),
            Kind::Shared => family(Expansion::Plain, true),
            Kind::Products => family(Expansion::Products, true),
            Kind::Waves => family(Expansion::Waves(Fourier::new(d, self.deviation)), true),
            Kind::Diagonal => {
                let values = Values::from([
                    ("radius".to_owned(), Value::from(1.0)),
                    ("regularization".to_owned(), Value::from(ratio * self.curvature)),
                    ("curvature".to_owned(), Value::from(self.curvature)),
                ]);
                Box::new(Learner(registry::find("folklore-diag")?.make(&values, problem.clone(), 0)?))
            }
        })
    }

    /// How many forecasts it makes.
    pub(super) fn heads(self) -> usize {
        match self.kind {
            Kind::Labels | Kind::Pairs => FORGETTING.len(),
            Kind::Full | Kind::Shared | Kind::Products | Kind::Waves => CURVATURES.len(),
            Kind::Diagonal => 1,
            Kind::Trees => Trees::HEADS,
        }
    }

    /// Classes, and features as the member has them.
    fn dimensions(self, problem: &Problem) -> (usize, usize) {
        let features = match self.kind {
            Kind::Products => with_products(problem.features),
            Kind::Waves => WAVES.saturating_add(problem.features),
            _ => problem.features,
        };
        (problem.classes, features)
    }

    /// What a round with a dense row costs, in multiply-adds of which a processor core does five in a nanosecond. Measured with
    /// rows that were announced: a wide product does three of its own in the time of one such, and what is not a product at
    /// all (exponentials, small systems, cache misses) is counted by its time.
    pub(super) fn work(self, problem: &Problem) -> f64 {
        /// What no dimension tells of.
        const CALLS: f64 = 15_000.0;
        let (k, d) = self.dimensions(problem);
        let (k, d, heads) = (k as f64, d as f64, self.heads() as f64);
        let q = k - 1.0;
        match self.kind {
            Kind::Labels | Kind::Pairs => heads * k,
            Kind::Full => {
                let side = q * d;
                let products = side * side * (1.0 + 0.5 * q) + 2.0 * heads * q * side;
                let inner = heads * (k * k * k + 30.0 * k * k + 500.0 * k);
                CALLS + products / 3.0 + inner + self.forgetting_work(side)
            }
            Kind::Shared | Kind::Products | Kind::Waves => {
                let products = 1.5 * d * d + 2.0 * heads * k * d;
                let waves = if self.kind == Kind::Waves { Fourier::work(problem.features) } else { 0.0 };
                CALLS + products / 3.0 + heads * 600.0 * k + waves + self.forgetting_work(d)
            }
            // Of sparse rows only the stored entries cost.
            Kind::Diagonal => 5.0 * k * if problem.sparse { d.min(STORED) } else { d },
            Kind::Trees => Trees::work(problem),
        }
    }

    /// The inversions' share of a round, with a matrix of this side.
    fn forgetting_work(self, side: f64) -> f64 {
        if self.forgetting > 0.0 { side * side * side / EVERY as f64 } else { 0.0 }
    }

    /// 8-byte numbers of state.
    pub(super) fn numbers(self, problem: &Problem) -> usize {
        let (k, d) = self.dimensions(problem);
        match self.kind {
            _ if self.left => 0,
            Kind::Labels => self.heads().saturating_mul(k),
            Kind::Pairs => self.heads().saturating_mul(k).saturating_mul(k),
            Kind::Full => Family::numbers(k, d, false, self.heads()),
            Kind::Shared | Kind::Products => Family::numbers(k, d, true, self.heads()),
            Kind::Waves => {
                Family::numbers(k, d, true, self.heads()).saturating_add(Fourier::numbers(problem.features))
            }
            Kind::Diagonal => k.saturating_mul(d).saturating_mul(2),
            Kind::Trees => Trees::numbers(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(classes: usize, features: usize, budget: f64) -> String {
        Lineup::within(&Problem::new(classes, features), budget).to_value().to_string()
    }

    #[test]
    fn the_budget_decides() {
        let families = "labels+pairs+trees+shared@1+shared@0.1+shared@0.01+shared@0.001+shared@0.01:0.004+shared@0.01:0.016";
        let waves = "waves@0.01:0.3+waves@0.3:0.6+waves@0.001:0.8";
        // Products of 55 features are beyond a million.
        assert_eq!(words(7, 55, 1e6), format!("{families}+{waves}+full@1+full@0.1+full@0.01+full@0.001"));
        assert_eq!(
            words(2, 9, 1e6),
            format!("{families}+{waves}+products@0.1+products@0.01+products@0.001+products@0.0001:0.016")
        );
        assert_eq!(words(10, 257, 1.5e6), format!("{families}+{waves}"));
        // So many features leave no room for waves.
        assert_eq!(words(10, 800, 8e5), "labels+pairs+shared@1+shared@0.1+shared@0.01+shared@0.001");
        assert!(words(4, 50_000, 1e6).starts_with("labels+pairs+diagonal@0.1:0.1+"));
        assert!(words(1000, 50_000, 1e6).starts_with("labels+diagonal@0.1:0.1+"));
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        let text =
            "labels+-pairs+trees+full@0.1+-shared@1+products@0.0001:0.01+waves@0.01:0.3+diagonal@0.1:0.5";
        let lineup = Lineup::from_value(&Value::from(text)).expect("all words are known");
        assert_eq!(lineup.to_value(), Value::from(text));
        assert_eq!(lineup.0.iter().filter(|word| word.left).count(), 2);
        for wrong in [
            "",
            "labels+",
            "labels@1",
            "trees@1",
            "full",
            "full@0",
            "full@-1",
            "full@inf",
            "-labels",
            "diagonal@1",
            "diagonal@1:",
            "shared@1:1",
            "fool@1",
            "waves@1",
            "waves@1:0",
        ] {
            assert_eq!(Lineup::from_value(&Value::from(wrong)), None, "{wrong}");
        }
    }
}

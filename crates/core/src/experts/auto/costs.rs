//! The cost of a member: multiply-adds in a round, and 8-byte numbers of memory.

use crate::param::{Kind, ParamValue, Value};
use crate::problem::Problem;

use super::description::{Description, KINDS};
use super::diagonals::Diagonals;
use super::expansion::with_products;
use super::family::{EVERY, Family};
use super::forest::Forest;
use super::fourier::{Fourier, WAVES};
use super::neighbours::Neighbours;
use super::trees::Trees;

/// The number of non-zero entries assumed for a sparse row, since it is not known in advance.
const STORED: f64 = 64.0;

/// Factors by kind of member: its time on a machine, divided by that of the cost model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs([f64; KINDS.len()]);

impl Default for Costs {
    fn default() -> Self {
        Self([1.0; KINDS.len()])
    }
}

impl Costs {
    /// The time of a round with a dense row, in multiply-adds of the machine of the cost model.
    pub(super) fn work(&self, member: Description, problem: &Problem) -> f64 {
        self.0[member.kind()] * member.work(problem)
    }
}

impl ParamValue for Costs {
    const KIND: Kind = Kind::List;

    const WORDS: &'static [&'static str] = &["full:1.5+trees:0.8"];

    const NEED: &'static str =
        "kinds of members with factors from 0.001 to 1000, as full:1.5, with + between them, each kind once";

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let mut factors = [None; KINDS.len()];
        for word in text.split('+') {
            let (name, factor) = word.split_once(':')?;
            let place = &mut factors[KINDS.iter().position(|kind| *kind == name)?];
            let factor = factor.parse().ok().filter(|factor: &f64| (1e-3..=1e3).contains(factor))?;
            if place.replace(factor).is_some() {
                return None;
            }
        }
        Some(Self(factors.map(|factor| factor.unwrap_or(1.0))))
    }

    fn to_value(&self) -> Value {
        let changed = KINDS.iter().zip(self.0).filter(|(_, factor)| *factor != 1.0);
        let words: Vec<String> = changed.map(|(kind, factor)| format!("{kind}:{factor}")).collect();
        Value::Text(if words.is_empty() { "labels:1".to_owned() } else { words.join("+") })
    }
}

impl Description {
    /// The number of classes, and of features after the member's expansion.
    fn dimensions(self, problem: &Problem) -> (usize, usize) {
        let features = match self {
            Self::Products { .. } => with_products(problem.features),
            Self::Waves { .. } => WAVES.saturating_add(problem.features),
            _ => problem.features,
        };
        (problem.classes, features)
    }

    /// The time of a round with a dense row, in multiply-adds; a processor core performs five in a
    /// nanosecond. Measured with announced rows: a wide matrix product performs three of its operations in
    /// the time of one such multiply-add, and work that is not a matrix product (exponentials, small systems,
    /// cache misses) is counted by its time.
    pub(super) fn work(self, problem: &Problem) -> f64 {
        /// The part of a round that does not depend on the problem.
        const CALLS: f64 = 15_000.0;
        let (k, d) = self.dimensions(problem);
        let (k, d, heads) = (k as f64, d as f64, self.heads() as f64);
        let q = k - 1.0;
        let of_one_matrix = || {
            let products = 1.5 * d * d + 2.0 * heads * k * d;
            CALLS + products / 3.0 + heads * 600.0 * k
        };
        // For sparse rows only the stored entries cost time.
        let stored = if problem.sparse { d.min(STORED) } else { d };
        match self {
            Self::Labels | Self::Pairs => heads * k,
            Self::Full { forgetting, .. } => {
                let side = q * d;
                let products = side * side * (1.0 + 0.5 * q) + 2.0 * heads * q * side;
                let inner = heads * (k * k * k + 30.0 * k * k + 500.0 * k);
                CALLS + products / 3.0 + inner + forgetting_work(forgetting, side)
            }
            Self::Shared { forgetting, .. } | Self::Products { forgetting, .. } => {
                of_one_matrix() + forgetting_work(forgetting, d)
            }
            Self::Waves { .. } => of_one_matrix() + Fourier::work(problem.features),
            Self::Diagonals { heads: count, .. } => {
                2.0 * Diagonals::blocks(problem.sparse, count) as f64 * k * stored + heads * 300.0 * k
            }
            Self::Diagonal { .. } => 5.0 * k * stored,
            Self::Trees => Trees::work(problem),
            Self::Forest => Forest::work(problem),
            Self::Neighbours => Neighbours::work(problem),
        }
    }

    /// 8-byte numbers of state.
    pub(super) fn numbers(self, problem: &Problem) -> usize {
        let (k, d) = self.dimensions(problem);
        let heads = self.heads();
        match self {
            Self::Labels => heads.saturating_mul(k),
            Self::Pairs => heads.saturating_mul(k).saturating_mul(k),
            Self::Full { .. } => Family::numbers(k, d, false, heads),
            Self::Shared { .. } | Self::Products { .. } => Family::numbers(k, d, true, heads),
            Self::Waves { .. } => {
                Family::numbers(k, d, true, heads).saturating_add(Fourier::numbers(problem.features))
            }
            Self::Diagonals { cells, .. } => Diagonals::numbers(problem, heads, cells.unwrap_or(usize::MAX)),
            Self::Diagonal { .. } => k.saturating_mul(d).saturating_mul(2),
            Self::Trees => Trees::numbers(problem),
            Self::Forest => Forest::numbers(problem),
            Self::Neighbours => Neighbours::numbers(problem),
        }
    }

    /// The part of [`Description::numbers`] that is allocated before the first row.
    pub(super) fn numbers_at_first(self, problem: &Problem) -> usize {
        match self {
            Self::Diagonals { .. } | Self::Diagonal { .. } => self.heads().saturating_mul(problem.classes),
            Self::Forest => Forest::numbers_at_first(problem),
            Self::Neighbours => Neighbours::numbers_at_first(problem),
            _ => self.numbers(problem),
        }
    }
}

/// The cost per round of the matrix inversions of a family that forgets; the matrix has `side` rows.
fn forgetting_work(forgetting: f64, side: f64) -> f64 {
    if forgetting > 0.0 { side * side * side / EVERY as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_read_as_they_are_written() {
        let read = |text: &str| Costs::from_value(&Value::from(text));
        let costs = read("full:1.5+trees:0.8").expect("known kinds");
        assert_eq!(costs.to_value(), Value::from("trees:0.8+full:1.5"));
        assert_eq!(read("labels:1"), Some(Costs::default()));
        assert_eq!(Costs::from_value(&Costs::default().to_value()), Some(Costs::default()));
        let problem = Problem::new(7, 55);
        let full = Description::Full { ratio: 0.1, forgetting: 0.0 };
        assert_eq!(costs.work(full, &problem), 1.5 * full.work(&problem));
        assert_eq!(costs.work(Description::Forest, &problem), Description::Forest.work(&problem));
        for wrong in
            ["", "full", "full:", "full:0", "full:-1", "full:nan", "fool:1", "full:1+full:2", "full:1e4"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}

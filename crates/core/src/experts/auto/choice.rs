//! Who takes part, by what a round may cost and how much memory there is.

use crate::problem::Problem;

use super::diagonals::{Diagonals, GRID};
use super::words::{Description, Lineup, Place};

/// Families of the features themselves, the most wanted first: ratios, and the rates at which they forget.
/// Where a stream drifts, those that forget are the best, and elsewhere their weight is next to nothing.
const SHARED: [(f64, f64); 6] =
    [(0.01, 0.0), (0.01, 0.004), (0.1, 0.0), (0.001, 0.0), (1.0, 0.0), (0.01, 0.016)];

/// The same of their products, which are many, and of a smaller scale.
const PRODUCTS: [(f64, f64); 4] = [(0.01, 0.0), (0.1, 0.0), (0.0001, 0.016), (0.001, 0.0)];

/// Ratios of families of waves, and the deviations of their kernels in multiples of the unit, of which most
/// norms are a half or more: from neighbourhoods to trends.
const WAVES_OF: [(f64, f64); 3] = [(0.3, 0.6), (0.01, 0.3), (0.001, 0.8)];

/// Ratios of families with one block for every pair of classes.
const FULL: [f64; 4] = [0.1, 0.01, 1.0, 0.001];

/// Sparse rows of more features than this are words and categories: most pairs of features never meet, so
/// that a matrix of all pairs costs far more time and memory than it gains over a diagonal one.
const MOST_PAIRS_OF_SPARSE: usize = 1024;

/// Counting pairs of labels takes $K^2$ numbers: not for more classes than this.
const MOST_PAIRED: usize = 256;

/// In the first rounds all members together may cost this many budgets.
pub(super) const TRIAL: f64 = 4.0;

/// With more classes than this there is no trial: members cost too much.
const MANY: usize = 32;

/// A member that costs less than this part of the budget is not dropped.
const CHEAP: f64 = 0.02;

/// The same for trees, which know what no other kind knows.
const CHEAP_TREES: f64 = 0.8;

/// Parts of the budget beyond which boosted trees and the forest are not chosen: rows are so wide then that
/// families do better with the time.
const MOST_FOR_TREES: f64 = 0.6;
const MOST_FOR_FOREST: f64 = 0.3;

/// What members may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// Multiply-adds of a round.
    pub(super) work: f64,
    /// 8-byte numbers of all members together.
    pub(super) numbers: usize,
}

impl Description {
    /// The part of the budget that it may cost to be chosen.
    fn affordable(self) -> f64 {
        match self {
            Self::Trees => MOST_FOR_TREES,
            Self::Forest => MOST_FOR_FOREST,
            _ => 1.0,
        }
    }

    /// The part of the budget that it may cost without being dropped.
    pub(super) fn tolerated(self) -> f64 {
        if matches!(self, Self::Trees | Self::Forest) { CHEAP_TREES } else { CHEAP }
    }
}

/// All that take part where nothing is too expensive, the most wanted first: one of each kind, then another,
/// since stacks gain most from members that know different things.
fn candidates(problem: &Problem) -> Vec<Description> {
    let mut all = vec![Description::Labels];
    if problem.classes <= MOST_PAIRED {
        all.push(Description::Pairs);
    }
    all.extend([Description::Trees, Description::Forest]);
    for at in 0..SHARED.len() {
        let shared = SHARED.get(at).map(|&(ratio, forgetting)| Description::Shared { ratio, forgetting });
        let waves = WAVES_OF.get(at).map(|&(ratio, deviation)| Description::Waves { ratio, deviation });
        let products =
            PRODUCTS.get(at).map(|&(ratio, forgetting)| Description::Products { ratio, forgetting });
        // For two classes the matrices are the same.
        let full = FULL.get(at).filter(|_| problem.classes > 2);
        let full = full.map(|&ratio| Description::Full { ratio, forgetting: 0.0 });
        all.extend([shared, waves, products, full].into_iter().flatten());
    }
    all
}

impl Lineup {
    /// Who takes part in `problem` within `limits`.
    ///
    /// Counts always; trees, and the families over features, waves of them, their products, and classes and
    /// features, of which one alone is within the budget. All of them together stay within [`TRIAL`] budgets
    /// (one for many classes), and within the memory, or the last are left out. Diagonal learners where no
    /// family is: as many as fit, and at least one, with as many cells as there is room for.
    pub(super) fn within(problem: &Problem, limits: Limits) -> Self {
        let trial = if problem.classes > MANY { 1.0 } else { TRIAL };
        let (mut work, mut numbers) = (0.0, 0usize);
        let mut members = Vec::new();
        for member in candidates(problem) {
            let of_rows = member.is_family() || member == Description::Forest;
            if of_rows && problem.sparse && problem.features > MOST_PAIRS_OF_SPARSE {
                continue;
            }
            let (own_work, own_numbers) = (member.work(problem), member.numbers(problem));
            let counts = matches!(member, Description::Labels | Description::Pairs);
            let in_time =
                own_work <= member.affordable() * limits.work && work + own_work <= trial * limits.work;
            let in_memory = numbers.saturating_add(own_numbers) <= limits.numbers;
            if member == Description::Labels || (in_memory && (counts || in_time)) {
                work += own_work;
                numbers = numbers.saturating_add(own_numbers);
                members.push(member);
            }
        }
        if !members.iter().any(|member| member.is_family()) {
            members.push(diagonals(problem, limits, limits.numbers.saturating_sub(numbers)));
        }
        Self(members.into_iter().map(|member| Place { member, left: false }).collect())
    }

    /// The names of the kinds of members that were left out of `problem` by [`Lineup::within`], and what was
    /// made smaller.
    pub(super) fn left_out(&self, problem: &Problem) -> Vec<String> {
        let has = |name: &str| self.0.iter().any(|place| place.member.name() == name);
        let mut names: Vec<String> = Vec::new();
        for member in candidates(problem) {
            let name = member.name();
            if !has(name) && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        for place in &self.0 {
            if let Description::Diagonals { heads, cells } = place.member {
                if heads < GRID.len() {
                    names.push(format!("{} of {} diagonals", GRID.len() - heads, GRID.len()));
                }
                if let Some(cells) = cells.filter(|cells| *cells < problem.features) {
                    names.push(format!("room for more than {cells} of {} features", problem.features));
                }
            }
        }
        names
    }
}

/// As many diagonal learners as fit into `limits` and into `numbers` numbers: one at least, with fewer cells
/// than features if need be.
pub(super) fn diagonals(problem: &Problem, limits: Limits, numbers: usize) -> Description {
    let (k, d) = (problem.classes, problem.features);
    let fits = |heads: &usize| {
        let member = Description::Diagonals { heads: *heads, cells: None };
        member.numbers(problem) <= numbers && member.work(problem) <= limits.work
    };
    if let Some(heads) = (1..=GRID.len()).rev().find(fits) {
        return Description::Diagonals { heads, cells: None };
    }
    let cells = (numbers / Diagonals::numbers(k, 1, 1, 1)).clamp(1, u32::MAX as usize - 1);
    Description::Diagonals { heads: 1, cells: (cells < d).then_some(cells) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::ParamValue as _;

    fn words(classes: usize, features: usize, work: f64) -> String {
        let limits = Limits { work, numbers: 1 << 27 };
        Lineup::within(&Problem::new(classes, features), limits).to_value().to_string()
    }

    #[test]
    fn the_budget_decides() {
        // One of each kind, then another; products of 55 features are beyond a million.
        assert_eq!(
            words(7, 55, 1e6),
            "labels+pairs+trees+forest+shared@0.01+waves@0.3:0.6+full@0.1+shared@0.01:0.004+waves@0.01:0.3\
             +full@0.01+shared@0.1+waves@0.001:0.8+full@1+shared@0.001+full@0.001+shared@1+shared@0.01:0.016"
        );
        assert_eq!(
            words(2, 9, 1e6),
            "labels+pairs+trees+forest+shared@0.01+waves@0.3:0.6+products@0.01+shared@0.01:0.004+waves@0.01:0.3\
             +products@0.1+shared@0.1+waves@0.001:0.8+products@0.0001:0.016+shared@0.001+products@0.001+shared@1\
             +shared@0.01:0.016"
        );
        assert_eq!(
            words(10, 257, 1.5e6),
            "labels+pairs+trees+forest+shared@0.01+waves@0.3:0.6+shared@0.01:0.004+waves@0.01:0.3+shared@0.1\
             +waves@0.001:0.8+shared@0.001+shared@1+shared@0.01:0.016"
        );
        // So many features leave no room for waves.
        assert_eq!(words(10, 800, 8e5), "labels+pairs+shared@0.01+shared@0.1+shared@0.001+shared@1");
    }

    /// Wherever families are too expensive, diagonal learners take part, and memory is kept whatever the
    /// problem: with fewer of them, and at last with several features in one place.
    #[test]
    fn memory_is_kept() {
        let limits = Limits { work: 1e6, numbers: 1 << 27 };
        for (classes, features) in
            [(2, 1_000_000), (4, 50_000), (1000, 100_001), (5000, 1_000_000), (300_000, 10_000_000)]
        {
            let problem = Problem::new(classes, features).with_sparse(true);
            let lineup = Lineup::within(&problem, limits);
            let numbers: usize = lineup.0.iter().map(|place| place.member.numbers(&problem)).sum();
            assert!(numbers <= limits.numbers, "{numbers} for {classes} classes and {features} features");
            let last = lineup.0.last().expect("diagonals").member;
            assert!(matches!(last, Description::Diagonals { .. }), "{last}");
            assert!(!lineup.left_out(&problem).is_empty());
        }
        let last = |classes, features| {
            let problem = Problem::new(classes, features).with_sparse(true);
            Lineup::within(&problem, limits).0.last().expect("diagonals").to_string()
        };
        assert_eq!(last(2, 1_000_000), "diagonals@6");
        assert_eq!((last(12, 1025), last(12, 1024)), ("diagonals@6".into(), "shared@1".into()));
        assert_eq!(last(1000, 100_001), "diagonals@1");
        assert!(last(5000, 1_000_000).starts_with("diagonals@1:"), "{}", last(5000, 1_000_000));
    }
}

//! The choice of members, by their time in a round and their memory.

use crate::problem::Problem;

use super::costs::Costs;
use super::description::{Description, Lineup, Place};
use super::diagonals::{Diagonals, HEADS};

/// All members together may cost this many budgets in the first rounds.
pub(super) const TRIAL_BUDGETS: f64 = 2.5;

/// For more classes than this, all members together may cost only one budget from the start.
pub(super) const MANY_CLASSES: usize = 32;

/// Smaller budgets are raised to this one, since they would leave no useful set of members.
const LEAST_BUDGET: f64 = 0.1;

/// Multiply-adds in a round for a `budget` in millions.
pub(super) fn budget_work(budget: f64) -> f64 {
    1e6 * budget.max(LEAST_BUDGET)
}

/// Limits on the costs of the members.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// Multiply-adds in a round, of all members together.
    pub(super) work: f64,
    /// 8-byte numbers, of all members together.
    pub(super) numbers: usize,
    /// The machine's factors of the members' costs.
    pub(super) costs: Costs,
}

impl Lineup {
    /// The members for `problem` within `limits`.
    ///
    /// Label counts are always chosen. The other candidates are chosen, in order of preference, if each alone
    /// is within the budget (trees and forest: within a part of it), and all chosen so far together within
    /// [`TRIAL_BUDGETS`] budgets (one budget for many classes) and within the memory. If no family is chosen,
    /// diagonal learners are added: as many as fit, at least one, with as many cells as the memory allows.
    pub(super) fn within(problem: &Problem, limits: Limits) -> Self {
        let trial = if problem.classes > MANY_CLASSES { 1.0 } else { TRIAL_BUDGETS };
        let (mut work, mut numbers) = (0.0, 0usize);
        let mut members = Vec::new();
        for member in Description::candidates(problem) {
            let kind = member.kind();
            if !kind.suits(problem) {
                continue;
            }
            let (own_work, own_numbers) = (limits.costs.work(member, problem), member.numbers(problem));
            let in_time =
                own_work <= kind.traits().affordable * limits.work && work + own_work <= trial * limits.work;
            let in_memory = numbers.saturating_add(own_numbers) <= limits.numbers;
            if member == Description::labels() || (in_memory && (kind.traits().counts_labels || in_time)) {
                work += own_work;
                numbers = numbers.saturating_add(own_numbers);
                members.push(member);
            }
        }
        if !members.iter().any(|member| member.kind().traits().is_family) {
            members.push(diagonals(problem, limits, limits.numbers.saturating_sub(numbers)));
        }
        Self(members.into_iter().map(|member| Place { member, dropped: false }).collect())
    }

    /// The names of the kinds of members that [`Lineup::within`] left out for `problem`, and what it made
    /// smaller.
    pub(super) fn left_out(&self, problem: &Problem) -> Vec<String> {
        let has = |name: &str| self.0.iter().any(|place| place.member.kind().traits().name == name);
        let mut names: Vec<String> = Vec::new();
        for member in Description::candidates(problem) {
            let name = member.kind().traits().name;
            if !has(name) && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names.extend(self.0.iter().flat_map(|place| place.member.made_smaller(problem)));
        names
    }
}

/// As many diagonal learners as fit into `limits` and into `numbers` 8-byte numbers; at least one, with fewer
/// cells than features if necessary.
pub(super) fn diagonals(problem: &Problem, limits: Limits, numbers: usize) -> Description {
    let member = |heads: usize, cells: usize| Description::of("diagonals", [heads as f64, cells as f64]);
    let fits = |heads: &usize| {
        let member = member(*heads, 0);
        member.numbers(problem) <= numbers && limits.costs.work(member, problem) <= limits.work
    };
    if let Some(heads) = (1..=HEADS).rev().find(fits) {
        return member(heads, 0);
    }
    let cells = (numbers / Diagonals::numbers(problem, 1, 1)).clamp(1, u32::MAX as usize - 1);
    member(1, if cells < problem.features { cells } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::{ParamValue as _, Value};

    fn members(classes: usize, features: usize, work: f64) -> String {
        let limits = Limits { work, numbers: 1 << 27, costs: Costs::default() };
        Lineup::within(&Problem::new(classes, features), limits).to_value().to_string()
    }

    #[test]
    fn the_budget_decides() {
        // First one of each kind, then the next; products of 55 features cost more than a million
        // multiply-adds.
        assert_eq!(
            members(7, 55, 1e6),
            "labels+pairs+booster@3:4+trees+forest+neighbours+shared@0.01+waves@0.3:0.6+full@0.1+shared@0.01:0.004+waves@0.01:0.3\
             +full@0.01+shared@0.1+waves@0.001:0.8+full@1+shared@0.001+full@0.001+shared@1+shared@0.01:0.016"
        );
        assert_eq!(
            members(2, 9, 1e6),
            "labels+pairs+booster@3:4+trees+forest+neighbours+shared@0.01+waves@0.3:0.6+products@0.01+shared@0.01:0.004+waves@0.01:0.3\
             +products@0.1+shared@0.1+waves@0.001:0.8+products@0.0001:0.016+shared@0.001+products@0.001+shared@1\
             +shared@0.01:0.016"
        );
        assert_eq!(
            members(10, 257, 1.5e6),
            "labels+pairs+booster@3:4+trees+forest+neighbours+shared@0.01+waves@0.3:0.6+shared@0.01:0.004+waves@0.01:0.3+shared@0.1\
             +waves@0.001:0.8+shared@0.001+shared@1+shared@0.01:0.016"
        );
        // With this many features, waves exceed the budget.
        assert_eq!(
            members(10, 800, 8e5),
            "labels+pairs+booster@3:4+trees+forest+shared@0.01+shared@0.1+shared@0.001"
        );
    }

    /// A kind that is expensive on a machine is left out there.
    #[test]
    fn factors_of_costs_decide() {
        let members = |costs: &str| {
            let costs = Costs::from_value(&Value::from(costs)).expect("known kinds");
            let limits = Limits { work: 1e6, numbers: 1 << 27, costs };
            Lineup::within(&Problem::new(7, 55), limits).to_value().to_string()
        };
        let without = members("full:20+trees:20");
        assert!(
            !without.contains("full") && !without.contains("trees") && without.contains("waves"),
            "{without}"
        );
        assert!(members("products:0.3").contains("products@0.01"));
    }

    /// If families are too expensive, diagonal learners are chosen, and the memory limit holds for every
    /// problem: with fewer diagonal learners, and finally with fewer cells than features.
    #[test]
    fn memory_is_kept() {
        let limits = Limits { work: 1e6, numbers: 1 << 27, costs: Costs::default() };
        for (classes, features) in
            [(2, 1_000_000), (4, 50_000), (1000, 100_001), (5000, 1_000_000), (300_000, 10_000_000)]
        {
            let problem = Problem::new(classes, features).with_sparse(true);
            let lineup = Lineup::within(&problem, limits);
            let numbers: usize = lineup.0.iter().map(|place| place.member.numbers(&problem)).sum();
            assert!(numbers <= limits.numbers, "{numbers} for {classes} classes and {features} features");
            let last = lineup.0.last().expect("diagonals").member;
            assert!(last.kind().traits().is_diagonal, "{last}");
            assert!(!lineup.left_out(&problem).is_empty());
        }
        let last = |classes, features| {
            let problem = Problem::new(classes, features).with_sparse(true);
            Lineup::within(&problem, limits).0.last().expect("diagonals").to_string()
        };
        assert_eq!(last(2, 1_000_000), "diagonals@9");
        assert_eq!((last(12, 1025), last(12, 1024)), ("diagonals@9".into(), "shared@0.001".into()));
        assert_eq!(last(1000, 100_001), "diagonals@1");
        assert!(last(5000, 1_000_000).starts_with("diagonals@1:"), "{}", last(5000, 1_000_000));
    }
}

//! Baselines that ignore the features, which every learner should beat.
//!
//! Each predicts a round from the earlier labels only.

use std::ops::Range;

use noregret::example::{Label, Target, Truth};
use noregret::prediction::argmax;
use serde::Serialize;

use crate::run::score::Score;
use crate::run::{Outcome, Sink};

/// Least number of rounds for a warning.
const ENOUGH: u64 = 100;

/// Least number of rounds for a warning that they have one label.
const FEW: u64 = 20;

/// How many nats in all the frequencies so far have to be behind probabilities that say more: one
/// who knows nothing gets as far with a probability of at most $e^{-5}$.
const LEAD: f64 = 5.0;

/// Observes a run and computes the losses of three baselines.
#[derive(Clone, Debug, Default)]
pub struct Baselines {
    counts: Vec<f64>,
    total: f64,
    last: Option<Label>,
    rounds: u64,
    commonest_errors: f64,
    last_errors: f64,
    loss: f64,
}

/// The mean losses of the baselines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BaselineReport {
    /// Error rate of predicting the most frequent class so far.
    pub commonest_class_error_rate: f64,
    /// Error rate of predicting the previous label.
    pub last_label_error_rate: f64,
    /// Log loss, in nats, of the class frequencies so far, with half a round added to every class.
    pub class_frequencies_log_loss: f64,
    /// The most frequent class and its share of the rounds.
    #[serde(skip)]
    pub commonest: Option<(Label, f64)>,
    /// A warning if the learner is not better than a baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl Baselines {
    /// Baselines for `classes` classes, without data.
    pub fn new(classes: usize) -> Self {
        Self { counts: vec![0.0; classes], ..Self::default() }
    }

    /// The state, as numbers for a model file.
    pub fn state(&self) -> Vec<f64> {
        let last = self.last.map_or(-1.0, |last| last.index() as f64);
        let sums = [last, self.rounds as f64, self.total, self.commonest_errors, self.last_errors, self.loss];
        [&sums, &self.counts[..]].concat()
    }

    /// Restores the state of [`Baselines::state`]. `None` if the numbers are invalid.
    pub fn from_state(state: &[f64]) -> Option<Self> {
        let (&[last, rounds, total, commonest_errors, last_errors, loss], counts) =
            state.split_first_chunk()?;
        let sensible = state[1..].iter().all(|number| number.is_finite() && *number >= 0.0);
        let last = if last < 0.0 { None } else { Some(last as usize) };
        if !sensible || last.is_some_and(|last| last >= counts.len()) {
            return None;
        }
        Some(Self {
            counts: counts.to_vec(),
            total,
            last: last.map(Label::from),
            rounds: rounds as u64,
            commonest_errors,
            last_errors,
            loss,
        })
    }

    /// Adds the loss of each baseline on a round's label, then updates the baselines; there are
    /// `classes` classes.
    pub fn add(&mut self, target: Target<'_>, classes: usize) {
        if self.counts.len() < classes {
            self.counts.resize(classes, 0.0);
        }
        let share = |label: usize| match target.truth {
            Truth::Class(class) => f64::from(u8::from(class.index() == label)),
            Truth::Distribution(y) => y[label],
            Truth::Value(_) => 0.0,
        };
        if matches!(target.truth, Truth::Value(_)) {
            return;
        }
        self.rounds += 1;
        let whole = self.total + 0.5 * self.counts.len() as f64;
        self.commonest_errors += 1.0 - share(argmax(&self.counts));
        self.last_errors += self.last.map_or(1.0, |last| 1.0 - share(last.index()));
        let mut last = (0.0, 0);
        for label in 0..self.counts.len() {
            let truth = share(label);
            if truth > 0.0 {
                self.loss -= truth * ((self.counts[label] + 0.5) / whole).ln();
                self.counts[label] += truth;
                self.total += truth;
            }
            if truth > last.0 {
                last = (truth, label);
            }
        }
        self.last = Some(Label::from(last.1));
    }

    /// The losses, compared with a learner's error rate and log loss. `None` without rounds.
    pub fn report(&self, error_rate: Option<f64>, log_loss: Option<f64>) -> Option<BaselineReport> {
        if self.rounds == 0 {
            return None;
        }
        let rounds = self.rounds as f64;
        let top = argmax(&self.counts);
        let report = BaselineReport {
            commonest_class_error_rate: self.commonest_errors / rounds,
            last_label_error_rate: self.last_errors / rounds,
            class_frequencies_log_loss: self.loss / rounds,
            commonest: Some((Label::from(top), self.counts[top] / self.total.max(1.0))),
            warning: None,
        };
        let warning = self.warning(&report, error_rate, log_loss);
        Some(BaselineReport { warning, ..report })
    }

    fn warning(&self, report: &BaselineReport, error: Option<f64>, loss: Option<f64>) -> Option<String> {
        // A pipe, and classes that are declared, may have one label alone.
        if self.rounds >= FEW && self.counts.iter().filter(|count| **count > 0.0).count() == 1 {
            return Some(format!(
                "ALL {} ROUNDS HAVE THE SAME LABEL: an error rate says nothing where there is nothing to tell apart",
                self.rounds
            ));
        }
        if self.rounds < ENOUGH {
            return None;
        }
        let (commonest, last) = (report.commonest_class_error_rate, report.last_label_error_rate);
        // A smaller difference may be the chance of this number of rounds.
        let noise = |rate: f64| (rate * (1.0 - rate) / self.rounds as f64).sqrt();
        let frequencies = report.class_frequencies_log_loss;
        let losses = loss.map(|loss| {
            format!(
                "the log-loss of how often each class came so far is {frequencies:.5}, the learner's {loss:.5}"
            )
        });
        let says_more = loss.is_some_and(|loss| (frequencies - loss) * self.rounds as f64 >= LEAD);
        for (rate, what, how) in [
            (commonest, "GUESSING", "naming the commonest class so far"),
            (last, "REPEATING", "naming the previous label"),
        ] {
            let Some(error) = error.filter(|error| *error >= rate - noise(rate)) else { continue };
            let rates = format!(
                "{how}, without a look at the features, errs in {rate:.5} of the rounds, the learner in {error:.5}"
            );
            let more = losses.as_ref().map_or_else(String::new, |losses| format!("; {losses}"));
            return Some(match error >= rate {
                // Where a class is rare, the commonest one is the best answer to nearly every row.
                _ if says_more && what == "GUESSING" => {
                    format!("ONLY ITS PROBABILITIES ARE BETTER THAN GUESSING: {rates}{more}")
                }
                true => format!("NO BETTER THAN {what}: {rates}{more}"),
                false => format!(
                    "NOT CLEARLY BETTER THAN {what}: {rates}; on {} rounds the difference may be chance{more}",
                    self.rounds
                ),
            });
        }
        losses
            .filter(|_| loss.is_some_and(|loss| loss >= frequencies))
            .map(|losses| format!("ITS PROBABILITIES SAY NO MORE THAN FREQUENCIES: {losses}"))
    }
}

impl Sink for Baselines {
    fn observe(&mut self, outcome: &Outcome<'_>, _: &Score) -> std::io::Result<()> {
        if let Some(target) = outcome.target {
            // Learners with very many classes forecast only a few of them.
            let known = outcome.prediction.probabilities.len().max(self.counts.len());
            let classes = match target.truth {
                Truth::Class(class) => known.max(class.index() + 1),
                Truth::Distribution(_) | Truth::Value(_) => known,
            };
            self.add(target, classes);
        }
        Ok(())
    }

    fn looks_inside(&self, _: Range<u64>) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baselines_only_use_earlier_labels() {
        let mut baselines = Baselines::new(2);
        for class in [0, 0, 1, 1, 1, 0] {
            baselines.add(Target::class(class), 2);
        }
        let report = baselines.report(None, None).expect("six rounds");
        // Commonest: 0, 0, 0 (wrong), 0 (wrong), 0 of two equal ones (wrong), 1 (wrong).
        assert!((report.commonest_class_error_rate - 4.0 / 6.0).abs() < 1e-15);
        // The previous label: none (wrong), 0, 0 (wrong), 1, 1, 1 (wrong).
        assert!((report.last_label_error_rate - 3.0 / 6.0).abs() < 1e-15);
        let p = [0.5, 1.5 / 2.0, 0.5 / 3.0, 1.5 / 4.0, 2.5 / 5.0, 2.5 / 6.0];
        let loss = -p.iter().map(|p: &f64| p.ln()).sum::<f64>() / 6.0;
        assert!((report.class_frequencies_log_loss - loss).abs() < 1e-15);
        assert_eq!(report.warning, None, "too few rounds");
    }

    /// Whoever names the only label does not err.
    #[test]
    fn one_label_alone_gets_a_warning() {
        let mut baselines = Baselines::new(2);
        let mut warning = |label: usize| {
            baselines.add(Target::class(label), 2);
            baselines.report(Some(0.0), Some(0.1)).expect("rounds").warning
        };
        assert!((0..19).all(|_| warning(1).is_none()), "too few rounds");
        let said = warning(1).expect("one label");
        assert!(said.starts_with("ALL 20 ROUNDS HAVE THE SAME LABEL: an error rate says nothing"), "{said}");
        assert_eq!(warning(0), None);
    }

    #[test]
    fn learners_that_are_no_better_get_a_warning() {
        let mut baselines = Baselines::new(2);
        (0..1000).for_each(|t| baselines.add(Target::class(usize::from(t % 10 == 0)), 2));
        let warning = |error, loss| baselines.report(error, loss).expect("rounds").warning;
        assert!(warning(Some(0.1), None).expect("as good as guessing").contains("GUESSING"));
        assert!(warning(Some(0.05), Some(0.5)).expect("bad probabilities").contains("FREQUENCIES"));
        assert_eq!(warning(Some(0.05), Some(0.2)), None);
    }

    /// One label in ten is the rarer one: 0.325 nats a round. Who is 5 nats ahead in 1000 rounds knows
    /// something, although naming the commonest class errs as rarely.
    #[test]
    fn better_probabilities_are_not_said_to_be_guessing() {
        let mut baselines = Baselines::new(2);
        (0..1000).for_each(|t| baselines.add(Target::class(usize::from(t % 10 == 0)), 2));
        let frequencies = baselines.report(None, None).expect("rounds").class_frequencies_log_loss;
        let warning =
            |loss| baselines.report(Some(0.101), Some(loss)).expect("rounds").warning.expect("no better");
        let better = warning(frequencies - 0.0051);
        assert!(better.starts_with("ONLY ITS PROBABILITIES ARE BETTER THAN GUESSING: naming"), "{better}");
        for loss in [frequencies - 0.0049, frequencies + 0.1] {
            let said = warning(loss);
            assert!(said.starts_with("NO") && said.ends_with(&format!("the learner's {loss:.5}")), "{said}");
        }
    }

    #[test]
    fn new_classes_are_added() {
        let mut baselines = Baselines::new(2);
        baselines.add(Target::class(0), 2);
        baselines.add(Target::class(3), 4);
        let report = baselines.report(None, None).expect("two rounds");
        assert_eq!(report.last_label_error_rate, 1.0);
        assert!(report.class_frequencies_log_loss.is_finite());
    }
}

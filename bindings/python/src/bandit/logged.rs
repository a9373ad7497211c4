//! Rounds in arrays in which another policy has played, for a warm start.

use noregret::algorithm::BanditModel;
use noregret::prediction::{Decision, Reward};
use noregret::registry;
use noregret_stream::Row;
use noregret_stream::encode::Example;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use super::Bandit;
use super::state::Inner;
use crate::arrays::{Kept, Rows, encode};
use crate::error::{Done, Failure};
use crate::signals::Signals;

/// The least probability: the square of its inverse, an importance weight, is finite.
const LEAST_PROBABILITY: f64 = 1e-100;

/// Refuses rewards of labels that another policy has played, and the probabilities with which it has, that
/// `learner` cannot learn from.
pub(super) fn check_others(learner: &dyn BanditModel, rewards: &[f64], probabilities: &[f64]) -> Done<()> {
    let name = learner.about().name;
    let wrong = |what: String| Err(Failure::Value(what));
    if !learner.learns_of_others() {
        return wrong(format!(
            "{name} explores by a coin toss and cannot learn from labels that another policy has played"
        ));
    }
    for (at, reward) in rewards.iter().enumerate() {
        let known = Reward::new(*reward).filter(|known| known.is_verdict() || learner.takes_rewards());
        if known.is_none() {
            let need = if learner.takes_rewards() {
                "from 0 to 1, or between the worst and the best of between = (worst, best),"
            } else {
                "0 or 1"
            };
            return wrong(format!("rewards[{at}] = {reward}: must be {need} for {name}"));
        }
    }
    for (at, p) in probabilities.iter().enumerate() {
        if !(*p >= LEAST_PROBABILITY && *p <= 1.0) {
            return wrong(format!(
                "probabilities[{at}] = {p}: must be at least {LEAST_PROBABILITY:e} and at most 1"
            ));
        }
    }
    Ok(())
}

/// Refuses rewards and probabilities of rounds in which another policy has played, as `Bandit.learn` does.
#[pyfunction]
pub(crate) fn check_rewards(
    py: Python<'_>,
    bandit: &Bandit,
    rewards: PyReadonlyArray1<'_, f64>,
    probabilities: PyReadonlyArray1<'_, f64>,
) -> PyResult<()> {
    let (rewards, probabilities) = (rewards.as_slice()?, probabilities.as_slice()?);
    Ok(bandit.inner.read(py, |inner| check_others(inner.learner.as_ref(), rewards, probabilities))??)
}

/// Borrowed rounds.
pub(super) struct LoggedRounds<'a> {
    pub(super) rows: Rows<'a>,
    /// The labels that were played.
    pub(super) labels: &'a [i64],
    pub(super) rewards: &'a [f64],
    /// The probabilities with which they were played.
    pub(super) probabilities: &'a [f64],
    /// The names of the labels on offer, if not all were.
    pub(super) offered: Option<&'a [Vec<String>]>,
}

impl LoggedRounds<'_> {
    /// Checks all rounds for `inner`, and returns the numbers of the labels on offer.
    pub(super) fn check(&self, inner: &Inner) -> Done<Vec<Vec<u32>>> {
        let Inner { learner, encoder, .. } = inner;
        let wrong = |what: String| Err(Failure::Value(what));
        self.rows.check_with_holes(encoder.columns())?;
        let rounds = self.rows.len();
        let lengths = [
            ("labels", self.labels.len()),
            ("rewards", self.rewards.len()),
            ("probabilities", self.probabilities.len()),
            ("offered", self.offered.map_or(rounds, <[_]>::len)),
        ];
        if let Some((what, found)) = lengths.into_iter().find(|(_, found)| *found != rounds) {
            return wrong(format!("there are {found} {what} for {rounds} rows"));
        }
        for (at, label) in self.labels.iter().enumerate() {
            if !(0..encoder.classes() as i64).contains(label) {
                return wrong(format!(
                    "labels[{at}] = {label}: must be a label from 0 to {}",
                    encoder.classes() - 1
                ));
            }
        }
        check_others(learner.as_ref(), self.rewards, self.probabilities)?;
        let offered = self.offered.unwrap_or_default().iter().enumerate();
        offered.map(|(at, names)| self.on_offer(inner, at, names)).collect()
    }

    /// The numbers of the labels on offer in round `at`; empty if all were.
    fn on_offer(&self, inner: &Inner, at: usize, names: &[String]) -> Done<Vec<u32>> {
        let Inner { learner, encoder, .. } = inner;
        let wrong = |what: String| Err(Failure::Value(format!("offered[{at}]: {what}")));
        let mut offered = Vec::with_capacity(names.len());
        for name in names {
            match encoder.labels().find(name) {
                Some(label) => offered.push(label.0),
                None => return wrong(format!("the label {name:?} is none of the bandit's")),
            }
        }
        offered.sort_unstable();
        if let Some(pair) = offered.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = encoder.labels().name(noregret::Label(pair[0]));
            return wrong(format!("the label {name:?} is on offer twice"));
        }
        if !offered.contains(&(self.labels[at] as u32)) {
            let name = encoder.labels().name(noregret::Label(self.labels[at] as u32));
            return wrong(format!("the label {name:?} was played although it was not on offer"));
        }
        if offered.len() == encoder.classes() {
            return Ok(Vec::new());
        }
        let name = learner.about().name;
        if !registry::find(name)?.decides_among() {
            return wrong(format!("{name} learns only from rounds with all labels on offer"));
        }
        Ok(offered)
    }

    /// Learns the rounds in order. `offered` is from [`LoggedRounds::check`].
    pub(super) fn learn(&self, inner: &mut Inner, offered: &[Vec<u32>]) -> Done<()> {
        let Inner { learner, encoder, .. } = inner;
        let (mut example, mut decision, mut signals, mut room) =
            (Example::default(), Decision::default(), Signals::new(), Row::new());
        let mut kept = Kept::default();
        for at in 0..self.rows.len() {
            if signals.end() {
                break;
            }
            let x = kept.keep(self.rows.row(at), encoder.columns(), true)?;
            encode(encoder, x, &mut room, &mut example).expect("the row is checked");
            let offered = offered.get(at).filter(|offered| !offered.is_empty());
            super::look(
                learner.as_ref(),
                example.features(),
                offered.map_or(&[], Vec::as_slice),
                &mut decision,
            )?;
            // Importance weights are those of the policy that has played.
            (decision.label, decision.probability) = (self.labels[at] as u32, self.probabilities[at]);
            let reward = Reward::new(self.rewards[at]).expect("rewards are checked before");
            learner.learn(example.features(), &decision, reward);
        }
        signals.into_result()
    }
}

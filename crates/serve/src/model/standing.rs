//! Counts of a model.

use std::fmt;

use noregret::algorithm::Forecast;
use noregret::prediction::Decision;
use noregret_stream::run::score::Score;
use noregret_stream::words::counted;
use serde::{Deserialize, Serialize};

/// Number of rounds of windowed scores and rewards.
pub(crate) const WINDOW: usize = 1000;

/// The counts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// The last event.
    pub(crate) seq: u64,
    /// Its time, which never decreases.
    pub(crate) at: i64,
    pub(crate) score: Score,
    pub(crate) decisions: u64,
    pub(crate) answered: u64,
    pub(crate) expired: u64,
    pub(crate) forgotten: u64,
    pub(crate) reward: f64,
    /// The last rewards, a ring.
    pub(crate) last: Vec<f64>,
    /// Number of decisions in which the learner would have played the first label on offer, and
    /// number of decisions.
    pub(crate) agreed: u64,
    pub(crate) compared: u64,
    /// Sum of rewards of decisions in which the first label was played, and their number.
    pub(crate) baseline: (f64, u64),
    /// The sum of the probabilities of other labels than the best.
    pub(crate) explored: f64,
    /// For a shadow: the last event of its model, and the estimate of its own reward.
    #[serde(default)]
    pub(crate) followed: u64,
    #[serde(default)]
    pub(crate) instead: Instead,
    /// For a shadow: number of its model's events that it has never seen, because they were deleted.
    #[serde(default)]
    pub(crate) missed: u64,
    #[serde(default)]
    pub(crate) chance: Chance,
    /// Number of costs that counted as the nearest end of the range.
    #[serde(default)]
    pub(crate) clipped_costs: u64,
    /// Number of rewards below 0, which count as 0.
    #[serde(default)]
    pub(crate) clipped_rewards: u64,
    /// How the model was last made again from its log, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rebuilt: Option<Rebuilt>,
}

/// How a model was made again from its log, because its state could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rebuilt {
    /// The last event then.
    pub(crate) at: u64,
    /// Number of events of the log that were learnt again.
    pub(crate) learnt: u64,
    /// Number of those that had been deleted from the log before.
    pub(crate) deleted: u64,
    /// Number of those that could not be applied.
    pub(crate) skipped: u64,
    /// Whether the model came from a file or a version, which the log does not have.
    pub(crate) replaced: bool,
}

impl Rebuilt {
    /// A sentence on what is missing in the model, if something is.
    pub(crate) fn lost(&self) -> Option<String> {
        let mut lost = Vec::new();
        if self.deleted > 0 {
            lost.push(format!("{} earlier ones had been deleted from it", self.deleted));
        }
        if self.skipped > 0 {
            lost.push(format!("{} could not be applied", self.skipped));
        }
        if self.replaced {
            lost.push("the model came from a file or a version, which is not part of the log".to_owned());
        }
        (!lost.is_empty()).then(|| format!("{self}; {}", lost.join("; ")))
    }
}

impl fmt::Display for Rebuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "was made again from its settings and the {} events of its log", self.learnt)
    }
}

/// The reward beside that of labels drawn uniformly from those on offer, estimated from the same decisions:
/// with reward $r$, probability $p$ of the label played and $m$ labels on offer, $r/(mp)$ has the mean of a
/// uniform label's reward, and $d = r - r/(mp)$ that of the difference.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Chance {
    pub(crate) rounds: u64,
    /// Sum of the rewards, of $d$ and of $d^2$.
    reward: f64,
    difference: f64,
    square: f64,
}

impl Chance {
    /// From so many decisions on, a loop that is not better is warned of.
    pub(crate) const SHOWN: u64 = 1000;

    /// A decision with its reward. One that was not drawn says nothing of the other labels.
    pub(super) fn add(&mut self, taken: &Decision, reward: f64) {
        let offered = if taken.offered.is_empty() { taken.distribution.len() } else { taken.offered.len() };
        if taken.probability >= 1.0 {
            return;
        }
        let difference = reward - reward / (offered as f64 * taken.probability);
        self.rounds += 1;
        self.reward += reward;
        self.difference += difference;
        self.square += difference * difference;
    }

    /// The reward of a uniform label, by how much the loop's is better, and the standard error of that.
    pub(crate) fn estimate(&self) -> Option<(f64, f64, f64)> {
        let rounds = self.rounds as f64;
        if self.rounds < 2 {
            return None;
        }
        let [reward, better] = [self.reward, self.difference].map(|sum| sum / rounds);
        let variance = (self.square / rounds - better * better).max(0.0) / (rounds - 1.0);
        Some((reward - better, better, variance.sqrt()))
    }

    /// A sentence on a loop that is not better than chance by two standard errors.
    pub(crate) fn warning(&self) -> Option<String> {
        let (uniform, better, error) = self.estimate().filter(|_| self.rounds >= Self::SHOWN)?;
        (better <= 2.0 * error).then(|| {
            format!(
                "no better than chance so far: in {} answered decisions the mean reward is {:.4}, and that of labels \
                 drawn uniformly is estimated as {uniform:.4} (difference {better:.4}, standard error {error:.4}); \
                 do the columns say which label is good, and do rewards reach the decision that they are for?",
                self.rounds,
                uniform + better,
            )
        })
    }
}

/// Off-policy estimate: sums over decisions with feedback, of the importance weights
/// $w = q_a / p_a$ and the rewards $r$.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Instead {
    pub(crate) rounds: u64,
    w: f64,
    wr: f64,
    ww: f64,
    wwr: f64,
    wwrr: f64,
}

impl Instead {
    pub(super) fn add(&mut self, w: f64, r: f64) {
        self.rounds += 1;
        self.w += w;
        self.wr += w * r;
        self.ww += w * w;
        self.wwr += w * w * r;
        self.wwrr += w * w * r * r;
    }

    /// The self-normalised estimate (snips) of a round's reward, with its standard error (the delta method).
    pub(crate) fn estimate(&self) -> Option<(f64, f64)> {
        if self.w <= 0.0 {
            return None;
        }
        let value = self.wr / self.w;
        let squares = self.wwrr - 2.0 * value * self.wwr + value * value * self.ww;
        Some((value, squares.max(0.0).sqrt() / self.w))
    }
}

impl Standing {
    pub(super) fn new(forecast: Forecast) -> Self {
        Self {
            seq: 0,
            at: 0,
            score: Score::new(forecast, WINDOW),
            decisions: 0,
            answered: 0,
            expired: 0,
            forgotten: 0,
            reward: 0.0,
            last: Vec::new(),
            agreed: 0,
            compared: 0,
            baseline: (0.0, 0),
            explored: 0.0,
            followed: 0,
            instead: Instead::default(),
            missed: 0,
            clipped_costs: 0,
            clipped_rewards: 0,
            chance: Chance::default(),
            rebuilt: None,
        }
    }

    /// Takes over the counts of decisions from `before`. The scores of forecasts are kept.
    pub(super) fn go_on_from(&mut self, before: &Self) {
        // What the new learner knows is its own, and so is what it lacks.
        let (score, rebuilt) = (self.score.clone(), self.rebuilt.clone());
        *self =
            Self { score, rebuilt, followed: 0, instead: Instead::default(), missed: 0, ..before.clone() };
    }

    /// What may keep a loop from learning what is meant, in sentences.
    pub(crate) fn warning(&self) -> Option<String> {
        let clipped = (self.clipped_rewards > 0).then(|| {
            format!(
                "{} below 0 counted as 0, so that worse was not told from bad; (reward + 1) / 2 is from 0 to 1",
                counted(self.clipped_rewards, "reward")
            )
        });
        let all: Vec<String> = clipped.into_iter().chain(self.chance.warning()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    pub(super) fn earned(&mut self, reward: f64) {
        if self.last.len() < WINDOW {
            self.last.push(reward);
        } else {
            self.last[(self.answered % WINDOW as u64) as usize] = reward;
        }
        self.answered += 1;
        self.reward += reward;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A decision between two labels, whose label was played with this probability.
    fn taken(probability: f64) -> Decision {
        let mut taken = Decision::default();
        taken.distribution = vec![probability, 1.0 - probability];
        taken.probability = probability;
        taken
    }

    /// Two labels: the reward 1 of the label with p = 3/4, then 0 of that with p = 1/4, then 1 of the latter.
    #[test]
    fn chance_by_hand() {
        let mut chance = Chance::default();
        chance.add(&taken(0.75), 1.0);
        chance.add(&taken(0.25), 0.0);
        chance.add(&taken(0.25), 1.0);
        // d = 1/3, 0, -1; uniform: (2/3 + 0 + 2) / 3.
        let (uniform, better, error) = chance.estimate().expect("three rounds");
        assert!((uniform - 8.0 / 9.0).abs() < 1e-12 && (better + 2.0 / 9.0).abs() < 1e-12);
        assert!((error - ((10.0 / 27.0 - 4.0 / 81.0) / 2.0_f64).sqrt()).abs() < 1e-12, "{error}");
        chance.add(&taken(1.0), 1.0);
        assert_eq!(chance.rounds, 3);
    }

    #[test]
    fn a_loop_is_warned_of_until_it_is_better_than_chance() {
        let mut chance = Chance::default();
        for round in 0..Chance::SHOWN {
            assert_eq!(chance.warning(), None);
            chance.add(&taken(0.5), (round % 2) as f64);
        }
        let warning = chance.warning().expect("not better");
        assert!(warning.contains("1000 answered decisions the mean reward is 0.5000"), "{warning}");
        (0..200).for_each(|_| chance.add(&taken(0.9), 1.0));
        assert_eq!(chance.warning(), None);
    }

    /// Two rounds, w = 2 and 1/2, r = 1 and 0: snips = 2 / 2.5, and sum w^2 (r - v)^2 = 4 * 0.04 + 0.25 *
    /// 0.64.
    #[test]
    fn an_estimate_by_hand() {
        let mut instead = Instead::default();
        assert_eq!(instead.estimate(), None);
        instead.add(2.0, 1.0);
        instead.add(0.5, 0.0);
        let (value, error) = instead.estimate().expect("two rounds");
        assert!(
            (value - 0.8).abs() < 1e-12 && (error - 0.32f64.sqrt() / 2.5).abs() < 1e-12,
            "{value} {error}"
        );
    }
}

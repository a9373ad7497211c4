//! Decisions without feedback, by id: used by the service, by replays and by readers of logs.

use std::collections::{BTreeMap, HashMap};

use noregret::example::Features;
use noregret::learner::{Accepts, BanditLearner};
use noregret::model::{Archive, ModelError};
use noregret::prediction::{Decision, Reward};
use noregret::problem::Problem;
use serde::{Deserialize, Serialize};

use crate::encode::{Encoder, Example, Unscaled};
use crate::fault::{Fault, fault};
use crate::run::standing::{packed, unpacked};

/// What is said besides of an answer in a log that no decision waits for.
pub(crate) const ONE_ANSWER: &str = "; an answer stands behind its decision, and in place of several there is one, with the sum of their rewards";

/// Values kept for rounds until their feedback, by id. Memory is bounded: beyond `most` rounds the
/// oldest is discarded.
#[derive(Clone, Debug)]
pub struct Pending<T> {
    most: usize,
    /// By age.
    waiting: BTreeMap<u64, (String, T)>,
    ages: HashMap<String, u64>,
    next: u64,
    forgotten: u64,
}

impl<T> Pending<T> {
    /// An empty table of at most `most` rounds, >= 1.
    pub fn new(most: usize) -> Self {
        let most = most.max(1);
        Self { most, waiting: BTreeMap::new(), ages: HashMap::new(), next: 0, forgotten: 0 }
    }

    /// Stores `what` under `id`. If the table was full, returns the discarded oldest value with its
    /// id.
    ///
    /// # Errors
    /// If a round with this id is pending.
    pub fn insert(&mut self, id: &str, what: T) -> Result<Option<(String, T)>, Fault> {
        if self.ages.contains_key(id) {
            return Err(fault!("the id {id:?} is that of a pending decision; ids must be unique"));
        }
        let forgotten = if self.waiting.len() < self.most { None } else { self.waiting.pop_first() };
        if let Some((_, (old, _))) = &forgotten {
            self.ages.remove(old);
            self.forgotten += 1;
        }
        self.ages.insert(id.to_owned(), self.next);
        self.waiting.insert(self.next, (id.to_owned(), what));
        self.next += 1;
        Ok(forgotten.map(|(_, forgotten)| forgotten))
    }

    /// Removes and returns the value of `id`.
    ///
    /// # Errors
    /// If there is none.
    pub fn take(&mut self, id: &str) -> Result<T, Fault> {
        let unknown = || {
            fault!(
                "feedback for {id:?}, but no decision with this id is pending: it never existed, has its feedback, or was discarded"
            )
        };
        let age = self.ages.remove(id).ok_or_else(unknown)?;
        let (_, what) = self.waiting.remove(&age).expect("every age has its round");
        Ok(what)
    }

    /// Whether a round with this id is pending.
    pub fn contains(&self, id: &str) -> bool {
        self.ages.contains_key(id)
    }

    /// The value of `id`.
    pub fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.waiting.get_mut(self.ages.get(id)?).map(|(_, what)| what)
    }

    /// Number of pending rounds.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Number of rounds discarded to make room.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The pending rounds, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.waiting.values().map(|(id, what)| (id.as_str(), what))
    }

    /// The values of all pending rounds.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.waiting.values_mut().map(|(_, what)| what)
    }

    /// The remaining pending rounds, the oldest first.
    pub fn into_waiting(self) -> impl Iterator<Item = (String, T)> {
        self.waiting.into_values()
    }
}

/// The feedback of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The label's reward.
    Earned(Reward),
    /// There will never be feedback.
    Never,
}

impl Verdict {
    /// The label was right.
    pub const RIGHT: Self = Verdict::Earned(Reward::RIGHT);

    /// The label was wrong.
    pub const WRONG: Self = Verdict::Earned(Reward::WRONG);

    /// From a log's reward; `None` if there will never be one.
    ///
    /// # Errors
    /// Rewards outside [0, 1].
    pub fn of_log(reward: Option<f64>) -> Result<Self, Fault> {
        let Some(reward) = reward else { return Ok(Verdict::Never) };
        let fault = || fault!("the reward is {reward}; a number in [0, 1] was needed");
        Reward::new(reward).map(Verdict::Earned).ok_or_else(fault)
    }

    /// Checks that `learner` can learn from this feedback.
    ///
    /// # Errors
    /// If it is a reward strictly between 0 and 1, and the learner only learns from right and
    /// wrong.
    pub fn check<L: BanditLearner + ?Sized>(self, learner: &L) -> Result<(), Fault> {
        match self {
            Verdict::Earned(reward) if !reward.is_verdict() && !learner.takes_rewards() => {
                let reward = reward.value();
                Err(fault!("the reward {reward} is neither right (1) nor wrong (0), as this learner needs"))
            }
            _ => Ok(()),
        }
    }
}

impl From<Option<bool>> for Verdict {
    fn from(correct: Option<bool>) -> Self {
        correct.map_or(Verdict::Never, |correct| Verdict::Earned(correct.into()))
    }
}

/// A pending decision with its row, and what moves the scaling when it is learnt, if nothing of it has yet.
type Waiting = (Example, Decision, Option<Unscaled>);

/// A learner's pending decisions with their rows. Feedback may come late and in any order.
#[derive(Clone, Debug)]
pub struct Decisions(Pending<Waiting>);

impl Decisions {
    /// Without decisions; at most `most` may be pending at a time.
    pub fn new(most: usize) -> Self {
        Self(Pending::new(most))
    }

    /// Their rows, for a learner that has grown from `before` to `after` features.
    pub fn widen(&mut self, before: usize, after: usize) {
        self.0.values_mut().for_each(|(example, ..)| example.widen(before, after));
    }

    /// Stores the decision `taken` for `example` under `id`. If too many decisions are pending, the
    /// oldest is discarded and its id returned.
    ///
    /// # Errors
    /// If a decision with this id is pending.
    pub fn keep(&mut self, id: &str, example: &Example, taken: &Decision) -> Result<Option<String>, Fault> {
        self.keep_late(id, example, taken, None)
    }

    /// The same for a row that moves the scaling when it is learnt.
    ///
    /// # Errors
    /// As [`Decisions::keep`].
    pub fn keep_late(
        &mut self,
        id: &str,
        example: &Example,
        taken: &Decision,
        late: Option<Unscaled>,
    ) -> Result<Option<String>, Fault> {
        let forgotten = self.0.insert(id, (example.clone(), taken.clone(), late))?;
        Ok(forgotten.map(|(id, _)| id))
    }

    /// Lets the learner learn from the feedback of the decision `id`, and removes the decision.
    ///
    /// # Errors
    /// If no decision with this id is pending, or the learner cannot learn from the feedback; the
    /// decision then stays pending.
    pub fn hear<L: BanditLearner + ?Sized>(
        &mut self,
        learner: &mut L,
        id: &str,
        verdict: Verdict,
    ) -> Result<(), Fault> {
        verdict.check(learner)?;
        let (example, taken, _) = self.0.take(id)?;
        if let Verdict::Earned(reward) = verdict {
            learner.learn(example.features(), &taken, reward);
        }
        Ok(())
    }

    /// The same where the row moves the scaling of `encoder` when it is learnt; `out` is a buffer.
    ///
    /// # Errors
    /// As [`Decisions::hear`].
    pub fn hear_late<L: BanditLearner + ?Sized>(
        &mut self,
        learner: &mut L,
        encoder: &mut Encoder,
        out: &mut Example,
        id: &str,
        verdict: Verdict,
    ) -> Result<(), Fault> {
        verdict.check(learner)?;
        let (example, taken, late) = self.0.take(id)?;
        if let Verdict::Earned(reward) = verdict {
            learner.learn(learnt(encoder, late.as_ref(), &example, out), &taken, reward);
        }
        Ok(())
    }

    /// Number of pending decisions.
    pub fn waiting(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the decision `id` is pending.
    pub fn contains(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    /// The ids of the pending decisions, the oldest first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(id, _)| id)
    }

    /// The pending decisions with their rows, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Example, &Decision)> {
        self.0.iter().map(|(id, (example, taken, _))| (id, example, taken))
    }

    /// The same, with what moves the scaling when they are learnt.
    pub fn into_late(self) -> impl Iterator<Item = (String, (Example, Decision, Option<Unscaled>))> {
        self.0.into_waiting()
    }

    /// Number of decisions discarded because too many were pending.
    pub fn forgotten(&self) -> u64 {
        self.0.forgotten()
    }

    /// Writes the pending decisions into a model file, as JSON in a tensor, because the length of
    /// texts is limited.
    pub fn save(&self, archive: &mut Archive) {
        let kept = |(id, (example, taken, late)): (&str, &Waiting)| SavedDecision {
            id: id.to_owned(),
            indices: match example.features() {
                Features::Dense(_) => None,
                Features::Sparse { indices, .. } => Some(indices.to_vec()),
            },
            values: example.features().values().to_vec(),
            decision: taken.clone(),
            unscaled: late.clone(),
        };
        let list: Vec<SavedDecision> = self.0.iter().map(kept).collect();
        archive.set_tensor(WAITING, packed(serde_json::to_vec(&list).expect("plain data")));
    }

    /// Reads the pending decisions of a model file for a learner of `problem`; none if the file has
    /// none.
    ///
    /// # Errors
    /// If they do not fit the learner.
    pub fn load(
        archive: &Archive,
        problem: &Problem,
        accepts: Accepts,
        most: usize,
    ) -> Result<Self, ModelError> {
        let damaged = |what: String| ModelError::Damaged(format!("the pending decisions: {what}"));
        let mut decisions = Self::new(most);
        let Ok(tensor) = archive.tensor(WAITING) else { return Ok(decisions) };
        let bytes = unpacked(tensor).ok_or_else(|| damaged("they are no bytes".to_owned()))?;
        let list: Vec<SavedDecision> = serde_json::from_slice(&bytes)
            .map_err(|error| damaged(format!("they are unreadable: {error}")))?;
        for kept in list {
            if !kept.fits(problem, accepts) {
                return Err(damaged(format!("{:?} does not fit the learner", kept.id)));
            }
            let example = match &kept.indices {
                None => Example::of(Features::Dense(&kept.values)),
                Some(indices) => Example::of(Features::Sparse { indices, values: &kept.values }),
            };
            let kept_again = decisions.keep_late(&kept.id, &example, &kept.decision, kept.unscaled);
            kept_again.map_err(|error| damaged(error.to_string()))?;
        }
        Ok(decisions)
    }
}

/// The name of the pending decisions in a model file.
const WAITING: &str = "waiting";

/// A pending decision in a model file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedDecision {
    id: String,
    /// For sparse features.
    indices: Option<Vec<u32>>,
    values: Vec<f64>,
    decision: Decision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unscaled: Option<Unscaled>,
}

/// The features that are learnt of a decision whose feedback has come: those of `late`, which moves the
/// scaling of `encoder`, or those of `example`, whose row has moved it. `out` is a buffer.
pub fn learnt<'a>(
    encoder: &mut Encoder,
    late: Option<&Unscaled>,
    example: &'a Example,
    out: &'a mut Example,
) -> Features<'a> {
    match late {
        Some(late) if encoder.encode_late(late, out).is_ok() => out.features(),
        _ => example.features(),
    }
}

impl SavedDecision {
    /// Whether a learner of `problem` that accepts `accepts` can learn from it.
    fn fits(&self, problem: &Problem, accepts: Accepts) -> bool {
        let x = match &self.indices {
            None => Features::Dense(&self.values),
            Some(indices) => Features::Sparse { indices, values: &self.values },
        };
        let finite = self.values.iter().all(|value| value.is_finite());
        let late = self.unscaled.as_ref().is_none_or(|late| late.fits(problem.features));
        late && x.fits(problem.features, accepts.plain)
            && finite
            && self.decision.check(problem.classes).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use noregret::example::Label;
    use noregret::param::Values;
    use noregret::registry::find;
    use noregret::rng::Rng;

    use super::*;

    #[test]
    fn ids_are_found_once_and_the_oldest_is_discarded() {
        let mut pending = Pending::new(2);
        assert_eq!(pending.insert("a", 1), Ok(None));
        assert_eq!(pending.insert("b", 2), Ok(None));
        let error = pending.insert("a", 3).expect_err("waits").to_string();
        assert_eq!(error, "the id \"a\" is that of a pending decision; ids must be unique");
        assert_eq!(pending.insert("c", 3), Ok(Some(("a".to_owned(), 1))));
        assert_eq!((pending.len(), pending.forgotten()), (2, 1));
        for id in ["a", "d"] {
            let error = pending.take(id).expect_err("does not wait").to_string();
            assert!(error.starts_with(&format!("feedback for {id:?}, but no decision")), "{error}");
        }
        assert_eq!(pending.take("c"), Ok(3));
        assert!(pending.take("c").is_err(), "answered");
        assert_eq!(pending.insert("c", 4), Ok(None), "answered ids may come again");
        assert_eq!(pending.into_waiting().collect::<Vec<_>>(), [("b".to_owned(), 2), ("c".to_owned(), 4)]);
    }

    /// Decisions without feedback are not learnt, and the others are learnt with their own rows.
    #[test]
    fn feedback_reaches_the_learner() {
        let mut learner = find("banditron")
            .and_then(|entry| entry.make_bandit(&Values::new(), Problem::new(2, 1), 0))
            .expect("valid");
        let mut decisions = Decisions::new(10);
        let mut taken = Decision::default();
        for (id, x) in [("one", 1.0), ("two", 2.0), ("three", 4.0)] {
            let example = Example::dense(&[x], None::<Label>);
            learner.act(example.features(), &mut Rng::new(1, 1), &mut taken);
            decisions.keep(id, &example, &taken).expect("a new id");
        }
        assert!(decisions.hear(learner.as_mut(), "four", Verdict::RIGHT).is_err(), "before its decision");
        decisions.hear(learner.as_mut(), "three", Verdict::WRONG).expect("waits");
        decisions.hear(learner.as_mut(), "one", Verdict::Never).expect("waits");
        assert!(decisions.hear(learner.as_mut(), "three", Verdict::WRONG).is_err(), "answered");
        assert_eq!((learner.rounds(), decisions.waiting()), (1, 1));
        learner.predict(Example::dense(&[1.0], None).features(), &mut taken);
        assert_eq!(taken.scores, [-4.0, 0.0], "the greedy class lost the row of the third decision");
    }

    /// Dense and sparse rows are restored unchanged and in order; decisions that do not fit the
    /// learner are rejected.
    #[test]
    fn pending_decisions_are_saved() {
        let problem = Problem::new(2, 3);
        let mut learner = find("soba")
            .and_then(|entry| entry.make_bandit(&Values::new(), problem.clone(), 0))
            .expect("valid");
        let accepts = learner.about().accepts;
        let mut decisions = Decisions::new(10);
        let mut taken = Decision::default();
        let sparse = Features::Sparse { indices: &[0, 2], values: &[0.1, -1.0] };
        for (id, x) in [("b", Features::Dense(&[1.0, 1e-300, 0.3])), ("a", sparse)] {
            learner.act(x, &mut Rng::new(1, 1), &mut taken);
            decisions.keep(id, &Example::of(x), &taken).expect("a new id");
        }
        let mut archive = Archive::of_bandit(learner.as_mut());
        decisions.save(&mut archive);
        let archive = Archive::from_bytes(&archive.to_bytes()).expect("just written");
        let mut again = Decisions::load(&archive, &problem, accepts, 10).expect("just written");
        assert_eq!(again.ids().collect::<Vec<_>>(), ["b", "a"]);
        let mut other = archive.bandit_model().expect("just written");
        for id in ["a", "b"] {
            decisions.hear(learner.as_mut(), id, Verdict::WRONG).expect("waits");
            again.hear(other.as_mut(), id, Verdict::WRONG).expect("waits");
        }
        assert_eq!(Archive::of_bandit(learner.as_mut()), Archive::of_bandit(other.as_mut()));
        let error =
            Decisions::load(&archive, &Problem::new(2, 2), accepts, 10).expect_err("too narrow").to_string();
        assert!(error.ends_with("the pending decisions: \"b\" does not fit the learner"), "{error}");
        let none = Decisions::load(&Archive::default(), &problem, accepts, 10).expect("nothing waits");
        assert_eq!(none.waiting(), 0);
    }
}

//! The traits: what a learner promises to its caller.
//!
//! All are object-safe and cannot fail: dimensions, finiteness and ranges are checked where data enters,
//! parameters when the learner is made. Programmer errors (a row of the wrong length) panic.

use crate::example::{Batch, Features, Label, Target};
use crate::guarantee::{Guarantee, Promise};
use crate::parallel::Workers;
use crate::prediction::{Decision, Prediction, Reward};
use crate::problem::Problem;
use crate::rng::Uniforms;

/// Predicts, and does nothing else.
pub trait Predictor: Send + Sync {
    /// The problem this was made for, with the values in use.
    fn problem(&self) -> &Problem;

    /// Buffers of the right sizes for [`Predictor::predict`], to be reused from round to round.
    fn prediction(&self) -> Prediction;

    /// Writes scores and probabilities for `x` to `out`.
    ///
    /// Pure: calling it twice, or for a row that is never learnt, changes nothing. Many threads may predict
    /// at once, each with its own `out`.
    fn predict(&self, x: Features<'_>, out: &mut Prediction);

    /// Predicts all of `rows` at once, and shows each prediction with the row's place to `each`, in order;
    /// `out` is room for one. Scores and probabilities are those of [`Predictor::predict`] up to rounding;
    /// for rows that nothing is learnt from, since by-products are left out. Learners that keep matrices read
    /// them once for all rows.
    fn predict_batch(
        &self,
        rows: &dyn Batch,
        out: &mut Prediction,
        each: &mut dyn FnMut(usize, &Prediction),
    ) {
        for at in 0..rows.len() {
            self.predict(rows.features(at), out);
            each(at, out);
        }
    }

    /// Whether [`best`](Predictor::best) and [`probability`](Predictor::probability) cost much less than a
    /// forecast of all labels, of which there are very many.
    fn forecasts_few(&self) -> bool {
        false
    }

    /// Writes the `count` most probable labels with their probabilities to `best`, best first, for learners
    /// of probabilities; `out` is room, of which nothing can be told afterwards but that an `update` for the
    /// same `x` may be given it.
    fn best(&self, x: Features<'_>, count: usize, out: &mut Prediction, best: &mut Vec<(Label, f64)>) {
        self.predict(x, out);
        largest(&out.probabilities, count, best);
    }

    /// The probability of `label`; `out` is as in [`best`](Predictor::best).
    fn probability(&self, x: Features<'_>, label: Label, out: &mut Prediction) -> f64 {
        self.predict(x, out);
        out.probabilities[label.index()]
    }
}

/// The `count` largest of `values` with their places, the largest first; among equals the first.
fn largest(values: &[f64], count: usize, best: &mut Vec<(Label, f64)>) {
    best.clear();
    best.extend((0..values.len()).map(|at| (Label::from(at), values[at])));
    let order = |a: &(Label, f64), b: &(Label, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if count < best.len() {
        best.select_nth_unstable_by(count, order);
        best.truncate(count);
    }
    best.sort_unstable_by(order);
}

/// Learns from the truth of every round (full information).
pub trait OnlineLearner: Predictor {
    /// Learns that `x`, for which `at` was predicted, turned out to be `y`.
    ///
    /// `at` must come from this learner's `predict` for the same `x`. Where nothing was learnt in between,
    /// its by-products are reused; otherwise they are recomputed from its scores, so that late feedback is
    /// exact: the round's loss is linearised at the scores that were played.
    ///
    /// # Panics
    /// If the kind of target is not among those of [`Accepts`], or dimensions do not match: programmer
    /// errors.
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction);

    /// Rounds learnt so far.
    fn rounds(&self) -> u64;

    /// How many coming rows this learner can make use of, see [`OnlineLearner::prepare`]. 0: none.
    fn lookahead(&self) -> usize {
        0
    }

    /// Shows the features of the coming rows, purely to be faster: predictions stay those of the sequential
    /// algorithm up to rounding, and rows may be skipped, reordered or never come.
    fn prepare(&mut self, _coming: &dyn Batch) {}

    /// Shows the rows of the batch that was prepared last, from place `at` on, which were not known then:
    /// empty rows stood in for them. So a run can be cut between any two rows, and everything is to the bit
    /// what it would be in one run.
    fn prepare_rest(&mut self, _at: usize, _coming: &dyn Batch) {}

    /// Lends the learner threads for its largest matrix products, purely to be faster: forecasts stay the
    /// same to the bit. Without them everything runs in the thread that calls.
    fn set_workers(&mut self, _workers: Workers) {}

    /// Makes room for more classes and features, as if they had been there all along, with all-zero features.
    /// New ones are appended. Returns false, and changes nothing, if this learner cannot.
    fn grow(&mut self, _classes: usize, _features: usize) -> bool {
        false
    }

    /// The guarantee of the learner's theorem for the rounds so far, for learners that have one. It supposes
    /// that the rounds satisfy the theorem's assumptions; where that is to be checked, use
    /// [`RunFacts::guarantee`](crate::guarantee::RunFacts::guarantee).
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        None
    }

    /// The weights of the members of a mixture, by their names. Empty for most.
    fn weights(&self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// What a learner that chooses its own parts did without for want of time or memory, by name. Empty for
    /// most.
    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }

    /// The data-dependent bound on the regret so far, valid for every comparator of the theorem's ball, or
    /// why there is none; `None` for learners that keep none. It supposes that the rounds satisfy its
    /// assumptions; where that is to be checked, use
    /// [`RunFacts::certificate`](crate::guarantee::RunFacts::certificate).
    fn certificate(&self) -> Option<Promise> {
        None
    }

    /// For learners that abstain by themselves, with probability [`Prediction::abstain`]: by how much the
    /// expected cost of the rounds so far, an error costing 1 and no answer at most `cost`, can exceed the
    /// total loss of the best expert; or why that is not known. `None` for learners that always answer.
    fn abstention_bound(&self, _cost: f64) -> Option<Result<f64, String>> {
        None
    }

    /// Figures of the learner's inner state, by name: the edges of weak learners, for one.
    fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        Vec::new()
    }

    /// How the prediction `at`, the newest of this learner, came about: by name, lists of rows, for traces.
    fn explain(&self, _at: &Prediction) -> Vec<(&'static str, Vec<Vec<f64>>)> {
        Vec::new()
    }
}

impl<P: Predictor + ?Sized> Predictor for Box<P> {
    fn problem(&self) -> &Problem {
        (**self).problem()
    }

    fn prediction(&self) -> Prediction {
        (**self).prediction()
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        (**self).predict(x, out);
    }

    fn predict_batch(
        &self,
        rows: &dyn Batch,
        out: &mut Prediction,
        each: &mut dyn FnMut(usize, &Prediction),
    ) {
        (**self).predict_batch(rows, out, each);
    }

    fn forecasts_few(&self) -> bool {
        (**self).forecasts_few()
    }

    fn best(&self, x: Features<'_>, count: usize, out: &mut Prediction, best: &mut Vec<(Label, f64)>) {
        (**self).best(x, count, out, best);
    }

    fn probability(&self, x: Features<'_>, label: Label, out: &mut Prediction) -> f64 {
        (**self).probability(x, label, out)
    }
}

impl<L: OnlineLearner + ?Sized> OnlineLearner for Box<L> {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        (**self).update(x, y, at);
    }

    fn rounds(&self) -> u64 {
        (**self).rounds()
    }

    fn lookahead(&self) -> usize {
        (**self).lookahead()
    }

    fn prepare(&mut self, coming: &dyn Batch) {
        (**self).prepare(coming);
    }

    fn prepare_rest(&mut self, at: usize, coming: &dyn Batch) {
        (**self).prepare_rest(at, coming);
    }

    fn set_workers(&mut self, workers: Workers) {
        (**self).set_workers(workers);
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        (**self).grow(classes, features)
    }

    fn weights(&self) -> Vec<(String, f64)> {
        (**self).weights()
    }

    fn left_out(&self) -> Vec<String> {
        (**self).left_out()
    }

    fn certificate(&self) -> Option<Promise> {
        (**self).certificate()
    }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        (**self).guarantee()
    }

    fn abstention_bound(&self, cost: f64) -> Option<Result<f64, String>> {
        (**self).abstention_bound(cost)
    }

    fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        (**self).figures()
    }

    fn explain(&self, at: &Prediction) -> Vec<(&'static str, Vec<Vec<f64>>)> {
        (**self).explain(at)
    }
}

/// Learns from what the played label earned, mostly one bit a round: was it right? (bandit feedback)
///
/// A round is three calls: [`predict`](BanditLearner::predict), [`play`](BanditLearner::play) and
/// [`learn`](BanditLearner::learn). The [`Decision`] that goes through them is plain data; the learner keeps
/// no table of pending ones. [`crate::bandit`] describes the effects of late, reordered and lost feedback.
pub trait BanditLearner: Send + Sync {
    /// The problem this was made for, with the values in use.
    fn problem(&self) -> &Problem;

    /// Writes scores, distribution, greedy class, exploration rate and round for `x` to `out`, whose buffers
    /// take the sizes that they need: any decision serves, an empty one too.
    ///
    /// Pure: calling it twice, or for a row that is never played, changes nothing.
    fn predict(&self, x: Features<'_>, out: &mut Decision);

    /// Draws the label that `out`, written by [`BanditLearner::predict`], plays: the explore coin first, for
    /// learners that toss one ([`Uniforms::coin`]), then the label ([`Uniforms::uniform`]).
    fn play(&self, uniforms: &mut dyn Uniforms, out: &mut Decision) {
        out.draw(uniforms.uniform());
    }

    /// Predicts and plays.
    fn act(&self, x: Features<'_>, uniforms: &mut dyn Uniforms, out: &mut Decision) {
        self.predict(x, out);
        self.play(uniforms, out);
    }

    /// The same where only the labels `offered` can be played: a list that is not empty, strictly increasing
    /// and below the number of classes, which becomes [`Decision::offered`]. Returns false, and leaves
    /// nothing of use in `out`, if this learner's analysis is about all labels and it cannot.
    fn predict_among(&self, _x: Features<'_>, _offered: &[u32], _out: &mut Decision) -> bool {
        false
    }

    /// Whether it learns from any reward in [0, 1]; else from 0 and 1 alone, and its caller refuses the rest.
    fn takes_rewards(&self) -> bool {
        false
    }

    /// Learns what the label of `taken` earned for `x`: whether it was right, or, for learners that take
    /// [rewards](BanditLearner::takes_rewards), any reward. May come late and out of order; importance
    /// weights are those of the decision. For other learners a reward below 1 is wrong.
    ///
    /// # Panics
    /// If dimensions do not match: a programmer error. Decisions from outside are checked by
    /// [`Decision::check`].
    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward);

    /// Rounds learnt so far.
    fn rounds(&self) -> u64;

    /// Makes room for more classes and features. New ones are appended: features as if they had been there
    /// all along, always zero; classes with nothing learnt of them. Where classes are new, decisions taken
    /// before must not be learnt from any more, since they know nothing of them. Returns false, and changes
    /// nothing, if this learner cannot.
    fn grow(&mut self, _classes: usize, _features: usize) -> bool {
        false
    }

    /// The guarantee of the learner's theorem for the rounds so far, for learners that have one: a bound on
    /// the mistakes that are to be expected of labels drawn from the learner's own distribution, each
    /// answered before the next row.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        None
    }
}

/// Follows experts: weighs them, and learns what each has lost.
pub trait ExpertLearner: Send + Sync {
    /// The problem this was made for: its features are the experts.
    fn problem(&self) -> &Problem;

    /// The weights of the experts, a probability vector.
    fn weights(&self) -> &[f64];

    /// Learns the losses of all experts, finite numbers in [0, 1].
    fn learn(&mut self, losses: &[f64]);

    /// Rounds learnt so far.
    fn rounds(&self) -> u64;

    /// Bound on the total of $\langle w, l\rangle$ so far minus the total loss of the best expert.
    fn bound(&self) -> f64;

    /// The total loss of every expert so far.
    fn losses(&self) -> &[f64];

    /// See [`OnlineLearner::abstention_bound`].
    fn abstention_bound(&self, _cost: f64) -> Option<Result<f64, String>> {
        None
    }

    /// The abstaining decision for experts that vote in [-1, 1], for learners that abstain.
    fn verdict(&self, _votes: &[f64]) -> Option<Verdict> {
        None
    }
}

/// Whether to answer, and what: between two classes that are called -1 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The weighted vote, in [-1, 1].
    pub vote: f64,
    /// The class to answer: the sign of the vote, 1 for 0.
    pub sign: i8,
    /// The probability of no answer: $1 - |\text{vote}|$.
    pub abstain_probability: f64,
}

impl Verdict {
    /// The answer by the uniform number `u` in [0, 1): the sign, or 0 for none.
    pub fn play(&self, u: f64) -> i8 {
        if u < 1.0 - self.abstain_probability { self.sign } else { 0 }
    }

    /// The expected loss where the truth is `y` and abstaining costs `cost`.
    pub fn expected_loss(&self, y: i8, cost: f64) -> f64 {
        let wrong = if self.sign == y { 0.0 } else { 1.0 };
        (1.0 - self.abstain_probability) * wrong + self.abstain_probability * cost
    }
}

/// What a learner learns about a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The truth: [`OnlineLearner`].
    Full,
    /// Whether the played label was right: [`BanditLearner`].
    Bandit,
    /// Either, as the parameter `mode` says.
    Either,
    /// What its experts have lost: [`ExpertLearner`].
    Experts,
}

/// The targets that a learner can learn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepts {
    /// How many classes.
    pub classes: Classes,
    /// Probability vectors as targets (soft labels).
    pub soft_labels: bool,
    /// Importance weights other than 1.
    pub weights: bool,
}

/// The number of classes that a learner accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classes {
    /// Two or more.
    Any,
    /// Exactly two.
    Two,
    /// None: the target is a real number.
    Real,
}

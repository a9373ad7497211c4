//! # Labels with features, which change from round to round
//!
//! For articles, prices or messages: the labels that can be played change from round to round, and each is
//! described by features. One two-class model forecasts the reward of a label from the features of the round,
//! those of the label, and their products. So every label's feedback improves the forecasts for all labels,
//! and new labels can be played at once.
//!
//! ## Reference
//!
//! Inverse gap weighting: Dylan J. Foster, Alexander Rakhlin, *Beyond UCB*, ICML 2020, arXiv:2002.04926,
//! section 2 for sets of actions that change. `references.bib`: `foster2020squarecb`. Hashed features:
//! `weinberger2009hashing`.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $\mathcal A_t$ | positions | the labels on offer, identified by their position in the round |
//! | $\phi(x_t, a)$ | blocks of the row | features that describe label $a$ in round $t$ |
//! | $\hat f_{t,a}$ | `scores`, as log-odds | forecast reward |
//! | $w$ | `width` | columns of a block |
//!
//! A row consists of a block of $w = \lceil d/K \rceil$ columns for each of the $K$ positions: column $pw +
//! j$ is column $j$ of the description of position $p$. [`Offer::encode`] makes such rows. With the model $m$
//! of two classes,
//!
//! $$ \hat f_a = m(\phi(x, a)), \qquad \text{the label is drawn by inverse gaps at several scales} \tag{1} $$
//!
//! as in [`auto`](super::auto), and the model learns $\phi(x, a_t)$ with the soft label $(1 - r, r)$. Its
//! regret does not depend on the number of labels.
//!
//! ## Deviations
//!
//! * The oracle is [`Auto`] for two classes with log loss, whose regret has no closed form; exploration is
//!   learnt as in [`auto`](super::auto). No bound is shown.
//! * Late feedback is learnt as if the row had come together with it.
//!
//! ## Cost
//!
//! A forecast of the model for every label on offer, and one update. Memory: a few times $w$, whatever the
//! number of labels.

use std::fmt;

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::example::{Features, Target};
use crate::experts::auto::{Auto, AutoParams};
use crate::learner::{Accepts, BanditLearner, Classes, OnlineLearner, Predictor, own};
use crate::param::{ParamError, Params as _};
use crate::params;
use crate::prediction::{Decision, Prediction, Reward};
use crate::problem::Problem;
use crate::state::{State, Tensor};

use super::auto::members_of_one;
use super::scales::Scales;

/// If a label has more products of features of the round and of the label than this, they are left out.
const MOST_PRODUCTS: usize = 4096;

/// The labels on offer in a round, with their features.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The features of the round.
    pub context: Features<'a>,
    /// The labels on offer, at least one.
    pub labels: &'a [OfferedLabel<'a>],
}

/// A label on offer.
#[derive(Clone, Copy, Debug)]
pub struct OfferedLabel<'a> {
    /// The [`key`] of its name, which identifies the label in all rounds.
    pub key: u64,
    /// Its own features.
    pub features: Features<'a>,
}

/// A 64-bit hash of the name of a label, the same on all machines.
pub fn key(name: &str) -> u64 {
    // FNV-1a, then SplitMix64's finaliser, since hashes of short names differ in few bits.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mixed(hash)
}

/// The finaliser of SplitMix64.
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Buffers for a row.
#[derive(Clone, Debug, Default)]
pub struct OfferRow {
    indices: Vec<u32>,
    values: Vec<f64>,
    block: Vec<(u32, f64)>,
}

impl OfferRow {
    /// The row.
    pub fn features(&self) -> Features<'_> {
        Features::Sparse { indices: &self.indices, values: &self.values }
    }

    fn add(&mut self, width: u32, kind: u64, first: u64, second: u64, value: f64) {
        let hash = mixed(mixed(mixed(kind.wrapping_add(1)) ^ first).wrapping_add(second));
        // With random signs, the values of features that share a column have the mean 0.
        let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
        self.block.push(((hash % u64::from(width)) as u32, sign * value));
    }
}

impl Offer<'_> {
    /// Writes the round's row for a learner with blocks of `width` columns. The block of a label has the
    /// round's features, the label's features, the products of both, and the identity of the label, alone and
    /// multiplied by the round's features; all are hashed to `width` columns.
    ///
    /// # Panics
    /// If the index of a column exceeds 32 bits, because there are too many labels: a programmer error.
    pub fn encode(&self, width: u32, out: &mut OfferRow) {
        out.indices.clear();
        out.values.clear();
        for (position, label) in self.labels.iter().enumerate() {
            let start = u32::try_from(position).ok().and_then(|position| position.checked_mul(width));
            let start = start.expect("columns of all labels fit in 32 bits");
            out.block.clear();
            out.add(width, 0, 0, 0, 1.0);
            out.add(width, 1, label.key, 0, 1.0);
            let products = self.context.values().len().saturating_mul(label.features.values().len());
            for (column, value) in label.features.iter() {
                out.add(width, 2, column as u64, 0, value);
            }
            for (column, value) in self.context.iter() {
                out.add(width, 3, column as u64, 0, value);
                out.add(width, 4, column as u64, label.key, value);
                if products <= MOST_PRODUCTS {
                    for (own, other) in label.features.iter() {
                        out.add(width, 5, column as u64, own as u64, value * other);
                    }
                }
            }
            out.block.sort_by_key(|(column, _)| *column);
            let first = out.indices.len();
            for (column, value) in &out.block {
                match out.indices[first..].last() {
                    Some(last) if *last == start + column => {
                        *out.values.last_mut().expect("as long") += value
                    }
                    _ => {
                        out.indices.push(start + column);
                        out.values.push(*value);
                    }
                }
            }
        }
    }
}

params! {
    /// Parameters of [`Offers`].
    pub struct OffersParams {
        /// Number of columns that describe a label, >= 1; a row has a block of this width for every position.
        width: u64 = "features / classes, rounded up",
    }
}

/// See the [module](self).
#[derive(Clone)]
pub struct Offers {
    problem: Problem,
    width: usize,
    model: Auto,
    scales: Scales,
    rounds: u64,
    at: Prediction,
    block: Block,
}

/// The block of a position, as a row.
#[derive(Clone, Default)]
struct Block {
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Block {
    fn of<'a>(&'a mut self, x: Features<'a>, position: usize, width: usize) -> Features<'a> {
        let (from, to) = (position * width, (position + 1) * width);
        match x {
            Features::Dense(values) if to <= values.len() => Features::Dense(&values[from..to]),
            Features::Dense(values) => {
                self.values.clear();
                self.values.extend_from_slice(&values[from.min(values.len())..]);
                self.values.resize(width, 0.0);
                Features::Dense(&self.values)
            }
            Features::Sparse { indices, values } => {
                let at = |column: usize| indices.partition_point(|index| (*index as usize) < column);
                let span = at(from)..at(to);
                self.indices.clear();
                self.indices.extend(indices[span.clone()].iter().map(|index| index - from as u32));
                Features::Sparse { indices: &self.indices, values: &values[span] }
            }
        }
    }
}

impl fmt::Debug for Offers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offers")
            .field("width", &self.width)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

/// The problem of the model.
fn of_model(problem: &Problem, width: usize) -> Problem {
    Problem { classes: 2, features: width, radius: None, ..problem.clone() }
}

/// The parameters of the model.
fn params_of_model(problem: &Problem, width: usize) -> Result<AutoParams, ParamError> {
    AutoParams::from_values("auto", &members_of_one(width, 1, problem.sparse))
}

impl Algorithm for Offers {
    type Params = OffersParams;

    const ABOUT: About = About {
        name: "offers",
        summary: "one model for all labels, by features of their own: labels may come and go",
        paper: Paper { key: "foster2020squarecb", place: "section 2, action sets that change" },
        guarantee: "none in closed form: SquareCB's inequality of every round",
        cost: "a forecast of a two-class mixture for every label on offer, one update",
        memory: "that of a two-class mixture over features / classes columns",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn new(params: OffersParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let width = problem.resolve_width(params.width)?;
        let model = Auto::fixed(params_of_model(&problem, width)?, of_model(&problem, width), seed)?;
        Ok(Self {
            width,
            model,
            scales: Scales::default(),
            rounds: 0,
            at: Prediction::default(),
            block: Block::default(),
            problem,
        })
    }

    fn params(&self) -> OffersParams {
        OffersParams { width: Some(self.width as u64) }
    }

    fn numbers(problem: &Problem) -> usize {
        Self::numbers_for(&OffersParams::default(), problem)
    }

    fn numbers_for(params: &OffersParams, problem: &Problem) -> usize {
        let width = problem.width(params.width).max(1);
        let params = params_of_model(problem, width).unwrap_or_default();
        Auto::numbers_for(&params, &of_model(problem, width))
    }

    fn numbers_at_first(params: &OffersParams, problem: &Problem) -> usize {
        let width = problem.width(params.width).max(1);
        let params = params_of_model(problem, width).unwrap_or_default();
        Auto::numbers_at_first(&params, &of_model(problem, width))
    }
}

impl BanditLearner for Offers {
    own! { problem, rounds }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        out.start(self.problem.classes, self.rounds + 1);
        let mut at = out.work.0.members.pop().unwrap_or_default();
        if at.members.is_empty() {
            at = self.model.prediction();
        }
        let (indices, values) =
            (std::mem::take(&mut out.work.0.indices), std::mem::take(&mut out.work.0.scratch));
        let mut block = Block { indices, values };
        for (position, score) in out.scores.iter_mut().enumerate() {
            if offered.is_some_and(|offered| offered.binary_search(&(position as u32)).is_err()) {
                *score = 0.0;
                continue;
            }
            self.model.predict(block.of(x, position, self.width), &mut at);
            *score = at.scores[1] - at.scores[0]; // eq. (1)
        }
        out.work.0.members.push(at);
        (out.work.0.indices, out.work.0.scratch) = (block.indices, block.values);
        self.scales.decide(offered, out);
        true
    }

    fn takes_rewards(&self) -> bool {
        true
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        self.scales.learn(taken, reward);
        if self.at.members.is_empty() {
            self.at = self.model.prediction();
        }
        let phi = self.block.of(x, taken.label as usize, self.width);
        self.model.predict(phi, &mut self.at);
        if reward.is_verdict() {
            self.model.update(phi, Target::class(usize::from(reward.is_right())), &self.at);
        } else {
            let y = [1.0 - reward.value(), reward.value()];
            self.model.update(phi, Target::distribution(&y), &self.at);
        }
        self.rounds += 1;
    }

    /// Adds positions, with their blocks; the width of blocks is unchanged.
    fn grow(&mut self, classes: usize, features: usize) -> bool {
        if classes <= self.problem.classes || classes.checked_mul(self.width) != Some(features) {
            return false;
        }
        self.problem = Problem { classes, features, ..self.problem.clone() };
        true
    }
}

impl State for Offers {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors: Vec<_> =
            self.model.tensors().into_iter().map(|tensor| tensor.within("model")).collect();
        tensors.extend(self.scales.tensors().into_iter().map(|tensor| tensor.within("scales")));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.model.restored() && self.scales.is_consistent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Uniforms};

    /// A label's reward depends on its features and the context. Labels are new in every round, and the best
    /// one is identified nevertheless.
    #[test]
    fn labels_never_seen_before_are_played_by_their_features() {
        let width = 256;
        let problem = Problem::new(4, 4 * width as usize).with_sparse(true);
        let mut learner = Offers::new(OffersParams::default(), problem, 0).expect("valid");
        let (mut rng, mut row, mut at) = (Rng::new(1, 0), OfferRow::default(), Decision::default());
        let (mut late, mut best) = (0.0, 0.0);
        for t in 0..3000u64 {
            let context = [f64::from(rng.uniform() < 0.5)];
            let features: Vec<[f64; 2]> = (0..3).map(|_| [rng.uniform(), rng.uniform()]).collect();
            let label = |(at, features): (usize, &'_ [f64; 2])| (3 * t + at as u64, *features);
            let described: Vec<(u64, [f64; 2])> = features.iter().enumerate().map(label).collect();
            let labels: Vec<OfferedLabel<'_>> = described
                .iter()
                .map(|(key, features)| OfferedLabel { key: mixed(*key), features: Features::Dense(features) })
                .collect();
            Offer { context: Features::Dense(&context), labels: &labels }.encode(width, &mut row);
            assert!(learner.predict_among(row.features(), &[0, 1, 2], &mut at));
            assert_eq!(at.distribution[3], 0.0, "not on offer");
            at.draw(rng.uniform());
            let earns = |features: &[f64; 2]| features[context[0] as usize];
            let reward = earns(&features[at.label as usize]);
            learner.learn(row.features(), &at, Reward::new(reward).expect("in [0, 1]"));
            if t >= 2000 {
                late += reward;
                best += features.iter().map(earns).fold(0.0, f64::max);
            }
        }
        // Uniform play earns 500 of about 750; the learner has to earn at least seven tenths of the
        // difference in addition.
        assert!(late > 500.0 + 0.7 * (best - 500.0), "{late} of {best}");
    }

    #[test]
    fn blocks_are_rows_of_their_own() {
        let sparse = Features::Sparse { indices: &[0, 3, 4], values: &[1.0, 2.0, 3.0] };
        let mut block = Block::default();
        assert_eq!(block.of(sparse, 1, 2), Features::Sparse { indices: &[1], values: &[2.0] });
        assert_eq!(block.of(sparse, 2, 2), Features::Sparse { indices: &[0], values: &[3.0] });
        assert_eq!(block.of(Features::Dense(&[1.0, 2.0, 3.0]), 1, 2), Features::Dense(&[3.0, 0.0]));
    }
}

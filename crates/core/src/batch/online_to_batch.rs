//! Online-to-batch conversion: makes one predictor for future rows, with a guarantee, from a learner's run.
//!
//! Let $f_t$ be the learner before round $t$ as a predictor: its improper prediction in that state, without
//! updates. If the rounds are independent and identically distributed, and the learner's regret is at most
//! $\rho_T$, then for $\tau$ uniform on $1 \dots T$ (Jézéquel, Gaillard, Rudi 2020 for AIOLI; the argument is
//! general; theory: online-to-batch 1.1)
//!
//! $$ \mathbb{E}\ \mathrm{loss}(f_\tau) - \inf_{\lVert W \rVert \le B} \mathbb{E}\ \mathrm{loss}(W) \le
//!    \rho_T / T, \tag{1} $$
//!
//! where the expectation is over the rounds, $\tau$ and a new row. The last state alone has no such
//! guarantee, and (1) is not a bound with high probability; for what can be had see theory: online-to-batch
//! 2.2. Rows that are scaled by earlier rows are not identically distributed, so that (1) requires a fixed
//! scaling.
//!
//! [`OnlineToBatch`] draws $M$ of the predictors while $T$ is unknown (reservoir sampling, theory:
//! online-to-batch 1.2): for $M = 1$ the snapshot is replaced before round $t$ with probability $1/t$, which
//! yields $f_\tau$. For $M > 1$, [`Average`] forecasts the mean of their probabilities (or values). Log loss
//! and squared loss are convex, and the probability that a drawn label is wrong is linear, so that (1) also
//! holds for the average, which has a smaller variance (theory: online-to-batch 1.3). It does not hold for a
//! vote among labels: for learners that play their best label, $M$ is 1.
//!
//! Each snapshot is a copy of the state; their expected number is $M(1 + \ln(T/M))$ in $T$ rounds. Nothing
//! else is allocated.

use crate::algorithm::Model;
use crate::capability::{Abstain, Inside, LookAhead};
use crate::example::{Batch, Features, LEAST_PROBABILITY, Target};
use crate::guarantee::{Guarantee, Promise, Terms};
use crate::hand_on;
use crate::learner::{OnlineLearner, Predictor};
#[cfg(feature = "model")]
use crate::model::{Archive, ModelError};
use crate::parallel::Workers;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::rng::Rng;
use crate::state::{State, Tensor};

/// The generator's stream for snapshots.
const STREAM: u64 = 2;

/// The name of the text in an archive that has the number of snapshots.
const SNAPSHOTS: &str = "snapshots";

/// A learner that draws snapshots of itself, see the [module](self). It predicts and learns as `L`.
#[derive(Clone, Debug)]
pub struct OnlineToBatch<L> {
    learner: L,
    /// Only those that belong to drawn rounds are in use.
    snapshots: Vec<L>,
    reservoir: Reservoir,
    /// The generator's state, while it is saved or loaded.
    position: [u64; 4],
}

/// Draws $M$ among rounds whose number is unknown: Vitter's algorithm R. Two reservoirs with the same seed
/// draw the same rounds, so that data belonging to a snapshot can be stored elsewhere.
#[derive(Clone, Debug)]
pub struct Reservoir {
    room: u64,
    /// Number of rounds so far.
    seen: u64,
    rng: Rng,
}

impl Reservoir {
    /// The reservoir of [`OnlineToBatch::new`] with `snapshots` $= M$ positions and `seed`.
    pub fn new(snapshots: usize, seed: u64) -> Self {
        Self { room: snapshots as u64, seen: 0, rng: Rng::new(seed, STREAM) }
    }

    /// The position in the reservoir for the next round, if it is drawn: before round $t$, each of $1 \dots
    /// t$ is in the reservoir with probability $\min(1, M/t)$.
    pub fn draw(&mut self) -> Option<usize> {
        let place = if self.seen < self.room { self.seen } else { self.rng.below(self.seen + 1) };
        self.seen += 1;
        (place < self.room).then_some(place as usize)
    }
}

impl<L: Clone> OnlineToBatch<L> {
    /// Wraps `learner`, of which `snapshots` $= M \ge 1$ states are drawn with `seed`. Rounds are counted
    /// from here: for a learner with earlier rounds, only states from now on are drawn.
    ///
    /// # Panics
    /// If `snapshots` is 0.
    pub fn new(learner: L, snapshots: usize, seed: u64) -> Self {
        assert!(snapshots > 0, "an average needs at least one snapshot");
        let reservoir = Reservoir::new(snapshots, seed);
        let position = reservoir.rng.state();
        Self { snapshots: vec![learner.clone(); snapshots], learner, reservoir, position }
    }

    /// The learner.
    pub fn learner(&self) -> &L {
        &self.learner
    }

    /// The learner in its last state, and the batch predictor. Without rounds, that is the initial learner.
    pub fn into_parts(mut self) -> (L, Average<L>) {
        let used = usize::try_from(self.reservoir.seen).unwrap_or(usize::MAX).clamp(1, self.snapshots.len());
        self.snapshots.truncate(used);
        (self.learner, Average { members: self.snapshots })
    }
}

impl<L: Predictor> Predictor for OnlineToBatch<L> {
    hand_on! { self.learner;
        fn problem(&self) -> &Problem;
        fn prediction(&self) -> Prediction;
        fn predict(&self, x: Features<'_>, out: &mut Prediction);
    }
}

impl<L: OnlineLearner + Clone> OnlineLearner for OnlineToBatch<L> {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        if let Some(place) = self.reservoir.draw() {
            self.snapshots[place] = self.learner.clone();
        }
        self.learner.update(x, y, at);
    }

    /// Snapshots grow with the learner, as if the new classes and features had always existed.
    fn grow(&mut self, classes: usize, features: usize) -> bool {
        self.learner.grow(classes, features)
            && self.snapshots.iter_mut().all(|snapshot| snapshot.grow(classes, features))
    }

    hand_on! { self.learner;
        fn rounds(&self) -> u64;
        fn look_ahead(&mut self) -> Option<&mut dyn LookAhead>;
        fn set_workers(&mut self, workers: Workers);
        fn abstaining(&self) -> Option<&dyn Abstain>;
        fn certificate(&self) -> Option<Promise>;
        fn certificate_terms(&self) -> Option<Terms>;
        fn guarantee(&self) -> Option<Guarantee<'_>>;
        fn inside(&self) -> Option<&dyn Inside>;
    }
}

impl<L: State> State for OnlineToBatch<L> {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.position = self.reservoir.rng.state();
        let mut tensors = self.learner.tensors();
        for (at, snapshot) in self.snapshots.iter_mut().enumerate() {
            let prefix = format!("snapshot/{at}");
            tensors.extend(snapshot.tensors().into_iter().map(|tensor| tensor.within(&prefix)));
        }
        tensors.push(Tensor::count("snapshot_rounds", &mut self.reservoir.seen));
        tensors.push(Tensor::counts("snapshot_generator", &mut self.position));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.reservoir.rng = Rng::from_state(self.position);
        self.learner.restored() && self.snapshots.iter_mut().all(State::restored)
    }
}

/// The mean of several predictors for one problem: of their probabilities, whose logarithms are the scores,
/// or of the values of a regression. A single predictor is used unchanged.
#[derive(Clone, Debug)]
pub struct Average<L> {
    members: Vec<L>,
}

impl<L: Predictor> Average<L> {
    /// The average of `members`.
    ///
    /// # Panics
    /// If `members` is empty.
    pub fn new(members: Vec<L>) -> Self {
        assert!(!members.is_empty(), "an average needs at least one member");
        Self { members }
    }

    /// The predictors. A snapshot from before round $t$ has learnt $t - 1$ rounds.
    pub fn members(&self) -> &[L] {
        &self.members
    }
}

impl<L: Predictor> Predictor for Average<L> {
    fn problem(&self) -> &Problem {
        self.members[0].problem()
    }

    fn prediction(&self) -> Prediction {
        let members: Vec<Prediction> = self.members.iter().map(Predictor::prediction).collect();
        Prediction {
            scores: vec![0.0; members[0].scores.len()],
            probabilities: vec![0.0; members[0].probabilities.len()],
            members,
            ..Prediction::default()
        }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { scores, probabilities, normals, members, .. } = out;
        for (member, at) in self.members.iter().zip(&mut *members) {
            at.normals.clone_from(normals);
            member.predict(x, at);
        }
        mean(members, |at| &at.scores, scores);
        mean(members, |at| &at.probabilities, probabilities);
        if members.len() > 1 {
            // A regression has scores alone.
            for (score, p) in scores.iter_mut().zip(&*probabilities) {
                *score = p.max(LEAST_PROBABILITY).ln();
            }
        }
    }
    fn predict_batch(
        &self,
        rows: &dyn Batch,
        out: &mut Prediction,
        each: &mut dyn FnMut(usize, &Prediction),
    ) {
        match &self.members[..] {
            [member] => member.predict_batch(rows, &mut out.members[0], each),
            _ => (0..rows.len()).for_each(|at| {
                self.predict(rows.features(at), out);
                each(at, out);
            }),
        }
    }
}

/// Writes the mean of the `members`' lists to `out`.
fn mean(members: &[Prediction], list: impl Fn(&Prediction) -> &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for at in members {
        for (out, value) in out.iter_mut().zip(list(at)) {
            *out += value;
        }
    }
    out.iter_mut().for_each(|value| *value /= members.len() as f64);
}

#[cfg(feature = "model")]
impl Average<Box<dyn Model>> {
    /// An archive of the average. A single member makes an ordinary model file; several members are whole
    /// archives under `snapshot/0/`, `snapshot/1/` and so on.
    pub fn archive(&mut self) -> Archive {
        if let [only] = &mut self.members[..] {
            return Archive::of(&mut **only);
        }
        let mut archive = Archive::default();
        archive.set_text(SNAPSHOTS, self.members.len().to_string());
        for (at, member) in self.members.iter_mut().enumerate() {
            archive.nest(&format!("snapshot/{at}"), Archive::of(&mut **member));
        }
        archive
    }

    /// Restores the average of `archive`; an ordinary model is an average of one.
    ///
    /// # Errors
    /// If the archive is damaged, or its snapshots are of different kinds.
    pub fn from_archive(archive: &Archive) -> Result<Self, ModelError> {
        if archive.text(SNAPSHOTS).is_none() {
            return Ok(Self { members: vec![archive.model()?] });
        }
        let mut members: Vec<Box<dyn Model>> = Vec::new();
        for at in 0..archive.json::<usize>(SNAPSHOTS)? {
            let member = archive.nested(&format!("snapshot/{at}")).model()?;
            let kind =
                |model: &dyn Model| (model.about().name, model.problem().classes, model.problem().features);
            if members.first().is_some_and(|first| kind(&**first) != kind(&*member)) {
                return Err(ModelError::Damaged("its snapshots are of different kinds".to_owned()));
            }
            members.push(member);
        }
        if members.is_empty() {
            return Err(ModelError::Damaged("it has no snapshots".to_owned()));
        }
        Ok(Self { members })
    }
}

#[cfg(test)]
mod tests;

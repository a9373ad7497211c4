//! The common part of the learners that keep a sum of quadratic surrogates, $\theta^\top A\theta +
//! b^\top\theta$ with $A = \lambda I + \Delta$: [FOLKLORE](super::folklore), [AIOLI](super::aioli),
//! [VAW](super::vaw) and [GAF](super::gaf).
//!
//! An algorithm implements [`Surrogate`]: its parameters with defaults computed, the forecast for a row, and
//! the addition of a label to $A$ and $b$. The rest is here: look-ahead, late labels, growth, merging,
//! saving.

use crate::algorithm::{About, Algorithm};
use crate::batch::passes::{Coordinates, Quadratic};
use crate::bounds::Setting;
use crate::capability::LookAhead;
use crate::example::{Batch, Features, Target};
use crate::guarantee::{Guarantee, Promise, Terms, setting};
use crate::hand_on;
use crate::kernel::second_order::{RoundUpdate, SecondOrder};
use crate::learner::{OnlineLearner, Predictor, own};
use crate::loss::heavy;
use crate::merge::{self, Merge, MergeError};
use crate::parallel::Workers;
use crate::param::{ParamError, Params, Value};
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// A row with the products that a surrogate needs; $q$ is the number of [blocks](Surrogate::blocks).
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// $x$.
    pub x: Features<'a>,
    /// $(I \otimes x)^\top A^{-1} (I \otimes x)$, $q \times q$.
    pub gram: &'a [f64],
    /// $(I \otimes x)^\top A^{-1} b$, length $q$.
    pub image: &'a [f64],
    /// Rounds learnt so far.
    pub round: u64,
    /// Standard normals given by the caller, see [`Prediction::normals`]; usually none.
    pub normals: &'a [f64],
}

/// Sums over rounds, from which certificates are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// The sum of the differences of losses and surrogates.
    pub slack: f64,
    /// The growth of $A$, for surrogates that [measure](Surrogate::GROWTH) it.
    pub growth: f64,
}

/// The difference between learners with quadratic surrogates.
///
/// Matrices are column-major. `own` is the algorithm's part of a prediction's scratch memory, of
/// [`scratch_len`](Surrogate::scratch_len) numbers, which is kept between forecast and update.
pub trait Surrogate: Clone + Send + Sync {
    /// The name under which $b$ is saved.
    const VECTOR: &'static str;

    /// The name under which [`Sums::growth`] is saved; `None`: it is not measured.
    const GROWTH: Option<&'static str> = None;

    /// What $\theta$ is, for the logistic loss of linear predictors.
    const COORDINATES: Option<Coordinates> = None;

    /// $q$: the number of blocks of `features` numbers in $\theta$.
    fn blocks(&self) -> usize;

    /// The number of scores and the number of probabilities of a forecast.
    fn outputs(&self) -> (usize, usize);

    /// $\lambda > 0$.
    fn regularization(&self) -> f64;

    /// Length of the algorithm's scratch memory.
    fn scratch_len(&self) -> usize {
        0
    }

    /// Length of the buffer of [`Surrogate::learn`].
    fn work_len(&self) -> usize;

    /// Writes the forecast for `row`, and to `own` the quantities that [`Surrogate::learn`] needs. Changes
    /// nothing else.
    fn forecast(&self, row: Row<'_>, own: &mut [f64], scores: &mut [f64], probabilities: &mut [f64]);

    /// Writes to `own` what [`Surrogate::forecast`] would write for `row`, except for the scores, which are
    /// those of `at`, a prediction of an earlier state.
    fn renew(&self, _row: Row<'_>, _at: &Prediction, _own: &mut [f64]) {}

    /// Writes to `out` where the surrogate of a round of weight above 1 is taken (theory: extensions 1.3).
    /// False: where that of other rounds is.
    fn ahead(&self, _y: Target<'_>, _at: &Prediction, _gram: &[f64], _out: &mut Prediction) -> bool {
        false
    }

    /// The addition of the label `y` of a row to $b$ and $A$. The surrogate is taken at the forecast `at` (or
    /// where the algorithm says); `gram` is that of [`Row::gram`]. Also updates `sums`.
    fn learn<'w>(
        &self,
        y: Target<'_>,
        at: &Prediction,
        own: &[f64],
        gram: &[f64],
        sums: &mut Sums,
        work: &'w mut [f64],
    ) -> RoundUpdate<'w>;

    /// Increases the number of classes. Returns false, and changes nothing, if this is not possible.
    fn grow(&mut self, _classes: usize) -> bool {
        false
    }

    /// Further tensors on which learning depends, for [`State::tensors`].
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        Vec::new()
    }

    /// See [`OnlineLearner::guarantee`].
    fn guarantee(_learner: &SecondOrderLearner<Self>) -> Option<Guarantee<'_>> {
        None
    }

    /// See [`OnlineLearner::certificate`].
    fn certificate(_learner: &SecondOrderLearner<Self>) -> Option<Promise> {
        None
    }

    /// See [`OnlineLearner::certificate_terms`].
    fn certificate_terms(_learner: &SecondOrderLearner<Self>) -> Option<Terms> {
        None
    }
}

/// A [`Surrogate`] that the registry can make: it has parameters and a description.
pub trait Described: Surrogate + 'static {
    /// Its parameters, one of which is `regularization` $= \lambda$.
    type Params: Params;

    /// Its description.
    const ABOUT: About;

    /// Whether it draws random numbers.
    const DRAWS: bool = false;

    /// Computes the defaults of the parameters, and checks them.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    fn resolve(params: Self::Params, problem: &Problem, seed: u64) -> Result<Self, ParamError>;

    /// The parameters in use.
    fn params(&self) -> Self::Params;

    /// The bound $R$ on the norm of rows.
    fn radius(&self) -> f64;

    /// The seed, for randomised algorithms.
    fn seed(&self) -> u64 {
        0
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SecondOrderLearner<S> {
    pub(super) surrogate: S,
    pub(super) problem: Problem,
    /// $A^{-1}$ and $b$.
    pub(super) state: SecondOrder,
    pub(super) sums: Sums,
    rounds: u64,
    /// The number of merged learners: 1 if none were merged.
    parts: u64,
    /// Scratch memory for rounds whose prediction is outdated.
    spare: Vec<f64>,
    /// Buffers of the update.
    work: Vec<f64>,
    /// Where rounds of weight above 1 are linearised, and what [`Surrogate::renew`] writes for it.
    ahead: (Prediction, Vec<f64>),
}

impl<S: Surrogate> SecondOrderLearner<S> {
    /// The learner for `problem` before its first round.
    pub fn start(surrogate: S, problem: Problem) -> Self {
        let state = SecondOrder::new(surrogate.blocks(), problem.features, surrogate.regularization());
        let mut learner = Self {
            surrogate,
            problem,
            state,
            sums: Sums::default(),
            rounds: 0,
            parts: 1,
            spare: Vec::new(),
            work: Vec::new(),
            ahead: Default::default(),
        };
        learner.make_room();
        learner
    }

    fn make_room(&mut self) {
        self.spare = vec![0.0; self.scratch_len()];
        self.work = vec![0.0; self.surrogate.work_len()];
    }

    /// Length of the algorithm's scratch memory and of the by-products of the state, which follow it.
    fn scratch_len(&self) -> usize {
        self.surrogate.scratch_len() + self.state.scratch_len()
    }

    /// The theorem's `bound` in closed form for the rounds so far and comparators of norm at most `norm`; or
    /// why there is none.
    pub(super) fn closed_form(&self, norm: f64, bound: impl FnOnce(&Setting) -> Promise) -> Promise {
        if self.parts > 1 {
            return Err(merge::NO_CLOSED_FORM.into());
        }
        bound(&setting(&self.problem, norm, self.rounds))
    }

    /// The terms of the certificate `prior` + slack + `quadratic`, where `growth` bounds what a row of norm 1
    /// adds to the largest eigenvalue of $A$.
    pub(super) fn terms(&self, prior: f64, quadratic: f64, growth: f64) -> Terms {
        Terms {
            size: prior + self.sums.slack.abs() + quadratic.abs(),
            regularization: self.surrogate.regularization(),
            growth,
            largest: None,
            weights: true,
        }
    }
}

impl<S: Described> Algorithm for SecondOrderLearner<S> {
    type Params = S::Params;

    const ABOUT: About = S::ABOUT;

    fn draws(_params: &S::Params) -> bool {
        S::DRAWS
    }

    fn new(params: S::Params, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let surrogate = S::resolve(params, &problem, seed)?;
        let radius = Some(surrogate.radius());
        Ok(Self::start(surrogate, Problem { radius, ..problem }))
    }

    fn params(&self) -> S::Params {
        self.surrogate.params()
    }

    fn numbers(problem: &Problem) -> usize {
        // A logit for every class but one; a real-valued target has one score.
        SecondOrder::numbers(problem.classes.saturating_sub(1).max(1), problem.features)
    }

    /// The sum of all $A$, $b$, sums and rounds.
    fn merge(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        merge::by_statistics(parts, how)
    }

    fn statistics(&self) -> Result<Vec<f64>, MergeError> {
        let growth = S::GROWTH.map(|_| self.sums.growth);
        let counts = [self.rounds as f64, self.parts as f64];
        merge::statistics(&self.state, [self.sums.slack].into_iter().chain(growth).chain(counts))
    }

    fn with_statistics(
        &self,
        sum: &[f64],
        parts: usize,
        how: Merge,
        problem: Problem,
    ) -> Result<Self, MergeError> {
        let one = self.surrogate.regularization();
        let mut params = self.params();
        params.set("regularization", &Value::from(how.regularization(one, parts)))?;
        let mut merged = Self::new(params, problem, self.surrogate.seed())?;
        let number = if S::GROWTH.is_some() { 4 } else { 3 };
        let sums = merge::restore(&mut merged.state, sum, number, parts, how, one)?;
        merged.sums.slack = sums[0];
        if S::GROWTH.is_some() {
            merged.sums.growth = sums[1];
        }
        (merged.rounds, merged.parts) = (sums[number - 2] as u64, sums[number - 1] as u64);
        Ok(merged)
    }

    fn coordinates(&self) -> Option<Coordinates> {
        S::COORDINATES
    }

    fn with_quadratic(&self, quadratic: &Quadratic, rounds: u64) -> Result<Self, MergeError> {
        // What is minimised is θᵀAθ + bᵀθ, or θᵀAθ - 2bᵀθ for one block.
        let factor = match S::COORDINATES.ok_or(MergeError::Unsupported(S::ABOUT.name))? {
            Coordinates::Centred => -2.0,
            Coordinates::Binary => 1.0,
        };
        let (found, needed) = (quadratic.centre.len(), self.state.side());
        if found != needed {
            return Err(MergeError::Length { found, needed });
        }
        let Quadratic { centre, matrix } = quadratic;
        let mut list = matrix.clone();
        (0..needed).for_each(|row| list[row * (row + 3) / 2] += self.surrogate.regularization());
        let sum = Quadratic { centre: centre.clone(), matrix: list.clone() };
        list.extend(sum.times(centre).iter().map(|b| factor * b));
        list.push(0.0);
        list.extend(S::GROWTH.map(|_| 0.0));
        list.extend([rounds as f64, 1.0]);
        Algorithm::with_statistics(self, &list, 1, Merge::LambdaOnce, self.problem.clone())
    }
}

impl<S: Surrogate> Predictor for SecondOrderLearner<S> {
    own! { problem }

    fn prediction(&self) -> Prediction {
        let (scores, probabilities) = self.surrogate.outputs();
        let mut prediction = Prediction::sized(scores, self.scratch_len());
        prediction.probabilities.resize(probabilities, 0.0);
        prediction
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { scores, probabilities, scratch, stamp, prepared, normals, .. } = out;
        let (own, rest) = scratch.split_at_mut(self.surrogate.scratch_len());
        let seen = self.state.project(x, rest);
        let row = Row { x, gram: seen.gram, image: seen.image, round: self.rounds, normals };
        self.surrogate.forecast(row, own, scores, probabilities);
        (*stamp, *prepared) = (Some(self.rounds), seen.prepared);
    }

    fn predict_batch(
        &self,
        rows: &dyn Batch,
        out: &mut Prediction,
        each: &mut dyn FnMut(usize, &Prediction),
    ) {
        self.state.project_batch(rows, |at, gram, image| {
            let Prediction { scores, probabilities, scratch, stamp, normals, .. } = &mut *out;
            let own = &mut scratch[..self.surrogate.scratch_len()];
            let row = Row { x: rows.features(at), gram, image, round: self.rounds, normals };
            self.surrogate.forecast(row, own, scores, probabilities);
            *stamp = None;
            each(at, out);
        });
    }
}

impl<S: Surrogate> OnlineLearner for SecondOrderLearner<S> {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let own = self.surrogate.scratch_len();
        let mut spare = std::mem::take(&mut self.spare);
        // Growing changes the layout of by-products, but not the number of rounds.
        let fresh = at.is_fresh(self.rounds) && at.scratch.len() == spare.len();
        let (by_products, prepared) = if fresh && self.state.can_reuse(at.prepared) {
            (&at.scratch, at.prepared)
        } else {
            // For an outdated prediction, only its scores are used; everything else is computed again.
            let (own, rest) = spare.split_at_mut(own);
            let seen = self.state.project(x, rest);
            let row = Row { x, gram: seen.gram, image: seen.image, round: self.rounds, normals: &at.normals };
            let prepared = seen.prepared;
            self.surrogate.renew(row, at, own);
            (&spare, prepared)
        };
        let (own, rest) = by_products.split_at(own);
        let gram = self.state.gram(rest);
        let (mut ahead, mut renewed) = std::mem::take(&mut self.ahead);
        let (own, at) = if y.weight > 1.0 && self.surrogate.ahead(y, at, gram, &mut ahead) {
            renewed.clear();
            renewed.extend_from_slice(own);
            let image = self.state.image(rest);
            let row = Row { x, gram, image, round: self.rounds, normals: &at.normals };
            self.surrogate.renew(row, &ahead, &mut renewed);
            self.sums.slack += heavy::excess(y, at, &ahead);
            (&renewed[..], &ahead)
        } else {
            (own, at)
        };
        let update = self.surrogate.learn(y, at, own, gram, &mut self.sums, &mut self.work);
        self.state.absorb(x, rest, prepared, update);
        self.rounds += 1;
        (self.spare, self.ahead) = (spare, (ahead, renewed));
    }

    own! { rounds }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        S::guarantee(self)
    }

    fn look_ahead(&mut self) -> Option<&mut dyn LookAhead> {
        Some(self)
    }

    hand_on! { self.state;
        fn set_workers(&mut self, workers: Workers);
    }

    /// New classes and features start at the regulariser, exactly as if they had been present with the value
    /// 0 from the start; parameters keep their values (theory: extensions 2.1).
    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let Some(problem) = self.problem.grown(classes, features) else { return false };
        if !self.surrogate.grow(classes) {
            return false;
        }
        self.state.grow(self.surrogate.blocks(), features, self.surrogate.regularization());
        self.problem = problem;
        self.make_room();
        true
    }

    fn certificate(&self) -> Option<Promise> {
        S::certificate(self)
    }

    fn certificate_terms(&self) -> Option<Terms> {
        S::certificate_terms(self)
    }
}

impl<S: Surrogate> LookAhead for SecondOrderLearner<S> {
    hand_on! { self.state;
        fn lookahead(&self) -> usize;
        fn prepare(&mut self, announced: &dyn Batch);
        fn prepare_rest(&mut self, at: usize, announced: &dyn Batch);
    }
}

impl<S: Surrogate> State for SecondOrderLearner<S> {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = self.state.tensors(S::VECTOR);
        tensors.push(Tensor::number("slack", &mut self.sums.slack));
        tensors.extend(S::GROWTH.map(|name| Tensor::number(name, &mut self.sums.growth)));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors.push(Tensor::count("parts", &mut self.parts));
        tensors.extend(self.surrogate.tensors());
        tensors
    }

    fn restored(&mut self) -> bool {
        self.state.restored()
    }
}

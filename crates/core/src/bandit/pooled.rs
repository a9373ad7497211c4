//! One logistic model for the rewards of all labels: what they have in common, and the deviation of each
//! label.
//!
//! With one model a label, what is learnt about a label says nothing about the others, and each begins at ½.
//! If rewards are rare, this is far off, and a label needs hundreds of rounds to be known. Here the log-odds
//! of label $a$'s reward are
//!
//! $$ z_a = o_t + \langle u, \phi \rangle + \langle v_a, \psi \rangle, \qquad o_t = \ln \frac{R_t + 1/2}{t - R_t + 1/2}, \tag{1} $$
//!
//! with the rewards $R_t$ of the first $t$ rounds: the forecast begins at the rate so far of all labels
//! (Krichevsky and Trofimov), from which $u$, common to all labels, and $v_a$, of label $a$, move away.
//! With a prior of the rate $\rho$ as of $n$ rounds, it begins at $\rho$: $n\rho$ and $n(1 - \rho)$ take the
//! places of the two ½.
//! $\phi$ and $\psi$ are the row $(1, x/\sqrt{q})$ with entries multiplied by the standard deviations of
//! their weights before the first round; $q$ is the mean of $\lVert x\rVert^2$ in the first rounds, in which
//! only the rate is learnt, so that the model does not depend on the unit of the data. Where these are
//! zero, $q$ is taken as 1; entries of $x/\sqrt{q}$ beyond 1000 are taken as 1000.
//!
//! After the reward $r$ of label $a$, with $A$ and $A_a$ the matrices of the two parts, at first $I$,
//! $n = \phi^\top A^{-1}\phi$ and $n_a = \psi^\top A_a^{-1}\psi$,
//!
//! $$ z' + (n + n_a)\ (\sigma(z') - r) = z_a, \tag{2} $$
//! $$ u \mathrel{+}= (r - \sigma(z'))\ A^{-1}\phi, \qquad v_a \mathrel{+}= (r - \sigma(z'))\ A_a^{-1}\psi, \tag{3} $$
//! $$ A \mathrel{+}= \frac{h}{1 + h n_a} \phi\phi^\top, \qquad A_a \mathrel{+}= \frac{h}{1 + h n} \psi\psi^\top, \qquad h = \sigma'(z'), \tag{4} $$
//!
//! a proximal step: (2) and (3) minimise the log-loss of the round plus the squared distance to the weights
//! so far, in the norms of $A$ and $A_a$. (4) is the curvature of the round as it appears to one part, if the
//! other is only known up to its own inverse matrix. There is no theorem: in a mixture, the log-loss is
//! bounded by that of the other members.

use crate::example::Features;
use crate::kernel::lowrank_inverse::LowRankInverse;
use crate::kernel::scalar_root::shrink;
use crate::kernel::vector::{axpy, dot};
use crate::loss::logistic::sigmoid;
use crate::param::prior::Prior;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::Tensor;

/// The standard deviations of the weights before the first round: of the intercept, and of all others
/// together. Click rates of a label are within a factor of about $e$ of the others', and a row changes them
/// by a factor of two: so are the click rates of public logs.
pub(super) const COMMON: [f64; 2] = [1.0, 2.2];
const DEVIATION: [f64; 2] = [0.55, 0.7];

/// The rounds in which only the rate and the unit of the rows are learnt.
const FIRST_ROUNDS: u64 = 16;

/// The limit on entries of rows in units, which keeps sums finite.
const LARGEST: f64 = 1000.0;

/// What counts as learnt before the first round, without a prior: rewards, and rounds without one.
const EARLIER: [f64; 2] = [0.5; 2];

/// The limit on the numbers of all labels' matrices. With more features, the models consist of intercepts.
const MATRICES: usize = 2_000_000;

/// A vector of weights with its matrix.
#[derive(Clone, Debug)]
struct Part {
    inverse: LowRankInverse,
    weights: Vec<f64>,
}

impl Part {
    fn new(side: usize) -> Self {
        Self { inverse: LowRankInverse::small_at_first(1, side, 1.0, 1), weights: vec![0.0; side] }
    }

    fn grow(&mut self, side: usize) {
        self.inverse.grow(1, side, 1.0, 1);
        self.weights.resize(side, 0.0);
    }

    /// Writes $A^{-1}\phi$ to `out` and returns $\phi^\top A^{-1}\phi$.
    fn spread(&self, row: &[f64], out: &mut [f64]) -> f64 {
        self.inverse.combination(Features::Dense(row), &[(0, 1.0)], out);
        dot(row, out).max(0.0)
    }

    /// Equations (3) and (4) for $A^{-1}\phi$ = `direction`, $\phi^\top A^{-1}\phi$ = `square`, the residual
    /// $r - \sigma(z')$ and the curvature of the round.
    fn step(&mut self, direction: &[f64], square: f64, residual: f64, curvature: f64) {
        axpy(residual, direction, &mut self.weights); // eq. (3)
        self.inverse.downdate(direction, &[(curvature / (1.0 + curvature * square)).sqrt()]); // eq. (4)
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::from(self.inverse.tensors());
        tensors.push(Tensor::vector("weights", &mut self.weights));
        tensors
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    /// Features that the models use.
    features: usize,
    common: Part,
    /// One for each label.
    labels: Vec<Part>,
    rounds: u64,
    /// $R_t$.
    rewards: f64,
    /// As [`EARLIER`], if there was a prior.
    earlier: Option<[f64; 2]>,
    /// The sum of $\lVert x\rVert^2$ over the first rounds.
    squares: f64,
    /// The standard deviations of the common weights before the first round, as [`COMMON`].
    prior: [f64; 2],
    /// Buffers for $\phi$ and $\psi$, and for their products with the inverse matrices.
    rows: [Vec<f64>; 2],
    products: [Vec<f64>; 2],
}

/// The number of features that are used with `classes` labels.
fn used(classes: usize, features: usize) -> usize {
    let side = features.saturating_add(1);
    if side.saturating_mul(side).saturating_mul(classes) > MATRICES { 0 } else { features }
}

impl Pooled {
    /// With the standard deviations [`COMMON`] of the common weights before the first round.
    pub(super) fn new(classes: usize, features: usize) -> Self {
        Self::with_prior(classes, features, COMMON)
    }

    /// With the standard deviations `prior` of the common weights before the first round.
    pub(super) fn with_prior(classes: usize, features: usize, prior: [f64; 2]) -> Self {
        let features = used(classes, features);
        let side = features + 1;
        Self {
            features,
            common: Part::new(side),
            labels: vec![Part::new(side); classes],
            rounds: 0,
            rewards: 0.0,
            earlier: None,
            squares: 0.0,
            prior,
            rows: [vec![0.0; side], vec![0.0; side]],
            products: [vec![0.0; side], vec![0.0; side]],
        }
    }

    /// The model, which begins at the rate of `prior` if there is one.
    pub(super) fn beginning_at(self, prior: Option<Prior>) -> Self {
        Self { earlier: prior.map(Prior::counts), ..self }
    }

    /// A model that begins anew: at the rate of this one, as far as `rounds` rounds tell it, with its unit.
    pub(super) fn anew(&self, rounds: u64, prior: [f64; 2]) -> Self {
        let rate = if self.rounds > 0 { self.rewards / self.rounds as f64 } else { 0.5 };
        let fresh = Self::with_prior(self.labels.len(), self.features, prior);
        // What was expected before the first round counts no longer.
        let earlier = self.earlier.map(|_| EARLIER);
        Self { rounds, rewards: rate * rounds as f64, earlier, squares: self.squares, ..fresh }
    }

    /// 8-byte numbers of state.
    pub(super) fn numbers(problem: &Problem) -> usize {
        let side = used(problem.classes, problem.features) + 1;
        LowRankInverse::numbers(1, side)
            .saturating_add(side)
            .saturating_mul(problem.classes.saturating_add(1))
    }

    /// $t$.
    #[cfg(test)]
    pub(super) fn rounds(&self) -> u64 {
        self.rounds
    }

    /// $o_t$.
    fn offset(&self) -> f64 {
        let [rewards, without] = self.earlier.unwrap_or(EARLIER);
        (self.rewards + rewards).ln() - (self.rounds as f64 - self.rewards + without).ln()
    }

    /// Writes $\phi$ and $\psi$ for the row `x`.
    fn write_rows(&self, x: Features<'_>, [phi, psi]: [&mut [f64]; 2]) {
        let unit = if self.squares > 0.0 { (FIRST_ROUNDS as f64 / self.squares).sqrt() } else { 1.0 };
        for (row, [intercept, others]) in [(phi, self.prior), (psi, DEVIATION)] {
            row.fill(0.0);
            row[0] = intercept;
            if self.features > 0 {
                x.iter().for_each(|(column, value)| {
                    row[1 + column] = others * (unit * value).clamp(-LARGEST, LARGEST);
                });
            }
        }
    }

    /// Writes the forecast rewards of all labels to `rewards` and their log-odds to `scores`, equation (1).
    pub(super) fn forecast(
        &self,
        x: Features<'_>,
        work: &mut Prediction,
        scores: &mut [f64],
        rewards: &mut [f64],
    ) {
        let offset = self.offset();
        if self.rounds < FIRST_ROUNDS {
            scores.fill(offset);
        } else {
            let side = self.features + 1;
            work.scratch.resize(2 * side, 0.0);
            let (phi, psi) = work.scratch.split_at_mut(side);
            self.write_rows(x, [phi, psi]);
            let common = offset + dot(&self.common.weights, phi);
            for (score, label) in scores.iter_mut().zip(&self.labels) {
                *score = common + dot(&label.weights, psi);
            }
        }
        rewards.iter_mut().zip(scores).for_each(|(reward, score)| *reward = sigmoid(*score));
    }

    /// Writes the standard deviations of the labels' own parts of the log-odds, $\sqrt{n_a}$, to `out`: what
    /// is common to all labels does not change which one is best.
    pub(super) fn deviations(&self, x: Features<'_>, work: &mut Prediction, out: &mut Vec<f64>) {
        let side = self.features + 1;
        work.scratch.resize(3 * side, 0.0);
        let (phi, rest) = work.scratch.split_at_mut(side);
        let (psi, product) = rest.split_at_mut(side);
        self.write_rows(x, [phi, psi]);
        out.clear();
        out.extend(self.labels.iter().map(|label| label.spread(psi, product).sqrt()));
    }

    /// The log-odds of the reward of one label, equation (1).
    pub(super) fn score(&mut self, x: Features<'_>, label: usize) -> f64 {
        let offset = self.offset();
        if self.rounds < FIRST_ROUNDS {
            return offset;
        }
        let [mut phi, mut psi] = std::mem::take(&mut self.rows);
        self.write_rows(x, [&mut phi, &mut psi]);
        let score = offset + dot(&self.common.weights, &phi) + dot(&self.labels[label].weights, &psi);
        self.rows = [phi, psi];
        score
    }

    /// Learns the reward $r$ = `reward` in [0, 1] of `label`.
    pub(super) fn learn(&mut self, x: Features<'_>, label: usize, reward: f64) {
        if self.rounds < FIRST_ROUNDS {
            let square = x.iter().map(|(_, value)| value * value).sum::<f64>();
            self.squares += square.min(1e200);
        } else {
            let [mut phi, mut psi] = std::mem::take(&mut self.rows);
            self.write_rows(x, [&mut phi, &mut psi]);
            let offset = self.offset();
            let (common, own) = (&mut self.common, &mut self.labels[label]);
            let [to_common, to_own] = &mut self.products;
            let (n, n_own) = (common.spread(&phi, to_common), own.spread(&psi, to_own));
            let score = offset + dot(&common.weights, &phi) + dot(&own.weights, &psi);
            // eq. (2), with σ(z) = (1 + tanh(z/2))/2
            let near = sigmoid(shrink(score + (n + n_own) * (reward - 0.5), 0.5 * (n + n_own)));
            let (residual, curvature) = (reward - near, near * (1.0 - near));
            common.step(to_common, n, residual, curvature / (1.0 + curvature * n_own));
            own.step(to_own, n_own, residual, curvature / (1.0 + curvature * n));
            self.rows = [phi, psi];
        }
        self.rewards += reward;
        self.rounds += 1;
    }

    /// Appends labels that begin with what all labels have in common, and features of weight 0. If the
    /// matrices become too large, the models begin again with intercepts alone.
    pub(super) fn grow(&mut self, classes: usize, features: usize) {
        let known = self.features;
        self.features = used(classes, features);
        if self.features < known {
            let fresh = Self::with_prior(classes, features, self.prior);
            *self = Self { rounds: self.rounds, rewards: self.rewards, earlier: self.earlier, ..fresh };
            return;
        }
        let side = self.features + 1;
        if self.features > known {
            self.labels.iter_mut().chain([&mut self.common]).for_each(|part| part.grow(side));
            self.rows.iter_mut().chain(&mut self.products).for_each(|buffer| buffer.resize(side, 0.0));
        }
        self.labels.resize(classes, Part::new(side));
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors: Vec<_> =
            self.common.tensors().into_iter().map(|tensor| tensor.within("common")).collect();
        for (label, part) in self.labels.iter_mut().enumerate() {
            let prefix = format!("label/{label}");
            tensors.extend(part.tensors().into_iter().map(|tensor| tensor.within(&prefix)));
        }
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors.push(Tensor::number("rewards", &mut self.rewards));
        tensors.push(Tensor::number("squares", &mut self.squares));
        if self.prior != COMMON {
            tensors.push(Tensor::vector("prior", &mut self.prior));
        }
        if let Some(earlier) = &mut self.earlier {
            tensors.push(Tensor::vector("earlier", earlier));
        }
        tensors
    }

    pub(super) fn restored(&mut self) -> bool {
        let whole = (0.0..=self.rounds as f64).contains(&self.rewards)
            && self.squares >= 0.0
            && self.prior.iter().chain(self.earlier.iter().flatten()).all(|number| *number > 0.0);
        whole && self.common.inverse.restored() && self.labels.iter_mut().all(|part| part.inverse.restored())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    fn forecast(pooled: &Pooled, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut scores, mut rewards) = (vec![0.0; pooled.labels.len()], vec![0.0; pooled.labels.len()]);
        pooled.forecast(Features::Dense(x), &mut Prediction::default(), &mut scores, &mut rewards);
        (scores, rewards)
    }

    /// After 16 rounds with one reward and rows of square 4, the forecast is (1 + ½)/(16 + 1) for all labels.
    /// At x = 2, φ = (1, 2.2) and ψ = (.55, .7): n = 1 + 2.2² and n_0 = .55² + .7². Label 0 has the reward 1:
    /// z' solves z' = z + (n + n_0)(1 - σ(z')), after which the scores are z + n (1 - σ(z')), and n_0 (1 -
    /// σ(z')) more for label 0.
    #[test]
    fn rounds_by_hand() {
        let mut pooled = Pooled::new(3, 1);
        let x = [2.0];
        for round in 0..16 {
            pooled.learn(Features::Dense(&x), round % 3, if round == 5 { 1.0 } else { 0.0 });
        }
        let (scores, rewards) = forecast(&pooled, &x);
        rewards.iter().for_each(|reward| assert_close(*reward, 1.5 / 17.0, 1e-15, "the rate so far"));
        let (z, n, n_own) = (scores[0], 1.0 + 2.2 * 2.2, 0.55 * 0.55 + 0.7 * 0.7);
        let mut deviations = Vec::new();
        pooled.deviations(Features::Dense(&x), &mut Prediction::default(), &mut deviations);
        deviations.iter().for_each(|s| assert_close(s * s, n_own, 1e-15, "nothing is known of the labels"));
        let (mut low, mut high) = (z, z + n + n_own);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            let over = middle - z - (n + n_own) * (1.0 - sigmoid(middle)) > 0.0;
            (low, high) = if over { (low, middle) } else { (middle, high) };
        }
        pooled.learn(Features::Dense(&x), 0, 1.0);
        let moved = (2.5f64 / 15.5).ln() + n * (1.0 - sigmoid(low));
        let (scores, _) = forecast(&pooled, &x);
        assert_close(scores[1], moved, 1e-12, "another label");
        assert_close(scores[2], moved, 1e-12, "the third label");
        assert_close(scores[0], moved + n_own * (1.0 - sigmoid(low)), 1e-12, "the label itself");
        // A second round uses A = 1 + h/(1 + h n_0) φφ', so that φ'A⁻¹φ = n/(1 + c n).
        let h = sigmoid(low) * (1.0 - sigmoid(low));
        let c = h / (1.0 + h * n_own);
        let (mut room, row) = (vec![0.0; 2], [1.0, 2.2]);
        assert_close(pooled.common.spread(&row, &mut room), n / (1.0 + c * n), 1e-12, "the matrix");
        pooled.deviations(Features::Dense(&x), &mut Prediction::default(), &mut deviations);
        let c_own = h / (1.0 + h * n);
        assert_close(deviations[0].powi(2), n_own / (1.0 + c_own * n_own), 1e-12, "a round of label 0");
        assert_close(deviations[1].powi(2), n_own, 1e-12, "no round of label 1");
        let before = forecast(&pooled, &x).0;
        assert_eq!(pooled.score(Features::Dense(&x), 0), before[0]);
        let anew = pooled.anew(34, [0.3, 0.7]);
        assert_close(forecast(&anew, &x).0[1], (4.5f64 / 30.5).ln(), 1e-12, "two rewards in 17 rounds");
        pooled.grow(4, 2);
        let after = forecast(&pooled, &[2.0, 0.0]).0;
        assert_eq!(after[..3], before[..]);
        assert_close(after[3], moved, 1e-12, "a new label begins with what is common");
    }

    /// A prior of 1 % as of 50 rounds is where forecasts begin; 16 rounds without a reward make 0.5 of 66
    /// rounds of it. What begins anew begins at the rate that was seen.
    #[test]
    fn a_prior_is_where_forecasts_begin() {
        let prior = Prior::of(Some(0.01), None).expect("valid");
        let mut pooled = Pooled::new(2, 1).beginning_at(prior);
        assert_close(forecast(&pooled, &[1.0]).1[1], 0.01, 1e-15, "the first forecast");
        for round in 0..16 {
            pooled.learn(Features::Dense(&[1.0]), round % 2, 0.0);
        }
        assert_close(forecast(&pooled, &[1.0]).1[0], 0.5 / 66.0, 1e-15, "sixteen rounds later");
        let anew = pooled.anew(20, COMMON);
        assert_close(forecast(&anew, &[1.0]).1[0], 0.5 / 21.0, 1e-15, "anew");
        assert_eq!(pooled.tensors().len(), Pooled::new(2, 1).tensors().len() + 1);
    }

    /// The forecasts do not depend on the unit of the rows, are finite for rows of any size, and a
    /// huge number of features leaves intercepts.
    #[test]
    fn units_and_sizes() {
        let mut pair = [Pooled::new(2, 2), Pooled::new(2, 2)];
        for round in 0..60 {
            let x = [f64::from(round % 5) - 2.0, f64::from(round % 3)];
            for (pooled, unit) in pair.iter_mut().zip([1.0, 1024.0]) {
                let row = x.map(|value| unit * value);
                pooled.learn(Features::Dense(&row), round as usize % 2, f64::from(round % 5 / 4));
            }
        }
        assert_eq!(forecast(&pair[0], &[1.0, 2.0]), forecast(&pair[1], &[1024.0, 2048.0]));
        // A unit that is not known, and rows far beyond it.
        let mut zeros = Pooled::new(2, 1);
        for round in 0..40 {
            let x = if round < 16 { 0.0 } else { 1e100 };
            zeros.learn(Features::Dense(&[x]), round % 2, 1.0);
        }
        assert!(forecast(&zeros, &[-1e100]).0.iter().all(|score| score.is_finite()));
        let wide = Pooled::new(100, 5000);
        assert_eq!((wide.features, wide.common.weights.len()), (0, 1));
        pair[0].grow(100, 5000);
        assert_eq!((pair[0].features, pair[0].rounds, pair[0].labels.len()), (0, 60, 100));
        assert!(forecast(&pair[0], &[1.0]).0.iter().all(|score| *score == pair[0].offset()));
    }
}

//! A second forecaster beside [`Auto`](crate::experts::auto::Auto): one logistic model of the columns that
//! describe a label, each of whose weights is known up to a variance of its own.
//!
//! The members of `auto` learn every column with one rate. But most columns of a block occur in few rounds,
//! as those of a label that came yesterday: they are known less than others, should move farther when
//! they occur, and should not count before. The log-odds of a label's reward are
//!
//! $$ z = o_t + \langle w, \phi\rangle, \qquad o_t = \ln \frac{R_t + 1/2}{t - R_t + 1/2}, \tag{1} $$
//!
//! with the rewards $R_t$ of the first $t$ rounds, so that forecasts begin at the rate so far; with a prior
//! of the rate $\rho$ as of $n$ rounds, $n\rho$ and $n(1 - \rho)$ take the places of the two ½. $\phi$ is
//! the block over $\sqrt{q}$, with $q$ the mean of its squared norm in the first 16 rounds, in which only
//! the rate and $q$ are learnt; entries of $\phi$ beyond 1000 are taken as 1000. $w$ begins at 0 and its
//! variances $v$ at 1: the log-odds of a first label differ from the rate's by about 1. After the reward $r$,
//! with $n = \sum_j v_j\phi_j^2$,
//!
//! $$ z' + n\ (\sigma(z') - r) = z, \qquad w_j \mathrel{+}= (r - \sigma(z'))\ v_j\phi_j, \tag{2} $$
//! $$ \frac{1}{v_j} \mathrel{+}= \frac{h \phi_j^2}{1 + h\ (n - v_j\phi_j^2)},
//!    \qquad h = \sigma'(z'), \tag{3} $$
//!
//! a proximal step, and the curvature of the round as it appears to one column, if the others are only known
//! up to their variances: what `pooled.rs` does with matrices. There is no theorem.
//!
//! **Joined** are both forecasts, $f$ of `auto` and $\sigma(z)$, by their log losses: with $\ell$ the nats
//! that this one has lost less so far, kept within $\pm 20$ so that the other one is soon back after a
//! change,
//!
//! $$ \hat f = \sigma(\ell)\ \sigma(z) + (1 - \sigma(\ell))\ f. \tag{4} $$
//!
//! While $\ell$ is within these limits, (4) loses at most $\ln 2$ nats more than the better one. With a prior
//! $\ell$ begins at 5, since `auto` begins at ½ all the same.

use crate::example::{Features, LEAST_PROBABILITY};
use crate::kernel::scalar_root::shrink;
use crate::loss::logistic::sigmoid;
use crate::param::prior::Prior;
use crate::state::Tensor;

/// The rounds in which only the rate and the unit of blocks are learnt.
const FIRST_ROUNDS: u64 = 16;

/// What counts as learnt before the first round, without a prior: rewards, and rounds without one.
const EARLIER: [f64; 2] = [0.5; 2];

/// The limit on entries of $\phi$, which keeps sums finite.
const LARGEST: f64 = 1000.0;

/// $\ell$ is kept within this.
const MOST: f64 = 20.0;

/// $\ell$ before the first round, with a prior.
const LEAD: f64 = 5.0;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Posterior {
    prior: Option<Prior>,
    rounds: u64,
    /// $R_t$.
    rewards: f64,
    /// The sum of squared norms over the first rounds.
    squares: f64,
    weights: Vec<f64>,
    variances: Vec<f64>,
    /// $\ell$.
    lead: f64,
}

/// An entry of $\phi$.
fn entry(unit: f64, value: f64) -> f64 {
    (unit * value).clamp(-LARGEST, LARGEST)
}

impl Posterior {
    pub(super) fn new(width: usize, prior: Option<Prior>) -> Self {
        Self {
            prior,
            rounds: 0,
            rewards: 0.0,
            squares: 0.0,
            weights: vec![0.0; width],
            variances: vec![1.0; width],
            lead: if prior.is_some() { LEAD } else { 0.0 },
        }
    }

    /// 8-byte numbers of state.
    pub(super) fn numbers(width: usize) -> usize {
        width.saturating_mul(2)
    }

    /// The prior that was given.
    pub(super) fn prior(&self) -> Option<Prior> {
        self.prior
    }

    /// $o_t$.
    fn offset(&self) -> f64 {
        let [rewards, without] = self.prior.map_or(EARLIER, Prior::counts);
        (self.rewards + rewards).ln() - (self.rounds as f64 - self.rewards + without).ln()
    }

    /// What a block is multiplied with.
    fn unit(&self) -> f64 {
        if self.squares > 0.0 { (FIRST_ROUNDS as f64 / self.squares).sqrt() } else { 1.0 }
    }

    /// $z$.
    fn score(&self, block: Features<'_>) -> f64 {
        if self.rounds < FIRST_ROUNDS {
            return self.offset();
        }
        let unit = self.unit();
        let deviation: f64 =
            block.iter().map(|(column, value)| self.weights[column] * entry(unit, value)).sum();
        self.offset() + deviation // eq. (1)
    }

    /// The log-odds of the joint forecast for a block, if `auto` forecasts those of `score`.
    pub(super) fn joined(&self, block: Features<'_>, score: f64) -> f64 {
        let weight = sigmoid(self.lead);
        let f = weight * sigmoid(self.score(block)) + (1.0 - weight) * sigmoid(score); // eq. (4)
        let f = f.clamp(LEAST_PROBABILITY, 1.0 - f64::EPSILON);
        f.ln() - (-f).ln_1p()
    }

    /// Learns the `reward` of the label of a block, for which `auto` forecast the log-odds `score`.
    pub(super) fn learn(&mut self, block: Features<'_>, reward: f64, score: f64) {
        let own = self.score(block);
        let log = |score: f64| sigmoid(score).max(LEAST_PROBABILITY).ln();
        let gain = |score: f64| reward * log(score) + (1.0 - reward) * log(-score);
        self.lead = (self.lead + gain(own) - gain(score)).clamp(-MOST, MOST);
        if self.rounds < FIRST_ROUNDS {
            self.squares += block.norm_squared().min(1e200);
        } else {
            let unit = self.unit();
            let square = |column: usize, value: f64| self.variances[column] * entry(unit, value).powi(2);
            let n: f64 = block.iter().map(|(column, value)| square(column, value)).sum();
            // eq. (2), with σ(z) = (1 + tanh(z/2))/2
            let near = sigmoid(shrink(own + n * (reward - 0.5), 0.5 * n));
            let (residual, curvature) = (reward - near, near * (1.0 - near));
            for (column, value) in block.iter() {
                let (value, variance) = (entry(unit, value), &mut self.variances[column]);
                self.weights[column] += residual * *variance * value;
                let square = *variance * value * value;
                let seen = curvature / (1.0 + curvature * (n - square).max(0.0));
                *variance /= 1.0 + seen * square; // eq. (3)
            }
        }
        self.rewards += reward;
        self.rounds += 1;
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::count("rounds", &mut self.rounds),
            Tensor::number("rewards", &mut self.rewards),
            Tensor::number("squares", &mut self.squares),
            Tensor::number("lead", &mut self.lead),
            Tensor::vector("weights", &mut self.weights),
            Tensor::vector("variances", &mut self.variances),
        ]
    }

    pub(super) fn is_consistent(&self) -> bool {
        (0.0..=self.rounds as f64).contains(&self.rewards)
            && self.squares >= 0.0
            && self.lead.abs() <= MOST
            && self.variances.iter().all(|variance| *variance > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    /// 16 rounds of blocks of square 4 with four rewards: o = ln(4.5/12.5). The block (0, 2) is (0, 1) in
    /// units, n = 1, and after a reward z' + σ(z') - 1 = o; the weight is 1 - σ(z'), and 1/v = 1 + h.
    #[test]
    fn rounds_by_hand() {
        let mut posterior = Posterior::new(2, None);
        let block = |column: usize| Features::Dense([&[2.0, 0.0], &[0.0, 2.0]][column]);
        for round in 0..16 {
            posterior.learn(block(0), f64::from(u8::from(round % 4 == 0)), 0.0);
        }
        let o = (4.5f64 / 12.5).ln();
        assert_close(posterior.score(block(1)), o, 1e-12, "the rate so far");
        let before = posterior.lead;
        posterior.learn(block(1), 1.0, 0.0);
        assert_close(posterior.lead - before, sigmoid(o).ln() - 0.5f64.ln(), 1e-12, "nats");
        let (weight, variance) = (posterior.weights[1], posterior.variances[1]);
        let near = 1.0 - weight;
        let z = near.ln() - (-near).ln_1p();
        assert_close(z + near - 1.0, o, 1e-9, "a proximal step");
        assert_close(1.0 / variance, 1.0 + near * (1.0 - near), 1e-9, "the variance");
        assert_eq!((posterior.weights[0], posterior.variances[0]), (0.0, 1.0), "a column that is 0");
        // Both forecasts together.
        let own = sigmoid(posterior.score(block(1)));
        let w = sigmoid(posterior.lead);
        assert_close(sigmoid(posterior.joined(block(1), 0.0)), w * own + (1.0 - w) * 0.5, 1e-12, "joined");
        assert!(posterior.is_consistent());
    }

    /// Two columns, known up to 1 each: the curvature of the round appears to one with the other unknown.
    #[test]
    fn columns_of_one_round_share_its_curvature() {
        let mut posterior = Posterior::new(2, None);
        let block = Features::Dense(&[1.0, 1.0]);
        (0..17).for_each(|_| posterior.learn(block, 0.5, 0.0));
        // q = 2, so that both squares are 1/2; z' = 0 and h = 1/4.
        let variance = 1.0 / (1.0 + 0.125 / (1.0 + 0.125));
        posterior.variances.iter().for_each(|v| assert_close(*v, variance, 1e-12, "the variance"));
        assert_eq!(posterior.weights, [0.0, 0.0]);
    }

    /// A lead is at most 20 nats, so that 20 nats and a few rounds later the other one counts again.
    #[test]
    fn a_lead_is_bounded() {
        let mut posterior = Posterior::new(1, None);
        let block = Features::Dense(&[1.0]);
        (0..1000).for_each(|_| posterior.learn(block, 0.0, 0.0));
        assert_eq!(posterior.lead, MOST);
        (0..20).for_each(|_| posterior.learn(block, 1.0, 3.0));
        assert!(posterior.lead < 0.0, "{}", posterior.lead);
    }

    /// Blocks beyond all others keep everything finite.
    #[test]
    fn huge_blocks_are_survived() {
        let mut posterior = Posterior::new(2, None);
        for round in 0..60 {
            let size = if round < 16 { 1e-3 } else { 1e100 };
            let reward = f64::from(u8::from(round % 3 == 0));
            posterior.learn(Features::Dense(&[size, -size]), reward, 0.0);
        }
        assert!(posterior.score(Features::Dense(&[1.0, 1.0])).is_finite());
        assert!(posterior.weights.iter().all(|weight| weight.is_finite()));
        assert!(posterior.is_consistent(), "{posterior:?}");
    }
}

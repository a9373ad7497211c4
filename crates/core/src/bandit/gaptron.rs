//! # Gaptron with bandit feedback
//!
//! Gaptron, where the label is revealed only by a right guess: the gradient is divided by the probability of
//! the played class, which a least rate of uniform play bounds below. Its regret is $O(\sqrt T)$ against the
//! surrogate loss, with first-order time and memory.
//!
//! ## Reference
//!
//! Dirk van der Hoeven, *Exploiting the Surrogate Gap in Online Multiclass Classification*, NeurIPS 2020,
//! arXiv:2007.12618: Algorithm 1, Theorems 4 to 6. `references.bib`: `vanderhoeven2020gaptron`; theory:
//! gaptron 1.1, 2.3.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $W_t$ | `weights` | $K \times d$, starts at 0 |
//! | $\eta$ | `rate` | learning rate |
//! | $\gamma$ | `exploration` | least rate of uniform play |
//! | $a(W, x)$ | [`Surrogate::gap`](crate::loss::gap::Surrogate::gap) | gap map |
//! | $D$ | `norm` | radius of the ball that $W$ is projected to |
//! | $X$ | `radius` | bound on $\lVert x \rVert_2$ |
//! | $p'_t$ | `distribution` | the distribution that the played class is drawn from |
//!
//! $$ s = W_t x_t, \quad \hat y = \arg\max_k s_k, \quad
//! p' = (1 - \max(a, \gamma))\ e_{\hat y} + \max(a, \gamma)\ \tfrac1K 1, \quad \tilde y \sim p', \tag{1} $$
//! $$ W_{t+1} = \Pi\big(W_t - \eta \tfrac{1[\tilde y = y]}{p'_y}\ c_t x_t^\top\big), \quad c_t = \nabla_s
//!    \ell(s, y_t), \tag{2} $$
//! $$ \text{unknown } T: \quad \gamma_t = \min(1, c/\sqrt t), \quad \eta_t = \min(\eta_{t-1}, \eta(\gamma_t,
//!    X_t)). \tag{3} $$
//!
//! With $\eta$ at most [`Surrogate::bandit_rate`](crate::loss::gap::Surrogate::bandit_rate), for every $U$ in
//! the ball: $\mathbb{E} M \le \sum_t \ell_t(U) + D^2/(2\eta) + \gamma T(K-1)/K$; with (3),
//! $2D^2/\eta_T + \sum_t \gamma_t (K-1)/K$ ([`crate::bounds::gaptron_any_horizon`]). With $\eta$ below
//! `bandit_rate`, best a quarter of it, the number of mistakes has a bound with high probability
//! ([`crate::bounds::gaptron_likely`]; theory: gaptron 3.3).
//!
//! ## Deviations
//!
//! * The theorem for logistic loss uses a lower bound on $p'_y$ that does not hold for the distribution (1).
//!   The default rate uses the correct one, $\max(\gamma, a_0)/K$ with $a_0 = (K-1)/(K-1+e^{\sqrt2DX})$.
//! * The table's $\gamma$ for logistic loss lacks $D$, and its $\gamma$ and $\eta$ for smooth hinge loss
//!   differ from the proof: the defaults are those of the proofs.
//! * If only some labels are on offer, gap map and loss are those over these $K_t$ labels; the loss of every
//!   comparator is at most that over all labels. The rates are those for $K \ge K_t$.
//! * (3) is not in the paper. $c$ is the theorem's $\gamma\sqrt T$. If `radius` is unknown, $X_t$ is the
//!   largest norm so far.
//! * The theory determines no default for $D$: `norm` is $10/X$.
//! * The theorem's rates are small; a hundred times larger ones have fewer mistakes in practice, without a
//!   guarantee.
//! * Late feedback: the gradient is taken at the scores of the decision, divided by its probability, and
//!   applied to the current weights (delayed gradient descent).
//!
//! ## Cost
//!
//! $O(K\ \mathrm{nnz}(x))$ for `predict` and for `learn` after a right guess, nothing after a wrong one;
//! memory $Kd$ numbers, allocated only for features that occur.

use std::marker::PhantomData;

use crate::algorithm::{About, Algorithm};
use crate::bounds;
use crate::example::Features;
use crate::full::gaptron::{GaptronParams, Loss, Mode};
use crate::guarantee::{Guarantee, MISS, MistakeBound, Promise, reference_norm, setting};
use crate::kernel::weights::Weights;
use crate::learner::{BanditLearner, grow, own};
use crate::param::exploration::Exploration;
use crate::param::{ParamError, positive};
use crate::prediction::{Decision, Reward};
use crate::problem::Problem;
use crate::state::state;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct BanditGaptron<L> {
    problem: Problem,
    /// $\eta$; `None`: the default for the $\gamma_t$ and $X_t$ of each round.
    rate: Option<f64>,
    exploration: Exploration,
    norm: f64,
    /// $X$; `None`: the largest norm so far.
    radius: Option<f64>,
    horizon: Option<u64>,
    weights: Weights,
    rounds: u64,
    /// The largest norm of a row so far.
    largest_norm: f64,
    /// $\eta_t$; `f64::MAX` before the first non-zero row.
    falling_rate: f64,
    /// $\sum_t \gamma_t$.
    explored: f64,
    step: Vec<f64>,
    loss: PhantomData<L>,
}

/// The scores of the labels on offer.
fn of_offered<'a>(scores: &'a [f64], offered: &'a [u32]) -> impl Iterator<Item = f64> + 'a {
    offered.iter().map(|label| scores[*label as usize])
}

impl<L: Loss> BanditGaptron<L> {
    /// $X_t$ including the row `x`; 0 if all rows were 0.
    fn radius(&self, x: Features<'_>) -> f64 {
        self.radius.unwrap_or_else(|| self.largest_norm.max(x.norm_squared().sqrt()))
    }

    /// $\gamma_t$ of round `round`.
    fn exploration(&self, x: Features<'_>, round: u64) -> f64 {
        match self.exploration {
            Exploration::Rate(rate) => rate,
            Exploration::Adaptive => {
                let scale = L::SURROGATE.exploration_scale(self.problem.classes, self.radius(x), self.norm);
                (scale / (round as f64).sqrt()).min(1.0)
            }
        }
    }

    /// The present $\eta_t$.
    pub fn rate(&self) -> f64 {
        self.rate.unwrap_or(self.falling_rate)
    }

    /// The bound on the mistakes of the labels that are drawn (theory: gaptron 3.3).
    fn drawn(&self) -> Promise<MistakeBound<'_>> {
        let (Exploration::Rate(exploration), Some(radius), Some(rate)) =
            (self.exploration, self.radius, self.rate)
        else {
            return Err("it needs a constant exploration and rate".into());
        };
        let k = self.problem.classes;
        let largest = L::SURROGATE.bandit_rate(k, radius, self.norm, exploration);
        if rate > 0.999 * largest {
            return Err(format!(
                "it needs a rate that is smaller than that of the bound on expectations, {largest:.3e}, best a quarter: rate = {:.3e}",
                0.25 * largest
            )
            .into());
        }
        let slope = L::SURROGATE.full_information_rate(k, radius) * L::SURROGATE.steepest() * radius;
        let rates = bounds::GaptronRates { rate, largest, exploration, slope };
        Ok(Box::new(move |u| {
            let setting = setting(&self.problem, u.norm, self.rounds);
            let expected = L::total(u) + bounds::gaptron_likely(&setting, self.norm, rates, 0.5 * MISS);
            bounds::drawn_mistakes(expected, 0.5 * MISS)
        }))
    }
}

impl<L: Loss> Algorithm for BanditGaptron<L> {
    type Params = GaptronParams;

    const ABOUT: About = L::ABOUT;

    fn new(params: GaptronParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        if params.mode == Some(Mode::Full) {
            let need = "bandit where only right guesses are revealed";
            return Err(ParamError::invalid("mode", "full", need));
        }
        let radius = params.radius.or(problem.radius).map(|radius| positive("radius", radius)).transpose()?;
        let problem = Problem { radius, ..problem };
        let norm = positive("norm", params.norm.unwrap_or_else(|| reference_norm(&problem)))?;
        let horizon = params.horizon.or(problem.horizon);
        let theory = match (radius, horizon) {
            (Some(radius), Some(t)) => {
                let scale = L::SURROGATE.exploration_scale(k, radius, norm);
                Exploration::Rate((scale / (t.max(1) as f64).sqrt()).min(1.0))
            }
            _ => Exploration::Adaptive,
        };
        let exploration = params.exploration.unwrap_or(theory).check()?;
        let rate = match (params.rate, exploration, radius) {
            (Some(rate), ..) => Some(positive("rate", rate)?),
            (None, Exploration::Rate(gamma), Some(radius)) => {
                let rate = L::SURROGATE.bandit_rate(k, radius, norm, gamma);
                if rate < f64::MIN_POSITIVE {
                    let need =
                        "> 0 where no rate is given: nothing else bounds the probability of the true class";
                    return Err(ParamError::invalid("exploration", gamma, need));
                }
                Some(positive("rate", rate)?)
            }
            (None, Exploration::Rate(gamma), None) if gamma == 0.0 => {
                let need = "> 0 where neither rate nor radius is given";
                return Err(ParamError::invalid("exploration", gamma, need));
            }
            _ => None,
        };
        Ok(Self {
            rate,
            exploration,
            norm,
            radius,
            horizon,
            weights: Weights::new(k, d, problem.sparse),
            rounds: 0,
            largest_norm: 0.0,
            falling_rate: f64::MAX,
            explored: 0.0,
            step: vec![0.0; k],
            problem,
            loss: PhantomData,
        })
    }

    fn params(&self) -> GaptronParams {
        GaptronParams {
            rate: self.rate,
            exploration: Some(self.exploration),
            norm: Some(self.norm),
            radius: self.radius,
            horizon: self.horizon,
            mode: Some(Mode::Bandit),
        }
    }

    own! { weights }
}

impl<L: Loss> BanditLearner for BanditGaptron<L> {
    own! { problem, rounds }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        out.start(self.problem.classes, self.rounds + 1);
        self.weights.scores(x, &mut out.scores);
        let exploration = self.exploration(x, self.rounds + 1);
        let gap = match offered {
            None => L::SURROGATE.gap(&out.scores),
            Some([_]) => 0.0,
            Some(offered) => {
                let scores = &mut out.work.0.scratch;
                scores.clear();
                scores.extend(of_offered(&out.scores, offered));
                L::SURROGATE.gap(scores)
            }
        };
        out.explore_greedily(gap.max(exploration), offered); // eq. (1)
        out.exploration = exploration;
        true
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        self.rounds += 1;
        self.explored += taken.exploration;
        if self.rate.is_none() {
            let (k, radius) = (self.problem.classes, self.radius(x));
            if radius > 0.0 {
                let rate = L::SURROGATE.bandit_rate(k, radius, self.norm, taken.exploration);
                // `rate` decreases from round to round by itself, except that late feedback may use the
                // exploration of an earlier round.
                self.falling_rate = self.falling_rate.min(rate); // eq. (3)
            }
        }
        self.largest_norm = self.largest_norm.max(x.norm_squared().sqrt());
        // At a row of zeros the gradient is 0; before any other row there is no rate.
        if !reward.is_right() || x.norm_squared() == 0.0 {
            return;
        }
        if taken.offered.is_empty() {
            L::SURROGATE.gradient(&taken.scores, taken.label as usize, &mut self.step);
        } else {
            let at = taken.offered.binary_search(&taken.label);
            // With a single label on offer the loss is 0.
            let Some(at) = at.ok().filter(|_| taken.choices() > 1) else { return };
            let scores: Vec<f64> = of_offered(&taken.scores, &taken.offered).collect();
            let mut step = vec![0.0; scores.len()];
            L::SURROGATE.gradient(&scores, at, &mut step);
            self.step.fill(0.0);
            taken.offered.iter().zip(step).for_each(|(label, step)| self.step[*label as usize] = step);
        }
        let weight = self.rate() / taken.probability;
        for step in &mut self.step {
            *step *= -weight;
        }
        let scores = (taken.round == self.rounds).then_some(&taken.scores[..]);
        self.weights.add(&self.step, x, scores);
        self.weights.project(self.norm); // eq. (2)
    }

    grow! { weights, step }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let (k, norm) = (self.problem.classes, reference_norm(&self.problem).min(self.norm));
        let bound: Promise<MistakeBound<'_>> = match (self.exploration, self.radius, self.rate) {
            (Exploration::Rate(gamma), Some(radius), Some(rate))
                if rate <= L::SURROGATE.bandit_rate(k, radius, self.norm, gamma) * (1.0 + 1e-12) =>
            {
                Ok(Box::new(move |u| {
                    let setting = setting(&self.problem, u.norm, self.rounds);
                    L::total(u) + bounds::gaptron(&setting, rate, gamma)
                }))
            }
            (Exploration::Rate(_), Some(_), Some(_)) => Err("the rate is larger than the theorem's".into()),
            (_, _, None) => Ok(Box::new(move |u| {
                L::total(u) + bounds::gaptron_any_horizon(k, self.norm, self.falling_rate, self.explored)
            })),
            _ => {
                Err("it needs the default rate where exploration is adaptive or the radius is not known"
                    .into())
            }
        };
        Some(Guarantee::Mistakes { norm, bound, drawn: Some(self.drawn()) })
    }
}

state! {
    BanditGaptron<L>, L: Loss; weights;
    number largest_norm, number falling_rate, number explored, count rounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::full::gaptron::{Hinge, Logistic, Smooth};
    use crate::testing::{assert_unbiased, unit_rows};

    fn gaptron<L: Loss>(params: GaptronParams, problem: Problem) -> BanditGaptron<L> {
        BanditGaptron::new(params, problem, 0).expect("valid parameters")
    }

    /// K = 2, X = D = 1, γ = 1/2, smooth: η = γ/(4K²X²) = 1/32. At W = 0 play is uniform; m = 0, h = 2,
    /// importance weight 2: a right guess of class 0 at x = 1 gives W = (1/32)·2·2·(1, -1) = (1/8, -1/8). The
    /// margin 1/4 gives a = 9/16 > γ. A wrong guess changes nothing.
    #[test]
    fn smooth_by_hand() {
        let params = GaptronParams::new().exploration(Exploration::Rate(0.5)).norm(1.0);
        let mut learner = gaptron::<Smooth>(params, Problem::new(2, 1).with_radius(1.0));
        let x = Features::Dense(&[1.0]);
        let mut at = Decision::default();
        for (wrong, right) in [(1, 0), (0, 1)] {
            learner.predict(x, &mut at);
            assert_eq!(at.distribution, [0.5, 0.5]);
            (at.label, at.probability) = (wrong, 0.5);
            learner.learn(x, &at, false.into());
            learner.predict(x, &mut at);
            assert_eq!(at.scores, [0.0; 2]);
            if right == 0 {
                (at.label, at.probability) = (0, 0.5);
                let mut taught = learner.clone();
                taught.learn(x, &at, true.into());
                taught.predict(x, &mut at);
                assert_eq!(at.scores, [0.125, -0.125]);
                assert_eq!(at.distribution, [1.0 - 9.0 / 32.0, 9.0 / 32.0]);
                assert_eq!(at.exploration, 0.5);
            }
        }
    }

    /// The mean of the step over the played label is that of full information.
    #[test]
    fn the_step_is_unbiased() {
        fn check<L: Loss>() {
            let rate = 0.2;
            let params = GaptronParams::new().exploration(Exploration::Rate(0.2)).rate(rate).norm(1e6);
            assert_unbiased(gaptron::<L>(params, Problem::new(4, 3)), |at, y| {
                let mut step = vec![0.0; 4];
                L::SURROGATE.gradient(&at.scores, y, &mut step);
                step.iter_mut().for_each(|step| *step *= -rate);
                step
            });
        }
        check::<Logistic>();
        check::<Hinge>();
        check::<Smooth>();
    }

    /// The rate never increases, and never exceeds the default for the largest norm so far.
    #[test]
    fn without_a_horizon_rates_fall() {
        fn check<L: Loss>() {
            let mut learner = gaptron::<L>(GaptronParams::default(), Problem::new(3, 2));
            assert_eq!((learner.rate, learner.exploration), (None, Exploration::Adaptive));
            let (mut at, mut last, mut largest) = (Decision::default(), f64::MAX, 0.0f64);
            for (t, unit) in unit_rows(3, 20_000, 2).iter().enumerate() {
                let length = if t < 100 { 0.1 } else { 2.0 };
                let row: Vec<f64> = unit.iter().map(|x| length * x).collect();
                largest = largest.max(length);
                let x = Features::Dense(&row);
                learner.predict(x, &mut at);
                at.draw((t as f64 * 0.618).fract());
                learner.learn(x, &at, (at.label == u32::from(row[0] > 0.0)).into());
                let allowed = L::SURROGATE.bandit_rate(3, largest, learner.norm, at.exploration);
                assert!(learner.rate() <= allowed * (1.0 + 1e-9) && learner.rate() <= last);
                last = learner.rate();
            }
            assert!(at.exploration < 1.0, "{}", at.exploration);
        }
        check::<Logistic>();
        check::<Hinge>();
        check::<Smooth>();
    }

    #[test]
    fn the_mode_of_full_information_is_refused() {
        let params = GaptronParams::new().mode(Mode::Full);
        let error = BanditGaptron::<Hinge>::new(params, Problem::new(3, 2), 0).expect_err("the other mode");
        assert_eq!(error.to_string(), "mode = full: must be bandit where only right guesses are revealed");
    }
}

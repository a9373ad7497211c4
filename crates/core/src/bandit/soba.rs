//! # SOBA: the second-order bandit algorithm
//!
//! The second-order Perceptron with bandit feedback: plays the best class, mixed with a uniformly random one,
//! and learns only from right guesses. Its regret is $\tilde O(\sqrt T)$ against all members of a family of
//! losses between hinge and squared hinge.
//!
//! ## Reference
//!
//! Alina Beygelzimer, Francesco Orabona, Chicheng Zhang, *Efficient Online Bandit Multiclass Learning with
//! Õ(√T) Regret*, ICML 2017: Algorithm 1, Theorems 2, 4 and 5. `references.bib`: `beygelzimer2017soba`;
//! theory: bandit 2.1, 2.3, 2.4.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $W_t = A_t^{-1}\theta_t$ | `model` | [`SecondOrderMargin`] |
//! | $a$ | `regularization` | $A_0 = aI$ |
//! | $\gamma_t$ | `exploration` | rate of uniform play |
//! | $\hat y_t, \tilde y_t, \bar y_t$ | `greedy`, `label` | best class, played class, best class other than $y_t$ |
//! | $n_t$ | | whether round $t$ updates |
//! | $S_q$ | [`SecondOrderMargin::quadratics`] | $\sum n_s z_s^\top A_s^{-1} z_s$ |
//!
//! $$ \hat y = \arg\max_k (Wx)_k, \quad p = (1 - \gamma_t)\ e_{\hat y} + \tfrac{\gamma_t}{K} 1, \quad
//!    \gamma_t = \gamma \ \text{or}\ \min(1, \sqrt{K(1 + S_q)/t}), \tag{1} $$
//! $$ \text{if } \tilde y = y:\quad g = \tfrac{1}{p_y}(e_{\bar y} - e_y) \otimes x, \quad z = \sqrt{p_y}\ g,
//!    \quad
//!    m = \frac{\langle W, z \rangle^2 + 2\langle W, g \rangle}{1 + z^\top A^{-1} z}, \tag{2} $$
//! $$ n = 1 \text{ iff } \textstyle\sum_{s<t} n_s m_s + m \ge 0; \qquad A \mathrel{+}= n z z^\top, \quad
//!    \theta \mathrel{-}= n g. \tag{3} $$
//!
//! For a fixed $\gamma$, every $U$ and every $0 < \eta \le \min(1, 2/(2X\max_k \lVert U_k \rVert + 1))$, with
//! $L_\eta$ its total $\eta$-loss, $\mathbb{E}M \le L_\eta + \frac{a\eta}{2-\eta}\lVert U \rVert^2 +
//! \frac{K}{\gamma\eta(2-\eta)}\mathbb{E}S_q + \gamma T$, and $S_q \le dK\ln(1 + 2X^2T/(adK))$ (Theorem 2).
//! The algorithm depends neither on $\eta$ nor on $U$. Theorem 4 is a bound of the same form against the
//! hinge loss, Theorem 5 one for adaptive $\gamma_t$: [`crate::bounds::soba_hinge`],
//! [`crate::bounds::soba_adaptive`].
//!
//! ## Deviations
//!
//! * $A^{-1}$ is updated; $m$ uses $A$ before the round and $S_q$ uses $A$ after it, as the proofs do.
//! * `soba-diag` keeps the diagonal of $A$ and has no theorem; [`soba-sketch`](super::soba_sketch) keeps a
//!   sketch.
//! * The theorem's rate is the default, adaptive if $T$ is unknown; on real data much smaller rates (about 1
//!   %) have fewer mistakes.
//! * If only some labels are on offer, $\bar y$ and uniform play are restricted to them: the right label, if
//!   it is on offer, is played with probability at least $\gamma/K_t \ge \gamma/K$, as the proof requires.
//! * Late feedback is learnt as if the row came now: $\bar y$, $m$ and $z$ with the current weights and the
//!   probability of the decision, so that $\sum n m \ge 0$ remains true.
//! * Learners merge by adding $A$, $\theta$, $\sum n m$, $S_q$ and their rounds (theory: bandit 2.5).
//!
//! ## Cost
//!
//! `predict` $2K\ \mathrm{nnz}(x)$ flops. `learn` after a right guess, full: $4Kd^2$ for $m$ and $K^2d^2$
//! (with delayed updates) to update, memory $K^2d^2$ numbers. Diagonal: $O(K + \mathrm{nnz}(x))$, memory
//! $3Kd$ numbers, allocated only for features that occur. A wrong guess costs nothing.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::Features;
use crate::full::second_order_margin::{Metric, PlainMetric, SecondOrderMargin};
use crate::guarantee::{Guarantee, MistakeBound, Promise, reference_norm, setting};
use crate::learner::{Accepts, BanditLearner, Classes, grow, own};
use crate::loss::hinge::{eta_loss, hinge};
use crate::merge::{self, Merge, MergeError};
use crate::param::exploration::Exploration;
use crate::param::{ParamError, invertible};
use crate::params;
use crate::prediction::{Decision, Reward};
use crate::problem::Problem;
use crate::state::state;

params! {
    /// Parameters of [`Soba`].
    pub struct SobaParams {
        /// Rate $\gamma$ of uniform play: a number in [0, 1] or `adaptive`.
        exploration: Exploration = "min(1, classes sqrt(features ln(horizon) / horizon)); adaptive if the horizon is unknown",
        /// Start $a$ of the diagonal of $A$, > 0.
        regularization: f64 = "radius^2",
        /// Bound $X$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Number of rounds $T$, >= 1, for the default exploration.
        horizon: u64 = "the stream's, if known",
    }
}

/// The description of the learner with the full matrix.
const FULL: About = About {
    name: "soba",
    summary: "second-order bandit learner of margins: the second-order Perceptron, which sees only whether it was right",
    paper: Paper { key: "beygelzimer2017soba", place: "Algorithm 1, Theorem 2" },
    guarantee: "expected mistakes <= L_eta + a eta/(2 - eta) |U|^2 + d K^2 ln(1 + 2 X^2 T/(a d K))/(gamma eta (2 - eta)) + gamma T, every U",
    cost: "4 K d^2 + K^2 d^2 flops a right guess",
    memory: "K^2 d^2 numbers",
    forecast: Forecast::RandomisedLabel,
    accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
};

/// The same with its diagonal.
const DIAGONAL: About = About {
    name: "soba-diag",
    summary: "SOBA with a diagonal matrix, for many features",
    guarantee: "none: the theorem is about the full matrix",
    cost: "2 K nnz(x) flops a round",
    memory: "3 K d numbers",
    ..FULL
};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Soba<M> {
    problem: Problem,
    radius: f64,
    regularization: f64,
    exploration: Exploration,
    horizon: Option<u64>,
    model: SecondOrderMargin<M>,
    rounds: u64,
    /// The number of merged learners: 1 if none were merged.
    parts: u64,
    /// Buffer for the current scores, if the decision is outdated.
    scores: Vec<f64>,
}

impl<M: Metric> Soba<M> {
    /// The learner whose $A$ is made by `matrix`, for given numbers of classes and features and $a$.
    pub(crate) fn with_matrix(
        params: SobaParams,
        problem: Problem,
        matrix: impl FnOnce(usize, usize, f64) -> M,
    ) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        let radius = problem.resolve_radius(params.radius)?;
        let regularization = params.regularization.unwrap_or(radius * radius);
        // The diagonal form divides by sums of squares one by one.
        let full = if M::HAS_THEOREM { radius } else { 0.0 };
        let regularization = invertible("regularization", regularization, full)?;
        let horizon = params.horizon.or(problem.horizon);
        let theory = horizon.map_or(Exploration::Adaptive, |t| {
            let t = t.max(2) as f64;
            Exploration::Rate((k as f64 * (d as f64 * t.ln() / t).sqrt()).min(1.0))
        });
        Ok(Self {
            problem: Problem { radius: Some(radius), ..problem },
            radius,
            regularization,
            exploration: params.exploration.unwrap_or(theory).check()?,
            horizon,
            model: SecondOrderMargin::of(matrix(k, d, regularization)),
            rounds: 0,
            parts: 1,
            scores: vec![0.0; k],
        })
    }

    /// The sums of the states of `parts`, which were checked to be equal in everything else, as a learner for
    /// `problem`.
    pub(crate) fn merged(parts: &[&Self], problem: Problem, how: Merge) -> Result<Self, MergeError> {
        let Self { radius, regularization, exploration, .. } = *parts[0];
        let models: Vec<&SecondOrderMargin<M>> = parts.iter().map(|part| &part.model).collect();
        let horizons = parts.iter().map(|part| part.horizon);
        Ok(Self {
            radius,
            regularization: how.regularization(regularization, parts.len()),
            exploration,
            horizon: horizons.reduce(|a, b| Some(a?.saturating_add(b?))).flatten(),
            model: SecondOrderMargin::merged(&models, how)?,
            rounds: parts.iter().map(|part| part.rounds).sum(),
            parts: parts.iter().map(|part| part.parts).sum(),
            scores: vec![0.0; problem.classes],
            problem,
        })
    }

    /// The parameters in use.
    pub(crate) fn values(&self) -> SobaParams {
        SobaParams {
            exploration: Some(self.exploration),
            regularization: Some(self.regularization),
            radius: Some(self.radius),
            horizon: self.horizon,
        }
    }

    /// The weights and the sums that the bound needs.
    pub fn model(&self) -> &SecondOrderMargin<M> {
        &self.model
    }

    /// $\gamma_t$ of round `round`.
    fn rate(&self, round: u64) -> f64 {
        match self.exploration {
            Exploration::Rate(rate) => rate,
            Exploration::Adaptive => {
                let sum = self.problem.classes as f64 * (1.0 + self.model.quadratics());
                (sum / round as f64).sqrt().min(1.0)
            }
        }
    }
}

impl<M: PlainMetric> Algorithm for Soba<M> {
    type Params = SobaParams;

    const ABOUT: About = if M::HAS_THEOREM { FULL } else { DIAGONAL };

    fn new(params: SobaParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        Self::with_matrix(params, problem, M::new)
    }

    fn params(&self) -> SobaParams {
        self.values()
    }

    fn numbers(problem: &Problem) -> usize {
        M::numbers(problem.classes, problem.features)
    }

    fn numbers_at_first(_params: &Self::Params, problem: &Problem) -> usize {
        M::numbers_at_first(problem.classes, problem.features)
    }

    /// The sum of all $A$ and $\theta$, and of the other sums (theory: bandit 2.5).
    fn merge(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        let (_, problem) = merge::check(parts, BanditLearner::problem)?;
        Self::merged(parts, problem, how)
    }
}

impl<M: Metric> BanditLearner for Soba<M> {
    own! { problem, rounds }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        out.start(self.problem.classes, self.rounds + 1);
        self.model.scores(x, &mut out.scores);
        out.explore_greedily(self.rate(self.rounds + 1), offered); // eq. (1)
        true
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        self.rounds += 1;
        // With a single label on offer there is no $\bar y$.
        if !reward.is_right() || taken.choices() == 1 {
            return;
        }
        if taken.round == self.rounds {
            self.scores.clone_from(&taken.scores);
        } else {
            self.model.scores(x, &mut self.scores);
        }
        if !taken.offered.is_empty() {
            for (label, score) in (0u32..).zip(&mut self.scores) {
                if taken.offered.binary_search(&label).is_err() {
                    *score = f64::NEG_INFINITY;
                }
            }
        }
        self.model.learn(x, &self.scores, taken.label as usize, taken.probability); // eq. (2), (3)
    }

    grow! { model, scores }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        if !M::HAS_THEOREM {
            return None;
        }
        let bound: Promise<MistakeBound<'_>> = match self.exploration {
            _ if self.parts > 1 => {
                Err("models were merged, and the theorem's closed form is about one learner".into())
            }
            Exploration::Rate(0.0) => Err("exploration is 0".into()),
            exploration => Ok(Box::new(move |u| {
                let (a, setting) = (self.regularization, setting(&self.problem, u.norm, self.rounds));
                let eta = bounds::second_order_perceptron_eta(u.largest_row, self.radius);
                let losses = u.total(|margin| eta_loss(margin, eta));
                // The bounds are on expectations; the sum of this run is a random sample of one.
                let quadratics = bounds::second_order_perceptron_log(&setting, a);
                match exploration {
                    Exploration::Adaptive => bounds::soba_adaptive(&setting, losses, eta, a, quadratics),
                    // Theorems 2 and 4 hold both: the smaller bound.
                    Exploration::Rate(gamma) => bounds::soba(&setting, losses, eta, a, gamma, quadratics)
                        .min(bounds::soba_hinge(&setting, u.total(hinge), a, gamma, quadratics)),
                }
            })),
        };
        Some(Guarantee::Mistakes { norm: reference_norm(&self.problem), bound, drawn: None })
    }
}

state! { Soba<M>, M: Metric; model; count rounds, count parts }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::full::second_order_margin::{DiagonalMetric, FullMetric};
    use crate::rng::Rng;
    use crate::testing::{assert_close, linear_weights, quadratic, unit_rows};

    /// Plays `rounds` rounds of noisy linear labels, with feedback `delay` rounds late and in reversed
    /// blocks; `check` is called after every update with the learner, the row, the decision, and whether it
    /// was right.
    fn run<M: PlainMetric>(
        params: SobaParams,
        (k, d): (usize, usize),
        rounds: usize,
        delay: usize,
        mut check: impl FnMut(&Soba<M>, &[f64], &Decision, usize, u64),
    ) {
        let mut learner = Soba::<M>::new(params, Problem::new(k, d), 0).expect("valid parameters");
        let mut rng = Rng::new(5, 0);
        let mut at = Decision::default();
        let mut pending = Vec::new();
        for (t, x) in unit_rows(2, rounds, d).into_iter().enumerate() {
            let y = if rng.below(10) == 0 { rng.below(k as u64) as usize } else { usize::from(x[0] > 0.0) };
            learner.act(Features::Dense(&x), &mut rng, &mut at);
            pending.push((x, at.clone(), y));
            if (t + 1) % (delay + 1) == 0 {
                while let Some((x, taken, y)) = pending.pop() {
                    let updates = learner.model().updates();
                    learner.learn(Features::Dense(&x), &taken, (taken.label as usize == y).into());
                    check(&learner, &x, &taken, y, learner.model().updates() - updates);
                }
            }
        }
    }

    fn params(exploration: Exploration) -> SobaParams {
        SobaParams::new().exploration(exploration).regularization(0.7)
    }

    /// The sum of margins is never negative, W is A⁻¹θ with columns of sum 0, wrong guesses change nothing,
    /// right guesses of a class that was not greedy always update, and θᵀA⁻¹θ <= Σ gᵀA_t⁻¹g in every run,
    /// also if feedback is late and out of order.
    #[test]
    fn facts_of_the_full_version() {
        let (k, d, a) = (3, 3, 0.7);
        let n = k * d;
        for (exploration, delay) in
            [(Exploration::Rate(0.4), 0), (Exploration::Adaptive, 0), (Exploration::Rate(0.4), 6)]
        {
            let mut matrix: Vec<f64> = (0..n * n).map(|at| if at % (n + 1) == 0 { a } else { 0.0 }).collect();
            let (mut theta, mut sum, mut updates, mut before) = (vec![0.0; n], 0.0, 0, vec![0.0; n]);
            run::<FullMetric>(params(exploration), (k, d), 300, delay, |learner, x, taken, y, updated| {
                let w = linear_weights(learner);
                let right = taken.label as usize == y;
                assert!(learner.model().margins() >= 0.0);
                assert!(right || updated == 0, "a wrong guess updated");
                assert!(
                    !right || updated == 1 || delay > 0 || taken.greedy as usize == y,
                    "no update after a right guess"
                );
                if updated == 1 {
                    updates += 1;
                    // ȳ by the weights before the update, which determined the update of θ.
                    let scores: Vec<f64> =
                        (0..k).map(|c| (0..d).map(|i| before[i * k + c] * x[i]).sum()).collect();
                    let rival = crate::loss::hinge::margin(&scores, y).rival;
                    let mut g = vec![0.0; n];
                    for i in 0..d {
                        g[i * k + rival] = x[i] / taken.probability;
                        g[i * k + y] = -x[i] / taken.probability;
                    }
                    for i in 0..n {
                        theta[i] -= g[i];
                        for j in 0..n {
                            matrix[i * n + j] += taken.probability * g[i] * g[j];
                        }
                    }
                    sum += quadratic(&matrix, &g);
                    // W = A⁻¹θ: AW = θ.
                    for i in 0..n {
                        let row: f64 = (0..n).map(|j| matrix[i * n + j] * w[j]).sum();
                        assert_close(row, theta[i], 1e-9, "AW = θ");
                    }
                    assert!(quadratic(&matrix, &theta) <= sum * (1.0 + 1e-9), "the pathwise inequality");
                }
                for column in w.chunks_exact(k) {
                    assert!(column.iter().sum::<f64>().abs() < 1e-10, "columns of W have sum 0");
                }
                before = w;
            });
            assert!(updates > 30, "{updates}");
        }
    }

    /// The mean of n z zᵀ over the played label is the outer product of (e_ȳ - e_y) ⊗ x: z has the factor
    /// p^{-1/2} with probability p.
    #[test]
    fn learning_is_weighted_by_the_inverse_probability() {
        let (k, d, a) = (3, 2, 2.0);
        let learner = Soba::<FullMetric>::new(
            SobaParams::new().exploration(Exploration::Rate(0.6)).regularization(a),
            Problem::new(k, d),
            0,
        );
        let learner = learner.expect("valid parameters");
        let x = [0.6, 0.8];
        let mut at = Decision::default();
        for y in 0..k {
            learner.predict(Features::Dense(&x), &mut at);
            let p = at.distribution[y];
            let mut expected = 0.0;
            for label in 0..k {
                (at.label, at.probability) = (label as u32, at.distribution[label]);
                let mut after = learner.clone();
                after.learn(Features::Dense(&x), &at, (label == y).into());
                // z'A⁻¹z = 2/(ap), and n z'A_t⁻¹z = S/(1 + S).
                let s = after.model().quadratics();
                expected += at.probability * (s / (1.0 - s));
            }
            assert_close(expected, 2.0 / a, 1e-12, &format!("class {y}, p = {p}"));
        }
    }

    /// γ_1 = 1, and γ_t remains 1 while t <= K (1 + S_q).
    #[test]
    fn adaptive_exploration_starts_at_one() {
        let (mut ones, mut last) = (0, 1.0);
        run::<DiagonalMetric>(params(Exploration::Adaptive), (3, 4), 4000, 0, |_, _, taken, _, _| {
            ones += usize::from(taken.exploration == 1.0);
            last = taken.exploration;
        });
        assert!((3..3900).contains(&ones) && last < 1.0, "{ones} rounds of uniform play, then {last}");
    }
}

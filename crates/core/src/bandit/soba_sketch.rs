//! # SOBA-sketch: the second-order bandit algorithm with a sketched matrix
//!
//! [SOBA](super::soba) with a sketch of the matrix, so that time and memory are linear in the number of
//! features.
//!
//! ## Reference
//!
//! Alina Beygelzimer, Francesco Orabona, Chicheng Zhang, *Efficient Online Bandit Multiclass Learning with
//! Õ(√T) Regret*, ICML 2017: Algorithm 1, with the *frequent directions* of Mina Ghashami, Edo Liberty,
//! Jeff M. Phillips, David P. Woodruff, *Frequent Directions: Simple and Deterministic Matrix Sketching*,
//! SIAM Journal on Computing 45 (2016), Algorithm 2. The combination is not in the papers. `references.bib`:
//! `beygelzimer2017soba`, `ghashami2016frequent`; theory: sketches 4.1, 4.2, 4.3, 4.4.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $a, \gamma_t$ | `regularization`, `exploration` | as in [SOBA](super::soba) |
//! | $m$ | `rank` | rows of the sketch after it shrinks; at most $2m - 1$ |
//! | $A = aI + \mathcal S^\top \mathcal S$ | `sketch` | sketch of $aI + \sum n z z^\top$ |
//! | $\theta$ | `sketch` | $W = A^{-1}\theta$, kept with the matrix |
//! | $c$ | `solved` | $(aI + \mathcal S \mathcal S^\top)^{-1} \mathcal S \theta$ |
//! | $u$ | `row` | $(e_{\bar y} - e_y) \otimes x$ |
//!
//! With $g = u/p$ and $z = u/\sqrt p$ a round is that of [SOBA](super::soba), where
//!
//! $$ W = \tfrac1a (\theta - \mathcal S^\top c), \qquad c = (aI + \mathcal S \mathcal S^\top)^{-1} \mathcal S
//!    \theta, \tag{1} $$
//! $$ u^\top A^{-1} u = \tfrac1a \bigl(2 \lVert x \rVert^2 - (\mathcal S u)^\top (aI + \mathcal S \mathcal
//!    S^\top)^{-1} \mathcal S u\bigr), \tag{2} $$
//! $$ \theta \mathrel{-}= n\tfrac1p u, \qquad \mathcal S \text{ gets the row } n \tfrac{1}{\sqrt p} u^\top,
//!    \tag{3} $$
//!
//! and when $\mathcal S$ shrinks, the part $D$ of $A$ that is lost is subtracted about $W$, which stays:
//! $\theta \mathrel{-}= DW$.
//!
//! For a fixed $\gamma$ the bound of SOBA's Theorem 2 holds with the sum $S_q = \sum n z^\top A^{-1} z$ of
//! the sketched matrices (theory: sketches 4.2), for every $U$ and every
//! $0 < \eta \le \min(1, 2/(2X\max_k \lVert U_k \rVert + 1))$:
//!
//! $$ \mathbb{E}M \le L_\eta + \tfrac{a\eta}{2-\eta}\lVert U \rVert^2 + \tfrac{K}{\gamma\eta(2-\eta)}
//!    \mathbb{E}S_q + \gamma T, \tag{4} $$
//!
//! and that of Theorem 5 for adaptive $\gamma_t$. How large $S_q$ becomes depends on what the sketch
//! discards, which is known only as it occurs, so that there is no bound in closed form.
//!
//! ## Deviations
//!
//! * The sketch shrinks as soon as its $2m$ rows are in use.
//! * Exploration is adaptive by default, which needs no bound on $S_q$ beforehand; on real data a small rate
//!   has fewer mistakes.
//! * A number that is the result of rounding in (1) or (2) is replaced by 0.
//! * Labels on offer and late feedback are treated as in [SOBA](super::soba). With `rank` at least the
//!   dimension of the span of all $u$ it is SOBA with the full matrix.
//!
//! ## Cost
//!
//! `predict` $O(mK\ \mathrm{nnz}(x))$, `learn` after a right guess $O(mK\ \mathrm{nnz}(x) + m^2)$. After
//! every $m$ updates the sketch shrinks, in $O(m^2 K)$ for each feature that has occurred and $O(m^3)$:
//! amortised $O(mK)$ an update and feature. Memory $(2m + 1)K$ numbers for every feature that has occurred in
//! an update. A wrong guess costs nothing.

use super::soba::{Soba, SobaParams};
use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::example::Features;
use crate::full::second_order_margin::{Metric, Pair, SecondOrderMargin, Step};
use crate::guarantee::{Guarantee, reference_norm};
use crate::hand_on;
use crate::kernel::sketched_inverse::SketchedInverse;
use crate::learner::{Accepts, BanditLearner, Classes, own};
use crate::merge::{self, Merge, MergeError};
use crate::param::exploration::Exploration;
use crate::param::{ParamError, checked_rank};
use crate::params;
use crate::prediction::{Decision, Reward};
use crate::problem::Problem;
use crate::state::{Tensor, state};

params! {
    /// Parameters of [`SobaSketch`].
    pub struct SobaSketchParams {
        /// Number $m$ of rows that the sketch keeps when it shrinks, from 1 to 1000.
        rank: u64 = "10",
        /// Rate $\gamma$ of uniform play: a number in [0, 1] or `adaptive`.
        exploration: Exploration = "adaptive",
        /// Start $a$ of the diagonal of $A$, > 0.
        regularization: f64 = "radius^2",
        /// Bound $X$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
    }
}

/// A sketch of $A$, and $\theta$.
#[derive(Clone, Debug)]
pub struct SketchedMetric {
    rank: usize,
    sketch: SketchedInverse,
    /// $c$, with a number for each row of $\mathcal S$ in use.
    solved: Vec<f64>,
    /// Products of the row, then $\mathcal S u$, its solution, and the coefficients of $u$ and of its
    /// multiple.
    seen: Vec<f64>,
    image: Vec<f64>,
    row: Vec<f64>,
    multiple: Vec<f64>,
}

impl SketchedMetric {
    fn new(rank: usize, classes: usize, features: usize, regularization: f64) -> Self {
        let sketch = SketchedInverse::new(rank, classes, 1, features, regularization);
        Self {
            rank,
            seen: vec![0.0; sketch.width()],
            sketch,
            solved: Vec::with_capacity(2 * rank),
            image: vec![0.0; 4 * rank],
            row: vec![0.0; classes],
            multiple: vec![0.0; classes],
        }
    }

    /// $\sum \delta$: the matrix is at most this much smaller than the exact one, in every direction.
    pub fn discarded(&self) -> f64 {
        self.sketch.discarded()
    }

    /// Computes $c$.
    fn solve(&mut self) {
        self.solved.clear();
        self.solved.extend_from_slice(self.sketch.product(0));
        self.sketch.solve(&mut self.solved); // eq. (1)
    }
}

impl Metric for SketchedMetric {
    const HAS_THEOREM: bool = true;

    fn scores(&self, x: Features<'_>, scores: &mut [f64]) {
        self.sketch.applied_by_block(0, &self.solved, x, scores); // eq. (1)
    }

    fn quadratic(&mut self, x: Features<'_>, Pair { label, rival }: Pair) -> f64 {
        let sketch = &self.sketch;
        sketch.project(x, &mut self.seen);
        let used = sketch.used();
        let (image, solved) = self.image.split_at_mut(2 * self.rank);
        let (image, solved) = (&mut image[..used], &mut solved[..used]);
        let (mine, other) = (sketch.image(&self.seen, label), sketch.image(&self.seen, rival));
        for (image, (mine, other)) in image.iter_mut().zip(mine.iter().zip(other)) {
            *image = other - mine;
        }
        solved.copy_from_slice(image);
        sketch.solve(solved);
        sketch.quadratic(2.0 * x.norm_squared(), image, solved) // eq. (2)
    }

    fn largest_quadratic(&self, x: Features<'_>) -> f64 {
        2.0 * x.norm_squared() / self.sketch.regularization()
    }

    fn step(&mut self, x: Features<'_>, Pair { label, rival }: Pair, Step { probability, .. }: Step) {
        self.row.fill(0.0);
        (self.row[rival], self.row[label]) = (1.0, -1.0);
        self.multiple.iter_mut().zip(&self.row).for_each(|(multiple, r)| *multiple = -r / probability);
        self.sketch.add(&self.multiple, x, &mut self.seen); // eq. (3)
        self.sketch.append(&self.row, 1.0 / probability, x, &mut self.seen); // eq. (3)
        self.sketch.shrink_about_minimum();
        self.solve();
    }

    fn grow(&mut self, classes: usize, features: usize) {
        self.sketch.grow(classes, 1, features);
        self.seen = vec![0.0; self.sketch.width()];
        (self.row, self.multiple) = (vec![0.0; classes], vec![0.0; classes]);
    }

    fn merged(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        let sketches: Vec<&SketchedInverse> = parts.iter().map(|part| &part.sketch).collect();
        let mut merged = parts[0].clone();
        (merged.sketch, _) = SketchedInverse::merged(&sketches, |one, parts| how.regularization(one, parts));
        merged.solve();
        Ok(merged)
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        Vec::from(self.sketch.tensors())
    }

    fn restored(&mut self) -> bool {
        let valid = self.sketch.restored();
        if valid {
            self.solve();
        }
        valid
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SobaSketch {
    rank: usize,
    soba: Soba<SketchedMetric>,
}

impl SobaSketch {
    /// The weights and the sums that the bound needs.
    pub fn model(&self) -> &SecondOrderMargin<SketchedMetric> {
        self.soba.model()
    }
}

impl Algorithm for SobaSketch {
    type Params = SobaSketchParams;

    const ABOUT: About = About {
        name: "soba-sketch",
        summary: "SOBA with a sketched matrix, for many correlated features",
        paper: Paper { key: "beygelzimer2017soba", place: "Algorithm 1, with frequent directions" },
        guarantee: "none in closed form: SOBA's bounds hold with the sum of the quadratic forms of the sketched matrices, as it occurs",
        cost: "4 m K nnz(x) flops a round, and 6 m K for every feature seen after a right guess",
        memory: "(2 m + 1) K numbers a feature seen",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn new(params: SobaSketchParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let rank = checked_rank(params.rank)?;
        let shared = SobaParams {
            exploration: Some(params.exploration.unwrap_or(Exploration::Adaptive)),
            regularization: params.regularization,
            radius: params.radius,
            horizon: None,
        };
        let soba = Soba::with_matrix(shared, problem, |classes, features, regularization| {
            SketchedMetric::new(rank, classes, features, regularization)
        })?;
        Ok(Self { rank, soba })
    }

    fn params(&self) -> SobaSketchParams {
        let SobaParams { exploration, regularization, radius, .. } = self.soba.values();
        SobaSketchParams { rank: Some(self.rank as u64), exploration, regularization, radius }
    }

    own! { numbers }

    fn numbers_for(params: &SobaSketchParams, problem: &Problem) -> usize {
        let rank = checked_rank(params.rank).unwrap_or(1);
        SketchedInverse::numbers(rank, problem.classes, 1, problem.features)
    }

    fn numbers_at_first(params: &SobaSketchParams, _problem: &Problem) -> usize {
        SketchedInverse::numbers_at_first(checked_rank(params.rank).unwrap_or(1), 1)
    }

    /// A sketch of the sum of all $A$, and the other sums (theory: sketches 4.4).
    fn merge(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        let (first, problem) = merge::check(parts, BanditLearner::problem)?;
        let shared: Vec<&Soba<SketchedMetric>> = parts.iter().map(|part| &part.soba).collect();
        Ok(Self { rank: first.rank, soba: Soba::merged(&shared, problem, how)? })
    }
}

impl BanditLearner for SobaSketch {
    hand_on! { self.soba;
        fn problem(&self) -> &Problem;
        fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool;
        fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward);
        fn rounds(&self) -> u64;
        fn grow(&mut self, classes: usize, features: usize) -> bool;
    }

    /// None in closed form: how large $S_q$ of (4) becomes is known only as it occurs.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let bound = Err("what the sketch discards is known only as it occurs".into());
        Some(Guarantee::Mistakes { norm: reference_norm(self.problem()), bound, drawn: None })
    }
}

state! { SobaSketch; soba; }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::full::second_order_margin::FullMetric;
    use crate::kernel::vector::dot;
    use crate::loss::hinge::margin;
    use crate::rng::{Rng, Uniforms};
    use crate::testing::{assert_all_close, assert_close, unit_rows};

    fn learner(params: SobaSketchParams, classes: usize, features: usize) -> SobaSketch {
        SobaSketch::new(params, Problem::new(classes, features), 0).expect("valid parameters")
    }

    /// Always returns the same number.
    struct Given(f64);

    impl Uniforms for Given {
        fn uniform(&mut self) -> f64 {
            self.0
        }
    }

    /// K = 2, d = 1, a = 1, γ = 1, x = 1, label 0, p = 1/2, m = 1. Round 1: u = (-1, 1), Q = 2, so that
    /// S_q = 2/(1/2 + 2) = 4/5. Then A = I + 2uuᵀ, θ = -2u, Au = 5u, and W = -2u/5 = (2/5, -2/5).
    #[test]
    fn one_round_by_hand() {
        let params = SobaSketchParams::new().rank(1).exploration(Exploration::Rate(1.0)).regularization(1.0);
        let mut learner = learner(params, 2, 1);
        let x = Features::Dense(&[1.0]);
        let mut at = Decision::default();
        learner.act(x, &mut Given(0.3), &mut at);
        assert_eq!((at.label, at.probability), (0, 0.5));
        learner.learn(x, &at, Reward::RIGHT);
        assert_close(learner.model().quadratics(), 0.8, 1e-15, "S_q");
        learner.predict(x, &mut at);
        assert_close(at.scores[0], 0.4, 1e-15, "class 0");
        assert_close(at.scores[1], -0.4, 1e-15, "class 1");
    }

    /// With as many rows as dimensions it is SOBA, also if feedback is late: the $u$ span $(K - 1)d$
    /// dimensions.
    #[test]
    fn is_soba_for_full_rank() {
        let (k, d) = (3, 4);
        for (exploration, delay) in
            [(Exploration::Rate(0.3), 0), (Exploration::Adaptive, 0), (Exploration::Rate(0.3), 5)]
        {
            let shared = SobaParams::new().exploration(exploration).regularization(0.3);
            let mut exact = Soba::<FullMetric>::new(shared, Problem::new(k, d), 0).expect("valid");
            let params = SobaSketchParams::new().rank(8).exploration(exploration).regularization(0.3);
            let mut sketched = learner(params, k, d);
            let mut rng = Rng::new(3, 0);
            let mut pending = Vec::new();
            for (t, x) in unit_rows(7, 400, d).into_iter().enumerate() {
                let y = if rng.below(10) == 0 { rng.below(3) as usize } else { usize::from(x[0] > 0.0) };
                let uniform = rng.uniform();
                let mut taken = [Decision::default(), Decision::default()];
                exact.act(Features::Dense(&x), &mut Given(uniform), &mut taken[0]);
                sketched.act(Features::Dense(&x), &mut Given(uniform), &mut taken[1]);
                assert_all_close(&taken[1].scores, &taken[0].scores, 1e-9, &format!("score of round {t}"));
                pending.push((x, taken, y));
                if (t + 1) % (delay + 1) == 0 {
                    while let Some((x, [first, second], y)) = pending.pop() {
                        assert_eq!(first.label, second.label);
                        let right = (first.label as usize == y).into();
                        exact.learn(Features::Dense(&x), &first, right);
                        sketched.learn(Features::Dense(&x), &second, right);
                    }
                }
            }
            assert_close(sketched.model().quadratics(), exact.model().quadratics(), 1e-9, "S_q");
            assert!(
                exact.model().updates() > 16,
                "{} updates: the sketch never shrank",
                exact.model().updates()
            );
            assert_eq!(sketched.model().metric().discarded(), 0.0);
        }
    }

    /// The sums of margins and the inequality of theory: sketches 4.2, for random $U$, and the bound of $S_q$
    /// in 4.3, on paths on which the sketch discards much.
    #[test]
    fn pathwise_inequalities_for_every_rank() {
        let (k, d, a) = (3, 6, 0.4);
        for rank in [1, 2, 4] {
            let params =
                SobaSketchParams::new().rank(rank).exploration(Exploration::Rate(0.4)).regularization(a);
            let mut learner = learner(params, k, d);
            let mut rng = Rng::new(5, rank);
            let comparators: Vec<Vec<f64>> =
                (0..20).map(|at| (0..k * d).map(|_| 0.2 * f64::from(at) * rng.normal()).collect()).collect();
            let (mut left, mut right, mut trace) = (vec![0.0; comparators.len()], 0.0, 0.0);
            let mut taken = Decision::default();
            for x in unit_rows(2, 500, d) {
                let y = if rng.below(5) == 0 { rng.below(3) as usize } else { usize::from(x[0] > x[1]) };
                learner.act(Features::Dense(&x), &mut rng, &mut taken);
                let (before, updates) = (learner.model().quadratics(), learner.model().updates());
                learner.learn(Features::Dense(&x), &taken, (taken.label as usize == y).into());
                assert!(learner.model().margins() >= 0.0);
                if learner.model().updates() == updates {
                    continue;
                }
                let p = taken.probability;
                let rival = margin(&taken.scores, y).rival;
                right += (learner.model().quadratics() - before) / p;
                trace += 2.0 / p;
                for (left, u) in left.iter_mut().zip(&comparators) {
                    let b = dot(&u[y * d..][..d], &x) - dot(&u[rival * d..][..d], &x);
                    *left += (2.0 * b - b * b) / p;
                }
                let mut after = Decision::default();
                learner.predict(Features::Dense(&x), &mut after);
                assert!(after.scores.iter().sum::<f64>().abs() < 1e-9, "the columns of W have sum 0");
            }
            for (left, u) in left.iter().zip(&comparators) {
                assert!(*left <= a * dot(u, u) + right, "rank {rank}: {left} > {right}");
            }
            let (m, discarded) = (rank as f64, learner.model().metric().discarded());
            let largest = 2.0 * m * (trace / (2.0 * m * a)).ln_1p() + 2.0 * m * discarded / a;
            let sum = learner.model().quadratics();
            assert!(sum <= largest && discarded > 10.0, "rank {rank}: {sum} > {largest}, {discarded}");
        }
    }
}

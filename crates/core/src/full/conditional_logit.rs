//! # Conditional logit: FOLKLORE for labels with features of their own
//!
//! Every label has a block of columns that describes it in the round, such as the price and the time of each
//! way to travel, and one weight for each of these columns is common to all labels. The regret is of the
//! order of the number of these weights, whatever the number of labels.
//!
//! ## Reference
//!
//! [FOLKLORE](super::folklore) with tied weights, which its paper asks for and leaves open: Naman Agarwal,
//! Satyen Kale, Julian Zimmert, *Efficient Methods for Online Multiclass Logistic Regression*, ALT 2022,
//! arXiv:2110.03020, section 5. `references.bib`: `agarwal2022folklore`; algorithm and proof: theory:
//! folklore 4.1, 4.2.
//!
//! ## Symbols
//!
//! | theory | here | meaning |
//! |---|---|---|
//! | $K, n$ | `problem`, `width` | labels, columns of a block |
//! | $\Phi_t$ | the row | row $k$ of this $K \times n$ matrix is the block of label $k$: columns $kn$ to $kn + n - 1$ |
//! | $B, R$ | `norm`, `radius` | bounds on $\lVert w \rVert$ of the comparator, and on the norms of blocks |
//! | $\lambda, \gamma$ | `regularization`, `gamma` | weight of $\lVert w \rVert^2$, curvature of the surrogates |
//! | $A_t^{-1}, G_t$ | `inverse`, `gradient` | the sum of the surrogates is $w^\top A w + G^\top w$ and a constant |
//!
//! $$ Y = A^{-1}\Phi^\top, \quad N = \Phi Y, \quad
//!    z = -\tfrac12 Y^\top G + \tfrac14 \mathrm{diag}(N) - \tfrac12 N \sigma(z), \tag{1} $$
//! $$ G \mathrel{+}= \Phi^\top (p - y - 2\gamma S z), \qquad p = \sigma(z), \quad
//!    S = \mathrm{diag}(p) - pp^\top = CC^\top, \tag{2} $$
//! $$ A^{-1} \mathrel{-}= FF^\top, \quad F = \sqrt\gamma\ Y C L^{-\top}, \quad
//!    LL^\top = I + \gamma\ C^\top N C. \tag{3} $$
//!
//! For every $w$ with $\lVert w \rVert \le B$, in terms of the data and in the worst case:
//!
//! $$ \mathrm{Regret}(w) \le \lambda B^2 + \textstyle\sum_t (\langle p-y, z\rangle - \gamma z^\top S z) +
//!    \tfrac14 G^\top A_T^{-1} G \tag{4} $$
//! $$ \phantom{\mathrm{Regret}(w)} \le \lambda B^2 + \tfrac{n}{4\gamma} \ln(1 + 2\gamma T R^2/(\lambda n)).
//!    \tag{5} $$
//!
//! ## Deviations
//!
//! * All labels are on offer in every round. A constant column of its own for each label is not added: it is
//!   $K$ more columns in every block.
//! * Importance weights multiply a round's surrogate, and late feedback has its surrogate at the scores of
//!   the prediction: (4) holds for both, (5) for neither (theory: extensions 1.2, 4.1). Weights above 1 are
//!   those of FOLKLORE (theory: extensions 1.3).
//! * A row with a block beyond $10^6 R$, whose squares rounding would lose in (3), counts as a row of zeros:
//!   its forecast is uniform, and nothing is learnt. Nothing is promised then, as for all rows beyond $R$.
//! * Models do not merge.
//!
//! ## Cost
//!
//! `predict` $2n^2K + 2nK^2$ flops, `update` $4n^2K$, and the inner problem $O(K^3)$ for each Newton step;
//! memory $n^2$ numbers.

use super::folklore::{FolkloreParams, Resolved};
use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::{Features, Target};
use crate::guarantee::{Guarantee, Promise, Terms, curved, digits_of, is_beyond, setting};
use crate::kernel::fixed_point::FixedPoint;
use crate::kernel::linalg::{self, Store, columns, columns_mut, product};
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{dot, take};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::loss::curvature::{self, Curvature};
use crate::loss::heavy;
use crate::param::ParamError;
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`ConditionalLogit`].
    pub struct ConditionalLogitParams {
        /// Number $n$ of columns that describe a label, >= 1; a row has a block of this width for every
        /// label.
        width: u64 = "features / classes, rounded up",
        /// Bound $B$ on the Euclidean norm of the comparator, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every block, > 0.
        radius: f64 = "the stream's for whole rows, or 1",
        /// Weight $\lambda$ of the comparator's squared norm, > 0; the guarantee needs at least $2 \gamma
        /// R^2$.
        regularization: f64 = "2 radius / norm",
        /// Curvature $\gamma$ of the surrogates: `safe`, `tight`, `paper` (no guarantee) or a number > 0.
        curvature: Curvature = "safe: 1 / (2 + 2 norm radius + ln(classes - 1))",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct ConditionalLogit {
    problem: Problem,
    /// $n$.
    width: usize,
    /// $B, R, \lambda, \gamma$.
    resolved: Resolved,
    inner: FixedPoint,
    /// $A^{-1}$.
    inverse: Vec<f64>,
    /// $G$.
    gradient: Vec<f64>,
    /// The sum in (4).
    slack: f64,
    rounds: u64,
    /// Number of rounds with a block whose norm is larger than $R$.
    beyond_radius: u64,
    /// For rounds whose prediction is outdated.
    spare: Prediction,
    work: Vec<f64>,
    /// Where rounds of weight above 1 are linearised.
    ahead: Prediction,
}

/// Blocks beyond this multiple of the radius are not learnt.
const FARTHEST: f64 = 1e6;

/// The scratch memory of a prediction.
struct Scratch<'a> {
    /// The largest $\lVert \varphi \rVert^2$ of a block.
    squared: &'a mut f64,
    /// $\Phi^\top$, $n \times K$.
    blocks: &'a mut [f64],
    /// $Y$, $n \times K$.
    image: &'a mut [f64],
    /// $N$, $K \times K$.
    gram: &'a mut [f64],
    rest: &'a mut [f64],
}

impl ConditionalLogit {
    fn classes(&self) -> usize {
        self.problem.classes
    }

    fn scratch_len(&self) -> usize {
        let (n, k) = (self.width, self.classes());
        1 + 2 * n * k + 2 * k * k + k + self.inner.scratch_len()
    }

    fn divide<'a>(&self, scratch: &'a mut [f64]) -> Scratch<'a> {
        let (n, k) = (self.width, self.classes());
        let rest = &mut { scratch };
        let squared = &mut take(rest, 1)[0];
        let (blocks, image, gram) = (take(rest, n * k), take(rest, n * k), take(rest, k * k));
        Scratch { squared, blocks, image, gram, rest: take(rest, k * k + k + self.inner.scratch_len()) }
    }

    /// Writes $\Phi$, $Y$ and $N$.
    fn project<'a>(&self, x: Features<'_>, scratch: &'a mut Vec<f64>) -> Scratch<'a> {
        let (n, k) = (self.width, self.classes());
        scratch.clear();
        scratch.resize(self.scratch_len(), 0.0);
        let s = self.divide(scratch);
        // The last blocks may be incomplete.
        x.add_to(1.0, &mut s.blocks[..self.problem.features]);
        *s.squared = s.blocks.chunks_exact(n).map(|block| dot(block, block)).fold(0.0, f64::max);
        if s.squared.sqrt() > FARTHEST * self.resolved.radius {
            s.blocks.fill(0.0);
        }
        let (inverse, blocks) = (columns(&self.inverse, n, n), columns(s.blocks, n, k));
        product(columns_mut(s.image, n, k), Store::Replace, 1.0, inverse, blocks);
        product(columns_mut(s.gram, k, k), Store::Replace, 1.0, blocks.transpose(), columns(s.image, n, k));
        linalg::mirror_lower(s.gram, k, k);
        s
    }

    /// Returns `promise`, provided that surrogates are lower bounds of the losses.
    fn promised(&self, promise: impl FnOnce() -> Promise) -> Promise {
        let Resolved { norm, radius, gamma, .. } = self.resolved;
        let spread = curvature::rows_spread(norm, radius);
        let largest = curvature::tight(curvature::log_odds(spread, self.classes()));
        let radius = digits_of(radius);
        curved(gamma, largest, || match self.beyond_radius {
            0 => promise(),
            1 => Err(format!("1 row has a block beyond the learner's radius {radius}").into()),
            rows => Err(format!("{rows} rows have blocks beyond the learner's radius {radius}").into()),
        })
    }

    /// $\lambda B^2$.
    fn prior(&self) -> f64 {
        self.resolved.regularization * self.resolved.norm * self.resolved.norm
    }

    /// $\tfrac14 G^\top A^{-1} G$.
    fn quadratic(&self) -> f64 {
        let columns = self.inverse.chunks_exact(self.width).zip(&self.gradient);
        0.25 * columns.map(|(column, g)| g * dot(column, &self.gradient)).sum::<f64>()
    }
}

impl Algorithm for ConditionalLogit {
    type Params = ConditionalLogitParams;

    const ABOUT: About = About {
        name: "conditional-logit",
        summary: "FOLKLORE for labels with a block of columns each, and one weight for a column of all blocks",
        paper: Paper { key: "agarwal2022folklore", place: "section 5, tied weights" },
        guarantee: "regret <= lambda B^2 + n/(4 gamma) ln(1 + 2 gamma T R^2/(lambda n)) for n columns a block, |w| <= B",
        cost: "6 n^2 K + 2 n K^2 flops a round, n = features / K",
        memory: "n^2 numbers, n = features / K",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: ConditionalLogitParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let width = problem.resolve_width(params.width)?;
        let ConditionalLogitParams { norm, radius, regularization, curvature, .. } = params;
        let shared = FolkloreParams { norm, radius, regularization, curvature, linear_term: None };
        let resolved = Resolved::new(shared, &problem)?;
        // Rows of blocks within R; which blocks are beyond it is checked in every round.
        let problem = Problem { radius: Some(resolved.radius * (problem.classes as f64).sqrt()), ..problem };
        let mut inverse = vec![0.0; width * width];
        inverse.iter_mut().step_by(width + 1).for_each(|entry| *entry = 1.0 / resolved.regularization);
        let mut learner = Self {
            width,
            resolved,
            inner: FixedPoint::full(problem.classes),
            inverse,
            gradient: vec![0.0; width],
            slack: 0.0,
            rounds: 0,
            beyond_radius: 0,
            spare: Prediction::default(),
            work: Vec::new(),
            ahead: Prediction::default(),
            problem,
        };
        learner.spare = learner.prediction();
        Ok(learner)
    }

    fn params(&self) -> ConditionalLogitParams {
        ConditionalLogitParams {
            width: Some(self.width as u64),
            norm: Some(self.resolved.norm),
            radius: Some(self.resolved.radius),
            regularization: Some(self.resolved.regularization),
            curvature: Some(Curvature::Value(self.resolved.gamma)),
        }
    }

    own! { numbers }

    fn numbers_for(params: &ConditionalLogitParams, problem: &Problem) -> usize {
        let width = problem.width(params.width);
        width.saturating_mul(width).saturating_add(width)
    }
}

impl Predictor for ConditionalLogit {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn prediction(&self) -> Prediction {
        Prediction::sized(self.classes(), self.scratch_len())
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let (n, k) = (self.width, self.classes());
        let Prediction { scores, probabilities, scratch, stamp, .. } = out;
        let s = self.project(x, scratch);
        let rest = &mut { s.rest };
        let (a, g) = (take(rest, k * k), take(rest, k));

        // z = -½YᵀG + ¼diag(N) - ½Nσ(z)                                                             eq. (1)
        a.iter_mut().zip(&*s.gram).for_each(|(a, n)| *a = 0.5 * n);
        for (label, (g, image)) in g.iter_mut().zip(s.image.chunks_exact(n)).enumerate() {
            *g = 0.5 * (a[label * (k + 1)] - dot(image, &self.gradient));
        }
        scores.resize(k, 0.0);
        let solution = self.inner.solve(a, g, scores, rest);
        probabilities.clear();
        probabilities.extend_from_slice(solution.probabilities);
        *stamp = Some(self.rounds);
    }
}

impl OnlineLearner for ConditionalLogit {
    /// Of an outdated prediction only the scores are used, at which the surrogate is taken.
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let (n, k, weight) = (self.width, self.classes(), y.weight);
        let Resolved { radius, gamma, .. } = self.resolved;
        let (mut spare, mut work) = (std::mem::take(&mut self.spare), std::mem::take(&mut self.work));
        let fresh = at.is_fresh(self.rounds) && at.scratch.len() == self.scratch_len();
        if !fresh {
            self.project(x, &mut spare.scratch);
        }
        let scratch = if fresh { &at.scratch } else { &spare.scratch };
        let (blocks, rest) = scratch[1..].split_at(n * k);
        let (image, rest) = rest.split_at(n * k);
        let gram = &rest[..k * k];
        self.beyond_radius += u64::from(is_beyond(scratch[0], radius));
        let at = if weight > 1.0 {
            let half = |a: &mut [f64]| a.iter_mut().zip(gram).for_each(|(a, n)| *a = 0.5 * n);
            let ahead = heavy::matrix(&self.inner, half, y, at, &mut self.ahead);
            self.slack += heavy::excess(y, at, ahead);
            ahead
        } else {
            at
        };
        work.resize(4 * k + n * (k - 1) + 2 * k * (k - 1) + (k - 1) * (k - 1), 0.0);
        let rest = &mut &mut work[..];
        let (residual, curved, tails, z) = (take(rest, k), take(rest, k), take(rest, k), take(rest, k));
        let (mix, factor) = (take(rest, n * (k - 1)), take(rest, k * (k - 1)));
        let (mixed, system) = (take(rest, k * (k - 1)), take(rest, (k - 1) * (k - 1)));

        // G += Φᵀ(p - y - 2γSz)                                                                     eq. (2)
        let p = &at.probabilities;
        // What all scores have in common has no effect, and may be so large that nothing else is left of
        // them.
        z.iter_mut().zip(&at.scores).for_each(|(z, score)| *z = score - at.scores[0]);
        residual.copy_from_slice(p);
        y.truth.subtract_from(residual);
        covariance_times(p, z, curved);
        self.slack += weight * (dot(residual, z) - gamma * dot(z, curved));
        for (residual, curved) in residual.iter_mut().zip(&*curved) {
            *residual = weight * (*residual - 2.0 * gamma * curved);
        }
        let (blocks, image) = (columns(blocks, n, k), columns(image, n, k));
        product(columns_mut(&mut self.gradient, n, 1), Store::Add, 1.0, blocks, columns(residual, k, 1));

        // LLᵀ = I + γ CᵀNC;  A⁻¹ -= FFᵀ with F = √γ Y C L^{-T}                                       eq. (3)
        self.inner.covariance_factor(p, factor, tails, curved);
        let c = columns(factor, k, k - 1);
        let gamma = weight * gamma;
        product(columns_mut(mixed, k, k - 1), Store::Replace, gamma, columns(gram, k, k), c);
        product(
            columns_mut(system, k - 1, k - 1),
            Store::Replace,
            1.0,
            c.transpose(),
            columns(mixed, k, k - 1),
        );
        system.iter_mut().step_by(k).for_each(|entry| *entry += 1.0);
        let definite = linalg::cholesky(system, k - 1);
        debug_assert!(definite, "I + γCᵀNC has eigenvalues >= 1");
        product(columns_mut(mix, n, k - 1), Store::Replace, gamma.sqrt(), image, c);
        linalg::divide_by_transposed_lower(mix, n, system, k - 1);
        linalg::symmetric_downdate(columns_mut(&mut self.inverse, n, n), columns(mix, n, k - 1));
        linalg::mirror_lower(&mut self.inverse, n, n);
        self.rounds += 1;
        (self.spare, self.work) = (spare, work);
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Equation (5).
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let Resolved { norm, radius, regularization, gamma } = self.resolved;
        let bound = self.promised(|| {
            if regularization < 2.0 * gamma * radius * radius {
                return Err("regularization is below 2 curvature * radius^2".into());
            }
            let setting = setting(&self.problem, norm, self.rounds);
            let setting = bounds::Setting { features: self.width, radius, ..setting };
            Ok(bounds::tied_folklore(&setting, regularization, gamma))
        });
        Some(Guarantee::Regret { ball: None, norm, bound })
    }

    /// Equation (4).
    fn certificate(&self) -> Option<Promise> {
        Some(self.promised(|| Ok(self.prior() + self.slack + self.quadratic())))
    }

    fn certificate_terms(&self) -> Option<Terms> {
        Some(Terms {
            size: self.prior() + self.slack.abs() + self.quadratic().abs(),
            regularization: self.resolved.regularization,
            // ΦᵀSΦ is the covariance of the blocks under p.
            growth: self.resolved.gamma,
            largest: None,
            weights: true,
        })
    }
}

impl State for ConditionalLogit {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::symmetric("inverse", self.width, &mut self.inverse),
            Tensor::vector("gradient", &mut self.gradient),
            Tensor::number("slack", &mut self.slack),
            Tensor::count("rounds", &mut self.rounds),
            Tensor::count("beyond_radius", &mut self.beyond_radius),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::RunFacts;
    use crate::full::folklore::{Folklore, FolkloreParams};
    use crate::rng::{Rng, Uniforms as _};
    use crate::testing::{assert_all_close, assert_close};

    fn learner(params: ConditionalLogitParams, classes: usize, features: usize) -> ConditionalLogit {
        ConditionalLogit::new(params, Problem::new(classes, features), 0).expect("valid")
    }

    /// K = 2, n = 1, B = 1, λ = 2, γ = ½, blocks 1 and 0. Round 1: A⁻¹ = ½, so that N has ½ for label 0
    /// alone, and the scores are z = (⅛ - ¼p_0, 0). With label 0 and p = p_0, G = p - 1 - p(1 - p) z_0 and
    /// A = 2 + ½ p(1 - p). Round 2 with blocks 0 and 1: z_1 = -½ G/A + ¼/A - ½ p_1/A, and z_0 = 0.
    #[test]
    fn two_rounds_by_hand() {
        let params =
            ConditionalLogitParams::new().norm(1.0).regularization(2.0).curvature(Curvature::Value(0.5));
        let mut learner = learner(params, 2, 2);
        let mut at = learner.prediction();
        learner.predict(Features::Dense(&[1.0, 0.0]), &mut at);
        let (z, p) = (at.scores[0], at.probabilities[0]);
        assert!((z - 0.125 + 0.25 * p).abs() < 1e-15 && at.scores[1] == 0.0, "{at:?}");
        assert!((p - 1.0 / (1.0 + (-z).exp())).abs() < 1e-15, "{p}");
        learner.update(Features::Dense(&[1.0, 0.0]), Target::class(0), &at);
        let (g, a) = (p - 1.0 - p * (1.0 - p) * z, 2.0 + 0.5 * p * (1.0 - p));
        assert!((learner.gradient[0] - g).abs() < 1e-15 && (learner.inverse[0] - 1.0 / a).abs() < 1e-15);
        let slack = (p - 1.0) * z - 0.5 * p * (1.0 - p) * z * z;
        assert!((learner.slack - slack).abs() < 1e-15);
        assert!((learner.quadratic() - 0.25 * g * g / a).abs() < 1e-15);
        learner.predict(Features::Dense(&[0.0, 1.0]), &mut at);
        let (z, p) = (at.scores[1], at.probabilities[1]);
        assert!((z + 0.5 * (g + p - 0.5) / a).abs() < 1e-15 && at.scores[0] == 0.0, "{at:?}");
    }

    /// With $\Phi = I \otimes x^\top$ it is FOLKLORE (theory: folklore 4.3 a), importance weights and late
    /// feedback included.
    #[test]
    fn blocks_of_their_own_are_folklore() {
        let (k, d) = (4, 3);
        let own = ConditionalLogitParams::new().norm(2.0).radius(2.0).regularization(0.5);
        let params = FolkloreParams::new().norm(2.0).radius(2.0).regularization(0.5);
        let mut folklore = Folklore::new(params, Problem::new(k, d), 0).expect("valid");
        let mut learner = learner(own, k, k * k * d);
        let (mut rng, mut late) = (Rng::new(3, 0), None);
        for round in 0..300 {
            let x: Vec<f64> = (0..d).map(|_| 2.0 * rng.uniform() - 1.0).collect();
            let mut wide = vec![0.0; k * k * d];
            for label in 0..k {
                wide[label * k * d + label * d..][..d].copy_from_slice(&x);
            }
            let (mut at, mut other) = (learner.prediction(), folklore.prediction());
            learner.predict(Features::Dense(&wide), &mut at);
            folklore.predict(Features::Dense(&x), &mut other);
            assert_all_close(&at.scores, &other.scores, 1e-9, &format!("round {round}"));
            let y = rng.below(k as u64) as usize;
            let target = Target { weight: 0.5 + rng.uniform(), ..Target::class(y) };
            if round % 10 == 3 {
                late = Some((x, wide, y, at, other));
                continue;
            }
            learner.update(Features::Dense(&wide), target, &at);
            folklore.update(Features::Dense(&x), target, &other);
            if let Some((x, wide, y, at, other)) = late.take_if(|_| round % 10 == 7) {
                learner.update(Features::Dense(&wide), Target::class(y), &at);
                folklore.update(Features::Dense(&x), Target::class(y), &other);
            }
        }
        let of = |learner: &dyn OnlineLearner| learner.certificate().expect("has one").expect("holds");
        // λ‖W‖² is λ B² here and λ K B² there.
        let prior = 0.5 * 3.0 * 4.0;
        assert_close(of(&learner) + prior, of(&folklore), 1e-9, "certificates");
    }

    #[test]
    fn a_block_beyond_the_radius_voids_the_promise() {
        let mut learner = learner(ConditionalLogitParams::new().radius(1.0), 3, 6);
        let mut at = learner.prediction();
        let x = [1.0, 0.0, 0.0, 1.0, 0.6, 0.6];
        learner.predict(Features::Dense(&x), &mut at);
        learner.update(Features::Dense(&x), Target::class(1), &at);
        assert!(learner.certificate().expect("has one").is_ok());
        let x = [1.0, 0.5, 0.0, 1.0, 0.6, 0.6];
        learner.predict(Features::Dense(&x), &mut at);
        learner.update(Features::Dense(&x), Target::class(1), &at);
        let reason = learner.certificate().expect("has one").unwrap_err();
        assert_eq!(reason, "1 row has a block beyond the learner's radius 1.0000".into());
        // A radius of the problem is one of blocks, too: of a row of three it has √3 times as much.
        let problem = Problem::new(3, 6).with_radius(1.0);
        let mut learner = ConditionalLogit::new(ConditionalLogitParams::new(), problem, 0).expect("valid");
        let x = Features::Dense(&[1.0, 0.0, 0.0, 1.0, 0.6, 0.8]);
        let mut facts = RunFacts::default();
        facts.note(learner.problem(), x, 1.0);
        learner.predict(x, &mut at);
        learner.update(x, Target::class(1), &at);
        assert!(facts.certificate(&learner).expect("has one").is_ok());
        assert_eq!(
            ConditionalLogit::new(ConditionalLogitParams::new().width(1), Problem::new(3, 6), 0)
                .unwrap_err()
                .to_string(),
            "width = 1: must be at least features / classes = 2"
        );
    }
}

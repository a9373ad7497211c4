//! # Vovk's aggregating algorithm for binary logistic regression
//!
//! Predicts with the posterior mean of the probability under a uniform prior on a ball of weights. Its regret
//! is the yardstick for the efficient learners. The integral over the ball is computed by quadrature,
//! therefore only for one or two features.
//!
//! ## Reference
//!
//! Volodya Vovk, *A Game of Prediction with Expert Advice*, JCSS 56, 1998; for logistic regression Dylan
//! Foster, Satyen Kale, Haipeng Luo, Mehryar Mohri, Karthik Sridharan, *Logistic Regression: The Importance
//! of Being Improper*, COLT 2018, arXiv:1803.09349, Algorithm 1. `references.bib`: `vovk1998aggregating`,
//! `foster2018improper`; theory: baselines 3.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $B$ | `norm` | radius of the ball of comparators $\theta \in \mathbb{R}^d$, $d \le 2$ |
//! | $\mu$ | `smoothing` | share of the uniform distribution in every prediction |
//! | $\theta_j$ | `nodes` | nodes of the quadrature |
//! | $\ln \rho_j$ | `log_weights` | log-weights of the nodes under the posterior |
//! | $y \in \lbrace \pm1\rbrace $ | class 1, class 0 | |
//!
//! $$ \hat p_t(y) = \textstyle\sum_j \rho_j\ \sigma(y\ \theta_j^\top x_t) \Big/ \sum_j \rho_j, \tag{1} $$
//! $$ \tilde p_t = (1 - \mu)\ \hat p_t + \mu/2, \tag{2} $$
//! $$ \rho_j \leftarrow \rho_j\ \sigma(y_t\ \theta_j^\top x_t). \tag{3} $$
//!
//! With an exact integral and $\mu = 0$, for every $\lVert \theta \rVert \le B$: $\mathrm{Regret}(\theta) \le
//! d(1 + \ln(2BRT/d))$ if $2BRT \ge d$.
//!
//! ## Deviations
//!
//! * $K = 2$ and $d \le 2$. For $d = 1$ the interval is divided into parts with a 16-point Gauss-Legendre
//!   rule each; for $d = 2$ there is a Gauss-Legendre rule in the radius, times twice as many equidistant
//!   angles.
//! * The quadrature is accurate while the distance of nodes is smaller than the width of the posterior, about
//!   $2/\sqrt{\sum_t x_t^2}$: with the default ball, increase `nodes` for more than about $10^5$ ($d = 1$) or
//!   $10^3$ ($d = 2$) rounds. Beyond that, the algorithm is the same with the nodes as comparators. The bound
//!   is shown while the regret against the best node, which the weights of the nodes tell, and the distance
//!   of the nodes imply it (theory: baselines 3.3).
//! * $\mu$ is 0 by default: the bound above needs no smoothing.
//! * $B$ has no theoretical default: `norm` is $10/R$, less than the $30/R$ of the other learners, because
//!   the nodes of the quadrature have to cover the whole ball.
//! * The scores are $(-s/2, s/2)$ for the logit $s = \ln(\tilde p(1)/\tilde p(-1))$.
//! * Late feedback multiplies the posterior by the likelihood of its round: the order of rounds has no
//!   effect.
//!
//! ## Cost
//!
//! An exponential and a logarithm per node for `predict`, an exponential per node for `update`; memory one
//! number per node for the state and two for a prediction.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::{Features, Target};
use crate::guarantee::{Ball, Guarantee, setting};
use crate::kernel::quadrature::gauss_legendre;
use crate::kernel::softmax::softmax;
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::loss::logistic::log_sum_exp;
use crate::param::{ParamError, fraction, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// Number of nodes of one Gauss-Legendre rule for one feature.
const RULE_NODES: u64 = 16;

/// The least value of `nodes`.
const LEAST_NODES: u64 = 16;

params! {
    /// Parameters of [`Aggregating`].
    pub struct AggregatingParams {
        /// Radius $B$ of the ball of comparators, > 0.
        norm: f64 = "10 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Share $\mu$ of the uniform distribution in every prediction, in [0, 1]; costs at most $2\mu$ a
        /// round.
        smoothing: f64 = "0",
        /// Nodes on the interval (one feature; 16 to 2^20, rounded up to a multiple of 16), or in the radius,
        /// with twice as many angles (two features; 16 to 1024).
        nodes: u64 = "4096 for one feature, 120 for two",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Aggregating {
    problem: Problem,
    params: AggregatingParams,
    /// $B$.
    norm: f64,
    smoothing: f64,
    /// $\theta_j$, $d$ coordinates each.
    nodes: Vec<f64>,
    /// $\ln \rho_j$, of log-sum-exp 0.
    log_weights: Vec<f64>,
    rounds: u64,
    /// Scratch memory for rounds whose prediction is outdated.
    spare: Vec<f64>,
}

/// Nodes in $[-\text{norm}, \text{norm}]$ and the logarithms of their weights, for $d = 1$.
fn interval(norm: f64, len: usize) -> (Vec<f64>, Vec<f64>) {
    let (nodes, weights) = gauss_legendre(RULE_NODES as usize);
    let panels = len.div_ceil(RULE_NODES as usize);
    let half = norm / panels as f64;
    let centres = (0..panels).map(|panel| (2 * panel + 1) as f64 * half - norm);
    let places = centres.flat_map(|centre| nodes.iter().map(move |node| centre + half * node)).collect();
    (places, (0..panels).flat_map(|_| weights.iter().map(|weight| weight.ln())).collect())
}

/// Nodes in the disc of radius `norm` and the logarithms of their weights, for $d = 2$.
fn disc(norm: f64, len: usize) -> (Vec<f64>, Vec<f64>) {
    let (nodes, weights) = gauss_legendre(len);
    let (mut places, mut logs) = (Vec::new(), Vec::new());
    for (node, weight) in nodes.iter().zip(&weights) {
        let radius = 0.5 * norm * (1.0 + node);
        for angle in 0..2 * len {
            let (sin, cos) = (std::f64::consts::PI * (angle as f64 + 0.5) / len as f64).sin_cos();
            places.extend([radius * cos, radius * sin]);
            logs.push((weight * radius).ln());
        }
    }
    (places, logs)
}

fn normalise(log_weights: &mut [f64]) {
    let total = log_sum_exp(log_weights);
    log_weights.iter_mut().for_each(|weight| *weight -= total);
}

impl Aggregating {
    /// A bound on the regret against the whole ball that the nodes imply, whatever their distance (theory:
    /// baselines 3.3).
    fn regret_by_nodes(&self) -> f64 {
        let d = self.problem.features;
        let (radius, norm) = (self.problem.radius.unwrap_or(1.0), self.norm);
        let len = self.params.nodes.map_or(LEAST_NODES, |nodes| nodes) as usize;
        let (places, mut first) = if d == 1 { interval(norm, len) } else { disc(norm, len) };
        normalise(&mut first);
        let against: Vec<f64> = self.log_weights.iter().zip(&first).map(|(now, then)| now - then).collect();
        let best = against.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // The distances from the centre, in the order of the nodes of one direction, and the angle between
        // two.
        let (radii, angle): (Vec<f64>, f64) = if d == 1 {
            (places.clone(), 0.0)
        } else {
            let of_ring = |ring: &[f64]| ring[0].hypot(ring[1]);
            (places.chunks_exact(4 * len).map(of_ring).collect(), std::f64::consts::PI / (2.0 * len as f64))
        };
        let gaps = radii.windows(2).map(|pair| 0.5 * (pair[1] - pair[0]));
        let inner = if d == 1 { 0.0 } else { radii[0] };
        let outer = norm - radii[radii.len() - 1];
        let apart = gaps.fold(inner.max(outer), f64::max).hypot(norm * angle);
        let steepest = 0.25 * self.rounds as f64 * radius * radius;
        // Where the best comparator is at the boundary, the loss may fall outwards.
        let directions = if d == 1 { 1 } else { 2 * len };
        let last = against.len() - directions;
        let outward = (0..directions)
            .flat_map(|at| {
                let (edge, before) = (last + at, last + at - directions);
                let step = radii[radii.len() - 1] - radii[radii.len() - 2];
                // In one dimension the other end is the mirror image.
                let mirrored = (d == 1).then(|| (against[0] - against[1]) / step);
                [Some((against[edge] - against[before]) / step), mirrored]
            })
            .flatten()
            .fold(0.0, f64::max);
        let slope = outward + steepest * apart + 2.0 * angle * radius * self.rounds as f64;
        let inwards = outer + norm * (1.0 - angle.cos());
        best + 0.5 * steepest * apart * apart + slope * inwards
    }

    /// Writes $\ln \rho_j \sigma(-\theta_j^\top x)$ and then $\ln \rho_j \sigma(\theta_j^\top x)$ to `joint`.
    fn joint(&self, x: Features<'_>, joint: &mut [f64]) {
        let d = self.problem.features;
        let (zero, one) = joint.split_at_mut(self.log_weights.len());
        let nodes = self.nodes.chunks_exact(d).zip(&self.log_weights);
        for (((node, weight), zero), one) in nodes.zip(zero).zip(one) {
            let s = x.dot(node);
            // softplus(s) = max(s, 0) + ln(1 + e^{-|s|})
            let tail = (-s.abs()).exp().ln_1p();
            *zero = weight - (s.max(0.0) + tail);
            *one = weight - ((-s).max(0.0) + tail);
        }
    }
}

impl Algorithm for Aggregating {
    type Params = AggregatingParams;

    const ABOUT: About = About {
        name: "aggregating",
        summary: "Vovk's aggregating forecaster by quadrature, for one or two features",
        paper: Paper { key: "foster2018improper", place: "Algorithm 1, binary" },
        guarantee: "regret <= d (1 + ln(2 B R T/d)) for |theta| <= B, up to the quadrature's error",
        cost: "two exponentials and a logarithm per node a round",
        memory: "4 numbers per node",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Two, soft_labels: false, weights: false, plain: false },
    };

    fn new(params: AggregatingParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (default, most) = match problem.features {
            1 => (4096, 1 << 20),
            2 => (120, 1024),
            d => {
                let need = "1 or 2: the integral over more dimensions is out of reach";
                return Err(ParamError::invalid("features", d, need));
            }
        };
        let radius = problem.resolve_radius(params.radius)?;
        let norm = positive("norm", params.norm.unwrap_or(10.0 / radius))?;
        let smoothing = fraction("smoothing", params.smoothing.unwrap_or(0.0))?;
        let nodes = params.nodes.unwrap_or(default);
        if !(LEAST_NODES..=most).contains(&nodes) {
            let need = format!("between {LEAST_NODES} and {most} for features = {}", problem.features);
            return Err(ParamError::invalid("nodes", nodes, need));
        }
        let rule = if problem.features == 1 { interval } else { disc };
        let (places, mut log_weights) = rule(norm, nodes as usize);
        normalise(&mut log_weights);
        Ok(Self {
            problem: Problem { radius: Some(radius), ..problem },
            params: AggregatingParams {
                norm: Some(norm),
                radius: Some(radius),
                smoothing: Some(smoothing),
                nodes: Some(nodes),
            },
            norm,
            smoothing,
            spare: vec![0.0; 2 * log_weights.len()],
            nodes: places,
            log_weights,
            rounds: 0,
        })
    }

    own! { params }

    fn numbers(_problem: &Problem) -> usize {
        LEAST_NODES as usize
    }
}

impl Predictor for Aggregating {
    own! { problem }

    fn prediction(&self) -> Prediction {
        Prediction::sized(2, 2 * self.log_weights.len())
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        self.joint(x, &mut out.scratch);
        let (zero, one) = out.scratch.split_at(self.log_weights.len());
        let half = 0.5 * (log_sum_exp(one) - log_sum_exp(zero));
        out.scores.copy_from_slice(&[-half, half]);
        softmax(&out.scores, &mut out.probabilities); // eq. (1)
        if self.smoothing > 0.0 {
            for (p, score) in out.probabilities.iter_mut().zip(&mut out.scores) {
                *p += self.smoothing * (0.5 - *p); // eq. (2)
                *score = p.ln();
            }
            let mean = 0.5 * (out.scores[0] + out.scores[1]);
            out.scores.iter_mut().for_each(|score| *score -= mean);
        }
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for Aggregating {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let n = self.log_weights.len();
        let mut spare = std::mem::take(&mut self.spare);
        let joint = if at.is_fresh(self.rounds) {
            &at.scratch
        } else {
            self.joint(x, &mut spare);
            &spare
        };
        self.log_weights.copy_from_slice(&joint[y.class_index() * n..][..n]); // eq. (3)
        normalise(&mut self.log_weights);
        self.rounds += 1;
        self.spare = spare;
    }

    own! { rounds }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let norm = self.norm;
        let bound = if self.smoothing == 0.0 {
            let bound = bounds::aggregating_binary(&setting(&self.problem, norm, self.rounds));
            let nodes = self.regret_by_nodes();
            let why = || {
                format!(
                    "the nodes of the quadrature are too far from each other: they imply a regret of at most {nodes:.1} only; more `nodes` are needed, or a smaller `norm`"
                )
            };
            if nodes <= bound { Ok(bound) } else { Err(why().into()) }
        } else {
            Err("it needs smoothing = 0".into())
        };
        Some(Guarantee::Regret { ball: Some(Ball::Euclidean), norm, bound })
    }
}

impl State for Aggregating {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::vector("log_weights", &mut self.log_weights), Tensor::count("rounds", &mut self.rounds)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::logistic::{loss, softplus};
    use crate::testing::{assert_close, round, unit_rows};

    fn aggregating(features: usize, params: AggregatingParams) -> Aggregating {
        Aggregating::new(params, Problem::new(2, features), 0).expect("valid parameters")
    }

    /// B = 1. Round 1 at x = 1: the prior is symmetric, p = 1/2. Round 2 after y = 1: the posterior density
    /// is σ(θ), with integral 1 over [-1, 1], and p = ∫σ². Since σ' = σ - σ², this is 1 - (σ(1) - σ(-1)).
    #[test]
    fn by_hand() {
        let mut learner = aggregating(1, AggregatingParams::new().norm(1.0));
        assert_close(round(&mut learner, &[1.0], 1).probabilities[1], 0.5, 1e-14, "prior");
        let sigma = |s: f64| 1.0 / (1.0 + (-s).exp());
        let want = 1.0 - (sigma(1.0) - sigma(-1.0));
        assert_close(round(&mut learner, &[1.0], 0).probabilities[1], want, 1e-14, "posterior");
    }

    /// The total loss is -ln of the average likelihood, here computed by Simpson's rule: on the interval for
    /// d = 1, and in both coordinates of the square, restricted to the disc, for d = 2.
    #[test]
    fn total_loss_is_that_of_the_mixture() {
        let b = 2.0;
        for d in [1, 2] {
            let params = AggregatingParams::new().norm(b);
            let mut learner = aggregating(d, params);
            let rows: Vec<(Vec<f64>, usize)> =
                unit_rows(8, 30, d).into_iter().enumerate().map(|(t, x)| (x, t * t / 3 % 2)).collect();
            let total: f64 = rows.iter().map(|(x, y)| loss(&round(&mut learner, x, *y).scores, *y)).sum();
            let likelihood = |theta: &[f64]| {
                let sum = |x: &[f64]| x.iter().zip(theta).map(|(x, w)| x * w).sum::<f64>();
                let log: f64 =
                    rows.iter().map(|(x, y)| softplus(if *y == 1 { -sum(x) } else { sum(x) })).sum();
                (-log).exp()
            };
            let simpson = |f: &dyn Fn(f64) -> f64| {
                let n = 400;
                let at = |i: usize| b * (2.0 * i as f64 / n as f64 - 1.0);
                let weight = |i: usize| if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
                (0..=n).map(|i| weight(i) * f(at(i))).sum::<f64>() * 2.0 * b / (3 * n) as f64
            };
            let (mean, tolerance) = if d == 1 {
                (simpson(&|w| likelihood(&[w])) / (2.0 * b), 1e-11)
            } else {
                let line = |w: f64| {
                    let half = (b * b - w * w).max(0.0).sqrt() / b;
                    half * simpson(&|v| likelihood(&[w, v * half]))
                };
                (simpson(&line) / (std::f64::consts::PI * b * b), 1e-4)
            };
            assert_close(total, -mean.ln(), tolerance, "total loss");
        }
    }

    #[test]
    fn smoothing_mixes_in_the_uniform_distribution() {
        let params = |smoothing| AggregatingParams::new().smoothing(smoothing);
        let (mut plain, mut smooth) = (aggregating(1, params(0.0)), aggregating(1, params(0.1)));
        for y in [1, 1, 0, 1] {
            let (p, q) = (round(&mut plain, &[0.8], y), round(&mut smooth, &[0.8], y));
            assert_close(q.probabilities[1], 0.9 * p.probabilities[1] + 0.05, 1e-14, "p");
            let logit = (q.probabilities[1] / q.probabilities[0]).ln();
            assert_close(q.scores[1] - q.scores[0], logit, 1e-13, "logit");
        }
    }

    /// A stream of x = 1 whose best comparator lies between the nodes of a wide ball: the bound is withheld.
    /// It is shown for the default ball, in one and in two dimensions, also if the best comparator is at its
    /// boundary.
    #[test]
    fn the_bound_needs_nodes_near_every_comparator() {
        for (norm, nodes, d, right, holds) in [
            (10.0, None, 1, 3, true),
            (10.0, None, 1, 4, true),
            (10.0, None, 2, 3, true),
            (10.0, None, 2, 4, true),
            (1e5, None, 1, 3, false),
            (1e3, Some(16), 1, 3, false),
            (1e3, None, 2, 3, false),
        ] {
            let params = AggregatingParams { norm: Some(norm), nodes, ..Default::default() };
            let mut learner = aggregating(d, params);
            let x = [1.0, 0.0];
            for t in 0..400 {
                round(&mut learner, &x[..d], usize::from(t % 4 < right));
            }
            let bound = learner.guarantee().and_then(|guarantee| guarantee.regret_bound()).expect("has one");
            assert_eq!(bound.is_ok(), holds, "{norm}, {nodes:?}, {d}, {right}: {bound:?}");
        }
    }

    /// Nothing underflows if every comparator's probability is nearly 0 or 1, and the order of rounds has no
    /// effect.
    #[test]
    fn extreme_rows_stay_finite() {
        let mut learner = aggregating(2, AggregatingParams::new().norm(1e3));
        let mut at = learner.prediction();
        learner.predict(Features::Dense(&[-1e6, 0.0]), &mut at);
        round(&mut learner, &[1e6, 1e5], 1);
        learner.update(Features::Dense(&[-1e6, 0.0]), Target::class(0), &at);
        let sure = round(&mut learner, &[1e6, 0.0], 0);
        assert!(
            sure.scores.iter().all(|score| score.is_finite()) && sure.scores[1] > 1.0,
            "{:?}",
            sure.scores
        );
        assert!(learner.log_weights.iter().all(|weight| weight.is_finite()));
    }
}

//! FOLKLORE against its defining rule (Algorithm 1, with the corrected gradient): at every round a Newton
//! method over the whole of $\mathbb{R}^{Kd}$ minimises $w^\top A w + \langle G, w \rangle + \varphi_t(w)$.

use std::collections::VecDeque;

use noregret::algorithm::{Algorithm, Model};
use noregret::example::{Features, Target};
use noregret::full::folklore::{Folklore, FolkloreParams};
use noregret::learner::{OnlineLearner, Predictor};
use noregret::prediction::argmax;
use noregret::problem::Problem;
use noregret::rng::{Rng, Uniforms};

use crate::dense::{Matrix, add_kronecker, covariance, diagonal, dot, inverse, kronecker, solve, times};
use crate::{Round, assert_close, one_hot, softmax, stream};

/// The state of the algorithm in the paper's form.
struct Oracle {
    classes: usize,
    features: usize,
    regularization: f64,
    gamma: f64,
    linear_term: bool,
    a: Matrix,
    g: Vec<f64>,
}

impl Oracle {
    fn new(params: &FolkloreParams, problem: &Problem) -> Self {
        let regularization = params.regularization.expect("resolved");
        let n = problem.classes * problem.features;
        Self {
            classes: problem.classes,
            features: problem.features,
            regularization,
            gamma: params.curvature.expect("resolved").to_string().parse().expect("a number"),
            linear_term: params.linear_term.expect("resolved"),
            a: diagonal(n, regularization),
            g: vec![0.0; n],
        }
    }

    /// $B_t = \frac1K 1 \otimes x - \frac12 A\,\mathrm{blkdiag}(A^{-1})\,(1 \otimes x)$.
    fn linear_term(&self, x: &[f64]) -> Vec<f64> {
        let (k, d) = (self.classes, self.features);
        if !self.linear_term {
            return vec![0.0; k * d];
        }
        let inverse = inverse(&self.a);
        let ones = kronecker(&vec![1.0; k], x);
        let block = |i: usize| -> f64 {
            let first = i / d * d;
            dot(&inverse[i][first..first + d], x)
        };
        let blocks: Vec<f64> = (0..k * d).map(block).collect();
        let image = times(&self.a, &blocks);
        ones.iter().zip(&image).map(|(one, image)| one / k as f64 - 0.5 * image).collect()
    }

    /// The logits $W_t x_t$.
    fn predict(&self, x: &[f64]) -> Vec<f64> {
        let (k, d) = (self.classes, self.features);
        let linear: Vec<f64> = self.linear_term(x).iter().zip(&self.g).map(|(b, g)| b + g).collect();
        let logits = |w: &[f64]| -> Vec<f64> { w.chunks_exact(d).map(|row| dot(row, x)).collect() };
        let value = |w: &[f64]| {
            let z = logits(w);
            let average: f64 =
                (0..k).map(|class| crate::loss(&z, &one_hot(class, k))).sum::<f64>() / k as f64;
            dot(w, &times(&self.a, w)) + dot(&linear, w) + average
        };
        let mut w = vec![0.0; k * d];
        let mut polish = 0;
        for _ in 0..500 {
            let p = softmax(&logits(&w));
            let mean_free: Vec<f64> = p.iter().map(|p| p - 1.0 / k as f64).collect();
            let mut gradient = kronecker(&mean_free, x);
            for ((gradient, image), linear) in gradient.iter_mut().zip(times(&self.a, &w)).zip(&linear) {
                *gradient += 2.0 * image + linear;
            }
            let mut hessian = self.a.clone();
            hessian.iter_mut().flatten().for_each(|entry| *entry *= 2.0);
            add_kronecker(&mut hessian, 1.0, &covariance(&p), x);
            let step = solve(&hessian, &gradient);
            let decrement = dot(&step, &gradient);
            let moved = |tau: f64| -> Vec<f64> { w.iter().zip(&step).map(|(w, s)| w - tau * s).collect() };
            let mut tau = 1.0;
            if decrement > 1e-6 {
                let here = value(&w);
                while value(&moved(tau)) > here - 0.25 * tau * decrement {
                    tau *= 0.5;
                }
            } else {
                // Quadratic convergence: after four more full steps only rounding errors remain.
                polish += 1;
            }
            w = moved(tau);
            if polish == 5 {
                return logits(&w);
            }
        }
        panic!("the oracle's Newton method does not converge");
    }

    /// Where the surrogate of a weight above 1 is taken: $z^+ = z - \frac{\omega - 1}2 X^\top A^{-1}X
    /// (\sigma(z^+)
    /// - y)$ for $X = I \otimes x$, by damped iteration.
    fn ahead(&self, x: &[f64], y: &[f64], weight: f64, z: &[f64]) -> Vec<f64> {
        let inverse = inverse(&self.a);
        let image = |residual: &[f64]| -> Vec<f64> {
            let product = times(&inverse, &kronecker(residual, x));
            product.chunks_exact(self.features).map(|row| 0.5 * (weight - 1.0) * dot(row, x)).collect()
        };
        let largest = (0..self.classes).map(|k| image(&one_hot(k, self.classes))[k]).sum::<f64>();
        let mut ahead = z.to_vec();
        for _ in 0..20_000 {
            let residual: Vec<f64> = softmax(&ahead).iter().zip(y).map(|(p, y)| p - y).collect();
            let image = image(&residual);
            for ((ahead, z), image) in ahead.iter_mut().zip(z).zip(image) {
                *ahead += (z - image - *ahead) / (1.0 + largest);
            }
        }
        ahead
    }

    fn update(&mut self, x: &[f64], y: &[f64], weight: f64, z: &[f64]) {
        let ahead = if weight > 1.0 { self.ahead(x, y, weight, z) } else { z.to_vec() };
        let z = &ahead[..];
        let p = softmax(z);
        let s = covariance(&p);
        let curved = times(&s, z);
        let u: Vec<f64> =
            (0..p.len()).map(|k| weight * (p[k] - y[k] - 2.0 * self.gamma * curved[k])).collect();
        add_kronecker(&mut self.a, weight * self.gamma, &s, x);
        self.g.iter_mut().zip(kronecker(&u, x)).for_each(|(g, new)| *g += new);
    }

    /// Appends a block of zeros to the gradient, and a block $\lambda I$ to the matrix.
    fn add_class(&mut self) {
        let n = self.a.len() + self.features;
        let mut grown = diagonal(n, self.regularization);
        for (grown, row) in grown.iter_mut().zip(&self.a) {
            grown[..row.len()].copy_from_slice(row);
        }
        (self.a, self.classes) = (grown, self.classes + 1);
        self.g.resize(n, 0.0);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Labels {
    Given,
    /// Always the class with the smallest logit.
    Adversarial,
    Soft,
    Weighted,
}

struct Setup {
    classes: usize,
    features: usize,
    rounds: usize,
    radius: f64,
    params: FolkloreParams,
    labels: Labels,
    /// Delay of feedback, in rounds.
    delay: usize,
}

/// The default setting of the tests.
fn usual() -> Setup {
    let params = FolkloreParams::new().norm(2.0);
    Setup { classes: 4, features: 5, rounds: 60, radius: 1.0, params, labels: Labels::Given, delay: 0 }
}

fn check(what: &str, setup: Setup) {
    for linear_term in [true, false] {
        let params = FolkloreParams { linear_term: Some(linear_term), ..setup.params.clone() };
        let problem = Problem::new(setup.classes, setup.features).with_radius(setup.radius);
        let mut learner = Folklore::new(params, problem.clone(), 0).expect("valid parameters");
        let mut oracle = Oracle::new(&learner.params(), &problem);
        let mut rounds = stream(3, setup.rounds, setup.classes, setup.features, setup.radius);
        // Some rows are zero.
        rounds[2].x.fill(0.0);
        rounds[setup.rounds / 2].x.fill(0.0);
        let mut waiting = VecDeque::new();
        let mut rng = Rng::new(5, 0);
        for (t, Round { x, y }) in rounds.iter().enumerate() {
            let mut at = learner.prediction();
            learner.predict(Features::Dense(x), &mut at);
            let z = oracle.predict(x);
            let what = format!("{what}, linear term {linear_term}, round {}", t + 1);
            assert_close(&at.scores, &z, &what);
            assert_close(&at.probabilities, &softmax(&z), &what);
            let (mut y, mut weight) = (y.clone(), 1.0);
            match setup.labels {
                Labels::Given => {}
                Labels::Weighted => weight = 0.1 + 3.0 * rng.uniform(),
                Labels::Adversarial => {
                    let negated: Vec<f64> = z.iter().map(|z| -z).collect();
                    y = one_hot(argmax(&negated), setup.classes);
                }
                Labels::Soft => {
                    let logits: Vec<f64> = y.iter().map(|y| y + rng.normal()).collect();
                    y = softmax(&logits);
                }
            }
            waiting.push_back((x, y, weight, at, z));
            if waiting.len() > setup.delay {
                let (x, y, weight, at, z) = waiting.pop_front().expect("just counted");
                learner.update(Features::Dense(x), Target::distribution(&y).weighted(weight), &at);
                oracle.update(x, &y, weight, &z);
            }
        }
    }
}

#[test]
fn the_usual_case() {
    check("T = 60, d = 5, K = 4", usual());
}

#[test]
fn one_feature() {
    check("d = 1, K = 3", Setup { classes: 3, features: 1, ..usual() });
}

#[test]
fn two_classes() {
    check("K = 2", Setup { classes: 2, ..usual() });
    check("K = 2, d = 1", Setup { classes: 2, features: 1, ..usual() });
}

#[test]
fn large_rows() {
    let params = FolkloreParams::new().norm(0.5);
    check("R = 1000", Setup { radius: 1e3, params, ..usual() });
}

#[test]
fn a_large_ball() {
    let params = FolkloreParams::new().norm(40.0);
    check("B = 40", Setup { params, ..usual() });
}

#[test]
fn little_regularization() {
    let params = FolkloreParams { regularization: Some(1e-4), ..usual().params };
    check("lambda = 1e-4", Setup { params, ..usual() });
}

#[test]
fn ten_classes() {
    check("K = 10", Setup { classes: 10, features: 3, rounds: 40, ..usual() });
}

#[test]
fn many_features() {
    // With 16 features, updates are delayed by four rounds.
    check("d = 16", Setup { classes: 3, features: 16, rounds: 30, ..usual() });
}

#[test]
fn soft_labels() {
    check("soft labels", Setup { labels: Labels::Soft, ..usual() });
}

#[test]
fn adversarial_labels() {
    check("adversarial labels", Setup { labels: Labels::Adversarial, ..usual() });
}

#[test]
fn weighted_rounds() {
    check("weights", Setup { labels: Labels::Weighted, ..usual() });
}

#[test]
fn late_feedback() {
    // The surrogate is taken at the scores of the prediction.
    check("three rounds late", Setup { delay: 3, ..usual() });
}

#[test]
fn every_curvature() {
    for curvature in ["safe", "tight", "paper", "0.3"] {
        let curvature = Some(curvature.parse().expect("a curvature"));
        let params = FolkloreParams { curvature, ..usual().params };
        check("curvature", Setup { rounds: 30, params, ..usual() });
    }
}

#[test]
fn a_class_that_appears_late() {
    let problem = Problem::new(3, 2).with_radius(1.0);
    let mut learner: Box<dyn Model> =
        Box::new(Folklore::new(usual().params, problem.clone(), 0).expect("valid parameters"));
    let params = Folklore::new(usual().params, problem.clone(), 0).expect("valid parameters").params();
    let mut oracle = Oracle::new(&params, &problem);
    for (t, Round { x, y }) in stream(3, 40, 5, 2, 1.0).iter().enumerate() {
        if t == 10 || t == 25 {
            assert!(learner.grow(oracle.classes + 1, 2));
            oracle.add_class();
        }
        let class = argmax(y) % oracle.classes;
        let y = one_hot(class, oracle.classes);
        let mut at = learner.prediction();
        learner.predict(Features::Dense(x), &mut at);
        let z = oracle.predict(x);
        assert_close(&at.scores, &z, &format!("round {}", t + 1));
        learner.update(Features::Dense(x), Target::class(class), &at);
        oracle.update(x, &y, 1.0, &z);
    }
}

#[test]
fn two_classes_need_no_linear_term() {
    // For K = 2 it is a multiple of the all-ones vector, on which no probability depends.
    let play = |linear_term: bool| {
        let params = FolkloreParams { linear_term: Some(linear_term), ..usual().params };
        let problem = Problem::new(2, 3).with_radius(1.0);
        let mut learner = Folklore::new(params, problem, 0).expect("valid parameters");
        let mut at = learner.prediction();
        let forecast = |Round { x, y }: &Round| {
            learner.predict(Features::Dense(x), &mut at);
            learner.update(Features::Dense(x), Target::distribution(y), &at);
            at.probabilities.clone()
        };
        stream(4, 50, 2, 3, 1.0).iter().flat_map(forecast).collect::<Vec<f64>>()
    };
    assert_close(&play(false), &play(true), "with and without");
}

//! Conditional logit: FOLKLORE with tied weights, in the dimension of the parameters (theory: folklore 4.1,
//! 4.2, 4.3), for labels with features of their own, whose scores are $\Phi w$.

use noregret::algorithm::Algorithm as _;
use noregret::example::{Features, Target};
use noregret::full::conditional_logit::{ConditionalLogit, ConditionalLogitParams};
use noregret::kernel::fixed_point::FixedPoint;
use noregret::learner::{OnlineLearner as _, Predictor as _};
use noregret::loss::curvature::Curvature;
use noregret::loss::curvature::{log_odds, rows_spread, safe};
use noregret::prediction::argmax;
use noregret::problem::Problem;
use noregret::rng::{Rng, Uniforms};

use crate::dense::{Matrix, covariance, diagonal, dot, inverse, times};
use crate::{loss, one_hot, softmax};

/// A round: the features of every label, and the label.
struct Offer {
    phi: Matrix,
    y: Vec<f64>,
}

impl Offer {
    fn scores(&self, w: &[f64]) -> Vec<f64> {
        times(&self.phi, w)
    }

    /// $\Phi^\top v$.
    fn transposed(&self, v: &[f64]) -> Vec<f64> {
        (0..self.phi[0].len()).map(|j| self.phi.iter().zip(v).map(|(row, v)| row[j] * v).sum()).collect()
    }
}

/// The algorithm by dense matrices.
struct Tied {
    a: Matrix,
    g: Vec<f64>,
    gamma: f64,
    slack: f64,
    trace: f64,
}

impl Tied {
    /// Equation (8).
    fn scores(&self, phi: &Matrix) -> Vec<f64> {
        let k = phi.len();
        let inverse = inverse(&self.a);
        let image = times(&inverse, &self.g);
        let columns: Vec<Vec<f64>> = phi.iter().map(|row| times(&inverse, row)).collect();
        let half: Vec<f64> = (0..k)
            .flat_map(|i| (0..k).map(|j| 0.5 * dot(&phi[i], &columns[j])).collect::<Vec<_>>())
            .collect();
        let g: Vec<f64> = (0..k).map(|i| 0.5 * (half[i * k + i] - dot(&phi[i], &image))).collect();
        let inner = FixedPoint::full(k);
        let (mut z, mut scratch) = (vec![0.0; k], vec![0.0; inner.scratch_len()]);
        inner.solve(&half, &g, &mut z, &mut scratch);
        z
    }

    /// Equation (9).
    fn learn(&mut self, offer: &Offer, z: &[f64]) {
        let p = softmax(z);
        let s = covariance(&p);
        let curved = times(&s, z);
        let residual: Vec<f64> = p.iter().zip(&offer.y).map(|(p, y)| p - y).collect();
        self.slack += dot(&residual, z) - self.gamma * dot(z, &curved);
        let gradient: Vec<f64> =
            residual.iter().zip(&curved).map(|(r, c)| r - 2.0 * self.gamma * c).collect();
        let inverse = inverse(&self.a);
        let n = self.g.len();
        let mean = offer.transposed(&p);
        for (row, p) in offer.phi.iter().zip(&p) {
            let centred: Vec<f64> = row.iter().zip(&mean).map(|(x, mean)| x - mean).collect();
            self.trace += p * dot(&centred, &times(&inverse, &centred));
            for i in 0..n {
                for j in 0..n {
                    self.a[i][j] += self.gamma * p * centred[i] * centred[j];
                }
            }
        }
        for (g, change) in self.g.iter_mut().zip(offer.transposed(&gradient)) {
            *g += change;
        }
    }

    fn certificate(&self, prior: f64) -> f64 {
        prior + self.slack + 0.25 * dot(&self.g, &times(&inverse(&self.a), &self.g))
    }
}

/// The loss of a good predictor in the ball of radius `norm`, by projected gradient descent: at least the
/// best.
fn good(offers: &[Offer], n: usize, norm: f64) -> f64 {
    let total = |w: &[f64]| offers.iter().map(|offer| loss(&offer.scores(w), &offer.y)).sum::<f64>();
    let (mut w, mut least) = (vec![0.0; n], f64::INFINITY);
    let step = 4.0 / offers.len() as f64;
    for _ in 0..300 {
        let mut gradient = vec![0.0; n];
        for offer in offers {
            let residual: Vec<f64> =
                softmax(&offer.scores(&w)).iter().zip(&offer.y).map(|(p, y)| p - y).collect();
            gradient.iter_mut().zip(offer.transposed(&residual)).for_each(|(sum, g)| *sum += g);
        }
        w.iter_mut().zip(&gradient).for_each(|(w, g)| *w -= step * g);
        let length = dot(&w, &w).sqrt();
        if length > norm {
            w.iter_mut().for_each(|w| *w *= norm / length);
        }
        least = least.min(total(&w));
    }
    least
}

/// Regret, certificate, trace form and closed form increase; a third of the labels are those that were least
/// probable. The learner of the registry plays as the dense matrices do.
#[test]
fn the_regret_is_of_the_order_of_the_number_of_parameters() {
    for (n, k, norm) in [(1, 3, 1.0), (3, 6, 3.0), (3, 20, 10.0), (6, 4, 2.0)] {
        for adversarial in [false, true] {
            let mut rng = Rng::new(n as u64 + 10 * k as u64, 0);
            let truth: Vec<f64> = (0..n).map(|_| norm * rng.normal() / (n as f64).sqrt()).collect();
            let gamma = safe(log_odds(rows_spread(norm, 1.0), k));
            let lambda = 2.0 * gamma;
            let mut tied = Tied { a: diagonal(n, lambda), g: vec![0.0; n], gamma, slack: 0.0, trace: 0.0 };
            let params = ConditionalLogitParams::new().norm(norm).radius(1.0).regularization(lambda);
            let params = params.curvature(Curvature::Value(gamma));
            let mut learner = ConditionalLogit::new(params, Problem::new(k, k * n), 0).expect("valid");
            let mut at = learner.prediction();
            let (mut offers, mut total, rounds) = (Vec::new(), 0.0, 150);
            for t in 0..rounds {
                let mut row = || {
                    let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
                    let length = dot(&x, &x).sqrt().max(1.0);
                    x.iter().map(|x| x / length).collect::<Vec<f64>>()
                };
                let phi: Matrix = (0..k).map(|_| row()).collect();
                let z = tied.scores(&phi);
                let row = phi.concat();
                learner.predict(Features::Dense(&row), &mut at);
                assert!(z.iter().zip(&at.scores).all(|(z, score)| (z - score).abs() < 1e-9), "{z:?} {at:?}");
                let label = if adversarial && t % 3 == 0 {
                    argmax(&z.iter().map(|z| -z).collect::<Vec<_>>())
                } else {
                    noregret::prediction::draw(&softmax(&times(&phi, &truth)), rng.uniform()).index()
                };
                let offer = Offer { phi, y: one_hot(label, k) };
                total += loss(&z, &offer.y);
                tied.learn(&offer, &z);
                learner.update(Features::Dense(&row), Target::class(label), &at);
                offers.push(offer);
            }
            let regret = total - good(&offers, n, norm);
            let prior = lambda * norm * norm;
            let bound = learner.guarantee().and_then(|promise| promise.regret_bound()).expect("has one");
            let certificate = learner.certificate().expect("has one").expect("holds");
            assert!((certificate - tied.certificate(prior)).abs() < 1e-8 * certificate, "{certificate}");
            let chain = [regret, certificate, prior + 0.25 * tied.trace, bound.expect("holds")];
            assert!(
                chain.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9),
                "n = {n}, K = {k}, B = {norm}, {adversarial}: {chain:?}"
            );
        }
    }
}

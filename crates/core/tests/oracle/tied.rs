//! Conditional logit: FOLKLORE with tied weights, in the dimension of the parameters (theory: folklore 4.1,
//! 4.2, 4.3), for labels with features of their own, whose scores are $\Phi w$; hierarchies and stacks.

use noregret::algorithm::Algorithm as _;
use noregret::example::{Features, Target};
use noregret::full::conditional_logit::{ConditionalLogit, ConditionalLogitParams};
use noregret::full::folklore::{Folklore, FolkloreParams};
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

/// Classes in groups that share the weights of all features and have a constant of their own, by columns: a
/// smaller regret and a smaller certificate than those of FOLKLORE, which learns every class by itself.
#[test]
fn classes_of_a_group_share_weights() {
    let (classes, groups, d, rounds) = (30, 3, 4, 400);
    let mut rng = Rng::new(12, 0);
    let mut unit = |size: f64| {
        let x: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
        let length = dot(&x, &x).sqrt();
        x.iter().map(|x| size * x / length).collect::<Vec<f64>>()
    };
    let of_groups: Vec<f64> = (0..groups).flat_map(|_| unit(3.0)).collect();
    let rows: Vec<Vec<f64>> = (0..rounds).map(|_| unit(1.0)).collect();
    let constants: Vec<f64> = (0..classes).map(|_| 2.0 * rng.uniform() - 1.0).collect();
    let truth = [of_groups, constants].concat();
    let phi = |x: &[f64]| -> Matrix {
        let of_class = |class: usize| {
            let mut block = vec![0.0; truth.len()];
            block[d * (class % groups)..][..d].copy_from_slice(x);
            block[d * groups + class] = 1.0;
            block
        };
        (0..classes).map(of_class).collect()
    };
    let radius = 2f64.sqrt();
    let params = ConditionalLogitParams::new().norm(dot(&truth, &truth).sqrt()).radius(radius);
    let problem = Problem::new(classes, classes * truth.len());
    let mut tied = ConditionalLogit::new(params, problem, 0).expect("valid");
    let params = FolkloreParams { norm: Some(10f64.sqrt()), ..Default::default() };
    let problem = Problem::new(classes, d + 1).with_radius(radius * (1.0 + 1e-9));
    let mut flat = Folklore::new(params, problem, 0).expect("valid");
    let (mut at, mut other) = (tied.prediction(), flat.prediction());
    let mut losses = [0.0; 3];
    for x in &rows {
        let phi = phi(x);
        let scores = times(&phi, &truth);
        let label = noregret::prediction::draw(&softmax(&scores), rng.uniform()).index();
        let (blocks, row) = (phi.concat(), [&x[..], &[1.0]].concat());
        tied.predict(Features::Dense(&blocks), &mut at);
        flat.predict(Features::Dense(&row), &mut other);
        for (sum, scores) in losses.iter_mut().zip([&at.scores, &other.scores, &scores]) {
            *sum += loss(scores, &one_hot(label, classes));
        }
        tied.update(Features::Dense(&blocks), Target::class(label), &at);
        flat.update(Features::Dense(&row), Target::class(label), &other);
    }
    let [own, flat_loss, truth_loss] = losses;
    let certificate =
        |promise: Option<Result<f64, noregret::guarantee::Void>>| promise.expect("has one").expect("holds");
    let (small, large) = (certificate(tied.certificate()), certificate(flat.certificate()));
    assert!(own - truth_loss <= small && flat_loss - truth_loss <= large, "{losses:?} {small} {large}");
    assert!(own < flat_loss && small < 0.6 * large, "{losses:?} {small} {large}");
}

/// A stack with a certificate (theory: mixtures 3.4): the features of a label are the logarithms of the
/// probabilities that three members give it, mixed with guessing. Two members see half of the features each,
/// the third is far too sure. With labels of the model the stack beats all of them; in every case its regret
/// against every member and every combination in the ball is within the certificate.
#[test]
fn a_stack_of_clipped_forecasts() {
    let (classes, rounds, least, norm) = (4, 600, 1e-3f64, 2.0);
    for adversarial in [false, true] {
        let mut rng = Rng::new(21, u64::from(adversarial));
        let mut normals =
            |count: usize, size: f64| -> Vec<f64> { (0..count).map(|_| size * rng.normal()).collect() };
        let (first, second) = (normals(classes * 3, 2.0), normals(classes * 3, 2.0));
        let rows: Vec<Vec<f64>> = (0..rounds).map(|_| normals(6, 1.0)).collect();
        let noise: Vec<Vec<f64>> = (0..rounds).map(|_| normals(classes, 1.0)).collect();
        let radius = 0.5 * 3f64.sqrt() * -least.ln();
        let params = ConditionalLogitParams::new().norm(norm).radius(radius);
        let mut stack = ConditionalLogit::new(params, Problem::new(classes, 3 * classes), 0).expect("valid");
        let (mut at, mut total) = (stack.prediction(), 0.0);
        let (mut members, mut offers) = ([0.0; 3], Vec::new());
        for (x, noise) in rows.iter().zip(&noise) {
            let half = |w: &[f64], x: &[f64]| w.chunks_exact(3).map(|row| dot(row, x)).collect::<Vec<_>>();
            let (left, right) = (half(&first, &x[..3]), half(&second, &x[3..]));
            let sum = |a: &[f64], b: &[f64], factor: f64| {
                a.iter().zip(b).map(|(a, b)| factor * (a + b)).collect::<Vec<f64>>()
            };
            let logarithms = [left.clone(), right.clone(), sum(&left, noise, 3.0)].map(|scores| {
                let mixed = |p: f64| (1.0 - classes as f64 * least) * p + least;
                softmax(&scores).into_iter().map(|p| mixed(p).ln()).collect::<Vec<f64>>()
            });
            let block = |label: usize| logarithms.iter().map(|of| of[label] - 0.5 * least.ln()).collect();
            let phi: Matrix = (0..classes).map(block).collect();
            let row = phi.concat();
            stack.predict(Features::Dense(&row), &mut at);
            let label = if adversarial {
                argmax(&at.scores.iter().map(|score| -score).collect::<Vec<_>>())
            } else {
                let p = softmax(&sum(&left, &right, 1.0));
                noregret::prediction::draw(&p, rng.uniform()).index()
            };
            let y = one_hot(label, classes);
            total += loss(&at.scores, &y);
            members.iter_mut().zip(&logarithms).for_each(|(sum, of)| *sum -= of[label]);
            stack.update(Features::Dense(&row), Target::class(label), &at);
            offers.push(Offer { phi, y });
        }
        let certificate = stack.certificate().expect("has one").expect("holds");
        let bound = stack.guarantee().and_then(|promise| promise.regret_bound()).expect("has one");
        let best = members.iter().copied().fold(f64::INFINITY, f64::min);
        let combined = good(&offers, 3, norm).min(best);
        let chain = [total - combined, certificate, bound.expect("holds")];
        assert!(chain.is_sorted(), "{adversarial}: {chain:?}");
        assert!(adversarial || total + certificate < best, "{total}, {members:?}, {certificate}");
    }
}

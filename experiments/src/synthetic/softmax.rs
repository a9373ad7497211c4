//! A well-specified logistic stream: the label is drawn from σ(W x), so that the best linear predictor is W
//! itself.

use noregret::kernel::softmax::softmax;
use noregret::kernel::vector::{axpy, dot};
use noregret::param::{ParamError, Params as _, Values, fraction, positive};
use noregret::params;
use noregret::prediction::draw;
use noregret::rng::{Rng, Uniforms};

use super::{Made, Synthetic, count, fill, mistaken};

params! {
    /// Parameters of the softmax stream.
    pub(super) struct SoftmaxParams {
        /// Number of classes, >= 2.
        classes: u64 = "4",
        /// Number of features, >= 1.
        features: u64 = "10",
        /// Euclidean norm of every row of W, > 0; larger values give less noisy labels.
        norm: f64 = "10",
        /// Correlation of neighbouring features, in [0, 1).
        correlation: f64 = "0",
        /// Probability with which the label is replaced by a random other one, in [0, 1].
        noise: f64 = "0",
        /// Quarter turns that W makes over the stream; 0 is no drift.
        drift: f64 = "0",
    }
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let params = SoftmaxParams::from_values("softmax", values)?;
    let norm = positive("norm", params.norm.unwrap_or(10.0))?;
    let (rho, drift) = (params.correlation.unwrap_or(0.0), params.drift.unwrap_or(0.0));
    let classes = count("classes", params.classes.unwrap_or(4), 2)?;
    let features = count("features", params.features.unwrap_or(10), 1)?;
    if !(0.0..1.0).contains(&rho) {
        return Err(ParamError::invalid("correlation", rho, "in [0, 1)"));
    }
    let noise = fraction("noise", params.noise.unwrap_or(0.0))?;
    if !drift.is_finite() {
        return Err(ParamError::invalid("drift", drift, "a finite number"));
    }
    let mut rng = Rng::new(seed, 0);
    let mut matrix = || {
        let mut w: Vec<f64> = (0..classes * features).map(|_| rng.normal()).collect();
        for row in w.chunks_exact_mut(features) {
            let length = dot(row, row).sqrt();
            row.iter_mut().for_each(|w| *w *= norm / length);
        }
        w
    };
    // W at the start, and after a quarter turn, by class; the angle by which it turns in a round.
    let ends = [matrix(), matrix()];
    let turn = drift * std::f64::consts::FRAC_PI_2 / rows.max(1) as f64;
    let (mut x, mut weights) = (vec![0.0; features], vec![0.0; features]);
    let (mut logits, mut probabilities) = (vec![0.0; classes], vec![0.0; classes]);
    let mut round = 0u64;
    Ok(Synthetic::new(classes, features, move |row| {
        // An autoregression of unit variance, scaled so that rows have norm about 1.
        let (fresh, scale) = ((1.0 - rho * rho).sqrt(), 1.0 / (features as f64).sqrt());
        let mut last = rng.normal();
        for x in &mut x {
            *x = scale * last;
            last = rho * last + fresh * rng.normal();
        }
        let (sine, cosine) = (turn * round as f64).sin_cos();
        for (class, logit) in logits.iter_mut().enumerate() {
            let part = class * features..(class + 1) * features;
            weights.fill(0.0);
            axpy(cosine, &ends[0][part.clone()], &mut weights);
            axpy(sine, &ends[1][part], &mut weights);
            *logit = dot(&weights, &x);
        }
        softmax(&logits, &mut probabilities);
        let class = draw(&probabilities, rng.uniform()).index();
        round += 1;
        fill(row, mistaken(&mut rng, noise, class, classes), &x);
    }))
}

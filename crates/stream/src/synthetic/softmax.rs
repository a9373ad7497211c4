//! A well-specified logistic stream: the label is drawn from σ(W x), so that the best linear predictor is W
//! itself.

use noregret::kernel::softmax::softmax;
use noregret::kernel::vector::{axpy, dot};
use noregret::param::{ParamError, Params as _, Values, positive};
use noregret::params;
use noregret::prediction::draw;
use noregret::rng::{Rng, Uniforms};

use super::Synthetic;
use crate::read::row::Row;

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

pub(super) struct Softmax {
    classes: usize,
    features: usize,
    correlation: f64,
    noise: f64,
    /// Angle by which W turns in a round.
    turn: f64,
    round: u64,
    /// W at the start, and after a quarter turn; by class.
    ends: [Vec<f64>; 2],
    rng: Rng,
    x: Vec<f64>,
    weights: Vec<f64>,
    logits: Vec<f64>,
    probabilities: Vec<f64>,
}

impl Softmax {
    pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Result<Box<dyn Synthetic>, ParamError> {
        let params = SoftmaxParams::from_values("softmax", values)?;
        let (classes, features) = (params.classes.unwrap_or(4), params.features.unwrap_or(10));
        let norm = positive("norm", params.norm.unwrap_or(10.0))?;
        let correlation = params.correlation.unwrap_or(0.0);
        let (noise, drift) = (params.noise.unwrap_or(0.0), params.drift.unwrap_or(0.0));
        for (name, count, least) in [("classes", classes, 2), ("features", features, 1)] {
            if !(least..=1_000_000).contains(&count) {
                return Err(ParamError::invalid(name, count, format!("between {least} and 1000000")));
            }
        }
        if !(0.0..1.0).contains(&correlation) {
            return Err(ParamError::invalid("correlation", correlation, "in [0, 1)"));
        }
        if !(0.0..=1.0).contains(&noise) {
            return Err(ParamError::invalid("noise", noise, "in [0, 1]"));
        }
        if !drift.is_finite() {
            return Err(ParamError::invalid("drift", drift, "a finite number"));
        }
        let (classes, features) = (classes as usize, features as usize);
        let mut rng = Rng::new(seed, 0);
        let mut matrix = || {
            let mut w: Vec<f64> = (0..classes * features).map(|_| rng.normal()).collect();
            for row in w.chunks_exact_mut(features) {
                let length = dot(row, row).sqrt();
                row.iter_mut().for_each(|w| *w *= norm / length);
            }
            w
        };
        let ends = [matrix(), matrix()];
        Ok(Box::new(Self {
            classes,
            features,
            correlation,
            noise,
            turn: drift * std::f64::consts::FRAC_PI_2 / rows.max(1) as f64,
            round: 0,
            ends,
            rng,
            x: vec![0.0; features],
            weights: vec![0.0; features],
            logits: vec![0.0; classes],
            probabilities: vec![0.0; classes],
        }))
    }
}

impl Synthetic for Softmax {
    fn classes(&self) -> usize {
        self.classes
    }

    fn features(&self) -> usize {
        self.features
    }

    fn next(&mut self, row: &mut Row) {
        // An autoregression of unit variance, scaled so that rows have norm about 1.
        let (rho, fresh) = (self.correlation, (1.0 - self.correlation * self.correlation).sqrt());
        let scale = 1.0 / (self.features as f64).sqrt();
        let mut last = self.rng.normal();
        for x in &mut self.x {
            *x = scale * last;
            last = rho * last + fresh * self.rng.normal();
        }
        let (sine, cosine) = (self.turn * self.round as f64).sin_cos();
        for (class, logit) in self.logits.iter_mut().enumerate() {
            let part = class * self.features..(class + 1) * self.features;
            self.weights.fill(0.0);
            axpy(cosine, &self.ends[0][part.clone()], &mut self.weights);
            axpy(sine, &self.ends[1][part], &mut self.weights);
            *logit = dot(&self.weights, &self.x);
        }
        softmax(&self.logits, &mut self.probabilities);
        let mut class = draw(&self.probabilities, self.rng.uniform()).index();
        if self.noise > 0.0 && self.rng.uniform() < self.noise {
            class = (class + 1 + self.rng.below(self.classes as u64 - 1) as usize) % self.classes;
        }
        self.round += 1;
        row.clear();
        row.set_name(&class.to_string());
        (0u32..).zip(&self.x).for_each(|(column, value)| row.push(column, *value));
    }
}

use super::squared_loss::value_of;
use super::*;
use crate::algorithm::Algorithm as _;
use crate::example::{Features, Truth};
use crate::full::vaw::{Vaw, VawParams};
use crate::learner::{OnlineLearner as _, Predictor as _};
use crate::problem::Problem;
use crate::rng::{Rng, Uniforms};
use crate::testing::assert_close;

#[test]
fn squared_loss_is_vaw() {
    for target_bound in [1.0, 30.0] {
        let params = VawParams::new().norm(2.0).regularization(0.1);
        let mut vaw = Vaw::new(params, Problem::new(1, 5), 0).expect("valid");
        let squared = Gaussian { loss: SquaredLoss { target_bound }, regularization: 0.1 };
        let mut gaf = GaussianForecaster::start(squared, Problem::new(1, 5));
        let (mut theirs, mut ours) = (vaw.prediction(), gaf.prediction());
        let mut rng = Rng::new(5, 0);
        for _ in 0..60 {
            let x: Vec<f64> = (0..5).map(|_| rng.uniform() - 0.5).collect();
            let (x, y) = (Features::Dense(&x), Target::value(rng.uniform()).weighted(0.5 + rng.uniform()));
            vaw.predict(x, &mut theirs);
            gaf.predict(x, &mut ours);
            assert_close(ours.scores[0], theirs.scores[0], 1e-12, "forecast");
            vaw.update(x, y, &theirs);
            gaf.update(x, y, &ours);
        }
        let certificate = vaw.certificate().expect("has one").expect("holds");
        assert_close(gaf.certificate_for(2.0), certificate, 1e-11, "certificate");
    }
}

/// ℓ(z) = e^z - yz (Poisson), whose Newton steps must be damped.
#[derive(Clone)]
struct Poisson;

impl MixableLoss for Poisson {
    fn dimension(&self) -> usize {
        1
    }
    fn outputs(&self) -> (usize, usize) {
        (1, 0)
    }
    fn scratch_len(&self) -> usize {
        0
    }
    fn mixability(&self) -> f64 {
        1.0
    }
    fn curvature(&self) -> f64 {
        0.1
    }
    fn value(&self, z: &[f64], y: Truth<'_>, _: &mut [f64]) -> f64 {
        z[0].exp() - value_of(y) * z[0]
    }
    fn expand(&self, z: &[f64], y: Truth<'_>, gradient: &mut [f64], factor: &mut [f64], _: &mut [f64]) {
        gradient[0] = z[0].exp() - value_of(y);
        factor[0] = (0.5 * z[0]).exp();
    }
    fn substitute(&self, posterior: Posterior<'_>, out: Forecast<'_>, _: &mut [f64]) {
        out.scores[0] = posterior.mean[0];
    }
    fn forecast_loss(&self, scores: &[f64], y: Truth<'_>) -> f64 {
        self.value(scores, y, &mut [])
    }
}

#[test]
fn a_users_loss_settles_at_the_stationary_point() {
    for z0 in [-30.0, 0.0, 5.0, 40.0] {
        for a in [0.0, 1e-3, 1.0, 1e4] {
            for y in [0.0, 3.0, 1e3] {
                let mut z = [0.0];
                Poisson.settle(&[a], &[z0], Truth::Value(y), &mut z, &mut [0.0; 9], &mut []);
                let residual = z[0] - z0 + a * (z[0].exp() - y);
                let slope = 1.0 + a * z[0].exp();
                assert!((residual / slope).abs() < 1e-10 * (1.0 + z[0].abs()), "{z0} {a} {y}: {}", z[0]);
            }
        }
    }
}

/// θ_{t+1} = -½A_t^{-1}b_t is the minimiser computed after the label: the next mean for the same x is z⁺.
#[test]
fn the_next_mean_is_the_settled_point() {
    let poisson = Gaussian { loss: Poisson, regularization: 0.7 };
    let mut gaf = GaussianForecaster::start(poisson, Problem::new(1, 3));
    let mut at = gaf.prediction();
    for (x, y) in [([0.5, -0.3, 0.2], 2.0), ([0.1, 0.9, -0.4], 0.0), ([0.6, 0.2, 0.7], 5.0)] {
        let x = Features::Dense(&x);
        gaf.predict(x, &mut at);
        let z0 = at.scores[0];
        let a = 0.5 * gaf.inverse_quadratic(x);
        gaf.update(x, Target::value(y), &at);
        gaf.predict(x, &mut at);
        let z = at.scores[0];
        assert_close(z, z0 - a * (z.exp() - y), 1e-12, "mean");
    }
}

impl<L: MixableLoss> GaussianForecaster<L> {
    fn inverse_quadratic(&self, x: Features<'_>) -> f64 {
        self.state.project(x, &mut vec![f64::NAN; self.state.scratch_len()]).gram[0]
    }
}

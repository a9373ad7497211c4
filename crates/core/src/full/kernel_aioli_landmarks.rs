//! # Kernel AIOLI by landmarks: streams of any length in bounded time and memory
//!
//! [Kernel AIOLI](super::kernel_aioli) stores every row. Here a limited number of rows, the *landmarks*, span
//! a subspace of the kernel's Hilbert space, and [AIOLI](super::aioli) learns in its coordinates. What rows
//! have outside of it is lost, and its price is part of the certificate. While every row is a landmark, it is
//! kernel AIOLI.
//!
//! ## Reference
//!
//! Rémi Jézéquel, Pierre Gaillard, Alessandro Rudi, *Efficient improper learning for online logistic
//! regression*, COLT 2020, arXiv:2003.08109: section 4.1, whose approximation is another one.
//! `references.bib`: `jezequel2020aioli`; theory: aioli 4.1, 4.2.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $\Phi(x)$ | | the row's features in the Hilbert space |
//! | $z_1 \dots z_m$ | `landmarks` | the landmarks so far |
//! | $\tilde x$ | `coordinates` | coordinates of $P\Phi(x)$, $P$ the projection to the span of the landmarks |
//! | $\delta$ | `distance` | $\lVert \Phi(x) - P\Phi(x) \rVert$ |
//! | $B, R, \lambda, \kappa$ | `norm`, `radius`, `regularization`, `kappa` | as in kernel AIOLI |
//!
//! $$ LL^\top = (k(z_i, z_j))_{ij}, \qquad \tilde x = L^{-1} (k(z_i, x))_i, \qquad
//!    \delta^2 = k(x, x) - \lVert \tilde x \rVert^2. \tag{1} $$
//!
//! If $\delta > \text{tolerance} \sqrt{k(x, x)}$ and there is room, $x$ becomes a landmark: $\tilde x$ gets
//! the further coordinate $\delta$, and nothing is lost. AIOLI forecasts and learns $\tilde x$. With its
//! $r_t$, $s_t$ and $\pi_t$, and its certificate or its bound for $m$ features, for every comparator of norm
//! at most $B$ in the Hilbert space
//!
//! $$ \mathrm{Regret}(\theta) \le \text{AIOLI's} + B \textstyle\sum_t \delta_t
//!    \min\bigl(1,\ |r_t| + 2\kappa\pi_t(BR + |s_t|)\bigr), \tag{2} $$
//!
//! the sum being over the rounds whose rows were no landmarks.
//!
//! ## Deviations
//!
//! * The paper samples points by their leverage scores and assumes that the spectrum decays. Here (2) says
//!   what was lost, without an assumption.
//! * To $\delta^2$ a part of $10^{-14}$ of $k(x, x)$ is added in (2), which covers rounding in (1).
//! * For a row with $k(x, x) > 10^{300}\lambda$, whose squares overflow, the forecast is ½, and nothing is
//!   learnt.
//! * Models do not merge, since each has landmarks of its own.
//!
//! ## Cost
//!
//! `predict` $2md + 3m^2$ flops and `update` $m^2$, for $m$ = `landmarks` from the first round on; memory
//! $\frac32m^2 + md$ numbers.

use super::aioli::{Aioli, AioliParams, AioliSurrogate};
use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::capability::Inside;
use crate::example::{Features, Target};
use crate::guarantee::{
    Ball, Guarantee, Promise, Terms, curved, digits_of, is_beyond, provided, setting, were,
};
use crate::kernel::landmarks::Landmarks;
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::loss::curvature::Curvature;
pub use crate::param::kernel::Kernel;
use crate::param::kernel::Reproducing;
use crate::param::{ParamError, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// The part of $k(x, x)$ by which rounding may change $\delta^2$.
const ROUNDING: f64 = 1e-14;

/// Length of the first part of the scratch memory: $k(x, x)$, $\delta$, and 1 for a row that becomes a
/// landmark.
const HEAD: usize = 3;

/// The default number of landmarks.
const LANDMARKS: u64 = 256;

params! {
    /// Parameters of [`KernelAioliLandmarks`].
    pub struct KernelAioliLandmarksParams {
        /// Number $m$ of rows that are kept at most, from 1 to 10000.
        landmarks: u64 = "256",
        /// A row farther than this from the span of the landmarks, in multiples of $\sqrt{k(x, x)}$, becomes
        /// one of them while there is room; from 1e-6 to 1.
        tolerance: f64 = "0.001",
        /// `linear`, `polynomial` or `rbf`.
        kernel: Kernel = "rbf",
        /// Degree of the polynomial kernel, from 1 to 100.
        degree: u64 = "2",
        /// Offset of the polynomial kernel, >= 0.
        offset: f64 = "1",
        /// Length scale of the rbf kernel, > 0.
        length_scale: f64 = "sqrt(features)",
        /// Bound $B$ on the norm of the comparator in the kernel's Hilbert space, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on $\sqrt{k(x, x)}$, > 0.
        radius: f64 = "from the stream's r, or r = 1: r for linear, (r^2 + offset)^(degree/2) for polynomial, 1 for rbf",
        /// Weight $\lambda$ of the comparator's squared norm, > 0.
        regularization: f64 = "1 / norm^2",
        /// Curvature $\kappa$ of the surrogates: `paper`, `safe`, `tight` or a number > 0.
        curvature: Curvature = "paper: 1 / (2 (1 + norm radius))",
        /// Weight $\rho$ of the coming round's losses, >= 0; the guarantee needs 1.
        improper_weight: f64 = "1",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct KernelAioliLandmarks {
    params: KernelAioliLandmarksParams,
    problem: Problem,
    kernel: Reproducing,
    most: usize,
    tolerance: f64,
    landmarks: Landmarks,
    /// AIOLI in the coordinates, of which those of landmarks to come are 0.
    aioli: Aioli,
    /// The sum in (2), times $B$.
    price: f64,
    /// A bound on what the rows have added to the largest eigenvalue of AIOLI's matrix.
    growth: f64,
    /// Number of rounds with $\sqrt{k(x, x)} > R$.
    beyond_radius: u64,
    /// For rounds whose prediction is outdated.
    spare: Prediction,
}

impl KernelAioliLandmarks {
    fn scratch_len(&self) -> usize {
        HEAD + self.problem.features + self.most
    }

    /// Writes equation (1) to the scratch memory of a prediction: the [head](HEAD), $x$ and $\tilde x$.
    fn project(&self, x: Features<'_>, scratch: &mut Vec<f64>) {
        scratch.clear();
        scratch.resize(self.scratch_len(), 0.0);
        let (head, rest) = scratch.split_at_mut(HEAD);
        let (dense, coordinates) = rest.split_at_mut(self.problem.features);
        x.add_to(1.0, dense);
        head[0] = self.kernel.value(dense, dense);
        if !self.aioli.surrogate.can_learn(head[0]) {
            return;
        }
        let rest = self.landmarks.project(|u, v| self.kernel.value(u, v), dense, head[0], coordinates);
        let count = self.landmarks.count();
        if count < self.most && rest > self.tolerance * self.tolerance * head[0] {
            head[1] = rest.sqrt();
            head[2] = 1.0;
            coordinates[count] = head[1];
        } else {
            head[1] = (rest + ROUNDING * head[0]).sqrt();
        }
    }

    /// Returns `promise`, provided that surrogates are lower bounds of the losses.
    fn promised(&self, promise: impl FnOnce() -> Promise) -> Promise {
        let AioliSurrogate { radius, kappa, .. } = self.aioli.surrogate;
        curved(kappa, self.aioli.surrogate.largest_kappa(), || match self.beyond_radius {
            0 => promise(),
            rows => {
                let (rows, radius) = (were(rows, "row"), digits_of(radius));
                let about = "which is about sqrt(k(x, x))";
                Err(format!("{rows} beyond the learner's radius {radius}, {about}").into())
            }
        })
    }
}

impl Algorithm for KernelAioliLandmarks {
    type Params = KernelAioliLandmarksParams;

    const ABOUT: About = About {
        name: "kernel-aioli-landmarks",
        summary: "AIOLI with a kernel in bounded time and memory: few rows represent all",
        paper: Paper { key: "jezequel2020aioli", place: "section 4.1, with landmarks" },
        guarantee: "regret <= lambda B^2 + m/(2 kappa) ln(1 + kappa T R^2/(4 m lambda)) + the price of the rows' distances from the span of the m landmarks, RKHS norm <= B",
        cost: "4 m^2 + 2 m d flops a round",
        memory: "3/2 m^2 + m d numbers",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Two, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: KernelAioliLandmarksParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let landmarks = params.landmarks.unwrap_or(LANDMARKS);
        if !(1..=10_000).contains(&landmarks) {
            return Err(ParamError::invalid("landmarks", landmarks, "from 1 to 10000"));
        }
        let tolerance = params.tolerance.unwrap_or(1e-3);
        if !(1e-6..=1.0).contains(&tolerance) {
            return Err(ParamError::invalid("tolerance", tolerance, "from 1e-6 to 1"));
        }
        let KernelAioliLandmarksParams { kernel, degree, offset, length_scale, .. } = params;
        let kernel = Reproducing::checked(kernel, degree, offset, length_scale, problem.features)?;
        let default = kernel.radius(problem.radius.unwrap_or(1.0));
        let radius = positive("radius", params.radius.unwrap_or(default))?;
        let KernelAioliLandmarksParams { norm, regularization, curvature, improper_weight, .. } = params;
        let radius = Some(radius);
        let inner = AioliParams { norm, radius, regularization, curvature, improper_weight };
        let aioli = Aioli::new(inner, Problem::new(2, landmarks as usize), seed)?;
        let AioliParams { norm, regularization, curvature, improper_weight, .. } = aioli.params();
        let mut learner = Self {
            params: KernelAioliLandmarksParams {
                landmarks: Some(landmarks),
                tolerance: Some(tolerance),
                kernel: Some(kernel.kernel),
                degree: Some(kernel.degree.into()),
                offset: Some(kernel.offset),
                length_scale: Some(kernel.length_scale),
                norm,
                radius,
                regularization,
                curvature,
                improper_weight,
            },
            problem,
            kernel,
            most: landmarks as usize,
            tolerance,
            landmarks: Landmarks::default(),
            aioli,
            price: 0.0,
            growth: 0.0,
            beyond_radius: 0,
            spare: Prediction::default(),
        };
        learner.spare = learner.prediction();
        Ok(learner)
    }

    own! { params, numbers }

    fn numbers_for(params: &KernelAioliLandmarksParams, problem: &Problem) -> usize {
        let most = params.landmarks.unwrap_or(LANDMARKS).min(10_000) as usize;
        let own = most.saturating_mul(problem.features).saturating_add(most * most);
        own.saturating_add(Aioli::numbers(&Problem::new(2, most)))
    }

    /// The landmarks are stored as they come.
    fn numbers_at_first(params: &KernelAioliLandmarksParams, _problem: &Problem) -> usize {
        Aioli::numbers(&Problem::new(2, params.landmarks.unwrap_or(LANDMARKS).min(10_000) as usize))
    }
}

impl Predictor for KernelAioliLandmarks {
    own! { problem }

    fn prediction(&self) -> Prediction {
        let mut prediction = Prediction::sized(2, self.scratch_len());
        prediction.nested = Some(Box::new(self.aioli.prediction()));
        prediction
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        self.project(x, &mut out.scratch);
        let nested = out.nested.get_or_insert_with(|| Box::new(self.aioli.prediction()));
        let coordinates = &out.scratch[HEAD + self.problem.features..];
        self.aioli.predict(Features::Dense(coordinates), nested);
        out.scores.clone_from(&nested.scores);
        out.probabilities.clone_from(&nested.probabilities);
        out.stamp = Some(self.rounds());
    }
}

impl OnlineLearner for KernelAioliLandmarks {
    /// Of an outdated prediction only the score is used, at which the surrogate is taken.
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let mut spare = std::mem::take(&mut self.spare);
        let fresh = at.is_fresh(self.rounds()) && at.scratch.len() == self.scratch_len();
        let (scratch, nested) = match &at.nested {
            Some(nested) if fresh => (&at.scratch, nested),
            _ => {
                self.project(x, &mut spare.scratch);
                let nested = spare.nested.get_or_insert_with(|| Box::new(self.aioli.prediction()));
                nested.scores.clone_from(&at.scores);
                nested.probabilities.clone_from(&at.probabilities);
                nested.stamp = None;
                (&spare.scratch, &*nested)
            }
        };
        let (dense, coordinates) = scratch[HEAD..].split_at(self.problem.features);
        let &[own, distance, new] = &scratch[..HEAD] else { unreachable!("its length") };
        let AioliSurrogate { norm, radius, kappa, .. } = self.aioli.surrogate;
        self.beyond_radius += u64::from(is_beyond(own, radius));
        let s = at.scores[1] - at.scores[0];
        let p = [at.probabilities[0], at.probabilities[1]];
        let weight = kappa * p[0] * p[1];
        if new > 0.0 {
            self.landmarks.add(dense, coordinates, distance);
        } else if distance > 0.0 {
            let y_vector = y.truth.binary();
            let r = y_vector[1] * p[0] - y_vector[0] * p[1];
            let slope = r.abs() + 2.0 * weight * (norm * radius + s.abs());
            // The surrogate of a heavier round is taken elsewhere, where its slope is at most 1.
            let slope = if y.weight > 1.0 { 1.0 } else { slope.min(1.0) };
            self.price += y.weight * norm * distance * slope; // eq. (2)
        }
        if self.aioli.surrogate.can_learn(own) {
            let weight = if y.weight > 1.0 { 0.25 * kappa } else { weight };
            self.growth += y.weight * weight * own;
        }
        self.aioli.update(Features::Dense(coordinates), y, nested);
        self.spare = spare;
    }

    fn rounds(&self) -> u64 {
        self.aioli.rounds()
    }

    /// Equation (2), for comparators in the kernel's Hilbert space.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let AioliSurrogate { norm, radius, regularization, kappa, improper_weight } = self.aioli.surrogate;
        let bound = self.promised(|| {
            provided(improper_weight == 1.0, "it needs improper_weight = 1", || {
                let setting = setting(&self.problem, norm, self.rounds());
                let features = self.landmarks.count().max(1);
                let setting = bounds::Setting { features, radius, ..setting };
                bounds::aioli_curvature(&setting, regularization, kappa) + self.price
            })
        });
        let ball = (self.kernel.kernel == Kernel::Linear).then_some(Ball::Euclidean);
        Some(Guarantee::Regret { ball, norm, bound })
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        if classes != 2 || features < self.problem.features {
            return false;
        }
        self.landmarks.widen(self.problem.features, features);
        self.problem.features = features;
        true
    }

    /// Equation (2).
    fn certificate(&self) -> Option<Promise> {
        Some(self.promised(|| {
            self.aioli.certificate().expect("AIOLI has one").map(|certificate| certificate + self.price)
        }))
    }

    fn certificate_terms(&self) -> Option<Terms> {
        let terms = self.aioli.certificate_terms()?;
        Some(Terms { size: terms.size + self.price, largest: Some(self.growth), ..terms })
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }
}

impl Inside for KernelAioliLandmarks {
    fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        vec![("landmarks", vec![self.landmarks.count() as f64]), ("price_of_distances", vec![self.price])]
    }
}

impl State for KernelAioliLandmarks {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors: Vec<_> =
            self.aioli.tensors().into_iter().map(|tensor| tensor.within("aioli")).collect();
        tensors.extend(self.landmarks.lists().map(|(name, list)| Tensor::list(name, list)));
        tensors.push(Tensor::number("price", &mut self.price));
        tensors.push(Tensor::number("growth", &mut self.growth));
        tensors.push(Tensor::count("beyond_radius", &mut self.beyond_radius));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.landmarks.restored(self.problem.features, self.most) && self.aioli.restored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::full::kernel_aioli::{KernelAioli, KernelAioliParams};
    use crate::testing::{assert_close, plays};

    fn learner(params: KernelAioliLandmarksParams, features: usize) -> KernelAioliLandmarks {
        KernelAioliLandmarks::new(params, Problem::new(2, features), 0).expect("valid")
    }

    /// Linear kernel, one landmark, B = 1, R = 2, λ = 1, κ = ¼. Round 1, x = (1, 0): a landmark with the
    /// coordinate 1, and as in AIOLI's example s = 0, and with label 1 b = ¼, A = 17/16. Round 2, x = (1, 1):
    /// the coordinate is 1 and δ = 1, so that s solves AIOLI's s + (8/17) tanh(s/2) = 4/17. With label 1, r =
    /// p_0 and the price is min(1, p_0 + ½ p_0 p_1 (2 + s)).
    #[test]
    fn two_rounds_by_hand() {
        let params = KernelAioliLandmarksParams {
            landmarks: Some(1),
            kernel: Some(Kernel::Linear),
            norm: Some(1.0),
            radius: Some(2.0),
            regularization: Some(1.0),
            curvature: Some(Curvature::Value(0.25)),
            ..Default::default()
        };
        let mut learner = learner(params, 2);
        let mut at = learner.prediction();
        let x = Features::Dense(&[1.0, 0.0]);
        learner.predict(x, &mut at);
        assert_eq!(at.scores, [0.0, 0.0]);
        learner.update(x, Target::class(1), &at);
        assert_eq!((learner.landmarks.count(), learner.price), (1, 0.0));
        let x = Features::Dense(&[1.0, 1.0]);
        learner.predict(x, &mut at);
        let s = at.scores[1] - at.scores[0];
        assert_close(s + 8.0 / 17.0 * (0.5 * s).tanh(), 4.0 / 17.0, 1e-14, "AIOLI's equation (1)");
        let p = [at.probabilities[0], at.probabilities[1]];
        learner.update(x, Target::class(1), &at);
        assert_close(learner.price, p[0] + 0.5 * p[0] * p[1] * (2.0 + s), 1e-12, "price");
        assert_eq!(learner.landmarks.count(), 1);
    }

    /// With room for every row it is kernel AIOLI, certificate included.
    #[test]
    fn is_kernel_aioli_while_every_row_is_a_landmark() {
        for kernel in [Kernel::Rbf, Kernel::Polynomial, Kernel::Linear] {
            let own = KernelAioliLandmarksParams {
                landmarks: Some(80),
                tolerance: Some(1e-6),
                kernel: Some(kernel),
                length_scale: Some(0.5),
                norm: Some(4.0),
                ..Default::default()
            };
            let exact = KernelAioliParams {
                kernel: Some(kernel),
                length_scale: Some(0.5),
                norm: Some(4.0),
                ..Default::default()
            };
            let mut own = learner(own, 4);
            let mut exact = KernelAioli::new(exact, Problem::new(2, 4), 0).expect("valid");
            let (got, want) = (plays(&mut own, 80), plays(&mut exact, 80));
            for (got, want) in got.concat().iter().zip(want.concat()) {
                assert_close(*got, want, 1e-8, "p");
            }
            let certificates = (own.certificate(), exact.certificate());
            let (Some(Ok(got)), Some(Ok(want))) = certificates else { panic!("{certificates:?}") };
            // Rows in the span of others are charged what rounding may have changed.
            assert!(want <= got + 1e-6 && got <= want + 1e-4, "{got} for {want}");
        }
    }

    /// Without a length scale it is the square root of the number of columns, about the distance of two
    /// standardised rows.
    #[test]
    fn the_length_scale_grows_with_the_columns() {
        let learner = learner(KernelAioliLandmarksParams::new(), 9);
        assert_eq!((learner.kernel.length_scale, learner.params.length_scale), (3.0, Some(3.0)));
    }

    /// Few landmarks are as good as all rows where the kernel is smooth.
    #[test]
    fn few_landmarks_suffice_for_a_smooth_kernel() {
        let params =
            KernelAioliLandmarksParams { length_scale: Some(2.0), norm: Some(4.0), ..Default::default() };
        let mut few = learner(KernelAioliLandmarksParams { landmarks: Some(60), ..params }, 4);
        let exact = KernelAioliParams { length_scale: Some(2.0), norm: Some(4.0), ..Default::default() };
        let mut exact = KernelAioli::new(exact, Problem::new(2, 4), 0).expect("valid");
        let (got, want) = (plays(&mut few, 400), plays(&mut exact, 400));
        let largest = got.concat().iter().zip(want.concat()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(largest < 0.01 && few.landmarks.count() <= 60, "{largest}");
        let (Some(Ok(own)), Some(Ok(other))) = (few.certificate(), exact.certificate()) else {
            panic!("hold")
        };
        assert!(other < own && own < 1.5 * other + 5.0, "{own} for {other}");
    }
}

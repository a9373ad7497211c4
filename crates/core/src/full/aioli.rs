//! # AIOLI: efficient improper online logistic regression for two classes
//!
//! Predicts with the minimiser of the past quadratic surrogates plus the losses of the *coming* prediction
//! under both labels. The result is the logit of a ridge-like regression, shrunk towards 0, most for unusual
//! rows. The regret is logarithmic in $T$ with a factor linear in $BR$, which no proper learner can attain.
//!
//! ## Reference
//!
//! Rémi Jézéquel, Pierre Gaillard, Alessandro Rudi, *Efficient improper learning for online logistic
//! regression*, COLT 2020, arXiv:2003.08109: equation (3), Theorem 1. `references.bib`: `jezequel2020aioli`;
//! theory: aioli 1.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $d, n$ | `problem` | features, rounds |
//! | $B, R$ | `norm`, `radius` | bounds on $\lVert \theta \rVert_2$ of the comparator and on $\lVert x \rVert_2$ |
//! | $\lambda$ | `regularization` | weight of $\lVert \theta \rVert^2$ |
//! | $1/(2(1+BR))$ | `kappa` | curvature $\kappa$ of the surrogates |
//! | | `improper_weight` | weight $\rho$ of the coming round's losses, 1 in the paper |
//! | $A_t^{-1}, b_t$ | `inverse`, `b` | the surrogates' sum is $\theta^\top A\theta - 2b^\top\theta$ up to a constant |
//! | $\hat y_t = \theta_t^\top x_t$ | `scores` | the logit $s_t$ of class 1 (the paper's $+1$) over class 0, as $(-s_t/2, s_t/2)$ |
//! | $w, v$ | `w`, `v` | $A^{-1}x$, $x^\top A^{-1}x$ |
//!
//! With $A_0 = \lambda I$, $b_0 = 0$ and $y = (y_0, y_1)$ one-hot or a probability vector, a round is
//!
//! $$ m = w^\top b, \qquad s + \tfrac{\rho v}{2} \tanh\tfrac s2 = m, \qquad p = (\sigma(-s), \sigma(s)),
//!    \tag{1} $$
//! $$ r = y_1 p_0 - y_0 p_1, \qquad b \mathrel{+}= (\kappa p_0p_1 s + \tfrac12 r)\ x, \tag{2} $$
//! $$ A \mathrel{+}= c\ xx^\top, \quad c = \kappa p_0p_1: \qquad A^{-1} \mathrel{-}=
//!    \tfrac{c}{1+cv}\ ww^\top. \tag{3} $$
//!
//! For every $\lVert \theta \rVert \le B$, in terms of the data and in the worst case (Theorem 1, for every
//! valid $\kappa$):
//!
//! $$ \mathrm{Regret}(\theta) \le \lambda B^2 - \textstyle\sum_t (r_t s_t + \kappa p_0p_1 s_t^2) + b^\top
//!    A_T^{-1} b \tag{4} $$
//! $$ \phantom{\mathrm{Regret}(\theta)} \le \lambda B^2 + \tfrac{d}{2\kappa} \ln(1 + \kappa T R^2 /
//!    (4d\lambda)). \tag{5} $$
//!
//! ## Deviations
//!
//! * The paper's algorithms lack the factor $\tfrac12$ of $r$ in $b$; its equation (5) has it, and without it
//!   the regret exceeds the theorem's bound.
//! * The surrogate's coefficients are written with $p_0 p_1$ in place of $e^{y\hat y}$, which overflows.
//! * The prediction solves one scalar equation to machine precision; the paper uses gradient descent in two
//!   dimensions.
//! * $\kappa$ may be larger than the paper's valid value: `safe` is $1/(2+BR)$, `tight` the largest valid
//!   one.
//! * Soft labels are accepted: a surrogate is linear in the label, and the regret bound convex in it
//!   (theory: extensions 1.1).
//! * The theory has no default for $B$: `norm` is $30/R$, so that the best comparator reaches logits of $\pm
//!   30$ in every unit of $x$.
//! * Importance weights multiply a round's surrogate; the guarantee is then about the weighted regret. For
//!   weights above 1 the surrogate is taken where as many rounds of weight 1 would lead (theory: extensions
//!   1.3).
//!
//! ## Cost
//!
//! `predict` $2d^2$ flops, `update` $d^2$ (with delayed updates of the matrix), about three Newton steps in
//! one unknown; memory $d^2$ numbers.

use super::second_order::{Described, Row, SecondOrderLearner, Sums, Surrogate};
use crate::algorithm::{About, Forecast, Paper};
use crate::batch::passes::Coordinates;
use crate::bounds::{self, aioli_certificate};
use crate::example::Target;
use crate::guarantee::{Ball, Guarantee, Promise, Terms, curved, provided};
use crate::kernel::second_order::RoundUpdate;
use crate::learner::{Accepts, Classes};
use crate::loss::curvature::Curvature;
use crate::loss::heavy;
pub use crate::loss::improper::AioliSurrogate;
use crate::loss::improper::Taken;
use crate::param::ParamError;
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;

params! {
    /// Parameters of [`Aioli`].
    pub struct AioliParams {
        /// Bound $B$ on the Euclidean norm of the comparator, > 0.
        norm: f64 = "30 / radius",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0.
        radius: f64 = "the stream's, or 1",
        /// Weight $\lambda$ of the comparator's squared norm, > 0.
        regularization: f64 = "1 / norm^2",
        /// Curvature $\kappa$ of the surrogates: `paper`, `safe`, `tight` or a number > 0.
        curvature: Curvature = "paper: 1 / (2 (1 + norm radius))",
        /// Weight $\rho$ of the coming round's losses, >= 0; the guarantee needs 1, and 0 gives a proper
        /// learner.
        improper_weight: f64 = "1",
    }
}

/// See the [module](self).
pub type Aioli = SecondOrderLearner<AioliSurrogate>;

impl Described for AioliSurrogate {
    type Params = AioliParams;

    const ABOUT: About = About {
        name: "aioli",
        summary: "improper second-order logistic regression for two classes, without a learning rate",
        paper: Paper { key: "jezequel2020aioli", place: "equation (3), Theorem 1" },
        guarantee: "regret <= lambda B^2 + d/(2 kappa) ln(1 + kappa T R^2/(4 d lambda)), norm(theta) <= B",
        cost: "3 d^2 flops a round",
        memory: "d^2 numbers",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Two, soft_labels: true, weights: true, plain: false },
    };

    fn resolve(params: AioliParams, problem: &Problem, _seed: u64) -> Result<Self, ParamError> {
        let radius = problem.resolve_radius(params.radius)?;
        let AioliParams { norm, regularization, curvature, improper_weight, .. } = params;
        Self::resolved(norm, radius, regularization, curvature, improper_weight)
    }

    fn params(&self) -> AioliParams {
        AioliParams {
            norm: Some(self.norm),
            radius: Some(self.radius),
            regularization: Some(self.regularization),
            curvature: Some(Curvature::Value(self.kappa)),
            improper_weight: Some(self.improper_weight),
        }
    }

    fn radius(&self) -> f64 {
        self.radius
    }
}

impl Surrogate for AioliSurrogate {
    const VECTOR: &'static str = "b";

    const COORDINATES: Option<Coordinates> = Some(Coordinates::Binary);

    fn blocks(&self) -> usize {
        1
    }

    fn outputs(&self) -> (usize, usize) {
        (2, 2)
    }

    fn regularization(&self) -> f64 {
        self.regularization
    }

    fn work_len(&self) -> usize {
        2
    }

    fn forecast(&self, row: Row<'_>, _: &mut [f64], scores: &mut [f64], probabilities: &mut [f64]) {
        self.write_forecast(row.image[0], row.gram[0], scores, probabilities); // eq. (1)
    }

    fn ahead(&self, y: Target<'_>, at: &Prediction, gram: &[f64], out: &mut Prediction) -> bool {
        heavy::binary(gram[0], y, at, out);
        true
    }

    /// The surrogate is taken at the score of the prediction.
    fn learn<'w>(
        &self,
        y: Target<'_>,
        at: &Prediction,
        _: &[f64],
        gram: &[f64],
        sums: &mut Sums,
        work: &'w mut [f64],
    ) -> RoundUpdate<'w> {
        let Taken { lost, coefficient, curvature } = self.taken(y, at);
        sums.slack -= lost;
        work[0] = coefficient; // eq. (2)
        work[1] = (curvature / (1.0 + curvature * gram[0])).sqrt(); // eq. (3)
        let (coefficients, mix) = work.split_at(1);
        RoundUpdate { coefficients, mix }
    }

    fn grow(&mut self, classes: usize) -> bool {
        classes == 2
    }

    fn guarantee(learner: &Aioli) -> Option<Guarantee<'_>> {
        let Self { norm, regularization, kappa, improper_weight, .. } = learner.surrogate;
        let bound = curved(kappa, learner.surrogate.largest_kappa(), || {
            learner.closed_form(norm, |setting| {
                provided(improper_weight == 1.0, "it needs improper_weight = 1", || {
                    bounds::aioli_curvature(setting, regularization, kappa) // eq. (5)
                })
            })
        });
        Some(Guarantee::Regret { ball: Some(Ball::Euclidean), norm, bound })
    }

    /// Equation (4).
    fn certificate(learner: &Aioli) -> Option<Promise> {
        let Self { norm, regularization, kappa, .. } = learner.surrogate;
        Some(curved(kappa, learner.surrogate.largest_kappa(), || {
            Ok(aioli_certificate(regularization, norm * norm, learner.sums.slack, learner.state.square()))
        }))
    }

    fn certificate_terms(learner: &Aioli) -> Option<Terms> {
        let Self { norm, regularization, kappa, .. } = learner.surrogate;
        Some(learner.terms(regularization * norm * norm, learner.state.square(), 0.25 * kappa))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm as _;
    use crate::example::Features;
    use crate::full::folklore::{Folklore, FolkloreParams};
    use crate::learner::{OnlineLearner as _, Predictor as _};
    use crate::testing::{assert_close, plays};

    fn aioli(params: AioliParams, features: usize) -> Aioli {
        Aioli::new(params, Problem::new(2, features), 0).expect("valid")
    }

    #[test]
    fn parameters_are_resolved() {
        let learner = Aioli::new(AioliParams::default(), Problem::new(2, 3).with_radius(2.0), 0);
        let params = learner.expect("valid").params();
        assert_eq!((params.norm, params.regularization), (Some(15.0), Some(1.0 / 225.0)));
        assert_eq!(params.curvature, Some(Curvature::Value(1.0 / 62.0)));
        let safe = AioliParams::new().norm(6.0).curvature(Curvature::Safe);
        assert_eq!(aioli(safe, 1).params().curvature, Some(Curvature::Value(0.125)));
    }

    /// d = 1, B = R = 1, so λ = 1 and κ = 1/4. Round 1, x = 1: b = 0, so s = 0, p = (½, ½), loss ln 2. Label
    /// 1 gives r = ½, b = ½·½ = 1/4, c = 1/16, A = 17/16. Round 2, x = 1: m = (1/4)/(17/16) = 4/17, v =
    /// 16/17, and s solves s + (8/17) tanh(s/2) = 4/17.
    #[test]
    fn two_rounds_by_hand() {
        let mut learner = aioli(AioliParams::new().norm(1.0), 1);
        let x = Features::Dense(&[1.0]);
        let mut at = learner.prediction();
        learner.predict(x, &mut at);
        assert_eq!((&at.scores[..], &at.probabilities[..]), (&[0.0, 0.0][..], &[0.5, 0.5][..]));
        learner.update(x, Target::class(1), &at);
        assert_eq!(*learner.state.vector(), [0.25]);
        // Regret ≤ λB² + 0 + b²/A.
        assert_close(
            learner.certificate().expect("has one").expect("holds"),
            1.0 + 1.0 / 17.0,
            1e-15,
            "certificate",
        );
        learner.predict(x, &mut at);
        let s = at.scores[1] - at.scores[0];
        assert_close(s + 8.0 / 17.0 * (0.5 * s).tanh(), 4.0 / 17.0, 1e-15, "equation (1)");
        assert!(at.scores[1] > 0.0 && at.scores[0] == -at.scores[1]);
    }

    /// FOLKLORE for two classes is this algorithm for θ = w_1 - w_0 with λ/2, κ = γ and ρ = ½.
    #[test]
    fn is_binary_folklore_with_half_the_improper_weight() {
        let folklore = FolkloreParams::new().regularization(0.3).curvature(Curvature::Value(0.2));
        let mut folklore = Folklore::new(folklore, Problem::new(2, 4), 0).expect("valid");
        let mine =
            AioliParams::new().regularization(0.15).curvature(Curvature::Value(0.2)).improper_weight(0.5);
        let mut mine = aioli(mine, 4);
        let (theirs, ours) = (plays(&mut folklore, 80), plays(&mut mine, 80));
        assert_eq!(ours.len(), 80);
        for (a, b) in theirs.iter().zip(&ours) {
            assert_close(b[1], a[1], 1e-12, "probability");
        }
    }

    #[test]
    fn a_soft_label_is_the_mixture_of_its_classes() {
        let mut learner = aioli(AioliParams::default(), 4);
        plays(&mut learner, 5);
        let x = Features::Dense(&[0.5, -0.2, 0.1, 0.9]);
        let mut at = learner.prediction();
        learner.predict(x, &mut at);
        let after = |y: Target<'_>| {
            let mut learner = learner.clone();
            learner.update(x, y, &at);
            learner.state.vector().to_vec()
        };
        let (zero, one) = (after(Target::class(0)), after(Target::class(1)));
        for ((soft, zero), one) in after(Target::distribution(&[0.25, 0.75])).iter().zip(zero).zip(one) {
            assert_close(*soft, 0.25 * zero + 0.75 * one, 1e-15, "b");
        }
    }
}

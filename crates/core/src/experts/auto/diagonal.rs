//! One `folklore-diag` as a member with one head.

use crate::algorithm::Algorithm as _;
use crate::example::{Features, Target};
use crate::full::folklore_diag::{FolkloreDiag, FolkloreDiagParams};
use crate::learner::{OnlineLearner as _, Predictor as _};
use crate::loss::curvature::Curvature;
use crate::param::ParamError;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::state;

use super::kind::{Kind, Settings, Traits, number, stored};
use super::member::Member;

/// See the [module](self).
#[derive(Clone)]
struct Diagonal(FolkloreDiag);

/// The settings are $\lambda/\gamma$ and $\gamma$.
pub(super) struct DiagonalKind;

impl Kind for DiagonalKind {
    fn traits(&self) -> &'static Traits {
        static TRAITS: Traits = Traits { is_diagonal: true, ..Traits::usual("diagonal") };
        &TRAITS
    }

    fn read(&self, ratio: Option<&str>, curvature: Option<&str>) -> Option<Settings> {
        Some([number(ratio?)?, number(curvature?)?])
    }

    fn title(&self, [ratio, curvature]: Settings) -> String {
        format!("diagonal linear, regularization {ratio}, curvature {curvature}")
    }

    fn candidates(&self, _: &Problem) -> Vec<Settings> {
        Vec::new()
    }

    fn make(
        &self,
        [ratio, curvature]: Settings,
        problem: &Problem,
        seed: u64,
    ) -> Result<Box<dyn Member>, ParamError> {
        let params = FolkloreDiagParams::new().radius(1.0).regularization(ratio * curvature);
        let params = params.curvature(Curvature::Value(curvature));
        Ok(Box::new(Diagonal(FolkloreDiag::build(params, problem.clone(), seed)?)))
    }

    fn heads(&self, _: Settings) -> usize {
        1
    }

    fn work(&self, _: Settings, problem: &Problem) -> f64 {
        5.0 * problem.classes as f64 * stored(problem)
    }

    fn numbers(&self, _: Settings, problem: &Problem) -> usize {
        FolkloreDiag::numbers(problem)
    }

    fn numbers_at_first(&self, _: Settings, problem: &Problem) -> usize {
        problem.classes
    }
}

impl Member for Diagonal {
    fn prediction(&self) -> Prediction {
        let head = self.0.prediction();
        Prediction { members: vec![head], ..Prediction::sized(self.0.problem().classes, 0) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        self.0.predict(x, &mut out.members[0]);
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        self.0.update(x, y, &at.members[0]);
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        self.0.grow(classes, features)
    }
}

state! { Diagonal; 0; }

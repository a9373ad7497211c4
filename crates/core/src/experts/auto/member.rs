//! What the mixture asks of its members.

use crate::algorithm::Model;
use crate::example::{Batch, Features, Target};
use crate::learner::{OnlineLearner, Predictor};
use crate::parallel::Workers;
use crate::prediction::Prediction;
use crate::state::{State, Tensor};

/// A group of forecasters that share their work: one forecast of probabilities for each of its heads.
pub(super) trait Member: State + Send + Sync {
    /// Room for a prediction. The first of its members are the heads' forecasts; scores and probabilities of
    /// its own are those of the heads' mixture, which the owner fills in.
    fn prediction(&self) -> Prediction;

    /// Writes the heads' forecasts: probabilities, and scores where its own `update` needs them.
    fn predict(&self, x: Features<'_>, out: &mut Prediction);

    /// What forecasts of many rows can be made from together: as many numbers for each of `rows`, to be given
    /// to [`Member::predict_foreseen`]; none where there is nothing to share.
    fn foresee(&self, _rows: &dyn Batch) -> Vec<f64> {
        Vec::new()
    }

    /// The same as [`Member::predict`], from the numbers that [`Member::foresee`] gave for the row;
    /// by-products are left out.
    fn predict_foreseen(&self, x: Features<'_>, _foreseen: &[f64], out: &mut Prediction) {
        self.predict(x, out);
    }

    /// Learns the truth. `at` is as in [`OnlineLearner::update`].
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction);

    /// See [`OnlineLearner::lookahead`].
    fn lookahead(&self) -> usize {
        0
    }

    /// See [`OnlineLearner::prepare`].
    fn prepare(&mut self, _: &dyn Batch) {}

    /// See [`OnlineLearner::prepare_rest`].
    fn prepare_rest(&mut self, _at: usize, _: &dyn Batch) {}

    /// See [`OnlineLearner::set_workers`].
    fn set_workers(&mut self, _: &Workers) {}

    /// See [`OnlineLearner::grow`]: never to fewer. A member that cannot is replaced by a new one.
    fn grow(&mut self, classes: usize, features: usize) -> bool;

    /// What it would be with the regularization `ratio`, as far as that follows from the same sums. `None`
    /// for members without one, and where rounding leaves nothing.
    fn neighbour(&self, _ratio: f64) -> Option<Box<dyn Member>> {
        None
    }

    /// A copy.
    fn boxed_clone(&self) -> Box<dyn Member>;
}

impl Clone for Box<dyn Member> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// A learner of the registry as a member of one head.
#[derive(Clone)]
pub(super) struct Learner(pub(super) Box<dyn Model>);

impl Member for Learner {
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

    fn lookahead(&self) -> usize {
        self.0.lookahead()
    }

    fn prepare(&mut self, coming: &dyn Batch) {
        self.0.prepare(coming);
    }

    fn prepare_rest(&mut self, at: usize, coming: &dyn Batch) {
        self.0.prepare_rest(at, coming);
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        self.0.grow(classes, features)
    }

    fn boxed_clone(&self) -> Box<dyn Member> {
        Box::new(self.clone())
    }
}

impl State for Learner {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.0.tensors()
    }

    fn restored(&mut self) -> bool {
        self.0.restored()
    }
}

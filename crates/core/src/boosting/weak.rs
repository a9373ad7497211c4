//! The interface of weak learners: predict a class, then learn the costs of all classes (theory: boosting
//! 1.1).

use crate::example::Features;
use crate::param::Values;
use crate::prediction::Prediction;
use crate::state::State;

/// Predicts a class for a row, and learns from the costs of the classes.
///
/// Its loss in a round is the cost of the class that it predicted. Costs are those of
/// [`costs`](super::costs): the true class has cost 0, and the costs of all classes sum to at most 1. A weak
/// learner has edge $g$ and excess $S$ if its total loss is at most $(1 - g)$ times that of a uniformly
/// random class, plus $S$.
pub trait WeakLearner: Send + Sync {
    /// The parameters in use, by name.
    fn values(&self) -> Values;

    /// Buffers for [`WeakLearner::predict`]. Most weak learners need none.
    fn room(&self) -> Prediction {
        Prediction::default()
    }

    /// The class that it predicts for `x`. Changes nothing.
    fn predict(&self, x: Features<'_>, room: &mut Prediction) -> usize;

    /// Learns that class `y` was true, and that predicting class `l` would have cost `costs[l]`. `at` is the
    /// buffer that `predict` wrote for `x`, possibly some rounds ago.
    fn update(&mut self, x: Features<'_>, y: usize, costs: &[f64], at: &Prediction);
}

/// A weak learner with state, as boosting stores it.
pub trait WeakModel: WeakLearner + State {
    /// A copy.
    fn boxed_clone(&self) -> Box<dyn WeakModel>;
}

impl<W: WeakLearner + State + Clone + 'static> WeakModel for W {
    fn boxed_clone(&self) -> Box<dyn WeakModel> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn WeakModel> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

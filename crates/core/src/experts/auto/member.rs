//! The interface of the mixture's members.

use crate::example::{Batch, Features, Target};
use crate::parallel::Workers;
use crate::prediction::Prediction;
use crate::state::State;

/// A group of forecasters that share work and state; each of its *heads* makes one forecast of probabilities.
pub(super) trait Member: Copied + State + Send + Sync {
    /// Buffers for a prediction. The entries of its `members` are the heads' forecasts. Its own scores and
    /// probabilities are those of the mixture of the heads, which the caller computes.
    fn prediction(&self) -> Prediction;

    /// Writes the heads' forecasts: probabilities, and scores if `update` needs them.
    fn predict(&self, x: Features<'_>, out: &mut Prediction);

    /// Computes quantities for the forecasts of many rows at once: equally many numbers for each of `rows`,
    /// one row after another, as [`Member::predict_in_batch`] takes them; empty if the member computes
    /// nothing for several rows at once.
    fn batch(&self, _rows: &dyn Batch) -> Vec<f64> {
        Vec::new()
    }

    /// The same as [`Member::predict`], from the numbers that [`Member::batch`] computed for the row; does
    /// not write the by-products that `update` reuses.
    fn predict_in_batch(&self, x: Features<'_>, _numbers: &[f64], out: &mut Prediction) {
        self.predict(x, out);
    }

    /// Learns the target of a round. `at` is as in [`OnlineLearner::update`].
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction);

    /// Announces the rows of the rounds that follow: they come in this order, without another between them.
    /// Forecasts that do not depend on the rounds between may be computed for all of them at once.
    fn begin_stretch(&mut self, _rows: &dyn Batch) {}

    /// See [`LookAhead::lookahead`](crate::capability::LookAhead::lookahead).
    fn lookahead(&self) -> usize {
        0
    }

    /// See [`LookAhead::prepare`](crate::capability::LookAhead::prepare).
    fn prepare(&mut self, _announced: &dyn Batch) {}

    /// See [`LookAhead::prepare_rest`](crate::capability::LookAhead::prepare_rest).
    fn prepare_rest(&mut self, _at: usize, _announced: &dyn Batch) {}

    /// See [`OnlineLearner::set_workers`].
    fn set_workers(&mut self, _: &Workers) {}

    /// See [`OnlineLearner::grow`]; the numbers never decrease. Returns false if the member cannot grow; the
    /// caller then replaces it by a new one.
    fn grow(&mut self, classes: usize, features: usize) -> bool;

    /// See [`Settle::settle`](crate::capability::Settle::settle).
    fn settle(&mut self) {}

    /// See [`Settle::settle_after`](crate::capability::Settle::settle_after).
    fn settle_after(&mut self, _rounds: u64) {}

    /// A copy with the regularization `ratio`, computed from the same sums over the rounds. `None` for
    /// members without regularization, and if rounding errors are too large.
    fn neighbour(&self, _ratio: f64) -> Option<Box<dyn Member>> {
        None
    }
}

/// Members that can be copied, since [`Member`] is object-safe.
pub(super) trait Copied {
    fn boxed_clone(&self) -> Box<dyn Member>;
}

impl<M: Member + Clone + 'static> Copied for M {
    fn boxed_clone(&self) -> Box<dyn Member> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Member> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

//! A weak learner that estimates every class's cost by a linear function of the row (theory: boosting 1.2).
//!
//! $$ W \mathrel{-}= \frac{\eta}{1 + \lVert x \rVert^2}\ (Wx - C(y, \cdot))\ x^\top $$
//!
//! It predicts the class with the smallest estimate, the first of several. Boosting needs small steps: with
//! $\eta = 1/2$, the best rate for a single copy on many streams, later copies follow the latest rows and
//! contribute nothing.

use crate::boosting::weak::WeakLearner;
use crate::example::Features;
use crate::param::{ParamError, Params as _, Values, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`LinearCost`].
    pub struct LinearCostParams {
        /// Step size $\eta$, in (0, 2).
        rate: f64 = "0.02",
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct LinearCost {
    rate: f64,
    classes: usize,
    features: usize,
    /// $W$, a row for each class.
    weights: Vec<f64>,
}

impl LinearCost {
    /// A learner whose estimates are all 0.
    ///
    /// # Errors
    /// If the rate is not in (0, 2).
    pub fn new(params: &LinearCostParams, problem: &Problem) -> Result<Self, ParamError> {
        let rate = positive("rate", params.rate.unwrap_or(0.02))?;
        if rate >= 2.0 {
            return Err(ParamError::invalid("rate", rate, "below 2: larger steps diverge"));
        }
        let (classes, features) = (problem.classes, problem.features);
        Ok(Self { rate, classes, features, weights: vec![0.0; classes * features] })
    }
}

impl WeakLearner for LinearCost {
    fn values(&self) -> Values {
        LinearCostParams { rate: Some(self.rate) }.values()
    }

    fn predict(&self, x: Features<'_>, _room: &mut Prediction) -> usize {
        let mut best = (0, f64::INFINITY);
        for (class, row) in self.weights.chunks_exact(self.features).enumerate() {
            let cost = x.dot(row);
            if cost < best.1 {
                best = (class, cost);
            }
        }
        best.0
    }

    fn update(&mut self, x: Features<'_>, _y: usize, costs: &[f64], _at: &Prediction) {
        let step = self.rate / (1.0 + x.norm_squared());
        for (row, cost) in self.weights.chunks_exact_mut(self.features).zip(costs) {
            let error = x.dot(row) - cost;
            x.add_to(-step * error, row);
        }
    }
}

impl State for LinearCost {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::real("weights", vec![self.classes, self.features], &mut self.weights)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x = 2, rate 1/2: the step is 1/10, so W = C(y, ·)/5 after one round and the estimates at x are 2/5 of
    /// the costs.
    #[test]
    fn a_round_by_hand() {
        let mut weak =
            LinearCost::new(&LinearCostParams { rate: Some(0.5) }, &Problem::new(3, 1)).expect("valid");
        let (x, mut room) = (Features::Dense(&[2.0]), Prediction::default());
        assert_eq!(weak.predict(x, &mut room), 0, "the first of equals");
        weak.update(x, 1, &[0.4, 0.0, 0.2], &room);
        let near = |got: &[f64], want: &[f64]| got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-16);
        assert!(near(&weak.weights, &[0.08, 0.0, 0.04]), "{:?}", weak.weights);
        assert_eq!(weak.predict(x, &mut room), 1);
    }
}

//! The stacks of [`auto`](super), and the mixture of their forecasts with that of the members.

use std::ops::Range;

use crate::example::Target;
use crate::experts::mixture::Mixture;
use crate::prediction::Prediction;
use crate::state::{Shapes, Tensor};

use super::stack::{Quadratic, Stack};

/// Forgetting rate and regularization of each stack. Stacks that forget have a small regularization, since
/// they return to the mixture anyway.
pub(super) const STACKS: [(f64, f64); 3] = [(0.0, 16.0), (1.0 / 1024.0, 1.0), (1.0 / 128.0, 1.0)];

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Stacks {
    each: Vec<Stack>,
    /// Over the members' mixture and the stacks.
    top: Mixture,
    losses: Vec<f64>,
}

impl Stacks {
    /// For `inputs` input columns.
    pub(super) fn new(classes: usize, inputs: usize) -> Self {
        let stack = |(forgetting, ratio): &(f64, f64)| Stack::new(classes, inputs, *forgetting, *ratio);
        Self {
            each: STACKS.iter().map(stack).collect(),
            top: Mixture::new(&[1.0; 1 + STACKS.len()]),
            losses: vec![0.0; 1 + STACKS.len()],
        }
    }

    /// Whether the stacks of a model file have `inputs` input columns.
    pub(super) fn are_as_wide(classes: usize, inputs: usize, shape: Shapes<'_>) -> bool {
        let mut stack = Stack::new(classes, inputs, 0.0, 1.0);
        stack.tensors().iter().all(|tensor| shape(&format!("stack/0/{}", tensor.name)) == tensor.shape())
    }

    /// Buffers for the stacks' predictions.
    pub(super) fn predictions(&self) -> impl Iterator<Item = Prediction> + '_ {
        self.each.iter().map(Stack::prediction)
    }

    /// Writes the forecast $p$ of eq. (2) of [`auto`](super) to `probabilities`, and the stacks' own to `at`.
    /// `base` is the mixture of the members, `columns` are the stacks' inputs.
    pub(super) fn predict(
        &self,
        base: &Prediction,
        columns: &[f64],
        at: &mut [Prediction],
        probabilities: &mut [f64],
    ) {
        let (first, others) = self.weights();
        for (p, base) in probabilities.iter_mut().zip(&base.probabilities) {
            *p = first * base;
        }
        for ((stack, at), weight) in self.each.iter().zip(at).zip(others) {
            stack.predict(&base.scores, columns, at);
            for (p, theirs) in probabilities.iter_mut().zip(&at.probabilities) {
                *p += weight * theirs;
            }
        }
    }

    /// Learns the target of the round in which `base` and `at` were predicted.
    pub(super) fn update(&mut self, base: &Prediction, columns: &[f64], y: Target<'_>, at: &[Prediction]) {
        self.losses[0] = y.log_loss(&base.probabilities);
        for ((stack, at), loss) in self.each.iter_mut().zip(at).zip(&mut self.losses[1..]) {
            *loss = y.log_loss(&at.probabilities);
            stack.update(&base.scores, columns, y, at);
        }
        self.top.update(&self.losses);
    }

    /// The weight of the members' mixture in the forecast, and those of the stacks.
    pub(super) fn weights(&self) -> (f64, &[f64]) {
        let (first, others) = self.top.weights().split_first().expect("the base is the first");
        (*first, others)
    }

    /// What the columns of the members are worth to the stacks.
    pub(super) fn worth(&self) -> Worth {
        let most = self.each.iter().map(Stack::remembered).fold(0.0, f64::max);
        let of_stack = |(stack, share): (&Stack, &f64)| {
            let part = share * most / stack.remembered().max(1.0);
            Some((part, stack.quadratic()?))
        };
        Worth(self.each.iter().zip(self.weights().1).filter_map(of_stack).collect())
    }

    /// See [`Stack::remove`].
    pub(super) fn remove(&mut self, columns: Range<usize>) {
        self.each.iter_mut().for_each(|stack| stack.remove(columns.clone()));
    }

    /// See [`Stack::grow`].
    pub(super) fn grow(&mut self, classes: usize, inputs: usize) {
        self.each.iter_mut().for_each(|stack| stack.grow(classes, inputs));
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        for (at, stack) in self.each.iter_mut().enumerate() {
            let prefix = format!("stack/{at}");
            tensors.extend(stack.tensors().into_iter().map(|tensor| tensor.within(&prefix)));
        }
        tensors.extend(self.top.tensors().into_iter().map(|tensor| tensor.within("top")));
        tensors
    }

    pub(super) fn restored(&mut self) -> bool {
        self.each.iter_mut().all(Stack::restored) && self.top.restored()
    }
}

/// What columns are worth to each stack, and the factor of its nats: its weight, and all rounds divided by
/// those that it remembers.
pub(super) struct Worth(Vec<(f64, Quadratic)>);

impl Worth {
    /// The nats by which all rounds so far would have cost more without `columns`, beyond noise.
    pub(super) fn of(&self, columns: Range<usize>) -> f64 {
        let shifted = 1 + columns.start..1 + columns.end;
        self.0.iter().map(|(part, stack)| part * stack.worth(shifted.clone())).sum()
    }

    /// Takes `columns` out.
    pub(super) fn remove(&mut self, columns: Range<usize>) {
        let shifted = 1 + columns.start..1 + columns.end;
        self.0.iter_mut().for_each(|(_, stack)| stack.remove(shifted.clone()));
    }
}

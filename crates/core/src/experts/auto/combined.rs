//! The forecast from those of all members: the mixture of their heads, and the stacks.

use std::ops::Range;

use crate::example::Target;
use crate::experts::mixture::Mixture;
use crate::prediction::Prediction;
use crate::state::{Shapes, Tensor};

use super::description::Description;
use super::stack::write_columns;
use super::stacks::{STACKS, Stacks, Worth};

/// What mixture and stacks know of a member.
#[derive(Clone)]
struct Input {
    /// Its heads, among all heads.
    heads: Range<usize>,
    /// The number of columns that a stack has for it: none if it was dropped.
    columns: usize,
}

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Combined {
    classes: usize,
    /// One for each member, in order.
    inputs: Vec<Input>,
    /// Over all heads of all members.
    base: Mixture,
    losses: Vec<f64>,
    stacks: Stacks,
}

/// The parts of the list `members` of a prediction, in its order.
pub(super) struct Parts<Several, One> {
    /// One for each member, in order; empty for members that were dropped.
    pub(super) inputs: Several,
    pub(super) stacks: Several,
    /// The mixture of the inputs.
    pub(super) base: One,
}

impl<'a> Parts<&'a [Prediction], &'a Prediction> {
    pub(super) fn of(members: &'a [Prediction]) -> Self {
        let (base, rest) = members.split_last().expect("the base is the last");
        let (inputs, stacks) = rest.split_at(rest.len() - STACKS.len());
        Self { inputs, stacks, base }
    }
}

impl<'a> Parts<&'a mut [Prediction], &'a mut Prediction> {
    pub(super) fn of_room(members: &'a mut [Prediction]) -> Self {
        let (base, rest) = members.split_last_mut().expect("the base is the last");
        let (inputs, stacks) = rest.split_at_mut(rest.len() - STACKS.len());
        Self { inputs, stacks, base }
    }
}

impl Combined {
    /// For `members` whose heads have a weight of one member each.
    pub(super) fn new(classes: usize, members: &[Description]) -> Self {
        let each = |member: &Description| vec![1.0 / member.heads() as f64; member.heads()];
        let base = Mixture::new(&members.iter().flat_map(each).collect::<Vec<f64>>());
        let mut inputs: Vec<Input> = Vec::new();
        members.iter().for_each(|member| add(&mut inputs, *member));
        let columns = inputs.iter().map(|input| input.columns).sum();
        let losses = vec![0.0; base.weights().len()];
        Self { classes, inputs, losses, base, stacks: Stacks::new(classes, columns) }
    }

    /// A prediction from those of the members, `inputs`: its `members` are in the order of [`Parts`], and its
    /// scratch memory has room for the stacks' columns.
    pub(super) fn prediction(&self, inputs: impl Iterator<Item = Prediction>) -> Prediction {
        let base = std::iter::once(Prediction::sized(self.classes, 0));
        let members = inputs.chain(self.stacks.predictions()).chain(base).collect();
        Prediction { members, ..Prediction::sized(self.classes, self.columns_len()) }
    }

    /// Whether `at` has a place for each member and each column.
    pub(super) fn fits(&self, at: &Prediction) -> bool {
        at.members.len() == self.inputs.len() + STACKS.len() + 1 && at.scratch.len() == self.columns_len()
    }

    /// The length of the stacks' input columns.
    pub(super) fn columns_len(&self) -> usize {
        self.classes * (1 + self.columns())
    }

    /// The number of columns that a stack needs for all members.
    fn columns(&self) -> usize {
        self.inputs.iter().map(|input| input.columns).sum()
    }

    /// The number of heads of all members.
    pub(super) fn heads(&self) -> usize {
        self.base.weights().len()
    }

    /// The weight in the mixture of every member, in order.
    pub(super) fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        self.inputs.iter().map(|input| self.base.weights()[input.heads.clone()].iter().sum())
    }

    /// The weight in the forecast of the mixture, and those of the stacks.
    pub(super) fn weights(&self) -> (f64, &[f64]) {
        self.stacks.weights()
    }

    /// The logarithm of the largest weight among the heads of the member at `place`, without sharing: minus
    /// their smallest total loss, up to a constant that is the same for all heads.
    pub(super) fn log_weight(&self, place: usize) -> f64 {
        let heads = self.inputs[place].heads.clone();
        heads.map(|head| self.base.log_weight(head)).fold(f64::MIN, f64::max)
    }

    /// Takes the weight of the member at `place`, in the mixture, and its columns in the stacks.
    pub(super) fn retire(&mut self, place: usize) {
        self.inputs[place].heads.clone().for_each(|head| self.base.retire(head));
        self.stacks.remove(self.columns_of(place));
        self.inputs[place].columns = 0;
    }

    /// What members are worth to the stacks.
    pub(super) fn worth(&self) -> Worth {
        self.stacks.worth()
    }

    /// The columns that a stack has for the member at `place`.
    pub(super) fn columns_of(&self, place: usize) -> Range<usize> {
        let start = self.inputs[..place].iter().map(|input| input.columns).sum();
        start..start + self.inputs[place].columns
    }

    /// Adds a member, the one with the number `joined` among those that have joined. The stacks have no
    /// columns for it before [`Combined::grow`].
    pub(super) fn join(&mut self, member: Description, joined: u64) {
        self.base.join(member.heads(), (joined as f64 + 1.0).powi(-2));
        self.losses.resize(self.base.weights().len(), 0.0);
        add(&mut self.inputs, member);
    }

    /// Gives the stacks columns for all members and `classes`.
    pub(super) fn grow(&mut self, classes: usize) {
        self.classes = classes;
        self.stacks.grow(classes, self.columns());
    }

    /// Writes the mixture of all heads of all `inputs` to `base`, eq. (1) of [`auto`](super), the columns of
    /// the stacks to `columns`, their forecasts to `stacks`, and the forecast of eq. (2) to `probabilities`.
    pub(super) fn predict<'a>(
        &self,
        inputs: impl Iterator<Item = &'a Prediction> + Clone,
        base: &mut Prediction,
        columns: &mut [f64],
        stacks: &mut [Prediction],
        probabilities: &mut [f64],
    ) {
        base.probabilities.fill(0.0);
        for (input, at) in self.inputs.iter().zip(inputs.clone()) {
            for (weight, head) in self.base.weights()[input.heads.clone()].iter().zip(&at.members) {
                for (base, p) in base.probabilities.iter_mut().zip(&head.probabilities) {
                    *base += weight * p; // eq. (1)
                }
            }
        }
        base.set_scores_to_logarithms();
        self.write_columns(inputs, base, columns);
        self.stacks.predict(base, columns, stacks, probabilities); // eq. (2)
    }

    /// Writes the columns of the stacks for members that predicted `inputs` with the mixture `base`.
    pub(super) fn write_columns<'a>(
        &self,
        inputs: impl Iterator<Item = &'a Prediction>,
        base: &Prediction,
        columns: &mut [f64],
    ) {
        let counts = self.inputs.iter().map(|input| input.columns);
        write_columns(&base.scores, inputs.zip(counts), columns);
    }

    /// Learns the target of the round in which all this was predicted. The losses of members that were
    /// dropped are infinite, and those of members that joined since then that of `base`.
    pub(super) fn update<'a>(
        &mut self,
        y: Target<'_>,
        inputs: impl Iterator<Item = &'a Prediction>,
        base: &Prediction,
        columns: &[f64],
        stacks: &[Prediction],
    ) {
        self.losses.fill(y.log_loss(&base.probabilities));
        for (input, at) in self.inputs.iter().zip(inputs) {
            let losses = &mut self.losses[input.heads.clone()];
            losses.fill(f64::INFINITY);
            for (loss, head) in losses.iter_mut().zip(&at.members) {
                *loss = y.log_loss(&head.probabilities);
            }
        }
        self.base.update(&self.losses);
        self.stacks.update(base, columns, y, stacks);
    }

    /// The state of the mixture, and that of the stacks.
    pub(super) fn tensors(&mut self) -> [Vec<Tensor<'_>>; 2] {
        let base = self.base.tensors().into_iter().map(|tensor| tensor.within("base"));
        [base.collect(), self.stacks.tensors()]
    }

    /// Makes the stacks as wide as those of a model file: with columns for dropped members, if it has them.
    /// `columns` are the numbers of columns of all members.
    pub(super) fn expect(&mut self, columns: impl Iterator<Item = usize> + Clone, shape: Shapes<'_>) {
        let all = columns.clone().sum();
        if all > self.columns() && Stacks::are_as_wide(self.classes, all, shape) {
            self.inputs.iter_mut().zip(columns).for_each(|(input, columns)| input.columns = columns);
            self.stacks = Stacks::new(self.classes, all);
        }
    }

    /// Checks what was loaded, and takes out the columns of dropped members.
    pub(super) fn restored(&mut self, dropped: impl Iterator<Item = bool>) -> bool {
        let valid = self.base.restored() && self.stacks.restored();
        for (at, _) in dropped.enumerate().filter(|(_, dropped)| *dropped) {
            self.stacks.remove(self.columns_of(at));
            self.inputs[at].columns = 0;
        }
        valid
    }
}

/// Adds `member` behind the others.
fn add(inputs: &mut Vec<Input>, member: Description) {
    let start = inputs.last().map_or(0, |last| last.heads.end);
    inputs.push(Input { heads: start..start + member.heads(), columns: member.columns() });
}

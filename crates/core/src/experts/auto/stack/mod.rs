//! Stacking: learns a weight for the log-probabilities of each member.
//!
//! A stack's logits are those of the members' mixture, $z_0 = \ln \bar p$, plus $\Phi w + b$. $\Phi$ has a
//! column $\ln p^i - \ln \bar p$ for each member, the evidence that this member adds, and the column $z_0$ (a
//! temperature); $b$ is a bias for each class. $w = 0, b = 0$ yields the mixture, to which both are
//! regularised, and $w = e_i$ yields member $i$. The evidence of members that use different information, for
//! example the row and the previous label, adds up as in naive Bayes.
//!
//! For few classes the stack is [`Joint`], with one second-order matrix over all weights and biases; for more
//! classes [`Separate`].

mod joint;
mod separate;
mod worth;

use std::ops::Range;

use crate::example::{LEAST_PROBABILITY, Target};
use crate::kernel::softmax::quick_logarithms;
use crate::kernel::vector::{sum, take};
use crate::prediction::Prediction;
use crate::state::Tensor;

use joint::Joint;
use separate::Separate;
pub(super) use worth::Quadratic;

/// Inputs are clipped to ± this many nats.
const LARGEST_INPUT: f64 = 8.0;

/// Number of classes whose logarithms are computed at a time.
const CHUNK: usize = 64;

/// Number of classes up to which a stack is [`Joint`].
const MOST_JOINT_CLASSES: usize = 16;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) enum Stack {
    Joint(Box<Joint>),
    Separate(Separate),
}

impl Stack {
    /// For `inputs` input columns beside that of the temperature, with the regularization $\lambda/\gamma$ =
    /// `ratio` and the forgetting rate `forgetting`.
    pub(super) fn new(classes: usize, inputs: usize, forgetting: f64, ratio: f64) -> Self {
        if classes <= MOST_JOINT_CLASSES {
            Self::Joint(Box::new(Joint::new(classes, inputs, forgetting, ratio)))
        } else {
            Self::Separate(Separate::new(classes, inputs, forgetting, ratio))
        }
    }

    pub(super) fn prediction(&self) -> Prediction {
        match self {
            Self::Joint(stack) => stack.prediction(),
            Self::Separate(stack) => stack.prediction(),
        }
    }

    /// `base` are the logarithms of the mixture's probabilities, `columns` those of [`write_columns`].
    pub(super) fn predict(&self, base: &[f64], columns: &[f64], out: &mut Prediction) {
        match self {
            Self::Joint(stack) => stack.predict(base, columns, out),
            Self::Separate(stack) => stack.predict(base, columns, out),
        }
    }

    /// Learns the target of the round in which `at` was predicted.
    pub(super) fn update(&mut self, base: &[f64], columns: &[f64], y: Target<'_>, at: &Prediction) {
        match self {
            Self::Joint(stack) => stack.update(base, columns, y, at),
            Self::Separate(stack) => stack.update(columns, y, at),
        }
    }

    /// The number of rounds, at most as many as it remembers.
    pub(super) fn remembered(&self) -> f64 {
        let (rounds, forgetting) = match self {
            Self::Joint(stack) => stack.age(),
            Self::Separate(stack) => stack.age(),
        };
        if forgetting > 0.0 { rounds.min(1.0 / forgetting) } else { rounds }
    }

    /// Its total loss around the minimum, over what it remembers. `None` if rounding errors are too large.
    pub(super) fn quadratic(&self) -> Option<Quadratic> {
        match self {
            Self::Joint(stack) => Some(stack.quadratic()),
            Self::Separate(stack) => stack.quadratic(),
        }
    }

    /// Takes the input columns `columns` out, which predictions do not have from now on: the other weights
    /// become what they would be without them.
    pub(super) fn remove(&mut self, columns: Range<usize>) {
        match self {
            Self::Joint(stack) => stack.remove(columns),
            Self::Separate(stack) => stack.remove(columns),
        }
    }

    /// Increases the numbers of classes and of input columns; new columns are appended, and new weights are
    /// untrained.
    pub(super) fn grow(&mut self, classes: usize, inputs: usize) {
        if let Self::Joint(stack) = self
            && classes > MOST_JOINT_CLASSES
        {
            *self = Self::Separate(stack.separated());
        }
        match self {
            Self::Joint(stack) => stack.grow(classes, inputs),
            Self::Separate(stack) => stack.grow(classes, inputs),
        }
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        match self {
            Self::Joint(stack) => stack.tensors().into(),
            Self::Separate(stack) => stack.tensors().into(),
        }
    }

    /// Recomputes what follows from the state. False if the state is invalid.
    pub(super) fn restored(&mut self) -> bool {
        match self {
            Self::Joint(_) => true,
            Self::Separate(stack) => stack.is_consistent(),
        }
    }
}

/// Writes the columns of $\Phi$ that are not biases, each with one number for each class: that of the
/// temperature, those of the members, and 0 for members that joined after `inputs` were predicted. With each
/// of `inputs` comes the number of its columns: 1, or one for each of its heads.
pub(super) fn write_columns<'a>(
    base: &[f64],
    inputs: impl Iterator<Item = (&'a Prediction, usize)>,
    columns: &mut [f64],
) {
    let (first, mut rest) = columns.split_at_mut(base.len());
    write_base(base, first);
    for (input, count) in inputs {
        let own = take(&mut rest, count * base.len());
        if count == 1 {
            write_member(base, &input.scores, own);
            continue;
        }
        if input.members.is_empty() {
            own.fill(0.0);
        }
        let mut logarithms = [0.0; CHUNK];
        for (column, head) in own.chunks_exact_mut(base.len()).zip(&input.members) {
            let blocks =
                column.chunks_mut(CHUNK).zip(base.chunks(CHUNK)).zip(head.probabilities.chunks(CHUNK));
            for ((column, base), p) in blocks {
                let logarithms = &mut logarithms[..p.len()];
                quick_logarithms(p, LEAST_PROBABILITY, logarithms);
                write_member(base, logarithms, column);
            }
        }
    }
    rest.fill(0.0);
}

/// Writes the column of the temperature: $z_0$ = `base`, centred to mean 0.
fn write_base(base: &[f64], column: &mut [f64]) {
    let mean = sum(base) / base.len() as f64;
    for (out, z) in column.iter_mut().zip(base) {
        *out = (z - mean).clamp(-LARGEST_INPUT, LARGEST_INPUT);
    }
}

/// Writes the column of a member; 0 for a member that was dropped.
fn write_member(base: &[f64], scores: &[f64], column: &mut [f64]) {
    if scores.is_empty() {
        column.fill(0.0);
    }
    for ((out, z), base) in column.iter_mut().zip(scores).zip(base) {
        *out = (z - base).clamp(-LARGEST_INPUT, LARGEST_INPUT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::state::Slot;

    /// A stack of each kind for four classes and two members.
    fn both(forgetting: f64) -> [Stack; 2] {
        let joint = Stack::Joint(Box::new(Joint::new(4, 2, forgetting, 1.0)));
        [joint, Stack::Separate(Separate::new(4, 2, forgetting, 1.0))]
    }

    /// Four classes and two members, each of which predicts one of the class's two bits, underconfidently:
    /// with probability ¾ although it is always right. Returns the stack's mean loss over the last 500 of
    /// 2,000 rounds, and its forecasts.
    fn bits(stack: &mut Stack, kept: bool) -> (f64, Vec<f64>) {
        let mut rng = Rng::new(8, 0);
        let (mut at, mut base) = (stack.prediction(), Prediction::sized(4, 0));
        let mut inputs = vec![Prediction::sized(4, 0); 2];
        let (mut loss, mut all) = (0.0, Vec::new());
        for t in 0..2000 {
            let class = rng.below(4) as usize;
            base.probabilities.fill(0.0);
            for (bit, input) in inputs.iter_mut().enumerate() {
                for (k, p) in input.probabilities.iter_mut().enumerate() {
                    *p = if (k >> bit) & 1 == (class >> bit) & 1 { 0.375 } else { 0.125 };
                    base.probabilities[k] += 0.5 * *p;
                }
                input.set_scores_to_logarithms();
            }
            base.set_scores_to_logarithms();
            let mut columns = vec![0.0; 4 * 3];
            write_columns(&base.scores, inputs.iter().map(|input| (input, 1)), &mut columns);
            stack.predict(&base.scores, &columns, &mut at);
            let y = Target::class(class);
            loss += if t >= 1500 { y.log_loss(&at.probabilities) / 500.0 } else { 0.0 };
            all.extend_from_slice(&at.probabilities);
            if kept {
                at.stamp = None;
            }
            stack.update(&base.scores, &columns, y, &at);
        }
        (loss, all)
    }

    /// The best member's loss is -ln 0.375 = 0.98; both members together determine the class.
    #[test]
    fn evidence_of_members_adds_up() {
        for forgetting in [0.0, 1.0 / 128.0] {
            for mut stack in both(forgetting) {
                let (loss, _) = bits(&mut stack, false);
                assert!(loss < 0.1, "{loss} with forgetting {forgetting}: {stack:?}");
            }
        }
    }

    #[test]
    fn outdated_predictions_are_recomputed() {
        for (mut fresh, mut kept) in both(0.0).into_iter().zip(both(0.0)) {
            let (fresh, kept) = (bits(&mut fresh, false).1, bits(&mut kept, true).1);
            assert!(fresh.iter().zip(&kept).all(|(a, b)| (a - b).abs() < 1e-9));
        }
    }

    /// The forecast for the first four of `classes` classes, from the first `members` of three members.
    fn forecast(stack: &Stack, classes: usize, members: usize) -> Vec<f64> {
        let spread = |p: [f64; 4]| {
            let mut prediction = Prediction::sized(classes, 0);
            prediction.probabilities.fill(1e-9);
            prediction.probabilities[..4].copy_from_slice(&p);
            prediction.set_scores_to_logarithms();
            prediction
        };
        let base = spread([0.25, 0.15, 0.2, 0.4]);
        // A new member forecasts as the mixture does.
        let inputs: Vec<Prediction> =
            [spread([0.1, 0.2, 0.3, 0.4]), spread([0.4, 0.1, 0.1, 0.4]), base.clone()].into();
        let mut at = stack.prediction();
        let mut columns = vec![0.0; classes * (1 + members)];
        write_columns(&base.scores, inputs[..members].iter().map(|input| (input, 1)), &mut columns);
        stack.predict(&base.scores, &columns, &mut at);
        at.probabilities[..4].to_vec()
    }

    /// An additional member that forecasts as the mixture does leaves the forecasts unchanged.
    #[test]
    fn growing_keeps_what_was_learnt() {
        for mut stack in both(0.0) {
            bits(&mut stack, false);
            let before = forecast(&stack, 4, 2);
            stack.grow(4, 3);
            for (p, grown) in before.iter().zip(forecast(&stack, 4, 3)) {
                assert!((p - grown).abs() < 1e-12, "{p} {grown}");
            }
        }
    }

    /// Two members with the same evidence have half of its weight each. When one of them is taken out, the
    /// other one has all of it.
    #[test]
    fn the_others_take_over_from_a_member() {
        for mut stack in both(0.0) {
            let base = [0.25f64.ln(); 4];
            // `present` is the part of its evidence that the other member has; `None` once it has left.
            let play = |stack: &mut Stack, present: Option<f64>, learn: bool| {
                let mut at = stack.prediction();
                let mut lost = 0.0;
                for t in 0..400usize {
                    let class = (t * 7 + t / 3) % 4;
                    let own: Vec<f64> = (0..4).map(|k| if k == class { 0.5 } else { 0.0 }).collect();
                    let other =
                        present.iter().flat_map(|part| own.iter().map(move |evidence| part * evidence));
                    let columns: Vec<f64> =
                        [0.0; 4].into_iter().chain(own.iter().copied()).chain(other).collect();
                    stack.predict(&base, &columns, &mut at);
                    lost += Target::class(class).log_loss(&at.probabilities) / 400.0;
                    if learn {
                        stack.update(&base, &columns, Target::class(class), &at);
                    }
                }
                lost
            };
            play(&mut stack, Some(1.0), true);
            let (with, missed) = (play(&mut stack, Some(1.0), false), play(&mut stack, Some(0.0), false));
            stack.remove(1..2);
            let without = play(&mut stack, None, false);
            assert!(with < without && without < 0.5 * missed, "{with} {without} {missed}");
            play(&mut stack, None, true);
            assert!(play(&mut stack, None, false) < without, "it goes on learning");
        }
    }

    /// Matrices of which one half is saved are exactly symmetric when a member has been taken out.
    #[test]
    fn what_is_saved_by_half_is_symmetric() {
        for mut stack in both(0.0) {
            bits(&mut stack, false);
            stack.remove(0..1);
            for tensor in stack.tensors() {
                let Slot::Symmetric { side, data } = tensor.slot else { continue };
                let is_same = |at: usize| data[at].to_bits() == data[at % side * side + at / side].to_bits();
                assert!((0..side * side).all(is_same), "{}", tensor.name);
            }
        }
    }

    /// If the number of classes exceeds that of a joint stack, weights and biases are kept.
    #[test]
    fn growing_to_many_classes_keeps_what_was_learnt() {
        let [mut stack, _] = both(0.0);
        bits(&mut stack, false);
        let Stack::Joint(joint) = &stack else { panic!("four classes are few") };
        let separated = Stack::Separate(joint.separated());
        for (p, separated) in forecast(&stack, 4, 2).iter().zip(forecast(&separated, 4, 2)) {
            assert!((p - separated).abs() < 0.02, "{p} {separated}");
        }
        stack.grow(MOST_JOINT_CLASSES + 1, 2);
        assert!(matches!(stack, Stack::Separate(_)));
        assert!(forecast(&stack, MOST_JOINT_CLASSES + 1, 2).iter().all(|p| p.is_finite()));
    }

    /// With a column for each head: $\ln p^i - z_0$; 0 for a member that was dropped, and for members that
    /// have joined since.
    #[test]
    fn heads_have_columns() {
        let base = [0.5f64.ln(), 0.5f64.ln()];
        let head = |p: f64| Prediction { probabilities: vec![p, 1.0 - p], ..Prediction::default() };
        let several = Prediction { members: vec![head(0.25), head(0.75)], ..Prediction::default() };
        let mut columns = [9.0; 2 * 6];
        let dropped = Prediction::default();
        write_columns(&base, [(&several, 2), (&dropped, 2)].into_iter(), &mut columns);
        let (less, more) = (0.5f64.ln(), 1.5f64.ln());
        for (column, want) in columns.iter().zip([0.0, 0.0, less, more, more, less]) {
            assert!((column - want).abs() < 1e-15, "{columns:?}");
        }
        assert_eq!(columns[6..], [0.0; 6]);
    }

    #[test]
    fn a_stack_begins_as_a_cautious_mixture() {
        let stack = Stack::new(3, 1, 0.0, 1.0);
        let mut base = Prediction::sized(3, 0);
        base.probabilities.copy_from_slice(&[0.7, 0.2, 0.1]);
        base.set_scores_to_logarithms();
        let mut at = stack.prediction();
        let mut columns = [0.0; 6];
        write_columns(&base.scores, [(&Prediction::default(), 1)].into_iter(), &mut columns);
        stack.predict(&base.scores, &columns, &mut at);
        // The average over all labels in FOLKLORE's forecast makes it more cautious.
        assert!((0.45..0.7).contains(&at.probabilities[0]), "{:?}", at.probabilities);
    }

    /// Evidence that no longer comes is forgotten altogether, and not kept as subnormal numbers.
    #[test]
    fn forgetting_leaves_no_subnormal_numbers() {
        // Products with more than one half never round to 0.
        for mut stack in both(0.01) {
            let (mut at, base) = (stack.prediction(), [0.25f64.ln(); 4]);
            for t in 0..1200 * separate::EVERY {
                let seen = f64::from(u8::from(t < 9));
                let columns: Vec<f64> = (0..12).map(|at| seen * f64::from(at % 5)).collect();
                stack.predict(&base, &columns, &mut at);
                stack.update(&base, &columns, Target::class((t % 3) as usize), &at);
            }
            for tensor in stack.tensors() {
                if let Slot::Real { data, .. } | Slot::Symmetric { data, .. } = tensor.slot {
                    let odd = data.iter().find(|number| **number != 0.0 && !number.is_normal());
                    assert_eq!(odd, None, "{}", tensor.name);
                }
            }
        }
    }
}

//! Where the logistic loss of a round of importance weight above 1 is linearised (theory: extensions 1.3).
//!
//! A step of the length $\omega$ of the weight, in the direction of the gradient at the forecast $z$, goes
//! far beyond the point that $\omega$ equal rounds would reach: there the gradient vanishes on the way. A
//! surrogate is a lower bound of the loss wherever it is taken. That of a round of weight $\omega > 1$ is
//! taken where the forecast would be after $\omega - 1$ further rounds,
//!
//! $$ z^+ = z - (\omega - 1)\ A\ (\sigma(z^+) - y), $$
//!
//! where $-A$ is the change of the scores by a gradient of weight 1. At the weight 1 it is the forecast.

use crate::example::{Target, Truth};
use crate::kernel::diagonal_fixed_point;
use crate::kernel::fixed_point::FixedPoint;
use crate::kernel::scalar_root::shrink;
use crate::kernel::vector::{axpy, take};
use crate::loss::logistic::{self, sigmoid};
use crate::prediction::Prediction;

/// The largest trace of $(\omega - 1) A$: rounding errors dominate for larger ones.
const LARGEST: f64 = 1e12;

/// The factor of $A$, of this trace.
fn further(y: Target<'_>, trace: f64) -> f64 {
    (y.weight - 1.0).min(LARGEST / trace.max(f64::MIN_POSITIVE))
}

/// Gives `out` this many scores and probabilities, and scratch memory, all 0.
fn clear(out: &mut Prediction, scores: usize, scratch: usize) {
    let lists = [(&mut out.scores, scores), (&mut out.probabilities, scores), (&mut out.scratch, scratch)];
    for (list, len) in lists {
        list.clear();
        list.resize(len, 0.0);
    }
}

/// Writes $z^+$ and its probabilities to `out`, for a diagonal matrix whose entries `write` writes. Memory is
/// that of `out`, so that only a learner's first round of weight above 1 allocates.
pub(crate) fn diagonal<'a>(
    write: impl FnOnce(&mut [f64]),
    y: Target<'_>,
    at: &Prediction,
    out: &'a mut Prediction,
) -> &'a Prediction {
    let k = at.scores.len();
    clear(out, k, 2 * k + diagonal_fixed_point::scratch_len(k));
    let rest = &mut &mut out.scratch[..];
    let (a, g) = (take(rest, k), take(rest, k));
    write(a);
    let factor = further(y, a.iter().sum());
    a.iter_mut().for_each(|a| *a *= factor);
    y.truth.add_to(1.0, g);
    for ((g, a), z) in g.iter_mut().zip(&*a).zip(&at.scores) {
        *g = z + a * *g;
    }
    diagonal_fixed_point::solve(a, g, &mut out.scores, &mut out.probabilities, rest);
    out
}

/// As [`diagonal`], for a matrix that `write` writes, in the coordinates of `inner`.
pub(crate) fn matrix<'a>(
    inner: &FixedPoint,
    write: impl FnOnce(&mut [f64]),
    y: Target<'_>,
    at: &Prediction,
    out: &'a mut Prediction,
) -> &'a Prediction {
    let (k, q) = (at.scores.len(), inner.dimension());
    clear(out, k, q * q + k + 3 * q + inner.scratch_len());
    let rest = &mut &mut out.scratch[..];
    let (a, truth, reduced) = (take(rest, q * q), take(rest, k), take(rest, q));
    let (g, z) = (take(rest, q), take(rest, q));
    write(a);
    let factor = further(y, a.iter().step_by(q + 1).sum());
    a.iter_mut().for_each(|a| *a *= factor);
    y.truth.add_to(1.0, truth);
    inner.reduce(truth, reduced);
    inner.reduce(&at.scores, g);
    for (column, y) in a.chunks_exact(q).zip(&*reduced) {
        axpy(*y, column, g);
    }
    let solution = inner.solve(a, g, z, rest);
    out.probabilities.copy_from_slice(solution.probabilities);
    inner.expand(z, &mut out.scores);
    out
}

/// As [`diagonal`], for two classes, with $A = \frac a8 (1, -1)(1, -1)^\top$.
pub(crate) fn binary<'a>(a: f64, y: Target<'_>, at: &Prediction, out: &'a mut Prediction) -> &'a Prediction {
    let a = further(y, a) * a;
    let s = at.scores[1] - at.scores[0];
    let s = shrink(s + 0.5 * a * (y.truth.binary()[1] - 0.5), 0.25 * a);
    clear(out, 2, 0);
    out.scores.copy_from_slice(&[-0.5 * s, 0.5 * s]);
    out.probabilities.copy_from_slice(&[sigmoid(-s), sigmoid(s)]);
    out
}

/// Writes $z^+$ of every head, by `of_head` with its number, to the members of `out`, and the mean of their
/// probabilities, for learners that have one curvature for all of them.
pub(crate) fn heads<'a>(
    at: &Prediction,
    out: &'a mut Prediction,
    of_head: impl Fn(usize, &Prediction, &mut Prediction),
) -> &'a Prediction {
    out.members.resize_with(at.members.len(), Prediction::default);
    for (head, (own, out)) in at.members.iter().zip(&mut out.members).enumerate() {
        of_head(head, own, out);
    }
    let share = 1.0 / at.members.len() as f64;
    out.probabilities.clear();
    out.probabilities.resize(out.members[0].probabilities.len(), 0.0);
    for one in &out.members {
        axpy(share, &one.probabilities, &mut out.probabilities);
    }
    out
}

/// By how much the round has lost more at the forecast `at` than it would have at `ahead`: for certificates,
/// whose surrogates are compared with the loss at `ahead`.
pub(crate) fn excess(y: Target<'_>, at: &Prediction, ahead: &Prediction) -> f64 {
    let loss = |scores: &[f64]| match y.truth {
        Truth::Class(label) => logistic::loss(scores, label.index()),
        Truth::Distribution(y) => logistic::soft_loss(scores, y),
        Truth::Value(value) => panic!("a classifier was given the real-valued target {value}"),
    };
    y.weight * (loss(&at.scores) - loss(&ahead.scores))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::basis::LogitBasis;
    use crate::testing::{assert_all_close, assert_close};

    /// The three forms agree where all apply, and solve the equation.
    #[test]
    fn the_point_ahead() {
        let mut at = Prediction::sized(2, 0);
        at.scores = vec![0.75, -0.75];
        at.probabilities = vec![sigmoid(1.5), sigmoid(-1.5)];
        for (y, weight) in [(Target::class(1), 40.0), (Target::distribution(&[0.3, 0.7]), 7.0)] {
            let y = y.weighted(weight);
            let mut outs: [Prediction; 4] = Default::default();
            let [one, reduced, full, two] = &mut outs;
            let one = diagonal(|a| a.fill(0.5), y, &at, one);
            for class in 0..2 {
                let mut residual = one.probabilities.clone();
                y.truth.subtract_from(&mut residual);
                let want = at.scores[class] - (weight - 1.0) * 0.5 * residual[class];
                assert_close(one.scores[class], want, 1e-9, "the equation");
            }
            let inner = FixedPoint::reduced(LogitBasis::new(2));
            let reduced = matrix(&inner, |a| a.fill(0.5), y, &at, reduced);
            assert_all_close(&reduced.scores, &one.scores, 1e-9, "in coordinates");
            let identity = |a: &mut [f64]| a.copy_from_slice(&[0.5, 0.0, 0.0, 0.5]);
            let full = matrix(&FixedPoint::full(2), identity, y, &at, full);
            assert_all_close(&full.scores, &one.scores, 1e-9, "in logits");
            assert_all_close(&binary(2.0, y, &at, two).scores, &one.scores, 1e-9, "for two classes");
            assert!(excess(y, &at, one) > 0.0, "the loss falls");
        }
        let mut far = Prediction::default();
        let far = diagonal(|a| a.fill(1e3), Target::class(1).weighted(1e30), &at, &mut far);
        assert!(far.probabilities[1] > 0.999 && far.scores.iter().all(|z| z.is_finite()), "{far:?}");
    }
}

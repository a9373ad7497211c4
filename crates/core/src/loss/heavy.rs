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
use crate::kernel::vector::axpy;
use crate::loss::logistic::{self, sigmoid};
use crate::prediction::Prediction;

/// The largest trace of $(\omega - 1) A$: rounding errors dominate for larger ones.
const LARGEST: f64 = 1e12;

/// The factor of $A$, of this trace.
fn further(y: Target<'_>, trace: f64) -> f64 {
    (y.weight - 1.0).min(LARGEST / trace.max(f64::MIN_POSITIVE))
}

/// $z^+$ and its probabilities, for a diagonal matrix with the entries `a`.
pub(crate) fn diagonal(a: &[f64], y: Target<'_>, at: &Prediction) -> Prediction {
    let k = a.len();
    let factor = further(y, a.iter().sum());
    let a: Vec<f64> = a.iter().map(|a| factor * a).collect();
    let mut g = vec![0.0; k];
    y.truth.add_to(1.0, &mut g);
    for ((g, a), z) in g.iter_mut().zip(&a).zip(&at.scores) {
        *g = z + a * *g;
    }
    let mut out = Prediction::sized(k, diagonal_fixed_point::scratch_len(k));
    diagonal_fixed_point::solve(&a, &g, &mut out.scores, &mut out.probabilities, &mut out.scratch);
    out
}

/// $z^+$ and its probabilities, for a matrix `a` in the coordinates of `inner`.
pub(crate) fn matrix(inner: &FixedPoint, a: &[f64], y: Target<'_>, at: &Prediction) -> Prediction {
    let (k, q) = (at.scores.len(), inner.dimension());
    let factor = further(y, a.iter().step_by(q + 1).sum());
    let a: Vec<f64> = a.iter().map(|a| factor * a).collect();
    let (mut truth, mut reduced, mut g, mut z) = (vec![0.0; k], vec![0.0; q], vec![0.0; q], vec![0.0; q]);
    y.truth.add_to(1.0, &mut truth);
    inner.reduce(&truth, &mut reduced);
    inner.reduce(&at.scores, &mut g);
    for (column, y) in a.chunks_exact(q).zip(&reduced) {
        axpy(*y, column, &mut g);
    }
    let mut out = Prediction::sized(k, inner.scratch_len());
    let solution = inner.solve(&a, &g, &mut z, &mut out.scratch);
    out.probabilities.copy_from_slice(solution.probabilities);
    inner.expand(&z, &mut out.scores);
    out
}

/// $z^+$ and its probabilities for two classes, with $A = \frac a8 (1, -1)(1, -1)^\top$.
pub(crate) fn binary(a: f64, y: Target<'_>, at: &Prediction) -> Prediction {
    let a = further(y, a) * a;
    let s = at.scores[1] - at.scores[0];
    let s = shrink(s + 0.5 * a * (y.truth.binary()[1] - 0.5), 0.25 * a);
    let mut out = Prediction::sized(2, 0);
    out.scores.copy_from_slice(&[-0.5 * s, 0.5 * s]);
    out.probabilities.copy_from_slice(&[sigmoid(-s), sigmoid(s)]);
    out
}

/// `members` and the mean of their probabilities, for learners that have one curvature for all of them.
pub(crate) fn mean(members: Vec<Prediction>) -> Prediction {
    let mut out = Prediction::sized(members[0].probabilities.len(), 0);
    let share = 1.0 / members.len() as f64;
    members.iter().for_each(|one| axpy(share, &one.probabilities, &mut out.probabilities));
    out.members = members;
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
            let one = diagonal(&[0.5, 0.5], y, &at);
            for class in 0..2 {
                let mut residual = one.probabilities.clone();
                y.truth.subtract_from(&mut residual);
                let want = at.scores[class] - (weight - 1.0) * 0.5 * residual[class];
                assert_close(one.scores[class], want, 1e-9, "the equation");
            }
            let inner = FixedPoint::reduced(LogitBasis::new(2));
            assert_all_close(&matrix(&inner, &[0.5], y, &at).scores, &one.scores, 1e-9, "in coordinates");
            let full = matrix(&FixedPoint::full(2), &[0.5, 0.0, 0.0, 0.5], y, &at);
            assert_all_close(&full.scores, &one.scores, 1e-9, "in logits");
            assert_all_close(&binary(2.0, y, &at).scores, &one.scores, 1e-9, "for two classes");
            assert!(excess(y, &at, &one) > 0.0, "the loss falls");
        }
        let far = diagonal(&[1e3, 1e3], Target::class(1).weighted(1e30), &at);
        assert!(far.probabilities[1] > 0.999 && far.scores.iter().all(|z| z.is_finite()), "{far:?}");
    }
}

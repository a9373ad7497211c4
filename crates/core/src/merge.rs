//! Merging learners that were trained on parts of the data (shards): their sufficient statistics add up.
//!
//! A second-order learner keeps a sum of quadratic surrogates, $\theta^\top A\theta + G^\top\theta$ with $A =
//! \lambda I + \Delta$. Each surrogate is a lower bound of its round's loss on the whole ball of comparators,
//! wherever it was taken; therefore the sum over $S$ shards is a lower bound of the total loss. Let $W_m =
//! -\tfrac12 A^{-1}G$ be the minimiser of the merged sum. Over all rounds that the shards or the merged
//! learner predict, for every $W$ in the ball (theory: extensions 3.1):
//!
//! $$ A = \textstyle\sum_i A_i: \qquad \mathrm{Regret}(W) \le S\lambda\lVert W \rVert^2 + \sum_t r_t, \tag{1}
//!    $$
//! $$ A = \lambda I + \textstyle\sum_i \Delta_i: \qquad \mathrm{Regret}(W) \le \lambda\lVert W \rVert^2 +
//!    (S-1)\lambda\lVert W_m \rVert^2 + \sum_t r_t. \tag{2} $$
//!
//! $r_t$ is the contribution of round $t$ to the bound of the learner that predicted it:
//! $\tfrac14\mathrm{tr}(A_{t-1}^{-1}H_t)$ for FOLKLORE, a multiple of the increase of $\ln\det A$ for the
//! others; these sums add up too. The certificate of the merged learner holds with its own regulariser, for
//! either form.
//!
//! Two things do not follow: that predictions equal those of one learner for all rows, since surrogates are
//! taken at other points (except for squared loss, where they are exact and (2) has the state of that
//! learner), and the bound of that learner, since every shard has its own logarithm. Merging is associative
//! and commutative up to rounding; the first form multiplies $\lambda$, so that with it all shards are merged
//! at once or in groups of equal size.
//!
//! SOBA, which learns from bandit feedback, keeps such sums, too; its bound on mistakes is that of theory:
//! bandit 2.5.

use crate::algorithm::{Algorithm, AnyModel, BanditModel, Model};
use crate::kernel::second_order::SecondOrder;
use crate::kernel::vector::axpy;
use crate::learner::Predictor;
use crate::param::{Params, UNSET, Value};
use crate::problem::Problem;

pub use self::how::{Merge, MergeError};

pub(crate) mod how;

/// Why a merged learner has a certificate but no bound in closed form.
pub(crate) const NO_CLOSED_FORM: &str =
    "models were merged: the certificate holds, the theorem's closed form does not";

/// Merges `models`, which must be of one algorithm, with equal parameters, classes and features.
///
/// The merged learner predicts, learns and is saved like any other. Rounds, certificates' sums and, for
/// learners with a known horizon, the horizon add up; the seed is that of the first model.
///
/// # Errors
/// If the models do not match, or are of an algorithm without sufficient statistics.
pub fn merge(models: &[&dyn Model], how: Merge) -> Result<Box<dyn Model>, MergeError> {
    let (first, others) = models.split_first().ok_or(MergeError::Nothing)?;
    first.merge_with(others, how)
}

/// Merges learners that learn from bandit feedback, see [`merge`].
///
/// # Errors
/// As [`merge`].
pub fn merge_bandits(models: &[&dyn BanditModel], how: Merge) -> Result<Box<dyn BanditModel>, MergeError> {
    let (first, others) = models.split_first().ok_or(MergeError::Nothing)?;
    first.merge_with(others, how)
}

/// Merges learners that all have one kind of feedback, see [`merge`].
///
/// # Errors
/// As [`merge`]; if the kinds of feedback differ.
pub fn merge_any(models: &[&AnyModel], how: Merge) -> Result<AnyModel, MergeError> {
    let first = models.first().ok_or(MergeError::Nothing)?;
    let (mut full, mut bandits) = (Vec::new(), Vec::new());
    for (part, model) in models.iter().enumerate() {
        match (first, model) {
            (AnyModel::Full(_), AnyModel::Full(model)) => full.push(&**model),
            (AnyModel::Bandit(_), AnyModel::Bandit(model)) => bandits.push(&**model),
            _ => {
                let kind = |model: &AnyModel| match model {
                    AnyModel::Full(_) => "full".to_owned(),
                    AnyModel::Bandit(_) => "bandit".to_owned(),
                };
                let (found, needed) = (kind(model), kind(first));
                return Err(MergeError::Mismatch { part, what: "feedback".to_owned(), found, needed });
            }
        }
    }
    Ok(match first {
        AnyModel::Full(_) => AnyModel::Full(merge(&full, how)?),
        AnyModel::Bandit(_) => AnyModel::Bandit(merge_bandits(&bandits, how)?),
    })
}

/// Checks that `parts` agree in everything that must be equal; `problem_of` returns a part's problem. Returns
/// the first of them, and the problem of the merged learner, with the largest radius and the sum of the
/// rounds, as far as these are known.
pub(crate) fn check<'a, L: Algorithm>(
    parts: &[&'a L],
    problem_of: impl Fn(&L) -> &Problem,
) -> Result<(&'a L, Problem), MergeError> {
    let (&first, others) = parts.split_first().ok_or(MergeError::Nothing)?;
    let mut problem = problem_of(first).clone();
    let values = first.params().values();
    for (part, other) in (1..).zip(others) {
        let theirs = problem_of(other);
        let mismatch = |what: &str, found: String, needed: String| {
            Err(MergeError::Mismatch { part, what: what.to_owned(), found, needed })
        };
        for (what, found, needed) in
            [("classes", theirs.classes, problem.classes), ("features", theirs.features, problem.features)]
        {
            if found != needed {
                return mismatch(what, found.to_string(), needed.to_string());
            }
        }
        let other = other.params().values();
        let shown = |value: Option<&Value>| value.map_or_else(|| UNSET.to_owned(), Value::to_string);
        // The numbers of rounds add up; a parameter whose default depends on them is compared itself.
        for name in values.keys().chain(other.keys()).filter(|name| *name != "horizon") {
            if values.get(name) != other.get(name) {
                return mismatch(name, shown(other.get(name)), shown(values.get(name)));
            }
        }
        problem.radius = problem.radius.zip(theirs.radius).map(|(a, b)| a.max(b));
        problem.horizon = problem.horizon.zip(theirs.horizon).map(|(a, b)| a.saturating_add(b));
    }
    Ok((first, problem))
}

/// Merges learners whose [`statistics`](Algorithm::statistics) add up.
pub(crate) fn by_statistics<L: Algorithm + Predictor>(parts: &[&L], how: Merge) -> Result<L, MergeError> {
    let (first, problem) = check(parts, L::problem)?;
    first.with_statistics(&sum(parts)?, parts.len(), how, problem)
}

/// The sum of the statistics of `parts`, in their order.
fn sum<L: Algorithm>(parts: &[&L]) -> Result<Vec<f64>, MergeError> {
    let mut sum = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let statistics = part.statistics().map_err(|error| error.of(at))?;
        if at == 0 {
            sum = statistics;
        } else {
            axpy(1.0, &statistics, &mut sum);
        }
    }
    Ok(sum)
}

/// The statistics of a second-order learner: the lower triangle of $A$ row by row, the vectors $b$, and
/// `sums`, its own sums over rounds.
pub(crate) fn statistics(
    state: &SecondOrder,
    sums: impl IntoIterator<Item = f64>,
) -> Result<Vec<f64>, MergeError> {
    let (side, a) = (state.side(), state.precision().ok_or(MergeError::Singular { part: None })?);
    let mut list = Vec::with_capacity(side * (side + 1) / 2 + state.vector().len() + 4);
    for (row, entries) in a.chunks_exact(side).enumerate() {
        list.extend_from_slice(&entries[..=row]);
    }
    list.extend_from_slice(&state.vector());
    list.extend(sums);
    Ok(list)
}

/// Sets the state of a new learner from the `sum` of the [`statistics`] of `parts` learners whose regulariser
/// is `regularization`, and returns their sums over rounds, `number` of them.
pub(crate) fn restore<'a>(
    state: &mut SecondOrder,
    sum: &'a [f64],
    number: usize,
    parts: usize,
    how: Merge,
    regularization: f64,
) -> Result<&'a [f64], MergeError> {
    let side = state.side();
    let (triangle, vectors) = (side * (side + 1) / 2, state.vector().len());
    if sum.len() != triangle + vectors + number {
        return Err(MergeError::Length { found: sum.len(), needed: triangle + vectors + number });
    }
    if sum.iter().any(|number| !number.is_finite()) {
        return Err(MergeError::Singular { part: None });
    }
    let (lower, rest) = sum.split_at(triangle);
    let (b, sums) = rest.split_at(vectors);
    let surplus = match how {
        Merge::SumAll => 0.0,
        Merge::LambdaOnce => (parts as f64 - 1.0) * regularization,
    };
    let mut a = vec![0.0; side * side];
    let mut at = 0;
    for row in 0..side {
        for (column, entry) in lower[at..=at + row].iter().enumerate() {
            a[row * side + column] = *entry;
            a[column * side + row] = *entry;
        }
        a[row * side + row] -= surplus;
        at += row + 1;
    }
    if state.become_sum(a, b) { Ok(sums) } else { Err(MergeError::Singular { part: None }) }
}

#[cfg(test)]
mod bandit_tests;
#[cfg(test)]
mod tests;

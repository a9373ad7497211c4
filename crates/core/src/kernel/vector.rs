//! Sums over slices, in a fixed order.
//!
//! Sums use eight lanes on every machine, so that a result does not depend on the vector width: the widest
//! vectors of the processor are chosen at run time, and only affect the speed.

use pulp::Arch;

/// Number of partial sums.
pub(crate) const LANES: usize = 8;

/// For fewer numbers, choosing the processor's vectors costs more than it saves.
const SHORT: usize = 32;

/// $\sum_i a_i b_i$.
///
/// # Panics
/// If the lengths differ.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "dot product of vectors of different lengths");
    if a.len() < SHORT {
        dot_in_lanes(a, b)
    } else {
        widest(
            #[inline(always)]
            || dot_in_lanes(a, b),
        )
    }
}

/// [`dot`] of slices of equal length, to be inlined into the argument of [`widest`].
#[inline(always)]
pub(crate) fn dot_in_lanes(a: &[f64], b: &[f64]) -> f64 {
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sum_of_lanes(lanes) + rest
}

#[inline(always)]
pub(crate) fn sum_of_lanes(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

/// `y += scale * x`.
///
/// # Panics
/// If the lengths differ.
pub fn axpy(scale: f64, x: &[f64], y: &mut [f64]) {
    assert_eq!(x.len(), y.len(), "sum of vectors of different lengths");
    if x.len() < SHORT {
        add_scaled(scale, x, y)
    } else {
        widest(
            #[inline(always)]
            || add_scaled(scale, x, y),
        )
    }
}

/// [`axpy`] of slices of equal length, to be inlined into the argument of [`widest`].
#[inline(always)]
pub(crate) fn add_scaled(scale: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += scale * x;
    }
}

/// `numbers *= keep`, for what is forgotten bit by bit; what falls below `negligible` becomes 0. Otherwise it
/// would become subnormal, and processors take up to a hundred times as long for such numbers.
pub(crate) fn shrink(numbers: &mut [f64], keep: f64, negligible: f64) {
    for number in numbers {
        let kept = keep * *number;
        *number = if kept.abs() < negligible { 0.0 } else { kept };
    }
}

/// Beside numbers of about 1, what is below this is [`shrink`]'s `negligible`: so small that it has no effect
/// in double precision, and so large that products of several such numbers are not subnormal.
pub(crate) const NEGLIGIBLE: f64 = 1e-60;

/// Runs `work` with the widest vectors of the processor. `work` and the functions that it calls must be
/// inlined.
#[inline(always)]
pub fn widest<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// $\max_i |a_i|$; 0 for an empty slice.
pub fn max_abs(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |max, value| value.abs().max(max))
}

/// $\sum_i a_i$.
pub(crate) fn sum(a: &[f64]) -> f64 {
    sum_in_lanes(a)
}

/// $\sum_i a_i$, to be inlined into the argument of [`widest`].
#[inline(always)]
pub fn sum_in_lanes(a: &[f64]) -> f64 {
    let (blocks, rest) = a.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for block in blocks {
        for lane in 0..LANES {
            lanes[lane] += block[lane];
        }
    }
    sum_of_lanes(lanes) + rest.iter().sum::<f64>()
}

/// The larger of two numbers, neither of them NaN, which `f64::max` would check.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The largest of some numbers, none of them NaN; -∞ if there are none.
#[inline(always)]
pub(crate) fn max_in_lanes(a: &[f64]) -> f64 {
    let (blocks, rest) = a.as_chunks::<LANES>();
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for block in blocks {
        for lane in 0..LANES {
            lanes[lane] = larger(lanes[lane], block[lane]);
        }
    }
    lanes.into_iter().chain(rest.iter().copied()).fold(f64::NEG_INFINITY, larger)
}

/// Splits the first `len` numbers off `rest`; used to divide the scratch memory of a prediction.
pub(crate) fn take<'a>(rest: &mut &'a mut [f64], len: usize) -> &'a mut [f64] {
    let (head, tail) = std::mem::take(rest).split_at_mut(len);
    *rest = tail;
    head
}

/// Copies rows of `from` numbers to the beginnings of rows of `to` numbers.
pub(crate) fn widen<T: Copy>(old: &[T], from: usize, new: &mut [T], to: usize) {
    for (old, new) in old.chunks_exact(from).zip(new.chunks_exact_mut(to)) {
        new[..from].copy_from_slice(old);
    }
}

/// The rows of `from` numbers in `old` as the first of `count` rows of `to` numbers; the rest is 0.
pub(crate) fn widened(old: &[f64], from: usize, count: usize, to: usize) -> Vec<f64> {
    let mut new = vec![0.0; count * to];
    widen(old, from, &mut new, to);
    new
}

/// The index of the largest value; the first of several equal ones.
pub fn argmax(values: &[f64]) -> usize {
    let mut best = 0;
    for (at, &value) in values.iter().enumerate() {
        if value > values[best] {
            best = at;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_of_every_length() {
        for len in 0..40 {
            let a: Vec<f64> = (0..len).map(|i| i as f64).collect();
            let b: Vec<f64> = (0..len).map(|i| 1.0 - i as f64).collect();
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), expected, "small integers are exact in any order");
        }
    }
}

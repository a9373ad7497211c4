//! A point from which Newton's method solves the inner problem in few steps where the matrix is large.
//!
//! The probabilities at the solution of $z = g - A\ \sigma(z)$ minimise $\frac12 p^\top Ap - \langle g, p
//! \rangle + \sum_k p_k \ln p_k$. Where $A$ is large, the entropy hardly counts. Without it, and with the
//! diagonal $a$ of $A$ alone, the minimiser is
//!
//! $$ p_k = \max(0, g_k - t) / a_k, \qquad \sum_k p_k = 1 \tag{1} $$
//!
//! (theory: second-order 1.3). From $\sigma(g)$, which often has all of its mass in a class whose probability
//! is small at the solution, the method takes up to some hundred steps for more than ten classes.

/// Up to this entry of the diagonal, $\sigma(g)$ or the solution of a similar problem is nearer.
pub(super) const LARGE: f64 = 16.0;

/// Beyond this, scores are rounded to multiples of about 1, and no start is better than another.
pub(super) const HUGE: f64 = 1e15;

/// Replaces `p` by (1) if the largest entry of the diagonal `a` is above [`LARGE`] and at most [`HUGE`];
/// entries below 1 count as 1.
pub(super) fn start(a: impl Iterator<Item = f64> + Clone, g: &[f64], p: &mut [f64]) {
    let largest = a.clone().fold(0.0, f64::max);
    if !(largest > LARGE && largest <= HUGE) {
        return;
    }
    let top = g.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // p holds 1/a until the end; t is relative to the largest g. No p_k is above 1, so that t >= g_k - a_k.
    let mut t = f64::NEG_INFINITY;
    for ((p, a), g) in p.iter_mut().zip(a).zip(g) {
        let a = a.max(1.0);
        t = t.max(g - top - a);
        *p = 1.0 / a;
    }
    // Newton's method for the sum, which is convex and piecewise linear in t, increases t until the end. The
    // sum has no more pieces than there are classes.
    for _ in g {
        let (mut sum, mut slope) = (-1.0, 0.0);
        for (w, g) in p.iter().zip(g) {
            let above = if g - top > t { *w } else { 0.0 };
            sum += above * (g - top - t);
            slope += above;
        }
        let next = t + sum / slope;
        if next <= t {
            break;
        }
        t = next;
    }
    let mut total = 0.0;
    for (p, g) in p.iter_mut().zip(g) {
        *p *= (g - top - t).max(0.0);
        total += *p;
    }
    p.iter_mut().for_each(|p| *p /= total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;
    use proptest::prelude::*;

    /// $t = \frac{40}3$: $(30 - t)/20 + (20 - t)/40 = \frac56 + \frac16$.
    #[test]
    fn a_start_by_hand() {
        let mut p = [0.0; 3];
        start([20.0, 40.0, 40.0].into_iter(), &[30.0, 20.0, -90.0], &mut p);
        for (got, want) in p.into_iter().zip([5.0 / 6.0, 1.0 / 6.0, 0.0]) {
            assert_close(got, want, 1e-15, "p");
        }
    }

    #[test]
    fn small_matrices_keep_the_start() {
        let mut p = [0.2, 0.8];
        start([16.0, 0.0].into_iter(), &[3.0, 2.0], &mut p);
        assert_eq!(p, [0.2, 0.8]);
    }

    proptest! {
        /// All $g_k - a_k p_k$ with $p_k > 0$ are equal, and at least as large as the others.
        #[test]
        fn it_is_the_minimiser(
            entries in prop::collection::vec((0.0..1.0f64, -1.0..1.0f64), 2..30),
            scale in 17.0..1e6f64,
            spread in prop::sample::select(vec![0.0, 1e-3, 1.0, 1e3]),
        ) {
            let a: Vec<f64> = entries.iter().map(|(a, _)| (scale * a).max(1.0)).chain([17.0]).collect();
            let g: Vec<f64> = entries.iter().map(|(_, g)| spread * scale * g).chain([0.0]).collect();
            let mut p = vec![f64::NAN; a.len()];
            start(a.iter().copied(), &g, &mut p);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p.iter().all(|p| *p >= 0.0), "{p:?}");
            let level = |k: usize| g[k] - a[k] * p[k];
            let highest = (0..p.len()).map(level).fold(f64::NEG_INFINITY, f64::max);
            let lowest = (0..p.len()).filter(|k| p[*k] > 0.0).map(level).fold(f64::INFINITY, f64::min);
            let rounding = 1e-9 * scale * (1.0 + spread);
            prop_assert!(lowest > highest - rounding, "from {lowest} to {highest}");
        }
    }
}

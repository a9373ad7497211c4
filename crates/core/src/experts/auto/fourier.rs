//! Random Fourier features, which approximate a Gaussian kernel.
//!
//! For rows $x, y$ and a deviation $\sigma$, with $w \sim N(0, I/\sigma^2)$,
//!
//! $$ e^{-\lVert x - y \rVert^2 / 2\sigma^2} = \mathbb{E}\ \cos w^\top(x - y)
//!    = \mathbb{E}\ \bigl(\cos w^\top x \cos w^\top y + \sin w^\top x \sin w^\top y\bigr), $$
//!
//! so that a learner that is linear in the features $\cos w_j^\top x$ and $\sin w_j^\top x$ of
//! [`FREQUENCIES`] draws $w_j$ approximates a learner with this kernel, at a cost that does not grow with the
//! number of rounds. (Ali Rahimi, Benjamin Recht, *Random Features for Large-Scale Kernel Machines*, NeurIPS
//! 2007; `references.bib`: `rahimi2007random`.) The code calls these features *waves*.

use std::sync::OnceLock;

use crate::example::Features;
use crate::kernel::trigonometry::quick_sines_and_cosines;
use crate::kernel::vector::widest;
use crate::rng::Rng;

/// Number of draws of $w$; each yields two features.
const FREQUENCIES: usize = 192;

/// Number of random features.
pub(super) const WAVES: usize = 2 * FREQUENCIES;

/// Longer rows are scaled down to this norm, in multiples of the unit. Few rows exceed it; the waves of huge
/// numbers are noise.
const LARGEST_NORM: f64 = 2.0;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Fourier {
    /// $\sigma$.
    deviation: f64,
    /// The entries of the vectors $w_j$ for every feature, drawn when it first occurs: columns that never do
    /// take no memory.
    frequencies: Vec<OnceLock<Box<[f64]>>>,
}

impl Fourier {
    /// For rows of `features` numbers.
    pub(super) fn new(features: usize, deviation: f64) -> Self {
        let mut fourier = Self { deviation, frequencies: Vec::new() };
        fourier.grow(features);
        fourier
    }

    /// 8-byte numbers of state.
    pub(super) fn numbers(features: usize) -> usize {
        features.saturating_mul(FREQUENCIES)
    }

    /// Multiply-adds for a row. A sine and a cosine together take the time of twenty multiply-adds.
    pub(super) fn work(features: usize) -> f64 {
        FREQUENCIES as f64 * (features as f64 + 20.0)
    }

    /// Makes room for additional features.
    pub(super) fn grow(&mut self, features: usize) {
        self.frequencies.resize_with(features.max(self.frequencies.len()), OnceLock::new);
    }

    /// The entries of the vectors $w_j$ for a feature. They depend only on its index and the deviation, so
    /// that a loaded model draws those of the saved one.
    fn column(&self, feature: usize) -> &[f64] {
        self.frequencies[feature].get_or_init(|| {
            let mut rng = Rng::new(self.deviation.to_bits(), feature as u64);
            (0..FREQUENCIES).map(|_| rng.normal() / self.deviation).collect()
        })
    }

    /// Writes the random features of `x`, scaled to norm 1, to `waves`.
    pub(super) fn waves(&self, x: Features<'_>, waves: &mut [f64]) {
        let norm = x.norm_squared().sqrt();
        let scale = if norm > LARGEST_NORM { LARGEST_NORM / norm } else { 1.0 };
        let (cosines, sines) = waves.split_at_mut(FREQUENCIES);
        cosines.fill(0.0);
        let mut entries = x.iter().filter(|(_, value)| *value != 0.0);
        while let Some(first) = entries.next() {
            let group = [Some(first), entries.next(), entries.next(), entries.next()];
            let group = group.map(|entry| entry.unwrap_or((first.0, 0.0)));
            add_four(group.map(|(feature, value)| (scale * value, self.column(feature))), cosines);
        }
        quick_sines_and_cosines((FREQUENCIES as f64).sqrt().recip(), cosines, sines);
    }
}

/// Adds four multiples of vectors to `sum`, one after the other: a quarter of the loads and stores.
fn add_four(terms: [(f64, &[f64]); 4], sum: &mut [f64]) {
    let [(a, x), (b, y), (c, z), (d, w)] = terms;
    widest(
        #[inline(always)]
        || {
            for ((((sum, x), y), z), w) in sum.iter_mut().zip(x).zip(y).zip(z).zip(w) {
                *sum = (((*sum + a * x) + b * y) + c * z) + d * w;
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::vector::dot;
    use crate::testing::unit_rows;

    fn waves(fourier: &Fourier, x: &[f64]) -> Vec<f64> {
        let mut waves = vec![f64::NAN; WAVES];
        fourier.waves(Features::Dense(x), &mut waves);
        waves
    }

    /// Inner products are the kernel's values, within four standard deviations of a mean of this many
    /// cosines.
    #[test]
    fn waves_add_up_to_a_gaussian() {
        let rows = unit_rows(9, 40, 5);
        for deviation in [0.4, 1.0, 3.0] {
            let fourier = Fourier::new(5, deviation);
            for pair in rows.windows(2) {
                let squared: f64 = pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b) * (a - b)).sum();
                let want = (-0.5 * squared / (deviation * deviation)).exp();
                let got = dot(&waves(&fourier, &pair[0]), &waves(&fourier, &pair[1]));
                assert!((got - want).abs() < 4.0 * (0.5 / FREQUENCIES as f64).sqrt(), "{got}, not {want}");
            }
        }
    }

    #[test]
    fn whatever_the_row_the_waves_are_of_norm_one() {
        let fourier = Fourier::new(3, 0.4);
        for x in [[0.0; 3], [0.1, -0.7, 0.2], [3e100, 0.0, -4e100], [1e300, 1e300, 0.0]] {
            let waves = waves(&fourier, &x);
            assert!((dot(&waves, &waves) - 1.0).abs() < 1e-12, "{x:?}");
        }
    }

    #[test]
    fn features_that_appear_later_change_nothing() {
        let (mut grown, whole) = (Fourier::new(2, 0.4), Fourier::new(4, 0.4));
        grown.grow(4);
        let columns = |fourier: &Fourier| [0, 1, 2, 3].map(|feature| fourier.column(feature).to_vec());
        assert_eq!(columns(&grown), columns(&whole));
        let sparse = Features::Sparse { indices: &[0, 1], values: &[0.3, -0.2] };
        let mut got = vec![0.0; WAVES];
        grown.waves(sparse, &mut got);
        assert_eq!(got, waves(&Fourier::new(2, 0.4), &[0.3, -0.2]));
    }

    /// Of many columns, those are drawn that have a number.
    #[test]
    fn columns_that_never_occur_take_no_memory() {
        let fourier = Fourier::new(1000, 0.4);
        let row = Features::Sparse { indices: &[3, 500, 999], values: &[1.0, 0.0, -2.0] };
        fourier.waves(row, &mut [0.0; WAVES]);
        let drawn = (0..1000).filter(|feature| fourier.frequencies[*feature].get().is_some());
        assert_eq!(drawn.collect::<Vec<_>>(), [3, 999]);
    }
}

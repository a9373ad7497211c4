//! The best of some splits that are drawn at random (extremely randomised trees), on the stored rows of a
//! leaf.
//!
//! With $n$ rows, $n_k$ of them of class $k$, and $l$ of them to the left and $r$ to the right of a
//! threshold, a split is accepted if
//!
//! $$ \text{gain} = \tfrac1n \Big(\sum_k \tfrac{l_k^2}{l} + \sum_k \tfrac{r_k^2}{r} - \sum_k
//!    \tfrac{n_k^2}{n}\Big)
//!    > \sqrt{\tfrac{\ln(1/\delta)}{2n}}. \tag{1} $$
//!
//! ## Reference
//!
//! Pedro Domingos, Geoff Hulten, *Mining High-Speed Data Streams*, KDD 2000, for the bound; Pierre Geurts,
//! Damien Ernst, Louis Wehenkel, *Extremely randomized trees*, Machine Learning 63, 2006, for the drawn
//! splits. `references.bib`: `domingos2000hoeffding`, `geurts2006extra`.

use crate::boosting::rows::Rows;
use crate::boosting::{mixed, mixed_uniform};

/// A split: rows whose value of `feature` exceeds `threshold` belong to the right.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    gain: f64,
    pub(crate) feature: usize,
    pub(crate) threshold: f32,
}

impl Split {
    /// 1 for a stored row to the right of the threshold, 0 for one to the left.
    pub(crate) fn side(self, rows: &Rows, number: u32) -> usize {
        usize::from(rows.value(number, self.feature) > self.threshold)
    }
}

/// A sequence of random numbers that is determined by its seed.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    pub(crate) seed: u64,
    /// Number of random numbers drawn so far.
    pub(crate) drawn: u64,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    /// A whole number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.drawn = self.drawn.wrapping_add(1);
        mixed(self.seed, self.drawn) % limit
    }

    /// A number in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.drawn = self.drawn.wrapping_add(1);
        mixed_uniform(self.seed, self.drawn)
    }
}

/// How splits are drawn and accepted, and the buffers for it.
#[derive(Clone, Debug)]
pub(crate) struct Splitter {
    /// Number of classes.
    classes: usize,
    /// Features and thresholds drawn in an attempt.
    tries: usize,
    /// $\tfrac12 \ln(1/\delta)$.
    half_log_confidence: f64,
    /// The class of each row, and its value of one feature.
    of_class: Vec<u32>,
    values: Vec<f32>,
    /// Number of rows of each class, and of those to the right of a threshold.
    counts: Vec<f32>,
}

impl Splitter {
    /// Attempts of `tries` splits with $\delta$ = `confidence`, for leaves of at most `buffer` rows.
    pub(crate) fn new(classes: usize, tries: usize, confidence: f64, buffer: usize) -> Self {
        Self {
            classes,
            tries,
            half_log_confidence: -0.5 * confidence.ln(),
            of_class: vec![0; buffer],
            values: vec![0.0; buffer],
            counts: vec![0.0; 2 * classes],
        }
    }

    /// The best of the drawn splits of the stored rows `numbers`, if it is accepted. None is drawn if all
    /// rows have the same class.
    pub(crate) fn best(&mut self, rows: &Rows, numbers: &[u32], draws: &mut Draws) -> Option<Split> {
        let count = numbers.len();
        let (of_class, values) = (&mut self.of_class[..count], &mut self.values[..count]);
        self.counts.fill(0.0);
        let (total, right) = self.counts.split_at_mut(self.classes);
        for (class, number) in of_class.iter_mut().zip(numbers) {
            *class = rows.class(*number) as u32;
            total[*class as usize] += 1.0;
        }
        let n = count as f64;
        let square = |counts: &[f32]| f64::from(counts.iter().map(|c| c * c).sum::<f32>());
        let whole = square(total);
        if whole == n * n {
            return None;
        }
        let mut best: Option<Split> = None;
        for _ in 0..self.tries {
            let feature = draws.below(rows.features as u64) as usize;
            let uniform = draws.uniform();
            let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
            for (value, number) in values.iter_mut().zip(numbers) {
                *value = rows.value(*number, feature);
                (low, high) = (low.min(*value), high.max(*value));
            }
            if low >= high {
                continue;
            }
            let (low, high) = (f64::from(low), f64::from(high));
            let threshold = (low + (high - low) * uniform) as f32;
            right.fill(0.0);
            let mut r = 0.0;
            for (_, class) in values.iter().zip(&*of_class).filter(|(value, _)| **value > threshold) {
                right[*class as usize] += 1.0;
                r += 1.0;
            }
            if r == 0.0 || r == n {
                continue;
            }
            let left = f64::from(total.iter().zip(&*right).map(|(t, r)| (t - r) * (t - r)).sum::<f32>());
            let gain = (left / (n - r) + square(right) / r - whole / n) / n; // eq. (1)
            if best.is_none_or(|best| gain > best.gain) {
                best = Some(Split { gain, feature, threshold });
            }
        }
        best.filter(|best| best.gain > (self.half_log_confidence / n).sqrt()) // eq. (1)
    }
}

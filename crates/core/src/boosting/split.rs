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
        usize::from(rows.row(number)[self.feature] > self.threshold)
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
    /// Features and thresholds drawn in an attempt.
    tries: usize,
    /// $\tfrac12 \ln(1/\delta)$.
    half_log_confidence: f64,
    /// For each row: its class, and where it starts in the store. Sorted by class.
    places: Vec<(u32, usize)>,
    /// For each class with a row, the end of its rows in `places`.
    ends: Vec<usize>,
    /// For each row, its value of one feature.
    values: Vec<f32>,
}

impl Splitter {
    /// Attempts of `tries` splits with $\delta$ = `confidence`, for leaves of at most `buffer` rows.
    pub(crate) fn new(tries: usize, confidence: f64, buffer: usize) -> Self {
        Self {
            tries,
            half_log_confidence: -0.5 * confidence.ln(),
            places: Vec::with_capacity(buffer),
            ends: Vec::with_capacity(buffer),
            values: vec![0.0; buffer],
        }
    }

    /// The best of the drawn splits of the stored rows `numbers`, if it is accepted. None is drawn if all
    /// rows have the same class.
    pub(crate) fn best(&mut self, rows: &Rows, numbers: &[u32], draws: &mut Draws) -> Option<Split> {
        let Self { places, ends, values, .. } = self;
        places.clear();
        places.extend(numbers.iter().map(|number| (rows.class(*number) as u32, rows.start(*number))));
        places.sort_unstable_by_key(|(class, _)| *class);
        ends.clear();
        let mut end = 0;
        for group in places.chunk_by(|(one, _), (other, _)| one == other) {
            end += group.len();
            ends.push(end);
        }
        if ends.len() < 2 {
            return None;
        }
        let values = &mut values[..numbers.len()];
        let n = numbers.len() as f64;
        let whole = squares(ends, |first, end| end - first);
        let mut best: Option<Split> = None;
        for _ in 0..self.tries {
            let feature = draws.below(rows.features as u64) as usize;
            let uniform = draws.uniform();
            let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
            for (value, (_, start)) in values.iter_mut().zip(&*places) {
                *value = rows.value(*start, feature);
                low = if *value < low { *value } else { low };
                high = if *value > high { *value } else { high };
            }
            if low >= high {
                continue;
            }
            let (low, high) = (f64::from(low), f64::from(high));
            let threshold = (low + (high - low) * uniform) as f32;
            let above = |first, end| values[first..end].iter().map(|v| usize::from(*v > threshold)).sum();
            let r: usize = above(0, values.len());
            if r == 0 || r == values.len() {
                continue;
            }
            let right = squares(ends, above);
            let left = squares(ends, |first, end| end - first - above(first, end));
            let r = r as f64;
            let gain = (left / (n - r) + right / r - whole / n) / n; // eq. (1)
            if best.is_none_or(|best| gain > best.gain) {
                best = Some(Split { gain, feature, threshold });
            }
        }
        best.filter(|best| best.gain > (self.half_log_confidence / n).sqrt()) // eq. (1)
    }
}

/// The sum of the squares of what `count` returns for the rows of each class, from the first to the end.
fn squares(ends: &[usize], count: impl Fn(usize, usize) -> usize) -> f64 {
    let (mut sum, mut first) = (0, 0);
    for &end in ends {
        let count = count(first, end);
        sum += count * count;
        first = end;
    }
    sum as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Features;

    /// Six rows, unordered by class, at -1 (classes 0, 2, 2) and at 1 (1, 1, 1): every threshold separates
    /// them, so that the gain is (5/3 + 9/3 - 14/6)/6 = 7/18. Hoeffding's bound is 7/18 at
    /// δ = e^(-12 (7/18)²) = 0.1628.
    #[test]
    fn three_classes_by_hand() {
        let mut rows = Rows::new(1, 8);
        let given = [(-1.0, 2), (1.0, 1), (-1.0, 0), (1.0, 1), (-1.0, 2), (1.0, 1)];
        let numbers = given.map(|(x, class)| rows.keep(Features::Dense(&[x]), class));
        for (confidence, accepted) in [(0.163, true), (0.1625, false)] {
            let split = Splitter::new(4, confidence, 8).best(&rows, &numbers, &mut Draws::new(1));
            assert_eq!(split.is_some(), accepted, "δ = {confidence}");
            let Some(split) = split else { continue };
            assert!((split.gain - 7.0 / 18.0).abs() < 1e-15, "{split:?}");
            assert_eq!(numbers.map(|number| split.side(&rows, number)), [0, 1, 0, 1, 0, 1]);
        }
        let same = [numbers[1], numbers[3], numbers[5]];
        assert!(Splitter::new(4, 1.0, 8).best(&rows, &same, &mut Draws::new(1)).is_none(), "one class");
    }
}

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
use crate::kernel::vector::widest;

/// Number of splits that are evaluated together, each in a lane of vectors.
const TOGETHER: usize = 16;

/// A number for each split of those evaluated together.
type Lanes<T> = [T; TOGETHER];

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
    /// For each row, its values of the features of some splits.
    values: Vec<Lanes<f32>>,
}

impl Splitter {
    /// Attempts of `tries` splits with $\delta$ = `confidence`, for leaves of at most `buffer` rows.
    pub(crate) fn new(tries: usize, confidence: f64, buffer: usize) -> Self {
        Self {
            tries,
            half_log_confidence: -0.5 * confidence.ln(),
            places: Vec::with_capacity(buffer),
            ends: Vec::with_capacity(buffer),
            values: vec![[0.0; TOGETHER]; buffer],
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
        let whole: usize = sizes(ends).map(|size| size * size).sum();
        let mut best: Option<Split> = None;
        for first in (0..self.tries).step_by(TOGETHER) {
            let (mut features, mut uniforms) = ([0; TOGETHER], [0.0; TOGETHER]);
            let count = TOGETHER.min(self.tries - first);
            for (feature, uniform) in features.iter_mut().zip(&mut uniforms).take(count) {
                *feature = draws.below(rows.features as u64) as usize;
                *uniform = draws.uniform();
            }
            for (values, (_, start)) in values.iter_mut().zip(&*places) {
                let row = rows.starting(*start);
                for (value, feature) in values.iter_mut().zip(&features) {
                    *value = row[*feature];
                }
            }
            let Evaluated { thresholds, above, left, right } = widest(
                #[inline(always)]
                || evaluate(values, ends, &uniforms),
            );
            for split in 0..count {
                let r = above[split];
                // A constant feature has none above the threshold.
                if r == 0 || r as usize == values.len() {
                    continue;
                }
                let (r, left, right) = (f64::from(r), f64::from(left[split]), f64::from(right[split]));
                let gain = (left / (n - r) + right / r - whole as f64 / n) / n; // eq. (1)
                if best.is_none_or(|best| gain > best.gain) {
                    best = Some(Split { gain, feature: features[split], threshold: thresholds[split] });
                }
            }
        }
        best.filter(|best| best.gain > (self.half_log_confidence / n).sqrt()) // eq. (1)
    }
}

/// Splits that were evaluated together.
struct Evaluated {
    thresholds: Lanes<f32>,
    /// $r$.
    above: Lanes<u32>,
    /// $\sum_k l_k^2$.
    left: Lanes<u32>,
    /// $\sum_k r_k^2$.
    right: Lanes<u32>,
}

/// Evaluates splits at thresholds between the least and the largest of the rows' `values`, which the
/// `uniforms` in [0, 1) choose. The rows are sorted by class; those of each class end at `ends`.
///
/// Written lane by lane, since there are few rows of each class.
#[inline(always)]
fn evaluate(values: &[Lanes<f32>], ends: &[usize], uniforms: &Lanes<f64>) -> Evaluated {
    let (mut low, mut high) = ([f32::INFINITY; TOGETHER], [f32::NEG_INFINITY; TOGETHER]);
    for row in values {
        for lane in 0..TOGETHER {
            low[lane] = if row[lane] < low[lane] { row[lane] } else { low[lane] };
            high[lane] = if row[lane] > high[lane] { row[lane] } else { high[lane] };
        }
    }
    let mut thresholds = [0.0; TOGETHER];
    for lane in 0..TOGETHER {
        let (low, high) = (f64::from(low[lane]), f64::from(high[lane]));
        thresholds[lane] = (low + (high - low) * uniforms[lane]) as f32;
    }
    let (mut above, mut left, mut right) = ([0; TOGETHER], [0; TOGETHER], [0; TOGETHER]);
    let mut rest = values;
    for size in sizes(ends) {
        let (class, after) = rest.split_at(size);
        let mut count = [0; TOGETHER];
        for row in class {
            for lane in 0..TOGETHER {
                count[lane] += u32::from(row[lane] > thresholds[lane]);
            }
        }
        for lane in 0..TOGETHER {
            let others = size as u32 - count[lane];
            above[lane] += count[lane];
            left[lane] += others * others;
            right[lane] += count[lane] * count[lane];
        }
        rest = after;
    }
    Evaluated { thresholds, above, left, right }
}

/// The number of rows of each class.
fn sizes(ends: &[usize]) -> impl Iterator<Item = usize> {
    let mut start = 0;
    ends.iter().map(move |end| end - std::mem::replace(&mut start, *end))
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

    /// The best of the same splits, evaluated one after the other from the definitions.
    fn one_by_one(rows: &Rows, numbers: &[u32], tries: usize, draws: &mut Draws) -> Option<Split> {
        let mut best: Option<Split> = None;
        let n = numbers.len() as f64;
        for _ in 0..tries {
            let (feature, uniform) = (draws.below(rows.features as u64) as usize, draws.uniform());
            let values = || numbers.iter().map(|number| rows.row(*number)[feature]);
            let (low, high) =
                (f64::from(values().fold(f32::MAX, f32::min)), f64::from(values().fold(f32::MIN, f32::max)));
            let threshold = (low + (high - low) * uniform) as f32;
            // For both sides and each class, the number of rows.
            let mut counts = [[0.0; 3]; 2];
            for (number, value) in numbers.iter().zip(values()) {
                counts[usize::from(value > threshold)][rows.class(*number)] += 1.0;
            }
            let size = |side: usize| counts[side].iter().sum::<f64>();
            if size(0) == 0.0 || size(1) == 0.0 {
                continue;
            }
            let squares = |side: usize| counts[side].iter().map(|count| count * count).sum::<f64>();
            let whole: f64 = (0..3).map(|class| (counts[0][class] + counts[1][class]).powi(2)).sum();
            let gain = (squares(0) / size(0) + squares(1) / size(1) - whole / n) / n;
            if best.is_none_or(|best| gain > best.gain) {
                best = Some(Split { gain, feature, threshold });
            }
        }
        best
    }

    /// Fewer splits than are evaluated together, as many, one more, and several times as many; of the four
    /// features, one is constant and one has few values.
    #[test]
    fn splits_together_are_as_one_by_one() {
        let mut draws = Draws::new(5);
        for (count, tries) in [(2, 1), (9, 5), (32, 16), (31, 17), (20, 50)] {
            let mut rows = Rows::new(4, 64);
            let numbers: Vec<u32> = (0..count)
                .map(|_| {
                    let (a, b, class) = (draws.uniform(), draws.below(3), draws.below(3) as usize);
                    let x = [a, 7.0, b as f64, a * a + class as f64];
                    rows.keep(Features::Dense(&x), class)
                })
                .collect();
            let (mut mine, mut theirs) = (draws.clone(), draws.clone());
            let got = Splitter::new(tries, 1.0, count).best(&rows, &numbers, &mut mine);
            let want = one_by_one(&rows, &numbers, tries, &mut theirs).filter(|split| split.gain > 0.0);
            let facts = |split: Option<Split>| split.map(|split| (split.feature, split.threshold));
            assert_eq!(facts(got), facts(want), "{count} rows, {tries} splits");
            if let (Some(got), Some(want)) = (got, want) {
                assert!((got.gain - want.gain).abs() < 1e-12, "{got:?} {want:?}");
                assert_eq!(mine.drawn, theirs.drawn);
            }
        }
    }
}

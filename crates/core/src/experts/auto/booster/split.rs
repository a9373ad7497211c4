//! Sums of gradients by bins, and the best split of a leaf.
//!
//! A number is split at a threshold; rows in which it is missing go to the side where the gain is larger. The
//! bins of a category are ordered by $G/(H + 10)$, and a set of the first ones is split off (Fisher, *On
//! Grouping for Maximum Homogeneity*, 1958, as in LightGBM).

use super::columns::{BINS, Columns};
use super::trees::{Bins, Rule};

/// $\lambda$.
pub(super) const REGULARIZATION: f64 = 1.0;

/// Limit on $|G/(H + \lambda)|$ of a leaf: where rows of a rare class had nearly no probability, $H$ is so
/// small that the step would be far too large.
const LARGEST_STEP: f64 = 4.0;

/// Added to $\lambda$ for splits by sets of categories, and to the second derivatives by which categories are
/// ordered: many sets are tried.
pub(super) const CAUTION: f64 = 10.0;

/// Columns of more bins than this are split by sets, others by one category against the rest.
pub(super) const FEW: usize = 5;

/// The smallest gain of a split.
const LEAST_GAIN: f64 = 1e-6;

/// A split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) gain: f64,
    pub(super) column: u16,
    pub(super) rule: Rule,
}

/// The best split so far; the first one of several.
#[derive(Default)]
pub(super) struct Best {
    pub(super) found: Option<Found>,
}

impl Best {
    pub(super) fn offer(&mut self, column: u16, gain: f64, rule: impl FnOnce() -> Rule) {
        if gain > LEAST_GAIN && self.found.is_none_or(|best| gain > best.gain) {
            self.found = Some(Found { gain, column, rule: rule() });
        }
    }
}

/// What a leaf adds to the scores, with the learning rate `rate`.
pub(super) fn value([g, h]: [f64; 2], rate: f64) -> f64 {
    -rate * (g / (h + REGULARIZATION)).clamp(-LARGEST_STEP, LARGEST_STEP)
}

/// $G$ and $H$ of each bin of the columns of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    all: Vec<[f64; 2]>,
    /// Where each column starts.
    starts: Vec<u32>,
}

impl Sums {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Sums over no rows, for the columns `used`.
    pub(super) fn clear(&mut self, columns: &Columns, used: &[u16]) {
        self.starts.clear();
        let mut end = 0;
        for column in used {
            self.starts.push(end);
            end += columns.all[*column as usize].bins as u32;
        }
        self.all.clear();
        self.all.resize(end as usize, [0.0; 2]);
    }

    /// Adds the `rows`, which have `count` bins each, with their weights in place of second derivatives if
    /// these are given. Returns their sums, and that of what is added beside $G$.
    pub(super) fn add(
        &mut self,
        rows: &[u32],
        bins: &[u8],
        count: usize,
        used: &[u16],
        gradients: &[[f32; 2]],
        weights: Option<&[f32]>,
    ) -> ([f64; 2], f64) {
        let (mut total, mut seconds) = ([0.0; 2], 0.0);
        let whole = used.len() == count;
        for row in rows {
            let [g, h] = gradients[*row as usize].map(f64::from);
            total = [total[0] + g, total[1] + h];
            let h = weights.map_or(h, |weights| weights[*row as usize].into());
            seconds += h;
            let own = &bins[*row as usize * count..][..count];
            let mut add = |start: u32, bin: u8| {
                let sum = &mut self.all[start as usize + bin as usize];
                *sum = [sum[0] + g, sum[1] + h];
            };
            if whole {
                self.starts.iter().zip(own).for_each(|(start, bin)| add(*start, *bin));
            } else {
                self.starts.iter().zip(used).for_each(|(start, at)| add(*start, own[*at as usize]));
            }
        }
        (total, seconds)
    }

    pub(super) fn subtract(&mut self, other: &Self) {
        for (own, other) in self.all.iter_mut().zip(&other.all) {
            *own = [own[0] - other[0], own[1] - other[1]];
        }
    }

    /// Those of the column `at` of the tree.
    pub(super) fn of(&self, at: usize) -> &[[f64; 2]] {
        let end = self.starts.get(at + 1).map_or(self.all.len(), |end| *end as usize);
        &self.all[self.starts[at] as usize..end]
    }
}

pub(super) fn score([g, h]: [f64; 2], regularization: f64) -> f64 {
    g * g / (h + regularization)
}

pub(super) fn minus(one: [f64; 2], other: [f64; 2]) -> [f64; 2] {
    [one[0] - other[0], one[1] - other[1]]
}

pub(super) fn plus(one: [f64; 2], other: [f64; 2]) -> [f64; 2] {
    [one[0] + other[0], one[1] + other[1]]
}

/// A leaf that may be split.
#[derive(Clone, Copy)]
struct Whole {
    total: [f64; 2],
    /// Its score.
    before: f64,
    /// The least sum of second derivatives of each side.
    least_second: f64,
}

impl Whole {
    fn new(total: [f64; 2], least_second: f64) -> Self {
        Self { total, before: score(total, REGULARIZATION), least_second }
    }

    /// The gain of a split into `left` and the rest, if both sides are large enough.
    fn gain(self, left: [f64; 2], regularization: f64) -> Option<f64> {
        let right = minus(self.total, left);
        let large = left[1] >= self.least_second && right[1] >= self.least_second;
        large.then(|| score(left, regularization) + score(right, regularization) - self.before) // eq. (2)
    }
}

/// The best split of a leaf with the sums `total`, whose sides have second derivatives of at least
/// `least_second` in sum; the first one of several.
pub(super) fn best_split(
    sums: &Sums,
    used: &[u16],
    columns: &Columns,
    total: [f64; 2],
    least_second: f64,
) -> Option<Found> {
    let mut best = Best::default();
    if total[1] < 2.0 * least_second {
        return None;
    }
    let leaf = Whole::new(total, least_second);
    for (at, column) in used.iter().enumerate() {
        let own = sums.of(at);
        let mut offer = |gain: f64, rule: &dyn Fn() -> Rule| best.offer(*column, gain, rule);
        if columns.all[*column as usize].is_category {
            of_category(own, leaf, &mut offer);
        } else {
            of_number(own, leaf, &mut offer);
        }
    }
    best.found
}

fn of_number(own: &[[f64; 2]], leaf: Whole, offer: &mut impl FnMut(f64, &dyn Fn() -> Rule)) {
    let missing = own[0];
    let directions: &[bool] = if missing[1] > 0.0 { &[true, false] } else { &[true] };
    for &missing_right in directions {
        let mut left = if missing_right { [0.0; 2] } else { missing };
        for (threshold, sum) in own.iter().enumerate().skip(1) {
            // The gain behind a bin without rows is that of the threshold before.
            if threshold > 1 && sum[0] == 0.0 && sum[1] == 0.0 {
                continue;
            }
            left = plus(left, *sum);
            if let Some(gain) = leaf.gain(left, REGULARIZATION) {
                offer(gain, &|| Rule::Number { threshold: threshold as u8, missing_right });
            }
        }
    }
}

/// The bins of a category that have rows, ordered by $G/(H + 10)$, at the front of `order`.
pub(super) fn ordered<'a>(own: &[[f64; 2]], order: &'a mut [u8; BINS]) -> &'a [u8] {
    let mut keys = [0.0; BINS];
    let mut count = 0;
    for (bin, sum) in own.iter().enumerate().filter(|(_, sum)| sum[1] > 1e-6) {
        (order[count], keys[bin]) = (bin as u8, sum[0] / (sum[1] + CAUTION));
        count += 1;
    }
    let order = &mut order[..count];
    order.sort_by(|a, b| keys[*a as usize].total_cmp(&keys[*b as usize]));
    order
}

/// A set of bins.
pub(super) fn set_of(bins: &[u8]) -> Bins {
    let mut set = Bins::default();
    bins.iter().for_each(|bin| set[*bin as usize / 64] |= 1 << (bin % 64));
    set
}

fn of_category(own: &[[f64; 2]], leaf: Whole, offer: &mut impl FnMut(f64, &dyn Fn() -> Rule)) {
    if own.len() <= FEW {
        for (bin, sum) in own.iter().enumerate() {
            if let Some(gain) = leaf.gain(minus(leaf.total, *sum), REGULARIZATION) {
                offer(gain, &|| Rule::Category(set_of(&[bin as u8])));
            }
        }
        return;
    }
    let mut order = [0u8; BINS];
    let order = ordered(own, &mut order);
    let mut right = [0.0; 2];
    for at in 0..order.len().saturating_sub(1) {
        right = plus(right, own[order[at] as usize]);
        if let Some(gain) = leaf.gain(right, REGULARIZATION + CAUTION) {
            offer(gain, &|| Rule::Category(set_of(&order[..=at])));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(own: &[[f64; 2]], of: fn(&[[f64; 2]], Whole, &mut Offer<'_>)) -> (f64, Rule) {
        let total = own.iter().fold([0.0; 2], |sum, own| plus(sum, *own));
        let mut best = (0.0, Rule::Category(Bins::default()));
        of(own, Whole::new(total, 1.0), &mut |gain, rule| {
            if gain > best.0 {
                best = (gain, rule());
            }
        });
        best
    }

    type Offer<'a> = dyn FnMut(f64, &dyn Fn() -> Rule) + 'a;

    /// G = (-3, 3) and H = (2, 2) in two bins: 9/3 + 9/3 - 0/5 = 6. With missing rows of G = -3 and H = 1,
    /// they belong to the left: 36/4 + 9/3 - 9/6 = 10.5, against 9/3 + 0/4 - 9/6 to the right.
    #[test]
    fn missing_values_go_where_they_fit() {
        let number = |own: &[[f64; 2]]| found(own, |own, leaf, mut offer| of_number(own, leaf, &mut offer));
        let (gain, rule) = number(&[[0.0, 0.0], [-3.0, 2.0], [3.0, 2.0]]);
        assert_eq!((gain, rule), (6.0, Rule::Number { threshold: 1, missing_right: true }));
        let (gain, rule) = number(&[[-3.0, 1.0], [-3.0, 2.0], [3.0, 2.0]]);
        assert_eq!((gain, rule), (10.5, Rule::Number { threshold: 1, missing_right: false }));
        let (gain, rule) = number(&[[3.0, 1.0], [-3.0, 2.0], [3.0, 2.0]]);
        assert_eq!((gain, rule), (10.5, Rule::Number { threshold: 1, missing_right: true }));
        // Both sides need a second derivative of 1.
        assert_eq!(number(&[[0.0, 0.0], [-3.0, 0.9], [3.0, 2.0]]).0, 0.0);
    }

    /// Six bins, G = -6 in every second one and 6 in the others, H = 2: the sets are separated, with
    /// 18²/(6 + 11) on both sides.
    #[test]
    fn categories_are_split_by_sets() {
        let own: Vec<[f64; 2]> = (0..6).map(|bin| [if bin % 2 == 0 { -6.0 } else { 6.0 }, 2.0]).collect();
        let (gain, rule) = found(&own, |own, leaf, mut offer| of_category(own, leaf, &mut offer));
        assert!((gain - 2.0 * 324.0 / 17.0).abs() < 1e-12, "{gain}");
        assert_eq!([0, 1, 2, 3, 4, 5].map(|bin| rule.is_right(bin)), [true, false, true, false, true, false]);
    }
}

//! Trees that grow by levels: all leaves of a depth are split by the same rule, the one with the largest sum
//! of gains
//!
//! $$ \sum_{\text{leaves}} \frac{G_l^2}{W_l + \lambda} + \frac{G_r^2}{W_r + \lambda} - \frac{G^2}{W + \lambda}, \tag{3} $$
//!
//! where $W$ is the weight of the rows. They have few rules, and so err less by chance than trees that grow
//! leaf by leaf; those come after them, and find what they miss.
//!
//! The bins of a category are ordered by the sums over all rows of the tree, so that its sets of first ones
//! are the same in all leaves. A leaf whose rows all go to one side stays as it is.
//!
//! ## Reference
//!
//! Liudmila Prokhorenkova et al., *CatBoost: Unbiased Boosting with Categorical Features*, NeurIPS 2018
//! (`prokhorenkova2018catboost`): oblivious trees, with this gain.

use super::super::columns::{BINS, Column, Columns};
use super::super::split::{
    Best, CAUTION, FEW, Found, REGULARIZATION, Sums, minus, ordered, plus, score, set_of,
};
use super::super::trees::Rule;
use super::{Fit, Stage};

/// Number of levels: a tree has at most 32 leaves.
const LEVELS: usize = 5;

/// Where the growth of a tree is.
#[derive(Clone, Default)]
pub(super) struct Level {
    /// Number of levels that are divided, the present one included.
    depth: usize,
    /// Number of leaves that the present level's rule divides.
    leaves: usize,
    gains: Gains,
}

impl Level {
    /// Before a tree.
    pub(super) fn restart(&mut self) {
        self.depth = 0;
    }

    /// Whether the leaves that are summed up now are split no more, so that they need no sums by bins.
    pub(super) fn is_last(&self) -> bool {
        self.depth == LEVELS
    }
}

impl Fit {
    /// Begins the first level, with the sums of all rows.
    pub(super) fn begin_levels(&mut self) {
        let Self { level, trees, used, histograms, leaves, .. } = self;
        let columns = &trees.as_ref().expect("columns were chosen").columns;
        level.gains.begin(&histograms[leaves[0].sums], used, columns);
        self.stage = Stage::Level(0);
    }

    /// Adds what the rules gain at `leaf`; after the last leaf, chooses the rule that divides all of them.
    pub(super) fn add_gains(&mut self, leaf: usize) -> u64 {
        let Self { level, trees, used, histograms, leaves, .. } = self;
        let columns = &trees.as_ref().expect("columns were chosen").columns;
        let sums = &histograms[leaves[leaf].sums];
        let ([g, _], weight) = (leaves[leaf].total, leaves[leaf].second);
        level.gains.add(sums, used, columns, [g, weight]);
        let work = 200 + 2 * sums.len() as u64;
        if leaf + 1 < leaves.len() {
            self.stage = Stage::Level(leaf + 1);
            return work;
        }
        match level.gains.best(used, columns) {
            Some(found) => {
                leaves.iter_mut().for_each(|leaf| leaf.split = Some(found));
                (level.depth, level.leaves) = (level.depth + 1, leaves.len());
                self.stage = Stage::Divide { leaf: 0, from: 0, left: 0 };
            }
            None => self.end_tree(),
        }
        work
    }

    /// Divides the leaf after `leaf` by the level's rule, or begins the next level, or ends the tree.
    pub(super) fn divide_after(&mut self, leaf: usize) {
        if leaf + 1 < self.level.leaves {
            self.stage = Stage::Divide { leaf: leaf + 1, from: 0, left: 0 };
        } else if self.level.is_last() {
            self.end_tree();
        } else {
            self.level.gains.clear();
            self.stage = Stage::Level(0);
        }
    }
}

/// What each rule gains, in sum over the leaves of a level.
#[derive(Clone, Default)]
struct Gains {
    /// For each bin of a number, its threshold with missing rows to the right and to the left; of a category,
    /// the set of the bins of `orders` up to this place, or of this bin alone if there are few.
    all: Vec<[f64; 2]>,
    /// For each column of many categories, its bins in order.
    orders: Vec<Vec<u8>>,
}

impl Gains {
    /// Begins a tree whose first leaf has the sums `all`.
    fn begin(&mut self, all: &Sums, used: &[u16], columns: &Columns) {
        self.all.clear();
        self.all.resize(all.len(), [0.0; 2]);
        self.orders.resize(used.len(), Vec::new());
        for (at, (column, order)) in used.iter().zip(&mut self.orders).enumerate() {
            order.clear();
            if columns.all[*column as usize].is_category && all.of(at).len() > FEW {
                order.extend_from_slice(ordered(all.of(at), &mut [0; BINS]));
            }
        }
    }

    /// Begins the next level.
    fn clear(&mut self) {
        self.all.fill([0.0; 2]);
    }

    /// Adds the gains at a leaf with these `sums`, `total` in all.
    fn add(&mut self, sums: &Sums, used: &[u16], columns: &Columns, total: [f64; 2]) {
        let mut rest = &mut self.all[..];
        for (at, (column, order)) in used.iter().zip(&self.orders).enumerate() {
            let own = sums.of(at);
            let gains = rest.split_off_mut(..own.len()).expect("each bin has its gains");
            match &columns.all[*column as usize] {
                Column { is_category: false, .. } => add_of_number(own, total, gains),
                _ => add_of_category(own, total, order, gains),
            }
        }
    }

    /// The rule that gains most; the first one of several.
    fn best(&self, used: &[u16], columns: &Columns) -> Option<Found> {
        let mut best = Best::default();
        let mut rest = &self.all[..];
        for (column, order) in used.iter().zip(&self.orders) {
            let of = &columns.all[*column as usize];
            let gains = rest.split_off(..of.bins).expect("each bin has its gains");
            for (at, [gain, of_left]) in gains.iter().enumerate() {
                if of.is_category {
                    let bins = if order.is_empty() { &[at as u8] } else { &order[..order.len().min(at + 1)] };
                    best.offer(*column, *gain, || Rule::Category(set_of(bins)));
                } else {
                    let threshold = at as u8;
                    best.offer(*column, *gain, || Rule::Number { threshold, missing_right: true });
                    best.offer(*column, *of_left, || Rule::Number { threshold, missing_right: false });
                }
            }
        }
        best.found
    }
}

/// The gain of eq. (3) at a leaf with the sums `total`, by one of its sides.
fn gain(total: [f64; 2], regularization: f64) -> impl Fn([f64; 2]) -> f64 {
    let before = score(total, regularization);
    move |side| score(side, regularization) + score(minus(total, side), regularization) - before
}

fn add_of_number(own: &[[f64; 2]], total: [f64; 2], gains: &mut [[f64; 2]]) {
    let (missing, gain) = (own[0], gain(total, REGULARIZATION));
    let (mut left, mut last) = ([0.0; 2], [0.0; 2]);
    for (gains, sum) in gains.iter_mut().zip(own).skip(1) {
        // The gain behind a bin without rows is that of the threshold before.
        if sum[0] != 0.0 || sum[1] != 0.0 {
            left = plus(left, *sum);
            let right = gain(left);
            last = [right, if missing[1] > 0.0 { gain(plus(left, missing)) } else { right }];
        }
        *gains = plus(*gains, last);
    }
}

fn add_of_category(own: &[[f64; 2]], total: [f64; 2], order: &[u8], gains: &mut [[f64; 2]]) {
    if order.is_empty() {
        let gain = gain(total, REGULARIZATION);
        gains.iter_mut().zip(own).for_each(|(gains, sum)| gains[0] += gain(*sum));
    }
    let (mut right, gain) = ([0.0; 2], gain(total, REGULARIZATION + CAUTION));
    for (gains, bin) in gains.iter_mut().zip(order) {
        right = plus(right, own[*bin as usize]);
        gains[0] += gain(right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two leaves of weight 4: in the first one G = (-2, 2) in two bins of weight 2, in the second one both
    /// rows are in bin 2, so that nothing is gained there: 4/3 + 4/3 - 0. Rows whose number is missing, with
    /// G = 2 and weight 1, go to the right: 4/3 + 16/4 - 4/6, to the left 0/4 + 4/3 - 4/6.
    #[test]
    fn gains_of_leaves_are_added() {
        let added = |leaves: &[&[[f64; 2]]]| {
            let mut gains = vec![[0.0; 2]; leaves[0].len()];
            for own in leaves {
                let total = own.iter().fold([0.0; 2], |sum, own| plus(sum, *own));
                add_of_number(own, total, &mut gains);
            }
            gains
        };
        let first = [[0.0, 0.0], [-2.0, 2.0], [2.0, 2.0]];
        let second = [[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]];
        assert_eq!(added(&[&first, &second]), [[0.0; 2], [8.0 / 3.0; 2], [0.0; 2]]);
        let missing = [[2.0, 1.0], [-2.0, 2.0], [2.0, 2.0]];
        let [_, [right, left], _] = added(&[&missing])[..] else { panic!("three bins") };
        assert!((right - (4.0 / 3.0 + 4.0 - 2.0 / 3.0)).abs() < 1e-12, "{right}");
        assert!((left - (4.0 / 3.0 - 2.0 / 3.0)).abs() < 1e-12, "{left}");
    }

    /// Of six bins, those of every second one are on one side.
    #[test]
    fn sets_of_categories_are_those_of_all_rows() {
        let own: Vec<[f64; 2]> = (0..6).map(|bin| [if bin % 2 == 0 { -6.0 } else { 6.0 }, 2.0]).collect();
        let mut buffer = [0; BINS];
        let order = ordered(&own, &mut buffer);
        let mut gains = vec![[0.0; 2]; 6];
        add_of_category(&own, [0.0, 12.0], order, &mut gains);
        let best = (0..6).max_by(|a, b| gains[*a][0].total_cmp(&gains[*b][0]));
        assert_eq!((best, &order[..3]), (Some(2), &[0, 2, 4][..]));
        assert!((gains[2][0] - 2.0 * 324.0 / 17.0).abs() < 1e-12, "{gains:?}");
        // Few bins are split off one by one.
        let mut gains = [[0.0; 2]; 2];
        add_of_category(&[[-2.0, 2.0], [2.0, 2.0]], [0.0, 4.0], &[], &mut gains);
        assert_eq!(gains, [[8.0 / 3.0, 0.0]; 2]);
    }
}

//! The nearest of the latest rows: a ring buffer of rows in single precision, and a search through all of it.
//!
//! Rows are stored in blocks of [`LANES`], feature by feature, so that the distances of a block are computed
//! side by side, each in the order of the features. The search proceeds from the latest block to earlier
//! ones. After the blocks of a window, it has found the nearest rows of that window: therefore windows of
//! several lengths take one search of the longest. Several rows are searched for together, since most of the
//! time of a search is reading the blocks.

use pulp::{Arch, Simd, WithSimd};

use super::softmax::lanes;

/// Number of rows whose distances are computed at a time.
pub(crate) const LANES: usize = 32;

/// Number of features after which the search checks whether a row of the block can still be near enough.
const PART: usize = 16;

/// Values are clipped to ± this, so that distances are finite.
const LARGEST_VALUE: f64 = 1e15;

/// The latest rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latest {
    features: usize,
    /// Number of blocks of the longest window; one more block is being filled.
    window: usize,
    /// Block by block, feature by feature, row by row.
    values: Vec<f32>,
    /// Number of rows so far.
    seen: u64,
}

/// The nearest rows of a search, the nearest first; of equally near rows, the latest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<const MOST: usize> {
    found: usize,
    /// Squared distances.
    distances: [f32; MOST],
    places: [u32; MOST],
}

impl<const MOST: usize> Near<MOST> {
    pub(crate) fn new() -> Self {
        Self { found: 0, distances: [f32::INFINITY; MOST], places: [0; MOST] }
    }

    /// The number of rows found.
    pub(crate) fn len(&self) -> usize {
        self.found
    }

    /// Squared distances, and positions of the rows in the ring buffer.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (f64, usize)> + '_ {
        let found = self.distances.iter().zip(&self.places).take(self.found);
        found.map(|(distance, place)| (f64::from(*distance), *place as usize))
    }

    /// Squared distance of the row number `rank`, or of the last row if there are fewer.
    pub(crate) fn distance(&self, rank: usize) -> f64 {
        self.found.checked_sub(1).map_or(0.0, |last| f64::from(self.distances[rank.min(last)]))
    }

    /// Rows that are farther than this are not inserted.
    #[inline(always)]
    fn farthest(&self) -> f32 {
        self.distances[MOST - 1]
    }

    fn insert(&mut self, distance: f32, place: u32) {
        let mut at = self.found.min(MOST - 1);
        while at > 0 && distance < self.distances[at - 1] {
            self.distances[at] = self.distances[at - 1];
            self.places[at] = self.places[at - 1];
            at -= 1;
        }
        self.distances[at] = distance;
        self.places[at] = place;
        self.found = (self.found + 1).min(MOST);
    }
}

impl Latest {
    /// For windows of at most `rows` rows, rounded up to whole blocks.
    pub(crate) fn new(features: usize, rows: usize) -> Self {
        Self { features, window: rows.div_ceil(LANES), ..Self::default() }
    }

    /// 4-byte numbers at most.
    pub(crate) fn numbers(features: usize, rows: usize) -> usize {
        (rows.div_ceil(LANES) + 1).saturating_mul(LANES).saturating_mul(features)
    }

    /// Number of blocks of the longest window.
    pub(crate) fn window(&self) -> usize {
        self.window
    }

    /// Number of positions that hold a row.
    pub(crate) fn places(&self) -> usize {
        (self.seen.min(((self.window + 1) * LANES) as u64)) as usize
    }

    /// The position of the row with this number.
    fn place(&self, number: u64) -> usize {
        (number % ((self.window + 1) * LANES) as u64) as usize
    }

    /// Rounds and clips the numbers of a row as they are stored.
    pub(crate) fn round(x: &mut [f64]) {
        x.iter_mut().for_each(|x| *x = f64::from(x.clamp(-LARGEST_VALUE, LARGEST_VALUE) as f32));
    }

    /// Stores a row that was [rounded](Self::round), overwriting the oldest one if the buffer is full;
    /// returns its position.
    pub(crate) fn keep(&mut self, x: &[f64]) -> usize {
        let place = self.place(self.seen);
        let (block, lane) = (place / LANES, place % LANES);
        let start = block * self.features * LANES;
        if start == self.values.len() {
            self.values.resize(start + self.features * LANES, 0.0);
        }
        let values = self.values[start..].iter_mut().skip(lane).step_by(LANES);
        values.zip(x).for_each(|(value, x)| *value = *x as f32);
        self.seen += 1;
        place
    }

    /// Writes the row at position `place` to the first numbers of `out`.
    pub(crate) fn row(&self, place: usize, out: &mut [f64]) {
        let (block, lane) = (place / LANES, place % LANES);
        let block = &self.values[block * self.features * LANES..][..self.features * LANES];
        let values = block.iter().skip(lane).step_by(LANES);
        out.iter_mut().zip(values).for_each(|(out, value)| *out = f64::from(*value));
    }

    /// Positions from the oldest to the latest row.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = usize> + '_ {
        (self.seen - self.places() as u64..self.seen).map(move |number| self.place(number))
    }

    /// Finds the rows nearest to each of `rows`, one after another, which were [rounded](Self::round), in
    /// windows of `lengths` whole blocks, in increasing order, together with the rows of the block that is
    /// being filled; calls `each` with the number of the row, that of the window, and the result. `near` has
    /// an entry for each row.
    pub(crate) fn nearest<const MOST: usize>(
        &self,
        rows: &[f64],
        lengths: &[usize],
        near: &mut [Near<MOST>],
        mut each: impl FnMut(usize, usize, &Near<MOST>),
    ) {
        near.fill(Near::new());
        // Blocks by number: the one that is being filled, and the previous ones.
        let current = self.seen / LANES as u64;
        let mut searched = 0;
        for (window, &length) in lengths.iter().enumerate() {
            let end = (length.min(self.window) as u64).min(current) + 1;
            for behind in searched..end {
                for (x, near) in rows.chunks_exact(self.features).zip(&mut *near) {
                    self.search(x, current - behind, near);
                }
            }
            searched = end.max(searched);
            near.iter().enumerate().for_each(|(row, near)| each(row, window, near));
        }
    }

    /// Inserts the near rows of the block with this number.
    fn search<const MOST: usize>(&self, x: &[f64], number: u64, near: &mut Near<MOST>) {
        let first = number * LANES as u64;
        let rows = (self.seen - first).min(LANES as u64) as usize;
        if rows == 0 {
            return;
        }
        let place = self.place(first);
        let block = &self.values[place * self.features..][..LANES * self.features];
        let farthest = near.farthest();
        let Some(sums) = Arch::new().dispatch(Distances { x, block, farthest }) else { return };
        for (lane, &distance) in sums[..rows].iter().enumerate().rev() {
            if distance < near.farthest() {
                near.insert(distance, (place + lane) as u32);
            }
        }
    }

    /// Appends the state to `out`, as a list: the number of rows so far, and the stored values.
    pub(crate) fn list(&self, out: &mut Vec<f64>) {
        out.push(self.seen as f64);
        out.extend(self.values.iter().map(|value| f64::from(*value)));
    }

    /// Restores the state from a list of [`Latest::list`]; `None` if the list is invalid.
    pub(crate) fn set_list(&mut self, list: &mut &[f64]) -> Option<()> {
        let seen = *list.split_off_first()?;
        if !(seen >= 0.0 && seen < 2f64.powi(53) && seen.fract() == 0.0) {
            return None;
        }
        self.seen = seen as u64;
        let len = self.places().div_ceil(LANES) * LANES * self.features;
        let values = list.split_off(..len)?;
        if values.iter().any(|value| value.is_nan() || value.abs() > LARGEST_VALUE) {
            return None;
        }
        self.values = values.iter().map(|value| *value as f32).collect();
        Some(())
    }
}

/// Squared distances of `x` to the rows of a block; `None` if all are at least `farthest`.
struct Distances<'a> {
    x: &'a [f64],
    block: &'a [f32],
    farthest: f32,
}

impl WithSimd for Distances<'_> {
    type Output = Option<[f32; LANES]>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self { x, block, farthest } = self;
        // The vectors that hold a number for each row; what is left of the array is not used.
        let vectors = LANES / (size_of::<S::f32s>() / size_of::<f32>());
        let mut sums = [simd.splat_f32s(0.0); LANES];
        let (features, _) = block.as_chunks::<LANES>();
        for (x, features) in x.chunks(PART).zip(features.chunks(PART)) {
            for (x, values) in x.iter().zip(features) {
                let x = simd.splat_f32s(*x as f32);
                let (values, _) = S::as_simd_f32s(values);
                for (sum, values) in sums.iter_mut().take(vectors).zip(values) {
                    let gap = simd.sub_f32s(x, *values);
                    *sum = simd.mul_add_e_f32s(gap, gap, *sum);
                }
            }
            let least = sums[1..vectors].iter().fold(sums[0], |least, sum| simd.min_f32s(least, *sum));
            if !lanes::<f32, _>(&least).iter().fold(false, |some, sum| some | (*sum < farthest)) {
                return None;
            }
        }
        let mut out = [0.0; LANES];
        S::as_mut_simd_f32s(&mut out).0.copy_from_slice(&sums[..vectors]);
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Rows with few different values, so that many distances are equal, and all are exact.
    fn rows(count: usize, features: usize) -> Vec<Vec<f64>> {
        let mut rng = Rng::new(3, features as u64);
        let mut row = || (0..features).map(|_| rng.below(4) as f64 / 4.0).collect::<Vec<f64>>();
        (0..count)
            .map(|_| {
                let mut row = row();
                Latest::round(&mut row);
                row
            })
            .collect()
    }

    fn found<const MOST: usize>(latest: &Latest, x: &[f64], lengths: &[usize]) -> Vec<Vec<(f64, usize)>> {
        let mut all = Vec::new();
        // The same row twice.
        let rows = [x, x].concat();
        latest.nearest::<MOST>(&rows, lengths, &mut [Near::new(); 2], |row, window, near| {
            if row == 1 {
                assert_eq!(all.last(), Some(&near.iter().collect()));
                return;
            }
            assert_eq!((window, near.len()), (all.len(), near.iter().count()));
            all.push(near.iter().collect());
        });
        all
    }

    /// The result equals that of sorting, before the buffer is full and after rows were overwritten, also if
    /// blocks are skipped early.
    #[test]
    fn as_by_sorting() {
        for features in [1, 5, 16, 40] {
            let rows = rows(500, features);
            let mut latest = Latest::new(features, 5 * LANES);
            for (t, x) in rows.iter().enumerate() {
                if t % 37 == 0 || t < 3 {
                    let lengths = [1, 2, 5];
                    for (length, got) in lengths.iter().zip(found::<7>(&latest, x, &lengths)) {
                        let first = (t / LANES).saturating_sub(*length) * LANES;
                        let squared = |row: &[f64]| {
                            let gap =
                                |(a, b): (&f64, &f64)| (*a as f32 - *b as f32) * (*a as f32 - *b as f32);
                            f64::from(row.iter().zip(x).map(gap).fold(0.0, |sum: f32, gap| sum + gap))
                        };
                        let mut want: Vec<(f64, usize)> =
                            (first..t).map(|at| (squared(&rows[at]), at)).collect();
                        want.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
                        want.truncate(7);
                        let want: Vec<_> = want.iter().map(|(d, at)| (*d, at % (6 * LANES))).collect();
                        assert_eq!(got, want, "{features} features, row {t}, {length} blocks");
                    }
                }
                assert_eq!(latest.keep(x), t % (6 * LANES));
            }
            assert!(latest.values.len() <= Latest::numbers(features, 5 * LANES));
            let mut row = vec![0.0; features];
            for (place, number) in latest.in_order().zip(500 - 6 * LANES..) {
                latest.row(place, &mut row);
                assert_eq!(row, rows[number]);
            }
            let mut list = Vec::new();
            latest.list(&mut list);
            let mut loaded = Latest::new(features, 5 * LANES);
            assert!(loaded.set_list(&mut &list[..]).is_some());
            assert_eq!(found::<7>(&loaded, &rows[9], &[1, 5]), found::<7>(&latest, &rows[9], &[1, 5]));
            assert!(loaded.set_list(&mut &list[..list.len() - 1]).is_none());
        }
    }

    #[test]
    fn huge_rows_have_distances() {
        let mut latest = Latest::new(2, 100);
        let mut row = [3e100, -1e300];
        Latest::round(&mut row);
        latest.keep(&row);
        latest.keep(&[1.0, 0.5]);
        let got = found::<2>(&latest, &[0.0, 0.0], &[1]);
        assert_eq!((got[0][0], got[0][1].1), ((1.25, 1), 0));
        assert!(got[0][1].0.is_finite());
    }
}

//! Values far outside of what a column has had: they are clipped to it before anything learns them.
//!
//! What was seen of a column are its values and 0, from the least to the largest. A value that is further
//! outside than [`FAR`] times that range, after [`FIRST`] values other than 0, becomes the end of the range;
//! the values before and all others are as they are. Scaling and learner see clipped rows only, and
//! guarantees are about these. Of 636 columns of 30 public files (up to 60,000 rows each) three have such a
//! value, two of which are faults of a sensor; 19 have one further outside than ten ranges.
//!
//! Where such values go on coming, they are what the column is like now, as after a change of units: once
//! more than [`MOST`] of about the last [`WINDOW`] values are, the range takes them in.

use std::collections::BTreeMap;

use noregret::example::Features;

/// A value further outside than so many ranges is clipped.
const FAR: f64 = 100.0;
/// A column is guarded after so many values other than 0.
const FIRST: u64 = 20;
/// So many values far outside, in about the last [`WINDOW`] of a column, are no faults.
const MOST: f64 = 50.0;
/// The number of values after which one far outside weighs 1/e.
const WINDOW: f64 = 1000.0;

/// What was seen of a column: 0, and `count` other values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    low: f64,
    high: f64,
    count: u64,
}

impl Seen {
    /// Whether a value is far outside.
    #[inline(always)]
    fn is_far(&self, value: f64) -> bool {
        let outside = (self.low - value).max(value - self.high);
        self.count >= FIRST && outside > FAR * (self.high - self.low)
    }
}

/// Neighbouring columns that take memory together, once one of them has had a value.
const PAGE: usize = 32;

/// What was seen of every column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Guard {
    pages: Vec<Option<Box<[Seen; PAGE]>>>,
    /// The columns that have had values far outside: their weight, and the count of values at the last one.
    far: BTreeMap<u32, (f64, u64)>,
    /// Rows of which a value was clipped.
    rows: u64,
}

/// The lists of numbers that a guard is saved as.
pub(crate) struct GuardState {
    /// The least values of the columns that have had some, then the largest; then weights of [`Guard::far`].
    pub(crate) real: Vec<f64>,
    /// Clipped rows, the number of columns, these, their counts; then the columns of the weights, with their
    /// counts.
    pub(crate) counts: Vec<u64>,
}

impl Guard {
    /// Takes over what `other` has seen.
    pub(crate) fn follow(&mut self, other: &Self) {
        self.pages.clone_from(&other.pages);
        self.far.clone_from(&other.far);
        self.rows = other.rows;
    }

    /// Rows of which a value was clipped.
    pub(crate) fn clipped(&self) -> u64 {
        self.rows
    }

    /// Sees a row, whose column `i` has the statistics of column `i % block`; its values if one is clipped.
    pub(crate) fn admit(&mut self, x: Features<'_>, block: usize) -> Option<Vec<f64>> {
        let mut clipped: Option<Vec<f64>> = None;
        let mut note = |at: usize, column: usize, value: f64| {
            if value == 0.0 {
                return;
            }
            let seen = seen_of(&mut self.pages, column);
            if (value < seen.low || value > seen.high) && !seen.take(value, column, &mut self.far) {
                clipped.get_or_insert_with(|| x.values().to_vec())[at] = value.clamp(seen.low, seen.high);
            }
            seen.count += 1;
        };
        match x {
            Features::Dense(values) => {
                values.iter().enumerate().for_each(|(at, value)| note(at, at % block, *value));
            }
            Features::Sparse { indices, values } => {
                for (at, (index, value)) in indices.iter().zip(values).enumerate() {
                    note(at, *index as usize % block, *value);
                }
            }
        }
        self.rows += u64::from(clipped.is_some());
        clipped
    }

    /// The same for values in columns in any order, of which one may occur several times.
    pub(crate) fn admit_listed(&mut self, columns: &[u32], values: &[f64]) -> Option<Vec<f64>> {
        self.admit(Features::Sparse { indices: columns, values }, usize::MAX)
    }

    /// A value that is not learnt, clipped if it is far outside.
    pub(crate) fn clipped_to(&self, column: usize, value: f64) -> f64 {
        match self.pages.get(column / PAGE) {
            Some(Some(page)) if page[column % PAGE].is_far(value) => {
                value.clamp(page[column % PAGE].low, page[column % PAGE].high)
            }
            _ => value,
        }
    }

    /// The values of a row that is not learnt, if one is clipped.
    pub(crate) fn clip(&self, x: Features<'_>, block: usize) -> Option<Vec<f64>> {
        let mut clipped: Option<Vec<f64>> = None;
        let mut look = |at: usize, index: usize, value: f64| {
            if let Some(Some(page)) = self.pages.get(index % block / PAGE)
                && let seen = page[index % block % PAGE]
                && seen.is_far(value)
            {
                clipped.get_or_insert_with(|| x.values().to_vec())[at] = value.clamp(seen.low, seen.high);
            }
        };
        match x {
            Features::Dense(values) => values.iter().enumerate().for_each(|(at, value)| look(at, at, *value)),
            Features::Sparse { indices, values } => {
                let pairs = indices.iter().zip(values).enumerate();
                pairs.for_each(|(at, (index, value))| look(at, *index as usize, *value));
            }
        }
        clipped
    }

    /// Adds what `other` has seen.
    pub(crate) fn add(&mut self, other: &Self) {
        self.add_by(other, Some);
    }

    /// The same, where its columns are these of ours; none for one that is left out.
    pub(crate) fn add_by(&mut self, other: &Self, ours: impl Fn(usize) -> Option<usize>) {
        for (column, theirs) in other.columns() {
            let Some(column) = ours(column) else { continue };
            let mine = seen_of(&mut self.pages, column);
            *mine = Seen {
                low: mine.low.min(theirs.low),
                high: mine.high.max(theirs.high),
                count: mine.count.saturating_add(theirs.count),
            };
        }
        // What is far outside has to be so of the joint range.
        self.far.clear();
        self.rows = self.rows.saturating_add(other.rows);
    }

    /// The columns that have had values.
    fn columns(&self) -> impl Iterator<Item = (usize, &Seen)> {
        let pages = self.pages.iter().enumerate();
        let pages = pages.filter_map(|(at, page)| Some((at * PAGE, page.as_deref()?)));
        let all =
            pages.flat_map(|(first, page)| page.iter().enumerate().map(move |(at, one)| (first + at, one)));
        all.filter(|(_, seen)| seen.count > 0)
    }

    /// The state, for saving.
    pub(crate) fn state(&self) -> GuardState {
        let columns: Vec<(usize, &Seen)> = self.columns().collect();
        let lows = columns.iter().map(|(_, seen)| seen.low);
        let bounds = lows.chain(columns.iter().map(|(_, seen)| seen.high));
        let real = bounds.chain(self.far.values().map(|(weight, _)| *weight)).collect();
        let mut counts = vec![self.rows, columns.len() as u64];
        counts.extend(columns.iter().map(|(column, _)| *column as u64));
        counts.extend(columns.iter().map(|(_, seen)| seen.count));
        counts.extend(self.far.iter().flat_map(|(column, (_, at))| [u64::from(*column), *at]));
        GuardState { real, counts }
    }

    /// The guard that [`Guard::state`] was taken from; `None` if that is no state of one of at most `most`
    /// columns.
    pub(crate) fn from_state(state: &GuardState, most: usize) -> Option<Self> {
        let (&[rows, length], counts) = state.counts.split_first_chunk::<2>()?;
        let length = usize::try_from(length).ok().filter(|length| *length <= most)?;
        let (columns, counts) = counts.split_at_checked(length)?;
        let (counts, far) = counts.split_at_checked(length)?;
        let (lows, rest) = state.real.split_at_checked(length)?;
        let (highs, weights) = rest.split_at_checked(length)?;
        let increase = columns.is_sorted_by(|a, b| a < b);
        let inside = columns.last().is_none_or(|last| *last < most as u64);
        if !increase || !inside || far.len() != 2 * weights.len() {
            return None;
        }
        let mut guard = Self { rows, ..Self::default() };
        for (((&column, &low), &high), &count) in columns.iter().zip(lows).zip(highs).zip(counts) {
            if !(low.is_finite() && high.is_finite() && low <= 0.0 && high >= 0.0 && count > 0) {
                return None;
            }
            *seen_of(&mut guard.pages, column as usize) = Seen { low, high, count };
        }
        for (pair, &weight) in far.chunks_exact(2).zip(weights) {
            let column = columns.binary_search(&pair[0]).ok()?;
            if pair[1] > counts[column] || !(0.0..=MOST).contains(&weight) {
                return None;
            }
            guard.far.insert(u32::try_from(pair[0]).ok()?, (weight, pair[1]));
        }
        Some(guard)
    }
}

/// What was seen of a column.
#[inline(always)]
fn seen_of(pages: &mut Vec<Option<Box<[Seen; PAGE]>>>, column: usize) -> &mut Seen {
    let at = column / PAGE;
    if pages.len() <= at {
        pages.resize_with(at + 1, || None);
    }
    &mut pages[at].get_or_insert_with(|| Box::new([Seen::default(); PAGE]))[column % PAGE]
}

impl Seen {
    /// Takes a value outside of the range into it, unless it is far outside; says which.
    #[cold]
    fn take(&mut self, value: f64, column: usize, far: &mut BTreeMap<u32, (f64, u64)>) -> bool {
        if self.is_far(value) {
            let (weight, at) = far.entry(column as u32).or_insert((0.0, self.count));
            *weight = *weight * ((*at as f64 - self.count as f64) / WINDOW).exp() + 1.0;
            *at = self.count;
            if *weight <= MOST {
                return false;
            }
            far.remove(&(column as u32));
        }
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(guard: &mut Guard, value: f64) -> f64 {
        guard.admit(Features::Dense(&[value]), usize::MAX).map_or(value, |values| values[0])
    }

    /// A column of values up to 2 with both signs: within 100 ranges of 3, all values stay as they are.
    #[test]
    fn values_far_outside_become_the_end_of_the_range() {
        let mut guard = Guard::default();
        for t in 0..30 {
            let value = if t % 2 == 0 { 2.0 } else { -1.0 };
            assert_eq!(admitted(&mut guard, value), value);
        }
        for (value, want) in
            [(1e6, 2.0), (-1e100, -1.0), (1e18, 2.0), (0.0, 0.0), (-302.0, -1.0), (302.0, 302.0)]
        {
            let sparse = Features::Sparse { indices: &[0], values: &[value] };
            assert_eq!(guard.clip(sparse, usize::MAX).map_or(value, |values| values[0]), want);
            assert_eq!(admitted(&mut guard, value), want, "{value}");
        }
        assert_eq!(guard.clipped(), 4);
        let again = Guard::from_state(&guard.state(), 1).expect("just taken");
        assert_eq!(again, guard);
        assert_eq!(admitted(&mut guard, 1e5), 302.0, "the range has grown with an ordinary value");
    }

    /// The first values of a column, whatever they are, are what was seen.
    #[test]
    fn a_column_is_guarded_after_its_first_values() {
        let mut guard = Guard::default();
        for _ in 0..FIRST - 1 {
            assert_eq!(admitted(&mut guard, 1.0), 1.0);
            assert_eq!(admitted(&mut guard, 0.0), 0.0, "zeros do not count");
        }
        assert_eq!(guard.clone().admit(Features::Dense(&[1e9]), usize::MAX), None);
        assert_eq!(admitted(&mut guard, 1.0), 1.0);
        assert_eq!(admitted(&mut guard, 1e9), 1.0);
    }

    /// After a change of units the column is as before once 50 values have come; one in a hundred never is.
    #[test]
    fn what_goes_on_is_taken_in() {
        let usual = || {
            let mut guard = Guard::default();
            (0..100).for_each(|_| drop(guard.admit(Features::Dense(&[1.0]), usize::MAX)));
            guard
        };
        let mut guard = usual();
        let clipped = (0..200).filter(|_| admitted(&mut guard, 1000.0) != 1000.0).count();
        assert!((50..=52).contains(&clipped), "{clipped}");
        let mut guard = usual();
        for _ in 0..300 {
            assert_eq!(admitted(&mut guard, 1e6), 1.0);
            (0..99).for_each(|_| assert_eq!(admitted(&mut guard, 1.0), 1.0));
        }
    }

    #[test]
    fn blocks_share_what_was_seen() {
        let mut guard = Guard::default();
        for _ in 0..FIRST {
            assert_eq!(guard.admit(Features::Sparse { indices: &[1, 5], values: &[3.0, 4.0] }, 4), None);
        }
        let far = Features::Sparse { indices: &[0, 9], values: &[7.0, 1e9] };
        assert_eq!(guard.admit(far, 4), Some(vec![7.0, 4.0]));
        let mut joint = Guard::default();
        joint.add(&guard);
        assert_eq!(joint.clip(far, 4), Some(vec![7.0, 4.0]));
        assert!(Guard::from_state(&GuardState { real: vec![], counts: vec![0, 1] }, 1).is_none(), "cut off");
    }
}

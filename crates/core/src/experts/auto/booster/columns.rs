//! Columns of bins: what the trees of a fit see of a row.
//!
//! A *number* is a feature with several values; its values fall into bins of about equally many rows. A
//! *flag* is a feature that is only 0 or one other value, as each value of a category is. Flags that are
//! never set together are one column, with a bin for each of them (exclusive feature bundling), so that a
//! column of categories is one column again, however many values it has. A flag that is set in exactly the
//! rows in which a number is 0 says that the number is missing: it is the number's bin 0.

use crate::example::Batch;
use crate::state::whole;

use super::store::{Store, StoredRow};

/// Limit on the number of bins, counted from 0.
pub(super) const BINS: usize = 256;

/// Limit on the features in columns: those that are most often not 0.
const MOST_FEATURES: usize = 2048;

/// Limit on the number of columns of flags.
const MOST_OF_FLAGS: usize = 64;

/// Limits on the number of rows, and of their words, that decide about columns and bins.
const SAMPLE: usize = 4096;
const SAMPLE_WORDS: usize = 1 << 18;

/// Rows for each bin of a number, at least.
const ROWS_OF_BIN: usize = 8;

/// A feature's place: its bin in a column, or 0 for a number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    feature: u32,
    column: u16,
    /// For a flag: its bin, and 1; 0 for a number.
    flag: u16,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Column {
    /// Numbers: the largest value of each bin but the last, increasing; bin 0 is for missing values, so that
    /// the first entry is that of bin 1. Empty for flags.
    bounds: Vec<f32>,
    /// Whether the bins are flags, in no order.
    pub(super) is_category: bool,
    /// Number of bins, 0 included.
    pub(super) bins: usize,
    /// The bin of a row in which all features of the column are 0.
    of_zero: u8,
}

impl Column {
    fn bin(&self, value: f32) -> u8 {
        1 + self.bounds.partition_point(|bound| *bound < value) as u8
    }
}

/// See the [module](self).
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Columns {
    pub(super) all: Vec<Column>,
    /// By feature, increasing.
    places: Vec<Place>,
}

impl Columns {
    /// Writes the bins of the entries `x`, which increase by feature.
    fn write<B: From<u8>>(&self, x: impl Iterator<Item = (usize, f32)>, out: &mut [B]) {
        for (out, column) in out.iter_mut().zip(&self.all) {
            *out = column.of_zero.into();
        }
        let mut next = 0;
        for (feature, value) in x {
            match self.places.get(next).map(|place| place.feature as usize) {
                // Those before it are of earlier entries.
                Some(expected) if expected > feature => continue,
                Some(expected) if expected == feature => {}
                _ => match self.places.binary_search_by_key(&(feature as u32), |place| place.feature) {
                    Ok(at) => next = at,
                    Err(_) => continue,
                },
            }
            let Place { column, flag, .. } = self.places[next];
            next += 1;
            let bin = match flag {
                0 => self.all[column as usize].bin(value),
                flag => (flag - 1) as u8,
            };
            if value != 0.0 {
                out[column as usize] = bin.into();
            }
        }
    }

    /// Writes the bins of `rows`, one after another.
    pub(super) fn of(&self, rows: &dyn Batch, out: &mut Vec<u32>) {
        out.resize(rows.len() * self.all.len(), 0);
        for at in 0..rows.len() {
            let x = rows.features(at).iter().map(|(feature, value)| (feature, value as f32));
            self.write(x, &mut out[at * self.all.len()..][..self.all.len()]);
        }
    }

    /// Writes the bins of a stored row.
    pub(super) fn of_kept(&self, row: StoredRow<'_>, out: &mut [u8]) {
        self.write(row.entries(), out);
    }

    /// Appends the state to `out`.
    pub(super) fn list(&self, out: &mut Vec<f64>) {
        out.extend([self.all.len() as f64, self.places.len() as f64]);
        for column in &self.all {
            out.extend([f64::from(u8::from(column.is_category)), column.bins as f64]);
            out.extend([f64::from(column.of_zero), column.bounds.len() as f64]);
            out.extend(column.bounds.iter().map(|bound| f64::from(*bound)));
        }
        for place in &self.places {
            out.extend([place.feature, place.column.into(), place.flag.into()].map(f64::from));
        }
    }

    /// Takes the state from the front of `list`; `None` if it is not valid for rows of `features` features.
    pub(super) fn from_list(list: &mut &[f64], features: usize) -> Option<Self> {
        fn word(list: &mut &[f64], limit: usize) -> Option<usize> {
            whole(*list.split_off_first()?, limit)
        }
        let (count, places) = (word(list, 1 << 16)?, word(list, MOST_FEATURES + 1)?);
        let mut all = Vec::new();
        for _ in 0..count {
            let is_category = word(list, 2)? == 1;
            let (bins, of_zero) = (word(list, BINS + 1)?, word(list, BINS)? as u8);
            let bounds = word(list, BINS - 1)?;
            let bounds: Vec<f32> = list.split_off(..bounds)?.iter().map(|bound| *bound as f32).collect();
            let valid = bounds.is_sorted()
                && bounds.iter().all(|bound| bound.is_finite())
                && (of_zero as usize) < bins
                && (is_category || bins == bounds.len() + 2);
            all.push(Some(Column { bounds, is_category, bins, of_zero }).filter(|_| valid)?);
        }
        let mut found: Vec<Place> = Vec::new();
        for _ in 0..places {
            let (feature, column) = (word(list, features)? as u32, word(list, count)? as u16);
            let flag = word(list, BINS + 1)? as u16;
            let fits = (flag as usize) <= all[column as usize].bins
                && found.last().is_none_or(|last| last.feature < feature);
            found.push(Some(Place { feature, column, flag }).filter(|_| fits)?);
        }
        Some(Self { all, places: found })
    }
}

/// Numbers of bits, one for each sampled row.
type Bits = Vec<u64>;

/// Chooses the columns, one feature after another.
#[derive(Clone)]
pub(super) struct Choice {
    /// Number of sampled rows.
    rows: usize,
    most_bins: usize,
    /// The features to choose, those that are most often not 0 first: numbers, then flags. With the range of
    /// their entries.
    features: Vec<Candidate>,
    /// Number of chosen features.
    next: usize,
    /// The sampled entries by feature.
    entries: Vec<(u16, f32)>,
    columns: Columns,
    /// For each number, the rows in which it is 0; for each column of flags, those with a flag.
    sets: Vec<Bits>,
    /// Buffer for the values of a number.
    values: Vec<f32>,
}

/// A feature with its sampled entries.
#[derive(Clone, Copy)]
struct Candidate {
    feature: u32,
    start: u32,
    end: u32,
    is_flag: bool,
}

impl Choice {
    /// Samples at equal distances from the first `rows` rows of the store.
    pub(super) fn new(store: &Store, rows: usize, features: usize) -> Self {
        let most = (SAMPLE_WORDS / store.words_per_row().max(1)).clamp(64, SAMPLE);
        let sampled = rows.min(most);
        let at = |sample: usize| sample * rows / sampled;
        let mut ends = vec![0u32; features + 1];
        for sample in 0..sampled {
            store.row(at(sample)).entries().for_each(|(feature, _)| ends[feature + 1] += 1);
        }
        for feature in 0..features {
            ends[feature + 1] += ends[feature];
        }
        let mut cursors = ends.clone();
        let mut entries = vec![(0, 0.0); ends[features] as usize];
        for sample in 0..sampled {
            for (feature, value) in store.row(at(sample)).entries() {
                entries[cursors[feature] as usize] = (sample as u16, value);
                cursors[feature] += 1;
            }
        }
        let mut candidates = Vec::new();
        for feature in 0..features {
            let (start, end) = (ends[feature], ends[feature + 1]);
            let own = &entries[start as usize..end as usize];
            let Some((_, first)) = own.first() else { continue };
            let is_flag = own.iter().all(|(_, value)| value == first);
            let is_constant = is_flag && own.len() == sampled;
            if !is_constant {
                candidates.push(Candidate { feature: feature as u32, start, end, is_flag });
            }
        }
        candidates.sort_by_key(|one| (std::cmp::Reverse(one.end - one.start), one.feature));
        candidates.truncate(MOST_FEATURES);
        candidates.sort_by_key(|one| one.is_flag);
        Self {
            rows: sampled,
            most_bins: (rows / ROWS_OF_BIN).clamp(16, BINS),
            features: candidates,
            next: 0,
            entries,
            columns: Columns::default(),
            sets: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Chooses the next feature. False if there was none.
    pub(super) fn step(&mut self) -> bool {
        let Some(candidate) = self.features.get(self.next).copied() else { return false };
        self.next += 1;
        if candidate.is_flag {
            self.add_flag(candidate)
        } else {
            self.add_number(candidate)
        }
        true
    }

    /// Time of a step in nanoseconds, about.
    pub(super) fn work(&self) -> u64 {
        30 * self.rows as u64
    }

    /// The chosen columns.
    pub(super) fn columns(&mut self) -> Columns {
        let mut columns = std::mem::take(&mut self.columns);
        columns.places.sort_by_key(|place| place.feature);
        columns
    }

    fn bits(&self, candidate: Candidate) -> Bits {
        let mut bits = vec![0; self.rows.div_ceil(64)];
        for (row, _) in &self.entries[candidate.start as usize..candidate.end as usize] {
            bits[*row as usize / 64] |= 1 << (row % 64);
        }
        bits
    }

    fn add_number(&mut self, candidate: Candidate) {
        let own = &self.entries[candidate.start as usize..candidate.end as usize];
        self.values.clear();
        self.values.extend(own.iter().map(|(_, value)| *value));
        self.values.resize(self.rows, 0.0);
        self.values.sort_unstable_by(f32::total_cmp);
        let bounds = bounds(&self.values, self.most_bins - 1);
        let mut zeros = self.bits(candidate);
        zeros.iter_mut().for_each(|word| *word = !*word);
        if let Some(last) = zeros.last_mut() {
            *last &= u64::MAX >> ((64 - self.rows % 64) % 64);
        }
        let mut column = Column { bins: bounds.len() + 2, bounds, is_category: false, of_zero: 0 };
        column.of_zero = column.bin(0.0);
        self.add_place(candidate.feature, self.columns.all.len(), 0);
        self.columns.all.push(column);
        self.sets.push(zeros);
    }

    fn add_place(&mut self, feature: u32, column: usize, flag: u16) {
        self.columns.places.push(Place { feature, column: column as u16, flag });
    }

    /// Adds a flag to the number whose absence it shows, to the fullest column of flags in which it is alone,
    /// or as a new column.
    fn add_flag(&mut self, candidate: Candidate) {
        let bits = self.bits(candidate);
        let pairs = || self.columns.all.iter().zip(&self.sets).enumerate();
        let number = pairs().find(|(_, (column, zeros))| !column.is_category && **zeros == bits);
        if let Some((at, _)) = number {
            return self.add_place(candidate.feature, at, 1);
        }
        let is_free = |set: &Bits| set.iter().zip(&bits).all(|(set, own)| set & own == 0);
        let count = |set: &Bits| set.iter().map(|word| word.count_ones()).sum::<u32>();
        let flags = pairs().filter(|(_, (column, _))| column.is_category);
        let free = flags.clone().filter(|(_, (column, set))| column.bins < BINS && is_free(set));
        let best = free.max_by_key(|(at, (_, set))| (count(set), std::cmp::Reverse(*at)));
        let (at, bin) = match best {
            Some((at, (column, _))) => (at, column.bins),
            None if flags.count() < MOST_OF_FLAGS => {
                self.columns.all.push(Column { bins: 1, is_category: true, ..Column::default() });
                self.sets.push(vec![0; bits.len()]);
                (self.columns.all.len() - 1, 1)
            }
            None => return,
        };
        self.columns.all[at].bins = bin + 1;
        self.add_place(candidate.feature, at, bin as u16 + 1);
        self.sets[at].iter_mut().zip(&bits).for_each(|(set, own)| *set |= own);
    }
}

/// At most `most - 1` bounds between bins of the sorted `values`, of about equally many values each; a bound
/// between each two neighbours, if there are few.
fn bounds(values: &[f32], most: usize) -> Vec<f32> {
    let groups = || values.chunk_by(|a, b| a == b);
    let distinct = groups().count();
    let mut bounds = Vec::new();
    let (mut left, mut bins, mut own) = (values.len(), most, 0);
    for (group, next) in groups().zip(groups().skip(1)) {
        own += group.len();
        if distinct <= most || own * bins >= left {
            let (low, high) = (group[0], next[0]);
            let middle = 0.5 * low + 0.5 * high;
            bounds.push(if middle < high { middle.max(low) } else { low });
            (left, bins, own) = (left - own, bins - 1, 0);
            if bins == 1 {
                break;
            }
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Features;

    fn chosen(rows: &[&[f64]]) -> Columns {
        let mut store = Store::default();
        rows.iter().for_each(|x| store.push(Features::Dense(x), 0, 1.0));
        let mut choice = Choice::new(&store, rows.len(), rows[0].len());
        while choice.step() {}
        choice.columns()
    }

    fn bins(columns: &Columns, x: &[f64]) -> Vec<u32> {
        let mut bins = Vec::new();
        columns.of(&&[Features::Dense(x)][..], &mut bins);
        bins
    }

    /// A constant, a number that is missing where the next feature is 1, and three values of a category.
    #[test]
    fn flags_find_their_columns() {
        let rows: [&[f64]; 6] = [
            &[1.0, 2.0, 0.0, 1.0, 0.0, 0.0],
            &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
            &[1.0, 4.0, 0.0, 0.0, 0.0, 1.0],
            &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
            &[1.0, 8.0, 0.0, 1.0, 0.0, 0.0],
            &[1.0, 8.0, 0.0, 0.0, 1.0, 0.0],
        ];
        let columns = chosen(&rows);
        assert_eq!(columns.all.iter().map(|column| column.is_category).collect::<Vec<_>>(), [false, true]);
        assert_eq!(columns.all[0].bounds, [1.0, 3.0, 6.0]);
        assert_eq!(bins(&columns, rows[1])[0], 0, "missing");
        assert_eq!(
            [1.0, 3.0, 3.1, 9.0].map(|x| bins(&columns, &[1.0, x, 0.0, 0.0, 0.0, 0.0])[0]),
            [1, 2, 3, 4]
        );
        let of_flags = [2, 1, 5].map(|row: usize| bins(&columns, rows[row])[1]);
        assert!(
            of_flags.iter().all(|bin| (1..=3).contains(bin)) && of_flags[1] == of_flags[2],
            "{of_flags:?}"
        );
        assert_ne!(of_flags[0], of_flags[1]);
        let mut list = Vec::new();
        columns.list(&mut list);
        assert_eq!(Columns::from_list(&mut &list[..], 6), Some(columns.clone()));
        assert_eq!(Columns::from_list(&mut &list[..], 5), None);
        // Sparse rows, and features that were not seen.
        let x = Features::Sparse { indices: &[1, 9], values: &[2.0, 1.0] };
        let mut of_sparse = Vec::new();
        columns.of(&&[x][..], &mut of_sparse);
        assert_eq!(of_sparse, [2, 0]);
    }

    #[test]
    fn bins_have_equally_many_rows() {
        assert_eq!(bounds(&[0.0, 0.0, 1.0, 5.0], 3), [0.5, 3.0]);
        let values: Vec<f32> = (0..1000u16).map(f32::from).collect();
        let of = bounds(&values, 10);
        assert_eq!(of.len(), 9);
        assert!((0..9).all(|at| (of[at] - 100.0 * (at + 1) as f32).abs() <= 1.0), "{of:?}");
        let next = f32::from_bits(1.0f32.to_bits() + 1);
        assert_eq!(bounds(&[1.0, next], 5), [1.0]);
    }
}

//! The rows that are kept for the next fits, by their non-zero entries.

use std::ops::Range;

use crate::example::Features;
use crate::state::Tensor;

/// Marks the index of an entry whose value is 1, which is not stored: categories take one word.
const ONE: u32 = 1 << 31;

/// Words of a row before its entries: class and weight.
const HEAD: usize = 2;

/// A stored row.
#[derive(Clone, Copy)]
pub(super) struct StoredRow<'a> {
    pub(super) class: usize,
    /// The importance weight.
    pub(super) weight: f32,
    entries: &'a [u32],
}

impl<'a> StoredRow<'a> {
    /// The non-zero entries, as (feature, value).
    pub(super) fn entries(self) -> impl Iterator<Item = (usize, f32)> + 'a {
        let mut words = self.entries.iter();
        std::iter::from_fn(move || {
            let word = *words.next()?;
            let value = if word & ONE == 0 { f32::from_bits(*words.next()?) } else { 1.0 };
            Some(((word & !ONE) as usize, value))
        })
    }
}

/// See the [module](self). All rows in one list: class, bits of the weight, and for every entry its feature
/// and the bits of its value.
#[derive(Clone, Default)]
pub(super) struct Store {
    words: Vec<u32>,
    /// Where each row ends.
    ends: Vec<u32>,
}

impl Store {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a row. Numbers beyond single precision are stored as its largest ones.
    pub(super) fn push(&mut self, x: Features<'_>, class: usize, weight: f64) {
        let narrow = |value: f64| (value as f32).clamp(f32::MIN, f32::MAX);
        self.words.extend([class as u32, narrow(weight).to_bits()]);
        for (feature, value) in x.iter() {
            let value = narrow(value);
            if value == 1.0 {
                self.words.push(feature as u32 | ONE);
            } else if value != 0.0 {
                self.words.extend([feature as u32, value.to_bits()]);
            }
        }
        self.ends.push(self.words.len() as u32);
    }

    /// Removes the oldest rows until at most `words` words and `rows` rows are left.
    pub(super) fn shorten(&mut self, words: usize, rows: usize) {
        let most = (self.words.len() as u32).saturating_sub(words as u32);
        let excess = self.len().saturating_sub(rows);
        let count = excess.max(match most {
            0 => 0,
            _ => self.ends.partition_point(|end| *end < most) + 1,
        });
        if count == 0 {
            return;
        }
        let start = self.ends[count - 1];
        self.words.drain(..start as usize);
        self.ends.drain(..count);
        self.ends.iter_mut().for_each(|end| *end -= start);
    }

    fn range(&self, at: usize) -> Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        start..self.ends[at] as usize
    }

    /// The row `at`, in order of arrival.
    pub(super) fn row(&self, at: usize) -> StoredRow<'_> {
        let words = &self.words[self.range(at)];
        StoredRow { class: words[0] as usize, weight: f32::from_bits(words[1]), entries: &words[HEAD..] }
    }

    /// Average number of words of a row's entries.
    pub(super) fn words_per_row(&self) -> usize {
        self.words.len() / self.len().max(1)
    }

    pub(super) fn tensors(&mut self) -> [Tensor<'_>; 2] {
        [Tensor::words("words", &mut self.words), Tensor::words("ends", &mut self.ends)]
    }

    /// Whether a restored state is possible.
    pub(super) fn is_consistent(&self, classes: usize, features: usize) -> bool {
        let starts = std::iter::once(&0).chain(&self.ends);
        let in_order = starts.zip(&self.ends).all(|(start, end)| start.saturating_add(HEAD as u32) <= *end);
        let whole = self.ends.last().copied().unwrap_or(0) as usize == self.words.len();
        in_order && whole && (0..self.len()).all(|at| self.is_valid(at, classes, features))
    }

    fn is_valid(&self, at: usize, classes: usize, features: usize) -> bool {
        let row = self.row(at);
        let (mut next, mut stored) = (0, 0);
        for (feature, value) in row.entries() {
            if feature < next || feature >= features || !value.is_finite() || value == 0.0 {
                return false;
            }
            next = feature + 1;
            stored += if value == 1.0 { 1 } else { 2 };
        }
        stored == row.entries.len() && row.class < classes && row.weight.is_finite() && row.weight > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_the_oldest_leave() {
        let mut store = Store::default();
        store.push(Features::Dense(&[0.0, 1.0, -2.5]), 1, 1.0);
        store.push(Features::Sparse { indices: &[7], values: &[1e300] }, 0, 0.5);
        store.push(Features::Dense(&[0.0; 3]), 2, 1.0);
        let entries = |store: &Store, at: usize| store.row(at).entries().collect::<Vec<_>>();
        assert_eq!(entries(&store, 0), [(1, 1.0), (2, -2.5)]);
        assert_eq!(entries(&store, 1), [(7, f32::MAX)]);
        assert_eq!((store.row(1).class, store.row(1).weight), (0, 0.5));
        assert!(store.is_consistent(3, 8) && !store.is_consistent(2, 8) && !store.is_consistent(3, 7));
        // 5, 4 and 2 words.
        store.shorten(6, 10);
        assert_eq!((store.len(), entries(&store, 0)), (2, vec![(7, f32::MAX)]));
        store.shorten(6, 1);
        assert_eq!((store.len(), store.row(0).class, entries(&store, 0)), (1, 2, vec![]));
        store.shorten(0, 1);
        assert_eq!(store.len(), 0);
        assert!(store.is_consistent(1, 1));
    }
}

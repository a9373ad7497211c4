//! Numbers stored by feature: allocated when a feature first occurs, and optionally bounded by hashing.

use crate::state::Listed;

/// Limit on the numbers of the first page. Every page has twice as many cells as the previous one and is
/// never moved, so that growing copies nothing.
const FIRST: usize = 64;

/// Up to this number of slots, a list of all slots is used from the start.
const MOST_LISTED: usize = 1024;

/// The index of a slot without a cell.
const NONE: u32 = u32::MAX;

/// Numbers of single or double precision.
pub trait Number: Copy + Default + Into<f64> {
    /// The number nearest to `x`.
    fn nearest(x: f64) -> Self;
}

impl Number for f32 {
    fn nearest(x: f64) -> Self {
        x as f32
    }
}

impl Number for f64 {
    fn nearest(x: f64) -> Self {
        x
    }
}

/// Maps slots to the indices of their cells. The form depends on the number of cells, and affects only speed.
#[derive(Clone, Debug)]
enum Index {
    /// The index for every slot.
    Listed(Vec<u32>),
    /// Slots with their indices: a hash table with linear probing; the length is a power of two, at least
    /// twice the number of entries.
    Hashed(Vec<(u32, u32)>),
}

/// A cell of `width` numbers for every feature, all 0 until it is first written to. If there are more
/// features than `most`, they share cells by hashing. Memory is proportional to the number of cells that were
/// written to.
#[derive(Clone, Debug)]
pub struct Cells<T = f32> {
    width: usize,
    features: usize,
    most: usize,
    /// Number of cells of the first page, a power of two: enough for all features if these are few, otherwise
    /// for at least [`FIRST`] numbers.
    first: usize,
    index: Index,
    pages: Vec<Vec<T>>,
    used: usize,
}

/// Fibonacci hashing: the high bits of a product with 2^64 over the golden ratio.
#[inline]
fn hash(slot: usize) -> u64 {
    (slot as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The first slot to probe in a table of `len` slots, a power of two.
#[inline]
fn first_probe(slot: u32, len: usize) -> usize {
    (hash(slot as usize) >> (64 - len.trailing_zeros())) as usize
}

/// The page of a cell and its position there, if the first page has `first` cells.
#[inline]
fn page_of(place: u32, first: usize) -> (usize, usize) {
    let at = place as usize + first;
    let log = at.ilog2();
    ((log - first.ilog2()) as usize, at - (1 << log))
}

impl<T: Number> Cells<T> {
    /// Cells of `width` numbers for `features` features, at most `most` of them.
    pub fn new(width: usize, features: usize, most: usize) -> Self {
        let most = most.clamp(1, NONE as usize);
        let slots = features.min(most);
        let index =
            if slots <= MOST_LISTED { Index::Listed(vec![NONE; slots]) } else { Index::Hashed(Vec::new()) };
        let first = if slots <= FIRST { slots.max(1) } else { FIRST.div_ceil(width.max(1)) };
        Self { width, features, most, first: first.next_power_of_two(), index, pages: Vec::new(), used: 0 }
    }

    /// The length of a cell.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The number of cells that were written to.
    pub fn used(&self) -> usize {
        self.used
    }

    /// 8-byte numbers of `features` features at most.
    pub fn numbers(width: usize, features: usize, most: usize) -> usize {
        features.min(most).saturating_mul(width * size_of::<T>() / 4 + 1).div_ceil(2)
    }

    #[inline]
    fn slot(&self, feature: usize) -> usize {
        if self.features <= self.most {
            return feature;
        }
        ((u128::from(hash(feature)) * self.most as u128) >> 64) as usize
    }

    #[inline]
    fn place(&self, slot: usize) -> u32 {
        match &self.index {
            Index::Listed(places) => places[slot],
            Index::Hashed(entries) => {
                if entries.is_empty() {
                    return NONE;
                }
                let mut at = first_probe(slot as u32, entries.len());
                loop {
                    let (known, place) = entries[at];
                    if place == NONE || known == slot as u32 {
                        return place;
                    }
                    at = (at + 1) & (entries.len() - 1);
                }
            }
        }
    }

    /// The page of a cell and its position there.
    #[inline]
    fn page_of(&self, place: u32) -> (usize, usize) {
        page_of(place, self.first)
    }

    /// The cell of `feature`, or `None` if it was never written to and is therefore 0.
    #[inline]
    pub fn get(&self, feature: usize) -> Option<&[T]> {
        let place = self.place(self.slot(feature));
        (place != NONE).then(|| self.at(place))
    }

    /// The cell of `feature`, allocated if necessary.
    #[inline]
    pub fn get_mut(&mut self, feature: usize) -> &mut [T] {
        self.of_slot(self.slot(feature))
    }

    #[inline]
    fn at(&self, place: u32) -> &[T] {
        let (page, at) = self.page_of(place);
        &self.pages[page][at * self.width..][..self.width]
    }

    /// Changes the length of cells to `width` and the number of features to `features`; `copy` fills each new
    /// cell from the old one.
    pub fn grow(&mut self, width: usize, features: usize, mut copy: impl FnMut(&[T], &mut [T])) {
        let hashed = self.features > self.most;
        let mut grown = Self::new(width, features, self.most);
        // When hashing starts, a feature's cell moves to the slot of its hash; if several have the same slot,
        // the first one is kept.
        for (slot, place) in self.places() {
            let slot = if hashed { slot } else { grown.slot(slot) };
            if grown.place(slot) == NONE {
                copy(self.at(place), grown.of_slot(slot));
            }
        }
        *self = grown;
    }

    fn of_slot(&mut self, slot: usize) -> &mut [T] {
        let mut place = self.place(slot);
        if place == NONE {
            place = self.used as u32;
            self.used += 1;
            let (page, _) = self.page_of(place);
            if page == self.pages.len() {
                self.pages.push(vec![T::default(); (self.first << page) * self.width]);
            }
            self.enter(slot, place);
        }
        let (page, at) = self.page_of(place);
        &mut self.pages[page][at * self.width..][..self.width]
    }

    /// Records the cell of a slot that had none.
    fn enter(&mut self, slot: usize, place: u32) {
        let slots = self.features.min(self.most);
        if let Index::Hashed(entries) = &mut self.index
            && 2 * self.used > entries.len()
        {
            let len = (2 * entries.len()).max(16);
            let known = std::mem::take(entries);
            let known = known.into_iter().filter(|(_, place)| *place != NONE);
            if 2 * len >= slots {
                // A list is then not longer, and faster.
                let mut places = vec![NONE; slots];
                known.for_each(|(slot, place)| places[slot as usize] = place);
                self.index = Index::Listed(places);
            } else {
                *entries = vec![(0, NONE); len];
                known.for_each(|entry| insert(entries, entry));
            }
        }
        match &mut self.index {
            Index::Listed(places) => places[slot] = place,
            Index::Hashed(entries) => insert(entries, (slot as u32, place)),
        }
    }

    /// The slots that were written to, in order, with the indices of their cells.
    fn places(&self) -> Vec<(usize, u32)> {
        match &self.index {
            Index::Listed(places) => {
                places.iter().copied().enumerate().filter(|(_, place)| *place != NONE).collect()
            }
            Index::Hashed(entries) => {
                let entries = entries.iter().filter(|(_, place)| *place != NONE);
                let mut places: Vec<(usize, u32)> =
                    entries.map(|(slot, place)| (*slot as usize, *place)).collect();
                places.sort_unstable();
                places
            }
        }
    }

    /// Calls `see` with all cells that were written to, in the order of their slots.
    pub fn each(&self, mut see: impl FnMut(&[T])) {
        match &self.index {
            Index::Listed(places) => {
                places.iter().filter(|place| **place != NONE).for_each(|place| see(self.at(*place)));
            }
            Index::Hashed(_) => self.places().iter().for_each(|(_, place)| see(self.at(*place))),
        }
    }

    /// As [`Cells::each`], with cells that may be changed.
    pub fn each_mut(&mut self, mut change: impl FnMut(&mut [T])) {
        let (width, first, pages) = (self.width, self.first, &mut self.pages);
        let mut show = |place: u32| {
            let (page, at) = page_of(place, first);
            change(&mut pages[page][at * width..][..width]);
        };
        match &self.index {
            Index::Listed(places) => {
                places.iter().filter(|place| **place != NONE).for_each(|place| show(*place))
            }
            Index::Hashed(entries) => {
                let mut places: Vec<_> = entries.iter().filter(|(_, place)| *place != NONE).collect();
                places.sort_unstable();
                places.iter().for_each(|(_, place)| show(*place));
            }
        }
    }

    /// Calls `add` with each cell of `other` that was written to, and the cell of the same feature here. Both
    /// have equal features and limits; the lengths of their cells may differ.
    pub fn take_in(&mut self, other: &Self, mut add: impl FnMut(&[T], &mut [T])) {
        other.places().into_iter().for_each(|(slot, place)| add(other.at(place), self.of_slot(slot)));
    }
}

/// All cells that were written to: for each, its slot and its numbers.
impl<T: Number> Listed for Cells<T> {
    fn list(&self) -> Vec<f64> {
        let mut list = Vec::with_capacity(self.used * (1 + self.width));
        for (slot, place) in self.places() {
            list.push(slot as f64);
            list.extend(self.at(place).iter().map(|x| (*x).into()));
        }
        list
    }

    fn set_list(&mut self, list: &[f64]) -> bool {
        *self = Self::new(self.width, self.features, self.most);
        let slots = self.features.min(self.most) as f64;
        let chunks = list.chunks_exact(1 + self.width);
        if !chunks.remainder().is_empty() {
            return false;
        }
        for cell in chunks {
            let (slot, numbers) = (cell[0], &cell[1..]);
            if !(slot >= 0.0 && slot < slots && slot.fract() == 0.0) {
                return false;
            }
            let mine = self.of_slot(slot as usize);
            mine.iter_mut().zip(numbers).for_each(|(mine, x)| *mine = T::nearest(*x));
        }
        true
    }
}

/// Inserts an entry in the hash table.
fn insert(entries: &mut [(u32, u32)], entry: (u32, u32)) {
    let mut at = first_probe(entry.0, entries.len());
    while entries[at].1 != NONE {
        at = (at + 1) & (entries.len() - 1);
    }
    entries[at] = entry;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_when_they_are_written_to() {
        let mut cells = Cells::<f32>::new(3, 10, 10);
        assert!(cells.get(7).is_none());
        cells.get_mut(7).copy_from_slice(&[1.0, 2.0, 3.0]);
        cells.get_mut(2)[1] = 5.0;
        assert_eq!(cells.get(7), Some(&[1.0, 2.0, 3.0][..]));
        assert!(cells.get(0).is_none() && cells.used == 2);
        let list = cells.list();
        assert_eq!(list, [2.0, 0.0, 5.0, 0.0, 7.0, 1.0, 2.0, 3.0]);
        let mut loaded = Cells::new(3, 10, 10);
        assert!(loaded.set_list(&list));
        assert_eq!((loaded.get(7), loaded.get(2)), (cells.get(7), cells.get(2)));
        for wrong in [&[1.0, 2.0][..], &[10.0, 1.0, 1.0, 1.0], &[0.5, 1.0, 1.0, 1.0]] {
            assert!(!loaded.set_list(wrong), "{wrong:?}");
        }
        cells.grow(4, 12, |old, new| new[..3].copy_from_slice(old));
        assert_eq!(cells.get(7), Some(&[1.0, 2.0, 3.0, 0.0][..]));
        assert!(cells.get(11).is_none());
    }

    /// Two hundred features in at most sixteen cells: the memory is bounded, and a feature always has the
    /// same cell.
    #[test]
    fn hashing_bounds_memory() {
        let mut cells = Cells::<f64>::new(2, 200, 16);
        for feature in 0..200 {
            cells.get_mut(feature)[0] += 1.0;
        }
        assert_eq!(cells.used, 16);
        assert_eq!(cells.list().chunks(3).map(|cell| cell[1]).sum::<f64>(), 200.0);
        let before = cells.get(150).map(<[f64]>::to_vec);
        cells.grow(2, 400, |old, new| new.copy_from_slice(old));
        assert_eq!(cells.get(150).map(<[f64]>::to_vec), before);
    }

    /// From no cell to all of many: first a hash table, finally a list; the cells keep their content and
    /// order.
    #[test]
    fn the_index_changes_and_cells_stay() {
        let features = 5000;
        let mut cells = Cells::<f64>::new(1, features, usize::MAX);
        let mut seen = Vec::new();
        for t in 0..features {
            let feature = t * 2927 % features;
            assert!(cells.get(feature).is_none(), "{feature}");
            cells.get_mut(feature)[0] = feature as f64 + 0.5;
            seen.push(feature);
            if t.is_power_of_two() || t + 1 == features {
                assert_eq!(matches!(cells.index, Index::Hashed(_)), t < 1024, "after {t}");
                for feature in 0..features {
                    let want = seen.contains(&feature).then_some(feature as f64 + 0.5);
                    assert_eq!(cells.get(feature).map(|cell| cell[0]), want);
                }
                let mut inner = Vec::new();
                cells.each(|cell| inner.push(cell[0]));
                assert!(inner.is_sorted() && inner.len() == seen.len());
                let mut changed = Vec::new();
                cells.each_mut(|cell| changed.push(cell[0]));
                assert_eq!(inner, changed);
            }
        }
    }
}

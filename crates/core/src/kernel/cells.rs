//! Numbers of single precision that stand by feature: allocated when a feature is first seen, bounded by hashing.

/// Numbers of a page, or one cell if that is longer: pages never move, so that growing copies nothing.
const PAGE: usize = 1 << 16;

/// No place yet.
const NONE: u32 = u32::MAX;

/// A cell of `width` numbers for every feature, all 0 before it is first written to. Where features are more than `most`, cells
/// are shared: which one a feature has is decided by a hash of it.
#[derive(Clone, Debug)]
pub struct Cells {
    width: usize,
    features: usize,
    most: usize,
    /// For every feature, or every hash, the place of its cell.
    places: Vec<u32>,
    pages: Vec<Vec<f32>>,
    used: usize,
}

impl Cells {
    /// Cells of `width` numbers for `features` features, at most `most` of them.
    pub fn new(width: usize, features: usize, most: usize) -> Self {
        let most = most.clamp(1, NONE as usize);
        let places = vec![NONE; features.min(most)];
        Self { width, features, most, places, pages: Vec::new(), used: 0 }
    }

    /// Numbers of a cell.
    pub fn width(&self) -> usize {
        self.width
    }

    /// 8-byte numbers that `features` features take at most.
    pub fn numbers(width: usize, features: usize, most: usize) -> usize {
        features.min(most).saturating_mul(width.saturating_add(1)).div_ceil(2)
    }

    fn slot(&self, feature: usize) -> usize {
        if self.features <= self.most {
            return feature;
        }
        // Fibonacci hashing: the high bits of a product with 2^64 over the golden ratio.
        let hash = (feature as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((u128::from(hash) * self.most as u128) >> 64) as usize
    }

    fn per_page(&self) -> usize {
        (PAGE / self.width).max(1)
    }

    /// The cell of `feature`, or none if it is all 0 since nothing was written to it.
    #[inline]
    pub fn get(&self, feature: usize) -> Option<&[f32]> {
        let place = self.places[self.slot(feature)];
        (place != NONE).then(|| {
            let (page, at) = (place as usize / self.per_page(), place as usize % self.per_page());
            &self.pages[page][at * self.width..][..self.width]
        })
    }

    /// The cell of `feature`, which gets one if it has none.
    #[inline]
    pub fn get_mut(&mut self, feature: usize) -> &mut [f32] {
        self.of_slot(self.slot(feature))
    }

    /// Has cells of `width` numbers for `features` features from now on, `copy` filling each from what it was.
    pub fn grow(&mut self, width: usize, features: usize, mut copy: impl FnMut(&[f32], &mut [f32])) {
        let hashed = self.features > self.most;
        if !hashed && features > self.most {
            // From here on places are hashes: a cell moves to the place of its hash, and the first one there stays.
            let mut grown = Self::new(width, features, self.most);
            for feature in 0..self.features {
                if let Some(old) = self.get(feature)
                    && grown.get(feature).is_none()
                {
                    copy(old, grown.get_mut(feature));
                }
            }
            *self = grown;
            return;
        }
        let mut grown = Self::new(width, features, self.most);
        for (slot, place) in self.places.iter().enumerate().filter(|(_, place)| **place != NONE) {
            let (page, at) = (*place as usize / self.per_page(), *place as usize % self.per_page());
            copy(&self.pages[page][at * self.width..][..self.width], grown.of_slot(slot));
        }
        *self = grown;
    }

    fn of_slot(&mut self, slot: usize) -> &mut [f32] {
        let per_page = self.per_page();
        if self.places[slot] == NONE {
            self.places[slot] = self.used as u32;
            if self.used.is_multiple_of(per_page) {
                self.pages.push(vec![0.0; per_page * self.width]);
            }
            self.used += 1;
        }
        let place = self.places[slot] as usize;
        &mut self.pages[place / per_page][place % per_page * self.width..][..self.width]
    }

    /// All cells that were written to, for saving: the place among features or hashes, and then the numbers.
    pub fn list(&self) -> Vec<f64> {
        let mut list = Vec::with_capacity(self.used * (1 + self.width));
        for (slot, place) in self.places.iter().enumerate().filter(|(_, place)| **place != NONE) {
            let (page, at) = (*place as usize / self.per_page(), *place as usize % self.per_page());
            list.push(slot as f64);
            list.extend(self.pages[page][at * self.width..][..self.width].iter().map(|x| f64::from(*x)));
        }
        list
    }

    /// Takes over the cells of a list. Returns false if it is none that [`Cells::list`] makes.
    pub fn set_list(&mut self, list: &[f64]) -> bool {
        *self = Self::new(self.width, self.features, self.most);
        let (chunks, slots) = (list.chunks_exact(1 + self.width), self.places.len() as f64);
        if !chunks.remainder().is_empty() {
            return false;
        }
        for cell in chunks {
            let (slot, numbers) = (cell[0], &cell[1..]);
            if !(slot >= 0.0 && slot < slots && slot.fract() == 0.0) {
                return false;
            }
            self.of_slot(slot as usize).iter_mut().zip(numbers).for_each(|(mine, x)| *mine = *x as f32);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_when_they_are_written_to() {
        let mut cells = Cells::new(3, 10, 10);
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

    /// Two hundred features in at most sixteen cells: memory stays, and a feature always finds its own.
    #[test]
    fn hashing_bounds_memory() {
        let mut cells = Cells::new(2, 200, 16);
        for feature in 0..200 {
            cells.get_mut(feature)[0] += 1.0;
        }
        assert_eq!(cells.used, 16);
        assert_eq!(cells.list().chunks(3).map(|cell| cell[1]).sum::<f64>(), 200.0);
        let before = cells.get(150).map(<[f32]>::to_vec);
        cells.grow(2, 400, |old, new| new.copy_from_slice(old));
        assert_eq!(cells.get(150).map(<[f32]>::to_vec), before);
    }
}

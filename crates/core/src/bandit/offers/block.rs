//! The columns that describe one of the labels on offer, as a row of their own.

use crate::example::Features;

/// The block of a position, as a row.
#[derive(Clone, Default)]
pub(super) struct Block {
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Block {
    /// The `width` columns of `position`, with `before` columns of zeros before them.
    pub(super) fn of<'a>(
        &'a mut self,
        x: Features<'a>,
        position: usize,
        width: usize,
        before: usize,
    ) -> Features<'a> {
        let (from, to) = (position * width, (position + 1) * width);
        match x {
            Features::Dense(values) if to <= values.len() && before == 0 => {
                Features::Dense(&values[from..to])
            }
            Features::Dense(values) => {
                let end = to.min(values.len());
                self.values.clear();
                self.values.resize(before, 0.0);
                self.values.extend_from_slice(&values[from.min(end)..end]);
                self.values.resize(before + width, 0.0);
                Features::Dense(&self.values)
            }
            Features::Sparse { indices, values } => {
                let at = |column: usize| indices.partition_point(|index| (*index as usize) < column);
                let span = at(from)..at(to);
                let own = indices[span.clone()].iter().map(|index| index - from as u32 + before as u32);
                self.indices.clear();
                self.indices.extend(own);
                Features::Sparse { indices: &self.indices, values: &values[span] }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_rows_of_their_own() {
        let sparse = Features::Sparse { indices: &[0, 3, 4], values: &[1.0, 2.0, 3.0] };
        let mut block = Block::default();
        assert_eq!(block.of(sparse, 1, 2, 0), Features::Sparse { indices: &[1], values: &[2.0] });
        assert_eq!(block.of(sparse, 2, 2, 0), Features::Sparse { indices: &[0], values: &[3.0] });
        assert_eq!(block.of(Features::Dense(&[1.0, 2.0, 3.0]), 1, 2, 0), Features::Dense(&[3.0, 0.0]));
        assert_eq!(block.of(sparse, 2, 2, 2), Features::Sparse { indices: &[2], values: &[3.0] });
        let shifted = block.of(Features::Dense(&[1.0, 2.0, 3.0]), 0, 2, 2);
        assert_eq!(shifted, Features::Dense(&[0.0, 0.0, 1.0, 2.0]));
    }
}

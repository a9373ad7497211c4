//! What a fit may take, and when the next one begins.

/// Nanoseconds, about, that fitting may take of a round, on average, while the next fit begins after a
/// quarter of the rows.
const NANOSECONDS: f64 = 100_000.0;

/// The growth of the rows, in parts of them, after which a fit that may take all of its time begins; fits
/// that begin sooner share it.
pub(in super::super) const GROWTH: f64 = 0.25;

/// With this many rows and more, they have to double before the next fit.
const DOUBLED: f64 = 32_768.0;

/// Number of leaves of a tree that grows leaf by leaf.
const LEAVES: usize = 31;

/// Largest number of leaves where [`Plan::more_leaves`], and the rows for each of them.
const MOST_LEAVES: usize = 127;
const ROWS_OF_LEAF: usize = 512;

/// Limit on the sums by bins of all leaves beyond [`LEAVES`]: 8 MiB.
const MOST_SUMS: usize = 1 << 19;

/// What a fit may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Plan {
    /// The time of a round, in multiples of [`NANOSECONDS`].
    pub(in super::super) times: f64,
    /// The part of the columns that each tree looks at; they are drawn for each tree.
    pub(in super::super) columns: f64,
    /// The least growth of the rows, in parts of them, after which the next fit begins.
    pub(in super::super) growth: f64,
    /// The least sum of second derivatives of a leaf.
    pub(in super::super) least_second: f64,
    /// The part of the trees, the first ones, that grow by levels.
    pub(in super::super) by_levels: f64,
    /// Whether trees have more leaves where there are many rows.
    pub(in super::super) more_leaves: bool,
}

impl Plan {
    /// The part by which `rows` rows have to grow before the next fit. With many rows, a quarter more changes
    /// little, and all other members cost less.
    pub(in super::super) fn growth(self, rows: usize) -> f64 {
        (rows as f64 / DOUBLED).clamp(self.growth, 1.0)
    }

    /// The number of rounds from the beginning of a fit to `rows` rows to the beginning of the next one.
    pub(in super::super) fn rounds_between(self, rows: usize) -> u64 {
        (self.growth(rows) * rows as f64).ceil() as u64
    }

    /// Nanoseconds, about, that a fit to `rows` rows may take for each of them.
    pub(in super::super) fn of_row(self, rows: usize) -> f64 {
        self.times * NANOSECONDS * self.growth(rows).min(GROWTH)
    }
    /// The number of leaves of a tree for `rows` rows, of which each has `sums` sums by bin: many rows have
    /// room for more rules.
    pub(in super::super) fn leaves(self, rows: usize, sums: usize) -> usize {
        let wanted = if self.more_leaves { rows / ROWS_OF_LEAF } else { 0 };
        wanted.min(MOST_LEAVES).min(MOST_SUMS / sums.max(1)).max(LEAVES)
    }
}

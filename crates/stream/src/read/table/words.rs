//! What words in tables mean: names of the label's column, and numbers.

/// Names of label columns or keys, in order of preference; the last one is that of Vowpal Wabbit's CSV.
pub(crate) const LABEL_NAMES: [&str; 5] = ["label", "class", "target", "y", "_label"];

/// Whether a cell is a number. Infinities count: the column is then numeric, and the row an error.
pub(crate) fn is_number(cell: &[u8]) -> bool {
    fast_float2::parse::<f64, _>(cell).is_ok()
}

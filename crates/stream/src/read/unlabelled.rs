//! Rows whose label is missing have none.

use std::collections::HashMap;

use noregret::hand_on;

use crate::read::columns::Columns;
use crate::read::error::ReadError;
use crate::read::label::value;
use crate::read::missing::Missing;
use crate::read::options::Schema;
use crate::read::reader::Reader;
use crate::read::remark::Remark;
use crate::read::row::{Row, RowLabel};

/// A reader whose rows without a label are those whose label is missing, in any word for it. Of rows that are
/// no table, whose columns see to it, numbers that stand for a missing one are absent.
pub(crate) struct Unlabelled {
    inside: Box<dyn Reader>,
    missing: Missing,
    /// Numbers that stand for a missing one, as -999 may.
    numbers: Vec<f64>,
    /// Rows by the words of their missing labels.
    counts: HashMap<String, u64>,
    /// As in [`ReadOptions`](crate::ReadOptions).
    row_0: Option<u64>,
}

impl Unlabelled {
    pub(crate) fn new(inside: Box<dyn Reader>, missing: Missing, row_0: Option<u64>) -> Self {
        let is_table = inside.schema().csv.is_some();
        let numbers = missing.words.iter().filter(|_| !is_table).filter_map(|word| value(word)).collect();
        Self { inside, missing, numbers, counts: HashMap::new(), row_0 }
    }
}

impl Reader for Unlabelled {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        row.row_0 = self.row_0;
        let more = self.inside.read(row).map_err(|error| error.with_row_0(self.row_0))?;
        if !self.numbers.is_empty() {
            row.remove_values(&self.numbers);
        }
        if let RowLabel::Name(name) = row.label()
            && self.missing.is_label(name)
        {
            match self.counts.get_mut(name) {
                Some(count) => *count += 1,
                None => drop(self.counts.insert(name.to_owned(), 1)),
            }
            row.unlabel();
        }
        Ok(more)
    }

    fn odd_cells(&self) -> Vec<Remark> {
        let mut words: Vec<_> = self.counts.iter().collect();
        words.sort_unstable();
        let words =
            words.into_iter().map(|(word, rows)| Remark::Unlabelled { word: word.clone(), rows: *rows });
        words.chain(self.inside.odd_cells().into_iter().map(|remark| remark.with_row_0(self.row_0))).collect()
    }

    fn schema(&self) -> Schema {
        Schema { missing: self.missing.clone(), ..self.inside.schema() }
    }

    hand_on! { self.inside;
        fn columns(&self) -> &Columns;
        fn take_back(&mut self);
        fn dropped_features(&self) -> u64;
        fn absent(&self) -> Vec<u32>;
        fn position(&self) -> u64;
        fn size(&self) -> Option<u64>;
        fn describe(&self) -> Vec<(&'static str, String)>;
        fn notes(&self) -> Vec<String>;
    }
}

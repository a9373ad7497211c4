//! Features that say that a number is missing, of a learner that was made by rows without holes: they begin
//! in a later table, as what was learnt until then says. The learner grows by them before the table; as they
//! are 0 in the rows before, the same is learnt, up to rounding, however rows are divided into tables.

use std::collections::BTreeSet;

use noregret::hand_on;
use noregret_stream::encode::Example;
use noregret_stream::{Columns, ReadError, Reader, Remark, Row, Schema};

use super::{Inner, Learner};
use crate::error::Done;

/// A feature that begins in a table.
pub(super) struct Mark {
    /// The number of the row with which it begins.
    from: usize,
    /// The column whose number is missing.
    number: u32,
    /// Its own column.
    column: u32,
}

/// The columns of which a feature begins in the rows of `reader`, each with the number of its row, in the
/// order in which they begin.
fn begun(inner: &Inner, reader: &mut dyn Reader) -> Done<Vec<(usize, u32)>> {
    let columns = &inner.schema.columns;
    let (mut begun, mut seen) = (vec![], BTreeSet::new());
    let (mut encoder, mut row, mut example) = (inner.encoder.clone(), Row::new(), Example::default());
    encoder.set_absent(reader.absent());
    let mut at = 0;
    while reader.read(&mut row)? {
        for column in row.missing() {
            let is_new = || columns.new_mark(&columns.name(*column)).is_some();
            if !seen.contains(column) && encoder.lacks(*column) && is_new() {
                seen.insert(*column);
                begun.push((at, *column));
            }
        }
        // Where a row is refused, the run ends.
        if encoder.encode(&row, &mut example).is_err() {
            break;
        }
        at += 1;
    }
    Ok(begun)
}

impl Learner {
    /// Makes room for the features that begin in the rows of `reader`; for none if the learner cannot grow by
    /// them.
    pub(super) fn begin_marks(&self, inner: &mut Inner, reader: &mut dyn Reader) -> Done<Vec<Mark>> {
        let first = inner.encoder.columns();
        if !inner.encoder.fills_missing() || inner.schema.columns.count() as usize != first {
            return Ok(vec![]);
        }
        let begun = begun(inner, reader)?;
        let classes = inner.learner.problem().classes;
        let mut columns = inner.schema.columns.clone();
        if begun.is_empty() || self.make_room(inner, classes, first + begun.len()).is_err() {
            return Ok(vec![]);
        }
        let mut marks = Vec::with_capacity(begun.len());
        for (from, number) in begun {
            let name = columns.new_mark(&columns.name(number));
            if let (Columns::Named(names), Some(name)) = (&mut columns, name)
                && let Some(column) = names.intern(&name)
            {
                marks.push(Mark { from, number, column });
            }
        }
        inner.schema.columns = columns;
        Ok(marks)
    }
}

/// The rows of a table with the features that begin in it.
pub(super) struct Marking {
    inside: Box<dyn Reader>,
    marks: Vec<Mark>,
    /// Number of rows so far.
    at: usize,
}

impl Marking {
    pub(super) fn new(inside: Box<dyn Reader>, marks: Vec<Mark>) -> Self {
        Self { inside, marks, at: 0 }
    }
}

impl Reader for Marking {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        let more = self.inside.read(row)?;
        for mark in self.marks.iter().filter(|mark| mark.from <= self.at) {
            if row.missing().contains(&mark.number) {
                row.push(mark.column, 1.0);
            }
        }
        self.at += 1;
        Ok(more)
    }

    hand_on! { self.inside;
        fn columns(&self) -> &Columns;
        fn dropped_features(&self) -> u64;
        fn absent(&self) -> Vec<u32>;
        fn odd_cells(&self) -> Vec<Remark>;
        fn position(&self) -> u64;
        fn size(&self) -> Option<u64>;
        fn schema(&self) -> Schema;
        fn describe(&self) -> Vec<(&'static str, String)>;
        fn notes(&self) -> Vec<String>;
    }
}

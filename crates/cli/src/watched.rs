//! A reader with progress, for progress bars.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::ProgressBar;
use noregret::hand_on;
use noregret_stream::{Columns, ReadError, Reader, Remark, Row, Schema, Stop};

use crate::progress::{TICK, style};

/// A reader with progress, for progress bars.
pub(crate) struct Watched {
    reader: Box<dyn Reader>,
    position: Arc<AtomicU64>,
    rows: u64,
    bar: Option<ProgressBar>,
    /// Interrupts a first pass.
    stop: Stop,
    /// The schema of the model that goes on, if the rows are lines of features and it has learnt a table.
    table: Option<Schema>,
}

impl Watched {
    /// Wraps `reader`, whose rows end when `stop` is requested; with `shown`, a bar on a terminal
    /// is labelled `what`.
    pub(crate) fn new(reader: Box<dyn Reader>, shown: Option<&'static str>, stop: &Stop) -> Self {
        let bar = shown.filter(|_| std::io::stderr().is_terminal()).and_then(|what| {
            let bar = ProgressBar::new(reader.size()?);
            bar.set_style(style("{msg} {bar:30} {percent:>3}%  {eta} left"));
            bar.set_message(what);
            bar.enable_steady_tick(TICK);
            Some(bar)
        });
        Self { reader, position: Arc::default(), rows: 0, bar, stop: stop.clone(), table: None }
    }

    /// The same for a model with the schema `saved`: lines of features say nothing of the columns of its
    /// table, which it keeps.
    pub(crate) fn going_on(mut self, saved: Schema) -> Self {
        let is_kept = saved.csv.is_some() && self.reader.schema().csv.is_none();
        self.table = is_kept.then_some(saved);
        self
    }

    /// The reader's position in bytes, updated by the reader.
    pub(crate) fn position(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.position)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Reader for Watched {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        self.rows += 1;
        if self.rows.is_multiple_of(256) {
            if self.stop.asked().is_some() {
                return Ok(false);
            }
            self.position.store(self.reader.position(), Ordering::Relaxed);
            if let Some(bar) = &self.bar {
                bar.set_position(self.reader.position());
            }
        }
        self.reader.read(row)
    }

    fn schema(&self) -> Schema {
        let schema = self.reader.schema();
        match &self.table {
            Some(table) => Schema { columns: schema.columns, missing: schema.missing, ..table.clone() },
            None => schema,
        }
    }

    hand_on! { self.reader;
        fn columns(&self) -> &Columns;
        fn take_back(&mut self);
        fn keep(&mut self, bytes: usize);
        fn again(&mut self) -> Option<Box<dyn Reader>>;
        fn dropped_features(&self) -> u64;
        fn absent(&self) -> Vec<u32>;
        fn odd_cells(&self) -> Vec<Remark>;
        fn position(&self) -> u64;
        fn size(&self) -> Option<u64>;
        fn describe(&self) -> Vec<(&'static str, String)>;
        fn notes(&self) -> Vec<String>;
    }
}

//! The decisions of another program's log as rows of data, so that a learner learns from the rewards of
//! another policy.

use crate::decisions::event::Event;
use crate::decisions::logged::Logged;
use crate::decisions::pending::Pending;
use crate::read::columns::Columns;
use crate::read::error::ReadError;
use crate::read::format::Format;
use crate::read::label::GivenLabel;
use crate::read::options::Schema;
use crate::read::reader::Reader;
use crate::read::row::Row;

/// Largest number of decisions without their rewards; beyond that, the oldest are left out.
const MOST_WAITING: usize = 1_000_000;

/// A decision without its reward so far.
struct Taken {
    row: Row,
    label: GivenLabel,
    probability: f64,
}

/// The answered decisions of a log, in the order of their answers. The label of a row is one of costs: of the
/// label that was played, 1 - reward, with its probability. The encoder checks its range.
pub struct LoggedRows {
    log: Logged,
    waiting: Pending<Taken>,
    /// The size of the file.
    size: Option<u64>,
}

impl LoggedRows {
    /// The rows of `log`; `size` is that of its file, if it is one.
    pub fn new(log: Logged, size: Option<u64>) -> Self {
        Self { log, waiting: Pending::new(MOST_WAITING), size }
    }

    /// Labels the row of `taken` with the played label and its cost.
    fn earned(taken: Taken, reward: f64, row: &mut Row) {
        let Taken { row: mut of, label, probability } = taken;
        of.push_cost_as(&label.text, label.of, Some(1.0 - reward), Some(probability));
        of.line = row.line;
        *row = of;
    }
}

impl Reader for LoggedRows {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        loop {
            match self.log.next(row)? {
                None => {
                    row.clear();
                    return self.log.torn().map_or(Ok(false), Err);
                }
                Some(Event::Header(_)) => {}
                Some(Event::Decision(taken)) => {
                    let given = |label: u32| self.log.labels().given_of(noregret::Label(label));
                    let mut of = row.clone();
                    of.tag.clone_from(&taken.id);
                    for label in &taken.offered {
                        let label = given(*label);
                        of.push_offered_as(&label.text, label.of);
                    }
                    let (label, probability) = (given(taken.label), taken.probability);
                    let waits = Taken { row: of, label, probability };
                    if let Some(reward) = taken.reward {
                        Self::earned(waits, reward, row);
                        return Ok(true);
                    }
                    let kept = self.waiting.insert(&taken.id, waits);
                    kept.map_err(|error| self.log.error(row, error.to_string()))?;
                }
                Some(Event::Feedback { id, reward }) => {
                    let waited = self.waiting.take(&id);
                    let waited = waited.map_err(|error| self.log.error(row, error.to_string()))?;
                    if let Some(reward) = reward {
                        Self::earned(waited, reward, row);
                        return Ok(true);
                    }
                }
            }
        }
    }

    fn columns(&self) -> &Columns {
        self.log.columns()
    }

    fn dropped_features(&self) -> u64 {
        0
    }

    fn odd_cells(&self) -> Vec<String> {
        self.log.left_out()
    }

    fn position(&self) -> u64 {
        0
    }

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn schema(&self) -> Schema {
        Schema::plain(Format::Ndjson, self.columns().clone())
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![("format", "decisions of another program".to_owned())]
    }
}

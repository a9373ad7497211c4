//! The decisions of a log as rows of data, so that a learner learns from the rewards of another policy.

use crate::decisions::event::{Event, LoggedDecision};
use crate::decisions::pending::{ONE_ANSWER, Pending};
use crate::decisions::reader::LogReader;
use crate::encode::labels::Labels;
use crate::fault::{Fault, fault};
use crate::read::columns::Columns;
use crate::read::costs::{Clipped, Costs};
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::label::GivenLabel;
use crate::read::options::{ReadOptions, Schema};
use crate::read::reader::Reader;
use crate::read::remark::Remark;
use crate::read::row::Row;

pub use crate::read::logs::LogUse;

/// Largest number of decisions without their rewards; beyond that, the oldest count as never answered.
const MOST_WAITING: usize = 1_000_000;

/// A decision without its reward so far.
struct Taken {
    row: Row,
    label: GivenLabel,
    probability: f64,
}

/// The decisions of a log, in the order of their answers; those that were never answered are last. The label
/// of a row is one of costs: of the label that was played, with its probability.
pub struct LoggedRows {
    log: LogReader,
    how: LogUse,
    waiting: Pending<Taken>,
    /// Decisions that nobody has answered, after the end of the log.
    unanswered: std::vec::IntoIter<Taken>,
    /// The first event, which is read when the log is opened.
    first: Option<(Result<Option<Event>, ReadError>, Row)>,
    /// How the data of the decisions were read, if the log says so.
    schema: Option<Schema>,
    /// Whether decisions of before the log may be answered in it.
    continues: bool,
    /// The size of the file.
    size: Option<u64>,
    clipped: Clipped,
}

impl LoggedRows {
    /// The rows of a log in our own format.
    pub(crate) fn boxed(log: LogReader, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
        check_options(options).map_err(|what| log.fault(ReadErrorKind::Layout(what.into())))?;
        let (size, saved) = (log.size(), options.schema.clone());
        let log = match &saved {
            Some(schema) => log.with_columns(schema.columns.clone()),
            None => log,
        };
        let mut rows = Self {
            log,
            how: options.decisions,
            waiting: Pending::new(MOST_WAITING),
            unanswered: vec![].into_iter(),
            first: None,
            schema: None,
            continues: false,
            size,
            clipped: Clipped::default(),
        };
        let mut row = Row::new();
        let first = rows.log.next(&mut row);
        if let Ok(Some(Event::Header(header))) = &first {
            if header.schema.block().is_some() {
                let what = "is a log of labels on offer with features of their own, which are known by their position: replay learns it again";
                return Err(rows.log.fault(ReadErrorKind::Layout(what.to_owned())));
            }
            rows.continues = header.continues.is_some();
            rows.schema = Some(header.schema.clone());
        } else {
            rows.first = Some((first, row));
        }
        rows.schema = saved.or(rows.schema);
        Ok(Box::new(rows))
    }

    fn next(&mut self, row: &mut Row) -> Result<Option<Event>, ReadError> {
        match self.first.take() {
            Some((first, of)) => {
                *row = of;
                first
            }
            None => self.log.next(row),
        }
    }

    /// Labels the row of `taken` with the played label and its cost, if it is known.
    fn earned(taken: Taken, cost: Option<f64>, row: &mut Row) {
        let Taken { row: mut of, label, probability } = taken;
        of.push_cost_as(&label.text, label.of, cost, Some(probability));
        if cost.is_some() {
            of.line = row.line;
        }
        *row = of;
    }

    /// The cost of a label that has earned `reward`.
    fn cost(&mut self, reward: f64) -> Result<f64, ReadError> {
        let (rewards, costs) = match self.how {
            LogUse::Learnt { rewards, costs } => (rewards, costs),
            LogUse::Refused | LogUse::Predicted => (None, Costs::default()),
        };
        let range = rewards.unwrap_or_default();
        self.clipped.count(range, reward);
        let reward = range.rising(reward).map_err(|what| {
            let way_out = "; the option rewards states the range of the log's rewards, as in 0..15";
            self.log.error(format!("{what}{way_out}"))
        })?;
        Ok(costs.cost_of(reward.value()))
    }
}

/// Refuses options about columns, which a log in our own format does not have.
fn check_options(options: &ReadOptions) -> Result<(), Fault> {
    let one = [("label", &options.label), ("weight", &options.weight), ("offered", &options.offered)];
    let one = one.into_iter().filter_map(|(option, name)| Some((option, name.as_ref()?)));
    let roles = options.given().into_iter();
    let roles = roles.filter_map(|(names, role)| Some((role.name(), names.first()?)));
    one.chain(roles).next().map_or(Ok(()), |(option, name)| {
        Err(fault!(
            "is a log of decisions, whose features are under \"x\" and are read as they were logged: leave out {option} = {}",
            shown(name)
        ))
    })
}

/// Adds the labels on offer of a decision to its row: all labels so far, if the log says how likely each was.
fn offer(taken: &LoggedDecision, labels: &Labels, row: &mut Row) {
    let all = 0..u32::try_from(labels.len()).unwrap_or(u32::MAX);
    let whole = taken.offered.is_empty() && taken.distribution.len() == labels.len();
    let all = all.filter(|_| whole);
    for label in taken.offered.iter().copied().chain(all) {
        let label = labels.given_of(noregret::Label(label));
        row.push_offered_as(&label.text, label.of);
    }
}

impl Reader for LoggedRows {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        loop {
            if let Some(taken) = self.unanswered.next() {
                Self::earned(taken, None, row);
                return Ok(true);
            }
            match self.next(row)? {
                None => {
                    row.clear();
                    if let Some(why) = self.log.torn() {
                        let what = format!("{why}; end it after a whole line");
                        return Err(self.log.fault(ReadErrorKind::Layout(what)));
                    }
                    let waiting = std::mem::replace(&mut self.waiting, Pending::new(MOST_WAITING));
                    let waiting: Vec<Taken> = waiting.into_waiting().map(|(_, taken)| taken).collect();
                    if waiting.is_empty() {
                        return Ok(false);
                    }
                    self.unanswered = waiting.into_iter();
                }
                Some(Event::Header(_)) => {}
                Some(Event::Decision(taken)) => {
                    let mut of = row.clone();
                    of.tag.clone_from(&taken.id);
                    offer(&taken, self.log.labels(), &mut of);
                    if self.how == LogUse::Predicted {
                        *row = of;
                        return Ok(true);
                    }
                    let label = self.log.labels().given_of(noregret::Label(taken.label));
                    let waits = Taken { row: of, label, probability: taken.probability };
                    if let Some(reward) = taken.reward {
                        Self::earned(waits, Some(self.cost(reward)?), row);
                        return Ok(true);
                    }
                    let kept = self.waiting.insert(&taken.id, waits);
                    let forgotten = kept.map_err(|what| self.log.error(what))?;
                    if let Some((_, forgotten)) = forgotten {
                        Self::earned(forgotten, None, row);
                        return Ok(true);
                    }
                }
                Some(Event::Feedback { .. }) if self.how == LogUse::Predicted => {}
                Some(Event::Feedback { id, .. }) if self.continues && !self.waiting.contains(&id) => {}
                Some(Event::Feedback { id, reward }) => {
                    let waited = self.waiting.take(&id);
                    let waited = waited.map_err(|what| self.log.error(fault!("{what}{ONE_ANSWER}")))?;
                    let cost = reward.map(|reward| self.cost(reward)).transpose()?;
                    Self::earned(waited, cost, row);
                    return Ok(true);
                }
            }
        }
    }

    fn columns(&self) -> &Columns {
        self.log.columns()
    }

    fn odd_cells(&self) -> Vec<Remark> {
        let LogUse::Learnt { rewards: Some(rewards), .. } = self.how else { return vec![] };
        self.clipped.remark("rewards", rewards).into_iter().collect()
    }

    fn dropped_features(&self) -> u64 {
        self.log.dropped_features()
    }

    fn position(&self) -> u64 {
        0
    }

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn schema(&self) -> Schema {
        let columns = self.columns().clone();
        match &self.schema {
            Some(schema) => Schema { columns, ..schema.clone() },
            None => Schema::plain(Format::Ndjson, columns),
        }
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![("format", "log of decisions".to_owned())]
    }
}

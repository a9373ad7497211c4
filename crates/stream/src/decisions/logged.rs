//! Logged decisions for evaluation: our decision logs, and rows of other programs' logs: tables, and Vowpal
//! Wabbit's `action:cost:probability`.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::Path;

use serde_json::{Map, Value};

use crate::decisions::event::{Event, LoggedDecision};
use crate::decisions::foreign::Keys;
use crate::decisions::line::reward_of_others;
#[cfg(feature = "parquet")]
use crate::decisions::parquet_reader::LinesOfParquet;
use crate::decisions::reader::LogReader;
use crate::encode::labels::Labels;
use crate::encode::{TWO_PLAYED, offered_twice};
use crate::fault::{Fault, fault};
use crate::read::columns::Columns;
use crate::read::costs::{Clipped, Costs};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::format::Format;
use crate::read::live::Stop;
use crate::read::logs::check_probability;
use crate::read::open::{no_data, open};
use crate::read::options::{Offers, ReadOptions, Schema};
use crate::read::reader::Reader;
use crate::read::recognise;
use crate::read::row::{ActionCost, Row, RowLabel};
use crate::read::source::Source;
use crate::read::vw::json;
use crate::words::counted;

/// A file of logged decisions.
pub struct Logged {
    log: Log,
    /// What rows in memory are called, if the file is a copy of them.
    rows_of: Option<&'static str>,
}

enum Log {
    /// A decision log.
    Events(Box<LogReader>),
    /// Rows whose labels are costs; the reward of an action is minus its cost.
    Rows(Box<CostRows>),
}

/// Decisions of Vowpal Wabbit, of its decision service, or of a table.
struct CostRows {
    reader: Box<dyn Reader>,
    /// Actions so far.
    labels: Labels,
    name: String,
    /// The range of costs, if rewards are from 0 to 1.
    costs: Option<Costs>,
    clipped: Clipped,
    /// Whether an action with a probability and no cost is a decision that was never answered.
    unanswered: bool,
    /// Rows without a label.
    unlabelled: u64,
    /// The ids of decisions, where rows have some: Vowpal Wabbit's JSON.
    ids: Option<Ids>,
    /// The line of the last decision, and its number on this line, from 0: slots of a round may share one.
    last: (u64, u64),
}

/// The ids of decisions.
#[derive(Default)]
struct Ids {
    /// Their hashes.
    seen: HashSet<u64>,
    /// How many decisions have the id of an earlier one, and the first such id.
    again: u64,
    first: String,
}

impl Ids {
    fn add(&mut self, id: &str) {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(id);
        if !id.is_empty() && !self.seen.insert(hash) {
            self.again += 1;
            if self.again == 1 {
                id.clone_into(&mut self.first);
            }
        }
    }

    /// A sentence about decisions that come again, unless most do, so that ids tell nothing apart.
    fn remark(&self) -> Option<String> {
        let all = self.seen.len() as u64 + self.again;
        (self.again > 0 && 2 * self.again <= all).then(|| {
            format!(
                "{} of {all} decisions have the id of an earlier one, such as {:?}: every copy counts as a decision",
                self.again, self.first
            )
        })
    }
}

/// How a log is written.
enum Kind {
    Format(Format),
    /// Another program's, with our names of label and probability, and this one of the reward.
    Others(Format, &'static str),
    /// Vowpal Wabbit's JSON.
    VwJson,
}

impl Kind {
    /// That of the file `path`, if `format` is not given: by its name, and by its first lines.
    fn of(path: &str, format: Option<Format>) -> Result<Self, ReadError> {
        let format = format.or_else(|| Format::from_file_name(path));
        // What cannot be opened, or not as text, is reported where it is read. A pipe would lose what is read
        // of it.
        let file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        #[cfg(feature = "parquet")]
        if file
            && matches!(format, None | Some(Format::Parquet))
            && let Some(found) = crate::read::source::parquet_file(path, false)
        {
            let names: Vec<_> = LinesOfParquet::names(found).into_iter().collect();
            return Ok(Self::of_objects(Format::Parquet, &names));
        }
        let examined = file && matches!(format, None | Some(Format::Ndjson));
        let source = examined.then(|| Source::open(path, &Stop::default()).ok()).flatten();
        let Some(mut source) = source else {
            return Ok(Self::Format(format.unwrap_or(Format::Ndjson)));
        };
        let Ok(peek) = source.peek(recognise::LINES, 1) else { return Ok(Self::Format(Format::Ndjson)) };
        let text = peek.bytes.trim_ascii();
        let first = peek.lines().find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
        if let Ok(object) = serde_json::from_slice(first)
            && json::is_row(&object)
        {
            return Ok(Self::VwJson);
        }
        let found = format.or_else(|| recognise::from_content(&peek).filter(|_| no_data(text).is_none()));
        // Of a log without a line there is no more to say than that.
        if let Some(format) = found.or_else(|| text.is_empty().then_some(Format::Ndjson)) {
            let lines = peek.lines().filter(|_| format == Format::Ndjson);
            let objects: Vec<Map<String, Value>> =
                lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
            return Ok(Self::of_objects(format, &objects));
        }
        let formats = || {
            format!(
                "has no format that is recognised: logs of decisions are {}, and the option format says which",
                Format::names(Format::has_decisions)
            )
        };
        let what = no_data(text).map_or_else(formats, str::to_owned);
        Err(ReadError::new(path, 0, ReadErrorKind::Layout(what)))
    }

    /// That of `format`, by its first objects.
    fn of_objects(format: Format, objects: &[Map<String, Value>]) -> Self {
        reward_of_others(objects).map_or(Self::Format(format), |reward| Self::Others(format, reward))
    }
}

impl Logged {
    /// Opens `path`, in `format` if it is given, else as its name or its first lines say. NDJSON and Parquet
    /// are decision logs, or rows of Vowpal Wabbit's JSON; CSV and ARFF, and NDJSON and Parquet without `x`
    /// and with other names beside ours, are the log of another program with our names of columns. If
    /// `schema` is given, other features are ignored.
    ///
    /// # Errors
    /// If it cannot be read, or its format cannot contain decisions.
    pub fn open(path: &str, format: Option<Format>, schema: Option<&Schema>) -> Result<Self, ReadError> {
        match Kind::of(path, format)? {
            Kind::Format(Format::Ndjson | Format::Parquet) => {
                Ok(Self::of_log(with_columns(LogReader::open(path)?, schema)))
            }
            Kind::Format(format) if format.is_table() => {
                let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
                Self::open_foreign(path, &options, &Keys::default(), schema)
            }
            Kind::Others(format, reward) => {
                let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
                let keys = Keys { reward: reward.to_owned(), ..Keys::default() };
                Self::open_foreign(path, &options, &keys, schema)
            }
            Kind::Format(Format::Vw) => Self::open_vw(path, Format::Vw, schema, None),
            Kind::VwJson => Self::open_vw(path, Format::Ndjson, schema, None),
            Kind::Format(other) => Err(ReadError::new(
                path,
                0,
                ReadErrorKind::Layout(format!(
                    "is {other}, which cannot contain decisions; {} was needed",
                    Format::names(Format::has_decisions)
                )),
            )),
        }
    }

    /// Opens the decision log in the file `path`, called `name` in errors. If `schema` is given, other
    /// features are ignored.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open_log(path: &Path, name: &str, schema: Option<&Schema>) -> Result<Self, ReadError> {
        Ok(Self::of_log(with_columns(LogReader::open_named(path, name)?, schema)))
    }

    fn of_log(log: LogReader) -> Self {
        Self { log: Log::Events(Box::new(log)), rows_of: None }
    }

    /// Of a file that is a copy of the rows in memory that are called `name`, one in a line: sentences name
    /// rows by their numbers from 0.
    #[must_use]
    pub fn of_memory(self, name: &'static str) -> Self {
        Self { rows_of: Some(name), ..self }
    }

    /// Opens a log of another program: in CSV, ARFF, NDJSON or Parquet, with columns named by `keys` and read
    /// as `options` say, or Vowpal Wabbit's, with costs in the range of `keys`. If `schema` is given, other
    /// features are ignored.
    ///
    /// # Errors
    /// If it cannot be read, or is in another format.
    pub fn open_foreign(
        path: &str,
        options: &ReadOptions,
        keys: &Keys,
        schema: Option<&Schema>,
    ) -> Result<Self, ReadError> {
        let unnamed =
            Keys { costs: keys.costs, ..Keys::default() } == *keys && options.given_names().next().is_none();
        match Kind::of(path, options.format)? {
            Kind::Format(format) | Kind::Others(format, _) if format.is_table() => {
                // So the reward is minus the cost, to the bit.
                let into = Costs::new(-1.0, 0.0).unwrap_or_default();
                let logged = Some(Keys { into, ..keys.clone() });
                let schema = schema.cloned();
                let room = schema.as_ref().map_or(0, |schema| schema.columns.count());
                let options = ReadOptions { format: Some(format), logged, schema, room, ..options.clone() };
                Self::of_rows(path, &options, None)
            }
            Kind::Format(Format::Vw) if unnamed => Self::open_vw(path, Format::Vw, schema, keys.costs),
            Kind::VwJson if unnamed => Self::open_vw(path, Format::Ndjson, schema, keys.costs),
            other => {
                let has_costs = matches!(other, Kind::Format(Format::Vw) | Kind::VwJson);
                let other = match other {
                    Kind::Format(format) | Kind::Others(format, _) => format.name(),
                    Kind::VwJson => "Vowpal Wabbit's JSON",
                };
                let mut what = format!(
                    "is {other}, whose columns cannot be named; csv, arff, ndjson or parquet was needed"
                );
                if has_costs {
                    what += "; it has costs, whose range the option costs states (rewards up to 50 are \
                             costs = -50..0)";
                }
                Err(ReadError::new(path, 0, ReadErrorKind::Layout(what)))
            }
        }
    }

    fn open_vw(
        path: &str,
        format: Format,
        schema: Option<&Schema>,
        costs: Option<Costs>,
    ) -> Result<Self, ReadError> {
        let schema =
            schema.map(|schema| Schema { format, label: None, weight: None, csv: None, ..schema.clone() });
        let room = schema.as_ref().map_or(0, |schema| schema.columns.count());
        let options = ReadOptions {
            format: Some(format),
            schema,
            room,
            offers: Some(Offers::WIDTH),
            ..ReadOptions::default()
        };
        Self::of_rows(path, &options, costs)
    }

    fn of_rows(path: &str, options: &ReadOptions, costs: Option<Costs>) -> Result<Self, ReadError> {
        let rows = CostRows {
            reader: open(path, options)?,
            labels: Labels::default(),
            name: path.to_owned(),
            costs,
            clipped: Clipped::default(),
            unanswered: options.logged.is_some(),
            unlabelled: 0,
            ids: (options.logged.is_none() && options.format == Some(Format::Ndjson)).then(Ids::default),
            last: (0, 0),
        };
        Ok(Self { log: Log::Rows(Box::new(rows)), rows_of: None })
    }

    /// Whether the file can be read twice.
    pub fn is_file(&self) -> bool {
        match &self.log {
            Log::Events(log) => log.size().is_some(),
            Log::Rows(rows) => rows.reader.size().is_some(),
        }
    }

    /// Sentences about what was left out: an incomplete last line, see [`LogReader::torn`], and rows without
    /// a label; and about costs that were clipped. Those of [`Logged::left_out`] are not among them. Known
    /// after the last event.
    pub fn remarks(&self) -> Vec<String> {
        match &self.log {
            Log::Events(log) => log.torn().map(str::to_owned).into_iter().chain(log.unread()).collect(),
            Log::Rows(rows) => {
                let unlabelled = (rows.unlabelled > 0)
                    .then(|| format!("left out {} without a label", counted(rows.unlabelled, "row")));
                let clipped = rows.costs.and_then(|costs| rows.clipped.remark("costs", costs));
                let odd = self.odd_cells(rows).filter(|_| !rows.unanswered);
                let again = rows.ids.as_ref().and_then(Ids::remark);
                unlabelled
                    .into_iter()
                    .chain(again)
                    .chain(odd)
                    .chain(clipped.map(|remark| remark.to_string()))
                    .collect()
            }
        }
    }

    /// Remarks on the columns of another program's log, in sentences.
    pub fn left_out(&self) -> Vec<String> {
        match &self.log {
            Log::Rows(rows) if rows.unanswered => {
                rows.reader.notes().into_iter().chain(self.odd_cells(rows)).collect()
            }
            Log::Events(_) | Log::Rows(_) => vec![],
        }
    }

    fn odd_cells(&self, rows: &CostRows) -> impl Iterator<Item = String> {
        let row_0 = self.rows_of.map(|_| 1);
        rows.reader.odd_cells().into_iter().map(move |remark| remark.with_row_0(row_0).to_string())
    }

    /// The labels so far.
    pub fn labels(&self) -> &Labels {
        match &self.log {
            Log::Events(log) => log.labels(),
            Log::Rows(rows) => &rows.labels,
        }
    }

    /// The columns so far.
    pub fn columns(&self) -> &Columns {
        match &self.log {
            Log::Events(log) => log.columns(),
            Log::Rows(rows) => rows.reader.columns(),
        }
    }

    /// An error at the line last read.
    pub(crate) fn error(&self, row: &Row, what: impl Into<String>) -> ReadError {
        placed(
            self.rows_of,
            match &self.log {
                Log::Events(log) => log.error(what),
                Log::Rows(rows) => ReadError::new(&rows.name, row.line, ReadErrorKind::Row(what.into())),
            },
        )
    }

    /// The next event. `None` at the end.
    ///
    /// # Errors
    /// If the line is invalid.
    pub fn next(&mut self, row: &mut Row) -> Result<Option<Event>, ReadError> {
        let next = match &mut self.log {
            Log::Events(log) => log.next(row),
            Log::Rows(rows) => rows.next(row),
        };
        next.map_err(|error| placed(self.rows_of, error))
    }
}

/// An error of a log, or of the rows in memory that it is a copy of.
fn placed(rows_of: Option<&str>, error: ReadError) -> ReadError {
    match rows_of {
        Some(name) => error.of_memory(name),
        None => error,
    }
}

/// The log with the columns of a model, if one is given.
fn with_columns(log: LogReader, schema: Option<&Schema>) -> LogReader {
    match schema {
        Some(schema) => log.with_columns(schema.columns.clone()),
        None => log,
    }
}

/// A label that was played, its cost if there was feedback, and the probability with which it was played.
type Taken = (u32, Option<f64>, f64);

impl CostRows {
    fn next(&mut self, row: &mut Row) -> Result<Option<Event>, ReadError> {
        loop {
            if !self.reader.read(row)? {
                return Ok(None);
            }
            // A row without costs is one to predict.
            let asked = match row.label() {
                RowLabel::Missing => true,
                RowLabel::Costs(costs) => costs.iter().all(|one| one.cost.is_none() && !self.answers(one)),
                _ => false,
            };
            if !asked {
                // Slots of a round are in one line.
                if let Some(ids) = self.ids.as_mut().filter(|_| self.last.0 != row.line) {
                    ids.add(&row.tag);
                }
                let decision = self.decision(row);
                let decision = decision
                    .map_err(|what| ReadError::new(&self.name, row.line, ReadErrorKind::Row(what.into())))?;
                // The event has both.
                row.unlabel();
                row.clear_offered();
                return Ok(Some(Event::Decision(Box::new(decision))));
            }
            self.unlabelled += 1;
        }
    }

    /// Whether an action was played, whatever it has earned.
    fn answers(&self, one: &ActionCost) -> bool {
        one.probability.is_some() && (one.cost.is_some() || self.unanswered)
    }

    fn decision(&mut self, row: &Row) -> Result<LoggedDecision, Fault> {
        let RowLabel::Costs(costs) = row.label() else {
            return Err("the label is a class, where action:cost:probability was needed: run and compare score forecasts of right labels".into());
        };
        if row.weight != 1.0 {
            return Err(fault!("the row has weight {}; decisions of a log have none", row.weight));
        }
        self.check_types(costs, row)?;
        let offered = self.offered(row)?;
        let ((label, cost, probability), distribution) = self.taken(costs)?;
        self.check_taken(label, probability, &offered)?;
        Ok(LoggedDecision {
            reward: self.reward(cost)?,
            id: self.id(row.line),
            label,
            probability,
            distribution,
            offered,
            own: None,
            evaluation: Vec::new(),
            estimates: Vec::new(),
        })
    }

    /// Refuses a label that is written as one of another type is.
    fn check_types(&self, costs: &[ActionCost], row: &Row) -> Result<(), Fault> {
        let offered = row.offered().iter().map(|one| (&*one.text, one.of));
        let mut named = costs.iter().map(|one| (&*one.action, one.of)).chain(offered);
        let clash = named.find_map(|(text, of)| self.labels.clash(text, of));
        clash.map_or(Ok(()), |why| Err(why.into()))
    }

    /// The labels on offer, in increasing order.
    fn offered(&mut self, row: &Row) -> Result<Vec<u32>, Fault> {
        let labels = &mut self.labels;
        let mut offered: Vec<u32> =
            row.offered().iter().map(|label| labels.intern_as(&label.text, label.of).0).collect();
        offered.sort_unstable();
        if let Some(pair) = offered.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(offered_twice(&labels.name(noregret::example::Label(pair[0])), row));
        }
        Ok(offered)
    }

    /// The action that was played, with its cost and its probability; and the probabilities of all labels on
    /// offer, if they are a distribution.
    fn taken(&mut self, costs: &[ActionCost]) -> Result<(Taken, Vec<f64>), Fault> {
        let (mut taken, mut distribution) = (None, vec![]);
        for one in costs {
            let label = self.labels.intern_as(&one.action, one.of);
            if distribution.len() < self.labels.len() {
                distribution.resize(self.labels.len(), 0.0);
            }
            distribution[label.index()] = one.probability.unwrap_or(0.0);
            if let Some(probability) = one.probability.filter(|_| self.answers(one)) {
                if taken.is_some() {
                    return Err(TWO_PLAYED.into());
                }
                taken = Some((label.0, one.cost, probability));
            }
        }
        // They are one if they sum to 1 up to their digits.
        let whole = costs.iter().all(|one| one.probability.is_some());
        let near = (distribution.iter().sum::<f64>() - 1.0).abs() <= 0.01;
        if !whole || !near || costs.len() < 2 {
            distribution.clear();
        }
        let nobody = "the label has costs of actions and no probability, so that nobody has played one of them: a run with bandit feedback \
                      plays against such costs";
        Ok((taken.ok_or(nobody)?, distribution))
    }

    /// Refuses a label that cannot have been played, or not with this probability.
    fn check_taken(&self, label: u32, probability: f64, offered: &[u32]) -> Result<(), Fault> {
        let name = self.labels.name(noregret::example::Label(label));
        check_probability(probability).map_err(|what| format!("the action {name:?} {what}"))?;
        if !offered.is_empty() && offered.binary_search(&label).is_err() {
            return Err(fault!("the label {name:?} was played although it was not on offer"));
        }
        Ok(())
    }

    /// What an action has earned, if it is known what it has cost.
    fn reward(&mut self, cost: Option<f64>) -> Result<Option<f64>, Fault> {
        Ok(match (self.costs, cost) {
            (Some(costs), Some(cost)) => {
                let reward = costs.reward(cost)?;
                self.clipped.count(costs, cost);
                Some(reward.value())
            }
            (None, cost) => cost.map(|cost| 0.0 - cost),
            (Some(_), None) => None,
        })
    }

    /// The name of the next decision, which is in this line.
    fn id(&mut self, line: u64) -> String {
        self.last = (line, if self.last.0 == line { self.last.1 + 1 } else { 0 });
        match self.last.1 {
            0 => format!("line {line}"),
            at => format!("line {line}, decision {at} (from 0)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_the_name_that_it_is_given() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept.jsonl");
        let refused = |path: &Path| {
            let mut log = Logged::open_log(path, "the log", None).map_err(|error| error.to_string())?;
            log.next(&mut Row::new()).map(drop).map_err(|error| error.to_string())
        };
        let missing = refused(&path).expect_err("there is none");
        assert!(missing.starts_with("the log: ") && !missing.contains("kept"), "{missing}");
        std::fs::write(&path, "\n{}\n").expect("written");
        let wrong = refused(&path).expect_err("no event");
        assert!(wrong.starts_with("the log:2: "), "{wrong}");
    }
}

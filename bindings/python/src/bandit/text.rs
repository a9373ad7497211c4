//! Bandits for tables and for rows of names, which the readers of the command line read, so that all
//! interfaces have the same features.

use std::collections::BTreeMap;

use noregret::example::Features;
use noregret::prediction::{Decision, Prediction, Reward};
use noregret_stream::encode::{Example, room_for};
use noregret_stream::run::bandit::Play;
use noregret_stream::save::Saved;
use noregret_stream::watch::explain::{Explainer, Explanation};
use noregret_stream::{Columns, Names};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::logged::check_others;
use super::state::Inner;
use super::{Bandit, Seen, look};
use crate::arrays::{ArrayReader, PyRows, PyTargets};
use crate::error::{Done, Failure};
use crate::learner::explain::{Explained, into_python};
use crate::learner::table::{Asked, Reading, made};
use crate::offered::{PyCosts, PyRound};
use crate::reading::{Numbers, Sparse, numbers};
use crate::shared::Shared;
use crate::table::{Remarks, Table};
use crate::values;

/// A learner grows to so many columns, for features that say what is missing: twice the columns are four
/// times the memory of second-order learners.
const MOST_GROWN: usize = 256;

/// How a bandit plays, beside what determines its learner.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Playing {
    most_waiting: usize,
    exploration_floor: f64,
    costs: Option<PyCosts>,
}

/// A bandit for the rows of an array. Labels are indices into `names`.
#[pyfunction]
pub(crate) fn bandit_for_array<'py>(
    py: Python<'py>,
    asked: Asked,
    playing: Playing,
    params: &Bound<'py, PyDict>,
    rows: PyRows<'py>,
    targets: PyTargets<'py>,
    names: Vec<String>,
) -> PyResult<Bandit> {
    let params = values::from_python(params)?;
    let (rows, targets) = (rows.borrow()?, targets.borrow()?);
    let make = || {
        rows.check(rows.width())?;
        targets.check_length(rows.len())?;
        let seed = asked.seed();
        bandit(made(asked, &params, &mut ArrayReader::new(rows, targets, &names))?, seed, playing)
    };
    Ok(py.detach(make)?)
}

/// A bandit for the rows of a table, and remarks on its columns.
#[pyfunction]
pub(crate) fn bandit_for_table(
    py: Python<'_>,
    asked: Asked,
    playing: Playing,
    params: &Bound<'_, PyDict>,
    table: &Table,
    reading: Reading,
) -> PyResult<(Bandit, Vec<String>)> {
    let params = values::from_python(params)?;
    let table = table.clone();
    let make = || -> Done<(Bandit, Vec<String>)> {
        let (seed, options) = (asked.seed(), asked.reading(&reading));
        let mut reader = table.open(&options)?;
        let saved = made(asked, &params, reader.as_mut())?;
        Ok((bandit(saved, seed, playing)?, reader.notes()))
    };
    Ok(py.detach(make)?)
}

fn bandit(made: Saved, seed: u64, playing: Playing) -> Done<Bandit> {
    let Saved { learner, encoder, schema, .. } = made;
    let learner = learner.bandit()?;
    let encoder = encoder.with_costs(Some(playing.costs.map_or(Ok(Default::default()), PyCosts::range)?));
    let floor = super::checked_floor(playing.exploration_floor, learner.problem().classes)?;
    let play = Play { floor, ..Play::new(seed) };
    let inner = Inner::new(learner, encoder, schema, play, playing.most_waiting);
    Ok(Bandit { inner: Shared::new(Inner { fresh: Some(seed), ..inner }) })
}

/// The rows of a table, or of rows of names, as numbers, with remarks. With `learns`, new names get columns.
#[pyfunction]
pub(crate) fn rows_of<'py>(
    py: Python<'py>,
    bandit: &Bandit,
    table: &Table,
    learns: bool,
) -> PyResult<(Sparse<'py>, Remarks)> {
    let table = table.clone();
    let (mut rows, width) = bandit.inner.work(py, |inner| inner.rows(&table, learns))??;
    let odd = std::mem::take(&mut rows.odd);
    Ok((rows.into_python(py, width), odd))
}

/// Contributions to the scores of a round, of the labels on offer in their order.
#[pyfunction]
pub(crate) fn explain_round<'py>(
    py: Python<'py>,
    bandit: &Bandit,
    round: PyRound<'py>,
) -> PyResult<Explained<'py>> {
    let round = round.borrow()?;
    let found = bandit.inner.read(py, |inner| -> Done<Explanation> {
        let Inner { learner, encoder, schema, .. } = inner;
        let Seen { example, mut decision, wanted, offered } = inner.seen(&round)?;
        let predict = |x: Features<'_>, out: &mut Prediction| {
            learner.decide(x, Some(offered.as_slice()).filter(|some| !some.is_empty()), &mut decision);
            out.scores.clear();
            out.scores.extend(wanted.iter().map(|label| decision.scores[*label as usize]));
        };
        let (mut explainer, mut at) = (Explainer::new(schema, encoder), Prediction::sized(wanted.len(), 0));
        match round.described() {
            Some(described) => explainer.add_round(&described, &example, &mut at, predict),
            None => explainer.add(&example, &mut at, predict),
        }
        Ok(explainer.take())
    })??;
    into_python(found, py)
}

/// Makes room for `names`, new labels that are played only where they are on offer.
#[pyfunction]
pub(crate) fn add_labels(py: Python<'_>, bandit: &Bandit, names: Vec<String>) -> PyResult<()> {
    Ok(bandit.inner.work(py, |inner| inner.grow(&names))??)
}

/// Learns the reward of the label number `played` of a round in which another policy has played it with
/// `probability`.
#[pyfunction]
pub(crate) fn learn_round(
    py: Python<'_>,
    bandit: &Bandit,
    round: PyRound<'_>,
    played: u32,
    reward: f64,
    probability: f64,
) -> PyResult<()> {
    let round = round.borrow()?;
    Ok(bandit.inner.write(py, |inner| -> Done<()> {
        let Inner { learner, encoder, schema, row, example, .. } = inner;
        check_others(learner.as_ref(), &[reward], &[probability])?;
        round.fill(learner.as_ref(), encoder, schema, row)?;
        encoder.encode(row, example)?;
        let mut decision = Decision::default();
        look(learner.as_ref(), example.features(), example.offered(), &mut decision)?;
        (decision.label, decision.probability) = (played, probability);
        inner.fresh = None;
        learner.learn(example.features(), &decision, Reward::new(reward).expect("it is checked before"));
        Ok(())
    })??)
}

impl Inner {
    /// Reads rows as numbers, and returns the number of columns.
    fn rows(&mut self, table: &Table, learns: bool) -> Done<(Numbers, usize)> {
        let mut schema = self.schema.clone();
        if matches!(schema.columns, Columns::Numbered { .. }) {
            if self.fresh.is_none() || !learns {
                return Err(Failure::Type(
                    "x has columns with names, and the bandit knows its columns by their numbers".to_owned(),
                ));
            }
            schema.columns = Columns::Named(Names::default());
        }
        let by_name = schema.csv.is_none();
        // A table has its columns, and those that begin with missing numbers.
        let room = if by_name { self.encoder.columns() } else { schema.columns.count() as usize };
        let mut read = numbers(table, schema, room, true)?;
        // Features that have begun leave names the room that they had.
        let crowded = by_name && learns && read.2 > 0 && !self.schema.columns.marks().is_empty();
        if crowded && self.makes_room(room + 1) {
            read = numbers(table, self.schema.clone(), self.encoder.columns(), true)?;
        }
        let (mut rows, mut schema, dropped) = read;
        if !by_name && learns && table.has_new(&self.schema) {
            rows.odd.1.extend(rows.notes.pop());
        }
        if by_name && learns && dropped > 0 {
            return Err(Failure::Value(format!(
                "x brings more than {} different features; Bandit(features=N) makes room for N",
                self.encoder.columns()
            )));
        }
        if learns {
            self.begin_marks(&mut rows, &mut schema.columns);
        }
        if by_name && learns {
            self.schema = schema;
        } else if learns {
            self.schema.columns = schema.columns;
        }
        Ok((rows, self.encoder.columns()))
    }

    /// Begins features that say that a number is missing, by what was learnt before the `rows`, as far as
    /// there is room for them among the `columns`, or the learner grows.
    fn begin_marks(&mut self, rows: &mut Numbers, columns: &mut Columns) {
        let mut marks = BTreeMap::new();
        for number in rows.holes() {
            let name = columns.new_mark(&columns.name(number)).filter(|_| self.encoder.lacks(number));
            if let (Columns::Named(names), Some(name)) = (&mut *columns, name)
                && self.may_begin(names.len() as usize + 1)
                && let Some(mark) = names.intern(&name)
            {
                marks.insert(number, mark);
            }
        }
        if !marks.is_empty() {
            rows.mark(&marks);
        }
    }

    /// Whether a feature may begin as the last of so many columns: of a table, if there is room, or the
    /// learner grows; of features by name, if there is room, and the learner can grow when other names need
    /// it.
    fn may_begin(&mut self, needed: usize) -> bool {
        if self.schema.csv.is_some() {
            return self.makes_room(needed);
        }
        let (columns, features) = (self.encoder.columns(), self.encoder.features());
        let classes = self.learner.problem().classes;
        needed <= columns
            && 2 * columns <= MOST_GROWN
            && self.learner.boxed_clone().grow(classes, features + columns)
    }

    /// Whether there is room for so many columns, or the learner grows, by the steps in which a log is
    /// replayed.
    fn makes_room(&mut self, needed: usize) -> bool {
        let (columns, before) = (self.encoder.columns(), self.encoder.features());
        if needed <= columns {
            return true;
        }
        let (classes, room) = (self.learner.problem().classes, room_for(columns, needed));
        if room > MOST_GROWN || !self.learner.grow(classes, before + room - columns) {
            return false;
        }
        self.encoder.make_room(self.encoder.classes(), room);
        self.pending.widen(before, self.encoder.features());
        self.example = Example::default();
        true
    }

    fn grow(&mut self, names: &[String]) -> Done<()> {
        let (name, problem) = (self.learner.about().name, self.learner.problem().clone());
        if !self.pending.is_empty() {
            return Err(Failure::Value(
                "new labels cannot be added while decisions wait for their feedback".to_owned(),
            ));
        }
        let mut labels = self.encoder.labels().clone();
        for name in names {
            labels.intern(name);
        }
        if labels.len() > problem.classes && !self.learner.grow(labels.len(), problem.features) {
            return Err(Failure::Value(format!(
                "{name} cannot take in new labels: give all of them at the start, or use Bandit(\"offers\")"
            )));
        }
        self.fresh = None;
        let (classes, columns) = (self.learner.problem().classes, self.encoder.columns());
        self.encoder.make_room(classes, columns);
        *self.encoder.labels_mut() = labels;
        self.example = Example::default();
        Ok(())
    }
}

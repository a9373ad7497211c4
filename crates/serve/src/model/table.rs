//! Models of files whose rows are those of a table: numbers, categories, times and texts are read as the
//! command line reads them with the same file. The features that come of it are part of the event, so that
//! the log has the same effect whatever later programs read.

use std::borrow::Cow;

use noregret::algorithm::AnyModel;
use noregret_stream::{Columns, Schema, TableRows};
use serde_json::Value;

use super::engine::Engine;
use super::event::Event;
use super::flat::{Flat, has_times};
use super::rows;
use super::spec::RowKind;
use crate::refusal::Refusal;

/// The features of the object `x`.
/// Fails if a file with this row is refused.
pub(super) fn read(table: &mut TableRows, columns: &Columns, x: &Value) -> Result<Flat, Refusal> {
    let features = table.features(columns, x).map_err(|what| Refusal::invalid("x", what))?;
    Ok(Flat::named(features.iter().map(|(name, value)| (&**name, *value))))
}

impl Engine {
    /// Adds to a new event what the model's table, if it has one, makes of its row; without a table, the
    /// features of its times.
    /// Fails if a file with this row is refused.
    pub(super) fn read_row(&mut self, event: &mut Event) -> Result<(), Refusal> {
        let Some(table) = &mut self.table else {
            if let Event::Learn { x, row, .. } | Event::Ask { x, row, .. } = event
                && has_times(x)
            {
                *row = Some(Flat::from(x.clone()));
            }
            return Ok(());
        };
        let (x, place) = match event {
            Event::Learn { x, row, .. } | Event::Ask { x, row, .. } => (&*x, row),
            Event::Decide(decide) => match &decide.given {
                Some(given) => (given, &mut decide.row),
                None if decide.x.is_null() => (&Value::Null, &mut decide.row),
                None => {
                    let what = "the model reads rows as the columns of the file that it was trained on: POST them to \
                                /v1/models/NAME/decide";
                    return Err(Refusal::conflict(what));
                }
            },
            _ => return Ok(()),
        };
        let mut features = read(table, &self.schema.columns, x)?;
        // As on the command line, what is new is left out where there is no room for it.
        let most = match (&self.learner, self.most) {
            (AnyModel::Bandit(_), Some(_)) => usize::MAX,
            (AnyModel::Bandit(_), None) => self.encoder.columns(),
            (AnyModel::Full(_), _) => self.limits.columns.max(self.encoder.columns()),
        };
        if rows::needed(&self.schema.columns, &features, None).0 > most {
            let known = |(name, _): &(&str, f64)| self.schema.columns.index_of(name).is_some();
            let there = features.iter().filter(known).map(|(name, value)| (name, Some(value)));
            features = Flat::named(there.chain(features.missing().map(|name| (name, None))));
        }
        *place = Some(features);
        Ok(())
    }

    /// Reads rows as the model with `schema`, a table's, which this one is to shadow: with its columns.
    /// Fails if there is no room for the columns.
    pub(crate) fn read_as(&mut self, schema: &Schema) -> Result<(), Refusal> {
        if self.kind != RowKind::Columns {
            return Ok(());
        }
        let columns = schema.columns.count() as usize;
        if columns > self.encoder.columns() {
            self.grow(self.learner.problem().classes, columns)?;
        }
        if let Some(most) = &mut self.most {
            *most = columns.max(*most);
        }
        self.schema.columns.clone_from(&schema.columns);
        self.schema.csv.clone_from(&schema.csv);
        self.schema.missing.clone_from(&schema.missing);
        self.table = TableRows::of(&self.schema);
        Ok(())
    }

    /// The features of a row: `row`, what the model's table, or that of the model that this one shadows, has
    /// made of it.
    pub(super) fn features_of<'a>(&self, x: &Value, row: Option<&'a Flat>) -> Result<Cow<'a, Flat>, Refusal> {
        let Some(row) = row else {
            return Flat::of("x", x, &self.limits).map(Cow::Owned);
        };
        row.check("x", &self.limits)?;
        Ok(Cow::Borrowed(row))
    }
}

//! Room for new columns and labels: learners grow, and where a model of decisions has grown enough, new names
//! share its last columns by their hashes.

use std::sync::Arc;

use noregret::algorithm::AnyModel;
use noregret::learner::Classes;
use noregret::prediction::Decision;
use noregret::problem::Problem;
use noregret::registry;
use noregret_stream::Row;
use noregret_stream::encode::{Example, room_for};
use serde_json::{Value, json};

use super::engine::{Engine, check_forecast, check_scores};
use super::event::Event;
use super::flat::Flat;
use super::found::Ahead;
use super::rows;
use super::spec::{Feedback, RowKind};
use crate::refusal::Refusal;

impl Engine {
    /// The largest number of columns of a new model of decisions whose number of columns is not fixed by
    /// `params.features`: doubled as long as its learner can grow, within the limits on memory.
    pub(super) fn most_columns(&self) -> Option<usize> {
        let is_fixed = self.spec.params.get("features").is_some_and(|features| !features.is_null());
        let decides = matches!(self.learner, AnyModel::Bandit(_)) && self.spec.feedback == Feedback::Bandit;
        if is_fixed || self.kind != RowKind::Columns || !decides {
            return None;
        }
        let classes = self.learner.problem().classes;
        let mut most = self.encoder.columns();
        let first = self.bytes(classes, most);
        while 2 * most <= self.limits.columns {
            let bytes = self.bytes(classes, 2 * most);
            let allowed = first.saturating_add(self.limits.growth).min(self.limits.model_bytes);
            if bytes > allowed || !self.can_grow(classes, 2 * most) {
                break;
            }
            most *= 2;
        }
        Some(most)
    }

    /// The same for a model that was not made for it: rows in its log, for which it had room, must find their
    /// columns where they were.
    pub(super) fn more_columns(&self) -> Option<usize> {
        self.most_columns().filter(|most| *most >= 2 * self.encoder.columns())
    }

    /// Whether its learner could make room for so many labels and columns.
    pub(super) fn can_grow(&self, classes: usize, columns: usize) -> bool {
        let features = columns + usize::from(self.encoder.has_intercept());
        let (values, problem) = (self.learner.values(), self.learner.problem().clone());
        let entry = registry::find(self.learner_name());
        entry.and_then(|entry| entry.grows(&values, problem, classes, features)).unwrap_or(false)
    }

    /// The size of the learner's state with so many labels and columns, in bytes.
    pub(super) fn bytes(&self, classes: usize, columns: usize) -> usize {
        let Ok(entry) = registry::find(self.learner_name()) else { return usize::MAX };
        let features = columns + usize::from(self.encoder.has_intercept());
        let problem = Problem { classes, features, ..self.learner.problem().clone() };
        entry.numbers(&self.learner.values(), &problem).unwrap_or(usize::MAX).saturating_mul(8)
    }

    /// What is said of the columns: their number, to how many they grow, and how many of them are shared by
    /// all further names.
    pub(super) fn about_room(&self) -> Value {
        let (now, shared) = (self.encoder.columns(), rows::shared(&self.schema.columns));
        let most = match (&self.learner, self.most) {
            (_, Some(most)) => most,
            (AnyModel::Full(_), None) if self.kind == RowKind::Columns => self.limits.columns,
            _ => now,
        };
        let mut about = json!({"columns": now, "most": most, "shared": shared});
        if self.kind != RowKind::Columns {
            return about;
        }
        let name = self.learner_name();
        let (more_labels, more_columns) = *self.grows.get_or_init(|| self.growth());
        let mut notes = Vec::new();
        match &self.learner {
            AnyModel::Bandit(_) if self.most == Some(now) && shared == 0 => notes.push(format!(
                "{name} does not grow beyond {now} columns, and further names will share some of them; params.features makes a model with more"
            )),
            AnyModel::Full(_) if !more_columns => {
                about["most"] = now.into();
                notes.push(format!(
                    "{name} does not grow: rows that bring the columns to more than {now} are refused; params.features makes a model with more"
                ));
            }
            _ => {}
        }
        let classes = self.learner.problem().classes;
        if self.learner.about().accepts.classes != Classes::Real {
            about["most_labels"] = if more_labels { self.limits.labels } else { classes }.into();
        }
        match self.learner.about().accepts.classes {
            Classes::Two => notes.push(format!("{name} learns two labels only: a third one is refused")),
            Classes::Any if !more_labels => notes.push(format!(
                "{name} takes no more than {classes} labels: further ones are refused; params.classes makes a model with more"
            )),
            _ => {}
        }
        if !notes.is_empty() {
            about["note"] = notes.join("; ").into();
        }
        about
    }

    /// Whether the learner can take more labels, and more columns, than it has room for. Tried with a small
    /// one of its kind, as growing takes as long as the learner is large.
    fn growth(&self) -> (bool, bool) {
        let Ok(entry) = registry::find(self.learner_name()) else { return (false, false) };
        let (values, now) = (self.learner.values(), self.learner.problem());
        let from = |features: usize, classes: usize, columns: usize| {
            let problem = Problem { features, ..now.clone() };
            entry.grows(&values, problem, now.classes + classes, features + columns)
        };
        let grows = |classes: usize, columns: usize| {
            from(1, classes, columns).or_else(|_| from(now.features, classes, columns)).unwrap_or(false)
        };
        let may = matches!(self.learner, AnyModel::Full(_)) || entry.decides_among();
        (may && grows(1, 0), grows(0, 1))
    }

    /// Whether a feature may begin with a row: there is room for its columns, or the learner grows by them,
    /// none is shared, and the feature takes no place that a later name would be refused for.
    fn fits(&self, features: &Flat) -> bool {
        let (needed, shares) = rows::needed(&self.schema.columns, features, self.most);
        if shares || rows::shared(&self.schema.columns) > 0 {
            return false;
        }
        let is_open = match &self.learner {
            AnyModel::Full(_) => self.grows.get_or_init(|| self.growth()).1,
            AnyModel::Bandit(_) => self.most.is_some(),
        };
        let columns = room_for(self.encoder.columns(), needed).min(self.limits.columns);
        let can_be_kept = || self.bytes(self.learner.problem().classes, columns) <= self.limits.model_bytes;
        is_open && (needed <= self.encoder.columns() || (columns >= needed && can_be_kept()))
    }

    /// Adds to a new event the features that begin with it: those which say that a number is missing, for
    /// columns whose numbers are far from 0. They are part of the event, so that its log has the same effect
    /// on models that have learnt something else, and needs nothing but the events.
    pub(super) fn begin_features(&self, event: &mut Event) {
        if self.kind != RowKind::Columns || !self.encoder.fills_missing() {
            return;
        }
        let begun = match &*event {
            Event::Learn { row: Some(row), .. } | Event::Ask { row: Some(row), .. } => self.with_begun(row),
            Event::Learn { x, .. } | Event::Ask { x, .. } if has_holes(x) => {
                Flat::of("x", x, &self.limits).ok().and_then(|features| self.with_begun(&features))
            }
            Event::Decide(decide) => self.with_begun(decide.row.as_ref().unwrap_or(&decide.x)),
            _ => None,
        };
        match event {
            Event::Learn { row, .. } | Event::Ask { row, .. } if begun.is_some() => *row = begun,
            Event::Decide(decide) if begun.is_some() => decide.row = begun,
            _ => {}
        }
    }

    /// The features of a row with those that begin with it, if some do and the row is not refused for them.
    fn with_begun(&self, features: &Flat) -> Option<Flat> {
        let begun = rows::begun(&self.schema.columns, features, |column| self.encoder.lacks(column))?;
        (begun.check("x", &self.limits).is_ok() && self.fits(&begun)).then_some(begun)
    }

    /// Makes room for new features and for `labels` labels.
    pub(super) fn make_room(&mut self, features: &Flat, labels: usize) -> Result<(), Refusal> {
        let (needed, _) = rows::needed(&self.schema.columns, features, self.most);
        let columns = room_for(self.encoder.columns(), needed).min(self.limits.columns);
        // A limit may have been lowered since the model was made.
        let columns = columns.max(self.encoder.columns()).max(self.most.map_or(0, |most| most.min(needed)));
        let classes = self.learner.problem().classes.max(labels);
        if columns < needed {
            let what = format!(
                "the row brings the columns to {needed}; the limit is {} (--columns)",
                self.limits.columns
            );
            return Err(Refusal::invalid("x", what));
        }
        if (columns, classes) == (self.encoder.columns(), self.learner.problem().classes) {
            return Ok(());
        }
        if matches!(self.learner, AnyModel::Bandit(_)) && self.most.is_none() {
            let what = format!(
                "the row brings the columns to {needed}; the model has room for {}: make one with params.features",
                self.encoder.columns()
            );
            return Err(Refusal::invalid("x", what));
        }
        let name = self.learner_name();
        if self.bytes(classes, columns) > self.limits.model_bytes {
            let what = format!("{name} would take more than {} MiB", self.limits.model_bytes >> 20);
            return Err(Refusal::invalid("x", what));
        }
        self.check_before_growth(features)?;
        self.grow(classes, columns)
    }

    pub(super) fn grow(&mut self, classes: usize, columns: usize) -> Result<(), Refusal> {
        let before = (self.learner.clone(), self.waiting.clone());
        let old = self.encoder.features();
        let features = columns + usize::from(self.encoder.has_intercept());
        if !self.learner.grow(classes, features) {
            let what = format!(
                "{} cannot grow to {classes} labels and {columns} columns: make a model with labels and params.features",
                self.learner_name()
            );
            return Err(Refusal::invalid("x", what));
        }
        self.encoder.make_room(classes, columns);
        (self.decision, self.ahead) = (Decision::default(), Ahead::default());
        if let AnyModel::Full(learner) = &self.learner {
            self.prediction = learner.prediction();
        }
        for waits in self.waiting.values_mut() {
            let waits = Arc::make_mut(waits);
            waits.example.widen(old, features);
            waits.taken.widen(classes);
        }
        if let Some(noted) = &mut self.before {
            noted.grown.get_or_insert(before);
        }
        Ok(())
    }

    /// Refuses a row that would be refused after growth, too: growing and taking it back takes long.
    fn check_before_growth(&self, features: &Flat) -> Result<(), Refusal> {
        let (mut row, mut example) = (Row::new(), Example::default());
        rows::fill_known(&self.schema.columns, features, &mut row)?;
        self.encoder.transform_row(&row, &mut example).map_err(|what| Refusal::invalid("x", what))?;
        match &self.learner {
            AnyModel::Full(learner) => {
                let mut at = learner.prediction();
                learner.predict(example.features(), &mut at);
                check_forecast(&at, learner.about().forecast)
            }
            AnyModel::Bandit(learner) => {
                let mut taken = Decision::default();
                learner.predict(example.features(), &mut taken);
                check_scores(&taken)
            }
        }
    }
}

/// Whether something of a row is null, or an empty text.
fn has_holes(x: &Value) -> bool {
    match x {
        Value::Null => true,
        Value::String(text) => text.trim_ascii().is_empty(),
        Value::Array(list) => list.iter().any(has_holes),
        Value::Object(features) => features.values().any(has_holes),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

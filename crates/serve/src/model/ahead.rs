//! What the learner says of decisions that wait one behind the other, found on several threads before they
//! are made. A decision changes nothing that the forecast of the next one depends on, and a forecast is used
//! for the row and the state of the learner that it was made for: all bits are those of decisions one by one.

use std::sync::{Mutex, OnceLock};

use noregret::algorithm::AnyModel;
use noregret::prediction::Decision;
use noregret_stream::Row;
use noregret_stream::encode::Example;

use super::engine::Engine;
use super::event::Decide;
use super::rows;
use super::spec::RowKind;
use crate::locks::Unpoisoned;
use crate::threads;

/// A learner whose state has fewer bytes decides in less time than threads take to begin.
const LARGE: usize = 1 << 20;

impl Engine {
    /// Whether forecasts take so long that they should be found ahead.
    pub(crate) fn pays_to_look_ahead(&self) -> bool {
        *self.ahead.pays.get_or_init(|| {
            self.kind == RowKind::Columns
                && matches!(self.learner, AnyModel::Bandit(_))
                && self.table.is_none()
                && self.encoder.scales_when_learnt()
                && self.bytes(self.learner.problem().classes, self.encoder.columns()) >= LARGE
                && threads::shared().are_several()
        })
    }

    /// Finds what the learner says of `waiting`, which are decided one behind the other.
    pub(crate) fn look_ahead(&mut self, waiting: &[&Decide]) {
        if waiting.len() < 2 {
            return;
        }
        self.ahead.forget();
        // Encoding leaves traces, as those of a row that is refused.
        let (kept, mut row, mut examples) = (self.encoder.kept(), Row::new(), Vec::new());
        for decide in waiting {
            if decide.labels.is_some() || !decide.exclude.is_empty() || !decide.slots.is_empty() {
                continue;
            }
            row.clear();
            let (x, mut example) = (decide.row.as_ref().unwrap_or(&decide.x), Example::default());
            if rows::fill_known(&self.schema.columns, x, &mut row).is_ok()
                && self.encoder.encode_ahead(&row, &mut self.room, &mut example).is_ok()
            {
                examples.push(example);
            }
        }
        self.encoder.take_back(kept);
        let AnyModel::Bandit(learner) = &self.learner else { return };
        let offered = self.offering().by_default();
        let places: Vec<OnceLock<Decision>> = examples.iter().map(|_| OnceLock::new()).collect();
        let spare = Mutex::new(std::mem::take(&mut self.ahead.spare));
        threads::shared().each(examples.iter().zip(&places), |(example, place)| {
            let used = spare.lock().unpoisoned().pop();
            let mut taken = used.unwrap_or_default();
            if learner.decide(example.features(), offered.as_deref(), &mut taken) {
                // Nobody else has this place.
                let _ = place.set(taken.clone());
            }
            spare.lock().unpoisoned().push(taken);
        });
        let found = examples.into_iter().zip(places.into_iter().map(OnceLock::into_inner));
        self.ahead.found = found.filter_map(|(example, taken)| Some((example, taken?))).collect();
        self.ahead.spare = spare.into_inner().unpoisoned();
        self.ahead.offered = offered;
    }
}

//! What the learner says of decisions that wait one behind the other, found on several threads before they
//! are made. A decision changes nothing that the forecast of the next one depends on, and a forecast is used
//! for the row and the state of the learner that it was made for: all bits are those of decisions one by one.

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use noregret::algorithm::AnyModel;
use noregret::prediction::Decision;
use noregret_stream::Row;
use noregret_stream::encode::Example;

use super::engine::Engine;
use super::event::Decide;
use super::rows;
use super::spec::RowKind;

/// A learner whose state has fewer bytes decides in less time than a thread takes to start.
const LARGE: usize = 1 << 20;

/// Forecasts that were found ahead.
#[derive(Default)]
pub(super) struct Ahead {
    /// Whether it pays; found when it is asked for.
    pays: OnceLock<bool>,
    /// The labels on offer; `None` for all.
    offered: Option<Vec<u32>>,
    pub(super) found: Vec<(Example, Decision)>,
}

impl Ahead {
    /// The forecast for `example` among the labels `offered`, if it was found.
    pub(super) fn take(&mut self, example: &Example, offered: Option<&[u32]>) -> Option<Decision> {
        if self.offered.as_deref() != offered {
            return None;
        }
        let at = self.found.iter().position(|(known, _)| known.features() == example.features())?;
        Some(self.found.remove(at).1)
    }

    /// Forgets them, because the learner or its labels change.
    pub(super) fn forget(&mut self) {
        self.found.clear();
    }
}

impl Engine {
    /// Whether forecasts take so long that they should be found ahead.
    pub(crate) fn pays_to_look_ahead(&self) -> bool {
        *self.ahead.pays.get_or_init(|| {
            self.kind == RowKind::Columns
                && matches!(self.learner, AnyModel::Bandit(_))
                && self.table.is_none()
                && self.encoder.scales_when_learnt()
                && self.bytes(self.learner.problem().classes, self.encoder.columns()) >= LARGE
                && threads() > 1
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
        let next = AtomicUsize::new(0);
        let find = || {
            let mut taken = Decision::default();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let (Some(example), Some(place)) = (examples.get(at), places.get(at)) else { break };
                if learner.decide(example.features(), offered.as_deref(), &mut taken) {
                    // Nobody else has this place.
                    let _ = place.set(taken.clone());
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads().min(examples.len()) {
                // Where no thread can be started, this one finds all.
                let _ = thread::Builder::new().spawn_scoped(scope, find);
            }
            find();
        });
        let found = examples.into_iter().zip(places.into_iter().map(OnceLock::into_inner));
        self.ahead.found = found.filter_map(|(example, taken)| Some((example, taken?))).collect();
        self.ahead.offered = offered;
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

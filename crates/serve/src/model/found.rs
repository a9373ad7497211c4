//! What the learner was found to say of decisions that wait, until they are made; see
//! [`ahead`](super::ahead).

use std::sync::OnceLock;

use noregret::prediction::Decision;
use noregret_stream::encode::Example;

/// Forecasts that were found ahead.
#[derive(Default)]
pub(super) struct Ahead {
    /// Whether it pays; found when it is asked for.
    pub(super) pays: OnceLock<bool>,
    /// The labels on offer; `None` for all.
    pub(super) offered: Option<Vec<u32>>,
    pub(super) found: Vec<(Example, Decision)>,
    /// Buffers with the learner's scratch memory, one for each thread.
    pub(super) spare: Vec<Decision>,
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

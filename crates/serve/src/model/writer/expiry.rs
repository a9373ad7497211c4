//! The end of waiting times.

use std::time::Instant;

use super::Writer;
use crate::model::event::Event;

impl Writer {
    /// Ends the waiting times that are over. None runs out while nobody can answer, because the service was
    /// stopped or events were refused: what waits then waits for as long again.
    pub(super) fn expire(&mut self, begun: &mut bool) {
        const AT_ONCE: usize = 1000;
        if self.failure().is_some() || self.shared.unwritable().is_some() || !self.store.leads() {
            self.takes = None;
            return;
        }
        let last = self.engine.standing.at;
        let (since, last) = *self.takes.get_or_insert_with(|| (Instant::now(), last));
        let wait = self.engine.spec.service.wait_seconds.unwrap_or_default();
        let at = if since.elapsed().as_secs_f64() < wait { last } else { self.at() };
        let ids = self.engine.overdue(at, AT_ONCE);
        if !ids.is_empty()
            && let Err(refusal) = self.one(Event::Expire { ids }, begun)
            && self.shared.unwritable().is_none()
        {
            tracing::error!(model = %self.name, "decisions could not be expired: {refusal}");
        }
    }
}

//! What another node has written of the model is applied here, so that this node can answer, and take over.

use std::sync::atomic::Ordering;

use noregret_stream::Fault;

use super::Writer;
use crate::locks::Unpoisoned;
use crate::model::event::{Event, Outcome};
use crate::nodes::Line;

impl Writer {
    /// Whether a model that rests should wake to learn what another node has written: catching up would take
    /// long when somebody asks.
    pub(super) fn is_far_behind(&self) -> bool {
        let here = self.shared.committed.load(Ordering::Acquire);
        self.store.is_behind(here + self.limits.snapshot_every)
    }

    /// Applies what another node has written: all of it before this node changes the model, otherwise a part,
    /// so that forecasts do not wait.
    pub(super) fn keep_up(&mut self) {
        while self.failure().is_none() && self.store.is_behind(self.engine.standing.seq) {
            let done = self.apply_page();
            if let Err(what) = &done
                && !self.unread
            {
                tracing::error!(model = %self.name, "what another node has written cannot be read: {what}");
            }
            self.unread = done.is_err();
            if self.unread || !self.store.leads() {
                return;
            }
        }
    }

    /// Applies the next events; where that does not give what the other node had, the state is recovered from
    /// the disk, which has them by then.
    fn apply_page(&mut self) -> Result<(), Fault> {
        let Some(lines) = self.store.take_page(self.engine.standing.seq)? else { return Ok(()) };
        if !lines.iter().all(|line| self.applies(line)) {
            self.reload();
            return Ok(());
        }
        *self.shared.spec.write().unpoisoned() = self.engine.spec.clone();
        // In this order: who sees that the events are here, sees what a shadow has followed of them.
        self.shared.followed.store(self.engine.standing.followed, Ordering::Release);
        self.shared.committed.store(self.engine.standing.seq, Ordering::Release);
        Ok(())
    }

    /// Applies the event of `line`; false if it is not the next one, or has another outcome here.
    fn applies(&mut self, line: &Line) -> bool {
        let outcome = match &line.outcome {
            Some(text) => serde_json::from_str(text),
            None => Ok(Outcome::default()),
        };
        let (Ok(event), Ok(outcome)) = (serde_json::from_str::<Event>(&line.body), outcome) else {
            return false;
        };
        line.seq == self.engine.standing.seq + 1
            && self.engine.apply(line.at, &event).is_ok_and(|(_, again)| again == outcome)
    }
}

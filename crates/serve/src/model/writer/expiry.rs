//! The end of waiting times.

use std::time::{Duration, Instant};

use super::Writer;
use crate::model::event::Event;

/// By how many milliseconds a clock is ahead that was set, and not only read late.
const JUMP: i64 = 1000;

/// Where a clock was set ahead to `now`, what it would say without that, `passed` after it said `before`.
fn set_ahead(before: i64, passed: Duration, now: i64) -> Option<i64> {
    let steady = before.saturating_add(passed.as_millis() as i64);
    (now > steady.saturating_add(JUMP)).then_some(steady)
}

impl Writer {
    /// Ends the waiting times that are over. None runs out while nobody can answer, because the service was
    /// stopped, the machine slept or events were refused, and none because the clock is set ahead: what waits
    /// then waits for as long again.
    pub(super) fn expire(&mut self, begun: &mut bool) {
        const AT_ONCE: usize = 1000;
        if self.failure().is_some() || self.shared.unwritable().is_some() || !self.store.leads() {
            self.takes = None;
            return;
        }
        let (now, last) = (self.at(), self.engine.standing.at);
        let wait = self.engine.spec.service.wait_seconds.unwrap_or_default();
        let is_early = |since: Instant| since.elapsed().as_secs_f64() < wait;
        let looked = self.looked.replace((now, Instant::now()));
        let steady = looked.and_then(|(before, at)| set_ahead(before, at.elapsed(), now));
        let (since, last) = match (self.takes, steady) {
            (None, _) => (Instant::now(), last),
            (Some((since, last)), Some(_)) if is_early(since) => (Instant::now(), last),
            (Some(_), Some(steady)) => (Instant::now(), steady),
            (Some(takes), None) => takes,
        };
        self.takes = Some((since, last));
        let at = if is_early(since) { last } else { now };
        let ids = self.engine.overdue(at, AT_ONCE);
        if !ids.is_empty()
            && let Err(refusal) = self.one(Event::Expire { ids }, begun)
            && self.shared.unwritable().is_none()
        {
            tracing::error!(model = %self.name, "decisions could not be expired: {refusal}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::model::engine::Engine;
    use crate::model::held::Held;
    use crate::model::shared::Shared;
    use crate::model::spec::Spec;
    use crate::safety::limits::Limits;
    use crate::store::Store;

    const YEAR: i64 = 31_536_000_000;

    /// A new model in `folder`, whose decisions wait for a second.
    fn impatient(folder: &Path) -> Writer {
        let limits = Limits::default();
        let spec = json!({
            "feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"], "service": {"wait_seconds": 1},
        });
        let spec: Spec = serde_json::from_value(spec).expect("a spec");
        let engine = Engine::new(spec, &limits).expect("a model");
        let store = Store::create(folder, true, engine.spec(), 0, &engine.snapshot(), "").expect("a store");
        let shared = Shared::new(engine.seen(), engine.spec().clone(), 0, 0);
        Writer::new("m", Held::new(engine), store, &limits, shared, 0)
    }

    fn decision() -> Event {
        Event::Decide(serde_json::from_value(json!({"x": {"v": 1}, "id": "d"})).expect("a question"))
    }

    /// A decision that was made before the clock is set ahead by a year waits on, and for no longer than as
    /// long again.
    #[test]
    fn a_clock_that_is_set_ahead_ends_no_waiting_time() {
        let temporary = tempfile::tempdir().expect("a folder");
        let (mut writer, mut begun) = (impatient(&temporary.path().join("m")), false);
        // In the first second nothing ends, whatever the clock says.
        writer.expire(&mut begun);
        std::thread::sleep(Duration::from_millis(1100));
        writer.one(decision(), &mut begun).expect("decided");
        writer.expire(&mut begun);
        writer.started.0 += YEAR;
        writer.expire(&mut begun);
        assert_eq!(writer.engine.waiting.len(), 1, "a year has not passed");
        std::thread::sleep(Duration::from_millis(1100));
        writer.expire(&mut begun);
        assert_eq!(writer.engine.waiting.len(), 0);
    }

    /// Where a decision was made while the clock was a year ahead, its waiting time ends all the same.
    #[test]
    fn a_clock_that_is_set_back_stops_no_time() {
        let temporary = tempfile::tempdir().expect("a folder");
        let (mut writer, mut begun) = (impatient(&temporary.path().join("m")), false);
        let right = writer.started;
        writer.started.0 += YEAR;
        writer.one(decision(), &mut begun).expect("decided");
        writer.started = right;
        writer.expire(&mut begun);
        assert_eq!(writer.engine.waiting.len(), 1);
        std::thread::sleep(Duration::from_millis(1100));
        writer.expire(&mut begun);
        assert_eq!(writer.engine.waiting.len(), 0);
    }
}

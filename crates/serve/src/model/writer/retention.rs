//! How long a log may grow: `retain_days` and `retain_mib`.

use std::time::Duration;

use noregret_stream::Fault;

use super::Writer;
use crate::model::shared::now;

/// The longest time after a start for which nothing is deleted by age: a clock that is wrong when the machine
/// starts is set in that time.
const HOLD: Duration = Duration::from_secs(3600);

/// The present by which entries are old: the clock, or where that was set ahead since the start, the time
/// `began` of the start and what has passed `since` by a monotonic clock. By a clock that jumps a year ahead,
/// every entry would be too old at once.
fn present(clock: i64, began: i64, since: Duration) -> i64 {
    clock.min(began.saturating_add(since.as_millis() as i64))
}

/// The last of the `marks` that is older than `kept` milliseconds; none shortly after a start.
fn too_old(marks: &[(u64, i64)], present: i64, kept: i64, since: Duration) -> Option<usize> {
    let hold = HOLD.min(Duration::from_millis(kept as u64 / 8));
    if since < hold {
        return None;
    }
    marks.iter().rposition(|mark| mark.1 <= present - kept)
}

impl Writer {
    /// Marks the present event if that is due, and begins the log at the last mark before which all is too
    /// old or too much.
    pub(super) fn shorten(&mut self, days: Option<f64>, mib: Option<f64>) -> Result<(), Fault> {
        let (seq, at) = (self.engine.standing.seq, self.at());
        let (mut over, mut due) = (None, false);
        if let Some(days) = days {
            let kept = ((days * 86_400_000.0) as i64).max(8);
            let since = self.started.1.elapsed();
            over = too_old(&self.marks, present(now(), self.started.0, since), kept, since);
            due = self.marks.last().is_none_or(|last| at - last.1 >= kept / 8);
        }
        let most = mib.map(|mib| (mib * 1_048_576.0) as u64);
        let mut size = None;
        if let Some(most) = most {
            let now = self.store.size()?;
            self.marked = self.marked.min(now);
            if now >= self.marked + most / 8 {
                (due, size) = (true, Some((now, most)));
            }
        }
        if due && self.marks.last().is_none_or(|last| last.0 < seq) {
            let archive = self.engine.archive();
            let header = crate::model::log::header(&self.engine, Some(archive.digest()))?;
            self.store.mark(seq, at, &header, &self.engine.snapshot())?;
            self.marks.push((seq, at));
        }
        if let Some((now, most)) = size {
            self.marked = now;
            // What is deleted leaves the size in the ticks that follow.
            if now > most && !self.store.is_forgetting()? {
                over = over.max(self.over_by_size(most)?);
            }
        }
        if let Some(over) = over {
            self.store.begin_at_mark(self.marks[over].0)?;
            self.marks.drain(..=over);
        }
        self.store.forget_some()
    }

    /// The mark behind which no more than `most` bytes of the log are, and at least half as much: a log that
    /// is given a limit when it is too long already stays until it has grown.
    fn over_by_size(&self, most: u64) -> Result<Option<usize>, Fault> {
        for (at, mark) in self.marks.iter().enumerate() {
            let behind = self.store.bytes_after(mark.0)?;
            if behind <= most {
                return Ok((behind >= most / 2).then_some(at));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    fn after(days: i64) -> Duration {
        Duration::from_millis((days * DAY) as u64)
    }

    /// A clock that is set a year ahead while the service runs makes nothing older; a service that goes on
    /// forgets as time passes.
    #[test]
    fn a_clock_that_jumps_ahead_deletes_nothing_that_is_young() {
        let marks = [(10, 0), (20, 4 * DAY), (30, 8 * DAY)];
        let old =
            |clock: i64, days: i64| too_old(&marks, present(clock, 0, after(days)), 30 * DAY, after(days));
        assert_eq!(old(9 * DAY + 365 * DAY, 9), None);
        assert_eq!(old(31 * DAY, 31), Some(0));
        assert_eq!(old(34 * DAY, 34), Some(1));
        assert_eq!(old(365 * DAY, 34), Some(1));
    }

    /// A clock that is wrong at the start may be set right before anything is deleted by it.
    #[test]
    fn a_clock_that_is_wrong_at_the_start_can_be_set() {
        let (marks, ahead) = ([(10, 0), (20, 4 * DAY)], 400 * DAY);
        let old =
            |clock: i64, since: Duration| too_old(&marks, present(clock, ahead, since), 30 * DAY, since);
        assert_eq!(old(ahead, Duration::from_secs(60)), None);
        assert_eq!(old(9 * DAY, 2 * HOLD), None);
        assert_eq!(old(ahead, HOLD), Some(1));
        // Of a log that is kept for a second, an eighth of one.
        assert_eq!(too_old(&marks, 5 * DAY, 1000, Duration::from_millis(124)), None);
        assert_eq!(too_old(&marks, 5 * DAY, 1000, Duration::from_millis(125)), Some(1));
    }
}

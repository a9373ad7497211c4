//! How long a log may grow: `retain_days` and `retain_mib`.

use noregret_stream::Fault;

use super::Writer;

impl Writer {
    /// Marks the present event if that is due, and begins the log at the last mark before which all is too
    /// old or too much.
    pub(super) fn shorten(&mut self, days: Option<f64>, mib: Option<f64>) -> Result<(), Fault> {
        let (seq, at) = (self.engine.standing.seq, self.at());
        let (mut over, mut due) = (None, false);
        if let Some(days) = days {
            let kept = ((days * 86_400_000.0) as i64).max(8);
            over = self.marks.iter().rposition(|mark| mark.1 <= at - kept);
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

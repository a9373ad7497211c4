//! `--checkpoint EVERY` and `--skip ROWS`: saving during a run, and continuing it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use noregret_stream::encode::examples::{Pause, ReadExamples};
use noregret_stream::{Fault, Stop, fault};

/// The interval of checkpoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Every {
    Rows(u64),
    Seconds(f64),
}

impl FromStr for Every {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let every = match text.strip_suffix('s') {
            Some(seconds) => {
                let positive = |seconds: &f64| seconds.is_finite() && *seconds > 0.0;
                seconds.parse().ok().filter(positive).map(Every::Seconds)
            }
            None => text.parse().ok().filter(|rows| *rows > 0).map(Every::Rows),
        };
        every.ok_or_else(|| fault!("{text:?} is neither a number of rows, as 10000, nor of seconds, as 30s"))
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Every::Rows(rows) => write!(f, "{rows}"),
            Every::Seconds(seconds) => write!(f, "{seconds}s"),
        }
    }
}

/// Number of rows to skip, which were learnt before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    Rows(u64),
    /// The number of rows read for the model.
    Seen,
}

impl FromStr for Skip {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        if text == "seen" {
            return Ok(Skip::Seen);
        }
        text.parse().map(Skip::Rows).map_err(|_| fault!("{text:?} is neither a number of rows nor seen"))
    }
}

/// The segments of a run, after each of which it can be saved or end. Results do not depend on the
/// segments.
pub(crate) struct Segments {
    stop: Stop,
    every: Option<Every>,
    /// Number of rows announced to the learner together: segments end after such a block, for
    /// speed.
    block: u64,
    /// Number of rows of the block so far.
    into: u64,
    left: Option<u64>,
    /// Rows left in the current segment.
    length: Option<u64>,
    started: Instant,
    /// Time of the next checkpoint, in milliseconds after the start.
    due: Arc<AtomicU64>,
}

/// The action after a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Save and continue.
    Save,
    /// End.
    Over,
}

impl Segments {
    /// Segments of a run over `examples`, of at most `limit` rows, which ends when `stop` is
    /// requested.
    pub(crate) fn new(
        examples: &mut ReadExamples,
        stop: &Stop,
        every: Option<Every>,
        (block, into): (u64, u64),
        limit: Option<u64>,
    ) -> Self {
        let (started, due) = (Instant::now(), Arc::new(AtomicU64::new(u64::MAX)));
        let segments =
            Self { stop: stop.clone(), every, block, into, left: limit, length: None, started, due };
        let (stop, due, timed) =
            (stop.clone(), Arc::clone(&segments.due), matches!(every, Some(Every::Seconds(_))));
        let late = move || timed && started.elapsed().as_millis() as u64 >= due.load(Ordering::Relaxed);
        // The next row of a file does not keep the run waiting, as that of a pipe may. Asking for each of
        // them took 4 % of the time of `ogd` on covtype.
        let blocks = if examples.reader.size().is_some() { 64u64.div_ceil(block) } else { 1 };
        let asked = Box::new(move || stop.asked().is_some() || late());
        examples.pause_by(Pause { every: blocks * block, asked });
        segments
    }

    fn set_due(&self) {
        if let Some(Every::Seconds(seconds)) = self.every {
            let due = self.started.elapsed().as_secs_f64() + seconds;
            self.due.store((1000.0 * due) as u64, Ordering::Relaxed);
        }
    }

    /// Largest number of rows of the next segment.
    pub(crate) fn begin(&mut self) -> Option<u64> {
        // From the end of the last save: one that takes longer than the interval would be followed by the
        // next at once, and the run would learn nothing.
        self.set_due();
        let whole = match self.every {
            Some(Every::Rows(rows)) => {
                let whole = rows.saturating_add(self.into).div_ceil(self.block).saturating_mul(self.block);
                Some(whole - self.into)
            }
            _ => None,
        };
        self.length = match (whole, self.left) {
            (Some(rows), Some(left)) => Some(rows.min(left)),
            (rows, left) => rows.or(left),
        };
        self.length
    }

    /// Ends a segment that had `rows` rows.
    pub(crate) fn end(&mut self, rows: u64, examples: &mut ReadExamples) -> Next {
        self.left = self.left.map(|left| left.saturating_sub(rows));
        self.into = (self.into + rows) % self.block;
        let paused = examples.take_paused();
        let full = matches!(self.every, Some(Every::Rows(_))) && self.length == Some(rows);
        if self.stop.asked().is_some() || self.left == Some(0) || !(paused || full) {
            return Next::Over;
        }
        Next::Save
    }
}

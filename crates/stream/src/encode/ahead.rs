//! Encodes examples ahead of their use, on a separate thread.

use std::sync::mpsc::sync_channel;
use std::thread::{Builder, scope};

use crate::ahead::{Supply, exchange, several_cores};
use crate::encode::example::Example;
use crate::encode::examples::{Examples, ReadExamples};
use crate::read::error::ReadError;

/// Batches that are made ahead.
const BATCHES: usize = 2;
/// A batch has at most this many rows,
const ROWS: usize = 1024;
/// and no further row when it has this many numbers.
const NUMBERS: usize = 64 * 1024;

#[derive(Default)]
struct Batch {
    examples: Vec<Example>,
    filled: usize,
    /// The result after the last example.
    error: Option<ReadError>,
}

impl ReadExamples {
    /// Calls `work` with a source of at most `limit` examples (all if `None`). Examples of a file
    /// are encoded ahead on another thread, if there is more than one core. `work` gets the same
    /// examples, but [`Examples::raw`] returns `None`.
    ///
    /// If `work` does not draw all examples, classes and scaling may include rows that it has not
    /// drawn.
    pub fn ahead<T>(&mut self, limit: Option<u64>, work: impl FnOnce(&mut dyn Examples) -> T) -> T {
        // The program that writes to a pipe may wait for each answer.
        if self.reader.size().is_none() || !several_cores() {
            return work(self);
        }
        scope(|scope| {
            // Sent after the thread has started, so that they are still here if it cannot start.
            let (start, started) = sync_channel::<&mut ReadExamples>(1);
            let (maker, supply) = exchange::<Batch>(BATCHES);
            let thread = Builder::new().name("encode".to_owned()).spawn_scoped(scope, move || {
                let Ok(examples) = started.recv() else { return };
                let mut left = limit.unwrap_or(u64::MAX);
                maker.work(|batch| examples.fill(batch, &mut left));
            });
            if thread.is_err() {
                return work(self);
            }
            start.send(self).expect("the thread waits for it");
            work(&mut Drawn { supply, batch: Batch::default(), at: 0 })
        })
    }

    /// Makes the next examples, `left` at most. Returns false if none can follow.
    fn fill(&mut self, batch: &mut Batch, left: &mut u64) -> bool {
        let mut numbers = 0;
        batch.filled = 0;
        while batch.filled < ROWS && numbers < NUMBERS {
            if *left == 0 {
                return false;
            }
            if batch.filled == batch.examples.len() {
                batch.examples.push(Example::default());
            }
            let example = &mut batch.examples[batch.filled];
            match self.next(example) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    batch.error = Some(error);
                    return false;
                }
            }
            numbers += example.features().values().len();
            batch.filled += 1;
            *left -= 1;
        }
        true
    }
}

/// The source that `work` draws from.
struct Drawn {
    supply: Supply<Batch>,
    batch: Batch,
    /// The next example of the batch.
    at: usize,
}

impl Examples for Drawn {
    fn next(&mut self, out: &mut Example) -> Result<bool, ReadError> {
        loop {
            if self.at < self.batch.filled {
                std::mem::swap(out, &mut self.batch.examples[self.at]);
                self.at += 1;
                return Ok(true);
            }
            if let Some(error) = self.batch.error.take() {
                return Err(error);
            }
            if !self.supply.next(&mut self.batch) {
                return Ok(false);
            }
            self.at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use noregret::learner::{Accepts, Classes};

    use super::*;
    use crate::encode::encoder::Encoder;
    use crate::encode::examples::BadRows;
    use crate::encode::scale::{Scaler, Scaling};
    use crate::read::options::ReadOptions;

    fn examples(path: &str, bad_rows: BadRows) -> ReadExamples {
        let accepts = Accepts { classes: Classes::Any, soft_labels: false, weights: true, plain: true };
        let encoder = Encoder::new(40, accepts)
            .with_labels(["0", "1", "2"].into_iter().collect(), 3)
            .with_scaler(Scaler::new(Scaling::Standard))
            .with_intercept(true)
            .with_radius(Some(7.0));
        let reader = crate::read::open::open(path, &ReadOptions::default()).expect("a file");
        ReadExamples::new(reader, encoder, path, bad_rows)
    }

    /// At most `limit` examples of `examples`, and the result after the last one.
    fn drawn(examples: &mut dyn Examples, limit: Option<u64>) -> Vec<String> {
        let (mut seen, mut example) = (vec![], Example::default());
        while limit != Some(seen.len() as u64) {
            match examples.next(&mut example) {
                Ok(true) => seen.push(format!("{:?} {:?}", example.target(), example.features())),
                Ok(false) => {
                    assert!(!examples.next(&mut example).expect("the end stays the end"));
                    break;
                }
                Err(error) => {
                    seen.push(error.to_string());
                    break;
                }
            }
        }
        seen
    }

    #[test]
    fn examples_made_ahead_are_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.svm");
        let line = |t: u32| match t {
            2000 => "1 2:x\n".to_owned(),
            3000 => "4 2:1\n".to_owned(),
            _ => format!("{} {}:{}.5 40:{t}\n", t % 3, t % 39 + 1, t / 7),
        };
        std::fs::write(&path, (0..5000).map(line).collect::<String>()).expect("room");
        let path = path.to_str().expect("a plain name");
        for (bad_rows, limit, count) in [
            (BadRows::Skip, None, 4998),
            (BadRows::Skip, Some(1), 1),
            (BadRows::Skip, Some(2500), 2500),
            (BadRows::AtMost(1), None, 3000),
            (BadRows::Fail, None, 2001),
            (BadRows::Fail, Some(2000), 2000),
        ] {
            let (mut plain, mut early) = (examples(path, bad_rows), examples(path, bad_rows));
            let seen = drawn(&mut plain, limit);
            assert_eq!(seen.len(), count, "{bad_rows} {limit:?}");
            assert!(early.ahead(limit, |examples| drawn(examples, limit)) == seen, "{bad_rows} {limit:?}");
            assert_eq!(early.encoder.scaler(), plain.encoder.scaler());
            assert_eq!(early.encoder.large_rows(), plain.encoder.large_rows());
            assert_eq!(early.bad_rows(), plain.bad_rows());
            assert_eq!(early.first_bad_row(), plain.first_bad_row());
        }
    }

    #[test]
    fn work_may_end_at_any_example() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.svm");
        std::fs::write(&path, "1 1:1\n".repeat(20_000)).expect("room");
        for count in [0, 1, 1025, 9000] {
            let mut examples = examples(path.to_str().expect("a plain name"), BadRows::Fail);
            let seen = examples.ahead(None, |examples| drawn(examples, Some(count)).len());
            assert_eq!(seen as u64, count);
        }
    }
}

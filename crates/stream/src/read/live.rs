//! Pipes whose writer may be waiting: read without waiting for full buffers, and interruptible.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A request to stop a run, with the number of a signal. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// The signal that requested the stop, if any.
    pub fn asked(&self) -> Option<usize> {
        Some(self.0.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
    }

    /// Where a signal's number, which is not 0, is written to request it.
    pub fn flag(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }
}

/// Tests whether a pipe has been silent for a while.
pub(crate) type Silence = Box<dyn FnMut() -> bool + Send>;

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::fd::AsFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    use super::{Silence, Stop};

    /// Silence after which a pipe's writer is assumed to be waiting.
    const SILENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
    /// Interval at which a waiting reader tests for a stop.
    const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

    /// Whether there is something to read, or the end is reached, within `time`.
    fn wait(file: &File, time: &Timespec) -> io::Result<bool> {
        let mut files = [PollFd::new(file, PollFlags::IN)];
        match poll(&mut files, Some(time)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) struct Pipe {
        pub(super) file: File,
        pub(super) stop: Stop,
    }

    impl Read for Pipe {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            loop {
                if self.stop.asked().is_some() {
                    return Err(io::Error::other("the run is to stop"));
                }
                if wait(&self.file, &LOOK)? {
                    return self.file.read(out);
                }
            }
        }
    }

    /// Standard input itself, without a buffer in between.
    pub(super) fn stdin() -> io::Result<File> {
        Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
    }

    pub(super) fn silence(file: &File) -> io::Result<Silence> {
        let file = file.try_clone()?;
        Ok(Box::new(move || wait(&file, &SILENCE).is_ok_and(|ready| !ready)))
    }
}

/// A pipe whose reading fails when `stop` is requested, and a test for its silence.
#[cfg(unix)]
pub(crate) fn pipe(file: std::fs::File, stop: &Stop) -> io::Result<(Box<dyn Read + Send>, Option<Silence>)> {
    let silence = unix::silence(&file)?;
    Ok((Box::new(unix::Pipe { file, stop: stop.clone() }), Some(silence)))
}

/// Standard input; if it is a pipe, as [`pipe`].
#[cfg(unix)]
pub(crate) fn stdin(stop: &Stop) -> io::Result<(Box<dyn Read + Send>, Option<Silence>)> {
    pipe(unix::stdin()?, stop)
}

/// A pipe, not interruptible.
#[cfg(not(unix))]
pub(crate) fn pipe(file: std::fs::File, _: &Stop) -> io::Result<(Box<dyn Read + Send>, Option<Silence>)> {
    Ok((Box::new(file), None))
}

/// Standard input, not interruptible.
#[cfg(not(unix))]
pub(crate) fn stdin(_: &Stop) -> io::Result<(Box<dyn Read + Send>, Option<Silence>)> {
    Ok((Box::new(io::stdin()), None))
}

//! Evaluations, which may take longer than a request should wait: they go on, and the same request again has
//! the result.

use std::future::Future;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::locks::Unpoisoned;
use crate::refusal::Refusal;
use crate::turns;

/// How long a request waits.
pub(crate) const LONGEST: Duration = Duration::from_secs(8);

/// How long a result is kept for the next request, if one has waited in vain.
const KEPT: Duration = Duration::from_secs(60);

/// The largest number of evaluations at a time.
const MOST: usize = 8;

/// The result, and when it came.
type Done<T> = Option<(Instant, Result<T, Refusal>)>;

/// The evaluations of a model that go on.
pub(crate) struct Continued<T>(Mutex<Vec<Begun<T>>>);

struct Begun<T> {
    asked: String,
    done: watch::Receiver<Done<T>>,
    /// Whether a request has waited in vain.
    in_vain: bool,
}

impl<T> Begun<T> {
    /// Whether another request may have the result.
    fn is_open(&self) -> bool {
        match &*self.done.borrow() {
            Some((at, _)) => self.in_vain && at.elapsed() < KEPT,
            // Otherwise it was interrupted.
            None => self.done.has_changed().is_ok(),
        }
    }
}

impl<T> Default for Continued<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T: Clone + Send + Sync + 'static> Continued<T> {
    /// The result of `work` for the request `asked`, or of the work that was begun for the same request.
    /// Fails as the work does, and with 503 if it takes more than `longest`, or too much other work goes on.
    pub(crate) async fn answer(
        &self,
        asked: String,
        work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
        longest: Duration,
    ) -> Result<T, Refusal> {
        // Threads that take turns do their work themselves.
        if turns::here() {
            return work.await;
        }
        let mut done = self.begin(asked, work)?;
        let found = match tokio::time::timeout(longest, done.wait_for(|done| done.is_some())).await {
            Ok(Ok(found)) => found.as_ref().map(|(_, result)| result.clone()),
            Ok(Err(_)) => Some(Err(Refusal::failed("the work was interrupted"))),
            Err(_) => None,
        };
        let mut begun = self.begun();
        let Some(result) = found else {
            let own = begun.iter_mut().filter(|begun| begun.done.same_channel(&done));
            own.for_each(|begun| begun.in_vain = true);
            return Err(Refusal::busy(format!(
                "the evaluation takes more than {} seconds and goes on; ask the same again for its result, which is kept for {}",
                longest.as_secs(),
                KEPT.as_secs()
            )));
        };
        begun.retain(|begun| !begun.done.same_channel(&done));
        result
    }

    fn begin(
        &self,
        asked: String,
        work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> Result<watch::Receiver<Done<T>>, Refusal> {
        let mut begun = self.begun();
        begun.retain(Begun::is_open);
        if let Some(same) = begun.iter().find(|begun| begun.asked == asked) {
            return Ok(same.done.clone());
        }
        if begun.len() >= MOST {
            return Err(Refusal::busy(format!("{MOST} evaluations of the model go on already; ask again")));
        }
        let (sender, done) = watch::channel(None);
        begun.push(Begun { asked, done: done.clone(), in_vain: false });
        tokio::spawn(async move {
            let result = work.await;
            sender.send_replace(Some((Instant::now(), result)));
        });
        Ok(done)
    }

    fn begun(&self) -> MutexGuard<'_, Vec<Begun<T>>> {
        self.0.lock().unpoisoned()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_goes_on_for_the_next_request() {
        let (evaluations, long) = (Continued::default(), Duration::from_secs(600));
        let (sender, receiver) = oneshot::channel::<u64>();
        let work = async move { receiver.await.map_err(|_| Refusal::failed("it was dropped")) };
        let refused = evaluations.answer("a".to_owned(), work, Duration::from_millis(1)).await;
        let refused = refused.expect_err("it goes on");
        assert_eq!((refused.status, refused.retry_after), (503, Some(1)));
        assert!(refused.detail.contains("ask the same again for its result"), "{refused}");
        assert_eq!(evaluations.answer("b".to_owned(), async { Ok(2) }, long).await, Ok(2));
        sender.send(1).expect("the work goes on");
        let again = async { Err(Refusal::failed("it was begun again")) };
        assert_eq!(evaluations.answer("a".to_owned(), again, long).await, Ok(1));
        // Its result is not that of a later request.
        assert_eq!(evaluations.answer("a".to_owned(), async { Ok(3) }, long).await, Ok(3));
    }

    #[tokio::test]
    async fn evaluations_are_limited() {
        let (evaluations, short) = (Continued::<u64>::default(), Duration::from_millis(1));
        let mut statuses = Vec::new();
        for at in 0..=MOST {
            let refused = evaluations.answer(at.to_string(), std::future::pending(), short).await;
            statuses.push(refused.expect_err("it goes on").detail);
        }
        let last = statuses.pop().expect("one more");
        assert_eq!(last, "8 evaluations of the model go on already; ask again");
        assert!(statuses.iter().all(|detail| detail.contains("goes on")), "{statuses:?}");
    }
}

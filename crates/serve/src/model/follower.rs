//! Sends the events of a model to its shadow: a separate thread reads the model's log, so that
//! neither waits for the other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::event::Event;
use super::handle::Handle;
use crate::store::Tail;
use crate::turns;

/// Number of events sent at once.
const AT_ONCE: u32 = 256;
/// Interval at which the log is polled.
const PAUSE: Duration = Duration::from_millis(50);
/// Delay after a failure.
const LONG_PAUSE: Duration = Duration::from_secs(1);

/// Follows the model in the folder `live` until `shadow` is stopped.
/// Fails if the thread cannot be started.
pub(crate) fn follow(shadow: Arc<Handle>, live: PathBuf) -> std::io::Result<()> {
    let name = format!("shadow {}", shadow.name);
    turns::spawn(name, move || run(&shadow, &live)).map(drop)
}

fn run(shadow: &Handle, live: &std::path::Path) {
    let (mut tail, mut followed, mut said): (Option<Tail>, Option<u64>, _) = (None, None, false);
    while !shadow.is_ending() {
        if !shadow.takes_events() {
            followed = None;
            turns::pause(PAUSE);
            continue;
        }
        let seq = *followed.get_or_insert_with(|| shadow.followed());
        let read = match &tail {
            None => Tail::open(live).and_then(|tail| Ok((tail.after(seq, AT_ONCE)?, Some(tail)))),
            Some(open) => open.after(seq, AT_ONCE).map(|events| (events, None)),
        };
        let events = match read {
            Err(what) => {
                if !std::mem::replace(&mut said, true) {
                    tracing::error!(model = %shadow.name, "what it shadows cannot be read: {what}");
                }
                tail = None;
                turns::pause(LONG_PAUSE);
                continue;
            }
            Ok((events, opened)) => {
                opened.iter().for_each(|opened| say_if_ahead(shadow, opened, seq));
                tail = opened.or(tail);
                events
            }
        };
        let Some((last, ..)) = events.last() else {
            turns::pause(PAUSE);
            continue;
        };
        let last = *last;
        let told =
            |(seq, event, outcome)| Event::Followed { seq, of: Box::new(event), outcome: Box::new(outcome) };
        if shadow.tell(events.into_iter().map(told).collect()).is_err() {
            return;
        }
        followed = Some(last);
    }
}

/// Says that `shadow`, which has followed event `seq`, has learnt what the log of its model lacks: that is an
/// older copy.
fn say_if_ahead(shadow: &Handle, log: &Tail, seq: u64) {
    if let Ok(last) = log.last()
        && last < seq
    {
        tracing::error!(model = %shadow.name, "it has followed event {seq} of a log that ends at event {last} now, since an older one was put in its place; delete this shadow and make it again");
    }
}

//! The lease of a node: taken and renewed, or waited for, by a thread that lasts as long as the service.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Instant;

use noregret_stream::Fault;

use super::{Node, PAUSE};
use crate::app::App;

/// Takes the lease for the node of `app` and renews it, or follows the node that has it; from then on that is
/// done by a thread of its own.
/// Fails if the common log cannot be reached, or the thread cannot be started.
pub(crate) fn begin(app: &Arc<App>) -> Result<Option<JoinHandle<()>>, Fault> {
    let Some(node) = app.hub.node.clone() else { return Ok(None) };
    node.look(|leads| app.hub.keep_up(&node, leads))?;
    let app = Arc::clone(app);
    let thread = std::thread::Builder::new().name("node".to_owned());
    let started = thread.spawn(move || keep_up(&node, &app));
    started.map(Some).map_err(|error| format!("a thread for the lease cannot be started: {error}").into())
}

/// Renews the lease of `node`, or follows the node that has it, until `node` ends.
fn keep_up(node: &Node, app: &Arc<App>) {
    let (mut renewed, mut said) = (Instant::now(), false);
    while !node.ending.load(Ordering::Acquire) {
        let term = node.term();
        if term.is_none() || renewed.elapsed() >= node.lease / 3 {
            let done = match term {
                Some(term) => node.renew(term),
                None => node.look(|leads| app.hub.keep_up(node, leads)).and_then(|()| app.recover()),
            };
            match done {
                Ok(()) => (renewed, said) = (Instant::now(), false),
                Err(what) => {
                    if !said {
                        tracing::error!("the log that the nodes have in common cannot be used: {what}");
                    }
                    said = true;
                }
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Stops all models, and then ends the thread of [`begin`] and the lease.
pub(crate) fn stop(app: &App, thread: Option<JoinHandle<()>>) {
    // Meanwhile the lease is renewed.
    app.hub.stop();
    if let (Some(node), Some(thread)) = (&app.hub.node, thread) {
        node.ending.store(true, Ordering::Release);
        let _ = thread.join();
        node.leave();
    }
}

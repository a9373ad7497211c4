//! The handle of a running model: a bounded queue to the thread that owns it (`writer`), and what is seen of
//! it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use noregret::model::Archive;
use noregret_stream::Fault;
use serde_json::Value;
use tokio::sync::oneshot;

use super::continued::Continued;
use super::engine::{Answer, Engine, Forecasted};
use super::event::{Decide, Event};
use super::held::Held;
use super::reader::{Reader, Seen};
use super::rested::Rested;
use super::shared::{Command, Reply, Restored, Shared};
use super::spec::{RowKind, Service, Spec};
use super::worker::Worker;
use super::writer::Writer;
use crate::locks::Unpoisoned;
use crate::nodes::Node;
use crate::refusal::Refusal;
use crate::safety::limits::Limits;
use crate::store::{self, Store};
use crate::turns;

/// The handle of a running model.
pub(crate) struct Handle {
    pub(crate) name: String,
    pub(crate) kind: RowKind,
    pub(crate) folder: PathBuf,
    pub(crate) limits: Limits,
    queue: Sender<Command>,
    shared: Arc<Shared>,
    worker: Worker,
    /// Where nodes have a log in common: this node, and the number of the model there.
    common: Option<(Arc<Node>, i64)>,
    /// Evaluations of policies on its log.
    pub(crate) evaluations: Continued<Value>,
}

impl Handle {
    /// Starts the model on a separate thread. One that was recovered, and is not new, rests until it is
    /// asked.
    pub(crate) fn start(
        name: &str,
        is_new: bool,
        store: Store,
        engine: Engine,
        limits: &Limits,
    ) -> Result<Self, Fault> {
        let (queue, commands) = channel();
        let (seq, at, kind) = (engine.standing.seq, engine.standing.at, engine.kind);
        let ahead = store.newest_aside().saturating_sub(seq);
        let shared = Shared::new(engine.seen(), engine.spec().clone(), engine.standing.followed, ahead);
        let marks = store.marks()?;
        let saved = store.snapshots()?.last().copied().unwrap_or(0);
        let mut writer = Writer::new(name, Held::new(engine), store, limits, shared, at);
        (writer.marks, writer.saved) = (marks, saved);
        writer.asked = is_new.then(Instant::now);
        // Before anybody is answered.
        writer.renew();
        let start = |writer| Worker::start(writer, commands);
        Self::with(queue, writer, kind, start)
            .map_err(|error| format!("a thread for {name} cannot be started: {error}").into())
    }

    /// The model in `folder`, which rests, from what was said of it when it was put away: nothing else of it
    /// is read until it is asked. `None` where nothing was said, or its files have changed since.
    pub(crate) fn resting(name: &str, folder: &Path, limits: &Limits) -> Option<Self> {
        let rested = Rested::read(folder, limits)?;
        let (queue, commands) = channel();
        let (seq, at, kind, store) = (rested.seq, rested.at, rested.kind, Store::resting(folder));
        let ahead = store.newest_aside().saturating_sub(seq);
        let spec = rested.spec.clone();
        let shared = Shared::new(rested.seen(), spec, 0, ahead);
        shared.set_rests(true);
        let mut writer = Writer::new(name, Held::none(), store, limits, shared, at);
        writer.saved = seq;
        Self::with(queue, writer, kind, |writer| Ok(Worker::resting(writer, commands))).ok()
    }

    /// The handle of the model of `writer`, which `work` takes.
    fn with(
        queue: Sender<Command>,
        writer: Writer,
        kind: RowKind,
        work: impl FnOnce(Writer) -> io::Result<Worker>,
    ) -> io::Result<Self> {
        let (name, limits, shared) = (writer.name.clone(), writer.limits.clone(), Arc::clone(&writer.shared));
        let (folder, common) = (writer.store.folder().to_owned(), writer.store.common());
        let (worker, evaluations) = (work(writer)?, Continued::default());
        Ok(Self { name, kind, folder, limits, queue, shared, worker, common, evaluations })
    }

    /// Queues a command; `Ok(false)` if the queue is full.
    fn offer(&self, command: Command) -> Result<bool, Refusal> {
        turns::here();
        if let Some((node, _)) = self.common.as_ref().filter(|_| command.changes()) {
            node.check()?;
        }
        if let Some(what) = &*self.shared.failed.read().unpoisoned() {
            return Err(Refusal::failed(format!("the model {} is suspended: {what}", self.name)));
        }
        // Counted here: a channel with a bound takes the memory of all its places at once, in every model.
        let is_full = self.shared.waiting.fetch_add(1, Ordering::Relaxed) >= self.limits.queue as u64;
        if !is_full && self.queue.send(command).is_ok() {
            turns::here();
            return self.wake().map(|()| true).map_err(Refusal::failed);
        }
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        if is_full { Ok(false) } else { Err(self.stopped()) }
    }

    /// Lets the model take what was sent, if it rests and has no thread.
    fn wake(&self) -> Result<(), Fault> {
        let woken = self.worker.wake();
        woken.map_err(|error| format!("a thread for {} cannot be started: {error}", self.name).into())
    }

    fn send(&self, command: Command) -> Result<(), Refusal> {
        if self.offer(command)? {
            return Ok(());
        }
        let (most, name) = (self.limits.queue, &self.name);
        let what = format!("{most} requests wait for the model {name}, which is the limit (--queue)");
        Err(Refusal::busy(what))
    }

    fn stopped(&self) -> Refusal {
        Refusal::busy(format!("the model {} is being stopped", self.name))
    }

    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply))?;
        self.answered(answer).await
    }

    /// The answer to a command; where nodes have a log in common, that has to answer in time.
    pub(crate) async fn answered<T>(
        &self,
        answer: oneshot::Receiver<Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        let answer = async { answer.await.unwrap_or_else(|_| Err(self.stopped())) };
        match &self.common {
            Some((node, _)) => node.in_time(answer).await,
            None => answer.await,
        }
    }

    /// Applies `event`; answers when it is durable.
    pub(crate) async fn act(&self, event: Event) -> Result<Answer, Refusal> {
        self.ask(|reply| Command::Do(Box::new(event), reply)).await
    }

    /// Queues `event`, waiting for space in the queue; answered later.
    /// Fails if the model is suspended or has been stopped.
    pub(crate) async fn enqueue(
        &self,
        event: Event,
    ) -> Result<oneshot::Receiver<Result<Answer, Refusal>>, Refusal> {
        loop {
            let (reply, answer) = oneshot::channel();
            // Only a full queue is waited for: a model that has been stopped never takes the event.
            if self.offer(Command::Do(Box::new(event.clone()), reply))? {
                return Ok(answer);
            }
            turns::sleep(Duration::from_millis(2)).await;
        }
    }

    /// A read-only copy with all answered events; for models that take long to copy, it may be
    /// slightly older.
    pub(crate) async fn look(&self) -> Result<Arc<Reader>, Refusal> {
        let newest = |reader: &Reader| reader.seq >= self.shared.committed.load(Ordering::Acquire);
        match self.shared.look() {
            // Forecasts go on while a model is suspended.
            Some(reader) if newest(&reader) || self.may_be_old() || self.failure().is_some() => Ok(reader),
            _ => self.ask(Command::Look).await,
        }
    }

    /// The same, always with all answered events.
    pub(crate) async fn look_now(&self) -> Result<Arc<Reader>, Refusal> {
        match self.shared.look() {
            Some(reader) if reader.seq >= self.shared.committed.load(Ordering::Acquire) => Ok(reader),
            _ => self.ask(Command::Look).await,
        }
    }

    /// The forecast of `reader`. What an older copy refuses is asked of the newest, which may know a label
    /// or a feature by now.
    pub(crate) async fn forecast(&self, reader: &Reader, asked: &Decide) -> Result<Forecasted, Refusal> {
        match reader.predict(asked) {
            Err(_) if reader.seq < self.committed() => self.look_now().await?.predict(asked),
            done => done,
        }
    }

    /// What was last seen of the model.
    pub(crate) fn seen(&self) -> Arc<Seen> {
        Arc::clone(&self.shared.seen.read().unpoisoned())
    }

    /// The description of the model with all answered events, if it was last seen after them.
    pub(crate) fn known(&self) -> Option<Arc<Value>> {
        let last = self.seen();
        (last.seq >= self.committed() && !self.is_behind()).then(|| Arc::clone(&last.about))
    }

    /// The description of the model with all answered events; of a model that does not answer within a
    /// moment, or is suspended, that of the last copy.
    pub(crate) async fn describe(&self) -> Arc<Value> {
        const MOMENT: Duration = Duration::from_millis(250);
        if let Some(about) = self.known() {
            return about;
        }
        match tokio::time::timeout(MOMENT, self.ask(Command::Describe)).await {
            Ok(Ok(about)) => about,
            _ => Arc::clone(&self.seen().about),
        }
    }

    /// Its versions.
    pub(crate) fn versions(&self) -> Arc<Vec<u64>> {
        let read = || Arc::new(store::versions(&self.folder).unwrap_or_default());
        // Who wakes the model waits for this before its files change.
        let mut kept = self.shared.versions.lock().unpoisoned();
        if !self.rests() {
            drop(kept);
            return read();
        }
        Arc::clone(kept.get_or_insert_with(read))
    }

    /// Whether copying takes so long that the last copy is used again.
    fn may_be_old(&self) -> bool {
        const LONG: u64 = 20_000;
        let took = self.shared.took.load(Ordering::Relaxed);
        let age = self.shared.since_start().saturating_sub(self.shared.copied.load(Ordering::Relaxed));
        took > LONG && age < 20 * took
    }

    pub(crate) async fn save(&self) -> Result<u64, Refusal> {
        self.ask(Command::Save).await
    }

    pub(crate) async fn restore(&self, restored: Restored) -> Result<u64, Refusal> {
        self.ask(|reply| Command::Restore(Box::new(restored), reply)).await
    }

    pub(crate) async fn forget(&self) -> Result<(), Refusal> {
        self.ask(Command::Forget).await
    }

    pub(crate) async fn snapshot(&self) -> Result<Archive, Refusal> {
        self.ask(Command::Snapshot).await
    }

    /// Sends a shadow events of its model, and waits until they are durable. Must not be called on
    /// request threads.
    /// Fails if it is being stopped.
    pub(super) fn tell(&self, events: Vec<Event>) -> Result<(), Fault> {
        let mut answers = Vec::with_capacity(events.len());
        for event in events {
            let (reply, answer) = oneshot::channel();
            self.shared.waiting.fetch_add(1, Ordering::Relaxed);
            let sent = self.queue.send(Command::Do(Box::new(event), reply));
            sent.map_err(|_| format!("the model {} is being stopped", self.name))?;
            self.wake()?;
            answers.push(answer);
        }
        for answer in answers {
            // Events that a shadow cannot apply are skipped.
            let _ = turns::answer(answer);
        }
        Ok(())
    }

    /// For a shadow: the last event of its model that it has.
    pub(crate) fn followed(&self) -> u64 {
        self.shared.followed.load(Ordering::Acquire)
    }

    /// The number of the model in the log that nodes have in common, if there is one.
    pub(crate) fn made(&self) -> Option<i64> {
        self.common.as_ref().map(|(_, made)| *made)
    }

    /// Whether another node has written what is not here yet.
    fn is_behind(&self) -> bool {
        self.common.as_ref().is_some_and(|(node, made)| node.is_ahead(*made, self.committed()))
    }

    /// Whether it takes events: otherwise another node changes the model, or did until a moment ago.
    pub(super) fn takes_events(&self) -> bool {
        self.common.as_ref().is_none_or(|(node, _)| node.term().is_some()) && !self.is_behind()
    }

    /// The newest event that is durable.
    pub(crate) fn committed(&self) -> u64 {
        self.shared.committed.load(Ordering::Acquire)
    }

    /// The largest number in the ids that it has given.
    pub(crate) fn given(&self) -> u64 {
        self.committed() + self.shared.ahead.load(Ordering::Relaxed)
    }

    /// Lets the ids of a new model go on behind `number`.
    pub(crate) fn give_behind(&self, number: u64) {
        self.shared.ahead.fetch_max(number, Ordering::Relaxed);
    }

    /// Whether it is being stopped.
    pub(super) fn is_ending(&self) -> bool {
        self.shared.ending.load(Ordering::Acquire)
    }

    pub(crate) async fn export(&self) -> Result<Archive, Refusal> {
        self.ask(Command::Export).await
    }

    /// The settings of the model.
    pub(crate) fn spec(&self) -> Spec {
        self.shared.spec.read().unpoisoned().clone()
    }

    /// Changes the service settings.
    pub(crate) async fn configure(&self, service: Service) -> Result<(), Refusal> {
        self.act(Event::Configure { service: Box::new(service) }).await.map(drop)
    }

    /// Number of waiting commands.
    pub(crate) fn backlog(&self) -> u64 {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Why the model is suspended, if it is.
    pub(crate) fn failure(&self) -> Option<String> {
        self.shared.failed.read().unpoisoned().clone()
    }

    /// Lets a new shadow read rows as this model does.
    /// Fails if the shadow has no room for its columns.
    pub(crate) fn teach_reading(&self, shadow: &mut Engine) -> Result<(), Refusal> {
        self.seen().table.as_ref().map_or(Ok(()), |schema| shadow.read_as(schema))
    }

    /// Whether its rows are those of a table.
    pub(crate) fn has_table(&self) -> bool {
        self.seen().table.is_some()
    }

    /// The form of its rows, and the largest number of columns, see [`Engine`].
    pub(crate) fn rows(&self) -> (RowKind, Option<usize>) {
        (self.kind, self.seen().most)
    }

    /// Why the model refuses writes, if it does.
    pub(crate) fn unwritable(&self) -> Option<String> {
        self.shared.unwritable()
    }

    /// See [`Seen::lost`].
    pub(crate) fn lost(&self) -> Option<String> {
        self.seen().lost.clone()
    }

    /// Whether its state is on the disk only, until somebody asks for it.
    pub(crate) fn rests(&self) -> bool {
        self.shared.rests.load(Ordering::Relaxed)
    }

    /// Counts a refused row that has not become an event.
    pub(crate) fn refuse(&self) {
        self.shared.refuse(&self.name);
    }

    /// Number of events that were refused since the start.
    pub(crate) fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// Applies all queued events, saves the model and ends its thread.
    pub(crate) fn stop(&self) {
        self.shared.ending.store(true, Ordering::Release);
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        let _ = self.queue.send(Command::Stop);
        self.worker.stop();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A new model in `folder`.
    fn started(folder: &Path) -> Handle {
        let limits = Limits::default();
        let spec: Spec = serde_json::from_value(json!({"learner": "ogd"})).expect("a spec");
        let engine = Engine::new(spec, &limits).expect("a model");
        let (folder, state) = (folder.join("m"), engine.snapshot());
        let store = Store::create(&folder, true, engine.spec(), 0, &state, "").expect("a store");
        Handle::start("m", true, store, engine, &limits).expect("a thread")
    }

    /// A label that was learnt a moment ago is known, also where forecasts are made from an older copy.
    #[tokio::test]
    async fn a_label_is_known_as_soon_as_it_is_learnt() {
        let temporary = tempfile::tempdir().expect("a folder");
        let handle = started(temporary.path());
        let learn = |y: &str| Event::Learn { x: json!({"v": 1}), y: json!(y), weight: None, row: None };
        handle.act(learn("a")).await.expect("learnt");
        handle.look().await.expect("a copy");
        // A model that takes long to copy.
        handle.shared.took.store(10_000_000, Ordering::Relaxed);
        handle.act(learn("b")).await.expect("learnt");
        let older = handle.look().await.expect("a copy");
        assert!(older.seq < handle.committed());
        let asked = json!({"x": {"v": 1}, "labels": [{"label": "a"}, {"label": "b"}]});
        let asked: Decide = serde_json::from_value(asked).expect("a question");
        assert!(older.predict(&asked).is_err(), "it knows one label");
        assert_eq!(handle.forecast(&older, &asked).await.expect("both are known").p.len(), 2);
        handle.stop();
    }

    /// A model whose thread panics is suspended for a moment, and goes on with what was answered before.
    #[tokio::test]
    async fn a_panic_is_not_the_end_of_a_model() {
        let temporary = tempfile::tempdir().expect("a folder");
        let handle = started(temporary.path());
        let learn = || Event::Learn { x: json!({"v": 1}), y: json!("a"), weight: None, row: None };
        handle.act(learn()).await.expect("learnt");
        handle.ask(Command::Panic).await.expect_err("there is no answer");
        while handle.failure().is_none() {
            tokio::task::yield_now().await;
        }
        let refused = handle.act(learn()).await.expect_err("it is suspended");
        assert!(refused.status == 503 && refused.detail.contains("its thread failed"), "{refused}");
        while handle.act(learn()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(handle.describe().await["rounds"], 2);
        handle.stop();
    }
}

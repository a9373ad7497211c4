//! The thread that owns a model: it takes what waits in its queue, does it, writes all of it to the log at once, and only then
//! answers. So an answer means that its event is durable, and one write to the disk serves many requests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use noregret::model::Archive;
use serde_json::Value;
use tokio::sync::oneshot;

use super::engine::{Answer, Engine};
use super::event::Event;
use super::reader::Reader;
use super::spec::{RowKind, Service, Spec, shown};
use crate::refusal::Refusal;
use crate::safety::limits::Limits;
use crate::store::{self, Past, Store};

/// What a model is asked to do.
enum Command {
    /// An event.
    Do(Event, Reply<Answer>),
    /// A copy to look at, no older than what was answered before.
    Look(Reply<Arc<Reader>>),
    /// A snapshot, now; its moment.
    Save(Reply<u64>),
    /// To go on from a snapshot or from another model.
    Restore(Box<Restored>, Reply<u64>),
    /// To forget the log.
    Forget(Reply<()>),
    /// The model file.
    Export(Reply<Archive>),
    /// To end when everything before is done.
    Stop,
}

/// What a model goes on from.
pub(crate) struct Restored {
    pub(crate) engine: Engine,
    /// Whether decisions that wait are those of the present, not those of the snapshot.
    pub(crate) keep_waiting: bool,
}

type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

/// At most so many events are written at once.
const GROUP: usize = 512;
/// How often waiting times are looked at where nobody asks for anything.
const TICK: Duration = Duration::from_millis(250);

/// A running model, as requests see it.
pub(crate) struct Handle {
    pub(crate) name: String,
    pub(crate) kind: RowKind,
    pub(crate) folder: PathBuf,
    pub(crate) limits: Limits,
    queue: SyncSender<Command>,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the thread and the requests share.
struct Shared {
    /// The newest copy.
    reader: RwLock<Arc<Reader>>,
    /// The newest event that is durable.
    committed: AtomicU64,
    /// Commands that wait.
    waiting: AtomicU64,
    /// When the copy was made, and what that took, in microseconds since the start.
    copied: AtomicU64,
    took: AtomicU64,
    started: Instant,
    spec: RwLock<Spec>,
    /// Why the model stands still.
    failed: RwLock<Option<String>>,
    saving: AtomicBool,
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

impl Handle {
    /// Puts the model to work on a thread of its own.
    pub(crate) fn start(name: &str, store: Store, engine: Engine, limits: &Limits) -> Result<Self, String> {
        let (queue, commands) = sync_channel(limits.queue);
        let seq = engine.standing.seq;
        let shared = Arc::new(Shared {
            reader: RwLock::new(Arc::new(engine.reader())),
            committed: AtomicU64::new(seq),
            waiting: AtomicU64::new(0),
            copied: AtomicU64::new(0),
            took: AtomicU64::new(0),
            started: Instant::now(),
            spec: RwLock::new(engine.spec.clone()),
            failed: RwLock::new(None),
            saving: AtomicBool::new(false),
        });
        let (kind, folder) = (engine.kind, store.folder().to_owned());
        let saved = store.snapshots()?.last().copied().unwrap_or(0);
        let writer = Writer {
            name: name.to_owned(),
            engine,
            store,
            limits: limits.clone(),
            shared: Arc::clone(&shared),
            saved,
        };
        let thread = std::thread::Builder::new()
            .name(format!("model {name}"))
            .spawn(move || writer.run(&commands))
            .map_err(|error| format!("a thread for {name} cannot be started: {error}"))?;
        Ok(Self {
            name: name.to_owned(),
            kind,
            folder,
            limits: limits.clone(),
            queue,
            shared,
            thread: Mutex::new(Some(thread)),
        })
    }

    fn send(&self, command: Command) -> Result<(), Refusal> {
        if let Some(what) = &*self.shared.failed.read().unwrap_or_else(PoisonError::into_inner) {
            return Err(Refusal::failed(format!("the model {} stands still: {what}", self.name)));
        }
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        self.queue.try_send(command).map_err(|error| {
            self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
            match error {
                TrySendError::Full(_) => {
                    let what = format!(
                        "{} requests wait for the model {}, which is the limit",
                        self.limits.queue, self.name
                    );
                    Refusal::busy(what)
                }
                TrySendError::Disconnected(_) => {
                    Refusal::busy(format!("the model {} is being stopped", self.name))
                }
            }
        })
    }

    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply))?;
        let stopped = |_| Refusal::busy(format!("the model {} is being stopped", self.name));
        answer.await.map_err(stopped)?
    }

    /// Does `event`; the answer comes when it is durable.
    pub(crate) async fn act(&self, event: Event) -> Result<Answer, Refusal> {
        self.ask(|reply| Command::Do(event, reply)).await
    }

    /// Puts `event` into the queue, waiting for a place in it; its answer comes later.
    pub(crate) async fn enqueue(
        &self,
        event: Event,
    ) -> Result<oneshot::Receiver<Result<Answer, Refusal>>, Refusal> {
        loop {
            let (reply, answer) = oneshot::channel();
            match self.send(Command::Do(event.clone(), reply)) {
                Ok(()) => return Ok(answer),
                Err(refusal) if refusal.retry_after == Some(1) => {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                Err(refusal) => return Err(refusal),
            }
        }
    }

    /// A copy to look at, which knows of everything that was answered before; of models that take long to copy, of what was
    /// answered a moment ago.
    pub(crate) async fn look(&self) -> Result<Arc<Reader>, Refusal> {
        let reader = Arc::clone(&self.shared.reader.read().unwrap_or_else(PoisonError::into_inner));
        if reader.seq >= self.shared.committed.load(Ordering::Acquire) || self.may_be_old() {
            return Ok(reader);
        }
        self.ask(Command::Look).await
    }

    /// The same, never of a moment ago.
    pub(crate) async fn look_now(&self) -> Result<Arc<Reader>, Refusal> {
        let reader = Arc::clone(&self.shared.reader.read().unwrap_or_else(PoisonError::into_inner));
        if reader.seq >= self.shared.committed.load(Ordering::Acquire) {
            return Ok(reader);
        }
        self.ask(Command::Look).await
    }

    /// Whether copying takes so long that the last copy still does.
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

    pub(crate) async fn export(&self) -> Result<Archive, Refusal> {
        self.ask(Command::Export).await
    }

    /// What the model was made of.
    pub(crate) fn spec(&self) -> Spec {
        self.shared.spec.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets how answers count.
    pub(crate) async fn configure(&self, service: Service) -> Result<(), Refusal> {
        self.act(Event::Configure { service: Box::new(service) }).await.map(drop)
    }

    /// Commands that wait.
    pub(crate) fn backlog(&self) -> u64 {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Why the model stands still, if it does.
    pub(crate) fn failure(&self) -> Option<String> {
        self.shared.failed.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Does everything that waits, saves the model and ends its thread.
    pub(crate) fn stop(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            self.shared.waiting.fetch_add(1, Ordering::Relaxed);
            // A queue that is full has room soon.
            let _ = self.queue.send(Command::Stop);
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn since_start(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }
}

struct Writer {
    name: String,
    engine: Engine,
    store: Store,
    limits: Limits,
    shared: Arc<Shared>,
    /// The moment of the newest snapshot.
    saved: u64,
}

/// An answer that is given when the group is durable.
type Held = (Reply<Answer>, Result<Answer, Refusal>);

impl Writer {
    fn run(mut self, commands: &Receiver<Command>) {
        let mut stop = false;
        while !stop {
            let first = match commands.recv_timeout(TICK) {
                Ok(command) => Some(command),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let mut held: Vec<Held> = Vec::new();
            let mut begun = false;
            self.expire(&mut begun);
            let mut next = first;
            while let Some(command) = next {
                self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
                match command {
                    Command::Do(event, reply) => {
                        let done = self.one(event, &mut begun);
                        held.push((reply, done));
                        if self.engine.broken.is_some() {
                            self.settle(&mut held, &mut begun);
                            self.reload();
                        }
                    }
                    other => {
                        self.settle(&mut held, &mut begun);
                        stop |= self.aside(other);
                    }
                }
                if stop || held.len() >= GROUP {
                    break;
                }
                next = commands.try_recv().ok();
            }
            self.settle(&mut held, &mut begun);
            self.save_sometimes();
        }
        if self.engine.standing.seq > self.saved && self.failure().is_none() {
            let snapshot = self.engine.snapshot();
            if let Err(what) = self.store.write_snapshot(self.engine.standing.seq, &snapshot) {
                tracing::error!(model = %self.name, "the last snapshot was not written, and the log has it all: {what}");
            }
        }
    }

    fn failure(&self) -> Option<String> {
        self.shared.failed.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The time of the next event: the clock's, and never before that of the last one.
    fn at(&self) -> i64 {
        now().max(self.engine.standing.at)
    }

    fn expire(&mut self, begun: &mut bool) {
        const AT_ONCE: usize = 1000;
        if self.failure().is_some() {
            return;
        }
        let ids = self.engine.overdue(self.at(), AT_ONCE);
        if !ids.is_empty()
            && let Err(refusal) = self.one(Event::Expire { ids }, begun)
        {
            tracing::error!(model = %self.name, "decisions could not be expired: {refusal}");
        }
    }

    /// Does one event, and adds it to the group.
    fn one(&mut self, mut event: Event, begun: &mut bool) -> Result<Answer, Refusal> {
        if let Some(what) = self.failure() {
            return Err(Refusal::failed(format!("the model {} stands still: {what}", self.name)));
        }
        if let Event::Decide(decide) = &mut event {
            self.name_decision(&mut decide.id)?;
        }
        let at = self.at();
        let (answer, outcome) = match self.engine.apply(at, &event) {
            Err(refusal) if refusal.status == 404 => return self.late(&event, refusal),
            done => done?,
        };
        let written = match *begun {
            true => Ok(()),
            false => self.store.begin(),
        };
        *begun = true;
        let written =
            written.and_then(|()| self.store.append(self.engine.standing.seq, at, &event, &outcome));
        if let Err(what) = written {
            // The engine is ahead of the log.
            self.engine.broken = Some(what.clone());
            return Err(Refusal::failed(format!("the event could not be written: {what}")));
        }
        if let Event::Configure { .. } = &event {
            *self.shared.spec.write().unwrap_or_else(PoisonError::into_inner) = self.engine.spec.clone();
        }
        Ok(answer)
    }

    /// Gives a decision an id, if it has none, and refuses one that was used.
    fn name_decision(&self, id: &mut String) -> Result<(), Refusal> {
        let failed = |what| Refusal::failed(what);
        if id.is_empty() {
            *id = format!("d{}", self.engine.standing.seq + 1);
            while self.store.decided(id).map_err(failed)?.is_some() {
                id.push('+');
            }
        } else if self.store.decided(id).map_err(failed)?.is_some() {
            let what = format!("there was a decision of the id {} before", shown(id));
            return Err(Refusal { field: Some("id".to_owned()), ..Refusal::conflict(what) });
        }
        Ok(())
    }

    /// An answer to a decision that does not wait.
    fn late(&mut self, event: &Event, refusal: Refusal) -> Result<Answer, Refusal> {
        let Some(id) = event.id() else { return Err(refusal) };
        let id = shown(id);
        match (self.store.past(event.id().unwrap_or_default()).map_err(Refusal::failed)?, event) {
            (None, _) => Err(Refusal {
                field: Some("id".to_owned()),
                ..Refusal::unknown(format!("there is no decision of the id {id}"))
            }),
            (Some(Past::Answered(before)), Event::Feedback { reward, .. }) if before == *reward => {
                Ok(Answer::Done)
            }
            (Some(Past::Answered(before)), Event::Feedback { .. }) => Err(Refusal {
                field: Some("reward".to_owned()),
                ..Refusal::conflict(format!("the decision {id} was answered {before} before"))
            }),
            (Some(Past::Answered(_)), _) => Ok(Answer::Done),
            (Some(Past::Over), _) => Err(Refusal {
                field: Some("id".to_owned()),
                ..Refusal::gone(format!(
                    "the decision {id} was waited for too long; nothing is learnt from it any more"
                ))
            }),
        }
    }

    /// Makes the group durable, and answers.
    fn settle(&mut self, held: &mut Vec<Held>, begun: &mut bool) {
        if *begun {
            if let Err(what) = self.store.commit() {
                self.store.roll_back();
                let refusal = Refusal::failed(format!("the event could not be written: {what}"));
                for (_, done) in held.iter_mut().filter(|(_, done)| done.is_ok()) {
                    *done = Err(refusal.clone());
                }
                *begun = false;
                self.reload();
            }
            *begun = false;
        }
        self.shared.committed.store(self.engine.standing.seq, Ordering::Release);
        for (reply, done) in held.drain(..) {
            // Whoever asked may have gone.
            let _ = reply.send(done);
        }
    }

    /// The state is not to be trusted: it is made anew from what is on the disk.
    fn reload(&mut self) {
        let folder = self.store.folder().to_owned();
        match Store::recover(&folder, &self.limits) {
            Ok((store, engine, _)) => (self.store, self.engine) = (store, engine),
            Err(what) => {
                tracing::error!(model = %self.name, "the model stands still: {what}");
                *self.shared.failed.write().unwrap_or_else(PoisonError::into_inner) = Some(what);
            }
        }
    }

    /// What is no event. Returns whether to stop.
    fn aside(&mut self, command: Command) -> bool {
        match command {
            Command::Do(..) => unreachable!("done before"),
            Command::Stop => return true,
            Command::Look(reply) => {
                let _ = reply.send(Ok(self.publish()));
            }
            Command::Save(reply) => {
                let seq = self.engine.standing.seq;
                let written = self.store.write_snapshot(seq, &self.engine.snapshot());
                let _ = reply.send(written.map_err(Refusal::failed).map(|()| {
                    self.saved = seq;
                    seq
                }));
            }
            Command::Export(reply) => {
                let _ = reply.send(Ok(self.engine.archive()));
            }
            Command::Restore(restored, reply) => {
                let _ = reply.send(self.restore(*restored).map_err(Refusal::failed));
            }
            Command::Forget(reply) => {
                let _ = reply.send(self.forget().map_err(Refusal::failed));
            }
        }
        false
    }

    /// The newest copy, made anew where something has happened since.
    fn publish(&mut self) -> Arc<Reader> {
        let seq = self.engine.standing.seq;
        {
            let reader = self.shared.reader.read().unwrap_or_else(PoisonError::into_inner);
            if reader.seq == seq {
                return Arc::clone(&reader);
            }
        }
        let begun = self.shared.since_start();
        let reader = Arc::new(self.engine.reader());
        let ended = self.shared.since_start();
        self.shared.copied.store(ended, Ordering::Relaxed);
        self.shared.took.store(ended - begun, Ordering::Relaxed);
        *self.shared.reader.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&reader);
        reader
    }

    /// Goes on from another state: the snapshot first, then the event, so that a crash between the two leaves the old state.
    fn restore(&mut self, restored: Restored) -> Result<u64, String> {
        let Restored { mut engine, keep_waiting } = restored;
        let (seq, at) = (self.engine.standing.seq + 1, self.at());
        engine.go_on_behind(&self.engine, seq, at, keep_waiting);
        let snapshot = engine.snapshot();
        let event = Event::Restored { digest: snapshot.digest() };
        let header = super::log::header(&engine, Some(engine.archive().digest()))?;
        self.store.write_snapshot(seq, &snapshot)?;
        let mut write = || {
            self.store.begin()?;
            self.store.append(seq, at, &event, &super::engine::Outcome::default())?;
            self.store.add_segment(seq, &header)?;
            self.store.commit()
        };
        write().inspect_err(|_| self.store.roll_back())?;
        *self.shared.spec.write().unwrap_or_else(PoisonError::into_inner) = engine.spec.clone();
        self.engine = engine;
        self.saved = seq;
        self.shared.committed.store(seq, Ordering::Release);
        self.publish();
        Ok(seq)
    }

    /// Forgets the log: it begins anew, from the model as it stands.
    fn forget(&mut self) -> Result<(), String> {
        let seq = self.engine.standing.seq;
        let header = super::log::header(&self.engine, Some(self.engine.archive().digest()))?;
        self.store.write_snapshot(seq, &self.engine.snapshot())?;
        self.saved = seq;
        self.store.begin()?;
        let done = self
            .store
            .add_segment(seq, &header)
            .and_then(|()| self.store.forget(seq))
            .and_then(|()| self.store.commit());
        done.inspect_err(|_| self.store.roll_back())
    }

    /// Writes a snapshot in the background when enough has happened.
    fn save_sometimes(&mut self) {
        let seq = self.engine.standing.seq;
        if seq - self.saved < self.limits.snapshot_every
            || self.failure().is_some()
            || self.shared.saving.swap(true, Ordering::AcqRel)
        {
            return;
        }
        self.saved = seq;
        let (snapshot, folder) = (self.engine.snapshot(), self.store.folder().to_owned());
        let (shared, name) = (Arc::clone(&self.shared), self.name.clone());
        let spawned = std::thread::Builder::new().name("snapshot".to_owned()).spawn(move || {
            if let Err(what) = store::write_snapshot(&folder, seq, &snapshot) {
                tracing::error!(model = %name, "a snapshot was not written, and the log has it all: {what}");
            }
            shared.saving.store(false, Ordering::Release);
        });
        if spawned.is_err() {
            self.shared.saving.store(false, Ordering::Release);
        }
    }
}

/// What is told of the model `name` in `folder`, from a copy of it.
pub(crate) fn described(name: &str, reader: &Reader, folder: &Path) -> Value {
    let mut about = serde_json::Map::new();
    about.insert("name".to_owned(), name.into());
    if let Value::Object(map) = &reader.about {
        about.extend(map.clone());
    }
    about.insert("versions".to_owned(), store::snapshots(folder).unwrap_or_default().into());
    about.into()
}

//! A running model, as requests see it: a queue of bounded length to the thread that owns it (`writer`), and
//! what the two share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use noregret::model::Archive;
use serde_json::Value;
use tokio::sync::oneshot;

use super::engine::{Answer, Engine, Keep};
use super::event::Event;
use super::reader::Reader;
use super::spec::{RowKind, Service, Spec};
use super::writer::Writer;
use crate::refusal::Refusal;
use crate::safety::limits::Limits;
use crate::store::{self, Store};

/// What a model is asked to do.
pub(super) enum Command {
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
    /// All of it.
    Snapshot(Reply<Archive>),
    /// To end when everything before is done.
    Stop,
}

/// What a model goes on from.
pub(crate) struct Restored {
    pub(crate) engine: Engine,
    /// What is kept of the present.
    pub(crate) keep: Keep,
}

pub(super) type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

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
pub(super) struct Shared {
    /// The newest copy.
    pub(super) reader: RwLock<Arc<Reader>>,
    /// The newest event that is durable.
    pub(super) committed: AtomicU64,
    /// Commands that wait.
    pub(super) waiting: AtomicU64,
    /// When the copy was made, and what that took, in microseconds since the start.
    pub(super) copied: AtomicU64,
    pub(super) took: AtomicU64,
    pub(super) started: Instant,
    pub(super) spec: RwLock<Spec>,
    /// Why the model stands still.
    pub(super) failed: RwLock<Option<String>>,
    pub(super) saving: AtomicBool,
    /// Of a shadow: the last event of its model that it knows of, durably.
    pub(super) followed: AtomicU64,
    /// Whether it is being stopped.
    ending: AtomicBool,
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
            followed: AtomicU64::new(engine.standing.followed),
            ending: AtomicBool::new(false),
        });
        let (kind, folder) = (engine.kind, store.folder().to_owned());
        let last = engine.standing.at;
        if last > now() + 1000 {
            tracing::warn!(model = %name, "the clock is {} seconds behind the last event; time goes on from there", (last - now()) / 1000);
        }
        let marks = store.marks()?;
        let saved = store.snapshots()?.last().copied().unwrap_or(0);
        let writer = Writer {
            name: name.to_owned(),
            engine,
            store,
            limits: limits.clone(),
            shared: Arc::clone(&shared),
            saved,
            marks,
            tried: Instant::now(),
            shortened: Instant::now(),
            started: (now().max(last), Instant::now()),
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

    /// A copy to look at, which knows of everything that was answered before; of models that take long to
    /// copy, of what was answered a moment ago.
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

    pub(crate) async fn snapshot(&self) -> Result<Archive, Refusal> {
        self.ask(Command::Snapshot).await
    }

    /// Tells a shadow of events of its model, and waits until that is durable. For threads that serve nobody.
    ///
    /// # Errors
    /// If it is being stopped.
    pub(super) fn tell(&self, events: Vec<Event>) -> Result<(), String> {
        let mut answers = Vec::with_capacity(events.len());
        for event in events {
            let (reply, answer) = oneshot::channel();
            self.shared.waiting.fetch_add(1, Ordering::Relaxed);
            let sent = self.queue.send(Command::Do(event, reply));
            sent.map_err(|_| format!("the model {} is being stopped", self.name))?;
            answers.push(answer);
        }
        for answer in answers {
            // What a shadow cannot take is passed over.
            let _ = answer.blocking_recv();
        }
        Ok(())
    }

    /// Of a shadow: the last event of its model that it knows of.
    pub(crate) fn followed(&self) -> u64 {
        self.shared.followed.load(Ordering::Acquire)
    }

    /// The newest event that is durable.
    pub(crate) fn committed(&self) -> u64 {
        self.shared.committed.load(Ordering::Acquire)
    }

    /// Whether it is being stopped.
    pub(super) fn is_ending(&self) -> bool {
        self.shared.ending.load(Ordering::Acquire)
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
        self.shared.ending.store(true, Ordering::Release);
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
    pub(super) fn since_start(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }
}

/// What is told of the model `name` in `folder`, from a copy of it.
pub(crate) fn described(name: &str, reader: &Reader, folder: &Path) -> Value {
    let mut about = serde_json::Map::new();
    about.insert("name".to_owned(), name.into());
    if let Value::Object(map) = &reader.about {
        about.extend(map.clone());
    }
    about.insert("versions".to_owned(), store::versions(folder).unwrap_or_default().into());
    about.into()
}

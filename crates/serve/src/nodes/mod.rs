//! Several nodes with one log: an event is written in a log that they have in common before it is answered.
//! One node, which has the lease, changes models; the others follow, answer what changes nothing, and one of
//! them takes over when the lease ends. Every node has its own copy of all models in its folder.

#![cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "only a database makes and reads them"))]

pub(crate) mod lease;
#[cfg(feature = "postgres")]
mod postgres;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use noregret_stream::Fault;
use serde_json::{Value, json};

use crate::locks::Unpoisoned;
use crate::refusal::Refusal;

/// Interval at which a node that follows looks for what is new, and for the end of the lease.
const PAUSE: Duration = Duration::from_millis(100);
/// Time for which requests wait for a common log that does not answer.
const PATIENCE: Duration = Duration::from_secs(6);
/// The same for the start of a node.
const START: Duration = Duration::from_secs(15);

/// What a node is told of the others.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// The PostgreSQL database with the log that the nodes have in common, as
    /// `postgres://noregret:secret@10.0.0.5/noregret`.
    pub postgres: String,
    /// What clients are told to ask while this node has the lease, such as `http://10.0.0.7:8730`; another
    /// one for every node.
    pub name: String,
    /// Number of seconds after which the lease of a node that does not renew it ends.
    pub lease_seconds: u64,
}

/// An event as it is written in a log.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) body: String,
    pub(crate) outcome: Option<String>,
}

/// The state of a model after an event.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) seq: u64,
    /// The header of the log, if one begins here.
    pub(crate) header: Option<String>,
    /// The model file, if it is kept.
    pub(crate) file: Option<Vec<u8>>,
}

/// What is written of a model at once.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) lines: Vec<Line>,
    /// The settings of the model, if they may be others.
    pub(crate) spec: Option<String>,
    pub(crate) states: Vec<State>,
    /// The events up to this one are deleted.
    pub(crate) forgotten: Option<u64>,
}

/// A model that is to be added: what there is of it beside its events.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) name: String,
    /// The tables by which its store knows more of it, such as `from_file`.
    pub(crate) flags: String,
    pub(crate) seq: u64,
    pub(crate) begins: u64,
    pub(crate) spec: String,
    pub(crate) states: Vec<State>,
}

/// A model of the common log.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// A number that no other model has had, not even one of the same name.
    pub(crate) made: i64,
    /// Its last event.
    pub(crate) seq: u64,
}

/// What is read of a model at once.
#[derive(Debug)]
pub(crate) struct Page {
    /// Its last event, which need not be on this page.
    pub(crate) seq: u64,
    /// Where its log begins.
    pub(crate) begins: u64,
    pub(crate) spec: String,
    /// The tables by which its store knows more of it, such as `from_file`.
    pub(crate) flags: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) states: Vec<State>,
}

/// Who has the lease.
pub(crate) enum Lease {
    /// This node, from now on; what it writes is accepted until another node has a later term.
    Mine(i64),
    /// The node of this name.
    Of(String),
}

/// What a node has of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Has {
    /// Its last event.
    pub(crate) seq: u64,
    /// Where its log begins.
    pub(crate) begins: u64,
}

/// The next events after an event, in their order; none at the end.
pub(crate) type Next<'a> = dyn FnMut(u64) -> Result<Vec<Line>, Fault> + 'a;

/// A log that several nodes have in common. What is written is durable, and is written wholly or not at all;
/// whatever has a term is refused if another node has had the lease since.
pub(crate) trait Common: Send + Sync {
    /// Takes the lease for `seconds` if nobody has it.
    fn lease(&self, name: &str, seconds: f64) -> Result<Lease, Fault>;
    /// Renews the lease; false if another node has taken it.
    fn renew(&self, term: i64, seconds: f64) -> Result<bool, Fault>;
    /// Ends the lease.
    fn release(&self, term: i64) -> Result<(), Fault>;
    /// All models.
    fn models(&self) -> Result<Vec<Entry>, Fault>;
    /// Adds a model with the events that `next` returns; its number.
    fn add(&self, term: i64, model: &Whole, next: &mut Next<'_>) -> Result<i64, Fault>;
    /// Deletes the model called `name`, if there is one.
    fn remove(&self, term: i64, name: &str) -> Result<(), Fault>;
    /// Writes `group` of the model `made`.
    fn write(&self, term: i64, made: i64, group: &Group) -> Result<(), Fault>;
    /// Keeps a state from which nodes may recover the model, in the place of the one kept before.
    fn keep(&self, term: i64, made: i64, seq: u64, file: &[u8]) -> Result<(), Fault>;
    /// The next events for a node that `has` some, at most `most` of them, with the states at which the log
    /// begins there; for a new node with all states. `None` if there is no such model.
    fn read(&self, made: i64, has: Option<Has>, most: u32) -> Result<Option<Page>, Fault>;
    /// How long somebody has waited for an answer; zero if nobody waits.
    fn silence(&self) -> Duration;
}

/// Since when an answer is waited for, if one is.
#[derive(Debug, Default)]
pub(crate) struct Silence(Mutex<Option<Instant>>);

impl Silence {
    /// What `work` comes to, which waits for an answer.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let set = |since| *self.0.lock().unpoisoned() = since;
        set(Some(Instant::now()));
        let done = work();
        set(None);
        done
    }

    /// How long an answer has been waited for.
    pub(crate) fn time(&self) -> Duration {
        let since = *self.0.lock().unpoisoned();
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// Opens the log of `nodes` if that answers in time: what connects may wait for ever.
fn open_in_time(nodes: &Nodes) -> Result<Box<dyn Common>, Fault> {
    let (sender, opened) = std::sync::mpsc::channel();
    let nodes = nodes.clone();
    std::thread::spawn(move || sender.send(open(&nodes)));
    let silent = format!("--postgres: PostgreSQL has not answered for {} seconds", START.as_secs());
    opened.recv_timeout(START).unwrap_or_else(|_| Err(silent.into()))
}

/// Opens the log of `nodes`.
#[cfg(feature = "postgres")]
fn open(nodes: &Nodes) -> Result<Box<dyn Common>, Fault> {
    Ok(Box::new(postgres::Postgres::open(&nodes.postgres)?))
}

#[cfg(not(feature = "postgres"))]
fn open(_: &Nodes) -> Result<Box<dyn Common>, Fault> {
    Err(crate::without("postgres"))
}

/// What a node may do.
enum Role {
    /// Change models, until then at the latest.
    Leads { term: i64, until: Instant },
    /// Follow the node of this name.
    Follows(String),
}

/// What is known of the models of the common log.
#[derive(Default)]
struct Known {
    /// Their last events.
    tops: HashMap<i64, u64>,
    made: HashMap<String, i64>,
}

/// This node among the others.
pub(crate) struct Node {
    pub(crate) common: Box<dyn Common>,
    name: String,
    lease: Duration,
    role: RwLock<Role>,
    known: RwLock<Known>,
    /// Whether it is being stopped.
    ending: AtomicBool,
}

impl Node {
    /// A node that follows, as long as it does not have the lease.
    /// Fails if the common log cannot be reached.
    pub(crate) fn open(nodes: &Nodes) -> Result<Self, Fault> {
        Ok(Self {
            common: open_in_time(nodes)?,
            name: nodes.name.clone(),
            lease: Duration::from_secs(nodes.lease_seconds),
            role: RwLock::new(Role::Follows("no node".to_owned())),
            known: RwLock::default(),
            ending: AtomicBool::new(false),
        })
    }

    /// The term in which this node may change models.
    pub(crate) fn term(&self) -> Option<i64> {
        match &*self.role.read().unpoisoned() {
            Role::Leads { term, until } if Instant::now() < *until => Some(*term),
            _ => None,
        }
    }

    /// The same, or why there is none.
    pub(crate) fn needs_term(&self) -> Result<i64, Fault> {
        self.term().ok_or_else(|| self.following().into())
    }

    /// Refuses what changes models where another node does that.
    /// Refused with 503, and the node to ask or that the common log does not answer.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if let Some(what) = self.silent() {
            return Err(Refusal::busy(format!("{what}; ask again")));
        }
        self.term().map(drop).ok_or_else(|| Refusal::busy(self.following()))
    }

    /// That the common log has not answered for so long that nobody waits for it any more.
    fn silent(&self) -> Option<String> {
        let silence = Some(self.common.silence()).filter(|silence| *silence >= PATIENCE)?;
        Some(format!("PostgreSQL has not answered for {} seconds", silence.as_secs()))
    }

    /// What `work` comes to, unless the common log does not answer.
    /// Fails as `work` does, and with 503 where that waits for the common log in vain; it goes on.
    pub(crate) async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        let silent = async {
            loop {
                if let Some(what) = self.silent() {
                    break what;
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            what = silent => {
                let what = format!("{what}, so that it is not known whether this was done; ask again");
                Err(Refusal::failed(what))
            }
        }
    }

    fn following(&self) -> String {
        match &*self.role.read().unpoisoned() {
            Role::Leads { .. } => "this node could not renew its lease in time; ask again".to_owned(),
            Role::Follows(other) => {
                format!("this node follows {other}, which has the lease: only that changes models")
            }
        }
    }

    /// Whether it has the lease, and who has it otherwise.
    pub(crate) fn about(&self) -> Value {
        match (self.term(), &*self.role.read().unpoisoned()) {
            (Some(term), _) => json!({"name": self.name, "leads": true, "term": term}),
            (None, Role::Follows(other)) => json!({"name": self.name, "leads": false, "follows": other}),
            (None, Role::Leads { .. }) => json!({"name": self.name, "leads": false}),
        }
    }

    /// Whether the common log has events of the model `made` after `seq`.
    pub(crate) fn is_ahead(&self, made: i64, seq: u64) -> bool {
        let known = self.known.read().unpoisoned();
        known.tops.get(&made).is_some_and(|top| *top > seq)
    }

    /// The number of the model called `name`.
    pub(crate) fn made(&self, name: &str) -> Option<i64> {
        self.known.read().unpoisoned().made.get(name).copied()
    }

    /// The names of all models.
    pub(crate) fn names(&self) -> Vec<String> {
        self.known.read().unpoisoned().made.keys().cloned().collect()
    }

    /// Deletes the model called `name` from the common log.
    /// Fails if this node may not, or the log cannot be reached.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Fault> {
        self.common.remove(self.needs_term()?, name)
    }

    /// Notes what models there are.
    fn note(&self, entries: &[Entry]) {
        let mut known = Known::default();
        for Entry { name, made, seq } in entries {
            known.tops.insert(*made, *seq);
            known.made.insert(name.clone(), *made);
        }
        *self.known.write().unpoisoned() = known;
    }

    fn set(&self, role: Role) {
        *self.role.write().unpoisoned() = role;
    }

    /// Takes the lease if nobody has it, notes which models there are, and calls `keep_up` with whether it
    /// has the lease. Only after that may this node change models: nobody else writes any more what `keep_up`
    /// has not seen.
    /// Fails if the common log cannot be reached.
    pub(crate) fn look(&self, keep_up: impl FnOnce(bool)) -> Result<(), Fault> {
        let asked = Instant::now();
        let lease = self.common.lease(&self.name, self.lease.as_secs_f64())?;
        self.note(&self.common.models()?);
        keep_up(matches!(lease, Lease::Mine(_)));
        match lease {
            Lease::Mine(term) => {
                tracing::info!(term, "this node has the lease, and changes models");
                self.set(Role::Leads { term, until: asked + self.lease });
            }
            Lease::Of(other) => self.set(Role::Follows(other)),
        }
        Ok(())
    }

    /// Renews the lease; a node that has lost it follows from then on.
    fn renew(&self, term: i64) -> Result<(), Fault> {
        let asked = Instant::now();
        if self.common.renew(term, self.lease.as_secs_f64())? {
            self.set(Role::Leads { term, until: asked + self.lease });
        } else {
            tracing::warn!(term, "another node has taken the lease; this node follows");
            self.set(Role::Follows("another node".to_owned()));
        }
        Ok(())
    }

    /// Ends the lease, when all has been written.
    fn leave(&self) {
        if let Some(term) = self.term()
            && let Err(what) = self.common.release(term)
        {
            tracing::warn!("the lease was not ended, and ends by itself: {what}");
        }
        self.set(Role::Follows("no node".to_owned()));
    }
}

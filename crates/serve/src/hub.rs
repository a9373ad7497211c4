//! All models of a service, by name.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use noregret_stream::Fault;
use noregret_stream::run::threads::processors;
use serde_json::Value;

use self::given::Given;
use crate::locks::Unpoisoned;
use crate::model::engine::Engine;
use crate::model::follower::follow;
use crate::model::handle::Handle;
use crate::model::log;
use crate::model::recovery::recover;
use crate::model::spec::Spec;
use crate::nodes::Node;
use crate::refusal::{Refusal, shown};
use crate::safety::limits::Limits;
use crate::safety::names;
use crate::store::{Store, prepare, remove, set_aside, shadowed_by};
use crate::turns;

mod given;

/// The models in a folder.
pub(crate) struct Hub {
    folder: PathBuf,
    pub(crate) limits: Limits,
    /// This node, where several have a log in common.
    pub(crate) node: Option<Arc<Node>>,
    models: RwLock<BTreeMap<String, Place>>,
    /// The models whose recovery has not begun.
    left: Mutex<VecDeque<String>>,
    /// When models of the common log that could not be recovered were last tried again.
    tried: Mutex<Instant>,
    /// Where no log is common: the models that could not be recovered.
    again: Mutex<Again>,
    /// Of the models that were deleted, the largest number in the ids that each had given.
    given: Given,
    /// Whether the service is being stopped.
    ending: AtomicBool,
}

/// Time for which a request waits for a model that is being recovered, and how often it looks.
const MOMENT: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(5);

/// The models that could not be recovered, and are tried again: the disk may have been full. Each time it
/// takes twice as long, since what is damaged stays so, and reading it takes time.
struct Again {
    names: Vec<String>,
    since: Instant,
    wait: Duration,
}

/// The longest time until it is tried again.
const LONG: Duration = Duration::from_secs(3600);

/// Time after which a file that changes again has another time: systems count them in steps of some
/// milliseconds.
const TIMES_APART: Duration = Duration::from_millis(20);

/// Interval between attempts to recover a model of the common log: the database may have been out of reach.
const TRY_AGAIN: Duration = Duration::from_secs(10);

/// The state of a name.
#[derive(Clone)]
pub(crate) enum Place {
    /// A running model.
    Running(Arc<Handle>),
    /// A model that is being recovered, or will be.
    Recovering,
    /// A model that could not be recovered, and why.
    Failed(String),
    /// A model that is being made or deleted.
    Busy,
}

impl Hub {
    /// Finds all models in `folder`. They are not served until [`Hub::recover_next`] has recovered them.
    /// Fails if the folder cannot be used.
    pub(crate) fn open(folder: &Path, limits: &Limits, node: Option<Arc<Node>>) -> Result<Self, Fault> {
        let (given, folder) = (Given::open(folder), folder.join("models"));
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: cannot be made: {error}", folder.display()))?;
        let entries = std::fs::read_dir(&folder)
            .map_err(|error| format!("{}: cannot be read: {error}", folder.display()))?;
        let mut models = BTreeMap::new();
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if names::is_unfinished(&name) {
                let _ = std::fs::remove_dir_all(&path);
            } else if path.is_dir() && names::check("the model's", &name).is_ok() {
                remove_hidden(&path);
                models.insert(name, Place::Recovering);
            } else {
                tracing::warn!("{} is no folder of a model, and is left alone", path.display());
            }
        }
        let left = Mutex::new(models.keys().cloned().collect());
        let (models, ending) = (RwLock::new(models), AtomicBool::new(false));
        let tried = Mutex::new(Instant::now());
        let again = Mutex::new(Again { names: Vec::new(), since: Instant::now(), wait: TRY_AGAIN });
        Ok(Self { folder, limits: limits.clone(), node, models, left, tried, again, given, ending })
    }

    /// Recovers the next model, into its state before the service stopped or was killed; false if none is
    /// left. A model that cannot be recovered is not served, and keeps the reason. Several threads may do
    /// this.
    pub(crate) fn recover_next(&self) -> bool {
        let next = || self.left.lock().unpoisoned().pop_front();
        let Some(name) = next().filter(|_| !self.ending.load(Ordering::Acquire)) else { return false };
        if !self.is_lacking(&name) {
            return true;
        }
        let begun = Instant::now();
        // A fault of the program about this model must not keep the thread from the others.
        let recovered = catch_unwind(AssertUnwindSafe(|| self.recovered(&name)));
        let recovered = recovered.unwrap_or_else(|_| {
            Err("its recovery met a fault of the program, which the service's log has".into())
        });
        metrics::gauge!("noregret_recovery_seconds").increment(begun.elapsed().as_secs_f64());
        let mut models = self.models.write().unpoisoned();
        let before = models.get(&name).cloned();
        if !matches!(before, Some(Place::Recovering | Place::Failed(_))) {
            // It was deleted meanwhile.
            drop(models);
            if let Ok(Some(handle)) = recovered {
                handle.stop();
            }
            return true;
        }
        match recovered {
            Ok(Some(handle)) => {
                models.insert(name, Place::Running(handle));
            }
            Ok(None) => {
                models.remove(&name);
            }
            Err(what) => {
                let what = String::from(what);
                if !matches!(before, Some(Place::Failed(said)) if said == what) {
                    tracing::error!(model = %name, "is not served: {what}");
                }
                if self.node.is_none() {
                    self.again.lock().unpoisoned().names.push(name.clone());
                }
                models.insert(name, Place::Failed(what));
            }
        }
        true
    }

    /// Whether the model `name` is to be recovered.
    fn is_lacking(&self, name: &str) -> bool {
        let models = self.models.read().unpoisoned();
        matches!(models.get(name), Some(Place::Recovering | Place::Failed(_)))
    }

    /// Lets the models that could not be recovered be tried again, if it is time for that; whether there are
    /// any.
    pub(crate) fn try_again(&self) -> bool {
        let mut again = self.again.lock().unpoisoned();
        if self.node.is_some() || again.names.is_empty() || again.since.elapsed() < again.wait {
            return false;
        }
        (again.since, again.wait) = (Instant::now(), (again.wait * 2).min(LONG));
        let names = std::mem::take(&mut again.names);
        self.left.lock().unpoisoned().extend(names);
        true
    }

    /// The model called `name`, recovered; none if another node has deleted it.
    fn recovered(&self, name: &str) -> Result<Option<Arc<Handle>>, Fault> {
        #[cfg(test)]
        assert_ne!(name, "at-fault", "as a test has asked");
        let folder = self.folder.join(name);
        if !self.node.as_ref().map_or(Ok(true), |node| prepare(node, name, &folder))? {
            return Ok(None);
        }
        if self.node.is_none()
            && let Some(handle) = Handle::resting(name, &folder, &self.limits)
        {
            handle.give_behind(self.given.of(name));
            return Ok(Some(Arc::new(handle)));
        }
        let recovered = recover(&folder, &self.limits, self.node.as_ref())?;
        if self.ending.load(Ordering::Acquire) {
            return Err("the service is being stopped".into());
        }
        let (store, engine) = recovered.ready(name)?;
        let handle = Arc::new(Handle::start(name, false, store, engine, &self.limits)?);
        // It may have given none yet since it was made behind a deleted one.
        handle.give_behind(self.given.of(name));
        self.follow(&handle).map_err(|refusal| refusal.detail)?;
        Ok(Some(handle))
    }

    /// Lets `name` be recovered next, because somebody asks for it: of thousands, it would wait for all.
    fn recover_soon(&self, name: &str) {
        let mut left = self.left.lock().unpoisoned();
        let at = left.iter().position(|one| one == name);
        if let Some(name) = at.and_then(|at| left.remove(at)) {
            left.push_front(name);
        }
    }

    /// Number of models whose recovery has not begun.
    pub(crate) fn left(&self) -> usize {
        self.left.lock().unpoisoned().len()
    }

    /// Lets go of the models that other nodes have deleted, and takes on those that they have made, which are
    /// recovered next. So are those that could not be recovered, now and then, and before this node `leads`.
    pub(crate) fn keep_up(&self, node: &Node, leads: bool) {
        for (name, place) in self.list() {
            let Place::Running(handle) = place else { continue };
            if handle.made() == node.made(&name) {
                continue;
            }
            self.models.write().unpoisoned().insert(name.clone(), Place::Busy);
            handle.stop();
            if let Err(what) = handle.made().map_or(Ok(()), |made| set_aside(&handle.folder, made)) {
                tracing::error!(model = %name, "{what}");
            }
            self.models.write().unpoisoned().remove(&name);
        }
        let mut tried = self.tried.lock().unpoisoned();
        let again = leads || tried.elapsed() >= TRY_AGAIN;
        if again {
            *tried = Instant::now();
        }
        let mut models = self.models.write().unpoisoned();
        for name in node.names() {
            let is_left = models.get(&name).is_none_or(|place| again && matches!(place, Place::Failed(_)));
            if is_left {
                models.insert(name.clone(), Place::Recovering);
                self.left.lock().unpoisoned().push_back(name);
            }
        }
    }

    /// Refuses changes where another node makes them.
    /// Refused with 503, and the node to ask.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.node.as_ref().map_or(Ok(()), |node| node.check())
    }

    /// Starts the thread that sends a shadow its model's events.
    fn follow(&self, handle: &Arc<Handle>) -> Result<(), Refusal> {
        let Some(live) = handle.spec().shadow_of else { return Ok(()) };
        let followed = follow(Arc::clone(handle), self.folder.join(live));
        followed.map_err(|error| Refusal::failed(format!("a thread for a shadow cannot be started: {error}")))
    }

    /// The model called `name`.
    pub(crate) fn get(&self, name: &str) -> Result<Arc<Handle>, Refusal> {
        names::check("the model's", name)?;
        match self.models.read().unpoisoned().get(name) {
            Some(Place::Running(handle)) => Ok(Arc::clone(handle)),
            Some(Place::Failed(what)) => {
                Err(Refusal::failed(format!("the model {name} could not be recovered: {what}")))
            }
            Some(Place::Busy) => Err(Refusal::busy(format!("the model {name} is being made or deleted"))),
            Some(Place::Recovering) => {
                self.recover_soon(name);
                Err(recovering(name))
            }
            None => Err(Refusal::unknown(format!("there is no model called {}", shown(name)))),
        }
    }

    /// The same, for a request that waits a moment where the model is being recovered: most take
    /// milliseconds, and this one is next.
    pub(crate) async fn found(&self, name: &str) -> Result<Arc<Handle>, Refusal> {
        if let Ok(handle) = self.get(name) {
            return Ok(handle);
        }
        let begun = Instant::now();
        while self.is_recovering(name) && begun.elapsed() < MOMENT {
            turns::sleep(LOOK).await;
        }
        self.get(name)
    }

    fn is_recovering(&self, name: &str) -> bool {
        let models = self.models.read().unpoisoned();
        matches!(models.get(name), Some(Place::Recovering))
    }

    /// Whether the model `name` is being made or deleted.
    pub(crate) fn is_busy(&self, name: &str) -> bool {
        let models = self.models.read().unpoisoned();
        matches!(models.get(name), Some(Place::Busy))
    }

    /// All models.
    pub(crate) fn list(&self) -> Vec<(String, Place)> {
        let models = self.models.read().unpoisoned();
        models.iter().map(|(name, place)| (name.clone(), place.clone())).collect()
    }

    /// Makes a model from `spec`. Takes time, so it must not be called on request threads.
    /// Refused with 409 if the name exists; 422 if labels differ by their types or blanks around them alone.
    pub(crate) fn create(&self, name: &str, spec: Spec) -> Result<Arc<Handle>, Refusal> {
        spec.check_labels()?;
        let live = spec.shadow_of.as_deref().map(|live| self.get(live)).transpose()?;
        self.create_as(name, true, live.clone(), || {
            let mut engine = Engine::new(spec, &self.limits)?;
            if let Some(live) = live.as_ref().filter(|live| live.kind == engine.kind) {
                live.teach_reading(&mut engine)?;
            }
            match live {
                Some(live) if live.kind != engine.kind => {
                    let what = format!("{} accepts other rows than {}", engine.learner_name(), live.name);
                    Err(Refusal::invalid("learner", what))
                }
                Some(live) if live.spec().shadow_of.is_some() => {
                    let what = format!("the model {} is a shadow itself", live.name);
                    Err(Refusal::invalid("shadow_of", what))
                }
                _ => Ok(engine),
            }
        })
    }

    /// The same with the engine of a file, made by `make`: its log goes on from that.
    pub(crate) fn create_with(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<Engine, Refusal>,
    ) -> Result<Arc<Handle>, Refusal> {
        self.create_as(name, false, None, make)
    }

    /// Makes a model, which is to shadow `live` if that is given.
    fn create_as(
        &self,
        name: &str,
        is_new: bool,
        live: Option<Arc<Handle>>,
        make: impl FnOnce() -> Result<Engine, Refusal>,
    ) -> Result<Arc<Handle>, Refusal> {
        names::check("the model's", name)?;
        self.check()?;
        {
            let mut models = self.models.write().unpoisoned();
            if let Some(Place::Recovering) = models.get(name) {
                return Err(recovering(name));
            }
            if models.contains_key(name) {
                return Err(Refusal::conflict(format!("there is a model called {name} already")));
            }
            if models.len() >= self.limits.models {
                let what = format!("there are {} models, which is the limit (--most-models)", models.len());
                return Err(Refusal::invalid("name", what));
            }
            let folder = self.folder.join(name);
            if folder.exists() {
                let what = format!(
                    "{} was put there while the service runs: start the service again, which serves what is in it, or move it away",
                    folder.display()
                );
                return Err(Refusal::failed(what));
            }
            models.insert(name.to_owned(), Place::Busy);
        }
        turns::here();
        let made = make().and_then(|engine| {
            let continues = (!is_new).then(|| engine.archive().digest());
            let header = log::header(&engine, continues).map_err(Refusal::failed)?;
            let (folder, seq) = (self.folder.join(name), engine.standing.seq);
            let store = Store::create(&folder, is_new, engine.spec(), seq, &engine.snapshot(), &header);
            let store = store.and_then(|store| match &self.node {
                Some(node) => store.join(node, name).inspect_err(|_| drop(remove(&folder))),
                None => Ok(store),
            });
            let store = store.map_err(Refusal::failed)?;
            turns::here();
            let started = Handle::start(name, true, store, engine, &self.limits).map_err(Refusal::failed);
            let followed = started.map(Arc::new).and_then(|handle| {
                handle.give_behind(self.given.of(name));
                self.follow(&handle).inspect_err(|_| handle.stop())?;
                Ok(handle)
            });
            // What is not served must not be in the way of the next of its name.
            followed.inspect_err(|_| {
                let _ = self.node.as_ref().map(|node| node.remove(name));
                let _ = remove(&folder);
            })
        });
        turns::here();
        let mut models = self.models.write().unpoisoned();
        let gone = live.filter(|live| match models.get(&live.name) {
            Some(Place::Running(now)) => !Arc::ptr_eq(now, live),
            _ => true,
        });
        match (made, gone) {
            (Ok(handle), None) => {
                models.insert(name.to_owned(), Place::Running(Arc::clone(&handle)));
                Ok(handle)
            }
            // It would follow the next model of that name.
            (Ok(handle), Some(live)) => {
                drop(models);
                self.end(name, Some(&handle))?;
                let what = format!("the model {} was deleted while its shadow {name} was made", live.name);
                Err(Refusal::unknown(what).about("shadow_of"))
            }
            (Err(refusal), _) => {
                models.remove(name);
                Err(refusal)
            }
        }
    }

    /// Deletes a model with its files.
    /// Refused with 404 if there is none.
    pub(crate) fn delete(&self, name: &str) -> Result<(), Refusal> {
        names::check("the model's", name)?;
        self.check()?;
        let shadowed = |shadow: &str| {
            let what = format!("the model {shadow} is a shadow of {name}; delete it first");
            Refusal::conflict(what)
        };
        // One that is not served now may be later, and would follow the next model of this name.
        for (other, place) in self.list() {
            if matches!(place, Place::Recovering | Place::Failed(_))
                && shadowed_by(&self.folder.join(&other)).as_deref() == Some(name)
            {
                return Err(shadowed(&other));
            }
        }
        let shadows = |place: &Place| matches!(place, Place::Running(one) if one.spec().shadow_of.as_deref() == Some(name));
        let place = {
            let mut models = self.models.write().unpoisoned();
            if let Some((shadow, _)) = models.iter().find(|(_, place)| shadows(place)) {
                return Err(shadowed(shadow));
            }
            match models.get(name) {
                None => return Err(Refusal::unknown(format!("there is no model called {}", shown(name)))),
                Some(Place::Recovering) => return Err(recovering(name)),
                Some(Place::Busy) => {
                    return Err(Refusal::busy(format!("the model {name} is being made or deleted")));
                }
                Some(_) => models.insert(name.to_owned(), Place::Busy),
            }
        };
        self.again.lock().unpoisoned().names.retain(|one| one != name);
        turns::here();
        match place {
            Some(Place::Running(handle)) => self.end(name, Some(&handle)),
            _ => self.end(name, None),
        }
    }

    /// Stops the model `name`, whose place is busy, and removes it with its files.
    fn end(&self, name: &str, running: Option<&Handle>) -> Result<(), Refusal> {
        if let Some(handle) = running {
            handle.stop();
            self.given.keep(name, handle.given());
        }
        turns::here();
        let there = self.node.as_ref().map_or(Ok(()), |node| node.remove(name));
        let models = || self.models.write().unpoisoned();
        if let Err(what) = there {
            let what = String::from(what);
            models().insert(name.to_owned(), Place::Failed(format!("it could not be deleted: {what}")));
            return Err(Refusal::failed(what));
        }
        let folder = self.folder.join(name);
        let removed = remove(&folder);
        match &removed {
            // It would be there again at the next start: it may be deleted once more.
            Err(what) if folder.exists() => {
                models().insert(name.to_owned(), Place::Failed(format!("it could not be deleted: {what}")))
            }
            _ => models().remove(name),
        };
        removed.map_err(Refusal::failed)
    }

    /// Refuses to delete the log of `live` while a shadow has not learnt it.
    /// Refused with 409, and the shadow.
    pub(crate) fn check_followed(&self, live: &Handle) -> Result<(), Refusal> {
        let until = live.committed();
        for (name, place) in self.list() {
            let Place::Running(shadow) = place else { continue };
            if shadow.spec().shadow_of.as_deref() == Some(&live.name) && shadow.followed() < until {
                let what = format!(
                    "the shadow {name} has learnt {} of the {until} events of the log; ask again later, or delete the shadow first",
                    shadow.followed()
                );
                return Err(Refusal { retry_after: Some(1), ..Refusal::conflict(what) });
            }
        }
        Ok(())
    }

    /// Applies all queued events, saves all models and ends their threads.
    pub(crate) fn stop(&self) {
        self.ending.store(true, Ordering::Release);
        let running = self.list().into_iter().filter_map(|(_, place)| match place {
            Place::Running(handle) => Some(handle),
            _ => None,
        });
        let left = Mutex::new(running.collect::<Vec<_>>());
        let next = || left.lock().unpoisoned().pop();
        let stops = || {
            while let Some(handle) = next() {
                handle.stop();
            }
        };
        // As many at a time as there are processors: a snapshot takes as much memory as its model.
        std::thread::scope(|scope| {
            for _ in 1..processors() {
                // Where no thread can be started, this one stops all.
                let _ = std::thread::Builder::new().spawn_scoped(scope, stops);
            }
            stops();
        });
        // Whoever changes the files of a model that rests when the service has ended gives them another time.
        std::thread::sleep(TIMES_APART);
    }
}

/// The descriptions of models, in their order; null for those that are not served. Those that have changed
/// are asked all at once: no model waits for another one, and none is asked that has changed meanwhile.
pub(crate) async fn descriptions(models: &[(String, Place)]) -> Result<Vec<Arc<Value>>, Refusal> {
    let begin = |place: &Place| {
        let Place::Running(handle) = place else { return Ok(Arc::default()) };
        handle.known().ok_or_else(|| {
            let handle = Arc::clone(handle);
            tokio::spawn(async move { handle.describe().await })
        })
    };
    let begun: Vec<_> = models.iter().map(|(_, place)| begin(place)).collect();
    let mut about = Vec::with_capacity(models.len());
    for one in begun {
        about.push(match one {
            Ok(known) => known,
            Err(asked) => asked.await.map_err(|_| Refusal::failed("a model could not be described"))?,
        });
    }
    Ok(about)
}

/// Removes the hidden files of a model: logs that were being evaluated when the process died.
fn remove_hidden(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(".evaluation-") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn recovering(name: &str) -> Refusal {
    Refusal::busy(format!("the model {name} is being recovered from its snapshot and its log; ask again"))
}

#[cfg(test)]
mod tests;

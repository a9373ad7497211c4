//! The thread that owns a model: it takes all queued commands, applies them, commits them to the
//! log together, and then answers. So every answered event is durable, and one disk write serves
//! many requests.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use noregret_stream::Fault;

use super::answers::in_conflict;
use super::engine::{Answer, Engine};
use super::event::Event;
use super::held::Held;
use super::reader::Seen;
use super::recovery::recover;
use super::shared::{Command, Reply, Saving, Shared, now};
use super::spec::{Aggregation, Service};
use crate::locks::Unpoisoned;
use crate::refusal::{Refusal, shown, shown_value};
use crate::safety::limits::Limits;
use crate::store::{self, Past, Store};
use crate::turns;

mod ahead;
mod aside;
mod behind;
mod expiry;
mod replaced;
mod rest;
mod retention;

/// Largest number of events per commit.
const GROUP: usize = 512;
/// Interval for checking waiting times when idle, and least interval between truncations of the
/// log.
const TICK: Duration = Duration::from_millis(250);
/// Interval between refusals that are logged.
const LOGGED_EVERY: Duration = Duration::from_secs(1);
/// Interval between attempts to resume a model that is suspended or refuses writes.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// See the [module](self).
pub(super) struct Writer {
    pub(super) name: String,
    pub(super) engine: Held<Engine>,
    pub(super) store: Store,
    pub(super) limits: Limits,
    pub(super) shared: Arc<Shared>,
    /// When a command last came; `None` for a model that was recovered, until one comes.
    pub(super) asked: Option<Instant>,
    /// Event number of the newest snapshot.
    pub(super) saved: u64,
    /// Commands that were taken from the queue, and are next.
    pub(super) read: VecDeque<Command>,
    /// The thread that writes a snapshot, or has written the last one.
    pub(super) saves: Option<turns::Thread>,
    /// Events at which the log can start, with their times.
    pub(super) marks: Vec<(u64, i64)>,
    /// Time of the last attempt to resume.
    pub(super) tried: Instant,
    /// Whether the state has an event that could not be written.
    pub(super) torn: bool,
    /// Whether what another node has written could not be read.
    pub(super) unread: bool,
    /// When a refusal was last logged, and how many there have been since.
    pub(super) logged: (Option<Instant>, u64),
    /// Size of the log at the last mark, in bytes.
    pub(super) marked: u64,
    /// Time of the last truncation of the log.
    pub(super) shortened: Instant,
    /// Since when events are taken and the clock has not been set ahead, and the time before that; `None`
    /// while they are not taken.
    pub(super) takes: Option<(Instant, i64)>,
    /// The time when waiting times were last looked at, also by a monotonic clock.
    pub(super) looked: Option<(i64, Instant)>,
    /// Time of the start: by the clock or the last event, whichever is later, and by a monotonic
    /// clock.
    pub(super) started: (i64, Instant),
    /// Time of the last event that it has applied, also by a monotonic clock.
    pub(super) applied: (i64, Instant),
}

/// An answer to be sent when the group is durable.
type Waiting = (Reply<Answer>, Result<Answer, Refusal>);

impl Writer {
    /// That of a model that has just been started, whose last event was at the time `last`.
    pub(super) fn new(
        name: &str,
        engine: Held<Engine>,
        store: Store,
        limits: &Limits,
        shared: Shared,
        last: i64,
    ) -> Self {
        if last > now() + 1000 {
            tracing::warn!(model = %name, "the clock is {} seconds behind the last event; times continue from that event", (last - now()) / 1000);
        }
        Self {
            name: name.to_owned(),
            engine,
            store,
            limits: limits.clone(),
            shared: Arc::new(shared),
            asked: None,
            saved: 0,
            read: VecDeque::new(),
            saves: None,
            marks: Vec::new(),
            tried: Instant::now(),
            torn: false,
            unread: false,
            logged: (None, 0),
            marked: 0,
            shortened: Instant::now(),
            takes: None,
            looked: None,
            started: (now().max(last), Instant::now()),
            applied: (last, Instant::now()),
        }
    }

    /// Does what is asked of the model until it is stopped, or until it rests and only a command can change
    /// that; whether it rests.
    pub(super) fn run(&mut self, commands: &Receiver<Command>) -> bool {
        let mut stop = false;
        while !stop {
            let received = match self.read.pop_front() {
                Some(command) => Ok(command),
                None => turns::receive(commands, TICK),
            };
            self.look_at_files();
            let first = match received {
                Ok(command) => Some(command),
                Err(RecvTimeoutError::Timeout) => {
                    self.revive();
                    self.shared.drop_unused(self.limits.rest_seconds.saturating_mul(1_000_000));
                    self.rest_sometimes();
                    if self.engine.rests() && self.failure().is_none() && self.store.common().is_none() {
                        return true;
                    }
                    None
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if first.is_some() {
                self.asked = Some(Instant::now());
            }
            if self.engine.rests() {
                match &first {
                    None if !self.is_far_behind() || !self.wakes() => continue,
                    None => {}
                    Some(Command::Stop) => break,
                    // Its sender is told that it was dropped, and those who come later why.
                    Some(_) if !self.wakes() => {
                        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
                        continue;
                    }
                    Some(_) => {}
                }
            }
            self.keep_up();
            let mut held: Vec<Waiting> = Vec::new();
            let mut begun = false;
            self.expire(&mut begun);
            let mut next = first;
            while let Some(command) = next {
                self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
                match command {
                    Command::Do(event, reply) => {
                        if self.read.is_empty() {
                            // As many as are decided before the end of the group.
                            self.look_ahead(&event, commands, GROUP - 1 - held.len());
                        }
                        let done = self.one(*event, &mut begun);
                        held.push((reply, done));
                        if self.torn {
                            self.settle(&mut held, &mut begun);
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
                turns::here();
                next = self.read.pop_front().or_else(|| commands.try_recv().ok());
            }
            self.settle(&mut held, &mut begun);
            self.save_sometimes();
            self.forget_sometimes();
        }
        false
    }

    /// Saves the model. Nothing is written later: the next model of this name has the same folder.
    pub(super) fn end(mut self) {
        if let Some(saves) = self.saves.take() {
            saves.join();
        }
        if self.engine.rests() || self.failure().is_some() {
            return;
        }
        if self.engine.standing.seq > self.saved {
            let snapshot = self.engine.snapshot();
            if let Err(what) = self.store.write_snapshot(self.engine.standing.seq, &snapshot) {
                tracing::error!(model = %self.name, "the last snapshot was not written; the log is complete: {what}");
                return;
            }
        }
        if self.may_rest() {
            self.put_away();
        }
    }

    /// Lets a model of before go on as those of this program do. Where nothing can be written, it goes on as
    /// before until the next start.
    pub(super) fn renew(&mut self) {
        if self.engine.encoder.scales_when_learnt() || !self.store.leads() {
            return;
        }
        let (mut held, mut begun) = (Vec::new(), false);
        let done = self.one(Event::Renewed, &mut begun);
        self.settle(&mut held, &mut begun);
        if done.is_ok() {
            tracing::info!(model = %self.name, "from now on, rows move the scaling when they are learnt");
        }
    }

    /// Suspends the model, whose thread has panicked in the midst of something: its state is recovered from
    /// the disk in a moment. Those who wait for an answer are told to ask again.
    pub(super) fn suspend(&mut self) {
        const WHAT: &str = "its thread failed, as the service's log says, and its state is recovered";
        tracing::error!(model = %self.name, "the model is suspended: {WHAT}");
        if !self.engine.rests() {
            self.store.roll_back();
        }
        (self.torn, self.tried) = (false, Instant::now());
        *self.shared.failed.write().unpoisoned() = Some(WHAT.to_owned());
    }

    fn failure(&self) -> Option<String> {
        self.shared.failed.read().unpoisoned().clone()
    }

    /// The time of the next event: the clock's, but never before the last event, from which time goes on
    /// where the clock was set back.
    fn at(&self) -> i64 {
        let goes_on = |(at, since): (i64, Instant)| at.saturating_add(since.elapsed().as_millis() as i64);
        let last = self.engine.standing.at;
        let last = if self.applied.0 == last { goes_on(self.applied) } else { last };
        now().max(goes_on(self.started)).max(last)
    }

    /// Applies one event, and adds it to the group; counts and logs a refusal.
    fn one(&mut self, event: Event, begun: &mut bool) -> Result<Answer, Refusal> {
        let done = self.attempt(event, begun);
        if let Err(refusal) = &done {
            self.note(refusal);
        }
        done
    }

    /// Counts a refusal; logs one a second, with the number of those before it.
    fn note(&mut self, refusal: &Refusal) {
        self.shared.refuse(&self.name);
        let (last, unlogged) = &mut self.logged;
        if last.is_some_and(|last| last.elapsed() < LOGGED_EVERY) {
            *unlogged += 1;
            return;
        }
        *last = Some(Instant::now());
        let before = std::mem::take(unlogged);
        tracing::warn!(model = %self.name, status = refusal.status, before, "refused: {refusal}");
    }

    fn attempt(&mut self, mut event: Event, begun: &mut bool) -> Result<Answer, Refusal> {
        if let Some(what) = self.failure() {
            return Err(Refusal::failed(format!("the model {} is suspended: {what}", self.name)));
        }
        self.store.check()?;
        if let Some(id) = event.new_id() {
            self.name(id)?;
        }
        if let Event::Feedback { reward, cost: Some(cost), .. } = &mut event {
            if self.engine.spec.service.aggregation == Aggregation::Sum {
                let what = "the model adds up what it hears of a decision, and rewards of costs do not add up: give rewards";
                return Err(Refusal::invalid("cost", what));
            }
            *reward = self.engine.reward_of(*cost)?;
        }
        self.engine.read_row(&mut event)?;
        self.engine.begin_features(&mut event);
        self.begin(begun)?;
        let at = self.at();
        let explored = self.engine.play.explore;
        let about_settings = event.is_about_settings();
        let (answer, outcome) = match self.engine.apply(at, &event) {
            Err(refusal) if refusal.status == 404 => return self.late(&event, refusal),
            done => done?,
        };
        self.applied = (at, Instant::now());
        let written = self.store.append(self.engine.standing.seq, at, &event, &outcome);
        let written = written.and_then(|()| match about_settings {
            true => self.store.keep_spec(&self.engine.spec),
            false => Ok(()),
        });
        // A log has one exploration setting, one way of scaling and the labels of its beginning.
        let labels = outcome.known.is_some_and(|known| self.engine.encoder.labels().len() > known as usize);
        let same = self.engine.play.explore == explored && !labels && event != Event::Renewed;
        let written = written.and_then(|()| match same {
            true => Ok(()),
            false => self.begin_log(),
        });
        if let Err(what) = written {
            self.torn = true;
            return Err(Refusal::failed(format!("the event could not be written: {what}")));
        }
        if about_settings {
            *self.shared.spec.write().unpoisoned() = self.engine.spec.clone();
        }
        Ok(answer)
    }

    /// Begins a group, before anything of it is applied: where nothing can be written, nothing has to be
    /// undone.
    fn begin(&mut self, begun: &mut bool) -> Result<(), Refusal> {
        if *begun {
            return Ok(());
        }
        let refused = |what: &str| Refusal::failed(format!("the event could not be written: {what}"));
        let before = self.shared.unwritable();
        if let Some(what) = before.as_ref().filter(|_| self.tried.elapsed() < TRY_AGAIN) {
            return Err(refused(what));
        }
        let ready = match &before {
            None => self.store.check_room(),
            Some(_) => self.store.try_write(),
        };
        match ready.and_then(|()| self.store.begin()) {
            Ok(()) => {
                if before.is_some() {
                    self.shared.set_unwritable(None);
                    tracing::info!(model = %self.name, "writes are accepted again");
                }
                *begun = true;
                Ok(())
            }
            Err(what) => {
                let what = String::from(what);
                self.refuse_writes(&what);
                Err(refused(&what))
            }
        }
    }

    /// Refuses writes for a while.
    fn refuse_writes(&mut self, what: &str) {
        self.tried = Instant::now();
        if self.shared.unwritable().is_none() {
            tracing::error!(model = %self.name, "writes are refused: {what}");
        }
        self.shared.set_unwritable(Some(what.to_owned()));
    }

    /// Starts a new segment of the log from the present state.
    fn begin_log(&mut self) -> Result<(), Fault> {
        let header = super::log::header(&self.engine, Some(self.engine.archive().digest()))?;
        self.store.begin_log(self.engine.standing.seq, &header, &self.engine.snapshot())
    }

    /// Assigns an id to a new decision or row, or checks that the given one is unused.
    fn name(&self, id: &mut String) -> Result<(), Refusal> {
        let failed = |what| Refusal::failed(what);
        if id.is_empty() {
            *id = format!("d{}", self.engine.standing.seq + 1 + self.shared.ahead.load(Ordering::Relaxed));
            while self.store.decided(id).map_err(failed)?.is_some() {
                id.push('+');
            }
        } else if self.store.decided(id).map_err(failed)?.is_some() {
            let what =
                format!("the id {} was used before; one for every decision or row was needed", shown(id));
            return Err(Refusal::conflict(what).about("id"));
        }
        Ok(())
    }

    /// Feedback for a decision that is not pending.
    fn late(&mut self, event: &Event, refusal: Refusal) -> Result<Answer, Refusal> {
        let Some(id) = event.id() else { return Err(refusal) };
        let mut past = self.store.past(id).map_err(Refusal::failed)?;
        // A sum is only closed by the waiting time.
        if self.engine.spec.service.aggregation == Aggregation::Sum
            && let Some(Past::Answered(_)) = past
        {
            past = Some(Past::Over);
        }
        let (name, id) = (id, shown(id));
        match (past, event) {
            (None, _) => {
                let what = if let Event::Label { .. } = event { "row" } else { "decision" };
                Err(Refusal {
                    field: Some("id".to_owned()),
                    ..Refusal::unknown(format!("there is no {what} with the id {id}"))
                })
            }
            (Some(Past::Labelled(before)), Event::Label { y, .. }) if before == *y => Ok(Answer::Done),
            (Some(Past::Labelled(before)), _) => Err(Refusal {
                field: Some("y".to_owned()),
                ..Refusal::conflict(format!("the label of {id} is {} already", shown_value(&before)))
            }),
            (Some(Past::Answered(before)), Event::Feedback { reward, .. }) if before == *reward => {
                Ok(Answer::Done)
            }
            (Some(Past::Answered(before)), Event::Feedback { cost, .. }) => {
                let costs = cost.map(|_| self.engine.encoder.costs().unwrap_or_default());
                Err(in_conflict(name, before, costs))
            }
            (Some(Past::Answered(_)), _) => Ok(Answer::Done),
            (Some(Past::Over), _) => Err(Refusal {
                field: Some("id".to_owned()),
                ..Refusal::gone(format!("the waiting time of {id} is over; feedback is no longer learnt"))
            }),
        }
    }

    /// Commits the group, and answers.
    fn settle(&mut self, held: &mut Vec<Waiting>, begun: &mut bool) {
        if *begun {
            turns::here();
            let began = Instant::now();
            let written =
                if self.torn { Err(Fault::from("an event before it was not")) } else { self.store.commit() };
            metrics::histogram!("noregret_commit_seconds").record(began.elapsed().as_secs_f64());
            if let Err(what) = written {
                let what = String::from(what);
                self.store.roll_back();
                self.refuse_writes(&what);
                let refusal = Refusal::failed(format!("the event could not be written: {what}"));
                for (_, done) in held.iter_mut().filter(|(_, done)| done.is_ok()) {
                    *done = Err(refusal.clone());
                }
                // The state has events that the log lacks.
                self.reload();
            }
            (*begun, self.torn) = (false, false);
        }
        self.shared.committed.store(self.engine.standing.seq, Ordering::Release);
        self.shared.followed.store(self.engine.standing.followed, Ordering::Release);
        turns::here();
        for (reply, done) in held.drain(..) {
            // The client may have disconnected.
            let _ = reply.send(done);
        }
    }

    /// Tries at intervals to resume a model that is suspended or refuses writes, for example after a full
    /// disk.
    fn revive(&mut self) {
        if self.tried.elapsed() <= TRY_AGAIN {
            return;
        }
        if self.failure().is_some() {
            self.reload();
        } else if self.shared.unwritable().is_some() {
            let mut begun = false;
            if self.begin(&mut begun).is_ok() {
                self.store.roll_back();
            }
        }
    }

    /// The state as it is on the disk, and in the common log if there is one.
    fn recovered(&self) -> Result<(Store, Engine), Fault> {
        let node = self.store.common().map(|(node, _)| node);
        recover(self.store.folder(), &self.limits, node.as_ref())?.ready(&self.name)
    }

    /// Recovers the invalid state from disk. Meanwhile requests are refused, and do not wait.
    fn reload(&mut self) {
        let first = self.failure().is_none();
        let what = "its state is recovered from its log".to_owned();
        *self.shared.failed.write().unpoisoned() = Some(what);
        match self.recovered() {
            Ok((store, engine)) => {
                self.go_on_from(store, &engine);
                self.engine = Held::new(engine);
                self.shared.set_rests(false);
                if self.shared.failed.write().unpoisoned().take().is_some() {
                    tracing::info!(model = %self.name, "the model has resumed");
                }
            }
            Err(what) => {
                self.tried = Instant::now();
                if first {
                    tracing::error!(model = %self.name, "the model is suspended: {what}");
                }
                *self.shared.failed.write().unpoisoned() = Some(what.into());
            }
        }
    }

    /// Shows the present state, whose copy is made when somebody asks for it.
    fn show(&mut self) -> Arc<Seen> {
        let seen = Arc::new(self.engine.seen());
        *self.shared.seen.write().unpoisoned() = Arc::clone(&seen);
        seen
    }

    /// The same where the state is another one.
    fn show_another(&mut self) {
        *self.shared.reader.write().unpoisoned() = None;
        self.show();
    }

    /// Enforces `retain_days` and `retain_mib`: marks events at which the log can start, and truncates the
    /// log at a mark when all earlier entries are too old, or too much. Marks are an eighth of that time or
    /// size apart, so the log is at most that much longer.
    fn forget_sometimes(&mut self) {
        let Service { retain_days, retain_mib, .. } = self.engine.spec.service;
        if (retain_days.is_none() && retain_mib.is_none())
            || self.shortened.elapsed() < TICK
            || self.failure().is_some()
            || self.engine.spec.shadow_of.is_some()
            || !self.store.leads()
        {
            return;
        }
        self.shortened = Instant::now();
        if let Err(what) = self.shorten(retain_days, retain_mib) {
            // Tried again at the next tick.
            self.store.roll_back();
            tracing::error!(model = %self.name, "the log was not truncated: {what}");
        }
    }

    /// Writes a snapshot in the background after enough events.
    fn save_sometimes(&mut self) {
        let seq = self.engine.standing.seq;
        // Pending decisions are written with it; with many of them, snapshots are less frequent.
        let waits = (self.engine.waiting.len() + self.engine.asked.len()) as u64;
        if seq - self.saved < self.limits.snapshot_every.max(waits)
            || self.failure().is_some()
            || self.shared.saving.swap(true, Ordering::AcqRel)
        {
            return;
        }
        self.saved = seq;
        let (still, folder) = (self.engine.still(), self.store.folder().to_owned());
        let (name, common) = (self.name.clone(), self.store.common());
        let saving = Saving(Arc::clone(&self.shared));
        let spawned = turns::spawn("snapshot".to_owned(), move || {
            let _saving = saving;
            let archive = still.archive();
            let written = store::write_snapshot(&folder, seq, &archive);
            if let Err(what) = written.and_then(|()| Store::share(common.as_ref(), seq, &archive)) {
                tracing::error!(model = %name, "a snapshot was not written; the log is complete: {what}");
            }
        });
        if let Ok(thread) = spawned {
            self.saves = Some(thread);
        }
    }
}

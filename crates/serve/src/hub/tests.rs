//! The life of a model (made, learnt, copied, shadowed, rolled back, replaced, deleted) against requests in
//! flight, in orders that seeds give: threads take turns, and nothing waits for a clock. `NOREGRET_SEED=17`
//! plays one seed again, `NOREGRET_LIVES=2000` plays the first two thousand.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::atomic::AtomicU64;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};

use super::*;
use crate::model::event::Event;
use crate::safety::keys::Keys;
use crate::store::{Tail, versions};
use crate::turns::stage::{Played, play};

/// How often the model is made; it is deleted before it is made again.
const LIVES: u64 = 2;
/// Number of turns in which every request has to be answered: in most plays it is some dozens.
const PATIENCE: u64 = 200_000;

/// What the clients know in common.
struct World {
    routes: TowerToHyperService<Router>,
    /// How often the model has been made.
    lives: AtomicU64,
    /// 1 when nothing more is done to it.
    over: AtomicU64,
    /// Number of clients that have ended.
    ended: AtomicU64,
    /// What was answered by 200, of requests that began in the last life.
    told: Mutex<BTreeSet<String>>,
}

/// A client; its requests are polled in its turns.
struct Client<'a> {
    world: &'a World,
    runtime: tokio::runtime::Runtime,
}

impl<'a> Client<'a> {
    fn new(world: &'a World) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        Self { world, runtime: runtime.expect("a runtime") }
    }

    /// The status and the text of an answer, which comes in time.
    fn ask(&self, method: &str, path: &str, kind: &str, body: String) -> (u16, String) {
        // Also of a client whose requests are refused at once.
        turns::here();
        let request = Request::builder().method(method).uri(path).header("content-type", kind);
        let request = request.body(Body::from(body)).expect("a request");
        let mut answered = std::pin::pin!(async {
            let Ok(response) = self.world.routes.call(request).await;
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), usize::MAX).await.expect("a whole answer");
            (status, String::from_utf8_lossy(&body).into_owned())
        });
        let mut waited = 0;
        self.runtime.block_on(poll_fn(|cx| {
            let polled = answered.as_mut().poll(cx);
            if polled.is_pending() {
                waited += 1;
                assert!(waited < PATIENCE, "{method} {path} is not answered after {waited} turns");
                turns::here();
                cx.waker().wake_by_ref();
            }
            polled
        }))
    }

    /// Asks, and accepts these statuses.
    fn may(&self, method: &str, path: &str, body: &Value, statuses: &[u16]) -> u16 {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let (status, answer) = self.ask(method, path, "application/json", text);
        assert!(statuses.contains(&status), "{method} {path}: {status} {answer}");
        status
    }

    /// Decides and learns, as long as the model is changed by others, and a little longer.
    fn use_it(&self, number: u64) {
        let path = |what: &str| format!("/v1/models/life/{what}");
        let mut after = 0;
        for round in 0.. {
            let last = self.world.lives.load(Ordering::Relaxed) == LIVES;
            let id = format!("{number}-{round}");
            let decide = json!({"id": id, "x": {"v": round}});
            let feedback = json!({"id": id, "reward": round % 2});
            let statuses = [200, 404, 409, 410, 503];
            for (what, body) in [("decide", decide), ("feedback", feedback)] {
                if self.may("POST", &path(what), &body, &statuses) == 200 && last {
                    self.tell(format!("{what} {id}"));
                }
            }
            self.may("POST", &path("predict"), &json!({"x": {"v": 1}}), &statuses);
            let ids: Vec<String> = (0..3).map(|line| format!("{id}-{line}")).collect();
            let line = |id: &String| format!("{{\"id\": \"{id}\", \"x\": {{\"v\": 2}}}}\n");
            let lines: String = ids.iter().map(line).collect();
            let (status, answers) = self.ask("POST", &path("decide"), "application/x-ndjson", lines);
            assert!(statuses.contains(&status), "{status} {answers}");
            if status == 200 {
                assert_eq!(answers.lines().count(), ids.len(), "{answers}");
                for (id, answer) in ids.iter().zip(answers.lines()) {
                    if last && !answer.contains("\"error\"") {
                        self.tell(format!("decide {id}"));
                    }
                }
            }
            after += self.world.over.load(Ordering::Relaxed);
            if after > 2 {
                return;
            }
        }
    }

    fn tell(&self, what: String) {
        self.world.told.lock().unpoisoned().insert(what);
    }

    /// Makes the model, changes it and deletes it.
    fn keep_it(&self) {
        let life = |path: &str| format!("/v1/models/life{path}");
        for lives in 1..=LIVES {
            let spec = json!({"feedback": "bandit", "learner": "soba", "labels": ["a", "b"]});
            self.may("PUT", &life(""), &spec, &[201]);
            self.world.lives.store(lives, Ordering::Relaxed);
            let shadow = json!({"shadow_of": "life", "learner": "banditron"});
            self.may("PUT", "/v1/models/beside", &shadow, &[201]);
            self.may("POST", &life("/copy"), &json!({"to": "twin"}), &[201]);
            self.may("POST", &life("/versions"), &Value::Null, &[201]);
            // The first snapshot may have been removed by then, or be removed meanwhile.
            self.may("POST", &life("/rollback"), &json!({"version": 0}), &[200, 404, 503]);
            self.may("POST", &life("/promote"), &json!({"shadow": "beside"}), &[200, 503]);
            if lives < LIVES {
                for model in ["twin", "beside"] {
                    self.may("DELETE", &format!("/v1/models/{model}"), &Value::Null, &[204]);
                }
                // While it has another shadow, it is not deleted.
                while self.may("DELETE", &life(""), &Value::Null, &[204, 409]) == 409 {}
            }
        }
        self.world.over.store(1, Ordering::Relaxed);
    }

    /// Makes shadows of the model and deletes them.
    fn shadow_it(&self) {
        let shadow = json!({"shadow_of": "life", "learner": "banditron"});
        while self.world.over.load(Ordering::Relaxed) == 0 {
            if self.may("PUT", "/v1/models/other", &shadow, &[201, 404, 503]) == 201 {
                // A model is not deleted before its shadows.
                self.may("GET", "/v1/models/life", &Value::Null, &[200]);
                self.may("DELETE", "/v1/models/other", &Value::Null, &[204]);
            }
        }
    }
}

/// A folder in memory, if there is such a disk: nothing is to be kept.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder")
}

/// What must hold of the model `name` in `folder` when nothing is done any more; what its log has.
fn checked(folder: &Path, limits: &Limits, name: &str) -> BTreeSet<String> {
    let folder = folder.join("models").join(name);
    let log = Tail::open(&folder).and_then(|tail| tail.after(0, u32::MAX)).expect("a log");
    let last = log.last().map_or(0, |(seq, ..)| *seq);
    let newer = versions(&folder).expect("versions").into_iter().filter(|seq| *seq > last);
    let newer: Vec<u64> = newer.collect();
    assert!(newer.is_empty(), "{name}: the snapshots {newer:?} are of another model: its log ends at {last}");
    recover(&folder, limits, None).and_then(|model| model.ready(name)).expect("it is recovered");
    let mut has = BTreeSet::new();
    for (_, event, _) in log {
        let what = match event {
            Event::Decide(decide) => format!("decide {}", decide.id),
            Event::Feedback { id, .. } => format!("feedback {id}"),
            Event::Followed { seq, .. } => format!("followed {seq}"),
            _ => continue,
        };
        assert!(!has.contains(&what), "{name} has it twice: {what}");
        has.insert(what);
    }
    has
}

/// Says how a play that failed is played again.
struct Said(u64);

impl Drop for Said {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("NOREGRET_SEED={} plays this order again", self.0);
        }
    }
}

/// Plays the life of a model in the order of `seed`.
fn lived(seed: u64) -> Played {
    let _said = Said(seed);
    let temporary = folder();
    // In every second play models rest whenever nobody asks.
    let rest_seconds = if seed.is_multiple_of(2) { 0 } else { 60 };
    let limits = Limits { snapshot_every: 4, rest_seconds, ..Limits::default() };
    let app = crate::open(temporary.path(), &limits, Keys::default(), None, None);
    let app = Arc::new(app.expect("a service"));
    let world = Arc::new(World {
        routes: TowerToHyperService::new(crate::router(Arc::clone(&app))),
        lives: AtomicU64::new(0),
        over: AtomicU64::new(0),
        ended: AtomicU64::new(0),
        told: Mutex::new(BTreeSet::new()),
    });
    let played = play(seed, || {
        let clients: Vec<turns::Thread> = (0..4)
            .map(|number| {
                let world = Arc::clone(&world);
                let work = move || {
                    let client = Client::new(&world);
                    match number {
                        0 => client.keep_it(),
                        1 => client.shadow_it(),
                        _ => client.use_it(number),
                    }
                    world.ended.fetch_add(1, Ordering::Relaxed);
                };
                turns::spawn(format!("client {number}"), work).expect("a thread")
            })
            .collect();
        let number = clients.len() as u64;
        clients.into_iter().for_each(turns::Thread::join);
        assert_eq!(world.ended.load(Ordering::Relaxed), number, "a client has failed; it has said why");
        for (_, place) in app.hub.list() {
            if let Place::Running(handle) = place {
                handle.stop();
            }
        }
    });
    let names: Vec<String> = app.hub.list().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["beside", "life", "twin"]);
    for name in ["beside", "twin"] {
        checked(temporary.path(), &limits, name);
    }
    let has = checked(temporary.path(), &limits, "life");
    let told = world.told.lock().unpoisoned();
    let lost: Vec<&String> = told.difference(&has).collect();
    assert!(lost.is_empty(), "answered, and not in the log: {lost:?}");
    assert!(!told.is_empty(), "something was answered");
    played
}

#[test]
fn every_request_ends_in_whatever_order_things_happen() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let seeds = match number("NOREGRET_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("NOREGRET_LIVES").unwrap_or(40),
    };
    let (lives, turns) = seeds.fold((0, 0), |(lives, turns), seed| (lives + 1, turns + lived(seed).turns));
    eprintln!("{lives} lives in {turns} turns");
}

/// Else a failure could not be had again.
#[test]
fn a_seed_gives_one_order() {
    assert_eq!(lived(1), lived(1));
}

#[test]
fn models_that_somebody_asks_for_are_recovered_first() {
    let temporary = folder();
    for name in ["a", "b", "c", "d"] {
        std::fs::create_dir_all(temporary.path().join("models").join(name)).expect("a folder");
    }
    let hub = Hub::open(temporary.path(), &Limits::default(), None).expect("a folder");
    for name in ["c", "d", "c"] {
        assert!(hub.get(name).is_err_and(|refusal| refusal.status == 503), "{name}");
    }
    let left = hub.left.lock().expect("no other thread");
    assert!(left.iter().eq(&["c", "d", "a", "b"]), "{left:?}");
}

/// A fault of the program about one model: that is not served, and the others are still recovered.
#[test]
fn a_fault_in_a_recovery_is_about_one_model() {
    let temporary = folder();
    for name in ["at-fault", "empty"] {
        std::fs::create_dir_all(temporary.path().join("models").join(name)).expect("a folder");
    }
    let hub = Hub::open(temporary.path(), &Limits::default(), None).expect("a folder");
    while hub.recover_next() {}
    for (name, what) in [("at-fault", "a fault of the program"), ("empty", "events.sqlite")] {
        let refusal = hub.get(name).err().expect("it is not served");
        assert!(refusal.detail.contains(what), "{refusal}");
    }
}

/// A model that could not be recovered is tried again later.
#[test]
fn what_could_not_be_recovered_is_tried_again() {
    let temporary = folder();
    let open = || Hub::open(temporary.path(), &Limits::default(), None).expect("a folder");
    let hub = open();
    let spec: Spec = serde_json::from_value(json!({"learner": "ogd"})).expect("a spec");
    hub.create("m", spec).expect("it is made");
    hub.stop();
    let (log, away) = (temporary.path().join("models/m/events.sqlite"), temporary.path().join("away"));
    std::fs::rename(&log, &away).expect("movable");
    let hub = open();
    while hub.recover_next() {}
    assert!(hub.get("m").is_err_and(|refusal| refusal.detail.contains("events.sqlite")));
    assert!(!hub.try_again(), "it is too early");
    hub.again.lock().expect("no other thread").wait = Duration::ZERO;
    assert!(hub.try_again());
    while hub.recover_next() {}
    assert!(hub.get("m").is_err());
    std::fs::rename(&away, &log).expect("movable");
    assert!(hub.try_again());
    while hub.recover_next() {}
    hub.get("m").expect("it is served");
    assert!(!hub.try_again());
    hub.stop();
}

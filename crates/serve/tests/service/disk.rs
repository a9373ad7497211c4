//! Damaged and changed files, a clock that is set back, and backups.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use noregret_serve::Limits;
use serde_json::json;

use super::support::Service;

/// An event that comes to something else than it did, a missing one, a database that is none: refused with a
/// sentence, and the other models are served.
#[test]
fn a_changed_log_is_not_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for model in ["good", "bad"] {
        service
            .put(&format!("/v1/models/{model}"), &json!({"feedback": "bandit", "labels": ["a", "b"]}))
            .ok(201);
        for _ in 0..5 {
            service.post(&format!("/v1/models/{model}/decide"), &json!({"x": {}})).ok(200);
        }
    }
    service.stop();
    let snapshots = folder.path().join("models/bad/snapshots");
    for entry in std::fs::read_dir(&snapshots).expect("snapshots") {
        let path = entry.expect("an entry").path();
        if !path.ends_with("00000000000000000000.safetensors") {
            std::fs::remove_file(path).expect("removable");
        }
    }
    let database = folder.path().join("models/bad/events.sqlite");
    let db = rusqlite::Connection::open(&database).expect("a database");
    db.execute("DELETE FROM events WHERE seq = 3", []).expect("one event less");
    drop(db);
    let service = Service::start(folder.path());
    let answer = service.post("/v1/models/bad/decide", &json!({"x": {}}));
    assert_eq!(answer.status, 503);
    assert!(answer.json()["detail"].as_str().is_some_and(|what| what.contains("missing")), "{answer:?}");
    assert_eq!(service.get("/healthz").status, 503);
    service.post("/v1/models/good/decide", &json!({"x": {}})).ok(200);
    // Its files can still be copied, and are.
    let backup = service.post("/v1/backup", &json!({"name": "sunday"})).ok(201);
    assert_eq!(backup, json!({"backup": "sunday", "models": ["bad", "good"], "not_served": ["bad"]}));
    assert!(folder.path().join("backups/sunday/models/bad/events.sqlite").exists());
    service.stop();
    std::fs::write(&database, "no database at all").expect("writable");
    let service = Service::start(folder.path());
    assert_eq!(service.get("/v1/models/bad").status, 503);
    // A backup never leaves a model out without a word.
    let answer = service.post("/v1/backup", &json!({"name": "monday"}));
    assert_eq!(answer.status, 503);
    assert!(
        answer.json()["detail"].as_str().is_some_and(|what| what.contains("the model bad")),
        "{answer:?}"
    );
    assert!(!folder.path().join("backups/monday").exists());
    service.delete("/v1/models/bad").ok(204);
    assert_eq!(service.get("/healthz").status, 200);
}

/// A log that cannot be read to its end never looks like a whole one: the answer is a refusal, or breaks off.
#[test]
fn a_log_that_cannot_be_read_does_not_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let row = json!({"x": {"v": 1, "said": "x".repeat(500)}, "y": "a"}).to_string();
    let rows = vec![row; 500].join("\n");
    service.send("POST", "/v1/models/m/learn", "application/x-ndjson", rows.as_bytes());
    let read = || {
        let mut stream = TcpStream::connect(service.address).expect("a connection");
        let ask = "GET /v1/models/m/log HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        stream.write_all(ask.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        (
            answer.get(..12).unwrap_or_default().to_owned(),
            answer.lines().count(),
            answer.ends_with("0\r\n\r\n"),
        )
    };
    let whole = read();
    assert!(whole.0 == "HTTP/1.1 200" && whole.1 > 500 && whole.2, "{whole:?}");
    let db = rusqlite::Connection::open(folder.path().join("models/m/events.sqlite")).expect("a database");
    db.execute("UPDATE events SET body = 'x' WHERE seq = 490", []).expect("a change");
    let half = read();
    // What breaks off early may leave no byte behind.
    assert!(["HTTP/1.1 200", ""].contains(&&*half.0) && half.1 < whole.1 && !half.2, "{half:?}");
    db.execute("UPDATE events SET body = 'x' WHERE seq = 2", []).expect("a change");
    let refused = service.get("/v1/models/m/log");
    assert_eq!(refused.status, 503, "{refused:?}");
}

/// A client that takes its time with a log does not keep what is written meanwhile in the write-ahead log.
#[test]
fn a_slow_reader_of_a_log_holds_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::with(folder.path(), Limits { answer_seconds: 600, ..Limits::default() });
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    // A log of 20 MB, more than what is on its way to the client.
    let texts: Vec<String> = (0..100).map(|at| format!("{at}{}", "x".repeat(1000))).collect();
    for _ in 0..200 {
        service.post("/v1/models/m/learn", &json!({"x": {"said": texts}, "y": "a"})).ok(200);
    }
    let mut stream = TcpStream::connect(service.address).expect("a connection");
    stream.write_all(b"GET /v1/models/m/log HTTP/1.1\r\nhost: a\r\n\r\n").expect("sent");
    stream.read_exact(&mut [0; 1000]).expect("it begins");
    for t in 0..1000 {
        service.post("/v1/models/m/learn", &json!({"x": {"v": t % 5}, "y": "b"})).ok(200);
    }
    let ahead = folder.path().join("models/m/events.sqlite-wal");
    let bytes = std::fs::metadata(ahead).expect("a file").len();
    assert!(bytes < 3 << 20, "{bytes} bytes");
}

/// A page of the database is torn: refused with a sentence, and the other models are served.
#[test]
fn a_torn_page_is_not_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for model in ["good", "bad"] {
        service.put(&format!("/v1/models/{model}"), &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
        for t in 0..60 {
            let row = json!({"x": {"v": t, "text": "x".repeat(500)}, "y": "a"});
            service.post(&format!("/v1/models/{model}/learn"), &row).ok(200);
        }
    }
    service.stop();
    let database = folder.path().join("models/bad/events.sqlite");
    let mut bytes = std::fs::read(&database).expect("a database");
    let page = 4096 * (bytes.len() / 4096 / 2);
    bytes[page..page + 2048].fill(0);
    std::fs::write(&database, bytes).expect("writable");
    let service = Service::start(folder.path());
    let answer = service.post("/v1/models/bad/predict", &json!({"x": {}}));
    assert_eq!(answer.status, 503);
    assert!(answer.json()["detail"].as_str().is_some_and(|what| what.contains("damaged")), "{answer:?}");
    service.post("/v1/models/good/predict", &json!({"x": {}})).ok(200);
}

/// The clock is set back by ten days: decisions still end in their waiting time, and the log's times do not
/// go back.
#[test]
fn the_clock_is_set_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = json!({"feedback": "bandit", "labels": ["a", "b"], "service": {"wait_seconds": 0.5, "default_reward": 0}});
    service.put("/v1/models/m", &spec).ok(201);
    service.post("/v1/models/m/decide", &json!({"x": {}})).ok(200);
    std::thread::sleep(Duration::from_millis(1200));
    service.stop();
    // The same as a clock that was ahead then: what the log says was in ten days.
    let snapshots = folder.path().join("models/m/snapshots");
    for entry in std::fs::read_dir(&snapshots).expect("snapshots") {
        let path = entry.expect("an entry").path();
        if !path.ends_with("00000000000000000000.safetensors") {
            std::fs::remove_file(path).expect("removable");
        }
    }
    let database = folder.path().join("models/m/events.sqlite");
    let db = rusqlite::Connection::open(&database).expect("a database");
    db.execute("UPDATE events SET at = at + 864000000", []).expect("ten days more");
    drop(db);
    let service = Service::start(folder.path());
    let id = service.post("/v1/models/m/decide", &json!({"x": {}})).ok(200)["id"].clone();
    std::thread::sleep(Duration::from_millis(1300));
    assert_eq!(service.post("/v1/models/m/feedback", &json!({"id": id, "correct": true})).status, 410);
    assert_eq!(service.get("/v1/models/m").ok(200)["scores"]["expired"], 2);
    service.stop();
    let db = rusqlite::Connection::open(&database).expect("a database");
    let mut of = db.prepare("SELECT at FROM events ORDER BY seq").expect("events");
    let times: Vec<i64> =
        of.query_map([], |row| row.get(0)).expect("rows").map(|at| at.expect("a time")).collect();
    assert!(times.len() >= 4 && times.is_sorted(), "{times:?}");
}

/// A backup of a model that learns all the time ends, and has what was learnt before it.
#[test]
fn a_backup_ends_while_its_model_learns() {
    // Far more rows than are learnt while it is made: one that waits until nothing is written sees the last.
    const MOST: u64 = 20_000;
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    // A log of 40 MB.
    let texts: Vec<String> = (0..100).map(|at| format!("{at}{}", "x".repeat(1000))).collect();
    for _ in 0..400 {
        service.post("/v1/models/m/learn", &json!({"x": {"said": texts}, "y": "a"})).ok(200);
    }
    let done = AtomicBool::new(false);
    let rows = std::thread::scope(|scope| {
        let learning = scope.spawn(|| {
            let mut rows = 0;
            while rows < MOST && !done.load(Ordering::Relaxed) {
                service.post("/v1/models/m/learn", &json!({"x": {"v": rows % 5}, "y": "b"})).ok(200);
                rows += 1;
            }
            rows
        });
        service.post("/v1/backup", &json!({"name": "monday"})).ok(201);
        done.store(true, Ordering::Relaxed);
        learning.join().expect("no panic")
    });
    assert!(rows < MOST, "it waited until nothing was written");
    let copy = Service::start(&folder.path().join("backups/monday"));
    let kept = copy.get("/v1/models/m").ok(200)["rounds"].as_u64().expect("a number");
    assert!((400..=400 + rows).contains(&kept), "{kept} of {rows} more than 400");
}

/// A model whose folder cannot be removed stays, with the reason, and may be deleted again; before, it was
/// gone until the next start, and none of its name could be made.
#[test]
fn a_model_that_cannot_be_deleted_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = json!({"learner": "ogd", "labels": ["a", "b"]});
    service.put("/v1/models/m", &spec).ok(201);
    // Where the folder is moved to.
    let aside = folder.path().join("models/.m.deleted");
    std::fs::write(&aside, "in the way").expect("writable");
    assert_eq!(service.delete("/v1/models/m").status, 503);
    let answer = service.get("/v1/models/m");
    let said = answer.json()["detail"].as_str().is_some_and(|what| what.contains("could not be deleted"));
    assert!(answer.status == 503 && said, "{answer:?}");
    // What is left of a model before is removed with it.
    std::fs::remove_file(&aside).expect("removable");
    std::fs::create_dir_all(aside.join("left")).expect("writable");
    service.delete("/v1/models/m").ok(204);
    service.get("/v1/models/m").ok(404);
    assert!(!aside.exists());
    service.put("/v1/models/m", &spec).ok(201);
}

/// A model whose folder is moved away while it is awake refuses what it is told, and goes on from the backup
/// that is put in its place.
#[test]
fn a_folder_is_replaced_while_its_model_is_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let learn = || service.post("/v1/models/m/learn", &json!({"x": {"v": 1}, "y": "a"}));
    for _ in 0..3 {
        learn().ok(200);
    }
    service.post("/v1/backup", &json!({"name": "monday"})).ok(201);
    learn().ok(200);
    let (model, copy) = (folder.path().join("models/m"), folder.path().join("copy"));
    super::years::copy(&folder.path().join("backups/monday/models/m"), &copy);
    std::fs::rename(&model, folder.path().join("aside")).expect("movable");
    let refused = learn();
    assert_eq!(refused.status, 503, "{refused:?}");
    std::fs::rename(&copy, &model).expect("movable");
    // Every two seconds it looks again.
    let begun = Instant::now();
    while learn().status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", service.get("/healthz"));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 4);
    service.stop();
    let service = Service::start(folder.path());
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 4);
}

/// An older log that is put in the place of that of a model that rests is the one that goes on.
#[test]
fn a_log_is_replaced_while_its_model_rests() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::with(folder.path(), Limits { rest_seconds: 0, ..Limits::default() });
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let learn = |rows: u64| {
        for _ in 0..rows {
            service.post("/v1/models/m/learn", &json!({"x": {"v": 1}, "y": "a"})).ok(200);
        }
    };
    learn(3);
    service.post("/v1/backup", &json!({"name": "monday"})).ok(201);
    learn(4);
    while service.get("/v1/models/m").ok(200)["resting"] != true {
        std::thread::sleep(Duration::from_millis(20));
    }
    let log = "models/m/events.sqlite";
    let copied = std::fs::copy(folder.path().join("backups/monday").join(log), folder.path().join(log));
    copied.expect("writable");
    learn(1);
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 4);
    service.stop();
    let service = Service::start(folder.path());
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 4);
}

/// The disk gets back what a deleted log took: a full one takes events again, and the model goes on.
#[test]
fn a_deleted_log_leaves_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let texts: Vec<String> = (0..100).map(|at| format!("{at}{}", "x".repeat(1000))).collect();
    let row = json!({"x": {"said": texts}, "y": "a"});
    let learn = |service: &Service, rows: u64| {
        for _ in 0..rows {
            service.post("/v1/models/m/learn", &row).ok(200);
        }
    };
    let bytes = || -> u64 {
        let files =
            ["events.sqlite", "events.sqlite-wal"].map(|file| folder.path().join("models/m").join(file));
        files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|file| file.len()).sum()
    };
    learn(&service, 40);
    assert!(bytes() > 3 << 20, "{} bytes", bytes());
    service.delete("/v1/models/m/log").ok(204);
    assert!(bytes() < 1 << 19, "{} bytes", bytes());
    learn(&service, 2);
    service.stop();
    let service = Service::start(folder.path());
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 42);
    assert_eq!(service.get("/v1/models/m/log").lines().len(), 2);
}

/// The reports of a loop of Personalizer's protocol are part of a backup.
#[test]
fn reports_are_in_backups() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let of_loop = |path: &str| format!("/loops/site/personalizer/{path}");
    let actions = json!([{"id": "a", "features": [{"v": 1}]}, {"id": "b", "features": [{"v": 2}]}]);
    for _ in 0..3 {
        let ranked = service.post(&of_loop("rank"), &json!({"actions": actions})).ok(201);
        let event = ranked["eventId"].as_str().expect("an event").to_owned();
        service.post(&of_loop(&format!("events/{event}/reward")), &json!({"value": 1})).ok(204);
    }
    let times =
        json!({"name": "all", "startTime": "2020-01-01T00:00:00Z", "endTime": "2100-01-01T00:00:00Z"});
    service.put(&of_loop("evaluations/first"), &times).ok(200);
    let report = service.get(&of_loop("evaluations/first")).ok(200);
    service.post("/v1/backup", &json!({"name": "monday"})).ok(201);
    let copy = Service::start(&folder.path().join("backups/monday"));
    assert_eq!(copy.get(&of_loop("evaluations/first")).ok(200), report);
}

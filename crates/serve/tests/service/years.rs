//! Folders of earlier programs, and models whose snapshots can no longer be read.

use std::path::Path;

use noregret_serve::Limits;
use serde_json::json;

use super::support::Service;

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("writable");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("writable");
        }
    }
}

/// Every folder in `testdata/folders`, by the version of the program that wrote it, is opened: the models
/// have learnt what they had learnt, forecast what they forecast then, and go on; also after another start.
#[test]
fn folders_of_every_version_open() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/folders");
    let mut versions = 0;
    for entry in std::fs::read_dir(stored).expect("folders") {
        let folder = tempfile::tempdir().expect("a folder");
        copy(&entry.expect("an entry").path(), folder.path());
        for start in 0..2 {
            let service = Service::start(folder.path());
            assert_eq!(service.get("/healthz").ok(200)["states"], json!({"ready": 2}));
            let forecast = |model: &str, x| {
                service.post(&format!("/v1/models/{model}/predict"), &json!({"x": x})).ok(200)
            };
            if start == 0 {
                let at = forecast("labels", json!({"weight": 3, "colour": "grey"}));
                assert_eq!(
                    (&at["label"], &at["p"]["cat"]),
                    (&json!("dog"), &json!(0.442_969_155_165_495_95))
                );
                // From here on, rows move the scaling when they are learnt, and a new log says so.
                let log = service.get("/v1/models/rewards/log").lines();
                assert_eq!((log.len(), &log[0]["encoding"]["when_learnt"]), (1, &json!(true)), "{log:?}");
                let at = forecast("rewards", json!({"hour": 3, "device": "phone"}));
                assert_eq!(
                    (&at["label"], &at["p"]["red"]),
                    (&json!("green"), &json!(0.016_666_666_666_666_666))
                );
            }
            assert_eq!(service.get("/v1/models/labels").ok(200)["rounds"], 60 + start);
            let about = service.get("/v1/models/rewards").ok(200);
            assert_eq!(
                (&about["rounds"], &about["scores"]["waiting"]),
                (&json!(50 + start), &json!(10 - start))
            );
            service.post("/v1/models/labels/learn", &json!({"x": {"weight": 1}, "y": "cat"})).ok(200);
            let id = format!("d{}", 50 + start);
            service.post("/v1/models/rewards/feedback", &json!({"id": id, "correct": true})).ok(200);
        }
        versions += 1;
    }
    assert!(versions > 0, "no folder was found");
}

/// No snapshot can be read, as after a change of their format, or there is none: the models are made again
/// from their settings and their logs, which are learnt as they were, and what waits goes on waiting.
#[test]
fn models_are_made_again_from_their_logs() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let service_of = json!({"wait_seconds": 3600});
    let spec =
        json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"], "service": service_of});
    service.put("/v1/models/rewards", &spec).ok(201);
    service.put("/v1/models/labels", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    for t in 0..60 {
        let decision = service
            .post("/v1/models/rewards/decide", &json!({"x": {"v": t % 5}, "id": format!("d{t}")}))
            .ok(200);
        let right = (decision["label"] == "a") == (t % 5 > 2);
        if t < 50 {
            service
                .post("/v1/models/rewards/feedback", &json!({"id": decision["id"], "correct": right}))
                .ok(200);
        }
        let row = json!({"x": {"v": t % 5}, "y": if t % 5 > 2 { "a" } else { "b" }});
        service.post("/v1/models/labels/learn", &row).ok(200);
    }
    let forecasts = |service: &Service| {
        ["rewards", "labels"].map(|model| {
            service.post(&format!("/v1/models/{model}/predict"), &json!({"x": {"v": 4}})).ok(200)
        })
    };
    let before = forecasts(&service);
    service.stop();
    let snapshots = |model: &str| folder.path().join("models").join(model).join("snapshots");
    for entry in std::fs::read_dir(snapshots("rewards")).expect("snapshots") {
        std::fs::write(entry.expect("an entry").path(), "another format").expect("writable");
    }
    // Of this one only the log is there, as in a copy of the database.
    std::fs::remove_dir_all(snapshots("labels")).expect("removable");
    let service = Service::start(folder.path());
    assert_eq!(forecasts(&service), before);
    let about = service.get("/v1/models/rewards").ok(200);
    assert_eq!((&about["rounds"], &about["scores"]["waiting"]), (&json!(50), &json!(10)), "{about}");
    service.post("/v1/models/rewards/feedback", &json!({"id": "d55", "correct": true})).ok(200);
    let again = service.post("/v1/models/rewards/decide", &json!({"x": {}, "id": "d3"}));
    assert_eq!(again.status, 409, "what was decided before stays known");
    service.post("/v1/models/rewards/decide", &json!({"x": {"v": 1}})).ok(200);
    service.stop();
    // From now on it is recovered as any other.
    let service = Service::start(folder.path());
    assert_eq!(service.get("/v1/models/rewards").ok(200)["rounds"], 51);
}

/// A service that is killed again and again does not take longer and longer to start: what was done again is
/// kept in a snapshot.
#[test]
fn long_recoveries_are_not_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let rows: Vec<String> =
        (0..1500).map(|t| json!({"x": {"v": t % 5}, "y": (["a", "b"][t % 2])}).to_string()).collect();
    service.send("POST", "/v1/models/m/learn", "application/x-ndjson", rows.join("\n").as_bytes());
    service.stop();
    let newest = || super::support::newest_snapshot(folder.path(), "m");
    let last = newest();
    assert!(last.ends_with("00000000000000001500.safetensors"), "{}", last.display());
    std::fs::remove_file(&last).expect("removable");
    let service = Service::start(folder.path());
    assert_eq!(newest(), last);
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 1500);
}

/// A log that gives other results than were recorded is refused, and learnt again if that is asked for.
#[test]
fn other_results_are_learnt_again_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service
        .put("/v1/models/m", &json!({"feedback": "bandit", "learner": "banditron", "labels": ["a", "b"]}))
        .ok(201);
    for t in 0..20 {
        let decision = service.post("/v1/models/m/decide", &json!({"x": {"v": t}})).ok(200);
        service.post("/v1/models/m/feedback", &json!({"id": decision["id"], "correct": t % 2 == 0})).ok(200);
    }
    service.stop();
    let snapshot = super::support::newest_snapshot(folder.path(), "m");
    std::fs::remove_file(snapshot).expect("removable");
    let db = rusqlite::Connection::open(folder.path().join("models/m/events.sqlite")).expect("a database");
    db.execute(
        "UPDATE events SET outcome = replace(outcome, '\"round\":2', '\"round\":7') WHERE seq = 3",
        [],
    )
    .expect("a change");
    drop(db);
    let service = Service::start(folder.path());
    let answer = service.get("/v1/models/m");
    assert_eq!(answer.status, 503);
    assert!(answer.json()["detail"].as_str().is_some_and(|what| what.contains("differs")), "{answer:?}");
    service.stop();
    let service = Service::with(folder.path(), Limits { rebuild: true, ..Limits::default() });
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 20);
}

/// A model that is made again from a log that does not have all of it says so in its state, in the health and
/// in the metrics, also after another start; one whose log has everything is made again without a loss.
#[test]
fn what_a_rebuilt_model_lacks_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = json!({"learner": "ogd", "labels": ["a", "b"]});
    service.put("/v1/models/whole", &spec).ok(201);
    service.put("/v1/models/cut", &spec).ok(201);
    let learn = |service: &Service, model: &str, count: u64| {
        for t in 0..count {
            let row = json!({"x": {"v": t % 5}, "y": if t % 5 > 2 { "a" } else { "b" }});
            service.post(&format!("/v1/models/{model}/learn"), &row).ok(200);
        }
    };
    learn(&service, "whole", 10);
    learn(&service, "cut", 7);
    service.delete("/v1/models/cut/log").ok(204);
    learn(&service, "cut", 3);
    let file = service.get("/v1/models/whole/model").bytes;
    service.send("PUT", "/v1/models/filed/model", "application/octet-stream", &file).ok(201);
    learn(&service, "filed", 2);
    assert_eq!(service.get("/v1/models/whole").ok(200)["rebuilt"], json!(null));
    service.stop();
    for model in ["whole", "cut", "filed"] {
        for kind in ["snapshots", "marks"] {
            let states = std::fs::read_dir(folder.path().join("models").join(model).join(kind));
            for entry in states.into_iter().flatten() {
                std::fs::write(entry.expect("an entry").path(), "another format").expect("writable");
            }
        }
    }
    for _ in 0..2 {
        let service = Service::start(folder.path());
        let rebuilt = |model: &str| service.get(&format!("/v1/models/{model}")).ok(200)["rebuilt"].clone();
        let (whole, cut, filed) = (rebuilt("whole"), rebuilt("cut"), rebuilt("filed"));
        assert_eq!((&whole["learnt"], &whole["lost"]), (&json!(10), &json!(null)), "{whole}");
        assert_eq!((&cut["learnt"], &cut["deleted"]), (&json!(3), &json!(7)), "{cut}");
        let health = service.get("/healthz").ok(200);
        assert_eq!(health["incomplete"], json!(["cut", "filed"]), "{health}");
        for (model, about, what) in [("cut", &cut, "7 earlier ones"), ("filed", &filed, "came from a file")] {
            let lost = about["lost"].as_str().expect("a sentence");
            assert!(lost.contains(what), "{lost}");
            assert_eq!(health["by_name"][model]["lost"], lost);
        }
        let metrics = String::from_utf8(service.get("/metrics").bytes).expect("text");
        for (model, value) in [("whole", 0), ("cut", 1), ("filed", 1)] {
            let line = format!("noregret_incomplete{{model=\"{model}\"}} {value}");
            assert!(metrics.contains(&line), "{metrics}");
        }
        service.stop();
    }
}

//! Shadows that learn beside a model, labels that come later, and logs that are kept for some time only.

use noregret_serve::Limits;
use serde_json::{Value, json};

use super::support::Service;

/// Waits until the shadow knows of every event of its model.
pub(crate) fn caught_up(service: &Service, live: &str, shadow: &str) -> Value {
    for _ in 0..400 {
        let about = service.get(&format!("/v1/models/{shadow}")).ok(200);
        if about["followed"] == service.get(&format!("/v1/models/{live}")).ok(200)["version"] {
            return about;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("the shadow does not follow");
}

fn play(service: &Service, model: &str, rounds: std::ops::Range<u64>) -> f64 {
    let mut earned = 0.0;
    for t in rounds {
        let likes = ["sport", "art", "news"][(t % 3) as usize];
        let labels = json!({"a": {"topic": "sport"}, "b": {"topic": "art"}, "c": {"topic": "news"}});
        let body = json!({"x": {"likes": likes}, "labels": labels});
        let decision = service.post(&format!("/v1/models/{model}/decide"), &body).ok(200);
        let label = decision["label"].as_str().expect("a label");
        let reward = f64::from(u8::from(labels[label]["topic"] == likes));
        earned += reward;
        let answer = json!({"id": decision["id"], "reward": reward});
        service.post(&format!("/v1/models/{model}/feedback"), &answer).ok(200);
    }
    earned
}

/// A model that plays the first label that is on offer, and a shadow that learns from what that earns; it
/// survives a restart, says what it would have earned, and takes over.
#[test]
fn a_shadow_learns_and_takes_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let params = json!({"width": 256, "classes": 4, "floor": 0.2});
    service.put("/v1/models/live", &json!({"feedback": "bandit", "params": params})).ok(201);
    play(&service, "live", 0..40);
    let refused = service.put("/v1/models/other", &json!({"shadow_of": "nobody"}));
    assert_eq!((refused.status, &refused.json()["field"]), (404, &json!("shadow_of")));
    let refused = service.put("/v1/models/other", &json!({"shadow_of": "live", "params": {"width": 512}}));
    assert_eq!((refused.status, &refused.json()["field"]), (422, &json!("learner")));
    service.put("/v1/models/beside", &json!({"shadow_of": "live"})).ok(201);
    // All of the log, and what comes.
    assert_eq!(caught_up(&service, "live", "beside")["rounds"], 40);
    play(&service, "live", 40..80);
    service.stop();
    service = Service::start(folder.path());
    play(&service, "live", 80..300);
    let shadow = caught_up(&service, "live", "beside");
    assert_eq!((&shadow["rounds"], &shadow["scores"]["answered"]), (&json!(300), &json!(300)), "{shadow}");
    let scores = &shadow["scores"];
    let (live, instead) = (scores["live_reward"].as_f64().expect("a reward"), &scores["instead"]);
    // Without the floor it would have played better.
    assert!(
        instead["value"].as_f64() > Some(live) && instead["standard_error"].as_f64() < Some(0.2),
        "{scores}"
    );
    for (path, body) in [
        ("decide", json!({"x": {}, "labels": ["a", "b"]})),
        ("feedback", json!({"id": "d1", "reward": 1})),
        ("rollback", json!({"version": 0})),
        ("evaluate", json!({"policy": "uniform"})),
    ] {
        assert_eq!(service.post(&format!("/v1/models/beside/{path}"), &body).status, 409, "{path}");
    }
    assert_eq!(service.get("/v1/models/beside/log").status, 409);
    assert_eq!(service.delete("/v1/models/live").status, 409, "it has a shadow");
    let labels = json!({"a": {"topic": "sport"}, "b": {"topic": "art"}});
    let waits = json!({"x": {"likes": "art"}, "labels": labels, "id": "waits"});
    service.post("/v1/models/live/decide", &waits).ok(200);
    service.post("/v1/models/live/promote", &json!({"shadow": "live"})).ok(422);
    service.post("/v1/models/live/promote", &json!({"shadow": "beside"})).ok(200);
    let about = service.get("/v1/models/live").ok(200);
    assert_eq!((&about["scores"]["answered"], &about["rounds"]), (&json!(300), &json!(300)), "{about}");
    service.post("/v1/models/live/feedback", &json!({"id": "waits", "reward": 1})).ok(200);
    let earned = play(&service, "live", 300..390);
    assert!(earned > 75.0, "{earned} of 90: there is no floor any more");
    let digest = service.get("/v1/models/live/model").bytes;
    service.stop();
    let service = Service::start(folder.path());
    assert!(service.get("/v1/models/live/model").bytes == digest, "another model after a restart");
    assert_eq!(caught_up(&service, "live", "beside")["rounds"], 391);
    service.delete("/v1/models/beside").ok(204);
    service.delete("/v1/models/live").ok(204);
}

/// A shadow of rows with labels: it is scored on the same rows.
#[test]
fn shadows_of_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/live", &json!({"learner": "perceptron", "labels": ["a", "b"]})).ok(201);
    service.put("/v1/models/beside", &json!({"learner": "ogd", "shadow_of": "live"})).ok(201);
    for t in 0..60 {
        let row = json!({"x": {"v": t % 7}, "y": if t % 7 > 3 { "a" } else { "b" }});
        service.post("/v1/models/live/learn", &row).ok(200);
    }
    let about = caught_up(&service, "live", "beside");
    assert_eq!((&about["rounds"], &about["learner"]), (&json!(60), &json!("ogd")));
    let forecast =
        |model: &str| service.post(&format!("/v1/models/{model}/predict"), &json!({"x": {"v": 6}})).ok(200);
    let before = forecast("beside");
    service.post("/v1/models/live/promote", &json!({"shadow": "beside"})).ok(200);
    assert_eq!(forecast("live"), before);
    assert_eq!(service.get("/v1/models/live").ok(200)["learner"], "ogd");
}

/// A row is forecast under an id; its label comes later, once, or never.
#[test]
fn labels_come_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let spec = json!({"learner": "ogd", "labels": ["a", "b"], "service": {"wait_seconds": 3600}});
    service.put("/v1/models/m", &spec).ok(201);
    let row = |t: u64| json!({"v": t % 7});
    let label = |t: u64| if t % 7 > 3 { "a" } else { "b" };
    let mut told = Value::Null;
    for t in 0..50 {
        let answer =
            service.post("/v1/models/m/predict", &json!({"x": row(t), "id": format!("r{t}")})).ok(200);
        if t == 0 {
            told = answer["p"]["a"].clone();
        }
        if t == 20 {
            service.stop();
            service = Service::start(folder.path());
        }
        if t >= 5 {
            let id = format!("r{}", t - 5);
            service.post("/v1/models/m/learn", &json!({"id": id, "y": label(t - 5)})).ok(200);
        }
    }
    let about = service.get("/v1/models/m").ok(200);
    assert_eq!((&about["rounds"], &about["scores"]["waiting"]), (&json!(45), &json!(5)), "{about}");
    assert_eq!(told, 0.5, "nothing was known of the first");
    service.post("/v1/models/m/learn", &json!({"id": "r0", "y": label(0)})).ok(200);
    let other = service.post("/v1/models/m/learn", &json!({"id": "r0", "y": "a"}));
    assert_eq!((other.status, &other.json()["field"]), (409, &json!("y")));
    assert_eq!(service.post("/v1/models/m/learn", &json!({"id": "never", "y": "a"})).status, 404);
    assert_eq!(service.post("/v1/models/m/learn", &json!({"id": "r49", "x": {}, "y": "a"})).status, 422);
    assert_eq!(service.post("/v1/models/m/predict", &json!({"x": {}, "id": "r0"})).status, 409);
    assert_eq!(service.post("/v1/models/m/predict", &json!({"x": {}, "id": ""})).status, 422);
    let lines = "{\"x\": {\"v\": 1}, \"id\": \"s1\"}\n{\"x\": {\"v\": 6}}\n";
    let answers =
        service.send("POST", "/v1/models/m/predict", "application/x-ndjson", lines.as_bytes()).lines();
    assert_eq!((&answers[0]["label"], &answers[1]["label"]), (&json!("b"), &json!("a")));
    service.post("/v1/models/m/learn", &json!({"id": "s1", "y": "b"})).ok(200);
    // The log has the rows in the order in which they were learnt.
    let log = service.get("/v1/models/m/log").lines();
    assert_eq!((log.len(), &log[45]["x"]["v"]), (46, &json!(1)));
    service
        .put(
            "/v1/models/m",
            &json!({"learner": "ogd", "labels": ["a", "b"], "service": {"wait_seconds": 0.2}}),
        )
        .ok(200);
    std::thread::sleep(std::time::Duration::from_millis(900));
    assert_eq!(service.post("/v1/models/m/learn", &json!({"id": "r49", "y": "a"})).status, 410);
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 46);
}

/// A log that is kept for a moment only: it begins later, from a model that can be had, and makes the same
/// model.
#[test]
fn logs_are_kept_for_some_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::with(folder.path(), Limits { snapshot_every: 50, ..Limits::default() });
    // A second.
    let spec = json!({"feedback": "bandit", "labels": ["a", "b"], "params": {"features": 4}, "service": {"retain_days": 1.2e-5}});
    service.put("/v1/models/m", &spec).ok(201);
    let mut first = 0;
    for t in 0..500 {
        let decision = service.post("/v1/models/m/decide", &json!({"x": {"v": t % 5}})).ok(200);
        service.post("/v1/models/m/feedback", &json!({"id": decision["id"], "correct": t % 2 == 0})).ok(200);
        std::thread::sleep(std::time::Duration::from_millis(12));
        let log = service.get("/v1/models/m/log").bytes;
        first = log.iter().filter(|byte| **byte == b'\n').count();
        if t > 110 && first < 2 * t as usize {
            break;
        }
    }
    assert!(first < 400, "{first} lines: nothing was forgotten");
    // From here on the log stays as it is, or it and the versions would not be of one moment.
    let mut kept = spec.clone();
    kept["service"] = json!({});
    service.put("/v1/models/m", &kept).ok(200);
    for t in 0..20 {
        let decision = service.post("/v1/models/m/decide", &json!({"x": {"v": t % 5}})).ok(200);
        service.post("/v1/models/m/feedback", &json!({"id": decision["id"], "correct": t % 2 == 0})).ok(200);
    }
    let log = String::from_utf8(service.get("/v1/models/m/log").bytes).expect("text");
    let header: Value = serde_json::from_str(log.lines().next().expect("a header")).expect("JSON");
    let continues = header["continues"].as_str().expect("a model that it goes on from").to_owned();
    let versions = service.get("/v1/models/m/versions").ok(200)["versions"].clone();
    // What was saved before it is gone, the first state, too.
    assert_ne!(versions[0], 0, "{versions}");
    let model = versions.as_array().expect("versions").iter().find_map(|version| {
        let file = service.get(&format!("/v1/models/m/model?version={version}")).bytes;
        let archive = noregret::model::Archive::from_bytes(&file).ok()?;
        (archive.digest() == continues).then_some(archive)
    });
    let model = model.expect("the model that the log goes on from");
    let now =
        noregret::model::Archive::from_bytes(&service.get("/v1/models/m/model").bytes).expect("a model");
    assert_eq!(super::bandit::replayed(log.into_bytes(), Some(&model)).digest(), now.digest());
    service.stop();
    let service = Service::start(folder.path());
    let again =
        noregret::model::Archive::from_bytes(&service.get("/v1/models/m/model").bytes).expect("a model");
    assert_eq!(again.digest(), now.digest());
}

/// A log of bounded size: it begins later and stays within its bound, and the model is recovered as it was.
#[test]
fn logs_are_kept_up_to_a_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::with(folder.path(), Limits { snapshot_every: 500, ..Limits::default() });
    let refused = service.put("/v1/models/m", &json!({"service": {"retain_mib": 0}}));
    assert_eq!((refused.status, &refused.json()["field"]), (422, &json!("service.retain_mib")));
    let spec = json!({"learner": "ogd", "labels": ["a", "b"], "service": {"retain_mib": 0.5}});
    service.put("/v1/models/m", &spec).ok(201);
    let word = "w".repeat(200);
    let learn = |service: &Service, from: u64| {
        let row = |t: u64| {
            json!({"x": {"v": t % 5, "said": word}, "y": if t % 5 > 2 { "a" } else { "b" }}).to_string()
        };
        let rows: Vec<String> = (from..from + 200).map(row).collect();
        service.send("POST", "/v1/models/m/learn", "application/x-ndjson", rows.join("\n").as_bytes());
        std::thread::sleep(std::time::Duration::from_millis(300));
        service.get("/v1/models/m/log").lines().len() as u64
    };
    let mut kept = 0;
    for at in 0..40 {
        kept = learn(&service, at * 200);
    }
    // A row takes some 300 bytes.
    assert!((500..4000).contains(&kept), "{kept} of 8000 rows");
    let before = service.get("/v1/models/m").ok(200);
    assert_eq!(before["rounds"], 8000);
    service.stop();
    let service = Service::start(folder.path());
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 8000);
    assert!(learn(&service, 8000) <= kept + 1000);
}

/// A log that begins behind the newest snapshot, which a killed service leaves: the model goes on from where
/// its log begins.
#[test]
fn a_short_log_survives_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    // Some three seconds.
    let spec = json!({"learner": "ogd", "labels": ["a", "b"], "service": {"retain_days": 3.5e-5}});
    service.put("/v1/models/m", &spec).ok(201);
    let (mut rounds, mut kept) = (0, 0);
    while rounds < 2000 && kept == rounds {
        let row = json!({"x": {"v": rounds % 5}, "y": if rounds % 5 > 2 { "a" } else { "b" }});
        service.post("/v1/models/m/learn", &row).ok(200);
        rounds += 1;
        std::thread::sleep(std::time::Duration::from_millis(10));
        kept = service.get("/v1/models/m/log").lines().len();
    }
    assert!(kept < rounds, "nothing was forgotten");
    let forecast = |service: &Service| service.post("/v1/models/m/predict", &json!({"x": {"v": 3}})).ok(200);
    let before = forecast(&service);
    service.stop();
    // Written in good order, and not by a service that is killed.
    std::fs::remove_file(super::support::newest_snapshot(folder.path(), "m")).expect("removable");
    let service = Service::start(folder.path());
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], rounds);
    assert_eq!(forecast(&service), before);
}

/// A log that a shadow has not learnt yet is not deleted under it.
#[test]
fn a_log_stays_until_its_shadow_has_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/live", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let row = |t: u64| json!({"x": {"v": t % 7}, "y": if t % 7 > 3 { "a" } else { "b" }}).to_string();
    let rows: Vec<String> = (0..3000).map(row).collect();
    service.send("POST", "/v1/models/live/learn", "application/x-ndjson", rows.join("\n").as_bytes());
    service.put("/v1/models/beside", &json!({"shadow_of": "live", "learner": "folklore"})).ok(201);
    let mut refused = 0;
    loop {
        let answer = service.delete("/v1/models/live/log");
        if answer.status == 204 {
            break;
        }
        assert_eq!(answer.status, 409, "{answer:?}");
        assert!(answer.json()["detail"].as_str().is_some_and(|what| what.contains("beside")), "{answer:?}");
        refused += 1;
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(refused > 0, "the shadow cannot have learnt 3,000 rows at once");
    let about = caught_up(&service, "live", "beside");
    assert_eq!((&about["rounds"], &about["missed"]), (&json!(3000), &Value::Null), "{about}");
}

/// A backup has shadows before their models, which go on while it is made: restored, a shadow has nothing
/// that its model lacks.
#[test]
fn a_backup_has_shadows_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/a", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    service.put("/v1/models/b", &json!({"shadow_of": "a", "learner": "folklore"})).ok(201);
    service.put("/v1/models/c", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let backup = service.post("/v1/backup", &json!({"name": "monday"})).ok(201);
    assert_eq!(backup["models"], json!(["b", "a", "c"]));
}

/// A model stays as long as it has a shadow, also one that is not served: when that is mended, it would
/// follow the next model of this name.
#[test]
fn a_model_with_a_failed_shadow_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/live", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    service.put("/v1/models/beside", &json!({"shadow_of": "live", "learner": "folklore"})).ok(201);
    for t in 0..5 {
        service.post("/v1/models/live/learn", &json!({"x": {"v": t}, "y": "a"})).ok(200);
    }
    caught_up(&service, "live", "beside");
    service.stop();
    let beside = folder.path().join("models/beside");
    std::fs::remove_file(super::support::newest_snapshot(folder.path(), "beside")).expect("removable");
    let db = rusqlite::Connection::open(beside.join("events.sqlite")).expect("a database");
    db.execute("DELETE FROM events WHERE seq = 3", []).expect("one event less");
    drop(db);
    let service = Service::start(folder.path());
    assert_eq!(service.get("/v1/models/beside").status, 503);
    let refused = service.delete("/v1/models/live").ok(409);
    assert!(refused["detail"].as_str().is_some_and(|what| what.contains("beside is a shadow")), "{refused}");
    service.delete("/v1/models/beside").ok(204);
    service.delete("/v1/models/live").ok(204);
}

//! Older copies of files that were put in the place of newer ones.

use serde_json::json;

use super::support::Service;

/// An older copy of the log alone beside newer states: the model is that of the log, and the states, which
/// nobody else has, are kept where nothing reads them.
#[test]
fn an_older_log_leaves_newer_states() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let learn = |rows: u64| {
        for t in 0..rows {
            service.post("/v1/models/m/learn", &json!({"x": {"v": t}, "y": "a"})).ok(200);
        }
    };
    learn(5);
    service.post("/v1/backup", &json!({"name": "monday"})).ok(201);
    learn(7);
    service.post("/v1/models/m/versions", &json!(null)).ok(201);
    learn(1);
    service.stop();
    let log = "models/m/events.sqlite";
    let copied = std::fs::copy(folder.path().join("backups/monday").join(log), folder.path().join(log));
    copied.expect("writable");
    let service = Service::start(folder.path());
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 5);
    assert_eq!(service.get("/v1/models/m/versions").ok(200)["versions"], json!([0]));
    // The version that was asked for, and the snapshot of the end.
    for rows in [12, 13] {
        let newer = folder.path().join(format!("models/m/newer/{rows:020}.safetensors"));
        let file = std::fs::read(newer).expect("it is kept");
        let path = format!("/v1/models/of{rows}");
        service.send("PUT", &format!("{path}/model"), "application/octet-stream", &file).ok(201);
        assert_eq!(service.get(&path).ok(200)["rounds"], rows);
    }
}

/// The ids that the service gives are not those of before, neither in a model that is made again under its
/// name nor where the log is an older copy: feedback that comes late would count for another decision.
#[test]
fn ids_are_not_given_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]});
    let decide = |service: &Service, model: &str| {
        let decision = service.post(&format!("/v1/models/{model}/decide"), &json!({"x": {}})).ok(200);
        decision["id"].as_str().expect("an id").to_owned()
    };
    for model in ["again", "older"] {
        service.put(&format!("/v1/models/{model}"), &spec).ok(201);
        assert_eq!(decide(&service, model), "d1");
    }
    service.delete("/v1/models/again").ok(204);
    service.put("/v1/models/again", &spec).ok(201);
    assert_eq!(decide(&service, "again"), "d2");
    service.post("/v1/models/again/feedback", &json!({"id": "d1", "reward": 1})).ok(404);
    service.post("/v1/models/again/feedback", &json!({"id": "d2", "reward": 1})).ok(200);
    service.post("/v1/backup", &json!({"name": "monday"})).ok(201);
    for id in ["d2", "d3"] {
        assert_eq!(decide(&service, "older"), id);
    }
    service.stop();
    let log = "models/older/events.sqlite";
    let copied = std::fs::copy(folder.path().join("backups/monday").join(log), folder.path().join(log));
    copied.expect("writable");
    let service = Service::start(folder.path());
    assert_eq!(decide(&service, "older"), "d4");
    service.post("/v1/models/older/feedback", &json!({"id": "d3", "reward": 1})).ok(404);
    service.post("/v1/models/older/feedback", &json!({"id": "d1", "reward": 1})).ok(200);
}

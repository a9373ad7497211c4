//! Refused rows: they change nothing, hold nobody up, and are counted.

use noregret_serve::Limits;
use serde_json::{Value, json};

use super::support::Service;

fn row(t: u64) -> Value {
    json!({"x": {"v": t % 7, "w": t % 3}, "y": if t % 7 > 3 { "a" } else { "b" }})
}

/// A body of rows of which one in ten is refused. What the model would be recovered from is taken away
/// before: a refusal that needed it would suspend the model.
#[test]
fn a_refused_row_needs_no_recovery() {
    let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let limits = Limits { snapshot_every: u64::MAX, ..Limits::default() };
    let service = Service::with(folder.path(), limits);
    let good = Service::start(other.path());
    let spec = json!({"learner": "ogd", "labels": ["a", "b"], "params": {"scale": "none", "radius": 10}});
    for service in [&service, &good] {
        service.put("/v1/models/refusing", &spec).ok(201);
    }
    let snapshots = folder.path().join("models/refusing/snapshots");
    let away = folder.path().join("away");
    std::fs::rename(&snapshots, &away).expect("movable");
    // In columns that have had values, these would be clipped.
    let bad = json!({"x": {"new": 1e100, "newer": 1e100}, "y": "c"}).to_string();
    let lines: Vec<String> =
        (0..200).map(|t| if t % 10 == 9 { bad.clone() } else { row(t).to_string() }).collect();
    let answers = service.send(
        "POST",
        "/v1/models/refusing/learn",
        "application/x-ndjson",
        lines.join("\n").as_bytes(),
    );
    let answers = String::from_utf8(answers.bytes).expect("text");
    let refused = answers.lines().filter(|line| line.contains("\"status\":422")).count();
    assert_eq!((answers.lines().count(), refused), (200, 20), "{answers}");
    let about = service.get("/v1/models/refusing").ok(200);
    assert_eq!((&about["rounds"], &about["refused"]), (&json!(180), &json!(20)), "{about}");
    assert_eq!((&about["columns"], &about["labels"]), (&json!(2), &json!(["a", "b"])), "{about}");
    // The health says it, and so do the metrics.
    let health = service.get("/healthz").ok(200);
    assert_eq!(
        (&health["refused"], &health["by_name"]["refusing"]["refused"]),
        (&json!(20), &json!(20)),
        "{health}"
    );
    let metrics = String::from_utf8(service.get("/metrics").bytes).expect("text");
    assert!(metrics.contains("noregret_rounds_refused_total{model=\"refusing\"} 20"), "{metrics}");
    // A model that never met them is the same, and so is this one when it is recovered.
    for t in (0..200).filter(|t| t % 10 != 9) {
        good.post("/v1/models/refusing/learn", &row(t)).ok(200);
    }
    let forecast = |service: &Service| {
        service.post("/v1/models/refusing/predict", &json!({"x": {"v": 3, "w": 1}})).ok(200)
    };
    let (mine, theirs) = (forecast(&service), forecast(&good));
    assert_eq!(mine, theirs);
    std::fs::remove_dir_all(&snapshots).ok();
    std::fs::rename(&away, &snapshots).expect("movable");
    service.stop();
    let service = Service::start(folder.path());
    assert_eq!(forecast(&service), mine);
}

/// Rows that cannot be read are counted as other refused ones are, alone and as lines.
#[test]
fn rows_that_cannot_be_read_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let learn = |kind: &str, body: &str| service.send("POST", "/v1/models/m/learn", kind, body.as_bytes());
    for body in ["{", r#"{"x": {"v": 1, "v": 2}, "y": "a"}"#, r#"{"y": "a"}"#] {
        assert!(learn("application/json", body).status >= 400, "{body}");
    }
    let lines = "{\n{\"x\": {\"v\": 1}, \"y\": \"a\"}\n{\"x\": {\"v\": 1}, \"y\": \"a\", \"weight\": -1}\n";
    assert_eq!(learn("application/x-ndjson", lines).lines().len(), 3);
    assert_eq!(service.get("/v1/models/m").ok(200)["refused"], 5);
    assert_eq!(service.get("/healthz").ok(200)["refused"], 5);
    let metrics = String::from_utf8(service.get("/metrics").bytes).expect("text");
    assert!(metrics.contains("noregret_rounds_refused_total{model=\"m\"} 5"), "{metrics}");
}

/// Labels of a new model that differ by their types or by the blanks around them alone.
#[test]
fn labels_that_are_nearly_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for (labels, what) in [
        (json!(["x", "y", " x"]), "the label \" x\" is the class \"x\" but for the blanks around it"),
        (json!(["y", 1, "1"]), "the label \"1\" is a text, and the class of this name is a number"),
    ] {
        let refused = service.put("/v1/models/m", &json!({"feedback": "bandit", "labels": labels}));
        let body = refused.json();
        assert_eq!((refused.status, &body["field"]), (422, &json!("labels[2]")), "{body}");
        assert!(body["detail"].as_str().is_some_and(|detail| detail.starts_with(what)), "{body}");
    }
}

/// A name that an object has twice is refused, as in files: nobody knows which of the two counts.
#[test]
fn names_that_appear_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/full", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    service.put("/v1/models/news", &json!({"feedback": "bandit"})).ok(201);
    let post = |path: &str, body: &str| service.send("POST", path, "application/json", body.as_bytes());
    for (path, body, field, what) in [
        ("full/learn", r#"{"x": {"v": 1, "v": 2}, "y": "a"}"#, "x", "feature \"v\" appears twice"),
        ("full/predict", r#"{"x": {"v": 1, "w": 1, "v": 1}}"#, "x", "feature \"v\" appears twice"),
        ("full/predict", r#"{"x": {"u.a": 1, "u": {"a": 2}}}"#, "x", "feature \"u.a\" appears twice"),
        ("full/predict", r#"{"x": {"u": [{"a": 1, "a": NaN}]}}"#, "x", "feature \"u.0.a\" appears twice"),
        ("full/predict", r#"{"x": {"v": 1}, "x": {"v": 2}}"#, "x", "the name \"x\" appears twice"),
        ("full/learn", r#"{"x": {"v": 1}, "y": "a", "y": "b"}"#, "y", "the name \"y\" appears twice"),
        ("news/decide", r#"{"labels": {"a": {"v": 1}, "a": {"v": 2}}}"#, "labels", "\"a\" appears twice"),
        (
            "news/decide",
            r#"{"labels": [{"label": "a", "x": {"v": 1, "v": 2}}]}"#,
            "labels",
            "\"v\" appears twice",
        ),
    ] {
        let refused = post(&format!("/v1/models/{path}"), body);
        let said = refused.json();
        let detail = said["detail"].as_str().expect("a sentence");
        assert!(refused.status == 422 && detail.contains(what), "{body}: {refused:?}");
        assert!(said["field"].as_str().is_some_and(|found| found.starts_with(field)), "{body}: {said}");
    }
    let params = br#"{"learner": "ogd", "params": {"seed": 1, "seed": 2}}"#;
    let refused = service.send("PUT", "/v1/models/other", "application/json", params);
    assert_eq!((refused.status, &refused.json()["field"]), (422, &json!("params")), "{refused:?}");
    let lines = b"{\"x\": {\"v\": 1}, \"y\": \"a\"}\n{\"x\": {\"v\": 1, \"v\": 1}, \"y\": \"a\"}\n";
    let told = service.send("POST", "/v1/models/full/learn", "application/x-ndjson", lines).lines();
    assert!(told[0]["p"].is_object() && told[1]["error"]["line"] == 2, "{told:?}");
    // Other objects may have the name, too; a list is a set.
    for (path, body) in [
        ("full/predict", r#"{"x": {"v": 1, "u": {"v": 1}, "w": [{"v": 1}, {"v": 2}], "tags": ["a", "a"]}}"#),
        (
            "news/decide",
            r#"{"x": {"a": 1}, "labels": {"a.b": {"c": 1}, "a": {"b.c": 1, "b": 2}, "c": {"b": 2}}}"#,
        ),
    ] {
        post(&format!("/v1/models/{path}"), body).ok(200);
    }
    assert_eq!(service.get("/v1/models/full").ok(200)["rounds"], 1);
}

/// Limits that are set lower are those of new rows: a model with rows of before is recovered, and its log has
/// them.
#[test]
fn lower_limits_are_for_new_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/full", &json!({"learner": "ogd"})).ok(201);
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]});
    service.put("/v1/models/play", &spec).ok(201);
    let x: serde_json::Map<String, Value> =
        (0..20).map(|column| (format!("column{column}"), json!(column))).collect();
    for t in 0..10 {
        let y = if t % 2 == 0 { "a" } else { "b" };
        service.post("/v1/models/full/learn", &json!({"x": x, "y": y})).ok(200);
        service.post("/v1/models/play/decide", &json!({"x": x})).ok(200);
    }
    service.stop();
    // As after a kill.
    for model in ["full", "play"] {
        let snapshot = super::support::newest_snapshot(folder.path(), model);
        std::fs::remove_file(snapshot).expect("removable");
    }
    let limits = Limits { columns: 4, name: 2, labels: 1, model_bytes: 1024, ..Limits::default() };
    let service = Service::with(folder.path(), limits);
    assert_eq!(service.get("/healthz").ok(200)["states"], json!({"ready": 2}));
    assert_eq!(service.get("/v1/models/full").ok(200)["rounds"], 10);
    assert_eq!(service.get("/v1/models/play").ok(200)["scores"]["waiting"], 10);
    // The second has a header, and a line with its columns.
    for (model, lines) in [("full", 10), ("play", 12)] {
        assert_eq!(service.get(&format!("/v1/models/{model}/log")).lines().len(), lines, "{model}");
    }
    let refused = service.post("/v1/models/full/learn", &json!({"x": x, "y": "a"}));
    assert_eq!((refused.status, &refused.json()["field"]), (422, &json!("x")), "{refused:?}");
}

/// What is wrong with the learner of an evaluation is said of the policy, of which it is part.
#[test]
fn the_learner_of_an_evaluation_is_part_of_the_policy() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/news", &json!({"feedback": "bandit"})).ok(201);
    for (body, field) in [
        (json!({"policy": "learner:squarecb"}), "policy"),
        (json!({"policy": "learner:ogd"}), "policy"),
        (json!({"policy": "learner:offers", "params": {"width": 3}}), "params.width"),
    ] {
        let refused = service.post("/v1/models/news/evaluate", &body);
        assert_eq!((refused.status, &refused.json()["field"]), (422, &json!(field)), "{refused:?}");
    }
}

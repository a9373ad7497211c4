//! A service that has just been started: what it says of itself, and of models that are not recovered yet.

use std::io::Write as _;
use std::process::Command;

use noregret_serve::Limits;
use serde_json::{Value, json};

use super::support::{Service, newest_snapshot};

/// A model that takes long to recover, because its newest snapshot is a pipe that nobody has written to yet:
/// the port answers at once, the other model is served, and requests to this one are refused with a time
/// after which to ask again.
#[test]
#[cfg(unix)]
fn a_model_that_recovers_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for model in ["free", "locked"] {
        service.put(&format!("/v1/models/{model}"), &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    }
    let row = json!({"x": {"v": 1}, "y": "a"});
    service.post("/v1/models/locked/learn", &row).ok(200);
    service.stop();
    let pipe = newest_snapshot(folder.path(), "locked");
    std::fs::remove_file(&pipe).expect("removable");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("a program").success());
    let service = Service::try_start(folder.path(), Limits::default(), "127.0.0.1:0").expect("starts");
    assert_eq!(service.get("/livez").ok(200), json!({"status": "ok"}));
    while service.post("/v1/models/free/learn", &row).status != 200 {
        std::thread::yield_now();
    }
    for answer in [
        service.post("/v1/models/locked/learn", &row),
        service.post("/v1/models/locked/predict", &json!({"x": {}})),
        service.get("/v1/models/locked"),
        service.delete("/v1/models/locked"),
        service.put("/v1/models/locked", &json!({"learner": "ogd", "labels": ["a", "b"]})),
        service.get("/readyz"),
    ] {
        assert_eq!((answer.status, answer.retry_after.as_deref()), (503, Some("1")), "{answer:?}");
        assert!(
            answer.json()["detail"].as_str().is_some_and(|what| what.contains("recovered")),
            "{answer:?}"
        );
    }
    let health = service.get("/healthz");
    assert_eq!(health.status, 503);
    let health: Value = health.json();
    assert_eq!(health["states"], json!({"ready": 1, "recovering": 1}), "{health}");
    assert_eq!(health["by_name"]["locked"]["state"], "recovering", "{health}");
    // What comes out of the pipe is no snapshot, and the one before it is used.
    std::fs::write(&pipe, "").expect("somebody reads");
    while service.get("/readyz").status != 200 {
        std::thread::yield_now();
    }
    service.post("/v1/models/locked/learn", &row).ok(200);
    assert_eq!(service.get("/v1/models/locked").ok(200)["rounds"], 2);
    assert_eq!(service.get("/healthz").ok(200)["states"], json!({"ready": 2}));
}

/// Of many models, the one that is asked for is recovered next, and the request waits for it.
#[test]
fn a_model_that_is_asked_for_comes_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let path = |model: u32| format!("/v1/models/m{model}");
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]});
    for model in 10..50 {
        service.put(&path(model), &spec).ok(201);
        service.post(&format!("{}/decide", path(model)), &json!({"x": {"v": 1}})).ok(200);
    }
    service.stop();
    let service = Service::try_start(folder.path(), Limits::default(), "127.0.0.1:0").expect("starts");
    for model in (10..50).rev() {
        service.post(&format!("{}/decide", path(model)), &json!({"x": {"v": 1}})).ok(200);
        assert_eq!(service.get(&path(model)).ok(200)["scores"]["decisions"], 2);
    }
}

/// What the service says of itself: where things are, how keys are given, all models as each of them alone;
/// and a model that it exports can be imported, whatever the limit on other bodies.
#[test]
fn it_says_what_there_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::with(folder.path(), Limits { body: 2_000, ..Limits::default() });
    let about = service.get("/v1").ok(200);
    assert_eq!((&about["models"], &about["document"]), (&json!("/v1/models"), &json!("/openapi.json")));
    let document = service.get("/openapi.json").ok(200);
    assert_eq!(document["components"]["securitySchemes"]["key"]["scheme"], "bearer");
    assert_eq!(document["security"], json!([{}, {"key": []}]));
    for model in ["one", "two"] {
        service.put(&format!("/v1/models/{model}"), &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
        for t in 0..20 {
            let row = json!({"x": {"v": t, "w": format!("w{t}")}, "y": "a"});
            service.post(&format!("/v1/models/{model}/learn"), &row).ok(200);
        }
    }
    let listed = service.get("/v1/models").ok(200);
    let alone = ["one", "two"].map(|model| service.get(&format!("/v1/models/{model}")).ok(200));
    assert_eq!(listed, json!({"models": alone}));
    assert_eq!(listed["models"][0]["rounds"], 20);
    let file = service.get("/v1/models/one/model").bytes;
    assert!(file.len() > 2_000, "{}", file.len());
    service.send("PUT", "/v1/models/three/model", "application/octet-stream", &file).ok(201);
    assert_eq!(service.get("/v1/models/three").ok(200)["rounds"], 20);
}

/// Many that make the same model at once, as the processes of a site do when they start: one makes it, and
/// for the others it is there.
#[test]
fn many_make_the_same_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for model in ["one", "two", "three"] {
        let spec = json!({"feedback": "bandit", "labels": ["a", "b"]});
        let made = std::thread::scope(|scope| {
            let put = || service.put(&format!("/v1/models/{model}"), &spec).status;
            let all: Vec<_> = (0..8).map(|_| scope.spawn(put)).collect();
            let mut made: Vec<u16> = all.into_iter().map(|one| one.join().expect("no panic")).collect();
            made.sort_unstable();
            made
        });
        assert_eq!(made, [200, 200, 200, 200, 200, 200, 200, 201], "{model}");
    }
    let other = json!({"feedback": "bandit", "labels": ["a", "c"]});
    assert_eq!(service.put("/v1/models/one", &other).status, 409);
}

/// A request that makes a model which is there leaves its `service` settings alone, unless it has some: the
/// processes of a site, which send it when they start, do not undo what an operator has set.
#[test]
fn service_settings_stay_unless_they_are_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let put = |status: u16, settings: Option<Value>| {
        let mut spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]});
        if let Some(settings) = settings {
            spec["service"] = settings;
        }
        let about = service.put("/v1/models/m", &spec).ok(status)["service"].clone();
        (about["wait_seconds"].as_f64(), about["retain_days"].as_f64())
    };
    assert_eq!(put(201, Some(json!({"wait_seconds": 60, "retain_days": 30}))), (Some(60.0), Some(30.0)));
    assert_eq!(put(200, None), (Some(60.0), Some(30.0)));
    assert_eq!(put(200, Some(Value::Null)), (Some(60.0), Some(30.0)));
    // A mark of byte order in front is no settings either.
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]});
    let marked = format!("\u{feff}{spec}");
    let about = service.send("PUT", "/v1/models/m", "application/json", marked.as_bytes()).ok(200);
    assert_eq!(about["service"]["wait_seconds"], 60.0);
    assert_eq!(put(200, Some(json!({"wait_seconds": 90}))), (Some(90.0), None));
    assert_eq!(put(200, Some(json!({}))), (None, None));
    // So do those of a loop of Personalizer's protocol.
    service.get("/loops/l/personalizer/configurations/service").ok(200);
    let again = service.put("/v1/models/l", &json!({"feedback": "bandit"})).ok(200);
    assert_eq!(again["service"]["wait_seconds"], 600.0, "{again}");
    // What that protocol keeps there stays even if others are given.
    let body = json!({"feedback": "bandit", "service": {"wait_seconds": 90}});
    let again = service.put("/v1/models/l", &body).ok(200)["service"].clone();
    assert!(again["wait_seconds"] == 90.0 && again["notes"]["personalizer"].is_object(), "{again}");
}

/// The type of a body of lines is the same in capitals.
#[test]
fn types_of_lines_are_known_in_capitals() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let row = json!({"x": {"v": 1}, "y": "a"});
    let lines = format!("{row}\n{row}\n");
    for kind in ["Application/X-NDJSON; charset=UTF-8", "application/JSONL"] {
        let answers = service.send("POST", "/v1/models/m/learn", kind, lines.as_bytes()).lines();
        assert!(answers.len() == 2 && answers.iter().all(|answer| answer["p"].is_object()), "{answers:?}");
    }
}

/// Many models at the end: each is saved with all that it has learnt.
#[test]
fn all_models_are_saved_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for model in 1..=20 {
        service
            .put(&format!("/v1/models/m{model}"), &json!({"learner": "ogd", "labels": ["a", "b"]}))
            .ok(201);
        for t in 0..model {
            let row = json!({"x": {"v": t}, "y": "a"});
            service.post(&format!("/v1/models/m{model}/learn"), &row).ok(200);
        }
    }
    service.stop();
    for model in 1..=20 {
        let newest = newest_snapshot(folder.path(), &format!("m{model}"));
        assert_eq!(newest.file_stem().expect("a name").to_string_lossy(), format!("{model:020}"));
    }
}

/// A program that was built without traces names the option, and where there is one that has them.
#[test]
#[cfg(not(feature = "traces"))]
fn a_program_without_traces_says_where_one_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = noregret_serve::Options {
        listen: "127.0.0.1:0".parse().expect("an address"),
        dir: folder.path().to_owned(),
        limits: Limits::default(),
        cors: Vec::new(),
        nodes: None,
        traces: Some("http://127.0.0.1:4318".to_owned()),
    };
    let refused = noregret_serve::serve(&options, &noregret_stream::Stop::default(), |_| {});
    let said = refused.expect_err("it has none").to_string();
    assert!(said.starts_with("--traces: ") && said.contains("Python's wheels"), "{said}");
}

/// The models as they are listed, without what a restart changes.
fn listed(service: &Service) -> Value {
    let mut listed = service.get("/v1/models").ok(200);
    for model in listed["models"].as_array_mut().expect("models") {
        let model = model.as_object_mut().expect("a model");
        for name in ["versions", "resting"] {
            model.remove(name);
        }
    }
    listed
}

/// A start reads no model that can rest, and shows all as they were; what is wrong with the files of one is
/// found when somebody asks for it. With other limits they are described anew.
#[test]
fn a_start_reads_no_model_that_rests() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = json!({"learner": "ogd", "labels": ["a", "b"]});
    let learn = |service: &Service, name: &str| {
        service.post(&format!("/v1/models/{name}/learn"), &json!({"x": {"v": 1}, "y": "a"})).ok(200)
    };
    for name in ["good", "spoilt"] {
        service.put(&format!("/v1/models/{name}"), &spec).ok(201);
        (0..3).for_each(|_| drop(learn(&service, name)));
    }
    let before = listed(&service);
    service.stop();
    let newest = newest_snapshot(folder.path(), "spoilt");
    let changed = std::fs::metadata(&newest).and_then(|file| file.modified()).expect("a time");
    let mut file = std::fs::OpenOptions::new().write(true).open(&newest).expect("writable");
    file.write_all(b"no header").and_then(|()| file.set_modified(changed)).expect("writable");
    std::fs::remove_file(newest.with_file_name("00000000000000000000.safetensors")).expect("removable");
    let service = Service::start(folder.path());
    assert_eq!(listed(&service), before);
    assert_eq!(service.get("/healthz").ok(200)["resting"], 2);
    for (name, again) in [("good", false), ("spoilt", true)] {
        learn(&service, name);
        let about = service.get(&format!("/v1/models/{name}")).ok(200);
        assert_eq!((&about["rounds"], about["rebuilt"].is_object()), (&json!(4), again), "{about}");
    }
    assert_eq!(service.get("/v1/models/good").ok(200)["room"]["most"], Limits::default().columns);
    service.stop();
    let service = Service::with(folder.path(), Limits { columns: 512, ..Limits::default() });
    assert_eq!(service.get("/v1/models/good").ok(200)["room"]["most"], 512);
}

/// What was said of a model when it went to rest does not count where the service was killed after it had
/// learnt more.
#[test]
fn a_killed_service_goes_on_with_what_was_learnt_last() {
    let (folder, killed) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let learn = |service: &Service, rows: u64| {
        for _ in 0..rows {
            service.post("/v1/models/m/learn", &json!({"x": {"v": 1}, "y": "a"})).ok(200);
        }
    };
    learn(&service, 3);
    service.stop();
    let service = Service::start(folder.path());
    learn(&service, 2);
    // The files as a kill leaves them, with their times.
    let [from, to] = [&folder, &killed].map(|folder| folder.path().join("models/m"));
    super::years::copy(&from, &to);
    assert!(to.join("rested.json").exists());
    let snapshots = [folder.path(), killed.path()].map(|dir| newest_snapshot(dir, "m"));
    for [from, to] in [[from, to].map(|model| model.join("events.sqlite")), snapshots] {
        let changed = std::fs::metadata(from).and_then(|file| file.modified()).expect("a time");
        let file = std::fs::OpenOptions::new().write(true).open(to).expect("writable");
        file.set_modified(changed).expect("writable");
    }
    let service = Service::start(killed.path());
    assert_eq!(service.get("/v1/models").ok(200)["models"][0]["rounds"], 5);
}

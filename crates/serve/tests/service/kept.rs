//! Nothing is lost or changed in silence: settings of copies, columns of other models, answers of before a
//! log.

use serde_json::{Value, json};

use super::support::Service;

fn row(t: u64) -> Value {
    let g = ["p", "q", "r"][(t * 7 % 3) as usize];
    json!({"g": g, "h": t % 5})
}

/// A round of the model `name`; one label is right for each `g`.
fn round(service: &Service, name: &str, t: u64) {
    let x = row(t);
    let body = json!({"x": x, "id": format!("d{t}")});
    let played = service.post(&format!("/v1/models/{name}/decide"), &body).ok(200)["label"].clone();
    let is_right = played == if x["g"] == "p" { "a" } else { "b" };
    let body = json!({"id": format!("d{t}"), "correct": is_right});
    service.post(&format!("/v1/models/{name}/feedback"), &body).ok(200);
}

fn ips(service: &Service, policy: &str) -> f64 {
    let told = service.post("/v1/models/one/evaluate", &json!({"policy": policy})).ok(200);
    let estimates = told["estimates"].as_array().expect("estimates").clone();
    let ips = estimates.iter().find(|one| one["estimator"] == "ips").expect("ips");
    ips["value"].as_f64().expect("a number")
}

/// Another model is evaluated on a log by the names of its columns, which came in another order.
#[test]
fn another_model_is_evaluated_by_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for name in ["one", "other"] {
        let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]});
        service.put(&format!("/v1/models/{name}"), &spec).ok(201);
    }
    // Its first rows have the columns in another order.
    for x in [json!({"h": 1, "g": "r"}), json!({"h": 2, "g": "q"})] {
        service.post("/v1/models/other/decide", &json!({"x": x, "id": x.to_string()})).ok(200);
    }
    (0..300).for_each(|t| {
        round(&service, "one", t);
        round(&service, "other", t);
    });
    let (own, others) = (ips(&service, "model:one"), ips(&service, "model:other"));
    assert!(own > 0.75 && (own - others).abs() < 0.1, "{own} and {others}");
    service.put("/v1/models/news", &json!({"feedback": "bandit"})).ok(201);
    let refused = service.post("/v1/models/one/evaluate", &json!({"policy": "model:news"}));
    assert_eq!((refused.status, &refused.json()["field"]), (422, &json!("policy")), "{refused:?}");
    assert!(refused.json()["detail"].to_string().contains("other rows than one"), "{refused:?}");
}

/// Answers to decisions of before the log: those of its own are evaluated.
#[test]
fn answers_of_before_the_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service
        .put("/v1/models/one", &json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]}))
        .ok(201);
    (0..30).for_each(|t| round(&service, "one", t));
    service.post("/v1/models/one/decide", &json!({"x": row(30), "id": "before"})).ok(200);
    service.delete("/v1/models/one/log").ok(204);
    // What was saved automatically before has rows that waited then, and is gone with the log.
    assert_eq!(service.get("/v1/models/one/versions").ok(200)["versions"], json!([61]));
    service.post("/v1/models/one/feedback", &json!({"id": "before", "correct": true})).ok(200);
    (31..91).for_each(|t| round(&service, "one", t));
    for policy in ["best", "constant:b", "alone:squarecb", "model:one", "uniform"] {
        let told = service.post("/v1/models/one/evaluate", &json!({"policy": policy})).ok(200);
        assert_eq!(told["rounds"], 60, "{policy}: {told}");
    }
}

/// The least probability of labels stays with the model, and a copy or an import grows as the model does.
#[test]
fn copies_have_floor_and_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec =
        json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"], "params": {"floor": 0.05}});
    service.put("/v1/models/one", &spec).ok(201);
    (0..20).for_each(|t| round(&service, "one", t));
    let about = |name: &str| service.get(&format!("/v1/models/{name}")).ok(200);
    let before = about("one");
    assert_eq!(before["floor"], 0.05);
    service.post("/v1/models/one/copy", &json!({"to": "copied"})).ok(201);
    let file = service.get("/v1/models/one/model").bytes;
    service.send("PUT", "/v1/models/imported/model", "application/octet-stream", &file).ok(201);
    service.send("PUT", "/v1/models/one/model", "application/octet-stream", &file).ok(200);
    for name in ["one", "copied", "imported"] {
        assert_eq!(about(name)["floor"], if name == "imported" { 0.0 } else { 0.05 }, "{name}");
        assert_eq!(about(name)["room"]["most"], before["room"]["most"], "{name}");
        for t in 0..70 {
            let body = json!({"x": {"city": format!("{name} {t}")}});
            service.post(&format!("/v1/models/{name}/decide"), &body).ok(200);
        }
    }
}

/// What would be learnt as something else is refused.
#[test]
fn what_would_be_lost_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let bandit = |learner: &str, params: Value, how: Value| json!({"feedback": "bandit", "learner": learner, "labels": ["a", "b"], "params": params, "service": how});
    let sum = json!({"aggregation": "sum", "wait_seconds": 60});
    for (spec, field, what) in [
        (bandit("squarecb", json!({"costs": [0, 10]}), sum.clone()), "params.costs", "do not add up"),
        (bandit("banditron", json!({"costs": [0, 10]}), json!({})), "params.costs", "right and wrong only"),
        (
            bandit("banditron", json!({}), json!({"default_reward": 0.5})),
            "service.default_reward",
            "right and wrong",
        ),
        (json!({"params": {"costs": [0, 10]}}), "params.costs", "bandit feedback"),
    ] {
        let refused = service.put("/v1/models/m", &spec);
        assert_eq!((refused.status, &refused.json()["field"]), (422, &json!(field)), "{spec}: {refused:?}");
        assert!(refused.json()["detail"].to_string().contains(what), "{spec}: {refused:?}");
    }
    service.put("/v1/models/m", &bandit("squarecb", json!({}), sum)).ok(201);
    service.post("/v1/models/m/decide", &json!({"x": {"v": 1}, "id": "d"})).ok(200);
    let refused = service.post("/v1/models/m/feedback", &json!({"id": "d", "cost": 0.6}));
    assert_eq!((refused.status, &refused.json()["field"]), (422, &json!("cost")), "{refused:?}");
    // A file of a model that hears the label does not take the place of one that decides.
    service.put("/v1/models/full", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let file = service.get("/v1/models/full/model").bytes;
    let refused = service.send("PUT", "/v1/models/m/model", "application/octet-stream", &file);
    assert_eq!(refused.status, 409, "{refused:?}");
    let again =
        service.put("/v1/models/m", &json!({"feedback": "bandit", "learner": "soba", "labels": ["a", "b"]}));
    assert!(again.status == 409 && again.json()["detail"].to_string().contains("(learner)"), "{again:?}");
    // A row that names no column of the model.
    service.post("/v1/models/full/learn", &json!({"x": {"v": 1, "hue": "red"}, "y": "a"})).ok(200);
    for (x, status) in [
        (json!({"V": 1}), 422),
        (json!([0.5]), 422),
        (json!({"hue": "blue"}), 200),
        (json!({"v": 2, "w": 3}), 200),
        (json!({}), 200),
    ] {
        let told = service.post("/v1/models/full/predict", &json!({"x": x}));
        assert_eq!(told.status, status, "{x}: {told:?}");
    }
    service.put("/v1/models/news", &json!({"feedback": "bandit"})).ok(201);
    let many: Vec<String> = (0..51).map(|at| format!("a{at}")).collect();
    let refused = service.post("/v1/models/news/decide", &json!({"labels": many}));
    assert!(refused.json()["detail"].to_string().contains("params.classes"), "{refused:?}");
    let cut =
        service.send_encoded("POST", "/v1/models/full/learn", "application/json", Some("gzip"), b"no gzip");
    assert_eq!(cut.status, 400, "{cut:?}");
    service.stop();
    // A file among the models is none of them.
    std::fs::write(folder.path().join("models/afile"), "text").expect("writable");
    service = Service::start(folder.path());
    assert_eq!(service.get("/healthz").ok(200)["models"], 3);
    service.post("/v1/backup", &json!({"name": "monday"})).ok(201);
}

/// A label that nobody could forecast is an error, whatever the learner expects of the newest label.
#[test]
fn a_new_label_is_no_part_of_its_forecast() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({})).ok(201);
    for t in 0..30 {
        let label = format!("bird{t}");
        let answer = service.post("/v1/models/m/learn", &json!({"x": {"v": t % 3}, "y": label})).ok(200);
        assert!(answer["label"] != json!(label) && answer["p"].get(&label).is_none(), "{answer}");
    }
    let all = service.get("/v1/models/m").ok(200)["scores"]["all"].clone();
    assert_eq!((&all["rounds"], &all["error_rate"]), (&json!(30), &json!(1.0)), "{all}");
    let least = (1..=30).map(|k| f64::from(k).ln()).sum::<f64>() / 30.0;
    assert!(all["log_loss"].as_f64() >= Some(least - 1e-9), "{all}");
    // Under an id, too: the forecast that was answered is scored.
    service.post("/v1/models/m/predict", &json!({"x": {"v": 1}, "id": "r"})).ok(200);
    service.post("/v1/models/m/learn", &json!({"x": {"v": 1}, "y": "late"})).ok(200);
    service.post("/v1/models/m/learn", &json!({"id": "r", "y": "late"})).ok(200);
    assert_eq!(service.get("/v1/models/m").ok(200)["scores"]["all"]["error_rate"], 1.0);
}

/// Models that nobody asks for rest, are shown as they were, and go on to the bit when somebody asks; with
/// decisions that wait, after a start, and while they are deleted, too.
#[test]
fn models_that_rest_go_on() {
    let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let limits = || noregret_serve::Limits { rest_seconds: 1, ..Default::default() };
    let mut service = Service::with(folder.path(), limits());
    let awake = Service::start(other.path());
    let spec = json!({"feedback": "bandit", "labels": ["a", "b", "c"], "params": {"seed": 3}});
    for service in [&service, &awake] {
        service.put("/v1/models/m", &spec).ok(201);
        service.put("/v1/models/gone", &json!({"learner": "ogd"})).ok(201);
    }
    let play = |service: &Service, from: u64| -> Vec<serde_json::Value> {
        let mut all = Vec::new();
        for t in from..from + 6 {
            let body = json!({"x": {"v": t % 3}, "id": format!("d{t}")});
            all.push(service.post("/v1/models/m/decide", &body).ok(200));
            // The feedback of some comes when the model has rested.
            let answered = if t % 6 == 0 { t.saturating_sub(5) } else { t };
            if t % 6 != 1 {
                let body = json!({"id": format!("d{answered}"), "reward": 0.5});
                service.post("/v1/models/m/feedback", &body).ok(200);
            }
            // A slow machine forecasts by a copy that is older.
            service.post("/v1/models/m/predict", &json!({"x": {"v": 1}})).ok(200);
        }
        all
    };
    let rests = |service: &Service| {
        for _ in 0..400 {
            let about = service.get("/v1/models/m").ok(200);
            if about["resting"] == true {
                return about;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        panic!("the model does not rest");
    };
    for from in [0, 6, 12, 18] {
        assert_eq!(play(&service, from), play(&awake, from));
        let mut about = rests(&service);
        // Of a model that rests, they are read once.
        assert_eq!(about["versions"], service.get("/v1/models/m/versions").ok(200)["versions"]);
        let mut expected = awake.get("/v1/models/m").ok(200);
        for about in [&mut about, &mut expected] {
            for name in ["resting", "versions"] {
                about.as_object_mut().expect("an object").remove(name);
            }
        }
        assert_eq!(about, expected);
        if from == 12 {
            service.stop();
            service = Service::with(folder.path(), limits());
            rests(&service);
        }
    }
    let file = |service: &Service| service.get("/v1/models/m/model").bytes;
    assert!(file(&service) == file(&awake));
    service.delete("/v1/models/gone").ok(204);
    assert_eq!(service.get("/v1/models/gone").status, 404);
}

/// Decisions that wait in a copy have the whole waiting time there, too: they are not taken as unanswered.
#[test]
fn what_waits_goes_on_waiting_in_a_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let how = json!({"wait_seconds": 600, "default_reward": 0});
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"], "service": how});
    service.put("/v1/models/one", &spec).ok(201);
    for t in 0..5 {
        service.post("/v1/models/one/decide", &json!({"x": row(t), "id": format!("d{t}")})).ok(200);
    }
    service.post("/v1/models/one/copy", &json!({"to": "copied"})).ok(201);
    // The waiting time is looked at four times a second.
    std::thread::sleep(std::time::Duration::from_millis(700));
    let scores = service.get("/v1/models/copied").ok(200)["scores"].clone();
    assert_eq!((&scores["waiting"], &scores["expired"]), (&json!(5), &json!(0)), "{scores}");
    service.post("/v1/models/copied/feedback", &json!({"id": "d3", "correct": true})).ok(200);
}

/// A log that was being evaluated when the service was killed is not kept.
#[test]
fn what_was_being_evaluated_is_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"feedback": "bandit", "labels": ["a", "b"]})).ok(201);
    service.post("/v1/models/m/decide", &json!({"x": {}})).ok(200);
    service.stop();
    let left = folder.path().join("models/m/.evaluation-ThreadId(7).jsonl");
    std::fs::write(&left, "half a log").expect("writable");
    let service = Service::start(folder.path());
    assert!(!left.exists());
    assert_eq!(service.get("/v1/models/m").ok(200)["scores"]["decisions"], 1);
}

/// A folder that somebody has hidden, or that has a name as no model can have, is left alone.
#[test]
fn hidden_folders_are_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    service.stop();
    let path = |name: &str| folder.path().join(name);
    std::fs::rename(path("models/m"), path("models/.m")).expect("movable");
    for name in ["models/m (copy)", "models/.k.new", "backups/.mine", "backups/.k.new"] {
        std::fs::create_dir_all(path(name)).expect("writable");
    }
    let service = Service::start(folder.path());
    service.get("/v1/models/m").ok(404);
    service.stop();
    for name in ["models/.m", "models/m (copy)", "backups/.mine"] {
        assert!(path(name).is_dir(), "{name}");
    }
    // What was being made when the process died is removed.
    for name in ["models/.k.new", "backups/.k.new"] {
        assert!(!path(name).exists(), "{name}");
    }
    std::fs::rename(path("models/.m"), path("models/m")).expect("it is there");
    let service = Service::start(folder.path());
    service.get("/v1/models/m").ok(200);
}

/// A folder that was put among the models while the service runs is not replaced, and what to do is said.
#[test]
fn a_folder_in_the_way_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let late = folder.path().join("models/late");
    std::fs::create_dir_all(late.join("snapshots")).expect("writable");
    let spec = json!({"learner": "ogd", "labels": ["a", "b"]});
    let refused = service.put("/v1/models/late", &spec).ok(503);
    let said = refused["detail"].as_str().expect("a sentence");
    assert!(said.contains("models/late was put there") && said.contains("start the service again"), "{said}");
    assert!(late.join("snapshots").is_dir());
    std::fs::remove_dir_all(&late).expect("removable");
    service.put("/v1/models/late", &spec).ok(201);
}

/// Late feedback for a decision of a deleted model counts for no decision of the next model of its name, also
/// where the service was started again between them.
#[test]
fn ids_go_on_behind_a_deleted_model_after_a_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]});
    let mut ids = Vec::new();
    for _ in 0..3 {
        let service = Service::start(folder.path());
        service.put("/v1/models/m", &spec).ok(201);
        service.stop();
        let service = Service::start(folder.path());
        for _ in 0..2 {
            let decision = service.post("/v1/models/m/decide", &json!({"x": {"v": 1}})).ok(200);
            let id = decision["id"].to_string();
            assert!(!ids.contains(&id), "{id} was given by a model that was deleted: {ids:?}");
            ids.push(id);
        }
        service.delete("/v1/models/m").ok(204);
        service.stop();
    }
}

/// Who makes a model while another one deletes it has made it, or is to ask again: 404 would be no answer.
#[test]
fn making_a_model_that_is_being_deleted_can_be_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..40 {
                    let made = service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]}));
                    assert!([200, 201, 503].contains(&made.status), "{made:?}");
                    assert!(made.status != 503 || made.retry_after.is_some(), "{made:?}");
                    service.delete("/v1/models/m");
                }
            });
        }
    });
}

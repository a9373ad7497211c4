//! Models that hear what their decisions earn.

use noregret::model::Archive;
use noregret_stream::decisions::reader::LogReader;
use noregret_stream::decisions::replay::{Limits, replay};
use serde_json::{Value, json};

use super::support::Service;

/// What a label earns in a context: each is right in its own part of it.
fn reward(x: f64, label: &str) -> f64 {
    let right = if x < 0.3 {
        "red"
    } else if x < 0.7 {
        "green"
    } else {
        "blue"
    };
    f64::from(u8::from(label == right))
}

pub(crate) fn replayed(log: Vec<u8>, model: Option<&Archive>) -> Archive {
    let reader = LogReader::from_read(Box::new(std::io::Cursor::new(log)), "the log").expect("a log");
    let limits = Limits { waiting: 100_000, bytes: 1 << 30 };
    let mut replayed = replay(reader, model, limits).unwrap_or_else(|error| panic!("{error}"));
    let mut archive = replayed.saved.archive();
    if !replayed.pending.is_empty() {
        replayed.pending.save(&mut archive);
    }
    archive
}

/// Decisions, answers late and out of order, some never; the exported log makes the same model, to the bit,
/// across a restart and a change of the model in the middle.
#[test]
fn the_log_makes_the_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let spec = json!({"feedback": "bandit", "labels": ["red", "green", "blue"], "params": {"features": 4, "seed": 3}});
    service.put("/v1/models/site", &spec).ok(201);
    let mut late: Vec<(String, f64)> = Vec::new();
    let mut earned = 0.0;
    for t in 0..240u64 {
        let x = (t * 7919 % 997) as f64 / 997.0;
        let body = if t % 5 == 0 {
            json!({"x": {"v": x, "kind": "a"}, "labels": ["red", "blue"], "id": format!("mine-{t}")})
        } else {
            json!({"x": {"v": x, "late": [t]}})
        };
        let decision = service.post("/v1/models/site/decide", &body).ok(200);
        let (id, label) =
            (decision["id"].as_str().expect("an id"), decision["label"].as_str().expect("a label"));
        let p: f64 =
            decision["p"].as_object().expect("probabilities").values().filter_map(Value::as_f64).sum();
        assert!((p - 1.0).abs() < 1e-9 && decision["p"][label].as_f64() > Some(0.0), "{decision}");
        earned += reward(x, label);
        if t % 11 != 0 {
            late.push((id.to_owned(), reward(x, label)));
        }
        if late.len() > 7 {
            let (id, reward) = late.swap_remove((t * 31 % 7) as usize);
            let body = json!({"id": id, "correct": reward == 1.0});
            service.post("/v1/models/site/feedback", &body).ok(200);
            service.post("/v1/models/site/feedback", &body).ok(200);
            let other = json!({"id": id, "reward": 1.0 - reward});
            service.post("/v1/models/site/feedback", &other).ok(409);
        }
        if t == 120 {
            service.stop();
            service = Service::start(folder.path());
        }
    }
    assert!(earned > 100.0, "{earned} of 240 is not better than chance");
    let log = service.get("/v1/models/site/log");
    let model = Archive::from_bytes(&service.get("/v1/models/site/model").bytes).expect("a model file");
    assert_eq!(replayed(log.bytes, None).digest(), model.digest());
    let again = service.post("/v1/models/site/decide", &json!({"x": {}, "id": "mine-0"}));
    assert_eq!((again.status, &again.json()["field"]), (409, &json!("id")));
    service.post("/v1/models/site/feedback", &json!({"id": "nobody", "correct": true})).ok(404);
    for policy in ["uniform", "logged", "greedy", "constant:red"] {
        let answer = service.post("/v1/models/site/evaluate", &json!({"policy": policy})).ok(200);
        assert!(answer["estimates"][0]["value"].is_number(), "{answer}");
    }
    // The log begins anew, from the model as it stands.
    service.delete("/v1/models/site/log").ok(204);
    for t in 0..20 {
        let decision =
            service.post("/v1/models/site/decide", &json!({"x": {"v": f64::from(t) / 20.0}})).ok(200);
        service.post("/v1/models/site/feedback", &json!({"id": decision["id"], "reward": 1})).ok(200);
    }
    let log = service.get("/v1/models/site/log");
    let after = Archive::from_bytes(&service.get("/v1/models/site/model").bytes).expect("a model file");
    assert_eq!(replayed(log.bytes, Some(&model)).digest(), after.digest());
}

/// A policy alone has the estimates that it has beside others, also where the log could not play its labels:
/// an apprentice plays the first one only.
#[test]
fn a_policy_alone_is_evaluated_as_beside_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for mode in ["online", "apprentice"] {
        let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b", "c"], "service": {"mode": mode}});
        service.put(&format!("/v1/models/{mode}"), &spec).ok(201);
        for t in 0..120u64 {
            let body = json!({"x": {"v": t % 3}});
            let decision = service.post(&format!("/v1/models/{mode}/decide"), &body).ok(200);
            let correct = decision["label"] == ["a", "b", "c"][(t % 3) as usize];
            let answer = json!({"id": decision["id"], "correct": correct});
            service.post(&format!("/v1/models/{mode}/feedback"), &answer).ok(200);
        }
        let evaluate = |body: Value| service.post(&format!("/v1/models/{mode}/evaluate"), &body).ok(200);
        for policy in ["uniform", "logged", "greedy", "baseline"] {
            let alone = evaluate(json!({"policy": policy}));
            let beside = evaluate(json!({"policies": [policy]}))["evaluations"][0].clone();
            for field in ["decisions", "labels", "logged_reward", "learnt_meanwhile", "uncovered"] {
                assert_eq!(alone[field], beside[field], "{mode}, {policy}, {field}");
            }
            for at in [0, 1] {
                assert_eq!(alone["estimates"][at], beside["estimates"][at], "{mode}, {policy}");
            }
        }
        let told = evaluate(json!({"policy": "uniform"}));
        let said = told["warnings"].to_string().contains("on labels that the log could not have played");
        assert_eq!(said, mode == "apprentice", "{told}");
        if said {
            // Two thirds of its probability may have earned anything.
            assert!(told["estimates"][0]["normal"][1].as_f64() > Some(0.75), "{told}");
        }
    }
}

/// The baseline of an evaluation is what an apprentice plays: the first label of the request that may be
/// played.
#[test]
fn the_baseline_is_the_first_label_of_the_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for (name, labels) in [("fixed", json!(["a", "b", "c"])), ("described", Value::Null)] {
        let spec = json!({"feedback": "bandit", "labels": labels, "service": {"mode": "apprentice"}});
        service.put(&format!("/v1/models/{name}"), &spec).ok(201);
        for t in 0..40u64 {
            let (exclude, first) = if t % 3 == 0 { (json!(["c"]), "b") } else { (json!([]), "c") };
            let body = json!({"x": {"v": t % 5}, "labels": ["c", "b", "a"], "exclude": exclude});
            let decision = service.post(&format!("/v1/models/{name}/decide"), &body).ok(200);
            assert_eq!(decision["label"], first, "{name}");
            let answer = json!({"id": decision["id"], "correct": t % 4 > 0});
            service.post(&format!("/v1/models/{name}/feedback"), &answer).ok(200);
        }
        let estimates = |policy: &str| {
            let body = json!({"policy": policy});
            service.post(&format!("/v1/models/{name}/evaluate"), &body).ok(200)["estimates"].clone()
        };
        assert_eq!(estimates("baseline"), estimates("logged"), "{name}");
    }
}

/// Several policies are evaluated as by the command line: each with its estimates, and with the difference to
/// the first one.
#[test]
fn several_policies_are_evaluated_beside_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["red", "green", "blue"], "params": {"seed": 3}});
    service.put("/v1/models/site", &spec).ok(201);
    for t in 0..80u64 {
        let x = (t * 7919 % 997) as f64 / 997.0;
        let decision = service.post("/v1/models/site/decide", &json!({"x": {"v": x}})).ok(200);
        let earned = reward(x, decision["label"].as_str().expect("a label"));
        service.post("/v1/models/site/feedback", &json!({"id": decision["id"], "reward": earned})).ok(200);
    }
    let evaluate = |body: Value| service.post("/v1/models/site/evaluate", &body);
    let all = json!(["constant:red", "best", "logged", "learner:squarecb"]);
    let found = evaluate(json!({"policies": all, "confidence": 0.9})).ok(200);
    let (one, differences) = (&found["evaluations"], &found["differences"]);
    assert_eq!(
        (one.as_array().map(Vec::len), differences.as_array().map(Vec::len)),
        (Some(4), Some(3)),
        "{found}"
    );
    let alone = evaluate(json!({"policy": "constant:red", "confidence": 0.9})).ok(200);
    assert_eq!((&one[0]["estimates"], &one[0]["policy"]), (&alone["estimates"], &json!("constant:red")));
    let best = one[1]["best_label"].as_str().expect("a label");
    assert_eq!(one[1]["policy"], json!(format!("best, constant:{best}")));
    assert_eq!(
        (&differences[2]["policy"], &differences[2]["against"]),
        (&json!("learner:squarecb"), &json!("constant:red"))
    );
    assert!(differences[2]["verdict"].is_string() && one[3]["learnt"]["rounds"] == 80, "{found}");
    for (body, field) in [
        (json!({}), "policy"),
        (json!({"policy": "uniform", "policies": ["best"]}), "policies"),
        (json!({"policies": []}), "policies"),
        (json!({"policies": ["uniform", "first"]}), "policies[1]"),
        (json!({"policies": ["uniform", "constant:mauve"]}), "policies[1]"),
        (json!({"policies": ["uniform", "best", "uniform"]}), "policies[2]"),
        (json!({"policies": ["learner:ogd"]}), "policies[0]"),
        (json!({"policies": ["learner:squarecb"], "params": {"factor": 3}}), "params"),
        (json!({"policies": ["uniform"], "confidence": 2}), "confidence"),
    ] {
        let refused = evaluate(body.clone());
        assert_eq!(
            (refused.status, &refused.json()["field"]),
            (422, &json!(field)),
            "{body}: {}",
            refused.json()
        );
    }
    // Personalizer's has policies of its own, and tells which one is the best by its name.
    let policies = json!([{"name": "Greedy", "arguments": "--cb_explore_adf"}]);
    let body = json!({"name": "e", "startTime": "2020-01-01", "endTime": "2100-01-01", "policies": policies});
    let refused = service.post("/loops/site/personalizer/v1.0/evaluations", &body);
    assert_eq!((refused.status, &refused.json()["error"]["target"]), (400, &json!("policies[0].name")));
}

/// Rewards below 0, which Personalizer's clients may send, count as 0: the state says so, also after a
/// restart.
#[test]
fn rewards_below_0_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let path = |rest: &str| format!("/loops/site/personalizer/v1.0/{rest}");
    for t in 0..6 {
        let actions = json!([{"id": "a"}, {"id": "b"}]);
        let body = json!({"contextFeatures": [], "actions": actions, "eventId": format!("e{t}")});
        service.post(&path("rank"), &body).ok(201);
        let reward = json!({"value": if t < 4 { -0.5 } else { 0.5 }});
        service.post(&path(&format!("events/e{t}/reward")), &reward).ok(204);
        service.post(&path(&format!("events/e{t}/reward")), &reward).ok(204);
    }
    for _ in 0..2 {
        let about = service.get("/v1/models/site").ok(200);
        assert_eq!(about["clipped_rewards"], 4, "{about}");
        let said = about["scores"]["warning"].as_str().expect("a sentence");
        assert!(said.starts_with("4 rewards below 0 counted as 0, "), "{said}");
        service.stop();
        service = Service::start(folder.path());
    }
}

/// With a range that clips, a cost outside of it counts as its nearest end, in the log's replay, too.
#[test]
fn costs_may_be_clipped() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let params = json!({"features": 4, "seed": 3, "costs": "0..10:clip"});
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"], "params": params});
    service.put("/v1/models/costly", &spec).ok(201);
    for cost in [-3.0, 2.5, 822.0] {
        let id = service.post("/v1/models/costly/decide", &json!({"x": {}})).ok(200)["id"].clone();
        service.post("/v1/models/costly/feedback", &json!({"id": id, "cost": cost})).ok(200);
        service.stop();
        service = Service::start(folder.path());
    }
    assert_eq!(service.get("/v1/models/costly").json()["clipped_costs"], 2);
    let log = String::from_utf8(service.get("/v1/models/costly/log").bytes).expect("text");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0]["encoding"]["costs"], "0..10:clip");
    let earned = |line: &Value| line["reward"].as_f64().or(line["correct"].as_bool().map(f64::from));
    assert_eq!(lines.iter().filter_map(earned).collect::<Vec<f64>>(), [1.0, 0.75, 0.0]);
    let model = Archive::from_bytes(&service.get("/v1/models/costly/model").bytes).expect("a model file");
    assert_eq!(replayed(log.into_bytes(), None).digest(), model.digest());
}

/// Costs in the model's range are rewards: in what is learnt, in the log and its replay, repeated, and after
/// a shadow took over.
#[test]
fn costs_are_rewards() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let spec = |costs: Value| {
        let params = json!({"features": 4, "seed": 3, "costs": costs});
        json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"], "params": params})
    };
    service.put("/v1/models/costly", &spec(json!([0, 10]))).ok(201);
    service.put("/v1/models/earning", &spec(json!("0..1"))).ok(201);
    for wrong in [json!([3, 3]), json!("a..b"), json!(7), json!([0, 1, 2])] {
        let refused = service.put("/v1/models/wrong", &spec(wrong));
        assert_eq!((refused.status, &refused.json()["field"]), (422, &json!("params.costs")));
    }
    for t in 0..40 {
        let round = |model: &str, feedback: Value| {
            let body = json!({"x": {"v": t % 3}});
            let decision = service.post(&format!("/v1/models/{model}/decide"), &body).ok(200);
            let mut answer = feedback;
            answer["id"] = decision["id"].clone();
            service.post(&format!("/v1/models/{model}/feedback"), &answer).ok(200);
            service.post(&format!("/v1/models/{model}/feedback"), &answer).ok(200);
            decision["p"].clone()
        };
        let cost = [0.0, 2.5, 10.0][t % 3];
        let (one, other) =
            (round("costly", json!({"cost": cost})), round("earning", json!({"reward": 1.0 - cost / 10.0})));
        assert_eq!(one, other, "round {t}");
    }
    let id = service.post("/v1/models/costly/decide", &json!({"x": {}})).ok(200)["id"].clone();
    let outside = service.post("/v1/models/costly/feedback", &json!({"id": id, "cost": 10.5})).json();
    assert_eq!(
        (&outside["field"], &outside["detail"]),
        (
            &json!("cost"),
            &json!("the cost is 10.5; a number from 0 to 10 was needed, which is the model's range of costs")
        )
    );
    service.post("/v1/models/costly/feedback", &json!({"id": id, "cost": 7.5})).ok(200);
    service.post("/v1/models/costly/feedback", &json!({"id": id, "reward": 0.25})).ok(200);
    let other = service.post("/v1/models/costly/feedback", &json!({"id": id, "cost": 5})).ok(409);
    assert_eq!(other["field"], "cost", "{other}");
    assert!(
        other["detail"].as_str().is_some_and(|what| what.ends_with("has feedback already: the cost 7.5")),
        "{other}"
    );
    let body = json!({"id": id, "reward": -1});
    let outside = service.post("/v1/models/costly/feedback", &body).json();
    let said = "the reward is -1; a number from 0 to 1 was needed; others are given as cost, in the range of the model's parameter costs";
    assert_eq!((&outside["field"], &outside["detail"]), (&json!("reward"), &json!(said)));
    let log = service.get("/v1/models/costly/log").bytes;
    assert_eq!(
        serde_json::from_slice::<Value>(log.split(|byte| *byte == b'\n').next().expect("a header"))
            .expect("JSON")["encoding"]["costs"],
        json!([0.0, 10.0])
    );
    let model = Archive::from_bytes(&service.get("/v1/models/costly/model").bytes).expect("a model file");
    assert_eq!(replayed(log, None).digest(), model.digest());
    // A shadow hears rewards, and hears costs when it has taken over, also after a restart.
    service.put("/v1/models/beside", &json!({"shadow_of": "costly", "learner": "fastcb"})).ok(201);
    service.post("/v1/models/costly/promote", &json!({"shadow": "beside"})).ok(200);
    service.stop();
    service = Service::start(folder.path());
    let id = service.post("/v1/models/costly/decide", &json!({"x": {}})).ok(200)["id"].clone();
    service.post("/v1/models/costly/feedback", &json!({"id": id, "cost": 7.5})).ok(200);
}

/// What is known of the rewards is given with the model, and the log makes the same model.
#[test]
fn a_prior_is_where_forecasts_begin() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = |params: Value| json!({"feedback": "bandit", "labels": ["a", "b", "c"], "params": params});
    service.put("/v1/models/ads", &spec(json!({"features": 4, "prior": 0.01, "prior_rounds": 300}))).ok(201);
    for t in 0..30 {
        let decision = service.post("/v1/models/ads/decide", &json!({"x": {"v": t % 3}})).ok(200);
        let reward = u8::from(t == 7);
        service.post("/v1/models/ads/feedback", &json!({"id": decision["id"], "reward": reward})).ok(200);
    }
    let model = Archive::from_bytes(&service.get("/v1/models/ads/model").bytes).expect("a model file");
    let values = model.bandit_model().expect("a bandit").values();
    assert_eq!(["prior", "prior_rounds"].map(|name| values[name].to_string()), ["0.01", "300"]);
    assert_eq!(replayed(service.get("/v1/models/ads/log").bytes, None).digest(), model.digest());
    let refused = service.put("/v1/models/wrong", &spec(json!({"features": 4, "prior": 2}))).json();
    let detail = refused["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("prior = 2: must be above 0 and below 1"), "{refused}");
}

/// Labels with features of their own come and go; what is learnt of one helps with the next.
#[test]
fn labels_come_and_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service
        .put("/v1/models/news", &json!({"feedback": "bandit", "params": {"width": 512, "classes": 6}}))
        .ok(201);
    let mut late = 0.0;
    for t in 0..400u64 {
        let likes = ["sport", "art"][(t % 2) as usize];
        let topics = ["sport", "art", "news"];
        let labels: serde_json::Map<String, Value> = (0..3)
            .map(|at| {
                (format!("article-{}", t / 20 + at), json!({"topic": topics[((t / 20 + at) % 3) as usize]}))
            })
            .collect();
        let body = json!({"x": {"likes": likes}, "labels": labels});
        let decision = service.post("/v1/models/news/decide", &body).ok(200);
        let label = decision["label"].as_str().expect("a label");
        let reward = f64::from(u8::from(labels[label]["topic"] == likes)) * 0.8;
        late += if t >= 200 { reward } else { 0.0 };
        service.post("/v1/models/news/feedback", &json!({"id": decision["id"], "reward": reward})).ok(200);
    }
    assert!(late > 0.8 * 200.0 * 0.6, "{late} of at most 160");
    let log = service.get("/v1/models/news/log");
    let model = Archive::from_bytes(&service.get("/v1/models/news/model").bytes).expect("a model file");
    assert_eq!(replayed(log.bytes, None).digest(), model.digest());
    service.post("/v1/models/news/decide", &json!({"x": {}})).ok(422);
}

/// A share of the draws is uniform, however many labels are on offer, and the log says so.
#[test]
fn a_share_is_explored() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let spec = |service: Value| json!({"feedback": "bandit", "params": {"width": 64, "classes": 4}, "service": service});
    service.put("/v1/models/news", &spec(json!({}))).ok(201);
    let round = |service: &Service, t: u64| {
        let labels: Vec<String> = (0..2 + t % 3).map(|at| format!("article-{at}")).collect();
        let body = json!({"x": {"t": t % 2}, "labels": labels});
        let decision = service.post("/v1/models/news/decide", &body).ok(200);
        let reward = f64::from(u8::from(decision["label"] == "article-0"));
        service.post("/v1/models/news/feedback", &json!({"id": decision["id"], "reward": reward})).ok(200);
        let p =
            decision["p"].as_object().expect("probabilities").values().map(|p| p.as_f64().expect("a number"));
        p.fold(1.0, f64::min) * labels.len() as f64
    };
    for t in 0..40 {
        round(&service, t);
    }
    let before = Archive::from_bytes(&service.get("/v1/models/news/model").bytes).expect("a model file");
    let version = service.get("/v1/models/news").ok(200)["version"].as_u64().expect("a version");
    service.put("/v1/models/news", &spec(json!({"explore": 0.4}))).ok(200);
    for t in 0..40 {
        let least = round(&service, t);
        assert!(least >= 0.4 - 1e-9, "{least}");
        if t == 20 {
            service.stop();
            service = Service::start(folder.path());
        }
    }
    let after = Archive::from_bytes(&service.get("/v1/models/news/model").bytes).expect("a model file");
    let log = service.get("/v1/models/news/log");
    assert_eq!(replayed(log.bytes, Some(&before)).digest(), after.digest());
    let versions = service.get("/v1/models/news/versions").ok(200);
    assert!(versions.to_string().contains(&(version + 1).to_string()), "{versions}");
    let evaluate = |policy: &str| {
        let body = json!({"policy": policy, "params": {"width": 32, "classes": 4}});
        service.post("/v1/models/news/evaluate", &body)
    };
    let learnt = evaluate("learner:offers").ok(200);
    assert!(learnt["rounds"] == 40 && learnt["estimates"][0]["value"].is_number(), "{learnt}");
    assert_eq!(evaluate("learner:folklore").status, 422);
    // Parameters of a policy that has none would be passed over in silence.
    let refused = evaluate("uniform");
    assert_eq!((refused.status, &refused.json()["field"]), (422, &json!("params")));
    let wrong = service.put("/v1/models/news", &spec(json!({"explore": 1.5})));
    assert_eq!((wrong.status, &wrong.json()["field"]), (422, &json!("service.explore")));
}

/// A decision that is not answered in time earns the default reward; then it is too late.
#[test]
fn waiting_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let service_of = |wait: f64| json!({"wait_seconds": wait, "default_reward": 0.0});
    let spec = |wait| json!({"feedback": "bandit", "labels": ["a", "b"], "service": service_of(wait)});
    service.put("/v1/models/m", &spec(0.3)).ok(201);
    let id = service.post("/v1/models/m/decide", &json!({"x": {}})).ok(200)["id"].clone();
    let deferred = json!({"x": {}, "id": "later", "deferred": true});
    service.post("/v1/models/m/decide", &deferred).ok(200);
    std::thread::sleep(std::time::Duration::from_millis(1000));
    let late = service.post("/v1/models/m/feedback", &json!({"id": id, "correct": true}));
    assert_eq!(late.status, 410, "{late:?}");
    let about = service.get("/v1/models/m").ok(200);
    assert_eq!((&about["scores"]["expired"], &about["rounds"]), (&json!(2), &json!(1)), "{about}");
    let log = service.get("/v1/models/m/log");
    let model = Archive::from_bytes(&service.get("/v1/models/m/model").bytes).expect("a model file");
    assert_eq!(replayed(log.bytes, None).digest(), model.digest());
    // From here on there is more time.
    service.put("/v1/models/m", &spec(3600.0)).ok(200);
    service.post("/v1/models/m/decide", &json!({"x": {}, "id": "next", "deferred": true})).ok(200);
    service.post("/v1/models/m/feedback", &json!({"id": "next", "correct": true})).ok(200);
    assert_eq!(
        service.get("/v1/models/m").ok(200)["scores"]["answered"],
        1,
        "nothing counts before it is active"
    );
    service.post("/v1/models/m/activate", &json!({"id": "next"})).ok(200);
    assert_eq!(service.get("/v1/models/m").ok(200)["scores"]["answered"], 2);
    // Sums are closed by their time, not by their first part.
    let sums = json!({"wait_seconds": 0.3, "aggregation": "sum"});
    service
        .put("/v1/models/sums", &json!({"feedback": "bandit", "labels": ["a", "b"], "service": sums}))
        .ok(201);
    service.post("/v1/models/sums/evaluate", &json!({"policy": "uniform"})).ok(409);
    service.post("/v1/models/sums/decide", &json!({"id": "v"})).ok(200);
    for reward in [0.25, 0.5] {
        service.post("/v1/models/sums/feedback", &json!({"id": "v", "reward": reward})).ok(200);
    }
    std::thread::sleep(std::time::Duration::from_millis(1000));
    assert_eq!(service.get("/v1/models/sums").ok(200)["scores"]["reward"], 0.75);
    service.post("/v1/models/sums/feedback", &json!({"id": "v", "reward": 0.5})).ok(410);
}

/// The state of a model says what works where the constants of a theorem are too cautious.
#[test]
fn cautions_are_part_of_the_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let made = |name: &str, learner: &str, feedback: &str, params: Value| {
        let spec = json!({"learner": learner, "feedback": feedback, "labels": ["a", "b"], "params": params});
        service.put(&format!("/v1/models/{name}"), &spec).ok(201)["cautions"].clone()
    };
    let oracle = made("oracle", "squarecb", "bandit", json!({"oracle": "aioli"}));
    let told = oracle[0].as_str().unwrap_or_default();
    let begins = "aioli by itself: the defaults are too cautious; \"params\": {\"oracle.curvature\":0.1} works, without guarantee: ";
    assert!(told.starts_with(begins), "{oracle}");
    assert_eq!(service.get("/v1/models/oracle").ok(200)["cautions"], oracle);
    assert!(made("own", "ons", "full", json!({})).to_string().contains("regularization"));
    assert_eq!(made("given", "aioli", "full", json!({"curvature": 0.1})), Value::Null);
    assert_eq!(made("auto", "auto", "bandit", json!({})), Value::Null);
}

/// A waiting time does not run out while the service is stopped, when nobody can answer.
#[test]
fn no_waiting_time_ends_while_the_service_is_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let how = json!({"wait_seconds": 2, "default_reward": 0});
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"], "service": how});
    service.put("/v1/models/m", &spec).ok(201);
    service.post("/v1/models/m/decide", &json!({"x": {}, "id": "before"})).ok(200);
    service.stop();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let service = Service::start(folder.path());
    service.post("/v1/models/m/feedback", &json!({"id": "before", "reward": 1})).ok(200);
    // From then on it ends as ever.
    service.post("/v1/models/m/decide", &json!({"x": {}, "id": "after"})).ok(200);
    std::thread::sleep(std::time::Duration::from_millis(3000));
    service.post("/v1/models/m/feedback", &json!({"id": "after", "reward": 1})).ok(410);
    let scores = service.get("/v1/models/m").ok(200)["scores"].clone();
    assert_eq!((&scores["answered"], &scores["expired"]), (&json!(2), &json!(1)), "{scores}");
}

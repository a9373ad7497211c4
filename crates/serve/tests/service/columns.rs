//! Columns without a wall: a category with many values.

use noregret_serve::Limits;
use serde_json::json;

use super::bandit::replayed;
use super::support::Service;

/// Decisions over a category with many values, through a restart: none is refused, the state says how far the
/// model has grown and what is shared, and the log can still be replayed to the same bits.
#[test]
fn ten_thousand_values_of_a_category() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = || Limits { columns: 128, ..Limits::default() };
    let mut service = Service::with(folder.path(), limits());
    let spec = json!({"feedback": "bandit", "labels": ["a", "b", "c"], "learner": "squarecb"});
    service.put("/v1/models/m", &spec).ok(201);
    let decide = |service: &Service, from: u32, to: u32| {
        let line = |t: u32| {
            // Half of the rows have one of a few values.
            let city = if t.is_multiple_of(2) { t % 50 } else { t };
            json!({"id": format!("d{t}"), "x": {"city": format!("c{city}"), "hour": t % 24}}).to_string()
        };
        let lines: Vec<String> = (from..to).map(line).collect();
        let path = "/v1/models/m/decide";
        let answers = service.send("POST", path, "application/x-ndjson", lines.join("\n").as_bytes()).lines();
        assert_eq!(answers.len(), lines.len());
        let refused = answers.iter().find(|answer| answer["error"].is_object());
        assert_eq!(refused, None);
        let lines: Vec<String> = (from..to)
            .map(|t| json!({"id": format!("d{t}"), "reward": f64::from(t % 3) / 2.0}).to_string())
            .collect();
        let path = "/v1/models/m/feedback";
        service.send("POST", path, "application/x-ndjson", lines.join("\n").as_bytes());
    };
    decide(&service, 0, 40);
    let room = json!({"columns": 64, "most": 128, "shared": 0, "most_labels": 1000});
    assert_eq!(service.get("/v1/models/m").ok(200)["room"], room);
    decide(&service, 40, 2_000);
    service.stop();
    service = Service::with(folder.path(), limits());
    decide(&service, 2_000, 20_000);
    let about = service.get("/v1/models/m").ok(200);
    assert_eq!((&about["scores"]["answered"], &about["refused"]), (&json!(20_000), &json!(0)), "{about}");
    assert_eq!((&about["room"]["columns"], &about["columns"]), (&json!(128), &json!(128)), "{about}");
    assert!(about["room"]["shared"].as_u64().is_some_and(|shared| shared >= 32), "{about}");
    let log = service.get("/v1/models/m/log");
    let model = service.get("/v1/models/m/model");
    let model = noregret::model::Archive::from_bytes(&model.bytes).expect("a model file");
    assert_eq!(replayed(log.bytes, None).digest(), model.digest());
}

/// The mean chance of a reward in `rounds` decisions whose right label follows from device and hour, with one
/// of `values` cities in every row; no row is refused.
fn earned(rounds: u64, values: u64) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = json!({"feedback": "bandit", "labels": ["a", "b", "c"], "learner": "squarecb"});
    service.put("/v1/models/m", &spec).ok(201);
    let (mut state, mut sum) = (9u64, 0.0);
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) * most) >> 31
    };
    let send = |what: &str, lines: &[String]| {
        let path = format!("/v1/models/m/{what}");
        let answers =
            service.send("POST", &path, "application/x-ndjson", lines.join("\n").as_bytes()).lines();
        assert!(answers.len() == lines.len() && answers.iter().all(|answer| !answer["error"].is_object()));
        answers
    };
    for from in (0..rounds).step_by(100) {
        // Hour, device, city, and what decides on the reward: the same draws for any number of cities.
        let rows: Vec<[u64; 4]> =
            (0..100).map(|_| [below(24), below(3), below(10_000) * values / 10_000, below(100)]).collect();
        let line = |(at, [hour, device, city, _]): (u64, &[u64; 4])| {
            let x = json!({"hour": hour, "device": format!("d{device}"), "city": format!("c{city}")});
            json!({"id": format!("r{}", from + at), "x": x}).to_string()
        };
        let decided = send("decide", &(0..).zip(&rows).map(line).collect::<Vec<_>>());
        let mut answers = Vec::with_capacity(100);
        for (decision, [hour, device, _, chance]) in decided.iter().zip(&rows) {
            let right = ["a", "b", "c"][(device + u64::from(*hour >= 18)) as usize % 3];
            let of_hundred = if decision["label"] == right { 80 } else { 20 };
            sum += of_hundred as f64 / 100.0;
            let reward = u8::from(*chance < of_hundred);
            answers.push(json!({"id": decision["id"], "reward": reward}).to_string());
        }
        send("feedback", &answers);
    }
    sum / rounds as f64
}

/// With ten thousand values of a column that says nothing, as much is earned as with fifty.
fn many_values_cost_nothing(rounds: u64) {
    let (few, many) = (earned(rounds, 50), earned(rounds, 10_000));
    assert!(few > 0.45 && many > 0.98 * few, "{few} with 50 values, {many} with 10,000");
}

#[test]
fn many_values_of_a_category_cost_no_reward() {
    many_values_cost_nothing(4_000);
}

#[test]
#[ignore = "slow: a hundred thousand decisions"]
fn many_values_of_a_category_cost_no_reward_in_the_long_run() {
    many_values_cost_nothing(50_000);
}

/// Every learner that takes labels: where its state says, as soon as it is made, that no more labels or
/// columns fit, rows with more are refused, and nowhere else.
#[test]
fn what_does_not_grow_is_said_when_the_model_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits { model_bytes: 1 << 26, ..Limits::default() };
    let service = Service::with(folder.path(), limits);
    let (mut fixed, mut growing) = (0, 0);
    for entry in noregret::registry::ALGORITHMS {
        let name = entry.about.name;
        let url = format!("/v1/models/{name}");
        let made = service.put(&url, &json!({"learner": name}));
        // Those of other feedback are refused.
        if entry.about.accepts.classes == noregret::learner::Classes::Real || made.status != 201 {
            continue;
        }
        let room = &made.ok(201)["room"];
        let (most, labels) =
            (room["most"].as_u64().expect("columns"), room["most_labels"].as_u64().expect("labels"));
        let learn =
            |x: &serde_json::Value, y: &str| service.post(&format!("{url}/learn"), &json!({"x": x, "y": y}));
        learn(&json!({"v": 1}), "a").ok(200);
        learn(&json!({"v": 0}), "b").ok(200);
        let third = learn(&json!({"v": 1}), "c").status;
        assert_eq!((labels < 3, labels > 3), (third == 422, third == 200), "{name}: {room}");
        let x: serde_json::Map<_, _> = (0..20).map(|at| (format!("w{at}"), json!(0.1))).collect();
        let wide = learn(&json!(x), "a").status;
        assert_eq!((most < 21, most > 21), (wide == 422, wide == 200), "{name}: {room}");
        let is_fixed = third == 422 || wide == 422;
        assert_eq!(room["note"].is_string(), is_fixed, "{name}: {room}");
        fixed += u32::from(is_fixed);
        growing += u32::from(!is_fixed);
        service.delete(&url);
    }
    assert!(fixed > 2 && growing > 10, "{fixed} {growing}");
}

/// A time is no category of its own, which never comes again: it has the features of a time in a table, in
/// decisions and in rows that are learnt, also when they are applied again.
#[test]
fn times_are_read_as_those_of_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let spec = json!({"feedback": "bandit", "labels": ["a", "b"], "learner": "squarecb"});
    service.put("/v1/models/decides", &spec).ok(201);
    service.put("/v1/models/learns", &json!({"labels": ["a", "b"], "learner": "ogd"})).ok(201);
    let row = |t: u32| json!({"at": format!("2026-11-{:02}T10:{:02}:07Z", t % 20 + 1, t % 60)});
    for t in 0..40 {
        let decision = service.post("/v1/models/decides/decide", &json!({"x": row(t)})).ok(200);
        let answer = json!({"id": decision["id"], "reward": t % 2});
        service.post("/v1/models/decides/feedback", &answer).ok(200);
        service.post("/v1/models/learns/learn", &json!({"x": row(t), "y": "a"})).ok(200);
    }
    let digest = |service: &Service, name: &str| {
        let model = service.get(&format!("/v1/models/{name}/model"));
        noregret::model::Archive::from_bytes(&model.bytes).expect("a model file").digest()
    };
    let before = ["decides", "learns"].map(|name| digest(&service, name));
    service.stop();
    service = Service::start(folder.path());
    for (name, before) in ["decides", "learns"].into_iter().zip(before) {
        // Five numbers, and the days of the week.
        assert_eq!(service.get(&format!("/v1/models/{name}")).ok(200)["columns"], 12, "{name}");
        assert_eq!(digest(&service, name), before, "{name}");
        service.post(&format!("/v1/models/{name}/predict"), &json!({"x": {"at": "2027-02-03"}})).ok(200);
    }
    let log = service.get("/v1/models/decides/log");
    let model = service.get("/v1/models/decides/model");
    let model = noregret::model::Archive::from_bytes(&model.bytes).expect("a model file");
    assert_eq!(replayed(log.bytes, None).digest(), model.digest());
}

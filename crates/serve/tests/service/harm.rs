//! Keys, limits, names, and bodies that mean no good.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use noregret_serve::{Keys, Limits, Right};
use serde_json::json;

use super::support::Service;

#[test]
fn keys_open_what_they_are_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = Service::try_start(folder.path(), Limits::default(), "0.0.0.0:0").err().expect("no keys");
    assert!(refused.contains("there are no keys"), "{refused}");
    let admin = Keys::add(folder.path(), "admin", Right::Admin, &[], None).expect("a key");
    let reader = Keys::add(folder.path(), "reader", Right::Read, &["m".to_owned()], None).expect("a key");
    let mut service = Service::start(folder.path());
    assert_eq!(service.put("/v1/models/m", &json!({})).status, 401);
    assert_eq!(service.get("/v1/models").status, 401);
    assert_eq!(service.get("/healthz").status, 200);
    service.key = Some(reader.clone());
    assert_eq!(service.put("/v1/models/m", &json!({})).status, 403);
    // A key that is added or removed while the service runs counts from the next request on.
    let second = Keys::add(folder.path(), "second", Right::Admin, &[], None).expect("a key");
    service.key = Some(second);
    service.get("/v1/models").ok(200);
    Keys::remove(folder.path(), "second").expect("there are others");
    assert_eq!(service.get("/v1/models").status, 401);
    service.key = Some(admin);
    service.put("/v1/models/m", &json!({})).ok(201);
    service.put("/v1/models/other", &json!({"learner": "ogd"})).ok(201);
    // A key for some models is shown those.
    service.key = Some(reader);
    let shown = service.get("/v1/models").ok(200);
    let names = shown["models"].as_array().expect("a list").iter().map(|model| &model["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["m"]);
    assert_eq!(service.get("/metrics").status, 403);
    assert!(
        Service::try_start(folder.path(), Limits::default(), "127.0.0.1:0").is_err(),
        "one service a folder"
    );
}

#[test]
fn refusals_are_sentences_with_a_field() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits { models: 3, columns: 32, labels: 4, body: 10_000, ..Limits::default() };
    let service = Service::with(folder.path(), limits);
    service.put("/v1/models/full", &json!({"learner": "ogd"})).ok(201);
    service
        .put(
            "/v1/models/play",
            &json!({"feedback": "bandit", "labels": ["a", "b"], "params": {"features": 2}}),
        )
        .ok(201);
    service
        .put("/v1/models/newtron", &json!({"feedback": "bandit", "learner": "newtron", "labels": ["a", "b"]}))
        .ok(201);
    let cases = [
        ("PUT", "/v1/models/four", "{}", 422, Some("name")),
        ("PUT", "/v1/models/..", "{}", 422, Some("name")),
        ("PUT", "/v1/models/%2e%2e%2fx", "{}", 422, Some("name")),
        ("PUT", "/v1/models/full", "{\"learner\": \"folklore\"}", 409, None),
        ("POST", "/v1/models/none/predict", "{\"x\": {}}", 404, None),
        ("POST", "/v1/models/full/predict", "{", 400, None),
        ("POST", "/v1/models/full/predict", "{}", 422, Some("x")),
        ("POST", "/v1/models/full/predict", "{\"x\": {}, \"z\": 1}", 422, Some("z")),
        ("POST", "/v1/models/full/copy", "{\"to\": \"a/b\"}", 422, Some("to")),
        ("POST", "/v1/models/full/rollback", "{\"version\": 77}", 404, Some("version")),
        ("POST", "/v1/models/play/promote", "{\"shadow\": \"none\"}", 404, Some("shadow")),
        ("POST", "/v1/models/play/evaluate", "{\"policy\": \"model:none\"}", 404, Some("policy")),
        ("POST", "/v1/models/play/evaluate", "{\"policy\": \"learner:none\"}", 422, Some("policy")),
        (
            "POST",
            "/v1/models/play/evaluate",
            "{\"policy\": \"uniform\", \"confidence\": 2}",
            422,
            Some("confidence"),
        ),
        ("POST", "/v1/models/full/predict", "{\"x\": 1}", 422, Some("x")),
        ("POST", "/v1/models/full/learn", "{\"x\": {\"v\": 1e200}, \"y\": 1}", 422, Some("x")),
        ("POST", "/v1/models/full/learn", "{\"x\": {}, \"y\": {}}", 422, Some("y")),
        ("POST", "/v1/models/full/learn", "{\"x\": {}, \"y\": 1, \"weight\": -1}", 422, Some("weight")),
        ("POST", "/v1/models/full/learn", "{\"x\": {}, \"y\": 1, \"weight\": \"a\"}", 422, Some("weight")),
        ("POST", "/v1/models/full/decide", "{\"x\": {}}", 409, None),
        ("POST", "/v1/models/play/learn", "{\"x\": {}, \"y\": 1}", 409, None),
        ("POST", "/v1/models/play/decide", "{\"x\": {\"a\": 1, \"b\": 2, \"c\": 3}}", 422, Some("x")),
        ("POST", "/v1/models/play/decide", "{\"labels\": []}", 422, Some("labels")),
        ("POST", "/v1/models/play/decide", "{\"labels\": [\"a\", \"a\"]}", 422, Some("labels")),
        ("POST", "/v1/models/play/decide", "{\"labels\": [\"a\", \"z\"]}", 422, Some("labels[1]")),
        ("POST", "/v1/models/play/decide", "{\"labels\": {\"a\": {\"v\": 1}}}", 422, Some("labels[0].x")),
        ("POST", "/v1/models/play/decide", "{\"exclude\": [\"a\", \"b\"]}", 422, Some("exclude")),
        ("POST", "/v1/models/newtron/decide", "{\"labels\": [\"a\"]}", 422, Some("labels")),
        ("POST", "/v1/models/play/feedback", "{\"id\": \"d1\"}", 422, Some("reward")),
        ("POST", "/v1/models/play/feedback", "{\"id\": \"d1\", \"reward\": 2}", 422, Some("reward")),
        ("POST", "/v1/models/play/feedback", "{\"id\": \"d1\", \"cost\": 2}", 422, Some("cost")),
        (
            "POST",
            "/v1/models/play/feedback",
            "{\"id\": \"d1\", \"reward\": 1, \"cost\": 1}",
            422,
            Some("reward"),
        ),
        ("PUT", "/v1/models/full/model", "no model", 422, Some("body")),
        ("PUT", "/v1/models/full", "{\"feedback\": 3}", 422, Some("feedback")),
        ("PUT", "/v1/models/full", "{\"service\": []}", 422, Some("service")),
        ("PUT", "/v1/models/full", "{\"service\": {\"mode\": 3}}", 422, Some("service.mode")),
        (
            "PUT",
            "/v1/models/full",
            "{\"learner\": \"ogd\", \"service\": {\"wait_seconds\": -1}}",
            422,
            Some("service.wait_seconds"),
        ),
        ("PUT", "/v1/models/full", "{\"labels\": [1, null]}", 422, Some("labels")),
        ("PATCH", "/v1/models/full", "{}", 405, None),
        ("GET", "/nowhere", "", 404, None),
    ];
    for (method, path, body, status, field) in cases {
        let answer = service.send(method, path, "application/json", body.as_bytes());
        let problem = answer.json();
        assert_eq!(answer.status, status, "{method} {path} {body}: {problem}");
        assert_eq!(answer.kind, "application/problem+json", "{method} {path} {body}");
        assert_eq!(problem["field"].as_str(), field, "{method} {path} {body}: {problem}");
        let detail = problem["detail"].as_str().expect("a sentence");
        assert!(detail.len() > 10 && !detail.contains('\\'), "{method} {path} {body}: {detail}");
    }
    // What may be left out may be null, and labels may be numbers.
    let nothing =
        json!({"learner": "ogd", "feedback": null, "labels": null, "params": null, "service": null});
    service.put("/v1/models/full", &nothing).ok(200);
    service.delete("/v1/models/newtron").ok(204);
    let numbers =
        json!({"learner": "ogd", "labels": [1, "2"], "service": {"mode": null, "aggregation": null}});
    assert_eq!(service.put("/v1/models/newtron", &numbers).ok(201)["labels"], json!([1, "2"]));
    // The same labels as texts are the same labels.
    let texts = json!({"learner": "ogd", "labels": ["1", 2]});
    assert_eq!(service.put("/v1/models/newtron", &texts).ok(200)["labels"], json!([1, "2"]));
    let large = json!({"x": {"v": "a".repeat(20_000)}});
    assert_eq!(service.post("/v1/models/full/predict", &large).status, 413);
    let deep = format!("{{\"x\": {}1{}}}", "{\"a\":".repeat(100), "}".repeat(100));
    assert_eq!(
        service.send("POST", "/v1/models/full/predict", "application/json", deep.as_bytes()).status,
        422
    );
    // Nothing of all that was learnt, and the models still work.
    for model in ["full", "play", "newtron"] {
        assert_eq!(service.get(&format!("/v1/models/{model}")).ok(200)["rounds"], 0, "{model}");
    }
    service.post("/v1/models/play/decide", &json!({"x": {"a": 1}})).ok(200);
    let metrics = service.get("/metrics");
    let text = String::from_utf8(metrics.bytes).expect("text");
    assert!(text.contains("# TYPE noregret_decisions gauge\n"), "{text}");
    assert!(text.contains("noregret_decisions{model=\"play\"} 1\n"), "{text}");
    let document = service.get("/openapi.json").ok(200);
    assert!(document["paths"]["/v1/models/{name}/decide"]["post"].is_object());
}

#[test]
fn clients_have_a_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::with(folder.path(), Limits { rate: Some(3), ..Limits::default() });
    let answers: Vec<_> = (0..10).map(|_| service.get("/healthz")).collect();
    let refused = answers.iter().find(|answer| answer.status == 429).expect("ten are too many");
    assert_eq!(refused.retry_after.as_deref(), Some("1"));
}

/// A key with a rate: it counts for this key alone, whoever has it, and holds for a service that runs
/// already.
#[test]
fn keys_have_a_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    let free = Keys::add(folder.path(), "free", Right::Read, &[], None).expect("a key");
    let mut service = Service::start(folder.path());
    let slow = Keys::add(folder.path(), "slow", Right::Read, &[], Some(3)).expect("a key");
    service.key = Some(slow);
    let answers: Vec<_> = (0..10).map(|_| service.get("/v1/models")).collect();
    let refused = answers.iter().find(|answer| answer.status == 429).expect("ten are too many");
    assert_eq!(refused.retry_after.as_deref(), Some("1"));
    let what = refused.json()["detail"].as_str().expect("a sentence").to_owned();
    assert_eq!(what, "more than 3 requests in a second, which is the limit of the key");
    service.key = Some(free);
    (0..10).for_each(|_| drop(service.get("/v1/models").ok(200)));
}

/// Pages of the origins that are named may ask, also for what is refused; others are told of no permission.
#[test]
fn pages_of_other_origins() {
    let folder = tempfile::tempdir().expect("a folder");
    Keys::add(folder.path(), "admin", Right::Admin, &[], None).expect("a key");
    let service = Service::try_start(folder.path(), Limits::default(), "127.0.0.1:0").expect("starts");
    let ask = |method: &str, origin: &str| {
        let mut stream = TcpStream::connect(service.address).expect("a connection");
        let asked = format!(
            "{method} /v1/models/m HTTP/1.1\r\nhost: a\r\nconnection: close\r\norigin: {origin}\r\n\
             access-control-request-method: PUT\r\naccess-control-request-headers: authorization\r\n\r\n"
        );
        stream.write_all(asked.as_bytes()).expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer.to_lowercase()
    };
    let allowed = "access-control-allow-origin: https://example.com\r\n";
    let before = ask("OPTIONS", "https://example.com");
    assert!(before.starts_with("http/1.1 200") && before.contains(allowed), "{before}");
    for (name, value) in [("methods", "put"), ("headers", "authorization")] {
        let line = before.lines().find(|line| line.starts_with(&format!("access-control-allow-{name}:")));
        assert!(line.is_some_and(|line| line.contains(value)), "{before}");
    }
    // Without a key.
    let refused = ask("GET", "https://example.com");
    assert!(refused.starts_with("http/1.1 401") && refused.contains(allowed), "{refused}");
    let other = ask("GET", "https://example.org");
    assert!(!other.contains("access-control-allow-origin"), "{other}");
}

/// More than can be done: refused with a time to come again, counted once what was not, and another model
/// does not wait for it.
#[test]
fn overload_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::with(folder.path(), Limits { queue: 3, ..Limits::default() });
    service
        .put("/v1/models/slow", &json!({"labels": ["a", "b", "c", "d"], "params": {"features": 200}}))
        .ok(201);
    service.put("/v1/models/fast", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let row = |t: usize| {
        let x: serde_json::Map<String, serde_json::Value> =
            (0..150).map(|at| (format!("v{at}"), (((at * 7 + t) % 13) as f64).into())).collect();
        let label = ["a", "b", "c", "d"][t % 4];
        json!({"x": x, "y": label})
    };
    let (mut done, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..16)
            .map(|client| {
                let (service, row) = (&service, &row);
                scope.spawn(move || {
                    let (mut done, mut refused) = (0, 0);
                    for t in 0..6 {
                        let answer = service.post("/v1/models/slow/learn", &row(client * 6 + t));
                        match answer.status {
                            200 => done += 1,
                            503 => {
                                assert_eq!(answer.retry_after.as_deref(), Some("1"), "{answer:?}");
                                refused += 1;
                            }
                            _ => panic!("{answer:?}"),
                        }
                    }
                    (done, refused)
                })
            })
            .collect();
        // Meanwhile, another model.
        for t in 0..20 {
            service.post("/v1/models/fast/learn", &json!({"x": {"v": t}, "y": "a"})).ok(200);
        }
        for client in clients {
            let (mine, not) = client.join().expect("no panic");
            (done, refused) = (done + mine, refused + not);
        }
    });
    assert!(done > 0 && refused > 0, "{done} done, {refused} refused");
    assert_eq!(service.get("/v1/models/slow").ok(200)["rounds"], done);
}

/// A stream of rows whose model is deleted: later rows are refused, and the answer ends with the request.
#[test]
fn a_stream_of_a_deleted_model_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let mut stream = TcpStream::connect(service.address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let head = "POST /v1/models/m/learn HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-ndjson\r\n\
                transfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("sent");
    let row = |stream: &mut TcpStream| {
        let line = "{\"x\": {\"v\": 1}, \"y\": \"a\"}\n";
        write!(stream, "{:x}\r\n{line}\r\n", line.len()).expect("sent");
    };
    row(&mut stream);
    let mut answers = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut line = String::new();
    while !line.contains('{') {
        line.clear();
        assert!(answers.read_line(&mut line).expect("an answer") > 0, "the connection was closed");
    }
    service.delete("/v1/models/m").ok(204);
    row(&mut stream);
    stream.write_all(b"0\r\n\r\n").expect("sent");
    let mut rest = String::new();
    while !rest.ends_with("0\r\n\r\n") {
        assert!(
            answers.read_line(&mut rest).expect("an answer in time") > 0,
            "the connection was closed: {rest}"
        );
    }
    assert!(rest.contains("is being stopped"), "{rest}");
}

/// A connection stays open after a request whose answer did not wait for its body, since the client may
/// already have sent its next request on it.
#[test]
fn a_connection_survives_an_unread_body() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let mut stream = TcpStream::connect(service.address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let mut answers = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut status = || {
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let start = head.len();
            assert!(answers.read_line(&mut head).expect("a line") > 0, "the connection was closed: {head}");
            if let Some(value) = head[start..].strip_prefix("content-length: ") {
                length = value.trim().parse().expect("a length");
            }
        }
        answers.read_exact(&mut vec![0; length]).expect("a body");
        head[..12].to_owned()
    };
    let head = "POST /personalizer/v1.0/logs/interactions HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("sent");
    assert_eq!(status(), "HTTP/1.1 501");
    stream.write_all(b"{}").expect("sent");
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").expect("sent");
    assert_eq!(status(), "HTTP/1.1 200");
}

/// Bodies of every route, bent and broken at random: no answer is a failure, every refusal is a sentence, and
/// what was learnt of all that makes the same models after a restart.
#[test]
fn bent_bodies_get_a_sentence() {
    const SEEDS: &[(&str, &str, &str)] = &[
        (
            "POST",
            "/v1/models/full/learn",
            r#"{"x": {"v": 1.5, "kind": "a", "of": {"b": [1, 2]}}, "y": "cat", "weight": 2.0}"#,
        ),
        ("POST", "/v1/models/full/learn", r#"{"id": "row-1", "y": "dog"}"#),
        ("POST", "/v1/models/full/predict", r#"{"x": [1, 2.5, null, true], "id": "row-1"}"#),
        (
            "POST",
            "/v1/models/play/decide",
            r#"{"x": {"v": 1e-3}, "labels": ["a", "b"], "id": "d", "exclude": ["a"], "deferred": true}"#,
        ),
        (
            "POST",
            "/v1/models/offers/decide",
            r#"{"x": {"u": "v"}, "labels": {"a": {"t": "s"}, "b": {"t": 3}}}"#,
        ),
        ("POST", "/v1/models/play/feedback", r#"{"id": "d1", "reward": 0.5}"#),
        ("POST", "/v1/models/play/activate", r#"{"id": "d1"}"#),
        ("POST", "/v1/models/play/evaluate", r#"{"policy": "constant:a", "confidence": 0.9}"#),
        ("POST", "/v1/models/full/rollback", r#"{"version": 0}"#),
        ("POST", "/v1/models/play/promote", r#"{"shadow": "beside"}"#),
        ("POST", "/v1/models/full/copy", r#"{"to": "full"}"#),
        (
            "PUT",
            "/v1/models/full",
            r#"{"learner": "ogd", "feedback": "full", "labels": ["cat"], "params": {"seed": 1}, "service": {"mode": "online"}}"#,
        ),
        (
            "POST",
            "/loops/offers/personalizer/v1.0/rank",
            r#"{"contextFeatures": [{"u": {"v": [1, "a"]}}], "actions": [{"id": "a", "features": [{"t": "s"}]}, {"id": "b"}], "excludedActions": ["b"], "eventId": "e", "deferActivation": false}"#,
        ),
        (
            "POST",
            "/loops/offers/personalizer/multislot/rank",
            r#"{"actions": [{"id": "a"}, {"id": "b"}], "slots": [{"id": "s", "baselineAction": "a", "excludedActions": ["b"]}], "eventId": "f"}"#,
        ),
        ("POST", "/loops/offers/personalizer/v1.0/events/e/reward", r#"{"value": 0.5}"#),
        (
            "POST",
            "/loops/offers/personalizer/multislot/events/f/reward",
            r#"{"reward": [{"slotId": "s", "value": 1}]}"#,
        ),
        (
            "PUT",
            "/loops/offers/personalizer/configurations/service",
            r#"{"rewardWaitTime": "PT10M", "defaultReward": 0, "rewardAggregation": "earliest", "logRetentionDays": -1}"#,
        ),
        (
            "PUT",
            "/loops/offers/personalizer/evaluations/e",
            r#"{"name": "e", "startTime": "2020-01-01T00:00:00Z", "endTime": "2030-01-01T00:00:00Z"}"#,
        ),
    ];
    const PIECES: &[&str] = &[
        "null",
        "[]",
        "{}",
        "1e999",
        "-1e308",
        "1e-400",
        "-0.0",
        "18446744073709551616",
        "NaN",
        "\"\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "{\"a\":",
        "[[[[",
        "]",
        "}",
        ",",
        "\"a/b\"",
        "\"..\"",
        "true",
        "\u{1f600}",
        "\\",
        "\"x\": 1, \"x\": 2,",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    for (name, spec) in [
        ("full", json!({"learner": "ogd", "labels": ["cat", "dog"]})),
        ("play", json!({"feedback": "bandit", "learner": "soba", "labels": ["a", "b"]})),
        ("beside", json!({"shadow_of": "play", "learner": "banditron"})),
        ("offers", json!({"feedback": "bandit", "params": {"width": 64, "classes": 4}})),
    ] {
        service.put(&format!("/v1/models/{name}"), &spec).ok(201);
    }
    let mut state = 9u64;
    let mut below = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % most.max(1)
    };
    let mut taken = 0;
    for _ in 0..60 {
        for (method, path, seed) in SEEDS {
            let mut body = seed.as_bytes().to_vec();
            for _ in 0..below(2) * (1 + below(3)) {
                let at = below(body.len());
                match below(4) {
                    0 => body[at] ^= 1 << below(8),
                    1 => drop(body.drain(at..(at + below(12)).min(body.len()))),
                    2 => {
                        let copied = body[at..(at + below(20)).min(body.len())].to_vec();
                        body.splice(at..at, copied);
                    }
                    _ => drop(body.splice(at..at, PIECES[below(PIECES.len())].bytes())),
                }
                if body.is_empty() {
                    body.push(b' ');
                }
            }
            let answer = service.send(method, path, "application/json", &body);
            let text = || format!("{method} {path} {}: {answer:?}", String::from_utf8_lossy(&body));
            match answer.status {
                200..=204 => taken += 1,
                // A shadow may be behind.
                503 if path.ends_with("promote") => {}
                400..=422 | 501 => {
                    let problem = answer.json();
                    let sentence = problem["detail"].as_str().or(problem["error"]["message"].as_str());
                    assert!(sentence.is_some_and(|sentence| sentence.len() > 10), "{}", text());
                }
                _ => panic!("{}", text()),
            }
        }
    }
    assert!(taken > 150, "{taken}: most were too broken to say anything");
    let models = ["full", "play", "beside", "offers"];
    let files = |service: &Service| models.map(|name| service.get(&format!("/v1/models/{name}/model")).bytes);
    // Something happens behind the last change of a model as a whole, whose snapshot has to stay.
    service.post("/v1/models/full/learn", &json!({"x": {}, "y": "cat"})).ok(200);
    service.post("/v1/models/play/decide", &json!({"x": {}})).ok(200);
    // The shadow has heard of everything.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let before = files(&service);
    service.stop();
    for name in models {
        // From the first snapshot: all of it is done again.
        let snapshot = super::support::newest_snapshot(folder.path(), name);
        if !snapshot.ends_with("00000000000000000000.safetensors") {
            std::fs::remove_file(snapshot).expect("removable");
        }
    }
    service = Service::start(folder.path());
    for (name, (before, after)) in models.iter().zip(before.iter().zip(&files(&service))) {
        assert!(before == after, "{name} is another model after a restart");
    }
}

/// A client that stops in the middle of a body is told so, and then costs no socket.
#[test]
fn a_body_that_stops_ends_its_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let service =
        Service::with(folder.path(), Limits { body_seconds: 1, idle_seconds: 1, ..Limits::default() });
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    for body in ["content-length: 100\r\n\r\n{", "transfer-encoding: chunked\r\n\r\n1\r\n{\r\n"] {
        let mut stream = TcpStream::connect(service.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        write!(stream, "POST /v1/models/m/learn HTTP/1.1\r\nhost: a\r\n{body}").expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the connection ends");
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert!(answer.contains("did not arrive within 1 seconds"), "{answer}");
    }
}

/// A parameter that a route does not have is refused, and so is one that is given twice, or has no possible
/// value: nothing is done as if it had not been given.
#[test]
fn queries_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    for (method, path, what) in [
        ("GET", "/v1/models/m/log?format=foo", "the query has the parameter \"format\"; none was possible"),
        ("GET", "/v1/models?x", "the query has the parameter \"x\"; none was possible"),
        ("GET", "/healthz?verbose=1", "the query has the parameter \"verbose\"; none was possible"),
        ("PUT", "/v1/models/n?learner=ogd", "the query has the parameter \"learner\"; none was possible"),
        ("PUT", "/v1/models/m/model?version=0", "the query has the parameter \"version\"; none was possible"),
        ("GET", "/v1/models/m/model?verison=0", "the query has the parameter \"verison\"; version was"),
        ("GET", "/v1/models/m/model?version=0&version=0", "the query has version twice"),
        ("GET", "/v1/models/m/model?version=first", "version is \"first\"; the number of one of"),
    ] {
        let body: &[u8] = if method == "PUT" { b"{}" } else { b"" };
        let refused = service.send(method, path, "application/json", body);
        let said = refused.json();
        let detail = said["detail"].as_str().expect("a sentence");
        assert!(refused.status == 400 && detail.starts_with(what), "{method} {path}: {said}");
    }
    service.get("/v1/models/n").ok(404);
    for path in ["/v1/models/m/model?version=0", "/v1/models?", "/evaluation?model=m"] {
        assert_eq!(service.get(path).status, 200, "{path}");
    }
    let refused = service.get("/loops/l/personalizer/model/properties?api-version=2020-01-01").ok(400);
    let message = "api-version is \"2020-01-01\"; 2022-09-01-preview was possible";
    assert_eq!(refused["error"]["message"], message, "{refused}");
}

/// Where a path does not take a method, the answer says what it takes, in the form of either protocol.
#[test]
fn possible_methods_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for (asked, allow, said) in [
        ("PATCH /v1/models/m", "PUT,GET,HEAD,DELETE", "\"detail\":\"this path takes PUT, GET, HEAD"),
        ("GET /loops/l/personalizer/rank", "POST", "\"message\":\"this path takes POST, not GET; see "),
    ] {
        let mut stream = TcpStream::connect(service.address).expect("a connection");
        write!(stream, "{asked} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
        assert!(answer.contains(&format!("\r\nallow: {allow}\r\n")) && answer.contains(said), "{answer}");
        assert!(answer.contains("\r\nx-request-id: "), "{answer}");
    }
}

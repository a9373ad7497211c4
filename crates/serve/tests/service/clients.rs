//! Clients that stop, and what they hold; clients of models that come and go.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use noregret_serve::Limits;
use serde_json::json;

use super::support::Service;

/// A client that goes on asking and reads no answer loses its connection, and with it its place.
#[test]
fn a_client_that_reads_nothing_is_disconnected() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::with(folder.path(), Limits { answer_seconds: 1, ..Limits::default() });
    let mut stream = TcpStream::connect(service.address).expect("a connection");
    stream.set_write_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let many = "GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1000);
    let ended = loop {
        if let Err(error) = stream.write_all(many.as_bytes()) {
            break error;
        }
    };
    // And not that nothing was read of it in twenty seconds.
    assert!(matches!(ended.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{ended:?}");
    // Others are served.
    service.get("/openapi.json").ok(200);
}

/// A model that is made, shadowed, copied, rolled back and deleted again and again, under clients that go on
/// asking it: every request is answered, and with nothing but what may be said of it.
#[test]
fn every_request_ends_while_a_model_comes_and_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let done = AtomicBool::new(false);
    let life = |path: &str| format!("/v1/models/life{path}");
    let lines = "{\"x\": {\"v\": 1}}\n".repeat(20);
    let client = || {
        for _ in 0..1000 {
            if done.load(Ordering::Relaxed) {
                return;
            }
            for answer in [
                service.post(&life("/decide"), &json!({"x": {"v": 1}})),
                service.post(&life("/feedback"), &json!({"id": "d1", "reward": 1})),
                service.post(&life("/predict"), &json!({"x": {"v": 1}})),
                service.send("POST", &life("/decide"), "application/x-ndjson", lines.as_bytes()),
                service.get(&life("")),
                service.get(&life("/log")),
                service.get(&life("/model")),
                service.post(&life("/versions"), &json!({})),
            ] {
                assert!([200, 201, 404, 409, 503].contains(&answer.status), "{answer:?}");
            }
        }
    };
    std::thread::scope(|scope| {
        (0..3).for_each(|_| drop(scope.spawn(client)));
        for _ in 0..8 {
            service
                .put(&life(""), &json!({"feedback": "bandit", "learner": "soba", "labels": ["a", "b"]}))
                .ok(201);
            service.put("/v1/models/beside", &json!({"shadow_of": "life", "learner": "banditron"})).ok(201);
            service.post(&life("/copy"), &json!({"to": "twin"})).ok(201);
            service.post(&life("/rollback"), &json!({"version": 0})).ok(200);
            for model in ["twin", "beside", "life"] {
                service.delete(&format!("/v1/models/{model}")).ok(204);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(service.get("/v1/models").ok(200)["models"], json!([]));
}

/// A model that is deleted while its snapshot is being written leaves nothing to the next model of its name,
/// whose versions had what the deleted one had learnt.
#[test]
fn a_deleted_model_leaves_no_version_to_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::with(folder.path(), Limits { snapshot_every: 4000, ..Limits::default() });
    let params = json!({"features": 40});
    let spec = json!({"feedback": "bandit", "learner": "soba", "labels": ["a", "b"], "params": params});
    service.put("/v1/models/m", &spec).ok(201);
    let row: Vec<u32> = (0..38).collect();
    let lines = format!("{}\n", json!({"x": row})).repeat(4000);
    let answers = service.send("POST", "/v1/models/m/decide", "application/x-ndjson", lines.as_bytes());
    assert_eq!(answers.lines().len(), 4000);
    service.delete("/v1/models/m").ok(204);
    service.put("/v1/models/m", &spec).ok(201);
    // Longer than a snapshot takes.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(service.get("/v1/models/m").ok(200)["versions"], json!([0]));
}

/// HTTP/1.0 has no pieces: an answer of unknown length ends with its connection, which it says, also where
/// the client would have kept it; one that breaks off ends in an error.
#[test]
fn an_export_over_http_1_0_is_whole_or_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let row = json!({"x": {"v": 1, "said": "x".repeat(500)}, "y": "a"}).to_string();
    let rows = vec![row; 4000].join("\n");
    service.send("POST", "/v1/models/m/learn", "application/x-ndjson", rows.as_bytes());
    let read = |kept: &str| {
        let mut stream = TcpStream::connect(service.address).expect("a connection");
        let asked = format!("GET /v1/models/m/log HTTP/1.0\r\n{kept}\r\n");
        stream.write_all(asked.as_bytes()).expect("it is asked");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    for kept in ["", "connection: keep-alive\r\n"] {
        let answer = read(kept).expect("a whole answer");
        let head = answer.split("\r\n\r\n").next().unwrap_or_default();
        assert!(head.starts_with("HTTP/1.0 200") && head.contains("connection: close"), "{head}");
        assert!(!head.contains("keep-alive") && answer.lines().count() > 4000, "{head}");
    }
    let db = rusqlite::Connection::open(folder.path().join("models/m/events.sqlite")).expect("a database");
    db.execute("UPDATE events SET body = 'x' WHERE seq = 3990", []).expect("a change");
    let error = read("").expect_err("it breaks off");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

/// A request with two lengths has its pieces, as RFC 9112 (6.3) wants it, and nothing behind it is a request:
/// a proxy that goes by the other length could be made to hide one there.
#[test]
fn nothing_is_hidden_behind_two_lengths() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/m", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    let row = json!({"x": {"v": 1}, "y": "a"}).to_string();
    let pieces = format!("{:x}\r\n{row}\r\n0\r\n\r\n", row.len());
    let hidden = "DELETE /v1/models/m HTTP/1.1\r\nhost: a\r\n\r\n";
    let whole = format!("content-length: {}\r\n", pieces.len() + hidden.len());
    let in_pieces = "transfer-encoding: chunked\r\n".to_owned();
    for lengths in [[&whole, &in_pieces], [&in_pieces, &whole]] {
        let mut stream = TcpStream::connect(service.address).expect("a connection");
        let lengths = lengths.map(String::as_str).concat();
        let asked = format!("POST /v1/models/m/learn HTTP/1.1\r\nhost: a\r\n{lengths}\r\n{pieces}{hidden}");
        stream.write_all(asked.as_bytes()).expect("it is asked");
        let mut answer = String::new();
        // What is left unread may end the connection by a reset, behind the answer.
        let _ = stream.read_to_string(&mut answer);
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"), "{answer}");
    }
    assert_eq!(service.get("/v1/models/m").ok(200)["rounds"], 2);
}

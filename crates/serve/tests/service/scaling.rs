//! Only rows that are learnt move the scaling.

use noregret::model::Archive;
use serde_json::{Value, json};

use super::bandit::replayed;
use super::support::Service;

fn model(service: &Service, name: &str) -> Archive {
    Archive::from_bytes(&service.get(&format!("/v1/models/{name}/model")).bytes).expect("a model file")
}

/// Two models hear the same; one of them is also asked for decisions that nobody answers, with wild values in
/// all columns. Both play the same to the bit, through a restart.
#[test]
fn decisions_without_answers_leave_no_trace() {
    let blocks = json!({"feedback": "bandit", "params": {"width": 64, "classes": 3}});
    let columns = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b", "c"], "params": {"features": 8}});
    let standard = json!({"feedback": "bandit", "labels": ["a", "b", "c"], "params": {"features": 8}});
    for (mut spec, offers) in [(blocks, true), (columns, false), (standard, false)] {
        // The first label is played, whatever was drawn for the decisions before.
        spec["service"] = json!({"mode": "apprentice"});
        let folder = tempfile::tempdir().expect("a folder");
        let mut service = Service::start(folder.path());
        for name in ["asked", "plain"] {
            service.put(&format!("/v1/models/{name}"), &spec).ok(201);
        }
        let decide = |service: &Service, name: &str, id: &str, t: u64, scale: f64| {
            let x = json!({"age": scale * (t * 31 % 40) as f64, "hour": scale * (t % 24) as f64 + 0.5});
            let words = |at: u64| json!({"words": scale * (100 + t * 17 % 300 + at) as f64 + 0.25});
            let body = match offers {
                true => json!({"id": id, "x": x, "labels": {"u": words(0), "v": words(70), "w": words(9)}}),
                false => json!({"id": id, "x": x}),
            };
            service.post(&format!("/v1/models/{name}/decide"), &body).ok(200)
        };
        for t in 0..160 {
            if t % 4 == 1 {
                decide(&service, "asked", &format!("wild{t}"), t, 1e6);
            }
            // Every fourth answer comes later.
            for name in ["asked", "plain"] {
                decide(&service, name, &format!("d{t}"), t, 1.0);
                let answered = if t % 4 == 0 { t.checked_sub(8) } else { Some(t) };
                if let Some(of) = answered {
                    let body = json!({"id": format!("d{of}"), "reward": (of % 3) as f64 / 2.0});
                    service.post(&format!("/v1/models/{name}/feedback"), &body).ok(200);
                }
            }
            if t == 70 {
                service.stop();
                service = Service::start(folder.path());
            }
        }
        spec["service"] = json!({});
        let [asked, plain] = ["asked", "plain"].map(|name| {
            let about = service.get(&format!("/v1/models/{name}")).ok(200);
            assert_eq!(about["clipped_rows"], 0, "{about}");
            service.put(&format!("/v1/models/{name}"), &spec).ok(200);
            let p = decide(&service, name, "last", 5, 1.0)["p"].clone();
            assert!(p.as_object().is_some_and(|p| p.values().all(|p| p.as_f64() < Some(1.0))), "{p}");
            (p, about["rounds"].clone())
        });
        assert_eq!(asked, plain, "{spec}");
        let log = service.get("/v1/models/asked/log").bytes;
        let header = log.split(|byte| *byte == b'\n').next().expect("a header");
        let header: Value = serde_json::from_slice(header).expect("JSON");
        assert_eq!(header["encoding"]["when_learnt"], true, "{header}");
    }
}

/// Answers that come late, out of order, or never, to drawn labels, and missing numbers, also of numbers far
/// from 0, for which a feature begins: the exported log makes the same model.
#[test]
fn the_log_of_late_answers_makes_the_model() {
    let squarecb = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]});
    for (spec, offers, least) in [
        (squarecb.clone(), false, 0.5),
        (squarecb, false, 90.5),
        (
            json!({"feedback": "bandit", "learner": "soba", "labels": ["a", "b"], "params": {"features": 4}}),
            false,
            90.5,
        ),
        (json!({"feedback": "bandit", "params": {"width": 64, "classes": 3}}), true, 0.5),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::start(folder.path());
        service.put("/v1/models/m", &spec).ok(201);
        let mut late = Vec::new();
        for t in 0..120u64 {
            let wild = if t % 9 == 4 { 1e7 } else { 1.0 };
            let v = if t % 5 == 2 { Value::Null } else { json!(wild * (t * 7 % 13) as f64 + least) };
            let x = json!({"v": v, "kind": if t % 2 == 0 { "p" } else { "q" }});
            let labels = json!({"u": {"words": (t * 37 % 90) as f64 + 0.5}, "v": {"words": 40.5}});
            let body = match offers {
                true => json!({"id": format!("d{t}"), "x": x, "labels": labels}),
                false => json!({"id": format!("d{t}"), "x": x}),
            };
            service.post("/v1/models/m/decide", &body).ok(200);
            if t % 9 != 4 {
                late.push(t);
            }
            if late.len() > 5 {
                let of = late.swap_remove((t * 31 % 5) as usize);
                let body = json!({"id": format!("d{of}"), "correct": of % 3 == 0});
                service.post("/v1/models/m/feedback", &body).ok(200);
            }
        }
        // The rest is answered; what waits of labels on offer is kept in part only, unlike in a replay.
        if offers {
            let waiting = (0..120u64).filter(|t| t % 9 == 4).chain(late);
            for of in waiting {
                service
                    .post("/v1/models/m/feedback", &json!({"id": format!("d{of}"), "correct": true}))
                    .ok(200);
            }
        }
        if !offers {
            // Where the number of columns is given, they are for names alone, of which one more comes.
            let columns = if least > 1.0 && spec["params"].is_null() { 4 } else { 3 };
            assert_eq!(service.get("/v1/models/m").ok(200)["columns"], columns, "{spec}");
            let last = json!({"id": "last", "x": {"v": 90.5, "kind": "r"}});
            service.post("/v1/models/m/decide", &last).ok(200);
        }
        let log = service.get("/v1/models/m/log").bytes;
        assert_eq!(replayed(log, None).digest(), model(&service, "m").digest(), "{spec}");
    }
}

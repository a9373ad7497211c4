//! The files in `deploy/` name what the service has.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use super::support::Service;

/// The names in `text` that begin with `noregret_`.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c: char| !is_part(c));
    words.filter(|word| word.starts_with("noregret_")).map(str::to_owned).collect()
}

/// Alerts and the board of Grafana name metrics that a service with both kinds of models has, and no others;
/// the board shows all of them.
#[test]
fn alerts_and_board_name_metrics_that_exist() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.put("/v1/models/rows", &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
    service
        .put("/v1/models/site", &json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"]}))
        .ok(201);
    for t in 0..4 {
        service.post("/v1/models/rows/learn", &json!({"x": {"v": t}, "y": "a"})).ok(200);
        let decision = service.post("/v1/models/site/decide", &json!({"x": {"v": t}})).ok(200);
        service.post("/v1/models/site/feedback", &json!({"id": decision["id"], "reward": 1})).ok(200);
    }
    service.post("/v1/models/site/feedback", &json!({"id": "nobody", "reward": 1})).ok(404);
    let text = String::from_utf8(service.get("/metrics").bytes).expect("text");
    assert!(text.contains("noregret_models{state=\"ready\"} 2"), "{text}");
    assert!(text.contains("noregret_responses_total{status=\"404\"} "), "{text}");
    if cfg!(target_os = "linux") {
        for name in ["process_resident_memory_bytes", "process_open_fds", "noregret_disk_free_bytes"] {
            assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {text}");
        }
    }
    let samples =
        text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split(['{', ' ']).next());
    let known: BTreeSet<String> =
        samples.filter(|name| name.starts_with("noregret_")).map(str::to_owned).collect();
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let file = |name: &str| std::fs::read_to_string(deploy.join(name)).expect("a file");
    let (alerts, board) = (metrics_in(&file("alerts.yml")), metrics_in(&file("grafana.json")));
    assert!(alerts.len() > 5 && alerts.is_subset(&known), "{:?}", alerts.difference(&known));
    assert!(board.is_subset(&known), "{:?}", board.difference(&known));
    // Sums and counts are parts of what the board shows of their buckets.
    let whole = |name: &str| name.strip_suffix("_sum").or(name.strip_suffix("_count")).map(str::to_owned);
    let bucket = |name: &str| whole(name).is_some_and(|name| board.contains(&format!("{name}_bucket")));
    let shown = |name: &&String| board.contains(*name) || bucket(name) || *name == "noregret_reward";
    assert_eq!(known.iter().find(|name| !shown(name)), None, "is not on the board");
    serde_json::from_str::<serde_json::Value>(&file("grafana.json")).expect("JSON");
}

/// The numbers of a deleted model are not reported any more: an alert about it would never end.
#[test]
fn a_deleted_model_has_no_metrics() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for model in ["kept", "gone"] {
        service.put(&format!("/v1/models/{model}"), &json!({"learner": "ogd", "labels": ["a", "b"]})).ok(201);
        service.post(&format!("/v1/models/{model}/learn"), &json!({"x": {"v": 1}, "y": "a"})).ok(200);
        service
            .post(&format!("/v1/models/{model}/learn"), &json!({"x": {"v": 1}, "y": "a", "weight": -1}))
            .ok(422);
    }
    let lines = |model: &str| {
        let text = String::from_utf8(service.get("/metrics").bytes).expect("text");
        text.lines().filter(|line| line.contains(&format!("model=\"{model}\""))).count()
    };
    let before = lines("kept");
    assert!(before > 5 && lines("gone") == before, "{before}");
    service.delete("/v1/models/gone").ok(204);
    assert_eq!((lines("kept"), lines("gone")), (before, 0));
}

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
    assert_eq!(service.get("/v1/models/m").ok(200)["room"], json!({"columns": 64, "most": 128, "shared": 0}));
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

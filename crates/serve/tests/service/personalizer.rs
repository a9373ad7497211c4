//! Personalizer's protocol, as its clients speak it.

use serde_json::{Value, json};

use super::support::Service;

fn actions() -> Value {
    json!([
        {"id": "sports", "features": [{"topic": "sport"}, {"length": {"words": 300}}]},
        {"id": "arts", "features": [{"topic": "art"}]},
        {"id": "news", "features": [{"topic": "news"}]},
    ])
}

#[test]
fn ranks_are_rewarded() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let base = "/loops/site/personalizer/v1.0";
    let mut late = 0.0;
    for t in 0..300 {
        let likes = ["sports", "arts"][t % 2];
        let body = json!({"contextFeatures": [{"user": {"likes": likes}}, {"hour": t % 24}], "actions": actions(), "excludedActions": ["news"]});
        let rank = service.post(&format!("{base}/rank"), &body).ok(201);
        let event = rank["eventId"].as_str().expect("an event");
        let action = rank["rewardActionId"].as_str().expect("an action");
        let ranking = rank["ranking"].as_array().expect("a ranking");
        assert_eq!((ranking.len(), &ranking[0]["id"]), (3, &json!(action)));
        assert_eq!(ranking.iter().find(|one| one["id"] == "news").expect("ranked")["probability"], 0.0);
        let value = f64::from(u8::from(action == likes));
        late += if t >= 150 { value } else { 0.0 };
        service.post(&format!("{base}/events/{event}/reward"), &json!({"value": value})).ok(204);
        service.post(&format!("{base}/events/{event}/reward"), &json!({"value": 0.5})).ok(204);
    }
    assert!(late > 105.0, "{late} of 150");
    let first =
        json!({"contextFeatures": [], "actions": actions(), "eventId": "visit", "deferActivation": true});
    let one = service.post(&format!("{base}/rank"), &first).ok(201);
    assert_eq!(one, service.post(&format!("{base}/rank"), &first).ok(201), "the same event ranks the same");
    service.post(&format!("{base}/events/visit/activate"), &json!({})).ok(204);
    service.post(&format!("{base}/events/visit/reward"), &json!({"value": -0.5})).ok(204);
    let wrong = service.post(&format!("{base}/events/visit/reward"), &json!({"value": 7}));
    assert_eq!((wrong.status, &wrong.json()["error"]["code"]), (400, &json!("BadRequest")));
    let unknown = service.post(&format!("{base}/events/none/reward"), &json!({"value": 1}));
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!("ResourceNotFound")));
    let none = service.post(&format!("{base}/rank"), &json!({"actions": []}));
    assert_eq!(none.status, 400);
}

#[test]
fn loops_are_configured_and_evaluated() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let base = "/personalizer";
    let version = "api-version=2022-09-01-preview";
    let path = |rest: &str| format!("{base}/{rest}?{version}");
    let mut config = service.get(&path("configurations/service")).ok(200);
    assert_eq!((&config["rewardWaitTime"], &config["learningMode"]), (&json!("PT10M"), &json!("Online")));
    config["rewardWaitTime"] = "PT20M".into();
    config["learningMode"] = "Apprentice".into();
    let set = service.put(&path("configurations/service"), &config).ok(200);
    assert_eq!((&set["rewardWaitTime"], &set["learningMode"]), (&json!("PT20M"), &json!("Apprentice")));
    config["rewardWaitTime"] = "PT1S".into();
    assert_eq!(service.put(&path("configurations/service"), &config).status, 400);
    let rank = |t: u64| {
        let body =
            json!({"contextFeatures": [{"t": t % 3}], "actions": actions(), "excludedActions": ["sports"]});
        let rank = service.post(&path("rank"), &body).ok(201);
        let event = rank["eventId"].as_str().expect("an event").to_owned();
        service.post(&path(&format!("events/{event}/reward")), &json!({"value": 1.0})).ok(204);
        rank["rewardActionId"].clone()
    };
    for t in 0..20 {
        assert_eq!(rank(t), "arts", "an apprentice plays the first action that is not excluded");
    }
    let config = service.get(&path("configurations/service")).ok(200);
    assert!(config["latestApprenticeModeMetrics"]["numberOfEvents"].as_u64() >= Some(20));
    let online = json!({"learningMode": "Online"});
    service.put(&path("configurations/service"), &online).ok(200);
    (0..60).for_each(|t| drop(rank(t)));
    let slots = json!([
        {"id": "top", "features": [{"large": true}], "baselineAction": "sports"},
        {"id": "side", "excludedActions": ["news"], "baselineAction": "arts"},
    ]);
    let body = json!({"contextFeatures": [], "actions": actions(), "slots": slots, "eventId": "page", "deferActivation": true});
    let filled = service.post(&path("multislot/rank"), &body).ok(201);
    let chosen: Vec<&Value> =
        filled["slots"].as_array().expect("slots").iter().map(|slot| &slot["rewardActionId"]).collect();
    assert!(chosen.len() == 2 && chosen[0] != chosen[1] && chosen[1] != "news", "{filled}");
    assert_eq!(filled, service.post(&path("multislot/rank"), &body).ok(201));
    service.post(&path("multislot/events/page/activate"), &json!({})).ok(204);
    let rewards = json!({"reward": [{"slotId": "top", "value": 1.0}, {"slotId": "side", "value": 0.2}]});
    service.post(&path("multislot/events/page/reward"), &rewards).ok(204);

    let contract = json!({"name": "first", "startTime": "2020-01-01T00:00:00Z", "endTime": "2030-01-01T00:00:00Z", "policies": []});
    service.put(&path("evaluations/first"), &contract).ok(200);
    let evaluation = service.get(&path("evaluations/first")).ok(200);
    let sources: Vec<&Value> = evaluation["policyResults"]
        .as_array()
        .expect("results")
        .iter()
        .map(|one| &one["policySource"])
        .collect();
    assert_eq!(sources, ["Online", "Baseline", "Random", "OfflineExperimentation"]);
    assert_eq!(service.get(&path("evaluations")).ok(200)["value"].as_array().map(Vec::len), Some(1));
    service.delete(&path("evaluations/first")).ok(204);
    assert_eq!(service.get(&path("evaluations/first")).status, 404);
    assert_eq!(
        service.put(&path("configurations/policy"), &json!({"name": "a", "arguments": "--cb_adf"})).status,
        501
    );
    let mut custom = contract.clone();
    custom["policies"] = json!([{"name": "narrow", "arguments": "--learner offers --width 64"}]);
    service.put(&path("evaluations/own"), &custom).ok(200);
    let evaluation = service.get(&path("evaluations/own")).ok(200);
    let own = &evaluation["policyResults"][4];
    assert_eq!((&own["name"], &own["policySource"]), (&json!("narrow"), &json!("Custom")));
    // Every action has earned 1, so each policy would have.
    let earned = own["totalSummary"]["averageReward"].as_f64().expect("a reward");
    assert!((earned - 1.0).abs() < 0.05, "{evaluation}");
    custom["policies"] = json!([{"name": "theirs", "arguments": "--cb_explore_adf --epsilon 0.1"}]);
    assert_eq!(service.put(&path("evaluations/theirs"), &custom).status, 501);
    custom["policies"] = json!([{"name": "none", "arguments": "--learner folklore"}]);
    assert_eq!(service.put(&path("evaluations/none"), &custom).status, 400);

    service.put(&path("featureImportances/a"), &contract).ok(200);
    let importance = service.get(&path("featureImportances/a")).ok(200);
    assert_eq!(importance["status"], "Succeeded");
    let scores = importance["featureScores"].as_array().expect("scores");
    assert!(
        scores.iter().any(|one| one["namespace"] == "context" && one["featureName"] == "t"),
        "{importance}"
    );
    assert!(scores.iter().all(|one| one["score"].as_f64() >= Some(0.0)), "{importance}");
    assert_eq!(service.get(&path("featureImportances")).ok(200)["value"].as_array().map(Vec::len), Some(1));
    service.delete(&path("featureImportances/a")).ok(204);
    assert_eq!(service.get(&path("featureImportances/a")).status, 404);
    let mut wrong = contract.clone();
    wrong["startTime"] = "yesterday".into();
    assert_eq!(service.put(&path("featureImportances/a"), &wrong).status, 400);

    let set = service.put(&path("configurations/service"), &json!({"explorationPercentage": 1.0})).ok(200);
    assert_eq!(set["explorationPercentage"], 1.0);
    let body = json!({"contextFeatures": [{"t": 1}], "actions": actions(), "eventId": "any"});
    let ranking = service.post(&path("rank"), &body).ok(201)["ranking"].clone();
    for one in ranking.as_array().expect("a ranking") {
        let p = one["probability"].as_f64().expect("a number");
        assert!((p - 1.0 / actions().as_array().expect("actions").len() as f64).abs() < 1e-12, "{ranking}");
    }
    assert!(service.get(&path("logs/properties")).ok(200)["dateRange"]["from"].is_string());
    let model = service.get(&path("model"));
    assert!(noregret::model::Archive::from_bytes(&model.bytes).is_ok());
    service.delete(&path("model")).ok(204);
    assert_eq!(service.get("/v1/models/default").ok(200)["rounds"], 0);
    service.send("PUT", &path("model"), "application/octet-stream", &model.bytes).ok(204);
    assert!(service.get("/v1/models/default").ok(200)["rounds"].as_u64() > Some(60));
    service.delete(&path("logs")).ok(204);
}

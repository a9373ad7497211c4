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

/// What is wrong with a body is named as Personalizer's requests name it.
#[test]
fn refusals_name_the_field() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let spec = json!({"feedback": "bandit", "params": {"width": 64, "classes": 4}});
    service.put("/v1/models/site", &spec).ok(201);
    service.put("/v1/models/full", &json!({})).ok(201);
    let base = "/loops/site/personalizer/v1.0";
    let page = json!({"actions": [{"id": "a"}, {"id": "b"}], "slots": [{"id": "top"}], "eventId": "page"});
    service.post(&format!("{base}/multislot/rank"), &page).ok(201);
    let actions = |ids: &[&str]| ids.iter().map(|id| json!({"id": id})).collect::<Vec<_>>();
    let two = actions(&["a", "b"]);
    let large = json!({"v": 1e200});
    let ranks = [
        (json!({}), "actions"),
        (json!({"actions": 3}), "actions"),
        (json!({"actions": []}), "actions"),
        (json!({"actions": [{"features": []}]}), "actions[0].id"),
        (json!({"actions": [{"id": 7}]}), "actions[0].id"),
        (json!({"actions": actions(&["a", ""])}), "actions[1].id"),
        (json!({"actions": actions(&["a", "a"])}), "actions"),
        (json!({"actions": actions(&["a", "b", "c", "d", "e"])}), "actions"),
        (json!({"actions": [{"id": "a"}, {"id": "b", "features": [large]}]}), "actions[1].features"),
        (json!({"actions": [{"id": "a", "features": [{"v": 1}, 3]}]}), "actions[0].features[1]"),
        (json!({"actions": two, "contextFeatures": [large]}), "contextFeatures"),
        (json!({"actions": two, "contextFeatures": {"v": 1}}), "contextFeatures"),
        (json!({"actions": two, "excludedActions": ["a", "z"]}), "excludedActions[1]"),
        (json!({"actions": two, "excludedActions": ["a", "b"]}), "excludedActions"),
        (json!({"actions": two, "eventId": "a/b"}), "eventId"),
        (json!({"actions": two, "deferActivation": "yes"}), "deferActivation"),
    ];
    let slots = [
        (json!({"actions": two}), "slots"),
        (json!({"actions": two, "slots": [{}]}), "slots[0].id"),
        (json!({"actions": two, "slots": [{"id": "a/b"}]}), "slots[0].id"),
        (json!({"actions": two, "slots": [{"id": "s"}, {"id": "s"}]}), "slots[1].id"),
        (json!({"actions": two, "slots": [{"id": "s", "features": [large]}]}), "slots[0].features"),
        (
            json!({"actions": two, "slots": [{"id": "s", "excludedActions": ["z"]}]}),
            "slots[0].excludedActions[0]",
        ),
        (
            json!({"actions": two, "slots": [{"id": "s", "excludedActions": ["a", "b"]}]}),
            "slots[0].excludedActions",
        ),
        (json!({"actions": two, "slots": [{"id": "s", "baselineAction": "z"}]}), "slots[0].baselineAction"),
        (json!({"actions": two, "slots": [{"id": "s"}, {"id": "t"}, {"id": "u"}]}), "slots[2]"),
    ];
    let rewards = [(json!({}), "value"), (json!({"value": "much"}), "value"), (json!({"value": 7}), "value")];
    let of_slots = [
        (json!({}), "reward"),
        (json!({"reward": 1}), "reward"),
        (json!({"reward": [{"slotId": "top"}]}), "reward[0].value"),
        (json!({"reward": [{"value": 1}]}), "reward[0].slotId"),
        (
            json!({"reward": [{"slotId": "top", "value": 1}, {"slotId": "top", "value": 7}]}),
            "reward[1].value",
        ),
    ];
    let settings = [
        (json!({"rewardWaitTime": "soon"}), "rewardWaitTime"),
        (json!({"defaultReward": 3}), "defaultReward"),
        (json!({"rewardAggregation": "mean"}), "rewardAggregation"),
        (json!({"explorationPercentage": 20}), "explorationPercentage"),
        (json!({"learningMode": "Off"}), "learningMode"),
        (json!({"logRetentionDays": 0}), "logRetentionDays"),
        (json!({"modelExportFrequency": "x"}), "modelExportFrequency"),
        (json!({"modelRetrainDays": "PT5M"}), "modelRetrainDays"),
        (json!({"autoOptimizationFrequency": 7}), "autoOptimizationFrequency"),
        (json!({"autoOptimizationStartDate": "soon"}), "autoOptimizationStartDate"),
        (json!({"isAutoOptimizationEnabled": "yes"}), "isAutoOptimizationEnabled"),
        (json!({"learningmode": "Apprentice"}), "learningmode"),
    ];
    let policies = [
        (json!({}), "arguments"),
        (json!({"arguments": ""}), "arguments"),
        (json!({"name": 3, "arguments": "--cb_explore_adf"}), "name"),
    ];
    let times = |from: &str| json!({"name": "e", "startTime": from, "endTime": "2030-01-01T00:00:00Z"});
    let evaluations = [
        (json!({}), "name"),
        (json!({"name": "e"}), "startTime"),
        (times("2026-02-31T00:00:00Z"), "startTime"),
        (times("2031-01-01T00:00:00Z"), "endTime"),
    ];
    let cases = [
        ("POST", "rank", &ranks[..]),
        ("POST", "multislot/rank", &slots[..]),
        ("POST", "events/any/reward", &rewards[..]),
        ("POST", "multislot/events/page/reward", &of_slots[..]),
        ("PUT", "configurations/service", &settings[..]),
        ("PUT", "configurations/policy", &policies[..]),
        ("PUT", "evaluations/e", &evaluations[..]),
        ("PUT", "featureImportances/e", &evaluations[..]),
    ];
    for (method, path, bodies) in cases {
        for (body, field) in bodies {
            let answer = service.send(
                method,
                &format!("{base}/{path}"),
                "application/json",
                body.to_string().as_bytes(),
            );
            let error = &answer.json()["error"];
            let said = format!("{method} {path} {body}: {error}");
            assert_eq!((answer.status, &error["code"]), (400, &json!("BadRequest")), "{said}");
            assert_eq!(error["target"], *field, "{said}");
            assert!(error["message"].as_str().is_some_and(|text| text.len() > 10), "{said}");
        }
    }
    let unknown = [
        ("events/none/reward", json!({"value": 1}), "eventId"),
        ("events/none/activate", json!({}), "eventId"),
        ("multislot/events/none/reward", json!({"reward": [{"slotId": "top", "value": 1}]}), "eventId"),
        ("multislot/events/none/activate", json!({}), "eventId"),
        (
            "multislot/events/page/reward",
            json!({"reward": [{"slotId": "side", "value": 1}]}),
            "reward[0].slotId",
        ),
    ];
    for (path, body, field) in unknown {
        let answer = service.post(&format!("{base}/{path}"), &body);
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["target"]), (404, &json!(field)), "{path}: {error}");
    }
    let mut other = page.clone();
    other["actions"] = json!(actions(&["b", "a"]));
    let again = service.post(&format!("{base}/multislot/rank"), &other);
    assert_eq!((again.status, &again.json()["error"]["target"]), (409, &json!("eventId")));
    let elsewhere = service.post("/loops/a%20b/personalizer/v1.0/rank", &json!({"actions": two}));
    assert_eq!((elsewhere.status, &elsewhere.json()["error"]["target"]), (400, &json!("loop")));
    // An event with slots is not one as a whole, and one without them has none.
    service.post(&format!("{base}/rank"), &json!({"actions": two, "eventId": "single"})).ok(201);
    for (path, body) in [
        ("events/page/reward", json!({"value": 1})),
        ("events/page/activate", json!({})),
        ("multislot/events/single/activate", json!({})),
    ] {
        let answer = service.post(&format!("{base}/{path}"), &body);
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["target"]), (400, &json!("eventId")), "{path}: {error}");
    }
    // Nothing of a list of rewards was taken where one of them was wrong.
    let both = json!({"reward": [{"slotId": "top", "value": 0}, {"slotId": "side", "value": 1}]});
    assert_eq!(service.post(&format!("{base}/multislot/events/page/reward"), &both).status, 404);
    let first = json!({"reward": [{"slotId": "top", "value": 1}]});
    service.post(&format!("{base}/multislot/events/page/reward"), &first).ok(204);
    assert_eq!(service.get("/v1/models/site").ok(200)["scores"]["reward"], 1.0);
}

/// Ranks and rewards are in the metrics, as decisions and feedback are; loops that do not exist are not.
#[test]
fn ranks_and_rewards_are_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let base = "/loops/site/personalizer/v1.0";
    service.post(&format!("{base}/rank"), &json!({"actions": actions(), "eventId": "e"})).ok(201);
    service.post(&format!("{base}/events/e/reward"), &json!({"value": 1})).ok(204);
    assert_eq!(service.post(&format!("{base}/rank"), &json!({"actions": 3})).status, 400);
    assert_eq!(service.post("/loops/a%20b/personalizer/rank", &json!({"actions": actions()})).status, 400);
    let text = String::from_utf8(service.get("/metrics").bytes).expect("text");
    for line in [
        "noregret_request_seconds_count{model=\"site\",request=\"rank\"} 2",
        "noregret_request_seconds_count{model=\"site\",request=\"reward\"} 1",
        "noregret_requests_refused_total{model=\"site\",request=\"rank\"} 1",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("a b"), "{text}");
}

/// What the page for those who come from Personalizer says of every call is what the call does.
#[test]
fn the_table_of_calls_is_true() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/personalizer.md"));
    let page = page.expect("the page");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let rank = json!({"actions": actions(), "eventId": "e"});
    let slots = json!({"actions": actions(), "eventId": "m", "slots": [{"id": "s"}]});
    let times = json!({"name": "e", "startTime": "2020-01-01T00:00:00Z", "endTime": "2030-01-01T00:00:00Z"});
    let reward = json!({"value": 1});
    let of_slots = json!({"reward": [{"slotId": "s", "value": 1}]});
    let none = json!({});
    let policy = json!({"name": "a", "arguments": "--cb_explore_adf --epsilon 0.2 -q ::"});
    let bag = json!({"name": "a", "arguments": "--cb_explore_adf --bag 5"});
    let mirror = json!({"logMirrorEnabled": true});
    let optimised = json!({"isAutoOptimizationEnabled": true});
    /// Method, path, body and status of the answer.
    type Call<'a> = (&'static str, &'static str, &'a Value, u16);
    // The row of the table, and the calls that it is about.
    let calls: [(&str, &[Call<'_>]); 13] = [
        ("`rank`", &[("POST", "rank", &rank, 201), ("POST", "rank", &rank, 201)]),
        (
            "`events/…/reward`",
            &[("POST", "events/e/reward", &reward, 204), ("POST", "events/e/reward", &reward, 204)],
        ),
        ("`events/…/activate`", &[("POST", "events/e/activate", &none, 204)]),
        (
            "`multislot/rank`, `…/reward`, `…/activate`",
            &[
                ("POST", "multislot/rank", &slots, 201),
                ("POST", "multislot/events/m/activate", &none, 204),
                ("POST", "multislot/events/m/reward", &of_slots, 204),
            ],
        ),
        (
            "`configurations/service` GET, PUT",
            &[
                ("GET", "configurations/service", &none, 200),
                ("PUT", "configurations/service", &none, 200),
                ("PUT", "configurations/service", &mirror, 501),
                ("PUT", "configurations/service", &optimised, 501),
            ],
        ),
        (
            "`configurations/policy` GET, DELETE",
            &[("GET", "configurations/policy", &none, 200), ("DELETE", "configurations/policy", &none, 200)],
        ),
        (
            "`configurations/policy` PUT",
            &[("PUT", "configurations/policy", &policy, 200), ("PUT", "configurations/policy", &bag, 501)],
        ),
        ("`applyFromEvaluation`", &[("POST", "configurations/applyFromEvaluation", &none, 501)]),
        (
            "`evaluations` GET, PUT, POST, DELETE",
            &[
                ("GET", "evaluations", &none, 200),
                ("POST", "evaluations", &times, 201),
                ("PUT", "evaluations/e", &times, 200),
                ("GET", "evaluations/e", &none, 200),
                ("DELETE", "evaluations/e", &none, 204),
            ],
        ),
        (
            "`featureImportances`",
            &[
                ("PUT", "featureImportances/f", &times, 200),
                ("GET", "featureImportances/f", &none, 200),
                ("GET", "featureImportances", &none, 200),
                ("DELETE", "featureImportances/f", &none, 204),
            ],
        ),
        (
            "`logs` DELETE, `logs/properties`",
            &[("GET", "logs/properties", &none, 200), ("DELETE", "logs", &none, 204)],
        ),
        (
            "`logs/interactions`, `logs/observations`",
            &[
                ("GET", "logs/interactions", &none, 501),
                ("POST", "logs/interactions", &none, 501),
                ("GET", "logs/observations", &none, 501),
                ("POST", "logs/observations", &none, 501),
            ],
        ),
        (
            "`model` GET, PUT, DELETE, `model/properties`",
            &[
                ("GET", "model", &none, 200),
                ("GET", "model/properties", &none, 200),
                ("DELETE", "model", &none, 204),
            ],
        ),
    ];
    for (call, requests) in &calls {
        let row = rows.iter().find(|row| row.starts_with(&format!("| {call} |")));
        let row = row.unwrap_or_else(|| panic!("the page has no row for {call}"));
        for (method, path, body, status) in *requests {
            let text = if *method == "GET" { String::new() } else { body.to_string() };
            let answer = service.send(
                method,
                &format!("/personalizer/v1.0/{path}"),
                "application/json",
                text.as_bytes(),
            );
            assert_eq!(answer.status, *status, "{method} {path}: {answer:?}");
            assert!(
                *status != 501 || row.contains("501"),
                "{method} {path} answers 501, and the page says: {row}"
            );
        }
    }
    let known = rows.iter().filter(|row| !row.starts_with("| `learningMode`")).count();
    assert_eq!(known, calls.len(), "rows of the page, and those that are tried here");
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
    let mut custom = contract.clone();
    custom["policies"] = json!([{"name": "narrow", "arguments": "--learner offers --width 64"}]);
    service.put(&path("evaluations/own"), &custom).ok(200);
    let evaluation = service.get(&path("evaluations/own")).ok(200);
    let own = &evaluation["policyResults"][4];
    assert_eq!((&own["name"], &own["policySource"]), (&json!("narrow"), &json!("Custom")));
    // Every action has earned 1, so each policy would have.
    let earned = own["totalSummary"]["averageReward"].as_f64().expect("a reward");
    assert!((earned - 1.0).abs() < 0.05, "{evaluation}");
    custom["policies"] = json!([{"name": "theirs", "arguments": "--cb_explore_adf --epsilon 1 -q ::"}]);
    service.put(&path("evaluations/theirs"), &custom).ok(200);
    // It draws all actions uniformly, as the third of the simple policies does.
    let results = service.get(&path("evaluations/theirs")).ok(200)["policyResults"].clone();
    for field in ["averageReward", "ipsEstimatorNumerator", "snipsEstimatorDenominator"] {
        assert_eq!(
            results[4]["totalSummary"][field], results[2]["totalSummary"][field],
            "{field}: {results}"
        );
    }
    custom["policies"] = json!([{"name": "theirs", "arguments": "--cb_explore_adf --bag 5"}]);
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
    // The policy of a loop, and what an exported one says of its exploration.
    let policy = service.get(&path("configurations/policy")).ok(200);
    assert_eq!(service.put(&path("configurations/policy"), &policy).ok(200), policy);
    let exported = "--cb_explore_adf --epsilon 0.2 --power_t 0 -l 0.001 --cb_type mtr -q ::";
    let set = json!({"name": "a", "arguments": exported});
    assert_eq!(service.put(&path("configurations/policy"), &set).ok(200), policy);
    assert_eq!(service.get(&path("configurations/service")).ok(200)["explorationPercentage"], 0.2);
    let width = service.get("/v1/models/default").ok(200)["params"]["width"].clone();
    for arguments in
        [format!("--learner offers --width {width}"), format!("--learner offers --width {width}.0")]
    {
        let same = json!({"name": "a", "arguments": arguments});
        assert_eq!(service.put(&path("configurations/policy"), &same).ok(200), policy);
    }
    for arguments in ["--learner squarecb", "--learner offers --width 64", "--cb_explore_adf --cover 3"] {
        let other = json!({"name": "a", "arguments": arguments});
        let refused = service.put(&path("configurations/policy"), &other);
        assert_eq!((refused.status, &refused.json()["error"]["target"]), (501, &json!("arguments")));
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

/// Evaluations and importances are of the ranks between their times, also of those from before the loop's
/// exploration or its model changed.
#[test]
fn reports_are_of_their_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let path = |rest: &str| format!("/loops/site/personalizer/v1.0/{rest}");
    let rank = |id: &str| {
        let body = json!({"contextFeatures": [{"t": 1}], "actions": actions(), "eventId": id});
        service.post(&path("rank"), &body).ok(201);
        service.post(&path(&format!("events/{id}/reward")), &json!({"value": 1.0})).ok(204);
    };
    (0..5).for_each(|t| rank(&format!("before-{t}")));
    service.put(&path("configurations/service"), &json!({"explorationPercentage": 0.2})).ok(200);
    rank("after");
    service.delete(&path("model")).ok(204);
    for (from, to, count) in [("2020-01-01", "2100-01-01", 6.0), ("2090-01-01", "2100-01-01", 0.0)] {
        let own = json!([{"name": "own", "arguments": "--learner offers"}]);
        let contract = json!({"name": "e", "startTime": from, "endTime": to, "policies": own});
        let made = service.post(&path("evaluations"), &contract).ok(201);
        let results = made["policyResults"].as_array().expect("results");
        assert_eq!(results.len(), 5, "{made}");
        for result in results {
            assert_eq!(result["totalSummary"]["ipsEstimatorDenominator"], count, "{result}");
        }
        assert_eq!(made["optimalPolicy"].is_null(), count == 0.0, "{made}");
        service.put(&path("featureImportances/f"), &contract).ok(200);
        let scores = service.get(&path("featureImportances/f")).ok(200)["featureScores"].clone();
        let has = scores.as_array().expect("scores").iter().any(|one| one["featureName"] == "t");
        assert_eq!(has, count > 0.0, "{scores}");
    }
}

/// The baseline of a decision is among the labels that the model had then, also where a file with others has
/// replaced it: an apprentice plays the baseline, and both have earned the same.
#[test]
fn baselines_are_those_of_the_labels_of_their_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    for (name, labels) in [("site", json!(["a", "b", "c"])), ("other", json!(["c", "a"]))] {
        let mode = json!({"mode": "apprentice"});
        let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": labels, "service": mode});
        service.put(&format!("/v1/models/{name}"), &spec).ok(201);
    }
    for t in 0..20u64 {
        let body = json!({"x": {"v": t % 3}, "labels": ["c", "b", "a"]});
        let decision = service.post("/v1/models/site/decide", &body).ok(200);
        assert_eq!(decision["label"], "c");
        service.post("/v1/models/site/feedback", &json!({"id": decision["id"], "reward": 1})).ok(200);
    }
    let other = service.get("/v1/models/other/model");
    service.send("PUT", "/v1/models/site/model", "application/octet-stream", &other.bytes).ok(200);
    let contract = json!({"name": "e", "startTime": "2020-01-01", "endTime": "2100-01-01"});
    let made = service.post("/loops/site/personalizer/v1.0/evaluations", &contract).ok(201);
    for (at, source) in ["Online", "Baseline"].into_iter().enumerate() {
        let result = &made["policyResults"][at];
        let total = &result["totalSummary"];
        let found = (&result["policySource"], &total["ipsEstimatorDenominator"], &total["averageReward"]);
        assert_eq!(found, (&json!(source), &json!(20.0), &json!(1.0)), "{made}");
    }
}

/// A configuration says what is in force, also in a loop that was made as a model, and may be sent back.
#[test]
fn configurations_say_what_is_in_force() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let path = "/loops/site/personalizer/configurations/service";
    let spec = json!({"feedback": "bandit", "service": {"wait_seconds": 90}});
    service.put("/v1/models/site", &spec).ok(201);
    let told = service.get(path).ok(200);
    assert_eq!((&told["rewardWaitTime"], &told["defaultReward"]), (&json!("PT90S"), &Value::Null), "{told}");
    service.put(path, &told).ok(200);
    let service_of = |name: &str| service.get(&format!("/v1/models/{name}")).ok(200)["service"].clone();
    assert_eq!(service_of("site")["wait_seconds"], 90.0);
    let kept = json!({"modelExportFrequency": "PT5M", "defaultReward": 0.5});
    let told = service.put(path, &kept).ok(200);
    assert_eq!((&told["modelExportFrequency"], &told["defaultReward"]), (&json!("PT5M"), &json!(0.5)));
    // Also what no loop could be given here.
    let spec = json!({"feedback": "bandit", "service": {"wait_seconds": 1, "retain_days": 0.5}});
    service.put("/v1/models/short", &spec).ok(201);
    let short = "/loops/short/personalizer/configurations/service";
    let told = service.get(short).ok(200);
    assert_eq!((&told["rewardWaitTime"], &told["logRetentionDays"]), (&json!("PT1S"), &json!(0.5)), "{told}");
    service.put(short, &told).ok(200);
    let kept = service_of("short");
    assert_eq!((&kept["wait_seconds"], &kept["retain_days"]), (&json!(1.0), &json!(0.5)), "{kept}");
    assert_eq!(service.put(short, &json!({"rewardWaitTime": "PT2S"})).status, 400);
    // Nothing of a refused configuration is taken.
    let half = json!({"defaultReward": 0.25, "isAutoOptimizationEnabled": true});
    let refused = service.put(path, &half);
    assert_eq!(refused.json()["error"]["target"], "isAutoOptimizationEnabled", "{refused:?}");
    assert_eq!(service_of("site")["default_reward"], 0.5);
}

/// Personalizer's routes do what ours do: a key that may only read makes no loop, a log stays until its
/// shadow has it, and a shadow is not begun anew.
#[test]
fn loops_have_the_rights_and_the_shadows_of_models() {
    let folder = tempfile::tempdir().expect("a folder");
    let add =
        |name: &str, right| noregret_serve::Keys::add(folder.path(), name, right, &[], None).expect("a key");
    let (reader, admin) =
        (add("reader", noregret_serve::Right::Read), add("admin", noregret_serve::Right::Admin));
    let mut service = Service::start(folder.path());
    service.key = Some(reader);
    for path in ["configurations/service", "evaluations", "logs/properties", "model"] {
        assert_eq!(service.get(&format!("/loops/none/personalizer/{path}")).status, 403, "{path}");
    }
    service.key = Some(admin);
    assert_eq!(service.get("/v1/models").ok(200)["models"], json!([]));
    for t in 0..300 {
        let body = json!({"contextFeatures": [{"hour": t % 24}], "actions": actions()});
        service.post("/loops/site/personalizer/rank", &body).ok(201);
    }
    service.put("/v1/models/beside", &json!({"shadow_of": "site"})).ok(201);
    while service.delete("/loops/site/personalizer/logs").status != 204 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let shadow = super::shadow::caught_up(&service, "site", "beside");
    assert_eq!((&shadow["scores"]["decisions"], &shadow["missed"]), (&json!(300), &Value::Null), "{shadow}");
    assert_eq!(service.delete("/loops/beside/personalizer/model").status, 409);
    service.get("/loops/site/personalizer/configurations/service").ok(200);
}

//! Configuration, logs and the model of a loop.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Ask;
use super::answers::{Answered, in_its_terms};
use super::policies::{self, Policy};
use super::time::{duration, is_time, moment, seconds};
use crate::api::models::its_own;
use crate::app::json as answered;
use crate::model::engine::{Engine, Keep};
use crate::model::handle::Handle;
use crate::model::shared::{Restored, now};
use crate::model::spec::{Aggregation, Mode, Service};
use crate::refusal::{Refusal, shown, shown_value};
use crate::safety::keys::Right;
use crate::store;

/// The key of settings without effect, among the model's notes.
const NOTES: &str = "personalizer";

/// The settings that take effect.
const EFFECTIVE: [&str; 6] = [
    "rewardWaitTime",
    "defaultReward",
    "rewardAggregation",
    "explorationPercentage",
    "learningMode",
    "logRetentionDays",
];

/// What a loop does not do, and why.
const NOT_OFFERED: [(&str, &str); 2] = [
    ("logMirrorEnabled", "logs are not mirrored to a storage account; use GET /v1/models/NAME/log"),
    (
        "isAutoOptimizationEnabled",
        "nothing is optimised at intervals: the learner of a loop has no settings to choose, and learns at once",
    ),
];

/// The settings that are kept and given back, and have no effect: durations, a number of days, and times,
/// which clients read as such.
const KEPT: [&str; 5] = [
    "modelExportFrequency",
    "modelRetrainDays",
    "autoOptimizationFrequency",
    "autoOptimizationStartDate",
    "lastConfigurationEditDate",
];

/// What an answer tells may be sent back, and is not kept: the key of an external storage account is none of
/// ours.
const TOLD: [&str; 2] = ["latestApprenticeModeMetrics", "logMirrorSasUri"];

/// The configuration in Personalizer's format.
async fn configuration(handle: &Handle) -> Result<Value, Refusal> {
    let service = handle.spec().service;
    let notes = service.notes.get(NOTES).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut answer = json!({
        "modelExportFrequency": "PT0S",
        "logMirrorEnabled": false,
        "logMirrorSasUri": "",
        "lastConfigurationEditDate": moment(0),
        "isAutoOptimizationEnabled": false,
        "autoOptimizationFrequency": "P7D",
        "autoOptimizationStartDate": moment(0),
        "modelRetrainDays": 0,
    });
    for (name, value) in notes.into_iter().filter(|(name, _)| KEPT.contains(&name.as_str())) {
        answer[name.as_str()] = value;
    }
    // A loop that was made as a model may wait without a limit, and have no such reward.
    answer["rewardWaitTime"] = service.wait_seconds.map(duration).into();
    answer["defaultReward"] = service.default_reward.into();
    answer["learningMode"] = match service.mode {
        Mode::Online => "Online",
        Mode::Apprentice => "Apprentice",
        Mode::Logging => "LoggingOnly",
    }
    .into();
    answer["rewardAggregation"] = match service.aggregation {
        Aggregation::Earliest => "earliest",
        Aggregation::Sum => "sum",
    }
    .into();
    let whole = |days: f64| if days.fract() == 0.0 { json!(days as i64) } else { json!(days) };
    answer["logRetentionDays"] = service.retain_days.map_or(json!(-1), whole);
    answer["explorationPercentage"] = service.explore.unwrap_or(0.0).into();
    let scores = handle.describe().await["scores"].clone();
    let events = scores["answered"].as_u64().unwrap_or(0);
    let agreed = scores["agreement_with_baseline"].as_f64().unwrap_or(0.0);
    let rewards = scores["reward"].as_f64().unwrap_or(0.0) * events as f64;
    answer["latestApprenticeModeMetrics"] = json!({
        "startTime": moment(0), "lastProcessedEventTime": moment(now()), "numberOfEvents": events,
        "numberOfImitatedEvents": (agreed * events as f64).round() as u64,
        "sumOfRewards": rewards, "sumOfImitatedRewards": agreed * rewards,
    });
    Ok(answer)
}

/// GET configurations/service.
pub(super) async fn service(ask: Ask) -> Answered {
    let handle = ask.open(Right::Read).await?;
    Ok(answered(StatusCode::OK, &configuration(&handle).await?))
}

/// PUT configurations/service.
pub(super) async fn set_service(ask: Ask, body: Body) -> Answered {
    let handle = ask.open(Right::Admin).await?;
    let mut wanted: Map<String, Value> = ask.app.json(body).await?;
    // What is in force may be sent back, also what only a loop that was made as a model can have.
    let told = configuration(&handle).await?;
    wanted.retain(|name, value| told.get(name.as_str()) != Some(&*value));
    let old = handle.spec().service;
    handle.configure(configured(wanted, old)?).await.map_err(in_its_terms)?;
    Ok(answered(StatusCode::OK, &configuration(&handle).await?))
}

/// The service settings of a configuration.
fn configured(mut wanted: Map<String, Value>, mut service: Service) -> Result<Service, Refusal> {
    let wrong = |field: &str, found: &Value, need: &str| {
        let what = format!("{field} is {}; {need} was needed", shown_value(found));
        Err(Refusal::invalid(field, what))
    };
    wanted.retain(|_, value| !value.is_null());
    if let Some(wait) = wanted.get("rewardWaitTime") {
        match wait.as_str().and_then(seconds).filter(|wait| (5.0..=172_800.0).contains(wait)) {
            Some(wait) => service.wait_seconds = Some(wait),
            None => return wrong("rewardWaitTime", wait, "a duration from PT5S to P2D"),
        }
    }
    if let Some(reward) = wanted.get("defaultReward") {
        match reward.as_f64().filter(|reward| (-1.0..=1.0).contains(reward)) {
            Some(reward) => service.default_reward = Some(reward.max(0.0)),
            None => return wrong("defaultReward", reward, "a number from -1 to 1"),
        }
    }
    if let Some(how) = wanted.get("rewardAggregation") {
        service.aggregation = match how.as_str() {
            Some("earliest") => Aggregation::Earliest,
            Some("sum") => Aggregation::Sum,
            _ => return wrong("rewardAggregation", how, "earliest or sum"),
        };
    }
    if let Some(mode) = wanted.get("learningMode") {
        service.mode = match mode.as_str() {
            Some("Online") => Mode::Online,
            Some("Apprentice") => Mode::Apprentice,
            Some("LoggingOnly") => Mode::Logging,
            _ => return wrong("learningMode", mode, "Online, Apprentice or LoggingOnly"),
        };
    }
    if let Some(days) = wanted.get("logRetentionDays") {
        service.retain_days = match days.as_f64() {
            Some(-1.0) => None,
            Some(days) if (1.0..=36_500.0).contains(&days) => Some(days),
            _ => return wrong("logRetentionDays", days, "-1, or a number of days from 1 to 36500"),
        };
    }
    if let Some(rate) = wanted.get("explorationPercentage") {
        match rate.as_f64().filter(|rate| (0.0..=1.0).contains(rate)) {
            Some(rate) => service.explore = Some(rate).filter(|rate| *rate > 0.0),
            None => return wrong("explorationPercentage", rate, "a number from 0 to 1"),
        }
    }
    for (field, sentence) in NOT_OFFERED {
        match wanted.get(field) {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => return Err(Refusal::not_offered(sentence).about(field)),
            Some(other) => return wrong(field, other, "true or false"),
        }
    }
    for (field, value) in wanted.iter().filter(|(name, _)| KEPT.contains(&name.as_str())) {
        let (is_right, need) = match field.as_str() {
            "modelRetrainDays" => (
                value.as_f64().is_some_and(|days| (0.0..=36_500.0).contains(&days)),
                "a number of days from 0 to 36500",
            ),
            "modelExportFrequency" | "autoOptimizationFrequency" => {
                (value.as_str().and_then(seconds).is_some(), "a duration as PT5M")
            }
            _ => (value.as_str().is_some_and(is_time), "a time as 2026-01-31T12:00:00Z"),
        };
        if !is_right {
            return wrong(field, value, need);
        }
    }
    let is_known = |name: &str| {
        [&EFFECTIVE[..], &KEPT, &TOLD].iter().any(|some| some.contains(&name))
            || NOT_OFFERED.iter().any(|(one, _)| *one == name)
    };
    if let Some(name) = wanted.keys().find(|name| !is_known(name.as_str())) {
        let what = format!("a loop has no setting {}; it has {}", shown(name), EFFECTIVE.join(", "));
        return Err(Refusal::invalid(name, what));
    }
    wanted.retain(|name, _| KEPT.contains(&name.as_str()));
    wanted.insert("lastConfigurationEditDate".to_owned(), moment(now()).into());
    let mut notes = service.notes.get(NOTES).and_then(Value::as_object).cloned().unwrap_or_default();
    notes.extend(wanted);
    service.notes.insert(NOTES.to_owned(), notes.into());
    Ok(service)
}

/// The policy of a loop, in Personalizer's format.
async fn policy_of(handle: &Handle) -> Value {
    let about = handle.describe().await;
    let learner = about["learner"].as_str().unwrap_or_default();
    json!({"name": learner, "arguments": format!("--learner {learner}")})
}

/// GET and DELETE configurations/policy: there is one policy, whose settings are those of the loop.
pub(super) async fn policy(ask: Ask) -> Answered {
    let handle = ask.open(Right::Read).await?;
    Ok(answered(StatusCode::OK, &policy_of(&handle).await))
}

/// A policy, whose name is not kept.
#[derive(Debug, Deserialize)]
struct Contract {
    #[serde(default, rename = "name")]
    _name: Option<String>,
    arguments: String,
}

/// PUT configurations/policy: takes what a policy says of the loop's exploration.
pub(super) async fn set_policy(ask: Ask, body: Body) -> Answered {
    let handle = ask.open(Right::Admin).await?;
    let Contract { arguments, .. } = ask.app.json(body).await?;
    let Policy { learner, params, explore } =
        policies::policy(&arguments).map_err(|refusal| refusal.about("arguments"))?;
    let about = handle.describe().await;
    let has = |(name, value): (&String, &Value)| {
        let own = &about["params"][name];
        // 2 is 2.0.
        own == value || own.as_f64().is_some_and(|number| value.as_f64() == Some(number))
    };
    if about["learner"] != learner.as_str() || !params.iter().all(has) {
        let what = "a loop keeps its learner and its parameters; another may learn its log as a shadow of the model, and then be promoted";
        return Err(Refusal::not_offered(what).about("arguments").into());
    }
    if let Some(share) = explore {
        let service = Service { explore: Some(share).filter(|share| *share > 0.0), ..handle.spec().service };
        handle.configure(service).await.map_err(in_its_terms)?;
    }
    Ok(answered(StatusCode::OK, &policy_of(&handle).await))
}

/// POST configurations/applyFromEvaluation.
pub(super) async fn apply(ask: Ask) -> Answered {
    ask.open(Right::Admin).await?;
    let what = "evaluations do not produce settings to apply; the learner of a loop needs none";
    Err(Refusal::not_offered(what).into())
}

/// DELETE logs.
pub(super) async fn delete_logs(ask: Ask) -> Answered {
    let handle = ask.open(Right::Admin).await?;
    ask.app.hub.check_followed(&handle)?;
    handle.forget().await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The times of the first and the last event; the present time, if there is none.
async fn times(handle: &Handle) -> Result<[String; 2], Refusal> {
    let folder = handle.folder.clone();
    let times = crate::app::aside(move || store::event_times(&folder).map_err(Refusal::failed)).await?;
    Ok(times.map(|at| moment(at.unwrap_or_else(now))))
}

/// GET logs/properties.
pub(super) async fn log_properties(ask: Ask) -> Answered {
    let handle = ask.open(Right::Read).await?;
    let [first, last] = times(&handle).await?;
    let range = json!({"from": first, "to": last});
    Ok(answered(StatusCode::OK, &json!({"dateRange": range, "startTime": first, "endTime": last})))
}

/// GET and POST logs/interactions and logs/observations.
pub(super) async fn raw_logs(ask: Ask) -> Answered {
    ask.open(Right::Write).await?;
    let what = "binary logs of the reinforcement_learning library are not supported; use rank and reward";
    Err(Refusal::not_offered(what).into())
}

/// GET model.
pub(super) async fn model(ask: Ask) -> Answered {
    let handle = ask.open(Right::Read).await?;
    Ok(crate::api::state::file(&handle.export().await?)?)
}

/// PUT model.
pub(super) async fn set_model(ask: Ask, body: Body) -> Answered {
    let name = ask.open(Right::Admin).await?.name.clone();
    let bytes = ask.app.file(body).await?;
    crate::api::state::put_model(&ask.app, &name, bytes, Service::default()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// DELETE model: resets the model.
pub(super) async fn reset_model(ask: Ask) -> Answered {
    let handle = ask.open(Right::Admin).await?;
    its_own(&handle, "delete it and make it again")?;
    let (spec, limits) = (handle.spec(), handle.limits.clone());
    let engine = crate::app::aside(move || Engine::new(spec, &limits)).await?;
    handle.restore(Restored { engine, keep: Keep::Waiting }).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// GET model/properties.
pub(super) async fn model_properties(ask: Ask) -> Answered {
    let handle = ask.open(Right::Read).await?;
    let [first, last] = times(&handle).await?;
    Ok(answered(StatusCode::OK, &json!({"creationTime": first, "lastModifiedTime": last})))
}

//! Offline evaluations: what the loop earned, and what its baseline, its best guess and chance would have.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use noregret_stream::Replacement;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Write as _;

use super::Names;
use super::answers::Answered;
use super::time::moment;
use crate::api::models::{aside, simply_evaluated};
use crate::app::{App, json as answered};
use crate::model::evaluation::Simple;
use crate::model::handle::{Handle, now};
use crate::model::spec::shown;
use crate::refusal::Refusal;
use crate::safety::keys::Right;
use crate::safety::names::check;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contract {
    name: String,
    start_time: String,
    end_time: String,
    #[serde(default)]
    policies: Option<Vec<Value>>,
}

fn folder(handle: &Handle) -> PathBuf {
    handle.folder.join("evaluations")
}

/// PUT evaluations/{id}.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    names: Names,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let handle = names.open(&app, &headers, Right::Write).await?;
    let contract: Contract = app.json(body).await?;
    made(&handle, names.id.clone(), contract).await?;
    Ok(StatusCode::OK.into_response())
}

/// POST evaluations: the id is made.
pub(super) async fn create_any(
    State(app): State<Arc<App>>,
    names: Names,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let handle = names.open(&app, &headers, Right::Write).await?;
    let contract: Contract = app.json(body).await?;
    let evaluation = made(&handle, format!("evaluation-{}", now()), contract).await?;
    Ok(answered(StatusCode::CREATED, &evaluation))
}

async fn made(handle: &Arc<Handle>, id: String, contract: Contract) -> Result<Value, Refusal> {
    check(&id).map_err(|_| Refusal::invalid("evaluationId", format!("the id {} is no name", shown(&id))))?;
    if contract.policies.is_some_and(|policies| !policies.is_empty()) {
        let what = "custom policies are command lines of Vowpal Wabbit, which are not evaluated here; Online, Baseline, Random and the loop without exploration are";
        return Err(Refusal::not_offered(what));
    }
    let mut results = Vec::new();
    let compared = [
        ("Online", "Online", Simple::Logged),
        ("Baseline1", "Baseline", Simple::Baseline),
        ("RandomPolicy1", "Random", Simple::Uniform),
        ("Greedy", "OfflineExperimentation", Simple::Greedy),
    ];
    for (name, source, policy) in compared {
        let estimate = simply_evaluated(Arc::clone(handle), policy, 0.95).await?;
        results.push(result(name, source, &estimate));
    }
    let evaluation = json!({
        "id": id, "name": contract.name, "startTime": contract.start_time, "endTime": contract.end_time,
        "jobId": id, "status": "completed", "evaluationType": "Manual", "creationTime": moment(now()),
        "optimalPolicy": "Online", "featureImportance": [], "policyResults": results,
    });
    let (path, text) = (folder(handle), evaluation.to_string());
    aside(move || {
        let write = || {
            std::fs::create_dir_all(&path)?;
            let mut file = Replacement::open(&path.join(format!("{id}.json")))?;
            file.write_all(text.as_bytes())?;
            file.finish()
        };
        write().map_err(|error: std::io::Error| Refusal::failed(format!("{}: {error}", path.display())))
    })
    .await?;
    Ok(evaluation)
}

/// An estimate in Personalizer's form: by self-normalised importance weights.
fn result(name: &str, source: &str, estimate: &Value) -> Value {
    let estimates = estimate["estimates"].as_array().cloned().unwrap_or_default();
    let by = |name: &str| estimates.iter().find(|estimate| estimate["estimator"] == name).cloned();
    let value = by("snips").or_else(|| by("ips")).unwrap_or_default();
    let (mean, interval) = (value["value"].clone(), value["normal"].clone());
    let rounds = estimate["rounds"].as_f64().unwrap_or(0.0);
    let half = match (interval[0].as_f64(), interval[1].as_f64()) {
        (Some(low), Some(high)) => (high - low) / 2.0,
        _ => 0.0,
    };
    let ips = by("ips").and_then(|ips| ips["value"].as_f64()).unwrap_or(0.0);
    let total = json!({
        "timeStamp": moment(now()), "ipsEstimatorNumerator": ips * rounds, "ipsEstimatorDenominator": rounds,
        "snipsEstimatorDenominator": estimate["mean_weight"].as_f64().unwrap_or(0.0) * rounds,
        "aggregateTimeWindow": "PT0S", "averageReward": mean, "confidenceInterval": half,
        "expectedReward": mean,
    });
    json!({
        "name": name, "arguments": "", "policySource": source, "slotId": "",
        "summary": [total], "totalSummary": total,
    })
}

async fn read(handle: &Arc<Handle>, id: String) -> Result<Value, Refusal> {
    let unknown = Refusal::unknown(format!("there is no evaluation {}", shown(&id)));
    if check(&id).is_err() {
        return Err(unknown);
    }
    let path = folder(handle).join(format!("{id}.json"));
    let text = aside(move || std::fs::read(&path).map_err(|_| unknown)).await?;
    serde_json::from_slice(&text).map_err(|error| Refusal::failed(error.to_string()))
}

/// GET evaluations/{id}.
pub(super) async fn show(State(app): State<Arc<App>>, names: Names, headers: HeaderMap) -> Answered {
    let handle = names.open(&app, &headers, Right::Read).await?;
    Ok(answered(StatusCode::OK, &read(&handle, names.id.clone()).await?))
}

/// DELETE evaluations/{id}.
pub(super) async fn delete(State(app): State<Arc<App>>, names: Names, headers: HeaderMap) -> Answered {
    let handle = names.open(&app, &headers, Right::Write).await?;
    let path = folder(&handle).join(format!("{}.json", names.id));
    if check(&names.id).is_ok() {
        let _ = std::fs::remove_file(path);
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// GET evaluations: a list in older versions of the protocol, a page of one in the newest.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    names: Names,
    headers: HeaderMap,
    uri: axum::http::Uri,
) -> Answered {
    let handle = names.open(&app, &headers, Right::Read).await?;
    let path = folder(&handle);
    let all = aside(move || {
        let Ok(entries) = std::fs::read_dir(&path) else { return Ok(Vec::new()) };
        let mut all: Vec<Value> = entries
            .flatten()
            .filter_map(|entry| serde_json::from_slice(&std::fs::read(entry.path()).ok()?).ok())
            .collect();
        all.sort_by_key(|evaluation| evaluation["creationTime"].to_string());
        Ok(all)
    })
    .await?;
    Ok(paged(all, &uri))
}

fn paged(all: Vec<Value>, uri: &axum::http::Uri) -> Response {
    let newest = uri.query().is_some_and(|query| query.contains("api-version="));
    let answer = if newest { json!({"value": all}) } else { Value::Array(all) };
    answered(StatusCode::OK, &answer)
}

/// GET featureImportances.
pub(super) async fn no_importances(
    State(app): State<Arc<App>>,
    names: Names,
    headers: HeaderMap,
    uri: axum::http::Uri,
) -> Answered {
    names.open(&app, &headers, Right::Read).await?;
    Ok(paged(Vec::new(), &uri))
}

/// featureImportances/{id}.
pub(super) async fn no_importance(State(app): State<Arc<App>>, names: Names, headers: HeaderMap) -> Answered {
    names.open(&app, &headers, Right::Read).await?;
    let what = "importances of features are not computed: the learner of a loop hashes products of features, and has no weight for each";
    Err(Refusal::not_offered(what).into())
}

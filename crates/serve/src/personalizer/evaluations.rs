//! Offline evaluations: the reward of the loop, and estimates for its baseline, its greedy policy,
//! uniform play and other learners.

use std::sync::Arc;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use noregret_stream::evaluate::off_policy::{Estimates, Estimator};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Ask;
use super::answers::Answered;
use super::kept;
use super::policies::{Policy, policy};
use super::time::{moment, times};
use crate::api::evaluate::{evaluated_on_log, learning};
use crate::app::json as answered;
use crate::model::evaluation::{Candidate, Simple};
use crate::model::handle::Handle;
use crate::model::shared::now;
use crate::refusal::{Refusal, shown};
use crate::safety::keys::Right;

/// The folder of reports.
pub(super) const KIND: &str = "evaluations";
/// Largest number of custom policies, each of which learns from the whole log.
const MOST_CUSTOM: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contract {
    name: String,
    start_time: String,
    end_time: String,
    #[serde(default)]
    policies: Option<Vec<Custom>>,
}

/// A custom policy.
#[derive(Debug, Deserialize)]
struct Custom {
    name: String,
    #[serde(default)]
    arguments: String,
}

/// PUT evaluations/{id}.
pub(super) async fn create(ask: Ask, body: Body) -> Answered {
    let handle = ask.open(Right::Write).await?;
    let contract: Contract = ask.app.json(body).await?;
    made(&handle, ask.path.id.clone(), contract).await?;
    Ok(StatusCode::OK.into_response())
}

/// POST evaluations: the id is made.
pub(super) async fn create_any(ask: Ask, body: Body) -> Answered {
    let handle = ask.open(Right::Write).await?;
    let contract: Contract = ask.app.json(body).await?;
    let evaluation = made(&handle, format!("evaluation-{}", now()), contract).await?;
    Ok(answered(StatusCode::CREATED, &evaluation))
}

async fn made(handle: &Arc<Handle>, id: String, contract: Contract) -> Result<Value, Refusal> {
    kept::check_id("evaluationId", &id)?;
    let within = times(&contract.start_time, &contract.end_time)?;
    let customs = contract.policies.unwrap_or_default();
    if customs.len() > MOST_CUSTOM {
        let what = format!("there are {} policies; at most {MOST_CUSTOM} are evaluated", customs.len());
        return Err(Refusal::invalid("policies", what));
    }
    let mut compared: Vec<(String, String, &str, Candidate)> = [
        ("Online", "Online", Simple::Logged),
        ("Baseline1", "Baseline", Simple::Baseline),
        ("RandomPolicy1", "Random", Simple::Uniform),
        ("Greedy", "OfflineExperimentation", Simple::Greedy),
    ]
    .map(|(name, source, policy)| (name.to_owned(), String::new(), source, Candidate::Simple(policy)))
    .into();
    for (at, custom) in customs.into_iter().enumerate() {
        if compared.iter().any(|(name, ..)| *name == custom.name) {
            let what = format!(
                "there are two policies {}; each was needed under a name of its own",
                shown(&custom.name)
            );
            return Err(Refusal::invalid(&format!("policies[{at}].name"), what));
        }
        let field = format!("policies[{at}].arguments");
        let named = |refusal: Refusal| refusal.about(&field);
        let Policy { learner, params, explore } = policy(&custom.arguments).map_err(named)?;
        let candidate = learning(handle, &learner, params, explore).await.map_err(named)?;
        compared.push((custom.name, custom.arguments, "Custom", candidate));
    }
    let (mut results, mut rounds) = (Vec::new(), 0u64);
    for (name, arguments, source, candidate) in compared {
        let found = evaluated_on_log(Arc::clone(handle), candidate, Some(within.clone()), 0.95).await?;
        rounds = rounds.max(found.estimates.rounds);
        results.push(result(&name, &arguments, source, &found.estimates));
    }
    // Of equal ones the first, also if they differ by rounding; without a reward none is known.
    let rounded = |value: f64| (1e9 * value).round();
    let value =
        |one: &&Value| one["totalSummary"]["averageReward"].as_f64().map_or(f64::NEG_INFINITY, rounded);
    let best = results.iter().rev().max_by(|a, b| value(a).total_cmp(&value(b))).filter(|_| rounds > 0);
    let best = best.map_or(Value::Null, |best| best["name"].clone());
    let evaluation = json!({
        "id": id, "name": contract.name, "startTime": contract.start_time, "endTime": contract.end_time,
        "jobId": id, "status": "completed", "evaluationType": "Manual", "creationTime": moment(now()),
        "optimalPolicy": best, "featureImportance": [], "policyResults": results,
    });
    kept::write(handle, KIND, &id, &evaluation).await?;
    Ok(evaluation)
}

/// An estimate in Personalizer's format, by self-normalised importance weights.
fn result(name: &str, arguments: &str, source: &str, found: &Estimates) -> Value {
    let [ips, snips] = [Estimator::Ips, Estimator::Snips].map(|one| found.by(one).expect("always computed"));
    let (mean, rounds) = (snips.value, found.rounds as f64);
    // A log too short for a normal interval has the confidence sequence of ips.
    let interval = snips.normal.or(ips.sequence);
    let half = interval.map_or(0.0, |[low, high]| (high - low) / 2.0);
    let total = json!({
        "timeStamp": moment(now()), "ipsEstimatorNumerator": ips.value * rounds, "ipsEstimatorDenominator": rounds,
        "snipsEstimatorDenominator": found.mean_weight * rounds,
        "aggregateTimeWindow": "PT0S", "averageReward": mean, "confidenceInterval": half,
        "expectedReward": mean,
    });
    json!({
        "name": name, "arguments": arguments, "policySource": source, "slotId": "",
        "summary": [total], "totalSummary": total,
    })
}

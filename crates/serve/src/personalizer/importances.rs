//! Importance of the features of a loop.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Ask;
use super::answers::Answered;
use super::kept;
use super::time::{moment, times};
use crate::app::aside;
use crate::model::importance::last_decisions;
use crate::model::shared::now;
use crate::refusal::Refusal;
use crate::safety::keys::Right;

/// The folder of reports.
pub(super) const KIND: &str = "importances";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contract {
    name: String,
    #[serde(default)]
    description: String,
    start_time: String,
    end_time: String,
}

/// PUT featureImportances/{id}.
pub(super) async fn create(ask: Ask, body: Body) -> Answered {
    let handle = ask.open(Right::Write).await?;
    kept::check_id("featureImportanceId", &ask.path.id)?;
    let Contract { name, description, start_time, end_time } = ask.app.json(body).await?;
    let range = times(&start_time, &end_time)?;
    let (reader, folder) = (handle.look_now().await?, handle.folder.clone());
    let scores = aside(move || {
        let rounds = last_decisions(&folder, &range).map_err(Refusal::failed)?;
        reader.importances(&rounds)
    })
    .await?;
    let scores: Vec<Value> = scores
        .into_iter()
        .map(|one| json!({"namespace": one.part, "featureName": one.feature, "score": one.score}))
        .collect();
    let report = json!({
        "id": ask.path.id, "name": name, "description": description, "startTime": start_time,
        "endTime": end_time, "creationTime": moment(now()), "status": "Succeeded", "featureScores": scores,
    });
    kept::write(&handle, KIND, &ask.path.id, &report).await?;
    Ok(StatusCode::OK.into_response())
}

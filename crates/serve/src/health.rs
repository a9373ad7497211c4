//! Whether the service and its models are ready, for those who watch over it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::app::{App, json as answered};
use crate::hub::Place;
use crate::refusal::Refusal;
use crate::safety::keys::Right;

/// The state of a model in one word, and the reason if it does not accept events.
fn state_of(place: &Place) -> (&'static str, Option<String>) {
    match place {
        Place::Failed(what) => ("failed", Some(what.clone())),
        Place::Recovering => ("recovering", Some("its log is applied to its snapshot".to_owned())),
        Place::Busy => ("busy", None),
        Place::Running(handle) => match (handle.failure(), handle.unwritable()) {
            (Some(what), _) => ("suspended", Some(what)),
            (None, Some(what)) => ("refusing writes", Some(what)),
            (None, None) => ("ready", None),
        },
    }
}

/// The words of [`state_of`].
const STATES: [&str; 6] = ["ready", "recovering", "busy", "refusing writes", "suspended", "failed"];

/// How many of `models` are in each state.
pub(crate) fn states(models: &[(String, Place)]) -> [(&'static str, usize); STATES.len()] {
    STATES.map(|state| (state, models.iter().filter(|(_, place)| state_of(place).0 == state).count()))
}

/// How many of `models` rest.
pub(crate) fn resting(models: &[(String, Place)]) -> usize {
    models.iter().filter(|(_, place)| matches!(place, Place::Running(handle) if handle.rests())).count()
}

/// Whether the process answers.
#[utoipa::path(get, path = "/livez", tag = "service", operation_id = "live",
    responses((status = 200, description = "The process answers")))]
pub(crate) async fn live() -> Response {
    answered(StatusCode::OK, &json!({"status": "ok"}))
}

/// 503 with `Retry-After` until the recovery of every model has ended. A model that could not be recovered
/// does not keep requests from the others; see /healthz.
#[utoipa::path(get, path = "/readyz", tag = "service", operation_id = "ready",
    responses((status = 200, description = "All models are served, or have failed"),
        (status = 503, description = "Some are being recovered")))]
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let models = app.hub.list();
    let left = models.iter().filter(|(_, place)| matches!(place, Place::Recovering)).count();
    match left {
        0 => Ok(answered(StatusCode::OK, &json!({"status": "ok", "models": models.len()}))),
        _ => Err(Refusal::busy(format!("{left} of {} models are being recovered", models.len()))),
    }
}

/// Whether this node changes models, for balancers that send what changes models to one of several nodes. A
/// service alone always does.
#[utoipa::path(get, path = "/leadz", tag = "service", operation_id = "leads",
    responses((status = 200, description = "This node changes models"),
        (status = 503, description = "It follows another one, which is named")))]
pub(crate) async fn leads(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    app.hub.check()?;
    Ok(answered(StatusCode::OK, &json!({"status": "ok"})))
}

/// 200 if every model accepts events, 503 if one does not.
///
/// `states` counts the models in each state: `ready`; `recovering`, after a start; `busy`, being made or
/// deleted; `refusing writes`, for example because the disk is full, while forecasts go on; `suspended`;
/// `failed`, not served. `resting` counts those that are not in memory until somebody asks. `refused` counts
/// the events that were refused since the start. `incomplete` names the models that were made again from logs
/// that do not have all of them. `node` says, where several nodes have a log in common, whether this one
/// changes models, and which one it follows otherwise. Clients that may read are also shown the models.
#[utoipa::path(get, path = "/healthz", tag = "service", operation_id = "health",
    responses((status = 200, description = "All models are served"), (status = 503, description = "One is not")))]
pub(crate) async fn health(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let (mut failed, mut incomplete, mut by_name) = (Vec::new(), Vec::new(), Map::new());
    let (mut states, mut refused) = (BTreeMap::new(), 0);
    let models = app.hub.list();
    for (name, place) in &models {
        let (state, why) = state_of(place);
        *states.entry(state).or_insert(0_u64) += 1;
        let mut about = json!({"state": state});
        if let Some(why) = why {
            failed.push(name.clone());
            about["why"] = why.into();
        }
        if let Place::Running(handle) = place {
            about["refused"] = handle.refused().into();
            refused += handle.refused();
            if let Some(lost) = handle.lost() {
                about["lost"] = lost.into();
                incomplete.push(name.clone());
            }
        }
        by_name.insert(name.clone(), about);
    }
    let (status, code) = match failed.is_empty() {
        true => ("ok", StatusCode::OK),
        false => ("failed", StatusCode::SERVICE_UNAVAILABLE),
    };
    let resting = resting(&models);
    let mut health = json!({
        "status": status, "models": models.len(), "states": states, "resting": resting, "refused": refused,
    });
    if !failed.is_empty() {
        health["failed"] = failed.into();
    }
    if !incomplete.is_empty() {
        health["incomplete"] = incomplete.into();
    }
    if let Some(node) = &app.hub.node {
        health["node"] = node.about();
    }
    // Reasons have paths in them, and are only shown to those who may read.
    if app.keys.now().check(crate::app::key_of(&headers), Right::Read, None).is_ok() {
        health["by_name"] = Value::Object(by_name);
    }
    answered(code, &health)
}

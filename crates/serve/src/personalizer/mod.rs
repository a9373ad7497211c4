//! Azure AI Personalizer's protocol, in the versions of its official clients: `/personalizer/v1.0`,
//! `/personalizer/v1.1-preview.3` and `/personalizer` with `api-version=2022-09-01-preview`. A loop
//! is a model of this service: `/loops/NAME/personalizer/…` is the model NAME, without that it is
//! `default`. Loops are made when they are first used.
//!
//! This is a translation without state: configurations are stored by the model.

pub(crate) mod answers;
mod evaluations;
mod events;
mod importances;
mod kept;
mod policies;
mod settings;
mod time;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::json;

use crate::app::{App, key_of};
use crate::hub::Place;
use crate::model::handle::Handle;
use crate::model::spec::{Feedback, Service, Spec};
use crate::refusal::Refusal;
use crate::safety::keys::Right;

/// The routes.
pub(crate) fn routes() -> Router<Arc<App>> {
    let mut router = Router::new();
    for of_loop in ["", "/loops/{loop}"] {
        for version in ["", "/v1.0", "/v1.1-preview.1", "/v1.1-preview.2", "/v1.1-preview.3"] {
            router = router.nest(&format!("{of_loop}/personalizer{version}"), one());
        }
    }
    router
}

fn one() -> Router<Arc<App>> {
    let rank = |ask: Ask, body: Body| timed("rank", ask, |ask| events::rank(ask, body));
    let rank_slots = |ask: Ask, body: Body| timed("rank", ask, |ask| events::rank_slots(ask, body));
    let reward = |ask: Ask, body: Body| timed("reward", ask, |ask| events::reward(ask, body));
    let reward_slots = |ask: Ask, body: Body| timed("reward", ask, |ask| events::reward_slots(ask, body));
    Router::new()
        .route("/rank", post(rank))
        .route("/events/{event}/reward", post(reward))
        .route("/events/{event}/activate", post(events::activate))
        .route("/multislot/rank", post(rank_slots))
        .route("/multislot/events/{event}/reward", post(reward_slots))
        .route("/multislot/events/{event}/activate", post(events::activate_slots))
        .route("/configurations/service", get(settings::service).put(settings::set_service))
        .route(
            "/configurations/policy",
            get(settings::policy).put(settings::set_policy).delete(settings::policy),
        )
        .route("/configurations/applyFromEvaluation", post(settings::apply))
        .route("/evaluations", kept::list(evaluations::KIND).post(evaluations::create_any))
        .route("/evaluations/{id}", kept::one(evaluations::KIND).put(evaluations::create))
        .route("/featureImportances", kept::list(importances::KIND))
        .route("/featureImportances/{id}", kept::one(importances::KIND).put(importances::create))
        .route("/logs", axum::routing::delete(settings::delete_logs))
        .route("/logs/properties", get(settings::log_properties))
        .route("/logs/interactions", get(settings::raw_logs).post(settings::raw_logs))
        .route("/logs/observations", get(settings::raw_logs).post(settings::raw_logs))
        .route("/model", get(settings::model).put(settings::set_model).delete(settings::reset_model))
        .route("/model/properties", get(settings::model_properties))
        .fallback(nothing)
}

/// Its routes for the OpenAPI document, of a loop and without a version; the other prefixes have the same.
pub(crate) fn described() -> utoipa::openapi::OpenApi {
    serde_json::from_str(include_str!("described.json")).expect("a file of this program")
}

async fn nothing() -> answers::Error {
    answers::Error(Refusal::unknown("there is nothing at this path"))
}

/// Path parameters.
#[derive(Debug, Default, Deserialize)]
struct Named {
    /// The loop.
    #[serde(default, rename = "loop")]
    of: Option<String>,
    /// The event.
    #[serde(default)]
    event: String,
    /// The evaluation.
    #[serde(default)]
    id: String,
}

/// A request about a loop.
struct Ask {
    app: Arc<App>,
    path: Named,
    headers: HeaderMap,
}

impl FromRequestParts<Arc<App>> for Ask {
    type Rejection = answers::Error;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, answers::Error> {
        let path =
            crate::app::Named::<Named>::from_request_parts(parts, app).await.map_err(answers::Error)?;
        Ok(Self { app: Arc::clone(app), path: path.0, headers: parts.headers.clone() })
    }
}

/// Personalizer's default reward wait time: ten minutes.
const WAIT: f64 = 600.0;

/// The service settings of a new loop.
fn first_service() -> Service {
    Service {
        wait_seconds: Some(WAIT),
        default_reward: Some(0.0),
        notes: json!({"personalizer": {}}).as_object().cloned().unwrap_or_default(),
        ..Service::default()
    }
}

impl Ask {
    /// The name of the loop: from the path, or from a key for a single model (for clients that drop
    /// the path of their endpoint), or `default`.
    fn name(&self) -> String {
        let of_key = || self.app.keys.now().only_model(key_of(&self.headers));
        self.path.of.clone().or_else(of_key).unwrap_or_else(|| "default".to_owned())
    }

    /// The loop, for a request with `right`; it is made if it does not exist.
    async fn open(&self, right: Right) -> Result<Arc<Handle>, Refusal> {
        self.opened(right).await.map_err(answers::in_its_terms)
    }

    async fn opened(&self, right: Right) -> Result<Arc<Handle>, Refusal> {
        let name = self.name();
        self.app.allow(&self.headers, right, Some(&name))?;
        match self.app.hub.found(&name).await {
            Err(refusal) if refusal.status == 404 => {}
            Ok(handle) if handle.spec().feedback == Feedback::Full => {
                let what = format!(
                    "the model {name} learns from labels, and is not a loop of Personalizer's protocol"
                );
                return Err(Refusal::conflict(what));
            }
            other => return other,
        }
        // A key that may only read makes nothing.
        self.app.allow(&self.headers, right.max(Right::Write), Some(&name))?;
        let spec = Spec { feedback: Feedback::Bandit, service: first_service(), ..Spec::default() };
        let (app, wanted) = (Arc::clone(&self.app), name.clone());
        let work = move || {
            match app.hub.create(&wanted, spec) {
                // Another request has made it or is making it.
                Err(refusal) if refusal.status == 409 => {
                    for _ in 0..200 {
                        match app.hub.list().into_iter().find(|(name, _)| *name == wanted) {
                            Some((_, Place::Busy)) => {
                                std::thread::sleep(std::time::Duration::from_millis(25))
                            }
                            _ => break,
                        }
                    }
                    app.hub.get(&wanted)
                }
                other => other,
            }
        };
        let made = self.app.change(work).await?;
        tracing::info!(model = %name, "made by Personalizer's protocol");
        Ok(made)
    }
}

/// Does a request about rounds of a loop, and records its time and success under the name `what`.
async fn timed<F: Future<Output = answers::Answered>>(
    what: &'static str,
    ask: Ask,
    done: impl FnOnce(Ask) -> F,
) -> answers::Answered {
    let (begun, app, name) = (Instant::now(), Arc::clone(&ask.app), ask.name());
    let done = done(ask).await;
    // Names that are made up leave no metrics.
    if app.hub.get(&name).is_ok() {
        crate::api::rounds::timed(what, &name, begun, done.is_ok());
    }
    done
}

#[cfg(test)]
mod tests {
    /// The document has every route, and no other.
    #[test]
    fn every_route_is_described() {
        let source = include_str!("mod.rs").split("#[cfg(test)]").next().unwrap_or_default();
        let path =
            |part: &str| part.split('"').nth(1).map(|path| format!("/loops/{{loop}}/personalizer{path}"));
        let mut routes: Vec<String> = source.split(".route(").skip(1).filter_map(path).collect();
        routes.sort_unstable();
        let described: Vec<String> = super::described().paths.paths.into_keys().collect();
        assert_eq!(described, routes);
    }
}

//! Our own protocol: routes (`models`, `state`, `log`, `evaluate`, `rounds`, `streams`), and bodies with
//! their examples.

pub mod bodies;
pub(crate) mod described;
pub(crate) mod evaluate;
pub(crate) mod log;
pub(crate) mod models;
pub(crate) mod rounds;
pub(crate) mod state;
mod streams;

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use axum::routing::{get, post, put};

use crate::app::App;
use crate::refusal::Refusal;

/// The result of handlers.
type Answered = Result<Response, Refusal>;

/// The routes.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1", get(models::root))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{name}", put(models::create).get(models::show).delete(models::delete))
        .route("/v1/models/{name}/predict", post(rounds::predict))
        .route("/v1/models/{name}/learn", post(rounds::learn))
        .route("/v1/models/{name}/decide", post(rounds::decide))
        .route("/v1/models/{name}/feedback", post(rounds::feedback))
        .route("/v1/models/{name}/activate", post(rounds::activate))
        .route("/v1/models/{name}/labels", post(models::labels))
        .route("/v1/models/{name}/log", get(log::log).delete(log::forget))
        .route("/v1/models/{name}/model", get(state::export).put(state::import))
        .route("/v1/models/{name}/versions", get(state::versions).post(state::save))
        .route("/v1/models/{name}/rollback", post(state::roll_back))
        .route("/v1/models/{name}/promote", post(state::promote))
        .route("/v1/models/{name}/copy", post(models::copy))
        .route("/v1/models/{name}/evaluate", post(evaluate::evaluate))
        .route("/v1/backup", post(log::back_up))
}

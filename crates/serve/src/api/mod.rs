//! Our own protocol: routes (`models`, `rounds`, `streams`), bodies, and errors as RFC 9457 has them.

pub mod bodies;
pub(crate) mod described;
pub(crate) mod models;
pub(crate) mod problem;
pub(crate) mod rounds;
mod streams;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post, put};

use crate::app::App;

/// The routes.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/models", get(models::list))
        .route("/v1/models/{name}", put(models::create).get(models::show).delete(models::delete))
        .route("/v1/models/{name}/predict", post(rounds::predict))
        .route("/v1/models/{name}/learn", post(rounds::learn))
        .route("/v1/models/{name}/decide", post(rounds::decide))
        .route("/v1/models/{name}/feedback", post(rounds::feedback))
        .route("/v1/models/{name}/activate", post(rounds::activate))
        .route("/v1/models/{name}/log", get(models::log).delete(models::forget))
        .route("/v1/models/{name}/model", get(models::export).put(models::import))
        .route("/v1/models/{name}/versions", get(models::versions).post(models::save))
        .route("/v1/models/{name}/rollback", post(models::roll_back))
        .route("/v1/models/{name}/promote", post(models::promote))
        .route("/v1/models/{name}/copy", post(models::copy))
        .route("/v1/models/{name}/evaluate", post(models::evaluate))
        .route("/v1/backup", post(models::back_up))
}

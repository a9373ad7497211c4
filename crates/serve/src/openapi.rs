//! The description of our own protocol, for people and programs.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use utoipa::OpenApi;

use crate::api::bodies;
use crate::app::App;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "noregret",
        description = "Decisions, predictions and learning over HTTP. An answer means that its event is durable."
    ),
    paths(
        crate::health,
        crate::metrics,
        document,
        crate::api::models::list,
        crate::api::models::create,
        crate::api::models::show,
        crate::api::models::delete,
        crate::api::models::log,
        crate::api::models::forget,
        crate::api::models::export,
        crate::api::models::import,
        crate::api::models::versions,
        crate::api::models::save,
        crate::api::models::roll_back,
        crate::api::models::promote,
        crate::api::models::copy,
        crate::api::models::evaluate,
        crate::api::models::back_up,
        crate::api::rounds::predict,
        crate::api::rounds::learn,
        crate::api::rounds::decide,
        crate::api::rounds::feedback,
        crate::api::rounds::activate,
    ),
    components(schemas(
        crate::api::problem::Problem,
        bodies::PredictBody,
        bodies::LearnBody,
        bodies::DecideBody,
        bodies::FeedbackBody,
        bodies::Forecast,
        bodies::Decision
    ))
)]
struct Described;

/// GET /openapi.json.
#[utoipa::path(get, path = "/openapi.json", tag = "service", operation_id = "openapi",
    responses((status = 200, description = "This document")))]
pub(crate) async fn document(State(_): State<Arc<App>>) -> Response {
    crate::app::json(axum::http::StatusCode::OK, &Described::openapi())
}

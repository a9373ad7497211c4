//! The OpenAPI document: our own protocol, and Personalizer's.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::api::bodies;
use crate::app::App;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "noregret",
        description = "Decisions, predictions and learning over HTTP. Every answered event is durable. \
                       `PUT /v1/models/{name}` makes a model; `decide` and `feedback`, or `predict` and `learn`, are its rounds. \
                       Errors are `application/problem+json`, with one sentence. What is under `/loops` is the protocol of Azure AI Personalizer."
    ),
    paths(
        crate::health::health,
        crate::health::leads,
        crate::health::live,
        crate::health::ready,
        crate::metrics,
        document,
        crate::api::models::root,
        crate::api::models::list,
        crate::api::models::create,
        crate::api::models::show,
        crate::api::models::delete,
        crate::api::models::labels,
        crate::api::log::log,
        crate::api::log::forget,
        crate::api::state::export,
        crate::api::state::import,
        crate::api::state::versions,
        crate::api::state::save,
        crate::api::state::roll_back,
        crate::api::state::promote,
        crate::api::models::copy,
        crate::api::evaluate::evaluate,
        crate::api::log::back_up,
        crate::api::rounds::predict,
        crate::api::rounds::learn,
        crate::api::rounds::decide,
        crate::api::rounds::feedback,
        crate::api::rounds::activate,
    ),
    modifiers(&Keys),
    security((), ("key" = [])),
    components(schemas(
        crate::problem::Problem,
        bodies::PredictBody,
        bodies::LearnBody,
        bodies::DecideBody,
        bodies::FeedbackBody,
        bodies::Forecast,
        bodies::Learnt,
        bodies::Decision
    ))
)]
struct Described;

/// The keys of requests, which are needed if the service has any.
struct Keys;

impl Modify for Keys {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let key = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
            "A key made by `noregret serve --add-key NAME`; without keys, nobody needs one",
        ));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("key", SecurityScheme::Http(key.build()));
    }
}

/// This description of all routes.
#[utoipa::path(get, path = "/openapi.json", tag = "service", operation_id = "openapi",
    responses((status = 200, description = "This document")))]
pub(crate) async fn document(State(_): State<Arc<App>>) -> Response {
    let mut document = Described::openapi();
    document.merge(crate::personalizer::described());
    crate::app::json(axum::http::StatusCode::OK, &document)
}

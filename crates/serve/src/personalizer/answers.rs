//! Answers in Personalizer's forms.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::api::problem::answer;
use crate::refusal::Refusal;

/// A refusal in Personalizer's form.
#[derive(Debug)]
pub(crate) struct Error(pub(super) Refusal);

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let refusal = self.0;
        let (status, code) = match refusal.status {
            400 | 405 | 408 | 422 => (StatusCode::BAD_REQUEST, "BadRequest"),
            401 => (StatusCode::UNAUTHORIZED, "Unauthorized"),
            403 => (StatusCode::FORBIDDEN, "InvalidApiAccess"),
            404 | 410 => (StatusCode::NOT_FOUND, "ResourceNotFound"),
            409 => (StatusCode::CONFLICT, "OperationNotAllowed"),
            413 => (StatusCode::PAYLOAD_TOO_LARGE, "PayloadSizeExceeded"),
            429 => (StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
            501 => (StatusCode::NOT_IMPLEMENTED, "OperationNotAllowed"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "InternalServerError"),
        };
        let mut error = json!({"code": code, "message": refusal.detail});
        if let Some(field) = refusal.field {
            error["target"] = field.into();
        }
        let body = json!({"error": error}).to_string().into_bytes();
        answer(status, "application/json", body, refusal.retry_after)
    }
}

/// What handlers return.
pub(super) type Answered = Result<Response, Error>;

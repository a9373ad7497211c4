//! Responses in Personalizer's format.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::problem::answer;
use crate::refusal::Refusal;

/// An error in Personalizer's format.
#[derive(Debug)]
pub(crate) struct Error(pub(super) Refusal);

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

/// Whether `path` is one of this protocol.
pub(crate) fn has(path: &str) -> bool {
    ["/personalizer", "/loops/"].iter().any(|begin| path.starts_with(begin))
}

/// A refusal in the form of the protocol that has `path`.
pub(crate) fn refused_at(path: &str, refusal: Refusal) -> Response {
    if has(path) { Error(refusal).into_response() } else { refusal.into_response() }
}

/// A refusal of the model's, with the field as Personalizer's requests call it.
pub(super) fn in_its_terms(refusal: Refusal) -> Refusal {
    let field = refusal.field.as_deref().map(its_name);
    Refusal { field, ..refusal }
}

/// The name in Personalizer's requests of a field of ours.
fn its_name(field: &str) -> String {
    let (first, rest) = field.split_at(field.find(['.', '[']).unwrap_or(field.len()));
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    match first {
        "id" => "eventId".to_owned(),
        "x" => "contextFeatures".to_owned(),
        "exclude" => format!("excludedActions{rest}"),
        "reward" => "value".to_owned(),
        "labels" => match rest.strip_suffix(".x") {
            Some(at) => format!("actions{at}.features"),
            None if rest.is_empty() => "actions".to_owned(),
            None => format!("actions{rest}.id"),
        },
        "slots" => {
            let (at, of) = rest.split_once('.').unwrap_or((rest, ""));
            let (of, index) = of.split_at(of.find('[').unwrap_or(of.len()));
            match of {
                "" => format!("slots{at}"),
                "x" => format!("slots{at}.features"),
                "exclude" => format!("slots{at}.excludedActions{index}"),
                "baseline" => format!("slots{at}.baselineAction"),
                of => format!("slots{at}.{of}"),
            }
        }
        "service" => match rest {
            "wait_seconds" => "rewardWaitTime",
            "default_reward" => "defaultReward",
            "retain_days" => "logRetentionDays",
            "explore" => "explorationPercentage",
            other => other,
        }
        .to_owned(),
        // The name of a model is that of a loop, in the path.
        "name" => "loop".to_owned(),
        _ => field.to_owned(),
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let refusal = self.0;
        let (status, code) = match refusal.status {
            400 | 408 | 422 => (StatusCode::BAD_REQUEST, "BadRequest"),
            405 => (StatusCode::METHOD_NOT_ALLOWED, "OperationNotAllowed"),
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

/// The result of handlers.
pub(super) type Answered = Result<Response, Error>;

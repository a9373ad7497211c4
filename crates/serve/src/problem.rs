//! Errors as responses: `application/problem+json` (RFC 9457), with one sentence and the field
//! concerned.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::refusal::Refusal;

/// Why a request was refused (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// The type of the problem: always `about:blank`, see the status.
    #[serde(rename = "type")]
    #[schema(example = "about:blank")]
    kind: &'static str,
    /// The status in words.
    #[schema(example = "Unprocessable Entity")]
    title: &'static str,
    /// The status.
    #[schema(example = 422)]
    status: u16,
    /// One sentence.
    #[schema(example = "weight is -1; a number from 0 to 1e30 was needed")]
    detail: String,
    /// The invalid field of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "weight")]
    field: Option<String>,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let problem = Problem {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: self.status,
            detail: self.detail,
            field: self.field,
        };
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        answer(status, "application/problem+json", body, self.retry_after)
    }
}

/// A JSON response, with headers for the client.
pub(crate) fn answer(
    status: StatusCode,
    kind: &'static str,
    body: Vec<u8>,
    retry_after: Option<u32>,
) -> Response {
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Some(seconds) = retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

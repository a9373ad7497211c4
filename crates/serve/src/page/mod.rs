//! Web pages: live list of models, and off-policy evaluation; without external resources.

use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};

/// A page with the common header and style.
fn page(text: &str) -> Response {
    let text = text
        .replace("/*style.css*/", include_str!("style.css"))
        .replace("/*common.js*/", include_str!("common.js"));
    let mut response = Html(text).into_response();
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// GET /.
pub(crate) async fn models() -> Response {
    page(include_str!("models.html"))
}

/// GET /evaluation.
pub(crate) async fn evaluation() -> Response {
    page(include_str!("evaluation.html"))
}

//! The page that shows all models, live, without any request to elsewhere.

use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};

/// GET /.
pub(crate) async fn page() -> Response {
    let mut response = Html(include_str!("page.html")).into_response();
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

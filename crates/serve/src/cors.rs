//! Which pages of other origins may ask the service in a browser (CORS). Keys are sent in a header, so that
//! credentials of the browser, such as cookies, are never needed.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, header};
use noregret_stream::Fault;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::refusal::shown;

/// How long a browser keeps the answer.
const KEPT: Duration = Duration::from_secs(3600);

/// What lets pages of `origins` ask; `*` are all. `None` if there are none.
/// Fails if one is no origin.
pub(crate) fn of(origins: &[String]) -> Result<Option<CorsLayer>, Fault> {
    if origins.is_empty() {
        return Ok(None);
    }
    let mut allowed = Vec::with_capacity(origins.len());
    for origin in origins.iter().filter(|origin| *origin != "*") {
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        let is_host = |host: &str| !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']);
        let value = HeaderValue::from_str(origin).ok().filter(|_| host.is_some_and(is_host));
        allowed.push(value.ok_or_else(|| {
            format!(
                "--cors is {}; an origin as https://example.com, without a path, or * was needed",
                shown(origin)
            )
        })?);
    }
    let all = allowed.len() < origins.len();
    let names = ["api-key", "ocp-apim-subscription-key", "x-request-id"].map(HeaderName::from_static);
    let headers =
        [header::AUTHORIZATION, header::CONTENT_TYPE, header::CONTENT_ENCODING].into_iter().chain(names);
    let layer = CorsLayer::new()
        .allow_origin(if all { AllowOrigin::any() } else { AllowOrigin::list(allowed) })
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers(headers.collect::<Vec<_>>())
        .expose_headers([header::RETRY_AFTER, HeaderName::from_static("x-request-id")])
        .max_age(KEPT);
    Ok(Some(layer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_checked() {
        let of = |origin: &str| of(&[origin.to_owned()]);
        for origin in ["*", "https://example.com", "http://localhost:3000"] {
            assert!(of(origin).is_ok_and(|layer| layer.is_some()), "{origin}");
        }
        for origin in ["example.com", "https://example.com/", "https://", "ftp://a", "https://a b", ""] {
            let what = of(origin).expect_err(origin).to_string();
            assert!(what.contains("an origin as https://example.com"), "{what}");
        }
    }
}

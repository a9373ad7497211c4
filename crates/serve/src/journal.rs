//! The lines about requests: who asked for what, with which answer (access), and who has changed which model
//! (audit). Keys are named, never shown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::app::{App, key_of};
use crate::model::shared::now;
use crate::traces::About;

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogForm {
    /// Text, without a line for every request.
    #[default]
    Text,
    /// An object of JSON a line.
    Json,
}

/// The target of lines that the text form leaves out: those about requests, and the address.
pub(crate) const ACCESS: &str = "access";

/// The target of lines about changes of models.
const AUDIT: &str = "audit";

/// The header with the id of a request: the client's, or ours.
pub(crate) const REQUEST: HeaderName = HeaderName::from_static("x-request-id");

/// Writes log lines to standard error.
pub fn log_to_stderr(form: LogForm) {
    let is_json = form == LogForm::Json;
    let all = tracing_subscriber::registry()
        .with(LevelFilter::INFO)
        .with(filter_fn(move |about| is_json || about.target() != ACCESS));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    // Fails if the program has a subscriber already, which is kept.
    let _ = match form {
        LogForm::Text => all.with(lines.with_target(false)).try_init(),
        LogForm::Json => {
            let lines = lines.json().flatten_event(true).with_current_span(false).with_span_list(false);
            all.with(lines).try_init()
        }
    };
}

/// Writes a line about the start of the service.
pub fn log_start(what: &str) {
    tracing::info!("{what}");
}

/// Writes the last log line: why the service ends, and whether that was asked for.
pub fn log_end(why: &str, is_asked: bool) {
    if is_asked {
        tracing::info!("{why}");
    } else {
        tracing::error!("{why}");
    }
}

/// An id for a request that came without one.
fn new_id() -> HeaderValue {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let id = format!("{:x}-{:x}", now(), COUNT.fetch_add(1, Ordering::Relaxed));
    HeaderValue::try_from(id).expect("letters and digits")
}

/// Whether the id of a client can be passed on.
fn is_id(given: &HeaderValue) -> bool {
    (1..=128).contains(&given.len()) && given.as_bytes().iter().all(u8::is_ascii_graphic)
}

/// The model of a path.
fn model_of(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/v1/models/").or_else(|| path.strip_prefix("/loops/"))?;
    rest.split('/').next()
}

/// What a request has changed; `None` for rounds and for requests that only look.
fn deed(method: &Method, route: &str, status: StatusCode) -> Option<&'static str> {
    let made = status == StatusCode::CREATED;
    if !status.is_success() || method.is_safe() {
        return None;
    }
    Some(match (method.as_str(), route.rsplit('/').next()?) {
        (_, "predict" | "learn" | "decide" | "feedback" | "activate" | "evaluate" | "rank" | "reward")
        | ("POST", "interactions" | "observations" | "evaluations") => return None,
        ("PUT", "{name}") if made => "made",
        ("PUT", "{name}" | "service") => "configured",
        ("DELETE", "{name}") => "deleted",
        ("PUT", "model") if made => "made from a file",
        ("PUT", "model") => "replaced by a file",
        ("DELETE", "model") => "reset",
        ("DELETE", "log" | "logs") => "began a new log",
        ("POST", "labels") => "changed labels",
        ("POST", "versions") => "saved a version",
        ("POST", "rollback") => "rolled back",
        ("POST", "promote") => "promoted a shadow",
        ("POST", "copy") => "copied",
        ("POST", "backup") => "backed up",
        _ => "changed",
    })
}

/// Gives a request its id, and writes the lines about it when its answer begins.
pub(crate) async fn noted(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = request.headers().get(REQUEST).filter(|id| is_id(id)).cloned().unwrap_or_else(new_id);
    request.headers_mut().insert(REQUEST, id.clone());
    let key = app.keys.now().name_of(key_of(request.headers()));
    let client = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|from| from.0.ip().to_string());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let span = app.traces.as_ref().map(|traces| {
        traces.begin(request.headers(), method.as_str(), route.as_ref().map(MatchedPath::as_str))
    });
    let mut response = next.run(request).await;
    let (answered, milliseconds) = (response.status(), begun.elapsed().as_secs_f64() * 1000.0);
    metrics::counter!("noregret_responses_total", "status" => answered.as_str().to_owned()).increment(1);
    let deed = route.and_then(|route| deed(&method, route.as_str(), answered));
    let (request, status) = (id.to_str().unwrap_or_default(), answered.as_u16());
    let (client, key, method) = (client.as_deref(), key.as_deref(), method.as_str());
    let (path, model) = (path.as_str(), model_of(&path));
    if let Some(deed) = deed {
        tracing::info!(target: AUDIT, request, key, model, path, "{deed}");
    }
    if [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&answered) {
        tracing::warn!(request, client, key, method, path, model, status, "refused: no key that allows it");
    }
    tracing::info!(
        target: ACCESS, request, client, key, method, path, model, status, milliseconds, "answered"
    );
    if let Some(span) = span {
        span.end(&About { request, client, key, path, model, status });
    }
    response.headers_mut().insert(REQUEST, id);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeds_have_words() {
        let of = |method: &str, path: &str, status: u16| {
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            deed(&method, path, StatusCode::from_u16(status).expect("a status"))
        };
        assert_eq!(of("PUT", "/v1/models/{name}", 201), Some("made"));
        assert_eq!(of("PUT", "/v1/models/{name}", 200), Some("configured"));
        assert_eq!(of("DELETE", "/v1/models/{name}", 204), Some("deleted"));
        assert_eq!(of("DELETE", "/v1/models/{name}", 404), None);
        assert_eq!(of("PUT", "/v1/models/{name}/model", 200), Some("replaced by a file"));
        assert_eq!(of("POST", "/v1/models/{name}/rollback", 200), Some("rolled back"));
        assert_eq!(of("POST", "/v1/models/{name}/learn", 200), None);
        for looks in ["GET", "HEAD", "OPTIONS"] {
            assert_eq!(of(looks, "/v1/models/{name}/log", 200), None, "{looks}");
        }
        assert_eq!(model_of("/v1/models/site/learn"), Some("site"));
        assert_eq!((model_of("/v1/backup"), model_of("/metrics")), (None, None));
        let ids = ["a-1", "", "a b", "\u{e4}"].map(|id| HeaderValue::from_str(id).is_ok_and(|id| is_id(&id)));
        assert_eq!(ids, [true, false, false, false]);
        assert_ne!(new_id(), new_id());
    }
}

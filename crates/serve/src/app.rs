//! State common to all requests: models and keys; and the reading of bodies.

use std::collections::HashMap;
use std::future::poll_fn;
use std::net::IpAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use futures_core::Stream as _;
use metrics_exporter_prometheus::PrometheusHandle;
use noregret_stream::Fault;
use noregret_stream::run::threads::processors;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::hub::Hub;
use crate::locks::Unpoisoned;
use crate::model::handle::Handle;
use crate::problem::answer;
use crate::refusal::Refusal;
use crate::safety::keys::{LiveKeys, Right};
use crate::safety::limits::Limits;
use crate::traces::Traces;
use crate::turns;

/// The service.
pub(crate) struct App {
    pub(crate) hub: Hub,
    pub(crate) keys: LiveKeys,
    pub(crate) dir: PathBuf,
    pub(crate) metrics: PrometheusHandle,
    /// Where traces of requests go, if anywhere.
    pub(crate) traces: Option<Traces>,
    /// Number of requests of every client, and with every key that has a limit, in the current second.
    pub(crate) seen: Mutex<HashMap<Asking, (Instant, u32)>>,
}

/// Whose requests are counted.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asking {
    /// A client, by its address.
    Client(IpAddr),
    /// The holder of a key, by its name.
    Key(String),
}

impl App {
    pub(crate) fn limits(&self) -> &Limits {
        &self.hub.limits
    }

    /// Recovers the models that are left on threads of their own, as many as there are processors.
    /// Fails if a thread cannot be started.
    pub(crate) fn recover(self: &Arc<Self>) -> Result<(), Fault> {
        for _ in 0..processors().min(self.hub.left()) {
            let app = Arc::clone(self);
            let recovery = std::thread::Builder::new().name("recovery".to_owned());
            recovery
                .spawn(move || while app.hub.recover_next() {})
                .map_err(|error| format!("a thread for recovery cannot be started: {error}"))?;
        }
        Ok(())
    }

    /// Checks that `headers` have a key with `right`.
    /// Refused with 401 and 403.
    pub(crate) fn allow(
        &self,
        headers: &HeaderMap,
        right: Right,
        model: Option<&str>,
    ) -> Result<(), Refusal> {
        self.keys.now().check(key_of(headers), right, model)
    }

    /// Counts a request of `asking`, of which at most `most` are answered in a second.
    /// Refused with 429 beyond the limit.
    pub(crate) fn count(&self, asking: Asking, most: Option<u32>) -> Result<(), Refusal> {
        const MOST_CLIENTS: usize = 100_000;
        let Some(most) = most else { return Ok(()) };
        let whose = if let Asking::Key(_) = asking { "of the key" } else { "for a client" };
        let mut seen = self.seen.lock().unpoisoned();
        let now = Instant::now();
        if seen.len() >= MOST_CLIENTS {
            seen.retain(|_, (since, _)| now.duration_since(*since) < Duration::from_secs(1));
        }
        let (since, count) = seen.entry(asking).or_insert((now, 0));
        if now.duration_since(*since) >= Duration::from_secs(1) {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        if *count > most {
            return Err(Refusal::too_often(format!(
                "more than {most} requests in a second, which is the limit {whose}"
            )));
        }
        Ok(())
    }

    /// Reads a body.
    /// Refused with 413 beyond the limit, 408 after a timeout.
    pub(crate) async fn bytes(&self, body: Body) -> Result<Bytes, Refusal> {
        self.bytes_within(body, self.limits().body, "--body").await
    }

    /// Reads the body of an import, a model file.
    /// Fails as [`App::bytes`] does.
    pub(crate) async fn file(&self, body: Body) -> Result<Bytes, Refusal> {
        self.bytes_within(body, self.limits().import, "--import").await
    }

    async fn bytes_within(&self, body: Body, most: usize, flag: &str) -> Result<Bytes, Refusal> {
        let limits = self.limits();
        let read = async {
            let (mut body, mut bytes) = (body.into_data_stream(), Vec::new());
            while let Some(part) = poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await {
                let part = part.map_err(|_| {
                    Refusal::malformed("the body ended early, or is not what its content-encoding says")
                })?;
                if part.len() > most - bytes.len() {
                    return Err(Refusal::too_large(format!(
                        "the body has more than {most} bytes, which is the limit ({flag})"
                    )));
                }
                bytes.extend_from_slice(&part);
            }
            Ok(Bytes::from(bytes))
        };
        tokio::time::timeout(Duration::from_secs(limits.body_seconds), read).await.unwrap_or_else(|_| {
            let what = format!("the body did not arrive within {} seconds", limits.body_seconds);
            Err(Refusal { status: 408, ..Refusal::malformed(what) })
        })
    }

    /// Makes or deletes a model on a separate thread; where nodes have a log in common, that has to answer in
    /// time.
    /// Fails as `work` does, and with 503 where the common log does not answer.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        match &self.hub.node {
            Some(node) => node.in_time(aside(work)).await,
            None => aside(work).await,
        }
    }

    /// Reads a body of JSON.
    /// Fails if it is invalid, with the field.
    pub(crate) async fn json<T: DeserializeOwned>(&self, body: Body) -> Result<T, Refusal> {
        crate::json::parsed(&self.bytes(body).await?)
    }
}

/// Runs long work on a separate thread, so that other requests do not wait.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    // Threads that take turns do their work themselves.
    if turns::here() {
        return work();
    }
    let gone = |_| Refusal::failed("the work was interrupted");
    tokio::task::spawn_blocking(work).await.map_err(gone)?
}

/// The key of a request.
pub(crate) fn key_of(headers: &HeaderMap) -> Option<&str> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // The name of the scheme is the same in capitals and small letters (RFC 9110, 11.1).
    let bearer = text("authorization").and_then(|value| {
        value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, key)| key)
    });
    bearer.or_else(|| text("ocp-apim-subscription-key")).or_else(|| text("api-key")).map(str::trim)
}

/// A request about the model of its path.
pub(crate) struct Ask {
    pub(crate) app: Arc<App>,
    pub(crate) name: String,
    pub(crate) headers: HeaderMap,
}

impl Ask {
    /// Checks that it has a key with `right`.
    /// Refused with 401 and 403.
    pub(crate) fn allow(&self, right: Right) -> Result<(), Refusal> {
        self.app.allow(&self.headers, right, Some(&self.name))
    }

    /// The model, for one with `right`.
    /// Refused with 401, 403, 404, and 503 while it is not there.
    pub(crate) async fn model(&self, right: Right) -> Result<Arc<Handle>, Refusal> {
        self.allow(right)?;
        self.app.hub.found(&self.name).await
    }
}

impl FromRequestParts<Arc<App>> for Ask {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let Named(name) = Named::from_request_parts(parts, app).await?;
        Ok(Self { app: Arc::clone(app), name, headers: parts.headers.clone() })
    }
}

/// Path parameters, with errors in our own form.
pub(crate) struct Named<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        let Path(named) =
            path.map_err(|error| Refusal::malformed(format!("the path: {}", error.body_text())))?;
        Ok(Self(named))
    }
}

/// A JSON response.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let body = serde_json::to_vec(value).unwrap_or_default();
    answer(status, "application/json", body, None)
}

/// Whether a body is lines of JSON.
pub(crate) fn is_lines(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    // Media types are the same in capitals and small letters (RFC 9110, 8.3.1).
    let of_lines = ["application/x-ndjson", "application/ndjson", "application/jsonl"];
    of_lines.iter().any(|one| one.eq_ignore_ascii_case(kind))
}

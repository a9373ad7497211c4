//! Spans, sent by OTLP over HTTP from a thread of their own.

use std::time::Duration;

use async_trait::async_trait;
use axum::http::HeaderMap;
use noregret_stream::Fault;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use super::About;

/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// See the [module](self).
pub(crate) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    propagator: TraceContextPropagator,
}

/// The span of a request.
pub(crate) struct Span(opentelemetry_sdk::trace::Span);

/// Sends requests to a collector.
#[derive(Debug)]
struct Sender(ureq::Agent);

impl Sender {
    fn sent(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let (parts, mut body) = self.0.run(Request::from_parts(parts, body.to_vec()))?.into_parts();
        Ok(Response::from_parts(parts, body.read_to_vec()?.into()))
    }
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // Spans have a thread of their own.
        self.sent(request)
    }
}

impl Traces {
    /// Sends spans to the collector at `url`, such as `http://127.0.0.1:4318`.
    /// Fails if that is no address.
    pub(crate) fn open(url: &str) -> Result<Self, Fault> {
        let agent = ureq::Agent::config_builder().http_status_as_error(false);
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Sender(agent.timeout_global(Some(PATIENCE)).build().into()))
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", url.trim_end_matches('/')))
            .build()
            .map_err(|error| format!("--traces {url}: {error}"))?;
        let resource = match std::env::var_os("OTEL_SERVICE_NAME") {
            Some(_) => Resource::builder(),
            None => Resource::builder().with_service_name("noregret"),
        };
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter);
        let provider = provider.with_resource(resource.build()).build();
        let tracer = provider.tracer("noregret");
        Ok(Self { provider, tracer, propagator: TraceContextPropagator::new() })
    }

    /// The span of a request that has come, of the route that its path belongs to.
    pub(crate) fn begin(&self, headers: &HeaderMap, method: &str, route: Option<&str>) -> Span {
        let parent = self.propagator.extract_with_context(&Context::new(), &HeaderExtractor(headers));
        let name = route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}"));
        let mut attributes = vec![KeyValue::new("http.request.method", method.to_owned())];
        attributes.extend(route.map(|route| KeyValue::new("http.route", route.to_owned())));
        let span = self.tracer.span_builder(name).with_kind(SpanKind::Server).with_attributes(attributes);
        Span(span.start_with_context(&self.tracer, &parent))
    }

    /// Sends what is left, and no more.
    pub(crate) fn end(&self) {
        if let Err(what) = self.provider.shutdown() {
            tracing::warn!("the last traces were not sent: {what}");
        }
    }
}

impl Span {
    /// Ends with the request.
    pub(crate) fn end(mut self, about: &About<'_>) {
        let About { request, client, key, path, model, status } = *about;
        let given = [("client.address", client), ("noregret.key", key), ("noregret.model", model)];
        let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
        for (name, value) in given.chain([("noregret.request", request), ("url.path", path)]) {
            self.0.set_attribute(KeyValue::new(name, value.to_owned()));
        }
        self.0.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
        if status >= 500 {
            self.0.set_status(Status::error(""));
        }
        self.0.end();
    }
}

//! Traces of requests for OpenTelemetry: a span for each, with the id that the request has in the log, as a
//! child of what the client's header `traceparent` names.

#[cfg(feature = "traces")]
mod otlp;

#[cfg(feature = "traces")]
pub(crate) use self::otlp::Traces;
#[cfg(not(feature = "traces"))]
pub(crate) use self::without::Traces;

/// What is known of a request when it has been answered.
#[cfg_attr(not(feature = "traces"), allow(dead_code, reason = "only traces read it"))]
pub(crate) struct About<'a> {
    /// The id of the request.
    pub(crate) request: &'a str,
    pub(crate) client: Option<&'a str>,
    /// The name of its key.
    pub(crate) key: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) model: Option<&'a str>,
    pub(crate) status: u16,
}

#[cfg(not(feature = "traces"))]
mod without {
    use axum::http::HeaderMap;
    use noregret_stream::Fault;

    use super::About;

    /// None: the program was built without OpenTelemetry.
    pub(crate) enum Traces {}

    /// The same for a request.
    pub(crate) enum Span {}

    impl Traces {
        pub(crate) fn open(_: &str) -> Result<Self, Fault> {
            Err(crate::without("traces"))
        }

        pub(crate) fn begin(&self, _: &HeaderMap, _: &str, _: Option<&str>) -> Span {
            match *self {}
        }

        pub(crate) fn end(&self) {
            match *self {}
        }
    }

    impl Span {
        pub(crate) fn end(self, _: &About<'_>) {
            match self {}
        }
    }
}

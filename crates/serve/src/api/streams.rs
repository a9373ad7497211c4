//! Many rounds in one body: lines of JSON in, a line of answer for each out, in their order.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::model::engine::Answer;
use crate::model::event::Event;
use crate::model::handle::Handle;
use crate::refusal::Refusal;

/// The answer to a line.
pub(super) enum Line {
    /// It is there.
    Now(Result<Value, Refusal>),
    /// It comes when its event is durable.
    Later(oneshot::Receiver<Result<Answer, Refusal>>),
}

/// How many answers may wait to be read by the client.
const AHEAD: usize = 1024;

fn lines(bytes: &Bytes) -> Vec<Bytes> {
    let mut lines = Vec::new();
    let mut start = 0;
    for end in
        bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).chain([bytes.len()])
    {
        let line = bytes.slice(start..end);
        if !line.trim_ascii().is_empty() {
            lines.push(line);
        }
        start = (end + 1).min(bytes.len());
    }
    lines
}

fn text(answer: Result<Value, Refusal>) -> Bytes {
    let value = answer.unwrap_or_else(|refusal| {
        let mut error = json!({"status": refusal.status, "detail": refusal.detail});
        if let Some(field) = refusal.field {
            error["field"] = field.into();
        }
        json!({"error": error})
    });
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line.into()
}

fn response(mut answers: mpsc::Receiver<Line>) -> Response {
    let (out, body) = mpsc::channel::<Bytes>(AHEAD);
    tokio::spawn(async move {
        while let Some(line) = answers.recv().await {
            let answer = match line {
                Line::Now(answer) => answer,
                Line::Later(answer) => match answer.await {
                    Ok(done) => done.map(super::rounds::shown),
                    Err(_) => Err(Refusal::busy("the model is being stopped")),
                },
            };
            if out.send(text(answer)).await.is_err() {
                // The client has gone; what is in the queue is done all the same.
                return;
            }
        }
    });
    streamed(body, "application/x-ndjson")
}

/// An answer of pieces as they come.
pub(super) fn streamed(mut pieces: mpsc::Receiver<Bytes>, kind: &'static str) -> Response {
    let stream = stream_of(move |cx| pieces.poll_recv(cx));
    let mut response = Response::new(Body::from_stream(stream));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// What a line asks for.
pub(super) enum Wanted {
    /// An answer that is there.
    Now(Value),
    /// An event.
    Event(Event),
}

/// Does what every line asks for, in their order; many events become durable together.
pub(super) fn acted(
    handle: Arc<Handle>,
    bytes: Bytes,
    wanted: impl Fn(&[u8]) -> Result<Wanted, Refusal> + Send + Sync + 'static,
) -> Response {
    let (sender, answers) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        for line in lines(&bytes) {
            let answer = match wanted(&line) {
                Ok(Wanted::Now(value)) => Line::Now(Ok(value)),
                Ok(Wanted::Event(event)) => match handle.enqueue(event).await {
                    Ok(answer) => Line::Later(answer),
                    Err(refusal) => Line::Now(Err(refusal)),
                },
                Err(refusal) => Line::Now(Err(refusal)),
            };
            if sender.send(answer).await.is_err() {
                return;
            }
        }
    });
    response(answers)
}

/// A stream of what `poll` gives.
fn stream_of(
    poll: impl FnMut(&mut std::task::Context<'_>) -> std::task::Poll<Option<Bytes>> + Send + Unpin + 'static,
) -> impl futures_core::Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    Polled(poll)
}

struct Polled<F>(F);

impl<F> futures_core::Stream for Polled<F>
where
    F: FnMut(&mut std::task::Context<'_>) -> std::task::Poll<Option<Bytes>> + Unpin,
{
    type Item = Result<Bytes, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        (self.0)(cx).map(|piece| piece.map(Ok))
    }
}

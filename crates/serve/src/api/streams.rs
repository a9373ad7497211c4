//! Many rounds in one body: lines of JSON, with one response line for each, in order. Both are streams: a
//! line is answered while later ones are still being written, so a body may be of any length. Lines that
//! were received and not yet applied are bounded in bytes, answers that were not yet read in number.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures_core::Stream;
use noregret_stream::Fault;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::bodies::{Wanted, told};
use crate::model::engine::Answer;
use crate::model::handle::Handle;
use crate::refusal::Refusal;
use crate::safety::limits::Limits;

/// The answer to a line.
enum Line {
    /// Available.
    Now(Result<Value, Refusal>),
    /// Available when the event is durable.
    Later(oneshot::Receiver<Result<Answer, Refusal>>),
}

/// Largest number of answers not yet read by the client.
const AHEAD: usize = 1024;

/// A part of the body, which counts as waiting until its permit is dropped.
type Piece = Result<(Bytes, OwnedSemaphorePermit), Refusal>;

/// Receives a body. As many bytes as a body may have are taken from a client that does not read its answers
/// yet; after that it has to read some.
async fn received(body: Body, limits: Limits, pieces: mpsc::UnboundedSender<Piece>) {
    let room = u32::try_from(limits.body).unwrap_or(u32::MAX).max(1);
    let places = Arc::new(Semaphore::new(room as usize));
    let mut body: BodyDataStream = body.into_data_stream();
    let time = Duration::from_secs(limits.body_seconds);
    loop {
        let next = tokio::time::timeout(time, poll_fn(|cx| Pin::new(&mut body).poll_next(cx))).await;
        let piece = match next {
            Ok(None) => return,
            Ok(Some(Ok(bytes))) => {
                let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX).min(room);
                let Ok(permit) = Arc::clone(&places).acquire_many_owned(size).await else { return };
                Ok((bytes, permit))
            }
            Ok(Some(Err(_))) => Err(Refusal::malformed("the body ended early, in this line")),
            Err(_) => {
                let what = format!("nothing arrived of the body for {} seconds", limits.body_seconds);
                Err(Refusal { status: 408, ..Refusal::malformed(what) })
            }
        };
        let ended = piece.is_err();
        // The receiver is gone when the client is.
        if pieces.send(piece).is_err() || ended {
            return;
        }
    }
}

/// The lines of a body as they arrive.
struct Lines {
    pieces: mpsc::UnboundedReceiver<Piece>,
    /// The rest of the last piece.
    piece: Option<(Bytes, OwnedSemaphorePermit)>,
    /// The beginning of a line whose end has not arrived.
    begun: Vec<u8>,
    longest: usize,
    /// Number of the last line, from 1; blank lines count.
    number: u64,
    /// Whether something has arrived since this was last looked at.
    arrived: bool,
    ended: bool,
}

impl Lines {
    fn new(body: Body, limits: &Limits) -> Self {
        let (sender, pieces) = mpsc::unbounded_channel();
        tokio::spawn(received(body, limits.clone(), sender));
        Self {
            pieces,
            piece: None,
            begun: Vec::new(),
            longest: limits.body,
            number: 0,
            arrived: false,
            ended: false,
        }
    }

    /// The next line that is not blank; an error is the last item.
    async fn next(&mut self) -> Option<Result<Vec<u8>, Refusal>> {
        loop {
            if self.ended {
                return None;
            }
            let Some((bytes, permit)) = self.piece.take() else {
                match self.pieces.recv().await {
                    Some(Ok(piece)) => {
                        self.piece = Some(piece);
                        self.arrived = true;
                    }
                    Some(Err(refusal)) => {
                        self.ended = true;
                        self.number += 1;
                        return Some(Err(refusal));
                    }
                    None => {
                        self.ended = true;
                        self.number += 1;
                        let line = std::mem::take(&mut self.begun);
                        return (!line.trim_ascii().is_empty()).then_some(Ok(line));
                    }
                }
                continue;
            };
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(bytes.len());
            if self.begun.len() + length > self.longest {
                self.ended = true;
                self.number += 1;
                let what = format!("the line has more than {} bytes, which is the limit", self.longest);
                return Some(Err(Refusal::too_large(what)));
            }
            self.begun.extend_from_slice(&bytes[..length]);
            let Some(end) = end else { continue };
            if end + 1 < bytes.len() {
                self.piece = Some((bytes.slice(end + 1..), permit));
            }
            self.number += 1;
            let line = std::mem::take(&mut self.begun);
            if !line.trim_ascii().is_empty() {
                return Some(Ok(line));
            }
        }
    }
}

fn text(number: u64, answer: Result<Value, Refusal>) -> Bytes {
    let value = answer.unwrap_or_else(|refusal| {
        let mut error = json!({"line": number, "status": refusal.status, "detail": refusal.detail});
        if let Some(field) = refusal.field {
            error["field"] = field.into();
        }
        json!({"error": error})
    });
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line.into()
}

fn response(handle: Arc<Handle>, mut answers: mpsc::Receiver<(u64, Line)>) -> Response {
    let (out, body) = mpsc::channel::<Streamed>(AHEAD);
    tokio::spawn(async move {
        while let Some((number, line)) = answers.recv().await {
            let answer = match line {
                Line::Now(answer) => answer,
                Line::Later(answer) => handle.answered(answer).await.map(told),
            };
            if out.send(Ok(text(number, answer))).await.is_err() {
                // The client has disconnected; queued events are still applied.
                return;
            }
        }
    });
    streamed(None, body, "application/x-ndjson")
}

/// A piece of a streamed response, or why there will be no more: its connection is closed then, so that
/// nobody takes what has arrived for all of it.
pub(super) type Streamed = Result<Bytes, Fault>;

/// A streamed response, whose `first` piece has been received already.
pub(super) fn streamed(
    first: Option<Streamed>,
    pieces: mpsc::Receiver<Streamed>,
    kind: &'static str,
) -> Response {
    let mut response = Response::new(Body::from_stream(Pieces { first, pieces }));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Handles all lines of a body in order; many events are committed together.
pub(super) fn acted(
    handle: Arc<Handle>,
    body: Body,
    wanted: impl Fn(&Handle, &[u8]) -> Result<Wanted, Refusal> + Send + Sync + 'static,
) -> Response {
    let (sender, answers) = mpsc::channel(AHEAD);
    let mut lines = Lines::new(body, &handle.limits);
    let answering = Arc::clone(&handle);
    tokio::spawn(async move {
        let mut reader = None;
        while let Some(line) = lines.next().await {
            let answer = match line.and_then(|line| wanted(&handle, &line)) {
                Ok(Wanted::Forecast(asked)) => {
                    // What was answered before the line was written is included, unless copying takes long.
                    if std::mem::take(&mut lines.arrived) || reader.is_none() {
                        reader = Some(handle.look().await);
                    }
                    let at = match &reader {
                        Some(Ok(reader)) => handle.forecast(reader, &asked).await,
                        Some(Err(refusal)) => Err(refusal.clone()),
                        None => Err(Refusal::failed("the model cannot be read")),
                    };
                    Line::Now(at.map(|at| told(Answer::Forecast(at))))
                }
                Ok(Wanted::Event(event)) => match handle.enqueue(*event).await {
                    Ok(answer) => Line::Later(answer),
                    Err(refusal) => Line::Now(Err(refusal)),
                },
                Err(refusal) => {
                    handle.refuse();
                    Line::Now(Err(refusal))
                }
            };
            if sender.send((lines.number, answer)).await.is_err() {
                return;
            }
        }
    });
    response(answering, answers)
}

/// The body of a streamed response.
struct Pieces {
    first: Option<Streamed>,
    pieces: mpsc::Receiver<Streamed>,
}

impl Stream for Pieces {
    type Item = Streamed;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Streamed>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => self.pieces.poll_recv(cx),
        }
    }
}

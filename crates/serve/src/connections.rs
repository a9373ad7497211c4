//! Connections: a bounded number, with time limits and graceful shutdown.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Version, header};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use noregret_stream::Stop;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Sleep;

use crate::safety::limits::Limits;

/// Time after which remaining connections are closed at shutdown; their requests are answered, or
/// not applied at all.
const GRACE: Duration = Duration::from_secs(5);

/// Interval between lines about connections that cannot be taken.
const SAID_EVERY: Duration = Duration::from_secs(10);

/// Largest body that is read to its end although its request is already answered, in bytes.
const MOST_UNREAD: u64 = 1 << 20;

/// Serves `router` until `stop` is requested; then finishes the current requests.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: &Stop, limits: &Limits) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let idle = Duration::from_secs(limits.idle_seconds);
    let answer = Duration::from_secs(limits.answer_seconds);
    let (end, ending) = watch::channel(());
    let mut open = JoinSet::new();
    let mut said: Option<Instant> = None;
    let mut say = |what: &dyn std::fmt::Display| {
        if said.is_none_or(|said| said.elapsed() >= SAID_EVERY) {
            said = Some(Instant::now());
            tracing::warn!("{what}");
        }
    };
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = asked(stop) => break,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                say(&format_args!("connections cannot be taken: {error} (each is an open file: ulimit -n)"));
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Beyond the limit a connection is closed at once, and its client may retry.
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            let (router, ending) = (router.clone(), ending.clone());
            // Answers are small and must not be delayed.
            let _ = stream.set_nodelay(true);
            let whole = Arc::new(AtomicBool::new(true));
            let stream = TimedStream { stream, most: answer, waits: None, whole };
            open.spawn(async move {
                one(stream, from, router, idle, ending).await;
                drop(place);
            });
        } else {
            let most = limits.connections;
            say(&format_args!("{most} connections are open, the limit (--connections); others are closed"));
        }
        while open.try_join_next().is_some() {}
    }
    drop((listener, end));
    let all = async { while open.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, all).await;
}

/// Serves one connection. `idle` is the time limit for a request's head, and between requests.
async fn one(
    stream: TimedStream,
    from: SocketAddr,
    router: Router,
    idle: Duration,
    mut ending: watch::Receiver<()>,
) {
    let router = TowerToHyperService::new(router);
    let (stuck, whole) = (Arc::new(Notify::new()), Arc::clone(&stream.whole));
    let (of_body, of_answer) = (Arc::clone(&stuck), Arc::clone(&stream.whole));
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(from));
        let (is_old, whole) = (request.version() == Version::HTTP_10, Arc::clone(&of_answer));
        let body = |body| WholeBody { body: Some(body), idle, stuck: Arc::clone(&of_body) };
        let answering = router.call(request.map(body));
        async move {
            let mut answer = answering.await?;
            // HTTP/1.0 has no pieces: the end of an answer of unknown length is that of the connection.
            if is_old && answer.body().size_hint().exact().is_none() {
                *answer.version_mut() = Version::HTTP_10;
                answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                whole.store(false, Ordering::Relaxed);
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(idle)
            .serve_connection(TokioIo::new(stream), service)
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stuck.notified() => return,
        _ = ending.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
    };
    // A client that disconnects is not an error.
    if ended.is_ok() {
        whole.store(true, Ordering::Relaxed);
    }
}

/// A connection whose client has to read its answers: if it takes nothing of one for a while, writing fails,
/// and the connection ends.
struct TimedStream {
    stream: TcpStream,
    /// Time limit for taking something.
    most: Duration,
    /// Runs while nothing can be written.
    waits: Option<Pin<Box<Sleep>>>,
    /// False while an answer is written whose end is that of the connection.
    whole: Arc<AtomicBool>,
}

impl Drop for TimedStream {
    /// An answer that breaks off is no whole one: its client is told by a reset.
    fn drop(&mut self) {
        if !self.whole.load(Ordering::Relaxed) {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl TimedStream {
    /// `written`, unless nothing could be written for too long.
    fn in_time<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let most = self.most;
        let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep(most)));
        waits.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The body of a request, which is read to its end even if the answer does not depend on it: a connection
/// with unread bytes would be closed after the answer, and a client that has already sent its next request on
/// it would see that request fail.
struct WholeBody {
    body: Option<Incoming>,
    /// Time limit for reading the rest.
    idle: Duration,
    /// Told if the rest has not been read by then: nothing can follow it on its connection.
    stuck: Arc<Notify>,
}

impl Body for WholeBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.body.as_mut().map_or(Poll::Ready(None), |body| Pin::new(body).poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for WholeBody {
    fn drop(&mut self) {
        let Some(mut body) = self.body.take() else { return };
        let is_short = body.size_hint().upper().is_some_and(|bytes| bytes <= MOST_UNREAD);
        if body.is_end_stream() || !is_short {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (idle, stuck) = (self.idle, Arc::clone(&self.stuck));
        runtime.spawn(async move {
            let rest =
                async { while let Some(Ok(_)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {} };
            if tokio::time::timeout(idle, rest).await.is_err() {
                stuck.notify_one();
            }
        });
    }
}

/// Completes when a stop is requested.
pub(crate) async fn asked(stop: &Stop) {
    while stop.asked().is_none() {
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

//! Bodies that were packed with gzip, unpacked as they arrive. There may be several members in one, as in
//! files that were packed apart and then put together, and zeros behind each, as in files.

use std::io::{self, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::Request;
use axum::http::header;
use flate2::write::GzDecoder;
use futures_core::Stream;

/// Number of bytes that are unpacked at once: they become some thousand times as many at most.
const PIECE: usize = 4096;

/// The request with its body as it was before it was packed.
pub(crate) fn unpacked(request: Request) -> Request {
    let (mut parts, body) = request.into_parts();
    parts.headers.remove(header::CONTENT_ENCODING);
    parts.headers.remove(header::CONTENT_LENGTH);
    let members = Members { member: GzDecoder::new(Vec::new()), between: false };
    let body = Unpacked { body: body.into_data_stream(), packed: Bytes::new(), members, ended: false };
    Request::from_parts(parts, Body::from_stream(body))
}

/// See the [module](self).
struct Unpacked {
    body: BodyDataStream,
    /// What has arrived, and is not unpacked yet.
    packed: Bytes,
    members: Members,
    ended: bool,
}

/// The members of a body.
struct Members {
    member: GzDecoder<Vec<u8>>,
    /// Whether a member has ended, and no other one has begun.
    between: bool,
}

impl Members {
    fn unpack(&mut self, mut piece: &[u8]) -> io::Result<()> {
        while !piece.is_empty() {
            if self.between && piece[0] == 0 {
                piece = &piece[1..];
                continue;
            }
            self.between = false;
            match self.member.write(piece)? {
                0 => {
                    self.member.try_finish()?;
                    let unpacked = std::mem::take(self.member.get_mut());
                    self.member = GzDecoder::new(unpacked);
                    self.between = true;
                }
                read => piece = &piece[read..],
            }
        }
        // A line is answered when it has arrived, so nothing may stay in the decoder.
        if self.between { Ok(()) } else { self.member.flush() }
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.between { Ok(()) } else { self.member.try_finish() }
    }
}

impl Stream for Unpacked {
    type Item = Result<Bytes, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { body, packed, members, ended } = &mut *self;
        loop {
            let done = if !packed.is_empty() {
                let piece = packed.split_to(packed.len().min(PIECE));
                members.unpack(&piece)
            } else if *ended {
                return Poll::Ready(None);
            } else {
                match Pin::new(&mut *body).poll_next(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(Ok(bytes))) => {
                        *packed = bytes;
                        continue;
                    }
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
                    Poll::Ready(None) => {
                        *ended = true;
                        members.finish()
                    }
                }
            };
            if let Err(error) = done {
                packed.clear();
                *ended = true;
                return Poll::Ready(Some(Err(error.into())));
            }
            let unpacked = std::mem::take(members.member.get_mut());
            if !unpacked.is_empty() {
                return Poll::Ready(Some(Ok(unpacked.into())));
            }
        }
    }
}

//! Clients that stop, and what they hold.

use std::io::{ErrorKind, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use noregret_serve::Limits;

use super::support::Service;

/// A client that goes on asking and reads no answer loses its connection, and with it its place.
#[test]
fn a_client_that_reads_nothing_is_disconnected() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::with(folder.path(), Limits { answer_seconds: 1, ..Limits::default() });
    let mut stream = TcpStream::connect(service.address).expect("a connection");
    stream.set_write_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let many = "GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1000);
    let ended = loop {
        if let Err(error) = stream.write_all(many.as_bytes()) {
            break error;
        }
    };
    // And not that nothing was read of it in twenty seconds.
    assert!(matches!(ended.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{ended:?}");
    // Others are served.
    service.get("/openapi.json").ok(200);
}

//! Traces of requests, as a collector of OpenTelemetry hears of them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};

use crate::serve::{Served, agent};
use crate::util::Folder;

/// Answers everything that is sent, and passes on the paths and bodies.
fn collect(stream: TcpStream, heard: &Sender<(String, Vec<u8>)>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut answers = stream;
    loop {
        let (mut path, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or_default() == 0 {
                return;
            }
            let line = line.trim_end().to_ascii_lowercase();
            if path.is_empty() {
                path = line.split(' ').nth(1).unwrap_or_default().to_owned();
            } else if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            } else if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        // Before the answer, on which the program may end.
        let _ = heard.send((path, body));
        answers.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
    }
}

/// Every request has a span with its id, route and model, in the trace of its client; keys are in none.
#[test]
fn requests_are_traced() {
    let folder = Folder::new();
    let key = folder.run("serve --dir data --add-key site").succeeded().stdout;
    let key = key.trim();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let collector = format!("http://{}", listener.local_addr().unwrap());
    let (sender, heard) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || collect(stream, &sender));
        }
    });
    let arguments = format!("serve --listen 127.0.0.1:0 --dir data --traces {collector}");
    let served = Served::try_of(&mut folder.command(&arguments)).expect("it starts");
    let url = format!("{}/v1/models/site", served.base);
    let with = format!("Bearer {key}");
    let put = agent().put(&url).header("authorization", &with);
    assert_eq!(put.send("{\"feedback\": \"bandit\", \"labels\": [\"a\", \"b\"]}").unwrap().status(), 201);
    let decide = agent()
        .post(format!("{url}/decide"))
        .header("authorization", &with)
        .header("x-request-id", "mine-17")
        .header("traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01");
    assert_eq!(decide.send("{\"x\": {\"hour\": 9}}").unwrap().status(), 200);
    // What is left is sent at the end.
    assert_eq!(served.terminate(), Some(143));
    let all: Vec<(String, Vec<u8>)> = heard.try_iter().collect();
    assert!(!all.is_empty() && all.iter().all(|(path, _)| path == "/v1/traces"), "{all:?}");
    let bytes: Vec<u8> = all.into_iter().flat_map(|(_, body)| body).collect();
    let has = |part: &[u8]| bytes.windows(part.len()).any(|bytes| bytes == part);
    let trace = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef_u128.to_be_bytes();
    let route = b"POST /v1/models/{name}/decide";
    for part in [&trace[..], route, b"mine-17", b"noregret.model", b"service.name"] {
        assert!(has(part), "{part:?} is not among {} bytes", bytes.len());
    }
    assert!(!has(key.as_bytes()));
    let refused = folder.run("serve --dir other --traces nowhere:at:all");
    assert!(refused.code == 2 && refused.stderr.contains("--traces nowhere:at:all"), "{}", refused.stderr);
}

//! A service in a folder of its own, on a port of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use noregret_serve::{Limits, Options, serve};
use noregret_stream::{Fault, Stop};
use serde_json::Value;

/// A running service.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<Result<(), Fault>>>,
    agent: ureq::Agent,
    pub(crate) key: Option<String>,
}

/// An answer: its status, its text, and some headers.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) bytes: Vec<u8>,
    pub(crate) kind: String,
    pub(crate) retry_after: Option<String>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.bytes)))
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(self.bytes.clone()).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The answer's JSON, if it has the status.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.bytes));
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }
}

impl Service {
    pub(crate) fn start(dir: &Path) -> Self {
        Self::with(dir, Limits::default())
    }

    pub(crate) fn with(dir: &Path, limits: Limits) -> Self {
        let service = Self::try_start(dir, limits, "127.0.0.1:0").expect("starts");
        while service.get("/readyz").status != 200 {
            std::thread::sleep(Duration::from_millis(5));
        }
        service
    }

    pub(crate) fn try_start(dir: &Path, limits: Limits, listen: &str) -> Result<Self, String> {
        let cors = vec!["https://example.com".to_owned()];
        let listen = listen.parse().expect("an address");
        let options = Options { listen, dir: dir.to_owned(), limits, cors, nodes: None, traces: None };
        let (stop, (sender, ready)) = (Stop::default(), channel());
        let asked = stop.clone();
        let thread = std::thread::spawn(move || {
            serve(&options, &asked, |address| sender.send(address).expect("the test waits"))
        });
        let Ok(address) = ready.recv_timeout(Duration::from_secs(20)) else {
            return Err(thread.join().expect("no panic").expect_err("it did not start").into());
        };
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Ok(Self { address, stop, thread: Some(thread), agent, key: None })
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn send(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        self.send_encoded(method, path, kind, None, body)
    }

    /// The same for a body in a content encoding.
    pub(crate) fn send_encoded(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        encoding: Option<&str>,
        body: &[u8],
    ) -> Answer {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("content-type", kind);
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        if let Some(encoding) = encoding {
            request = request.header("content-encoding", encoding);
        }
        // Requests that only look have no body at all.
        let answered = if body.is_empty() {
            self.agent.run(request.body(()).expect("a request"))
        } else {
            self.agent.run(request.body(body.to_vec()).expect("a request"))
        };
        let mut response = answered.expect("an answer");
        let text = |response: &ureq::http::Response<ureq::Body>, name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (kind, retry_after) = (text(&response, "content-type"), text(&response, "retry-after"));
        Answer {
            status: response.status().as_u16(),
            kind: kind.unwrap_or_default(),
            retry_after,
            bytes: response.body_mut().with_config().limit(100 << 20).read_to_vec().expect("a body"),
        }
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, "application/json", body.to_string().as_bytes())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, "application/json", body.to_string().as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "application/json", b"")
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, "application/json", b"")
    }

    /// Stops in good order.
    pub(crate) fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stop.flag().store(15, std::sync::atomic::Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("no panic").expect("ends in good order");
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.end();
        }
    }
}

/// The newest snapshot of a model.
pub(crate) fn newest_snapshot(dir: &Path, model: &str) -> PathBuf {
    let folder = dir.join("models").join(model).join("snapshots");
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    all.sort();
    all.pop().expect("a snapshot")
}

//! Redis streams: their addresses, and their entries as lines of JSON.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::{Client, Connection, RedisError, Value};

use crate::fault::{Fault, fault};
use crate::read::error::{ReadError, shown};
use crate::read::format::Format;
use crate::read::live::{Silence, Stop};
use crate::read::options::{REDIS, ReadOptions};
use crate::read::source::Source;

/// The environment variable with the password, as for `redis-cli`.
const PASSWORD: &str = "REDISCLI_AUTH";
/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(30);
/// Most entries of an answer.
const ENTRIES: usize = 500;
/// Milliseconds between two looks whether the run is to stop, while nothing comes.
const LOOK: u64 = 50;
/// Number of looks without an entry after which the writer is assumed to be waiting.
const SILENCE: usize = 6;

/// The address of a stream.
#[derive(Debug, PartialEq)]
pub(crate) struct Address {
    /// Host and port.
    server: String,
    user: Option<String>,
    database: u32,
    pub(crate) stream: String,
    /// Number of looks without an entry after which the stream is taken to be at its end.
    patience: Option<u64>,
}

impl Address {
    pub(crate) fn of(text: &str) -> Result<Self, Fault> {
        let refused =
            |what: &str| fault!("{what}; an address is {REDIS}HOST:PORT/DATABASE?stream=NAME&wait=SECONDS");
        let rest = text.strip_prefix(REDIS).ok_or_else(|| refused("is no address of a Redis stream"))?;
        let (place, asked) = rest.split_once('?').unwrap_or((rest, ""));
        let (server, database) = place.split_once('/').unwrap_or((place, ""));
        let database: u32 = match database {
            "" => 0,
            number => number.parse().map_err(|_| refused("its database is no number"))?,
        };
        let (user, server) = match server.rsplit_once('@') {
            Some((user, server)) => (Some(user.to_owned()), server),
            None => (None, server),
        };
        if user.as_ref().is_some_and(|user| user.contains(':')) {
            return Err(fault!(
                "has a password, which model files and messages would show; it belongs in the environment variable {PASSWORD}"
            ));
        }
        let (mut stream, mut patience) = (None, None);
        for part in asked.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some(("stream", name)) if !name.is_empty() => stream = Some(name.to_owned()),
                Some(("wait", seconds)) => {
                    let seconds: Option<f64> = seconds.parse().ok();
                    let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
                    let seconds = seconds.ok_or_else(|| refused("its wait is no number of seconds"))?;
                    patience = Some((1000.0 * seconds / LOOK as f64).ceil() as u64);
                }
                _ => return Err(refused(&format!("has {}", shown(part)))),
            }
        }
        let stream = stream.ok_or_else(|| refused("names no stream"))?;
        Ok(Self { server: server.to_owned(), user, database, stream, patience })
    }

    pub(crate) fn connect(&self) -> io::Result<Connection> {
        let client = Client::open(format!("{REDIS}{}/", self.server)).map_err(failed)?;
        let mut connection = client.get_connection_with_timeout(CONNECT).map_err(failed)?;
        connection.set_read_timeout(Some(ANSWER)).map_err(failed)?;
        if let Ok(password) = std::env::var(PASSWORD) {
            let mut command = redis::cmd("AUTH");
            if let Some(user) = &self.user {
                command.arg(user.as_str());
            }
            command.arg(password);
            command.query::<Value>(&mut connection).map_err(failed)?;
        }
        redis::cmd("SELECT").arg(self.database).query::<Value>(&mut connection).map_err(failed)?;
        Ok(connection)
    }
}

/// The error of the server, or of the connection to it.
pub(crate) fn failed(error: RedisError) -> io::Error {
    io::Error::other(format!("Redis: {error}"))
}

/// What the server says about a stream; nothing if there is no such stream yet.
pub(crate) fn about(connection: &mut Connection, stream: &str) -> HashMap<String, Value> {
    redis::cmd("XINFO").arg("STREAM").arg(stream).query(connection).unwrap_or_default()
}

/// The two numbers of an id, such as `1526919030474-55`, which order entries.
fn order(id: &str) -> Option<(u64, u64)> {
    let (time, number) = id.split_once('-')?;
    Some((time.parse().ok()?, number.parse().ok()?))
}

/// The entries of a stream as a pipe: those after `options.after`, or all, and those to come.
pub(crate) fn source(address: &str, options: &ReadOptions) -> Result<Source, ReadError> {
    let refused = |what: Fault| ReadError::new(address, 0, what.into());
    let of = Address::of(address).map_err(refused)?;
    if let Some(format) = options.format.filter(|format| *format != Format::Ndjson) {
        let format = format.name();
        return Err(refused(fault!(
            "is a Redis stream, and was to be read as {format}; leave out the format"
        )));
    }
    if let Some(id) = &options.id {
        return Err(refused(fault!(
            "is a Redis stream, whose rows have the ids of their entries as names, and not {}; leave it out",
            shown(id)
        )));
    }
    let lost = |error: io::Error| ReadError::new(address, 0, fault!("{error}").into());
    let mut server = of.connect().map_err(lost)?;
    if let Some(after) = &options.after {
        let last = about(&mut server, &of.stream).remove("last-generated-id");
        let last = last.as_ref().map(text).unwrap_or_default();
        if order(&last).is_some_and(|last| order(after).is_some_and(|after| last < after)) {
            return Err(refused(fault!(
                "its last entry is {last}, before the entry {after} up to which the model has learnt: it is another stream, \
                 or the server has lost entries"
            )));
        }
    }
    let entries = Shared(Arc::new(Mutex::new(Entries {
        server,
        stream: of.stream,
        after: options.after.clone().unwrap_or_else(|| "0-0".to_owned()),
        stop: options.stop.clone(),
        patience: of.patience,
        idle: 0,
        lines: Vec::new(),
        given: 0,
    })));
    let silence = entries.clone();
    let silent: Silence = Box::new(move || silence.with(Entries::is_silent));
    let input: Box<dyn Read + Send> = Box::new(entries);
    Source::from_pipe((input, Some(silent)), address)
}

/// The entries of a stream, as lines.
struct Entries {
    server: Connection,
    stream: String,
    /// The id of the last entry that was read.
    after: String,
    stop: Stop,
    patience: Option<u64>,
    /// Number of looks without an entry since the last one.
    idle: u64,
    /// `lines[given..]` has not been read yet.
    lines: Vec<u8>,
    given: usize,
}

impl Entries {
    /// Looks for more entries, for a while. Returns whether there were some.
    fn fetch(&mut self) -> io::Result<bool> {
        let mut command = redis::cmd("XREAD");
        command.arg("COUNT").arg(ENTRIES).arg("BLOCK").arg(LOOK);
        command.arg("STREAMS").arg(self.stream.as_str()).arg(self.after.as_str());
        let reply: Value = command.query(&mut self.server).map_err(failed)?;
        (self.lines, self.given) = (Vec::new(), 0);
        let entries = of_first_stream(reply);
        self.idle = if entries.is_empty() { self.idle + 1 } else { 0 };
        for entry in &entries {
            let Value::Array(entry) = entry else { return Err(strange(entry)) };
            let [Value::BulkString(id), Value::Array(fields)] = entry.as_slice() else {
                return Err(strange(&Value::Array(entry.clone())));
            };
            self.after = String::from_utf8_lossy(id).into_owned();
            let fields: Vec<Cow<'_, str>> = fields.iter().map(text).collect();
            self.lines.extend_from_slice(line(&self.after, &fields).as_bytes());
        }
        Ok(!entries.is_empty())
    }

    fn is_silent(&mut self) -> bool {
        self.given == self.lines.len() && (0..SILENCE).all(|_| matches!(self.fetch(), Ok(false)))
    }

    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.lines.len() {
            if self.stop.asked().is_some() {
                return Err(io::Error::other("the run is to stop"));
            }
            if !self.fetch()? && self.patience.is_some_and(|most| self.idle >= most) {
                return Ok(0);
            }
        }
        let rest = &self.lines[self.given..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}

/// [`Entries`] that are read, and tested for silence.
#[derive(Clone)]
struct Shared(Arc<Mutex<Entries>>);

impl Shared {
    fn with<T>(&self, work: impl FnOnce(&mut Entries) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Read for Shared {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.with(|entries| entries.read(out))
    }
}

/// The entries in an answer to XREAD: a list of streams, each a list of its name and its entries.
fn of_first_stream(reply: Value) -> Vec<Value> {
    let Value::Array(mut streams) = reply else { return vec![] };
    let Some(Value::Array(mut stream)) = streams.pop() else { return vec![] };
    match stream.pop() {
        Some(Value::Array(entries)) => entries,
        _ => vec![],
    }
}

fn strange(entry: &Value) -> io::Error {
    io::Error::other(format!("Redis: {entry:?} is no entry of a stream"))
}

fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes),
        Value::SimpleString(text) => Cow::Borrowed(text),
        Value::Int(number) => Cow::Owned(number.to_string()),
        _ => Cow::Borrowed(""),
    }
}

/// The line of an entry: its fields as keys, or the object in its only field `row`. It begins with the name
/// of the row, which a row that cannot be read then has, and which a later key of the same name replaces.
fn line(id: &str, fields: &[Cow<'_, str>]) -> String {
    let quoted = |text: &str| serde_json::to_string(text).expect("a string is JSON");
    let id = quoted(id);
    if let [name, row] = fields
        && name == "row"
    {
        let row = row.trim().replace(['\n', '\r'], " ");
        return match row.strip_prefix('{').and_then(|row| row.strip_suffix('}')) {
            Some(keys) if keys.trim().is_empty() => format!("{{\"tag\":{id}}}\n"),
            Some(keys) => format!("{{\"tag\":{id},{keys},\"tag\":{id}}}\n"),
            None => format!("{{\"tag\":{id},{row}\n"),
        };
    }
    let mut line = format!("{{\"tag\":{id}");
    for pair in fields.chunks_exact(2).filter(|pair| pair[0] != "tag") {
        line.push_str(&format!(",{}:{}", quoted(&pair[0]), quoted(&pair[1])));
    }
    line.push_str("}\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_server_and_stream() {
        let address = Address::of("redis://ann@host:6380/2?stream=a:b&wait=0.2").unwrap();
        let expected = Address {
            server: "host:6380".to_owned(),
            user: Some("ann".to_owned()),
            database: 2,
            stream: "a:b".to_owned(),
            patience: Some(4),
        };
        assert_eq!(address, expected);
        let least = Address::of("redis://host?stream=a").unwrap();
        assert_eq!((least.server.as_str(), least.database, least.patience), ("host", 0, None));
        for (address, what) in [
            ("redis://host/0", "names no stream; "),
            ("redis://host/0?stream=", "has \"stream=\"; "),
            ("redis://host/x?stream=a", "its database is no number; "),
            ("redis://host?stream=a&wait=-1", "its wait is no number of seconds; "),
            ("redis://host?stream=a&group=b", "has \"group=b\"; "),
            ("redis://ann:secret@host?stream=a", "has a password, which "),
        ] {
            let said = Address::of(address).unwrap_err().to_string();
            assert!(said.starts_with(what), "{address}: {said}");
        }
    }

    #[test]
    fn entries_are_rows_with_the_name_of_their_id() {
        let of = |fields: &[&str]| {
            let fields: Vec<Cow<'_, str>> = fields.iter().map(|text| Cow::Borrowed(*text)).collect();
            line("7-0", &fields)
        };
        assert_eq!(
            of(&["age", "37", "tag", "x", "plan", "a\nb"]),
            "{\"tag\":\"7-0\",\"age\":\"37\",\"plan\":\"a\\nb\"}\n"
        );
        let row = of(&["row", " {\"age\": 37,\n \"tag\": \"x\"}"]);
        let read: HashMap<String, serde_json::Value> = serde_json::from_str(&row).unwrap();
        assert_eq!((read["tag"].as_str(), read["age"].as_u64()), (Some("7-0"), Some(37)));
        assert_eq!(row.matches('\n').count(), 1);
        assert_eq!(of(&["row", "{ }"]), "{\"tag\":\"7-0\"}\n");
        // A row that is no object is a bad row, after its name.
        let bad = of(&["row", "37"]);
        assert!(
            bad.starts_with("{\"tag\":\"7-0\",") && serde_json::from_str::<serde_json::Value>(&bad).is_err()
        );
    }

    #[test]
    fn ids_are_in_the_order_of_their_numbers() {
        assert!(order("9-0") < order("10-0") && order("10-2") < order("10-11"));
        assert_eq!(order("x"), None);
    }
}

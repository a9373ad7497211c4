//! Forecasts as entries of a Redis stream.

use std::io::{self, Write};

use redis::{Connection, Value};

use crate::read::redis::{Address, about, failed};

/// Objects of JSON, one a line, each written as the entry whose id is its key `id`. The server refuses an id
/// that is not larger than the last one, so that an entry that comes again is not there twice.
struct Entries {
    server: Connection,
    stream: String,
    /// The beginning of a line.
    line: Vec<u8>,
    /// Whether an entry has been written: later ones are new, too.
    begun: bool,
}

/// Opens the stream at an address.
/// Fails if the address is wrong, or the server cannot be reached.
pub(super) fn open(address: &str) -> io::Result<Box<dyn Write + Send>> {
    let of = Address::of(address).map_err(io::Error::other)?;
    Ok(Box::new(Entries { server: of.connect()?, stream: of.stream, line: Vec::new(), begun: false }))
}

impl Write for Entries {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.add(&line)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Entries {
    fn add(&mut self, line: &[u8]) -> io::Result<()> {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(line)?;
        let id = object.get("id").and_then(|id| id.as_str()).unwrap_or_default();
        let mut command = redis::cmd("XADD");
        command.arg(self.stream.as_str()).arg(id);
        for (name, value) in object.iter().filter(|(name, _)| *name != "id") {
            command.arg(name.as_str()).arg(match value {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            });
        }
        match command.query::<Value>(&mut self.server) {
            Ok(_) => self.begun = true,
            Err(error) if error.to_string().contains("equal or smaller") => self.check_written(id)?,
            Err(error) => return Err(failed(error)),
        }
        Ok(())
    }

    /// Checks that the entry `id`, which the server has refused, was written before the run began.
    fn check_written(&mut self, id: &str) -> io::Result<()> {
        let stream = &self.stream;
        let mut command = redis::cmd("XRANGE");
        command.arg(stream.as_str()).arg(id).arg(id);
        let found = command.query::<Value>(&mut self.server).map_err(failed)?;
        let is_there = matches!(found, Value::Array(entries) if !entries.is_empty());
        let about = about(&mut self.server, stream);
        let number = |key: &str| match about.get(key) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        };
        // Servers before Redis 7 do not say whether something was deleted.
        let (added, length) = (number("entries-added"), number("length"));
        let deleted = added.is_none() || added != length;
        if !self.begun && (is_there || deleted) {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "the stream {stream} has entries after {id} that another program has written; a stream for forecasts has one run as its writer"
        )))
    }
}

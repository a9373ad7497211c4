//! A JSON array of objects, also an indented one, as lines: one for each object.

use std::io::{self, Read};

/// Translates the bytes of an array. There are never more bytes than before.
pub(crate) struct Objects {
    input: Box<dyn Read + Send>,
    /// Number of brackets and braces that are open, that of the array included.
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// Whether a line is to be ended before the next object.
    open_line: bool,
}

impl Objects {
    /// `input` begins with the bracket of the array.
    pub(crate) fn new(input: Box<dyn Read + Send>) -> Self {
        Self { input, depth: 0, in_text: false, escaped: false, open_line: false }
    }

    /// Whether `bytes` begin an array of objects; `None` if more bytes are needed.
    pub(crate) fn begin(bytes: &[u8]) -> Option<bool> {
        let mut signs = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
        match (signs.next()?, signs.next()) {
            (b'[', next) => next.map(|next| matches!(next, b'{' | b']')),
            _ => Some(false),
        }
    }

    /// The byte in place of `byte`, if any.
    fn translate(&mut self, byte: u8) -> Option<u8> {
        if self.in_text {
            self.in_text = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return Some(byte);
        }
        match byte {
            b'[' | b'{' => {
                self.depth += 1;
                (self.depth > 1).then_some(byte)
            }
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                match self.depth {
                    0 => std::mem::take(&mut self.open_line).then_some(b'\n'),
                    _ => {
                        self.open_line = true;
                        Some(byte)
                    }
                }
            }
            b',' if self.depth == 1 => {
                self.open_line = false;
                Some(b'\n')
            }
            _ if byte.is_ascii_whitespace() => (self.depth > 1).then_some(b' '),
            _ => {
                self.in_text = byte == b'"';
                self.open_line = true;
                Some(byte)
            }
        }
    }
}

impl Read for Objects {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.input.read(out)?;
            if read == 0 {
                return match self.depth {
                    0 => Ok(0),
                    _ if out.is_empty() => Ok(0),
                    _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the JSON array has no end")),
                };
            }
            let mut written = 0;
            for at in 0..read {
                if let Some(byte) = self.translate(out[at]) {
                    out[written] = byte;
                    written += 1;
                }
            }
            if written > 0 {
                return Ok(written);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> io::Result<String> {
        let mut all = String::new();
        // Byte by byte, as from a slow pipe.
        let input = io::Cursor::new(text.to_owned()).take(u64::MAX);
        Objects::new(Box::new(input)).read_to_string(&mut all).map(|_| all)
    }

    #[test]
    fn every_object_is_a_line() {
        for text in [
            r#"[{"a":[1,2],"b":"x, ]}\"{["},{"a":{"c":[]}}]"#,
            "[\n  {\n    \"a\": [1, 2],\n    \"b\": \"x, ]}\\\"{[\"\n  },\r\n  {\"a\": {\"c\": []}}\n]\n",
        ] {
            let found = lines(text).expect("an array");
            let objects: Vec<serde_json::Value> =
                found.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
            assert_eq!(
                serde_json::Value::from(objects),
                serde_json::from_str::<serde_json::Value>(text).expect("JSON")
            );
        }
        assert_eq!(lines("[ ]").expect("empty"), "");
        assert!(lines(r#"[{"a":1},{"a":2}"#).expect_err("cut").to_string().contains("no end"));
        assert_eq!(Objects::begin(b"[ "), None);
        assert_eq!(
            (Objects::begin(b" [{"), Objects::begin(b"[1"), Objects::begin(b"a")),
            (Some(true), Some(false), Some(false))
        );
    }
}

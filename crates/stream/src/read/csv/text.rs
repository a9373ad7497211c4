//! Text for the csv crate.

use std::io::{self, Read};

use memchr::memchr;

use crate::read::source::Source;

/// A [`Source`] whose line ends are all `\n`, and whose last line has one.
///
/// The csv crate counts lines by `\n`, which it reads only with the next record if lines end in
/// `\r\n`. With `\n` alone, a record starts `1 + newlines inside it` lines before the parser's line
/// after it.
pub(crate) struct CsvText {
    pub(crate) source: Source,
    /// A carriage return, held back until the next byte shows whether it is part of a line end.
    held: bool,
    inside_line: bool,
    /// Whether the end was reported to the parser.
    pub(crate) ended: bool,
}

impl CsvText {
    pub(crate) fn new(source: Source) -> Self {
        CsvText { source, held: false, inside_line: false, ended: false }
    }
}

impl Read for CsvText {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            let chunk = self.source.chunk().map_err(io::Error::other)?;
            if self.held {
                self.held = false;
                if chunk.first() != Some(&b'\n') {
                    self.inside_line = true;
                    out[0] = b'\r';
                    return Ok(1);
                }
            }
            if chunk.is_empty() {
                let missing_end = self.inside_line;
                self.inside_line = false;
                self.ended = !missing_end;
                out[0] = b'\n';
                return Ok(usize::from(missing_end));
            }
            let limit = chunk.len().min(out.len());
            let (length, held) = match memchr(b'\r', &chunk[..limit]) {
                Some(at) => (at, true),
                None => (limit, false),
            };
            out[..length].copy_from_slice(&chunk[..length]);
            self.held = held;
            self.source.consume(length + usize::from(held));
            if length > 0 {
                self.inside_line = out[length - 1] != b'\n';
                return Ok(length);
            }
        }
    }
}

/// The text as [`CsvText`] returns it, for looking ahead.
pub(crate) fn plain_line_ends(text: &[u8]) -> Vec<u8> {
    let follows = |at: usize| text.get(at + 1) == Some(&b'\n');
    let bytes = text.iter().enumerate();
    bytes.filter(|&(at, &byte)| byte != b'\r' || !follows(at)).map(|(_, &byte)| byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn line_ends_become_plain() {
        for (text, expected) in [
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\rb", "a\rb\n"),
            ("\r\n\r\r\n", "\n\r\n"),
            ("a\r", "a\r\n"),
            ("", ""),
            ("\r", "\r\n"),
            ("x\n", "x\n"),
        ] {
            for step in [1, 2, 100] {
                let source = Source::from_read(Box::new(Cursor::new(text)), "a", None).unwrap();
                let mut plain = CsvText::new(source);
                let (mut all, mut buffer) = (Vec::<u8>::new(), vec![0; step]);
                loop {
                    let count = plain.read(&mut buffer).unwrap();
                    if count == 0 {
                        break;
                    }
                    all.extend(&buffer[..count]);
                }
                assert_eq!(all, expected.as_bytes(), "{text:?} by {step}");
                assert_eq!(
                    plain_line_ends(text.as_bytes()),
                    all.strip_suffix(b"\n").filter(|_| !text.ends_with('\n')).unwrap_or(&all)
                );
            }
        }
    }
}

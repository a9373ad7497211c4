//! Text for the csv crate.

use std::io::{self, Read};

use memchr::memchr;

use super::layout::{LINES, records};
use crate::read::options::ReadOptions;
use crate::read::source::{Peek, Source};

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
    /// For columns that are aligned by several blanks.
    squeeze: Option<Squeeze>,
}

impl CsvText {
    /// The text of `source`; if `aligned`, with one blank in place of several.
    pub(crate) fn new(source: Source, aligned: bool) -> Self {
        let squeeze = aligned.then(Squeeze::default);
        CsvText { source, held: false, inside_line: false, ended: false, squeeze }
    }
}

/// Replaces blanks outside of quotes by one, and removes those at the ends of lines.
#[derive(Default)]
struct Squeeze {
    quoted: bool,
    /// A blank that is needed if the line goes on.
    blank: bool,
    inside_line: bool,
}

impl Squeeze {
    /// What becomes of `byte`, if anything, and whether it is done with; else it comes again.
    fn step(&mut self, byte: u8) -> (Option<u8>, bool) {
        if !self.quoted && matches!(byte, b' ' | b'\r') {
            self.blank = self.inside_line;
            return (None, true);
        }
        if std::mem::take(&mut self.blank) && byte != b'\n' {
            return (Some(b' '), false);
        }
        self.quoted ^= byte == b'"';
        self.inside_line = self.quoted || byte != b'\n';
        (Some(byte), true)
    }
}

/// The text with one blank in place of several, as [`CsvText`] returns it for aligned columns.
pub(crate) fn squeezed(text: &[u8]) -> Vec<u8> {
    let (mut squeeze, mut out) = (Squeeze::default(), Vec::with_capacity(text.len()));
    for byte in text {
        loop {
            let (made, done) = squeeze.step(*byte);
            out.extend(made);
            if done {
                break;
            }
        }
    }
    out
}

/// Whether columns are aligned by several blanks: no other delimiter is possible, there are blanks beside
/// blanks, and with one in place of several all rows but a header have the same number of cells.
pub(crate) fn is_aligned(peek: &Peek<'_>, options: &ReadOptions) -> bool {
    let several = peek.bytes.windows(2).any(|pair| pair == b"  ") || peek.bytes.starts_with(b" ");
    if !several || options.delimiter.is_some_and(|delimiter| delimiter != b' ') {
        return false;
    }
    if options.delimiter.is_none() && peek.bytes.iter().any(|byte| b"\t;,|".contains(byte)) {
        return false;
    }
    let bytes = squeezed(peek.bytes);
    let rows = records(&Peek { bytes: &bytes, all: peek.all }, b' ', LINES);
    let width = rows.last().map_or(0, csv::ByteRecord::len);
    width > 1 && rows.iter().skip(1).all(|row| row.len() == width)
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
            if let Some(squeeze) = &mut self.squeeze {
                let (mut used, mut written) = (0, 0);
                while used < chunk.len() && written < out.len() {
                    let (made, done) = squeeze.step(chunk[used]);
                    if let Some(made) = made {
                        out[written] = made;
                        written += 1;
                    }
                    used += usize::from(done);
                }
                self.source.consume(used);
                if written > 0 {
                    self.inside_line = out[written - 1] != b'\n';
                    return Ok(written);
                }
                continue;
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
    fn several_blanks_become_one() {
        let text = "  a   b \r\n 1  \"x  y\"\n\n  2   3";
        let expected = b"a b\n1 \"x  y\"\n\n2 3\n";
        assert_eq!(squeezed(text.as_bytes()), expected[..expected.len() - 1]);
        for step in [1, 2, 100] {
            let source = Source::from_read(Box::new(Cursor::new(text)), "a", None).unwrap();
            let mut plain = CsvText::new(source, true);
            let (mut all, mut buffer) = (Vec::<u8>::new(), vec![0; step]);
            loop {
                match plain.read(&mut buffer).unwrap() {
                    0 => break,
                    count => all.extend(&buffer[..count]),
                }
            }
            assert_eq!(all, expected, "by {step}");
        }
    }

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
                let mut plain = CsvText::new(source, false);
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

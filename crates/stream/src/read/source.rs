//! Bytes from a file or standard input: decompressed, counted, and cut into lines.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::{memchr, memchr_iter};

use crate::ahead::several_cores;
use crate::read::decompress::{BUFFER, Decompressed, decompress, input_error};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::live::{self, Silence, Stop};
use crate::read::number::WINDOW;
use crate::read::objects::Objects;

/// Longest line, which bounds the memory.
const LONGEST_LINE: usize = 256 * 1024 * 1024;
/// Number of bytes that [`Source::peek`] reads beyond the first line.
const LONGEST_PEEK: usize = 16 * 1024 * 1024;

/// The file, if it is Parquet by its first bytes, or is `said` to be. Other errors are reported where all
/// files are opened.
#[cfg(feature = "parquet")]
pub(crate) fn parquet_file(path: &str, said: bool) -> Option<File> {
    if path == "-" || !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut head = [0; 4];
    let magic = file.read_exact(&mut head).is_ok() && head == *b"PAR1";
    (magic || said).then_some(file)
}

/// A stream of text, decompressed if its first bytes are those of gzip or zstd, without byte order
/// mark.
pub(crate) struct Source {
    name: String,
    input: Box<dyn Read + Send>,
    compression: Option<&'static str>,
    consumed: Arc<AtomicU64>,
    size: Option<u64>,
    /// `buffer[start..end]` is read and not yet returned.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    line: u64,
    /// Whether the last line returned ends the stream without a line end.
    open_line: bool,
    /// For an uncompressed pipe.
    silence: Option<Silence>,
}

/// Number of readable bytes after a line, so that fixed-size windows can be read from any position.
const PADDING: usize = WINDOW;

/// A line without its line end.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    padded: &'a [u8],
    length: usize,
    /// From 1.
    number: u64,
}

impl<'a> Line<'a> {
    pub(crate) fn text(self) -> &'a [u8] {
        &self.padded[..self.length]
    }

    /// Its number in the file, from 1.
    pub(crate) fn number(self) -> u64 {
        self.number
    }

    /// The line and some bytes after it; the first of these is not part of a number.
    pub(crate) fn padded(self) -> &'a [u8] {
        self.padded
    }
}

/// The next lines of a [`Source`].
pub(crate) struct Peek<'a> {
    /// Whole lines; the last one may lack its line end at the end of the stream.
    pub(crate) bytes: &'a [u8],
    /// Whether the stream ends after these.
    pub(crate) all: bool,
}

impl Peek<'_> {
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split(|&byte| byte == b'\n').map(|line| line.trim_ascii_end())
    }
}

/// What data are called in sentences: `-` is standard input.
pub fn data_name(data: &str) -> &str {
    if data == "-" { "standard input" } else { data }
}

impl Source {
    /// Opens a file, or standard input for `-`. Reading a pipe fails when `stop` is requested.
    pub(crate) fn open(path: &str, stop: &Stop) -> Result<Self, ReadError> {
        if path == "-" {
            let name = data_name(path);
            let opened =
                live::stdin(stop).map_err(|error| ReadError::new(name, 0, ReadErrorKind::Io(error)))?;
            return Source::from_pipe(opened, name);
        }
        let fail = |error: io::Error| {
            let kind = match error.kind() {
                io::ErrorKind::NotFound => ReadErrorKind::NotFound,
                io::ErrorKind::IsADirectory => ReadErrorKind::IsDirectory,
                _ => ReadErrorKind::Io(error),
            };
            ReadError::new(path, 0, kind)
        };
        let file = File::open(Path::new(path)).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        if metadata.is_dir() {
            return Err(ReadError::new(path, 0, ReadErrorKind::IsDirectory));
        }
        // Named pipes and devices have no size.
        if !metadata.is_file() {
            return Source::from_pipe(live::pipe(file, stop).map_err(fail)?, path);
        }
        Source::from_read(Box::new(file), path, Some(metadata.len()))
    }

    pub(crate) fn from_pipe(
        (input, silence): (Box<dyn Read + Send>, Option<Silence>),
        name: &str,
    ) -> Result<Self, ReadError> {
        let mut source = Source::from_read(input, name, None)?;
        // A decompressor may have buffered bytes.
        source.silence = silence.filter(|_| source.compression.is_none());
        Ok(source)
    }

    pub(crate) fn from_read(
        input: Box<dyn Read + Send>,
        name: &str,
        size: Option<u64>,
    ) -> Result<Self, ReadError> {
        let file = size.is_some();
        let opened =
            decompress(input, file && several_cores()).map_err(|kind| ReadError::new(name, 0, kind))?;
        let Decompressed { input, compression, consumed } = opened;
        let mut source = Source {
            name: name.to_owned(),
            input,
            compression,
            consumed,
            size,
            buffer: vec![0; BUFFER + PADDING],
            start: 0,
            end: 0,
            at_end: false,
            line: 0,
            open_line: false,
            silence: None,
        };
        // The first line may be shorter, and the only bytes available.
        while source.end < 3 && !source.at_end && !source.buffer[..source.end].contains(&b'\n') {
            source.fill()?;
        }
        match &source.buffer[..source.end] {
            [0xef, 0xbb, 0xbf, ..] => source.start = 3,
            [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, ..] if source.compression.is_some() => {
                return Err(source.file_error("is compressed twice; decompress it once, as gunzip -c does"));
            }
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
                return Err(source.file_error(
                    "is UTF-16 text, where UTF-8 is read; iconv -f UTF-16 -t UTF-8 converts it",
                ));
            }
            _ => {}
        }
        if source.is_array()? { Ok(source.objects()) } else { Ok(source) }
    }

    /// Whether the stream is a JSON array of objects.
    fn is_array(&mut self) -> Result<bool, ReadError> {
        // Nothing but a bracket at the beginning makes it wait for more.
        while self.buffer[self.start..self.end].first() == Some(&b'[') {
            match Objects::begin(&self.buffer[self.start..self.end]) {
                None if !self.at_end => self.fill()?,
                found => return Ok(found == Some(true)),
            }
        }
        Ok(false)
    }

    /// The objects of an array, one in a line; a line is the number of its object.
    fn objects(mut self) -> Source {
        let begun = io::Cursor::new(self.buffer[self.start..self.end].to_vec());
        let rest = std::mem::replace(&mut self.input, Box::new(io::empty()));
        let input = Box::new(Objects::new(Box::new(begun.chain(rest))));
        Source { input, start: 0, end: 0, at_end: false, ..self }
    }

    /// Name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// `gzip`, `zstd`, or none.
    pub(crate) fn compression(&self) -> Option<&'static str> {
        self.compression
    }

    /// Number of stored bytes read so far.
    pub(crate) fn position(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Size of the stored file; `None` for pipes.
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Whether the last line returned is the end of the stream and lacks its line end.
    pub(crate) fn is_open_line(&self) -> bool {
        self.open_line
    }

    /// Number of the last line returned, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// An error of the current line.
    #[cold]
    pub(crate) fn error(&self, kind: ReadErrorKind) -> ReadError {
        ReadError::new(&self.name, self.line, kind)
    }

    /// An error of the whole file.
    #[cold]
    pub(crate) fn file_error(&self, kind: impl Into<ReadErrorKind>) -> ReadError {
        ReadError::new(&self.name, 0, kind.into())
    }

    /// The next line without its line end, or `None` at the end. After an error there are no more lines.
    #[inline]
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        let mut searched = 0;
        let (line, next) = loop {
            let from = self.start + searched;
            if let Some(at) = memchr(b'\n', &self.buffer[from..self.end]) {
                break (self.start..from + at, from + at + 1);
            }
            if self.at_end {
                if self.start == self.end {
                    return Ok(None);
                }
                self.open_line = true;
                break (self.start..self.end, self.end);
            }
            searched = self.end - self.start;
            self.fill()?;
        };
        self.start = next;
        self.line += 1;
        let padded = &self.buffer[line.start..line.end + PADDING];
        let length = line.len();
        let ends_in_return = length > 0 && padded[length - 1] == b'\r';
        Ok(Some(Line { padded, length: length - usize::from(ends_in_return), number: self.line }))
    }

    /// The next available bytes; empty only at the end. [`Source::consume`] marks them as read.
    pub(crate) fn chunk(&mut self) -> Result<&[u8], ReadError> {
        while self.start == self.end && !self.at_end {
            self.fill()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Consumes `count` bytes of the last [`Source::chunk`]. Their lines are not counted.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
    }

    /// Up to `lines` lines without consuming them, fewer if they are very long.
    ///
    /// Waits for that many on a pipe too, so that inference from them is the same as for a file;
    /// but if the pipe is silent after `enough` lines, the writer is assumed to be waiting for an
    /// answer.
    pub(crate) fn peek(&mut self, lines: usize, enough: usize) -> Result<Peek<'_>, ReadError> {
        let (mut found, mut searched, mut last) = (0, 0, 0);
        while found < lines {
            for at in memchr_iter(b'\n', &self.buffer[self.start + searched..self.end]) {
                last = searched + at + 1;
                found += 1;
                if found == lines {
                    break;
                }
            }
            searched = self.end - self.start;
            if self.at_end || (found > 0 && searched >= LONGEST_PEEK) {
                break;
            }
            if found < lines {
                if found >= enough && self.silence.as_mut().is_some_and(|silent| silent()) {
                    break;
                }
                self.fill()?;
            }
        }
        let rest = &self.buffer[self.start..self.end];
        let all = self.at_end && (found < lines || last == rest.len());
        Ok(Peek { bytes: if all { rest } else { &rest[..last] }, all })
    }

    /// Appends more bytes at `end`, or detects the end of the stream.
    fn fill(&mut self) -> Result<(), ReadError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end + PADDING == self.buffer.len() {
            if self.end >= LONGEST_LINE {
                self.stop();
                return Err(self.file_error(format!("has a line longer than {} MiB", LONGEST_LINE >> 20)));
            }
            self.buffer.resize(2 * self.end + PADDING, 0);
        }
        loop {
            let limit = self.buffer.len() - PADDING;
            match self.input.read(&mut self.buffer[self.end..limit]) {
                Ok(0) => {
                    self.at_end = true;
                    self.buffer[self.end..][..PADDING].fill(0);
                }
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.stop();
                    return Err(match error.downcast::<ReadError>() {
                        Ok(error) => error,
                        Err(error) => ReadError::new(&self.name, 0, input_error(self.compression, error)),
                    });
                }
            }
            return Ok(());
        }
    }

    fn stop(&mut self) {
        (self.start, self.end, self.at_end) = (0, 0, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn source(bytes: &[u8]) -> Source {
        Source::from_read(Box::new(Cursor::new(bytes.to_vec())), "a", None).unwrap()
    }

    /// Returns one byte at a time, like a slow pipe.
    struct Drip(Cursor<Vec<u8>>);

    impl Read for Drip {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let length = out.len().min(1);
            self.0.read(&mut out[..length])
        }
    }

    fn lines(mut source: Source) -> Result<Vec<String>, ReadError> {
        let mut lines = vec![];
        while let Some(line) = source.next_line()? {
            lines.push(String::from_utf8_lossy(line.text()).into_owned());
            let behind = line.padded()[line.text().len()];
            assert!([b'\n', b'\r', 0].contains(&behind) && line.padded().len() >= line.text().len() + WINDOW);
        }
        assert_eq!(source.line(), lines.len() as u64);
        Ok(lines)
    }

    #[test]
    fn lines_of_any_ending_and_length() {
        let long = "x".repeat(3 * BUFFER);
        let text = format!("\u{feff}a\r\n\nb\r\r\n{long}\nlast");
        let expected = ["a", "", "b\r", &long, "last"];
        assert_eq!(lines(source(text.as_bytes())).unwrap(), expected);
        let drip = Source::from_read(Box::new(Drip(Cursor::new(text.into_bytes()))), "a", None).unwrap();
        assert_eq!(lines(drip).unwrap(), expected);
        assert!(lines(source(b"")).unwrap().is_empty());
        assert_eq!(lines(source(b"\n")).unwrap(), [""]);
    }

    #[test]
    fn peeking_consumes_nothing() {
        let text = "a\nb\nc";
        for (count, bytes, all) in
            [(1, "a\n", false), (2, "a\nb\n", false), (3, "a\nb\nc", true), (9, text, true)]
        {
            let mut source = Source::from_read(Box::new(Drip(Cursor::new(text.into()))), "a", None).unwrap();
            let peek = source.peek(count, 1).unwrap();
            assert_eq!((std::str::from_utf8(peek.bytes).unwrap(), peek.all), (bytes, all), "{count}");
            assert_eq!(lines(source).unwrap(), ["a", "b", "c"]);
        }
        assert!(source(b"").peek(1, 1).unwrap().all);
    }
}

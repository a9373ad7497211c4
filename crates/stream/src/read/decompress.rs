//! Recognises and decompresses gzip and zstd, and counts the stored bytes.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;

use crate::ahead::WorkAhead;
use crate::read::error::ReadErrorKind;

/// A stream of decompressed bytes.
pub(crate) struct Decompressed {
    pub(crate) input: Box<dyn Read + Send>,
    /// `gzip`, `zstd`, or none.
    pub(crate) compression: Option<&'static str>,
    /// Bytes read so far, as stored.
    pub(crate) consumed: Arc<AtomicU64>,
}

/// Size of a read, in bytes.
pub(crate) const BUFFER: usize = 256 * 1024;

/// Blocks of [`BUFFER`] bytes that are decompressed ahead.
const BLOCKS: usize = 4;

struct Counted<R> {
    inner: R,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.consumed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Bytes that a thread reads ahead.
struct ReadBlocks {
    blocks: WorkAhead<Block>,
    block: Block,
    used: usize,
}

#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    length: usize,
    /// The result after the last byte.
    error: Option<io::Error>,
}

impl ReadBlocks {
    fn start(mut input: Box<dyn Read + Send>) -> io::Result<Self> {
        let blocks = WorkAhead::start("decompress", BLOCKS, move |block| fill(block, &mut *input))?;
        Ok(Self { blocks, block: Block::default(), used: 0 })
    }
}

/// Reads until the block is full. Returns false if nothing can follow.
fn fill(block: &mut Block, input: &mut dyn Read) -> bool {
    block.bytes.resize(BUFFER, 0);
    block.length = 0;
    while block.length < BUFFER {
        match input.read(&mut block.bytes[block.length..]) {
            Ok(0) => return false,
            Ok(count) => block.length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                block.error = Some(error);
                return false;
            }
        }
    }
    true
}

impl Read for ReadBlocks {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let rest = &self.block.bytes[self.used..self.block.length];
            if !rest.is_empty() {
                let count = rest.len().min(out.len());
                out[..count].copy_from_slice(&rest[..count]);
                self.used += count;
                return Ok(count);
            }
            if let Some(error) = self.block.error.take() {
                return Err(error);
            }
            (self.used, self.block.length) = (0, 0);
            if !self.blocks.next(&mut self.block) {
                return Ok(0);
            }
        }
    }
}

/// All members of a gzip stream. Zeros after a member are padding, as tapes and some archives add it.
struct Members<R> {
    /// `None` at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    fn new(input: R) -> Self {
        Self { member: Some(GzDecoder::new(input)) }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            let Some(mut rest) = self.member.take().map(GzDecoder::into_inner) else { break };
            loop {
                let bytes = rest.fill_buf()?;
                let (zeros, all) = (bytes.iter().take_while(|byte| **byte == 0).count(), bytes.len());
                rest.consume(zeros);
                if all == 0 || zeros < all {
                    self.member = (all > 0).then(|| GzDecoder::new(rest));
                    break;
                }
            }
        }
        Ok(0)
    }
}

/// Decompresses gzip (all members) and zstd (all frames), recognised by the first bytes; rejects
/// other binary files.
///
/// `ahead`: on a separate thread.
pub(crate) fn decompress(input: Box<dyn Read + Send>, ahead: bool) -> Result<Decompressed, ReadErrorKind> {
    let consumed = Arc::new(AtomicU64::new(0));
    let mut raw = Counted { inner: input, consumed: Arc::clone(&consumed) };
    let head = read_head(&mut raw).map_err(ReadErrorKind::Io)?;
    let compression = head_kind(&head)?;
    let whole = Cursor::new(head).chain(raw);
    let input: Box<dyn Read + Send> = match compression {
        Some(GZIP) => Box::new(Members::new(BufReader::with_capacity(BUFFER, whole))),
        Some(_) => {
            let buffered = BufReader::with_capacity(BUFFER, whole);
            Box::new(zstd::Decoder::with_buffer(buffered).map_err(ReadErrorKind::Io)?)
        }
        None => Box::new(whole),
    };
    let input = if ahead && compression.is_some() {
        Box::new(ReadBlocks::start(input).map_err(ReadErrorKind::Io)?)
    } else {
        input
    };
    Ok(Decompressed { input, compression, consumed })
}

/// The first six bytes, or fewer if they contain a line end: the program that writes to a pipe may
/// wait for an answer.
fn read_head(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let (mut head, mut filled) = (vec![0; 6], 0);
    while filled < head.len() && !head[..filled].contains(&b'\n') {
        match input.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(filled);
    Ok(head)
}

/// Converts an error of [`Decompressed::input`].
pub(crate) fn input_error(compression: Option<&'static str>, error: io::Error) -> ReadErrorKind {
    match compression {
        // Errors with a number are from the operating system, others from the decompressor.
        Some(compression) if error.raw_os_error().is_none() => {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                ReadErrorKind::Truncated { compression }
            } else {
                ReadErrorKind::Corrupt { compression, detail: error.to_string() }
            }
        }
        _ => ReadErrorKind::Io(error),
    }
}

/// A Parquet file that cannot be read here.
#[cfg(feature = "parquet")]
pub(crate) const PARQUET: &str = "a Parquet file, which is read from its end; it must be a file, not a pipe";
#[cfg(not(feature = "parquet"))]
pub(crate) const PARQUET: &str = "a Parquet file, which needs the cargo feature parquet; this build does not have it: the program of the \
     archive has it, and cargo install --path crates/cli --features parquet makes one";

const GZIP: &str = "gzip";
const ZSTD: &str = "zstd";

fn head_kind(head: &[u8]) -> Result<Option<&'static str>, ReadErrorKind> {
    let other = match head {
        [0x1f, 0x8b, ..] => return Ok(Some(GZIP)),
        // A frame, or a skippable frame, which parallel compressors write first.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => return Ok(Some(ZSTD)),
        [b'P', b'A', b'R', b'1', ..] => PARQUET,
        [b'P', b'K', 3, 4, ..] => "a zip archive or a workbook; unpack it, or write a sheet as CSV",
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41] => "compressed with bzip2; use gzip or zstd",
        [0xfd, b'7', b'z', b'X', b'Z', 0] => "compressed with xz; use gzip or zstd",
        [0x04, 0x22, 0x4d, 0x18, ..] => "compressed with lz4; use gzip or zstd",
        [0xff, 0x06, 0, 0, b's', b'N'] => "compressed with Snappy; use gzip or zstd",
        [b'O', b'b', b'j', 1, ..] => "a file of Avro; write its rows as CSV, JSON or Parquet",
        [b'O', b'R', b'C', 0..=8, ..] => "a file of ORC; write its rows as CSV, JSON or Parquet",
        [0x80, 2..=5, ..] => "a pickle of Python; write its rows by to_csv or to_parquet of pandas",
        [0x93, b'N', b'U', b'M', ..] => {
            "an array of NumPy; write its rows as CSV, as numpy.savetxt does with delimiter=\",\""
        }
        [0x89, b'H', b'D', b'F', ..] => "a file of HDF5; write its rows by to_csv or to_parquet of pandas",
        _ => return Ok(None),
    };
    Err(ReadErrorKind::Layout(format!("is {other}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::error::ReadError;
    use crate::read::live::Stop;
    use crate::read::source::Source;
    use std::io::Write;

    fn source(bytes: &[u8]) -> Source {
        Source::from_read(Box::new(Cursor::new(bytes.to_vec())), "a", None).unwrap()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn lines(mut source: Source) -> Result<Vec<String>, ReadError> {
        let mut lines = vec![];
        while let Some(line) = source.next_line()? {
            lines.push(String::from_utf8_lossy(line.text()).into_owned());
        }
        assert_eq!(source.line(), lines.len() as u64);
        Ok(lines)
    }

    #[test]
    fn several_members_and_frames() {
        let both = [gzip(b"a\nb"), gzip(b"c\n"), gzip(b""), gzip(b"d")].concat();
        let compressed = source(&both);
        assert_eq!(compressed.compression(), Some("gzip"));
        assert_eq!(lines(compressed).unwrap(), ["a", "bc", "d"]);

        let frames =
            [zstd::encode_all(&b"a\nb"[..], 1).unwrap(), zstd::encode_all(&b"c"[..], 1).unwrap()].concat();
        let mut compressed = source(&frames);
        assert_eq!(compressed.compression(), Some("zstd"));
        compressed.peek(9, 1).unwrap();
        assert_eq!(compressed.position(), frames.len() as u64);
        assert_eq!(lines(compressed).unwrap(), ["a", "bc"]);
    }

    #[test]
    fn every_cut_of_compressed_data_is_noticed() {
        let text: Vec<u8> =
            (0..2000_u32).flat_map(|n| format!("{n} 1:{}\n", n.wrapping_mul(n)).into_bytes()).collect();
        // As the zstd program writes it; without a checksum, damage can pass unnoticed.
        let mut encoder = zstd::Encoder::new(vec![], 1).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(&text).unwrap();
        for whole in [gzip(&text), encoder.finish().unwrap()] {
            for cut in (6..64).chain((64..whole.len()).step_by(997)).chain([whole.len() - 1]) {
                let opened = Source::from_read(Box::new(Cursor::new(whole[..cut].to_vec())), "a", None);
                let error = opened.and_then(lines).unwrap_err();
                assert!(matches!(error.kind(), ReadErrorKind::Truncated { .. }), "{cut}: {error}");
                assert!(!error.is_row_error());
            }
            let mut damaged = whole.clone();
            damaged[whole.len() / 2] ^= 0x55;
            damaged[whole.len() / 2 + 1] ^= 0x55;
            let opened = Source::from_read(Box::new(Cursor::new(damaged)), "a", None);
            let error = opened.and_then(lines).unwrap_err();
            assert!(matches!(error.kind(), ReadErrorKind::Corrupt { .. }), "{error}");
        }
    }

    #[test]
    fn files_that_are_no_text_say_so() {
        let open = |bytes: &[u8]| Source::from_read(Box::new(Cursor::new(bytes.to_vec())), "a", None);
        for (bytes, part) in [
            (&b"PAR1xxxx"[..], "Parquet"),
            (b"PK\x03\x04xx", "zip"),
            (b"BZh91AY&SY", "bzip2"),
            (b"\xfd7zXZ\0", "xz"),
            (b"\x04\x22\x4d\x18@@", "lz4"),
            (b"\xff\x06\0\0sNaPpY", "Snappy"),
            (b"Obj\x01\x04\x14avro.codec", "Avro"),
            (b"ORC\x08\x03\x10", "ORC"),
            (b"\x80\x04\x95\x08\0\0", "pickle"),
            (b"\x93NUMPY\x01\0", "NumPy"),
            (b"\x89HDF\r\n\x1a\n", "HDF5"),
            (&gzip(&gzip(b"a,b\n1,2\n"))[..], "compressed twice"),
            (b"\xff\xfe1\0", "UTF-16"),
        ] {
            let error = open(bytes).err().unwrap();
            assert!(error.to_string().contains(part) && !error.is_row_error(), "{error}");
        }
        let error = Source::open("no/such/file", &Stop::default()).err().unwrap();
        assert_eq!(error.to_string(), "no/such/file: no such file");
        let error = Source::open(env!("CARGO_MANIFEST_DIR"), &Stop::default()).err().unwrap();
        assert!(matches!(error.kind(), ReadErrorKind::IsDirectory));
    }
}

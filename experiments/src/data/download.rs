//! Downloads, resumed after interruptions and checked.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use noregret_stream::{Fault, fault};
use sha2::{Digest, Sha256};
use ureq::Agent;

use super::hexadecimal;

/// Largest number of consecutive attempts without data.
const TRIES: u32 = 3;
/// Time between attempts.
const PAUSE: Duration = Duration::from_millis(500);
/// Time limit of an attempt.
const PATIENCE: Duration = Duration::from_secs(60);

/// Downloads files.
pub struct Downloader(Agent);

/// How a transfer ended.
enum Ended {
    /// Complete.
    Complete,
    /// Incomplete, with the reason.
    Early(String),
}

impl Default for Downloader {
    fn default() -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Without compression, since a range of compressed bytes is not a range of the file.
            .accept_encoding("identity")
            .user_agent(concat!("noregret/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE))
            .timeout_per_read(Some(PATIENCE))
            .build();
        Self(config.new_agent())
    }
}

impl Downloader {
    /// Downloads `url` to the file `to`, and returns its SHA-256. Until it is complete and checked
    /// against `sha256`, its name is `to` with the suffix `.part`; if such a file exists, the
    /// download continues after its last byte. `seen` is called with the number of bytes so far and
    /// in total.
    ///
    /// # Errors
    /// If the server refuses, writing fails, or the checksum differs.
    pub fn fetch(
        &self,
        url: &str,
        to: &Path,
        sha256: Option<&str>,
        seen: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<String, Fault> {
        let part = part_of(to);
        let mut vain = 0;
        loop {
            let before = length(&part);
            let why = match self.transfer(url, &part, before, seen)? {
                Ended::Complete => break,
                Ended::Early(why) => why,
            };
            let after = length(&part);
            vain = if after > before { 0 } else { vain + 1 };
            if vain == TRIES {
                let kept = match after {
                    0 => String::new(),
                    bytes => format!("; the {bytes} bytes so far stay in {}", part.display()),
                };
                return Err(fault!("{url}: {why}{kept}"));
            }
            if vain > 0 {
                std::thread::sleep(PAUSE);
            }
        }
        let digest = checksum(&part).map_err(|error| unwritable(&part, &error))?;
        if let Some(wanted) = sha256.filter(|wanted| *wanted != digest) {
            std::fs::remove_file(&part).map_err(|error| unwritable(&part, &error))?;
            return Err(fault!("{url}: has SHA-256 {digest}, and {wanted} was needed; it was not kept"));
        }
        std::fs::rename(&part, to).map_err(|error| unwritable(to, &error))?;
        Ok(digest)
    }

    /// Appends to `part`, which has `have` bytes, the bytes after them.
    fn transfer(
        &self,
        url: &str,
        part: &Path,
        have: u64,
        seen: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Ended, Fault> {
        let mut request = self.0.get(url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let response = match request.call() {
            Ok(response) => response,
            Err(error) => return Ok(Ended::Early(format!("no answer: {error}"))),
        };
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let status = response.status();
        let (start, total) = match status.as_u16() {
            200 => (0, header("content-length").and_then(|bytes| bytes.parse().ok())),
            206 => match header("content-range").and_then(range) {
                Some((start, total)) if start == have => (start, total),
                // Not the requested range: restart from the beginning.
                _ => {
                    std::fs::remove_file(part).map_err(|error| unwritable(part, &error))?;
                    return Ok(Ended::Early(
                        "the server sent a part of the file that was not requested".to_owned(),
                    ));
                }
            },
            // There are no more bytes: the file is complete, or another one.
            416 if have > 0 => {
                let size =
                    header("content-range").and_then(|range| range.strip_prefix("bytes */")?.parse().ok());
                if size == Some(have) {
                    return Ok(Ended::Complete);
                }
                std::fs::remove_file(part).map_err(|error| unwritable(part, &error))?;
                return Ok(Ended::Early(
                    "the file on the server is shorter than the part downloaded so far".to_owned(),
                ));
            }
            500.. => return Ok(Ended::Early(format!("the server answered {status}"))),
            _ => return Err(fault!("{url}: the server answered {status}")),
        };
        append(response.into_body().into_reader(), part, start, total, seen)
            .map_err(|error| unwritable(part, &error))
    }
}

/// Appends `bytes` to the file `part`, whose length is `start`.
fn append(
    mut bytes: impl Read,
    part: &Path,
    start: u64,
    total: Option<u64>,
    seen: &mut dyn FnMut(u64, Option<u64>),
) -> std::io::Result<Ended> {
    let mut file = OpenOptions::new().create(true).write(true).truncate(false).open(part)?;
    file.set_len(start)?;
    let mut have = file.seek(SeekFrom::End(0))?;
    let mut buffer = vec![0; 1 << 16];
    let ended = loop {
        seen(have, total);
        match bytes.read(&mut buffer) {
            Ok(0) if total.is_some_and(|total| have != total) => {
                break Ended::Early(format!(
                    "the connection ended after {have} of {} bytes",
                    total.unwrap_or(0)
                ));
            }
            Ok(0) => break Ended::Complete,
            Ok(count) => {
                file.write_all(&buffer[..count])?;
                have += count as u64;
            }
            Err(error) => break Ended::Early(format!("the connection ended after {have} bytes: {error}")),
        }
    };
    file.sync_all()?;
    Ok(ended)
}

/// First byte and size of the file, of a `Content-Range` such as `bytes 100-199/200`; `*` is an unknown size.
fn range(header: &str) -> Option<(u64, Option<u64>)> {
    let (part, size) = header.strip_prefix("bytes ")?.split_once('/')?;
    let start = part.split_once('-')?.0.parse().ok()?;
    Some((start, size.parse().ok()))
}

/// The name of an incomplete file.
fn part_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len())
}

/// The SHA-256 of a file.
pub fn checksum(file: &Path) -> std::io::Result<String> {
    let (mut file, mut hash, mut buffer) = (File::open(file)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}

/// Why a file could not be written.
pub fn unwritable(path: &Path, error: &std::io::Error) -> Fault {
    fault!("{}: cannot be written: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        for (header, expected) in [
            ("bytes 100-199/200", Some((100, Some(200)))),
            ("bytes 0-9/*", Some((0, None))),
            ("bytes */200", None),
            ("100-199/200", None),
        ] {
            assert_eq!(range(header), expected, "{header}");
        }
        assert_eq!(part_of(Path::new("a/b.gz")), Path::new("a/b.gz.part"));
    }

    #[test]
    fn the_checksum_is_sha_256() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("abc");
        std::fs::write(&file, "abc").expect("writable");
        // FIPS 180-2, appendix B.1
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(checksum(&file).expect("readable"), expected);
    }
}

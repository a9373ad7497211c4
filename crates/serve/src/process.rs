//! Numbers about the process and its disk, for Prometheus, and whether it holds too much memory.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the process holds more memory than it should.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Notes whether the process holds more than `most` bytes of memory; not where the system does not tell.
pub(crate) fn watch(most: Option<usize>) {
    let is_over = most.zip(resident()).is_some_and(|(most, now)| now > most as u64);
    IS_OVER.store(is_over, Ordering::Relaxed);
}

/// Whether that was so when it was last noted.
pub(crate) fn is_over() -> bool {
    IS_OVER.load(Ordering::Relaxed)
}

/// Measures what the process holds, and what is free on the disk of `dir`. What a system does not tell has no
/// number.
pub(crate) fn measure(dir: &Path) {
    if let Some(bytes) = resident() {
        metrics::gauge!("process_resident_memory_bytes").set(bytes as f64);
    }
    if let Some(count) = open_files() {
        metrics::gauge!("process_open_fds").set(count as f64);
    }
    if let Some(bytes) = free(dir) {
        metrics::gauge!("noregret_disk_free_bytes").set(bytes as f64);
    }
}

/// The memory of the process, in bytes, as Linux has it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// The number of open files and connections, as Linux has it.
fn open_files() -> Option<usize> {
    std::fs::read_dir("/proc/self/fd").ok().map(Iterator::count)
}

#[cfg(unix)]
fn free(dir: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(dir).ok()?;
    Some(disk.f_bavail * disk.f_frsize)
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}

//! Numbers about the process and its disk, for Prometheus.

use std::path::Path;

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

//! Numbers about the process and its disk, for Prometheus, and how soon models rest where memory is short.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How often the time after which models rest is halved at present.
static HALVED: AtomicU32 = AtomicU32::new(0);
/// A time of 18 hours is a second then. Where memory is no longer short, it is not long until times are
/// whole.
const MOST_HALVED: u32 = 16;

/// Halves the time after which models rest if the process holds more than `most` bytes of memory, and doubles
/// it again otherwise. Done every second, it lets those rest first that nobody has asked for the longest
/// time.
pub(crate) fn watch(most: Option<usize>) {
    let is_over = most.zip(resident()).is_some_and(|(most, now)| now > most as u64);
    HALVED.store(halved(HALVED.load(Ordering::Relaxed), is_over), Ordering::Relaxed);
}

fn halved(before: u32, is_over: bool) -> u32 {
    if is_over { (before + 1).min(MOST_HALVED) } else { before.saturating_sub(1) }
}

/// After how many seconds models rest now, where it is `seconds` if memory is not short: never less than one.
pub(crate) fn rest_after(seconds: u64) -> u64 {
    shortened(seconds, HALVED.load(Ordering::Relaxed))
}

fn shortened(seconds: u64, halved: u32) -> u64 {
    (seconds >> halved).max(seconds.min(1))
}

/// Half of the memory, in bytes, that there is for the process: that of the machine, or what its container or
/// its unit of systemd may take. `None` where the system does not tell.
pub(crate) fn half_of_all() -> Option<usize> {
    let read = |path: PathBuf| std::fs::read_to_string(path).ok();
    let group = read("/proc/self/cgroup".into());
    let group = group.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("0::/")));
    let limits = ["memory.max", "memory/memory.limit_in_bytes"];
    let limits = limits.map(|name| read(Path::new(GROUPS).join(name)));
    let its = group.and_then(|group| read(Path::new(GROUPS).join(group).join("memory.max")));
    half(&read("/proc/meminfo".into())?, limits.into_iter().chain([its]).flatten())
}

const GROUPS: &str = "/sys/fs/cgroup";

/// Half of the least of what the machine has, as `/proc/meminfo` says, and `limits`, which may be the word
/// max.
fn half(machine: &str, limits: impl Iterator<Item = String>) -> Option<usize> {
    let line = machine.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: usize = line.split_whitespace().next()?.parse().ok()?;
    let limits = limits.filter_map(|text| text.trim().parse::<usize>().ok());
    Some(limits.fold(kib.saturating_mul(1024), usize::min) / 2)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_rest_sooner_second_by_second() {
        let mut now = 0;
        let mut after = |is_over, seconds| {
            now = halved(now, is_over);
            shortened(seconds, now)
        };
        let short: Vec<u64> = (0..8).map(|_| after(true, 60)).collect();
        assert_eq!(short, [30, 15, 7, 3, 1, 1, 1, 1]);
        let again: Vec<u64> = (0..8).map(|_| after(false, 60)).collect();
        assert_eq!(again, [1, 1, 1, 3, 7, 15, 30, 60]);
        assert_eq!(shortened(0, 5), 0);
        assert_eq!(shortened(65_536, halved(MOST_HALVED, true)), 1);
    }

    #[test]
    fn half_of_the_least_memory() {
        let machine = "MemTotal:       1000 kB\nMemFree:         10 kB\n";
        let half_of = |limits: &[&str]| half(machine, limits.iter().map(ToString::to_string));
        assert_eq!(half_of(&[]), Some(512_000));
        assert_eq!(half_of(&["max\n", "9223372036854771712\n"]), Some(512_000));
        assert_eq!(half_of(&["max\n", "40960\n"]), Some(20_480));
        assert_eq!(half("MemFree: 10 kB\n", std::iter::empty()), None);
    }
}

//! The largest number in the ids that each deleted model had given, for those of the next model of its name:
//! late feedback would count for another decision. It is kept in a file beside the models, since the service
//! may be started again meanwhile.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use noregret_stream::Replacement;

use crate::locks::Unpoisoned;

/// Number of deleted models whose ids are remembered.
const REMEMBERED: usize = 10_000;

const FILE: &str = "given.json";

/// The numbers by the names of the models.
pub(super) struct Given {
    path: PathBuf,
    numbers: Mutex<BTreeMap<String, u64>>,
}

impl Given {
    /// As it is kept in the folder `dir` of the service. One that cannot be read is none, and is said.
    pub(super) fn open(dir: &Path) -> Self {
        let path = dir.join(FILE);
        let read: Result<BTreeMap<String, u64>, String> = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(error.to_string()),
        };
        let numbers = read.unwrap_or_else(|what| {
            tracing::warn!(
                "{}: cannot be read, and ids of deleted models may be given again: {what}",
                path.display()
            );
            BTreeMap::new()
        });
        Self { path, numbers: Mutex::new(numbers) }
    }

    /// The number of the deleted model `name`, or 0.
    pub(super) fn of(&self, name: &str) -> u64 {
        self.numbers.lock().unpoisoned().get(name).copied().unwrap_or(0)
    }

    /// Keeps `number` for the model `name`, which is being deleted. On a disk that takes nothing it is kept
    /// until the service ends: deleting must stay possible there.
    pub(super) fn keep(&self, name: &str, number: u64) {
        let mut numbers = self.numbers.lock().unpoisoned();
        if number <= numbers.get(name).copied().unwrap_or(0) {
            return;
        }
        if numbers.len() >= REMEMBERED && !numbers.contains_key(name) {
            numbers.clear();
        }
        numbers.insert(name.to_owned(), number);
        let write = || -> std::io::Result<()> {
            let mut file = Replacement::open(&self.path)?;
            file.write_all(&serde_json::to_vec(&*numbers).expect("plain data"))?;
            file.finish()
        };
        if let Err(error) = write() {
            tracing::warn!("{}: cannot be written: {error}", self.path.display());
        }
    }
}

//! What a start shows of a model that rests, in a small file beside its snapshots: of thousands of models
//! only those that somebody asks for are read. The file counts only while the others are as they were when it
//! was written; without it, or after any change of them, a start reads the model.

use std::io;
use std::path::{Path, PathBuf};

use noregret_stream::Schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::engine::Engine;
use super::reader::Seen;
use super::spec::{RowKind, Spec};
use crate::safety::limits::Limits;
use crate::store::{Stamps, stamps};

const FILE: &str = "rested.json";

/// See the [module](self).
#[derive(Serialize, Deserialize)]
pub(super) struct Rested {
    /// The version of the program, and the limits of labels, columns and memory: another one, or with others,
    /// describes the model in other words.
    program: String,
    limits: [usize; 4],
    /// Of its files; `None` until they are closed.
    files: Option<Stamps>,
    /// The last event, and its time.
    pub(super) seq: u64,
    pub(super) at: i64,
    pub(super) kind: RowKind,
    pub(super) spec: Spec,
    table: Option<Schema>,
    most: Option<usize>,
    about: Value,
    lost: Option<String>,
}

impl Rested {
    /// Of a model, which was last `seen` in the state of `engine`.
    pub(super) fn new(engine: &Engine, seen: &Seen, limits: &Limits) -> Self {
        Self {
            program: program(),
            limits: limits_of(limits),
            files: None,
            seq: engine.standing.seq,
            at: engine.standing.at,
            kind: engine.kind,
            spec: engine.spec().clone(),
            table: seen.table.clone(),
            most: seen.most,
            about: Value::clone(&seen.about),
            lost: seen.lost.clone(),
        }
    }

    /// Writes it beside the closed files of the model in `folder`; not where its database is open elsewhere.
    /// A process that is killed leaves the file of before or this one; nobody waits for the disk, since half
    /// a file counts as none.
    pub(super) fn write(self, folder: &Path) -> io::Result<()> {
        let files = stamps(folder, self.seq);
        if files.is_none() {
            return Ok(());
        }
        let bytes = serde_json::to_vec(&Self { files, ..self })?;
        let hidden = folder.join(format!(".{FILE}.new"));
        std::fs::write(&hidden, bytes)?;
        std::fs::rename(&hidden, path(folder))
    }

    /// That of the model in `folder`, if it has one that counts.
    pub(super) fn read(folder: &Path, limits: &Limits) -> Option<Self> {
        let rested: Self = serde_json::from_slice(&std::fs::read(path(folder)).ok()?).ok()?;
        let is_ours = rested.program == program() && rested.limits == limits_of(limits);
        (is_ours && rested.files.is_some() && rested.files == stamps(folder, rested.seq)).then_some(rested)
    }

    /// What is seen of the model.
    pub(super) fn seen(self) -> Seen {
        let Self { seq, table, most, about, lost, .. } = self;
        Seen { seq, table, most, about: about.into(), lost }
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Those by which the room for labels and columns is known.
fn limits_of(limits: &Limits) -> [usize; 4] {
    [limits.labels, limits.columns, limits.growth, limits.model_bytes]
}

fn program() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

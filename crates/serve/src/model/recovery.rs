//! Recovery: the newest intact snapshot, and the later events applied to it again; or, where no snapshot can
//! be read, the log learnt again.

use std::path::Path;
use std::sync::Arc;

use noregret_stream::Fault;
use noregret_stream::save::file as model_file;

use super::engine::Engine;
use super::event::Event;
use super::log;
use super::spec::Spec;
use super::standing::Rebuilt;
use crate::nodes::Node;
use crate::safety::limits::Limits;
use crate::store::{Store, newest_snapshot};

/// Number of events behind the newest snapshot from which on a recovered model gets another one.
const MANY: u64 = 1000;

/// A recovered model.
pub(crate) struct Recovered {
    store: Store,
    engine: Engine,
    /// Sentences on damaged files.
    notes: Vec<String>,
    /// Whether it was made again from its log, which then has to begin again with it.
    again: bool,
}

impl Recovered {
    /// The model called `name`, ready to go on; what was damaged is logged.
    /// Fails if the log of a model that was made again cannot be begun.
    pub(crate) fn ready(self, name: &str) -> Result<(Store, Engine), Fault> {
        let Self { mut store, engine, notes, again } = self;
        notes.iter().for_each(|note| tracing::warn!(model = %name, "{note}"));
        if again {
            let header = log::header(&engine, Some(engine.archive().digest()))?;
            store.begin_again(engine.standing.seq, &header, &engine.snapshot())?;
            return Ok((store, engine));
        }
        // What was done again is not done once more after the next kill.
        let (seq, saved) = (engine.standing.seq, store.snapshots()?.last().copied().unwrap_or(0));
        if seq.saturating_sub(saved) >= MANY
            && store.check_room().is_ok()
            && let Err(what) = store.write_snapshot(seq, &engine.snapshot())
        {
            tracing::warn!(model = %name, "a snapshot was not written; the log is complete: {what}");
        }
        Ok((store, engine))
    }
}

/// Opens a model: loads its newest intact snapshot, and applies the later events; where `node` has a log in
/// common with others, with what they have written.
/// Fails if the state cannot be recovered bit for bit.
pub(crate) fn recover(folder: &Path, limits: &Limits, node: Option<&Arc<Node>>) -> Result<Recovered, Fault> {
    let (mut store, last) = Store::reopen(folder, node)?;
    let mut notes = store.set_newer_aside(last)?;
    let (mut tried, mut readable) = (false, false);
    for (seq, path) in store.states(last)? {
        let read = |limits: &Limits| {
            model_file::read(&path).map_err(|error| error.to_string()).and_then(|archive| {
                Engine::from_snapshot(&archive, limits)
                    .map_err(|error| format!("{}: {error}", path.display()))
            })
        };
        let damage = match read(limits) {
            Ok(mut engine) if engine.standing.seq == seq => {
                readable = true;
                if store.spec()?.is_none() {
                    store.keep_spec(engine.spec())?;
                }
                let redone = redo(&store, &mut engine, last).or_else(|what| -> Result<(), Fault> {
                    // The limits may have been wider when its events were accepted.
                    engine = read(&limits.wide())?;
                    redo(&store, &mut engine, last).map_err(|_| what)?;
                    engine.set_limits(limits);
                    Ok(())
                });
                if let Err(what) = redone {
                    notes.push(what.into());
                    break;
                }
                if tried {
                    notes.push(format!("{}: was used instead", path.display()));
                }
                return Ok(Recovered { store, engine, notes, again: false });
            }
            Ok(_) => format!("{}: has another event number than its name", path.display()),
            Err(what) => what,
        };
        notes.push(damage);
        tried = true;
    }
    if !tried && !readable {
        notes.push(format!("{}: has no snapshot", folder.display()));
    }
    // Without a readable snapshot there is nothing to compare with; otherwise it is asked for.
    if readable && !limits.rebuild {
        notes.push("noregret serve --rebuild makes the model again from its log".to_owned());
        return Err(notes.join("; ").into());
    }
    match rebuild(&store, limits, last) {
        Ok((engine, note)) => {
            notes.push(note);
            Ok(Recovered { store, engine, notes, again: true })
        }
        Err(what) => {
            notes.push(format!("and it cannot be rebuilt from its log: {what}"));
            Err(notes.join("; ").into())
        }
    }
}

/// The state of the model in `folder`, which was put away with a snapshot after its last event.
/// Fails if it cannot be read.
pub(super) fn wake(folder: &Path, limits: &Limits) -> Result<Engine, Fault> {
    let path = newest_snapshot(folder)?;
    let archive = model_file::read(&path).map_err(|error| error.to_string())?;
    Engine::from_snapshot(&archive, limits).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Makes the model again and lets it learn its log, with the labels that were played then and their
/// probabilities.
fn rebuild(store: &Store, limits: &Limits, last: u64) -> Result<(Engine, String), Fault> {
    let spec = store.spec()?.ok_or("its settings are only in its snapshots")?;
    // Labels that are added in the log come with it.
    let mut first = Spec { retired: Vec::new(), ..spec.clone() };
    if let (Some(labels), Some(known)) = (&mut first.labels, store.labels_at_first()?) {
        labels.truncate(known as usize);
    }
    let mut engine = Engine::new(first, limits).map_err(|refusal| refusal.to_string())?;
    engine.encoder = engine.encoder.clone().with_filled_missing(store.fills_missing()?);
    let (mut learnt, mut skipped, mut replaced) = (0_u64, 0_u64, store.is_from_file()?);
    store.each_after(0, &mut |seq, at, logged| {
        let (event, outcome) = logged?;
        replaced |= matches!(event, Event::Restored { .. });
        match engine.relearn(at, seq, event, outcome) {
            true => learnt += 1,
            false => skipped += 1,
        }
        Ok(())
    })?;
    engine.standing.seq = last;
    engine.retire(&spec.retired);
    let deleted = last.saturating_sub(learnt + skipped);
    let rebuilt = Rebuilt { at: last, learnt, deleted, skipped, replaced };
    let said = rebuilt.lost().unwrap_or_else(|| rebuilt.to_string());
    engine.standing.rebuilt = Some(rebuilt);
    Ok((engine, format!("{}: {said}", store.folder().display())))
}

/// Applies the events after the snapshot, and compares their outcomes.
fn redo(store: &Store, engine: &mut Engine, last: u64) -> Result<(), Fault> {
    store.each_after(engine.standing.seq, &mut |seq, at, logged| {
        let wrong = |what: &dyn std::fmt::Display| {
            Fault::from(format!("{}: event {seq}: {what}", store.path().display()))
        };
        if seq != engine.standing.seq + 1 {
            return Err(wrong(&"the event before it is missing"));
        }
        let (event, outcome) = logged.map_err(|what| wrong(&what))?;
        let (_, again) = engine.apply(at, &event).map_err(|refusal| wrong(&refusal))?;
        if again != outcome {
            return Err(wrong(
                &"its outcome differs from the logged one: the log or the snapshot was changed",
            ));
        }
        Ok(())
    })?;
    if engine.standing.seq != last {
        let at = engine.standing.seq;
        return Err(format!("{}: the log ends at {at}, not at {last}", store.path().display()).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is damaged is said once, and then what was done about it.
    #[test]
    fn damage_is_said_once() {
        let temporary = tempfile::tempdir().expect("a folder");
        let (limits, folder) = (Limits::default(), temporary.path().join("m"));
        let spec: Spec = serde_json::from_value(json!({"learner": "ogd"})).expect("a spec");
        let engine = Engine::new(spec, &limits).expect("a model");
        let header = log::header(&engine, None).expect("a header");
        let store = Store::create(&folder, true, engine.spec(), 0, &engine.snapshot(), &header);
        drop(store.expect("a store"));
        let notes = || recover(&folder, &limits, None).expect("recovered").notes;
        assert!(notes().is_empty());
        std::fs::write(newest_snapshot(&folder).expect("the first"), "junk").expect("writable");
        let said = notes();
        let [damage, done] = &said[..] else { panic!("{said:?}") };
        assert!(damage.contains("safetensors") && done.contains("made again"), "{damage} {done}");
    }
}

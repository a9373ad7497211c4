//! `noregret replay`: learns a decision log again, bit for bit.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use noregret_stream::data_name;
use noregret_stream::decisions::reader::LogReader;
use noregret_stream::decisions::replay::{Replay, ReplayError, lines_replayed};
use noregret_stream::save::file as model_file;

use crate::args::ReplayArgs;
use crate::checkpoint::{Every, Skip};
use crate::failure::Failure;
use crate::hint::replay_error;
use crate::interrupt;
use crate::note::{counted, note};
use crate::open::{describe_learner, read_archive};
use crate::plan::{ReplayPlan, Start};

/// Replays the log.
pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let ReplayPlan { log: path, start, save, checkpoint, limits, json } = ReplayPlan::of(args)?;
    let stop = interrupt::listen();
    let failed = |error: ReplayError| Failure::data(replay_error(data_name(&path), &error));
    let open = || LogReader::open_until(&path, &stop).map_err(Failure::reading);
    let replay = match start {
        Start::Log(model) => {
            let model = model.as_deref().map(read_archive).transpose()?;
            Replay::new(open()?, model.as_ref(), limits)
        }
        Start::After(model, skip) => {
            let (model, log) = (read_archive(&model)?, open()?);
            let lines = match skip {
                Skip::Rows(lines) => lines,
                Skip::Seen => lines_replayed(&model).ok_or_else(|| {
                    Failure::data("--skip seen: the model has no count of replayed lines; give their number")
                })?,
            };
            Replay::go_on(log, &model, limits, lines)
        }
    };
    let mut replay = replay.map_err(failed)?;
    let mut due = Due::new(checkpoint);
    while replay.until(&stop, || due.now()).map_err(failed)? {
        write(&mut replay, save.as_deref(), &path)?;
    }
    write(&mut replay, save.as_deref(), &path)?;
    let lines = replay.lines();
    let replayed = replay.finish();
    if let Some(what) = &replayed.torn {
        note(format_args!("noregret: {what}"));
    }
    let (wrong, waiting) = (replayed.answered - replayed.right, replayed.pending.waiting());
    let decisions = replayed.decisions;
    let stopped = || {
        interrupt::check(&stop, || {
            let after = format!("after {}", counted(decisions, "decision"));
            match &save {
                Some(path) => format!("{after}; continue with --load {} --skip {lines}", path.display()),
                None => after,
            }
        })
    };
    let mut out = std::io::stdout().lock();
    if json {
        let value = serde_json::json!({
            "type": "replayed", "learner": replayed.saved.learner.about().name,
            "decisions": replayed.decisions, "answered": replayed.answered, "right": replayed.right,
            "wrong": wrong, "waiting": waiting, "rounds": replayed.saved.learner.rounds(),
        });
        writeln!(out, "{value}").map_err(Failure::output)?;
        return stopped();
    }
    let lines = [
        ("learner", describe_learner(&replayed.saved.learner)),
        ("decisions", counted(replayed.decisions, "decision")),
        ("feedback", format!("{} right, {wrong} wrong, {waiting} waiting", replayed.right)),
    ];
    for (subject, what) in lines {
        writeln!(out, "{subject:<12} {what}").map_err(Failure::output)?;
    }
    stopped()
}

/// Saves the model, if requested.
fn write(replay: &mut Replay, path: Option<&Path>, log: &str) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let mut archive = replay.archive();
    let mut run: serde_json::Value =
        archive.json("replayed").map_err(|error| Failure::data(error.to_string()))?;
    run["data"] = log.into();
    run["replayed"] = true.into();
    archive.set_text("run", run.to_string());
    model_file::write(&archive, path).map_err(Failure::saving)
}

/// The time of the next checkpoint.
struct Due {
    every: Option<Every>,
    lines: u64,
    since: Instant,
}

impl Due {
    fn new(every: Option<Every>) -> Self {
        Self { every, lines: 0, since: Instant::now() }
    }

    /// Counts a line; returns whether a checkpoint is due.
    fn now(&mut self) -> bool {
        self.lines += 1;
        let due = match self.every {
            None => false,
            Some(Every::Rows(lines)) => self.lines >= lines,
            Some(Every::Seconds(seconds)) => self.since.elapsed() >= Duration::from_secs_f64(seconds),
        };
        if due {
            *self = Self::new(self.every);
        }
        due
    }
}

//! `noregret replay`: the model that a decision log has made, to the bit.

use std::io::Write;

use noregret_stream::decisions::reader::LogReader;
use noregret_stream::decisions::replay::{Limits, replay_until};
use noregret_stream::save::file as model_file;

use crate::args::ReplayArgs;
use crate::cmd::run::check_target;
use crate::failure::Failure;
use crate::hint::replay_error;
use crate::interrupt;
use crate::note::{counted, data_name, note};
use crate::open::{describe_learner, read_archive};

/// Replays the log.
pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    if let Some(path) = &args.save {
        check_target("--save", path)?;
    }
    let model = args.load.as_deref().map(read_archive).transpose()?;
    let stop = interrupt::listen();
    let log = LogReader::open_until(&args.log, &stop).map_err(Failure::reading)?;
    let bytes = usize::try_from(args.memory << 20).unwrap_or(usize::MAX);
    let limits = Limits { waiting: args.pending, bytes };
    let mut replayed = replay_until(log, model.as_ref(), limits, &stop)
        .map_err(|error| Failure::data(replay_error(data_name(&args.log), &error)))?;
    if let Some(what) = &replayed.torn {
        note(format_args!("noregret: {what}"));
    }
    if let Some(path) = &args.save {
        let mut archive = replayed.saved.archive();
        let run = serde_json::json!({
            "data": args.log, "replayed": true, "decisions": replayed.decisions,
            "answered": replayed.answered, "right": replayed.right,
        });
        archive.set_text("run", run.to_string());
        if !replayed.pending.is_empty() {
            replayed.pending.save(&mut archive);
        }
        model_file::write(&archive, path).map_err(Failure::data)?;
    }
    let (wrong, waiting) = (replayed.answered - replayed.right, replayed.pending.waiting());
    let decisions = replayed.decisions;
    let stopped = || interrupt::check(&stop, || format!("after {}", counted(decisions, "decision")));
    let mut out = std::io::stdout().lock();
    if args.json {
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

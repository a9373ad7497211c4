//! `noregret list`: the catalogue, from the registry.

use std::io::Write;

use noregret::learner::{Classes, Feedback};
use noregret::registry::{ALGORITHMS, Entry, find};
use noregret_stream::caution::Caution;

use crate::args::ListArgs;
use crate::failure::Failure;
use crate::note::{WIDTH, plain, print_beside, wrapped};
use crate::settings::{as_options, in_practice};

/// Shows all learners, or one.
pub(crate) fn run(args: &ListArgs) -> Result<(), Failure> {
    let entries: Vec<&Entry> = match &args.name {
        Some(name) => vec![find(name)?],
        None => ALGORITHMS.iter().collect(),
    };
    let mut out = std::io::stdout().lock();
    if args.json {
        for entry in entries {
            writeln!(out, "{}", json(entry)).map_err(Failure::output)?;
        }
        return Ok(());
    }
    match &args.name {
        Some(_) => one(&mut out, entries[0]),
        None => all(&mut out, &entries),
    }
    .map_err(Failure::output)
}

/// Widths of the columns with names: where all learners are listed,
const NAME: usize = 30;
/// before the parameters of one,
const SUBJECT: usize = 13;
/// and for each parameter.
const PARAMETER: usize = 20;

fn all(out: &mut impl Write, entries: &[&Entry]) -> std::io::Result<()> {
    for entry in entries {
        let mark = match entry.feedback {
            Feedback::Bandit | Feedback::Either => " (bandit)",
            Feedback::Full | Feedback::Experts => "",
        };
        let text = format!("{}{mark}", entry.about.summary);
        print_beside(out, entry.about.name, NAME, wrapped(&text, WIDTH - NAME, ""))?;
    }
    writeln!(
        out,
        "\n(bandit): learns with --feedback bandit, from what the label that it plays has\nearned.\n\nDefaults are the theorem's. Where they are too cautious for streams of ordinary\nlength, these settings work, without its guarantee:\n"
    )?;
    for entry in entries {
        if let Some(caution) = Caution::of(entry) {
            writeln!(out, "{:<18} {}", entry.about.name, as_options(&caution))?;
        }
    }
    writeln!(out, "\n`noregret list NAME` explains a learner: its parameters, time and memory.")
}

fn one(out: &mut impl Write, entry: &Entry) -> std::io::Result<()> {
    let about = entry.about;
    for line in wrapped(&format!("{}: {}", about.name, about.summary), WIDTH, "") {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    for (subject, what) in [
        ("paper", format!("{}, {}", about.paper.key, about.paper.place)),
        ("guarantee", about.guarantee.to_owned()),
        ("time", about.cost.to_owned()),
        ("memory", about.memory.to_owned()),
        ("learns from", accepts(entry)),
        ("feedback", feedback(entry).1.to_owned()),
    ]
    .into_iter()
    .chain(Caution::of(entry).map(|caution| ("in practice", in_practice(&caution))))
    {
        print_beside(out, subject, SUBJECT, wrapped(&what, WIDTH - SUBJECT, ""))?;
    }
    writeln!(out, "\nParameters, given as --set name=value:\n")?;
    for param in entry.params {
        let default = format!("default: {}", param.default);
        let meaning = plain(&param.summary());
        let width = WIDTH - PARAMETER;
        let lines = [wrapped(&meaning, width, ""), wrapped(&default, width, "  ")].concat();
        print_beside(out, param.name, PARAMETER, lines)?;
    }
    Ok(())
}

/// The feedback, in one word and in a sentence.
fn feedback(entry: &Entry) -> (&'static str, &'static str) {
    match entry.feedback {
        Feedback::Full => ("full", "the label"),
        Feedback::Bandit => ("bandit", "whether the played label was right"),
        Feedback::Experts => ("experts", "the label, which determines the loss of every expert"),
        Feedback::Either => ("either", "the label, or with mode=bandit whether the played label was right"),
    }
}

fn accepts(entry: &Entry) -> String {
    let accepts = entry.about.accepts;
    if entry.feedback == Feedback::Experts {
        return "votes of experts in [-1, 1], one column per expert; two classes, -1 votes for the first"
            .to_owned();
    }
    let classes = match accepts.classes {
        Classes::Any => "two or more classes",
        Classes::Two => "two classes",
        Classes::Real => "real-valued targets",
    };
    let mut text = classes.to_owned();
    if accepts.soft_labels {
        text += ", probability vectors";
    }
    text += if accepts.weights { ", importance weights" } else { ", no importance weights" };
    text
}

fn json(entry: &Entry) -> serde_json::Value {
    let about = entry.about;
    let params: Vec<_> = entry
        .params
        .iter()
        .map(|param| {
            serde_json::json!({
                "name": param.name,
                "kind": param.kind.name(),
                "words": param.words,
                "meaning": plain(&param.summary()),
                "default": param.default,
            })
        })
        .collect();
    serde_json::json!({
        "name": about.name, "summary": about.summary, "paper": about.paper.key, "place": about.paper.place,
        "guarantee": about.guarantee, "time": about.cost, "memory": about.memory, "learns_from": accepts(entry),
        "feedback": feedback(entry).0,
        "practice": entry.practice.map(|practice| practice.settings),
        "parameters": params,
    })
}

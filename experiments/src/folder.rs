//! What a figure leaves behind: configuration, numbers, pictures, and a page that holds the paper's words against ours.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use noregret::replace::Replacement;
use serde_json::json;

use crate::{ExperimentError, Figure, Outcome, Size};

/// Writes `NAME.md`, `NAME.csv`, `NAME.svg`, `NAME.png` and `config.json` to `folder`, which is made if need be.
///
/// # Errors
/// What cannot be drawn or written.
pub fn write(figure: &Figure, size: Size, outcome: &Outcome, folder: &Path) -> Result<(), ExperimentError> {
    let failure = |path: &Path, error: String| ExperimentError::Write(path.display().to_string(), error);
    std::fs::create_dir_all(folder).map_err(|error| failure(folder, error.to_string()))?;
    let name = figure.name;
    let config = json!({ "figure": name, "size": size_name(size), "config": figure.config(size) });
    let config = serde_json::to_string_pretty(&config).expect("plain values") + "\n";
    let png = outcome.figure.png().map_err(|error| failure(folder, error))?;
    let files = [
        ("config.json".to_owned(), config.into_bytes()),
        (format!("{name}.csv"), outcome.points.csv().into_bytes()),
        (format!("{name}.svg"), outcome.figure.svg().into_bytes()),
        (format!("{name}.png"), png),
        // The page last: it speaks of the others.
        (format!("{name}.md"), page(figure, size, outcome).into_bytes()),
    ];
    for (name, content) in files {
        let path = folder.join(name);
        Replacement::open(&path)
            .and_then(|mut file| file.write_all(&content).and_then(|()| file.finish()))
            .map_err(|error| failure(&path, error.to_string()))?;
    }
    Ok(())
}

fn size_name(size: Size) -> &'static str {
    match size {
        Size::Quick => "quick",
        Size::Full => "full",
    }
}

/// The page, as Markdown.
pub fn page(figure: &Figure, size: Size, outcome: &Outcome) -> String {
    let Figure { name, summary, paper, .. } = figure;
    let quick = if size == Size::Quick { " --quick" } else { "" };
    let mut out = format!(
        "# {name}: {summary}\n\n{paper}.\n\n    noregret reproduce {name}{quick}\n\n![{summary}]({name}.svg)\n\n"
    );
    out += "| what is claimed | our number | difference | holds |\n|---|---|---|---|\n";
    for claim in &outcome.claims {
        let holds = if claim.holds { "yes" } else { "**no**" };
        let _ = writeln!(out, "| {} | {} | {} | {holds} |", claim.says, claim.ours, claim.difference);
    }
    for note in &outcome.notes {
        let _ = write!(out, "\n{note}\n");
    }
    if !outcome.summary.is_empty() {
        let _ = write!(out, "\n{}", outcome.summary.markdown());
    }
    out
}

//! What a figure leaves behind: configuration, numbers, pictures, and a page that holds the paper's words
//! against ours.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use noregret_stream::Replacement;
use serde_json::{Value, json};

use crate::outcome::cell_text;
use crate::{ExperimentError, Figure, Options, Outcome, Size};

/// Writes `NAME.md`, `NAME.csv`, `NAME.svg`, `NAME.png` and `NAME.json`, the configuration, to `folder`,
/// which is made if need be.
///
/// # Errors
/// What cannot be drawn or written.
pub fn write(
    figure: &Figure,
    options: &Options<'_>,
    outcome: &Outcome,
    folder: &Path,
) -> Result<(), ExperimentError> {
    let failure = |path: &Path, error: String| ExperimentError::Write(path.display().to_string(), error);
    std::fs::create_dir_all(folder).map_err(|error| failure(folder, error.to_string()))?;
    let name = figure.name;
    let sizes = figure.config(options)?;
    let config = json!({ "figure": name, "size": size_name(options.size), "config": sizes });
    let config = serde_json::to_string_pretty(&config).expect("plain values") + "\n";
    let png = outcome.figure.png().map_err(|error| failure(folder, error.into()))?;
    let files = [
        (format!("{name}.json"), config.into_bytes()),
        (format!("{name}.csv"), outcome.points.csv().into_bytes()),
        (format!("{name}.svg"), outcome.figure.svg().into_bytes()),
        (format!("{name}.png"), png),
        // The page last: it names the others.
        (format!("{name}.md"), page(figure, options, &sizes, outcome).into_bytes()),
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
fn page(figure: &Figure, options: &Options<'_>, sizes: &Value, outcome: &Outcome) -> String {
    let Figure { name, summary, paper, .. } = figure;
    let mut command = format!("noregret reproduce {name}");
    if options.size == Size::Quick {
        command += " --quick";
    }
    for (name, value) in &options.set {
        let _ = write!(command, " --set {name}={value}");
    }
    if !figure.data.is_empty() {
        command += " --data FOLDER";
    }
    let sizes: Vec<String> = (sizes.as_object().into_iter().flatten())
        .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
        .collect();
    let mut out = format!(
        "# {name}: {summary}\n\n{paper}.\n\n    {command}\n\n![{summary}]({name}.svg)\n\n\
         The numbers of the picture are in [{name}.csv]({name}.csv). Sizes, also in [{name}.json]({name}.json): {}.\n\n",
        sizes.join("; ")
    );
    out += "| what is claimed | our number | difference | holds |\n|---|---|---|---|\n";
    for claim in &outcome.claims {
        let holds = if claim.holds { "yes" } else { "**no**" };
        let [says, ours, difference] =
            [&claim.says, &claim.ours, &claim.difference].map(|text| cell_text(text));
        let _ = writeln!(out, "| {says} | {ours} | {difference} | {holds} |");
    }
    for note in &outcome.notes {
        let _ = write!(out, "\n{note}\n");
    }
    if !outcome.summary.is_empty() {
        let _ = write!(out, "\n{}", outcome.summary.markdown());
    }
    out
}

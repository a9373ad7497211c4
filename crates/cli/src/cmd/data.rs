//! `noregret data`: the public data sets.

use std::fs::create_dir_all;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;
use noregret_experiments::data::download::{Downloader, checksum, unwritable};
use noregret_experiments::data::prepare::prepare;
use noregret_experiments::data::{Original, SETS, Set, find};

use crate::args::{FetchArgs, SetsCommand};
use crate::failure::Failure;
use crate::note::note;
use crate::progress::style;

/// Shows the sets, or downloads one.
pub(crate) fn run(command: &SetsCommand) -> Result<(), Failure> {
    match command {
        SetsCommand::List { data } => list(data).map_err(Failure::output),
        SetsCommand::Fetch(args) => fetch(args),
    }
}

fn list(folder: &Path) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for set in SETS {
        writeln!(out, "{:<10} {}", set.name, set.about)?;
        writeln!(out, "{:<10} {}", "", set.terms)?;
        for Original { path, sha256 } in set.originals {
            let known = sha256.map_or_else(
                || "checksum not known".to_owned(),
                |sha256| format!("sha256 {}…", &sha256[..12]),
            );
            writeln!(out, "{:<10} from {}{path} ({known})", "", set.home)?;
        }
        for made in set.made {
            let file = folder.join(made.file);
            let there = if file.exists() { "is there" } else { "is not there" };
            let checked = if made.sha256.is_some() { ", its rows are checked" } else { "" };
            writeln!(out, "{:<10} makes {} ({there}{checked})", "", file.display())?;
        }
    }
    Ok(())
}

/// Downloads the originals to a separate folder, and converts them.
fn fetch(args: &FetchArgs) -> Result<(), Failure> {
    let set = find(&args.name).map_err(Failure::usage)?;
    let missing = set.made.iter().any(|made| !args.data.join(made.file).exists());
    if !missing {
        let files: Vec<&str> = set.made.iter().map(|made| made.file).collect();
        note(format_args!("{} is in {} already.", files.join(" and "), args.data.display()));
        return Ok(());
    }
    note(format_args!("{}: {}; {}", set.name, set.about, set.terms));
    let folder = args.data.join("originals");
    create_dir_all(&folder).map_err(|error| Failure::data(unwritable(&folder, &error)))?;
    let downloader = Downloader::default();
    let originals: Vec<PathBuf> = (set.originals.iter())
        .map(|original| download(&downloader, set, original, args.from.as_deref(), &folder))
        .collect::<Result<_, _>>()?;
    let ready = prepare(set.form, &originals, set.made, &args.data).map_err(Failure::data)?;
    for (ready, made) in ready.iter().zip(set.made) {
        let known = verdict(made.sha256.is_some());
        let rows = if ready.rows == made.rows {
            format!("{} rows", ready.rows)
        } else {
            format!("{} rows, not the {} of the published set", ready.rows, made.rows)
        };
        let (path, sha256) = (ready.path.display(), &ready.sha256);
        writeln!(std::io::stdout(), "{path}  {rows}; sha256 of the text {sha256} ({known})")
            .map_err(Failure::output)?;
    }
    Ok(())
}

/// The remark on a checksum.
fn verdict(known: bool) -> &'static str {
    if known { "as expected" } else { "not known: compare it with another source's" }
}

/// Downloads a file, unless it exists, and prints its checksum.
fn download(
    downloader: &Downloader,
    set: &Set,
    original: &Original,
    from: Option<&str>,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let (path, wanted) = (folder.join(original.name()), original.sha256);
    let sha256 = if path.exists() {
        let sha256 = checksum(&path).map_err(|error| Failure::data(unwritable(&path, &error)))?;
        if let Some(wanted) = wanted.filter(|wanted| *wanted != sha256) {
            return Err(Failure::data(format!(
                "{}: has SHA-256 {sha256}, and {wanted} was needed; remove it to have it downloaded again",
                path.display()
            )));
        }
        sha256
    } else {
        let url = match from {
            Some(base) => format!("{}/{}", base.trim_end_matches('/'), original.name()),
            None => format!("{}{}", set.home, original.path),
        };
        note(format_args!("from {url}"));
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::no_length();
            bar.set_style(style("{bar:30} {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left"));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let mut seen = |have: u64, total: Option<u64>| {
            if let Some(bar) = &bar {
                total.into_iter().for_each(|total| bar.set_length(total));
                bar.set_position(have);
            }
        };
        let downloaded = downloader.fetch(&url, &path, wanted, &mut seen);
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        downloaded.map_err(Failure::data)?
    };
    let known = verdict(wanted.is_some());
    writeln!(std::io::stdout(), "{}  sha256 {sha256} ({known})", path.display()).map_err(Failure::output)?;
    Ok(path)
}

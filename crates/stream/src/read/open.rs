//! Opens data of any format.

use std::io::Read;
use std::sync::Arc;

use crate::decisions::foreign::PlayedRows;
use crate::fault::{Fault, fault};
use crate::read::ahead::ReadAhead;
use crate::read::decompress::PARQUET;
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::memory::{self, MemoryTable};
use crate::read::missing::Missing;
use crate::read::options::{ReadOptions, redis_stream};
use crate::read::reader::Reader;
use crate::read::source::Source;
#[cfg(feature = "parquet")]
use crate::read::source::parquet_file;
use crate::read::unlabelled::Unlabelled;
use crate::read::{arff, csv, libsvm, ndjson, recognise, redis, vw};

/// Opens a file, or standard input for `-`.
///
/// Gzip (with one or several members) and zstd are recognised by their first bytes, whatever the
/// name. With several cores, a file is decompressed and parsed ahead on separate threads.
///
/// With the cargo feature `redis`, `redis://HOST:PORT/DATABASE?stream=NAME` is a Redis stream, which is
/// read as a pipe: the fields of an entry are the columns of a row, or its only field `row` is the row as
/// an object of JSON, and its id is the name of the row.
///
/// # Errors
///
/// The file cannot be read, has no rows, or does not fit the options.
pub fn open(path: &str, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let options = &*options.of_log();
    if redis_stream(path).is_some() {
        let entries = redis::source(path, options)?;
        return from_source(entries, &ReadOptions { format: Some(Format::Ndjson), ..options.clone() });
    }
    #[cfg(feature = "parquet")]
    if let Some(file) = parquet_file(path, options.format == Some(Format::Parquet)) {
        let other = options.format.filter(|format| *format != Format::Parquet);
        let other = other.map_or(Ok(()), |format| {
            Err(fault!("is a Parquet file, and was to be read as {}; leave out the format", format.name()))
        });
        other
            .and_then(|()| check_text(Format::Parquet, options))
            .and_then(|()| check_offered(Format::Parquet, options))
            .map_err(|what| ReadError::new(path, 0, what.into()))?;
        let reader = crate::read::parquet::reader(file, path, options)?;
        return ahead(labelled(reader, path, options, None), path);
    }
    from_source(Source::open(path, &options.stop)?, options)
}

/// Reads examples from any stream of bytes, as [`open`] does; `name` is used in errors, and its
/// extension selects the format.
///
/// # Errors
///
/// As for [`open`].
pub fn from_read(
    input: Box<dyn Read + Send>,
    name: &str,
    options: &ReadOptions,
) -> Result<Box<dyn Reader>, ReadError> {
    from_source(Source::from_read(input, name, None)?, options)
}

/// Reads a table in memory, as [`open`] does with one in a file; `name` is used in errors. Sentences count
/// its rows from 0.
///
/// # Errors
///
/// The table has no rows, or does not fit the options.
pub fn from_table(
    table: Arc<MemoryTable>,
    name: &str,
    options: &ReadOptions,
) -> Result<Box<dyn Reader>, ReadError> {
    let options = &*options.of_log();
    Ok(labelled(memory::reader(table, name, options)?, name, options, Some(memory::ROW_0)))
}

fn from_source(source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let (name, options) = (source.name().to_owned(), &*options.of_log());
    let reader = parsed(source, options).map_err(|error| error.with_row_0(options.row_0))?;
    let reader = labelled(reader, &name, options, options.row_0);
    if options.describes { Ok(reader) } else { ahead(reader, &name) }
}

/// The rows without the labels that count as missing; those of a log of another program as decisions.
fn labelled(
    reader: Box<dyn Reader>,
    name: &str,
    options: &ReadOptions,
    row_0: Option<u64>,
) -> Box<dyn Reader> {
    let schema = reader.schema();
    let mut values = schema.csv.map(|csv| csv.marks).unwrap_or_default();
    values.extend(schema.missing.values);
    values.extend_from_slice(&options.classes);
    let classes = Missing { words: vec![], values };
    let missing = classes.with(&options.missing());
    match &options.logged {
        Some(keys) => Box::new(PlayedRows::new(reader, keys.clone(), missing, name)),
        None => Box::new(Unlabelled::new(reader, missing, row_0)),
    }
}

/// Parses files ahead of their use.
fn ahead(reader: Box<dyn Reader>, name: &str) -> Result<Box<dyn Reader>, ReadError> {
    // The program that writes to a pipe may wait for each answer.
    if reader.size().is_some() { ReadAhead::boxed(reader, name) } else { Ok(reader) }
}

/// Refuses to look for the labels on offer in a format that does not have them in a column.
fn check_offered(format: Format, options: &ReadOptions) -> Result<(), Fault> {
    match &options.offered {
        Some(offered) if !format.is_table() => Err(fault!(
            "is read as {}, which has no column or key {} of the labels on offer; {} was needed",
            format.name(),
            shown(offered),
            Format::names(Format::is_table)
        )),
        _ => Ok(()),
    }
}

/// Refuses what is said of another format than that of the data, where it has no effect.
fn check_text(format: Format, options: &ReadOptions) -> Result<(), Fault> {
    let given = [
        ("delimiter", options.delimiter.is_some(), Format::Csv),
        ("header", options.header.is_some(), Format::Csv),
        ("index-base", options.index_base.is_some(), Format::Libsvm),
    ];
    let other = given.into_iter().find(|(_, given, of)| *given && *of != format);
    other.map_or(Ok(()), |(option, _, of)| {
        let (format, of) = (format.name(), of.name());
        Err(fault!(
            "is read as {format}, where the option {option} has no effect, which is for {of}; leave it out"
        ))
    })
}

/// Refuses the names of columns in a format that has none. In Vowpal Wabbit's text, rows may be named by
/// their tags.
fn check_columns(format: Format, options: &ReadOptions) -> Result<(), Fault> {
    let has_tags = format == Format::Vw;
    let id = options.id.as_ref().filter(|name| !has_tags || *name != "tag");
    let one = [("weight", options.weight.as_ref()), ("id", id)];
    let one = one.into_iter().filter_map(|(what, name)| Some((what, name?)));
    let several = options.given().into_iter();
    let several = several.filter_map(|(names, role)| Some((role.name(), names.first()?)));
    match one.chain(several).next() {
        Some((what, name)) if !format.is_table() => Err(fault!(
            "is read as {}, which has no columns with names; {what} = {} needs a table ({}){}",
            format.name(),
            shown(name),
            Format::names(Format::is_table),
            if has_tags && what == "id" { ", and id = tag names rows by their tags" } else { "" }
        )),
        _ => Ok(()),
    }
}

fn parsed(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let format = recognise(&mut source, options)?;
    if let (false, Some(label)) = (format.is_table(), &options.label) {
        let (format, label) = (format.name(), shown(label));
        return Err(source.file_error(format!(
            "is read as {format}, where the label is first on the line; the label cannot be column {label}"
        )));
    }
    check_text(format, options).map_err(|what| source.file_error(what))?;
    check_offered(format, options).map_err(|what| source.file_error(what))?;
    check_columns(format, options).map_err(|what| source.file_error(what))?;
    if format != Format::Ndjson {
        options.decisions.check_data().map_err(|what| source.file_error(what))?;
    }
    match format {
        Format::Libsvm => libsvm::reader(source, options),
        Format::Vw => vw::reader(source, options),
        Format::Csv => csv::reader(source, options),
        Format::Arff => arff::reader(source, options),
        Format::Ndjson => ndjson::reader(source, options),
        Format::Parquet if cfg!(feature = "parquet") => Err(source.file_error("is no Parquet file")),
        Format::Parquet => Err(source.file_error(format!("is to be read as {PARQUET}"))),
    }
}

/// Whether a file begins as no text does: with zero bytes among the first few.
fn is_binary(text: &[u8]) -> bool {
    text.iter().take(16).filter(|byte| **byte == 0).count() > 1
}

/// Text that stands for data, and is none: its beginning, and what it is.
const NO_DATA: [(&str, &str); 17] = [
    (
        "version https://git-lfs.github.com/spec/",
        "is a pointer of Git LFS to the data; git lfs pull fetches them",
    ),
    ("<!doctype html", "is a page of HTML and no table, such as one that says why a file could not be had"),
    ("<html", "is a page of HTML and no table, such as one that says why a file could not be had"),
    ("<table", "is a table of HTML; write its rows as CSV"),
    ("<?xml", "is XML and no table; write its rows as CSV, JSON or Parquet"),
    ("%PDF-", "is a document and no table; write its rows as CSV, JSON or Parquet"),
    ("SQLite format 3", "is a database of SQLite; sqlite3 -csv -header writes the rows of a query"),
    ("<stata_dta>", "is a file of Stata; write its rows as CSV, JSON or Parquet"),
    ("$FL2", "is a file of SPSS; write its rows as CSV, JSON or Parquet"),
    ("-- MySQL dump", SQL),
    ("-- MariaDB dump", SQL),
    ("--\n-- PostgreSQL database dump", SQL),
    ("PRAGMA foreign_keys", SQL),
    ("CREATE TABLE ", SQL),
    ("INSERT INTO ", SQL),
    ("DROP TABLE ", SQL),
    ("COPY public.", SQL),
];

/// About dumps of databases.
const SQL: &str = "is a script of SQL and no table; write the rows of a query as CSV: psql --csv -c QUERY, sqlite3 -csv -header, or SELECT … \
                   INTO OUTFILE of MySQL";

/// About model files.
const MODEL: &str =
    "is a file of tensors, as models are, and no data: predict and --load take a model, and inspect shows it";

/// About files that are no text.
const BINARY: &str = "is a binary file of a kind that is not read, as are FlatBuffers and caches of Vowpal Wabbit; write its rows as \
                      text, JSON or Parquet";

/// About archives of files.
const TAR: &str = "is a tar archive; unpack it, as tar -xOf does for a file in it";

/// About text of two bytes a letter without the mark that says so.
const WIDE: &str =
    "is UTF-16 text, where UTF-8 is read; iconv -f UTF-16LE -t UTF-8 converts it, or -f UTF-16BE";

/// Whether every other one of the first bytes is zero.
fn is_wide(text: &[u8]) -> bool {
    let bytes = |from: usize| text.iter().take(16).skip(from).step_by(2);
    text.len() >= 6
        && [0, 1]
            .iter()
            .any(|from| bytes(*from).all(|byte| *byte == 0) && bytes(1 - from).all(|byte| *byte != 0))
}

/// Whether these are the first bytes of a model file: its header follows the length of this in eight bytes.
pub(crate) fn begins_a_model(bytes: &[u8]) -> bool {
    bytes.get(8..).is_some_and(|header| header.starts_with(b"{\"__metadata__\""))
}

/// What a file is that has no data, by its first lines; `None` if it may have some.
pub(crate) fn no_data(text: &[u8]) -> Option<&'static str> {
    let begins = |start: &str| {
        let first = text.trim_ascii_start().get(..start.len());
        first.is_some_and(|first| first.eq_ignore_ascii_case(start.as_bytes()))
    };
    let other = NO_DATA.into_iter().find(|(start, _)| begins(start));
    let binary = || {
        let is_tar = text.get(257..262) == Some(&b"ustar"[..]);
        let what = if begins_a_model(text) { MODEL } else { BINARY };
        let what = if is_wide(text) { WIDE } else { what };
        if is_tar { Some(TAR) } else { is_binary(text).then_some(what) }
    };
    other.map(|(_, what)| what).or_else(binary)
}

/// Largest number of blank lines that are skipped to recognise a format.
const MOST_BLANK_LINES: usize = 1 << 20;

fn recognise(source: &mut Source, options: &ReadOptions) -> Result<Format, ReadError> {
    let known = options.format.or_else(|| Format::from_file_name(source.name()));
    let saved = options.schema.as_ref().map(|schema| match schema.format {
        // The text with the same columns.
        Format::Parquet => Format::Csv,
        format => format,
    });
    // With a known format, no row has to be read in advance, even on a pipe.
    let waits = source.size().is_none();
    let mut lines = if known.is_some() || (waits && saved.is_some()) { 1 } else { recognise::LINES };
    let mut peek = source.peek(lines, 1)?;
    while peek.bytes.trim_ascii().is_empty() && lines < MOST_BLANK_LINES {
        if peek.all {
            return Err(ReadError::new(source.name(), 0, ReadErrorKind::Empty));
        }
        lines *= 2;
        peek = source.peek(lines, 1)?;
    }
    let text = peek.bytes.trim_ascii_end();
    if let Some(what) = no_data(text).filter(|what| *what != BINARY || known != Some(Format::Parquet)) {
        return Err(source.file_error(what));
    }
    if text.contains(&b'\r') && !text.contains(&b'\n') {
        let what = "ends its lines by carriage returns alone; convert them to line feeds: tr '\\r' '\\n'";
        return Err(source.file_error(what));
    }
    if let Some(known) = known {
        return Ok(known);
    }
    if let Some(what) = recognise::other_json(&peek) {
        return Err(source.file_error(what));
    }
    if recognise::is_drawn(&peek) {
        return Err(source.file_error(recognise::DRAWN));
    }
    if recognise::is_double(&peek) {
        return Err(source.file_error(recognise::DOUBLE));
    }
    let seen = recognise::from_content(&peek);
    let seen = match saved {
        Some(saved) if !matches!(seen, Some(Format::Ndjson | Format::Vw | Format::Arff)) => Some(saved),
        _ => seen,
    };
    let seen = seen.or_else(|| options.delimiter.map(|_| Format::Csv));
    seen.ok_or_else(|| source.file_error(ReadErrorKind::UnknownFormat))
}

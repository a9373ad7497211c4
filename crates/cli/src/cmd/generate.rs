//! `noregret generate`: a synthetic stream in any format.

use std::io::Write;
use std::path::Path;

use noregret::param::Values;
use noregret_experiments::synthetic::{RECIPES, Recipe, Synthetic, TABLES, Table, TableRecipe};
use noregret_stream::{Columns, Format, Replacement, Row, WriteError, create, csv_cell};

use crate::args::GenerateArgs;
use crate::failure::Failure;
use crate::note::{WIDTH, plain, print_beside, wrapped};
use crate::settings::Settings;

/// Writes the stream, or lists the streams.
pub(crate) fn run(args: &GenerateArgs) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        return list().map_err(Failure::output);
    };
    let (values, seed) = parameters(&args.set)?;
    let seed = seed.unwrap_or(args.seed);
    let format = args.format.or_else(|| Format::from_file_name(&args.output));
    if let Some(recipe) = TableRecipe::find(name) {
        if let Some(format) = format.filter(|format| *format != Format::Csv) {
            return Err(Failure::usage(format!(
                "--format {format}: {name} is a table with text; csv was needed"
            )));
        }
        let mut table = recipe.make(&values, seed)?;
        return output(&args.output, |out| write_table(table.as_mut(), args.rows, out));
    }
    if let Some(format) = format.filter(|format| !format.is_written()) {
        return Err(Failure::usage(format!(
            "--format {format}: the format is read, and not written; {} was needed",
            Format::names(Format::is_written)
        )));
    }
    let recipe = Recipe::find(name).map_err(Failure::usage)?;
    let stream = recipe.make(&values, args.rows, seed)?;
    let usual = if stream.states_costs() { Format::Vw } else { Format::Libsvm };
    let format = format.unwrap_or(usual);
    if stream.states_costs() && format != Format::Vw {
        return Err(Failure::usage(format!(
            "--format {format}: the rows of {name} have costs of all labels; vw was needed"
        )));
    }
    output(&args.output, |out| write(stream, format, args.rows, out))
}

/// Calls `write` with the file, which is created when it is complete, or standard output for -.
fn output(
    path: &str,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), WriteError>,
) -> Result<(), Failure> {
    if path == "-" {
        return write(&mut std::io::stdout()).map_err(|error| match error {
            WriteError::Io(error) => Failure::output(error),
            other => Failure::data(other),
        });
    }
    let failure = |error: WriteError| Failure::data(format!("{path}: {error}"));
    let io_failure = |error: std::io::Error| failure(error.into());
    let mut file = Replacement::open(Path::new(path)).map_err(io_failure)?;
    if path.ends_with(".gz") {
        let mut encoder = flate2::write::GzEncoder::new(&mut file, flate2::Compression::default());
        write(&mut encoder).map_err(failure)?;
        encoder.finish().map_err(io_failure)?;
    } else if path.ends_with(".zst") {
        let mut encoder = zstd::Encoder::new(&mut file, 0).map_err(io_failure)?;
        write(&mut encoder).map_err(failure)?;
        encoder.finish().map_err(io_failure)?;
    } else {
        write(&mut file).map_err(failure)?;
    }
    file.finish().map_err(io_failure)
}

fn write(mut stream: Synthetic, format: Format, rows: u64, out: impl Write + Send) -> Result<(), WriteError> {
    let columns = Columns::Numbered { base: 1, count: stream.features() as u32 };
    let mut writer = create(format, Box::new(out));
    let mut row = Row::new();
    for _ in 0..rows {
        stream.next(&mut row);
        writer.write(&row, &columns)?;
    }
    writer.flush()
}

fn write_table(table: &mut dyn Table, rows: u64, out: &mut (dyn Write + Send)) -> Result<(), WriteError> {
    let mut out = std::io::BufWriter::new(out);
    let mut row: Vec<String> = table.header().into_iter().map(str::to_owned).collect();
    write_cells(&row, &mut out)?;
    for _ in 0..rows {
        table.next(&mut row);
        write_cells(&row, &mut out)?;
    }
    out.flush()?;
    Ok(())
}

/// A row of CSV.
fn write_cells(cells: &[String], out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}", cells.iter().map(|cell| csv_cell(cell)).collect::<Vec<_>>().join(","))
}

/// The parameters of a stream, dimensions included, and the seed if it is among them.
fn parameters(words: &[String]) -> Result<(Values, Option<u64>), Failure> {
    let Settings { classes, features, seed, mut params, .. } = Settings::parse(words)?;
    for (name, value) in [("classes", classes), ("features", features)] {
        if let Some(value) = value {
            params.insert(name.to_owned(), noregret::param::Value::Integer(value));
        }
    }
    Ok((params, seed))
}

/// Width of the column with names.
const NAME: usize = 13;

fn list() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let streams = RECIPES.iter().map(|recipe| (recipe.name, recipe.summary, recipe.params));
    let tables = TABLES.iter().map(|table| (table.name, table.summary, table.params));
    for (name, summary, params) in streams.chain(tables) {
        let mut lines = wrapped(summary, WIDTH - NAME, "");
        for param in params {
            let meaning = plain(&param.summary());
            let text = format!("--set {}=…  {meaning} (default: {})", param.name, param.default);
            lines.extend(wrapped(&text, WIDTH - NAME, "  "));
        }
        print_beside(&mut out, name, NAME, lines)?;
    }
    Ok(())
}

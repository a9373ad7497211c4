//! `noregret generate`: a synthetic stream in any format.

use std::io::Write;
use std::path::Path;

use noregret::param::Values;
use noregret_stream::Replacement;
use noregret_stream::synthetic::{RECIPES, Recipe, Synthetic};
use noregret_stream::{Columns, Format, Row, WriteError, create};

use crate::args::GenerateArgs;
use crate::failure::Failure;
use crate::note::plain;
use crate::settings::Settings;

/// Writes the stream, or shows which there are.
pub(crate) fn run(args: &GenerateArgs) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        return list().map_err(Failure::output);
    };
    let recipe = Recipe::find(name).map_err(Failure::usage)?;
    let (values, seed) = parameters(&args.set)?;
    let stream = recipe.make(&values, args.rows, seed.unwrap_or(args.seed))?;
    let format = args.format.or_else(|| Format::from_file_name(&args.output)).unwrap_or(Format::Libsvm);
    if args.output == "-" {
        return write(stream, format, args.rows, std::io::stdout()).map_err(|error| match error {
            WriteError::Io(error) => Failure::output(error),
            other => Failure::data(other),
        });
    }
    let failure = |error: WriteError| Failure::data(format!("{}: {error}", args.output));
    let io_failure = |error: std::io::Error| failure(error.into());
    let mut file = Replacement::open(Path::new(&args.output)).map_err(io_failure)?;
    if args.output.ends_with(".gz") {
        let mut encoder = flate2::write::GzEncoder::new(&mut file, flate2::Compression::default());
        write(stream, format, args.rows, &mut encoder).map_err(failure)?;
        encoder.finish().map_err(io_failure)?;
    } else if args.output.ends_with(".zst") {
        let mut encoder = zstd::Encoder::new(&mut file, 0).map_err(io_failure)?;
        write(stream, format, args.rows, &mut encoder).map_err(failure)?;
        encoder.finish().map_err(io_failure)?;
    } else {
        write(stream, format, args.rows, &mut file).map_err(failure)?;
    }
    file.finish().map_err(io_failure)
}

fn write(
    mut stream: Box<dyn Synthetic>,
    format: Format,
    rows: u64,
    out: impl Write + Send,
) -> Result<(), WriteError> {
    let columns = Columns::Numbered { base: 1, count: stream.features() as u32 };
    let mut writer = create(format, Box::new(out));
    let mut row = Row::new();
    for _ in 0..rows {
        stream.next(&mut row);
        writer.write(&row, &columns)?;
    }
    writer.flush()
}

/// The parameters of a stream, which has no dimensions apart from them, and the seed if it is among them.
fn parameters(words: &[String]) -> Result<(Values, Option<u64>), Failure> {
    let Settings { classes, features, seed, mut params } = Settings::parse(words)?;
    for (name, value) in [("classes", classes), ("features", features)] {
        if let Some(value) = value {
            params.insert(name.to_owned(), noregret::param::Value::Integer(value));
        }
    }
    Ok((params, seed))
}

fn list() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for recipe in RECIPES {
        writeln!(out, "{:<12} {}", recipe.name, recipe.summary)?;
        for param in recipe.params {
            writeln!(
                out,
                "{:<12}   --set {}=…  {} (default: {})",
                "",
                param.name,
                plain(&param.summary()),
                param.default
            )?;
        }
    }
    Ok(())
}

//! `noregret predict`: a saved model, new rows, no learning.

use std::io::{BufWriter, StdoutLock, Write};
use std::path::Path;

use noregret::example::Label;
use noregret::prediction::{Decision, argmax};
use noregret_stream::Replacement;
use noregret_stream::encode::Example;
use noregret_stream::encode::examples::{ReadExamples, Step};
use noregret_stream::run::score::{RoundScore, Score};
use noregret_stream::run::{RunError, play};
use noregret_stream::save::Frozen;

use crate::args::PredictArgs;
use crate::cmd::run::run_failure;
use crate::failure::Failure;
use crate::forecasts::{Columns, Row};
use crate::note::{counted, note, note_bad_rows};
use crate::open::read_frozen;
use crate::plan::Source;

/// Predicts every row.
pub(crate) fn run(args: &PredictArgs) -> Result<(), Failure> {
    let (frozen, _) = read_frozen(&args.model)?;
    let forecast = frozen.predictor.about().forecast;
    let Frozen { predictor, encoder, schema } = frozen;
    let source = Source::of(&args.data, &args.reading)?.with_schema(schema);
    let reader = source.open()?;
    for sentence in reader.notes() {
        note(format_args!("noregret: {}: {sentence}", source.name()));
    }
    let mut examples = ReadExamples::new(reader, encoder, &source.data, source.on_bad_row).frozen();
    let mut out = open(args.output.as_deref())?;

    let failure = |error: std::io::Error| match &args.output {
        Some(path) => file_failure(path, &error),
        None => Failure::output(error),
    };
    let columns = Columns {
        id: args.reading.id.is_some(),
        confidence: args.confidence,
        truth: false,
        json: args.json || args.probabilities,
        probabilities: args.probabilities,
    };
    if let Some(header) = columns.header() {
        writeln!(out, "{header}").map_err(failure)?;
    }
    let mut score = Score::new(forecast, 1);
    let mut rng = noregret::rng::Rng::new(args.seed, 1);
    let mut example = Example::default();
    let mut prediction = predictor.prediction();
    let mut room = Decision::default();
    // The program that sends rows through a pipe may wait for the answer to one before the next.
    let live = examples.reader.size().is_none();
    let mut rows = 0u64;
    loop {
        match examples.step(&mut example).map_err(Failure::reading)? {
            Step::Example => {}
            Step::Bad(error) => {
                // Line by line, what is written belongs to what was read.
                let line = columns.failed(&examples.row().tag, &error.to_string());
                writeln!(out, "{line}").map_err(failure)?;
                continue;
            }
            Step::End => break,
        }
        predictor.predict(example.features(), &mut prediction, &mut room);
        if !prediction.is_finite() {
            return Err(run_failure(source.name(), RunError::NotFinite(rows + 1)));
        }
        let label = match args.greedy {
            true => Label::from(argmax(&prediction.scores)),
            false => play(forecast, &prediction, &mut rng),
        };
        if let Some(target) = example.target() {
            score.add(RoundScore::new(forecast, &prediction, label, target));
        }
        rows += 1;
        let labels = &examples.encoder.labels;
        let row = Row {
            id: &examples.row().tag,
            label,
            prediction: &prediction,
            target: example.target(),
        };
        let line = columns.line(forecast, &row, labels);
        writeln!(out, "{line}").map_err(failure)?;
        if live {
            out.flush().map_err(failure)?;
        }
    }
    if rows == 0 {
        return Err(Failure::data(format!("{}: has no rows to predict", source.name())));
    }
    match out {
        Output::Standard(mut out) => out.flush(),
        Output::File(out) => out.finish(),
    }
    .map_err(failure)?;
    note_bad_rows(examples.bad_rows(), examples.first_bad_row());
    if let (count, Some(first)) = examples.unscored() {
        let have = if count == 1 { "row has a label" } else { "rows have labels" };
        note(format_args!(
            "noregret: {count} {have} that no prediction is compared with; the first: {first}"
        ));
    }
    for odd in examples.reader.odd_cells() {
        note(format_args!("noregret: {odd}"));
    }
    if examples.reader.dropped_features() > 0 {
        let dropped = counted(examples.reader.dropped_features(), "value");
        note(format_args!("noregret: left out {dropped} of features that the model does not know"));
    }
    let rates = score.rates();
    if let Some(error) = rates.error_rate.filter(|_| score.rounds() > 0) {
        let loss = rates.log_loss.map_or_else(String::new, |loss| format!(", log-loss {loss:.5}"));
        let (rows, labelled) = (counted(rows, "row"), score.rounds());
        note(format_args!("{rows} predicted; error rate {error:.5}{loss} on the {labelled} labelled"));
    }
    Ok(())
}

/// Standard output, or a file that appears when it is complete.
enum Output {
    Standard(BufWriter<StdoutLock<'static>>),
    File(Replacement),
}

fn open(path: Option<&Path>) -> Result<Output, Failure> {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        return Ok(Output::Standard(BufWriter::new(std::io::stdout().lock())));
    };
    Replacement::open(path).map(Output::File).map_err(|error| file_failure(path, &error))
}

fn file_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::data(format!("--output {}: cannot be written: {error}", path.display()))
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Output::Standard(out) => out.write(bytes),
            Output::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Output::Standard(out) => out.flush(),
            Output::File(out) => out.flush(),
        }
    }
}

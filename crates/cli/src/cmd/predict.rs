//! `noregret predict`: a saved model, new rows, no learning.

use std::io::{BufWriter, StdoutLock, Write};
use std::path::Path;

use noregret::example::Label;
use noregret::prediction::{Decision, argmax};
use noregret_stream::Replacement;
use noregret_stream::encode::Example;
use noregret_stream::encode::examples::{BadRows, Examples, ReadExamples};
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
    for (_, odd) in reader.describe().into_iter().filter(|(subject, _)| *subject == "note") {
        note(format_args!("noregret: {odd}"));
    }
    // A row that cannot be read has a line of its own, so that lines belong to rows.
    let mut examples = ReadExamples::new(reader, encoder, &source.data, BadRows::Fail).frozen();
    let (mut bad, mut first_bad) = (0, None);
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
    let mut rows = 0u64;
    loop {
        match examples.next(&mut example) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if error.is_row_error() && source.on_bad_row.allow(bad + 1) => {
                bad += 1;
                let error = error.to_string();
                writeln!(out, "{}", columns.failed(&examples.row().tag, &error)).map_err(failure)?;
                first_bad.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(Failure::reading(error)),
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
    }
    if rows == 0 {
        return Err(Failure::data(format!("{}: has no rows to predict", source.name())));
    }
    match out {
        Output::Standard(mut out) => out.flush(),
        Output::File(out) => out.finish(),
    }
    .map_err(failure)?;
    note_bad_rows(bad, first_bad.as_deref());
    for odd in examples.reader.notes() {
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

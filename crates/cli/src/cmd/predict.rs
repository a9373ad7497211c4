//! `noregret predict`: a saved model, new rows, no learning.

use std::io::Write;
use std::path::Path;

use noregret_stream::encode::Example;
use noregret_stream::examples::{Examples, ReadExamples};
use noregret_stream::run::play;
use noregret_stream::saved::Saved;
use noregret_stream::score::{RoundScore, Score};

use crate::args::PredictArgs;
use crate::failure::Failure;
use crate::open::read_model;

/// Predicts every row.
pub(crate) fn run(args: &PredictArgs) -> Result<(), Failure> {
    let Saved { learner, encoder, schema } = read_model(&args.model)?;
    let mut options = args.reading.options()?;
    options.schema = Some(schema);
    let reader = noregret_stream::open(&args.data, &options).map_err(Failure::data)?;
    let mut examples = ReadExamples::new(reader, encoder, &args.data, args.reading.on_bad_row).frozen();
    let mut out = Output::open(args.output.as_deref())?;

    let forecast = learner.about().forecast;
    let mut score = Score::new(forecast, 1);
    let mut rng = noregret::rng::Rng::new(args.seed, 1);
    let mut example = Example::default();
    let mut prediction = learner.prediction();
    let mut rows = 0u64;
    while examples.next(&mut example).map_err(Failure::data)? {
        learner.predict(example.features(), &mut prediction);
        let label = play(forecast, &prediction, &mut rng);
        if let Some(target) = example.target() {
            score.add(RoundScore::new(forecast, &prediction, label, target));
        }
        rows += 1;
        let labels = &examples.encoder.labels;
        let line = if forecast == noregret::algorithm::Forecast::Value {
            prediction.scores[0].to_string()
        } else if args.probabilities {
            let probabilities: serde_json::Map<String, serde_json::Value> = (0..prediction
                .probabilities
                .len())
                .map(|class| (labels.name(class.into()).into_owned(), prediction.probabilities[class].into()))
                .collect();
            serde_json::json!({"label": labels.name(label), "probabilities": probabilities}).to_string()
        } else {
            labels.name(label).into_owned()
        };
        writeln!(out.writer(), "{line}").map_err(Failure::output)?;
    }
    if rows == 0 {
        return Err(Failure::data(format!("{}: has no rows to predict", args.data)));
    }
    out.finish()?;
    if let Some(what) = examples.first_bad_row() {
        eprintln!("noregret: {} bad rows were skipped, the first one: {what}", examples.bad_rows());
    }
    let rates = score.rates();
    if let Some(error) = rates.error_rate.filter(|_| score.rounds() > 0) {
        let loss = rates.log_loss.map_or_else(String::new, |loss| format!(", log-loss {loss:.5}"));
        eprintln!("{rows} rows predicted; on {} labelled ones error rate {error:.5}{loss}", score.rounds());
    }
    Ok(())
}

/// Standard output, or a file that appears when it is complete.
enum Output<'a> {
    Standard(std::io::BufWriter<std::io::StdoutLock<'static>>),
    File(std::io::BufWriter<tempfile::NamedTempFile>, &'a Path),
}

impl<'a> Output<'a> {
    fn open(path: Option<&'a Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self::Standard(std::io::BufWriter::new(std::io::stdout().lock())));
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match tempfile::NamedTempFile::new_in(folder) {
            Ok(file) => Ok(Self::File(std::io::BufWriter::new(file), path)),
            Err(error) => Err(Failure::data(format!("--output {}: {error}", path.display()))),
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Standard(out) => out,
            Self::File(out, _) => out,
        }
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Standard(mut out) => out.flush().map_err(Failure::output),
            Self::File(out, path) => {
                let failure = |error: std::io::Error| Failure::data(format!("{}: {error}", path.display()));
                let file = out.into_inner().map_err(|error| failure(error.into_error()))?;
                file.persist(path).map(drop).map_err(|error| failure(error.error))
            }
        }
    }
}

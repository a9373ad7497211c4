//! `noregret predict`: predicts new rows with a saved model.

use std::io::Write;
use std::path::Path;

use noregret::algorithm::Forecast;
use noregret::example::{Features, Label};
use noregret::prediction::{Decision, Prediction};
use noregret::rng::{Rng, Uniforms as _};
use noregret_stream::encode::examples::{ReadExamples, Step};
use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::{Encoder, Example};
use noregret_stream::run::score::{RoundScore, Score};
use noregret_stream::run::{RunError, play};
use noregret_stream::save::{Forecaster, Frozen, PREDICTED_TOGETHER, best_of, file as model_file};
use noregret_stream::watch::abstain::{Abstention, Rule};
use noregret_stream::watch::explain::Explainer;
use noregret_stream::{DescribedRound, Schema};
use serde_json::Value;

use crate::args::PredictArgs;
use crate::choices::ExplainOf;
use crate::failure::Failure;
use crate::forecasts::{Columns, Output, Row, Shown, explained};
use crate::note::{counted, note, note_bad_rows};
use crate::open::read_frozen;
use crate::plan::{PredictPlan, Source};

/// Predicts every row.
pub(crate) fn run(args: &PredictArgs) -> Result<(), Failure> {
    let plan = PredictPlan::of(args)?;
    let (frozen, archive) = read_frozen(&plan.model).map_err(|failure| in_order(&plan, failure))?;
    if let Some(sentence) = archive.json::<Value>("run").ok().and_then(|run| of_order(&run)) {
        note(format_args!("noregret: {}: {sentence}", plan.model.display()));
    }
    let Frozen { predictor, encoder, schema } = frozen;
    if predictor.about().forecast == Forecast::Value {
        check_columns(&plan, predictor.about().name)?;
    }
    let explainer = plan.explain.map(|_| Explainer::new(&schema, &encoder));
    let mut lines = Lines::new(&plan, &predictor, explainer)?;
    let table = schema.csv.is_some();
    let (source, mut examples) = open(&plan, schema, encoder)?;
    // Lines of features are none, although the model has learnt from one.
    let table = table && examples.reader.schema().csv.is_some();
    let failure = |error: std::io::Error| not_written(&plan, error);
    let mut out = Output::open(plan.output.as_deref()).map_err(failure)?;
    if let Some(header) = plan.columns.header().filter(|_| !lines.averaged) {
        writeln!(out, "{header}").map_err(failure)?;
    }
    lines.write_all(&mut examples, source.name(), &mut out, failure)?;
    finish(&plan, source.name(), table, lines, &examples, out)
}

/// The data, and its rows as a model with `schema` and `encoder` reads them.
fn open(plan: &PredictPlan, schema: Schema, encoder: Encoder) -> Result<(Source, ReadExamples), Failure> {
    let blocks = schema.block().is_some();
    let mut source = plan.source.with_schema(schema);
    // The names of labels on offer with features of their own, which are no classes of the model.
    source.options.describes |= blocks;
    if blocks {
        // As many may be on offer as the model has room for, also where it has learnt from fewer.
        source.options.room = u32::try_from(encoder.columns()).unwrap_or(u32::MAX);
    }
    let reader = source.open()?;
    for sentence in reader.notes() {
        note(format_args!("noregret: {}: {sentence}", source.name()));
    }
    let examples = ReadExamples::new(reader, encoder, &source.data, source.on_bad_row).frozen();
    Ok((source, examples))
}

/// The failure to read the model, with the way out if the data are one.
fn in_order(plan: &PredictPlan, failure: Failure) -> Failure {
    let data = &plan.source.data;
    match model_file::is_like_one(Path::new(data)) {
        true => Failure::data(format!(
            "{failure}; {data} is one, and the model comes first: noregret predict {data} {}",
            plan.model.display()
        )),
        false => failure,
    }
}

/// The failure to write the lines.
fn not_written(plan: &PredictPlan, error: std::io::Error) -> Failure {
    match &plan.output {
        Some(path) => Failure::writing("--output", path, &error),
        None => Failure::output(error),
    }
}

/// Completes the output of the data called `name`, and says what is odd about its rows and how well they were
/// predicted. `table`: whether they are those of a table. Fails if there are none, or if the model knows no
/// feature of them.
fn finish(
    plan: &PredictPlan,
    name: &str,
    table: bool,
    lines: Lines<'_>,
    examples: &ReadExamples,
    mut out: Output,
) -> Result<(), Failure> {
    let failure = |error: std::io::Error| not_written(plan, error);
    let Lines { rows, score, answers, answered, explainer, averaged, empty, .. } = lines;
    if rows == 0 {
        let none = || format!("{name}: has no rows to predict");
        let why = examples.first_bad_row().map_or_else(none, str::to_owned);
        out.flush().map_err(failure)?;
        return Err(Failure::data(why));
    }
    if let Some(mut explainer) = explainer.filter(|_| averaged) {
        let value = answers.forecast == Forecast::Value;
        for line in explained(&explainer.take(), value, plan.json, examples.encoder.labels()) {
            writeln!(out, "{line}").map_err(failure)?;
        }
    }
    let strange = !table && examples.reader.dropped_features() > 0 && examples.encoder.columns() > 0;
    if strange && rows == empty && examples.bad_rows() == 0 {
        out.flush().map_err(failure)?;
        let feature = examples.reader.columns().name(0);
        return Err(Failure::data(format!(
            "{name}: no row has a feature that the model knows, such as {feature:?}, so that all rows have the same forecast"
        )));
    }
    out.finish().map_err(failure)?;
    if examples.bad_rows() > 0 && rows == empty {
        let first = examples.first_bad_row().unwrap_or_default();
        let bad = counted(examples.bad_rows(), "row");
        return Err(Failure::data(format!(
            "{bad} cannot be read, and the others have no feature of the model: {first}"
        )));
    }
    note_rows(examples, if strange { empty } else { 0 });
    note_results(rows, answers.abstention.map(|_| answered), &score);
    Ok(())
}

/// Refuses columns that the learner called `name`, which forecasts a number, cannot fill.
fn check_columns(plan: &PredictPlan, name: &str) -> Result<(), Failure> {
    let asked = [
        ("--probabilities", matches!(plan.columns.probabilities, Some(Shown::All))),
        ("--top-k", matches!(plan.columns.probabilities, Some(Shown::Best(_)))),
        ("--confidence", plan.columns.confidence),
        ("--offered", plan.source.options.offered.is_some()),
    ];
    if let Some((option, _)) = asked.into_iter().find(|(_, asked)| *asked) {
        return Err(Failure::usage(format!(
            "{option}: {name} forecasts a number, and no labels with probabilities; leave the option out"
        )));
    }
    Ok(())
}

/// Says what is odd about the rows, of which `empty` have no feature that the model knows.
fn note_rows(examples: &ReadExamples, empty: u64) {
    note_bad_rows(examples.bad_rows(), examples.first_bad_row());
    if let (count, Some(first)) = examples.unscored() {
        let have = if count == 1 { "row has a label" } else { "rows have labels" };
        note(format_args!("noregret: {count} {have} that cannot be scored; the first: {first}"));
    }
    if empty > 0 {
        let (without, have) = (counted(empty, "row"), if empty == 1 { "has" } else { "have" });
        note(format_args!(
            "noregret: {without} {have} no feature that the model knows: the forecast is that of a row without features"
        ));
    }
    for odd in examples.reader.odd_cells() {
        note(format_args!("noregret: {odd}"));
    }
    for sentence in examples.zeros().into_iter().chain(examples.outside()) {
        note(format_args!("noregret: {sentence}"));
    }
    if examples.reader.dropped_features() > 0 {
        let dropped = counted(examples.reader.dropped_features(), "value");
        note(format_args!("noregret: ignored {dropped} of features that the model does not have"));
    }
}

/// Says how many of the `rows` were `answered`, if the model abstains, and how well.
fn note_results(rows: u64, answered: Option<u64>, score: &Score) {
    if let Some(answered) = answered {
        let share = 100.0 * answered as f64 / rows as f64;
        note(format_args!("{answered} of {} answered ({share:.1} %)", counted(rows, "row")));
    }
    let rates = score.rates();
    if let Some(error) = rates.error_rate.filter(|_| score.rounds() > 0) {
        let loss = rates.log_loss.map_or_else(String::new, |loss| format!(", log-loss {loss:.5}"));
        let (rows, labelled) = (counted(rows, "row"), score.rounds());
        let answers = if answered.is_some() { " answered" } else { "" };
        note(format_args!(
            "{rows} predicted; error rate {error:.5}{loss} on the {labelled} labelled{answers}"
        ));
    }
}

/// A remark on a model whose rows came in the order of their labels, by which they are forecast as well as by
/// what the rows hold: naming the previous label errs in far fewer of the rounds than naming the commonest.
fn of_order(run: &Value) -> Option<String> {
    const ENOUGH: u64 = 100;
    let rate = |name: &str| run["baselines"][name].as_f64();
    let (commonest, last) = (rate("commonest_class_error_rate")?, rate("last_label_error_rate")?);
    (run["rounds"].as_u64()? >= ENOUGH && 2.0 * last < commonest).then(|| {
        format!(
            "learnt from rows in the order of their labels (naming the previous one errs in {last:.5} of the rounds, naming the \
             commonest in {commonest:.5}): its forecasts may say more about what follows the last label than about a row; to predict \
             rows in another order, learn from shuffled ones, as shuf writes them"
        )
    })
}

/// The rule of `--abstain-cost`, or that of a learner that abstains by itself.
fn abstention(predictor: &Forecaster, cost: f64) -> Result<Abstention, Failure> {
    let about = predictor.about();
    if predictor.abstains() {
        return Ok(Abstention::new(Rule::Own(cost)));
    }
    if about.forecast != Forecast::Probabilities {
        return Err(Failure::usage(format!(
            "--abstain-cost: {} does not forecast probabilities",
            about.name
        )));
    }
    Ok(Abstention::new(Rule::Cost(cost)))
}

/// A pending output line.
enum Waiting {
    /// The prediction of the next example, and the name of its row.
    Row(String),
    /// The line of a row that could not be read.
    Failed(String),
}

impl Waiting {
    fn failed(self) -> Option<String> {
        match self {
            Self::Failed(line) => Some(line),
            Self::Row(_) => None,
        }
    }
}

/// Makes answers of forecasts.
struct Answers {
    forecast: Forecast,
    greedy: bool,
    rng: Rng,
    abstention: Option<Abstention>,
}

impl Answers {
    /// The label for a forecast among the labels `offered`, and whether it is given.
    fn of(&mut self, prediction: &Prediction, offered: &[u32]) -> (Label, bool) {
        let label = match self.greedy {
            true => best_of(prediction, offered),
            false => play(self.forecast, prediction, &mut self.rng),
        };
        let given = match self.abstention.as_ref().map_or(1.0, |rule| rule.answers(prediction)) {
            p if p > 0.0 && p < 1.0 && !self.greedy => self.rng.uniform() < p,
            p => p >= 0.5,
        };
        (label, given)
    }
}

/// Adds to `explainer` what columns contribute to the forecast of an example, of which `round` has the
/// features of labels on offer; `room` is for further forecasts.
fn explain(
    explainer: &mut Explainer,
    predictor: &Forecaster,
    example: &Example,
    round: Option<&DescribedRound>,
    room: &mut (Prediction, Decision),
) {
    let (at, rest) = room;
    let predict = |x: Features<'_>, out: &mut Prediction| {
        predictor.predict_among(x, example.offered(), out, rest);
    };
    match round {
        Some(round) => explainer.add_round(round, example, at, predict),
        None => explainer.add(example, at, predict),
    }
}

/// Pending predictions, in the order of the rows.
struct Lines<'a> {
    predictor: &'a Forecaster,
    columns: Columns,
    answers: Answers,
    score: Score,
    /// Number of rows predicted, and of those that have no feature of the model.
    rows: u64,
    empty: u64,
    /// Number of rows with a predicted label.
    answered: u64,
    explainer: Option<Explainer>,
    /// Whether the mean contributions over all rows are shown.
    averaged: bool,
    prediction: Prediction,
    room: Decision,
    examples: Vec<Example>,
    /// The features of labels on offer by name, to be explained.
    rounds: Vec<Option<DescribedRound>>,
    waiting: Vec<Waiting>,
}

impl<'a> Lines<'a> {
    /// Before the first row.
    fn new(
        plan: &PredictPlan,
        predictor: &'a Forecaster,
        explainer: Option<Explainer>,
    ) -> Result<Self, Failure> {
        let forecast = predictor.about().forecast;
        let abstention = plan.abstain_cost.map(|cost| abstention(predictor, cost)).transpose()?;
        Ok(Self {
            predictor,
            columns: plan.columns,
            answers: Answers { forecast, greedy: plan.greedy, rng: Rng::new(plan.seed, 1), abstention },
            score: Score::new(forecast, 1),
            rows: 0,
            empty: 0,
            answered: 0,
            explainer,
            averaged: plan.explain == Some(ExplainOf::Columns),
            prediction: predictor.prediction(),
            room: Decision::default(),
            examples: Vec::new(),
            rounds: Vec::new(),
            waiting: Vec::new(),
        })
    }

    /// Predicts all rows of the source called `name` and writes their lines; `failure` is that of writing.
    fn write_all(
        &mut self,
        examples: &mut ReadExamples,
        name: &str,
        out: &mut Output,
        failure: impl Fn(std::io::Error) -> Failure + Copy,
    ) -> Result<(), Failure> {
        // The program that sends rows through a pipe may wait for each answer.
        let live = examples.reader.size().is_none();
        let mut example = Example::default();
        loop {
            let step = examples.step(&mut example);
            match &step {
                Ok(Step::Example) => {
                    self.waiting.push(Waiting::Row(examples.row().tag.clone()));
                    self.empty += u64::from(examples.row().indices().is_empty());
                    self.examples.push(std::mem::take(&mut example));
                    self.rounds.push(examples.row().described().cloned());
                }
                // Each output line corresponds to an input row.
                Ok(Step::Bad(error)) => {
                    let line = self.columns.failed(&examples.row().tag, &error.to_string());
                    self.waiting.push(Waiting::Failed(line));
                }
                Ok(Step::End) | Err(_) => {}
            }
            let over = matches!(step, Ok(Step::End) | Err(_));
            if live || over || self.waiting.len() == PREDICTED_TOGETHER {
                let first = self.rows + 1;
                let finite = self.write(out, examples.encoder.labels()).map_err(failure)?;
                if let Some(at) = finite.err() {
                    return Err(Failure::running(name, RunError::NotFinite(first + at)));
                }
                if live {
                    out.flush().map_err(failure)?;
                }
            }
            if let Step::End = step.map_err(Failure::reading)? {
                break;
            }
        }
        Ok(())
    }

    /// Predicts the pending examples and writes all lines. If a prediction is not finite, the inner
    /// error is its index among the examples.
    fn write(&mut self, out: &mut impl Write, labels: &Labels) -> std::io::Result<Result<(), u64>> {
        let Self { answers, score, rows, examples, waiting, .. } = self;
        let Self { answered, explainer, rounds, .. } = self;
        let (predictor, columns, averaged) = (self.predictor, self.columns, self.averaged);
        let mut room = (predictor.prediction(), Decision::default());
        let mut waiting = waiting.drain(..);
        let mut written = Ok(Ok(()));
        predictor.predict_batch(examples, &mut self.prediction, &mut self.room, &mut |at, prediction| {
            if !matches!(written, Ok(Ok(()))) {
                return;
            }
            if !prediction.is_finite() {
                written = Ok(Err(at as u64));
                return;
            }
            let (example, round) = (&examples[at], rounds[at].as_ref());
            let (offered, target) = (example.offered(), example.target());
            let (label, given) = answers.of(prediction, offered);
            if let Some(target) = target.filter(|_| given) {
                score.add(RoundScore::new(answers.forecast, prediction, label, target));
            }
            *rows += 1;
            *answered += u64::from(given);
            let explanation = explainer.as_mut().and_then(|explainer| {
                explain(explainer, predictor, example, round, &mut room);
                (!averaged).then(|| explainer.take())
            });
            let explanation = explanation.as_ref();
            let on_offer: Option<Labels> = round.and_then(DescribedRound::labels).map(Iterator::collect);
            let names = on_offer.as_ref().unwrap_or(labels);
            for line in waiting.by_ref() {
                let (line, done) = match line {
                    Waiting::Row(id) => {
                        let answered = given;
                        let row = Row { id: &id, label, prediction, offered, target, answered, explanation };
                        (columns.line(answers.forecast, &row, names, names), true)
                    }
                    Waiting::Failed(line) => (line, false),
                };
                if !averaged {
                    written = writeln!(out, "{line}").map(Ok);
                }
                if done || written.is_err() {
                    break;
                }
            }
        });
        if !matches!(written, Ok(Ok(()))) {
            return written;
        }
        for line in waiting {
            if let Some(line) = line.failed().filter(|_| !averaged) {
                writeln!(out, "{line}")?;
            }
        }
        examples.clear();
        rounds.clear();
        Ok(Ok(()))
    }
}

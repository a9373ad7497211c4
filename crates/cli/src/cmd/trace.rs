//! `noregret trace`: the bare algorithm, one round a line.

use std::io::{BufRead, Write};

use noregret::algorithm::{Forecast, Model};
use noregret::example::{Features, Label, Target, Truth};
use noregret::learner::Classes;
use noregret::loss::logistic;
use noregret::prediction::{Prediction, draw};
use noregret::rng::{Rng, Uniforms};
use noregret_stream::encode::{LARGEST_NORM, LARGEST_WEIGHT};
use serde::Deserialize;

use crate::args::TraceArgs;
use crate::failure::Failure;
use crate::settings::Settings;

/// One input row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    x: Vec<f64>,
    y: Answer,
    /// Importance weight.
    #[serde(default = "one")]
    weight: f64,
    /// The uniform number in [0, 1) by which the played label is drawn.
    u: Option<f64>,
    /// Standard normals for learners that sample, a list of one per class for each sample.
    #[serde(default)]
    normals: Vec<Vec<f64>>,
}

/// The truth of a row, as it stands there.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Number(f64),
    Distribution(Vec<f64>),
}

fn one() -> f64 {
    1.0
}

/// Reads rounds from standard input, plays them, and prints what was predicted before each update.
pub(crate) fn run(args: &TraceArgs) -> Result<(), Failure> {
    let settings = Settings::parse(&args.set)?;
    let entry = noregret::registry::find(&args.learner)?;
    let mut learner = entry.make(&settings.params, settings.problem(entry)?, args.seed)?;
    let mut prediction = learner.prediction();
    let mut rng = Rng::new(args.seed, 0);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut rounds = 0;
    for (line, text) in (1u64..).zip(std::io::stdin().lock().lines()) {
        let failure = |what: String| Failure::data(format!("standard input:{line}: {what}"));
        let text = text.map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => failure("the row is not UTF-8 text".to_owned()),
            _ => failure(error.to_string()),
        })?;
        if text.trim().is_empty() {
            continue;
        }
        let row: Row = serde_json::from_str(&text).map_err(|error| failure(error.to_string()))?;
        let target = check(learner.as_ref(), entry.param("samples").is_some(), &row).map_err(failure)?;
        let x = Features::Dense(&row.x);
        prediction.normals.clear();
        prediction.normals.extend(row.normals.iter().flatten());
        learner.predict(x, &mut prediction);
        if !prediction.is_finite() {
            return Err(failure(
                "the scores are not finite: parameters, values or weights are too large".to_owned(),
            ));
        }
        rounds += 1;
        let played = (learner.about().forecast == Forecast::RandomisedLabel)
            .then(|| draw(&prediction.probabilities, row.u.unwrap_or_else(|| rng.uniform())));
        print(&mut out, rounds, &prediction, played, loss(learner.as_ref(), &prediction, played, target))
            .map_err(Failure::output)?;
        learner.update(x, target, &prediction);
    }
    if rounds == 0 {
        return Err(Failure::data(
            "standard input: no rounds; a row such as {\"x\": [0.5], \"y\": 1} was needed",
        ));
    }
    out.flush().map_err(Failure::output)
}

/// The target of a row, if the learner, which takes `samples` or not, can take the row.
fn check<'a>(learner: &dyn Model, samples: bool, row: &'a Row) -> Result<Target<'a>, String> {
    let problem = learner.problem();
    let accepts = learner.about().accepts;
    if row.x.len() != problem.features {
        return Err(format!("x has {} numbers; features = {} were needed", row.x.len(), problem.features));
    }
    if let Some(x) = row.x.iter().find(|x| x.abs() > LARGEST_NORM) {
        return Err(format!("x has the value {x:e}; at most {LARGEST_NORM:e} can be computed with"));
    }
    if row.weight > LARGEST_WEIGHT {
        return Err(format!("weight = {:e}: at most {LARGEST_WEIGHT:e} can be computed with", row.weight));
    }
    if row.weight.is_nan() || row.weight <= 0.0 || (row.weight != 1.0 && !accepts.weights) {
        let need =
            if accepts.weights { "a number > 0" } else { "1: the learner takes no importance weights" };
        return Err(format!("weight = {}: must be {need}", row.weight));
    }
    if let Some(u) = row.u.filter(|u| !(0.0..1.0).contains(u)) {
        return Err(format!("u = {u}: must be in [0, 1)"));
    }
    if !row.normals.is_empty() && !samples {
        return Err("normals: the learner does not sample".to_owned());
    }
    if let Some(normals) = row.normals.iter().find(|normals| normals.len() != problem.classes) {
        return Err(format!(
            "normals: a list of {}; classes = {} were needed",
            normals.len(),
            problem.classes
        ));
    }
    let target = match &row.y {
        Answer::Number(value) if accepts.classes == Classes::Real => Target::value(*value),
        Answer::Number(class) if class.fract() == 0.0 && (0.0..problem.classes as f64).contains(class) => {
            Target::class(*class as usize)
        }
        Answer::Number(class) => {
            return Err(format!("y = {class}: must be a class from 0 to {}", problem.classes - 1));
        }
        Answer::Distribution(_) if !accepts.soft_labels => {
            return Err("y is a list: the learner takes no probability vectors as labels".to_owned());
        }
        Answer::Distribution(y) if y.len() != problem.classes => {
            return Err(format!("y has {} numbers; classes = {} were needed", y.len(), problem.classes));
        }
        Answer::Distribution(y) => {
            let total: f64 = y.iter().sum();
            if y.iter().any(|p| *p < 0.0) || (total - 1.0).abs() > 1e-9 {
                return Err(format!("y = {y:?}: must be probabilities of sum 1"));
            }
            Target::distribution(y)
        }
    };
    Ok(target.weighted(row.weight))
}

/// The learner's own loss of a round.
fn loss(learner: &dyn Model, at: &Prediction, played: Option<Label>, target: Target<'_>) -> f64 {
    match (learner.about().forecast, target.truth) {
        (Forecast::Probabilities, Truth::Class(label)) => logistic::loss(&at.scores, label.index()),
        (Forecast::Probabilities, Truth::Distribution(y)) => logistic::soft_loss(&at.scores, y),
        (Forecast::Value, Truth::Value(value)) => (at.scores[0] - value).powi(2),
        (_, truth) => {
            let label = played.unwrap_or_else(|| at.top());
            f64::from(truth != Truth::Class(label))
        }
    }
}

fn print(
    out: &mut impl Write,
    t: u64,
    at: &Prediction,
    played: Option<Label>,
    loss: f64,
) -> std::io::Result<()> {
    write!(out, "{{\"t\": {t}, \"scores\": ")?;
    print_list(out, &at.scores)?;
    write!(out, ", \"p\": ")?;
    print_list(out, &at.probabilities)?;
    if let Some(label) = played {
        write!(out, ", \"played\": {}", label.index())?;
    }
    writeln!(out, ", \"loss\": {loss:.16e}}}")
}

/// 17 significant digits: every bit of a double.
fn print_list(out: &mut impl Write, numbers: &[f64]) -> std::io::Result<()> {
    for (at, number) in numbers.iter().enumerate() {
        write!(out, "{}{number:.16e}", if at == 0 { "[" } else { ", " })?;
    }
    write!(out, "{}", if numbers.is_empty() { "[]" } else { "]" })
}

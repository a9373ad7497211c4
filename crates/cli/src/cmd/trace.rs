//! `noregret trace`: the bare algorithm, one round a line.

mod experts;
mod player;

use std::io::{BufRead, Write};

use noregret::algorithm::{About, AnyModel, BanditModel, Forecast, Model};
use noregret::example::{Features, Label, Target, Truth};
use noregret::learner::{Classes, Feedback};
use noregret::loss::logistic;
use noregret::prediction::{Decision, Prediction, draw};
use noregret::problem::Problem;
use noregret::rng::{Rng, Uniforms};
use noregret_stream::encode::{LARGEST_NORM, LARGEST_WEIGHT};
use noregret_stream::{Fault, fault};
use serde::Deserialize;

use self::experts::Experts;
use self::player::{Player, list};
use crate::args::TraceArgs;
use crate::failure::Failure;
use crate::files;
use crate::note::counted;
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
    /// The uniform number in [0, 1) that determines the played label.
    u: Option<f64>,
    /// The uniform number in [0, 1) that determines the explore coin.
    u_explore: Option<f64>,
    /// Standard normals for learners that sample, a list of one per class for each sample.
    #[serde(default)]
    normals: Vec<Vec<f64>>,
}

/// The target of a row, as given.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Number(f64),
    Distribution(Vec<f64>),
}

fn one() -> f64 {
    1.0
}

/// Reads rounds from standard input, plays them, and prints the predictions made before each
/// update.
pub(crate) fn run(args: &TraceArgs) -> Result<(), Failure> {
    let settings = Settings::parse(&args.set)?;
    let entry = noregret::registry::find(&args.learner)?;
    let seed = settings.seed.unwrap_or(args.seed);
    let rng = Rng::new(seed, 0);
    let mut player: Box<dyn Player> = if entry.feedback == Feedback::Experts {
        Box::new(Experts::new(entry, settings, seed)?)
    } else {
        match entry.make_any(&settings.params, settings.problem(entry)?, seed)? {
            AnyModel::Full(learner) => {
                let (prediction, samples) = (learner.prediction(), entry.param("samples").is_some());
                Box::new(Full { learner, prediction, samples, rng })
            }
            AnyModel::Bandit(learner) => Box::new(Bandit { learner, decision: Decision::default(), rng }),
        }
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut printed = Vec::new();
    let mut rounds = 0;
    // The program that sends rows through a pipe may wait for each answer.
    let live = !files::stdin_is_file();
    for (line, text) in (1u64..).zip(std::io::stdin().lock().lines()) {
        let failure = |what: Fault| Failure::data(format!("standard input:{line}: {what}"));
        let text = text.map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => failure("the row is not UTF-8 text".into()),
            _ => failure(error.to_string().into()),
        })?;
        if text.trim().is_empty() {
            continue;
        }
        rounds += 1;
        printed.clear();
        player.play(rounds, &text, &mut printed).map_err(failure)?;
        out.write_all(&printed).map_err(Failure::output)?;
        if live {
            out.flush().map_err(Failure::output)?;
        }
    }
    if rounds == 0 {
        return Err(Failure::data(
            "standard input: no rounds; a row such as {\"x\": [0.5], \"y\": 1} was needed",
        ));
    }
    out.flush().map_err(Failure::output)
}

/// A full-information learner.
struct Full {
    learner: Box<dyn Model>,
    prediction: Prediction,
    /// Whether it accepts normals.
    samples: bool,
    rng: Rng,
}

impl Player for Full {
    fn play(&mut self, t: u64, text: &str, out: &mut Vec<u8>) -> Result<(), Fault> {
        let row = &parse(text)?;
        let Self { learner, prediction, samples, rng } = self;
        let about = learner.about();
        let target = check(learner.problem(), about, *samples, row)?;
        if row.u_explore.is_some() {
            return Err("u_explore: the learner tosses no coin".into());
        }
        let x = Features::Dense(&row.x);
        prediction.normals.clear();
        prediction.normals.extend(row.normals.iter().flatten());
        learner.predict(x, prediction);
        check_finite(&prediction.scores)?;
        let played = (about.forecast == Forecast::RandomisedLabel)
            .then(|| draw(&prediction.probabilities, row.u.unwrap_or_else(|| rng.uniform())));
        let loss = loss(about.forecast, prediction, played, target);
        let more = explained(learner.as_ref(), prediction);
        print(out, t, &prediction.scores, &prediction.probabilities, &more, played, loss);
        learner.update(x, target, prediction);
        Ok(())
    }
}

/// A bandit learner.
struct Bandit {
    learner: Box<dyn BanditModel>,
    decision: Decision,
    rng: Rng,
}

impl Player for Bandit {
    fn play(&mut self, t: u64, text: &str, out: &mut Vec<u8>) -> Result<(), Fault> {
        let row = &parse(text)?;
        let Self { learner, decision, rng } = self;
        let target = check(learner.problem(), learner.about(), false, row)?;
        let x = Features::Dense(&row.x);
        learner.predict(x, decision);
        check_finite(&decision.scores)?;
        learner.play(&mut Given { label: row.u, coin: row.u_explore, rng }, decision);
        if decision.explored.is_none() && row.u_explore.is_some() {
            return Err("u_explore: the learner tosses no coin".into());
        }
        let label = Label(decision.label);
        let correct = target.truth == Truth::Class(label);
        print(out, t, &decision.scores, &decision.distribution, "", Some(label), f64::from(!correct));
        learner.learn(x, decision, correct.into());
        Ok(())
    }
}

/// The random numbers of a row, or of the generator if the row has none.
struct Given<'a> {
    label: Option<f64>,
    coin: Option<f64>,
    rng: &'a mut Rng,
}

impl Uniforms for Given<'_> {
    fn uniform(&mut self) -> f64 {
        self.label.unwrap_or_else(|| self.rng.uniform())
    }

    fn coin(&mut self) -> f64 {
        self.coin.unwrap_or_else(|| self.rng.uniform())
    }
}

/// Reads a row.
fn parse(text: &str) -> Result<Row, Fault> {
    serde_json::from_str(text).map_err(|error| error.to_string().into())
}

/// Additional output of a learner: a list, or a list of lists.
fn explained(learner: &dyn Model, at: &Prediction) -> String {
    let text = |(name, rows): (&str, Vec<Vec<f64>>)| {
        let lists: Vec<String> = rows.iter().map(|row| list(row)).collect();
        let value = if lists.len() == 1 { lists[0].clone() } else { format!("[{}]", lists.join(", ")) };
        format!(", \"{name}\": {value}")
    };
    learner.inside().map(|inside| inside.explain(at)).into_iter().flatten().map(text).collect()
}

fn check_finite(scores: &[f64]) -> Result<(), Fault> {
    if scores.iter().all(|score| score.is_finite()) {
        return Ok(());
    }
    Err("the scores are not finite: parameters, values or weights are too large".into())
}

/// Checks a row and returns its target; `samples` if the learner accepts normals.
fn check<'a>(problem: &Problem, about: &About, samples: bool, row: &'a Row) -> Result<Target<'a>, Fault> {
    let accepts = about.accepts;
    if row.x.len() != problem.features {
        return Err(fault!(
            "x has {}; features = {} were needed",
            counted(row.x.len() as u64, "number"),
            problem.features
        ));
    }
    if let Some(x) = row.x.iter().find(|x| x.abs() > LARGEST_NORM) {
        return Err(fault!("x has the value {x:e}; at most {LARGEST_NORM:e} is allowed"));
    }
    if row.weight > LARGEST_WEIGHT {
        return Err(fault!("weight = {:e}: at most {LARGEST_WEIGHT:e} is allowed", row.weight));
    }
    if row.weight.is_nan() || row.weight <= 0.0 || (row.weight != 1.0 && !accepts.weights) {
        let need =
            if accepts.weights { "a number > 0" } else { "1: the learner takes no importance weights" };
        return Err(fault!("weight = {}: must be {need}", row.weight));
    }
    for (name, u) in [("u", row.u), ("u_explore", row.u_explore)] {
        if let Some(u) = u.filter(|u| !(0.0..1.0).contains(u)) {
            return Err(fault!("{name} = {u}: must be in [0, 1)"));
        }
    }
    if !row.normals.is_empty() && !samples {
        return Err("normals: the learner does not sample".into());
    }
    if let Some(normals) = row.normals.iter().find(|normals| normals.len() != problem.classes) {
        return Err(fault!(
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
            return Err(fault!("y = {class}: must be a class from 0 to {}", problem.classes - 1));
        }
        Answer::Distribution(_) if !accepts.soft_labels => {
            return Err("y is a list: the learner takes no probability vectors as labels".into());
        }
        Answer::Distribution(y) if y.len() != problem.classes => {
            return Err(fault!(
                "y has {}; classes = {} were needed",
                counted(y.len() as u64, "number"),
                problem.classes
            ));
        }
        Answer::Distribution(y) => {
            let total: f64 = y.iter().sum();
            if y.iter().any(|p| *p < 0.0) || (total - 1.0).abs() > 1e-9 {
                return Err(fault!("y = {y:?}: must be probabilities of sum 1"));
            }
            Target::distribution(y)
        }
    };
    Ok(target.weighted(row.weight))
}

/// The learner's own loss of a round.
fn loss(forecast: Forecast, at: &Prediction, played: Option<Label>, target: Target<'_>) -> f64 {
    match (forecast, target.truth) {
        (Forecast::Probabilities, Truth::Class(label)) => logistic::loss(&at.scores, label.index()),
        (Forecast::Probabilities, Truth::Distribution(y)) => logistic::soft_loss(&at.scores, y),
        (Forecast::Value, Truth::Value(value)) => (at.scores[0] - value).powi(2),
        (_, truth) => {
            let label = played.unwrap_or_else(|| at.top());
            f64::from(truth != Truth::Class(label))
        }
    }
}

fn print(out: &mut Vec<u8>, t: u64, scores: &[f64], p: &[f64], more: &str, played: Option<Label>, loss: f64) {
    let played = played.map_or_else(String::new, |label| format!(", \"played\": {}", label.index()));
    let (scores, p) = (list(scores), list(p));
    let line =
        format!("{{\"t\": {t}, \"scores\": {scores}, \"p\": {p}{more}{played}, \"loss\": {loss:.16e}}}\n");
    out.extend_from_slice(line.as_bytes());
}

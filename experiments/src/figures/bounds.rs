//! Every theorem at work: regret, certificate and bound over time, or mistakes and their bound, of every
//! learner that has one.

use std::collections::BTreeMap;

use noregret::algorithm::Forecast;
use noregret::learner::Classes;
use noregret::param::{Value, Values};
use noregret::registry::{ALGORITHMS, Entry};
use noregret_stream::draw::plot::{Chart, Figure, Scale};
use serde::Deserialize;

use super::line;
use crate::outcome::{Claim, Outcome, Table, number};
use crate::play::{Contender, Held, Moment, hold, log_spaced, parallel};
use crate::source::Source;
use crate::{Context, ExperimentError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// Rounds for theorems about regret.
    rounds: u64,
    /// Rounds for theorems about mistakes, whose bounds are vacuous for longer.
    mistake_rounds: u64,
    classes: u64,
    features: u64,
    seed: u64,
    /// The comparators' norm, and the Frobenius norm of the predictor that labels are drawn from: it is in
    /// every ball.
    norm: f64,
    /// What single learners are given, so that their bounds come below the trivial one.
    settings: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Config {
    fn rounds_of(&self, entry: &Entry) -> u64 {
        if entry.about.forecast == Forecast::Probabilities { self.rounds } else { self.mistake_rounds }
    }
}

/// A softmax stream whose shape the learner can take.
fn stream(entry: &Entry, config: &Config, features: u64) -> Source<'static> {
    let classes = if entry.about.accepts.classes == Classes::Two { 2 } else { config.classes };
    let norm = config.norm / (classes as f64).sqrt();
    let values: Values = [
        ("classes", Value::Integer(classes)),
        ("features", Value::Integer(features)),
        ("norm", Value::from(norm)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into_iter()
    .collect();
    // Rows are Gaussian of norm about 1; none of a few thousand is beyond 4.
    Source::Made {
        recipe: "softmax",
        values,
        rows: config.rounds_of(entry),
        seed: config.seed,
        radius: 4.0,
        sparse: false,
    }
}

fn held(entry: &'static Entry, config: &Config) -> Result<Option<Held>, ExperimentError> {
    let mut settings = Vec::new();
    if entry.param("norm").is_some() && !entry.about.name.starts_with("gaptron") {
        settings.push(("norm", config.norm));
    }
    for (name, value) in config.settings.get(entry.about.name).into_iter().flatten() {
        settings.retain(|(known, _)| known != name);
        settings.push((name, *value));
    }
    let contender = Contender::new(entry.about.name, &settings);
    let checkpoints = log_spaced(config.rounds_of(entry), 8);
    let with =
        |features| hold(&contender, &stream(entry, config, features), &checkpoints[..checkpoints.len() - 1]);
    // Some learners are for one or two features, and some cannot do without parameters of their own.
    match with(config.features) {
        Err(ExperimentError::Param(_)) => match with(2) {
            Err(ExperimentError::Param(_)) => Ok(None),
            result => result,
        },
        result => result,
    }
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, ExperimentError> {
    let config: Config = context.config()?;
    let entries: Vec<&Entry> =
        (ALGORITHMS.iter()).filter(|entry| entry.about.accepts.classes != Classes::Real).collect();
    let results = parallel(context.options.threads, &entries, |entry| held(entry, &config))?;
    let mut found = Found::new();
    for (entry, held) in entries.iter().zip(results) {
        match held {
            Some(held) => found.add(entry.about.name, &held),
            None => found.without.push(entry.about.name),
        }
    }
    let title = format!("Regret, certificate and bound on a softmax stream of {} rounds", config.rounds);
    let notes = found.notes();
    let Found { claims, charts, points, summary, .. } = found;
    Ok(Outcome { claims, figure: Figure { title, columns: 3, charts }, points, summary, notes })
}

/// What was found, learner by learner.
struct Found {
    claims: Vec<Claim>,
    charts: Vec<Chart>,
    points: Table,
    summary: Table,
    /// The learners without a theorem that the stream can be held to.
    without: Vec<&'static str>,
    /// The learners whose bounds are above the trivial one.
    silent: Vec<&'static str>,
}

/// A number of a table, if there is one.
fn shown(value: Option<f64>) -> String {
    value.map_or_else(String::new, number)
}

impl Found {
    fn new() -> Self {
        Self {
            claims: Vec::new(),
            charts: Vec::new(),
            points: Table::new(&["learner", "rounds", "regret", "certificate", "bound"]),
            summary: Table::new(&[
                "learner",
                "against",
                "loss or mistakes",
                "regret",
                "certificate",
                "bound",
                "trivial bound",
            ]),
            without: Vec::new(),
            silent: Vec::new(),
        }
    }

    /// Adds the learner called `name`, and what its theorem claims if that says something.
    fn add(&mut self, name: &'static str, held: &Held) {
        let Held { certified, mistakes, over_time } = held;
        self.summary.push(vec![
            name.to_owned(),
            certified.comparator.clone(),
            number(certified.learner_loss),
            shown(certified.regret),
            shown(certified.certificate),
            shown(certified.bound),
            number(certified.trivial_bound),
        ]);
        let (Some(bound), None) = (certified.bound, certified.no_bound_because.as_ref()) else { return };
        if !certified.bites() {
            self.silent.push(name);
        } else if *mistakes {
            let says = format!("{name}: mistakes are below their bound");
            self.claims.push(Claim::at_most(says, certified.learner_loss, bound));
        } else if certified.regret.is_some() {
            // Without a regret the comparator is not computed, and nothing can be held to the bound.
            let rounds = over_time.last().map_or(1, |moment| moment.rounds);
            self.add_over_time(name, certified.trivial_bound / rounds as f64, over_time);
        }
    }

    /// Adds the regret of the learner called `name` over time, which is to be below what is promised;
    /// `trivial` is the trivial bound of a round.
    fn add_over_time(&mut self, name: &str, trivial: f64, over_time: &[Moment]) {
        let mut lines =
            [("regret", vec![]), ("certificate", vec![]), ("bound", vec![]), ("trivial bound", vec![])];
        let mut excess = f64::NEG_INFINITY;
        for moment in over_time {
            let regret = moment.comparator.map(|comparator| moment.loss - comparator);
            let says_nothing = Some(trivial * moment.rounds as f64);
            for (line, value) in
                lines.iter_mut().zip([regret, moment.certificate, moment.bound, says_nothing])
            {
                line.1.extend(value.map(|value| (moment.rounds as f64, value)));
            }
            for promise in [moment.certificate, moment.bound].into_iter().flatten() {
                excess = excess.max(regret.unwrap_or(f64::NAN) - promise);
            }
            self.points.push(vec![
                name.to_owned(),
                moment.rounds.to_string(),
                shown(regret),
                shown(moment.certificate),
                shown(moment.bound),
            ]);
        }
        let says = format!("{name}: regret is below certificate and bound at all times (largest excess)");
        self.claims.push(Claim::at_most(says, excess, 1e-6));
        self.charts.push(Chart {
            title: name.to_owned(),
            x_label: "rounds".to_owned(),
            y_label: "nats".to_owned(),
            x_scale: Scale::Log,
            y_scale: Scale::SymLog,
            lines: lines
                .into_iter()
                .filter(|(_, points)| !points.is_empty())
                .map(|(name, points)| line(name, points))
                .collect(),
            ..Chart::default()
        });
    }

    /// What the page says about them.
    fn notes(&self) -> Vec<String> {
        vec![
            "Labels are drawn from a softmax predictor of every ball, so that regret is what learning costs. Regret over time is against the \
             predictor that is best over the whole stream. Learners of mistakes, the bandit ones among \
             them, have one number and one bound each, and more rounds. The comparators of \
             `auto`, `conditional-logit`, `kernel-aioli`, `kernel-aioli-landmarks`, `label-tree`, `squarecb`, `fastcb`, `relative-gaps` and `exp4` are not computed, and they have no row in the first table. Binary learners have a stream of two classes, `aggregating` one of two features. The trivial bound is \
             T ln K for regret, which the same probability for every class keeps to, and T for mistakes. A bound above it says \
             nothing, whatever the run, and is no row of the first table. `gaf` has the least regularization that its theorem allows, `ftrl` the best \
             one for the horizon, `ons` a small ball: the bounds of their defaults say nothing here."
                .to_owned(),
            format!(
                "Bounds above the trivial one here: {}.",
                if self.silent.is_empty() { "none".to_owned() } else { self.silent.join(", ") }
            ),
            format!(
                "Without a theorem, or without one that this stream can be held to: {}.",
                self.without.join(", ")
            ),
        ]
    }
}

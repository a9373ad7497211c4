//! GAF, figure 1: average loss over time of GAF, ONS and OGD on three data sets, each at the best parameters
//! of a grid; FOLKLORE and `auto`, which have none, beside them.
//!
//! The paper does not say what is random in its repetitions: here it is the order of the rows, and GAF's
//! samples.

use noregret_stream::draw::plot::{Chart, Line, Scale};
use serde::Deserialize;

use crate::outcome::{Claim, Outcome, Table, number};
use crate::play::{Contender, Trace, log_spaced, parallel, play};
use crate::source::Source;
use crate::stored::Stored;
use crate::{Context, ExperimentError, FIGURES};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    grid: Vec<f64>,
    samples: u64,
    repetitions: u64,
    /// Repetitions that choose the parameters.
    tuning: u64,
    /// Rows of a set, at most.
    rows: usize,
}

/// A learner at every point of its grid.
fn candidates(learner: &str, config: &Config) -> Vec<Contender> {
    let pairs = || config.grid.iter().flat_map(|a| config.grid.iter().map(move |b| (*a, *b)));
    match learner {
        "gaf" => pairs()
            .map(|(lambda, beta)| Contender::new("gaf", &[("regularization", lambda), ("curvature", beta)]))
            .map(|gaf| gaf.with("samples", &config.samples.to_string()))
            .collect(),
        "ons" => pairs()
            .map(|(lambda, beta)| Contender::new("ons", &[("regularization", lambda), ("rate", beta)]))
            .map(|ons| ons.with("projection", "false"))
            .collect(),
        "ogd" => config
            .grid
            .iter()
            .map(|rate| Contender::new("ogd", &[("rate", *rate)]).with("ball", "none"))
            .collect(),
        "auto" => vec![Contender::new("auto", &[])],
        _ => vec![Contender::new("folklore", &[])],
    }
}

/// A learner at its best parameters: its runs, one for each repetition.
struct Tuned {
    name: &'static str,
    contender: Contender,
    traces: Vec<Trace>,
}

impl Tuned {
    /// The quantile of the average loss after each checkpoint.
    fn quantile(&self, at: f64) -> Vec<(f64, f64)> {
        (0..self.traces[0].losses.len())
            .map(|point| {
                let mut values: Vec<f64> = self.traces.iter().map(|trace| trace.losses[point].1).collect();
                values.sort_by(f64::total_cmp);
                let place = at * (values.len() - 1) as f64;
                let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
                (self.traces[0].losses[point].0, below + (above - below) * place.fract())
            })
            .collect()
    }

    /// The median after about `rounds` rounds.
    fn median_after(&self, rounds: f64) -> f64 {
        self.quantile(0.5).iter().rfind(|(at, _)| *at <= rounds).map_or(f64::NAN, |(_, loss)| *loss)
    }
}

const LEARNERS: [&str; 5] = ["gaf", "ons", "ogd", "folklore", "auto"];

fn tuned(context: &Context<'_>, config: &Config, stored: &Stored) -> Result<Vec<Tuned>, ExperimentError> {
    let source = |order: u64| Source::File { stored, rows: config.rows, order: Some(order) };
    let checkpoints = log_spaced(source(0).rows(), 10);
    let run = |contender: &Contender, seed: u64| play(contender, &source(seed), seed, &checkpoints);
    let mut jobs = Vec::new();
    for learner in LEARNERS {
        for candidate in candidates(learner, config) {
            jobs.extend((0..config.tuning).map(|seed| (learner, candidate.clone(), seed)));
        }
    }
    let traces = parallel(context.options.threads, &jobs, |(_, contender, seed)| run(contender, *seed))?;
    let loss = |wanted: &Contender| -> f64 {
        let own = jobs.iter().zip(&traces).filter(|((_, contender, _), _)| contender == wanted);
        own.filter_map(|(_, trace)| trace.score.rates().log_loss).sum()
    };
    LEARNERS
        .into_iter()
        .map(|name| {
            let best = candidates(name, config).into_iter().min_by(|a, b| loss(a).total_cmp(&loss(b)));
            let contender = best.expect("grids are not empty");
            let seeds: Vec<u64> = (0..config.repetitions).collect();
            let traces = parallel(context.options.threads, &seeds, |seed| run(&contender, *seed))?;
            Ok(Tuned { name, contender, traces })
        })
        .collect()
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, ExperimentError> {
    let config: Config = context.config()?;
    let files = FIGURES.iter().find(|figure| figure.name == "gaf-fig1").map_or(&[][..], |figure| figure.data);
    let mut outcome = Outcome {
        points: Table::new(&["data", "learner", "rounds", "quantile 0.25", "median", "quantile 0.75"]),
        summary: Table::new(&["data", "learner", "parameters", "median after 100", "median at the end"]),
        ..Outcome::default()
    };
    for file in files {
        let set = file.split('.').next().unwrap_or(file);
        let path = context.options.data.as_ref().map(|folder| folder.join(file)).filter(|path| path.exists());
        let Some(path) = path else {
            context.say(&format!("skipped: {set}, since {file} is not in a folder named by --data"));
            outcome.notes.push(format!("{set} was left out: {file} is not there."));
            continue;
        };
        let stored = Stored::load(&path, false)?;
        context.say(&format!("{set}: {} rows", stored.examples.len().min(config.rows)));
        let tuned = tuned(context, &config, &stored)?;
        let chart = chart(set, &tuned, &mut outcome);
        outcome.figure.charts.push(chart);
        outcome.claims.extend(claims(set, &tuned));
    }
    if outcome.figure.charts.is_empty() {
        return Err(ExperimentError::NoData(files.join(", ")));
    }
    outcome.notes.push(format!(
        "{} repetitions over orders of the rows; parameters from the grid {:?}, by the loss at the end. FOLKLORE and `auto` have their \
         defaults. Lines are medians, shades reach from the first to the third quartile.",
        config.repetitions, config.grid
    ));
    outcome.figure.title = "Average loss over time".to_owned();
    outcome.figure.columns = outcome.figure.charts.len();
    Ok(outcome)
}

fn chart(set: &str, tuned: &[Tuned], outcome: &mut Outcome) -> Chart {
    let mut lines = Vec::new();
    for one in tuned {
        let [low, median, high] = [0.25, 0.5, 0.75].map(|at| one.quantile(at));
        for ((low, median), high) in low.iter().zip(&median).zip(&high) {
            let numbers = [median.0, low.1, median.1, high.1].map(|number| number.to_string());
            outcome.points.push([set.to_owned(), one.name.to_owned()].into_iter().chain(numbers).collect());
        }
        let parameters: Vec<String> =
            one.contender.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        outcome.summary.push(vec![
            set.to_owned(),
            one.name.to_owned(),
            parameters.join(" "),
            number(one.median_after(100.0)),
            number(one.median_after(f64::INFINITY)),
        ]);
        let band = low.iter().zip(&high).map(|(low, high)| (low.1, high.1)).collect();
        lines.push(Line { name: one.name.to_owned(), points: median, band });
    }
    Chart {
        title: set.to_owned(),
        x_label: "rounds".to_owned(),
        y_label: "average log-loss (nats)".to_owned(),
        x_scale: Scale::Log,
        y_scale: Scale::Linear,
        lines,
        y_range: None,
    }
}

/// The paper: "the performance of GAF is similar to the one of ONS when the number of samples is high", and
/// "more stable than ONS which leads sometimes (vehicle and segment) to better performance when there are few
/// samples".
fn claims(set: &str, tuned: &[Tuned]) -> Vec<Claim> {
    let of = |name: &str| tuned.iter().find(|one| one.name == name).expect("all are tuned");
    let (gaf, ons, folklore) = (of("gaf"), of("ons"), of("folklore"));
    let after = |rounds: f64| gaf.median_after(rounds) / ons.median_after(rounds);
    // How far the repetitions are apart while samples are few.
    let spread = |one: &Tuned| -> f64 {
        let quartiles = one.quantile(0.25).into_iter().zip(one.quantile(0.75));
        let early = quartiles.filter(|((rounds, _), _)| (10.0..=100.0).contains(rounds));
        early.map(|((_, low), (_, high))| high - low).sum()
    };
    let mut claims = vec![
        Claim::between(
            format!("{set}: with many samples GAF is about ONS (loss at the end over that of ONS)"),
            after(f64::INFINITY),
            0.7,
            1.15,
        ),
        Claim::at_most(
            format!(
                "{set}: with few samples GAF is more stable (distance of the quartiles in rounds 10 to 100, over that of ONS)"
            ),
            spread(gaf) / spread(ons),
            1.0,
        ),
    ];
    if matches!(set, "vehicle" | "segment") {
        claims.push(Claim::at_most(
            format!("{set}: with few samples GAF is better (loss after 100 rounds over that of ONS)"),
            after(100.0),
            1.0,
        ));
    }
    claims.push(Claim::at_most(
        format!("{set}: FOLKLORE (not in the paper), untuned, is within half of the tuned ONS (loss over that of ONS)"),
        folklore.median_after(f64::INFINITY) / ons.median_after(f64::INFINITY),
        1.5,
    ));
    claims
}

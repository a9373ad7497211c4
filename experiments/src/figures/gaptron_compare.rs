//! The experiment that Gaptron's paper leaves open: how it compares with other bandit learners, with the
//! theorem's step size and with larger ones.

use noregret::loss::gap::Surrogate;
use serde::Deserialize;

use super::bandit::{COLUMNS, Sweep, Swept, charts, sets, sweep};
use crate::outcome::{Claim, Outcome, Table, number};
use crate::play::Contender;
use crate::{Context, ExperimentError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    rows: u64,
    real_rows: u64,
    seeds: u64,
    /// Exploration rates.
    rates: Vec<f64>,
    /// Step sizes, as multiples of the theorem's.
    multiples: Vec<f64>,
}

/// A ball so large that nothing is ever projected.
const NO_BALL: f64 = 1e9;

const LOSSES: [(&str, &str, Surrogate); 3] = [
    ("gaptron-logistic", "logistic", Surrogate::Logistic),
    ("gaptron-hinge", "hinge", Surrogate::Hinge),
    ("gaptron-smooth", "smooth", Surrogate::Smooth),
];

/// Errors at the best rate of an independent implementation: (rows, set, learner, error, tolerance).
const REFERENCE: &[(u64, &str, &str, f64, f64)] = &[
    (100_000, "SynSep", "hinge, x1", 0.1228, 0.02),
    (100_000, "SynNonSep", "hinge, x1", 0.2077, 0.02),
    (100_000, "SynSep", "smooth, x1", 0.2776, 0.02),
    (100_000, "SynNonSep", "smooth, x1", 0.3364, 0.02),
    (100_000, "SynSep", "smooth, x100", 0.0347, 0.01),
    (100_000, "SynNonSep", "smooth, x100", 0.1256, 0.02),
    // Three standard deviations of a single seed.
    (100_000, "SynNonSep", "soba-diag", 0.1042, 0.03),
    (1_000_000, "SynSep", "hinge, x1", 0.0359, 0.004),
    (1_000_000, "SynNonSep", "hinge, x1", 0.1318, 0.01),
    (1_000_000, "SynSep", "smooth, x1", 0.0888, 0.004),
    (1_000_000, "SynNonSep", "smooth, x1", 0.1381, 0.005),
    (1_000_000, "SynSep", "logistic, x1", 0.2404, 0.015),
    (1_000_000, "SynNonSep", "logistic, x1", 0.2911, 0.015),
    (1_000_000, "SynSep", "smooth, x100", 0.0102, 0.002),
    (1_000_000, "SynNonSep", "smooth, x100", 0.1029, 0.021),
    (1_000_000, "SynNonSep", "soba-diag", 0.0630, 0.005),
];

fn learners(config: &Config, classes: usize, radius: f64) -> Vec<Sweep> {
    let mut learners = Vec::new();
    for (learner, loss, surrogate) in LOSSES {
        for multiple in &config.multiples {
            let multiple = *multiple;
            learners.push(Sweep::new(&format!("{loss}, x{multiple}"), &config.rates, move |rate| {
                let step = multiple * surrogate.bandit_rate(classes, radius, NO_BALL, rate);
                let contender =
                    Contender::new(learner, &[("exploration", rate), ("rate", step), ("norm", NO_BALL)]);
                contender.with("mode", "bandit")
            }));
        }
    }
    learners.push(Sweep::new("soba-diag", &config.rates, |rate| {
        Contender::new("soba-diag", &[("exploration", rate), ("regularization", 1.0)])
    }));
    learners.push(Sweep::new("banditron", &config.rates, |rate| {
        Contender::new("banditron", &[("exploration", rate)])
    }));
    learners.push(Sweep::full(Contender::new("perceptron", &[])));
    learners
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, ExperimentError> {
    let config: Config = context.config()?;
    let (sets, mut notes) = sets(context, config.rows, config.real_rows);
    let mut outcome = Outcome { points: Table::new(&COLUMNS), ..Outcome::default() };
    outcome.summary = Table::new(&["data", "learner", "best exploration", "error"]);
    for set in &sets {
        let stored = set.load()?;
        let source = set.source(&stored);
        context.say(&format!("{}: {} rows", set.name, source.rows()));
        let problem = source.problem()?;
        let radius = problem.radius.unwrap_or(1.0);
        let swept = sweep(context, &source, &learners(&config, problem.classes, radius), config.seeds)?;
        for one in &swept {
            let (rate, error) = one.best();
            let rate = if one.full { "sees the truth".to_owned() } else { number(rate) };
            outcome.summary.push(vec![set.name.to_owned(), one.name.clone(), rate, number(error)]);
        }
        if set.is_synthetic() {
            outcome.claims.extend(claims(set.name, &swept, &config));
        }
        // The best step size of every loss, and the others: more lines could not be distinguished.
        let best = |loss: &str| {
            let own = swept.iter().filter(|one| one.name.starts_with(&format!("{loss}, ")));
            own.min_by(|a, b| a.best().1.total_cmp(&b.best().1)).map(|one| one.name.clone())
        };
        let best: Vec<String> = LOSSES.iter().filter_map(|(_, loss, _)| best(loss)).collect();
        let shown = swept.into_iter().filter(|one| !one.name.contains(", ") || best.contains(&one.name));
        // A line keeps its name from set to set, whatever the step size.
        let shown = shown.map(|one| match one.name.split_once(", ") {
            Some((loss, _)) => Swept { name: format!("gaptron-{loss}"), ..one },
            None => one,
        });
        let shown: Vec<Swept> = shown.collect();
        outcome.figure.charts.extend(charts(set.name, problem.classes, &shown, &mut outcome.points));
    }
    notes.push(
        "The charts show every loss at its best multiple of the theorem's step size, the table has all of them. Nothing is projected: the ball is out of reach. With \
         the theorem's step size the greedy rule is good early, and the gap map keeps exploring until margins reach 1."
            .to_owned(),
    );
    outcome.notes = notes;
    outcome.figure.title = "Gaptron against other bandit learners".to_owned();
    outcome.figure.columns = 2;
    Ok(outcome)
}

fn claims(set: &str, swept: &[Swept], config: &Config) -> Vec<Claim> {
    let error = |name: &str| swept.iter().find(|one| one.name == name).map(|one| one.best().1);
    let mut claims = Vec::new();
    for (rows, named, learner, expected, tolerance) in REFERENCE {
        if let (true, Some(ours)) = (*named == set && *rows == config.rows, error(learner)) {
            claims.push(Claim::near(
                format!("{set}: {learner} has error {expected} (an independent implementation)"),
                ours,
                *expected,
                *tolerance,
            ));
        }
    }
    if let (Some(small), Some(large)) = (error("smooth, x1"), error("smooth, x100")) {
        let says = format!(
            "{set}: a hundred times the theorem's step size is better (error over the theorem's, smooth hinge)"
        );
        claims.push(Claim::at_most(says, large / small, 1.0));
    }
    if let (true, Some(smooth), Some(soba)) = (set == "SynNonSep", error("smooth, x100"), error("soba-diag"))
    {
        let says =
            "SynNonSep: soba-diag stays ahead of Gaptron with that step size (its error over Gaptron's)";
        claims.push(Claim::at_most(says, soba / smooth, 1.0));
    }
    claims
}

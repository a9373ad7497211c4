//! SOBA, figure 2: bandit learners over the exploration rate, and over time at the best one, on four data
//! sets.

use serde::Deserialize;

use super::bandit::{COLUMNS, Sweep, Swept, charts, sets, sweep};
use crate::outcome::{Claim, Outcome, Table, number};
use crate::play::Contender;
use crate::source::Source;
use crate::{Context, ExperimentError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// Rows of the synthetic sets.
    rows: u64,
    /// Rows of the real ones, at most.
    real_rows: u64,
    /// Rows for SOBA with the full matrix, on sets small enough for it.
    full_matrix_rows: u64,
    seeds: u64,
    /// Exploration rates, as powers of two.
    exponents: Vec<i32>,
}

/// Final errors at a million rows, from an independent implementation: (set, learner, exponent or none,
/// error, tolerance).
const REFERENCE: &[(&str, &str, Option<i32>, f64, f64)] = &[
    ("SynNonSep", "perceptron", None, 0.0983, 0.0025),
    ("SynNonSep", "second-order-perceptron-diag", None, 0.0501, 0.0015),
    ("SynNonSep", "soba-diag", Some(-7), 0.0630, 0.005),
    ("SynNonSep", "banditron", Some(-6), 0.1201, 0.017),
    ("SynNonSep", "pnewtron", Some(-8), 0.1190, 0.012),
    ("SynSep", "soba-diag", Some(-7), 0.0163, 0.0045),
];

/// Seeds, at most, where the full matrix is.
const FULL_MATRIX_SEEDS: u64 = 3;

/// A power of two.
fn rate(exponent: i32) -> f64 {
    2_f64.powi(exponent)
}

/// The learners of the figure, and two more: the second-order Perceptron, and SOBA with the full matrix where
/// it is small.
fn learners(config: &Config, full_matrix: bool) -> Vec<Sweep> {
    let rates: Vec<f64> = config.exponents.iter().map(|exponent| rate(*exponent)).collect();
    let exploring = |learner: &'static str, values: &'static [(&'static str, f64)]| {
        Sweep::new(learner, &rates, move |rate| {
            let mut all = vec![("exploration", rate)];
            all.extend_from_slice(values);
            Contender::new(learner, &all)
        })
    };
    let mut learners = vec![
        exploring("soba-diag", &[("regularization", 1.0)]),
        exploring("banditron", &[]),
        exploring("pnewtron", &[("alpha", 10.0), ("beta", 0.01), ("norm", 1.0)]),
        Sweep::full(Contender::new("perceptron", &[])),
        Sweep::full(Contender::new("second-order-perceptron-diag", &[("regularization", 1.0)])),
    ];
    if full_matrix {
        learners.push(exploring("soba", &[("regularization", 1.0)]));
    }
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
        let classes = source.problem()?.classes;
        let swept = sweep(context, &source, &learners(&config, false), config.seeds)?;
        for one in &swept {
            let (rate, error) = one.best();
            let rate = if one.full { "sees the truth".to_owned() } else { format!("2^{:.0}", rate.log2()) };
            outcome.summary.push(vec![set.name.to_owned(), one.name.clone(), rate, number(error)]);
        }
        outcome.claims.extend(claims(set.name, &swept, classes, &config));
        outcome.figure.charts.extend(charts(set.name, classes, &swept, &mut outcome.points));
        if set.name == "Covtype" {
            full_matrix(context, &config, source, &mut outcome)?;
        }
    }
    notes.push(format!(
        "Means over {} for the learners' draws (at most {FULL_MATRIX_SEEDS} on Covtype's first rows), on the same rows. Errors are of the labels played. What an independent \
         implementation found are means over three data sets of a million rows. `second-order-perceptron-diag` and `soba`, which is SOBA with its full matrix, \
         are not in the paper's figure.",
        if config.seeds == 1 { "one seed".to_owned() } else { format!("{} seeds", config.seeds) }
    ));
    if outcome.claims.iter().any(|claim| !claim.holds) {
        notes.push(NOT_REPRODUCED.to_owned());
    }
    outcome.notes = notes;
    outcome.figure.title = "Bandit learners: error by exploration rate, and over time".to_owned();
    outcome.figure.columns = 2;
    Ok(outcome)
}

fn claims(set: &str, swept: &[Swept], classes: usize, config: &Config) -> Vec<Claim> {
    let of = |name: &str| swept.iter().find(|one| one.name == name).expect("all are swept");
    let (soba, banditron, pnewtron, perceptron) =
        (of("soba-diag"), of("banditron"), of("pnewtron"), of("perceptron").best().1);
    let mut claims = Vec::new();
    for (named, learner, exponent, expected, tolerance) in REFERENCE {
        let one = of(learner);
        let ours = exponent.map_or(Some(one.best().1), |exponent| one.at(rate(exponent)));
        if let (true, Some(ours), 1_000_000) = (*named == set, ours, config.rows) {
            let at = exponent.map_or_else(String::new, |exponent| format!(" at 2^{exponent}"));
            let says = format!("{set}: {learner}{at} has error {expected} (an independent implementation)");
            claims.push(Claim::near(says, ours, *expected, *tolerance));
        }
    }
    if matches!(set, "SynSep" | "SynNonSep") {
        let says = format!("{set}: soba-diag is best at an exploration near 1 %");
        claims.push(Claim::between(says, soba.best().0, rate(-9), rate(-5)));
        // The largest rate costs errors of its own; beyond them little is left to learn.
        let last = rate(*config.exponents.iter().max().expect("there are rates"));
        let floor = last * (classes - 1) as f64 / classes as f64;
        let noise = if set == "SynSep" { 0.0 } else { 0.05 };
        for one in [soba, banditron, pnewtron] {
            let above = one.at(last).expect("it is swept") - floor;
            let says =
                format!("{set}: {} flattens at gamma (K-1)/K = {} (error above it)", one.name, number(floor));
            claims.push(Claim::between(
                says,
                above,
                -0.002 + noise * (1.0 - last) - 0.001,
                0.02 + 2.0 * noise,
            ));
        }
    }
    match set {
        "SynNonSep" => {
            let says = "SynNonSep: soba-diag is the best bandit learner (error over the next best)";
            let next = banditron.best().1.min(pnewtron.best().1);
            claims.push(Claim::at_most(says, soba.best().1 / next, 1.0));
            let says = "SynNonSep: soba-diag is below the Perceptron, which sees the truth (error over the Perceptron's)";
            claims.push(Claim::at_most(says, soba.best().1 / perceptron, 1.0));
            let says = "SynNonSep: soba-diag comes near the best possible 5 %";
            claims.push(Claim::between(says, soba.best().1, 0.05, 0.07));
            let says = "SynNonSep: pnewtron is at its best no better than the Perceptron (error over the Perceptron's)";
            let ratio = pnewtron.best().1 / perceptron;
            claims.push(Claim::between(says, ratio, 1.0, 2.0));
        }
        "SynSep" => {
            let early = |one: &Swept| {
                one.over_time.iter().rfind(|(rounds, _)| *rounds <= 1e4).map_or(1.0, |point| point.1)
            };
            let says = "SynSep: soba-diag has a long phase of many errors (its error after 10^4 rows)";
            claims.push(Claim::between(says, early(soba), 0.3, 0.8));
        }
        "Covtype" => {
            let says = "Covtype: soba-diag is below the Perceptron, which sees the truth (error over the Perceptron's)";
            claims.push(Claim::at_most(says, soba.best().1 / perceptron, 1.0));
        }
        _ if set.starts_with("Reuters4") => {
            let says = format!("{set}: soba-diag is below Banditron (error over Banditron's)");
            claims.push(Claim::at_most(says, soba.best().1 / banditron.best().1, 1.0));
        }
        _ => {}
    }
    claims
}

/// Why two claims of the paper's section 5 do not come out, as far as that could be found.
const NOT_REPRODUCED: &str = "`soba-diag` being below the Perceptron on Covtype, and below Banditron on Reuters4, are claims of the paper's section 5. Neither comes out here. \
     On Covtype the reason seems to be the scale of the columns: with features in [0, 1], as LIBSVM publishes them, even the diagonal second-order \
     Perceptron, which sees the truth, loses to the Perceptron (0.4292 to 0.3909). With the columns standardised (`noregret run --scale standard`, all \
     581,012 rows shuffled, one seed) the claim holds: `soba-diag` 0.3695 at 2^-7 and 0.3762 at 2^-6, the Perceptron 0.3832, Banditron 0.424 at 2^-5. The paper does not \
     say how its features were scaled. On Reuters4 the rows are 23,428 of the paper's 665,265, and `soba-diag` spends many of them on its first phase: over the \
     last 5,000 (one seed, --scale none) it errs in 0.1318 at 2^-4 and Banditron in 0.1326 at 2^-16. Columns and orders of rows that are not ours to know may play a part in both.";

/// What the paper could not run: SOBA with its full matrix, beside the diagonal, on the first rows.
fn full_matrix(
    context: &Context<'_>,
    config: &Config,
    mut source: Source<'_>,
    outcome: &mut Outcome,
) -> Result<(), ExperimentError> {
    if let Source::File { rows, .. } = &mut source {
        *rows = (*rows).min(config.full_matrix_rows as usize);
    }
    context.say(&format!("Covtype: {} rows with the full matrix", source.rows()));
    let name = format!("Covtype, first {} rows", source.rows());
    let swept = sweep(context, &source, &learners(config, true), config.seeds.min(FULL_MATRIX_SEEDS))?;
    for one in &swept {
        let (rate, error) = one.best();
        let rate = if one.full { "sees the truth".to_owned() } else { format!("2^{:.0}", rate.log2()) };
        outcome.summary.push(vec![name.clone(), one.name.clone(), rate, number(error)]);
    }
    let best =
        |learner: &str| swept.iter().find(|one| one.name == learner).map_or(f64::NAN, |one| one.best().1);
    outcome.claims.push(Claim::at_most(
        format!("{name}: the full matrix (not in the paper) is no worse than the diagonal (error over the diagonal's)"),
        best("soba") / best("soba-diag"),
        1.02,
    ));
    let classes = source.problem()?.classes;
    outcome.figure.charts.extend(charts(&name, classes, &swept, &mut outcome.points));
    Ok(())
}

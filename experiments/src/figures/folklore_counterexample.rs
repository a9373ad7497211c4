//! FOLKLORE's theorem with the curvature that its lemma prints, and with the one that its proof supports: one
//! feature that is always 1, and the labels of the rarer class come before the others.

use noregret::bounds::{Setting, folklore_paper};
use noregret_stream::draw::plot::{Chart, Figure, Scale};
use noregret_stream::encode::Example;
use serde::Deserialize;

use super::line;
use crate::outcome::{Claim, Outcome, Table, number};
use crate::play::{Contender, hold, log_spaced};
use crate::source::Source;
use crate::{Context, ExperimentError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// Pairs: the comparators' norm, and the share of the class that comes first.
    streams: Vec<(f64, f64)>,
    rounds: u64,
}

/// The curvatures: as the learner's parameter has them, and as lines are called.
const CURVATURES: [(&str, &str); 2] = [("paper", "printed"), ("safe", "corrected")];

/// The regret of a run, and its bound.
struct Ran {
    rounds: u64,
    regret: f64,
    bound: f64,
}

impl Ran {
    /// FOLKLORE with this curvature, against comparators of this norm.
    fn of(norm: f64, curvature: &str, examples: &[Example]) -> Result<Self, ExperimentError> {
        let rounds = examples.len() as u64;
        let source = Source::List { classes: 2, radius: 1.0, examples };
        let contender = Contender::new("folklore", &[("norm", norm)]).with("curvature", curvature);
        let held = hold(&contender, &source, &[])?.expect("folklore has a theorem");
        let regret = held.certified.regret.expect("its comparator is a linear predictor");
        let bound = held.certified.bound.unwrap_or_else(|| {
            folklore_paper(&Setting { classes: 2, features: 1, radius: 1.0, norm, rounds: rounds as f64 })
        });
        Ok(Self { rounds, regret, bound })
    }

    fn excess(&self) -> f64 {
        self.regret - self.bound
    }
}

/// The stream of so many rounds, of which the first have the rarer class.
fn stream(rounds: u64, share: f64) -> Vec<Example> {
    let first = (share * rounds as f64).round() as u64;
    (0..rounds).map(|round| Example::dense(&[1.0], Some((usize::from(round < first)).into()))).collect()
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, ExperimentError> {
    let config: Config = context.config()?;
    let mut points = Table::new(&["norm", "rounds", "curvature", "regret", "bound"]);
    let (mut claims, mut charts) = (Vec::new(), Vec::new());
    for &(norm, share) in &config.streams {
        let mut runs = [Vec::new(), Vec::new()];
        // The stream depends on its length, so that every length is a run of its own.
        for rounds in log_spaced(config.rounds, 6).into_iter().filter(|rounds| *rounds >= 20) {
            let examples = stream(rounds, share);
            for ((curvature, _), runs) in CURVATURES.into_iter().zip(&mut runs) {
                let ran = Ran::of(norm, curvature, &examples)?;
                points.push(vec![
                    norm.to_string(),
                    rounds.to_string(),
                    curvature.to_owned(),
                    ran.regret.to_string(),
                    ran.bound.to_string(),
                ]);
                runs.push(ran);
            }
        }
        claims.extend(claims_of(norm, &runs));
        charts.push(chart(norm, share, &runs));
    }
    let figure = Figure {
        title: "FOLKLORE with the printed curvature, and with the corrected one".to_owned(),
        columns: charts.len(),
        charts,
    };
    let notes = vec![
        "Lemma 3.1 prints the curvature 1/(BR + ln(K)/2); a sign in its proof is wrong, and 1/(2 + 2BR + ln(K-1)) is what the \
         proof supports. Both runs have the regulariser of the theorem, 2R/B."
            .to_owned(),
    ];
    Ok(Outcome { claims, figure, points, notes, ..Outcome::default() })
}

/// What the runs of a stream should show, which come in the order of the curvatures.
fn claims_of(norm: f64, [printed, corrected]: &[Vec<Ran>; 2]) -> [Claim; 2] {
    // The length at which the regret exceeds its bound most.
    let worst = printed.iter().reduce(|worst, one| if one.excess() > worst.excess() { one } else { worst });
    let Ran { rounds, regret, bound } = worst.expect("there is a length");
    let breaks = Claim::holds(
        format!("B = {norm}: the printed curvature breaks the printed bound at some length"),
        format!("after {rounds} rounds, regret {} against a bound of {}", number(*regret), number(*bound)),
        regret > bound,
    );
    let keeps = Claim::at_most(
        format!("B = {norm}: the corrected curvature keeps its bound at every length (regret - bound)"),
        corrected.iter().map(Ran::excess).fold(f64::NEG_INFINITY, f64::max),
        0.0,
    );
    [breaks, keeps]
}

/// Regrets and bounds by the number of rounds.
fn chart(norm: f64, share: f64, runs: &[Vec<Ran>; 2]) -> Chart {
    let lines = CURVATURES.into_iter().zip(runs).flat_map(|((_, name), runs)| {
        let points = |of: fn(&Ran) -> f64| -> Vec<(f64, f64)> {
            runs.iter().map(|ran| (ran.rounds as f64, of(ran))).collect()
        };
        [
            line(format!("{name}: regret"), points(|ran| ran.regret)),
            line(format!("{name}: bound"), points(|ran| ran.bound)),
        ]
    });
    Chart {
        title: format!("B = {norm}, {} % of one class, then the other", 100.0 * share),
        x_label: "rounds T".to_owned(),
        y_label: "regret (nats)".to_owned(),
        x_scale: Scale::Log,
        y_scale: Scale::SymLog,
        lines: lines.collect(),
        ..Chart::default()
    }
}

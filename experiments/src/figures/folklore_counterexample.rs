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

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, ExperimentError> {
    let config: Config = context.config()?;
    let mut points = Table::new(&["norm", "rounds", "curvature", "regret", "bound"]);
    let (mut claims, mut charts) = (Vec::new(), Vec::new());
    for (norm, share) in &config.streams {
        let mut lines = [
            ("printed: regret", vec![]),
            ("printed: bound", vec![]),
            ("corrected: regret", vec![]),
            ("corrected: bound", vec![]),
        ];
        // The stream depends on its length, so that every length is a run of its own.
        let lengths: Vec<u64> =
            log_spaced(config.rounds, 6).into_iter().filter(|rounds| *rounds >= 20).collect();
        // The length at which the regret exceeds its bound most.
        let (mut printed, mut corrected) = ((0, f64::NEG_INFINITY, 0.0), f64::NEG_INFINITY);
        for rounds in lengths {
            let first = (share * rounds as f64).round() as u64;
            let examples: Vec<Example> = (0..rounds)
                .map(|round| Example::dense(&[1.0], Some((usize::from(round < first)).into())))
                .collect();
            let source = Source::List { classes: 2, radius: 1.0, examples: &examples };
            for (at, curvature) in ["paper", "safe"].into_iter().enumerate() {
                let contender = Contender::new("folklore", &[("norm", *norm)]).with("curvature", curvature);
                let held = hold(&contender, &source, &[])?.expect("folklore has a theorem");
                let regret = held.certified.regret.expect("its comparator is a linear predictor");
                let bound = held.certified.bound.unwrap_or_else(|| {
                    let setting =
                        Setting { classes: 2, features: 1, radius: 1.0, norm: *norm, rounds: rounds as f64 };
                    folklore_paper(&setting)
                });
                lines[2 * at].1.push((rounds as f64, regret));
                lines[2 * at + 1].1.push((rounds as f64, bound));
                points.push(vec![
                    norm.to_string(),
                    rounds.to_string(),
                    curvature.to_owned(),
                    regret.to_string(),
                    bound.to_string(),
                ]);
                if curvature == "safe" {
                    corrected = corrected.max(regret - bound);
                } else if regret - bound > printed.1 - printed.2 {
                    printed = (rounds, regret, bound);
                }
            }
        }
        let (rounds, regret, bound) = printed;
        claims.push(Claim::holds(
            format!("B = {norm}: the printed curvature breaks the printed bound at some length"),
            format!("after {rounds} rounds, regret {} against a bound of {}", number(regret), number(bound)),
            regret > bound,
        ));
        claims.push(Claim::at_most(
            format!("B = {norm}: the corrected curvature keeps its bound at every length (regret - bound)"),
            corrected,
            0.0,
        ));
        charts.push(Chart {
            title: format!("B = {norm}, {} % of one class, then the other", 100.0 * share),
            x_label: "rounds T".to_owned(),
            y_label: "regret (nats)".to_owned(),
            x_scale: Scale::Log,
            y_scale: Scale::SymLog,
            lines: lines.into_iter().map(|(name, points)| line(name, points)).collect(),
            ..Chart::default()
        });
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

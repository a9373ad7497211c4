//! `--abstain-cost`, `--abstain-rate` and `--risk-plot`.

use std::path::Path;

use noregret::algorithm::{About, Forecast};
use noregret_stream::draw::plot::{Chart, Line};
use noregret_stream::watch::abstain::{Abstention, Report, Rule};

use crate::failure::Failure;
use crate::plan::{AbstainPlan, ObservePlan};
use crate::plot::PlotFile;

/// The default cost of abstaining for learners that abstain by themselves.
const OWN_COST: f64 = 0.5;

/// The rule of `--abstain-cost` or `--abstain-rate`; with `--risk-plot` alone, one that always
/// answers. `own`: the learner abstains by its own rule.
pub(crate) fn abstention(
    plan: &ObservePlan,
    about: &About,
    own: bool,
) -> Result<Option<Abstention>, Failure> {
    if own {
        let cost = match plan.abstain {
            Some(AbstainPlan::Rate(_)) => {
                return Err(Failure::usage(format!(
                    "--abstain-rate: {} abstains by its own rule",
                    about.name
                )));
            }
            Some(AbstainPlan::Cost(cost)) => cost,
            None => OWN_COST,
        };
        return Ok(Some(Abstention::new(Rule::Own(cost))));
    }
    let (option, rule) = match plan.abstain {
        Some(AbstainPlan::Cost(cost)) => ("--abstain-cost", Rule::Cost(cost)),
        Some(AbstainPlan::Rate(rate)) => ("--abstain-rate", Rule::Rate(rate)),
        None if plan.risk_plot.is_some() => ("--risk-plot", Rule::Cost(1.0)),
        None => return Ok(None),
    };
    if about.forecast != Forecast::Probabilities {
        return Err(Failure::usage(format!("{option}: {} does not forecast probabilities", about.name)));
    }
    Ok(Some(Abstention::new(rule)))
}

/// The plot of `--risk-plot`, whose file is opened before the run.
pub(crate) struct RiskPlot(PlotFile);

impl RiskPlot {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        PlotFile::open("--risk-plot", path).map(Self)
    }

    /// Plots the error rate among the answers against coverage.
    pub(crate) fn draw(self, name: &str, report: &Report) -> Result<(), Failure> {
        let points = report.curve.iter().map(|point| (point.coverage, point.risk)).collect();
        self.0.write(&Chart {
            title: "Error rate among the most confident rounds".to_owned(),
            x_label: "coverage".to_owned(),
            y_label: "error rate".to_owned(),
            lines: vec![Line { name: name.to_owned(), points, band: Vec::new() }],
            ..Chart::default()
        })
    }
}

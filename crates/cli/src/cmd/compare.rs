//! `noregret compare`: many learners, settings and seeds over one pass of the data.

use noregret_stream::draw::plot::{Chart, Line};
use noregret_stream::draw::report::{Document, focus};
use noregret_stream::watch::curve::Measure;
use serde_json::json as object;

use crate::args::CompareArgs;
use crate::comparison::{MEASURES, json, order, table};
use crate::failure::Failure;
use crate::files::OutputFile;
use crate::note::note;
use crate::pass::{Comparison, Run, run_all};
use crate::plan::{ComparePlan, PassPlan};
use crate::plot::PlotFile;
use crate::progress::Mode;

/// Runs all candidates and shows their scores.
pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let ComparePlan { candidates, pass, sort, plot, curve, report } = ComparePlan::of(args)?;
    let has = |measure: Measure| {
        candidates.iter().any(|candidate| measure.axis(candidate.entry.about.forecast).is_some())
    };
    if plot.is_some() && !has(curve) {
        return Err(Failure::usage(format!("--curve {curve}: none of the learners has that loss")));
    }
    // The plot shows one measure, the report all.
    let drawn = |measure: &Measure| report.is_some() && has(*measure) || plot.is_some() && *measure == curve;
    let measures: Vec<Measure> = Measure::ALL.into_iter().filter(drawn).collect();
    let plot_file = plot.as_deref().map(|path| PlotFile::open("--plot", path)).transpose()?;
    let report = report.as_deref().map(|path| OutputFile::open("--report", path)).transpose()?;
    let comparison = run_all(&pass, candidates, &measures)?;
    let order = order(&comparison, sort);
    let mode = pass.stream.mode;
    // Those with the loss may have been left out.
    let measures: Vec<Measure> = measures
        .into_iter()
        .filter(|measure| {
            let mut there = comparison.candidates.iter();
            there.any(|candidate| measure.axis(candidate.entry.about.forecast).is_some())
        })
        .collect();
    let plot_file = plot_file.filter(|_| measures.contains(&curve));
    if let (Some(path), None) = (&plot, &plot_file) {
        note(format_args!("noregret: {}: no learner with {curve} is left to draw", path.display()));
    }
    let drawn = plot_file.is_some();
    if let Some(file) = plot_file {
        file.write(&chart(&comparison, &order, curve, &pass))?;
    }
    if let Some(report) = report {
        // With a window over all rounds, both are the same.
        let whole = |measure: &&Measure| {
            measure.is_running() || comparison.runs[0].score.rounds() > pass.stream.window as u64
        };
        let charts = measures.iter().filter(whole);
        let charts: Vec<Chart> = charts.map(|measure| chart(&comparison, &order, *measure, &pass)).collect();
        report.write(page(&comparison, &order, file(&pass), charts).as_bytes())?;
    }
    if mode == Mode::Json {
        json(&comparison, &pass.stream.source.data).map_err(Failure::output)?;
        return comparison.check(&pass);
    }
    if mode == Mode::Table {
        note("");
    }
    table(&comparison, &order).map_err(Failure::output)?;
    if let (Some(path), Mode::Table, true) = (&plot, mode, drawn) {
        note(format_args!("The curves are in {}.", path.display()));
    }
    comparison.check(&pass)
}

/// The name of the data without its folder.
fn file(plan: &PassPlan) -> &str {
    let data = plan.stream.source.name();
    data.rsplit(std::path::MAIN_SEPARATOR).next().unwrap_or(data)
}

/// The learning curves of the candidates in `order`: the mean over the seeds, in the shade of their range.
fn chart(comparison: &Comparison, order: &[usize], measure: Measure, plan: &PassPlan) -> Chart {
    let forecast = |at: &usize| comparison.candidates[*at].entry.about.forecast;
    let drawn: Vec<usize> = order.iter().copied().filter(|at| measure.axis(forecast(at)).is_some()).collect();
    let axis = measure.axis(forecast(&drawn[0])).expect("only those with the loss are drawn");
    let file = file(plan);
    let span = if measure.is_running() {
        "over all rounds so far".to_owned()
    } else {
        format!("over the last {} rounds", plan.stream.window)
    };
    if drawn.len() > Chart::MOST_LINES {
        note(format_args!(
            "The plot has the first {} of {} curves in the order of the table.",
            Chart::MOST_LINES,
            drawn.len()
        ));
    }
    Chart {
        title: format!("{file}: {axis} {span}"),
        x_label: "rounds".to_owned(),
        y_label: axis.to_owned(),
        lines: drawn.into_iter().take(Chart::MOST_LINES).map(|at| line(comparison, at, measure)).collect(),
        ..Chart::default()
    }
}

/// The page of `--report`: curves of all losses, and the numbers of the table.
fn page(comparison: &Comparison, order: &[usize], file: &str, charts: Vec<Chart>) -> String {
    let mut page = Document::new(
        &format!("Learners compared on {file}"),
        "Every row was predicted by every learner before its label was seen, in one pass over the data.",
    );
    let banded = charts.iter().flat_map(|chart| &chart.lines).any(|line| !line.band.is_empty());
    let caption = if banded { "Shades reach from the least to the greatest of the seeds." } else { "" };
    page.begin_row();
    for chart in &charts {
        let title = chart.title.strip_prefix(&format!("{file}: ")).unwrap_or(&chart.title).to_owned();
        let (chart, cut) = focus(chart.clone());
        let above = if cut { " The first rounds are above the chart." } else { "" };
        page.figure(&title, &chart.inline(&title), format!("{caption}{above}").trim_start());
    }
    page.end_row();
    let mut header = vec!["learner".to_owned()];
    let shown = |at: usize, measure| {
        let spread = comparison.measured(at, measure);
        spread.map_or_else(String::new, |spread| format!("{:.5}", spread.mean))
    };
    let measures = MEASURES.iter().filter(|measure| order.iter().any(|at| !shown(*at, measure).is_empty()));
    let measures: Vec<_> = measures.collect();
    header.extend(measures.iter().map(|measure| measure.long.to_owned()));
    let rows: Vec<Vec<String>> = (order.iter())
        .map(|at| {
            let numbers = measures.iter().map(|measure| shown(*at, measure));
            std::iter::once(comparison.candidates[*at].label()).chain(numbers).collect()
        })
        .collect();
    page.table(&header, &rows);
    let curves = |chart: &Chart| -> Vec<_> {
        let object =
            |line: &Line| object!({ "learner": line.name, "points": line.points, "band": line.band });
        chart.lines.iter().map(object).collect()
    };
    let charts: Vec<_> = charts
        .iter()
        .map(|chart| object!({ "title": chart.title, "x": chart.x_label, "y": chart.y_label, "curves": curves(chart) }))
        .collect();
    page.finish(&object!({ "charts": charts, "columns": header, "rows": rows }))
}

fn line(comparison: &Comparison, candidate: usize, measure: Measure) -> Line {
    let points = |run: &Run| {
        let curve = run.curves.iter().find(|curve| curve.measure() == measure);
        curve.map_or(&[][..], |curve| curve.points()).to_vec()
    };
    let curves: Vec<Vec<(f64, f64)>> = comparison.runs_of(candidate).map(points).collect();
    let (mut mean, mut band) = (Vec::new(), Vec::new());
    for (at, (round, _)) in curves[0].iter().enumerate() {
        let values = || curves.iter().map(|curve| curve[at].1);
        mean.push((*round, values().sum::<f64>() / curves.len() as f64));
        if curves.len() > 1 {
            band.push((values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)));
        }
    }
    Line { name: comparison.candidates[candidate].label(), points: mean, band }
}

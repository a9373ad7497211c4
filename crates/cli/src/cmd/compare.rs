//! `noregret compare`: many learners, settings and seeds over one pass of the data.

use noregret_stream::curve::Measure;
use noregret_stream::plot::{Chart, Line};

use crate::args::CompareArgs;
use crate::comparison::{json, order, table};
use crate::failure::Failure;
use crate::note::note;
use crate::open::data_name;
use crate::pass::{Comparison, Run, run_all};
use crate::plot::PlotFile;
use crate::progress::Mode;
use crate::sweep::{Candidate, candidates};

/// Runs all candidates, and shows how they did.
pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let candidates = candidates(&args.learners, &args.set)?;
    let draws_curve = |candidate: &Candidate| args.curve.axis(candidate.entry.about.forecast).is_some();
    if args.plot.is_some() && !candidates.iter().any(draws_curve) {
        return Err(Failure::usage(format!("--curve {}: none of the learners has that loss", args.curve)));
    }
    let plot = args.plot.as_deref().map(|path| PlotFile::open("--plot", path)).transpose()?;
    let comparison = run_all(&args.stream, candidates, plot.is_some().then_some(args.curve))?;
    let order = order(&comparison, args.sort);
    let mode = Mode::of(&args.stream);
    if let Some(plot) = plot {
        let chart = chart(&comparison, &order, args.curve, args);
        plot.write(&chart)?;
    }
    if mode == Mode::Json {
        return json(&comparison, &args.stream).map_err(Failure::output);
    }
    if mode == Mode::Table {
        note("");
    }
    table(&comparison, &order).map_err(Failure::output)?;
    if let (Some(path), Mode::Table) = (&args.plot, mode) {
        note(format_args!("The curves are in {}.", path.display()));
    }
    Ok(())
}

/// The learning curves of the candidates in `order`: the mean over the seeds, in the shade of their range.
fn chart(comparison: &Comparison, order: &[usize], measure: Measure, args: &CompareArgs) -> Chart {
    let forecast = |at: &usize| comparison.candidates[*at].entry.about.forecast;
    let drawn: Vec<usize> = order.iter().copied().filter(|at| measure.axis(forecast(at)).is_some()).collect();
    let axis = measure.axis(forecast(&drawn[0])).expect("only those with the loss are drawn");
    let data = data_name(&args.stream.data);
    let file = data.rsplit(std::path::MAIN_SEPARATOR).next().unwrap_or(data);
    let span = if measure.is_running() {
        "over all rounds so far".to_owned()
    } else {
        format!("over the last {} rounds", args.stream.window)
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
        lines: drawn.into_iter().take(Chart::MOST_LINES).map(|at| line(comparison, at)).collect(),
    }
}

fn line(comparison: &Comparison, candidate: usize) -> Line {
    let points = |run: &Run| run.curve.as_ref().map_or(&[][..], |curve| curve.points()).to_vec();
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

//! What the two bandit experiments share: SOBA's four data sets, sweeps over the exploration rate, and their
//! charts.

use std::path::{Path, PathBuf};

use noregret_stream::draw::plot::{Chart, Scale};

use super::line;
use crate::outcome::Table;
use crate::play::{Contender, Trace, log_spaced, parallel, play};
use crate::source::Source;
use crate::stored::Stored;
use crate::{Context, ExperimentError};

/// The files of the two sets that cannot be made on the spot; the second is a part of the first.
pub(crate) const FILES: &[&str] = &["reuters4.libsvm.gz", REUTERS4_SUBSET, "covtype.scale01.libsvm.gz"];
const REUTERS4_SUBSET: &str = "reuters4_sub.libsvm.gz";

/// Largest norm of a row of SynSep: at most 35 keys and 20 others.
const SYNSEP_RADIUS: f64 = 7.416_198_487_095_663;

/// A data set of the figure.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    /// Rows, at most.
    rows: u64,
    origin: Origin,
}

enum Origin {
    /// Made on the spot by this recipe.
    Recipe(&'static str),
    /// Read, with a constant feature if that is set.
    File(PathBuf, bool),
}

impl Set {
    /// Its rows in memory, some hundred bytes each: every run of a sweep goes over them.
    pub(crate) fn load(&self) -> Result<Stored, ExperimentError> {
        match &self.origin {
            Origin::Recipe(recipe) => Source::Made {
                recipe,
                values: noregret::param::Values::new(),
                rows: self.rows,
                seed: 1,
                radius: SYNSEP_RADIUS,
                sparse: true,
            }
            .stored(),
            Origin::File(path, intercept) => Stored::load(path, *intercept),
        }
    }

    /// Its rows, always in the same order: only the learners' draws differ between repetitions.
    pub(crate) fn source<'a>(&self, stored: &'a Stored) -> Source<'a> {
        let order = if self.is_synthetic() { None } else { Some(0) };
        Source::File { stored, rows: self.rows as usize, order }
    }

    pub(crate) fn is_synthetic(&self) -> bool {
        matches!(self.origin, Origin::Recipe(_))
    }
}

/// The sets, those with files only if these are in the folder of data; and a note on each that is absent.
pub(crate) fn sets(context: &Context<'_>, synthetic: u64, real: u64) -> (Vec<Set>, Vec<String>) {
    let made = |name, recipe| Set { name, rows: synthetic, origin: Origin::Recipe(recipe) };
    let (mut sets, mut absent) = (vec![made("SynSep", "synsep"), made("SynNonSep", "synnonsep")], Vec::new());
    let find = |file: &str| {
        let folder: Option<&Path> = context.options.data.as_deref();
        folder.map(|folder| folder.join(file)).filter(|path| path.exists())
    };
    // The whole, or else the part.
    let [reuters, part, covtype] = [FILES[0], FILES[1], FILES[2]];
    let reuters = match find(reuters) {
        Some(_) => ("Reuters4", reuters, false),
        None => ("Reuters4, subset", part, false),
    };
    for (name, file, intercept) in [reuters, ("Covtype", covtype, true)] {
        let Some(path) = find(file) else {
            context.say(&format!("skipped: {name}, since {file} is not in a folder named by --data"));
            absent.push(format!("{name} was left out: {file} is not there."));
            continue;
        };
        if file == REUTERS4_SUBSET {
            let rest = "so its errors are close to the paper's and not the same; `noregret data fetch reuters4` downloads the whole";
            absent.push(format!("Reuters4 is a subset of the paper's, {rest}."));
        }
        sets.push(Set { name, rows: real, origin: Origin::File(path, intercept) });
    }
    (sets, absent)
}

/// A learner under one name, for every exploration rate of a sweep; one rate of 0 for those that have none.
pub(crate) struct Sweep {
    pub(crate) name: String,
    pub(crate) rates: Vec<f64>,
    pub(crate) make: Box<dyn Fn(f64) -> Contender + Sync>,
    /// Whether it sees the truth, for comparison.
    pub(crate) full: bool,
}

impl Sweep {
    pub(crate) fn new(name: &str, rates: &[f64], make: impl Fn(f64) -> Contender + Sync + 'static) -> Self {
        Self { name: name.to_owned(), rates: rates.to_vec(), make: Box::new(make), full: false }
    }

    /// A learner that sees the truth.
    pub(crate) fn full(contender: Contender) -> Self {
        let name = contender.learner.to_owned();
        Self { name, rates: vec![0.0], make: Box::new(move |_| contender.clone()), full: true }
    }
}

/// What a sweep came to.
pub(crate) struct Swept {
    pub(crate) name: String,
    pub(crate) full: bool,
    /// (rate, mean error over the seeds, standard deviation).
    pub(crate) errors: Vec<(f64, f64, f64)>,
    /// Error over time at the best rate, a mean over the seeds.
    pub(crate) over_time: Vec<(f64, f64)>,
}

impl Swept {
    /// (rate, error) of the least error.
    pub(crate) fn best(&self) -> (f64, f64) {
        let (rate, error, _) =
            self.errors.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are rates");
        (*rate, *error)
    }

    /// The error at a rate of the sweep.
    pub(crate) fn at(&self, rate: f64) -> Option<f64> {
        self.errors.iter().find(|(other, ..)| *other == rate).map(|(_, error, _)| *error)
    }
}

/// Runs every sweep with `seeds` seeds; learners that draw nothing once.
pub(crate) fn sweep(
    context: &Context<'_>,
    source: &Source<'_>,
    sweeps: &[Sweep],
    seeds: u64,
) -> Result<Vec<Swept>, ExperimentError> {
    let mut jobs = Vec::new();
    for (at, sweep) in sweeps.iter().enumerate() {
        for rate in &sweep.rates {
            jobs.extend((0..if sweep.full { 1 } else { seeds }).map(|seed| (at, *rate, seed)));
        }
    }
    let checkpoints = log_spaced(source.rows(), 8);
    let traces = parallel(context.options.threads, &jobs, |(at, rate, seed)| {
        play(&(sweeps[*at].make)(*rate), source, *seed, &checkpoints)
    })?;
    let swept = |(at, sweep): (usize, &Sweep)| {
        let of_rate = |rate: f64| -> Vec<&Trace> {
            let own = jobs.iter().zip(&traces).filter(|((job, other, _), _)| *job == at && *other == rate);
            own.map(|(_, trace)| trace).collect()
        };
        let errors = sweep.rates.iter().map(|rate| {
            let errors: Vec<f64> = of_rate(*rate).iter().map(|trace| trace.error()).collect();
            let (mean, sd) = mean_and_deviation(&errors);
            (*rate, mean, sd)
        });
        let mut swept = Swept {
            name: sweep.name.clone(),
            full: sweep.full,
            errors: errors.collect(),
            over_time: Vec::new(),
        };
        let best = of_rate(swept.best().0);
        swept.over_time = (0..best[0].errors.len())
            .map(|point| {
                let mean = best.iter().map(|trace| trace.errors[point].1).sum::<f64>() / best.len() as f64;
                (best[0].errors[point].0, mean)
            })
            .collect();
        swept
    };
    Ok(sweeps.iter().enumerate().map(swept).collect())
}

/// The mean, and the standard deviation of a sample; 0 for one value.
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, if values.len() > 1 { (square / (count - 1.0)).sqrt() } else { 0.0 })
}

/// The two charts of a set: error over the exploration rate, and over time at the best rate; and their
/// numbers.
pub(crate) fn charts(set: &str, classes: usize, swept: &[Swept], points: &mut Table) -> [Chart; 2] {
    let rates = || swept.iter().filter(|one| !one.full).flat_map(|one| &one.errors).map(|(rate, ..)| *rate);
    let (low, high) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    let over_rates = swept.iter().map(|one| {
        let errors: Vec<(f64, f64)> = one.errors.iter().map(|(rate, error, _)| (*rate, *error)).collect();
        // What does not explore is a level.
        line(one.name.as_str(), if one.full { vec![(low, errors[0].1), (high, errors[0].1)] } else { errors })
    });
    // What exploring costs alone, whatever is learnt.
    let wrong = (classes - 1) as f64 / classes as f64;
    let floor =
        (0..=40).map(|at| low * (high / low).powf(f64::from(at) / 40.0)).map(|rate| (rate, rate * wrong));
    let over_rates = over_rates.chain([line("exploration alone: γ(K-1)/K", floor.collect())]);
    let over_time = swept.iter().map(|one| line(one.name.as_str(), one.over_time.clone()));
    for one in swept {
        for (rate, error, sd) in &one.errors {
            points.push(
                [set, &one.name, "rate", &rate.to_string(), &error.to_string(), &sd.to_string()]
                    .map(str::to_owned)
                    .to_vec(),
            );
        }
        for (rounds, error) in &one.over_time {
            points.push(
                [set, &one.name, "time", &rounds.to_string(), &error.to_string(), ""]
                    .map(str::to_owned)
                    .to_vec(),
            );
        }
    }
    let chart = |x_label: &str, lines, y_scale| Chart {
        title: set.to_owned(),
        x_label: x_label.to_owned(),
        y_label: "error rate".to_owned(),
        x_scale: Scale::Log,
        y_scale,
        lines,
        ..Chart::default()
    };
    [
        chart("exploration rate γ", over_rates.collect(), Scale::Linear),
        chart("rounds, at the best exploration rate", over_time.collect(), Scale::Log),
    ]
}

/// The columns of the points.
pub(crate) const COLUMNS: [&str; 6] = ["data", "learner", "axis", "x", "error", "deviation"];

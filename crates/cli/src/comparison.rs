//! Shows the results of a pass, as a table or JSON.

use std::io::Write;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};
use noregret::param::Values;
use noregret_stream::run::score::Rates;
use noregret_stream::watch::spread::Spread;
use serde::Serialize;

use crate::choices::SortBy;
use crate::note::{counted, counted_past, note};
use crate::pass::{Comparison, LeftOut, Run};
use crate::progress::as_json;
use crate::summary::Summary;

/// A measure of runs. Smaller is better.
pub(crate) struct Measure {
    /// Its column.
    pub(crate) name: &'static str,
    /// Its name in the summary.
    pub(crate) long: &'static str,
    pub(crate) rate: fn(&Rates) -> Option<f64>,
}

/// For a learner that plays its best label, the greedy error is the error.
fn greedy(rates: &Rates) -> Option<f64> {
    rates.expected_error_rate.and(rates.greedy_error_rate)
}

/// All measures, in the order of their columns.
pub(crate) const MEASURES: [Measure; 5] = [
    Measure { name: "error", long: "error rate", rate: |rates| rates.error_rate },
    Measure { name: "expected", long: "expected error rate", rate: |rates| rates.expected_error_rate },
    Measure { name: "greedy", long: "greedy error rate", rate: greedy },
    Measure { name: "log-loss", long: "log-loss (nats)", rate: |rates| rates.log_loss },
    Measure { name: "squared loss", long: "squared loss", rate: |rates| rates.squared_loss },
];

impl Comparison {
    /// A measure over the seeds of a candidate.
    fn spread(&self, candidate: usize, of: impl Fn(&Run) -> Option<f64>) -> Option<Spread> {
        let values: Option<Vec<f64>> = self.runs_of(candidate).map(of).collect();
        Spread::of(&values?)
    }

    /// A measure of a candidate over its seeds; `None` if it is undefined.
    pub(crate) fn measured(&self, candidate: usize, measure: &Measure) -> Option<Spread> {
        self.spread(candidate, |run| (measure.rate)(&run.score.rates()))
    }

    fn rows_per_second(&self, candidate: usize) -> f64 {
        let speed = |run: &Run| Some(run.score.rounds() as f64 / run.seconds);
        self.spread(candidate, speed).map_or(0.0, |spread| spread.mean)
    }
}

/// The candidates as the table lists them.
pub(crate) fn order(comparison: &Comparison, by: SortBy) -> Vec<usize> {
    let mean = |at: usize, measure: &Measure| comparison.measured(at, measure).map(|spread| spread.mean);
    let [error, _, _, log_loss, squared_loss] = &MEASURES;
    let key = |at: usize| match by {
        SortBy::Given => Some(0.0),
        SortBy::Error => mean(at, error).or_else(|| mean(at, squared_loss)),
        SortBy::LogLoss => mean(at, log_loss),
        SortBy::Speed => Some(-comparison.rows_per_second(at)),
    };
    let mut order: Vec<(usize, f64)> =
        (0..comparison.candidates.len()).map(|at| (at, key(at).unwrap_or(f64::INFINITY))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    order.into_iter().map(|(at, _)| at).collect()
}

/// Prints the table.
pub(crate) fn table(comparison: &Comparison, order: &[usize]) -> std::io::Result<()> {
    let listed = Listed::new(comparison, order);
    let columns = listed.columns();
    let mut table = Table::new();
    table.load_style(NOTHING);
    let cell = |text: &str, alignment| Cell::new(text).set_alignment(alignment);
    table.set_header(columns.iter().map(|(name, alignment, _)| cell(name, *alignment)));
    for row in 0..order.len() {
        table.add_row(columns.iter().map(|(_, alignment, cells)| cell(&cells[row], *alignment)));
    }
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 1));
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}\n", table.trim_fmt())?;
    writeln!(out, "{}", listed.legend().join("; "))?;
    if let Some((majority, uniform)) = comparison.guessing() {
        writeln!(out, "error of guessing: {majority:.5} always the commonest class, {uniform:.5} at random")?;
    }
    for one in &comparison.left_out {
        writeln!(out, "{one}")?;
    }
    remarks(comparison);
    Ok(())
}

/// A column of the table: its header, its alignment, and a cell for each candidate.
type Column = (String, CellAlignment, Vec<String>);

/// The candidates that a table lists, in its order.
struct Listed<'a> {
    comparison: &'a Comparison,
    order: &'a [usize],
    /// Whether one of them has several seeds.
    repeated: bool,
    /// Whether there are both kinds of feedback.
    mixed: bool,
}

impl<'a> Listed<'a> {
    fn new(comparison: &'a Comparison, order: &'a [usize]) -> Self {
        let mut listed = Self { comparison, order, repeated: false, mixed: false };
        listed.repeated = order.iter().any(|at| listed.is_repeated(*at));
        listed.mixed = order.iter().any(|at| listed.feedback(*at) != listed.feedback(order[0]));
        listed
    }

    fn is_repeated(&self, at: usize) -> bool {
        self.comparison.runs_of(at).count() > 1
    }

    fn feedback(&self, at: usize) -> &'static str {
        if self.comparison.runs_of(at).any(|run| run.bandit) { "bandit" } else { "full" }
    }

    /// The columns that have something to tell.
    fn columns(&self) -> Vec<Column> {
        let Self { comparison, order, .. } = *self;
        let column = |name: &str, alignment, cell: &dyn Fn(usize) -> String| -> Column {
            (name.to_owned(), alignment, order.iter().map(|at| cell(*at)).collect())
        };
        let left = |name: &str, cell: &dyn Fn(usize) -> String| column(name, CellAlignment::Left, cell);
        let mut columns = vec![left("learner", &|at| comparison.candidates[at].entry.about.name.to_owned())];
        if comparison.candidates.iter().any(|candidate| !candidate.varied.is_empty()) {
            columns.push(left("settings", &|at| comparison.candidates[at].differs_by()));
        }
        if self.mixed {
            columns.push(left("feedback", &|at| self.feedback(at).to_owned()));
        }
        // Of the first measure.
        let mut with_ends = self.repeated;
        for measure in &MEASURES {
            let spreads: Vec<Option<Spread>> =
                order.iter().map(|at| comparison.measured(*at, measure)).collect();
            if spreads.iter().flatten().next().is_none() {
                continue;
            }
            columns.push(self.means(measure, &spreads));
            if std::mem::take(&mut with_ends) {
                columns.extend(ends(&spreads));
            }
        }
        let speed = |at: usize| format!("{:.0}", comparison.rows_per_second(at));
        columns.push(column("rows/s", CellAlignment::Right, &speed));
        columns
    }

    /// The column of a measure, in which the best is marked for each kind of feedback.
    fn means(&self, measure: &Measure, spreads: &[Option<Spread>]) -> Column {
        let comparable = |at: usize| {
            let is_alike = move |other: usize| self.feedback(other) == self.feedback(at);
            spreads.iter().zip(self.order).filter(move |(_, other)| is_alike(**other))
        };
        let best = |at: usize| {
            comparable(at).filter_map(|(spread, _)| Some(spread.as_ref()?.mean)).fold(f64::INFINITY, f64::min)
        };
        let mark = |at: usize, mean: f64| if mean == best(at) && self.order.len() > 1 { "*" } else { " " };
        let cell = |(spread, at): (&Option<Spread>, &usize)| match spread {
            None => String::new(),
            Some(Spread { mean, sd, .. }) if self.is_repeated(*at) => {
                format!("{mean:.5}{} ± {sd:.5}", mark(*at, *mean))
            }
            // Aligned with means that have a deviation.
            Some(Spread { mean, .. }) if self.repeated => format!("{mean:.5}{}{:10}", mark(*at, *mean), ""),
            Some(Spread { mean, .. }) => format!("{mean:.5}{}", mark(*at, *mean)),
        };
        let cells = spreads.iter().zip(self.order).map(cell).collect();
        // The header is aligned with the end of the mean.
        let blank = if self.repeated { 11 } else { 1 };
        (format!("{}{:blank$}", measure.name, ""), CellAlignment::Right, cells)
    }

    /// What marks and numbers mean.
    fn legend(&self) -> Vec<String> {
        let Self { comparison, order, .. } = *self;
        let mut legend = Vec::new();
        if order.len() > 1 {
            let among = if self.mixed { ", among those with the same feedback" } else { "" };
            legend.push(format!("* best of its column{among}"));
        }
        if self.repeated {
            let seeds = order.iter().map(|at| comparison.runs_of(*at).count()).max().unwrap_or(1);
            legend.push(format!("mean ± standard deviation over {seeds} seeds"));
        }
        legend.push(counted(comparison.runs[0].score.rounds(), "round"));
        legend
    }
}

/// The columns of the least and the largest values over the seeds.
fn ends(spreads: &[Option<Spread>]) -> [Column; 2] {
    let column = |name: &str, end: fn(&Spread) -> f64| -> Column {
        let cell = |spread: &Option<Spread>| {
            spread.as_ref().map_or_else(String::new, |spread| format!("{:.5}", end(spread)))
        };
        (name.to_owned(), CellAlignment::Right, spreads.iter().map(cell).collect())
    };
    [column("min", |spread| spread.min), column("max", |spread| spread.max)]
}

/// Says what is odd about the rows.
fn remarks(comparison: &Comparison) {
    let large = comparison.feed.encodings.iter().map(|encoding| encoding.encoder.large_rows()).max();
    let mut encodings = comparison.feed.encodings.iter();
    if let Some(remark) = encodings.find_map(|encoding| encoding.encoder.clipped_costs()) {
        note(format_args!("{remark}"));
    }
    if let Some(rows @ 1..) = large {
        note(format_args!("{} beyond a learner's radius", counted_past(rows, "row")));
    }
}

/// A run, as JSON.
#[derive(Serialize)]
struct RunLine<'a> {
    #[serde(flatten)]
    summary: Summary<'a>,
    settings: &'a Values,
    feedback: &'static str,
}

/// The last line of JSON.
#[derive(Serialize)]
struct SummaryLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    data: &'a str,
    rounds: u64,
    runs: usize,
    threads: usize,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    majority_error_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uniform_error_rate: Option<f64>,
    settings: Vec<Means<'a>>,
    /// Candidates that could not learn from the data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<Missing<'a>>,
}

/// A candidate without results.
#[derive(Serialize)]
struct Missing<'a> {
    learner: &'static str,
    settings: &'a Values,
    why: &'a str,
}

impl<'a> Missing<'a> {
    fn of(LeftOut { candidate, why, .. }: &'a LeftOut) -> Self {
        Self { learner: candidate.entry.about.name, settings: &candidate.settings.params, why }
    }
}

/// A candidate over its seeds.
#[derive(Serialize)]
struct Means<'a> {
    learner: &'static str,
    settings: &'a Values,
    feedback: &'static str,
    repeats: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_error_rate: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    greedy_error_rate: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_loss: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    squared_loss: Option<Spread>,
    rows_per_second: f64,
}

/// Prints one object for each run, and a summary.
pub(crate) fn json(comparison: &Comparison, data: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let feedback = |run: &Run| if run.bandit { "bandit" } else { "full" };
    for run in &comparison.runs {
        let candidate = &comparison.candidates[run.candidate];
        let encoding = &comparison.feed.encodings[run.encoder];
        let line = RunLine {
            summary: Summary {
                kind: "run",
                data,
                learner: candidate.entry.about.name,
                rates: run.score.rates(),
                window: run.score.window_rates(),
                baselines: None,
                commonest: None,
                seconds: Some(run.seconds),
                rows_per_second: Some(run.score.rounds() as f64 / run.seconds),
                certified: None,
                certified_loss: "",
                abstention: None,
                numbers: run.numbers.clone(),
                weights: as_json(&run.weights),
                calibration: None,
                calibrated: Vec::new(),
                bad_rows: encoding.bad_rows,
                large_rows: encoding.encoder.large_rows(),
                clipped_rows: encoding.encoder.scaler().clipped(),
                dropped_features: comparison.feed.reader.dropped_features(),
                resolved_parameters: run.values.clone(),
                classes: run.problem.classes,
                features: run.problem.features - usize::from(encoding.encoder.has_intercept()),
                intercept: encoding.encoder.has_intercept(),
                seed: run.seed,
            },
            settings: &candidate.settings.params,
            feedback: feedback(run),
        };
        writeln!(out, "{}", serde_json::to_string(&line).expect("plain numbers"))?;
    }
    let spread =
        |at: usize, rate: fn(&Rates) -> Option<f64>| comparison.spread(at, |run| rate(&run.score.rates()));
    let means = comparison.candidates.iter().enumerate().map(|(at, candidate)| Means {
        learner: candidate.entry.about.name,
        settings: &candidate.settings.params,
        feedback: comparison.runs_of(at).next().map_or("full", feedback),
        repeats: comparison.runs_of(at).count(),
        error_rate: spread(at, |rates| rates.error_rate),
        expected_error_rate: spread(at, |rates| rates.expected_error_rate),
        greedy_error_rate: spread(at, |rates| rates.greedy_error_rate),
        log_loss: spread(at, |rates| rates.log_loss),
        squared_loss: spread(at, |rates| rates.squared_loss),
        rows_per_second: comparison.rows_per_second(at),
    });
    let guessing = comparison.guessing();
    let line = SummaryLine {
        kind: "summary",
        data,
        rounds: comparison.runs[0].score.rounds(),
        runs: comparison.runs.len(),
        threads: comparison.threads,
        seconds: comparison.seconds,
        majority_error_rate: guessing.map(|(majority, _)| majority),
        uniform_error_rate: guessing.map(|(_, uniform)| uniform),
        settings: means.collect(),
        left_out: comparison.left_out.iter().map(Missing::of).collect(),
    };
    writeln!(out, "{}", serde_json::to_string(&line).expect("plain numbers"))
}

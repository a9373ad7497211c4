//! Progress of runs: a table and a bar, or JSON lines.

use std::io::{ErrorKind, IsTerminal, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use noregret::algorithm::Forecast;
use noregret::guarantee::Promise;
use noregret_stream::run::score::{Rates, Score};
use noregret_stream::run::{Outcome, Sink};
use serde::Serialize;

use crate::note::note;

/// The form of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A table on standard error, with a bar on a terminal.
    Table,
    /// JSON objects on standard output.
    Json,
    /// Nowhere.
    Quiet,
}

/// The known total of a run.
pub(crate) enum Total {
    /// Number of rows.
    Rows(u64),
    /// Size of a file in bytes, and the number of bytes read.
    Bytes(u64, Arc<AtomicU64>),
    /// Unknown, for a pipe.
    Unknown,
}

/// Shows the progress of a run. The only clock of a run.
pub(crate) struct Progress {
    mode: Mode,
    forecast: Forecast,
    bar: Option<ProgressBar>,
    /// Bytes read, if the bar is in bytes.
    position: Option<Arc<AtomicU64>>,
    started: Instant,
    next_row: u64,
    /// Rounds of the last row shown.
    shown: u64,
    rows: u64,
    outlives_pipe: bool,
    certificates: bool,
    header: Option<String>,
}

/// The learner's values in a row.
#[derive(Default)]
struct Inside {
    certificate: Option<Promise>,
    weights: Vec<(String, f64)>,
}

/// A line of progress, as JSON.
#[derive(Serialize)]
struct ProgressLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    rates: &'a Rates,
    window: &'a Rates,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<f64>,
    /// Why there is none, for a learner that computes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_certificate_because: Option<String>,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    weights: serde_json::Map<String, serde_json::Value>,
    seconds: f64,
    rows_per_second: f64,
}

/// Numbers by name, as JSON.
pub(crate) fn as_json(numbers: &[(String, f64)]) -> serde_json::Map<String, serde_json::Value> {
    numbers.iter().map(|(name, number)| (name.clone(), (*number).into())).collect()
}

/// The name of the largest of `numbers`, and how large it is.
pub(crate) fn largest(numbers: &[(String, f64)]) -> Option<String> {
    let (name, number) = numbers.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let what = name.split(',').next().unwrap_or(name);
    Some(format!("{what} {number:.2}"))
}

impl Progress {
    /// Progress of a run of `total`.
    ///
    /// `certificates` adds a column with the learner's live certificate.
    pub(crate) fn new(
        mode: Mode,
        forecast: Forecast,
        total: Total,
        window: usize,
        certificates: bool,
    ) -> Self {
        let bar = (mode == Mode::Table && std::io::stderr().is_terminal()).then(|| bar(&total));
        let started = Instant::now();
        let position = match total {
            Total::Bytes(_, position) => Some(position),
            _ => None,
        };
        Self {
            mode,
            forecast,
            bar,
            position,
            started,
            next_row: 1,
            shown: 0,
            rows: 0,
            outlives_pipe: false,
            certificates,
            header: (mode == Mode::Table).then(|| header(forecast, window, certificates)),
        }
    }

    /// Errors are ignored, so that the run continues and the model is saved.
    pub(crate) fn outliving_pipe(self) -> Self {
        Self { outlives_pipe: true, ..self }
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64().max(1e-9)
    }

    /// Ends the table with the last row, unless it is already shown.
    pub(crate) fn finish(
        &mut self,
        score: &Score,
        certificate: Option<Promise>,
        weights: Vec<(String, f64)>,
    ) -> std::io::Result<()> {
        let void = certificate.as_ref().and_then(|certificate| certificate.as_ref().err()).cloned();
        if score.rounds() > self.shown {
            self.row(score, Inside { certificate, weights })?;
        }
        if let (Some(why), Mode::Table, true) = (void, self.mode, self.certificates) {
            self.line(format!("The certificate is void: {why}."));
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        Ok(())
    }

    /// A line of the table.
    fn line(&self, text: String) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => note(text),
        }
    }

    fn row(&mut self, score: &Score, inside: Inside) -> std::io::Result<()> {
        let Inside { certificate, weights } = inside;
        self.shown = score.rounds();
        let (rates, window) = (score.rates(), score.window_rates());
        match self.mode {
            Mode::Quiet => Ok(()),
            Mode::Table => {
                let leader = largest(&weights);
                if let Some(header) = self.header.take() {
                    self.line(header + if leader.is_some() { "  largest weight" } else { "" });
                }
                let mut text = table_row(self.forecast, &rates, &window);
                if self.certificates {
                    let certificate = match certificate {
                        Some(Ok(value)) => format!("{value:.3}"),
                        Some(Err(_)) => "void".to_owned(),
                        None => "none".to_owned(),
                    };
                    text += &format!("  {certificate:>12}");
                }
                if let Some(leader) = leader {
                    text += &format!("  {leader}");
                }
                self.line(text);
                Ok(())
            }
            Mode::Json => {
                let seconds = self.seconds();
                let rows_per_second = self.rows as f64 / seconds;
                let (certificate, no_certificate_because) = match certificate.filter(|_| self.certificates) {
                    Some(Ok(value)) => (Some(value), None),
                    Some(Err(why)) => (None, Some(why.to_string())),
                    None => (None, None),
                };
                let line = ProgressLine {
                    kind: "progress",
                    rates: &rates,
                    window: &window,
                    certificate,
                    no_certificate_because,
                    weights: as_json(&weights),
                    seconds,
                    rows_per_second,
                };
                let text = serde_json::to_string(&line).expect("plain numbers");
                match writeln!(std::io::stdout().lock(), "{text}") {
                    Err(error) if self.outlives_pipe && error.kind() == ErrorKind::BrokenPipe => {
                        self.mode = Mode::Quiet;
                        Ok(())
                    }
                    result => result,
                }
            }
        }
    }
}

/// The progress of a pass with many runs.
pub(crate) struct PassProgress {
    mode: Mode,
    bar: Option<ProgressBar>,
    started: Instant,
    rows: u64,
    next_line: u64,
}

impl PassProgress {
    /// Progress of a pass over `total` rows, if known.
    pub(crate) fn new(mode: Mode, total: Option<u64>) -> Self {
        let bar = (mode == Mode::Table && std::io::stderr().is_terminal())
            .then(|| bar(&total.map_or(Total::Unknown, Total::Rows)));
        Self { mode, bar, started: Instant::now(), rows: 0, next_line: 10_000 }
    }

    /// Time since the start.
    pub(crate) fn clock(&self) -> impl Fn() -> Duration + Sync + use<> {
        let started = self.started;
        move || started.elapsed()
    }

    /// `rows` more were read.
    pub(crate) fn read(&mut self, rows: u64) {
        self.rows += rows;
        if let Some(bar) = &self.bar {
            bar.set_position(self.rows);
        } else if self.mode == Mode::Table && self.rows >= self.next_line {
            self.next_line = after(self.rows);
            note(format_args!("{:>9}  rows after {:.1} s", self.rows, self.started.elapsed().as_secs_f64()));
        }
    }

    /// Ends the pass; returns its time in seconds.
    pub(crate) fn finish(self) -> f64 {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.started.elapsed().as_secs_f64().max(1e-9)
    }
}

impl Sink for Progress {
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        self.rows += 1;
        if let Some(bar) = &self.bar
            && self.rows.is_multiple_of(256)
        {
            match &self.position {
                Some(position) => {
                    bar.set_position(position.load(Ordering::Relaxed));
                    bar.set_message(self.rows.to_string());
                }
                None => bar.set_position(self.rows),
            }
        }
        if outcome.target.is_some() && score.rounds() == self.next_row {
            self.next_row = after(self.next_row);
            let certificate = if self.certificates { (outcome.certificate)() } else { None };
            self.row(score, Inside { certificate, weights: (outcome.weights)() })?;
        }
        Ok(())
    }

    fn looks_inside(&self, scored: Range<u64>) -> bool {
        scored.contains(&self.next_row)
    }
}

/// The rounds that get a row: 1, 2, 5, 10, 20, 50, …
fn after(round: u64) -> u64 {
    let mut decade = 1;
    loop {
        for step in [1, 2, 5] {
            if decade * step > round {
                return decade * step;
            }
        }
        decade *= 10;
    }
}

pub(crate) const TICK: Duration = Duration::from_millis(200);

pub(crate) fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("a template without errors");
    style.with_key("speed", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        // What cannot be shown is left out of a bar.
        let _ = write!(out, "{} a second", HumanCount(state.per_sec() as u64));
    })
}

fn bar(total: &Total) -> ProgressBar {
    let bar = match total {
        Total::Rows(total) => ProgressBar::new(*total)
            .with_style(style("{bar:30} {percent:>3}%  {human_pos} rows  {speed}  {eta} left")),
        Total::Bytes(total, _) => {
            ProgressBar::new(*total).with_style(style("{bar:30} {percent:>3}%  {msg} rows  {eta} left"))
        }
        Total::Unknown => {
            ProgressBar::new_spinner().with_style(style("{spinner} {human_pos} rows  {speed}  {elapsed}"))
        }
    };
    bar.enable_steady_tick(TICK);
    bar
}

/// A column of the table: its name and rate.
struct Column {
    name: &'static str,
    rate: fn(&Rates) -> Option<f64>,
}

const ERROR: Column = Column { name: "error", rate: |rates| rates.error_rate };
const GREEDY_ERROR: Column = Column { name: "greedy error", rate: |rates| rates.greedy_error_rate };
const LOG_LOSS: Column = Column { name: "log-loss", rate: |rates| rates.log_loss };
const SQUARED_LOSS: Column = Column { name: "squared loss", rate: |rates| rates.squared_loss };

/// The kind of loss depends on the learner, so it is named.
fn columns(forecast: Forecast) -> &'static [Column] {
    match forecast {
        Forecast::Probabilities => &[ERROR, LOG_LOSS],
        Forecast::Label => &[ERROR],
        Forecast::RandomisedLabel => &[ERROR, GREEDY_ERROR],
        Forecast::Value => &[SQUARED_LOSS],
    }
}

fn header(forecast: Forecast, window: usize, certificates: bool) -> String {
    let last = format!("last {window}");
    let mut text = format!("{:>10}", "rounds");
    for Column { name, .. } in columns(forecast) {
        text += &format!("  {name:>12}  {last:>12}");
    }
    if certificates {
        text += &format!("  {:>12}", "certificate");
    }
    text
}

fn table_row(forecast: Forecast, rates: &Rates, window: &Rates) -> String {
    let mut text = format!("{:>10}", rates.rounds);
    for Column { rate, .. } in columns(forecast) {
        for rates in [rates, window] {
            let value = rate(rates).map_or_else(String::new, |value| format!("{value:.5}"));
            text += &format!("  {value:>12}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_thin_out() {
        let mut round = 1;
        let rounds: Vec<u64> = std::iter::from_fn(|| {
            let now = round;
            round = super::after(round);
            Some(now)
        })
        .take(8)
        .collect();
        assert_eq!(rounds, [1, 2, 5, 10, 20, 50, 100, 200]);
    }
}

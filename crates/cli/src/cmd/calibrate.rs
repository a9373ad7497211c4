//! `noregret calibrate`: the costs of the members of `auto` on this machine.

use std::io::Write;
use std::time::Duration;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};
use noregret::example::{Features, Label, Target};
use noregret::experts::auto::calibration::members;
use noregret::learner::OnlineLearner;
use noregret::param::{Value, Values};
use noregret::problem::Problem;
use noregret::rng::Rng;
use noregret_experiments::synthetic::Recipe;
use noregret_stream::{Row, RowLabel};

use crate::args::CalibrateArgs;
use crate::failure::Failure;
use crate::note::note;

/// The numbers of classes and features of the streams on which members are measured: of a table with two
/// classes, of covtype, digits, letters, and a wide one.
const SHAPES: [(usize, usize); 5] = [(2, 10), (7, 54), (10, 64), (26, 16), (10, 256)];

/// The same for a stream of sparse rows.
const SPARSE: (usize, usize) = (4, 50_000);

/// Non-zero entries of a sparse row.
const STORED: usize = 64;

/// Rows that are learnt before the time is taken, so that trees and windows have their usual size.
const BEFORE: usize = 1024;

/// The shortest of this number of measurements counts, since other programs disturb it least.
const REPETITIONS: usize = 3;

/// The rows of a stream.
struct Rows {
    problem: Problem,
    /// The features of each row, as many; empty for sparse rows.
    indices: Vec<u32>,
    values: Vec<f64>,
    labels: Vec<u32>,
}

impl Rows {
    /// Points around centroids, with an intercept.
    fn dense((classes, features): (usize, usize), count: usize) -> Result<Self, Failure> {
        let number = |number: usize| Value::parse(&number.to_string());
        let values = Values::from([
            ("classes".to_owned(), number(classes)),
            ("features".to_owned(), number(features)),
        ]);
        let mut stream =
            Recipe::find("random-rbf").map_err(Failure::usage)?.make(&values, count as u64, 0)?;
        let problem = Problem::new(classes, features + 1).with_radius((features as f64 + 1.0).sqrt());
        let mut rows = Self { problem, indices: vec![], values: vec![], labels: vec![] };
        let mut row = Row::new();
        for _ in 0..count {
            stream.next(&mut row);
            let start = rows.values.len();
            rows.values.resize(start + features, 0.0);
            for (&index, &value) in row.indices().iter().zip(row.values()) {
                rows.values[start + index as usize] = value;
            }
            rows.values.push(1.0);
            let RowLabel::Name(name) = row.label() else { unreachable!("every row has a class") };
            rows.labels.push(name.parse().expect("classes are numbered"));
        }
        Ok(rows)
    }

    /// Ones at random places; the first place decides the class.
    fn sparse((classes, features): (usize, usize), count: usize) -> Self {
        let problem = Problem::new(classes, features).with_radius((STORED as f64).sqrt()).with_sparse(true);
        let (mut rng, mut indices, mut labels) = (Rng::new(0, 0), vec![], vec![]);
        for _ in 0..count {
            let start = indices.len();
            let part = features / STORED;
            indices.extend((0..STORED).map(|at| (at * part) as u32 + rng.below(part as u64) as u32));
            labels.push(indices[start] % classes as u32);
        }
        Self { problem, values: vec![1.0; indices.len()], indices, labels }
    }

    fn features(&self, at: usize) -> Features<'_> {
        if self.problem.sparse {
            let entries = at * STORED..(at + 1) * STORED;
            Features::Sparse { indices: &self.indices[entries.clone()], values: &self.values[entries] }
        } else {
            let features = self.problem.features;
            Features::Dense(&self.values[at * features..(at + 1) * features])
        }
    }

    /// The seconds in which `learner` predicts and learns the rows from `start` to `end`, announced as in a
    /// run.
    fn seconds(&self, learner: &mut dyn OnlineLearner, start: usize, end: usize) -> f64 {
        let rows: Vec<Features<'_>> = (start..end).map(|at| self.features(at)).collect();
        let labels = &self.labels[start..end];
        let block = learner.look_ahead().map_or(1, |ahead| ahead.lookahead().max(1));
        let mut prediction = learner.prediction();
        let learn = || {
            for (rows, labels) in rows.chunks(block).zip(labels.chunks(block)) {
                if let Some(ahead) = learner.look_ahead() {
                    ahead.prepare(&rows);
                }
                for (x, label) in rows.iter().zip(labels) {
                    learner.predict(*x, &mut prediction);
                    learner.update(*x, Target::class(Label(*label)), &prediction);
                }
            }
        };
        time_of(learn).as_secs_f64()
    }

    /// Nanoseconds of a round.
    fn nanoseconds(&self, learner: &mut dyn OnlineLearner, rows: usize) -> f64 {
        self.seconds(learner, 0, BEFORE);
        let starts = (0..REPETITIONS).map(|times| BEFORE + times * rows);
        let seconds = starts.map(|start| self.seconds(learner, start, start + rows));
        seconds.fold(f64::INFINITY, f64::min) * 1e9 / rows as f64
    }
}

/// The processor time of `work`, which other programs hardly change.
#[cfg(unix)]
fn time_of(work: impl FnOnce()) -> Duration {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
    };
    let begin = now();
    work();
    now() - begin
}

/// The time that passes during `work`.
#[cfg(not(unix))]
fn time_of(work: impl FnOnce()) -> Duration {
    let begin = std::time::Instant::now();
    work();
    begin.elapsed()
}

/// A kind of member: the sums over the shapes of the logarithms of the ratios, and their number.
struct Kind {
    name: &'static str,
    logarithms: f64,
    shapes: usize,
}

/// Measures each kind of member on every shape, and prints the factors and the setting that uses them.
pub(crate) fn run(args: &CalibrateArgs) -> Result<(), Failure> {
    note("Each member of auto learns generated streams by itself, on one core: half a minute.");
    let mut table = Table::new();
    table.load_style(NOTHING);
    let cells = |texts: [String; 6]| {
        let cell = |(at, text): (usize, String)| {
            let alignment = if at == 0 { CellAlignment::Left } else { CellAlignment::Right };
            Cell::new(text).set_alignment(alignment)
        };
        texts.into_iter().enumerate().map(cell).collect::<Vec<_>>()
    };
    let names = ["member", "classes", "columns", "by the cost model", "measured", "ratio"];
    table.set_header(cells(names.map(str::to_owned)));
    let mut kinds: Vec<Kind> = vec![];
    let count = BEFORE + REPETITIONS * args.rows;
    let streams = SHAPES.iter().map(|shape| Rows::dense(*shape, count));
    for rows in streams.chain([Ok(Rows::sparse(SPARSE, count))]) {
        let rows = rows?;
        let mut members = members(&rows.problem)?;
        let (labels, others) = members.split_first_mut().expect("frequencies of labels are always there");
        let overhead = rows.nanoseconds(&mut *labels.learner, args.rows);
        for member in others {
            let measured = (rows.nanoseconds(&mut *member.learner, args.rows) - overhead).max(1.0);
            let ratio = measured / member.nanoseconds;
            table.add_row(cells([
                member.kind.to_owned(),
                rows.problem.classes.to_string(),
                rows.problem.features.to_string(),
                format!("{:.1} µs", member.nanoseconds / 1e3),
                format!("{:.1} µs", measured / 1e3),
                format!("{ratio:.2}"),
            ]));
            let at = kinds.iter().position(|kind| kind.name == member.kind).unwrap_or_else(|| {
                kinds.push(Kind { name: member.kind, logarithms: 0.0, shapes: 0 });
                kinds.len() - 1
            });
            kinds[at].logarithms += ratio.ln();
            kinds[at].shapes += 1;
        }
    }
    let factor = |kind: &Kind| (kind.logarithms / kind.shapes as f64).exp().clamp(1e-2, 1e2);
    let costs: Vec<String> = kinds.iter().map(|kind| format!("{}:{:.2}", kind.name, factor(kind))).collect();
    let (table, costs) = (table.trim_fmt(), costs.join("+"));
    writeln!(std::io::stdout(), "{table}\n\nnoregret run FILE --set cost_factors={costs}")
        .map_err(Failure::output)
}

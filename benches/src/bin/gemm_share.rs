//! How much of the machine FOLKLORE gets: its useful flops, $2q^2d^2 + q^3d^2$ a round, as a share of the
//! rate of a plain matrix product of side 1024 in the same run. Then how the time of a round grows, and what
//! a round of the learners for many features costs over classes K, columns d, stored entries nnz and rank m.
//!
//! ```sh
//! cargo run --profile dist -p noregret-benches --bin gemm_share \
//!     [-- share | growth [FILE.svg] | costs [FILE.svg]]
//! ```
#![allow(clippy::print_stdout, reason = "its table is what it is for")]

use std::time::Instant;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use noregret::example::{Features, Target};
use noregret::learner::{Feedback, OnlineLearner};
use noregret::param::{Value, Values};
use noregret::prediction::Decision;
use noregret::problem::Problem;
use noregret::registry::find;
use noregret::rng::Rng;
use noregret_benches::plain::PlainFolklore;
use noregret_benches::{labels, rows};
use noregret_stream::draw::plot::{Chart, Figure, Line, Scale};

fn main() {
    let (what, picture) = (std::env::args().nth(1), std::env::args().nth(2));
    let wanted = |name: &str| what.as_deref().is_none_or(|what| what == name);
    if wanted("share") {
        share();
    }
    if wanted("growth") {
        growth(picture.as_deref());
    }
    if wanted("costs") {
        costs(picture.as_deref());
    }
}

/// Seconds that this thread has computed for, where the system reports it; else the time of day. A loaded
/// machine changes the first only by its caches.
struct Clock(Instant);

impl Clock {
    fn now(&self) -> f64 {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
        nanoseconds.map_or_else(|| self.0.elapsed().as_secs_f64(), |nanoseconds| 1e-9 * nanoseconds)
    }
}

/// Seconds of `work`, the fastest of `repeats` measurements, each long enough for a clock that ticks in
/// milliseconds.
fn fastest(repeats: usize, mut work: impl FnMut()) -> f64 {
    const LONG: f64 = 0.5;
    let clock = Clock(Instant::now());
    let run = |_| {
        let (start, mut runs) = (clock.now(), 0);
        loop {
            work();
            runs += 1;
            let took = clock.now() - start;
            if took >= LONG {
                return took / f64::from(runs);
            }
        }
    };
    (0..repeats).map(run).fold(f64::INFINITY, f64::min)
}

/// flop/s of a product of side 1024.
fn gemm_rate() -> f64 {
    let side = 1024;
    let a = Mat::from_fn(side, side, |i, j| ((i + 2 * j) as f64).sin());
    let mut c = Mat::zeros(side, side);
    let products = 5;
    let work = || {
        for _ in 0..products {
            matmul(&mut c, Accum::Replace, &a, &a, 1.0, Par::Seq);
        }
    };
    products as f64 * 2.0 * (side as f64).powi(3) / fastest(8, work)
}

fn learner(name: &str, classes: usize, features: usize) -> Box<dyn OnlineLearner> {
    let problem = Problem::new(classes, features).with_radius(4.0);
    let entry = find(name).expect("registered");
    entry.make(&Values::new(), problem, 0).expect("defaults")
}

/// Seconds a round of `learner` on `count` rows, dense or with the non-zero `indices`, `ahead` at once.
fn round_time(
    learner: &mut dyn OnlineLearner,
    indices: Option<&[u32]>,
    ahead: bool,
    count: usize,
    repeats: usize,
) -> f64 {
    let width = indices.map_or(learner.problem().features, <[u32]>::len);
    let values = rows(count, width);
    let labels = labels(count, learner.problem().classes);
    let xs: Vec<Features<'_>> = values
        .chunks_exact(width)
        .map(|values| indices.map_or(Features::Dense(values), |indices| Features::Sparse { indices, values }))
        .collect();
    let block = if ahead { learner.look_ahead().map_or(1, |ahead| ahead.lookahead().max(1)) } else { count };
    let mut at = learner.prediction();
    let work = || {
        for (xs, labels) in xs.chunks(block).zip(labels.chunks(block)) {
            if let Some(known) = learner.look_ahead().filter(|_| ahead) {
                known.prepare(&xs);
            }
            for (x, y) in xs.iter().zip(labels) {
                learner.predict(*x, &mut at);
                learner.update(*x, Target::class(*y), &at);
            }
        }
    };
    fastest(repeats, work) / count as f64
}

fn share() {
    println!("| shape | mode | us a round | rounds/s | GFLOP/s | gemm 1024 | share |");
    println!("|---|---|---|---|---|---|---|");
    for (d, k, count, repeats) in [(54, 7, 2600, 12), (400, 9, 128, 4)] {
        let q = (k - 1) as f64;
        let flops = (2.0 * q * q + q * q * q) * (d * d) as f64;
        let line = |mode: &str, time: f64| {
            let gemm = gemm_rate();
            println!(
                "| d = {d}, K = {k} | {mode} | {:.1} | {:.0} | {:.1} | {:.1} | {:.2} |",
                1e6 * time,
                1.0 / time,
                1e-9 * flops / time,
                1e-9 * gemm,
                flops / time / gemm
            );
        };
        for (mode, ahead) in [("look-ahead", true), ("one at a time", false)] {
            line(mode, round_time(&mut *learner("folklore", k, d), None, ahead, count, repeats));
        }
        let (x, y) = (rows(count, d), labels(count, k));
        let mut plain = PlainFolklore::new(k, d);
        let rounds = count.min(400_000_000 / ((k - 1) * d).pow(2)).max(8);
        let work = || x.chunks_exact(d).zip(&y).take(rounds).for_each(|(x, y)| plain.round(x, *y));
        line("plain loops", fastest(repeats, work) / rounds as f64);
    }
}

/// A size that grows, and the time that grows with it.
struct Sweep {
    what: &'static str,
    /// The exponent that the theory gives.
    theory: u32,
    /// What is timed, in microseconds.
    unit: &'static str,
    sizes: &'static [usize],
}

impl Sweep {
    /// Prints the seconds that `time` takes at each size, with the exponent between neighbours; returns the
    /// line of the chart.
    fn run(self, mut time: impl FnMut(usize) -> f64) -> Line {
        let Self { what, theory, unit, sizes } = self;
        println!("\n{what} (theory: {theory})\n\n| size | us a {unit} | exponent |\n|---|---|---|");
        let mut seen: Vec<(f64, f64)> = Vec::new();
        for &size in sizes {
            let (size, seconds) = (size as f64, time(size));
            let exponent = seen.last().map_or(String::new(), |(before, took)| {
                format!("{:.2}", (seconds / took).ln() / (size / before).ln())
            });
            println!("| {size} | {:.2} | {exponent} |", 1e6 * seconds);
            seen.push((size, seconds));
        }
        let (size, seconds) = seen[0];
        let points = seen.iter().map(|(s, t)| (s / size, t / seconds)).collect();
        Line { name: format!("{what} (theory: {theory})"), points, band: Vec::new() }
    }
}

/// Prints the sweeps; `picture` gets them as SVG.
fn growth(picture: Option<&str>) {
    let folklore = |k, d, ahead, count| round_time(&mut *learner("folklore", k, d), None, ahead, count, 4);
    let ogd = |k: usize, d: usize, nnz: usize| {
        let indices: Vec<u32> = (0..nnz as u32).map(|i| i * (d / nnz) as u32).collect();
        let problem = Problem { sparse: true, ..Problem::new(k, d).with_radius(4.0) };
        let entry = find("ogd").expect("registered");
        let mut learner = entry.make(&Values::new(), problem, 0).expect("defaults");
        round_time(&mut *learner, Some(&indices), false, 4000, 8)
    };
    let sweep = |what, theory, sizes| Sweep { what, theory, unit: "round", sizes };
    let features = &[25, 50, 100, 200, 400];
    let lines = vec![
        sweep("folklore over d, look-ahead, K = 5", 2, features).run(|d| folklore(5, d, true, 512)),
        sweep("folklore over d, one row at a time, K = 5", 2, features).run(|d| folklore(5, d, false, 512)),
        sweep("folklore over K, look-ahead, d = 50", 3, &[3, 5, 9, 17, 26])
            .run(|k| folklore(k, 50, true, 256)),
        Sweep { unit: "stream", ..sweep("folklore over T, d = 50, K = 5", 1, &[250, 1000, 4000, 16_000]) }
            .run(|rounds| rounds as f64 * folklore(5, 50, true, rounds)),
        sweep("ogd over stored entries, d = 2^17, K = 5", 1, &[16, 64, 256, 1024])
            .run(|nnz| ogd(5, 1 << 17, nnz)),
        sweep("ogd over K, 64 stored entries, d = 2^17", 1, &[4, 16, 64, 256]).run(|k| ogd(k, 1 << 17, 64)),
        sweep("ogd over d, 64 stored entries, K = 5", 0, &[1 << 10, 1 << 14, 1 << 18]).run(|d| ogd(5, d, 64)),
    ];
    if let Some(picture) = picture {
        let chart = Chart {
            title: "How the time of a round grows".into(),
            x_label: "size, as a multiple of the smallest".into(),
            y_label: "time, as a multiple of that of the smallest".into(),
            lines,
            x_scale: Scale::Log,
            y_scale: Scale::Log,
            ..Chart::default()
        };
        std::fs::write(picture, chart.svg()).expect("the picture can be written");
    }
}

/// The shape of a stream, and the rank of sketches.
#[derive(Clone, Copy)]
struct Shape {
    classes: usize,
    features: usize,
    entries: usize,
    rank: u64,
}

/// A shape with one of its sizes replaced.
type Resized = fn(Shape, usize) -> Shape;

/// Seconds a round of `name` on 1,000 sparse rows with random columns, the learner's first rounds included.
fn sparse_round_time(name: &str, shape: Shape) -> f64 {
    const ROUNDS: usize = 1000;
    let Shape { classes, features, entries, rank } = shape;
    let entry = find(name).expect("registered");
    let mut set = Values::new();
    if entry.param("rank").is_some() {
        set.insert("rank".to_owned(), Value::Integer(rank));
    }
    if entry.feedback == Feedback::Bandit {
        set.insert("exploration".to_owned(), Value::Float(0.3));
    }
    let problem = Problem { sparse: true, ..Problem::new(classes, features).with_radius(4.0) };
    let (values, labels, mut rng) = (rows(ROUNDS, entries), labels(ROUNDS, classes), Rng::new(3, 0));
    // One column of every stretch of equal length.
    let stretch = (features / entries) as u64;
    let indices: Vec<u32> = (0..ROUNDS * entries)
        .map(|at| ((at % entries) as u64 * stretch + rng.below(stretch)) as u32)
        .collect();
    let row = |t: usize| Features::Sparse {
        indices: &indices[t * entries..][..entries],
        values: &values[t * entries..][..entries],
    };
    let seconds = if entry.feedback == Feedback::Bandit {
        fastest(3, || {
            let mut learner = entry.make_bandit(&set, problem.clone(), 0).expect("valid");
            let (mut at, mut uniforms) = (Decision::default(), Rng::new(4, 0));
            for (t, y) in labels.iter().enumerate() {
                learner.act(row(t), &mut uniforms, &mut at);
                learner.learn(row(t), &at, (at.label as usize == *y).into());
            }
        })
    } else {
        fastest(3, || {
            let mut learner = entry.make(&set, problem.clone(), 0).expect("valid");
            let mut at = learner.prediction();
            for (t, y) in labels.iter().enumerate() {
                learner.predict(row(t), &mut at);
                learner.update(row(t), Target::class(*y), &at);
            }
        })
    };
    seconds / ROUNDS as f64
}

/// Prints the costs over each size, with the other sizes fixed; `picture` gets them as SVG.
fn costs(picture: Option<&str>) {
    const LEARNERS: [&str; 5] =
        ["folklore-diag", "folklore-sketch", "ons-sketch", "soba-diag", "soba-sketch"];
    let base = Shape { classes: 8, features: 1 << 13, entries: 32, rank: 10 };
    let sweeps: [(&str, &[usize], Resized); 4] = [
        ("classes K", &[2, 8, 32, 128], |shape, classes| Shape { classes, ..shape }),
        ("columns d", &[1 << 9, 1 << 11, 1 << 13, 1 << 15], |shape, features| Shape { features, ..shape }),
        ("stored entries nnz", &[8, 32, 128, 512], |shape, entries| Shape { entries, ..shape }),
        ("rank m", &[2, 5, 10, 20, 40], |shape, rank| Shape { rank: rank as u64, ..shape }),
    ];
    let charts = sweeps.map(|(what, sizes, with)| {
        println!(
            "\n| us a round over {what} | {} |",
            sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" | ")
        );
        println!("|---|{}", "---:|".repeat(sizes.len()));
        let lines = LEARNERS.map(|name| {
            let time = |size: &usize| (*size as f64, 1e6 * sparse_round_time(name, with(base, *size)));
            let points: Vec<(f64, f64)> = sizes.iter().map(time).collect();
            let cells: Vec<String> = points.iter().map(|(_, time)| format!("{time:.1}")).collect();
            println!("| `{name}` | {} |", cells.join(" | "));
            Line { name: name.to_owned(), points, band: Vec::new() }
        });
        Chart {
            title: format!("over {what}"),
            x_label: what.into(),
            y_label: "microseconds a round".into(),
            lines: lines.into(),
            x_scale: Scale::Log,
            y_scale: Scale::Log,
            ..Chart::default()
        }
    });
    if let Some(picture) = picture {
        let Shape { classes, features, entries, rank } = base;
        let title =
            format!("Cost of a round; otherwise K = {classes}, d = {features}, nnz = {entries}, m = {rank}");
        let figure = Figure { title, columns: 2, charts: charts.into() };
        std::fs::write(picture, figure.svg()).expect("the picture can be written");
    }
}

use std::time::Instant;

use noregret::algorithm::Forecast;
use noregret::param::Values;
use noregret::problem::Problem;
use noregret::registry::find;

use super::*;
use crate::encode::Encoder;
use crate::encode::examples::{BadRows, ReadExamples};
use crate::encode::scale::{Scaler, Scaling};
use crate::read::open::from_read;
use crate::read::options::ReadOptions;
use crate::read::reader::Reader;
use crate::run::bandit::{Play, run_bandit};
use crate::run::delay::Lateness;
use crate::run::full::Outcome;

/// All that a run predicted and played.
#[derive(Clone, Debug, Default, PartialEq)]
struct Diary(Vec<(Vec<f64>, u32)>);

impl Sink for Diary {
    fn observe(&mut self, outcome: &Outcome<'_>, _: &Score) -> io::Result<()> {
        self.0.push((outcome.prediction.scores.clone(), outcome.played.0));
        Ok(())
    }
}

/// Rows of three classes and two features; every 50th has weight 2, which some learners reject.
fn text(rows: usize) -> String {
    let row = |at: usize| {
        let class = at / 3 % 3;
        let weight = if at % 50 == 49 { " 2" } else { "" };
        let noise = (at * 7919 % 101) as f64 / 50.0 - 1.0;
        format!("{}{weight} | a:{} b:{}\n", class + 1, class as f64 - 1.0 + noise, noise * noise)
    };
    (0..rows).map(row).collect()
}

fn reader(rows: usize) -> Box<dyn Reader> {
    let options = ReadOptions { hash_bits: None, ..ReadOptions::default() };
    from_read(Box::new(io::Cursor::new(text(rows))), "a.vw", &options).expect("a readable stream")
}

/// A learner, its encoder, and its options.
fn make(name: &str, values: &[(&str, &str)], seed: u64) -> (AnyModel, Encoder, RunOptions) {
    let entry = find(name).expect("known");
    let values: Values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    let problem = Problem::new(3, 3).with_radius(3.0).with_horizon(5000);
    let learner = entry.make_any(&values, problem, seed).expect("valid");
    let encoder = Encoder::new(2, entry.about.accepts)
        .with_labels(["1", "2", "3"].into_iter().collect(), 3)
        .with_scaler(Scaler::new(Scaling::MaxAbs))
        .with_intercept(true)
        .with_radius(Some(3.0));
    let usual = RunOptions::new(learner.about().forecast, seed);
    let options = RunOptions { delay: Lateness::Fixed(3), window: 100, ..usual };
    (learner, encoder, options)
}

/// The fourth class is new to a learner of three that cannot grow.
#[test]
fn a_learner_that_cannot_grow_refuses_new_classes() {
    let (learner, mut encoder, options) = make("adaboost-olm", &[], 0);
    let AnyModel::Full(mut learner) = learner else { unreachable!("it learns from labels") };
    encoder.make_room(usize::MAX, encoder.columns());
    let text = text(5) + "4 | a:1\n";
    let reader = from_read(Box::new(io::Cursor::new(text)), "a.vw", &ReadOptions::default());
    let mut examples = ReadExamples::new(reader.expect("a stream"), encoder, "a.vw", BadRows::Fail);
    let options = RunOptions { takes_in: true, delay: Lateness::default(), look_ahead: false, ..options };
    let ran = run(&mut examples, learner.as_mut(), &mut Diary::default(), &options);
    assert!(matches!(ran, Err(RunError::Closed(6))), "{ran:?}");
}

/// What became of each run.
type Runs = Vec<Result<Finished<Diary>, RunError>>;

/// A learner, its parameters, and its seed.
type Run = (&'static str, &'static [(&'static str, &'static str)], u64);

const RUNS: [Run; 7] = [
    ("folklore", &[], 0),
    ("ogd", &[("rate", "0.3")], 0),
    ("soba", &[("exploration", "0.1")], 0),
    ("soba", &[("exploration", "0.1")], 1),
    ("perceptron", &[], 0),
    ("gaptron-hinge", &[("mode", "bandit")], 5),
    ("ons", &[], 0),
];

/// The runs of [`RUNS`], each with its own encoder.
fn entrants(limit: Option<u64>) -> (Vec<Entrant<Diary>>, Vec<Encoder>) {
    let (mut entrants, mut encoders) = (vec![], vec![]);
    for (at, (name, values, seed)) in RUNS.into_iter().enumerate() {
        let (learner, encoder, options) = make(name, values, seed);
        let options = RunOptions { limit, ..options };
        entrants.push(Entrant { learner, encoder: at, options, floor: 0.0, sink: Diary::default() });
        encoders.push(encoder);
    }
    (entrants, encoders)
}

fn together(
    rows: usize,
    threads: usize,
    policy: BadRows,
    limit: Option<u64>,
) -> Result<(Runs, Feed), PassError> {
    let (entrants, encoders) = entrants(limit);
    let mut feed = Feed::new(reader(rows), encoders, "a.vw", policy, limit);
    let started = Instant::now();
    let options = PassOptions { threads, clock: &|| started.elapsed() };
    pass(&mut feed, entrants, &options, &mut |_| {}).map(|finished| (finished, feed))
}

fn alone(at: usize, rows: usize, policy: BadRows, limit: Option<u64>) -> (Diary, Score, ReadExamples) {
    let (name, values, seed) = RUNS[at];
    let (learner, encoder, options) = make(name, values, seed);
    let options = RunOptions { limit, ..options };
    let mut examples = ReadExamples::new(reader(rows), encoder, "a.vw", policy);
    let mut diary = Diary::default();
    let score = match learner {
        AnyModel::Full(mut learner) => run(&mut examples, learner.as_mut(), &mut diary, &options),
        AnyModel::Bandit(mut learner) => {
            let play = &mut Play::new(options.seed);
            run_bandit(&mut examples, learner.as_mut(), &mut diary, &options, play)
        }
    };
    (diary, score.expect("readable rows"), examples)
}

/// With more threads than runs, with one, and with fewer than runs; over many batches, and with rows that
/// some encoders reject.
#[test]
fn every_run_has_the_result_of_a_separate_run() {
    const ROWS: usize = 5000;
    for (threads, limit) in [(1, None), (2, None), (20, None), (2, Some(1500))] {
        let (finished, feed) = together(ROWS, threads, BadRows::Skip, limit).expect("readable rows");
        assert_eq!(finished.len(), RUNS.len());
        for (at, together) in finished.into_iter().enumerate() {
            let together = together.expect("finite scores");
            let (diary, score, examples) = alone(at, ROWS, BadRows::Skip, limit);
            assert_eq!(together.learner.about().name, RUNS[at].0, "in order");
            assert!(together.sink == diary, "{}: not the same predictions", RUNS[at].0);
            assert_eq!(together.score.rates(), score.rates());
            assert_eq!(together.score.window_rates(), score.window_rates());
            let encoding = &feed.encodings[at];
            assert_eq!(encoding.bad_rows, examples.bad_rows(), "{}", RUNS[at].0);
            assert_eq!(encoding.first_bad_row.as_deref(), examples.first_bad_row());
            assert_eq!(encoding.encoder.large_rows(), examples.encoder.large_rows());
        }
    }
}

#[test]
fn the_commonest_class_is_counted() {
    let (_, feed) = together(10, 2, BadRows::Skip, None).expect("readable rows");
    // Classes 1 1 1 2 2 2 3 3 3 1.
    assert_eq!(feed.majority_error_rate(), Some(0.6));
}

#[test]
fn a_row_that_some_learners_reject_ends_their_runs_alone() {
    for threads in [1, 3] {
        let (finished, feed) = together(5000, threads, BadRows::Fail, None).expect("readable rows");
        let mut rejecting = 0;
        for (at, run) in finished.into_iter().enumerate() {
            if find(RUNS[at].0).expect("known").about.accepts.weights {
                let (diary, score, _) = alone(at, 5000, BadRows::Fail, None);
                let run = run.expect("it takes weights");
                assert!(run.sink == diary && run.score.rates() == score.rates(), "{}", RUNS[at].0);
                continue;
            }
            rejecting += 1;
            let error = run.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("a.vw:50: the row has weight 2"), "{error}");
        }
        assert!(rejecting > 0 && rejecting < RUNS.len());
        // Classes 0, 1 and 2 in turns of three rows.
        assert_eq!(feed.majority_error_rate(), Some(1.0 - 1668.0 / 5000.0));
    }
}

/// The others go on; where all have failed, the rest is not read.
#[test]
fn a_run_that_fails_ends_alone() {
    for (threads, rates, all) in
        [(1, ["0.1", "1e308"], false), (8, ["1e306", "0.2"], false), (2, ["1e308", "1e306"], true)]
    {
        let (mut entrants, mut encoders) = (vec![], vec![]);
        for rate in rates {
            let (learner, encoder, options) = make("ogd", &[("rate", rate), ("ball", "none")], 0);
            entrants.push(Entrant { learner, encoder: 0, options, floor: 0.0, sink: Diary::default() });
            encoders = vec![encoder];
        }
        let mut feed = Feed::new(reader(40_000), encoders, "a.vw", BadRows::Skip, None);
        let options = PassOptions { threads, clock: &|| Duration::ZERO };
        let mut read = 0;
        let runs = pass(&mut feed, entrants, &options, &mut |rows| read += rows).expect("readable rows");
        for (run, rate) in runs.iter().zip(rates) {
            match run {
                Ok(run) => assert!(run.score.rounds() == 40_000 && rate.starts_with("0."), "{rate}"),
                Err(error) => {
                    let RunError::NotFinite(row) = error else { panic!("{error}") };
                    assert!((1..50).contains(row) && rate.starts_with("1e"), "{rate}: {row}");
                }
            }
        }
        assert_eq!(read < 20_000, all, "{read} rows were read");
    }
}

#[test]
fn forecasts_are_those_of_the_learners() {
    let (finished, _) = together(100, 2, BadRows::Skip, None).expect("readable rows");
    let finished: Vec<_> = finished.into_iter().map(|run| run.expect("finite scores")).collect();
    let randomised = |run: &Finished<Diary>| run.learner.about().forecast == Forecast::RandomisedLabel;
    assert_eq!(finished.iter().filter(|run| randomised(run)).count(), 3);
    assert!(
        finished.iter().filter(|run| randomised(run)).all(|run| run
            .score
            .rates()
            .expected_error_rate
            .is_some())
    );
}

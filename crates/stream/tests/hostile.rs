//! Hostile rows, learnt and only predicted, for every learner of the registry: over the next thousand rows
//! none loses more than two in a hundred. `results/hostile-rows.md` has the table, which
//! `cargo test -p noregret-stream --test hostile -- --nocapture` prints.

#![expect(clippy::print_stdout, reason = "the table of the results page")]

use noregret::algorithm::AnyModel;
use noregret::example::{Features, Target};
use noregret::learner::{Classes, Feedback};
use noregret::prediction::{Decision, Prediction, Reward};
use noregret::registry::{ALGORITHMS, Entry};
use noregret::rng::{Rng, Uniforms};
use noregret_stream::encode::Example;
use noregret_stream::encode::scale::{Scaler, Scaling};
use noregret_stream::save::Saved;
use noregret_stream::setup::{Asked, Facts};

const COLUMNS: usize = 4;
/// Rows before the hostile ones, and rows after that are counted.
const BEFORE: usize = 500;
const AFTER: usize = 1000;
/// Largest loss through hostile rows: two in a hundred.
const MOST: f64 = 0.02;

/// Makes a row hostile: in each of `rows` rows, spread over twice as many, `columns` columns are `size`.
#[derive(Clone, Copy)]
struct Attack {
    name: &'static str,
    rows: usize,
    columns: usize,
    size: f64,
    alternating: bool,
}

const ATTACKS: [Attack; 5] = [
    Attack { name: "1e6, one column, one row", rows: 1, columns: 1, size: 1e6, alternating: false },
    Attack { name: "1e6, all columns, one row", rows: 1, columns: COLUMNS, size: 1e6, alternating: false },
    Attack {
        name: "±1e12, all columns, ten rows",
        rows: 10,
        columns: COLUMNS,
        size: 1e12,
        alternating: true,
    },
    Attack { name: "-1e18, one column, ten rows", rows: 10, columns: 1, size: -1e18, alternating: false },
    Attack {
        name: "1e99, all columns, three rows",
        rows: 3,
        columns: COLUMNS,
        size: 1e99,
        alternating: false,
    },
];

/// Learners of which a single stream tells little in the fourth attack: clipped, its rows are ordinary ones,
/// half of them with the wrong label, and an explored label that turns out right counts a hundred times as
/// much as another. What they lose on average over so many streams is checked.
const MISLED: [&str; 3] = ["newtron", "pnewtron", "soba-sketch"];
const STREAMS: u64 = 100;

/// A row of class `y`: a column that tells, one with an offset, one of counts, one of noise.
fn row(rng: &mut Rng, y: usize) -> [f64; COLUMNS] {
    let mut noise = || (0..4).map(|_| rng.uniform()).sum::<f64>() - 2.0;
    let sign = if y == 1 { 1.0 } else { -1.0 };
    [sign + noise(), 500.0 + 30.0 * (sign + 2.0 * noise()), (3.0 + sign + 2.0 * noise()).round(), noise()]
}

/// The share of `AFTER` rows of a stream that the learner gets wrong, or its mean squared error, after an
/// attack.
fn loss(saved: Saved, attack: Option<Attack>, stream: u64) -> f64 {
    let Saved { mut learner, mut encoder, .. } = saved;
    let columns = encoder.columns();
    let real = encoder.accepts().classes == Classes::Real;
    let (mut rng, mut example, mut total) = (Rng::new(7, stream), Example::default(), 0.0);
    let (mut decision, mut draws) = (Decision::default(), Rng::new(8, stream));
    let mut prediction = match &learner {
        AnyModel::Full(learner) => learner.prediction(),
        AnyModel::Bandit(_) => Prediction::default(),
    };
    for t in 0..BEFORE + 20 + AFTER {
        let y = usize::from(rng.uniform() < 0.5);
        let mut x = row(&mut rng, y);
        if let Some(attack) = attack
            && (BEFORE..BEFORE + 2 * attack.rows).contains(&t)
            && t % 2 == 0
        {
            let sign = if attack.alternating && t % 4 == 0 { -1.0 } else { 1.0 };
            x[..attack.columns.min(columns)].fill(sign * attack.size);
            // Only predicted, it changes nothing.
            let before = encoder.scaler().clone();
            encoder.transform(Features::Dense(&x[..columns]), &mut example).expect("finite");
            assert!(*encoder.scaler() == before);
        }
        encoder.encode_features(Features::Dense(&x[..columns]), &mut example).expect("finite");
        let wrong = match &mut learner {
            AnyModel::Full(learner) => {
                learner.predict(example.features(), &mut prediction);
                let target = y as f64;
                let wrong = if real {
                    (prediction.scores[0] - target).powi(2)
                } else {
                    f64::from(u8::from(prediction.top().index() != y))
                };
                let target = if real { Target::value(target) } else { Target::class(y) };
                learner.update(example.features(), target, &prediction);
                wrong
            }
            AnyModel::Bandit(learner) => {
                learner.act(example.features(), &mut draws, &mut decision);
                let wrong = f64::from(u8::from(decision.greedy as usize != y));
                let right = decision.label as usize == y;
                learner.learn(example.features(), &decision, Reward::from(right));
                wrong
            }
        };
        total += if t >= BEFORE + 20 { wrong } else { 0.0 };
    }
    total / AFTER as f64
}

/// The learner of `entry` for this kind of feedback, with as many columns as it can have.
fn made(entry: &Entry, feedback: Option<Feedback>) -> Saved {
    let classes = if entry.about.accepts.classes == Classes::Real { 1 } else { 2 };
    let rows = (BEFORE + 20 + AFTER) as u64;
    let make = |columns| {
        let facts =
            Facts { scaling: Scaling::Standard, intercept: true, ..Facts::of_arrays(classes, columns) };
        facts.make(entry, &Asked { horizon: Some(rows), feedback, ..Asked::default() })
    };
    make(COLUMNS).or_else(|_| make(1)).unwrap_or_else(|why| panic!("{}: {why}", entry.about.name))
}

#[test]
fn no_learner_is_ruined_by_hostile_rows() {
    let (mut ruined, mut tried) = (vec![], 0);
    println!("| learner | without | {} | not clipped |", ATTACKS.map(|attack| attack.name).join(" | "));
    let mut check = |entry: &Entry, feedback: Option<Feedback>| {
        let name = match feedback {
            Some(_) => format!("`{}`, bandit", entry.about.name),
            None => format!("`{}`", entry.about.name),
        };
        tried += 1;
        let without = loss(made(entry, feedback), None, 0);
        let cells = ATTACKS.map(|attack| {
            let first = loss(made(entry, feedback), Some(attack), 0);
            let misled = attack.size == ATTACKS[3].size && MISLED.contains(&entry.about.name);
            let mean = |attack| {
                let losses = (0..STREAMS).map(|stream| loss(made(entry, feedback), attack, stream));
                losses.sum::<f64>() / STREAMS as f64
            };
            let (without, with) = if misled { (mean(None), mean(Some(attack))) } else { (without, first) };
            if with.is_nan() || with > without + MOST {
                ruined.push(format!("{name} after {}: {without} to {with}", attack.name));
            }
            format!("{first:.3}")
        });
        // The scaler of models from before.
        let mut unguarded = made(entry, feedback);
        let scaling = unguarded.encoder.scaler().scaling();
        *unguarded.encoder.scaler_mut() = Scaler::new(scaling);
        let unguarded = loss(unguarded, Some(ATTACKS[1]), 0);
        println!("| {name} | {without:.3} | {} | {unguarded:.3} |", cells.join(" | "));
    };
    for entry in ALGORITHMS.iter().filter(|entry| !entry.takes_votes() && !entry.takes_blocks()) {
        check(entry, None);
        if entry.feedback == Feedback::Either {
            check(entry, Some(Feedback::Bandit));
        }
    }
    assert!(tried > 35, "{tried} learners");
    assert!(ruined.is_empty(), "{ruined:#?}");
}

//! Helpers for unit tests.

pub(crate) use noregret_testdata::{assert_close, count, items, number, numbers, vector};

use crate::algorithm::{BanditModel, Model};
use crate::example::{Features, Target};
use crate::learner::{BanditLearner, OnlineLearner};
use crate::param::{Value, Values};
use crate::prediction::{Decision, Prediction};
use crate::problem::Problem;
use crate::registry::find;
use crate::rng::{Rng, Uniforms};
use crate::state::{State, pack, unpack};

/// Parameters: `name=value`, separated by spaces.
pub(crate) fn values(set: &str) -> Values {
    let pairs = set.split_whitespace().map(|word| word.split_once('=').expect("name=value"));
    pairs.map(|(name, value)| (name.to_owned(), Value::parse(value))).collect()
}

/// The learner `name` with the parameters `set`, see [`values`].
pub(crate) fn make(name: &str, set: &str, problem: Problem) -> Box<dyn Model> {
    find(name).expect("registered").make(&values(set), problem, 0).expect("valid")
}

/// As [`make`], with bandit feedback.
pub(crate) fn make_bandit(name: &str, set: &str, problem: Problem) -> Box<dyn BanditModel> {
    find(name).expect("registered").make_bandit(&values(set), problem, 0).expect("valid")
}

/// The state of a learner as a list.
pub(crate) fn state_of<S: State + ?Sized>(learner: &mut S) -> Vec<f64> {
    let mut list = Vec::new();
    pack(learner, &mut list);
    list
}

/// `fresh` with the state of `learner`.
pub(crate) fn loaded<S: State>(learner: &mut S, mut fresh: S) -> S {
    let list = state_of(learner);
    let mut rest = list.iter().copied();
    unpack(&mut fresh, &mut rest).expect("a state that was saved");
    assert_eq!(rest.len(), 0, "the list is as long as the state");
    fresh
}

/// Plays `rounds` rounds of a fixed random stream with random labels, rows of norm at most 1; returns the
/// probabilities that were played.
pub(crate) fn plays(learner: &mut dyn OnlineLearner, rounds: usize) -> Vec<Vec<f64>> {
    let (classes, features) = (learner.problem().classes, learner.problem().features);
    let mut rng = Rng::new(11, rounds as u64);
    let mut at = learner.prediction();
    let mut played = Vec::new();
    for _ in 0..rounds {
        let x: Vec<f64> =
            (0..features).map(|_| (2.0 * rng.uniform() - 1.0) / (features as f64).sqrt()).collect();
        learner.predict(Features::Dense(&x), &mut at);
        played.push(at.probabilities.clone());
        learner.update(Features::Dense(&x), Target::class(rng.below(classes as u64) as usize), &at);
    }
    played
}

/// Panics unless the numbers of two lists are close, see [`assert_close`].
#[track_caller]
pub(crate) fn assert_all_close(got: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}: as many numbers");
    got.iter().zip(want).for_each(|(got, want)| assert_close(*got, *want, tolerance, what));
}

/// Plays one round with the label `class`.
pub(crate) fn round(learner: &mut dyn OnlineLearner, x: &[f64], class: usize) -> Prediction {
    let mut at = learner.prediction();
    learner.predict(Features::Dense(x), &mut at);
    learner.update(Features::Dense(x), Target::class(class), &at);
    at
}

/// $\ln\det A$ of a positive definite matrix, row by row.
pub(crate) fn log_det(a: &[f64]) -> f64 {
    2.0 * cholesky(a).diagonal.iter().map(|l| l.ln()).sum::<f64>()
}

/// $v^\top A^{-1} v$ for a positive definite matrix $A$, row by row.
pub(crate) fn quadratic(a: &[f64], v: &[f64]) -> f64 {
    let factor = cholesky(a);
    let mut solved: Vec<f64> = Vec::new();
    for i in 0..v.len() {
        let known: f64 = solved.iter().enumerate().map(|(j, s)| factor.lower[i * v.len() + j] * s).sum();
        solved.push((v[i] - known) / factor.diagonal[i]);
    }
    solved.iter().map(|s| s * s).sum()
}

struct Cholesky {
    lower: Vec<f64>,
    diagonal: Vec<f64>,
}

fn cholesky(a: &[f64]) -> Cholesky {
    let n = a.len().isqrt();
    let (mut lower, mut diagonal) = (vec![0.0; n * n], Vec::new());
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
            let rest: f64 = a[i * n + j] - known;
            lower[i * n + j] = if i == j { rest.sqrt() } else { rest / lower[j * n + j] };
        }
        diagonal.push(lower[i * n + i]);
    }
    Cholesky { lower, diagonal }
}

/// `count` random directions: rows of norm 1 in `features` dimensions.
pub(crate) fn unit_rows(seed: u64, count: usize, features: usize) -> Vec<Vec<f64>> {
    let mut rng = crate::rng::Rng::new(seed, 0);
    let mut row = || -> Vec<f64> { (0..features).map(|_| rng.normal()).collect() };
    (0..count)
        .map(|_| {
            let x = row();
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().map(|x| x / norm).collect()
        })
        .collect()
}

/// The state of a bandit learner after each possible played label.
pub(crate) struct Outcomes<L> {
    decision: Decision,
    learners: Vec<L>,
}

impl<L: BanditLearner + Clone> Outcomes<L> {
    /// Plays each label in turn on `x` of class `y`. Returns the expected change of `measure`, and the
    /// outcomes.
    pub(crate) fn of(
        learner: &L,
        x: Features<'_>,
        y: usize,
        measure: impl Fn(&L) -> Vec<f64>,
    ) -> (Vec<f64>, Self) {
        let mut decision = Decision::default();
        learner.predict(x, &mut decision);
        let before = measure(learner);
        let (mut expected, mut learners) = (vec![0.0; before.len()], Vec::new());
        for label in 0..decision.distribution.len() {
            decision.label = label as u32;
            decision.probability = decision.distribution[label];
            let mut after = learner.clone();
            after.learn(x, &decision, (label == y).into());
            for ((sum, after), before) in expected.iter_mut().zip(measure(&after)).zip(&before) {
                *sum += decision.probability * (after - before);
            }
            learners.push(after);
        }
        (expected, Self { decision, learners })
    }

    /// The decision without the label.
    pub(crate) fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The learner after `label` was played.
    pub(crate) fn played(&mut self, label: usize) -> L {
        self.learners.swap_remove(label)
    }
}

/// The weights of a learner whose scores are linear in the row, by feature: its scores at the unit vectors.
pub(crate) fn linear_weights(learner: &dyn BanditLearner) -> Vec<f64> {
    let features = learner.problem().features;
    let mut at = Decision::default();
    let columns = (0..features).map(|i| {
        let mut unit = vec![0.0; features];
        unit[i] = 1.0;
        learner.predict(Features::Dense(&unit), &mut at);
        at.scores.clone()
    });
    columns.collect::<Vec<_>>().concat()
}

/// Panics unless the step of linear scores that `learner` takes, on average over its draw, is `want` of the
/// decision and the label, for every class, times the row.
pub(crate) fn assert_unbiased<L: BanditLearner + Clone>(
    mut learner: L,
    want: impl Fn(&Decision, usize) -> Vec<f64>,
) {
    let (k, d) = (learner.problem().classes, learner.problem().features);
    for (t, x) in unit_rows(3, 60, d).iter().enumerate() {
        let y = (t * t + 1) % k;
        let measure = |after: &L| linear_weights(after);
        let (change, mut outcomes) = Outcomes::of(&learner, Features::Dense(x), y, measure);
        let step = want(outcomes.decision(), y);
        for (change, x) in change.chunks_exact(k).zip(x) {
            for (change, step) in change.iter().zip(&step) {
                assert_close(*change, step * x, 1e-12, &format!("round {t}"));
            }
        }
        learner = outcomes.played(if t % 3 == 0 { t % k } else { y });
    }
}

/// This many threads, started for every piece of work that is divided.
pub(crate) struct Threads(pub(crate) usize);

impl crate::parallel::Parallel for Threads {
    fn run(&self, pieces: usize, piece: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for first in 0..self.0 {
                scope.spawn(move || (first..pieces).step_by(self.0).for_each(piece));
            }
        });
    }
}

//! Cases for every bandit learner, and streams.

#[path = "../support/law.rs"]
#[allow(clippy::duplicate_mod, reason = "the suite of laws has cases for either kind of feedback")]
mod law;

use noregret::algorithm::BanditModel;
use noregret::example::Features;
use noregret::learner::{Classes, Feedback};
use noregret::param::{Value, Values};
use noregret::prediction::{Decision, argmax};
use noregret::problem::Problem;
use noregret::registry::{ALGORITHMS, Entry};
use noregret::rng::{Rng, Uniforms};

pub(crate) use law::Case;
use law::{Exception, SEED, apply};

/// Laws that a learner is exempt from: its name, the law, and why.
const EXCEPTIONS: &[Exception] = &[
    ("offers", "learning", "it needs rows of blocks that describe the labels"),
    ("exp4", "learning", "none of its random policies need be good"),
    ("auto", "zero rows", "some of its members count labels"),
    ("relative-gaps", "zero rows", "its oracle has an intercept for every label"),
    ("exp4", "zero rows", "its policies recommend some class for a row of zeros"),
];

/// The members of `auto` in tests that play thousands of rounds.
pub(crate) const FEW_MEMBERS: &str = "labels+pairs+shared@1+shared@0.1";

/// One round of a stream.
#[derive(Clone)]
pub(crate) struct Round {
    pub(crate) x: Vec<f64>,
    indices: Vec<u32>,
    values: Vec<f64>,
    pub(crate) y: usize,
}

impl Round {
    pub(crate) fn new(x: Vec<f64>, y: usize) -> Self {
        let indices: Vec<u32> = (0u32..).zip(&x).filter(|(_, v)| **v != 0.0).map(|(i, _)| i).collect();
        let values = indices.iter().map(|i| x[*i as usize]).collect();
        Self { x, indices, values, y }
    }

    pub(crate) fn dense(&self) -> Features<'_> {
        Features::Dense(&self.x)
    }

    pub(crate) fn sparse(&self) -> Features<'_> {
        Features::Sparse { indices: &self.indices, values: &self.values }
    }
}

/// All entries of learners with bandit feedback.
pub(crate) fn entries() -> impl Iterator<Item = &'static Entry> {
    ALGORITHMS.iter().filter(|entry| matches!(entry.feedback, Feedback::Bandit | Feedback::Either))
}

impl Case {
    pub(crate) fn learner(&self) -> Box<dyn BanditModel> {
        let made = self.entry.make_bandit(&self.values, self.problem.clone(), SEED);
        made.unwrap_or_else(|error| panic!("{}: {error}", self.entry.about.name))
    }

    /// `rounds` rounds of a noisy linear model: rows of norm at most 1, a third of their entries 0.
    pub(crate) fn stream(&self, seed: u64, rounds: usize) -> Vec<Round> {
        stream(self.problem.classes, self.problem.features, seed, rounds)
    }

    /// Plays `rounds`, and returns all decisions.
    pub(crate) fn play(&self, learner: &mut dyn BanditModel, rounds: &[Round]) -> Vec<Decision> {
        self.play_as(learner, rounds, Round::dense)
    }

    /// As [`Case::play`], with rows converted by `form`.
    pub(crate) fn play_as(
        &self,
        learner: &mut dyn BanditModel,
        rounds: &[Round],
        form: impl Fn(&Round) -> Features<'_>,
    ) -> Vec<Decision> {
        rounds
            .iter()
            .map(|round| {
                // Each round has its own stream of random numbers, so that runs can be interrupted and
                // continued.
                let mut uniforms = Rng::new(3, learner.rounds());
                let mut taken = Decision::default();
                learner.act(form(round), &mut uniforms, &mut taken);
                self.check(&taken);
                learner.learn(form(round), &taken, (taken.label as usize == round.y).into());
                taken
            })
            .collect()
    }

    /// Panics unless `taken` satisfies the properties of every decision.
    pub(crate) fn check(&self, taken: &Decision) {
        taken.check(self.problem.classes).expect("a decision of the learner's own");
        let p = &taken.distribution;
        assert!((p.iter().sum::<f64>() - 1.0).abs() <= 1e-12, "probabilities {p:?} of sum 1");
        assert_eq!(p[taken.label as usize], taken.probability, "the probability of the label");
        assert_eq!(argmax(&taken.scores), taken.greedy as usize, "the class with the best score");
        let floor = taken.exploration / p.len() as f64 * (1.0 - 1e-12);
        assert!(p.iter().all(|p| *p >= floor), "{p:?} explore less than {}", taken.exploration);
    }
}

pub(crate) fn stream(classes: usize, features: usize, seed: u64, rounds: usize) -> Vec<Round> {
    let mut rng = Rng::new(seed, 0);
    let weights: Vec<f64> = (0..classes * features).map(|_| 4.0 * rng.normal()).collect();
    (0..rounds)
        .map(|_| {
            let mut entry = || if rng.below(3) == 0 { 0.0 } else { 2.0 * rng.uniform() - 1.0 };
            let x: Vec<f64> = (0..features).map(|_| entry() / (features as f64).sqrt()).collect();
            let rows = weights.chunks_exact(features);
            let scores: Vec<f64> = rows
                .map(|w| w.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>() + 0.3 * rng.normal())
                .collect();
            Round::new(x, argmax(&scores))
        })
        .collect()
}

/// Applies `law` to every case of every bandit learner, and fails with a list of the cases that violate it.
pub(crate) fn every_case(name: &str, law: impl Fn(&Case)) {
    apply(name, EXCEPTIONS, entries(), cases, law);
}

/// Applies `law` to every bandit learner with the theorem's parameters: for long streams.
pub(crate) fn every_learner(name: &str, law: impl Fn(&Case)) {
    apply(name, EXCEPTIONS, entries(), |entry| cases(entry).into_iter().take(1).collect(), law);
}

/// The learner with the theorem's parameters on a fully known problem, other dimensions, partially known
/// problems, and every word that its parameters accept.
fn cases(entry: &'static Entry) -> Vec<Case> {
    assert_eq!(entry.about.accepts.classes, Classes::Any, "{} takes any classes", entry.about.name);
    let shape = |classes, features| Problem::new(classes, features).with_radius(1.0).with_horizon(1000);
    let case = |mut values: Values, problem| {
        if entry.param("members").is_some() {
            values.entry("members".to_owned()).or_insert_with(|| Value::from(FEW_MEMBERS));
        }
        Case { entry, values, problem }
    };
    let mut cases = vec![
        case(Values::new(), shape(3, 4)),
        case(Values::new(), shape(2, 1)),
        case(Values::new(), shape(4, 16)),
        case(Values::new(), shape(3, 4).with_sparse(true)),
        case(Values::new(), Problem::new(3, 4)),
    ];
    if entry.param("exploration").is_some() {
        for rate in [0.1, 1.0] {
            cases.push(case(Values::from([("exploration".to_owned(), Value::Float(rate))]), shape(3, 4)));
        }
    }
    if entry.takes_blocks() {
        for schedule in ["learnt", "certificate"] {
            let words = [("oracle", "conditional-logit"), ("schedule", schedule)];
            let values = words.map(|(name, word)| (name.to_owned(), Value::from(word)));
            cases.push(case(Values::from(values), shape(3, 4)));
        }
    }
    for param in entry.params.iter().filter(|param| param.name != "mode") {
        for word in param.words {
            let value = Value::Text((*word).to_owned());
            let words = case(Values::from([(param.name.to_owned(), value)]), shape(3, 4));
            let made = entry.make_bandit(&words.values, words.problem.clone(), SEED);
            if made.is_ok() {
                cases.push(words);
            }
        }
    }
    cases
}

/// Panics unless the decisions are equal to the bit.
pub(crate) fn assert_same(got: &[Decision], want: &[Decision]) {
    assert_eq!(got.len(), want.len());
    let text = |taken: &Decision| serde_json::to_string(taken).expect("plain data");
    for (t, (got, want)) in got.iter().zip(want).enumerate() {
        assert_eq!(text(got), text(want), "round {}", t + 1);
    }
}

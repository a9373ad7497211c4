//! Certified runs: the losses of the learner and of the best fixed predictor in hindsight, and the
//! theorem's bound.
//!
//! The comparator needs all rows, so a certified run keeps them in memory. The learner does not use
//! them.

use std::fmt;
use std::ops::Range;

use noregret::batch::comparator::{Comparator, Stop, best_in_hindsight};
use noregret::batch::data::{Data, Labels, Rows};
use noregret::batch::ridge::{LeastSquares, Regularization, least_squares};
use noregret::bounds;
use noregret::example::{Features, Target, Truth};
use noregret::guarantee::{Ball, Guarantee, MISS, MistakeBound, Promise, Reference, digits_of};
use noregret::loss::hinge::margin;
use noregret::loss::logistic;
use noregret::problem::Problem;
use serde::Serialize;

use crate::fault::{Fault, fault};
use crate::run::score::Score;
use crate::run::{Outcome, Sink};

/// All labelled rounds of a run, for the comparator.
#[derive(Debug)]
pub struct Record {
    problem: Problem,
    dense: bool,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    classes: Vec<u32>,
    distributions: Vec<f64>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    expected_mistakes: f64,
    weighted_loss: f64,
}

/// The report of a certified run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Certified {
    /// The theorem and its source.
    pub theorem: String,
    /// Its comparator, in words; empty if no round has a label.
    pub comparator: String,
    /// The learner's total loss, or its expected mistakes if the theorem bounds those; NaN, which JSON writes
    /// as null, if no round has a label.
    pub learner_loss: f64,
    /// The comparator's total loss; absent if it cannot be computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparator_loss: Option<f64>,
    /// No predictor of the ball has a loss below `comparator_loss - comparator_gap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparator_gap: Option<f64>,
    /// `learner_loss - comparator_loss`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regret: Option<f64>,
    /// The learner's own upper bound on its regret, computed during the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<f64>,
    /// The theorem's bound on the regret or the mistakes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// The bound on the regret over all rounds together, for theorems whose bound is about every interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bound: Option<f64>,
    /// The bound for every interval of rounds, against the predictor that is best in it, for theorems about
    /// these beside one about all rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_bound: Option<f64>,
    /// A bound on the mistakes of the labels that were drawn, which fails with probability [`MISS`] at most,
    /// for theorems that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn_bound: Option<f64>,
    /// Why there is none, for learners with such a theorem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_drawn_bound_because: Option<String>,
    /// A bound on the mean squared Hellinger distance of the forecasts from the probabilities with which the
    /// labels were drawn, if some comparator has these; it fails with probability [`MISS`] at most (theory:
    /// online-to-batch 2.1). Absent outside of 0 to 2, where such a distance always is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_bound: Option<f64>,
    /// Why there is no certificate, for a learner that computes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_certificate_because: Option<String>,
    /// Why there is no bound, if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_bound_because: Option<String>,
    /// The trivial bound: $T \ln K$ for the regret of forecasts $1/K$, the sum of squared targets
    /// for the forecast 0, $T$ for mistakes; NaN if no round has a label. A bound above it is vacuous.
    pub trivial_bound: f64,
    /// The predictor that attains it, in words.
    #[serde(skip)]
    pub trivial_rule: &'static str,
    /// The comparator, by class; one vector for balls of a single vector.
    #[serde(skip)]
    pub weights: Option<Vec<f64>>,
}

/// Why nothing is shown of rounds without labels.
const NO_LABEL: &str =
    "no round has a label, against which losses and mistakes are counted: costs or rewards alone are known";

/// Why there is no comparator: it is undefined, or the rows do not fit it.
fn not_computed(why: impl fmt::Display) -> Fault {
    fault!("the best predictor in hindsight cannot be computed: {why}")
}

impl Record {
    /// An empty record for a learner of `problem`.
    pub fn new(problem: &Problem) -> Self {
        Self {
            problem: problem.clone(),
            dense: !problem.sparse,
            starts: vec![0],
            indices: Vec::new(),
            values: Vec::new(),
            classes: Vec::new(),
            distributions: Vec::new(),
            targets: Vec::new(),
            weights: Vec::new(),
            expected_mistakes: 0.0,
            weighted_loss: 0.0,
        }
    }

    /// Records a labelled row.
    pub fn note(&mut self, x: Features<'_>, target: Target<'_>) {
        match x.views(self.problem.features).0 {
            Features::Dense(values) => self.values.extend_from_slice(values),
            Features::Sparse { indices, values } => {
                self.indices.extend_from_slice(indices);
                self.values.extend_from_slice(values);
            }
        }
        self.starts.push(self.values.len());
        match target.truth {
            Truth::Class(label) => self.classes.push(label.0),
            Truth::Distribution(y) => self.distributions.extend_from_slice(y),
            Truth::Value(value) => self.targets.push(value),
        }
        self.weights.push(target.weight);
    }

    /// Memory in bytes for `rows` dense rows.
    pub fn bytes(problem: &Problem, rows: u64) -> u64 {
        if problem.sparse { 0 } else { 8 * rows * (problem.features as u64 + 3) }
    }

    /// The trivial bound.
    fn trivial_regret(&self) -> f64 {
        if self.targets.is_empty() {
            self.weights.iter().sum::<f64>() * (self.problem.classes as f64).ln()
        } else {
            self.weights.iter().zip(&self.targets).map(|(weight, target)| weight * target * target).sum()
        }
    }

    fn rows(&self) -> Rows<'_> {
        self.rows_of(&self.values)
    }

    /// The rows with other values.
    fn rows_of<'a>(&'a self, values: &'a [f64]) -> Rows<'a> {
        if self.dense {
            Rows::Dense(values)
        } else {
            Rows::Sparse { starts: &self.starts, indices: &self.indices, values }
        }
    }

    /// The rounds, for batch computations.
    ///
    /// # Errors
    /// If labels of two kinds were recorded.
    pub fn data(&self) -> Result<Data<'_>, Fault> {
        let labels = match (self.classes.is_empty(), self.distributions.is_empty()) {
            (_, true) => Labels::Classes(&self.classes),
            (true, false) => Labels::Distributions(&self.distributions),
            (false, false) => {
                let why =
                    "the run mixes classes and probability vectors as labels; the comparator needs one kind";
                return Err(why.into());
            }
        };
        let data = Data::new(self.problem.classes, self.problem.features, self.rows(), labels);
        data.and_then(|data| data.with_weights(&self.weights)).map_err(not_computed)
    }

    fn features(&self, at: usize) -> Features<'_> {
        if self.dense {
            let d = self.problem.features;
            Features::Dense(&self.values[at * d..][..d])
        } else {
            let part = self.starts[at]..self.starts[at + 1];
            Features::Sparse { indices: &self.indices[part.clone()], values: &self.values[part] }
        }
    }

    /// Computes the comparator and the report. `guarantee` and `certificate` are for the recorded
    /// rounds, see [`RunFacts`](noregret::facts::RunFacts); `theorem` is its printed name.
    ///
    /// # Errors
    /// If the comparator cannot be computed.
    pub fn certify(
        &self,
        guarantee: Guarantee<'_>,
        theorem: String,
        certificate: Option<Promise>,
    ) -> Result<Certified, Fault> {
        if self.weights.is_empty() {
            let no_bound_because = Some(NO_LABEL.to_owned());
            let (learner_loss, trivial_bound) = (f64::NAN, f64::NAN);
            return Ok(Certified {
                theorem,
                learner_loss,
                trivial_bound,
                no_bound_because,
                ..Certified::default()
            });
        }
        let (certificate, no_certificate_because) = split(certificate);
        let verdict = Certified {
            theorem,
            learner_loss: self.weighted_loss,
            certificate,
            no_certificate_because,
            trivial_bound: self.trivial_regret(),
            trivial_rule: if self.targets.is_empty() {
                "the same probability for every class attains it"
            } else {
                "the forecast 0 in every round attains it"
            },
            ..Certified::default()
        };
        Ok(match guarantee {
            Guarantee::Regret { ball, norm, bound } => {
                let comparator = match ball {
                    None => "the best predictor of the learner's own kind (not computed)".to_owned(),
                    Some(ball) => best_of(ball, norm),
                };
                let best = ball.map(|ball| self.best(ball, norm)).transpose()?.map(Best::from);
                let distance_bound = ball.and_then(|_| self.distance(verdict.certificate, &bound));
                Certified { distance_bound, ..verdict }.with(comparator, best, bound)
            }
            Guarantee::SquaredRegret { norm, bound, .. } => {
                let LeastSquares { theta, loss, gap, .. } = self.best_forecast(norm)?;
                let comparator = format!("the best linear forecast with |theta| <= {}", digits_of(norm));
                verdict.with(comparator, Some(Best { loss, gap, weights: theta }), bound)
            }
            Guarantee::Mistakes { norm, bound, drawn } => self.mistakes(verdict, norm, bound, drawn)?,
            Guarantee::IntervalRegret { ball, norm, bound, every } => {
                let best = self.best(ball, norm)?;
                let verdict = Certified { interval_bound: split(Some(every)).0, ..verdict };
                verdict.with(best_of(ball, norm), Some(best.into()), bound)
            }
            Guarantee::AdaptiveRegret { bound, total } => {
                let comparator = "in every interval of rounds, the member of the mixture that is best in it (not computed)";
                let verdict = Certified { total_bound: total.ok(), ..verdict };
                verdict.with(comparator.to_owned(), None, bound)
            }
            Guarantee::ExpertMistakes { expert, beyond, bound } => {
                let known = if beyond {
                    " (its mistakes are not known; the bound is on those beyond them)"
                } else {
                    ""
                };
                self.of_mistakes(verdict).with(expert + known, None, bound)
            }
            Guarantee::PolicyRegret { bound } => {
                let comparator = "the best policy, if some comparator of the oracle's ball forecasts the mean rewards (not computed)";
                let verdict = Certified { certificate: None, ..self.of_mistakes(verdict) };
                verdict.with(comparator.to_owned(), None, bound)
            }
            _ => verdict,
        })
    }

    /// The bound on the distance from the true probabilities that the smaller one of certificate and bound
    /// implies; for labels that count once.
    fn distance(&self, certificate: Option<f64>, bound: &Promise) -> Option<f64> {
        let regret = certificate.into_iter().chain(bound.as_ref().ok().copied()).reduce(f64::min)?;
        let rounds = self.classes.len();
        let plain = rounds > 0 && rounds == self.weights.len() && self.weights.iter().all(|w| *w == 1.0);
        let bound = bounds::squared_distance(regret, MISS) / rounds as f64;
        (plain && (0.0..2.0).contains(&bound)).then_some(bound)
    }

    /// The report for [`Guarantee::Mistakes`], a theorem about every linear predictor: for the one with the
    /// least log loss among those of Frobenius norm `norm` at most.
    fn mistakes(
        &self,
        verdict: Certified,
        norm: f64,
        bound: Promise<MistakeBound<'_>>,
        drawn: Option<Promise<MistakeBound<'_>>>,
    ) -> Result<Certified, Fault> {
        let best = self.best(Ball::Frobenius, norm)?;
        let margins = self.margins(&best);
        let rows = best.weights.chunks_exact(self.problem.features);
        let squares: Vec<f64> = rows.map(|row| noregret::kernel::vector::dot(row, row)).collect();
        let reference = Reference {
            norm: squares.iter().sum::<f64>().sqrt(),
            largest_row: squares.iter().fold(0.0, |largest: f64, square| largest.max(*square)).sqrt(),
            log_loss: best.value,
            margins: &margins,
        };
        let comparator = format!(
            "the linear predictor with the least log loss among those with Frobenius norm <= {}; its {} mistakes",
            digits_of(norm),
            margins.iter().filter(|margin| **margin <= 0.0).count()
        );
        let drawn = drawn.map(|drawn| drawn.map(|bound| bound(&reference)));
        let (drawn_bound, no_drawn_bound_because) = split(drawn);
        let verdict = Certified { drawn_bound, no_drawn_bound_because, ..self.of_mistakes(verdict) };
        Ok(verdict.with(comparator, None, bound.map(|bound| bound(&reference))))
    }

    /// The report for a bound on mistakes.
    fn of_mistakes(&self, verdict: Certified) -> Certified {
        Certified {
            learner_loss: self.expected_mistakes,
            trivial_bound: self.weights.len() as f64,
            trivial_rule: "no learner makes more mistakes than there are rounds",
            ..verdict
        }
    }

    fn best(&self, ball: Ball, norm: f64) -> Result<Comparator, Fault> {
        // For large streams, five digits suffice.
        let tolerance = if self.weights.len() <= 20_000 { 1e-8 } else { 1e-5 };
        let stop = Stop { tolerance, ..Stop::default() };
        best_in_hindsight(&self.data()?, ball, norm, stop).map_err(not_computed)
    }

    /// The best linear forecast of the ball of radius `norm`. The squared loss of a row and a target that are
    /// multiplied by the root of the round's weight is the weighted one.
    fn best_forecast(&self, norm: f64) -> Result<LeastSquares, Fault> {
        let (d, ball) = (self.problem.features, Regularization::Ball(norm));
        if self.weights.iter().all(|weight| *weight == 1.0) {
            return least_squares(self.rows(), d, &self.targets, ball).map_err(not_computed);
        }
        let (mut values, mut targets) = (self.values.clone(), self.targets.clone());
        for ((row, target), weight) in self.starts.windows(2).zip(&mut targets).zip(&self.weights) {
            let root = weight.sqrt();
            values[row[0]..row[1]].iter_mut().for_each(|value| *value *= root);
            *target *= root;
        }
        least_squares(self.rows_of(&values), d, &targets, ball).map_err(not_computed)
    }

    /// The loss of the comparator `weights` of a [`Certified`] after each of `rounds`, which
    /// ascend.
    pub fn losses_after(&self, weights: &[f64], rounds: &[u64]) -> Vec<f64> {
        let d = self.problem.features;
        let mut scores = vec![0.0; (weights.len() / d).max(2)];
        let (mut total, mut at) = (0.0, 0);
        let sum_to = |round: &u64| {
            for row in at..(*round as usize).min(self.weights.len()) {
                let x = self.features(row);
                // A single vector gives the logit of class 1 against class 0, or the forecast of a
                // value.
                let offset = scores.len() - weights.len() / d;
                for (score, vector) in scores[offset..].iter_mut().zip(weights.chunks_exact(d)) {
                    *score = x.dot(vector);
                }
                let loss = if !self.targets.is_empty() {
                    (scores[1] - self.targets[row]).powi(2)
                } else if self.distributions.is_empty() {
                    logistic::loss(&scores, self.classes[row] as usize)
                } else {
                    let classes = self.problem.classes;
                    logistic::soft_loss(&scores, &self.distributions[row * classes..][..classes])
                };
                total += self.weights[row] * loss;
            }
            at = at.max(*round as usize);
            total
        };
        rounds.iter().map(sum_to).collect()
    }

    fn margins(&self, best: &Comparator) -> Vec<f64> {
        let mut scores = vec![0.0; self.problem.classes];
        let of_round = |(at, label): (usize, &u32)| {
            let x = self.features(at);
            for (score, row) in scores.iter_mut().zip(best.weights.chunks_exact(self.problem.features)) {
                *score = x.dot(row);
            }
            margin(&scores, *label as usize).value
        };
        self.classes.iter().enumerate().map(of_round).collect()
    }
}

/// The comparator's loss, accumulated.
struct Best {
    loss: f64,
    gap: f64,
    weights: Vec<f64>,
}

impl From<Comparator> for Best {
    fn from(best: Comparator) -> Self {
        Self { loss: best.value, gap: best.gap, weights: best.weights }
    }
}

impl Certified {
    /// Whether the bound, if there is one, is below the trivial one.
    pub fn bites(&self) -> bool {
        self.bound.is_some_and(|bound| bound < self.trivial_bound)
    }

    fn with(self, comparator: String, best: Option<Best>, bound: Promise) -> Self {
        let (bound, no_bound_because) = split(Some(bound));
        Self {
            comparator,
            comparator_loss: best.as_ref().map(|best| best.loss),
            comparator_gap: best.as_ref().map(|best| best.gap),
            regret: best.as_ref().map(|best| self.learner_loss - best.loss),
            bound,
            no_bound_because,
            weights: best.map(|best| best.weights),
            ..self
        }
    }
}

/// Bound, or reason for its absence.
fn split(promise: Option<Promise>) -> (Option<f64>, Option<String>) {
    match promise {
        Some(Ok(value)) if value.is_finite() => (Some(value), None),
        Some(Ok(_)) => (None, Some("it is beyond the largest number of double precision".to_owned())),
        Some(Err(why)) => (None, Some(why.to_string())),
        None => (None, None),
    }
}

/// The best predictor of the ball of radius `norm`, in words.
fn best_of(ball: Ball, norm: f64) -> String {
    let bounded = match ball {
        Ball::Rows => "every row's norm",
        Ball::Frobenius => "Frobenius norm",
        Ball::Euclidean => "|theta|",
    };
    format!("the best linear predictor with {bounded} <= {}", digits_of(norm))
}

impl Sink for Record {
    fn observe(&mut self, outcome: &Outcome<'_>, _score: &Score) -> std::io::Result<()> {
        let Some(target) = outcome.target else { return Ok(()) };
        self.note(outcome.example.features(), target);
        self.expected_mistakes += outcome.round.expected_error;
        self.weighted_loss += target.weight * outcome.round.loss;
        Ok(())
    }

    fn looks_inside(&self, _: Range<u64>) -> bool {
        false
    }
}

//! A new algorithm: what it has to implement to have parameters, and to be saved and run like those of this
//! crate.
//!
//! The algorithm is Laplace's rule: the probability of a class is its fraction of the rounds, with `prior`
//! rounds added to each class.
//!
//! `cargo run -p noregret --example own_algorithm`

#![allow(clippy::print_stdout)]

use std::error::Error;

use noregret::algorithm::{About, Forecast, Paper};
use noregret::example::Truth;
use noregret::learner::{Accepts, Classes};
use noregret::param::positive;
use noregret::state::{State, Tensor};
use noregret::{
    Algorithm, Features, Model, OnlineLearner, ParamError, Prediction, Predictor, Problem, Target, params,
};

params! {
    /// Parameters of [`Shares`].
    pub struct SharesParams {
        /// Rounds that every class is given in advance, > 0.
        prior: f64 = "1",
    }
}

/// Forecasts the frequencies of the classes so far.
#[derive(Clone, Debug)]
pub struct Shares {
    params: SharesParams,
    problem: Problem,
    counts: Vec<f64>,
    rounds: u64,
}

impl Algorithm for Shares {
    type Params = SharesParams;

    const ABOUT: About = About {
        name: "shares",
        summary: "the shares of the classes so far, whatever the features",
        paper: Paper { key: "none", place: "Laplace's rule of succession" },
        guarantee: "regret <= (K-1) ln(T+1) against the best fixed probabilities",
        cost: "K additions a round",
        memory: "K numbers",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: false },
    };

    fn new(params: SharesParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let prior = positive("prior", params.prior.unwrap_or(1.0))?;
        let counts = vec![prior; problem.classes];
        Ok(Self { params: SharesParams::new().prior(prior), problem, counts, rounds: 0 })
    }

    fn params(&self) -> SharesParams {
        self.params.clone()
    }

    fn numbers(problem: &Problem) -> usize {
        problem.classes
    }
}

impl Predictor for Shares {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn prediction(&self) -> Prediction {
        Prediction::sized(self.problem.classes, 0)
    }

    fn predict(&self, _x: Features<'_>, out: &mut Prediction) {
        let total: f64 = self.counts.iter().sum();
        for ((p, score), count) in out.probabilities.iter_mut().zip(&mut out.scores).zip(&self.counts) {
            *p = count / total;
            *score = p.ln();
        }
    }
}

impl OnlineLearner for Shares {
    fn update(&mut self, _x: Features<'_>, y: Target<'_>, _at: &Prediction) {
        match y.truth {
            Truth::Class(label) => self.counts[label.index()] += y.weight,
            Truth::Distribution(shares) => {
                for (count, share) in self.counts.iter_mut().zip(shares) {
                    *count += y.weight * share;
                }
            }
            _ => panic!("shares of classes, not of numbers"),
        }
        self.rounds += 1;
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }
}

impl State for Shares {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::vector("counts", &mut self.counts), Tensor::count("rounds", &mut self.rounds)]
    }
}

/// Prints the forecast after four rounds.
pub fn main() -> Result<(), Box<dyn Error>> {
    // As `dyn Model` it can be used by the crate's loops, wrappers and mixtures.
    let mut learner: Box<dyn Model> =
        Box::new(Shares::build(SharesParams::new().prior(0.5), Problem::new(2, 1), 0)?);
    let mut prediction = learner.prediction();
    for class in [0, 0, 1, 0] {
        learner.predict(Features::Dense(&[1.0]), &mut prediction);
        learner.update(Features::Dense(&[1.0]), Target::class(class), &prediction);
    }
    learner.predict(Features::Dense(&[1.0]), &mut prediction);
    println!("{}: {:?}", learner.about().name, prediction.probabilities);
    assert_eq!(prediction.probabilities, [0.7, 0.3]);
    Ok(())
}

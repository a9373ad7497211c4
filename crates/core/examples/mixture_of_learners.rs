//! A mixture of several learners: its total log loss is hardly larger than that of the best of them.
//!
//! `cargo run -p noregret --example mixture_of_learners`

#![allow(clippy::print_stdout)]

use std::error::Error;

use noregret::experts::mixture::Mixture;
use noregret::{Features, Model, Problem, Target, find};

/// Prints the total log losses of three learners and of their mixture.
pub fn main() -> Result<(), Box<dyn Error>> {
    let problem = Problem::new(2, 2).with_radius(1.5);
    let mut learners: Vec<Box<dyn Model>> = ["folklore", "ogd", "aioli"]
        .into_iter()
        .map(|name| find(name)?.make(&Default::default(), problem.clone(), 0))
        .collect::<Result<_, _>>()?;
    let mut mixture = Mixture::new(&[1.0; 3]);

    let mut predictions: Vec<_> = learners.iter().map(|learner| learner.prediction()).collect();
    let (mut totals, mut mixed) = (vec![0.0; learners.len()], 0.0);
    for round in 0..500 {
        let row = [(0.7 * round as f64).sin(), 1.0];
        let class = usize::from(row[0] > 0.2);

        let mut truth = 0.0;
        for ((learner, at), weight) in learners.iter().zip(&mut predictions).zip(mixture.weights()) {
            learner.predict(Features::Dense(&row), at);
            truth += weight * at.probabilities[class];
        }
        mixed -= truth.ln();

        let losses: Vec<f64> = predictions.iter().map(|at| -at.probabilities[class].ln()).collect();
        mixture.update(&losses);
        for ((learner, at), (total, loss)) in
            learners.iter_mut().zip(&predictions).zip(totals.iter_mut().zip(&losses))
        {
            *total += loss;
            learner.update(Features::Dense(&row), Target::class(class), at);
        }
    }

    println!("learners {totals:.1?}, mixture {mixed:.1}");
    let best = totals.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(mixed <= best + 6_f64.ln() + 1e-9, "the mixture's own theorem");
    Ok(())
}

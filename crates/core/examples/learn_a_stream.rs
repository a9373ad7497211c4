//! Learn a stream: predict, receive the label, learn, and compare the regret with the theorem's bound.
//!
//! `cargo run -p noregret --example learn_a_stream`

#![allow(clippy::print_stdout)]

use std::error::Error;

use noregret::full::folklore::{Folklore, FolkloreParams};
use noregret::{Algorithm as _, Features, OnlineLearner as _, Predictor as _, Problem, Target};

/// Prints the mean log-loss of 300 rounds.
pub fn main() -> Result<(), Box<dyn Error>> {
    // 3 classes, 2 features, rows of norm at most 1. Parameters that are not set have the theorem's defaults.
    let problem = Problem::new(3, 2).with_radius(1.0);
    let mut learner = Folklore::build(FolkloreParams::new().norm(10.0), problem, 0)?;

    let mut prediction = learner.prediction();
    let mut total = 0.0;
    for round in 0..300 {
        // Three clusters on the unit circle, in turn.
        let class = round % 3;
        let angle = 2.1 * class as f64 + 0.3 * (round as f64).sin();
        let row = [angle.cos(), angle.sin()];

        learner.predict(Features::Dense(&row), &mut prediction);
        total -= prediction.probabilities[class].ln();
        learner.update(Features::Dense(&row), Target::class(class), &prediction);
    }

    let bound = learner.certificate().ok_or("FOLKLORE certifies its regret")??;
    println!("mean log-loss {:.3}; whatever the rows, the regret is at most {bound:.1}", total / 300.0);
    assert!(total / 300.0 < 0.2, "the clusters are far apart");
    Ok(())
}

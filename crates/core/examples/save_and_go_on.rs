//! Save a learner as bytes, load it elsewhere, and continue.
//!
//! `cargo run -p noregret --example save_and_go_on`

#![allow(clippy::print_stdout)]

use std::error::Error;

use noregret::model::Archive;
use noregret::{Features, Model, Problem, Target, find};

/// Learns the rounds of `range`.
fn learn(learner: &mut dyn Model, range: std::ops::Range<usize>) {
    let mut prediction = learner.prediction();
    for round in range {
        let row = [(round as f64).sin(), (round as f64).cos()];
        let class = usize::from(row[0] > 0.0);
        learner.predict(Features::Dense(&row), &mut prediction);
        learner.update(Features::Dense(&row), Target::class(class), &prediction);
    }
}

/// Checks that a learner that was saved and loaded after 50 rounds has the same forecasts after 100 rounds as
/// the original.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut learner = find("aioli")?.make(&Default::default(), Problem::new(2, 2).with_radius(1.0), 0)?;
    learn(&mut *learner, 0..50);

    // The bytes are a safetensors file: algorithm, parameters and state, with a digest.
    let bytes = Archive::of(&mut *learner).to_bytes();
    let mut loaded = Archive::from_bytes(&bytes)?.model()?;

    learn(&mut *learner, 50..100);
    learn(&mut *loaded, 50..100);
    let forecast = |learner: &dyn Model| {
        let mut prediction = learner.prediction();
        learner.predict(Features::Dense(&[0.6, 0.8]), &mut prediction);
        prediction.probabilities
    };
    println!("{} bytes; both say {:?}", bytes.len(), forecast(&*loaded));
    assert_eq!(forecast(&*loaded), forecast(&*learner), "to the bit");
    Ok(())
}

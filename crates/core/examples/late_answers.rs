//! A bandit learner with late feedback: decisions are plain data, which are kept until the feedback arrives.
//!
//! `cargo run -p noregret --example late_answers`

#![allow(clippy::print_stdout)]

use std::collections::VecDeque;
use std::error::Error;

use noregret::rng::Rng;
use noregret::{Decision, Features, Problem, Values, find};

/// Delay of feedback, in rounds.
const DELAY: usize = 20;

/// Prints how many of the played labels were right in the last 500 of 2000 rounds.
pub fn main() -> Result<(), Box<dyn Error>> {
    let problem = Problem::new(3, 3).with_radius(1.0);
    let values = Values::from([("exploration".to_owned(), 0.1.into())]);
    let mut learner = find("soba-diag")?.make_bandit(&values, problem, 0)?;
    let mut uniforms = Rng::new(7, 0);

    let mut waiting: VecDeque<([f64; 3], Decision, bool)> = VecDeque::new();
    let mut right = 0;
    for round in 0..2000 {
        let class = round * 7 % 3;
        let mut row = [0.1; 3];
        row[class] = 0.9;

        let mut decision = Decision::default();
        learner.act(Features::Dense(&row), &mut uniforms, &mut decision);
        let correct = decision.label as usize == class;
        right += usize::from(correct && round >= 1500);

        // The feedback reaches the learner 20 rounds later. Its importance weight is that of the decision.
        waiting.push_back((row, decision, correct));
        if waiting.len() > DELAY
            && let Some((row, decision, correct)) = waiting.pop_front()
        {
            learner.learn(Features::Dense(&row), &decision, correct.into());
        }
    }

    println!("right in {right} of the last 500 rounds");
    assert!(right > 400, "a tenth of the rounds explore, and a third of those are right by chance");
    Ok(())
}

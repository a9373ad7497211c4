//! OGD compared with a loop over a matrix.

use std::collections::VecDeque;

use noregret::algorithm::Algorithm;
use noregret::example::{Features, Target};
use noregret::full::ogd::{Ogd, OgdBall, OgdParams, Schedule};
use noregret::learner::{OnlineLearner, Predictor};
use noregret::prediction::Prediction;
use noregret::problem::Problem;

use crate::dense::dot;
use crate::{Round, assert_close, softmax, stream};

const K: usize = 3;
const D: usize = 4;
const T: usize = 200;
const RADIUS: f64 = 1.5;
const BALL: f64 = 0.7;

fn scale_back(row: &mut [f64], norm: f64) {
    if norm > BALL {
        row.iter_mut().for_each(|w| *w *= BALL / norm);
    }
}

fn project(w: &mut [Vec<f64>], ball: OgdBall) {
    match ball {
        OgdBall::None => {}
        OgdBall::Frobenius => {
            let norm = w.iter().map(|row| dot(row, row)).sum::<f64>().sqrt();
            w.iter_mut().for_each(|row| scale_back(row, norm));
        }
        OgdBall::Rows => w.iter_mut().for_each(|row| {
            let norm = dot(row, row).sqrt();
            scale_back(row, norm);
        }),
    }
}

/// Plays with feedback that is `delay` rounds late: gradients are taken at the scores of the prediction.
fn check(ball: OgdBall, schedule: Schedule, sparse: bool, delay: usize) {
    let params = OgdParams::new().norm(BALL).schedule(schedule).ball(ball);
    let problem = Problem::new(K, D).with_radius(RADIUS).with_horizon(T as u64).with_sparse(sparse);
    let mut learner = Ogd::new(params, problem, 0).expect("valid parameters");
    // G = √2 R bounds the gradient; a row ball is contained in a Frobenius ball of radius B √K.
    let b = if ball == OgdBall::Rows { BALL * (K as f64).sqrt() } else { BALL };
    let g = 2f64.sqrt() * RADIUS;
    let mut w = vec![vec![0.0; D]; K];
    let mut steps = 0.0;
    let rounds = stream(8, T, K, D, RADIUS);
    let mut waiting: VecDeque<(&Round, Prediction, Vec<f64>)> = VecDeque::new();
    for (t, round) in rounds.iter().enumerate() {
        let z: Vec<f64> = w.iter().map(|row| dot(row, &round.x)).collect();
        let mut at = learner.prediction();
        learner.predict(Features::Dense(&round.x), &mut at);
        assert_close(&at.scores, &z, &format!("{ball:?}, {schedule:?}, {sparse}, {delay}: round {}", t + 1));
        waiting.push_back((round, at, z));
        if waiting.len() <= delay {
            continue;
        }
        let (Round { x, y }, at, z) = waiting.pop_front().expect("just counted");
        let weight = if t % 5 == 0 { 2.5 } else { 1.0 };
        learner.update(Features::Dense(x), Target::distribution(y).weighted(weight), &at);
        steps += 1.0;
        let rate = match schedule {
            Schedule::Sqrt => 2.0 * b / (g * f64::sqrt(steps)),
            Schedule::Constant => b / (g * (T as f64).sqrt()),
        };
        // A weight above 1: the gradient at z+ = z - (weight - 1) rate |x|^2 (p+ - y), by damped iteration.
        let longer = (weight - 1.0) * rate * dot(x, x);
        let mut ahead = z.clone();
        for _ in 0..if weight > 1.0 { 2000 } else { 0 } {
            let p = softmax(&ahead);
            for (((ahead, z), p), y) in ahead.iter_mut().zip(&z).zip(p).zip(y) {
                *ahead += (z - longer * (p - y) - *ahead) / (1.0 + longer);
            }
        }
        for ((row, p), y) in w.iter_mut().zip(softmax(&ahead)).zip(y) {
            row.iter_mut().zip(x).for_each(|(w, x)| *w -= rate * weight * (p - y) * x);
        }
        project(&mut w, ball);
    }
}

#[test]
fn every_ball_schedule_and_delay() {
    for ball in [OgdBall::Frobenius, OgdBall::Rows, OgdBall::None] {
        for schedule in [Schedule::Sqrt, Schedule::Constant] {
            for sparse in [false, true] {
                check(ball, schedule, sparse, 0);
                check(ball, schedule, sparse, 3);
            }
        }
    }
}

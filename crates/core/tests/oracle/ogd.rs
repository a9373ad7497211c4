//! OGD against a loop over a matrix.

use noregret::algorithm::Algorithm;
use noregret::example::{Features, Target};
use noregret::full::ogd::{Ball, Ogd, OgdParams, Schedule};
use noregret::learner::{OnlineLearner, Predictor};
use noregret::problem::Problem;

use crate::dense::dot;
use crate::{Round, assert_close, softmax, stream};

fn scale_back(row: &mut [f64], norm: f64, ball: f64) {
    if norm > ball {
        row.iter_mut().for_each(|w| *w *= ball / norm);
    }
}

#[test]
fn every_ball_and_schedule() {
    let (k, d, ball_norm) = (3, 4, 0.7);
    for ball in [Ball::Frobenius, Ball::Rows, Ball::None] {
        for schedule in [Schedule::Sqrt, Schedule::Constant] {
            for sparse in [false, true] {
                let params = OgdParams {
                    norm: Some(ball_norm),
                    schedule: Some(schedule),
                    ball: Some(ball),
                    ..Default::default()
                };
                let problem = Problem::new(k, d).with_radius(1.5).with_horizon(200).with_sparse(sparse);
                let mut learner = Ogd::new(params, problem, 0).expect("valid parameters");
                let mut at = learner.prediction();
                // G = √2 R bounds the gradient; a row ball lies in a Frobenius ball of radius B √K.
                let b = if ball == Ball::Rows { ball_norm * 3f64.sqrt() } else { ball_norm };
                let g = 2f64.sqrt() * 1.5;
                let mut w = vec![vec![0.0; d]; k];
                for (t, Round { x, y }) in stream(8, 200, k, d, 1.5).iter().enumerate() {
                    let z: Vec<f64> = w.iter().map(|row| dot(row, x)).collect();
                    learner.predict(Features::Dense(x), &mut at);
                    let what = format!("{ball:?}, {schedule:?}, sparse {sparse}, round {}", t + 1);
                    assert_close(&at.scores, &z, &what);
                    let weight = if t % 5 == 0 { 2.5 } else { 1.0 };
                    learner.update(Features::Dense(x), Target::distribution(y).weighted(weight), &at);
                    let rate = match schedule {
                        Schedule::Sqrt => 2.0 * b / (g * ((t + 1) as f64).sqrt()),
                        Schedule::Constant => b / (g * 200f64.sqrt()),
                    };
                    let p = softmax(&z);
                    for class in 0..k {
                        for i in 0..d {
                            w[class][i] -= rate * weight * (p[class] - y[class]) * x[i];
                        }
                    }
                    let norm_of = |row: &Vec<f64>| dot(row, row).sqrt();
                    match ball {
                        Ball::None => {}
                        Ball::Frobenius => {
                            let norm = w.iter().map(|row| dot(row, row)).sum::<f64>().sqrt();
                            w.iter_mut().for_each(|row| scale_back(row, norm, ball_norm));
                        }
                        Ball::Rows => w.iter_mut().for_each(|row| {
                            let norm = norm_of(row);
                            scale_back(row, norm, ball_norm);
                        }),
                    }
                }
            }
        }
    }
}

//! The theorems of learners that see the label, asserted on random, cyclic and adversarial streams.

mod first_order;
mod second_order;

use noregret::rng::Rng;

const STREAMS: [Stream; 3] = [Stream::Random, Stream::Cyclic, Stream::Adversarial];

/// How rows and labels are chosen. Rows have norm 1.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stream {
    /// Random directions; the label is the best class of a fixed linear predictor, one in ten drawn at
    /// random.
    Random,
    /// Unit vectors in turn, labels in turn.
    Cyclic,
    /// Random directions; the label is the class with the least probability in the learner's forecast.
    Adversarial,
}

/// `values`, scaled to norm 1.
fn unit(values: Vec<f64>) -> Vec<f64> {
    let length = values.iter().map(|x| x * x).sum::<f64>().sqrt();
    values.into_iter().map(|x| x / length).collect()
}

/// Row number `t`.
fn row(stream: Stream, t: usize, features: usize, rng: &mut Rng) -> Vec<f64> {
    match stream {
        Stream::Cyclic => (0..features).map(|i| f64::from(i == t % features)).collect(),
        _ => unit((0..features).map(|_| rng.normal()).collect()),
    }
}

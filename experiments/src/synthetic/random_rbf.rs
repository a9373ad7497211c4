//! Random radial basis functions: Albert Bifet, Geoff Holmes, Bernhard Pfahringer, Richard Kirkby, Ricard
//! Gavaldà, *New Ensemble Methods For Evolving Data Streams*, KDD 2009, section 4.1.
//!
//! At the start, every centroid gets a place in the unit cube, a class, a weight and a deviation, all drawn
//! uniformly. For a row, a centroid is drawn in proportion to the weights; the row lies in a random direction
//! from it, at a normal distance of its deviation. With drift, every centroid moves by `drift` a row in its
//! direction, and turns back at the walls of the cube.

use noregret::param::{Params as _, Values};
use noregret::params;
use noregret::prediction::draw;
use noregret::rng::{Rng, Uniforms};

use super::{Made, Synthetic, count, fill, within};

params! {
    /// Parameters of the stream of random radial basis functions.
    pub(super) struct RandomRbfParams {
        /// Number of classes, >= 2.
        classes: u64 = "2",
        /// Number of features, >= 1.
        features: u64 = "10",
        /// Number of centroids, >= 1.
        centroids: u64 = "50",
        /// Distance that a centroid moves in a row, >= 0.
        drift: f64 = "0",
    }
}

struct Centroid {
    place: Vec<f64>,
    /// Of Euclidean norm 1.
    direction: Vec<f64>,
    class: usize,
    deviation: f64,
}

impl Centroid {
    fn drift(&mut self, drift: f64) {
        for (x, step) in self.place.iter_mut().zip(&mut self.direction) {
            *x += *step * drift;
            if !(0.0..=1.0).contains(x) {
                *x = x.clamp(0.0, 1.0);
                *step = -*step;
            }
        }
    }
}

/// A direction: uniform in the cube [-1, 1]^d, of Euclidean norm 1.
fn direction(rng: &mut Rng, features: usize) -> Vec<f64> {
    let mut direction: Vec<f64> = (0..features).map(|_| 2.0 * rng.uniform() - 1.0).collect();
    let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    direction.iter_mut().for_each(|x| *x /= norm.max(f64::MIN_POSITIVE));
    direction
}

pub(super) fn make(values: &Values, _rows: u64, seed: u64) -> Made {
    let params = RandomRbfParams::from_values("random-rbf", values)?;
    let classes = count("classes", params.classes.unwrap_or(2), 2)?;
    let features = count("features", params.features.unwrap_or(10), 1)?;
    let centroids = count("centroids", params.centroids.unwrap_or(50), 1)?;
    let drift = within("drift", params.drift.unwrap_or(0.0), 0.0, 1.0)?;
    let mut rng = Rng::new(seed, 0);
    let mut centroid = |_| Centroid {
        place: (0..features).map(|_| rng.uniform()).collect(),
        direction: direction(&mut rng, features),
        class: rng.below(classes as u64) as usize,
        deviation: rng.uniform(),
    };
    let mut centroids: Vec<Centroid> = (0..centroids).map(&mut centroid).collect();
    let weights: Vec<f64> = centroids.iter().map(|_| rng.uniform()).collect();
    let total: f64 = weights.iter().sum();
    let weights: Vec<f64> = weights.into_iter().map(|weight| weight / total).collect();
    let mut x = vec![0.0; features];
    Ok(Synthetic::new(classes, features, move |row| {
        if drift > 0.0 {
            centroids.iter_mut().for_each(|centroid| centroid.drift(drift));
        }
        let centroid = &centroids[draw(&weights, rng.uniform()).index()];
        let way = direction(&mut rng, features);
        let distance = centroid.deviation * rng.normal();
        for ((x, place), way) in x.iter_mut().zip(&centroid.place).zip(&way) {
            *x = place + distance * way;
        }
        fill(row, centroid.class, &x);
    }))
}

#[cfg(test)]
mod tests {
    use noregret_stream::Row;

    use super::*;

    /// With one centroid there is one class, and with drift its rows move, but stay around the cube.
    #[test]
    fn a_centroid_drifts() {
        let values = [("centroids".to_owned(), 1u64.into()), ("drift".to_owned(), 0.01.into())];
        let mut stream = make(&values.into_iter().collect(), 0, 5).expect("valid parameters");
        let mut means = Vec::new();
        for _ in 0..20 {
            let mut mean = [0.0; 10];
            for _ in 0..100 {
                let mut row = Row::new();
                stream.next(&mut row);
                mean.iter_mut().zip(row.values()).for_each(|(mean, x)| *mean += x / 100.0);
            }
            assert!(mean.iter().all(|x| (-0.5..1.5).contains(x)), "{mean:?}");
            means.push(mean);
        }
        let moved = means[0].iter().zip(&means[1]).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!(moved > 0.3, "a hundred steps of 0.01 moved it by {moved}");
    }
}

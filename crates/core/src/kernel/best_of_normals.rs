//! The probabilities that each of several independent normal scores is the largest: what Thompson sampling
//! plays, computed and not drawn, so that decisions have known probabilities.
//!
//! With the distribution functions $\Phi_a$ of the scores, the largest one is in $(z_i, z_{i+1}]$ with the
//! probability $F(z_{i+1}) - F(z_i)$, $F = \prod_a \Phi_a$, and since $d \ln F = \sum_a d \ln \Phi_a$, it is
//! there that of label $a$ with about the fraction
//!
//! $$ \frac{\ln \Phi_a(z_{i+1}) - \ln \Phi_a(z_i)}{\ln F(z_{i+1}) - \ln F(z_i)} \tag{1} $$
//!
//! of this probability. The points $z_i$ are at equal distances in the range that holds the largest score up
//! to $10^{-4}$, and closer where the score of the label with the largest mean is.

use super::inverse_gap::{indices, largest};

/// Points at equal distances.
const POINTS: usize = 20;

/// Points around the largest mean, in standard deviations of its label.
const CLOSER: [f64; 9] = [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0];

/// All points.
const ALL: usize = POINTS + CLOSER.len();

/// Scores farther than this from their means, in standard deviations, are left out.
const REACH: f64 = 4.0;

/// Standard deviations below this count as this.
const LEAST: f64 = 1e-9;

/// Writes to `out` the probability that a label's score is the largest of those on offer, `among` (`None`:
/// all), if scores are independent and normal with these `means` and standard `deviations`. The others have
/// probability 0. `room` is a buffer.
pub(crate) fn probabilities(
    means: &[f64],
    deviations: &[f64],
    among: Option<&[u32]>,
    room: &mut Vec<f64>,
    out: &mut [f64],
) {
    out.fill(0.0);
    let labels = || indices(means.len(), among);
    let deviation = |label: usize| deviations[label].max(LEAST);
    let end = |side: f64| {
        labels().map(|label| means[label] + side * deviation(label)).fold(f64::NEG_INFINITY, f64::max)
    };
    let (low, high) = (end(-REACH), end(REACH));
    let best = largest(means, among);
    // The points, then ln F at each of them, then ln Φ of every label that can be the best.
    room.clear();
    room.extend((0..POINTS).map(|at| low + (high - low) * at as f64 / (POINTS - 1) as f64));
    room.extend(CLOSER.map(|at| (means[best] + at * deviation(best)).clamp(low, high)));
    room.sort_by(f64::total_cmp);
    let reaching = || labels().filter(|label| means[*label] + REACH * deviation(*label) > low);
    room.resize((2 + reaching().count()) * ALL, 0.0);
    let (points, rest) = room.split_at_mut(ALL);
    let (all, of_labels) = rest.split_at_mut(ALL);
    for (label, of_one) in reaching().zip(of_labels.chunks_exact_mut(ALL)) {
        for ((value, sum), point) in of_one.iter_mut().zip(&mut *all).zip(&*points) {
            *value = log_normal((point - means[label]) / deviation(label));
            *sum += *value;
        }
    }
    for (at, sums) in all.windows(2).enumerate() {
        let rise = sums[1] - sums[0];
        if rise > 0.0 {
            let part = (sums[1].exp() - sums[0].exp()) / rise;
            for (label, of_one) in reaching().zip(of_labels.chunks_exact(ALL)) {
                out[label] += part * (of_one[at + 1] - of_one[at]); // eq. (1)
            }
        }
    }
    let total: f64 = out.iter().sum();
    if total > 0.0 {
        out.iter_mut().for_each(|p| *p /= total);
    } else {
        out[best] = 1.0;
    }
}

/// $\ln \Phi(z)$ of the standard normal distribution, for $z \ge -10$.
fn log_normal(z: f64) -> f64 {
    let tail = 0.5 * libm::erfc(z.abs() * std::f64::consts::FRAC_1_SQRT_2);
    if z < 0.0 { tail.ln() } else { (-tail).ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::testing::{assert_all_close, assert_close};

    fn best(means: &[f64], deviations: &[f64], among: Option<&[u32]>) -> Vec<f64> {
        let mut out = vec![0.5; means.len()];
        probabilities(means, deviations, among, &mut Vec::new(), &mut out);
        out
    }

    /// Of two normal scores the first is larger with the probability Φ((m - m')/√(s² + s'²)).
    #[test]
    fn two_scores_have_a_closed_form() {
        for (m, s, t) in [(0.0, 1.0, 1.0), (0.7, 1.0, 0.5), (2.0, 0.3, 1.5), (-0.1, 0.01, 0.2)] {
            let p = best(&[m, 0.0], &[s, t], None);
            assert_close(p[0], log_normal(m / f64::hypot(s, t)).exp(), 2e-2, "the first");
            assert_close(p[0] + p[1], 1.0, 1e-12, "one of them");
        }
        assert_close(log_normal(-5.0), 2.866_515_718_791_94e-7f64.ln(), 1e-12, "a tail");
    }

    #[test]
    fn equal_scores_share() {
        best(&[0.3; 7], &[0.1; 7], None).iter().for_each(|p| assert_close(*p, 1.0 / 7.0, 1e-12, "equal"));
        assert_eq!(best(&[0.0, 9.0, 1.0], &[1.0, 0.0, 0.5], None), [0.0, 1.0, 0.0]);
        let p = best(&[0.0, 9.0, 0.0], &[1.0, 0.5, 1.0], Some(&[0, 2]));
        assert_eq!(p[1], 0.0, "not on offer");
        assert_close(p[0], 0.5, 1e-12, "the others");
    }

    /// Beside 20,000 draws of all scores, whose own error is below .015.
    #[test]
    fn they_are_the_frequencies_of_draws() {
        let mut rng = Rng::new(5, 0);
        for labels in [3, 20] {
            let means: Vec<f64> = (0..labels).map(|_| 0.3 * rng.normal()).collect();
            let deviations: Vec<f64> = (0..labels).map(|_| (0.8 * rng.normal() - 1.5).exp()).collect();
            let mut drawn = vec![0.0; labels];
            for _ in 0..20_000 {
                let scores: Vec<f64> =
                    means.iter().zip(&deviations).map(|(m, s)| m + s * rng.normal()).collect();
                drawn[largest(&scores, None)] += 1.0 / 20_000.0;
            }
            let p = best(&means, &deviations, None);
            assert_all_close(&p, &drawn, 0.03, "the frequency");
        }
    }
}

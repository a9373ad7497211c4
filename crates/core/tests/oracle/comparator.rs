//! The best matrix in hindsight, by projected gradient descent, certified by its duality gap.

use crate::dense::dot;
use crate::{Round, loss, softmax};

/// The ball of the comparators.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Within {
    Rows(f64),
    Frobenius(f64),
}

/// A lower bound, within 1e-4 relative, of the total (weighted) loss of every matrix in the ball.
pub(crate) fn least_loss(rounds: &[Round], weights: &[f64], ball: Within) -> f64 {
    let (k, d) = (rounds[0].y.len(), rounds[0].x.len());
    // The Hessian of the total loss is at most half of Σ ω‖x‖².
    let energy: f64 = rounds.iter().zip(weights).map(|(round, w)| w * dot(&round.x, &round.x)).sum();
    let rate = 2.0 / energy;
    let mut w = vec![0.0; k * d];
    let (mut ahead, mut momentum, mut best) = (w.clone(), 1.0f64, f64::NEG_INFINITY);
    for step in 0..20_000 {
        let (_, gradient) = value_and_gradient(rounds, weights, &ahead);
        let mut next: Vec<f64> = ahead.iter().zip(&gradient).map(|(w, g)| w - rate * g).collect();
        project(&mut next, d, ball);
        let new_momentum = 0.5 + (0.25 + momentum * momentum).sqrt();
        let along: f64 = (0..k * d).map(|i| (ahead[i] - next[i]) * (next[i] - w[i])).sum();
        // Momentum is reset if it points uphill.
        let beta = if along > 0.0 { 0.0 } else { (momentum - 1.0) / new_momentum };
        ahead = next.iter().zip(&w).map(|(next, w)| next + beta * (next - w)).collect();
        momentum = if along > 0.0 { 1.0 } else { new_momentum };
        w = next;
        if step % 20 == 0 {
            let (value, gradient) = value_and_gradient(rounds, weights, &w);
            let gap = dot(&gradient, &w) + support(&gradient, d, ball);
            best = best.max(value - gap);
            if gap <= 1e-4 * value.max(1.0) {
                return best;
            }
        }
    }
    panic!("the comparator does not converge");
}

fn value_and_gradient(rounds: &[Round], weights: &[f64], w: &[f64]) -> (f64, Vec<f64>) {
    let d = rounds[0].x.len();
    let (mut value, mut gradient) = (0.0, vec![0.0; w.len()]);
    for (Round { x, y }, weight) in rounds.iter().zip(weights) {
        let z: Vec<f64> = w.chunks_exact(d).map(|row| dot(row, x)).collect();
        value += weight * loss(&z, y);
        for ((row, p), y) in gradient.chunks_exact_mut(d).zip(softmax(&z)).zip(y) {
            row.iter_mut().zip(x).for_each(|(g, x)| *g += weight * (p - y) * x);
        }
    }
    (value, gradient)
}

fn project(w: &mut [f64], d: usize, ball: Within) {
    let back = |row: &mut [f64], radius: f64| {
        let norm = dot(row, row).sqrt();
        if norm > radius {
            row.iter_mut().for_each(|w| *w *= radius / norm);
        }
    };
    match ball {
        Within::Rows(radius) => w.chunks_exact_mut(d).for_each(|row| back(row, radius)),
        Within::Frobenius(radius) => back(w, radius),
    }
}

/// The largest ⟨-g, U⟩ over the ball.
fn support(g: &[f64], d: usize, ball: Within) -> f64 {
    match ball {
        Within::Rows(radius) => radius * g.chunks_exact(d).map(|row| dot(row, row).sqrt()).sum::<f64>(),
        Within::Frobenius(radius) => radius * dot(g, g).sqrt(),
    }
}

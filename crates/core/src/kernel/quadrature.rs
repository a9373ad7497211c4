//! Gauss-Legendre quadrature. The existing crates compute the nodes as eigenvalues, and depend on another
//! linear-algebra crate: therefore it is implemented here.

/// Nodes, increasing in (-1, 1), and weights, of sum 2, of the Gauss-Legendre rule with `len` >= 1 nodes:
/// exact for polynomials up to degree 2 `len` - 1.
pub fn gauss_legendre(len: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut nodes, mut weights) = (vec![0.0; len], vec![0.0; len]);
    for i in 0..len.div_ceil(2) {
        // Newton's method on the Legendre polynomial, from Tricomi's guess.
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (len as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..10 {
            let (value, derivative) = legendre(len, x);
            slope = derivative;
            x -= value / derivative;
            if (value / derivative).abs() <= f64::EPSILON {
                break;
            }
        }
        let weight = 2.0 / ((1.0 - x * x) * slope * slope);
        (nodes[i], nodes[len - 1 - i]) = (-x, x);
        (weights[i], weights[len - 1 - i]) = (weight, weight);
    }
    (nodes, weights)
}

/// $P_n(x)$ and $P_n'(x)$ by the three-term recurrence.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for k in 2..=n {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
    }
    (value, n as f64 * (x * value - before) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrates_polynomials_exactly() {
        for len in [1, 2, 3, 16, 120] {
            let (nodes, weights) = gauss_legendre(len);
            assert!(nodes.is_sorted(), "{nodes:?}");
            for degree in [0, 1, 2, 3, 7, 2 * len - 1].into_iter().filter(|degree| *degree < 2 * len) {
                let sum: f64 = nodes.iter().zip(&weights).map(|(x, w)| w * x.powi(degree as i32)).sum();
                let want = if degree % 2 == 0 { 2.0 / (degree + 1) as f64 } else { 0.0 };
                assert!((sum - want).abs() < 1e-14, "{len} nodes, degree {degree}: {sum}");
            }
        }
    }
}

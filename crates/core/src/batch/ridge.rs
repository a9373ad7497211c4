//! The best linear forecast in hindsight for squared loss, in closed form.

use faer::{Accum, Mat, MatRef, Par, Side, linalg::matmul::matmul};

use super::constrained::dot;
use super::data::{DataError, Rows, not_finite};

/// The parameters of the regularisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Regularization {
    /// $\lambda \lVert \theta \rVert^2$ is added to the loss; $\lambda \ge 0$ finite, and 0 gives least
    /// squares (of least norm where there are many).
    Penalty(f64),
    /// $\lVert \theta \rVert_2 \le B$; finite and above 0.
    Ball(f64),
}

/// The best linear forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastSquares {
    /// $\theta \in \mathbb{R}^d$.
    pub theta: Vec<f64>,
    /// Its loss $\sum_t (\theta^\top x_t - y_t)^2$.
    pub loss: f64,
    /// The penalty $\lambda \lVert \theta \rVert^2$; 0 for a ball.
    pub penalty: f64,
    /// A bound: no $\theta$ has a `loss + penalty` below this one's minus `gap`.
    pub gap: f64,
}

/// Minimises $\sum_t (\theta^\top x_t - y_t)^2$ over $\theta \in \mathbb{R}^d$, `targets` being $y$ and
/// `features` $d$.
///
/// By an eigendecomposition of the Gram matrix $\sum_t x_t x_t^\top$, in $O(Td^2 + d^3)$. For a ball,
/// $\theta$ is the solution with the least penalty $\nu \ge 0$ for which it is in the ball, found by
/// bisection.
///
/// # Errors
/// As [`super::data::Data::new`], for rows and targets.
///
/// # Panics
/// If the regularization is outside its range: a programmer error.
pub fn least_squares(
    rows: Rows<'_>,
    features: usize,
    targets: &[f64],
    regularization: Regularization,
) -> Result<LeastSquares, DataError> {
    rows.check(targets.len(), features)?;
    if let Some(row) = targets.iter().position(|y| !y.is_finite()) {
        return Err(not_finite(row, targets[row]));
    }
    let equations = Normal::new(rows, features, targets);
    let (theta, lambda) = match regularization {
        Regularization::Penalty(lambda) => {
            assert!(
                lambda.is_finite() && lambda >= 0.0,
                "the penalty is {lambda}, not a finite number of 0 or more"
            );
            (equations.solution(lambda), lambda)
        }
        Regularization::Ball(norm) => {
            assert!(norm.is_finite() && norm > 0.0, "the norm bound is {norm}, not a finite number above 0");
            (equations.solution_in_ball(norm), 0.0)
        }
    };

    let mut errors = vec![0.0; targets.len()];
    rows.times(0..targets.len(), &theta, features, &mut errors);
    errors.iter_mut().zip(targets).for_each(|(e, y)| *e -= y);
    let mut gradient = vec![0.0; features];
    rows.add_transposed(0..targets.len(), &errors, features, &mut gradient);
    gradient.iter_mut().zip(&theta).for_each(|(g, t)| *g = 2.0 * (*g + lambda * t));
    let gap = match regularization {
        Regularization::Penalty(lambda) => equations.decrease(&gradient, lambda),
        Regularization::Ball(norm) => dot(&gradient, &theta) + norm * dot(&gradient, &gradient).sqrt(),
    };
    let (loss, penalty) = (dot(&errors, &errors), lambda * dot(&theta, &theta));
    Ok(LeastSquares { theta, loss, penalty, gap: gap.max(0.0) })
}

/// $\sum_t x_t x_t^\top = Q \Lambda Q^\top$ and $c = Q^\top \sum_t y_t x_t$.
struct Normal {
    q: Mat<f64>,
    eigenvalues: Vec<f64>,
    c: Vec<f64>,
}

impl Normal {
    fn new(rows: Rows<'_>, d: usize, targets: &[f64]) -> Self {
        const BLOCK: usize = 256;
        let mut gram = Mat::zeros(d, d);
        let mut moments = vec![0.0; d];
        rows.add_transposed(0..targets.len(), targets, d, &mut moments);
        let mut buffer = Vec::new();
        for start in (0..targets.len()).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(targets.len());
            let n = block.len();
            let x = MatRef::from_row_major_slice(rows.dense(block, d, &mut buffer), n, d);
            matmul(gram.as_mut(), Accum::Add, x.transpose(), x, 1.0, Par::Seq);
        }
        let decomposition = gram
            .self_adjoint_eigen(Side::Lower)
            .expect("a finite symmetric matrix has an eigendecomposition");
        let q = decomposition.U().to_owned();
        let eigenvalues = decomposition.S().column_vector().iter().map(|e| e.max(0.0)).collect();
        let c = rotate(&q, &moments);
        Self { q, eigenvalues, c }
    }

    /// Eigenvalues up to this are 0 up to rounding.
    fn cutoff(&self) -> f64 {
        let largest = self.eigenvalues.iter().copied().fold(0.0, f64::max);
        largest * self.eigenvalues.len() as f64 * f64::EPSILON
    }

    /// The coordinates $(\Lambda + \lambda)^{-1} c$ of $v$, along the directions that are not null.
    fn divide(&self, c: &[f64], lambda: f64) -> Vec<f64> {
        let cutoff = self.cutoff();
        let quotient = |(c, e): (&f64, &f64)| if e + lambda > cutoff { c / (e + lambda) } else { 0.0 };
        c.iter().zip(&self.eigenvalues).map(quotient).collect()
    }

    fn solution(&self, lambda: f64) -> Vec<f64> {
        let coordinates = self.divide(&self.c, lambda);
        let d = coordinates.len();
        (0..d).map(|i| (0..d).map(|j| self.q[(i, j)] * coordinates[j]).sum()).collect()
    }

    fn solution_in_ball(&self, norm: f64) -> Vec<f64> {
        let size = |nu: f64| {
            let coordinates = self.divide(&self.c, nu);
            dot(&coordinates, &coordinates).sqrt()
        };
        if size(0.0) <= norm {
            return self.solution(0.0);
        }
        // |c| / (Λ + ν) is at most |c| / ν.
        let (mut low, mut high) = (0.0, dot(&self.c, &self.c).sqrt() / norm);
        while high - low > f64::EPSILON * high {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if size(middle) > norm { low = middle } else { high = middle }
        }
        self.solution(high)
    }

    /// The difference between a penalised quadratic with this gradient and its minimum: $\frac14 \nabla^\top
    /// (G + \lambda)^{-1} \nabla$.
    /// \lambda)^{-1} \nabla$.
    fn decrease(&self, gradient: &[f64], lambda: f64) -> f64 {
        let c = rotate(&self.q, gradient);
        0.25 * dot(&c, &self.divide(&c, lambda))
    }
}

/// $Q^\top v$.
fn rotate(q: &Mat<f64>, v: &[f64]) -> Vec<f64> {
    (0..v.len()).map(|j| (0..v.len()).map(|i| q[(i, j)] * v[i]).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_all_close, assert_close, number, numbers, vector};

    const X: [f64; 8] = [1.0, 0.0, 1.0, 1.0, 0.0, 2.0, -1.0, 1.0];
    const Y: [f64; 4] = [1.0, 3.0, 2.0, -1.0];

    fn solve(regularization: Regularization) -> LeastSquares {
        least_squares(Rows::Dense(&X), 2, &Y, regularization).expect("good data")
    }

    fn objective(theta: &[f64]) -> f64 {
        X.chunks(2).zip(Y).map(|(x, y)| (dot(theta, x) - y).powi(2)).sum()
    }

    #[test]
    fn by_hand() {
        // The Gram matrix is diag(3, 6), the moments are (5, 6).
        let free = solve(Regularization::Penalty(0.0));
        assert_close(free.theta[0], 5.0 / 3.0, 1e-14, "least squares");
        assert_close(free.theta[1], 1.0, 1e-14, "least squares");
        assert_close(free.loss, objective(&free.theta), 1e-14, "loss");
        let ridge = solve(Regularization::Penalty(2.0));
        assert_close(ridge.theta[0], 1.0, 1e-14, "ridge");
        assert_close(ridge.theta[1], 0.75, 1e-14, "ridge");
        assert_close(ridge.penalty, 3.125, 1e-14, "penalty");
        assert!(free.gap < 1e-14 && ridge.gap < 1e-14);
    }

    #[test]
    fn the_gap_is_the_distance_to_the_minimum() {
        let equations = Normal::new(Rows::Dense(&X), 2, &Y);
        // At 0 the gradient is -2 (5, 6).
        let distance = objective(&[0.0, 0.0]) - solve(Regularization::Penalty(0.0)).loss;
        assert_close(equations.decrease(&[-10.0, -12.0], 0.0), distance, 1e-14, "distance");
    }

    #[test]
    fn the_ball_binds_or_it_does_not() {
        assert_eq!(solve(Regularization::Ball(5.0)).theta, solve(Regularization::Penalty(0.0)).theta);
        let bound = solve(Regularization::Ball(0.5));
        assert_close(dot(&bound.theta, &bound.theta).sqrt(), 0.5, 1e-12, "on the sphere");
        assert!(bound.gap < 1e-12, "{}", bound.gap);
        for angle in (0..628).map(|i| i as f64 / 100.0) {
            assert!(objective(&[0.5 * angle.cos(), 0.5 * angle.sin()]) >= bound.loss - bound.gap);
        }
    }

    #[test]
    fn copies_of_a_feature_share_its_weight() {
        let x = [1.0, 1.0, 2.0, 2.0, -1.0, -1.0];
        let found = least_squares(Rows::Dense(&x), 2, &[2.0, 4.0, -2.0], Regularization::Penalty(0.0));
        let found = found.expect("good data");
        assert_close(found.theta[0], 1.0, 1e-12, "least norm");
        assert_close(found.theta[1], 1.0, 1e-12, "least norm");
        let none = least_squares(Rows::Dense(&[]), 2, &[], Regularization::Ball(1.0)).expect("no rows");
        assert_eq!(none, LeastSquares { theta: vec![0.0; 2], loss: 0.0, penalty: 0.0, gap: 0.0 });
    }

    #[test]
    fn vaw_reference() {
        let reference = vector("vaw_T60_d4");
        let (x, y) = (numbers(&reference["data"]["x"]), numbers(&reference["data"]["y"]));
        let found = least_squares(Rows::Dense(&x), 4, &y, Regularization::Penalty(0.0)).expect("good data");
        assert_all_close(&found.theta, &numbers(&reference["comparator"]["theta"]), 1e-12, "theta");
        let forecasts = numbers(&reference["expected"]["prediction"]);
        let total: f64 = forecasts.iter().zip(&y).map(|(f, y)| (f - y).powi(2)).sum();
        assert_close(total - found.loss, number(&reference["summary"]["regret"]), 1e-10, "regret");
    }

    #[test]
    fn bad_targets_are_named() {
        let error =
            least_squares(Rows::Dense(&X), 2, &[0.0, 1.0, f64::NAN, 0.0], Regularization::Penalty(0.0));
        assert!(error.expect_err("NaN").to_string().contains("row 2"));
    }
}

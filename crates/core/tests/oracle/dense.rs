//! Plain dense linear algebra for oracles: matrices are lists of rows.

/// A square matrix, by row.
pub(crate) type Matrix = Vec<Vec<f64>>;

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn diagonal(side: usize, value: f64) -> Matrix {
    (0..side).map(|i| (0..side).map(|j| if i == j { value } else { 0.0 }).collect()).collect()
}

pub(crate) fn times(a: &Matrix, v: &[f64]) -> Vec<f64> {
    a.iter().map(|row| dot(row, v)).collect()
}

/// `a += scale S ⊗ xxᵀ`.
pub(crate) fn add_kronecker(a: &mut Matrix, scale: f64, s: &Matrix, x: &[f64]) {
    let d = x.len();
    for (i, row) in a.iter_mut().enumerate() {
        for (j, entry) in row.iter_mut().enumerate() {
            *entry += scale * s[i / d][j / d] * x[i % d] * x[j % d];
        }
    }
}

/// `diag(p) - ppᵀ`.
pub(crate) fn covariance(p: &[f64]) -> Matrix {
    let entry = |i: usize, j: usize| if i == j { p[i] * (1.0 - p[i]) } else { -p[i] * p[j] };
    (0..p.len()).map(|i| (0..p.len()).map(|j| entry(i, j)).collect()).collect()
}

/// $u \otimes x$.
pub(crate) fn kronecker(u: &[f64], x: &[f64]) -> Vec<f64> {
    u.iter().flat_map(|u| x.iter().map(move |x| u * x)).collect()
}

/// The solution of `a v = b` for every column `b` of `right`, by elimination with pivots.
fn eliminate(a: &Matrix, right: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = a.len();
    let mut rows: Vec<Vec<f64>> = a
        .iter()
        .enumerate()
        .map(|(i, row)| row.iter().copied().chain(right.iter().map(|b| b[i])).collect())
        .collect();
    for col in 0..n {
        let pivot = (col..n).max_by(|i, j| rows[*i][col].abs().total_cmp(&rows[*j][col].abs()));
        rows.swap(col, pivot.expect("a row is left"));
        let head = rows[col].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[col] / head[col];
            if i != col && factor != 0.0 {
                row.iter_mut().zip(&head).for_each(|(entry, head)| *entry -= factor * head);
            }
        }
    }
    (0..right.len()).map(|b| (0..n).map(|i| rows[i][n + b] / rows[i][i]).collect()).collect()
}

pub(crate) fn solve(a: &Matrix, b: &[f64]) -> Vec<f64> {
    eliminate(a, &[b.to_vec()]).swap_remove(0)
}

/// The inverse of a symmetric matrix.
pub(crate) fn inverse(a: &Matrix) -> Matrix {
    eliminate(a, &diagonal(a.len(), 1.0))
}

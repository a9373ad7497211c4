//! The total logistic loss of a linear predictor as a function of its free parameters.

use faer::{Accum, Mat, MatRef, Par, linalg::matmul::matmul};

use super::data::{Data, Labels};
use crate::kernel::softmax::softmax;
use crate::loss::logistic;

/// Number of rows that are processed together, so that they and their products stay in the cache.
const BLOCK: usize = 256;

/// $f(U) = \sum_t \omega_t \ell(V U x_t, y_t)$ for $U \in \mathbb{R}^{q \times d}$, row by row, and a fixed
/// $V \in \mathbb{R}^{K \times q}$.
pub(super) struct Objective<'a> {
    data: Data<'a>,
    basis: Vec<f64>,
    q: usize,
}

impl<'a> Objective<'a> {
    /// $V = I$: one row of parameters for each class.
    pub(super) fn full(data: Data<'a>) -> Self {
        let q = data.classes();
        let mut basis = vec![0.0; q * q];
        basis.iter_mut().step_by(q + 1).for_each(|v| *v = 1.0);
        Self { data, basis, q }
    }

    /// $V$ with orthonormal columns orthogonal to 1 (Helmert): the matrices $VU$ are those whose rows sum to
    /// zero, and $\lVert VU \rVert_F = \lVert U \rVert_F$.
    pub(super) fn centred(data: Data<'a>) -> Self {
        let q = data.classes() - 1;
        let mut basis = vec![0.0; data.classes() * q];
        for j in 0..q {
            let scale = 1.0 / (((j + 1) * (j + 2)) as f64).sqrt();
            (0..=j).for_each(|k| basis[k * q + j] = scale);
            basis[(j + 1) * q + j] = -((j + 1) as f64) * scale;
        }
        Self { data, basis, q }
    }

    /// $V = (0, 1)^\top$: the parameter is the logit of class 1 over class 0. Two classes.
    pub(super) fn binary(data: Data<'a>) -> Self {
        Self { data, basis: vec![0.0, 1.0], q: 1 }
    }

    /// The number of parameters.
    pub(super) fn dimension(&self) -> usize {
        self.q * self.data.features()
    }

    /// Whether a few exact Newton steps cost less than the hundreds of passes of a first-order method.
    ///
    /// A Hessian costs about $Tn^2$ multiplications for $n$ parameters, a pass $q$ for every stored value.
    /// Rows may be sparse; the Hessian is dense, and has to fit into memory.
    pub(super) fn prefers_newton(&self) -> bool {
        let (n, rows) = (self.dimension(), self.data.rows());
        n <= 2000 && self.data.len() * n * n <= 2000 * self.q * rows.stored().max(self.data.len())
    }

    /// The predictor $VU$, row by row.
    pub(super) fn weights(&self, u: &[f64]) -> Vec<f64> {
        let d = self.data.features();
        let mut weights = vec![0.0; self.data.classes() * d];
        for (w, v) in weights.chunks_exact_mut(d).zip(self.basis.chunks_exact(self.q)) {
            for (u, v) in u.chunks_exact(d).zip(v) {
                w.iter_mut().zip(u).for_each(|(w, u)| *w += v * u);
            }
        }
        weights
    }

    /// $f(U)$; writes its gradient.
    pub(super) fn value_and_gradient(&self, u: &[f64], gradient: &mut [f64]) -> f64 {
        let (d, q) = (self.data.features(), self.q);
        let mut reduced = vec![0.0; BLOCK * q];
        let mut logits = vec![0.0; self.data.classes()];
        let mut residual = vec![0.0; self.data.classes()];
        let mut value = 0.0;
        gradient.fill(0.0);
        for start in (0..self.data.len()).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(self.data.len());
            let reduced = &mut reduced[..block.len() * q];
            self.data.rows().times(block.clone(), u, d, reduced);
            for (row, reduced) in block.clone().zip(reduced.chunks_exact_mut(q)) {
                self.logits(reduced, &mut logits);
                let weight = self.data.weight(row);
                value += weight * self.loss_and_residual(row, &logits, &mut residual);
                reduced.fill(0.0);
                for (r, v) in residual.iter().zip(self.basis.chunks_exact(q)) {
                    reduced.iter_mut().zip(v).for_each(|(out, v)| *out += weight * r * v);
                }
            }
            self.data.rows().add_transposed(block, reduced, d, gradient);
        }
        value
    }

    /// Writes the lower triangle of the Hessian of $f$ at $U$; entry ((i, a), (j, b)) sits at (i d + a, j d +
    /// b).
    pub(super) fn hessian(&self, u: &[f64], out: &mut Mat<f64>) {
        let (d, q) = (self.data.features(), self.q);
        let mut reduced = vec![0.0; BLOCK * q];
        let mut logits = vec![0.0; self.data.classes()];
        let mut p = vec![0.0; self.data.classes()];
        let mut curvatures = vec![0.0; BLOCK * q * q];
        let mut scaled = vec![0.0; BLOCK * q * d];
        let mut buffer = Vec::new();
        out.fill(0.0);
        for start in (0..self.data.len()).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(self.data.len());
            let n = block.len();
            self.data.rows().times(block.clone(), u, d, &mut reduced[..n * q]);
            for (at, row) in block.clone().enumerate() {
                self.logits(&reduced[at * q..(at + 1) * q], &mut logits);
                softmax(&logits, &mut p);
                self.curvature(self.data.weight(row), &p, &mut curvatures[at * q * q..(at + 1) * q * q]);
            }
            let x = self.data.rows().dense(block, d, &mut buffer);
            let x_block = MatRef::from_row_major_slice(x, n, d);
            for i in 0..q {
                let width = (i + 1) * d;
                for (at, (scaled, x)) in scaled.chunks_exact_mut(width).zip(x.chunks_exact(d)).enumerate() {
                    let curvatures = &curvatures[(at * q + i) * q..][..=i];
                    for (scaled, curvature) in scaled.chunks_exact_mut(d).zip(curvatures) {
                        scaled.iter_mut().zip(x).for_each(|(s, x)| *s = curvature * x);
                    }
                }
                let scaled = MatRef::from_row_major_slice(&scaled[..n * width], n, width);
                let target = out.as_mut().submatrix_mut(i * d, 0, d, width);
                matmul(target, Accum::Add, x_block.transpose(), scaled, 1.0, Par::Seq);
            }
        }
    }

    fn logits(&self, reduced: &[f64], out: &mut [f64]) {
        for (z, v) in out.iter_mut().zip(self.basis.chunks_exact(self.q)) {
            *z = v.iter().zip(reduced).map(|(v, u)| v * u).sum();
        }
    }

    fn loss_and_residual(&self, row: usize, logits: &[f64], residual: &mut [f64]) -> f64 {
        match self.data.labels() {
            Labels::Classes(labels) => {
                let label = labels[row] as usize;
                logistic::gradient(logits, label, residual);
                logistic::loss(logits, label)
            }
            Labels::Distributions(targets) => {
                let target = &targets[row * logits.len()..(row + 1) * logits.len()];
                logistic::soft_gradient(logits, target, residual);
                logistic::soft_loss(logits, target)
            }
        }
    }

    /// The lower triangle of $\omega V^\top S V$, q x q, with $S = \mathrm{diag}(p) - pp^\top$.
    ///
    /// As $(SV)_{kj} = p_k \sum_l p_l (V_{kj} - V_{lj})$: subtracting a mean would cancel if $p$ is nearly a
    /// unit vector, and the sum of many such terms would no longer be positive semidefinite.
    fn curvature(&self, weight: f64, p: &[f64], out: &mut [f64]) {
        let q = self.q;
        out.fill(0.0);
        for (p_k, v_k) in p.iter().zip(self.basis.chunks_exact(q)) {
            for j in 0..q {
                let others = p.iter().zip(self.basis.chunks_exact(q));
                let product = weight * p_k * others.map(|(p_l, v_l)| p_l * (v_k[j] - v_l[j])).sum::<f64>();
                (j..q).for_each(|i| out[i * q + j] += v_k[i] * product);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::Rows;
    use super::*;

    const X: [f64; 8] = [0.5, -1.0, 2.0, 0.0, 0.3, 0.7, -1.5, 1.0];
    const STARTS: [usize; 5] = [0, 2, 3, 5, 7];

    fn check(objective: &Objective<'_>) {
        let n = objective.dimension();
        let u: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
        let mut gradient = vec![0.0; n];
        let mut hessian = Mat::zeros(n, n);
        objective.value_and_gradient(&u, &mut gradient);
        objective.hessian(&u, &mut hessian);
        let (mut above, mut below) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            let mut moved = u.clone();
            moved[i] = u[i] + 1e-5;
            let high = objective.value_and_gradient(&moved, &mut above);
            moved[i] = u[i] - 1e-5;
            let slope = (high - objective.value_and_gradient(&moved, &mut below)) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-8, "gradient {i}: {slope} {}", gradient[i]);
            for j in i..n {
                let second = (above[j] - below[j]) / 2e-5;
                assert!(
                    (second - hessian[(j, i)]).abs() < 1e-8,
                    "Hessian {j} {i}: {second} {}",
                    hessian[(j, i)]
                );
            }
        }
    }

    #[test]
    fn derivatives_are_derivatives() {
        let soft = [0.2, 0.3, 0.5, 1.0, 0.0, 0.0, 0.1, 0.1, 0.8, 0.0, 0.5, 0.5];
        for labels in [Labels::Classes(&[0, 2, 1, 1]), Labels::Distributions(&soft)] {
            let data =
                Data::new(3, 2, Rows::Dense(&X), labels).and_then(|d| d.with_weights(&[1.0, 2.0, 0.5, 1.0]));
            let data = data.expect("good data");
            check(&Objective::full(data));
            check(&Objective::centred(data));
        }
        check(&Objective::binary(
            Data::new(2, 2, Rows::Dense(&X), Labels::Classes(&[0, 1, 1, 0])).expect("good"),
        ));
    }

    #[test]
    fn sparse_rows_are_the_dense_ones() {
        let values: Vec<f64> = X.iter().copied().filter(|x| *x != 0.0).collect();
        let sparse = Rows::Sparse { starts: &STARTS, indices: &[0, 1, 0, 0, 1, 0, 1], values: &values };
        let of = |rows| {
            let objective =
                Objective::full(Data::new(3, 2, rows, Labels::Classes(&[0, 2, 1, 1])).expect("good"));
            let u = [0.1, 0.2, -0.3, 0.4, 0.5, -0.6];
            let (mut gradient, mut hessian) = (vec![0.0; 6], Mat::zeros(6, 6));
            let value = objective.value_and_gradient(&u, &mut gradient);
            objective.hessian(&u, &mut hessian);
            (value, gradient, hessian)
        };
        let ((value, gradient, hessian), dense) = (of(sparse), of(Rows::Dense(&X)));
        assert!((value - dense.0).abs() < 1e-14);
        assert!(gradient.iter().zip(&dense.1).all(|(a, b)| (a - b).abs() < 1e-14));
        assert!((hessian - dense.2).norm_max() < 1e-14);
    }

    #[test]
    fn the_centred_basis_is_orthonormal_and_centred() {
        let data = Data::new(4, 1, Rows::Dense(&[]), Labels::Classes(&[])).expect("no rows");
        let basis = Objective::centred(data).basis;
        for i in 0..3 {
            assert!((0..4).map(|k| basis[k * 3 + i]).sum::<f64>().abs() < 1e-15);
            for j in 0..3 {
                let product: f64 = (0..4).map(|k| basis[k * 3 + i] * basis[k * 3 + j]).sum();
                assert!((product - if i == j { 1.0 } else { 0.0 }).abs() < 1e-15);
            }
        }
    }
}

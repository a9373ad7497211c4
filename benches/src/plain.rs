//! FOLKLORE's second-order work written straight from the formulas, one row at a time: what the engine is
//! measured against.

/// $P$ of side $n = (K-1)d$ as a square, read once for $P(I \otimes x)$, then read and written once for
/// $P - FF^\top$.
pub struct PlainFolklore {
    blocks: usize,
    features: usize,
    inverse: Vec<f64>,
    columns: Vec<f64>,
}

impl PlainFolklore {
    /// $P = I$.
    pub fn new(classes: usize, features: usize) -> Self {
        let (blocks, side) = (classes - 1, (classes - 1) * features);
        let mut inverse = vec![0.0; side * side];
        inverse.iter_mut().step_by(side + 1).for_each(|entry| *entry = 1.0);
        Self { blocks, features, inverse, columns: vec![0.0; side * blocks] }
    }

    /// One round. The inner problem is left out: `label` stands for its solution. Costs what a round
    /// costs, and keeps $P$ positive definite.
    pub fn round(&mut self, x: &[f64], label: usize) {
        let (d, q, n) = (self.features, self.blocks, self.blocks * self.features);
        for (row, out) in self.inverse.chunks_exact(n).zip(self.columns.chunks_exact_mut(q)) {
            for (out, row) in out.iter_mut().zip(row.chunks_exact(d)) {
                *out = row.iter().zip(x).map(|(p, x)| p * x).sum();
            }
        }
        let gram = |k: usize| -> f64 { (0..d).map(|i| x[i] * self.columns[(k * d + i) * q + k]).sum() };
        let step: f64 = 0.5 / (1.0 + (0..q).map(gram).sum::<f64>() + label as f64);
        // By columns, so that the inner loop below runs along memory.
        let mut f = vec![0.0; n * q];
        for (i, row) in self.columns.chunks_exact(q).enumerate() {
            for (r, y) in row.iter().enumerate() {
                f[r * n + i] = step.sqrt() * y;
            }
        }
        for (i, row) in self.inverse.chunks_exact_mut(n).enumerate() {
            for f in f.chunks_exact(n) {
                let scale = f[i];
                for (p, f) in row.iter_mut().zip(f) {
                    *p -= scale * f;
                }
            }
        }
    }
}

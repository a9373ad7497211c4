//! Softmax and the factor of its covariance.

/// Writes $\sigma(z)_k = e^{z_k} / \sum_j e^{z_j}$ to `p`. Any finite logits: the maximum is subtracted first.
pub fn softmax(z: &[f64], p: &mut [f64]) {
    let max = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for (p, z) in p.iter_mut().zip(z) {
        *p = (z - max).exp();
        total += *p;
    }
    for p in p.iter_mut() {
        *p /= total;
    }
}

/// Writes $S(p)\,z = \mathrm{diag}(p)\,z - p\,\langle p, z\rangle$ to `out`.
pub fn covariance_times(p: &[f64], z: &[f64], out: &mut [f64]) {
    let mean = super::vector::dot(p, z);
    for ((out, p), z) in out.iter_mut().zip(p).zip(z) {
        *out = p * (z - mean);
    }
}

/// Writes column `j` (of $K-1$) of the lower trapezoidal factor $C$ with $CC^\top = \mathrm{diag}(p) - pp^\top$ to
/// `column` (length $K$), given `tails` with $r_j = \sum_{l \ge j} p_l$ (spec 4.2).
///
/// Exact to rounding even for saturated `p`: the ratios are at most 1, nothing overflows, and every column sums to 0.
pub fn covariance_factor_column(p: &[f64], tails: &[f64], j: usize, column: &mut [f64]) {
    column.fill(0.0);
    let (r, next) = (tails[j], tails[j + 1]);
    if p[j] == 0.0 || r == 0.0 || next == 0.0 {
        return;
    }
    let c = (p[j] * (next / r)).sqrt();
    column[j] = c;
    for i in j + 1..p.len() {
        column[i] = -(p[i] / next) * c;
    }
}

/// Writes the tails $r_j = \sum_{l \ge j} p_l$, accumulated from the end so that nothing cancels.
pub fn tails(p: &[f64], tails: &mut [f64]) {
    let mut total = 0.0;
    for (tail, p) in tails.iter_mut().zip(p).rev() {
        total += p;
        *tail = total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn huge_logits_do_not_overflow() {
        let mut p = [0.0; 3];
        softmax(&[800.0, -800.0, 799.0], &mut p);
        assert!((p[0] - 0.731_058_578_630_004_9).abs() < 1e-15 && p[1] == 0.0, "{p:?}");
    }

    proptest! {
        #[test]
        fn factor_reproduces_the_covariance(z in prop::collection::vec(-60.0..60.0f64, 2..8)) {
            let k = z.len();
            let (mut p, mut r, mut column) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
            softmax(&z, &mut p);
            tails(&p, &mut r);
            let mut product = vec![0.0; k * k];
            for j in 0..k - 1 {
                covariance_factor_column(&p, &r, j, &mut column);
                prop_assert!(column.iter().sum::<f64>().abs() <= 1e-15);
                for a in 0..k {
                    for b in 0..k {
                        product[a * k + b] += column[a] * column[b];
                    }
                }
            }
            for a in 0..k {
                for b in 0..k {
                    let expected = if a == b { p[a] * (1.0 - p[a]) } else { -p[a] * p[b] };
                    prop_assert!((product[a * k + b] - expected).abs() <= 1e-15, "{} {expected}", product[a * k + b]);
                }
            }
        }
    }
}

//! The kernels over a grid of shapes: `cargo bench -p noregret-benches --bench kernels`.

use divan::{Bencher, black_box};
use noregret::example::Features;
use noregret::kernel::basis::LogitBasis;
use noregret::kernel::fixed_point::FixedPoint;
use noregret::kernel::lowrank_inverse::LowRankInverse;
use noregret_benches::rows;

fn main() {
    divan::main();
}

/// (blocks q, features d)
const SHAPES: [(usize, usize); 4] = [(1, 50), (3, 18), (6, 54), (8, 400)];

/// One round of the second-order engine, one row at a time: columns, Gram matrix, downdate.
#[divan::bench(args = SHAPES)]
fn second_order_round(bencher: Bencher<'_, '_>, (q, d): (usize, usize)) {
    let x = rows(64, d);
    let mut inverse = LowRankInverse::new(q, d, 1.0, q);
    let mut y = vec![0.0; q * q * d];
    let mut scratch = vec![0.0; inverse.scratch_len()];
    let mut gram = vec![0.0; q * q];
    let mix: Vec<f64> = (0..q * q).map(|i| f64::from(u8::from(i % (q + 1) == 0)) * 1e-3).collect();
    let mut at = 0;
    bencher.bench_local(|| {
        let row = Features::Dense(&x[at % 64 * d..][..d]);
        at += 1;
        inverse.columns(row, &mut y, &mut scratch);
        inverse.gram(row, &y, &mut gram);
        inverse.downdate(&y, &mix);
    });
}

/// The inner problem of the improper learners.
#[divan::bench(args = [2, 4, 7, 10, 26])]
fn fixed_point(bencher: Bencher<'_, '_>, classes: usize) {
    let solver = FixedPoint::reduced(LogitBasis::new(classes));
    let m = classes - 1;
    let a: Vec<f64> = (0..m * m).map(|i| if i % (m + 1) == 0 { 0.5 } else { 0.05 }).collect();
    let g: Vec<f64> = (0..m).map(|i| (i as f64).sin()).collect();
    let mut z = vec![0.0; m];
    let mut scratch = vec![0.0; solver.scratch_len()];
    bencher.bench_local(|| solver.solve(black_box(&a), black_box(&g), &mut z, &mut scratch).steps);
}

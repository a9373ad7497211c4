use super::*;
use crate::kernel::linalg::{cholesky, divide_by_transposed_lower, solve_lower, solve_lower_transposed};
use crate::kernel::vector::max_abs;
use crate::rng::{Rng, Uniforms};
use crate::state::Slot;
use crate::testing::Threads;
use proptest::prelude::*;

/// The inverse beside $A$ itself, with which it is compared.
struct Both {
    engine: LowRankInverse,
    a: Vec<f64>,
    blocks: usize,
    features: usize,
    rank: usize,
    regularization: f64,
}

impl Both {
    fn new(blocks: usize, features: usize, rank: usize, regularization: f64) -> Self {
        let n = blocks * features;
        let mut a = vec![0.0; n * n];
        a.iter_mut().step_by(n + 1).for_each(|a| *a = regularization);
        let engine = LowRankInverse::new(blocks, features, regularization, rank);
        Self { engine, a, blocks, features, rank, regularization }
    }

    fn side(&self) -> usize {
        self.blocks * self.features
    }

    /// $A^{-1} B$ for the columns of `b`, by Cholesky factorisation.
    fn solve(&self, b: &mut [f64]) {
        let (n, mut l) = (self.side(), self.a.clone());
        assert!(cholesky(&mut l, n));
        let cols = b.len() / n;
        solve_lower(&l, n, b, cols);
        solve_lower_transposed(&l, n, b, cols);
    }

    /// $A^{-1} (I \otimes x)$, $n \times q$ column-major, the plain way.
    fn expected(&self, x: &[f64]) -> Vec<f64> {
        let (n, q, d) = (self.side(), self.blocks, self.features);
        let mut columns = vec![0.0; n * q];
        for (k, column) in columns.chunks_exact_mut(n).enumerate() {
            column[k * d..][..d].copy_from_slice(x);
        }
        self.solve(&mut columns);
        columns
    }

    fn columns(&self, x: Features<'_>) -> Vec<f64> {
        let mut y = vec![f64::NAN; self.side() * self.blocks];
        self.engine.columns(x, &mut y, &mut vec![f64::NAN; self.engine.scratch_len()]);
        y
    }

    /// $A \leftarrow A + CC^\top \otimes xx^\top$ for `c` of $q \times$ `rank`, column-major, on both sides.
    fn learn(&mut self, x: &[f64], c: &[f64]) {
        let (n, q, d, rank) = (self.side(), self.blocks, self.features, self.rank);
        let y = self.columns(Features::Dense(x));
        let mut gram = vec![f64::NAN; q * q];
        self.engine.gram(Features::Dense(x), &y, &mut gram);
        // LLᵀ = I + CᵀNC, F = Y C L^{-T}.
        let (mut nc, mut system, mut mix) = (vec![0.0; q * rank], vec![0.0; rank * rank], c.to_vec());
        let c = columns(c, q, rank);
        product(columns_mut(&mut nc, q, rank), Store::Replace, 1.0, columns(&gram, q, q), c);
        let nc = columns(&nc, q, rank);
        product(columns_mut(&mut system, rank, rank), Store::Replace, 1.0, c.transpose(), nc);
        system.iter_mut().step_by(rank + 1).for_each(|entry| *entry += 1.0);
        assert!(cholesky(&mut system, rank));
        divide_by_transposed_lower(&mut mix, q, &system, rank);
        self.engine.downdate(&y, &mix);
        for i in 0..n {
            for j in 0..n {
                let s: f64 = (0..rank).map(|r| c[(i / d, r)] * c[(j / d, r)]).sum();
                self.a[i * n + j] += s * x[i % d] * x[j % d];
            }
        }
    }

    fn grow(&mut self, blocks: usize, features: usize, rank: usize) {
        self.engine.grow(blocks, features, self.regularization, rank);
        let old = (self.side(), self.features, std::mem::take(&mut self.a));
        let engine = std::mem::replace(&mut self.engine, LowRankInverse::new(1, 1, 1.0, 1));
        *self = Self { engine, ..Self::new(blocks, features, rank, self.regularization) };
        let (n, place) = (self.side(), |i: usize| i / old.1 * features + i % old.1);
        for i in 0..old.0 {
            for j in 0..old.0 {
                self.a[place(i) * n + place(j)] = old.2[i * old.0 + j];
            }
        }
    }

    /// The largest relative error of the inverse.
    fn error(&mut self) -> f64 {
        let n = self.side();
        let mut expected = vec![0.0; n * n];
        expected.iter_mut().step_by(n + 1).for_each(|entry| *entry = 1.0);
        self.solve(&mut expected);
        let mut worst = 0.0f64;
        for (i, column) in expected.chunks_exact(n).enumerate() {
            let (mut unit, mut got) = (vec![0.0; n], vec![f64::NAN; n]);
            unit[i] = 1.0;
            self.engine.apply(&unit, &mut got);
            worst = got.iter().zip(column).fold(worst, |worst, (a, b)| worst.max((a - b).abs()));
        }
        worst / max_abs(&expected)
    }
}

fn near(got: &[f64], want: &[f64], tolerance: f64) -> bool {
    let scale = max_abs(want);
    got.len() == want.len() && got.iter().zip(want).all(|(a, b)| (a - b).abs() <= tolerance * scale)
}

/// A row with some zeros, and its sparse form.
fn row(rng: &mut Rng, features: usize) -> (Vec<f64>, Vec<u32>, Vec<f64>) {
    let x: Vec<f64> = (0..features).map(|_| if rng.below(3) == 0 { 0.0 } else { rng.normal() }).collect();
    let indices: Vec<u32> = (0u32..).zip(&x).filter(|(_, x)| **x != 0.0).map(|(i, _)| i).collect();
    let values = indices.iter().map(|i| x[*i as usize]).collect();
    (x, indices, values)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Flushes, look-ahead of any length, skipped rows, sparse rows and growth: always equal to the plain
    /// inverse.
    #[test]
    fn columns_are_those_of_the_dense_inverse(
        blocks in 1..4usize,
        features in 1..20usize,
        rank in 1..4usize,
        magnitude in -3.0..2.0f64,
        rounds in 1..30usize,
        grow_at in 0..60usize,
        seed in any::<u64>(),
    ) {
        let mut both = Both::new(blocks, features, rank.min(blocks), 10f64.powf(magnitude));
        let mut rng = Rng::new(seed, 0);
        for t in 0..rounds {
            if t == grow_at {
                both.grow(blocks + 1, features + 2, blocks + 1);
            }
            let announced: Vec<_> = (0..1 + rng.below(12)).map(|_| row(&mut rng, both.features)).collect();
            let rows: Vec<Features<'_>> = announced
                .iter()
                .map(|(x, indices, values)| match rng.below(2) {
                    0 => Features::Dense(x),
                    _ => Features::Sparse { indices, values },
                })
                .collect();
            if rng.below(2) == 0 {
                both.engine.prepare(&rows.as_slice());
            }
            for (x, indices, values) in &announced {
                let expected = both.expected(x);
                let sparse = Features::Sparse { indices, values };
                for got in [both.columns(Features::Dense(x)), both.columns(sparse)] {
                    prop_assert!(near(&got, &expected, 1e-9), "round {t}: {got:?} for {expected:?}");
                    let (q, d) = (both.blocks, both.features);
                    let (mut gram, mut sparse_gram) = (vec![f64::NAN; q * q], vec![f64::NAN; q * q]);
                    both.engine.gram(Features::Dense(x), &got, &mut gram);
                    both.engine.gram(sparse, &got, &mut sparse_gram);
                    prop_assert!(near(&sparse_gram, &gram, 1e-12));
                    for k in 0..q * q {
                        let entry: f64 = (0..d).map(|i| x[i] * got[k % q * q * d + k / q * d + i]).sum();
                        prop_assert!((gram[k] - entry).abs() <= 1e-9 * (1.0 + entry.abs()));
                        prop_assert_eq!(gram[k], gram[k % q * q + k / q]);
                    }
                }
                // Two thirds of the rows are learnt, the others only predicted.
                if rng.below(3) > 0 {
                    let c: Vec<f64> = (0..both.blocks * both.rank).map(|_| 0.5 * rng.normal()).collect();
                    both.learn(x, &c);
                }
            }
            prop_assert!(both.error() < 1e-9);
        }
    }
}

#[test]
fn flushes_and_look_ahead_are_not_idle() {
    // Checks that the property above covers these cases.
    let mut both = Both::new(2, 16, 2, 1.0);
    assert_eq!(both.engine.lookahead(), 4);
    let mut rng = Rng::new(1, 0);
    let announced: Vec<_> = (0..4).map(|_| row(&mut rng, 16).0).collect();
    let rows: Vec<Features<'_>> = announced.iter().map(|x| Features::Dense(x)).collect();
    both.engine.prepare(&rows.as_slice());
    for (at, x) in announced.iter().enumerate() {
        assert_eq!(both.engine.ahead.find(Features::Dense(x), 16), Some(at));
        both.learn(x, &[0.5, 0.0, 0.1, 0.4]);
        assert_eq!(both.engine.used as usize, 2 * (at + 1));
    }
    both.learn(&announced[0], &[0.5, 0.0, 0.1, 0.4]);
    assert_eq!((both.engine.used, both.engine.ahead.rows.len()), (2, 0), "the fifth round flushes four");
    // A flush does not pay off for a short batch.
    both.engine.prepare(&&rows[..1]);
    assert_eq!(both.engine.used, 2);
}

#[test]
fn the_base_stays_symmetric_to_the_bit() {
    let mut both = Both::new(3, 7, 2, 0.1);
    let mut rng = Rng::new(2, 0);
    for _ in 0..50 {
        let x = row(&mut rng, 7).0;
        let c: Vec<f64> = (0..6).map(|_| rng.normal()).collect();
        both.learn(&x, &c);
    }
    let [Tensor { slot: Slot::Symmetric { side: 21, data }, .. }, ..] = both.engine.tensors() else {
        panic!("the base is saved by its lower triangle");
    };
    assert!((0..441).all(|at| data[at].to_bits() == data[at % 21 * 21 + at / 21].to_bits()));
}

/// A matrix without memory has the bits of one with memory, is saved as the same numbers, and stays without
/// memory where these are loaded.
#[test]
fn a_matrix_without_memory_is_the_same() {
    let bits = |list: &[f64]| list.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    let saved = |engine: &mut LowRankInverse| {
        let mut list = vec![];
        engine.tensors().into_iter().for_each(|tensor| tensor.pack(&mut list));
        list
    };
    for (q, d) in [(1, 9), (2, 9), (1, 65), (2, 65), (1, 160), (3, 60)] {
        let mut rng = Rng::new(5, 0);
        let mut whole = LowRankInverse::new(q, d, 0.3, q);
        let mut small = LowRankInverse::small_at_first(q, d, 0.3, q);
        let (n, delayed) = (whole.side(), whole.delayed());
        for t in 0..delayed + 3 {
            // The first flush makes the memory; that of the buffer comes with the rows.
            assert_eq!(small.base.multiple().is_some(), t <= delayed, "round {t}");
            assert!(small.buffer.len() <= 2 * t * q * n, "round {t}");
            let (x, indices, values) = row(&mut rng, d);
            let of = |engine: &LowRankInverse, row: Features<'_>| {
                let (mut y, mut image) = (vec![f64::NAN; n * q], vec![f64::NAN; n * q]);
                engine.columns(row, &mut y, &mut vec![f64::NAN; engine.scratch_len()]);
                engine.apply(&y, &mut image);
                let (mut form, mut first) = (vec![f64::NAN; q * q], vec![f64::NAN; n]);
                engine.forms(&x, &[], &mut form);
                engine.combination(row, &[(0, 1.0)], &mut first);
                [y, image, form, first]
            };
            for row in [Features::Sparse { indices: &indices, values: &values }, Features::Dense(&x)] {
                assert_eq!(of(&whole, row).map(|list| bits(&list)), of(&small, row).map(|list| bits(&list)));
            }
            let list = saved(&mut small);
            assert_eq!(bits(&list), bits(&saved(&mut whole)), "round {t}");
            let (mut loaded, mut rest) = (LowRankInverse::small_at_first(q, d, 0.3, q), list.iter().copied());
            loaded.tensors().into_iter().for_each(|tensor| tensor.unpack(&mut rest).expect("the same list"));
            assert_eq!((loaded.base.multiple(), rest.next()), (small.base.multiple(), None));
            assert!(loaded.restored());
            assert_eq!(bits(&saved(&mut loaded)), bits(&list), "round {t}");
            let [y, ..] = of(&whole, Features::Dense(&x));
            let mix: Vec<f64> = (0..q * q).map(|_| 0.01 * rng.normal()).collect();
            [&mut whole, &mut small].into_iter().for_each(|engine| engine.downdate(&y, &mix));
        }
        let mut whole = LowRankInverse::new(q, d + 1, 0.3, q);
        let mut small = LowRankInverse::small_at_first(q, d, 0.3, q);
        small.grow(q, d + 1, 0.3, q);
        assert!(small.base.multiple().is_some());
        let rows: Vec<Vec<f64>> = (0..delayed).map(|_| row(&mut rng, d + 1).0).collect();
        let rows: Vec<Features<'_>> = rows.iter().map(|row| Features::Dense(row)).collect();
        assert!(whole.prepare(&&rows[..]) && small.prepare(&&rows[..]));
        assert_eq!(whole.prepared(), small.prepared());
    }
}

fn drift(rounds: usize, regularization: f64) -> f64 {
    let mut both = Both::new(2, 4, 2, regularization);
    let mut rng = Rng::new(3, 0);
    for _ in 0..rounds {
        let x: Vec<f64> = (0..4).map(|_| 2.0 * rng.uniform() - 1.0).collect();
        let c: Vec<f64> = (0..4).map(|_| 0.3 * rng.normal()).collect();
        both.learn(&x, &c);
    }
    both.error()
}

#[test]
fn the_inverse_does_not_drift() {
    let (theory, tiny) = (drift(6000, 1.0), drift(6000, 1e-8));
    assert!(theory < 1e-12, "{theory}");
    assert!(tiny < 1e-8, "{tiny}");
}

#[test]
#[ignore = "slow: 300 000 rounds"]
fn the_inverse_does_not_drift_in_300_000_rounds() {
    let (theory, tiny) = (drift(300_000, 1.0), drift(300_000, 1e-8));
    assert!(theory < 1e-8 && tiny < 1e-8, "{theory} {tiny}");
}

/// Large enough for products to be divided: columns of one block, rows of the other.
#[test]
fn threads_change_nothing() {
    let (q, d) = (8, 130);
    let mut rng = Rng::new(4, 0);
    let rows: Vec<Vec<f64>> = (0..24).map(|_| (0..d).map(|_| rng.normal()).collect()).collect();
    let announced: Vec<Features<'_>> = rows.iter().map(|x| Features::Dense(x)).collect();
    let run = |threads: usize| {
        let mut engine = LowRankInverse::new(q, d, 1.0, q);
        engine.set_workers(Workers::new(Threads(threads)));
        let (mut y, mut scratch) = (vec![f64::NAN; q * q * d], vec![f64::NAN; engine.scratch_len()]);
        let mix: Vec<f64> = (0..q * q).map(|at| 0.01 * f64::from(u8::from(at % (q + 1) == 0))).collect();
        for _ in 0..2 {
            engine.prepare(&announced.as_slice());
            for x in &announced {
                engine.columns(*x, &mut y, &mut scratch);
                engine.downdate(&y, &mix);
            }
        }
        engine.matrix().to_vec()
    };
    let one = run(1);
    assert!((1.0 - one[0]).abs() > 1e-3, "nothing was learnt");
    for threads in [2, 3] {
        assert_eq!(run(threads), one, "{threads} threads");
    }
}

use super::*;
use crate::rng::{Rng, Uniforms};
use crate::testing::Threads;
use proptest::prelude::*;

/// By-products of a row, and the prepared row they were computed from.
type Seen = (Vec<f64>, Option<PreparedRow>);

/// A state with look-ahead, and one without.
struct Both {
    ahead: SecondOrder,
    plain: SecondOrder,
    q: usize,
}

impl Both {
    fn new(q: usize, d: usize) -> Self {
        Self { ahead: SecondOrder::new(q, d, 0.1), plain: SecondOrder::new(q, d, 0.1), q }
    }

    /// $N$ and $h$ of both, which must be equal.
    fn project(&self, x: &[f64]) -> [Seen; 2] {
        let scratches = [&self.ahead, &self.plain].map(|state| {
            let mut scratch = vec![f64::NAN; state.scratch_len()];
            let prepared = state.project(Features::Dense(x), &mut scratch).prepared;
            (scratch, prepared)
        });
        let kept = self.q * self.q + self.q;
        let [ahead, plain] = [0, 1].map(|of: usize| &scratches[of].0[..kept]);
        let scale = 1.0 + plain.iter().fold(0.0, |max: f64, entry| max.max(entry.abs()));
        for (ahead, plain) in ahead.iter().zip(plain) {
            assert!((ahead - plain).abs() <= 1e-9 * scale, "{ahead} and {plain}");
        }
        scratches
    }

    fn absorb(&mut self, x: &[f64], seen: &[Seen; 2], rng: &mut Rng) {
        let (q, x) = (self.q, Features::Dense(x));
        let trace: f64 = self.plain.gram(&seen[1].0).iter().step_by(q + 1).sum();
        // MMᵀ ⪯ (N + I/2)^{-1} leaves A^{-1} positive definite.
        let scale = (0.5 / (0.5 + trace)).sqrt() / q as f64;
        let mix: Vec<f64> = (0..q * q).map(|_| scale * (2.0 * rng.uniform() - 1.0)).collect();
        let coefficients: Vec<f64> = (0..q).map(|_| rng.normal()).collect();
        for (state, (scratch, prepared)) in [(&mut self.ahead, &seen[0]), (&mut self.plain, &seen[1])] {
            assert!(state.can_reuse(*prepared));
            state.absorb(x, scratch, *prepared, RoundUpdate { coefficients: &coefficients, mix: &mix });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Rows are learnt, only predicted, skipped, repeated, or not announced; the state is saved, grown and
    /// read in the middle of a block.
    #[test]
    fn looking_ahead_changes_nothing(q in 1..4usize, d in 1..40usize, blocks in 1..6usize, seed in any::<u64>()) {
        let (mut both, mut rng) = (Both::new(q, d), Rng::new(seed, 0));
        let mut d = d;
        for _ in 0..blocks {
            let len = 1 + rng.below(14) as usize;
            let rows: Vec<Vec<f64>> = (0..len).map(|_| (0..d).map(|_| rng.normal()).collect()).collect();
            let announced: Vec<Features<'_>> = rows.iter().map(|x| Features::Dense(x)).collect();
            both.ahead.prepare(&announced.as_slice());
            for x in &rows {
                let scratches = both.project(x);
                match rng.below(12) {
                    0 => {}
                    1 => {
                        both.ahead.tensors("b");
                        let again = both.project(x);
                        both.absorb(x, &again, &mut rng);
                    }
                    2 => {
                        let other: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
                        let other_scratches = both.project(&other);
                        if rng.below(2) == 0 {
                            both.absorb(&other, &other_scratches, &mut rng);
                        }
                    }
                    3 => {
                        both.absorb(x, &scratches, &mut rng);
                        let again = both.project(x);
                        both.absorb(x, &again, &mut rng);
                    }
                    _ => both.absorb(x, &scratches, &mut rng),
                }
                let (ahead, plain) = (both.ahead.square(), both.plain.square());
                prop_assert!((ahead - plain).abs() <= 1e-9 * (1.0 + plain), "{ahead} and {plain}");
            }
            let precisions = [&both.ahead, &both.plain].map(|state| state.precision().expect("definite"));
            let scale = precisions[1].iter().fold(0.0, |max: f64, entry| max.max(entry.abs()));
            for (ahead, plain) in precisions[0].iter().zip(&precisions[1]) {
                prop_assert!((ahead - plain).abs() <= 1e-8 * scale);
            }
            if rng.below(3) == 0 {
                d += 1;
                both.ahead.grow(q, d, 0.1);
                both.plain.grow(q, d, 0.1);
            }
        }
    }
}

/// Rows together have the numbers of each alone: with updates that are delayed, and in the middle of a block,
/// with fewer and with more columns than are multiplied at a time, in one panel and in several.
#[test]
fn rows_together_are_as_alone() {
    for (q, d, threads) in
        [(1, 1, 1), (1, 40, 1), (1, 150, 1), (1, 1030, 2), (3, 40, 1), (2, 70, 1), (4, 130, 1)]
    {
        let (mut both, mut rng) = (Both::new(q, d), Rng::new(4, 0));
        both.ahead.set_workers(Workers::new(Threads(threads)));
        // Two blocks, after which the inverse is no longer diagonal, and a part of a third.
        let len = both.ahead.lookahead();
        for learnt in [len, len, len / 2] {
            let rows: Vec<Vec<f64>> = (0..len).map(|_| (0..d).map(|_| rng.normal()).collect()).collect();
            let announced: Vec<Features<'_>> = rows.iter().map(|x| Features::Dense(x)).collect();
            both.ahead.prepare(&announced.as_slice());
            for x in &rows[..learnt] {
                let seen = both.project(x);
                both.absorb(x, &seen, &mut rng);
            }
        }
        let others: Vec<f64> = (0..130 * d).map(|_| rng.normal()).collect();
        let mut out = vec![f64::NAN; 130 * both.ahead.foreseen_len()];
        for (state, count) in [(&both.ahead, 130), (&both.plain, 130), (&both.ahead, 1), (&both.plain, 1)] {
            let others = &others[..count * d];
            let row = |at: usize, row: &mut [f64]| row.copy_from_slice(&others[at * d..][..d]);
            state.project_many(row, &mut out[..count * state.foreseen_len()]);
            for (x, out) in others.chunks_exact(d).zip(out.chunks_exact(state.foreseen_len())) {
                let mut scratch = vec![f64::NAN; state.scratch_len()];
                let Projection { gram, image, .. } = state.project(Features::Dense(x), &mut scratch);
                let alone: Vec<f64> = gram.iter().chain(&*image).copied().collect();
                let scale = 1.0 + alone.iter().fold(0.0, |max: f64, entry| max.max(entry.abs()));
                for (together, alone) in out.iter().zip(&alone) {
                    assert!(
                        (together - alone).abs() <= 1e-11 * scale,
                        "q = {q}, d = {d}: {together}, {alone}"
                    );
                }
                let entry = |j: usize, k: usize| out[j * q + k].to_bits();
                assert!((0..q * q).all(|at| entry(at / q, at % q) == entry(at % q, at / q)), "symmetric");
            }
        }
    }
}

/// Checks that the property above covers prepared rows.
#[test]
fn prepared_rows_are_learnt_in_the_block() {
    let (mut both, mut rng) = (Both::new(2, 16), Rng::new(1, 0));
    let rows: Vec<Vec<f64>> = (0..4).map(|_| (0..16).map(|_| rng.normal()).collect()).collect();
    let announced: Vec<Features<'_>> = rows.iter().map(|x| Features::Dense(x)).collect();
    both.ahead.prepare(&announced.as_slice());
    for (at, x) in rows.iter().enumerate() {
        let scratches = both.project(x);
        assert_eq!(scratches[0].1, Some(PreparedRow { block: 1, at }));
        both.absorb(x, &scratches, &mut rng);
    }
    assert!(both.ahead.block.is_live());
    // A row that was not announced, or by-products from before other rows were prepared.
    let scratches = both.project(&rows[0]);
    assert_eq!(scratches[0].1, None);
    both.ahead.prepare(&announced.as_slice());
    let scratches = both.project(&rows[0]);
    both.ahead.prepare(&announced.as_slice());
    assert!(!both.ahead.can_reuse(scratches[0].1));
}

/// Including everything that flushes and look-ahead need: for large $n$, at most a quarter more than $n^2$
/// numbers.
#[test]
fn large_inverses_take_a_quarter_more_than_themselves() {
    for (q, d) in [(1, 9000), (2, 4500), (9, 1000), (25, 360)] {
        assert!(
            SecondOrder::most_numbers(q, d) as f64 <= 1.25 * ((q * d) as f64).powi(2),
            "q = {q}, d = {d}"
        );
    }
}

/// What is forgotten again and again ends as 0, and not as subnormal numbers, with which a round takes many
/// times as long.
#[test]
fn forgetting_leaves_no_subnormal_numbers() {
    let mut state = SecondOrder::new(1, 3, 1.0);
    let mut scratch = vec![0.0; state.scratch_len()];
    for t in 0..8000 {
        // The first two features occur only once.
        let x = Features::Dense(if t == 0 { &[1.0, 0.5, 0.0] } else { &[0.0, 0.0, 1.0] });
        let prepared = state.project(x, &mut scratch).prepared;
        state.absorb(x, &scratch, prepared, RoundUpdate { coefficients: &[1.0], mix: &[0.5] });
        // Products with more than one half never round to 0.
        state.discount(0.9, 1.0);
    }
    let precision = state.precision().expect("definite");
    assert_eq!((precision[1], state.vector()[0], state.vector()[1]), (0.0, 0.0, 0.0));
    assert!(precision.iter().chain(&*state.vector()).all(|number| *number == 0.0 || number.is_normal()));
}

/// $A \leftarrow \delta A + (1 - \delta) \lambda I + w\ xx^\top$, by inversions and updates of $A^{-1}$,
/// stays what it is by itself.
#[test]
fn forgetting_does_not_drift() {
    const D: usize = 5;
    let (keep, ratio, weight) = (0.8, 1e-3, 0.25);
    let (mut state, mut rng) = (SecondOrder::new(1, D, ratio), Rng::new(5, 0));
    let (mut scratch, mut want) = (vec![0.0; state.scratch_len()], vec![0.0; D * D]);
    want.iter_mut().step_by(D + 1).for_each(|entry| *entry = ratio);
    for round in 1..=20_000 {
        let x: Vec<f64> = (0..D).map(|_| rng.normal()).collect();
        let gram = state.project(Features::Dense(&x), &mut scratch).gram[0];
        let mix = [(weight / (1.0 + weight * gram)).sqrt()];
        state.absorb(Features::Dense(&x), &scratch, None, RoundUpdate { coefficients: &[0.0], mix: &mix });
        for (at, entry) in want.iter_mut().enumerate() {
            *entry += weight * x[at / D] * x[at % D];
        }
        if round % 4 == 0 {
            state.discount(keep, ratio);
            for (at, entry) in want.iter_mut().enumerate() {
                *entry = keep * *entry + if at % (D + 1) == 0 { (1.0 - keep) * ratio } else { 0.0 };
            }
        }
    }
    let found = state.precision().expect("definite");
    let scale = want.iter().fold(0.0, |max: f64, entry| max.max(entry.abs()));
    let worst = found.iter().zip(&want).fold(0.0, |max: f64, (a, b)| max.max((a - b).abs() / scale));
    assert!(worst < 1e-12, "{worst}");
}

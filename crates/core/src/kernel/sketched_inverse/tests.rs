use super::*;
use crate::state::Listed as _;
use crate::testing::{assert_close, quadratic, unit_rows};
use proptest::prelude::*;

/// A row for the sketch: $r$, $w$, $x$, and what is added to $G$.
struct Row {
    blocks: Vec<f64>,
    weight: f64,
    x: Vec<f64>,
    added: Vec<f64>,
}

/// A sketch that has learnt `rows`.
fn learnt(rank: usize, vectors: usize, regularization: f64, rows: &[Row]) -> SketchedInverse {
    let (blocks, features) = (rows[0].blocks.len(), rows[0].x.len());
    let mut sketch = SketchedInverse::new(rank, blocks, vectors, features, regularization);
    learn(&mut sketch, rows, false);
    sketch
}

fn learn(sketch: &mut SketchedInverse, rows: &[Row], sparse: bool) {
    let mut seen = vec![0.0; sketch.width()];
    for row in rows {
        let indices: Vec<u32> = (0u32..).zip(&row.x).filter(|(_, x)| **x != 0.0).map(|(i, _)| i).collect();
        let values: Vec<f64> = row.x.iter().copied().filter(|x| *x != 0.0).collect();
        let few = Features::Sparse { indices: &indices, values: &values };
        let x = if sparse { few } else { Features::Dense(&row.x) };
        sketch.project(x, &mut seen);
        sketch.add(&row.added, x, &mut seen);
        sketch.append(&row.blocks, row.weight, x, &mut seen);
        sketch.shrink();
    }
}

/// `row` of $S$ in all $n$ coordinates, block by block.
fn row_of(sketch: &SketchedInverse, row: usize, features: usize) -> Vec<f64> {
    let entry = |block: usize, i: usize| sketch.cells.get(i).map_or(0.0, |c| c[block * sketch.rows() + row]);
    (0..sketch.blocks).flat_map(|block| (0..features).map(move |i| entry(block, i))).collect()
}

fn add_outer(matrix: &mut [f64], scale: f64, v: &[f64]) {
    for (row, a) in matrix.chunks_exact_mut(v.len()).zip(v) {
        axpy(scale * a, v, row);
    }
}

/// $S^\top S$.
fn kept(sketch: &SketchedInverse, features: usize) -> Vec<f64> {
    let n = sketch.blocks * features;
    let mut matrix = vec![0.0; n * n];
    (0..sketch.used()).for_each(|row| add_outer(&mut matrix, 1.0, &row_of(sketch, row, features)));
    matrix
}

/// $r \otimes x$.
fn outer(blocks: &[f64], x: &[f64]) -> Vec<f64> {
    blocks.iter().flat_map(|r| x.iter().map(move |x| r * x)).collect()
}

fn eigenvalues(matrix: &[f64]) -> Vec<f64> {
    let n = matrix.len().isqrt();
    let (mut a, mut vectors) = (matrix.to_vec(), vec![0.0; n * n]);
    jacobi(&mut a, n, &mut vectors);
    a.iter().step_by(n + 1).copied().collect()
}

/// The recursion on the matrix itself: rows are added, and after every 2m-th the m+1-st largest eigenvalue is
/// subtracted from all, as long as they are positive. Returns the matrix and the sum of what was subtracted.
fn plain(rank: usize, rows: &[Row]) -> (Vec<f64>, f64) {
    let n = rows[0].blocks.len() * rows[0].x.len();
    let (mut matrix, mut used, mut discarded) = (vec![0.0; n * n], 0, 0.0);
    for row in rows {
        add_outer(&mut matrix, row.weight, &outer(&row.blocks, &row.x));
        used += usize::from(row.x.iter().any(|x| *x != 0.0));
        if used < 2 * rank {
            continue;
        }
        let (mut a, mut vectors) = (matrix.clone(), vec![0.0; n * n]);
        jacobi(&mut a, n, &mut vectors);
        let values: Vec<f64> = a.iter().step_by(n + 1).copied().collect();
        let mut sorted = values.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let delta = sorted.get(rank).map_or(0.0, |value| value.max(0.0));
        discarded += delta;
        matrix.fill(0.0);
        used = 0;
        for (value, v) in values.iter().zip(vectors.chunks_exact(n)) {
            if value - delta > 1e-13 {
                add_outer(&mut matrix, value - delta, v);
                used += 1;
            }
        }
    }
    (matrix, discarded)
}

fn rows(blocks: usize, features: usize, vectors: usize) -> impl Strategy<Value = Vec<Row>> {
    let entry = prop_oneof![1 => Just(0.0), 2 => -1.0..1.0f64];
    let row = (
        prop::collection::vec(-1.0..1.0f64, blocks),
        0.1..2.0f64,
        prop::collection::vec(entry, features),
        prop::collection::vec(-1.0..1.0f64, vectors * blocks),
    );
    let row = row.prop_map(|(blocks, weight, x, added)| Row { blocks, weight, x, added });
    prop::collection::vec(row, 1..40)
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {:?} {:?}", self.weight, self.blocks, self.x, self.added)
    }
}

proptest! {
    /// Between the exact matrix less all that was discarded, and the exact matrix.
    #[test]
    fn is_below_the_sum_of_the_rows_by_what_was_discarded(rows in rows(2, 4, 1), rank in 1usize..5) {
        let sketch = learnt(rank, 1, 0.5, &rows);
        let mut missing = kept(&sketch, 4);
        missing.iter_mut().for_each(|entry| *entry = -*entry);
        for row in &rows {
            add_outer(&mut missing, row.weight, &outer(&row.blocks, &row.x));
        }
        for value in eigenvalues(&missing) {
            prop_assert!(value > -1e-10 && value < sketch.discarded() + 1e-10, "{value}, {}", sketch.discarded());
        }
        prop_assert!(sketch.used() < 2 * rank);
    }

    /// Products with the inverse are those of the plain recursion on the matrix.
    #[test]
    fn agrees_with_the_dense_recursion(rows in rows(2, 4, 2), rank in 1usize..10, sparse: bool) {
        let (blocks, features, lambda) = (2, 4, 0.5);
        let n = blocks * features;
        let mut sketch = SketchedInverse::new(rank, blocks, 2, features, lambda);
        learn(&mut sketch, &rows, sparse);
        let (mut matrix, discarded) = plain(rank, &rows);
        prop_assert!((sketch.discarded() - discarded).abs() < 1e-9);
        matrix.iter_mut().step_by(n + 1).for_each(|entry| *entry += lambda);
        let form = |a: &[f64], b: &[f64]| {
            let sum = |s: f64| a.iter().zip(b).map(|(a, b)| a + s * b).collect::<Vec<f64>>();
            0.25 * (quadratic(&matrix, &sum(1.0)) - quadratic(&matrix, &sum(-1.0)))
        };
        let mut vectors = vec![vec![0.0; n]; 2];
        for row in &rows {
            for (vector, added) in vectors.iter_mut().zip(row.added.chunks_exact(blocks)) {
                axpy(1.0, &outer(added, &row.x), vector);
            }
        }
        let mut seen = vec![0.0; sketch.width()];
        for x in unit_rows(3, 3, features) {
            sketch.project(Features::Dense(&x), &mut seen);
            for block in 0..blocks {
                let unit: Vec<f64> = (0..blocks).map(|b| f64::from(b == block)).collect();
                let v = outer(&unit, &x);
                let image = sketch.image(&seen, block);
                let mut solved = image.to_vec();
                sketch.solve(&mut solved);
                prop_assert!((sketch.quadratic(1.0, image, &solved) - form(&v, &v)).abs() < 1e-9);
                for (at, vector) in vectors.iter().enumerate() {
                    let got = sketch.applied(sketch.value(&seen, at, block), sketch.product(at), &solved);
                    prop_assert!((got - form(vector, &v)).abs() < 1e-9, "{got} instead of {}", form(vector, &v));
                }
            }
        }
        let square: f64 = vectors.iter().map(|v| form(v, v)).sum();
        prop_assert!((sketch.square() - square).abs() < 1e-9 * (1.0 + square));
    }

    /// With as many rows as directions nothing is discarded, and the inverse is the exact one.
    #[test]
    fn is_exact_for_few_directions(rows in rows(1, 3, 1), extra in 0usize..3) {
        let sketch = learnt(3 + extra, 1, 0.5, &rows);
        prop_assert!(sketch.discarded() < 1e-12);
        let mut exact = vec![0.0; 9];
        exact.iter_mut().step_by(4).for_each(|entry| *entry = 0.5);
        for row in &rows {
            add_outer(&mut exact, row.weight, &outer(&row.blocks, &row.x));
        }
        let mut seen = vec![0.0; sketch.width()];
        for x in unit_rows(4, 3, 3) {
            sketch.project(Features::Dense(&x), &mut seen);
            let image = sketch.image(&seen, 0);
            let mut solved = image.to_vec();
            sketch.solve(&mut solved);
            prop_assert!((sketch.quadratic(1.0, image, &solved) - quadratic(&exact, &x)).abs() < 1e-11);
        }
    }
}

fn some_rows(seed: u64, count: usize, features: usize) -> Vec<Row> {
    let rows = unit_rows(seed, count, features).into_iter().enumerate();
    rows.map(|(t, x)| Row {
        blocks: vec![1.0],
        weight: 1.0,
        x,
        added: vec![if t % 2 == 0 { 1.0 } else { -0.3 }],
    })
    .collect()
}

/// Three rows e_1, e_2 and 2 e_1 with m = 2 and λ = 1, then e_3: SᵀS = diag(5, 1, 1) has 2m = 4 rows, the
/// third eigenvalue 1 is subtracted, and diag(4, 0, 0) is left, one row. With x = (1, 1, 0), xᵀA⁻¹x = 1/5 +
/// 1.
#[test]
fn shrinks_as_worked_by_hand() {
    let row = |x: [f64; 3]| Row { blocks: vec![1.0], weight: 1.0, x: x.to_vec(), added: vec![0.0] };
    let rows = [row([1.0, 0.0, 0.0]), row([0.0, 1.0, 0.0]), row([2.0, 0.0, 0.0]), row([0.0, 0.0, 1.0])];
    let sketch = learnt(2, 1, 1.0, &rows);
    assert_eq!(sketch.used(), 1);
    assert_close(sketch.discarded(), 1.0, 1e-15, "δ");
    let mut seen = vec![0.0; sketch.width()];
    sketch.project(Features::Dense(&[1.0, 1.0, 0.0]), &mut seen);
    let image = sketch.image(&seen, 0);
    let mut solved = image.to_vec();
    sketch.solve(&mut solved);
    assert_close(sketch.quadratic(2.0, image, &solved), 1.2, 1e-15, "quadratic");
}

/// Rows up to two hundred orders of magnitude apart, also parallel ones. The directions of ordinary rows are
/// kept beside a huge one, and nothing is made up of rounding errors.
#[test]
fn huge_and_tiny_rows_are_survived() {
    for factor in [1e3, 1e100, 1e-8, 1e-200] {
        for parallel in [false, true] {
            let mut rows = some_rows(8, 100, 4);
            let first = rows[1].x.clone();
            for row in rows.iter_mut().skip(1).step_by(4) {
                let x = if parallel { &first } else { &row.x };
                row.x = x.iter().map(|x| factor * x).collect();
            }
            let sketch = learnt(3, 1, 0.5, &rows);
            let largest = rows.iter().flat_map(|row| &row.x).fold(0.0, |most: f64, x| most.max(x.abs()));
            let mut seen = vec![0.0; sketch.width()];
            for row in rows.iter().take(8) {
                sketch.project(Features::Dense(&row.x), &mut seen);
                let image = sketch.image(&seen, 0);
                let mut solved = image.to_vec();
                sketch.solve(&mut solved);
                let square = dot(&row.x, &row.x);
                let q = sketch.quadratic(square, image, &solved);
                assert!(q.is_finite() && q >= 0.0 && q <= square / 0.5, "{factor}: {q}");
                let h = sketch.applied(sketch.value(&seen, 0, 0), sketch.product(0), &solved);
                assert!(h.is_finite(), "{factor}: {h}");
            }
            assert!(sketch.square().is_finite());
            if parallel && factor == 1e100 {
                // One huge direction: the other rows of the sketch are as long as ordinary rows.
                let mut lengths: Vec<f64> =
                    (0..sketch.used()).map(|row| sketch.gram[row * sketch.rows() + row]).collect();
                lengths.sort_by(f64::total_cmp);
                let ordinary = lengths.iter().filter(|length| **length < 1e3).count();
                assert!(lengths.len() > 1 && ordinary + 1 == lengths.len(), "{lengths:?}, {largest}");
            }
        }
    }
}

#[test]
fn a_restored_sketch_continues_bit_for_bit() {
    let rows = some_rows(6, 40, 5);
    let mut whole = learnt(3, 1, 0.5, &rows);
    for at in [1, 5, 6, 17] {
        let mut first = learnt(3, 1, 0.5, &rows[..at]);
        let mut loaded = SketchedInverse::new(3, 1, 1, 5, 0.5);
        let mut list = Vec::new();
        first.tensors().into_iter().for_each(|tensor| tensor.pack(&mut list));
        let mut rest = list.iter().copied();
        loaded.tensors().into_iter().for_each(|tensor| tensor.unpack(&mut rest).expect("the same list"));
        assert!(loaded.restored() && rest.len() == 0);
        learn(&mut loaded, &rows[at..], false);
        assert_eq!((&loaded.gram, &loaded.factor), (&whole.gram, &whole.factor));
        assert_eq!(loaded.cells.list(), whole.cells.list());
    }
    whole.tensors();
    whole.used = 6;
    assert!(!whole.restored(), "the sketch would be full");
}

#[test]
fn blocks_vectors_and_features_that_appear_were_always_there() {
    let wide = |row: &Row, blocks: usize, vectors: usize, features: usize| {
        let resized = |list: &[f64], len: usize| {
            let mut list = list.to_vec();
            list.resize(len, 0.0);
            list
        };
        let old = row.blocks.len();
        let mut added: Vec<f64> = row.added.chunks_exact(old).flat_map(|c| resized(c, blocks)).collect();
        added.resize(vectors * blocks, 0.0);
        Row { blocks: resized(&row.blocks, blocks), weight: row.weight, x: resized(&row.x, features), added }
    };
    for (blocks, vectors) in [(1, 3), (3, 1)] {
        let rows = some_rows(9, 30, 4);
        let mut grown = learnt(2, 1, 0.5, &rows[..17]);
        grown.grow(blocks, vectors, 6);
        let rows: Vec<Row> = rows.iter().map(|row| wide(row, blocks, vectors, 6)).collect();
        learn(&mut grown, &rows[17..], false);
        let always = learnt(2, vectors, 0.5, &rows);
        for (a, b) in grown.gram.iter().chain(&grown.products).zip(always.gram.iter().chain(&always.products))
        {
            assert_close(*a, *b, 1e-12, "products");
        }
        assert_close(grown.square(), always.square(), 1e-12, "square");
    }
}

/// $W^\top AW + G^\top W$ in all coordinates.
fn value_at(sketch: &SketchedInverse, w: &[f64]) -> f64 {
    let square: f64 = (0..sketch.used()).map(|row| dot(&row_of(sketch, row, w.len()), w).powi(2)).sum();
    let linear: f64 =
        w.iter().enumerate().map(|(i, w)| sketch.cells.get(i).map_or(0.0, |c| w * c[sketch.rows()])).sum();
    sketch.regularization() * dot(w, w) + square + linear
}

/// m = 1, λ = 1, G = (-10, 0) with the row (2, 0), and G = (0, -4) with the row (0, 1): A = diag(5, 2), with
/// the minimiser (1, 1) and the minimum -5 - 2. With δ = 1 the row (√3, 0) is left, A = diag(4, 1) and C =
/// (1, 1), so that G = (-10 + 2, -4 + 2), the constants are 2, and the minimum is -4 - 1 - 2.
#[test]
fn merged_by_hand() {
    let row =
        |x: [f64; 2], added: f64| Row { blocks: vec![1.0], weight: 1.0, x: x.to_vec(), added: vec![added] };
    let parts = [learnt(1, 1, 1.0, &[row([2.0, 0.0], -5.0)]), learnt(1, 1, 1.0, &[row([0.0, 1.0], -4.0)])];
    let (merged, constants) = SketchedInverse::merged(&[&parts[0], &parts[1]], |one, _| one);
    assert_close(constants, 2.0, 1e-14, "constants");
    assert_eq!((merged.used(), merged.discarded()), (1, 1.0));
    let vector: Vec<f64> = (0..2).map(|i| merged.cells.get(i).expect("seen")[2]).collect();
    assert_close(vector[0], -8.0, 1e-14, "G");
    assert_close(vector[1], -2.0, 1e-14, "G");
    assert_close(0.25 * merged.square() + constants, 7.0, 1e-14, "minimum");
    assert_close(value_at(&merged, &[1.0, 1.0]) - constants, -7.0, 1e-14, "at the minimiser");
}

/// The merged quadratic, with its constants, is at most the sum, and its minimum at least the sum of the
/// minima; that of two parts has the minimum of the sum, and with enough rows it is the sum.
#[test]
fn merged_quadratics_are_below_the_sum() {
    let features = 6;
    for (rank, exact, count) in [
        (1, false, 2),
        (2, false, 2),
        (4, false, 2),
        (6, true, 2),
        (1, false, 3),
        (3, false, 3),
        (6, true, 3),
    ] {
        let parts: Vec<SketchedInverse> = (0..count)
            .map(|part| {
                let rows: Vec<Row> = unit_rows(part, 9, features)
                    .into_iter()
                    .map(|x| Row { blocks: vec![1.0], weight: 2.0, added: vec![x[0] - 0.3], x })
                    .collect();
                learnt(rank, 1, 0.5, &rows)
            })
            .collect();
        let (merged, constants) =
            SketchedInverse::merged(&parts.iter().collect::<Vec<_>>(), |one, parts| parts as f64 * one);
        assert_eq!(merged.regularization(), 0.5 * count as f64);
        let sum = |w: &[f64]| parts.iter().map(|part| value_at(part, w)).sum::<f64>();
        let mine = |w: &[f64]| value_at(&merged, w) - constants;
        let before: f64 = parts.iter().map(SketchedInverse::discarded).sum();
        assert_eq!(merged.discarded() - before > 1e-3, !exact, "rank {rank}");
        for w in unit_rows(7, 50, features) {
            let w: Vec<f64> = w.iter().map(|w| 3.0 * w).collect();
            let (mine, sum) = (mine(&w), sum(&w));
            assert!(mine <= sum + 1e-10, "rank {rank}: {mine} > {sum}");
            if exact {
                assert_close(mine, sum, 1e-10, "the sum");
            }
        }
        // The minimiser -A^{-1}G/2, by A^{-1} of the merged sketch.
        let mut solved = merged.product(0).to_vec();
        merged.solve(&mut solved);
        let minimiser: Vec<f64> = (0..features)
            .map(|i| {
                let cell = merged.cells.get(i).expect("seen");
                -0.5 * (cell[merged.rows()] - dot(&cell[..merged.used()], &solved)) / merged.regularization()
            })
            .collect();
        if count == 2 {
            assert_close(mine(&minimiser), sum(&minimiser), 1e-9, "minimum");
        }
        let minimum = -0.25 * merged.square() - constants;
        assert_close(mine(&minimiser), minimum, 1e-9, "minimum");
        let minima: f64 = parts.iter().map(|part| -0.25 * part.square()).sum();
        assert!(minimum >= minima, "rank {rank}: {minimum} < {minima}");
    }
}

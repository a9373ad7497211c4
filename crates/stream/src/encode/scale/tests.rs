use super::*;

#[test]
fn standard_equals_two_passes() {
    let rows = [[1e9, 2.0, 0.0], [1e9 + 2.0, 0.0, 0.0], [1e9 + 1.0, -1.0, 0.0]];
    let mut scaler = Scaler::new(Scaling::Standard);
    for row in &rows {
        let seen: Vec<(u32, f64)> = (0u32..).zip(*row).filter(|(_, value)| *value != 0.0).collect();
        let (indices, values): (Vec<u32>, Vec<f64>) = seen.into_iter().unzip();
        scaler.observe(&indices, &values);
    }
    let mut last = rows[2].to_vec();
    scaler.scale_dense(&mut last);
    let deviation = |column: usize| {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / 3.0;
        let variance = rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / 3.0;
        (rows[2][column] - mean) / variance.sqrt()
    };
    assert!((last[0] - deviation(0)).abs() < 1e-6 && (last[1] - deviation(1)).abs() < 1e-12, "{last:?}");
    assert_eq!(last[2], 0.0, "a constant column says nothing");
}

/// A column of 0 and 1, rare or not, is not scaled until it has another value; then it stays within the clip.
#[test]
fn indicators_stay_as_they_are() {
    let mut scaler = Scaler::new(Scaling::Standard);
    for t in 0..1000_u32 {
        let row = [f64::from(t % 100 == 0), f64::from(t % 3 > 0), f64::from(t % 3)];
        let seen: Vec<(u32, f64)> = (0u32..).zip(row).filter(|(_, value)| *value != 0.0).collect();
        let (indices, values): (Vec<u32>, Vec<f64>) = seen.into_iter().unzip();
        let mut scaled = row;
        scaler.observe_and_scale(&indices, &values, &mut scaled);
        // Only after both have occurred: a constant column becomes 0.
        if t > 3 {
            assert_eq!(scaled[..2], row[..2], "{t}");
            assert_ne!(scaled[2], row[2], "{t}");
        }
    }
    let mut unseen = [0.5, -1e9, 0.0];
    scaler.scale_dense(&mut unseen);
    assert_eq!(unseen[..2], [0.5, -CLIP]);
    scaler.observe(&[0], &[2.0]);
    let mut row = [1.0];
    scaler.scale_dense(&mut row);
    assert!(row[0] > 2.0, "{row:?}");
}

/// One pass or two give the same, for every number of columns of a block.
#[test]
fn observing_and_scaling_are_one() {
    for (columns, factor) in [(3, 1.0), (8, 1.0), (21, 1e-120), (70, 1e50)] {
        for scaling in Scaling::ALL {
            let mut parts = Scaler::new(scaling);
            let mut whole = parts.clone();
            for t in 0..40_usize {
                // A constant column, one that appears late, and one that never does.
                let value = |column: usize| match column {
                    0 => 7.0,
                    2 => f64::from(t % 4 > 0) / factor,
                    1 if t < 20 => 0.0,
                    _ if column + 1 == columns => 0.0,
                    _ if (t + column).is_multiple_of(3) => 0.0,
                    _ => ((t * column) as f64).sin() + column as f64,
                };
                let row: Vec<f64> = (0..columns).map(|column| factor * value(column)).collect();
                let non_zero = (0u32..).zip(&row).filter(|(_, value)| **value != 0.0);
                let (indices, values): (Vec<u32>, Vec<f64>) = non_zero.unzip();
                let (mut want, mut got) = (row.clone(), row.clone());
                parts.observe(&indices, &values);
                parts.scale_dense(&mut want);
                whole.observe_and_scale(&indices, &values, &mut got);
                assert_eq!(got, want, "{scaling}, {columns} columns, row {t}");
            }
            assert!(whole == parts, "{scaling}: the state");
        }
    }
}

#[test]
fn added_statistics_are_those_of_all_rows() {
    let rows: Vec<[f64; 3]> =
        (0..20).map(|t| [f64::from(t) * 0.3 + 100.0, f64::from(t % 7) - 3.0, f64::from(t / 15)]).collect();
    for scaling in Scaling::ALL {
        let seen = |rows: &[[f64; 3]]| {
            let mut scaler = Scaler::new(scaling);
            for row in rows {
                let non_zero = (0u32..).zip(row).filter(|(_, value)| **value != 0.0);
                let (indices, values): (Vec<u32>, Vec<f64>) = non_zero.unzip();
                scaler.observe(&indices, &values);
            }
            scaler
        };
        // The first part does not have the last column.
        let mut sum = seen(&rows[..6]);
        sum.add(&seen(&rows[6..]));
        sum.add(&Scaler::new(scaling));
        let all = seen(&rows);
        assert_eq!(sum.state().0, 20);
        for (got, want) in [(sum.state().1, all.state().1), (sum.state().2, all.state().2)] {
            assert_eq!(got.len(), want.len());
            assert!(got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-11 * (1.0 + b.abs())), "{scaling}");
        }
    }
}

/// Two numbers, the second of which is missing in some rows, and words.
#[test]
fn tables_are_mixed() {
    let mut scaler = Scaler::of_table(Scaling::Mixed, 2);
    let rows: [&[(u32, f64)]; 4] = [
        &[(0, 3.0), (1, 10.0), (6, 0.5)],
        &[(0, 5.0), (3, 1.0)],
        &[(1, 30.0)],
        &[(0, 4.0), (1, 20.0), (9, 0.25)],
    ];
    let split = |row: &[(u32, f64)]| -> (Vec<u32>, Vec<f64>) { row.iter().copied().unzip() };
    let mut parts = [scaler.clone(), scaler.clone()];
    for (at, row) in rows.iter().enumerate() {
        let (indices, values) = split(row);
        scaler.observe(&indices, &values);
        parts[at % 2].observe(&indices, &values);
    }
    // 3, 5, 0, 4 with mean 3 and variance 14/4; 10, 30, 20 with mean 20 and variance 200/3.
    let scaled = |row: &[(u32, f64)]| {
        let (indices, values) = split(row);
        let mut out = vec![];
        scaler.mix(&indices, &values, |column, value| out.push((column, value)));
        let mut dense = vec![0.0; 10];
        row.iter().for_each(|(column, value)| dense[*column as usize] = *value);
        scaler.scale_dense(&mut dense);
        let laid: Vec<f64> =
            (0..10).map(|at| out.iter().find(|(c, _)| *c == at).map_or(0.0, |(_, v)| *v)).collect();
        assert_eq!(laid, dense);
        out
    };
    let first = scaled(rows[0]);
    assert_eq!((first[0].0, first[1].0), (1, 6));
    assert!((first[0].1 + 10.0 / (200.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{first:?}");
    let second = scaled(rows[1]);
    assert_eq!((second.len(), second[0].0, second[1]), (2, 0, (3, 1.0)));
    assert!((second[0].1 - 2.0 / 3.5_f64.sqrt()).abs() < 1e-12, "{second:?}");
    assert!((scaled(rows[3])[0].1 - 1.0 / 3.5_f64.sqrt()).abs() < 1e-12);
    let [mut sum, other] = parts;
    sum.add(&other);
    for (got, want) in [(sum.state().1, scaler.state().1), (sum.state().2, scaler.state().2)] {
        assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12), "{got:?} {want:?}");
    }
}

/// In models of before, blocks of four columns: a category, a product of two, small counts, and numbers.
#[test]
fn numbers_of_blocks_are_scaled_and_categories_are_not() {
    let mut scaler = Scaler::of_columns_before(Scaling::Mixed, None, Some(4));
    let scaled = |scaler: &Scaler, indices: &[u32], values: &[f64]| {
        let mut out = vec![];
        scaler.mix(indices, values, |column, value| out.push((column, value)));
        let mut dense = [0.0; 8];
        indices.iter().zip(values).for_each(|(column, value)| dense[*column as usize] = *value);
        scaler.scale_dense(&mut dense);
        let listed = (0u32..).zip(dense).filter(|(_, value)| *value != 0.0).collect::<Vec<_>>();
        assert_eq!(out, listed, "sparse and dense");
        out
    };
    let rows: [(&[u32], &[f64]); 2] =
        [(&[0, 1, 2, 3, 7], &[1.0, -4.0, 3.0, 300.0, 500.0]), (&[0, 2, 3], &[1.0, 16.0, 400.0])];
    for (indices, values) in rows {
        scaler.observe(indices, values);
    }
    // 300, 500 and 400 have the mean 400 and the variance 20,000 / 3.
    let deviation = (20_000.0_f64 / 3.0).sqrt();
    let first = scaled(&scaler, rows[0].0, rows[0].1);
    assert_eq!(first[..3], [(0, 1.0), (1, -4.0), (2, 3.0)], "not scaled");
    assert!((first[3].1 + 100.0 / deviation).abs() < 1e-12 && (first[4].1 - 100.0 / deviation).abs() < 1e-12);
    // Small numbers of a column of numbers are numbers; what was never seen says nothing.
    assert!((scaled(&scaler, &[3], &[401.0])[0].1 - 1.0 / deviation).abs() < 1e-12);
    assert!((scaled(&scaler, &[3], &[16.0])[0].1 + 384.0 / deviation).abs() < 1e-12);
    assert_eq!(scaled(&scaler, &[2], &[17.0]), []);
    assert_eq!(scaled(&scaler, &[3], &[-4.0]), [(3, -4.0)], "a category that shares a column");
    let (count, means, squares) = scaler.state();
    let again = Scaler::from_state(Scaling::Mixed, count, means, squares, Some(4));
    assert_eq!(scaled(&again, rows[0].0, rows[0].1), first);
}

/// What stands for a missing number depends on the numbers, not on what stood for missing ones before.
#[test]
fn holes_are_no_numbers() {
    let seen = |numbers: &[Option<f64>]| {
        let mut scaler = Scaler::new(Scaling::Standard);
        for number in numbers {
            let missing: &[u32] = if number.is_none() { &[0] } else { &[] };
            let mut row = [number.unwrap_or(0.0)];
            scaler.fill_next(missing, &mut row);
            let noted = row;
            scaler.observe_and_scale(&[0], &noted, &mut row);
        }
        scaler
    };
    let ages = [None, Some(48.0), None, Some(54.0), None, Some(51.0)];
    // Two numbers are far from 0 by chance; others show that they are not, whatever stood for missing ones.
    let mut near = vec![Some(2.0), Some(3.0)];
    near.extend([None; 20]);
    near.extend([Some(-2.0), Some(-3.0)]);
    for (numbers, holes, want) in [
        (&ages[..1], [1, 0], 0.0),
        (&ages[..2], [0, 1], 48.0),
        (&ages[..3], [0, 2], 48.0),
        (&ages[..], [0, 3], 51.0),
        (&near[..], [20, 0], 0.0),
        (&[Some(-1.0), Some(2.0), None, Some(0.5)][..], [1, 0], 0.0),
        (&[None, Some(1.0), None, Some(1.0), None][..], [3, 0], 0.0),
        (&[Some(1.0), Some(1.0), None, Some(0.0), Some(1.0)][..], [1, 0], 0.0),
    ] {
        let scaler = seen(numbers);
        assert_eq!(scaler.holes(), [holes], "{numbers:?}");
        assert!((scaler.stand_in(0) - want).abs() < 1e-12, "{numbers:?}: {}", scaler.stand_in(0));
        let (rows, first, second) = scaler.state();
        let again = Scaler::from_state(Scaling::Standard, rows, first, second, None);
        assert_eq!(again.with_holes(scaler.holes().to_vec()).stand_in(0), scaler.stand_in(0));
    }
    let mut joint = seen(&[None, Some(48.0)]);
    joint.add(&seen(&[None, Some(54.0)]));
    assert_eq!(joint.holes(), [[0, 2]]);
    assert!((joint.stand_in(0) - 51.0).abs() < 1e-12, "{}", joint.stand_in(0));
    assert_eq!(joint.stand_in(1), 0.0, "a column without numbers");
    // Years: zeros do not stay among them, also where no number is missing later, in a saved scaler, too.
    let none = seen(&[None, None]);
    let (rows, first, second) = none.state();
    let saved = Scaler::from_state(Scaling::Standard, rows, first, second, None);
    for mut scaler in [saved.with_holes(none.holes().to_vec()), none] {
        [2026.0, 2025.0].into_iter().for_each(|year| scaler.observe(&[0], &[year]));
        let (_, means, squares) = scaler.state();
        assert!((means[0] - 2025.5).abs() < 1e-9 && squares[0] < 1.0, "{means:?} {squares:?}");
    }
    let years = seen(&[None, None, Some(2026.0), None, Some(2025.0), None]);
    let (_, means, squares) = years.state();
    assert!((means[0] - 2025.5).abs() < 1e-9 && squares[0] < 1.0, "{means:?} {squares:?}");
    // The first number may be an error: others move what stands for the missing ones before it.
    let mut spike = vec![None; 100];
    spike.push(Some(300.0));
    spike.extend((0..899).map(|t| Some(f64::from(t % 5) - 2.0)));
    let scaler = seen(&spike);
    let (rows, means, squares) = scaler.state();
    let deviation = (squares[0] / rows as f64).sqrt();
    assert!(means[0] < 1.0 && deviation < 10.0, "{means:?} {deviation}");
    // A scaler from a file goes on to the bit, also among the first numbers.
    for cut in [50, 101, 103, 120, 164, 165, 300] {
        let part = seen(&spike[..cut]);
        let (rows, first, second) = part.state();
        let mut again = Scaler::from_state(Scaling::Standard, rows, first, second, None)
            .with_holes(part.holes().to_vec());
        for number in &spike[cut..] {
            let missing: &[u32] = if number.is_none() { &[0] } else { &[] };
            let mut row = [number.unwrap_or(0.0)];
            again.fill_next(missing, &mut row);
            again.observe(&[0], &row);
        }
        assert_eq!(again, scaler, "{cut}");
    }
    // Of a part, all numbers are missing: its zeros do not stay among the years of the other one.
    let mut joint = seen(&[None; 50]);
    joint.add(&seen(&(0..100).map(|t| Some(f64::from(1950 + t % 7))).collect::<Vec<_>>()));
    let (_, means, squares) = joint.state();
    assert!((means[0] - 1953.0).abs() < 0.1 && squares[0] < 600.0, "{means:?} {squares:?}");
}

#[test]
fn maxabs_uses_the_past_and_the_row_itself() {
    let mut scaler = Scaler::new(Scaling::MaxAbs);
    let mut scaled = Vec::new();
    for value in [2.0, -1.0, 4.0] {
        scaler.observe(&[3], &[value]);
        let mut values = [value];
        scaler.scale_sparse(&[3], &mut values);
        scaled.push(values[0]);
    }
    assert_eq!(scaled, [1.0, -0.5, 1.0]);
}

#[test]
fn unit_survives_extreme_rows() {
    let scaler = Scaler::new(Scaling::Unit);
    for factor in [1e-300, 1.0, 1e300] {
        let mut values = [3.0 * factor, 4.0 * factor];
        scaler.scale_dense(&mut values);
        assert!((values[0] - 0.6).abs() < 1e-15 && (values[1] - 0.8).abs() < 1e-15);
    }
    let mut zero = [0.0];
    scaler.scale_dense(&mut zero);
    assert_eq!(zero, [0.0]);
}

use std::collections::BTreeMap;

use noregret::example::Features;

use super::*;
use crate::encode::scale::Scaling;

fn encoder(scaling: Scaling, sparse: bool) -> Encoder {
    let accepts = Accepts { classes: Classes::Real, soft_labels: false, weights: true, plain: true };
    let encoder = Encoder::new(3, accepts).with_scaler(Scaler::new(scaling)).with_intercept(true);
    encoder.with_sparse(sparse).with_radius(Some(2.0))
}

#[test]
fn features_in_memory_give_the_examples_of_rows() {
    let rows = [[0.5, 0.0, -2.0], [0.0, 0.0, 0.0], [1.5, 3.0, 0.0], [-0.5, 1.0, 4.0]];
    for scaling in Scaling::ALL {
        for sparse in [false, true] {
            if sparse && scaling == Scaling::Standard {
                continue;
            }
            let mut encoders = [0; 3].map(|_| encoder(scaling, sparse));
            for values in &rows {
                let mut examples = [0; 3].map(|_| Example::default());
                let mut row = Row::new();
                (0u32..).zip(values).for_each(|(column, value)| row.push(column, *value));
                let pairs = Features::Sparse { indices: row.indices(), values: row.values() };
                encoders[0].encode(&row, &mut examples[0]).expect("a good row");
                encoders[1].encode_features(Features::Dense(values), &mut examples[1]).expect("a good row");
                encoders[2].encode_features(pairs, &mut examples[2]).expect("a good row");
                let [read, dense, pairs] = &examples;
                assert_eq!(read.features(), dense.features(), "{scaling}, sparse: {sparse}");
                assert_eq!(read.features(), pairs.features(), "{scaling}, sparse: {sparse}");
                if sparse && scaling == Scaling::MaxAbs {
                    assert_eq!(read.values.len(), 3 * read.indices.len(), "three views");
                } else if scaling.adapts() && !sparse {
                    assert_eq!(read.values[4], 1.0, "an intercept of its own");
                    assert_eq!(read.values[5..], values[..], "{scaling}: the row as it is");
                } else {
                    assert!(read.values.len() <= 4, "{scaling}: one view");
                }
                assert_eq!(dense.target(), None);
            }
            assert_eq!(encoders[0].large_rows, encoders[1].large_rows);
            let bounded = matches!(scaling, Scaling::Unit | Scaling::MaxAbs);
            assert_eq!(encoders[0].large_rows > 0, !bounded);
        }
    }
}

/// Of columns with means 1/2, 1/2 and 5, the first and the last are absent from a later row: they become 0,
/// and their means stay.
#[test]
fn means_replace_what_is_absent() {
    let mut encoder = Encoder { columns: 9, ..encoder(Scaling::Standard, false) };
    let mut example = Example::default();
    let mut learn = |encoder: &mut Encoder, values: [f64; 3]| {
        let mut row = Row::new();
        let pairs = [0, 1, 8].into_iter().zip(values).filter(|(_, value)| *value != 0.0);
        pairs.for_each(|(column, value)| row.push(column, value));
        encoder.encode(&row, &mut example).expect("a good row");
        assert!(example.indices.is_empty());
        [1, 2, 9].map(|feature| example.values[feature])
    };
    for values in [[1.0, 0.0, 4.0], [0.0, 1.0, 6.0]] {
        learn(&mut encoder, values);
    }
    encoder.absent = vec![0, 8];
    let scaled = learn(&mut encoder, [0.0, 1.0, 0.0]);
    assert_eq!([scaled[0], scaled[2]], [0.0, 0.0]);
    assert_eq!([0, 8].map(|column| encoder.scaler.mean(column)), [0.5, 5.0]);
    assert!((encoder.scaler.mean(1) - 2.0 / 3.0).abs() < 1e-15);
}

/// Of a column of 4 and 6 a number is missing: it becomes 0, and the mean stays. In a model of before it is 0
/// before scaling, as is a feature that a row does not name. In the row before scaling it is 0 always.
#[test]
fn means_replace_what_is_missing() {
    let row = |first: f64, second: Option<f64>| {
        let mut row = Row::new();
        row.push(0, first);
        match second {
            Some(second) => row.push(1, second),
            None => row.miss(1),
        }
        row
    };
    let mut unnamed = Row::new();
    unnamed.push(0, 1.0);
    let mut example = Example::default();
    for (fills, hole, mean) in
        [(true, row(1.0, None), 5.0), (true, unnamed, 10.0 / 3.0), (false, row(1.0, None), 10.0 / 3.0)]
    {
        let mut encoder = encoder(Scaling::Standard, false).with_filled_missing(fills);
        for seen in [row(1.0, Some(4.0)), row(-1.0, Some(6.0))] {
            encoder.encode(&seen, &mut example).expect("a good row");
        }
        let is_mean = mean == 5.0;
        encoder.transform_row(&hole, &mut example).expect("a good row");
        let looked = example.features().values().to_vec();
        encoder.encode_frozen(&hole, &mut example).expect("a good row");
        assert_eq!(example.features().values(), looked);
        assert_eq!((looked[2] == 0.0, looked[6]), (is_mean, 0.0), "{fills}");
        encoder.encode(&hole, &mut example).expect("a good row");
        assert_eq!((example.values[2] == 0.0, example.values[6]), (is_mean, 0.0), "{fills}");
        assert!((encoder.scaler.mean(1) - mean).abs() < 1e-12, "{fills}");
    }
    assert!(!encoder(Scaling::MaxAbs, true).with_filled_missing(true).fills_missing());
}

/// ln(1 + (e - 1)) = 1 and ln(1 + (e² - 1)) = 2, with norm √5; the intercept is 1 in all views.
#[test]
fn a_sparse_row_has_its_logarithms_and_its_values_behind() {
    let (one, two) = (1f64.exp_m1(), 2f64.exp_m1());
    let mut encoder = encoder(Scaling::MaxAbs, true);
    let mut example = Example::default();
    encoder.encode_features(Features::Dense(&[-2.0 * one, 0.0, two]), &mut example).expect("a good row");
    encoder.encode_features(Features::Dense(&[-one, 0.0, two]), &mut example).expect("a good row");
    assert_eq!(example.indices, [0, 1, 3]);
    let root = 5f64.sqrt();
    let wanted = [1.0, -0.5, 1.0, 1.0, -1.0 / root, 2.0 / root, 1.0, -one, two];
    for (value, want) in example.values.iter().zip(wanted) {
        assert!((value - want).abs() < 1e-15, "{value}, not {want}");
    }
    assert_eq!(example.values.len(), 9);
    encoder.remove(&[1], &mut example);
    assert_eq!(example.indices, [0, 3]);
    assert_eq!(example.values, [1.0, 1.0, 1.0, 2.0 / root, 1.0, two], "removed from all views");
    // Without entries, and for a learner that takes one view.
    encoder.encode_features(Features::Dense(&[0.0; 3]), &mut example).expect("a good row");
    assert_eq!((&example.indices[..], &example.values[..]), (&[0][..], &[1.0, 1.0, 1.0][..]));
    encoder.accepts.plain = false;
    encoder.encode_features(Features::Dense(&[one, 0.0, two]), &mut example).expect("a good row");
    assert_eq!(example.values.len(), 3);
}

/// Removed from a row with two views, a column has the value that scaling makes 0 in both.
#[test]
fn a_column_is_removed_from_both_views() {
    let mut encoder = encoder(Scaling::Standard, false);
    let mut example = Example::default();
    for values in [[1.0, 10.0, 0.5], [3.0, 20.0, 0.5], [5.0, 60.0, 1.5]] {
        encoder.encode_features(Features::Dense(&values), &mut example).expect("a good row");
    }
    let whole = example.clone();
    encoder.remove(&[2], &mut example);
    assert_eq!(example.values.len(), 8);
    for (at, (value, before)) in example.values.iter().zip(&whole.values).enumerate() {
        match at {
            2 => assert_eq!(*value, 0.0),
            6 => assert!((value - 30.0).abs() < 1e-12, "the mean, not {value}"),
            _ => assert_eq!(value, before),
        }
    }
}

/// A row of weight 2 of a class of weight 2.5 is learnt with weight 5, and scored as it is.
#[test]
fn weights_of_classes_count_where_rows_are_learnt() {
    let weights = BTreeMap::from([("a".to_owned(), 2.5)]);
    let weights = ClassWeights::try_from(weights).expect("a weight");
    let mut encoder = Encoder::unscaled(1).with_class_weights(weights);
    let mut example = Example::default();
    for (label, learnt) in [("a", 5.0), ("b", 2.0)] {
        let mut row = Row::new();
        row.set_name(label);
        row.weight = 2.0;
        encoder.encode(&row, &mut example).expect("a good row");
        assert_eq!(example.target().map(|target| target.weight), Some(learnt), "{label}");
        encoder.encode_frozen(&row, &mut example).expect("a good row");
        assert_eq!(example.target().map(|target| target.weight), Some(2.0), "{label}");
    }
    let mut row = Row::new();
    row.set_name("a");
    row.weight = LARGEST_WEIGHT;
    let error = encoder.encode(&row, &mut example).expect_err("too large");
    assert_eq!(error.to_string(), "the row has weight 2.5e30; at most 1e30 is allowed");
}

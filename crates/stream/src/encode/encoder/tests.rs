use super::*;
use crate::encode::scale::Scaling;

fn encoder(scaling: Scaling, sparse: bool) -> Encoder {
    Encoder {
        labels: Labels::default(),
        classes: 0,
        scaler: Scaler::new(scaling),
        intercept: true,
        sparse,
        columns: 3,
        accepts: Accepts { classes: Classes::Real, soft_labels: false, weights: true, plain: false },
        votes: false,
        large_row: LargeRow::Warn,
        radius: 2.0,
        large_rows: 0,
        absent: vec![],
        costs: None,
    }
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
            encoders.iter_mut().for_each(|encoder| encoder.accepts.plain = true);
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
                if scaling.adapts() && !sparse {
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

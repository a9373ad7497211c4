//! Every input of Vowpal Wabbit's own tests that is shared here, counted as VW counts it or refused with the
//! line.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;

use noregret_stream::{ReadOptions, Row, RowLabel, open};

/// What VW reports of a file: examples, examples with a label, features without VW's constant.
///
/// Counts are those of vowpalwabbit 9.11.9 with the flags beside the row: `number of examples`; labels other
/// than the default one as parsed (for costs: at least one known cost); `total feature number` less one
/// constant per example, halved where the flags make VW count every feature for each of two actions. No
/// example has a feature twice.
const FILES: [(&str, &str, [u64; 3]); 19] = [
    ("0001.dat", "", [200, 200, 15_282]),
    ("affix_test.dat", "", [6, 6, 6]),
    ("aloi_short_train.dat", "--oaa 1000", [100, 100, 3_011]),
    ("big-constant.dat", "", [100, 100, 2_200]),
    ("cb_eval", "--cb 2", [8, 8, 16]),
    ("cb_explore_cover.dat", "--cb_explore 2", [8, 8, 17]),
    ("cs_test", "--csoaa 3", [3, 3, 9]),
    ("csoaa_1_ind.dat", "--csoaa 4", [5, 5, 15]),
    ("labeled-unlabeled-mix.dat", "", [4, 2, 10]),
    ("long_line", "--oaa 2400", [1, 1, 5_136]),
    ("multi_namespace.dat", "", [5, 5, 33]),
    ("multiclass", "--oaa 10", [10, 10, 10]),
    ("probabilities.dat", "--oaa 4", [200, 200, 15_282]),
    ("rcv1_cb_eval", "--cb 2 --eval", [1000, 1000, 75_670]),
    ("rcv1_multiclass.dat", "--oaa 2", [1000, 1000, 77_739]),
    ("rcv1_raw_cb_small.vw", "--cb 2", [1000, 1000, 75_670]),
    ("test_named", "--oaa 3 --named_labels det,noun,verb", [6, 5, 6]),
    ("test_named_csoaa", "--csoaa 3 --named_labels det,noun,verb", [6, 5, 6]),
    // VW warns of each of the six lines with a NUL and learns from a part of it; with --strict_parse it stops
    // at the first. They are refused here; the other five rows are read.
    ("malformed.dat", "--strict_parse", [5, 5, 5]),
];

/// Rows, columns and the values of the label column, by eye: VW's CSV parser has its own conventions for
/// labels.
const CSV_FILES: [(&str, u64, u32, &[&str]); 4] = [
    ("csv_test.csv", 10, 3, &["-1", "1"]),
    ("csv_tab.csv", 5, 3, &["-1", "1"]),
    ("csv_no_header.csv", 5, 3, &["0.1", "0.2", "0.6", "0.8", "0.9"]),
    // Two numeric columns and five texts.
    ("csv_quoted.csv", 5, 7, &["-1", "1"]),
];

#[test]
fn vw_files_count_as_in_vw() {
    for (name, flags, expected) in FILES {
        let Some(path) = noregret_testdata::data(&format!("vw-text/{name}")) else { continue };
        let mut reader = open(path.to_str().unwrap(), &ReadOptions::default()).unwrap();
        assert_eq!(reader.describe()[0].1, "vw", "{name}");
        let (mut row, mut found, mut refused) = (Row::new(), [0; 3], vec![]);
        loop {
            match reader.read(&mut row) {
                Ok(true) => {
                    let labelled = match row.label() {
                        RowLabel::Missing => false,
                        RowLabel::Costs(costs) => costs.iter().any(|one| one.cost.is_some()),
                        _ => true,
                    };
                    found[0] += 1;
                    found[1] += u64::from(labelled);
                    found[2] += row.indices().len() as u64;
                }
                Ok(false) => break,
                Err(error) => {
                    assert!(error.is_row_error(), "{error}");
                    refused.push(error.line().unwrap());
                    assert!(error.to_string().contains(&format!("{name}:{}: ", error.line().unwrap())));
                }
            }
        }
        let lines = if name == "malformed.dat" { vec![1, 3, 5, 7, 9, 11] } else { vec![] };
        assert_eq!(found, expected, "{name} {flags}");
        assert_eq!(refused, lines, "{name}");
    }
}

#[test]
fn labels_are_those_of_vw() {
    let cases: [(&str, &[&str]); 3] = [
        ("test_named", &["det", "noun", "verb"]),
        ("probabilities.dat", &["1", "2", "3", "4"]),
        ("rcv1_multiclass.dat", &["1", "2"]),
    ];
    for (name, expected) in cases {
        let Some(found) = labels(name) else { continue };
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{name}");
    }
}

fn labels(name: &str) -> Option<BTreeSet<String>> {
    let path = noregret_testdata::data(&format!("vw-text/{name}"))?;
    let mut reader = open(path.to_str().unwrap(), &ReadOptions::default()).unwrap();
    let (mut row, mut labels) = (Row::new(), BTreeSet::new());
    while reader.read(&mut row).unwrap() {
        if let RowLabel::Name(label) = row.label() {
            labels.insert(label.to_owned());
        }
    }
    Some(labels)
}

#[test]
fn csv_files_are_read() {
    for (name, rows, columns, classes) in CSV_FILES {
        let Some(path) = noregret_testdata::data(&format!("vw-text/{name}")) else { continue };
        let mut reader = open(path.to_str().unwrap(), &ReadOptions::default()).unwrap();
        let (mut row, mut count) = (Row::new(), 0);
        while reader.read(&mut row).unwrap() {
            count += 1;
        }
        assert_eq!((count, reader.columns().count()), (rows, columns), "{name}: {:?}", reader.describe());
        let found = labels(name).unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), classes, "{name}");
    }
}

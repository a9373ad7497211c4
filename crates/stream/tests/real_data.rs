//! The real data sets, each read once in full and compared with what their manifest says.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use noregret_stream::{Columns, ReadOptions, Row, RowLabel, open};
use serde_json::Value;

#[test]
#[ignore = "slow: reads 279 MB of text"]
fn every_data_set_is_as_its_manifest_says() {
    let Some(manifest) = noregret_testdata::data("manifest.json") else { return };
    let manifest: Value = serde_json::from_str(&std::fs::read_to_string(manifest).unwrap()).unwrap();
    for (name, facts) in manifest.as_object().unwrap() {
        let Some(path) = noregret_testdata::data(name) else { continue };
        let path = path.to_str().unwrap();
        let start = std::time::Instant::now();
        let mut reader = open(path, &ReadOptions::default()).unwrap();
        let (mut row, mut rows, mut values) = (Row::new(), 0_u64, 0_u64);
        let mut classes = BTreeMap::<u64, u64>::new();
        let mut names = BTreeMap::<String, u64>::new();
        while reader.read(&mut row).unwrap() {
            rows += 1;
            values += row.indices().len() as u64;
            let RowLabel::Name(label) = row.label() else { panic!("{name}:{}: no label", row.line) };
            match label.parse() {
                Ok(number) => *classes.entry(number).or_default() += 1,
                Err(_) => *names.entry(label.to_owned()).or_default() += 1,
            }
            assert_eq!(row.line, rows + u64::from(name.ends_with(".csv.gz")), "{name}");
        }
        let seconds = start.elapsed().as_secs_f64();
        let bytes = facts["bytes"].as_u64().unwrap();
        eprintln!("{name}: {rows} rows, {:.0} MB/s of text", bytes as f64 / 1e6 / seconds);

        assert_eq!(rows, facts["rows"].as_u64().unwrap(), "{name}");
        let mut counts: Vec<u64> = classes.into_values().chain(names.into_values()).collect();
        let mut expected: Vec<u64> =
            facts["class_counts"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect();
        if name.ends_with(".csv.gz") {
            // Classes are named there, in another order than their numbers.
            counts.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(counts, expected, "{name}");
        if let Some(nnz) = facts["nnz"].as_u64() {
            assert_eq!(values, nnz, "{name}");
        }
        let features = facts["features"].as_u64().unwrap();
        let columns = reader.columns();
        match columns {
            // A feature that is nowhere in use cannot be seen.
            Columns::Numbered { base, count } => {
                assert!(u64::from(*count) <= features && *base == 1, "{name}: {columns:?}");
            }
            columns => assert_eq!(u64::from(columns.count()), features, "{name}"),
        }
        assert_eq!(Some(reader.position()), reader.size(), "{name}");
    }
}

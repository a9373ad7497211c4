//! What every reader must hold on any bytes: no panic, and rows that a learner can take.

pub mod serve;

use noregret_stream::{Format, ReadError, ReadOptions, Reader, Row, RowLabel, Schema, from_read};

/// Reads `data` twice: as it comes, and again with the schema of the first time, which must give the same
/// rows.
///
/// The first byte chooses options, the rest is the file.
pub fn check(format: Format, data: &[u8]) {
    let Some((flags, bytes)) = data.split_first() else { return };
    let on = |bit: u8| flags & (1 << bit) != 0;
    let options = ReadOptions {
        format: Some(format),
        hash_bits: on(0).then_some(4),
        header: on(1).then_some(on(2)),
        index_base: on(3).then_some(0),
        weight: on(4).then(|| "1".to_owned()),
        label: on(5).then(|| "2".to_owned()),
        categorical: if on(6) { vec!["1".to_owned()] } else { vec![] },
        ..ReadOptions::default()
    };
    let Ok(mut reader) = open(bytes, &options) else { return };
    let (rows, whole) = read_all(&mut *reader);
    let _ = reader.describe();
    let schema = reader.schema();
    let text = serde_json::to_string(&schema).expect("a schema is JSON");
    let saved: Schema = serde_json::from_str(&text).expect("a schema reads back");
    assert_eq!(saved, schema);
    if !whole || rows.is_empty() {
        return;
    }
    let options = ReadOptions { schema: Some(saved), delimiter: delimiter(&schema), ..options };
    let mut again = open(bytes, &options).expect("what was opened opens again");
    assert_eq!(read_all(&mut *again), (rows, whole));
    assert_eq!(again.dropped_features(), 0);
}

fn open(bytes: &[u8], options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    from_read(Box::new(std::io::Cursor::new(bytes.to_vec())), "fuzz", options)
}

fn delimiter(schema: &Schema) -> Option<u8> {
    schema.csv.as_ref().and_then(|csv| u8::try_from(csv.delimiter).ok())
}

/// All good rows, and whether the end was reached without a fatal error.
fn read_all(reader: &mut dyn Reader) -> (Vec<Row>, bool) {
    let (mut rows, mut row, mut line) = (vec![], Row::new(), 0);
    loop {
        let before = reader.columns().count();
        match reader.read(&mut row) {
            Ok(true) => {
                assert!(row.line > line, "lines go up");
                line = row.line;
                check_row(&row, reader.columns().count());
                rows.push(row.clone());
            }
            Ok(false) => return (rows, true),
            Err(error) => {
                let sentence = error.to_string();
                assert!(!sentence.contains('\n') && sentence.starts_with("fuzz"), "{sentence}");
                assert_eq!(reader.columns().count(), before, "a bad row leaves no trace");
                if !error.is_row_error() {
                    assert!(!matches!(reader.read(&mut row), Ok(true)), "nothing follows a fatal error");
                    return (rows, false);
                }
                assert!(error.line().is_some_and(|at| at > line), "{sentence}");
            }
        }
    }
}

fn check_row(row: &Row, columns: u32) {
    assert_eq!(row.indices().len(), row.values().len());
    assert!(row.indices().is_sorted_by(|a, b| a < b));
    assert!(row.indices().last().is_none_or(|&last| last < columns));
    assert!(row.values().iter().all(|value| value.is_finite() && *value != 0.0));
    assert!(row.weight.is_finite() && row.weight >= 0.0);
    match row.label() {
        RowLabel::Missing | RowLabel::Name(_) => {}
        RowLabel::Distribution(p) => {
            assert!(p.iter().all(|p| (0.0..=1.0).contains(p)) && (p.iter().sum::<f64>() - 1.0).abs() < 1e-5);
        }
        RowLabel::Costs(costs) => {
            assert!(!costs.is_empty());
            assert!(costs.iter().all(|one| one.cost.is_none_or(f64::is_finite)));
        }
    }
}

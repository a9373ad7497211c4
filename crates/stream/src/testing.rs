//! Helpers for tests of readers.

use crate::read::reader::Reader;
use crate::read::row::Row;

/// The output of a reader: rows as `start name=value ...`, and errors as text.
pub(crate) fn read_all(reader: &mut dyn Reader, start: impl Fn(&Row) -> String) -> Vec<String> {
    let (mut row, mut rows) = (Row::new(), vec![]);
    loop {
        match reader.read(&mut row) {
            Ok(true) => {
                let mut text = start(&row);
                for (&index, value) in row.indices().iter().zip(row.values()) {
                    text.push_str(&format!(" {}={value}", reader.columns().name(index)));
                }
                rows.push(text);
            }
            Ok(false) => return rows,
            Err(error) => {
                assert!(error.is_row_error(), "{error}");
                rows.push(error.to_string());
            }
        }
    }
}

//! From rows to bytes: `writer` has the trait, `text` the line formats.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::read::format::Format;
use crate::write::writer::RowWriter;

#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "redis")]
mod redis;
pub(crate) mod replace;
mod text;
pub(crate) mod writer;

/// A writer of rows to `out`, which is buffered here.
///
/// - LIBSVM: features are numbered as in [`Columns::Numbered`](crate::Columns::Numbered), hash
///   buckets from 1; no names, weights or tags.
/// - VW: all features are in the default namespace, by name or number.
/// - CSV: with a header, in which numbered features are named `x1`, `x2`, ...; `label` is last. All
///   columns must be known at the first row. No weights or tags.
/// - Parquet: the columns of CSV. [`RowWriter::flush`] completes the file; no row can follow.
/// - NDJSON: numbered features are the array `x` of all columns, which must be known at the first
///   row, and named ones the object `x`; the label is `y`.
pub fn create<'a>(format: Format, out: Box<dyn Write + Send + 'a>) -> Box<dyn RowWriter + 'a> {
    #[cfg(feature = "parquet")]
    if format == Format::Parquet {
        return Box::new(crate::write::parquet::ParquetRows::new(out));
    }
    Box::new(text::Lines::new(format, out))
}

/// A cell of CSV, quoted if it has a comma, a quotation mark or an end of a line.
///
/// ```
/// assert_eq!(noregret_stream::csv_cell("red"), "red");
/// assert_eq!(noregret_stream::csv_cell("a \"b\", c"), "\"a \"\"b\"\", c\"");
/// ```
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// Writes to the Redis stream at an address: a line is an object of JSON, whose key `id` is the id of the
/// entry, and whose other keys are its fields. An entry that has been written before is not written again.
///
/// # Errors
/// If the address is wrong, the server cannot be reached, or the cargo feature `redis` is absent. Writing
/// fails, too, if another program writes to the stream.
pub fn redis_entries(address: &str) -> io::Result<Box<dyn Write + Send>> {
    redis::open(address)
}

/// In a program without the cargo feature.
#[cfg(not(feature = "redis"))]
mod redis {
    use std::io::{self, Write};

    pub(super) fn open(_: &str) -> io::Result<Box<dyn Write + Send>> {
        Err(io::Error::other(crate::read::redis::ABSENT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::columns::Columns;
    use crate::read::row::Row;
    use crate::write::writer::WriteError;

    #[test]
    fn rows_that_a_format_cannot_represent_are_rejected() {
        let numbered = Columns::Numbered { base: 1, count: 2 };
        let named = Columns::Named(vec!["a".to_owned(), "label".to_owned()].try_into().unwrap());
        let write = |format, row: &Row, columns: &Columns| match create(format, Box::new(io::sink()))
            .write(row, columns)
        {
            Err(error @ WriteError::Unfit { .. }) => error.to_string(),
            other => format!("{other:?}"),
        };
        let mut row = Row::new();
        assert!(write(Format::Libsvm, &row, &numbered).ends_with("it has neither label nor features"));
        row.set_name("a b");
        row.push(0, 1.0);
        assert!(write(Format::Libsvm, &row, &named).ends_with("its features have names"));
        assert!(write(Format::Libsvm, &row, &numbered).contains("label \"a b\""));
        assert!(write(Format::Vw, &row, &numbered).contains("label \"a b\""));
        assert!(write(Format::Csv, &row, &named).ends_with("a feature is called label"));
        row.set_name("ca");
        assert!(
            write(Format::Vw, &row, &numbered).ends_with("label \"ca\" begins a label of another kind there")
        );
        row.weight = 2.0;
        assert!(write(Format::Csv, &row, &numbered).ends_with("it has weight 2"));
        row.set_distribution([1.0]);
        assert!(write(Format::Vw, &row, &numbered).ends_with("its label is a distribution"));
        row.push_cost("a", None, None);
        assert!(write(Format::Ndjson, &row, &numbered).ends_with("its label has costs"));

        for format in [Format::Csv, Format::Ndjson] {
            let mut writer = create(format, Box::new(io::sink()));
            let mut row = Row::new();
            row.push(0, 1.0);
            writer.write(&row, &numbered).unwrap();
            let wider = writer.write(&row, &Columns::Numbered { base: 1, count: 3 }).unwrap_err();
            assert!(wider.to_string().ends_with("it has 3 columns, the first row 2"), "{wider}");
        }
    }
}

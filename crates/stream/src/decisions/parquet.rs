//! Decision logs as Parquet: one row per line of [`crate::decisions::log`], one column per key.
//!
//! `x` is a map of numbers by feature, NaN for a missing one; `p`, and the learner's `scores`, `forecast`
//! and `offered`, are lists; the learner's part is a group; `column_count` has the number of new numbered
//! columns. Missing keys are null. The header is in the file's metadata under the key `noregret`. The reader
//! converts every row back to its line, so that lines and rows have the same checks and bit-equal
//! numbers. An incomplete Parquet file cannot be read.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{ConvertedType, Type};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnDescriptor;
use serde_json::{Map, Value};

use crate::decisions::log::Header;
use crate::fault::Fault;
use crate::read::columns::Columns;
use crate::read::error::shown;

const SCHEMA: &str = "message decisions {
    optional binary id (UTF8);
    optional group x (MAP) { repeated group key_value { required binary key (UTF8); required double value; } }
    optional binary label (UTF8);
    optional double probability;
    optional group p (LIST) { repeated group list { required double element; } }
    optional boolean correct;
    optional double reward;
    optional group learner {
        required int32 label;
        required int64 round;
        required int32 greedy;
        required double exploration;
        optional boolean explored;
        required group scores (LIST) { repeated group list { required double element; } }
        required group forecast (LIST) { repeated group list { required double element; } }
        required group offered (LIST) { repeated group list { required int32 element; } }
    }
    optional group labels (LIST) { repeated group list { required binary element (UTF8); } }
    optional group columns (LIST) { repeated group list { required binary element (UTF8); } }
    optional int64 column_count;
}";

/// The key of the header in the file's metadata.
pub(crate) const HEADER: &str = "noregret";

/// The key for the number of new columns; separate from `columns`, since a Parquet column has one
/// type.
pub(crate) const COUNT: &str = "column_count";

/// A row group is written when it has this many lines,
const LINES: usize = 1 << 16;
/// or this many values in one of its columns.
const VALUES: usize = 1 << 20;

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    One,
    List,
    Keys,
    Values,
}

/// Cells of one type.
pub(crate) enum Cells {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Double(Vec<f64>),
    Text(Vec<ByteArray>),
}

/// A column, with its cells that are not written or not read yet.
pub(crate) struct Leaf {
    /// The key of its group, or empty.
    pub(crate) group: String,
    pub(crate) key: String,
    pub(crate) shape: Shape,
    /// The definition level of a cell that is present.
    pub(crate) present: i16,
    pub(crate) cells: Cells,
    pub(crate) definitions: Vec<i16>,
    pub(crate) repetitions: Vec<i16>,
    /// The next level and the next cell to be read.
    pub(crate) level: usize,
    pub(crate) cell: usize,
}

impl Leaf {
    pub(crate) fn new(descriptor: &ColumnDescriptor) -> Result<Self, Fault> {
        let name = descriptor.path().string();
        let unfit = |what: &str| format!("column {} is {what}, which no log has", shown(&*name));
        let parts: Vec<&str> = descriptor.path().parts().iter().map(String::as_str).collect();
        let (group, key, shape) = match parts[..] {
            [key] => ("", key, Shape::One),
            [group, key] => (group, key, Shape::One),
            [key, _, "key"] => ("", key, Shape::Keys),
            [key, _, "value"] => ("", key, Shape::Values),
            [key, "list", _] => ("", key, Shape::List),
            [group, key, "list", _] => (group, key, Shape::List),
            _ => return Err(unfit("nested").into()),
        };
        if descriptor.max_rep_level() != i16::from(shape != Shape::One) {
            return Err(unfit("nested").into());
        }
        let cells = match (descriptor.physical_type(), descriptor.converted_type()) {
            (_, ConvertedType::DECIMAL) => return Err(unfit("a decimal").into()),
            (Type::BOOLEAN, _) => Cells::Bool(vec![]),
            (Type::INT32, _) => Cells::Int32(vec![]),
            (Type::INT64, _) => Cells::Int64(vec![]),
            (Type::DOUBLE, _) => Cells::Double(vec![]),
            (Type::BYTE_ARRAY, _) => Cells::Text(vec![]),
            (other, _) => return Err(unfit(&format!("of the type {other}")).into()),
        };
        Ok(Self {
            group: group.to_owned(),
            key: key.to_owned(),
            shape,
            present: descriptor.max_def_level(),
            cells,
            definitions: vec![],
            repetitions: vec![],
            level: 0,
            cell: 0,
        })
    }

    pub(crate) fn clear(&mut self) {
        (self.level, self.cell) = (0, 0);
        self.definitions.clear();
        self.repetitions.clear();
        match &mut self.cells {
            Cells::Bool(cells) => cells.clear(),
            Cells::Int32(cells) => cells.clear(),
            Cells::Int64(cells) => cells.clear(),
            Cells::Double(cells) => cells.clear(),
            Cells::Text(cells) => cells.clear(),
        }
    }
}

/// Takes the lines of a [`LogWriter`](crate::decisions::log::LogWriter), and writes a Parquet file.
pub struct ParquetLines<W: Write + Send> {
    /// Before the header is known.
    out: Option<W>,
    file: Option<SerializedFileWriter<W>>,
    leaves: Vec<Leaf>,
    /// The number of the first feature, if features are numbered.
    base: u64,
    lines: usize,
    rest: Vec<u8>,
}

impl<W: Write + Send> ParquetLines<W> {
    /// A file that is written to `out`.
    pub fn new(out: W) -> Self {
        Self { out: Some(out), file: None, leaves: vec![], base: 0, lines: 0, rest: vec![] }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_group()?;
        match (self.file, self.out) {
            (Some(file), _) => file.into_inner().map_err(failed),
            (None, Some(out)) => Ok(out),
            (None, None) => Err(io::Error::other("the file could not be started")),
        }
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        if let Some(out) = self.out.take() {
            let header: Header = serde_json::from_slice(line)?;
            if let Columns::Numbered { base, .. } = header.schema.columns {
                self.base = base.into();
            }
            let text = String::from_utf8_lossy(line).trim_end().to_owned();
            let header = vec![KeyValue::new(HEADER.to_owned(), text)];
            let properties = WriterProperties::builder().set_key_value_metadata(Some(header)).build();
            let schema = Arc::new(parse_message_type(SCHEMA).map_err(failed)?);
            let file = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed)?;
            let leaves = file.schema_descr().columns().iter().map(|one| Leaf::new(one));
            self.leaves = leaves.collect::<Result<_, _>>().map_err(io::Error::other)?;
            self.file = Some(file);
            return Ok(());
        }
        let line: Map<String, Value> = serde_json::from_slice(line)?;
        for leaf in &mut self.leaves {
            leaf.push(&line, self.base)?;
        }
        self.lines += 1;
        if self.lines == LINES || self.leaves.iter().any(|leaf| leaf.definitions.len() >= VALUES) {
            self.write_group()?;
        }
        Ok(())
    }

    fn write_group(&mut self) -> io::Result<()> {
        let Some(file) = self.file.as_mut().filter(|_| self.lines > 0) else { return Ok(()) };
        self.lines = 0;
        let mut group = file.next_row_group().map_err(failed)?;
        for leaf in &mut self.leaves {
            let mut to = group.next_column().map_err(failed)?.expect("a leaf for every column");
            let (there, again) = (Some(&leaf.definitions[..]), Some(&leaf.repetitions[..]));
            match &leaf.cells {
                Cells::Bool(cells) => to.typed::<BoolType>().write_batch(cells, there, again),
                Cells::Int32(cells) => to.typed::<Int32Type>().write_batch(cells, there, again),
                Cells::Int64(cells) => to.typed::<Int64Type>().write_batch(cells, there, again),
                Cells::Double(cells) => to.typed::<DoubleType>().write_batch(cells, there, again),
                Cells::Text(cells) => to.typed::<ByteArrayType>().write_batch(cells, there, again),
            }
            .map_err(failed)?;
            to.close().map_err(failed)?;
            leaf.clear();
        }
        group.close().map(drop).map_err(failed)
    }
}

impl<W: Write + Send> Write for ParquetLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = memchr::memchr(b'\n', &self.rest) {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            self.line(&line)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

impl Leaf {
    /// Appends its part of a line; numbered features start at `base`.
    fn push(&mut self, line: &Map<String, Value>, base: u64) -> io::Result<()> {
        let object = match &*self.group {
            "" => Some(line),
            group => line.get(group).and_then(Value::as_object),
        };
        // The level of a null cell in a present group.
        let absent = i16::from(object.is_some() && !self.group.is_empty());
        let key = if self.key == COUNT { "columns" } else { &self.key };
        let value = object.and_then(|object| object.get(key)).filter(|value| !value.is_null());
        match (self.shape, value) {
            (Shape::One, Some(value)) if self.key != COUNT || value.is_u64() => {
                self.cells.push(value)?;
                self.mark(self.present, 0);
            }
            (Shape::List, Some(Value::Array(list))) if !list.is_empty() => {
                for (at, value) in list.iter().enumerate() {
                    self.cells.push(value)?;
                    self.mark(self.present, i16::from(at > 0));
                }
            }
            (Shape::Keys | Shape::Values, Some(value)) => {
                let pairs = pairs(value, base);
                for (at, (key, value)) in pairs.iter().enumerate() {
                    self.cells.push(if self.shape == Shape::Keys { key } else { value })?;
                    self.mark(self.present, i16::from(at > 0));
                }
                if pairs.is_empty() {
                    self.mark(absent, 0);
                }
            }
            _ => self.mark(absent, 0),
        }
        Ok(())
    }

    fn mark(&mut self, definition: i16, repetition: i16) {
        self.definitions.push(definition);
        self.repetitions.push(repetition);
    }
}

/// Names and values of features; those of an array are numbered from `base`.
fn pairs(features: &Value, base: u64) -> Vec<(Value, &Value)> {
    match features {
        Value::Object(map) => map.iter().map(|(name, value)| (Value::from(name.as_str()), value)).collect(),
        Value::Array(list) => {
            let there = list.iter().zip(base..).filter(|(value, _)| value.as_f64() != Some(0.0));
            there.map(|(value, at)| (Value::from(at.to_string()), value)).collect()
        }
        _ => Vec::new(),
    }
}

impl Cells {
    fn push(&mut self, value: &Value) -> io::Result<()> {
        let fits = match self {
            Cells::Bool(cells) => value.as_bool().map(|value| cells.push(value)),
            Cells::Int32(cells) => {
                value.as_i64().and_then(|value| i32::try_from(value).ok()).map(|value| cells.push(value))
            }
            Cells::Int64(cells) => value.as_i64().map(|value| cells.push(value)),
            // A missing number is NaN.
            Cells::Double(cells) => {
                let value = value.as_f64().or(value.is_null().then_some(f64::NAN));
                value.map(|value| cells.push(value))
            }
            Cells::Text(cells) => value.as_str().map(|value| cells.push(ByteArray::from(value))),
        };
        fits.ok_or_else(|| io::Error::other(format!("{value} does not fit its column")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::event::Event;
    use crate::decisions::reader::LogReader;
    use crate::read::row::Row;

    /// The events of a log, feature by feature; errors as sentences without the file.
    fn events(mut log: LogReader, name: &str) -> Vec<String> {
        let (mut row, mut events) = (Row::new(), Vec::new());
        loop {
            match log.next(&mut row) {
                Ok(None) => return events,
                Ok(Some(Event::Header(header))) => {
                    events.push(serde_json::to_string(&header).expect("plain data"));
                }
                Ok(Some(event)) => {
                    let columns = log.columns();
                    let features = row.indices().iter().zip(row.values());
                    let features: Vec<String> =
                        features.map(|(at, value)| format!("{}={value:?}", columns.name(*at))).collect();
                    events.push(format!("{event:?} {features:?}"));
                }
                Err(error) if error.is_row_error() => events.push(error.to_string().replace(name, "")),
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Lines of every kind are the same after writing and reading columns: numbers to the bit, names in
    /// order, missing values, and errors.
    #[test]
    fn columns_are_lines() {
        let header =
            include_str!("../../../../fuzz/seeds/decisions/header").lines().next().expect("a header");
        assert!(header.starts_with("{\"noregret\""), "{header}");
        let lines = [
            r#"{"id":"1","x":{"1":0.1,"3":-2.5e-300},"label":"c0","probability":0.30000000000000004,"p":[0.7,0.30000000000000004,0.0]}"#,
            r#"{"id":"2","x":[0,1,0,0.125],"label":"c0","probability":0.5,"correct":true}"#,
            r#"{"labels":["neuf"],"columns":9}"#,
            r#"{"id":"3","x":{},"label":"neuf","probability":1.5}"#,
            r#"{"id":"1","correct":false}"#,
            r#"{"id":"4","label":"c0","probability":0.5,"learner":{"label":0,"round":7,"greedy":1,"exploration":0.25,"explored":true,"scores":[1e-320,2.0],"forecast":[0.5,0.5]}}"#,
            r#"{"id":"5","label":"c0","probability":0.5,"learner":{"label":0,"round":8,"greedy":1,"exploration":0.25,"scores":[3.0,-4.0],"offered":[0,1]}}"#,
        ];
        let text = format!("{header}\n{}\n", lines.join("\n"));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log.parquet").display().to_string();
        let mut columns = ParquetLines::new(std::fs::File::create(&path).expect("a file"));
        text.lines().for_each(|line| columns.write_all(format!("{line}\n").as_bytes()).expect("fits"));
        columns.finish().expect("written");
        let read = events(LogReader::open(&path).expect("a log"), &path);
        let from = std::io::Cursor::new(text.into_bytes());
        let want = events(LogReader::from_read(Box::new(from), "log").expect("a log"), "log");
        assert_eq!(read.len(), want.len());
        for (read, want) in read.iter().zip(&want) {
            // Errors name the row in one, the line behind the header in the other.
            let of =
                |text: &str| text.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()).to_owned();
            assert_eq!(of(read), of(want));
        }
        assert!(
            want.iter().any(|event| event.contains("1e-320"))
                && read.iter().any(|event| event.contains("1.5"))
        );
    }
}

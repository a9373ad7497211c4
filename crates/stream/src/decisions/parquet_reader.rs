//! Reading a Parquet file as the lines of a decision log, see [`crate::decisions::parquet`].

use std::fs::File;
use std::ops::Range;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Map, Value};

use crate::decisions::parquet::{COUNT, Cells, HEADER, Leaf, Shape};
use crate::fault::{Fault, fault};
use crate::read::error::{ReadErrorKind, shown};
use crate::read::parquet::damage::{damaged, without_panic};

/// Number of rows that are decoded at a time.
const ROWS: usize = 1024;

/// The file and its decoded rows.
pub(crate) struct LinesOfParquet {
    file: SerializedFileReader<File>,
    size: u64,
    header: Option<String>,
    leaves: Vec<Leaf>,
    readers: Vec<ColumnReader>,
    /// The cells of the current row in every leaf.
    ranges: Vec<Range<usize>>,
    /// Row groups opened.
    groups: usize,
    /// Rows decoded and not yet returned.
    left: usize,
    /// The last row returned, from 1; 0 is the header.
    row: u64,
    line: Vec<u8>,
}

impl LinesOfParquet {
    /// Fails if this is not a decision log in Parquet.
    pub(crate) fn open(file: File) -> Result<Self, Fault> {
        let size = file.metadata().map_err(|error| error.to_string())?.len();
        let opened = without_panic(|| SerializedFileReader::new(file));
        let file = opened.map_err(|error| damaged(&error))?;
        let metadata = file.metadata().file_metadata();
        let pairs = metadata.key_value_metadata().map_or(&[][..], Vec::as_slice);
        let header = pairs.iter().find(|pair| pair.key == HEADER).and_then(|pair| pair.value.clone());
        let leaves = metadata.schema_descr().columns().iter().map(|one| Leaf::new(one));
        let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
        let (readers, ranges, line) = (vec![], vec![], vec![]);
        Ok(Self { file, size, header, leaves, readers, ranges, groups: 0, left: 0, row: 0, line })
    }

    /// The names of the columns as an object, unless the file is a log of ours by its metadata.
    pub(crate) fn names(file: File) -> Option<Map<String, Value>> {
        let Self { leaves, .. } = Self::open(file).ok().filter(|lines| lines.header.is_none())?;
        let top = |leaf: Leaf| if leaf.group.is_empty() { leaf.key } else { leaf.group };
        Some(leaves.into_iter().map(|leaf| (top(leaf), Value::Null)).collect())
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn row(&self) -> u64 {
        self.row
    }

    /// The next line. `None` at the end.
    /// Fails if the file is damaged; nothing after the damage is returned.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, ReadErrorKind> {
        self.line.clear();
        if let Some(header) = self.header.take() {
            self.line.extend_from_slice(header.as_bytes());
            return Ok(Some(&self.line));
        }
        if self.left == 0 {
            let decoded = without_panic(|| self.decode());
            self.left = *decoded.as_ref().unwrap_or(&0);
            if self.left == 0 {
                self.groups = self.file.num_row_groups();
                self.readers.clear();
                return decoded.map(|_| None).map_err(|error| ReadErrorKind::Layout(damaged(&error)));
            }
        }
        self.left -= 1;
        self.row += 1;
        self.ranges.clear();
        self.ranges.extend(self.leaves.iter_mut().map(Leaf::next));
        self.write().map_err(|what| ReadErrorKind::Row(what.into()))?;
        Ok(Some(&self.line))
    }

    /// Decodes the next rows; returns their number, 0 at the end.
    fn decode(&mut self) -> Result<usize, ParquetError> {
        loop {
            let mut counts = Vec::with_capacity(self.leaves.len());
            for (leaf, reader) in self.leaves.iter_mut().zip(&mut self.readers) {
                counts.push(leaf.decode(reader)?);
            }
            if counts.windows(2).any(|pair| pair[0] != pair[1]) {
                return Err(ParquetError::General("its columns differ in length".to_owned()));
            }
            let rows = counts.first().copied().unwrap_or(0);
            if rows > 0 || self.groups == self.file.num_row_groups() {
                return Ok(rows);
            }
            let group = self.file.get_row_group(self.groups)?;
            self.groups += 1;
            let columns = 0..self.leaves.len();
            self.readers = columns.map(|at| group.get_column_reader(at)).collect::<Result<_, _>>()?;
        }
    }

    /// Writes the current row as a line.
    fn write(&mut self) -> Result<(), Fault> {
        let Self { leaves, ranges, line, .. } = self;
        let mut open = "";
        line.push(b'{');
        for (at, (leaf, range)) in leaves.iter().zip(&*ranges).enumerate() {
            // Keys are written with their values.
            if range.is_empty() || leaf.shape == Shape::Keys {
                continue;
            }
            if open != leaf.group {
                if !open.is_empty() {
                    line.push(b'}');
                }
                open = &leaf.group;
                if !open.is_empty() {
                    name(line, open);
                    line.push(b'{');
                }
            }
            name(line, if leaf.key == COUNT { "columns" } else { &leaf.key });
            match leaf.shape {
                Shape::One | Shape::Keys => leaf.json(range.start, line)?,
                Shape::List => {
                    line.push(b'[');
                    for cell in range.clone() {
                        separate(line);
                        leaf.json(cell, line)?;
                    }
                    line.push(b']');
                }
                Shape::Values => {
                    let keys = at.checked_sub(1).map(|at| (&leaves[at], &ranges[at]));
                    let keys =
                        keys.filter(|(keys, names)| keys.shape == Shape::Keys && names.len() == range.len());
                    let (keys, names) =
                        keys.ok_or_else(|| format!("{} has values without names", shown(&*leaf.key)))?;
                    line.push(b'{');
                    for (value, of) in range.clone().zip(names.clone()) {
                        separate(line);
                        keys.json(of, line)?;
                        line.push(b':');
                        leaf.json(value, line)?;
                    }
                    line.push(b'}');
                }
            }
        }
        if !open.is_empty() {
            line.push(b'}');
        }
        line.push(b'}');
        Ok(())
    }
}

/// Writes a comma, except at the start of an object or list.
fn separate(line: &mut Vec<u8>) {
    if !matches!(line.last(), Some(b'{' | b'[')) {
        line.push(b',');
    }
}

fn name(line: &mut Vec<u8>, name: &str) {
    separate(line);
    line.extend_from_slice(Value::from(name).to_string().as_bytes());
    line.push(b':');
}

impl Leaf {
    /// The cells of the next row.
    fn next(&mut self) -> Range<usize> {
        let first = self.cell;
        loop {
            let present = self.definitions.get(self.level).is_none_or(|level| *level == self.present);
            self.cell += usize::from(present);
            self.level += 1;
            if self.repetitions.get(self.level).is_none_or(|level| *level == 0) {
                return first..self.cell;
            }
        }
    }

    /// Decodes the next rows; returns how many there were.
    fn decode(&mut self, reader: &mut ColumnReader) -> Result<usize, ParquetError> {
        self.clear();
        let levels = (Some(&mut self.definitions), Some(&mut self.repetitions));
        let (rows, _, _) = match (reader, &mut self.cells) {
            (ColumnReader::BoolColumnReader(reader), Cells::Bool(cells)) => {
                reader.read_records(ROWS, levels.0, levels.1, cells)?
            }
            (ColumnReader::Int32ColumnReader(reader), Cells::Int32(cells)) => {
                reader.read_records(ROWS, levels.0, levels.1, cells)?
            }
            (ColumnReader::Int64ColumnReader(reader), Cells::Int64(cells)) => {
                reader.read_records(ROWS, levels.0, levels.1, cells)?
            }
            (ColumnReader::DoubleColumnReader(reader), Cells::Double(cells)) => {
                reader.read_records(ROWS, levels.0, levels.1, cells)?
            }
            (ColumnReader::ByteArrayColumnReader(reader), Cells::Text(cells)) => {
                reader.read_records(ROWS, levels.0, levels.1, cells)?
            }
            _ => return Err(ParquetError::General("a column changes its type".to_owned())),
        };
        Ok(rows)
    }

    /// Writes a cell.
    fn json(&self, at: usize, line: &mut Vec<u8>) -> Result<(), Fault> {
        let number = |number: &f64| {
            let number = serde_json::Number::from_f64(*number);
            number.ok_or_else(|| format!("{} is not a finite number", shown(&*self.key)))
        };
        let text = match &self.cells {
            Cells::Bool(cells) => cells.get(at).map(bool::to_string),
            Cells::Int32(cells) => cells.get(at).map(i32::to_string),
            Cells::Int64(cells) => cells.get(at).map(i64::to_string),
            Cells::Double(cells)
                if self.shape == Shape::Values && cells.get(at).is_some_and(|x| x.is_nan()) =>
            {
                Some("null".to_owned())
            }
            Cells::Double(cells) => cells.get(at).map(number).transpose()?.map(|number| number.to_string()),
            Cells::Text(cells) => match cells.get(at).map(|bytes| std::str::from_utf8(bytes.data())) {
                Some(Err(_)) => return Err(fault!("{} is not UTF-8 text", shown(&*self.key))),
                text => text.and_then(Result::ok).map(|text| Value::from(text).to_string()),
            },
        };
        let text =
            text.ok_or_else(|| format!("{} has fewer values than its metadata states", shown(&*self.key)))?;
        line.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

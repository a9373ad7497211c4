//! Apache Parquet, by the parquet crate: a leaf column is what a column of CSV is.
//!
//! Numbers and bools (1 or 0) are numeric columns, texts categories `column=text`; a null and a NaN are missing cells. A
//! list of numbers is one numeric column for each position, `name[0]`, `name[1]`, ...; a field of a group is called
//! `group.field`. Label and weight are found as in CSV. "Lines" of rows and errors are rows, from 1.
//!
//! The schema is kept as that of CSV with a header: a model learnt from one predicts for the other.

use std::fmt::Write as _;
use std::fs::File;

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::columns::{ColumnMap, Columns};
use crate::csv_layout::{self, describe_roles};
use crate::format::Format;
use crate::options::{CsvField, CsvRole, CsvSchema, ReadOptions, Schema, Speech};
use crate::read_error::{ReadError, ReadErrorKind, shown};
use crate::reader::Reader;
use crate::row::{Duplicates, Row};

/// Rows that are decoded at a time.
const ROWS: usize = 1024;

struct ParquetReader {
    name: String,
    file: SerializedFileReader<File>,
    size: u64,
    /// Rows of the file.
    total: u64,
    /// Row groups opened.
    groups: usize,
    leaves: Vec<Leaf>,
    /// Rows decoded, and handed out of these.
    decoded: usize,
    used: usize,
    /// Number of the last row handed out.
    row: u64,
    ended: bool,
    layout: CsvSchema,
    columns: ColumnMap,
    text: String,
}

/// A column of the file, and what is decoded of it.
struct Leaf {
    name: String,
    /// `None`: a column that the saved model does not know.
    role: Option<CsvRole>,
    /// Column of a numeric leaf.
    column: Option<u32>,
    /// Names of a list's positions, as far as they came up.
    positions: Vec<String>,
    list: bool,
    unsigned: bool,
    /// What a decimal is divided by.
    divisor: f64,
    /// The definition level of a cell that is there.
    present: i16,
    reader: Option<ColumnReader>,
    values: Values,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    /// The next cell and the next value.
    level: usize,
    value: usize,
}

enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
}

pub(crate) fn reader(file: File, name: &str, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let failed = |message: String| ReadError::new(name, 0, ReadErrorKind::Layout(message));
    let size = file.metadata().map_err(|error| ReadError::new(name, 0, ReadErrorKind::Io(error)))?.len();
    let file = SerializedFileReader::new(file).map_err(|error| failed(damaged(&error)))?;
    let metadata = file.metadata().file_metadata();
    let total = u64::try_from(metadata.num_rows()).unwrap_or(0);
    if total == 0 {
        return Err(ReadError::new(name, 0, ReadErrorKind::Empty));
    }
    let descriptors = metadata.schema_descr().columns();
    let leaves: Result<Vec<Leaf>, String> = descriptors.iter().map(|one| Leaf::new(one)).collect();
    let mut leaves = leaves.map_err(failed)?;
    let saved = options.schema.as_ref();
    let layout = match saved.and_then(|schema| schema.csv.as_ref()) {
        Some(saved) => saved.clone(),
        None => layout(&leaves, options).map_err(failed)?,
    };
    let columns = options.columns(Speech::Names).map_err(|kind| ReadError::new(name, 0, kind))?;
    let mut columns = ColumnMap::new(columns, options.most_columns());
    assign(&mut leaves, &layout, &mut columns).map_err(failed)?;
    columns.commit();
    Ok(Box::new(ParquetReader {
        name: name.to_owned(),
        file,
        size,
        total,
        groups: 0,
        leaves,
        decoded: 0,
        used: 0,
        row: 0,
        ended: false,
        layout,
        columns,
        text: String::new(),
    }))
}

fn damaged(error: &ParquetError) -> String {
    let text = error.to_string().replace(char::is_control, " ");
    format!("is no Parquet file that can be read: {text}")
}

/// What the columns are, of which nothing is known but their names and types.
fn layout(leaves: &[Leaf], options: &ReadOptions) -> Result<CsvSchema, String> {
    let names: Vec<String> = leaves.iter().map(|leaf| leaf.name.clone()).collect();
    let mut roles: Vec<CsvRole> = leaves.iter().map(Leaf::natural_role).collect();
    for column in &options.categorical {
        roles[csv_layout::find_column(&names, column)?] = CsvRole::Categorical;
    }
    let label = match &options.label {
        Some(column) => csv_layout::find_column(&names, column)?,
        None => csv_layout::label_by_name(&names).unwrap_or(names.len() - 1),
    };
    if let Some(column) = &options.weight {
        let weight = csv_layout::find_column(&names, column)?;
        if weight == label {
            return Err(format!("column {} cannot be both label and weight", shown(&names[label])));
        }
        roles[weight] = CsvRole::Weight;
    }
    roles[label] = CsvRole::Label;
    let fields = names.into_iter().zip(roles).map(|(name, role)| CsvField { name, role }).collect();
    Ok(CsvSchema { delimiter: ',', header: true, fields })
}

/// Gives the columns of the file their roles.
fn assign(leaves: &mut [Leaf], layout: &CsvSchema, columns: &mut ColumnMap) -> Result<(), String> {
    let needed = |role| matches!(role, CsvRole::Numeric | CsvRole::Categorical);
    let there = |field: &CsvField| leaves.iter().any(|leaf| leaf.name == field.name);
    if let Some(field) = layout.fields.iter().find(|field| needed(field.role) && !there(field)) {
        return Err(format!("lacks the column {} that the saved model was trained on", shown(&field.name)));
    }
    for leaf in leaves {
        leaf.role = layout.fields.iter().find(|field| field.name == leaf.name).map(|field| field.role);
        let text = matches!(leaf.values, Values::Bytes(_));
        match leaf.role {
            Some(CsvRole::Numeric | CsvRole::Weight) if text => {
                return Err(format!("column {} is text; numbers were needed", shown(&leaf.name)));
            }
            Some(CsvRole::Label | CsvRole::Weight | CsvRole::Categorical) if leaf.list => {
                return Err(format!("column {} is a list; it can only be features", shown(&leaf.name)));
            }
            Some(CsvRole::Numeric) if !leaf.list => leaf.column = columns.by_name(&leaf.name),
            _ => {}
        }
    }
    Ok(())
}

impl Leaf {
    fn new(descriptor: &ColumnDescriptor) -> Result<Self, String> {
        let parts = descriptor.path().parts();
        let list = descriptor.max_rep_level() > 0;
        // A list is written as `name.list.element`.
        let named = if list && parts.len() > 2 { &parts[..parts.len() - 2] } else { parts };
        let name = named.join(".");
        let unfit = |what: &str| format!("column {} is {what}, which noregret does not read", shown(&name));
        if descriptor.max_rep_level() > 1 {
            return Err(unfit("a list of lists"));
        }
        let values = match descriptor.physical_type() {
            Type::BOOLEAN => Values::Bool(vec![]),
            Type::INT32 => Values::Int32(vec![]),
            Type::INT64 => Values::Int64(vec![]),
            Type::FLOAT => Values::Float(vec![]),
            Type::DOUBLE => Values::Double(vec![]),
            Type::BYTE_ARRAY if list => return Err(unfit("a list of texts")),
            Type::BYTE_ARRAY if descriptor.converted_type() != ConvertedType::DECIMAL => {
                Values::Bytes(vec![])
            }
            other => return Err(unfit(&format!("of the type {other}"))),
        };
        let decimal = descriptor.converted_type() == ConvertedType::DECIMAL
            || matches!(descriptor.logical_type_ref(), Some(LogicalType::Decimal { .. }));
        let unsigned =
            [ConvertedType::UINT_8, ConvertedType::UINT_16, ConvertedType::UINT_32, ConvertedType::UINT_64];
        Ok(Leaf {
            name,
            role: None,
            column: None,
            positions: vec![],
            list,
            unsigned: unsigned.contains(&descriptor.converted_type()),
            divisor: if decimal { 10_f64.powi(descriptor.type_scale()) } else { 1.0 },
            present: descriptor.max_def_level(),
            reader: None,
            values,
            definitions: vec![],
            repetitions: vec![],
            level: 0,
            value: 0,
        })
    }

    fn natural_role(&self) -> CsvRole {
        if matches!(self.values, Values::Bytes(_)) { CsvRole::Categorical } else { CsvRole::Numeric }
    }

    /// Decodes the next rows; returns how many there were.
    fn decode(&mut self) -> Result<usize, ParquetError> {
        self.definitions.clear();
        self.repetitions.clear();
        (self.level, self.value) = (0, 0);
        let levels = (Some(&mut self.definitions), Some(&mut self.repetitions));
        let reader = self.reader.as_mut().expect("decoded only after its row group was opened");
        macro_rules! read {
            ($reader:ident, $values:ident) => {{
                $values.clear();
                $reader.read_records(ROWS, levels.0, levels.1, $values)?.0
            }};
        }
        Ok(match (reader, &mut self.values) {
            (ColumnReader::BoolColumnReader(reader), Values::Bool(values)) => read!(reader, values),
            (ColumnReader::Int32ColumnReader(reader), Values::Int32(values)) => read!(reader, values),
            (ColumnReader::Int64ColumnReader(reader), Values::Int64(values)) => read!(reader, values),
            (ColumnReader::FloatColumnReader(reader), Values::Float(values)) => read!(reader, values),
            (ColumnReader::DoubleColumnReader(reader), Values::Double(values)) => read!(reader, values),
            (ColumnReader::ByteArrayColumnReader(reader), Values::Bytes(values)) => read!(reader, values),
            _ => return Err(ParquetError::General("a column changes its type".to_owned())),
        })
    }

    /// The next cell of the current row: its position in a list, and where its value is unless it is missing. `first`:
    /// the row's first cell.
    fn cell(&mut self, first: bool) -> Option<Option<usize>> {
        if !first && self.repetitions.get(self.level).is_none_or(|level| *level == 0) {
            return None;
        }
        let present = self.definitions.get(self.level).is_none_or(|level| *level == self.present);
        self.level += 1;
        let value = self.value;
        self.value += usize::from(present);
        Some(present.then_some(value))
    }

    fn number(&self, at: usize) -> Option<f64> {
        let value = match &self.values {
            Values::Bool(values) => f64::from(u8::from(values[at])),
            Values::Int32(values) if self.unsigned => f64::from(values[at].cast_unsigned()),
            Values::Int32(values) => f64::from(values[at]) / self.divisor,
            Values::Int64(values) if self.unsigned => values[at].cast_unsigned() as f64,
            Values::Int64(values) => values[at] as f64 / self.divisor,
            Values::Float(values) => f64::from(values[at]),
            Values::Double(values) => values[at],
            Values::Bytes(_) => unreachable!("texts are not given a numeric role"),
        };
        (!value.is_nan()).then_some(value)
    }

    /// A value as text.
    fn text(&self, at: usize, out: &mut String) -> Result<(), ReadErrorKind> {
        let written = match &self.values {
            Values::Bool(values) => write!(out, "{}", values[at]),
            Values::Int64(values) if self.unsigned => write!(out, "{}", values[at].cast_unsigned()),
            Values::Int64(values) if self.divisor == 1.0 => write!(out, "{}", values[at]),
            Values::Float(values) => write!(out, "{}", values[at]),
            Values::Bytes(values) => {
                let text = std::str::from_utf8(values[at].data()).map_err(|_| ReadErrorKind::InvalidUtf8)?;
                out.write_str(text.trim_ascii())
            }
            _ => write!(out, "{}", self.number(at).unwrap_or(f64::NAN)),
        };
        written.expect("writing to a string does not fail");
        Ok(())
    }

    #[cold]
    fn fault(&self, message: String) -> ReadErrorKind {
        ReadErrorKind::Cell { noun: "column", column: self.name.clone(), message }
    }

    /// Puts the cells of the current row into `row`.
    fn cells(
        &mut self,
        row: &mut Row,
        columns: &mut ColumnMap,
        text: &mut String,
    ) -> Result<(), ReadErrorKind> {
        let mut position = 0;
        while let Some(cell) = self.cell(position == 0) {
            position += 1;
            if let Some(at) = cell {
                self.take(at, position - 1, row, columns, text)?;
            }
        }
        Ok(())
    }

    fn take(
        &mut self,
        at: usize,
        position: usize,
        row: &mut Row,
        columns: &mut ColumnMap,
        text: &mut String,
    ) -> Result<(), ReadErrorKind> {
        text.clear();
        match self.role {
            Some(CsvRole::Numeric | CsvRole::Weight) => {
                let Some(number) = self.number(at) else { return Ok(()) };
                if !number.is_finite() {
                    return Err(self.fault(format!("{number} is not finite")));
                }
                if self.role == Some(CsvRole::Weight) {
                    if number < 0.0 {
                        return Err(self.fault(format!("weight {number} is negative")));
                    }
                    row.weight = number;
                    return Ok(());
                }
                let column = if self.list { self.position(position, columns) } else { self.column };
                match column {
                    Some(column) => row.push(column, number),
                    None => columns.drop_one(),
                }
            }
            Some(CsvRole::Categorical) => {
                text.push_str(&self.name);
                text.push('=');
                self.text(at, text)?;
                if text.len() > self.name.len() + 1
                    && let Some(column) = columns.by_name(text)
                {
                    row.push(column, 1.0);
                }
            }
            Some(CsvRole::Label) => {
                self.text(at, text)?;
                let missing = text.is_empty() || (*text == "NaN" && !matches!(self.values, Values::Bytes(_)));
                if !missing && !row.set_name(text) {
                    return Err(self.fault(format!("label {} is not finite", shown(text))));
                }
            }
            None => columns.drop_one(),
        }
        Ok(())
    }

    /// The column of a list's position.
    fn position(&mut self, position: usize, columns: &mut ColumnMap) -> Option<u32> {
        while self.positions.len() <= position {
            self.positions.push(format!("{}[{}]", self.name, self.positions.len()));
        }
        columns.by_name(&self.positions[position])
    }
}

impl ParquetReader {
    /// Decodes the next rows. False at the end.
    fn decode(&mut self) -> Result<bool, ParquetError> {
        (self.decoded, self.used) = (0, 0);
        while !self.ended {
            if self.groups > 0 {
                let mut counts = Vec::with_capacity(self.leaves.len());
                for leaf in &mut self.leaves {
                    counts.push(leaf.decode()?);
                }
                self.decoded = counts.first().copied().unwrap_or(0);
                if counts.iter().any(|count| *count != self.decoded) {
                    return Err(ParquetError::General("its columns differ in length".to_owned()));
                }
                if self.decoded > 0 {
                    return Ok(true);
                }
            }
            if self.groups == self.file.num_row_groups() {
                self.ended = true;
                break;
            }
            let group = self.file.get_row_group(self.groups)?;
            self.groups += 1;
            for (number, leaf) in self.leaves.iter_mut().enumerate() {
                leaf.reader = Some(group.get_column_reader(number)?);
            }
        }
        Ok(false)
    }

    fn parse(&mut self, row: &mut Row) -> Result<(), ReadErrorKind> {
        let mut result = Ok(());
        // Whatever is wrong, all columns go on to the next row.
        for leaf in &mut self.leaves {
            let cells = leaf.cells(row, &mut self.columns, &mut self.text);
            while leaf.cell(false).is_some() {}
            result = result.and(cells);
        }
        result?;
        row.finish(Duplicates::Sum)
            .map_err(|_| ReadErrorKind::Row("features of one hash sum to infinity".into()))
    }

    fn named(&self, role: CsvRole) -> Option<String> {
        self.layout.fields.iter().find(|field| field.role == role).map(|field| field.name.clone())
    }
}

impl Reader for ParquetReader {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        row.clear();
        if self.used == self.decoded {
            match self.decode() {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => {
                    self.ended = true;
                    let kind = ReadErrorKind::Layout(damaged(&error));
                    return Err(ReadError::new(&self.name, 0, kind));
                }
            }
        }
        self.used += 1;
        self.row += 1;
        match self.parse(row) {
            Ok(()) => {
                self.columns.commit();
                row.line = self.row;
                Ok(true)
            }
            Err(kind) => {
                self.columns.roll_back();
                row.clear();
                Err(ReadError::new(&self.name, self.row, kind))
            }
        }
    }

    fn columns(&self) -> &Columns {
        self.columns.columns()
    }

    fn take_back(&mut self) {
        self.columns.take_back();
    }

    fn dropped_features(&self) -> u64 {
        self.columns.dropped()
    }

    fn position(&self) -> u64 {
        (self.size as f64 * (self.row as f64 / self.total as f64)) as u64
    }

    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn schema(&self) -> Schema {
        Schema {
            format: Format::Parquet,
            columns: self.columns().clone(),
            label: self.named(CsvRole::Label),
            weight: self.named(CsvRole::Weight),
            csv: Some(self.layout.clone()),
        }
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let mut decided = vec![("format", Format::Parquet.to_string())];
        decided.extend(describe_roles(self.leaves.iter().map(|leaf| (&*leaf.name, leaf.role))));
        if let Columns::Hashed { bits } = self.columns() {
            decided.push(("features", format!("hashed into 2^{bits} columns")));
        }
        decided
    }
}

#[cfg(test)]
#[path = "parquet_tests.rs"]
mod tests;

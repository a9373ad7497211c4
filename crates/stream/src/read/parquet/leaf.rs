//! A leaf column: decodes its cells and adds them to rows.

use std::fmt::Write as _;

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use crate::read::columns::ColumnMap;
use crate::read::error::{ReadErrorKind, shown};
use crate::read::options::CsvRole;
use crate::read::row::Row;

/// Number of rows decoded at a time.
const ROWS: usize = 1024;

/// A column of the file, with its decoded cells.
pub(super) struct Leaf {
    pub(super) name: String,
    /// `None` for a column unknown to the saved model.
    pub(super) role: Option<CsvRole>,
    /// Column of a numeric leaf.
    pub(super) column: Option<u32>,
    /// Names of a list's positions so far.
    positions: Vec<String>,
    pub(super) list: bool,
    unsigned: bool,
    /// The divisor of decimals.
    divisor: f64,
    /// The definition level of a cell that is present.
    present: i16,
    pub(super) reader: Option<ColumnReader>,
    pub(super) values: Values,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    /// The next cell and the next value.
    level: usize,
    value: usize,
}

pub(super) enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
}

impl Leaf {
    pub(super) fn new(descriptor: &ColumnDescriptor) -> Result<Self, String> {
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

    pub(super) fn natural_role(&self) -> CsvRole {
        if matches!(self.values, Values::Bytes(_)) { CsvRole::Categorical } else { CsvRole::Numeric }
    }

    /// Decodes the next rows; returns how many there were.
    pub(super) fn decode(&mut self) -> Result<usize, ParquetError> {
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

    /// The next cell of the current row: its position in a list, and the index of its value unless
    /// it is missing. `first`: the row's first cell.
    pub(super) fn cell(&mut self, first: bool) -> Option<Option<usize>> {
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

    /// Adds the cells of the current row to `row`.
    pub(super) fn cells(
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
            // Parquet columns never have these roles.
            Some(CsvRole::Text | CsvRole::Time | CsvRole::Drop) => {}
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

//! A leaf column of a file: decodes its cells as numbers or text.

use std::fmt::Write as _;

use jiff_core::civil::UnixEpochDay;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescriptor, Type as SchemaType};

use crate::read::label::LabelType;
use crate::read::number;
use crate::read::table::schema::{CsvRole, Style};
use crate::read::table::{Cell, Column, Moment, SECONDS_OF_DAY, of_seconds};

/// Number of rows decoded at a time.
const ROWS: usize = 1024;

/// Largest number of digits of a decimal, so that it fits 128 bits.
const MOST_DIGITS: i32 = 38;

const NANOS: i64 = 1_000_000_000;

/// The day of the Julian calendar on which 1970 begins.
const JULIAN_DAY_OF_1970: i64 = 2_440_588;

/// A column of the file, with its decoded cells.
pub(super) struct Leaf {
    /// From the schema of the file.
    pub(super) name: String,
    /// Whether a cell is a list.
    pub(super) list: bool,
    /// The name of the map whose values these are.
    pub(super) values_of: Option<String>,
    pub(super) kind: Kind,
    /// The zone in which the clock of its times stood, if it is not UTC.
    pub(super) zone: Option<String>,
    /// Whether the cells are not decoded.
    pub(super) skipped: bool,
    /// The definition level of a cell that is present.
    present: i16,
    pub(super) reader: Option<ColumnReader>,
    values: Values,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    /// The next cell and the next value.
    level: usize,
    value: usize,
}

/// The names of the fields that lead from `root` to a column, joined by dots. The two groups in which the
/// format wraps the elements of a list, `name.list.element`, are left out.
fn path(root: &SchemaType, below: &[String]) -> String {
    let (mut name, mut field) = (root.name().to_owned(), root);
    let mut below = below.iter();
    while let Some(part) = below.next() {
        let is_list = field.get_basic_info().converted_type() == ConvertedType::LIST;
        let Some(next) = field.get_fields().iter().find(|field| field.name() == part) else { break };
        field = next;
        if is_list {
            // An older form of lists lacks the group around the element.
            if field.is_group()
                && let [element] = field.get_fields()
            {
                below.next();
                field = element;
            }
        } else {
            name.push('.');
            name.push_str(part);
        }
    }
    name
}

/// The name of the map of whose values the column `name` consists, to which `below` leads from `root`. Maps
/// have two columns, their keys and their values.
fn map_of_values(root: &SchemaType, below: &[String], name: &str) -> Option<String> {
    let is_map = |field: &SchemaType| {
        let of = field.get_basic_info().converted_type();
        matches!(of, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE)
    };
    let [.., pair, last] = below else { return None };
    let (mut field, mut is_in_map) = (root, is_map(root));
    for part in below {
        let Some(next) = field.get_fields().iter().find(|field| field.name() == part) else { break };
        field = next;
        is_in_map |= is_map(field);
    }
    let map = name.strip_suffix(&format!(".{pair}.{last}")).filter(|_| is_in_map && last != "key");
    map.map(str::to_owned)
}

/// What the values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Number,
    Unsigned,
    /// Integers over ten to this power.
    Decimal(i32),
    /// Days since 1 January 1970.
    Day,
    /// Time since 1 January 1970, in units of which a second has this many.
    Time(i64),
    /// Time of day, likewise.
    Clock(i64),
    /// A duration, likewise.
    Span(i64),
    Text,
    Uuid,
    /// Of a type that is not read; `None` for lists of lists.
    Unread(Option<Type>),
}

enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

impl Leaf {
    /// `root` is the top-level field that contains the column.
    pub(super) fn new(root: &SchemaType, descriptor: &ColumnDescriptor) -> Self {
        let list = descriptor.max_rep_level() > 0;
        let values = match descriptor.physical_type() {
            Type::BOOLEAN => Values::Bool(vec![]),
            Type::INT32 => Values::Int32(vec![]),
            Type::INT64 => Values::Int64(vec![]),
            Type::INT96 => Values::Int96(vec![]),
            Type::FLOAT => Values::Float(vec![]),
            Type::DOUBLE => Values::Double(vec![]),
            Type::BYTE_ARRAY => Values::Bytes(vec![]),
            Type::FIXED_LEN_BYTE_ARRAY => Values::Fixed(vec![]),
        };
        let (kind, below) = (kind(descriptor), &descriptor.path().parts()[1..]);
        let name = path(root, below);
        Leaf {
            values_of: map_of_values(root, below, &name),
            name,
            list,
            kind,
            zone: None,
            skipped: matches!(kind, Kind::Unread(_)),
            present: descriptor.max_def_level(),
            reader: None,
            values,
            definitions: vec![],
            repetitions: vec![],
            level: 0,
            value: 0,
        }
    }

    /// Takes whole numbers for durations, in units of which a second has so many.
    pub(super) fn take_spans(&mut self, units: i64) {
        if let (Kind::Number, Values::Int64(_), false) = (self.kind, &self.values, self.list) {
            self.kind = Kind::Span(units);
        }
    }

    /// Whether a cell is a list of numbers.
    pub(super) fn is_vector(&self) -> bool {
        self.list && !self.is_text()
    }

    /// Whether the kind of the column is inferred from its cells.
    pub(super) fn is_sampled(&self) -> bool {
        !self.is_vector() && !matches!(self.kind, Kind::Unread(_))
    }

    /// Whether the values are texts.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Uuid)
    }

    /// The role and the notation that follow from the type.
    pub(super) fn declared(&self) -> Option<(CsvRole, Option<Style>)> {
        match self.kind {
            _ if self.list => None,
            Kind::Bool => Some((CsvRole::Categorical, None)),
            Kind::Day | Kind::Time(_) => Some((CsvRole::Time, Some(Style::Iso))),
            _ => None,
        }
    }

    /// The type of the values as labels.
    pub(super) fn label_type(&self) -> LabelType {
        match (self.kind, &self.values) {
            (Kind::Bool, _) => LabelType::Truth,
            (Kind::Day | Kind::Time(_) | Kind::Clock(_), _) => LabelType::Time,
            (Kind::Text | Kind::Uuid | Kind::Span(_) | Kind::Unread(_), _) => LabelType::Text,
            (Kind::Decimal(_), _) | (_, Values::Float(_) | Values::Double(_)) => LabelType::Real,
            (Kind::Number | Kind::Unsigned, _) => LabelType::Whole,
        }
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
            (ColumnReader::Int96ColumnReader(reader), Values::Int96(values)) => read!(reader, values),
            (ColumnReader::FloatColumnReader(reader), Values::Float(values)) => read!(reader, values),
            (ColumnReader::DoubleColumnReader(reader), Values::Double(values)) => read!(reader, values),
            (ColumnReader::ByteArrayColumnReader(reader), Values::Bytes(values)) => read!(reader, values),
            (ColumnReader::FixedLenByteArrayColumnReader(reader), Values::Fixed(values)) => {
                read!(reader, values)
            }
            _ => return Err(ParquetError::General("a row group has other types than the schema".to_owned())),
        })
    }

    /// The next cell of the current row: `None` after the last one, else the index of its value unless it
    /// is missing. `first`: the row's first cell.
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

    /// A value as a number; `None` for texts.
    pub(super) fn number(&self, at: usize) -> Option<f64> {
        let scale = if let Kind::Decimal(scale) = self.kind { scale } else { 0 };
        Some(match &self.values {
            Values::Bool(values) => f64::from(u8::from(values[at])),
            Values::Int32(values) if self.kind == Kind::Unsigned => f64::from(values[at].cast_unsigned()),
            Values::Int32(values) => decimal(values[at].into(), scale),
            Values::Int64(values) if self.kind == Kind::Unsigned => values[at].cast_unsigned() as f64,
            Values::Int64(values) if scale == 0 => values[at] as f64,
            Values::Int64(values) => decimal(values[at].into(), scale),
            Values::Int96(values) => values[at].to_micros() as f64,
            Values::Float(values) => f64::from(values[at]),
            Values::Double(values) => values[at],
            Values::Bytes(_) | Values::Fixed(_) if self.is_text() => return None,
            Values::Bytes(values) => decimal(integer(values[at].data()), scale),
            Values::Fixed(values) => decimal(integer(values[at].data()), scale),
        })
    }

    /// A value as seconds and nanoseconds, since 1970, since midnight or in all; `None` if it is no time.
    fn seconds(&self, at: usize) -> Option<(i64, u32)> {
        match (self.kind, &self.values) {
            (Kind::Clock(units) | Kind::Span(units), Values::Int64(values)) => Some(split(values[at], units)),
            (Kind::Clock(units), Values::Int32(values)) => Some(split(values[at].into(), units)),
            (Kind::Day, Values::Int32(values)) => Some((i64::from(values[at]) * SECONDS_OF_DAY, 0)),
            (Kind::Time(units), Values::Int64(values)) => Some(split(values[at], units)),
            (Kind::Time(_), Values::Int96(values)) => {
                let [low, high, day] = *values[at].data() else { return None };
                let nanos = i64::from(high & 0x7fff_ffff) << 32 | i64::from(low);
                let days = i64::from(day.cast_signed()) - JULIAN_DAY_OF_1970;
                Some((days * SECONDS_OF_DAY + nanos / NANOS, (nanos % NANOS) as u32))
            }
            _ => None,
        }
    }

    /// A value as a cell for a column.
    pub(super) fn value<'a>(&'a self, at: usize, column: &Column, buffer: &'a mut String) -> Cell<'a> {
        let style = || column.field.as_ref().and_then(|field| field.style);
        let is_duration = || matches!(style(), Some(Style::Duration | Style::Minutes));
        let typed = match (column.role, &self.values) {
            // Models of before have such columns in their units.
            (Some(CsvRole::Numeric), _)
                if matches!(self.kind, Kind::Clock(_) | Kind::Span(_)) && is_duration() =>
            {
                self.seconds(at).map(|(whole, nanos)| Cell::Number(of_seconds(whole, nanos)))
            }
            (Some(CsvRole::Numeric), _) => {
                self.number(at).filter(|number| number.is_finite()).map(Cell::Number)
            }
            (Some(CsvRole::Time), _) if !matches!(self.kind, Kind::Clock(_) | Kind::Span(_)) => {
                self.seconds(at).and_then(|(second, nanos)| Moment::of_seconds(second, nanos)).map(Cell::Time)
            }
            (_, Values::Bool(values)) => Some(Cell::Truth(values[at])),
            _ => None,
        };
        let label = column.role == Some(CsvRole::Label);
        typed
            .unwrap_or_else(|| Cell::Text(if label { self.given(at, buffer) } else { self.text(at, buffer) }))
    }

    /// A value as text without blanks around it; empty for NaN. `buffer` may be used for it.
    pub(super) fn text<'a>(&'a self, at: usize, buffer: &'a mut String) -> &'a [u8] {
        self.given(at, buffer).trim_ascii()
    }

    /// A value as text, as a label is given; empty for NaN. `buffer` may be used for it.
    pub(super) fn given<'a>(&'a self, at: usize, buffer: &'a mut String) -> &'a [u8] {
        buffer.clear();
        let written = match &self.values {
            Values::Bytes(values) if self.kind == Kind::Text => return values[at].data(),
            Values::Fixed(values) if self.kind == Kind::Uuid => uuid(values[at].data(), buffer),
            Values::Bool(values) => write!(buffer, "{}", values[at]),
            Values::Int32(values) if self.kind == Kind::Day => day(values[at].into(), buffer),
            Values::Int32(_) | Values::Int64(_) if matches!(self.kind, Kind::Clock(_)) => {
                self.seconds(at).map_or(Ok(()), |(second, nanos)| clock(second, nanos, buffer))
            }
            Values::Int64(_) if matches!(self.kind, Kind::Span(_)) => {
                self.seconds(at).map_or(Ok(()), |(second, nanos)| span(second, nanos, buffer))
            }
            Values::Int64(_) | Values::Int96(_) if matches!(self.kind, Kind::Time(_)) => {
                self.seconds(at).map_or(Ok(()), |(second, nanos)| time(second, nanos, buffer))
            }
            Values::Int64(values) => match self.kind {
                Kind::Unsigned => write!(buffer, "{}", values[at].cast_unsigned()),
                Kind::Decimal(_) => write!(buffer, "{}", self.number(at).unwrap_or_default()),
                _ => write!(buffer, "{}", values[at]),
            },
            Values::Float(values) if values[at].is_nan() => Ok(()),
            Values::Float(values) => write!(buffer, "{}", values[at]),
            _ => match self.number(at) {
                Some(number) if !number.is_nan() => write!(buffer, "{number}"),
                _ => Ok(()),
            },
        };
        written.expect("writing to a string does not fail");
        buffer.as_bytes()
    }
}

/// What the values of a column mean.
fn kind(descriptor: &ColumnDescriptor) -> Kind {
    use ConvertedType as Old;
    let (converted, logical) = (descriptor.converted_type(), descriptor.logical_type_ref());
    let is_decimal = converted == Old::DECIMAL || matches!(logical, Some(LogicalType::Decimal(_)));
    let physical = descriptor.physical_type();
    if descriptor.max_rep_level() > 1 {
        return Kind::Unread(None);
    }
    if is_decimal {
        let (scale, digits) = (descriptor.type_scale(), descriptor.type_precision());
        let fits = (0..=MOST_DIGITS).contains(&scale) && digits <= MOST_DIGITS;
        return if fits { Kind::Decimal(scale) } else { Kind::Unread(Some(physical)) };
    }
    match (physical, logical) {
        (Type::BOOLEAN, _) => Kind::Bool,
        (Type::INT32, Some(LogicalType::Date)) => Kind::Day,
        (Type::INT64, Some(LogicalType::Timestamp(time))) => Kind::Time(match time.unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        }),
        (Type::INT32 | Type::INT64, Some(LogicalType::Time(time))) => Kind::Clock(match time.unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        }),
        (Type::INT96, _) => Kind::Time(1_000_000_000),
        (Type::BYTE_ARRAY, _) => Kind::Text,
        (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)) => Kind::Uuid,
        (Type::FIXED_LEN_BYTE_ARRAY, _) => Kind::Unread(Some(physical)),
        (Type::INT32 | Type::INT64, _) => match converted {
            Old::DATE => Kind::Day,
            Old::TIMESTAMP_MILLIS => Kind::Time(1_000),
            Old::TIMESTAMP_MICROS => Kind::Time(1_000_000),
            Old::TIME_MILLIS => Kind::Clock(1_000),
            Old::TIME_MICROS => Kind::Clock(1_000_000),
            Old::UINT_8 | Old::UINT_16 | Old::UINT_32 | Old::UINT_64 => Kind::Unsigned,
            _ => Kind::Number,
        },
        (Type::FLOAT | Type::DOUBLE, _) => Kind::Number,
    }
}

/// A signed integer of at most 16 bytes, the highest first.
fn integer(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|byte| *byte > 127) { -1 } else { 0 };
    bytes.iter().fold(sign, |value, byte| (value << 8) | i128::from(*byte))
}

/// The number nearest to `value` over ten to the power of `scale`, as if read from text.
fn decimal(value: i128, scale: i32) -> f64 {
    // Below 2^53 and up to 10^22 both are exact, so that one division rounds correctly.
    if value.unsigned_abs() < 1 << 53 && scale <= 22 {
        return value as f64 / 10_f64.powi(scale);
    }
    number::parse(format!("{value}e-{scale}").as_bytes()).expect("an integer with an exponent is a number")
}

/// Whole seconds and nanoseconds of a number of units, of which a second has so many.
fn split(value: i64, units: i64) -> (i64, u32) {
    (value.div_euclid(units), (value.rem_euclid(units) * (NANOS / units)) as u32)
}

/// Writes a time as `2026-11-22 10:31:07.5`, from seconds since 1970 and nanoseconds.
fn time(seconds: i64, nanos: u32, out: &mut String) -> std::fmt::Result {
    day(seconds.div_euclid(SECONDS_OF_DAY), out)?;
    out.push(' ');
    clock(seconds.rem_euclid(SECONDS_OF_DAY), nanos, out)
}

/// Writes a duration as pandas does, `1 days 10:31:07.5` or `-1 days +23:59:57`.
fn span(seconds: i64, nanos: u32, out: &mut String) -> std::fmt::Result {
    let days = seconds.div_euclid(SECONDS_OF_DAY);
    write!(out, "{days} days {}", if days < 0 { "+" } else { "" })?;
    clock(seconds.rem_euclid(SECONDS_OF_DAY), nanos, out)
}

/// Writes a time of day as `10:31:07.5`.
fn clock(second: i64, nanos: u32, out: &mut String) -> std::fmt::Result {
    write!(out, "{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)?;
    if nanos > 0 {
        write!(out, ".{nanos:09}")?;
        out.truncate(out.trim_end_matches('0').len());
    }
    Ok(())
}

/// Writes a day of the Gregorian calendar as `2026-11-22`, from days since 1970; a day beyond the year 9999,
/// on either side, as this number, which is no day.
fn day(days: i64, out: &mut String) -> std::fmt::Result {
    match i32::try_from(days).ok().and_then(|days| UnixEpochDay::new(days).ok()) {
        Some(day) => {
            let date = day.to_date();
            write!(out, "{:04}-{:02}-{:02}", date.year(), date.month(), date.day())
        }
        None => write!(out, "{days}"),
    }
}

fn uuid(bytes: &[u8], out: &mut String) -> std::fmt::Result {
    for (at, byte) in bytes.iter().enumerate() {
        let mark = if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" };
        write!(out, "{mark}{byte:02x}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_times_are_written_as_in_text() {
        let written = |seconds, nanos| {
            let mut out = String::new();
            time(seconds, nanos, &mut out).unwrap();
            out
        };
        assert_eq!(written(0, 0), "1970-01-01 00:00:00");
        assert_eq!(written(-1, 500_000_000), "1969-12-31 23:59:59.5");
        assert_eq!(written(951_782_400, 1), "2000-02-29 00:00:00.000000001");
        assert_eq!(written(1_795_343_467, 120_000_000), "2026-11-22 10:31:07.12");
        let took = |(seconds, nanos)| {
            let mut out = String::new();
            span(seconds, nanos, &mut out).unwrap();
            out
        };
        assert_eq!(took(split(71_343_500, 1_000)), "0 days 19:49:03.5");
        assert_eq!(took(split(-3, 1)), "-1 days +23:59:57");
        let mut out = String::new();
        day(-719_162, &mut out).unwrap();
        assert_eq!(out, "0001-01-01");
        assert_eq!(written(253_402_300_799, 0), "9999-12-31 23:59:59");
        assert_eq!(written(253_402_300_800, 0), "2932897 00:00:00");
        assert_eq!(written(i64::MIN, 0), "-106751991167301 08:29:52");
    }

    #[test]
    fn decimals_are_rounded_once() {
        for (value, scale, text) in [
            (123_450, 2, "1234.50"),
            (-5, 1, "-0.5"),
            (i128::from(i64::MAX), 18, "9.223372036854775807"),
            (integer(&[0xff, 0x38]), 3, "-0.2"),
            (integer(&[1, 0, 0, 0, 0, 0, 0, 0, 0]), 0, "18446744073709551616"),
            (7, 38, "0.00000000000000000000000000000000000007"),
        ] {
            assert_eq!(decimal(value, scale).to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }
}

//! Writing rows in the formats that the readers read.
//!
//! A row is written whole or not at all: what a format has no place for is refused, never dropped. Numbers are written
//! in the shortest way that reads back to the same bits.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::read::columns::Columns;
use crate::read::error::shown;
use crate::read::format::Format;
use crate::read::row::{Row, RowLabel};

/// Why a row could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The format has no place for something in the row.
    #[error("a row cannot be written as {format}: {problem}")]
    Unfit {
        /// The format.
        format: Format,
        /// What does not fit, with its value.
        problem: String,
    },
}

/// A file of examples being written.
pub trait RowWriter: Send {
    /// Writes one row; `columns` give its features their names.
    ///
    /// # Errors
    ///
    /// The output fails, or the format has no place for something in the row; then nothing of it is written.
    fn write(&mut self, row: &Row, columns: &Columns) -> Result<(), WriteError>;

    /// Hands everything to the output.
    ///
    /// # Errors
    ///
    /// The output fails.
    fn flush(&mut self) -> Result<(), WriteError>;
}

/// A writer of rows to `out`, which is buffered here.
///
/// - LIBSVM numbers features as [`Columns::Numbered`] do, buckets of a hash from 1; it has no names, weights, tags.
/// - VW puts all features into the nameless namespace, under their names or numbers.
/// - CSV begins with a header in which numbered features are called `x1`, `x2`, ...; `label` stands last. All columns
///   must be known with the first row. It has no weights and tags.
/// - Parquet has the columns of CSV. The file is complete with [`RowWriter::flush`], after which no row can follow.
/// - NDJSON writes numbered features as the array `x` of all columns, which must be known with the first row, and named
///   ones as the object `x`; the label is `y`.
pub fn create<'a>(format: Format, out: Box<dyn Write + Send + 'a>) -> Box<dyn RowWriter + 'a> {
    #[cfg(feature = "parquet")]
    if format == Format::Parquet {
        return Box::new(crate::write::parquet::ParquetRows::new(out));
    }
    Box::new(Lines { format, out: io::BufWriter::new(out), line: String::new(), width: None })
}

struct Lines<'a> {
    format: Format,
    out: io::BufWriter<Box<dyn Write + Send + 'a>>,
    line: String,
    /// Number of columns that the first row had.
    width: Option<u32>,
}

impl RowWriter for Lines<'_> {
    fn write(&mut self, row: &Row, columns: &Columns) -> Result<(), WriteError> {
        self.line.clear();
        let made = match self.format {
            Format::Libsvm => libsvm(&mut self.line, row, columns),
            Format::Vw => vw(&mut self.line, row, columns),
            Format::Csv => self.csv(row, columns),
            Format::Ndjson => self.ndjson(row, columns),
            Format::Parquet => {
                Err("this program was built without it; build it with --features parquet".into())
            }
        };
        made.map_err(|problem| WriteError::Unfit { format: self.format, problem })?;
        self.width.get_or_insert(columns.count());
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        Ok(self.out.flush()?)
    }
}

type Made = Result<(), String>;

fn libsvm(line: &mut String, row: &Row, columns: &Columns) -> Made {
    let base = match columns {
        Columns::Numbered { base, .. } => u64::from(*base),
        Columns::Hashed { .. } => 1,
        Columns::Named(_) => return Err("its features have names".into()),
    };
    no_weight_or_tag(row)?;
    match label(row)? {
        // It would begin a comment.
        Some(label) if label.starts_with('#') => return Err(format!("label {} begins with #", shown(label))),
        Some(label) => word(line, "label", label, ":")?,
        None if row.indices().is_empty() => return Err("it has neither label nor features".into()),
        None => {}
    }
    for (&index, &value) in row.indices().iter().zip(row.values()) {
        let space = if line.is_empty() { "" } else { " " };
        push(line, format_args!("{space}{}:", u64::from(index) + base));
        number(line, value);
    }
    Ok(())
}

fn vw(line: &mut String, row: &Row, columns: &Columns) -> Made {
    match row.label() {
        RowLabel::Costs(costs) => {
            for one in costs {
                word(line, "action", &one.action, ":|'")?;
                line.push(':');
                one.cost.into_iter().for_each(|cost| number(line, cost));
                if let Some(probability) = one.probability {
                    line.push(':');
                    number(line, probability);
                }
                line.push(' ');
            }
        }
        _ => {
            if let Some(label) = label(row)? {
                word(line, "label", label, ":|'")?;
                line.push(' ');
            }
        }
    }
    if row.weight != 1.0 {
        if !matches!(row.label(), RowLabel::Name(_)) {
            return Err(format!("it has weight {} but no class", row.weight));
        }
        number(line, row.weight);
        line.push(' ');
    }
    if !row.tag.is_empty() {
        line.push('\'');
        word(line, "tag", &row.tag, "|")?;
    }
    line.push('|');
    for (&index, &value) in row.indices().iter().zip(row.values()) {
        line.push(' ');
        word(line, "feature", &columns.name(index), ":|")?;
        if value != 1.0 {
            line.push(':');
            number(line, value);
        }
    }
    Ok(())
}

impl Lines<'_> {
    fn csv(&mut self, row: &Row, columns: &Columns) -> Made {
        let width = self.check_width(columns)?;
        no_weight_or_tag(row)?;
        if width == 0 {
            return Err("it has no columns".into());
        }
        let mut header = String::new();
        if self.width.is_none() {
            for column in 0..width {
                let name = csv_name(columns, column);
                if name.eq_ignore_ascii_case("label") {
                    return Err("a feature is called label".into());
                }
                cell(&mut header, "feature", &name)?;
                header.push(',');
            }
            header.push_str("label\n");
        }
        let mut features = row.indices().iter().zip(row.values()).peekable();
        for column in 0..width {
            let value = features.next_if(|&(&index, _)| index == column).map_or(0.0, |(_, &value)| value);
            number(&mut self.line, value);
            self.line.push(',');
        }
        if let Some(label) = label(row)? {
            cell(&mut self.line, "label", label)?;
        }
        self.line.insert_str(0, &header);
        Ok(())
    }

    fn ndjson(&mut self, row: &Row, columns: &Columns) -> Made {
        let numbered = matches!(columns, Columns::Numbered { .. });
        let width = if numbered { self.check_width(columns)? } else { 0 };
        let line = &mut self.line;
        let features = row.indices().iter().zip(row.values());
        if numbered {
            let mut features = features.peekable();
            line.push_str("{\"x\": [");
            for column in 0..width {
                line.push_str(if column == 0 { "" } else { ", " });
                number(
                    line,
                    features.next_if(|&(&index, _)| index == column).map_or(0.0, |(_, &value)| value),
                );
            }
            line.push(']');
        } else {
            line.push_str("{\"x\": {");
            for (position, (&index, &value)) in features.enumerate() {
                line.push_str(if position == 0 { "" } else { ", " });
                string(line, &columns.name(index));
                line.push_str(": ");
                number(line, value);
            }
            line.push('}');
        }
        line.push_str(", \"y\": ");
        match row.label() {
            RowLabel::Distribution(probabilities) => {
                for (position, &probability) in probabilities.iter().enumerate() {
                    line.push_str(if position == 0 { "[" } else { ", " });
                    number(line, probability);
                }
                line.push(']');
            }
            _ => match label(row)? {
                Some(label) => string(line, label),
                None => line.push_str("null"),
            },
        }
        if row.weight != 1.0 {
            line.push_str(", \"weight\": ");
            number(line, row.weight);
        }
        if !row.tag.is_empty() {
            line.push_str(", \"tag\": ");
            string(line, &row.tag);
        }
        line.push('}');
        Ok(())
    }

    fn check_width(&self, columns: &Columns) -> Result<u32, String> {
        let count = columns.count();
        match self.width {
            Some(width) if width != count => Err(format!("it has {count} columns, the first row {width}")),
            _ => Ok(count),
        }
    }
}

pub(crate) fn csv_name(columns: &Columns, column: u32) -> Cow<'_, str> {
    match columns {
        Columns::Numbered { .. } => Cow::Owned(format!("x{}", columns.name(column))),
        _ => columns.name(column),
    }
}

/// The class of a row, if it has one; other labels have their place in few formats.
pub(crate) fn label(row: &Row) -> Result<Option<&str>, String> {
    match row.label() {
        RowLabel::Missing => Ok(None),
        RowLabel::Name(name) if name.is_empty() || name.trim() != name => {
            Err(format!("label {} is empty or has blanks around it", shown(name)))
        }
        RowLabel::Name(name) => Ok(Some(name)),
        RowLabel::Distribution(_) => Err("its label is a distribution".into()),
        RowLabel::Costs(_) => Err("its label has costs".into()),
    }
}

pub(crate) fn no_weight_or_tag(row: &Row) -> Made {
    if row.weight != 1.0 {
        return Err(format!("it has weight {}", row.weight));
    }
    if !row.tag.is_empty() {
        return Err(format!("it has the tag {}", shown(&row.tag)));
    }
    Ok(())
}

/// A word without blanks and `special` characters.
fn word(line: &mut String, what: &str, text: &str, special: &str) -> Made {
    let unfit = |c: char| c.is_whitespace() || c.is_control() || special.contains(c);
    if text.is_empty() || text.contains(unfit) {
        return Err(format!("{what} {} is empty or has a character with a meaning", shown(text)));
    }
    line.push_str(text);
    Ok(())
}

/// A CSV cell, quoted where needed. The reader trims cells and evens line ends, so blanks around it do not fit.
fn cell(line: &mut String, what: &str, text: &str) -> Made {
    if text.is_empty() || text.trim() != text || text.contains(char::is_control) {
        return Err(format!("{what} {} is empty, has blanks around it or control characters", shown(text)));
    }
    // A tab, semicolon or bar in every row could pass for the delimiter.
    if text.contains([',', '"', ';', '|', ' ']) {
        push(line, format_args!("\"{}\"", text.replace('"', "\"\"")));
    } else {
        line.push_str(text);
    }
    Ok(())
}

fn string(line: &mut String, text: &str) {
    line.push_str(&serde_json::to_string(text).expect("a string is JSON"));
}

/// The shortest text that reads back to the same bits, with an exponent where digits would run long.
fn number(line: &mut String, value: f64) {
    if value == value.trunc() && value.abs() < 1e15 {
        push(line, format_args!("{value}"));
    } else {
        push(line, format_args!("{value:?}"));
    }
}

fn push(line: &mut String, text: std::fmt::Arguments<'_>) {
    line.write_fmt(text).expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(value: f64) -> String {
        let mut line = String::new();
        number(&mut line, value);
        line
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (1.0, "1"),
            (-0.1, "-0.1"),
            (1e300, "1e300"),
            (1e-7, "1e-7"),
            (5e-324, "5e-324"),
            (1e15, "1000000000000000.0"),
        ];
        for (value, text) in cases {
            assert_eq!(numbers(value), text);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
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

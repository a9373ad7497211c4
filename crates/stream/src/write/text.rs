//! The line formats.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::fault::{Fault, fault};
use crate::read::columns::Columns;
use crate::read::error::shown;
use crate::read::format::Format;
use crate::read::row::{Row, RowLabel};
use crate::write::writer::{RowWriter, WriteError, csv_name, label, no_weight_or_tag};

pub(super) struct Lines<'a> {
    format: Format,
    out: io::BufWriter<Box<dyn Write + Send + 'a>>,
    line: String,
    /// Number of columns of the first row.
    width: Option<u32>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(format: Format, out: Box<dyn Write + Send + 'a>) -> Self {
        Self { format, out: io::BufWriter::new(out), line: String::new(), width: None }
    }
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
                Err("it needs the cargo feature parquet, which this build does not have".into())
            }
            _ => Err("the format is read, and not written".into()),
        };
        made.map_err(|problem| WriteError::Unfit { format: self.format, problem: problem.into() })?;
        self.width.get_or_insert(columns.count());
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        Ok(self.out.flush()?)
    }
}

type Made = Result<(), Fault>;

fn libsvm(line: &mut String, row: &Row, columns: &Columns) -> Made {
    let base = match columns {
        Columns::Numbered { base, .. } => u64::from(*base),
        Columns::Hashed { .. } => 1,
        Columns::Named(_) => return Err("its features have names".into()),
    };
    no_weight_or_tag(row)?;
    match label(row)? {
        // It would begin a comment.
        Some(label) if label.starts_with('#') => return Err(fault!("label {} begins with #", shown(label))),
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
                if ["ca", "ccb", "shared", "slates"].contains(&label) {
                    return Err(fault!("label {} begins a label of another kind there", shown(label)));
                }
                word(line, "label", label, ":|'")?;
                line.push(' ');
            }
        }
    }
    if row.weight != 1.0 {
        if !matches!(row.label(), RowLabel::Name(_)) {
            return Err(fault!("it has weight {} but no class", row.weight));
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

    fn check_width(&self, columns: &Columns) -> Result<u32, Fault> {
        let count = columns.count();
        match self.width {
            Some(width) if width != count => Err(fault!("it has {count} columns, the first row {width}")),
            _ => Ok(count),
        }
    }
}

/// A word without blanks and `special` characters.
fn word(line: &mut String, what: &str, text: &str, special: &str) -> Made {
    let unfit = |c: char| c.is_whitespace() || c.is_control() || special.contains(c);
    if text.is_empty() || text.contains(unfit) {
        return Err(fault!("{what} {} is empty or contains a special character", shown(text)));
    }
    line.push_str(text);
    Ok(())
}

/// A CSV cell, quoted if needed. The reader trims cells and normalises line ends, so cells with
/// outer blanks are rejected.
fn cell(line: &mut String, what: &str, text: &str) -> Made {
    if text.is_empty() || text.trim() != text || text.contains(char::is_control) {
        return Err(fault!("{what} {} is empty, has blanks around it or control characters", shown(text)));
    }
    // A tab, semicolon or bar in every row could be mistaken for the delimiter.
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

/// The shortest text that reads back to the same bits, with an exponent for very large or small
/// numbers.
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
}

//! ARFF, the format of MOA and Weka: a header that names and types the columns, then rows of values.
//!
//! The rows are handed to the reader of delimited text, or, where they are sparse (`{3 1.5, 7 yes}`), to that
//! of NDJSON, with the line numbers of the file. The header decides the roles of the columns, except where
//! the options do: numbers stay numbers, nominal values are categories, strings are text, dates are times.
//! The label is the column that the options name, else one called `label`, `class`, `target` or `y`, else the
//! last one. `?` is a missing value. In a sparse row a value that is not written is 0, or the first of the
//! values of a nominal attribute. A number in braces behind a row, `5.1, yes, {2}`, is its weight, if the
//! first row has one.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, Read};

use crate::read::csv::layout::{find_column, label_by_name};
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::number;
use crate::read::options::ReadOptions;
use crate::read::reader::Reader;
use crate::read::source::Source;
use crate::read::{csv, ndjson};

/// The type of an attribute.
#[derive(Debug, PartialEq)]
enum Kind {
    Numeric,
    /// With its possible values.
    Nominal(Vec<String>),
    Text,
    Time,
}

#[derive(Debug)]
struct Attribute {
    name: String,
    kind: Kind,
}

/// Whether the first line that is neither blank nor a comment starts a header.
pub(crate) fn begins<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let first = lines.find(|line| !line.is_empty());
    first.is_some_and(|line| line.starts_with(b"%") || keyword(line, "@relation").is_some())
}

pub(crate) fn reader(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let attributes = header(&mut source)?;
    let names: Vec<String> = attributes.iter().map(|attribute| attribute.name.clone()).collect();
    let label = match &options.label {
        Some(column) => find_column(&names, column).map_err(|message| source.file_error(message))?,
        None => label_by_name(&names).unwrap_or(names.len() - 1),
    };
    let first = first_row(&mut source)?;
    let sparse = first.starts_with(b"{");
    let weighted = std::str::from_utf8(&first).is_ok_and(|row| weight_of(row).1.is_some());
    let mut options =
        ReadOptions { label: Some(names[label].clone()), header: Some(true), ..options.clone() };
    // Weights have no name in the header.
    let weight = (weighted && options.weight.is_none()).then(|| {
        let free = |name: &&str| !names.iter().any(|known| known == *name);
        ["weight", "instance weight", "{weight}"].into_iter().find(free).unwrap_or_default().to_owned()
    });
    options.weight = weight.clone().or(options.weight);
    if options.schema.is_none() {
        declare(&attributes, label, &mut options);
    }
    options.delimiter = Some(b',');
    let source = source.translated(Format::Arff, |source| {
        let mut text = String::new();
        if sparse {
            // The line at which the rows start.
            text.push('\n');
        } else {
            cells(names.iter().chain(&weight).map(String::as_str), &mut text);
        }
        Box::new(Rows { source, attributes, sparse, weight, text: text.into_bytes(), at: 0 })
    });
    if sparse { ndjson::reader(source, &options) } else { csv::reader(source, &options) }
}

/// Assigns the header's roles to the columns that no option names.
fn declare(attributes: &[Attribute], label: usize, options: &mut ReadOptions) {
    let said: HashSet<&String> =
        [&options.categorical, &options.numeric, &options.text, &options.time, &options.drop]
            .into_iter()
            .flatten()
            .chain(&options.weight)
            .collect();
    let mut counts: HashMap<&str, u32> = HashMap::with_capacity(attributes.len());
    for attribute in attributes {
        *counts.entry(&attribute.name).or_default() += 1;
    }
    let is_free = |at: usize, name: &String| {
        counts[&**name] == 1 && at != label && !said.contains(name) && !said.contains(&(at + 1).to_string())
    };
    let free: Vec<&Attribute> = (attributes.iter().enumerate())
        .filter(|(at, attribute)| is_free(*at, &attribute.name))
        .map(|(_, attribute)| attribute)
        .collect();
    for Attribute { name, kind } in free {
        let columns = match kind {
            // Their cells say so, and row numbers are found.
            Kind::Numeric => continue,
            Kind::Nominal(_) => &mut options.categorical,
            Kind::Text => &mut options.text,
            Kind::Time => &mut options.time,
        };
        columns.push(name.clone());
    }
}

/// Reads up to the line `@data`.
fn header(source: &mut Source) -> Result<Vec<Attribute>, ReadError> {
    let mut attributes = vec![];
    loop {
        let Some(line) = source.next_line()? else {
            return Err(source.file_error("is ARFF without a line @data"));
        };
        let line = line.text().trim_ascii();
        if line.is_empty() || line.starts_with(b"%") || keyword(line, "@relation").is_some() {
            continue;
        }
        if keyword(line, "@data").is_some() {
            break;
        }
        let attribute = match keyword(line, "@attribute") {
            Some(rest) => attribute(rest),
            None => Err(format!("{} is no line of an ARFF header", shown(line))),
        };
        attributes.push(attribute.map_err(|message| source.error(ReadErrorKind::Row(message)))?);
    }
    if attributes.len() < 2 {
        return Err(source.file_error("declares fewer than two attributes; a row and its label need two"));
    }
    Ok(attributes)
}

/// The rest of the line after the keyword, which is case-insensitive.
fn keyword<'a>(line: &'a [u8], word: &str) -> Option<&'a [u8]> {
    let (first, rest) = line.split_at_checked(word.len())?;
    let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
    (ends && first.eq_ignore_ascii_case(word.as_bytes())).then(|| rest.trim_ascii())
}

/// A name and a type.
fn attribute(text: &[u8]) -> Result<Attribute, String> {
    let text = std::str::from_utf8(text).map_err(|_| "an attribute that is not UTF-8".to_owned())?;
    let mut tokens = Tokens(text);
    let Some(name) = tokens.next() else { return Err("an attribute has no name".to_owned()) };
    let rest = tokens.0.trim_ascii();
    let kind = match rest.strip_prefix('{') {
        Some(values) => {
            let values = values
                .strip_suffix('}')
                .ok_or_else(|| format!("attribute {}: its list of values has no end", shown(&name.text)))?;
            Kind::Nominal(Tokens(values).map(|value| value.text).collect())
        }
        None => {
            let word = rest.split_ascii_whitespace().next().unwrap_or_default().to_ascii_lowercase();
            match &*word {
                "numeric" | "real" | "integer" => Kind::Numeric,
                "string" => Kind::Text,
                "date" => Kind::Time,
                _ => {
                    return Err(format!(
                        "attribute {} has the type {}; known are numeric, real, integer, string, date and {{a, b}}",
                        shown(&name.text),
                        shown(rest)
                    ));
                }
            }
        }
    };
    Ok(Attribute { name: name.text, kind })
}

/// The first line that is a row; empty if there is none.
fn first_row(source: &mut Source) -> Result<Vec<u8>, ReadError> {
    let mut lines = 1;
    loop {
        let peek = source.peek(lines, 1)?;
        let row = peek.lines().map(<[u8]>::trim_ascii).find(|line| !is_blank(line)).map(<[u8]>::to_vec);
        if row.is_some() || peek.all {
            return Ok(row.unwrap_or_default());
        }
        lines *= 2;
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.is_empty() || line.starts_with(b"%")
}

/// A value of a row or a header.
struct Token {
    text: String,
    quoted: bool,
}

/// Values separated by commas or blanks, in single or double quotes if they contain either.
struct Tokens<'a>(&'a str);

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let text = self.0.trim_start();
        let first = text.chars().next()?;
        let mut value = String::new();
        let quoted = matches!(first, '\'' | '"');
        let end = if quoted {
            let mut inside = text.char_indices().skip(1);
            loop {
                match inside.next() {
                    Some((_, '\\')) => value.extend(inside.next().map(|(_, escaped)| match escaped {
                        'n' => '\n',
                        't' => '\t',
                        other => other,
                    })),
                    Some((at, quote)) if quote == first => break at + 1,
                    Some((_, other)) => value.push(other),
                    None => break text.len(),
                }
            }
        } else {
            let end = text.find(|at: char| at == ',' || at.is_whitespace()).unwrap_or(text.len());
            value.push_str(&text[..end]);
            end
        };
        let rest = text[end..].trim_start();
        self.0 = rest.strip_prefix(',').unwrap_or(rest);
        Some(Token { text: value, quoted })
    }
}

/// The rows as another format.
struct Rows {
    source: Source,
    attributes: Vec<Attribute>,
    sparse: bool,
    /// The name of the column of weights, if rows have them.
    weight: Option<String>,
    /// Bytes from `at` on are not returned yet.
    text: Vec<u8>,
    at: usize,
}

impl Read for Rows {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            let Some(line) = self.source.next_line().map_err(io::Error::other)? else { return Ok(0) };
            let line = line.text().trim_ascii();
            let mut text = String::new();
            match std::str::from_utf8(line) {
                Ok(row) if !is_blank(line) && self.sparse => {
                    sparse(row, &self.attributes, self.weight.as_deref(), &mut text);
                }
                Ok(row) if !is_blank(line) => {
                    let (row, weight) = if self.weight.is_some() { weight_of(row) } else { (row, None) };
                    let missing = |token: Token| {
                        if token.text == "?" && !token.quoted { String::new() } else { token.text }
                    };
                    let mut row: Vec<String> = Tokens(row).map(missing).collect();
                    row.extend(self.weight.as_ref().map(|_| weight.unwrap_or_default().to_owned()));
                    cells(row.iter().map(String::as_str), &mut text);
                }
                // Blank lines are kept, so that line numbers are right; invalid text is rejected by
                // the reader.
                read => {
                    self.text.clear();
                    self.at = 0;
                    if read.is_err() {
                        self.text.extend_from_slice(line);
                    }
                    self.text.push(b'\n');
                    continue;
                }
            }
            (self.text, self.at) = (text.into_bytes(), 0);
        }
        let count = out.len().min(self.text.len() - self.at);
        out[..count].copy_from_slice(&self.text[self.at..][..count]);
        self.at += count;
        Ok(count)
    }
}

/// A line of delimited text. Line ends in a value become blanks, so that each row is one line.
fn cells<'a>(values: impl Iterator<Item = &'a str>, line: &mut String) {
    for (at, value) in values.enumerate() {
        if at > 0 {
            line.push(',');
        }
        let value = value.replace(['\n', '\r'], " ");
        if value.contains([',', '"', ' ']) || value.is_empty() {
            let _ = write!(line, "\"{}\"", value.replace('"', "\"\""));
        } else {
            line.push_str(&value);
        }
    }
    line.push('\n');
}

/// A row without its weight, and the weight: a number in braces behind it.
fn weight_of(row: &str) -> (&str, Option<&str>) {
    let split = row.strip_suffix('}').and_then(|row| row.rsplit_once('{'));
    match split.map(|(rest, weight)| (rest.trim_end(), weight.trim())) {
        Some((rest, weight)) if !rest.is_empty() && weight.parse::<f64>().is_ok() => {
            (rest.strip_suffix(',').unwrap_or(rest).trim_end(), Some(weight))
        }
        _ => (row, None),
    }
}

/// A JSON object of a sparse row, with omitted values that are not 0. An invalid row is returned
/// unchanged, and rejected by the reader.
fn sparse(row: &str, attributes: &[Attribute], weight: Option<&str>, line: &mut String) {
    let object = || -> Option<serde_json::Map<String, serde_json::Value>> {
        let (row, own) = if weight.is_some() { weight_of(row) } else { (row, None) };
        let pairs = row.strip_prefix('{')?.strip_suffix('}')?;
        let mut object = serde_json::Map::new();
        for Attribute { name, kind } in attributes {
            if let Kind::Nominal(values) = kind {
                object.insert(name.clone(), values.first()?.clone().into());
            }
        }
        let mut tokens = Tokens(pairs);
        while let Some(index) = tokens.next() {
            let Attribute { name, kind } = attributes.get(index.text.parse::<usize>().ok()?)?;
            let Token { text, quoted } = tokens.next()?;
            let value = match kind {
                _ if text == "?" && !quoted => serde_json::Value::Null,
                Kind::Numeric => {
                    number::parse(text.as_bytes()).ok().filter(|value| value.is_finite())?.into()
                }
                _ => text.into(),
            };
            object.insert(name.clone(), value);
        }
        if let (Some(name), Some(own)) = (weight, own) {
            object.insert(name.to_owned(), own.parse::<f64>().ok()?.into());
        }
        Some(object)
    };
    match object() {
        Some(object) => {
            let _ = writeln!(line, "{}", serde_json::Value::Object(object));
        }
        None => {
            let _ = writeln!(line, "{row}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::open::from_read;
    use crate::read::row::Row;

    fn opened(text: &str, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
        from_read(Box::new(io::Cursor::new(text.as_bytes().to_vec())), "a", options)
    }

    /// The rows in words: label, then columns and values.
    fn rows(text: &str) -> Vec<String> {
        let mut reader = opened(text, &ReadOptions::default()).unwrap();
        let mut row = Row::default();
        let mut rows = vec![];
        loop {
            match reader.read(&mut row) {
                Ok(false) => return rows,
                Ok(true) => {
                    let columns = reader.columns();
                    let feature = |(at, value): (&u32, &f64)| format!("{}:{value}", columns.name(*at));
                    let mut features: Vec<String> =
                        row.indices().iter().zip(row.values()).map(feature).collect();
                    features.sort();
                    rows.push(format!("{:?} {}", row.label(), features.join(" ")));
                }
                Err(error) => rows.push(error.to_string()),
            }
        }
    }

    const HEADER: &str = "% A comment.\n@RELATION 'weather now'\n\n@attribute temperature REAL\n\
        @attribute 'the sky' {sunny, 'very grey', \"r,ain\"}\n@attribute class {yes, no}\n@DATA\n";

    #[test]
    fn rows_of_values() {
        let text = format!("{HEADER}% another\n20.5,sunny,yes\n-1, 'very grey', no\n?,\"r,ain\",?\n1 ? no\n");
        assert_eq!(
            rows(&text),
            [
                r#"Name("yes") temperature:20.5 the sky=sunny:1"#,
                r#"Name("no") temperature:-1 the sky=very grey:1"#,
                r#"Missing the sky=r,ain:1"#,
                r#"Name("no") temperature:1"#,
            ]
        );
    }

    #[test]
    fn sparse_rows() {
        let text = format!("{HEADER}{{0 3, 2 no}}\n{{1 'very grey'}}\n{{0 x}}\n{{9 1}}\n{{}}\n");
        let rows = rows(&text);
        assert_eq!(rows[0], r#"Name("no") temperature:3 the sky=sunny:1"#);
        assert_eq!(rows[1], r#"Name("yes") the sky=very grey:1"#);
        // The lines are those of the file.
        assert!(rows[2].starts_with("a:10: "), "{rows:?}");
        assert!(rows[3].starts_with("a:11: "), "{rows:?}");
        assert_eq!(rows[4], r#"Name("yes") the sky=sunny:1"#);
    }

    #[test]
    fn errors_name_lines_of_the_file() {
        let text = format!("{HEADER}1,sunny,yes\n\n1,sunny\ninf,sunny,no\n");
        let rows = rows(&text);
        assert!(rows[1].starts_with("a:10: the row has 2 cells"), "{rows:?}");
        assert!(rows[2].starts_with("a:11: "), "{rows:?}");
    }

    #[test]
    fn headers_that_are_none() {
        let cases = [
            ("@relation a\n@attribute b real\n", "without a line @data"),
            ("@relation a\n@attribute b real\n@data\n1\n", "fewer than two attributes"),
            ("@relation a\n@attribute b\n@data\n1\n", "a:2: attribute \"b\" has the type \"\""),
            ("@relation a\n@attribute b relational\n", "has the type \"relational\""),
            ("@relation a\n@attribute b {x, y\n", "its list of values has no end"),
            ("@relation a\nb real\n", "a:2: \"b real\" is no line of an ARFF header"),
        ];
        for (text, message) in cases {
            let error = opened(text, &ReadOptions::default()).err().expect(text).to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn options_win_over_the_header() {
        let text = format!("{HEADER}1,sunny,yes\n2,sunny,no\n");
        let options = ReadOptions {
            label: Some("the sky".to_owned()),
            categorical: vec!["temperature".to_owned()],
            ..ReadOptions::default()
        };
        let mut reader = opened(&text, &options).unwrap();
        let mut row = Row::default();
        assert!(reader.read(&mut row).unwrap());
        let names: Vec<_> = row.indices().iter().map(|at| reader.columns().name(*at).into_owned()).collect();
        assert_eq!(names, ["temperature=1", "class=yes"]);
    }
}

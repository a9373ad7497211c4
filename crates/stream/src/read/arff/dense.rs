//! Rows that have a value for each attribute.

use csv::ByteRecord;

use super::{Attribute, FIRST, Kind, Token, Tokens, is_blank, late_weight, weight_of};
use crate::fault::Fault;
use crate::read::columns::ColumnMap;
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::missing::Missing;
use crate::read::offer;
use crate::read::options::ReadOptions;
use crate::read::reader::{Reader, describe_source};
use crate::read::row::Row;
use crate::read::source::Source;
use crate::read::table::schema::{CsvRole, Style};
use crate::read::table::words::is_number;
use crate::read::table::{
    Cell, Column, Inferred, Names, Records, Sample, Table, find_column, infer, label_and_weight, parse_time,
};

/// The rows of a file; the last column is that of the weights in braces, if rows have them.
struct ArffRows {
    source: Source,
    attributes: Vec<Attribute>,
    missing: Missing,
    line: Vec<u8>,
    weighted: bool,
    /// The column that names the rows, and that of the labels on offer.
    id: Option<usize>,
    offered: Option<usize>,
    /// In a log of decisions that does not say which labels were on offer: the declared ones, which all were.
    declared: Vec<String>,
}

pub(super) fn reader(
    mut source: Source,
    attributes: Vec<Attribute>,
    mut named: Names,
    weight: Option<String>,
    options: &ReadOptions,
) -> Result<Box<dyn Reader>, ReadError> {
    let weighted = weight.is_some();
    named.names.extend(weight);
    let inferred = match &options.schema {
        Some(_) => None,
        None => Some(inferred(&mut source, &attributes, &named, weighted, options)?),
    };
    let (name, missing) = (source.name().to_owned(), options.missing());
    let offered = options.offered.as_ref().map(|column| find_column(&named.names, column)).transpose();
    let offered = offered.map_err(|message| source.file_error(message))?;
    let label = options.logged.as_ref().filter(|_| offered.is_none()).map(|keys| &keys.decision);
    let played = attributes.iter().find(|attribute| Some(&attribute.name) == label);
    let declared = match played.map(|attribute| &attribute.kind) {
        Some(Kind::Nominal(values)) => values.iter().map(|value| value.trim().to_owned()).collect(),
        _ => vec![],
    };
    let records =
        |id| ArffRows { source, attributes, missing, line: vec![], weighted, id, offered, declared };
    Table::open(&name, &named.names, inferred, options, records)
}

/// The layout by the header and the first rows.
fn inferred(
    source: &mut Source,
    attributes: &[Attribute],
    named: &Names,
    weighted: bool,
    options: &ReadOptions,
) -> Result<Inferred, ReadError> {
    let peek = source.peek(FIRST, 1)?;
    let rows: Vec<ByteRecord> = peek
        .lines()
        .map(<[u8]>::trim_ascii)
        .filter(|line| !is_blank(line))
        .filter_map(|line| std::str::from_utf8(line).ok())
        .map(|line| cells(line, weighted).map(|cell| cell.unwrap_or_default().into_bytes()).collect())
        .filter(|row: &ByteRecord| row.iter().any(|cell| !cell.is_empty()))
        .collect();
    if rows.is_empty() && peek.all {
        return Err(source.file_error("has a header but no rows"));
    }
    let more = !peek.all;
    let own = &named.names[..attributes.len()];
    let inferred = label_and_weight(own, options).and_then(|(label, weight)| {
        named.check_label(label, options)?;
        let fits = |at: usize, style: Style| {
            let cells = rows.iter().filter_map(|row| std::str::from_utf8(row.get(at)?).ok());
            let mut cells = cells.filter(|cell| !cell.is_empty()).peekable();
            cells.peek().is_some() && cells.all(|cell| parse_time(cell, style).is_some())
        };
        let role = |(at, attribute): (usize, &Attribute)| match &attribute.kind {
            // Their cells say so, and row numbers are found. Programs write all texts of a table as strings,
            // numbers and categories among them.
            Kind::Numeric | Kind::Text => None,
            Kind::Nominal(_) => Some((CsvRole::Categorical, None)),
            Kind::Time(order) => Some((CsvRole::Time, order.filter(|order| fits(at, *order)))),
        };
        let sample = Sample {
            names: &named.names,
            rows: &rows.iter().collect::<Vec<_>>(),
            label: Some(label),
            weight: if weighted { Some(own.len()) } else { weight },
            comma_first: false,
            more,
            whole: true,
            nameless: attributes[0].name.is_empty(),
            missing: &options.missing(),
            declared: &attributes.iter().enumerate().map(role).collect::<Vec<_>>(),
        };
        let mut inferred = infer(named, &sample, options)?;
        let odd = no_numbers(attributes, &inferred, &rows, options);
        inferred.notes.extend(odd);
        // A declared class is one, whatever it is called.
        if let Kind::Nominal(values) = &attributes[label].kind {
            let odd = values.iter().filter(|value| Missing::default().is_label(value)).cloned();
            let marks = &mut inferred.layout.marks;
            marks.extend(odd);
            marks.sort_unstable();
            marks.dedup();
        }
        Ok(inferred)
    });
    inferred.map_err(|message| source.file_error(message))
}

/// Remarks on attributes that are declared to be numbers, and are read as something else.
fn no_numbers(
    attributes: &[Attribute],
    inferred: &Inferred,
    rows: &[ByteRecord],
    options: &ReadOptions,
) -> Vec<String> {
    let others =
        attributes.iter().zip(&inferred.layout.fields).enumerate().filter(|(_, (attribute, field))| {
            matches!(attribute.kind, Kind::Numeric)
                && matches!(field.role, CsvRole::Categorical | CsvRole::Text | CsvRole::Time)
                && options.given_names().all(|name| *name != field.name)
        });
    let notes = others.filter_map(|(at, (_, field))| {
        let mut cells = rows.iter().filter_map(|row| row.get(at));
        let (name, cell) = (shown(&field.name), cells.find(|cell| !cell.is_empty() && !is_number(cell))?);
        let is_told = inferred.notes.iter().any(|note| note.starts_with(&format!("column {name} becomes")));
        (!is_told).then(|| {
            format!(
                "attribute {name} is declared numeric, and is read as {}, since cells such as {} are no numbers; named as a numeric \
                 column, they count as missing",
                field.role.name(),
                shown(cell)
            )
        })
    });
    notes.collect()
}

/// The cells of a row, trimmed; `None` where one is missing.
fn cells(line: &str, weighted: bool) -> impl Iterator<Item = Option<String>> {
    let (row, weight) = if weighted { weight_of(line) } else { (line, None) };
    let value = |token: Token<'_>| (!token.is_missing()).then(|| token.text.trim_ascii().to_owned());
    Tokens(row).map(value).chain(weighted.then(|| weight.map(str::to_owned)))
}

impl Records for ArffRows {
    /// Models do not tell the two apart.
    const FORMAT: Format = Format::Csv;

    fn next(&mut self) -> Result<bool, ReadError> {
        while let Some(line) = self.source.next_line()? {
            let line = line.text().trim_ascii();
            if !is_blank(line) {
                self.line.clear();
                self.line.extend_from_slice(line);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn line(&self) -> u64 {
        self.source.line()
    }

    fn hand_over(
        &mut self,
        columns: &mut [Column],
        map: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        let line = std::str::from_utf8(&self.line).map_err(|_| ReadErrorKind::InvalidUtf8)?;
        let values: Vec<Option<String>> = cells(line, self.weighted).collect();
        if values.len() != columns.len() {
            if let Some(weight) = weight_of(line).1.filter(|_| !self.weighted) {
                return Err(late_weight(weight));
            }
            return Err(ReadErrorKind::Width { found: values.len(), width: columns.len(), by: "the header" });
        }
        if let Some(id) = self.id {
            row.tag.push_str(values[id].as_deref().unwrap_or_default());
        }
        if let Some(text) = self.offered.and_then(|at| values[at].as_deref()) {
            let column = || columns[self.offered.unwrap_or_default()].name.clone();
            let wrong =
                |what: Fault| ReadErrorKind::Cell { noun: "column", column: column(), message: what.into() };
            offer::names(text).map_err(wrong)?.iter().for_each(|name| row.push_offered(name));
        }
        self.declared.iter().for_each(|label| row.push_offered(label));
        for (at, (column, value)) in columns.iter_mut().zip(&values).enumerate() {
            if let (Some(CsvRole::Label), Some(class), Some(attribute)) =
                (column.role, value, self.attributes.get(at))
            {
                attribute.check_class(class, &self.missing)?;
            }
            let cell = value.as_ref().map_or(Cell::Missing, |text| Cell::Text(text.as_bytes()));
            column.add(cell, map, row)?;
        }
        Ok(())
    }

    fn source(&self) -> Option<&Source> {
        Some(&self.source)
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        describe_source(&self.source, Format::Arff)
    }
}

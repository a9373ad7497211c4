//! Sparse rows, `{3 1.5, 7 yes}`: the values of some attributes, numbered from 0. A value that is not written
//! is 0, or the first of the values of a nominal attribute.

use std::collections::{HashMap, HashSet};

use super::{Attribute, Kind, Token, Tokens, is_blank, late_weight, weight_of};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::missing::Missing;
use crate::read::number;
use crate::read::options::{ReadOptions, Schema, Speech};
use crate::read::reader::{LineParser, LineReader, Parsed, Reader};
use crate::read::row::{Duplicates, Row};
use crate::read::source::{Line, Source};
use crate::read::table::schema::CsvRole;
use crate::read::table::{Names, check_known, find_column, label_and_weight, saved_layout};

struct Sparse {
    attributes: Vec<Attribute>,
    /// The attribute that is the label; a model may be given rows without one.
    label: Option<usize>,
    /// The attribute that is the weight.
    weight: Option<usize>,
    /// The name of the weights in braces, if rows have them.
    braces: Option<String>,
    /// The attribute that names the rows; one called `tag` or `id`, unless the options name one, does nothing
    /// else.
    id: Option<usize>,
    names_only: bool,
    /// The attributes that are left out.
    drop: Vec<usize>,
    feature: String,
    missing: Missing,
    notes: Vec<String>,
}

pub(super) fn reader(
    source: Source,
    attributes: Vec<Attribute>,
    named: &Names,
    braces: Option<String>,
    options: &ReadOptions,
) -> Result<Box<dyn Reader>, ReadError> {
    let columns = options.columns(Speech::Names).map_err(|kind| ReadError::new(source.name(), 0, kind))?;
    let names = &named.names;
    let known = saved_layout(options)
        .map_or(Ok(()), |layout| check_known(&layout, &names.iter().map(String::as_str).collect()));
    let found = known.and_then(|()| {
        let find =
            |asked: &Option<String>| asked.as_ref().map(|column| find_column(names, column)).transpose();
        let Some(schema) = &options.schema else {
            let (label, weight) = label_and_weight(names, options)?;
            named.check_label(label, options)?;
            return Ok(((Some(label), weight), find(&options.id)?));
        };
        let place = |saved: &Option<String>| names.iter().position(|name| Some(name) == saved.as_ref());
        let label = find(&options.label)?.or_else(|| place(&schema.label));
        let weight = find(&options.weight)?.or_else(|| place(&schema.weight));
        Ok(((label, weight), find(&options.id)?))
    });
    let ((label, weight), id) = found.map_err(|message| source.file_error(message))?;
    let mut given = options.given().into_iter().filter(|(_, role)| *role != CsvRole::Drop);
    if let Some((name, role)) = given.find_map(|(names, role)| Some((names.first()?, role))) {
        return Err(source.file_error(format!(
            "has sparse rows of ARFF, of which the header says what the columns are; {} = {} has no effect: leave it out",
            role.name(),
            shown(name)
        )));
    }
    if let Some(offered) = &options.offered {
        return Err(source.file_error(format!(
            "has sparse rows of ARFF, in which no column {} says which labels are on offer; dense ones were needed",
            shown(offered)
        )));
    }
    let drop = options.drop.iter().map(|column| find_column(names, column));
    let drop = drop.collect::<Result<Vec<usize>, _>>().map_err(|message| source.file_error(message))?;
    let called = || names.iter().position(|name| name == "tag" || name == "id");
    let (id, names_only) = (id.or_else(called), id.is_none());
    let (feature, missing) = (String::new(), options.missing());
    let is_kept = |at: usize| options.schema.is_none() && label != Some(at) && !drop.contains(&at);
    let dates =
        attributes.iter().enumerate().filter(|(_, attribute)| matches!(attribute.kind, Kind::Time(_)));
    let notes = dates.filter(|(at, _)| is_kept(*at)).map(|(_, date)| about_date(&date.name)).collect();
    let sparse = Sparse { attributes, label, weight, braces, id, names_only, drop, feature, missing, notes };
    let columns = options.map(columns);
    Ok(LineReader::boxed(source, columns, sparse))
}

/// A remark on a date, of whose days each is a category.
fn about_date(name: &str) -> String {
    format!(
        "attribute {} is a date, and each of its days is a category here; in rows that have a value for each attribute it is a time",
        shown(name)
    )
}

impl Sparse {
    /// Adds the value of an attribute to a row.
    fn add(
        &mut self,
        at: usize,
        value: &Token<'_>,
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        let Attribute { name, kind } = &self.attributes[at];
        let fault = |message: String| ReadErrorKind::Cell { noun: "column", column: name.clone(), message };
        if value.is_missing() {
            let is_number = matches!(kind, Kind::Numeric) && ![self.label, self.weight].contains(&Some(at));
            if is_number && !self.drop.contains(&at) {
                columns.columns().miss(name, row);
            }
            return Ok(());
        }
        let text = &*value.text;
        let number = match kind {
            Kind::Numeric => match number::parse(text.as_bytes()) {
                Ok(number) if number.is_finite() => Some(number),
                Ok(_) => return Err(fault(format!("{} is not finite", shown(text)))),
                Err(_) => return Err(fault(format!("{} is not a number", shown(text)))),
            },
            _ => None,
        };
        if self.id == Some(at) {
            row.tag.clear();
            row.tag.push_str(text);
        }
        match number {
            _ if self.weight == Some(at) => {
                row.weight = number
                    .filter(|weight| *weight >= 0.0)
                    .ok_or_else(|| fault(format!("weight {} is not a number from 0 on", shown(text))))?;
            }
            _ if self.label == Some(at) => match text.trim() {
                "" => {}
                text => {
                    self.attributes[at].check_class(text, &self.missing)?;
                    row.set_name(text);
                }
            },
            _ if self.drop.contains(&at) => {}
            _ if self.id == Some(at) && self.names_only => {}
            Some(number) => {
                if let Some(column) = columns.by_name(name) {
                    row.push(column, number);
                }
            }
            None => {
                self.feature.clear();
                self.feature.extend([&**name, "=", text]);
                if let Some(column) = columns.by_name(&self.feature) {
                    row.push(column, 1.0);
                }
            }
        }
        Ok(())
    }
}

/// The values of a row with the numbers of their attributes, in the order of the row.
fn values<'a>(row: &'a str, attributes: &[Attribute]) -> Result<Vec<(usize, Token<'a>)>, ReadErrorKind> {
    let inside = row.strip_prefix('{').and_then(|row| row.strip_suffix('}'));
    let Some(inside) = inside else {
        return Err(ReadErrorKind::Row(format!("{} is not in braces, as the first row is", shown(row))));
    };
    let (mut tokens, mut values, mut seen) = (Tokens(inside), vec![], HashSet::new());
    while let Some(number) = tokens.next() {
        let at = number.text.parse::<usize>().ok().filter(|at| *at < attributes.len());
        let Some(at) = at else {
            let (number, last) = (shown(&*number.text), attributes.len() - 1);
            let message = format!("{number} is not the number of an attribute, 0 to {last}");
            return Err(ReadErrorKind::Row(message));
        };
        if !seen.insert(at) {
            let (column, message) = (attributes[at].name.clone(), "appears twice in the row".to_owned());
            return Err(ReadErrorKind::Cell { noun: "column", column, message });
        }
        let Some(value) = tokens.next() else {
            return Err(ReadErrorKind::Row(format!("{} has no value behind it", shown(&*number.text))));
        };
        values.push((at, value));
    }
    Ok(values)
}

impl Sparse {
    /// The declared classes that are words for a missing label elsewhere.
    fn declared(&self) -> Vec<String> {
        match self.label.map(|at| &self.attributes[at].kind) {
            Some(Kind::Nominal(values)) => {
                values.iter().filter(|value| Missing::default().is_label(value)).cloned().collect()
            }
            _ => vec![],
        }
    }
}

impl LineParser for Sparse {
    fn parse(&mut self, line: Line<'_>, row: &mut Row, columns: &mut ColumnMap) -> Parsed {
        let line = line.text().trim_ascii();
        if is_blank(line) {
            return Ok(false);
        }
        let line = std::str::from_utf8(line).map_err(|_| ReadErrorKind::InvalidUtf8)?;
        let (line, weight) = match (weight_of(line), &self.braces) {
            ((_, Some(weight)), None) => return Err(late_weight(weight)),
            (found, _) => found,
        };
        let values = values(line, &self.attributes)?;
        let places: HashMap<usize, usize> =
            values.iter().enumerate().map(|(place, (at, _))| (*at, place)).collect();
        // Nominal attributes come first, and all of them: so columns have the same order in every file.
        for at in 0..self.attributes.len() {
            let omitted = match (&self.attributes[at].kind, places.get(&at)) {
                (Kind::Nominal(_), Some(place)) => {
                    self.add(at, &values[*place].1, columns, row)?;
                    continue;
                }
                (Kind::Nominal(values), None) => values.first().cloned(),
                (Kind::Numeric, None) if self.label == Some(at) => Some("0".to_owned()),
                _ => None,
            };
            if let Some(text) = omitted {
                self.add(at, &Token { text: text.into(), quoted: true }, columns, row)?;
            }
        }
        for (at, value) in &values {
            if !matches!(self.attributes[*at].kind, Kind::Nominal(_)) {
                self.add(*at, value, columns, row)?;
            }
        }
        if let Some(weight) = weight.and_then(|weight| weight.parse::<f64>().ok()) {
            let is_weight = weight.is_finite() && weight >= 0.0;
            let message = || format!("the weight {weight} of the row is not a finite number from 0 on");
            row.weight = if is_weight { weight } else { return Err(ReadErrorKind::Row(message())) };
        }
        // Hashes of different features may collide.
        row.finish(Duplicates::Sum)
            .map_err(|_| ReadErrorKind::Row("features of one hash sum to infinity".into()))?;
        Ok(true)
    }

    fn schema(&self, columns: Columns) -> Schema {
        let name = |at: usize| self.attributes[at].name.clone();
        Schema {
            label: self.label.map(name),
            weight: self.braces.clone().or_else(|| self.weight.map(name)),
            missing: Missing { words: vec![], values: self.declared() },
            // Features have names, and are no table.
            ..Schema::plain(Format::Ndjson, columns)
        }
    }

    fn format(&self) -> Option<Format> {
        Some(Format::Arff)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn describe(&self, columns: &Columns) -> Vec<(&'static str, String)> {
        let named = |at: Option<usize>| at.map(|at| &self.attributes[at].name);
        let shown = |name: Option<&String>| {
            name.map_or("none".to_owned(), |name| format!("attribute {}", shown(name)))
        };
        let hashed = match columns {
            Columns::Hashed { bits } => format!(", hashed into 2^{bits} columns"),
            _ => String::new(),
        };
        vec![
            ("label", shown(named(self.label))),
            ("weight", shown(self.braces.as_ref().or(named(self.weight)))),
            ("features", format!("all other attributes{hashed}")),
        ]
    }
}

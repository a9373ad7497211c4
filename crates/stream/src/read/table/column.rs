//! The cells of a column become features, for all formats.

use std::collections::HashSet;
use std::sync::Arc;

use super::amount;
use super::cell::Cell;
use super::features::Features;
use super::time::{self, Moment};
use crate::read::columns::ColumnMap;
use crate::read::error::{Place, ReadErrorKind, shown};
use crate::read::label::{LabelType, truth};
use crate::read::missing::Missing;
use crate::read::number;
use crate::read::remark::Remark;
use crate::read::row::{Earned, Row};
use crate::read::table::schema::{CsvField, CsvRole, Style};
use crate::words::first_of;

/// A column and its role.
pub(crate) struct Column {
    pub(crate) name: String,
    /// `None` for a column unknown to the saved model.
    pub(crate) role: Option<CsvRole>,
    /// The role, if known.
    pub(crate) field: Option<CsvField>,
    /// The features of numbers, times and text.
    pub(crate) features: Features,
    /// The type of the labels, for the label column.
    pub(crate) label_type: LabelType,
    missing: Arc<Missing>,
    /// Number of cells that did not fit the column, and the first of them with its line.
    strays: u64,
    first_stray: Option<(u64, String)>,
    /// Whether a number had the unit of the column, and the first one that had none, with its line.
    united: bool,
    bare: Option<(u64, String)>,
    /// A buffer for names.
    feature: String,
}

impl Column {
    pub(crate) fn new(
        name: String,
        field: Option<CsvField>,
        features: Features,
        missing: &Arc<Missing>,
    ) -> Self {
        let role = field.as_ref().map(|field| field.role);
        Column {
            name,
            role,
            field,
            features,
            label_type: LabelType::Unstated,
            missing: Arc::clone(missing),
            strays: 0,
            first_stray: None,
            united: false,
            bare: None,
            feature: String::new(),
        }
    }

    /// Adds a cell to a row, which has its line already.
    pub(crate) fn add(
        &mut self,
        cell: Cell<'_>,
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        match (self.role, cell) {
            (_, Cell::Text(text)) => self.text(text, columns, row)?,
            (Some(CsvRole::Numeric | CsvRole::Time), Cell::Missing) => self.features.push_missing(row),
            (_, Cell::Missing) | (Some(CsvRole::Drop), _) => {}
            (None, _) => columns.drop_one(),
            (Some(CsvRole::Numeric), Cell::Number(number)) => self.number(number, columns, row),
            (Some(CsvRole::Numeric), Cell::Truth(truth)) => {
                self.number(f64::from(u8::from(truth)), columns, row);
            }
            (Some(CsvRole::Time), Cell::Time(moment)) => self.time(moment, columns, row),
            (Some(CsvRole::Categorical), Cell::List(items)) => {
                let mut seen = HashSet::new();
                for item in items.iter().filter(|item| seen.insert(**item)) {
                    self.text(item.as_bytes(), columns, row)?;
                }
            }
            (_, Cell::List(items)) => self.text(items.join(" ").as_bytes(), columns, row)?,
            (_, Cell::Truth(truth)) => {
                self.text(if truth { b"true" } else { b"false" }, columns, row)?;
            }
            (_, Cell::Number(_) | Cell::Time(_)) => unreachable!("handed over to columns of their kind only"),
        }
        Ok(())
    }

    /// Adds a cell of trimmed text: what it is depends on the role of the column.
    #[inline]
    pub(crate) fn text(
        &mut self,
        text: &[u8],
        columns: &mut ColumnMap,
        row: &mut Row,
    ) -> Result<(), ReadErrorKind> {
        match self.role {
            Some(CsvRole::Numeric | CsvRole::Time) if self.missing.is_cell(text) => {
                self.features.push_missing(row);
            }
            _ if text.is_empty() => {}
            Some(CsvRole::Categorical | CsvRole::Text) if self.missing.is_said(text) => {}
            Some(CsvRole::Weight) if self.missing.is_cell(text) => {}
            Some(CsvRole::Numeric) => {
                let Features::Number { style, .. } = &self.features else { return Ok(()) };
                let unit = self.field.as_ref().and_then(|field| field.unit.as_ref());
                let united = unit.map(|unit| amount::without_unit(text, unit));
                let number = united.flatten().unwrap_or(text);
                match united {
                    Some(Some(_)) => self.united = true,
                    Some(None) if self.bare.is_none() => self.bare = Some((row.line, shown(text))),
                    _ => {}
                }
                match number_of(number, *style) {
                    Ok(number) if number.is_finite() => self.number(number, columns, row),
                    Ok(_) => {
                        let (column, cell) = (self.name.clone(), String::from_utf8_lossy(text).into_owned());
                        return Err(ReadErrorKind::NotFinite { column, cell });
                    }
                    Err(()) => match truth(utf8(text)?) {
                        Some(truth) => self.number(f64::from(u8::from(truth)), columns, row),
                        None => self.stray(text, row),
                    },
                }
            }
            Some(CsvRole::Time) => {
                if let Features::Time { style, .. } = &self.features {
                    match time::parse(utf8(text)?, *style) {
                        Some(moment) => self.time(moment, columns, row),
                        None => self.stray(text, row),
                    }
                }
            }
            Some(CsvRole::Text) => {
                if let Features::Text(words) = &mut self.features {
                    words.push(&String::from_utf8_lossy(text), columns, row);
                }
            }
            Some(CsvRole::Categorical) => {
                let text = utf8(text)?;
                self.feature.clear();
                self.feature.extend([&*self.name, self.features.sign(), text]);
                if let Some(truth) = truth(text).filter(|_| columns.is_full()) {
                    self.write_as_known(truth, columns);
                }
                if let Some(column) = columns.by_name(&self.feature) {
                    row.push(column, 1.0);
                }
            }
            Some(CsvRole::Label) => row.set_label(utf8(text)?, self.label_type),
            Some(CsvRole::Weight) => row.weight = self.weight(text)?,
            Some(CsvRole::Probability | CsvRole::Reward) if self.missing.is_cell(text) => {}
            Some(CsvRole::Probability) => row.set_probability(self.amount(text)?),
            Some(CsvRole::Reward) => row.set_earned(match truth(utf8(text)?) {
                Some(truth) => Earned::Truth(truth),
                None => Earned::Number(self.amount(text)?),
            }),
            Some(CsvRole::Drop) => {}
            None => columns.drop_one(),
        }
        Ok(())
    }

    /// Writes a truth value, a category, as the saved model does: pandas writes `True` in CSV, and JSON and
    /// Parquet have `true`.
    fn write_as_known(&mut self, truth: bool, columns: &ColumnMap) {
        let is_known = |feature: &str| columns.columns().index_of(feature).is_some();
        if is_known(&self.feature) {
            return;
        }
        let writings = if truth { ["true", "True", "TRUE"] } else { ["false", "False", "FALSE"] };
        let sign = self.features.sign();
        let mut features = writings.iter().map(|writing| format!("{}{sign}{writing}", self.name));
        if let Some(known) = features.find(|feature| is_known(feature)) {
            self.feature = known;
        }
    }

    /// Adds a finite number.
    fn number(&self, number: f64, columns: &mut ColumnMap, row: &mut Row) {
        match self.features {
            Features::Number { .. } if self.missing.is_number(number) => self.features.push_missing(row),
            Features::Number { value: Some(value), .. } => row.push(value, number),
            _ => columns.drop_one(),
        }
    }

    fn time(&mut self, moment: Moment, columns: &mut ColumnMap, row: &mut Row) {
        let Features::Time { values, .. } = &self.features else { return };
        for (number, (value, _)) in moment.numbers().into_iter().zip(values) {
            if let Some(value) = value {
                row.push(*value, number);
            }
        }
        self.feature.clear();
        self.feature.extend([&*self.name, ":weekday=", moment.weekday()]);
        if let Some(weekday) = columns.by_name(&self.feature) {
            row.push(weekday, 1.0);
        }
    }

    fn weight(&self, cell: &[u8]) -> Result<f64, ReadErrorKind> {
        match self.amount(cell)? {
            number if number < 0.0 => Err(self.fault(format!("weight {} is negative", shown(cell)))),
            number => Ok(number),
        }
    }

    /// A finite number, without which the row is none.
    fn amount(&self, cell: &[u8]) -> Result<f64, ReadErrorKind> {
        match number_of(cell, self.field.as_ref().and_then(|field| field.style)) {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(self.fault(format!("{} is not finite", shown(cell)))),
            Err(()) => {
                let what = if self.role == Some(CsvRole::Reward) {
                    "neither a number nor a truth value (1 and 0, true and false)"
                } else {
                    "not a number"
                };
                let way_out = amount::comma_way_out(utf8(cell)?);
                Err(self.fault(format!("{} is {what}{way_out}", shown(cell))))
            }
        }
    }

    /// Records a text that does not fit the column, and counts as missing.
    #[cold]
    pub(crate) fn stray(&mut self, text: &[u8], row: &mut Row) {
        self.strays += 1;
        self.first_stray.get_or_insert_with(|| (row.line, shown(text)));
        self.features.push_missing(row);
    }

    #[cold]
    fn fault(&self, message: String) -> ReadErrorKind {
        ReadErrorKind::Cell { noun: "column", column: self.name.clone(), message }
    }

    /// A remark on a unit that no number has had.
    fn bare(&self) -> Option<Remark> {
        let (line, first) = self.bare.as_ref().filter(|_| !self.united)?;
        let unit = shown(self.field.as_ref()?.unit.as_ref()?);
        Some(Remark::Other(format!(
            "column {}: no number has the unit {unit}, as those that the model has learnt, the first {first} in line {line}: they count as if \
             they had it",
            shown(&self.name)
        )))
    }

    /// A remark on the cells that did not fit, or lack their unit, if there were any.
    pub(crate) fn odd(&self) -> Option<Remark> {
        let Some((line, first)) = self.first_stray.clone() else { return self.bare() };
        let held = if self.role == Some(CsvRole::Time) { "time" } else { "number" };
        let (column, count, place) = (self.name.clone(), self.strays, Place::line(line));
        Some(Remark::Misfit { column, held, count, first, place })
    }
}

/// A sentence about columns of a saved model that are absent; `None` if there are none.
pub(crate) fn absent_note<'a>(absent: impl Iterator<Item = &'a Column>) -> Option<String> {
    let names: Vec<String> = absent.map(|column| shown(&column.name)).collect();
    let no = if names.len() == 1 { "is no column" } else { "are no columns" };
    (!names.is_empty()).then(|| {
        format!("there {no} {}, which the model was trained with: missing in every row", names.join(", "))
    })
}

/// A sentence about columns that a saved model does not have; `None` if there are none.
pub(crate) fn new_note<'a>(new: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<String> = new.map(shown).collect();
    let first = first_of(&names, 5);
    match names.len() {
        0 => None,
        1 => Some(format!("the column {first} is new: the model was trained without it, and it is ignored")),
        _ => Some(format!(
            "the columns {first} are new: the model was trained without them, and they are ignored"
        )),
    }
}

/// The numeric features of absent columns.
pub(crate) fn absent_numbers<'a>(absent: impl Iterator<Item = &'a Column>) -> Vec<u32> {
    let value = |column: &Column| match column.features {
        Features::Number { value, .. } => value,
        _ => None,
    };
    absent.filter_map(value).collect()
}

/// Whether a column of this role has features.
pub(crate) fn is_needed(role: CsvRole) -> bool {
    matches!(role, CsvRole::Numeric | CsvRole::Categorical | CsvRole::Text | CsvRole::Time)
}

/// A number in the notation of its column.
fn number_of(text: &[u8], style: Option<Style>) -> Result<f64, ()> {
    match style {
        None => number::parse(text).map_err(drop),
        style => amount::parse(text, style).ok_or(()),
    }
}

fn utf8(text: &[u8]) -> Result<&str, ReadErrorKind> {
    std::str::from_utf8(text).map_err(|_| ReadErrorKind::InvalidUtf8)
}

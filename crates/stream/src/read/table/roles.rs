//! Infers the kinds of a table's columns from its first rows, with remarks on suspicious columns.

mod categories;
mod codes;
mod durations;
mod holes;
mod units;

use std::cell::OnceCell;
use std::collections::HashSet;

use super::column::is_needed;
use super::features::{all_numbers, count_numbers};
use super::sample::{ENOUGH, FEW, Sample, first_rows};
use super::words::is_number;
use super::{amount, remarks, text, time};
use crate::fault::{Fault, fault};
use crate::read::error::shown;
use crate::read::logs::{Keys, SHARES};
use crate::read::options::ReadOptions;
use crate::read::table::schema::{CsvField, CsvRole, Style};

/// Share of distinct cells from which a column is an identifier.
const DISTINCT: f64 = 0.95;

/// Share of steps by one from which rising numbers are those of rows, unless days, as of a spreadsheet.
const GAPS: f64 = 0.75;

/// Share of numbers or times from which a column is of that kind; the other cells count as missing.
const MOSTLY: f64 = 0.95;

/// Mean number of words from which cells are text.
const WORDS: f64 = 3.0;

/// Names of columns that number rows or things, in lower case, besides those that end in `_id` or `Id`.
const IDENTIFIERS: [&str; 24] = [
    "id",
    "index",
    "idx",
    "row",
    "rowid",
    "rownum",
    "row_num",
    "row number",
    "row_number",
    "rowno",
    "row_no",
    "rn",
    "uid",
    "userid",
    "uuid",
    "guid",
    "pk",
    "no",
    "no.",
    "nr",
    "nr.",
    "#",
    "sno",
    "serial",
];

/// Beginnings of the names that pandas and R give to row numbers, in lower case.
const INDEXES: [&str; 5] = ["unnamed: ", "__index_level_", "row.names", "rownames", "row_names"];

/// Least number of different numbers that may have words among them.
const NUMBERS: usize = 20;

/// Cells that begin with numbers and are none are told from so many different ones on.
const MANY: usize = 30;

/// They end in so many ways at most, digits apart: with the names of months, there are twelve.
const ENDS: usize = 20;

/// The result.
pub(crate) struct Decided {
    pub(crate) fields: Vec<CsvField>,
    /// See `CsvSchema::numbers`.
    pub(crate) numbers: Option<u32>,
    /// See `CsvSchema::marks`.
    pub(crate) marks: Vec<String>,
    /// Remarks, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Determines the roles of all columns; `options` take precedence.
///
/// `find` returns the position of a column by name or number, or an error.
pub(crate) fn decide(
    sample: &Sample<'_>,
    options: &ReadOptions,
    find: impl Fn(&str) -> Result<usize, Fault>,
) -> Result<Decided, Fault> {
    let given = given_roles(sample, options, find)?;
    let mut notes = vec![];
    let (mut holes, mut constant) = (vec![], vec![]);
    let mut fields = vec![];
    let besides = |column: usize, is: &str| {
        let (name, role) = (shown(&sample.names[column]), role_word(given[column]?));
        Some(format!("column {name} is the {is}: that it is {role} by an option, too, has no effect"))
    };
    for (column, name) in sample.names.iter().enumerate() {
        if Some(column) == sample.label {
            notes.extend(besides(column, "label"));
            fields.push(CsvField::plain(name, CsvRole::Label));
            continue;
        }
        if Some(column) == sample.weight {
            notes.extend(besides(column, "weight"));
            let style = Look::at(sample, column).numbers().0;
            fields.push(CsvField { style, ..CsvField::plain(name, CsvRole::Weight) });
            continue;
        }
        let look = Look::at(sample, column);
        let declared = sample.declared.get(column).copied().flatten();
        let (role, mut style) = look.kind(column, given[column], declared, sample, options, &mut notes)?;
        if is_needed(role) {
            let found = given[column].is_none() && declared.is_none();
            holes.extend(look.hole(name, found && role == CsvRole::Numeric));
            constant.extend(look.constant().map(|cell| (name, cell)));
        }
        let unit = if role == CsvRole::Numeric { look.unit() } else { None };
        if let Some((unit, of_numbers)) = &unit {
            style = *of_numbers;
            notes.push(units::about(name, unit));
        }
        let unit = unit.map(|(unit, _)| unit);
        fields.push(CsvField { style, unit, ..CsvField::plain(name, role) });
    }
    if sample.comma_first && sample.declared.is_empty() {
        points_are_thousands(sample, &mut fields, &mut notes);
    }
    notes.extend(holes::about(&holes, sample));
    notes.extend(same(&constant, sample));
    notes.extend(remarks::about(sample, &fields));
    let lacks = |(column, field): (usize, &CsvField)| {
        field.role == CsvRole::Numeric && Look::at(sample, column).lacks_numbers_far_from_0()
    };
    let indicated = || match options.hash_bits {
        // Hashed parts of a table all have the same features, whatever their first rows lack.
        Some(_) => fields.iter().any(|field| field.role == CsvRole::Numeric),
        None => fields.iter().enumerate().any(lacks),
    };
    let numbers = count_numbers(&fields).or_else(|| indicated().then(|| all_numbers(&fields)));
    Ok(Decided { fields, numbers, marks: marks(sample), notes })
}

/// The roles that `options` give to columns.
fn given_roles(
    sample: &Sample<'_>,
    options: &ReadOptions,
    find: impl Fn(&str) -> Result<usize, Fault>,
) -> Result<Vec<Option<CsvRole>>, Fault> {
    let mut given: Vec<Option<CsvRole>> = vec![None; sample.names.len()];
    for (list, role) in options.given() {
        for name in list {
            let column = find(name).map_err(|what| match role {
                CsvRole::Probability => {
                    fault!("{what}{SHARES}{}", options.logged.as_ref().map_or("", Keys::or_right))
                }
                _ => what,
            })?;
            if let Some(other) = given[column].filter(|other| *other != role) {
                let name = shown(&sample.names[column]);
                return Err(fault!(
                    "column {name} cannot be both {} and {}",
                    role_word(other),
                    role_word(role)
                ));
            }
            given[column] = Some(role);
        }
    }
    if let Some(label) = sample.label.filter(|label| given[*label] == Some(CsvRole::Drop)) {
        let name = shown(&sample.names[label]);
        return Err(fault!(
            "column {name} cannot be both label and dropped; the option label names another one"
        ));
    }
    Ok(given)
}

/// Beside a column with decimal commas, points before groups of three digits are thousands: 1.200 is 1200.
fn points_are_thousands(sample: &Sample<'_>, fields: &mut [CsvField], notes: &mut Vec<String>) {
    let is_number = |field: &CsvField| matches!(field.role, CsvRole::Numeric | CsvRole::Weight);
    let comma = |field: &&CsvField| is_number(field) && field.style == Some(Style::DecimalComma);
    let Some(beside) = fields.iter().find(comma).map(|field| shown(&field.name)) else { return };
    for (column, field) in fields.iter_mut().enumerate() {
        if !is_number(field) || field.style.is_some() {
            continue;
        }
        let look = Look::at(sample, column);
        let mut points = look.cells.iter().filter(|cell| cell.contains(&b'.')).peekable();
        let Some(first) = points.peek().map(shown) else { continue };
        if points.all(|cell| amount::parse(cell, Some(Style::DecimalComma)).is_some()) {
            field.style = Some(Style::DecimalComma);
            notes.push(format!(
                "column {}: the point in numbers such as {first} is taken for one before thousands, since column {beside} has decimal commas",
                shown(&field.name)
            ));
        }
    }
}

/// The marks for a missing value that are classes here.
fn marks(sample: &Sample<'_>) -> Vec<String> {
    let Some(label) = sample.label else { return vec![] };
    let labels =
        sample.rows.iter().filter_map(|row| row.get(label)).filter_map(|cell| std::str::from_utf8(cell).ok());
    // The first rows of a sorted file may have one class only.
    sample.missing.classes(labels, usize::from(!sample.more))
}

/// A remark on columns that always have the same value.
fn same(constant: &[(&String, &[u8])], sample: &Sample<'_>) -> Option<String> {
    let rows = first_rows(sample.rows.len(), sample.more);
    let ((name, cell), more) = constant.split_first()?;
    Some(match (more.len(), sample.more) {
        (0, more) => {
            let there = if more { " there" } else { "" };
            format!(
                "column {} is always {} in {rows}: it has no information{there}",
                shown(name),
                shown(cell)
            )
        }
        (_, false) => format!(
            "{} columns, such as {}, always have the same value in {rows}: they have no information",
            constant.len(),
            shown(name)
        ),
        (_, true) => format!(
            "{} columns, such as {}, always have the same value in {rows}: they have no information there",
            constant.len(),
            shown(name)
        ),
    })
}

/// The word for a role in a message.
pub(crate) fn role_word(role: CsvRole) -> &'static str {
    if role == CsvRole::Drop { "dropped" } else { role.name() }
}

/// The cells of one column.
struct Look<'a> {
    cells: Vec<&'a [u8]>,
    /// Number of all rows, and of those without a value.
    rows: usize,
    missing: usize,
    /// Number of cells that are a word for a missing number, such as NA.
    words: usize,
    comma_first: bool,
}

impl<'a> Look<'a> {
    fn at(sample: &Sample<'a>, column: usize) -> Self {
        let width = sample.names.len();
        let all = sample.rows.iter().filter(|row| row.len() == width).map(|row| &row[column]);
        let (mut cells, mut rows, mut missing, mut words, mut numbers) = (vec![], 0, 0, 0, 0);
        for cell in all {
            rows += 1;
            if cell.is_empty() {
                missing += 1;
            } else if sample.missing.is_cell(cell) {
                missing += 1;
                // NaN counts as a number.
                words += usize::from(!is_number(cell));
                numbers += usize::from(is_number(cell));
            } else {
                cells.push(cell);
            }
        }
        let words = if numbers > 0 { 0 } else { words };
        Self { cells, rows, missing, words, comma_first: sample.comma_first }
    }

    fn distinct(&self) -> usize {
        self.cells.iter().collect::<HashSet<_>>().len()
    }

    fn texts(&self) -> impl Iterator<Item = &'a str> + Clone {
        self.cells.iter().filter_map(|cell| std::str::from_utf8(cell).ok())
    }

    fn numbers(&self) -> (Option<Style>, usize) {
        amount::detect(self.cells.iter().copied(), self.comma_first)
    }

    /// Whether nearly all cells begin with a number, maybe behind a sign such as ~, and end in few ways, as
    /// 71-76 and ~71 do, and addresses and keys do not.
    fn begin_with_numbers(&self) -> bool {
        let (mut numbers, mut ends, mut count) = (HashSet::new(), HashSet::new(), 0_u32);
        for cell in self.texts() {
            let cell = cell.trim_start_matches(|sign: char| !sign.is_alphanumeric());
            let digits = cell.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 {
                numbers.insert(&cell[..digits]);
                ends.insert(cell[digits..].replace(|sign: char| sign.is_ascii_digit(), ""));
                count += 1;
            }
        }
        numbers.len() > 1 && ends.len() <= ENDS && f64::from(count) >= MOSTLY * self.cells.len() as f64
    }

    fn times(&self) -> Option<time::Found> {
        let found = time::detect(self.texts());
        let (style, mostly) = (found.style, found.count as f64 >= MOSTLY * self.cells.len() as f64);
        let some = found.count > 0 && (mostly || self.has_few_words(|cell| is_time(cell, style)));
        (some && !time::are_seasons(self.texts())).then_some(found)
    }

    /// Whether all cells have a time of day.
    fn are_moments(&self) -> bool {
        self.cells.iter().all(|cell| cell.contains(&b':'))
    }

    /// Whether the column numbers the rows: whole numbers that count up or down by one, or up with a few
    /// gaps, where rows were left out, under another name than that of a time; or different ones under a name
    /// that only row numbers have, or, in many rows, that of an identifier.
    fn numbers_rows(&self, name: &str, column: usize, sample: &Sample<'_>) -> bool {
        let style = OnceCell::new();
        let whole = |cell: &&[u8]| -> Option<u128> {
            if cell.iter().all(u8::is_ascii_digit) {
                return std::str::from_utf8(cell).ok()?.parse().ok();
            }
            // pandas' 1.0, where an index was a column of floats; numpy's 1.000e+00; and 1,000. Floats beyond
            // 9e15 do not count by one.
            let in_style = || amount::parse(cell, *style.get_or_init(|| self.numbers().0));
            let number = amount::parse(cell, None).or_else(in_style)?;
            ((0.0..9e15).contains(&number) && number.fract() == 0.0).then_some(number as u128)
        };
        let numbers: Option<Vec<u128>> = self.cells.iter().map(whole).collect();
        let Some(numbers) = numbers.filter(|numbers| self.missing == 0 && numbers.len() > 1) else {
            return false;
        };
        let (count, different) = (numbers.len(), self.distinct());
        let steps = numbers.windows(2).filter(|pair| pair[1] == pair[0].wrapping_add(1)).count();
        let falls = || numbers.windows(2).all(|pair| pair[0] == pair[1].wrapping_add(1));
        let lower = name.to_ascii_lowercase();
        // A candidate is no date.
        let word = lower.replace("candidate", "");
        let is_time = || ["date", "day", "year", "month", "week", "time"].iter().any(|of| word.contains(of));
        let rises = || steps as f64 >= GAPS * count as f64 && numbers.is_sorted_by(|a, b| a < b);
        // R calls the nameless column X when it reads it.
        let is_x = || {
            let other = |name: &String| ["y", "z"].contains(&&*name.to_ascii_lowercase());
            column == 0 && (name == "X" || name.starts_with("X.")) && !sample.names.iter().any(other)
        };
        if (sample.nameless && column == 0) || INDEXES.iter().any(|index| lower.starts_with(index)) {
            // A table of tables counts several times.
            return different == count || steps as f64 >= DISTINCT * count as f64;
        }
        let camel = name.ends_with("Id") || (name.ends_with("ID") && name.len() > 2);
        let named = IDENTIFIERS.contains(&&*lower) || lower.ends_with("_id") || camel || is_x();
        let one_by_one = !is_time() && (steps + 1 == count || falls() || rises());
        count >= ENOUGH && (one_by_one || (named && different as f64 >= DISTINCT * count as f64))
    }

    /// The value of all cells, if it is the same in enough rows.
    fn constant(&self) -> Option<&'a [u8]> {
        let first = *self.cells.first()?;
        let all = self.rows >= ENOUGH && self.missing == 0 && self.cells.iter().all(|cell| *cell == first);
        all.then_some(first)
    }

    /// Whether the column holds many different numbers, or times, and few words, which are repeated.
    fn has_few_words(&self, is_number: impl Fn(&[u8]) -> bool) -> bool {
        let (mut numbers, mut words, mut count) = (HashSet::new(), HashSet::new(), 0);
        for cell in &self.cells {
            if is_number(cell) {
                numbers.insert(cell);
            } else {
                words.insert(cell);
                count += 1;
            }
        }
        numbers.len() >= NUMBERS
            && numbers.len() >= 10 * words.len()
            && count >= 2 * words.len()
            && 4 * count <= 3 * self.cells.len()
    }

    /// The notation of the cells, for a given role, with remarks.
    fn style(&self, name: &str, role: CsvRole, notes: &mut Vec<String>) -> Option<Style> {
        match role {
            CsvRole::Numeric => self.numbers().0.or_else(|| self.durations()),
            CsvRole::Probability | CsvRole::Reward => self.numbers().0,
            CsvRole::Time => {
                let found = time::detect(self.texts());
                notes.extend(self.about_days(name, &found));
                (found.count > 0).then_some(found.style)
            }
            _ => None,
        }
    }

    /// Remarks on days whose notation leaves something open.
    fn about_days(&self, name: &str, found: &time::Found) -> Vec<String> {
        let late = self.texts().find(|cell| time::is_late(cell, found.style)).map(|cell| {
            format!(
                "column {}: the year in {} has two digits, and is taken for one of 2000 to 2069; with four, it is what is meant",
                shown(name),
                shown(cell)
            )
        });
        self.about_order(name, found).into_iter().chain(late).collect()
    }

    /// A remark on days of which the order of day and month is open.
    fn about_order(&self, name: &str, found: &time::Found) -> Option<String> {
        let mixed = matches!(found.style, Style::MixedDayFirst | Style::MixedMonthFirst);
        let day_first = matches!(found.style, Style::MixedDayFirst | Style::DayFirst);
        let order = found.doubtful.as_ref().map(|cell| {
            let first = if day_first { "the day" } else { "the month" };
            let why = match found.decisive {
                0 => "which no cell of the column shows".to_owned(),
                1 => "as a cell of the column shows".to_owned(),
                cells => format!("as {cells} cells of the column show"),
            };
            format!("in {} {first} is taken to come first, {why}", shown(cell))
        });
        match (mixed, order) {
            (true, order) => {
                let written: Vec<String> = time::notations(self.texts()).into_iter().map(shown).collect();
                let order = order.map_or_else(String::new, |order| format!("; {order}"));
                let (name, written) = (shown(name), written.join(", "));
                Some(format!("column {name} holds days in several notations, such as {written}{order}"))
            }
            (false, Some(order)) if found.decisive == 0 => Some(format!("column {}: {order}", shown(name))),
            (false, _) => None,
        }
    }

    /// The role and notation of the column: as given, else as declared by a reader, else inferred.
    fn kind(
        &self,
        column: usize,
        given: Option<CsvRole>,
        declared: Option<(CsvRole, Option<Style>)>,
        sample: &Sample<'_>,
        options: &ReadOptions,
        notes: &mut Vec<String>,
    ) -> Result<(CsvRole, Option<Style>), Fault> {
        let name = &sample.names[column];
        let (role, style) = match (given, declared) {
            (Some(role), Some((known, style))) if role == known => {
                (role, style.or_else(|| self.style(name, role, notes)))
            }
            (Some(role), _) => (role, self.style(name, role, notes)),
            (None, Some((role, style))) => (role, style.or_else(|| self.style(name, role, notes))),
            (None, None) if self.numbers_rows(name, column, sample) => {
                notes.push(index(name));
                (CsvRole::Drop, None)
            }
            (None, None) => self.role(name, notes),
        };
        if role == CsvRole::Time && style.is_none() {
            let way_out =
                if given.is_none() { "; named as a categorical column, it holds texts" } else { "" };
            return Err(fault!(
                "column {} holds no day or time that is recognised, such as {}{way_out}",
                shown(name),
                Style::Iso.example()
            ));
        }
        if role == CsvRole::Time && given.is_none() && options.logged.is_some() && self.are_moments() {
            let name = shown(name);
            notes.push(format!(
                "column {name} is left out: it says at which moment a decision was written; named as a time, it is a feature"
            ));
            return Ok((CsvRole::Drop, None));
        }
        Ok((role, style))
    }

    /// The inferred role and notation. Cells that are not what their column holds count as missing, and are
    /// told with their number behind the last row.
    fn role(&self, name: &str, notes: &mut Vec<String>) -> (CsvRole, Option<Style>) {
        let count = self.cells.len();
        if count == 0 {
            // A column of words for missing numbers only may be categorical.
            return (if self.words > 0 { CsvRole::Categorical } else { CsvRole::Numeric }, None);
        }
        let distinct = self.distinct();
        let many = count >= ENOUGH && distinct as f64 >= DISTINCT * count as f64;
        if self.cells.iter().all(|cell| is_number(cell)) {
            let codes = self.about_codes(name).or_else(|| self.about_exponents(name));
            notes.extend(codes.into_iter().chain(self.about_numbered_days(name)));
            return (CsvRole::Numeric, None);
        }
        let (style, numbers) = self.numbers();
        if numbers == count {
            notes.extend(self.about_signs(name, style));
            return (CsvRole::Numeric, style);
        }
        if let Some(found) = self.times() {
            notes.extend(self.about_days(name, &found));
            return (CsvRole::Time, Some(found.style));
        }
        if let Some((_, style)) = self.unit() {
            return (CsvRole::Numeric, style);
        }
        if let Some(style) = self.durations().filter(|style| !self.are_hours(*style)) {
            notes.push(self.about_durations(name, style));
            return (CsvRole::Numeric, Some(style));
        }
        let is_amount = |cell: &[u8]| amount::parse(cell, style).is_some();
        let other = self.cells.iter().find(|cell| !is_amount(cell)).map_or_else(String::new, shown);
        if count >= FEW && (numbers as f64 >= MOSTLY * count as f64 || self.has_few_words(is_amount)) {
            return (CsvRole::Numeric, style);
        }
        let words: usize = self.texts().map(|cell| text::count_words(cell, 50)).sum();
        if words as f64 >= WORDS * count as f64 && distinct * 2 > count {
            return (CsvRole::Text, None);
        }
        if many {
            notes.push(identifier(name, distinct, self.cells[0], count, numbers));
            return (CsvRole::Drop, None);
        }
        if count >= FEW && 10 * distinct >= 9 * count {
            notes.push(format!(
                "column {} has {distinct} distinct values in the first {count} rows, each of which becomes a category; if it is a text, a \
                 time or an identifier, little can be learnt from that",
                shown(name)
            ));
        }
        if count >= FEW && 2 * numbers >= count {
            notes.push(format!(
                "column {} becomes categories: {} of its first {count} cells, such as {other}, are no numbers; as a numeric column they \
                 count as missing",
                shown(name),
                count - numbers
            ));
        } else if count >= FEW && distinct > MANY && 10 * distinct < 9 * count && self.begin_with_numbers() {
            notes.push(format!(
                "column {} becomes categories: its {distinct} different cells, such as {other}, begin with numbers and are none",
                shown(name)
            ));
        }
        notes.extend(self.about_categories(name));
        (CsvRole::Categorical, None)
    }
}

/// Whether a cell is a day or a time in this notation.
fn is_time(cell: &[u8], style: Style) -> bool {
    std::str::from_utf8(cell).is_ok_and(|cell| time::parse(cell, style).is_some())
}

fn identifier(name: &str, distinct: usize, first: &[u8], count: usize, numbers: usize) -> String {
    let kept = match 2 * numbers > count {
        true => format!("named as a numeric column, it has {numbers} numbers"),
        false => "named as a column of text or a categorical one, it is kept".to_owned(),
    };
    let (name, first) = (shown(name), shown(first));
    format!(
        "column {name} is left out: {distinct} of its first {count} cells differ, such as {first}: it is taken for an identifier; {kept}"
    )
}

fn index(name: &str) -> String {
    format!("column {} is left out: it numbers the rows; named as a numeric column, it is kept", shown(name))
}

#[cfg(test)]
mod tests;

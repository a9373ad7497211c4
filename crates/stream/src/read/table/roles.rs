//! What the columns of a table hold, decided from their first rows, and what a colleague would say on seeing
//! them.

use std::collections::{HashMap, HashSet};

use csv::ByteRecord;

use super::{amount, text, time};
use crate::read::error::shown;
use crate::read::options::{CsvField, CsvRole, ReadOptions, Style};

/// Fewer cells than this do not tell an identifier from names that happen to differ.
const ENOUGH: usize = 50;

/// Fewer cells than this say little about a column.
const FEW: usize = 20;

/// With so many of its cells different, a column names rows and says nothing of them.
const DISTINCT: f64 = 0.95;

/// With so many of its cells numbers or times, a column is one of these; the rest counts as missing.
const MOSTLY: f64 = 0.95;

/// Cells of so many words on average are text.
const WORDS: f64 = 3.0;

/// Names of columns that count rows.
const IDENTIFIERS: [&str; 8] = ["id", "index", "row", "row_id", "rowid", "uuid", "guid", "unnamed: 0"];

/// The first rows of a table, without its header.
pub(crate) struct Sample<'a> {
    pub(crate) names: &'a [String],
    pub(crate) rows: &'a [&'a ByteRecord],
    pub(crate) label: Option<usize>,
    pub(crate) weight: Option<usize>,
    /// Numbers more likely have decimal commas, since commas do not stand between cells.
    pub(crate) comma_first: bool,
    /// Whether there are more rows.
    pub(crate) more: bool,
}

/// What was decided.
pub(crate) struct Decided {
    pub(crate) fields: Vec<CsvField>,
    /// See `CsvSchema::numbers`.
    pub(crate) numbers: Option<u32>,
    /// What a colleague would say, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Decides the roles of all columns, those that `options` names as it says.
///
/// `find` is the place of a column by name or number, or a complaint.
pub(crate) fn decide(
    sample: &Sample<'_>,
    options: &ReadOptions,
    find: impl Fn(&str) -> Result<usize, String>,
) -> Result<Decided, String> {
    let width = sample.names.len();
    let mut asked: Vec<Option<CsvRole>> = vec![None; width];
    for (list, role) in [
        (&options.categorical, CsvRole::Categorical),
        (&options.numeric, CsvRole::Numeric),
        (&options.text, CsvRole::Text),
        (&options.time, CsvRole::Time),
        (&options.drop, CsvRole::Drop),
    ] {
        for name in list {
            let column = find(name)?;
            if let Some(other) = asked[column].filter(|other| *other != role) {
                let name = shown(&sample.names[column]);
                return Err(format!("column {name} cannot be both {} and {}", word(other), word(role)));
            }
            asked[column] = Some(role);
        }
    }
    let mut notes = vec![];
    let mut fields = vec![];
    for (column, name) in sample.names.iter().enumerate() {
        let field = |role, style| CsvField { name: name.clone(), role, style };
        if Some(column) == sample.label {
            fields.push(field(CsvRole::Label, None));
            continue;
        }
        if Some(column) == sample.weight {
            fields.push(field(CsvRole::Weight, None));
            continue;
        }
        let look = Look::at(sample, column);
        let (role, style) = match asked[column] {
            Some(role) => (role, look.style(role)),
            None => look.role(name, &mut notes),
        };
        if role == CsvRole::Time && style.is_none() {
            return Err(format!(
                "column {} holds no day or time that is recognised, such as {}",
                shown(name),
                Style::Iso.example()
            ));
        }
        if role != CsvRole::Drop {
            look.remark(name, sample, &mut notes);
        }
        fields.push(field(role, style));
    }
    notes.extend(about_rows(sample));
    notes.extend(leaks(sample, &fields));
    let rich = fields.iter().any(|field| {
        matches!(field.role, CsvRole::Text | CsvRole::Time)
            || (field.role == CsvRole::Numeric && field.style.is_some())
    });
    let count = fields.iter().map(|field| super::numbers_of(field).len() as u32).sum();
    let numbers = rich.then_some(count);
    Ok(Decided { fields, numbers, notes })
}

/// The word for a role on the command line.
fn word(role: CsvRole) -> &'static str {
    match role {
        CsvRole::Numeric => "numeric",
        CsvRole::Categorical => "categorical",
        CsvRole::Text => "text",
        CsvRole::Time => "time",
        CsvRole::Drop => "dropped",
        CsvRole::Label => "label",
        CsvRole::Weight => "weight",
    }
}

/// The cells of one column.
struct Look<'a> {
    cells: Vec<&'a [u8]>,
    /// All rows, and those without a value.
    rows: usize,
    missing: usize,
    /// Cells that are a word for a missing number, such as NA.
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
            } else if crate::read::csv::layout::is_missing(cell) {
                missing += 1;
                // A NaN is a number, and says that the others are.
                words += usize::from(!crate::read::csv::layout::is_number(cell));
                numbers += usize::from(crate::read::csv::layout::is_number(cell));
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

    fn times(&self) -> Option<Style> {
        let (style, count) = time::detect(self.texts());
        (count > 0 && count as f64 >= MOSTLY * self.cells.len() as f64).then_some(style)
    }

    /// How the cells are written, if the role is given.
    fn style(&self, role: CsvRole) -> Option<Style> {
        match role {
            CsvRole::Numeric => self.numbers().0,
            CsvRole::Time => {
                Some(time::detect(self.texts())).filter(|(_, count)| *count > 0).map(|(style, _)| style)
            }
            _ => None,
        }
    }

    /// What the column holds, and how it is written.
    fn role(&self, name: &str, notes: &mut Vec<String>) -> (CsvRole, Option<Style>) {
        let count = self.cells.len();
        if count == 0 {
            // Words for missing numbers alone may be categories after all.
            return (if self.words > 0 { CsvRole::Categorical } else { CsvRole::Numeric }, None);
        }
        let distinct = self.distinct();
        let many = count >= ENOUGH && distinct as f64 >= DISTINCT * count as f64;
        let named = IDENTIFIERS.iter().any(|known| name.eq_ignore_ascii_case(known))
            || name.to_ascii_lowercase().ends_with("_id");
        let plain = self.cells.iter().all(|cell| crate::read::csv::layout::is_number(cell));
        let (style, numbers) = self.numbers();
        if plain {
            let whole = || self.cells.iter().all(|cell| cell.iter().all(u8::is_ascii_digit));
            if named && many && whole() {
                notes.push(identifier(name, distinct, count));
                return (CsvRole::Drop, None);
            }
            return (CsvRole::Numeric, None);
        }
        if numbers == count {
            return (CsvRole::Numeric, style);
        }
        if let Some(style) = self.times() {
            return (CsvRole::Time, Some(style));
        }
        if count >= FEW && numbers as f64 >= MOSTLY * count as f64 {
            let other = self.cells.iter().find(|cell| amount::parse(cell, style).is_none());
            let other = other.map_or_else(String::new, shown);
            notes.push(format!(
                "column {} holds numbers but for {} of its first {count} cells, such as {other}, which count as missing",
                shown(name),
                count - numbers
            ));
            return (CsvRole::Numeric, style);
        }
        let words: usize = self.texts().map(|cell| text::count_words(cell, 50)).sum();
        if words as f64 >= WORDS * count as f64 && distinct * 2 > count {
            return (CsvRole::Text, None);
        }
        if many {
            notes.push(identifier(name, distinct, count));
            return (CsvRole::Drop, None);
        }
        if count >= FEW && 10 * distinct >= 9 * count {
            notes.push(format!(
                "column {} has {distinct} distinct values in the first {count} rows, each a category of its own: a text, a time or a \
                 name of the row teaches little so",
                shown(name)
            ));
        }
        (CsvRole::Categorical, None)
    }

    /// What is odd about a column that is used.
    fn remark(&self, name: &str, sample: &Sample<'_>, notes: &mut Vec<String>) {
        let rows = first_rows(self.rows, sample.more);
        if self.rows < ENOUGH {
            return;
        }
        if self.cells.is_empty() {
            notes.push(format!("column {} is empty in {rows}", shown(name)));
        } else if self.missing * 2 > self.rows {
            let share = 100.0 * self.missing as f64 / self.rows as f64;
            notes.push(format!("column {} is missing in {share:.0} % of {rows}", shown(name)));
        } else if self.missing == 0 && self.cells.iter().all(|cell| *cell == self.cells[0]) {
            notes.push(format!(
                "column {} is always {} in {rows}: it says nothing",
                shown(name),
                shown(self.cells[0])
            ));
        }
    }
}

fn identifier(name: &str, distinct: usize, count: usize) -> String {
    format!(
        "column {} is left out: {distinct} of its first {count} cells differ, so that it names rows and says nothing of them",
        shown(name)
    )
}

fn first_rows(rows: usize, more: bool) -> String {
    if more { format!("the first {rows} rows") } else { format!("all {rows} rows") }
}

/// What is odd about the rows and their labels.
fn about_rows(sample: &Sample<'_>) -> Vec<String> {
    let mut notes = vec![];
    let count = sample.rows.len();
    if count < ENOUGH {
        return notes;
    }
    let rows = first_rows(count, sample.more);
    let copies = count - sample.rows.iter().map(|row| row.as_slice()).collect::<HashSet<_>>().len();
    // Of few columns with few values each, equal rows are to be expected.
    if copies * 10 > count && sample.names.len() > 3 {
        notes.push(format!(
            "{copies} of {rows} are exact copies of earlier ones: they are learnt from as often as they come"
        ));
    }
    let labels = |label: usize| -> HashMap<&[u8], usize> {
        let mut counts = HashMap::new();
        let cells = sample.rows.iter().filter_map(|row| row.get(label)).filter(|cell| !cell.is_empty());
        cells.for_each(|cell| *counts.entry(cell).or_default() += 1);
        counts
    };
    if let Some(label) = sample.label {
        let counts = labels(label);
        // Of a file in which all differ, whoever reads it whole says so.
        if counts.len() * 5 > count && counts.len() > 50 && (sample.more || counts.len() < count) {
            notes.push(format!(
                "the label {} has {} values in {rows}: is it the column that you mean?",
                shown(&sample.names[label]),
                counts.len()
            ));
        }
    }
    notes
}

/// Columns that tell the label exactly: one value for each class.
fn leaks(sample: &Sample<'_>, fields: &[CsvField]) -> Vec<String> {
    let (Some(label), width) = (sample.label, sample.names.len()) else { return vec![] };
    let mut notes = vec![];
    for (column, field) in fields.iter().enumerate() {
        if column == label || matches!(field.role, CsvRole::Drop | CsvRole::Weight | CsvRole::Text) {
            continue;
        }
        let (mut forth, mut back) = (HashMap::new(), HashMap::new());
        let mut rows = 0;
        let rows_of = sample.rows.iter().filter(|row| row.len() == width && !row[label].is_empty());
        let one_to_one = rows_of.into_iter().all(|row| {
            rows += 1;
            let (cell, class) = (&row[column], &row[label]);
            !cell.is_empty()
                && *forth.entry(cell).or_insert(class) == class
                && *back.entry(class).or_insert(cell) == cell
        });
        if one_to_one && rows >= ENOUGH && forth.len() > 1 && forth.len() * 2 < rows {
            notes.push(format!(
                "column {} has one value for each class of the label, like a copy of it: if it is not known before the label is, leave it \
                 out",
                shown(&field.name)
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(
        header: &str,
        rows: impl Iterator<Item = String>,
        change: impl FnOnce(&mut ReadOptions),
    ) -> Decided {
        let names: Vec<String> = header.split(',').map(str::to_owned).collect();
        let rows: Vec<ByteRecord> =
            rows.map(|row| ByteRecord::from(row.split('|').collect::<Vec<_>>())).collect();
        let mut options = ReadOptions::default();
        change(&mut options);
        let rows: Vec<&ByteRecord> = rows.iter().collect();
        let sample = Sample {
            names: &names,
            rows: &rows,
            label: names.iter().position(|name| name == "label"),
            weight: None,
            comma_first: false,
            more: false,
        };
        let find = |name: &str| names.iter().position(|known| known == name).ok_or_else(|| "none".to_owned());
        decide(&sample, &options, find).expect("it can be decided")
    }

    fn roles(decided: &Decided) -> Vec<CsvRole> {
        decided.fields.iter().map(|field| field.role).collect()
    }

    #[test]
    fn a_table_of_all_kinds() {
        let rows = || {
            (0..100).map(|t| {
                let days = 1 + t % 28;
                format!(
                    "T-{t}|2026-02-{days:02}|the box number {t} came late|{}|1,{t:03}.5|{}|{}",
                    ["red", "blue"][t % 2],
                    t * t,
                    t % 3
                )
            })
        };
        let header = "ticket,when,said,colour,amount,size,label";
        let found = decided(header, rows(), |_| {});
        use CsvRole::{Categorical, Drop, Label, Numeric, Text, Time};
        assert_eq!(roles(&found), [Drop, Time, Text, Categorical, Numeric, Numeric, Label]);
        let styles: Vec<_> = found.fields.iter().map(|field| field.style).collect();
        assert_eq!(styles[1..5], [Some(Style::Iso), None, None, Some(Style::Grouped)]);
        assert_eq!(found.numbers, Some(5 + 2));
        assert!(
            found.notes.len() == 1 && found.notes[0].contains("\"ticket\" is left out"),
            "{:?}",
            found.notes
        );
        let asked = decided(header, rows(), |options| {
            options.categorical = vec!["ticket".into(), "said".into()];
            options.drop = vec!["when".into()];
            options.text = vec!["colour".into()];
        });
        assert_eq!(roles(&asked), [Categorical, Drop, Categorical, Text, Numeric, Numeric, Label]);
    }

    #[test]
    fn numbers_and_categories_alone_are_read_as_ever() {
        let rows = (0..100).map(|t| format!("{t}|{}|{}", ["a", "b", "c"][t % 3], t % 2));
        let found = decided("count,kind,label", rows, |_| {});
        assert_eq!(roles(&found), [CsvRole::Numeric, CsvRole::Categorical, CsvRole::Label]);
        assert_eq!((found.numbers, found.notes.len()), (None, 0));
    }

    #[test]
    fn a_colleague_would_say() {
        let rows = (0..100).map(|t| {
            let rare = if t % 20 == 0 { "4" } else { "" };
            let odd = if t == 50 { "many".to_owned() } else { t.to_string() };
            format!("{t}|EUR|{rare}|{odd}|{}|{}", ["x", "y", "z"][t % 3], ["u", "v", "w"][t % 3])
        });
        let found = decided("id,currency,rare,odd,copy,label", rows, |_| {});
        let notes = found.notes.join("\n");
        for part in [
            "\"id\" is left out",
            "\"currency\" is always \"EUR\"",
            "\"rare\" is missing in 95 %",
            "\"odd\" holds numbers but for 1 of its first 100 cells, such as \"many\"",
            "\"copy\" has one value for each class",
        ] {
            assert!(notes.contains(part), "{part}: {notes}");
        }
        assert_eq!(found.notes.len(), 5, "{notes}");
        let many = decided("a,b,c,label", (0..200).map(|t| format!("1|2|{}|n{}", t % 2, t / 2)), |_| {});
        assert!(many.notes.iter().any(|note| note.contains("has 100 values")), "{:?}", many.notes);
        let copies =
            decided("a,b,c,label", (0..200).map(|t| format!("{0}|{0}|3|{1}", t % 20, t % 2)), |_| {});
        assert!(
            copies.notes.iter().any(|note| note.starts_with("180 of all 200 rows are exact")),
            "{:?}",
            copies.notes
        );
    }
}

//! Remarks on rows, labels and pairs of columns that may be mistakes in the data.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use csv::ByteRecord;

use super::column::is_needed;
use super::sample::{ENOUGH, Sample, first_rows};
use crate::read::error::shown;
use crate::read::number;
use crate::read::table::schema::{CsvField, CsvRole};
use crate::read::table::words::is_number;

/// Tables with more columns have no equal rows by chance.
const NARROW: usize = 3;

/// Least mean number of digits from which numbers with decimals are measurements, which are not equal by
/// chance.
const DIGITS: usize = 5;

/// All remarks, one sentence each.
pub(crate) fn about(sample: &Sample<'_>, fields: &[CsvField]) -> Vec<String> {
    if sample.rows.len() < ENOUGH {
        return vec![];
    }
    let log = fields.iter().any(|field| field.role == CsvRole::Probability);
    let copies = if log { written_again(sample, fields) } else { copies(sample) };
    let mut notes: Vec<String> = copies.into_iter().chain(equal_columns(sample, fields)).collect();
    notes.extend(leaks(sample, fields));
    notes.extend(if log { None } else { one_of_several(sample) });
    notes.extend(numbers(sample, fields));
    notes.extend(fields.iter().enumerate().filter_map(|(column, field)| last_day(sample, column, field)));
    notes
}

/// A remark on the last day of the year 9999, which stands for no end in many databases.
fn last_day(sample: &Sample<'_>, column: usize, field: &CsvField) -> Option<String> {
    const LEAST: usize = 3;
    const DAYS: [&str; 4] = ["9999-12-31", "31.12.9999", "12/31/9999", "31/12/9999"];
    if field.role != CsvRole::Time {
        return None;
    }
    let cells =
        || sample.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !sample.missing.is_cell(cell));
    let is_last = |cell: &&[u8]| DAYS.iter().any(|day| cell.starts_with(day.as_bytes()));
    let first = cells().find(is_last)?;
    let (count, name, day) = (cells().filter(is_last).count(), shown(&field.name), shown(first));
    (count >= LEAST).then(|| {
        format!(
            "column {name} is {day} in {count} of {}: if it stands for no day, the option missing = {day} says so",
            first_rows(sample.rows.len(), sample.more)
        )
    })
}

/// Remarks on the numbers of columns: codes for missing ones, and digits that are not read.
fn numbers(sample: &Sample<'_>, fields: &[CsvField]) -> Vec<String> {
    let rows: Vec<&&ByteRecord> = sample.rows.iter().filter(|row| row.len() == fields.len()).collect();
    let numeric =
        |field: &CsvField| field.role == CsvRole::Numeric && field.style.is_none() && field.unit.is_none();
    let columns = fields.iter().enumerate().filter(|(_, field)| numeric(field));
    let notes = |(column, field): (usize, &CsvField)| {
        let cells: Vec<&[u8]> = rows.iter().map(|row| &row[column]).collect();
        let name = shown(&field.name);
        let code = sentinel(&cells, sample).map(|(code, count)| {
            format!(
                "column {name} is {code} in {count} of {}, far from its other numbers: if it stands for a missing one, the option missing = \
                 {code} says so",
                first_rows(rows.len(), sample.more)
            )
        });
        let long = rounded(&cells).map(|(cell, different, left)| {
            format!(
                "column {name} has {different} different whole numbers, such as {cell}, and {left} as they are read, by their first 16 digits: \
                 subtract what they share, or name it as a categorical column"
            )
        });
        [code, long].into_iter().flatten()
    };
    columns.flat_map(notes).collect()
}

/// A whole number with many digits, how many of its kind differ, and how many do so when they are read.
fn rounded<'a>(cells: &[&'a [u8]]) -> Option<(Cow<'a, str>, usize, usize)> {
    const DIGITS_READ: usize = 16;
    let is_long = |cell: &&&[u8]| cell.len() > DIGITS_READ && cell.iter().all(u8::is_ascii_digit);
    let long: HashSet<&[u8]> = cells.iter().filter(is_long).copied().collect();
    let read: HashSet<u64> =
        long.iter().filter_map(|cell| number::parse(cell).ok()).map(f64::to_bits).collect();
    let cell = *cells.iter().find(is_long)?;
    // One in twenty may round to the same one.
    (20 * read.len() < 19 * long.len()).then(|| (String::from_utf8_lossy(cell), long.len(), read.len()))
}

/// A number of nines, such as -999, or else -1, that is far from all others of its column and repeats, and
/// how often: it stands for a missing one in many tables.
fn sentinel<'a>(cells: &[&'a [u8]], sample: &Sample<'_>) -> Option<(Cow<'a, str>, usize)> {
    const LEAST: usize = 3;
    const FAR: f64 = 5.0;
    let is_nines = |cell: &[u8]| {
        let digits = cell.strip_prefix(b"-").unwrap_or(cell);
        let digits = digits.strip_suffix(b".0").unwrap_or(digits);
        digits.len() > 2 && digits.iter().all(|digit| *digit == b'9')
    };
    let is_minus_one = |cell: &&&[u8]| matches!(**cell, b"-1" | b"-1.0");
    let nines = cells.iter().find(|cell| is_nines(cell));
    let code = *nines.or_else(|| cells.iter().find(is_minus_one))?;
    let value = number::parse(code).ok().filter(|value| !sample.missing.is_number(*value))?;
    let numbers = || cells.iter().filter_map(|cell| number::parse(cell).ok()).filter(|one| one.is_finite());
    let others = || numbers().filter(|one| *one != value);
    let count = numbers().count() - others().count();
    let (least, largest) =
        (others().fold(f64::INFINITY, f64::min), others().map(f64::abs).fold(0.0, f64::max));
    let far = match value == -1.0 {
        true => least >= FAR,
        false => (value < 0.0 && least >= 0.0) || value.abs() >= FAR * largest,
    };
    let repeats = count >= LEAST && 100 * count >= cells.len() && least.is_finite();
    (far && repeats).then(|| (String::from_utf8_lossy(code), count))
}

/// Rows that are copies of others, if there are more than chance explains.
fn copies(sample: &Sample<'_>) -> Option<String> {
    let count = sample.rows.len();
    if !sample.whole {
        return None;
    }
    let mut times: HashMap<&[u8], usize> = HashMap::new();
    let whole: Vec<Vec<u8>> = sample.rows.iter().map(|row| bytes(row, None)).collect();
    whole.iter().for_each(|row| *times.entry(row).or_default() += 1);
    let copies = count - times.len();
    if copies * 10 <= count {
        return None;
    }
    let all_copied = || times.values().min().is_some_and(|least| *least > 1);
    let equally_often = || times.values().min() == times.values().max();
    let unexpected = sample.names.len() > NARROW
        || (times.len() >= ENOUGH && all_copied() && equally_often())
        || copies as f64 > 2.0 * expected_copies(sample);
    unexpected.then(|| {
        let rows = first_rows(count, sample.more);
        format!("{copies} of {rows} are exact copies of earlier ones; every copy is learnt from")
    })
}

/// The cells of a row but that of the column `without`, with a separator, so that they do not run together.
fn bytes(row: &ByteRecord, without: Option<usize>) -> Vec<u8> {
    let cells = row.iter().enumerate().filter(|(column, _)| Some(*column) != without);
    cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(&0xff)
}

/// Decisions of a log that were written more than once: rows that are copies, or copies but for the reward.
fn written_again(sample: &Sample<'_>, fields: &[CsvField]) -> Option<String> {
    let reward = || fields.iter().position(|field| field.role == CsvRole::Reward);
    repeated(sample, None).or_else(|| repeated(sample, Some(reward()?)))
}

/// Rows that are copies, up to the column `without`, also in a column in which no two other rows are equal.
/// Without such a column, as one of ids or times, equal decisions are no mistake.
fn repeated(sample: &Sample<'_>, without: Option<usize>) -> Option<String> {
    let count = sample.rows.len();
    let different: HashMap<Vec<u8>, &ByteRecord> =
        sample.rows.iter().map(|row| (bytes(row, without), *row)).collect();
    let copies = count - different.len();
    // If most are copies, the column is one of few values.
    if !sample.whole || 100 * copies < count || 2 * copies > count {
        return None;
    }
    let tells_apart = |column: &usize| {
        let mut seen = HashSet::new();
        Some(*column) != without
            && different.values().all(|row| row.get(*column).is_some_and(|cell| seen.insert(cell)))
    };
    let column = (0..sample.names.len()).find(tells_apart)?;
    let (rows, name) = (first_rows(count, sample.more), shown(&sample.names[column]));
    let (copied, sum) = match without {
        None => ("exact copies of earlier ones", ""),
        Some(_) => (
            "copies of earlier ones but for the reward",
            "; that of a decision with several answers is their sum, in one row",
        ),
    };
    Some(format!(
        "{copies} of {rows} are {copied}, also in column {name}, in which all others differ: every copy counts as a decision{sum}"
    ))
}

/// The number of copies to be expected among rows whose columns are independent and determine the label.
fn expected_copies(sample: &Sample<'_>) -> f64 {
    let count = sample.rows.len() as f64;
    let columns = (0..sample.names.len()).filter(|column| Some(*column) != sample.label);
    let different: f64 = columns.map(|column| values(sample, column)).product();
    let different = different.max(1.0);
    count - different * -(-count / different).exp_m1()
}

/// The number of values that a column may have: those that occur, or many for measurements.
fn values(sample: &Sample<'_>, column: usize) -> f64 {
    let cells = || sample.rows.iter().filter_map(|row| row.get(column));
    let different = cells().collect::<HashSet<_>>().len();
    let numbers = || cells().filter(|cell| is_number(cell));
    let digits: usize = numbers().map(|cell| cell.iter().filter(|byte| byte.is_ascii_digit()).count()).sum();
    let decimals = numbers().filter(|cell| cell.contains(&b'.')).count();
    let measured = decimals * 2 > cells().count() && digits >= DIGITS * numbers().count();
    if measured { 1e6 } else { different as f64 }
}

/// Columns that equal another one, cell by cell. Those that nearly always have the same value are not
/// mentioned: rare events may coincide.
fn equal_columns(sample: &Sample<'_>, fields: &[CsvField]) -> Option<String> {
    let rows: Vec<&&ByteRecord> = sample.rows.iter().filter(|row| row.len() == fields.len()).collect();
    let varies = |column: usize| {
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        rows.iter().for_each(|row| *counts.entry(&row[column]).or_default() += 1);
        counts.values().max().is_some_and(|most| 20 * (rows.len() - most) > rows.len())
    };
    let mut first: HashMap<Vec<&[u8]>, usize> = HashMap::new();
    let mut pairs = vec![];
    for (column, field) in fields.iter().enumerate() {
        if !is_needed(field.role) || !varies(column) {
            continue;
        }
        let cells: Vec<&[u8]> = rows.iter().map(|row| &row[column]).collect();
        let earlier = *first.entry(cells).or_insert(column);
        if earlier != column {
            pairs.push((earlier, column));
        }
    }
    let ((earlier, column), more) = pairs.split_first()?;
    let more = match more.len() {
        0 => String::new(),
        1 => ", and there is one more such pair".to_owned(),
        count => format!(", and there are {count} more such pairs"),
    };
    let rows = first_rows(rows.len(), sample.more);
    let (name, other) = (shown(&fields[*column].name), shown(&fields[*earlier].name));
    Some(format!("column {name} is a copy of column {other} in {rows}: one of them is enough{more}"))
}

/// Columns that determine the label: one value for each class.
fn leaks(sample: &Sample<'_>, fields: &[CsvField]) -> Vec<String> {
    let (Some(label), width) = (sample.label, sample.names.len()) else { return vec![] };
    if fields.iter().any(|field| field.role == CsvRole::Probability) {
        // The label of a log of decisions is no truth.
        return vec![];
    }
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

/// A remark on neighbouring columns, the label among them, of which exactly one is 1 in every row and the
/// others are 0: the others tell the label.
fn one_of_several(sample: &Sample<'_>) -> Option<String> {
    /// The largest number of columns on either side of the label.
    const MOST: usize = 64;
    let (label, width) = (sample.label?, sample.names.len());
    let rows: Vec<&&ByteRecord> = sample.rows.iter().filter(|row| row.len() == width).collect();
    let is_one = |cell: &[u8]| matches!(cell, b"1" | b"1.0");
    let is_bit = |cell: &[u8]| is_one(cell) || matches!(cell, b"0" | b"0.0");
    let are_bits = |column: &usize| rows.iter().all(|row| is_bit(&row[*column]));
    if rows.is_empty() || !are_bits(&label) {
        return None;
    }
    let first = label - (label.saturating_sub(MOST)..label).rev().take_while(are_bits).count();
    let last = label + (label + 1..width.min(label + 1 + MOST)).take_while(are_bits).count();
    let is_one_of = |from: usize, to: usize| {
        to - from > 1
            && rows.iter().all(|row| (from..=to).filter(|column| is_one(&row[*column])).count() == 1)
    };
    let found = |to: usize| (first..=label).find(|from| is_one_of(*from, to)).map(|from| (from, to));
    let (from, to) = found(label).or_else(|| found(last))?;
    Some(format!(
        "exactly one of the columns {} to {}, which are neighbours and the label is among, is 1 in every row: the others tell the label; make \
         one column of them, with a name for each",
        shown(&sample.names[from]),
        shown(&sample.names[to])
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(header: &str, rows: impl Iterator<Item = String>) -> Vec<String> {
        let names: Vec<String> = header.split(',').map(str::to_owned).collect();
        let records: Vec<ByteRecord> =
            rows.map(|row| ByteRecord::from(row.split('|').collect::<Vec<_>>())).collect();
        let fields: Vec<CsvField> = (names.iter())
            .map(|name| {
                let role = match &**name {
                    "y" => CsvRole::Label,
                    "day" => CsvRole::Time,
                    _ => CsvRole::Numeric,
                };
                CsvField::plain(name, role)
            })
            .collect();
        let (label, weight) = (names.iter().position(|name| name == "y"), None);
        let rows = &records.iter().collect::<Vec<_>>();
        about(
            &Sample {
                names: &names,
                rows,
                label,
                weight,
                comma_first: false,
                more: false,
                whole: true,
                nameless: false,
                missing: &crate::Missing::default(),
                declared: &[],
            },
            &fields,
        )
    }

    #[test]
    fn copies_in_narrow_tables() {
        let measured = |t: u32| format!("{}.{:04}", t % 7, t * 7919 % 10_007);
        let all = notes("a,b,y", (0..200).map(|t| format!("{}|{}|{}", t % 50, t % 50 * (t % 50), t % 2)));
        assert!(all[0].starts_with("150 of all 200 rows are exact copies"), "{all:?}");
        let twice = notes("a,y", (0..200).map(|t| format!("{}|{}", t % 100, t % 100 % 2)));
        assert!(twice[0].starts_with("100 of all 200 rows are exact copies"), "{twice:?}");
        let some = notes("a,y", (0..200).map(|t| format!("{}|{}", measured(t * 3 / 4), t * 3 / 4 % 2)));
        assert!(some[0].starts_with("50 of all 200 rows are exact copies"), "{some:?}");
        // Few values: equal rows are expected.
        let ages = notes("age,y", (0..200).map(|t| format!("{}|{}", 20 + t * t % 61, t * t % 61 / 31)));
        assert_eq!(ages, [""; 0]);
        let two = notes("a,b,y", (0..200).map(|t| format!("{}|{}|{}", t * t % 10, t * t % 11, t % 2)));
        assert_eq!(two, [""; 0]);
    }

    /// The decisions of a log may be equal, but not with the same number, unless they were written twice.
    #[test]
    fn decisions_that_were_written_twice() {
        let names: Vec<String> = ["id", "x", "p", "r"].map(str::to_owned).into();
        let said = |id: &dyn Fn(u32) -> u32, reward: &dyn Fn(u32) -> u32| {
            let row = |t: u32| {
                ByteRecord::from(vec![
                    id(t).to_string(),
                    "a".to_owned(),
                    "0.5".to_owned(),
                    reward(t).to_string(),
                ])
            };
            let rows: Vec<ByteRecord> = (0..200).map(row).collect();
            let rows = &rows.iter().collect::<Vec<_>>();
            let roles = [CsvRole::Numeric, CsvRole::Categorical, CsvRole::Probability, CsvRole::Reward];
            let fields: Vec<CsvField> =
                names.iter().zip(roles).map(|(name, role)| CsvField::plain(name, role)).collect();
            about(
                &Sample {
                    names: &names,
                    rows,
                    label: None,
                    weight: None,
                    comma_first: false,
                    more: true,
                    whole: true,
                    nameless: false,
                    missing: &crate::Missing::default(),
                    declared: &[],
                },
                &fields,
            )
        };
        let (twice, none) = (|t: u32| t - t % 20 / 19, [""; 0]);
        let begins = |said: &[String], begin: &str| said.len() == 1 && said[0].starts_with(begin);
        let all = said(&twice, &|_| 1);
        let copies = "10 of the first 200 rows are exact copies of earlier ones, also in column \"id\", in";
        assert!(begins(&all, copies), "{all:?}");
        // One e-mail with two purchases, as a join of both has it.
        let all = said(&twice, &|t| t % 7);
        let joined =
            "10 of the first 200 rows are copies of earlier ones but for the reward, also in column \"id\"";
        assert!(begins(&all, joined), "{all:?}");
        // Few ages, and ids that all differ.
        assert_eq!(said(&|t| 20 + t % 60, &|t| t % 7), none);
        assert_eq!(said(&|t| t, &|t| t % 7), none);
    }

    /// A label in several columns of 0 and 1, behind others or before them.
    #[test]
    fn a_label_in_several_columns() {
        let bits = |t: usize| [0, 1, 2].map(|at| if t % 3 == at { "1" } else { "0" }).join("|");
        let begins =
            |from: &str, to: &str| format!("exactly one of the columns \"{from}\" to \"{to}\", which");
        let said = |header: &str, row: &dyn Fn(usize) -> String| {
            let all = notes(header, (0..60).map(row));
            all.into_iter().find(|note| note.starts_with("exactly one"))
        };
        let last = said("a,b,c,y", &|t| format!("{}.5|{}", t * 7 % 31, bits(t)));
        assert!(last.is_some_and(|note| note.starts_with(&begins("b", "y"))));
        let first = said("y,b,c,a", &|t| format!("{}|{}.5", bits(t), t * 7 % 31));
        assert!(first.is_some_and(|note| note.starts_with(&begins("y", "c"))));
        // Several may be 1, or none; and two columns are told as copies.
        assert_eq!(
            said("a,b,c,y", &|t| format!("{}|{}|{}|{}", t * 7 % 31, t % 2, t % 3 / 2, t % 5 / 4)),
            None
        );
        assert_eq!(said("a,b,y", &|t| format!("{}|{}|{}", t * 7 % 31, t % 2, (t + 1) % 2)), None);
    }

    #[test]
    fn digits_that_are_not_read() {
        let long = |step: u64| (0..100).map(move |t| format!("{}|{}", (1_u64 << 60) + step * t, t % 2));
        let said = "column \"a\" has 100 different whole numbers, such as 1152921504606846976, and 4 as they are read";
        let all = notes("a,y", long(7));
        assert!(all[0].starts_with(said), "{all:?}");
        // As nanoseconds do.
        assert_eq!(notes("a,y", long(1000)), [""; 0]);
    }

    #[test]
    fn days_that_stand_for_none() {
        let day =
            |t: u32| if t % 9 == 1 { "9999-12-31".to_owned() } else { format!("2024-03-{:02}", 1 + t % 28) };
        let said = "column \"day\" is \"9999-12-31\" in 11 of all 100 rows: if it stands for no day, the option missing = \"9999-12-31\" says so";
        let all = notes("day,y", (0..100).map(|t| format!("{}|{}", day(t), t % 2)));
        assert!(all.contains(&said.to_owned()), "{all:?}");
    }

    #[test]
    fn columns_that_are_copies() {
        let rows = |count: u32| (0..count).map(|t| format!("{0}|{1}|{0}|{0}|{1}|{2}", t, t % 3, t % 2));
        let found = notes("a,b,c,d,e,y", rows(100));
        let expected = "column \"c\" is a copy of column \"a\" in all 100 rows: one of them is enough, and there are 2 more such pairs";
        assert_eq!(found, [expected]);
        assert_eq!(notes("a,b,c,d,e,y", rows(40)), [""; 0], "too few rows");
        // Rare events coincide.
        let rare = notes("a,b,y", (0..100).map(|t| format!("{0}|{0}|{1}", u32::from(t == 50), t % 2)));
        assert_eq!(rare, [""; 0]);
        let pair = notes("a,b,y", (0..100).map(|t| format!("{t}|{t}|{}", t % 2)));
        assert_eq!(pair.len(), 1, "{pair:?}");
    }
}

//! The first row of a CSV file: whether it names the columns, and what they are called.

use std::collections::HashSet;

use csv::ByteRecord;

use super::layout::{is_missing, is_number};
use crate::read::error::{ReadErrorKind, shown};

/// Whether the first row names the columns. It has no number, and there is a word in it above a column of
/// numbers; or all of its cells differ, none but the first (where row names stand) is empty, and there are
/// numbers below, or none of its cells comes again in its column.
pub(crate) fn has_header(rows: &[ByteRecord]) -> bool {
    let (first, rest) = (&rows[0], &rows[1..]);
    if first.iter().any(is_number) {
        return false;
    }
    if first.iter().enumerate().any(|(column, cell)| !is_missing(cell) && holds_numbers(rest, column)) {
        return true;
    }
    let mut seen = HashSet::new();
    let distinct =
        first.iter().enumerate().all(|(column, cell)| (column == 0 || !cell.is_empty()) && seen.insert(cell));
    if !distinct {
        return false;
    }
    let numbers_below = rest.iter().any(|row| row.iter().any(is_number));
    let comes_again = || rest.iter().any(|row| row.iter().zip(first).any(|(cell, name)| cell == name));
    numbers_below || !comes_again()
}

/// Whether a column of `rows` has numbers and nothing else, but for missing cells.
fn holds_numbers(rows: &[ByteRecord], column: usize) -> bool {
    let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !is_missing(cell)).peekable();
    cells.peek().is_some() && cells.all(is_number)
}

/// What columns are called.
pub(crate) struct Names {
    /// All of them, each once.
    pub(crate) names: Vec<String>,
    /// Positions of those whose name the header gives to an earlier column as well.
    pub(crate) repeated: Vec<usize>,
}

/// Column names: the header's, or the numbers from 1. An empty name becomes the number, and one that an
/// earlier column has already gets a number behind it: `a`, `a.2`.
pub(crate) fn names(first: &ByteRecord, header: bool) -> Result<Names, ReadErrorKind> {
    let mut given = Vec::with_capacity(first.len());
    for cell in first {
        match std::str::from_utf8(cell.trim_ascii()) {
            Ok(name) if header => given.push(name),
            _ if !header => given.push(""),
            _ => return Err(format!("has a header that is not UTF-8 text: {}", shown(cell)).into()),
        }
    }
    // No made-up name takes the place of one that is written down.
    let mut taken: HashSet<String> = given.iter().map(|name| (*name).to_owned()).collect();
    let mut seen = HashSet::new();
    let (mut names, mut repeated) = (Vec::with_capacity(given.len()), Vec::new());
    let mut times = std::collections::HashMap::<&str, u32>::new();
    for (position, name) in given.into_iter().enumerate() {
        if !name.is_empty() && seen.insert(name) {
            names.push(name.to_owned());
            continue;
        }
        if !name.is_empty() {
            repeated.push(position);
        }
        let mut made = if name.is_empty() { (position + 1).to_string() } else { String::new() };
        while made.is_empty() || taken.contains(&made) {
            let count = times.entry(name).or_insert(1);
            *count += 1;
            made =
                if name.is_empty() { format!("{}.{count}", position + 1) } else { format!("{name}.{count}") };
        }
        taken.insert(made.clone());
        names.push(made);
    }
    Ok(Names { names, repeated })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let names = |cells: &[&str], header| {
            let Names { names, repeated } = names(&ByteRecord::from(cells.to_vec()), header).unwrap();
            (names.join(" "), repeated)
        };
        assert_eq!(names(&["a", "", " a ", "a", ""], true), ("a 2 a.2 a.3 5".to_owned(), vec![2, 3]));
        assert_eq!(names(&["a", "a.2", "a", "", "4"], true), ("a a.2 a.3 4.2 4".to_owned(), vec![2]));
        assert_eq!(names(&["7", "7"], false), ("1 2".to_owned(), vec![]));
    }

    /// Finding names takes time in proportion to them.
    #[test]
    fn a_hundred_thousand_names() {
        let cells: Vec<String> = (0..100_000).map(|column| format!("c{}", column % 60_000)).collect();
        let record = ByteRecord::from(cells);
        let rows = [record.clone(), ByteRecord::from(vec!["1"; 100_000])];
        assert!(has_header(&rows));
        let found = super::names(&record, true).unwrap();
        assert_eq!((found.names.len(), found.repeated.len()), (100_000, 40_000));
        assert_eq!(found.names[99_999], "c39999.2");
    }
}

//! Recognises the header of a CSV file.

use std::collections::HashSet;

use csv::ByteRecord;

use crate::read::missing::is_missing;
use crate::read::table::amount::{self, STYLES};
use crate::read::table::schema::Style;
use crate::read::table::words::{LABEL_NAMES, is_number};

/// Number of rows below the first that distinguishes names from rare cells.
const ENOUGH: usize = 50;

/// Whether the first row is a header. It contains the name of a column in `asked`; or a usual name of a
/// label column, such as `class`, and no cell is repeated in its column; or its numbers are names. Otherwise
/// it contains no number, and either a word above a column of numbers; or no number with a comma, all its
/// cells differ, at most the first one (above row names) is empty, and there are numbers below and none with
/// a sign in it, or no cell is repeated in its column;
/// or most of its cells are not empty, or half of them and the row below is no header, and none is repeated
/// in its column, where all others are.
pub(crate) fn has_header(rows: &[ByteRecord], asked: &[&str]) -> bool {
    let (first, rest) = (&rows[0], &rows[1..]);
    // A number may be the number of a column.
    let is_asked = |cell: &[u8]| !is_number(cell) && asked.iter().any(|name| name.as_bytes() == cell);
    if first.iter().any(is_asked) {
        return true;
    }
    let comes_again = || rest.iter().any(|row| row.iter().zip(first).any(|(cell, name)| cell == name));
    let is_label = |cell: &[u8]| LABEL_NAMES.iter().any(|name| cell.eq_ignore_ascii_case(name.as_bytes()));
    if rest.len() >= ENOUGH && first.iter().any(is_label) && !comes_again() {
        return true;
    }
    // NaN and infinities may be names, where others are beside them.
    let is_digits = |cell: &[u8]| is_number(cell) && cell.iter().any(u8::is_ascii_digit);
    if first.iter().any(is_digits) {
        return has_numbered_names(first, rest);
    }
    if first.iter().enumerate().any(|(column, cell)| is_word_above_numbers(cell, rest, column)) {
        return true;
    }
    if first.iter().any(|cell| is_number(cell) || has_comma(cell)) {
        return false;
    }
    let mut seen = HashSet::new();
    let distinct =
        first.iter().enumerate().all(|(column, cell)| (column == 0 || !cell.is_empty()) && seen.insert(cell));
    if !distinct {
        let named = 2 * first.iter().filter(|cell| !cell.is_empty()).count();
        let differs =
            named >= first.len() && !comes_again() && (0..first.len()).all(|at| has_few_values(rest, at));
        // A title has more empty cells, or names below it.
        return differs && (named > first.len() || rest.is_empty() || !has_header(rest, asked));
    }
    let numbers_below = || rest.iter().any(|row| row.iter().any(is_number));
    let is_row = (0..first.len()).any(|column| is_amount(&first[column]) && holds_amounts(rest, column));
    (!is_row && numbers_below()) || !comes_again()
}

/// Whether the numbers of the first row are names: years beside words, above numbers that are mostly none; or
/// five or more that count by one from 0 or 1 on, as pandas numbers columns, above others; or fewer, beside
/// words above others. Words beside them are not repeated in their columns. The first two rows of a pipe do
/// not show that.
fn has_numbered_names(first: &ByteRecord, rest: &[ByteRecord]) -> bool {
    const YEARS: std::ops::RangeInclusive<u32> = 1500..=2100;
    const COUNTED: usize = 5;
    let whole = |cell: &[u8]| std::str::from_utf8(cell).ok()?.parse::<u32>().ok();
    let is_year = |cell: &[u8]| whole(cell).is_some_and(|number| YEARS.contains(&number));
    let numbers: Option<Vec<u32>> = first.iter().filter(|cell| is_number(cell)).map(whole).collect();
    let Some(numbers) = numbers.filter(|_| rest.len() > 2) else { return false };
    let cells = |column: usize| rest.iter().filter_map(move |row| row.get(column));
    let columns = |of: fn(&[u8]) -> bool| (0..first.len()).filter(move |column| of(&first[*column]));
    let rarely = |column: usize, is: &dyn Fn(&[u8]) -> bool| {
        2 * cells(column).filter(|cell| is(cell)).count() < rest.len()
    };
    // Fewer count beside words that are none of those below them, where these occur again and again.
    let words = |column: &usize| !is_number(&first[*column]) && !first[*column].is_empty();
    let mut words = (0..first.len()).filter(words).peekable();
    let beside = numbers.len() > 1 && rest.len() >= ENOUGH && words.peek().is_some();
    let beside = beside && words.all(|column| has_few_values(rest, column));
    let counts = (numbers.len() >= COUNTED || beside)
        && numbers[0] < 2
        && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1)
        && columns(is_number).all(|column| rarely(column, &|cell| *cell == first[column]));
    let years = || {
        numbers.iter().collect::<HashSet<_>>().len() == numbers.len()
            && numbers.len() < first.len()
            && columns(is_number).all(|column| is_year(&first[column]) && rarely(column, &is_year))
            && columns(is_number).all(|column| holds_numbers(rest, column))
    };
    let is_word = |column: usize| {
        (column == 0 || !first[column].is_empty()) && cells(column).all(|cell| *cell != first[column])
    };
    (counts || years()) && columns(|cell| !is_number(cell)).all(is_word)
}

/// Whether a cell of the column occurs twice or more on average.
fn has_few_values(rows: &[ByteRecord], column: usize) -> bool {
    let cells: Vec<&[u8]> = rows.iter().filter_map(|row| row.get(column)).collect();
    2 * cells.iter().collect::<HashSet<_>>().len() <= cells.len()
}

/// Most rows above the names.
pub(crate) const MOST_ABOVE: usize = 10;

/// The most frequent number of cells of a row, at least two; the smaller of equally frequent ones. `None`
/// if most rows have one cell.
pub(crate) fn usual_width(rows: &[ByteRecord]) -> Option<usize> {
    let mut counts = std::collections::BTreeMap::<usize, usize>::new();
    rows.iter().for_each(|row| *counts.entry(row.len()).or_default() += 1);
    // `max_by_key` returns the last maximum, so the order is reversed.
    let usual = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    usual.map(|(width, _)| width).filter(|width| *width > 1)
}

/// The number of cells of nearly all rows, if the first one has another.
pub(crate) fn other_width(rows: &[ByteRecord]) -> Option<usize> {
    let (first, rest) = rows.split_first()?;
    let usual = usual_width(rest).filter(|usual| *usual != first.len())?;
    let alike = rest.iter().filter(|row| row.len() == usual).count();
    (rest.len() > 2 && alike * 10 >= rest.len() * 9).then_some(usual)
}

/// A word in the first row where all others of its column have numbers.
pub(crate) fn word_above_numbers(rows: &[ByteRecord]) -> Option<&[u8]> {
    let (first, rest) = rows.split_first().filter(|(_, rest)| rest.len() > 2)?;
    let mut cells = first.iter().enumerate();
    cells.find(|(column, cell)| is_word_above_numbers(cell, rest, *column)).map(|(_, cell)| cell)
}

/// A word in the first row, if it has one above every column of numbers, and there are some: its cells are
/// names.
pub(crate) fn names_above_numbers(rows: &[ByteRecord]) -> Option<&[u8]> {
    let (first, rest) = rows.split_first().filter(|(_, rest)| rest.len() > 2)?;
    // A line that is no row, as UCI's are, has no names either.
    if rest.iter().any(|row| row.len() != first.len()) {
        return None;
    }
    let mut numeric = (0..first.len()).filter(|column| holds_numbers(rest, *column)).peekable();
    let name = first.get(*numeric.peek()?)?;
    numeric.all(|column| is_word_above_numbers(&first[column], rest, column)).then_some(name)
}

/// Number of rows above the names of the columns, such as a title or the names of groups of columns. They
/// have fewer different cells than the names. If `header` is given, there are names, and only rows
/// with fewer cells are above them.
pub(crate) fn rows_above(rows: &[ByteRecord], header: Option<bool>, asked: &[&str]) -> usize {
    if header == Some(false) {
        return 0;
    }
    let Some(width) = usual_width(rows) else { return 0 };
    let short = rows.iter().take_while(|row| row.len() < width).count();
    let rest = &rows[short.min(rows.len())..];
    // A file of rows of different lengths has no title.
    let even = rest.len() > 1 && rest.iter().filter(|row| row.len() == width).count() * 10 >= rest.len() * 9;
    if short > 0 && !(even && short <= MOST_ABOVE) {
        return 0;
    }
    let groups = if header.is_none() { groups_above(rest, asked) } else { 0 };
    let named = short == 0 || header == Some(true) || groups > 0 || has_header(rest, asked);
    if named { short + groups } else { 0 }
}

/// Number of full rows above the names: a title filled up with empty cells, or names of groups of columns.
fn groups_above(rows: &[ByteRecord], asked: &[&str]) -> usize {
    if has_header(rows, asked) {
        return 0;
    }
    let different =
        |row: &ByteRecord| row.iter().filter(|cell| !cell.is_empty()).collect::<HashSet<_>>().len();
    for above in 1..=MOST_ABOVE.min(rows.len().saturating_sub(2)) {
        let (names, below) = (&rows[above], &rows[above + 1..]);
        let fewer = rows[..above].iter().all(|row| {
            different(row) < different(names) && row.iter().all(|cell| !is_number(cell) || cell.is_empty())
        });
        let word = |(column, cell): (usize, &[u8])| is_word_above_numbers(cell, below, column);
        if fewer && names.iter().enumerate().any(word) && has_header(&rows[above..], asked) {
            return above;
        }
    }
    0
}

/// Whether a column of `rows` contains only numbers and missing cells.
fn holds_numbers(rows: &[ByteRecord], column: usize) -> bool {
    let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !is_missing(cell)).peekable();
    cells.peek().is_some() && cells.all(is_number)
}

/// Whether a cell is a word, and its column of the `rows` below has numbers, plain or with decimal commas,
/// groups of thousands or signs. `5%` may be a name above plain numbers; `1,5` is a number there, too.
fn is_word_above_numbers(cell: &[u8], rows: &[ByteRecord], column: usize) -> bool {
    let above_numbers = || !is_number(cell) && !has_comma(cell) && holds_numbers(rows, column);
    !is_missing(cell) && (above_numbers() || (!is_amount(cell) && holds_amounts(rows, column)))
}

/// Whether a cell is a number, plain or in one of [`STYLES`].
fn is_amount(cell: &[u8]) -> bool {
    is_number(cell) || amount::is_amount(cell)
}

/// Whether a cell is a number with a comma in it, before its decimals or between groups of thousands.
fn has_comma(cell: &[u8]) -> bool {
    cell.contains(&b',') && is_amount(cell)
}

/// Whether a column of `rows` contains only numbers in one of [`STYLES`] and missing cells.
fn holds_amounts(rows: &[ByteRecord], column: usize) -> bool {
    let cells = || rows.iter().filter_map(|row| row.get(column)).filter(|cell| !is_missing(cell));
    let all_in = |style: &Style| cells().all(|cell| amount::parse(cell, Some(*style)).is_some());
    cells().next().is_some() && STYLES.iter().any(all_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names are above numbers with decimal commas and signs, too, also if one is the name of a class. A row
    /// of such numbers is no header.
    #[test]
    fn names_above_numbers_of_another_style() {
        for (lines, want) in [
            ("a;b;y 1,5;2,5;x 3,5;0,5;y 1,25;0,5;x", true),
            ("a;y 1.234,5;x 7,25;y 2,5;x", true),
            ("a;y 12%;x 7.5%;y 2%;x", true),
            ("a;y €12;x €7.5;y €2;x", true),
            ("5%;95%;y 1;2;x 3;4;y 1;7;x", true),
            // Rows.
            ("1,5;2,5;x 3,5;0,5;y 1,25;0,5;x", false),
            ("1,5;2,5;x 3;0,5;y 1,25;2;x", false),
            ("1,5;2,5;x 2;3;y 3;4;x 4;5;y", false),
            ("1,5;2,5;x 2;3;y 3;4;z", false),
            ("-1,5;x 2;y 3;x", false),
            ("1,234.5;x 2;y 3;x", false),
            ("a;1,5;y 2;3;x 4;5;y", true),
            ("12%;x 7%;y 2%;x", false),
        ] {
            let rows = lines.split(' ').map(|line| ByteRecord::from(line.split(';').collect::<Vec<_>>()));
            assert_eq!(has_header(&rows.collect::<Vec<_>>(), &[]), want, "{lines}");
        }
    }

    /// Numbers are names where they are years or count the columns, and their rows are no such numbers.
    #[test]
    fn numbers_as_names() {
        for (lines, want) in [
            ("country,1999,2000 A,745,2666 B,3.5,80 C,1,2", true),
            ("district,2018 A,-64.8 B,12.5 C,1", true),
            (",1850,1860,1900 A,0.1,0.2,0.3 B,0.1,NA,0.4 C,0,0,0", true),
            ("0,1,2,3,4,kind 1.5,2.5,1,7,8,x 3.5,9,9,7,8,x 1.5,2,5,6,7,y", true),
            ("word,1,2,3,4,5 A,0.1,0.2,0.3,0.4,0.5 B,0.1,0.2,0.3,0.4,0.6 C,0,0,0,0,0", true),
            // Rows.
            ("A,1999,2005 B,2001,2004 C,1990,2010 D,1991,2011", false),
            ("x,1999,7 y,25,3 z,30,4 u,31,5", false),
            ("x,1999 y,25 x,30 z,31", false),
            ("1999,2000 7,8 9,10 11,12", false),
            ("1,2,3,4,5 2,1,3,4,5 1,2,3,5,4 5,4,3,2,1", false),
            ("0,1,2,3,x 4,5,6,7,y 4,5,6,7,z 4,5,6,7,u", false),
            ("2,3,4,5,6,7 3,4,5,6,7,8 4,5,6,7,8,9 5,6,7,8,9,10", false),
            ("country,1999,2000", false),
            ("cat,1800 dog,2500", false),
        ] {
            let rows = lines.split(' ').map(|line| ByteRecord::from(line.split(',').collect::<Vec<_>>()));
            assert_eq!(has_header(&rows.collect::<Vec<_>>(), &[]), want, "{lines}");
        }
    }

    /// pandas numbers few columns, too: a word beside the numbers, above words that occur again and again, is
    /// a name.
    #[test]
    fn few_numbers_as_names() {
        let header = |first: &str, row: &dyn Fn(usize) -> String| {
            let lines = std::iter::once(first.to_owned()).chain((0..60).map(row));
            let rows = lines.map(|line| ByteRecord::from(line.split(',').collect::<Vec<_>>()));
            has_header(&rows.collect::<Vec<_>>(), &[])
        };
        let kinds = |t: usize| format!("{}.5,{},{}", t % 7, 3 * t % 11, ["u", "v"][t % 2]);
        assert!(header("0,1,species", &kinds));
        assert!(header("1,2,species", &kinds));
        assert!(header(",0,1,species", &|t| format!("{t},{}", kinds(t))));
        for first in ["0,1,u", "0,2,species", "2,3,species", "0.5,1,species"] {
            assert!(!header(first, &kinds), "{first}");
        }
        // Names of things, each of which is there once.
        assert!(!header("0,1,crow", &|t| format!("{},{},bird {t}", t % 7, t % 5)));
        assert!(!header("0,1,2", &|t| format!("{},{},{}", t % 7, t % 5, t % 3)));
    }

    /// Names may be repeated or absent where words alone are below them, as far as these occur again and
    /// again.
    #[test]
    fn words_above_words() {
        for (lines, want) in [
            ("a,b x,y z,w x,y x,w", true),
            ("a,a x,y z,w x,y x,w", true),
            ("a,b, x,y,u z,w,v x,y,u x,w,v", true),
            ("a,, x,y,u z,w,v x,y,u x,w,v", false),
            ("a, x,y z,w x,y x,w", true),
            ("a, b,c x,y z,w x,y x,w", false),
            ("x,x x,y z,w x,y x,w", false),
            ("u,u x,y z,w v,y x,p", false),
        ] {
            let rows = lines.split(' ').map(|line| ByteRecord::from(line.split(',').collect::<Vec<_>>()));
            assert_eq!(has_header(&rows.collect::<Vec<_>>(), &[]), want, "{lines}");
        }
    }

    #[test]
    fn titles_and_groups_above_the_names() {
        let above = |lines: &[&str], header| {
            let rows: Vec<ByteRecord> =
                lines.iter().map(|line| ByteRecord::from(line.split(',').collect::<Vec<_>>())).collect();
            rows_above(&rows, header, &[])
        };
        for (lines, count) in [
            (vec!["Sales 2026", "a,b,y", "1,x,u", "2,x,v"], 1),
            (vec!["Sales", "by the office, 2026", "a,b,y", "1,x,u", "2,x,v"], 2),
            (vec!["Sales 2026,,", "a,b,y", "1,x,u", "2,x,v"], 1),
            (vec!["person,,place,", "age,name,zip,y", "1,x,3,u", "2,x,4,v"], 1),
            (vec!["Sales", "person,,place,", "age,name,zip,y", "1,x,3,u", "2,x,4,v"], 2),
            (vec!["a,b,y", "1,x,u", "2,x,v"], 0),
            (vec![",a,y", "0,1,u", "1,2,v"], 0),
            (vec!["1,x,u", "2,,v", "3,x,u"], 0),
            (vec!["1", "2,x,v", "3,x,u", "4,x,v"], 0),
            (vec!["x,,u", "big,red,v", "small,red,u", "big,red,u"], 0),
        ] {
            assert_eq!(above(&lines, None), count, "{lines:?}");
            assert_eq!(above(&lines, Some(false)), 0, "{lines:?}");
        }
        assert_eq!(above(&["Sales", "a,y", "b,u", "b,u"], Some(true)), 1);
        assert_eq!(above(&["Sales,", "a,y", "1,u", "2,u"], Some(true)), 0);
    }

    /// Naming takes linear time.
    #[test]
    fn a_hundred_thousand_names() {
        let cells: Vec<String> = (0..100_000).map(|column| format!("c{}", column % 60_000)).collect();
        let record = ByteRecord::from(cells);
        let rows = [record.clone(), ByteRecord::from(vec!["1"; 100_000])];
        assert!(has_header(&rows, &[]));
        let found = crate::read::table::names(&record, true).unwrap();
        assert_eq!((found.names.len(), found.repeated.len()), (100_000, 40_000));
        assert_eq!(found.names[99_999], "c39999.2");
    }
}

//! Recognises the layout of a CSV file: delimiter, header, and by them its columns.
//!
//! From the first [`LINES`] lines, for files and pipes alike.

use csv::{ByteRecord, ReaderBuilder, Terminator};

use super::header::{MOST_ABOVE, has_header, other_width, rows_above, usual_width, word_above_numbers};
use super::marks::{check_escapes, check_quotes, rows_in_quotes};
use super::orange;
use crate::fault::{Fault, fault};
use crate::read::error::{ReadErrorKind, shown};
use crate::read::missing::is_missing;
use crate::read::options::ReadOptions;
use crate::read::recognise::{DOUBLE, DRAWN, FAST_TEXT, is_double, is_drawn, is_fast_text};
use crate::read::source::Peek;
use crate::read::table::schema::{CsvSchema, Style};
use crate::read::table::words::{LABEL_NAMES, is_number};
use crate::read::table::{self, Inferred, Sample, amount, find_column, label_and_weight, names};
use crate::words::counted;

/// Number of lines examined: a header and 1,000 rows, if no cell contains a line end.
pub(crate) const LINES: usize = 1001;

/// In the order in which they are tried: those that are rarer in cells first.
const DELIMITERS: [u8; 6] = [SOH, b'\t', b';', b',', b'|', b' '];

/// The delimiter of Hive's tables.
const SOH: u8 = 1;

/// The settings of the csv crate that the whole reader shares.
pub(crate) fn builder(delimiter: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).has_headers(false).flexible(true).terminator(Terminator::Any(b'\n'));
    builder
}

/// A layout, and the number of rows above the names, which are skipped.
pub(crate) struct Found {
    pub(crate) inferred: Inferred,
    pub(crate) above: usize,
    /// Whether a delimiter ends all rows below the names.
    pub(crate) ends: bool,
}

/// A remark on the last `count` columns, which are delimiters that end the names and all rows.
fn nameless_ends(count: usize) -> Option<String> {
    let what = match count {
        0 => return None,
        1 => "the last column has neither a name nor cells, since a delimiter ends every row: it is left out",
        _ => "have neither names nor cells, since delimiters end every row: they are left out",
    };
    Some(if count == 1 { what.to_owned() } else { format!("the last {count} columns {what}") })
}

/// A remark on `rows` above the names, if there are any.
pub(crate) fn note_above(rows: &[ByteRecord]) -> Option<String> {
    let first = shown(rows.first()?.iter().find(|cell| !cell.is_empty()).unwrap_or_default());
    Some(match rows.len() {
        1 => format!("the first line, {first}, is not a row: it is above the names of the columns"),
        count => format!(
            "the first {count} lines, from {first} on, are not rows: they are above the names of the columns"
        ),
    })
}

/// A remark on a first row with a word, shown, where all others have numbers.
fn about_word(word: String) -> String {
    format!(
        "the first line is taken for a row, and has the word {word} where all others have numbers: if it has the names of the columns, \
         the option header = yes says so; if it is neither, leave it out, as in tail -n +2"
    )
}

/// Determines the layout, with remarks on the first rows; or returns in a sentence why it cannot.
pub(crate) fn infer(peek: &Peek<'_>, options: &ReadOptions) -> Result<Found, ReadErrorKind> {
    if is_drawn(peek) {
        return Err(DRAWN.into());
    }
    if options.delimiter.is_none() && is_double(peek) {
        return Err(DOUBLE.into());
    }
    if options.label.is_none() && is_fast_text(peek) {
        return Err(FAST_TEXT.into());
    }
    let delimiter = delimiter_of(peek, options)?;
    let mut rows = records(peek, delimiter, LINES);
    check_line_ends(&rows, delimiter)?;
    let ends = rows_end_in_delimiters(&rows);
    if ends_in_delimiters(&rows) {
        rows.iter_mut().skip(1).for_each(|row| row.truncate(row.len() - 1));
    }
    check_escapes(&rows, peek)?;
    name_rows(&mut rows);
    let above = rows_above(&rows, options.header, &asked(options));
    let (above_names, rows) = rows.split_at(above);
    let width = rows.first().map_or(0, ByteRecord::len);
    if width < 2 {
        check_single_cell(rows, delimiter, peek, options)?;
    }
    let header = options.header.unwrap_or_else(|| has_header(rows, &asked(options)));
    if let (false, Some(usual)) = (header || ends, other_width(rows)) {
        return Err(no_row(&counted(width as u64, "cell"), usual));
    }
    let word = word_above_numbers(rows).filter(|_| !header && options.header.is_none()).map(shown);
    let named = names(&rows[0], header)?;
    let flags = if header { orange::flags(rows) } else { None };
    let between = if header && options.header.is_none() { rows_below_names(rows) } else { 0 };
    let header_rows = (1 + between).max(flags.as_ref().map_or(1, |flags| flags.rows));
    let first = &rows[0];
    // Concatenated files repeat the header.
    let below = &rows[if header { header_rows } else { 0 }..];
    let rows: Vec<&ByteRecord> = below.iter().filter(|row| !header || *row != first).collect();
    if rows.is_empty() && peek.all {
        return Err("has a header but no rows".into());
    }
    check_quotes(&rows)?;

    let unknown = !header && asked(options).iter().any(|column| find_column(&named.names, column).is_err());
    let numbered = |what: Fault| match unknown {
        false => what,
        true => fault!(
            "{what}, by their numbers, since the first line is taken for a row; the option header = yes takes it for the names"
        ),
    };
    let wanted: Vec<usize> =
        asked(options).into_iter().filter_map(|column| find_column(&named.names, column).ok()).collect();
    let width = named.names.len();
    let kept = if header { without_blank_end(width, first, &rows, &wanted) } else { width };
    let flags = flags.map(|flags| flags.beside(&wanted, options.label.is_some()));
    let options = &marked(options, &named.names, kept, flags.as_ref());
    let own = &named.names[..kept];
    let (label, weight) = label_and_weight(own, options).map_err(numbered)?;
    named.check_label(label, options)?;
    let missing = options.missing();
    let sample = Sample {
        names: &named.names,
        rows: &rows,
        label: Some(label),
        weight,
        comma_first: delimiter == b';',
        more: !peek.all,
        whole: true,
        nameless: header && first.get(0).is_some_and(<[u8]>::is_empty),
        missing: &missing,
        declared: &[],
    };
    let mut inferred = table::infer(&named, &sample, options).map_err(numbered)?;
    inferred.notes.extend(rows_in_quotes(&rows, delimiter));
    inferred.notes.splice(0..0, note_above(above_names));
    inferred.notes.extend(word.map(about_word));
    inferred.notes.extend(nameless_ends(width - kept));
    inferred.notes.extend(flags.and_then(|flags| flags.note(&named.names)));
    if header_rows == 1 + between {
        inferred.notes.splice(0..0, note_below(between));
    }
    let header_rows = u32::try_from(header_rows).ok().filter(|rows| *rows > 1);
    inferred.layout = CsvSchema { delimiter: char::from(delimiter), header, header_rows, ..inferred.layout };
    Ok(Found { inferred, above, ends })
}

/// The options without the columns behind the first `kept`, and with what flags in the header say.
fn marked(
    options: &ReadOptions,
    names: &[String],
    kept: usize,
    flags: Option<&orange::Flags>,
) -> ReadOptions {
    let mut options = options.clone();
    options.drop.extend_from_slice(&names[kept..]);
    if let Some(flags) = flags {
        options.drop.extend(flags.others.iter().map(|at| names[*at].clone()));
        options.label = options.label.take().or_else(|| flags.label.map(|at| names[at].clone()));
    }
    options
}

/// The delimiter: as asked for, else as detected. A file of labels alone has none.
fn delimiter_of(peek: &Peek<'_>, options: &ReadOptions) -> Result<u8, ReadErrorKind> {
    if let Some(asked) = options.delimiter {
        return checked_delimiter(char::from(asked)).map_err(Into::into);
    }
    let alone = || labels_alone(peek, options).then_some(b',');
    let none = ReadErrorKind::SingleColumn { delimiter: None, seen: None };
    detect_delimiter(peek).or_else(alone).ok_or(none)
}

/// Refuses a first row of one cell, unless the rows are labels alone.
fn check_single_cell(
    rows: &[ByteRecord],
    delimiter: u8,
    peek: &Peek<'_>,
    options: &ReadOptions,
) -> Result<(), ReadErrorKind> {
    if let Some(usual) = usual_width(rows) {
        return Err(no_row("one cell", usual));
    }
    if labels_alone(peek, options) {
        return Ok(());
    }
    let seen = detect_delimiter(peek).map(char::from);
    Err(ReadErrorKind::SingleColumn { delimiter: Some(char::from(delimiter)), seen })
}

/// What is said of a first row of so many `cells`, where most rows have `usual`.
fn no_row(cells: &str, usual: usize) -> ReadErrorKind {
    let what = format!(
        "has {cells} in its first row, where most rows have {usual}: if that line is no row, leave it out, as in tail -n +2"
    );
    what.into()
}

/// Whether the only column is that of the labels, by its name.
fn labels_alone(peek: &Peek<'_>, options: &ReadOptions) -> bool {
    let Some(first) = peek.lines().map(<[u8]>::trim_ascii).find(|line| !line.is_empty()) else {
        return false;
    };
    let is = |name: &str| first.eq_ignore_ascii_case(name.as_bytes());
    match &options.label {
        Some(label) => first == label.as_bytes(),
        None => LABEL_NAMES.into_iter().any(is),
    }
}

/// Whether a delimiter ends all rows but the first, with the names.
fn ends_in_delimiters(rows: &[ByteRecord]) -> bool {
    let Some((names, rows)) = rows.split_first() else { return false };
    let ends = |row: &ByteRecord| row.len() == names.len() + 1 && row[names.len()].is_empty();
    !rows.is_empty() && names.iter().all(|cell| !is_number(cell)) && rows.iter().all(ends)
}

/// Whether a delimiter ends all rows below the names, which have a cell less.
fn rows_end_in_delimiters(rows: &[ByteRecord]) -> bool {
    let Some(width) = rows.last().map(ByteRecord::len) else { return false };
    let Some(names) = rows.iter().position(|row| row.len() + 1 == width) else { return false };
    rows[names + 1..].iter().all(|row| row.len() == width && row[width - 1].is_empty())
}

/// The same of the first rows of a file.
pub(crate) fn file_ends_in_delimiters(peek: &Peek<'_>, delimiter: u8) -> bool {
    rows_end_in_delimiters(&records(peek, delimiter, LINES))
}

/// Adds an empty name before the names of columns if all rows have one cell more: R writes the names of rows
/// without a name of their own.
fn name_rows(rows: &mut [ByteRecord]) {
    if let [names, rows @ ..] = rows
        && !rows.is_empty()
        && names.iter().all(|cell| !cell.is_empty() && !is_number(cell))
        && rows.iter().all(|row| row.len() == names.len() + 1)
    {
        *names = with_row_names(names);
    }
}

/// The names of columns behind an empty one.
pub(crate) fn with_row_names(names: &ByteRecord) -> ByteRecord {
    std::iter::once(&b""[..]).chain(names).collect()
}

/// The number of columns without those at the end that have neither names nor cells, unless the options name
/// them, which are those `wanted`.
fn without_blank_end(width: usize, first: &ByteRecord, rows: &[&ByteRecord], wanted: &[usize]) -> usize {
    let is_blank = |at: usize| {
        let is_empty = |row: &ByteRecord| row.get(at).is_none_or(|cell| cell.trim_ascii().is_empty());
        at > 0
            && !rows.is_empty()
            && is_empty(first)
            && rows.iter().all(|row| is_empty(row))
            && !wanted.contains(&at)
    };
    (0..width).rev().find(|at| !is_blank(*at)).map_or(0, |at| at + 1)
}

/// The names of columns in the options.
fn asked(options: &ReadOptions) -> Vec<&str> {
    let one = [&options.label, &options.weight, &options.id].into_iter().flatten();
    one.chain(options.given_names()).map(String::as_str).collect()
}

/// Number of rows below the names that are none of data, for example of units. Of the columns that are
/// numeric below them, all have a word in the first of these rows, and in the others some have one, and none
/// a number. Or the name of an index alone, which pandas writes below the names of several levels.
fn rows_below_names(rows: &[ByteRecord]) -> usize {
    const MOST: usize = 3;
    let is_word = |row: &ByteRecord, column: usize| {
        row.get(column).is_some_and(|cell| !is_number(cell) && !is_missing(cell))
    };
    let are_none = |count: usize| {
        let Some(rest) = rows.get(1 + count..).filter(|rest| rest.len() > 2) else { return false };
        let is_numeric = |column: &usize| {
            let cells = rest.iter().filter_map(|row| row.get(*column));
            let mut cells = cells.filter(|cell| !is_missing(cell)).peekable();
            cells.peek().is_some() && cells.all(is_number)
        };
        let numeric: Vec<usize> = (0..rows[1].len()).filter(is_numeric).collect();
        let is_other = |row: &ByteRecord| {
            let numbers = numeric.iter().filter(|column| row.get(**column).is_some_and(is_number)).count();
            numbers == 0 && numeric.iter().any(|column| is_word(row, *column))
        };
        !numeric.is_empty()
            && numeric.iter().all(|column| is_word(&rows[1], *column))
            && rows[2..=count].iter().all(is_other)
    };
    let nameless = rows[0].get(0).is_some_and(<[u8]>::is_empty);
    let has_index_name = |row: &ByteRecord| is_word(row, 0) && row.iter().skip(1).all(<[u8]>::is_empty);
    let index = usize::from(nameless && rows.len() > 3 && rows[0].len() > 2 && has_index_name(&rows[1]));
    (1..=MOST).rev().find(|count| are_none(*count)).unwrap_or(index)
}

/// A remark on so many rows below the names.
fn note_below(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("the second line is not a row: it is between the names and the numbers".to_owned()),
        count => Some(format!(
            "the {count} lines below the names are not rows: they are between the names and the numbers"
        )),
    }
}

/// Refuses rows of one cell and a delimiter behind it, where others are inside the cell.
fn check_line_ends(rows: &[ByteRecord], delimiter: u8) -> Result<(), ReadErrorKind> {
    let ends = rows.iter().all(|row| row.len() == 2 && row[1].is_empty());
    let others = |row: &ByteRecord| row[0].iter().any(|byte| b",\t".contains(byte));
    if rows.len() < 2 || !ends || !rows.iter().all(others) {
        return Ok(());
    }
    let delimiter = char::from(delimiter);
    let what = format!(
        "has {} at the end of every line, and other delimiters before it: leave it out, as in sed 's/{delimiter}$//'",
        shown(delimiter.to_string())
    );
    Err(what.into())
}

/// Checks a delimiter.
pub(crate) fn checked_delimiter(delimiter: char) -> Result<u8, Fault> {
    if delimiter.is_ascii() && !"\"\r\n".contains(delimiter) {
        return Ok(delimiter as u8);
    }
    let shown = shown(delimiter.to_string());
    Err(fault!("cannot have the delimiter {shown}; it is one ASCII character, no quote and no line end"))
}

/// The delimiter that splits all rows into the same number of cells, at least two, and finds the
/// most rows (a wrong one can read a quote as the start of a long cell); the first of several. If
/// there is none, the one that splits the first row into the most cells.
pub(crate) fn detect_delimiter(peek: &Peek<'_>) -> Option<u8> {
    let width = |rows: &[ByteRecord]| rows.first().map_or(0, ByteRecord::len);
    let split = DELIMITERS.map(|delimiter| (delimiter, records(peek, delimiter, 50)));
    // `max_by_key` returns the last maximum, so the order is reversed.
    let candidates = || split.iter().rev().filter(|(_, rows)| width(rows) > 1);
    let even = candidates().filter(|(delimiter, rows)| {
        let other = match *delimiter {
            b' ' => end_in_others(rows),
            b',' => split.iter().any(|(delimiter, rows)| *delimiter == b' ' && have_decimal_commas(rows)),
            _ => false,
        };
        !other && rows.iter().all(|row| row.len() == width(rows))
    });
    // The same below a title. Blanks do not count as delimiters there: a few texts below the name of their
    // column may have equal numbers of words.
    let below = split.iter().rev().filter(|(delimiter, rows)| {
        if *delimiter == b' ' {
            return false;
        }
        let Some(usual) = usual_width(rows) else { return false };
        let short = rows.iter().take_while(|row| row.len() < usual).count();
        (1..=MOST_ABOVE).contains(&short)
            && rows.len() > short + 1
            && rows[short..].iter().all(|row| row.len() == usual)
    });
    let found = even
        .max_by_key(|(_, rows)| rows.len())
        .or_else(|| below.max_by_key(|(_, rows)| rows.len()))
        .or_else(|| candidates().max_by_key(|(_, rows)| width(rows)));
    found.map(|&(delimiter, _)| delimiter)
}

/// Whether most rows, split at blanks, have another delimiter at the end of every cell but the last. A title
/// may have as many words as they have cells.
fn end_in_others(rows: &[ByteRecord]) -> bool {
    let ends = |cell: &[u8]| cell.ends_with(b",") || cell.ends_with(b";");
    let others = |row: &&ByteRecord| row.len() > 1 && row.iter().take(row.len() - 1).all(ends);
    2 * rows.iter().filter(others).count() > rows.len()
}

/// Whether rows, split at blanks, are as long as the first, and have commas in numbers only: `0,5 1,25 x`.
fn have_decimal_commas(rows: &[ByteRecord]) -> bool {
    let Some(width) = rows.first().map(ByteRecord::len).filter(|width| *width > 1) else { return false };
    let is_number =
        |cell: &[u8]| !cell.ends_with(b",") && amount::parse(cell, Some(Style::DecimalComma)).is_some();
    rows.iter().all(|row| {
        let mut commas = row.iter().filter(|cell| cell.contains(&b',')).peekable();
        row.len() == width && commas.peek().is_some() && commas.all(is_number)
    })
}

/// Up to `limit` rows, without the last one if it may be incomplete, trimmed.
pub(crate) fn records(peek: &Peek<'_>, delimiter: u8, limit: usize) -> Vec<ByteRecord> {
    let mut reader = builder(delimiter).from_reader(peek.bytes);
    let mut rows: Vec<ByteRecord> = reader.byte_records().take(limit).map_while(Result::ok).collect();
    if !peek.all && rows.len() > 1 && reader.is_done() {
        rows.pop();
    }
    for row in &mut rows {
        row.trim();
    }
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::error::delimiter_name;
    use crate::read::table::schema::CsvRole;

    fn shape(text: &str, options: &ReadOptions) -> Result<String, String> {
        let peek = Peek { bytes: text.as_bytes(), all: true };
        let schema = infer(&peek, options).map_err(|kind| kind.to_string())?.inferred.layout;
        let roles = schema.fields.iter().map(|field| match field.role {
            CsvRole::Numeric => field.name.clone(),
            CsvRole::Categorical => format!("{}?", field.name),
            CsvRole::Label => format!("[{}]", field.name),
            CsvRole::Weight => format!("({})", field.name),
            CsvRole::Text | CsvRole::Time | CsvRole::Drop | CsvRole::Probability | CsvRole::Reward => {
                format!("{:?} {}", field.role, field.name)
            }
        });
        let roles: Vec<String> = roles.collect();
        let header = if schema.header { "header" } else { "rows" };
        Ok(format!("{} {header} {}", delimiter_name(schema.delimiter), roles.join(" ")))
    }

    #[test]
    fn layouts_are_recognised() {
        let cases: [(&str, &str); 30] = [
            (
                "at,n,volts,y\nTS,RN,V,\n,,Avg,Smp\n2026-01-01,1,2.5,u\n2026-01-02,1,3.5,v\n2026-01-03,2,1,u\n",
                "comma header Time at n volts [y]",
            ),
            ("cD#buy\tC#size\tmS#name\nu\t1\tp\nv\t2\tq\n", "tab header [cD#buy] C#size Drop mS#name"),
            (
                "size\tbuy\tn\ncontinuous\tdiscrete\tstring\n\tclass\tmeta\n1\tu\tp\n2\tv\tq\n3\tu\tp\n",
                "tab header size [buy] Drop n",
            ),
            ("a,b,y,,\n1,2,x,,\n3,4,z,,\n", "comma header a b [y] Drop 4 Drop 5"),
            ("a,b,c\n1,2,x\n3,4,y\n", "comma header a b [c]"),
            ("1,2,x\n3,4,y\n", "comma rows 1 2 [3]"),
            ("1;2;3\n1,5;2;3\n", "semicolon rows 1 2 [3]"),
            ("a\tClass\tb\n1\tx\t2\n", "tab header a [Class] b"),
            ("1|2|3\n", "bar rows 1 2 [3]"),
            ("1 2 3\n4 5 6\n", "space rows 1 2 [3]"),
            ("y,label,b\n1,2,3\n", "comma header y [label] b"),
            (",a,y\n0,1,2\n", "comma header 1 a [y]"),
            ("size,hue,kind\nbig,red,x\nbig,blue,y\n", "comma header size? hue? [kind]"),
            ("big,red,x\nsmall,blue,y\nbig,red,x\n", "comma rows 1? 2? [3]"),
            ("\"a, b\",c\n1,2\n", "comma header a, b [c]"),
            ("a,b\n,2\nnan,3\n", "comma header a [b]"),
            ("a,b\n1,2\n1,2,3\nx,y,z\n", "comma header a [b]"),
            ("a b\u{1}y\n1\u{1}u v\n2\u{1}w\n", "\"\\u{1}\" header a b [y]"),
            ("a,b\nkg,class\n1,x\n2,y\n3,z\n", "comma header a [b]"),
            (",a,y\nid,,\n5,3,u\n2,4,v\n9,3,u\n", "comma header Drop 1 a [y]"),
            ("\n\na,b\n1,2\n", "comma header a [b]"),
            ("a,b,a,,y\n1,2,3,4,x\n", "comma header a b a.2 4 [y]"),
            ("y,a,b\n0,3,1,\n1,4,2,\n0,3,1,\n", "comma header [y] a b"),
            ("a,b,kind\n3,1,x,\n4,2,z,\n", "comma header a b [kind]"),
            ("a,b,y\n1,2,x\na,b,y\n3,4,z\n", "comma header a b [y]"),
            ("?,?,x\n1,2,y\n", "comma rows 1 2 [3]"),
            ("a,nan,inf,y\n1,2,3,x\n4,5,6,z\n", "comma header a nan inf [y]"),
            ("nan,x\n1,y\n2,x\n", "comma rows 1 [2]"),
            (&format!("2019,2020,y\n{}", "1,2,x\n3,4,z\n".repeat(30)), "comma header 2019 2020 [y]"),
            (&format!("1,2,y\n{}", "1,2,y\n3,4,n\n".repeat(30)), "comma rows 1 2 [3]"),
        ];
        for (text, expected) in cases {
            assert_eq!(shape(text, &ReadOptions::default()).as_deref(), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn options_win() {
        let with = |change: fn(&mut ReadOptions)| {
            let mut options = ReadOptions::default();
            change(&mut options);
            shape("a,b,w\n1,2,3\n4,5,6\n", &options)
        };
        let ok = |text: &str| Ok(text.to_owned());
        let err = |text: &str| Err(text.to_owned());
        assert_eq!(with(|o| o.label = Some("a".into())), ok("comma header [a] b w"));
        assert_eq!(with(|o| o.label = Some("2".into())), ok("comma header a [b] w"));
        assert_eq!(
            with(|o| (o.label, o.weight) = (Some("b".into()), Some("w".into()))),
            ok("comma header a [b] (w)")
        );
        assert_eq!(with(|o| o.categorical = vec!["1".into()]), ok("comma header a? b [w]"));
        assert_eq!(with(|o| o.header = Some(false)), ok("comma rows 1? 2? [3]"));
        assert_eq!(
            with(|o| o.label = Some("z".into())),
            err(r#"has no column "z"; its columns are "a", "b", "w""#)
        );
        assert_eq!(
            with(|o| o.delimiter = Some(b';')),
            err("has a single column if the delimiter is semicolon")
        );
        assert_eq!(
            with(|o| o.weight = Some("w".into())),
            err(r#"column "w" cannot be both label and weight"#)
        );
        assert!(with(|o| o.delimiter = Some(b'"')).unwrap_err().contains("one ASCII character"));
    }

    /// If the first row has the name of a column in the options, it is a header.
    #[test]
    fn names_in_the_options_are_a_header() {
        let options = |change: fn(&mut ReadOptions)| {
            let mut options = ReadOptions::default();
            change(&mut options);
            options
        };
        for change in [
            |options: &mut ReadOptions| options.label = Some("kind".into()),
            |options: &mut ReadOptions| {
                (options.label, options.drop) = (Some("1".into()), vec!["kind".into()]);
            },
            |options: &mut ReadOptions| (options.label, options.id) = (Some("1".into()), Some("kind".into())),
        ] {
            let found = shape("2019,2020,kind\n1,2,x\n3,4,z\n", &options(change)).unwrap();
            assert!(found.starts_with("comma header "), "{found}");
        }
        let found = shape("1,2,kind\n3,4,z\n", &options(|options| options.label = Some("1".into())));
        assert_eq!(found.as_deref(), Ok("comma rows [1] 2 3?"));
    }

    #[test]
    fn a_similar_name_is_suggested() {
        let options = ReadOptions { label: Some("QUEUE".into()), ..ReadOptions::default() };
        let error = shape("text,queue\n1,2\n3,4\n", &options).unwrap_err();
        assert_eq!(
            error,
            r#"has no column "QUEUE" (did you mean "queue"?); its columns are "text", "queue""#
        );
    }

    /// The other column may be a copy of the label.
    #[test]
    fn a_label_with_two_columns_is_refused() {
        let text = "y,b,y\nu,1,u\nv,5,v\nu,2,u\n";
        let of = |label: &str| ReadOptions { label: Some(label.to_owned()), ..ReadOptions::default() };
        for options in [ReadOptions::default(), of("y")] {
            let error = shape(text, &options).unwrap_err();
            let said = r#"has two columns called "y", of which one is the label: the option label = 1 or label = 3 "#;
            assert!(error.starts_with(said), "{error}");
        }
        for (label, found) in [("1", "comma header [y] b y.2?"), ("3", "comma header y? b [y.2]")] {
            assert_eq!(shape(text, &of(label)).as_deref(), Ok(found));
        }
        let others = shape("b,b,y\n1,2,u\n3,4,v\n", &ReadOptions::default());
        assert_eq!(others.as_deref(), Ok("comma header b b.2 [y]"));
    }

    #[test]
    fn files_that_are_no_tables_are_refused() {
        let cases = [
            ("1\n2\n", "has a single column"),
            ("a,b\n", "has a header but no rows"),
            ("__label__u a box came\n__label__v a letter\n", FAST_TEXT),
            (
                "33,walk,0.5;\n34,run,0.25;\n",
                "has \";\" at the end of every line, and other delimiters before it: leave it out, as in sed 's/;$//'",
            ),
        ];
        for (text, error) in cases {
            assert_eq!(shape(text, &ReadOptions::default()), Err(error.to_owned()), "{text:?}");
        }
    }
}

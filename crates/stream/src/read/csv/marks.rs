//! Quotation marks and backslashes as other programs than those of CSV write them.

use csv::ByteRecord;

use crate::read::error::{ReadErrorKind, shown};
use crate::read::source::Peek;

/// Refuses backslashes before delimiters and before quotation marks, and cells with a delimiter between
/// single quotation marks. `rows` are those of `peek`.
pub(super) fn check_escapes(rows: &[ByteRecord], peek: &Peek<'_>) -> Result<(), ReadErrorKind> {
    let before_last = |row: &ByteRecord| row.len().saturating_sub(1);
    let delimiter =
        in_wider(rows, |row| row.iter().take(before_last(row)).find(|cell| cell.ends_with(b"\\")));
    if let Some(cell) = delimiter {
        let what = format!(
            "has a backslash before a delimiter within a cell, behind {}, where CSV has double quotation marks around such cells: \
             PostgreSQL's COPY writes these WITH (FORMAT csv), Python's csv by QUOTE_MINIMAL",
            shown(cell)
        );
        return Err(what.into());
    }
    let has_marks = peek.bytes.windows(2).any(|pair| pair == b"\\\"");
    let mark = in_wider(rows, |row| row.iter().find(|cell| has_marks && cell.ends_with(b"\"")));
    if let Some(cell) = mark {
        let what = format!(
            "has a backslash before a quotation mark within a cell, read as {}, where CSV has two marks: Spark writes these by \
             .option(\"escape\", \"\\\"\"), Python's csv by doublequote=True, R by qmethod = \"double\"",
            shown(cell)
        );
        return Err(what.into());
    }
    let opens = |cell: &&[u8]| cell.starts_with(b"'") && !is_in_single(cell);
    let closes = |row: &ByteRecord| row.iter().any(|cell| cell.ends_with(b"'") && !is_in_single(cell));
    match in_wider(rows, |row| row.iter().find(opens).filter(|_| closes(row))) {
        Some(_) => Err(SINGLE.into()),
        None => Ok(()),
    }
}

/// What `found` finds in the first row with more cells than the first one, if it finds something in all of
/// them.
fn in_wider<'a>(
    rows: &'a [ByteRecord],
    found: impl Fn(&'a ByteRecord) -> Option<&'a [u8]>,
) -> Option<&'a [u8]> {
    let (first, rows) = rows.split_first()?;
    let wider: Option<Vec<&[u8]>> = rows.iter().filter(|row| row.len() > first.len()).map(found).collect();
    wider?.first().copied()
}

/// What is said of cells in single quotation marks.
const SINGLE: &str =
    "has its cells in single quotation marks, where CSV has double ones: tr \"'\" '\"' makes these";

/// Whether a cell has single quotation marks around it.
fn is_in_single(cell: &[u8]) -> bool {
    cell.len() > 1 && cell.starts_with(b"'") && cell.ends_with(b"'")
}

/// Refuses rows most of whose cells have single quotation marks around them.
pub(super) fn check_quotes(rows: &[&ByteRecord]) -> Result<(), ReadErrorKind> {
    let cells = || rows.iter().flat_map(|row| row.iter());
    let quoted = cells().filter(|cell| is_in_single(cell.trim_ascii())).count();
    if rows.len() < 2 || 2 * quoted <= cells().count() {
        return Ok(());
    }
    Err(SINGLE.into())
}

/// A remark on rows of several lines that have as many delimiters as if every line were a row of its own: a
/// quotation mark that begins a cell, and is not meant to quote it, takes in all up to the next one.
pub(super) fn rows_in_quotes(rows: &[&ByteRecord], delimiter: u8) -> Option<String> {
    fn count(byte: u8, row: &ByteRecord) -> usize {
        memchr::memchr_iter(byte, row.as_slice()).count()
    }
    let width = rows.first()?.len();
    let several: Vec<&&ByteRecord> = rows.iter().filter(|row| count(b'\n', row) > 0).collect();
    let taken = several.iter().filter(|row| {
        let delimiters = row.len() - 1 + count(delimiter, row);
        delimiters == (count(b'\n', row) + 1) * (width - 1)
    });
    let taken = taken.count();
    (width > 2 && taken > 1 && 2 * taken > several.len()).then(|| {
        format!(
            "{taken} of its first {} rows take several lines, each of which looks like a row: a quotation mark at the beginning of a cell \
             quotes all up to the next one, so that these lines are lost; double such marks and put others around the cell, or leave \
             them out",
            rows.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::layout::infer;
    use super::*;
    use crate::read::options::ReadOptions;

    /// A delimiter in a cell that another program has protected in its own way would begin a column.
    #[test]
    fn cells_that_other_programs_have_protected() {
        let refused = |cell: &str, other: &str| {
            let text = format!("said,age,y\n{cell},3,u\n{other},4,v\n{cell},5,u\n{other},7,v\n");
            let peek = Peek { bytes: text.as_bytes(), all: true };
            infer(&peek, &ReadOptions::default()).err().map(|kind| kind.to_string()).unwrap_or_default()
        };
        for (cell, begins) in [
            (r#""say \"no\", he""#, "has a backslash before a quotation mark within a cell, read as "),
            (r"say\, he", "has a backslash before a delimiter within a cell, behind \"say\\\\\""),
            ("'say, he'", SINGLE),
        ] {
            for other in [cell, "so"] {
                let what = refused(cell, other);
                assert!(what.starts_with(begins), "{cell}: {what}");
            }
        }
        for cell in [r#""say ""no"", he""#, r#""say \"no\" he""#, "'say'", "'tis"] {
            assert_eq!(refused(cell, "so"), "", "{cell}");
        }
    }
}

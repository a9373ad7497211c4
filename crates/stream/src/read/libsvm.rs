//! LIBSVM sparse text: `label index:value index:value ...`, one example a line.
//!
//! The label is a number or text without blanks and colons; a line that begins with a pair is
//! unlabelled. Indices increase. A word for a missing value, as in `3:NA`, is a missing number; where the
//! first lines lack numbers far from 0, the feature `3:missing` says so, and columns have names. Blank lines
//! are skipped; a token that starts with `#` starts a comment. The index base is that of a saved model that
//! learnt from LIBSVM; otherwise the first [`BASE_LINES`] lines tell it: 0 if one of them has an index 0,
//! else 1; a later index 0 is then an error.

use crate::read::absent::Absent;
use crate::read::columns::{ColumnMap, Columns};
use crate::read::counting;
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::holes::lacking;
use crate::read::label::{LabelType, is_infinite};
use crate::read::missing::Missing;
use crate::read::number;
use crate::read::options::{ReadOptions, Schema, Speech};
use crate::read::reader::{LineParser, LineReader, Parsed, Reader};
use crate::read::row::{Duplicates, Row};
use crate::read::source::{Line, Peek, Source};
use crate::read::table::amount::comma_way_out;
use crate::read::vw::kind::several_labels;

const BASE_LINES: usize = 1000;

/// About features of a model that learnt from rows whose columns have positions, as those of arrays.
const FROM_1: &str = "features are taken as numbered from 1, since none of the first lines has a feature 0; the model learnt from columns \
                      without numbers; if they begin at 0, the option index-base says so";

struct Libsvm {
    base: u64,
    hashed: bool,
    how: &'static str,
    missing: Missing,
    /// Labels that are classes, although they are marks for a missing value elsewhere, such as `-` beside
    /// `+`.
    marks: Vec<String>,
    /// The indices of the row's missing numbers.
    holes: Vec<u64>,
    notes: Vec<String>,
}

pub(crate) fn reader(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let schema = options.schema.as_ref();
    let saved = schema.filter(|schema| schema.format == Format::Libsvm);
    let saved = saved.and_then(|schema| match schema.columns {
        Columns::Numbered { base, .. } => Some(base),
        // Numbers as names: `0` may be one.
        Columns::Named(_) => Some(0),
        Columns::Hashed { .. } => None,
    });
    let of_lists =
        |schema: &Schema| schema.format == Format::Ndjson && schema.columns.index_of("0").is_some();
    if schema.is_some_and(|schema| of_lists(schema) && !schema.columns.marks().is_empty()) {
        return Err(source.file_error(
            "has numbered features, but the saved model has the places of lists as names, from 0, as some numbers were missing: lists \
             have places, as in {\"x\": [0.5, -1]}",
        ));
    }
    let (base, how) = match (options.index_base, saved) {
        (Some(base @ 0..=1), _) => (base, "as given"),
        (Some(base), _) => {
            return Err(source.file_error(format!("the index base is {base}; it must be 0 or 1")));
        }
        (None, Some(base)) => (base, "as saved"),
        (None, None) => (u32::from(!has_index_zero(&source.peek(BASE_LINES, 1)?)), "by the first rows"),
    };
    let columns =
        options.columns(Speech::Numbers(base)).map_err(|kind| ReadError::new(source.name(), 0, kind))?;
    let (base, hashed) = (u64::from(base), matches!(columns, Columns::Hashed { .. }));
    let missing = options.missing();
    let fresh = options.schema.is_none() && source.size().is_some();
    let mut columns = options.map(columns);
    let (mut of_labels, mut notes) = (vec![], vec![]);
    let positions = schema.is_some_and(|schema| matches!(schema.columns, Columns::Numbered { .. }));
    // Nothing tells 1 from 0 then, if feature 0 is 0 in all of these lines.
    if positions && saved.is_none() && options.index_base.is_none() && base == 1 {
        notes.push(FROM_1.to_owned());
    }
    if fresh {
        let peek = source.peek(BASE_LINES, 1)?;
        of_labels = marks(&peek, &missing);
        notes.extend(counting::note(peek.lines().filter(|line| !line.is_empty()).map(numbers)));
        if options.tells_missing && !hashed {
            let (peek, missing) = (&peek, &missing);
            columns.indicate(&lacking(|| peek.lines().filter_map(move |line| pairs(line, missing))));
        }
    }
    let table = schema.and_then(|schema| schema.csv.as_ref());
    if let Some(table) = table.filter(|_| source.size().is_some()) {
        let (peek, mut absent) = (source.peek(BASE_LINES, 1)?, Absent::of(table));
        peek.lines().flat_map(numbers).for_each(|(index, _)| absent.saw(index));
        notes.extend(absent.note(peek.all));
    }
    let parser = Libsvm { base, hashed, how, missing, marks: of_labels, holes: vec![], notes };
    Ok(LineReader::boxed(source, columns, parser))
}

/// The marks for a missing value that are classes here.
fn marks(peek: &Peek<'_>, missing: &Missing) -> Vec<String> {
    let is_label = |token: &&[u8]| !token.is_empty() && token[0] != b'#' && !token.contains(&b':');
    let tokens = peek.lines().map(|line| first_token(line.trim_ascii())).filter(is_label);
    let labels: Vec<&str> = tokens.filter_map(|token| std::str::from_utf8(token).ok()).collect();
    missing.classes(labels.iter().copied(), usize::from(peek.all))
}

/// The pairs of a line of which both are numbers.
fn numbers(line: &[u8]) -> Vec<(&str, f64)> {
    let tokens = line.split(u8::is_ascii_whitespace).take_while(|token| !token.starts_with(b"#"));
    let pair = |token| {
        let (index, value) = std::str::from_utf8(token).ok()?.split_once(':')?;
        Some((index, number::parse(value.as_bytes()).ok()?))
    };
    tokens.filter_map(pair).collect()
}

/// The pairs of a line, NaN for a missing number; none of a line without a row.
fn pairs(line: &[u8], missing: &Missing) -> Option<Vec<(u64, f64)>> {
    let tokens = line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
    let mut tokens = tokens.take_while(|token| !token.starts_with(b"#")).peekable();
    tokens.peek()?;
    let pair = |token: &[u8]| {
        let (index, value) = std::str::from_utf8(token).ok()?.split_once(':')?;
        let number = number::parse(value.as_bytes()).ok();
        let number = number.or_else(|| missing.is_cell(value.as_bytes()).then_some(f64::NAN))?;
        (!number.is_infinite()).then_some((index.parse::<u64>().ok()?, number))
    };
    Some(tokens.filter_map(pair).collect())
}

fn has_index_zero(peek: &Peek<'_>) -> bool {
    peek.lines().any(|line| {
        let tokens = line.split(u8::is_ascii_whitespace);
        tokens.take_while(|token| !token.starts_with(b"#")).any(|token| token.starts_with(b"0:"))
    })
}

impl LineParser for Libsvm {
    fn parse(&mut self, line: Line<'_>, row: &mut Row, columns: &mut ColumnMap) -> Parsed {
        let (text, end) = (line.padded(), line.text().len());
        let mut at = skip_blanks(text, 0, end);
        let token = first_token(&text[at..end]);
        if token.is_empty() || token[0] == b'#' {
            return Ok(false);
        }
        if !token.contains(&b':') {
            set_label(token, row)?;
            at += token.len();
        }
        // In the common case columns follow from the indices without look-up.
        let (base, most) = columns.numbered().unwrap_or((self.base, 0));
        let largest = if self.hashed { u64::MAX } else { base + u64::from(u32::MAX) - 1 };
        let (mut indices, mut values) = row.room(1);
        // One more than the last index.
        let mut least = base;
        let (mut filled, mut count, mut dropped) = (0, 0, 0);
        self.holes.clear();
        at += usize::from(at < end && text[at] == b' ');
        while at < end {
            let (index, value, after) = match common_pair(text, at) {
                Some(pair) => pair,
                None => {
                    at = skip_blanks(text, at, end);
                    if at == end || text[at] == b'#' {
                        break;
                    }
                    let (index, value, after) = any_pair(text, at, end, &self.missing)?;
                    if value.is_nan() {
                        self.holes.push(index);
                    }
                    (index, if value.is_nan() { 0.0 } else { value }, after)
                }
            };
            if index < least || index > largest {
                return Err(self.refused(index, least));
            }
            least = index + 1;
            // Next is a blank or the end of the line.
            at = after + 1;
            let column = if index - base < u64::from(most) {
                count = (index - base) as u32 + 1;
                count - 1
            } else if most > 0 {
                dropped += 1;
                columns.drops(index);
                continue;
            } else if let Some(column) = columns.by_number(index) {
                column
            } else {
                continue;
            };
            if filled == indices.len() {
                (indices, values) = row.room(2 * filled);
            }
            (indices[filled], values[filled]) = (column, value);
            filled += usize::from(value != 0.0);
        }
        row.filled(filled, most > 0);
        columns.saw(count, dropped);
        self.holes.iter().for_each(|index| columns.miss_number(*index, row));
        // Indices increase, but their hashes, or columns by name, need not.
        row.finish(Duplicates::Sum).map_err(|_| bad("features of one hash sum to infinity".into()))?;
        Ok(true)
    }

    fn schema(&self, columns: Columns) -> Schema {
        let missing = Missing { values: self.marks.clone(), ..Missing::default() };
        Schema { missing, ..Schema::plain(Format::Libsvm, columns) }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn describe(&self, columns: &Columns) -> Vec<(&'static str, String)> {
        match columns {
            Columns::Hashed { bits } => vec![("features", format!("hashed into 2^{bits} columns"))],
            Columns::Named(_) => vec![("features", "by number, some with one for missing ones".to_owned())],
            Columns::Numbered { .. } => {
                vec![("features", format!("numbered from {} ({})", self.base, self.how))]
            }
        }
    }
}

/// Sets the label of a row to the word at the beginning of its line.
#[inline]
fn set_label(token: &[u8], row: &mut Row) -> Result<(), ReadErrorKind> {
    let label = std::str::from_utf8(token).map_err(|_| ReadErrorKind::InvalidUtf8)?;
    if let Some(why) = several_labels(label) {
        return Err(bad(why));
    }
    if is_infinite(label) {
        return Err(bad(format!("label {} is not finite", shown(token))));
    }
    row.set_label(label, LabelType::Figure);
    Ok(())
}

impl Libsvm {
    /// The error for an index below `least`, or too large.
    #[cold]
    fn refused(&self, index: u64, least: u64) -> ReadErrorKind {
        if index < least && least > self.base {
            let previous = least - 1;
            return ReadErrorKind::Row(format!(
                "feature index {index} follows {previous}; LIBSVM indices must increase"
            ));
        }
        if index < self.base {
            return ReadErrorKind::IndexZero;
        }
        ReadErrorKind::IndexTooLarge(index)
    }
}

/// Reads an ordinary `index:value` at `at`, if a blank or the end of the line follows: index, value, and
/// where the value ends.
///
/// Its branches are predictable for most pairs, which makes it fast.
#[inline(always)]
fn common_pair(text: &[u8], at: usize) -> Option<(u64, f64, usize)> {
    let window = text[at..].first_chunk::<{ number::WINDOW }>()?;
    let mut index = u64::from(window[0].wrapping_sub(b'0'));
    if index > 9 {
        return None;
    }
    let mut length = 1;
    loop {
        let digit = window[length].wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        index = 10 * index + u64::from(digit);
        length += 1;
        if length == 8 {
            return None;
        }
    }
    if window[length] != b':' {
        return None;
    }
    let (value, end) = number::common(window, length + 1)?;
    window[end].is_ascii_whitespace().then_some((index, value, at + end))
}

/// Reads any `index:value` at `at`, which is not a blank. A missing value is NaN.
fn any_pair(
    text: &[u8],
    at: usize,
    end: usize,
    missing: &Missing,
) -> Result<(u64, f64, usize), ReadErrorKind> {
    match short_pair(text, at) {
        Some(pair) if pair.2 == end || text[pair.2].is_ascii_whitespace() => Ok(pair),
        _ => pair(text, at, end, missing),
    }
}

/// Reads `index:value` at `at`, if both are short.
#[inline]
fn short_pair(text: &[u8], at: usize) -> Option<(u64, f64, usize)> {
    let (index, at) = number::integer(text, at)?;
    if text[at] != b':' {
        return None;
    }
    let (value, after) = number::leading(text, at + 1)?;
    Some((index, value, after))
}

/// Reads `index:value` at `at` of any length.
#[cold]
fn pair(text: &[u8], at: usize, end: usize, missing: &Missing) -> Result<(u64, f64, usize), ReadErrorKind> {
    let rest = &text[at..end];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits > 19 || rest.get(digits) != Some(&b':') {
        return Err(bad_pair(rest));
    }
    let index = rest[..digits].iter().fold(0, |index, byte| 10 * index + u64::from(byte - b'0'));
    let word = first_token(&rest[digits + 1..]);
    if !word.is_empty() && missing.is_cell(word) {
        return Ok((index, f64::NAN, at + digits + 1 + word.len()));
    }
    let Ok((value, length)) = fast_float2::parse_partial::<f64, _>(&rest[digits + 1..]) else {
        return Err(bad_pair(rest));
    };
    let after = digits + 1 + length;
    if value.is_infinite() || !rest.get(after).is_none_or(u8::is_ascii_whitespace) {
        return Err(bad_pair(rest));
    }
    Ok((index, value, at + after))
}

#[inline]
fn skip_blanks(text: &[u8], mut at: usize, end: usize) -> usize {
    while at < end && text[at].is_ascii_whitespace() {
        at += 1;
    }
    at
}

fn first_token(text: &[u8]) -> &[u8] {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    &text[..end]
}

fn bad(message: String) -> ReadErrorKind {
    ReadErrorKind::Row(message)
}

#[cold]
fn bad_pair(text: &[u8]) -> ReadErrorKind {
    let token = first_token(text);
    if token.starts_with(b"qid:") {
        return bad(format!("{}: query ids are for ranking, which noregret does not do", shown(token)));
    }
    let value = memchr::memchr(b':', token).map(|colon| &token[colon + 1..]);
    let value = value.and_then(|value| fast_float2::parse::<f64, _>(value).ok());
    if value.is_some_and(|value| !value.is_finite()) {
        return bad(format!("value of {} is not finite", shown(token)));
    }
    let parts: Vec<&[u8]> = token.split(|byte| *byte == b':').collect();
    let comma = parts.last().and_then(|value| std::str::from_utf8(value).ok()).map_or("", comma_way_out);
    let of_fields = parts.len() == 3 && parts.iter().all(|part| fast_float2::parse::<f64, _>(part).is_ok());
    let fields =
        if of_fields { "; sed -E 's/ [0-9]+:([0-9]+:)/ \\1/g' leaves the fields of libffm out" } else { "" };
    bad(format!("{} is not index:value{comma}{fields}", shown(token)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::open::from_read;
    use crate::read::row::RowLabel;

    fn open(text: &str, options: &ReadOptions) -> Box<dyn Reader> {
        from_read(Box::new(std::io::Cursor::new(text.to_owned())), "a.svm", options).unwrap()
    }

    fn errors(text: &str) -> Vec<String> {
        let (mut reader, mut row, mut errors) = (open(text, &ReadOptions::default()), Row::new(), vec![]);
        loop {
            match reader.read(&mut row) {
                Ok(true) => {}
                Ok(false) => return errors,
                Err(error) => {
                    assert!(error.is_row_error());
                    errors.push(error.to_string());
                }
            }
        }
    }

    #[test]
    fn rows_comments_and_line_ends() {
        let text = "# head\r\n\r\n+1 1:0.5 3:-2e1 # 9:9\r\n\n  cat\t2:1   \n2\n7:1 8:0 9:+1\n1 1:NA 2:? 3:nan 4:2 5:- 6:N/A";
        let (mut reader, mut row) = (open(text, &ReadOptions::default()), Row::new());
        let mut rows = vec![];
        while reader.read(&mut row).unwrap() {
            let label = match row.label() {
                RowLabel::Name(name) => name.to_owned(),
                label => format!("{label:?}"),
            };
            rows.push((row.line, label, row.indices().to_vec(), row.values().to_vec()));
        }
        let expected = [
            (3, "+1".to_owned(), vec![0, 2], vec![0.5, -20.0]),
            (5, "cat".into(), vec![1], vec![1.0]),
            (6, "2".into(), vec![], vec![]),
            (7, "Missing".into(), vec![6, 8], vec![1.0, 1.0]),
            (8, "1".into(), vec![3], vec![2.0]),
        ];
        assert_eq!(rows, expected);
        assert_eq!(reader.columns(), &Columns::Numbered { base: 1, count: 9 });
        assert_eq!(reader.describe()[1].1, "numbered from 1 (by the first rows)");
    }

    #[test]
    fn bad_rows_are_named_and_skipped() {
        let long = format!("1 {}:1", u64::MAX);
        let cases = [
            ("1 5:1 3:1", "a.svm:1: feature index 3 follows 5; LIBSVM indices must increase"),
            ("1 5:1 5:1", "a.svm:1: feature index 5 follows 5; LIBSVM indices must increase"),
            ("1 2:-inf", "a.svm:1: value of \"2:-inf\" is not finite"),
            ("1 2:1e999", "a.svm:1: value of \"2:1e999\" is not finite"),
            ("1 2:", "a.svm:1: \"2:\" is not index:value"),
            ("1 2:1x", "a.svm:1: \"2:1x\" is not index:value"),
            ("1 2:0,5", "a.svm:1: \"2:0,5\" is not index:value (write decimals with a point, as in 0.5)"),
            (
                "1 2:7:0.5",
                "a.svm:1: \"2:7:0.5\" is not index:value; sed -E 's/ [0-9]+:([0-9]+:)/ \\1/g' leaves the fields of libffm out",
            ),
            ("1 a:1", "a.svm:1: \"a:1\" is not index:value"),
            ("1 -2:1", "a.svm:1: \"-2:1\" is not index:value"),
            ("1 2", "a.svm:1: \"2\" is not index:value"),
            ("1 2 :3", "a.svm:1: \"2\" is not index:value"),
            (&long, "a.svm:1: \"18446744073709551615:1\" is not index:value"),
            ("1 5000000000:1", "a.svm:1: feature index 5000000000 is too large for a column"),
            ("1 qid:3 1:1", "a.svm:1: \"qid:3\": query ids are for ranking, which noregret does not do"),
        ];
        for (line, error) in cases {
            assert_eq!(errors(&format!("{line}\n1 1:1\n")), [error], "{line}");
        }
    }

    #[test]
    fn the_base_is_seen_given_or_saved() {
        let zero = "1 0:1 2:1\n2 1:1\n";
        let options = ReadOptions::default();
        assert_eq!(open(zero, &options).columns(), &Columns::Numbered { base: 0, count: 0 });
        let given = ReadOptions { index_base: Some(1), ..options.clone() };
        let error = open(zero, &given).read(&mut Row::new()).unwrap_err();
        assert!(matches!(error.kind(), ReadErrorKind::IndexZero), "{error}");

        let mut late = "1 1:1\n".repeat(BASE_LINES);
        late.push_str("1 0:1\n");
        assert_eq!(errors(&late).len(), 1);

        let mut reader = open("1 1:1 3:1\n", &options);
        reader.read(&mut Row::new()).unwrap();
        let saved = ReadOptions { schema: Some(reader.schema()), ..options };
        let (mut reader, mut row) = (open("1 2:1 3:1 4:1 9:1\n", &saved), Row::new());
        reader.read(&mut row).unwrap();
        assert_eq!((row.indices(), reader.dropped_features()), (&[1, 2][..], 2));
        let mut reader = open("1 4:1\n", &ReadOptions { room: 4, ..saved });
        reader.read(&mut row).unwrap();
        assert_eq!((row.indices(), reader.columns().count()), (&[3][..], 4));
    }

    /// Arrays have no base, so that the lines tell it: as they are read without a model.
    #[test]
    fn the_base_of_a_model_of_arrays_is_that_of_the_lines() {
        let saved = ReadOptions { schema: Some(Schema::of_arrays(4)), ..ReadOptions::default() };
        let read = |text: &str, options: &ReadOptions| {
            let (mut reader, mut row) = (open(text, options), Row::new());
            assert!(reader.read(&mut row).unwrap());
            (row.indices().to_vec(), reader.notes(), reader.schema())
        };
        let from_1 = "1:0.5 2:-1 3:1\n";
        let (indices, notes, schema) = read(from_1, &saved);
        assert_eq!((indices, notes), (vec![0, 1, 2], vec![FROM_1.to_owned()]));
        // Rows that were learnt so are read so.
        let learnt = ReadOptions { schema: Some(schema), ..ReadOptions::default() };
        assert_eq!(read(from_1, &learnt).1, Vec::<String>::new());
        assert_eq!(read("1:0.5 2:-1\n0:3 3:1\n", &saved).0, [1, 2]);
        assert_eq!(read("0:0.5 1:-1 2:1\n", &saved).1, Vec::<String>::new());
        for (base, indices) in [(0, [1, 2, 3]), (1, [0, 1, 2])] {
            let given = ReadOptions { index_base: Some(base), ..saved.clone() };
            let found = read(from_1, &given);
            assert_eq!((&found.0[..], found.1.len()), (&indices[..], 0), "{base}");
        }
    }

    /// The feature of number 1 lacks numbers far from 0, that of number 2 lacks others: the first one has a
    /// feature that says so, in rows that a saved model reads, too.
    #[test]
    fn missing_numbers_far_from_0_have_a_feature() {
        let cell = |hole: bool, value: u32| if hole { "nan".to_owned() } else { value.to_string() };
        let line = |t: u32| format!("p 1:{} 2:{} 3:1\n", cell(t % 3 == 1, 50 + t % 7), cell(t % 4 == 2, 0));
        let text = (0..40).map(line).collect::<String>();
        let file = |text: &str, options: &ReadOptions| {
            let input = Box::new(std::io::Cursor::new(text.to_owned()));
            let source = Source::from_read(input, "a.svm", Some(text.len() as u64)).unwrap();
            reader(source, options).unwrap()
        };
        let read = |reader: &mut dyn Reader, count: usize| {
            let mut row = Row::new();
            (0..count).for_each(|_| assert!(reader.read(&mut row).unwrap()));
            let name = |column: &u32| reader.columns().name(*column).into_owned();
            let missing: Vec<String> = row.missing().iter().map(name).collect();
            let there: Vec<String> = row.indices().iter().map(name).collect();
            (missing.join(" "), there.join(" "))
        };
        let options = ReadOptions { tells_missing: true, ..ReadOptions::default() };
        let mut first = file(&text, &options);
        assert_eq!(read(&mut *first, 2), ("1".to_owned(), "1:missing 3".to_owned()));
        let saved = ReadOptions { schema: Some(first.schema()), ..ReadOptions::default() };
        let later = "p 0:7 1:nan 2:5\n";
        assert_eq!(read(&mut *file(later, &saved), 1), ("1".to_owned(), "1:missing 2".to_owned()));
        // Hashed columns have one each, also in a saved model, but for those of before. Files without such
        // numbers have none.
        let hashed = ReadOptions { hash_bits: Some(16), ..options.clone() };
        let mut one = file(&text, &hashed);
        let number = crate::hash_number(1, 16);
        let mark = crate::hash_name(&format!("#{number}:missing"), 16);
        let (missing, there) = read(&mut *one, 2);
        assert_eq!(missing, format!("#{number}"));
        assert!(there.split(' ').any(|name| name == format!("#{mark}")), "{there}");
        let saved = ReadOptions { schema: Some(one.schema()), ..ReadOptions::default() };
        assert_eq!(read(&mut *file(&text, &saved), 2), (missing, there));
        let before = Schema { marked: false, ..one.schema() };
        let before = ReadOptions { schema: Some(before), ..ReadOptions::default() };
        assert!(!read(&mut *file(&text, &before), 2).1.contains(&format!("#{mark}")));
        let few = file(&text[..60], &options);
        assert_eq!(few.columns(), &Columns::Numbered { base: 1, count: 0 });
    }

    #[test]
    fn hashing_takes_any_index() {
        let options = ReadOptions { hash_bits: Some(1), ..ReadOptions::default() };
        let (mut reader, mut row) = (open("1 1:1 2:1 3:1 5000000000:1\n", &options), Row::new());
        assert!(reader.read(&mut row).unwrap());
        assert_eq!(row.values().iter().sum::<f64>(), 4.0);
        assert_eq!(reader.columns().count(), 2);
    }
}

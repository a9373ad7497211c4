//! Vowpal Wabbit text: `[label] [importance] [base] ['tag]|namespace[:scale] feature[:value] ... |...`
//!
//! Parsed as by VW 9, one example per line:
//!
//! - The last word before the first bar is the tag if it begins with a quote or touches the bar.
//! - If a word has a colon, the label is one of costs: `action:cost` or `action:cost:probability`, a cost may
//!   be empty; a word without a colon among them is an action without cost. Several actions are those on
//!   offer. Else the words are label, importance, base.
//! - A feature is called `namespace^feature`, in the nameless namespace just `feature`; without a
//!   name it is numbered from 0 within its namespace. Its value is 1 if none is given, times the
//!   scale of the namespace; a text value makes the feature `feature^text` of value 1, which is not
//!   scaled. Equal features are summed. A word for a missing value, as `feature:NA`, is a missing number;
//!   where the first lines lack numbers far from 0, the feature `feature:missing` says so.
//! - Blank lines are skipped, as VW does for learners of single-line examples.
//!
//! With the option for labels on offer, a round may have several lines, see [`actions`].
//!
//! Where VW warns of a malformed example and uses a part of it, this reader rejects the line.
//! Further differences: a tab before the bar is a blank; a `base` other than 0, a negative
//! importance and a line without a bar are errors; `feature:` followed by a blank is an error,
//! whereas VW takes the next word as its value.

mod actions;
pub(crate) mod json;
pub(crate) mod kind;
mod node;
mod slots;

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
use crate::read::recognise;
use crate::read::remark::Remark;
use crate::read::row::{Duplicates, FeatureFault, Row};
use crate::read::source::{Line, Peek, Source};
use crate::read::table::schema::CsvSchema;

#[derive(Default)]
struct Vw {
    /// Name of the feature being read; begins with its namespace.
    name: String,
    notes: Vec<String>,
    missing: Missing,
    /// Labels that are classes, although they are marks for a missing value elsewhere, such as `-` beside
    /// `+`.
    marks: Vec<String>,
    /// Number of features whose value is a word for a missing one, and the first of them.
    absent: u64,
    first_absent: Option<String>,
    /// Whether all lines of a pipe so far, for a new model, had a word at the bar alone, and the first.
    only_tags: bool,
    first_tag: Option<String>,
}

/// The word before the bar that names a row, if it stands alone and at the bar.
fn lone_tag(head: &str) -> Option<&str> {
    (!head.is_empty() && !head.contains([' ', '\t', '\'', ':'])).then_some(head)
}

/// A remark on lines that all begin with a word at the bar, of which this is the first.
fn tags_note(first: &str) -> String {
    format!(
        "a word at the bar, such as {}, is the name of a row and not its label; a label has a blank behind it: {first} |",
        shown(first)
    )
}

/// The same for the first lines of a file, if they are such.
fn note_tags(peek: &Peek<'_>) -> Option<String> {
    let tag = |line| lone_tag(std::str::from_utf8(line).ok()?.split_once('|')?.0);
    let tags: Option<Vec<&str>> = peek.lines().filter(|line| !line.is_empty()).map(tag).collect();
    tags?.first().map(|first| tags_note(first))
}

/// A remark on words that end in numbers with decimals, if most features are such: a number stands behind a
/// colon.
fn note_words(peek: &Peek<'_>) -> Option<String> {
    const LEAST: usize = 5;
    let is_number = |word: &&str| {
        let value = word.split_once('=').map(|(_, value)| value).filter(|value| value.contains('.'));
        value.is_some_and(|value| parse_value(value).is_some())
    };
    let (mut all, mut found, mut first) = (0, 0, None);
    for line in peek.lines().filter_map(|line| std::str::from_utf8(line).ok()) {
        let features = line.split('|').skip(1).flat_map(|part| {
            let (_, features) = part.split_at(part.find(is_blank).unwrap_or(part.len()));
            words(features)
        });
        for word in features {
            all += 1;
            if is_number(&word) {
                found += 1;
                first.get_or_insert_with(|| word.to_owned());
            }
        }
    }
    let first = first.filter(|_| found >= LEAST && 2 * found > all)?;
    Some(format!(
        "words such as {} are features of value 1, another one for every number: a number stands behind a colon, as {}",
        shown(&first),
        shown(first.replacen('=', ":", 1))
    ))
}

/// A remark on the columns of a model's table that none of the first lines has.
fn absent(peek: &Peek<'_>, table: &CsvSchema) -> Option<String> {
    let (mut absent, mut reader) = (Absent::of(table), Vw::default());
    for line in peek.lines().filter_map(|line| std::str::from_utf8(line).ok()) {
        let Some((_, features)) = line.split_once('|') else { continue };
        // A line that cannot be read is named where it is read.
        let _ = reader.features(features, |name, _| absent.saw(name));
    }
    absent.note(peek.all)
}

/// The features of a line with a number behind their names.
fn numbers(line: &[u8]) -> Vec<(&str, f64)> {
    fn pair(word: &str) -> Option<(&str, f64)> {
        let (name, value) = word.split_once(':')?;
        Some((name, parse_value(value)?))
    }
    let text = std::str::from_utf8(line).unwrap_or_default();
    let features = text.split_once('|').map_or("", |(_, features)| features);
    words(features).filter_map(pair).collect()
}

/// The marks for a missing value that are classes here.
fn marks(peek: &Peek<'_>, missing: &Missing) -> Vec<String> {
    let label = |line| {
        let head = std::str::from_utf8(line).ok()?.split_once('|')?.0;
        let first = words(head).next().filter(|word| !word.contains(':'))?;
        (tag(head).is_none() || words(head).nth(1).is_some()).then_some(first)
    };
    let labels: Vec<&str> = peek.lines().filter_map(label).collect();
    missing.classes(labels.iter().copied(), usize::from(peek.all))
}

/// Number of lines examined to recognise rounds of several lines.
const LINES: usize = 1000;

pub(crate) fn reader(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let block = match &options.schema {
        Some(schema) => schema.block(),
        None => match options.offers {
            // The program that writes to a pipe may wait for an answer.
            Some(width) => {
                let lines = if source.size().is_some() { LINES } else { 1 };
                actions::are_rounds(&source.peek(lines, 1)?).then_some(width)
            }
            None => None,
        },
    };
    if let Some(width) = block {
        let columns =
            options.columns(Speech::Numbers(0)).map_err(|kind| ReadError::new(source.name(), 0, kind))?;
        if let Columns::Hashed { .. } = columns {
            return Err(source.file_error(
                "has actions with features of their own, which are hashed into blocks of columns already",
            ));
        }
        let columns = options.map(columns);
        let vw = Vw { missing: options.missing(), ..Vw::default() };
        return Ok(LineReader::boxed(source, columns, actions::Actions::new(vw, width, options.describes)));
    }
    let columns = options.columns(Speech::Names).map_err(|kind| ReadError::new(source.name(), 0, kind))?;
    let fresh = source.size().is_some() && options.schema.is_none();
    let only_tags = source.size().is_none() && options.schema.is_none();
    let mut vw = Vw { missing: options.missing(), only_tags, ..Vw::default() };
    let hashed = matches!(columns, Columns::Hashed { .. });
    let mut columns = options.map(columns);
    if fresh {
        let peek = source.peek(recognise::LINES, 1)?;
        vw.notes = note_tags(&peek).into_iter().chain(note_words(&peek)).collect();
        let peek = source.peek(LINES, 1)?;
        vw.notes.extend(counting::note(peek.lines().filter(|line| !line.is_empty()).map(numbers)));
        vw.marks = marks(&peek, &vw.missing);
        if options.tells_missing && !hashed {
            let (peek, missing) = (&peek, &vw.missing);
            let lines = || {
                let mut reader = Vw { missing: missing.clone(), ..Vw::default() };
                peek.lines().filter_map(move |line| reader.named(line))
            };
            columns.indicate(&lacking(lines));
        }
    }
    let table = options.schema.as_ref().and_then(|schema| schema.csv.as_ref());
    if let Some(table) = table.filter(|_| source.size().is_some()) {
        vw.notes.extend(absent(&source.peek(LINES, 1)?, table));
    }
    Ok(LineReader::boxed(source, columns, vw))
}

impl LineParser for Vw {
    fn parse(&mut self, line: Line<'_>, row: &mut Row, columns: &mut ColumnMap) -> Parsed {
        let line = std::str::from_utf8(line.text()).map_err(|_| ReadErrorKind::InvalidUtf8)?;
        let Some((head, rest)) = line.split_once('|') else {
            return match line.trim_ascii() {
                "" => Ok(false),
                text => Err(bad(format!("{} has no bar | before its features", shown(text)))),
            };
        };
        parse_head(head, row)?;
        if self.only_tags {
            self.see_tag(head);
        }
        self.features(rest, |name, value| {
            if value.is_nan() {
                columns.columns().miss(name, row);
            } else if value != 0.0
                && let Some(column) = columns.by_name(name)
            {
                row.push(column, value);
            }
        })?;
        row.finish(Duplicates::Sum).map_err(|fault| {
            let (FeatureFault::Duplicate(column) | FeatureFault::Overflow(column)) = fault;
            bad(format!("the values of feature {} sum to infinity", shown(&*columns.columns().name(column))))
        })?;
        Ok(true)
    }

    fn schema(&self, columns: Columns) -> Schema {
        let missing = Missing { values: self.marks.clone(), ..Missing::default() };
        Schema { missing, ..Schema::plain(Format::Vw, columns) }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn odd_cells(&self) -> Vec<Remark> {
        let tags = self.first_tag.as_deref().map(|first| Remark::Other(tags_note(first)));
        self.missing_note().into_iter().chain(tags).collect()
    }

    fn describe(&self, columns: &Columns) -> Vec<(&'static str, String)> {
        let how = match columns {
            Columns::Hashed { bits } => format!("hashed into 2^{bits} columns"),
            _ => "by name".to_owned(),
        };
        vec![("features", how)]
    }
}

/// The tag before the first bar: the last word, if it begins with a quote or touches the bar.
fn tag(head: &str) -> Option<&str> {
    let last = head.split(is_blank).rfind(|word| !word.is_empty())?;
    (!head.ends_with(is_blank) || last.starts_with('\'')).then_some(last)
}

/// Parses the part before the first bar.
fn parse_head(head: &str, row: &mut Row) -> Result<(), ReadErrorKind> {
    if let Some(why) = kind::refused(head) {
        return Err(bad(why));
    }
    let tag = tag(head);
    if let Some(tag) = tag {
        row.tag.push_str(tag.strip_prefix('\'').unwrap_or(tag));
    }
    let words = || {
        let count = head.split(is_blank).filter(|word| !word.is_empty()).count() - usize::from(tag.is_some());
        head.split(is_blank).filter(|word| !word.is_empty()).take(count)
    };
    if words().any(|word| word.contains(':')) {
        words().try_for_each(|word| parse_cost(word, row))?;
        row.offer_costs();
        return Ok(());
    }
    for (position, word) in words().enumerate() {
        match position {
            0 if is_infinite(word) => return Err(bad(format!("label {} is not finite", shown(word)))),
            0 => row.set_label(word, LabelType::Figure),
            1 => match fast_float2::parse::<f64, _>(word) {
                Ok(weight) if weight.is_finite() && weight >= 0.0 => row.weight = weight,
                _ => return Err(bad(format!("importance {} is not a number of at least 0", shown(word)))),
            },
            2 if fast_float2::parse::<f64, _>(word) == Ok(0.0) => {}
            2 => {
                return Err(bad(format!(
                    "base {} is a forecast to begin with, and each begins at 0; leave it out",
                    shown(word)
                )));
            }
            _ => return Err(bad(format!("{} is one word too many before the bar", shown(word)))),
        }
    }
    Ok(())
}

/// `action`, `action:cost` or `action:cost:probability`.
fn parse_cost(word: &str, row: &mut Row) -> Result<(), ReadErrorKind> {
    let mut parts = word.split(':');
    let action = parts.next().unwrap_or("");
    let mut number = || match parts.next() {
        None | Some("") => Ok(None),
        Some(text) => match fast_float2::parse::<f64, _>(text) {
            Ok(number) if number.is_finite() => Ok(Some(number)),
            _ => Err(bad(format!("{} of label {} is not a finite number", shown(text), shown(word)))),
        },
    };
    let (cost, probability) = (number()?, number()?);
    if probability.is_some_and(|probability| !(0.0..=1.0).contains(&probability)) {
        return Err(bad(format!(
            "the probability of label {}, its third number, is not between 0 and 1; costs without probabilities are action:cost",
            shown(word)
        )));
    }
    if action.is_empty() || is_infinite(action) || parts.next().is_some() {
        return Err(bad(format!("label {} is not action:cost or action:cost:probability", shown(word))));
    }
    row.push_cost_as(action, LabelType::Figure, cost, probability);
    Ok(())
}

impl Vw {
    /// Sees what is before the bar of a line, where all before were words at the bar alone.
    fn see_tag(&mut self, head: &str) {
        match lone_tag(head) {
            Some(tag) if self.first_tag.is_none() => self.first_tag = Some(tag.to_owned()),
            Some(_) => {}
            None => (self.only_tags, self.first_tag) = (false, None),
        }
    }

    /// A sentence about the features whose value is a word for a missing one, if there were any.
    fn missing_note(&self) -> Option<Remark> {
        let (first, count) = (shown(self.first_absent.as_ref()?), self.absent);
        Some(Remark::Other(format!(
            "features whose value is a word for a missing one, such as {first} ({count} in all), count as missing; the option \
             not-missing makes the word a text like others"
        )))
    }

    /// The features of a line with their values, NaN for a missing number and without zeros; none of a line
    /// without features or with a wrong one.
    fn named(&mut self, line: &[u8]) -> Option<Vec<(String, f64)>> {
        let (_, features) = std::str::from_utf8(line).ok()?.split_once('|')?;
        let mut named = vec![];
        let keep = |name: &str, value: f64| {
            if value != 0.0 {
                named.push((name.to_owned(), value));
            }
        };
        self.features(features, keep).ok()?;
        Some(named)
    }

    /// Calls `each` with name and value of every feature behind the first bar, NaN for a missing number.
    fn features(&mut self, mut rest: &str, mut each: impl FnMut(&str, f64)) -> Result<(), ReadErrorKind> {
        loop {
            let (namespace, after) = rest.split_once('|').map_or((rest, None), |(a, b)| (a, Some(b)));
            self.namespace(namespace, &mut each)?;
            match after {
                Some(after) => rest = after,
                None => return Ok(()),
            }
        }
    }

    /// Parses the part between two bars.
    fn namespace(&mut self, text: &str, each: &mut impl FnMut(&str, f64)) -> Result<(), ReadErrorKind> {
        self.name.clear();
        let (info, features) = text.split_at(text.find(is_blank).unwrap_or(text.len()));
        let mut scale = 1.0;
        if !info.is_empty() {
            let (name, value) =
                info.split_once(':').map_or((info, None), |(name, value)| (name, Some(value)));
            if name.is_empty() {
                return Err(bad(format!("namespace {} has no name", shown(info))));
            }
            if let Some(value) = value {
                scale = match fast_float2::parse::<f64, _>(value) {
                    Ok(scale) if scale.is_finite() => scale,
                    _ => {
                        return Err(bad(format!(
                            "the scale of namespace {} is not a finite number",
                            shown(info)
                        )));
                    }
                };
            }
            self.name.push_str(name);
            self.name.push('^');
        }
        let prefix = self.name.len();
        let mut nameless = 0_u32;
        for token in words(features) {
            self.name.truncate(prefix);
            let (name, value) =
                token.split_once(':').map_or((token, None), |(name, value)| (name, Some(value)));
            if name.is_empty() {
                self.name.push_str(&nameless.to_string());
                nameless += 1;
            } else {
                self.name.push_str(name);
            }
            let value = match value {
                None => scale,
                Some(text) => match parse_value(text) {
                    Some(number) => number * scale,
                    None if !text.is_empty() && self.missing.is_label(text) => {
                        self.absent += 1;
                        self.first_absent.get_or_insert_with(|| token.to_owned());
                        f64::NAN
                    }
                    None if is_text(text) => {
                        self.name.push('^');
                        self.name.push_str(text);
                        1.0
                    }
                    None => {
                        let way_out = match text {
                            "" => "; one without a value has no colon, and a missing number is nan",
                            _ if text.contains(',') => "; decimals have a point, as in 0.5",
                            _ => "",
                        };
                        let name = shown(token);
                        return Err(bad(format!("the value of feature {name} is not a number{way_out}")));
                    }
                },
            };
            // NaN is a missing number.
            if value.is_infinite() {
                return Err(bad(format!("the value of feature {} is not finite", shown(token))));
            }
            each(&self.name, value);
        }
        Ok(())
    }
}

/// Splits at blanks, by bytes, which is faster than by characters.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let blank = |byte: u8| byte == b' ' || byte == b'\t';
        let start = rest.bytes().position(|byte| !blank(byte))?;
        let length = rest.bytes().skip(start).position(blank).unwrap_or(rest.len() - start);
        let word = &rest[start..start + length];
        rest = &rest[start + length..];
        Some(word)
    })
}

fn parse_value(text: &str) -> Option<f64> {
    number::parse(text.as_bytes()).ok()
}

/// Whether a non-numeric value is text, rather than a malformed number.
fn is_text(text: &str) -> bool {
    let number_like = |byte: u8| byte.is_ascii_digit() || b"+-.".contains(&byte);
    text.bytes().next().is_some_and(|byte| !number_like(byte))
}

fn is_blank(character: char) -> bool {
    character == ' ' || character == '\t'
}

fn bad(message: impl Into<String>) -> ReadErrorKind {
    ReadErrorKind::Row(message.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::open::from_read;
    use crate::read::reader::sentences;
    use crate::testing::{by_tag, read_all};

    fn read(text: &str) -> Vec<String> {
        let input = Box::new(std::io::Cursor::new(text.to_owned()));
        read_all(&mut *from_read(input, "a.vw", &ReadOptions::default()).unwrap(), by_tag)
    }

    #[test]
    fn lines_become_rows() {
        let cases = [
            ("1 | a b:2\n", "1'*1 a=1 b=2"),
            ("| a\n", "?'*1 a=1"),
            ("+1.0 2 0 'id | a\n", "+1.0'id*2 a=1"),
            ("1 0 id| a\n", "1'id*0 a=1"),
            (" id| a\n", "?'id*1 a=1"),
            ("1|f a\n", "?'1*1 f^a=1"),
            ("x |f:2 a:3 b |g c |f a:-1\n", "x'*1 f^a=5 f^b=2 g^c=1"),
            ("1 |f :1 :2|g :3\n", "1'*1 f^0=1 f^1=2 g^0=3"),
            ("1 |f:2 a:red b:info c:0 d:x:y\n", "1'*1 f^a^red=1 f^b^info=1 f^d^x:y=1"),
            ("1 | NA a:NA b:? c:nan d:None e:none f:- g:. h:\\N\n", "1'*1 NA=1 e^none=1"),
            ("1 | a:1 a:1 b:1 b:-1\n", "1'*1 a=2"),
            ("1 |\n", "1'*1"),
            ("1 ||f\r\n", "1'*1"),
            ("1\t2\t|\ta\tb\n", "1'*2 a=1 b=1"),
            ("1:0.5 2:1 'x | a\n", "1:0.5:-+2:1:-'x*1 a=1"),
            ("1:0:0.5 | a\n", "1:0:0.5'*1 a=1"),
            ("2 1:0:0.5 | a\n", "2:-:-+1:0:0.5'*1 a=1"),
            ("det:  noun: | a\n", "det:-:-+noun:-:-'*1 a=1"),
            ("\n \r\n1 | é:0.5", "1'*1 é=0.5"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), [expected], "{text:?}");
        }
    }

    /// A pipe is not looked at before its first row: what it was is said in the end.
    #[test]
    fn words_at_the_bar_are_no_labels() {
        for (text, said) in [("3|a b\n\n1|a c\n", true), ("3|a b\n1 |a c\n", false), ("|a b\n", false)] {
            let input = Box::new(std::io::Cursor::new(text.to_owned()));
            let options = ReadOptions { format: Some(Format::Vw), ..ReadOptions::default() };
            let mut reader = from_read(input, "a.vw", &options).unwrap();
            read_all(&mut *reader, by_tag);
            let note = "a word at the bar, such as \"3\", is the name of a row and not its label; a label has a blank behind it: 3 |";
            assert_eq!(sentences(&*reader) == [note], said, "{text}");
        }
    }

    #[test]
    fn malformed_lines_are_refused() {
        let cases = [
            ("1 | x:0.7\0", r#"the value of feature "x:0.7\0" is not a number"#),
            ("1 | x:1:2", r#"the value of feature "x:1:2" is not a number"#),
            (
                "1 | x:-0,5",
                r#"the value of feature "x:-0,5" is not a number; decimals have a point, as in 0.5"#,
            ),
            (
                "1 | x: b",
                r#"the value of feature "x:" is not a number; one without a value has no colon, and a missing number is nan"#,
            ),
            ("1 | x:1e999", r#"the value of feature "x:1e999" is not finite"#),
            ("1 |f:1e300 x:1e300", r#"the value of feature "x:1e300" is not finite"#),
            ("1 | x:1e308 x:1e308", r#"the values of feature "x" sum to infinity"#),
            ("1 |: a", r#"namespace ":" has no name"#),
            ("1 |f:x a", r#"the scale of namespace "f:x" is not a finite number"#),
            ("1 -1 | a", r#"importance "-1" is not a number of at least 0"#),
            ("1 x | a", r#"importance "x" is not a number of at least 0"#),
            ("1 1 0.5 | a", r#"base "0.5" is a forecast to begin with, and each begins at 0; leave it out"#),
            ("1 1 0 4 | a", r#""4" is one word too many before the bar"#),
            ("1 a b", r#""1 a b" has no bar | before its features"#),
            ("1:x | a", r#""x" of label "1:x" is not a finite number"#),
            (
                "1:0.5:1.5 | a",
                r#"the probability of label "1:0.5:1.5", its third number, is not between 0 and 1; costs without probabilities are action:cost"#,
            ),
            ("1:0:0:0 | a", r#"label "1:0:0:0" is not action:cost or action:cost:probability"#),
            (":1 | a", r#"label ":1" is not action:cost or action:cost:probability"#),
        ];
        for (line, error) in cases {
            assert_eq!(read(&format!("{line}\n2 | a\n")), [format!("a.vw:1: {error}"), "2'*1 a=1".into()]);
        }
    }
}

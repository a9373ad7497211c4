//! Recognition of a format by the first lines.

use std::collections::HashSet;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::read::arff;
use crate::read::format::Format;
use crate::read::source::Peek;

/// Number of lines examined to recognise a format.
pub(crate) const LINES: usize = 20;

/// Recognises a format by its first lines, comments and blank lines aside:
///
/// - a line `@relation`, or a comment that begins with `%`, is ARFF;
/// - a line that begins with `{` is NDJSON;
/// - a line with a bar that has a blank beside it, or begins the line, or is followed by features, is VW, if
///   most lines have a bar;
/// - lines of `index:value` pairs behind at most one label are LIBSVM, if there is a pair at all;
/// - lines with a delimiter are CSV.
pub(crate) fn from_content(peek: &Peek<'_>) -> Option<Format> {
    let rows: Vec<&[u8]> = peek
        .lines()
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
        .take(LINES)
        .collect();
    let first = *rows.first()?;
    if arff::begins(rows.iter().copied()) {
        return Some(Format::Arff);
    }
    if first.starts_with(b"{") {
        return Some(Format::Ndjson);
    }
    let bars = rows.iter().filter(|row| row.contains(&b'|')).count();
    if is_vw(first) && 2 * bars > rows.len() {
        return Some(Format::Vw);
    }
    let pairs: Option<usize> = rows.iter().map(|row| pairs(row)).sum();
    if pairs.is_some_and(|pairs| pairs > 0) {
        return Some(Format::Libsvm);
    }
    first.iter().any(|byte| b",\t;| \x01".contains(byte)).then_some(Format::Csv)
}

/// About tables that are drawn.
pub(crate) const DRAWN: &str = "is a table drawn for reading, with a line of dashes, where delimiters alone were needed: psql writes CSV by \
                                --csv, sqlite3 by -csv";

/// Whether these lines are a table drawn for reading, as psql, MySQL and Markdown have it: one of the first
/// is of dashes, with crosses, or with a bar at its beginning.
pub(crate) fn is_drawn(peek: &Peek<'_>) -> bool {
    let is_rule = |line: &[u8]| {
        let dashes = line.iter().filter(|byte| **byte == b'-').count();
        let drawn = line.contains(&b'+') || line.starts_with(b"|");
        dashes > 2 && drawn && line.iter().all(|byte| b"-+|: ".contains(byte))
    };
    peek.lines().map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).take(3).any(is_rule)
}

/// About cells with two colons between them.
pub(crate) const DOUBLE: &str =
    "has :: between its cells, where one character was needed: sed 's/::/\\t/g' makes tabs of them";

/// Whether these lines all have as many pairs of colons, at least two, as MovieLens has them between cells,
/// and nothing else that parts cells, as tables of addresses have.
pub(crate) fn is_double(peek: &Peek<'_>) -> bool {
    let lines = peek.lines().map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).take(20);
    let lines: Vec<&[u8]> = lines.collect();
    let least = |count: fn(&[u8]) -> usize| {
        let first = lines.first().map_or(0, |line| count(line));
        if lines.iter().all(|line| count(line) == first) { first } else { 0 }
    };
    let pairs = least(|line| line.windows(2).filter(|pair| **pair == *b"::").count());
    let others = [
        least(|line| memchr::memchr_iter(b',', line).count()),
        least(|line| memchr::memchr_iter(b';', line).count()),
        least(|line| memchr::memchr_iter(b'\t', line).count()),
    ];
    let is_text = lines.iter().all(|line| !line.starts_with(b"{") && !is_vw(line));
    lines.len() > 1 && pairs > 1 && others == [0; 3] && is_text
}

/// About lines of fastText. Their other labels would tell the learner the first one.
pub(crate) const FAST_TEXT: &str = "has lines of fastText, which begin with their label; sed 's/[:|]/ /g; \
                                    s/^__label__\\([^[:blank:]]*\\)/\\1 |/; s/__label__[^[:blank:]]*//g' makes \
                                    lines of Vowpal Wabbit of them, with the first of several labels";

/// Whether these lines begin with a label as fastText writes it: as a table, their label would be a word. A
/// cell before a comma is one of a table.
pub(crate) fn is_fast_text(peek: &Peek<'_>) -> bool {
    let lines = || peek.lines().map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).take(20);
    let begins = |line: &&[u8]| {
        let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        word.starts_with(b"__label__") && !word.contains(&b',')
    };
    // Lines without a label may be among them.
    let labelled = lines().filter(begins).count();
    labelled > 0 && 2 * labelled > lines().count()
}

/// Whether an object of JSON, the only one of a file, is a whole table, as pandas writes it unless it is
/// asked for records: lists or objects of columns, or columns and data apart; or records inside it.
pub(crate) fn is_whole_table(object: &Map<String, Value>) -> bool {
    const FEW: usize = 3;
    // Keys of rows that have lists.
    if ["x", "labels", "_multi"].iter().any(|key| object.contains_key(*key)) {
        return false;
    }
    let is_array = |key: &str| object.get(key).is_some_and(Value::is_array);
    let length = |value: &Value| match value {
        Value::Array(list) => list.len(),
        Value::Object(map) if map.keys().all(|key| key.bytes().all(|byte| byte.is_ascii_digit())) => {
            map.len()
        }
        _ => 0,
    };
    let lengths: HashSet<usize> = object.values().map(length).collect();
    let columns = object.len() > 1 && lengths.len() == 1 && lengths.iter().all(|length| *length > 1);
    let has_records = |value: &Value| {
        value.as_array().is_some_and(|list| list.len() > 1 && list.iter().all(Value::is_object))
    };
    columns
        || (is_array("columns") && is_array("data"))
        || (object.len() <= FEW && object.values().any(has_records))
}

/// Why JSON that is no sequence of objects is not read, by its first lines; `None` for all else.
pub(crate) fn other_json(peek: &Peek<'_>) -> Option<&'static str> {
    let lines = || peek.lines().map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let is_event = |line: &[u8]| {
        line.strip_prefix(b"data:").is_some_and(|object| object.trim_ascii_start().starts_with(b"{"))
    };
    // An event may have a name, a number and a time to wait before its data.
    if lines().take(4).any(is_event) {
        return Some(
            "has \"data:\" before each object of JSON, as servers send events; leave the rest out, as in sed -n 's/^data: *//p'",
        );
    }
    let first = lines().next()?;
    if first.starts_with(b"\x1e") {
        return Some("has the character 1e before each object of JSON; leave it out, as in tr -d '\\036'");
    }
    let is_behind_text = |line: &[u8]| {
        let Some(at) = memchr::memchr(b'{', line) else { return false };
        let (before, object) = line.split_at(at);
        before.last().is_some_and(u8::is_ascii_whitespace)
            && serde_json::from_slice::<Map<String, Value>>(object).is_ok()
    };
    if lines().take(4).all(is_behind_text) {
        return Some(
            "has other text before each object of JSON, such as a key of Kafka or a time; leave it out, as in sed 's/^[^{]*//'",
        );
    }
    let first = first.strip_suffix(b",").unwrap_or(first);
    let inside = first.strip_prefix(b"[")?.trim_ascii_start();
    let is_value = |byte: &u8| byte.is_ascii_digit() || b"\"-[ ".contains(byte);
    let nested = inside.strip_prefix(b"[").is_some_and(|cells| cells.first().is_none_or(is_value));
    let whole = || serde_json::from_slice::<Vec<IgnoredAny>>(first).is_ok();
    (inside.is_empty() || nested || whole()).then_some(
        "has rows that are arrays of JSON, whose values have no names; write an object for each row, with the name of each value",
    )
}

fn is_vw(row: &[u8]) -> bool {
    let Some(bar) = memchr::memchr(b'|', row) else {
        return false;
    };
    let blank_beside = row[..bar].last().is_none_or(u8::is_ascii_whitespace);
    blank_beside || row[bar..].contains(&b' ')
}

/// Number of `index:value` pairs of a LIBSVM row; `None` if it is none.
fn pairs(row: &[u8]) -> Option<usize> {
    let mut count = 0;
    for (position, token) in row.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()).enumerate()
    {
        if token.starts_with(b"#") {
            break;
        }
        match memchr::memchr(b':', token) {
            Some(colon) if &token[..colon] == b"qid" => count += 1,
            // The reader checks whether the value is a number.
            Some(colon) if is_index(&token[..colon]) && !token.contains(&b',') => count += 1,
            None if position == 0 => {}
            _ => return None,
        }
    }
    Some(count)
}

fn is_index(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_no_rows() {
        let other = |text: &str| other_json(&Peek { bytes: text.as_bytes(), all: true }).is_some();
        for text in [
            "[1, \"x\"]\n",
            "[[1,2],[3,4]]",
            "[\n[1,2],\n",
            "\n[[1, 2],\n[3, 4]]\n",
            "\x1e{\"a\":1}\n",
            "[1,2],\n",
            "k1\t{\"a\":1}\nk2\t{\"a\":2}\n",
            "Jan  1 00:00:01 host app[1]: {\"a\":{\"b\":1}}\n",
        ] {
            assert!(other(text), "{text:?}");
        }
        for text in [
            "[a],1\n",
            "[[Category]],1\n",
            "[1,2],[3,4]\n",
            "[1] 2\n",
            "{\"a\":[1]}\n",
            "1,2\n",
            "",
            "a\tb\n1\t{}\n",
            "1,{\"a\":1}\n",
            "1 | {a\n",
        ] {
            assert!(!other(text), "{text:?}");
        }
    }

    #[test]
    fn drawn_tables_are_told_from_rows() {
        let drawn = |text: &str| is_drawn(&Peek { bytes: text.as_bytes(), all: true });
        for text in
            [" a | b \n---+---\n 1 | x \n", "+---+\n| a |\n+---+\n", "| a | b |\n|---|:-:|\n| 1 | x |\n"]
        {
            assert!(drawn(text), "{text}");
        }
        for text in
            ["a|b\n---|---\n1|x\n", "a,b\n-,-\n+,-\n", "1 | a:-1\n-1 | b\n", "+ 1:1\n- 1:2\n", "---\n"]
        {
            assert!(!drawn(text), "{text}");
        }
    }

    #[test]
    fn lines_of_fast_text_begin_with_labels() {
        let is = |text: &str| is_fast_text(&Peek { bytes: text.as_bytes(), all: true });
        assert!(is("__label__u a box came\n\n__label__v , no box\n"));
        assert!(is("__label__u\ta box came\n__label__v\tno box\n") && is("__label__u __label__w a box\n"));
        assert!(is("no label\n__label__u a box came\n__label__v no box\n"));
        assert!(!is("__label__u,1\nv,2\n") && !is("label,__label__u\n") && !is(""));
        assert!(!is("__label__u,1,2\n__label__v,3,4\n"), "a table whose labels are called so");
        // Labels end at a tab, too, and those behind the first are no words.
        let way_out = r"s/^__label__\([^[:blank:]]*\)/\1 |/; s/__label__[^[:blank:]]*//g' makes lines";
        assert!(FAST_TEXT.contains(way_out), "{FAST_TEXT}");
    }

    #[test]
    fn a_table_in_one_object_is_told_from_a_row() {
        let whole = |text: &str| is_whole_table(&serde_json::from_str(text).expect(text));
        for text in [
            r#"{"a": [1, 2], "label": ["p", "q"]}"#,
            r#"{"a": {"0": 1, "1": 2}, "label": {"0": "p", "1": "q"}}"#,
            r#"{"columns": ["a", "label"], "index": [0, 1], "data": [[1, "p"], [2, "q"]]}"#,
            r#"{"schema": {"fields": []}, "data": [{"a": 1}, {"a": 2}]}"#,
        ] {
            assert!(whole(text), "{text}");
        }
        for text in [
            r#"{"a": 1, "label": "p"}"#,
            r#"{"a": [1, 2], "label": "p"}"#,
            r#"{"x": [1, 2], "y": [0.5, 0.5]}"#,
            r#"{"user": {"age": 3, "hue": "red"}, "label": "p"}"#,
            r#"{"hue": "red", "labels": [{"label": "p"}, {"label": "q"}], "y": "p"}"#,
            "{}",
        ] {
            assert!(!whole(text), "{text}");
        }
    }

    #[test]
    fn content_shows_formats() {
        let cases = [
            ("\n# c\n{\"x\":[1]}\n", Some(Format::Ndjson)),
            ("% c\n", Some(Format::Arff)),
            ("\n@Relation a\n@attribute b real\n", Some(Format::Arff)),
            ("@relations,b\n1,2\n", Some(Format::Csv)),
            ("1 | a b\n", Some(Format::Vw)),
            ("| a b\n", Some(Format::Vw)),
            ("1 'tag|f a:1\n", Some(Format::Vw)),
            ("1|2|3\n", Some(Format::Csv)),
            ("|1x3 Cross validator\n25, Private, x\n38, Private, y\n", Some(Format::Csv)),
            ("1\n2 1:0.5\n", Some(Format::Libsvm)),
            ("1:0.5 2:1\n", Some(Format::Libsvm)),
            ("a 1:0.5 # 3\n", Some(Format::Libsvm)),
            ("1 qid:3 1:0.5\n", Some(Format::Libsvm)),
            ("12:30,1\n", Some(Format::Csv)),
            ("a,b\n1,2\n", Some(Format::Csv)),
            ("a b\n", Some(Format::Csv)),
            ("a\u{1}b\n", Some(Format::Csv)),
            ("word\n", None),
            ("", None),
        ];
        for (text, format) in cases {
            assert_eq!(from_content(&Peek { bytes: text.as_bytes(), all: true }), format, "{text:?}");
        }
    }
}

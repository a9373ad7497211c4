//! What counts as missing, for columns and labels alike, in every format.

use serde::{Deserialize, Serialize};

use super::label;

/// Words for a missing value, as programs write them: R, SQL, pandas, Excel, databases' dumps. An empty cell
/// and a number that is NaN are missing, too.
pub(crate) const WORDS: [&str; 34] = [
    "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "NULL", "null", "Null", "None", "NaT", "\\N", "<NA>",
    "#N/A", "#NA", "-nan", "-NaN", "#N/A N/A", "<null>", "(null)", "n.a.", "N.A.", "#VALUE!", "#REF!",
    "#DIV/0!", "#NUM!", "#NAME?", "#NULL!", "#ERROR!", "#SPILL!", "#CALC!", "[NULL]", "(blank)",
];

/// Marks for a missing value. As labels they are missing unless they are classes themselves; see
/// [`Missing::classes`].
pub(crate) const MARKS: [&str; 6] = ["?", "-", "--", ".", "\u{2013}", "\u{2014}"];

/// What counts as missing besides the usual words and marks, and what does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// Further words, of columns and labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Words that are values like all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

impl Missing {
    /// Whether nothing is said.
    pub fn is_default(&self) -> bool {
        self.words.is_empty() && self.values.is_empty()
    }

    /// These words, and those of `other`, which take precedence.
    pub(crate) fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.words.retain(|word| !other.values.contains(word));
        both.values.retain(|word| !other.words.contains(word));
        both.words.extend(other.words.iter().filter(|word| !self.words.contains(word)).cloned());
        both.values.extend(other.values.iter().filter(|word| !self.values.contains(word)).cloned());
        both
    }

    /// Whether a trimmed cell of a column is missing. Words of letters count in upper and lower case.
    pub(crate) fn is_cell(&self, cell: &[u8]) -> bool {
        // Almost every cell starts with a digit.
        match cell.first() {
            None => true,
            Some(b'0'..=b'9') if self.words.is_empty() => false,
            Some(_) if self.is_default() => is_word(cell),
            Some(_) => {
                let said = |words: &[String]| words.iter().any(|word| word.as_bytes() == cell);
                !said(&self.values) && (said(&self.words) || is_word(cell))
            }
        }
    }

    /// Whether a cell is one of the further words.
    pub(crate) fn is_said(&self, cell: &[u8]) -> bool {
        self.words.iter().any(|word| word.as_bytes() == cell)
    }

    /// Whether a number stands for a missing value, as -999 may.
    pub(crate) fn is_number(&self, number: f64) -> bool {
        self.words.iter().any(|word| label::value(word) == Some(number))
    }

    /// Whether a label is missing: the words count as they are written here, so that a class may be called
    /// `none` or `Nan`. Blanks around them do not matter.
    pub fn is_label(&self, text: &str) -> bool {
        let text = text.trim();
        let said = |words: &[String]| words.iter().any(|word| word == text);
        if text.is_empty() || said(&self.words) {
            return true;
        }
        (WORDS.contains(&text) || MARKS.contains(&text)) && !said(&self.values)
    }

    /// Whether the label of a single row is missing, after the classes `known`, which stay classes.
    pub fn is_next_label<'a>(&self, text: &'a str, known: impl Iterator<Item = &'a str> + Clone) -> bool {
        self.is_label(text)
            && !known.clone().any(|class| class == text)
            // A mark is a class beside another sign only: further labels may come.
            && !self.classes(["a", "b", text].into_iter().chain(known), 1).iter().any(|mark| mark == text)
    }

    /// The marks among `labels` that are classes: where another label has neither letter nor digit either, as
    /// among signs of punctuation, or where at most `most` other labels would be left.
    pub fn classes<'a>(&self, labels: impl Iterator<Item = &'a str> + Clone, most: usize) -> Vec<String> {
        let is_mark = |label: &&str| MARKS.contains(label);
        let mut marks: Vec<&str> =
            labels.clone().filter(is_mark).filter(|mark| self.is_label(mark)).collect();
        marks.sort_unstable();
        marks.dedup();
        let mut others: Vec<&str> = labels.filter(|label| !is_mark(label) && !self.is_label(label)).collect();
        others.sort_unstable();
        others.dedup();
        let is_sign = |label: &&str| !label.contains(char::is_alphanumeric);
        let kept = others.len() <= most || others.iter().any(is_sign);
        marks.into_iter().filter(|_| kept).map(str::to_owned).collect()
    }
}

/// Whether a trimmed cell is missing, if nothing else is said.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty() || is_word(cell)
}

/// Whether a cell is a word or a mark for a missing value.
fn is_word(cell: &[u8]) -> bool {
    match cell[0] {
        b'n' | b'N' | b'<' | b'#' | b'\\' | b'(' | b'[' => {
            WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
        }
        b'-' => cell == b"-" || cell == b"--" || cell.eq_ignore_ascii_case(b"-nan"),
        b'?' | b'.' => cell.len() == 1,
        // The dashes of typography.
        0xe2 => cell == "\u{2013}".as_bytes() || cell == "\u{2014}".as_bytes(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_count_in_columns_and_labels() {
        let missing = Missing::default();
        for word in [
            "", "NA", "NaN", "nan", "N/A", "n/a", "NULL", "null", "None", "?", "NaT", "\\N", "<NA>", "#N/A",
            "-", "--", ".", "(null)", "n.a.", "#DIV/0!", "#VALUE!", "\u{2014}", "[NULL]", "(blank)",
            "#ERROR!",
        ] {
            assert!(missing.is_cell(word.as_bytes()) && missing.is_label(word), "{word}");
        }
        for word in
            ["0", "1", "-1", ".5", "x", "-x", "Nancy", "N", "Infinity", "n.a", "(x)", "#1", "\u{2026}", "[x]"]
        {
            assert!(!missing.is_cell(word.as_bytes()) && !missing.is_label(word), "{word}");
        }
        // Classes, but no numbers.
        for word in ["none", "Nan", "NONE"] {
            assert!(missing.is_cell(word.as_bytes()) && !missing.is_label(word), "{word}");
        }
    }

    #[test]
    fn words_are_added_and_taken_away() {
        let missing = Missing { words: list(&["-999", "unknown"]), values: list(&["NA"]) };
        for word in ["-999", "unknown", "?"] {
            assert!(missing.is_cell(word.as_bytes()) && missing.is_label(word), "{word}");
        }
        assert!(!missing.is_cell(b"NA") && !missing.is_label("NA") && missing.is_cell(b"NULL"));
        assert!(missing.is_number(-999.0) && !missing.is_number(0.0));
        let other = missing.with(&Missing { words: list(&["NA"]), values: list(&["unknown"]) });
        assert_eq!(other, Missing { words: list(&["-999", "NA"]), values: list(&["unknown"]) });
    }

    #[test]
    fn labels_that_come_one_by_one_are_missing_unless_they_are_known() {
        let is = |text, known: &[&'static str]| Missing::default().is_next_label(text, known.iter().copied());
        assert!(is("NA", &[]) && is("n/a", &["a", "b"]) && is("", &["a"]) && is("?", &["a", "b"]));
        assert!(!is("NA", &["a", "NA"]) && !is("-", &["+"]) && is("-", &[]) && !is("a", &[]));
    }

    #[test]
    fn marks_are_classes_among_signs() {
        let classes =
            |labels: &[&'static str], most| Missing::default().classes(labels.iter().copied(), most);
        assert_eq!(classes(&["+", "-", "-"], 0), ["-"]);
        assert_eq!(classes(&[".", ",", "?", "x"], 0), [".", "?"]);
        assert_eq!(classes(&["a", "b", "?"], 1), list(&[]));
        assert_eq!(classes(&["x", "-"], 1), ["-"]);
        assert_eq!(classes(&["x", "?"], 0), list(&[]));
        assert_eq!(classes(&["NA", "?", "."], 0), [".", "?"]);
    }
}

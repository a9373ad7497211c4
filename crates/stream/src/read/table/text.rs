//! Free text: words and pairs of neighbours, hashed to a bounded number of features.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::RandomState;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::read::columns::{ColumnMap, Columns};
use crate::read::hash::hash_name;
use crate::read::row::Row;

/// Number of buckets: $2^{18}$ for words, and as many for pairs of neighbours. A language has fewer words in
/// use, so that collisions are rare; a bucket takes memory from its first word on only.
const BITS: u32 = 18;

/// Largest number of words of a cell; further ones are ignored.
const MOST_WORDS: usize = 4096;

/// The weight of a pair relative to a word.
const PAIR: f64 = 0.5;

/// The norm of a text cell of any length; that of a number or a category is about 1. On ten
/// thousand generated tickets (`noregret generate tickets`) the error rate of `auto` is 0.146 with
/// norm 1, 0.129 with 2, 0.114 with 3 and 0.117 with 4.
const NORM: f64 = 3.0;

/// Separates a column's name and a word. No word contains it.
const MARK: char = '~';

/// The words of one column of a table.
///
/// Each word, and each pair of neighbouring words, is hashed to a bucket; a bucket becomes a
/// feature when it first occurs, named after its first word, as in `text~refund`. The buckets
/// follow from the names, so that nothing else has to be saved.
pub(crate) struct Words {
    prefix: String,
    /// The features of the buckets that have one.
    features: HashMap<u32, u32, RandomState>,
    /// The words of the last row, concatenated, and their ends.
    text: String,
    ends: Vec<usize>,
    /// Buckets of the row with their counts and the position in `text` of their first word.
    met: Vec<(u32, f64, usize, usize)>,
}

impl Words {
    pub(crate) fn new(column: &str, columns: &Columns) -> Self {
        let (prefix, features) = (format!("{column}{MARK}"), HashMap::default());
        let mut words = Self { prefix, features, text: String::new(), ends: vec![], met: vec![] };
        words.take_in(columns, 0);
        words
    }

    /// Takes in the columns from `first` on.
    pub(crate) fn take_in(&mut self, columns: &Columns, first: u32) {
        let Columns::Named(names) = columns else { return };
        for (feature, name) in (first..).zip(names.since(first)) {
            if let Some(word) = name.strip_prefix(&*self.prefix) {
                self.features.insert(bucket(word), feature);
            }
        }
    }

    /// Removes the features from `count` on, which were taken back.
    pub(crate) fn forget(&mut self, count: u32) {
        self.features.retain(|_, feature| *feature < count);
    }

    /// Adds the words of a cell to a row: logarithms of their counts, scaled to norm [`NORM`], so
    /// that the length of a text does not matter.
    pub(crate) fn push(&mut self, cell: &str, columns: &mut ColumnMap, row: &mut Row) {
        self.cut(cell);
        self.met.clear();
        let mut start = 0;
        let mut before = None;
        for &end in &self.ends {
            let word = &self.text[start..end];
            self.met.push((bucket(word), 1.0, start, end));
            if let Some(first) = before {
                // Neighbouring words are separated by one blank.
                self.met.push((bucket(&self.text[first..end]), PAIR, first, end));
            }
            before = Some(start);
            start = end + 1;
        }
        self.met.sort_unstable_by_key(|&(bucket, _, start, end)| (bucket, start, end));
        let weight = |times: &[(u32, f64, usize, usize)]| times[0].1 * (1.0 + (times.len() as f64).ln());
        let same = |a: &(u32, f64, usize, usize), b: &(u32, f64, usize, usize)| a.0 == b.0;
        let square: f64 = self.met.chunk_by(same).map(|times| weight(times).powi(2)).sum();
        let scale = if square > 0.0 { NORM / square.sqrt() } else { 0.0 };
        for times in self.met.chunk_by(same) {
            let (bucket, _, start, end) = times[0];
            let feature = match self.features.entry(bucket) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(place) => {
                    let mark = self.prefix.len();
                    self.prefix.push_str(&self.text[start..end]);
                    let feature = columns.by_word(&self.prefix);
                    self.prefix.truncate(mark);
                    let Some(feature) = feature else { continue };
                    *place.insert(feature)
                }
            };
            row.push(feature, scale * weight(times));
        }
    }

    /// Splits a cell into words, in lower case. All long numbers become the same word.
    fn cut(&mut self, cell: &str) {
        self.text.clear();
        self.ends.clear();
        for word in cell.split_word_bounds().filter(|word| is_word(word)).take(MOST_WORDS) {
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            if word.len() > 4
                && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b',')
            {
                self.text.push('#');
            } else {
                self.text.extend(word.chars().flat_map(char::to_lowercase));
            }
            self.ends.push(self.text.len());
        }
    }
}

/// The bucket of a word, or of two words separated by a blank.
fn bucket(text: &str) -> u32 {
    let first = if text.contains(' ') { 1 << BITS } else { 0 };
    first + hash_name(text, BITS)
}

/// Whether a piece of text is a word, a number or an emoji, not a mark or a blank.
fn is_word(piece: &str) -> bool {
    piece
        .chars()
        .any(|c| c.is_alphanumeric() || matches!(c, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}'))
}

/// Number of words of a cell, without numbers, counted up to `most`.
pub(crate) fn count_words(cell: &str, most: usize) -> usize {
    cell.split_word_bounds()
        .filter(|piece| is_word(piece) && !piece.starts_with(|c: char| c.is_ascii_digit()))
        .take(most)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::columns::Names;

    fn named(columns: &ColumnMap, row: &Row) -> Vec<String> {
        row.indices().iter().map(|column| columns.columns().name(*column).into_owned()).collect()
    }

    #[test]
    fn words_and_pairs_have_one_norm() {
        let mut columns = ColumnMap::new(Columns::Named(Names::default()), u32::MAX);
        let mut words = Words::new("text", columns.columns());
        let mut row = Row::new();
        words.push("Refund, refund the LABEL!", &mut columns, &mut row);
        row.sum_duplicates().expect("finite");
        let mut names = named(&columns, &row);
        names.sort();
        assert_eq!(
            names,
            [
                "text~label",
                "text~refund",
                "text~refund refund",
                "text~refund the",
                "text~the",
                "text~the label"
            ]
        );
        let square: f64 = row.values().iter().map(|value| value * value).sum();
        assert!((square - NORM * NORM).abs() < 1e-12, "{square}");
        // Twice counts 1 + ln 2, a pair half of a word.
        let value = |name: &str| {
            let column = columns.columns().index_of(name).expect("it was met");
            row.values()[row.indices().iter().position(|index| *index == column).expect("in the row")]
        };
        assert!((value("text~refund") / value("text~the") - (1.0 + 2f64.ln())).abs() < 1e-12);
        assert!((value("text~the label") / value("text~the") - 0.5).abs() < 1e-12);
    }

    #[test]
    fn names_determine_the_buckets() {
        let mut columns = ColumnMap::new(Columns::Named(Names::default()), u32::MAX);
        let mut words = Words::new("a", columns.columns());
        let (mut row, mut again) = (Row::new(), Row::new());
        words.push("Über 🙏 123456 3.5", &mut columns, &mut row);
        let kept = columns.columns().clone();
        assert!(kept.index_of("a~über").is_some() && kept.index_of("a~🙏 #").is_some(), "{kept:?}");
        // Read again with a saved model: the same features, and a word that is new has none.
        let mut columns = ColumnMap::new(kept.clone(), kept.count());
        let mut words = Words::new("a", columns.columns());
        words.push("über 🙏 987654 3.5", &mut columns, &mut again);
        assert_eq!((again.indices(), again.values()), (row.indices(), row.values()));
        again.clear();
        words.push("unheard", &mut columns, &mut again);
        assert_eq!((again.indices().len(), columns.dropped()), (0, 0));
    }

    #[test]
    fn features_that_were_taken_back_are_removed() {
        let mut columns = ColumnMap::new(Columns::Named(Names::default()), u32::MAX);
        let mut words = Words::new("a", columns.columns());
        let mut row = Row::new();
        words.push("one", &mut columns, &mut row);
        columns.commit();
        row.clear();
        words.push("two", &mut columns, &mut row);
        columns.roll_back();
        words.forget(columns.columns().count());
        row.clear();
        words.push("three", &mut columns, &mut row);
        assert_eq!(named(&columns, &row), ["a~three"]);
    }
}

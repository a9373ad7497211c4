//! The formats.

use serde::{Deserialize, Serialize};

use crate::words::named;

named! {
    /// A format of examples.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[non_exhaustive]
    pub enum Format {
        /// `label index:value ...`
        Libsvm = "libsvm",
        /// Vowpal Wabbit text: `label | feature:value ...`
        Vw = "vw",
        /// Delimited text, with or without a header.
        Csv = "csv",
        /// One JSON object per line.
        Ndjson = "ndjson",
        /// Attribute-relation file format, of MOA and Weka. Read only.
        Arff = "arff",
        /// Apache Parquet, a binary format by columns. Needs the cargo feature `parquet`.
        Parquet = "parquet",
    }
}

impl Format {
    /// The formats of text that are also written.
    pub const TEXT: [Format; 4] = [Format::Libsvm, Format::Vw, Format::Csv, Format::Ndjson];

    /// Whether its rows have columns or keys with names.
    pub fn is_table(self) -> bool {
        !matches!(self, Format::Libsvm | Format::Vw)
    }

    /// Whether rows are written in it, too.
    pub fn is_written(self) -> bool {
        self == Format::Parquet || Self::TEXT.contains(&self)
    }

    /// Whether a row can be a decision with its probability.
    pub fn has_decisions(self) -> bool {
        self.is_table() || self == Format::Vw
    }

    /// The names of those that are `such`, at least two: `csv, ndjson, arff or parquet`.
    pub fn names(such: impl Fn(Self) -> bool) -> String {
        let mut names: Vec<&str> =
            Self::ALL.into_iter().filter(|format| such(*format)).map(Self::name).collect();
        let last = names.pop().unwrap_or_default();
        format!("{} or {last}", names.join(", "))
    }

    /// The format of a file name's extension, before `.gz` or `.zst`; `None` for ambiguous
    /// extensions.
    pub fn from_file_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "libsvm" | "svm" | "svmlight" => Some(Format::Libsvm),
            "vw" => Some(Format::Vw),
            "csv" | "tsv" => Some(Format::Csv),
            "ndjson" | "jsonl" => Some(Format::Ndjson),
            "arff" => Some(Format::Arff),
            "parquet" | "pq" => Some(Format::Parquet),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_name_formats() {
        assert_eq!(Format::names(Format::is_table), "csv, ndjson, arff or parquet");
        assert_eq!(Format::names(Format::is_written), "libsvm, vw, csv, ndjson or parquet");
        assert_eq!(Format::names(Format::has_decisions), "vw, csv, ndjson, arff or parquet");
    }

    #[test]
    fn names_promise_formats() {
        let cases = [
            ("a.svm", Some(Format::Libsvm)),
            ("dir.csv/a.LIBSVM.gz", Some(Format::Libsvm)),
            ("a.vw.zst", Some(Format::Vw)),
            ("a.tsv", Some(Format::Csv)),
            ("a.jsonl", Some(Format::Ndjson)),
            ("a.arff.gz", Some(Format::Arff)),
            ("a.parquet", Some(Format::Parquet)),
            ("a.dat", None),
            ("csv", None),
            ("a.txt.gz", None),
        ];
        for (name, format) in cases {
            assert_eq!(Format::from_file_name(name), format, "{name}");
        }
    }
}

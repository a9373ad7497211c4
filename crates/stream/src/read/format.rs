//! The formats.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A format of examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// `label index:value ...`
    Libsvm,
    /// Vowpal Wabbit text: `label | feature:value ...`
    Vw,
    /// Delimited text, with or without a header.
    Csv,
    /// One JSON object per line.
    Ndjson,
    /// Attribute-relation file format, of MOA and Weka. Read only.
    Arff,
    /// Apache Parquet, a binary format by columns. Needs the cargo feature `parquet`.
    Parquet,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] =
        [Format::Libsvm, Format::Vw, Format::Csv, Format::Ndjson, Format::Arff, Format::Parquet];
    /// The formats of text that are also written.
    pub const TEXT: [Format; 4] = [Format::Libsvm, Format::Vw, Format::Csv, Format::Ndjson];

    /// Its name, such as `libsvm`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Libsvm => "libsvm",
            Format::Vw => "vw",
            Format::Csv => "csv",
            Format::Ndjson => "ndjson",
            Format::Arff => "arff",
            Format::Parquet => "parquet",
        }
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

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| {
            format!("no format is called {name:?}; known are libsvm, vw, csv, ndjson, arff and parquet")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert!("svm".parse::<Format>().unwrap_err().contains("libsvm"));
    }
}

//! Converts published files to the form that `run` and `reproduce` read: text, compressed by gzip.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use bzip2::bufread::MultiBzDecoder;
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use noregret_stream::{Fault, Replacement, fault};
use sha2::{Digest, Sha256};

use super::{Made, hexadecimal};

/// The kind of conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One file: the lines of all originals, without trailing blanks.
    Lines,
    /// Two files: with a header, and scaled to [0, 1].
    Covtype,
    /// One file: the documents with exactly one of four topics, from the list of topics and the
    /// vectors.
    Reuters4,
}

/// A converted file.
#[derive(Debug)]
pub struct Ready {
    /// Where it is.
    pub path: PathBuf,
    /// The checksum of its text.
    pub sha256: String,
    /// Its number of rows.
    pub rows: u64,
}

/// Converts `originals` to the files `made`, in `folder`.
///
/// # Errors
/// If reading or writing fails, or a checksum differs.
pub fn prepare(form: Form, originals: &[PathBuf], made: &[Made], folder: &Path) -> Result<Vec<Ready>, Fault> {
    match form {
        Form::Lines => lines(originals, &made[0], folder).map(|ready| vec![ready]),
        Form::Covtype => Ok(vec![
            covtype_csv(&originals[0], &made[0], folder)?,
            covtype_scaled(&originals[0], &made[1], folder)?,
        ]),
        Form::Reuters4 => reuters4(originals, &made[0], folder).map(|ready| vec![ready]),
    }
}

/// Calls `each` with the lines of a file, without trailing blanks, and their numbers from 1. Empty
/// lines are skipped.
fn each_line(path: &Path, each: &mut dyn FnMut(u64, &str) -> Result<(), Fault>) -> Result<(), Fault> {
    let failure = |error: io::Error| fault!("{}: cannot be read: {error}", path.display());
    let mut file = BufReader::new(File::open(path).map_err(failure)?);
    let bytes: Box<dyn Read> = match file.fill_buf().map_err(failure)? {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
        [b'B', b'Z', b'h', ..] => Box::new(MultiBzDecoder::new(file)),
        _ => Box::new(file),
    };
    let (mut bytes, mut line, mut number) = (BufReader::new(bytes), String::new(), 0);
    loop {
        line.clear();
        number += 1;
        if bytes.read_line(&mut line).map_err(failure)? == 0 {
            return Ok(());
        }
        let line = line.trim_end();
        if !line.is_empty() {
            each(number, line)?;
        }
    }
}

/// A file of lines being written.
struct Lines {
    path: PathBuf,
    file: GzEncoder<Replacement>,
    hash: Sha256,
    rows: u64,
}

impl Lines {
    fn create(made: &Made, folder: &Path) -> Result<Self, Fault> {
        let path = folder.join(made.file);
        let file = Replacement::open(&path)
            .map_err(|error| fault!("{}: cannot be written: {error}", path.display()))?;
        Ok(Self { path, file: GzEncoder::new(file, Compression::best()), hash: Sha256::new(), rows: 0 })
    }

    fn line(&mut self, line: &str) -> Result<(), Fault> {
        self.rows += 1;
        self.hash.update(line);
        self.hash.update("\n");
        writeln!(self.file, "{line}")
            .map_err(|error| fault!("{}: cannot be written: {error}", self.path.display()))
    }

    /// Completes the file, if its checksum is right.
    fn finish(self, made: &Made) -> Result<Ready, Fault> {
        let Self { path, file, hash, rows } = self;
        let sha256 = hexadecimal(&hash.finalize());
        if let Some(wanted) = made.sha256.filter(|wanted| *wanted != sha256) {
            return Err(fault!(
                "{}: was not written: its text would have SHA-256 {sha256}, and {wanted} was needed",
                path.display()
            ));
        }
        file.finish()
            .and_then(Replacement::finish)
            .map_err(|error| fault!("{}: cannot be written: {error}", path.display()))?;
        Ok(Ready { path, sha256, rows })
    }
}

fn lines(originals: &[PathBuf], made: &Made, folder: &Path) -> Result<Ready, Fault> {
    let mut out = Lines::create(made, folder)?;
    for original in originals {
        each_line(original, &mut |_, line| out.line(line))?;
    }
    out.finish(made)
}

/// Numeric columns of covtype, before those of 0 and 1.
const COVTYPE_COLUMNS: [&str; 10] = [
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
];

fn covtype_csv(original: &Path, made: &Made, folder: &Path) -> Result<Ready, Fault> {
    let mut out = Lines::create(made, folder)?;
    let areas = (1..=4).map(|at| format!("Wilderness_Area{at}"));
    let soils = (1..=40).map(|at| format!("Soil_Type{at}"));
    let names = COVTYPE_COLUMNS.map(str::to_owned).into_iter().chain(areas).chain(soils);
    out.line(&names.chain(["Cover_Type".to_owned()]).collect::<Vec<_>>().join(","))?;
    each_line(original, &mut |_, line| out.line(line))?;
    let ready = out.finish(made)?;
    Ok(Ready { rows: ready.rows - 1, ..ready })
}

/// Scales every feature from its range over all rows to [0, 1], with six significant digits; the
/// class is the last column.
fn covtype_scaled(original: &Path, made: &Made, folder: &Path) -> Result<Ready, Fault> {
    let numbers = |number: u64, line: &str, into: &mut Vec<f64>| {
        into.clear();
        for cell in line.split(',') {
            let failure = || fault!("{}: line {number}: {cell:?} is no number", original.display());
            into.push(cell.parse().map_err(|_| failure())?);
        }
        Ok::<_, Fault>(())
    };
    let (mut row, mut ranges) = (Vec::new(), Vec::<(f64, f64)>::new());
    each_line(original, &mut |number, line| {
        numbers(number, line, &mut row)?;
        ranges.resize(row.len().max(ranges.len()), (f64::INFINITY, f64::NEG_INFINITY));
        for (value, (least, most)) in row.iter().zip(&mut ranges) {
            (*least, *most) = (least.min(*value), most.max(*value));
        }
        Ok(())
    })?;
    let (mut out, mut text) = (Lines::create(made, folder)?, String::new());
    each_line(original, &mut |number, line| {
        numbers(number, line, &mut row)?;
        let class = row.pop().unwrap_or_default();
        text.clear();
        let _ = write!(text, "{class}");
        for (index, (value, (least, most))) in (1..).zip(row.iter().zip(&ranges)) {
            let scaled = (value - least) / (most - least);
            if scaled > 0.0 {
                let _ = write!(text, " {index}:{}", six_digits(scaled));
            }
        }
        out.line(&text)
    })?;
    out.finish(made)
}

/// A number in (0, 1] with six significant digits, without trailing zeros.
fn six_digits(value: f64) -> String {
    let rounded = format!("{value:.5e}");
    let exponent: i32 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let text = format!("{value:.*}", (5 - exponent).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The four topics at the top of RCV1's hierarchy; classes are numbered from 1.
const TOPICS: [&str; 4] = ["CCAT", "ECAT", "GCAT", "MCAT"];

/// The list has lines `TOPIC DOCUMENT 1`, the vectors `DOCUMENT  FEATURE:VALUE …`.
fn reuters4(originals: &[PathBuf], made: &Made, folder: &Path) -> Result<Ready, Fault> {
    let (topics, vectors) = originals.split_first().ok_or("reuters4 has no files")?;
    // A bit for each of the four topics.
    let mut of_document: HashMap<u32, u8> = HashMap::new();
    let misread = |path: &Path, number: u64, line: &str| {
        let line: String = line.chars().take(40).collect();
        fault!("{}: line {number}: {line:?} is not of RCV1's format", path.display())
    };
    each_line(topics, &mut |number, line| {
        let mut words = line.split(' ');
        let failure = || misread(topics, number, line);
        let (topic, document) = words.next().zip(words.next()).ok_or_else(failure)?;
        let document: u32 = document.parse().map_err(|_| failure())?;
        if let Some(class) = TOPICS.iter().position(|name| *name == topic) {
            *of_document.entry(document).or_default() |= 1 << class;
        }
        Ok(())
    })?;
    let mut out = Lines::create(made, folder)?;
    for path in vectors {
        each_line(path, &mut |number, line| {
            let failure = || misread(path, number, line);
            let (document, features) = line.split_once(' ').ok_or_else(failure)?;
            let document: u32 = document.parse().map_err(|_| failure())?;
            let topics = of_document.get(&document).copied().unwrap_or(0);
            if topics.count_ones() == 1 {
                out.line(&format!("{} {}", topics.trailing_zeros() + 1, features.trim_start()))?;
            }
            Ok(())
        })?;
    }
    out.finish(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes `made` of files of these texts; what the first one then holds.
    fn made_of(form: Form, texts: &[&str], made: &[Made]) -> Result<(Vec<Ready>, String), Fault> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let original = |(at, text): (usize, &&str)| {
            let path = folder.path().join(at.to_string());
            std::fs::write(&path, text).expect("writable");
            path
        };
        let originals: Vec<PathBuf> = texts.iter().enumerate().map(original).collect();
        let ready = prepare(form, &originals, made, folder.path())?;
        let mut text = String::new();
        let last = &ready.last().expect("something is made").path;
        MultiGzDecoder::new(BufReader::new(File::open(last).expect("was made")))
            .read_to_string(&mut text)
            .expect("compressed text");
        Ok((ready, text))
    }

    const MADE: Made = Made { file: "made.gz", rows: 2, sha256: None };

    #[test]
    fn lines_lose_the_blanks_at_their_ends() {
        let (ready, text) = made_of(Form::Lines, &["1 1:2 \r\n", "2 3:4"], &[MADE]).expect("can be made");
        assert_eq!((text.as_str(), ready[0].rows), ("1 1:2\n2 3:4\n", 2));
        let wrong = Made { sha256: Some("00"), ..MADE };
        let error = made_of(Form::Lines, &["1 1:2\n"], &[wrong]).expect_err("another checksum");
        assert!(
            error.to_string().contains("was not written") && error.to_string().ends_with("and 00 was needed"),
            "{error}"
        );
    }

    #[test]
    fn covtype_is_scaled_by_columns() {
        let csv = Made { file: "csv.gz", ..MADE };
        let (ready, text) =
            made_of(Form::Covtype, &["10,5,1\n40,5,2\n20,6,1\n"], &[csv, MADE]).expect("can be made");
        assert_eq!(text, "1\n2 1:1\n1 1:0.333333 2:1\n");
        assert_eq!(ready.iter().map(|ready| ready.rows).collect::<Vec<_>>(), [3, 3]);
        let error = made_of(Form::Covtype, &["1,x,2\n"], &[csv, MADE]).expect_err("no number");
        assert!(error.to_string().ends_with("line 1: \"x\" is no number"), "{error}");
    }

    #[test]
    fn documents_with_one_of_the_four_topics_remain() {
        let topics = "CCAT 2 1\nC15 2 1\nECAT 3 1\nGCAT 3 1\nMCAT 5 1\n";
        let (ready, text) =
            made_of(Form::Reuters4, &[topics, "2  7:0.5 9:0.25\n3  1:1\n", "4  1:1\n5  2:0.5\n"], &[MADE])
                .expect("can be made");
        assert_eq!((text.as_str(), ready[0].rows), ("1 7:0.5 9:0.25\n4 2:0.5\n", 2));
        let error = made_of(Form::Reuters4, &["<html>", "2  7:1"], &[MADE]).expect_err("no list of topics");
        assert!(error.to_string().contains("line 1") && error.to_string().contains("RCV1"), "{error}");
    }

    #[test]
    fn six_digits_are_significant() {
        for (value, text) in [(1.0, "1"), (1.0 / 3.0, "0.333333"), (0.000_139_41, "0.00013941"), (0.5, "0.5")]
        {
            assert_eq!(six_digits(value), text);
        }
    }

    /// The file that the results are from has the checksum that is demanded of what is made.
    #[test]
    #[ignore = "slow: half a million rows, twice"]
    fn covtype_becomes_what_the_results_are_from() {
        let Some(csv) = noregret_testdata::data("covtype.csv.gz") else { return };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let original = folder.path().join("covtype.data");
        let mut data = File::create(&original).expect("writable");
        each_line(&csv, &mut |number, line| {
            if number > 1 {
                writeln!(data, "{line}").expect("writable");
            }
            Ok(())
        })
        .expect("readable");
        let set = super::super::find("covtype").expect("there is");
        let ready = prepare(set.form, &[original], set.made, folder.path()).expect("the checksums agree");
        assert!(ready.iter().zip(set.made).all(|(ready, made)| ready.rows == made.rows));
    }
}

//! Laws of all readers: what is written is read back, and no bytes make one panic.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

use noregret_stream::{
    Columns, Format, LabelType, Missing, ReadError, ReadErrorKind, ReadOptions, Reader, Row, RowLabel,
    create, from_read, label_of_number, open,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// Output that the test keeps a hand on.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn write(format: Format, rows: &[Row], columns: &Columns) -> Vec<u8> {
    let out = Shared::default();
    let mut writer = create(format, Box::new(out.clone()));
    for row in rows {
        writer.write(row, columns).unwrap();
    }
    writer.flush().unwrap();
    let bytes = out.0.lock().unwrap();
    bytes.clone()
}

#[derive(Clone, Copy, Debug)]
enum Packing {
    Plain,
    Gzip,
    /// Two members, cut anywhere.
    TwoGzips,
    Zstd,
}

fn pack(bytes: &[u8], packing: Packing) -> Vec<u8> {
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    match packing {
        Packing::Plain => bytes.to_vec(),
        Packing::Gzip => gzip(bytes),
        Packing::TwoGzips => {
            let (first, second) = bytes.split_at(bytes.len() / 3);
            [gzip(first), gzip(second)].concat()
        }
        Packing::Zstd => zstd::encode_all(bytes, 1).unwrap(),
    }
}

fn packing() -> impl Strategy<Value = Packing> {
    prop_oneof![Just(Packing::Plain), Just(Packing::Gzip), Just(Packing::TwoGzips), Just(Packing::Zstd)]
}

/// A row with its features by name, in the order of the names.
#[derive(Debug, PartialEq)]
struct Plain {
    label: String,
    weight: f64,
    tag: String,
    features: Vec<(String, u64)>,
}

fn plain(row: &Row, columns: &Columns) -> Plain {
    let features = row.indices().iter().zip(row.values());
    let mut features: Vec<_> =
        features.map(|(&index, value)| (columns.name(index).into_owned(), value.to_bits())).collect();
    features.sort();
    Plain { label: format!("{:?}", row.label()), weight: row.weight, tag: row.tag.clone(), features }
}

fn read_all(reader: &mut dyn Reader) -> Result<Vec<Row>, ReadError> {
    let (mut row, mut rows) = (Row::new(), vec![]);
    while reader.read(&mut row)? {
        rows.push(row.clone());
    }
    Ok(rows)
}

/// Writes and reads; `rename` makes of a written name the one that is read.
fn round_trip(
    rows: &[Row],
    columns: &Columns,
    packing: Packing,
    options: &ReadOptions,
    rename: fn(&str) -> String,
) -> Result<(), TestCaseError> {
    let format = options.format.unwrap();
    let text = write(format, rows, columns);
    let mut reader = from_read(Box::new(Cursor::new(pack(&text, packing))), "a", options).unwrap();
    let found = read_all(&mut *reader).unwrap();
    let found: Vec<Plain> = found.iter().map(|row| plain(row, reader.columns())).collect();
    let expected = rows.iter().map(|row| {
        let mut row = plain(row, columns);
        row.features.iter_mut().for_each(|(name, _)| *name = rename(name));
        row.features.sort();
        row
    });
    prop_assert_eq!(found, expected.collect::<Vec<_>>(), "{}", String::from_utf8_lossy(&text));
    Ok(())
}

fn value() -> impl Strategy<Value = f64> {
    let any = any::<f64>().prop_filter("finite, not zero", |value| value.is_finite() && *value != 0.0);
    prop_oneof![any, (1..9_i32).prop_map(f64::from)]
}

fn label(text: &'static str) -> impl Strategy<Value = Option<String>> {
    let name =
        prop_oneof![any::<i32>().prop_map(|n| n.to_string()), any::<f32>().prop_map(|x| x.to_string()), text];
    let is_label = |name: &String| !Missing::default().is_label(name) && label_of_number(name).is_some();
    proptest::option::of(name.prop_filter("finite, not missing", is_label))
}

fn row_of(label: Option<&str>, features: impl IntoIterator<Item = (u32, f64)>) -> Row {
    let mut row = Row::new();
    if let Some(label) = label {
        row.set_name(&label_of_number(label).expect("finite"));
    }
    features.into_iter().for_each(|(column, value)| row.push(column, value));
    row.sum_duplicates().unwrap();
    row
}

const WIDTH: u32 = 6;

/// Rows over `WIDTH` columns.
fn rows(text: &'static str) -> impl Strategy<Value = Vec<Row>> {
    let row = (label(text), btree_map(0..WIDTH, value(), 0..6));
    vec(row.prop_map(|(label, features)| row_of(label.as_deref(), features)), 1..20)
}

/// Columns with `WIDTH` different names.
fn names(name: &'static str) -> impl Strategy<Value = Columns> {
    proptest::collection::btree_set(name, WIDTH as usize).prop_map(|names| {
        let names: Vec<String> = names.into_iter().collect();
        Columns::Named(names.try_into().unwrap())
    })
}

fn options(format: Format) -> ReadOptions {
    ReadOptions { format: Some(format), ..ReadOptions::default() }
}

proptest! {
    #[test]
    fn libsvm_reads_what_it_writes(rows in rows("[a-zé_]{1,5}"), base in 0..=1_u32, packing in packing()) {
        let kept: Vec<Row> =
            rows.into_iter().filter(|row| !row.indices().is_empty() || row.label() != RowLabel::Missing).collect();
        prop_assume!(!kept.is_empty());
        let columns = Columns::Numbered { base, count: WIDTH };
        let options = ReadOptions { index_base: Some(base), ..options(Format::Libsvm) };
        round_trip(&kept, &columns, packing, &options, str::to_owned)?;
    }

    #[test]
    fn vw_reads_what_it_writes(
        mut rows in rows("[a-zé_]{1,5}"),
        columns in names("[a-z^=é#0-9_.']{1,5}"),
        costs in vec(("[a-z0-9]{1,3}", proptest::option::of(-9.0..9.0), proptest::option::of(0.0..=1.0)), 1..4),
        extra in vec((0.0..9.0, "[a-z'#/]{0,3}"), 20),
        packing in packing(),
    ) {
        prop_assume!(costs.iter().all(|(action, ..)| label_of_number(action).is_some()));
        // Labels of other kinds begin so.
        prop_assume!(!rows.iter().any(|row| matches!(row.label(), RowLabel::Name("ca" | "ccb"))));
        for (row, (weight, tag)) in rows.iter_mut().zip(extra) {
            row.tag = tag;
            if let RowLabel::Name(_) = row.label() {
                row.weight = weight;
            } else {
                costs.iter().for_each(|(action, cost, probability)| {
                    let action = label_of_number(action).expect("finite");
                    row.push_cost_as(&action, LabelType::Figure, *cost, *probability);
                });
            }
        }
        round_trip(&rows, &columns, packing, &options(Format::Vw), str::to_owned)?;
    }

    #[test]
    fn csv_reads_what_it_writes(
        rows in rows("[a-z\",;|é]( ?[a-z\",é]){0,3}"),
        columns in names("[A-Z\",;|é]( ?[A-Z\"]){0,3}"),
        packing in packing(),
    ) {
        // The default names of a label would take the place of the column `label`.
        let options = ReadOptions {
            label: Some("label".into()),
            header: Some(true),
            // Names that are all quotes and delimiters can mislead its recognition.
            delimiter: Some(b','),
            ..options(Format::Csv)
        };
        prop_assume!(columns.index_of("LABEL").is_none());
        round_trip(&rows, &columns, packing, &options, str::to_owned)?;
    }

    #[test]
    fn numbered_csv_needs_no_options(rows in rows("[a-z]{1,5}"), packing in packing()) {
        let columns = Columns::Numbered { base: 1, count: WIDTH };
        round_trip(&rows, &columns, packing, &options(Format::Csv), |name| format!("x{name}"))?;
    }

    #[test]
    fn ndjson_reads_what_it_writes(
        mut rows in rows("\\PC{1,5}"),
        columns in prop_oneof![names("(?s).{0,5}"), Just(Columns::Numbered { base: 0, count: WIDTH })],
        extra in vec((0.0..9.0, "(?s).{0,5}", vec(0.0..1.0_f64, 1..5)), 20),
        packing in packing(),
    ) {
        for (row, (weight, tag, shares)) in rows.iter_mut().zip(extra) {
            (row.weight, row.tag) = (weight, tag);
            let sum: f64 = shares.iter().sum();
            let blank = matches!(row.label(), RowLabel::Name(name) if name.trim() != name);
            if (row.label() == RowLabel::Missing || blank) && sum > 0.0 {
                row.set_distribution(shares.iter().map(|share| share / sum));
            } else if blank {
                row.set_name("a");
            }
        }
        round_trip(&rows, &columns, packing, &options(Format::Ndjson), str::to_owned)?;
    }

    #[test]
    fn no_bytes_make_a_reader_panic(
        bytes in prop_oneof![
            vec(any::<u8>(), 0..300),
            "[0-9a-c:|,;.{}\\[\\]\"'#\\- \r\n\t]{0,300}".prop_map(String::into_bytes),
        ],
        format in proptest::option::of(proptest::sample::select(Format::TEXT.to_vec())),
        packing in packing(),
    ) {
        let options = ReadOptions { format, ..ReadOptions::default() };
        if let Ok(mut reader) = from_read(Box::new(Cursor::new(pack(&bytes, packing))), "a", &options) {
            let mut row = Row::new();
            loop {
                match reader.read(&mut row) {
                    Ok(false) => break,
                    Ok(true) => {
                        prop_assert!(row.indices().is_sorted_by(|a, b| a < b));
                        prop_assert!(row.values().iter().all(|value| value.is_finite()));
                        prop_assert!(row.indices().iter().all(|&index| index < reader.columns().count()));
                    }
                    Err(error) => {
                        prop_assert!(!error.to_string().contains('\n'));
                        if !error.is_row_error() {
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// Opens a file with these bytes; the error, without the directory.
fn opened(name: &str, bytes: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let result = open(path, &ReadOptions::default()).and_then(|mut reader| read_all(&mut *reader));
    let error = result.expect_err(name).to_string();
    error.strip_prefix(dir.path().to_str().unwrap()).unwrap()[1..].to_owned()
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let svm = b"1 1:0.5\n2 1:0.25\n";
    let gzipped = pack(svm, Packing::Gzip);
    let half = &gzipped[..gzipped.len() - 5];
    let cases: [(&str, &[u8], &str); 12] = [
        ("empty.svm", b"", "empty.svm: has no rows"),
        ("blank.csv", b" \n\r\n", "blank.csv: has no rows"),
        ("a.svm.gz", half, "a.svm.gz: gzip data end in the middle; the file is cut off"),
        ("a.svm", half, "a.svm: gzip data end in the middle; the file is cut off"),
        (
            "a.zip",
            b"PK\x03\x04....",
            "a.zip: is a zip archive or a workbook; unpack it, or write a sheet as CSV",
        ),
        ("a.txt", b"word\nword\n", "a.txt: has no format that is recognised"),
        ("a.csv", b"1\n2\n", "a.csv: has a single column"),
        ("a.svm", b"1 1:1\n1 3:1 2:1\n", "a.svm:2: feature index 2 follows 3; LIBSVM indices must increase"),
        (
            "a.vw",
            b"1 | a\n1 | a:x:b c:\n",
            "a.vw:2: the value of feature \"c:\" is not a number; one without a value has no colon, and a missing number is nan",
        ),
        ("a.csv", b"a,y\n1,b\n1\n", "a.csv:3: the row has 1 cell, not 2 as the first row"),
        (
            "a.jsonl",
            b"{\"a\": 1}\n{\n",
            "a.jsonl:2: is not a JSON object: EOF while parsing an object at character 1; one object a line was needed, as jq -c . writes \
             them, and jq -c '.data[]' those of a list under the key data",
        ),
        ("a.vw", b"1 | a\n1 | \xff\n", "a.vw:2: the row is not UTF-8 text"),
    ];
    for (name, bytes, error) in cases {
        assert_eq!(opened(name, bytes), error);
    }
    let error = |path: &str| open(path, &ReadOptions::default()).err().unwrap();
    assert!(matches!(error("no/such.csv").kind(), ReadErrorKind::NotFound));
    assert!(matches!(error(env!("CARGO_MANIFEST_DIR")).kind(), ReadErrorKind::IsDirectory));
}

#[test]
fn damaged_gzip_is_an_error_of_the_file() {
    let text: String = (0..5000).map(|n| format!("{} 1:{}\n", n % 3, n * n)).collect();
    let mut bytes = pack(text.as_bytes(), Packing::Gzip);
    let end = bytes.len() - 6;
    bytes[end] ^= 1;
    let mut reader = from_read(Box::new(Cursor::new(bytes)), "a", &ReadOptions::default()).unwrap();
    let error = read_all(&mut *reader).unwrap_err();
    assert!(matches!(error.kind(), ReadErrorKind::Corrupt { .. }) && !error.is_row_error(), "{error}");
    assert!(!reader.read(&mut Row::new()).unwrap());
}

/// The results of a reader, row by row, to its end.
fn trail(reader: &mut dyn Reader) -> Vec<String> {
    let (mut row, mut steps) = (Row::new(), vec![]);
    loop {
        let read = reader.read(&mut row);
        let step = match &read {
            Ok(true) => {
                let bits: Vec<u64> = row.values().iter().map(|value| value.to_bits()).collect();
                let (label, weight) = (row.label(), row.weight);
                format!("{} {label:?} {weight} {:?} {:?} {bits:?}", row.line, row.tag, row.indices())
            }
            Ok(false) => "end".to_owned(),
            Err(error) => error.to_string(),
        };
        steps.push(format!("{} {} {step}", reader.columns().count(), reader.dropped_features()));
        if matches!(read, Ok(false)) {
            assert!(!reader.read(&mut row).unwrap(), "the end stays the end");
            return steps;
        }
    }
}

/// A thousand rows and more of each format, with new columns on the way, and a bad row now and then.
fn long_texts() -> [(&'static str, String); 4] {
    let lines = |line: fn(u32) -> String| (0..3000).map(|n| line(n) + "\n").collect::<String>();
    [
        (
            "a.svm",
            lines(|n| {
                if n % 700 == 650 {
                    "1 2:x".into()
                } else {
                    format!("{} {}:0.25 {}:{n}", n % 3, n / 9 + 1, n + 5)
                }
            }),
        ),
        (
            "a.vw",
            lines(|n| {
                if n % 700 == 650 { "1 | new:1:2".into() } else { format!("{} | a{} b:{n}.5", n % 3, n / 7) }
            }),
        ),
        (
            "a.csv",
            lines(
                |n| {
                    if n % 700 == 650 { "1,2".into() } else { format!("{n},v{},{}", n % 13 + n / 400, n % 3) }
                },
            ),
        ),
        (
            "a.ndjson",
            lines(|n| {
                if n % 700 == 650 {
                    "{".into()
                } else {
                    format!("{{\"x\": {{\"k{}\": {n}}}, \"y\": {}}}", n / 11, n % 3)
                }
            }),
        ),
    ]
}

#[test]
fn reading_ahead_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in long_texts() {
        for packing in [Packing::Plain, Packing::TwoGzips, Packing::Zstd] {
            let path = folder.path().join(name);
            let mut bytes = pack(text.as_bytes(), packing);
            for cut in [0, 9] {
                bytes.truncate(bytes.len() - cut);
                std::fs::write(&path, &bytes).unwrap();
                let path = path.to_str().unwrap();
                let mut options = ReadOptions::default();
                for _ in 0..2 {
                    let file = Box::new(std::fs::File::open(path).unwrap());
                    let (mut ahead, mut plain) = match (open(path, &options), from_read(file, path, &options))
                    {
                        (Ok(ahead), Ok(plain)) => (ahead, plain),
                        (ahead, plain) => {
                            // Too little is left of it to begin.
                            assert_eq!(ahead.err().unwrap().to_string(), plain.err().unwrap().to_string());
                            assert!(cut > 0);
                            continue;
                        }
                    };
                    assert_eq!(ahead.describe(), plain.describe());
                    let (ahead_trail, plain_trail) = (trail(&mut *ahead), trail(&mut *plain));
                    let differs = ahead_trail.iter().zip(&plain_trail).find(|(a, b)| a != b);
                    assert!(differs.is_none(), "{name} {packing:?}: {differs:?}");
                    assert_eq!(ahead_trail.len(), plain_trail.len());
                    assert!((plain_trail.len() > 3000 || cut > 0) && ahead.schema() == plain.schema());
                    assert_eq!(ahead.position(), plain.position(), "{name} {packing:?}");
                    // Again with half of the columns known: the others are dropped and counted.
                    let mut schema = plain.schema();
                    schema.columns = match schema.columns {
                        Columns::Numbered { base, count } => Columns::Numbered { base, count: count / 2 },
                        Columns::Named(names) => {
                            let half: Vec<String> =
                                names.iter().take(names.len() as usize / 2 + 1).map(str::to_owned).collect();
                            Columns::Named(half.try_into().unwrap())
                        }
                        columns => columns,
                    };
                    options.schema = Some(schema);
                }
            }
        }
    }
}

#[test]
fn kept_rows_are_those_of_a_second_reading() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in long_texts() {
        let path = folder.path().join(name);
        let file = path.to_str().unwrap();
        let good: String = text
            .lines()
            .enumerate()
            .filter(|(n, _)| n % 700 != 650)
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        for packing in [Packing::Plain, Packing::Gzip] {
            std::fs::write(&path, pack(good.as_bytes(), packing)).unwrap();
            let options = ReadOptions::default();
            let mut first = open(file, &options).unwrap();
            first.keep(1 << 20);
            assert!(first.again().is_none(), "nothing was read");
            first.keep(1 << 20);
            trail(&mut *first);
            let mut second = open(file, &ReadOptions { schema: Some(first.schema()), ..options }).unwrap();
            let expected = trail(&mut *second);
            // Whatever becomes of the file in the meantime.
            std::fs::write(&path, "1,2 | 3\n").unwrap();
            let mut again = first.again().expect("enough memory");
            assert_eq!((again.schema(), again.size()), (second.schema(), second.size()));
            let found = trail(&mut *again);
            let differs = found.iter().zip(&expected).find(|(a, b)| a != b);
            assert!(differs.is_none() && found.len() == expected.len(), "{name} {packing:?}: {differs:?}");
            assert_eq!((again.schema(), again.position()), (second.schema(), second.position()));
            assert!(first.again().is_none() && again.again().is_none(), "there is one second reading");
        }
        // Too many of them, or not all of them good.
        for (text, bytes) in [(&good, 1000), (&text, 1 << 20)] {
            std::fs::write(&path, text).unwrap();
            let mut reader = open(file, &ReadOptions::default()).unwrap();
            reader.keep(bytes);
            trail(&mut *reader);
            assert!(reader.again().is_none(), "{name} {bytes}");
        }
    }
}

#[test]
fn a_reader_can_be_dropped_at_any_row() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in long_texts() {
        let path = folder.path().join(format!("{name}.gz"));
        std::fs::write(&path, pack(text.as_bytes(), Packing::Gzip)).unwrap();
        for rows in [0, 1, 513] {
            let mut reader = open(path.to_str().unwrap(), &ReadOptions::default()).unwrap();
            for _ in 0..rows {
                assert!(reader.read(&mut Row::new()).unwrap());
            }
        }
    }
}

/// A number that the data name as missing is one in every format; a feature that a row does not name is none.
#[test]
fn missing_numbers_are_named_in_every_format() {
    let objects = |hole: &str| {
        format!(
            "{{\"a\":0.5,\"b\":2.25,\"label\":\"p\"}}\n{{\"a\":-2.25,{hole}\"label\":\"q\"}}\n{{\"a\":1.75,\"b\":-6.5,\"label\":\"p\"}}\n"
        )
    };
    let arff = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute label {p,q}\n@data\n";
    let files = [
        ("a.csv", "a,b,label\n0.5,2.25,p\n-2.25,,q\n1.75,-6.5,p\n".to_owned(), true),
        ("a.csv", "a,b,label\n0.5,2.25,p\n-2.25,NA,q\n1.75,-6.5,p\n".to_owned(), true),
        ("a.ndjson", objects("\"b\":null,"), true),
        ("a.ndjson", objects("\"b\":NaN,"), true),
        ("a.ndjson", objects(""), false),
        ("a.ndjson", "{\"x\":[0.5,2.25],\"y\":\"p\"}\n{\"x\":[-2.25,null],\"y\":\"q\"}\n".to_owned(), true),
        (
            "a.ndjson",
            "{\"_label\":1,\"a\":0.5,\"b\":2.25}\n{\"_label\":2,\"a\":-2.25,\"b\":null}\n".to_owned(),
            true,
        ),
        ("a.svm", "p 1:0.5 2:2.25\nq 1:-2.25 2:nan\n".to_owned(), true),
        ("a.svm", "p 1:0.5 2:2.25\nq 1:-2.25 2:NA\n".to_owned(), true),
        ("a.svm", "p 1:0.5 2:2.25\nq 1:-2.25\n".to_owned(), false),
        ("a.vw", "p | a:0.5 b:2.25\nq | a:-2.25 b:nan\n".to_owned(), true),
        ("a.vw", "p | a:0.5 b:2.25\nq | a:-2.25\n".to_owned(), false),
        ("a.arff", format!("{arff}0.5,2.25,p\n-2.25,?,q\n1.75,-6.5,p\n"), true),
        ("a.arff", format!("{arff}{{0 0.5, 1 2.25}}\n{{0 -2.25, 1 ?, 2 q}}\n"), true),
        ("a.arff", format!("{arff}{{0 0.5, 1 2.25}}\n{{0 -2.25, 2 q}}\n"), false),
    ];
    let none: &[u32] = &[];
    for (name, text, is_named) in files {
        let input = Box::new(Cursor::new(text.clone().into_bytes()));
        let (mut reader, mut row) = (from_read(input, name, &ReadOptions::default()).unwrap(), Row::new());
        assert!(reader.read(&mut row).unwrap(), "{text}");
        assert_eq!((row.values(), row.missing()), (&[0.5, 2.25][..], none), "{text}");
        assert!(reader.read(&mut row).unwrap(), "{text}");
        let missing: &[u32] = if is_named { &[1] } else { none };
        assert_eq!((row.indices(), row.values(), row.missing()), (&[0][..], &[-2.25][..], missing), "{text}");
    }
}

/// A column of numbers may be called as a category of another column is: these are two features, of a saved
/// model, too.
#[test]
fn a_category_and_a_column_of_one_name_are_two_features() {
    let objects = "{\"hue\":\"red\",\"hue=red\":50.5,\"label\":\"p\"}\n{\"hue\":\"blue\",\"hue=red\":47.25,\"label\":\"q\"}\n";
    for (name, text) in [("a.csv", "hue,hue=red,label\nred,50.5,p\nblue,47.25,q\n"), ("a.ndjson", objects)] {
        let mut options = ReadOptions::default();
        for _ in 0..2 {
            let input = Box::new(Cursor::new(text.as_bytes().to_vec()));
            let (mut reader, mut row) = (from_read(input, name, &options).unwrap(), Row::new());
            assert!(reader.read(&mut row).unwrap());
            let called = |column: &u32| reader.columns().name(*column).into_owned();
            let called: Vec<String> = row.indices().iter().map(called).collect();
            assert_eq!(
                (called.join(" ").as_str(), row.values()),
                ("hue=red hue==red", &[50.5, 1.0][..]),
                "{name}"
            );
            assert!(reader.read(&mut row).unwrap());
            options = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
        }
    }
}

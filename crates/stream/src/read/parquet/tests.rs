use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;
use crate::read::open::{from_read, open};
use crate::read::row::RowLabel;

/// What a column of a test file holds: values, definition levels, repetition levels.
enum Column<'a> {
    Bool(&'a [bool]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Float(&'a [f32], &'a [i16], &'a [i16]),
    Double(&'a [f64], &'a [i16]),
    Text(&'a [&'a str], &'a [i16]),
}

/// Writes the same columns in every one of `groups` row groups.
fn write(path: &Path, schema: &str, groups: usize, columns: &[Column<'_>]) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::default());
    let mut file = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    for _ in 0..groups {
        let mut group = file.next_row_group().unwrap();
        for column in columns {
            let mut to = group.next_column().unwrap().unwrap();
            match column {
                Column::Bool(values) => to.typed::<BoolType>().write_batch(values, None, None),
                Column::Int32(values) => to.typed::<Int32Type>().write_batch(values, None, None),
                Column::Int64(values) => to.typed::<Int64Type>().write_batch(values, None, None),
                Column::Float(values, there, again) => {
                    to.typed::<FloatType>().write_batch(values, Some(there), Some(again))
                }
                Column::Double(values, there) => {
                    to.typed::<DoubleType>().write_batch(values, Some(there), None)
                }
                Column::Text(values, there) => {
                    let values: Vec<ByteArray> = values.iter().map(|text| ByteArray::from(*text)).collect();
                    to.typed::<ByteArrayType>().write_batch(&values, Some(there), None)
                }
            }
            .unwrap();
            to.close().unwrap();
        }
        group.close().unwrap();
    }
    file.close().unwrap();
}

/// Rows as `line label*weight name=value ...`, errors as their text without the folder.
fn read(reader: &mut dyn Reader) -> Vec<String> {
    let (mut row, mut rows) = (Row::new(), vec![]);
    loop {
        match reader.read(&mut row) {
            Ok(true) => {
                let label = match row.label() {
                    RowLabel::Name(name) => name,
                    _ => "?",
                };
                let mut text = format!("{} {label}*{}", row.line, row.weight);
                for (&index, value) in row.indices().iter().zip(row.values()) {
                    text.push_str(&format!(" {}={value}", reader.columns().name(index)));
                }
                rows.push(text);
            }
            Ok(false) => return rows,
            Err(error) => {
                let text = error.to_string();
                rows.push(text.rsplit_once('/').map_or(text.clone(), |(_, name)| name.to_owned()));
                if !error.is_row_error() {
                    return rows;
                }
            }
        }
    }
}

fn open_file(path: &Path, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    open(path.to_str().unwrap(), options)
}

const MIXED: &str = "message rows {
    optional double a; optional binary hue (UTF8); required int32 n; required int64 w; optional binary y (UTF8);
}";

fn mixed(path: &Path, groups: usize) {
    write(
        path,
        MIXED,
        groups,
        &[
            Column::Double(&[1.5, f64::NAN, -2.0], &[1, 0, 1, 1]),
            Column::Text(&["red", "", "blue"], &[1, 1, 0, 1]),
            Column::Int32(&[3, 0, -4, 5]),
            Column::Int64(&[1, 2, 1, 1]),
            Column::Text(&["x", "+1", "z"], &[1, 0, 1, 1]),
        ],
    );
}

#[test]
fn a_file_reads_as_the_same_csv() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    mixed(&path, 1);
    let options = ReadOptions { weight: Some("w".into()), ..ReadOptions::default() };
    let mut reader = open_file(&path, &options).unwrap();
    let text = "a,hue,n,w,y\n1.5,red,3,1,x\n,,0,2,\n,,-4,1,+1\n-2,blue,5,1,z\n";
    let mut csv = from_read(Box::new(std::io::Cursor::new(text)), "a.csv", &options).unwrap();
    let rows = read(&mut *reader);
    assert_eq!(rows[0], "1 x*1 a=1.5 n=3 hue=red=1");
    let in_csv: Vec<String> = read(&mut *csv);
    let unnumbered = |rows: &[String]| -> Vec<String> {
        rows.iter().map(|row| row.split_once(' ').unwrap().1.to_owned()).collect()
    };
    assert_eq!(unnumbered(&rows), unnumbered(&in_csv));
    assert_eq!(rows.len(), 4);
    let described: Vec<String> =
        reader.describe().iter().map(|(what, how)| format!("{what}: {how}")).collect();
    let expected = [
        "format: parquet",
        "label: column \"y\" (number 5)",
        "weight: column \"w\" (number 4)",
        "numeric columns: 2",
        "categorical columns: \"hue\"",
    ];
    assert_eq!(described, expected);

    // Either one's model reads the other.
    let schema =
        |reader: &dyn Reader| ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    assert_eq!(reader.schema().columns, csv.schema().columns);
    let mut crossed = open_file(&path, &schema(&*csv)).unwrap();
    assert_eq!(read(&mut *crossed), rows);
    let mut crossed = from_read(Box::new(std::io::Cursor::new(text)), "rows", &schema(&*reader)).unwrap();
    assert_eq!(read(&mut *crossed), in_csv);
}

#[test]
fn row_groups_and_batches_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    // Recognised by its first bytes.
    let path = folder.path().join("rows");
    mixed(&path, 1000);
    let mut reader = open_file(&path, &ReadOptions::default()).unwrap();
    let rows = read(&mut *reader);
    assert_eq!(rows.len(), 4000);
    assert_eq!(rows[3996], "3997 x*1 a=1.5 n=3 w=1 hue=red=1");
    assert_eq!(reader.position(), reader.size().unwrap());

    let many: Vec<i32> = (0..5000).collect();
    let schema = "message rows { required int32 a; required int32 y; }";
    write(&path, schema, 1, &[Column::Int32(&many), Column::Int32(&many)]);
    let rows = read(&mut *open_file(&path, &ReadOptions::default()).unwrap());
    assert_eq!((rows.len(), &*rows[4321]), (5000, "4322 4321*1 a=4321"));
}

#[test]
fn lists_bools_and_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pq");
    let schema = "message rows {
        optional group x (LIST) { repeated group list { optional float element; } }
        required group g { required boolean b; }
        required int64 y;
    }";
    // [1, 2], null, [], [null, 3], [4]
    let list = Column::Float(&[1.0, 2.0, 3.0, 4.0], &[3, 3, 0, 1, 2, 3, 3], &[0, 1, 0, 0, 0, 1, 0]);
    let bools = Column::Bool(&[true, false, true, false, true]);
    write(&path, schema, 1, &[list, bools, Column::Int64(&[1, 2, 1 << 60, 4, 5])]);
    let rows = read(&mut *open_file(&path, &ReadOptions::default()).unwrap());
    let expected = [
        "1 1*1 g.b=1 x[0]=1 x[1]=2",
        "2 2*1",
        "3 1152921504606846976*1 g.b=1",
        "4 4*1 x[1]=3",
        "5 5*1 g.b=1 x[0]=4",
    ];
    assert_eq!(rows, expected);
    let categorical = ReadOptions { categorical: vec!["g.b".into()], ..ReadOptions::default() };
    let rows = read(&mut *open_file(&path, &categorical).unwrap());
    assert_eq!(rows[1], "2 2*1 g.b=false=1");
    let label = ReadOptions { label: Some("x".into()), ..ReadOptions::default() };
    let error = open_file(&path, &label).err().unwrap().to_string();
    assert!(error.ends_with("a.pq: column \"x\" is a list; it can only be features"), "{error}");
}

#[test]
fn bad_cells_are_named_with_their_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let schema = "message rows { optional double a; optional double w; optional binary y (UTF8); }";
    write(
        &path,
        schema,
        1,
        &[
            Column::Double(&[1.0, f64::INFINITY, 1.0, 1.0, 2.0], &[1; 5]),
            Column::Double(&[1.0, 1.0, -1.0, 1.0, 2.0], &[1; 5]),
            Column::Text(&["x", "x", "x", "inf", "y"], &[1; 5]),
        ],
    );
    let options = ReadOptions { weight: Some("w".into()), ..ReadOptions::default() };
    let expected = [
        "1 x*1 a=1",
        "a.parquet:2: column \"a\": inf is not finite",
        "a.parquet:3: column \"w\": weight -1 is negative",
        "a.parquet:4: column \"y\": label \"inf\" is not finite",
        "5 y*2 a=2",
    ];
    assert_eq!(read(&mut *open_file(&path, &options).unwrap()), expected);
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let error = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = open_file(&path, &ReadOptions::default()).err().unwrap().to_string();
        error.rsplit_once('/').unwrap().1.to_owned()
    };
    assert_eq!(error("a.parquet", b"1,2\n3,4\n"), "a.parquet: is no Parquet file");
    assert_eq!(error("b.parquet", b""), "b.parquet: has no rows");
    let damaged = error("c", b"PAR1 and then nothing of use PAR1");
    assert!(damaged.starts_with("c: is not a readable Parquet file: "), "{damaged}");
    let piped = from_read(Box::new(&b"PAR1...."[..]), "-", &ReadOptions::default()).err().unwrap();
    assert!(piped.to_string().contains("it must be a file, not a pipe"), "{piped}");
}

#[test]
fn written_rows_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let columns = Columns::Numbered { base: 1, count: 3 };
    let mut writer = crate::write::create(Format::Parquet, Box::new(File::create(&path).unwrap()));
    for number in 0..3000_u32 {
        let mut row = Row::new();
        row.push(number % 3, 0.1 * f64::from(number + 1));
        if number % 7 != 0 {
            row.set_name(&(number % 5).to_string());
        }
        writer.write(&row, &columns).unwrap();
    }
    writer.flush().unwrap();
    assert!(writer.write(&Row::new(), &columns).unwrap_err().to_string().ends_with("the file is complete"));
    drop(writer);
    let rows = read(&mut *open_file(&path, &ReadOptions::default()).unwrap());
    assert_eq!(rows.len(), 3000);
    assert_eq!((&*rows[0], &*rows[2999]), ("1 ?*1 x1=0.1", "3000 4*1 x3=300"));
}

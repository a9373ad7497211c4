mod maps;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;
use crate::read::columns::Columns;
use crate::read::open::{from_read, open};
use crate::read::reader::sentences;
use crate::read::row::RowLabel;
use crate::testing::{by_line, read_all};

/// What a column of a test file holds: values, definition levels, repetition levels.
enum Column<'a> {
    Bool(&'a [bool]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Int96(&'a [[u32; 3]]),
    Float(&'a [f32], &'a [i16], &'a [i16]),
    Double(&'a [f64], &'a [i16]),
    Text(&'a [&'a str], &'a [i16]),
    Texts(&'a [&'a str], &'a [i16], &'a [i16]),
    Fixed(&'a [Vec<u8>]),
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
                Column::Int96(values) => {
                    let values: Vec<Int96> = values.iter().map(|value| Int96::from(value.to_vec())).collect();
                    to.typed::<Int96Type>().write_batch(&values, None, None)
                }
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
                Column::Texts(values, there, again) => {
                    let values: Vec<ByteArray> = values.iter().map(|text| ByteArray::from(*text)).collect();
                    to.typed::<ByteArrayType>().write_batch(&values, Some(there), Some(again))
                }
                Column::Fixed(values) => {
                    let values: Vec<FixedLenByteArray> = values.iter().cloned().map(Into::into).collect();
                    to.typed::<FixedLenByteArrayType>().write_batch(&values, None, None)
                }
            }
            .unwrap();
            to.close().unwrap();
        }
        group.close().unwrap();
    }
    file.close().unwrap();
}

/// Errors are without the folder.
fn read(reader: &mut dyn Reader) -> Vec<String> {
    let mut rows = read_all(reader, by_line);
    for row in &mut rows {
        *row = row.rsplit_once('/').map_or(row.clone(), |(_, name)| name.to_owned());
    }
    rows
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
    // Not in order, which would be numbers of rows.
    let mixed_up: Vec<i32> = many.iter().map(|number| number * 7 % 5000).collect();
    write(&path, schema, 1, &[Column::Int32(&mixed_up), Column::Int32(&many)]);
    let rows = read(&mut *open_file(&path, &ReadOptions::default()).unwrap());
    assert_eq!((rows.len(), &*rows[4321]), (5000, "4322 4321*1 a=247"));
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
        "1 1*1 x[0]=1 x[1]=2 g.b=true=1",
        "2 2*1 g.b=false=1",
        "3 1152921504606846976*1 g.b=true=1",
        "4 4*1 x[1]=3 g.b=false=1",
        "5 5*1 x[0]=4 g.b=true=1",
    ];
    assert_eq!(rows, expected);
    let numeric = ReadOptions { numeric: vec!["g.b".into(), "x".into()], ..ReadOptions::default() };
    let mut reader = open_file(&path, &numeric).unwrap();
    assert_eq!(read(&mut *reader)[..2], ["1 1*1 g.b=1 x[0]=1 x[1]=2", "2 2*1"]);
    // A saved model keeps the kinds.
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    assert_eq!(read(&mut *open_file(&path, &saved).unwrap())[4], "5 5*1 g.b=1 x[0]=4");
    let without = ReadOptions { drop: vec!["x".into()], ..ReadOptions::default() };
    assert_eq!(read(&mut *open_file(&path, &without).unwrap())[0], "1 1*1 g.b=true=1");
    let as_text = ReadOptions { text: vec!["x".into()], ..ReadOptions::default() };
    let error = open_file(&path, &as_text).err().unwrap().to_string();
    let sentence = "column \"x\" is a list of numbers; it can be numeric or left out, not text";
    assert!(error.ends_with(sentence), "{error}");
    let label = ReadOptions { label: Some("x".into()), ..ReadOptions::default() };
    let error = open_file(&path, &label).err().unwrap().to_string();
    assert!(error.ends_with("a.pq: column \"x\" is a list; it can only be features"), "{error}");
}

#[test]
fn groups_in_lists_are_lists_of_their_fields() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pq");
    let schema = "message rows {
        optional group items (LIST) { repeated group list { optional group element {
            required float price; required binary tag (UTF8);
        } } }
        optional group old (LIST) { repeated float array; }
        required group g { repeated float plain; }
        required int64 y;
    }";
    // Two items, then one; lists of one number each.
    let price = Column::Float(&[1.0, 2.0, 3.0], &[3, 3, 3], &[0, 1, 0]);
    let tag = Column::Texts(&["a", "b", "c"], &[3, 3, 3], &[0, 1, 0]);
    let old = Column::Float(&[7.0, 8.0], &[2, 2], &[0, 0]);
    let plain = Column::Float(&[5.0, 6.0], &[1, 1], &[0, 0]);
    write(&path, schema, 1, &[price, tag, old, plain, Column::Int64(&[1, 2])]);
    let rows = read(&mut *open_file(&path, &ReadOptions::default()).unwrap());
    let features = |row: &str| -> Vec<String> { row.split(' ').skip(2).map(str::to_owned).collect() };
    let first = [
        "items.price[0]=1",
        "items.price[1]=2",
        "old[0]=7",
        "g.plain[0]=5",
        "items.tag=a=1",
        "items.tag=b=1",
    ];
    assert_eq!(features(&rows[0]), first);
    assert_eq!(features(&rows[1]), ["items.price[0]=3", "old[0]=8", "g.plain[0]=6", "items.tag=c=1"]);
}

/// Every kind of column in both formats: equal roles, rows and features.
#[test]
fn a_table_of_all_kinds_reads_as_the_same_csv() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let schema = "message rows {
        required binary id (UTF8);
        required int64 at (TIMESTAMP(MICROS,true));
        required int32 day (DATE);
        required int96 old;
        required binary said (UTF8);
        required binary hue (UTF8);
        required boolean on;
        optional double size;
        required int32 price (DECIMAL(9,2));
        required fixed_len_byte_array(16) cost (DECIMAL(30,3));
        required binary amount (UTF8);
        required fixed_len_byte_array(16) key (UUID);
        required binary label (UTF8);
    }";
    const ROWS: usize = 120;
    let texts = |of: &dyn Fn(usize) -> String| -> Vec<String> { (0..ROWS).map(of).collect() };
    let id = texts(&|t| format!("T-{t}"));
    let said = texts(&|t| format!("the box number {t} came late"));
    let hue = texts(&|t| ["red", "blue"][t % 2].to_owned());
    let amount = texts(&|t| format!("1,{t:03}.50"));
    let label = texts(&|t| ["p", "q", "r"][t % 3].to_owned());
    let here = vec![1; ROWS];
    let there: Vec<i16> = (0..ROWS).map(|t| i16::from(t % 5 > 0)).collect();
    let size: Vec<f64> = (0..ROWS).filter(|t| t % 5 > 0).map(|t| t as f64 / 7.0).collect();
    // 22 November 2026, 10:31:07.25 and the minutes after it.
    let at: Vec<i64> = (0..ROWS as i64).map(|t| 1_795_343_467_250_000 + t * 60_000_000).collect();
    let day: Vec<i32> = (0..ROWS as i32).map(|t| 20_779 + t % 9).collect();
    let old: Vec<[u32; 3]> = (0..ROWS as u32).map(|t| [0, 0, 2_440_588 + t % 28]).collect();
    let on: Vec<bool> = (0..ROWS).map(|t| t % 3 == 0).collect();
    let price: Vec<i32> = (0..ROWS as i32).map(|t| t * 125 - 300).collect();
    let cost: Vec<Vec<u8>> = (0..ROWS as i128).map(|t| (t * 7 - 50).to_be_bytes().to_vec()).collect();
    let key: Vec<Vec<u8>> = (0..ROWS as u128).map(|t| (t << 64).to_be_bytes().to_vec()).collect();
    fn of(list: &[String]) -> Vec<&str> {
        list.iter().map(String::as_str).collect()
    }
    write(
        &path,
        schema,
        1,
        &[
            Column::Text(&of(&id), &here),
            Column::Int64(&at),
            Column::Int32(&day),
            Column::Int96(&old),
            Column::Text(&of(&said), &here),
            Column::Text(&of(&hue), &here),
            Column::Bool(&on),
            Column::Double(&size, &there),
            Column::Int32(&price),
            Column::Fixed(&cost),
            Column::Text(&of(&amount), &here),
            Column::Fixed(&key),
            Column::Text(&of(&label), &here),
        ],
    );
    let mut text = "id,at,day,old,said,hue,on,size,price,cost,amount,key,label\n".to_owned();
    for t in 0..ROWS {
        let size = if t % 5 > 0 { (t as f64 / 7.0).to_string() } else { String::new() };
        let (price, cost) = (price[t] as f64 / 100.0, (t as f64 * 7.0 - 50.0) / 1000.0);
        let key = format!("{:032x}", (t as u128) << 64);
        let key = format!("{}-{}-{}-{}-{}", &key[..8], &key[8..12], &key[12..16], &key[16..20], &key[20..]);
        text.push_str(&format!(
            "{},2026-11-22T{}:{:02}:07.250000Z,2026-11-{},1970-01-{:02} 00:00:00,{},{},{},{size},{price:.2},\
             {cost:.3},\"{}\",{key},{}\n",
            id[t],
            10 + (31 + t) / 60,
            (31 + t) % 60,
            22 + t % 9,
            1 + t % 28,
            said[t],
            hue[t],
            on[t],
            amount[t],
            label[t],
        ));
    }
    let options = ReadOptions::default();
    let csv = |options: &ReadOptions| {
        from_read(Box::new(std::io::Cursor::new(text.clone())), "a.csv", options).unwrap()
    };
    let (mut one, mut other) = (open_file(&path, &options).unwrap(), csv(&options));
    let roles = |reader: &dyn Reader| {
        reader
            .describe()
            .into_iter()
            .filter(|(what, _)| !["format", "delimiter", "header"].contains(what))
            .collect::<Vec<_>>()
    };
    let described: Vec<String> = roles(&*one).iter().map(|(what, how)| format!("{what}: {how}")).collect();
    let expected = [
        "label: column \"label\" (number 13)",
        "numbers: \"size\", \"price\", \"cost\", \"amount\" (as 1,234.50)",
        "categories: \"hue\", \"on\"",
        "text: \"said\"",
        "time: \"at\" (as 2026-11-22), \"day\" (as 2026-11-22), \"old\" (as 2026-11-22)",
        "left out: \"id\", \"key\"",
    ];
    assert_eq!(described, expected);
    assert_eq!((roles(&*one), one.notes()), (roles(&*other), other.notes()));
    assert_eq!(one.schema().csv, other.schema().csv);
    let (rows, in_csv) = (bits(&mut *one), bits(&mut *other));
    assert_eq!(rows.len(), ROWS);
    assert_eq!(rows, in_csv);
    assert_eq!(one.schema().columns, other.schema().columns);
    // A model of either reads the other.
    let saved = |reader: &dyn Reader| ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    assert_eq!(bits(&mut *open_file(&path, &saved(&*other)).unwrap()), rows);
    assert_eq!(bits(&mut *csv(&saved(&*one))), rows);
    // The options are those of CSV.
    let chosen = ReadOptions {
        categorical: vec!["id".into(), "at".into()],
        text: vec!["hue".into()],
        drop: vec!["said".into(), "12".into()],
        id: Some("key".into()),
        ..ReadOptions::default()
    };
    let mut reader = open_file(&path, &chosen).unwrap();
    let mut row = Row::new();
    assert!(reader.read(&mut row).unwrap());
    assert_eq!(row.tag, "00000000-0000-0000-0000-000000000000");
    assert!(reader.columns().index_of("id=T-0").is_some() && reader.columns().index_of("hue~red").is_some());
    assert!(reader.columns().index_of("at=2026-11-22 10:31:07.25").is_some());
    for (change, sentence) in [
        (ReadOptions { time: vec!["hue".into()], ..ReadOptions::default() }, "holds no day or time"),
        (ReadOptions { text: vec!["hues".into()], ..ReadOptions::default() }, "(did you mean \"hue\"?)"),
        (ReadOptions { id: Some("keys".into()), ..ReadOptions::default() }, "(did you mean \"key\"?)"),
        (
            ReadOptions { text: vec!["on".into()], drop: vec!["7".into()], ..ReadOptions::default() },
            "column \"on\" cannot be both text and dropped",
        ),
    ] {
        let error = open_file(&path, &change).err().unwrap().to_string();
        assert!(error.contains(sentence), "{error}");
    }
}

/// Rows with all bits of their numbers.
fn bits(reader: &mut dyn Reader) -> Vec<(String, Vec<(u32, u64)>)> {
    let (mut row, mut rows) = (Row::new(), vec![]);
    while reader.read(&mut row).unwrap() {
        let RowLabel::Name(label) = row.label() else { panic!("row {} has no label", row.line) };
        let pairs = row.indices().iter().zip(row.values());
        rows.push((label.to_owned(), pairs.map(|(column, value)| (*column, value.to_bits())).collect()));
    }
    rows
}

#[test]
fn types_decide_where_cells_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let schema = "message rows {
        required int64 at (TIMESTAMP(MILLIS,false));
        optional group tags (LIST) { repeated group list { required binary element (UTF8); } }
        optional group empty (LIST) { repeated group list { optional float element; } }
        required int32 y;
    }";
    // Years before 1000 are no times; the tags are [a, b, a], null, [] and [b]; the first numbers come late.
    let at = [-62_135_596_800_000, 0, 1, -62_135_596_800_000];
    let tags = Column::Texts(&["a", "b", "a", "b"], &[2, 2, 2, 0, 1, 2], &[0, 1, 1, 0, 0, 0]);
    let none = Column::Float(&[], &[0, 1, 2, 0], &[0, 0, 0, 0]);
    write(&path, schema, 1, &[Column::Int64(&at), tags, none, Column::Int32(&[1, 2, 1, 2])]);
    let mut reader = open_file(&path, &ReadOptions::default()).unwrap();
    assert!(
        reader.describe().contains(&("time", "\"at\" (as 2026-11-22)".to_owned())),
        "{:?}",
        reader.describe()
    );
    assert!(reader.describe().contains(&("categories", "\"tags\"".to_owned())), "{:?}", reader.describe());
    let rows = read(&mut *reader);
    assert!(
        rows[0].contains(" at:days=missing=1 ") && rows[0].ends_with(" tags=a=1 tags=b=1"),
        "{}",
        rows[0]
    );
    assert!(rows[1].contains(" at:days=-10957 ") && !rows[1].contains("tags"), "{}", rows[1]);
    let odd = sentences(&*reader);
    assert!(
        odd[0].starts_with("column \"at\": 2 cells are no times, the first \"0001-01-01 00:00:00\""),
        "{odd:?}"
    );
    let words = ReadOptions { text: vec!["tags".into()], ..ReadOptions::default() };
    let rows = read(&mut *open_file(&path, &words).unwrap());
    assert!(rows[3].contains(" tags~b=3"), "{}", rows[3]);
}

#[test]
fn columns_that_cannot_be_read_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let schema = "message rows { required fixed_len_byte_array(2) u; required int32 a; required int32 y; }";
    let file = [Column::Fixed(&[vec![0, 1], vec![2, 3]]), Column::Int32(&[5, 6]), Column::Int32(&[1, 2])];
    write(&path, schema, 1, &file);
    let error = open_file(&path, &ReadOptions::default()).err().unwrap().to_string();
    let sentence = "column \"u\" is of the type FIXED_LEN_BYTE_ARRAY, which noregret does not read: leave it out, or convert it";
    assert!(error.ends_with(sentence), "{error}");
    let without = ReadOptions { drop: vec!["u".into()], ..ReadOptions::default() };
    let mut reader = open_file(&path, &without).unwrap();
    assert_eq!(read(&mut *reader), ["1 1*1 a=5", "2 2*1 a=6"]);
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    assert_eq!(read(&mut *open_file(&path, &saved).unwrap()).len(), 2);
}

/// The other column may be a copy of the label.
#[test]
fn a_label_with_two_columns_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let schema = "message rows { required int32 y; required int32 b; required int32 y; }";
    let file = [Column::Int32(&[1, 2]), Column::Int32(&[5, 6]), Column::Int32(&[1, 2])];
    write(&path, schema, 1, &file);
    let of = |label: &str| ReadOptions { label: Some(label.to_owned()), ..ReadOptions::default() };
    for options in [ReadOptions::default(), of("y")] {
        let error = open_file(&path, &options).err().unwrap().to_string();
        let said =
            r#"has two columns called "y", of which one is the label: the option label = 1 or label = 3 "#;
        assert!(error.contains(said), "{error}");
    }
    let notes = open_file(&path, &of("1")).unwrap().notes();
    let note = r#"the header has a name twice: column number 3 is called "y.2" here"#;
    assert!(notes.iter().any(|known| known == note), "{notes:?}");
}

#[test]
fn columns_that_a_saved_model_lacks_or_the_file_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let number = |names: &str| {
        let columns = names.split(' ').map(|name| format!("required int32 {name};")).collect::<String>();
        let cells: Vec<Column<'_>> = names.split(' ').map(|_| Column::Int32(&[1, 2])).collect();
        write(&path, &format!("message rows {{ {columns} }}"), 1, &cells);
    };
    number("a b y");
    let reader = open_file(&path, &ReadOptions::default()).unwrap();
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    number("a c y");
    let mut reader = open_file(&path, &saved).unwrap();
    let notes = [
        "there is no column \"b\", which the model was trained with: missing in every row",
        "the column \"c\" is new: the model was trained without it, and it is ignored",
    ];
    assert_eq!((reader.notes(), reader.absent()), (notes.map(str::to_owned).to_vec(), vec![1]));
    assert_eq!(read(&mut *reader), ["1 1*1 a=1", "2 2*1 a=2"]);
    number("c y");
    let error = open_file(&path, &saved).err().unwrap().to_string();
    assert!(
        error.ends_with("lacks all columns that the saved model was trained on, such as \"a\""),
        "{error}"
    );
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
        "a.parquet:2: column \"a\": \"inf\" is not finite",
        "a.parquet:3: column \"w\": weight \"-1\" is negative",
        "4 inf*1 a=1",
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

/// Wherever a byte is damaged, the file is read or refused.
#[test]
fn damage_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(
        &path,
        "message m { optional double a; optional binary b (UTF8); required int32 y; }",
        2,
        &[
            Column::Double(&[1.0, 2.0, 3.0], &[1, 1, 1]),
            Column::Text(&["u", "v"], &[1, 0, 1]),
            Column::Int32(&[0, 1, 0]),
        ],
    );
    let whole = std::fs::read(&path).unwrap();
    let mut refused = 0;
    for at in 0..whole.len() {
        for damage in [0x00, 0x03, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= damage;
            std::fs::write(&path, &bytes).unwrap();
            let Ok(mut reader) = open(path.to_str().unwrap(), &ReadOptions::default()) else {
                refused += 1;
                continue;
            };
            let mut row = Row::new();
            while let Ok(true) = reader.read(&mut row) {}
        }
    }
    assert!(refused > whole.len() / 2, "{refused} of {} damaged files were refused", 4 * whole.len());
}

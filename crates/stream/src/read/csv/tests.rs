use super::*;
use crate::read::columns::{Columns, Names};
use crate::read::open::from_read;
use crate::read::options::Schema;
use crate::read::reader::sentences;
use crate::testing::{by_line, read_all};

fn open(text: &str, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    from_read(Box::new(std::io::Cursor::new(text.to_owned())), "a.csv", options)
}

fn read(reader: &mut dyn Reader) -> Vec<String> {
    read_all(reader, by_line)
}

/// The same from a file, of which more than a line can be looked at.
fn open_file(text: &str, options: &ReadOptions) -> Result<Box<dyn Reader>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, text).unwrap();
    let opened = crate::read::open::open(path.to_str().unwrap(), options);
    opened.map_err(|error| error.to_string())
}

#[test]
fn cells_become_features() {
    let text = "a,hue,w,class\n1.5, red ,2,x\n\n 0,,1,\"y, z\"\n-1,\"say \"\"no\"\"\",,\n,blue,0,+1\n";
    let options = ReadOptions { weight: Some("w".into()), ..ReadOptions::default() };
    let mut reader = open(text, &options).unwrap();
    let expected = ["2 x*2 a=1.5 hue=red=1", "4 y, z*1", "5 ?*1 a=-1 hue=say \"no\"=1", "6 +1*0 hue=blue=1"];
    assert_eq!(read(&mut *reader), expected);
    let described: Vec<String> =
        reader.describe().iter().map(|(what, how)| format!("{what}: {how}")).collect();
    let expected = [
        "format: csv",
        "delimiter: comma",
        "header: yes",
        "label: column \"class\" (number 4)",
        "weight: column \"w\" (number 3)",
        "numeric columns: 1",
        "categorical columns: \"hue\"",
    ];
    assert_eq!(described, expected);
}

#[test]
fn lines_are_right_whatever_the_line_ends() {
    let text = "\n\na,b,y\n\"1\n\n2\",1,x\n\n\n3,4\n5,6,z";
    let error = "a.csv:9: the row has 2 cells, not 3 as the first row";
    let expected = ["4 x*1 b=1 a=1\n\n2=1", error, "10 z*1 b=6 a=5=1"];
    for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}\n")] {
        let found = read(&mut *open(&text, &ReadOptions::default()).unwrap());
        assert_eq!(found, expected, "{text:?}");
    }
    let open_quote = read(&mut *open("\na,y\n1,x\n\n2,\"x\n", &ReadOptions::default()).unwrap());
    assert_eq!(open_quote, ["3 x*1 a=1", "a.csv:5: a quotation mark that opens here is never closed"]);
}

/// It is no bad row that could be skipped: the rows behind it would be lost with it.
#[test]
fn an_open_quotation_mark_ends_the_file() {
    let mut reader = open("a,y\n1,x\n2,\"x\n3,y\n4,x\n", &ReadOptions::default()).unwrap();
    let mut row = Row::new();
    assert!(reader.read(&mut row).unwrap());
    let error = reader.read(&mut row).unwrap_err();
    assert!(!error.is_row_error());
    let sentence = "a quotation mark that opens here is never closed, and 2 lines after it would be lost; close it, or double it";
    assert_eq!(error.to_string(), format!("a.csv:3: {sentence}"));
}

/// A delimiter at the end of a row begins no column, whether or not one ends the names.
#[test]
fn delimiters_may_end_rows() {
    for names in ["y,a,b", "y,a,b,"] {
        let text = format!("{names}\n0,3,1,\n1,4,2,\n0,3,1,\n");
        let found = read(&mut *open(&text, &ReadOptions::default()).unwrap());
        assert_eq!(found, ["2 0*1 a=3 b=1", "3 1*1 a=4 b=2", "4 0*1 a=3 b=1"], "{names}");
    }
}

/// Where one ends the names and every row, the last column that has a name is the label by default.
#[test]
fn a_nameless_empty_end_is_no_label() {
    let text = "a,b,kind,\n1,3,x,\n2,4,y,\n1,3,x,\n";
    let mut reader = open_file(text, &ReadOptions::default()).unwrap();
    let note =
        "the last column has neither a name nor cells, since a delimiter ends every row: it is left out";
    assert!(reader.notes().iter().any(|said| said == note), "{:?}", reader.notes());
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    let rows = ["2 x*1 a=1 b=3", "3 y*1 a=2 b=4", "4 x*1 a=1 b=3"];
    assert_eq!(read(&mut *reader), rows);
    for again in [text, "a,b,kind\n1,3,x\n2,4,y\n1,3,x\n"] {
        assert_eq!(read(&mut *open(again, &saved).unwrap()), rows, "{again}");
    }
    // A cell in it, or the wish to have it, makes it a column.
    let asked = ReadOptions { label: Some("4".into()), ..ReadOptions::default() };
    for (text, options) in [("a,b,kind,\n1,3,x,\n2,4,y,z\n", ReadOptions::default()), (text, asked)] {
        assert!(!open_file(text, &options).unwrap().notes().iter().any(|said| said == note), "{text}");
    }
}

/// In some rows it is a cell too many, in every part of a file and with a saved model.
#[test]
fn a_delimiter_at_the_end_of_some_rows_is_a_bad_row() {
    let good = "0,3,1\n1,4,2\n".repeat(3);
    for line in [2, 8] {
        let (before, after) = good.split_at(6 * (line - 2));
        let text = format!("y,a,b\n{before}1,4,2,\n{after}");
        let mut reader = open_file(&text, &ReadOptions::default()).unwrap();
        let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
        let found = read(&mut *reader);
        let error = format!("a.csv:{line}: the row has 4 cells, not 3 as the first row");
        assert!(found.len() == 7 && found[line - 2].ends_with(&error), "{found:?}");
        let again = read(&mut *open_file(&text, &saved).unwrap());
        assert!(again.len() == 7 && again[line - 2].ends_with(&error), "{again:?}");
    }
    // All rows of a continuation have it, also on a pipe.
    let reader = open(&format!("y,a,b\n{good}"), &ReadOptions::default()).unwrap();
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    let text = "y,a,b\n0,3,1,\n1,4,2,\n";
    for mut reader in [open(text, &saved).unwrap(), open_file(text, &saved).unwrap()] {
        assert_eq!(read(&mut *reader), ["2 0*1 a=3 b=1", "3 1*1 a=4 b=2"]);
    }
}

/// As in JSON, where true is 1, too.
#[test]
fn truth_values_are_numbers_in_a_numeric_column() {
    let options = ReadOptions { numeric: vec!["b".into()], ..ReadOptions::default() };
    let mut reader = open("a,b,y\n1,TRUE,x\n2,False,y\n3,true,x\n4,maybe,y\n", &options).unwrap();
    let expected = ["2 x*1 a=1 b=1", "3 y*1 a=2", "4 x*1 a=3 b=1", "5 y*1 a=4"];
    assert_eq!(read(&mut *reader), expected);
    let odd = r#"column "b": 1 cell is no number, the first "maybe" in line 5: it counts as missing"#;
    assert_eq!(sentences(&*reader), [odd]);
    // Unless it is said, they are categories.
    let mut reader = open("a,b,y\n1,TRUE,x\n2,False,y\n", &ReadOptions::default()).unwrap();
    assert_eq!(read(&mut *reader), ["2 x*1 a=1 b=TRUE=1", "3 y*1 a=2 b=False=1"]);
}

#[test]
fn weights_have_the_decimals_of_the_file() {
    let options = ReadOptions { weight: Some("w".into()), ..ReadOptions::default() };
    let mut reader = open("a;w;y\n1,5;0,5;x\n2,5;1.000;y\n3;2;x\n", &options).unwrap();
    let expected = ["2 x*0.5 a=1.5", "3 y*1000 a=2.5", "4 x*2 a=3"];
    assert_eq!(read(&mut *reader), expected);
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    assert_eq!(read(&mut *open("a;w;y\n1,5;0,25;x\n", &saved).unwrap()), ["2 x*0.25 a=1.5"]);
    let error = read(&mut *open("a;w;y\n1,5;-0,5;x\n1;2;y\n", &options).unwrap());
    assert_eq!(error[0], r#"a.csv:2: column "w": weight "-0,5" is negative"#);
}

/// The column of the labels on offer, or of the names of rows, is no feature that a model lacks.
#[test]
fn a_column_with_another_use_is_not_new() {
    let reader = open("a,y\n1,x\n2,z\n", &ReadOptions::default()).unwrap();
    let saved = ReadOptions {
        schema: Some(reader.schema()),
        offered: Some("on".into()),
        id: Some("who".into()),
        ..ReadOptions::default()
    };
    let mut reader = open("who,a,on,b\nu,1,x z,5\nv,2,x z,6\n", &saved).unwrap();
    let note = r#"the column "b" is new: the model was trained without it, and it is ignored"#;
    assert_eq!(reader.notes(), [note]);
    assert_eq!(read(&mut *reader), ["2 ?*1 a=1", "3 ?*1 a=2"]);
    assert_eq!(reader.dropped_features(), 2);
}

#[test]
fn the_way_out_of_a_first_line_that_is_none() {
    let rows = "25, Private, 11th, x.\n38, Private, 11th, y.\n28, Local-gov, 9th, x.\n";
    let uci = format!("|1x3 Cross validator\n{rows}");
    let error = open_file(&uci, &ReadOptions::default()).err().unwrap();
    assert!(error.ends_with("if that line is no row, leave it out, as in tail -n +2"), "{error}");
    let bare = open(rows, &ReadOptions::default()).unwrap();
    let saved = ReadOptions { schema: Some(bare.schema()), ..ReadOptions::default() };
    let error = open_file(&uci, &saved).err().unwrap();
    assert!(error.ends_with("if the first line is no row, leave it out, as in tail -n +2"), "{error}");
    let options = ReadOptions { label: Some("kind".into()), ..ReadOptions::default() };
    let error = open("25,1,x\n38,2,y\n", &options).err().unwrap().to_string();
    let way_out = "by their numbers, since the first line is taken for a row; the option header = yes takes it for the names";
    assert!(error.ends_with(way_out), "{error}");
}

/// A line of names would be a row of a model whose rows had none, and its columns may have another order.
#[test]
fn names_for_a_model_without_names() {
    let rows = "1,5,x\n2,7,y\n4,5,x\n3,9,y\n";
    let bare = open_file(rows, &ReadOptions::default()).unwrap();
    let saved = ReadOptions { schema: Some(bare.schema()), ..ReadOptions::default() };
    let error = open_file(&format!("age,size,kind\n{rows}"), &saved).err().unwrap();
    let said = "a.csv: begins with names, such as \"age\", and the rows that the model has learnt had none: if the columns are in their \
                order, leave the first line out, as in tail -n +2";
    assert!(error.ends_with(said), "{error}");
    assert_eq!(read(&mut *open_file(rows, &saved).unwrap()).len(), 4);
    // A first row with a stray word is a row.
    assert_eq!(read(&mut *open_file(&format!("n/k,5,x\n{rows}"), &saved).unwrap()).len(), 5);
    let asked = ReadOptions { header: Some(false), ..saved };
    assert_eq!(read(&mut *open_file(&format!("age,size,kind\n{rows}"), &asked).unwrap()).len(), 5);
}

#[test]
fn missing_numbers_are_spelled_in_many_ways() {
    let text = "a,b,hue,y\n1,2,NA,x\nNA,?,none,x\n null ,nan,red,x\nN/A,None,,x\n3,,red,x\n";
    let mut reader = open(text, &ReadOptions::default()).unwrap();
    let expected =
        ["2 x*1 a=1 b=2 hue=NA=1", "3 x*1 hue=none=1", "4 x*1 hue=red=1", "5 x*1", "6 x*1 a=3 hue=red=1"];
    assert_eq!(read(&mut *reader), expected);
    let described = reader.describe();
    let words = described.iter().find(|(what, _)| *what == "missing numbers").map(|(_, how)| &**how);
    assert_eq!(words, Some(r#""NA", "?", "null", "nan", "N/A", "None""#));
    // Nothing but such words: they may be categories.
    let reader = open("a,y\nNA,x\nnone,x\n", &ReadOptions::default()).unwrap();
    assert!(reader.describe().iter().any(|(what, _)| *what == "categorical columns"));
}

/// Behind the first rows, numbers of `a`, which are far from 0, are missing, and such of the other column.
#[test]
fn a_feature_for_missing_numbers_begins_behind_the_first_rows() {
    let cell = |is_hole: bool, value: u32| if is_hole { String::new() } else { value.to_string() };
    let line = |t: u32| {
        let a = cell(t >= 1100 && t % 3 == 1, 50 + t % 7);
        format!("{a},{},x\n", cell(t >= 1100 && t % 4 == 2, t % 3))
    };
    let text = |header: &str| format!("{header}\n{}", (0..1200).map(line).collect::<String>());
    let options = ReadOptions { tells_missing: true, ..ReadOptions::default() };
    let mut reader = open(&text("a,b,y"), &options).unwrap();
    let rows = read(&mut *reader);
    assert_eq!(
        rows[1102..1106],
        ["1104 x*1 a:missing=1", "1105 x*1 a=54 b=2", "1106 x*1 a=55", "1107 x*1 b=1 a:missing=1"]
    );
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    let again = read(&mut *open("a,b,y\n,1,x\n5,,x\n", &saved).unwrap());
    assert_eq!(again, ["2 x*1 b=1 a:missing=1", "3 x*1 a=5"]);
    // A column of numbers that is called so is one; and without the option there is no such feature.
    let mut reader = open(&text("a,a:missing,y"), &options).unwrap();
    assert_eq!(read(&mut *reader)[1102..1104], ["1104 x*1", "1105 x*1 a=54 a:missing=2"]);
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    let again = read(&mut *open("a,a:missing,y\n,7,x\n,,x\n", &saved).unwrap());
    assert_eq!(again, ["2 x*1 a:missing=7", "3 x*1"]);
    let mut reader = open(&text("a,b,y"), &ReadOptions::default()).unwrap();
    assert_eq!((read(&mut *reader).len(), reader.columns().count()), (1200, 2));
}

#[test]
fn bad_cells_are_named() {
    let cases = [
        ("1,-inf,c", r#"column "b": "-inf" is not finite"#),
        ("1,1e999,c", r#"column "b": "1e999" is not finite"#),
        ("1,2", "the row has 2 cells, not 3 as the first row"),
        ("1,2,3,4", "the row has 4 cells, not 3 as the first row"),
        ("1,2,\u{fffd}", "the row is not UTF-8 text"),
    ];
    let good = "1,2,c\n".repeat(1000);
    for (line, error) in cases {
        let text = format!("a,b,y\n{good}{line}\n3,4,d\n").into_bytes();
        let invalid = |text: Vec<u8>| match text.windows(3).position(|window| window == "\u{fffd}".as_bytes())
        {
            Some(at) => [&text[..at], b"\xff", &text[at + 3..]].concat(),
            None => text,
        };
        let input = Box::new(std::io::Cursor::new(invalid(text)));
        let mut reader = from_read(input, "a.csv", &ReadOptions::default()).unwrap();
        let rows = read(&mut *reader);
        assert_eq!(rows[1000..], [format!("a.csv:1002: {error}"), "1003 d*1 a=3 b=4".into()], "{line}");
    }
    let weight = ReadOptions { weight: Some("b".into()), ..ReadOptions::default() };
    let rows = read(&mut *open("a,b,y\n1,-2,c\n1,x,c\n", &weight).unwrap());
    assert_eq!(rows[0], r#"a.csv:2: column "b": weight "-2" is negative"#);
    assert_eq!(rows[1], r#"a.csv:3: column "b": "x" is not a number"#);
}

#[test]
fn a_cell_that_is_no_number_counts_as_missing() {
    let text = format!("a,b,y\n{}x,2,c\n3,4,d\n,5,d\nz,6,d\n", "1,2,c\n".repeat(1000));
    let mut reader = open(&text, &ReadOptions::default()).unwrap();
    let rows = read(&mut *reader);
    let expected = ["1002 c*1 b=2", "1003 d*1 a=3 b=4", "1004 d*1 b=5", "1005 d*1 b=6"];
    assert_eq!(rows[1000..], expected);
    let notes = sentences(&*reader);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].starts_with("column \"a\": 2 cells are no numbers, the first \"x\" in line 1002"),
        "{notes:?}"
    );
}

#[test]
fn tables_of_text_are_read_as_they_were() {
    let row = |t: u32| {
        let text = ["the parcel came late", "my card was charged twice", "please reset the password"]
            [t as usize % 3];
        let amount = if t.is_multiple_of(4) { String::new() } else { format!("\"1,{t:03}.5\"") };
        format!("T-{t},2026-02-{:02} 10:00,{text} {t},{amount},{}\n", 1 + t % 28, t % 3)
    };
    let text = format!("id,at,said,amount,y\n{}", (0..80).map(row).collect::<String>());
    let mut reader = open(&text, &ReadOptions::default()).unwrap();
    let rows = read(&mut *reader);
    assert!(rows[1].starts_with("3 1*1 at:days=") && rows[1].contains(" amount=1001.5 "), "{}", rows[1]);
    assert!(rows[1].contains("at:weekday=Mon=1") && rows[1].contains(" said~charged twice="), "{}", rows[1]);
    assert!(rows[4].contains(" amount=missing=1 "), "{}", rows[4]);
    assert!(!rows[1].contains("T-1"), "{}", rows[1]);
    let schema: Schema = serde_json::from_str(&serde_json::to_string(&reader.schema()).unwrap()).unwrap();
    assert_eq!(schema.numbers(), Some(6));
    let saved = ReadOptions { room: schema.columns.count(), schema: Some(schema), ..ReadOptions::default() };
    assert_eq!(read(&mut *open(&text, &saved).unwrap()), rows);
    // A column less, and another order: the rest stays what it was.
    let mut reader = open("y,said,amount\n1,my card was charged twice 1,\"1,001.5\"\n", &saved).unwrap();
    let short = read(&mut *reader);
    assert!(
        short[0].contains(" said~charged twice=") && short[0].contains("at:days=missing=1"),
        "{}",
        short[0]
    );
    let notes = reader.notes();
    assert!(notes.iter().any(|note| note.contains("no column \"at\"")), "{notes:?}");
}

/// Where the roles are given, a table is read as it was before roles were found: every text a category, and
/// no cell missing.
#[test]
fn given_roles_are_kept() {
    let row = |t: u32| format!("{t},2026-02-{:02},the box number {t},{}.5,{}\n", 1 + t % 28, t * t, t % 3);
    let text = format!("id,at,said,size,y\n{}", (0..80).map(row).collect::<String>());
    let options = ReadOptions {
        categorical: ["at", "said"].map(str::to_owned).to_vec(),
        numeric: ["id", "size"].map(str::to_owned).to_vec(),
        ..ReadOptions::default()
    };
    let mut reader = open(&text, &options).unwrap();
    let rows = read(&mut *reader);
    assert_eq!(rows[1], "3 1*1 id=1 size=1.5 at=2026-02-02=1 said=the box number 1=1");
    assert_eq!((reader.schema().numbers(), rows.len()), (None, 80));
}

#[test]
fn two_lines_of_names() {
    let text = "mass,kind,y\nkg,word,class\n1,a,x\n2,b,y\n3,a,x\n";
    let mut reader = open(text, &ReadOptions::default()).unwrap();
    assert_eq!(read(&mut *reader)[0], "3 x*1 mass=1 kind=a=1");
    let saved = ReadOptions { schema: Some(reader.schema()), room: 9, ..ReadOptions::default() };
    assert_eq!(read(&mut *open("mass,kind,y\n7,a,x\n", &saved).unwrap()), ["2 x*1 mass=7 kind=a=1"]);
    assert_eq!(read(&mut *open(text, &saved).unwrap()).len(), 3);
}

#[test]
fn a_saved_model_finds_its_columns() {
    let mut reader = open("a,hue,class\n1,red,x\n2,blue,y\n", &ReadOptions::default()).unwrap();
    read(&mut *reader);
    let text = serde_json::to_string(&reader.schema()).unwrap();
    let schema: Schema = serde_json::from_str(&text).unwrap();
    assert_eq!(schema, reader.schema());
    let saved = ReadOptions { schema: Some(schema), ..ReadOptions::default() };

    // Another order, delimiter and line length; no label; an unknown column and an unknown category.
    let mut reader = open(" id; hue ;a\n7;green;3\n8;blue;0x\n9;red;4\n", &saved).unwrap();
    assert_eq!(read(&mut *reader), ["2 ?*1 a=3", "3 ?*1 hue=blue=1", "4 ?*1 a=4 hue=red=1"]);
    assert_eq!(reader.dropped_features(), 4);
    assert_eq!(reader.columns().count(), 3);

    let mut reader = open("hue,class\nred,x\n", &saved).unwrap();
    assert_eq!((read(&mut *reader), reader.absent()), (vec!["2 x*1 hue=red=1".to_owned()], vec![0]));
    let error = open("size,class\n1,x\n", &saved).err().unwrap();
    let lacks = r#"a.csv: lacks all columns that the saved model was trained on, such as "a"; if its first line is a row and no header, the option header = no says so"#;
    assert_eq!(error.to_string(), lacks);
    assert!(!error.is_row_error());

    let grow = ReadOptions { room: 4, ..saved.clone() };
    let mut reader = open("a,hue,class\n1,green,x\n", &grow).unwrap();
    assert_eq!(read(&mut *reader), ["2 x*1 a=1 hue=green=1"]);
    assert_eq!((reader.columns().count(), reader.dropped_features()), (4, 0));

    // A name over two lines, as DOS ends them.
    let text = "\"a\r\nb\",y\r\n1,x\r\n";
    let mut reader = open(text, &ReadOptions::default()).unwrap();
    assert_eq!(read(&mut *reader), ["3 x*1 a\nb=1"]);
    let again = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    assert_eq!(read(&mut *open(text, &again).unwrap()), ["3 x*1 a\nb=1"]);

    let bare = ReadOptions { header: Some(false), ..saved };
    assert_eq!(read(&mut *open("1,red,x\n", &bare).unwrap()), ["1 x*1 a=1 hue=red=1"]);
    assert_eq!(read(&mut *open("1,red\n", &bare).unwrap()), ["1 ?*1 a=1 hue=red=1"]);
    let error = open("1\n", &bare).err().unwrap();
    assert_eq!(
        error.to_string(),
        "a.csv: has 1 column in its first row, but the saved model was trained on 3, the label among them; if the first line is no row, leave it out, as in tail -n +2"
    );
}

#[test]
fn empty_rows_count_below_the_header_alone() {
    let mut reader = open(", ,\n,\na,b,y\n,,\n1,2,x\n", &ReadOptions::default()).unwrap();
    assert_eq!(read(&mut *reader), ["4 ?*1", "5 x*1 a=1 b=2"]);
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    assert_eq!(read(&mut *open(",,\na,b,y\n1,2,x\n", &saved).unwrap()), ["3 x*1 a=1 b=2"]);
}

#[test]
fn hashing_keeps_no_names() {
    let options = ReadOptions { hash_bits: Some(10), ..ReadOptions::default() };
    let (mut reader, mut row) = (open("a,hue,class\n1,red,x\n", &options).unwrap(), Row::new());
    assert!(reader.read(&mut row).unwrap());
    let mut expected = [crate::hash_name("a", 10), crate::hash_name("hue=red", 10)];
    expected.sort_unstable();
    assert_eq!(row.indices(), expected);

    let mut names = Names::default();
    names.intern("a");
    let schema = Schema { columns: Columns::Named(names), ..reader.schema() };
    let options = ReadOptions { schema: Some(schema), ..options };
    let error = open("a,hue,class\n1,red,x\n", &options).err().unwrap();
    assert!(error.to_string().contains("does not hash its features into 10 bits"), "{error}");
}

/// Orange writes the kinds of columns and what they are for below their names, or before these.
#[test]
fn headers_of_orange() {
    let rows = "1.5\tu\tp\n2\tv\tq\n3\tu\tp\n";
    let below = format!("size\tbuy\tname\ncontinuous\tdiscrete\tstring\n\tclass\tmeta\n{rows}");
    let letters = format!("size\tbuy\tname\nc\td\ts\n\tclass\tm\n{rows}");
    let before = format!("C#size\tcD#buy\tmS#name\n{rows}");
    let (plain, flagged) = (["buy", "name"], ["cD#buy", "mS#name"]);
    for (text, first, names) in [(below, 4, plain), (letters, 4, plain), (before, 2, flagged)] {
        let mut reader = open_file(&text, &ReadOptions::default()).unwrap();
        let size = if first == 4 { "size" } else { "C#size" };
        let expected: Vec<String> = [("u", "1.5"), ("v", "2"), ("u", "3")]
            .iter()
            .zip(first..)
            .map(|((label, value), line)| format!("{line} {label}*1 {size}={value}"))
            .collect();
        assert_eq!(read(&mut *reader), expected);
        let [label, other] = names;
        let said = format!(
            "by the flags of Orange in the header, column \"{label}\" is the label; left out: \"{other}\""
        );
        assert!(reader.notes().contains(&said), "{:?}", reader.notes());
        // What the options say comes first.
        let options = ReadOptions { label: Some(other.to_owned()), ..ReadOptions::default() };
        let mut reader = open_file(&text, &options).unwrap();
        assert!(read(&mut *reader)[0].starts_with(&format!("{first} p*1 ")));
    }
}

/// Numbers without the unit of those that a model has learnt are read as if they had it, which is said.
#[test]
fn numbers_without_the_unit_of_a_model() {
    let rows = |unit: &str| (0..40).map(|t| format!("{}{unit},x\n", 40 + t % 9)).collect::<String>();
    let learnt = open_file(&format!("mass,y\n{}", rows(" kg")), &ReadOptions::default()).unwrap();
    let saved = ReadOptions { schema: Some(learnt.schema()), ..ReadOptions::default() };
    let said = |text: String| {
        let mut reader = open_file(&format!("mass,y\n{text}"), &saved).unwrap();
        assert_eq!(read(&mut *reader)[0], "2 x*1 mass=40");
        sentences(&*reader)
    };
    let sentence = "column \"mass\": no number has the unit \"kg\", as those that the model has learnt, the first \"40\" in line 2: they \
                    count as if they had it";
    assert_eq!(said(rows("")), [sentence]);
    assert_eq!(said(rows(" kg")), [""; 0]);
    assert_eq!(said(rows("") + &rows("kg")), [""; 0]);
}

use super::*;
use crate::read::open::from_read;
use crate::read::reader::sentences;
use crate::testing::{by_tag, read_all};

fn open(text: &str, options: &ReadOptions) -> Box<dyn Reader> {
    from_read(Box::new(std::io::Cursor::new(text.to_owned())), "a.ndjson", options).unwrap()
}

fn read(reader: &mut dyn Reader) -> Vec<String> {
    read_all(reader, by_tag)
}

#[test]
fn objects_become_rows() {
    let cases = [
        (r#"{"x": [1, 0, -0.5, true, null], "y": "a", "u": {"z": [1]}}"#, "a'*1 0=1 2=-0.5 3=1"),
        (r#"{"y": 1.0, "id": 7, "weight": 2, "x": []}"#, "1'7*2"),
        (
            r#"{"x": {"b": 2, "a": "red", "c": false, "d": null}, "y": [0.25, 0.75]}"#,
            "Distribution([0.25, 0.75])'*1 b=2 a=red=1 c=false=1",
        ),
        (r#"{"x": [1], "y": null, "tag": "t", "id": 3}"#, "?'t*1 0=1"),
        (r#"{"x": [1], "y": true}"#, "true'*1 0=1"),
        (r#"{"x": [1], "y": 12345678901234567890}"#, "12345678901234567890'*1 0=1"),
        (r#"{"weight": 80, "hue": "re\u0064", "Label": -1}"#, "-1'*1 weight=80 hue=red=1"),
        (r#"{"x": 3, "class": "", "y": 2}"#, "?'*1 x=3 y=2"),
        (r#"{"x": [1], "y": " a "}"#, " a '*1 0=1"),
        (r#"{"x": [1], "y": "  "}"#, "?'*1 0=1"),
        (r#"{"x": [1], "y": " NA"}"#, "?'*1 0=1"),
        (r#"{"a\n": 1e-7}"#, "?'*1 a\n=0.0000001"),
    ];
    for (line, expected) in cases {
        assert_eq!(read(&mut *open(&format!("\n{line}\r\n"), &ReadOptions::default())), [expected], "{line}");
    }
}

#[test]
fn bad_rows_are_named_and_skipped() {
    let array = r#"{"x": [1, 2], "y": 1}"#;
    let flat = r#"{"a": 1, "y": 1}"#;
    let cases = [
        (array, r#"{"x": [1], "y": 1}"#, r#""x" has 1 number, where the rows before it have 2"#),
        (array, r#"{"y": 1}"#, r#"key "x": missing, but the first row has it"#),
        (array, r#"{"x": 1, "y": 1}"#, r#"key "x": a number where an array as in the first row is needed"#),
        (array, r#"{"x": [1, "2"], "y": 1}"#, r#"key "x": a string where a number is needed"#),
        (array, r#"{"x": [1, 2], "x": [3]}"#, r#"key "x": appears twice in the row"#),
        (array, r#"{"x": [1, 2], "y": [0.5, 0.6]}"#, r#"key "y": probabilities sum to 1.1, not to 1"#),
        (array, r#"{"x": [1, 2], "y": [1.5, -0.5]}"#, r#"key "y": probability 1.5 is not between 0 and 1"#),
        (array, r#"{"x": [1, 2], "weight": -1}"#, r#"key "weight": weight -1 is negative"#),
        (
            array,
            r#"{"x": [1, 2], "y": 123456789012345678901}"#,
            "key \"y\": the label is the number 1.2345678901234568e20, beyond 64 bits, of which only the first digits are read: write such \
             labels as texts, in quotation marks",
        ),
        (array, r#"{"x": [1e999, 2]}"#, "is not a JSON object: number out of range at character 12"),
        (array, r#"{"x": [1, 2"#, "is not a JSON object: EOF while parsing a list at character 11"),
        (
            flat,
            r#"{"a": True, "y": 1}"#,
            "is not a JSON object: it has Python's True at character 7, where JSON has true, false or null, as json.dumps writes them",
        ),
        (
            flat,
            "k7\t{\"a\": 1, \"y\": 1}",
            "is not a JSON object: expected value at character 1; what stands before the object, such as a key of Kafka or a time, is no \
             part of it: sed 's/^[^{]*//' leaves it out",
        ),
        (array, "[1, 2]", r#"is a list; an object was needed, as in {"x": [1, 2], "label": "a"}"#),
        (array, r#"{"x": [1, 2]} 3"#, "is not a JSON object: trailing characters at character 15"),
        (flat, r#"{"a": 1, "a": 2}"#, r#"feature "a" appears twice"#),
        (flat, r#"{"y": 1, "y": 2}"#, r#"key "y": appears twice in the row"#),
        (flat, r#"{"b": "u", "b": "u"}"#, r#"feature "b" appears twice"#),
        (
            flat,
            r#"{"y": {"b": 1}}"#,
            r#"key "y": an object where a string, a number, a bool, an array of probabilities or null is needed"#,
        ),
    ];
    for (good, line, error) in cases {
        let rows = read(&mut *open(&format!("{good}\n{line}\n{good}\n"), &ReadOptions::default()));
        assert_eq!(rows[1], format!("a.ndjson:2: {error}"));
        assert_eq!((rows.len(), &rows[2]), (3, &rows[0]));
    }
}

#[test]
fn keys_are_those_asked_for_or_saved() {
    let text = "{\"a\": 1, \"kind\": \"x\", \"w\": 2}\n";
    let options =
        ReadOptions { label: Some("kind".into()), weight: Some("w".into()), ..ReadOptions::default() };
    let mut reader = open(text, &options);
    assert_eq!(read(&mut *reader), ["x'*2 a=1"]);
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    let mut reader = open("{\"b\": 3, \"kind\": \"y\", \"w\": 0, \"a\": 5}\n", &saved);
    assert_eq!(read(&mut *reader), ["y'*0 a=5"]);
    assert_eq!(reader.dropped_features(), 1);
    let described: Vec<String> =
        reader.describe().iter().map(|(what, how)| format!("{what}: {how}")).collect();
    assert_eq!(
        described,
        [
            "format: ndjson",
            "label: key \"kind\"",
            "weight: key \"w\"",
            "features: all other keys",
            "numeric columns: 1"
        ]
    );

    // A label that only later rows have does not become a feature.
    let mut reader = open("{\"a\": 1}\n{\"a\": 2, \"target\": 3}\n", &ReadOptions::default());
    assert_eq!(read(&mut *reader), ["?'*1 a=1", "3'*1 a=2"]);

    // Arrays of a saved model keep their length.
    let mut reader = open("{\"x\": [1, 2]}\n", &ReadOptions::default());
    read(&mut *reader);
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    let rows = read(&mut *open("{\"x\": [1]}\n", &saved));
    assert_eq!(rows, [r#"a.ndjson:1: "x" has 1 number, where the rows before it have 2"#]);
    // Columns of tables have names, also where there is no header.
    for (text, name) in [("{\"a\": 1}\n", "b.ndjson"), ("0.5,-1,0,2\n1,2,3,4\n", "b.csv")] {
        let error = from_read(Box::new(text.as_bytes()), name, &saved).err().unwrap().to_string();
        assert_eq!(
            error,
            format!(
                "{name}: the saved model numbers its features, as those of an array; rows of LIBSVM, numbered from 0, or of NDJSON with lists ({{\"x\": [0.5, -1]}}) were needed"
            )
        );
    }

    // After a bad first row, the next one decides.
    let mut reader = open("#\n\n{\"x\": [1, 2]}\n", &saved);
    assert_eq!(read(&mut *reader).len(), 2);
    assert_eq!(reader.describe()[3].1, "the array \"x\"");
}

/// Rows as their columns, values, labels and tags, and the columns that they have in the end.
fn rows_of(text: &str, name: &str, options: &ReadOptions) -> (Vec<String>, Vec<String>, Box<dyn Reader>) {
    let mut reader = from_read(Box::new(std::io::Cursor::new(text.to_owned())), name, options).unwrap();
    let (mut rows, mut row) = (vec![], Row::new());
    while reader.read(&mut row).unwrap() {
        let bits: Vec<u64> = row.values().iter().map(|value| value.to_bits()).collect();
        rows.push(format!("{:?} {:?} {bits:?}", row.label(), row.indices()));
    }
    let columns = (0..reader.columns().count()).map(|at| reader.columns().name(at).into_owned()).collect();
    (rows, columns, reader)
}

/// The same table twice: cells of CSV are values of JSON; missing ones are null or absent.
fn both() -> (String, String) {
    let (mut csv, mut json) = ("at,said,amount,size,hue,flag,label\n".to_owned(), String::new());
    for t in 0..120 {
        let at = format!("2026-03-{:02} {:02}:30", 1 + t % 28, t % 24);
        let said = format!("the parcel {} came {} late", t * t, ["very", "a bit", "not"][t % 3]);
        let amount = format!("1,{t:03}.50");
        let size = f64::from(t as u32) * 0.37 + 1e-7;
        let (hue, flag, label) = (["red", "blue"][t % 2], t % 5 == 0, ["u", "v", "w"][t % 3]);
        let hole = t % 7 == 3;
        let (size_cell, size_json) = match hole {
            true => (String::new(), if t % 2 == 0 { "\"size\": null, " } else { "" }.to_owned()),
            false => (size.to_string(), format!("\"size\": {size}, ")),
        };
        csv += &format!("{at},{said},\"{amount}\",{size_cell},{hue},{flag},{label}\n");
        json += &format!(
            "{{\"at\": \"{at}\", \"said\": \"{said}\", \"amount\": \"{amount}\", {size_json}\"hue\": \"{hue}\", \
             \"flag\": {flag}, \"label\": \"{label}\"}}\n"
        );
    }
    (csv, json)
}

#[test]
fn the_same_rows_as_of_csv() {
    let (csv, json) = both();
    let options = ReadOptions::default();
    let of_csv = rows_of(&csv, "a.csv", &options);
    let of_json = rows_of(&json, "a.ndjson", &options);
    assert_eq!(of_csv.1, of_json.1);
    assert!(
        of_csv.1.iter().any(|name| name == "said~parcel")
            && of_csv.1.iter().any(|name| name == "size=missing")
    );
    assert_eq!(of_csv.0, of_json.0);
    assert_eq!(of_csv.2.schema().csv, of_json.2.schema().csv);
    assert_eq!(of_csv.2.notes(), of_json.2.notes());

    // A model of one reads the other, and columns that later rows do not have are missing.
    let saved = |schema| ReadOptions { schema: Some(schema), ..ReadOptions::default() };
    let tomorrow = |text: &str, name: &str, schema| rows_of(text, name, &saved(schema)).0;
    let expected = tomorrow(&csv, "a.csv", of_csv.2.schema());
    assert_eq!(tomorrow(&json, "a.ndjson", of_csv.2.schema()), expected);
    assert_eq!(tomorrow(&csv, "a.csv", of_json.2.schema()), expected);
    let less_csv =
        csv.lines().map(|line| line.split_once(',').unwrap().1.to_owned() + "\n").collect::<String>();
    let less_json =
        json.lines().map(|line| format!("{{{}\n", line.split_once(", ").unwrap().1)).collect::<String>();
    let expected = rows_of(&less_csv, "a.csv", &saved(of_csv.2.schema()));
    let found = rows_of(&less_json, "a.ndjson", &saved(of_csv.2.schema()));
    assert_eq!(expected.0, found.0);
}

/// A cell that is no time, in a column of times, has each indicator once, in both formats.
#[test]
fn odd_cells_are_missing_once() {
    let (mut csv, mut json) = ("at,size,label\n".to_owned(), String::new());
    for t in 0..60 {
        let at = match t {
            30 => "soon".to_owned(),
            // There is no such day, and no such hour.
            32 => "2026-02-31".to_owned(),
            33 => "2026-02-01 25:00".to_owned(),
            _ => format!("2026-03-{:02}", 1 + t % 28),
        };
        let size = if t == 31 { "\"1,0O0\"".to_owned() } else { format!("\"1,{t:03}.5\"") };
        csv += &format!("{at},{size},{}\n", t % 2);
        json += &format!("{{\"at\": \"{at}\", \"size\": {size}, \"label\": {}}}\n", t % 2);
    }
    let options = ReadOptions::default();
    let (of_csv, columns, reader) = rows_of(&csv, "a.csv", &options);
    let said = sentences(&*reader);
    assert!(said[0].contains("\"at\": 3 cells are no times, the first \"soon\""), "{said:?}");
    assert_eq!(rows_of(&json, "a.ndjson", &options).0, of_csv);
    assert!(columns.iter().any(|name| name == "at:days=missing"), "{columns:?}");
    let rows = read(&mut *open(&json, &options));
    for row in [30, 32, 33] {
        assert!(rows[row].contains(" at:days=missing=1 at:hour_sin=missing=1 "), "{}", rows[row]);
    }
    assert!(rows[31].ends_with(" size=missing=1 at:weekday=Wed=1"), "{}", rows[31]);
}

#[test]
fn nested_objects_and_lists() {
    let line = |age: usize, tags: &str| {
        format!(
            "{{\"user\": {{\"age\": {age}, \"home\": {{\"city\": \"Rome\"}}}}, \"tags\": [{tags}], \"size\": [1, 2.5], \
             \"items\": [{{\"price\": 3}}], \"meta\": {{\"queue\": \"q{}\"}}}}\n",
            age % 2
        )
    };
    let text: String = (30..36).map(|age| line(age, "\"new\", \"vip\", \"new\"")).collect();
    let options = ReadOptions { label: Some("meta.queue".into()), ..ReadOptions::default() };
    let rows = read(&mut *open(&text, &options));
    assert_eq!(
        rows[1],
        "q1'*1 user.age=31 size[0]=1 size[1]=2.5 items[0].price=3 user.home.city=Rome=1 tags=new=1 tags=vip=1"
    );
    // Keys that few rows have are columns, too.
    let later =
        text.clone() + "{\"user\": {\"vip\": true}, \"tags\": [\"old\"], \"meta\": {\"queue\": \"q0\"}}\n";
    let rows = read(&mut *open(&later, &options));
    assert_eq!(rows[6], "q0'*1 tags=old=1 user.vip=true=1");
    let asked = ReadOptions { text: vec!["tags".into()], label: options.label, ..ReadOptions::default() };
    let rows = read(&mut *open(&text, &asked));
    assert!(rows[0].contains("tags~new vip=") && !rows[0].contains("tags=new"), "{}", rows[0]);
    let again = text.clone();
    let odd = ReadOptions { text: vec!["tag".into()], ..ReadOptions::default() };
    let error = from_read(Box::new(std::io::Cursor::new(text)), "a.ndjson", &odd).err().unwrap();
    assert!(error.to_string().contains("did you mean \"tags\"?"), "{error}");
    let slip = ReadOptions { label: Some("meta.Queue".into()), ..ReadOptions::default() };
    let error = from_read(Box::new(std::io::Cursor::new(again)), "a.ndjson", &slip).err().unwrap();
    assert_eq!(error.to_string(), "a.ndjson: has no key \"meta.Queue\" (did you mean \"meta.queue\"?)");
}

#[test]
fn bags_are_no_tables() {
    let bag = |t: usize| {
        format!(
            "{{\"w{}\": 1, \"w{}\": 2, \"said\": \"a b c {t}\", \"y\": {}}}\n",
            t % 97,
            97 + t % 89,
            t % 2
        )
    };
    let mut reader = open(&(0..300).map(bag).collect::<String>(), &ReadOptions::default());
    let roles = reader.schema().csv.unwrap().fields;
    assert_eq!(roles.iter().map(|field| &*field.name).collect::<Vec<_>>(), ["said", "y"]);
    assert!(reader.notes().is_empty(), "{:?}", reader.notes());
    let rows = read(&mut *reader);
    assert!(
        rows[5].starts_with("1'*1 ") && rows[5].contains("w5=1") && rows[5].contains("w102=2"),
        "{}",
        rows[5]
    );
}

/// Rows were called copies of others that were alike in the keys which most rows have.
#[test]
fn rows_that_differ_in_rare_keys_are_no_copies() {
    let bag = |t: usize| {
        let (said, next) = (["bad", "good"][t % 2], t + 1);
        format!("{{\"w{t}\": 1, \"w{next}\": 1, \"common\": 1, \"{said}\": 1, \"y\": \"{said}\"}}\n")
    };
    let notes = open(&(0..120).map(bag).collect::<String>(), &ReadOptions::default()).notes();
    assert!(!notes.iter().any(|note| note.contains("copies")), "{notes:?}");
}

#[test]
fn rows_are_named_by_the_key_asked_for() {
    let options = ReadOptions { id: Some("ticket".into()), ..ReadOptions::default() };
    let rows = read(&mut *open("{\"id\": 4, \"ticket\": \"T-1\", \"a\": 2, \"y\": 0}\n", &options));
    assert_eq!(rows, ["0'T-1*1 a=2 ticket=T-1=1"]);
    let rows = read(&mut *open("{\"x\": {\"a\": 2}, \"ticket\": 7, \"y\": 0}\n", &options));
    assert_eq!(rows, ["0'7*1 a=2"]);
}

/// The note names the key that was found.
#[test]
fn rows_like_those_of_a_log_have_a_note() {
    for (key, option) in
        [("probability", "--decision label learns"), ("p", "--decision label --probability p learns")]
    {
        let text = format!("{{\"a\": 1, \"label\": \"x\", \"{key}\": 0.5, \"reward\": 1}}\n").repeat(3);
        let notes = open(&text, &ReadOptions::default()).notes();
        let named =
            format!("the columns \"label\", \"{key}\" and \"reward\" are those of a log of decisions");
        assert!(notes.iter().any(|note| note.starts_with(&named) && note.contains(option)), "{notes:?}");
    }
}

/// Keys beside `x` are no features, which is said of those that have no other meaning.
#[test]
fn keys_beside_x_are_told() {
    let notes = |line: &str| open(&format!("{line}\n{line}\n"), &ReadOptions::default()).notes();
    let said = |line: &str| notes(line).iter().any(|note| note.contains(" beside \"x\" "));
    let one = "the key \"z\" beside \"x\" is ignored: the features are those of \"x\"";
    assert_eq!(notes(r#"{"x": [1, 2], "z": 3, "y": "a"}"#), [one]);
    let two = r#"the keys "v", "z" beside "x" are ignored: the features are those of "x""#;
    assert!(notes(r#"{"x": {"a": 1}, "z": 3, "v": 4, "y": "a"}"#).contains(&two.to_owned()));
    assert!(!said(r#"{"x": [1, 2], "weight": 3, "id": 7, "tag": "t", "y": "a"}"#));
    assert!(!said(r#"{"x": 1, "z": 3, "y": "a"}"#));
}

/// Keys are read as they are written, so that one with a blank around it is another one, which is said.
#[test]
fn keys_that_differ_in_blanks_are_told() {
    let said = |first: &str, second: &str| {
        let notes = open(&format!("{first}\n{second}\n"), &ReadOptions::default()).notes();
        notes.into_iter().find(|note| note.contains("blanks around them"))
    };
    let sentence = "the keys \" age\" and \"age\" differ in the blanks around them alone, and are two features; if they are one, write it \
                    without blanks";
    assert_eq!(said(r#"{"age": 1, "y": "a"}"#, r#"{" age": 2, "y": "b"}"#).as_deref(), Some(sentence));
    assert!(said(r#"{"x": {"age": 1}, "y": "a"}"#, r#"{"x": {"age ": 2}, "y": "b"}"#).is_some());
    assert_eq!(said(r#"{" age": 1, "y": "a"}"#, r#"{" age": 2, "y": "b"}"#), None);
}

/// Two writings of a key are two keys, and a label is called as one row calls it, which is said.
#[test]
fn keys_in_place_of_others_are_told() {
    let said = |first: &str, second: &str, what: &str| {
        let notes = open(&format!("{first}\n{second}\n"), &ReadOptions::default()).notes();
        notes.into_iter().find(|note| note.contains(what))
    };
    let alike = |first: &str, second: &str| said(first, second, "upper and lower case");
    let sentence = "the keys \"age\" and \"Age\" differ in upper and lower case alone, and are two; if they are one, write it alike";
    assert_eq!(alike(r#"{"age": 1, "y": "a"}"#, r#"{"Age": 2, "y": "b"}"#).as_deref(), Some(sentence));
    assert!(alike(r#"{"a": 1, "label": "a"}"#, r#"{"a": 2, "Label": "b"}"#).is_some());
    assert!(alike(r#"{"x": {"a": 1}, "y": "a"}"#, r#"{"x": {"A": 2}, "y": "b"}"#).is_some());
    assert_eq!(alike(r#"{"a": 1, "y": "a"}"#, r#"{"a": 1, "A": 2, "y": "b"}"#), None);
    let place = |first: &str, second: &str| said(first, second, "stands in place of");
    let sentence = "in 1 of the first 2 rows the key \"y\" stands in place of \"label\", and is no label; if it is theirs, call all alike";
    assert_eq!(place(r#"{"a": 1, "label": "a"}"#, r#"{"a": 2, "y": "b"}"#).as_deref(), Some(sentence));
    assert_eq!(place(r#"{"a": 1, "label": "a"}"#, r#"{"a": 2, "label": "b", "y": "b"}"#), None);
    assert_eq!(place(r#"{"a": 1, "label": "a"}"#, r#"{"a": 2}"#), None);
}

/// Actions between the rows are no rows of their own, which were unlabelled.
#[test]
fn actions_of_elasticsearch_are_refused() {
    let refused = |action: &str, rows: usize| {
        let text = format!("{action}\n{{\"a\": 1, \"label\": \"x\"}}\n").repeat(rows);
        let options = ReadOptions::default();
        let opened = from_read(Box::new(std::io::Cursor::new(text)), "a.ndjson", &options);
        opened.err().map(|error| error.to_string())
    };
    let sentence = "a.ndjson: has an action of Elasticsearch before each row, which is none; leave them out, as in sed -n 'n;p'";
    assert_eq!(refused("{\"index\": {\"_id\": \"7\"}}", 4).as_deref(), Some(sentence));
    assert_eq!(refused("{\"index\": 7}", 4), None);
    assert_eq!(refused("{\"index\": {\"_id\": \"7\"}, \"label\": \"y\"}", 4), None);
}

use super::*;
use crate::read::open::from_read;
use crate::read::row::RowLabel;
use crate::testing::read_all;

fn open(text: &str, options: &ReadOptions) -> Box<dyn Reader> {
    from_read(Box::new(std::io::Cursor::new(text.to_owned())), "a.ndjson", options).unwrap()
}

/// Rows as `label'tag*weight name=value ...`, errors as their text.
fn read(reader: &mut dyn Reader) -> Vec<String> {
    read_all(reader, |row| {
        let label = match row.label() {
            RowLabel::Name(name) => name.to_owned(),
            RowLabel::Missing => "?".to_owned(),
            other => format!("{other:?}"),
        };
        format!("{label}'{}*{}", row.tag, row.weight)
    })
}

#[test]
fn objects_become_rows() {
    let cases = [
        (r#"{"x": [1, 0, -0.5, true, null], "y": "a", "u": {"z": [1]}}"#, "a'*1 0=1 2=-0.5 3=1"),
        (r#"{"y": 1.0, "id": 7, "weight": 2, "x": []}"#, "1'7*2"),
        (
            r#"{"x": {"b": 2, "a": "red", "c": false, "d": null}, "y": [0.25, 0.75]}"#,
            "Distribution([0.25, 0.75])'*1 b=2 a=red=1",
        ),
        (r#"{"x": [1], "y": null, "tag": "t", "id": 3}"#, "?'t*1 0=1"),
        (r#"{"x": [1], "y": true}"#, "true'*1 0=1"),
        (r#"{"x": [1], "y": 12345678901234567890}"#, "12345678901234567890'*1 0=1"),
        (r#"{"weight": 80, "hue": "re\u0064", "Label": -1}"#, "-1'*1 weight=80 hue=red=1"),
        (r#"{"x": 3, "class": "", "y": 2}"#, "?'*1 x=3 y=2"),
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
        (array, r#"{"x": [1, 2], "y": "nan"}"#, r#"key "y": label "nan" is not finite"#),
        (array, r#"{"x": [1e999, 2]}"#, "is not a JSON object: number out of range at character 12"),
        (array, r#"{"x": [1, 2"#, "is not a JSON object: EOF while parsing a list at character 11"),
        (array, "[1, 2]", "is not a JSON object: invalid type: sequence, expected an object at character 0"),
        (array, r#"{"x": [1, 2]} 3"#, "is not a JSON object: trailing characters at character 15"),
        (flat, r#"{"a": 1, "a": 2}"#, r#"feature "a" appears twice"#),
        (flat, r#"{"y": 1, "y": 2}"#, r#"key "y": appears twice in the row"#),
        (flat, r#"{"a": [1]}"#, r#"key "a": an array where a number, a bool, a string or null is needed"#),
        (
            flat,
            r#"{"a": {"b": 1}}"#,
            r#"key "a": an object where a number, a bool, a string or null is needed"#,
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
        ["format: ndjson", "label: key \"kind\"", "weight: key \"w\"", "features: all other keys"]
    );

    // A label that only later rows have is still no feature.
    let mut reader = open("{\"a\": 1}\n{\"a\": 2, \"target\": 3}\n", &ReadOptions::default());
    assert_eq!(read(&mut *reader), ["?'*1 a=1", "3'*1 a=2"]);

    // Arrays of a saved model keep their length.
    let mut reader = open("{\"x\": [1, 2]}\n", &ReadOptions::default());
    read(&mut *reader);
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    let rows = read(&mut *open("{\"x\": [1]}\n", &saved));
    assert_eq!(rows, [r#"a.ndjson:1: "x" has 1 number, where the rows before it have 2"#]);
    let error = from_read(Box::new(&b"{\"a\": 1}\n"[..]), "b.ndjson", &saved).err().unwrap();
    assert_eq!(error.to_string(), "b.ndjson: names its features, but the saved model knows them by number");

    // A bad first row shows nothing; the next one does.
    let mut reader = open("#\n\n{\"x\": [1, 2]}\n", &saved);
    assert_eq!(read(&mut *reader).len(), 2);
    assert_eq!(reader.describe()[3].1, "the array \"x\"");
}

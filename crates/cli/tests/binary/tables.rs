//! Tables as people have them: tickets from today to tomorrow, and files with something odd about them.

use std::fmt::Write as _;
use std::process::Command;

use crate::util::Folder;

/// Without an option, free text is learnt from; and a learner that is no better than guessing is named.
#[test]
fn tickets_are_learnt_as_they_are() {
    let folder = Folder::new();
    folder.run("generate tickets --rows 3000 --output tickets.csv").succeeded();
    let ran = folder.run("run tickets.csv --label queue --limit 1500").succeeded();
    for part in [
        "     text  \"text\"",
        "     time  \"created_at\" (as 2026-11-22)",
        "  numbers  \"amount\" (as 1,234.50)",
        "categories  \"customer\", \"channel\", \"priority\"",
        " left out  \"id\"",
        "column \"id\" is left out: 1000 of its first 1000 cells differ",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert!(ran.stdout.contains("naming the commonest"), "{}", ran.stdout);
    let object = folder.summary("tickets.csv --label queue --window 1000");
    let error = object["window"]["error_rate"].as_f64().unwrap();
    assert!(error < 0.2, "{error}");
    let commonest = object["baselines"]["commonest_class_error_rate"].as_f64().unwrap();
    assert!((0.65..0.75).contains(&commonest), "{commonest}");
    assert!(object["baselines"]["warning"].is_null());
    let blind =
        folder.run("run tickets.csv --label queue --drop text,amount,created_at --limit 1000").succeeded();
    assert!(blind.stderr.contains("BETTER THAN GUESSING"), "{}", blind.stderr);
}

#[test]
#[ignore = "slow: ten thousand rows"]
fn ten_thousand_tickets_without_an_option() {
    let folder = Folder::new();
    folder.run("generate tickets --output tickets.csv").succeeded();
    let object = folder.summary("tickets.csv --label queue --save model");
    let error = object["error_rate"].as_f64().unwrap();
    assert!(error < 0.12, "{error}");
    let bytes = folder.read("model").len();
    // Words and pairs of words have features of their own.
    assert!(bytes < 16_000_000, "{bytes}");
}

/// The page for people is run as it stands.
#[test]
fn the_how_to_page_works() {
    let folder = Folder::new();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/support-tickets.sh");
    let output = Command::new("bash")
        .args([page, folder.path("").to_str().unwrap()])
        .env("NOREGRET", assert_cmd::cargo::cargo_bin!("noregret"))
        .envs([("ROWS", "600"), ("TOMORROW", "200")])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let sorted = folder.text("sorted.csv");
    let lines: Vec<&str> = sorted.lines().collect();
    assert_eq!((lines.len(), lines[0]), (201, "id,label,confidence"), "{said}");
    assert!(lines[1].starts_with("T-000601,"), "{}", lines[1]);
    let learnt = folder.text("learnt.csv");
    assert_eq!((learnt.lines().count(), learnt.lines().next()), (601, Some("id,label,confidence,truth")));
    assert!(said.contains("there is no column \"priority\""), "{said}");
    assert!(said.contains("1 class absent from the model: \"recycling\""), "{said}");
    let inspected = String::from_utf8(output.stdout).unwrap();
    assert!(inspected.contains("recycling"), "{inspected}");
}

/// Amounts are numbers in whatever way a minus, thousands and a currency are written.
#[test]
fn amounts_are_numbers() {
    let loss = |written: &dyn Fn(usize) -> String| {
        let line = |t: usize| {
            format!("{{\"a\":\"{}\",\"b\":{},\"label\":\"{}\"}}\n", written(t), t % 5, ["x", "y"][t % 7 / 4])
        };
        let folder = Folder::with("a.ndjson", (0..60).map(line).collect::<String>());
        folder.summary("a.ndjson --learner ogd")["log_loss"].clone()
    };
    let expected = loss(&|t| format!("$-{},234.50", t % 7 + 1));
    let ways: [&dyn Fn(usize) -> String; 5] = [
        &|t| format!("-${},234.50", t % 7 + 1),
        &|t| format!("(${},234.50)", t % 7 + 1),
        &|t| format!("\u{2212}{}\u{202f}234.50", t % 7 + 1),
        &|t| format!("-{}\u{a0}234,50\u{a0}€", t % 7 + 1),
        &|t| format!("-{}’234.50", t % 7 + 1),
    ];
    for written in ways {
        assert_eq!(loss(written), expected, "{}", written(1));
    }
}

/// A file of `rows` rows.
fn file(header: &str, rows: usize, row: impl Fn(usize) -> String) -> String {
    let mut text = format!("{header}\n");
    for t in 0..rows {
        writeln!(text, "{}", row(t)).unwrap();
    }
    text
}

/// Files with something odd about them, and the note about it. Column `a` determines the label.
#[test]
fn messy_files_are_run_to_a_sensible_end() {
    let label = |t: usize| ["no", "yes"][usize::from(t * 7 % 10 > 4)];
    let number = |t: usize| format!("{}.5", t * 7 % 10);
    let days = |t: usize| 1 + t * 5 % 28;
    let files = [
        (
            "identifiers",
            file("id,key,a,y", 300, |t| format!("{t},u-{t:x},{},{}", number(t), label(t))),
            "\"key\" is left out: 300 of its first 300 cells differ, such as \"u-0\": it is taken for an identifier; named as a column of text or a categorical one, it is kept",
        ),
        (
            "types",
            file("a,b,y", 1200, |t| {
                let b = if t > 1100 { "n.k.".to_owned() } else { (t * 7 % 1201).to_string() };
                format!("{},{b},{}", number(t), label(t))
            }),
            "column \"b\": 99 cells are no numbers, the first \"n.k.\" in line 1103",
        ),
        (
            "commas",
            file("a;b;y", 300, |t| format!("{},5;1.{:03},25;{}", t * 7 % 10, t * 7 % 300, label(t))),
            "\"a\" (as 1.234,50), \"b\" (as 1.234,50)",
        ),
        (
            "dates",
            file("a,d1,d2,d3,d4,y", 300, |t| {
                let day = days(t);
                format!(
                    "{},2026-03-{day:02},{day}.3.2026,3/{day}/2026,{day} Mar 2026,{}",
                    number(t),
                    label(t)
                )
            }),
            "\"d1\" (as 2026-11-22), \"d2\" (as 22.11.2026), \"d3\" (as 11/22/2026), \"d4\" (as 22 Nov 2026)",
        ),
        (
            "headers",
            format!(
                "a,b,y\nunit,word,class\n{}",
                file("", 300, |t| format!("{},x{},{}", number(t), t % 3, label(t))).trim_start()
            ),
            "the second line is not a row",
        ),
        (
            "constant",
            file("a,currency,y", 300, |t| format!("{},EUR,{}", number(t), label(t))),
            "column \"currency\" is always \"EUR\"",
        ),
        (
            "missing",
            file("a,rare,y", 300, |t| {
                format!(
                    "{},{},{}",
                    number(t),
                    if t % 10 == 0 { t.to_string() } else { String::new() },
                    label(t)
                )
            }),
            "column \"rare\" is missing in 90 %",
        ),
        (
            "late",
            file("a,late,y", 1200, |t| {
                format!("{},{},{}", number(t), if t < 1100 { "" } else { "red" }, label(t))
            }),
            "column \"late\" is empty in the first 1000 rows, and taken for numbers: if texts follow, name it as a categorical column",
        ),
        (
            "leak",
            file("a,copy,y", 300, |t| format!("{},c-{},{}", number(t), label(t), label(t))),
            "column \"copy\" has one value for each class",
        ),
        (
            "copies",
            file("a,b,c,y", 300, |t| {
                format!("{},{},{},{}", number(t % 50), t % 50, t % 7 % 2, label(t % 50))
            }),
            "are exact copies of earlier ones",
        ),
        (
            "emoji",
            file("a,said,y", 300, |t| {
                let mood = if label(t) == "yes" { "🎉 great" } else { "😡 grr" };
                format!("1,\"well, {mood} again {t} times\",{}", label(t))
            }),
            "text  \"said\"",
        ),
        (
            "long",
            file("a,said,y", 300, |t| {
                let words =
                    if t == 100 { "word and more ".repeat(20_000) } else { format!("some few words {t}") };
                format!("{},{words},{}", number(t), label(t))
            }),
            "text  \"said\"",
        ),
        (
            "classes",
            file("a,b,y", 2500, |t| format!("{},{},n{}", t % 5, t % 11, t * 7 % 2000)),
            "the label \"y\" has 2000 different values in 2500 rows, and is hardly a class; --label names another column",
        ),
    ];
    let folder = Folder::new();
    for (name, text, note) in &files {
        folder.write("a.csv", text);
        let limit = if *name == "classes" { " --limit 20" } else { "" };
        let ran = folder.run(&format!("run a.csv{limit}")).succeeded();
        assert!(ran.stderr.contains(note), "{name}: {}", ran.stderr);
        if *name != "classes" {
            let object = folder.summary("a.csv");
            let error = object["error_rate"].as_f64().unwrap();
            assert!(error < 0.25, "{name}: {error}");
        }
    }
}

/// Further files, each with several notes.
#[test]
fn more_messy_files() {
    let label = |t: usize| ["no", "yes"][usize::from(t * 7 % 10 > 4)];
    let number = |t: usize| format!("{}.5", t * 7 % 10);
    let day = |t: usize| {
        let (month, day) = (1 + t * 3 % 12, 1 + t * 5 % 28);
        match t % 4 {
            0 => format!("2026-{month:02}-{day:02}"),
            1 => format!("{day:02}.{month:02}.2026"),
            2 => format!("{month:02}/{day:02}/2026"),
            _ => format!("\"{} {day}, 2026 10:30\"", ["Jan", "Feb", "Mar", "Apr"][month % 4]),
        }
    };
    let plain = || file("a,b,y", 300, |t| format!("{},x{},{}", number(t), t % 3, label(t)));
    let files = [
        (
            file("a,when,y", 300, |t| format!("{},{},{}", number(t), day(t), label(t))),
            vec![
                "time  \"when\" (as 11/22/2026 and other notations)",
                "column \"when\" holds days in several notations, such as \"2026-01-01\", ",
                "the month is taken to come first, as ",
            ],
        ),
        (
            file("a,when,y", 300, |t| {
                format!("{},{:02}/{:02}/2026,{}", number(t), 1 + t % 12, 1 + t % 7, label(t))
            }),
            vec![
                "column \"when\": in \"08/01/2026\" the month is taken to come first, which no cell of the column shows",
            ],
        ),
        (
            format!("Sales 2026\n{}", plain()),
            vec![
                "the first line, \"Sales 2026\", is not a row",
                "label column \"y\"",
                "columns 1, categorical columns \"b\"",
            ],
        ),
        (
            format!("Sales 2026,,\n\nby the office,,\n{}", plain()),
            vec!["the first 2 lines, from \"Sales 2026\" on, are not rows", "label column \"y\""],
        ),
        (
            format!("measured,,\n{}", plain()),
            vec!["the first line, \"measured\", is not a row", "label column \"y\""],
        ),
        (
            file("a,b,y", 300, |t| format!("{0},{0},{1}", number(t), label(t))),
            vec!["column \"b\" is a copy of column \"a\" in all 300 rows"],
        ),
        (
            file("a,b,y", 300, |t| format!("{},{},{}", t % 150, t % 150 * 7, label(t % 150))),
            vec!["150 of all 300 rows are exact copies of earlier ones"],
        ),
        (
            file("copy,y", 300, |t| format!("c-{0},{0}", label(t))),
            vec!["column \"copy\" has one value for each class"],
        ),
    ];
    let folder = Folder::new();
    for (text, notes) in &files {
        folder.write("a.csv", text);
        let ran = folder.run("run a.csv --learner folklore --save m").succeeded();
        for note in notes {
            assert!(ran.stderr.contains(note), "{note}: {}", ran.stderr);
        }
        assert!(ran.stderr.contains("300 rows, 2 classes"), "{}", ran.stderr);
        // A model reads the same file again, and one without what stood above the names.
        let predicted = folder.run("predict m a.csv").succeeded();
        assert_eq!(predicted.stdout.lines().count(), 300, "{}", predicted.stderr);
        let from = text.find("a,").filter(|_| !text.starts_with("copy")).unwrap_or(0);
        folder.write("b.csv", &text[from..]);
        assert_eq!(folder.run("predict m b.csv").succeeded().stdout, predicted.stdout);
    }
}

/// New columns are called by their names, and so are new categories and numbers of features.
#[test]
fn what_is_new_tomorrow_is_named() {
    let folder = Folder::new();
    let row = |t: usize| format!("{},{},{}", t % 7, ["red", "blue"][t % 2], ["p", "q"][t % 2]);
    folder.write("a.csv", file("a,hue,y", 60, row));
    folder.run("run a.csv --quiet --learner ogd --save m").succeeded();
    let new = "mood,c1,c2,c3,c4,c5,c6";
    let tomorrow = |t: usize| format!("{},happy,1,1,1,1,1,1", row(t).replace("blue", "green"));
    folder.write("b.csv", file(&format!("a,hue,y,{new}"), 20, tomorrow));
    let columns = "the columns \"mood\", \"c1\", \"c2\", \"c3\", \"c4\" and 2 more are new: the model was trained without them, and they are ignored";
    let category = "features that the model does not have are ignored: \"hue=green\"; it has those of the data that it was made from";
    for run in ["predict m b.csv", "run b.csv --load m"] {
        let ran = folder.run(run).succeeded();
        assert!(ran.stderr.contains(columns) && ran.stderr.contains(category), "{run}: {}", ran.stderr);
    }
    folder.write("c.csv", file("a,hue,y,mood", 20, |t| format!("{},happy", row(t))));
    let ran = folder.run("predict m c.csv").succeeded();
    assert!(ran.stderr.contains("the column \"mood\" is new"), "{}", ran.stderr);
    folder.write("a.svm", "p 1:1\nq 2:1\n".repeat(20));
    folder.run("run a.svm --quiet --learner ogd --save m").succeeded();
    folder.write("b.svm", "p 1:1 7:1\nq 2:1 9:2\n".repeat(20));
    let ran = folder.run("predict m b.svm").succeeded();
    assert!(ran.stderr.contains("does not have are ignored: \"7\", \"9\""), "{}", ran.stderr);
    folder.write("b.ndjson", "{\"1\": 1, \"mood\": \"happy\", \"y\": \"p\"}\n".repeat(3));
    folder.write("a.ndjson", "{\"1\": 1, \"y\": \"p\"}\n{\"1\": 2, \"y\": \"q\"}\n".repeat(30));
    folder.run("run a.ndjson --quiet --learner ogd --save m").succeeded();
    let ran = folder.run("predict m b.ndjson").succeeded();
    assert!(ran.stderr.contains("does not have are ignored: \"mood=happy\""), "{}", ran.stderr);
}

/// The tickets as objects: the cells of CSV, nested or not, with what is missing left out.
fn as_objects(csv: &str, nested: bool) -> String {
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let names: Vec<String> = rows.headers().unwrap().iter().map(str::to_owned).collect();
    let mut text = String::new();
    for row in rows.records() {
        let row = row.unwrap();
        let mut object = serde_json::Map::new();
        for (name, cell) in names.iter().zip(&row).filter(|(_, cell)| !cell.is_empty()) {
            if nested && name == "customer" {
                object.insert("who".into(), serde_json::json!({"customer": cell}));
            } else {
                object.insert(name.clone(), cell.into());
            }
        }
        writeln!(text, "{}", serde_json::Value::Object(object)).unwrap();
    }
    text
}

/// The same rows make the same forecasts in CSV and as objects, to the bit, today and tomorrow, and a model
/// of one predicts the other.
#[test]
fn objects_are_tables() {
    let folder = Folder::new();
    folder.run("generate tickets --rows 1200 --output a.csv").succeeded();
    folder.run("generate tickets --rows 100 --seed 1 --output b.csv").succeeded();
    for name in ["a", "b"] {
        folder.write(&format!("{name}.ndjson"), as_objects(&folder.text(&format!("{name}.csv")), false));
        folder
            .write(&format!("{name}-nested.ndjson"), as_objects(&folder.text(&format!("{name}.csv")), true));
    }
    let run = |data: &str, model: &str| {
        folder
            .run(&format!("run {data} --label queue --limit 400 --quiet --save {model} --predictions p.ndjson --top-k 12"))
            .succeeded();
        folder.text("p.ndjson")
    };
    let of_csv = run("a.csv", "csv");
    assert_eq!(run("a.ndjson", "json"), of_csv);
    let ran = folder.run("run a-nested.ndjson --label queue --limit 400").succeeded();
    for part in
        ["text  \"text\"", "time  \"created_at\"", "categories  \"channel\", \"priority\", \"who.customer\""]
    {
        let known = ran.stderr.contains(part) || ran.stderr.contains("categories  \"who.customer\"");
        assert!(known, "{part}: {}", ran.stderr);
    }
    let predicted = |model: &str, data: &str| {
        folder.run(&format!("predict {model} {data} --probabilities")).succeeded().stdout
    };
    let expected = predicted("csv", "b.csv");
    for (model, data) in [("csv", "b.ndjson"), ("json", "b.csv"), ("json", "b.ndjson")] {
        assert_eq!(predicted(model, data), expected, "{model} {data}");
    }
    let inspected = folder.run("inspect json").succeeded().stdout;
    assert!(inspected.contains("text         text"), "{inspected}");
}

/// Writes the tickets as Parquet: with times and amounts of their own types, and null where a cell is empty.
#[cfg(feature = "parquet")]
pub(crate) fn write_parquet(csv: &str, path: &std::path::Path) {
    use std::sync::Arc;

    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let field = |name: &String| match name.as_str() {
        "created_at" => format!("optional int64 {name} (TIMESTAMP(MICROS,false));"),
        "amount" => format!("optional double {name};"),
        _ => format!("optional binary {name} (UTF8);"),
    };
    let schema = format!("message tickets {{ {} }}", names.iter().map(field).collect::<String>());
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut file = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    for rows in rows.chunks(450) {
        let mut group = file.next_row_group().unwrap();
        for (at, name) in names.iter().enumerate() {
            let mut to = group.next_column().unwrap().unwrap();
            let there: Vec<i16> = rows.iter().map(|row| i16::from(!row[at].is_empty())).collect();
            let cells = rows.iter().map(|row| &row[at]).filter(|cell| !cell.is_empty());
            match name.as_str() {
                "created_at" => {
                    let values: Vec<i64> = cells.map(|cell| 1_000_000 * seconds(cell)).collect();
                    to.typed::<Int64Type>().write_batch(&values, Some(&there), None)
                }
                "amount" => {
                    let values: Vec<f64> = cells.map(|cell| cell.replace(',', "").parse().unwrap()).collect();
                    to.typed::<DoubleType>().write_batch(&values, Some(&there), None)
                }
                _ => {
                    let values: Vec<ByteArray> = cells.map(ByteArray::from).collect();
                    to.typed::<ByteArrayType>().write_batch(&values, Some(&there), None)
                }
            }
            .unwrap();
            to.close().unwrap();
        }
        group.close().unwrap();
    }
    file.close().unwrap();
}

/// Seconds from 1970 to a time of 2026 in its first months, `2026-02-01 10:31`.
#[cfg(feature = "parquet")]
fn seconds(cell: &str) -> i64 {
    let part = |from: usize, to: usize| cell[from..to].parse::<i64>().unwrap();
    assert!(cell.starts_with("2026-"), "{cell}");
    let days =
        [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][part(5, 7) as usize - 1] + part(8, 10) - 1;
    let second = if cell.len() >= 19 { part(17, 19) } else { 0 };
    (20_454 + days) * 86_400 + part(11, 13) * 3600 + part(14, 16) * 60 + second
}

/// The same rows make the same summary and the same forecasts in CSV and in Parquet, to the bit, today and
/// tomorrow, and a model of one predicts the other.
#[cfg(feature = "parquet")]
#[test]
fn parquet_files_are_tables() {
    let folder = Folder::new();
    folder.run("generate tickets --rows 1200 --output a.csv").succeeded();
    folder.run("generate tickets --rows 100 --seed 1 --set day=2 --output b.csv").succeeded();
    for name in ["a", "b"] {
        write_parquet(&folder.text(&format!("{name}.csv")), &folder.path(&format!("{name}.parquet")));
    }
    let run = |ending: &str, options: &str| {
        let data = format!("a.{ending} --label queue --limit 250 {options}");
        let mut summary =
            folder.summary(&format!("{data} --save {ending} --predictions p.ndjson --top-k 12"));
        for key in ["seconds", "rows_per_second", "data"] {
            summary.as_object_mut().unwrap().remove(key);
        }
        let said = folder.run(&format!("run {data} --learner ogd")).succeeded().stderr;
        let kinds = ["label", "numbers", "categories", "text", "time", "left out"];
        let kind = |line: &&str| kinds.iter().any(|kind| line.trim_start().starts_with(&format!("{kind}  ")));
        let block = said.lines().filter(kind).map(|line| line.replace(" (as 1,234.50)", ""));
        (summary, folder.text("p.ndjson"), block.collect::<Vec<String>>())
    };
    for options in ["--drop priority,text --id id", "--text customer --categorical text --numeric amount", ""]
    {
        let (csv, parquet) = (run("csv", options), run("parquet", options));
        assert!(csv.2.len() > 3, "{:?}", csv.2);
        assert_eq!(parquet, csv, "{options}");
    }
    let predicted = |model: &str, data: &str| {
        folder.run(&format!("predict {model} {data} --probabilities")).succeeded().stdout
    };
    let expected = predicted("csv", "b.csv");
    for (model, data) in [("csv", "b.parquet"), ("parquet", "b.csv"), ("parquet", "b.parquet")] {
        assert_eq!(predicted(model, data), expected, "{model} {data}");
    }
    let ran = folder.run("run a.parquet --label queue --text txt");
    let sentence =
        "noregret: a.parquet: has no column \"txt\" (did you mean \"text\"?); its columns are \"id\", ";
    assert!(ran.code == 2 && ran.stderr.starts_with(sentence), "{}", ran.stderr);
}

/// Where a forecast is not sure enough there is no label, and what is left is righter.
#[test]
fn no_label_where_it_is_not_sure() {
    let folder = Folder::new();
    folder.run("generate tickets --rows 1200 --output a.csv").succeeded();
    folder.run("generate tickets --rows 300 --seed 5 --output b.csv").succeeded();
    folder.run("run a.csv --label queue --quiet --save m --learner folklore-diag").succeeded();
    let ran = folder.run("predict m b.csv --abstain-cost 0.3 --id id --confidence --label queue").succeeded();
    let (mut empty, mut given) = (0, 0);
    for line in ran.stdout.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let sure: f64 = cells[2].parse().unwrap();
        assert_eq!(cells[1].is_empty(), sure < 0.7, "{line}");
        if cells[1].is_empty() { empty += 1 } else { given += 1 }
    }
    assert!(empty > 10 && given > 10, "{empty} {given}");
    assert!(ran.stderr.contains(&format!("{given} of 300 rows answered")), "{}", ran.stderr);
    let objects = folder.run("predict m b.csv --abstain-cost 0.3 --json").succeeded().stdout;
    let without = objects.lines().filter(|line| line.contains("\"label\":null")).count();
    assert_eq!(without, empty);
    let never = folder.run("predict m b.csv --abstain-cost 1").succeeded().stdout;
    assert!(never.lines().all(|line| !line.is_empty()));
    folder.run("run a.csv --label queue --quiet --save ogd --learner perceptron").succeeded();
    folder
        .run("predict ogd b.csv --abstain-cost 0.3")
        .failed(1, "--abstain-cost: perceptron does not forecast probabilities");
}

/// What columns contribute adds up to the scores, row by row, and on average over the rows.
#[test]
fn contributions_of_columns() {
    let folder = Folder::new();
    folder.run("generate tickets --rows 600 --output a.csv").succeeded();
    folder.run("run a.csv --label queue --quiet --save m --learner ogd").succeeded();
    let rows = folder.run("predict m a.csv --explain").succeeded().stdout;
    let first: serde_json::Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    let columns = first["contributions"].as_object().unwrap();
    assert_eq!(columns.len(), 6, "{first}");
    assert!(columns["text"].as_object().unwrap().len() == first["rest"].as_object().unwrap().len());
    let table = folder.run("predict m a.csv --explain=columns").succeeded().stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("column,size,") && lines.len() == 7, "{table}");
    assert!(lines[1..].iter().any(|line| line.starts_with("text,")), "{table}");
    let sizes: Vec<f64> =
        lines[1..].iter().map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    let objects = folder.run("predict m a.csv --explain=columns --json").succeeded().stdout;
    assert_eq!(objects.lines().count(), 6);
}

/// A model in single precision is smaller, says so, and forecasts what the other does to a millionth.
#[test]
fn smaller_files_where_they_are_asked_for() {
    let folder = Folder::new();
    folder.run("generate tickets --rows 900 --output a.csv").succeeded();
    let run = "run a.csv --label queue --quiet --learner folklore-diag --save";
    folder.run(&format!("{run} double")).succeeded();
    folder.run(&format!("{run} single --save-32bit")).succeeded();
    let (double, single) = (folder.read("double").len(), folder.read("single").len());
    assert!(4 * single < 3 * double, "{single} {double}");
    let inspected = folder.run("inspect single").succeeded().stdout;
    assert!(inspected.contains("in single precision (32 bits)"), "{inspected}");
    let forecasts = |model: &str| -> Vec<f64> {
        let told = folder.run(&format!("predict {model} a.csv --probabilities")).succeeded().stdout;
        let lines = told.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines
            .flat_map(|line| {
                let named = line["probabilities"].as_object().unwrap().clone();
                named.values().map(|p| p.as_f64().unwrap()).collect::<Vec<_>>()
            })
            .collect()
    };
    let most =
        forecasts("double").iter().zip(forecasts("single")).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(most <= 1e-6, "{most}");
    assert_eq!(folder.run("run a.csv --label queue --save-32bit").code, 1);
}

/// Days as mail and HTTP write them are times on every day of the week.
#[test]
fn days_of_mail_are_times() {
    let line = |t: usize| {
        // 1 January 2026 is a Thursday.
        let (weekday, day) = (["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][t % 31 % 7], t % 31 + 1);
        format!("\"{weekday}, {day:02} Jan 2026 10:31:07 GMT\",{},{}\n", t % 5, ["x", "y"][t % 2])
    };
    let folder = Folder::with("a.csv", "sent,a,label\n".to_owned() + &(0..62).map(line).collect::<String>());
    let ran = folder.run("run a.csv --learner ogd").succeeded();
    assert!(ran.stderr.contains("time  \"sent\" (as 22 Nov 2026)"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("cells are no times"), "{}", ran.stderr);
}

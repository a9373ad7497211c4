//! Files as programs and people write them: arrays of records, aligned columns, headers one name short.

use crate::util::{Folder, gzip};

/// The number of rounds and the errors.
fn learnt(folder: &Folder, run: &str) -> (serde_json::Value, serde_json::Value) {
    let summary = folder.summary(&format!("{run} --learner ogd"));
    (summary["rounds"].clone(), summary["errors"].clone())
}

#[test]
fn arrays_of_records_are_rows() {
    let folder = Folder::new();
    let records: Vec<serde_json::Value> = (0..60)
        .map(|t| serde_json::json!({"a": t % 7, "hue": (["red", "a ] \" ,{"][t % 2]), "label": (["x", "y"][t % 2])}))
        .collect();
    let all = serde_json::Value::from(records.clone());
    folder.write("lines.json", records.iter().map(|record| format!("{record}\n")).collect::<String>());
    folder.write("records.json", all.to_string());
    folder.write("indented.json", serde_json::to_string_pretty(&all).unwrap());
    folder.write("records.json.gz", gzip(all.to_string()));
    let expected = learnt(&folder, "lines.json");
    for name in ["records.json", "indented.json", "records.json.gz", "records.json --format ndjson"] {
        assert_eq!(learnt(&folder, name), expected, "{name}");
    }
    let ran = folder
        .run_with("run - --quiet --json --learner ogd --hash-bits 10 --set classes=2", all.to_string())
        .succeeded();
    assert_eq!(ran.summary()["rounds"], expected.0);
    folder.run("run lines.json --quiet --learner ogd --save m").succeeded();
    let answers = folder.run("predict m indented.json").succeeded().stdout;
    assert_eq!(answers, folder.run("predict m lines.json").succeeded().stdout);
    folder.write("cut.json", &all.to_string()[..1000]);
    let cut = folder.run("run cut.json --quiet --learner ogd");
    assert!(cut.code == 2 && cut.stderr.contains("the JSON array has no end"), "{}", cut.stderr);
}

/// JSON without names, or with several lines for an object, is no CSV.
#[test]
fn json_that_is_no_object_a_line() {
    let folder = Folder::new();
    let arrays = "has rows that are arrays of JSON, whose values have no names; write an object for each row, with the name of each \
                  value";
    for (text, what) in [
        ("[1, 2, \"x\"]\n[2, 1, \"y\"]\n", format!("a.json: {arrays}")),
        ("[[1, 2, \"x\"],\n [2, 1, \"y\"]]\n", format!("a.json: {arrays}")),
        (
            "\x1e{\"a\": 1, \"label\": \"x\"}\n\x1e{\"a\": 2, \"label\": \"y\"}\n",
            "a.json: has the character 1e before each object of JSON; leave it out, as in tr -d '\\036'".to_owned(),
        ),
        (
            "event: row\ndata: {\"a\": 1, \"label\": \"x\"}\n\nevent: row\ndata: {\"a\": 2, \"label\": \"y\"}\n\n",
            "a.json: has \"data:\" before each object of JSON, as servers send events; leave the rest out, as in sed -n 's/^data: *//p'"
                .to_owned(),
        ),
        (
            "{\n \"a\": 1,\n \"label\": \"x\"\n}\n",
            "a.json:1: is not a JSON object: EOF while parsing an object at character 1; one object a line was needed, as jq -c . writes \
             them, and jq -c '.data[]' those of a list under the key data"
                .to_owned(),
        ),
        (
            "{\"a\":1,\"label\":\"x\"}{\"a\":2,\"label\":\"y\"}\n",
            "a.json:1: is not a JSON object: trailing characters at character 20; one object a line was needed, as jq -c . writes them"
                .to_owned(),
        ),
        (
            "{\"a\":1,\"label\":\"x\"},\n{\"a\":2,\"label\":\"y\"}\n",
            "a.json:1: is not a JSON object: trailing characters at character 20; no comma was needed behind it".to_owned(),
        ),
    ] {
        folder.write("a.json", text);
        folder.run("run a.json --quiet").failed(2, &what);
    }
}

#[test]
fn tables_of_other_programs_are_read() {
    let folder = Folder::new();
    let rows = |line: &dyn Fn(usize) -> String| (0..60).map(line).collect::<String>();
    let label = |t: usize| ["x", "y"][t % 2];
    folder
        .write("a.csv", "a,b,label\n".to_owned() + &rows(&|t| format!("{},{},{}\n", t % 7, t % 5, label(t))));
    let expected = learnt(&folder, "a.csv");
    // Columns aligned by blanks, with and without names.
    folder.write(
        "aligned.txt",
        "   a    b  label\n".to_owned() + &rows(&|t| format!("{:>4} {:>4}  {:<5}\n", t % 7, t % 5, label(t))),
    );
    assert_eq!(learnt(&folder, "aligned.txt"), expected);
    folder.write("bare.txt", rows(&|t| format!("  {}.0{:>6}  {}\n", t % 7, t % 5, label(t))));
    assert_eq!(learnt(&folder, "bare.txt"), expected);
    // A title with a bar is not Vowpal Wabbit's, and no names of columns, though it has as many words.
    folder.write(
        "uci.test",
        "|1x3 Cross validator\n".to_owned() + &rows(&|t| format!("{}, {}, {}\n", t % 7, t % 5, label(t))),
    );
    folder.run("run uci.test").failed(
        2,
        "uci.test: has one cell in its first row, where most rows have 3: if that line is no row, leave it out, as in tail -n +2",
    );
    let named = folder.text("uci.test").replace("|1x3 Cross validator", "a, b, label");
    folder.write("uci.csv", named);
    assert_eq!(learnt(&folder, "uci.csv"), expected);
    // Decimal commas between blanks delimit nothing.
    folder.write("commas.txt", rows(&|t| format!("{},5 {},25 {}\n", t % 7, t % 5, label(t))));
    let ran = folder.run("run commas.txt --learner ogd").succeeded();
    for part in ["delimiter space, header no", "numbers  \"1\" (as 1.234,50), \"2\" (as 1.234,50)"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    // Padding behind compressed data.
    let mut padded = gzip(folder.read("a.csv"));
    padded.extend([0; 500]);
    folder.write("padded.csv.gz", &padded);
    assert_eq!(learnt(&folder, "padded.csv.gz"), expected);
    folder.write("broken.csv.gz", [&padded[..], b"more and more of it"].concat());
    assert!(folder.run("run broken.csv.gz --quiet").stderr.contains("gzip data are damaged"));
    // R names its rows without a name for them.
    folder.write(
        "r.txt",
        "\"a\" \"b\" \"label\"\n".to_owned()
            + &rows(&|t| format!("\"{}\" {} {} \"{}\"\n", t + 1, t % 7, t % 5, label(t))),
    );
    let summary = folder.summary("r.txt --learner ogd --drop 1");
    assert_eq!((&summary["rounds"], &summary["errors"]), (&expected.0, &expected.1), "{summary}");
}

#[test]
fn weights_of_arff_are_read() {
    let header = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n";
    let rows: String = (0..40).map(|t| format!("{},{},{{{}}}\n", t % 5, ["x", "y"][t % 2], t % 3)).collect();
    let folder = Folder::with("a.arff", header.to_owned() + &rows);
    let table: String = (0..40).map(|t| format!("{},{},{}\n", t % 5, ["x", "y"][t % 2], t % 3)).collect();
    folder.write("a.csv", "a,c,weight\n".to_owned() + &table);
    let expected = learnt(&folder, "a.csv --label c --weight weight");
    assert_eq!(learnt(&folder, "a.arff"), expected);
    let sparse: String =
        (0..40).map(|t| format!("{{0 {}, 1 {}}}, {{{}}}\n", t % 5, ["x", "y"][t % 2], t % 3)).collect();
    folder.write("s.arff", header.to_owned() + &sparse);
    assert_eq!(learnt(&folder, "s.arff").0, expected.0);
    // Weka leaves out a weight of 1, also that of the first row.
    let weka = |text: &str| header.to_owned() + &text.replace(",{1}", "").replace(", {1}", "");
    folder.write("first.arff", weka(&rows[rows.find('\n').unwrap() + 1..]));
    folder.write("ones.arff", header.to_owned() + &rows[rows.find('\n').unwrap() + 1..]);
    assert_eq!(learnt(&folder, "first.arff"), learnt(&folder, "ones.arff"));
    folder.write("s1.arff", weka(&sparse));
    assert_eq!(learnt(&folder, "s1.arff"), learnt(&folder, "s.arff"));
}

/// The header of sparse ARFF says what columns are; they can be left out.
#[test]
fn columns_of_sparse_arff() {
    let rows: String =
        (0..40).map(|t| format!("{{0 {}, 1 {}, 2 {}}}\n", t % 5, t % 3, ["x", "y"][t % 2])).collect();
    let header = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {x,y}\n@data\n";
    let folder = Folder::with("s.arff", header.to_owned() + &rows);
    let features =
        |options: &str| folder.summary(&format!("s.arff --learner ogd {options}"))["features"].clone();
    assert_eq!((features(""), features("--drop b")), (2.into(), 1.into()));
    folder
        .run("run s.arff --drop d")
        .failed(2, "s.arff: has no column \"d\"; its columns are \"a\", \"b\", \"c\"");
    folder.run("run s.arff --categorical b").failed(
        2,
        "s.arff: has sparse rows of ARFF, of which the header says what the columns are; categorical = \"b\" has no effect: leave it \
         out",
    );
}

#[test]
fn several_labels_in_a_row_are_refused() {
    let folder = Folder::with("a.svm", "1,2 1:3\n1 1:2\n");
    let sentence =
        "a.svm:1: the label \"1,2\" names several labels, and a row has one: write a row for each of them";
    folder.run("run a.svm --quiet").failed(2, sentence);
    folder.write("a.ndjson", "{\"a\": 1, \"y\": [\"p\", \"q\"]}\n{\"a\": 2, \"y\": \"p\"}\n");
    let ran = folder.run("run a.ndjson --quiet");
    assert!(ran.code == 2 && ran.stderr.contains("of several labels, write a row each"), "{}", ran.stderr);
}

#[test]
fn a_comparison_goes_on_without_those_that_cannot_learn() {
    let rows = "{\"x\": {\"f\": 1}, \"labels\": [\"a\", \"b\"], \"y\": \"a\"}\n{\"x\": {\"f\": 2}, \"labels\": [\"c\", \"b\"], \"y\": \"c\"}\n";
    let folder = Folder::with("a.ndjson", rows.repeat(30));
    let ran = folder.run("compare a.ndjson --quiet --learners newtron,squarecb");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("left out: newtron: some rows have only some"), "{}", ran.stderr);
    let table = ran.stdout.split("\n\n").next().unwrap();
    assert!(table.contains("squarecb") && !table.contains("newtron"), "{}", ran.stdout);
    assert_eq!(folder.run("compare a.ndjson --quiet --learners newtron").code, 1);
}

/// Of two writings of the label's name, the usual one is meant, in every format.
#[test]
fn the_label_is_the_column_in_lower_case() {
    let folder = Folder::new();
    let rows = |line: &dyn Fn(usize) -> String| (0..60).map(line).collect::<String>();
    let (kind, label) = (|t: usize| ["u", "v", "w"][t % 3], |t: usize| ["x", "y"][t % 2]);
    let csv = rows(&|t| format!("{},{},{}\n", t % 7, kind(t), label(t)));
    folder.write("a.csv", format!("a,Label,label\n{csv}"));
    let json = |t| format!("{{\"a\":{},\"Label\":\"{}\",\"label\":\"{}\"}}\n", t % 7, kind(t), label(t));
    folder.write("a.ndjson", rows(&json));
    let header =
        "@relation a\n@attribute a numeric\n@attribute Label {u,v,w}\n@attribute label {x,y}\n@data\n";
    folder.write("a.arff", format!("{header}{csv}"));
    for data in ["a.csv", "a.ndjson", "a.arff"] {
        assert_eq!(folder.summary(&format!("{data} --learner ogd"))["classes"], 2, "{data}");
    }
}

/// Nearly all rows are lost if the format is wrong, and that is a failure.
#[test]
fn predicting_nothing_is_a_failure() {
    let folder = Folder::with("a.csv", "a,b,label\n1,2,x\n2,1,y\n".to_owned() + &"1,2,x\n2,1,y\n".repeat(20));
    folder.run("run a.csv --quiet --learner ogd --save m").succeeded();
    folder.write("b.test", "|1x3 Cross validator\na,b,label\n1,2,x\n2,1,y\n");
    assert_eq!(folder.run("predict m b.test").succeeded().stdout, "x\ny\n");
    let ran = folder.run("predict m b.test --format vw");
    assert!(
        ran.code == 2 && ran.stderr.contains("the others have no feature of the model"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_is_better_by_chance_is_not_said_to_be_no_better() {
    let row = |t: usize| {
        let (label, sign) = (["x", "y"][t % 2], if t % 12 < 7 { 1 } else { -1 });
        format!("{},{label}\n", if t.is_multiple_of(2) { sign } else { -sign })
    };
    let folder = Folder::with("a.csv", "a,label\n".to_owned() + &(0..120).map(row).collect::<String>());
    let ran = folder.run("run a.csv --learner perceptron --quiet");
    let rate = |line: &str| line.split_whitespace().find_map(|word| word.parse::<f64>().ok());
    let rates: Vec<f64> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("error rate") || line.starts_with("naming"))
        .filter_map(rate)
        .collect();
    let shouts = ran.stderr.contains("NO BETTER THAN GUESSING");
    assert_eq!(shouts, rates[0] >= rates[1], "{} {}", ran.stdout, ran.stderr);
}

/// Spreadsheets of countries with decimal commas: 1.200 is 1200 there, and 0.100 is not 100.
#[test]
fn points_beside_decimal_commas() {
    let rows: String = [950, 1200, 870, 2310, 640, 1750, 990, 2800]
        .map(|amount| {
            let shown = if amount > 999 {
                format!("{}.{:03}", amount / 1000, amount % 1000)
            } else {
                amount.to_string()
            };
            format!("{shown};0,5;{}\n", if amount > 999 { "high" } else { "low" })
        })
        .concat();
    let folder = Folder::with("a.csv", format!("amount;rate;label\n{}", rows.repeat(4)));
    let ran = folder.run("run a.csv --learner folklore --save m").succeeded();
    assert!(
        ran.stderr.contains("numbers such as \"1.200\" is taken for one before thousands"),
        "{}",
        ran.stderr
    );
    folder.write("b.csv", "amount;rate\n1.200;0,5\n1200;0,5\n900;0,5\n");
    let forecasts = folder.run("predict m b.csv --probabilities").succeeded().objects();
    let [first, second, third] = [0, 1, 2].map(|row| &forecasts[row]["probabilities"]);
    assert!(first == second && second != third, "{forecasts:?}");

    let folder = Folder::with("a.csv", format!("a;label\n{}", "0,1;down\n0,9;up\n".repeat(20)));
    folder.run("run a.csv --learner ogd --quiet --save m").succeeded();
    folder.write("b.csv", "a\n0.100\n0.900\n");
    let ran = folder.run("predict m b.csv").succeeded();
    assert!(ran.stderr.contains("count as missing"), "{}", ran.stderr);
}

/// What is read as data, although it is a log of decisions, and names that a file does not have.
#[test]
fn logs_and_names_that_are_not_there() {
    let rows = "a,red,0.5,0\na,green,0.5,1\n".repeat(10);
    let folder = Folder::with("log.csv", format!("h,label,probability,reward\n{rows}"));
    let ran = folder.run("run log.csv --learner ogd --quiet").succeeded();
    assert!(ran.stderr.contains("are those of a log of decisions, and are read as data"), "{}", ran.stderr);
    let objects = [("red", 0), ("green", 1)]
        .map(|(label, reward)| {
            format!("{{\"h\":1,\"label\":\"{label}\",\"probability\":0.5,\"reward\":{reward}}}\n")
        })
        .concat();
    folder.write("of_another.ndjson", objects.repeat(10));
    for log in ["log.csv", "of_another.ndjson"] {
        let said = format!(
            "{log}: the columns \"label\", \"probability\" and \"reward\" are those of a log of decisions, whose labels were played and \
             need not be the right ones: the option decision = label learns from the log, evaluate says what other policies would have \
             earned, and the option label = label takes every label for the right one"
        );
        folder.run(&format!("run {log} --feedback bandit --quiet")).failed(2, &said);
        folder.run(&format!("compare {log} --learners banditron --quiet")).failed(2, &said);
        let ran = folder.run(&format!("run {log} --feedback bandit --label label --quiet")).succeeded();
        assert!(!ran.stderr.contains("a log of decisions"), "{}", ran.stderr);
    }
    let ran = folder.run("run log.csv --feedback bandit --decision label --quiet").succeeded();
    assert!(!ran.stderr.contains("are those of a log of decisions"), "{}", ran.stderr);
    // What the messages about the first line name is there for evaluate, too.
    folder.write("bare.csv", "6~red~0.5~0\n".to_owned() + &"7~red~0.5~0\n8~green~0.5~1\n".repeat(10));
    folder.write("bare.txt", "7~red\n8~green\n".repeat(10));
    folder.run("run bare.txt --delimiter ~ --learner ogd --quiet").succeeded();
    let bare = "evaluate bare.csv --delimiter ~ --decision 2 --probability 3 --reward 4 --policy logged";
    for (header, decisions) in [("", 21), (" --header no", 21), (" --header yes", 20)] {
        let ran = folder.run(&format!("{bare}{header}")).succeeded();
        assert!(ran.stdout.contains(&format!("of {decisions} decisions")), "{header}: {}", ran.stdout);
    }
    folder.write("data.csv", format!("a,label\n{}", "1,x\n2,y\n".repeat(20)));
    folder.run("run data.csv --feedback bandit --quiet --log log.ndjson").succeeded();
    folder.run("run log.ndjson").failed(
        2,
        "log.ndjson: is a log of decisions: a run with bandit feedback learns from it, replay learns it again, and evaluate says what other policies would have earned",
    );
    let ours = "log.ndjson: is a log of decisions in the project's own format, whose lines say what was played and earned: leave out the options for logs of other programs (decision, probability, reward, offered, those about columns, and for evaluate rewards and costs)";
    folder.run("evaluate log.ndjson --policy uniform --drop a").failed(2, ours);
    folder.run("run log.ndjson --feedback bandit --decision label").failed(2, ours);

    folder.run("run data.csv --learner ogd --quiet --save m").succeeded();
    folder.write("on.ndjson", "{\"a\":1,\"on\":[\"y\"]}\n");
    assert_eq!(folder.run("predict m on.ndjson --offered on").succeeded().stdout, "y\n");
    folder
        .run("predict m on.ndjson --offered onn")
        .failed(2, "on.ndjson: has no key \"onn\" (did you mean \"on\"?)");
    folder.write("w.ndjson", "{\"a\":1,\"w\":2,\"label\":\"x\"}\n{\"a\":2,\"w\":1,\"label\":\"y\"}\n");
    folder.run("run w.ndjson --id aa").failed(2, "w.ndjson: has no key \"aa\" (did you mean \"a\"?)");
    folder.run("predict m w.ndjson --id aa").failed(2, "w.ndjson: has no key \"aa\" (did you mean \"a\"?)");
    folder.run("run w.ndjson --weight ww").failed(2, "w.ndjson: has no key \"ww\" (did you mean \"w\"?)");
    folder.write("d.vw", "1 1 | a:1 leak:1\n2 1 | a:2 leak:0\n");
    folder.run("run d.vw --drop leak").failed(
        2,
        "d.vw: is read as vw, which has no columns with names; drop = \"leak\" needs a table (csv, ndjson, arff or parquet)",
    );
    // Vowpal Wabbit writes the tag of a row beside its prediction.
    folder.write("t.vw", "1 'one |n a\n2 two|n b\n".repeat(10));
    folder.run("run t.vw --learner ogd --quiet --save tags").succeeded();
    let named = folder.run("predict tags t.vw --id tag").succeeded().stdout;
    assert!(named.starts_with("id,label\none,1\ntwo,2\none,1\n"), "{named}");
    folder.run("predict tags t.vw --id name").failed(
        2,
        "t.vw: is read as vw, which has no columns with names; id = \"name\" needs a table (csv, ndjson, arff or parquet), and id = tag \
         names rows by their tags",
    );

    // The label has another name in these data.
    folder.write("t.csv", "a,target\n1,x\n2,y\n1,y\n");
    let ran = folder.run("predict m t.csv --label target").succeeded();
    assert!(ran.stderr.contains("error rate 0.33333, "), "{}", ran.stderr);
    for (options, message) in [
        (
            "--label targte",
            "t.csv: has no column \"targte\" (did you mean \"target\"?); its columns are \"a\", \"target\"",
        ),
        ("--weight w", "t.csv: has no column \"w\"; its columns are \"a\", \"target\""),
        ("--drop b", "t.csv: has no column \"b\"; its columns are \"a\", \"target\""),
    ] {
        folder.run(&format!("predict m t.csv {options}")).failed(2, message);
    }
    folder
        .run("predict m w.ndjson --label lable")
        .failed(2, "w.ndjson: has no key \"lable\" (did you mean \"label\"?)");
    // Rows to be predicted may lack the label that the model knows.
    folder.write("u.csv", "a,b\n1,3\n2,4\n");
    folder.run("predict m u.csv --label label").succeeded();
    folder.write("u.ndjson", "{\"a\":1}\n");
    folder.run("predict m u.ndjson --label label").succeeded();
}

/// A saved model says how its columns are read: options that say otherwise are refused, in all formats.
/// Weights that it did not have are heeded, and a label may be called by its number, also in a file that is
/// read twice.
#[test]
fn what_a_saved_model_says_of_columns() {
    let folder = Folder::new();
    let rows = |line: &dyn Fn(usize) -> String| (0..60).map(line).collect::<String>();
    let label = |t: usize| ["x", "y"][t % 7 / 4];
    let csv = rows(&|t| format!("{},{},{},{}\n", t % 7, t % 5, t % 3, label(t)));
    folder.write("a.csv", format!("a,b,w,label\n{csv}"));
    let ndjson = |t| {
        let (a, b, w, label) = (t % 7, t % 5, t % 3, label(t));
        format!("{{\"a\":{a},\"b\":{b},\"w\":{w},\"label\":\"{label}\"}}\n")
    };
    folder.write("a.ndjson", rows(&ndjson));
    folder.run("run a.csv --learner ogd --drop w --label 4 --quiet --save m").succeeded();
    for data in ["a.csv", "a.ndjson"] {
        for (option, name, kind) in [
            ("--drop a", "drop", "numeric"),
            ("--label b", "label", "numeric"),
            ("--weight w", "weight", "dropped"),
        ] {
            let column = option.split(' ').next_back().unwrap();
            let sentence = format!(
                "{data}: {name} = \"{column}\" has no effect: the column is {kind} in the saved model, which says how columns are \
                 read; leave the option out"
            );
            folder.run(&format!("predict m {data} {option}")).failed(2, &sentence);
            folder.run(&format!("run {data} --load m --quiet {option}")).failed(2, &sentence);
        }
    }
    // What the model says, too.
    let scored = folder.run("predict m a.csv --drop w --numeric a --label 4").succeeded();
    assert!(scored.stderr.contains("on the 60 labelled"), "{}", scored.stderr);

    folder.write(
        "plain.csv",
        "a,b,label\n".to_owned() + &rows(&|t| format!("{},{},{}\n", t % 7, t % 5, label(t))),
    );
    folder.run("run plain.csv --learner ogd --quiet --save p").succeeded();
    let loss = |run: &str| folder.summary(&format!("{run} --load p"))["log_loss"].clone();
    assert_eq!(loss("a.csv --weight w"), loss("a.ndjson --weight w"));
    assert_ne!(loss("a.csv --weight w"), loss("a.csv"));

    // A model of rows without names of columns takes the usual name for the label, as from NDJSON.
    folder.write("a.vw", rows(&|t| format!("{} | a:{} b:{}\n", label(t), t % 7, t % 5)));
    folder.run("run a.vw --learner ogd --quiet --save v").succeeded();
    for data in ["plain.csv", "plain.csv --label label", "a.ndjson"] {
        let scored = folder.run(&format!("predict v {data}")).succeeded();
        assert!(scored.stderr.contains("on the 60 labelled"), "{data}: {}", scored.stderr);
    }

    folder.write("bad.csv", format!("a,b,w,label\n{csv}1,2\n"));
    assert_eq!(learnt(&folder, "bad.csv --label 4 --on-bad-row skip"), learnt(&folder, "a.csv"));
}

/// A single label on offer is one.
#[test]
fn one_label_on_offer() {
    let folder = Folder::with("a.vw", "1 | a\n2 | b\n".repeat(20));
    folder.run("run a.vw --learner ogd --quiet --save m").succeeded();
    folder.write("b.vw", "2: | a\n1: 2: | a\n");
    assert_eq!(folder.run("predict m b.vw").succeeded().stdout, "2\n1\n");
}

/// A truth value is one category, whether pandas has written it in CSV or a program in JSON.
#[test]
fn truth_values_of_other_formats() {
    let rows = |line: &dyn Fn(usize) -> String| (0..60).map(line).collect::<String>();
    let folder = Folder::new();
    let csv = |t: usize| format!("{},{}\n", ["True", "False"][t % 3 / 2], ["x", "y"][t % 3 / 2]);
    folder.write("a.csv", "a,label\n".to_owned() + &rows(&csv));
    let json = |t: usize| format!("{{\"a\":{},\"label\":\"{}\"}}\n", t % 3 != 2, ["x", "y"][t % 3 / 2]);
    folder.write("a.ndjson", rows(&json));
    for (learnt, asked) in [("a.csv", "a.ndjson"), ("a.ndjson", "a.csv")] {
        folder.run(&format!("run {learnt} --learner ogd --quiet --save m")).succeeded();
        let answers = |data: &str| folder.run(&format!("predict m {data} --probabilities")).succeeded();
        assert_eq!(answers(asked).stdout, answers(learnt).stdout, "{learnt}");
        assert!(!answers(asked).stderr.contains("ignored"), "{}", answers(asked).stderr);
    }
}

/// Numbers with a unit, durations and times with a zone are read alike in all tables; another unit is no
/// number.
#[test]
fn units_durations_and_zones() {
    let cells = |t: usize| {
        let mass = format!("{} kg", 40 + t * 37 % 60);
        let (took, at) =
            (format!("0 days 0{}:10:00", t % 10), format!("2026-02-{:02} 10:{:02} CET", 1 + t % 28, t % 60));
        [mass, took, at, ["light", "heavy"][usize::from(t * 37 % 60 >= 30)].to_owned()]
    };
    let names = ["mass", "took", "at", "label"];
    let lines =
        |line: &dyn Fn([String; 4]) -> String| (0..200).map(|t| line(cells(t)) + "\n").collect::<String>();
    let folder = Folder::with("a.csv", names.join(",") + "\n" + &lines(&|cells| cells.join(",")));
    let object = |cells: [String; 4]| {
        let pairs = names.iter().zip(cells).map(|(name, cell)| format!("\"{name}\":\"{cell}\""));
        format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
    };
    folder.write("a.ndjson", lines(&object));
    let [csv, ndjson] =
        ["a.csv", "a.ndjson"].map(|name| folder.summary(&format!("{name} --learner ogd --save m")));
    assert_eq!(csv["log_loss"], ndjson["log_loss"]);
    assert!(csv["error_rate"].as_f64().unwrap() < 0.15, "{csv}");
    let said = folder.run("run a.csv --learner ogd").succeeded().stderr;
    assert!(said.contains("\"mass\" (in kg), \"took\" (as 1:02:03, in seconds)"), "{said}");
    assert!(said.contains("\"at\" (as 2026-11-22)"), "{said}");
    folder.write("b.csv", "mass,took,at\n90 kg,0 days 01:00:00,2026-02-01 10:00\n500 g,1:00:00,2026-02-01\n");
    let asked = folder.run("predict m b.csv").succeeded();
    assert!(
        asked.stderr.contains("column \"mass\": 1 cell is no number, the first \"500 g\" in line 3"),
        "{}",
        asked.stderr
    );
}

/// Tables in one object, and what Python prints.
#[test]
fn json_that_is_no_rows_is_named() {
    let folder = Folder::new();
    let whole = "is one object of JSON with a whole table, where an object for each row was needed, as pandas writes them by \
                 to_json(orient=\"records\", lines=True), and jq -c '.data[]' those of a list under the key data";
    for text in [
        r#"{"a":[1,2,3],"label":["p","q","p"]}"#,
        r#"{"columns":["a","label"],"index":[0,1],"data":[[1,"p"],[2,"q"]]}"#,
        r#"{"data":[{"a":1,"label":"p"},{"a":2,"label":"q"}]}"#,
    ] {
        folder.write("a.json", text);
        folder.run("run a.json --quiet").failed(2, &format!("a.json: {whole}"));
    }
    folder.write("a.json", "{'a': 1, 'label': 'p'}\n{'a': 2, 'label': 'q'}\n");
    folder.run("run a.json --quiet").failed(
        2,
        "a.json:1: is not a JSON object: it has a single quotation mark at character 2, where JSON has a double one, as Python's json.dumps \
         writes it",
    );
}

/// In Vowpal Wabbit's text a number stands behind a colon.
#[test]
fn words_with_numbers_are_told() {
    let text = |sign: &str| -> String {
        (0..40).map(|t| format!("{} | a{sign}{}.5 b{sign}{}.25\n", t % 2, t % 7, t % 5)).collect()
    };
    let folder = Folder::with("a.vw", text("="));
    folder.write("b.vw", text(":"));
    let said = |name: &str| folder.run(&format!("run {name} --learner ogd --quiet")).succeeded().stderr;
    let note = "words such as \"a=0.5\" are features of value 1, another one for every number: a number stands behind a colon, as \"a:0.5\"";
    assert!(said("a.vw").contains(note), "{}", said("a.vw"));
    assert!(!said("b.vw").contains("behind a colon"), "{}", said("b.vw"));
}

/// Tables for reading, and cells in single quotation marks.
#[test]
fn tables_that_are_no_csv_are_named() {
    let folder = Folder::new();
    let drawn = "is a table drawn for reading, with a line of dashes, where delimiters alone were needed: psql writes CSV by --csv, sqlite3 by \
                 -csv";
    for (name, text) in [
        ("a.csv", "| a | label |\n|---|---|\n| 1 | x |\n| 2 | y |\n"),
        ("a.txt", " a | label \n---+-------\n 1 | x\n 2 | y\n"),
    ] {
        folder.write(name, text);
        folder.run(&format!("run {name} --quiet")).failed(2, &format!("{name}: {drawn}"));
    }
    folder.write("b.csv", "'a','label'\n'1','x'\n'2','y'\n");
    folder.run("run b.csv --quiet").failed(
        2,
        "b.csv: has its cells in single quotation marks, where CSV has double ones: tr \"'\" '\"' makes these",
    );
}

/// All rows have a cell more than the header, as where R names its rows; and only some have.
#[test]
fn backslashes_before_delimiters_are_told() {
    let folder = Folder::new();
    for every in [1, 3] {
        let row = |t: usize| match t % every {
            0 => format!("{},x\\,y,{}\n", t % 7, ["p", "n"][t % 2]),
            _ => format!("{},x,{}\n", t % 7, ["p", "n"][t % 2]),
        };
        let rows: String = (0..60).map(row).collect();
        folder.write("a.csv", format!("a,b,label\n{rows}"));
        folder.run("run a.csv --quiet").failed(
            2,
            "a.csv: has a backslash before a delimiter within a cell, behind \"x\\\\\", where CSV has double quotation marks around such \
             cells: PostgreSQL's COPY writes these WITH (FORMAT csv), Python's csv by QUOTE_MINIMAL",
        );
    }
    let rows: String = (0..60).map(|t| format!("{t},{},C:\\,{}\n", t % 7, ["p", "n"][t % 2])).collect();
    folder.write("b.csv", format!("n,a,b,label\n{rows}"));
    folder.run("run b.csv --quiet").succeeded();
}

/// Row numbers in lines, in which there is no column to leave out.
#[test]
fn features_that_number_the_rows_are_told() {
    let folder = Folder::new();
    let lines = |line: &dyn Fn(usize, &str) -> String| -> String {
        (0..80).map(|t| line(t, ["x", "y"][t / 40])).collect()
    };
    folder.write("a.svm", lines(&|t, y| format!("{y} 1:{t} 2:{}\n", t % 7)));
    folder.write("a.vw", lines(&|t, y| format!("{y} | id:{t} a:{}\n", t % 7)));
    folder.write("b.vw", lines(&|t, y| format!("{y} | a:{}\n", t % 7)));
    let said = |name: &str| folder.run(&format!("run {name} --learner ogd --quiet")).succeeded().stderr;
    assert!(said("a.svm").contains("feature \"1\" numbers the rows"), "{}", said("a.svm"));
    assert!(said("a.vw").contains("feature \"id\" numbers the rows"), "{}", said("a.vw"));
    assert!(!said("b.vw").contains("numbers the rows"), "{}", said("b.vw"));
}

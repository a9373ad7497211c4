//! Data that are not what they seem: said in a sentence, instead of learnt from in silence.

use crate::util::{Folder, libsvm, rows};

/// Runs over a CSV file of this content, and returns the notes.
#[track_caller]
fn notes(content: &str, options: &str) -> String {
    let folder = Folder::with("a.csv", content);
    let ran = folder.run(&format!("run a.csv --learner ogd {options}")).succeeded();
    let lines = ran.stderr.lines().filter(|line| line.starts_with("noregret: "));
    lines.collect::<Vec<_>>().join("\n")
}

/// A column that is constant in the first rows may vary behind them.
#[test]
fn a_column_that_is_constant_at_first() {
    let line =
        |t: usize| format!("{},{},{}\n", t % 7, if t < 1100 { 5 } else { t % 3 }, ["p", "q"][t * t % 5 % 2]);
    let said = notes(&("a,b,y\n".to_owned() + &(0..1300).map(line).collect::<String>()), "");
    let sentence = "column \"b\" is always \"5\" in the first 1000 rows: it has no information there";
    assert!(said.contains(sentence), "{said}");
}

/// 40 rows of these cells, with numbers for `#` and labels behind them.
fn table(header: &str, cells: &str) -> String {
    let row = |t: usize| format!("{},{}\n", cells.replace('#', &format!("{t}.5")), ["p", "q"][t % 2]);
    format!("{header},y\n{}", (0..40).map(row).collect::<String>())
}

/// Days beside a word for a missing one are days, whatever its share.
#[test]
fn words_among_days_are_missing() {
    for share in [10, 3] {
        let line = |t: usize| {
            let day = format!("2026-{:02}-{:02}", t * 7 % 12 + 1, t * 5 % 28 + 1);
            format!("{},{}\n", if t % share == 1 { "pending" } else { &day }, ["p", "q"][t % 2])
        };
        let said = notes(&("day,y\n".to_owned() + &(0..300).map(line).collect::<String>()), "");
        let words = (0..300).filter(|t| t % share == 1).count();
        assert!(said.contains(&format!("column \"day\": {words} cells are no times")), "{said}");
        assert!(!said.contains("column \"day\" holds"), "told once: {said}");
    }
}

/// As spreadsheets write them below the last row.
#[test]
fn blank_rows_are_told() {
    let said = notes(&(table("a,b", "#,1#") + ",,\n , ,\n"), "");
    let sentence = "noregret: 2 rows, the first in line 42, have empty cells only: they count as rows without a label; leave out what is no row";
    assert!(said.contains(sentence), "{said}");
    assert!(!notes(&(table("a,b", "#,1#") + "0,,\n"), "").contains("empty cells"));
    let folder = Folder::with("a.ndjson", "{\"a\":1,\"y\":\"p\"}\n{\"a\":2,\"y\":\"q\"}\n{ }\n");
    let ran = folder.run("run a.ndjson --learner ogd").succeeded();
    let sentence = "noregret: 1 row, the first in line 3, has no key: it counts as a row without a label; leave out what is no row";
    assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
}

#[test]
fn headers_with_repeated_or_empty_names_are_headers() {
    let said = notes(&table("a,a,,a", "#,#,#,#"), "");
    let sentence = "noregret: a.csv: the header has a name twice: column number 2 is called \"a.2\" here; likewise 1 other column";
    assert_eq!(said, sentence);
    let folder = Folder::with("a.csv", table("a,a,", "#,#,#"));
    let summary = folder.summary("a.csv --save model");
    assert_eq!((summary["rounds"].as_u64(), summary["features"].as_u64()), (Some(40), Some(3)));
    let schema = folder.run("inspect model --json").succeeded().objects()[0]["schema"].clone();
    assert_eq!(schema["columns"]["named"], serde_json::json!(["a", "a.2", "3"]));
    folder.run("predict model a.csv").succeeded();
}

#[test]
fn a_header_in_the_middle_is_no_category() {
    let folder = Folder::with("a.csv", table("a,b", "#,1#") + &table("a,b", "#,2#"));
    let said = "a.csv:42: the row repeats the header; if the first line is a row and no header, the option header = no says so";
    folder.run("run a.csv --quiet").failed(2, said);
    let summary = folder.summary("a.csv --on-bad-row skip");
    let of = |name: &str| summary[name].as_u64();
    assert_eq!((of("rounds"), of("bad_rows"), of("features")), (Some(80), Some(1), Some(2)));
}

#[test]
fn columns_that_are_nearly_numbers() {
    for odd in ["n\0", "12 kg"] {
        let text = table("a,b", "#,#") + &format!("{odd},1,p\n");
        let said = notes(&text, "");
        let shown = odd.replace('\0', "\\0");
        let sentence = format!(
            "noregret: column \"a\": 1 cell is no number, the first \"{shown}\" in line 42: it counts as missing"
        );
        assert_eq!(said, sentence, "told once");
        assert_eq!(notes(&text, "--categorical a"), "", "the option gives the role");
    }
    assert_eq!(notes(&(table("a,b", "#,#") + "\"1,234\",1,p\n"), ""), "", "a number as people write it");
}

#[test]
fn columns_of_different_texts() {
    let said = notes(&table("id,b", "2024-01-#,#"), "");
    assert!(
        said.starts_with("noregret: a.csv: column \"id\" has 40 distinct values in the first 40 rows, each"),
        "{said}"
    );
    assert_eq!(notes(&table("hue,b", "red,#"), ""), "");
}

#[test]
fn labels_that_are_all_different() {
    let text: String = (0..60).map(|t| format!("{},{},u{t}\n", t % 3, t % 7)).collect();
    let said = notes(&format!("a,b,y\n{text}"), "");
    assert_eq!(
        said,
        "noregret: a.csv: the label \"y\" has 60 different values in 60 rows, and is hardly a class; --label names another column"
    );
}

/// Where the last column is no label, one sentence says so, with the ways out.
#[test]
fn the_wrong_label_is_said_once() {
    let label_of = |cell: &dyn Fn(usize) -> String, options: &str| {
        let text: String = (0..400).map(|t| format!("{},{},{}\n", t % 3, t % 7, cell(t))).collect();
        let folder = Folder::with("a.csv", format!("a,b,price\n{text}"));
        let ran = folder.run(&format!("run a.csv --learner ogd --quiet {options}"));
        let said = |line: &&str| line.contains("label");
        (ran.code, ran.stderr.lines().filter(said).map(str::to_owned).collect::<Vec<_>>())
    };
    let prices = |t: usize| format!("{}.5", t % 150);
    let many = |different: usize| {
        format!(
            "noregret: a.csv: the label \"price\" has {different} different numbers in 400 rows, such as 0.5: a real-valued target; \
             --learner vaw learns it, and --set classes={different} makes each of them a class; --label names another column"
        )
    };
    assert_eq!(label_of(&|t| format!("{}.5", t * 11 % 399), ""), (2, vec![many(399)]));
    let many = many(150);
    assert_eq!(label_of(&prices, ""), (2, vec![many.clone()]));
    let named = many.strip_suffix("; --label names another column").expect("a way out");
    assert_eq!(label_of(&prices, "--label price"), (2, vec![named.to_owned()]));
    let whole = "noregret: a.csv: the labels are 150 different numbers, and each is a class of its own; --learner vaw forecasts numbers; \
                 --label names another column";
    assert_eq!(label_of(&|t| (t % 150).to_string(), ""), (0, vec![whole.to_owned()]));
    let same = "noregret: a.csv: every label is \"2026\"; at least 2 classes were needed (or --set classes=K); --label names another column";
    assert_eq!(label_of(&|_| "2026".to_owned(), ""), (2, vec![same.to_owned()]));
}

/// Where all labels are there and no row weighs anything, another column of labels is no way out.
#[test]
fn rows_without_weight_are_not_learnt() {
    let folder = Folder::with("a.csv", "a,w,y\n".to_owned() + &"1,0,p\n2,0,q\n".repeat(20));
    folder.run("run a.csv --learner ogd --quiet --weight w").failed(
        2,
        "a.csv: no labelled row was learnt from (labels were sought under \"y\", weights under \"w\", and rows of weight 0 are not \
         learnt; --label names another column)",
    );
}

#[test]
fn files_that_only_look_like_data() {
    let refused = |name: &str, content: &str, options: &str, sentence: &str| {
        Folder::with(name, content).run(&format!("run {name} --quiet {options}")).failed(2, sentence);
    };
    let returns = "ends its lines by carriage returns alone; convert them to line feeds: tr '\\r' '\\n'";
    for (name, text) in
        [("a.csv", "a,b,y\r1,2,p\r2,1,q\r"), ("a.svm", "1 1:2\r2 1:3\r"), ("a.txt", "1 1:2\r2 1:3")]
    {
        refused(name, text, "", &format!("{name}: {returns}"));
    }
    // As scikit-learn's files begin.
    let rows = "5.1,3.5,1.4,0\n4.9,3,1.3,1\n".repeat(20);
    let sentence = "a.csv: has 3 cells in its first row, where most rows have 4: if that line is no row, leave it out, as in tail -n +2";
    refused("a.csv", &format!("40,3,setosa\n{rows}"), "", sentence);
    let said = notes(&format!("40,3,setosa,virginica\n{rows}"), "");
    let sentence = "the first line is taken for a row, and has the word \"setosa\" where all others have numbers: if it has the names of \
                    the columns, the option header = yes says so; if it is neither, leave it out, as in tail -n +2";
    assert!(said.contains(sentence), "{said}");
    let costs = "a.vw:1: the label gives costs of actions, where a class was needed; --feedback bandit learns from them";
    refused("a.vw", "1:0:0.5 |f a\n2:1:0.5 |f b\n", "", costs);
}

/// A pipe's CSV says in its header how many columns there are.
#[test]
fn the_header_of_a_pipe_tells_the_features() {
    let folder = Folder::new();
    let text = table("a,b", "#,#");
    let piped =
        folder.run_with("run - --json --quiet --learner ogd --set classes=2", &text).succeeded().summary();
    assert_eq!((&piped["features"], &piped["intercept"]), (&2.into(), &true.into()));
    let needed =
        "--set features=D (or --hash-bits BITS): must be given for a pipe, which cannot be read twice";
    for options in ["--learner ogd", "--learner folklore", "--feedback bandit"] {
        folder
            .run_with(&format!("run - --quiet {options} --set classes=2"), table("a,hue", "#,red"))
            .failed(1, needed);
    }
    let standard = format!("{needed}; or another --scale than standard, which fills every column");
    folder.run_with("run - --quiet --scale standard", table("a,hue", "#,red")).failed(1, &standard);
    let delayed = "--delay: needs --set features=D on a pipe; it cannot be combined with columns that are added during the run";
    folder.run_with("run - --quiet --set classes=2 --delay 3", table("a,hue", "#,red")).failed(1, delayed);
}

/// The default learner takes in the columns of a pipe as they come, in every format; the model can go on and
/// predict.
#[test]
fn columns_of_a_pipe_are_added_as_they_occur() {
    let folder = Folder::new();
    let word = |t: usize| ["alpha", "beta", "gamma", "delta"][t % 4];
    let label = |t: usize| ["p", "q"][t % 2];
    let lines = |row: &dyn Fn(usize) -> String| (0..40).map(row).collect::<String>();
    let late = |t: usize| t / 4;
    for (format, text) in [
        ("libsvm", lines(&|t| format!("{} {}:1 {}:2\n", t % 2, t % 4 + 1, late(t) + 5))),
        ("vw", lines(&|t| format!("{} | {} w{}\n", t % 2 + 1, word(t), late(t)))),
        (
            "ndjson",
            lines(&|t| format!("{{\"{}\": 1, \"w{}\": 2, \"y\": \"{}\"}}\n", word(t), late(t), label(t))),
        ),
        (
            "csv",
            format!(
                "said,n,y\n{}",
                lines(&|t| format!("the {} box number {t} came,{}.5,{}\n", word(t), late(t), label(t)))
            ),
        ),
    ] {
        folder.write("a", &text);
        let ran =
            folder.run_with(&format!("run - --format {format} --save m --json --quiet"), &text).succeeded();
        let summary = ran.summary();
        assert!(summary["error_rate"].as_f64().unwrap() < 0.5, "{format}: {summary}");
        let columns = summary["features"].as_u64().unwrap();
        assert!(columns >= 13, "{format}: {columns}");
        let predicted = folder.run(&format!("predict m a --format {format}")).succeeded();
        assert_eq!(predicted.stdout.lines().count(), 40, "{format}: {}", predicted.stderr);
        let again = folder.summary(&format!("a --format {format} --load m --limit 10"));
        assert_eq!(again["features"], columns);
    }
}

#[test]
fn settings_beyond_all_reason() {
    let folder = Folder::with("a.svm", libsvm(&rows(50, 2, 3)));
    for learner in ["aioli", "kernel-aioli", "folklore", "folklore-diag", "gaf"] {
        for curvature in ["1e300", "1e50", "1001"] {
            let ran =
                folder.run(&format!("run a.svm --quiet --learner {learner} --set curvature={curvature}"));
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{learner} {curvature}");
            let end = ": must be at most 1000: none above 1/2 is valid for the loss\n";
            assert!(
                ran.stderr.starts_with("noregret: curvature = ") && ran.stderr.ends_with(end),
                "{}",
                ran.stderr
            );
        }
        let loss =
            folder.summary(&format!("a.svm --learner {learner} --set curvature=1000"))["log_loss"].as_f64();
        assert!(loss.unwrap() < 1e4, "{learner}: {loss:?}");
    }
    for command in ["run a.svm", "replay a.svm"] {
        let ran = folder.run(&format!("{command} --memory 0"));
        assert!(
            ran.code == 1 && ran.stderr.contains("invalid value '0' for '--memory <MIB>'"),
            "{}",
            ran.stderr
        );
    }
}

/// Quotation marks that quote nothing take in other rows, and that is said; line ends in quoted text are not
/// mistaken for it.
#[test]
fn marks_that_quote_nothing() {
    let file = |cell: &dyn Fn(usize) -> String| {
        let line = |t: usize| format!("{},{},{},{}\n", t % 7, t % 5, cell(t), ["x", "y"][t % 2]);
        "a,b,c,label\n".to_owned() + &(0..60).map(line).collect::<String>()
    };
    let said = |text: String| {
        let ran = Folder::with("a.csv", text).run("run a.csv --learner ogd --quiet").succeeded();
        ran.stderr.contains("rows take several lines, each of which looks like a row")
    };
    assert!(said(file(&|t| if t % 3 == 0 { "\"inch".to_owned() } else { "foot".to_owned() })));
    assert!(!said(file(&|t| format!("\"Dear {t},\nthank you, and bye\""))));
    assert!(!said(file(&|_| "\"5\"\"\"".to_owned())));
}

/// Beyond 1,024 columns a missing number is 0, which a run says once; in narrow rows there is nothing to say.
#[test]
fn missing_numbers_of_wide_rows_are_0_which_is_said() {
    for (last, is_said) in [(1100, true), (100, false)] {
        let line = |t: usize| {
            let value = if t % 7 == 2 { "nan" } else { "2.5" };
            format!("{} {}:{value} {last}:1\n", t * 37 % 11 % 2, 1 + t % 9)
        };
        let folder = Folder::with("a.svm", (0..70).map(line).collect::<String>());
        let said = folder.run("run a.svm --learner ogd").succeeded().stderr;
        let sentence = "noregret: numbers are missing in 10 rows, and count as 0";
        assert_eq!(said.matches(sentence).count(), usize::from(is_said), "{said}");
    }
}

/// Where no feature can begin that says where numbers are missing, that is said.
#[test]
fn missing_numbers_that_no_feature_tells_are_said() {
    let line = |t: usize| {
        let value = if t >= 30 && t % 5 == 1 { "nan" } else { ["50", "51.5"][t % 2] };
        format!("{} | a:{value} b:{}\n", 1 + t % 2, t % 7)
    };
    let text: String = (0..60).map(line).collect();
    let folder = Folder::with("a.vw", &text);
    folder.write("b.vw", text.lines().take(30).map(|line| format!("{line}\n")).collect::<String>());
    folder.run("run b.vw --learner ogd --save model").succeeded();
    for (arguments, name) in [
        ("run a.vw --learner ogd", None),
        ("run a.vw --learner ogd --set features=2", Some("\"a\"")),
        ("run a.vw --learner ogd --hash-bits 8", None),
        ("run - --format vw --learner ogd --hash-bits 8", None),
        ("run a.vw --load model", Some("\"a\"")),
        ("run - --format vw --learner ogd --set features=2", Some("\"a\"")),
        ("compare - --format vw --learners ogd,perceptron --set features=2 --set classes=2", Some("\"a\"")),
        ("compare a.vw --learners ogd,perceptron", None),
    ] {
        let said = folder.run_with(arguments, &text).succeeded().stderr;
        let sentence = name.map(|name| format!("noregret: numbers of the feature {name}"));
        assert_eq!(said.contains(" in 6 rows, and count as its mean"), name.is_some(), "{arguments}: {said}");
        assert!(sentence.is_none_or(|sentence| said.contains(&sentence)), "{arguments}: {said}");
        let way_out = "; no feature says where: add one that is 1 there\n";
        assert_eq!(said.contains(way_out), name.is_some(), "{arguments}: {said}");
    }
}

/// Only what is missing tells the label: in hashed columns there is a feature for it, too, beside the mean,
/// in tables and in lines, and a saved model knows it.
#[test]
fn hashed_columns_say_what_is_missing() {
    let line = |t: usize| {
        let is_hole = t * 7919 % 97 < 30;
        let (age, label) = if is_hole { (String::new(), "u") } else { ((50 + t * 31 % 7).to_string(), "v") };
        format!("{age},{},{label}\n", t * 13 % 11)
    };
    let table: String = (0..200).map(line).collect();
    let of = |age: &str| if age.is_empty() { "nan".to_owned() } else { age.to_owned() };
    let cells = || table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let folder = Folder::with("a.csv", format!("age,b,y\n{table}"));
    folder.write(
        "a.vw",
        cells().map(|x| format!("{} | age:{} b:{}\n", x[2], of(x[0]), x[1])).collect::<String>(),
    );
    folder
        .write("a.svm", cells().map(|x| format!("{} 1:{} 2:{}\n", x[2], of(x[0]), x[1])).collect::<String>());
    for (name, options) in
        [("a.csv", ""), ("a.csv", "--hash-bits 8"), ("a.vw", "--hash-bits 8"), ("a.svm", "--hash-bits 8")]
    {
        let run = format!("run {name} --learner ogd --json {options} --save model-{name}");
        let ran = folder.run(&run).succeeded();
        assert!(
            ran.summary()["errors"].as_f64().is_some_and(|errors| errors < 20.0),
            "{run}: {}",
            ran.stdout
        );
        assert!(!ran.stderr.contains("no feature says where"), "{}", ran.stderr);
        let answers = folder.run(&format!("predict model-{name} {name}")).succeeded().stdout;
        let right = answers.lines().zip(cells()).filter(|(answer, x)| *answer == x[2]).count();
        assert!(right > 180, "{run}: {right}");
    }
}

/// Of numbers around 50 some are missing, in all rows or behind the first 1,000 only: as many labels are
/// wrong as where the holes are filled, whatever the format.
#[test]
fn missing_numbers_are_means_in_every_format() {
    for from in [0, 1100] {
        let is_hole = |t: usize, column: usize| t >= from && t % 5 == column + 1;
        let file = |line: &dyn Fn(&str, [Option<f64>; 2]) -> String, filled: Option<f64>| -> String {
            let row = |(t, (label, x)): (usize, (usize, Vec<f64>))| {
                let x = [0, 1].map(|at| if is_hole(t, at) { filled } else { Some(50.0 + x[at]) });
                line(["p", "q"][label], x)
            };
            rows(2400, 2, 2).into_iter().enumerate().map(row).collect()
        };
        let shown = |value: Option<f64>, hole: &str| value.map_or(hole.to_owned(), |value| value.to_string());
        let csv =
            |label: &str, [a, b]: [Option<f64>; 2]| format!("{},{},{label}\n", shown(a, ""), shown(b, ""));
        let json = |label: &str, [a, b]: [Option<f64>; 2]| {
            format!("{{\"a\":{},\"b\":{},\"label\":\"{label}\"}}\n", shown(a, "null"), shown(b, "null"))
        };
        let list = |label: &str, [a, b]: [Option<f64>; 2]| {
            format!("{{\"x\":[{},{}],\"y\":\"{label}\"}}\n", shown(a, "null"), shown(b, "null"))
        };
        let svm = |label: &str, [a, b]: [Option<f64>; 2]| {
            format!("{label} 1:{} 2:{}\n", shown(a, "nan"), shown(b, "nan"))
        };
        let vw = |label: &str, [a, b]: [Option<f64>; 2]| {
            format!("{label} | a:{} b:{}\n", shown(a, "nan"), shown(b, "nan"))
        };
        let table = |filled| "a,b,label\n".to_owned() + &file(&csv, filled);
        let folder = Folder::with("whole.csv", table(Some(50.7)));
        for (name, text) in [
            ("a.csv", table(None)),
            ("a.ndjson", file(&json, None)),
            ("list.ndjson", file(&list, None)),
            ("a.svm", file(&svm, None)),
            ("a.vw", file(&vw, None)),
        ] {
            folder.write(name, text);
        }
        let rate = |summary: serde_json::Value| summary["error_rate"].as_f64().unwrap();
        for learner in ["folklore", "ogd"] {
            let whole = rate(folder.summary(&format!("whole.csv --learner {learner}")));
            for name in ["a.csv", "a.ndjson", "list.ndjson", "a.svm", "a.vw"] {
                let holes = rate(folder.summary(&format!("{name} --learner {learner}")));
                assert!(
                    (holes - whole).abs() < 0.03,
                    "{name} {learner} from {from}: {holes}, filled {whole}"
                );
            }
            if from > 0 {
                let run = format!(
                    "run - --format csv --label label --learner {learner} --set classes=2 --set features=2"
                );
                let ran = folder.run_with(&format!("{run} --json --quiet"), table(None)).succeeded();
                let holes = rate(ran.summary());
                assert!((holes - whole).abs() < 0.03, "a pipe {learner}: {holes}, filled {whole}");
            }
        }
    }
}

/// A number around 50 is missing in nine of ten rows of one label, and nothing else tells the label: linear
/// learners see it in every format, and a saved model goes on with what it has.
#[test]
fn a_missing_number_tells_the_label_in_every_format() {
    let label = |t: usize| t * 37 % 11 % 2;
    let cells = |t: usize| {
        let is_hole = label(t) == 1 && t % 10 != 3;
        ((!is_hole).then(|| format!("{}.5", 47 + t * 7 % 5)), 20 + t * 5 % 13)
    };
    let file = |line: &dyn Fn(usize, Option<String>, usize) -> String, from: usize| -> String {
        (from..from + 1500).map(|t| line(t, cells(t).0, cells(t).1)).collect()
    };
    let csv = |t: usize, a: Option<String>, b: usize| {
        format!("{},{b},{}\n", a.unwrap_or_default(), ["p", "q"][label(t)])
    };
    let svm = |t: usize, a: Option<String>, b: usize| {
        format!("{} 1:{} 2:{b}\n", label(t), a.as_deref().unwrap_or("nan"))
    };
    let vw = |t: usize, a: Option<String>, b: usize| {
        format!("{} |n a:{} b:{b}\n", label(t) + 1, a.as_deref().unwrap_or("NA"))
    };
    let list = |t: usize, a: Option<String>, b: usize| {
        let a = a.unwrap_or("null".to_owned());
        format!("{{\"x\":[{a},{b}],\"y\":\"{}\"}}\n", ["p", "q"][label(t)])
    };
    let folder = Folder::with("a.csv", "a,b,label\n".to_owned() + &file(&csv, 0));
    folder.write("a.svm", file(&svm, 0));
    folder.write("a.vw", file(&vw, 0));
    folder.write("a.ndjson", file(&list, 0));
    folder.write("b.ndjson", file(&list, 1500));
    folder.write("b.svm", file(&svm, 1500));
    folder.write("b.vw", file(&vw, 1500));
    for learner in ["ogd", "folklore"] {
        let wrong = |arguments: &str| {
            let summary = folder.summary(&format!("{arguments} --learner {learner}"));
            summary["error_rate"].as_f64().unwrap()
        };
        for name in ["a.csv", "a.svm", "a.vw", "a.ndjson"] {
            assert!(wrong(name) < 0.15, "{name} {learner}: {}", wrong(name));
        }
        for ending in ["svm", "vw", "ndjson"] {
            let model = format!("{learner}-{ending}");
            folder.run(&format!("run a.{ending} --learner {learner} --quiet --save {model}")).succeeded();
            let goes_on = folder.summary(&format!("b.{ending} --load {model}"));
            let wrong = goes_on["error_rate"].as_f64().unwrap();
            assert!(wrong < 0.12, "{ending} {learner} goes on: {wrong}");
        }
    }
    // On a pipe, whose first rows decide about a table, too.
    let piped = |more: &str| {
        let run =
            format!("run - --format csv --label label --learner ogd --set classes=2 --json --quiet {more}");
        folder.run_with(&run, "a,b,label\n".to_owned() + &file(&csv, 0))
    };
    let ran = piped("");
    let way_out =
        "for a pipe with --scale mixed, which is the default for its table; --scale standard bounds it";
    assert!(ran.code != 0 && ran.stderr.contains(way_out), "{}", ran.stderr);
    assert!(piped("--scale standard").succeeded().summary()["error_rate"].as_f64().unwrap() < 0.15);
    // With a number of columns that is declared, there is no place for the feature.
    for name in ["a.svm", "a.vw", "a.ndjson"] {
        folder.run(&format!("run {name} --learner ogd --set features=2 --quiet")).succeeded();
    }
    // Places of lists are no numbers of features.
    folder.write("c.svm", "p 1:48.5 2:22\n");
    let ran = folder.run("predict ogd-ndjson c.svm");
    assert!(ran.code != 0 && ran.stderr.contains("c.svm: has numbered features, but the"), "{}", ran.stderr);
    folder.write("list.ndjson", "{\"x\":[48.5,22],\"y\":\"0\"}\n");
    let ran = folder.run("predict ogd-svm list.ndjson");
    assert!(
        ran.code != 0 && ran.stderr.contains("list.ndjson: has lists of numbers, but the"),
        "{}",
        ran.stderr
    );
}

/// The same where the first missing number comes behind the first 1,000 rows, in formats whose features have
/// names.
#[test]
fn a_missing_number_tells_the_label_behind_the_first_rows() {
    let label = |t: usize| t * 37 % 11 % 2;
    let cells = |t: usize, from: usize| {
        let is_hole = t >= from && label(t) == 1 && t % 10 != 3;
        ((!is_hole).then(|| format!("{}.5", 47 + t * 7 % 5)), 20 + t * 5 % 13)
    };
    let csv = |t: usize, a: Option<String>, b: usize| {
        format!("{},{b},{}\n", a.unwrap_or_default(), ["p", "q"][label(t)])
    };
    let json = |t: usize, a: Option<String>, b: usize| {
        let a = a.unwrap_or("null".to_owned());
        format!("{{\"a\":{a},\"b\":{b},\"label\":\"{}\"}}\n", ["p", "q"][label(t)])
    };
    let vw = |t: usize, a: Option<String>, b: usize| {
        format!("{} |n a:{} b:{b}\n", label(t) + 1, a.as_deref().unwrap_or("NA"))
    };
    let file = |line: &dyn Fn(usize, Option<String>, usize) -> String, from: usize| -> String {
        (0..3000).map(|t| (t, cells(t, from))).map(|(t, (a, b))| line(t, a, b)).collect()
    };
    let folder = Folder::with("late.csv", "a,b,label\n".to_owned() + &file(&csv, 1100));
    folder.write("now.csv", "a,b,label\n".to_owned() + &file(&csv, 0));
    folder.write("late.ndjson", file(&json, 1100));
    folder.write("late.vw", file(&vw, 1100));
    for learner in ["ogd", "folklore"] {
        let wrong = |arguments: &str| folder.summary(arguments)["error_rate"].as_f64().unwrap();
        // Of the first 1,100 rows, half are wrong.
        for name in ["late.csv", "late.ndjson", "late.vw"] {
            let wrong = wrong(&format!("{name} --learner {learner}"));
            assert!(wrong < 0.32, "{name} {learner}: {wrong}");
        }
        folder.run(&format!("run late.csv --learner {learner} --quiet --save {learner}")).succeeded();
        let goes_on = wrong(&format!("now.csv --load {learner}"));
        assert!(goes_on < 0.12, "{learner} goes on: {goes_on}");
        // With a number of columns that is declared, there is no place for the feature.
        folder.run(&format!("run late.csv --learner {learner} --set features=2 --quiet")).succeeded();
    }
}

/// What ARFF's header declares to be numbers is read by its cells, and said where they are none.
#[test]
fn attributes_that_are_no_numbers_are_told() {
    let head = "@relation r\n@attribute a numeric\n@attribute late numeric\n@attribute label {x,y}\n@data\n";
    let folder = Folder::with("a.arff", format!("{head}{}", "1,?,x\n2,True,x\n3,False,y\n".repeat(10)));
    let note = "attribute \"late\" is declared numeric, and is read as categorical, since cells such as \"True\" are no numbers; named as \
                a numeric column, they count as missing";
    let said =
        |options: &str| folder.run(&format!("run a.arff --learner ogd --quiet {options}")).succeeded().stderr;
    assert!(said("").contains(note), "{}", said(""));
    assert!(!said("--categorical late").contains("declared numeric"));
    // Every row has a cell too many: of that nothing else is said.
    folder.write("wide.arff", format!("{head}{}", "1,?,,x\n2,7,,y\n".repeat(10)));
    let ran = folder.run("run wide.arff --learner ogd --quiet");
    assert!(
        ran.stderr.contains("wide.arff:6: the row has 4 cells, not 3 as the header; --on-bad-row skip"),
        "{}",
        ran.stderr
    );
    assert!(ran.code == 2 && !ran.stderr.contains("exactly one"), "{}", ran.stderr);
    folder.write("b.arff", format!("{head}{}", "1,?,x\n2,1e3,x\n3,7,y\n".repeat(10)));
    let ran = folder.run("run b.arff --learner ogd --quiet").succeeded();
    assert!(!ran.stderr.contains("declared numeric"), "{}", ran.stderr);
}

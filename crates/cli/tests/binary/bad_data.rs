//! Data that cannot be learnt from: one sentence with file and line, exit code 2, and no result.

use crate::util::{Folder, gzip, libsvm, rows};

/// Runs `run FILE` over a file of this content.
#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, options: &str, sentence: &str) {
    let folder = Folder::with(name, content);
    let ran = folder.run(&format!("run {name} --quiet --save model {options}"));
    ran.failed(2, sentence);
    assert_eq!(folder.names(), [name], "no model, no temporary file");
}

#[test]
fn files_that_are_not_there_or_not_data() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder.run("run nothing.svm").failed(2, "nothing.svm: no such file");
    folder.run("run https://example.com/a.csv").failed(
        2,
        "https://example.com/a.csv: no such file; an address is not opened: save what is there, or hand it over by a pipe, as in curl -L ADDRESS | noregret run -",
    );
    folder.run("run folder").failed(2, "folder: is a directory, not a file of examples");
    refused("a.svm", "", "", "a.svm: has no rows");
    refused("a.csv", "\n\n", "", "a.csv: has no rows");
    refused("a.svm", "# nothing but a comment\n", "", "a.svm: has no rows that can be read");
    refused("a.csv", "a,b,label\n", "", "a.csv: has a header but no rows");
    refused(
        "a.txt",
        "word\n",
        "",
        "a.txt: has no format that is recognised; pass --format libsvm, vw, csv, ndjson or arff",
    );
    refused(
        "a.svm",
        "PK\x03\x04",
        "",
        "a.svm: is a zip archive or a workbook; unpack it, or write a sheet as CSV",
    );
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n";
    refused("a.csv", pointer, "", "a.csv: is a pointer of Git LFS to the data; git lfs pull fetches them");
    for (name, text, kind) in [
        ("a.sql", "INSERT INTO t (a,b) VALUES\n(1,'x'),\n(2,'y');\n", "a script of SQL and no table"),
        ("a.sql", "-- MySQL dump 10.13\n--\nDROP TABLE IF EXISTS t;\n", "a script of SQL and no table"),
        ("a.txt", "--\n-- PostgreSQL database dump\n--\n", "a script of SQL and no table"),
        ("a.xml", "<?xml version=\"1.0\"?>\n<a><b>1</b></a>\n", "XML and no table"),
        ("a.pdf", "%PDF-1.4\n1 0 obj\n", "a document and no table"),
        ("a.db", "SQLite format 3\0\u{10}\0\u{1}\u{1}\0@  \0\0\0\u{1}\n", "a database of SQLite"),
    ] {
        let ran = Folder::with(name, text).run(&format!("run {name}"));
        assert!(ran.code == 2 && ran.stderr.contains(&format!("{name}: is {kind}; ")), "{}", ran.stderr);
    }
    let sentence = "a.dat: has :: between its cells, where one character was needed: sed 's/::/\\t/g' makes tabs of them";
    refused("a.dat", "1::1193::5::978300760\n1::661::3::978302109\n", "", sentence);
    refused("a.dat", "1::Toy Story (1995)::Comedy|Fun\n2::Jumanji (1995)::Fun\n", "", sentence);
    let folder = Folder::with("a.csv", "2001:db8::1,2001:db8::2,x\n2001:db8::3,2001:db8::4,y\n".repeat(9));
    folder.run("run a.csv --learner ogd --quiet").succeeded();
    let page = "\n<!DOCTYPE html>\n<html><body>404, not found</body></html>\n";
    let sentence = "a.txt: is a page of HTML and no table, such as one that says why a file could not be had";
    refused("a.txt", page, "", sentence);
    folder.run_with("run - --set classes=2 --set features=1", "").failed(2, "standard input: has no rows");
}

#[test]
fn compressed_data_cut_off_or_damaged() {
    let text = libsvm(&rows(500, 3, 4));
    let (gz, zst) = (gzip(&text), zstd::encode_all(text.as_bytes(), 1).unwrap());
    let cut = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    refused("a.svm.gz", cut(&gz), "", "a.svm.gz: gzip data end in the middle; the file is cut off");
    refused("a.svm.zst", cut(&zst), "", "a.svm.zst: zstd data end in the middle; the file is cut off");
    refused(
        "a.svm.gz",
        cut(&gz),
        "--on-bad-row skip",
        "a.svm.gz: gzip data end in the middle; the file is cut off",
    );
    let mut damaged = gz.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 8].fill(0xff);
    let folder = Folder::with("a.svm.gz", &damaged);
    let ran = folder.run("run a.svm.gz -q");
    assert!(
        ran.code == 2 && ran.stderr.starts_with("noregret: a.svm.gz: gzip data are damaged: "),
        "{}",
        ran.stderr
    );
}

#[test]
fn rows_of_libsvm() {
    let lines: &[(&[u8], &str)] = &[
        (b"1 1:x", r#"a.svm:2: "1:x" is not index:value"#),
        (b"1 cat", r#"a.svm:2: "cat" is not index:value"#),
        (b"1 1:-inf", r#"a.svm:2: value of "1:-inf" is not finite"#),
        (b"1 1:1e999", r#"a.svm:2: value of "1:1e999" is not finite"#),
        (b"inf 1:1", r#"a.svm:2: label "inf" is not finite"#),
        (b"1 1:1e101", "a.svm:2: the row has the value 1e101; at most 1e100 is allowed"),
        (b"1 2:1 2:1", "a.svm:2: feature index 2 follows 2; LIBSVM indices must increase"),
        (b"1 2:1 1:1", "a.svm:2: feature index 1 follows 2; LIBSVM indices must increase"),
        (
            b"\xff 1:1",
            "a.svm:2: the row is not UTF-8 text; text in the encoding of Windows is converted by iconv -f WINDOWS-1252 -t UTF-8",
        ),
        (
            b"1 4000000000:1",
            "a.svm: there are more than 134217728 features from line 2 on; hash them, or declare how many are allowed, with --hash-bits BITS or --set features=D",
        ),
    ];
    for (line, sentence) in lines {
        refused("a.svm", [b"0 1:1\n", *line, b"\n1 1:2\n"].concat(), "", sentence);
    }
    let late_zero = format!("{}1 0:1\n", "0 1:1\n1 1:2\n".repeat(500));
    let sentence = "a.svm:1001: feature index 0 in data taken as numbered from 1; pass --index-base 0 if they begin at 0";
    refused("a.svm", late_zero, "", sentence);
}

#[test]
fn rows_of_csv() {
    let head = format!("a,b,label\n{}", "1,2,x\n3,4,y\n1,4,y\n3,2,x\n1,2,y\n".repeat(200));
    let lines: &[(&[u8], &str)] = &[
        (
            b"1,2",
            "a.csv:1002: the row has 2 cells, not 3 as the first row; --on-bad-row skip leaves out rows that cannot be read",
        ),
        (
            b"1,2,3,x",
            "a.csv:1002: the row has 4 cells, not 3 as the first row; --on-bad-row skip leaves out rows that cannot be read",
        ),
        (
            b"1,-inf,x",
            r#"a.csv:1002: column "b": "-inf" is not finite; pass --missing=-inf if it stands for a missing one"#,
        ),
        (
            b"1,2,\xff\xfe",
            "a.csv:1002: the row is not UTF-8 text; text in the encoding of Windows is converted by iconv -f WINDOWS-1252 -t UTF-8",
        ),
    ];
    for (line, sentence) in lines {
        refused("a.csv", [head.as_bytes(), *line, b"\n1,2,x\n"].concat(), "", sentence);
    }
    let digits = format!("{head}1,{},x\n", "9".repeat(400));
    let sentence = format!(
        "a.csv:1002: column \"b\": \"{}…\" is not finite; pass --categorical COLUMN if it is a code, or --on-bad-row skip",
        "9".repeat(40)
    );
    refused("a.csv", digits, "", &sentence);
    let folder = Folder::with("a.csv", b"a,gr\xf6\xdfe,label\n1,2,x\n3,4,y\n");
    let ran = folder.run("run a.csv");
    let header = "in its header, which is not UTF-8 text; text in the encoding of Windows is converted by iconv -f WINDOWS-1252 -t UTF-8";
    assert!(ran.code == 2 && ran.stderr.contains(header), "{}", ran.stderr);
    let sentence = "a.csv: has a single column if the delimiter is semicolon; pass --delimiter ','";
    refused("a.csv", &head, "--delimiter ;", sentence);
    refused("a.csv", &head, "--label c", r#"a.csv: has no column "c"; its columns are "a", "b", "label""#);
    let weights = "a,w,label\n1,2,x\n1,-1,y\n";
    refused("a.csv", weights, "--weight w", r#"a.csv:3: column "w": weight "-1" is negative"#);
}

#[test]
fn rows_of_vw_and_ndjson() {
    let importance = r#"a.vw:2: importance "-1" is not a number of at least 0"#;
    refused("a.vw", "1 | a\n2 -1 | a\n", "", importance);
    refused("a.vw", "1 | a\n2 1e31 | a\n", "", "a.vw:2: the row has weight 1e31; at most 1e30 is allowed");
    refused("a.vw", "1 | a\n2 b c\n", "", r#"a.vw:2: "2 b c" has no bar | before its features"#);
    refused(
        "a.vw",
        "1 | a\n1:0.5 2:1 | a\n",
        "",
        "a.vw:2: the label gives costs of actions, where a class was needed; --feedback bandit learns from them",
    );
    let two = "1 | a\n2 | b\n1:0.5 2:1 | a\n";
    refused(
        "a.vw",
        two,
        "",
        "a.vw:3: the label gives costs of actions, where a class was needed; --feedback bandit learns from them",
    );
    let width = r#"a.jsonl:2: "x" has 1 number, where the rows before it have 2"#;
    refused("a.jsonl", "{\"x\": [1, 2], \"y\": 0}\n{\"x\": [1], \"y\": 1}\n", "", width);
    let folder = Folder::with("a.jsonl", "{\"x\": [1, 2], \"y\": 0}\n{\"x\": [1,");
    let ran = folder.run("run a.jsonl -q");
    assert!(ran.code == 2 && ran.stderr.starts_with("noregret: a.jsonl:2: "), "{}", ran.stderr);
}

/// Learners without importance weights refuse them, wherever there are such learners.
#[test]
fn weights_that_a_learner_does_not_take() {
    let folder = Folder::with("a.vw", "a 1 | x\nb 2 | y\n");
    let (mut takes, mut refuses) = (0, 0);
    for learner in folder.run("list --json").succeeded().objects() {
        let accepts = learner["learns_from"].as_str().unwrap();
        let name = learner["name"].as_str().unwrap();
        if !accepts.starts_with("two or more classes") || learner["feedback"] == "bandit" {
            continue;
        }
        let ran = folder.run(&format!("run a.vw --quiet --learner {name}"));
        if accepts.contains("no importance weights") {
            ran.failed(2, "a.vw:2: the row has weight 2; the learner takes no importance weights");
            refuses += 1;
        } else {
            ran.succeeded();
            takes += 1;
        }
    }
    eprintln!("{takes} learners take weights, {refuses} refuse them");
    assert!(takes >= 2);
}

#[test]
fn labels_that_teach_nothing() {
    refused(
        "a.svm",
        "1 1:1\n1 1:2\n",
        "",
        "a.svm: every label is \"1\"; at least 2 classes were needed (or --set classes=K)",
    );
    refused("a.svm", "1:1\n1:2\n", "", "a.svm: none of its 2 rows has a label");
    refused("a.vw", "1 0 | a\n2 0 | b\n", "", "a.vw: no labelled row was learnt from");
    let classes: String = (0..10_001).map(|label| format!("l{label} 1:1\n")).collect();
    let sentence = "a.svm: there are 10001 different labels in 10001 rows with a label, which is the wrong column or a real-valued target; --learner vaw learns the latter";
    refused("a.svm", &classes, "", sentence);
    // Labels that come again are classes, however many.
    let folder = Folder::with("a.svm", classes.repeat(2));
    let summary = folder.run("run a.svm --learner label-tree --json").succeeded().objects().pop().unwrap();
    assert_eq!((&summary["classes"], &summary["rounds"]), (&10_001.into(), &20_002.into()));
    let pipe = "run - --quiet --format libsvm --set classes=2 --set features=1";
    Folder::new().run_with(pipe, "1:1\n").failed(2, "standard input: no labelled row was learnt from");
    // The reason is said, as for a file.
    let keys = "run - --quiet --format ndjson --learner ogd --scale standard --set features=4";
    Folder::new().run_with(keys, "{\"a\":1,\"outcome\":\"u\"}\n{\"a\":2,\"outcome\":\"v\"}\n").failed(
        2,
        "standard input: no labelled row was learnt from (there is no key label, class, target or y; --label names the key that is meant)",
    );
    let piped = Folder::new().run_with("run - --format vw --set features=2", "3|a b\n1|a c\n");
    let said = "a word at the bar, such as \"3\", is the name of a row and not its label";
    assert!(piped.code == 2 && piped.stderr.contains(said), "{}", piped.stderr);
    let same = "1 1:1\n".repeat(20);
    let ran = Folder::new().run_with("run - --format libsvm --set features=1", same).succeeded();
    assert!(ran.stderr.contains("ALL 20 ROUNDS HAVE THE SAME LABEL"), "{}", ran.stderr);
    let reals: String = (0..60).map(|t| format!("{t}.5 1:{t}\n")).collect();
    let ran =
        Folder::new().run_with("run - --format libsvm --set features=1 --learner ogd", reals).succeeded();
    let said = "the label has 60 different numbers in 60 rows, such as 0.5: a real-valued target; --learner vaw forecasts numbers";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[test]
fn more_than_was_declared() {
    let text = "a 1:1 3:1\nb 1:1\nc 7:2\n";
    let index = "feature index 7 is too large; features = 5 were declared, so the last is 5";
    refused("a.svm", text, "--set features=5", &format!("a.svm:3: {index}"));
    refused("a.svm", text, "--set classes=2", "a.svm: has 3 classes; at most classes = 2 were declared");
    let from_zero = "a.svm:1: feature index 2 is too large; features = 2 were declared, so the last is 1";
    refused("a.svm", "a 0:1 2:1\nb 1:1\n", "--set features=2", from_zero);

    let pipe = |classes, features, text: &str| {
        let arguments =
            format!("run - --quiet --set classes={classes} --set features={features} --save model");
        Folder::new().run_with(&arguments, text)
    };
    pipe(3, 5, text).failed(2, &format!("standard input:3: {index}"));
    let label = r#"standard input:3: the label "c" is none of the 2 known classes: a, b; there is no room for more: make the learner with all labels"#;
    pipe(2, 7, text).failed(2, label);
    let named =
        r#"standard input:2: feature "q" is number 3 in order of appearance; features = 2 were declared"#;
    pipe(2, 2, "1 | a b\n2 | q\n").failed(2, named);
    pipe(2, 3, "1 | a b\n2 | q\n").succeeded();
}

#[test]
fn rows_beyond_the_radius() {
    let text = "a 1:1\nb 1:2\na 1:30\n";
    let within = |radius, action| {
        format!(
            "run a.svm --learner folklore --quiet --json --scale none --no-intercept --set radius={radius} --on-large-row {action}"
        )
    };
    let at = |action| within("5", action);
    let folder = Folder::with("a.svm", text);
    let refused = |radius, sentence| folder.run(&within(radius, "error")).complained(2, sentence);
    refused("5", "a.svm:3: the row has norm 30.0000; at most the learner's radius 5.0000 was needed");
    // As many digits as show that the norm is larger.
    refused("29.99999", "a.svm:3: the row has norm 3e1; at most the learner's radius 2.999999e1 was needed");
    refused("1e-7", "a.svm:1: the row has norm 1.0000; at most the learner's radius 1.0000e-7 was needed");
    assert_eq!(folder.run(&at("warn")).succeeded().summary()["large_rows"], 1);
    assert_eq!(folder.run(&at("clip")).succeeded().summary()["large_rows"], 1);
}

#[test]
fn bad_rows_are_skipped_and_counted() {
    let text = "a 1:1 2:1\nb 1:x\nb 1:2\nc 9:1\na 1:inf\nb 2:1\n";
    let folder = Folder::with("a.svm", text);
    let run =
        |policy| folder.run(&format!("run a.svm --quiet --json --set features=2 --on-bad-row {policy}"));
    run("fail").failed(2, r#"a.svm:2: "1:x" is not index:value"#);
    run("2").failed(2, r#"a.svm:5: value of "1:inf" is not finite"#);
    for policy in ["3", "skip"] {
        let ran = run(policy).succeeded();
        let first = r#"noregret: 3 bad rows were skipped; the first: a.svm:2: "1:x" is not index:value"#;
        assert_eq!(ran.stderr.trim_end(), first);
        let summary = ran.summary();
        assert_eq!((&summary["bad_rows"], &summary["rounds"]), (&3.into(), &3.into()));
        // What a bad row says decides nothing.
        assert_eq!((&summary["classes"], &summary["features"]), (&2.into(), &2.into()));
    }
    folder.write("one.svm", "a 1:1\nb 1:2\nb 1:x\n");
    let ran = folder.run("run one.svm -q --on-bad-row skip").succeeded();
    assert!(ran.stderr.contains("1 bad row was skipped"), "{}", ran.stderr);
    assert!(ran.stdout.contains("bad rows skipped       1\n"), "{}", ran.stdout);
}

#[test]
fn numbers_that_outgrow_64_bits_end_the_run() {
    let text = "a 1:1\nb 1:8\na 1:-1\nb 1:1\n";
    let learner = "--scale none --learner ogd --set ball=none --set schedule=constant --set rate";
    let scores = "a.svm: from row 2 on, the scores are not finite or 2^53 and more: parameters, values or weights are too large";
    refused("a.svm", text, &format!("{learner}=1e308"), scores);
    refused("a.svm", text, &format!("{learner}=1e50"), scores);
    refused("a.svm", text, "--scale none --learner folklore --set radius=1e-50", scores);
    // The state may outgrow them before the scores do. Such a model would be refused when it is loaded.
    let folder = Folder::with("a.svm", "a 1:1e100\nb 2:1\n");
    let ran = folder.run(&format!("run a.svm --quiet --no-intercept --save model {learner}=1e60"));
    ran.failed(
        2,
        "model: not written: the model's 'learner/weights_norm_squared' holds a number that is not finite",
    );
    assert_eq!(folder.names(), ["a.svm"]);
}

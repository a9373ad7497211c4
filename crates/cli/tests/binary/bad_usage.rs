//! A command line that asks for what does not exist: one sentence that helps, exit code 1.

use std::collections::BTreeSet;

use crate::util::Folder;

const ROWS: &str = "a 1:1 2:2\nb 1:3 2:1\na 1:2\n";

#[test]
fn unknown_names_are_answered_with_near_ones() {
    let folder = Folder::with("a.svm", ROWS);
    let ran = folder.run("run a.svm --learner folklor");
    assert!(
        ran.stderr
            .starts_with("noregret: there is no learner 'folklor' (did you mean 'folklore'?); there are ")
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let parameters = "it takes classes, features, ball, horizon, norm, radius, rate, schedule";
    let known = |sentence: &str| {
        let (start, list) = sentence.split_once("; it takes ").unwrap();
        let mut names: Vec<&str> = list.trim_end().split(", ").collect();
        names[2..].sort_unstable();
        format!("{start}; it takes {}", names.join(", "))
    };
    let ran = folder.run("run a.svm --learner ogd --set rte=1");
    assert_eq!(
        known(&ran.stderr),
        format!("noregret: ogd has no parameter 'rte' (did you mean 'rate'?); {parameters}")
    );
    let ran = folder.run("run a.svm --learner ogd --set zzz=1");
    assert_eq!(known(&ran.stderr), format!("noregret: ogd has no parameter 'zzz'; {parameters}"));
    for command in ["trace --learner folklor", "list folklor"] {
        let ran = folder.run(command);
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains("did you mean 'folklore'?"), "{}", ran.stderr);
    }
}

#[test]
fn parameters_that_cannot_be() {
    let folder = Folder::with("a.svm", ROWS);
    let cases = [
        ("rate=nan", "rate = NaN: must be a finite number > 0"),
        ("rate=inf", "rate = inf: must be a finite number > 0"),
        ("rate=-1", "rate = -1: must be a finite number > 0"),
        ("rate=fast", "rate = fast: must be a number"),
        ("radius=0", "radius = 0: must be a finite number > 0"),
        ("horizon=2.5", "horizon = 2.5: must be a whole number"),
        ("ball=square", "ball = square: must be one of frobenius, rows, none"),
        ("classes=1", "classes = 1: must be at least 2"),
        ("classes=two", "classes = two: must be a whole number"),
        ("features=0", "features = 0: must be between 1 and 2^32 - 1"),
        ("features=4294967296", "features = 4294967296: must be between 1 and 2^32 - 1"),
        ("rate", "--set rate: must be name=value, as in --set norm=2"),
        ("rate=1 --set rate=1", "--set rate: given twice"),
        ("classes=2 --set classes=3", "--set classes: given twice"),
        ("features=2 --set features=2", "--set features: given twice"),
    ];
    for (setting, sentence) in cases {
        folder.run(&format!("run a.svm --quiet --learner ogd --set {setting}")).failed(1, sentence);
    }
    // Said before a file is looked at: it may be long.
    folder
        .run("run nothing.svm --learner folklore --set norm=-1")
        .failed(1, "norm = -1: must be a finite number > 0");
    folder.run("run nothing.svm").failed(2, "nothing.svm: no such file");
    folder.run("run nothing.svm --learner folklore --set nrm=1 -q").complained(
        1,
        "folklore has no parameter 'nrm' (did you mean 'norm'?); it takes classes, features, norm, radius, regularization, curvature, linear_term",
    );
}

#[test]
fn a_pipe_needs_its_dimensions() {
    let folder = Folder::new();
    let pipe = "which cannot be read twice";
    let run = |settings: &str| folder.run_with(&format!("run - --quiet {settings}"), ROWS);
    run("--set features=2 --learner adaboost-olm").failed(
        1,
        &format!(
            "--set classes=K: must be given for a pipe, {pipe}: adaboost-olm cannot add classes during a run"
        ),
    );
    run("--set features=2 --learner soba").failed(
        1,
        &format!("--set classes=K: must be given for a pipe, {pipe}: soba cannot add classes during a run"),
    );
    run("--set features=2 --learner ogd --delay 2").failed(
        1,
        "--delay: needs --set classes=K on a pipe; it cannot be combined with classes that are added during the run",
    );
    let features = format!("--set features=D (or --hash-bits BITS): must be given for a pipe, {pipe}");
    run("--set classes=2 --learner ogd").failed(1, &features);
    run("").succeeded();
    run("--set classes=2 --set features=2 --scale none --learner folklore").failed(
        1,
        "--set radius=R: the largest Euclidean norm of a row must be given for a pipe with --scale none",
    );
    run("--set classes=2 --set features=2").succeeded();
    run("--set classes=2 --hash-bits 3").succeeded();
}

/// The numbers of a plain table cannot be told from its categories when they are scaled.
#[test]
fn mixed_scaling_of_a_plain_table() {
    let folder = Folder::with("a.csv", "a,hue,label\n1,red,x\n2,blue,y\n3,red,x\n");
    folder.write("a.svm", ROWS);
    for data in ["a.csv", "a.svm"] {
        let ran = folder.run(&format!("run {data} --learner ogd --scale mixed"));
        let sentence = "--scale mixed: is for tables with text, times or styled numbers";
        assert!(ran.code == 1 && ran.stderr.contains(sentence), "{}", ran.stderr);
    }
    folder.write("b.csv", "a,when,label\n1,2026-01-01,x\n2,2026-01-02,y\n3,2026-01-03,x\n");
    folder.run("run b.csv --learner ogd --scale mixed --quiet").succeeded();
}

/// An option that would have no effect is refused.
#[test]
fn options_of_something_else() {
    let folder = Folder::with("a.svm", ROWS);
    folder.write("a.ndjson", "{\"a\":1,\"label\":\"x\"}\n{\"a\":2,\"label\":\"y\"}\n");
    folder.write("a.csv", "a,label\n1,x\n2,y\n");
    for (options, sentence) in [
        (
            "a.ndjson --header yes",
            "a.ndjson: is read as ndjson, where the option header has no effect, which is for csv; leave it out",
        ),
        (
            "a.svm --delimiter ;",
            "a.svm: is read as libsvm, where the option delimiter has no effect, which is for csv; leave it out",
        ),
        (
            "a.csv --index-base 1",
            "a.csv: is read as csv, where the option index-base has no effect, which is for libsvm; leave it out",
        ),
        (
            "a.csv --drop label",
            "a.csv: column \"label\" cannot be both label and dropped; the option label names another one",
        ),
    ] {
        folder.run(&format!("run {options} --quiet")).failed(2, sentence);
    }
    for (command, other) in [
        ("run a.svm --snapshots 3", "--batch-model"),
        ("compare a.svm --learners ogd --curve log-loss", "--plot"),
    ] {
        let ran = folder.run(command);
        assert!(ran.code == 1 && ran.stderr.contains(other), "{command}: {}", ran.stderr);
    }
}

#[test]
fn options_out_of_range() {
    let folder = Folder::with("a.svm", ROWS);
    let cases = [
        "run a.svm --limit 0",
        "run a.svm --window 0",
        "run a.svm --delay -1",
        "run a.svm --scale twice",
        "run a.svm --format xlsx",
        "run a.svm --header maybe",
        "run a.svm --hash-bits 32",
        "run a.svm --hash-bits 0",
        "run a.svm --index-base 2",
        "run a.svm --on-bad-row some",
        "run a.svm --on-large-row faint",
        "run a.svm --seed 1.5",
        "run a.svm --delimiter ,,",
        "run",
        "run a.svm b.svm",
        "run a.svm --nonsense",
        "ruin a.svm",
        "demo --rows 0",
        "demo --plot a.pdf",
        "completions tcsh",
        "",
    ];
    for arguments in cases {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.len() > 20, "{arguments}: {}", ran.stderr);
    }
    assert_eq!(folder.names(), ["a.svm"]);
}

#[test]
fn threads_have_a_limit() {
    let folder = Folder::with("a.svm", ROWS);
    for command in ["run a.svm --learner ogd", "compare a.svm --learners ogd", "reproduce"] {
        for threads in ["0", "1025", "18446744073709551615"] {
            let ran = folder.run(&format!("{command} --threads {threads}"));
            let sentence = format!(
                "error: invalid value '{threads}' for '--threads <COUNT>': must be a whole number from 1 to 1024\n"
            );
            assert!(ran.stderr.starts_with(&sentence), "{command}: {}", ran.stderr);
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{command}");
        }
    }
    folder.run("run a.svm --quiet --learner ogd --threads 8").succeeded();
}

#[test]
fn what_is_no_number_is_told_in_words() {
    let folder = Folder::with("a.svm", ROWS);
    for (option, needed) in [
        ("--limit ten", "must be a whole number, 1 or more"),
        ("--limit 0", "must be a whole number, 1 or more"),
        ("--window 1.5", "must be a whole number, 1 or more"),
        ("--seed x", "must be a whole number, 0 or more"),
    ] {
        let ran = folder.run(&format!("run a.svm {option}"));
        assert!(ran.code == 1 && ran.stderr.contains(&format!(">': {needed}\n")), "{option}: {}", ran.stderr);
    }
}

#[test]
fn a_state_beyond_memory_is_refused() {
    let folder = Folder::with("a.svm", "a 1:1\nb 30000:1\n");
    let ran = folder.run("run a.svm --quiet --learner folklore");
    let start = "noregret: folklore would take ";
    assert!(ran.code == 1 && ran.stderr.starts_with(start), "{}", ran.stderr);
    assert!(ran.stderr.contains("allow it with --memory "), "{}", ran.stderr);
    folder.run("run a.svm --quiet --learner ogd").succeeded();
    let ran = folder.run("run a.svm --quiet --learner ogd --hash-bits 31 --scale none");
    assert!(ran.code == 1 && ran.stderr.contains("--memory"), "{}", ran.stderr);
    let ran = folder.run("run a.svm --learner folklore --set classes=4294967295 --set features=4294967295");
    assert!(ran.code == 1 && ran.stderr.contains("--memory"), "{}", ran.stderr);
}

#[test]
fn a_loaded_model_settles_the_learner() {
    let folder = Folder::with("a.svm", ROWS);
    folder.run("run a.svm --quiet --save model").succeeded();
    let sentence = "--load: the learner, its parameters, its scaling and its range of costs come from the model; omit --learner, --set, --scale, --no-intercept and --costs";
    for option in ["--learner ogd", "--set norm=1", "--scale none", "--no-intercept"] {
        folder.run(&format!("run a.svm --quiet --load model {option}")).failed(1, sentence);
    }
}

/// What is in the place of Vowpal Wabbit's options is told in the words of the page for those who move.
#[test]
fn options_of_vowpal_wabbit_have_others_here() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/move.md");
    let page = std::fs::read_to_string(page).unwrap();
    let folder = Folder::with("a.vw", "1 | a\n2 | b\n");
    let rows = page.lines().skip_while(|line| !line.starts_with("| task | Vowpal Wabbit")).skip(2);
    let mut told = BTreeSet::new();
    for row in rows.take_while(|line| line.starts_with("| ")) {
        // A bar inside a cell has a backslash before it.
        let row = row.replace("\\|", "\0");
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace('\0', "|")).collect();
        let (task, theirs) = (&cells[1], &cells[2]);
        let ours = cells[3].replace('`', "");
        let options = theirs.split(['`', ' ', ',']).filter(|word| word.starts_with('-'));
        // How its formats are read needs no option; with --json, results are written.
        for option in options.filter(|option| !["--json", "--dsjson"].contains(option)) {
            // An option of several rows is told in the words of the first one.
            if !told.insert(option.to_owned()) {
                continue;
            }
            let said = folder.run(&format!("run a.vw {option} ab")).stderr;
            let tip = format!("\n  tip: in place of Vowpal Wabbit's {option} ({task}): {ours}\n");
            assert!(said.contains(&tip) && said.matches("tip: ").count() == 1, "{tip}: {said}");
            assert!(!said.contains("Usage"), "{said}");
        }
    }
    assert!(told.len() > 20, "{told:?}");
}

/// A tip that helps, in place of one that passes an option as a value.
#[test]
fn values_with_a_minus_and_files_without_a_command() {
    let folder = Folder::with("a.csv", "a,b\n1,x\n2,y\n");
    for (arguments, tip) in [
        (
            "run a.csv --label -1",
            "the last column is the label where no option names one; a column called -1 is --label=-1",
        ),
        ("run a.csv --id -1", "a value that begins with a minus is written behind an equals sign: --id=-1"),
        ("a.csv --label b", "to learn from this file: noregret run a.csv"),
        ("run a.csv --target b", "--label COLUMN names the label"),
        ("run a.csv --sep ;", "--delimiter CHAR is what is between cells"),
        ("train a.csv", "noregret run DATA --save MODEL learns from data"),
        (
            "explain ogd",
            "noregret list NAME explains a learner, noregret inspect MODEL a model, and noregret predict MODEL DATA --explain a forecast",
        ),
        (
            "compare a.csv --learners auto --feedback bandit",
            "bandit learners hear only whether they were right; auto and gaptron-* do with --set NAME.mode=bandit",
        ),
        (
            "compare a.csv --learners ogd --save m",
            "the models of a comparison are not kept; noregret run DATA --save MODEL keeps one",
        ),
    ] {
        let ran = folder.run(arguments);
        assert!(ran.code == 1 && ran.stderr.contains(&format!("\n  tip: {tip}\n")), "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("tip: ").count(), 1, "{}", ran.stderr);
    }
    let said = folder.run("predict m a.csv --out b").stderr;
    assert!(said.contains("tip: a similar argument exists: '--output'"), "{said}");
    let said = folder.run("run a.csv --label=-1").stderr;
    assert!(
        said.contains("has no column \"-1\" (columns are counted from 1, and the last one is 2)"),
        "{said}"
    );
}

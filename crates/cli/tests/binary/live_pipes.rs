//! Pipes are live: one row in, one row out, before the next one is sent.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::util::{Folder, libsvm, rows};

/// The program, talked to line by line.
struct Talk {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Talk {
    fn new(folder: &Folder, arguments: &str) -> Self {
        let mut command = folder.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout): (_, ChildStdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, lines }
    }

    fn say(&mut self, row: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(row.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// The next line, which must come though nothing more is said.
    #[track_caller]
    fn hear(&mut self) -> String {
        self.lines.recv_timeout(Duration::from_secs(30)).expect("an answer before the next row")
    }

    fn end(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn predictions_answer_every_row() {
    let text = libsvm(&rows(60, 3, 4));
    let folder = Folder::with("a.svm", &text);
    folder.write("a.csv", "a,b,y\n1,2,p\n3,1,q\n".to_owned() + &"2,2,p\n3,0,q\n".repeat(20));
    folder.run("run a.svm --quiet --learner ogd --save m").succeeded();
    folder.run("run a.csv --quiet --learner ogd --save c").succeeded();
    let labels = folder.run("predict m a.svm").succeeded().stdout;
    let mut talk = Talk::new(&folder, "predict m -");
    for (row, label) in text.lines().zip(labels.lines()).take(20) {
        talk.say(&format!("{row}\n"));
        assert_eq!(talk.hear(), label);
    }
    talk.end();
    let mut talk = Talk::new(&folder, "predict c - --probabilities");
    talk.say("a,b\n");
    for _ in 0..3 {
        talk.say("1,2\n");
        assert!(talk.hear().contains("\"label\":"), "a row of CSV");
    }
    talk.end();
}

#[test]
fn traces_answer_every_row() {
    let mut talk = Talk::new(&Folder::new(), "trace --learner ogd --set classes=2 --set features=1");
    for t in 1..=5 {
        talk.say("{\"x\": [1], \"y\": 1}\n");
        assert!(talk.hear().starts_with(&format!("{{\"t\": {t}, ")));
    }
    talk.end();
}

/// The first rows are shown as they come, whatever the format, recognised or given.
#[test]
fn progress_follows_every_row() {
    let folder = Folder::new();
    for (options, head, row) in [
        ("", "", "a 1:1 2:0.5\n"),
        ("--format libsvm", "", "a 1:1 2:0.5\n"),
        ("", "", "a | u:1 v\n"),
        ("", "", "{\"u\": 1, \"v\": 0.5, \"y\": \"a\"}\n"),
        ("", "u,v,y\n", "1,0.5,a\n"),
    ] {
        let arguments = format!("run - --json --learner ogd --set classes=2 --set features=2 {options}");
        let mut talk = Talk::new(&folder, &arguments);
        talk.say(head);
        for rounds in [1, 2, 5] {
            talk.say(&row.repeat(if rounds == 5 { 3 } else { 1 }));
            let line: serde_json::Value = serde_json::from_str(&talk.hear()).unwrap();
            assert_eq!(line["rounds"], rounds, "{options} {row}");
        }
        talk.end();
    }
}

/// What a run predicts for a row is written before the next one is sent; classes have the names that were
/// known to the prediction.
#[test]
fn runs_predict_every_row_before_it_is_learnt() {
    for classes in ["", "--set classes=3"] {
        let run = "run - --quiet --learner ogd --format libsvm --set features=2 --predictions -";
        let mut talk = Talk::new(&Folder::new(), &format!("{run} {classes}"));
        talk.say("a 1:1\n");
        assert_eq!(talk.hear(), "label,confidence,truth");
        let first = talk.hear();
        assert_eq!(first, ",,a", "no label is known yet");
        for truth in ["b", "c", "a"] {
            talk.say(&format!("{truth} 1:1\n"));
            let line = talk.hear();
            let known = ["a,", "b,", "c,"].iter().any(|name| line.starts_with(name));
            assert!(known && line.ends_with(&format!(",{truth}")), "{line}");
        }
        talk.end();
    }
    let run =
        "run - --quiet --learner ogd --format libsvm --set features=2 --on-bad-row skip --predictions -";
    let mut talk = Talk::new(&Folder::new(), run);
    talk.say("a 1:1\n");
    assert_eq!(talk.hear(), "label,confidence,truth");
    assert!(talk.hear().ends_with(",a"));
    talk.say("b 1:x\n");
    assert_eq!(talk.hear(), ",,", "a bad row has its line at once");
    talk.say("b 1:1\n");
    assert!(talk.hear().ends_with(",b"));
    talk.end();
    let folder = Folder::new();
    let rows = "{\"u\": 1, \"y\": \"a\"}\n{\"u\": 2, \"y\": \"b\"}\n".repeat(3);
    let run = "run - --learner ogd --set features=1 --predictions -";
    let ran = folder.run_with(&format!("{run} --top-k 1"), &rows).succeeded();
    assert_eq!(ran.objects().len(), 6, "{}", ran.stdout);
    assert!(ran.stderr.contains("\nerror rate "), "{}", ran.stderr);
    folder
        .run_with(&format!("{run} --json"), &rows)
        .failed(1, "--predictions -: standard output has what --json writes");
}

/// A decision is in the log as soon as it is taken: its readers need not wait for the end.
#[test]
fn the_log_has_a_decision_when_it_is_taken() {
    for name in ["l.ndjson", "l.ndjson.gz"] {
        let folder = Folder::new();
        let arguments = format!(
            "run - --json --learner soba --format libsvm --set classes=2 --set features=2 --log {name}"
        );
        let mut talk = Talk::new(&folder, &arguments);
        talk.say("a 1:1\nb 2:1\n");
        talk.hear();
        talk.hear();
        // The log of what was decided, not that of the run: it goes on.
        let read = || folder.run(&format!("evaluate {name} --policy uniform --reward-learner none --json"));
        let started = std::time::Instant::now();
        loop {
            let ran = read();
            if ran.code == 0 && ran.objects()[0]["decisions"] == 2 {
                break;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "{name}: {}{}", ran.stdout, ran.stderr);
        }
        talk.end();
    }
}

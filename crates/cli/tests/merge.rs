//! `noregret merge`, as its users see it.

use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// A folder with a stream in three parts: a.svm, b.svm and c.svm.
struct Folder(tempfile::TempDir);

/// What a run left behind.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

const EXACT: &str = "--quiet --learner folklore --scale unit --set classes=3 --set norm=4 --set radius=1.5";

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder"));
        let stream = "--set classes=3 --set features=5 --set norm=8";
        let rows = folder.good(&format!("generate softmax --rows 900 {stream} --format libsvm")).stdout;
        let lines: Vec<&str> = rows.split_inclusive('\n').collect();
        for (part, name) in lines.chunks(300).zip(["a.svm", "b.svm", "c.svm"]) {
            std::fs::write(folder.path(name), part.concat()).expect("written");
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, line: &str) -> Ran {
        let output = Command::cargo_bin("noregret")
            .expect("built")
            .current_dir(Path::new(self.0.path()))
            .args(line.split_whitespace())
            .output()
            .expect("runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ran {
            code: output.status.code().expect("not killed"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    #[track_caller]
    fn good(&self, line: &str) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
        ran
    }

    #[track_caller]
    fn refused(&self, line: &str, sentence: &str) {
        let ran = self.run(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}: {}", ran.stderr);
        assert_eq!(ran.stderr, format!("noregret: {sentence}\n"), "{line}");
        assert!(!self.path("out").exists(), "{line}: nothing is written");
    }
}

#[test]
fn shards_become_one_model() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        folder.good(&format!("run {name}.svm {EXACT} --save {name}"));
    }
    let ran = folder.good("merge a b c --output sum");
    assert!(ran.stdout.starts_with("learner      folklore: "), "{}", ran.stdout);
    assert!(ran.stdout.contains(" norm=4 radius=1.5 regularization=2.25\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("900 rounds of 3 models, sum-all\n"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
    let ran = folder.good("merge a b c --output once --how lambda-once");
    assert!(ran.stdout.contains("regularization=0.75\n"), "{}", ran.stdout);
    let told = folder.good("inspect sum").stdout;
    assert!(told.contains("rounds       900\n") && told.contains("learnt from  a + b + c\n"), "{told}");

    // Predicts better than chance on all shards, and learns on.
    for model in ["sum", "once"] {
        for data in ["a.svm", "c.svm"] {
            let ran = folder.good(&format!("predict {model} {data}"));
            let (_, rest) = ran.stderr.split_once("error rate ").expect("scored");
            let rate: f64 = rest.split(',').next().expect("a number").parse().expect("a number");
            assert!(rate < 0.6, "{model} {data}: {}", ran.stderr);
        }
    }
    folder.good("run b.svm --quiet --load sum --save more");
    assert!(folder.good("inspect more").stdout.contains("rounds       1200\n"));
    // Same models, same bytes.
    folder.good("merge a b c --output again");
    assert_eq!(
        std::fs::read(folder.path("sum")).expect("read"),
        std::fs::read(folder.path("again")).expect("read")
    );
}

#[test]
fn adaptive_scaling_is_said_to_be_approximate() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        folder.good(&format!("run {name}.svm --quiet --scale standard --set radius=20 --save {name}"));
    }
    let ran = folder.good("merge a b --output sum");
    assert!(ran.stderr.contains("by its own statistics (standard)"), "{}", ran.stderr);
    folder.good("predict sum c.svm");
}

#[test]
fn what_does_not_match_is_refused() {
    let folder = Folder::new();
    folder.good(&format!("run a.svm {EXACT} --save a"));
    let and = |options: &str, sentence: &str| {
        folder.good(&format!("run b.svm {EXACT} {options} --save b"));
        folder.refused("merge a b --output out", &format!("b: {sentence}, as in the first model"));
    };
    and("--set regularization=2", "regularization = 2: must be 0.75");
    and("--no-intercept", "intercept = false: must be true");
    let other = EXACT.replace("unit", "maxabs");
    folder.good(&format!("run b.svm {other} --save b"));
    folder.refused("merge a b --output out", "b: scaling = maxabs: must be unit, as in the first model");
    let other = EXACT.replace("classes=3", "classes=4");
    folder.good(&format!("run b.svm {other} --save b"));
    folder.refused("merge a b --output out", "b: classes = 4: must be 3, as in the first model");
    std::fs::write(folder.path("d.svm"), "x 1:1 5:2\ny 2:3\nz 5:1\n").expect("written");
    folder.good(&format!("run d.svm {EXACT} --save d"));
    folder.refused("merge a d --output out", "d: labels = x, y, z: must be 0, 1, 2, as in the first model");
    folder.good("run a.svm --quiet --learner ogd --save ogd");
    folder.refused("merge ogd ogd --output out", "ogd cannot be merged: what it learns does not add up");
    folder.refused(
        "merge a nothing --output out",
        "nothing: cannot be read: No such file or directory (os error 2)",
    );
    assert_eq!(folder.run("merge a --output out").code, 1);
    assert_eq!(folder.run("merge a a --output out --how twice").code, 1);
    let ran = folder.run("merge a a --output no/out");
    assert!(
        ran.code == 2 && ran.stderr.starts_with("noregret: --output no/out: cannot be "),
        "{}",
        ran.stderr
    );
}

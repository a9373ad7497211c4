#![no_main]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

// Whole command lines over hostile files: the program, as it was built, runs in a folder of its own. It never
// panics, is never killed by the system, ends with 0, 1 or 2, says in one sentence why it failed, leaves no
// temporary file, and every model that it saves can be read again.
//
// The program is target/debug/noregret beside this folder, or what NOREGRET_PROGRAM names. It is watched from
// outside, so that the fuzzer learns nothing of what it does inside: seeds and the other targets are for
// that.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let [command, ending, bytes @ ..] = data else { return };
    let arguments = COMMANDS[usize::from(*command) % COMMANDS.len()];
    let ending = ENDINGS[usize::from(*ending) % ENDINGS.len()];
    let folder = &*FOLDER;
    let file = format!("data{ending}");
    std::fs::write(folder.join(&file), bytes).expect("room for the file");
    let words: Vec<String> = arguments.split_whitespace().map(|word| word.replace("DATA", &file)).collect();
    let ran = run(folder, &words);
    let errors = String::from_utf8(ran.stderr).expect("messages are UTF-8");
    let code = ran.status.code();
    assert!(code.is_some_and(|code| (0..=2).contains(&code)), "{words:?}: {:?}: {errors}", ran.status);
    assert!(!errors.contains("panicked"), "{words:?}: {errors}");
    assert!(std::str::from_utf8(&ran.stdout).is_ok(), "{words:?}: what is printed is UTF-8");
    if code != Some(0) {
        let last = errors.lines().last().unwrap_or_default();
        assert!(last.starts_with("noregret: ") || errors.contains("Usage:"), "{words:?}: {errors}");
    }
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("new") {
            if name == "new" {
                assert!(run(folder, &["inspect".to_owned(), name]).status.success(), "{words:?}: its model");
            }
            std::fs::remove_file(&path).expect("our own");
        } else if name != "model" && name != "bandit" {
            assert!(name == file, "{words:?}: {name} is left behind");
            std::fs::remove_file(&path).expect("our own");
        }
    }
});

/// `DATA` is the hostile file. `model` and `bandit` are good models.
const COMMANDS: [&str; 18] = [
    "run DATA --quiet --learner ogd --save new",
    "run DATA --json --quiet --limit 200 --memory 64",
    "run DATA --quiet --learner folklore --on-bad-row skip --save new --limit 100 --memory 64",
    "run DATA --quiet --learner soba --on-bad-row skip --save new --log new.ndjson --scale none --limit 100 --memory 64",
    "run DATA --quiet --learner gaptron-logistic --hash-bits 6 --delay 3 --limit 100",
    "run DATA --quiet --learner vaw --limit 100 --memory 64",
    "run DATA --quiet --load model --save new --limit 100",
    "run DATA --quiet --load bandit --on-bad-row skip --limit 100",
    "run DATA --quiet --learner ogd --format csv --header yes --label 1 --limit 100",
    "run DATA --quiet --learner adahedge --limit 100 --memory 64",
    "compare DATA --learners ogd,perceptron --quiet --limit 100",
    "predict model DATA --on-bad-row skip",
    "predict model DATA --probabilities -o new.out",
    "predict bandit DATA --greedy",
    "inspect DATA",
    "evaluate DATA --policy uniform --on-bad-row skip --reward-learner none",
    "replay DATA --save new --memory 64",
    "merge DATA model -o new",
];

const ENDINGS: [&str; 8] = ["", ".svm", ".csv", ".ndjson", ".vw", ".gz", ".svm.zst", ".csv.gz"];

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("noregret-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder to work in");
    let rows: String = (0..40).map(|t| format!("{} 1:{} 2:{}\n", t % 2, t % 5, t % 3)).collect();
    std::fs::write(folder.join("good.svm"), rows).expect("room for the file");
    for (learner, model) in [("folklore", "model"), ("soba", "bandit")] {
        let arguments = format!("run good.svm --quiet --learner {learner} --save {model}");
        let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        assert!(run(&folder, &words).status.success(), "good rows make a model");
    }
    std::fs::remove_file(folder.join("good.svm")).expect("our own");
    folder
});

fn run(folder: &Path, words: &[String]) -> Output {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debug/noregret");
        std::env::var_os("NOREGRET_PROGRAM").map_or_else(beside, PathBuf::from)
    });
    let mut command = Command::new(&*PROGRAM);
    command.current_dir(folder).args(words).stdin(Stdio::null());
    command.output().expect("the program is built: cargo build")
}

//! Output that cannot be written: a full disk is an error that leaves old files whole; a reader that has gone
//! is none.

use std::process::Stdio;

use crate::util::{Folder, libsvm, rows};

fn folder() -> Folder {
    let folder = Folder::with("a.svm", libsvm(&rows(20_000, 3, 4)));
    folder.run("run a.svm --learner ogd --quiet --save model").succeeded();
    folder
}

/// Everything that writes to standard output.
const COMMANDS: [&str; 9] = [
    "run a.svm --learner ogd --quiet",
    "run a.svm --learner ogd",
    "run a.svm --learner ogd --json",
    "predict model a.svm",
    "predict model a.svm --probabilities",
    "inspect model",
    "list",
    "list folklore --json",
    "completions zsh",
];

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk() {
    let folder = folder();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for command in COMMANDS {
        let output = folder.command(command).stdout(full()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        let sentence = "noregret: standard output: No space left on device (os error 28)";
        assert_eq!(errors.lines().last(), Some(sentence), "{command}: {errors}");
        assert_eq!(output.status.code(), Some(2), "{command}");
        // Standard error that cannot be written to is no reason to stop.
        let output = folder.command(command).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command}");
    }
    let output = folder.command("run nothing").stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));

    // By way of a link, so that a program that replaced the device would replace the link alone.
    std::os::unix::fs::symlink("/dev/full", folder.path("full")).unwrap();
    let space = "cannot be written: No space left on device (os error 28)";
    folder.run("run a.svm --learner ogd --quiet --save full").failed(2, &format!("full: {space}"));
    folder.run("predict model a.svm --output full").failed(2, &format!("--output full: {space}"));
    // While it learns, and at the end of a short run.
    for limit in [20_000, 10] {
        let run = format!("run a.svm --learner ogd --quiet --limit {limit} --predictions full");
        folder.run(&run).failed(2, &format!("--predictions full: {space}"));
    }
    folder.run("demo --rows 10 --plot full").failed(1, "--plot full: must end in .svg or .png");
    assert!(folder.path("full").is_symlink());
}

#[test]
fn places_that_cannot_be_written() {
    let folder = folder();
    std::fs::create_dir(folder.path("sub")).unwrap();
    let before = folder.names();
    folder
        .run("run a.svm --learner ogd --quiet --save sub")
        .failed(1, "--save sub: is a directory; the name of a file was needed");
    for (command, option) in [
        ("run a.svm --learner ogd --quiet --save", "--save"),
        ("predict model a.svm --output", "--output"),
        ("demo --plot", "--plot"),
    ] {
        let ran = folder.run(&format!("{command} no/such.svg"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command}");
        let start = format!("noregret: {option} no/such.svg: cannot be written: ");
        assert!(ran.stderr.starts_with(&start), "{command}: {}", ran.stderr);
    }
    assert_eq!(folder.names(), before);
}

#[test]
fn an_old_file_outlives_a_failed_run() {
    let folder = folder();
    let model = folder.read("model");
    folder.write("out", "old predictions");
    let before = folder.names();
    folder.write("b.svm", "c0 1:1\nc1 1:x\n");
    assert_eq!(folder.run("run b.svm --quiet --save model").code, 2);
    assert_eq!(folder.run("run b.svm --quiet --load model --save model").code, 2);
    assert_eq!(folder.run("predict model b.svm --on-bad-row fail --output out").code, 2);
    assert_eq!((folder.read("model"), folder.read("out")), (model, b"old predictions".to_vec()));
    folder.write("b.svm", "c0 1:1\n");
    folder.run("predict model b.svm --output out").succeeded();
    assert_eq!(folder.text("out").lines().count(), 1);
    assert_eq!(folder.names().len(), before.len() + 1, "no temporary file: {:?}", folder.names());
}

#[test]
fn a_closed_pipe_ends_in_silence() {
    let folder = folder();
    for command in
        COMMANDS.into_iter().chain(["--help", "run --help", "run a.svm --learner ogd --json --save piped"])
    {
        let mut child =
            folder.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{command}: {errors}");
        assert!(!errors.contains("noregret: "), "{command}: {errors}");
    }
    // The output was closed, but a model was asked for.
    assert_eq!(folder.read("piped"), {
        folder.run("run a.svm --learner ogd --quiet --save again").succeeded();
        folder.read("again")
    });
    let mut child = folder
        .command("run a.svm --learner ogd")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

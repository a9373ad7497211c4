//! Killed in the middle of `--save`: the model file is the old one, whole; killed later, the new one.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::util::{Folder, libsvm, rows};

#[test]
fn the_model_is_always_whole() {
    const KILLS: u32 = 16;
    // A state of megabytes, so that writing it takes a while.
    let folder = Folder::with("a.svm", libsvm(&rows(20, 10, 30_000)));
    let save = |rows: u32| format!("run a.svm --quiet --learner ogd --limit {rows} --save model");
    folder.run(&save(12)).succeeded();
    assert!(folder.read("model").len() > 2_000_000);

    let mut killed = 0;
    for kill in 0..KILLS {
        // The run that is killed would leave another number of rounds.
        let mut child =
            folder.command(&save(12 + kill % 2)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        killed += u32::from(is_saving(&folder, &mut child));
        // SIGKILL on Unix.
        child.kill().unwrap();
        child.wait().unwrap();
        let rounds = folder.run("inspect model --json").succeeded().objects()[0]["rounds"].as_u64().unwrap();
        assert!((12..14).contains(&rounds), "{rounds}");
        for left in hidden(&folder) {
            std::fs::remove_file(folder.path(&left)).unwrap();
        }
    }
    assert!(killed > 0, "no run was caught while it saved");
    eprintln!("{killed} of {KILLS} runs were killed while they saved");
    assert_eq!(folder.names(), ["a.svm", "model"], "nothing else is left behind");
    // The next save removes what a killed one has left, and nothing else.
    folder.write(".model.123456.tmp", "half");
    folder.write(".other.123456.tmp", "half");
    folder.run(&save(20)).succeeded();
    assert_eq!(folder.names(), [".other.123456.tmp", "a.svm", "model"]);
    assert_eq!(folder.run("inspect model --json").objects()[0]["rounds"], 20);
}

/// Waits until the run writes its model. False if it is over before that was seen.
fn is_saving(folder: &Folder, child: &mut Child) -> bool {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(60), "the run does not end");
        let written = |name: &String| std::fs::metadata(folder.path(name)).is_ok_and(|file| file.len() > 0);
        if hidden(folder).iter().any(written) {
            return true;
        }
    }
    false
}

/// The temporary files of saves.
fn hidden(folder: &Folder) -> Vec<String> {
    let names = folder.names().into_iter();
    names.filter(|name| name.starts_with(".model.") && name.ends_with(".tmp")).collect()
}

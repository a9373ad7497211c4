//! Killed at any moment, also in the middle of `--save`: the model file is the old one or the new one, and whole.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::util::{Folder, libsvm, rows};

#[test]
fn the_model_is_always_whole() {
    const KILLS: u32 = 24;
    // A state of megabytes, so that writing it takes a while.
    let folder = Folder::with("a.svm", libsvm(&rows(20, 10, 100)));
    let save = |rows: u32| format!("run a.svm --quiet --limit {rows} --save model");
    let started = Instant::now();
    folder.run(&save(12)).succeeded();
    let whole = started.elapsed();
    assert!(folder.read("model").len() > 2_000_000);

    let mut killed = 0;
    for kill in 0..KILLS {
        // The run that is killed would leave another number of rounds.
        let mut child =
            folder.command(&save(12 + kill % 2)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The golden ratio spreads the moments over the second half, in which the model is written.
        let part = 0.5 + 0.6 * (f64::from(kill) * 0.618_034).fract();
        std::thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * part));
        killed += u32::from(child.try_wait().unwrap().is_none());
        // SIGKILL on Unix.
        child.kill().unwrap();
        child.wait().unwrap();
        let rounds = folder.run("inspect model --json").succeeded().objects()[0]["rounds"].as_u64().unwrap();
        assert!((12..14).contains(&rounds), "{rounds}");
    }
    assert!(killed >= KILLS / 4, "only {killed} of {KILLS} were still running");
    let left: Vec<String> =
        folder.names().into_iter().filter(|name| name != "a.svm" && name != "model").collect();
    eprintln!("{killed} of {KILLS} killed, {} left a temporary file", left.len());
    assert!(left.iter().all(|name| name.starts_with(".model.") && name.ends_with(".tmp")), "{left:?}");
    assert!(left.len() <= killed as usize);
    folder.run(&save(20)).succeeded();
    assert_eq!(folder.run("inspect model --json").objects()[0]["rounds"], 20);
}

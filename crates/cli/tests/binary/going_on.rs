//! `--checkpoint`, `--skip` and signals: a run that was stopped, or killed, goes on where it was, to the bit.
#![cfg(unix)]

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::util::{Folder, Ran, libsvm, rows};

fn signal(child: &Child, name: &str) {
    let sent =
        std::process::Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Waits until `there` is true.
#[track_caller]
fn wait(what: &str, mut there: impl FnMut() -> bool) {
    let started = Instant::now();
    while !there() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what} takes too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn rows_read(folder: &Folder) -> u64 {
    folder.run("inspect m --json").succeeded().objects()[0]["rows_read"].as_u64().unwrap()
}

/// Arguments of a run beside its data and its files.
struct Run {
    /// Of a new run alone.
    first: &'static str,
    /// Of every run.
    always: &'static str,
    log: Option<&'static str>,
}

const RUNS: [Run; 5] = [
    // Blocks of rows that are announced, scaling that goes on.
    Run { first: "--learner folklore", always: "--checkpoint 500", log: None },
    Run { first: "--learner soba", always: "--checkpoint 300 --delay 7", log: Some("l.ndjson") },
    Run {
        first: "--learner gaptron-logistic --feedback bandit",
        always: "--checkpoint 400 --delay geometric:20",
        log: Some("l.ndjson.gz"),
    },
    // Labels that are drawn though all of them are seen.
    Run { first: "--learner gaptron-hinge", always: "--checkpoint 250 --delay uniform:30", log: None },
    // Members with blocks of many lengths, which join and are dropped.
    Run { first: "--learner auto", always: "--checkpoint 60", log: None },
];

/// `auto` takes as long for a row as others for so many.
const SLOW: usize = 5;

impl Run {
    /// The command line that begins the run, or goes on with it.
    fn command(&self, folder: &Folder) -> String {
        let goes_on = folder.path("m").exists();
        if let Some(log) = self.log.filter(|_| !goes_on) {
            // Before its first checkpoint nothing is known of it.
            let _ = std::fs::remove_file(folder.path(log));
        }
        let log = self.log.map_or_else(String::new, |log| format!("--log {log}"));
        let mode = if goes_on { "--load m --skip seen" } else { self.first };
        format!("run d.svm --quiet --save m {log} {} {mode}", self.always)
    }

    /// What an undisturbed run leaves behind: the model and the log.
    fn undisturbed(&self, data: &str) -> Vec<Vec<u8>> {
        let folder = Folder::with("d.svm", data);
        folder.run(&self.command(&folder)).succeeded();
        self.left(&folder)
    }

    fn left(&self, folder: &Folder) -> Vec<Vec<u8>> {
        ["m"].into_iter().chain(self.log).map(|name| folder.read(name)).collect()
    }
}

fn data(count: usize) -> String {
    libsvm(&rows(count, 3, 8))
}

/// Rows of a cut run.
const ROWS: usize = 700;

/// A run of `learner` over `data` with options that `watch` it, cut by `--limit` after each of `cuts` and
/// gone on with, leaves the model file and the summary of a run in one. Returns false where the learner
/// refuses the data.
fn cut(learner: &str, watch: &str, data: &str, cuts: &[usize]) -> bool {
    let folder = Folder::with("all", data);
    let run = |what: &str| folder.run(&format!("run {what} --json --quiet --checkpoint 1000000 {watch}"));
    let figures = |ran: &Ran| {
        let mut summary = ran.summary();
        // By the clock.
        let fields = summary.as_object_mut().unwrap();
        fields.retain(|name, _| name != "seconds" && name != "rows_per_second");
        summary
    };
    // A run of fewer rows would have another horizon, by which some learners choose their parameters.
    let rows = data.lines().count();
    let first = format!("--learner {learner} --set horizon={rows}");
    let whole = run(&format!("all {first} --save whole"));
    if whole.code != 0 {
        return false;
    }
    for &at in cuts.iter().filter(|at| **at < rows) {
        run(&format!("all {first} --limit {at} --save m")).succeeded();
        let rest = run("all --load m --skip seen --save m").succeeded();
        assert_eq!(figures(&rest), figures(&whole), "{learner}, cut after {at} rows");
        assert!(folder.read("m") == folder.read("whole"), "{learner}, cut after {at} rows");
    }
    true
}

/// Streams of which any learner of the registry takes one: three classes, two, and two with a single column.
fn streams() -> [String; 3] {
    let folder = Folder::new();
    ["classes=3 --set features=24", "classes=2 --set features=24", "classes=2 --set features=1"].map(|what| {
        folder.run(&format!("generate softmax --rows {ROWS} -o d --format libsvm --set {what}")).succeeded();
        folder.text("d")
    })
}

/// Counts of words: sparse rows with many columns, of which `auto` takes two views.
fn words() -> String {
    let word = |t: usize, at: usize| 1 + (t * 7919 + at * at * 104_729 + t % 3 * 31) % 40_000;
    let line = |t: usize| {
        let mut words: Vec<usize> = (0..9).map(|at| word(if at < 3 { t % 60 } else { t }, at)).collect();
        words.sort_unstable();
        words.dedup();
        let counts: String = words.iter().map(|word| format!(" {word}:{}", 1 + word % 7)).collect();
        format!("{}{counts}\n", t % 3)
    };
    (0..ROWS).map(line).collect()
}

/// `auto`, whose members have blocks of many lengths, and the kinds of state that others are made of.
#[test]
fn a_run_that_is_cut_goes_on_to_the_bit() {
    let three = &streams()[0];
    assert!(cut("auto", "", three, &[300]));
    assert!(cut("auto", "", &words(), &[1, 5, 300]));
    // What watches the run goes on counting, too.
    assert!(cut("folklore", "--calibration=classes --abstain-rate 0.2", three, &[300]));
    for learner in ["folklore", "ons", "gaptron-logistic", "soba"] {
        assert!(cut(learner, "", three, &[1, 77, 256, 300, 511]), "{learner}");
    }
}

#[test]
#[ignore = "slow: every learner is cut"]
fn every_run_that_is_cut_goes_on_to_the_bit() {
    let streams = streams();
    // For learners to which every row before costs something.
    let few = streams.each_ref().map(|data| data.split_inclusive('\n').take(100).collect::<String>());
    for entry in Folder::new().run("list --json").succeeded().objects() {
        let name = entry["name"].as_str().unwrap();
        let streams = if matches!(name, "ftrl" | "kernel-aioli") { &few } else { &streams };
        let learnt = streams.iter().any(|data| cut(name, "", data, &[77]));
        assert!(learnt, "{name} refuses all of these streams");
        if entry["feedback"] == "either" {
            let bandit = format!("{name} --set mode=bandit");
            assert!(cut(&bandit, "", &streams[0], &[300]), "{bandit}");
        }
    }
}

/// Kills runs over so many `rows` `kills` times at random moments, and lets them go on each time. What they
/// end with is what an undisturbed run does.
fn kill(kills: u32, rows: usize) {
    let slow = |run: &Run| if run.first.ends_with("auto") { SLOW } else { 1 };
    let data = RUNS.each_ref().map(|run| data(rows / slow(run)));
    let whole: Vec<Vec<Vec<u8>>> = RUNS.iter().zip(&data).map(|(run, data)| run.undisturbed(data)).collect();
    let (mut killed, mut ended, mut seed) = (0, 0, 1_u64);
    while killed < kills {
        let at = ended % RUNS.len();
        let folder = Folder::with("d.svm", &data[at]);
        let mut longest = 60;
        loop {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let command = RUNS[at].command(&folder);
            let mut child =
                folder.command(&command).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            let moment = Instant::now() + Duration::from_millis((seed >> 33) % longest);
            while Instant::now() < moment && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(300));
            }
            if child.try_wait().unwrap().is_some() {
                let output = child.wait_with_output().unwrap();
                assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
                break;
            }
            // SIGKILL.
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
            // So that it ends some time on a slow machine, too.
            longest += 2;
            for hidden in folder.names().into_iter().filter(|name| name.starts_with(".m.")) {
                std::fs::remove_file(folder.path(&hidden)).unwrap();
            }
        }
        assert!(RUNS[at].left(&folder) == whole[at], "run {at}, after {killed} kills");
        ended += 1;
    }
    eprintln!("{killed} kills, {ended} runs ended as if there had been none");
}

#[test]
fn a_killed_run_goes_on() {
    kill(10, 2000);
}

/// `NOREGRET_KILLS=1000` for more: when that was done, on 22 November 2026, 1,346 kills ended in ten runs,
/// two of each kind, that were all as if there had been none.
#[test]
#[ignore = "slow: a hundred runs are killed"]
fn a_hundred_kills() {
    let kills = std::env::var("NOREGRET_KILLS").map_or(100, |kills| kills.parse().expect("a number"));
    kill(kills, 6000);
}

/// A signal ends the run between two rows, with everything saved, and what comes after is as if there had
/// been none.
#[test]
fn signals_end_a_run_between_two_rows() {
    let data = data(30_000);
    for (run, name, code) in [(&RUNS[0], "INT", 130), (&RUNS[1], "TERM", 143)] {
        let folder = Folder::with("d.svm", &data);
        let command = run.command(&folder).replace("--quiet", "--json");
        let whole = run.undisturbed(&data);
        let child = folder.command(&command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait("a checkpoint", || folder.path("m").exists());
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{errors}");
        let read = rows_read(&folder);
        let sentence = format!(
            "noregret: stopped by SIG{name} after {read} rows; continue with --load m --skip {read}, without --learner, --set and --scale, which the model knows"
        );
        assert_eq!(errors.lines().last(), Some(&*sentence), "{errors}");
        let last = String::from_utf8(output.stdout).unwrap().lines().last().unwrap().to_owned();
        let summary: serde_json::Value = serde_json::from_str(&last).unwrap();
        assert_eq!((summary["type"].as_str(), summary["rounds"].as_u64()), (Some("summary"), Some(read)));
        assert!(read < 30_000, "the signal came too late");
        let names: Vec<&str> = ["d.svm"].into_iter().chain(run.log).chain(["m"]).collect();
        assert_eq!(folder.names(), names, "no temporary file");
        folder.run(&run.command(&folder)).succeeded();
        assert!(run.left(&folder) == whole, "{name}");
    }
}

/// A pipe that is waited for ends as well, and the torn row in it is not learnt.
#[test]
fn signals_end_a_pipe() {
    use std::io::Write as _;
    let folder = Folder::new();
    let command = "run - --quiet --save m --set classes=2 --set features=2 --format libsvm --learner ogd --set radius=9";
    let mut child = folder
        .command(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"a 1:1\nb 2:1\na 1:0").unwrap();
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((rows_read(&folder), folder.names()), (2, vec!["m".to_owned()]));
}

#[test]
fn signals_end_a_comparison() {
    let folder = Folder::with("d.svm", data(400_000));
    let command = "compare d.svm --learners ogd,folklore,ons --json";
    let child = folder.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.lines().last().unwrap().starts_with("noregret: stopped by SIGINT"), "{errors}");
    assert_eq!(folder.names(), ["d.svm"]);
}

/// A replay is saved on its way, killed or stopped, and goes on with the lines that it has not seen.
#[test]
fn a_replay_goes_on() {
    let folder = Folder::with("d.svm", data(12_000));
    for learner in ["soba --delay 7", "gaptron-logistic --feedback bandit --delay geometric:20"] {
        let _ = std::fs::remove_file(folder.path("l"));
        folder.run(&format!("run d.svm --quiet --learner {learner} --log l")).succeeded();
        folder.run("replay l --save whole").succeeded();
        let whole = folder.read("whole");
        // A killed process leaves what it was writing, so that it comes last.
        for (name, code) in [("TERM", Some(143)), ("INT", Some(130)), ("KILL", None)] {
            let _ = std::fs::remove_file(folder.path("m"));
            let command = "replay l --save m --checkpoint 200 --json";
            let child =
                folder.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            wait("a checkpoint", || folder.path("m").exists());
            signal(&child, name);
            let output = child.wait_with_output().unwrap();
            let errors = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), code, "{errors}");
            if code.is_some() {
                let sentence = format!("noregret: stopped by SIG{name} after ");
                let last = errors.lines().last().unwrap();
                assert!(
                    last.starts_with(&sentence) && last.contains("; continue with --load m --skip "),
                    "{last}"
                );
                let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                assert!(value["decisions"].as_u64() < Some(12_000), "the signal came too late");
                let names: Vec<String> =
                    folder.names().into_iter().filter(|name| name.starts_with('.')).collect();
                assert!(names.is_empty(), "temporary files: {names:?}");
            }
            // What a killed process was writing.
            for hidden in folder.names().into_iter().filter(|name| name.starts_with('.')) {
                std::fs::remove_file(folder.path(&hidden)).unwrap();
            }
            assert!(folder.read("m") != whole, "stopped too late");
            folder.run("replay l --load m --skip seen --save m --checkpoint 0.01s").succeeded();
            assert!(folder.read("m") == whole, "{learner}, {name}");
        }
    }
    folder.run("replay l --skip 3").failed(1, "--skip: needs --load, the model that has learnt them");
    folder.run("replay l --checkpoint 5").failed(1, "--checkpoint 5: needs --save, the file to be saved to");
    folder
        .run("replay l --load whole --skip 99999")
        .failed(2, "l: the log has 24000 decisions and answers; 99999 were to be skipped");
    // A model of other lines.
    let ran = folder.run("replay l --load whole --skip 100");
    assert!(ran.code == 2 && ran.stderr.contains("the decision is not the learner's"), "{}", ran.stderr);
}

#[test]
fn what_cannot_go_on_is_refused() {
    let folder = Folder::with("d.svm", data(300));
    folder.run("run d.svm --quiet --learner ogd --save m").succeeded();
    assert_eq!(rows_read(&folder), 300);
    folder
        .run("run d.svm --quiet --load m --skip 301")
        .failed(2, "d.svm: has 300 rows; 301 were to be skipped");
    folder.run("run d.svm --quiet --load m --skip seen").failed(2, "d.svm: no labelled row was learnt from");
    folder.write("d.csv", "a,label\n1,x\n2,y\n");
    folder.write("other.csv", "a,kind\n1,x\n2,y\n");
    folder.run("run d.csv --quiet --learner ogd --save c").succeeded();
    let ran = folder.run("run other.csv --quiet --load c");
    let sentence = "learnt from (labels were sought under \"label\"; --label names another column)\n";
    assert!(ran.code == 2 && ran.stderr.ends_with(sentence), "{}", ran.stderr);
    folder
        .run("run d.svm --quiet --learner ogd --skip seen")
        .failed(1, "--skip seen: needs --load, the model that has learnt them");
    folder
        .run("run d.svm --quiet --checkpoint 10")
        .failed(1, "--checkpoint 10: needs --save, the file to be saved to");
    for every in ["0", "-1", "0s", "ten"] {
        assert_eq!(folder.run(&format!("run d.svm --save n --checkpoint={every}")).code, 1, "{every}");
    }
    // By the clock.
    folder.run("run d.svm --quiet --learner ogd --save n --checkpoint 0.001s").succeeded();
    folder.run("run d.svm --quiet --learner ogd --save o --checkpoint 7").succeeded();
    assert!(folder.read("n") == folder.read("o"), "whatever the checkpoints");
    // Rows that are skipped teach nothing.
    let summary = folder.summary("d.svm --learner ogd --skip 100");
    assert_eq!(summary["rounds"], 200);
}

/// The writer of a log has died: what is whole is replayed and evaluated, and what was dropped is said.
#[test]
fn logs_that_are_cut_off() {
    // More than a block of zstd, of which a part says nothing.
    let folder = Folder::with("d.svm", data(4000));
    let is_torn = |note: &str| note.contains("incomplete") || note.contains("truncated");
    for ending in ["ndjson", "ndjson.gz", "ndjson.zst"] {
        folder.run(&format!("run d.svm --quiet --learner soba --log l.{ending}")).succeeded();
        let log = folder.read(&format!("l.{ending}"));
        let name = format!("cut.{ending}");
        folder.write(&name, &log[..log.len() - log.len() / 4 - 5]);
        let replayed = folder.run(&format!("replay {name} --save r --json")).succeeded();
        let decisions = replayed.objects()[0]["decisions"].as_u64().unwrap();
        assert!((100..4000).contains(&decisions), "{ending}: {decisions}");
        assert!(replayed.stderr.starts_with("noregret: the log"), "{}", replayed.stderr);
        assert!(is_torn(&replayed.stderr), "{}", replayed.stderr);
        let evaluated =
            folder.run(&format!("evaluate {name} --policy uniform --reward-learner none")).succeeded();
        assert!(is_torn(&evaluated.stderr), "{}", evaluated.stderr);
        // Whole lines are none that were cut, whatever is wrong with them; and a log is more than its torn
        // header.
        folder.write("bad.ndjson", "{\"noregret\":\"deci");
        assert_eq!(folder.run("replay bad.ndjson").code, 2);
    }
    let log = folder.text("l.ndjson");
    folder.write("bad.ndjson", log.clone() + "{\"id\": \"x\"\n");
    assert_eq!(folder.run("replay bad.ndjson").code, 2);
    // A last line that lacks nothing but its end is whole.
    folder.write("whole.ndjson", log.trim_end());
    let whole = folder.run("replay whole.ndjson --json").succeeded();
    assert_eq!((whole.objects()[0]["decisions"].as_u64(), &*whole.stderr), (Some(4000), ""));
}

#[test]
fn a_full_disk_under_the_log_is_named() {
    let folder = Folder::with("d.svm", data(4000));
    // No file may grow beyond so many blocks of 512 or 1024 bytes.
    let program = assert_cmd::cargo::cargo_bin!("noregret");
    let script = format!(
        "trap '' XFSZ; ulimit -f 64; exec {} run d.svm --quiet --learner soba --log l.ndjson",
        program.display()
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("noregret: --log l.ndjson: cannot be written: File too large"), "{errors}");
}

/// Lines of features say nothing of the columns of the table that a model has learnt: it keeps them.
#[test]
fn a_model_of_a_table_keeps_its_columns_beside_lines_of_features() {
    let row = |t: usize| format!("{}.5,{},{}\n", t % 7, ["red", "blue"][t % 3 / 2], ["x", "y"][t % 2]);
    let folder = Folder::with("a.csv", "1,hue,kind\n".to_owned() + &(0..40).map(row).collect::<String>());
    folder.write(
        "b.svm",
        (0..20).map(|t| format!("{} 1:{}.5\n", ["x", "y"][t % 2], t % 7)).collect::<String>(),
    );
    folder.run("run a.csv --header yes --learner ogd --save m --quiet").succeeded();
    folder.run("run b.svm --load m --save n --quiet").succeeded();
    let schema = |model: &str| {
        folder.run(&format!("inspect {model} --json")).succeeded().objects()[0]["schema"].clone()
    };
    assert_eq!(schema("n"), schema("m"));
    assert_eq!(schema("n")["label"], "kind");
    folder.run("predict n a.csv").succeeded();
}

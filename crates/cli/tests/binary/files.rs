//! Outputs that are inputs, or other outputs: refused before anything is read.

use crate::util::{Folder, libsvm, rows};

/// All files stay as they are, and the sentence is the one expected.
#[track_caller]
fn refused(folder: &Folder, arguments: &str, sentence: &str) {
    let before: Vec<(String, Vec<u8>)> =
        folder.names().into_iter().map(|name| (name.clone(), folder.read(&name))).collect();
    folder.run(arguments).failed(1, sentence);
    let after: Vec<(String, Vec<u8>)> =
        folder.names().into_iter().map(|name| (name.clone(), folder.read(&name))).collect();
    assert!(before == after, "{arguments}: the files have changed");
}

#[test]
fn outputs_that_are_inputs_or_other_outputs() {
    let folder = Folder::with("d.svm", libsvm(&rows(60, 3, 4)));
    folder.run("run d.svm --quiet --save m").succeeded();
    folder.run("run d.svm --quiet --learner soba --log l.ndjson").succeeded();
    for (arguments, sentence) in [
        ("run d.svm --save d.svm", "--save d.svm: is the same file as the data d.svm"),
        ("run d.svm --save ./d.svm", "--save ./d.svm: is the same file as the data d.svm"),
        ("run d.svm --batch-model d.svm", "--batch-model d.svm: is the same file as the data d.svm"),
        ("run d.svm --learner soba --log d.svm", "--log d.svm: is the same file as the data d.svm"),
        ("run d.svm --learner soba --save q --log q", "--log q: is the same file as --save q"),
        ("run d.svm --save q --batch-model ./q", "--batch-model ./q: is the same file as --save q"),
        ("run d.svm --save q.html --report q.html", "--report q.html: is the same file as --save q.html"),
        ("run d.svm --load m --log m", "--log m: is the same file as --load m"),
        (
            "compare d.svm --learners ogd --report q.svg --plot q.svg",
            "--report q.svg: is the same file as --plot q.svg",
        ),
        ("compare d.svm --learners ogd --report d.svm", "--report d.svm: is the same file as the data d.svm"),
        ("predict m d.svm -o d.svm", "--output d.svm: is the same file as the data d.svm"),
        ("predict m d.svm -o m", "--output m: is the same file as the model m"),
        ("replay l.ndjson --save l.ndjson", "--save l.ndjson: is the same file as the log l.ndjson"),
        ("merge m m -o m", "--output m: is the same file as a model m"),
    ] {
        refused(&folder, arguments, &format!("{sentence}; nothing was read or written"));
    }
    for option in ["--save", "--batch-model", "--report"] {
        let sentence = format!("{option} -: must be a file: standard output has the results");
        refused(&folder, &format!("run d.svm {option} -"), &sentence);
    }
    // A model that is read as a whole may be replaced by what becomes of it, and devices keep nothing.
    folder.run("run d.svm --quiet --load m --save m").succeeded();
    #[cfg(unix)]
    folder.run("run d.svm --quiet --save /dev/null --batch-model /dev/null").succeeded();
}

#[test]
#[cfg(unix)]
fn whatever_the_path_the_file_is_the_same() {
    let folder = Folder::with("d.svm", libsvm(&rows(60, 3, 4)));
    std::os::unix::fs::symlink("d.svm", folder.path("link")).unwrap();
    std::fs::hard_link(folder.path("d.svm"), folder.path("hard")).unwrap();
    for name in ["link", "hard"] {
        let sentence =
            format!("--save {name}: is the same file as the data d.svm; nothing was read or written");
        refused(&folder, &format!("run d.svm --save {name}"), &sentence);
    }
    // By way of the standard streams.
    let ran = |input: bool, output: bool| {
        let file = || std::fs::OpenOptions::new().read(true).append(true).open(folder.path("d.svm")).unwrap();
        let mut command = folder.command(if input { "run - --save d.svm" } else { "run d.svm --quiet" });
        if input {
            command.stdin(file());
        }
        if output {
            command.stdout(file());
        }
        let out = command.output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    let before = folder.read("d.svm");
    let sentence = "noregret: --save d.svm: is the same file as the data on standard input; nothing was read or written\n";
    assert_eq!(ran(true, false), (Some(1), sentence.to_owned()));
    let sentence =
        "noregret: d.svm: is the data, and standard output is redirected to it; nothing was read\n";
    assert_eq!(ran(false, true), (Some(1), sentence.to_owned()));
    assert_eq!(folder.read("d.svm"), before);
}

/// Columns that never came up take no memory in what is saved and loaded, either: the state of four million
/// of them is 32 MiB a vector, of which `pnewtron` has several.
#[cfg(target_os = "linux")]
#[test]
fn a_hashed_model_is_saved_and_loaded_in_the_memory_of_its_run() {
    let folder = Folder::with("d.svm", "1 1:1 2:2\n2 3:1\n1 1:1\n2 2:1 3:2\n");
    for learner in ["folklore-diag", "pnewtron"] {
        let peak = peak(&folder, &format!("run d.svm --quiet --learner {learner} --hash-bits 22 --save m"));
        assert!(folder.read("m").len() < 3 << 20, "nor on the disk: {} bytes", folder.read("m").len());
        assert!((1 << 10..110 << 10).contains(&peak), "{learner}: {} MiB", peak >> 10);
        let peak = self::peak(&folder, "predict m d.svm");
        assert!((1 << 10..150 << 10).contains(&peak), "{learner}, loaded: {} MiB", peak >> 10);
    }
}

/// The largest memory of a command that succeeds, in KiB.
#[cfg(target_os = "linux")]
fn peak(folder: &Folder, arguments: &str) -> u64 {
    let mut child = folder.command(arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    let (mut peak, status) = (0, format!("/proc/{}/status", child.id()));
    while child.try_wait().unwrap().is_none() {
        let lines = std::fs::read_to_string(&status).unwrap_or_default();
        let most = lines.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = peak.max(most.map_or(0, |kib| kib.trim().parse::<u64>().unwrap()));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success());
    peak
}

//! `--help`, `--version` and completions.

use crate::util::Folder;

/// The subcommands that the main help lists.
fn commands(folder: &Folder) -> Vec<String> {
    let help = folder.run("--help").succeeded().stdout;
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = list.take_while(|line| !line.is_empty());
    // Texts that go on are indented further.
    let names =
        lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// An option that takes a value has a default that is printed, or does nothing until it is given.
#[test]
fn every_default_is_printed() {
    const NOTHING: [&str; 34] = [
        "--postgres",
        "--node",
        "--add-key",
        "--remove-key",
        "--missing",
        "--not-missing",
        "--set",
        "--load",
        "--save",
        "--batch-model",
        "--checkpoint",
        "--weight",
        "--abstain-cost",
        "--abstain-rate",
        "--risk-plot",
        "--report",
        "--data <FOLDER>",
        "--categorical",
        "--numeric",
        "--text",
        "--time",
        "--drop",
        "--id",
        "--predictions",
        "--top-k",
        "--output",
        "--learner <NAME>",
        "--learners",
        "Plot learning curves",
        // Of `trace`, which needs them.
        "--learner",
        "--no-intercept",
        "--help",
        "--json",
        "--quiet",
    ];
    let folder = Folder::new();
    let commands = commands(&folder);
    for command in ["run", "compare", "predict", "list", "inspect", "trace", "demo", "completions"] {
        assert!(commands.iter().any(|name| name == command), "{command}");
    }
    for command in commands {
        let help = folder.run(&format!("{command} --help")).succeeded().stdout;
        // Options with their texts, which may go over several lines.
        let mut options: Vec<String> = vec![];
        let mut inside = false;
        for line in help.lines().map(str::trim) {
            if line.starts_with('-') {
                options.push(line.to_owned());
            } else if let Some(option) = options.last_mut().filter(|_| inside) {
                *option += &format!(" {line}");
            }
            inside = line.starts_with('-') || (inside && !line.is_empty());
        }
        for option in options.iter().filter(|option| option.contains('<')) {
            let excused = NOTHING.iter().any(|name| option.contains(name));
            assert!(excused || option.contains("[default: "), "{command}: {option}");
        }
    }
    let run = folder.run("run --help").succeeded().stdout;
    for default in [
        "[default: auto]",
        "[default: 1000]",
        "[default: fail; of predict: skip]",
        "[default: warn]",
        "[default: 4096]",
    ] {
        assert!(run.contains(default), "{default}");
    }
    assert!(run.contains("--header <yes|no>") && !run.contains("[possible values: true, false]"), "{run}");
}

/// Lines of examples are not folded in a terminal of 80 columns.
#[test]
fn examples_stay_in_their_lines() {
    let folder = Folder::new();
    let mut with_examples = 0;
    for command in commands(&folder).iter().map(String::as_str).chain([""]) {
        let help = folder.run(&format!("{command} --help")).succeeded().stdout;
        let Some((_, examples)) = help.split_once("\nExamples:\n") else { continue };
        with_examples += 1;
        for line in examples.lines().take_while(|line| line.starts_with(' ')) {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
    }
    assert!(with_examples >= 4, "{with_examples}");
}

/// Files to be written, say, are no matter of how the data are read.
#[test]
fn options_are_under_their_own_heading() {
    let folder = Folder::new();
    let run = folder.run("run --help").succeeded().stdout;
    let heading = |option: &str| {
        let before = run.lines().take_while(|line| !line.trim_start().starts_with(option));
        before.filter(|line| line.ends_with(':') && !line.starts_with(' ')).last()
    };
    for (option, own) in [
        ("--learner ", "Options:"),
        ("--log ", "Models and logs:"),
        ("--load ", "Models and logs:"),
        ("--save ", "Models and logs:"),
        ("--report ", "What is shown and written:"),
        ("--abstain-rate ", "Abstaining:"),
        ("--exploration-floor ", "Bandit feedback:"),
        ("--json ", "Options:"),
    ] {
        assert_eq!(heading(option), Some(own), "{option}");
    }
    assert_eq!(heading("--categorical "), Some("Data:"));
    assert_eq!(heading("--decision "), Some("Log of another program (csv, ndjson, parquet or arff):"));
}

#[test]
fn help_and_version_are_no_errors() {
    let folder = Folder::new();
    assert_eq!(
        folder.run("--version").succeeded().stdout,
        concat!("noregret ", env!("CARGO_PKG_VERSION"), "\n")
    );
    assert!(folder.run("-h").succeeded().stdout.contains("Usage: noregret"));
    let ran = folder.run("");
    assert!(ran.stderr.contains("Usage: noregret"), "{}", ran.stderr);
}

#[test]
fn completions_for_the_usual_shells() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&format!("completions {shell}")).succeeded().stdout;
        for word in ["noregret", "predict", "compare", "on-bad-row"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn a_manual_page_for_every_command() {
    let folder = Folder::new();
    folder.run("manual .").succeeded();
    let pages = folder.names();
    for command in commands(&folder) {
        assert!(pages.contains(&format!("noregret-{command}.1")), "{command}: {pages:?}");
    }
    let page = folder.text("noregret-run.1");
    assert!(page.contains(".TH") && page.contains("\\-\\-label"), "{page}");
    folder.run("manual not/there").failed(2, "not/there: No such file or directory (os error 2)");
}

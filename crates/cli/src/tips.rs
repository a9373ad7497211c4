//! Tips for arguments that the command line does not have.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Tasks, options of Vowpal Wabbit for them, and what is in their place: rows of docs/how-to/move.md.
const OF_VOWPAL_WABBIT: [(&str, &[&str], &str); 18] = [
    (
        "multiclass, one pass",
        &["--oaa", "--ect", "--log_multi", "--recall_tree", "-d", "--data"],
        "noregret run data.vw",
    ),
    ("probabilities", &["--probabilities", "--loss_function", "--link"], "every forecast has them"),
    (
        "choose a learning rate",
        &[
            "-l",
            "--learning_rate",
            "--power_t",
            "--initial_t",
            "--decay_learning_rate",
            "--adaptive",
            "--sgd",
        ],
        "nothing to choose",
    ),
    ("second order", &["--OjaNewton", "--sketch_size", "--bfgs"], "--learner folklore, or the default"),
    ("save, load", &["-f", "--final_regressor", "-i", "--initial_regressor"], "--save model, --load model"),
    ("test only", &["-t", "--testonly", "-p", "-r", "--raw_predictions"], "noregret predict model data"),
    ("contextual bandit from labelled data", &["--cbify"], "--feedback bandit"),
    (
        "contextual bandit from a log",
        &[
            "--cb",
            "--cb_adf",
            "--cb_explore",
            "--cb_explore_adf",
            "--epsilon",
            "--bag",
            "--cover",
            "--squarecb",
        ],
        "--feedback bandit",
    ),
    (
        "costs of all labels",
        &["--csoaa", "--csoaa_ldf", "--wap", "--wap_ldf"],
        "--feedback bandit --costs LEAST..MOST",
    ),
    ("off-policy evaluation", &["--cb_type", "--eval"], "noregret evaluate log"),
    ("hashing", &["-b", "--bit_precision", "--hash"], "names are kept; --hash-bits 24 on request"),
    ("no constant feature", &["--noconstant"], "--no-intercept"),
    (
        "products of features",
        &["-q", "--quadratic", "--cubic", "--interactions"],
        "nothing to choose: members of auto learn them",
    ),
    ("leave namespaces out", &["--ignore"], "sed 's/|a[^|]*//' data.vw > less.vw"),
    (
        "several passes, cache",
        &["-c", "-k", "--cache", "--cache_file", "--kill_cache", "--passes", "--holdout_off"],
        "one pass, and no cache; in Python AutoClassifier(passes=10)",
    ),
    ("weights by name", &["--invert_hash", "--audit"], "noregret predict model data --explain=columns"),
    ("a process that answers", &["--daemon", "--port"], "noregret serve, or noregret run - --predictions -"),
    (
        "several slots",
        &["--ccb_explore_adf", "--slates"],
        "--feedback bandit; slates are written as ccb before",
    ),
];

/// Options of `run` as other programs call them, and what they are here.
const OF_OTHERS: [(&[&str], &str); 13] = [
    (&["--target", "--class", "--response", "--y", "-y"], "--label COLUMN names the label"),
    (&["--sep", "--separator", "--delim"], "--delimiter CHAR is what is between cells"),
    (&["--exclude", "--ignore-columns", "--drop-columns"], "--drop COLUMN,… leaves columns out"),
    (
        &["--no-header", "--has-header"],
        "--header yes or --header no says whether the first line has the names",
    ),
    (&["--na-values", "--na", "--null"], "--missing WORD,… says what counts as missing"),
    (&["--nrows", "--rows", "--max-rows", "--head"], "--limit ROWS reads so many rows"),
    (&["--skip-rows", "--skiprows"], "rows are left out before, as by tail -n +2 DATA | noregret run -"),
    (&["--encoding"], "text is converted before, as by iconv -f WINDOWS-1252 -t UTF-8 DATA | noregret run -"),
    (
        &["--epochs", "--iterations", "--n-iter"],
        "a run is one pass over the data; in Python AutoClassifier(passes=10)",
    ),
    (&["--model"], "--save MODEL writes the model of a run, and --load MODEL goes on with one"),
    (
        &["--output", "-o", "--out", "--predict"],
        "--save MODEL writes the model of a run, and --predictions FILE what it forecast",
    ),
    (&["--test", "--validation", "--eval-data"], "noregret predict MODEL DATA scores a model on other rows"),
    (&["-v", "--verbose"], "all is said without an option; --json says more"),
];

/// Options of `run` that `compare` has in another form, or not.
const OF_COMPARE: [(&[&str], &str); 3] = [
    (
        &["--feedback"],
        "bandit learners hear only whether they were right; auto and gaptron-* do with --set NAME.mode=bandit",
    ),
    (
        &["--save", "--load"],
        "the models of a comparison are not kept; noregret run DATA --save MODEL keeps one",
    ),
    (&["--certify", "--report"], "noregret run DATA --certify --report FILE.html says more of one learner"),
];

/// Commands as other programs call them.
const COMMANDS: [(&[&str], &str); 3] = [
    (&["train", "fit", "learn"], "noregret run DATA --save MODEL learns from data"),
    (&["test", "score", "apply", "classify"], "noregret predict MODEL DATA forecasts with a model"),
    (
        &["explain", "info", "show", "learners"],
        "noregret list NAME explains a learner, noregret inspect MODEL a model, and noregret predict MODEL DATA --explain a forecast",
    ),
];

/// Adds a tip to an error in `args`, in place of those that do not help.
pub(crate) fn add(error: &mut clap::Error, args: &[OsString]) {
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => {
            given(error, ContextKind::InvalidArg).and_then(|given| of_argument(given, args))
        }
        ErrorKind::InvalidSubcommand => given(error, ContextKind::InvalidSubcommand).and_then(of_command),
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        // It has the option that looks similar.
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// What an error is about.
fn given(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(given)) => Some(given),
        _ => None,
    }
}

/// A tip for an unknown argument.
fn of_argument(given: &str, args: &[OsString]) -> Option<String> {
    // Our -q has no value, unlike that of Vowpal Wabbit, which has two namespaces behind it.
    let is_pair = |two: &[OsString]| two[0] == "-q" && two[1].len() == 2;
    let option = match given.starts_with('-') {
        true => given,
        false => args.windows(2).any(is_pair).then_some("-q")?,
    };
    if option[1..].parse::<f64>().is_ok() {
        let before = args.windows(2).find(|two| two[1] == *option)?[0].to_str()?;
        return match before {
            "--label" => Some(format!(
                "the last column is the label where no option names one; a column called {option} is --label={option}"
            )),
            _ => before.starts_with("--").then(|| {
                format!(
                    "a value that begins with a minus is written behind an equals sign: {before}={option}"
                )
            }),
        };
    }
    let of_vw = OF_VOWPAL_WABBIT.iter().find(|(_, options, _)| options.contains(&option));
    if let Some((task, _, ours)) = of_vw {
        return Some(format!("in place of Vowpal Wabbit's {option} ({task}): {ours}"));
    }
    // Other commands have other options.
    match args.get(1)?.to_str()? {
        "run" => among(&OF_OTHERS, option),
        "compare" => among(&OF_COMPARE, option),
        _ => None,
    }
}

/// What stands beside a word in a list.
fn among(list: &[(&[&str], &str)], word: &str) -> Option<String> {
    list.iter().find(|(words, _)| words.contains(&word)).map(|(_, ours)| (*ours).to_owned())
}

/// A tip for an unknown command, which may be a file.
fn of_command(given: &str) -> Option<String> {
    let file = Path::new(given).is_file().then(|| format!("to learn from this file: noregret run {given}"));
    file.or_else(|| among(&COMMANDS, given))
}

//! Tips for arguments that the command line does not have.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Tasks, options of Vowpal Wabbit for them, and what is in their place: rows of docs/how-to/move.md.
const OF_VOWPAL_WABBIT: [(&str, &[&str], &str); 15] = [
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
    let (task, _, ours) = OF_VOWPAL_WABBIT.iter().find(|(_, options, _)| options.contains(&option))?;
    Some(format!("in place of Vowpal Wabbit's {option} ({task}): {ours}"))
}

/// A tip for an unknown command that is a file.
fn of_command(given: &str) -> Option<String> {
    Path::new(given).is_file().then(|| format!("to learn from this file: noregret run {given}"))
}

//! The noregret command line, as a library of one function, called by the program and the Python
//! package.
//!
//! * `args` declares what can be typed, with the words of `choices`; `tips` answers what cannot.
//! * `plan` makes plans of it, with `settings`, learners (`wanted`) and their parameters (`sweep`), and
//!   checks the `files`.
//! * `facts` finds what a plan does not say in the data (`watched`), and `open` makes learner and examples.
//! * `cmd` has the commands, `pass` runs many learners over one pass of the data; a run is saved by
//!   `checkpoint`, and ends early by `interrupt`.
//! * Results are shown by `progress`, `summary`, `comparison` and `forecasts`, as charts by `plot` and
//!   `report`, and with `abstention`.
//! * A `failure` is a sentence, with a `hint` at the option that mends it; `note` writes beside the results.

mod abstention;
mod args;
mod checkpoint;
mod choices;
mod cmd;
mod comparison;
mod facts;
mod failure;
mod files;
mod forecasts;
mod hint;
mod interrupt;
mod note;
mod open;
mod pass;
mod plan;
mod plot;
mod progress;
mod report;
mod settings;
mod summary;
mod sweep;
mod tips;
mod wanted;
mod watched;

use std::ffi::{OsStr, OsString};
use std::io::Write;

use clap::{CommandFactory, Parser};

use crate::args::{Cli, Command};
use crate::failure::Failure;
use crate::note::note;
use crate::pass::draws;
use crate::sweep::candidates;

/// Runs the command line with `args`, the program's name first, and returns its exit code: 0 done, 1 usage, 2
/// data or I/O, or 128 and the number of the signal that ended it.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let program = args.first().cloned().unwrap_or_else(|| "noregret".into());
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(mut error) => {
            tips::add(&mut error, &args);
            // Help and version are no errors; everything else is a usage error.
            let code = u8::from(error.use_stderr());
            // If this cannot be printed, there is no way to report it.
            let _ = error.print();
            return code;
        }
    };
    let done = execute(&cli.command, &program);
    interrupt::stop_listening();
    match done {
        Ok(()) => 0,
        Err(failure) => {
            if !matches!(failure, Failure::ClosedPipe | Failure::Logged(_)) {
                note(format_args!("noregret: {failure}"));
            }
            failure.exit_code()
        }
    }
}

/// Whether `noregret compare` with `args`, the program's name first, gives other results for another seed;
/// false where it refuses them.
pub fn depends_on_seed(args: impl IntoIterator<Item = OsString>) -> bool {
    let Ok(cli) = Cli::try_parse_from(args) else { return false };
    let Command::Compare(args) = &cli.command else { return false };
    let (delay, floor) = (args.stream.delay, args.stream.exploration_floor);
    let candidates = candidates(&args.learners, &args.set).unwrap_or_default();
    candidates.iter().any(|candidate| draws(delay, floor, candidate))
}

fn execute(command: &Command, program: &OsStr) -> Result<(), Failure> {
    match command {
        Command::Run(args) => cmd::run::run(args),
        Command::Compare(args) => cmd::compare::run(args),
        Command::Predict(args) => cmd::predict::run(args),
        Command::Replay(args) => cmd::replay::run(args),
        Command::Evaluate(args) => cmd::evaluate::run(args),
        Command::List(args) => cmd::list::run(args),
        Command::Inspect(args) => cmd::inspect::run(args),
        Command::Merge(args) => cmd::merge::run(args),
        Command::Generate(args) => cmd::generate::run(args),
        Command::Calibrate(args) => cmd::calibrate::run(args),
        Command::Demo(args) => cmd::demo::run(args, program),
        Command::Trace(args) => cmd::trace::run(args),
        Command::Reproduce(args) => cmd::reproduce::run(args),
        #[cfg(feature = "fetch")]
        Command::Data(command) => cmd::data::run(command),
        #[cfg(not(feature = "fetch"))]
        Command::Data(_) => Err(Failure::usage(
            "data: this program was built without downloads; those of Python's wheels and of a release's archive for Linux have them, and in a checkout `cargo install --path crates/cli --features fetch` makes one",
        )),
        #[cfg(feature = "serve")]
        Command::Serve(args) => cmd::serve::run(args),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "noregret", &mut script);
            std::io::stdout().write_all(&script).map_err(Failure::output)
        }
        Command::Manual(args) => clap_mangen::generate_to(Cli::command(), &args.folder)
            .map_err(|error| Failure::data(format!("{}: {error}", args.folder.display()))),
    }
}

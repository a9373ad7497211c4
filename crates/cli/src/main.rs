//! The noregret command line.

mod args;
mod cmd;
mod failure;
mod settings;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; everything else is a usage error.
            let code = if error.use_stderr() { 1 } else { 0 };
            // Nobody is left to tell if even this cannot be printed.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let result = match &cli.command {
        Command::Trace(args) => cmd::trace::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if failure.exit_code() != 0 {
                eprintln!("noregret: {failure}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

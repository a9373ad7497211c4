//! The noregret command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(noregret_cli::run(std::env::args_os()))
}

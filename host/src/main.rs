//! Arguments in, exit code out.

use std::process::ExitCode;

use toolpath_host::cli::{Cli, Command};
use toolpath_host::run::{explain, run};

fn main() -> ExitCode {
    let cli = Cli::read(std::env::args_os());
    let verbose = match &cli.command {
        Command::Derive(args) => args.verbose,
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            explain(&error, verbose);
            ExitCode::from(error.exit_code())
        }
    }
}

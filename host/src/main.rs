//! Arguments in, exit code out.

use std::process::ExitCode;

use toolpath_host::cli::Cli;
use toolpath_host::run::{explain, run};
use toolpath_host::signals;
use toolpath_host::worker;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == worker::ARGUMENT) {
        return worker::run();
    }
    signals::write_beyond_limit_fails();
    let cli = Cli::read(std::env::args_os());
    let verbose = cli.command.is_verbose();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            explain(&error, verbose);
            ExitCode::from(error.exit_code())
        }
    }
}

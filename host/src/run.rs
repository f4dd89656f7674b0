//! One run: a command in, a result out.

use std::io::{self, Write};

use crate::cli::{Cli, Command, Derive, Format};
use crate::derive::{Detail, Form};
use crate::document::{self, Choices};
use crate::error::Error;
use crate::intake::{Conversation, Ended, Intake, Reading};
use crate::output::Output;
use crate::plugin::locate::{Located, Places, Surroundings, locate};
use crate::plugin::trust::Trust;
use crate::plugin::{feed, open};
use crate::report::{Report, one_line};
use crate::source::Source;
use crate::stream::Stream;
use crate::worker::Isolation;
use crate::worker::supervise::{self, Job};
use crate::{inventory, validate, view};

/// Runs what the command line asks for.
///
/// Messages go to standard error, results to standard output or the file asked for.
pub fn run(cli: Cli) -> Result<(), Error> {
    match cli.command {
        Command::Derive(args) => derive(&args),
        Command::Plugins { command, json, plugins } => inventory::run(command, json, plugins),
        Command::Validate { files } if validate::run(&files) => Ok(()),
        Command::Validate { .. } => Err(Error::Invalid),
    }
}

/// Says why a run stopped, on standard error. `verbose` adds what only a developer wants to read.
pub fn explain(error: &Error, verbose: bool) {
    if matches!(error, Error::ClosedPipe | Error::Invalid | Error::Unwell) {
        return;
    }
    let mut message = format!("error: {}\n", one_line(&error.to_string()));
    if let (true, Some(details)) = (verbose, error.details()) {
        message.push_str(details.trim());
        message.push('\n');
    }
    // Where even this cannot be written, the exit code has to say it.
    let _ = io::stderr().write_all(message.as_bytes());
}

fn derive(args: &Derive) -> Result<(), Error> {
    let located = plugin(args)?;
    let source = Source::open(&args.session)?;
    let mut output = Output::open(args.output.as_deref(), source.original())?;
    let isolation = isolation(args)?;

    let form = match args.format {
        Format::Document => Form::Document,
        Format::Jsonl => Form::Stream,
        Format::Turns => Form::View,
    };
    let detail = Detail { thinking: !args.no_thinking, tools: !args.no_tools };
    let choices = Choices {
        title: args.title.clone(),
        base_uri: args.base_uri.clone(),
        path_id: args.path_id.clone(),
        pretty: args.pretty,
    };
    let mut report = Report::new(&source.name, args.verbose);
    let manifest = &located.inspected.manifest;
    let mut reading = Reading::new(&source.name, &manifest.name, &manifest.provider_id, form, detail, &mut report);
    let check = |conversation: &Conversation| check_strict(args, &source.name, conversation);
    if form == Form::Stream {
        reading = reading.streaming(Stream::new(&mut output, &choices));
        let ended = read(&located, &source, isolation, &mut reading)?;
        let done = reading.finish_stream(ended, check);
        let done = done.map(|()| report.write(&mut io::stderr().lock()));
        return done.and_then(|_| output.finish());
    }
    let ended = read(&located, &source, isolation, &mut reading)?;
    let conversation = reading.finish(ended)?;
    let _ = report.write(&mut io::stderr().lock());
    check(&conversation)?;
    output.write(|out| match form {
        Form::View => document::laid_out(choices.pretty, out, |out| view::write(conversation, out)),
        _ => document::write(conversation, &choices, out),
    })?;
    output.finish()
}

/// The plugin of the provider that was asked for.
fn plugin(args: &Derive) -> Result<Located, Error> {
    let places = Places::new(args.plugins.files.clone(), args.plugins.folders.clone(), &Surroundings::here());
    for refused in &places.refused {
        say(refused);
    }
    let (located, shadowed) = locate(&args.provider, &places, &Trust::of_user(args.plugins.locked)?)?;
    if args.verbose {
        let manifest = &located.inspected.manifest;
        say(&format!("plugin `{}` {} from `{}`", manifest.name, manifest.version, located.file.display()));
        for file in shadowed {
            say(&format!("plugin `{}` is shadowed by it", file.display()));
        }
    }
    Ok(located)
}

/// The level that was asked for, or the strongest there is; never silently a lower one.
fn isolation(args: &Derive) -> Result<Isolation, Error> {
    let (strongest, reason) = Isolation::strongest();
    let level = args.isolation.unwrap_or(strongest);
    if level > strongest {
        return Err(Error::NoIsolation { level, strongest, reason: reason.unwrap_or_default() });
    }
    if args.verbose {
        let why = reason.filter(|_| args.isolation.is_none()).map(|reason| format!(" ({reason})")).unwrap_or_default();
        say(&format!("isolation: {level}{why}"));
    }
    Ok(level)
}

/// Lets the plugin read the session, as far from the rest of the system as it is to be kept.
fn read(plugin: &Located, source: &Source, isolation: Isolation, intake: &mut dyn Intake) -> Result<Ended, Error> {
    if isolation == Isolation::None {
        return Ok(feed::read(open::open(plugin)?, &source.session(), intake));
    }
    supervise::read(Job { plugin, session: source.session(), isolation }, intake)
        .map_err(|error| quarantine(error, plugin))
}

/// Keeps a plugin that crashed from being used again, and says so.
fn quarantine(mut error: Error, plugin: &Located) -> Error {
    if let Error::Plugin { session, crash: Some(signal), remedy, .. } = &mut error {
        match Trust::quarantine(&plugin.file, &plugin.inspected, session, signal) {
            Ok(()) => {
                *remedy = format!(
                    "it is in quarantine now; report it to the plugin's author, or run `toolpath-host plugins allow {}`",
                    plugin.file.display()
                );
            }
            Err(err) => say(&format!("the plugin is not in quarantine: {err}")),
        }
    }
    error
}

fn check_strict(args: &Derive, name: &str, conversation: &Conversation) -> Result<(), Error> {
    let balance = conversation.balance;
    let outcome = match args.format {
        Format::Jsonl => "the stream ends without `PathClose`",
        Format::Document | Format::Turns => "no document was written",
    };
    if args.strict && balance.unreadable > 0 {
        return Err(Error::Strict {
            name: name.to_owned(),
            count: balance.unreadable,
            total: balance.total(),
            outcome,
        });
    }
    Ok(())
}

fn say(message: &str) {
    let _ = writeln!(io::stderr(), "{}", one_line(message));
}

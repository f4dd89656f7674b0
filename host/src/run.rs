//! One run: a command in, a result out.

use std::io::{self, Write};

use crate::cli::{Cli, Command, Derive, Format};
use crate::derive::{Detail, Form};
use crate::document::{self, Choices};
use crate::error::Error;
use crate::intake::{Conversation, Reading};
use crate::output::Output;
use crate::plugin::locate::{Places, Surroundings, locate};
use crate::plugin::{feed, open};
use crate::report::{Report, one_line};
use crate::source::Source;
use crate::stream::Stream;
use crate::view;

/// Runs what the command line asks for.
///
/// Messages go to standard error, results to standard output or the file asked for.
pub fn run(cli: Cli) -> Result<(), Error> {
    match cli.command {
        Command::Derive(args) => derive(&args),
    }
}

/// Says why a run stopped, on standard error. `verbose` adds what only a developer wants to read.
pub fn explain(error: &Error, verbose: bool) {
    if matches!(error, Error::ClosedPipe) {
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
    let places = Places::new(args.plugins.files.clone(), args.plugins.folders.clone(), &Surroundings::here());
    for refused in &places.refused {
        say(refused);
    }
    let located = locate(&args.provider, &places)?;
    if args.verbose {
        let manifest = &located.inspected.manifest;
        say(&format!("plugin `{}` {} from `{}`", manifest.name, manifest.version, located.file.display()));
    }
    let source = Source::open(&args.session)?;
    let mut output = Output::open(args.output.as_deref(), &source.path)?;
    let plugin = open::open(&located)?;

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
    let check = |conversation: &Conversation| check_strict(args.strict, &source.name, conversation);
    if form == Form::Stream {
        reading = reading.streaming(Stream::new(&mut output, &choices));
        let ended = feed::read(plugin, &source.path, &source.name, None, &mut reading);
        let done = reading.finish_stream(ended, check);
        let done = done.map(|()| report.write(&mut io::stderr().lock()));
        return done.and_then(|_| output.finish());
    }
    let ended = feed::read(plugin, &source.path, &source.name, None, &mut reading);
    let conversation = reading.finish(ended)?;
    let _ = report.write(&mut io::stderr().lock());
    check(&conversation)?;
    output.write(|out| match form {
        Form::View => document::laid_out(choices.pretty, out, |out| view::write(conversation, out)),
        _ => document::write(conversation, &choices, out),
    })?;
    output.finish()
}

fn check_strict(strict: bool, name: &str, conversation: &Conversation) -> Result<(), Error> {
    let balance = conversation.balance;
    if strict && balance.unreadable > 0 {
        return Err(Error::Strict { name: name.to_owned(), count: balance.unreadable, total: balance.total() });
    }
    Ok(())
}

fn say(message: &str) {
    let _ = writeln!(io::stderr(), "{}", one_line(message));
}

//! One run: a command in, a result out.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::audit::{self, worse};
use crate::cli::{Cli, Command, Derive, Format};
use crate::derive::{Detail, Form};
use crate::document::{self, Choices};
use crate::error::Error;
use crate::intake::{Conversation, Reading, Set};
use crate::output::Output;
use crate::progress::Progress;
use crate::report::{Report, Told, one_line};
use crate::select::{Selected, select};
use crate::set::{Known, counted_elsewhere, first_pass, side_by_side};
use crate::stream::Stream;
use crate::{inventory, listing, validate, view};

/// Runs what the command line asks for.
///
/// Messages go to standard error, results to standard output or the file asked for.
pub fn run(cli: Cli) -> Result<(), Error> {
    match cli.command {
        Command::Derive(args) => derive(&args),
        Command::Sessions(args) => listing::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Plugins { command, json, plugins } => inventory::run(command, json, plugins),
        Command::Validate { files } if validate::run(&files) => Ok(()),
        Command::Validate { .. } => Err(Error::Invalid),
    }
}

/// Says why a run stopped, on standard error. `verbose` adds what only a developer wants to read.
pub fn explain(error: &Error, verbose: bool) {
    if matches!(error, Error::ClosedPipe | Error::Invalid | Error::Said { .. }) {
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

/// The beginning of a session's file name in a folder of results has at most that many characters.
const LONGEST_NAME: usize = 120;

fn derive(args: &Derive) -> Result<(), Error> {
    let selected = select(&args.reading, &args.chosen)?;
    let folder = args.output.as_deref().filter(|output| selected.len() > 1 || output.is_dir());
    let Some(folder) = folder else {
        return match <[_; 1]>::try_from(selected) {
            Ok([selected]) => {
                let selected = selected?;
                let result = derive_one(args, &selected, args.output.as_deref(), Set::Alone);
                let _ = Report::write_all(&result.told, &mut io::stderr().lock());
                result.outcome
            }
            Err(several) => Err(Error::Several { count: several.len() }),
        };
    };
    derive_set(args, selected, folder)
}

/// Derives several sessions, each to a file of its own in `folder`.
fn derive_set(args: &Derive, selected: Vec<Result<Selected, Error>>, folder: &Path) -> Result<(), Error> {
    if !folder.is_dir() {
        std::fs::create_dir(folder)
            .map_err(|source| Error::Output { target: format!("the folder `{}`", folder.display()), source })?;
    }
    let progress = Progress::new(2 * selected.len());
    let known = first_pass(&selected, &progress);
    let elsewhere = counted_elsewhere(&known);
    let names = names(args.format, &selected, &known);
    let results = side_by_side(&selected, |index, selected| {
        let Some(name) = &names[index] else { return None };
        let set = elsewhere[index].clone().map_or(Set::Alone, Set::Without);
        let result = derive_one(args, selected, Some(&folder.join(name)), set);
        progress.step();
        Some(result)
    });
    progress.end();
    let mut worst = Ok(());
    for ((selected, known), result) in selected.into_iter().zip(known).zip(results) {
        let outcome = match (selected, known, result.flatten()) {
            (Ok(_), Some(Ok(_)), Some(result)) => {
                let _ = Report::write_all(&result.told, &mut io::stderr().lock());
                result.outcome
            }
            (Err(error), ..) | (_, Some(Err(error)), _) => Err(error),
            _ => Ok(()),
        };
        if let Err(error) = outcome {
            explain(&error, args.reading.verbose);
            worst = worse(worst, error);
        }
    }
    worst
}

/// The file of each session's result: provider and session, and for those that would have the same name a digest of the path.
fn names(
    format: Format,
    selected: &[Result<Selected, Error>],
    known: &[Option<Result<Known, Error>>],
) -> Vec<Option<String>> {
    let stem = |known: &Known| {
        let carried = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let stem: String = format!("{}-{}", known.provider, known.facts.id).chars().map(carried).collect();
        stem[..stem.len().min(LONGEST_NAME)].to_owned()
    };
    let stems: Vec<Option<String>> = known.iter().map(|known| known.as_ref()?.as_ref().ok().map(stem)).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    // Some file systems take capital and small letters for the same.
    stems.iter().flatten().for_each(|stem| *counts.entry(stem.to_lowercase()).or_default() += 1);
    let ending = match format {
        Format::Document => "path.json",
        Format::Jsonl => "path.jsonl",
        Format::Turns => "turns.json",
    };
    let name = |(index, stem): (usize, &Option<String>)| {
        let stem = stem.as_ref()?;
        if counts[&stem.to_lowercase()] == 1 {
            return Some(format!("{stem}.{ending}"));
        }
        let path = selected[index].as_ref().ok()?.source.identity();
        let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
        let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        Some(format!("{stem}-{digest}.{ending}"))
    };
    stems.iter().enumerate().map(name).collect()
}

/// What came of one session.
struct Derived {
    told: Vec<Told>,
    outcome: Result<(), Error>,
}

fn derive_one(args: &Derive, selected: &Selected, output: Option<&Path>, set: Set) -> Derived {
    let mut report = Report::new(&selected.source.name, args.reading.verbose);
    let outcome = derive_to(args, selected, output, set, &mut report);
    // Of a session that could not be read whole, the reason is all there is to say.
    let is_read = matches!(outcome, Ok(()) | Err(Error::Strict { .. } | Error::Output { .. } | Error::ClosedPipe));
    let told = if is_read { report.take() } else { Vec::new() };
    Derived { told, outcome }
}

fn derive_to(
    args: &Derive,
    selected: &Selected,
    output: Option<&Path>,
    set: Set,
    report: &mut Report,
) -> Result<(), Error> {
    let (reader, source) = (&selected.reader, &selected.source);
    let mut output = Output::open(output, source.original())?;
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
    let mut reading = Reading::new(&source.name, reader.name(), reader.provider_id(), form, detail, report).within(set);
    let check = |conversation: &Conversation| check_strict(args, &source.name, conversation);
    if form == Form::Stream {
        reading = reading.streaming(Stream::new(&mut output, &choices));
        let ended = reader.read(source.session(), &mut reading)?;
        return reading.finish_stream(ended, check).and_then(|()| output.finish());
    }
    let ended = reader.read(source.session(), &mut reading)?;
    let conversation = reading.finish(ended)?;
    check(&conversation)?;
    output.write(|out| match form {
        Form::View => document::laid_out(choices.pretty, out, |out| view::write(conversation, out)),
        _ => document::write(conversation, &choices, out),
    })?;
    output.finish()
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

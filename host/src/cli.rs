//! Flags and their help.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::worker::Isolation;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

/// Says who did what in an AI coding session: the human, the model, or the harness itself.
///
/// Reads the session that a coding harness logged, through the plugin of its provider, and writes a Toolpath document.
/// `toolpath-host --provider NAME SESSION` is short for `toolpath-host derive --provider NAME SESSION`.
#[derive(Debug, Parser)]
#[command(
    name = "toolpath-host",
    version,
    override_usage = "toolpath-host --provider <NAME> <SESSION>\n       toolpath-host <COMMAND>"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Command {
    /// Whether the user wants to be told more.
    pub fn is_verbose(&self) -> bool {
        match self {
            Self::Derive(args) => args.reading.verbose,
            Self::Sessions(args) => args.reading.verbose,
            Self::Audit(args) => args.reading.verbose,
            Self::Plugins { .. } | Self::Validate { .. } => false,
        }
    }
}

impl Cli {
    /// Reads a command line; what does not begin with a command is the short form of `derive`.
    ///
    /// Prints help or what is wrong, and exits, where the command line asks for no run.
    pub fn read(args: impl IntoIterator<Item = OsString>) -> Self {
        let mut args: Vec<OsString> = args.into_iter().collect();
        let is_command = |word: &str| {
            Self::command().get_subcommands().any(|command| command.get_name() == word)
                || ["help", "-h", "--help", "-V", "--version"].contains(&word)
        };
        if args.get(1).is_some_and(|first| first.to_str().is_none_or(|word| !is_command(word))) {
            args.insert(1, "derive".into());
        }
        Self::parse_from(args)
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Derive the document of a session, or of each of several
    Derive(Box<Derive>),
    /// List the sessions that a harness keeps on this machine, newest first
    Sessions(Sessions),
    /// Say in numbers who did what, and show every turn that the harness wrote itself
    Audit(Audit),
    /// Show which plugins there are, where they are looked for, and what is wrong with them; none of them is run
    Plugins {
        /// What to show [default: list]
        #[command(subcommand)]
        command: Option<PluginsCommand>,
        /// Write JSON
        #[arg(long, global = true)]
        json: bool,
        /// Where plugins are.
        #[command(flatten)]
        plugins: PluginPlaces,
    },
    /// Check documents against the format's schemas and rules
    Validate {
        /// Documents or streams to check, or `-` for standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
}

/// What to show of the plugins.
#[derive(Clone, Debug, Subcommand)]
pub enum PluginsCommand {
    /// A line for each plugin: name, provider id, version, ABI, state, file
    List,
    /// Everything that is known of the plugin of provider NAME
    Info {
        /// Provider's name
        name: String,
    },
    /// Each place that is searched, in order, and what was found there
    Path,
    /// Everything that is wrong, and how to mend it
    Doctor,
    /// Allow the plugin FILE: take it out of quarantine or, if it is not there, into the list of allowed plugins, which rules
    /// from then on
    Allow {
        /// The plugin's file
        file: PathBuf,
    },
}

/// Which plugin reads, and where.
#[derive(Args, Debug)]
pub struct Reading {
    /// Read through the plugin of provider NAME; `auto` asks every plugin whether it knows the session
    #[arg(long, value_name = "NAME")]
    pub provider: String,
    /// Look for sessions in DIR instead of where the harness keeps them; may be given more than once
    #[arg(long = "root", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
    /// Where plugins are.
    #[command(flatten)]
    pub plugins: PluginPlaces,
    /// Keep the plugin from the rest of the system this far, or fail [default: the strongest that this system has]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub isolation: Option<Isolation>,
    /// Tell on standard error which plugin reads, and of each turn that the harness wrote
    #[arg(short, long)]
    pub verbose: bool,
}

/// Which sessions.
#[derive(Args, Debug)]
pub struct Chosen {
    /// Sessions to read: a file or folder of the harness, `PATH#ID` in a store of several, `-` for standard input, or the id
    /// of a session that `sessions` lists, or its unique beginning
    #[arg(value_name = "SESSION", required_unless_present = "project")]
    pub sessions: Vec<PathBuf>,
    /// All sessions of the project directory DIR, as the harness recorded it
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}

/// How to list sessions.
#[derive(Args, Debug)]
pub struct Sessions {
    /// Which plugin reads, and where.
    #[command(flatten)]
    pub reading: Reading,
    /// Only those of the project directory DIR, as the harness recorded it
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

/// How to audit sessions.
#[derive(Args, Debug)]
pub struct Audit {
    /// Which plugin reads, and where.
    #[command(flatten)]
    pub reading: Reading,
    /// Which sessions.
    #[command(flatten)]
    pub chosen: Chosen,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

/// How to derive the document of a session.
#[derive(Args, Debug)]
pub struct Derive {
    /// Which plugin reads, and where.
    #[command(flatten)]
    pub reading: Reading,
    /// Which sessions.
    #[command(flatten)]
    pub chosen: Chosen,
    /// Write the result to FILE instead of standard output, replaced when the result is complete; or to a file for each
    /// session in the folder DIR
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: Option<PathBuf>,
    /// Write the result in this form
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Format::Document)]
    pub format: Format,
    /// Lay the document out over lines
    #[arg(long)]
    pub pretty: bool,
    /// Fail when a record could not be read, instead of keeping it as an event
    #[arg(long)]
    pub strict: bool,
    /// Leave the models' reasoning out
    #[arg(long)]
    pub no_thinking: bool,
    /// Leave tool calls out of messages; the files they wrote stay
    #[arg(long)]
    pub no_tools: bool,
    /// Title of the path [default: the session's]
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// Base URI of the path [default: the session's working directory]
    #[arg(long, value_name = "URI")]
    pub base_uri: Option<String>,
    /// Id of the path and its graph [default: made of the provider and the session's id]
    #[arg(long, value_name = "ID")]
    pub path_id: Option<String>,
}

/// The form of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One document, written when it is complete
    Document,
    /// A document as a stream: a line a step, as soon as it may leave; `PathClose` says that it is whole
    Jsonl,
    /// The conversation in wire form, for other programs
    Turns,
}

/// Where plugins are.
#[derive(Args, Debug)]
pub struct PluginPlaces {
    /// Look in this plugin file first; may be given more than once
    #[arg(long = "plugin", value_name = "FILE", global = true)]
    pub files: Vec<PathBuf>,
    /// Look for plugins in folder DIR before all other places; may be given more than once
    #[arg(long = "plugins", value_name = "DIR", global = true)]
    pub folders: Vec<PathBuf>,
    /// Use only plugins of the list of allowed ones (`toolpath-host plugins allow`), even where there is none
    #[arg(long, global = true)]
    pub locked: bool,
}

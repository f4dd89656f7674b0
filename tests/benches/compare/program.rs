//! The programs that are compared, and a home for them that has nothing in it but what was made.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ValueEnum;
use tempfile::TempDir;
use toolpath_tests::generate::PROJECT;
use toolpath_tests::released;

/// The version of the reference that this was written for.
pub(crate) const REFERENCE: &str = "0.26.0";

/// A temporary home, with a folder for the sessions of the made-up project.
#[derive(Debug)]
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self { folder: TempDir::new().expect("a temporary folder") };
        fs::create_dir_all(home.sessions()).expect("a new folder");
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// All projects.
    fn projects(&self) -> PathBuf {
        self.path(".claude/projects")
    }

    /// Where the harness would keep the project's sessions.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.projects().join(PROJECT.replace('/', "-"))
    }

    /// Throws all sessions away.
    pub(crate) fn clear(&self) {
        fs::remove_dir_all(self.sessions()).expect("the sessions' folder");
        fs::create_dir_all(self.sessions()).expect("a new folder");
    }

    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("TOOLPATH_CONFIG_DIR", self.path("reference"))
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("TOOLPATH_PLUGIN_PATH");
        command
    }
}

/// One of those that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Program {
    /// Ours, with the plugin in a sandbox
    Sandbox,
    /// Ours, with the plugin in the host's own process
    InProcess,
    /// `jq -c .`, which reads and writes JSON and does nothing else
    Jq,
    /// The format's reference implementation, `path p derive`
    Reference,
}

impl Program {
    pub(crate) const ALL: [Self; 4] = [Self::Sandbox, Self::InProcess, Self::Jq, Self::Reference];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::InProcess => "in process",
            Self::Jq => "jq",
            Self::Reference => "reference",
        }
    }

    /// Whether it is on this machine; else what to do about it.
    pub(crate) fn is_here(self) -> Result<(), String> {
        let runs = |program: &str, args: &[&str]| {
            let mut command = Command::new(program);
            command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        match self {
            Self::Jq if !runs("jq", &["--version"]) => Err("jq is not on PATH".to_owned()),
            Self::Reference if !runs("path", &["p", "derive", "--help"]) => {
                Err(format!("`path` is not on PATH; install it with `cargo install path-cli --version {REFERENCE}`"))
            }
            _ => Ok(()),
        }
    }

    fn ours(self, home: &Home, command: &str) -> Command {
        let mut ours = home.command(&released().host);
        ours.arg(command).args(["--provider", "claude"]);
        if self == Self::InProcess {
            ours.args(["--isolation", "none"]);
        }
        ours
    }

    /// Reads a session and writes what it makes of it to standard output.
    pub(crate) fn derives(self, home: &Home, session: &Path) -> Command {
        let mut command;
        match self {
            Self::Sandbox | Self::InProcess => {
                command = self.ours(home, "derive");
                command.arg(session);
            }
            Self::Jq => {
                command = home.command("jq");
                command.args(["-c", "."]).arg(session);
            }
            Self::Reference => {
                let id = session.file_stem().expect("a session's file has a name");
                command = home.command("path");
                command.args(["p", "derive", "claude", "--project", PROJECT, "--session"]).arg(id);
            }
        }
        command
    }

    /// Lists all sessions, where it can.
    pub(crate) fn lists(self, home: &Home) -> Option<Command> {
        match self {
            Self::Sandbox | Self::InProcess => Some(self.ours(home, "sessions")),
            Self::Jq => None,
            Self::Reference => {
                let mut command = home.command("path");
                command.args(["p", "list", "claude", "--format", "tsv"]);
                Some(command)
            }
        }
    }

    /// Audits all sessions of the project as one set, where it can.
    pub(crate) fn audits(self, home: &Home) -> Option<Command> {
        let is_ours = matches!(self, Self::Sandbox | Self::InProcess);
        is_ours.then(|| {
            let mut command = self.ours(home, "audit");
            command.args(["--json", "--project", PROJECT]);
            command
        })
    }

    /// Short runs: what each does, and its command line.
    pub(crate) fn starts(self, home: &Home) -> Vec<(&'static str, Command)> {
        let version = |program: &OsStr| {
            let mut command = home.command(program);
            command.arg("--version");
            command
        };
        match self {
            Self::Sandbox => {
                let host = released().host.as_os_str();
                let mut list = home.command(host);
                list.args(["plugins", "list"]);
                vec![("ours: --version", version(host)), ("ours: plugins list", list)]
            }
            Self::InProcess => Vec::new(),
            Self::Jq => vec![("jq: --version", version("jq".as_ref()))],
            Self::Reference => vec![("reference: --version", version("path".as_ref()))],
        }
    }
}

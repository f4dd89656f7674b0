//! Builds once, then runs the real host with the real plugins.
//!
//! `cargo test` builds neither the host's binary nor the plugins' libraries for another package's tests, so the harness
//! asks cargo to, once for all tests of a process, and takes the files' places from what cargo says. When a run is
//! not what a test expects, everything about it is printed: command, exit code, both outputs, the files.

pub mod differences;
pub mod generate;
pub mod outside;
pub mod rules;

use std::collections::BTreeMap;
use std::env::consts::DLL_SUFFIX;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

/// Where what was built lies.
#[derive(Debug)]
pub struct Built {
    /// The host.
    pub host: PathBuf,
    /// The plugins' libraries, by provider.
    pub plugins: BTreeMap<String, PathBuf>,
    /// The example plugin of plugin-api.
    pub minimal: PathBuf,
    /// The plugin that breaks the contract on request.
    pub misbehaving: PathBuf,
}

/// The repository's top folder.
pub fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the repository")
}

/// Builds everything, once.
pub fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut files = artifacts(&["build"]);
        let minimal = artifacts(&["build", "-p", "toolpath-plugin-api", "--example", "minimal"])
            .remove("minimal")
            .expect("cargo builds the example");
        let misbehaving = artifacts(&["build", "-p", "toolpath-provider-misbehaving"])
            .remove("toolpath_provider_misbehaving")
            .expect("cargo builds the misbehaving plugin");
        let host = files.remove("toolpath-host").expect("cargo builds the host");
        Built { host, plugins: by_provider(files), minimal, misbehaving }
    })
}

/// The host and the plugins as users have them, to measure.
#[derive(Debug)]
pub struct Released {
    /// The host; its plugins lie beside it, where it looks for them.
    pub host: PathBuf,
    /// The plugins' libraries, by provider.
    pub plugins: BTreeMap<String, PathBuf>,
}

/// Builds the host and the plugins with all optimisations, once.
pub fn released() -> &'static Released {
    static RELEASED: OnceLock<Released> = OnceLock::new();
    RELEASED.get_or_init(|| {
        let mut files = artifacts(&["build", "--release"]);
        let host = files.remove("toolpath-host").expect("cargo builds the host");
        Released { host, plugins: by_provider(files) }
    })
}

fn by_provider(files: BTreeMap<String, PathBuf>) -> BTreeMap<String, PathBuf> {
    let named = |(name, file): (String, PathBuf)| Some((name.strip_prefix("toolpath_provider_")?.to_owned(), file));
    files.into_iter().filter_map(named).collect()
}

/// The executables and dynamic libraries that a cargo command builds, by target.
fn artifacts(args: &[&str]) -> BTreeMap<String, PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(args)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(top())
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo {args:?} failed");
    read_artifacts(output.stdout)
}

/// The same, from what cargo wrote.
pub(crate) fn read_artifacts(messages: Vec<u8>) -> BTreeMap<String, PathBuf> {
    let mut files = BTreeMap::new();
    for line in String::from_utf8(messages).expect("cargo writes text").lines() {
        let message: Value = serde_json::from_str(line).expect("cargo writes JSON");
        let Some(name) = message["target"]["name"].as_str() else { continue };
        let built = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let library = built.into_iter().find(|file| file.ends_with(DLL_SUFFIX));
        if let Some(file) = message["executable"].as_str().or(library) {
            files.insert(name.to_owned(), PathBuf::from(file));
        }
    }
    files
}

/// A folder of its own for one test, with a plugins folder in it.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    config: TempDir,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// A folder whose plugins folder holds every plugin.
    pub fn new() -> Self {
        let scratch = Self::without_plugins();
        for file in built().plugins.values() {
            scratch.add_plugin(file);
        }
        scratch
    }

    /// A folder whose plugins folder is empty.
    pub fn without_plugins() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        fs::create_dir(folder.path().join("plugins")).expect("an empty folder");
        Self { folder, config: TempDir::new().expect("a temporary folder") }
    }

    /// Where a file of that name lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where a file of the user's configuration lies, outside of the folder.
    pub fn config(&self, name: &str) -> PathBuf {
        self.config.path().join("toolpath-host").join(name)
    }

    /// Copies a plugin into the plugins folder.
    pub fn add_plugin(&self, file: &Path) {
        let name = file.file_name().expect("a file");
        fs::copy(file, self.path("plugins").join(name)).expect("copying a plugin");
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("writing a file");
        path
    }

    /// Runs the host in this folder, with its plugins folder and nothing of the user's.
    pub fn host<I: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Run {
        self.host_with(args, |_| {})
    }

    /// The same, with something changed about the process before it starts.
    pub fn host_with<I: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = I>,
        change: impl FnOnce(&mut Command),
    ) -> Run {
        self.run(args, change, None)
    }

    /// The same, with `input` on standard input.
    pub fn host_reading<I: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = I>,
        input: impl AsRef<[u8]>,
    ) -> Run {
        self.run(args, |_| {}, Some(input.as_ref()))
    }

    fn run<I: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = I>,
        change: impl FnOnce(&mut Command),
        input: Option<&[u8]>,
    ) -> Run {
        let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        let mut command = Command::new(&built().host);
        command
            .args(&args)
            .current_dir(self.folder.path())
            .env_remove("TOOLPATH_PLUGIN_PATH")
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CONFIG_HOME", self.config.path())
            .env("HOME", self.folder.path())
            .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        change(&mut command);
        let mut child = command.spawn().expect("the host starts");
        let stdin = child.stdin.take();
        let output = std::thread::scope(|threads| {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // A host that refuses its command line reads nothing, which is for the test to judge.
                threads.spawn(move || stdin.write_all(input).ok());
            }
            child.wait_with_output().expect("the host ends")
        });
        Run { args, output, files: list(self.folder.path()) }
    }
}

fn list(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("the scratch folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// One finished run of the host.
#[derive(Debug)]
pub struct Run {
    args: Vec<OsString>,
    output: Output,
    files: Vec<String>,
}

impl Run {
    /// Expects exit code 0, and answers what was written to standard output.
    #[track_caller]
    pub fn succeeds(&self) -> String {
        self.exits(0);
        self.stdout()
    }

    /// Expects exit code 0, and answers the document.
    #[track_caller]
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.succeeds()).unwrap_or_else(|err| panic!("no document ({err}): {self}"))
    }

    /// Expects this exit code, nothing on standard output, and this one line on standard error.
    #[track_caller]
    pub fn fails(&self, code: i32, message: &str) {
        self.exits(code);
        assert_eq!(self.stderr(), format!("error: {message}\n"), "{self}");
        assert_eq!(self.stdout(), "", "{self}");
    }

    /// Expects this exit code.
    #[track_caller]
    pub fn exits(&self, code: i32) {
        assert_eq!(self.output.status.code(), Some(code), "{self}");
    }

    /// The exit code; `None` when a signal ended the host.
    pub fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    /// What was written to standard output.
    pub fn stdout(&self) -> String {
        String::from_utf8(self.output.stdout.clone()).expect("standard output is text")
    }

    /// What was written to standard error.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The files in the scratch folder after the run.
    pub fn files(&self) -> &[String] {
        &self.files
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "toolpath-host {:?}", self.args)?;
        writeln!(f, "exit: {}", self.output.status)?;
        writeln!(f, "stdout: {}", String::from_utf8_lossy(&self.output.stdout))?;
        writeln!(f, "stderr: {}", String::from_utf8_lossy(&self.output.stderr))?;
        write!(f, "files: {:?}", self.files)
    }
}

/// The steps of a document's only path.
pub fn steps(document: &Value) -> &[Value] {
    document["paths"][0]["steps"].as_array().expect("a document has steps")
}

/// The conversation change of a step: the one that is an append or an event.
pub fn message(step: &Value) -> &Value {
    let changes = step["change"].as_object().expect("a step has changes");
    changes
        .values()
        .map(|change| &change["structural"])
        .find(|change| change["type"].as_str().is_some_and(|kind| kind.starts_with("conversation.")))
        .expect("a step has a conversation change")
}

/// Real sample sessions of a provider, where the folder that `TOOLPATH_SESSIONS` names has them.
///
/// Says on standard error that it skips, where it has none: a test without input must not look like one that passed on it.
pub fn sample_sessions(provider: &str, extension: &str) -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("TOOLPATH_SESSIONS").filter(|folder| !folder.is_empty()) else {
        let _ = writeln!(std::io::stderr(), "skipped: TOOLPATH_SESSIONS names no folder of sample sessions");
        return Vec::new();
    };
    let mut files = Vec::new();
    collect(&PathBuf::from(folder).join(provider), extension, &mut files);
    files.sort();
    assert!(!files.is_empty(), "TOOLPATH_SESSIONS has no {extension} file of {provider}");
    files
}

fn collect(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|err| panic!("{}: {err}", folder.display()));
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, extension, files);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
}

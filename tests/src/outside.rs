//! Plugins that are built outside the workspace, against the contract as it is or as it was.
//!
//! They are made of a source that stands in the test, in a folder below cargo's target folder, so that a second run builds nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{read_artifacts, top};

/// A crate to build.
#[derive(Debug)]
pub struct Outside<'a> {
    /// The provider's name.
    pub name: &'a str,
    /// Its `lib.rs`.
    pub source: &'a str,
    /// More lines of its manifest.
    pub manifest: &'a str,
    /// Its `build.rs`, when it has one.
    pub build: Option<&'a str>,
    /// The plugin-api to build against: the project's own, or a [`copy_of_the_contract`].
    pub api: PathBuf,
}

impl<'a> Outside<'a> {
    /// A plain plugin against the project's contract.
    pub fn new(name: &'a str, source: &'a str) -> Self {
        Self { name, source, manifest: "", build: None, api: top().join("plugin-api") }
    }

    /// Builds it, and answers its library.
    pub fn build(&self) -> PathBuf {
        let folder = folder().join(self.name);
        let package = format!("toolpath-provider-{}", self.name);
        let manifest = format!(
            "[workspace]\n\n[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
             [lib]\ncrate-type = [\"cdylib\"]\n\n[dependencies]\ntoolpath-plugin-api = {{ path = {:?} }}\n{}",
            self.api, self.manifest
        );
        write(&folder.join("Cargo.toml"), &manifest);
        write(&folder.join("src/lib.rs"), self.source);
        if let Some(build) = self.build {
            write(&folder.join("build.rs"), build);
        }
        if !folder.join("Cargo.lock").exists() {
            // The versions that the workspace has, so that nothing is to be fetched.
            fs::copy(top().join("Cargo.lock"), folder.join("Cargo.lock")).expect("the workspace has a lock file");
        }
        let output = Command::new(env!("CARGO"))
            .args(["build", "--offline", "--message-format=json-render-diagnostics", "--target-dir"])
            .arg(self::folder().join("target"))
            .current_dir(&folder)
            .stderr(Stdio::inherit())
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "cargo cannot build {}", self.name);
        let library = package.replace('-', "_");
        read_artifacts(output.stdout).remove(&library).expect("cargo builds the library")
    }
}

/// A copy of the project's plugin-api in which texts of files are replaced: file, old, new. Each old text stands there once.
pub fn copy_of_the_contract(name: &str, changes: &[(&str, &str, &str)]) -> PathBuf {
    let folder = folder().join(format!("contract-{name}"));
    let copy = folder.join("plugin-api");
    let mut pending: Vec<_> = changes.to_vec();
    let mut copy_file = |from: &Path, to: &str| {
        let mut text = fs::read_to_string(from).expect("a file of the contract");
        if to == "Cargo.toml" {
            // The example is not copied.
            text = text.split("[[example]]").next().expect("a manifest").to_owned();
        }
        pending.retain(|(file, old, new)| {
            if *file != to {
                return true;
            }
            assert_eq!(text.matches(old).count(), 1, "{file} has `{old}` once");
            text = text.replace(old, new);
            false
        });
        write(&copy.join(to), &text);
    };
    let source = top().join("plugin-api");
    copy_file(&source.join("Cargo.toml"), "Cargo.toml");
    for entry in files(&source.join("src")) {
        let name = entry.strip_prefix(&source).expect("a file of the contract").display().to_string();
        copy_file(&entry, &name);
    }
    assert!(pending.is_empty(), "no such files: {pending:?}");
    let workspace = fs::read_to_string(top().join("Cargo.toml")).expect("the workspace's manifest");
    let own =
        workspace.lines().filter(|line| !line.starts_with("toolpath-host ") && !line.starts_with("default-members"));
    let own: Vec<&str> =
        own.map(|line| if line.starts_with("members = ") { "members = [\"plugin-api\"]" } else { line }).collect();
    write(&folder.join("Cargo.toml"), &own.join("\n"));
    copy
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| top().join("target"), PathBuf::from);
    std::path::absolute(target).expect("a path").join("outside")
}

/// Writes a file when it is another, so that what was built stays fresh.
fn write(file: &Path, text: &str) {
    if fs::read_to_string(file).is_ok_and(|there| there == text) {
        return;
    }
    fs::create_dir_all(file.parent().expect("a folder")).expect("making a folder");
    fs::write(file, text).expect("writing a file");
}

//! Where the borders run: what may know what.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toolpath_tests::{built, top};

/// All Rust files below a folder of the repository.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    collect(&top().join(folder), &mut files);
    assert!(!files.is_empty(), "{folder} has no Rust files");
    files
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a Rust file");
            files.push((path, text));
        }
    }
}

#[test]
fn the_host_and_the_contract_name_no_provider() {
    let providers: Vec<&String> = built().plugins.keys().collect();
    assert!(!providers.is_empty());
    for (path, text) in sources("host") {
        let text = text.to_lowercase();
        for provider in &providers {
            // The wire form is the host's own; a provider that is called so as well is named by these words.
            let names = match provider.as_str() {
                "wire" => vec!["\"wire".to_owned(), "provider wire".to_owned(), "provider_wire".to_owned()],
                other => vec![other.to_owned()],
            };
            for name in names {
                // As a word of its own: `pipe` is no name.
                let ends = |part: Option<char>| !part.is_some_and(char::is_alphanumeric);
                let is_named = text.match_indices(&name).any(|(at, _)| {
                    ends(text[..at].chars().next_back()) && ends(text[at + name.len()..].chars().next())
                });
                assert!(!is_named, "{} names {provider}", path.display());
            }
        }
    }
}

#[test]
fn the_placeholder_is_spelled_in_one_rust_file() {
    // Put together, so that this file does not spell it either.
    let placeholder = format!("<{}>", "synthetic");
    let spelled: Vec<PathBuf> = ["host", "plugin-api", "plugins", "tests"]
        .iter()
        .flat_map(|folder| sources(folder))
        .filter(|(_, text)| text.contains(&placeholder))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(spelled, [top().join("plugins/claude/src/signal.rs")]);
}

#[test]
fn dependencies_point_one_way() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--locked"])
        .current_dir(top())
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() >= 4);
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let ours: Vec<&str> = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .filter(|dependency| dependency["path"].is_string())
            .filter_map(|dependency| dependency["name"].as_str())
            .collect();
        let allowed: &[&str] = match name {
            "toolpath-plugin-api" => &[],
            "toolpath-host" => &["toolpath-plugin-api"],
            "toolpath-tests" => &["toolpath-host", "toolpath-plugin-api"],
            plugin => {
                assert!(plugin.starts_with("toolpath-provider-"), "{plugin} has no place");
                &["toolpath-plugin-api"]
            }
        };
        assert!(ours.iter().all(|dependency| allowed.contains(dependency)), "{name} depends on {ours:?}");
    }
}

#[test]
fn the_top_level_holds_what_it_should() {
    let output = Command::new("git").args(["ls-files"]).current_dir(top()).output().expect("git runs");
    let files = String::from_utf8(output.stdout).expect("text");
    let mut folders: Vec<&str> =
        files.lines().filter_map(|file| file.split_once('/')).map(|(folder, _)| folder).collect();
    folders.sort_unstable();
    folders.dedup();
    if !folders.is_empty() {
        assert_eq!(folders, [".ci", "host", "plugin-api", "plugins", "tests"]);
    }
}

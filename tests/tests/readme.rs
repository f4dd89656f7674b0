//! The README: its commands run, and what it shows is what they print.

use std::fs;
use std::process::Command;

use serde_json::Value;
use toolpath_tests::{message, steps, top};

fn readme() -> String {
    fs::read_to_string(top().join("README.md")).expect("the README")
}

/// The blocks of a language, in order.
fn blocks(language: &str) -> Vec<String> {
    let readme = readme();
    let mut blocks = Vec::new();
    let mut rest = readme.as_str();
    while let Some((_, after)) = rest.split_once(&format!("```{language}\n")) {
        let (block, after) = after.split_once("```").expect("a block ends");
        blocks.push(block.trim_end().to_owned());
        rest = after;
    }
    blocks
}

#[test]
fn the_first_command_prints_the_document_that_the_readme_shows() {
    let command = blocks("sh").remove(0);
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("cargo"));
    let output = Command::new(env!("CARGO"))
        .args(words)
        .current_dir(top())
        .env_remove("TOOLPATH_PLUGIN_PATH")
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");

    let shown = blocks("json");
    let notice = steps(&document)
        .iter()
        .find(|step| step["step"]["actor"] == "tool:claude-code" && message(step)["role"] == "assistant")
        .expect("the session has a notice of the harness");
    let parse = |block: &str| serde_json::from_str::<Value>(block).expect("the README shows JSON");
    assert_eq!(parse(&shown[0]), *notice);
    assert_eq!(parse(&shown[1]), document["paths"][0]["meta"]["actors"]);
}

#[test]
fn ci_runs_the_second_command() {
    let command = blocks("sh").remove(1);
    let ci = fs::read_to_string(top().join(".ci/run")).expect("the CI script");
    assert!(ci.lines().any(|line| line == command), "{command}");
}

#[test]
fn every_plugin_stands_in_the_table_of_providers() {
    let readme = readme();
    for provider in toolpath_tests::built().plugins.keys() {
        assert!(readme.contains(&format!("| `{provider}` | ")), "{provider}");
    }
}

#[test]
fn every_code_that_is_told_stands_in_the_readme() {
    let readme = readme();
    let output = Command::new("git").args(["ls-files", "host/src", "plugins"]).current_dir(top()).output();
    let files = String::from_utf8(output.expect("git runs").stdout).expect("text");
    let mut codes = 0;
    for file in files.lines().filter(|file| file.ends_with(".rs") && !file.contains("tests")) {
        // What only one plugin tells stands in its own page.
        let own = file.split('/').take(2).collect::<Vec<_>>().join("/") + "/README.md";
        let own = fs::read_to_string(top().join(own)).unwrap_or_default();
        let text = fs::read_to_string(top().join(file)).unwrap_or_default();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for told in text.split("Severity::").skip(1) {
            // The code is a literal of the same statement.
            let statement = told.split(';').next().unwrap_or_default();
            let is_argument = told.trim_start_matches(char::is_alphabetic).starts_with(',');
            let Some(code) = statement.split('"').nth(1).filter(|_| is_argument) else { continue };
            if !code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') {
                // The code is a variable, whose values stand elsewhere.
                continue;
            }
            codes += 1;
            let is_listed = |page: &str| page.contains(&format!("`{code}`"));
            assert!(is_listed(&readme) || is_listed(&own), "{file} tells `{code}`");
        }
    }
    assert!(codes >= 4 || files.is_empty(), "{codes} codes were found");
}

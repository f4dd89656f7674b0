//! The `plugins` command, and which plugins are trusted. Nothing here runs a plugin but `derive`.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolpath_tests::{Run, Scratch, built};

fn file_name(provider: &str) -> String {
    format!("{DLL_PREFIX}toolpath_provider_{provider}{DLL_SUFFIX}")
}

/// A folder with the example plugin, which is found in the user's data folder too, and a session of it.
fn scratch() -> Scratch {
    let scratch = Scratch::without_plugins();
    scratch.write("s.log", "me\thello\n");
    put(&scratch, "plugins", "minimal", &minimal());
    scratch
}

fn minimal() -> Vec<u8> {
    fs::read(&built().minimal).expect("the example plugin")
}

fn put(scratch: &Scratch, folder: &str, provider: &str, library: &[u8]) {
    fs::create_dir_all(scratch.path(folder)).expect("a folder");
    fs::write(scratch.path(folder).join(file_name(provider)), library).expect("a plugin");
}

/// Runs `plugins` with these words and the scratch's plugins folder.
fn plugins(scratch: &Scratch, words: &[&str]) -> Run {
    scratch.host(["plugins"].into_iter().chain(words.iter().copied()).chain(["--plugins", "plugins"]))
}

fn json_of(scratch: &Scratch, words: &[&str]) -> Value {
    let run = plugins(scratch, &[words, &["--json"]].concat());
    serde_json::from_str(&run.stdout()).unwrap_or_else(|err| panic!("no JSON ({err}): {run}"))
}

/// Name, state and reason of the plugins of this file in the list.
fn states(scratch: &Scratch, provider: &str) -> Vec<(Value, Value, Value)> {
    let name = file_name(provider);
    let list = json_of(scratch, &["list"]);
    let list = list.as_array().expect("a list").iter();
    let of_file = list.filter(|entry| entry["file"].as_str().is_some_and(|file| file.ends_with(&name)));
    of_file.map(|entry| (entry["name"].clone(), entry["state"].clone(), entry["reason"].clone())).collect()
}

fn derive(scratch: &Scratch, flags: &[&str]) -> Run {
    scratch.host(["--provider", "minimal", "--plugins", "plugins", "s.log"].into_iter().chain(flags.iter().copied()))
}

#[test]
fn the_list_says_what_is_usable_and_what_is_shadowed_or_refused_and_why() {
    let scratch = scratch();
    put(&scratch, "data/toolpath-host/plugins", "minimal", &minimal());
    put(&scratch, "plugins", "broken", b"#!/bin/sh\ntouch ran\n");
    let minimal = states(&scratch, "minimal");
    assert_eq!(minimal[0], (json!("minimal"), json!("usable"), Value::Null));
    let by = Path::new("plugins").join(file_name("minimal"));
    let reason = format!("is shadowed by `{}`, which is found first", by.display());
    assert_eq!(minimal[1], (json!("minimal"), json!("shadowed"), json!(reason)));
    let reason = "is no dynamic library; a plugin is built by cargo as a `cdylib`";
    assert_eq!(states(&scratch, "broken"), [(json!("broken"), json!("refused"), json!(reason))]);
    let text = plugins(&scratch, &[]).succeeds();
    assert_eq!(text, plugins(&scratch, &["list"]).succeeds());
    assert!(text.starts_with("NAME "), "{text}");
    assert!(text.contains("minimal      minimal      1.0.0    1.0.0  usable    plugins/"), "{text}");
    assert!(text.contains(&format!("\n`plugins/{}` {reason}\n", file_name("broken"))), "{text}");
    let verbose = derive(&scratch, &["-v"]);
    let shadowed = scratch.path("data/toolpath-host/plugins").join(file_name("minimal"));
    assert!(verbose.stderr().contains(&format!("plugin `{}` is shadowed by it\n", shadowed.display())), "{verbose}");
}

#[test]
fn two_of_one_name_in_one_folder_are_both_refused() {
    let scratch = scratch();
    put(&scratch, "plugins", "twin", &minimal());
    for (file, other) in [("minimal", "twin"), ("twin", "minimal")] {
        let reason =
            format!("says that it is `minimal`, and so does `{}` beside it; remove one of the two", file_name(other));
        assert_eq!(states(&scratch, file), [(json!("minimal"), json!("refused"), json!(reason))]);
    }
}

#[test]
fn info_tells_what_the_file_says_of_itself() {
    let scratch = scratch();
    let info = &json_of(&scratch, &["info", "minimal"])[0];
    assert_eq!(info["display_name"], "Minimal");
    assert_eq!(info["state"], "usable");
    assert_eq!(info["place"], "named by --plugins");
    assert_eq!(info["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(info["bytes"], fs::metadata(&built().minimal).expect("the plugin").len());
    let text = plugins(&scratch, &["info", "minimal"]).succeeds();
    assert!(text.contains("\nname "), "{text}");
    let run = plugins(&scratch, &["info", "nobody"]);
    run.exits(3);
    assert!(run.stderr().starts_with("error: no plugin for provider `nobody`: looked in `plugins`, "), "{run}");
}

#[test]
fn path_tells_each_place_in_order_and_what_is_there() {
    let scratch = scratch();
    let run = scratch.host_with(["plugins", "path", "--plugins", "plugins"], |command| {
        command.env("TOOLPATH_PLUGIN_PATH", "relative:/nowhere/at/all");
    });
    let text = run.succeeds();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "1. plugins (named by --plugins)");
    assert_eq!(lines[1], format!("   {} (usable)", file_name("minimal")));
    assert_eq!(lines[2..4], ["2. /nowhere/at/all (named by TOOLPATH_PLUGIN_PATH)", "   not there"]);
    assert_eq!(
        lines.last(),
        Some(&"TOOLPATH_PLUGIN_PATH: `relative` is not searched because it is relative; write it from the root on")
    );
    let places = json_of(&scratch, &["path"]);
    assert_eq!(places["places"][0]["plugins"][0]["name"], "minimal");
    assert_eq!(places["not_searched"], json!([]));
}

#[test]
fn doctor_tells_the_level_of_isolation_and_everything_that_is_wrong() {
    let scratch = scratch();
    let well = plugins(&scratch, &["doctor"]);
    let text = well.stdout();
    assert!(text.starts_with("isolation: "), "{well}");
    assert!(text.contains("trust: every plugin that is found is used, since there is no list of allowed ones\n"));
    assert!(text.ends_with("nothing is wrong\n"), "{well}");
    well.exits(0);
    put(&scratch, "plugins", "empty", b"");
    let ill = plugins(&scratch, &["doctor"]);
    ill.exits(3);
    let problem = format!("problem: `plugins/{}` is empty; build or copy the library again\n", file_name("empty"));
    assert!(ill.stdout().ends_with(&problem), "{ill}");
    assert_eq!(ill.stderr(), "", "{ill}");
    let report = json_of(&scratch, &["doctor"]);
    assert_eq!(report["problems"].as_array().map(Vec::len), Some(1));
    let run = scratch.host(["plugins", "doctor", "--plugins", "nowhere"]);
    run.exits(3);
    assert!(run.stdout().contains("problem: `nowhere` (named by --plugins) is not there\n"), "{run}");
}

#[test]
fn the_list_of_allowed_plugins_rules_from_the_moment_it_is_there() {
    let scratch = scratch();
    put(&scratch, "plugins", "other", &fs::read(&built().misbehaving).expect("a plugin"));
    derive(&scratch, &[]).exits(0);
    let file = format!("plugins/{}", file_name("minimal"));
    let allow = plugins(&scratch, &["allow", &file]);
    let text = allow.succeeds();
    assert!(text.starts_with("`minimal` 1.0.0 is allowed (sha256 "), "{text}");
    assert!(text.ends_with("from now on no plugin is used that is not in it\n"), "{text}");
    let lock: Value = serde_json::from_slice(&fs::read(scratch.config("plugins.lock")).expect("a list")).expect("JSON");
    let entry = &lock["plugins"][0];
    let keys: Vec<&String> = entry.as_object().expect("an entry").keys().collect();
    assert_eq!(keys, ["abi", "date", "name", "sha256", "version"]);
    assert_eq!((&entry["name"], &entry["abi"]), (&json!("minimal"), &json!("1.0.0")));
    derive(&scratch, &[]).exits(0);
    derive(&scratch, &["--locked"]).exits(0);
    assert_eq!(states(&scratch, "other")[0].1, "not-allowed");

    // A file that changed is another plugin.
    let mut library = minimal();
    library.push(0);
    put(&scratch, "plugins", "minimal", &library);
    let reason = "is not in the list of allowed plugins; if you trust it, run `toolpath-host plugins allow";
    derive(&scratch, &[]).fails(3, &format!("plugin `{file}`: {reason} {file}`"));
    plugins(&scratch, &["allow", &file]).exits(0);
    derive(&scratch, &[]).exits(0);
    let lock: Value = serde_json::from_slice(&fs::read(scratch.config("plugins.lock")).expect("a list")).expect("JSON");
    assert_eq!(lock["plugins"].as_array().map(Vec::len), Some(1), "a name has one entry");
}

#[test]
fn locked_without_a_list_allows_nothing() {
    let scratch = scratch();
    let file = format!("plugins/{}", file_name("minimal"));
    derive(&scratch, &["--locked"]).fails(
        3,
        &format!(
            "plugin `{file}`: is not allowed, since --locked was passed and there is no list of allowed plugins; \
             if you trust it, run `toolpath-host plugins allow {file}`"
        ),
    );
}

#[test]
fn a_list_that_is_damaged_or_cannot_be_written_is_said_and_nothing_runs() {
    let scratch = scratch();
    fs::create_dir_all(scratch.config("")).expect("a folder");
    fs::write(scratch.config("plugins.lock"), "{").expect("a file");
    let run = derive(&scratch, &[]);
    run.exits(3);
    let lock = scratch.config("plugins.lock");
    assert!(run.stderr().starts_with(&format!("error: `{}` cannot be understood (", lock.display())), "{run}");
    assert!(run.stderr().ends_with("); mend it, or allow your plugins anew after you removed it\n"), "{run}");
    assert_eq!(run.files(), ["plugins", "s.log"], "{run}");
    fs::remove_file(&lock).expect("removing");
    fs::create_dir(&lock).expect("a folder in its place");
    let file = format!("plugins/{}", file_name("minimal"));
    let allow = plugins(&scratch, &["allow", &file]);
    allow.exits(3);
    assert_eq!(allow.stderr().lines().count(), 1, "{allow}");
}

#[test]
fn allowing_a_plugin_that_crashed_lifts_the_quarantine_and_starts_no_list() {
    let scratch = Scratch::without_plugins();
    scratch.add_plugin(&built().misbehaving);
    scratch.write("s.txt", "abort");
    let args = ["--provider", "misbehaving", "--plugins", "plugins", "s.txt", "--isolation", "process"];
    scratch.host(args).exits(3);
    let quarantine = fs::read(scratch.config("plugins.quarantine")).expect("a list");
    let quarantine: Value = serde_json::from_slice(&quarantine).expect("JSON");
    let entry = &quarantine["plugins"][0];
    assert_eq!((&entry["session"], &entry["signal"]), (&json!("s.txt"), &json!("SIGABRT")));
    let name = built().misbehaving.file_name().expect("a file").to_string_lossy().into_owned();
    let file = format!("plugins/{name}");
    let list = scratch.host(["plugins", "list", "--plugins", "plugins"]).succeeds();
    assert!(list.contains(" quarantined "), "{list}");
    scratch.host(["plugins", "doctor", "--plugins", "plugins"]).exits(3);
    let text = scratch.host(["plugins", "allow", &file]).succeeds();
    assert_eq!(text, "`misbehaving` 0.1.0 is out of quarantine\n");
    assert!(!scratch.config("plugins.lock").exists());
    scratch.write("s.txt", "nothing");
    scratch.host(args).exits(0);
}

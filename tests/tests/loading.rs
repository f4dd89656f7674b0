//! Plugins: found, checked, refused, in one sentence each.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};

use toolpath_tests::{Scratch, built};

fn file_name(provider: &str) -> String {
    format!("{DLL_PREFIX}toolpath_provider_{provider}{DLL_SUFFIX}")
}

fn minimal() -> Vec<u8> {
    fs::read(&built().minimal).expect("the example plugin")
}

/// A session of the example plugin.
const SESSION: &str = "me\thello\nbot m\thi\napp\toverloaded\n";

fn scratch() -> Scratch {
    let scratch = Scratch::without_plugins();
    scratch.write("s.log", SESSION);
    scratch
}

/// The actors that the example session's steps have.
#[track_caller]
fn assert_reads(run: &toolpath_tests::Run) {
    let document = run.document();
    let actors: Vec<_> = toolpath_tests::steps(&document).iter().map(|step| step["step"]["actor"].as_str()).collect();
    assert_eq!(actors, [Some("human:user"), Some("agent:m"), Some("tool:minimal")], "{run}");
}

#[test]
fn a_plugin_copied_into_an_empty_folder_works() {
    let scratch = scratch();
    let claude = &built().plugins["claude"];
    fs::create_dir(scratch.path("mine")).expect("a folder");
    fs::copy(claude, scratch.path("mine").join(claude.file_name().expect("a file"))).expect("copying");
    scratch.write("s.jsonl", "{\"type\":\"user\",\"uuid\":\"u\",\"message\":{\"content\":\"hi\"}}\n");
    let document = scratch.host(["--provider", "claude", "--plugins", "mine", "s.jsonl"]).document();
    assert_eq!(document["paths"][0]["path"]["head"], "u");
}

#[test]
fn the_example_plugin_of_the_contract_works() {
    let scratch = scratch();
    scratch.write(&format!("plugins/{}", file_name("minimal")), minimal());
    assert_reads(&scratch.host(["--provider", "minimal", "--plugins", "plugins", "s.log"]));
}

#[test]
fn a_plugin_is_found_in_each_place() {
    let name = file_name("minimal");
    let places: [(&str, &[&str]); 3] = [
        ("any-name.so", &["--plugin", "any-name.so"]),
        ("plugins", &["--plugins", "plugins"]),
        ("data/toolpath-host/plugins", &[]),
    ];
    for (place, flags) in places {
        let scratch = scratch();
        let file = if flags.first() == Some(&"--plugin") { PathBuf::from(place) } else { Path::new(place).join(&name) };
        fs::create_dir_all(scratch.path(".").join(file.parent().expect("a folder"))).expect("a folder");
        scratch.write(&file.to_string_lossy(), minimal());
        let args: Vec<&str> = ["--provider", "minimal", "s.log"].iter().chain(flags).copied().collect();
        assert_reads(&scratch.host_with(args, |command| _ = command.env("XDG_DATA_HOME", scratch.path("data"))));
    }
}

#[test]
fn the_plugin_path_is_searched_and_its_relative_entries_are_refused() {
    let scratch = scratch();
    scratch.write(&format!("plugins/{}", file_name("minimal")), minimal());
    let args = ["--provider", "minimal", "s.log"];
    let with =
        |value: std::ffi::OsString| scratch.host_with(args, |command| _ = command.env("TOOLPATH_PLUGIN_PATH", value));
    assert_reads(&with(scratch.path("plugins").into()));
    let refused = with("plugins".into());
    refused.exits(3);
    assert!(
        refused.stderr().starts_with("TOOLPATH_PLUGIN_PATH: `plugins` is not searched because it is relative"),
        "{refused}"
    );
}

#[test]
fn the_current_folder_is_never_searched() {
    let scratch = scratch();
    scratch.write(&file_name("minimal"), minimal());
    scratch.host(["--provider", "minimal", "s.log"]).exits(3);
}

#[test]
fn a_second_plugin_of_another_file_is_not_answered_with_the_first() {
    // Loaders that keep one module for each type hand back the first plugin for every path.
    let scratch = Scratch::new();
    scratch.write("s.log", SESSION);
    scratch.write(&format!("plugins/{}", file_name("minimal")), minimal());
    assert_reads(&scratch.host(["--provider", "minimal", "--plugins", "plugins", "s.log"]));
}

/// Expects that a plugin file of this content is refused with this reason.
#[track_caller]
fn refused(scratch: &Scratch, content: &[u8], reason: &str) {
    let name = file_name("minimal");
    scratch.write(&format!("plugins/{name}"), content);
    let file = Path::new("plugins").join(&name);
    let message = format!("plugin `{}`: {reason}", file.display());
    scratch.host(["--provider", "minimal", "--plugins", "plugins", "s.log"]).fails(3, &message);
    scratch.host(["--provider", "minimal", "--plugin", &file.to_string_lossy(), "s.log"]).fails(3, &message);
}

#[test]
fn what_is_no_plugin_is_refused_before_it_is_opened() {
    let scratch = scratch();
    refused(&scratch, b"", "is empty; build or copy the library again");
    refused(
        &scratch,
        b"#!/bin/sh\necho this is no library\n",
        "is no dynamic library; a plugin is built by cargo as a `cdylib`",
    );
    let whole = minimal();
    refused(&scratch, &whole[..4], "is a damaged library (Could not read file magic); build or copy the library again");
}

#[test]
fn a_library_that_is_cut_short_anywhere_is_refused_and_kills_nothing() {
    let scratch = scratch();
    let whole = minimal();
    let name = format!("plugins/{}", file_name("minimal"));
    for part in 1..16 {
        scratch.write(&name, &whole[..whole.len() * part / 16]);
        let run = scratch.host(["--provider", "minimal", "--plugins", "plugins", "s.log"]);
        run.exits(3);
        assert_eq!(run.stderr().lines().count(), 1, "{run}");
        assert!(run.stderr().ends_with("; build or copy the library again\n"), "{run}");
    }
}

/// Where the manifest lies in the example plugin, by its magic.
fn manifest_at(library: &[u8]) -> usize {
    let magic = b"TPPROVMN";
    let places: Vec<usize> =
        library.windows(magic.len()).enumerate().filter(|(_, w)| w == magic).map(|(at, _)| at).collect();
    assert_eq!(places.len(), 1, "the manifest's magic stands in the library once");
    places[0]
}

#[test]
fn a_manifest_of_another_make_is_refused() {
    let scratch = scratch();
    let whole = minimal();
    let at = manifest_at(&whole);
    let with = |offset: usize, bytes: &[u8]| {
        let mut library = whole.clone();
        library[at + offset..at + offset + bytes.len()].copy_from_slice(bytes);
        library
    };
    let rebuild = "rebuild it against this host's plugin-api";
    refused(&scratch, &with(0, b"X"), &format!("has a manifest that begins unlike one; {rebuild}"));
    refused(&scratch, &with(8, &[1, 0, 0, 0]), &format!("has a manifest of another size than this host's; {rebuild}"));
    refused(&scratch, &with(18, &[0xff; 4]), &format!("has a manifest that is no text; {rebuild}"));
    refused(
        &scratch,
        &with(12, &[2, 0]),
        "was built for plugin-api 2.0.0, this host needs 1.x; rebuild it against that",
    );
    refused(
        &scratch,
        &with(22, b"{\"name\":\"MINIMAL\""),
        "calls itself `MINIMAL`, which is no name; a plugin's name is made of a-z, 0-9, `-` and `_`",
    );
    refused(
        &scratch,
        &with(22, b"["),
        "has a manifest that cannot be read (expected `,` or `]` at line 1 column 8); rebuild it with `declare_provider!`",
    );
}

#[test]
fn a_plugin_of_a_later_minor_version_loads() {
    let scratch = scratch();
    let mut library = minimal();
    let at = manifest_at(&library);
    library[at + 14] = 9;
    scratch.write(&format!("plugins/{}", file_name("minimal")), library);
    assert_reads(&scratch.host(["--provider", "minimal", "--plugins", "plugins", "s.log"]));
}

#[test]
#[cfg(unix)]
fn what_others_can_write_to_or_what_is_no_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = scratch();
    let name = file_name("minimal");
    let path = scratch.write(&format!("plugins/{name}"), minimal());
    let run = || scratch.host(["--provider", "minimal", "--plugins", "plugins", "s.log"]);
    let says = |reason: &str| run().fails(3, &format!("plugin `plugins/{name}`: {reason}"));

    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("changing rights");
    says("can be written by every user of this machine; run `chmod o-w` on it");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("changing rights");
    fs::set_permissions(scratch.path("plugins"), fs::Permissions::from_mode(0o777)).expect("changing rights");
    says("lies in a folder that every user of this machine can write to; run `chmod o-w` on the folder");
    fs::set_permissions(scratch.path("plugins"), fs::Permissions::from_mode(0o755)).expect("changing rights");
    assert_reads(&run());

    fs::remove_file(&path).expect("removing");
    fs::create_dir(&path).expect("a folder");
    says("is a folder; name the library in it");
    fs::remove_dir(&path).expect("removing");
    std::os::unix::fs::symlink("nowhere", &path).expect("a link");
    says("is a link that leads nowhere (No such file or directory (os error 2)); point it at the library");
    fs::remove_file(&path).expect("removing");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
    assert!(made.success());
    says("is no regular file; a plugin is a dynamic library");
}

#[test]
fn two_plugins_of_one_name_in_one_folder_are_refused() {
    let scratch = scratch();
    for provider in ["minimal", "minimal2"] {
        scratch.write(&format!("plugins/{}", file_name(provider)), minimal());
    }
    scratch.host(["--provider", "minimal", "--plugins", "plugins", "s.log"]).fails(
        3,
        &format!(
            "plugin `plugins/{}`: says that it is `minimal`, and so does `{}` beside it; remove one of the two",
            file_name("minimal"),
            file_name("minimal2")
        ),
    );
}

#[test]
fn a_bad_plugin_of_another_name_does_not_stand_in_the_way() {
    let scratch = scratch();
    scratch.write(&format!("plugins/{}", file_name("minimal")), minimal());
    scratch.write(&format!("plugins/{}", file_name("broken")), "no library");
    assert_reads(&scratch.host(["--provider", "minimal", "--plugins", "plugins", "s.log"]));
}

#[test]
fn a_plugins_folder_that_is_not_there_is_said() {
    let scratch = scratch();
    let run = scratch.host(["--provider", "minimal", "--plugins", "nowhere", "s.log"]);
    run.exits(3);
    assert!(run.stderr().starts_with("error: plugin `nowhere`: cannot be searched for plugins: "), "{run}");
}

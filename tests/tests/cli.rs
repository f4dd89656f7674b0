//! What a user sees: messages, exit codes, files.

use std::fs;
use std::process::Stdio;

use toolpath_tests::{Scratch, built, top};

const CLAUDE: [&str; 4] = ["--provider", "claude", "--plugins", "plugins"];

/// A scratch folder with a small good session in it.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let session = top().join("tests/fixtures/sessions/claude/notice/session.jsonl");
    scratch.write("s.jsonl", fs::read(session).expect("the fixture"));
    scratch
}

fn claude<'a>(more: &[&'a str]) -> Vec<&'a str> {
    CLAUDE.iter().chain(more).copied().collect()
}

#[test]
fn derive_and_its_short_form_are_the_same() {
    let scratch = scratch();
    let short = scratch.host(claude(&["s.jsonl"])).succeeds();
    let long: Vec<&str> = ["derive"].into_iter().chain(claude(&["s.jsonl"])).collect();
    assert_eq!(scratch.host(long).succeeds(), short);
    assert_eq!(scratch.host(["s.jsonl", "--provider", "claude", "--plugins", "plugins"]).succeeds(), short);
}

#[test]
fn a_session_comes_from_standard_input_too() {
    let scratch = scratch();
    let session = fs::read(scratch.path("s.jsonl")).expect("the session");
    let document = scratch.host_reading(claude(&["-"]), session).document();
    assert_eq!(document["graph"]["id"], "path-claude-code-7b1f0c52");
    scratch.host_reading(claude(&["-"]), "").fails(1, "-: is empty; there is no session in it");
}

#[test]
fn a_missing_plugin_says_where_it_was_looked_for_and_what_to_do() {
    let scratch = Scratch::without_plugins();
    scratch.write("s.jsonl", "{}\n");
    let run = scratch.host(["--provider", "nobody", "--plugins", "plugins", "s.jsonl"]);
    run.exits(3);
    let message = run.stderr();
    assert!(message.starts_with("error: no plugin for provider `nobody`: looked in `plugins`, "), "{run}");
    assert!(message.contains("toolpath_provider_nobody"), "{run}");
    assert!(message.ends_with("in one of these, or pass --plugins DIR\n"), "{run}");
    assert_eq!((message.lines().count(), run.stdout().as_str()), (1, ""), "{run}");
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    let scratch = scratch();
    for args in [&["--provider", "claude"][..], &["s.jsonl"], &["--provider", "claude", "s.jsonl", "--wrong"], &[]] {
        let run = scratch.host(args);
        run.exits(2);
        assert_eq!(run.stdout(), "", "{run}");
        assert!(!run.stderr().is_empty(), "{run}");
    }
}

#[test]
fn help_and_version_are_results() {
    let scratch = Scratch::without_plugins();
    assert_eq!(scratch.host(["--version"]).succeeds(), format!("toolpath-host {}\n", env!("CARGO_PKG_VERSION")));
    assert!(scratch.host(["--help"]).succeeds().contains("Usage: toolpath-host --provider <NAME> <SESSION>"));
    assert!(scratch.host(["derive", "--help"]).succeeds().contains("--provider <NAME>"));
}

#[test]
fn what_is_no_session_gets_one_sentence_and_leaves_no_file() {
    let scratch = scratch();
    scratch.write("empty.jsonl", "");
    scratch.write("blank.jsonl", "\n \r\n\n");
    scratch.write("binary.jsonl", (0..4096_u32).map(|n| (n * 7 % 251) as u8).collect::<Vec<u8>>());
    fs::create_dir(scratch.path("folder")).expect("a folder");
    for (session, message) in [
        ("gone.jsonl", "gone.jsonl: there is no such file; check the path"),
        ("empty.jsonl", "empty.jsonl: is empty; there is no session in it"),
        ("folder", "folder: is a folder; name one session's file in it"),
        ("blank.jsonl", "blank.jsonl: holds no records; name a Claude Code session file"),
        (
            "binary.jsonl",
            "binary.jsonl: holds no record of Claude Code; name a session file of it, or another --provider",
        ),
    ] {
        let run = scratch.host(claude(&[session, "-o", "out.json"]));
        run.fails(1, message);
        assert!(!run.files().iter().any(|file| file.contains("out") || file.contains("tmp")), "{run}");
    }
}

#[test]
#[cfg(unix)]
fn a_file_without_rights_gets_one_sentence() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = scratch();
    let file = scratch.path("s.jsonl");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("changing rights");
    if fs::File::open(&file).is_ok() {
        // Root may read everything: then this says what a user without rights would see only by running as one.
        let run = scratch.host_with(claude(&["s.jsonl", "-o", "out.json"]), |command| {
            use std::os::unix::process::CommandExt;
            fs::set_permissions(scratch.path("."), fs::Permissions::from_mode(0o755)).expect("changing rights");
            command.uid(65534);
        });
        run.fails(1, "s.jsonl: may not be read by you; check its permissions");
    } else {
        scratch.host(claude(&["s.jsonl"])).fails(1, "s.jsonl: may not be read by you; check its permissions");
    }
}

#[test]
fn an_output_file_is_what_standard_output_would_be_and_replaces_what_was_there() {
    let scratch = scratch();
    let document = scratch.host(claude(&["s.jsonl"])).succeeds();
    scratch.write("out.json", "old");
    for _ in 0..2 {
        let run = scratch.host(claude(&["s.jsonl", "-o", "out.json"]));
        assert_eq!(run.succeeds(), "");
        assert_eq!(fs::read_to_string(scratch.path("out.json")).expect("the document"), document);
        assert_eq!(run.files(), ["out.json", "plugins", "s.jsonl"]);
    }
    assert_eq!(scratch.host(claude(&["s.jsonl", "-o", "-"])).succeeds(), document);
}

#[test]
fn a_run_that_fails_leaves_the_output_file_as_it_was() {
    let scratch = scratch();
    scratch.write("out.json", "old");
    scratch.write("broken.jsonl", "{\"type\":\"user\",\"message\":{\"content\":\"hi\"}}\n{broken\n");
    let run = scratch.host(claude(&["broken.jsonl", "--strict", "-o", "out.json"]));
    run.exits(1);
    let last = run.stderr().lines().last().map(str::to_owned);
    assert_eq!(
        last.as_deref(),
        Some(
            "error: broken.jsonl: 1 of 2 records could not be read, and --strict asks for all; no document was written"
        )
    );
    assert_eq!(fs::read_to_string(scratch.path("out.json")).expect("the old file"), "old");
    assert_eq!(run.files(), ["broken.jsonl", "out.json", "plugins", "s.jsonl"]);
    scratch.host(claude(&["broken.jsonl"])).exits(0);
}

#[test]
fn an_output_that_cannot_be_written_gets_one_sentence() {
    let scratch = scratch();
    fs::create_dir(scratch.path("folder")).expect("a folder");
    // A folder gets a file that is named for the session.
    fs::create_dir(scratch.path("folder/claude-code-s.path.json")).expect("a folder");
    scratch
        .host(claude(&["s.jsonl", "-o", "folder"]))
        .fails(1, "cannot write `folder/claude-code-s.path.json`: it is a folder; name a file");
    let run = scratch.host(claude(&["s.jsonl", "-o", "nowhere/out.json"]));
    run.exits(1);
    assert_eq!(
        run.stderr(),
        "error: cannot write `nowhere/out.json`: there is no such folder; make it first\n",
        "{run}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_one_sentence_and_a_closed_pipe_is_none() {
    let scratch = scratch();
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").expect("the full device"));
    let run = scratch.host_with(claude(&["s.jsonl"]), |command| _ = command.stdout(full()));
    run.fails(1, "cannot write standard output: No space left on device (os error 28)");
    let run = scratch.host_with(claude(&["s.jsonl", "-o", "/dev/full"]), |_| {});
    run.fails(1, "cannot write `/dev/full`: No space left on device (os error 28)");

    let closed = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        Stdio::from(writer)
    };
    let run = scratch.host_with(claude(&["s.jsonl"]), |command| _ = command.stdout(closed()));
    assert_eq!((run.code(), run.stderr().as_str()), (Some(0), ""), "{run}");
    // Nobody may be left to read the messages, either.
    let run = scratch.host_with(claude(&["gone.jsonl"]), |command| _ = command.stderr(closed()));
    assert_eq!((run.code(), run.stdout().as_str()), (Some(1), ""), "{run}");
}

#[test]
fn what_the_caller_decides_wins() {
    let scratch = scratch();
    let args = ["s.jsonl", "--title", "T", "--base-uri", "https://example.org/r", "--path-id", "p-1", "--no-tools"];
    let document = scratch.host(claude(&args)).document();
    let path = &document["paths"][0];
    assert_eq!(document["graph"]["id"], "p-1");
    assert_eq!((&path["meta"]["title"], &path["path"]["base"]["uri"]), (&"T".into(), &"https://example.org/r".into()));
    let text = document.to_string();
    assert!(!text.contains("tool_uses") && text.contains("file.write"), "{text}");
}

#[test]
fn reasoning_can_be_left_out() {
    let scratch = Scratch::new();
    let session = top().join("tests/fixtures/sessions/claude/usage-once-a-message/session.jsonl");
    scratch.write("s.jsonl", fs::read(session).expect("the fixture"));
    assert!(scratch.host(claude(&["s.jsonl"])).succeeds().contains("\"thinking\":\"Where is it?\""));
    assert!(!scratch.host(claude(&["s.jsonl", "--no-thinking"])).succeeds().contains("\"thinking\""));
}

#[test]
#[cfg(unix)]
fn a_pipe_is_read_like_a_file() {
    let scratch = scratch();
    let script = format!("{} --provider claude --plugins plugins <(cat s.jsonl) | head -c 21", built().host.display());
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(scratch.path("."))
        .output()
        .expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"graph\":{\"id\":\"path-");
}

#[test]
#[cfg(unix)]
fn a_session_from_a_pipe_takes_its_id_from_the_log_and_not_from_the_copy() {
    let scratch = scratch();
    let host = built().host.display();
    let run = |session: &str| {
        let script = format!("{host} --provider claude --plugins plugins {session}");
        let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(scratch.path(".")).output();
        String::from_utf8(output.expect("bash runs").stdout).expect("text")
    };
    let first = run("- < s.jsonl");
    assert!(first.starts_with("{\"graph\":{\"id\":\"path-claude-code-7b1f0c52\"}"), "{first}");
    for session in ["<(cat s.jsonl)", "/dev/stdin < s.jsonl", "/dev/stdin < <(cat s.jsonl)"] {
        assert_eq!(run(session), first, "{session}");
    }
}

#[test]
#[cfg(unix)]
fn the_session_itself_is_never_written_over() {
    let scratch = scratch();
    let session = fs::read_to_string(scratch.path("s.jsonl")).expect("the session");
    std::os::unix::fs::symlink("s.jsonl", scratch.path("link.jsonl")).expect("a link");
    fs::hard_link(scratch.path("s.jsonl"), scratch.path("hard.jsonl")).expect("a link");
    for output in ["s.jsonl", "link.jsonl", "hard.jsonl"] {
        let message = format!("cannot write `{output}`: it is the session itself; name another file");
        scratch.host(claude(&["s.jsonl", "-o", output])).fails(1, &message);
        let run = scratch.host_with(claude(&["-", "-o", output]), |command| {
            command.stdin(fs::File::open(scratch.path("s.jsonl")).expect("the session"));
        });
        run.fails(1, &message);
    }
    assert_eq!(fs::read_to_string(scratch.path("s.jsonl")).expect("the session"), session);
}

#[test]
#[cfg(unix)]
fn a_link_as_output_stays_and_what_it_points_at_is_written() {
    let scratch = scratch();
    std::os::unix::fs::symlink("real.json", scratch.path("link.json")).expect("a link");
    for _ in 0..2 {
        scratch.host(claude(&["s.jsonl", "-o", "link.json"])).exits(0);
        assert!(fs::symlink_metadata(scratch.path("link.json")).expect("the link").is_symlink());
        assert!(fs::read_to_string(scratch.path("real.json")).expect("the document").starts_with("{\"graph\""));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_of_many_small_values_takes_memory_like_its_text() {
    let scratch = scratch();
    let values = "{\"a\":1},".repeat(1_000_000);
    let line =
        format!("{{\"type\":\"system\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"x\":[{values}0]}}\n");
    scratch.write("s.jsonl", &line);
    let script = format!(
        "ulimit -v 400000; {} --provider claude --plugins plugins s.jsonl --isolation none | wc -c",
        built().host.display()
    );
    let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(scratch.path(".")).output();
    let written: usize =
        String::from_utf8(output.expect("bash runs").stdout).expect("text").trim().parse().expect("a count");
    assert!(written > line.len(), "{written}");
}

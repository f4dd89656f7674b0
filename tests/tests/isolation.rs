//! Plugins that misbehave: each offence at each level of isolation, with its exit code, its sentence, and no document.
//!
//! The levels that this system does not have are left out, and said.

use std::io::Write;

use toolpath_tests::{Run, Scratch, built, message, steps};

fn scratch(session: &str) -> Scratch {
    let scratch = Scratch::without_plugins();
    scratch.add_plugin(&built().misbehaving);
    scratch.write("s.txt", session);
    scratch
}

fn run(scratch: &Scratch, level: &str) -> Run {
    scratch.host(["--provider", "misbehaving", "--plugins", "plugins", "s.txt", "-o", "out.json", "--isolation", level])
}

/// The levels in which a plugin has a process of its own.
fn levels() -> Vec<&'static str> {
    let has_sandbox = run(&scratch("nothing"), "sandbox").code() == Some(0);
    if !has_sandbox {
        let _ = writeln!(std::io::stderr(), "skipped: this system has no sandbox");
    }
    if has_sandbox { vec!["process", "sandbox"] } else { vec!["process"] }
}

/// Expects that the offence fails with this sentence at these levels, and that no document appears.
#[track_caller]
fn fails_at(levels: &[&str], offence: &str, code: i32, sentence: &str) {
    for level in levels {
        let scratch = scratch(offence);
        let run = run(&scratch, level);
        run.fails(code, &format!("s.txt: {sentence}"));
        assert_eq!(run.files(), ["plugins", "s.txt"], "{offence} at {level}");
    }
}

#[track_caller]
fn offends(levels: &[&str], offence: &str, sentence: &str) {
    fails_at(levels, offence, 3, &format!("the plugin `misbehaving` {sentence}; report it to the plugin's author"));
}

/// Expects that the offence ends the plugin's process, that the plugin is in quarantine then, and that no document appears.
#[track_caller]
fn crashes(levels: &[&str], offence: &str, sentence: &str, signal: &str) {
    for level in levels {
        let scratch = scratch(offence);
        let file = format!("plugins/{}", built().misbehaving.file_name().expect("a file").display());
        let message = format!(
            "s.txt: the plugin `misbehaving` {sentence}; it is in quarantine now; report it to the plugin's author, \
             or run `toolpath-host plugins allow {file}`"
        );
        let first = run(&scratch, level);
        first.fails(3, &message);
        assert_eq!(first.files(), ["plugins", "s.txt"], "{offence} at {level}");
        let again = run(&scratch, level);
        again.exits(3);
        let reason = format!("error: plugin `{file}`: is in quarantine since it crashed on ");
        assert!(again.stderr().starts_with(&reason), "{again}");
        let told = format!(" ({signal}, reading `s.txt`); to use it again, run `toolpath-host plugins allow {file}`\n");
        assert!(again.stderr().ends_with(&told), "{again}");
        scratch.host(["plugins", "allow", &file]).exits(0);
        run(&scratch, level).fails(3, &message);
    }
}

/// What the plugin tells in its last turn.
#[track_caller]
fn tells(session: &str, level: &str) -> String {
    let scratch = scratch(session);
    run(&scratch, level).exits(0);
    let document = std::fs::read_to_string(scratch.path("out.json")).expect("the document");
    let document = serde_json::from_str(&document).expect("JSON");
    let last = steps(&document).last().expect("a step").clone();
    message(&last)["text"].as_str().expect("a text").to_owned()
}

const ALL: [&str; 3] = ["none", "process", "sandbox"];

#[test]
fn a_plugin_that_breaks_the_contract_is_named_at_every_level() {
    let all: Vec<&str> = ["none"].into_iter().chain(levels()).collect();
    offends(&all, "panic", "panicked: on request (at tests/fixtures/misbehaving/src/lib.rs:48:24)");
    offends(&all, "panic-in-drop", "panicked: in a destructor (at tests/fixtures/misbehaving/src/lib.rs:27:9)");
    offends(
        &all,
        "panic-with-bomb",
        "panicked: a panic without a message (at tests/fixtures/misbehaving/src/lib.rs:50:34)",
    );
    offends(&all, "no-session", "never told which session it read");
    offends(&all, "turn-first", "called `turn` before `session`");
    offends(&all, "wrong-count", "read 42 records but accounted for 1");
    offends(&all, "after-stop", "named a provider without a name");
    fails_at(&all, "fail because of that", 1, "because of that");
    fails_at(&all, "fail", 1, "cannot be read");
}

#[test]
fn a_plugin_that_ends_its_process_is_named_and_leaves_no_document() {
    let levels = levels();
    crashes(&levels, "abort", "aborted, or asked for more than 2048 MiB of memory", "SIGABRT");
    crashes(&levels, "overflow", "aborted, or asked for more than 2048 MiB of memory", "SIGABRT");
    crashes(&levels, "allocate", "aborted, or asked for more than 2048 MiB of memory", "SIGABRT");
    crashes(&levels, "huge", "aborted, or asked for more than 2048 MiB of memory", "SIGABRT");
    crashes(&levels, "null", "crashed by touching memory that is not its own", "SIGSEGV");
    crashes(&levels, "exit", "left its process with exit code 0 before it was done", "exit code 0");
    offends(&levels, "not-utf8", "wrote a text that is no UTF-8 to the host");
    offends(&levels, "stdout", "wrote a frame that is longer than any may be to the host");
}

#[test]
fn a_plugin_that_never_ends_is_stopped_by_its_processor_time() {
    offends(&levels(), "loop", "was stopped after 10 seconds of processor time");
}

#[test]
fn a_plugin_that_sleeps_is_stopped_by_the_watchdog() {
    let levels = levels();
    offends(&levels[levels.len() - 1..], "sleep", "did nothing for 30 seconds and was stopped");
}

#[test]
fn a_sandboxed_plugin_is_denied_what_it_has_no_business_with() {
    if !levels().contains(&"sandbox") {
        return;
    }
    let outside = tempfile::tempdir().expect("a folder");
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, "private").expect("a file");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let outside = outside.path().display().to_string();
    for (session, denied) in [
        ("thread".to_owned(), "denied: Operation not permitted (os error 1)"),
        (format!("connect {address}"), "denied: Operation not permitted (os error 1)"),
        ("execute".to_owned(), "denied: Operation not permitted (os error 1)"),
        (format!("read-file {}", secret.display()), "denied: Permission denied (os error 13)"),
        ("read-file /etc/passwd".to_owned(), "denied: Permission denied (os error 13)"),
        (format!("list-folder {outside}"), "denied: Permission denied (os error 13)"),
        (format!("write-file {outside}/evil"), "denied: Permission denied (os error 13)"),
        ("write-session".to_owned(), "denied: Permission denied (os error 13)"),
        ("limit-parent".to_owned(), "denied: Operation not permitted (os error 1)"),
        ("lease".to_owned(), "denied: Operation not permitted (os error 1)"),
        ("environment".to_owned(), "environment: []"),
    ] {
        assert_eq!(tells(&session, "sandbox"), denied, "{session}");
    }
    // The same in a process of its own is allowed: what is denied is denied by the sandbox.
    for session in [
        "thread".to_owned(),
        format!("connect {address}"),
        "execute".to_owned(),
        format!("read-file {}", secret.display()),
    ] {
        assert_eq!(tells(&session, "process"), "allowed", "{session}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_whoever_started_the_host_left_open_is_closed_to_a_plugin() {
    let scratch = scratch("read-descriptor 9");
    scratch.write("secret", "private");
    for level in levels() {
        let output = std::process::Command::new("sh")
            .args(["-c", "exec 9<secret; exec \"$@\"", "sh"])
            .arg(&built().host)
            .args(["--provider", "misbehaving", "--plugins", "plugins", "s.txt", "--isolation", level])
            .current_dir(scratch.path("."))
            .output()
            .expect("a shell runs");
        let document = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(document.contains("\"text\":\"denied: Bad file descriptor (os error 9)\""), "{level}: {output:?}");
    }
}

#[test]
fn a_plugin_reads_its_sessions_companions_and_not_their_neighbours() {
    if !levels().contains(&"sandbox") {
        return;
    }
    let scratch = scratch("");
    std::fs::create_dir(scratch.path("s.d")).expect("a folder");
    let (companion, neighbour) = (scratch.write("s.d/part", "x"), scratch.write("other.txt", "x"));
    for (file, outcome) in [(companion, "allowed"), (neighbour, "denied: Permission denied (os error 13)")] {
        scratch.write("s.txt", format!("read-file {}", file.display()));
        run(&scratch, "sandbox").exits(0);
        let document = std::fs::read_to_string(scratch.path("out.json")).expect("the document");
        assert!(document.contains(&format!("\"text\":\"{outcome}\"")), "{document}");
    }
}

#[test]
fn what_is_only_odd_is_reported_and_kept() {
    for level in ALL.iter().filter(|level| **level == "none" || levels().contains(level)) {
        let noise = scratch("diagnostics");
        let noise = run(&noise, level);
        noise.exits(0);
        let lines: Vec<String> = noise.stderr().lines().map(str::to_owned).collect();
        assert_eq!((lines.len(), lines[100].as_str()), (101, "s.txt: 999900 more of `noise`"), "{noise}");
        let json = run(&scratch("bad-json"), level);
        assert_eq!(
            json.stderr(),
            "s.txt: a JSON value is kept as text: EOF while parsing a value at line 1 column 5\n"
        );
        let result = run(&scratch("result-for-nothing"), level);
        assert_eq!(
            result.stderr(),
            "s.txt: the result of `nobody` answers no call before it; it is kept as an event\n",
            "{result}"
        );
    }
}

#[test]
fn every_level_gives_the_same_document_and_says_which_it_is() {
    let documents: Vec<String> = ALL
        .iter()
        .filter(|level| **level == "none" || levels().contains(level))
        .map(|level| {
            let scratch = scratch("nothing");
            let run = scratch.host([
                "--provider",
                "misbehaving",
                "--plugins",
                "plugins",
                "s.txt",
                "-v",
                "--isolation",
                level,
            ]);
            assert!(run.stderr().contains(&format!("isolation: {level}\n")), "{run}");
            run.succeeds()
        })
        .collect();
    assert!(documents.windows(2).all(|pair| pair[0] == pair[1]), "{documents:?}");
}

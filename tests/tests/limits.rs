//! What the system does not give: memory, processor time, room in a file, processes.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use toolpath_tests::{Run, Scratch, built};

const LINE: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"message":{"content":"hi"}}"#;

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("session.jsonl", format!("{LINE}\n"));
    scratch
}

/// Runs the host under a limit that a shell sets, and that the host cannot take back.
fn limited(scratch: &Scratch, limit: &str, args: &str) -> Run {
    let script = format!("ulimit {limit}; exec \"$0\" --provider claude --plugins plugins {args}");
    scratch.host_with([""; 0], |command| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).arg(&built().host);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.current_dir(scratch.path("")).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        *command = shell;
    })
}

#[test]
fn limits_that_are_tighter_than_a_workers_own_do_not_keep_it_from_starting() {
    let scratch = scratch();
    let wanted = limited(&scratch, "-c 0", "session.jsonl").succeeds();
    for limit in ["-v 1500000", "-t 5"] {
        for level in ["sandbox", "process"] {
            let run = limited(&scratch, limit, &format!("--isolation {level} session.jsonl"));
            assert_eq!(run.succeeds(), wanted, "{limit} {level}");
        }
    }
}

#[test]
fn a_document_that_is_larger_than_a_file_may_be_is_an_error_and_leaves_nothing() {
    let scratch = scratch();
    scratch.write("session.jsonl", LINE.replace("hi", &"x".repeat(100_000)));
    let before = limited(&scratch, "-c 0", "session.jsonl").files().to_vec();
    let run = limited(&scratch, "-f 10", "session.jsonl -o document.json");
    run.fails(1, "cannot write `document.json`: file too large");
    assert_eq!(run.files(), before);
}

#[test]
fn a_process_that_cannot_be_started_is_not_called_a_fault_of_the_plugin() {
    let message = "session.jsonl: the process to read it in could not be started: Too many open files (os error 24)";
    limited(&scratch(), "-n 8", "session.jsonl").fails(1, message);
}

#[test]
fn links_that_lead_in_circles_under_a_sessions_folder_are_not_walked() {
    let scratch = scratch();
    let folder = scratch.path("session/subagents");
    fs::create_dir_all(&folder).expect("a folder");
    for name in ["a", "b", "c"] {
        std::os::unix::fs::symlink(".", folder.join(name)).expect("a link");
    }
    limited(&scratch, "-t 5", "session.jsonl").succeeds();
}

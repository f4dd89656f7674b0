//! Sub-agents' files: beside a session, within it as branches, and by themselves.

use std::path::Path;

use toolpath_plugin_api::kit::testing;

use super::said;
use crate::Codex;

const PARENT: &str = "019df1f0-0a88-7000-8000-0000000000a1";
const CHILD: &str = "019df1f0-f4e8-7000-8000-0000000000b1";

fn line(second: u32, payload: &str) -> String {
    let (kind, payload) = payload.split_once(' ').expect("a kind and a payload");
    let kind = if kind == "item" { "response_item" } else { kind };
    format!("{{\"timestamp\":\"2026-05-04T08:20:{second:02}.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
}

/// Writes a session and its sub-agent's into `folder`; the child's begins with a copy.
fn write(folder: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
    let spawn =
        r#"item {"type":"function_call","name":"spawn_agent","arguments":"{\"message\":\"look\"}","call_id":"c1"}"#;
    let spawned =
        format!(r#"item {{"type":"function_call_output","call_id":"c1","output":"{{\"agent_id\":\"{CHILD}\"}}"}}"#);
    let parent = [
        line(1, &format!(r#"session_meta {{"id":"{PARENT}"}}"#)),
        line(1, &said("user", "send one")),
        line(2, spawn),
        line(3, &spawned),
        line(9, &said("assistant", "It looked.")),
    ];
    let child = [
        line(
            3,
            &format!(
                r#"session_meta {{"id":"{CHILD}","parent_thread_id":"{PARENT}","source":{{"subagent":{{"thread_spawn":{{}}}}}}}}"#
            ),
        ),
        line(3, &format!(r#"session_meta {{"id":"{PARENT}"}}"#)),
        line(3, &said("user", "send one")),
        line(3, r#"event_msg {"type":"task_started","turn_id":"t1"}"#),
        line(3, r#"turn_context {"model":"m-2"}"#),
        line(3, &said("user", "look")),
        line(7, &said("assistant", "I see.")),
    ];
    // Both ids were made at 2026-05-04 plus some; local time is two hours ahead.
    let name = |id: &str| {
        let millis = i64::from_str_radix(&format!("{}{}", &id[..8], &id[9..13]), 16).expect("digits") + 7_200_000;
        let time = toolpath_plugin_api::kit::time::from_millis(millis).expect("a time");
        folder.join(format!("rollout-{}-{id}.jsonl", time[..19].replace(':', "-")))
    };
    let (parents, childs) = (name(PARENT), name(CHILD));
    std::fs::write(&parents, parent.concat()).expect("a file");
    std::fs::write(&childs, child.concat()).expect("a file");
    (parents, childs)
}

#[test]
fn a_sub_agents_file_is_a_branch_from_the_call_that_started_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (parents, childs) = write(folder.path());
    let told = testing::read::<Codex>(&parents);
    let branch = format!(r#"branch={{"call":"c1","agent":"{CHILD}"}}"#);
    let name = childs.file_name().expect("a name").to_string_lossy();
    assert!(
        told.iter().any(|line| line.starts_with("session ") && line.contains(&format!("file={name}"))),
        "{told:#?}"
    );
    let on_branch: Vec<_> = told.iter().filter(|line| line.contains(&branch)).collect();
    assert!(
        on_branch.iter().any(|line| line.starts_with(&format!("user {CHILD}/line-6 ")) && line.ends_with(": look"))
    );
    assert!(!on_branch.iter().any(|line| line.contains("HARNESS")), "{on_branch:#?}");
    let answer = on_branch.iter().find(|line| line.ends_with(": I see.")).expect("the answer");
    assert!(answer.contains(" model=m-2 "), "{answer}");
    let copied = told.iter().filter(|line| line.starts_with("duplicate: copied")).count();
    assert_eq!(copied, 2, "{told:#?}");
    let at = |text: &str| told.iter().position(|line| line.starts_with(text)).expect("the record");
    assert!(at(&format!("assistant {CHILD}/line-7")) < at("result c1"), "{told:#?}");
    assert!(told[at("result c1")].contains(&format!("delegation={CHILD}:look")), "{told:#?}");
}

#[test]
fn a_sub_agent_that_names_its_own_caller_does_not_tell_it_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (parents, childs) = write(folder.path());
    let back = [
        line(
            8,
            r#"item {"type":"function_call","name":"spawn_agent","arguments":"{\"message\":\"go on\"}","call_id":"c2"}"#,
        ),
        line(
            8,
            &format!(
                r#"item {{"type":"function_call_output","call_id":"c2","output":"{{\"agent_id\":\"{PARENT}\"}}"}}"#
            ),
        ),
    ];
    let child = std::fs::read_to_string(&childs).expect("the file") + &back.concat();
    std::fs::write(&childs, child).expect("a file");
    let once = |told: &[String], text: &str| told.iter().filter(|line| line.ends_with(text)).count() == 1;
    let told = testing::read::<Codex>(&parents);
    assert!(once(&told, ": It looked.") && once(&told, ": I see."), "{told:#?}");
    let told = testing::read::<Codex>(&childs);
    assert!(once(&told, ": I see."), "{told:#?}");
}

#[test]
fn by_itself_it_is_a_session_whose_prompts_no_human_typed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, childs) = write(folder.path());
    let told = testing::read::<Codex>(&childs);
    assert!(told.iter().any(|line| line.ends_with("HARNESS signal=\"sub-agent-prompt\": look")), "{told:#?}");
    assert!(!told.iter().any(|line| line.contains("branch=")), "{told:#?}");
}

#[test]
fn sessions_are_listed_once_and_what_is_no_file_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let (live, archived) = (folder.path().join("sessions/2026/05/04"), folder.path().join("archived_sessions"));
    for folder in [&live, &archived] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    let (parents, _) = write(&live);
    std::fs::copy(&parents, archived.join(parents.file_name().expect("a name"))).expect("a copy");
    std::fs::write(live.join("rollout-x.jsonl.tmp"), "x").expect("a file");
    std::fs::create_dir(archived.join("rollout-folder.jsonl")).expect("a folder");
    let roots = [folder.path().join("sessions"), archived, folder.path().join("none")];
    let told = testing::sessions::<Codex>(&roots.iter().map(std::path::PathBuf::as_path).collect::<Vec<_>>());
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[0].starts_with(&format!("{PARENT} at {}", parents.display())), "{told:#?}");
    assert!(told[0].contains(" title=send one from=2026-05-04T08:20:01Z to=2026-05-04T08:20:09Z"), "{told:#?}");
    assert!(told[1].starts_with(CHILD), "{told:#?}");
}

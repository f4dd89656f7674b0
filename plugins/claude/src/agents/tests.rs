use super::*;
use crate::tests::folder::Folder;

const ASKED: &str = r#"{"type":"user","sessionId":"s","message":{"content":[{"type":"text","text":"look"}]}}"#;

fn agents(folder: &Folder) -> Agents {
    Agents::beside(&folder.path().join("s.jsonl"), "s")
}

fn names(agents: &Agents) -> Vec<&str> {
    agents.names().collect()
}

#[test]
fn a_session_without_a_place_knows_of_no_files() {
    assert_eq!(Agents::unknown().named("a1", None), None);
}

#[test]
fn an_id_that_is_a_path_is_no_id() {
    let folder = Folder::new();
    folder.write("agent-x.jsonl", ASKED);
    let mut agents = Agents::beside(&folder.path().join("below/s.jsonl"), "s");
    for id in ["../x", "/../../agent-x", "a/b", "a\0b", "é", ""] {
        assert_eq!(agents.named(id, None), None, "{id}");
    }
}

#[test]
fn files_in_the_sessions_own_folder_are_known_in_the_order_of_their_names() {
    let folder = Folder::new();
    for name in ["agent-b.jsonl", "workflows/w1/agent-c.jsonl", "agent-a.jsonl", "journal.jsonl", "agent-.jsonl"] {
        folder.write(&format!("s/subagents/{name}"), ASKED);
    }
    let mut agents = agents(&folder);
    let expected = ["s/subagents/agent-a.jsonl", "s/subagents/agent-b.jsonl", "s/subagents/workflows/w1/agent-c.jsonl"];
    assert_eq!(names(&agents), expected);
    assert_eq!(["a", "b", "c", "d"].map(|id| agents.named(id, None)), [Some(0), Some(1), Some(2), None]);
}

#[test]
fn agents_of_one_name_are_told_apart_by_their_folders() {
    let folder = Folder::new();
    for run in ["w1", "w2"] {
        folder.write(&format!("s/subagents/workflows/{run}/agent-a.jsonl"), ASKED);
    }
    let mut agents = agents(&folder);
    assert_eq!([0, 1].map(|index| agents.file(index).agent.clone()), ["a", "s/subagents/workflows/w2/agent-a"]);
    assert_eq!(agents.named("a", None), Some(0));
}

#[test]
fn a_file_beside_the_session_counts_when_the_session_is_named_in_it() {
    let folder = Folder::new();
    folder.write("agent-ours.jsonl", ASKED);
    folder.write("agent-theirs.jsonl", ASKED.replace("\"s\"", "\"t\""));
    folder.write("agent-nameless.jsonl", "{}");
    let mut agents = agents(&folder);
    assert_eq!(names(&agents), [] as [&str; 0]);
    let found = ["ours", "theirs", "nameless", "missing"].map(|id| agents.named(id, None));
    assert_eq!(found, [Some(0), None, Some(1), None]);
    assert_eq!(names(&agents), ["agent-ours.jsonl", "agent-nameless.jsonl"]);
    let renamed = &mut Agents::beside(&folder.path().join("copy.jsonl"), "copy");
    assert_eq!(renamed.named("theirs", Some("t")), Some(0));
}

#[test]
fn a_folder_that_may_be_listed_is_searched_for_the_sessions_files() {
    let folder = Folder::new();
    folder.write("agent-ours.jsonl", ASKED);
    folder.write("agent-theirs.jsonl", ASKED.replace("\"s\"", "\"t\""));
    folder.write("agent-nameless.jsonl", "{}");
    let mut agents = agents(&folder);
    agents.search_folder();
    agents.search_folder();
    assert_eq!(names(&agents), ["agent-ours.jsonl"]);
}

#[test]
fn a_session_that_is_an_agents_file_is_not_its_own_agent() {
    let folder = Folder::new();
    folder.write("agent-a.jsonl", ASKED.replace("\"s\"", "\"agent-a\""));
    let mut agents = Agents::beside(&folder.path().join("agent-a.jsonl"), "agent-a");
    agents.search_folder();
    assert_eq!((names(&agents).len(), agents.named("a", None)), (0, None));
}

#[test]
fn the_file_of_facts_names_the_call() {
    let folder = Folder::new();
    for (agent, facts) in [
        ("a", r#"{"toolUseId":"t1","agentType":"Explore"}"#),
        ("b", "\u{feff}{\"toolUseId\":\"t2\"}"),
        ("c", "{nonsense"),
        ("d", r#"{"toolUseId":null}"#),
        ("e", "[]"),
    ] {
        folder.write(&format!("s/subagents/agent-{agent}.jsonl"), ASKED);
        folder.write(&format!("s/subagents/agent-{agent}.meta.json"), facts);
    }
    let agents = agents(&folder);
    let called = ["t1", "t2", "t3"].map(|call| agents.called(digest::of_text(call)));
    assert_eq!(called, [Some(0), Some(1), None]);
}

#[test]
fn a_prompt_finds_the_first_file_of_which_nothing_was_told() {
    let folder = Folder::new();
    let system = r#"{"type":"system","sessionId":"s"}"#;
    folder.write("s/subagents/agent-a.jsonl", ASKED);
    folder.write("s/subagents/agent-b.jsonl", format!("{system}\n{ASKED}\n"));
    folder.write("s/subagents/agent-c.jsonl", ASKED.replace("look", "read"));
    folder.write("s/subagents/agent-d.jsonl", "");
    let mut agents = agents(&folder);
    let look = digest::of_text("look");
    assert_eq!(agents.prompted(look), Some(0));
    agents.file(0).tell_to(Told { bytes: 1, lines: 1 });
    assert_eq!(agents.prompted(look), Some(1));
    assert_eq!(agents.prompted(digest::of_text("read")), Some(2));
    assert_eq!(agents.prompted(digest::of_text("write")), None);
}

#[test]
fn a_file_that_cannot_be_read_says_why_once() {
    let folder = Folder::new();
    folder.write("s/subagents/agent-a.jsonl", "\n \n");
    folder.write("s/subagents/agent-b.jsonl", ASKED);
    let mut agents = agents(&folder);
    std::fs::remove_file(folder.path().join("s/subagents/agent-b.jsonl")).expect("the file");
    assert_eq!(agents.file(0).check(), Err("holds no records".to_owned()));
    assert_eq!(agents.file(0).check(), Ok(false));
    assert_eq!(agents.file(1).check(), Err("is no regular file".to_owned()));
}

#[cfg(unix)]
#[test]
fn pipes_and_links_are_no_files() {
    let folder = Folder::new();
    folder.write("elsewhere.jsonl", ASKED);
    folder.write("s/subagents/agent-a.jsonl", ASKED);
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink(at("elsewhere.jsonl"), at("s/subagents/agent-b.jsonl")).expect("a link");
    std::os::unix::fs::symlink(at("s"), at("s/subagents/circle")).expect("a link");
    let listener = std::os::unix::net::UnixListener::bind(at("s/subagents/agent-c.jsonl")).expect("a socket");
    let mut agents = agents(&folder);
    assert_eq!(names(&agents), ["s/subagents/agent-a.jsonl"]);
    assert_eq!(["b", "c"].map(|id| agents.named(id, None)), [None, None]);
    drop(listener);
}

//! Prompts that were typed while Claude worked: each said once, and those that stand in the queue only, too.

use super::folder::Folder;

const BEGIN: &str = r#"{"type":"user","uuid":"u","message":{"content":"go"}}"#;

fn enqueue(text: &str) -> String {
    format!(
        r#"{{"type":"queue-operation","operation":"enqueue","timestamp":"2026-05-04T08:00:00Z","content":"{text}"}}"#
    )
}

/// Expects that of these lines, which follow a first prompt, those turns are told.
#[track_caller]
fn turns(lines: &[String], expected: &[&str]) {
    let folder = Folder::new();
    let log = [&[BEGIN.to_owned()], lines].concat().join("\n");
    folder.write("s.jsonl", log + "\n");
    let told = folder.records("s.jsonl");
    let turns: Vec<&str> = told.iter().map(String::as_str).filter(|line| line.contains("user ")).skip(1).collect();
    assert_eq!(turns, expected, "{told:#?}");
}

#[test]
fn a_prompt_that_stands_in_the_queue_only_is_the_humans() {
    turns(&[enqueue("and then?")], &["+ user line-2/prompt: and then?"]);
}

#[test]
fn a_prompt_that_comes_up_again_is_said_once() {
    let again = r#"{"type":"user","uuid":"v","parentUuid":"u","message":{"content":"and then?"}}"#.to_owned();
    turns(&[enqueue("and then?"), again.clone()], &["user v after=u: and then?"]);
    let block =
        r#"{"type":"user","uuid":"v","parentUuid":"u","message":{"content":[{"type":"text","text":"and then?"}]}}"#;
    turns(&[enqueue("and then?"), block.to_owned()], &["user v after=u: and then?"]);
    let attached = r#"{"type":"attachment","uuid":"v","parentUuid":"u","attachment":{"type":"queued_command","prompt":"and then?"}}"#;
    turns(&[enqueue("and then?"), attached.to_owned()], &["user v after=u: and then?"]);
    // Typed twice and said once: one of them was lost.
    turns(
        &[enqueue("and then?"), enqueue("and then?"), again],
        &["+ user line-3/prompt: and then?", "user v after=u: and then?"],
    );
}

#[test]
fn a_prompt_that_was_taken_back_was_never_said() {
    let operation = |word: &str| format!(r#"{{"type":"queue-operation","operation":"{word}"}}"#);
    turns(&[enqueue("no"), operation("popAll")], &[]);
    turns(&[enqueue("no"), enqueue("yes"), operation("remove")], &["+ user line-3/prompt: yes"]);
    let named = r#"{"type":"queue-operation","operation":"remove","content":"no"}"#.to_owned();
    turns(&[enqueue("yes"), enqueue("no"), named], &["+ user line-2/prompt: yes"]);
    // Who is handed the prompt says it, or it is lost.
    turns(&[enqueue("yes"), operation("dequeue")], &["+ user line-2/prompt: yes"]);
}

#[test]
fn commands_and_the_harnesss_own_words_in_the_queue_are_no_prompts() {
    turns(&[enqueue("/compact now"), enqueue("<task-notification>done</task-notification>"), enqueue("  ")], &[]);
    turns(&[enqueue("/ is a slash")], &["+ user line-2/prompt: / is a slash"]);
}

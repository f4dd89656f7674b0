//! Prompts of which only the queue tells, and those of which others tell as well.

use super::check;

fn queue(operation: &str, content: &str) -> String {
    let content = if content.is_empty() { String::new() } else { format!(r#","content":{content}"#) };
    format!(r#"{{"type":"queue-operation","operation":"{operation}"{content}}}"#)
}

fn said(id: &str, parent: &str, version: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{id}","parentUuid":"{parent}","version":"{version}","message":{{"content":"{id}"}}}}"#
    )
}

/// The turns that are told of a log whose records came from that version.
#[track_caller]
fn check_turns(version: &str, lines: &[&str], expected: &[&str]) {
    let first = said("a", "x", version);
    let last = said("z", "a", version);
    let log: Vec<_> = std::iter::once(first.as_str()).chain(lines.iter().copied()).chain([last.as_str()]).collect();
    let told = super::recorder::read("s", log.join("\n").as_bytes());
    let is_turn =
        |line: &&str| line.starts_with("user ") || line.starts_with("+ user ") || line.starts_with("assistant ");
    let turns: Vec<_> = told.iter().map(String::as_str).filter(is_turn).skip(1).collect();
    assert_eq!(turns, expected, "{log:?}");
}

const STOP: &str = r#""stop""#;

#[test]
fn a_prompt_that_went_into_claudes_work_stands_before_what_answers_it() {
    check(
        &[&said("a", "x", "2.1.23"), &queue("enqueue", STOP), &queue("remove", ""), &said("z", "a", "2.1.23")]
            .map(String::as_str)
            .join("\n"),
        &[
            "assistant a after=x: a",
            r#"event queue-operation line-2: {"raw":{"type":"queue-operation","operation":"enqueue","content":"stop"}}"#,
            r#"event queue-operation line-3: {"raw":{"type":"queue-operation","operation":"remove"}}"#,
            "+ user line-2/prompt after=a: stop",
            "assistant z after=line-2/prompt: z",
        ],
    );
}

#[test]
fn where_attachments_are_kept_one_that_was_taken_out_without_was_withdrawn() {
    let taken = [queue("enqueue", STOP), queue("remove", "")];
    let taken: Vec<_> = taken.iter().map(String::as_str).collect();
    for version in ["2.1.97", "2.1.220", ""] {
        check_turns(version, &taken, &["assistant z after=a: z"]);
    }
}

#[test]
fn a_prompt_that_a_message_or_an_attachment_repeats_is_told_once() {
    let attachment = r#"{"type":"attachment","uuid":"q","attachment":{"type":"queued_command","prompt":"stop"}}"#;
    let user = r#"{"type":"user","uuid":"q","message":{"content":[{"type":"text","text":"stop"}]}}"#;
    let lists: [Vec<String>; 4] = [
        vec![queue("enqueue", STOP), queue("dequeue", ""), user.to_owned()],
        vec![queue("enqueue", STOP), queue("remove", ""), attachment.to_owned()],
        vec![queue("enqueue", STOP), user.to_owned()],
        vec![queue("enqueue", STOP), attachment.to_owned(), queue("remove", "")],
    ];
    for lines in lists {
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        check_turns("2.1.23", &lines, &["user q: stop", "assistant z after=a: z"]);
    }
}

#[test]
fn a_prompt_that_never_left_the_queue_is_told_at_the_end() {
    check_turns("2.1.220", &[&queue("enqueue", STOP)], &["assistant z after=a: z", "+ user line-2/prompt: stop"]);
    check_turns(
        "2.1.220",
        &[&queue("enqueue", r#"[{"type":"text","text":"stop"}]"#)],
        &["assistant z after=a: z", "+ user line-2/prompt: stop"],
    );
}

#[test]
fn what_was_taken_back_and_what_is_no_prompt_is_told_as_the_queues_records_only() {
    check_turns("2.1.23", &[&queue("enqueue", STOP), &queue("popAll", STOP)], &["assistant z after=a: z"]);
    for content in [r#""/exit""#, r#"" ""#, "null", r#""<task-notification>x</task-notification>""#] {
        check_turns("2.1.23", &[&queue("enqueue", content)], &["assistant z after=a: z"]);
    }
}

#[test]
fn what_the_harness_put_in_the_queue_is_the_harnesss() {
    check_turns(
        "2.1.23",
        &[&queue("enqueue", r#""<task-notification>x</task-notification>""#), &queue("remove", "")],
        &[
            r#"+ user line-2/prompt after=a HARNESS signal="harness-wrapper": <task-notification>x</task-notification>"#,
            "assistant z after=line-2/prompt: z",
        ],
    );
}

#[test]
fn the_queue_is_first_in_first_out_unless_a_record_says_which() {
    let (one, two) = (queue("enqueue", r#""one""#), queue("enqueue", r#""two""#));
    let command = queue("enqueue", r#""/exit""#);
    check_turns(
        "2.1.23",
        &[&command, &one, &two, &queue("dequeue", ""), &queue("remove", ""), &queue("popAll", "")],
        &["+ user line-3/prompt after=a: one", "assistant z after=line-3/prompt: z"],
    );
    check_turns(
        "2.1.23",
        &[&one, &two, &queue("remove", r#""two""#), &queue("popAll", "")],
        &["+ user line-3/prompt after=a: two", "assistant z after=line-3/prompt: z"],
    );
}

#[test]
fn a_flood_of_prompts_is_remembered_up_to_a_limit() {
    let flood: Vec<_> = (0..2000).map(|nth| queue("enqueue", &format!(r#""{nth}""#))).collect();
    let told = super::recorder::read("s", (said("a", "x", "2.1.23") + "\n" + &flood.join("\n")).as_bytes());
    assert_eq!(told.iter().filter(|line| line.starts_with("+ user")).count(), 1024);
    let large = queue("enqueue", &format!("{:?}", "x".repeat(2_000_000)));
    let told = super::recorder::read("s", (said("a", "x", "2.1.23") + "\n" + &large).as_bytes());
    assert!(!told.iter().any(|line| line.starts_with("+ user")));
}

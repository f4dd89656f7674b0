//! What was dropped from the thread, and what was written again.

use super::check;

fn user(id: &str, text: &str) -> String {
    format!(r#"{{"id":"{id}","type":"user","content":"{text}"}}"#)
}

fn model(id: &str, text: &str) -> String {
    format!(r#"{{"id":"{id}","type":"gemini","content":"{text}","model":"g"}}"#)
}

/// A copy of a model's message, as lists that are written again have it.
fn copy(id: &str, text: &str) -> String {
    format!(r#"{{"id":"{id}","type":"gemini","content":[{{"text":"{text}"}}],"tokens":null,"thoughts":[]}}"#)
}

fn list(messages: &[String]) -> String {
    format!(r#"{{"$set":{{"messages":[{}]}}}}"#, messages.join(","))
}

#[test]
fn what_was_rewound_is_a_dead_end() {
    let rewind = r#"{"$rewindTo":"c"}"#;
    check(
        &[&user("a", "1"), &model("b", "2"), &user("c", "3"), &model("d", "4"), rewind, &user("e", "5")],
        &[
            "user a: 1",
            "assistant b after=a model=g: 2",
            "user c after=b: 3",
            "assistant d after=c model=g: 4",
            &format!("event rewind line-6 after=d: {rewind}"),
            "user e after=b: 5",
        ],
    );
}

#[test]
fn a_rewind_to_what_is_not_there_drops_all() {
    let rewind = r#"{"$rewindTo":"z"}"#;
    check(
        &[&user("a", "1"), rewind, &user("b", "2")],
        &["user a: 1", &format!("event rewind line-3 after=a: {rewind}"), "user b: 2"],
    );
}

#[test]
fn a_list_without_the_last_messages_drops_them() {
    let rebuilt = list(&[user("a", "1"), model("b", "2")]);
    check(
        &[&user("a", "1"), &model("b", "2"), &user("c", "3"), &rebuilt, &user("d", "4")],
        &[
            "user a: 1",
            "assistant b after=a model=g: 2",
            "user c after=b: 3",
            &format!("event checkpoint line-5 after=c: {rebuilt}"),
            "user d after=b: 4",
        ],
    );
}

#[test]
fn a_list_of_copies_under_new_ids_tells_nothing_twice() {
    let rebuilt = list(&[user("x", "1"), copy("y", "2")]);
    check(
        &[&user("a", "1"), &model("b", "2"), &rebuilt, &user("c", "3")],
        &[
            "user a: 1",
            "assistant b after=a model=g: 2",
            &format!("event checkpoint line-4 after=b: {rebuilt}"),
            "user c after=b: 3",
        ],
    );
}

#[test]
fn what_stands_in_a_list_alone_is_told_as_part_of_it() {
    const TEXT: &str = "[The previous response was interrupted before it completed.]";
    let rebuilt = list(&[user("a", "1"), copy("i", TEXT)]);
    check(
        &[&user("a", "1"), &rebuilt, &user("b", "2")],
        &[
            "user a: 1",
            &format!("event checkpoint line-3 after=a: {rebuilt}"),
            &format!("+ assistant i after=a HARNESS signal=\"interrupted-response\": {TEXT}"),
            "user b after=i: 2",
        ],
    );
}

#[test]
fn what_follows_a_compression_follows_its_summary() {
    let summary = user("s", "<state_snapshot>x</state_snapshot>");
    let thanks = copy("t", "Got it. Thanks for the additional context!");
    let rebuilt = list(&[summary.clone(), thanks, model("b", "2")]);
    check(
        &[&user("a", "1"), &model("b", "2"), &rebuilt, &user("c", "3")],
        &[
            "user a: 1",
            "assistant b after=a model=g: 2",
            &format!("event checkpoint line-4 after=b: {rebuilt}"),
            &format!("+ event compaction-summary s after=b: {{\"raw\":{summary}}}"),
            "+ assistant t after=s HARNESS signal=\"compression-acknowledgement\": Got it. Thanks for the additional context!",
            "user c after=t: 3",
        ],
    );
}

#[test]
fn copies_that_are_lines_before_their_list_are_duplicates() {
    let rebuilt = list(&[user("x", "1"), copy("y", "2")]);
    check(
        &[&user("a", "1"), &model("b", "2"), &user("x", "1"), &copy("y", "2"), &rebuilt, &user("c", "3")],
        &[
            "user a: 1",
            "assistant b after=a model=g: 2",
            "duplicate id=x after=a: a copy of a message told before",
            "duplicate id=y after=b: a copy of a message told before",
            &format!("event checkpoint line-6 after=b: {rebuilt}"),
            "user c after=b: 3",
        ],
    );
}

#[test]
fn a_user_who_says_the_same_again_says_it_again() {
    let rebuilt = list(&[user("a", "go on"), model("b", "2"), user("c", "go on")]);
    check(
        &[&user("a", "go on"), &model("b", "2"), &user("c", "go on"), &rebuilt, &model("d", "3")],
        &[
            "user a: go on",
            "assistant b after=a model=g: 2",
            "user c after=b: go on",
            &format!("event checkpoint line-5 after=c: {rebuilt}"),
            "assistant d after=c model=g: 3",
        ],
    );
}

fn notice(id: &str, text: &str) -> String {
    format!(r#"{{"id":"{id}","type":"info","content":"{text}"}}"#)
}

/// A list that a compression left: the summary, its acknowledgement, and what was kept.
fn compressed(kept: &[String]) -> String {
    let summary = user("s", "<state_snapshot>x</state_snapshot>");
    let thanks = copy("t", "Got it. Thanks for the additional context!");
    list(&[&[summary, thanks], kept].concat())
}

/// What is told of that list after the message `before`.
fn told_of(line: usize, rebuilt: &str, before: &str) -> [String; 3] {
    let summary = user("s", "<state_snapshot>x</state_snapshot>");
    let thanks = "Got it. Thanks for the additional context!";
    [
        format!("event checkpoint line-{line} after={before}: {rebuilt}"),
        format!("+ event compaction-summary s after={before}: {{\"raw\":{summary}}}"),
        format!("+ assistant t after=s HARNESS signal=\"compression-acknowledgement\": {thanks}"),
    ]
}

#[test]
fn a_prompt_rewound_after_a_compression_left_the_next_one_on_the_summary() {
    let rebuilt = compressed(&[model("b", "2")]);
    let rewind = r#"{"$rewindTo":"c"}"#;
    let [checkpoint, summary, thanks] = told_of(4, &rebuilt, "b");
    check(
        &[&user("a", "1"), &model("b", "2"), &rebuilt, &user("c", "3"), rewind, &user("d", "4")],
        &[
            "user a: 1",
            "assistant b after=a model=g: 2",
            &checkpoint,
            &summary,
            &thanks,
            "user c after=t: 3",
            &format!("event rewind line-6 after=c: {rewind}"),
            "user d after=t: 4",
        ],
    );
}

#[test]
fn a_list_built_once_more_after_a_compression_left_the_next_prompt_on_what_was_kept() {
    let rebuilt = compressed(&[model("b", "2")]);
    let [checkpoint, summary, thanks] = told_of(4, &rebuilt, "b");
    check(
        &[&user("a", "1"), &model("b", "2"), &rebuilt, &user("c", "3"), &rebuilt, &user("d", "4")],
        &[
            "user a: 1",
            "assistant b after=a model=g: 2",
            &checkpoint,
            &summary,
            &thanks,
            "user c after=t: 3",
            &format!("event checkpoint line-6 after=c: {rebuilt}"),
            "user d after=t: 4",
        ],
    );
}

#[test]
fn a_rewind_into_what_a_compression_kept_follows_the_summary_too() {
    let rebuilt = compressed(&[user("a", "1"), model("b", "2")]);
    let rewind = r#"{"$rewindTo":"b"}"#;
    let [checkpoint, summary, thanks] = told_of(4, &rebuilt, "b");
    check(
        &[&user("a", "1"), &model("b", "2"), &rebuilt, rewind, &user("d", "4")],
        &[
            "user a: 1",
            "assistant b after=a model=g: 2",
            &checkpoint,
            &summary,
            &thanks,
            &format!("event rewind line-5 after=t: {rewind}"),
            "user d after=t: 4",
        ],
    );
}

#[test]
fn a_notice_right_before_a_list_was_a_dead_end() {
    let rebuilt = list(&[user("a", "1"), model("b", "2")]);
    for kind in ["info", "warning", "error"] {
        let notice = notice("n", "Busy.").replace("\"info\"", &format!("\"{kind}\""));
        check(
            &[&user("a", "1"), &model("b", "2"), &notice, &rebuilt, &user("c", "3")],
            &[
                "user a: 1",
                "assistant b after=a model=g: 2",
                &format!("system n after=b HARNESS signal=\"{kind}-record\": Busy."),
                &format!("event checkpoint line-5 after=n: {rebuilt}"),
                "user c after=n: 3",
            ],
        );
    }
}

#[test]
fn notices_keep_their_place_before_a_compression_and_after_it() {
    let rebuilt = compressed(&[model("b", "2")]);
    let [checkpoint, summary, thanks] = told_of(5, &rebuilt, "n");
    check(
        &[
            &user("a", "1"),
            &model("b", "2"),
            &notice("n", "Busy."),
            &rebuilt,
            &notice("o", "Compressed."),
            &rebuilt,
            &user("c", "3"),
        ],
        &[
            "user a: 1",
            "assistant b after=a model=g: 2",
            "system n after=b HARNESS signal=\"info-record\": Busy.",
            &checkpoint,
            &summary,
            &thanks,
            "system o after=t HARNESS signal=\"info-record\": Compressed.",
            &format!("event checkpoint line-7 after=o: {rebuilt}"),
            "user c after=o: 3",
        ],
    );
}

#[test]
fn a_message_that_a_list_brings_follows_the_notice_before_it() {
    let rebuilt = list(&[user("a", "1"), copy("i", "More.")]);
    check(
        &[&notice("m", "Hi."), &user("a", "1"), &notice("n", "Busy."), &rebuilt, &user("c", "3")],
        &[
            "system m HARNESS signal=\"info-record\": Hi.",
            "user a after=m: 1",
            "system n after=a HARNESS signal=\"info-record\": Busy.",
            &format!("event checkpoint line-5 after=n: {rebuilt}"),
            "+ assistant i after=n: More.",
            "user c after=i: 3",
        ],
    );
}

#[test]
fn a_notice_about_what_a_list_drops_is_dropped_with_it() {
    let rebuilt = list(&[user("a", "1"), model("b", "2")]);
    check(
        &[&user("a", "1"), &model("b", "2"), &user("c", "3"), &notice("n", "Cancelled."), &rebuilt, &user("d", "4")],
        &[
            "user a: 1",
            "assistant b after=a model=g: 2",
            "user c after=b: 3",
            "system n after=c HARNESS signal=\"info-record\": Cancelled.",
            &format!("event checkpoint line-6 after=n: {rebuilt}"),
            "user d after=b: 4",
        ],
    );
}

#[test]
fn a_list_that_has_the_notices_tells_them_once_and_in_place() {
    let rebuilt = list(&[user("a", "1"), notice("n", "Busy."), model("b", "2")]);
    check(
        &[&user("a", "1"), &notice("n", "Busy."), &model("b", "2"), &notice("o", "Late."), &rebuilt, &user("c", "3")],
        &[
            "user a: 1",
            "system n after=a HARNESS signal=\"info-record\": Busy.",
            "assistant b after=n model=g: 2",
            "system o after=b HARNESS signal=\"info-record\": Late.",
            &format!("event checkpoint line-6 after=o: {rebuilt}"),
            "user c after=o: 3",
        ],
    );
}

//! Messages that a rebuilt list has another version of.

use super::check;

const ASK: &str = r#"{"id":"a","type":"user","content":"1"}"#;
const ANSWER: &str =
    r#"{"id":"r","type":"user","content":[{"functionResponse":{"id":"c","name":"glob","response":{"output":"x"}}}]}"#;

fn list(messages: &[&str]) -> String {
    format!(r#"{{"$set":{{"messages":[{}]}}}}"#, messages.join(","))
}

/// The message `m` with these fields.
fn model(fields: &str) -> String {
    format!(r#"{{"id":"m","type":"gemini",{fields}}}"#)
}

#[test]
fn a_call_that_only_a_list_has_was_lost_and_its_answer_an_orphan() {
    let bare = model(r#""content":"Look.","model":"g","tokens":{"input":5,"output":1}"#);
    let call = r#"{"functionCall":{"id":"c","name":"glob","args":{}}}"#;
    let rebuilt = list(&[ASK, &model(&format!(r#""content":[{{"text":"Look."}},{call}]"#))]);
    let without = list(&[ASK, &bare]);
    check(
        &[ASK, &bare, &rebuilt, ANSWER, &without],
        &[
            "user a: 1",
            "assistant m after=a model=g usage=5/1/-/- call=c:glob:3:{}: Look.",
            &format!("event checkpoint line-4 after=m: {rebuilt}"),
            "+ result c: x",
            "folded id=r after=m: results of tools",
            &format!("event checkpoint line-6 after=r: {without}"),
        ],
    );
}

#[test]
fn a_line_that_follows_the_list_which_brought_its_message_was_lost() {
    let rebuilt = list(&[ASK, &model(r#""content":"Hel""#)]);
    check(
        &[ASK, &rebuilt, &model(r#""content":"Hello","model":"g","tokens":{"input":5,"output":1}"#)],
        &[
            "user a: 1",
            &format!("event checkpoint line-3 after=a: {rebuilt}"),
            "+ assistant m after=a model=g usage=5/1/-/-: Hello",
            "duplicate: a version of a message that is told by its last",
        ],
    );
}

#[test]
fn what_a_second_list_adds_to_a_message_of_the_first_was_lost() {
    let first = list(&[ASK, &model(r#""content":"Look.""#)]);
    let second = list(&[ASK, &model(r#""content":[{"functionCall":{"id":"c","name":"glob","args":{}}}],"model":"g""#)]);
    check(
        &[ASK, &first, &second, ANSWER],
        &[
            "user a: 1",
            &format!("event checkpoint line-3 after=a: {first}"),
            "+ assistant m after=a model=g call=c:glob:3:{}: Look.",
            &format!("event checkpoint line-4 after=m: {second}"),
            "+ result c: x",
            "folded id=r after=m: results of tools",
        ],
    );
}

#[test]
fn a_call_that_both_versions_have_is_one_call() {
    let answered =
        r#""content":"","model":"g","toolCalls":[{"id":"c","name":"glob","args":{},"status":"success","result":"x"}]"#;
    let named = r#""content":[{"functionCall":{"id":"c","name":"glob","args":{}}}]"#;
    let nameless = r#""content":[{"functionCall":{"name":"glob","args":{}}}],"model":"g""#;
    for (line, listed, told) in [
        (answered, named, "call=c:glob:3:{} result=x"),
        (answered, nameless, "call=c:glob:3:{} result=x"),
        (nameless, named, "call=c:glob:3:{}"),
        (nameless, answered, "call=c:glob:3:{} result=x"),
    ] {
        let rebuilt = list(&[ASK, &model(listed)]);
        check(
            &[ASK, &model(line), &rebuilt],
            &[
                "user a: 1",
                &format!("assistant m after=a model=g {told}: "),
                &format!("event checkpoint line-4 after=m: {rebuilt}"),
            ],
        );
    }
}

#[test]
fn what_a_list_cut_short_stays_as_it_was_recorded() {
    let rebuilt = list(&[ASK, &model(r#""content":[{"text":"Lo..."}],"tokens":null,"thoughts":[]"#)]);
    let full = model(r#""content":"Look at it.","model":"g","thoughts":[{"subject":"A"}]"#);
    check(
        &[ASK, &full, &rebuilt],
        &[
            "user a: 1",
            "assistant m after=a model=g thinking=A: Look at it.",
            &format!("event checkpoint line-4 after=m: {rebuilt}"),
        ],
    );
}

//! One prompt, and all that is done for it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::call::{Call, TOOLS, call_id};
use super::chance::{Chance, quoted};
use super::log::Log;

/// Writes an exchange, a short one when `end` bytes are reached. Sub-agents' files go to `agents`, or their work into the
/// session's file where there is no such place.
pub(super) fn exchange(log: &mut Log<'_>, chance: &mut Chance, agents: Option<&Path>, end: u64) -> io::Result<()> {
    if chance.percent(2) {
        caveat(log, chance)?;
    }
    let prompt = chance.text(20..700);
    log.user(chance, &prompt, "")?;
    if chance.percent(40) {
        snapshot(log, chance)?;
    }
    if chance.percent(20) {
        let fields = format!(r#""attachment":{{"type":"todo_reminder","content":{}}}"#, quoted(&chance.text(50..400)));
        log.record(chance, "attachment", &fields)?;
    }
    for _ in 0..chance.number(2..10) {
        if log.written.bytes >= end {
            break;
        }
        if chance.percent(3) {
            delegate(log, chance, agents)?;
        } else {
            work(log, chance)?;
        }
    }
    match chance.number(0..100) {
        0..4 => api_error(log, chance),
        4..6 => interruption(log, chance),
        _ => {
            let blocks = [words(chance, 60..2500)];
            log.response(chance, &blocks, "end_turn")?;
            let fields = format!(r#""subtype":"turn_duration","durationMs":{}"#, chance.number(900..90_000));
            log.record(chance, "system", &fields).map(drop)
        }
    }
}

fn words(chance: &mut Chance, bytes: std::ops::Range<usize>) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(&chance.text(bytes)))
}

/// What comes before the calls of a response.
fn opening(chance: &mut Chance) -> Vec<String> {
    let mut blocks = Vec::new();
    if chance.percent(50) {
        let (thought, signature) = (quoted(&chance.text(80..2500)), chance.hex(240));
        blocks.push(format!(r#"{{"type":"thinking","thinking":{thought},"signature":"{signature}"}}"#));
    }
    if chance.percent(60) {
        blocks.push(words(chance, 30..900));
    }
    blocks
}

/// A response with one call or several at once, and their results.
fn work(log: &mut Log<'_>, chance: &mut Chance) -> io::Result<()> {
    let mut blocks = opening(chance);
    let count = chance.weighted(&[(1, 85), (2, 10), (3, 5)]);
    let calls: Vec<Call> = (0..count)
        .map(|_| {
            let tool = chance.weighted(TOOLS);
            Call::of(tool, chance)
        })
        .collect();
    blocks.extend(calls.iter().map(Call::block));
    log.response(chance, &blocks, "tool_use")?;
    for call in calls {
        log.written.ids += 1;
        if call.name == "Bash" && chance.percent(30) {
            progress(log, chance, &call.id)?;
        }
        log.record(chance, "user", &call.answer(log.agent.is_none()))?;
    }
    Ok(())
}

/// A row that says how far a command is.
fn progress(log: &mut Log<'_>, chance: &mut Chance, call: &str) -> io::Result<()> {
    let fields = format!(
        r#""data":{{"type":"bash_progress","output":{},"elapsedTimeSeconds":{}}},"toolUseID":"bash-progress-0","parentToolUseID":"{call}""#,
        quoted(&chance.text(20..400)),
        chance.number(2..60),
    );
    log.record(chance, "progress", &fields).map(drop)
}

/// A call that starts a sub-agent, the sub-agent's work, and what comes of it.
fn delegate(log: &mut Log<'_>, chance: &mut Chance, agents: Option<&Path>) -> io::Result<()> {
    let (agent, prompt) = (chance.hex(7), chance.text(100..1500));
    let (what, asked) = (quoted(&chance.words(10..40)), quoted(&prompt));
    let answer = words(chance, 400..4000);
    let call = Call {
        id: call_id(chance),
        name: "Task",
        input: format!(r#"{{"description":{what},"prompt":{asked},"subagent_type":"Explore"}}"#),
        content: format!("[{answer}]"),
        report: format!(
            r#"{{"status":"completed","agentId":"{agent}","prompt":{asked},"content":[{answer}],"totalDurationMs":{},"totalTokens":{},"totalToolUseCount":2}}"#,
            chance.number(500..90_000),
            chance.number(500..90_000),
        ),
        is_error: false,
    };
    let mut blocks = opening(chance);
    blocks.push(call.block());
    log.response(chance, &blocks, "tool_use")?;
    log.written.ids += 1;
    log.written.agents += 1;
    match agents {
        None => sub_agent(&mut log.sidechain(), chance, &prompt, answer)?,
        Some(folder) => {
            fs::create_dir_all(folder)?;
            let mut file = BufWriter::new(File::create(folder.join(format!("agent-{agent}.jsonl")))?);
            let mut own = Log { to: &mut file, agent: Some(agent), ..log.sidechain() };
            sub_agent(&mut own, chance, &prompt, answer)?;
            file.flush()?;
        }
    }
    log.record(chance, "user", &call.answer(true)).map(drop)
}

fn sub_agent(log: &mut Log<'_>, chance: &mut Chance, prompt: &str, answer: String) -> io::Result<()> {
    log.user(chance, prompt, "")?;
    for _ in 0..chance.number(1..4) {
        work(log, chance)?;
    }
    log.response(chance, &[answer], "end_turn")
}

/// Files that the harness keeps to go back to; no record of the conversation.
fn snapshot(log: &mut Log<'_>, chance: &mut Chance) -> io::Result<()> {
    let message = log.tip.clone().unwrap_or_default();
    let line = format!(
        r#"{{"type":"file-history-snapshot","messageId":"{message}","snapshot":{{"messageId":"{message}","trackedFileBackups":{{}},"timestamp":"{}"}},"isSnapshotUpdate":false}}"#,
        chance.time()
    );
    log.line(&line)
}

/// An error of the API that the harness shows as a reply.
fn api_error(log: &mut Log<'_>, chance: &mut Chance) -> io::Result<()> {
    // Put together: the placeholder is spelled in the plugin alone.
    let model = format!("<{}>", "synthetic");
    let error = chance.weighted(&[
        (r#"529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, 6),
        ("Request timed out.", 2),
        ("Connection error.", 1),
    ]);
    let fields = format!(
        r#""message":{{"id":"{}","model":"{model}","role":"assistant","stop_reason":"stop_sequence","stop_sequence":"","type":"message","usage":{{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"service_tier":null}},"content":[{{"type":"text","text":{}}}]}},"error":"server_error","isApiErrorMessage":true"#,
        chance.uuid(),
        quoted(&format!("API Error: {error}")),
    );
    log.record(chance, "assistant", &fields)?;
    log.written.ids += 1;
    log.written.harness_turns += 1;
    Ok(())
}

/// The harness's note, in the user's place, that the human stopped the model.
fn interruption(log: &mut Log<'_>, chance: &mut Chance) -> io::Result<()> {
    log.written.harness_turns += 1;
    log.user(chance, "[Request interrupted by user]", "")
}

/// The harness's note, in the user's place, on what local commands print.
fn caveat(log: &mut Log<'_>, chance: &mut Chance) -> io::Result<()> {
    log.written.harness_turns += 1;
    log.user(
        chance,
        "Caveat: The messages below were generated by the user while running local commands.",
        r#","isMeta":true"#,
    )
}

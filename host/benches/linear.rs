//! Deriving takes time in proportion to the session, whatever its ids are.
//!
//! `cargo bench -p toolpath-host --bench linear` derives each hostile session in two sizes, the second twice the first,
//! and prints both times (the best of three) and their ratio. A ratio near 2 is linear, near 4 is quadratic.

#![expect(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

use std::time::{Duration, Instant};

use toolpath_host::derive::{Detail, Form};
use toolpath_host::document::{self, Choices};
use toolpath_host::intake::{Ended, Intake, Reading};
use toolpath_host::json::Json;
use toolpath_host::record::{EventRecord, Origin, ResultRecord, SessionFacts, TurnRecord};
use toolpath_host::report::Report;
use toolpath_host::turn::{Role, TokenUsage, ToolInvocation, ToolResult, Turn};
use toolpath_host::words::Words;

const SIZE: usize = 200_000;

/// Tells a session of that many records.
type Session = fn(&mut Reading<'_>, usize);

fn main() {
    let sessions: [(&str, Session); 8] = [
        ("turns with one id, all different", |reading, n| tell(reading, n, |n| turn("x", &n.to_string()))),
        ("turns with one id, all equal", |reading, n| tell(reading, n, |_| turn("x", ""))),
        ("turns in one group", |reading, n| {
            tell(reading, n, |n| TurnRecord { usage_is_snapshot: true, ..grouped(&n.to_string()) });
        }),
        ("turns that follow each other", |reading, n| tell(reading, n, |n| follows(n, n.saturating_sub(1)))),
        ("turns that all follow the first", |reading, n| tell(reading, n, |n| follows(n, 0))),
        ("results for calls that nobody made", |reading, n| (0..n).for_each(|n| result(reading, n))),
        ("calls answered in reverse order", |reading, n| {
            tell(reading, n, |n| calls(&n.to_string()));
            (0..n).rev().for_each(|n| result(reading, n));
        }),
        ("events without an id", |reading, n| (0..n).for_each(|_| event(reading))),
    ];
    println!("{:38} {:>10} {:>10} {:>6}", "session", SIZE, 2 * SIZE, "ratio");
    for (name, session) in sessions {
        let [one, two] = [SIZE, 2 * SIZE].map(|size| best(|| derive(|reading| session(reading, size))));
        println!("{name:38} {one:>9.3?} {two:>9.3?} {:>6.2}", two.as_secs_f64() / one.as_secs_f64());
    }
}

fn best(run: impl Fn()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..3).map(time).min().unwrap_or_default()
}

fn derive(session: impl Fn(&mut Reading<'_>)) {
    let mut report = Report::new("bench", false);
    let detail = Detail { thinking: true, tools: true };
    let mut reading = Reading::new("bench", "bench", "bench", Form::Document, detail, &mut report);
    reading.session(SessionFacts { id: "bench".to_owned(), ..SessionFacts::default() });
    session(&mut reading);
    let records = reading.balance().total();
    let conversation = reading.finish(Ended::Done(records)).expect("a whole session");
    document::write(conversation, &Choices::default(), &mut std::io::sink()).expect("nothing is written");
}

fn tell(reading: &mut Reading<'_>, count: usize, turn: impl Fn(usize) -> TurnRecord<'static>) {
    for n in 0..count {
        reading.turn(turn(n));
    }
}

fn turn(id: &str, text: &str) -> TurnRecord<'static> {
    TurnRecord {
        turn: Turn {
            id: id.to_owned().into(),
            parent_id: None,
            group_id: None,
            role: Role::Assistant,
            timestamp: "".into(),
            text: text.to_owned().into(),
            thinking: None,
            tool_uses: Vec::new(),
            model: Some("m".into()),
            stop_reason: None,
            token_usage: None,
            attributed_token_usage: None,
            environment: None,
            delegations: Vec::new(),
            file_mutations: Vec::new(),
            harness_generated: false,
        },
        usage_is_snapshot: false,
        parent_or_previous: false,
        branch: None,
        signal: None,
        needs_result: Vec::new(),
        partial: Vec::new(),
        part_of_record: false,
        origin: Origin::default(),
    }
}

fn grouped(id: &str) -> TurnRecord<'static> {
    let mut record = turn(id, "");
    record.turn.group_id = Some("g".into());
    record.turn.token_usage = Some(TokenUsage { output_tokens: Some(7), ..TokenUsage::default() });
    record
}

fn follows(id: usize, parent: usize) -> TurnRecord<'static> {
    let mut record = turn(&id.to_string(), "");
    record.turn.parent_id = Some(parent.to_string().into());
    record
}

fn calls(id: &str) -> TurnRecord<'static> {
    let mut record = turn(id, "");
    let mut input = Json::told("{}");
    input.read();
    let call = ToolInvocation { id: id.to_owned().into(), name: "x".into(), input, result: None, category: None };
    record.turn.tool_uses.push(call);
    record
}

fn result(reading: &mut Reading<'_>, call: usize) {
    reading.tool_result(ResultRecord {
        call_id: call.to_string().into(),
        result: ToolResult { content: Words::of("ok"), is_error: false },
        file_mutations: Vec::new(),
        partial: Vec::new(),
        delegations: Vec::new(),
        timestamp: "".into(),
        part_of_record: false,
        origin: Origin::default(),
    });
}

fn event(reading: &mut Reading<'_>) {
    reading.event(EventRecord {
        id: "".into(),
        timestamp: "".into(),
        event_type: "x".into(),
        parent_id: None,
        data: None,
        unreadable: false,
        branch: None,
        part_of_record: false,
        origin: Origin::default(),
    });
}

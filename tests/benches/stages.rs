//! What each stage of a run takes by itself, on one made-up session.
//!
//! `cargo bench -p toolpath-tests --bench stages`; throughput is in bytes of the session, so that stages compare.
//!
//! - **reading**: the plugin parses the session and tells a sink that only counts. A plugin is a dynamic library, so it is
//!   opened as the host opens it, and asked through its own root module.
//! - **taking in**: the same, and the host makes its records of what it is told.
//! - **crossing**: those records to the frames that a worker sends, and back. The pipe between is left out: it needs a second
//!   process, and `compare` measures that.
//! - **deriving**: records to steps, which are serialised as they come, up to the end of the session.
//! - **writing**: the steps to a document, in memory. A writer that ignores what it gets would show nothing: of a session this
//!   short the steps are still in memory, and are only handed on.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tempfile::TempDir;
use toolpath_host::derive::{Detail, Form};
use toolpath_host::document::{self, Choices};
use toolpath_host::frame::Frame;
use toolpath_host::intake::{Conversation, Ended, Flow, Intake, Reading};
use toolpath_host::plugin::feed::{self, Session};
use toolpath_host::plugin::inspect::inspect;
use toolpath_host::plugin::locate::Located;
use toolpath_host::plugin::open::open;
use toolpath_host::record::{Diagnostic, EventRecord, ResultRecord, SessionFacts, SkipRecord, TurnRecord};
use toolpath_host::report::Report;
use toolpath_plugin_api::abi_stable::std_types::{ROption, RSlice, RStr};
use toolpath_plugin_api::path_bytes;
use toolpath_plugin_api::table::{Answer, Context, ProviderRef, SinkTable, SinkView};
use toolpath_plugin_api::view::{
    DiagnosticView, EventView, OutcomeView, ReadRequestView, SessionView, SkipView, ToolResultView, TurnView,
};
use toolpath_tests::generate::{Wanted, session};
use toolpath_tests::released;

/// Bytes of the session.
const SIZE: u64 = 4_000_000;

criterion_main!(benches);
criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30);
    targets = stages
}

fn stages(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("session.jsonl");
    let mut bytes = Vec::new();
    session(Wanted { bytes: SIZE, seed: 1 }, &mut bytes).expect("memory takes everything");
    fs::write(&path, &bytes).expect("room in the temporary folder");
    let plugin = plugin();
    let mut told = Frames(Vec::new());
    assert!(matches!(take_in(plugin, &path, &mut told), Ended::Done(_)));
    let told = told.0;

    let mut group = criterion.benchmark_group("stages");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("reading", |bench| bench.iter(|| read(plugin, &path)));
    group.bench_function("taking in", |bench| bench.iter(|| take_in(plugin, &path, &mut Ignored)));
    group.bench_function("crossing: to frames", |bench| {
        let frames: Vec<Frame<'_>> = frames(&told).collect();
        let mut buffer = Vec::with_capacity(told.len());
        bench.iter(|| {
            buffer.clear();
            frames.iter().for_each(|frame| frame.write(&mut buffer));
            black_box(buffer.len())
        });
    });
    group.bench_function("crossing: from frames", |bench| {
        bench.iter(|| frames(&told).for_each(|frame| drop(black_box(frame))));
    });
    group.bench_function("deriving", |bench| {
        bench.iter_batched(|| frames(&told).collect(), derive, BatchSize::PerIteration);
    });
    group.bench_function("writing", |bench| {
        let mut out = Vec::with_capacity(bytes.len());
        let write = |conversation| {
            out.clear();
            document::write(conversation, &Choices::default(), &mut out).expect("memory takes everything");
            black_box(out.len())
        };
        bench.iter_batched(|| derive(frames(&told).collect()), write, BatchSize::PerIteration);
    });
    group.finish();
}

fn plugin() -> ProviderRef {
    let file = released().plugins["claude"].clone();
    let inspected = inspect(&file).expect("a plugin");
    open(&Located { file, inspected }).expect("a plugin that opens")
}

/// Lets the plugin tell a sink that does nothing.
fn read(plugin: ProviderRef, path: &Path) {
    let table = SinkTable { session, turn, tool_result, event, skip, diagnostic, fail };
    return ask(plugin, path, &table);

    extern "C" fn session(_: Context, view: &SessionView<'_>) -> Answer {
        heard(view)
    }
    extern "C" fn turn(_: Context, view: &TurnView<'_>) -> Answer {
        heard(view)
    }
    extern "C" fn tool_result(_: Context, view: &ToolResultView<'_>) -> Answer {
        heard(view)
    }
    extern "C" fn event(_: Context, view: &EventView<'_>) -> Answer {
        heard(view)
    }
    extern "C" fn skip(_: Context, view: &SkipView<'_>) -> Answer {
        heard(view)
    }
    extern "C" fn diagnostic(_: Context, view: &DiagnosticView<'_>) -> Answer {
        heard(view)
    }
    extern "C" fn fail(_: Context, message: RStr<'_>) -> Answer {
        heard(&message)
    }
    fn heard<T>(view: &T) -> Answer {
        black_box(view);
        Answer::GO_ON
    }
}

fn ask(plugin: ProviderRef, path: &Path, table: &SinkTable) {
    let bytes = path_bytes(path);
    let request = ReadRequestView {
        path: RSlice::from_slice(&bytes),
        name: "session.jsonl".into(),
        session_id: ROption::RNone,
        options: RSlice::EMPTY,
    };
    let sink = SinkView { context: Context(std::ptr::null_mut()), table };
    let outcome = plugin.read()(&request, &sink);
    assert_eq!(outcome.code, OutcomeView::DONE);
}

fn take_in(plugin: ProviderRef, path: &Path, intake: &mut dyn Intake) -> Ended {
    feed::read(plugin, &Session { path, name: "session.jsonl", id: None, is_copy: false }, intake)
}

fn derive(frames: Vec<Frame<'_>>) -> Conversation {
    let mut report = Report::new("session.jsonl", false);
    let detail = Detail { thinking: true, tools: true };
    let mut reading = Reading::new("session.jsonl", "claude", "claude-code", Form::Document, detail, &mut report);
    for frame in frames {
        match frame {
            Frame::Session(facts) => reading.session(*facts),
            Frame::Turn(record) => reading.turn(*record),
            Frame::Result(record) => reading.tool_result(*record),
            Frame::Event(record) => reading.event(*record),
            Frame::Skip(record) => reading.skip(record),
            Frame::Diagnostic(diagnostic) => reading.diagnostic(diagnostic),
            other => unreachable!("a session has no {other:?}"),
        };
    }
    let records = reading.balance().total();
    reading.finish(Ended::Done(records)).expect("a whole session")
}

/// The frames that lie one behind the other.
fn frames(mut bytes: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk()?;
        let (frame, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        bytes = rest;
        Some(Frame::read(frame[0], &frame[1..]).expect("a frame as it was written"))
    })
}

/// Keeps frames of what it is told, as a worker sends them.
struct Frames(Vec<u8>);

impl Frames {
    fn keep(&mut self, frame: &Frame<'_>) -> Flow {
        frame.write(&mut self.0);
        Flow::GoOn
    }
}

impl Intake for Frames {
    fn session(&mut self, facts: SessionFacts) -> Flow {
        self.keep(&Frame::Session(Box::new(facts)))
    }

    fn turn(&mut self, record: TurnRecord<'_>) -> Flow {
        self.keep(&Frame::Turn(Box::new(record)))
    }

    fn tool_result(&mut self, record: ResultRecord<'_>) -> Flow {
        self.keep(&Frame::Result(Box::new(record)))
    }

    fn event(&mut self, record: EventRecord<'_>) -> Flow {
        self.keep(&Frame::Event(Box::new(record)))
    }

    fn skip(&mut self, record: SkipRecord<'_>) -> Flow {
        self.keep(&Frame::Skip(record))
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> Flow {
        self.keep(&Frame::Diagnostic(diagnostic))
    }
}

/// Does nothing with what it is told.
struct Ignored;

fn ignore<T>(record: T) -> Flow {
    drop(black_box(record));
    Flow::GoOn
}

impl Intake for Ignored {
    fn session(&mut self, facts: SessionFacts) -> Flow {
        ignore(facts)
    }

    fn turn(&mut self, record: TurnRecord<'_>) -> Flow {
        ignore(record)
    }

    fn tool_result(&mut self, record: ResultRecord<'_>) -> Flow {
        ignore(record)
    }

    fn event(&mut self, record: EventRecord<'_>) -> Flow {
        ignore(record)
    }

    fn skip(&mut self, record: SkipRecord<'_>) -> Flow {
        ignore(record)
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> Flow {
        ignore(diagnostic)
    }
}

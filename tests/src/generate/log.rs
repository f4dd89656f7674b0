//! Lines of a log: what every record has, and the chain of parents.

use std::io::{self, Write};

use super::chance::{Chance, quoted};
use super::{Tokens, Written};

/// The project of every session.
pub(super) const PROJECT: &str = "/home/dev/orchard";

/// Models, each with how often it answers.
const MODELS: &[(&str, u64)] =
    &[("claude-sonnet-4-5-20250929", 7), ("claude-opus-4-6", 2), ("claude-haiku-4-5-20251001", 1)];

/// The log of a session or of a sub-agent.
pub(super) struct Log<'l> {
    pub(super) to: &'l mut dyn Write,
    pub(super) session: &'l str,
    pub(super) version: &'static str,
    /// The sub-agent whose file this is.
    pub(super) agent: Option<String>,
    /// A sub-agent's work.
    pub(super) is_sidechain: bool,
    /// The record that the next one follows.
    pub(super) tip: Option<String>,
    pub(super) written: &'l mut Written,
}

impl Log<'_> {
    /// A log of a sub-agent's work within this one.
    pub(super) fn sidechain(&mut self) -> Log<'_> {
        Log {
            to: self.to,
            session: self.session,
            version: self.version,
            agent: None,
            is_sidechain: true,
            tip: None,
            written: self.written,
        }
    }

    /// A line as it is.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        self.to.write_all(line.as_bytes())?;
        self.to.write_all(b"\n")?;
        self.written.bytes += line.len() as u64 + 1;
        self.written.lines += 1;
        Ok(())
    }

    /// A record of that type, with those fields, that follows the last one; answers its id.
    pub(super) fn record(&mut self, chance: &mut Chance, kind: &str, fields: &str) -> io::Result<String> {
        let id = chance.uuid();
        let parent = self.tip.as_deref().map_or("null".to_owned(), quoted);
        let agent = self.agent.as_deref().map_or(String::new(), |agent| format!(r#","agentId":"{agent}""#));
        let line = format!(
            r#"{{"parentUuid":{parent},"isSidechain":{},"userType":"external","cwd":"{PROJECT}","sessionId":"{}","version":"{}","gitBranch":"main"{agent},"type":"{kind}",{fields},"uuid":"{id}","timestamp":"{}"}}"#,
            self.is_sidechain,
            self.session,
            self.version,
            chance.time(),
        );
        self.line(&line)?;
        self.written.ids += 1;
        self.tip = Some(id.clone());
        Ok(id)
    }

    /// A user record with that text and those further fields.
    pub(super) fn user(&mut self, chance: &mut Chance, text: &str, more: &str) -> io::Result<()> {
        let fields = format!(r#""message":{{"role":"user","content":{}}}{more}"#, quoted(text));
        self.record(chance, "user", &fields).map(drop)
    }

    /// A response of a model: a line for each block, which all repeat the usage as it was so far.
    pub(super) fn response(&mut self, chance: &mut Chance, blocks: &[String], stop: &str) -> io::Result<()> {
        let (message, request) = (format!("msg_01{}", chance.hex(22)), format!("req_011{}", chance.hex(21)));
        let model = chance.weighted(MODELS);
        let total = Tokens {
            input: chance.number(2..800),
            output: chance.number(20..3000),
            cache_read: chance.number(0..150_000),
            cache_write: chance.number(0..8000),
        };
        for (index, block) in blocks.iter().enumerate() {
            let is_last = index + 1 == blocks.len();
            let output = if is_last { total.output } else { chance.number(1..9) };
            let stop = if is_last { quoted(stop) } else { "null".to_owned() };
            let usage = Tokens { output, ..total };
            let fields = format!(
                r#""message":{{"model":"{model}","id":"{message}","type":"message","role":"assistant","content":[{block}],"stop_reason":{stop},"stop_sequence":null,"usage":{}}},"requestId":"{request}""#,
                usage_of(usage),
            );
            self.record(chance, "assistant", &fields)?;
        }
        self.written.ids += 1;
        self.written.responses += 1;
        self.written.tokens += total;
        Ok(())
    }
}

fn usage_of(tokens: Tokens) -> String {
    let Tokens { input, output, cache_read, cache_write } = tokens;
    format!(
        r#"{{"input_tokens":{input},"cache_creation_input_tokens":{cache_write},"cache_read_input_tokens":{cache_read},"cache_creation":{{"ephemeral_5m_input_tokens":{cache_write},"ephemeral_1h_input_tokens":0}},"output_tokens":{output},"service_tier":"standard"}}"#
    )
}

//! Records in, one disposition each: the host's side of what a plugin tells.
//!
//! [`Intake`] is what a plugin's calls become, whoever carries them: the sink within this process does, and a pipe from another
//! can. [`Reading`] is the one that derives: it keeps the order of calls, reads the JSON in them, adds up the balance and holds
//! the host's own failures, which never cross to the plugin.

use std::sync::Arc;

use crate::derive::{Became, CountedElsewhere, Deriver, Detail, Form, Steps};
use crate::error::Error;
use crate::record::{
    Diagnostic, Disposition, EventRecord, Origin, ResultRecord, SessionFacts, Severity, SkipRecord, TurnRecord,
};
use crate::report::Report;
use crate::stream::{Provider, Stream};

/// Whether the host wants more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Tell me more.
    GoOn,
    /// No more.
    Stop,
}

/// Takes in one session, call by call, in the order in which the plugin tells it.
pub trait Intake {
    /// Facts of the session; before anything else, and again whenever more is known.
    fn session(&mut self, facts: SessionFacts) -> Flow;
    /// A message.
    fn turn(&mut self, record: TurnRecord<'_>) -> Flow;
    /// The result of an earlier call.
    fn tool_result(&mut self, record: ResultRecord<'_>) -> Flow;
    /// A record that is no message.
    fn event(&mut self, record: EventRecord<'_>) -> Flow;
    /// A record of which no step is made.
    fn skip(&mut self, record: SkipRecord<'_>) -> Flow;
    /// A sentence for the user.
    fn diagnostic(&mut self, diagnostic: Diagnostic) -> Flow;
}

/// How a plugin's reading ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It read everything: that many records.
    Done(u64),
    /// It could not read the session, for this reason.
    Failed(String),
    /// The host told it to stop.
    Stopped,
    /// It panicked with this message.
    Panicked(String),
}

/// What became of each record of a session; the sum is the number of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Steps for turns.
    pub turns: u64,
    /// Parts of other records' steps.
    pub folded: u64,
    /// Steps for events.
    pub events: u64,
    /// Repetitions of earlier records.
    pub duplicates: u64,
    /// Steps that keep the raw text of what could not be read.
    pub unreadable: u64,
}

impl Balance {
    /// Adds another session's.
    pub fn add(&mut self, other: Self) {
        self.turns += other.turns;
        self.folded += other.folded;
        self.events += other.events;
        self.duplicates += other.duplicates;
        self.unreadable += other.unreadable;
    }

    /// All records.
    pub fn total(&self) -> u64 {
        self.turns + self.folded + self.events + self.duplicates + self.unreadable
    }
}

/// A turn that the harness wrote itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessTurn {
    /// Its step.
    pub step: String,
    /// Where it stands.
    pub origin: Origin,
    /// Position in which the harness shows it.
    pub role: String,
    /// What it says, as far as a sentence can hold it.
    pub text: String,
    /// The signal that gave it away; `None` when the plugin did not name it.
    pub signal: Option<String>,
}

/// A session that was read whole.
#[derive(Debug)]
pub struct Conversation {
    /// Provider id.
    pub provider: String,
    /// What is known of the session.
    pub facts: SessionFacts,
    /// Its steps.
    pub steps: Steps,
    /// What became of its records.
    pub balance: Balance,
    /// The turns that the harness wrote itself, where only sums were asked for.
    pub harness_turns: Vec<HarnessTurn>,
}

/// Bytes that a session's id may have: it stands in every step.
const LONGEST_ID: usize = 4096;

/// A plugin's own words, as far as a sentence can hold them.
pub(crate) fn shortened(words: String) -> String {
    const MOST: usize = 1000;
    if words.len() <= MOST {
        return words;
    }
    let end = (0..=MOST).rev().find(|&at| words.is_char_boundary(at)).unwrap_or(0);
    format!("{}...", &words[..end])
}

/// What a plugin calls the provider of sessions that do not name one.
const UNNAMED: &str = "unknown";

impl Conversation {
    /// The provider's id, unless nobody named it.
    pub fn source(&self) -> Option<&str> {
        self.facts.provider_id.as_deref().or(Some(&*self.provider).filter(|id| *id != UNNAMED))
    }
}

/// Derives what it takes in.
#[derive(Debug)]
pub struct Reading<'r> {
    /// How messages name the session.
    name: &'r str,
    /// How messages name the plugin.
    plugin: &'r str,
    provider: String,
    form: Form,
    detail: Detail,
    stream: Option<Stream<'r>>,
    set: Set,
    harness_turns: Vec<HarnessTurn>,
    begun: Option<Begun>,
    balance: Balance,
    /// Where a record stands that repeats an earlier one: its parts repeat that one's parts.
    repeated: Option<Origin>,
    report: &'r mut Report,
    failed: Option<Error>,
}

/// How a session stands to others that are read with it.
#[derive(Clone, Debug, Default)]
pub enum Set {
    /// There are none.
    #[default]
    Alone,
    /// What it counts for each response is noted.
    Noted,
    /// The responses that others count are left out.
    Without(Arc<CountedElsewhere>),
}

/// What exists once the session's ids are known.
#[derive(Debug)]
struct Begun {
    facts: SessionFacts,
    deriver: Deriver,
}

impl<'r> Reading<'r> {
    /// Reads the session `name` through `plugin`, whose provider id is `provider` unless the session says otherwise.
    pub fn new(
        name: &'r str,
        plugin: &'r str,
        provider: &str,
        form: Form,
        detail: Detail,
        report: &'r mut Report,
    ) -> Self {
        Self {
            name,
            plugin,
            provider: provider.to_owned(),
            form,
            detail,
            stream: None,
            set: Set::Alone,
            harness_turns: Vec::new(),
            begun: None,
            balance: Balance::default(),
            repeated: None,
            report,
            failed: None,
        }
    }

    /// What became of the records so far.
    pub fn balance(&self) -> Balance {
        self.balance
    }

    /// Reads it as one of several.
    pub fn within(mut self, set: Set) -> Self {
        self.set = set;
        self
    }

    /// Lets the steps leave through `stream` as soon as they may.
    pub fn streaming(mut self, stream: Stream<'r>) -> Self {
        self.stream = Some(stream);
        self
    }

    /// Ends the reading, and the stream: its last line says that it is whole.
    pub fn finish_stream(
        mut self,
        ended: Ended,
        check: impl FnOnce(&Conversation) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stream = self.stream.take();
        let conversation = self.finish(ended)?;
        check(&conversation)?;
        let source = conversation.source().map(str::to_owned);
        let provider = Provider { id: &conversation.provider, source: source.as_deref() };
        match stream {
            Some(stream) => stream.finish(&provider, &conversation.facts, conversation.steps),
            None => Ok(()),
        }
    }

    /// Ends the reading. Nothing of a session that was not read whole gets out.
    pub fn finish(mut self, ended: Ended) -> Result<Conversation, Error> {
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        let records = match ended {
            Ended::Done(records) => records,
            Ended::Failed(reason) => {
                let reason = if reason.trim().is_empty() { "cannot be read".to_owned() } else { shortened(reason) };
                return Err(Error::Session { name: self.name.to_owned(), reason });
            }
            Ended::Stopped => return Err(self.offence("stopped without being told to")),
            Ended::Panicked(message) => return Err(self.offence(&format!("panicked: {}", shortened(message)))),
        };
        let told = self.balance.total();
        if told != records {
            return Err(self.offence(&format!("read {records} records but accounted for {told}")));
        }
        let Some(begun) = self.begun.take() else { return Err(self.offence("never told which session it read")) };
        let provider = begun.facts.provider_id.clone().unwrap_or_else(|| self.provider.clone());
        let (steps, diagnostics) = begun.deriver.finish().map_err(Error::Spool)?;
        diagnostics.into_iter().for_each(|diagnostic| self.report.add(diagnostic));
        let (balance, harness_turns) = (self.balance, self.harness_turns);
        Ok(Conversation { provider, facts: begun.facts, steps, balance, harness_turns })
    }

    fn offence(&self, offence: &str) -> Error {
        Error::offence(self.name, self.plugin, offence)
    }

    /// Runs one call on the deriver; the first failure is kept, and every call after it is answered with stop.
    fn derive<T>(&mut self, call: &str, run: impl FnOnce(&mut Deriver) -> std::io::Result<T>) -> Option<T> {
        if self.failed.is_some() {
            return None;
        }
        let Some(begun) = &mut self.begun else {
            self.failed = Some(self.offence(&format!("called `{call}` before `session`")));
            return None;
        };
        match run(&mut begun.deriver) {
            Ok(done) => {
                for diagnostic in begun.deriver.take_diagnostics() {
                    self.report.add(diagnostic);
                }
                self.advance_stream();
                Some(done)
            }
            Err(err) => {
                self.failed = Some(Error::Spool(err));
                None
            }
        }
    }

    fn advance_stream(&mut self) {
        let (Some(stream), Some(begun)) = (&mut self.stream, &mut self.begun) else { return };
        let named = begun.facts.provider_id.as_deref();
        let id = named.unwrap_or(&self.provider);
        let provider = Provider { id, source: named.or(Some(id).filter(|id| *id != UNNAMED)) };
        if let Err(error) = stream.advance(&provider, &begun.facts, &mut begun.deriver) {
            self.failed = Some(error);
        }
    }

    fn flow(&self) -> Flow {
        if self.failed.is_some() { Flow::Stop } else { Flow::GoOn }
    }

    /// Says of each JSON text that could not be taken as it is, why.
    fn report_odd(&mut self, odd: Vec<String>, origin: Origin) {
        for reason in odd {
            let message = format!("a JSON value is kept as text: {reason}");
            let code = "json-kept-as-text".to_owned();
            self.report.add(Diagnostic { severity: Severity::Warning, code, message, origin });
        }
    }

    /// Takes note of what a record became, for its parts that are told after it.
    fn note(&mut self, became: Option<Became>, origin: Origin) {
        match became {
            Some(Became::Duplicate) => self.repeated = Some(origin),
            Some(_) if self.repeated != Some(origin) => self.repeated = None,
            _ => {}
        }
    }

    fn count(&mut self, became: Option<Became>, part_of_record: bool) -> Flow {
        if let (Some(became), false) = (became, part_of_record) {
            let count = match became {
                Became::Turn => &mut self.balance.turns,
                Became::Folded => &mut self.balance.folded,
                Became::Event => &mut self.balance.events,
                Became::Duplicate => &mut self.balance.duplicates,
            };
            *count += 1;
        }
        self.flow()
    }
}

impl Intake for Reading<'_> {
    fn session(&mut self, facts: SessionFacts) -> Flow {
        let offence = if facts.provider_id.as_deref() == Some("") {
            Some("named a provider without a name")
        } else if facts.id.len() > LONGEST_ID {
            Some("named a session by more than 4096 bytes")
        } else {
            None
        };
        if let (Some(offence), None) = (offence, &self.failed) {
            self.failed = Some(self.offence(offence));
        }
        if self.failed.is_some() {
            return Flow::Stop;
        }
        self.report.name_files(&facts.files);
        match &mut self.begun {
            Some(begun) => begun.facts.learn(facts),
            None => {
                let provider = facts.provider_id.as_deref().unwrap_or(&self.provider);
                let mut deriver = Deriver::new(provider, &facts.id, self.form, self.detail);
                match &self.set {
                    Set::Alone => {}
                    Set::Noted => deriver.note_responses(),
                    Set::Without(elsewhere) => deriver.leave_out(elsewhere.clone()),
                }
                self.begun = Some(Begun { facts, deriver });
            }
        }
        self.flow()
    }

    fn turn(&mut self, mut record: TurnRecord<'_>) -> Flow {
        let (part, origin) = (record.part_of_record, record.origin);
        self.report_odd(record.read_json(), origin);
        let harness = record.turn.harness_generated.then(|| HarnessTurn {
            step: String::new(),
            origin,
            role: record.turn.role.word().to_owned(),
            text: shortened(record.turn.text.to_string()),
            signal: record.signal.clone(),
        });
        let became = self.derive("turn", |deriver| deriver.turn(record));
        self.note(became, origin);
        if let (Some(Became::Turn), Some(mut harness)) = (became, harness) {
            self.report.harness_turn(&harness);
            if self.form == Form::Tally {
                harness.step = self.derive("turn", Deriver::last_turn_id).flatten().unwrap_or_default();
                self.harness_turns.push(harness);
            }
        }
        self.count(became, part)
    }

    fn tool_result(&mut self, mut record: ResultRecord<'_>) -> Flow {
        let (part, origin) = (record.part_of_record, record.origin);
        self.report_odd(record.read_json(), origin);
        let became = self.derive("tool_result", |deriver| deriver.result(record));
        self.note(became, origin);
        self.count(became, part)
    }

    fn event(&mut self, mut record: EventRecord<'_>) -> Flow {
        let part = record.part_of_record;
        self.report_odd(record.read_json(), record.origin);
        if part && record.origin.length > 0 && self.repeated == Some(record.origin) {
            // It stands in the document already, as a part of the record that this one repeats.
            return self.flow();
        }
        let unreadable = record.unreadable;
        let became = self.derive("event", |deriver| deriver.event(record));
        if unreadable && became.is_some() && !part {
            self.balance.unreadable += 1;
            return self.flow();
        }
        self.count(became, part)
    }

    fn skip(&mut self, record: SkipRecord<'_>) -> Flow {
        let became = match record.disposition {
            Disposition::Folded => Became::Folded,
            Disposition::Duplicate => Became::Duplicate,
        };
        let done = self.derive("skip", |deriver| {
            deriver.skip(&record);
            Ok(became)
        });
        self.count(done, false)
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> Flow {
        self.report.add(diagnostic);
        self.flow()
    }
}

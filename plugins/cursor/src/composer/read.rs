//! From bubbles to what is told: the order of things.
//!
//! The composer's list of headers is the conversation. A bubble that is not in it was taken back, or belongs to an error
//! that nobody listed, or was written before its header was; it is told where its time puts it, on a line of its own
//! unless one of the latter two explains it. So that it does not become the end of the conversation, nothing that was
//! taken back is told after the last listed bubble.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::{RawValue, object_without, quoted};
use toolpath_plugin_api::{
    Category, DelegationRecord, Disposition, Origin, PluginError, Role, Severity, Sink, SkipRecord, Summary,
    ToolResultRecord, ToolUseRecord,
};

use crate::composer::bubble::{Bubble, Speaker, Tool, model_of};
use crate::composer::store::Composers;
use crate::facts::{Facts, folder_of, moment_of, path_of};
use crate::row::{Line, Row};
use crate::shape::{self, Args, Capability, Composer, Header};
use crate::signal::{self, Shape, Signal};
use crate::words::Prompt;
use crate::{edits, tools};

/// Sessions that start sessions that start sessions: deeper ones are not followed.
const DEEPEST: usize = 16;

/// Reads one composer and those that it started.
pub(crate) struct Reader<'s> {
    store: &'s Composers,
    facts: Facts,
    /// Composers that were told.
    told: HashSet<String>,
    records: u64,
}

/// What all bubbles of a composer have in common.
struct Common<'c> {
    id: &'c str,
    /// The model chosen for the composer, if it has a name.
    model: Option<String>,
    /// Tool calls of older versions, by bubble.
    tools: BTreeMap<String, Box<RawValue>>,
    /// Composers that it started and that were not told yet, with the calls that did.
    children: Vec<(String, Option<String>)>,
}

/// A bubble that is not listed.
struct Orphan {
    time: String,
    id: String,
    /// It belongs to the conversation all the same.
    is_own: bool,
}

/// What the listed bubbles span.
#[derive(Debug, Default)]
struct Listing {
    missing: u64,
    last_there: Option<usize>,
    times: Option<(String, String)>,
}

impl Listing {
    fn see(&mut self, nth: usize, time: Option<String>) {
        self.last_there = Some(nth);
        if let Some(time) = time {
            let first = self.times.take().map_or_else(|| time.clone(), |(first, _)| first);
            self.times = Some((first, time));
        }
    }

    fn holds(&self, time: &str) -> bool {
        self.times.as_ref().is_some_and(|(first, last)| first.as_str() <= time && time <= last.as_str())
    }

    fn is_behind(&self, time: &str) -> bool {
        self.times.as_ref().is_none_or(|(_, last)| last.as_str() < time)
    }
}

impl<'s> Reader<'s> {
    /// Tells the composer `id`, and how many records there were.
    pub(crate) fn read(store: &'s Composers, id: &str, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let Some(row) = store.composer(id)? else {
            return Err(PluginError::new(format!("holds no session `{id}`")));
        };
        let mut reader = Self { store, facts: Facts::new(id), told: HashSet::from([id.to_owned()]), records: 0 };
        let composer: Composer<'_> = row.shape();
        let head = store.head(id).object_or_default();
        let either = |of: fn(&Composer<'_>) -> Option<String>| of(&composer).or_else(|| of(&head));
        reader.facts.title = either(|composer| composer.name.filled().map(Into::into));
        reader.facts.directory = either(|composer| folder_of(composer.workspace));
        for time in [composer.created, composer.updated].into_iter().filter_map(moment_of) {
            reader.facts.see(&time);
        }
        reader.facts.tell(|session| sink.session(session))?;
        let is_child = [composer.caller, head.caller].into_iter().any(|caller| caller.json().is_some());
        reader.composer(id, &row, Line { is_child, ..Line::default() }, sink)?;
        reader.facts.tell(|session| sink.session(session))?;
        Ok(Summary { records: reader.records })
    }

    fn composer(&mut self, id: &str, row: &Row, mut line: Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        let composer: Composer<'_> = row.shape();
        let created = moment_of(composer.created).unwrap_or_default();
        self.count(row, sink)?;
        match &row.data {
            Ok(json) => {
                let data = format!(r#"{{"composer":{}}}"#, without_secrets(json));
                let mut event = line.event("composer", id, &created, None, row.origin);
                sink.event(event.data(&data))?;
            }
            Err(_) => row.unreadable(&line, sink)?,
        }
        line.previous = Some(id.to_owned());
        let mut common = Common {
            id,
            model: model_of(composer.model).map(Into::into),
            tools: tools_of(composer.capabilities),
            children: self.store.children(id, &composer)?,
        };
        let is_aborted = composer.status.is("aborted");
        let headers = composer.headers.list().unwrap_or_default();
        let within = composer.conversation.list().unwrap_or_default();
        if headers.is_empty() && !within.is_empty() {
            for (nth, raw) in within.iter().enumerate() {
                let bubble: shape::Bubble<'_> = raw.object_or_default();
                let own = bubble.id.filled().map_or_else(|| format!("{id}:{}", nth + 1), Into::into);
                let row = Row::new(own, raw.json().unwrap_or("null"), true, row.origin);
                let is_last = is_aborted && nth + 1 == within.len();
                self.bubble(&row, None, is_last, &mut line, &mut common, sink)?;
            }
        } else {
            let is_live = composer.status.is("generating");
            self.listed(&headers, is_aborted, is_live, row.origin, &mut line, &mut common, sink)?;
        }
        for (child, _) in std::mem::take(&mut common.children) {
            if self.child(&child, None, &child, &line, sink)? {
                let message = format!("the sub-agent's session `{child}` is named by no call of its caller");
                sink.diagnostic(Severity::Info, "orphan-sub-agent", &message, row.origin)?;
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "a list, what its composer says of it, and where it is told")]
    fn listed(
        &mut self,
        headers: &[Field<'_>],
        is_aborted: bool,
        is_live: bool,
        origin: Origin,
        line: &mut Line,
        common: &mut Common<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let id_of = |raw: &Field<'_>| {
            let header: Header<'_> = raw.object_or_default();
            header.id.filled().or_else(|| raw.filled()).map(|id| id.into_owned())
        };
        let known: HashSet<u64> = headers.iter().filter_map(id_of).map(|id| digest(&id)).collect();
        let mut span = Listing::default();
        // Which listed bubble is the last has to be known before it is told, and so which of them are there.
        for (nth, id) in headers.iter().filter_map(id_of).enumerate() {
            match self.store.bubble(common.id, &id)? {
                Some(row) => span.see(nth, time_of(&row)),
                None => span.missing += 1,
            }
        }
        if span.missing > 0 {
            let message = format!("{} of {} listed bubbles are not there", span.missing, headers.len());
            sink.diagnostic(Severity::Info, "missing-bubbles", &message, origin)?;
        }
        let mut orphans = self.orphans(common.id, &known, &span, is_live, sink)?.into_iter().peekable();
        let mut ids = headers.iter().filter_map(id_of).enumerate();
        let mut next = self.next_listed(&mut ids, common.id)?;
        while let Some((nth, row)) = next {
            next = self.next_listed(&mut ids, common.id)?;
            let is_last = Some(nth) == span.last_there;
            let time = time_of(&row);
            let mut aside: Option<Line> = None;
            let mut later = Vec::new();
            let is_before = |orphan: &Orphan| is_last || time.as_deref().is_some_and(|time| *orphan.time < *time);
            while let Some(orphan) = orphans.next_if(is_before) {
                if orphan.is_own && is_last && span.is_behind(&orphan.time) {
                    later.push(orphan);
                } else {
                    let line = if orphan.is_own { &mut *line } else { aside.get_or_insert_with(|| line.clone()) };
                    self.orphan(&orphan, line, common, sink)?;
                }
            }
            // A prompt without a time was sent when the reply to it came, at the latest.
            let following = next.as_ref().and_then(|(_, row)| time_of(row));
            self.bubble(&row, following.as_deref(), is_aborted && is_last, line, common, sink)?;
            for orphan in later {
                self.orphan(&orphan, line, common, sink)?;
            }
        }
        // Without a listed bubble there is no conversation to keep clear of.
        for orphan in orphans {
            self.orphan(&orphan, line, common, sink)?;
        }
        Ok(())
    }

    /// The next listed bubble that is there, and its place in the list.
    fn next_listed(
        &self,
        ids: &mut impl Iterator<Item = (usize, String)>,
        composer: &str,
    ) -> Result<Option<(usize, Row)>, PluginError> {
        for (nth, id) in ids {
            if let Some(row) = self.store.bubble(composer, &id)? {
                return Ok(Some((nth, row)));
            }
        }
        Ok(None)
    }

    fn orphan(
        &mut self,
        orphan: &Orphan,
        line: &mut Line,
        common: &mut Common<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        match self.store.bubble(common.id, &orphan.id)? {
            Some(row) => self.bubble(&row, None, false, line, common, sink),
            None => Ok(()),
        }
    }

    /// The bubbles that are not listed, in the order of their times.
    fn orphans(
        &self,
        composer: &str,
        known: &HashSet<u64>,
        span: &Listing,
        is_live: bool,
        sink: &mut Sink<'_>,
    ) -> Result<Vec<Orphan>, PluginError> {
        let (keys, damage) = self.store.keys(&format!("bubbleId:{composer}:"))?;
        if let Some(damage) = damage {
            let message = format!("{damage}; bubbles that are not listed may be missing");
            sink.diagnostic(Severity::Error, "damaged-store", &message, Origin::default())?;
        }
        let mut orphans = Vec::new();
        for id in keys.into_iter().filter(|key| !known.contains(&digest(key))) {
            let Some(row) = self.store.bubble(composer, &id)? else { continue };
            let bubble = Bubble::of(row.shape(), Field::default());
            let time = bubble.time.unwrap_or_default();
            let is_own = (bubble.error.is_some() && span.holds(&time)) || (is_live && span.is_behind(&time));
            orphans.push(Orphan { time, id, is_own });
        }
        orphans.sort_by(|a, b| (&a.time, &a.id).cmp(&(&b.time, &b.id)));
        Ok(orphans)
    }

    /// Tells one bubble; `time` stands in for one that a prompt lacks.
    fn bubble(
        &mut self,
        row: &Row,
        time: Option<&str>,
        is_aborted: bool,
        line: &mut Line,
        common: &mut Common<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let tool = common.tools.get(&row.id).map(|tool| Field::of(tool)).unwrap_or_default();
        let bubble = Bubble::of(row.shape(), tool);
        if self.facts.directory.is_none() {
            self.facts.directory = directory(&bubble.shape);
            if self.facts.directory.is_some() {
                self.facts.tell(|session| sink.session(session))?;
            }
        }
        let own = bubble.time.as_deref().or(time.filter(|_| bubble.speaker == Speaker::User));
        let time = own.unwrap_or_default().to_owned();
        self.facts.see(&time);
        self.count(row, sink)?;
        match (&row.data, bubble.speaker) {
            (Err(_), _) => row.unreadable(line, sink)?,
            (Ok(json), Speaker::Other) => {
                let data = format!(r#"{{"bubble":{json}}}"#);
                let mut event = line.event("bubble", &row.id, &time, line.previous.as_deref(), row.origin);
                sink.event(event.data(&data))?;
                let message = format!("`{}` is a bubble of no known type; it is kept as an event", row.id);
                sink.diagnostic(Severity::Info, "unknown-record-type", &message, row.origin)?;
            }
            (Ok(_), Speaker::User) => self.prompt(row, &bubble, &time, line, sink)?,
            (Ok(_), Speaker::Assistant) => self.reply(row, &bubble, &time, is_aborted, line, common, sink)?,
        }
        line.previous = Some(row.id.clone());
        Ok(())
    }

    fn prompt(
        &mut self,
        row: &Row,
        bubble: &Bubble<'_>,
        time: &str,
        line: &mut Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let prompt = Prompt::of(&bubble.text);
        let signal = if prompt.is_context {
            Some(Signal::ContextOnly)
        } else if line.is_child && line.branch.is_none() && !line.has_prompt {
            Some(Signal::SubAgentPrompt)
        } else {
            None
        };
        line.has_prompt |= !prompt.is_context;
        let mut turn = line.turn(Role::User, &row.id, time, row.origin);
        turn.text(&prompt.text);
        if let Some(signal) = signal {
            turn.harness_generated(signal.json());
        }
        sink.turn(&turn)?;
        for context in prompt.context {
            beside("context", &quoted(context), row, time, line, sink)?;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "a bubble, what is known around it, and where it is told")]
    fn reply(
        &mut self,
        row: &Row,
        bubble: &Bubble<'_>,
        time: &str,
        is_aborted: bool,
        line: &Line,
        common: &mut Common<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let has_reply = bubble.has_reply();
        let shape = Shape {
            has_reply,
            is_thought: bubble.is_thought(),
            has_error: bubble.error.is_some(),
            has_status: bubble.status.is_some(),
            is_aborted,
        };
        let signal = signal::of_reply(shape);
        let usage = bubble.usage();
        if signal.is_none() && !has_reply && !shape.is_thought && usage.is_none() {
            let skip = SkipRecord::new(Disposition::Folded, "an empty mark of the editor's", row.origin);
            return Ok(sink.skip(&skip.link(Some(&row.id), line.previous.as_deref()))?);
        }
        let model = bubble.model().map(|model| model.into_owned()).or_else(|| common.model.clone());
        let notice = bubble.error.as_ref().or(bubble.status.as_ref().filter(|_| !has_reply));
        let text = match notice.filter(|_| signal.is_some()) {
            Some(notice) => notice.words.as_str(),
            None => &bubble.text,
        };
        let stop = if bubble.error.is_some() { Some("error") } else { is_aborted.then_some("aborted") };
        let mut turn = line.turn(Role::Assistant, &row.id, time, row.origin);
        turn.text(text).thinking(bubble.thinking.as_deref()).stop_reason(stop);
        let call = bubble.tool.as_ref().map(|tool| (tool.id.clone().unwrap_or_else(|| row.id.clone()), tool));
        if let Some((id, tool)) = &call {
            turn.tool_use(tool_use(id, &tool.name, &tool.input, row.origin));
        }
        match signal {
            Some(signal) => {
                turn.harness_generated(signal.json());
            }
            None => {
                turn.model(model.as_deref());
                if let Some(usage) = usage {
                    turn.usage(usage);
                }
            }
        }
        sink.turn(&turn)?;
        for (name, notice) in [("error", &bubble.error), ("service-status", &bubble.status)] {
            if let Some(notice) = notice {
                beside(name, &notice.json, row, time, line, sink)?;
            }
        }
        if let Some(summary) = bubble.shape.summary.json().filter(|json| json.starts_with(['{', '"'])) {
            beside("conversation-summary", summary, row, time, line, sink)?;
        }
        match call {
            Some((id, tool)) => self.result(&id, tool, row, time, line, common, sink),
            None => Ok(()),
        }
    }

    /// Tells what a call started, and its result.
    #[expect(clippy::too_many_arguments, reason = "a call, its bubble, and where it is told")]
    fn result(
        &mut self,
        id: &str,
        tool: &Tool,
        row: &Row,
        time: &str,
        line: &Line,
        common: &mut Common<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let args: Args<'_> = serde_json::from_str(&tool.input).unwrap_or_default();
        let is_handed_over = tools::category_of(&tool.name) == Category::DELEGATION;
        let own: Vec<String> = common
            .children
            .iter()
            .filter(|(_, call)| call.as_deref() == Some(id))
            .map(|(child, _)| child.clone())
            .collect();
        common.children.retain(|(child, _)| !own.contains(child));
        let agent = args.agent.filled().map(|agent| agent.into_owned());
        for child in &own {
            self.child(child, Some(id), agent.as_deref().unwrap_or(child), line, sink)?;
        }
        let Some((content, is_error)) = &tool.result else { return Ok(()) };
        let edits = if *is_error {
            Vec::new()
        } else {
            let args = [Field::parse(tool.params.as_deref().unwrap_or_default()), Field::parse(&tool.input)];
            let text_of = |key: &str| self.store.text(key);
            edits::of(&tool.name, &args, Field::parse(content), &text_of, self.facts.directory.as_deref())
        };
        let mut result = ToolResultRecord::new(id, content, *is_error, row.origin);
        result.timestamp(time).part_of_record(true);
        for edit in &edits {
            result.mutation(edit.record(id));
        }
        let prompt = args.prompt.text().unwrap_or_default();
        if let Some(agent) = own.first().or(agent.as_ref()).filter(|_| is_handed_over) {
            result.delegation(DelegationRecord::new(agent, &prompt).result(Some(content)));
        }
        Ok(sink.tool_result(&result)?)
    }

    /// Tells the composer `id` as a branch of `line`, unless it was told or is not there.
    fn child(
        &mut self,
        id: &str,
        call: Option<&str>,
        agent: &str,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<bool, PluginError> {
        if line.depth >= DEEPEST || !self.told.insert(id.to_owned()) {
            return Ok(false);
        }
        let Some(row) = self.store.composer(id)? else { return Ok(false) };
        self.composer(id, &row, line.of_agent(call, agent), sink)?;
        Ok(true)
    }

    fn count(&mut self, row: &Row, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        self.records += 1;
        row.note(sink)
    }
}

/// A call whose result is recorded, if there is one.
pub(crate) fn tool_use<'c>(id: &'c str, name: &'c str, input: &'c str, origin: Origin) -> ToolUseRecord<'c> {
    let category = tools::category_of(name);
    let told = ToolUseRecord::new(id, name, input, origin).category(category);
    if category == Category::FILE_WRITE { told.write_needs_result() } else { told }
}

fn beside(name: &str, json: &str, row: &Row, time: &str, line: &Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
    let data = format!(r#"{{{}:{json}}}"#, quoted(name));
    let mut event = line.event(name, "", time, Some(&row.id), row.origin);
    Ok(sink.event(event.data(&data).part_of_record())?)
}

fn time_of(row: &Row) -> Option<String> {
    Bubble::of(row.shape(), Field::default()).time
}

/// The folder that a bubble names, where its composer names none.
fn directory(bubble: &shape::Bubble<'_>) -> Option<String> {
    let first = bubble.folders.list().and_then(|folders| folders.first().copied());
    let uri = first.unwrap_or_default().filled().and_then(|uri| path_of(&uri));
    bubble.folder.filled().map(Into::into).or(uri)
}

/// Tool calls of older versions: in a capability, as a map that may be written into a string.
fn tools_of(capabilities: Field<'_>) -> BTreeMap<String, Box<RawValue>> {
    let mut tools = BTreeMap::new();
    for raw in capabilities.list().unwrap_or_default() {
        let capability: Capability<'_> = raw.object_or_default();
        if capability.kind.count() != Some(15) {
            continue;
        }
        let data: Capability<'_> = capability.data.object_or_default();
        let text = data.tools.text();
        let json = text.as_deref().or(data.tools.json()).unwrap_or_default();
        tools.extend(serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(json).unwrap_or_default());
    }
    tools
}

/// A composer's fields but for the bubbles within it, which are told themselves, and the keys of its encryption.
fn without_secrets(json: &str) -> String {
    let is_secret = |key: &str| key == "conversation" || key.to_ascii_lowercase().contains("encryptionkey");
    object_without(json, |key, _| is_secret(key)).unwrap_or_else(|| "{}".to_owned())
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

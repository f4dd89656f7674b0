//! From a file to what is told: the order of things, and what becomes of each record.

mod lists;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};

use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::kit::lines::{trim, within};
use toolpath_plugin_api::{Disposition, EventRecord, Origin, PluginError, Severity, Sink, SkipRecord, Stopped};

use crate::active::{Active, Entry};
use crate::agents::Agents;
use crate::copies::{self, Copies};
use crate::digest::{self, Id};
use crate::lines::{End, Mended, Piece, Pieces, mend};
use crate::place::Place;
use crate::scan::What;
use crate::shape::Record;
use crate::source::{Layout, Raw, Source};
use crate::survey::{Survey, is_field};
use crate::turns::{Message, Told};

/// Sub-agents that hand work on deeper than this are told at the end.
const DEEPEST: usize = 16;

/// What the files of a session share.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) agents: Agents,
    /// Names of the files read.
    pub(crate) files: Vec<String>,
    /// Calls whose results were told.
    pub(crate) answered: HashSet<Id>,
    pub(crate) records: u64,
}

/// Reads one file of a session.
pub(crate) struct Reader {
    path: PathBuf,
    length: u64,
    layout: Layout,
    pub(crate) survey: Survey,
    copies: Copies,
    file: u32,
    /// The sub-agent whose file it is: the branch as JSON, and what names begin with.
    branch: Option<String>,
    prefix: String,
    depth: usize,
    active: Active,
    parent: Option<String>,
    after_summary: bool,
    /// The header of a sub-agent's file, until the branch has begun: before, it would stand on the main line.
    held: Option<(String, String, Origin)>,
    /// Ids of messages that stand nowhere but in a rebuilt list.
    born: HashMap<Id, Box<str>>,
    messages: u64,
}

/// The file at `path` up to `length`: one that grows as fast as it is read would never come to an end.
fn open(path: &Path, length: u64) -> std::io::Result<Take<File>> {
    Ok(File::open(path)?.take(length))
}

impl Reader {
    /// Looks through the file at `path`.
    pub(crate) fn new(path: PathBuf, file: u32) -> Result<Self, PluginError> {
        let length = std::fs::metadata(&path)?.len();
        let layout = Layout::of(open(&path, length)?)?;
        let survey = Survey::of(open(&path, length)?, layout)?;
        let copies = if survey.has_lists { copies::of(open(&path, length)?)? } else { Copies::default() };
        Ok(Self {
            path,
            length,
            layout,
            survey,
            copies,
            file,
            branch: None,
            prefix: String::new(),
            depth: 0,
            active: Active::default(),
            parent: None,
            after_summary: false,
            held: None,
            born: HashMap::new(),
            messages: 0,
        })
    }

    /// Tells every record of the file.
    pub(crate) fn tell(&mut self, session: &mut Session, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        if let Some(head) = self.survey.head.take() {
            session.records += 1;
            let origin = Origin { file: self.file, ..Origin::default() };
            self.header(format!("{}session", self.prefix), &head, origin, sink)?;
        }
        let mut source = Source::new(open(&self.path, self.length)?, self.layout);
        while let Some(raw) = source.next()? {
            self.raw(&raw, session, sink)?;
        }
        Ok(self.tell_held(sink)?)
    }

    fn header(&mut self, name: String, json: &str, origin: Origin, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        if self.branch.is_some() && self.parent.is_none() && self.held.is_none() {
            self.held = Some((name, json.to_owned(), origin));
            return Ok(());
        }
        sink.event(&self.place(name, origin).event("session", json))
    }

    fn tell_held(&mut self, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let Some((name, json, origin)) = self.held.take() else { return Ok(()) };
        sink.event(&self.place(name, origin).event("session", &json))
    }

    fn raw(&mut self, raw: &Raw<'_>, session: &mut Session, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        let origin = Origin { file: self.file, ..raw.origin };
        let mended = mend(raw.bytes);
        if self.is_field_of_head(raw, &mended) {
            return Ok(());
        }
        if mended.has_invalid_utf8 {
            sink.diagnostic(Severity::Warning, "invalid-utf8", "bytes that are no UTF-8 were replaced", origin)?;
        }
        if mended.has_lone_surrogate {
            sink.diagnostic(Severity::Info, "lone-surrogate", "halves of surrogate pairs were replaced", origin)?;
        }
        self.messages += 1;
        if raw.is_too_long() {
            let reason = "the record is too long, and only its beginning is kept";
            return Ok(self.unreadable(&mended.text, reason, 0, origin, session, sink)?);
        }
        if raw.what != What::Message {
            let text = match &raw.what {
                What::Field(key) => format!("{}:{}", String::from_utf8_lossy(key), mended.text),
                _ => mended.text.clone().into_owned(),
            };
            if text.is_empty() {
                return Ok(sink.diagnostic(Severity::Error, "unreadable-record", "the file ends too early", origin)?);
            }
            let reason = if raw.is_last { "the file ends inside a field" } else { "expected a message or a field" };
            return Ok(self.unreadable(&text, reason, 0, origin, session, sink)?);
        }
        let end = if raw.is_last { End::File } else { End::Whole };
        let mut count = 0;
        for (nth, piece) in Pieces::of(&mended.text, end).enumerate() {
            count += 1;
            let is_placed = mended.is_as_it_was();
            let origin = if is_placed { within(origin, &mended.text, piece.text()) } else { origin };
            match piece {
                Piece::Record(json) => self.piece(json, nth, origin, is_placed, session, sink)?,
                Piece::Unreadable(text, reason) => self.unreadable(text, &reason, nth, origin, session, sink)?,
            }
        }
        if count == 0 && !raw.bytes.iter().all(u8::is_ascii_whitespace) {
            let nuls = format!("{} NUL bytes", raw.bytes.iter().filter(|&&byte| byte == 0).count());
            self.unreadable(&nuls, "the line holds nothing but NUL bytes", 0, origin, session, sink)?;
        }
        Ok(())
    }

    fn is_field_of_head(&self, raw: &Raw<'_>, mended: &Mended<'_>) -> bool {
        let What::Field(key) = &raw.what else { return false };
        !raw.is_too_long() && is_field(&String::from_utf8_lossy(key), trim(&mended.text))
    }

    /// Tells one record, whose text stands in the file as it is when it `is_placed`.
    fn piece(
        &mut self,
        json: &str,
        nth: usize,
        origin: Origin,
        is_placed: bool,
        session: &mut Session,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        session.records += 1;
        let record: Record<'_> = serde_json::from_str(json).unwrap_or_default();
        let name = self.name(nth, origin);
        let is_log = self.layout == Layout::Lines;
        if let Some(target) = record.rewind_to.text().filter(|_| is_log) {
            return self.rewind(&target, &name, json, origin, sink);
        }
        if let Some(id) = record.id.filled() {
            return self.version(&id, record, json, origin, is_placed, session, sink);
        }
        if let Some(patch) = record.set.object::<Record<'_>>().filter(|_| is_log) {
            return self.patch(&patch, record.set, &name, json, origin, session, sink);
        }
        if is_log && record.session_id.filled().is_some() && record.project_hash.text().is_some() {
            self.header(name.clone(), json, origin, sink)?;
            if record.messages.is_list() {
                self.rebuild(record.messages, &name, origin, session, sink)?;
            }
            return Ok(());
        }
        if record.kind().is_some() && record.body().json().is_some() {
            let message = Message::of(record, json, &name);
            return self.message(message, &name, origin, None, session, sink);
        }
        let data = format!(r#"{{"raw":{json}}}"#);
        sink.event(&self.place(name, origin).event(&record.kind().unwrap_or("unknown".into()), &data))?;
        Ok(())
    }

    /// Tells a version of a message: the last instead of the first, and the others not.
    #[expect(clippy::too_many_arguments, reason = "a record, its text and its place, and to whom it is told")]
    fn version(
        &mut self,
        id: &str,
        record: Record<'_>,
        json: &str,
        origin: Origin,
        is_placed: bool,
        session: &mut Session,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let key = digest::of_id(id);
        if let Some(&original) = self.copies.get(&key) {
            let original = self.id_of(original)?;
            let skip = SkipRecord::new(Disposition::Duplicate, "a copy of a message told before", origin);
            return Ok(sink.skip(&skip.link(Some(id), original.as_deref()))?);
        }
        let known = self.survey.versions.get_mut(&key);
        let Some(known) = known else {
            let message = Message::of(record, json, id);
            return self.message(message, id, origin, None, session, sink);
        };
        if known.is_told() {
            let reason = "a version of a message that is told by its last";
            return Ok(sink.skip(&SkipRecord::new(Disposition::Duplicate, reason, origin))?);
        }
        known.tell();
        let latest = *known;
        let place = latest.origin(self.file);
        if is_placed && (place.offset, place.length) != (origin.offset, origin.length) {
            // The last version is told in the first one's place, and the first is the duplicate later on.
            let bytes = self.at(place)?;
            let mended = mend(&bytes);
            if let Some(message) = Message::version_of(trim(&mended.text), id) {
                return self.message(message, id, place, None, session, sink);
            }
        }
        let message = Message::of(record, json, id);
        self.message(message, id, origin, None, session, sink)
    }

    fn at(&self, place: Origin) -> Result<Vec<u8>, PluginError> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(place.offset))?;
        let mut bytes = Vec::new();
        file.take(place.length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Tells a message with what a rebuilt list adds to it; `within` names the message before it in such a list, when
    /// it stands there alone.
    fn message(
        &mut self,
        message: Message<'_>,
        id: &str,
        origin: Origin,
        within: Option<&Option<String>>,
        session: &mut Session,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let Some(place) = self.survey.listed(id, self.file) else {
            return self.whole(&message, id, origin, within, session, sink);
        };
        let bytes = self.at(place)?;
        let mended = mend(&bytes);
        let message = match Message::version_of(&mended.text, id) {
            Some(other) => message.completed(other, id),
            None => message,
        };
        self.whole(&message, id, origin, within, session, sink)
    }

    /// Tells a message, and the branches that its calls began.
    fn whole(
        &mut self,
        message: &Message<'_>,
        id: &str,
        origin: Origin,
        within: Option<&Option<String>>,
        session: &mut Session,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let mut handed: Vec<(&str, PathBuf)> = Vec::new();
        if self.depth < DEEPEST {
            for call in &message.calls {
                let path = call.agent_id.as_deref().and_then(|agent| session.agents.take(agent));
                handed.extend(path.map(|path| (&*call.id, path)));
            }
        }
        let later: Vec<&str> = handed.iter().map(|(call, _)| *call).collect();
        let branch = self.branch.clone();
        // On a branch the host knows who asked; read by itself, a sub-agent's session does not say.
        let nobody = self.survey.is_sub_agent && branch.is_none();
        let place = Place {
            id: id.into(),
            parent: within.unwrap_or(&self.parent).clone(),
            time: message.record.timestamp.text().unwrap_or_default(),
            branch: branch.as_deref(),
            origin,
            is_part: within.is_some(),
        };
        let told = message.tell(&place, self.after_summary, nobody, &later, &mut session.answered, sink)?;
        self.after_summary = told == Told::Summary;
        if told != Told::Nothing {
            self.parent = Some(id.to_owned());
            self.active.push(Entry::new(digest::of_id(id), message.digest(), message.is_notice()));
            self.tell_held(sink)?;
        }
        for (call, path) in handed {
            let of_call = message.calls.iter().find(|of| of.id == call);
            let name = of_call.and_then(|call| call.agent_name()).unwrap_or("agent");
            self.agent(Some(call), name, path, session, sink)?;
            if let Some(result) = of_call.and_then(|call| call.result(origin)) {
                sink.tool_result(&result)?;
            }
        }
        Ok(())
    }

    /// Tells a sub-agent's file as a branch, and says whether it could.
    pub(crate) fn agent(
        &self,
        call: Option<&str>,
        name: &str,
        path: PathBuf,
        session: &mut Session,
        sink: &mut Sink<'_>,
    ) -> Result<bool, PluginError> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = session.files.len() as u32;
        session.files.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        let is_log = path.extension().is_some_and(|extension| extension == "jsonl");
        let reader = match Self::new(path, file) {
            // A document may lie there that is none of a sub-agent.
            Ok(reader) if is_log || reader.survey.is_recognised => Ok(reader),
            Ok(_) => Err("the file among the sub-agents' holds no record of Gemini CLI".to_owned()),
            Err(err) => Err(format!("the sub-agent's file cannot be read: {err}")),
        };
        let mut reader = match reader {
            Ok(reader) => reader,
            Err(message) => {
                let origin = Origin { file, ..Origin::default() };
                sink.diagnostic(Severity::Warning, "unreadable-file", &message, origin)?;
                return Ok(false);
            }
        };
        let agent = if name == "agent" { stem.clone() } else { name.to_owned() };
        let call = call.map_or_else(|| "null".to_owned(), quoted);
        reader.branch = Some(format!(r#"{{"call":{call},"agent":{}}}"#, quoted(&agent)));
        reader.prefix = format!("{stem}/");
        reader.depth = self.depth + 1;
        reader.tell(session, sink)?;
        Ok(true)
    }

    fn place(&self, id: String, origin: Origin) -> Place<'_> {
        Place {
            id: id.into(),
            parent: self.parent.clone(),
            time: "".into(),
            branch: self.branch.as_deref(),
            origin,
            is_part: false,
        }
    }

    /// The name of a record that has none of its own.
    fn name(&self, nth: usize, origin: Origin) -> String {
        let more = if nth == 0 { String::new() } else { format!(".{}", nth + 1) };
        match self.layout {
            Layout::Lines => format!("{}line-{}{more}", self.prefix, origin.line),
            Layout::Whole => format!("{}message-{}{more}", self.prefix, self.messages),
        }
    }

    fn unreadable(
        &mut self,
        text: &str,
        reason: &str,
        nth: usize,
        origin: Origin,
        session: &mut Session,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        session.records += 1;
        let (id, data) = (self.name(nth, origin), format!(r#"{{"raw":{}}}"#, quoted(text)));
        let mut event = EventRecord::new("unreadable", &id, "", origin);
        if let Some(branch) = &self.branch {
            event.ext(toolpath_plugin_api::view::ext::BRANCH, branch);
        }
        sink.event(event.data(&data).unreadable())?;
        sink.diagnostic(Severity::Error, "unreadable-record", reason, origin)
    }
}

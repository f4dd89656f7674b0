//! From records to what is told: the order of things, and what becomes of each record.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::view::ext;
use toolpath_plugin_api::{Disposition, EventRecord, Origin, PluginError, Severity, Sink, SkipRecord, Stopped};

use crate::agents::Agents;
use crate::facts::Facts;
use crate::flow::{Flow, Step};
use crate::log::{Found, Log, Piece};
use crate::place::{Place, line_id};
use crate::record::{Kind, Record};
use crate::signal::{IMPORTED_TURN, ReviewExit};
use crate::survey::Survey;
use crate::turn::{Environment, Pending};
use crate::usage::Count;
use crate::writes::{Report, Writes};

/// Reads one file: the session's, or that of a sub-agent.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Id of the thread whose file it is.
    pub(crate) thread: String,
    /// Id of the session that is told: the thread's own, or that of the one which started it.
    pub(crate) session: String,
    /// Where the file stands among those that are read.
    pub(crate) file: u32,
    /// What names made of lines begin with.
    pub(crate) prefix: String,
    /// The branch it is told as, as JSON; `None` for the session itself.
    pub(crate) branch: Option<String>,
    pub(crate) survey: Survey,
    pub(crate) facts: Facts,
    pub(crate) agents: Agents,
    flow: Flow,
    /// Whether another agent, and no human, speaks in the user's position.
    pub(crate) is_sub_agents: bool,
    pub(crate) model: Option<String>,
    pub(crate) environment: Environment,
    turn_id: Option<String>,
    pub(crate) pending: Option<Pending>,
    /// The last turn that still counts.
    pub(crate) last: Option<String>,
    /// The last event before the first turn.
    pub(crate) preamble: Option<String>,
    /// What stood before each prompt that still counts, for when it is taken back.
    pub(crate) prompts: Vec<Option<String>>,
    pub(crate) writes: Writes,
    /// How a review ended whose answer, one message, is to come.
    pub(crate) review: Option<ReviewExit>,
    /// Whether the conversation was compacted since the last prompt.
    pub(crate) is_near_compaction: bool,
    /// Records told, those of sub-agents' files too.
    pub(crate) records: u64,
    copied: u64,
}

/// What a record is told by.
pub(crate) struct Told<'t, 'a> {
    pub(crate) record: &'t Record<'a>,
    pub(crate) piece: &'t Piece<'a>,
    pub(crate) step: Step,
}

impl Reader {
    /// Reads the file of `thread` as the session itself.
    pub(crate) fn new(thread: String, survey: Survey, agents: Agents) -> Self {
        let mut agents = agents;
        // No sub-agent's file tells the session again.
        agents.seen.insert(thread.clone());
        Self {
            flow: Flow::of_own_from(survey.own_from),
            session: thread.clone(),
            thread,
            file: 0,
            prefix: String::new(),
            branch: None,
            survey,
            facts: Facts::default(),
            agents,
            is_sub_agents: false,
            model: None,
            environment: Environment::default(),
            turn_id: None,
            pending: None,
            last: None,
            preamble: None,
            prompts: Vec::new(),
            writes: Writes::default(),
            review: None,
            is_near_compaction: false,
            records: 0,
            copied: 0,
        }
    }

    /// Id of the session that is told.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// Tells every record of `log`.
    pub(crate) fn read(&mut self, log: &Log, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        log.each(&mut |found| {
            match found {
                Found::Record(piece) => {
                    self.records += 1;
                    self.record(&piece, sink)?;
                }
                Found::Unreadable(piece, reason) => {
                    self.records += 1;
                    self.unreadable(&piece, reason, sink)?;
                }
                Found::Note(severity, code, text, origin) => {
                    sink.diagnostic(severity, code, text, Origin { file: self.file, ..origin })?;
                }
            }
            Ok(())
        })?;
        self.flush(sink)?;
        self.tell_left(sink)?;
        let at = Origin { file: self.file, ..Origin::default() };
        if self.survey.unplaced().is_some() {
            let message = "tokens were used for no response that the file holds; they are not counted";
            sink.diagnostic(Severity::Warning, "usage-without-turn", message, at)?;
        }
        if self.copied > 0 {
            let message = format!("{} records were copied from the session it came from", self.copied);
            sink.diagnostic(Severity::Info, "copied-history", &message, at)?;
        }
        Ok(())
    }

    fn record(&mut self, piece: &Piece<'_>, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        let record = Record::of(piece);
        let step = self.flow.take(&record);
        let told = Told { record: &record, piece, step };
        self.copied += u64::from(step.is_inherited);
        if step.is_inherited && self.is_sub_agents {
            // The parent's session tells it; here it is only what the sub-agent was shown.
            return Ok(self.skip(
                Disposition::Duplicate,
                "copied from the session of the calling agent",
                piece,
                sink,
            )?);
        }
        if !step.is_inherited {
            self.facts.see(&record.time);
        }
        match &record.kind {
            Kind::Meta(meta) => {
                if self.facts.header(meta) {
                    self.is_sub_agents = meta.is_sub_agents();
                    self.environment = self.facts.environment.clone();
                    if self.branch.is_none() {
                        sink.session(&self.facts.base(&self.thread))?;
                    }
                }
                self.event(&told, sink)?;
            }
            Kind::Context(context) => {
                self.review = None;
                self.set_context(context.model, context.cwd);
                self.turn_id = context.turn_id.filled().map(|id| id.into_owned()).or(self.turn_id.take());
                self.event(&told, sink)?;
            }
            Kind::Item(item) => self.item(item, &told, sink)?,
            Kind::Event(event) => self.event_of(event, &told, sink)?,
            Kind::Compacted => {
                self.is_near_compaction = true;
                self.flush(sink)?;
                self.event(&told, sink)?;
            }
            Kind::Usage(_) if step.noted.is_some() && self.survey.unplaced().is_none() => {
                self.flush(sink)?;
                self.skip(Disposition::Folded, "counted in the usage of its response", piece, sink)?;
            }
            Kind::Usage(_) if step.is_noted_again => {
                self.skip(Disposition::Duplicate, "says again what a response cost", piece, sink)?;
            }
            Kind::Usage(_) | Kind::Other => self.event(&told, sink)?,
        }
        Ok(())
    }

    /// What counts from now on for turns.
    pub(crate) fn set_context(&mut self, model: Field<'_>, dir: Field<'_>) {
        if let Some(model) = model.filled() {
            self.model = Some(model.into_owned());
        }
        if let Some(dir) = dir.filled() {
            self.environment.dir = Some(dir.into_owned());
        }
    }

    /// A turn of Codex's own begins.
    pub(crate) fn begin_turn(&mut self, id: Field<'_>) {
        if let Some(id) = id.filled() {
            self.turn_id = Some(id.into_owned());
        }
    }

    /// Whether a record was brought over from another product's session; `turn` is the turn it names.
    pub(crate) fn is_imported(&self, turn: Field<'_>, piece: &Piece<'_>) -> bool {
        let named = turn.filled().map(|id| id.starts_with(IMPORTED_TURN));
        named.unwrap_or_else(|| self.turn_id.as_ref().is_some_and(|id| id.starts_with(IMPORTED_TURN)))
            || piece.number < self.survey.import_ends_at
    }

    /// Tells the response that is being gathered.
    pub(crate) fn flush(&mut self, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        if let Some(pending) = self.pending.take() {
            pending.tell(self.last.as_deref(), self.branch.as_deref(), sink)?;
            self.last = Some(pending.place.id);
        }
        Ok(())
    }

    /// Tells a record as an event of its own kind.
    pub(crate) fn event(&mut self, told: &Told<'_, '_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        if self.pending.as_ref().is_some_and(|pending| !pending.is_silent()) {
            self.flush(sink)?;
        }
        let place = self.place(told, Field::default());
        let is_object = told.record.payload.starts_with('{');
        let raw = || format!(r#"{{"raw":{}}}"#, told.record.payload);
        let data = if is_object { told.record.payload.to_owned() } else { raw() };
        self.tell_event(&told.record.name, &place, &data, false, sink)?;
        if self.last.is_none() {
            self.preamble = Some(place.id);
        }
        Ok(())
    }

    /// Tells an event at `place`; a `part` when another call accounts for its record.
    pub(crate) fn tell_event(
        &self,
        name: &str,
        place: &Place,
        data: &str,
        is_part: bool,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        let mut event = EventRecord::new(name, if is_part { "" } else { &place.id }, &place.time, place.origin);
        event.parent(self.last.as_deref()).data(data);
        if is_part {
            event.part_of_record();
        }
        if let Some(branch) = &self.branch {
            event.ext(ext::BRANCH, branch);
        }
        sink.event(&event)
    }

    /// Passes over a record whose content stands elsewhere.
    pub(crate) fn skip(
        &self,
        disposition: Disposition,
        reason: &str,
        piece: &Piece<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        sink.skip(&SkipRecord::new(disposition, reason, Origin { file: self.file, ..piece.origin }))
    }

    /// Tells reports of writes that no result took up.
    pub(crate) fn tell_left(&mut self, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        for Report { origin, name, time, data, .. } in self.writes.left() {
            self.tell_event(&name, &Place { id: String::new(), time, origin }, &data, true, sink)?;
            let message = "a report of writes belongs to no call whose result the file holds";
            sink.diagnostic(Severity::Warning, "orphan-report", message, origin)?;
        }
        Ok(())
    }

    fn unreadable(&mut self, piece: &Piece<'_>, reason: &str, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        self.flush(sink)?;
        let (id, data) = (line_id(piece, &self.prefix), format!(r#"{{"raw":{}}}"#, quoted(piece.text)));
        let origin = Origin { file: self.file, ..piece.origin };
        let mut event = EventRecord::new("unreadable", &id, "", origin);
        event.parent(self.last.as_deref()).data(&data).unreadable();
        if let Some(branch) = &self.branch {
            event.ext(ext::BRANCH, branch);
        }
        sink.event(&event)?;
        sink.diagnostic(Severity::Error, "unreadable-record", reason, origin)
    }

    /// The place of a record whose own id is `id`.
    pub(crate) fn place(&self, told: &Told<'_, '_>, id: Field<'_>) -> Place {
        Place::of(told.piece, id, &told.record.time, self.file, &self.prefix)
    }

    /// What becomes of a `token_count`.
    pub(crate) fn token_count(&mut self, told: &Told<'_, '_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        match told.step.count {
            // Where no response is, nothing else tells it.
            Some(Count::Call(_)) if self.survey.unplaced().is_none() => {
                self.skip(Disposition::Folded, "counted in the usage of its response", told.piece, sink)
            }
            Some(Count::Again) => {
                self.skip(Disposition::Duplicate, "says again what was counted, or estimates", told.piece, sink)
            }
            _ => self.event(told, sink),
        }
    }
}

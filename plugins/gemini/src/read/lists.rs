//! Rewinds, and lists of messages that are built anew: what of the thread is left.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::{Disposition, Origin, PluginError, Sink, SkipRecord};

use crate::active::Entry;
use crate::digest::{self, Id};
use crate::lines::{mend, trim};
use crate::read::{Reader, Session};
use crate::shape::Record;
use crate::turns::Message;

impl Reader {
    pub(super) fn rewind(
        &mut self,
        target: &str,
        name: &str,
        json: &str,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        sink.event(&self.place(name.to_owned(), origin).event("rewind", json))?;
        self.active.rewind(digest::of_id(target));
        self.parent = self.last_id()?;
        self.after_summary = false;
        Ok(())
    }

    /// The id of the last message that counts.
    fn last_id(&self) -> Result<Option<String>, PluginError> {
        self.active.last().map_or(Ok(None), |last| self.id_of(last))
    }

    /// The id of a message, which is read again: only its digest is kept.
    pub(super) fn id_of(&self, key: Id) -> Result<Option<String>, PluginError> {
        if let Some(id) = self.born.get(&key) {
            return Ok(Some(id.to_string()));
        }
        let Some(version) = self.survey.versions.get(&key) else { return Ok(None) };
        let bytes = self.at(version.origin(self.file))?;
        let mended = mend(&bytes);
        let record: Record<'_> = serde_json::from_str(trim(&mended.text)).unwrap_or_default();
        Ok(record.id.filled().map(Into::into))
    }

    #[expect(clippy::too_many_arguments, reason = "a record, its text and its place, and to whom it is told")]
    pub(super) fn patch(
        &mut self,
        patch: &Record<'_>,
        set: Field<'_>,
        name: &str,
        json: &str,
        origin: Origin,
        session: &mut Session,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        if patch.messages.is_list() {
            sink.event(&self.place(name.to_owned(), origin).event("checkpoint", json))?;
            return self.rebuild(patch.messages, name, origin, session, sink);
        }
        let fields = set.entries().unwrap_or_default();
        if fields.iter().all(|(key, _)| key == "lastUpdated") && patch.last_updated.filled().is_some() {
            let reason = "the time of the last change, which the session has";
            return Ok(sink.skip(&SkipRecord::new(Disposition::Folded, reason, origin))?);
        }
        sink.event(&self.place(name.to_owned(), origin).event("set", json))?;
        Ok(())
    }

    /// Builds the thread anew of a list of messages, and tells those that stand nowhere else.
    pub(super) fn rebuild(
        &mut self,
        messages: Field<'_>,
        name: &str,
        origin: Origin,
        session: &mut Session,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let mut old = self.active.take();
        let mut before = self.parent.clone();
        // A message of the list that was told before; its id is looked up when one follows that was not.
        let mut known_before: Option<Id> = None;
        // Where the last summary stood, and what came to stand behind it.
        let mut compressed: Option<(usize, String)> = None;
        self.after_summary = false;
        for (nth, raw) in messages.list().unwrap_or_default().into_iter().enumerate() {
            let Some(record) = raw.object::<Record<'_>>() else { continue };
            let id = record.id.filled().unwrap_or_else(|| format!("{name}/{nth}").into());
            let key = digest::of_id(&id);
            let message = Message::of(record, raw.json().unwrap_or_default(), &id);
            let copied = || message.may_be_copy().then(|| message.digest());
            let known = old.entry(key, self.copies.get(&key).copied()).or_else(|| {
                let is_told = self.born.contains_key(&key)
                    || self.survey.versions.get(&key).is_some_and(|version| version.is_told());
                is_told.then(|| (0, Entry { id: key, content: message.digest() }))
            });
            let known = known.or_else(|| copied().and_then(|content| old.original(content)));
            if let Some((at, entry)) = known {
                self.active.push(entry);
                known_before = Some(entry.id);
                self.after_summary = false;
                if message.is_summary() || compressed.as_ref().is_some_and(|(summary, _)| at > *summary) {
                    compressed = Some((at, id.into_owned()));
                }
                continue;
            }
            if let Some(version) = self.survey.versions.get_mut(&key) {
                version.tell();
            }
            self.born.insert(key, (*id).into());
            let is_summary = message.is_summary();
            if let Some(known) = known_before.take() {
                before = self.id_of(known)?.or(before);
            }
            let place = Origin { file: self.file, ..origin };
            self.message(&message, &id, place, Some(&before), session, sink)?;
            before = self.parent.clone();
            if is_summary || compressed.is_some() {
                compressed = before.clone().map(|id| (usize::MAX, id));
            }
        }
        self.after_summary = false;
        // What goes on after a compression follows its summary, not what was kept behind it.
        self.parent = match compressed {
            Some((_, id)) => Some(id),
            None => self.last_id()?,
        };
        Ok(())
    }
}

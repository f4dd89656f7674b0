//! Rewinds, and lists of messages that are built anew: what of the thread is left.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::lines::trim;
use toolpath_plugin_api::{Disposition, Origin, PluginError, Sink, SkipRecord};

use crate::active::{Entry, Rebuilt};
use crate::digest::{self, Id};
use crate::lines::mend;
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
        let mut compressed: Option<Compressed> = None;
        // A message that was not told before follows what was said last, or what stands before it in the list; which
        // is looked up when there is one.
        let mut before = self.parent.clone();
        let mut is_before_known = true;
        self.after_summary = false;
        for (at, notice) in old.notices(0) {
            self.keep(Some(at), notice, false, &mut compressed);
        }
        for (nth, raw) in messages.list().unwrap_or_default().into_iter().enumerate() {
            let Some(record) = raw.object::<Record<'_>>() else { continue };
            let id = record.id.filled().unwrap_or_else(|| format!("{name}/{nth}").into());
            let key = digest::of_id(&id);
            let message = Message::of(record, raw.json().unwrap_or_default(), &id);
            let is_summary = message.is_summary();
            if let Some((at, entry)) = self.known(key, &message, &mut old) {
                if let Some(at) = at.filter(|_| entry.is_notice)
                    && !old.notice(at)
                {
                    continue;
                }
                self.keep(at, entry, is_summary, &mut compressed);
                // Notices stand in no list; they keep their place behind what they followed.
                for (at, notice) in at.map(|at| old.notices(at + 1)).into_iter().flatten() {
                    self.keep(Some(at), notice, false, &mut compressed);
                }
                is_before_known = false;
                self.after_summary = false;
                continue;
            }
            self.born.insert(key, (*id).into());
            if !is_before_known {
                before = self.last_id()?.or(before);
            }
            let (place, count) = (Origin { file: self.file, ..origin }, self.active.len());
            // A line that is yet to come says more.
            let later = self.survey.versions.get_mut(&key).map(|version| {
                version.tell();
                version.origin(self.file)
            });
            let bytes = later.map_or(Ok(Vec::new()), |later| self.at(later))?;
            let mended = mend(&bytes);
            match later.zip(Message::version_of(trim(&mended.text), &id)) {
                Some((place, message)) => self.message(message, &id, place, Some(&before), session, sink)?,
                None => self.message(message, &id, place, Some(&before), session, sink)?,
            }
            is_before_known = true;
            if self.active.len() > count {
                before = self.parent.clone();
                if is_summary || compressed.is_some() {
                    compressed = Some(Compressed { at: usize::MAX, now: count });
                }
            }
        }
        self.after_summary = false;
        self.parent = self.last_id()?;
        Ok(())
    }

    /// What a message of a list was told as, and where it stood in the list that was.
    fn known(&self, key: Id, message: &Message<'_>, old: &mut Rebuilt) -> Option<(Option<usize>, Entry)> {
        if let Some((at, entry)) = old.entry(key, self.copies.get(&key).copied()) {
            return Some((Some(at), entry));
        }
        let is_told =
            self.born.contains_key(&key) || self.survey.versions.get(&key).is_some_and(|version| version.is_told());
        if is_told {
            return Some((None, Entry::new(key, message.digest(), message.is_notice())));
        }
        let (at, entry) = old.original(message.may_be_copy().then(|| message.digest())?)?;
        Some((Some(at), entry))
    }

    /// Takes a message over that was told before, and stood at `at`.
    fn keep(&mut self, at: Option<usize>, entry: Entry, is_summary: bool, compressed: &mut Option<Compressed>) {
        match (at, &compressed) {
            // What was kept of the time before a summary was told before it. What goes on follows the summary.
            (at, Some(summary)) if !is_summary && !at.is_some_and(|at| at > summary.at && entry.is_tip(at)) => {
                self.active.push_before(entry, summary.now);
            }
            (at, _) => {
                let now = self.active.push(entry);
                if is_summary || compressed.is_some() {
                    *compressed = Some(Compressed { at: at.unwrap_or(0), now });
                }
            }
        }
    }
}

/// The summary of a compression, or what came to stand behind it.
struct Compressed {
    /// Where it stood in the list that was; behind all of it when it is new.
    at: usize,
    /// Where it stands now.
    now: usize,
}

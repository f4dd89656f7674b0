//! A record's place: its id, its parent, its time, its line, and whether it stands on a sub-agent's branch.

use std::borrow::Cow;
use std::rc::Rc;

use toolpath_plugin_api::kit::time::from_millis;
use toolpath_plugin_api::view::ext;
use toolpath_plugin_api::{EventRecord, Origin, Role, SkipRecord, TurnRecord};

use crate::shape::Record;

/// Where a record stands; what is told of it borrows from here.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// The record's uuid, or a name made of its line.
    pub(crate) id: Cow<'a, str>,
    /// Whether the id is the record's own.
    pub(crate) has_uuid: bool,
    /// Id of the record it follows.
    pub(crate) parent: Option<Cow<'a, str>>,
    /// Id of the record that those after it are led on to, where that is not the parent.
    pub(crate) lead: Option<Rc<str>>,
    /// Time as the log has it; empty when it has none.
    pub(crate) time: Cow<'a, str>,
    /// The sub-agent's branch it belongs to, as JSON.
    pub(crate) branch: Option<Rc<str>>,
    /// Whether the harness itself speaks in the user's position here.
    pub(crate) is_helpers: bool,
    /// Whether another call accounts for the record, so that all that is told here is a part of it.
    pub(crate) is_part: bool,
    /// Its line.
    pub(crate) origin: Origin,
}

impl<'a> Place<'a> {
    /// The place of `record`, which is called `name` where it has no id, on that branch.
    pub(crate) fn of(
        record: &Record<'a>,
        name: impl FnOnce() -> String,
        branch: Option<Rc<str>>,
        origin: Origin,
    ) -> Self {
        let uuid = record.uuid.filled();
        Self {
            has_uuid: uuid.is_some(),
            id: uuid.unwrap_or_else(|| name().into()),
            parent: record.parent.filled().or_else(|| logical_parent(record)),
            lead: None,
            time: time_of(record),
            branch,
            is_helpers: false,
            is_part: false,
            origin,
        }
    }

    /// A turn at this place.
    pub(crate) fn turn<'p>(&'p self, role: Role<'p>) -> TurnRecord<'p> {
        let mut turn = TurnRecord::new(role, &self.id, &self.time, self.origin);
        turn.parent(self.lead.as_deref().or(self.parent.as_deref()));
        if self.is_part {
            turn.part_of_record();
        }
        match &self.branch {
            Some(branch) => turn.ext(ext::BRANCH, branch),
            // Parents that lead nowhere are common on the main line, and no new line begins there.
            None => turn.parent_or_previous(),
        };
        turn
    }

    /// An event at this place.
    pub(crate) fn event<'p>(&'p self, event_type: &'p str) -> EventRecord<'p> {
        let mut event = EventRecord::new(event_type, &self.id, &self.time, self.origin);
        event.parent(self.parent.as_deref());
        self.set_branch(&mut event);
        event
    }

    /// An event that holds a part of the record which was told at this place.
    pub(crate) fn part<'p>(&'p self, event_type: &'p str) -> EventRecord<'p> {
        let mut event = EventRecord::new(event_type, "", &self.time, self.origin);
        event.parent(Some(&self.id)).part_of_record();
        self.set_branch(&mut event);
        event
    }

    /// Leads records that follow this one, of which no step is made, on to its parent.
    pub(crate) fn link<'p>(&'p self, skip: SkipRecord<'p>) -> SkipRecord<'p> {
        skip.link(Some(&self.id), self.lead.as_deref().or(self.parent.as_deref()))
    }

    fn set_branch<'p>(&'p self, event: &mut EventRecord<'p>) {
        if let Some(branch) = &self.branch {
            event.ext(ext::BRANCH, branch);
        }
    }
}

/// The name of the `nth` record (from 0) of a line, when it has none of its own.
pub(crate) fn line_id(line: u64, nth: usize) -> String {
    if nth == 0 { format!("line-{line}") } else { format!("line-{line}.{}", nth + 1) }
}

/// Compaction cuts the chain of parents, and says where it went on.
fn logical_parent<'a>(record: &Record<'a>) -> Option<Cow<'a, str>> {
    const BOUNDARY: &str = "compact_boundary";
    let is = |text: Option<Cow<'_, str>>| text.as_deref() == Some(BOUNDARY);
    if is(record.subtype.text()) || is(record.kind.text()) { record.logical_parent.filled() } else { None }
}

/// The record's time as the log has it; empty when it has none.
pub(crate) fn time_of<'a>(record: &Record<'a>) -> Cow<'a, str> {
    record.timestamp.filled().unwrap_or_else(|| {
        let milliseconds = record.timestamp_ms.count().and_then(|count| i64::try_from(count).ok());
        milliseconds.and_then(from_millis).unwrap_or_default().into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn place(json: &str) -> Place<'_> {
        let record: Record<'_> = serde_json::from_str(json).expect("a record");
        Place::of(&record, || line_id(7, 0), None, Origin::default())
    }

    #[test]
    fn a_record_without_a_uuid_is_named_by_its_line() {
        assert_eq!(place(r#"{"uuid":"u"}"#).id, "u");
        assert_eq!(place(r#"{"uuid":""}"#).id, "line-7");
        assert_eq!(line_id(7, 1), "line-7.2");
    }

    #[test]
    fn a_compaction_follows_its_logical_parent() {
        let json = r#"{"type":"system","subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":"l"}"#;
        assert_eq!(place(json).parent.as_deref(), Some("l"));
        assert_eq!(place(r#"{"type":"compact_boundary","logicalParentUuid":"l"}"#).parent.as_deref(), Some("l"));
        assert_eq!(place(r#"{"type":"user","logicalParentUuid":"l"}"#).parent, None);
    }

    #[test]
    fn a_time_may_be_a_count_of_milliseconds() {
        assert_eq!(place(r#"{"timestamp":"yesterday"}"#).time, "yesterday");
        assert_eq!(place(r#"{"timestamp_ms":1772355600000}"#).time, "2026-03-01T09:00:00Z");
        assert_eq!(place(r#"{"timestamp":null,"timestamp_ms":1e300}"#).time, "");
    }
}

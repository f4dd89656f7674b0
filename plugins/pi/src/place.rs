//! A record's place: its id, its parent, its time, its line, and whether it stands on a sub-agent's branch.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::time::from_millis;
use toolpath_plugin_api::view::ext;
use toolpath_plugin_api::{EventRecord, Origin, Role, SkipRecord, TurnRecord};

use crate::shape::Record;

/// What a record follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parent<'a> {
    /// The record of that id.
    Named(Cow<'a, str>),
    /// None: the tree begins anew there.
    Root,
    /// The record before it: files of version 1 are lists.
    Previous,
}

/// Where a record stands; what is told of it borrows from here.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// The record's id, or a name made of its line.
    pub(crate) id: Cow<'a, str>,
    /// What it follows.
    pub(crate) parent: Parent<'a>,
    /// Time as the log has it; empty when it has none.
    pub(crate) time: Cow<'a, str>,
    /// The sub-agent's branch it belongs to, as JSON.
    pub(crate) branch: Option<String>,
    /// Whether another call accounts for the record.
    pub(crate) is_part: bool,
    /// Its line.
    pub(crate) origin: Origin,
}

impl<'a> Place<'a> {
    /// The place of `record`, the `nth` of its line, whose message has the time `message_time`.
    pub(crate) fn of(record: &Record<'a>, message_time: Field<'a>, nth: usize, origin: Origin) -> Self {
        let parent = match record.parent.id() {
            Some(parent) => Parent::Named(parent),
            None if record.parent.is_null() => Parent::Root,
            None => Parent::Previous,
        };
        Self {
            id: record.id.id().unwrap_or_else(|| line_id(origin.line, nth).into()),
            parent,
            time: time(record.timestamp).or_else(|| time(message_time)).unwrap_or_default(),
            branch: None,
            is_part: false,
            origin,
        }
    }

    /// The place of a sub-agent's message, told as a part of the record at this place.
    pub(crate) fn inner(&self, id: String, message_time: Field<'a>, branch: &str) -> Self {
        Self {
            id: id.into(),
            // Its branch goes on where it ended.
            parent: Parent::Previous,
            time: time(message_time).unwrap_or_default(),
            branch: Some(branch.to_owned()),
            is_part: true,
            origin: self.origin,
        }
    }

    /// A turn at this place.
    pub(crate) fn turn<'p>(&'p self, role: Role<'p>) -> TurnRecord<'p> {
        let mut turn = TurnRecord::new(role, &self.id, &self.time, self.origin);
        if let Some(branch) = &self.branch {
            turn.ext(ext::BRANCH, branch);
        } else if self.parent != Parent::Root {
            // A parent that was lost with its line is best replaced by what stood before it.
            turn.parent(self.named_parent()).parent_or_previous();
        }
        if self.is_part {
            turn.part_of_record();
        }
        turn
    }

    /// An event at this place.
    pub(crate) fn event<'p>(&'p self, event_type: &'p str) -> EventRecord<'p> {
        let mut event = EventRecord::new(event_type, &self.id, &self.time, self.origin);
        event.parent(self.named_parent());
        self.mark(&mut event);
        event
    }

    /// An event that holds a part of the record which was told at this place.
    pub(crate) fn part<'p>(&'p self, event_type: &'p str) -> EventRecord<'p> {
        let mut event = EventRecord::new(event_type, "", &self.time, self.origin);
        self.mark(&mut event);
        event.part_of_record();
        if self.branch.is_none() {
            event.parent(Some(&self.id));
        }
        event
    }

    /// Leads records that follow this one, of which no step is made, on to its parent.
    pub(crate) fn link<'p>(&'p self, skip: SkipRecord<'p>) -> SkipRecord<'p> {
        skip.link(Some(&self.id), self.named_parent())
    }

    fn named_parent(&self) -> Option<&str> {
        match &self.parent {
            Parent::Named(parent) => Some(parent),
            Parent::Root | Parent::Previous => None,
        }
    }

    fn mark<'p>(&'p self, event: &mut EventRecord<'p>) {
        if let Some(branch) = &self.branch {
            event.ext(ext::BRANCH, branch);
        }
        if self.is_part {
            event.part_of_record();
        }
    }
}

/// The name of the `nth` record (from 0) of a line, when it has none of its own.
pub(crate) fn line_id(line: u64, nth: usize) -> String {
    if nth == 0 { format!("line-{line}") } else { format!("line-{line}.{}", nth + 1) }
}

/// Entries have a text, messages a count of milliseconds.
fn time(field: Field<'_>) -> Option<Cow<'_, str>> {
    field.filled().or_else(|| {
        let milliseconds = field.count().and_then(|count| i64::try_from(count).ok());
        milliseconds.and_then(from_millis).map(Into::into)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Message;

    #[track_caller]
    fn place(json: &str) -> Place<'_> {
        let record: Record<'_> = serde_json::from_str(json).expect("a record");
        let message: Message<'_> = record.message.object().unwrap_or_default();
        Place::of(&record, message.timestamp, 0, Origin { line: 7, ..Origin::default() })
    }

    #[test]
    fn a_record_without_an_id_is_named_by_its_line() {
        assert_eq!(place(r#"{"id":"a1"}"#).id, "a1");
        assert_eq!(place(r#"{"id":""}"#).id, "line-7");
        assert_eq!(place("{}").id, "line-7");
        assert_eq!(line_id(7, 1), "line-7.2");
    }

    #[test]
    fn a_parent_is_named_none_or_the_record_before() {
        assert_eq!(place(r#"{"parentId":"p"}"#).parent, Parent::Named("p".into()));
        assert_eq!(place(r#"{"parentId":null}"#).parent, Parent::Root);
        assert_eq!(place("{}").parent, Parent::Previous);
        assert_eq!(place(r#"{"parentId":[]}"#).parent, Parent::Previous);
    }

    #[test]
    fn a_time_is_the_entrys_or_the_messages() {
        assert_eq!(place(r#"{"timestamp":"yesterday","message":{"timestamp":1772355600000}}"#).time, "yesterday");
        assert_eq!(place(r#"{"message":{"timestamp":1772355600000}}"#).time, "2026-03-01T09:00:00Z");
        assert_eq!(place(r#"{"timestamp":1772355600000}"#).time, "2026-03-01T09:00:00Z");
        assert_eq!(place(r#"{"timestamp":null,"message":{"timestamp":1e300}}"#).time, "");
    }
}

//! A record's place: its id, its time, its line, and whether it stands on a sub-agent's branch.
//!
//! Events name the event before them as their parent, whoever it belongs to; that is a chain and no conversation. A turn
//! follows the turn before it on the main line or on its branch, and so does an event.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::time::from_millis;
use toolpath_plugin_api::view::ext;
use toolpath_plugin_api::{EventRecord, Origin, Role, TurnRecord};

use crate::shape::Record;

/// Where a record stands; what is told of it borrows from here.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    /// The event's id, or a name made of its line.
    pub(crate) id: Cow<'a, str>,
    /// Time as the log has it; empty when it has none.
    pub(crate) time: Cow<'a, str>,
    /// The sub-agent's branch it belongs to, as JSON.
    pub(crate) branch: Option<String>,
    /// Its line.
    pub(crate) origin: Origin,
}

impl<'a> Place<'a> {
    /// The place of `record`, the `nth` of its line, on the main line.
    pub(crate) fn of(record: &Record<'a>, nth: usize, origin: Origin) -> Self {
        Self {
            id: record.id.id().unwrap_or_else(|| line_id(origin.line, nth).into()),
            time: time(record.timestamp),
            branch: None,
            origin,
        }
    }

    /// A turn at this place.
    pub(crate) fn turn<'p>(&'p self, role: Role<'p>, id: &'p str) -> TurnRecord<'p> {
        let mut turn = TurnRecord::new(role, id, &self.time, self.origin);
        match &self.branch {
            Some(branch) => turn.ext(ext::BRANCH, branch),
            None => turn.parent_or_previous(),
        };
        turn
    }

    /// An event at this place.
    pub(crate) fn event<'p>(&'p self, event_type: &'p str) -> EventRecord<'p> {
        let mut event = EventRecord::new(event_type, &self.id, &self.time, self.origin);
        self.set_branch(&mut event);
        event
    }

    /// An event that holds a part of the record at this place, of which the turn `turn` was told.
    pub(crate) fn part<'p>(&'p self, event_type: &'p str, turn: Option<&'p str>) -> EventRecord<'p> {
        let mut event = EventRecord::new(event_type, "", &self.time, self.origin);
        event.parent(turn).part_of_record();
        self.set_branch(&mut event);
        event
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

/// A time is a text, or a count of milliseconds.
pub(crate) fn time(field: Field<'_>) -> Cow<'_, str> {
    field.filled().unwrap_or_else(|| {
        let milliseconds = field.count().and_then(|count| i64::try_from(count).ok());
        milliseconds.and_then(from_millis).unwrap_or_default().into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn place(json: &str) -> Place<'_> {
        let record: Record<'_> = serde_json::from_str(json).expect("a record");
        Place::of(&record, 0, Origin { line: 7, ..Origin::default() })
    }

    #[test]
    fn a_record_without_an_id_is_named_by_its_line() {
        assert_eq!(place(r#"{"id":"e1"}"#).id, "e1");
        assert_eq!(place(r#"{"id":""}"#).id, "line-7");
        assert_eq!(line_id(7, 1), "line-7.2");
    }

    #[test]
    fn a_time_may_be_a_count_of_milliseconds() {
        assert_eq!(place(r#"{"timestamp":"yesterday"}"#).time, "yesterday");
        assert_eq!(place(r#"{"timestamp":1772355600000}"#).time, "2026-03-01T09:00:00Z");
        assert_eq!(place(r#"{"timestamp":null}"#).time, "");
    }
}

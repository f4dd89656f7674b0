//! A record's place: its id, its parent, its time, where it stands, and on which branch.

use std::borrow::Cow;

use toolpath_plugin_api::view::ext;
use toolpath_plugin_api::{EventRecord, Origin, Role, TurnRecord};

/// Where a record stands; what is told of it borrows from here.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) parent: Option<String>,
    pub(crate) time: Cow<'a, str>,
    /// The sub-agent's branch, as JSON.
    pub(crate) branch: Option<&'a str>,
    pub(crate) origin: Origin,
    /// It is told as part of another record, which holds it.
    pub(crate) is_part: bool,
}

impl Place<'_> {
    /// A turn at this place.
    pub(crate) fn turn<'p>(&'p self, role: Role<'p>) -> TurnRecord<'p> {
        let mut turn = TurnRecord::new(role, &self.id, &self.time, self.origin);
        turn.parent(self.parent.as_deref());
        if let Some(branch) = self.branch {
            turn.ext(ext::BRANCH, branch);
        }
        if self.is_part {
            turn.part_of_record();
        }
        turn
    }

    /// An event at this place.
    pub(crate) fn event<'p>(&'p self, event_type: &'p str, data: &'p str) -> EventRecord<'p> {
        let mut event = EventRecord::new(event_type, &self.id, &self.time, self.origin);
        event.parent(self.parent.as_deref()).data(data);
        self.mark(&mut event, self.is_part);
        event
    }

    /// An event that holds a part of the record which was told at this place.
    pub(crate) fn part<'p>(&'p self, event_type: &'p str, data: &'p str) -> EventRecord<'p> {
        let mut event = EventRecord::new(event_type, "", &self.time, self.origin);
        event.parent(Some(&self.id)).data(data);
        self.mark(&mut event, true);
        event
    }

    fn mark<'p>(&'p self, event: &mut EventRecord<'p>, is_part: bool) {
        if let Some(branch) = self.branch {
            event.ext(ext::BRANCH, branch);
        }
        if is_part {
            event.part_of_record();
        }
    }
}

//! Where a message of several lines goes on when its results come in another order than its calls.
//!
//! Each line of a message follows the one before it, but the result of a call follows the call's own line. The message
//! after that follows the result which came last, and if that is an early call's, the lines behind that call would look
//! abandoned. So what follows a result is led on to the last line of the message.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::digest;

/// The latest message of each branch.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    latest: HashMap<Option<Rc<str>>, Latest>,
}

#[derive(Debug)]
struct Latest {
    message: u128,
    lines: HashSet<u128>,
    last: Rc<str>,
}

impl Threads {
    /// A line `id` of the message `message` was told.
    pub(crate) fn say(&mut self, branch: Option<&Rc<str>>, message: Option<&str>, id: &str) {
        let Some(message) = message.map(digest::of_text) else { return };
        let line = digest::of_text(id);
        match self.latest.get_mut(&branch.cloned()) {
            Some(latest) if latest.message == message => {
                latest.lines.insert(line);
                latest.last = id.into();
            }
            _ => {
                let latest = Latest { message, lines: HashSet::from([line]), last: id.into() };
                self.latest.insert(branch.cloned(), latest);
            }
        }
    }

    /// The last line so far of the message of which `parent` is a line.
    pub(crate) fn last_line(&self, branch: Option<&Rc<str>>, parent: Option<&str>) -> Option<Rc<str>> {
        let latest = self.latest.get(&branch.cloned())?;
        latest.lines.contains(&digest::of_text(parent?)).then(|| latest.last.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_line_is_led_on_to_the_last_line_of_its_message() {
        let mut threads = Threads::default();
        for id in ["a", "b", "c"] {
            threads.say(None, Some("m"), id);
        }
        let last = |threads: &Threads, parent| threads.last_line(None, Some(parent)).as_deref().map(str::to_owned);
        assert_eq!(last(&threads, "a").as_deref(), Some("c"));
        assert_eq!(last(&threads, "x"), None);
        threads.say(None, Some("n"), "d");
        assert_eq!(last(&threads, "a"), None);
        assert_eq!(last(&threads, "d").as_deref(), Some("d"));
    }

    #[test]
    fn branches_do_not_interrupt_each_other() {
        let (mut threads, branch): (_, Rc<str>) = (Threads::default(), "b".into());
        threads.say(None, Some("m"), "a");
        threads.say(Some(&branch), Some("n"), "x");
        threads.say(None, Some("m"), "b");
        assert_eq!(threads.last_line(None, Some("a")).as_deref(), Some("b"));
        assert_eq!(threads.last_line(Some(&branch), Some("a")), None);
    }
}

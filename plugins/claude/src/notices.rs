//! What notices about work in the background say: which task it was, and whether it has ended.

const OPEN: &str = "<task-notification>";

/// Work that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended<'t> {
    task: Option<&'t str>,
    call: Option<&'t str>,
}

impl Ended<'_> {
    /// Whether it is the work of the sub-agent `agent`, which `call` started.
    pub(crate) fn is(&self, agent: &str, call: &str) -> bool {
        self.task == Some(agent) || self.call == Some(call)
    }
}

/// Whether `text` begins with a notice.
pub(crate) fn is_notice(text: &str) -> bool {
    text.trim_start().starts_with(OPEN)
}

/// The work that has ended by the notices in `text`. Those that say no status tell of work that goes on.
pub(crate) fn ended(text: &str) -> impl Iterator<Item = Ended<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(OPEN)?;
        let (notice, after) = after.split_once("</task-notification>").unwrap_or((after, ""));
        rest = after;
        Some(notice)
    })
    .filter(|notice| element(notice, "status").is_some())
    .map(|notice| Ended { task: element(notice, "task-id"), call: element(notice, "tool-use-id") })
}

/// The text of the first element `name`.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, after) = text.split_once(&format!("<{name}>"))?;
    let (inner, _) = after.split_once(&format!("</{name}>"))?;
    Some(inner.trim()).filter(|inner| !inner.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(Option<&str>, Option<&str>)]) {
        let found: Vec<_> = ended(text).map(|ended| (ended.task, ended.call)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_notice_names_its_task_and_the_call_that_started_it() {
        let whole = "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id> t </tool-use-id>\n<status>completed</status>\n</task-notification>";
        check(whole, &[(Some("a1"), Some("t"))]);
        check(&format!("{whole}\n{whole}"), &[(Some("a1"), Some("t")), (Some("a1"), Some("t"))]);
        check("<task-notification><status>failed</status></task-notification>", &[(None, None)]);
    }

    #[test]
    fn a_notice_without_a_status_ends_nothing() {
        check("<task-notification><task-id>a1</task-id></task-notification>", &[]);
        check("plain words", &[]);
    }

    #[test]
    fn a_notice_that_was_cut_is_read_as_far_as_it_goes() {
        check("<task-notification><task-id>a1</task-id><status>killed</status>", &[(Some("a1"), None)]);
        check("<task-notification><task-id>a1</task-id><status>kil", &[]);
    }
}

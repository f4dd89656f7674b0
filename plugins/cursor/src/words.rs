//! What stands in the user's position: a human's words, and what Cursor puts around them.
//!
//! Cursor wraps what a human typed in `<user_query>` and adds context in elements of its own. Only elements known by
//! name are taken for context, and a text without `<user_query>` only as a whole.

/// Elements that Cursor adds to a prompt.
const CONTEXT: &[&str] = &[
    "user_info",
    "rules",
    "always_applied_workspace_rules",
    "agent_requestable_workspace_rules",
    "user_rules",
    "git_status",
    "project_layout",
    "open_and_recently_viewed_files",
    "attached_files",
    "additional_data",
    "system_reminder",
    "system-reminder",
    "agent_skills",
    "mcp_file_system",
    "agent_transcripts",
    "external_links",
    "image_files",
    "system_notification",
    "timestamp",
];
const QUERY: &str = "user_query";
const TIMESTAMP: &str = "timestamp";

/// A text in the user's position, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt<'t> {
    /// What a human typed, or all of it when it cannot be told apart.
    pub(crate) text: String,
    /// What stands around it.
    pub(crate) context: Vec<&'t str>,
    /// When it was sent, in Cursor's words.
    pub(crate) time: Option<&'t str>,
    /// No human typed any of it.
    pub(crate) is_context: bool,
}

impl<'t> Prompt<'t> {
    /// Takes `text` apart.
    pub(crate) fn of(text: &'t str) -> Self {
        let time = inside(text, TIMESTAMP).map(|(_, time, _)| time.trim());
        let Some((before, query, after)) = inside(text, QUERY) else {
            let is_context = is_context(text);
            return Self { text: text.to_owned(), context: Vec::new(), time: time.filter(|_| is_context), is_context };
        };
        // A second query, which some builds send, is a human's as well.
        let mut text = query.trim().to_owned();
        let mut context = vec![before];
        let mut rest = after;
        while let Some((before, query, after)) = inside(rest, QUERY) {
            context.push(before);
            text.push('\n');
            text.push_str(query.trim());
            rest = after;
        }
        context.push(rest);
        context.retain(|part| !part.trim().is_empty());
        Self { text, context, time, is_context: false }
    }
}

/// What stands before, in and behind the first element `name`.
fn inside<'t>(text: &'t str, name: &str) -> Option<(&'t str, &'t str, &'t str)> {
    let (before, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, after) = rest.split_once(&format!("</{name}>"))?;
    Some((before, inside, after))
}

/// Whether `text` is elements of [`CONTEXT`] and nothing else.
fn is_context(text: &str) -> bool {
    let mut rest = text.trim();
    let is_filled = !rest.is_empty();
    while !rest.is_empty() {
        let Some((name, after)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) else { return false };
        let name = name.split(' ').next().unwrap_or_default();
        let Some((_, after)) = after.split_once(&format!("</{name}>")).filter(|_| CONTEXT.contains(&name)) else {
            return false;
        };
        rest = after.trim_start();
    }
    is_filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, said: &str, context: &[&str], time: Option<&str>, is_context: bool) {
        let expected = Prompt { text: said.to_owned(), context: context.to_vec(), time, is_context };
        assert_eq!(Prompt::of(text), expected, "{text}");
    }

    #[test]
    fn a_query_is_what_a_human_typed() {
        check("<user_query>\nfix it\n</user_query>", "fix it", &[], None, false);
        check(
            "<timestamp>Monday</timestamp>\n<user_query>\nfix it\n</user_query>",
            "fix it",
            &["<timestamp>Monday</timestamp>\n"],
            Some("Monday"),
            false,
        );
        check("<user_query>a</user_query> <user_query>b</user_query>", "a\nb", &[], None, false);
    }

    #[test]
    fn a_text_of_nothing_but_context_is_no_humans() {
        for name in CONTEXT.iter().filter(|name| **name != TIMESTAMP) {
            let text = format!("<{name}>x</{name}>");
            check(&text, &text, &[], None, true);
        }
        let text = "<user_info>\nOS: linux\n</user_info>\n<rules kind=\"x\">y</rules>";
        check(text, text, &[], None, true);
    }

    #[test]
    fn words_beside_context_and_elements_of_ones_own_are_a_humans() {
        for text in
            ["fix it", "<user_info>x</user_info> fix it", "fix <rules>x</rules>", "<b>x</b>", "<user_info>x", "<", ""]
        {
            check(text, text, &[], None, false);
        }
    }
}

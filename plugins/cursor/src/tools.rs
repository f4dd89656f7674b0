//! Cursor's tools by number and name, and their categories.

use std::borrow::Cow;

use toolpath_plugin_api::Category;
use toolpath_plugin_api::kit::category;

/// Numbers of the editor's tools.
const NAMES: &[(u64, &str)] = &[
    (1, "read_semsearch_files"),
    (3, "ripgrep_search"),
    (5, "read_file"),
    (6, "list_dir"),
    (7, "edit_file"),
    (8, "file_search"),
    (9, "semantic_search_full"),
    (11, "delete_file"),
    (12, "reapply"),
    (15, "run_terminal_command_v2"),
    (16, "fetch_rules"),
    (18, "web_search"),
    (19, "mcp"),
    (23, "search_symbols"),
    (24, "background_composer_followup"),
    (25, "knowledge_base"),
    (26, "fetch_pull_request"),
    (27, "deep_search"),
    (28, "create_diagram"),
    (29, "fix_lints"),
    (30, "read_lints"),
    (31, "go_to_definition"),
    (32, "task"),
    (33, "await_task"),
    (34, "todo_read"),
    (35, "todo_write"),
    (38, "edit_file_v2"),
    (39, "list_dir_v2"),
    (40, "read_file_v2"),
    (41, "ripgrep_raw_search"),
    (42, "glob_file_search"),
    (43, "create_plan"),
    (44, "list_mcp_resources"),
    (45, "read_mcp_resource"),
    (46, "read_project"),
    (47, "update_project"),
    (48, "task_v2"),
    (49, "call_mcp_tool"),
    (50, "apply_agent_diff"),
    (51, "ask_question"),
    (52, "switch_mode"),
    (53, "generate_image"),
    (54, "computer_use"),
    (55, "write_shell_stdin"),
    (56, "record_screen"),
    (57, "web_fetch"),
    (58, "report_bugfix_results"),
    (59, "ai_attribution"),
    (60, "mcp_auth"),
    (61, "reflect"),
    (62, "await"),
    (63, "get_mcp_tools"),
];

/// Tools that are not listed have no category: they touch neither files nor the world outside, or their names tell
/// nothing (`mcp`).
const TOOLS: &[(&str, Category)] = &[
    ("read_file", Category::FILE_READ),
    ("read_file_v2", Category::FILE_READ),
    ("Read", Category::FILE_READ),
    ("read_chunk", Category::FILE_READ),
    ("list_dir", Category::FILE_READ),
    ("list_dir_v2", Category::FILE_READ),
    ("LS", Category::FILE_READ),
    ("read_lints", Category::FILE_READ),
    ("read_project", Category::FILE_READ),
    ("go_to_definition", Category::FILE_READ),
    ("edit_file", Category::FILE_WRITE),
    ("edit_file_v2", Category::FILE_WRITE),
    ("search_replace", Category::FILE_WRITE),
    ("write", Category::FILE_WRITE),
    ("Write", Category::FILE_WRITE),
    ("StrReplace", Category::FILE_WRITE),
    ("Edit", Category::FILE_WRITE),
    ("MultiEdit", Category::FILE_WRITE),
    ("ApplyPatch", Category::FILE_WRITE),
    ("apply_patch", Category::FILE_WRITE),
    ("edit_notebook", Category::FILE_WRITE),
    ("EditNotebook", Category::FILE_WRITE),
    ("delete_file", Category::FILE_WRITE),
    ("Delete", Category::FILE_WRITE),
    ("reapply", Category::FILE_WRITE),
    ("apply_agent_diff", Category::FILE_WRITE),
    ("fix_lints", Category::FILE_WRITE),
    ("ripgrep_search", Category::FILE_SEARCH),
    ("ripgrep_raw_search", Category::FILE_SEARCH),
    ("grep", Category::FILE_SEARCH),
    ("grep_search", Category::FILE_SEARCH),
    ("Grep", Category::FILE_SEARCH),
    ("glob_file_search", Category::FILE_SEARCH),
    ("Glob", Category::FILE_SEARCH),
    ("file_search", Category::FILE_SEARCH),
    ("codebase_search", Category::FILE_SEARCH),
    ("read_semsearch_files", Category::FILE_SEARCH),
    ("semantic_search_full", Category::FILE_SEARCH),
    ("SemanticSearch", Category::FILE_SEARCH),
    ("search_symbols", Category::FILE_SEARCH),
    ("deep_search", Category::FILE_SEARCH),
    ("run_terminal_cmd", Category::SHELL),
    ("run_terminal_command", Category::SHELL),
    ("run_terminal_command_v2", Category::SHELL),
    ("Shell", Category::SHELL),
    ("write_shell_stdin", Category::SHELL),
    ("web_search", Category::NETWORK),
    ("WebSearch", Category::NETWORK),
    ("web_fetch", Category::NETWORK),
    ("WebFetch", Category::NETWORK),
    ("fetch_pull_request", Category::NETWORK),
    ("task", Category::DELEGATION),
    ("task_v2", Category::DELEGATION),
    ("Task", Category::DELEGATION),
    ("Subagent", Category::DELEGATION),
    ("background_composer_followup", Category::DELEGATION),
];

/// The category of the tool `name`.
pub(crate) fn category_of(name: &str) -> Category {
    category::of(TOOLS, name)
}

/// The name of a tool: the record's, or that of its number.
pub(crate) fn name_of(number: Option<u64>, name: Option<Cow<'_, str>>) -> String {
    let known = || number.and_then(|number| NAMES.iter().find(|(known, _)| *known == number)).map(|(_, name)| *name);
    // The number is the surer of the two, and the name the more exact: versions of a tool share none.
    match (name, known()) {
        (Some(name), Some(known)) if category_of(&name) == Category::NONE => known.to_owned(),
        (Some(name), _) => name.into_owned(),
        (None, known) => {
            known.map_or_else(|| number.map_or_else(String::new, |number| format!("tool-{number}")), Into::into)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_the_category_of_what_it_does() {
        for (name, category) in [
            ("read_file_v2", Category::FILE_READ),
            ("StrReplace", Category::FILE_WRITE),
            ("Grep", Category::FILE_SEARCH),
            ("run_terminal_cmd", Category::SHELL),
            ("WebFetch", Category::NETWORK),
            ("task_v2", Category::DELEGATION),
            ("todo_write", Category::NONE),
            ("call_mcp_tool", Category::NONE),
            ("Bash", Category::NONE),
        ] {
            assert_eq!(category_of(name), category, "{name}");
        }
    }

    #[test]
    fn a_tool_is_called_what_its_record_says_or_by_its_number() {
        for (number, name, expected) in [
            (Some(38), Some("edit_file_v2"), "edit_file_v2"),
            (Some(7), Some("search_replace"), "search_replace"),
            (Some(15), Some("shell-of-tomorrow"), "run_terminal_command_v2"),
            (Some(40), None, "read_file_v2"),
            (Some(999), None, "tool-999"),
            (Some(999), Some("x"), "x"),
            (None, None, ""),
        ] {
            assert_eq!(name_of(number, name.map(Into::into)), expected);
        }
    }
}

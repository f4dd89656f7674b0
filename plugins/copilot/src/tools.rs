//! Copilot's tools by category.

use toolpath_plugin_api::Category;
use toolpath_plugin_api::kit::category;
use toolpath_plugin_api::kit::field::Field;

use crate::shape::Arguments;

/// The editor of older versions, whose argument `command` says what it does.
pub(crate) const EDITOR: &str = "str_replace_editor";
/// Takes a patch as its whole argument.
pub(crate) const PATCH: &str = "apply_patch";

/// Tools that are not listed have no category: they touch neither files nor the world outside, or their names tell
/// nothing (custom agents, tools of servers).
const TOOLS: &[(&str, Category)] = &[
    ("view", Category::FILE_READ),
    ("bash", Category::SHELL),
    ("edit", Category::FILE_WRITE),
    ("create", Category::FILE_WRITE),
    ("grep", Category::FILE_SEARCH),
    ("glob", Category::FILE_SEARCH),
    ("task", Category::DELEGATION),
    ("read_file", Category::FILE_READ),
    ("rg", Category::FILE_SEARCH),
    ("file_search", Category::FILE_SEARCH),
    ("grep_search", Category::FILE_SEARCH),
    ("semantic_search", Category::FILE_SEARCH),
    ("str_replace", Category::FILE_WRITE),
    (EDITOR, Category::FILE_WRITE),
    (PATCH, Category::FILE_WRITE),
    ("write_file", Category::FILE_WRITE),
    ("delete_file", Category::FILE_WRITE),
    ("create_file", Category::FILE_WRITE),
    ("replace_string_in_file", Category::FILE_WRITE),
    ("local_shell", Category::SHELL),
    ("powershell", Category::SHELL),
    ("shell", Category::SHELL),
    ("run_in_terminal", Category::SHELL),
    ("read_bash", Category::SHELL),
    ("write_bash", Category::SHELL),
    ("stop_bash", Category::SHELL),
    ("list_bash", Category::SHELL),
    ("read_powershell", Category::SHELL),
    ("write_powershell", Category::SHELL),
    ("stop_powershell", Category::SHELL),
    ("list_powershell", Category::SHELL),
    ("web_fetch", Category::NETWORK),
    ("web_search", Category::NETWORK),
    ("fetch", Category::NETWORK),
    ("agent", Category::DELEGATION),
];

/// The category of the tool `name`, called with `arguments`; `of_server` when a server offers it, not Copilot.
pub(crate) fn category_of(name: &str, arguments: &str, of_server: bool) -> Category {
    if of_server {
        return Category::NONE;
    }
    if name == EDITOR {
        let arguments: Arguments<'_> = Field::parse(arguments).object_or_default();
        return match arguments.command.text().as_deref() {
            Some("view") => Category::FILE_READ,
            _ => Category::FILE_WRITE,
        };
    }
    category::of(TOOLS, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_the_category_of_what_it_does() {
        for (name, category) in [
            ("view", Category::FILE_READ),
            ("create", Category::FILE_WRITE),
            ("apply_patch", Category::FILE_WRITE),
            ("rg", Category::FILE_SEARCH),
            ("stop_powershell", Category::SHELL),
            ("web_fetch", Category::NETWORK),
            ("task", Category::DELEGATION),
            ("read_agent", Category::NONE),
            ("report_intent", Category::NONE),
            ("my-agent", Category::NONE),
        ] {
            assert_eq!(category_of(name, "{}", false), category, "{name}");
        }
    }

    #[test]
    fn the_old_editor_does_what_its_command_says() {
        assert_eq!(category_of(EDITOR, r#"{"command":"view"}"#, false), Category::FILE_READ);
        for arguments in [r#"{"command":"create"}"#, r#"{"command":"insert"}"#, "{}", "null", "7"] {
            assert_eq!(category_of(EDITOR, arguments, false), Category::FILE_WRITE, "{arguments}");
        }
    }

    #[test]
    fn a_servers_tool_has_none_whatever_its_name() {
        assert_eq!(category_of("edit", "{}", true), Category::NONE);
    }
}

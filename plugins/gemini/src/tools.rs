//! Gemini CLI's tools by category.

use toolpath_plugin_api::Category;
use toolpath_plugin_api::kit::category;

/// Tools that are not listed have no category: they touch neither files nor the world outside, or their names tell
/// nothing (`mcp_...`, `discovered_tool_...`).
const TOOLS: &[(&str, Category)] = &[
    ("read_file", Category::FILE_READ),
    ("read_many_files", Category::FILE_READ),
    ("list_directory", Category::FILE_READ),
    ("get_internal_docs", Category::FILE_READ),
    ("read_mcp_resource", Category::FILE_READ),
    ("glob", Category::FILE_SEARCH),
    ("grep_search", Category::FILE_SEARCH),
    ("search_file_content", Category::FILE_SEARCH),
    ("write_file", Category::FILE_WRITE),
    ("replace", Category::FILE_WRITE),
    ("edit", Category::FILE_WRITE),
    ("run_shell_command", Category::SHELL),
    ("web_fetch", Category::NETWORK),
    ("google_web_search", Category::NETWORK),
    ("invoke_agent", Category::DELEGATION),
    // Older versions called each agent by its own name.
    ("codebase_investigator", Category::DELEGATION),
    ("cli_help", Category::DELEGATION),
    ("generalist", Category::DELEGATION),
    ("browser_agent", Category::DELEGATION),
    ("task", Category::DELEGATION),
];

/// The category of the tool `name`.
pub(crate) fn category_of(name: &str) -> Category {
    category::of(TOOLS, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_the_category_of_what_it_does() {
        for (name, category) in [
            ("read_many_files", Category::FILE_READ),
            ("search_file_content", Category::FILE_SEARCH),
            ("replace", Category::FILE_WRITE),
            ("run_shell_command", Category::SHELL),
            ("web_fetch", Category::NETWORK),
            ("invoke_agent", Category::DELEGATION),
            ("write_todos", Category::NONE),
            ("activate_skill", Category::NONE),
            ("mcp_files_write_file", Category::NONE),
        ] {
            assert_eq!(category_of(name), category, "{name}");
        }
    }
}

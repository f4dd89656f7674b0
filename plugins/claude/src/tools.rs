//! Claude Code's tools by category.

use toolpath_plugin_api::Category;
use toolpath_plugin_api::kit::category;

/// Tools that are not listed have no category: they touch neither files nor the world outside, or their names tell
/// nothing (`mcp__...`).
const TOOLS: &[(&str, Category)] = &[
    ("Bash", Category::SHELL),
    ("Read", Category::FILE_READ),
    ("Edit", Category::FILE_WRITE),
    ("Grep", Category::FILE_SEARCH),
    ("Glob", Category::FILE_SEARCH),
    ("Write", Category::FILE_WRITE),
    ("MultiEdit", Category::FILE_WRITE),
    ("NotebookEdit", Category::FILE_WRITE),
    ("NotebookRead", Category::FILE_READ),
    ("LS", Category::FILE_READ),
    ("ReadMcpResource", Category::FILE_READ),
    ("LSP", Category::FILE_SEARCH),
    ("PowerShell", Category::SHELL),
    ("BashOutput", Category::SHELL),
    ("KillShell", Category::SHELL),
    ("KillBash", Category::SHELL),
    ("TaskStop", Category::SHELL),
    ("Monitor", Category::SHELL),
    ("WebFetch", Category::NETWORK),
    ("WebSearch", Category::NETWORK),
    // The API's own tools, which run on its side.
    ("web_fetch", Category::NETWORK),
    ("web_search", Category::NETWORK),
    ("Task", Category::DELEGATION),
    ("Agent", Category::DELEGATION),
    ("TaskOutput", Category::DELEGATION),
    ("AgentOutputTool", Category::DELEGATION),
    ("SendMessage", Category::DELEGATION),
    ("TeamCreate", Category::DELEGATION),
    ("Workflow", Category::DELEGATION),
    ("RemoteTrigger", Category::DELEGATION),
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
            ("Read", Category::FILE_READ),
            ("NotebookEdit", Category::FILE_WRITE),
            ("Glob", Category::FILE_SEARCH),
            ("KillShell", Category::SHELL),
            ("WebFetch", Category::NETWORK),
            ("Agent", Category::DELEGATION),
            ("TodoWrite", Category::NONE),
            ("ToolSearch", Category::NONE),
            ("Skill", Category::NONE),
            ("mcp__files__Write", Category::NONE),
        ] {
            assert_eq!(category_of(name), category, "{name}");
        }
    }
}

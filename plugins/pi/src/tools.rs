//! Pi's tools by category.

use toolpath_plugin_api::Category;
use toolpath_plugin_api::kit::category;

/// Writes a whole file.
pub(crate) const WRITE: &str = "write";
/// Replaces texts in a file.
pub(crate) const EDIT: &str = "edit";
/// Runs a command; what the human runs with `!` is shown as a call of it.
pub(crate) const BASH: &str = "bash";

/// The tools that come with Pi, and those of its example extension for sub-agents. What extensions add has no
/// category: its name says nothing for sure.
const TOOLS: &[(&str, Category)] = &[
    ("read", Category::FILE_READ),
    (BASH, Category::SHELL),
    (EDIT, Category::FILE_WRITE),
    (WRITE, Category::FILE_WRITE),
    ("ls", Category::FILE_SEARCH),
    ("find", Category::FILE_SEARCH),
    ("grep", Category::FILE_SEARCH),
    ("subagent", Category::DELEGATION),
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
            ("read", Category::FILE_READ),
            ("edit", Category::FILE_WRITE),
            ("write", Category::FILE_WRITE),
            ("ls", Category::FILE_SEARCH),
            ("bash", Category::SHELL),
            ("subagent", Category::DELEGATION),
            ("todo", Category::NONE),
            ("Edit", Category::NONE),
        ] {
            assert_eq!(category_of(name), category, "{name}");
        }
    }
}

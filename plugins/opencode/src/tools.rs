//! opencode's tools by category.

use toolpath_plugin_api::Category;
use toolpath_plugin_api::kit::category;

/// The tool that stands for a call which could not be read; it succeeds at saying so.
pub(crate) const INVALID: &str = "invalid";

/// Tools that are not listed have no category: they touch neither files nor the world outside, or their names tell
/// nothing (`server_tool`).
const TOOLS: &[(&str, Category)] = &[
    ("read", Category::FILE_READ),
    ("list", Category::FILE_READ),
    ("ls", Category::FILE_READ),
    ("view", Category::FILE_READ),
    ("glob", Category::FILE_SEARCH),
    ("grep", Category::FILE_SEARCH),
    ("codesearch", Category::FILE_SEARCH),
    ("lsp", Category::FILE_SEARCH),
    ("write", Category::FILE_WRITE),
    ("edit", Category::FILE_WRITE),
    ("multiedit", Category::FILE_WRITE),
    ("patch", Category::FILE_WRITE),
    ("apply_patch", Category::FILE_WRITE),
    ("bash", Category::SHELL),
    ("shell", Category::SHELL),
    ("webfetch", Category::NETWORK),
    ("websearch", Category::NETWORK),
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
            ("list", Category::FILE_READ),
            ("codesearch", Category::FILE_SEARCH),
            ("multiedit", Category::FILE_WRITE),
            ("apply_patch", Category::FILE_WRITE),
            ("bash", Category::SHELL),
            ("websearch", Category::NETWORK),
            ("task", Category::DELEGATION),
            ("todowrite", Category::NONE),
            ("question", Category::NONE),
            ("skill", Category::NONE),
            (INVALID, Category::NONE),
            ("files_write", Category::NONE),
        ] {
            assert_eq!(category_of(name), category, "{name}");
        }
    }
}

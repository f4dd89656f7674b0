//! Tool names to categories.

use crate::record::Category;

/// Looks `name` up in a plugin's table; a tool that is not listed has no category.
pub fn of(table: &[(&str, Category)], name: &str) -> Category {
    table.iter().find(|(tool, _)| *tool == name).map_or(Category::NONE, |&(_, category)| category)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_listed_has_no_category() {
        let table = [("Read", Category::FILE_READ), ("Bash", Category::SHELL)];
        assert_eq!(of(&table, "Bash"), Category::SHELL);
        assert_eq!(of(&table, "bash"), Category::NONE);
    }
}

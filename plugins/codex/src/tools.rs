//! Codex's tools by category.

use toolpath_plugin_api::Category;
use toolpath_plugin_api::kit::category;

/// Tools that are not listed have no category: they touch neither files nor the world outside, or their names tell
/// nothing (`mcp__...`).
const TOOLS: &[(&str, Category)] = &[
    ("shell", Category::SHELL),
    ("container.exec", Category::SHELL),
    ("shell_command", Category::SHELL),
    ("exec_command", Category::SHELL),
    ("write_stdin", Category::SHELL),
    ("unified_exec", Category::SHELL),
    ("local_shell", Category::SHELL),
    ("js_repl", Category::SHELL),
    // Code mode: JavaScript that calls other tools.
    ("exec", Category::SHELL),
    ("read_file", Category::FILE_READ),
    ("view_image", Category::FILE_READ),
    ("read_mcp_resource", Category::FILE_READ),
    ("list_dir", Category::FILE_SEARCH),
    ("grep_files", Category::FILE_SEARCH),
    ("file_search", Category::FILE_SEARCH),
    ("apply_patch", Category::FILE_WRITE),
    ("web_search", Category::NETWORK),
    ("web.run", Category::NETWORK),
    ("image_gen.imagegen", Category::NETWORK),
    ("spawn_agent", Category::DELEGATION),
    ("send_input", Category::DELEGATION),
    ("send_message", Category::DELEGATION),
    ("followup_task", Category::DELEGATION),
    ("resume_agent", Category::DELEGATION),
    ("wait_agent", Category::DELEGATION),
    ("close_agent", Category::DELEGATION),
    ("interrupt_agent", Category::DELEGATION),
    ("list_agents", Category::DELEGATION),
    ("spawn_agents_on_csv", Category::DELEGATION),
];
/// Namespaces whose tools are listed under their own names.
const AGENTS: [&str; 3] = ["agents", "multi_agent", "multi_agents"];

/// The whole name of a tool in a namespace.
pub(crate) fn whole_name(namespace: Option<&str>, name: &str) -> String {
    match namespace.filter(|namespace| !namespace.is_empty()) {
        None => name.to_owned(),
        Some(namespace) if namespace.ends_with("__") || namespace.ends_with('.') => format!("{namespace}{name}"),
        Some(namespace) => format!("{namespace}.{name}"),
    }
}

/// The category of a tool with this whole name; `input` tells the two tools called `wait` apart.
pub(crate) fn category_of(name: &str, input: &str) -> Category {
    let own = name.split_once('.').filter(|(namespace, _)| AGENTS.contains(namespace)).map_or(name, |(_, own)| own);
    match own {
        "wait" if input.contains("\"ids\"") || own != name => Category::DELEGATION,
        "wait" => Category::SHELL,
        own => category::of(TOOLS, own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_the_category_of_what_it_does() {
        for (name, category) in [
            ("shell", Category::SHELL),
            ("exec", Category::SHELL),
            ("view_image", Category::FILE_READ),
            ("list_dir", Category::FILE_SEARCH),
            ("apply_patch", Category::FILE_WRITE),
            ("web.run", Category::NETWORK),
            ("spawn_agent", Category::DELEGATION),
            ("agents.send_input", Category::DELEGATION),
            ("update_plan", Category::NONE),
            ("mcp__files__apply_patch", Category::NONE),
            ("other.shell", Category::NONE),
        ] {
            assert_eq!(category_of(name, "{}"), category, "{name}");
        }
    }

    #[test]
    fn waiting_is_for_agents_or_for_a_command() {
        assert_eq!(category_of("wait", r#"{"ids":["a"]}"#), Category::DELEGATION);
        assert_eq!(category_of("wait", r#"{"cell_id":"1"}"#), Category::SHELL);
        assert_eq!(category_of("multi_agents.wait", "{}"), Category::DELEGATION);
    }

    #[test]
    fn a_name_stands_behind_its_namespace() {
        assert_eq!(whole_name(Some("mcp__files__"), "read"), "mcp__files__read");
        assert_eq!(whole_name(Some("web"), "run"), "web.run");
        assert_eq!(whole_name(Some(""), "shell"), "shell");
        assert_eq!(whole_name(None, "shell"), "shell");
    }
}

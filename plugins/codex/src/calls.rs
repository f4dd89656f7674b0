//! Tool calls: their name, their input as JSON, and the files that a patch in it asks to write.

use std::borrow::Cow;

use toolpath_plugin_api::Category;
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::shape;

use crate::content::{decoded_size, texts};
use crate::edits::{Edit, absolute, in_command, of_patch};
use crate::record::Item;
use crate::tools::{category_of, whole_name};

shape! {
    /// What the inputs of tools hold that we look at.
    Input {
        command: "command" | "cmd",
        workdir: "workdir" | "working_directory",
        patch: "input" | "patch",
        message: "message" | "prompt",
        items: "items",
    }
}

/// One tool call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Id that results refer to; empty when it has none.
    pub(crate) id: String,
    pub(crate) name: String,
    /// One JSON value.
    pub(crate) input: String,
    pub(crate) category: Category,
    /// Writes that it asks for.
    pub(crate) edits: Vec<Edit>,
    /// What another agent is asked.
    pub(crate) prompt: Option<String>,
    /// What stands for its result in the call itself.
    pub(crate) result: Option<String>,
}

/// Whether an item of this kind is a tool call.
pub(crate) fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "web_search_call"
            | "image_generation_call"
            | "tool_search_call"
    )
}

/// Whether an item of this kind is a tool's answer.
pub(crate) fn is_result(kind: &str) -> bool {
    matches!(
        kind,
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" | "tool_search_output"
    )
}

impl Call {
    /// The call that an item of the kind `kind` makes from the folder `dir`.
    pub(crate) fn of(item: &Item<'_>, kind: &str, dir: Option<&str>) -> Self {
        let (name, input) = match kind {
            "local_shell_call" => ("local_shell".into(), json(item.action)),
            "web_search_call" => ("web_search".into(), json(item.action)),
            "tool_search_call" => ("tool_search".into(), arguments(item.arguments)),
            "image_generation_call" => ("image_generation".into(), prompt_of_image(item)),
            "custom_tool_call" => (name(item), json(item.input)),
            _ => (name(item), arguments(item.arguments)),
        };
        let category = category_of(&name, &input);
        let mut call = Self {
            id: call_id(item).unwrap_or_default().into_owned(),
            input,
            category,
            edits: Vec::new(),
            prompt: None,
            result: None,
            name,
        };
        call.look_at_input(dir);
        if kind == "image_generation_call" {
            call.result = item.result.filled().map(|image| format!("[image: {} bytes]", decoded_size(&image)));
        }
        call
    }

    fn look_at_input(&mut self, dir: Option<&str>) {
        let field = Field::parse(&self.input);
        let input: Input<'_> = field.object().unwrap_or_default();
        let dir = input.workdir.filled().map_or_else(|| dir.map(str::to_owned), |own| Some(absolute(&own, dir)));
        match self.category {
            Category::FILE_WRITE => {
                let patch = field.text().or_else(|| input.patch.text());
                self.edits = patch.map(|patch| of_patch(&patch, dir.as_deref())).unwrap_or_default();
            }
            Category::SHELL => {
                let words: Vec<Cow<'_, str>> = match input.command.list() {
                    Some(words) => words.into_iter().filter_map(Field::text).collect(),
                    None => input.command.text().into_iter().collect(),
                };
                if let Some((patch, own)) = in_command(&words) {
                    let dir = own.map_or(dir.clone(), |own| Some(absolute(own, dir.as_deref())));
                    self.edits = of_patch(patch, dir.as_deref());
                }
            }
            Category::DELEGATION => {
                let prompt = input.message.filled().map(Cow::into_owned);
                self.prompt = prompt.or_else(|| Some(texts(input.items).join("\n")).filter(|text| !text.is_empty()));
            }
            _ => {}
        }
    }

    /// Whether its input alone makes no write, as the answer may be that it failed.
    pub(crate) fn writes(&self) -> bool {
        self.category == Category::FILE_WRITE || !self.edits.is_empty()
    }

    /// Roughly the bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        400 + self.input.len() + self.edits.iter().map(Edit::weight).sum::<usize>()
    }
}

/// The id under which a call and its result know each other.
pub(crate) fn call_id<'a>(item: &Item<'a>) -> Option<Cow<'a, str>> {
    item.call_id.filled().or_else(|| item.id.filled())
}

fn name(item: &Item<'_>) -> String {
    whole_name(item.namespace.text().as_deref(), &item.name.text().unwrap_or_default())
}

/// Arguments are a text that holds JSON, or should.
fn arguments(field: Field<'_>) -> String {
    match field.text() {
        Some(text) if Field::parse(&text).is_some() => text.into_owned(),
        _ => json(field),
    }
}

fn json(field: Field<'_>) -> String {
    field.json().unwrap_or("null").to_owned()
}

fn prompt_of_image(item: &Item<'_>) -> String {
    item.revised_prompt
        .text()
        .map_or("null".to_owned(), |prompt| format!(r#"{{"revised_prompt":{}}}"#, quoted(&prompt)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn call(json: &str) -> Call {
        let item: Item<'_> = Field::parse(json).object().expect("an item");
        let kind = item.kind();
        assert!(is_call(&kind), "{json}");
        Call::of(&item, &kind, Some("/p"))
    }

    #[track_caller]
    fn check(json: &str, id: &str, name: &str, category: Category, input: &str) {
        let call = call(json);
        assert_eq!((&*call.id, &*call.name, call.category, &*call.input), (id, name, category, input), "{json}");
    }

    #[test]
    fn calls_of_every_kind_have_an_id_a_name_and_an_input() {
        check(
            r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c"}"#,
            "c",
            "shell",
            Category::SHELL,
            r#"{"command":["ls"]}"#,
        );
        check(
            r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** x","call_id":"c"}"#,
            "c",
            "apply_patch",
            Category::FILE_WRITE,
            r#""*** x""#,
        );
        check(
            r#"{"type":"local_shell_call","call_id":"c","action":{"type":"exec","command":["ls"]}}"#,
            "c",
            "local_shell",
            Category::SHELL,
            r#"{"type":"exec","command":["ls"]}"#,
        );
        check(
            r#"{"type":"web_search_call","id":"ws","action":{"type":"search"}}"#,
            "ws",
            "web_search",
            Category::NETWORK,
            r#"{"type":"search"}"#,
        );
        check(
            r#"{"type":"tool_search_call","call_id":"c","arguments":{"query":"x"}}"#,
            "c",
            "tool_search",
            Category::NONE,
            r#"{"query":"x"}"#,
        );
        check(
            r#"{"type":"function_call","name":"read","namespace":"mcp__files__","call_id":"c"}"#,
            "c",
            "mcp__files__read",
            Category::NONE,
            "null",
        );
    }

    #[test]
    fn arguments_that_are_no_json_are_a_text() {
        check(
            r#"{"type":"function_call","name":"shell","arguments":"{\"command\":","call_id":"c"}"#,
            "c",
            "shell",
            Category::SHELL,
            r#""{\"command\":""#,
        );
        check(
            r#"{"type":"function_call","name":"write_stdin","arguments":{"chars":"y"}}"#,
            "",
            "write_stdin",
            Category::SHELL,
            r#"{"chars":"y"}"#,
        );
    }

    #[test]
    fn an_image_stands_as_its_size() {
        let image = call(r#"{"type":"image_generation_call","id":"ig","revised_prompt":"a cat","result":"aGVsbG8="}"#);
        assert_eq!((&*image.id, &*image.input), ("ig", r#"{"revised_prompt":"a cat"}"#));
        assert_eq!(image.result.as_deref(), Some("[image: 5 bytes]"));
    }

    #[test]
    fn a_patch_is_found_in_each_tool_that_takes_one() {
        let patch = "*** Begin Patch\\n*** Delete File: a\\n*** End Patch";
        let quoted = patch.replace('\\', "\\\\");
        for (json, path) in [
            (format!(r#"{{"type":"custom_tool_call","name":"apply_patch","input":"{patch}"}}"#), "/p/a"),
            (
                format!(r#"{{"type":"function_call","name":"apply_patch","arguments":"{{\"input\":\"{quoted}\"}}"}}"#),
                "/p/a",
            ),
            (
                format!(
                    r#"{{"type":"function_call","name":"shell","arguments":"{{\"command\":[\"apply_patch\",\"{quoted}\"],\"workdir\":\"sub\"}}"}}"#
                ),
                "/p/sub/a",
            ),
            (
                format!(
                    r#"{{"type":"function_call","name":"exec_command","arguments":"{{\"cmd\":\"cd /q && apply_patch <<'E'\\n{quoted}\\nE\"}}"}}"#
                ),
                "/q/a",
            ),
            (
                format!(
                    r#"{{"type":"local_shell_call","action":{{"command":["apply_patch","{patch}"],"working_directory":"/r"}}}}"#
                ),
                "/r/a",
            ),
        ] {
            let call = call(&json);
            let [edit] = call.edits.as_slice() else { panic!("one write: {json}: {call:?}") };
            assert!(format!("{edit:?}").contains(&format!("path: \"{path}\"")), "{edit:?}");
            assert!(call.writes());
        }
        assert!(!call(r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}"}"#).writes());
    }

    #[test]
    fn what_another_agent_is_asked_is_known() {
        let asked = |arguments: &str| {
            let json = serde_json::json!({"type": "function_call", "name": "spawn_agent", "arguments": arguments});
            call(&json.to_string()).prompt
        };
        assert_eq!(asked(r#"{"message":"look"}"#).as_deref(), Some("look"));
        assert_eq!(
            asked(r#"{"items":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#).as_deref(),
            Some("a\nb")
        );
        assert_eq!(asked("{}"), None);
    }
}

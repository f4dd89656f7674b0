//! What JSON Schemas can say of a document, and their complaints in our words.
//!
//! The schemas stand in `host/schemas`. They say `if` and `then` where they could say `oneOf`, so that what is wrong is
//! told about the alternative that was meant. `format` is not enforced: a timestamp may be any text.

use std::sync::LazyLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::{Value, json};

use super::finding::quoted;

/// A document.
pub(super) static DOCUMENT: LazyLock<Validator> = LazyLock::new(|| compile(&document()));

/// A line of a stream.
pub(super) static LINE: LazyLock<Validator> =
    LazyLock::new(|| compile(&json!({"$ref": "#/$defs/line", "$defs": document()["$defs"]})));

/// A path of the kind that coding sessions have, besides what it must be as part of a document.
pub(super) static SESSION: LazyLock<Validator> =
    LazyLock::new(|| compile(&parse(include_str!("../../schemas/agent-coding-session-1.1.0.schema.json"))));

fn document() -> Value {
    parse(include_str!("../../schemas/toolpath.schema.json"))
}

fn parse(schema: &str) -> Value {
    serde_json::from_str(schema).expect("the schemas are JSON")
}

fn compile(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).expect("the schemas are schemas")
}

/// One complaint of a schema.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Fault {
    /// JSON pointer to what is wrong.
    pub(super) pointer: String,
    /// What is wrong with it: a sentence without its subject.
    predicate: String,
}

impl Fault {
    /// The sentence, about `rest` of the pointer or, where nothing is left of it, the `whole`.
    pub(super) fn sentence(&self, rest: &str, whole: &str) -> String {
        let predicate = &self.predicate;
        if rest.is_empty() { format!("the {whole} {predicate}") } else { format!("{} {predicate}", quoted(rest)) }
    }
}

/// Everything that `schema` finds wrong with `value`.
pub(super) fn faults(schema: &Validator, value: &Value) -> Vec<Fault> {
    // Saying yes is several times as fast as looking for what to complain of.
    if schema.is_valid(value) { Vec::new() } else { schema.iter_errors(value).map(|error| fault(&error)).collect() }
}

fn fault(error: &ValidationError<'_>) -> Fault {
    let predicate = match error.kind() {
        ValidationErrorKind::Type { kind: TypeKind::Single(kind) } => format!("must be {}", with_article(*kind)),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(kinds) } => {
            format!("must be {}", either(kinds.iter().map(|kind| with_article(kind).to_owned())))
        }
        ValidationErrorKind::Required { property } => format!("must have {}", literal(property)),
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let keys: Vec<String> = unexpected.iter().map(|key| quoted(key)).collect();
            format!("must not have {}", keys.join(", "))
        }
        ValidationErrorKind::FalseSchema => "must not be there".to_owned(),
        ValidationErrorKind::Constant { expected_value } => format!("must be {}", literal(expected_value)),
        ValidationErrorKind::Enum { options } => {
            format!("must be {}", either(options.as_array().into_iter().flatten().map(literal)))
        }
        ValidationErrorKind::Pattern { pattern } => {
            format!("must be {}, not {}", wanted(pattern), literal(error.instance()))
        }
        ValidationErrorKind::PropertyNames { error } => match error.kind() {
            ValidationErrorKind::Pattern { pattern } => {
                format!("has the key {}, which must be {}", literal(error.instance()), wanted(pattern))
            }
            _ => format!("has the key {}, which it must not", literal(error.instance())),
        },
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            return none_of(error, context);
        }
        _ => error.masked_with("it").to_string().trim_start_matches("it ").to_owned(),
    };
    Fault { pointer: error.instance_path().as_str().to_owned(), predicate }
}

/// Of alternatives that all fail: the keys of which one is missing or, where that is not all, the failure that lies
/// deepest, which is that of the alternative that came closest.
fn none_of(error: &ValidationError<'_>, alternatives: &[Vec<ValidationError<'static>>]) -> Fault {
    let missing: Option<Vec<String>> = alternatives
        .iter()
        .map(|errors| match errors.as_slice() {
            [only] => match only.kind() {
                ValidationErrorKind::Required { property } => Some(literal(property)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let depth = |fault: &Fault| fault.pointer.matches('/').count();
    match missing {
        Some(keys) => Fault {
            pointer: error.instance_path().as_str().to_owned(),
            predicate: format!("must have {}", either(keys.into_iter())),
        },
        None => alternatives.iter().flatten().map(fault).max_by_key(depth).unwrap_or_else(|| Fault {
            pointer: error.instance_path().as_str().to_owned(),
            predicate: "is none of what it may be".to_owned(),
        }),
    }
}

/// What the text must be that a pattern of the schemas describes.
fn wanted(pattern: &str) -> &'static str {
    if pattern.starts_with("^(human|") {
        "an actor like `human:name` or `agent:vendor/model`"
    } else {
        "`path` or `step:` and a step's id"
    }
}

fn with_article(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "a list",
        JsonType::Object => "an object",
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => quoted(text),
        other => quoted(&other.to_string()),
    }
}

/// `a`, `b` or `c`.
fn either(words: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = words.collect();
    match words.pop() {
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} or {last}", words.join(", ")),
        None => "nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, value: Value, expected: &[&str]) {
        let told: Vec<String> =
            faults(&compile(&schema), &value).iter().map(|fault| fault.sentence(&fault.pointer, "value")).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn each_complaint_is_a_sentence() {
        check(json!({"type": "array"}), json!(1), &["the value must be a list"]);
        check(json!({"type": ["integer", "null"]}), json!("x"), &["the value must be null or an integer"]);
        check(json!({"properties": {"a": {"required": ["b"]}}}), json!({"a": {}}), &["`/a` must have `b`"]);
        let closed = json!({"properties": {"c": {}}, "additionalProperties": false});
        check(closed, json!({"b": 1, "a": 1, "c": 1}), &["the value must not have `a`, `b`"]);
        check(json!({"properties": {"a": false}}), json!({"a": 1}), &["`/a` must not be there"]);
        check(json!({"enum": ["a", "b", null]}), json!(1), &["the value must be `a`, `b` or null"]);
        check(json!({"const": "1"}), json!(1), &["the value must be `1`"]);
        check(json!({"maximum": 3}), json!(4), &["the value is greater than the maximum of 3"]);
    }

    #[test]
    fn alternatives_are_told_by_what_is_missing_or_by_the_one_that_came_closest() {
        let keys = json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
        check(keys, json!({}), &["the value must have `a` or `b`"]);
        let shapes = json!({"oneOf": [{"type": "string"}, {"properties": {"a": {"items": {"type": "string"}}}}]});
        check(shapes, json!({"a": [7]}), &["`/a/0` must be a string"]);
    }

    #[test]
    fn an_actor_is_a_kind_and_a_name_of_one_or_two_parts() {
        let schema = compile(&json!({"$ref": "#/$defs/actorName", "$defs": document()["$defs"]}));
        for good in ["human:user", "agent:demo-model_2.0", "tool:a", "ci:x/y", "agent:Vendor/m.1"] {
            assert!(schema.is_valid(&json!(good)), "{good}");
        }
        for bad in [
            "",
            "user",
            "human:",
            "agent:<odd>",
            "agent:x:0",
            "agent:a/b/c",
            "agent:/a",
            "agent:a/",
            "bot:x",
            "Human:user",
            " human:user",
            "human:user\n",
            "human:é",
        ] {
            assert!(!schema.is_valid(&json!(bad)), "{bad:?}");
        }
    }

    #[test]
    fn the_schemas_are_all_compiled() {
        for schema in [&DOCUMENT, &LINE, &SESSION] {
            assert!(!schema.is_valid(&json!([])));
        }
    }
}

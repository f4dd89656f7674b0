//! Records that are no messages, kept as they stand.

use toolpath_plugin_api::kit::json::{object_without, quoted};
use toolpath_plugin_api::{Sink, Stopped};

use crate::place::Place;

/// Keys that an event tells in fields of its own, when they hold a text.
const TOLD: [&str; 3] = ["id", "timestamp", "type"];

/// Tells a record as an event of the kind `event_type`.
pub(crate) fn named(event_type: &str, json: &str, place: &Place<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
    without(event_type, json, &[], place, sink)
}

/// Tells a record as an event of the kind `event_type`, without the fields in `left_out`.
pub(crate) fn without(
    event_type: &str,
    json: &str,
    left_out: &[&str],
    place: &Place<'_>,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let data = fields(json, left_out).unwrap_or_else(|| format!(r#"{{"raw":{json}}}"#));
    sink.event(place.event(event_type).data(&data))
}

/// Tells fields of the record at `place` that have no place in the turn `turn`; `None` values are left out, and so is
/// the event when there are no others.
pub(crate) fn rest(
    event_type: &str,
    fields: &[(&str, Option<&str>)],
    place: &Place<'_>,
    turn: Option<&str>,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let fields: Vec<String> =
        fields.iter().filter_map(|(key, json)| json.map(|json| format!("{}:{json}", quoted(key)))).collect();
    if fields.is_empty() {
        return Ok(());
    }
    let data = format!("{{{}}}", fields.join(","));
    sink.event(place.part(event_type, turn).data(&data))
}

/// The object `json` without the keys in [`TOLD`] that hold a text and those in `left_out`; `None` when it is no object.
fn fields(json: &str, left_out: &[&str]) -> Option<String> {
    let is_told = |key: &str, value: &str| TOLD.contains(&key) && value.starts_with('"') && value != r#""""#;
    object_without(json, |key, value| is_told(key, value) || left_out.contains(&key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_what_the_event_does_not_tell_otherwise() {
        let json =
            r#"{"id":"u","type":"hook.end","timestamp":"t","data":{"type":"x","a\"b":[1, 2.50]},"parentId":null}"#;
        assert_eq!(fields(json, &[]).as_deref(), Some(r#"{"data":{"type":"x","a\"b":[1, 2.50]},"parentId":null}"#));
        assert_eq!(fields(r#"{"id":"u","x":[1]}"#, &["x"]).as_deref(), Some("{}"));
        assert_eq!(fields("[1]", &[]), None);
    }

    #[test]
    fn what_could_not_be_told_as_a_text_is_kept() {
        let json = r#"{"id":7,"type":["x"],"timestamp":1772355600000}"#;
        assert_eq!(fields(json, &[]).as_deref(), Some(r#"{"id":7,"timestamp":1772355600000,"type":["x"]}"#));
    }
}

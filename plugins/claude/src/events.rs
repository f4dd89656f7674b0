//! Records that are no messages, kept as they stand.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::object_without;
use toolpath_plugin_api::{Sink, Stopped};

use crate::place::Place;
use crate::shape::Record;

/// Keys that an event tells in fields of its own, when they hold a text.
const TOLD: [&str; 3] = ["uuid", "timestamp", "type"];

/// Tells a record as an event of its own kind.
pub(crate) fn record(record: &Record<'_>, json: &str, place: &Place<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
    named(&record.kind.filled().unwrap_or("unknown".into()), json, place, sink)
}

/// Tells a record as an event of the kind `event_type`.
pub(crate) fn named(event_type: &str, json: &str, place: &Place<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
    let data = if place.has_uuid { fields(json) } else { None };
    let data = data.unwrap_or_else(|| format!(r#"{{"raw":{json}}}"#));
    sink.event(place.event(event_type).data(&data))
}

/// Tells the blocks that found no place in the message at `place`.
pub(crate) fn blocks(blocks: &[Field<'_>], place: &Place<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
    for block in blocks {
        let data = format!(r#"{{"block":{}}}"#, block.json().unwrap_or("null"));
        sink.event(place.part("content-block").data(&data))?;
    }
    Ok(())
}

/// The record's fields but what is told of those in [`TOLD`].
fn fields(json: &str) -> Option<String> {
    let is_told = |key: &str, value: &str| TOLD.contains(&key) && value.starts_with('"') && value != r#""""#;
    object_without(json, is_told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_what_the_event_does_not_tell_otherwise() {
        let json =
            r#"{"uuid":"u","type":"system","timestamp":"t","subtype":"x","a\"b":[1, 2.50],"level":null,"subtype":"y"}"#;
        assert_eq!(fields(json).as_deref(), Some(r#"{"a\"b":[1, 2.50],"level":null,"subtype":"y"}"#));
        assert_eq!(fields(r#"{"uuid":"u"}"#).as_deref(), Some("{}"));
    }

    #[test]
    fn what_could_not_be_told_as_a_text_is_kept() {
        let json = r#"{"uuid":"u","type":["system"],"timestamp":1772355600000}"#;
        assert_eq!(fields(json).as_deref(), Some(r#"{"timestamp":1772355600000,"type":["system"]}"#));
        let json = r#"{"uuid":"u","type":"","timestamp":null}"#;
        assert_eq!(fields(json).as_deref(), Some(r#"{"timestamp":null,"type":""}"#));
    }
}

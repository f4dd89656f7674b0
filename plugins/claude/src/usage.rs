//! Token counts of a message, as the line has them.
//!
//! The counts of input, cache read and cache written exclude each other, and the output includes the thinking, so
//! nothing needs taking apart. Web searches and the like are no tokens and are left out.

use toolpath_plugin_api::UsageRecord;
use toolpath_plugin_api::kit::field::Field;

use crate::shape::{CacheWrites, Usage};

/// The counts in `message.usage`; `None` when it names none.
pub(crate) fn of(field: Field<'_>) -> Option<UsageRecord<'static>> {
    let usage: Usage<'_> = field.object()?;
    let writes: CacheWrites<'_> = usage.cache_writes.object().unwrap_or_default();
    let parts = [
        ("ephemeral_5m_input_tokens", writes.five_minutes.count().unwrap_or(0)),
        ("ephemeral_1h_input_tokens", writes.one_hour.count().unwrap_or(0)),
    ];
    // Versions before 2.1.152 may leave the sum at zero and fill the parts.
    let sum = parts.iter().fold(0u64, |sum, (_, tokens)| sum.saturating_add(*tokens));
    let mut record = UsageRecord::default();
    record.input_tokens = usage.input.count();
    record.output_tokens = usage.output.count();
    record.cache_read_tokens = usage.cache_read.count();
    record.cache_write_tokens = usage.cache_write.count().filter(|&flat| flat > 0 || sum == 0);
    if sum > 0 {
        record.cache_write_tokens.get_or_insert(sum);
        for (part, tokens) in parts {
            record.breakdown("cache_write", part, tokens);
        }
    }
    let counts = [record.input_tokens, record.output_tokens, record.cache_read_tokens, record.cache_write_tokens];
    counts.iter().any(Option::is_some).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Option<[Option<u64>; 4]>) {
        let usage = of(Field::parse(json));
        let counts = usage
            .map(|usage| [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens]);
        assert_eq!(counts, expected, "{json}");
    }

    #[test]
    fn counts_are_those_of_the_line() {
        check(
            r#"{"input_tokens":3,"output_tokens":9,"cache_read_input_tokens":20,"cache_creation_input_tokens":10,
                "server_tool_use":{"web_search_requests":4},"service_tier":"standard"}"#,
            Some([Some(3), Some(9), Some(20), Some(10)]),
        );
    }

    #[test]
    fn zero_is_a_count_and_missing_is_none() {
        check(r#"{"input_tokens":0,"output_tokens":0}"#, Some([Some(0), Some(0), None, None]));
        check("{}", None);
        check("null", None);
        check("[7]", None);
    }

    #[test]
    fn counts_may_be_written_as_strings_and_bad_ones_are_none() {
        check(
            r#"{"input_tokens":"12","output_tokens":-1,"cache_read_input_tokens":null,"cache_creation_input_tokens":1e999}"#,
            Some([Some(12), None, None, None]),
        );
    }

    #[test]
    fn the_parts_of_the_cache_stand_in_for_their_sum_when_it_is_zero_or_absent() {
        let parts = r#""cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":2}"#;
        check(&format!("{{{parts}}}"), Some([None, None, None, Some(7)]));
        check(&format!(r#"{{"cache_creation_input_tokens":0,{parts}}}"#), Some([None, None, None, Some(7)]));
        check(&format!(r#"{{"cache_creation_input_tokens":9,{parts}}}"#), Some([None, None, None, Some(9)]));
        check(r#"{"cache_creation_input_tokens":0,"cache_creation":{}}"#, Some([None, None, None, Some(0)]));
    }
}

//! Token counts of a message.
//!
//! What was read from the cache is part of `input`, which is told without it. The model's thoughts are no part of
//! `output`, and what tools put into the prompt is no part of `input`; both are added, and named.

use toolpath_plugin_api::UsageRecord;
use toolpath_plugin_api::kit::field::Field;

use crate::shape::Tokens;

/// The counts in `tokens`; `None` when it names none.
pub(crate) fn of(field: Field<'_>) -> Option<UsageRecord<'static>> {
    let tokens: Tokens<'_> = field.object()?;
    let [input, output, cached, thoughts, tool] =
        [tokens.input, tokens.output, tokens.cached, tokens.thoughts, tokens.tool].map(Field::count);
    let mut record = UsageRecord::default();
    record.input_tokens = sum(input.map(|input| input.saturating_sub(cached.unwrap_or(0))), tool);
    record.output_tokens = sum(output, thoughts);
    record.cache_read_tokens = cached;
    for (class, part, tokens) in [("input", "tool", tool), ("output", "thoughts", thoughts)] {
        if let Some(tokens) = tokens.filter(|&tokens| tokens > 0) {
            record.breakdown(class, part, tokens);
        }
    }
    let counts = [record.input_tokens, record.output_tokens, record.cache_read_tokens];
    counts.iter().any(Option::is_some).then_some(record)
}

fn sum(count: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (count, more) {
        (None, None | Some(0)) => None,
        (count, more) => Some(count.unwrap_or(0).saturating_add(more.unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Option<[Option<u64>; 3]>) {
        let usage = of(Field::of(serde_json::from_str(json).expect("JSON")));
        let counts = usage.map(|usage| [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens]);
        assert_eq!(counts, expected, "{json}");
    }

    #[test]
    fn the_cache_is_no_part_of_the_input_and_thoughts_are_part_of_the_output() {
        check(
            r#"{"input":900,"output":12,"cached":500,"thoughts":30,"tool":4,"total":946}"#,
            Some([Some(404), Some(42), Some(500)]),
        );
    }

    #[test]
    fn zero_is_a_count_and_missing_is_none() {
        check(r#"{"input":0,"output":0,"thoughts":0}"#, Some([Some(0), Some(0), None]));
        for none in ["{}", "null", "[1]", r#"{"input":-1,"output":"many"}"#] {
            check(none, None);
        }
    }

    #[test]
    fn a_cache_that_is_larger_than_the_input_takes_no_more_than_all_of_it() {
        check(r#"{"input":5,"output":1,"cached":9}"#, Some([Some(0), Some(1), Some(9)]));
        check(r#"{"input":18446744073709551615,"tool":9}"#, Some([Some(u64::MAX), None, None]));
    }
}

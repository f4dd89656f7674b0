//! Token counts of an assistant's message.
//!
//! The four counts exclude each other; `totalTokens` is their sum and `cost` is money, so neither is added.

use toolpath_plugin_api::UsageRecord;
use toolpath_plugin_api::kit::field::Field;

use crate::shape::Usage;

/// The counts in `message.usage`; `None` when it names none.
pub(crate) fn of(field: Field<'_>) -> Option<UsageRecord<'static>> {
    let usage: Usage<'_> = field.object()?;
    let mut record = UsageRecord::default();
    record.input_tokens = usage.input.count();
    record.output_tokens = usage.output.count();
    record.cache_read_tokens = usage.cache_read.count();
    record.cache_write_tokens = usage.cache_write.count();
    counts(&record).iter().any(Option::is_some).then_some(record)
}

/// Whether the message cost no tokens, as far as it says.
pub(crate) fn is_zero(field: Field<'_>) -> bool {
    of(field).is_none_or(|usage| counts(&usage).into_iter().flatten().all(|count| count == 0))
}

fn counts(usage: &UsageRecord<'_>) -> [Option<u64>; 4] {
    [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Option<[Option<u64>; 4]>, zero: bool) {
        let field = Field::parse(json);
        assert_eq!(of(field).as_ref().map(counts), expected, "{json}");
        assert_eq!(is_zero(field), zero, "{json}");
    }

    #[test]
    fn the_four_counts_are_taken_and_their_sum_is_not() {
        check(
            r#"{"input":3,"output":4,"cacheRead":10,"cacheWrite":2,"totalTokens":19,"cost":{"input":1,"total":9}}"#,
            Some([Some(3), Some(4), Some(10), Some(2)]),
            false,
        );
    }

    #[test]
    fn zero_is_a_count_and_missing_is_none() {
        check(r#"{"input":0,"output":0,"totalTokens":0}"#, Some([Some(0), Some(0), None, None]), true);
        check("{}", None, true);
        check("null", None, true);
        check("[7]", None, true);
        check(r#"{"input":"many","output":-1,"cacheRead":1e999,"cacheWrite":0.5}"#, None, true);
    }

    #[test]
    fn any_count_makes_it_more_than_zero() {
        for key in ["input", "output", "cacheRead", "cacheWrite"] {
            let raw = format!(r#"{{"input":0,"{key}":1}}"#);
            assert!(!is_zero(Field::parse(&raw)), "{key}");
        }
    }
}

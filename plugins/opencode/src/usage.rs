//! Token counts of a message, once.
//!
//! `input` excludes what was read from the cache and written to it. Whether `output` includes the reasoning depends on
//! the version: where the total is told, it decides; without one, older messages include it and the newest model does
//! not. Our output always does, and the reasoning is told as a part of it.

use toolpath_plugin_api::UsageRecord;
use toolpath_plugin_api::kit::field::Field;

use crate::shape::{Cache, Tokens};

/// Where the reasoning is counted when the total does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reasoning {
    /// Within the output.
    Inside,
    /// Beside it.
    Beside,
}

/// The counts of one model call; `None` when it names none.
pub(crate) fn of(tokens: Field<'_>, reasoning: Reasoning) -> Option<UsageRecord<'static>> {
    record(Counts::of(tokens, reasoning)?)
}

/// The counts of a message with the steps that ended in it.
///
/// A message has the counts of its last step, and its only step repeats them. Older versions put several steps into one
/// message, whose counts then have to be added up.
pub(crate) fn of_message(tokens: Field<'_>, steps: &[Field<'_>]) -> Option<UsageRecord<'static>> {
    let steps: Vec<Counts> = steps.iter().filter_map(|step| Counts::of(*step, Reasoning::Inside)).collect();
    let counts = match steps.split_first() {
        Some((first, rest)) if !rest.is_empty() => rest.iter().fold(*first, |sum, step| sum.plus(step)),
        _ => Counts::of(tokens, Reasoning::Inside).or(steps.first().copied())?,
    };
    record(counts)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    read: Option<u64>,
    write: Option<u64>,
}

impl Counts {
    fn of(field: Field<'_>, reasoning: Reasoning) -> Option<Self> {
        let tokens: Tokens<'_> = field.object()?;
        let cache: Cache<'_> = tokens.cache.object_or_default();
        let mut counts = Self {
            input: tokens.input.count(),
            output: tokens.output.count(),
            reasoning: tokens.reasoning.count(),
            read: cache.read.count(),
            write: cache.write.count(),
        };
        let sum = [counts.input, counts.output, counts.read, counts.write].into_iter().flatten();
        let sum = sum.fold(0, u64::saturating_add);
        let thought = counts.reasoning.unwrap_or(0);
        let is_beside = match tokens.total.count() {
            Some(total) if total == sum => false,
            Some(total) if total == sum.saturating_add(thought) => true,
            _ => reasoning == Reasoning::Beside,
        };
        if is_beside && thought > 0 {
            counts.output = Some(counts.output.unwrap_or(0).saturating_add(thought));
        }
        [counts.input, counts.output, counts.read, counts.write].iter().any(Option::is_some).then_some(counts)
    }

    fn plus(self, other: &Self) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Self {
            input: add(self.input, other.input),
            output: add(self.output, other.output),
            reasoning: add(self.reasoning, other.reasoning),
            read: add(self.read, other.read),
            write: add(self.write, other.write),
        }
    }
}

fn record(counts: Counts) -> Option<UsageRecord<'static>> {
    let mut record = UsageRecord::default();
    record.input_tokens = counts.input;
    record.output_tokens = counts.output;
    record.cache_read_tokens = counts.read;
    record.cache_write_tokens = counts.write;
    if let Some(reasoning) = counts.reasoning.filter(|&reasoning| reasoning > 0) {
        record.breakdown("output", "reasoning", reasoning);
    }
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(json: &str) -> Field<'_> {
        Field::of(serde_json::from_str(json).expect("JSON"))
    }

    #[track_caller]
    fn check(tokens: &str, steps: &[&str], expected: Option<[Option<u64>; 4]>) {
        let steps: Vec<Field<'_>> = steps.iter().map(|step| field(step)).collect();
        let usage = of_message(field(tokens), &steps);
        let counts = usage
            .map(|usage| [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens]);
        assert_eq!(counts, expected, "{tokens} {steps:?}");
    }

    const TOKENS: &str = r#"{"input":3,"output":9,"reasoning":4,"cache":{"read":20,"write":10}}"#;

    #[test]
    fn counts_are_those_of_the_message_and_its_only_step_repeats_them() {
        check(TOKENS, &[], Some([Some(3), Some(9), Some(20), Some(10)]));
        check(TOKENS, &[TOKENS], Some([Some(3), Some(9), Some(20), Some(10)]));
    }

    #[test]
    fn several_steps_in_one_message_are_added_up() {
        check(TOKENS, &[TOKENS, TOKENS], Some([Some(6), Some(18), Some(40), Some(20)]));
        check("null", &[TOKENS], Some([Some(3), Some(9), Some(20), Some(10)]));
    }

    #[test]
    fn the_total_tells_whether_the_reasoning_is_within_the_output() {
        let with = |total: u64| format!(r#"{{"total":{total},{}"#, &TOKENS[1..]);
        check(&with(42), &[], Some([Some(3), Some(9), Some(20), Some(10)]));
        check(&with(46), &[], Some([Some(3), Some(13), Some(20), Some(10)]));
        check(&with(7), &[], Some([Some(3), Some(9), Some(20), Some(10)]));
        let newest = of(field(TOKENS), Reasoning::Beside).expect("counts");
        assert_eq!(newest.output_tokens, Some(13));
    }

    #[test]
    fn zero_is_a_count_and_what_is_none_is_none() {
        check(r#"{"input":0,"output":0,"cache":7}"#, &[], Some([Some(0), Some(0), None, None]));
        for none in ["null", "{}", "[]", "7", r#"{"input":-1,"output":1e999,"cache":{"read":"many"}}"#] {
            check(none, &[], None);
        }
    }
}

//! Tokens, each counted once.
//!
//! `token_count` repeats a running total: after each call of the model, but also when only rate limits changed, when a
//! fork copies its parent's lines, and with estimates. A call is the last usage, where the total
//! changed. Newer files note each
//! response's own usage, and then nothing else counts.

use toolpath_plugin_api::UsageRecord;
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::shape;

shape! {
    /// `token_count.info`.
    Info {
        total: "total_token_usage",
        last: "last_token_usage",
    }
}

shape! {
    /// Token counts, as the log has them.
    Counts {
        input: "input_tokens",
        cached: "cached_input_tokens",
        cache_write: "cache_write_input_tokens",
        output: "output_tokens",
        reasoning: "reasoning_output_tokens",
        total: "total_tokens",
    }
}

/// Token counts of one call, or of all so far: input (cache included), cached, cache written, output, reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    input: u64,
    cached: u64,
    cache_write: u64,
    output: u64,
    reasoning: u64,
    /// Whether the log speaks of writes to the cache.
    has_writes: bool,
}

impl Tokens {
    /// The counts in `field`; `None` when it has none.
    pub(crate) fn of(field: Field<'_>) -> Option<Self> {
        let counts: Counts<'_> = field.object()?;
        let all = [counts.input, counts.cached, counts.cache_write, counts.output, counts.reasoning, counts.total];
        all.iter().any(|count| count.count().is_some()).then(|| Self {
            input: counts.input.count().unwrap_or(0),
            cached: counts.cached.count().unwrap_or(0),
            cache_write: counts.cache_write.count().unwrap_or(0),
            output: counts.output.count().unwrap_or(0),
            reasoning: counts.reasoning.count().unwrap_or(0),
            has_writes: counts.cache_write.count().is_some(),
        })
    }

    /// Whether a model was called: an estimate has a total only.
    fn is_call(&self) -> bool {
        self.input > 0 || self.output > 0
    }

    /// What `self` adds to `before`; `None` where it is no continuation of it.
    fn since(&self, before: &Self) -> Option<Self> {
        Some(Self {
            input: self.input.checked_sub(before.input)?,
            cached: self.cached.checked_sub(before.cached)?,
            cache_write: self.cache_write.checked_sub(before.cache_write)?,
            output: self.output.checked_sub(before.output)?,
            reasoning: self.reasoning.checked_sub(before.reasoning)?,
            has_writes: self.has_writes,
        })
    }

    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            has_writes: self.has_writes || other.has_writes,
        }
    }

    /// As it is told: input without what the cache took part in.
    pub(crate) fn record(&self) -> UsageRecord<'static> {
        let mut record = UsageRecord::default();
        record.input_tokens = Some(self.input.saturating_sub(self.cached).saturating_sub(self.cache_write));
        record.output_tokens = Some(self.output);
        record.cache_read_tokens = Some(self.cached);
        record.cache_write_tokens = self.has_writes.then_some(self.cache_write);
        if self.reasoning > 0 {
            record.breakdown("output", "reasoning", self.reasoning);
        }
        record
    }
}

/// What a `token_count` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// The model was called, at this cost.
    Call(Tokens),
    /// It says again what was said, or estimates.
    Again,
    /// It speaks of no tokens.
    Nothing,
}

/// Follows the running total.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    total: Option<Tokens>,
}

impl Counter {
    /// Takes the next `token_count.info`; one that is `inherited` moves the base and counts nothing.
    pub(crate) fn take(&mut self, info: Field<'_>, is_inherited: bool) -> Count {
        let info: Info<'_> = info.object().unwrap_or_default();
        let (total, last) = (Tokens::of(info.total), Tokens::of(info.last));
        if total.is_none() && last.is_none() {
            return Count::Nothing;
        }
        let before = self.total;
        if let Some(total) = total {
            self.total = Some(total);
        }
        if is_inherited {
            return Count::Again;
        }
        let cost = match (total, before) {
            // Without a total, what is said twice cannot be told from two calls.
            (None, _) => last,
            (Some(total), _) if !total.is_call() => None,
            (Some(total), Some(before)) if total == before => None,
            // The last usage is the call's. What the total grew by may be more: a review has a total of its own, which
            // stands among those of its session.
            (Some(total), before) => {
                let grown = || before.and_then(|before| total.since(&before));
                last.filter(Tokens::is_call).or_else(grown).or(Some(total))
            }
        };
        cost.filter(Tokens::is_call).map_or(Count::Again, Count::Call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(total: [u64; 3], last: [u64; 3]) -> String {
        let counts = |[input, cached, output]: [u64; 3]| {
            format!(
                r#"{{"input_tokens":{input},"cached_input_tokens":{cached},"output_tokens":{output},"total_tokens":{}}}"#,
                input + output
            )
        };
        format!(r#"{{"total_token_usage":{},"last_token_usage":{}}}"#, counts(total), counts(last))
    }

    /// Input, cached and output of what counts of each; `None` for what does not.
    #[track_caller]
    fn check(infos: &[String], expected: &[Option<[u64; 3]>]) {
        let mut counter = Counter::default();
        let found: Vec<_> = infos
            .iter()
            .map(|info| match counter.take(Field::parse(info), false) {
                Count::Call(tokens) => Some([tokens.input, tokens.cached, tokens.output]),
                Count::Again | Count::Nothing => None,
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_the_total_grew_by_counts_and_what_is_said_again_does_not() {
        let (first, second) = (info([10, 4, 2], [10, 4, 2]), info([30, 9, 5], [20, 5, 3]));
        check(&[first.clone(), first, second.clone(), second], &[Some([10, 4, 2]), None, Some([20, 5, 3]), None]);
    }

    #[test]
    fn a_total_that_starts_again_is_a_new_count() {
        check(
            &[info([100, 0, 9], [100, 0, 9]), info([20, 5, 3], [20, 5, 3]), info([25, 5, 4], [5, 0, 1])],
            &[Some([100, 0, 9]), Some([20, 5, 3]), Some([5, 0, 1])],
        );
    }

    #[test]
    fn a_reviews_total_among_those_of_its_session_counts_no_call_twice() {
        let review = [info([50, 0, 5], [50, 0, 5]), info([90, 0, 9], [40, 0, 4])];
        check(
            &[&[info([1000, 0, 100], [1000, 0, 100])], &review[..], &[info([2100, 0, 210], [1100, 0, 110])]].concat(),
            &[Some([1000, 0, 100]), Some([50, 0, 5]), Some([40, 0, 4]), Some([1100, 0, 110])],
        );
    }

    #[test]
    fn without_a_last_usage_a_call_is_what_the_total_grew_by() {
        let only = |total: u64| format!(r#"{{"total_token_usage":{{"input_tokens":{total},"output_tokens":1}}}}"#);
        check(&[only(10), only(25), only(25)], &[Some([10, 0, 1]), Some([15, 0, 0]), None]);
    }

    #[test]
    fn a_count_that_begins_with_a_total_of_others_starts_with_its_last_call() {
        check(&[info([500, 0, 50], [20, 5, 3])], &[Some([20, 5, 3])]);
    }

    #[test]
    fn estimates_count_nothing() {
        let estimate = r#"{"total_token_usage":{"input_tokens":10,"output_tokens":2},"last_token_usage":{"input_tokens":0,"output_tokens":0,"total_tokens":900}}"#;
        let window = r#"{"total_token_usage":{"input_tokens":0,"output_tokens":0,"total_tokens":272000},"last_token_usage":{"total_tokens":0}}"#;
        let import = r#"{"total_token_usage":{"total_tokens":77},"last_token_usage":{"total_tokens":77}}"#;
        let next = info([7, 0, 1], [7, 0, 1]);
        check(
            &[info([10, 0, 2], [10, 0, 2]), estimate.to_owned(), window.to_owned(), next],
            &[Some([10, 0, 2]), None, None, Some([7, 0, 1])],
        );
        check(&[import.to_owned()], &[None]);
    }

    #[test]
    fn no_info_is_no_count() {
        for json in ["null", "{}", "7", r#"{"total_token_usage":{}}"#] {
            assert_eq!(Counter::default().take(Field::parse(json), false), Count::Nothing, "{json}");
        }
    }

    #[test]
    fn what_a_fork_copies_is_the_base_of_its_own_calls() {
        let mut counter = Counter::default();
        assert_eq!(counter.take(Field::parse(&info([10, 4, 2], [10, 4, 2])), true), Count::Again);
        let Count::Call(own) = counter.take(Field::parse(&info([15, 4, 3], [5, 0, 1])), false) else {
            panic!("a call")
        };
        assert_eq!([own.input, own.output], [5, 1]);
    }

    #[test]
    fn input_is_told_without_the_cache() {
        let json = r#"{"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":10,"output_tokens":7,"reasoning_output_tokens":3}"#;
        let record = Tokens::of(Field::parse(json)).expect("counts").record();
        assert_eq!(
            [record.input_tokens, record.output_tokens, record.cache_read_tokens, record.cache_write_tokens],
            [Some(30), Some(7), Some(60), Some(10)]
        );
        let less = Tokens::of(Field::parse(r#"{"input_tokens":1,"cached_input_tokens":60}"#)).expect("counts").record();
        assert_eq!([less.input_tokens, less.cache_write_tokens], [Some(0), None]);
    }
}

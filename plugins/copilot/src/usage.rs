//! Token counts: of one message, and of the whole session.
//!
//! A message has output tokens only. Input and cache stand in the metrics of a shutdown, for all calls since the session
//! was started or resumed; their input holds the cache, and their output holds the reasoning. The output of messages is part of
//! them, so it counts only for what no shutdown covers.

use std::collections::{BTreeMap, HashMap};

use toolpath_plugin_api::UsageRecord;
use toolpath_plugin_api::kit::field::Field;
use xxhash_rust::xxh3::xxh3_128;

use crate::shape::{Data, Metrics, TokenCount, TokenDetails, Usage};

/// Input without cache, output, cache read, cache written, reasoning.
type Counts = [u64; 5];

/// The usage of a message; `None` when it names none.
pub(crate) fn of_message(data: &Data<'_>) -> Option<UsageRecord<'static>> {
    let mut record = UsageRecord::default();
    record.output_tokens = Some(data.output_tokens.count()?);
    Some(record)
}

/// The usage of the session, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Of the shutdowns.
    counted: Counts,
    /// Of the last shutdown, by model.
    last: Option<BTreeMap<String, Counts>>,
    /// Output of the messages since, by call of the API; lines of one call repeat it.
    calls: HashMap<u128, u64>,
    /// Output of the messages since that name no call.
    others: u64,
    has_output: bool,
}

impl Totals {
    /// Takes a message into account.
    pub(crate) fn message(&mut self, data: &Data<'_>) {
        let Some(output) = data.output_tokens.count() else { return };
        self.has_output = true;
        match data.api_call.id() {
            Some(call) => {
                let most = self.calls.entry(xxh3_128(call.as_bytes())).or_default();
                *most = output.max(*most);
            }
            None => self.others = self.others.saturating_add(output),
        }
    }

    /// Takes a shutdown into account.
    pub(crate) fn shutdown(&mut self, data: &Data<'_>) {
        let Some(models) = metrics(data) else { return };
        let since = self.since_shutdown();
        // Counts restart when a session is resumed. Where they hold those of the shutdown before in each count, and its
        // output and that of the messages since, they went on.
        let goes_on = self.last.as_ref().is_some_and(|last| {
            let sum = |models: &BTreeMap<String, Counts>| sum(models.values());
            holds(&models, last) && sum(&models)[1] >= sum(last)[1].saturating_add(since)
        });
        if let (true, Some(last)) = (goes_on, &self.last) {
            let before = sum(last.values());
            self.counted = zip(self.counted, before, u64::saturating_sub);
        }
        self.counted = zip(self.counted, sum(models.values()), u64::saturating_add);
        self.last = Some(models);
        self.calls.clear();
        self.others = 0;
    }

    /// The usage of the whole session; `None` when the log names none.
    pub(crate) fn whole(&self) -> Option<UsageRecord<'static>> {
        let mut record = UsageRecord::default();
        let since = self.since_shutdown();
        if self.last.is_none() {
            record.output_tokens = self.has_output.then_some(since);
            return record.output_tokens.is_some().then_some(record);
        }
        let [input, output, read, write, reasoning] = self.counted;
        record.input_tokens = Some(input);
        record.output_tokens = Some(output.saturating_add(since));
        record.cache_read_tokens = Some(read);
        record.cache_write_tokens = Some(write);
        if reasoning > 0 {
            record.breakdown("output", "reasoning", reasoning);
        }
        Some(record)
    }

    fn since_shutdown(&self) -> u64 {
        self.calls.values().fold(self.others, |sum, output| sum.saturating_add(*output))
    }
}

/// The counts of a shutdown, by model; those of all models where it does not say of which.
fn metrics(data: &Data<'_>) -> Option<BTreeMap<String, Counts>> {
    let models: BTreeMap<String, Field<'_>> = fields(data.model_metrics);
    let models: BTreeMap<_, _> =
        models.into_iter().filter_map(|(model, metrics)| Some((model, of_model(metrics)?))).collect();
    if !models.is_empty() {
        return Some(models);
    }
    let details: TokenDetails<'_> = data.token_details.object()?;
    let count = |field: Field<'_>| field.object::<TokenCount<'_>>().and_then(|count| count.count.count());
    let counts = [details.input, details.output, details.cache_read, details.cache_write].map(count);
    counts.iter().any(Option::is_some).then(|| {
        let [input, output, read, write] = counts.map(Option::unwrap_or_default);
        BTreeMap::from([(String::new(), [input, output, read, write, 0])])
    })
}

fn of_model(metrics: Field<'_>) -> Option<Counts> {
    let usage: Usage<'_> = metrics.object::<Metrics<'_>>()?.usage.object()?;
    let count = |field: Field<'_>| field.count().unwrap_or(0);
    let (read, write) = (count(usage.cache_read), count(usage.cache_write));
    let input = count(usage.input).saturating_sub(read).saturating_sub(write);
    Some([input, count(usage.output), read, write, count(usage.reasoning)])
}

fn fields(field: Field<'_>) -> BTreeMap<String, Field<'_>> {
    field.entries().into_iter().flatten().map(|(key, value)| (key.into_owned(), value)).collect()
}

fn holds(models: &BTreeMap<String, Counts>, others: &BTreeMap<String, Counts>) -> bool {
    others.iter().all(|(model, before)| {
        models.get(model).is_some_and(|now| now.iter().zip(before).all(|(now, before)| now >= before))
    })
}

fn sum<'c>(all: impl Iterator<Item = &'c Counts>) -> Counts {
    all.fold(Counts::default(), |sum, counts| zip(sum, *counts, u64::saturating_add))
}

fn zip(a: Counts, b: Counts, with: impl Fn(u64, u64) -> u64) -> Counts {
    std::array::from_fn(|at| with(a[at], b[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each event is `data` of a message or of a shutdown.
    #[track_caller]
    fn check(events: &[&str], expected: Option<[Option<u64>; 4]>) {
        let mut totals = Totals::default();
        for json in events {
            let data: Data<'_> = serde_json::from_str(json).expect("data");
            if json.contains("outputTokens\":") && !json.contains("modelMetrics") {
                totals.message(&data);
            } else {
                totals.shutdown(&data);
            }
        }
        let whole = totals.whole();
        let counts = whole
            .map(|usage| [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens]);
        assert_eq!(counts, expected, "{events:#?}");
    }

    fn shutdown(input: u64, output: u64) -> String {
        format!(
            r#"{{"modelMetrics":{{"m":{{"usage":{{"inputTokens":{},"outputTokens":{output},"cacheReadTokens":100,"cacheWriteTokens":10,"reasoningTokens":2}}}}}}}}"#,
            input + 110
        )
    }

    fn some(counts: [u64; 4]) -> Option<[Option<u64>; 4]> {
        Some(counts.map(Some))
    }

    #[test]
    fn a_shutdowns_input_holds_the_cache_and_its_output_that_of_the_messages() {
        check(&[r#"{"outputTokens":30}"#, r#"{"outputTokens":12}"#, &shutdown(54, 42)], some([54, 42, 100, 10]));
    }

    #[test]
    fn without_a_shutdown_only_the_output_is_known() {
        check(&[r#"{"outputTokens":30}"#, r#"{"outputTokens":12}"#], Some([None, Some(42), None, None]));
        check(&[], None);
        check(&[r#"{"modelMetrics":{}}"#], None);
    }

    #[test]
    fn lines_of_one_call_count_once() {
        check(
            &[
                r#"{"apiCallId":"a","outputTokens":30}"#,
                r#"{"apiCallId":"a","outputTokens":31}"#,
                r#"{"apiCallId":"b","outputTokens":5}"#,
            ],
            Some([None, Some(36), None, None]),
        );
    }

    #[test]
    fn counts_restart_when_a_session_is_resumed() {
        check(
            &[r#"{"outputTokens":40}"#, &shutdown(50, 40), r#"{"outputTokens":60}"#, &shutdown(70, 60)],
            some([120, 100, 200, 20]),
        );
    }

    #[test]
    fn a_shutdown_that_is_repeated_or_goes_on_counts_once() {
        check(&[r#"{"outputTokens":40}"#, &shutdown(50, 40), &shutdown(50, 40)], some([50, 40, 100, 10]));
        check(
            &[r#"{"outputTokens":40}"#, &shutdown(50, 40), r#"{"outputTokens":60}"#, &shutdown(70, 100)],
            some([70, 100, 100, 10]),
        );
    }

    #[test]
    fn what_came_after_the_last_shutdown_is_added() {
        check(&[r#"{"outputTokens":40}"#, &shutdown(50, 40), r#"{"outputTokens":7}"#], some([50, 47, 100, 10]));
    }

    #[test]
    fn without_metrics_by_model_the_counts_of_all_stand_in() {
        check(
            &[
                r#"{"modelMetrics":{"m":{"requests":2}},"tokenDetails":{"input":{"tokenCount":100},"output":{"tokenCount":15},"cache_read":{"tokenCount":5}}}"#,
            ],
            some([100, 15, 5, 0]),
        );
    }

    #[test]
    fn huge_and_odd_counts_do_no_harm() {
        let huge = r#"{"modelMetrics":{"m":{"usage":{"inputTokens":1,"outputTokens":18446744073709551615,"cacheReadTokens":9}},"n":{"usage":{"outputTokens":7}},"o":[]}}"#;
        check(&[huge], some([0, u64::MAX, 9, 0]));
        check(&[r#"{"modelMetrics":[7],"tokenDetails":"x"}"#], None);
    }
}

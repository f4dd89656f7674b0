//! Usage once a group: on the last turn of each run.
//!
//! A run is turns next to each other with one group. Where turns repeat a snapshot of what the group has used so
//! far, the snapshot with the most output tokens stands (the last of equals), and a group that goes on after another turn came
//! between is counted there only for what was added.
//!
//! Sessions that are read together may hold the same response: a resumed or forked one begins with a copy. What an earlier session
//! of the set counts, a later one does not count again.

use std::sync::Arc;

use toolpath_plugin_api::kit::table::Table;

use crate::digest;
use crate::record::Origin;
use crate::turn::TokenUsage;

/// An id of a response that is at least that long is taken for unique in all sessions of a provider; a shorter one only
/// together with its time.
const UNIQUE: usize = 16;

/// The responses that a session counts, by digest.
pub type Responses = digest::Set;

/// Responses that an earlier session of a set counts, and which one.
pub type CountedElsewhere = digest::Map<Arc<str>>;

/// What a turn says about usage.
#[derive(Debug)]
pub(crate) struct Said<'a> {
    pub(crate) group: Option<&'a str>,
    pub(crate) usage: Option<TokenUsage>,
    pub(crate) is_snapshot: bool,
    pub(crate) id: &'a str,
    pub(crate) timestamp: &'a str,
    pub(crate) origin: Origin,
}

/// A response that is not counted, since another session counts it.
#[derive(Debug)]
pub(crate) struct Uncounted {
    pub(crate) response: String,
    pub(crate) session: Arc<str>,
    pub(crate) origin: Origin,
}

/// The run of turns that the last turn belongs to.
#[derive(Debug)]
struct Run {
    group: Option<u128>,
    /// What the last turn of the run is to carry.
    usage: Option<TokenUsage>,
    is_snapshot: bool,
    /// What the response is called across sessions; 0 when it has no name.
    response: u128,
    /// Where its first turn stands.
    origin: Origin,
    /// How to call it in a message; empty where no message can come of it.
    name: String,
}

/// Counts of a group that earlier runs carry; what was absent is zero.
#[derive(Clone, Copy, Debug, Default)]
struct Counted([u64; 4]);

/// Usage of one path.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    run: Option<Run>,
    counted: Table<Counted>,
    /// What this session counts, when that is asked for.
    responses: Option<Responses>,
    elsewhere: Option<Arc<CountedElsewhere>>,
    uncounted: Vec<Uncounted>,
}

impl Groups {
    /// Notes what is counted for each response.
    pub(crate) fn note_responses(&mut self) {
        self.responses = Some(Responses::default());
    }

    /// What was counted for each response.
    pub(crate) fn take_responses(&mut self) -> Responses {
        self.responses.take().unwrap_or_default()
    }

    /// Leaves out what another session counts.
    pub(crate) fn leave_out(&mut self, elsewhere: Arc<CountedElsewhere>) {
        self.elsewhere = Some(elsewhere);
    }

    /// The responses that were left out since this was asked last.
    pub(crate) fn take_uncounted(&mut self) -> Vec<Uncounted> {
        std::mem::take(&mut self.uncounted)
    }

    /// Takes in the next turn, and answers the usage that the turn before it carries.
    pub(crate) fn next(&mut self, said: Said<'_>) -> Option<TokenUsage> {
        let group = said.group.map(digest::of_text);
        if let Some(run) = &mut self.run
            && run.group.is_some()
            && run.group == group
        {
            match (run.usage.take(), said.usage) {
                // A line that says nothing takes nothing back.
                (Some(usage), None) if run.is_snapshot => run.usage = Some(usage),
                (Some(before), Some(usage)) if run.is_snapshot && said.is_snapshot => {
                    run.usage = Some(larger(before, usage));
                }
                (_, usage) => (run.usage, run.is_snapshot) = (usage, said.is_snapshot),
            }
            return None;
        }
        let ended = self.end();
        let is_asked = self.responses.is_some() || self.elsewhere.is_some();
        let (response, name) = if is_asked { response(&said) } else { (0, String::new()) };
        self.run =
            Some(Run { group, usage: said.usage, is_snapshot: said.is_snapshot, response, origin: said.origin, name });
        ended
    }

    /// The usage that the last turn carries.
    pub(crate) fn end(&mut self) -> Option<TokenUsage> {
        let run = self.run.take()?;
        let usage = run.usage?;
        if let Some(session) = self.elsewhere.as_ref().and_then(|elsewhere| elsewhere.get(&run.response))
            && run.response != 0
        {
            self.uncounted.push(Uncounted { response: run.name, session: session.clone(), origin: run.origin });
            return None;
        }
        let usage = match run.group {
            Some(group) if run.is_snapshot => self.added(group, usage),
            _ => Some(usage),
        }?;
        if let (Some(responses), true) = (&mut self.responses, run.response != 0) {
            responses.insert(run.response);
        }
        Some(usage)
    }

    /// What a snapshot adds to what was counted for its group.
    fn added(&mut self, group: u128, usage: TokenUsage) -> Option<TokenUsage> {
        let now = counts(&usage).map(|count| count.unwrap_or(0));
        let Some(Counted(before)) = self.counted.insert(group, Counted(now)) else { return Some(usage) };
        let most: [u64; 4] = std::array::from_fn(|part| now[part].max(before[part]));
        self.counted.insert(group, Counted(most));
        if most == before {
            return None;
        }
        let added = |part: usize, count: Option<u64>| count.map(|_| most[part] - before[part]);
        let [input, output, read, write] = counts(&usage);
        Some(TokenUsage {
            input_tokens: added(0, input),
            output_tokens: added(1, output),
            cache_read_tokens: added(2, read),
            cache_write_tokens: added(3, write),
            breakdowns: std::collections::BTreeMap::new(),
        })
    }
}

/// What a response is called across the sessions of a provider, as a digest, and in messages.
fn response(said: &Said<'_>) -> (u128, String) {
    let name = said.group.unwrap_or(said.id);
    let digest = match name.len() {
        0 => 0,
        UNIQUE.. => digest::of_text(name),
        _ => digest::of(&(name, said.timestamp)),
    };
    (digest, name.to_owned())
}

/// Of two snapshots the one with more output, the later of equals; what it does not count, the other does.
fn larger(before: TokenUsage, after: TokenUsage) -> TokenUsage {
    let (most, other) = if before.output_tokens > after.output_tokens { (before, after) } else { (after, before) };
    TokenUsage {
        input_tokens: most.input_tokens.or(other.input_tokens),
        output_tokens: most.output_tokens.or(other.output_tokens),
        cache_read_tokens: most.cache_read_tokens.or(other.cache_read_tokens),
        cache_write_tokens: most.cache_write_tokens.or(other.cache_write_tokens),
        breakdowns: if most.breakdowns.is_empty() { other.breakdowns } else { most.breakdowns },
    }
}

fn counts(usage: &TokenUsage) -> [Option<u64>; 4] {
    [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each turn is `group output` or `group -`; the answer lists the output tokens that each turn carries.
    #[track_caller]
    fn check(is_snapshot: bool, turns: &[&str], expected: &[Option<u64>]) {
        let mut groups = Groups::default();
        let mut carried = Vec::new();
        for turn in turns {
            let (group, output) = turn.split_once(' ').expect("a group and a count");
            let usage = output.parse().ok().map(|output| TokenUsage {
                input_tokens: Some(3),
                output_tokens: Some(output),
                ..TokenUsage::default()
            });
            // A line without counts does not say that they would be a snapshot.
            let is_snapshot = is_snapshot && usage.is_some();
            let group = Some(group).filter(|group| *group != ".");
            let said = Said { group, usage, is_snapshot, id: "", timestamp: "", origin: Origin::default() };
            carried.push(groups.next(said));
        }
        carried.push(groups.end());
        let output = |usage: &Option<TokenUsage>| usage.as_ref()?.output_tokens;
        let carried: Vec<_> = carried.iter().skip(1).map(output).collect();
        assert_eq!(carried, expected);
    }

    #[test]
    fn the_last_turn_of_a_run_carries_the_usage() {
        check(false, &["g 5", "g 6", "h 7"], &[None, Some(6), Some(7)]);
        check(false, &["g 5", "h 7", "g 6"], &[Some(5), Some(7), Some(6)]);
        check(false, &["g 5", "g -"], &[None, None]);
    }

    #[test]
    fn turns_without_a_group_are_runs_of_one() {
        check(false, &[". 5", ". 6"], &[Some(5), Some(6)]);
        check(true, &[". 5", ". 5"], &[Some(5), Some(5)]);
    }

    #[test]
    fn of_snapshots_the_one_with_the_most_output_is_counted() {
        check(true, &["g 1", "g 9", "g 4", "h 2"], &[None, None, Some(9), Some(2)]);
    }

    #[test]
    fn a_snapshot_is_not_taken_back_by_a_line_that_says_less() {
        check(true, &["g 7", "g -"], &[None, Some(7)]);
        let usage = |input, output| TokenUsage { input_tokens: input, output_tokens: output, ..TokenUsage::default() };
        assert_eq!(larger(usage(Some(5), None), usage(None, Some(0))), usage(Some(5), Some(0)));
        assert_eq!(larger(usage(Some(5), Some(9)), usage(Some(6), Some(2))), usage(Some(5), Some(9)));
    }

    #[test]
    fn a_group_that_goes_on_is_counted_for_what_was_added() {
        check(true, &["g 5", "h 1", "g 5", "h 1", "g 8"], &[Some(5), Some(1), None, None, Some(3)]);
        check(true, &["g 5", "h 1", "g 2", "h 1", "g 6"], &[Some(5), Some(1), None, None, Some(1)]);
    }
}

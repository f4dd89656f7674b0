//! Several sessions read together.
//!
//! A resumed or forked session begins with a copy of another one. In a set, each response is counted in one session: the one that
//! began first, whatever the order in which the sessions were named. So all are read once to know what they count,
//! and those that repeat others are read without what is counted there. Sessions are read side by side, one for each processor.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use toolpath_plugin_api::kit::table::Table;

use crate::derive::{CountedElsewhere, Detail, Form, Tally};
use crate::error::Error;
use crate::intake::{Balance, HarnessTurn, Reading, Set};
use crate::progress::Progress;
use crate::record::SessionFacts;
use crate::report::{Report, Told};
use crate::select::Selected;
use crate::worker::Isolation;

/// What is known of a session after it was read for its sums alone.
#[derive(Debug)]
pub struct Known {
    /// How messages name the session.
    name: String,
    /// Provider id.
    pub provider: String,
    /// What is known of the session as a whole.
    pub facts: SessionFacts,
    /// The sums over its steps.
    pub tally: Tally,
    /// What became of its records.
    pub balance: Balance,
    /// The turns that the harness wrote itself, and the names of the files that they stand in.
    pub harness_turns: Vec<(HarnessTurn, String)>,
    /// What there is to say.
    pub told: Vec<Told>,
    /// The responses that are counted, by digest.
    responses: Box<[u128]>,
}

/// Reads a session for its sums alone.
fn know(selected: &Selected, set: Set) -> Result<Known, Error> {
    let (reader, source) = (&selected.reader, &selected.source);
    let mut report = Report::new(&source.name, false);
    let detail = Detail { thinking: false, tools: false };
    let mut reading =
        Reading::new(&source.name, reader.name(), reader.provider_id(), Form::Tally, detail, &mut report).within(set);
    let ended = reader.read(source.session(), &mut reading)?;
    let mut conversation = reading.finish(ended)?;
    let mut harness_turns = Vec::new();
    for turn in std::mem::take(&mut conversation.harness_turns) {
        let file = report.file(turn.origin).to_owned();
        harness_turns.push((turn, file));
    }
    Ok(Known {
        name: source.name.clone(),
        tally: conversation.steps.tally().clone(),
        responses: std::mem::take(&mut conversation.steps.responses).into_iter().collect(),
        provider: conversation.provider,
        facts: conversation.facts,
        balance: conversation.balance,
        harness_turns,
        told: report.take(),
    })
}

/// Reads each session once for its sums. Of several, what each counts is noted.
pub fn first_pass(selected: &[Result<Selected, Error>], progress: &Progress) -> Vec<Option<Result<Known, Error>>> {
    let is_set = selected.len() > 1;
    side_by_side(selected, |_, selected| {
        let known = know(selected, if is_set { Set::Noted } else { Set::Alone });
        progress.step();
        known
    })
}

/// Reads the sessions for their sums, as a set: what an earlier session counts, a later one does not.
pub fn know_all(selected: &[Result<Selected, Error>], progress: &Progress) -> Vec<Option<Result<Known, Error>>> {
    let mut known = first_pass(selected, progress);
    for (index, elsewhere) in counted_elsewhere(&known).into_iter().enumerate() {
        if let (Some(elsewhere), Ok(selected)) = (elsewhere, &selected[index]) {
            known[index] = Some(know(selected, Set::Without(elsewhere)));
        }
    }
    known
}

/// For each session what others count that began before it, where there is any of that.
pub fn counted_elsewhere(known: &[Option<Result<Known, Error>>]) -> Vec<Option<Arc<CountedElsewhere>>> {
    let mut order: Vec<(usize, &Known)> =
        known.iter().enumerate().filter_map(|(index, known)| Some((index, known.as_ref()?.as_ref().ok()?))).collect();
    order.sort_by(|(_, one), (_, other)| age(one).cmp(&age(other)));
    // For each provider the responses that were counted, and the place in the order of the session that counts them.
    let mut counted: HashMap<&str, Table<u32>> = HashMap::new();
    let mut elsewhere: Vec<Option<Arc<CountedElsewhere>>> = known.iter().map(|_| None).collect();
    for (place, &(index, known)) in (0_u32..).zip(&order) {
        let counted = counted.entry(&known.provider).or_default();
        let mut repeated = CountedElsewhere::default();
        for &response in &known.responses {
            let by = *counted.get_or_insert_with(response, || place);
            if by != place {
                let other = order[by as usize].1;
                // Of two files of one session the id says nothing.
                let name = if other.facts.id == known.facts.id { &other.name } else { &other.facts.id };
                repeated.insert(response, name.as_str().into());
            }
        }
        if !repeated.is_empty() {
            elsewhere[index] = Some(Arc::new(repeated));
        }
    }
    elsewhere
}

/// What orders sessions by their beginning: those that say when they began before those that do not.
fn age(known: &Known) -> impl Ord {
    let time = |text: &Option<String>| text.as_deref().and_then(|time| time.parse::<jiff::Timestamp>().ok());
    let (began, ended) = (time(&known.facts.started_at), time(&known.facts.last_activity));
    // Of two that begin alike the one that ended first is taken for the origin: a copy goes on.
    (began.is_none(), began, ended, known.balance.total(), known.facts.id.clone())
}

/// Runs `work` on every session that was selected, as many at a time as there are processors, and answers in their order.
pub fn side_by_side<T: Send>(
    selected: &[Result<Selected, Error>],
    work: impl Fn(usize, &Selected) -> T + Sync,
) -> Vec<Option<T>> {
    let in_process = selected.iter().flatten().any(|selected| selected.reader.isolation == Isolation::None);
    // Within this process a plugin is promised one thread.
    let threads = if in_process { 1 } else { std::thread::available_parallelism().map_or(1, NonZero::get) };
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<T>>> = Mutex::new(selected.iter().map(|_| None).collect());
    let run = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            match selected.get(index) {
                Some(Ok(selected)) => {
                    let answer = work(index, selected);
                    done.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(answer);
                }
                Some(Err(_)) => {}
                None => break,
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(selected.len()) {
            scope.spawn(run);
        }
        run();
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

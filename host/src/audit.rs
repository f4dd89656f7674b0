//! Who did what, in numbers: a table or JSON for one session, and for several a line each and a total.

use std::fmt::Write as _;
use std::io;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::cli::Audit;
use crate::derive::{Tally, Tokens};
use crate::error::Error;
use crate::intake::{Balance, HarnessTurn};
use crate::progress::Progress;
use crate::report::{Report, one_line, place};
use crate::select::select;
use crate::set::{Known, know_all};
use crate::show::{aligned, print, shortened};

/// Audits the sessions.
pub fn run(args: &Audit) -> Result<(), Error> {
    let selected = select(&args.reading, &args.chosen)?;
    let progress = Progress::new(selected.len());
    let known = know_all(&selected, &progress);
    progress.end();
    let is_one = selected.len() == 1;
    let (mut audits, mut failed, mut worst) = (Vec::new(), Vec::new(), Ok(()));
    for (selected, known) in selected.into_iter().zip(known) {
        let name = selected.as_ref().ok().map(|selected| selected.source.name.clone());
        match (selected, known) {
            (Ok(_), Some(Ok(known))) => audits.push(known),
            (Err(error), _) | (_, Some(Err(error))) => {
                if is_one {
                    return Err(error);
                }
                crate::run::explain(&error, args.reading.verbose);
                failed.push(json!({"session": name, "error": error.to_string()}));
                worst = worse(worst, error);
            }
            (Ok(_), None) => {}
        }
    }
    for audit in &audits {
        let _ = Report::write_all(&audit.told, &mut io::stderr().lock());
    }
    let text = match (args.json, audits.as_slice()) {
        (true, [one]) if is_one => format!("{:#}\n", as_json(one)),
        (true, several) => set_as_json(several, &failed),
        (false, [one]) if is_one => one_text(one),
        (false, several) => set_text(several),
    };
    print(&text)?;
    worst
}

/// The error that decides the exit code, with what it says said already.
pub fn worse(known: Result<(), Error>, error: Error) -> Result<(), Error> {
    let code = error.exit_code();
    match known {
        Err(known) if known.exit_code() >= code => Err(known),
        _ => Err(Error::Said { code }),
    }
}

#[derive(Serialize)]
struct Records {
    read: u64,
    turns: u64,
    folded: u64,
    events: u64,
    duplicates: u64,
    unreadable: u64,
}

impl From<Balance> for Records {
    fn from(balance: Balance) -> Self {
        let Balance { turns, folded, events, duplicates, unreadable } = balance;
        Self { read: balance.total(), turns, folded, events, duplicates, unreadable }
    }
}

fn as_json(known: &Known) -> Value {
    let harness = |(turn, file): &(HarnessTurn, String)| {
        json!({"step": turn.step, "file": file, "line": turn.origin.line, "role": turn.role,
            "signal": turn.signal, "text": turn.text})
    };
    let harness_turns: Vec<Value> = known.harness_turns.iter().map(harness).collect();
    json!({
        "session": known.facts.id, "provider": known.provider, "actors": known.tally.actors,
        "tokens": known.tally.tokens, "models": known.tally.models, "harness_turns": harness_turns,
        "records": Records::from(known.balance), "diagnostics": known.told,
    })
}

/// The sums over several sessions.
struct Total {
    tally: Tally,
    balance: Balance,
    harness_turns: usize,
    sessions_with_harness_turns: usize,
}

impl Total {
    fn of(audits: &[Known]) -> Self {
        let mut total = Self {
            tally: Tally::default(),
            balance: Balance::default(),
            harness_turns: 0,
            sessions_with_harness_turns: 0,
        };
        for audit in audits {
            total.tally.add(&audit.tally);
            total.balance.add(audit.balance);
            total.harness_turns += audit.harness_turns.len();
            total.sessions_with_harness_turns += usize::from(!audit.harness_turns.is_empty());
        }
        total
    }
}

fn set_as_json(audits: &[Known], failed: &[Value]) -> String {
    let total = Total::of(audits);
    let total = json!({
        "sessions": audits.len(), "actors": total.tally.actors, "tokens": total.tally.tokens,
        "models": total.tally.models, "harness_turns": total.harness_turns,
        "sessions_with_harness_turns": total.sessions_with_harness_turns,
        "records": Records::from(total.balance),
    });
    let json = serde_json::to_string_pretty(&Set { failed, sessions: audits, total });
    json.expect("values without keys that are no texts are JSON") + "\n"
}

/// Several audits, of which only one at a time takes the memory of its values: many times that of its text.
#[derive(Serialize)]
struct Set<'a> {
    failed: &'a [Value],
    #[serde(serialize_with = "each_as_json")]
    sessions: &'a [Known],
    total: Value,
}

fn each_as_json<S: Serializer>(audits: &[Known], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(audits.iter().map(as_json))
}

fn tokens_cells(tokens: Tokens) -> String {
    format!("{}\t{}\t{}\t{}", tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
}

const TOKENS: &str = "INPUT\tOUTPUT\tCACHE READ\tCACHE WRITE";

fn tally_text(tally: &Tally, balance: Balance) -> String {
    let mut actors = "ACTOR\tSTEPS\n".to_owned();
    for (actor, steps) in &tally.actors {
        let _ = writeln!(actors, "{}\t{steps}", one_line(actor));
    }
    let mut models = format!("MODEL\tTURNS\t{TOKENS}\n");
    for (model, sum) in &tally.models {
        let _ = writeln!(models, "{}\t{}\t{}", one_line(model), sum.turns, tokens_cells(sum.tokens));
    }
    let _ = writeln!(models, "all\t\t{}", tokens_cells(tally.tokens));
    let Balance { turns, folded, events, duplicates, unreadable } = balance;
    format!(
        "{}\n{}\nrecords: {} read = {turns} turns + {folded} folded + {events} events + {duplicates} duplicates + \
         {unreadable} unreadable\n",
        aligned(&actors),
        aligned(&models),
        balance.total(),
    )
}

fn one_text(known: &Known) -> String {
    let mut text = format!("session {} of {}\n\n", one_line(&known.facts.id), one_line(&known.provider));
    text.push_str(&tally_text(&known.tally, known.balance));
    if known.harness_turns.is_empty() {
        text.push_str("\nno turn was written by the harness\n");
        return text;
    }
    let _ = writeln!(text, "\n{} turns were written by the harness:", known.harness_turns.len());
    let mut lines = "LINE\tROLE\tSIGNAL\tTEXT\n".to_owned();
    for (turn, file) in &known.harness_turns {
        let signal = turn.signal.as_deref().unwrap_or("-");
        let cells = [&place(file, turn.origin.line), &turn.role, signal, &shortened(&turn.text, 60)];
        lines.push_str(&cells.map(one_line).join("\t"));
        lines.push('\n');
    }
    text.push_str(&aligned(&lines));
    text
}

fn set_text(audits: &[Known]) -> String {
    let mut lines = format!("SESSION\tSTEPS\tBY HUMANS\tBY MODELS\tHARNESS TURNS\t{TOKENS}\n");
    for known in audits {
        let steps: u64 = known.tally.actors.values().sum();
        let by = |kind: &str| {
            let of_kind = known.tally.actors.iter().filter(|(actor, _)| actor.starts_with(kind));
            of_kind.map(|(_, steps)| steps).sum::<u64>()
        };
        let _ = writeln!(
            lines,
            "{}\t{steps}\t{}\t{}\t{}\t{}",
            one_line(&known.facts.id),
            by("human:"),
            by("agent:"),
            known.harness_turns.len(),
            tokens_cells(known.tally.tokens)
        );
    }
    let total = Total::of(audits);
    format!(
        "{}\n{}\n{} sessions; {} of them have turns that the harness wrote, {} in all\n",
        aligned(&lines),
        tally_text(&total.tally, total.balance),
        audits.len(),
        total.sessions_with_harness_turns,
        total.harness_turns
    )
}

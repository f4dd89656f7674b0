//! The `plugins` command: which plugins there are, where they are looked for, and what is wrong. None of them is run.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::{PluginPlaces, PluginsCommand};
use crate::error::Error;
use crate::plugin::inspect::{host_abi, inspect};
use crate::plugin::locate::{Places, Surroundings, not_found};
use crate::plugin::survey::{Absent, Candidate, Place, State, Survey};
use crate::plugin::trust::{Trust, sha256};
use crate::report::one_line;
use crate::show::{aligned, print};
use crate::worker::Isolation;

/// Runs the command, and writes what it shows to standard output.
pub fn run(command: Option<PluginsCommand>, json: bool, plugins: PluginPlaces) -> Result<(), Error> {
    if let Some(PluginsCommand::Allow { file }) = command {
        return print(&allow(&file, json)?);
    }
    let places = Places::new(plugins.files, plugins.folders, &Surroundings::here());
    let is_doctor = matches!(command, Some(PluginsCommand::Doctor));
    let (trust, fault) = match Trust::of_user(plugins.locked) {
        Ok(trust) => (trust, None),
        // Whoever asks what is wrong hears of everything.
        Err(error) if is_doctor => (Trust::default(), Some(error.to_string())),
        Err(error) => return Err(error),
    };
    let survey = Survey::new(&places, &trust)?;
    match command.unwrap_or(PluginsCommand::List) {
        PluginsCommand::List => print(&if json { as_json(&list(&survey)) } else { list_text(&survey) }),
        PluginsCommand::Info { name } => print(&info(&name, &survey, &trust, json)?),
        PluginsCommand::Path => print(&path(&survey, &places, json)),
        _ => {
            let (text, is_well) = doctor(&survey, &places, &trust, fault, json);
            print(&text)?;
            if is_well { Ok(()) } else { Err(Error::Said { code: 3 }) }
        }
    }
}

fn as_json(value: &impl Serialize) -> String {
    format!("{:#}\n", json!(value))
}

/// A plugin in a list.
#[derive(Serialize)]
struct Entry {
    name: Option<String>,
    provider_id: Option<String>,
    version: Option<String>,
    abi: Option<String>,
    state: &'static str,
    file: String,
    reason: Option<String>,
}

fn entry(candidate: &Candidate) -> Entry {
    let manifest = candidate.inspected.as_ref().map(|inspected| &inspected.manifest);
    Entry {
        name: candidate.name.clone(),
        provider_id: manifest.map(|manifest| manifest.provider_id.clone()),
        version: manifest.map(|manifest| manifest.version.clone()),
        abi: candidate.inspected.as_ref().map(|inspected| inspected.abi.to_string()),
        state: candidate.state.word(),
        file: candidate.file.display().to_string(),
        reason: candidate.state.reason(),
    }
}

fn list(survey: &Survey) -> Vec<Entry> {
    survey.candidates().map(entry).collect()
}

fn list_text(survey: &Survey) -> String {
    let entries = list(survey);
    if entries.is_empty() {
        return "no plugins; `toolpath-host plugins path` shows where they are looked for\n".to_owned();
    }
    let mut lines = "NAME\tPROVIDER ID\tVERSION\tABI\tSTATE\tFILE\n".to_owned();
    let mut reasons = String::new();
    for Entry { name, provider_id, version, abi, state, file, reason } in entries {
        let cell = |cell: &Option<String>| one_line(cell.as_deref().unwrap_or("-"));
        let file = one_line(&file);
        let cells = [cell(&name), cell(&provider_id), cell(&version), cell(&abi), state.to_owned(), file.clone()];
        lines.push_str(&cells.join("\t"));
        lines.push('\n');
        if let Some(reason) = reason {
            reasons.push_str(&format!("`{file}` {}\n", one_line(&reason)));
        }
    }
    let gap = if reasons.is_empty() { "" } else { "\n" };
    format!("{}{gap}{reasons}", aligned(&lines))
}

fn info(name: &str, survey: &Survey, trust: &Trust, json: bool) -> Result<String, Error> {
    let all: Vec<&Candidate> =
        survey.candidates().filter(|candidate| candidate.name.as_deref() == Some(name)).collect();
    if all.is_empty() {
        return Err(not_found(name, survey));
    }
    let all: Vec<Value> = all.into_iter().map(|candidate| about(candidate, survey, trust)).collect();
    if json {
        return Ok(as_json(&all));
    }
    let mut text = String::new();
    for about in all {
        if !text.is_empty() {
            text.push('\n');
        }
        let mut lines = String::new();
        for (key, value) in about.as_object().into_iter().flatten() {
            let value = match value {
                Value::Null => continue,
                Value::String(text) => text.clone(),
                Value::Array(list) if list.is_empty() => continue,
                Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
                other => other.to_string(),
            };
            lines.push_str(&format!("{}\t{}\n", key.replace('_', " "), one_line(&value)));
        }
        text.push_str(&aligned(&lines));
    }
    Ok(text)
}

fn about(candidate: &Candidate, survey: &Survey, trust: &Trust) -> Value {
    let is_here = |place: &&Place| place.found.iter().flatten().any(|found| found.file == candidate.file);
    let place = survey.places.iter().find(is_here).map(|place| place.why.words());
    // What is no library is not read.
    let digest = candidate.inspected.as_ref().and_then(|_| sha256(&candidate.file).ok());
    let allowed = trust.allowed.iter().flatten().find(|allowed| Some(&allowed.sha256) == digest.as_ref());
    let manifest = candidate.inspected.as_ref().map(|inspected| &inspected.manifest);
    json!({
        "name": candidate.name,
        "display_name": manifest.map(|manifest| &manifest.display_name),
        "provider_id": manifest.map(|manifest| &manifest.provider_id),
        "version": manifest.map(|manifest| &manifest.version),
        "abi": candidate.inspected.as_ref().map(|inspected| inspected.abi.to_string()),
        "state": candidate.state.word(),
        "reason": candidate.state.reason(),
        "file": candidate.file.display().to_string(),
        "place": place,
        "bytes": std::fs::metadata(&candidate.file).ok().map(|file| file.len()),
        "sha256": digest,
        "allowed_on": allowed.map(|allowed| &allowed.date),
        "harness": manifest.map(|manifest| &manifest.harness.name),
        "harness_versions": manifest.map(|manifest| &manifest.harness.versions),
        "environment": manifest.map(|manifest| &manifest.env),
        "roots": manifest.map(|manifest| &manifest.roots),
        "companions": manifest.map(|manifest| &manifest.companions),
    })
}

fn path(survey: &Survey, places: &Places, json: bool) -> String {
    if json {
        let found = |place: &Place| match &place.found {
            Ok(found) => json!(found.iter().map(entry).collect::<Vec<_>>()),
            Err(_) => Value::Null,
        };
        let list: Vec<Value> = survey
            .places
            .iter()
            .map(|place| {
                json!({"path": place.path.display().to_string(), "why": place.why.words(),
                    "problem": problem(place), "plugins": found(place)})
            })
            .collect();
        return as_json(&json!({"places": list, "not_searched": places.refused}));
    }
    let mut text = String::new();
    for (number, place) in survey.places.iter().enumerate() {
        let path = one_line(&place.path.display().to_string());
        text.push_str(&format!("{}. {path} ({})\n", number + 1, place.why.words()));
        match (&place.found, problem(place)) {
            (_, Some(problem)) => text.push_str(&format!("   {}\n", one_line(&problem))),
            (Ok(found), None) if found.is_empty() => text.push_str("   no plugins\n"),
            (Ok(found), None) => {
                for candidate in found {
                    let file = candidate.file.file_name().map(Path::new).unwrap_or(&candidate.file).display();
                    text.push_str(&format!("   {} ({})\n", one_line(&file.to_string()), candidate.state.word()));
                }
            }
            (Err(_), None) => {}
        }
    }
    for refused in &places.refused {
        text.push_str(&format!("{}\n", one_line(refused)));
    }
    text
}

/// Why nothing is known of a place.
fn problem(place: &Place) -> Option<String> {
    match &place.found {
        Ok(_) => None,
        Err(Absent::NotThere) => Some("not there".to_owned()),
        Err(Absent::Failed(why)) => Some(format!("cannot be searched: {why}")),
    }
}

/// What is wrong, and whether nothing is.
fn doctor(survey: &Survey, places: &Places, trust: &Trust, fault: Option<String>, json: bool) -> (String, bool) {
    let mut problems: Vec<String> = places.refused.iter().cloned().chain(fault).collect();
    let mut notes = Vec::new();
    for place in &survey.places {
        match &place.found {
            Err(Absent::Failed(why)) => {
                problems.push(format!("`{}` cannot be searched: {why}; check its permissions", place.path.display()));
            }
            Err(Absent::NotThere) if place.why.is_chosen() => {
                problems.push(format!("`{}` ({}) is not there", place.path.display(), place.why.words()));
            }
            _ => {}
        }
    }
    for candidate in survey.candidates() {
        let Some(reason) = candidate.state.reason() else { continue };
        let sentence = format!("`{}` {reason}", candidate.file.display());
        match &candidate.state {
            State::Shadowed { .. } => notes.push(sentence),
            _ => problems.push(sentence),
        }
    }
    let libraries = survey.candidates().filter(|candidate| candidate.inspected.is_some());
    let digests: Vec<String> = match trust.allowed {
        Some(_) => libraries.filter_map(|candidate| sha256(&candidate.file).ok()).collect(),
        None => Vec::new(),
    };
    for allowed in trust.allowed.iter().flatten().filter(|allowed| !digests.contains(&allowed.sha256)) {
        notes.push(format!(
            "the list of allowed plugins has `{}` {}, which is in none of the places",
            allowed.name, allowed.version
        ));
    }
    let (level, why) = Isolation::strongest();
    let rule = match (&trust.allowed, trust.lock_file()) {
        (Some(allowed), Some(file)) => format!("only the {} plugins in `{}` are used", allowed.len(), file.display()),
        _ if trust.is_ruled() => {
            "no plugin is used, since --locked was passed and there is no list of allowed ones".to_owned()
        }
        _ => "every plugin that is found is used, since there is no list of allowed ones".to_owned(),
    };
    let usable = survey.candidates().filter(|candidate| candidate.state == State::Usable).count();
    let is_well = problems.is_empty();
    if json {
        let report = json!({
            "abi": host_abi().to_string(), "isolation": level.to_string(), "isolation_reason": why,
            "usable": usable, "trust": rule, "problems": problems, "notes": notes,
        });
        return (as_json(&report), is_well);
    }
    let mut text = match why {
        None => format!("isolation: {level}\n"),
        Some(why) => format!("isolation: {level} ({})\n", one_line(&why)),
    };
    text.push_str(&format!("trust: {}\nusable plugins: {usable}\n", one_line(&rule)));
    for (word, list) in [("problem", &problems), ("note", &notes)] {
        for sentence in list {
            text.push_str(&format!("{word}: {}\n", one_line(sentence)));
        }
    }
    if is_well {
        text.push_str("nothing is wrong\n");
    }
    (text, is_well)
}

fn allow(file: &Path, json: bool) -> Result<String, Error> {
    let inspected =
        inspect(file).map_err(|reason| Error::BadPlugin { file: file.to_owned(), reason, details: None })?;
    let change = Trust::allow(file, &inspected)?;
    let (name, version) = (&inspected.manifest.name, &inspected.manifest.version);
    let digest = sha256(file)?;
    if json {
        return Ok(as_json(&json!({"name": name, "version": version, "abi": inspected.abi.to_string(),
            "sha256": digest, "lifted": change.is_lifted, "listed": change.is_listed})));
    }
    let mut text = String::new();
    if change.is_lifted {
        text.push_str(&format!("`{name}` {version} is out of quarantine\n"));
    }
    if change.is_listed {
        text.push_str(&format!("`{name}` {version} is allowed (sha256 {digest})\n"));
    }
    if change.is_listed && change.is_first {
        text.push_str("it is the first in the list; from now on no plugin is used that is not in it\n");
    }
    Ok(text)
}

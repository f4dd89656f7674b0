//! Which sessions a user means, and which plugin reads each.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::{Chosen, Reading};
use crate::error::Error;
use crate::listing::{Found, find, is_project, newest_first};
use crate::plugin::locate::{Located, Places, Surroundings, locate};
use crate::plugin::survey::{State, Survey};
use crate::plugin::trust::Trust;
use crate::reader::Reader;
use crate::report::one_line;
use crate::source::Source;
use crate::worker::Isolation;

/// The name that stands for every provider.
const AUTO: &str = "auto";
/// How many ids a message names.
const MOST_NAMED: usize = 10;

/// A session, and the plugin that reads it.
#[derive(Debug)]
pub struct Selected {
    /// The plugin.
    pub reader: Arc<Reader>,
    /// The session.
    pub source: Source,
}

/// The readers that the user asked for: the named plugin, or with `auto` all that can be used.
pub fn readers(args: &Reading) -> Result<Vec<Arc<Reader>>, Error> {
    let places = Places::new(args.plugins.files.clone(), args.plugins.folders.clone(), &Surroundings::here());
    for refused in &places.refused {
        say(refused);
    }
    let trust = Trust::of_user(args.plugins.locked)?;
    let plugins = if args.provider == AUTO { all(&places, &trust)? } else { vec![named(args, &places, &trust)?] };
    let isolation = isolation(args)?;
    Ok(plugins.into_iter().map(|plugin| Arc::new(Reader { plugin, isolation })).collect())
}

fn named(args: &Reading, places: &Places, trust: &Trust) -> Result<Located, Error> {
    let (located, shadowed) = locate(&args.provider, places, trust)?;
    if args.verbose {
        let manifest = &located.inspected.manifest;
        say(&format!("plugin `{}` {} from `{}`", manifest.name, manifest.version, located.file.display()));
        for file in shadowed {
            say(&format!("plugin `{}` is shadowed by it", file.display()));
        }
    }
    Ok(located)
}

fn all(places: &Places, trust: &Trust) -> Result<Vec<Located>, Error> {
    let survey = Survey::new(places, trust)?;
    let mut plugins = Vec::new();
    for candidate in survey.candidates() {
        match (&candidate.state, &candidate.inspected) {
            (State::Usable, Some(inspected)) => {
                plugins.push(Located { file: candidate.file.clone(), inspected: inspected.clone() });
            }
            (State::Shadowed { .. }, _) => {}
            (state, _) => {
                let reason = state.reason().unwrap_or_default();
                say(&format!("plugin `{}` {reason}; it is passed over", candidate.file.display()));
            }
        }
    }
    if plugins.is_empty() {
        return Err(crate::plugin::locate::not_found(AUTO, &survey));
    }
    Ok(plugins)
}

/// The level that was asked for, or the strongest there is; never silently a lower one.
fn isolation(args: &Reading) -> Result<Isolation, Error> {
    let (strongest, reason) = Isolation::strongest();
    let level = args.isolation.unwrap_or(strongest);
    if level > strongest {
        return Err(Error::NoIsolation { level, strongest, reason: reason.unwrap_or_default() });
    }
    if args.verbose {
        let why = reason.filter(|_| args.isolation.is_none()).map(|reason| format!(" ({reason})")).unwrap_or_default();
        say(&format!("isolation: {level}{why}"));
    }
    Ok(level)
}

/// The sessions that the user chose, in the order of the arguments, each once. One that cannot be read is an error in its place.
pub fn select(args: &Reading, chosen: &Chosen) -> Result<Vec<Result<Selected, Error>>, Error> {
    let mut selector = Selector { readers: readers(args)?, roots: &args.roots, listed: None };
    let mut selected = Vec::new();
    for session in &chosen.sessions {
        selected.push(selector.named(session));
    }
    if let Some(project) = &chosen.project {
        let mut found: Vec<Found> =
            selector.listed()?.iter().filter(|found| is_project(found, project)).cloned().collect();
        newest_first(&mut found);
        if found.is_empty() {
            let reason = "no session of this project is listed; `toolpath-host sessions` shows which there are";
            return Err(Error::Session { name: project.display().to_string(), reason: reason.to_owned() });
        }
        selected.extend(found.iter().map(|found| selector.found(found)));
    }
    let mut seen = HashSet::new();
    selected.retain(|selected| match selected {
        Ok(selected) => seen.insert(selected.source.identity()),
        Err(_) => true,
    });
    Ok(selected)
}

struct Selector<'s> {
    readers: Vec<Arc<Reader>>,
    roots: &'s [PathBuf],
    /// What the readers list, once it was asked for.
    listed: Option<Vec<Found>>,
}

impl Selector<'_> {
    fn named(&mut self, session: &Path) -> Result<Selected, Error> {
        if session.as_os_str() == "-" || std::fs::symlink_metadata(session).is_ok() {
            return self.at(session, None);
        }
        let text = session.to_string_lossy().into_owned();
        if let Some((path, id)) = text.rsplit_once('#')
            && !id.is_empty()
            && Path::new(path).exists()
        {
            return self.at(Path::new(path), Some(id));
        }
        let is_path = text.chars().any(std::path::is_separator) || session.extension().is_some();
        if !is_path {
            let all = self.listed()?;
            let matching: Vec<&Found> = match all.iter().filter(|found| found.entry.id == text).collect::<Vec<_>>() {
                exact if !exact.is_empty() => exact,
                _ => all.iter().filter(|found| found.entry.id.starts_with(&text)).collect(),
            };
            match matching.as_slice() {
                [] => {}
                [found] => {
                    let found = (*found).clone();
                    return self.found(&found);
                }
                several => {
                    // Files of one session may share its id, and then the id alone does not say which are meant.
                    let is_shared = |id: &str| several.iter().filter(|found| found.entry.id == id).count() > 1;
                    let name = |found: &&Found| match is_shared(&found.entry.id) {
                        true => format!("`{}`", found.path.display()),
                        false => format!("`{}`", found.entry.id),
                    };
                    let named: Vec<String> = several.iter().take(MOST_NAMED).map(name).collect();
                    let more = several.len().saturating_sub(MOST_NAMED);
                    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                    let reason = format!(
                        "{} sessions begin so: {}{more}; give more of the id, or a path",
                        several.len(),
                        named.join(", ")
                    );
                    return Err(Error::Session { name: text, reason });
                }
            }
            let reason = "there is no such file, and no session of that id is listed; check the path, or see \
                          `toolpath-host sessions`";
            return Err(Error::Session { name: text, reason: reason.to_owned() });
        }
        self.at(session, None)
    }

    fn listed(&mut self) -> Result<&[Found], Error> {
        if self.listed.is_none() {
            let (found, outcome) = find(&self.readers, self.roots);
            // A plugin that cannot list may still read: then no id is known.
            match outcome {
                Ok(()) | Err(Error::Session { .. }) => {}
                Err(error) => return Err(error),
            }
            self.listed = Some(found);
        }
        Ok(self.listed.as_deref().unwrap_or_default())
    }

    fn found(&self, found: &Found) -> Result<Selected, Error> {
        let id = found.is_shared.then_some(found.entry.id.as_str());
        Ok(Selected { reader: self.readers[found.reader].clone(), source: Source::open(&found.path, id)? })
    }

    fn at(&self, path: &Path, id: Option<&str>) -> Result<Selected, Error> {
        let source = Source::open(path, id)?;
        let reader = match self.readers.as_slice() {
            [reader] => reader,
            several => recognised(several, &source)?,
        };
        Ok(Selected { reader: reader.clone(), source })
    }
}

/// The reader that is surest that the session is its own.
fn recognised<'r>(readers: &'r [Arc<Reader>], source: &Source) -> Result<&'r Arc<Reader>, Error> {
    let mut best: Vec<&Arc<Reader>> = Vec::new();
    let mut most = 0;
    for reader in readers {
        let sure = match reader.detect(source.session()) {
            Ok(sure) => sure,
            Err(error @ Error::Session { .. }) => return Err(error),
            Err(error) => {
                say(&format!("{error}; it is passed over"));
                continue;
            }
        };
        if sure > most {
            (most, best) = (sure, vec![reader]);
        } else if sure == most && sure > 0 {
            best.push(reader);
        }
    }
    let refuse = |reason: String| Err(Error::Session { name: source.name.clone(), reason });
    match best.as_slice() {
        [reader] => Ok(reader),
        [] => {
            let names: Vec<String> = readers.iter().map(|reader| format!("`{}`", reader.name())).collect();
            refuse(format!("no plugin knows it ({}); pass --provider NAME", names.join(", ")))
        }
        several => {
            let names: Vec<String> = several.iter().map(|reader| format!("`{}`", reader.name())).collect();
            refuse(format!("several plugins know it equally well: {}; pass --provider NAME", names.join(", ")))
        }
    }
}

fn say(message: &str) {
    let _ = writeln!(io::stderr(), "{}", one_line(message));
}

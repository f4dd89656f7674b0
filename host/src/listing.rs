//! The sessions that a harness keeps: listed by its plugin, found by id, shown newest first.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;
use toolpath_plugin_api::path_from;

use crate::cli::Sessions;
use crate::error::Error;
use crate::intake::{Ended, Flow};
use crate::plugin::feed::Listing;
use crate::reader::Reader;
use crate::record::{Diagnostic, Listed};
use crate::report::one_line;
use crate::roots;
use crate::select::readers;
use crate::show::{aligned, print, shortened};

/// A session that a plugin listed.
#[derive(Clone, Debug)]
pub struct Found {
    /// The plugin that reads it, by its place among the readers.
    pub reader: usize,
    /// What the plugin told of it.
    pub entry: Listed,
    /// Its path.
    pub path: PathBuf,
    /// Others have the same path: it is a store of several.
    pub is_shared: bool,
}

/// Shows the sessions.
pub fn run(args: &Sessions) -> Result<(), Error> {
    let readers = readers(&args.reading)?;
    let (mut found, outcome) = find(&readers, &args.reading.roots);
    if let Some(project) = &args.project {
        found.retain(|found| is_project(found, project));
    }
    newest_first(&mut found);
    if args.json {
        let list: Vec<_> = found.iter().map(|found| as_json(found, &readers)).collect();
        print(&format!("{:#}\n", json!(list)))?;
    } else if found.is_empty() {
        if outcome.is_ok() {
            let _ = writeln!(io::stderr(), "{}", one_line(&nothing(&readers, args)));
        }
    } else {
        print(&table(&found, &readers))?;
    }
    outcome
}

fn nothing(readers: &[Arc<Reader>], args: &Sessions) -> String {
    let looked = places(readers, &args.reading.roots);
    let of = args.project.as_ref().map(|project| format!(" of `{}`", project.display())).unwrap_or_default();
    if looked.is_empty() {
        return format!("no sessions{of}: the plugin says of no folder that sessions are there; pass --root DIR");
    }
    let looked: Vec<String> = looked.iter().map(|root| format!("`{}`", root.display())).collect();
    format!("no sessions{of}: looked in {}", looked.join(", "))
}

/// Folders that the user named, or where the readers' harnesses keep sessions.
fn places(readers: &[Arc<Reader>], named: &[PathBuf]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    for place in readers.iter().flat_map(|reader| roots_of(reader, named)) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn roots_of(reader: &Reader, named: &[PathBuf]) -> Vec<PathBuf> {
    if named.is_empty() { roots::expand(&reader.plugin.inspected.manifest) } else { named.to_vec() }
}

/// Lists what each reader finds, under the folders that the user named or where its harness keeps sessions. What was found is
/// answered even when a reader failed.
pub fn find(readers: &[Arc<Reader>], named: &[PathBuf]) -> (Vec<Found>, Result<(), Error>) {
    let (mut all, mut outcome) = (Vec::new(), Ok(()));
    for (index, reader) in readers.iter().enumerate() {
        let roots: Vec<PathBuf> = roots_of(reader, named).into_iter().filter(|root| root.is_dir()).collect();
        if roots.is_empty() {
            continue;
        }
        let mut gathered = Gathered::default();
        let ended = reader.list(&roots, &mut gathered).and_then(|ended| match ended {
            Ended::Done(_) => Ok(()),
            Ended::Failed(reason) => {
                Err(Error::Session { name: format!("the sessions of `{}`", reader.name()), reason })
            }
            Ended::Stopped => Err(offence(reader, "stopped without being told to")),
            Ended::Panicked(message) => Err(offence(reader, &format!("panicked: {message}"))),
        });
        // With several readers, one that cannot list does not hide what the others found.
        if let Err(error) = ended
            && (readers.len() == 1 || !matches!(error, Error::Session { .. }))
        {
            outcome = outcome.and(Err(error));
        }
        let mut found: Vec<Found> = gathered
            .entries
            .into_iter()
            .map(|entry| {
                let path = path_from(&entry.path).into_owned();
                Found { reader: index, entry, path, is_shared: false }
            })
            .collect();
        found.sort_by(|one, other| (&one.path, &one.entry.id).cmp(&(&other.path, &other.entry.id)));
        found.dedup_by(|one, other| one.path == other.path && one.entry.id == other.entry.id);
        for at in 1..found.len() {
            if found[at].path == found[at - 1].path {
                found[at].is_shared = true;
                found[at - 1].is_shared = true;
            }
        }
        all.extend(found);
    }
    (all, outcome)
}

fn offence(reader: &Reader, offence: &str) -> Error {
    Error::offence(&format!("the sessions of `{}`", reader.name()), reader.name(), offence)
}

/// Entries in the order in which they came. Remarks go to standard error, the first hundred of them.
#[derive(Default)]
struct Gathered {
    entries: Vec<Listed>,
    remarks: usize,
}

/// Remarks that are told; no list of damaged files is longer.
const MOST: usize = 100;

impl Listing for Gathered {
    fn listed(&mut self, entry: Listed) -> Flow {
        self.entries.push(entry);
        Flow::GoOn
    }

    fn remark(&mut self, diagnostic: Diagnostic, path: Vec<u8>) -> Flow {
        self.remarks += 1;
        if self.remarks <= MOST {
            let path = path_from(&path).display().to_string();
            let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
            let _ = writeln!(io::stderr(), "{}", one_line(&format!("{place}{}", diagnostic.message)));
        }
        Flow::GoOn
    }
}

/// Whether a session is one of the project directory.
pub fn is_project(found: &Found, project: &Path) -> bool {
    let absolute = std::path::absolute(project).unwrap_or_else(|_| project.to_owned());
    let recorded = found.entry.project.as_deref().map(spelled);
    recorded.is_some_and(|recorded| {
        recorded == spelled(&project.to_string_lossy()) || recorded == spelled(&absolute.to_string_lossy())
    })
}

/// One spelling for all spellings of a directory: drive letters are capital, separators are slashes, none at the end.
fn spelled(directory: &str) -> String {
    let bytes = directory.as_bytes();
    let has_drive = bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    let mut spelled = directory.to_owned();
    if has_drive {
        spelled = spelled.replace('\\', "/");
        spelled[..1].make_ascii_uppercase();
    }
    let end = spelled.trim_end_matches('/').len().max(1);
    spelled.truncate(end);
    spelled
}

/// Sorts by the last activity; those without one come last.
pub fn newest_first(found: &mut [Found]) {
    let time = |found: &Found| {
        let text = found.entry.last_activity.as_deref().or(found.entry.started_at.as_deref());
        text.and_then(|text| text.parse::<Timestamp>().ok())
    };
    found.sort_by(|one, other| time(other).cmp(&time(one)).then_with(|| one.path.cmp(&other.path)));
}

fn as_json(found: &Found, readers: &[Arc<Reader>]) -> serde_json::Value {
    let Listed { id, project, title, started_at, last_activity, turns, bytes, .. } = &found.entry;
    json!({
        "session": id, "provider": readers[found.reader].provider_id(), "path": found.path.display().to_string(),
        "project": project, "title": title, "started_at": started_at, "last_activity": last_activity,
        "turns": turns, "bytes": bytes,
    })
}

fn table(found: &[Found], readers: &[Arc<Reader>]) -> String {
    let mut lines = "SESSION\tPROVIDER\tLAST ACTIVITY\tTURNS\tSIZE\tPROJECT\tTITLE\n".to_owned();
    for found in found {
        let entry = &found.entry;
        let time = entry.last_activity.as_deref().or(entry.started_at.as_deref());
        let cells = [
            entry.id.clone(),
            readers[found.reader].name().to_owned(),
            time.map_or("-".to_owned(), |time| time.chars().take(16).collect::<String>().replace('T', " ")),
            entry.turns.map_or("-".to_owned(), |turns| turns.to_string()),
            size(entry.bytes),
            entry.project.clone().unwrap_or("-".to_owned()),
            shortened(entry.title.as_deref().unwrap_or("-"), 60),
        ];
        lines.push_str(&cells.map(|cell| one_line(&cell)).join("\t"));
        lines.push('\n');
    }
    aligned(&lines)
}

/// A size for people: in powers of 1,000.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let (mut value, mut unit) = (bytes as f64 / 1000.0, 0);
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spellings_of_a_drive_path_are_one_project() {
        let all = [r"C:\Users\dev\x", r"c:\Users\dev\x\", "C:/Users/dev/x", "c:/Users/dev/x/"];
        assert!(all.iter().all(|one| spelled(one) == "C:/Users/dev/x"));
        assert_eq!(spelled("/srv/x/"), "/srv/x");
        assert_eq!(spelled("/"), "/");
        assert_eq!(spelled(r"/srv/a\b"), r"/srv/a\b");
    }

    #[test]
    fn sizes_are_for_people() {
        assert_eq!(
            [0, 999, 1000, 999_949, 999_950, 1_500_000_000].map(size),
            ["0 B", "999 B", "1.0 kB", "999.9 kB", "1.0 MB", "1.5 GB"]
        );
    }
}

//! What belongs to a session besides itself: the manifest's patterns, found beside it.
//!
//! A pattern is relative to the session's folder: `{stem}` and `{file}` stand for its name without and with the
//! extension, `**` at the end for everything in a folder. A session's folder as a whole is never granted.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use toolpath_plugin_api::kit::folder::{Entry, Kind, Listing};

/// The files and folders that the patterns name and that are there.
pub fn companions(session: &Path, patterns: &[String]) -> Vec<PathBuf> {
    let session = std::path::absolute(session).unwrap_or_else(|_| session.to_owned());
    let (Some(folder), Some(file), Some(stem)) =
        (session.parent(), text(session.file_name()), text(session.file_stem()))
    else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = patterns.iter().flat_map(|pattern| expand(folder, pattern, &stem, &file)).collect();
    found.sort();
    found.dedup();
    found
}

fn text(name: Option<&std::ffi::OsStr>) -> Option<String> {
    // A name that is no text fits no pattern: what it stands for is not granted.
    name.and_then(|name| name.to_str()).map(str::to_owned)
}

fn expand(folder: &Path, pattern: &str, stem: &str, file: &str) -> Vec<PathBuf> {
    let escape = glob::Pattern::escape;
    let whole = pattern.strip_suffix("/**");
    let is_folder = whole.is_some();
    let pattern = whole.unwrap_or(pattern);
    let relative = pattern.replace("{stem}", stem).replace("{file}", file);
    let stays_below = |path: &Path| path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if relative.is_empty() || !stays_below(Path::new(&relative)) || !stays_below(Path::new(pattern)) {
        return Vec::new();
    }
    let top = OnceCell::new();
    // What a link leads to somewhere else does not belong to the session.
    let is_below = |place: &Path| {
        let top = top.get_or_init(|| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        place.canonicalize().is_ok_and(|place| place.starts_with(top))
    };
    // A folder is granted only where the pattern says that all of it belongs to the session.
    let is_wanted = |place: &Path| if is_folder { place.is_dir() } else { place.is_file() };
    let is_special = |c: char| "*?[".contains(c);
    if !pattern.contains(is_special) {
        let place = folder.join(&relative);
        return if is_wanted(&place) && is_below(&place) { vec![place] } else { Vec::new() };
    }
    let escaped = pattern.replace("{stem}", &escape(stem)).replace("{file}", &escape(file));
    if pattern.contains('/') || pattern.contains("**") {
        let Some(folder) = folder.to_str() else { return Vec::new() };
        let places = glob::glob(&format!("{}/{escaped}", escape(folder))).into_iter().flatten().flatten();
        return places.filter(|place| is_wanted(place) && is_below(place)).collect();
    }
    let (Ok(listing), Ok(pattern)) = (Listing::of(folder), glob::Pattern::new(&escaped)) else { return Vec::new() };
    let start = &escaped[..escaped.find(is_special).unwrap_or(0)];
    let fitting = listing.starting_with(start).iter().filter(|entry| pattern.matches(&entry.name));
    let is_companion = |entry: &&Entry| match entry.kind {
        Kind::File => !is_folder,
        Kind::Folder => is_folder,
        Kind::Link => Some(folder.join(&*entry.name)).is_some_and(|place| is_wanted(&place) && is_below(&place)),
        Kind::Other => false,
    };
    fitting.filter(is_companion).map(|entry| folder.join(&*entry.name)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn patterns_find_what_belongs_to_the_session_and_nothing_above_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["s[1].jsonl", "s[1].jsonl-wal", "agent-a.jsonl", "agent-b.txt", "other.jsonl"] {
            fs::write(at(name), "x").expect("a file");
        }
        fs::create_dir(at("s[1]")).expect("a folder");
        fs::create_dir(at("agent-c.jsonl")).expect("a folder");
        let found = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            companions(&at("s[1].jsonl"), &patterns)
        };
        assert_eq!(found(&["{stem}/**", "agent-*.jsonl"]), [at("agent-a.jsonl"), at("s[1]")]);
        assert_eq!(found(&["{file}-wal", "{file}-shm"]), [at("s[1].jsonl-wal")]);
        assert_eq!(found(&["../**", "/etc/passwd", "**", "", "{stem}/../../**", "."]), Vec::<PathBuf>::new());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_of_the_sessions_folder_is_no_companion() {
        let (folder, elsewhere) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let at = |name: &str| folder.path().join(name);
        fs::write(elsewhere.path().join("secret"), "x").expect("a file");
        fs::write(at("agent-own.jsonl"), "x").expect("a file");
        for (target, link) in [
            (elsewhere.path().join("secret"), "agent-x.jsonl"),
            (elsewhere.path().to_owned(), "s"),
            (at("agent-own.jsonl"), "agent-link.jsonl"),
        ] {
            std::os::unix::fs::symlink(target, at(link)).expect("a link");
        }
        let patterns = ["{stem}/**".to_owned(), "agent-*.jsonl".to_owned()];
        let found = companions(&at("s.jsonl"), &patterns);
        assert_eq!(found, [at("agent-link.jsonl"), at("agent-own.jsonl")]);
    }
}

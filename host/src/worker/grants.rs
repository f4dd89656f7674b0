//! What belongs to a session besides itself: the manifest's patterns, found beside it.
//!
//! A pattern is relative to the session's folder: `{stem}` and `{file}` stand for its name without and with the
//! extension, `**` at the end for everything in a folder. A session's folder as a whole is never granted.

use std::path::{Path, PathBuf};

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
    let pattern = pattern.replace("{stem}", &escape(stem)).replace("{file}", &escape(file));
    let whole = pattern.strip_suffix("/**");
    let relative = Path::new(whole.unwrap_or(&pattern));
    let stays_below = relative.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let Some(folder) = folder.to_str().filter(|_| stays_below && !relative.as_os_str().is_empty()) else {
        return Vec::new();
    };
    let places = glob::glob(&format!("{}/{}", escape(folder), relative.display()));
    let places = places.into_iter().flatten().flatten();
    // What a link leads to somewhere else does not belong to the session.
    let top = Path::new(folder).canonicalize().unwrap_or_else(|_| Path::new(folder).to_owned());
    let is_below = |place: &PathBuf| place.canonicalize().is_ok_and(|place| place.starts_with(&top));
    // A folder is granted only where the pattern says that all of it belongs to the session.
    let is_wanted = |place: &PathBuf| if whole.is_some() { place.is_dir() } else { place.is_file() };
    places.filter(|place| is_wanted(place) && is_below(place)).collect()
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

//! Sessions beside the documents they become, and what holds for each of them.
//!
//! `TOOLPATH_BLESS=1 cargo test -p toolpath-tests --test documents` rewrites the expected files; review the change like code.

use std::fs;
use std::path::{Path, PathBuf};

use toolpath_tests::rules::assert_valid;
use toolpath_tests::{Scratch, top};

/// Each case: the provider, its folder, its session.
fn cases() -> Vec<(String, PathBuf, PathBuf)> {
    let folder = top().join("tests/fixtures/sessions");
    let mut cases = Vec::new();
    for provider in folders(&folder) {
        for case in folders(&provider) {
            let session = files(&case).into_iter().find(|file| file.file_stem().is_some_and(|stem| stem == "session"));
            let name = provider.file_name().expect("a folder").to_string_lossy().into_owned();
            cases.push((name, case.clone(), session.unwrap_or_else(|| panic!("{} has no session", case.display()))));
        }
    }
    assert!(cases.len() >= 7, "the fixtures are gone");
    cases
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a folder of fixtures").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Runs the host on a copy of the session, so that messages do not depend on where the repository lies.
fn derive(scratch: &Scratch, provider: &str, session: &Path, more: &[&str]) -> toolpath_tests::Run {
    let name = session.file_name().expect("a file").to_string_lossy().into_owned();
    scratch.write(&name, fs::read(session).expect("the session"));
    let mut args = vec!["--provider", provider, "--plugins", "plugins", name.as_str()];
    args.extend(more);
    scratch.host(args)
}

#[test]
fn each_session_becomes_the_document_beside_it() {
    let scratch = Scratch::new();
    let bless = std::env::var_os("TOOLPATH_BLESS").is_some();
    for (provider, case, session) in cases() {
        let run = derive(&scratch, &provider, &session, &["--pretty"]);
        for (name, found) in [("document.json", run.succeeds()), ("messages.txt", run.stderr())] {
            let file = case.join(name);
            if bless {
                fs::write(&file, &found).expect("writing what is expected");
            }
            let expected = fs::read_to_string(&file).unwrap_or_else(|err| panic!("{}: {err}", file.display()));
            assert_eq!(found, expected, "{}", file.display());
        }
    }
}

#[test]
fn each_document_is_valid_and_comes_out_with_the_same_bytes_twice() {
    let scratch = Scratch::new();
    for (provider, _, session) in cases() {
        let run = derive(&scratch, &provider, &session, &[]);
        assert_valid(&run.document());
        assert_eq!(derive(&scratch, &provider, &session, &[]).stdout(), run.stdout());
    }
}

#[test]
fn the_compact_and_the_pretty_form_are_one_document() {
    let scratch = Scratch::new();
    for (provider, _, session) in cases() {
        let compact = derive(&scratch, &provider, &session, &[]);
        let pretty = derive(&scratch, &provider, &session, &["--pretty"]);
        assert_eq!(compact.document(), pretty.document());
        assert_eq!(compact.stdout().lines().count(), 1);
    }
}

#[test]
fn a_session_cut_after_any_line_is_a_document_or_one_clear_sentence() {
    let cases = cases();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let scratch = Scratch::new();
        while let Some((provider, _, session)) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            cut_after_any_line(&scratch, provider, session);
        }
    };
    std::thread::scope(|threads| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            threads.spawn(work);
        }
    });
}

fn cut_after_any_line(scratch: &Scratch, provider: &str, session: &Path) {
    let whole = fs::read(session).expect("the session");
    let name = format!("cut.{}", session.extension().expect("an ending").to_string_lossy());
    let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').flat_map(|at| [at, at + 1]).collect();
    for cut in ends.into_iter().chain([1, whole.len() / 2, whole.len() - 1]) {
        scratch.write(&name, &whole[..cut]);
        let run = scratch.host(["--provider", provider, "--plugins", "plugins", &name]);
        if run.code() == Some(0) {
            assert_valid(&run.document());
        } else {
            run.exits(1);
            assert_eq!((run.stdout().as_str(), run.stderr().lines().count()), ("", 1), "{run}");
        }
    }
}

//! What a host is told of whole sessions: `credit` is about who wrote what, `records` about the rest of a session,
//! `stores` about where sessions are found, `damage` about what is broken.

mod credit;
mod damage;
mod made;
mod records;
mod stores;

use toolpath_plugin_api::kit::testing;

use crate::Opencode;
use crate::tests::made::Made;

/// What is told of the session `id` of a store, but for what the session itself is called.
#[track_caller]
fn told(path: &std::path::Path, id: &str) -> Vec<String> {
    let told = testing::read_as::<Opencode>(path, "store", Some(id), &[]);
    told.into_iter().filter(|line| !line.starts_with("session ") && !line.starts_with("event session ")).collect()
}

/// Makes `log` into a database and into folders of both older layouts, and sees that of each the same is told.
///
/// Only rows of a database have a place: `@` stands for it.
#[track_caller]
fn check(log: &str, expected: &[&str]) {
    let made = Made::of(log);
    for path in [made.database(), made.tree(), made.oldest_tree()] {
        let told = told(&path, "ses_1");
        let told: Vec<String> =
            told.iter().map(|line| line.replace(" 0@0+0:", " @:").replace(" 1@0+0:", " @:")).collect();
        assert_eq!(told, expected, "{} {log}", path.display());
    }
}

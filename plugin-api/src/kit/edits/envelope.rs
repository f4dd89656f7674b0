//! The patches that models write (`*** Begin Patch`): what is replaced by what, without line numbers.

use crate::kit::diff::unified;
use crate::kit::edits::{Diff, Edit, placed};
use crate::kit::path::absolute;

const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const HEADERS: [&str; 5] = [ADD, DELETE, UPDATE, MOVE, "*** End Patch"];

/// The writes that the patch `text` asks for; a file with several places to change has one for each.
pub fn edits(text: &str, cwd: Option<&str>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let to = lines.next_if(|line| line.starts_with(MOVE)).and_then(|line| line.strip_prefix(MOVE));
        let mut body = Vec::new();
        while let Some(line) = lines.next_if(|line| !HEADERS.iter().any(|header| line.starts_with(header))) {
            body.push(line);
        }
        if let Some(path) = line.strip_prefix(ADD) {
            let path = absolute(path.trim(), cwd);
            let added = body.iter().filter_map(|line| line.strip_prefix('+'));
            let content: String = added.flat_map(|line| [line, "\n"]).collect();
            let diff = placed(&path, "", &content);
            edits.push(Edit::new(path, "add", diff));
        } else if let Some(path) = line.strip_prefix(DELETE) {
            edits.push(Edit::new(absolute(path.trim(), cwd), "delete", Diff::Unknown));
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            let to = to.map(|to| absolute(to.trim(), cwd));
            update(&absolute(path.trim(), cwd), to, &body, &mut edits);
        }
    }
    edits
}

fn update(path: &str, to: Option<String>, body: &[&str], edits: &mut Vec<Edit>) {
    let before = edits.len();
    for chunk in body.split(|line| line.starts_with("@@")) {
        let (mut old, mut new) = (String::new(), String::new());
        for line in chunk {
            if *line == "*** End of File" {
                continue;
            }
            let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
            for (side, other) in [(&mut old, "+"), (&mut new, "-")] {
                if sign != other {
                    side.push_str(rest);
                    side.push('\n');
                }
            }
        }
        if old != new {
            edits.push(Edit::new(path.to_owned(), "update", Diff::Partial(unified(path, &old, &new))));
        }
    }
    if to.is_some() {
        if edits.len() == before {
            edits.push(Edit::new(path.to_owned(), "update", Diff::Unknown));
        }
        edits[before].to = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_a_patch_is_a_write() {
        let patch = "*** Begin Patch\n*** Add File: new.txt\n+a\n+b\n*** Update File: old.txt\n*** Move to: moved.txt\n\
                     @@ fn x\n keep\n-out\n+in\n@@\n-last\n*** End of File\n*** Delete File: gone.txt\n*** End Patch\n";
        let edits = edits(patch, Some("/w"));
        let expected = [
            Edit::new(
                "/w/new.txt".to_owned(),
                "add",
                Diff::Placed("--- a/w/new.txt\n+++ b/w/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n".to_owned()),
            ),
            Edit {
                to: Some("/w/moved.txt".to_owned()),
                ..Edit::new(
                    "/w/old.txt".to_owned(),
                    "update",
                    Diff::Partial("--- a/w/old.txt\n+++ b/w/old.txt\n@@ -1,2 +1,2 @@\n keep\n-out\n+in\n".to_owned()),
                )
            },
            Edit::new(
                "/w/old.txt".to_owned(),
                "update",
                Diff::Partial("--- a/w/old.txt\n+++ b/w/old.txt\n@@ -1 +0,0 @@\n-last\n".to_owned()),
            ),
            Edit::new("/w/gone.txt".to_owned(), "delete", Diff::Unknown),
        ];
        assert_eq!(edits, expected);
    }

    #[test]
    fn what_is_no_patch_writes_nothing_and_nothing_breaks() {
        for text in ["", "words", "*** Begin Patch\n*** End Patch", "*** Update File: é\né\n\u{1}", "*** Move to: x"]
        {
            assert!(edits(text, None).len() <= 1, "{text}");
        }
    }
}

//! Diffs whose line numbers are known are taken by `git apply` and by `patch`, and give the text that was recorded.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolpath_tests::{Scratch, steps};

/// A file before and after an edit.
struct Edit {
    before: Option<&'static str>,
    after: &'static str,
}

const EDITS: [Edit; 9] = [
    Edit { before: None, after: "one\ntwo\n" },
    Edit { before: None, after: "no end" },
    Edit { before: Some("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), after: "1\n2\n3\n4\nfive\n6\n7\n8\n9\n" },
    Edit { before: Some("a\nb"), after: "a\nb\nc" },
    Edit { before: Some("a\r\nb\r\n"), after: "a\r\nB\r\n" },
    Edit { before: Some("\tif x:\n\t\ty\n"), after: "\tif z:\n\t\ty\n\t\tw\n" },
    Edit { before: Some("größe 😀\n--- a\n+++ b\n@@\n"), after: "größe 🙂\n--- a\n+++ b\n@@ -1 +1 @@\n" },
    Edit { before: Some("x\rstill x\ny\n"), after: "x\rnow z\ny\n" },
    Edit { before: Some("first\n\n\n\n\n\n\n\n\n\nlast\n"), after: "FIRST\n\n\n\n\n\n\n\n\n\nLAST\n" },
];

fn line(edit: &Edit, index: usize, path: &str) -> String {
    let id = format!("c{index}");
    let (name, input, report) = match edit.before {
        None => (
            "Write",
            json!({"file_path": path, "content": edit.after}),
            json!({"type": "create", "filePath": path, "content": edit.after, "structuredPatch": []}),
        ),
        Some(before) => (
            "Edit",
            json!({"file_path": path, "old_string": before, "new_string": edit.after}),
            json!({"filePath": path, "oldString": before, "newString": edit.after, "originalFile": before}),
        ),
    };
    let base = json!({"sessionId": "s", "parentUuid": null, "cwd": "/w"});
    let with = |more: Value| {
        let mut line = base.clone();
        for (key, value) in more.as_object().expect("an object") {
            line[key] = value.clone();
        }
        line.to_string()
    };
    let call = with(json!({"type": "assistant", "uuid": format!("a{index}"), "message": {"role": "assistant",
        "model": "m", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}}));
    let result = with(json!({"type": "user", "uuid": format!("r{index}"), "toolUseResult": report, "message": {
        "role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]}}));
    format!("{call}\n{result}\n")
}

/// Runs a tool on a fresh folder with the file as it was before, and answers what became of it.
fn applied(tool: &[&str], file: &str, edit: &Edit, diff: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    if let Some(before) = edit.before {
        fs::write(&path, before).expect("the file before");
    }
    fs::write(folder.path().join("d.diff"), diff).expect("the diff");
    let output = Command::new(tool[0]).args(&tool[1..]).current_dir(folder.path()).output().expect("the tool runs");
    assert!(
        output.status.success(),
        "{tool:?}\n{diff}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    fs::read_to_string(path).unwrap_or_else(|err| panic!("{tool:?}: {err}\n{diff}"))
}

#[test]
fn diffs_with_known_line_numbers_are_taken_by_git_and_by_patch() {
    let scratch = Scratch::new();
    let files: Vec<String> = (0..EDITS.len()).map(|n| format!("w/dir {n}/file-{n}.txt")).collect();
    let session: String =
        EDITS.iter().enumerate().map(|(index, edit)| line(edit, index, &format!("/{}", files[index]))).collect();
    scratch.write("s.jsonl", session);
    let document = scratch.host(["--provider", "claude", "--plugins", "plugins", "s.jsonl"]).document();
    let writes: Vec<(&String, &Value)> = steps(&document)
        .iter()
        .flat_map(|step| step["change"].as_object().expect("changes"))
        .filter(|(_, change)| change["structural"]["type"] == "file.write")
        .collect();
    assert_eq!(writes.len(), EDITS.len());
    let has_patch = Command::new("patch").arg("--version").output().is_ok();
    for (index, (path, change)) in writes.into_iter().enumerate() {
        assert_eq!(Path::new(path), Path::new(&format!("/{}", files[index])));
        assert_eq!(change["structural"].get("partial"), None, "{change}");
        let diff = change["raw"].as_str().expect("a diff");
        let edit = &EDITS[index];
        assert_eq!(applied(&["git", "apply", "d.diff"], &files[index], edit, diff), edit.after, "{diff}");
        if has_patch {
            let patch = ["patch", "--binary", "-p1", "-s", "-i", "d.diff"];
            assert_eq!(applied(&patch, &files[index], edit, diff), edit.after, "{diff}");
        }
    }
    if !has_patch {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "skipped: there is no `patch` to try the diffs with");
    }
}

#[test]
fn a_diff_whose_place_is_not_known_says_so() {
    let scratch = Scratch::new();
    let edit = Edit { before: Some("left"), after: "right" };
    let session = line(&edit, 0, "/w/a.txt").replace(",\"originalFile\":\"left\"", "");
    scratch.write("s.jsonl", session);
    let document = scratch.host(["--provider", "claude", "--plugins", "plugins", "s.jsonl"]).document();
    assert_eq!(steps(&document)[0]["change"]["/w/a.txt"]["structural"]["partial"], true);
}

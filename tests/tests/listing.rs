//! Sessions that a plugin lists: shown, filtered, found by id, and what a plugin does wrong meanwhile.

use serde_json::{Value, json};
use toolpath_tests::{Run, Scratch, built};

/// A folder `store` with these sessions, and a plugin that lists it.
fn scratch(sessions: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::without_plugins();
    scratch.add_plugin(&built().misbehaving);
    std::fs::create_dir(scratch.path("store")).expect("a folder");
    for (name, asked) in sessions {
        scratch.write(&format!("store/{name}.session"), asked);
    }
    scratch
}

fn sessions(scratch: &Scratch, flags: &[&str]) -> Run {
    let args = ["sessions", "--provider", "misbehaving", "--plugins", "plugins", "--root", "store"];
    scratch.host(args.into_iter().chain(flags.iter().copied()))
}

fn derive(scratch: &Scratch, flags: &[&str]) -> Run {
    let args = ["--provider", "misbehaving", "--plugins", "plugins", "--root", "store"];
    scratch.host(args.into_iter().chain(flags.iter().copied()))
}

fn listed(scratch: &Scratch, flags: &[&str]) -> Vec<Value> {
    let text = sessions(scratch, &[flags, &["--json"]].concat()).succeeds();
    serde_json::from_str::<Value>(&text).expect("JSON").as_array().expect("a list").clone()
}

#[test]
fn sessions_are_listed_newest_first() {
    let scratch = scratch(&[("alpha", "nothing /srv/a"), ("beta", "list-several")]);
    let list = listed(&scratch, &[]);
    let ids: Vec<&Value> = list.iter().map(|session| &session["session"]).collect();
    // The third of January at two in the morning in the east is still the second in Greenwich.
    assert_eq!(ids, [&json!("two"), &json!("alpha"), &json!("one")]);
    let path = scratch.path("store/alpha.session").display().to_string();
    assert_eq!(
        list[1],
        json!({"session": "alpha", "provider": "misbehaving", "path": path, "project": "/srv/a", "title": null,
            "started_at": null, "last_activity": "2026-01-02T00:00:00Z", "turns": 1, "bytes": 14})
    );
    let text = sessions(&scratch, &[]).succeeds();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("SESSION  PROVIDER     LAST ACTIVITY     TURNS  SIZE  PROJECT  TITLE"), "{text}");
    assert_eq!(lines[2], "alpha    misbehaving  2026-01-02 00:00  1      14 B  /srv/a   -");
}

#[test]
fn a_project_is_the_directory_that_was_recorded() {
    let scratch = scratch(&[("alpha", "nothing /srv/a"), ("beta", "nothing /srv/ab"), ("gamma", "nothing")]);
    let of = |project: &str| {
        let list = listed(&scratch, &["--project", project]);
        list.iter().map(|session| session["session"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of("/srv/a"), ["alpha"]);
    assert_eq!(of("/srv/a/"), ["alpha"]);
    assert_eq!(of("/srv"), Vec::<String>::new());
    let run = sessions(&scratch, &["--project", "/srv"]);
    assert_eq!(run.succeeds(), "");
    assert_eq!(run.stderr(), "no sessions of `/srv`: looked in `store`\n");
}

#[test]
fn an_id_or_its_unique_beginning_names_a_session() {
    let scratch = scratch(&[("alpha", "nothing"), ("alps", "nothing"), ("beta", "nothing")]);
    derive(&scratch, &["beta"]).document();
    derive(&scratch, &["b"]).document();
    derive(&scratch, &["alpha"]).document();
    derive(&scratch, &["alp"]).fails(1, "alp: 2 sessions begin so: `alpha`, `alps`; give more of the id, or a path");
    derive(&scratch, &["nobody"]).fails(
        1,
        "nobody: there is no such file, and no session of that id is listed; check the path, or see `toolpath-host sessions`",
    );
    // A path that is not there is no id.
    derive(&scratch, &["nowhere/alpha"]).fails(1, "nowhere/alpha: there is no such file; check the path");
}

#[test]
fn a_session_of_a_store_of_several_is_named_by_path_and_id() {
    let scratch = scratch(&[("beta", "list-several")]);
    // The plugin takes the text for an offence that it does not know.
    let name = format!("{}#one", scratch.path("store/beta.session").display());
    derive(&scratch, &["one"]).fails(1, &format!("{name}: there is no offence `list-several`"));
    derive(&scratch, &["store/beta.session#one"])
        .fails(1, "store/beta.session#one: there is no offence `list-several`");
}

#[test]
fn all_sessions_of_a_project_are_derived_to_a_folder() {
    let scratch = scratch(&[("alpha", "nothing /srv/a"), ("beta", "nothing /srv/a"), ("gamma", "nothing /srv/b")]);
    let run = derive(&scratch, &["--project", "/srv/a", "-o", "out"]);
    run.exits(0);
    let mut files: Vec<String> = std::fs::read_dir(scratch.path("out"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    // Both sessions say that they are `s`.
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(files.iter().all(|file| file.starts_with("misbehaving-s-") && file.ends_with(".path.json")), "{files:?}");
    derive(&scratch, &["--project", "/srv/none", "-o", "out"])
        .fails(1, "/srv/none: no session of this project is listed; `toolpath-host sessions` shows which there are");
}

#[test]
fn what_a_plugin_does_wrong_while_it_lists_is_told_in_one_sentence() {
    let fails = |asked: &str, code: i32, message: &str| {
        let run = sessions(&scratch(&[("alpha", asked)]), &[]);
        run.exits(code);
        assert!(run.stderr().starts_with(&format!("error: the sessions of `misbehaving`: {message}")), "{run}");
        assert_eq!(run.stderr().lines().count(), 1, "{run}");
    };
    fails("list-fail", 1, "because of that");
    fails("list-panic", 3, "the plugin `misbehaving` panicked: on request (at ");
    fails(
        "list-abort",
        3,
        "the plugin `misbehaving` aborted, or asked for more than 2048 MiB of memory; it is in quarantine",
    );
    let remark = sessions(&scratch(&[("alpha", "list-remark")]), &[]);
    remark.exits(0);
    let first = remark.stderr().lines().next().map(str::to_owned);
    assert!(first.is_some_and(|line| line.ends_with("store/alpha.session: is odd")), "{remark}");
}

#[test]
fn a_lister_reads_below_its_roots_and_nowhere_else() {
    let scratch = scratch(&[]);
    let level = sessions(&scratch, &["--isolation", "sandbox"]);
    if level.code() != Some(0) {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "skipped: this system has no sandbox");
        return;
    }
    let outside = scratch.write("private.txt", "private");
    scratch.write("store/alpha.session", format!("list-read {}", outside.display()));
    scratch.write("store/beta.session", format!("list-read {}", scratch.path("store/alpha.session").display()));
    let titles: Vec<Value> = listed(&scratch, &[]).iter().map(|session| session["title"].clone()).collect();
    assert_eq!(titles, [json!("denied: Permission denied (os error 13)"), json!("allowed")]);
}

#[test]
fn a_provider_is_found_by_what_its_plugin_recognises() {
    let scratch = scratch(&[]);
    for plugin in built().plugins.values() {
        scratch.add_plugin(plugin);
    }
    let auto = |session: &str, text: &str| {
        scratch.write(session, text);
        scratch.host(["--provider", "auto", "--plugins", "plugins", session])
    };
    let document = auto("s.txt", "nothing").document();
    assert_eq!(document["paths"][0]["meta"]["source"], "misbehaving");
    let view = r#"{"id":"v","turns":[{"id":"t","role":"User","timestamp":"","text":"hi","tool_uses":[]}]}"#;
    assert_eq!(auto("v.json", view).document()["paths"][0]["path"]["head"], "t");
    let unknown = auto("u.txt", "who knows");
    unknown.exits(1);
    assert!(unknown.stderr().starts_with("error: u.txt: no plugin knows it (`"), "{unknown}");
    assert!(unknown.stderr().ends_with("); pass --provider NAME\n"), "{unknown}");
    // Who is asked sees the first bytes, and may open nothing.
    assert_eq!(auto("r.txt", "detect-read").code(), Some(1));
    let crashed = auto("c.txt", "detect-abort");
    crashed.exits(1);
    assert!(crashed.stderr().contains("it is in quarantine now"), "{crashed}");
}

use std::path::Path;

use toolpath_plugin_api::kit::testing;

use crate::ClaudeCode;
use crate::tests::folder::Folder;

const START: &str = r#"{"type":"user","uuid":"u","parentUuid":null,"cwd":"/srv/demo","timestamp":"2026-05-04T08:00:00.000Z","message":{"content":"Fix the\n retries"}}"#;
const END: &str = r#"{"type":"assistant","uuid":"z","parentUuid":"u","cwd":"/srv/other","timestamp":"2026-05-04T09:00:00.000Z","message":{"model":"m","content":"done"}}"#;

fn listed(folder: &Folder) -> Vec<String> {
    let told = testing::sessions::<ClaudeCode>(&[folder.path()]);
    told.into_iter().map(|line| line.replace(&*folder.path().to_string_lossy(), "DIR")).collect()
}

/// What a listing says of a session that is `log`, behind its path.
#[track_caller]
fn check(log: &str, expected: &str) {
    let folder = Folder::new();
    folder.write("p/s.jsonl", log);
    assert_eq!(listed(&folder), [format!("s at DIR/p/s.jsonl {expected} bytes={}", log.len())]);
}

/// A session that is too large to be read whole.
fn large(head: &[&str], tail: &[&str]) -> String {
    let filler = format!("{{\"type\":\"progress\",\"uuid\":\"p\",\"data\":\"{}\"}}", "x".repeat(500));
    let middle = std::iter::repeat_n(filler.as_str(), 400);
    head.iter().copied().chain(middle).chain(tail.iter().copied()).flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn a_session_is_listed_with_where_when_and_how_much() {
    check(
        &format!("{START}\n{END}\n"),
        "project=/srv/demo title=Fix the retries from=2026-05-04T08:00:00Z to=2026-05-04T09:00:00Z turns=2",
    );
}

#[test]
fn a_large_session_is_listed_by_its_beginning_and_its_end() {
    check(
        &large(&[r#"{"type":"mode","mode":"x"}"#, START], &[END]),
        "project=/srv/demo title=Fix the retries from=2026-05-04T08:00:00Z to=2026-05-04T09:00:00Z",
    );
    let title = r#"{"type":"custom-title","customTitle":"Retries","sessionId":"s"}"#;
    check(
        &large(&[START], &[title, END]),
        "project=/srv/demo title=Retries from=2026-05-04T08:00:00Z to=2026-05-04T09:00:00Z",
    );
}

#[test]
fn a_large_session_whose_first_line_is_too_long_is_known_by_its_end() {
    let long = START.replace(r#"{"type""#, r#"{"parentUuid":null,"isSidechain":false,"sessionId":"s","type""#);
    let long = long.replace("retries", &"retries ".repeat(20_000));
    check(&large(&[&long], &[END]), "project=/srv/other from=2026-05-04T09:00:00Z to=2026-05-04T09:00:00Z");
}

#[test]
fn of_titles_the_given_one_counts_then_the_made_one_then_what_was_said() {
    let lines = [
        (r#"{"type":"summary","summary":"Summed up","leafUuid":"l"}"#, "Summed up"),
        (r#"{"type":"last-prompt","lastPrompt":"Ship it"}"#, "Ship it"),
        (r#"{"type":"ai-title","aiTitle":"Retry limits"}"#, "Retry limits"),
        (r#"{"type":"ai-title","aiTitle":"Retry limits again"}"#, "Retry limits again"),
        (r#"{"type":"custom-title","customTitle":"Retries"}"#, "Retries"),
        (r#"{"type":"custom-title","customTitle":" "}"#, "Retries"),
    ];
    let mut log = START.to_owned();
    for (line, title) in lines {
        log = format!("{line}\n{log}").replace(&format!("{line}\n"), "") + "\n" + line;
        for log in [format!("{log}\n"), large(&[&log], &[]), large(&[], &log.lines().collect::<Vec<_>>())] {
            let folder = Folder::new();
            folder.write("s.jsonl", &log);
            assert!(listed(&folder)[0].contains(&format!(" title={title} from=")), "{:?} {line}", listed(&folder));
        }
    }
}

#[test]
fn the_first_prompt_is_one_that_a_person_typed() {
    let user = |more: &str, content: &str| {
        format!(r#"{{"type":"user","uuid":"u","parentUuid":null{more},"message":{{"content":{content}}}}}"#)
    };
    let command = user("", r#""<command-name>/init</command-name>\n<command-args>all</command-args>""#);
    let lines = [
        user(r#","isMeta":true"#, r#""Caveat""#),
        user(r#","isCompactSummary":true"#, r#""This session is being continued""#),
        user("", r#"[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#),
        user("", r#""<local-command-stdout>x</local-command-stdout>""#),
        user("", r#""[Request interrupted by user]""#),
        command,
        user(r#","isSidechain":true"#, r#""for an agent""#),
        user("", r#""typed""#),
    ];
    check(&lines.join("\n"), "title=typed turns=6");
    check(&lines[..6].join("\n"), "title=/init all turns=4");
    check(&lines[..5].join("\n"), "turns=3");
}

#[test]
fn a_long_prompt_is_cut_to_a_title() {
    let folder = Folder::new();
    folder.write("s.jsonl", START.replace("retries", &"é".repeat(500)));
    assert!(listed(&folder)[0].contains(&format!(" title=Fix the {}… from=", "é".repeat(92))));
}

#[test]
fn folders_and_sessions_come_in_the_order_of_their_names_and_agents_are_none() {
    let folder = Folder::new();
    for name in
        ["b/2.jsonl", "b/1.jsonl", "a/3.jsonl", "0.jsonl", "a/agent-1.jsonl", "a/3/subagents/agent-2.jsonl", "a/x.json"]
    {
        folder.write(name, START);
    }
    folder.write("a/4.jsonl", START.replace("\"cwd\"", "\"isSidechain\":true,\"cwd\""));
    let paths: Vec<String> =
        listed(&folder).iter().map(|line| line.split(' ').nth(2).unwrap_or("").to_owned()).collect();
    assert_eq!(paths, ["DIR/0.jsonl", "DIR/a/3.jsonl", "DIR/b/1.jsonl", "DIR/b/2.jsonl"]);
}

#[test]
fn what_is_no_session_is_said() {
    let folder = Folder::new();
    folder.write("p/empty.jsonl", "");
    folder.write("p/other.jsonl", "{\"display\":\"hi\"}\n");
    folder.write("p/noise.jsonl", b"\xff\xfe\0\n");
    folder.write("p/large.jsonl", "{\"display\":\"hi\"}\n".repeat(20_000));
    folder.write("p/line.jsonl", "x".repeat(200_000));
    assert_eq!(
        listed(&folder),
        [
            "! unreadable-file DIR/p/empty.jsonl: is empty",
            "! unreadable-file DIR/p/large.jsonl: holds no record of Claude Code",
            "! unreadable-file DIR/p/line.jsonl: holds no record of Claude Code",
            "! unreadable-file DIR/p/noise.jsonl: holds no record of Claude Code",
            "! unreadable-file DIR/p/other.jsonl: holds no record of Claude Code",
        ]
    );
}

#[test]
fn a_root_that_is_not_there_holds_no_sessions() {
    assert_eq!(testing::sessions::<ClaudeCode>(&[Path::new("/nowhere/at/all")]), [] as [&str; 0]);
    let folder = Folder::new();
    let file = folder.write("file", "x");
    assert_eq!(testing::sessions::<ClaudeCode>(&[&file]), [] as [&str; 0]);
}

#[cfg(unix)]
#[test]
fn pipes_and_sockets_are_said_and_never_waited_for() {
    let folder = Folder::new();
    folder.write("p/s.jsonl", START);
    let at = |name: &str| folder.path().join(name);
    let listener = std::os::unix::net::UnixListener::bind(at("p/socket.jsonl")).expect("a socket");
    let made = std::process::Command::new("mkfifo").arg(at("p/pipe.jsonl")).status();
    assert!(made.is_ok_and(|status| status.success()));
    std::os::unix::fs::symlink(at("p/pipe.jsonl"), at("p/link.jsonl")).expect("a link");
    std::os::unix::fs::symlink(at("gone"), at("p/lost.jsonl")).expect("a link");
    let told = listed(&folder);
    assert_eq!(
        told[..3],
        [
            "! unreadable-file DIR/p/link.jsonl: is no regular file",
            "! unreadable-file DIR/p/lost.jsonl: No such file or directory (os error 2)",
            "! unreadable-file DIR/p/pipe.jsonl: is no regular file",
        ]
    );
    assert!(told[3].starts_with("s at DIR/p/s.jsonl") && told[4].contains("socket.jsonl: is no regular file"));
    drop(listener);
}

#[test]
fn damage_costs_what_it_hits() {
    check(
        &format!("\u{feff}{{broken\n{START}{END}\r\n\0\0\0\n{{\"type\":\"user\",\"mess"),
        "project=/srv/demo title=Fix the retries from=2026-05-04T08:00:00Z to=2026-05-04T09:00:00Z turns=2",
    );
}

//! Real sessions, where the folder that `TOOLPATH_SESSIONS` names has them.

use std::fs;
use std::path::Path;

use serde_json::Value;
use toolpath_tests::rules::assert_valid;
use toolpath_tests::{Scratch, message, sample_sessions, steps};

fn derive(scratch: &Scratch, file: &Path) -> toolpath_tests::Run {
    scratch.host([Path::new("--provider"), "claude".as_ref(), "--plugins".as_ref(), "plugins".as_ref(), file])
}

/// Ids of the assistant records that the harness wrote, read from the raw lines in another way than the plugin's.
fn harness_records(session: &str) -> Vec<String> {
    let placeholder = format!("<{}>", "synthetic");
    let is_harness = |record: &Value| {
        record["type"] == "assistant"
            && (record["message"]["model"] == placeholder.as_str() || record["isApiErrorMessage"] == true)
    };
    let records = session.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.filter(is_harness).filter_map(|record| Some(record["uuid"].as_str()?.to_owned())).collect()
}

#[test]
fn each_sample_session_becomes_a_valid_document_twice_the_same() {
    let scratch = Scratch::new();
    for file in sample_sessions("claude", "jsonl") {
        let run = derive(&scratch, &file);
        assert_valid(&run.document());
        assert_eq!(derive(&scratch, &file).stdout(), run.stdout(), "{}", file.display());
    }
}

#[test]
fn no_sample_session_credits_a_model_with_what_the_harness_wrote() {
    let scratch = Scratch::new();
    let mut notices = 0;
    let files = sample_sessions("claude", "jsonl");
    for file in &files {
        let document = derive(&scratch, file).document();
        let path = &document["paths"][0];
        let actors = path["meta"]["actors"].as_object().expect("actors");
        for (actor, entry) in actors {
            assert!(!actor.contains("synthetic"), "{}: {actor}", file.display());
            let model = entry["model"].as_str().unwrap_or_default();
            assert!(!model.starts_with('<'), "{}: {model}", file.display());
        }
        let session = String::from_utf8_lossy(&fs::read(file).expect("the session")).into_owned();
        let wanted = harness_records(&session);
        let found: Vec<String> = steps(&document)
            .iter()
            .filter(|step| step["step"]["actor"] == "tool:claude-code" && message(step)["role"] == "assistant")
            .map(|step| step["step"]["id"].as_str().expect("an id").split('#').next().expect("an id").to_owned())
            .collect();
        assert_eq!(found, wanted, "{}", file.display());
        notices += found.len();
    }
    assert!(files.is_empty() || notices >= 15, "{notices} notices in {} sessions", files.len());
}

/// The session's own file, and those of its sub-agents below the folder of its name.
fn files_of(session: &Path) -> Vec<std::path::PathBuf> {
    fn below(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                below(&path, files);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                files.push(path);
            }
        }
    }
    let mut files = vec![session.to_owned()];
    below(&session.with_extension(""), &mut files);
    files
}

/// The JSON values of a file, and how many pieces of it are none; a line may hold several values.
fn values(file: &Path) -> (Vec<Value>, u64) {
    let text = String::from_utf8_lossy(&fs::read(file).expect("the session")).into_owned();
    let (mut values, mut broken) = (Vec::new(), 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        for value in serde_json::Deserializer::from_str(line).into_iter::<Value>() {
            match value {
                Ok(value) => values.push(value),
                Err(_) => broken += 1,
            }
        }
    }
    (values, broken)
}

/// Tokens by another way than the plugin's and the host's: all usage by response, then the largest of each response.
fn tokens(files: &[std::path::PathBuf]) -> [u64; 4] {
    let mut responses: std::collections::BTreeMap<String, [u64; 4]> = std::collections::BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for (number, mut record) in files.iter().flat_map(|file| values(file).0).enumerate() {
        // What a sub-agent without a file of its own did is told by rows of its progress only.
        if record["type"] == "progress" && record["data"]["message"].is_object() && files.len() == 1 {
            record = record["data"]["message"].take();
        }
        let usage = &record["message"]["usage"];
        let uuid = record["uuid"].as_str().map_or(format!("line {number}"), str::to_owned);
        if record["type"] != "assistant" || !usage.is_object() || !seen.insert(uuid.clone()) {
            continue;
        }
        let count = |key: &str| usage[key].as_u64().unwrap_or(0);
        let counts = [
            count("input_tokens"),
            count("output_tokens"),
            count("cache_read_input_tokens"),
            count("cache_creation_input_tokens"),
        ];
        let id = record["message"]["id"].as_str().filter(|id| !id.is_empty());
        let response = responses.entry(id.map_or(uuid, str::to_owned)).or_default();
        if counts[1] >= response[1] {
            *response = counts;
        }
    }
    responses.values().fold([0; 4], |sum, counts| std::array::from_fn(|part| sum[part] + counts[part]))
}

fn audit(scratch: &Scratch, file: &Path) -> Value {
    let run = scratch.host(
        ["audit", "--json", "--provider", "claude", "--plugins", "plugins"]
            .iter()
            .map(AsRef::as_ref)
            .chain([file.as_os_str()]),
    );
    serde_json::from_str(&run.succeeds()).unwrap_or_else(|err| panic!("no JSON ({err}): {run}"))
}

#[test]
fn the_balance_of_each_sample_session_closes_and_its_tokens_are_those_of_another_count() {
    let scratch = Scratch::new();
    for file in sample_sessions("claude", "jsonl") {
        let audit = audit(&scratch, &file);
        let files = files_of(&file);
        let records = &audit["records"];
        let count = |key: &str| records[key].as_u64().expect("a count");
        let sum: u64 = ["turns", "folded", "events", "duplicates", "unreadable"].iter().map(|key| count(key)).sum();
        assert_eq!(count("read"), sum, "{}", file.display());
        let there: u64 =
            files.iter().map(|file| values(file)).map(|(values, broken)| values.len() as u64 + broken).sum();
        assert_eq!(count("read"), there, "{}", file.display());
        let counted = ["input", "output", "cache_read", "cache_write"].map(|key| audit["tokens"][key].as_u64());
        assert_eq!(counted, tokens(&files).map(Some), "{}", file.display());
    }
}

#[test]
fn harness_turns_of_sample_sessions_are_where_the_index_says() {
    let scratch = Scratch::new();
    let files = sample_sessions("claude", "jsonl");
    let Some(folder) = std::env::var_os("TOOLPATH_SESSIONS").filter(|_| !files.is_empty()) else { return };
    let index = fs::read_to_string(Path::new(&folder).join("INDEX.md")).expect("the sample sessions have an index");
    let mut checked = 0;
    for file in &files {
        let name = file.strip_prefix(Path::new(&folder).join("claude")).expect("a sample").display().to_string();
        let Some(facts) = index.lines().find(|line| line.starts_with(&format!("| {name} |"))) else { continue };
        let Some((_, facts)) = facts.split_once("harness-generated ") else { continue };
        let listed = facts.split(';').map(|fact| fact.split("line ").nth(1)?.split(' ').next()?.parse().ok());
        let number: usize = facts.split([':', ';']).next().and_then(|n| n.trim().parse().ok()).expect("a number");
        // The index lists them in order behind their number.
        let lines: Vec<u64> = listed.take(number).map_while(|line| line).collect();
        let audit = audit(&scratch, file);
        let found: Vec<u64> = audit["harness_turns"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|turn| turn["role"] == "assistant")
            .map(|turn| turn["line"].as_u64().expect("a line"))
            .collect();
        assert_eq!(found.len(), number, "{name}");
        assert_eq!(found[..lines.len()], lines, "{name}");
        checked += 1;
    }
    assert!(checked > 20, "{checked} sessions were checked");
}

#[test]
fn every_sample_session_of_every_provider_is_valid_closes_its_balance_and_is_recognised() {
    let kinds = [
        ("claude", "jsonl"),
        ("codex", "jsonl"),
        ("copilot", "jsonl"),
        ("cursor", "jsonl"),
        ("cursor", "db"),
        ("gemini", "json"),
        ("gemini", "jsonl"),
        ("pi", "jsonl"),
    ];
    let scratch = Scratch::new();
    let run = |words: &[&str], file: &Path| {
        let words = words.iter().copied().chain(["--plugins", "plugins"]).map(AsRef::as_ref);
        scratch.host(words.chain([file.as_os_str()]))
    };
    let mut unknown = 0;
    for (provider, ending) in kinds {
        for file in sample_sessions(provider, ending) {
            let derived = run(&["derive", "--provider", provider], &file);
            assert_valid(&derived.document());
            let recognised = run(&["derive", "--provider", "auto"], &file);
            if recognised.code() == Some(0) {
                assert_eq!(recognised.stdout(), derived.stdout(), "{}", file.display());
            } else {
                // Better no answer than a wrong one: two sessions have nothing in them that is their harness's own.
                assert!(recognised.stderr().contains("no plugin knows it ("), "{recognised}");
                unknown += 1;
            }
            let audit: Value =
                serde_json::from_str(&run(&["audit", "--json", "--provider", provider], &file).succeeds())
                    .unwrap_or_else(|err| panic!("no JSON ({err}): {}", file.display()));
            let count = |key: &str| audit["records"][key].as_u64().expect("a count");
            let sum: u64 = ["turns", "folded", "events", "duplicates", "unreadable"].iter().map(|key| count(key)).sum();
            assert_eq!(count("read"), sum, "{}", file.display());
        }
    }
    assert!(unknown <= 2, "{unknown} sessions were not recognised");
}

/// Tokens of a rollout, counted in another way than the plugin's: the last usage, wherever the running total is a new one.
fn tokens_of_rollout(session: &str) -> [u64; 3] {
    let counts =
        |usage: &Value| ["input_tokens", "cached_input_tokens", "output_tokens"].map(|key| usage[key].as_u64());
    let mut sum = [0; 3];
    let mut total = Value::Null;
    for record in session.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let info = &record["payload"]["info"];
        if record["payload"]["type"] != "token_count" || info["total_token_usage"] == total {
            continue;
        }
        total = info["total_token_usage"].clone();
        for (sum, count) in sum.iter_mut().zip(counts(&info["last_token_usage"])) {
            *sum += count.unwrap_or(0);
        }
    }
    let [input, cached, output] = sum;
    [input - cached, cached, output]
}

#[test]
fn the_tokens_of_each_real_rollout_are_those_of_another_count() {
    let scratch = Scratch::new();
    let rollouts = sample_sessions("codex", "jsonl");
    // The others are cut down to a record of each kind, and no record belongs to the next.
    let is_real = |file: &&std::path::PathBuf| {
        file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("rollout-"))
    };
    for file in rollouts.iter().filter(is_real) {
        let reading = ["audit", "--json", "--provider", "codex", "--plugins", "plugins"].map(Path::new);
        let audit: Value =
            serde_json::from_str(&scratch.host(reading.into_iter().chain([&**file])).succeeds()).expect("JSON");
        let told = ["input", "cache_read", "output"].map(|class| audit["tokens"][class].as_u64().expect("a count"));
        let session = fs::read_to_string(file).expect("the session");
        assert_eq!(told, tokens_of_rollout(&session), "{}", file.display());
    }
}

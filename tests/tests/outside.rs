//! Plugins that are built outside the workspace: they load, also from an older or a newer contract, and what is broken in how
//! they were built is told in one sentence.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use toolpath_tests::outside::{Outside, copy_of_the_contract};
use toolpath_tests::{Run, Scratch, message, steps};

/// A plugin named NAME that runs STATEMENTS with the `sink`, after it told the session.
fn plugin(name: &str, statements: &str) -> String {
    format!(
        r#"
use toolpath_plugin_api::*;
#[derive(Default)]
struct Outside;
impl Provider for Outside {{
    fn read(&self, _: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {{
        sink.session(&SessionRecord::new("s"))?;
        {statements}
        Ok(Summary {{ records: 1 }})
    }}
}}
declare_provider! {{
    provider: Outside,
    name: "{name}",
    provider_id: "{name}",
    display_name: "Outside",
    harness: "Outside", versions: ["1"],
    env: [],
    roots: [],
    companions: [],
}}
"#
    )
}

/// Statements that tell one turn by the harness with a write, of which `$EXTRA` changes the turn.
const TELL: &str = r#"
        let mut turn = TurnRecord::new(Role::Assistant, "t", "2026-01-01T00:00:00Z", Origin::default());
        turn.text("overloaded").harness_generated("\"outside\"");
        turn.mutation(MutationRecord::new("a.txt").operation("add").diff("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n"));
        $EXTRA
        sink.turn(&turn)?;
"#;

fn tell(extra: &str) -> String {
    TELL.replace("$EXTRA", extra)
}

fn scratch(library: &Path) -> Scratch {
    let scratch = Scratch::without_plugins();
    scratch.add_plugin(library);
    scratch.write("s.txt", "anything");
    scratch
}

fn run(library: &Path, name: &str, flags: &[&str]) -> Run {
    let scratch = scratch(library);
    let args = ["--provider", name, "--plugins", "plugins", "s.txt"].into_iter().chain(flags.iter().copied());
    let run = scratch.host(args);
    if run.code() != Some(0) {
        assert_eq!(run.files(), ["plugins", "s.txt"], "{run}");
        assert_eq!(run.stdout(), "", "{run}");
    }
    run
}

#[track_caller]
fn assert_works(library: &Path, name: &str, text: &str) {
    for level in ["none", "process"] {
        assert_tells(&run(library, name, &["--isolation", level]), name, text);
    }
    // The strongest that this system has.
    assert_tells(&run(library, name, &[]), name, text);
}

#[track_caller]
fn assert_tells(run: &Run, name: &str, text: &str) {
    let document = run.document();
    let step = &steps(&document)[0];
    assert_eq!(step["step"]["actor"], format!("tool:{name}"), "{run}");
    assert_eq!(message(step)["text"], text, "{run}");
    assert!(step["change"]["a.txt"]["raw"].is_string(), "{run}");
}

#[test]
fn a_plugin_built_outside_the_workspace_works() {
    let library = Outside::new("outsider", &plugin("outsider", &tell(""))).build();
    assert_works(&library, "outsider", "overloaded");
}

#[test]
fn a_plugin_of_a_contract_without_a_flag_and_an_ext_key_works() {
    let api = copy_of_the_contract(
        "before",
        &[
            ("src/kit.rs", "pub mod testing;\n", ""),
            ("src/view.rs", "    pub const PARTIAL_DIFF: u64 = 1 << 6;", "    pub const ABSENT: u64 = 0;"),
            ("src/view.rs", "    pub const BRANCH: &str = \"branch\";", "    pub const ABSENT: &str = \"\";"),
            ("src/record.rs", "flags_known: flag::PARTIAL_DIFF", "flags_known: 0"),
            ("src/record.rs", "set(&mut self.view.flags, flag::PARTIAL_DIFF, true);", ""),
        ],
    );
    let source = plugin("before", &tell("let _ = (view::flag::ABSENT, view::ext::ABSENT);"));
    let library = Outside { api, ..Outside::new("before", &source) }.build();
    assert_works(&library, "before", "overloaded");
}

#[test]
fn a_plugin_that_uses_a_flag_and_an_ext_key_that_this_host_does_not_know_works() {
    let api = copy_of_the_contract(
        "after",
        &[
            ("Cargo.toml", "version = \"1.0.0\"", "version = \"1.7.0\""),
            ("src/version.rs", "[u16; 3] = [1, 0, 0]", "[u16; 3] = [1, 7, 0]"),
            (
                "src/view.rs",
                "    pub const PARTIAL_DIFF: u64 = 1 << 6;",
                "    pub const PARTIAL_DIFF: u64 = 1 << 6;\n    /// Later.\n    pub const LATER: u64 = 1 << 40;",
            ),
            (
                "src/record.rs",
                "    /// This turn is part of a record that another call accounts for.\n    pub fn part_of_record(&mut self) -> &mut Self {\n        set(&mut self.view.flags, flag::PART_OF_RECORD, true);",
                "    /// Later.\n    pub fn later(&mut self) -> &mut Self {\n        self.view.flags |= flag::LATER;\n        self.view.flags_known |= flag::LATER;\n        self.ext(\"later\", \"{}\")\n    }\n    /// This turn is part of a record that another call accounts for.\n    pub fn part_of_record(&mut self) -> &mut Self {\n        set(&mut self.view.flags, flag::PART_OF_RECORD, true);",
            ),
        ],
    );
    let library = Outside { api, ..Outside::new("after", &plugin("after", &tell("turn.later();"))) }.build();
    assert_works(&library, "after", "overloaded");
    let scratch = scratch(&library);
    let list = scratch.host(["plugins", "--plugins", "plugins"]).succeeds();
    assert!(list.contains(" 1.7.0 "), "{list}");
}

#[test]
fn a_plugin_of_another_major_version_is_refused() {
    let api = copy_of_the_contract(
        "major",
        &[
            ("Cargo.toml", "version = \"1.0.0\"", "version = \"2.0.0\""),
            ("src/version.rs", "[u16; 3] = [1, 0, 0]", "[u16; 3] = [2, 0, 0]"),
        ],
    );
    let library = Outside { api, ..Outside::new("major", &plugin("major", &tell(""))) }.build();
    let file = format!("plugins/{}", library.file_name().expect("a file").display());
    let reason = "was built for plugin-api 2.0.0, this host needs 1.x; rebuild it against that";
    run(&library, "major", &[]).fails(3, &format!("plugin `{file}`: {reason}"));
}

#[test]
fn a_plugin_whose_types_are_laid_out_otherwise_is_refused_in_one_line() {
    let api = copy_of_the_contract(
        "layout",
        &[
            (
                "src/view.rs",
                "    /// Tokens.\n    pub tokens: u64,\n",
                "    /// Tokens.\n    pub tokens: u64,\n    /// More.\n    pub more: u64,\n",
            ),
            ("src/record.rs", "part: part.into(), tokens }", "part: part.into(), tokens, more: 0 }"),
        ],
    );
    let library = Outside { api, ..Outside::new("layout", &plugin("layout", &tell(""))) }.build();
    let file = format!("plugins/{}", library.file_name().expect("a file").display());
    let message = format!(
        "plugin `{file}`: has types that are laid out unlike this host's; rebuild it against this host's plugin-api"
    );
    for level in ["none", "process"] {
        run(&library, "layout", &["--isolation", level]).fails(3, &message);
        let whole = run(&library, "layout", &["--isolation", level, "--verbose"]);
        whole.exits(3);
        assert!(whole.stderr().contains("BreakdownView"), "{whole}");
        assert!(whole.stderr().lines().count() > 20, "{whole}");
    }
    run(&library, "layout", &[]).fails(3, &message);
}

/// Expects that the plugin ends its process with this offence, at each level that gives it one.
#[track_caller]
fn crashes(library: &Path, name: &str, offence: &str) {
    let file = format!("plugins/{}", library.file_name().expect("a file").display());
    let message = format!(
        "s.txt: the plugin `{name}` {offence}; it is in quarantine now; report it to the plugin's author, \
         or run `toolpath-host plugins allow {file}`"
    );
    run(library, name, &["--isolation", "process"]).fails(3, &message);
    run(library, name, &[]).fails(3, &message);
}

#[test]
fn a_plugin_built_to_abort_at_a_panic_ends_its_own_process_only() {
    let source = plugin("aborting", "if true { panic!(\"on request\"); }");
    let manifest = "\n[profile.dev]\npanic = \"abort\"\n";
    let outside = Outside { manifest, ..Outside::new("aborting", &source) };
    crashes(&outside.build(), "aborting", "aborted, or asked for more than 2048 MiB of memory");
}

#[test]
fn a_plugin_that_crashes_as_it_is_opened_is_named() {
    let source = plugin("early", &tell(""))
        + r#"
#[used]
#[unsafe(link_section = ".init_array")]
static CRASH: extern "C" fn() = crash;
extern "C" fn crash() {
    unsafe { std::hint::black_box(std::ptr::null_mut::<u8>()).write_volatile(1) }
}
"#;
    let library = Outside::new("early", &source).build();
    crashes(&library, "early", "crashed by touching memory that is not its own");
    // Who only looks at it does not open it.
    let scratch = scratch(&library);
    for words in [&["list"][..], &["info", "early"], &["path"]] {
        let shown = scratch.host(["plugins", "--plugins", "plugins"].iter().chain(words)).succeeds();
        assert!(shown.contains("usable"), "{shown}");
    }
    assert!(!scratch.config("plugins.quarantine").exists());
}

#[test]
fn a_plugin_that_needs_another_library_of_the_system_works() {
    let number = "let x = std::hint::black_box(0.5f64).sin().to_string(); turn.text(&x);";
    let library = Outside::new("trig", &plugin("trig", &tell(number))).build();
    let bytes = std::fs::read(&library).expect("the library");
    assert!(bytes.windows(9).any(|name| name == b"libm.so.6"), "the plugin needs libm");
    assert_works(&library, "trig", &0.5f64.sin().to_string());
}

#[test]
fn a_plugin_that_lacks_a_library_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("nosuch.rs");
    std::fs::write(&source, "#[unsafe(no_mangle)] pub extern \"C\" fn nosuch() {}").expect("a file");
    let built = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition", "2024", "--crate-type", "cdylib", "-o"])
        .args([&folder.path().join("libnosuch.so"), &source])
        .status();
    assert!(built.expect("rustc runs").success());
    let source =
        plugin("lacking", &format!("unsafe {{ nosuch() }} {}", tell(""))) + "unsafe extern \"C\" { fn nosuch(); }";
    let build = format!(
        "fn main() {{ println!(\"cargo:rustc-link-search=native={}\"); println!(\"cargo:rustc-link-lib=dylib=nosuch\"); }}",
        folder.path().display()
    );
    let library = Outside { build: Some(&build), ..Outside::new("lacking", &source) }.build();
    drop(folder);
    let file = library.file_name().expect("a file").display();
    for flags in [&["--isolation", "none"][..], &[]] {
        run(&library, "lacking", flags).fails(
            3,
            &format!(
                "plugin `plugins/{file}`: cannot be opened: libnosuch.so: cannot open shared object file: No such file or \
                 directory; build it for this system"
            ),
        );
    }
}

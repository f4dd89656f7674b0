//! A whole plugin, for a made-up harness whose logs hold one message a line: `who<TAB>text`.
//!
//! `who` is `me`, `bot MODEL`, `bot` (a model whose name nobody recorded) or `app`: the harness's own notices,
//! which it shows where the bot speaks.

use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::kit::lines::Lines;
use toolpath_plugin_api::{
    EventRecord, Origin, PluginError, Provider, ReadRequest, Role, SessionRecord, Severity, Sink, Summary, TurnRecord,
    declare_provider,
};

#[derive(Default)]
struct Minimal;

impl Provider for Minimal {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let id = request.file_stem().unwrap_or_else(|| "stdin".to_owned());
        sink.session(&SessionRecord::new(&id))?;

        let mut lines = Lines::new(request.open_file()?);
        let mut records = 0;
        while let Some(line) = lines.next()? {
            if line.is_blank() {
                continue;
            }
            records += 1;
            let origin = Origin { file: 0, line: line.number, offset: line.offset, length: line.length };
            let (text, _) = line.text();
            let Some((who, said)) = text.split_once('\t') else {
                let raw = format!("{{\"raw\":{}}}", quoted(&text));
                sink.event(EventRecord::new("unreadable", "", "", origin).data(&raw).unreadable())?;
                sink.diagnostic(Severity::Error, "unreadable-record", "expected `who<TAB>text`", origin)?;
                continue;
            };
            let role = if who == "me" { Role::User } else { Role::Assistant };
            let mut turn = TurnRecord::new(role, "", "", origin);
            turn.parent_or_previous().text(said).model(who.strip_prefix("bot "));
            if who == "app" {
                turn.harness_generated("\"app-notice\"");
            }
            sink.turn(&turn)?;
        }
        Ok(Summary { records })
    }
}

declare_provider! {
    provider: Minimal,
    name: "minimal",
    provider_id: "minimal",
    display_name: "Minimal",
    harness: "Minimal", versions: ["1"],
    env: [],
    roots: ["~/.minimal"],
    companions: [],
}

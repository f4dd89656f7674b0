//! The command line's store: one database a chat, its messages in blobs that a root lists.
//!
//! What the root does not reach was left behind. A message's blob is JSON, or a protocol buffer with JSON in it. The
//! record of the chat holds the key of its encryption, which is not told.

use std::fs;
use std::path::Path;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::kit::sqlite::Database;
use toolpath_plugin_api::{Origin, PluginError, Role, Sink, Summary, ToolResultRecord};

use crate::composer::read::tool_use;
use crate::edits;
use crate::facts::{Facts, moment_of};
use crate::row::{Line, Row};
use crate::shape::{self, Chat, Piece};
use crate::signal::Signal;
use crate::words::Prompt;

/// One chat.
pub(crate) struct Chats {
    database: Database,
    /// The chat's own record, as JSON.
    meta: String,
    /// What stands beside the database, as JSON.
    beside: String,
}

impl Chats {
    /// The chat in `database`, which lies at `path`; the database again when it holds none.
    pub(crate) fn new(database: Database, path: &Path) -> Result<Result<Self, Database>, PluginError> {
        let is_chat = |columns: Vec<String>, name: &str| columns.iter().any(|column| column == name);
        if !is_chat(database.columns("blobs")?, "data") || !is_chat(database.columns("meta")?, "value") {
            return Ok(Err(database));
        }
        let sql = "SELECT value FROM meta WHERE key = '0'";
        let value = database.row(sql, [], |cells| cells.cell(0).bytes().map(<[u8]>::to_vec))?.flatten();
        let meta = value.map(|value| String::from_utf8_lossy(&from_hex(&value).unwrap_or(value)).into_owned());
        let beside = path.parent().map(|folder| folder.join("meta.json")).filter(|file| file.is_file());
        let beside = beside.and_then(|file| fs::read(file).ok()).unwrap_or_default();
        let beside = String::from_utf8_lossy(&beside).into_owned();
        Ok(Ok(Self { database, meta: meta.unwrap_or_default(), beside }))
    }

    /// The chat's id.
    pub(crate) fn id(&self) -> Option<String> {
        self.facts().id.filled().map(Into::into)
    }

    /// What the chat's record says.
    pub(crate) fn facts(&self) -> Chat<'_> {
        serde_json::from_str(&self.meta).unwrap_or_default()
    }

    /// What the file beside it says.
    pub(crate) fn beside(&self) -> Chat<'_> {
        serde_json::from_str(&self.beside).unwrap_or_default()
    }

    /// Tells the chat, and how many records there were.
    pub(crate) fn read(&self, id: &str, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let (own, beside) = (self.facts(), self.beside());
        let mut facts = Facts::new(id);
        facts.title = own.name.filled().or_else(|| beside.name.filled()).map(Into::into);
        facts.directory = beside.cwd.filled().map(Into::into);
        let times = [own.created, beside.created, beside.updated].into_iter().filter_map(moment_of);
        let times: Vec<String> = times.collect();
        for time in &times {
            facts.see(time);
        }
        facts.tell(|session| sink.session(session))?;
        let row = Row::new(id.to_owned(), &self.meta, true, Origin::default());
        let mut line = Line::default();
        if row.data.is_ok() {
            let told = Told { name: own.name, created: own.created, model: own.model, root: own.root };
            let data = format!(r#"{{"chat":{}}}"#, told.json());
            let time = times.first().map(String::as_str).unwrap_or_default();
            let mut event = line.event("chat", id, time, None, row.origin);
            sink.event(event.data(&data))?;
        } else {
            // Its text may hold the key all the same.
            Row::without(id.to_owned(), "the chat's own record is no JSON".to_owned(), row.origin)
                .unreadable(&line, sink)?;
        }
        line.previous = Some(id.to_owned());
        let mut records = 1;
        let model = own.model.filled().filter(|model| model != "default");
        let root = own.root.filled().unwrap_or_default();
        let listed = self.blob(&root)?.map(|(_, bytes)| links(&bytes)).unwrap_or_default();
        for blob in listed {
            records += 1;
            let row = match self.blob(&blob) {
                Ok(Some((origin, bytes))) => match embedded(&bytes, 0) {
                    Some(json) => {
                        Row::new(blob, &String::from_utf8_lossy(json), std::str::from_utf8(json).is_ok(), origin)
                    }
                    None => Row::without(
                        blob,
                        "the blob holds no message that can be read; it may be encrypted".to_owned(),
                        origin,
                    ),
                },
                Ok(None) => Row::without(blob, "the blob is not there".to_owned(), Origin::default()),
                Err(err) => Row::without(blob, err.to_string(), Origin::default()),
            };
            row.note(sink)?;
            message(&row, model.as_deref(), facts.directory.as_deref(), &line, sink)?;
            line.previous = Some(row.id);
        }
        facts.tell(|session| sink.session(session))?;
        Ok(Summary { records })
    }

    fn blob(&self, id: &str) -> Result<Option<(Origin, Vec<u8>)>, PluginError> {
        let sql = "SELECT rowid, data FROM blobs WHERE id = ?1";
        let read = self.database.row(sql, [id], |cells| {
            let line = cells.cell(0).integer().and_then(|line| line.try_into().ok()).unwrap_or(0);
            let origin = Origin { line, ..Origin::default() };
            cells.cell(1).bytes().map(|bytes| (origin, bytes.to_vec()))
        });
        match read {
            Err(fault) if fault.is_local() => Err(PluginError::new(fault.to_string())),
            other => Ok(other?.flatten()),
        }
    }

    /// Says at the end whether what was read can be believed.
    pub(crate) fn finish(self) -> Result<(), PluginError> {
        self.database.finish()
    }
}

/// What is told of the chat's own record.
struct Told<'a> {
    name: Field<'a>,
    created: Field<'a>,
    model: Field<'a>,
    root: Field<'a>,
}

impl Told<'_> {
    fn json(&self) -> String {
        let fields = [
            ("createdAt", self.created),
            ("lastUsedModel", self.model),
            ("latestRootBlobId", self.root),
            ("name", self.name),
        ];
        let fields = fields.iter().filter_map(|(name, field)| Some(format!(r#""{name}":{}"#, field.json()?)));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    }
}

fn message(
    row: &Row,
    model: Option<&str>,
    cwd: Option<&str>,
    line: &Line,
    sink: &mut Sink<'_>,
) -> Result<(), PluginError> {
    let Ok(json) = &row.data else { return row.unreadable(line, sink) };
    let shape: shape::Line<'_> = row.shape();
    let pieces = shape.content.list().unwrap_or_default();
    let read: Vec<Piece<'_>> = pieces.iter().map(|raw| raw.object_or_default()).collect();
    let of = |kind: &str| read.iter().filter(|piece| piece.kind.is(kind)).collect::<Vec<_>>();
    let mut texts: Vec<String> = shape.content.text().map(|text| text.into_owned()).into_iter().collect();
    texts.extend(of("text").iter().filter_map(|piece| piece.text.filled()).map(|text| text.into_owned()));
    let text = texts.join("\n");
    let thoughts: Vec<String> =
        of("reasoning").iter().filter_map(|piece| piece.text.filled()).map(Into::into).collect();
    let thinking = thoughts.join("\n");
    let results = of("tool-result");
    let calls: Vec<(String, String, &str)> = of("tool-call")
        .iter()
        .enumerate()
        .map(|(nth, piece)| {
            let id = piece.call.filled().map_or_else(|| format!("{}/{}", row.id, nth + 1), Into::into);
            (id, piece.name.text().unwrap_or_default().into_owned(), piece.input.json().unwrap_or("null"))
        })
        .collect();
    match &*shape.role.text().unwrap_or_default() {
        "user" => {
            let prompt = Prompt::of(&text);
            let mut turn = line.turn(Role::User, &row.id, "", row.origin);
            turn.text(&prompt.text);
            if prompt.is_context {
                turn.harness_generated(Signal::ContextOnly.json());
            }
            sink.turn(&turn)?;
            for context in prompt.context {
                beside("context", &quoted(context), row, line, sink)?;
            }
        }
        "assistant" => {
            let mut turn = line.turn(Role::Assistant, &row.id, "", row.origin);
            turn.text(&text).model(model).thinking(Some(&*thinking).filter(|thinking| !thinking.is_empty()));
            let mut edits = Vec::new();
            for (id, name, input) in &calls {
                // The result of an edit tells nothing of the file, so the write stands with its call.
                edits.extend(
                    edits::of(name, &[Field::parse(input)], Field::default(), &|_| None, cwd)
                        .into_iter()
                        .map(|edit| (id, edit)),
                );
                turn.tool_use(tool_use(id, name, input, row.origin));
            }
            for (id, edit) in &edits {
                turn.mutation(edit.record(id));
            }
            sink.turn(&turn)?;
        }
        "system" => {
            let mut turn = line.turn(Role::System, &row.id, "", row.origin);
            sink.turn(turn.text(&text))?;
        }
        "tool" if !results.is_empty() => {
            for (nth, piece) in results.iter().enumerate() {
                let id = piece.call.filled().map_or_else(|| format!("{}/result-{}", row.id, nth + 1), Into::into);
                let content = piece.result.text().or_else(|| piece.result.json().map(Into::into)).unwrap_or_default();
                let mut result = ToolResultRecord::new(&id, &content, false, row.origin);
                // The first result accounts for the record.
                sink.tool_result(result.part_of_record(nth > 0))?;
            }
        }
        role => {
            let kind = if role.is_empty() { "message" } else { role };
            let data = format!(r#"{{{}:{json}}}"#, quoted(kind));
            let mut event = line.event(kind, &row.id, "", line.previous.as_deref(), row.origin);
            return Ok(sink.event(event.data(&data))?);
        }
    }
    let told = ["text", "reasoning", "tool-call", "tool-result"];
    for (raw, piece) in pieces.iter().zip(&read).filter(|(_, piece)| !told.iter().any(|kind| piece.kind.is(kind))) {
        let _ = piece;
        beside("content-block", raw.json().unwrap_or("null"), row, line, sink)?;
    }
    Ok(())
}

fn beside(name: &str, json: &str, row: &Row, line: &Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
    let data = format!(r#"{{{}:{json}}}"#, quoted(name));
    let mut event = line.event(name, "", "", Some(&row.id), row.origin);
    Ok(sink.event(event.data(&data).part_of_record())?)
}

fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// The ids in field 1 of a root: 32 bytes each, which name blobs in hexadecimal digits.
fn links(root: &[u8]) -> Vec<String> {
    let fields = Fields { rest: root };
    let ids = fields.filter(|(number, bytes)| *number == 1 && bytes.len() == 32);
    ids.map(|(_, bytes)| bytes.iter().map(|byte| format!("{byte:02x}")).collect()).collect()
}

/// The JSON of a message: all of the bytes, or a field of the protocol buffer that they are.
fn embedded(bytes: &[u8], depth: u8) -> Option<&[u8]> {
    const DEEPEST: u8 = 4;
    let trimmed = bytes.trim_ascii();
    if trimmed.starts_with(b"{") && trimmed.ends_with(b"}") {
        return Some(trimmed);
    }
    if depth >= DEEPEST {
        return None;
    }
    Fields { rest: bytes }.find_map(|(_, bytes)| embedded(bytes, depth + 1))
}

/// The fields of a protocol buffer that have a length, by number; ends at what is none.
struct Fields<'b> {
    rest: &'b [u8],
}

impl<'b> Iterator for Fields<'b> {
    type Item = (u64, &'b [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let key = self.number()?;
            match key & 7 {
                0 => {
                    self.number()?;
                }
                1 => self.rest = self.rest.get(8..)?,
                2 => {
                    let length = usize::try_from(self.number()?).ok()?;
                    let bytes = self.rest.get(..length)?;
                    self.rest = &self.rest[length..];
                    return Some((key >> 3, bytes));
                }
                5 => self.rest = self.rest.get(4..)?,
                _ => return None,
            }
        }
    }
}

impl Fields<'_> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_lists_blobs_and_everything_else_is_passed_over() {
        let mut root = vec![0x08, 0x96, 0x01, 0x0a, 32];
        root.extend([0xab; 32]);
        root.extend([0x12, 2, 1, 2, 0x0d, 1, 2, 3, 4, 0x0a, 32]);
        root.extend([0x01; 32]);
        assert_eq!(links(&root), ["ab".repeat(32), "01".repeat(32)]);
        for end in 0..root.len() {
            links(&root[..end]);
        }
        assert_eq!(links(&[0xff; 40]), [""; 0]);
    }

    #[test]
    fn a_message_is_json_or_json_in_a_field() {
        assert_eq!(embedded(b"{\"a\":1}\n", 0), Some(&b"{\"a\":1}"[..]));
        assert_eq!(embedded(b"\x08\x01\x12\x09\x0a\x07{\"a\":1}", 0), Some(&b"{\"a\":1}"[..]));
        assert_eq!(embedded(b"\x99\x98secret", 0), None);
        assert_eq!(embedded(b"", 0), None);
    }

    #[test]
    fn hexadecimal_digits_are_read_whole_or_not_at_all() {
        assert_eq!(from_hex(b"7b7D").as_deref(), Some(&b"{}"[..]));
        assert_eq!(from_hex(b"7b7"), None);
        assert_eq!(from_hex(b"{}"), None);
    }
}

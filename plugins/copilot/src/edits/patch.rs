//! The patch that `apply_patch` takes: files with chunks of lines, without numbers.

/// What a patch does to one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FilePatch<'a> {
    pub(super) kind: Kind,
    pub(super) path: &'a str,
    /// Its new path, when it moves.
    pub(super) to: Option<&'a str>,
    lines: Vec<&'a str>,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is made.
    Add,
    /// It is changed.
    Update,
    /// It is removed.
    Delete,
}

/// The files of `patch`, in order; lines that belong to none are passed over.
pub(super) fn files(patch: &str) -> Vec<FilePatch<'_>> {
    let mut files: Vec<FilePatch<'_>> = Vec::new();
    for line in patch.lines() {
        let begins =
            [("*** Add File: ", Kind::Add), ("*** Update File: ", Kind::Update), ("*** Delete File: ", Kind::Delete)];
        let begun = begins.iter().find_map(|(word, kind)| Some((*kind, line.strip_prefix(word)?.trim())));
        if let Some((kind, path)) = begun {
            files.push(FilePatch { kind, path, to: None, lines: Vec::new() });
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        if let Some(to) = line.strip_prefix("*** Move to: ") {
            file.to = Some(to.trim());
        } else if !line.starts_with("***") && !line.starts_with("@@") {
            file.lines.push(line);
        }
    }
    files.retain(|file| !file.path.is_empty());
    files
}

impl FilePatch<'_> {
    /// The lines of the side that does not have lines with the sign `other`.
    pub(super) fn side(&self, other: char) -> String {
        let mut text = String::new();
        for line in self.lines.iter().filter(|line| !line.starts_with(other)) {
            // An empty line of context may have lost its space.
            text.push_str(line.get(1..).unwrap_or_default());
            text.push('\n');
        }
        text
    }

    /// Its lines that go and come, in order.
    pub(super) fn changes(&self) -> Vec<&str> {
        self.lines.iter().copied().filter(|line| line.starts_with(['-', '+'])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ fn x\n p\n-old\n+new\n\n@@\n-gone\n*** End of File\n*** Add File: /w/c\n+one\n+two\n*** Delete File: d\n*** End Patch\n";

    #[test]
    fn each_file_has_its_lines() {
        let files = files(PATCH);
        let told: Vec<_> = files.iter().map(|file| (file.kind, file.path, file.to)).collect();
        assert_eq!(told, [(Kind::Update, "a", Some("b")), (Kind::Add, "/w/c", None), (Kind::Delete, "d", None)]);
        assert_eq!((files[0].side('+'), files[0].side('-')), ("p\nold\n\ngone\n".to_owned(), "p\nnew\n\n".to_owned()));
        assert_eq!(files[0].changes(), ["-old", "+new", "-gone"]);
        assert_eq!(files[1].side('-'), "one\ntwo\n");
    }

    #[test]
    fn what_is_no_patch_has_no_files() {
        for text in ["", "x", "*** Begin Patch\n+x\n*** End Patch", "*** Update File: \n+x"] {
            assert_eq!(files(text), [], "{text}");
        }
        assert_eq!(files("*** Add File: é\né").first().map(|file| file.side('-')).as_deref(), Some("\n"));
    }
}

//! Paths as logs have them: of either kind of system, whichever this one is.

/// `path` from the root on, when it is relative to the directory `cwd` and that is not relative itself; else as it is.
pub fn absolute(path: &str, cwd: Option<&str>) -> String {
    match cwd {
        Some(cwd) if !is_absolute(path) && is_absolute(cwd) => {
            format!("{}/{}", cwd.trim_end_matches('/'), path.strip_prefix("./").unwrap_or(path))
        }
        _ => path.to_owned(),
    }
}

/// Whether a path begins at a root, a drive or a share.
pub fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive =
        bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/');
    path.starts_with('/') || path.starts_with("\\\\") || drive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_lies_in_a_directory_that_is_known() {
        let cases = [
            ("a.txt", Some("/srv/larder/"), "/srv/larder/a.txt"),
            ("./a.txt", Some("C:\\x"), "C:\\x/a.txt"),
            ("/a.txt", Some("/srv"), "/a.txt"),
            (r"C:\a.txt", Some("/srv"), r"C:\a.txt"),
            (r"\\share\a.txt", Some("/srv"), r"\\share\a.txt"),
            ("a.txt", Some("srv"), "a.txt"),
            ("a.txt", None, "a.txt"),
        ];
        for (path, cwd, expected) in cases {
            assert_eq!(absolute(path, cwd), expected);
        }
    }
}

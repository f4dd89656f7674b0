//! Where a harness keeps its sessions: the manifest's templates, expanded.
//!
//! `~` at the start is the user's home, `${NAME:-other}` the value of a variable or, where that is unset or empty, `other`. Only
//! variables that the manifest names are looked at.

use std::path::PathBuf;

use toolpath_plugin_api::manifest::Manifest;

/// The folders that the manifest's templates name, each once; those that do not come out as absolute paths are left out.
pub fn expand(manifest: &Manifest) -> Vec<PathBuf> {
    let home = dirs::home_dir().map(|home| home.to_string_lossy().into_owned());
    let variable = |name: &str| {
        let is_declared = manifest.env.iter().any(|declared| declared == name);
        std::env::var(name).ok().filter(|value| is_declared && !value.is_empty())
    };
    let mut roots = Vec::new();
    for template in &manifest.roots {
        let root = expand_one(template, home.as_deref(), &variable).map(PathBuf::from);
        if let Some(root) = root.filter(|root| root.is_absolute() && !roots.contains(root)) {
            roots.push(root);
        }
    }
    roots
}

fn expand_one(template: &str, home: Option<&str>, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if let Some(rest) = template.strip_prefix("${") {
        let end = rest.find('}')?;
        let (name, otherwise) = rest[..end].split_once(":-").unwrap_or((&rest[..end], ""));
        let start = match variable(name) {
            Some(value) => expand_one(&value, home, &|_| None)?,
            None if otherwise.is_empty() => return None,
            None => expand_one(otherwise, home, variable)?,
        };
        return Some(start + &rest[end + 1..]);
    }
    match template.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => Some(format!("{}{rest}", home?)),
        _ => Some(template.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, expected: Option<&str>) {
        let variable = |name: &str| (name == "SET").then(|| "/set".to_owned());
        assert_eq!(expand_one(template, Some("/home/dev"), &variable).as_deref(), expected);
    }

    #[test]
    fn templates_expand_to_folders() {
        check("~/.demo/sessions", Some("/home/dev/.demo/sessions"));
        check("${SET:-~/.demo}/sessions", Some("/set/sessions"));
        check("${UNSET:-~/.demo}/sessions", Some("/home/dev/.demo/sessions"));
        check("${UNSET}/sessions", None);
        check("/var/lib/demo", Some("/var/lib/demo"));
        check("${UNSET", None);
        check("~other/x", Some("~other/x"));
    }

    #[test]
    fn a_variable_that_the_manifest_does_not_name_is_not_looked_at() {
        let manifest = |env: &[&str]| Manifest {
            name: "demo".to_owned(),
            provider_id: "demo".to_owned(),
            version: "1.0.0".to_owned(),
            display_name: "Demo".to_owned(),
            harness: toolpath_plugin_api::manifest::Harness { name: "Demo".to_owned(), versions: Vec::new() },
            env: env.iter().map(|name| (*name).to_owned()).collect(),
            roots: vec!["${PATH:-/nowhere}".to_owned(), "relative".to_owned()],
            companions: Vec::new(),
        };
        assert_eq!(expand(&manifest(&[])), [PathBuf::from("/nowhere")]);
        assert_ne!(expand(&manifest(&["PATH"])), [PathBuf::from("/nowhere")]);
    }
}

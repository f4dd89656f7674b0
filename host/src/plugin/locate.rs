//! A provider's name to a file.
//!
//! Places are searched in a fixed order, and the first match wins: files and folders that the command line names;
//! `TOOLPATH_PLUGIN_PATH`; the user's data folder; `lib/toolpath-host/plugins` beside the executable's `bin`; `plugins` beside
//! the executable; the executable's own folder, where cargo leaves what it builds. Never the current directory.

use std::collections::BTreeSet;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::plugin::inspect::{Inspected, inspect};

/// Names a folder list of plugins, as the system's `PATH` does for programs.
pub const PATH_VARIABLE: &str = "TOOLPATH_PLUGIN_PATH";
const STEM: &str = "toolpath_provider_";

/// Where plugins may be, in the order of search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Files that the user named.
    pub files: Vec<PathBuf>,
    /// Folders, the user's own choice first.
    pub folders: Vec<Folder>,
    /// Sentences about entries that are not searched.
    pub refused: Vec<String>,
}

/// A folder that may hold plugins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The folder.
    pub path: PathBuf,
    /// The user named it on the command line, so that it has to exist.
    pub is_named: bool,
}

/// What the environment says about where plugins are.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The value of [`PATH_VARIABLE`].
    pub plugin_path: Option<std::ffi::OsString>,
    /// The user's data folder.
    pub data_folder: Option<PathBuf>,
    /// This executable.
    pub executable: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    pub fn here() -> Self {
        Self {
            plugin_path: std::env::var_os(PATH_VARIABLE),
            data_folder: dirs::data_dir(),
            executable: std::env::current_exe().ok().map(|file| std::fs::canonicalize(&file).unwrap_or(file)),
        }
    }
}

impl Places {
    /// The places to search, given what the command line names.
    pub fn new(files: Vec<PathBuf>, folders: Vec<PathBuf>, around: &Surroundings) -> Self {
        let mut places = Self { files, ..Self::default() };
        places.folders.extend(folders.into_iter().map(|path| Folder { path, is_named: true }));
        for entry in around.plugin_path.iter().flat_map(std::env::split_paths) {
            if entry.is_absolute() {
                places.add(entry);
            } else if !entry.as_os_str().is_empty() {
                places.refused.push(format!(
                    "{PATH_VARIABLE}: `{}` is not searched because it is relative; write it from the root on",
                    entry.display()
                ));
            }
        }
        if let Some(data) = &around.data_folder {
            places.add(data.join("toolpath-host").join("plugins"));
        }
        if let Some(folder) = around.executable.as_deref().and_then(Path::parent) {
            if let (Some("bin"), Some(prefix)) = (folder.file_name().and_then(|name| name.to_str()), folder.parent()) {
                places.add(prefix.join("lib").join("toolpath-host").join("plugins"));
            }
            places.add(folder.join("plugins"));
            places.add(folder.to_owned());
        }
        places
    }

    fn add(&mut self, path: PathBuf) {
        if self.folders.iter().all(|folder| folder.path != path) {
            self.folders.push(Folder { path, is_named: false });
        }
    }
}

/// A plugin that was found and checked, and not opened yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Its file.
    pub file: PathBuf,
    /// What it says of itself.
    pub inspected: Inspected,
}

/// Finds the plugin for provider `name`.
pub fn locate(name: &str, places: &Places) -> Result<Located, Error> {
    let mut seen = BTreeSet::new();
    for file in &places.files {
        let inspected =
            inspect(file).map_err(|reason| Error::BadPlugin { file: file.clone(), reason, details: None })?;
        if inspected.manifest.name == name {
            return Ok(Located { file: file.clone(), inspected });
        }
        seen.insert(inspected.manifest.name);
    }
    for folder in &places.folders {
        let files = match library_files(&folder.path) {
            Ok(files) => files,
            Err(err) if folder.is_named => {
                let reason = format!("cannot be searched for plugins: {err}; name an existing folder");
                return Err(Error::BadPlugin { file: folder.path.clone(), reason, details: None });
            }
            Err(_) => continue,
        };
        let mut found: Vec<Located> = Vec::new();
        for file in files {
            match inspect(&file) {
                Ok(inspected) if inspected.manifest.name == name => found.push(Located { file, inspected }),
                Ok(inspected) => drop(seen.insert(inspected.manifest.name)),
                // One that bears the name asked for is the one the user means, and its fault is the answer.
                Err(reason) if name_in(&file).as_deref() == Some(name) => {
                    return Err(Error::BadPlugin { file, reason, details: None });
                }
                Err(_) => {}
            }
        }
        if let [_, second, ..] = found.as_slice() {
            let reason = format!("says that it is `{name}`, and so does another beside it; remove one of the two");
            return Err(Error::BadPlugin { file: second.file.clone(), reason, details: None });
        }
        if let Some(found) = found.pop() {
            return Ok(found);
        }
    }
    Err(not_found(name, places, &seen))
}

fn not_found(name: &str, places: &Places, seen: &BTreeSet<String>) -> Error {
    let list = |items: Vec<String>| items.into_iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ");
    let mut looked = list(
        places
            .files
            .iter()
            .chain(places.folders.iter().map(|folder| &folder.path))
            .map(|path| path.display().to_string())
            .collect(),
    );
    looked = if looked.is_empty() { "there is nowhere to look".to_owned() } else { format!("looked in {looked}") };
    if !seen.is_empty() {
        looked.push_str(&format!(" and found {}", list(seen.iter().cloned().collect())));
    }
    let remedy = format!("put {DLL_PREFIX}{STEM}{name}{DLL_SUFFIX} in one of these, or pass --plugins DIR");
    Error::NoPlugin { name: name.to_owned(), looked, remedy }
}

/// The files in `folder` that are named like plugins, in order of their names.
pub fn library_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.path();
        if name_in(&file).is_some() {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// The provider that a file is named for.
fn name_in(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?.strip_prefix(DLL_PREFIX)?.strip_suffix(DLL_SUFFIX)?.strip_prefix(STEM)?;
    // Crates write `_` where names may have `-`.
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(places: &Places) -> Vec<String> {
        places.folders.iter().map(|folder| folder.path.display().to_string()).collect()
    }

    #[test]
    #[cfg(unix)]
    fn places_are_searched_in_order_and_each_once() {
        let around = Surroundings {
            plugin_path: Some("/opt/one:relative:/data/toolpath-host/plugins::/opt/two".into()),
            data_folder: Some("/data".into()),
            executable: Some("/usr/local/bin/toolpath-host".into()),
        };
        let places = Places::new(vec!["x.so".into()], vec!["mine".into()], &around);
        assert_eq!(
            folders(&places),
            [
                "mine",
                "/opt/one",
                "/data/toolpath-host/plugins",
                "/opt/two",
                "/usr/local/lib/toolpath-host/plugins",
                "/usr/local/bin/plugins",
                "/usr/local/bin",
            ]
        );
        assert_eq!(
            places.refused,
            ["TOOLPATH_PLUGIN_PATH: `relative` is not searched because it is relative; write it from the root on"]
        );
    }

    #[test]
    fn a_file_is_named_for_its_provider() {
        let file = |name: &str| PathBuf::from(format!("/x/{DLL_PREFIX}toolpath_provider_{name}{DLL_SUFFIX}"));
        assert_eq!(name_in(&file("demo")).as_deref(), Some("demo"));
        assert_eq!(name_in(&file("")), None);
        assert_eq!(name_in(Path::new("/x/toolpath_provider_demo.txt")), None);
    }
}

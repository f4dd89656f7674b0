//! A provider's name to a file.
//!
//! Places are searched in a fixed order, and the first match wins: files and folders that the command line names;
//! `TOOLPATH_PLUGIN_PATH`; the user's data folder; `lib/toolpath-host/plugins` beside the executable's `bin`; `plugins` beside
//! the executable; the executable's own folder, where cargo leaves what it builds. Never the current directory.

use std::collections::BTreeSet;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::plugin::inspect::Inspected;
use crate::plugin::survey::{Absent, State, Survey};
use crate::plugin::trust::Trust;

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
    /// Why it is searched.
    pub why: Why,
}

/// Why a place is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A file that the command line names.
    File,
    /// A folder that the command line names, so that it has to exist.
    Flag,
    /// [`PATH_VARIABLE`] names it.
    Variable,
    /// The user's data folder.
    UserData,
    /// The folder for libraries of the place where the host is installed.
    Prefix,
    /// The folder beside the executable.
    Beside,
    /// The executable's own folder.
    Executable,
}

impl Why {
    /// Whether the user asked for the place, rather than that it is searched anyway.
    pub fn is_chosen(self) -> bool {
        matches!(self, Self::File | Self::Flag | Self::Variable)
    }

    /// The reason in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::File => "named by --plugin",
            Self::Flag => "named by --plugins",
            Self::Variable => "named by TOOLPATH_PLUGIN_PATH",
            Self::UserData => "your data folder",
            Self::Prefix => "where the host is installed",
            Self::Beside => "beside the executable",
            Self::Executable => "the executable's own folder",
        }
    }
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
            // A relative one would be another in each current folder.
            data_folder: dirs::data_dir().filter(|folder| folder.is_absolute()),
            executable: std::env::current_exe().ok().map(|file| std::fs::canonicalize(&file).unwrap_or(file)),
        }
    }
}

impl Places {
    /// The places to search, given what the command line names.
    pub fn new(files: Vec<PathBuf>, folders: Vec<PathBuf>, around: &Surroundings) -> Self {
        let mut places = Self { files, ..Self::default() };
        places.folders.extend(folders.into_iter().map(|path| Folder { path, why: Why::Flag }));
        for entry in around.plugin_path.iter().flat_map(std::env::split_paths) {
            if entry.is_absolute() {
                places.add(entry, Why::Variable);
            } else if !entry.as_os_str().is_empty() {
                places.refused.push(format!(
                    "{PATH_VARIABLE}: `{}` is not searched because it is relative; write it from the root on",
                    entry.display()
                ));
            }
        }
        if let Some(data) = &around.data_folder {
            places.add(data.join("toolpath-host").join("plugins"), Why::UserData);
        }
        if let Some(folder) = around.executable.as_deref().and_then(Path::parent) {
            if let (Some("bin"), Some(prefix)) = (folder.file_name().and_then(|name| name.to_str()), folder.parent()) {
                places.add(prefix.join("lib").join("toolpath-host").join("plugins"), Why::Prefix);
            }
            places.add(folder.join("plugins"), Why::Beside);
            places.add(folder.to_owned(), Why::Executable);
        }
        places
    }

    fn add(&mut self, path: PathBuf, why: Why) {
        if self.folders.iter().all(|folder| folder.path != path) {
            self.folders.push(Folder { path, why });
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

/// Finds the plugin for provider `name`, and the files that it shadows.
pub fn locate(name: &str, places: &Places, trust: &Trust) -> Result<(Located, Vec<PathBuf>), Error> {
    let bad = |file: &Path, reason: String| Error::BadPlugin { file: file.to_owned(), reason, details: None };
    let survey = Survey::new(places, trust)?;
    for place in &survey.places {
        match (&place.found, place.why) {
            // What the user names has to be there, and whole.
            (Ok(found), Why::File) => {
                if let Some(State::Refused(reason)) = found.first().map(|candidate| &candidate.state) {
                    return Err(bad(&place.path, reason.clone()));
                }
            }
            (Err(absent), Why::Flag) => {
                let why = match absent {
                    Absent::NotThere => "there is no such folder",
                    Absent::Failed(why) => why,
                };
                let reason = format!("cannot be searched for plugins: {why}; name an existing folder");
                return Err(bad(&place.path, reason));
            }
            _ => {}
        }
    }
    let Some(candidate) = survey.named(name) else { return Err(not_found(name, &survey)) };
    let located = match (&candidate.inspected, candidate.state.reason()) {
        (Some(inspected), None) => Located { file: candidate.file.clone(), inspected: inspected.clone() },
        // One that bears the name asked for is the one the user means, and its fault is the answer.
        (_, reason) => return Err(bad(&candidate.file, reason.unwrap_or_default())),
    };
    let is_shadowed = |state: &State| matches!(state, State::Shadowed { by } if *by == located.file);
    let shadowed = survey.candidates().filter(|other| is_shadowed(&other.state)).map(|other| other.file.clone());
    let shadowed = shadowed.collect();
    Ok((located, shadowed))
}

/// No plugin bears the name: says where it would have been found, and what there is.
pub fn not_found(name: &str, survey: &Survey) -> Error {
    let list = |items: Vec<String>| items.into_iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ");
    let mut looked = list(survey.places.iter().map(|place| place.path.display().to_string()).collect());
    looked = if looked.is_empty() { "there is nowhere to look".to_owned() } else { format!("looked in {looked}") };
    let seen: BTreeSet<String> =
        survey.candidates().filter_map(|found| Some(found.inspected.as_ref()?.manifest.name.clone())).collect();
    if !seen.is_empty() {
        looked.push_str(&format!(" and found {}", list(seen.into_iter().collect())));
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
pub(crate) fn name_in(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_string_lossy();
    let name = name.strip_prefix(DLL_PREFIX)?.strip_suffix(DLL_SUFFIX)?.strip_prefix(STEM)?;
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

//! Everything that lies in the places where plugins may be, each with what it is and what becomes of it.
//!
//! Nothing is opened: what is told is read from the files. The first file of a name is the one that is used; a damaged
//! file is known by its own name, so that it is never passed over for another one behind the user's back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::plugin::inspect::{Inspected, inspect};
use crate::plugin::locate::{Places, Why, library_files, name_in};
use crate::plugin::trust::{Trust, Verdict};

/// A file that is a plugin, or is named like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The file.
    pub file: PathBuf,
    /// The provider's name: the manifest's, or the one that the file is named for.
    pub name: Option<String>,
    /// What the file says of itself, when it could be read and is fit for this host.
    pub inspected: Option<Inspected>,
    /// What becomes of it.
    pub state: State,
}

/// What becomes of a candidate when a user asks for its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is used.
    Usable,
    /// Another one of that name comes first.
    Shadowed {
        /// That other one.
        by: PathBuf,
    },
    /// It cannot be used; the rest of a sentence that begins with the file, remedy included.
    Refused(String),
    /// It crashed; likewise.
    Quarantined(String),
    /// The list of allowed plugins does not have it; likewise.
    NotAllowed(String),
}

impl State {
    /// The state in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Shadowed { .. } => "shadowed",
            Self::Refused(_) => "refused",
            Self::Quarantined(_) => "quarantined",
            Self::NotAllowed(_) => "not-allowed",
        }
    }

    /// Why it is not used.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Usable => None,
            Self::Shadowed { by } => Some(format!("is shadowed by `{}`, which is found first", by.display())),
            Self::Refused(reason) | Self::Quarantined(reason) | Self::NotAllowed(reason) => Some(reason.clone()),
        }
    }
}

/// A place that was searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The folder, or the file that the user named.
    pub path: PathBuf,
    /// Why it is searched.
    pub why: Why,
    /// What lies there, in order; or why that is not known.
    pub found: Result<Vec<Candidate>, Absent>,
}

/// Why nothing is known of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// It is not there.
    NotThere,
    /// It cannot be searched.
    Failed(String),
}

/// All places, in the order of search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The places.
    pub places: Vec<Place>,
}

impl Survey {
    /// Looks through the places.
    pub fn new(places: &Places, trust: &Trust) -> Result<Self, Error> {
        let mut survey = Self::default();
        for file in &places.files {
            let found = Ok(vec![candidate(file.clone(), trust)?]);
            survey.places.push(Place { path: file.clone(), why: Why::File, found });
        }
        for folder in &places.folders {
            let found = match library_files(&folder.path) {
                Ok(files) => Ok(files.into_iter().map(|file| candidate(file, trust)).collect::<Result<_, _>>()?),
                Err(err) if err.kind() == std::io::ErrorKind::NotFound => Err(Absent::NotThere),
                Err(err) => Err(Absent::Failed(err.to_string())),
            };
            survey.places.push(Place { path: folder.path.clone(), why: folder.why, found });
        }
        survey.places.iter_mut().filter_map(|place| place.found.as_mut().ok()).for_each(|found| refuse_twins(found));
        survey.shadow();
        Ok(survey)
    }

    /// Everything that was found, in the order of search.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.places.iter().filter_map(|place| place.found.as_ref().ok()).flatten()
    }

    /// The candidate that a user means by `name`.
    pub fn named(&self, name: &str) -> Option<&Candidate> {
        self.candidates().find(|candidate| candidate.name.as_deref() == Some(name))
    }

    fn shadow(&mut self) {
        let mut first: HashMap<String, PathBuf> = HashMap::new();
        for candidate in self.places.iter_mut().filter_map(|place| place.found.as_mut().ok()).flatten() {
            let Some(name) = &candidate.name else { continue };
            match first.get(name) {
                Some(by) if *by != candidate.file && candidate.state == State::Usable => {
                    candidate.state = State::Shadowed { by: by.clone() };
                }
                Some(_) => {}
                None => drop(first.insert(name.clone(), candidate.file.clone())),
            }
        }
    }
}

fn candidate(file: PathBuf, trust: &Trust) -> Result<Candidate, Error> {
    let inspected = match inspect(&file) {
        Ok(inspected) => inspected,
        Err(reason) => {
            let name = name_in(&file);
            return Ok(Candidate { file, name, inspected: None, state: State::Refused(reason) });
        }
    };
    let state = match trust.judge(&file)? {
        Verdict::Trusted => State::Usable,
        Verdict::Quarantined(reason) => State::Quarantined(reason),
        Verdict::NotAllowed(reason) => State::NotAllowed(reason),
    };
    Ok(Candidate { name: Some(inspected.manifest.name.clone()), file, inspected: Some(inspected), state })
}

/// Two of one name in one folder: which of them is meant cannot be told.
fn refuse_twins(found: &mut [Candidate]) {
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, candidate) in found.iter().enumerate() {
        if let (Some(name), Some(_)) = (&candidate.name, &candidate.inspected) {
            by_name.entry(name.clone()).or_default().push(index);
        }
    }
    for (name, twins) in by_name {
        if twins.len() > 1 {
            for (place, &twin) in twins.iter().enumerate() {
                let other = found[twins[usize::from(place == 0)]].file.clone();
                let other = other.file_name().map(Path::new).unwrap_or(&other).display().to_string();
                found[twin].state = State::Refused(format!(
                    "says that it is `{name}`, and so does `{other}` beside it; remove one of the two"
                ));
            }
        }
    }
}

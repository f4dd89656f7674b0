//! Which plugins the user trusts: the list of allowed ones, and those that crashed.
//!
//! Both are JSON files in the user's configuration folder, and both know a plugin by the SHA-256 of its file. Where there is no
//! list, every plugin that is found may be used; the moment there is one, it rules. A plugin that crashed is not used
//! again until the user allows it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::plugin::inspect::Inspected;

/// Name of the list of allowed plugins.
pub const LOCK: &str = "plugins.lock";
/// Name of the list of plugins that crashed.
pub const QUARANTINE: &str = "plugins.quarantine";

/// Bytes that a list may have.
const LONGEST: u64 = 16 * 1024 * 1024;

/// A plugin that the user allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The contract that it was built for.
    pub abi: String,
    /// SHA-256 of its file, in hexadecimal digits.
    pub sha256: String,
    /// Day on which it was allowed, as `YYYY-MM-DD`.
    pub date: String,
}

/// A plugin that crashed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crashed {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of its file, in hexadecimal digits.
    pub sha256: String,
    /// The session that it read.
    pub session: String,
    /// What ended it: a signal (`SIGSEGV`), or `exit code N`.
    pub signal: String,
    /// Day on which it crashed, as `YYYY-MM-DD`.
    pub date: String,
}

#[derive(Deserialize, Serialize)]
struct List<T> {
    plugins: Vec<T>,
}

/// What is known of which plugins are trusted.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    folder: Option<PathBuf>,
    /// The list of allowed plugins, where there is one.
    pub allowed: Option<Vec<Allowed>>,
    /// Plugins that crashed.
    pub crashed: Vec<Crashed>,
    /// Nothing is allowed that is not in the list, even where there is none.
    is_locked: bool,
}

/// Whether a plugin may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Trusted,
    /// It crashed; the rest of a sentence that begins with the file, remedy included.
    Quarantined(String),
    /// It is not in the list; likewise.
    NotAllowed(String),
}

/// What allowing a plugin changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// It had crashed and is out of quarantine.
    pub is_lifted: bool,
    /// It is in the list now.
    pub is_listed: bool,
    /// The list begins with it.
    pub is_first: bool,
}

impl Trust {
    /// Reads what the user's configuration folder says; with `is_locked`, only what is in the list may be used.
    pub fn of_user(is_locked: bool) -> Result<Self, Error> {
        Self::read(user_folder(), is_locked)
    }

    fn read(folder: Option<PathBuf>, is_locked: bool) -> Result<Self, Error> {
        let (mut allowed, mut crashed) = (None, Vec::new());
        if let Some(folder) = &folder {
            allowed = list(&folder.join(LOCK))?;
            crashed = list(&folder.join(QUARANTINE))?.unwrap_or_default();
        }
        Ok(Self { folder, allowed, crashed, is_locked })
    }

    /// Where the list of allowed plugins is, or would be.
    pub fn lock_file(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(LOCK))
    }

    /// Whether only plugins of the list may be used.
    pub fn is_ruled(&self) -> bool {
        self.is_locked || self.allowed.is_some()
    }

    /// Judges a plugin's file. Its content is read only where a list could name it.
    pub fn judge(&self, file: &Path) -> Result<Verdict, Error> {
        if !self.is_ruled() && self.crashed.is_empty() {
            return Ok(Verdict::Trusted);
        }
        let digest = sha256(file)?;
        let allow = format!("run `{}`", allow_command(file));
        if let Some(crash) = self.crashed.iter().find(|crash| crash.sha256 == digest) {
            return Ok(Verdict::Quarantined(format!(
                "is in quarantine since it crashed on {} ({}, reading `{}`); to use it again, {allow}",
                crash.date, crash.signal, crash.session
            )));
        }
        if self.is_ruled() && !self.allowed.iter().flatten().any(|allowed| allowed.sha256 == digest) {
            let list = match &self.allowed {
                Some(_) => "is not in the list of allowed plugins",
                None => "is not allowed, since --locked was passed and there is no list of allowed plugins",
            };
            return Ok(Verdict::NotAllowed(format!("{list}; if you trust it, {allow}")));
        }
        Ok(Verdict::Trusted)
    }

    /// Takes a plugin out of quarantine or, when it is not there, into the list; a name has one entry in the list.
    pub fn allow(file: &Path, inspected: &Inspected) -> Result<Change, Error> {
        let folder = config_folder()?;
        let digest = sha256(file)?;
        let _guard = Guard::new(&folder)?;
        let mut trust = Self::read(Some(folder.clone()), false)?;
        let crashes = trust.crashed.len();
        trust.crashed.retain(|crash| crash.sha256 != digest);
        let is_lifted = trust.crashed.len() < crashes;
        if is_lifted {
            write(&folder.join(QUARANTINE), &List { plugins: trust.crashed })?;
        }
        // Who only wants a plugin back that crashed does not ask that no other may be used.
        let is_first = trust.allowed.is_none();
        if is_lifted && is_first {
            return Ok(Change { is_lifted, is_listed: false, is_first });
        }
        let manifest = &inspected.manifest;
        let mut allowed = trust.allowed.unwrap_or_default();
        allowed.retain(|entry| entry.name != manifest.name);
        allowed.push(Allowed {
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            abi: inspected.abi.to_string(),
            sha256: digest,
            date: today(),
        });
        allowed.sort_by(|one, other| one.name.cmp(&other.name));
        write(&folder.join(LOCK), &List { plugins: allowed })?;
        Ok(Change { is_lifted, is_listed: true, is_first })
    }

    /// Puts a plugin that crashed in quarantine.
    pub fn quarantine(file: &Path, inspected: &Inspected, session: &str, signal: &str) -> Result<(), Error> {
        let folder = config_folder()?;
        let digest = sha256(file)?;
        let _guard = Guard::new(&folder)?;
        let path = folder.join(QUARANTINE);
        let mut plugins: Vec<Crashed> = list(&path)?.unwrap_or_default();
        plugins.retain(|crash| crash.sha256 != digest);
        plugins.push(Crashed {
            name: inspected.manifest.name.clone(),
            version: inspected.manifest.version.clone(),
            sha256: digest,
            session: session.to_owned(),
            signal: signal.to_owned(),
            date: today(),
        });
        write(&path, &List { plugins })
    }
}

fn today() -> String {
    jiff::Timestamp::now().strftime("%F").to_string()
}

/// The command that allows a plugin, as a shell takes it: a file's name is a stranger's choice.
pub fn allow_command(file: &Path) -> String {
    let file = file.display().to_string();
    let is_plain = !file.is_empty() && file.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@%,:=".contains(c));
    let file = if is_plain { file } else { format!("'{}'", file.replace('\'', r"'\''")) };
    format!("toolpath-host plugins allow {file}")
}

/// SHA-256 of a plugin's file, in hexadecimal digits.
pub fn sha256(file: &Path) -> Result<String, Error> {
    let failed = |err: io::Error| Error::BadPlugin {
        file: file.to_owned(),
        reason: format!("cannot be read: {err}"),
        details: None,
    };
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(file).map_err(failed)?, &mut hasher).map_err(failed)?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The user's folder for configuration of ours. One that is relative would be another in each current folder.
fn user_folder() -> Option<PathBuf> {
    let folder = dirs::config_dir().filter(|folder| folder.is_absolute())?;
    Some(folder.join("toolpath-host"))
}

fn config_folder() -> Result<PathBuf, Error> {
    let folder = user_folder().ok_or_else(|| Error::Trust {
        file: PathBuf::from(LOCK),
        reason: "cannot be kept: you have no folder for configuration; set HOME".to_owned(),
    })?;
    fs::create_dir_all(&folder).map_err(|err| Error::Trust {
        file: folder.clone(),
        reason: format!("cannot be made: {err}; check its permissions"),
    })?;
    Ok(folder)
}

fn list<T: DeserializeOwned>(file: &Path) -> Result<Option<Vec<T>>, Error> {
    let bad = |reason: String| Error::Trust { file: file.to_owned(), reason };
    match fs::metadata(file) {
        Ok(about) if !about.is_file() => return Err(bad("is no regular file; put a list in its place".to_owned())),
        Ok(about) if about.len() > LONGEST => return Err(bad("is too large for a list; mend it".to_owned())),
        Ok(_) => {}
        // A link that leads nowhere is no list, but somebody meant there to be one.
        Err(_) if fs::symlink_metadata(file).is_ok() => {
            return Err(bad("is a link that leads nowhere; point it at the list".to_owned()));
        }
        Err(_) => {}
    }
    match fs::read(file) {
        Ok(text) => match serde_json::from_slice::<List<T>>(&text) {
            Ok(list) => Ok(Some(list.plugins)),
            Err(err) => Err(bad(format!(
                "cannot be understood ({err}); mend it, or allow your plugins anew after you removed it"
            ))),
        },
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(bad(format!("cannot be read: {err}; check its permissions"))),
    }
}

/// Replaces a list by rename, so that a reader never sees half of one.
fn write<T: Serialize>(file: &Path, list: &List<T>) -> Result<(), Error> {
    let failed = |err: io::Error| Error::Trust {
        file: file.to_owned(),
        reason: format!("cannot be written: {}; check the folder's permissions and room", crate::error::plain(err)),
    };
    let mut text = serde_json::to_vec_pretty(list).map_err(|err| failed(err.into()))?;
    text.push(b'\n');
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    temporary.write_all(&text).map_err(failed)?;
    temporary.persist(file).map_err(|err| failed(err.error))?;
    Ok(())
}

/// Keeps other runs from changing the lists at the same time.
struct Guard {
    _folder: Option<File>,
}

impl Guard {
    fn new(folder: &Path) -> Result<Self, Error> {
        // Only Unix opens folders; elsewhere the last writer wins.
        let folder = File::open(folder).ok();
        if let Some(folder) = &folder {
            // Where the file system knows no locks there is nothing better to do.
            let _ = folder.lock();
        }
        Ok(Self { _folder: folder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_cannot_be_understood_is_never_taken_for_none() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(LOCK), "{").expect("a file");
        let error = Trust::read(Some(folder.path().to_owned()), false).expect_err("no list");
        assert!(error.to_string().contains("plugins.lock` cannot be understood"), "{error}");
        assert_eq!(error.exit_code(), 3);
    }

    #[test]
    fn without_lists_no_file_is_read_and_every_plugin_is_trusted() {
        let trust = Trust::read(None, false).expect("no lists");
        assert_eq!(trust.judge(Path::new("/nowhere")).expect("not read"), Verdict::Trusted);
        let locked = Trust::read(None, true).expect("no lists");
        assert!(locked.judge(Path::new("/nowhere")).is_err());
    }

    #[test]
    fn a_list_that_is_no_file_or_leads_nowhere_is_never_taken_for_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = || Trust::read(Some(folder.path().to_owned()), false).expect_err("no list").to_string();
        fs::create_dir(folder.path().join(LOCK)).expect("a folder");
        assert!(refused().ends_with("is no regular file; put a list in its place"));
        fs::remove_dir(folder.path().join(LOCK)).expect("removing");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nowhere", folder.path().join(LOCK)).expect("a link");
            assert!(refused().ends_with("is a link that leads nowhere; point it at the list"));
        }
    }

    #[test]
    fn a_command_to_paste_runs_nothing_that_a_files_name_says() {
        assert_eq!(allow_command(Path::new("/a/b-1.so")), "toolpath-host plugins allow /a/b-1.so");
        let hostile = allow_command(Path::new("a b $(id) `id` it's.so"));
        assert_eq!(hostile, r"toolpath-host plugins allow 'a b $(id) `id` it'\''s.so'");
    }

    #[test]
    fn a_digest_is_the_known_one() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), "abc").expect("writing");
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(file.path()).expect("readable"), digest);
    }
}

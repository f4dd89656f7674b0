//! What a file says of itself, read without running any of its code.
//!
//! A library that is cut short, garbled or built for another machine would take down the process that opens it, so
//! everything that can be known from the file is known before.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use object::read::{ReadCache, ReadRef};
use object::{Architecture, BinaryFormat, Object, ObjectKind, ObjectSection, ObjectSegment};
use semver::Version;
use toolpath_plugin_api::manifest::{BLOCK_SIZE, BlockError, Manifest, SECTION, SECTION_MACHO, read_block};
use toolpath_plugin_api::version::ABI_VERSION;

/// What is known of a plugin from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// What it says of itself.
    pub manifest: Manifest,
    /// The contract it was built for.
    pub abi: Version,
}

/// The contract that this host speaks.
pub fn host_abi() -> Version {
    version(ABI_VERSION)
}

fn version([major, minor, patch]: [u16; 3]) -> Version {
    Version::new(major.into(), minor.into(), patch.into())
}

/// Reads what `file` says of itself; an error is the rest of a sentence that begins with the file, remedy included.
pub fn inspect(file: &Path) -> Result<Inspected, String> {
    check_kind_and_rights(file)?;
    let opened = File::open(file).map_err(|err| format!("cannot be opened: {err}"))?;
    let length = opened.metadata().map_err(|err| format!("cannot be examined: {err}"))?.len();
    let inspected = inspect_library(opened, length)?;
    check_abi(&inspected.abi)?;
    check_names(&inspected.manifest)?;
    Ok(inspected)
}

fn check_kind_and_rights(file: &Path) -> Result<(), String> {
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(err) if fs::symlink_metadata(file).is_ok_and(|link| link.is_symlink()) => {
            return Err(format!("is a link that leads nowhere ({err}); point it at the library"));
        }
        Err(err) => return Err(format!("cannot be examined: {err}")),
    };
    if metadata.is_dir() {
        return Err("is a folder; name the library in it".to_owned());
    }
    if !metadata.is_file() {
        return Err("is no regular file; a plugin is a dynamic library".to_owned());
    }
    if metadata.len() == 0 {
        return Err("is empty; build or copy the library again".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if metadata.permissions().mode() & 0o002 != 0 {
            return Err("can be written by every user of this machine; run `chmod o-w` on it".to_owned());
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let open_folder = fs::metadata(folder).is_ok_and(|folder| {
            let mode = folder.permissions().mode();
            // In a folder with the sticky bit, only the owner can replace a file.
            mode & 0o002 != 0 && mode & 0o1000 == 0
        });
        if open_folder {
            return Err("lies in a folder that every user of this machine can write to; run `chmod o-w` on the folder"
                .to_owned());
        }
    }
    Ok(())
}

fn inspect_library(file: File, length: u64) -> Result<Inspected, String> {
    const REBUILD: &str = "build or copy the library again";
    let mut file = file;
    let mut magic = [0; 4];
    let known = file.read_exact(&mut magic).is_ok() && file.seek(SeekFrom::Start(0)).is_ok();
    if !known || (magic != *b"\x7fELF" && magic[..2] != *b"MZ" && !is_mach_o(magic)) {
        return Err("is no dynamic library; a plugin is built by cargo as a `cdylib`".to_owned());
    }
    let cache = ReadCache::new(file);
    let library = object::File::parse(&cache).map_err(|err| format!("is a damaged library ({err}); {REBUILD}"))?;
    check_machine(&library)?;
    for segment in library.segments() {
        let (offset, size) = segment.file_range();
        if offset.checked_add(size).is_none_or(|end| end > length) {
            return Err(format!("is cut short at {length} bytes; {REBUILD}"));
        }
    }
    let section = match library.format() {
        BinaryFormat::MachO => SECTION_MACHO.1,
        _ => SECTION,
    };
    let section = library.section_by_name(section).ok_or(
        "carries no provider manifest, so it is no provider plugin; plugins declare one with `declare_provider!`",
    )?;
    let (offset, size) = section.file_range().ok_or(format!("has an empty manifest; {REBUILD}"))?;
    let block = (&cache)
        .read_bytes_at(offset, size.min(BLOCK_SIZE as u64))
        .map_err(|()| format!("is cut short within its manifest; {REBUILD}"))?;
    let block = read_block(block).map_err(|err| match err {
        BlockError::Size => {
            "has a manifest of another size than this host's; rebuild it against this host's plugin-api"
        }
        BlockError::Magic => "has a manifest that begins unlike one; rebuild it against this host's plugin-api",
        BlockError::Json => "has a manifest that is no text; rebuild it against this host's plugin-api",
    })?;
    let abi = version(block.abi);
    // Another major may have another manifest: say that first.
    check_abi(&abi)?;
    let manifest: Manifest = serde_json::from_str(block.json)
        .map_err(|err| format!("has a manifest that cannot be read ({err}); rebuild it with `declare_provider!`"))?;
    Ok(Inspected { manifest, abi })
}

fn is_mach_o(magic: [u8; 4]) -> bool {
    matches!(magic, [0xfe, 0xed, 0xfa, 0xce | 0xcf] | [0xce | 0xcf, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe | 0xbf])
}

fn check_machine<'data, R: ReadRef<'data>>(library: &object::File<'data, R>) -> Result<(), String> {
    let here = (native_format(), std::env::consts::ARCH);
    let there = (library.format(), library.architecture());
    if there.0 != here.0 || native_architecture().is_some_and(|native| native != there.1) {
        return Err(format!(
            "is built for {:?} on {:?}, this machine is {} on {:?}; build it for this machine",
            there.0, there.1, here.1, here.0
        ));
    }
    if library.is_little_endian() != cfg!(target_endian = "little")
        || library.is_64() != cfg!(target_pointer_width = "64")
    {
        return Err("is built for another kind of processor; build it for this machine".to_owned());
    }
    if library.kind() != ObjectKind::Dynamic {
        return Err(format!("is a file of kind {:?}, not a dynamic library; build it as a `cdylib`", library.kind()));
    }
    Ok(())
}

fn native_format() -> BinaryFormat {
    if cfg!(target_vendor = "apple") {
        BinaryFormat::MachO
    } else if cfg!(windows) {
        BinaryFormat::Pe
    } else {
        BinaryFormat::Elf
    }
}

/// The architecture of this process, where it is one of the usual ones.
fn native_architecture() -> Option<Architecture> {
    Some(match std::env::consts::ARCH {
        "x86_64" => Architecture::X86_64,
        "x86" => Architecture::I386,
        "aarch64" => Architecture::Aarch64,
        "arm" => Architecture::Arm,
        "riscv64" => Architecture::Riscv64,
        "powerpc64" => Architecture::PowerPc64,
        "s390x" => Architecture::S390x,
        "loongarch64" => Architecture::LoongArch64,
        _ => return None,
    })
}

fn check_abi(abi: &Version) -> Result<(), String> {
    let host = host_abi();
    if abi.major == host.major {
        return Ok(());
    }
    Err(format!("was built for plugin-api {abi}, this host needs {}.x; rebuild it against that", host.major))
}

fn check_names(manifest: &Manifest) -> Result<(), String> {
    let is_name = |text: &str| {
        !text.is_empty()
            && text.len() <= 64
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
    };
    if !is_name(&manifest.name) {
        return Err(format!(
            "calls itself `{}`, which is no name; a plugin's name is made of a-z, 0-9, `-` and `_`",
            crate::report::one_line(&manifest.name)
        ));
    }
    let carried = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if manifest.provider_id.is_empty() || !manifest.provider_id.chars().all(carried) {
        return Err(format!(
            "has the provider id `{}`, which no actor can carry; it is made of letters, digits, `-`, `_` and `.`",
            crate::report::one_line(&manifest.provider_id)
        ));
    }
    if let Err(err) = Version::parse(&manifest.version) {
        return Err(format!(
            "has the version `{}`, which is none ({err}); versions are like 1.2.3",
            crate::report::one_line(&manifest.version)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_majors_load_and_others_are_refused_both_ways() {
        let host = host_abi();
        assert_eq!(check_abi(&Version::new(host.major, host.minor + 7, 3)), Ok(()));
        for major in [host.major + 1, host.major - 1] {
            let refusal = check_abi(&Version::new(major, 0, 0)).expect_err("another major");
            assert_eq!(
                refusal,
                format!("was built for plugin-api {major}.0.0, this host needs 1.x; rebuild it against that")
            );
        }
    }

    #[test]
    fn names_and_versions_are_checked() {
        let good = Manifest {
            name: "demo".to_owned(),
            provider_id: "demo-harness".to_owned(),
            version: "1.2.3".to_owned(),
            display_name: "Demo".to_owned(),
            harness: toolpath_plugin_api::manifest::Harness { name: "Demo".to_owned(), versions: Vec::new() },
            env: Vec::new(),
            roots: Vec::new(),
            companions: Vec::new(),
        };
        assert_eq!(check_names(&good), Ok(()));
        for name in ["", "Demo", "../demo", "a b", &"x".repeat(65)] {
            let bad = Manifest { name: name.to_owned(), ..good.clone() };
            assert!(check_names(&bad).expect_err("no name").contains("which is no name"), "{name}");
        }
        for provider_id in ["", "a/b", "<x>"] {
            let bad = Manifest { provider_id: provider_id.to_owned(), ..good.clone() };
            assert!(check_names(&bad).expect_err("no id").contains("no actor can carry"), "{provider_id}");
        }
        let bad = Manifest { version: "1.2".to_owned(), ..good };
        assert!(check_names(&bad).expect_err("no version").contains("which is none"));
    }
}

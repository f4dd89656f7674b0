//! A file to a checked root module.
//!
//! One handle, one header, one module for each file: abi_stable's own loaders keep one module for each *type*, and
//! would hand back the first plugin for every later path. Nothing is ever unloaded.

#![expect(unsafe_code, reason = "opens a library and reads the header that it exports")]

use std::error::Error as _;

use toolpath_plugin_api::abi_stable::library::{AbiHeaderRef, LibraryError, ROOT_MODULE_LOADER_NAME_WITH_NUL};
use toolpath_plugin_api::table::ProviderRef;

use crate::error::Error;
use crate::plugin::locate::Located;

/// Opens a plugin that was located and checked. Runs the library's constructors.
pub fn open(located: &Located) -> Result<ProviderRef, Error> {
    let bad =
        |reason: String, details: Option<String>| Error::BadPlugin { file: located.file.clone(), reason, details };
    // SAFETY: running the library's constructors is what opening means; its file was checked to be whole, for this machine,
    // and to declare itself a plugin for this contract.
    let library = unsafe { load(&located.file) }.map_err(|err| {
        let reason = err.source().map_or_else(|| err.to_string(), ToString::to_string);
        bad(format!("cannot be opened: {}; build it for this system", crate::report::one_line(reason.trim())), None)
    })?;
    // SAFETY: a library that declares itself a plugin exports its header under this name, and the header begins with a
    // magic that `upgrade` checks before it believes the rest.
    let header = unsafe { library.get::<AbiHeaderRef>(ROOT_MODULE_LOADER_NAME_WITH_NUL.as_bytes()) }
        .map(|symbol| *symbol)
        .map_err(|_| bad("exports no root module; declare it with `declare_provider!`".to_owned(), None))?;
    std::mem::forget(library);
    header.upgrade().and_then(|header| header.init_root_module::<ProviderRef>()).map_err(|err| {
        let reason = match &err {
            LibraryError::AbiInstability(_) => "has types that are laid out unlike this host's",
            LibraryError::InvalidAbiHeader(_) => "was built with another abi_stable than this host",
            LibraryError::IncompatibleVersionNumber { .. } => "was built for another plugin-api than this host",
            _ => "has a root module that does not start",
        };
        bad(format!("{reason}; rebuild it against this host's plugin-api"), Some(err.to_string()))
    })
}

unsafe fn load(file: &std::path::Path) -> Result<libloading::Library, libloading::Error> {
    // Without a slash the loader would search the system's own folders instead.
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    #[cfg(unix)]
    {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        // All symbols now: a missing one is an error here, not a crash later.
        // SAFETY: passed on to the caller.
        unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }.map(Into::into)
    }
    #[cfg(not(unix))]
    {
        // SAFETY: passed on to the caller.
        unsafe { libloading::Library::new(file) }
    }
}

//! What the system does to a process that writes more than it may.
//!
//! A file that would grow beyond the limit of its user ends the process, unless it says that it wants to hear of it
//! where it writes. The host does: it has a sentence to say then, and something to clear away. A worker does not, and
//! gets the usual end back, which it would inherit otherwise.

#![expect(unsafe_code, reason = "asks the system for one of its own two ways with a signal")]

/// From now on a write beyond the limit of a file's size fails like any other.
pub fn write_beyond_limit_fails() {
    #[cfg(target_os = "linux")]
    // SAFETY: no handler is set that could be called.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// From now on a write beyond the limit of a file's size ends the process.
pub(crate) fn write_beyond_limit_ends() {
    #[cfg(target_os = "linux")]
    // SAFETY: no handler is set that could be called.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
    }
}

//! What each version of the contract added.
//!
//! - 1.0.0: sessions, turns, tool results, events, skipped records, diagnostics; listing and detecting.
//!
//! A plugin loads when its major is the host's. A changed type or function table is a new major; a new flag bit,
//! `ext` key or option key is a new minor, and whoever does not know it ignores it.

/// Version of the contract this crate describes: major, minor, patch.
pub const ABI_VERSION: [u16; 3] = [1, 0, 0];

#[cfg(test)]
mod tests {
    #[test]
    fn the_contract_has_the_version_of_its_crate() {
        let [major, minor, patch] = super::ABI_VERSION;
        assert_eq!(format!("{major}.{minor}.{patch}"), env!("CARGO_PKG_VERSION"));
    }
}

//! The function tables that cross the boundary: the host's sinks and the plugin's root module.
//!
//! Frozen like the views. Plugin authors use the safe [`Sink`](crate::Sink) and
//! [`Provider`](crate::Provider) instead. These tables and the thunks behind them are the only unsafe code a
//! plugin runs at the boundary.

use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::package_version_strings;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RSlice, RStr};

use crate::view::{
    DetectRequestView, DiagnosticView, EntryView, EventView, ListRequestView, OutcomeView, ReadRequestView,
    SessionView, SkipView, ToolResultView, TurnView,
};

/// The host's answer to a call on a sink.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer(pub u32);

impl Answer {
    /// Tell me more.
    pub const GO_ON: Self = Self(0);
    /// Make no further call, and return. Every code but [`Self::GO_ON`] reads as this.
    pub const STOP: Self = Self(1);
}

/// The host's own pointer, handed back to it with each call.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Context(pub *mut ());

/// What a reader calls while it reads: the host's functions.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct SinkTable {
    /// Facts of the session.
    pub session: unsafe extern "C" fn(Context, &SessionView<'_>) -> Answer,
    /// One message.
    pub turn: unsafe extern "C" fn(Context, &TurnView<'_>) -> Answer,
    /// The result of an earlier call.
    pub tool_result: unsafe extern "C" fn(Context, &ToolResultView<'_>) -> Answer,
    /// A record that is no message.
    pub event: unsafe extern "C" fn(Context, &EventView<'_>) -> Answer,
    /// A record of which no step is made.
    pub skip: unsafe extern "C" fn(Context, &SkipView<'_>) -> Answer,
    /// A sentence for the user.
    pub diagnostic: unsafe extern "C" fn(Context, &DiagnosticView<'_>) -> Answer,
    /// Why the call is about to end with a failure.
    pub fail: unsafe extern "C" fn(Context, RStr<'_>) -> Answer,
}

/// A sink as it crosses: the host's pointer and its functions, valid during the call only.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct SinkView<'a> {
    /// Handed back with each call.
    pub context: Context,
    /// The functions.
    pub table: &'a SinkTable,
}

/// What a lister calls: the host's functions.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct ListTable {
    /// One session.
    pub entry: unsafe extern "C" fn(Context, &EntryView<'_>) -> Answer,
    /// A sentence for the user; its path, when it is about one.
    pub diagnostic: unsafe extern "C" fn(Context, &DiagnosticView<'_>, RSlice<'_, u8>) -> Answer,
    /// Why the call is about to end with a failure.
    pub fail: unsafe extern "C" fn(Context, RStr<'_>) -> Answer,
}

/// A list sink as it crosses, valid during the call only.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct ListView<'a> {
    /// Handed back with each call.
    pub context: Context,
    /// The functions.
    pub table: &'a ListTable,
}

/// What every plugin exports.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = ProviderRef)))]
#[sabi(missing_field(panic))]
pub struct ProviderModule {
    /// The manifest's JSON.
    pub info: extern "C" fn() -> RStr<'static>,
    /// Lists sessions.
    pub sessions: extern "C" fn(&ListRequestView<'_>, &ListView<'_>) -> OutcomeView,
    /// How sure the plugin is that it reads this, from 0 to 100.
    pub detect: extern "C" fn(&DetectRequestView<'_>) -> u32,
    /// Reads one session.
    #[sabi(last_prefix_field)]
    pub read: extern "C" fn(&ReadRequestView<'_>, &SinkView<'_>) -> OutcomeView,
}

impl RootModule for ProviderRef {
    abi_stable::declare_root_module_statics! {ProviderRef}
    const BASE_NAME: &'static str = "toolpath_provider";
    const NAME: &'static str = "toolpath provider";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

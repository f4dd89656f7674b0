//! Closes the worker in, on Linux: landlock for files and network, seccomp for everything else that a reader has no
//! business with.
//!
//! What stays allowed: reading the session and its companions, opening the plugin's file and the system's libraries,
//! memory, the clock, and writing to the pipe. No other file, no network, no new process or thread, nothing written.

#![expect(unsafe_code, reason = "leaves the process without running what the plugin registered")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// Where the system keeps its libraries and what its loader needs to find them.
const SYSTEM: [&str; 9] = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/nix/store",
    "/gnu/store",
];

/// Says whether this system can close a worker in.
pub fn check() -> Result<(), String> {
    ruleset().and_then(|ruleset| ruleset.create().map_err(|err| err.to_string()))?;
    target().map(drop)
}

/// Closes this process in: it may open `plugin` and read what `readable` names, files or whole folders.
pub fn enter(plugin: &Path, readable: &[PathBuf]) -> Result<(), String> {
    let text = |err: landlock::RulesetError| format!("landlock: {err}");
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let open = read | AccessFs::Execute;
    let mut ruleset = ruleset()?.create().map_err(text)?;
    let system = SYSTEM.iter().map(|path| (PathBuf::from(path), open));
    let granted = readable.iter().map(|path| (path.clone(), read));
    for (path, access) in system.chain(granted).chain([(plugin.to_owned(), open)]) {
        // What is not there needs no grant.
        let Ok(fd) = PathFd::new(&path) else { continue };
        let access = if path.is_dir() { access } else { access & !AccessFs::ReadDir };
        ruleset = ruleset.add_rule(PathBeneath::new(fd, access)).map_err(text)?;
    }
    let status = ruleset.restrict_self().map_err(text)?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err("landlock is switched off on this system".to_owned());
    }
    for filter in [absent_calls()?, allowed_calls()?] {
        seccompiler::apply_filter(&filter).map_err(|err| format!("seccomp: {err}"))?;
    }
    Ok(())
}

/// Ends this process at once.
pub fn leave() -> ! {
    // SAFETY: takes no pointer and does not return.
    unsafe { libc::_exit(0) }
}

/// All file access that the first version of landlock knows has to be under control; what later versions add, where
/// this system has it.
fn ruleset() -> Result<Ruleset, String> {
    let text = |err: landlock::RulesetError| format!("landlock: {err}");
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .map_err(text)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))
        .map_err(text)?
        .handle_access(AccessNet::from_all(ABI::V5))
        .map_err(text)?
        .scope(Scope::from_all(ABI::V6))
        .map_err(text)
}

fn target() -> Result<TargetArch, String> {
    std::env::consts::ARCH.try_into().map_err(|_| format!("seccomp knows no {}", std::env::consts::ARCH))
}

fn filter(calls: &[i64], on_others: SeccompAction, on_these: SeccompAction) -> Result<BpfProgram, String> {
    compiled(calls.iter().map(|call| (*call, Vec::new())).collect(), on_others, on_these)
}

fn compiled(rules: Rules, on_others: SeccompAction, on_these: SeccompAction) -> Result<BpfProgram, String> {
    let filter = SeccompFilter::new(rules, on_others, on_these, target()?).map_err(|err| format!("seccomp: {err}"))?;
    filter.try_into().map_err(|err: seccompiler::BackendError| format!("seccomp: {err}"))
}

/// Calls of which libraries are told that this kernel has none, since they then do without.
fn absent_calls() -> Result<BpfProgram, String> {
    filter(&[libc::SYS_clone3], SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS as u32))
}

/// Calls that a reader needs; all others are answered with "not permitted".
fn allowed_calls() -> Result<BpfProgram, String> {
    let mut calls = vec![
        // Reading, by path and by descriptor; landlock says which paths.
        libc::SYS_openat,
        libc::SYS_openat2,
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_pread64,
        libc::SYS_preadv,
        libc::SYS_lseek,
        libc::SYS_close,
        libc::SYS_close_range,
        libc::SYS_dup,
        libc::SYS_fstat,
        libc::SYS_newfstatat,
        libc::SYS_statx,
        libc::SYS_statfs,
        libc::SYS_fstatfs,
        libc::SYS_getdents64,
        libc::SYS_readlinkat,
        libc::SYS_faccessat,
        libc::SYS_faccessat2,
        libc::SYS_getcwd,
        libc::SYS_fadvise64,
        libc::SYS_readahead,
        // The pipe.
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_ppoll,
        // Memory.
        libc::SYS_brk,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_mincore,
        // The ways out.
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_restart_syscall,
        // What the runtime asks about itself.
        libc::SYS_futex,
        libc::SYS_set_robust_list,
        libc::SYS_set_tid_address,
        libc::SYS_rseq,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_getrandom,
        libc::SYS_getpid,
        libc::SYS_getppid,
        libc::SYS_gettid,
        libc::SYS_getuid,
        libc::SYS_geteuid,
        libc::SYS_getgid,
        libc::SYS_getegid,
        libc::SYS_uname,
        libc::SYS_sysinfo,
        libc::SYS_getrusage,
        libc::SYS_times,
        libc::SYS_clock_gettime,
        libc::SYS_clock_getres,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_gettimeofday,
        // Answered by the other filter.
        libc::SYS_clone3,
    ];
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        libc::SYS_open,
        libc::SYS_stat,
        libc::SYS_lstat,
        libc::SYS_access,
        libc::SYS_readlink,
        libc::SYS_poll,
        libc::SYS_time,
        libc::SYS_arch_prctl,
        libc::SYS_getrlimit,
    ]);
    let mut rules: Rules = calls.iter().map(|call| (*call, Vec::new())).collect();
    rules.extend(allowed_in_part().map_err(|err| format!("seccomp: {err}"))?);
    compiled(rules, SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow)
}

/// Calls that a reader needs in some of their forms only.
fn allowed_in_part() -> Result<Rules, seccompiler::BackendError> {
    let is = |argument: u8, length, value: u64| SeccompCondition::new(argument, length, SeccompCmpOp::Eq, value);
    let word = |argument: u8, value: i32| is(argument, SeccompCmpArgLen::Dword, value.cast_unsigned().into());
    let own = std::process::id().cast_signed();
    let mut commands = Vec::new();
    // Copies and flags of its own descriptors; locks, by which databases are read whole. Not leases, owners or signals, which reach
    // other processes.
    for command in [
        libc::F_DUPFD,
        libc::F_DUPFD_CLOEXEC,
        libc::F_GETFD,
        libc::F_SETFD,
        libc::F_GETFL,
        libc::F_GETLK,
        libc::F_SETLK,
    ] {
        commands.push(SeccompRule::new(vec![word(1, command)?])?);
    }
    Ok(Rules::from([
        (libc::SYS_fcntl, commands),
        // Whether a descriptor is a terminal.
        (libc::SYS_ioctl, vec![SeccompRule::new(vec![is(1, SeccompCmpArgLen::Dword, libc::TCGETS)?])?]),
        // Its own limits may be asked for; nobody's may be changed.
        (libc::SYS_prlimit64, vec![SeccompRule::new(vec![word(0, 0)?, is(2, SeccompCmpArgLen::Qword, 0)?])?]),
        // An abort is a signal to itself.
        (libc::SYS_tgkill, vec![SeccompRule::new(vec![word(0, own)?])?]),
    ]))
}

/// For each call the forms of it that match; without any, all do.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Closes every descriptor but the three that the worker talks through: whoever started the host may have left others open, and
/// what is open already no rule about files keeps closed.
pub fn close_descriptors() {
    // SAFETY: takes no pointer; the worker has opened nothing yet that it would miss.
    unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
}

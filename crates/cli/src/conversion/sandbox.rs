//! Sandbox of a converter: limits of the process, no files, no network, no new privileges.
//!
//! The child confines itself before it reads its document. What a kernel lacks is left out: the
//! limits of the process are always there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

/// The most open files: the pipes, and what a program of the system opens.
const MAX_FILES: u64 = 64;

/// The most address space that is taken for that of the program.
const MAX_PROGRAM_BYTES: u64 = 1 << 30;

/// Folders with the programs, libraries, fonts and encodings of the system, for `pdftotext`.
const SYSTEM_FOLDERS: [&str; 6] = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/nix/store"];

/// What a program in a folder `bin` has beside it.
const BESIDE_PROGRAM: [&str; 3] = ["lib", "lib64", "share/poppler"];

/// What a converter never calls: the network, other processes, and the doors of the kernel.
const FORBIDDEN_CALLS: &[libc::c_long] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_sethostname,
    libc::SYS_settimeofday,
];

/// Confines this process, which may run `program` of the system.
pub(super) fn enter(memory: u64, seconds: u64, program: Option<&Path>) -> anyhow::Result<()> {
    // The server kills the group of this process; this is for a server that was killed itself.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let limits = [
        (Resource::As, memory.saturating_add(mapped_bytes())),
        (Resource::Cpu, seconds),
        (Resource::Fsize, 0),
        (Resource::Nofile, MAX_FILES),
        (Resource::Core, 0),
    ];
    for (limit, most) in limits {
        let both = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(limit, both).with_context(|| format!("cannot set the limit {limit:?}"))?;
    }
    confine_files(program)?;
    confine_calls(program.is_some())
}

/// The bytes of address space that the program itself takes before it reads a document. The limit of
/// memory is for the document: without this, a larger program would convert less.
fn mapped_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kib = size.and_then(|size| size.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    (kib.unwrap_or(0) << 10).min(MAX_PROGRAM_BYTES)
}

/// No files; for a program of the system, those of the system to read and run. Returns how much of it
/// the kernel enforces.
fn confine_files(program: Option<&Path>) -> anyhow::Result<RulesetStatus> {
    let abi = ABI::V6;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?;
    if let Some(program) = program {
        let access: BitFlags<AccessFs> = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
        let system = SYSTEM_FOLDERS.iter().map(PathBuf::from);
        for folder in system.chain(program_folders(program)) {
            if let Ok(folder) = PathFd::new(folder) {
                rules = rules.add_rule(PathBeneath::new(folder, access))?;
            }
        }
        // Standard input, output and errors of the program may be this.
        if let Ok(null) = PathFd::new("/dev/null") {
            rules =
                rules.add_rule(PathBeneath::new(null, AccessFs::ReadFile | AccessFs::WriteFile))?;
        }
    }
    Ok(rules.restrict_self()?.ruleset)
}

/// The folders of a program that is installed outside of the system's: its own, and those of its
/// libraries and encodings beside it.
fn program_folders(program: &Path) -> Vec<PathBuf> {
    // A link may lead to where the program is.
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let mut folders = Vec::new();
    for program in [program, &real] {
        let Some(own) = program.parent() else { continue };
        folders.push(own.to_owned());
        if let Some(prefix) = own.parent().filter(|_| own.ends_with("bin")) {
            folders.extend(BESIDE_PROGRAM.iter().map(|name| prefix.join(name)));
        }
    }
    folders
}

/// Forbidden system calls fail, as if the user had no right to them.
fn confine_calls(runs_programs: bool) -> anyhow::Result<()> {
    let Ok(architecture) = std::env::consts::ARCH.try_into() else { return Ok(()) };
    let starts_programs: &[libc::c_long] =
        if runs_programs { &[] } else { &[libc::SYS_execve, libc::SYS_execveat] };
    let forbidden = FORBIDDEN_CALLS.iter().chain(starts_programs);
    let calls: BTreeMap<_, _> = forbidden.map(|call| (*call, Vec::new())).collect();
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, refuse, architecture)?;
    let program: BpfProgram = filter.try_into()?;
    match seccompiler::apply_filter(&program) {
        // A kernel without the feature.
        Err(seccompiler::Error::Prctl(_) | seccompiler::Error::Seccomp(_)) => Ok(()),
        done => Ok(done?),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::net::{TcpListener, TcpStream};
    use std::process::Command;
    use std::thread;

    use landlock::RulesetStatus;

    use super::{confine_calls, confine_files};

    /// Both kinds of confinement are of one thread.
    #[test]
    fn a_converter_reaches_no_file_and_no_network_but_for_the_program_that_it_runs() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let files = confine_files(None).unwrap();
            confine_calls(false).unwrap();
            assert!(TcpStream::connect(address).is_err());
            assert!(Command::new("/bin/true").spawn().is_err());
            // A kernel may lack Landlock; the system calls are confined in any case.
            assert!(files == RulesetStatus::NotEnforced || File::open("/etc/passwd").is_err());
        })
        .join()
        .unwrap();
        // A program outside of the system's folders is run from its own.
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("bin/true");
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        std::fs::copy("/bin/true", &own).unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        thread::spawn(move || {
            let files = confine_files(Some(&own)).unwrap();
            assert!(Command::new(&own).status().unwrap().success());
            let secret = folder.path().join("secret");
            assert!(files == RulesetStatus::NotEnforced || File::open(secret).is_err());
            confine_calls(true).unwrap();
            assert!(Command::new("/bin/true").status().unwrap().success());
        })
        .join()
        .unwrap();
        assert!(File::open("/etc/passwd").is_ok(), "other threads are free");
    }
}

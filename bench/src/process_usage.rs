//! CPU time and memory of a process, read from `/proc`.

use std::{fs, time::Duration};

use anyhow::Context;

/// CPU time of a process, user plus system.
pub(crate) fn cpu(pid: u32) -> anyhow::Result<Duration> {
    ticks(&pid.to_string(), 11, ["utime", "stime"])
}

/// The sum of two adjacent tick counters of `/proc/PID/stat`.
fn ticks(process: &str, skip: usize, names: [&str; 2]) -> anyhow::Result<Duration> {
    let stat =
        fs::read_to_string(format!("/proc/{process}/stat")).context("read /proc/PID/stat")?;
    // The second field is the program's name and may hold spaces, so count from its end.
    let (_, rest) = stat.rsplit_once(')').context("read /proc/PID/stat")?;
    let mut fields = rest.split_whitespace().skip(skip);
    let mut ticks = 0;
    for name in names {
        let field = fields.next().with_context(|| format!("read {name}"))?;
        ticks += field.parse::<u64>().with_context(|| format!("read {name}"))?;
    }
    let nanos = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    Ok(Duration::from_nanos(ticks * nanos))
}

/// CPU time of all child processes that this process has waited for.
pub(crate) fn children_cpu() -> anyhow::Result<Duration> {
    ticks("self", 13, ["cutime", "cstime"])
}

/// CPU time of a young process: `cpu` counts only in hundredths of a second.
pub(crate) fn fine_cpu(pid: u32) -> anyhow::Result<Duration> {
    Ok(live_cpu(pid)?.max(cpu(pid)?))
}

/// CPU time of the live threads of a process, in nanoseconds.
pub(crate) fn live_cpu(pid: u32) -> anyhow::Result<Duration> {
    let mut nanos = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task")).context("read /proc/PID/task")? {
        let path = task.context("read /proc/PID/task")?.path().join("schedstat");
        // A thread may end between the two reads; only `cpu` includes its time then.
        let Ok(text) = fs::read_to_string(path) else { continue };
        let field = text.split_whitespace().next().unwrap_or("0");
        nanos += field.parse::<u64>().context("read schedstat")?;
    }
    Ok(Duration::from_nanos(nanos))
}

/// Current memory of a process, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessMemory {
    /// Resident memory, including shared pages.
    pub(crate) resident: u64,
    /// Private dirty pages.
    pub(crate) private: u64,
}

/// Reads the current memory of a process.
pub(crate) fn memory(pid: u32) -> anyhow::Result<ProcessMemory> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let rollup = fs::read_to_string(path).context("read /proc/PID/smaps_rollup")?;
    let resident = kib(&rollup, "Rss:")?;
    Ok(ProcessMemory { resident, private: kib(&rollup, "Private_Dirty:")? })
}

/// Peak resident memory of a process, in bytes.
pub(crate) fn peak_memory(pid: u32) -> anyhow::Result<u64> {
    status_field(pid, "VmHWM:")
}

/// Current memory of a process that no file backs, in bytes.
pub(crate) fn own_memory(pid: u32) -> anyhow::Result<u64> {
    status_field(pid, "RssAnon:")
}

/// Current memory of a process that files back, such as its program, in bytes.
pub(crate) fn file_memory(pid: u32) -> anyhow::Result<u64> {
    status_field(pid, "RssFile:")
}

/// A field of `/proc/PID/status`, in bytes.
fn status_field(pid: u32, name: &str) -> anyhow::Result<u64> {
    let status =
        fs::read_to_string(format!("/proc/{pid}/status")).context("read /proc/PID/status")?;
    kib(&status, name)
}

/// What a process has read from files and sockets, in bytes. Mapped files do not count.
pub(crate) fn read_bytes(pid: u32) -> anyhow::Result<u64> {
    let counters = fs::read_to_string(format!("/proc/{pid}/io")).context("read /proc/PID/io")?;
    let read = counters.lines().find_map(|line| line.strip_prefix("rchar:"));
    read.and_then(|read| read.trim().parse().ok()).context("read rchar")
}

/// Reads a `/proc` field in kB, as bytes.
fn kib(text: &str, name: &str) -> anyhow::Result<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib = kib.and_then(|kib| kib.parse::<u64>().ok());
    Ok(kib.with_context(|| format!("read {name}"))? * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_counters_of_this_process_are_readable() {
        let pid = std::process::id();
        let before = super::cpu(pid).unwrap();
        assert!(super::fine_cpu(pid).unwrap() >= before);
        let held = super::memory(pid).unwrap();
        assert!(held.private > 10_000 && held.private <= held.resident);
        assert!(super::peak_memory(pid).unwrap() > 100_000);
        let (own, file) = (super::own_memory(pid).unwrap(), super::file_memory(pid).unwrap());
        assert!(own.min(file) > 100_000 && own.max(file) <= super::peak_memory(pid).unwrap());
        let before = super::read_bytes(pid).unwrap();
        let length = std::fs::read(std::env::current_exe().unwrap()).unwrap().len();
        assert!(super::read_bytes(pid).unwrap() >= before + length as u64);
    }
}

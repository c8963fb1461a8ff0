//! The memory of the machine, or of the container that the program runs in.

use std::fs;

/// The share of the machine that requests and answers may hold, unless the settings say otherwise.
const SHARE: u64 = 4;

/// Used where the machine does not tell.
const FALLBACK: u64 = 1 << 30;

/// The default of `max_memory`.
pub(crate) fn default_limit() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let container = container.and_then(|text| text.trim().parse().ok());
    machine.into_iter().chain(container).min().map_or(FALLBACK, |bytes| bytes / SHARE)
}

/// The total in the text of `/proc/meminfo`, in bytes.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::{default_limit, total_of};

    #[test]
    fn the_total_is_read_as_the_kernel_writes_it() {
        let text = "MemTotal:       24620832 kB\nMemFree:        14620832 kB\n";
        assert_eq!(total_of(text), Some(24_620_832 * 1024));
        assert_eq!((total_of(""), total_of("MemTotal: x kB")), (None, None));
        assert!(default_limit() > 1 << 20);
    }
}

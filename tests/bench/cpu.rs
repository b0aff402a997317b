//! The CPU time that a process has used, and on which core it may use more.

use std::time::Duration;

/// User and system time of the process `pid` since it started.
pub(crate) fn used(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    // The command's name, in parentheses, may hold spaces: fields are counted from behind it.
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks: u64 = [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<u64>().ok()).sum();
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    Duration::from_micros(ticks * 1_000_000 / ticks_per_second)
}

/// Microseconds of `used` for each of `count`.
pub(crate) fn micros_each(used: Duration, count: u64) -> f64 {
    used.as_secs_f64() * 1e6 / count.max(1) as f64
}

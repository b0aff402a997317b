//! The CPU time that a process has used, and on which core it may use more.

use std::path::Path;
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

/// What a process has used, as the system's accounts and its scheduler say.
pub(crate) struct Used {
    /// On its own and on its behalf, to the nanosecond.
    pub(crate) all: Duration,
    /// On its own, in ticks.
    pub(crate) user: Duration,
}

impl std::ops::Sub for Used {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { all: self.all.saturating_sub(before.all), user: self.user.saturating_sub(before.user) }
    }
}

/// What all threads of the process `pid` have used since they started.
pub(crate) fn exact(pid: u32) -> Used {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process runs");
    let times = tasks.filter_map(|task| on_core(&task.ok()?.path()));
    Used { all: times.sum(), user: user(pid) }
}

/// What this thread has used since it started.
pub(crate) fn of_this_thread() -> Duration {
    on_core(Path::new("/proc/thread-self")).expect("this thread runs")
}

fn on_core(task: &Path) -> Option<Duration> {
    let stat = std::fs::read_to_string(task.join("schedstat")).ok()?;
    stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn user(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    let field = stat.rsplit(") ").next().unwrap_or_default().split(' ').nth(11);
    let ticks: u64 = field.and_then(|field| field.parse().ok()).unwrap_or_default();
    Duration::from_micros(ticks * 1_000_000 / rustix::param::clock_ticks_per_second())
}

/// Microseconds of `used` for each of `count`.
pub(crate) fn micros_each(used: Duration, count: u64) -> f64 {
    used.as_secs_f64() * 1e6 / count.max(1) as f64
}

//! What a member is told about the time, and how long its disk takes: `meddle.c`, compiled here, is loaded into its process.
//!
//! No namespace has a wall clock of its own, and to slow a disk down takes root and a disk to spare. A library that stands between
//! a process and the C library takes neither. It holds up flushes, which are what consensus waits for; reads and writes that go to the
//! page cache are as fast as ever.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};

const SOURCE: &str = include_str!("meddle.c");

/// The places of the orders in the file, and of the counts of what was done because of them: `struct orders` in `meddle.c`.
const CLOCK_OFF_MS: u64 = 0;
const FLUSH_TAKES_MS: u64 = 8;
const CLOCKS_READ: u64 = 16;
const FLUSHES: u64 = 24;
const LENGTH: u64 = 32;

/// The orders to one process, whatever its life is.
pub(crate) struct Orders {
    file: File,
}

/// Compiles the library into `directory`.
pub(crate) fn library(directory: &Path) -> anyhow::Result<PathBuf> {
    let (source, library) = (directory.join("meddle.c"), directory.join("meddle.so"));
    std::fs::write(&source, SOURCE)?;
    let output = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .output()
        .context("'cc' (a C compiler) cannot be started")?;
    ensure!(output.status.success(), "meddle.c: {}", String::from_utf8_lossy(&output.stderr));
    Ok(library)
}

impl Orders {
    /// Orders of nothing in a new file at `path`; and the environment of the process that is to follow them.
    pub(crate) fn new(path: PathBuf, library: &Path) -> anyhow::Result<(Self, Vec<(&'static str, PathBuf)>)> {
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        file.set_len(LENGTH)?;
        let environment = vec![("LD_PRELOAD", library.to_owned()), ("WAYMARK_NEMESIS_ORDERS", path)];
        Ok((Self { file }, environment))
    }

    /// Its wall clock is off by so much from now on.
    pub(crate) fn set_clock_off(&self, ms: i64) {
        self.set(CLOCK_OFF_MS, ms);
    }

    /// Each of its flushes takes so much longer from now on.
    pub(crate) fn set_flush_takes(&self, longer: Duration) {
        self.set(FLUSH_TAKES_MS, i64::try_from(longer.as_millis()).unwrap_or(i64::MAX));
    }

    /// How often it has read a clock that was off.
    pub(crate) fn clocks_read(&self) -> i64 {
        self.get(CLOCKS_READ)
    }

    /// How many of its flushes were held up.
    pub(crate) fn flushes(&self) -> i64 {
        self.get(FLUSHES)
    }

    fn set(&self, at: u64, value: i64) {
        self.file.write_all_at(&value.to_ne_bytes(), at).expect("a file of ours can be written");
    }

    fn get(&self, at: u64) -> i64 {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, at).expect("a file of ours can be read");
        i64::from_ne_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_believes_the_clock_that_is_ordered_and_waits_for_its_disk() {
        let directory = tempfile::tempdir().unwrap();
        let library = library(directory.path()).unwrap();
        let (orders, environment) = Orders::new(directory.path().join("orders"), &library).unwrap();
        let told = |program: &str, argument: &str| {
            let told = Command::new(program).arg(argument).envs(environment.clone()).output().unwrap();
            String::from_utf8(told.stdout).unwrap()
        };
        let seconds = || told("date", "+%s.%N").trim().parse::<f64>().unwrap();
        let now = seconds();
        assert_eq!(orders.clocks_read(), 0);
        // Far more than a test takes, and not whole seconds.
        for (off_ms, from, to) in [(9_000_250, 9_000.25, 18_000.0), (-9_000_250, -9_000.25, 0.0)] {
            orders.set_clock_off(off_ms);
            let off = seconds() - now;
            assert!((from..to).contains(&off), "{off_ms}: {off}");
        }
        assert_eq!(orders.clocks_read(), 2);

        let longer = Duration::from_millis(300);
        orders.set_flush_takes(longer);
        let begun = std::time::Instant::now();
        told("sync", &directory.path().display().to_string());
        assert!(begun.elapsed() >= longer);
        assert_eq!(orders.flushes(), 1);
    }
}

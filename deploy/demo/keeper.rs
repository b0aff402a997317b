//! Cleans up after a demo that could not do so itself: kill -9 leaves members that end by their closed input, and a
//! directory that nobody would remove.
//!
//! The keeper is a process of its own. Its standard input says which processes belong to the demo, a line for each, and
//! reaches its end when the demo is gone, however it went.

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use harness::within;

/// How long the members may take to drain.
const DRAIN_LIMIT: Duration = Duration::from_secs(10);

/// The demo's side of its keeper.
pub(crate) struct Keeper {
    child: Child,
    input: Option<ChildStdin>,
}

impl Keeper {
    /// Starts a keeper for `directory`.
    pub(crate) fn start(directory: &Path) -> Self {
        let own = std::env::current_exe().expect("the system knows this executable");
        let mut child = Command::new(own)
            .arg("--keep")
            .arg(directory)
            .stdin(Stdio::piped())
            .spawn()
            .expect("the demo's own executable starts");
        let input = child.stdin.take();
        Self { child, input }
    }

    /// Tells it of one more process.
    pub(crate) fn tell(&mut self, pid: u32) {
        if let Some(input) = &mut self.input {
            // A keeper that is gone keeps nothing; the demo goes on.
            let _ = writeln!(input, "{pid}");
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// The keeper's own work.
pub(crate) fn keep(directory: &Path) {
    // A Ctrl-C in the terminal reaches this process too, and so does the terminal's end; it has to outlive the demo.
    let ignored = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let _guard = ignored.enter();
    let _term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    let _int = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    let _hangup = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup());
    let pids: Vec<String> = std::io::stdin().lock().lines().map_while(Result::ok).collect();
    let alive = |pid: &String| Path::new("/proc").join(pid).exists();
    let _ = within(DRAIN_LIMIT, || if pids.iter().any(alive) { Err(String::new()) } else { Ok(()) });
    let _ = std::fs::remove_dir_all(directory);
}

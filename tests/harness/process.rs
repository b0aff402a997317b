//! A process under test: started with its output in a file, ended by its own id, and with the test that started it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

use crate::eventually::{eventually, within};

/// A running process.
#[derive(Debug)]
pub struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `binary` with `arguments`; what it writes goes to `log`, behind what is there.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(binary: &str, arguments: &[String], log: &Path) -> Self {
        Self::start_with(binary, arguments, &[], log)
    }

    /// The same, with variables in its environment beside those of this process.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start_with(
        binary: &str,
        arguments: &[String],
        environment: &[(&str, PathBuf)],
        log: &Path,
    ) -> Self {
        let output = || File::options().create(true).append(true).open(log).expect("the log can be written");
        let child = Command::new(crate::binary::path(binary))
            .args(arguments)
            // The process ends when the pipe closes, however this process comes to its end.
            .arg("--exit-when-stdin-closes")
            .envs(environment.iter().map(|(name, path)| (name, path)))
            .stdin(Stdio::piped())
            .stdout(output())
            .stderr(output())
            .spawn()
            .expect("the binary starts");
        Self { child, log: log.to_owned() }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        let pid =
            i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a child has a process id");
        // It may have ended by itself: then there is nobody to tell.
        let _ = kill_process(pid, signal);
    }

    /// Ends it as a crash would (kill -9) and waits until it is gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end (TERM) and waits.
    ///
    /// # Panics
    /// When it is still there after the deadline.
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// Waits until it has ended by itself.
    ///
    /// # Panics
    /// When it is still there after the deadline.
    pub fn wait(&mut self) -> ExitStatus {
        let log = self.log.clone();
        eventually(&format!("the process that logs to {} ends", log.display()), || {
            self.ended().ok_or("it runs".into())
        })
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be waited for")
    }

    /// What it has written.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended().is_some() {
            return;
        }
        drop(self.child.stdin.take());
        let drained = within(Duration::from_millis(200), || self.ended().ok_or_else(String::new));
        if drained.is_err() {
            self.kill();
        }
    }
}

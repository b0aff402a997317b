//! A pseudo-terminal with the CLI at it, as a person sees and drives it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::cli::Cli;
use crate::eventually::{claim, eventually};

/// A run of the CLI at a terminal; ended when it is dropped.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Runs the words of `command` at a terminal of `columns` and `rows`.
    ///
    /// # Panics
    /// When there is no terminal to be had or the CLI cannot be started.
    pub fn run(cli: &Cli, command: &str, columns: u16, rows: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let near = openpt(flags).expect("a pseudo-terminal can be had");
        grantpt(&near).and_then(|()| unlockpt(&near)).expect("it is ours");
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&near, size).expect("it takes a size");
        let far = ioctl_tiocgptpeer(&near, flags).expect("it has another end");
        let end = || far.try_clone().expect("descriptors can be copied");
        let prefix = cli.prefix();
        let child = Command::new(&prefix[0])
            .args(&prefix[1..])
            .args(crate::cli::words(command))
            .env_remove("NO_COLOR")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("the CLI starts");
        let screen = Arc::default();
        let keyboard = File::from(near.try_clone().expect("descriptors can be copied"));
        watch(near, Arc::clone(&screen));
        Self { child, keyboard, screen }
    }

    /// Everything that was written to the terminal so far.
    pub fn written(&self) -> String {
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&screen).into_owned()
    }

    /// Waits until `text` has been written.
    ///
    /// # Panics
    /// When it does not come.
    pub fn shows(&self, text: &str) {
        eventually(&format!("the terminal shows '{text}'"), || {
            let written = self.written();
            claim(written.contains(text), written)
        });
    }

    /// Types `text`.
    ///
    /// # Panics
    /// When nobody is at the other end.
    pub fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("the terminal takes what is typed");
    }

    /// How the run ended.
    ///
    /// # Panics
    /// When it does not end.
    pub fn ended(&mut self) -> ExitStatus {
        eventually("the run at the terminal ends", || {
            self.child.try_wait().expect("a child can be waited for").ok_or("it runs".into())
        })
    }
}

/// Gathers what is written until the other end is closed, which is an error here.
fn watch(near: OwnedFd, screen: Arc<Mutex<Vec<u8>>>) {
    let mut near = File::from(near);
    std::thread::spawn(move || {
        let mut chunk = [0; 4_096];
        while let Ok(length @ 1..) = near.read(&mut chunk) {
            screen.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&chunk[..length]);
        }
    });
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

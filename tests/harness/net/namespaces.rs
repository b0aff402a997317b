//! From a process among others to one that may make hosts: with a network and mounts of its own.

use std::process::Command;

use anyhow::Context;

/// What a machine must have for hosts to be made on it.
pub const NEEDS: &str = "Linux with user namespaces or as root, util-linux, iproute2, and a /dev/net/tun that may be opened (in a \
                         container: its device, and the rights to make namespaces and mounts)";

/// The beginning of a command line that starts what follows in namespaces: as root by right, as anybody else as root of a user
/// namespace.
///
/// # Errors
/// When this machine makes none.
pub fn unshare() -> anyhow::Result<Command> {
    let is_root = rustix::process::geteuid().is_root();
    let user: &[&str] = if is_root { &[] } else { &["--user", "--map-root-user"] };
    let unshare = || {
        let mut unshare = Command::new("unshare");
        unshare.args(user).args(["--net", "--mount"]);
        unshare
    };
    let tried = unshare().arg("true").output().context("'unshare' (util-linux) cannot be started")?;
    anyhow::ensure!(
        tried.status.success(),
        "this machine makes no network namespaces for {}: {}; needed are {NEEDS}",
        if is_root { "root" } else { "its users" },
        String::from_utf8_lossy(&tried.stderr).trim()
    );
    Ok(unshare())
}

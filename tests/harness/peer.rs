//! Other people's name servers, as Debian packages them: to be compared with, and to be asked by.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A process that ends with its owner.
#[derive(Debug)]
pub struct Running(pub Child);

impl Running {
    /// Starts `program`; what it writes goes to the file `log` in `directory`.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(program: &Path, arguments: &[String], directory: &Path) -> Self {
        let log = fs::File::create(directory.join("log")).expect("a file can be made");
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a descriptor can be had"))
            .stderr(log)
            .spawn();
        Self(child.expect("the program starts"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where Debian's package `package` puts its server `name`.
///
/// # Panics
/// When it is not there; says how to get it.
pub fn installed(name: &str, package: &str) -> PathBuf {
    let path = Path::new("/usr/sbin").join(name);
    assert!(
        path.exists(),
        "{name} is missing: `make checkers` installs Debian's package '{package}', or do it by hand"
    );
    path
}

/// Writes into `directory` what Knot needs in order to serve `zone`, whose file has `text`, on `address` with one thread
/// for each purpose. Returns the arguments to start `knotd` with.
///
/// # Panics
/// When the files cannot be written.
pub fn knot(directory: &Path, address: SocketAddr, zone: &str, text: &str) -> Vec<String> {
    let (dir, ip, port) = (directory.display(), address.ip(), address.port());
    let config = format!(
        "server:
    rundir: {dir}
    listen: {ip}@{port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
zone:
  - domain: {zone}
    file: {dir}/zone
    storage: {dir}
    journal-content: none
    zonefile-load: whole
"
    );
    let path = directory.join("knot.conf");
    fs::write(directory.join("zone"), text).expect("a file can be written");
    fs::write(&path, config).expect("a file can be written");
    vec!["-c".to_owned(), path.display().to_string()]
}

//! A test in namespaces of its own: it starts itself again in them.

use std::process::Stdio;

use super::namespaces::unshare;

/// Set in the process that has namespaces of its own.
const ALONE: &str = "WAYMARK_TEST_ALONE";

/// Does `body` in a process of its own that may make hosts. `name` is that of the test that calls this, as `cargo test` prints it.
///
/// # Panics
/// When `body` does, with all that was said in it, or when the machine makes no namespaces.
pub fn alone(name: &str, body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let mut command = unshare().unwrap_or_else(|error| panic!("{error:#}"));
    let own = std::env::current_exe().expect("the system knows this executable");
    command.arg(own).args([name, "--exact", "--nocapture"]).env(ALONE, "1").stdin(Stdio::null());
    let output = command.output().expect("unshare starts");
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{wrong}");
    assert!(said.contains("1 passed"), "'{name}' is not the name of a test: {said}");
}

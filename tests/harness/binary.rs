//! Where the binaries under test are: beside the test's own, in cargo's target directory.

use std::path::PathBuf;

/// The path of the binary `name`.
///
/// # Panics
/// When it is not built; says how to build it.
pub fn path(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("the system knows this executable");
    // A test is in deps/ or examples/ below the profile's directory, the demo right in it.
    let mut directory = own.parent().expect("an executable is in a directory");
    if directory.ends_with("deps") || directory.ends_with("examples") {
        directory = directory.parent().expect("deps is in the profile's directory");
    }
    let path = directory.join(name);
    assert!(path.exists(), "{} is not built: run 'cargo build --workspace' first", path.display());
    path
}

//! The project's Rust files, as git knows them or, without git, as they lie there.

use std::path::{Path, PathBuf};

/// One file.
pub(crate) struct SourceFile {
    /// Its path from the project's root.
    pub(crate) path: String,
    /// What is in it.
    pub(crate) text: String,
}

/// The project's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the root").to_owned()
}

/// Every Rust file.
pub(crate) fn sources() -> Vec<SourceFile> {
    let mut found = Vec::new();
    for folder in ["node", "proto", "probe-agent", "tests", "deploy"] {
        collect(&root().join(folder), &mut found);
    }
    assert!(found.len() > 20, "the tree was not found");
    found
}

fn collect(folder: &Path, found: &mut Vec<SourceFile>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder's entry can be read").path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file is text");
            let path = path.strip_prefix(root()).expect("it is below the root").display().to_string();
            found.push(SourceFile { path, text });
        }
    }
}

/// Fails with every file that is `wrong`, what `detail` says of it, and the `advice`.
pub(crate) fn report(
    advice: &str,
    wrong: impl Fn(&SourceFile) -> bool,
    detail: impl Fn(&SourceFile) -> String,
) {
    let files = sources();
    let list: Vec<String> = files
        .iter()
        .filter(|file| wrong(file))
        .map(|file| format!("{} {}", file.path, detail(file)))
        .collect();
    assert!(list.is_empty(), "{advice}:\n{}", list.join("\n"));
}

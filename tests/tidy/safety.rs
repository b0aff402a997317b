//! SEC-7: no line of ours is unsafe, and nothing can switch the lint that holds it off.

use super::tree;

/// Every package of the workspace.
const PACKAGES: [&str; 7] =
    ["node/core", "node/process", "proto", "node", "node/cli", "probe-agent", "tests"];

#[test]
fn sec_7_no_package_may_be_unsafe() {
    let manifest = |path: &str| std::fs::read_to_string(tree::root().join(path).join("Cargo.toml")).unwrap();
    let workspace = manifest(".");
    assert!(workspace.contains("unsafe_code = \"deny\""), "the workspace's lints no longer deny unsafe code");
    for package in PACKAGES {
        let listed = workspace.contains(&format!("\"{package}\""));
        assert!(listed, "{package} is no package of the workspace any more: take it out here");
        let inherits = manifest(package).contains("[lints]\nworkspace = true");
        assert!(inherits, "{package}/Cargo.toml does not take the workspace's lints");
    }
    let members = workspace.split_once("members = [").and_then(|(_, rest)| rest.split_once(']'));
    let members = members.map(|(members, _)| members.matches('"').count() / 2);
    assert_eq!(members, Some(PACKAGES.len()), "the workspace has a package that is not held to this");
}

/// The lint is not to be switched off in the source; and what is built apart, as the fuzzers, has no such code either.
#[test]
fn sec_7_nothing_is_unsafe_or_allowed_to_be() {
    // Put together here, so that this file does not hold what it looks for.
    let word = ["un", "safe"].concat();
    let banned =
        ["_code", " {", " fn", " impl", " trait", " extern", "("].map(|rest| format!("{word}{rest}"));
    let found = |file: &tree::SourceFile| {
        let lines = file.text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        let wrong = lines.filter(|line| banned.iter().any(|banned| line.contains(banned)));
        wrong.map(str::to_owned).collect::<Vec<_>>()
    };
    let is_wrong =
        |file: &tree::SourceFile| !file.path.ends_with("tidy/safety.rs") && !found(file).is_empty();
    tree::report("no line is unsafe, and nobody may allow one (SEC-7)", is_wrong, |file| {
        found(file).join("; ")
    });
}

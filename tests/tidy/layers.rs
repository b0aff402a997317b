//! Who may know whom.

use super::tree;

/// What core may be built with: nothing that waits, reads a clock, draws a number or knows a wire.
const CORE_MAY: [&str; 6] = ["foldhash", "imbl", "sha2", "thiserror", "strsim", "proptest"];

#[test]
fn core_is_pure() {
    let manifest = std::fs::read_to_string(tree::root().join("node/core/Cargo.toml")).unwrap();
    let dependencies =
        manifest.lines().filter_map(|line| line.split_once(".workspace = true")).map(|(name, _)| name);
    let package_keys = ["version", "edition", "rust-version", "license", "publish"];
    let foreign: Vec<&str> =
        dependencies.filter(|name| !package_keys.contains(name) && !CORE_MAY.contains(name)).collect();
    assert!(foreign.is_empty(), "core may not depend on {foreign:?}: it only computes");
}

/// A package, and the packages of ours that it may be built with: one direction (ARCHITECTURE.md).
const PACKAGES: [(&str, &[&str]); 6] = [
    ("node/core", &[]),
    ("node/process", &["waymark-core"]),
    ("proto", &["waymark-core"]),
    ("node", &["waymark-core", "waymark-process", "waymark-proto"]),
    ("node/cli", &["waymark-core", "waymark-process", "waymark-proto"]),
    ("probe-agent", &["waymark-core", "waymark-process", "waymark-proto"]),
];

#[test]
fn packages_look_one_way() {
    for (package, may) in PACKAGES {
        let path = tree::root().join(package).join("Cargo.toml");
        let manifest = std::fs::read_to_string(&path).unwrap();
        let ours = manifest.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
        let foreign: Vec<&str> =
            ours.filter(|name| name.starts_with("waymark-") && !may.contains(name)).collect();
        assert!(foreign.is_empty(), "{} may not depend on {foreign:?}", path.display());
    }
}

/// In `node/src`: a folder and the file of its name, and what they may not name.
const NODE_FORBIDS: [(&str, &[&str]); 10] = [
    ("enrolment", &["crate::ingest", "crate::admin", "crate::dns", "crate::web", "openraft", "sled::"]),
    (
        "raft",
        &["crate::ingest", "crate::enrolment", "crate::admin", "crate::dns", "crate::web", "crate::flatten"],
    ),
    ("ingest", &["crate::enrolment", "crate::admin", "crate::dns", "crate::web", "openraft", "sled::"]),
    ("admin", &["crate::ingest", "crate::enrolment", "crate::dns", "crate::web", "openraft", "sled::"]),
    (
        "dns",
        &[
            "crate::ingest",
            "crate::enrolment",
            "crate::admin",
            "crate::web",
            "crate::raft",
            "openraft",
            "sled::",
        ],
    ),
    ("web", &["crate::ingest", "crate::enrolment", "crate::admin", "crate::dns", "openraft", "sled::"]),
    ("flatten", &["crate::ingest", "crate::admin", "crate::dns", "crate::web", "openraft", "sled::"]),
    ("geo", &["crate::raft", "crate::ingest", "crate::admin", "crate::dns", "crate::web"]),
    ("record_text", &["crate::raft", "crate::ingest", "crate::admin", "crate::dns", "crate::web"]),
    ("config", &["crate::raft", "crate::ingest", "crate::admin", "crate::dns", "crate::web"]),
];

#[test]
fn the_doors_of_a_node_do_not_know_each_other() {
    for (folder, forbidden) in NODE_FORBIDS {
        let (prefix, root) = (format!("node/src/{folder}/"), format!("node/src/{folder}.rs"));
        let advice = format!("{root} and files in {prefix} may not name {forbidden:?}");
        let is_meant = |file: &tree::SourceFile| file.path.starts_with(&prefix) || file.path == root;
        let named = |file: &tree::SourceFile| forbidden.iter().any(|word| file.text.contains(word));
        tree::report(&advice, |file| is_meant(file) && named(file), |_| String::new());
    }
}

/// In core: a folder or file, and the later layers that it may not name.
const CORE_FORBIDS: [(&str, &[&str]); 5] = [
    (
        "model/",
        &["crate::geo", "crate::health", "crate::state", "crate::routing", "crate::answer", "crate::explain"],
    ),
    ("geo/", &["crate::health", "crate::state", "crate::routing", "crate::answer", "crate::explain"]),
    ("health/", &["crate::state", "crate::routing", "crate::answer", "crate::explain"]),
    ("state/", &["crate::answer", "crate::explain"]),
    ("routing/", &["crate::explain"]),
];

#[test]
fn the_layers_of_core_look_one_way() {
    for (folder, forbidden) in CORE_FORBIDS {
        let prefix = format!("node/core/src/{folder}");
        let advice = format!("{prefix} may not name {forbidden:?} outside its tests");
        let named = |file: &tree::SourceFile| {
            let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
            forbidden.iter().any(|word| code.contains(word))
        };
        tree::report(
            &advice,
            |file| file.path.starts_with(&prefix) && !file.path.ends_with("tests.rs") && named(file),
            |_| String::new(),
        );
    }
}

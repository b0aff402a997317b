//! Who may know whom.

use super::tree;

/// What core may be built with: nothing that waits, reads a clock, draws a number or knows a wire.
const CORE_MAY: [&str; 4] = ["imbl", "thiserror", "strsim", "proptest"];

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

/// In `node/src`: a folder, and what its files may not name.
const NODE_FORBIDS: [(&str, &[&str]); 6] = [
    ("raft", &["crate::ingest", "crate::admin", "crate::dns", "crate::web"]),
    ("ingest", &["crate::admin", "crate::dns", "crate::web", "openraft", "sled::"]),
    ("admin", &["crate::ingest", "crate::dns", "crate::web", "openraft", "sled::"]),
    ("dns", &["crate::ingest", "crate::admin", "crate::web", "crate::raft", "openraft", "sled::"]),
    ("web", &["crate::ingest", "crate::admin", "crate::dns", "openraft", "sled::"]),
    ("config", &["crate::raft", "crate::ingest", "crate::admin", "crate::dns", "crate::web"]),
];

#[test]
fn the_doors_of_a_node_do_not_know_each_other() {
    for (folder, forbidden) in NODE_FORBIDS {
        let prefix = format!("node/src/{folder}/");
        let advice = format!("files in {prefix} may not name {forbidden:?}");
        let named = |file: &tree::SourceFile| forbidden.iter().any(|word| file.text.contains(word));
        tree::report(&advice, |file| file.path.starts_with(&prefix) && named(file), |_| String::new());
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

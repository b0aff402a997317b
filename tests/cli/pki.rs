//! SEC-1: `waymark pki`, as the page on security shows it, and what its files are good for.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Runs the CLI's words in `directory`.
fn run(directory: &Path, command: &str) -> Output {
    let words = command.split(' ').filter(|word| !word.is_empty());
    let run = Command::new(harness::binary::path("waymark")).args(words).current_dir(directory).output();
    run.expect("the CLI starts")
}

fn ok(directory: &Path, command: &str) -> String {
    let output = run(directory, command);
    assert!(output.status.success(), "waymark {command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn json(directory: &Path, command: &str) -> Value {
    serde_json::from_str(&ok(directory, &format!("{command} -o json"))).expect("JSON")
}

#[test]
fn sec_1_every_command_of_the_security_page_works() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let commands = crate::manual::commands("security.md");
    assert!(commands.len() >= 8, "{commands:?}");
    for command in commands {
        ok(directory.path(), &command);
    }
    let shown = ok(directory.path(), "pki show pki/authority.pem");
    assert!(shown.contains("authority of 'example.com'") && shown.contains("revoked: "), "{shown}");
}

#[test]
fn sec_1_what_is_issued_is_told_and_nothing_is_overwritten() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let dir = directory.path();
    let made = json(dir, "pki init pki --trust-domain example.com");
    assert_eq!((&made["kind"], &made["trustDomain"]), (&"Authority".into(), &"example.com".into()));
    std::fs::create_dir(dir.join("a1")).expect("a directory can be made");
    let issued = json(dir, "pki issue pki agent a1 --region aws:eu-central-1 --for 12h --into a1");
    assert_eq!(issued["identity"], "spiffe://example.com/agent/aws.eu-central-1/a1");
    let file = issued["certificate"].as_str().expect("a path");
    let shown = json(dir, &format!("pki show {file}"));
    assert_eq!(shown["certificates"][0]["serial"], issued["serial"]);
    assert_eq!(shown["certificates"][0]["subject"], issued["identity"]);
    for (command, code, words) in [
        ("pki init pki --trust-domain example.com", 1, "never overwritten"),
        ("pki init other --trust-domain Example.com", 1, "no trust domain"),
        ("pki issue pki agent a1 --region aws:eu-central-1 --into a1", 1, "never overwritten"),
        ("pki issue pki agent a2", 1, "region"),
        ("pki issue pki member m1 --region eu", 1, "only an agent"),
        ("pki issue pki member m/1", 1, "m/1"),
        ("pki issue pki root m1", 64, "root"),
        ("pki issue pki member m1 --for 90", 1, "'90' is no lifetime"),
        ("pki issue nowhere member m1", 1, "waymark pki init"),
        ("pki revoke pki xyz", 1, "no serial number"),
        ("pki revoke pki pki/authority.pem", 1, "no identity"),
        ("pki show pki/authority.key", 1, "no certificate"),
        ("status --key pki/authority.key", 64, "--certificate is missing"),
        ("status --endpoint https://127.0.0.1:7400", 64, "--certificate"),
        ("status --endpoint http://192.0.2.1:7400", 64, "loopback"),
    ] {
        let output = run(dir, command);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "waymark {command}: {said}");
        assert!(said.contains(words), "waymark {command}: {said}");
    }
}

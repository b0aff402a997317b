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
    ok(dir, "pki issue pki member m9");
    ok(dir, "pki init other --trust-domain example.com");
    for (command, code, words) in [
        ("pki init pki --trust-domain example.com", 1, "never overwritten"),
        ("pki init third --trust-domain Example.com", 1, "--trust-domain 'Example.com' is no trust domain"),
        ("pki issue pki agent a1 --region aws:eu-central-1 --into a1", 1, "never overwritten"),
        ("pki issue pki agent a2", 1, "--region is missing"),
        ("pki issue pki agent a2 --region e/u", 1, "--region 'e/u' has a character"),
        ("pki issue pki member m1 --region eu", 1, "--region 'eu': only an agent"),
        ("pki issue pki member m/1", 1, "NAME 'm/1' has a character"),
        ("pki issue pki root m1", 64, "root"),
        ("pki issue pki member m1 --for 90", 1, "'90' is no lifetime"),
        ("pki issue nowhere member m1", 1, "waymark pki init"),
        ("pki issue pki member m1 --for 3650d", 1, "--for 3650d: the identity would outlast its authority"),
        ("pki revoke pki xyz", 1, "'xyz' is neither a file nor a serial number"),
        (
            "pki revoke pki 0a0b",
            1,
            "'0a0b' is not the serial number of an identity that this authority has issued",
        ),
        ("pki revoke pki pki/authority.pem", 1, "no identity"),
        ("pki revoke other pki/member-m9.pem", 1, "has not issued it"),
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

/// Whoever can read its key, or put another in its place, is the authority: refused, with the command that mends it.
#[test]
fn sec_1_an_authority_that_is_open_to_everybody_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let dir = directory.path();
    ok(dir, "pki init pki --trust-domain example.com");
    let allow = |path: &str, mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(dir.join(path), mode).expect("it can be set");
    };
    let refusal = |command: &str| {
        let output = run(dir, command);
        assert_eq!(output.status.code(), Some(1), "waymark {command}");
        String::from_utf8(output.stderr).expect("text")
    };
    allow("pki/authority.key", 0o644);
    let said = refusal("pki issue pki member m1");
    assert!(said.contains("chmod 600 pki/authority.key"), "{said}");
    std::fs::create_dir(dir.join("open")).expect("a directory can be made");
    allow("open", 0o777);
    let said = refusal("pki init open --trust-domain example.com");
    assert!(said.contains("chmod 755 open"), "{said}");
}

/// SEC-1: what is wrong with a connection is said in words of certificates and ports, not of libraries.
#[test]
fn sec_1_a_connection_that_fails_says_why_in_plain_words() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let dir = directory.path();
    ok(dir, "pki init pki --trust-domain example.com");
    ok(dir, "pki issue pki operator alice");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    // It hears what is said, and hangs up: the way of a proxy that does not know the name.
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = std::io::Read::read(&mut stream, &mut [0; 1024]);
        }
    });
    let status = |files: &str| {
        let output = run(dir, &format!("status --endpoint https://{address} --timeout 2s {files}"));
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    };
    let own = "--certificate pki/operator-alice.pem --key pki/operator-alice.key";
    let (code, said) = status(&format!("{own} --authority pki/authority.pem"));
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains("closed the connection before it had accepted it"), "{said}");
    for (files, words) in [
        (
            format!("{own} --authority pki/operator-alice.pem"),
            "none of the authorities that are trusted here",
        ),
        (
            "--certificate pki/authority.pem --key pki/authority.key --authority pki/authority.pem".into(),
            "is no identity",
        ),
    ] {
        let (code, said) = status(&files);
        assert!(code == Some(4) && said.contains(words), "{code:?} {said}");
        for foreign in ["close_notify", "CaUsed", "UsedAsCa", "UnknownIssuer", "rustls"] {
            assert!(!said.contains(foreign), "{said}");
        }
    }
}

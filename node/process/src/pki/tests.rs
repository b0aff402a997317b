//! An authority from its making to what it takes back.

use std::os::unix::fs::PermissionsExt;

use std::path::Path;
use std::time::Duration;

use super::*;
use crate::identity::Role;

fn role(word: &str, region: Option<&str>, name: &str) -> Role {
    Role::new(word, region, name).unwrap()
}

#[test]
fn sec_1_an_authority_issues_what_can_be_shown_again() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().join("pki");
    let authority = Authority::create(&dir, "example.com").unwrap();
    let issued = authority.issue(role("agent", Some("aws:eu"), "a1"), LIFETIME, &dir).unwrap();
    assert_eq!(issued.identity.to_string(), "spiffe://example.com/agent/aws.eu/a1");
    assert_eq!(issued.certificate, dir.join("agent-aws.eu-a1.pem"));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(&issued.key), mode(&dir.join(AUTHORITY_KEY))], [0o600, 0o600]);

    let (shown, revoked) = describe(&std::fs::read(&issued.certificate).unwrap()).unwrap();
    assert_eq!((shown.len(), revoked.len()), (1, 0));
    assert_eq!(shown[0].subject, Subject::Identity(issued.identity.clone()));
    assert_eq!((&shown[0].serial, shown[0].expires), (&issued.serial, issued.expires));
    assert_eq!(shown[0].expires - shown[0].begins, LIFETIME.as_secs() + 300);
    let (shown, _) = describe(&std::fs::read(dir.join(AUTHORITY)).unwrap()).unwrap();
    assert_eq!(shown[0].subject, Subject::Authority("example.com".into()));

    let again = Authority::open(&dir).unwrap();
    assert_eq!(again.trust_domain, "example.com");
    assert_eq!(again.revoke(&issued.serial).unwrap(), 1);
    assert_eq!(again.revoke(&issued.serial).unwrap(), 1, "twice is once");
    let other = authority.issue(role("viewer", None, "wall"), LIFETIME, &dir).unwrap();
    let spaced = other.serial.as_bytes().chunks(2).map(String::from_utf8_lossy).collect::<Vec<_>>().join(":");
    assert_eq!(again.revoke(&spaced).unwrap(), 2);
    let (shown, revoked) = describe(&std::fs::read(dir.join(AUTHORITY)).unwrap()).unwrap();
    assert_eq!((shown.len(), revoked), (1, vec![issued.serial, other.serial]));
    assert_eq!(Authority::open(&dir).unwrap().trust_domain, "example.com");
}

#[test]
fn sec_1_no_key_is_overwritten_and_nothing_is_half_made() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let authority = Authority::create(dir, "x").unwrap();
    let before = std::fs::read(dir.join(AUTHORITY_KEY)).unwrap();
    assert!(matches!(Authority::create(dir, "x"), Err(PkiError::Exists(_))));
    assert_eq!(std::fs::read(dir.join(AUTHORITY_KEY)).unwrap(), before);
    let member = || authority.issue(role("member", None, "m1"), LIFETIME, dir);
    let issued = member().unwrap();
    let key = std::fs::read(&issued.key).unwrap();
    assert!(matches!(member(), Err(PkiError::Exists(_))));
    assert_eq!(std::fs::read(&issued.key).unwrap(), key);
    let long = authority.issue(role("viewer", None, "v"), LIFETIME * 50, dir);
    assert!(long.unwrap_err().to_string().contains("outlast"));
    let names =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, ["authority.key", "authority.pem", "issued.txt", "member-m1.key", "member-m1.pem"]);
    assert!(Authority::create(&dir.join("y"), "No Domain").is_err());
    assert!(Authority::open(&dir.join("z")).unwrap_err().to_string().contains("waymark pki init"));
    assert!(authority.revoke("xyz").is_err() && authority.revoke("").is_err());
}

#[test]
fn sec_1_an_authority_takes_back_only_what_it_has_issued() {
    let directory = tempfile::tempdir().unwrap();
    let (dir, beside) = (directory.path().join("pki"), directory.path().join("other"));
    let authority = Authority::create(&dir, "x").unwrap();
    let stranger = Authority::create(&beside, "x").unwrap();
    let before = std::fs::read(dir.join(AUTHORITY)).unwrap();
    let foreign = stranger.issue(role("operator", None, "eve"), LIFETIME, &beside).unwrap();
    let refused = authority.revoke_file(&foreign.certificate).unwrap_err().to_string();
    assert!(refused.contains("operator-eve.pem") && refused.contains("has not issued it"), "{refused}");
    for serial in [&foreign.serial, "0a0b"] {
        let refused = authority.revoke(serial).unwrap_err().to_string();
        assert!(refused.contains(serial) && refused.contains(ISSUED), "{refused}");
    }
    assert_eq!(std::fs::read(dir.join(AUTHORITY)).unwrap(), before, "nothing was changed");

    let own = authority.issue(role("operator", None, "eve"), LIFETIME, &dir).unwrap();
    // As if it had been issued before there was a record.
    std::fs::remove_file(dir.join(ISSUED)).unwrap();
    assert!(authority.revoke(&own.serial).is_err());
    assert_eq!(authority.revoke_file(&own.certificate).unwrap(), (own.serial, 1));
    assert_eq!(authority.revoke_file(&own.certificate).unwrap().1, 1, "twice is once");
}

#[test]
fn sec_1_an_authority_that_everybody_could_be_is_refused_with_its_mending() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().join("pki");
    Authority::create(&dir, "x").unwrap();
    let allow = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let refusal = || Authority::open(&dir).unwrap_err().to_string();
    let key = dir.join(AUTHORITY_KEY);
    allow(&key, 0o644);
    assert!(
        refusal().contains(&format!("(mode 0644), and so be the authority; chmod 600 {}", key.display()))
    );
    allow(&key, 0o640);
    allow(&dir, 0o777);
    assert!(refusal().contains(&format!("chmod 755 {}", dir.display())));
    allow(&dir, 0o775);
    Authority::open(&dir).unwrap();
}

#[test]
fn lifetimes_have_units() {
    assert_eq!(lifetime("90d"), Ok(LIFETIME));
    assert_eq!(lifetime("12h"), Ok(Duration::from_secs(43_200)));
    for text in ["", "d", "90", "0d", "30s", "3651d", "-1d", "1y"] {
        assert!(lifetime(text).unwrap_err().contains("90d"), "{text}");
    }
}

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
    assert_eq!(again.revoke("0a:0b").unwrap(), 2);
    let (shown, revoked) = describe(&std::fs::read(dir.join(AUTHORITY)).unwrap()).unwrap();
    assert_eq!((shown.len(), revoked), (1, vec![issued.serial, "0a0b".to_owned()]));
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
    assert_eq!(names, ["authority.key", "authority.pem", "member-m1.key", "member-m1.pem"]);
    assert!(Authority::create(&dir.join("y"), "No Domain").is_err());
    assert!(Authority::open(&dir.join("z")).unwrap_err().to_string().contains("waymark pki init"));
    assert!(authority.revoke("xyz").is_err() && authority.revoke("").is_err());
}

#[test]
fn lifetimes_have_units() {
    assert_eq!(lifetime("90d"), Ok(LIFETIME));
    assert_eq!(lifetime("12h"), Ok(Duration::from_secs(43_200)));
    for text in ["", "d", "90", "0d", "30s", "3651d", "-1d", "1y"] {
        assert!(lifetime(text).unwrap_err().contains("90d"), "{text}");
    }
}

//! SEC-4: what is sealed is read again with its key and for its header, and in no other way.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;

const VALUE: &str = "Bearer topsecret";

fn keys(directory: &Path, name: &str, content: &str) -> Result<Keys, PkiError> {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    Keys::open(&path)
}

fn made(directory: &Path, name: &str) -> (PathBuf, Keys) {
    let path = directory.join(name);
    Keys::create(&path).unwrap();
    let keys = Keys::open(&path).unwrap();
    (path, keys)
}

#[test]
fn sec_4_a_secret_is_read_with_its_key_and_never_looks_alike() {
    let directory = tempfile::tempdir().unwrap();
    let (path, keys) = made(directory.path(), "secret.key");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let sealed = keys.seal("Authorization", VALUE).unwrap();
    assert!(!sealed.windows(6).any(|bytes| VALUE.as_bytes().windows(6).any(|part| part == bytes)));
    assert_ne!(sealed, keys.seal("Authorization", VALUE).unwrap(), "the nonce is another one");
    assert_eq!(keys.unseal("authorization", &sealed).as_deref(), Ok(VALUE), "case does not count in names");
    assert_eq!(keys.unseal("X-Other", &sealed), Err(UnsealError::Damaged), "it stays with its header");
    assert_eq!(keys.seal("A", "").map(|empty| keys.unseal("A", &empty)), Ok(Ok(String::new())));
    let debug = format!("{keys:?}");
    let secret = std::fs::read_to_string(&path).unwrap();
    assert!(!debug.contains(secret.trim()) && debug.contains(&keys.ids().next().unwrap()), "{debug}");
}

#[test]
fn sec_4_a_flipped_bit_or_a_cut_is_no_secret() {
    let directory = tempfile::tempdir().unwrap();
    let (_, keys) = made(directory.path(), "secret.key");
    let sealed = keys.seal("A", VALUE).unwrap();
    for place in 0..sealed.len() {
        let mut flipped = sealed.clone();
        flipped[place] ^= 1;
        assert!(keys.unseal("A", &flipped).is_err(), "byte {place}");
        assert!(keys.unseal("A", &sealed[..place]).is_err(), "cut at {place}");
    }
}

#[test]
fn sec_4_an_old_key_reads_and_the_first_one_writes() {
    let directory = tempfile::tempdir().unwrap();
    let (old_path, old) = made(directory.path(), "old.key");
    let (new_path, new) = made(directory.path(), "new.key");
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    let both = format!("# new\n{}\n{} # old\n", text(&new_path), text(&old_path).trim());
    let both = keys(directory.path(), "both.key", &both).unwrap();
    assert_eq!(both.ids().collect::<Vec<_>>(), [new.ids().next().unwrap(), old.ids().next().unwrap()]);
    let before = old.seal("A", VALUE).unwrap();
    assert_eq!(both.unseal("A", &before).as_deref(), Ok(VALUE));
    let after = both.seal("A", VALUE).unwrap();
    assert_eq!(new.unseal("A", &after).as_deref(), Ok(VALUE));
    let missing = old.ids().next().map(UnsealError::UnknownKey);
    assert_eq!(new.unseal("A", &before).err(), missing);
    assert_eq!(Keys::default().seal("A", VALUE), Err(NoKey));
    assert!(Keys::default().unseal("A", &before).is_err());
}

#[test]
fn sec_4_a_key_file_that_is_none_or_is_open_is_refused_without_its_content() {
    let directory = tempfile::tempdir().unwrap();
    let good = "0123456789abcdef".repeat(4);
    for (content, words) in [
        (String::new(), "there is no key in it"),
        (format!("{good}\n{}x\n", &good[1..]), "line 2 is no key"),
        (format!("{good}00\n"), "line 1 is no key"),
        (format!("{good}\n").repeat(KEYS_MAX + 1), "it has 9 keys"),
    ] {
        let refused = keys(directory.path(), "wrong.key", &content).unwrap_err().to_string();
        assert!(refused.contains(words) && refused.contains("wrong.key"), "{refused}");
        assert!(!refused.contains(&good[1..]), "{refused}");
    }
    let missing = Keys::open(&directory.path().join("none.key")).unwrap_err().to_string();
    assert!(missing.contains("cannot be read"), "{missing}");
    let path = directory.path().join("open.key");
    std::fs::write(&path, good).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let open = Keys::open(&path).unwrap_err().to_string();
    assert!(open.contains("mode 0644") && open.contains("chmod 600"), "{open}");
    let again = Keys::create(&path).unwrap_err().to_string();
    assert!(again.contains("never overwritten"), "{again}");
}

#[test]
fn sec_4_the_key_of_an_authority_stays_with_its_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let (_, keys) = made(directory.path(), "secret.key");
    let sealed = keys.seal_authority(b"certificate", "topsecret").unwrap();
    assert_eq!(keys.unseal_authority(b"certificate", &sealed).as_deref(), Ok("topsecret"));
    assert_eq!(keys.unseal_authority(b"another", &sealed), Err(UnsealError::Damaged));
    assert_eq!(keys.unseal("certificate", &sealed), Err(UnsealError::Damaged), "it is no header's value");
    let header = keys.seal("certificate", "topsecret").unwrap();
    assert_eq!(keys.unseal_authority(b"certificate", &header), Err(UnsealError::Damaged));
    assert_eq!(Keys::default().seal_authority(b"certificate", "topsecret"), Err(NoKey));
}

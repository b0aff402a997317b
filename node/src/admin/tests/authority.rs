//! SEC-1, SEC-4: an authority is judged by what it would issue, encrypted before it is proposed, and its key shown to nobody; of a
//! join token nothing but a hash is known.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tonic::Code;
use waymark_core::state::TokenHash;
use waymark_process::identity::{Identity, Role};
use waymark_process::pki::{
    AUTHORITY, AUTHORITY_KEY, Authority, FreshKey, Issuing, LIFETIME, SigningRequest,
};
use waymark_process::secrets::Keys;
use waymark_process::tls::{CredentialFiles, Credentials};
use waymark_proto::admin::v1::{
    CreateJoinTokenRequest, DeleteRequest, GetAuthorityRequest, InstallAuthorityRequest, ListRequest, Page,
    UninstallAuthorityRequest,
};

use super::fixture::{Fixture, faults};

const REALM: &str = "waymark.test";

/// A member with a key for secrets that believes the authority in its directory.
struct Stage {
    fixture: Fixture,
    keys: Keys,
    dir: TempDir,
}

fn credentials(authority: &Authority, dir: &Path) -> Arc<Credentials> {
    let issued = authority.issue(Role::new("member", None, "m1").unwrap(), LIFETIME, dir).unwrap();
    let keys = ["tls_certificate", "tls_key", "tls_authority"];
    let (certificate, key, authority) = (issued.certificate, issued.key, dir.join(AUTHORITY));
    Credentials::open(CredentialFiles { keys, certificate, key, authority }).unwrap()
}

impl Stage {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::create(dir.path(), REALM).unwrap();
        let path = dir.path().join("secret.key");
        Keys::create(&path).unwrap();
        let open = || Keys::open(&path).unwrap();
        let known_by = Some(credentials(&authority, dir.path()));
        let fixture = Fixture::known_by(known_by, Default::default(), open()).await;
        fixture.double.found();
        fixture.set_region("eu");
        Self { fixture, keys: open(), dir }
    }
}

/// What asks for the authority in `dir`.
fn request(dir: &Path, lifetime_s: u64) -> InstallAuthorityRequest {
    let read = |name: &str| std::fs::read(dir.join(name)).unwrap().into();
    InstallAuthorityRequest {
        certificates: read(AUTHORITY),
        key: read(AUTHORITY_KEY),
        lifetime_s,
        write: None,
    }
}

#[tokio::test]
async fn sec_1_an_installed_authority_issues_and_its_key_is_nowhere() {
    let Stage { fixture, keys, dir } = Stage::new().await;
    let get = async || fixture.authority().get_authority(GetAuthorityRequest { read: None }).await;
    assert_eq!(get().await.unwrap_err().code(), Code::NotFound);
    fixture.authority().install_authority(request(dir.path(), 3_600)).await.unwrap();
    let state = fixture.double.state();
    let installed = state.enrolment.authority.clone().unwrap();
    let shown = get().await.unwrap().into_inner();
    assert!(shown.subject.contains("Waymark authority of waymark.test") && shown.usable, "{shown:?}");
    assert_eq!((shown.fingerprint.len(), shown.lifetime_s), (64, 3_600));

    let key = std::fs::read_to_string(dir.path().join(AUTHORITY_KEY)).unwrap();
    let body = key.lines().nth(1).unwrap();
    let records: Vec<u8> = waymark_proto::convert::snapshot_records(&state)
        .flat_map(|record| prost::Message::encode_to_vec(&record))
        .collect();
    assert!(!records.windows(body.len()).any(|window| window == body.as_bytes()));
    assert!(!format!("{shown:?} {state:?}").contains(body));
    let issuing = Issuing::unseal(&installed, &keys).unwrap();
    let request = FreshKey::draw().unwrap().signing_request().unwrap();
    let role = Role::new("agent", Some("eu"), "a1").unwrap();
    let identity = Identity { trust_domain: REALM.into(), role };
    let request = SigningRequest::read(&request).unwrap();
    issuing.issue(&request, &identity, Duration::from_secs(60)).unwrap();
    assert!(Issuing::unseal(&installed, &Keys::default()).err().unwrap().contains("is not in this member's"));

    fixture.authority().uninstall_authority(UninstallAuthorityRequest { write: None }).await.unwrap();
    assert_eq!(get().await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn sec_1_an_authority_that_nobody_would_believe_is_refused() {
    let Stage { fixture, keys: _, dir } = Stage::new().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let at = |name: &str| elsewhere.path().join(name);
    Authority::create(&at("same"), REALM).unwrap();
    Authority::create(&at("other"), "other.test").unwrap();
    let own = request(dir.path(), 60);
    let foreign_key = request(&at("same"), 60).key;
    let certificate = std::fs::read(dir.path().join("member-m1.pem")).unwrap();
    for (request, words) in [
        (request(&at("same"), 60), "certificates: the authorities that this member trusts"),
        (request(&at("other"), 60), "certificates: it is the authority of 'other.test'"),
        (InstallAuthorityRequest { key: foreign_key, ..own.clone() }, "certificates: the key is not the one"),
        (
            InstallAuthorityRequest { key: "topsecret".into(), ..own.clone() },
            "certificates: the key is no private",
        ),
        (InstallAuthorityRequest { key: vec![0xff].into(), ..own.clone() }, "key: is no text"),
        (InstallAuthorityRequest { certificates: certificate.into(), ..own.clone() }, "is no authority's"),
        (InstallAuthorityRequest { certificates: "x".into(), ..own.clone() }, "certificates: there is no"),
        (
            InstallAuthorityRequest { lifetime_s: 4_000_000_000, ..own.clone() },
            "for: 4000000000 s is outside",
        ),
        (InstallAuthorityRequest { lifetime_s: 9, ..own.clone() }, "for: 9 s is outside"),
    ] {
        let refused = fixture.authority().install_authority(request).await.unwrap_err();
        let told = faults(&refused).concat();
        assert!(told.contains(words) && !told.contains("topsecret"), "{words}: {told}");
    }
    assert!(fixture.double.state().enrolment.authority.is_none());
    let plain = Fixture::founded().await;
    let refused = plain.authority().install_authority(own.clone()).await.unwrap_err();
    assert!(faults(&refused)[0].contains("plain text"), "{refused}");
    let known_by = Some(credentials(&Authority::open(dir.path()).unwrap(), {
        std::fs::remove_file(dir.path().join("member-m1.pem")).unwrap();
        std::fs::remove_file(dir.path().join("member-m1.key")).unwrap();
        dir.path()
    }));
    let keyless = Fixture::known_by(known_by, Default::default(), Keys::default()).await;
    keyless.double.found();
    let refused = keyless.authority().install_authority(own).await.unwrap_err();
    assert!(faults(&refused)[0].starts_with("key: this member has nothing to encrypt it with"), "{refused}");
}

#[tokio::test]
async fn sec_1_join_tokens_are_made_listed_and_taken_back_by_their_hash() {
    let Stage { fixture, keys: _, dir } = Stage::new().await;
    fixture.authority().install_authority(request(dir.path(), 3_600)).await.unwrap();
    let make = |secret: &str, hash: Option<Vec<u8>>| {
        let hash = hash.unwrap_or_else(|| TokenHash::of(secret.as_bytes()).0.to_vec()).into();
        let (agent, region) = ("a1".into(), "EU".into());
        CreateJoinTokenRequest { hash, agent, region, span_ms: 60_000, write: None }
    };
    for secret in ["one", "two", "three"] {
        fixture.agents().create_join_token(make(secret, None)).await.unwrap();
    }
    let refused = fixture.agents().create_join_token(make("", Some(vec![1; 31]))).await.unwrap_err();
    assert_eq!(faults(&refused), ["hash: is no SHA-256 of 32 bytes"]);
    let (mut ids, mut token) = (Vec::new(), String::new());
    loop {
        let request = ListRequest { page: Some(Page { size: 2, token }), read: None };
        let page = fixture.agents().list_join_tokens(request).await.unwrap().into_inner();
        ids.extend(
            page.tokens.into_iter().map(|token| (token.id, token.agent, token.region, token.redeemed)),
        );
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    let mut wanted = ["one", "two", "three"].map(|secret| TokenHash::of(secret.as_bytes()).id());
    wanted.sort();
    let wanted = wanted.map(|id| (id, "a1".to_owned(), "eu".to_owned(), false));
    assert_eq!(ids, wanted);
    let delete = |name: &str| DeleteRequest { name: name.into(), write: None };
    fixture.agents().delete_join_token(delete(&ids[1].0)).await.unwrap();
    let refused = fixture.agents().delete_join_token(delete(&ids[1].0)).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    assert_eq!(fixture.double.state().enrolment.tokens.len(), 2);
    let trail = format!("{:?}", fixture.double.state().audit);
    assert!(
        trail.contains("make join token")
            && trail.contains("EU/a1")
            && trail.contains("take back join token")
    );
}

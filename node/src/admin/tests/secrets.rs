//! SEC-4: a secret header is encrypted before it is proposed, and shown to nobody.

use prost_types::FieldMask;
use waymark_core::model::{Caseless, HeaderValue};
use waymark_process::secrets::Keys;
use waymark_proto::admin::v1::{
    CreateEndpointRequest, Endpoint, GetRequest, Header, Monitor, Profile, UpdateEndpointRequest,
    UpdateProfileRequest,
};

use super::fixture::{Fixture, endpoint, faults, web};

const SECRET: &str = "Bearer topsecret";

fn secret(name: &str, value: &str) -> Header {
    Header { name: name.into(), value: value.into(), secret: true, ..Header::default() }
}

fn keys() -> (Keys, Keys) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("secret.key");
    Keys::create(&path).unwrap();
    (Keys::open(&path).unwrap(), Keys::open(&path).unwrap())
}

/// A cluster whose profile `web` has a secret on its monitor and on its first endpoint, and its keys.
async fn with_secrets() -> (Fixture, Keys) {
    let (given, kept) = keys();
    let fixture = Fixture::with_keys(Default::default(), given).await;
    fixture.double.found();
    fixture.create_zone("tm.example.com").await;
    let mut profile = web();
    profile.monitor.get_or_insert_default().headers = vec![secret("Authorization", SECRET)];
    let plain = Header { name: "X-Plain".into(), value: "seen".into(), ..Header::default() };
    profile.endpoints[0].headers = vec![plain, secret("X-Key", SECRET)];
    fixture.create_profile(profile).await.unwrap();
    (fixture, kept)
}

async fn shown(fixture: &Fixture) -> Profile {
    let request = GetRequest { name: "web".into(), read: None };
    fixture.profiles().get_profile(request).await.unwrap().into_inner()
}

fn update(profile: Profile, paths: Option<&[&str]>) -> UpdateProfileRequest {
    let mask = paths.map(|paths| FieldMask { paths: paths.iter().map(ToString::to_string).collect() });
    UpdateProfileRequest { profile: Some(profile), update_mask: mask, write: None }
}

#[tokio::test]
async fn sec_4_the_state_has_secrets_encrypted_and_reads_have_none() {
    let (fixture, keys) = with_secrets().await;
    let state = fixture.double.state();
    let profile = state.profile(&Caseless::new("web")).unwrap();
    let headers = profile.monitor.headers.iter().chain(&profile.endpoints[0].headers);
    let values: Vec<Option<String>> = headers
        .map(|header| match &header.value {
            HeaderValue::Plain(text) => Some(text.clone()),
            HeaderValue::Secret(_) => None,
            HeaderValue::Sealed(bytes) => keys.unseal(&header.name, bytes).ok(),
        })
        .collect();
    assert_eq!(values, [Some(SECRET.to_owned()), Some("seen".into()), Some(SECRET.into())]);
    let records: Vec<u8> = waymark_proto::convert::snapshot_records(&state)
        .flat_map(|record| prost::Message::encode_to_vec(&record))
        .collect();
    let has = |text: &[u8]| records.windows(text.len()).any(|window| window == text);
    assert!(has(b"seen") && !has(b"topsecret"));

    let profile = shown(&fixture).await;
    let hidden = secret("Authorization", "***");
    assert_eq!(profile.monitor.unwrap().headers, [hidden]);
    let seen = Header { name: "X-Plain".into(), value: "seen".into(), ..Header::default() };
    assert_eq!(profile.endpoints[0].headers, [seen, secret("X-Key", "***")]);
}

#[tokio::test]
async fn sec_4_what_was_read_can_be_written_back_unless_it_names_the_secrets() {
    let (fixture, _) = with_secrets().await;
    let before = fixture.double.state().profile(&Caseless::new("web")).unwrap().monitor.headers.clone();
    let profile = Profile { ttl_seconds: Some(77), ..shown(&fixture).await };
    fixture.profiles().update_profile(update(profile.clone(), Some(&["ttl_seconds"]))).await.unwrap();
    let after = fixture.double.state().profile(&Caseless::new("web")).unwrap().clone();
    assert_eq!((after.ttl, &after.monitor.headers), (Some(77), &before));
    let mut plain = profile.clone();
    plain.monitor.get_or_insert_default().headers[0].secret = false;
    for profile in [profile, plain] {
        let refused = fixture.profiles().update_profile(update(profile, Some(&["monitor.headers"]))).await;
        assert_eq!(
            faults(&refused.unwrap_err()),
            [
                "monitor.headers[0].value: '***' is what reads show in the place of a value, and none: give the value itself"
            ]
        );
    }
    let after = fixture.double.state().profile(&Caseless::new("web")).unwrap().monitor.headers.clone();
    assert_eq!(after, before, "the secret is kept");
}

#[tokio::test]
async fn sec_4_a_secret_that_cannot_be_kept_is_refused_without_its_value() {
    let (fixture, _) = with_secrets().await;
    let sealed = Header { sealed: vec![1; 60].into(), ..secret("X-A", "") };
    let request = CreateEndpointRequest {
        profile: "web".into(),
        endpoint: Some(Endpoint {
            headers: vec![
                secret("X-A", "geheim\n"),
                secret("Host", "geheim.example"),
                sealed,
                secret("X B", "geheim"),
            ],
            ..endpoint("three", "192.0.2.3")
        }),
        write: None,
    };
    let refused = fixture.endpoints().create_endpoint(request).await.unwrap_err();
    let told = faults(&refused);
    for words in [
        "headers[0].value: has a control character",
        "headers[1].value: cannot be a secret",
        "headers[2].sealed: is the members' own",
        "headers[3].name: 'X B' has a character",
    ] {
        assert!(told.iter().any(|fault| fault.starts_with(words)), "{words}: {told:?}");
    }
    assert!(!told.concat().contains("geheim"), "{told:?}");

    let bare = Fixture::furnished().await;
    let monitor = Monitor { headers: vec![secret("X-A", SECRET)], ..Monitor::default() };
    let profile = Profile { name: "web".into(), monitor: Some(monitor), ..Profile::default() };
    let refused = bare.profiles().update_profile(update(profile, None)).await.unwrap_err();
    let told = faults(&refused);
    assert!(told[0].starts_with("monitor.headers[0].value: this member has no key"), "{told:?}");
    assert!(!told.concat().contains(SECRET), "{told:?}");
    let one = Endpoint { headers: vec![secret("X-A", SECRET)], ..endpoint("one", "") };
    let request =
        UpdateEndpointRequest { profile: "web".into(), endpoint: Some(one), update_mask: None, write: None };
    assert!(bare.endpoints().update_endpoint(request).await.is_err());
}

//! Profiles, method by method, and what a partial update leaves alone.

use prost_types::FieldMask;
use tonic::Code;
use waymark_core::state::{Action, ApplyLevel};
use waymark_proto::admin::v1::{
    CreateProfileRequest, DeleteRequest, GetRequest, Header, ListRequest, Monitor, Page, Profile, Protocol,
    Routing, StatusRange, UpdateProfileRequest,
};

use super::fixture::{Fixture, at_revision, faults, faulty_fields, web};

fn get(name: &str) -> GetRequest {
    GetRequest { name: name.into(), read: None }
}

fn update(profile: Profile, paths: &[&str]) -> UpdateProfileRequest {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    UpdateProfileRequest { profile: Some(profile), update_mask: Some(FieldMask { paths }), write: None }
}

/// A profile with every field set to something that is not its default.
fn changed() -> Profile {
    let monitor = Monitor {
        protocol: Protocol::Https.into(),
        port: Some(8443),
        path: Some("/health".into()),
        interval_ms: Some(10_000),
        timeout_ms: Some(6_000),
        tolerated_failures: Some(5),
        recovery_successes: Some(2),
        expect: vec![StatusRange { min: 200, max: 299 }],
        headers: vec![Header { name: "Host".into(), value: "web.example.org".into(), ..Header::default() }],
    };
    Profile {
        name: "web".into(),
        routing: Routing::Weighted.into(),
        ttl_seconds: Some(300),
        max_return: Some(5),
        flatten: Some(true),
        max_removal_percent: Some(20),
        removal_window_ms: Some(45_000),
        enabled: Some(false),
        monitor: Some(monitor),
        ..Profile::default()
    }
}

/// Takes from `changed` the one field that `path` names.
fn with_field(profile: &Profile, path: &str) -> Profile {
    let mut result = profile.clone();
    let (source, monitor) = (changed(), changed().monitor.unwrap());
    let target = result.monitor.as_mut().unwrap();
    match path {
        "routing" => result.routing = source.routing,
        "ttl_seconds" => result.ttl_seconds = source.ttl_seconds,
        "max_return" => result.max_return = source.max_return,
        "flatten" => result.flatten = source.flatten,
        "max_removal_percent" => result.max_removal_percent = source.max_removal_percent,
        "removal_window_ms" => result.removal_window_ms = source.removal_window_ms,
        "enabled" => result.enabled = source.enabled,
        "monitor.protocol" => target.protocol = monitor.protocol,
        "monitor.port" => target.port = monitor.port,
        "monitor.path" => target.path = monitor.path,
        "monitor.interval_ms" => target.interval_ms = monitor.interval_ms,
        "monitor.timeout_ms" => target.timeout_ms = monitor.timeout_ms,
        "monitor.tolerated_failures" => target.tolerated_failures = monitor.tolerated_failures,
        "monitor.recovery_successes" => target.recovery_successes = monitor.recovery_successes,
        "monitor.expect" => target.expect = monitor.expect,
        "monitor.headers" => target.headers = monitor.headers,
        other => panic!("{other} is not in this table"),
    }
    result
}

#[tokio::test]
async fn val_2_an_update_changes_the_field_that_it_names_and_nothing_else() {
    let fixture = Fixture::furnished().await;
    fixture.double.commit(Action::RaiseApplyLevel { to: ApplyLevel::HIGHEST });
    let mut profiles = fixture.profiles();
    for path in waymark_proto::convert::PROFILE_PATHS {
        let before = profiles.get_profile(get("web")).await.unwrap().into_inner();
        let request = update(changed(), &[path]);
        let written = profiles.update_profile(request).await.expect(path).into_inner();
        let after = profiles.get_profile(get("web")).await.unwrap().into_inner();
        let mut expected = Profile { revision: written.revision, ..with_field(&before, path) };
        for (endpoint, now) in expected.endpoints.iter_mut().zip(&after.endpoints) {
            // Says which check counts, not what was wished.
            endpoint.check_revision = now.check_revision;
        }
        assert_eq!(after, expected, "F-API-01, {path}");
        assert_ne!(Profile { revision: before.revision, ..after }, before, "F-API-02, {path}");
    }
}

#[tokio::test]
async fn f_api_02_what_is_given_at_creation_is_shown() {
    let fixture = Fixture::founded().await;
    fixture.create_zone("tm.example.com").await;
    let given = Profile { monitor: changed().monitor, ..web() };
    let created = fixture.create_profile(given.clone()).await.unwrap();
    let shown = fixture.profiles().get_profile(get("WEB")).await.unwrap().into_inner();
    assert_eq!((shown.monitor, shown.routing), (given.monitor, given.routing));
    assert_eq!(shown.revision, created.revision);
    let targets: Vec<&str> = shown.endpoints.iter().map(|endpoint| endpoint.target.as_str()).collect();
    assert_eq!(targets, ["192.0.2.1", "192.0.2.2"]);
}

#[tokio::test]
async fn val_3_a_path_that_does_not_exist_is_refused_with_the_nearest_that_does() {
    let fixture = Fixture::furnished().await;
    let request = update(changed(), &["monitor.intervall_ms", "ttl_seconds"]);
    let refused = fixture.profiles().update_profile(request).await.unwrap_err();
    let faults = faults(&refused);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0].contains("monitor.intervall_ms") && faults[0].contains("'monitor.interval_ms'"),
        "{faults:?}"
    );
}

#[tokio::test]
async fn val_1_faults_of_the_message_and_of_the_rules_come_together() {
    let fixture = Fixture::furnished().await;
    let before = fixture.double.state();
    let mut bad = Profile { name: "other".into(), relative_name: "other".into(), routing: 99, ..web() };
    bad.monitor = Some(Monitor { protocol: 77, port: Some(70_000), ..Monitor::default() });
    bad.endpoints[1].weight = Some(1_001);
    let write = Some(waymark_proto::admin::v1::WriteOptions {
        request_id: vec![1, 2, 3].into(),
        if_revision: Some(1),
        wait_all: false,
    });
    let request = CreateProfileRequest { profile: Some(bad), write };
    let refused = fixture.profiles().create_profile(request).await.unwrap_err();
    let mut fields = faulty_fields(&refused);
    fields.sort();
    assert_eq!(
        fields,
        [
            "endpoints[1].weight",
            "monitor.port",
            "monitor.protocol",
            "routing",
            "write.if_revision",
            "write.request_id"
        ]
    );
    assert_eq!(fixture.double.state(), before, "nothing is stored");
}

#[tokio::test]
async fn obj_8_a_change_of_something_older_is_refused_with_both_numbers() {
    let fixture = Fixture::furnished().await;
    let mut profiles = fixture.profiles();
    let old = profiles.get_profile(get("web")).await.unwrap().into_inner().revision;
    let new =
        profiles.update_profile(update(changed(), &["ttl_seconds"])).await.unwrap().into_inner().revision;

    // F-CLU-17: whoever planned on what was there before must look again.
    let request = UpdateProfileRequest { write: at_revision(old), ..update(changed(), &["enabled"]) };
    let refused = profiles.update_profile(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::Aborted);
    assert!(refused.message().contains(&old.to_string()), "{refused}");
    assert!(refused.message().contains(&new.to_string()), "{refused}");
    let delete = DeleteRequest { name: "web".into(), write: at_revision(old) };
    assert_eq!(profiles.delete_profile(delete).await.unwrap_err().code(), Code::Aborted);

    let request = UpdateProfileRequest { write: at_revision(new), ..update(changed(), &["enabled"]) };
    profiles.update_profile(request).await.unwrap();
}

#[tokio::test]
async fn what_a_profile_may_not_be_is_said_by_code() {
    let fixture = Fixture::furnished().await;
    let exists = fixture.create_profile(Profile { name: "Web".into(), ..web() }).await.unwrap_err();
    assert!(matches!(exists.code(), Code::AlreadyExists), "{exists}");
    let mut profiles = fixture.profiles();
    let missing = profiles.get_profile(get("wbe")).await.unwrap_err();
    assert_eq!(missing.code(), Code::NotFound);
    assert!(missing.message().contains("did you mean 'web'"), "VAL-3: {missing}");
    let request = UpdateProfileRequest { profile: None, update_mask: None, write: None };
    let nothing = profiles.update_profile(request).await.unwrap_err();
    assert_eq!(faults(&nothing), ["profile: is required"]);
    let unnamed = profiles.delete_profile(DeleteRequest::default()).await.unwrap_err();
    assert_eq!(faults(&unnamed), ["name: is required"]);
    profiles.delete_profile(DeleteRequest { name: "web".into(), write: None }).await.unwrap();
    let gone = profiles.delete_profile(DeleteRequest { name: "web".into(), write: None }).await.unwrap_err();
    assert_eq!(gone.code(), Code::NotFound);
}

#[tokio::test]
async fn profiles_are_listed_page_by_page_also_while_they_change() {
    let fixture = Fixture::founded().await;
    fixture.create_zone("tm.example.com").await;
    for name in ["d", "B", "a", "c"] {
        let profile = Profile { name: name.into(), relative_name: name.into(), ..web() };
        fixture.create_profile(profile).await.unwrap();
    }
    let mut profiles = fixture.profiles();
    let page = |token: String| ListRequest { page: Some(Page { size: 2, token }), read: None };
    let first = profiles.list_profiles(page(String::new())).await.unwrap().into_inner();
    let names = |profiles: Vec<Profile>| profiles.into_iter().map(|profile| profile.name).collect::<Vec<_>>();
    assert_eq!(names(first.profiles), ["a", "B"], "OBJ-2: without case");
    // The profile that the token names goes away: the next page is the same for all that.
    profiles.delete_profile(DeleteRequest { name: "b".into(), write: None }).await.unwrap();
    let second = profiles.list_profiles(page(first.next_page_token)).await.unwrap().into_inner();
    assert_eq!(names(second.profiles), ["c", "d"]);
    assert_eq!(second.next_page_token, "");
}

#[tokio::test]
async fn val_5_a_doubtful_wish_is_carried_out_with_a_warning() {
    let fixture = Fixture::furnished().await;
    let long = Profile { name: "web".into(), ttl_seconds: Some(86_400), ..Profile::default() };
    let written =
        fixture.profiles().update_profile(update(long, &["ttl_seconds"])).await.unwrap().into_inner();
    let fields: Vec<&str> = written.warnings.iter().map(|warning| warning.field.as_str()).collect();
    assert_eq!(fields.len(), 1, "{:?}", written.warnings);
    assert!(fields[0].starts_with("ttl"), "{fields:?}");
}

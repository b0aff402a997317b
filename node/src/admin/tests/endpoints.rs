//! Endpoints, method by method.

use prost_types::FieldMask;
use tonic::Code;
use waymark_proto::admin::v1::{
    CreateEndpointRequest, DeleteEndpointRequest, Endpoint, EndpointRequest, GetRequest, Header, Profile,
    UpdateEndpointRequest,
};

use super::fixture::{Fixture, at_revision, endpoint, faults, faulty_fields};

fn get(name: &str) -> EndpointRequest {
    EndpointRequest { profile: "web".into(), name: name.into(), read: None }
}

async fn web(fixture: &Fixture) -> Profile {
    let request = GetRequest { name: "web".into(), read: None };
    fixture.profiles().get_profile(request).await.unwrap().into_inner()
}

#[tokio::test]
async fn an_endpoint_is_added_shown_changed_and_removed() {
    let fixture = Fixture::furnished().await;
    let mut endpoints = fixture.endpoints();
    let before = web(&fixture).await;
    let request = CreateEndpointRequest {
        profile: "web".into(),
        endpoint: Some(endpoint("three", "192.0.2.3")),
        write: at_revision(before.revision),
    };
    let added = endpoints.create_endpoint(request).await.unwrap().into_inner();
    let after = web(&fixture).await;
    assert_eq!(after.revision, added.revision, "OBJ-8: an endpoint's change is its profile's");
    assert_eq!(after.endpoints[..2], before.endpoints[..], "F-API-01");
    assert_eq!((after.monitor, after.routing), (before.monitor, before.routing), "F-API-01");

    let shown = endpoints.get_endpoint(get("THREE")).await.unwrap().into_inner();
    assert_eq!((shown.target.as_str(), shown.priority), ("192.0.2.3", Some(3)), "SET-12: highest + 1");

    let listed = endpoints.list_endpoints(GetRequest { name: "web".into(), read: None }).await.unwrap();
    assert_eq!(listed.into_inner().endpoints, after.endpoints);

    let request = DeleteEndpointRequest {
        profile: "web".into(),
        name: "three".into(),
        write: at_revision(before.revision),
    };
    let refused = endpoints.delete_endpoint(request.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Aborted, "F-CLU-17");
    endpoints.delete_endpoint(DeleteEndpointRequest { write: None, ..request }).await.unwrap();
    assert_eq!(web(&fixture).await.endpoints, before.endpoints);
}

#[tokio::test]
async fn val_2_an_update_changes_the_field_that_it_names_and_nothing_else() {
    let fixture = Fixture::furnished().await;
    fixture.set_region("ap");
    let mut endpoints = fixture.endpoints();
    let changed = Endpoint {
        name: "one".into(),
        target: "198.51.100.1".into(),
        enabled: Some(false),
        priority: Some(9),
        weight: Some(70),
        location: Some("ap".into()),
        always_serve: Some(true),
        headers: vec![Header { name: "Host".into(), value: "one.example.org".into(), ..Header::default() }],
        geo: vec!["DE".into(), "US-CA".into()],
        subnets: vec!["10.0.0.0/8".into()],
        ..Endpoint::default()
    };
    // `always_serve` comes before `enabled`: it may be set on what is enabled only (SET-18).
    for path in
        ["target", "always_serve", "enabled", "priority", "weight", "location", "headers", "geo", "subnets"]
    {
        let before = endpoints.get_endpoint(get("one")).await.unwrap().into_inner();
        let request = UpdateEndpointRequest {
            profile: "web".into(),
            endpoint: Some(changed.clone()),
            update_mask: Some(FieldMask { paths: vec![path.into()] }),
            write: None,
        };
        let written = endpoints.update_endpoint(request).await.expect(path).into_inner();
        let mut expected = Endpoint { revision: written.revision, ..before.clone() };
        match path {
            "target" => expected.target.clone_from(&changed.target),
            "enabled" => expected.enabled = changed.enabled,
            "priority" => expected.priority = changed.priority,
            "weight" => expected.weight = changed.weight,
            "geo" => expected.geo.clone_from(&changed.geo),
            "subnets" => expected.subnets.clone_from(&changed.subnets),
            "location" => expected.location.clone_from(&changed.location),
            "always_serve" => expected.always_serve = changed.always_serve,
            _ => expected.headers.clone_from(&changed.headers),
        }
        let after = endpoints.get_endpoint(get("one")).await.unwrap().into_inner();
        // Says which check counts, not what was wished.
        expected.check_revision = after.check_revision;
        assert_eq!(after, expected, "F-API-01, {path}");
        assert_ne!(Endpoint { revision: before.revision, ..after }, before, "F-API-02, {path}");
    }
}

#[tokio::test]
async fn f_api_07_a_changed_header_is_replaced() {
    let fixture = Fixture::furnished().await;
    let mut endpoints = fixture.endpoints();
    for value in ["a.example.org", "b.example.org"] {
        let header = Header { name: "Host".into(), value: value.into(), ..Header::default() };
        let request = UpdateEndpointRequest {
            profile: "web".into(),
            endpoint: Some(Endpoint {
                name: "one".into(),
                headers: vec![header.clone()],
                ..Endpoint::default()
            }),
            update_mask: None,
            write: None,
        };
        endpoints.update_endpoint(request).await.unwrap();
        let shown = endpoints.get_endpoint(get("one")).await.unwrap().into_inner();
        assert_eq!(shown.headers, [header]);
    }
}

#[tokio::test]
async fn f_api_05_a_bad_endpoint_is_refused_by_field() {
    let fixture = Fixture::furnished().await;
    let mut endpoints = fixture.endpoints();
    let bad = Endpoint { weight: Some(0), location: Some("mars".into()), ..endpoint("three", "999.1.1.1") };
    let request = CreateEndpointRequest { profile: "web".into(), endpoint: Some(bad), write: None };
    let mut fields = faulty_fields(&endpoints.create_endpoint(request).await.unwrap_err());
    fields.sort();
    assert!(fields.iter().any(|field| field.ends_with("target")), "{fields:?}");
    assert!(fields.iter().any(|field| field.ends_with("weight")), "{fields:?}");
    assert!(fields.iter().any(|field| field.ends_with("location")), "{fields:?}");
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    let fixture = Fixture::furnished().await;
    let mut endpoints = fixture.endpoints();
    let no_endpoint = endpoints.get_endpoint(get("tow")).await.unwrap_err();
    assert_eq!(no_endpoint.code(), Code::NotFound);
    assert!(no_endpoint.message().contains("endpoint 'web/tow'; did you mean 'web/two'"), "{no_endpoint}");
    let request = EndpointRequest { profile: "nope".into(), name: "one".into(), read: None };
    let no_profile = endpoints.get_endpoint(request).await.unwrap_err();
    assert!(no_profile.message().contains("no profile 'nope'"), "{no_profile}");
    let empty = endpoints.delete_endpoint(DeleteEndpointRequest::default()).await.unwrap_err();
    assert_eq!(faults(&empty), ["profile: is required", "name: is required"]);
    let request = CreateEndpointRequest { profile: "web".into(), endpoint: None, write: None };
    let nothing = endpoints.create_endpoint(request).await.unwrap_err();
    assert_eq!(faults(&nothing), ["endpoint: is required"]);
}

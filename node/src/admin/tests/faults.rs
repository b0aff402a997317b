//! What the cluster's own troubles look like to a client, and what happens at the limits of a message.

use tonic::Code;
use waymark_proto::admin::v1::{CreateProfileRequest, DeleteRequest, Endpoint, Profile};

use super::super::limits::REQUEST_BYTES_MAX;
use super::double::Trouble;
use super::fixture::{Fixture, endpoint, faults, web};
use crate::raft::ProposeError;

#[tokio::test]
async fn each_trouble_has_its_code() {
    let fixture = Fixture::furnished().await;
    for (error, code, words) in [
        (ProposeError::NotMember, Code::FailedPrecondition, "waymark cluster init"),
        (ProposeError::NoLeader, Code::Unavailable, "no leader"),
        (ProposeError::OutcomeUnknown, Code::DeadlineExceeded, "outcome is unknown"),
        (ProposeError::Storage("disk full".into()), Code::ResourceExhausted, "disk full"),
        (ProposeError::Failed("panicked".into()), Code::Unavailable, "panicked"),
        (ProposeError::Busy, Code::ResourceExhausted, "try again"),
        (ProposeError::Refused("too long".into()), Code::InvalidArgument, "too long"),
    ] {
        fixture.trouble(Trouble { propose: Some(error), ..Trouble::default() });
        let request = DeleteRequest { name: "web".into(), write: None };
        let failed = fixture.profiles().delete_profile(request).await.unwrap_err();
        assert_eq!(failed.code(), code, "{failed}");
        assert!(failed.message().contains(words), "{failed}");
    }
    fixture.trouble(Trouble::default());
    assert!(fixture.double.state().profile(&"web".into()).is_some(), "nothing was done");
}

#[tokio::test]
async fn sec_6_a_message_above_the_limit_is_refused() {
    let fixture = Fixture::furnished().await;
    let profile = Profile { name: "x".repeat(REQUEST_BYTES_MAX + 1), ..web() };
    let refused = fixture.create_profile(profile).await.unwrap_err();
    assert!(matches!(refused.code(), Code::OutOfRange | Code::ResourceExhausted), "{refused:?}");
    fixture.create_zone("still.example").await;
}

#[tokio::test]
async fn val_1_the_first_faults_of_two_hundred_endpoints_arrive_and_the_rest_are_counted() {
    let fixture = Fixture::furnished().await;
    let bad = |i: u32| Endpoint {
        weight: Some(1_001),
        priority: Some(5_000),
        ..endpoint(&format!("e{i}"), &format!("198.51.100.{i}"))
    };
    let profile = Profile {
        name: "many".into(),
        relative_name: "many".into(),
        endpoints: (0..200).map(bad).collect(),
        ..web()
    };
    let request = CreateProfileRequest { profile: Some(profile), write: None };
    let refused = fixture.profiles().create_profile(request).await.unwrap_err();
    let faults = faults(&refused);
    // A client with customary limits on headers reads them: more than fit would break its connection.
    assert!(faults.iter().any(|fault| fault.starts_with("endpoints[0].weight")), "{}", faults[0]);
    let last = faults.last().expect("there are faults");
    assert!(last.starts_with(": and ") && last.ends_with(" more"), "{last}");
}

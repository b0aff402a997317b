//! Many profiles, made as fast as a member takes them.

use harness::Caller;
use tonic::Request;
use waymark_proto::admin::v1::profiles_client::ProfilesClient;
use waymark_proto::admin::v1::{CreateProfileRequest, Endpoint, Monitor, Profile, Routing, WriteOptions};

/// The zone of profiles that are probed.
pub(crate) const ZONE: &str = "bench.test";

/// Writers at one time: the log takes many writes with one flush.
const WRITERS: u32 = 64;

/// Makes what `profiles` has for each number up to `count`.
pub(crate) async fn create<P>(caller: &Caller, count: u32, profiles: P)
where
    P: Fn(u32) -> Vec<Profile> + Clone + Send + 'static,
{
    let write = |writer: u32| {
        let (caller, profiles) = (caller.clone(), profiles.clone());
        tokio::spawn(async move {
            let mut client =
                ProfilesClient::new(caller.connect().await.expect("the member takes connections"));
            for profile in (writer..count).step_by(WRITERS as usize).flat_map(profiles) {
                let request =
                    CreateProfileRequest { profile: Some(profile), write: Some(WriteOptions::default()) };
                client.create_profile(Request::new(request)).await.expect("the profile is taken");
            }
        })
    };
    for writer in (0..WRITERS).map(write).collect::<Vec<_>>() {
        writer.await.expect("a writer ends well");
    }
}

/// The name of the profile of that number, in [`ZONE`].
pub(crate) fn name(nth: u32) -> String {
    format!("p{nth:06}.{ZONE}")
}

/// The profile of that number: so many endpoints in order of preference, of which each outcome decides.
pub(crate) fn probed(nth: u32, endpoints: u32) -> Profile {
    let name = format!("p{nth:06}");
    let endpoint = |which: u32| Endpoint {
        name: format!("e{which}"),
        target: address(nth, which),
        priority: Some(which + 1),
        ..Endpoint::default()
    };
    Profile {
        name: name.clone(),
        zone: ZONE.to_owned(),
        relative_name: name,
        routing: Routing::Priority.into(),
        monitor: Some(Monitor {
            tolerated_failures: Some(0),
            recovery_successes: Some(1),
            ..Monitor::default()
        }),
        endpoints: (0..endpoints).map(endpoint).collect(),
        ..Profile::default()
    }
}

/// The address of an endpoint of [`probed`].
pub(crate) fn address(nth: u32, which: u32) -> String {
    std::net::Ipv4Addr::from(0x0a00_0000 | (nth << 4 & 0x00ff_fff0) | which).to_string()
}

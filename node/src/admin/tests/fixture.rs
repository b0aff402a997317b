//! A member's gRPC listener on loopback, and what tests put into it.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint as Address, Server};
use tonic::{Code, Response, Status};
use tonic_types::StatusExt;
use waymark_core::health::{Outcome, OutcomeClass};
use waymark_core::model::{AgentRun, Caseless, EndpointId, MemberId, Revision};
use waymark_core::state::{Action, ReportedOutcome};
use waymark_process::secrets::Keys;
use waymark_process::tls::Credentials;
use waymark_proto::admin::v1::{
    CreateProfileRequest, CreateZoneRequest, Endpoint, Monitor, NameServer, Profile, Routing, WriteOptions,
    WriteResponse, Zone, agents_client::AgentsClient, answers_client::AnswersClient,
    audit_client::AuditClient, authority_client::AuthorityClient, cluster_client::ClusterClient,
    endpoints_client::EndpointsClient, events_client::EventsClient, profiles_client::ProfilesClient,
    records_client::RecordsClient, regions_client::RegionsClient, statuses_client::StatusesClient,
    zones_client::ZonesClient,
};

use super::super::handles::Handles;
use super::super::limits::{RESPONSE_BYTES_MAX, Watching};
use super::super::services::with_handles;
use super::double::{Double, Trouble};
use crate::acceptor;

/// Beyond this a test has failed: everything here takes milliseconds.
const DEADLINE: Duration = Duration::from_secs(20);

/// One member with its API served.
pub(super) struct Fixture {
    /// The cluster behind it.
    pub(super) double: Arc<Double>,
    /// A connection to it.
    pub(super) channel: Channel,
    /// Asks it to stop.
    pub(super) stopping: CancellationToken,
}

macro_rules! clients {
    ($($method:ident: $client:ident),+ $(,)?) => {
        $(#[doc = "A client of the service of that name."]
        pub(super) fn $method(&self) -> $client<Channel> {
            $client::new(self.channel.clone()).max_decoding_message_size(RESPONSE_BYTES_MAX)
        })+
    };
}

impl Fixture {
    /// A member of no cluster.
    pub(super) async fn empty(watching: Watching) -> Self {
        Self::with_keys(watching, Keys::default()).await
    }

    /// The same with keys for secrets.
    pub(super) async fn with_keys(watching: Watching, keys: Keys) -> Self {
        Self::known_by(None, watching, keys).await
    }

    /// The same known to others by `credentials`, though it is called in plain text.
    pub(super) async fn known_by(
        credentials: Option<Arc<Credentials>>,
        watching: Watching,
        keys: Keys,
    ) -> Self {
        let (double, reader) = Double::new();
        let double = Arc::new(double);
        let stopping = CancellationToken::new();
        let handles = Handles::new(reader, double.clone(), watching, Arc::new(keys), stopping.clone());
        let handles = handles.known_by(credentials);
        let routes = with_handles(handles, stopping.clone()).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        tokio::spawn(Server::builder().add_routes(routes).serve_with_incoming(acceptor::incoming(
            listener,
            None,
            CancellationToken::new(),
        )));
        let address = Address::from_shared(format!("http://{address}")).expect("an address is a URL");
        let channel = address.connect().await.expect("the listener is bound");
        Self { double, channel, stopping }
    }

    /// A member of a cluster without contents.
    pub(super) async fn founded() -> Self {
        let fixture = Self::empty(Watching::default()).await;
        fixture.double.found();
        fixture
    }

    /// The same with zone `tm.example.com`, regions `eu` and `us`, agents `a1` and `a2` in them, and the profile `web`
    /// with the endpoints `one` and `two`.
    pub(super) async fn furnished() -> Self {
        Self::furnished_within(Watching::default()).await
    }

    /// The same with other limits.
    pub(super) async fn furnished_within(watching: Watching) -> Self {
        let fixture = Self::empty(watching).await;
        fixture.double.found();
        fixture.create_zone("tm.example.com").await;
        for (region, agent) in [("eu", "a1"), ("us", "a2")] {
            fixture.set_region(region);
            fixture.open_session(agent, region);
        }
        fixture.create_profile(web()).await.expect("web is a good profile");
        fixture
    }

    clients! {
        audit: AuditClient,
        authority: AuthorityClient,
        zones: ZonesClient,
        profiles: ProfilesClient,
        records: RecordsClient,
        endpoints: EndpointsClient,
        regions: RegionsClient,
        agents: AgentsClient,
        statuses: StatusesClient,
        events: EventsClient,
        answers: AnswersClient,
        cluster: ClusterClient,
    }

    /// Makes something go wrong.
    pub(super) fn trouble(&self, trouble: Trouble) {
        *self.double.trouble.lock().unwrap() = trouble;
    }

    /// Creates a zone.
    pub(super) async fn create_zone(&self, name: &str) -> WriteResponse {
        let request = CreateZoneRequest { zone: Some(zone(name)), write: None };
        self.zones().create_zone(request).await.expect(name).into_inner()
    }

    /// Creates a profile.
    pub(super) async fn create_profile(&self, profile: Profile) -> Result<WriteResponse, Status> {
        let request = CreateProfileRequest { profile: Some(profile), write: None };
        self.profiles().create_profile(request).await.map(Response::into_inner)
    }

    /// Declares a region.
    pub(super) fn set_region(&self, name: &str) {
        let region = waymark_core::model::Region {
            name: name.into(),
            latitude_e6: 0,
            longitude_e6: 0,
            revision: Default::default(),
        };
        self.double.commit(Action::SetRegion(region)).replies[0].as_ref().expect(name);
    }

    /// Lets an agent's stream come up on `m2`.
    pub(super) fn open_session(&self, agent: &str, region: &str) {
        let action = Action::OpenSession {
            agent: agent.into(),
            region: region.into(),
            run: AgentRun(1),
            version: "0.1.0".into(),
            member: MemberId(2),
            is_blind: None,
        };
        self.double.commit(action).replies[0].as_ref().expect(agent);
    }

    /// The number of an endpoint of the profile `web`, and the revision of its check.
    pub(super) fn endpoint_id(&self, endpoint: &str) -> (EndpointId, Revision) {
        let state = self.double.state();
        let profile = state.profile(&Caseless::new("web")).expect("web exists");
        let (_, endpoint) = profile.endpoint(&Caseless::new(endpoint)).expect(endpoint);
        (endpoint.id, endpoint.check_revision)
    }

    /// Lets an agent report, the `sequence`th time, what it found at an endpoint of `web`.
    pub(super) fn report(&self, agent: &str, endpoint: &str, sequence: u64, class: OutcomeClass) {
        let (endpoint, check) = self.endpoint_id(endpoint);
        let outcome = Outcome { class, status: (class == OutcomeClass::Ok).then_some(200) };
        let outcomes = vec![ReportedOutcome { endpoint, check, sequence, age_ms: 0, outcome }];
        let action = Action::RecordOutcomes { agent: agent.into(), run: AgentRun(1), outcomes };
        self.double.commit(action).replies[0].as_ref().expect("outcomes are never refused");
    }
}

/// A zone with one name server in it.
pub(super) fn zone(name: &str) -> Zone {
    let server = NameServer { name: format!("ns1.{name}"), addresses: vec!["192.0.2.53".into()] };
    Zone { name: name.into(), name_servers: vec![server], ..Zone::default() }
}

/// The profile `web.tm.example.com` with two endpoints.
pub(super) fn web() -> Profile {
    let monitor = Monitor { tolerated_failures: Some(0), ..Monitor::default() };
    Profile {
        name: "web".into(),
        zone: "tm.example.com".into(),
        relative_name: "web".into(),
        routing: Routing::Priority.into(),
        monitor: Some(monitor),
        endpoints: vec![endpoint("one", "192.0.2.1"), endpoint("two", "192.0.2.2")],
        ..Profile::default()
    }
}

/// An endpoint.
pub(super) fn endpoint(name: &str, target: &str) -> Endpoint {
    Endpoint { name: name.into(), target: target.into(), ..Endpoint::default() }
}

/// A write that is bound to a revision.
pub(super) fn at_revision(revision: u64) -> Option<WriteOptions> {
    Some(WriteOptions { if_revision: Some(revision), ..WriteOptions::default() })
}

/// A write with a mark.
pub(super) fn marked(byte: u8) -> Option<WriteOptions> {
    Some(WriteOptions { request_id: vec![byte; 16].into(), ..WriteOptions::default() })
}

/// The faults that a refusal names, as `field: description`.
pub(super) fn faults(status: &Status) -> Vec<String> {
    assert_eq!(status.code(), Code::InvalidArgument, "{status}");
    let details = status.get_details_bad_request().expect("a refusal has details");
    let text =
        |violation: &tonic_types::FieldViolation| format!("{}: {}", violation.field, violation.description);
    details.field_violations.iter().map(text).collect()
}

/// The fields that a refusal names.
pub(super) fn faulty_fields(status: &Status) -> Vec<String> {
    let field = |fault: String| fault.split_once(": ").map(|(field, _)| field.to_owned());
    faults(status).into_iter().filter_map(field).collect()
}

/// Fails a test that waits for something that does not come.
pub(super) async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.expect("it comes in time")
}

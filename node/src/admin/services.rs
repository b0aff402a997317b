//! Everything that a member's gRPC listener serves for operators: the services, their reflection and their health.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use waymark_process::secrets::Keys;
use waymark_process::tls::Credentials;
use waymark_proto::admin::v1::{
    agents_server, answers_server, audit_server, authority_server, cluster_server, endpoints_server,
    events_server, geo_server, latencies_server, profiles_server, records_server, regions_server,
    services_server, statuses_server, zones_server,
};

use super::agents::AgentsService;
use super::answers::AnswersService;
use super::audit::AuditService;
use super::authority::AuthorityService;
use super::cluster::ClusterService;
use super::consensus::RaftHandles;
use super::endpoints::EndpointsService;
use super::events::EventsService;
use super::geography::GeoService;
use super::handles::Handles;
use super::latencies::LatenciesService;
use super::limits::{REQUEST_BYTES_MAX, RESPONSE_BYTES_MAX, Watching};
use super::profiles::ProfilesService;
use super::records::RecordsService;
use super::regions::RegionsService;
use super::registry::ServicesService;
use super::statuses::StatusesService;
use super::zones::ZonesService;
use crate::publication::Reader;
use crate::raft::{HeldTables, LastOutcomes, Membership, Proposer};

/// The names under which `grpc.health.v1` knows the services; the empty one is the member as a whole.
const NAMES: [&str; 16] = [
    "",
    zones_server::SERVICE_NAME,
    records_server::SERVICE_NAME,
    profiles_server::SERVICE_NAME,
    endpoints_server::SERVICE_NAME,
    regions_server::SERVICE_NAME,
    services_server::SERVICE_NAME,
    latencies_server::SERVICE_NAME,
    geo_server::SERVICE_NAME,
    agents_server::SERVICE_NAME,
    statuses_server::SERVICE_NAME,
    events_server::SERVICE_NAME,
    answers_server::SERVICE_NAME,
    audit_server::SERVICE_NAME,
    authority_server::SERVICE_NAME,
    cluster_server::SERVICE_NAME,
];

/// The operators' API with server reflection and `grpc.health.v1`, to be added to a tonic server. When `stopping` is
/// cancelled, health says so and every watch ends, so that the server can be shut down.
pub async fn services(
    reader: Reader,
    proposer: Proposer,
    membership: Membership,
    outcomes: LastOutcomes,
    tables: HeldTables,
    (keys, credentials): (Arc<Keys>, Option<Arc<Credentials>>),
    stopping: CancellationToken,
) -> Routes {
    let consensus = Arc::new(RaftHandles { proposer, membership, outcomes, tables });
    let handles = Handles::new(reader, consensus, Watching::default(), keys, stopping.clone());
    let handles = handles.known_by(credentials);
    with_handles(handles, stopping).await
}

/// The same over handles of any kind.
pub(super) async fn with_handles(handles: Handles, stopping: CancellationToken) -> Routes {
    macro_rules! limited {
        ($server:path, $service:ident) => {
            <$server>::new($service::new(handles.clone()))
                .max_decoding_message_size(REQUEST_BYTES_MAX)
                .max_encoding_message_size(RESPONSE_BYTES_MAX)
        };
    }
    let mut routes = Routes::builder();
    routes
        .add_service(limited!(zones_server::ZonesServer<_>, ZonesService))
        .add_service(limited!(records_server::RecordsServer<_>, RecordsService))
        .add_service(limited!(profiles_server::ProfilesServer<_>, ProfilesService))
        .add_service(limited!(endpoints_server::EndpointsServer<_>, EndpointsService))
        .add_service(limited!(services_server::ServicesServer<_>, ServicesService))
        .add_service(limited!(regions_server::RegionsServer<_>, RegionsService))
        .add_service(limited!(latencies_server::LatenciesServer<_>, LatenciesService))
        .add_service(limited!(geo_server::GeoServer<_>, GeoService))
        .add_service(limited!(agents_server::AgentsServer<_>, AgentsService))
        .add_service(limited!(statuses_server::StatusesServer<_>, StatusesService))
        .add_service(limited!(events_server::EventsServer<_>, EventsService))
        .add_service(limited!(audit_server::AuditServer<_>, AuditService))
        .add_service(limited!(authority_server::AuthorityServer<_>, AuthorityService))
        .add_service(limited!(answers_server::AnswersServer<_>, AnswersService))
        .add_service(limited!(cluster_server::ClusterServer<_>, ClusterService));
    // Both versions of reflection are in use among the clients.
    routes
        .add_service(reflection().build_v1().expect("the descriptors were built with this program"))
        .add_service(reflection().build_v1alpha().expect("the descriptors were built with this program"));
    let (reporter, health) = tonic_health::server::health_reporter();
    for name in NAMES {
        reporter.set_service_status(name, ServingStatus::Serving).await;
    }
    tokio::spawn(async move {
        stopping.cancelled().await;
        for name in NAMES {
            reporter.set_service_status(name, ServingStatus::NotServing).await;
        }
    });
    routes.add_service(health);
    routes.routes()
}

fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(waymark_proto::DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}

//! Who may call what (SEC-2): decided for every method, by the role in the caller's certificate, before the call is looked
//! at. What stands here for nobody is refused to everybody.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use tonic::Status;
use tonic::service::Routes;
use waymark_process::identity::Role;
use waymark_process::seldom::Seldom;
use waymark_proto::Method;

use crate::acceptor::{IDENTITY_CONNECTIONS_MAX, Peer, Who};

/// gRPC's own health service: whoever has an identity may ask.
const HEALTH: &str = "/grpc.health.v1.Health/";
/// Server reflection in both of its versions: for those who may read.
const REFLECTION: [&str; 2] =
    ["/grpc.reflection.v1.ServerReflection/", "/grpc.reflection.v1alpha.ServerReflection/"];

/// Whom a method is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    /// Whoever has no certificate, and nobody else.
    Newcomers,
    /// Members among themselves.
    Members,
    /// Agents; in whose name is looked at when they say it.
    Agents,
    /// Those who may change things.
    Operators,
    /// Those who may look, and operators.
    Viewers,
    /// Everybody with an identity.
    Everybody,
}

impl For {
    fn has(self, role: &Role) -> bool {
        match self {
            Self::Newcomers => false,
            Self::Members => matches!(role, Role::Member { .. }),
            Self::Agents => matches!(role, Role::Agent { .. }),
            Self::Operators => matches!(role, Role::Operator { .. }),
            Self::Viewers => matches!(role, Role::Operator { .. } | Role::Viewer { .. }),
            Self::Everybody => true,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Newcomers => "those who have no certificate yet",
            Self::Members => "members",
            Self::Agents => "agents",
            Self::Operators => "operators",
            Self::Viewers => "operators and viewers",
            Self::Everybody => "everybody",
        }
    }
}

/// Whom each method is for. A method that is added to a service does not compile until it stands here.
#[expect(clippy::too_many_lines, reason = "a row for each method, and nothing else")]
fn whom(method: Method) -> For {
    use Method as M;
    match method {
        M::RaftAppendEntries
        | M::RaftRequestVote
        | M::RaftInstallSnapshot
        | M::PeersDescribe
        | M::PeersJoin
        | M::PeersChange
        | M::PeersTakeOver
        | M::PeersDismiss
        | M::PeersPropose
        | M::PeersReadIndex
        | M::PeersHoldSessions
        | M::PeersAwaitApplied
        | M::PeersListLastOutcomes
        | M::PeersListHeldTables => For::Members,
        M::EnrolmentEnrol => For::Newcomers,
        M::MeshSession | M::EnrolmentRenew => For::Agents,
        M::ZonesGetZone
        | M::ZonesListZones
        | M::RecordsGetRecordSet
        | M::RecordsListRecordSets
        | M::ProfilesGetProfile
        | M::ProfilesListProfiles
        | M::EndpointsGetEndpoint
        | M::EndpointsListEndpoints
        | M::ServicesGetService
        | M::ServicesListServices
        | M::RegionsListRegions
        | M::LatenciesListLatencies
        | M::LatenciesListLearnedLatencies
        | M::GeoListGeoTables
        | M::GeoLookUpAddress
        | M::GeoListGeoOverrides
        | M::AgentsGetAgent
        | M::AgentsListAgents
        | M::AgentsListJoinTokens
        | M::AuthorityGetAuthority
        | M::StatusesListStatuses
        | M::StatusesWatchStatuses
        | M::EventsListEvents
        | M::EventsWatchEvents
        | M::AnswersExplain
        | M::AnswersSimulate
        | M::ClusterGetCluster => For::Viewers,
        M::ZonesCreateZone
        | M::ZonesUpdateZone
        | M::ZonesDeleteZone
        | M::RecordsSetRecordSet
        | M::RecordsDeleteRecordSet
        | M::ProfilesCreateProfile
        | M::ProfilesUpdateProfile
        | M::ProfilesDeleteProfile
        | M::EndpointsCreateEndpoint
        | M::EndpointsUpdateEndpoint
        | M::EndpointsDeleteEndpoint
        | M::EndpointsOverrideEndpoints
        | M::EndpointsLiftOverrides
        | M::ServicesRegisterService
        | M::ServicesStartService
        | M::ServicesStopService
        | M::ServicesDeleteService
        | M::RegionsSetRegion
        | M::RegionsDeleteRegion
        | M::LatenciesUpdateLatencies
        | M::GeoUseGeoTable
        | M::GeoSetGeoOverride
        | M::GeoDeleteGeoOverride
        | M::AgentsDeleteAgent
        | M::AgentsCreateJoinToken
        | M::AgentsDeleteJoinToken
        | M::AuthorityInstallAuthority
        | M::AuthorityUninstallAuthority
        | M::ClusterInitCluster
        | M::ClusterAddMember
        | M::ClusterRemoveMember
        | M::ClusterPromoteMember
        | M::ClusterTransferLeader
        | M::ClusterUpgradeCluster
        | M::ClusterBackUp
        | M::ClusterRestore
        | M::AuditListAuditEntries => For::Operators,
    }
}

/// Whom the method at `path` is for; nobody if there is none.
fn whom_at(path: &str) -> Option<For> {
    if path.starts_with(HEALTH) {
        return Some(For::Everybody);
    }
    if REFLECTION.iter().any(|service| path.starts_with(service)) {
        return Some(For::Viewers);
    }
    Method::of(path).map(whom)
}

/// May `peer` call `path`?
fn judge(peer: Option<&Peer>, path: &str) -> Result<(), Status> {
    let Some(peer) = peer else {
        return Err(Status::unauthenticated("the connection does not say who calls"));
    };
    let role = match peer.who() {
        // In plain text on loopback, with --dev, whoever reaches the port is whoever they like.
        Who::Anybody => return Ok(()),
        Who::Nobody => return judge_nobody(path),
        Who::Known(identity) => &identity.role,
    };
    if peer.is_crowded() {
        return Err(Status::resource_exhausted(format!(
            "{role} has {IDENTITY_CONNECTIONS_MAX} connections to this member, the most that one identity may have: use \
             those, or close some"
        )));
    }
    match whom_at(path) {
        Some(whom) if whom.has(role) => Ok(()),
        Some(whom) => {
            let what = path.trim_start_matches('/');
            Err(Status::permission_denied(format!("{role} may not call {what}: that is for {}", whom.noun())))
        }
        None => Err(Status::permission_denied(format!("{role} called what this member does not know"))),
    }
}

/// May whoever shows no certificate call `path`?
fn judge_nobody(path: &str) -> Result<(), Status> {
    match whom_at(path) {
        Some(For::Newcomers) => Ok(()),
        _ => Err(Status::unauthenticated(
            "whoever shows no certificate may do nothing but redeem a join token",
        )),
    }
}

/// May `peer` speak for `agent` in `region`? The error is for people.
pub(crate) fn admit_agent(peer: Option<&Peer>, agent: &str, region: &str) -> Result<(), String> {
    match peer.map(Peer::who) {
        Some(Who::Nobody) => Err("whoever shows no certificate speaks for no agent".to_owned()),
        Some(Who::Known(identity)) if !identity.role.is_agent(region, agent) => {
            Err(format!("{} may not speak for agent '{agent}' in region '{region}'", identity.role))
        }
        // In plain text an agent is who it says it is.
        _ => Ok(()),
    }
}

/// Tells of refusals: one line a second for each role and method, so that nobody can hide theirs behind those of others.
#[derive(Debug, Default)]
struct Refusals {
    of: Mutex<HashMap<Refused, Arc<Seldom>>>,
    /// For whoever comes when there are too many.
    others: Arc<Seldom>,
}

/// Who was refused, and what.
type Refused = (String, Option<Method>);

impl Refusals {
    /// Most roles and methods of which each has lines of its own; some 100 KiB.
    const OWN_MAX: usize = 1_024;

    fn seldom(&self, who: &str, path: &str) -> Arc<Seldom> {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (who.to_owned(), Method::of(path));
        if of.len() >= Self::OWN_MAX && !of.contains_key(&key) {
            return self.others.clone();
        }
        of.entry(key).or_default().clone()
    }

    /// What is refused is not in the replicated trail: whoever has an identity could fill that, and with it the log (SEC-5).
    fn tell(&self, peer: Option<&Peer>, path: &str, status: &Status) {
        let who = peer.and_then(Peer::identity).map(|identity| identity.role.to_string()).unwrap_or_default();
        let Some(untold) = self.seldom(&who, path).turn() else { return };
        let from = peer.map(|peer| peer.address().to_string()).unwrap_or_default();
        let reason = status.message();
        tracing::warn!(target: "audit", who, from, method = path, reason, untold, "a call was refused");
    }
}

async fn admit(State(refusals): State<Arc<Refusals>>, request: Request, next: Next) -> Response {
    let (peer, path) = (request.extensions().get::<Peer>(), request.uri().path());
    match judge(peer, path) {
        Ok(()) => next.run(request).await,
        Err(status) => {
            refusals.tell(peer, path, &status);
            status.into_http()
        }
    }
}

/// `routes`, with everybody kept to what their role allows.
pub(crate) fn guarded(routes: Routes) -> Routes {
    routes.into_axum_router().layer(from_fn_with_state(Arc::<Refusals>::default(), admit)).into()
}

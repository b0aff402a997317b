//! The requests that can alter the state. They say what is wished or what was observed, never what the state shall be.

use std::net::IpAddr;
use std::sync::Arc;

use super::{ApplyLevel, AuditNote, AuditOutcome, CookieSecret, EnrolmentWish, LatencyRowDraft};
use crate::geo::GeoDigest;
use crate::health::Outcome;
use crate::model::{
    AgentRun, Caseless, EndpointId, EndpointPatch, LogIndex, MemberId, Name, Network, OverrideKind,
    ProfileId, ProfilePatch, RecordType, Region, Revision, ServicePatch, Timestamp, ZonePatch,
};

/// Marks one wish of one client, so that a retry is carried out once (CLI-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u128);

/// What surrounds a command in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The entry's index.
    pub index: LogIndex,
    /// When the leader proposed it, for people to read.
    pub at: Timestamp,
}

/// One request to alter the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The client's mark; members' own commands need none, being absolute facts.
    pub id: Option<CommandId>,
    /// Who wishes it, as shown in events: as `operator/alice`, `dev` in plain text; members' own are `cluster`.
    pub author: String,
    /// What the audit trail says of it, if it comes from an operator (SEC-5).
    pub note: Option<AuditNote>,
    /// What is wished.
    pub action: Action,
}

impl Command {
    /// A command of a member's own.
    pub fn of_cluster(action: Action) -> Self {
        Self { id: None, author: "cluster".to_owned(), note: None, action }
    }
}

/// What a command asks for. Names of new objects come as raw text: `apply` judges them with all else.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The first entry of a cluster: gives it its identity.
    Found {
        /// The cluster's id, drawn by the member on which it was founded.
        cluster: String,
        /// The first secret of DNS cookies (DNS-11), drawn with it; none from a member of before there were cookies.
        cookies: Option<CookieSecret>,
    },
    /// A new zone.
    CreateZone {
        /// Its name.
        name: String,
        /// Its fields.
        fields: ZonePatch,
    },
    /// A change of some of a zone's fields.
    UpdateZone {
        /// Its name.
        name: String,
        /// The fields that are named.
        fields: ZonePatch,
        /// Refused unless the zone is at this revision (OBJ-8).
        if_revision: Option<Revision>,
    },
    /// The end of a zone in which nothing stands.
    DeleteZone {
        /// Its name.
        name: String,
        /// Refused unless the zone is at this revision.
        if_revision: Option<Revision>,
    },
    /// A new profile with its endpoints.
    CreateProfile {
        /// Its name.
        name: String,
        /// Its zone's name.
        zone: String,
        /// Where it stands in the zone: `@`, or one or more labels.
        relative_name: String,
        /// Its fields; `routing` is required.
        fields: ProfilePatch,
        /// Its endpoints, name and fields, in order.
        endpoints: Vec<(String, EndpointPatch)>,
    },
    /// A change of some of a profile's fields.
    UpdateProfile {
        /// Its name.
        name: String,
        /// The fields that are named.
        fields: ProfilePatch,
        /// Refused unless the profile is at this revision.
        if_revision: Option<Revision>,
    },
    /// The end of a profile and of its endpoints.
    DeleteProfile {
        /// Its name.
        name: String,
        /// Refused unless the profile is at this revision.
        if_revision: Option<Revision>,
    },
    /// A new endpoint in a profile.
    AddEndpoint {
        /// The profile's name.
        profile: String,
        /// The endpoint's name.
        name: String,
        /// Its fields; one of `target`, `nested` and `service` is required.
        fields: EndpointPatch,
        /// Refused unless the profile is at this revision.
        if_revision: Option<Revision>,
    },
    /// A change of some of an endpoint's fields.
    UpdateEndpoint {
        /// The profile's name.
        profile: String,
        /// The endpoint's name.
        name: String,
        /// The fields that are named.
        fields: EndpointPatch,
        /// Refused unless the profile is at this revision.
        if_revision: Option<Revision>,
    },
    /// The end of an endpoint.
    RemoveEndpoint {
        /// The profile's name.
        profile: String,
        /// The endpoint's name.
        name: String,
        /// Refused unless the profile is at this revision.
        if_revision: Option<Revision>,
    },
    /// An operator's override on every endpoint that the pattern stands for, in the place of any that it has (STA-13).
    OverrideEndpoints {
        /// Which endpoints, as [`crate::model::EndpointPattern`] reads it.
        pattern: String,
        /// What it does.
        kind: OverrideKind,
        /// Why.
        reason: String,
        /// How long it is to last, in milliseconds; `None`: until it is lifted.
        span_ms: Option<u64>,
        /// May it drain the last endpoint of a profile?
        even_last: bool,
    },
    /// The end of the overrides on every endpoint that the pattern stands for.
    LiftOverrides {
        /// Which endpoints.
        pattern: String,
        /// Why.
        reason: String,
    },
    /// The time of overrides is up: proposed by the leader's timers.
    EndOverrides {
        /// Their endpoints and their own revisions; one that has ended meanwhile, or been replaced, is passed over.
        ended: Vec<(EndpointId, Revision)>,
    },
    /// Departures from the pools of these profiles count no longer (FAIL-2): proposed by the leader's timers.
    ReleaseBrakes {
        /// Profiles, and the counter up to which departures are over; at most [`super::Brake::BATCH_MAX`].
        due: Vec<(ProfileId, Revision)>,
    },
    /// Static records of a name and type, new or in place of those that there are (DNS-17).
    SetRecords {
        /// The zone's name.
        zone: String,
        /// Where they stand in the zone: `@`, or one or more labels.
        relative_name: String,
        /// Their type.
        record_type: RecordType,
        /// Their time to live, in seconds.
        ttl: u32,
        /// The data of each as on the wire, uncompressed: text is read before anything is proposed.
        data: Vec<Arc<[u8]>>,
        /// Refused unless the set is there and at this revision.
        if_revision: Option<Revision>,
    },
    /// The end of the static records of a name and type.
    DeleteRecords {
        /// The zone's name.
        zone: String,
        /// Where they stand in the zone.
        relative_name: String,
        /// Their type.
        record_type: RecordType,
        /// Refused unless the set is at this revision.
        if_revision: Option<Revision>,
    },
    /// A service that is new, and runs, or some of whose fields change.
    RegisterService {
        /// Its name.
        name: String,
        /// The fields that are named; a new one needs a target.
        fields: ServicePatch,
        /// Refused unless the service is there and at this revision.
        if_revision: Option<Revision>,
    },
    /// A platform says that a service runs or has stopped.
    SwitchService {
        /// Its name.
        name: String,
        /// Does it run?
        is_running: bool,
        /// Refused unless the service is at this revision.
        if_revision: Option<Revision>,
    },
    /// The end of a service that no endpoint stands for.
    DeleteService {
        /// Its name.
        name: String,
        /// Refused unless the service is at this revision.
        if_revision: Option<Revision>,
    },
    /// Rows of the latency table, new or changed, and networks whose rows end.
    UpdateLatency {
        /// Rows to set, at most [`super::LatencyTable::BATCH_MAX`] with those to remove.
        set: Vec<LatencyRowDraft>,
        /// Networks whose rows end; one without a row changes nothing.
        remove: Vec<String>,
    },
    /// How far networks of clients are from a region, as a member or an agent there measured it (RTE-7).
    LearnLatencies {
        /// The region.
        region: String,
        /// Networks, as [`super::LearnedTable::network_of`] makes them, and milliseconds; at most
        /// [`super::LearnedTable::BATCH_MAX`].
        found: Vec<(Network, u32)>,
    },
    /// What was measured and nobody has confirmed since this moment is forgotten: proposed by the leader's timers.
    ForgetLatencies {
        /// The moment.
        before: Timestamp,
    },
    /// The choice of the table by which all members locate clients (RTE-14).
    UseGeo {
        /// Its digest; none: the table that each member carries along.
        digest: Option<GeoDigest>,
        /// Refused unless the last choice was made at this revision.
        if_revision: Option<Revision>,
    },
    /// Where a network is, whatever the table says.
    SetGeoOverride {
        /// The network.
        network: String,
        /// The place's code.
        place: String,
    },
    /// The end of an override.
    DeleteGeoOverride {
        /// The network.
        network: String,
        /// Refused unless the override is at this revision.
        if_revision: Option<Revision>,
    },
    /// A region, new or moved. Its `revision` is not looked at.
    SetRegion(Region),
    /// The end of a region in which nothing lives any more.
    DeleteRegion {
        /// Its name.
        name: String,
        /// Refused unless the region is at this revision.
        if_revision: Option<Revision>,
    },
    /// An agent's stream has come up on a member.
    OpenSession {
        /// The agent's name.
        agent: String,
        /// Its region.
        region: String,
        /// Its run.
        run: AgentRun,
        /// The version it says it runs.
        version: String,
        /// The member that holds the stream.
        member: MemberId,
        /// Is it blind (PRB-14)? `None`: it does not know yet, and stays what it was.
        is_blind: Option<bool>,
    },
    /// An agent says that it is blind, or that it sees again (PRB-14).
    SetSight {
        /// The agent.
        agent: Caseless,
        /// The session in which it says so; a newer one makes this void.
        session: Revision,
        /// Is it blind?
        is_blind: bool,
    },
    /// Outcomes of one agent that seemed to change something when a member looked (STA-7).
    RecordOutcomes {
        /// The agent.
        agent: Caseless,
        /// The run in which they were found.
        run: AgentRun,
        /// The outcomes, in the order of their sequence numbers.
        outcomes: Vec<ReportedOutcome>,
    },
    /// Nothing was heard from an agent about endpoints for longer than its verdicts live (STA-5).
    ExpireVerdicts {
        /// The agent.
        agent: Caseless,
        /// The session whose holder noticed; a newer one makes this void.
        session: Revision,
        /// The endpoints.
        endpoints: Vec<EndpointId>,
    },
    /// No member has heard an agent for 15 s (STA-5).
    LoseAgent {
        /// The agent.
        agent: Caseless,
        /// The session that went silent; a newer one makes this void.
        session: Revision,
    },
    /// What was replaced before this moment is kept no longer (RTE-15): proposed by the leader's timers.
    ForgetHistory {
        /// The moment.
        before: Timestamp,
    },
    /// A secret for DNS cookies, for when the one in force is a day old (DNS-11): proposed by the leader's timers.
    RotateCookies {
        /// Freshly drawn.
        fresh: CookieSecret,
    },
    /// What the leader found names of flattened profiles to stand for, where that is something else than before (DNS-16).
    FlattenTargets {
        /// For each endpoint that has such a name.
        found: Vec<FoundAddresses>,
    },
    /// A number for a member that is about to come in, or any that one has had: none is given twice (CLU-4).
    AllotMember {
        /// The number.
        number: MemberId,
    },
    /// All members support this level of `apply`, and the cluster goes by it from the next command on (CLU-9); a lower one than
    /// that in force changes nothing. A member that does not support it stops here, see [`ApplyLevel::needed`].
    RaiseApplyLevel {
        /// The level.
        to: ApplyLevel,
    },
    /// How far something has come that an operator changes beside the log: who is in the cluster, or who leads it. Nothing
    /// changes but the audit trail (SEC-5).
    Audit {
        /// How far.
        outcome: AuditOutcome,
    },
    /// What concerns the issuing authority and join tokens (SEC-1).
    Enrolment(EnrolmentWish),
    /// An operator wants an agent that is lost out of the list.
    ForgetAgent {
        /// The agent.
        name: String,
    },
}

/// The addresses that the name of a flattened endpoint was resolved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundAddresses {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The name that was looked up: void if the endpoint's target is another by now.
    pub name: Name,
    /// All of its addresses; none: nothing changes.
    pub addresses: Vec<IpAddr>,
}

/// One outcome as an agent reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedOutcome {
    /// The endpoint that was probed.
    pub endpoint: EndpointId,
    /// The revision of the check that was carried out: the outcome counts for no other (STA-11).
    pub check: Revision,
    /// The outcome's number in the agent's run.
    pub sequence: u64,
    /// How old it was when it was proposed, in milliseconds, by the agent's and then the member's monotonic clock.
    pub age_ms: u64,
    /// What was found.
    pub outcome: Outcome,
}

//! The removal brake (FAIL-2): what a profile's keeps, its release, and what it says in events.

use std::sync::Arc;

use waymark_core::health::{ByFamily, EndpointStatus};
use waymark_core::model::{Caseless, EndpointId, ProfileId, Revision, Timestamp};
use waymark_core::state::{Action, Brake, EventCause, Held};

use super::health::{by_family, standing};
use super::{Malformed, each, number};
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;

impl From<&Held> for wire::Held {
    fn from(held: &Held) -> Self {
        let Held { status: _, by_family: _, since, revision: _ } = held;
        Self { since_ms: since.0 }
    }
}

/// What the brake of a profile keeps, as snapshots have it.
pub(super) fn brake_record(profile: ProfileId, brake: &Brake) -> stored::StoredBrake {
    let Brake { left, held } = brake;
    let departure =
        |(id, left): (&EndpointId, &Revision)| stored::Departure { endpoint: id.0, revision: left.0 };
    stored::StoredBrake {
        profile: profile.0,
        left: left.iter().map(departure).collect(),
        held: held.iter().map(|(id, held)| held_message(*id, held)).collect(),
    }
}

pub(super) fn recorded_brake(message: stored::StoredBrake) -> Result<(ProfileId, Arc<Brake>), Malformed> {
    let stored::StoredBrake { profile, left, held } = message;
    let departure = |stored::Departure { endpoint, revision }| (EndpointId(endpoint), Revision(revision));
    let brake = Brake {
        left: left.into_iter().map(departure).collect(),
        held: held.into_iter().map(stored_held).collect::<Result<_, _>>()?,
    };
    Ok((ProfileId(profile), Arc::new(brake)))
}

fn held_message(endpoint: EndpointId, held: &Held) -> stored::StoredHeld {
    let Held { status, by_family, since, revision } = held;
    stored::StoredHeld {
        endpoint: endpoint.0,
        status: wire::Status::from(*status).into(),
        status_v4: standing(by_family.as_ref(), |by_family: &ByFamily| by_family.v4),
        status_v6: standing(by_family.as_ref(), |by_family: &ByFamily| by_family.v6),
        since_ms: since.0,
        revision: revision.0,
    }
}

fn stored_held(message: stored::StoredHeld) -> Result<(EndpointId, Held), Malformed> {
    let stored::StoredHeld { endpoint, status, status_v4, status_v6, since_ms, revision } = message;
    let held = Held {
        status: EndpointStatus::try_from(number::<wire::Status>("brake.held.status", status)?)?,
        by_family: by_family(status_v4, status_v6)?,
        since: Timestamp(since_ms),
        revision: Revision(revision),
    };
    Ok((EndpointId(endpoint), held))
}

pub(super) fn release_brakes(due: &[(ProfileId, Revision)]) -> stored::ReleaseBrakes {
    let one =
        |(profile, up_to): &(ProfileId, Revision)| stored::DueBrake { profile: profile.0, up_to: up_to.0 };
    stored::ReleaseBrakes { due: due.iter().map(one).collect() }
}

pub(super) fn released_brakes(message: stored::ReleaseBrakes) -> Action {
    let one = |stored::DueBrake { profile, up_to }| (ProfileId(profile), Revision(up_to));
    Action::ReleaseBrakes { due: message.due.into_iter().map(one).collect() }
}

pub(super) fn brake_cause(message: stored::BrakeCause) -> Result<EventCause, Malformed> {
    let stored::BrakeCause { held_ms, child, regions } = message;
    let child = child.map(|child| Caseless::new(&child));
    Ok(EventCause::Brake { held_ms, child, regions: each(regions)? })
}

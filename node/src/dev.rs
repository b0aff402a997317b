//! `--dev`: a cluster of one that founds itself, with one zone to play in (OPS-3).

use waymark_core::model::{Edit, ZonePatch};
use waymark_core::state::{Action, Command};

use crate::raft::Started;

/// The zone.
const ZONE: &str = "waymark.test";

/// Founds the cluster and its zone, if that was not done at an earlier start.
pub(crate) async fn found(started: &Started) -> Result<(), String> {
    if started.membership.id().is_some() {
        return Ok(());
    }
    started.membership.init().await.map_err(|error| error.to_string())?;
    let server = (format!("ns1.{ZONE}"), vec!["127.0.0.1".to_owned()]);
    let fields = ZonePatch { name_servers: Edit::Set(vec![server]), ..ZonePatch::default() };
    let action = Action::CreateZone { name: ZONE.into(), fields };
    let command = Command::of_cluster(action);
    let proposed = started.proposer.propose(vec![command]).await.map_err(|error| error.to_string())?;
    for reply in proposed.replies {
        reply.map_err(|rejection| rejection.to_string())?;
    }
    Ok(())
}

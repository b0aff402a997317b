//! `waymark cluster`: the members, and the cluster as a whole.

mod files;
mod shown;

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::cluster_client::ClusterClient;
use waymark_proto::admin::v1::{
    self as wire, AddMemberRequest, GetClusterRequest, InitClusterRequest, InitClusterResponse,
    PromoteMemberRequest, RemoveMemberRequest, TransferLeaderRequest, UpgradeClusterRequest,
};

use crate::client::{Attempt, Client};
use crate::confirm;
use crate::failure::Failure;
use crate::session::Session;
use shown::{Changed, ClusterStatus, Founded, Member, Upgraded};

/// How long a change may take, if `--timeout` does not say: the whole state may have to be copied to a new member, for which the
/// cluster has 30 s; the entries of the audit trail before and behind it take 4 s each at most.
const CHANGING: Duration = Duration::from_secs(40);

/// What is done to the cluster.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Found a cluster on the one member that --endpoint names.
    #[command(
        after_help = "Examples:\n  waymark cluster init\n  waymark cluster init --endpoint https://127.0.0.1:7411"
    )]
    Init,
    /// What a member knows of its cluster; needs no leader.
    #[command(after_help = "Examples:\n  waymark cluster status\n  waymark cluster status -o json")]
    Status,
    /// Take in the empty member at an address: it learns, catches up, and then votes.
    #[command(after_help = "Examples:\n  waymark cluster add https://192.0.2.12:7400\n  \
waymark cluster add https://127.0.0.1:7412 --endpoint https://127.0.0.1:7411")]
    Add {
        /// The new member's gRPC address.
        #[arg(value_name = "URL")]
        address: String,
        /// It shall only learn, and not vote: one more name server
        #[arg(long)]
        learner: bool,
    },
    /// Take a member out, whether it answers or not. Take it out of the zones' delegations first: it goes on answering from
    /// what it knows until it is stopped.
    #[command(
        after_help = "Examples:\n  waymark cluster remove m3 --yes\n  waymark cluster remove m3 --yes -o json"
    )]
    Remove {
        /// The member's name.
        #[arg(value_name = "MEMBER")]
        name: String,
    },
    /// Have a learner vote, once it has caught up.
    #[command(after_help = "Examples:\n  waymark cluster promote m4\n  waymark cluster promote m4 -o json")]
    Promote {
        /// The learner's name.
        #[arg(value_name = "MEMBER")]
        name: String,
    },
    /// Have another member lead: the one that is named, or whichever is nearest to the leader.
    #[command(
        after_help = "Examples:\n  waymark cluster transfer-leader\n  waymark cluster transfer-leader m2"
    )]
    TransferLeader {
        /// The voter's name.
        #[arg(value_name = "MEMBER")]
        name: Option<String>,
    },
    /// All members run a later version: have the cluster do what that version does otherwise. Refused before all members support it.
    /// Afterwards no member can go back to the version before. 'waymark cluster status' shows what each member supports.
    #[command(after_help = "Examples:\n  waymark cluster upgrade --dry-run\n  waymark cluster upgrade")]
    Upgrade {
        /// Only say whether it could be done, or who stands in the way
        #[arg(long)]
        dry_run: bool,
    },
    /// Write all that the cluster agrees on into a file; with --stale what the member that is asked has, without a leader.
    #[command(
        after_help = "Examples:\n  waymark cluster backup waymark.backup\n  waymark cluster backup waymark.backup --stale"
    )]
    Backup {
        /// The file; there must be none of that name.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Found a new cluster on the one empty member that --endpoint names, from a backup.
    #[command(
        after_help = "Examples:\n  waymark cluster restore waymark.backup --endpoint https://127.0.0.1:7411\n  \
waymark cluster restore waymark.backup --endpoint https://127.0.0.1:7411 -o json"
    )]
    Restore {
        /// The backup.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// A majority is lost for good: found a new cluster on the empty member at an address, from what the survivor knows that
    /// --endpoint names.
    #[command(
        after_help = "Examples:\n  waymark cluster recover https://127.0.0.1:7414 --endpoint https://127.0.0.1:7412 --yes\n  \
waymark cluster recover https://127.0.0.1:7414 --keep lost.backup --endpoint https://127.0.0.1:7412 --yes"
    )]
    Recover {
        /// The empty member's gRPC address.
        #[arg(value_name = "URL")]
        address: String,
        /// Where the survivor's data is kept as a backup; there must be no file of that name
        #[arg(long, value_name = "FILE", default_value = "recovered.backup")]
        keep: PathBuf,
    },
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::Init => init(session).await,
        Verb::Status => Ok(session.show(&ClusterStatus::from(status(session).await?))),
        Verb::Add { address, learner } => add(address, learner, session).await,
        Verb::Remove { name } => remove(name, session).await,
        Verb::Promote { name } => promote(name, session).await,
        Verb::TransferLeader { name } => transfer(name, session).await,
        Verb::Upgrade { dry_run } => upgrade(dry_run, session).await,
        Verb::Backup { file } => files::back_up(&file, session).await,
        Verb::Restore { file } => files::restore(&file, session).await,
        Verb::Recover { address, keep } => files::recover(&address, &keep, session).await,
    }
}

/// What some member knows of the cluster.
pub(crate) async fn status(session: &Session) -> Result<wire::ClusterStatus, Failure> {
    status_of(&session.client).await
}

async fn status_of(client: &Client) -> Result<wire::ClusterStatus, Failure> {
    let call = async |at: Attempt| {
        let request = at.request(&GetClusterRequest {});
        ClusterClient::new(at.channel)
            .max_decoding_message_size(RESPONSE_BYTES_MAX)
            .get_cluster(request)
            .await
    };
    client.read(call).await
}

async fn init(session: &Session) -> Result<String, Failure> {
    one_member(session, "a cluster is founded on one member")?;
    let call = async |at: Attempt| {
        let request = at.request(&InitClusterRequest {});
        ClusterClient::new(at.channel).init_cluster(request).await
    };
    let InitClusterResponse { cluster_id, member } = session.client.once(call).await?;
    Ok(session.show(&Founded { cluster_id, member: member.map(Into::into) }))
}

/// What cannot be done by whichever member answers.
fn one_member(session: &Session, why: &str) -> Result<(), Failure> {
    let urls: Vec<&str> = session.client.urls().collect();
    match urls[..] {
        [_] => Ok(()),
        _ => Err(Failure::usage(format!("{why}: name it alone, as in --endpoint {}", urls[0]))),
    }
}

async fn remove(name: String, session: &Session) -> Result<String, Failure> {
    confirm::removal(session.yes, &format!("the member '{name}'"))?;
    let request = RemoveMemberRequest { name };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ClusterClient::new(at.channel).remove_member(request).await
    };
    let removed = session.client_within(CHANGING).once(call).await?.member.unwrap_or_default();
    Ok(session.show(&Changed::new(removed, "is out of the cluster; stop it")))
}

async fn promote(name: String, session: &Session) -> Result<String, Failure> {
    let request = PromoteMemberRequest { name };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ClusterClient::new(at.channel).promote_member(request).await
    };
    Ok(session.show(&Changed::new(session.client_within(CHANGING).once(call).await?, "votes")))
}

async fn transfer(name: Option<String>, session: &Session) -> Result<String, Failure> {
    let request = TransferLeaderRequest { name: name.unwrap_or_default() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ClusterClient::new(at.channel).transfer_leader(request).await
    };
    Ok(session.show(&Changed::new(session.client_within(CHANGING).once(call).await?, "leads")))
}

async fn upgrade(dry_run: bool, session: &Session) -> Result<String, Failure> {
    let request = UpgradeClusterRequest { dry_run };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ClusterClient::new(at.channel).upgrade_cluster(request).await
    };
    let wire::UpgradeClusterResponse { apply_level } = session.client_within(CHANGING).once(call).await?;
    Ok(session.show(&Upgraded { apply_level, dry_run }))
}

async fn add(address: String, learner: bool, session: &Session) -> Result<String, Failure> {
    let client = session.client_within(CHANGING);
    let request = AddMemberRequest { address, learner };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ClusterClient::new(at.channel).add_member(request).await
    };
    Ok(session.show(&Member::from(client.once(call).await?)))
}

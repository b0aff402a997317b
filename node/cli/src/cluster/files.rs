//! A cluster into a file, and out of it again.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use waymark_proto::admin::v1::cluster_client::ClusterClient;
use waymark_proto::admin::v1::{BackUpRequest, BackUpSource, InitClusterResponse, RestorePart};

use super::shown::{Backup, Founded};
use super::{one_member, status, status_of};
use crate::client::{Attempt, Client};
use crate::confirm;
use crate::failure::{Exit, Failure};
use crate::session::Session;

/// How long it may take, if `--timeout` does not say: a large cluster's state has hundreds of megabytes.
const PASSING: Duration = Duration::from_secs(600);
/// How long it may take until the first part comes: the state is written to a file before.
const OPENING: Duration = Duration::from_secs(30);
/// Bytes that are sent at once.
const PART_BYTES: usize = 1 << 20;

/// Writes what the cluster agrees on into `file`.
pub(super) async fn back_up(file: &Path, session: &Session) -> Result<String, Failure> {
    let source = if session.stale { BackUpSource::Applied } else { BackUpSource::Unspecified };
    let bytes = fetch(file, source, &session.client_within(PASSING)).await?;
    Ok(session.show(&Backup { file: file.display().to_string(), bytes }))
}

/// Founds a cluster on an empty member with what is in `file`.
pub(super) async fn restore(file: &Path, session: &Session) -> Result<String, Failure> {
    one_member(session, "a backup is restored on one empty member")?;
    send(file, &session.client_within(PASSING), session).await
}

/// Founds a cluster on the empty member at `address` with what a survivor knows, which is kept in `keep`.
pub(super) async fn recover(address: &str, keep: &Path, session: &Session) -> Result<String, Failure> {
    one_member(session, "a cluster is recovered from one survivor")?;
    // Found out first: else the survivor's data is waited for, and kept, in vain.
    let founder = status_of(&session.client.at(address)?).await?;
    if !founder.cluster_id.is_empty() {
        return Err(Failure::new(
            Exit::Refused,
            format!(
                "'{}' at {address} belongs to cluster {}: a cluster is recovered on an empty member; nothing was changed",
                founder.answered_by, founder.cluster_id
            ),
        ));
    }
    let survivor = status(session).await?;
    let question = format!(
        "Found a new cluster at {address} from what '{}' knows: entry {} of its log is the last. Whatever was acknowledged \
         beyond it by members that are lost is lost with them; survivors of the old cluster must be stopped for good. Go on?",
        survivor.answered_by, survivor.last_log
    );
    confirm::consent(
        session.yes,
        &question,
        "nothing was recovered",
        "what only lost members know would be lost",
    )?;
    let client = session.client_within(PASSING);
    fetch(keep, BackUpSource::Log, &client).await?;
    send(keep, &client.at(address)?, session).await
}

/// Writes a backup into `file`, whole or not at all; how long it is.
async fn fetch(file: &Path, source: BackUpSource, client: &Client) -> Result<u64, Failure> {
    let cannot = |doing: &str, error: &dyn std::fmt::Display| {
        Failure::new(Exit::Refused, format!("{} cannot be {doing}: {error}", file.display()))
    };
    if file.exists() {
        return Err(cannot("written", &"it is there already; choose another name, or move it away"));
    }
    let request = BackUpRequest { source: source.into() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ClusterClient::new(at.channel).back_up(request).await
    };
    let mut parts = client.within(client.timeout().min(OPENING)).read(call).await?;
    let mut draft = file.as_os_str().to_owned();
    draft.push(format!(".{}.part", std::process::id()));
    let draft = Draft(draft.into());
    // It holds headers of probes, which may be secrets; what is there by that name is somebody else's.
    let options = File::options().write(true).create_new(true).mode(0o600).open(&draft.0);
    let mut out = options.map_err(|error| cannot("written", &error))?;
    let mut bytes = 0;
    while let Some(part) = parts.message().await.map_err(|status| cannot("written", &status.message()))? {
        bytes += part.data.len() as u64;
        out.write_all(&part.data).map_err(|error| cannot("written", &error))?;
    }
    out.sync_all().map_err(|error| cannot("written", &error))?;
    check(&draft.0).map_err(|error| cannot("written", &error))?;
    fs::rename(&draft.0, file).map_err(|error| cannot("written", &error))?;
    Ok(bytes)
}

/// A file that is not a backup yet; gone with this, unless it has become one.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A backup ends in the checksum (CRC-32) of all that is in front of it.
fn check(file: &Path) -> Result<(), String> {
    let mut bytes = File::open(file).map_err(|error| error.to_string())?;
    let mut left =
        bytes.metadata().map_err(|error| error.to_string())?.len().checked_sub(4).ok_or("it is cut short")?;
    let (mut hasher, mut chunk) = (crc32fast::Hasher::new(), vec![0; PART_BYTES]);
    while left > 0 {
        let most = left.min(PART_BYTES as u64) as usize;
        let count = bytes.read(&mut chunk[..most]).map_err(|error| error.to_string())?;
        if count == 0 {
            return Err("it is cut short".to_owned());
        }
        hasher.update(&chunk[..count]);
        left -= count as u64;
    }
    let mut sum = [0; 4];
    bytes.read_exact(&mut sum).map_err(|error| error.to_string())?;
    if u32::from_be_bytes(sum) == hasher.finalize() {
        Ok(())
    } else {
        Err("its checksum is wrong".to_owned())
    }
}

async fn send(file: &Path, client: &Client, session: &Session) -> Result<String, Failure> {
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::new(
            Exit::Refused,
            format!("{} cannot be restored: {error}; nothing was changed", file.display()),
        )
    };
    check(file).map_err(|error| cannot(&error))?;
    let call = async |at: Attempt| {
        let bytes =
            File::open(file).map_err(|error| tonic::Status::failed_precondition(error.to_string()))?;
        let mut request = at.request(&()).map(|()| tokio_stream::iter(Parts(bytes)));
        request.set_timeout(client.timeout());
        ClusterClient::new(at.channel).restore(request).await
    };
    let InitClusterResponse { cluster_id, member } = client.once(call).await?;
    Ok(session.show(&Founded { cluster_id, member: member.map(Into::into) }))
}

/// A file in parts; it ends early where it cannot be read, which its checksum tells.
struct Parts(File);

impl Iterator for Parts {
    type Item = RestorePart;

    fn next(&mut self) -> Option<RestorePart> {
        let mut data = vec![0; PART_BYTES];
        let count = self.0.read(&mut data).ok()?;
        data.truncate(count);
        (count > 0).then(|| RestorePart { data: data.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clu_10_a_damaged_or_shortened_backup_is_found_out() {
        let dir = std::env::temp_dir().join(format!("waymark-backup-{}", std::process::id()));
        let whole =
            [b"what is agreed on".to_vec(), crc32fast::hash(b"what is agreed on").to_be_bytes().into()]
                .concat();
        for (bytes, fault) in [
            (whole.clone(), None),
            (whole[..whole.len() - 1].to_vec(), Some("its checksum is wrong")),
            (whole[..3].to_vec(), Some("it is cut short")),
            (whole.iter().map(|byte| byte ^ 1).collect(), Some("its checksum is wrong")),
        ] {
            fs::write(&dir, &bytes).unwrap();
            assert_eq!(check(&dir).err().as_deref(), fault, "{bytes:?}");
        }
        fs::remove_file(&dir).unwrap();
    }
}

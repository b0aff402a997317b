//! Who calls, and whom they mean: the one place where a member tells another who it is and believes what it is told.
//!
//! The metadata keeps members of different clusters, and a member and its predecessor at the same address, apart by
//! mistake. Where TLS is spoken, the number in it must be that of the member whose certificate was shown (SEC-2).

use tonic::metadata::{Ascii, MetadataMap, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

use super::data_dir::REJOIN;
use crate::acceptor::Peer;
use waymark_process::identity::Role;

const CLUSTER: &str = "waymark-cluster";
const FROM: &str = "waymark-from";
const TO: &str = "waymark-to";
/// A cluster's id is shorter; what is longer is not repeated as a whole.
const CLUSTER_SHOWN_MAX: usize = 64;

/// The member that sent a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    /// Its number.
    pub(super) member: u64,
}

/// Whom a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Callee<'a> {
    /// The cluster.
    pub(super) cluster: &'a str,
    /// The member's number.
    pub(super) member: u64,
}

/// Tells in each request who sends it and whom it is for.
#[derive(Clone, Debug)]
pub(super) struct Introduction {
    cluster: MetadataValue<Ascii>,
    from: MetadataValue<Ascii>,
    to: MetadataValue<Ascii>,
}

impl Introduction {
    /// Of the member `from` of `cluster` to the member `to`.
    pub(super) fn new(cluster: &str, from: u64, to: u64) -> Self {
        // Cluster ids are hexadecimal; one that is not is refused by the other side like any other foreign one.
        let cluster = cluster.parse().unwrap_or(MetadataValue::from_static("unknown"));
        Self { cluster, from: from.into(), to: to.into() }
    }
}

impl Interceptor for Introduction {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let metadata = request.metadata_mut();
        metadata.insert(CLUSTER, self.cluster.clone());
        metadata.insert(FROM, self.from.clone());
        metadata.insert(TO, self.to.clone());
        Ok(request)
    }
}

/// Who a member without a cluster is asked to be: more than its operator expects, if it was wiped (CLU-4).
pub(super) fn refuse_for_nobody<T>(request: &Request<T>) -> Status {
    let metadata = request.metadata();
    let (cluster, to) = (cluster_of(metadata), number(metadata, TO).unwrap_or_default());
    Status::failed_precondition(format!(
        "this member is empty, and others take it for member {to} of cluster '{cluster}': if it was that one, its data \
         is lost, and it cannot come back as the same; {REJOIN}"
    ))
}

fn cluster_of(metadata: &MetadataMap) -> &str {
    let cluster = metadata.get(CLUSTER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    cluster.get(..CLUSTER_SHOWN_MAX).unwrap_or(cluster)
}

/// The member of this cluster that sent `request` to `me`; refuses what comes from elsewhere or is for someone else.
pub(super) fn identify<T>(request: &Request<T>, me: &Callee<'_>) -> Result<Caller, Status> {
    let metadata = request.metadata();
    let cluster = cluster_of(metadata);
    if cluster != me.cluster {
        let text =
            format!("this is a member of cluster {}, the request is for cluster '{cluster}'", me.cluster);
        return Err(Status::failed_precondition(text));
    }
    match (number(metadata, FROM), number(metadata, TO)) {
        (Some(member), Some(to)) if to == me.member => Ok(Caller { member }),
        (Some(_), Some(to)) => {
            let text = format!("this is member {}, the request is for member {to}", me.member);
            Err(Status::failed_precondition(text))
        }
        _ => Err(Status::failed_precondition("the request does not say which member sent it, or to which")),
    }
}

/// What this member knows of a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Acquaintance {
    /// It is the member that it says it is; or this one knows nobody yet, as it has just been taken in and learns from
    /// whoever tells it.
    Known,
    /// Neither its number nor the name in its certificate is known here.
    Newcomer(Role),
}

/// Refuses a caller whose certificate is that of another member than it says it is.
pub(super) fn certify<T>(
    request: &Request<T>,
    caller: &Caller,
    known: &[(u64, &str)],
) -> Result<Acquaintance, Status> {
    let Some(identity) = request.extensions().get::<Peer>().and_then(Peer::identity) else {
        return Ok(Acquaintance::Known);
    };
    let role = &identity.role;
    let own = known.iter().find(|(_, name)| role.is_member(name)).map(|(id, _)| *id);
    let claimed = known.iter().find(|(id, _)| *id == caller.member);
    let text = match (claimed, own) {
        (Some((id, _)), Some(own)) if *id == own => return Ok(Acquaintance::Known),
        (None, None) if known.is_empty() => return Ok(Acquaintance::Known),
        (None, None) => return Ok(Acquaintance::Newcomer(role.clone())),
        (_, Some(own)) => format!("{role} is member {own}, and says that it is member {}", caller.member),
        (Some((id, name)), None) => format!("{role} says that it is member {id}, which is '{name}'"),
    };
    Err(Status::permission_denied(text))
}

fn number(metadata: &MetadataMap, key: &'static str) -> Option<u64> {
    metadata.get(key)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn introduced(cluster: &str, to: u64) -> Request<()> {
        Introduction::new(cluster, 1, to).call(Request::new(())).unwrap()
    }

    #[test]
    fn clu_4_only_this_cluster_and_only_this_member_are_meant() {
        let me = Callee { cluster: "aa", member: 2 };
        assert_eq!(identify(&introduced("aa", 2), &me).unwrap(), Caller { member: 1 });
        assert!(identify(&introduced("bb", 2), &me).is_err());
        assert!(identify(&introduced("aa", 3), &me).is_err());
        assert!(identify(&Request::new(()), &me).is_err());
    }

    #[test]
    fn sec_2_a_member_is_the_one_of_its_certificate() {
        let known = [(1, "m1"), (2, "m2"), (4, "m4")];
        let says = |identity: &str, member| {
            let mut request = Request::new(());
            let identity = waymark_process::identity::Identity::parse(identity).unwrap();
            request.extensions_mut().insert(Peer::known(identity, ([127, 0, 0, 1], 1).into(), false));
            let by = |known| certify(&request, &Caller { member }, known).map_err(|status| status.code());
            (by(&known[..]), by(&[]))
        };
        let stranger =
            |uri| Ok(Acquaintance::Newcomer(waymark_process::identity::Identity::parse(uri).unwrap().role));
        assert_eq!(says("spiffe://x/member/m1", 1), (Ok(Acquaintance::Known), Ok(Acquaintance::Known)));
        for number in [3, 5] {
            let uri = "spiffe://x/member/m3";
            assert_eq!(says(uri, number), (stranger(uri), Ok(Acquaintance::Known)), "the others are asked");
        }
        for (identity, member) in
            [("spiffe://x/member/m1", 2), ("spiffe://x/member/m1", 3), ("spiffe://x/member/m3", 1)]
        {
            assert_eq!(says(identity, member).0, Err(tonic::Code::PermissionDenied), "{identity} {member}");
        }
        let plain = certify(&Request::new(()), &Caller { member: 9 }, &known);
        assert_eq!(plain.map_err(|status| status.code()), Ok(Acquaintance::Known));
    }
}

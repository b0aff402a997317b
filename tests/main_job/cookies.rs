//! What a resolver learns of one member is good at every other, over real processes (DNS-11, DNS-12).

use harness::dns::exchange;
use harness::{Cluster, eventually};
use hickory_proto::op::Message;
use hickory_proto::rr::RData;

const CLIENT: &[u8; 8] = b"resolver";

/// A query for a name that nobody has, with `cookie` as its only option.
fn query(cookie: &[u8]) -> Vec<u8> {
    let (_, mut packet) = harness::dns::packet("nobody.waymark.test", "A");
    packet[11] = 1;
    let length = cookie.len() as u8;
    packet.extend([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, length + 4, 0, 10, 0, length]);
    packet.extend(cookie);
    packet
}

/// The cookie at the end of a reply, if there is a whole one.
fn learnt(reply: &[u8]) -> Result<Vec<u8>, String> {
    let cookie = reply.len().checked_sub(24).map(|start| reply[start..].to_vec());
    cookie.filter(|cookie| cookie.starts_with(CLIENT)).ok_or_else(|| format!("no cookie in {reply:02x?}"))
}

/// DNS-11: a cookie of one member is kept by the others, also after a restart of all of them.
#[test]
fn dns_11_a_cookie_is_good_on_every_member_and_after_a_restart() {
    let mut cluster = Cluster::start(3);
    let members = |cluster: &Cluster| cluster.members.iter().map(|member| member.dns).collect::<Vec<_>>();
    let first = members(&cluster)[0];
    let cookie = eventually("a member gives a cookie", || learnt(&exchange(first, &query(CLIENT))?));
    let kept_by_all = |cluster: &Cluster| {
        for member in members(cluster) {
            eventually("every member knows the cookie", || {
                match learnt(&exchange(member, &query(&cookie))?)? {
                    kept if kept == cookie => Ok(()),
                    other => Err(format!("{member} gave another: {other:02x?}")),
                }
            });
        }
    };
    kept_by_all(&cluster);
    for member in &mut cluster.members {
        member.kill();
    }
    for member in &mut cluster.members {
        member.start();
    }
    kept_by_all(&cluster);
}

/// DNS-12: each member tells its own name in class CH.
#[test]
fn dns_12_each_member_tells_its_name() {
    let cluster = Cluster::start(3);
    for member in &cluster.members {
        let (_, mut packet) = harness::dns::packet("id.server", "TXT");
        let class = packet.len() - 1;
        packet[class] = 3;
        let reply = eventually("a member answers", || exchange(member.dns, &packet));
        let message = Message::from_vec(&reply).expect("a reply can be read");
        let RData::TXT(text) = &message.answers[0].data else { panic!("a text: {message}") };
        assert_eq!(text.to_string().trim_matches('"'), member.name);
    }
}

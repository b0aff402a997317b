//! From a zone that commands have made to bytes: DNS-1 … DNS-7 on the wire, and DNS-23 over sockets.

use std::net::UdpSocket;

use hickory_server::proto::op::Message;
use waymark_core::model::{Edit, EndpointPatch, LogIndex, ProfilePatch, Routing, ZonePatch};
use waymark_core::state::{Action, State, View};

use super::packets::*;
use super::sockets::*;
use crate::config::AnswerSettings;
use crate::dns::bind;
use crate::dns::fuzzing::zones::carry_out;
use crate::dns::respond::{Transport, respond};
use crate::publication::{no_tables, publication};

const AAAA: u16 = 28;
const ANY: u16 = 255;
const NS: u16 = 2;
const SOA: u16 = 6;

/// A zone with a name server inside and one outside.
fn zone() -> State {
    let servers = [("ns1.example.com", &["192.0.2.53", "2001:db8::53"][..]), ("ns.example.net", &[])];
    let text = |(name, addresses): (&str, &[&str])| {
        (name.to_owned(), addresses.iter().map(ToString::to_string).collect())
    };
    let fields = ZonePatch { name_servers: Edit::Set(servers.map(text).to_vec()), ..ZonePatch::default() };
    carry_out(&State::default(), Action::CreateZone { name: "Example.COM".to_owned(), fields })
}

/// `state` with a profile at `relative_name` whose endpoints are always served, each with weight 1.
fn with_profile(state: &State, relative_name: &str, targets: &[&str]) -> State {
    let endpoint = |target: &&str| {
        let (target, always_serve) = (Edit::Set(target.to_string()), Edit::Set(true));
        (target_name(&target), EndpointPatch { target, always_serve, ..EndpointPatch::default() })
    };
    carry_out(
        state,
        Action::CreateProfile {
            name: relative_name.replace('.', "-"),
            zone: "example.com".to_owned(),
            relative_name: relative_name.to_owned(),
            fields: ProfilePatch { routing: Edit::Set(Routing::Weighted), ..ProfilePatch::default() },
            endpoints: targets.iter().map(endpoint).collect(),
        },
    )
}

fn target_name(target: &Edit<String>) -> String {
    let Edit::Set(target) = target else { unreachable!("it is set") };
    format!("to-{}", target.replace(['.', ':'], "-"))
}

pub(super) fn view() -> View {
    let state = with_profile(&zone(), "app", &["192.0.2.80"]);
    let state = with_profile(&state, "www", &["app.example.com"]);
    let state = with_profile(&state, "cdn", &["edge.example.net"]);
    View::of(with_profile(&state, "api.deep.eu", &["2001:db8::80"]), LogIndex(9))
}

/// The reply's code, flags and records, each section a list of lines in lower case.
fn look(view: &View, name: &str, kind: u16) -> (u16, u16, [Vec<String>; 3]) {
    let packet = [header(RD, [1, 0, 0, 0]), question(name, kind, IN)].concat();
    let mut out = Vec::new();
    respond(view, &AnswerSettings::default(), &arrival(&packet, Transport::Udp), &mut out);
    assert_eq!(out[12..packet.len()], packet[12..], "the question of {name}");
    let seen = Seen::of(&out);
    let message = Message::from_vec(&out).expect("a reply can be read");
    let lines = |section: &[hickory_server::proto::rr::Record]| {
        section.iter().map(|record| record.to_string().to_lowercase()).collect()
    };
    let sections = [lines(&message.answers), lines(&message.authorities), lines(&message.additionals)];
    (seen.rcode, seen.flags, sections)
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

const POSITIVE: u16 = QR | AA | RD;

#[test]
fn dns_1_a_zone_answers_with_its_own_data() {
    let view = view();
    let serial = view.state.zones.values().next().expect("a zone").revision.0;
    let soa = format!(
        "example.com. 3600 in soa ns1.example.com. hostmaster.example.com. {serial} 3600 600 604800 30"
    );
    assert_eq!(look(&view, "example.com", SOA), (NO_ERROR, POSITIVE, [vec![soa], vec![], vec![]]));
    let servers = ["example.com. 3600 in ns ns1.example.com.", "example.com. 3600 in ns ns.example.net."];
    let glue = ["ns1.example.com. 3600 in a 192.0.2.53", "ns1.example.com. 3600 in aaaa 2001:db8::53"];
    let expected = [lines(&servers), vec![], lines(&glue)];
    assert_eq!(look(&view, "example.com", NS), (NO_ERROR, POSITIVE, expected));
    let expected = [lines(&glue[..1]), vec![], vec![]];
    assert_eq!(look(&view, "ns1.example.com", A), (NO_ERROR, POSITIVE, expected));
}

#[test]
fn dns_5_negative_answers_tell_nothing_here_from_nothing_below() {
    let view = view();
    for (name, kind, code) in [
        ("app.example.com", AAAA, NO_ERROR),
        ("app.example.com", 65, NO_ERROR),
        ("app.example.com", SOA, NO_ERROR),
        ("deep.eu.example.com", A, NO_ERROR),
        ("eu.example.com", NS, NO_ERROR),
        ("eu.example.com", ANY, NO_ERROR),
        ("xx.eu.example.com", A, NX_DOMAIN),
        ("below.app.example.com", A, NX_DOMAIN),
        ("nope.example.com", ANY, NX_DOMAIN),
    ] {
        let (rcode, flags, [answers, authority, additional]) = look(&view, name, kind);
        assert_eq!((rcode, flags, answers.len(), additional.len()), (code, POSITIVE, 0, 0), "{name} {kind}");
        assert_eq!(authority.len(), 1, "{name} {kind}");
        assert!(authority[0].starts_with("example.com. 30 in soa "), "{authority:?}");
    }
}

#[test]
fn dns_6_aliases_are_followed_inside_our_zones_only() {
    let view = view();
    let alias = "www.example.com. 30 in cname app.example.com.";
    let followed = [lines(&[alias, "app.example.com. 30 in a 192.0.2.80"]), vec![], vec![]];
    assert_eq!(look(&view, "www.example.com", A), (NO_ERROR, POSITIVE, followed));
    let left = [lines(&["cdn.example.com. 30 in cname edge.example.net."]), vec![], vec![]];
    for kind in [A, AAAA, 16, 5, ANY] {
        assert_eq!(look(&view, "cdn.example.com", kind), (NO_ERROR, POSITIVE, left.clone()), "type {kind}");
    }
}

#[test]
fn dns_3_letters_change_the_question_and_nothing_else() {
    let view = view();
    for (lower, mixed) in [
        ("app.example.com", "aPP.ExAmple.CoM"),
        ("www.example.com", "wWw.EXAMPLE.com"),
        ("eu.example.com", "Eu.examplE.com"),
        ("nope.example.com", "nOPE.example.COM"),
        ("other.test", "oTHer.test"),
        ("example.com", "EXAMPLE.COM"),
    ] {
        for kind in [A, AAAA, NS, SOA, ANY] {
            assert_eq!(look(&view, lower, kind), look(&view, mixed, kind), "{mixed} {kind}");
        }
    }
}

#[test]
fn dns_4_only_whole_labels_lie_in_a_zone() {
    let view = view();
    for name in ["other.test", ".", "com", "notexample.com", "example.com.evil.test"] {
        assert_eq!(look(&view, name, A), (REFUSED, QR | RD, [vec![], vec![], vec![]]), "{name}");
    }
}

#[tokio::test]
async fn dns_23_an_answer_changes_with_the_view_and_dns_21_stays_with_the_last() {
    let (publisher, reader) = publication(View::default(), no_tables());
    let bound = bind(&[loopback()]).expect("loopback can be bound");
    let address = bound.addresses()[0];
    let shutdown = tokio_util::sync::CancellationToken::new();
    let served = tokio::spawn(bound.serve(reader, AnswerSettings::default(), shutdown.clone()));
    let ask = move || {
        let client = UdpSocket::bind(loopback()).expect("loopback can be bound");
        client.set_read_timeout(Some(DEADLINE)).expect("the option");
        client.send_to(&query("app.example.com"), address).expect("it can be sent");
        let mut reply = [0; 512];
        let length = client.recv(&mut reply).expect("a reply");
        Message::from_vec(&reply[..length]).expect("a reply can be read")
    };
    let asked = || async { tokio::task::spawn_blocking(ask).await.expect("no panic") };
    assert_eq!(asked().await.answers.len(), 0);
    for last in [1, 2, 3] {
        let target = format!("192.0.2.{last}");
        publisher.publish(View::of(with_profile(&zone(), "app", &[&target]), LogIndex(last)));
        assert_eq!(asked().await.answers[0].data.to_string(), target, "in the same step");
    }
    drop(publisher);
    assert_eq!(
        asked().await.answers[0].data.to_string(),
        "192.0.2.3",
        "also when no view will come any more"
    );
    shutdown.cancel();
    served.await.expect("no panic");
}

#[tokio::test]
async fn rte_14_each_query_has_a_draw_of_its_own() {
    let (_publisher, reader) = publication(
        View::of(with_profile(&zone(), "app", &["192.0.2.1", "192.0.2.2"]), LogIndex(1)),
        no_tables(),
    );
    let mut responder =
        crate::dns::responder::Answers::new(reader, AnswerSettings::default(), Default::default())
            .responder(std::sync::Arc::default());
    let mut seen = std::collections::BTreeMap::<Vec<u8>, u32>::new();
    for _ in 0..400 {
        let answered = responder.answer(&query("app.example.com"), Transport::Tcp, address(9), false);
        let (reply, _) = answered.expect("a reply");
        *seen.entry(reply[reply.len() - 4..].to_vec()).or_default() += 1;
    }
    // Six standard deviations: one run in five hundred million fails by chance.
    assert!(seen.len() == 2 && seen.values().all(|&count| (140..=260).contains(&count)), "{seen:?}");
}

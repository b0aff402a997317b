//! The same zone, served by Knot, and compared answer by answer over names, types and forms of asking. What may differ is
//! listed with the rule that says so; everything else is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};

use harness::peer::{self, Running};
use harness::{Cluster, dns, eventually, ports};

use crate::packets::{CD, DO, Opt, PLAIN_OPT, Query, RD, Reply, lines};
use crate::zone;

/// Every type that there is data for, some that there is none for, types of signed zones and types of messages.
const KINDS: [u16; 34] = [
    1, 2, 5, 6, 10, 12, 13, 15, 16, 17, 28, 29, 33, 35, 39, 43, 44, 46, 47, 48, 50, 52, 53, 61, 64, 65, 99,
    128, 249, 250, 255, 256, 257, 65_280,
];
const ANY: u16 = 255;
const REFUSED: u16 = 5;
/// An option of EDNS.
const EXTENDED_ERROR: u16 = 15;

/// Ways to ask.
const FORMS: [Form; 13] = [
    Form { what: "plainly", flags: 0, opt: None, tcp: false, mixed: false },
    Form { what: "with RD", flags: RD, opt: None, tcp: false, mixed: true },
    Form { what: "with CD", flags: CD, opt: None, tcp: false, mixed: false },
    Form { what: "over TCP", flags: RD, opt: None, tcp: true, mixed: false },
    Form { what: "with EDNS", flags: 0, opt: Some(PLAIN_OPT), tcp: false, mixed: true },
    Form { what: "with DO", flags: RD, opt: Some(Opt { flags: DO, ..PLAIN_OPT }), tcp: false, mixed: false },
    Form {
        what: "with DO and CD",
        flags: CD,
        opt: Some(Opt { flags: DO, ..PLAIN_OPT }),
        tcp: false,
        mixed: true,
    },
    Form { what: "for 0 bytes", flags: 0, opt: Some(Opt { size: 0, ..PLAIN_OPT }), tcp: false, mixed: false },
    Form {
        what: "for 512 bytes",
        flags: 0,
        opt: Some(Opt { size: 512, ..PLAIN_OPT }),
        tcp: false,
        mixed: false,
    },
    Form {
        what: "for 600 bytes",
        flags: 0,
        opt: Some(Opt { size: 600, ..PLAIN_OPT }),
        tcp: false,
        mixed: false,
    },
    Form {
        what: "for 4,096 bytes",
        flags: 0,
        opt: Some(Opt { size: 4_096, ..PLAIN_OPT }),
        tcp: false,
        mixed: false,
    },
    Form {
        what: "with an unknown option",
        flags: 0,
        opt: Some(Opt { options: &[0xfd, 0xe9, 0, 1, 7], ..PLAIN_OPT }),
        tcp: false,
        mixed: false,
    },
    Form {
        what: "over TCP with DO",
        flags: RD,
        opt: Some(Opt { flags: DO, ..PLAIN_OPT }),
        tcp: true,
        mixed: true,
    },
];

/// A way to ask.
struct Form {
    what: &'static str,
    flags: u16,
    opt: Option<Opt>,
    tcp: bool,
    /// Is every other letter of the name a capital?
    mixed: bool,
}

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    code: u16,
    flags: u16,
    opt: Option<(u16, u8, u16)>,
    options: Vec<u16>,
    /// Did the question come back in the asker's letters?
    is_echoed: bool,
    answer: Vec<String>,
    authority: Vec<String>,
    additional: Vec<String>,
}

impl Seen {
    fn of(query: &Query, reply: &Reply) -> Self {
        let asked = query.question();
        Self {
            code: reply.code(),
            flags: reply.flags(),
            opt: reply.opt(),
            options: reply.options(),
            is_echoed: reply.bytes[12..].starts_with(&asked),
            answer: lines(&reply.message.answers),
            authority: lines(&reply.message.authorities),
            additional: lines(&reply.message.additionals),
        }
    }
}

/// A difference that may be.
struct Allowed {
    rule: &'static str,
    /// Is it this and nothing else?
    explains: fn(&Query, &Seen, &Seen) -> bool,
}

/// A set of one name and type.
fn is_one_set(section: &[String]) -> bool {
    // Owner, time to live, class and type.
    let head = |line: &String| line.split(' ').take(4).map(str::to_owned).collect::<Vec<_>>();
    section.first().is_some_and(|first| section.iter().all(|line| head(line) == head(first)))
}

/// Does the answer lead to other names that one may want the addresses of?
fn leads_on(answer: &[String]) -> bool {
    answer
        .iter()
        .any(|line| [" in mx ", " in srv ", " in svcb ", " in https "].iter().any(|word| line.contains(word)))
}

/// On top of any other difference.
const CHECKING_DISABLED: &str =
    "RFC 4035 §3.1.6: who knows of signed zones should clear CD; DNS-3 copies it, as who does not know of it";

const ALLOWED: [Allowed; 4] = [
    Allowed {
        rule: "RFC 8914: Knot says in an extended error why it refuses, which is optional",
        explains: |_, ours, theirs| {
            let without = Seen { options: Vec::new(), ..theirs.clone() };
            ours.code == REFUSED && theirs.options == [EXTENDED_ERROR] && *ours == without
        },
    },
    Allowed {
        rule: "RFC 1035 §3.3.9, RFC 2782, RFC 9460 §4.1: addresses of MX, SRV, SVCB and HTTPS targets may be added; DNS-6 adds none",
        explains: |_, ours, theirs| {
            let without = Seen { additional: Vec::new(), ..theirs.clone() };
            leads_on(&ours.answer) && *ours == without
        },
    },
    Allowed {
        rule: "RFC 8482 §4.1: any one set answers ANY; DNS-7 takes the lowest type of those that are set",
        explains: |query, ours, theirs| {
            let same =
                Seen { answer: theirs.answer.clone(), additional: theirs.additional.clone(), ..ours.clone() };
            query.kind == ANY && *theirs == same && is_one_set(&ours.answer) && is_one_set(&theirs.answer)
        },
    },
    Allowed {
        rule: "RFC 4034 §3, §4: RRSIG and NSEC may stand beside an alias in a signed zone; DNS-6 follows for every type",
        explains: |query, ours, theirs| {
            let is_alias = ours.answer.iter().any(|line| line.contains(" in cname "));
            is_alias && matches!(query.kind, 46 | 47) && theirs.answer.is_empty() && theirs.code == 0
        },
    },
];

fn in_mixed_case(name: &str) -> String {
    let turn = |(at, letter): (usize, char)| if at % 2 == 0 { letter.to_ascii_uppercase() } else { letter };
    name.char_indices().map(turn).collect()
}

/// Starts Knot with the zone of this text.
fn start_knot(directory: &std::path::Path, text: &str) -> (Running, SocketAddr) {
    let program = peer::installed("knotd", "knot");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
    let running = Running::start(&program, &peer::knot(directory, address, zone::ZONE, text), directory);
    eventually("Knot answers", || match dns::ask(address, zone::ZONE, "SOA") {
        Ok(reply) if !reply.answers.is_empty() => Ok(()),
        other => Err(format!("{other:?}; {}", std::fs::read_to_string(directory.join("log")).unwrap())),
    });
    (running, address)
}

/// DNS-1, DNS-3 … DNS-9, DNS-13, DNS-17: thirteen ways of asking each of 50 names for each of 34 types.
#[test]
#[ignore = "needs Debian's package knot: make checkers"]
fn dns_17_a_zone_is_answered_as_knot_answers_it() {
    let cluster = Cluster::start(1);
    let member = cluster.members[0].dns;
    let text = zone::set(&cluster, member);
    let (_knot, knot) = start_knot(cluster.directory(), &text);
    let (mut asked, mut used, mut unexplained) = (0, BTreeMap::new(), Vec::new());
    for form in &FORMS {
        for (name, kind) in zone::names().iter().flat_map(|name| KINDS.map(|kind| (name, kind))) {
            let name = if form.mixed { in_mixed_case(name) } else { name.clone() };
            let query = Query { flags: form.flags, opt: form.opt, ..Query::new(&name, kind) };
            let of = |server| query.ask(server, form.tcp).map(|reply| Seen::of(&query, &reply));
            let (mut ours, theirs) = (of(member).unwrap(), of(knot).unwrap());
            if ours.flags & CD != 0 && query.flags & CD != 0 && theirs.flags & CD == 0 {
                ours.flags &= !CD;
                *used.entry(CHECKING_DISABLED).or_insert(0) += 1;
            }
            asked += 1;
            if ours == theirs {
                continue;
            }
            match ALLOWED.iter().find(|allowed| (allowed.explains)(&query, &ours, &theirs)) {
                Some(allowed) => *used.entry(allowed.rule).or_insert(0) += 1,
                None => {
                    unexplained.push(format!("{name} {kind} {}\n ours {ours:?}\n Knot {theirs:?}", form.what))
                }
            }
        }
    }
    assert!(
        unexplained.is_empty(),
        "{} of {asked}:\n{}",
        unexplained.len(),
        unexplained[..unexplained.len().min(40)].join("\n")
    );
    let unused: BTreeSet<_> = ALLOWED
        .iter()
        .map(|allowed| allowed.rule)
        .chain([CHECKING_DISABLED])
        .filter(|rule| !used.contains_key(rule))
        .collect();
    assert!(unused.is_empty(), "these differences are gone: {unused:?}");
    assert!(asked > 20_000, "{asked}");
}

//! The cluster that is soaked, and what befalls it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use harness::eventually::claim;
use harness::load::Load;
use harness::process::Signal;
use harness::{Cluster, Member, eventually, ports};

use crate::account::Ended;
use crate::changes::{CHANGERS, Changes, burst};
use mmdb::{Mmdb, country};

#[path = "../../node/src/geo/fixture.rs"]
#[allow(dead_code, reason = "the member's own tests write damaged databases, too")]
mod mmdb;

/// The zone that is asked for.
pub(crate) const ZONE: &str = "soak.waymark.test";

/// Asked of each member; of the two that are there while the third is not, 1,000.
const PER_SECOND: u32 = 500;

/// So many entries that those a member has missed are no longer in the log: a snapshot is made after 10,000, and 1,000 are
/// kept beside it.
const BEYOND_THE_LOG: u32 = 11_200;

/// What a member says when it gets a snapshot.
const SNAPSHOT_ARRIVED: &str = "a snapshot has arrived from the leader";
/// What a member says when it has read its certificate again.
const CERTIFICATE_READ: &str = "the certificate for DNS was read again";

/// Three members, those who ask and change, and what has happened.
pub(crate) struct Scene {
    cluster: Cluster,
    load: Load,
    changes: Changes,
    database: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
    happened: BTreeMap<&'static str, u64>,
}

impl Scene {
    /// Starts all of it; queries come for `limit` at most.
    pub(crate) fn start(limit: Duration) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let file = |name: &str| directory.path().join(name);
        let (database, certificate, key) = (file("places.mmdb"), file("certificate.pem"), file("key.pem"));
        write_places(&database, "FR");
        write_pair(&certificate, &key);
        let flags = |member: &mut Member| {
            let tls = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free())).to_string();
            let [database, certificate, key] =
                [&database, &certificate, &key].map(|path| path.display().to_string());
            member.flags =
                ["--geo-database", &database, "--dns-tls-listen", &tls, "--dns-tls-cert", &certificate]
                    .into_iter()
                    .chain(["--dns-tls-key", &key])
                    .map(str::to_owned)
                    .collect();
        };
        let mut members: Vec<Member> =
            (1..=3).map(|number| Member::new(&format!("m{number}"), directory.path())).collect();
        members.iter_mut().for_each(flags);
        let cluster = Cluster::found(directory, members);
        configure(&cluster);
        let addresses: Vec<_> = cluster.members.iter().map(|member| member.dns).collect();
        let load = Load::asking(&addresses, &questions(), PER_SECOND, limit);
        let changes = Changes::start(&cluster.members.iter().map(Member::caller).collect::<Vec<_>>());
        Self { cluster, load, changes, database, certificate, key, happened: BTreeMap::new() }
    }

    fn count(&mut self, what: &'static str) {
        *self.happened.entry(what).or_default() += 1;
    }

    /// The leader dies, another one leads and takes changes, the dead one comes back.
    pub(crate) fn kill_leader(&mut self) {
        let leader = self.cluster.leader();
        let unasked = self.load.without(leader);
        self.cluster.members[leader].kill();
        let before = self.changes.acknowledged();
        eventually("changes are taken again", || {
            let now = self.changes.acknowledged();
            // Some may have been under way.
            claim(now > before + u64::from(CHANGERS), format!("{now} after {before}"))
        });
        self.cluster.members[leader].start();
        self.cluster.members[leader].ready();
        drop(unasked);
        self.count("leaders killed");
    }

    /// Every member gets another certificate.
    pub(crate) fn exchange_certificate(&mut self) {
        let before: Vec<usize> = (0..3).map(|at| self.said(at, CERTIFICATE_READ)).collect();
        write_pair(&self.certificate, &self.key);
        self.cluster.members.iter_mut().for_each(|member| member.process().signal(Signal::HUP));
        for (at, before) in before.into_iter().enumerate() {
            eventually("the certificate is read", || {
                let now = self.said(at, CERTIFICATE_READ);
                claim(now > before, format!("read {now} times"))
            });
        }
        self.count("certificates exchanged");
    }

    /// Every member reads another geo table, and then all go by it.
    pub(crate) fn exchange_geo_table(&mut self) {
        let exchanged = self.happened.get("geo tables exchanged").copied().unwrap_or_default();
        let place = if exchanged % 2 == 0 { "DE" } else { "FR" };
        write_places(&self.database, place);
        self.cluster.members.iter_mut().for_each(|member| member.process().signal(Signal::HUP));
        eventually("all go by the new table", || {
            // Refused while one of them has not read it yet.
            self.cluster.cli().run("geo use newest");
            for at in 0..3 {
                let found = self.cluster.cli_of(at).run("geo lookup 198.51.100.7 --stale -o json");
                claim(found.stdout.contains(&format!("\"{place}\"")), found.stdout)?;
            }
            Ok(())
        });
        self.count("geo tables exchanged");
    }

    /// One member after the other is ended gently and started again.
    pub(crate) fn restart_each(&mut self) {
        for at in 0..3 {
            let unasked = self.load.without(at);
            let status = self.cluster.members[at].process().terminate();
            assert!(status.success(), "m{} ended with {status}", at + 1);
            self.cluster.members[at].start();
            self.cluster.members[at].ready();
            drop(unasked);
            self.count("members restarted");
        }
    }

    /// A member misses so much that the others have forgotten it, and gets all of the state at once.
    pub(crate) fn install_snapshot(&mut self) {
        let leader = self.cluster.leader();
        let at = (leader + 1) % 3;
        let before = self.said(at, SNAPSHOT_ARRIVED);
        let unasked = self.load.without(at);
        self.cluster.members[at].kill();
        let others = [leader, (leader + 2) % 3].map(|at| self.cluster.members[at].caller());
        burst(others, BEYOND_THE_LOG);
        self.cluster.members[at].start();
        self.cluster.members[at].ready();
        drop(unasked);
        eventually("the snapshot has arrived", || {
            let now = self.said(at, SNAPSHOT_ARRIVED);
            claim(now > before, format!("{now} have"))
        });
        self.count("snapshots installed");
    }

    /// How often a member has said so.
    fn said(&mut self, at: usize, words: &str) -> usize {
        self.cluster.members[at].process().log().matches(words).count()
    }

    /// Ends it and sums up.
    pub(crate) fn end(self) -> Ended {
        let (queries, changes) = (self.load.stop(), self.changes.stop());
        Ended { queries, happened: self.happened, changes }
    }
}

/// What is asked for: what changes and what does not, what looks at the client and what does not, and an alias.
fn questions() -> [(&'static str, &'static str); 5] {
    [
        ("first.soak.waymark.test.", "A"),
        ("share.soak.waymark.test.", "A"),
        ("place.soak.waymark.test.", "A"),
        ("text.soak.waymark.test.", "TXT"),
        ("alias.soak.waymark.test.", "A"),
    ]
}

fn configure(cluster: &Cluster) {
    let cli = cluster.cli();
    for command in [
        "zone create soak.waymark.test --ns ns1.soak.waymark.test=127.0.0.53",
        "profile create first --zone soak.waymark.test --relative-name first --routing priority",
        "endpoint add first a --target 192.0.2.1 --always-serve on",
        "endpoint add first b --target 192.0.2.2 --always-serve on --priority 2",
        "profile create share --zone soak.waymark.test --relative-name share --routing weighted",
        "endpoint add share a --target 192.0.2.11 --always-serve on",
        "endpoint add share b --target 192.0.2.12 --always-serve on",
        "profile create place --zone soak.waymark.test --relative-name place --routing geographic",
        "endpoint add place world --target 192.0.2.21 --geo WORLD --always-serve on",
        "endpoint add place france --target 192.0.2.22 --geo FR --always-serve on",
        "record set soak.waymark.test text TXT '\"before any change\"' --ttl 5s",
        "record set soak.waymark.test alias CNAME share.soak.waymark.test --wait all",
    ] {
        cli.ok(command);
    }
}

/// A database that says where 127.0.0.0/8 and 198.51.100.0/24 are, put in its place by renaming.
fn write_places(path: &Path, place: &'static str) {
    let content =
        Mmdb::of("country").with("127.0.0.0/8", country(place)).with("198.51.100.0/24", country(place));
    replace(path, &content.bytes());
}

/// A certificate that has signed itself, and its key.
fn write_pair(certificate: &Path, key: &Path) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("it can be made");
    replace(certificate, made.cert.pem().as_bytes());
    replace(key, made.signing_key.serialize_pem().as_bytes());
}

fn replace(path: &Path, content: &[u8]) {
    let draft = path.with_extension("draft");
    std::fs::write(&draft, content).expect("the draft can be written");
    std::fs::rename(draft, path).expect("it can be renamed");
}

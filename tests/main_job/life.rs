//! The life of a cluster: members come and go, others lead, all of it is put into a file and taken out again.

use std::time::{Duration, Instant};

use harness::eventually::claim;
use harness::{Cluster, Member, eventually};
use serde_json::Value;

const NAME: &str = "web.waymark.test";

/// A cluster of so many with one profile.
fn cluster(size: usize) -> Cluster {
    let cluster = Cluster::start(size);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    cli.ok("endpoint add web e1 --target 192.0.2.1 --wait all");
    cluster
}

/// A further member, started and empty.
fn empty(cluster: &Cluster, name: &str) -> Member {
    let mut member = Member::new(name, cluster.directory());
    member.start();
    member.listens();
    member
}

/// Each member's number, name and role, as member `of` knows them.
fn members(cluster: &Cluster, of: usize) -> Vec<(u64, String, String)> {
    let status = cluster.cli_of(of).json("cluster status");
    let member = |member: &Value| {
        let text = |key: &str| member[key].as_str().unwrap_or_default().to_owned();
        (member["id"].as_u64().unwrap_or_default(), text("name"), text("role"))
    };
    status["members"].as_array().map(|all| all.iter().map(member).collect()).unwrap_or_default()
}

fn role(cluster: &Cluster, of: usize, name: &str) -> Option<String> {
    members(cluster, of).into_iter().find(|(_, known, _)| known == name).map(|(_, _, role)| role)
}

/// CLU-1, CLU-4: a learner answers DNS and does not vote, until it is promoted; a number is given once.
#[test]
fn clu_1_members_come_as_learners_vote_go_and_never_share_a_number() {
    let mut cluster = cluster(3);
    let mut fourth = empty(&cluster, "m4");
    let cli = cluster.cli();
    cli.ok(&format!("cluster add {} --learner", fourth.url()));
    fourth.ready();
    assert_eq!(role(&cluster, 0, "m4").as_deref(), Some("learner"));
    assert_eq!(harness::dns::short(fourth.dns, NAME, "A"), "192.0.2.1");
    let refused = cli.run("cluster transfer-leader m4");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("'m4' does not vote"), "{refused:?}");

    assert!(cli.ok("cluster promote m4").contains("votes"));
    assert_eq!(role(&cluster, 0, "m4").as_deref(), Some("follower"));
    let unasked = cli.run("cluster remove m4");
    assert_eq!(unasked.code, 5, "{unasked:?}");
    assert!(cli.ok("cluster remove m4 --yes").contains("is out of the cluster"));
    let unknown = cli.run("cluster remove m44 --yes");
    assert_eq!(unknown.code, 3, "{unknown:?}");
    assert_eq!(role(&cluster, 0, "m4"), None);
    let told = fourth.cli();
    eventually("the member that is out says so", || {
        let output = told.run("zone list --timeout 2s");
        claim(output.stderr.contains("was taken out of its cluster"), output.stderr)
    });

    let mut fifth = empty(&cluster, "m5");
    cluster.cli().ok(&format!("cluster add {}", fifth.url()));
    fifth.ready();
    assert!(members(&cluster, 0).contains(&(5, "m5".into(), "follower".into())), "4 is given and gone");
    cluster.members.iter_mut().for_each(Member::ready);
}

/// CLU-4: a member that was taken out does not come back with its data; emptied, it is a new one.
#[test]
fn clu_4_a_member_that_was_taken_out_comes_back_empty_or_not_at_all() {
    let cluster = cluster(3);
    let mut fourth = empty(&cluster, "m4");
    let (cli, add) = (cluster.cli(), format!("cluster add {}", fourth.url()));
    cli.ok(&add);
    fourth.ready();
    cli.ok("cluster remove m4 --yes");
    fourth.kill();
    fourth.start();
    fourth.listens();
    let told = fourth.cli();
    eventually("it says so after a restart, too", || {
        let output = told.run("zone list --timeout 2s");
        claim(output.stderr.contains("was taken out of its cluster"), output.stderr)
    });
    let refused = cli.run(&add);
    assert_eq!(refused.code, 1, "{refused:?}");
    for words in ["number 4, which is never given again", "wipe its data directory", "start it empty"] {
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    assert_eq!(role(&cluster, 0, "m4"), None);
    fourth.kill();
    std::fs::remove_dir_all(fourth.data()).unwrap();
    fourth.start();
    fourth.listens();
    cli.ok(&add);
    fourth.ready();
    assert!(members(&cluster, 0).contains(&(5, "m4".into(), "follower".into())));
}

/// CLU-9, CLI-2: what cannot be done is said soon: nobody is at the address, something else is, or no leader is.
#[test]
fn clu_9_a_change_that_cannot_be_made_ends_soon() {
    let mut cluster = cluster(3);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (dead, silent) = (harness::ports::free(), silent.local_addr().unwrap());
    for address in [format!("https://127.0.0.1:{dead}"), format!("https://{silent}")] {
        let begun = Instant::now();
        let refused = cluster.cli().run(&format!("cluster add {address}"));
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stderr.contains("there is no answer from a member at https://"), "{refused:?}");
        // Some 5 s; the rest is for a machine that is busy with other tests.
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
    let survivor = cluster.leader();
    (0..3).filter(|at| *at != survivor).for_each(|at| cluster.members[at].kill());
    let alone = cluster.cli_of(survivor);
    eventually("it knows of no leader", || {
        let leader = alone.json("cluster status")["leaderId"].clone();
        claim(leader.is_null(), leader.to_string())
    });
    for cli in [alone, cluster.cli()] {
        let begun = Instant::now();
        let refused = cli.run("cluster remove m9 --yes");
        assert_eq!(refused.code, 7, "{refused:?}");
        assert!(refused.stderr.contains("no leader is known"), "{refused:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

/// CLU-8: another member leads when it is asked to, in time, and no write is lost with it.
#[test]
fn clu_8_the_lead_goes_where_it_is_sent() {
    let mut cluster = cluster(3);
    let cli = cluster.cli();
    for round in 0..4 {
        let before = cluster.leader();
        let target = format!("m{}", (before + 1 + round % 2) % 3 + 1);
        let begun = Instant::now();
        cli.ok(&format!("cluster transfer-leader {target}"));
        let took = begun.elapsed();
        // Three times 800 ms; the rest is for a machine that is busy with other tests.
        assert!(took < Duration::from_secs(8), "{took:?}");
        let leader = cluster.leader();
        assert_eq!(role(&cluster, leader, &target).as_deref(), Some("leader"), "round {round}");
        cli.ok(&format!("region set r{round} --at 1,1"));
    }
    assert_eq!(cli.json("region list")["regions"].as_array().map(Vec::len), Some(4));
    let led = cluster.leader();
    cli.ok("cluster transfer-leader");
    eventually("whoever was nearest leads", || claim(cluster.leader() != led, led.to_string()));
}

/// CLU-9: a dead member can be taken out, the leader too; what would leave no majority is refused.
#[test]
fn clu_9_the_dead_and_the_leader_can_go_but_never_the_majority() {
    let mut cluster = cluster(3);
    cluster.members[2].kill();
    let begun = Instant::now();
    let survivors = harness::cli::Cli { endpoints: cluster.urls()[..2].join(","), ..cluster.cli_of(0) };
    let refused = survivors.run("cluster remove m2 --yes");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("1 answer, and 2 are needed"), "{refused:?}");
    survivors.ok("cluster remove m3 --yes");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let leader = cluster.leader();
    survivors.ok(&format!("cluster remove m{} --yes", leader + 1));
    let left = 1 - leader;
    assert_eq!(members(&cluster, left).len(), 1);
    cluster.cli_of(left).ok("region set alone --at 1,1");
    let last = cluster.cli_of(left).run(&format!("cluster remove m{} --yes", left + 1));
    assert!(last.code == 1 && last.stderr.contains("the only member that votes"), "{last:?}");
}

/// CLU-10, DNS-2: a new cluster with another id begins with all that was in the old one, and with later serials.
#[test]
fn clu_10_a_backup_becomes_a_cluster_of_its_own() {
    let cluster = cluster(3);
    let file = cluster.directory().join("all.backup");
    let path = file.display();
    cluster.cli().ok(&format!("cluster backup {path}"));
    let again = cluster.cli().run(&format!("cluster backup {path}"));
    assert!(again.code == 1 && again.stderr.contains("there already"), "{again:?}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "it may hold secrets");

    let mut fresh = empty(&cluster, "n1");
    let new = fresh.cli();
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let damaged = cluster.directory().join("damaged.backup");
    std::fs::write(&damaged, bytes).unwrap();
    let refused = new.run(&format!("cluster restore {}", damaged.display()));
    assert!(refused.code == 1 && refused.stderr.contains("nothing was changed"), "{refused:?}");

    new.ok(&format!("cluster restore {path}"));
    fresh.ready();
    let id = |cli: &harness::cli::Cli| cli.json("cluster status")["clusterId"].clone();
    assert_ne!(id(&new), id(&cluster.cli()));
    assert_eq!(harness::dns::short(fresh.dns, NAME, "A"), "192.0.2.1");
    let serial = |of| {
        let soa = harness::dns::short(of, "waymark.test", "SOA");
        soa.split(' ').nth(2).and_then(|serial| serial.parse::<u64>().ok()).expect(&soa)
    };
    assert_eq!(serial(fresh.dns), serial(cluster.members[0].dns) + 65_536);
    let other = cluster.cli_of(0).run(&format!("cluster restore {path}"));
    assert!(other.code == 1 && other.stderr.contains("restored on an empty member"), "{other:?}");

    new.ok("region set later --at 1,1");
    let mut second = empty(&cluster, "n2");
    new.ok(&format!("cluster add {}", second.url()));
    second.ready();
    fresh.kill();
    fresh.start();
    fresh.ready();
    assert_eq!(new.json("region list")["regions"][0]["name"], "later", "it goes on from there");
}

/// CLU-12: with two of three gone for good, the survivor's log makes a new cluster, and nothing that was acknowledged is lost.
#[test]
fn clu_12_a_lost_majority_is_recovered_from_a_survivor() {
    let mut cluster = cluster(3);
    let keep = cluster.directory().join("recovered.backup");
    let mut fresh = empty(&cluster, "n1");
    let led =
        cluster.cli_of(0).run(&format!("cluster recover {} --keep {} --yes", fresh.url(), keep.display()));
    assert!(led.code == 1 && led.stderr.contains("the cluster has a leader"), "{led:?}");
    let leader = cluster.leader();
    cluster.cli().ok("region set last --at 1,1 --wait all");
    let survivor = (leader + 1) % 3;
    (0..3).filter(|at| *at != survivor).for_each(|at| cluster.members[at].kill());
    let alone = cluster.cli_of(survivor);
    let recover = format!("cluster recover {} --keep {}", fresh.url(), keep.display());
    eventually("the survivor knows that it is alone", || {
        let unasked = alone.run(&recover);
        claim(unasked.code == 5, format!("{unasked:?}"))
    });
    // Nobody at the address, or a member that has a cluster: found out before anything is kept.
    for (address, code, words) in [
        (format!("https://127.0.0.1:{}", harness::ports::free()), 7, "127.0.0.1"),
        (alone.endpoints.clone(), 1, "a cluster is recovered on an empty member"),
    ] {
        let refused = alone.run(&format!("cluster recover {address} --keep {} --yes", keep.display()));
        assert!(refused.code == code && refused.stderr.contains(words), "{refused:?}");
        assert!(!keep.exists(), "{address}");
    }
    eventually("there is no leader, and it is recovered", || {
        let done = alone.run(&format!("{recover} --yes"));
        claim(done.code == 0, format!("{done:?}"))
    });
    fresh.ready();
    let new = fresh.cli();
    assert_eq!(new.json("region list")["regions"][0]["name"], "last");
    assert_eq!(harness::dns::short(fresh.dns, NAME, "A"), "192.0.2.1");
}

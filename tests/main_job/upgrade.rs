//! CLU-9: a cluster goes over to a later version, one member after the other. The version before is one that is held back to its apply
//! level: that is all in which `apply` may differ from version to version.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use harness::eventually::claim;
use harness::load::Load;
use harness::{Cluster, Member, eventually};
use prost::Message;
use waymark_proto::admin::v1::regions_client::RegionsClient;
use waymark_proto::admin::v1::{Region, SetRegionRequest};
use waymark_proto::storage::v1::SnapshotHeader;

const NAME: &str = "web.waymark.test";
/// The length of a snapshot's magic word, and of its checksum.
const FRAME: (usize, usize) = (8, 4);

/// Three members of the version before, with one profile.
fn cluster() -> Cluster {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let member = |number| {
        let mut member = Member::new(&format!("m{number}"), directory.path());
        member.flags = ["--apply-level-max", "1"].map(str::to_owned).into();
        member
    };
    let members = (1..=3).map(member).collect();
    let cluster = Cluster::found(directory, members);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    cli.ok("endpoint add web e1 --target 192.0.2.1 --wait all");
    cluster
}

/// Regions that are written, so that level 2 leaves room for more.
const WRITTEN_MAX: usize = 300;

/// Writes one region after the other, and all over again, until `stop`; returns how many writes were acknowledged.
fn write_steadily(cli: &harness::cli::Cli, stop: &AtomicBool) -> usize {
    let mut written = 0;
    while !stop.load(Ordering::Relaxed) {
        let (name, round) = (written % WRITTEN_MAX, written / WRITTEN_MAX);
        let output = cli.run(&format!("region set written-{name} --at {round},1"));
        assert_eq!(output.code, 0, "a write is lost: {output:?}");
        written += 1;
    }
    written
}

/// Has the writer end however its story ends.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The later version on the member at `place`, which is asked nothing meanwhile.
fn renew(cluster: &mut Cluster, place: usize, load: &Load) {
    let _unasked = load.without(place);
    let member = &mut cluster.members[place];
    let ended = member.process().terminate();
    assert!(ended.success(), "{ended}");
    member.flags.clear();
    member.start();
    member.ready();
}

/// What a member has applied: what of a backup's header is of the state, and all behind it.
fn applied(cluster: &Cluster, place: usize, round: usize) -> (String, Vec<u8>) {
    let file = cluster.directory().join(format!("{place}-{round}.backup"));
    cluster.cli_of(place).ok(&format!("cluster backup {} --stale", file.display()));
    let bytes = std::fs::read(&file).expect("the backup is there");
    let mut rest = &bytes[FRAME.0..bytes.len() - FRAME.1];
    let header = SnapshotHeader::decode_length_delimited(&mut rest).expect("it begins with a header");
    let SnapshotHeader { last, cluster, counter, next_id, apply_level, .. } = header;
    let index = last.map(|last| last.index);
    (format!("{index:?} {cluster} {counter} {next_id} level {apply_level}"), rest.to_vec())
}

#[test]
fn clu_9_a_rolling_upgrade_under_writes_and_queries_loses_nothing() {
    let mut cluster = cluster();
    let dns: Vec<_> = cluster.members.iter().map(|member| member.dns).collect();
    let level = |cluster: &Cluster| cluster.status()["applyLevel"].clone();
    assert_eq!(level(&cluster), 1, "a cluster begins at its founder's level");
    let load = Load::start(&dns, NAME, "A", 100);
    let (cli, stop) = (cluster.cli(), AtomicBool::new(false));
    let written = thread::scope(|scope| {
        let _ended = Ended(&stop);
        let writer = scope.spawn(|| write_steadily(&cli, &stop));
        let leader = cluster.leader();
        let order: Vec<usize> = (1..=3).map(|step| (leader + step) % 3).collect();
        for (step, place) in order.iter().enumerate() {
            for command in ["cluster upgrade", "cluster upgrade --dry-run"] {
                let refused = cluster.cli().run(command);
                assert_eq!(refused.code, if step == 0 { 0 } else { 1 }, "{refused:?}");
                for (at, renewed) in order.iter().enumerate() {
                    let text = format!("'m{}' supports up to 1", renewed + 1);
                    let is_named = step > 0 && at >= step;
                    assert_eq!(refused.stderr.contains(&text), is_named, "{step}: {refused:?}");
                }
            }
            assert_eq!(level(&cluster), 1);
            what_the_old_version_does_not_know_is_not_proposed(&cluster);
            renew(&mut cluster, *place, &load);
        }
        assert!(cluster.cli().ok("cluster upgrade --dry-run").contains("could be at apply level 3"));
        assert_eq!(level(&cluster), 1);
        assert!(cluster.cli().ok("cluster upgrade").contains("is at apply level 3"));
        stop.store(true, Ordering::Relaxed);
        writer.join().expect("no write was lost")
    });
    let tallied = load.stop();
    assert!(tallied.lost == 0 && tallied.bad == 0 && tallied.sent > 100, "{tallied:?}");
    assert!(written > 3, "{written} writes");
    let regions = cluster.cli().json("region list")["regions"].clone();
    let kept = regions.as_array().map(|all| {
        let written = all.iter().filter_map(|region| region["name"].as_str());
        written.filter(|name| name.starts_with("written-")).count()
    });
    assert_eq!(kept, Some(written.min(WRITTEN_MAX)), "what was acknowledged is there");
    let members = cluster.status()["members"].clone();
    assert!(
        members.as_array().is_some_and(|all| all.iter().all(|member| member["applyLevelMax"] == 3)),
        "{members}"
    );
    all_are_equal(&cluster);
    the_new_level_is_in_force(&cluster, regions.as_array().map_or(0, Vec::len));
    all_are_equal(&cluster);
    an_old_version_is_refused(&mut cluster);
}

fn all_are_equal(cluster: &Cluster) {
    static ROUND: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    eventually("all members have the same state", || {
        let round = ROUND.fetch_add(1, Ordering::Relaxed);
        let states: Vec<_> = (0..3).map(|place| applied(cluster, place, round)).collect();
        let told: Vec<_> = states.iter().map(|(head, _)| head).collect();
        claim(states.iter().all(|state| *state == states[0]), format!("{told:?}"))
    });
}

/// FAIL-2 is of level 3: members of the version before would stop before it, so it is refused with what to do.
fn what_the_old_version_does_not_know_is_not_proposed(cluster: &Cluster) {
    for place in 0..3 {
        let refused = cluster.cli_of(place).run("profile update web --max-removal 20%");
        let told = ["needs apply level 3", "the cluster is at 1", "waymark cluster upgrade"];
        assert!(refused.code == 1 && told.iter().all(|part| refused.stderr.contains(part)), "{refused:?}");
    }
}

/// SEC-6: the number of regions has a limit, which the version before did not know.
fn the_new_level_is_in_force(cluster: &Cluster, there_are: usize) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let caller = cluster.members[0].caller();
    runtime.block_on(async {
        let channel = caller.connect().await.expect("the member answers");
        let mut writes = tokio::task::JoinSet::new();
        for number in there_are..500 {
            let mut client = RegionsClient::new(channel.clone());
            let region = Region { name: format!("more-{number}"), ..Region::default() };
            let request = SetRegionRequest { region: Some(region), write: None };
            writes.spawn(async move { client.set_region(request).await.map(drop) });
        }
        while let Some(written) = writes.join_next().await {
            written.expect("a write ends well").expect("there is room for it");
        }
    });
    let cli = cluster.cli();
    cli.ok("profile update web --max-removal 20% --wait all");
    let refused = cli.run("region set one-more --at 1,1");
    assert!(refused.code == 1 && refused.stderr.contains("500 regions already"), "{refused:?}");
}

/// There is no way back: neither with the data, nor as a new member.
fn an_old_version_is_refused(cluster: &mut Cluster) {
    let mut fourth = Member::new("m4", cluster.directory());
    fourth.flags = ["--apply-level-max", "1"].map(str::to_owned).into();
    fourth.start();
    fourth.listens();
    let refused = cluster.cli().run(&format!("cluster add {}", fourth.url()));
    assert!(refused.code == 1 && refused.stderr.contains("supports apply levels up to 1"), "{refused:?}");
    let member = &mut cluster.members[0];
    member.kill();
    member.flags.clone_from(&fourth.flags);
    member.start();
    let refused = eventually("it ends with a line, or takes no part", || {
        let log = member.process().log();
        claim(log.contains("needs apply level 3") || log.contains("is of apply level 3"), log.clone())
            .map(|()| log)
    });
    assert!(refused.contains("run the later version"), "{refused}");
    let cli = cluster.cli_of(1);
    cli.ok("region delete more-499");
}

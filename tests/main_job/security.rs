//! Certificates among real processes: who may do what, and what happens when certificates change hands (SEC-1 … SEC-3).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use harness::cli::Cli;
use harness::eventually::{claim, let_pass};
use harness::load::Load;
use harness::{Caller, Cluster, Member, eventually, pki, within};
use tokio_stream::wrappers::ReceiverStream;
use waymark_process::identity::Role;
use waymark_process::pki::{AUTHORITY, Authority, LIFETIME, describe};
use waymark_process::tls::CredentialFiles;
use waymark_proto::agent::v1::agent_message::Kind;
use waymark_proto::agent::v1::mesh_client::MeshClient;
use waymark_proto::agent::v1::{AgentMessage, Hello};

/// SEC-1: how soon a revoked certificate must be out.
const REVOKED_WITHIN: Duration = Duration::from_secs(60);

fn as_someone(cluster: &Cluster, word: &str, name: &str) -> Cli {
    Cli { identity: Some(pki::identity(cluster.directory(), word, None, name)), ..cluster.cli() }
}

fn serial(files: &CredentialFiles) -> String {
    describe(&std::fs::read(&files.certificate).unwrap()).unwrap().0[0].serial.clone()
}

/// SEC-1, SEC-2: operators change and are named, viewers look, agents and strangers do neither.
#[test]
fn sec_2_people_may_do_what_their_role_allows() {
    let mut cluster = Cluster::start(1);
    let (alice, wall) = (as_someone(&cluster, "operator", "alice"), as_someone(&cluster, "viewer", "wall"));
    alice.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    alice.ok("profile create web --zone waymark.test --relative-name web --routing priority --header 'Key: topsecret'");
    alice.ok("endpoint add web e1 --target 192.0.2.1 --header 'Key: topsecret'");
    alice.ok("endpoint disable web e1");
    assert!(alice.ok("events").contains("operator/alice"), "{}", alice.ok("events"));
    for read in [
        "profile show web -o json",
        "endpoint show web e1 -o json",
        "endpoint list web -o json",
        "profile list -o json",
    ] {
        assert!(alice.ok(read).contains("topsecret"), "{read}");
        let seen = wall.ok(read);
        assert!(seen.contains("***") && !seen.contains("topsecret"), "{read}: {seen}");
    }
    let denied = wall.run("endpoint enable web e1");
    assert_eq!(denied.code, 4, "{}", denied.stderr);
    assert!(denied.stderr.contains("viewer/wall may not call"), "{}", denied.stderr);
    let files = pki::identity(cluster.directory(), "agent", Some("eu"), "a1");
    let denied = Cli { identity: Some(files), ..cluster.cli() }.run("status");
    assert_eq!(denied.code, 4, "{}", denied.stderr);

    // A stranger with an authority of their own.
    let elsewhere = tempfile::tempdir().unwrap();
    let theirs = CredentialFiles {
        authority: pki::directory(cluster.directory()).join(AUTHORITY),
        ..pki::operator(elsewhere.path())
    };
    let refused = Cli { identity: Some(theirs), ..cluster.cli() }.run("status");
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    // They trust nobody here, and nobody here trusts them.
    let refused = Cli { identity: Some(pki::operator(elsewhere.path())), ..cluster.cli() }.run("status");
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("none of the authorities"), "{}", refused.stderr);
    let plain = Cli::plain(cluster.urls()[0].replace("https", "http")).run("status --timeout 2s");
    assert_eq!(plain.code, 7, "{}", plain.stderr);
    assert!(plain.stderr.contains("https://"), "{}", plain.stderr);
    assert!(cluster.members[0].is_running());
}

/// SEC-2: an agent speaks for itself, from its own region.
#[test]
fn sec_2_an_agent_has_the_name_of_its_certificate() {
    let cluster = Cluster::start(1);
    cluster.cli().ok("region set eu --at 50,8");
    cluster.cli().ok("region set us --at 40,-75");
    let identity = pki::identity(cluster.directory(), "agent", Some("eu"), "a1");
    let caller = Caller::new(&cluster.members[0].url(), pki::open(identity));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let hello = |agent: &str, region: &str| {
        let hello = Hello {
            agent: agent.into(),
            region: region.into(),
            run: 1,
            version: "x".into(),
            ..Hello::default()
        };
        runtime.block_on(async {
            let (sender, receiver) = tokio::sync::mpsc::channel(1);
            sender.send(AgentMessage { kind: Some(Kind::Hello(hello)) }).await.unwrap();
            let mut mesh = MeshClient::new(caller.connect().await.unwrap());
            let mut stream = mesh.session(ReceiverStream::new(receiver)).await.unwrap().into_inner();
            stream.message().await.map(drop)
        })
    };
    for (agent, region) in [("a2", "eu"), ("a1", "us")] {
        let status = hello(agent, region).unwrap_err();
        assert_eq!(status.code(), tonic::Code::PermissionDenied, "{status:?}");
        assert!(status.message().contains("agent/eu/a1"), "{status:?}");
    }
    hello("a1", "eu").unwrap();
}

/// An operator's `events --follow`; ended with its owner.
struct Following(Child);

impl Following {
    fn start(cli: &Cli, log: &std::path::Path) -> Self {
        let file = || std::fs::File::options().create(true).append(true).open(log).unwrap();
        let child = Command::new(harness::binary::path("waymark"))
            .args(["events", "--follow"])
            .envs(cli.environment())
            .stdin(Stdio::null())
            .stdout(file())
            .stderr(file())
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// SEC-1: taken back on all members, a certificate opens nothing, and what it has opened ends; agents' as well.
#[test]
fn sec_1_a_revoked_certificate_is_out_within_a_minute_on_open_streams_too() {
    let mut cluster = Cluster::start(3);
    cluster.start_agents(&["eu"]);
    let lost = as_someone(&cluster, "operator", "lost");
    lost.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    let log = cluster.directory().join("following");
    let mut following = Following::start(&lost, &log);
    lost.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    lost.ok("endpoint add web e1 --target 192.0.2.1 --always-serve on");
    eventually("events are followed", || {
        let said = std::fs::read_to_string(&log).unwrap();
        claim(said.contains("web"), said)
    });
    eventually("the agent is there", || {
        let agents = cluster.cli().ok("agent list");
        claim(agents.contains("a-eu") && !agents.contains("lost"), agents)
    });
    let authority = pki::authority(cluster.directory());
    // All members read the one file.
    authority.revoke(&serial(lost.identity.as_ref().unwrap())).unwrap();
    authority.revoke(&serial(&pki::identity(cluster.directory(), "agent", Some("eu"), "a-eu"))).unwrap();
    let ended =
        within(REVOKED_WITHIN, || following.0.try_wait().unwrap().ok_or("it follows".into())).unwrap();
    let said = std::fs::read_to_string(&log).unwrap();
    assert_eq!(ended.code(), Some(4), "{said}");
    assert!(said.contains("revoked"), "{said}");
    assert_eq!(lost.run("status").code, 4);
    within(REVOKED_WITHIN, || {
        let agents = cluster.cli().ok("agent list");
        claim(agents.contains("lost"), agents)
    })
    .unwrap();
    cluster.cli().ok("profile update web --ttl 60 --wait all");
}

/// Puts a new certificate of `authority` in the place of `files`.
fn renew(authority: &Authority, role: Role, files: &CredentialFiles) {
    let beside = tempfile::tempdir().unwrap();
    let issued = authority.issue(role, LIFETIME, beside.path()).unwrap();
    // One after the other: while they do not fit together, those before serve.
    std::fs::copy(issued.certificate, &files.certificate).unwrap();
    std::fs::copy(issued.key, &files.key).unwrap();
}

/// How often the members and agents of a cluster have read their credentials again, at least.
fn all_have_read(cluster: &mut Cluster, times: usize) {
    let logs = |cluster: &mut Cluster| {
        let members = cluster.members.iter_mut().map(|member| member.process().log());
        let mut logs: Vec<String> = members.collect();
        logs.extend(cluster.agents.iter_mut().map(|agent| agent.process().log()));
        logs
    };
    eventually("everybody has read the files", || {
        let counts: Vec<usize> = logs(cluster)
            .iter()
            .map(|log| log.matches("the TLS credentials were read again").count())
            .collect();
        claim(counts.iter().all(|count| *count >= times), format!("{counts:?}"))
    });
}

/// SEC-3, SEC-1: certificates, then the authority, are exchanged under load: no query is lost, no agent, no change.
#[test]
fn sec_3_certificates_and_authorities_are_rotated_under_load() {
    let mut cluster = Cluster::start(3);
    cluster.start_agents(&["eu", "us"]);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    cli.ok("endpoint add web e1 --target 192.0.2.1 --always-serve on --wait all");
    let dns: Vec<_> = cluster.members.iter().map(|member| member.dns).collect();
    let load = Load::start(&dns, "web.waymark.test", "A", 300);

    let directory = cluster.directory().to_owned();
    let member = |name: &str| Role::new("member", None, name).unwrap();
    let agent = |region: &str| Role::new("agent", Some(region), &format!("a-{region}")).unwrap();
    let everybody: Vec<(Role, CredentialFiles)> = ["m1", "m2", "m3"]
        .map(|name| (member(name), pki::identity(&directory, "member", None, name)))
        .into_iter()
        .chain(["eu", "us"].map(|region| {
            (agent(region), pki::identity(&directory, "agent", Some(region), &format!("a-{region}")))
        }))
        .chain([(Role::new("operator", None, "tester").unwrap(), pki::operator(&directory))])
        .collect();
    let old = pki::authority(&directory);
    everybody.iter().for_each(|(role, files)| renew(&old, role.clone(), files));
    all_have_read(&mut cluster, 1);
    cli.ok("profile update web --ttl 61 --wait all");

    let next = tempfile::tempdir().unwrap();
    let new = Authority::create(next.path(), pki::TRUST_DOMAIN).unwrap();
    let trusted = pki::directory(&directory).join(AUTHORITY);
    let theirs = std::fs::read(next.path().join(AUTHORITY)).unwrap();
    let both = [std::fs::read(&trusted).unwrap(), theirs.clone()].concat();
    std::fs::write(&trusted, both).unwrap();
    all_have_read(&mut cluster, 2);
    everybody.iter().for_each(|(role, files)| renew(&new, role.clone(), files));
    all_have_read(&mut cluster, 3);
    std::fs::write(&trusted, theirs).unwrap();
    all_have_read(&mut cluster, 4);
    // What the old certificates had opened is cut, and opened again by the new ones.
    eventually("changes reach every member again", || {
        let output = cli.run("profile update web --ttl 62 --wait all --timeout 10s");
        claim(output.code == 0 && !output.stderr.contains("not"), output.stderr)
    });
    eventually("every agent is there", || {
        let agents = cli.ok("agent list");
        claim(!agents.contains("lost"), agents)
    });
    let_pass(Duration::from_secs(1), "queries go on behind the last change");
    let tallied = load.stop();
    assert!(tallied.sent > 500 && (tallied.lost, tallied.bad) == (0, 0), "{tallied:?}");
}

/// SEC-1: an expired certificate refuses the control plane; DNS goes on, over a restart as well.
#[test]
fn sec_1_a_member_with_an_expired_certificate_answers_dns() {
    let mut cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1 --wait all");
    let files = pki::identity(cluster.directory(), "member", None, "m1");
    expire(&pki::directory(cluster.directory()), &files);
    let served = |member: &Member| harness::dns::short(member.dns, "ns1.waymark.test", "A") == "127.0.0.1";
    cluster.members[0].kill();
    cluster.members[0].start();
    cluster.members[0].ready();
    assert!(served(&cluster.members[0]));
    let refused = cli.run("status");
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("expired"), "{}", refused.stderr);
    eventually("the log says it loudly", || {
        let log = cluster.members[0].process().log();
        claim(log.contains("NOBODY BELIEVES THIS PROCESS"), log)
    });
    // Mended without a restart.
    let authority = pki::authority(cluster.directory());
    renew(&authority, Role::new("member", None, "m1").unwrap(), &files);
    eventually("the member is believed again", || {
        let output = cli.run("status");
        claim(output.code == 0 && served(&cluster.members[0]), output.stderr)
    });
}

/// SEC-2: the certificate of a member that the cluster does not have opens nothing, and whoever has it speaks for nobody.
#[test]
fn sec_2_a_member_that_the_cluster_does_not_have_is_not_heard() {
    use waymark_proto::peer::v1::VoteRequest;
    use waymark_proto::peer::v1::raft_client::RaftClient;
    let mut cluster = Cluster::start(3);
    let status = cluster.status();
    let id = status["clusterId"].as_str().unwrap().to_owned();
    let files = pki::identity(cluster.directory(), "member", None, "m9");
    let caller = Caller::new(&cluster.members[0].url(), pki::open(files));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let campaign = |number: u64| {
        let vote = waymark_proto::storage::v1::Vote { term: 1_000_000, node: number, committed: false };
        let mut request = tonic::Request::new(VoteRequest { vote: Some(vote), last_log: None });
        request.metadata_mut().insert("waymark-cluster", id.parse().unwrap());
        request.metadata_mut().insert("waymark-from", number.into());
        request.metadata_mut().insert("waymark-to", 1_u64.into());
        runtime.block_on(async {
            RaftClient::new(caller.connect().await.unwrap()).request_vote(request).await.unwrap_err()
        })
    };
    // In the name of a member that there is, of the next one, and of one far above.
    for (number, words) in [
        (2, "says that it is member 2, which is 'm2'"),
        (4, "is no member of this cluster"),
        (9_000, "is no member of this cluster"),
    ] {
        eventually("it is refused once the others have been asked", || {
            let status = campaign(number);
            let is_denied =
                status.code() == tonic::Code::PermissionDenied && status.message().contains(words);
            claim(is_denied, format!("{status:?}"))
        });
    }
    assert!(cluster.status()["term"].as_u64().unwrap() < 1_000_000);

    // Nor is it taken for the member whose address it has.
    let away = (cluster.leader() + 1) % 3;
    cluster.members[away].kill();
    let mut impostor = Member::new("m9", cluster.directory());
    impostor.grpc = cluster.members[away].grpc;
    impostor.start();
    impostor.listens();
    let (leader, name) = (cluster.leader(), cluster.members[away].name.clone());
    let words = format!("it is that of member/m9, and the member '{name}' was called");
    eventually("the status says who answers there", || {
        let status = cluster.cli_of(leader).ok("cluster status -o json");
        claim(status.contains(&words), status)
    });
}

/// SEC-2, CLU-9: a member that was away while another one was taken in hears it when those whom it knows do.
#[test]
fn sec_2_a_member_that_missed_an_addition_follows_the_new_one() {
    let mut cluster = Cluster::start(3);
    let leader = cluster.leader();
    let away = (leader + 1) % 3;
    cluster.members[away].kill();
    let mut fourth = Member::new("m4", cluster.directory());
    fourth.start();
    fourth.listens();
    let cli = cluster.cli_of(leader);
    // With two of three alive a busy machine may lose the leader meanwhile: asking again completes it.
    for change in [format!("cluster add {}", fourth.url()), "cluster transfer-leader m4".into()] {
        eventually(&change, || {
            let output = cli.run(&change);
            claim(output.code == 0, format!("{output:?}"))
        });
    }
    cluster.members[away].start();
    cluster.members[away].ready();
    fourth.cli().ok("region set eu --at 1,1 --wait all");
    let seen = cluster.cli_of(away).ok("region list --stale");
    assert!(seen.contains("eu"), "{seen}");
}

/// Puts a certificate that expired years ago in the place of `files`.
fn expire(authority: &std::path::Path, files: &CredentialFiles) {
    use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair, SanType, date_time_ymd};
    let text = |name: &str| std::fs::read_to_string(authority.join(name)).unwrap();
    let issuer = KeyPair::from_pem(&text("authority.key")).unwrap();
    let issuer = Issuer::from_ca_cert_pem(&text(AUTHORITY), issuer).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2021, 1, 1);
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
    let identity = format!("spiffe://{}/member/m1", pki::TRUST_DOMAIN);
    params.subject_alt_names = vec![SanType::URI(identity.as_str().try_into().unwrap())];
    std::fs::write(&files.certificate, params.signed_by(&key, &issuer).unwrap().pem()).unwrap();
    std::fs::write(&files.key, key.serialize_pem()).unwrap();
}

/// SEC-1: without an identity nothing starts but `--dev`, and each reason is a line.
#[test]
fn sec_1_a_member_starts_as_itself_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let member = Member::new("m1", directory.path());
    let run = |arguments: &[String]| {
        let output = Command::new(harness::binary::path("waymark-node")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let mut bare = member.arguments();
    let at = bare.iter().position(|argument| argument == "--tls-certificate").unwrap();
    bare.drain(at..at + 6);
    let said = run(&bare);
    assert!(
        said.contains("waymark pki init") && said.contains("member m1") && said.contains("--dev"),
        "{said}"
    );
    let other = pki::identity(directory.path(), "member", None, "m2");
    let said = run(&[bare.clone(), pki::arguments(&other, "tls-")].concat());
    assert!(said.contains("it is that of member/m2, this process is the member 'm1'"), "{said}");
    let operator = pki::operator(directory.path());
    let said = run(&[bare, pki::arguments(&operator, "tls-")].concat());
    assert!(said.contains("operator/tester"), "{said}");
}

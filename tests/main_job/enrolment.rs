//! SEC-1: agents that come to their certificates by a join token, and renew them by themselves; with real processes over TLS.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use harness::cli::Cli;
use harness::eventually::{claim, let_pass};
use harness::{Agent, Cluster, FakeEndpoint, eventually, pki, ports, within};
use tempfile::TempDir;
use tonic::Code;
use tonic::transport::Endpoint;
use waymark_process::join_token::JoinToken;
use waymark_process::pki::{AUTHORITY, FreshKey, describe};
use waymark_process::tls::{ConnectError, Connector, CredentialFiles, Trust};
use waymark_proto::agent::v1::EnrolRequest;
use waymark_proto::agent::v1::enrolment_client::EnrolmentClient;

use crate::secrets::{cluster, files, has_bytes, loud, make_key};

/// SEC-1: how soon a revoked certificate must be out.
const REVOKED_WITHIN: Duration = Duration::from_secs(60);

/// A cluster with a key for secrets, and an authority of its own for agents, which lies beside it.
struct Scene {
    cluster: Cluster,
    cli: Cli,
    beside: TempDir,
}

impl Scene {
    fn start(size: usize) -> Self {
        let beside = tempfile::tempdir().unwrap();
        let key = beside.path().join("secret.key");
        make_key(&key);
        let cluster = cluster(size, &key, loud());
        let cli = cluster.cli();
        cli.ok(&format!("pki init {}/agents --trust-domain {}", beside.path().display(), pki::TRUST_DOMAIN));
        ["eu", "us"].iter().for_each(|region| drop(cli.ok(&format!("region set {region} --at 50,8"))));
        Self { cluster, cli, beside }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.beside.path().join(name)
    }

    fn shown(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Has everybody believe the agents' authority as well, as it is now.
    fn trust(&self) {
        let own = pki::authority(self.cluster.directory());
        drop(own);
        let file = pki::directory(self.cluster.directory()).join(AUTHORITY);
        let kept = self.path("own.pem");
        if !kept.exists() {
            std::fs::copy(&file, &kept).unwrap();
        }
        let both = [std::fs::read(kept).unwrap(), std::fs::read(self.path("agents/authority.pem")).unwrap()];
        std::fs::write(file, both.concat()).unwrap();
    }

    fn install(&self, lifetime: &str) -> harness::cli::Output {
        let (certificate, key) = (self.shown("agents/authority.pem"), self.shown("agents/authority.key"));
        self.cli.run(&format!("pki install {certificate} {key} --for {lifetime}"))
    }

    /// The same once members have read whom they believe.
    fn installed(&self, lifetime: &str) {
        self.trust();
        eventually("members believe the agents' authority", || {
            let output = self.install(lifetime);
            claim(output.code == 0, output.stderr)
        });
    }

    fn make_token(&self, agent: &str, region: &str, lasts: &str, file: &str) -> JoinToken {
        let path = self.path(file);
        self.cli.ok(&format!(
            "agent token create {agent} --region {region} --for {lasts} --into {}",
            path.display()
        ));
        JoinToken::open(&path).unwrap()
    }

    /// An agent that has nothing but the token in `token`; what it is given lands in the directory of its name.
    fn join(&self, agent: &str, region: &str, token: &str, place: &str) -> Agent {
        std::fs::create_dir_all(self.path(place)).unwrap();
        let files = self.identity_of(place);
        let flags = [vec!["--join-token-file".to_owned(), self.shown(token)], loud()].concat();
        Agent::start_as(files, agent, region, &self.cluster.urls(), self.cluster.directory(), flags)
    }

    fn identity_of(&self, place: &str) -> CredentialFiles {
        CredentialFiles {
            keys: ["tls_certificate", "tls_key", "tls_authority"],
            certificate: self.path(place).join("agent.pem"),
            key: self.path(place).join("agent.key"),
            authority: pki::directory(self.cluster.directory()).join(AUTHORITY),
        }
    }

    fn serial_of(&self, place: &str) -> String {
        let text = std::fs::read(self.identity_of(place).certificate).unwrap_or_default();
        describe(&text).map(|(shown, _)| shown[0].serial.clone()).unwrap_or_default()
    }

    fn is_connected(&self, agent: &str) {
        eventually(&format!("{agent} is connected"), || {
            let output = self.cli.run(&format!("agent show {agent} -o json"));
            claim(output.stdout.contains("\"connected\""), format!("{output:?}"))
        });
    }

    /// What a member says to whoever shows `token` in the name of an agent.
    fn redeem(
        &self,
        token: &JoinToken,
        agent: &str,
        region: &str,
        key: &FreshKey,
    ) -> Result<(), tonic::Status> {
        self.call(token, agent, region, key).expect("a member lets newcomers in")
    }

    fn call(
        &self,
        token: &JoinToken,
        agent: &str,
        region: &str,
        key: &FreshKey,
    ) -> Result<Result<(), tonic::Status>, String> {
        let authority = pki::directory(self.cluster.directory()).join(AUTHORITY);
        let trust = Trust::open("tls_authority", &authority, pki::TRUST_DOMAIN).unwrap();
        let request = EnrolRequest {
            token: token.secret().to_vec().into(),
            agent: agent.into(),
            region: region.into(),
            signing_request: key.signing_request().unwrap().into(),
        };
        let endpoint = Endpoint::from_shared(self.cluster.urls()[0].clone()).unwrap();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let channel = endpoint.connect_with_connector(Connector::of_nobody(trust)).await;
            let channel = channel.map_err(|error| {
                ConnectError::behind(&error).map_or_else(|| error.to_string(), ToString::to_string)
            })?;
            Ok(EnrolmentClient::new(channel).enrol(request).await.map(drop))
        })
    }
}

fn refused(mut agent: Agent, words: &str) {
    let status = agent.process().wait();
    let log = agent.process().log();
    let last = log.lines().last().unwrap_or_default();
    assert_eq!(status.code(), Some(1), "{last}");
    assert!(last.contains(words), "{words}: {last}");
}

/// SEC-1, SEC-3: from nothing but a token to probes that count, and on to the next certificate without a break.
#[test]
fn sec_1_an_agent_joins_by_a_token_and_renews_by_itself() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::start(3);
    let cli = &scene.cli;
    let endpoint = FakeEndpoint::http(SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free())));
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok(&format!(
        "profile create web --zone waymark.test --relative-name web --routing priority --port {} --interval 1s --timeout 1s",
        endpoint.address().port()
    ));
    cli.ok(&format!("endpoint add web e1 --target {}", endpoint.ip()));
    scene.installed("20s");
    let token = scene.make_token("a1", "eu", "1h", "a1.token");
    let mut agent = scene.join("a1", "eu", "a1.token", "a1");
    scene.is_connected("a1");
    eventually("what it finds counts", || {
        let status = cli.ok("status web -o json");
        claim(status.contains("Online"), status)
    });
    let key = scene.identity_of("a1").key;
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(cli.ok("agent token list").contains("redeemed"));

    // At half of its life the next one comes, and the stream goes on.
    let session = || cli.json("agent show a1")["session"].as_u64();
    let (mut first, mut before) = (scene.serial_of("a1"), session());
    eventually("another certificate is there, and the stream is the same", || {
        let (serial, now) = (scene.serial_of("a1"), session());
        if now != before {
            // The one that it was opened by has expired; wait for the renewal behind that.
            (first, before) = (serial, now);
            return Err("the stream is another".to_owned());
        }
        claim(serial != first && !serial.is_empty(), serial)
    });
    assert_eq!(session(), before);
    eventually("it goes by the new one", || {
        let log = agent.process().log();
        claim(log.contains("the certificate was renewed"), "not yet")
    });
    let trail = cli.ok("audit list -o json");
    for words in ["install authority", "make join token", "redeem join token", "renew certificate", &first] {
        assert!(trail.contains(words), "{words}: {trail}");
    }
    agent.kill();
    std::fs::remove_file(scene.path("a1.token")).unwrap();
    agent.restart();
    scene.is_connected("a1");
    check_files(&scene, &token);
}

/// SEC-4: neither the authority's key nor the token is in a file, a backup, a log or a reply.
fn check_files(scene: &Scene, token: &JoinToken) {
    let cli = &scene.cli;
    let shown =
        [cli.ok("pki installed -o json"), cli.ok("agent token list -o json"), cli.ok("audit list -o json")];
    assert!(shown[0].contains("\"usable\": true") && shown[0].contains("Waymark authority of waymark.test"));
    let directory = scene.cluster.directory();
    cli.ok(&format!("audit export {}", directory.join("audit.jsonl").display()));
    cli.ok(&format!("cluster backup {}", directory.join("all.backup").display()));
    let pem = std::fs::read_to_string(scene.path("agents/authority.key")).unwrap();
    let body: String = pem.lines().filter(|line| !line.starts_with("--")).collect();
    let der = rcgen::KeyPair::from_pem(&pem).unwrap().serialize_der();
    // Behind 36 bytes of a P-256 key in PKCS #8 the secret number stands.
    let text = token.text();
    let canaries: [&[u8]; 5] = [
        &body.as_bytes()[..48],
        &der[36..68],
        token.secret(),
        text.split_once('#').unwrap().1.as_bytes(),
        b"PRIVATE KEY",
    ];
    let all = files(directory);
    assert!(all.iter().any(|file| has_bytes(file, b"redeem join token")), "it is not read as it is");
    for file in all.iter().filter(|file| !file.starts_with(pki::directory(directory))) {
        for (place, canary) in canaries.iter().enumerate() {
            assert!(!has_bytes(file, canary), "{place} in {}", file.display());
        }
    }
    let holds =
        |text: &String, canary: &[u8]| text.as_bytes().windows(canary.len()).any(|found| found == canary);
    assert!(!shown.iter().any(|text| canaries.iter().any(|canary| holds(text, canary))));
}

/// SEC-1, SEC-6: a token lets in whom it is for, once, in its time; and failures are few.
#[test]
fn sec_1_a_token_that_is_not_good_is_refused_with_its_reason() {
    let scene = Scene::start(1);
    let refusal = |output: harness::cli::Output| {
        assert_eq!(output.code, 1, "{output:?}");
        output.stderr
    };
    let said = refusal(scene.cli.run("agent token create a1 --region eu"));
    assert!(said.contains("no issuing authority"), "{said}");
    let said = refusal(scene.install("30d"));
    assert!(said.contains("do not lead to it"), "{said}");
    assert!(scene.cli.run("pki installed").code == 3);
    scene.installed("30d");

    let good = scene.make_token("a1", "eu", "1h", "a1.token");
    let (mine, theirs) = (FreshKey::draw().unwrap(), FreshKey::draw().unwrap());
    let denied = |outcome: Result<(), tonic::Status>, words: &str| {
        let status = outcome.unwrap_err();
        assert_eq!(status.code(), Code::PermissionDenied, "{status}");
        assert!(status.message().contains(words), "{words}: {status}");
    };
    denied(scene.redeem(&good, "a1", "us", &mine), "is for the agent 'a1' in 'eu', not for 'a1' in 'us'");
    denied(scene.redeem(&good, "a2", "eu", &mine), "not for 'a2' in 'eu'");
    scene.redeem(&good, "a1", "eu", &mine).unwrap();
    scene.redeem(&good, "a1", "eu", &mine).expect("its answer was lost");
    denied(scene.redeem(&good, "a1", "eu", &theirs), "was redeemed already");
    refused(scene.join("a1", "eu", "a1.token", "second"), "was redeemed already");
    refused(
        scene.join("a1", "us", "a1.token", "third"),
        "it is for agent/eu/a1, and this is the agent 'a1' in 'us'",
    );

    scene.make_token("a2", "eu", "1s", "a2.token");
    let_pass(Duration::from_millis(1_100), "the time of a token is up");
    refused(scene.join("a2", "eu", "a2.token", "a2"), "its time is up");
    let back = scene.make_token("a3", "eu", "1h", "a3.token");
    let listed = scene.cli.json("agent token list");
    let id = listed["tokens"].as_array().unwrap().iter().find(|token| token["agent"] == "a3").unwrap()["id"]
        .clone();
    scene.cli.ok(&format!("agent token delete {}", id.as_str().unwrap()));
    denied(scene.redeem(&back, "a3", "eu", &mine), "is not known");

    // Guessing is slow.
    eventually("too many tries have failed", || {
        let status = scene.redeem(&back, "a3", "eu", &mine).unwrap_err();
        claim(status.code() == Code::ResourceExhausted, status.to_string())
    });
    // And nobody has anything to look for where nobody is awaited.
    scene.cli.ok("pki uninstall");
    let refused = scene.call(&good, "a1", "eu", &mine).unwrap_err();
    assert!(refused.contains("none was shown"), "{refused}");
}

/// SEC-1: what is taken back can neither report nor renew.
#[test]
fn sec_1_a_revoked_agent_does_not_renew() {
    let scene = Scene::start(1);
    scene.installed("20s");
    scene.make_token("a1", "eu", "1h", "a1.token");
    let mut agent = scene.join("a1", "eu", "a1.token", "a1");
    scene.is_connected("a1");
    let mut revoked = String::new();
    within(REVOKED_WITHIN, || {
        // It may renew in the moment before the news is there.
        let serial = scene.serial_of("a1");
        if serial != revoked {
            scene.cli.ok(&format!("pki revoke {} {serial} --by-cluster", scene.shown("agents")));
            scene.trust();
            revoked = serial;
        }
        let listed = scene.cli.ok("agent list");
        claim(listed.contains("lost"), listed)
    })
    .unwrap();
    eventually("its renewal is refused", || {
        let log = agent.process().log();
        let told = log.lines().rfind(|line| line.contains("the certificate was not renewed"));
        claim(told.is_some_and(|line| line.contains("revoked")), told.unwrap_or_default().to_owned())
    });
    assert_eq!(scene.serial_of("a1"), revoked, "it has no other");
    // A new token makes it an agent again, once the certificate is gone.
    agent.kill();
    std::fs::remove_file(scene.identity_of("a1").certificate).unwrap();
    std::fs::remove_file(scene.path("a1.token")).unwrap();
    scene.make_token("a1", "eu", "1h", "a1.token");
    agent.restart();
    scene.is_connected("a1");
}

/// SEC-1: a member without the key file cannot be given an authority, and says what is missing.
#[test]
fn sec_1_without_a_key_file_no_authority_is_installed() {
    let cluster = Cluster::start(1);
    let authority = pki::directory(cluster.directory());
    let install = |certificate: &Path, key: &Path| {
        let output = cluster.cli().run(&format!("pki install {} {}", certificate.display(), key.display()));
        assert_eq!(output.code, 1, "{output:?}");
        output.stderr
    };
    let (own, key) = (authority.join(AUTHORITY), authority.join("authority.key"));
    let said = install(&own, &key);
    assert!(said.contains("secret_key_file") && said.contains("waymark pki secret-key"), "{said}");
    let operator = pki::operator(cluster.directory());
    for (certificate, key, words) in [
        (&own, &operator.key, "the key is not the one"),
        (&operator.certificate, &operator.key, "is no authority's"),
        (&key, &key, "no certificate"),
        (&own, &own, "no private key"),
    ] {
        let said = install(certificate, key);
        assert!(said.contains(words), "{words}: {said}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().display().to_string();
    cluster.cli().ok(&format!("pki init {path} --trust-domain other.test"));
    let said = install(&elsewhere.path().join(AUTHORITY), &elsewhere.path().join("authority.key"));
    assert!(said.contains("'other.test'") && said.contains("'waymark.test'"), "{said}");
    let long = format!("pki install {} {} --for 366d", own.display(), key.display());
    assert!(cluster.cli().run(&long).stderr.contains("outside 10s–365d"));
}

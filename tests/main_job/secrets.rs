//! SEC-4: what a secret header says reaches the endpoint that it is for, and nothing else: no file of a member or an agent, no
//! backup, no log, no reply.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::cli::Cli;
use harness::eventually::claim;
use harness::{Agent, Cluster, FakeEndpoint, Member, eventually, pki, ports};

/// What must be nowhere.
const SECRET: &str = "cAnArY-7f3e-secret";
/// What is in the log as it was given: where this is not found, nothing can be said of the other.
const PLAIN: &str = "cAnArY-7f3e-plain";

/// Logs of members and agents tell all that there is to be told.
const LOUD: [&str; 2] = ["--log-level", "trace,h2=trace,hyper=trace,tower=trace"];

pub(crate) fn loud() -> Vec<String> {
    LOUD.map(str::to_owned).to_vec()
}

/// A cluster whose members have `flags` and the key file `key`, of which nothing is in the cluster's own directory.
pub(crate) fn cluster(size: usize, key: &Path, flags: Vec<String>) -> Cluster {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let member = |number| {
        let mut member = Member::new(&format!("m{number}"), directory.path());
        member.flags = [flags.clone(), vec!["--secret-key-file".into(), key.display().to_string()]].concat();
        member
    };
    let members = (1..=size).map(member).collect();
    Cluster::found(directory, members)
}

/// Returns the key's number.
pub(crate) fn make_key(path: &Path) -> String {
    let made = Cli::plain("http://127.0.0.1:1").json(&format!("pki secret-key {}", path.display()));
    made["key"].as_str().expect("a number").to_owned()
}

pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn has(path: &Path, text: &str) -> bool {
    has_bytes(path, text.as_bytes())
}

pub(crate) fn has_bytes(path: &Path, wanted: &[u8]) -> bool {
    // What is gone by now was a file on its way.
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

fn expect_request(endpoint: &FakeEndpoint, words: &[String]) {
    eventually(&format!("a probe brings {words:?}"), || {
        let request = endpoint.last_request().to_lowercase();
        claim(words.iter().all(|word| request.contains(&word.to_lowercase())), request)
    });
}

#[test]
fn sec_4_a_secret_is_sent_with_probes_and_found_nowhere() {
    let beside = tempfile::tempdir().expect("a temporary directory can be made");
    let (key, token) = (beside.path().join("secret.key"), beside.path().join("token"));
    make_key(&key);
    std::fs::write(&token, format!("{SECRET}-2\n")).expect("it can be written");
    let mut cluster = cluster(3, &key, loud());
    let cli = cluster.cli();
    let endpoint = FakeEndpoint::http(SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free())));
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("region set eu --at 50,8");
    cli.ok(&format!(
        "profile create web --zone waymark.test --relative-name web --routing priority --port {} --interval 1s \
         --timeout 1s --secret-header 'Authorization: {SECRET}-1'",
        endpoint.address().port()
    ));
    let added = format!(
        "endpoint add web e1 --target {} --header 'X-Plain: {PLAIN}' --secret-header-file 'X-Key: {}'",
        endpoint.ip(),
        token.display()
    );
    cli.ok(&added);
    let _agent = Agent::start_with("a1", "eu", &cluster.urls(), cluster.directory(), loud());
    let sent = ["authorization: ", "x-key: ", "x-plain: "];
    let values = [format!("{SECRET}-1"), format!("{SECRET}-2"), PLAIN.to_owned()];
    let words: Vec<String> = sent.iter().zip(&values).map(|(name, value)| format!("{name}{value}")).collect();
    expect_request(&endpoint, &words);
    eventually("it is Online", || {
        let status = cli.ok("status web -o json");
        claim(status.contains("Online"), status)
    });

    let viewer =
        Cli { identity: Some(pki::identity(cluster.directory(), "viewer", None, "wall")), ..cli.clone() };
    let reads = [
        "profile show web",
        "profile show web -o json",
        "profile list -o json",
        "endpoint show web e1",
        "endpoint show web e1 -o json",
        "endpoint list web -o yaml",
        "status -o json",
        "events -o json",
        "explain web.waymark.test -o json",
    ];
    for read in reads {
        let shown = cli.ok(read) + &viewer.ok(read);
        assert!(!shown.contains(SECRET), "{read}: {shown}");
    }
    let shown = cli.ok("endpoint show web e1 -o json");
    assert!(shown.contains("***") && shown.contains(PLAIN) && shown.contains("\"secret\": true"), "{shown}");
    assert!(!viewer.ok("endpoint show web e1 -o json").contains(PLAIN));
    let mistaken =
        cli.run(&format!("endpoint update web e1 --secret-header 'Host: {SECRET}' --secret-header {SECRET}"));
    assert!(mistaken.code == 1 && !format!("{mistaken:?}").contains(SECRET), "{mistaken:?}");

    let export = cluster.directory().join("audit.jsonl");
    cli.ok(&format!("audit export {}", export.display()));
    let backup = cluster.directory().join("all.backup");
    cli.ok(&format!("cluster backup {}", backup.display()));
    cluster.members[1].kill();
    cluster.members[1].start();
    cluster.members[1].ready();
    check_files(&cluster, &[export, backup]);
}

/// No file has the secrets; `kept`, of which the last is a backup, are among those that are looked at.
fn check_files(cluster: &Cluster, kept: &[PathBuf]) {
    let all = files(cluster.directory());
    for file in &all {
        assert!(!has(file, SECRET), "{}", file.display());
    }
    assert!(kept.iter().all(|file| all.contains(file)));
    let holding: Vec<&PathBuf> = all.iter().filter(|file| has(file, PLAIN)).collect();
    for data in cluster.members.iter().map(Member::data).chain(kept.last().cloned()) {
        assert!(holding.iter().any(|file| file.starts_with(&data)), "it is not read as it is: {holding:?}");
    }
    let is_log = |file: &Path| file.extension().is_some_and(|extension| extension == "log");
    assert!(!holding.iter().any(|file| is_log(file)), "values of headers are in no log: {holding:?}");
    let is_loud = all.iter().filter(|file| is_log(file)).all(|file| has(file, "TRACE"));
    assert!(is_loud, "the logs do not tell all");
}

#[test]
fn sec_4_keys_are_exchanged_and_a_missing_one_is_told_of() {
    let beside = tempfile::tempdir().expect("a temporary directory can be made");
    let path = |name: &str| beside.path().join(name);
    let (key, new) = (path("secret.key"), path("new.key"));
    let numbers = [make_key(&new), make_key(&key)].join(" ");
    let text = |path: &Path| std::fs::read_to_string(path).expect("a key file");
    let (old, fresh) = (text(&key), text(&new));
    let mut cluster = cluster(1, &key, Vec::new());
    let cli = cluster.cli();
    let endpoint = FakeEndpoint::http(SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free())));
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("region set eu --at 50,8");
    cli.ok(&format!(
        "profile create web --zone waymark.test --relative-name web --routing priority --port {} --interval 1s \
         --timeout 1s",
        endpoint.address().port()
    ));
    cli.ok(&format!("endpoint add web e1 --target {} --secret-header 'X-Key: one'", endpoint.ip()));
    let _agent = Agent::start_with("a1", "eu", &cluster.urls(), cluster.directory(), Vec::new());
    expect_request(&endpoint, &["x-key: one".into()]);

    // The new one encrypts, the old one still reads.
    let session = || cli.json("agent show a1")["session"].as_u64().expect("a number");
    let earlier = session();
    restart(&mut cluster, &key, &format!("{fresh}{old}"));
    assert!(cluster.members[0].process().log().contains(&numbers), "the keys' numbers, and their order");
    eventually("the agent is told anew what to probe", || claim(session() > earlier, session().to_string()));
    let seen = endpoint.requests();
    eventually("probes go on", || claim(endpoint.requests() > seen + 3, endpoint.requests().to_string()));
    expect_request(&endpoint, &["x-key: one".into()]);
    // Too early: what the old one has encrypted was not given anew.
    restart(&mut cluster, &key, &fresh);
    let process = cluster.members[0].process();
    eventually("the member tells of it", || {
        let log = process.log();
        let told = log.lines().rfind(|line| line.contains("a secret header cannot be read"));
        claim(told.is_some_and(|line| line.contains("web/e1")), told.unwrap_or_default().to_owned())
    });
    cli.ok("endpoint update web e1 --secret-header 'X-Key: two'");
    expect_request(&endpoint, &["x-key: two".into()]);
    // Whoever may read a key file has the secrets.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&key, mode).expect("it is ours");
    let arguments = cluster.members[0].arguments();
    let check = Command::new(harness::binary::path("waymark-node")).args(arguments).arg("--check").output();
    let refused = String::from_utf8_lossy(&check.expect("it starts").stderr).into_owned();
    assert!(refused.contains("secret_key_file: ") && refused.contains("chmod 600"), "{refused}");
}

fn restart(cluster: &mut Cluster, key: &Path, keys: &str) {
    std::fs::write(key, keys).expect("it can be written");
    cluster.members[0].kill();
    cluster.members[0].start();
    cluster.members[0].ready();
}

//! What goes wrong on the way in: each time one line that says what, where and how to mend it, and the right exit code.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::process::{Command, Output, Stdio};

use harness::eventually::claim;
use harness::{Cluster, Member, eventually, ports};

/// Runs a binary to its end.
fn run(binary: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(harness::binary::path(binary));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Fails unless `output` is one complaining line with each of `words`, and the exit code.
#[track_caller]
fn assert_one_line(output: &Output, code: i32, words: &[&str]) {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{complaint}");
    let lines: Vec<&str> = complaint.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(lines.len(), 1, "not one line:\n{complaint}");
    for word in words {
        assert!(lines[0].contains(word), "'{word}' is missing in: {}", lines[0]);
    }
    assert!(!complaint.contains("panicked") && !complaint.contains("RUST_BACKTRACE"), "{complaint}");
}

fn file(directory: &tempfile::TempDir, text: &str) -> String {
    let path = directory.path().join("settings.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// OPS-2, VAL-3: both daemons, one settings file after another.
#[test]
fn ops_2_settings_that_cannot_be_used() {
    let directory = tempfile::tempdir().unwrap();
    for binary in ["waymark-node", "waymark-agent"] {
        assert_one_line(&run(binary, &["--config", "/nowhere/x.toml"]), 1, &["/nowhere/x.toml"]);
        let region = if binary == "waymark-agent" { "region = \"here\"\n" } else { "" };
        let config = file(&directory, &format!("name = \"a\"\nnmae = \"b\"\n{region}"));
        assert_one_line(&run(binary, &["--config", &config]), 1, &["settings.toml:2:", "nmae", "name"]);
        let config = file(&directory, "name = \n");
        assert_one_line(&run(binary, &["--config", &config]), 1, &["settings.toml:1:"]);
        let config = file(&directory, &format!("name = \"not a name!\"\n{region}"));
        assert_one_line(&run(binary, &["--config", &config]), 1, &["name", "not a name!"]);
    }
}

/// OPS-2, VAL-1: each fault of a file, of the environment and of the flags is a line, in one run.
#[test]
fn ops_2_every_fault_of_the_settings_is_told_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let text = "name = \"a b\"\ngrpc_lisen = \"x\"\ndns_listen = []\nhttp_listen = \"0.0.0.0:7401\"\n";
    let config = file(&directory, text);
    let output = Command::new(harness::binary::path("waymark-node"))
        .args(["--config", &config, "--check", "--start-grace", "10"])
        .env("WAYMARK_NODE_TIMERS", "slow")
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert_eq!(complaint.lines().count(), 6, "{complaint}");
    for words in [
        "settings.toml:1:8: name: 'a b'",
        "settings.toml:2:1: unknown key 'grpc_lisen'; did you mean 'grpc_listen'?",
        "settings.toml:3:14: dns_listen: []",
        "settings.toml:4:15: http_listen: 0.0.0.0:7401",
        "--start-grace: start_grace: '10' has no unit",
        "WAYMARK_NODE_TIMERS: timers: unknown word 'slow'",
    ] {
        assert!(complaint.contains(words), "'{words}' is missing in: {complaint}");
    }
}

/// OPS-2: `--check` says nothing is wrong and does nothing; what `config default` prints passes it.
#[test]
fn ops_2_the_default_settings_pass_their_own_check() {
    let directory = tempfile::tempdir().unwrap();
    for binary in ["waymark-node", "waymark-agent"] {
        let sample = run(binary, &["config", "default"]);
        assert!(sample.status.success());
        let config = file(&directory, &String::from_utf8(sample.stdout).unwrap());
        // Members without an identity start with --dev only.
        let dev = if binary == "waymark-node" { &["--dev"][..] } else { &[] };
        let checked = run(binary, &[&["--config", &config, "--check"], dev].concat());
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}

/// A port that somebody else has, for each of a member's three.
#[test]
fn a_port_in_use_is_named() {
    let directory = tempfile::tempdir().unwrap();
    for flag in ["--grpc-listen", "--dns-listen", "--http-listen"] {
        let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = holder.local_addr().unwrap().to_string();
        let member = Member::new("m1", directory.path());
        let mut arguments = member.arguments();
        let at = arguments.iter().position(|argument| argument == flag).unwrap();
        arguments[at + 1] = taken.clone();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = run("waymark-node", &[&arguments[..], &["--log-level", "off"]].concat());
        assert_one_line(&output, 1, &[&taken, flag]);
    }
}

/// CLU-4, F-CLU-11: a data directory that another process has, and one that is none.
#[test]
fn clu_4_a_data_directory_that_cannot_be_used() {
    let mut cluster = Cluster::start(1);
    let first = &cluster.members[0];
    let mut second = Member::new("m1", cluster.directory());
    second.flags = vec!["--log-level".into(), "off".into()];
    let arguments = second.arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let data = first.data().display().to_string();
    assert_one_line(&run("waymark-node", &arguments), 1, &[&data, "another process"]);
    cluster.cli().ok("region set there --at 1,1");
    assert!(cluster.members[0].is_running());

    let other = Member::new("m7", cluster.directory());
    cluster.members[0].kill();
    let mut arguments = other.arguments();
    let at = arguments.iter().position(|argument| argument == "--data-dir").unwrap();
    arguments[at + 1].clone_from(&data);
    arguments.extend(["--log-level".into(), "off".into()]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    assert_one_line(&run("waymark-node", &arguments), 1, &[&data, "'m1'", "'m7'"]);

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m2");
    std::fs::write(&path, "not a directory").unwrap();
    let mut member = Member::new("m2", directory.path());
    member.flags = vec!["--log-level".into(), "off".into()];
    let arguments = member.arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    assert_one_line(&run("waymark-node", &arguments), 1, &[&path.display().to_string()]);
}

/// CLI-2: exit codes, and every violation at once.
#[test]
fn cli_2_refusals_name_field_value_and_rule() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing weighted");
    for (command, code, words) in [
        (
            "profile create x --zone waymark.test --relative-name x --routing wieghted",
            1,
            &["routing: 'wieghted'", "weighted"][..],
        ),
        ("profile create x --zone waymark.test --relative-name web --routing weighted", 1, &["web"]),
        (
            "profile create web --zone waymark.test --relative-name y --routing weighted",
            1,
            &["web", "exists"],
        ),
        ("profile show wob", 3, &["wob", "web"]),
        ("profile update web --ttl 60 --if-revision 1", 6, &["web", "1"]),
        ("endpoint add web e1 --target 192.0.2.1 --weight 1001", 1, &["weight", "1001", "1000"]),
        ("endpoint add web e1 --target https://x.example/", 1, &["target", "https://x.example/"]),
        ("profile update web --interval 7s", 1, &["interval", "7s"]),
        ("profile update web --interval 10", 1, &["monitor.interval: '10'", "10s"]),
        ("profile update web --interval -5s", 1, &["monitor.interval: '-5s'", "negative"]),
        ("profile update web --ttl -5", 1, &["ttl: '-5' is outside 0–2147483647"]),
        ("profile update web --ttl 99999999999", 1, &["ttl: '99999999999' is outside 0–2147483647"]),
        ("profile update web --port -1", 1, &["monitor.port: '-1' is outside 1–65535"]),
        ("profile update web --port http", 1, &["monitor.port: 'http' is no whole number"]),
        ("profile update web --ttl 60 --if-revision -1", 1, &["write.if_revision: '-1' is outside"]),
        (
            "endpoint add web e1 --target 192.0.2.1 --weight 99999999999",
            1,
            &["weight: '99999999999'", "1–1000"],
        ),
        (
            "endpoint add web e1 --target 192.0.2.1 --always-serve yes",
            1,
            &["always_serve: 'yes'", "'on' nor 'off'"],
        ),
        ("status --timeout 0s", 64, &["--timeout", "0s"]),
        ("endpoint show web nope", 3, &["'web/nope'"]),
        ("endpoint add web ' ' --target 192.0.2.1", 1, &["name: ' ' begins or ends with a blank"]),
        ("profile delete web", 5, &["--yes"]),
        ("profile frobnicate", 64, &["frobnicate"]),
    ] {
        let output = cli.run(command);
        assert_eq!(output.code, code, "waymark {command}:\n{}{}", output.stdout, output.stderr);
        for word in words {
            assert!(
                output.stderr.contains(word),
                "waymark {command}: '{word}' is missing in: {}",
                output.stderr
            );
        }
    }
    let many = cli.run(
        "profile create x --zone waymark.test --relative-name x --routing weighted --port 0 --tolerated-failures 11 --path nope",
    );
    assert_eq!(many.code, 1);
    for field in ["port", "tolerated", "path"] {
        assert!(many.stderr.contains(field), "VAL-1: '{field}' is missing in:\n{}", many.stderr);
    }
    assert_eq!(
        cli.json("profile list")["profiles"].as_array().unwrap().len(),
        1,
        "a refused wish left something behind"
    );
}

/// CLI-2, CLI-4: nobody listens, and a member that belongs to no cluster.
#[test]
fn cli_2_a_cluster_that_cannot_be_reached() {
    let nobody = harness::cli::Cli::plain(format!("http://127.0.0.1:{}", ports::free()));
    let output = nobody.run("status --timeout 2s");
    assert_eq!(output.code, 7, "{}", output.stderr);
    assert!(output.stderr.contains(&nobody.endpoints), "{}", output.stderr);

    let directory = tempfile::tempdir().unwrap();
    let mut member = Member::new("m1", directory.path());
    member.start();
    member.listens();
    let cli = member.cli();
    let health = harness::cli::Cli::plain(format!("http://{}", member.http));
    let output = health.run("status --timeout 2s");
    assert_eq!(output.code, 7, "{}", output.stderr);
    assert!(output.stderr.contains("is no gRPC port of a member"), "{}", output.stderr);
    let output = cli.run("region set here --at 1,1 --timeout 3s");
    assert_ne!(output.code, 0);
    assert!(output.stderr.contains("cluster init"), "{}", output.stderr);
}

/// CLI-4, F-CLU-02: without a majority a write ends in time, while DNS, stale reads and explain go on.
#[test]
fn cli_4_without_a_majority_writes_end_and_reads_go_on() {
    let mut cluster = Cluster::start(3);
    cluster.cli().ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cluster.cli().ok("profile create web --zone waymark.test --relative-name web --routing priority");
    cluster.cli().ok("endpoint add web e1 --target 192.0.2.1 --wait all");
    cluster.members[1].kill();
    cluster.members[2].kill();
    let survivor = cluster.cli_of(0);
    // A leader that has just lost its followers may have begun to commit: what becomes of that is unknown.
    eventually("the survivor knows that nobody leads", || {
        let leader = survivor.json("cluster status")["leaderId"].clone();
        claim(leader.is_null(), leader.to_string())
    });
    for timeout in ["700ms", "2s", "3s"] {
        // CLI-4: the member says so before the time is over, however short it is; a machine that is busy may miss that now and then.
        eventually(&format!("a write is refused within {timeout}"), || {
            let started = std::time::Instant::now();
            let output = survivor.run(&format!("--timeout {timeout} profile update web --ttl 60"));
            assert!(started.elapsed() < std::time::Duration::from_secs(5), "{timeout}: the write hung");
            assert!([7, 9].contains(&output.code), "{timeout}: {} {}", output.code, output.stderr);
            claim(output.code == 7 && output.stderr.contains("no leader is known"), output.stderr)
        });
    }
    let output = survivor.run("cluster add http://127.0.0.1:9 --timeout 1s");
    assert!([7, 9].contains(&output.code), "{} {}", output.code, output.stderr);
    survivor.ok("status --stale");
    assert!(survivor.ok("explain web.waymark.test").contains("192.0.2.1"));
    assert_eq!(harness::dns::short(cluster.members[0].dns, "web.waymark.test", "A"), "192.0.2.1");
    let health = reqwest::blocking::get(format!("http://{}/readyz", cluster.members[0].http)).unwrap();
    assert_eq!(health.status(), 200, "OPS-5: ready without a leader");
}

/// CLU-1, F-CLU-06: a cluster is founded once.
#[test]
fn clu_1_a_second_init_is_refused() {
    let cluster = Cluster::start(2);
    for member in 0..2 {
        let output = cluster.cli_of(member).run("cluster init");
        assert_eq!(output.code, 1, "{}", output.stderr);
        assert!(output.stderr.contains("cluster"), "{}", output.stderr);
    }
    // Adding a member again completes what may have been left half done, and changes nothing else.
    cluster.cli().ok(&format!("cluster add {}", cluster.members[1].url()));
    assert_eq!(cluster.status()["members"].as_array().unwrap().len(), 2);
}

//! Where a member's settings come from, and how faulty ones are refused (OPS-2, VAL-1, VAL-3).

use super::*;

fn load(file: &str, flags: Flags) -> Result<Config, Faults> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("node.toml");
    std::fs::write(&path, file).unwrap();
    Config::load(&Flags { config: Some(path), ..flags })
}

fn refused(file: &str) -> String {
    load(file, Flags::default()).unwrap_err().to_string()
}

#[test]
fn ops_2_flag_beats_file_beats_default() {
    let flags = Flags { name: Some("m2".into()), dev: Some("false".into()), ..Flags::default() };
    let file = "name = \"m1\"\ntimers = \"global\"\nstart_grace = \"2s\"\ndev = true\n";
    let config = load(file, flags).unwrap();
    assert_eq!((config.name.as_str(), config.timers), ("m2", Timers::Global));
    assert!(!config.dev, "a flag can switch off what the file switches on");
    assert_eq!(config.start_grace, Duration::from_secs(2));
    assert_eq!(config.grpc_advertise.as_str(), "https://127.0.0.1:7400");
    assert_eq!(config.dns_advertise, "127.0.0.1:5300");
}

/// DNS-21: a member answers without limit, unless it is told how long.
#[test]
fn dns_21_max_stale_is_off_unless_it_is_longer_than_nothing() {
    for (file, expected) in
        [("", None), ("max_stale = \"0s\"", None), ("max_stale = \"4s\"", Some(Duration::from_secs(4)))]
    {
        assert_eq!(load(file, Flags::default()).unwrap().answers.max_stale, expected, "{file}");
    }
}

#[test]
fn ops_2_the_printed_sample_is_the_defaults() {
    let name = Some("m1".to_owned());
    let sample = load(SAMPLE, Flags::default()).unwrap();
    assert_eq!(sample, load("", Flags { name, ..Flags::default() }).unwrap());
    let keys = <Line as clap::CommandFactory>::command();
    let keys = keys.get_arguments().map(|argument| argument.get_id().as_str().to_owned());
    for key in keys.filter(|key| key != "config") {
        assert!(SAMPLE.contains(&format!("\n{key} = ")), "{key} is missing in the sample");
    }
}

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    _flags: Flags,
}

#[test]
fn ops_2_faults_name_file_line_and_nearest_key() {
    let error = refused("name = \"m1\"\ngrpc_lisen = \"127.0.0.1:1\"\n");
    assert!(
        error.contains("node.toml:2:1: unknown key 'grpc_lisen'; did you mean 'grpc_listen'?"),
        "{error}"
    );
    let error = refused("timers = \"globl\"\n");
    assert!(
        error.contains("node.toml:1:10: timers: unknown word 'globl'; did you mean 'global'?"),
        "{error}"
    );
    assert!(!error.contains('\n'), "{error}");
}

/// Each is one line that begins with the file's place, and has the key, the value and the rule.
#[test]
fn val_1_a_setting_that_cannot_work_is_refused_with_key_value_and_rule() {
    for (file, place, words) in [
        ("name = \"a b\"", "node.toml:1:8: name: 'a b'", "letters"),
        ("grpc_listen = \"here\"", "node.toml:1:15: grpc_listen: 'here'", "ADDRESS:PORT"),
        ("grpc_listen = \"127.0.0.1:0\"", "node.toml:1:15: grpc_listen: '127.0.0.1:0'", "port 0"),
        ("grpc_advertise = \"m1:7400\"", "node.toml:1:18: grpc_advertise: 'm1:7400'", "https://HOST:PORT"),
        ("grpc_advertise = \"https://[::]:1\"", "node.toml:1:18: grpc_advertise: 'https://[::]:1'", "reach"),
        ("grpc_listen = \"0.0.0.0:7400\"", "node.toml:1:15: grpc_advertise: 'https://0.0.0.0:7400'", "reach"),
        ("dns_advertise = \"0.0.0.0:53\"", "node.toml:1:17: dns_advertise: '0.0.0.0:53'", "reach"),
        ("dns_advertise = \"ns1\"", "node.toml:1:17: dns_advertise: 'ns1'", "HOST:PORT"),
        ("dns_listen = [\"[::]:53\"]", "node.toml:1:14: dns_advertise: '[::]:53'", "reach"),
        ("http_listen = \"0.0.0.0:7401\"", "node.toml:1:15: http_listen: 0.0.0.0:7401", "reach"),
        ("http_listen = \"127.0.0.1:7400\"", "node.toml:1:15: http_listen: 127.0.0.1:7400", "grpc_listen"),
        ("dns_listen = []", "node.toml:1:14: dns_listen: []", "at least one"),
        (
            "dns_listen = [\"127.0.0.1:53\", \"127.0.0.2:53\", \"127.0.0.1:53\"]",
            "node.toml:1:14: dns_listen: 127.0.0.1:53",
            "twice",
        ),
        ("dns_listen = [\"127.0.0.1:7401\"]", "node.toml:1:14: dns_listen: 127.0.0.1:7401", "http_listen"),
        ("dns_tls_listen = [\"127.0.0.1:853\"]", "node.toml:1:18: dns_tls_listen: needs dns_tls_cert", "PEM"),
        (
            "dns_tls_listen = [\"127.0.0.1:853\"]\ndns_tls_cert = \"c\"",
            "node.toml:1:18: dns_tls_listen: needs dns_tls_key",
            "PEM",
        ),
        (
            "dns_tls_cert = \"c\"\ndns_tls_key = \"k\"\ndns_tls_listen = [\"127.0.0.1:5300\"]",
            "node.toml:3:18: dns_tls_listen: 127.0.0.1:5300",
            "dns_listen as well",
        ),
        (
            "dns_tls_cert = \"c\"\ndns_tls_key = \"k\"\ndns_tls_listen = [\"127.0.0.1:853\", \"127.0.0.1:853\"]",
            "node.toml:3:18: dns_tls_listen: 127.0.0.1:853",
            "twice",
        ),
        (
            "dns_tls_cert = \"c\"\ndns_tls_key = \"k\"\ndns_tls_listen = [\"127.0.0.1:853\"]\ndns_https_listen = [\"127.0.0.1:853\"]",
            "node.toml:4:20: dns_https_listen: 127.0.0.1:853",
            "dns_tls_listen as well",
        ),
        (
            "dns_tls_cert = \"c\"\ndns_tls_key = \"k\"\ndns_quic_listen = [\"127.0.0.1:5300\"]",
            "node.toml:3:19: dns_quic_listen: 127.0.0.1:5300",
            "dns_listen as well",
        ),
        ("apply_level_max = \"9\"", "node.toml:1:19: apply_level_max: '9'", "the levels 1 to 3"),
        ("snapshot_after = 99", "node.toml:1:18: snapshot_after: 99", "below 100"),
        ("snapshot_after = 1000001", "node.toml:1:18: snapshot_after: 1000001", "from 0 to 1000000"),
        ("start_grace = \"10\"", "node.toml:1:15: start_grace: '10'", "10s or 10ms"),
        ("max_stale = \"10\"", "node.toml:1:13: max_stale: '10'", "10s or 10ms"),
        ("max_stale = \"3s\"", "node.toml:1:13: max_stale: 3s", "below 4s"),
        ("timers = \"global\"\nmax_stale = \"29s\"", "node.toml:2:13: max_stale: 29s", "below 30s"),
        ("resolver = \"127.0.0.1\"", "node.toml:1:12: resolver: '127.0.0.1'", "ADDRESS:PORT"),
        ("log_level = \"a=b=c\"", "node.toml:1:13: log_level: 'a=b=c'", "filter"),
        ("dev = true\ndns_listen = [\"192.0.2.1:53\"]", "node.toml:1:7: dev: true", "loopback"),
        (
            "dev = true\ndns_tls_cert = \"c\"\ndns_tls_key = \"k\"\ndns_tls_listen = [\"192.0.2.1:853\"]",
            "node.toml:1:7: dev: true",
            "loopback",
        ),
    ] {
        assert_refused(file, place, words);
    }
}

/// It is one line that begins with the file's place.
#[track_caller]
fn assert_refused(file: &str, place: &str, words: &str) {
    let error = refused(file);
    assert!(error.contains(place) && error.contains(words), "{file}: {error}");
    assert_eq!(error.lines().count(), 1, "{file}: {error}");
}

/// SEC-1: what a member speaks follows from its identity, and what it announces must fit.
#[test]
fn sec_1_plain_text_goes_with_dev_and_loopback() {
    for (file, place, words) in [
        (
            "grpc_advertise = \"http://m1:7400\"",
            "node.toml:1:18: grpc_advertise: 'http://m1:7400'",
            "loopback only",
        ),
        (
            "grpc_advertise = \"http://[::1]:74\"",
            "node.toml:1:18: grpc_advertise: 'http://[::1]:74'",
            "speaks TLS",
        ),
        ("tls_key = \"k\"\ntls_authority = \"a\"", "tls_certificate: is missing", "go together"),
        (
            "dev = true\ngrpc_advertise = \"https://m1:74\"",
            "node.toml:2:18: grpc_advertise: 'https://m1:74'",
            "http://",
        ),
    ] {
        assert_refused(file, place, words);
    }
}

#[test]
fn val_1_every_fault_is_told_at_once() {
    let flags = Flags { timers: Some("slow".into()), ..Flags::default() };
    let file = "name = \"a b\"\ngrpc_lisen = \"x\"\nhttp_listen = \"x\"\ndns_listen = []\n";
    let error = load(file, flags).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 5, "{error}");
    for word in
        ["--timers: timers: ", ":1:8: name: ", ":2:1: ", ":3:15: http_listen: ", ":4:14: dns_listen: "]
    {
        assert!(error.contains(word), "{word} in {error}");
    }
}

//! Where settings come from, and how faulty ones are refused (OPS-2, VAL-3).

use super::*;

fn load(file: &str, flags: Flags) -> Result<Config, Faults> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent.toml");
    std::fs::write(&path, file).unwrap();
    Config::load(&Flags { config: Some(path), ..flags })
}

fn refused(file: &str) -> String {
    load(file, Flags::default()).unwrap_err().to_string()
}

#[test]
fn ops_2_flag_beats_file_beats_default() {
    let flags = Flags {
        name: Some("a2".into()),
        allow_loopback: Some("false".into()),
        guard_deny: vec!["10.0.0.0/8".into()],
        ..Flags::default()
    };
    let file = "name = \"a1\"\nregion = \"aws:eu-central-1\"\nallow_loopback = true\nresolver = \"127.0.0.1:5353\"\n\
                [guard]\nallow = [\"100.64.0.0/10\"]\ndeny = [\"192.168.0.0/16\"]\n";
    let config = load(file, flags).unwrap();
    assert_eq!((config.name.as_str(), config.region.as_str()), ("a2", "aws:eu-central-1"));
    assert!(!config.allow_loopback, "a flag can switch off what the file switches on");
    assert_eq!(config.guard_deny, ["10.0.0.0/8".parse().unwrap()]);
    assert_eq!(config.guard_allow, ["100.64.0.0/10".parse().unwrap()]);
    assert_eq!(config.resolver, Some(([127, 0, 0, 1], 5353).into()));
    assert_eq!(config.members, ["http://127.0.0.1:7400/"]);
    assert_eq!((config.log_level, config.log_format), (LogLevel::default(), LogFormat::Auto));
}

#[test]
fn ops_2_the_printed_sample_is_the_defaults() {
    let flags = Flags { name: Some("agent-1".into()), region: Some("eu-central".into()), ..Flags::default() };
    let sample = load(SAMPLE, Flags::default()).unwrap();
    assert_eq!(sample, load("", flags).unwrap());
    for key in [
        "name",
        "region",
        "members",
        "allow_loopback",
        "resolver",
        "canary",
        "log_level",
        "log_format",
        "tls_certificate",
        "tls_key",
        "tls_authority",
        "join_token_file",
        "allow",
        "deny",
    ] {
        assert!(
            SAMPLE.contains(&format!("\n{key} = ")) || SAMPLE.contains(&format!("\n# {key} = ")),
            "{key}"
        );
    }
    let uncommented = SAMPLE.replace("# resolver", "resolver");
    assert_eq!(load(&uncommented, Flags::default()).unwrap().resolver, Some(([127, 0, 0, 1], 53).into()));
}

#[test]
fn ops_2_faults_name_file_line_and_nearest_key() {
    for (file, place, hint) in [
        ("name = \"a1\"\nregoin = \"eu\"\n", "agent.toml:2:1:", "'regoin'; did you mean 'region'"),
        (
            "region = \"eu\"\n[guard]\nalow = []\n",
            "agent.toml:3:1:",
            "'guard.alow'; did you mean 'guard.allow'",
        ),
        ("log_format = \"jsn\"\n", "agent.toml:1:14:", "'jsn'; did you mean 'json'"),
        ("region = eu\n", "agent.toml:1:", ""),
        ("[guard]\ndeny = [\"10.0.0.0/33\"]\n", "agent.toml:2:", ""),
    ] {
        let region = Flags { region: Some("eu".into()), ..Flags::default() };
        let error = load(file, region).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains(hint), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let missing = Flags { config: Some("nowhere/agent.toml".into()), ..Flags::default() };
    let error = Config::load(&missing).unwrap_err().to_string();
    assert!(error.starts_with("nowhere/agent.toml: ") && error.contains("--config"), "{error}");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    for (file, key, word) in [
        ("name = \"a1\"", "region", "is missing"),
        ("name = \"a b\"\nregion = \"eu\"", "name", "'a b'"),
        ("region = \"a:b:c\"", "region", "'a:b:c'"),
        ("region = \"\"", "region", "is empty"),
        ("region = \"eu\"\nmembers = []", "members", "at least one"),
        ("region = \"eu\"\nmembers = [\"127.0.0.1:7400\"]", "members", "https://HOST:PORT"),
        ("region = \"eu\"\nmembers = [\"m1:7400\"]", "members", "https://HOST:PORT"),
        ("region = \"eu\"\nmembers = [\"ftp://m1:7400\"]", "members", "does not begin with https://"),
        ("region = \"eu\"\nmembers = [\"http://m1\"]", "members", "a host and a port"),
        ("region = \"eu\"\nmembers = [\"http://m1:0\"]", "members", "a host and a port"),
        ("region = \"eu\"\nmembers = [\"http://m1:7400/x\"]", "members", "a host and a port"),
        ("region = \"eu\"\nmembers = [\"https://m1:7400\"]", "members", "TLS"),
        ("region = \"eu\"\nmembers = [\"http://m1:7400\"]", "members", "loopback only"),
        ("region = \"eu\"\njoin_token_file = \"t\"", "join_token_file", "needs tls_certificate"),
        ("region = \"eu\"\ntls_key = \"k\"\ntls_authority = \"a\"", "tls_certificate", "is missing"),
    ] {
        let error = refused(file);
        assert!(error.contains(&format!("{key}: ")) && error.contains(word), "{file}: {error}");
        assert_eq!(error.lines().count(), 1, "{file}: {error}");
    }
}

#[test]
fn prb_14_canaries_are_few_and_each_is_judged() {
    let canaries = |list: &str| format!("region = \"eu\"\ncanary = [{list}]\n");
    let config =
        load(&canaries("\"192.0.2.1:443\", \"https://www.example.org/\""), Flags::default()).unwrap();
    let shown: Vec<String> = config.canaries.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["192.0.2.1:443", "https://www.example.org/"]);
    let fault = refused(&canaries("\"192.0.2.1\""));
    assert!(fault.contains("names no port"), "{fault}");
    let many = ["\"192.0.2.1:1\""; 9].join(", ");
    let fault = refused(&canaries(&many));
    assert!(fault.contains("names 9 targets; at most 8 are allowed"), "{fault}");
}

//! The binary: settings, exit codes, signals.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use waymark_core::health::Check;
use waymark_proto::admin::v1 as wire;

use crate::endpoint::Endpoint;
use crate::member::Member;

/// More lines than a test's agent has to say: one that nobody reads is not held up.
const LINES_MAX: usize = 10_000;

fn agent() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waymark-agent"));
    command.env_remove("RUST_LOG");
    command
}

fn run(arguments: &[&str]) -> Output {
    agent().args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// OPS-2, CLI-2: bad settings are one line, and a code that tells them from bad flags.
#[test]
fn ops_2_bad_settings_are_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent.toml");
    std::fs::write(&path, "region = \"eu\"\nnmae = \"a1\"\n").unwrap();
    let path = path.to_str().unwrap();
    for (arguments, code, words) in [
        (vec!["--config", path, "--check"], 1, "agent.toml:2:1: unknown key 'nmae'; did you mean 'name'?"),
        (vec!["--config", path], 1, "agent.toml:2:1:"),
        (vec!["--config", "/nowhere.toml"], 1, "/nowhere.toml: "),
        (vec!["--check"], 1, "region: is missing"),
        (vec!["--region", "eu", "--members", "m1:7400", "--check"], 1, "https://HOST:PORT"),
        (vec!["--region", "eu", "--log-level", "a=b=c", "--check"], 1, "log_level: "),
        (vec!["--region", "eu", "--resolver", "here", "--check"], 1, "--resolver: resolver: 'here' is not"),
    ] {
        let output = run(&arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(words) && text.lines().count() == 1, "{arguments:?}: {text}");
    }
    for arguments in [vec!["--regoin", "eu"], vec!["config"]] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(64), "{arguments:?}: {}", stderr(&output));
    }
}

/// OPS-2: flag over environment over file; good settings pass.
#[test]
fn ops_2_settings_come_from_file_environment_and_flags() {
    let output = agent()
        .args(["--check", "--guard-deny", "10.0.0.0/8,192.168.0.0/16", "--allow-loopback"])
        .env("WAYMARK_AGENT_REGION", "eu")
        .env("WAYMARK_AGENT_MEMBERS", "http://127.0.0.1:7400,http://127.0.0.1:7410")
        .env("WAYMARK_AGENT_LOG_FORMAT", "json")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let output =
        agent().args(["--check", "--region", "eu"]).env("WAYMARK_AGENT_REGION", "a b").output().unwrap();
    assert!(output.status.success(), "a flag beats the environment: {}", stderr(&output));
    let sample = run(&["config", "default"]);
    assert!(sample.status.success());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent.toml");
    std::fs::write(&path, &sample.stdout).unwrap();
    let output = run(&["--config", path.to_str().unwrap(), "--check"]);
    assert!(output.status.success(), "what is printed can be used: {}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&run(&["--version"]).stdout), "waymark-agent 0.1.0\n");
}

/// A running agent; ended when it is dropped.
struct Running(Child, Receiver<String>);

impl Running {
    /// One that reaches no member.
    fn alone() -> Self {
        Self::start(agent().args(["--region", "eu", "--members", "http://127.0.0.1:9"]))
    }

    /// Returns once it has begun.
    fn start(command: &mut Command) -> Self {
        let command = command.arg("--exit-when-stdin-closes").stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let (lines, log_lines) = sync_channel(LINES_MAX);
        std::thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| lines.send(line)));
        let mut running = Self(child, log_lines);
        let line = running.read_until("waymark-agent starts");
        assert!(line.starts_with('{'), "json where there is no terminal (OPS-5): {line}");
        running
    }

    /// Reads the log up to a line that has `words` in it.
    fn read_until(&mut self, words: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line =
                self.1.recv_timeout(left).unwrap_or_else(|error| panic!("it did not say: {words}: {error}"));
            if line.contains(words) {
                return line;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    fn wait(&mut self) -> std::process::ExitStatus {
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it is still there");
            std::thread::yield_now();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// OPS-4: TERM and INT drain; HUP does not end it; neither does silence.
#[test]
fn ops_4_signals_end_it_cleanly() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut running = Running::alone();
        running.signal(Signal::HUP);
        running.signal(signal);
        assert_eq!(running.wait().code(), Some(0));
    }
}

/// A supervisor that dies takes its agent with it.
#[test]
fn a_closed_standard_input_ends_it() {
    let mut running = Running::alone();
    assert!(running.0.try_wait().unwrap().is_none());
    drop(running.0.stdin.take());
    assert_eq!(running.wait().code(), Some(0));
}

/// PRB-12, F-PRB-12: with few descriptors some probes are not made, which is the agent's trouble; the others are, and
/// the stream stays.
#[tokio::test]
async fn prb_12_few_descriptors_fail_no_endpoint() {
    let silent = Endpoint::responding("").await;
    let lively = Endpoint::responding("HTTP/1.1 200 OK\r\n\r\n").await;
    let mut member = Member::start().await;
    // The shell's limit binds the agent, soft and hard.
    let command = format!(
        "ulimit -n 128; exec {} --name a1 --region eu --allow-loopback --members {} \"$@\"",
        env!("CARGO_BIN_EXE_waymark-agent"),
        member.url
    );
    let running = Running::start(Command::new("sh").args(["-c", &command, "sh"]));
    let stuck = (1..=100).map(|id| (id, Check { timeout_ms: 950, ..silent.check() }));
    let checks: Vec<(u64, Check)> = stuck.chain((101..=120).map(|id| (id, lively.check()))).collect();
    let mut session = member.serve(&checks).await;
    let mut seen: HashMap<(bool, wire::OutcomeClass), usize> = HashMap::new();
    for _ in 0..480 {
        let outcome = session.outcome().await;
        session.acknowledge(outcome.sequence).await;
        *seen.entry((outcome.endpoint > 100, outcome.outcome.unwrap().class())).or_default() += 1;
        let descriptors = std::fs::read_dir(format!("/proc/{}/fd", running.0.id())).unwrap().count();
        assert!(descriptors < 128, "{descriptors} are open");
    }
    let expected = [
        (false, wire::OutcomeClass::Timeout),
        (false, wire::OutcomeClass::Agent),
        (true, wire::OutcomeClass::Ok),
        (true, wire::OutcomeClass::Agent),
    ];
    assert!(seen.keys().all(|kind| expected.contains(kind)), "{seen:?}");
    assert!(seen.get(&expected[0]).is_some_and(|count| *count > 100), "{seen:?}");
    assert!(seen.get(&expected[1]).is_some_and(|count| *count > 10), "{seen:?}");
}

/// OPS-4: HUP reads the log level again.
#[test]
fn ops_4_hup_reads_the_log_level_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent.toml");
    let settings = |level: &str| {
        format!("region = \"eu\"\nmembers = [\"http://127.0.0.1:9\"]\nlog_level = \"{level}\"\n")
    };
    std::fs::write(&path, settings("info")).unwrap();
    let mut running = Running::start(agent().args(["--config", path.to_str().unwrap()]));
    std::fs::write(&path, settings("a=b=c")).unwrap();
    running.signal(Signal::HUP);
    running.read_until("the log level stays as it is");
    std::fs::write(&path, settings("debug")).unwrap();
    running.signal(Signal::HUP);
    running.read_until("\"log_level\":\"debug\"");
}

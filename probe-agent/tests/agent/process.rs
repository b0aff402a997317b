//! The binary: settings, exit codes, signals.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

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
    std::fs::write(&path, "name = \"a1\"\nregoin = \"eu\"\n").unwrap();
    let path = path.to_str().unwrap();
    for (arguments, code, words) in [
        (
            vec!["--config", path, "--check"],
            1,
            "agent.toml:2:1: unknown key 'regoin'; did you mean 'region'?",
        ),
        (vec!["--config", path], 1, "agent.toml:2:1:"),
        (vec!["--config", "/nowhere.toml"], 1, "/nowhere.toml: "),
        (vec!["--check"], 1, "region: is missing"),
        (vec!["--region", "eu", "--members", "m1:7400", "--check"], 1, "http://HOST:PORT"),
        (vec!["--region", "eu", "--log-level", "a=b=c", "--check"], 1, "log_level: "),
    ] {
        let output = run(&arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(words) && text.lines().count() == 1, "{arguments:?}: {text}");
    }
    for arguments in [vec!["--regoin", "eu"], vec!["config"], vec!["--resolver", "here"]] {
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

/// A running agent that reaches no member; ended when it is dropped.
struct Running(Child);

impl Running {
    /// Returns once it has begun.
    fn start(stdin: Stdio) -> Self {
        let mut child = agent()
            .args(["--region", "eu", "--members", "http://127.0.0.1:9", "--exit-when-stdin-closes"])
            .stdin(stdin)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("waymark-agent starts") {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "it ended before it began");
        }
        assert!(line.starts_with('{'), "json where there is no terminal (OPS-5): {line}");
        // Nobody reads on, but it must be able to write.
        std::thread::spawn(move || log.read_to_end(&mut Vec::new()));
        Self(child)
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
        let mut running = Running::start(Stdio::piped());
        running.signal(Signal::HUP);
        running.signal(signal);
        assert_eq!(running.wait().code(), Some(0));
    }
}

/// A supervisor that dies takes its agent with it.
#[test]
fn a_closed_standard_input_ends_it() {
    let mut running = Running::start(Stdio::piped());
    assert!(running.0.try_wait().unwrap().is_none());
    drop(running.0.stdin.take());
    assert_eq!(running.wait().code(), Some(0));
}

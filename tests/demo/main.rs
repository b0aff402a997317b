//! The demo, as a newcomer and as a machine run it (OPS-1).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use harness::eventually;
use harness::eventually::claim;
use serde_json::Value;

/// Demos choose the same ports while they are free: one at a time.
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

struct Demo {
    child: Child,
    output: std::path::PathBuf,
    directory: tempfile::TempDir,
}

impl Demo {
    fn start(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let output = directory.path().join("output");
        let file = std::fs::File::create(&output).unwrap();
        let child = Command::new(harness::binary::path("waymark-demo"))
            .args(arguments)
            .arg("--json")
            .arg(directory.path().join("demo.json"))
            // The demo's own directory goes below this one, so that the test sees whether it is removed.
            .env("TMPDIR", directory.path())
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        Self { child, output, directory }
    }

    fn described(&mut self) -> Value {
        let path = self.directory.path().join("demo.json");
        eventually("the demo says where everything is", || {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the demo ended with {status}: {}", std::fs::read_to_string(&self.output).unwrap());
            }
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
            serde_json::from_str(&text).map_err(|error| error.to_string())
        })
    }

    fn leftovers(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("waymark-demo-")).collect()
    }
}

fn pids(described: &Value) -> Vec<u64> {
    let of = |list: &Value| {
        list.as_array().unwrap().iter().map(|one| one["pid"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    [of(&described["members"]), of(&described["agents"])].concat()
}

fn assert_gone(described: &Value, demo: &Demo) {
    eventually("every process of the demo is gone", || {
        let alive: Vec<_> = pids(described).into_iter().filter(|pid| is_alive(*pid)).collect();
        claim(alive.is_empty(), format!("{alive:?}"))
    });
    eventually("the demo's files are gone", || {
        claim(demo.leftovers().is_empty(), format!("{:?}", demo.leftovers()))
    });
}

/// A process that has ended but was not waited for yet is not alive.
fn is_alive(pid: u64) -> bool {
    let stat =
        std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// OPS-1: everything serves once it is described; the CLI's words and every address work; `--for` ends it by itself.
#[test]
fn ops_1_the_described_demo_serves_and_ends_by_itself() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut demo = Demo::start(&["--headless", "--for", "20s"]);
    let described = demo.described();
    let zone = described["zone"].as_str().unwrap();
    assert_eq!(described["members"].as_array().unwrap().len(), 3);
    assert_eq!(described["agents"].as_array().unwrap().len(), 3);
    assert_eq!(described["endpoints"].as_array().unwrap().len(), 5);
    for member in described["members"].as_array().unwrap() {
        let dns = member["dns"].as_str().unwrap().parse().unwrap();
        assert_eq!(harness::dns::short(dns, &format!("web.{zone}"), "A"), "127.0.1.1");
        let health = reqwest::blocking::get(format!("{}/readyz", member["http"].as_str().unwrap())).unwrap();
        assert_eq!(health.status(), 200);
    }
    let cli: Vec<&str> =
        described["cli"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let run = |words: &[&str]| {
        let output = Command::new(cli[0]).args(&cli[1..]).args(words).args(["-o", "json"]).output().unwrap();
        assert!(output.status.success(), "{words:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    run(&["status"]);
    let shell = format!(". '{}' && waymark region list -o json", described["env"].as_str().unwrap());
    let output = Command::new("sh").args(["-c", &shell]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let regions = run(&["region", "list"])["regions"].as_array().unwrap().clone();
    let places: std::collections::BTreeSet<String> =
        regions.iter().map(|region| region["latitude"].to_string()).collect();
    assert_eq!((regions.len(), places.len()), (3, 3), "three places: {regions:?}");
    let text = std::fs::read_to_string(demo.directory.path().join("demo.json")).unwrap();
    assert!(text.ends_with("}\n"), "a file of lines");

    let status = demo.child.wait().unwrap();
    let output = std::fs::read_to_string(&demo.output).unwrap();
    assert!(status.success(), "{output}");
    assert!(
        output.contains("Three things to try") && output.contains("/env") && output.contains("dig @"),
        "{output}"
    );
    assert_gone(&described, &demo);
}

/// OPS-1: nothing stays behind when the demo is killed.
#[test]
fn ops_1_a_killed_demo_leaves_nothing_behind() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut demo = Demo::start(&["--headless"]);
    let described = demo.described();
    assert!(pids(&described).into_iter().all(is_alive));
    assert_eq!(demo.leftovers().len(), 1);
    demo.child.kill().unwrap();
    demo.child.wait().unwrap();
    assert_gone(&described, &demo);
}

/// OPS-4: told to end, the demo ends within seconds and leaves nothing behind.
#[test]
fn ops_1_a_demo_that_is_told_to_end_cleans_up() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut demo = Demo::start(&["--headless"]);
    let described = demo.described();
    let pid = rustix::process::Pid::from_child(&demo.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let status =
        harness::within(Duration::from_secs(15), || demo.child.try_wait().unwrap().ok_or("it runs".into()));
    assert!(status.expect("the demo ends when it is told to").success());
    assert_gone(&described, &demo);
}

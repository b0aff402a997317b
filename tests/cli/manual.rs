//! Runs the command blocks of the manual, so that what is documented works.

use harness::Cluster;
use harness::cli::Cli;
use harness::eventually::claim;
use harness::{Agent, Member, eventually};

/// The lines of `page` that stand in a block of shell commands and begin with `waymark `.
pub(crate) fn commands(page: &str) -> Vec<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    let text = std::fs::read_to_string(path).expect("the page is there");
    let blocks = text.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.strip_prefix("sh\n"));
    let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("waymark "));
    lines.map(str::to_owned).collect()
}

/// CLI-1: every command of docs/cli.md, from top to bottom.
#[test]
fn every_command_of_the_command_line_page_works() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let key = directory.path().join("secret.key").display().to_string();
    Cli::plain("http://127.0.0.1:1").ok(&format!("pki secret-key {key}"));
    let mut member = Member::new("m1", directory.path());
    member.flags = vec!["--secret-key-file".into(), key];
    let cluster = Cluster::found(directory, vec![member]);
    let commands = commands("cli.md");
    assert!(commands.len() > 40, "the page's commands were not found");
    let exported = cluster.directory().join("audit.jsonl").display().to_string();
    for command in commands {
        // The test's cluster is seconds old: there is no answer of five minutes ago.
        cluster.cli().ok(&command.replace(" --at 5m", " --at 1ms").replace("audit.jsonl", &exported));
    }
}

/// A step of a page: a command to run, or a question of `dig` and what it is answered.
#[derive(Debug)]
enum Step {
    Run(String),
    Dig { name: String, subnet: String, answer: String },
}

/// The commands of `text` and its questions, in their order.
fn steps(text: &str) -> Vec<Step> {
    let word = |line: &str, prefix: &str| {
        line.split(' ').find_map(|word| word.strip_prefix(prefix)).map(str::to_owned)
    };
    let mut steps = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(command) = line.strip_prefix("waymark ") {
            steps.push(Step::Run(command.to_owned()));
        } else if line.starts_with("$ dig ") {
            let name =
                line.split(' ').find(|word| word.ends_with(".waymark.test")).expect("a name").to_owned();
            let subnet = word(line, "+subnet=").expect("a subnet");
            let answer = lines.next().expect("an answer").to_owned();
            steps.push(Step::Dig { name, subnet, answer });
        }
    }
    steps
}

/// RTE-7, RTE-8, RTE-10, RTE-12, OBJ-6: every command and every answer of docs/routing-by-example.md.
#[test]
fn rte_14_routing_works_as_the_page_of_examples_shows() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let mut member = Member::new("m1", directory.path());
    member.flags = vec!["--dev".into()];
    member.start();
    member.ready();
    let cli = member.cli();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/routing-by-example.md");
    let text = std::fs::read_to_string(path).expect("the page is there");
    let (_, table) = text.split_once("```csv\n").expect("a table of latencies");
    let (table, _) = table.split_once("```").expect("the block ends");
    let file = directory.path().join("latency.csv");
    std::fs::write(&file, table).expect("the table can be written");
    let steps = steps(&text);
    let questions = steps.iter().filter(|step| matches!(step, Step::Dig { .. })).count();
    assert!(steps.len() > 50 && questions > 12, "the page's steps were not found: {steps:?}");
    for step in steps {
        match step {
            Step::Run(command) => {
                cli.ok(&command.replace("latency.csv", &file.display().to_string()));
            }
            Step::Dig { name, subnet, answer } => {
                let asked =
                    harness::dns::ask_from(member.dns, &format!("{name}."), &subnet).expect("a reply");
                assert_eq!(asked.0.join(" "), answer, "{name} for {subnet}");
            }
        }
    }
    let ignored = cli.ok("explain shop.waymark.test --from 10.0.0.0/8");
    assert!(ignored.contains("client subnet /8"), "the page leaves client subnets on: {ignored}");
}

/// CLU-1, CLU-9, CLU-10, CLU-12: the commands of docs/cluster.md, with the addresses of real members; before the last, which recovers a
/// cluster from a survivor, the others are lost.
#[test]
fn the_commands_of_the_cluster_page_lead_through_a_clusters_life() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let mut members: Vec<Member> = (1..=6).map(|n| Member::new(&format!("m{n}"), directory.path())).collect();
    members.iter_mut().for_each(Member::start);
    members.iter_mut().for_each(Member::listens);
    let commands = commands("cluster.md");
    assert_eq!(commands.len(), 13, "{commands:?}");
    let cli = members[0].cli();
    for command in commands {
        let placed = (1..=6).fold(command, |command, n| {
            command.replace(&format!("https://127.0.0.1:741{n}"), &members[n - 1].url())
        });
        let file = |name: &str| directory.path().join(name).display().to_string();
        let placed = ["waymark.backup", "lost.backup"]
            .iter()
            .fold(placed, |command, name| command.replace(name, &file(name)));
        if placed.contains("recover") {
            [0, 2].iter().for_each(|lost: &usize| members[*lost].kill());
        }
        // A survivor knows of its leader for a moment longer.
        eventually(&format!("waymark {placed}"), || {
            let output = cli.run(&placed);
            let is_early = output.stderr.contains("the cluster has a leader");
            assert!(output.code == 0 || is_early, "waymark {placed}:\n{}{}", output.stdout, output.stderr);
            claim(output.code == 0, output.stderr)
        });
    }
    [1, 4, 5].iter().for_each(|at: &usize| members[*at].ready());
}

/// OPS-3: the first hour by hand, with the ports of this test in the place of the page's.
#[test]
fn ops_3_the_first_hour_leads_to_a_changed_answer() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let mut member = Member::new("m1", directory.path());
    member.flags = vec!["--dev".into()];
    member.start();
    member.ready();
    let cli = member.cli();
    let port = harness::ports::free();
    let address = |host| std::net::SocketAddr::from((std::net::Ipv4Addr::new(127, 0, 0, host), port));
    let mut first = harness::FakeEndpoint::http(address(1));
    let _second = harness::FakeEndpoint::http(address(2));
    for command in commands("first-hour.md") {
        cli.ok(&command.replace("8080", &port.to_string()));
    }
    let _agent = Agent::start("a1", "here", &[member.url()], directory.path());
    let answers = |wanted: &str| {
        eventually(&format!("the answer is {wanted}"), || {
            let seen = harness::dns::short(member.dns, "web.waymark.test", "A");
            claim(seen == wanted, seen)
        });
    };
    eventually("both are Online", || {
        let seen = cli.ok("status -o json");
        claim(seen.matches("\"status\": \"Online\"").count() == 3, seen)
    });
    answers("127.0.0.1");
    first.stop();
    answers("127.0.0.2");
    assert!(cli.ok("events web").contains("Degraded"));
}

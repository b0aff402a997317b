//! Runs the command blocks of the manual, so that what is documented works.

use harness::Cluster;
use harness::eventually::claim;
use harness::{Agent, Member, eventually};

/// The lines of `page` that stand in a block of shell commands and begin with `waymark `.
fn commands(page: &str) -> Vec<String> {
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
    let cluster = Cluster::start(1);
    let commands = commands("cli.md");
    assert!(commands.len() > 40, "the page's commands were not found");
    for command in commands {
        cluster.cli().ok(&command);
    }
}

/// CLU-1: the commands of docs/cluster.md, with the addresses of real members.
#[test]
fn the_commands_of_the_cluster_page_make_a_cluster() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let mut members: Vec<Member> = (1..=3).map(|n| Member::new(&format!("m{n}"), directory.path())).collect();
    members.iter_mut().for_each(Member::start);
    members.iter_mut().for_each(Member::listens);
    let commands = commands("cluster.md");
    assert_eq!(commands.len(), 4, "{commands:?}");
    let cli = harness::cli::Cli { endpoints: String::new() };
    for command in commands {
        let placed = (1..=3).fold(command, |command, n| {
            command.replace(&format!("http://127.0.0.1:741{n}"), &members[n - 1].url())
        });
        // The page names the endpoint in each command; the one from the harness is not wanted.
        let output = cli.run_bare(&placed);
        assert_eq!(output.code, 0, "waymark {placed}:\n{}{}", output.stdout, output.stderr);
    }
    members.iter_mut().for_each(Member::ready);
}

/// OPS-3: the first hour by hand, with the ports of this test in the place of the page's.
#[test]
fn ops_3_the_first_hour_leads_to_a_changed_answer() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let mut member = Member::new("m1", directory.path());
    member.flags = vec!["--dev".into()];
    member.start();
    member.ready();
    let cli = harness::cli::Cli { endpoints: member.url() };
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

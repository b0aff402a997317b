//! The CLI at a terminal: what asks, and what is drawn in place.

use harness::Cluster;
use harness::terminal::Terminal;

const ZONE: &str = "zone create waymark.test --ns ns1.waymark.test=127.0.0.1";

/// CLI-6: a person is asked before something that answers DNS is removed, and only a yes removes it.
#[test]
fn cli_6_a_person_is_asked_before_a_removal() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(ZONE);
    for (reply, code) in [("\n", 5), ("n\n", 5), ("yes, of course\n", 5), ("Y\n", 0)] {
        let mut terminal = Terminal::run(&cli, "zone delete waymark.test", 80, 24);
        terminal.shows("Remove the zone 'waymark.test'? It answers DNS. [y/N]");
        assert_eq!(cli.run("zone show waymark.test").code, 0, "removed before the reply");
        terminal.types(reply);
        assert_eq!(terminal.ended().code(), Some(code), "{reply:?}: {}", terminal.written());
        assert_eq!(cli.run("zone show waymark.test").code, if code == 0 { 3 } else { 0 }, "{reply:?}");
    }
}

/// CLI-5: `--watch` draws over what it drew, within the terminal's width and height, and repeats in words what it colours.
#[test]
fn cli_5_watching_redraws_in_place() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(ZONE);
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    for place in 1..=30 {
        cli.ok(&format!("endpoint add web e{place} --target 192.0.2.{place}"));
    }
    let terminal = Terminal::run(&cli, "status --watch", 70, 12);
    terminal.shows("more lines");
    terminal.shows("CheckingEndpoints");
    cli.ok("profile disable web");
    terminal.shows("Inactive");
    let written = terminal.written();
    let (erase_all, home) = ("\u{1b}[2J", "\u{1b}[H");
    assert_eq!(written.matches(erase_all).count(), 1, "the screen is cleared once: {written:?}");
    assert!(written.matches(home).count() >= 2, "and then drawn over: {written:?}");
    for frame in written.split(home).skip(1) {
        let lines: Vec<String> = frame.lines().map(plain).collect();
        assert!(lines.len() <= 12, "{} lines", lines.len());
        assert!(lines.iter().all(|line| line.chars().count() <= 70), "{lines:?}");
    }
}

/// A line without the terminal's control sequences.
fn plain(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let behind =
        |part: &str| part.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).chars().skip(1).collect();
    (first + &parts.map(behind).collect::<Vec<String>>().concat()).trim_end().to_owned()
}

//! DNS-17 on real processes: all that a zone holds, from the CLI to every member's answers.

use harness::Cluster;

use crate::history::moment;

/// Runs `command`, which must be refused, and returns its exit code and what it complained of.
fn refused(cli: &harness::cli::Cli, command: &str) -> (i32, String) {
    let output = cli.run(command);
    assert_ne!(output.code, 0, "waymark {command}: {}", output.stdout);
    (output.code, output.stderr)
}

#[test]
fn dns_17_records_are_kept_in_a_zone_beside_its_profiles() {
    let cluster = Cluster::start(3);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    cli.ok("endpoint add web e1 --target 192.0.2.1");
    cli.ok("record set waymark.test @ MX '10 mail.waymark.test' '20 mx.example.net'");
    cli.ok("record set waymark.test @ TXT '\"v=spf1 mx -all\"' --ttl 5m");
    cli.ok("record set waymark.test mail A 192.0.2.25");
    cli.ok("record set waymark.test www CNAME web.waymark.test");
    cli.ok("record set waymark.test _sip._tcp SRV '0 5 5060 sip.example.net'");
    let written = cli.ok("record set waymark.test @ CAA '0 issue \"ca.example\"' --wait all");
    assert!(written.starts_with("record set 'waymark.test CAA' set (revision "), "{written}");
    for member in &cluster.members {
        let short = |name: &str, kind| harness::dns::short(member.dns, name, kind);
        assert_eq!(short("waymark.test", "MX"), "10 mail.waymark.test. 20 mx.example.net.");
        assert_eq!(short("waymark.test", "TXT"), "v=spf1 mx -all");
        assert_eq!(short("www.waymark.test", "A"), "web.waymark.test. 192.0.2.1");
        assert_eq!(short("_sip._tcp.waymark.test", "SRV"), "0 5 5060 sip.example.net.");
        assert_eq!(short("mail.waymark.test", "AAAA"), "NoError");
        assert_eq!(short("_tcp.waymark.test", "A"), "NoError", "DNS-5");
        assert_eq!(short("nope.waymark.test", "MX"), "NXDomain");
    }

    let listed = cli.ok("record list waymark.test");
    assert_eq!(listed.lines().count(), 8, "a heading, and a line for each record:\n{listed}");
    assert!(listed.contains("\"v=spf1 mx -all\""), "{listed}");
    for words in cli.ok("record list -o name").lines() {
        cli.ok(&format!("record show {words}"));
    }
    let shown = cli.json("record show waymark.test @ TXT");
    let set = &shown["recordSets"][0];
    assert_eq!((&set["ttl"], &set["data"][0]), (&"300s".into(), &"\"v=spf1 mx -all\"".into()));

    // Whoever came first; and what is removed answers no more, though it can still be explained.
    let (code, taken) = refused(&cli, "record set waymark.test web TXT x");
    assert_eq!(code, 1, "{taken}");
    assert!(taken.contains("relative_name: 'web.waymark.test' is the name of the profile 'web'"), "{taken}");
    let refusal =
        refused(&cli, "profile create mail --zone waymark.test --relative-name mail --routing priority").1;
    assert!(refusal.contains("'mail.waymark.test' has static records (A)"), "{refusal}");
    let before = moment();
    cli.ok("record delete waymark.test mail A --yes");
    assert_eq!(harness::dns::short(cluster.members[0].dns, "mail.waymark.test", "A"), "NXDomain");
    let explained = cli.ok(&format!("explain mail.waymark.test --at {before}"));
    assert!(explained.contains("192.0.2.25"), "RTE-15: {explained}");
}

/// VAL-1, CLI-2, CLI-6: each refusal names the field, the value, the rule and the nearest word, with its exit code.
#[test]
fn cli_2_refusals_of_records_name_field_value_and_rule() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    for (command, code, complaint) in [
        (
            "record set waymark.test @ MX mail",
            1,
            "error: data[0]: preference: 'mail' is no whole number, 0–65535",
        ),
        (
            "record set waymark.test @ TXT 'v=spf1 -all'",
            1,
            "error: data[0]: has a blank outside quotes; write \"v=spf1 -all\" with its quotes for one text",
        ),
        (
            "record set waymark.test @ MXX '10 mail'",
            1,
            "error: type: 'MXX' is no record type (did you mean MX?)",
        ),
        ("record set waymark.test * A 192.0.2.1", 1, "error: relative_name: '*' is a wildcard"),
        ("record set waymark.test sub NS ns.example.net", 1, "error: type: NS cannot be kept: delegations"),
        (
            "record set waymark.test x A 192.0.2.1 --ttl 4294967295",
            1,
            "error: ttl: 4294967295 is outside 0–2147483647",
        ),
        (
            "record set waymark.tset x A 192.0.2.1",
            3,
            "there is no zone 'waymark.tset'; did you mean 'waymark.test'?",
        ),
        ("record show waymark.test x A", 3, "there is no record set 'x.waymark.test A'"),
        ("record set waymark.test x A", 64, "<DATA>"),
    ] {
        let (got, said) = refused(&cli, command);
        assert!(got == code && said.contains(complaint), "{command}: exit code {got}\n{said}");
    }
    cli.ok("record set waymark.test x A 192.0.2.1");
    let (code, said) = refused(&cli, "record delete waymark.test x A");
    assert!(code == 5 && said.contains("--yes"), "{said}");
    let (code, said) = refused(&cli, "record set waymark.test x A 192.0.2.2 --if-revision 1");
    assert!(code == 6 && said.contains("'x.waymark.test A' is at revision"), "{said}");
    let (code, said) = refused(&cli, "zone delete waymark.test --yes");
    assert!(code == 1 && said.contains("in use by record set 'x.waymark.test A'"), "{said}");
    cli.ok("record delete waymark.test x A --yes");
    cli.ok("zone delete waymark.test --yes");
}

//! The long run's short form: everything that it does but the snapshot, once (DNS-20, CLU-8).

use std::process::Command;

/// DNS-20, CLU-8, F-CLU-01: three killed leaders, a certificate, a geo table and three restarts under 1,500 queries and 50
/// changes a second.
#[test]
fn dns_20_nothing_that_befalls_a_cluster_costs_a_query() {
    let output =
        Command::new(harness::binary::path("waymark-soak")).arg("--short").output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    for row in [
        "| lost | 0 |",
        "| leaders killed | 3 |",
        "| members restarted | 3 |",
        "| geo tables exchanged | 1 |",
    ] {
        assert!(told.contains(row), "{told}");
    }
}

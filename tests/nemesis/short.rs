//! The nemesis's short form, with a seed that stays: each fault once.

use std::process::Command;

/// The same faults in the same order in every run.
const SEED: &str = "5";

/// CLU-2, CLU-5, CLU-7, CLU-8, CLU-9, DNS-20, STA-7: whatever befalls members and the links between them, histories are those of
/// registers, names follow what was committed, no query is lost, and events tell what happened.
#[test]
fn clu_7_the_nemesis_finds_nothing_lost_wrong_or_invented() {
    let output = Command::new(harness::binary::path("waymark-nemesis"))
        .args(["--short", "--seed", SEED])
        .output()
        .expect("it starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    println!("{told}");
}

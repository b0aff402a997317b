//! A few crashes of each kind that takes no root, with a seed that stays.

use std::process::Command;

/// CLU-2, CLU-3: nothing acknowledged is lost by kills or by damage to one member, whose store opens or says why not.
#[test]
fn clu_2_a_few_crashes_of_each_kind_lose_nothing() {
    let output = Command::new(harness::binary::path("waymark-crash"))
        .args(["--seed", "7", "--kills", "5", "--damages", "8"])
        .output()
        .expect("it starts");
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}{errors}");
    println!("{told}");
}

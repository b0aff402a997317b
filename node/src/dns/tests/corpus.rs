//! The committed corpus of the fuzzers, fed to what they feed (DNS-10, DNS-11, DNS-13): without libFuzzer, at each run.

use std::path::Path;

use crate::dns::fuzzing;

/// What is fed, by the name of its corpus.
type Target = (&'static str, fn(&[u8]));

#[test]
fn dns_13_the_corpus_breaks_no_promise() {
    let targets: [Target; 4] = [
        ("packet", fuzzing::packet),
        ("answer", fuzzing::answer),
        ("subnet", fuzzing::subnet),
        ("cookie", fuzzing::cookie),
    ];
    for (name, target) in targets {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus").join(name);
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut count = 0;
        for entry in entries {
            let path = entry.expect("a folder's entry can be read").path();
            let data = std::fs::read(&path).expect("a file can be read");
            let outcome = std::panic::catch_unwind(|| target(&data));
            assert!(outcome.is_ok(), "{}", path.display());
            count += 1;
        }
        assert!(count >= 20, "{name}: {count} files");
    }
}

//! The files that hold the bytes that every version must read.

use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/storage/v1"))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let lines =
        bytes.chunks(32).map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    lines.map(|line| line + "\n").collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The bytes in the file `name`; those given, if the file is missing and may be written.
pub(super) fn golden(name: &str, written_today: &[u8]) -> Vec<u8> {
    let path = folder().join(name);
    if !path.exists() && std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(&path, hex(written_today)).unwrap();
    }
    let text = std::fs::read_to_string(&path);
    unhex(
        &text.unwrap_or_else(|_| panic!("testdata/storage/v1/{name} is missing; UPDATE_GOLDEN=1 writes it")),
    )
}

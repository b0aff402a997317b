//! Compiles the `.proto` files without protoc, and keeps their descriptors for server reflection.

use std::path::PathBuf;

use prost::Message;

const FILES: [&str; 4] = [
    "waymark/admin/v1/admin.proto",
    "waymark/agent/v1/agent.proto",
    "waymark/peer/v1/peer.proto",
    "waymark/storage/v1/storage.proto",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=waymark");
    let descriptors = protox::compile(FILES, ["."])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().bytes(".").compile_fds(descriptors)?;
    Ok(())
}

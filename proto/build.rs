//! Compiles the `.proto` files without protoc, keeps their descriptors for server reflection, and lists every method, so
//! that one without a policy does not compile (SEC-2).

use std::fmt::Write;
use std::path::PathBuf;

use prost::Message;
use prost_types::FileDescriptorSet;

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
    std::fs::write(out.join("methods.rs"), methods(&descriptors)?)?;
    tonic_prost_build::configure().bytes(".").compile_fds(descriptors)?;
    Ok(())
}

/// An enum with a variant for each method of each service, and their paths.
fn methods(descriptors: &FileDescriptorSet) -> Result<String, std::fmt::Error> {
    let mut found = Vec::new();
    for file in &descriptors.file {
        for service in &file.service {
            for method in &service.method {
                let (package, service, method) = (file.package(), service.name(), method.name());
                found.push((format!("{service}{method}"), format!("/{package}.{service}/{method}")));
            }
        }
    }
    let mut text = String::from("/// A method of the services of members.\n");
    text += "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub enum Method {\n";
    for (name, path) in &found {
        writeln!(text, "    /// `{path}`\n    {name},")?;
    }
    text += "}\n\nimpl Method {\n    /// All of them.\n";
    writeln!(text, "    pub const ALL: [Self; {}] = [", found.len())?;
    for (name, _) in &found {
        writeln!(text, "        Self::{name},")?;
    }
    text += "    ];\n\n    /// Its path, as requests have it.\n    pub fn path(self) -> &'static str {\n        match self {\n";
    for (name, path) in &found {
        writeln!(text, "            Self::{name} => \"{path}\",")?;
    }
    text +=
        "        }\n    }\n\n    /// The method of that path.\n    pub fn of(path: &str) -> Option<Self> {\n";
    text += "        Some(match path {\n";
    for (name, path) in &found {
        writeln!(text, "            \"{path}\" => Self::{name},")?;
    }
    text += "            _ => return None,\n        })\n    }\n}\n";
    Ok(text)
}

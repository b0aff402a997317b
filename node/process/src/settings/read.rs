//! Readers of single values that several programs share. Each says in its error what was given and what is wanted.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use ipnet::IpNet;
use waymark_core::model::{MemberUrl, Violations, nearest, quote, validate_place_name};

use super::Reader;
use crate::duration;
use crate::logging::LogLevel;
use crate::tls::CredentialFiles;

/// A name of a region, an agent or a member (OBJ-9).
pub fn place_name(text: &str) -> Result<String, String> {
    let mut violations = Violations::new();
    validate_place_name("", text, &mut violations);
    match violations.into_vec().into_iter().next() {
        Some(violation) => Err(violation.description),
        None => Ok(text.to_owned()),
    }
}

/// The URL of a member; plain text is for loopback only.
pub fn member_url(text: &str) -> Result<MemberUrl, String> {
    MemberUrl::parse(text).and_then(MemberUrl::safe).map_err(|fault| format!("{} {fault}", quote(text)))
}

/// The files of a process's identity (SEC-1), if they are given: all three or none. The flags come in the order of the keys.
pub fn credentials(given: &mut Reader, flags: [&Option<PathBuf>; 3]) -> Option<CredentialFiles> {
    const KEYS: [&str; 3] = ["tls_certificate", "tls_key", "tls_authority"];
    // A path need not be text, so a flag's is taken as it is.
    let paths = [0, 1, 2].map(|at| {
        let in_file = given.value(KEYS[at], None, text).map(PathBuf::from);
        flags[at].clone().or(in_file).filter(|path| !path.as_os_str().is_empty())
    });
    if let [Some(certificate), Some(key), Some(authority)] = paths {
        return Some(CredentialFiles { keys: KEYS, certificate, key, authority });
    }
    let is_any = paths.iter().any(Option::is_some);
    for (key, _) in KEYS.into_iter().zip(&paths).filter(|(_, path)| is_any && path.is_none()) {
        given.refuse(key, format!("is missing: {}, {} and {} go together", KEYS[0], KEYS[1], KEYS[2]));
    }
    None
}

/// A network, as in `10.0.0.0/8`.
pub fn network(text: &str) -> Result<IpNet, String> {
    text.parse().map_err(|_| format!("'{text}' is no network; write ADDRESS/BITS, as in 10.0.0.0/8"))
}

/// One of the words of `T`.
pub fn word<T: ValueEnum>(text: &str) -> Result<T, String> {
    T::from_str(text, false).map_err(|_| {
        let words = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let words: Vec<String> = words.map(|word| word.get_name().to_owned()).collect();
        match nearest(text, words.iter().map(String::as_str)) {
            Some(hint) => format!("unknown word {}; did you mean '{hint}'?", quote(text)),
            None => format!("unknown word {}; known are {}", quote(text), words.join(", ")),
        }
    })
}

/// The machine's own name, for a process that was given none; `otherwise` where the machine has none.
pub fn machine_name(otherwise: &str) -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { otherwise.to_owned() } else { name }
}

/// Any text.
pub fn text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// An address and port to listen on; port 0 would be another one at each start.
pub fn listen(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<SocketAddr>() {
        Ok(address) if address.port() == 0 => Err(format!("{} has port 0; name the port", quote(text))),
        Ok(address) => Ok(address),
        Err(_) => Err(format!("{} is not ADDRESS:PORT, as in 127.0.0.1:7400", quote(text))),
    }
}

/// A name or an address with a port behind it, to be shown to people.
pub fn host_and_port(text: &str) -> Result<String, String> {
    match MemberUrl::parse(&format!("http://{text}")) {
        Ok(_) if !text.ends_with('/') => Ok(text.to_owned()),
        _ => Err(format!("{} is not HOST:PORT", quote(text))),
    }
}

/// How long something takes, with its unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    duration::parse(text).map_err(|fault| format!("{} {fault}", quote(text)))
}

/// A resolver's address, as in `127.0.0.1:53`.
///
/// # Errors
/// Why the text is none.
pub fn resolver(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("{} is not ADDRESS:PORT, as in 127.0.0.1:53", quote(text)))
}

/// What is logged; `RUST_LOG` goes first, and is judged where it is set.
pub fn log_level(given: &mut Reader, flag: Option<&str>) -> LogLevel {
    let level = given.value("log_level", flag, text).unwrap_or_else(|| "info".to_owned());
    LogLevel::parse(&level).unwrap_or_else(|reason| {
        given.refuse("log_level", reason);
        LogLevel::default()
    })
}

//! The only place that draws random numbers.

/// 64 random bits from the operating system.
pub fn draw() -> u64 {
    // Without the system's random source nothing on this machine can work, TLS least of all.
    getrandom::u64().expect("the system's random source answers")
}

/// A random id in hexadecimal, as for a cluster.
pub fn id() -> String {
    format!("{:016x}{:016x}", draw(), draw())
}

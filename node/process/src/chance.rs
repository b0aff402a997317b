//! The only place that draws random numbers.

/// 64 random bits from the operating system.
pub fn draw() -> u64 {
    // Without the system's random source nothing on this machine can work, TLS least of all.
    getrandom::u64().expect("the system's random source answers")
}

/// 128 random bits, as for a secret.
pub fn bytes() -> [u8; 16] {
    (u128::from(draw()) << 64 | u128::from(draw())).to_be_bytes()
}

/// A random id in hexadecimal, as for a cluster.
pub fn id() -> String {
    format!("{:016x}{:016x}", draw(), draw())
}

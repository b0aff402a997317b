//! Digests that tell one table from another. They guard against mistakes, not against anybody.

/// FNV-1a of 128 bits.
pub(crate) struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    /// Odd, with bits set all over.
    const MULTIPLIER: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

    /// Goes on with `bytes`.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        /// 2^88 + 0x13b.
        const PRIME: u128 = (1 << 88) + 0x13b;
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }

    /// The digest so far.
    pub(crate) fn value(&self) -> u128 {
        self.0
    }

    /// The digest so far, for a sum over many: each bit hangs on each, so that like differences of many parts do not
    /// cancel out.
    pub(crate) fn summand(&self) -> u128 {
        let mut value = self.0;
        for _ in 0..2 {
            value = (value ^ (value >> 67)).wrapping_mul(Self::MULTIPLIER);
        }
        value ^ (value >> 67)
    }
}

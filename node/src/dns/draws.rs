//! The random numbers that answers are drawn with: fast, one state for each listener, seeded by the operating system.

/// A splitmix64 generator. Its numbers spread traffic; they keep no secret.
#[derive(Debug)]
pub(super) struct Draws(u64);

impl Draws {
    /// A generator that nobody can foresee the start of.
    pub(super) fn seeded() -> Self {
        Self::from_seed(waymark_process::chance::draw())
    }

    /// A generator that gives the same numbers for the same seed.
    pub(super) fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        // The constants are those of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_is_set_about_half_the_time() {
        let mut draws = Draws::seeded();
        let mut set = [0_u32; 64];
        for _ in 0..10_000 {
            let draw = draws.next();
            for (bit, count) in set.iter_mut().enumerate() {
                *count += u32::from(draw >> bit & 1 == 1);
            }
        }
        assert!(set.iter().all(|count| (4_700..5_300).contains(count)), "{set:?}");
    }

    #[test]
    fn two_generators_differ() {
        assert_ne!(Draws::seeded().next(), Draws::seeded().next());
    }
}

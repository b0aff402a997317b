//! Chance from a seed.

/// A splitmix64 generator: the same seed, the same numbers.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// One that draws the same for the same seed.
    pub fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is above 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u64
    }

    /// True once in `of` times.
    pub fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// One of them, if there are any.
    pub fn one_of<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        if among.is_empty() { None } else { among.get(self.below(among.len() as u64) as usize) }
    }

    /// All of them, in an order that is drawn.
    pub fn shuffled<T: Clone>(&mut self, all: &[T]) -> Vec<T> {
        let mut left = all.to_owned();
        let mut order = Vec::new();
        while !left.is_empty() {
            order.push(left.swap_remove(self.below(left.len() as u64) as usize));
        }
        order
    }
}

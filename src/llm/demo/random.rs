//! Random numbers for the demo model: the same request gives the same numbers.

/// SplitMix64: small, and the same on every platform.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64, messages: usize, task: &str) -> Self {
        let start = seed ^ 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(messages as u64 + 1);
        Random(task.bytes().fold(start, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A random number in `from..to`, which must not be empty.
    pub fn between(&mut self, from: u32, to: u32) -> u32 {
        let span = u64::from(to.saturating_sub(from).max(1));
        from + u32::try_from(self.next() % span).unwrap_or(0)
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let most = u32::try_from(list.len()).unwrap_or(u32::MAX);
        list.get(self.between(0, most) as usize)
    }
}

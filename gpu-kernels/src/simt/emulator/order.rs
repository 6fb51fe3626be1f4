//! Orders drawn from a seed.

/// A source of orders: Marsaglia's xorshift of 64 bits.
pub(super) struct Order(u64);

impl Order {
    pub(super) fn new(seed: u64) -> Self {
        // Any state but 0 will do; neighbouring seeds should not begin alike.
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let other = (self.next() >> 33) as usize % (i + 1);
            items.swap(i, other);
        }
    }

    /// The numbers below `count`, a power of two, in one of `count * count / 2` orders.
    pub(super) fn cycle(&mut self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let bits = (self.next() >> 17) as usize;
        let (start, step) = (bits % count, bits >> 16 | 1);
        (0..count).map(move |i| start.wrapping_add(i.wrapping_mul(step)) % count)
    }
}

#[cfg(test)]
mod tests {
    use super::Order;
    use std::vec::Vec;

    #[test]
    fn cycles_hold_every_number_once() {
        let mut order = Order::new(3);
        let mut seen = Vec::new();
        for _ in 0..20 {
            let cycle: Vec<usize> = order.cycle(32).collect();
            let mut sorted = cycle.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..32));
            seen.push(cycle);
        }
        assert_ne!(seen[0], seen[1]);
    }
}

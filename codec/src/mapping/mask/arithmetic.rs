//! Adaptive binary arithmetic coding: a range coder with carries (Martin 1979; Schindler 1999), and models that learn
//! how likely a bit is. FORMAT.md, section 22.
//!
//! One thread codes a part. Nothing here depends on the memory that the bytes and models are in.

/// The least probability of a bit, in units of 2^-16.
const LEAST: u32 = 32;

/// The number of bits that a model has seen, at most.
const MOST_SEEN: u32 = 63;

/// A normalised range is at least this.
const LEAST_RANGE: u32 = 1 << 24;

/// The adaptive model of a bit. The low 16 bits are the probability that the bit is 1, in units of 2^-16. The bits above
/// them count the coded bits, up to `MOST_SEEN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model(pub u32);

impl Model {
    /// Nothing is known: both bits are equally likely.
    pub const NEW: Self = Self(1 << 15);

    #[inline(always)]
    const fn probability(self) -> u32 {
        self.0 & 0xffff
    }

    /// The model after it has seen a bit. It learns faster while it has seen few.
    #[inline(always)]
    #[must_use]
    pub const fn after(self, bit: bool) -> Self {
        let (probability, seen) = (self.probability(), self.0 >> 16);
        let shift = u32::BITS - (seen + 1).leading_zeros();
        let (up, down) = ((1 << 16) - LEAST - probability, probability - LEAST);
        let probability = probability + select(bit, up >> shift, 0) - select(bit, 0, down >> shift);
        let seen = if seen < MOST_SEEN { seen + 1 } else { seen };
        Self(seen << 16 | probability)
    }
}

/// One of two numbers, without a branch: no processor can predict the bits of a mask.
#[inline(always)]
const fn select(bit: bool, one: u32, zero: u32) -> u32 {
    let mask = 0u32.wrapping_sub(bit as u32);
    one & mask | zero & !mask
}

/// The part of a range that belongs to a bit that is 1.
#[inline(always)]
const fn split(range: u32, model: Model) -> u32 {
    (range >> 16) * model.probability()
}

/// Takes the bytes of an encoder. A closure can do so; the kernels have types, whose methods are always inlined.
pub trait PutByte {
    /// Takes the next byte.
    fn put(&mut self, byte: u8);
}

impl<F: FnMut(u8)> PutByte for F {
    #[inline(always)]
    fn put(&mut self, byte: u8) {
        self(byte);
    }
}

/// Gives the bytes for a decoder, as [`PutByte`] takes them.
pub trait TakeByte {
    /// The next byte, 0 behind the last one.
    fn take(&mut self) -> u8;
}

impl<F: FnMut() -> u8> TakeByte for F {
    #[inline(always)]
    fn take(&mut self) -> u8 {
        self()
    }
}

/// Writes bits.
#[derive(Debug, Clone, Copy)]
pub struct Encoder {
    low: u64,
    range: u32,
    /// The last byte that a carry can still change; the 255s behind it are only counted.
    last: Option<u8>,
    pending: u32,
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            low: 0,
            range: u32::MAX,
            last: None,
            pending: 0,
        }
    }
}

impl Encoder {
    /// Codes a bit; passes finished bytes on.
    #[inline(always)]
    pub fn put_bit(&mut self, model: Model, bit: bool, bytes: &mut impl PutByte) {
        let bound = split(self.range, model);
        self.low += u64::from(select(bit, 0, bound));
        self.range = select(bit, bound, self.range - bound);
        while self.range < LEAST_RANGE {
            self.range <<= 8;
            self.shift(bytes);
        }
    }

    /// Passes the last bytes on. Of all numbers that mean the same bits, it takes the one that ends in the most
    /// zero bits; zero bytes at the end need not be stored.
    #[inline(always)]
    pub fn finish(mut self, bytes: &mut impl PutByte) {
        let end = self.low + u64::from(self.range);
        let mut below = u64::from(u32::MAX);
        while (self.low + below) & !below >= end {
            below >>= 1;
        }
        self.low = (self.low + below) & !below;
        for _ in 0..5 {
            self.shift(bytes);
        }
    }

    /// Takes the highest byte of `low` away.
    #[inline(always)]
    fn shift(&mut self, bytes: &mut impl PutByte) {
        let carry = (self.low >> 32) as u8;
        if self.low < 0xff00_0000 || carry > 0 {
            if let Some(last) = self.last {
                bytes.put(last.wrapping_add(carry));
            }
            while self.pending > 0 {
                bytes.put(0xff_u8.wrapping_add(carry));
                self.pending -= 1;
            }
            self.last = Some((self.low >> 24) as u8);
        } else {
            self.pending += 1;
        }
        self.low = (self.low & 0x00ff_ffff) << 8;
    }
}

/// Reads bits. Any bytes are bits; behind the last byte there are zeros.
#[derive(Debug, Clone, Copy)]
pub struct Decoder {
    range: u32,
    code: u32,
}

impl Decoder {
    /// Begins with the first four bytes.
    #[inline(always)]
    pub fn new(bytes: &mut impl TakeByte) -> Self {
        let mut code = 0;
        for _ in 0..4 {
            code = code << 8 | u32::from(bytes.take());
        }
        Self {
            range: u32::MAX,
            code,
        }
    }

    /// Decodes a bit.
    #[inline(always)]
    pub fn bit(&mut self, model: Model, bytes: &mut impl TakeByte) -> bool {
        let bound = split(self.range, model);
        let bit = self.code < bound;
        self.code -= select(bit, 0, bound);
        self.range = select(bit, bound, self.range - bound);
        while self.range < LEAST_RANGE {
            self.range <<= 8;
            self.code = self.code << 8 | u32::from(bytes.take());
        }
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    fn there_and_back(bits: &[bool], models: usize) -> usize {
        let model_of = |i: usize| i % models;
        let mut bytes = Vec::new();
        let mut encoder = Encoder::default();
        let mut known = alloc::vec![Model::NEW; models];
        for (i, bit) in bits.iter().enumerate() {
            let model = &mut known[model_of(i)];
            encoder.put_bit(*model, *bit, &mut |byte| bytes.push(byte));
            *model = model.after(*bit);
        }
        encoder.finish(&mut |byte| bytes.push(byte));
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        let mut rest = bytes.iter().copied();
        let mut next = || rest.next().unwrap_or(0);
        let mut decoder = Decoder::new(&mut next);
        known.fill(Model::NEW);
        for (i, bit) in bits.iter().enumerate() {
            let model = &mut known[model_of(i)];
            assert_eq!(decoder.bit(*model, &mut next), *bit, "bit {i}");
            *model = model.after(*bit);
        }
        bytes.len()
    }

    #[test]
    fn bits_come_back_and_cost_their_entropy() {
        let mut rng = SmallRng::seed_from_u64(3);
        for share in [0.0, 0.001, 0.02, 0.2, 0.5, 0.98, 1.0] {
            let count = 100_000;
            let bits: Vec<bool> = (0..count).map(|_| rng.random_bool(share)).collect();
            let entropy = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
            let wanted = f64::from(count) * (entropy(share) + entropy(1.0 - share)) / 8.0;
            let found = there_and_back(&bits, 3) as f64;
            assert!(
                found >= wanted * 0.97 && found <= wanted * 1.03 + 60.0,
                "{share}: {found} {wanted}"
            );
        }
        for count in 0..200 {
            let bits: Vec<bool> = (0..count).map(|_| rng.random_bool(0.5)).collect();
            there_and_back(&bits, 1);
        }
    }

    #[test]
    fn carries_run_through_long_rows_of_255() {
        // A model that is wrong at the end of a long run makes low large, so that carries occur.
        for zeros in 0..2000 {
            let mut bits = alloc::vec![false; zeros];
            bits.extend([true; 3]);
            bits.extend([false; 40]);
            there_and_back(&bits, 1);
        }
    }

    #[test]
    fn any_bytes_are_bits() {
        let mut rng = SmallRng::seed_from_u64(4);
        for _ in 0..1000 {
            let mut next = || rng.random_range(0..=255) as u8;
            let mut decoder = Decoder::new(&mut next);
            let mut model = Model::NEW;
            for _ in 0..1000 {
                let bit = decoder.bit(model, &mut next);
                model = model.after(bit);
                assert!(decoder.range >= LEAST_RANGE && decoder.code <= decoder.range);
            }
        }
    }
}

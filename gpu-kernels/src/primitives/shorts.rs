//! Values of 16 bits in global memory. Each is the low half of a word of its own while its chunk is in shared memory, where
//! an element needs the word before or after.

use crate::primitives::map::Map;
use ferrosz_codec::container::header_words;
use ferrosz_codec::mapping::short::Short;
use ferrosz_simt::{Thread, View};

/// The words of values of 16 bits, two in each, the low one first; 16-byte aligned.
#[derive(Clone, Copy)]
pub struct Shorts(pub View<u32>);

/// Values that are read or written together.
pub const UNIT: usize = 4;

impl Shorts {
    /// Reads unit number `number`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn unit<T: Thread>(self, t: T, number: u64) -> [u32; UNIT] {
        let bits = t.load_u64(self.0.pairs(), number);
        let [low, high] = [bits as u32, (bits >> 32) as u32];
        [low & 0xffff, low >> 16, high & 0xffff, high >> 16]
    }

    /// Writes unit number `number`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn set_unit<T: Thread>(self, t: T, number: u64, values: [u32; UNIT]) {
        let [a, b, c, d] = values;
        let bits = u64::from(a | b << 16) | u64::from(c | d << 16) << 32;
        t.store_u64(self.0.pairs(), number, bits);
    }

    /// Reads value number `at`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn value<T: Thread>(self, t: T, at: u64) -> u32 {
        t.load_half(self.0, at)
    }

    /// Writes value number `at`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn set_value<T: Thread>(self, t: T, at: u64, value: u32) {
        t.store_half(self.0, at, value as u16);
    }
}

/// From a value, the low half of its word, to its element.
#[derive(Clone, Copy)]
pub struct Widen(pub Short);

/// From an element to its value, the low half of its word.
#[derive(Clone, Copy)]
pub struct Narrow(pub Short);

/// The bits of the exponents of two binary16, and of two bfloat16: all are set in infinities and NaNs alone.
const EXPONENTS_F16: u32 = 0x7c00_7c00;
const EXPONENTS_BF16: u32 = 0x7f80_7f80;

impl Map<f32> for Widen {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn element(self, bits: f32) -> f32 {
        self.0.to_coded(bits.to_bits() as u16)
    }

    /// Instructions of the GPU convert all but NaNs, whose bits they change.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn unit<T: Thread>(self, t: T, [a, b, c, d]: [u32; UNIT]) -> [u32; UNIT] {
        // One decision for four values.
        let each = |short: Short| {
            let of = |bits: u32| short.to_coded(bits as u16).to_bits();
            [of(a), of(b), of(c), of(d)]
        };
        let (low, high) = (a | b << 16, c | d << 16);
        match self.0 {
            Short::F16 if !has_any(low, high, EXPONENTS_F16) => {
                let ([a, b], [c, d]) = (t.widen_f16(low), t.widen_f16(high));
                [a.to_bits(), b.to_bits(), c.to_bits(), d.to_bits()]
            }
            Short::F16 => each(Short::F16),
            Short::Bf16 => each(Short::Bf16),
            Short::OrderedF16 => each(Short::OrderedF16),
            Short::OrderedBf16 => each(Short::OrderedBf16),
            Short::Signed => each(Short::Signed),
            Short::Unsigned => each(Short::Unsigned),
        }
    }
}

impl Map<f32> for Narrow {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn element(self, element: f32) -> f32 {
        f32::from_bits(self.0.to_bits(element).into())
    }

    /// Instructions of the GPU convert halves, unless a result is an infinity or a NaN.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn unit<T: Thread>(self, t: T, words: [u32; UNIT]) -> [u32; UNIT] {
        let [a, b, c, d] = words.map(f32::from_bits);
        let each = |short: Short| {
            let of = |element| u32::from(short.to_bits(element));
            [of(a), of(b), of(c), of(d)]
        };
        let apart = |low: u32, high: u32| [low & 0xffff, low >> 16, high & 0xffff, high >> 16];
        match self.0 {
            Short::F16 => match (t.narrow_f16([a, b]), t.narrow_f16([c, d])) {
                (low, high) if has_any(low, high, EXPONENTS_F16) => each(Short::F16),
                (low, high) => apart(low, high),
            },
            Short::Bf16 => match (t.narrow_bf16([a, b]), t.narrow_bf16([c, d])) {
                (low, high) if has_any(low, high, EXPONENTS_BF16) => each(Short::Bf16),
                (low, high) => apart(low, high),
            },
            Short::OrderedF16 => each(Short::OrderedF16),
            Short::OrderedBf16 => each(Short::OrderedBf16),
            Short::Signed => each(Short::Signed),
            Short::Unsigned => each(Short::Unsigned),
        }
    }
}

/// Whether the exponent of any of four halves is all ones. `exponents` are the bits of two.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn has_any(low: u32, high: u32, exponents: u32) -> bool {
    // The lowest bit of each exponent carries into the sign above it.
    let lowest = exponents & !(exponents << 1);
    let carried = ((low & exponents) + lowest) | ((high & exponents) + lowest);
    carried & 0x8000_8000 != 0
}

/// The conversion of the values of a stream with this header; none if they are not of 16 bits.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn conversion_of<T: Thread>(t: T, header: View<u32>) -> Option<Short> {
    let word = |word: usize| t.load(header, word as u64);
    Short::from_ids(
        header_words::value_type(word),
        header_words::conversion(word),
    )
}

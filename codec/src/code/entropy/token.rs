//! Tokens: a code as one of 112 symbols, and extra bits.
//!
//! A code z below 16 is its own token. The token of a larger code gives the leading one and the three bits behind it;
//! the other bits are extra bits. The last token is followed by all 16 bits of z. It encodes the largest codes, and
//! also any code whose own token has no frequency in its context.

/// Tokens of a context.
pub const TOKENS: u32 = 112;
/// The token that is followed by all bits of the code.
pub const ESCAPE: u32 = TOKENS - 1;
/// Extra bits of [`ESCAPE`], the most that a token has.
pub const ESCAPE_BITS: u32 = 16;
/// The code of an element whose value is stored.
pub const RAW: u32 = 65_535;
/// The frequencies of a context's symbols sum to 2 to this power.
pub const PRECISION: u32 = 12;
/// The frequencies of a context's symbols sum to this.
pub const SLOTS: u32 = 1 << PRECISION;

/// A code as a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Its number, below [`TOKENS`].
    pub number: u32,
    /// The number of extra bits.
    pub bits: u32,
    /// The extra bits.
    pub extra: u32,
}

impl Token {
    /// The token of a code, which is at most 65,535.
    #[inline(always)]
    pub const fn of(z: u32) -> Self {
        let (number, bits) = Self::own(z);
        if number >= ESCAPE {
            return Self::escape(z);
        }
        Self {
            number,
            bits,
            extra: z & ((1 << bits) - 1),
        }
    }

    /// The number of a code's own token, and the number of low bits that are extra bits.
    #[inline(always)]
    pub const fn own(z: u32) -> (u32, u32) {
        Self::own_of_leading((z | 8).ilog2(), z)
    }

    /// [`Token::own`] of a code, given the position of the highest bit of z | 8.
    #[inline(always)]
    pub const fn own_of_leading(leading: u32, z: u32) -> (u32, u32) {
        let bits = leading - 3;
        (8 * bits + (z >> bits), bits)
    }

    /// The escape token of a code whose own token has no frequency.
    #[inline(always)]
    pub const fn escape(z: u32) -> Self {
        Self {
            number: ESCAPE,
            bits: ESCAPE_BITS,
            extra: z,
        }
    }

    /// The number of extra bits of a token.
    #[inline(always)]
    pub const fn bits(number: u32) -> u32 {
        if number == ESCAPE {
            ESCAPE_BITS
        } else {
            (number / 8).saturating_sub(1)
        }
    }

    /// The code of a token and its extra bits.
    #[inline(always)]
    pub const fn code(number: u32, extra: u32) -> u32 {
        let bits = Self::bits(number);
        // The mask removes the bits that an escape shifts beyond bit 15.
        ((number - 8 * (bits & 15)) << bits | extra) & 0xffff
    }
}

/// A quantisation code, at most 32,767 in magnitude, as an unsigned code.
#[inline(always)]
pub const fn zigzag(k: i32) -> u32 {
    (k << 1 ^ k >> 31).cast_unsigned()
}

/// The quantisation code of an unsigned code.
#[inline(always)]
pub const fn unzigzag(z: u32) -> i32 {
    ((z >> 1) ^ (z & 1).wrapping_neg()).cast_signed()
}

/// The magnitude of the quantisation code that `z` encodes.
#[inline(always)]
pub const fn magnitude(z: u32) -> u32 {
    (z + 1) >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_comes_back() {
        let mut tokens = [0u32; TOKENS as usize];
        for z in 0..=RAW {
            let token = Token::of(z);
            tokens[token.number as usize] += 1;
            assert_eq!(token.bits, Token::bits(token.number));
            assert!(token.extra >> token.bits == 0);
            assert_eq!(Token::code(token.number, token.extra), z);
            assert_eq!(Token::code(ESCAPE, Token::escape(z).extra), z);
        }
        for (number, codes) in (0..).zip(tokens) {
            let wanted = match number {
                0..16 => 1,
                ESCAPE => 4096,
                _ => 1 << Token::bits(number),
            };
            assert_eq!(codes, wanted, "{number}");
        }
    }

    #[test]
    fn tokens_are_those_of_the_definition() {
        for z in 16..61_440u32 {
            let e = z.ilog2();
            let token = Token::of(z);
            assert_eq!(token.number, 16 + 8 * (e - 4) + (z >> (e - 3) & 7));
            assert_eq!(token.bits, e - 3);
        }
        assert_eq!(Token::of(61_440).number, ESCAPE);
    }

    #[test]
    fn signs_come_back() {
        for k in -32_767..=32_767 {
            assert!(zigzag(k) < RAW);
            assert_eq!(unzigzag(zigzag(k)), k);
            assert_eq!(magnitude(zigzag(k)), k.unsigned_abs());
        }
    }
}

//! What a CPU's vector instructions may do better than portable code: to move values between neighbours, or between
//! elements and bit planes, and to look up the entropy coder's tables. Everything else is plain arithmetic on arrays,
//! which the compiler vectorises.

use crate::cpu::code::entropy::{Decoder, Encoder};
use crate::cpu::code::zones::Contexts;
use ferrosz_codec::code::fixed_length::block::{self, SignedGroup};
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::predict::Predictor;
use ferrosz_codec::predict::difference;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, Shape, StaticShape};
use ferrosz_codec::tile::code::TileCodes;

/// The factor of the weights of a checksum: see [`ferrosz_codec::container::checksum::weight`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const WEIGHT_FACTOR: u32 = 0x9E37_79B1;

/// By default, the portable code. Every implementation gives the same results. G is the number of a block's groups.
pub trait Lanes: Copy + Send + Sync {
    /// Codes to differences: [`Predictor::forward`]. `before` is the code before the codes of a line. If it is not 0,
    /// the predictor must be [`Predictor::Difference`].
    #[inline(always)]
    fn forward<S: StaticShape, const G: usize>(
        self,
        predictor: Predictor,
        codes: &[Group; G],
        before: i32,
    ) -> [Group; G] {
        let mut block = *codes;
        predictor.forward(S::SHAPE, &mut block);
        block[0][0] = block[0][0].wrapping_sub(before);
        block
    }

    /// Differences to codes: [`Predictor::backward`]. `before` is the code before the codes of a line, and becomes the
    /// line's last code. If it is not 0, the predictor must be [`Predictor::Difference`].
    #[inline(always)]
    fn backward<S: StaticShape, const G: usize>(
        self,
        predictor: Predictor,
        block: &mut [Group; G],
        before: &mut i32,
    ) {
        predictor.backward(S::SHAPE, block);
        if matches!(S::SHAPE, Shape::Line) {
            difference::add(&mut block[0], *before);
            *before = block[0][GROUP - 1];
        }
    }

    /// The first magnitude, and the bitwise or of all others.
    #[inline(always)]
    fn magnitude_bits<const G: usize>(self, block: &[Group; G]) -> (u32, u32) {
        let mut others = 0;
        for (e, difference) in block.as_flattened().iter().enumerate() {
            others |= if e == 0 { 0 } else { difference.unsigned_abs() };
        }
        (block[0][0].unsigned_abs(), others)
    }

    /// The checksum of a chunk's bytes: [`checksum`].
    #[inline(always)]
    fn checksum(self, seed: u64, bytes: &[u8]) -> u64 {
        checksum(seed, bytes)
    }

    /// Writes the body of a block of these differences to the start of `out`, which holds at least
    /// [`block::BODY_SCRATCH`] bytes. The rest of these bytes may be overwritten.
    #[inline(always)]
    fn write_body<const G: usize>(self, block: &[Group; G], rate: RateByte, out: &mut [u8]) {
        let block = block.each_ref().map(SignedGroup::split);
        block::write_body(block, rate, out);
    }

    /// The differences of the block whose body is at the start of `bytes`, which may be longer than the body.
    #[inline(always)]
    fn read_body<const G: usize>(self, rate: RateByte, bytes: &[u8]) -> [Group; G] {
        let body = &bytes[..rate.body_bytes(G as u32) as usize];
        block::read_body::<G>(rate, body)
    }

    /// Pushes the codes of a tile of these contexts: [`Encoder`].
    #[inline(always)]
    fn push_steps(self, encoder: &mut Encoder<'_>, contexts: &Contexts<'_>, codes: &TileCodes) {
        encoder.push_steps(contexts, codes);
    }

    /// Pops the codes of a tile of these contexts: [`Decoder`]. Returns whether a code may be raw.
    #[inline(always)]
    fn pop_steps(
        self,
        decoder: &mut Decoder<'_>,
        contexts: &Contexts<'_>,
        codes: &mut TileCodes,
    ) -> bool {
        decoder.pop_steps(contexts, codes)
    }
}

/// The portable code.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl Lanes for Portable {}

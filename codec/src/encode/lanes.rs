//! What a CPU's vector instructions may do better than the portable code: the steps of a block that
//! move values between neighbours or between elements and bit planes. All else is plain arithmetic on
//! arrays, which the compiler vectorises for whatever processor it compiles for.

use crate::encode::block::{self, SignedGroup};
use crate::encode::rate::RateByte;
use crate::predict::{Group, Predictor};
use crate::shape::StaticShape;
use crate::stream::checksum::checksum;

/// The steps of a block, by default in portable code. An implementation gives the same results with
/// other instructions. G is the number of a block's groups.
pub trait Lanes: Copy + Send + Sync {
    /// Codes to differences: [`Predictor::forward`].
    #[inline(always)]
    fn forward<S: StaticShape, const G: usize>(self, predictor: Predictor, block: &mut [Group; G]) {
        predictor.forward(S::SHAPE, block);
    }

    /// Differences to codes: [`Predictor::backward`].
    #[inline(always)]
    fn backward<S: StaticShape, const G: usize>(
        self,
        predictor: Predictor,
        block: &mut [Group; G],
    ) {
        predictor.backward(S::SHAPE, block);
    }

    /// The first magnitude, and all others or-ed together.
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

    /// Writes the body of a block of these differences at the start of `out`, which holds at least
    /// [`block::BODY_SCRATCH`] bytes, and maybe anything into the rest of these.
    #[inline(always)]
    fn write_body<const G: usize>(self, block: &[Group; G], rate: RateByte, out: &mut [u8]) {
        let block = block.each_ref().map(SignedGroup::split);
        block::write_body(block, rate, out);
    }

    /// The differences of the block whose body is at the start of `bytes`, which holds all of it and
    /// maybe more.
    #[inline(always)]
    fn read_body<const G: usize>(self, rate: RateByte, bytes: &[u8]) -> [Group; G] {
        let body = &bytes[..rate.body_bytes(G as u32) as usize];
        block::read_body::<G>(rate, body).map(|group| group.join())
    }
}

/// The portable code.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl Lanes for Portable {}

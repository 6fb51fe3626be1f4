//! Codes as numbers of another type, and back.

use crate::PACKAGE;
use crate::kernels::import::{CODE, THREADS, first, raise, step};
use ferrosz_simt::{Kernel, Package, Thread, View};

/// Copies the differences of an array to one of another type. Launched with any number of blocks.
pub struct Recode;

/// Parameters of [`Recode`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RecodeParams {
    /// The array.
    pub from: Numbers,
    /// The output.
    pub to: Numbers,
    /// The radius that is added to codes.
    pub radius: u32,
    /// How many there are.
    pub count: u64,
    /// The workspace. [`FAULT`](ferrosz_gpu_kernels::pipeline::cells::FAULT) is raised if a code would not be below twice the
    /// radius.
    pub cells: View<u64>,
}

/// An array of differences.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Numbers {
    /// The array.
    pub words: View<u32>,
    /// The type of its numbers.
    pub kind: NumberKind,
}

/// How a difference is stored.
#[repr(u32)]
#[derive(Debug, Clone, Copy)]
pub enum NumberKind {
    /// With the radius added, in 8 bits.
    Code8,
    /// With the radius added, in 16 bits.
    Code16,
    /// With the radius added, in 32 bits.
    Code32,
    /// As an integer of 16 bits.
    Integer,
    /// As a number of 32 bits.
    Float,
}

impl NumberKind {
    /// Bytes of a number.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Code8 => 1,
            Self::Code16 | Self::Integer => 2,
            Self::Code32 | Self::Float => 4,
        }
    }
}

impl Numbers {
    #[inline(always)]
    fn load<T: Thread>(&self, t: T, at: u64, radius: u32) -> i32 {
        let code = |code: u32| code.wrapping_sub(radius).cast_signed();
        match self.kind {
            NumberKind::Code8 => code(t.load(self.words, at / 4) >> (8 * (at % 4)) & 0xff),
            NumberKind::Code16 => code(t.load_half(self.words, at)),
            NumberKind::Code32 => code(t.load(self.words, at)),
            NumberKind::Integer => (t.load_half(self.words, at) as u16).cast_signed().into(),
            NumberKind::Float => f32::from_bits(t.load(self.words, at)) as i32,
        }
    }

    #[inline(always)]
    fn store<T: Thread>(&self, t: T, at: u64, difference: i32, radius: u32) {
        let code = radius.wrapping_add_signed(difference);
        match self.kind {
            NumberKind::Code8 => t.store_byte(self.words, at, code as u8),
            NumberKind::Code16 => t.store_half(self.words, at, code as u16),
            NumberKind::Code32 => t.store(self.words, at, code),
            NumberKind::Integer => t.store_half(self.words, at, difference as u16),
            NumberKind::Float => t.store(self.words, at, (difference as f32).to_bits()),
        }
    }
}

impl Kernel for Recode {
    type Params = RecodeParams;
    const NAME: &'static str = "ferrosz_recode";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &RecodeParams) {
        let radius = params.radius;
        let mut at = first(t);
        while at < params.count {
            let difference = params.from.load(t, at, radius);
            if radius.wrapping_add_signed(difference) >= 2 * radius {
                raise(t, params.cells, CODE);
            }
            params.to.store(t, at, difference, radius);
            at += step(t);
        }
    }
}

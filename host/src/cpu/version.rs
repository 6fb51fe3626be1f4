//! The versions of the CPU's code: one source, compiled for processors with different instructions.

#[cfg(target_arch = "x86_64")]
use crate::cpu::avx2::Avx2;
use crate::cpu::code::fixed_length::{self, Source, Stored};
use crate::cpu::extremes::extremes;
use crate::cpu::lanes::{Lanes, Portable};
#[cfg(target_arch = "aarch64")]
use crate::cpu::neon::Neon;
use ferrosz_codec::Element;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::field::Quantizer;

/// A version that this machine can run.
#[derive(Debug, Clone, Copy)]
pub struct Version(Kind);

#[derive(Debug, Clone, Copy)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

impl Version {
    /// The names of all versions that there are, also of those that other machines run.
    pub const NAMES: [&str; 3] = ["avx2", "neon", "portable"];

    /// All versions that this machine can run, the fastest first.
    pub fn all() -> impl Iterator<Item = Self> {
        let kinds = [
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(Kind::Avx2),
            #[cfg(target_arch = "aarch64")]
            Neon::detect().map(Kind::Neon),
            Some(Kind::Portable),
        ];
        kinds.into_iter().flatten().map(Self)
    }

    /// The fastest version that this machine can run.
    pub fn best() -> Self {
        Self::all().next().unwrap_or(Self(Kind::Portable))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(_) => "neon",
        }
    }

    /// As [`Version::run`], in a function of its own. Work that has references to its caller's closures, and not their types, is
    /// so compiled once for all callers.
    #[inline(never)]
    pub(crate) fn run_apart<W: Work>(self, work: W) -> W::Output {
        self.run(work)
    }

    /// Runs code that is compiled for this version.
    #[inline(always)]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Kind::Portable => work.run(Portable),
            // SAFETY: `proof` shows that the processor has these features.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2(proof) => unsafe { run_with_avx2(work, proof) },
            // NEON is a feature of the target, so that all code is compiled for it.
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(proof) => work.run(proof),
        }
    }

    /// [`fixed_length::encode`].
    pub(crate) fn encode<T: Element>(
        self,
        codec: BlockCodec,
        quantizer: &Quantizer<T>,
        source: Source<'_, T>,
        image: &mut [u8],
    ) -> (Form, usize, u64) {
        self.run(Encode {
            codec,
            quantizer,
            source,
            image,
        })
    }

    /// [`fixed_length::sizes`].
    pub(crate) fn sizes<T: Element>(
        self,
        codecs: &[BlockCodec],
        quantizer: &Quantizer<T>,
        source: Source<'_, T>,
    ) -> Vec<usize> {
        self.run_apart(Size {
            codecs,
            quantizer,
            source,
        })
    }

    /// [`fixed_length::decode`].
    pub(crate) fn decode<T: Element>(
        self,
        codec: BlockCodec,
        quantizer: &Quantizer<T>,
        grid: &Grid,
        stored: Stored<'_>,
        verify: bool,
        values: &mut [T],
    ) -> Result<(), ChunkFault> {
        self.run(Decode {
            codec,
            quantizer,
            grid,
            stored,
            verify,
            values,
        })
    }

    /// Smallest and largest finite value.
    pub(crate) fn extremes<T: Element>(self, values: &[T]) -> Extremes<T> {
        self.run(Scan(values))
    }
}

/// Code that is compiled once for each version: `run`, and all functions that are inlined into it.
pub(crate) trait Work {
    /// Its result.
    type Output;

    /// Does the work.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_with_avx2<W: Work>(work: W, proof: Avx2) -> W::Output {
    work.run(proof)
}

struct Encode<'a, T> {
    codec: BlockCodec,
    quantizer: &'a Quantizer<T>,
    source: Source<'a, T>,
    image: &'a mut [u8],
}

impl<T: Element> Work for Encode<'_, T> {
    type Output = (Form, usize, u64);

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        fixed_length::encode(lanes, self.codec, self.quantizer, self.source, self.image)
    }
}

struct Size<'a, T> {
    codecs: &'a [BlockCodec],
    quantizer: &'a Quantizer<T>,
    source: Source<'a, T>,
}

impl<T: Element> Work for Size<'_, T> {
    type Output = Vec<usize>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        fixed_length::sizes(lanes, self.codecs, self.quantizer, self.source)
    }
}

struct Decode<'a, T> {
    codec: BlockCodec,
    quantizer: &'a Quantizer<T>,
    grid: &'a Grid,
    stored: Stored<'a>,
    verify: bool,
    values: &'a mut [T],
}

impl<T: Element> Work for Decode<'_, T> {
    type Output = Result<(), ChunkFault>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        fixed_length::decode(
            lanes,
            self.codec,
            self.quantizer,
            self.grid,
            self.stored,
            self.verify,
            self.values,
        )
    }
}

struct Scan<'a, T>(&'a [T]);

impl<T: Element> Work for Scan<'_, T> {
    type Output = Extremes<T>;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> Self::Output {
        extremes(self.0)
    }
}

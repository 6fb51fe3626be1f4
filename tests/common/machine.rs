//! All executions that make and read streams, behind one face.

use super::{compressor_with_axes, order_of};
use ferrosz::codec::mapping::{Keep, ValueMapping};
use ferrosz::codec::oracle;
use ferrosz::stream::Layout;
use ferrosz::versions::{self, Version};
use ferrosz::{Axes, Bound, Compressor, Decompressor, Device, Element, Error, Fill, Part, Value};

/// What makes and reads streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// The oracle, which the others are compared with.
    Reference,
    /// A version of the CPU's code, by its name.
    Cpu(&'static str),
    /// The GPU's kernels on the emulator.
    Emulator,
    /// The first GPU.
    Gpu,
}

impl Machine {
    /// All machines, those included that are not here.
    pub fn all() -> impl Iterator<Item = Self> {
        let versions = Version::NAMES.map(Self::Cpu);
        let kernels = [Self::Emulator, Self::Gpu];
        [Self::Reference].into_iter().chain(versions).chain(kernels)
    }

    /// All that need no GPU, and are here.
    pub fn of_this_computer() -> Vec<Self> {
        Self::all()
            .filter(|machine| *machine != Self::Gpu && machine.is_here())
            .collect()
    }

    /// The versions of the CPU's code that are here, the fastest first.
    pub fn cpu() -> Vec<Self> {
        Version::all()
            .map(|version| Self::Cpu(version.name()))
            .collect()
    }

    /// Whether calls have a long way to the machine, or the machine checks every step.
    pub fn is_slow(self) -> bool {
        match self {
            Self::Reference | Self::Cpu(_) => false,
            Self::Emulator | Self::Gpu => true,
        }
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Cpu(version) => version,
            Self::Emulator => "emulator",
            Self::Gpu => "gpu",
        }
    }

    /// Whether this computer has it, and this build of the tests.
    pub fn is_here(self) -> bool {
        match self {
            Self::Reference => true,
            Self::Cpu(name) => Version::all().any(|version| version.name() == name),
            Self::Emulator => cfg!(feature = "emulator"),
            #[cfg(feature = "cuda")]
            Self::Gpu => ferrosz::cuda::Gpu::new(0).is_ok(),
            #[cfg(not(feature = "cuda"))]
            Self::Gpu => false,
        }
    }

    pub fn compress<T: Element>(
        self,
        layout: Layout,
        bound: Bound,
        field: &[T],
    ) -> Result<Vec<u8>, Error> {
        self.compress_with_axes(layout, None, bound, field)
    }

    /// The stream of a field with these axes.
    pub fn compress_with_axes<T: Element>(
        self,
        layout: Layout,
        axes: Option<Axes>,
        bound: Bound,
        field: &[T],
    ) -> Result<Vec<u8>, Error> {
        self.compress_masked(layout, axes, bound, &[], field)
    }

    /// The stream of a field with these axes, and with a mask of these fill values.
    pub fn compress_masked<T: Element>(
        self,
        layout: Layout,
        axes: Option<Axes>,
        bound: Bound,
        fills: &[u64],
        field: &[T],
    ) -> Result<Vec<u8>, Error> {
        let keep = Keep::default();
        let mapping = ValueMapping::new::<T>(bound, keep, fills.iter().copied());
        let mapping = mapping.expect("few fill values");
        let layout = layout.with_classes(mapping.classes.count());
        let order = order_of(&layout, axes);
        let on = |device| {
            let mut compressor = compressor_with_axes(layout, axes, bound, device)?;
            for fill in fills {
                compressor = compressor.fill(Fill::Bits(*fill))?;
            }
            compressor.compress(field)
        };
        match self {
            Self::Reference => {
                let stream = oracle::compress_in_order(layout, &order, bound, &mapping, field);
                Ok(stream)
            }
            Self::Cpu(name) => {
                let version = version(name);
                versions::compress_in_order(version, layout, &order, bound, &mapping, field)
            }
            Self::Emulator => on(Device::Emulator),
            Self::Gpu => on(Device::Cuda(0)),
        }
    }

    /// The stream of a field of any value type, with these axes, and with a mask of these fill values.
    pub fn compress_values<V: Value>(
        self,
        layout: Layout,
        axes: Option<Axes>,
        bound: Bound,
        fills: &[u64],
        field: &[V],
    ) -> Result<Vec<u8>, Error> {
        let compressor = |device| {
            let compressor = compressor_with_axes(layout, axes, bound, device)?;
            let mut fills = fills.iter().map(|fill| Fill::Bits(*fill));
            fills.try_fold(compressor, Compressor::fill)
        };
        match self {
            Self::Reference => {
                let order = order_of(&layout, axes);
                Ok(oracle::compress_values(layout, &order, bound, fills, field))
            }
            Self::Cpu(name) => {
                versions::compress_values(version(name), compressor(Device::Cpu)?, field)
            }
            Self::Emulator => compressor(Device::Emulator)?.compress(field),
            Self::Gpu => compressor(Device::Cuda(0))?.compress(field),
        }
    }

    pub fn decompress<T: Value>(self, stream: &[u8]) -> Result<Vec<T>, Error> {
        match self {
            Self::Reference => Ok(oracle::decompress(stream)?),
            Self::Cpu(name) => versions::decompress(version(name), stream, None, true),
            Self::Emulator => on(Device::Emulator).decompress(stream),
            Self::Gpu => on(Device::Cuda(0)).decompress(stream),
        }
    }

    /// Whatever comes out of a stream whose checksums are not looked at; the reference always looks.
    pub fn decompress_trusting<T: Value>(self, stream: &[u8]) -> Result<Vec<T>, Error> {
        let trusting = |device| on(device).verify_checksums(false);
        match self {
            Self::Reference => Ok(oracle::decompress(stream)?),
            Self::Cpu(name) => versions::decompress(version(name), stream, None, false),
            Self::Emulator => trusting(Device::Emulator).decompress(stream),
            Self::Gpu => trusting(Device::Cuda(0)).decompress(stream),
        }
    }

    /// Whether it decodes a part of such a stream by itself. The kernels of tiles know whole fields only.
    pub fn has_parts(self, layout: Layout) -> bool {
        match self {
            Self::Reference => false,
            Self::Cpu(_) => true,
            Self::Emulator | Self::Gpu => layout.tiles().is_none(),
        }
    }

    /// A part, by a machine that has parts.
    pub fn decompress_part<T: Value>(self, stream: &[u8], part: &Part) -> Result<Vec<T>, Error> {
        match self {
            Self::Reference => unreachable!("the reference decodes whole fields"),
            Self::Cpu(name) => versions::decompress(version(name), stream, Some(part), true),
            Self::Emulator => on(Device::Emulator).decompress_part(stream, part),
            Self::Gpu => on(Device::Cuda(0)).decompress_part(stream, part),
        }
    }
}

fn on(device: Device) -> Decompressor {
    Decompressor::new().device(device)
}

fn version(name: &str) -> Version {
    let mut versions = Version::all();
    let found = versions.find(|version| version.name() == name);
    found.expect("a version that runs here")
}

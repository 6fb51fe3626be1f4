//! The machines, and whole calls on host slices for machines that run kernels.

use crate::auto_device::Workload;
use crate::device::Device;
use crate::error::Error;
use crate::gpu::batch;
use crate::gpu::executor::Executor;
#[cfg(feature = "cuda")]
use crate::gpu::executor::cuda::Kernels;
#[cfg(feature = "emulator")]
use crate::gpu::executor::emulator;
use crate::gpu::host_slices::{Source, Target, compress_host, decompress_host};
use crate::gpu::mapping::decompress::Wanted;
use crate::gpu::safeguards::{FindOnDevice, FoundOnDevice, Mending};
use crate::parallel;
use crate::reading::Reading;
use crate::slabs::machines::Machines;
use crate::stream_layout::{StreamLayout, records_of};
use crate::stream_ref::StreamRef;
use crate::tolerance::Tolerance;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::with_element;
use ferrosz_codec::{Bound, Element, Value, ValueType};
use ferrosz_simt::Package;

/// The machine that a [`Device`] names.
pub enum Backend {
    /// The CPU.
    Cpu,
    /// A machine that runs kernels.
    Gpu(Gpu),
}

/// A machine that runs kernels.
pub enum Gpu {
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(Kernels),
    /// The emulator.
    #[cfg(feature = "emulator")]
    Emulator,
}

/// A call for any machine that runs kernels.
pub trait Call {
    /// The result of the call.
    type Output;

    /// Runs it to its end.
    fn on<E: Executor>(self, executor: &E) -> Self::Output;
}

impl Backend {
    /// The machine for a workload.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] and [`Error::OldGpu`].
    pub fn of(device: Device, workload: Workload) -> Result<Self, Error> {
        match device {
            Device::Cpu => Ok(Self::Cpu),
            Device::Auto => Ok(
                match workload.is_faster_on_a_gpu(parallel::thread_count()) {
                    true => cuda(0).map_or(Self::Cpu, Self::Gpu),
                    false => Self::Cpu,
                },
            ),
            _ => Gpu::of(device).map(Self::Gpu),
        }
    }

    /// As [`Backend::of`], for the kernels of another crate. A package without code for GPUs makes [`Device::Auto`] the
    /// CPU: other crates of the program may want GPUs.
    ///
    /// # Errors
    ///
    /// As [`Backend::of`].
    pub fn of_package(
        package: &Package,
        device: Device,
        workload: Workload,
    ) -> Result<Self, Error> {
        match device {
            Device::Auto if package.ptx.is_empty() => Ok(Self::Cpu),
            device => Self::of(device, workload),
        }
    }

    /// The device that [`Backend::of`] has for a workload, which is never [`Device::Auto`].
    pub(crate) fn device_for(device: Device, workload: Workload) -> Result<Device, Error> {
        Ok(match (Self::of(device, workload)?, device) {
            (Self::Cpu, _) => Device::Cpu,
            (Self::Gpu(_), Device::Auto) => Device::Cuda(0),
            (Self::Gpu(_), device) => device.first(),
        })
    }
}

#[cfg(feature = "cuda")]
fn cuda(ordinal: usize) -> Result<Gpu, Error> {
    Kernels::of_device(ordinal).map(Gpu::Cuda)
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: usize) -> Result<Gpu, Error> {
    Err(not_built("cuda"))
}

#[cfg(feature = "emulator")]
fn emulated() -> Result<Gpu, Error> {
    Ok(Gpu::Emulator)
}

#[cfg(not(feature = "emulator"))]
fn emulated() -> Result<Gpu, Error> {
    Err(not_built("emulator"))
}

/// The error that this build knows no such device.
#[cfg(not(all(feature = "cuda", feature = "emulator")))]
pub(crate) fn not_built(device: &'static str) -> Error {
    Error::NoDevice {
        device,
        reason: format!("ferrosz was built without the feature `{device}`"),
    }
}

/// [`Gpu::compress_of`] an element type.
type Compress = fn(&Gpu, &StreamLayout, Tolerance, &ValueMapping, &[u8]) -> Result<Vec<u8>, Error>;

/// [`Gpu::decompress_of`] an element type.
type Decompress = fn(&Gpu, &Source<'_>, Target<'_>) -> Result<(), Error>;

/// [`Gpu::compress_batch_of`] an element type.
type CompressBatch<T> = fn(&Gpu, BlockCodec, Bound, &[&[T]]) -> Result<Vec<Vec<u8>>, Error>;

/// [`Gpu::decompress_batch_of`] an element type.
type DecompressBatch<T> =
    fn(&Gpu, &[(&[u8], u64)], bool) -> Result<Vec<Result<Vec<T>, Error>>, Error>;

impl Gpu {
    /// The machine of a device that runs kernels; of several GPUs the first one.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] and [`Error::OldGpu`].
    pub(crate) fn of(device: Device) -> Result<Self, Error> {
        match device {
            Device::Emulator => emulated(),
            Device::Cuda(ordinal) => cuda(ordinal),
            Device::Gpus(gpus) => Machines::count(gpus).and_then(|_| Self::of(device.first())),
            Device::Auto => cuda(0),
            Device::Cpu => Err(Error::NoDevice {
                device: "cpu",
                reason: "it runs no kernels".to_owned(),
            }),
        }
    }

    /// Runs a call.
    pub fn run<C: Call>(&self, call: C) -> C::Output {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref kernels) => call.on(&kernels.on_default_stream()),
            #[cfg(feature = "emulator")]
            Self::Emulator => call.on(&emulator::new()),
        }
    }

    /// Compresses a field of values of the layout's type.
    pub(crate) fn compress<V: Value>(
        &self,
        layout: &StreamLayout,
        tolerance: Tolerance,
        mapping: &ValueMapping,
        field: &[V],
    ) -> Result<Vec<u8>, Error> {
        with_element!(V::Coded::DTYPE, E => {
            compiled_here!(compress: Compress = Gpu::compress_of::<E>);
            compress()(self, layout, tolerance, mapping, bytemuck::cast_slice(field))
        })
    }

    fn compress_of<T: Element>(
        &self,
        layout: &StreamLayout,
        tolerance: Tolerance,
        mapping: &ValueMapping,
        field: &[u8],
    ) -> Result<Vec<u8>, Error> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref kernels) => {
                let executor = kernels.on_default_stream();
                compress_host::<T, _>(&executor, layout, tolerance, mapping, field)
            }
            #[cfg(feature = "emulator")]
            Self::Emulator => {
                compress_host::<T, _>(&emulator::new(), layout, tolerance, mapping, field)
            }
        }
    }

    /// Compresses lines in one launch.
    pub(crate) fn compress_batch<T: Element>(
        &self,
        codec: BlockCodec,
        bound: Bound,
        fields: &[&[T]],
    ) -> Result<Vec<Vec<u8>>, Error> {
        with_element!(T::DTYPE, E => {
            compiled_here!(compress: CompressBatch<E> = Gpu::compress_batch_of::<E>);
            let fields: Vec<&[E]> = fields.iter().map(|field| bytemuck::cast_slice(field)).collect();
            compress()(self, codec, bound, &fields)
        })
    }

    fn compress_batch_of<T: Element>(
        &self,
        codec: BlockCodec,
        bound: Bound,
        fields: &[&[T]],
    ) -> Result<Vec<Vec<u8>>, Error> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref kernels) => {
                batch::compress_host(&kernels.on_default_stream(), codec, bound, fields)
            }
            #[cfg(feature = "emulator")]
            Self::Emulator => batch::compress_host(&emulator::new(), codec, bound, fields),
        }
    }

    /// Decompresses streams of lines, each with its number of elements, in one launch.
    pub(crate) fn decompress_batch<T: Element>(
        &self,
        streams: &[(&[u8], u64)],
        verify: bool,
    ) -> Result<Vec<Result<Vec<T>, Error>>, Error> {
        with_element!(T::DTYPE, E => {
            compiled_here!(decompress: DecompressBatch<E> = Gpu::decompress_batch_of::<E>);
            let decoded = decompress()(self, streams, verify)?;
            Ok((decoded.into_iter())
                .map(|values| values.map(bytemuck::allocation::cast_vec))
                .collect())
        })
    }

    fn decompress_batch_of<T: Element>(
        &self,
        streams: &[(&[u8], u64)],
        verify: bool,
    ) -> Result<Vec<Result<Vec<T>, Error>>, Error> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref kernels) => {
                batch::decompress_host(&kernels.on_default_stream(), streams, verify)
            }
            #[cfg(feature = "emulator")]
            Self::Emulator => batch::decompress_host(&emulator::new(), streams, verify),
        }
    }

    /// Decodes a stream in these bytes, or parts of it, into `values`, which are those of the stream or the elements that
    /// stand for them.
    pub(crate) fn decompress<V: Value>(
        &self,
        bytes: &[u8],
        stream: &StreamRef<'_>,
        reading: &Reading,
        verify: bool,
        values: &mut [V],
    ) -> Result<(), Error> {
        let target = Target::Memory(bytemuck::cast_slice_mut(values));
        self.decompress_to::<V>((bytes, stream), reading, (verify, None), target)
    }

    /// As [`Gpu::decompress`], of a whole field, whose values are mended where they are decoded.
    pub(crate) fn decompress_mended<T: Element>(
        &self,
        (bytes, stream): (&[u8], &StreamRef<'_>),
        reading: &Reading,
        (verify, mending): (bool, &Mending),
        values: &mut [T],
    ) -> Result<(), Error> {
        let target = Target::Memory(bytemuck::cast_slice_mut(values));
        self.decompress_to::<T>((bytes, stream), reading, (verify, Some(mending)), target)
    }

    /// Finds the corrections of decoded elements.
    pub(crate) fn find_corrections<T: Element>(
        &self,
        find: FindOnDevice<'_, T>,
    ) -> Result<FoundOnDevice<T>, Error> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref kernels) => find.run(&kernels.on_default_stream()),
            #[cfg(feature = "emulator")]
            Self::Emulator => find.run(&emulator::new()),
        }
    }

    /// Decodes a whole stream in these bytes; `take` gets the values as they lie in memory, in pieces of whole values, in
    /// their order.
    pub(crate) fn decompress_pieces<V: Value>(
        &self,
        bytes: &[u8],
        stream: &StreamRef<'_>,
        reading: &Reading,
        verify: bool,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let length = stream.header.elements() * size_of::<V>() as u64;
        let target = Target::Pieces(length, take);
        self.decompress_to::<V>((bytes, stream), reading, (verify, None), target)
    }

    fn decompress_to<V: Value>(
        &self,
        (bytes, stream): (&[u8], &StreamRef<'_>),
        reading: &Reading,
        (verify, mending): (bool, Option<&Mending>),
        target: Target<'_>,
    ) -> Result<(), Error> {
        if target.bytes() == 0 {
            return Ok(());
        }
        let excerpt = excerpt(stream, reading, V::TYPE)?;
        let bytes = excerpt.as_deref().unwrap_or(bytes);
        let header = Header::read(bytes)?;
        let layout = StreamLayout {
            value_type: V::TYPE,
            ..StreamLayout::of_header(&header, stream.order)
        };
        let source = Source {
            layout: &layout,
            parts: &[&bytes[..header.stream_bytes() as usize]],
            wanted: &Wanted::new(reading)?,
            verify,
            mending,
        };
        with_element!(V::Coded::DTYPE, E => {
            compiled_here!(decompress: Decompress = Gpu::decompress_of::<E>);
            decompress()(self, &source, target)
        })
    }

    fn decompress_of<T: Element>(
        &self,
        source: &Source<'_>,
        target: Target<'_>,
    ) -> Result<(), Error> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref kernels) => {
                decompress_host::<T, _>(&kernels.on_default_stream(), source, target)
            }
            #[cfg(feature = "emulator")]
            Self::Emulator => decompress_host::<T, _>(&emulator::new(), source, target),
        }
    }
}

/// The stream that a machine gets, if it cannot take the whole stream unchanged: parts are decoded from their own
/// chunks, and kernels do not know records that are not of a mapping. A conversion is left out if the elements
/// are asked for.
fn excerpt(
    stream: &StreamRef<'_>,
    reading: &Reading,
    value_type: ValueType,
) -> Result<Option<Vec<u8>>, Error> {
    let (header, conversion) = match value_type == stream.header.value_type {
        true => (stream.header, stream.conversion),
        false => (stream.header.of_elements(), Conversion::none(value_type)),
    };
    let header = &header;
    let records = records_of(&stream.mapping.classes, &stream.order, &conversion);
    // Kernels decode all chunks of a line between those that a part needs.
    if reading.is_whole() || header.levels > 0 {
        if stream.records == records {
            return Ok(None);
        }
        return stream
            .rewrite(*header, &records, 0..header.chunks())
            .map(Some);
    }
    let numbers = reading.entries().into_iter();
    stream.rewrite(*header, &records, numbers).map(Some)
}

//! Streams of either format on machines that run kernels.

use crate::PACKAGE;
#[cfg(feature = "cuda")]
use crate::aatrox::error::AatroxError;
use crate::aatrox::layout::{LAYER_BLOCKS, Layout as AatroxLayout};
use crate::aatrox::params::Params as AatroxParams;
use crate::bare::Bare;
#[cfg(feature = "cuda")]
use crate::cuszp::error::CuszpError;
use crate::cuszp::layout::Layout;
use crate::cuszp::params::Params as CuszpParams;
use crate::cuszp::quantizer::Quantizer;
use crate::error::Error;
use crate::kernels::compress::BareCompress;
use crate::kernels::decompress::BareDecompress;
use crate::kernels::read::{BareRead, ReadParams};
use crate::kernels::write::{BareWrite, WriteParams};
use crate::kernels::{BareParams, Coder, cell_count, tile_blocks, tile_count};
use core::ops::Range;
use ferrosz_codec::shape::GROUP;
use ferrosz_codec::{Element, Shape, with_shape};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_host::internals::{
    Backend, Call, Executor, Gpu, Workload, blocks_of, fault_in, try_zeroed,
};
use ferrosz_host::{Device, Error as HostError};
use ferrosz_simt::View;

/// Bytes of the field a second that a core gets through, in both directions.
const RATE_OF_A_CORE: f64 = 0.3e9;

/// The machine for a call on so many elements.
pub(crate) fn backend_for<T: Element>(device: Device, elements: u64) -> Result<Backend, HostError> {
    let bytes = elements.saturating_mul(T::BYTES as u64);
    let workload = Workload::at_rate(RATE_OF_A_CORE, bytes);
    Backend::of_package(&PACKAGE, device, workload)
}

/// The layout, coder and quantiser of a stream, as the kernels have them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BareStream<T> {
    layout: Layout,
    payload_start: u64,
    coder: Coder,
    quantizer: Quantizer<T>,
}

/// The longest body of a block of this shape: a separate first magnitude, signs and 32 planes.
const fn longest_body(shape: Shape) -> u64 {
    4 + 4 * 33 * shape.groups() as u64
}

impl<T: Element> BareStream<T> {
    /// A stream of either format.
    pub(crate) fn of(bare: Bare<T>) -> Result<Self, Error> {
        match bare {
            Bare::Cuszp(params) => Self::cuszp(&params),
            Bare::Aatrox(params) => Self::aatrox(&params),
        }
    }

    /// A stream of cuSZp's.
    pub(crate) fn cuszp(params: &CuszpParams<T>) -> Result<Self, Error> {
        let layout = params.layout()?;
        Ok(Self {
            layout,
            payload_start: layout.payload_start(),
            coder: Coder::Cuszp(params.mode),
            quantizer: Quantizer::new(params.error),
        })
    }

    /// A stream of AATROX's.
    pub(crate) fn aatrox(params: &AatroxParams<T>) -> Result<Self, Error> {
        let elements = params.elements;
        let too_large = HostError::TooLarge {
            elements,
            dtype: T::TYPE,
        };
        Ok(Self {
            layout: Layout::of_layers(elements).ok_or(too_large)?,
            payload_start: AatroxLayout::new(elements).payload_start(),
            coder: Coder::Aatrox,
            quantizer: Quantizer::new(params.error),
        })
    }

    /// Elements of the array.
    pub(crate) fn elements(&self) -> u64 {
        self.layout.elements()
    }

    /// Whether an array has as many elements.
    #[cfg(feature = "cuda")]
    pub(crate) fn check_elements(&self, found: u64) -> Result<(), Error> {
        let needed = self.elements();
        if needed == found {
            return Ok(());
        }
        Err(match self.coder {
            Coder::Cuszp(_) => CuszpError::ElementCount { needed, found }.into(),
            Coder::Aatrox => AatroxError::ElementCount { needed, found }.into(),
        })
    }

    /// A strict upper bound on the bytes of the stream.
    pub(crate) fn max_bytes(&self) -> u64 {
        let bodies = u64::from(self.layout.blocks()) * longest_body(self.layout.shape());
        self.payload_start + bodies
    }

    /// Cells of a workspace beyond the fixed ones.
    #[cfg(feature = "cuda")]
    pub(crate) fn states(&self) -> u64 {
        2 * tile_count(&self.layout)
    }

    /// Clears the cells for a launch. Its number of blocks and its parameters; none if there are no tiles.
    fn prepare<E: Executor>(
        &self,
        executor: &E,
        elements: View<u32>,
        stream: View<u32>,
        cells: View<u64>,
    ) -> Result<Option<(u32, BareParams)>, HostError> {
        executor.clear(cells)?;
        let tiles = tile_count(&self.layout);
        if tiles == 0 {
            return Ok(None);
        }
        let blocks = blocks_of::<T>(tiles, self.elements())?;
        let Quantizer { inverse, error } = self.quantizer;
        let params = BareParams {
            elements,
            stream,
            cells,
            layout: self.layout,
            payload_start: self.payload_start,
            quantizer: [inverse.to_bits64(), error.to_bits64()],
            coder: self.coder.id(),
        };
        Ok(Some((blocks, params)))
    }

    /// Asks for the compression of `input`. Nothing is allocated, and nothing waits.
    pub(crate) fn enqueue_compress<E: Executor>(
        &self,
        executor: &E,
        input: View<u32>,
        stream: View<u32>,
        cells: View<u64>,
    ) -> Result<(), HostError> {
        let Some((blocks, params)) = self.prepare(executor, input, stream, cells)? else {
            return Ok(());
        };
        with_shape!(self.layout.shape(), S => executor.launch::<BareCompress<T, S>>(blocks, &params))
    }

    /// Asks for the decompression of `stream`. Nothing is allocated, and nothing waits. A fault will be
    /// in the fault cell.
    pub(crate) fn enqueue_decompress<E: Executor>(
        &self,
        executor: &E,
        stream: View<u32>,
        output: View<u32>,
        cells: View<u64>,
    ) -> Result<(), HostError> {
        let Some((blocks, params)) = self.prepare(executor, output, stream, cells)? else {
            return Ok(());
        };
        with_shape!(self.layout.shape(), S => executor.launch::<BareDecompress<T, S>>(blocks, &params))
    }

    /// Blocks of a unit of random access: one of cuSZp's, a layer of AATROX's.
    fn unit_blocks(&self) -> u32 {
        match self.coder {
            Coder::Cuszp(_) => 1,
            Coder::Aatrox => LAYER_BLOCKS as u32,
        }
    }

    /// Elements of so many units.
    pub(crate) fn unit_elements(&self, units: &Range<u32>) -> u64 {
        let blocks = u64::from(self.unit_blocks()) * units.len() as u64;
        blocks * (GROUP * self.layout.shape().groups()) as u64
    }

    /// Checks that there is a value for each position of these units.
    pub(crate) fn check_unit_elements(&self, units: &Range<u32>, found: u64) -> Result<(), Error> {
        let needed = self.unit_elements(units);
        match needed == found {
            true => Ok(()),
            false => Err(Error::ElementCount { needed, found }),
        }
    }

    /// The blocks of units, which must be units of the stream.
    pub(crate) fn blocks_of_units(&self, units: &Range<u32>) -> Result<Range<u32>, Error> {
        let all = self.layout.blocks() / self.unit_blocks();
        if units.start > units.end || units.end > all {
            return Err(Error::NoUnits {
                units: units.clone(),
                all,
            });
        }
        let blocks = |unit: u32| unit * self.unit_blocks();
        Ok(blocks(units.start)..blocks(units.end))
    }

    /// Asks for the decompression of some blocks of `stream` to the values of their positions. Nothing is allocated, and
    /// nothing waits. A fault will be in the fault cell.
    pub(crate) fn enqueue_read<E: Executor>(
        &self,
        executor: &E,
        stream: View<u32>,
        output: View<u32>,
        cells: View<u64>,
        blocks: &Range<u32>,
    ) -> Result<(), HostError> {
        let Some((_, bare)) = self.prepare(executor, output, stream, cells)? else {
            return Ok(());
        };
        if blocks.is_empty() {
            return Ok(());
        }
        let (first, end) = (blocks.start, blocks.end);
        let params = ReadParams { bare, first, end };
        with_shape!(self.layout.shape(), S => {
            executor.launch::<BareRead<T, S>>(end.div_ceil(tile_blocks::<S>()), &params)
        })
    }

    /// Asks for the replacement of some blocks of `stream` by the values of their positions. Nothing is allocated, and nothing
    /// waits. A fault will be in the fault cell; the stream is then unchanged.
    pub(crate) fn enqueue_write<E: Executor>(
        &self,
        executor: &E,
        input: View<u32>,
        stream: View<u32>,
        cells: View<u64>,
        blocks: &Range<u32>,
    ) -> Result<(), HostError> {
        let Some((_, bare)) = self.prepare(executor, input, stream, cells)? else {
            return Ok(());
        };
        if blocks.is_empty() {
            return Ok(());
        }
        let (first, end) = (blocks.start, blocks.end);
        let params = |stores| WriteParams {
            bare,
            first,
            end,
            stores,
        };
        with_shape!(self.layout.shape(), S => {
            let [before, tiles] = [first / tile_blocks::<S>(), end.div_ceil(tile_blocks::<S>())];
            executor.launch::<BareWrite<T, S>>(tiles, &params(0))?;
            executor.launch::<BareWrite<T, S>>(tiles - before, &params(1))
        })
    }

    /// Compresses an array in the memory of a machine; the memory that begins with the stream, and its bytes. Waits.
    fn compress_with<E: Executor>(
        &self,
        executor: &E,
        input: View<u32>,
    ) -> Result<(E::Memory, u64), HostError> {
        let most = self.max_bytes();
        let stream = executor.allocate(most)?;
        let workspace = executor.allocate(8 * cell_count(tile_count(&self.layout)))?;
        let cells = executor.view(&workspace);
        self.enqueue_compress(executor, input, executor.view(&stream), cells)?;
        let mut length = [0; 8];
        executor.download(cells, 8 * cells::STREAM_BYTES, &mut length)?;
        Ok((stream, u64::from_le_bytes(length).min(most)))
    }

    /// Decompresses a stream, or some blocks of it, in the memory of a machine. Waits.
    fn decompress_with<E: Executor>(
        &self,
        executor: &E,
        stream: View<u32>,
        output: View<u32>,
        blocks: Option<Range<u32>>,
    ) -> Result<(), HostError> {
        let workspace = executor.allocate(8 * cell_count(tile_count(&self.layout)))?;
        let cells = executor.view(&workspace);
        match &blocks {
            None => self.enqueue_decompress(executor, stream, output, cells)?,
            Some(blocks) => self.enqueue_read(executor, stream, output, cells, blocks)?,
        }
        check(executor, cells)
    }

    /// Compresses an array, which has been checked, on a machine.
    pub(crate) fn compress(&self, gpu: &Gpu, values: &[T]) -> Result<Vec<u8>, Error> {
        gpu.run(Compress { what: self, values })
    }

    /// Decompresses a stream, which has been checked, on a machine.
    pub(crate) fn decompress(&self, gpu: &Gpu, stream: &[u8]) -> Result<Vec<T>, Error> {
        gpu.run(Decompress {
            what: self,
            stream,
            blocks: None,
        })
    }

    /// Decompresses some blocks of a stream, which has been checked, on a machine.
    pub(crate) fn read(
        &self,
        gpu: &Gpu,
        stream: &[u8],
        units: &Range<u32>,
    ) -> Result<Vec<T>, Error> {
        let blocks = Some((self.blocks_of_units(units)?, self.unit_elements(units)));
        gpu.run(Decompress {
            what: self,
            stream,
            blocks,
        })
    }

    /// Replaces some blocks of a stream, which has been checked, on a machine.
    pub(crate) fn replace(
        &self,
        gpu: &Gpu,
        stream: &mut [u8],
        units: &Range<u32>,
        values: &[T],
    ) -> Result<(), Error> {
        gpu.run(Replace {
            what: self,
            stream,
            blocks: self.blocks_of_units(units)?,
            values,
        })
    }
}

/// Replaces some blocks of a stream on a machine.
struct Replace<'a, T> {
    what: &'a BareStream<T>,
    stream: &'a mut [u8],
    blocks: Range<u32>,
    values: &'a [T],
}

impl<T: Element> Call for Replace<'_, T> {
    type Output = Result<(), Error>;

    fn on<E: Executor>(self, executor: &E) -> Self::Output {
        let Self {
            what,
            stream: bytes,
            blocks,
            values,
        } = self;
        let input = executor.allocate(size_of_val(values) as u64)?;
        let stream = executor.allocate(bytes.len() as u64)?;
        let workspace = executor.allocate(8 * cell_count(tile_count(&what.layout)))?;
        let (input, stream) = (executor.view(&input), executor.view(&stream));
        let cells = executor.view(&workspace);
        executor.upload(bytemuck::cast_slice(values), input)?;
        executor.upload(&padded(bytes, stream), stream)?;
        what.enqueue_write(executor, input, stream, cells, &blocks)?;
        check(executor, cells)?;
        executor.download(stream, 0, bytes).map_err(Error::from)
    }
}

/// The bytes of a stream as this memory has them. Those behind the stream in its last word must be 0: missing bytes count as zeros.
fn padded(stream: &[u8], memory: View<u32>) -> Vec<u8> {
    let mut padded = stream.to_vec();
    padded.resize((4 * memory.len()) as usize, 0);
    padded
}

/// The fault of a launch as an error.
fn check<E: Executor>(executor: &E, cells: View<u64>) -> Result<(), HostError> {
    let mut fault = [0; 8];
    executor.download(cells, 8 * cells::FAULT, &mut fault)?;
    Ok(fault_in(u64::from_le_bytes(fault))?)
}

/// Calls in the memory of a machine, for other crates of ferrosz. They may change in any release.
#[doc(hidden)]
impl<T: Element> Bare<T> {
    /// Compresses an array; the memory that begins with the stream, and its bytes. Waits.
    ///
    /// # Errors
    ///
    /// As [`Bare::compress_on`].
    pub fn compress_with<E: Executor>(
        self,
        executor: &E,
        input: View<u32>,
    ) -> Result<(E::Memory, u64), Error> {
        Ok(BareStream::of(self)?.compress_with(executor, input)?)
    }

    /// Decompresses a stream, whose rate bytes have been checked, and behind which the last word has zeros. Waits.
    ///
    /// # Errors
    ///
    /// As [`Bare::decompress_on`].
    pub fn decompress_with<E: Executor>(
        self,
        executor: &E,
        stream: View<u32>,
        output: View<u32>,
    ) -> Result<(), Error> {
        Ok(BareStream::of(self)?.decompress_with(executor, stream, output, None)?)
    }
}

struct Compress<'a, T> {
    what: &'a BareStream<T>,
    values: &'a [T],
}

impl<T: Element> Call for Compress<'_, T> {
    type Output = Result<Vec<u8>, Error>;

    fn on<E: Executor>(self, executor: &E) -> Self::Output {
        let Self { what, values } = self;
        let input = executor.allocate(size_of_val(values) as u64)?;
        let input = executor.view(&input);
        executor.upload(bytemuck::cast_slice(values), input)?;
        let (stream, length) = what.compress_with(executor, input)?;
        let mut bytes = try_zeroed(length)?;
        executor.download(executor.view::<u32>(&stream), 0, &mut bytes)?;
        Ok(bytes)
    }
}

struct Decompress<'a, T> {
    what: &'a BareStream<T>,
    stream: &'a [u8],
    /// Some blocks, and the number of their positions; none for the whole array.
    blocks: Option<(Range<u32>, u64)>,
}

impl<T: Element> Call for Decompress<'_, T> {
    type Output = Result<Vec<T>, Error>;

    fn on<E: Executor>(self, executor: &E) -> Self::Output {
        let Self {
            what,
            stream,
            blocks,
        } = self;
        let elements = match &blocks {
            None => what.elements(),
            Some((_, positions)) => *positions,
        };
        let bytes = stream;
        let stream = executor.allocate(bytes.len() as u64)?;
        let output = executor.allocate(elements * T::BYTES as u64)?;
        let (stream, output) = (executor.view(&stream), executor.view(&output));
        executor.upload(&padded(bytes, stream), stream)?;
        let blocks = blocks.map(|(blocks, _)| blocks);
        what.decompress_with(executor, stream, output, blocks)?;
        let mut values = try_zeroed(elements)?;
        executor.download(output, 0, bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }
}

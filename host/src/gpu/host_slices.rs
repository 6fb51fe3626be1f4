//! Whole calls on host slices: the slice goes to the machine, and the result comes back.

use crate::error::Error;
use crate::gpu::blocks::fault_in;
use crate::gpu::executor::Executor;
use crate::gpu::mapping::compress::{Compression, enqueue_compress};
use crate::gpu::mapping::decompress::{
    Decompression, Wanted, cells_to_decompress, enqueue_decompress,
};
use crate::gpu::mapping::workspace::workspace_cells;
use crate::gpu::resolve;
use crate::memory::try_zeroed;
use crate::stream_layout::StreamLayout;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::pipeline::cells;

/// A field in the memory of a machine, with room for its stream.
pub(crate) struct Uploaded<'a, E: Executor> {
    executor: &'a E,
    layout: &'a StreamLayout,
    most: u64,
    input: E::Memory,
    stream: E::Memory,
    workspace: E::Memory,
}

impl<'a, E: Executor> Uploaded<'a, E> {
    /// Copies a field to a machine.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]; the machine's own.
    pub(crate) fn new(
        executor: &'a E,
        layout: &'a StreamLayout,
        field: &[u8],
    ) -> Result<Self, Error> {
        let most = layout.max_stream_bytes().unwrap_or(u64::MAX);
        let uploaded = Self {
            executor,
            layout,
            most,
            input: executor.allocate(field.len() as u64)?,
            stream: executor.allocate(most)?,
            workspace: executor.allocate(8 * workspace_cells(layout))?,
        };
        let cells = executor.view(&uploaded.workspace);
        executor.clear(cells.first(cells::STATES))?;
        executor.upload(field, executor.view(&uploaded.input))?;
        Ok(uploaded)
    }

    /// The extremes of a field of elements, as [`Extremes::to_cells`](ferrosz_codec::bound::Extremes::to_cells) has them.
    ///
    /// # Errors
    ///
    /// The machine's own.
    pub(crate) fn extremes<T: Element>(&self) -> Result<[u64; 2], Error> {
        let (executor, elements) = (self.executor, self.layout.layout.extents.elements());
        let (input, cells) = (executor.view(&self.input), executor.view(&self.workspace));
        resolve::extremes::<T, E>(executor, elements, input, cells)
    }

    /// The stream of the field.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]; the machine's own.
    pub(crate) fn compress<T: Element>(
        &self,
        bound: Bound,
        mapping: &ValueMapping,
    ) -> Result<Vec<u8>, Error> {
        let executor = self.executor;
        let call = Compression {
            layout: self.layout,
            bound,
            mapping,
            field: executor.view(&self.input),
            stream: executor.view(&self.stream),
            cells: executor.view(&self.workspace),
        };
        enqueue_compress::<T, E>(executor, &call)?;
        let mut length = [0; 8];
        executor.download(call.cells, 8 * cells::STREAM_BYTES, &mut length)?;
        let mut bytes = try_zeroed(u64::from_le_bytes(length).min(self.most))?;
        executor.download(call.stream, 0, &mut bytes)?;
        Ok(bytes)
    }
}

/// The stream of a field.
///
/// # Errors
///
/// [`Error::OutOfMemory`]; the machine's own.
pub(crate) fn compress_host<T: Element, E: Executor>(
    executor: &E,
    layout: &StreamLayout,
    bound: Bound,
    mapping: &ValueMapping,
    field: &[u8],
) -> Result<Vec<u8>, Error> {
    Uploaded::new(executor, layout, field)?.compress::<T>(bound, mapping)
}

/// What to decode of a stream without updates.
pub(crate) struct Source<'a> {
    pub(crate) layout: &'a StreamLayout,
    /// The bytes of the stream, in parts of whole words.
    pub(crate) parts: &'a [&'a [u8]],
    pub(crate) wanted: &'a Wanted,
    pub(crate) verify: bool,
}

/// Where decoded values go.
pub(crate) enum Target<'a> {
    /// To this memory.
    Memory(&'a mut [u8]),
    /// So many bytes go to a function, in pieces, in their order.
    Pieces(u64, &'a mut dyn FnMut(&[u8]) -> Result<(), Error>),
}

impl Target<'_> {
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Memory(values) => values.len() as u64,
            Self::Pieces(bytes, _) => *bytes,
        }
    }

    /// Copies the decoded values from the memory of a machine.
    ///
    /// # Errors
    ///
    /// The machine's own, and those of the function.
    pub(crate) fn take<E: Executor>(self, executor: &E, memory: &E::Memory) -> Result<(), Error> {
        let values = executor.view::<u32>(memory);
        match self {
            Self::Memory(place) => executor.download(values, 0, place),
            Self::Pieces(length, take) => executor.download_to(values, 0, length, take),
        }
    }
}

/// Decodes values of so many bytes in the memory of a machine.
///
/// # Errors
///
/// [`Error::Format`]; [`Error::OutOfMemory`]; the machine's own.
pub(crate) fn decode<T: Element, E: Executor>(
    executor: &E,
    source: &Source<'_>,
    value_bytes: u64,
) -> Result<E::Memory, Error> {
    let length = source.parts.iter().map(|part| part.len() as u64).sum();
    let stream = executor.allocate(length)?;
    let output = executor.allocate(value_bytes)?;
    let workspace = executor.allocate(8 * cells_to_decompress(source.layout))?;
    let call = Decompression {
        layout: source.layout,
        wanted: source.wanted,
        verify: source.verify,
        stream: executor.view(&stream).first(length / 4),
        output: executor.view(&output),
        cells: executor.view(&workspace),
    };
    let mut at = 0;
    for part in source.parts {
        executor.upload(part, call.stream.from(at))?;
        at += part.len() as u64 / 4;
    }
    enqueue_decompress::<T, E>(executor, &call)?;
    let mut fault = [0; 8];
    executor.download(call.cells, 8 * cells::FAULT, &mut fault)?;
    fault_in(u64::from_le_bytes(fault))?;
    Ok(output)
}

/// Decodes values to host memory.
///
/// # Errors
///
/// As [`decode`]; those of the target.
pub(crate) fn decompress_host<T: Element, E: Executor>(
    executor: &E,
    source: &Source<'_>,
    target: Target<'_>,
) -> Result<(), Error> {
    let output = decode::<T, E>(executor, source, target.bytes())?;
    target.take(executor, &output)
}

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
use crate::gpu::safeguards::Mending;
use crate::memory::try_zeroed;
use crate::stream_layout::StreamLayout;
use crate::tolerance::Tolerance;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::View;

/// The memory that a compression needs.
pub(crate) struct Room {
    /// Bytes of the longest stream.
    pub(crate) stream: u64,
    /// Bytes of the field.
    pub(crate) field: u64,
    /// Cells of the workspace.
    pub(crate) cells: u64,
}

/// A field in the memory of a machine, with room for its stream.
pub(crate) struct Uploaded<'a, E: Executor> {
    executor: &'a E,
    most: u64,
    input: E::Memory,
    stream: E::Memory,
    workspace: E::Memory,
}

/// The memory of a compression.
pub(crate) struct Places {
    pub(crate) field: View<u32>,
    pub(crate) stream: View<u32>,
    pub(crate) cells: View<u64>,
}

impl<'a, E: Executor> Uploaded<'a, E> {
    /// Copies a field to a machine, given in parts of whole words; the last one may end anywhere. It may be the beginning of
    /// the field that there is room for.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]; the machine's own.
    pub(crate) fn new(executor: &'a E, room: &Room, field: &[&[u8]]) -> Result<Self, Error> {
        let uploaded = Self {
            executor,
            most: room.stream,
            input: executor.allocate(room.field)?,
            stream: executor.allocate(room.stream)?,
            workspace: executor.allocate(8 * room.cells)?,
        };
        let cells = executor.view(&uploaded.workspace);
        executor.clear(cells.first(cells::STATES))?;
        let (input, mut at) = (executor.view(&uploaded.input), 0);
        for part in field {
            executor.upload(part, input.from(at))?;
            at += part.len() as u64 / 4;
        }
        Ok(uploaded)
    }

    /// The extremes of the first so many elements, as [`Extremes::to_cells`](ferrosz_codec::bound::Extremes::to_cells) has them.
    ///
    /// # Errors
    ///
    /// The machine's own.
    pub(crate) fn extremes<T: Element>(&self, elements: u64) -> Result<[u64; 2], Error> {
        let executor = self.executor;
        let (input, cells) = (executor.view(&self.input), executor.view(&self.workspace));
        resolve::extremes::<T, E>(executor, elements, input, cells)
    }

    /// The stream that work makes.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]; those of the work; the machine's own.
    pub(crate) fn compress(
        &self,
        work: impl FnOnce(&Places) -> Result<(), Error>,
    ) -> Result<Vec<u8>, Error> {
        let executor = self.executor;
        let places = Places {
            field: executor.view(&self.input),
            stream: executor.view(&self.stream),
            cells: executor.view(&self.workspace),
        };
        work(&places)?;
        let mut length = [0; 8];
        executor.download(places.cells, 8 * cells::STREAM_BYTES, &mut length)?;
        let mut bytes = try_zeroed(u64::from_le_bytes(length).min(self.most))?;
        executor.download(places.stream, 0, &mut bytes)?;
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
    tolerance: Tolerance,
    mapping: &ValueMapping,
    field: &[u8],
) -> Result<Vec<u8>, Error> {
    let room = Room {
        stream: layout.max_stream_bytes().unwrap_or(u64::MAX),
        field: field.len() as u64,
        cells: workspace_cells(layout),
    };
    Uploaded::new(executor, &room, &[field])?.compress(|places| {
        let call = Compression {
            layout,
            bound: tolerance.bound,
            tightening: tolerance.tightening,
            extremes: None,
            mapping,
            fills: 0,
            field: places.field,
            stream: places.stream,
            cells: places.cells,
        };
        enqueue_compress::<T, E>(executor, &call)
    })
}

/// A stream, and the elements to decode of it.
pub(crate) struct Source<'a> {
    pub(crate) layout: &'a StreamLayout,
    /// The bytes of the stream, in parts of whole words.
    pub(crate) parts: &'a [&'a [u8]],
    pub(crate) wanted: &'a Wanted,
    pub(crate) verify: bool,
    /// What mends the elements of a whole field.
    pub(crate) mending: Option<&'a Mending>,
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
/// As [`decode_by`].
fn decode<T: Element, E: Executor>(
    executor: &E,
    source: &Source<'_>,
    value_bytes: u64,
) -> Result<E::Memory, Error> {
    let cells = cells_to_decompress(source.layout, source.wanted);
    decode_by(executor, source.parts, [value_bytes, cells], |places| {
        let call = Decompression {
            layout: source.layout,
            wanted: source.wanted,
            verify: source.verify,
            stream: places.stream,
            output: places.field,
            cells: places.cells,
        };
        enqueue_decompress::<T, E>(executor, &call)
    })
}

/// Memory of a machine in which work decodes values of so many bytes, with a workspace of so many cells. The bytes of the stream
/// are in parts of whole words.
///
/// # Errors
///
/// [`Error::Format`]; [`Error::OutOfMemory`]; those of the work; the machine's own.
pub(crate) fn decode_by<E: Executor>(
    executor: &E,
    parts: &[&[u8]],
    [value_bytes, cells]: [u64; 2],
    work: impl FnOnce(&Places) -> Result<(), Error>,
) -> Result<E::Memory, Error> {
    let length = parts.iter().map(|part| part.len() as u64).sum();
    let stream = executor.allocate(length)?;
    let output = executor.allocate(value_bytes)?;
    let workspace = executor.allocate(8 * cells)?;
    let places = Places {
        field: executor.view(&output),
        stream: executor.view(&stream).first(length / 4),
        cells: executor.view(&workspace),
    };
    let mut at = 0;
    for part in parts {
        executor.upload(part, places.stream.from(at))?;
        at += part.len() as u64 / 4;
    }
    work(&places)?;
    let mut fault = [0; 8];
    executor.download(places.cells, 8 * cells::FAULT, &mut fault)?;
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
    if let Some(mending) = source.mending {
        let elements = target.bytes() / T::BYTES as u64;
        mending.enqueue::<T, E>(executor, executor.view(&output), elements)?;
    }
    target.take(executor, &output)
}

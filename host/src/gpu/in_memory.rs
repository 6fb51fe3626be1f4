//! Whole calls on arrays of `i16` in the memory of a machine.

use crate::compress::Compressor;
use crate::error::Error;
use crate::gpu::blocks::fault_in;
use crate::gpu::executor::Executor;
use crate::gpu::mapping::compress::{Compression, enqueue_compress};
use crate::gpu::mapping::decompress::{
    Decompression, Wanted, cells_to_decompress, enqueue_decompress,
};
use crate::gpu::mapping::workspace::workspace_cells;
use crate::stream_layout::StreamLayout;
use ferrosz_codec::ValueType;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::View;

/// Compresses an array of so many `i16`; the memory that begins with the stream, and its bytes. Waits.
///
/// # Errors
///
/// [`Error::ExtentsMismatch`]; [`Error::OutOfMemory`]; the machine's own.
pub fn compress_integers<E: Executor>(
    executor: &E,
    compressor: &Compressor,
    array: View<u32>,
    elements: u64,
) -> Result<(E::Memory, u64), Error> {
    let layout = &compressor.stream_layout(elements, ValueType::I16)?;
    let most = compressor.max_compressed_len(elements, ValueType::I16)?;
    let stream = executor.allocate(most)?;
    let workspace = executor.allocate(8 * workspace_cells(layout))?;
    let cells = executor.view(&workspace);
    executor.clear(cells.first(cells::STATES))?;
    let call = Compression {
        layout,
        bound: compressor.bound(),
        tightening: compressor.tightening(),
        extremes: None,
        mapping: &ValueMapping::default(),
        fills: 0,
        field: array,
        stream: executor.view(&stream),
        cells,
    };
    enqueue_compress::<f32, E>(executor, &call)?;
    let mut length = [0; 8];
    executor.download(cells, 8 * cells::STREAM_BYTES, &mut length)?;
    Ok((stream, u64::from_le_bytes(length).min(most)))
}

/// Decompresses a stream of `i16` of this layout, which its header has, to an array. Waits.
///
/// # Errors
///
/// [`Error::Format`]; [`Error::OutOfMemory`]; the machine's own.
pub fn decompress_integers<E: Executor>(
    executor: &E,
    layout: &StreamLayout,
    stream: View<u32>,
    array: View<u32>,
) -> Result<(), Error> {
    let wanted = &Wanted::whole(layout)?;
    let workspace = executor.allocate(8 * cells_to_decompress(layout, wanted))?;
    let call = Decompression {
        layout,
        wanted,
        verify: true,
        stream,
        output: array,
        cells: executor.view(&workspace),
    };
    enqueue_decompress::<f32, E>(executor, &call)?;
    let mut fault = [0; 8];
    executor.download(call.cells, 8 * cells::FAULT, &mut fault)?;
    Ok(fault_in(u64::from_le_bytes(fault))?)
}

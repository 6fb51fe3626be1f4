//! Compression and decompression of device memory, on a stream of the caller.
//!
//! ```no_run
//! # use ferrosz_host as ferrosz;
//! use ferrosz::cuda::Gpu;
//! use ferrosz::{Bound, Codec, Compressor, Decompressor, Dtype, max_compressed_len};
//!
//! let gpu = Gpu::new(0)?;
//! let stream = gpu.context().default_stream();
//! # let to_error = |_| ferrosz::Error::OutOfMemory { bytes: 0 };
//! let field = stream.alloc_zeros::<f32>(1 << 20).map_err(to_error)?;
//! let mut decoded = stream.alloc_zeros::<f32>(1 << 20).map_err(to_error)?;
//! let room = max_compressed_len(1 << 20, Dtype::F32) as usize;
//! let mut bytes = stream.alloc_zeros::<u8>(room).map_err(to_error)?;
//!
//! let mut workspace = gpu.workspace(&stream, 1 << 20)?;
//! let compressor = Compressor::new(Codec::PLAIN, Bound::range(1e-3)?);
//! // Nothing here allocates or waits.
//! gpu.compress(&stream, &compressor, &field, &mut bytes, &mut workspace)?;
//! let layout = compressor.layout_for(1 << 20)?;
//! gpu.decompress(&stream, &Decompressor::new(), layout, &bytes, &mut decoded, &mut workspace)?;
//! // This waits.
//! workspace.check(&stream)?;
//! # Ok::<(), ferrosz::Error>(())
//! ```

mod address;
mod batch;
mod choice;
mod slabs;
mod transfer;

use crate::compress::Compressor;
use crate::decompress::Decompressor;
use crate::error::Error;
use crate::gpu::blocks::fault_in;
use crate::gpu::boxes::BoxMemory;
use crate::gpu::executor::Executor;
use crate::gpu::executor::cuda::{ALIGNMENT, CudaExecutor, CudaMemory, Kernels, words};
use crate::gpu::executor::pool::DevicePool;
use crate::gpu::executor::recorder;
use crate::gpu::mapping::compress::{Compression, enqueue_compress};
use crate::gpu::mapping::conversion::converts;
use crate::gpu::mapping::decompress::{
    Decompression, Wanted, cells_to_decompress, enqueue_decompress,
};
use crate::gpu::mapping::workspace::workspace_cells;
use crate::gpu::update;
use crate::part::Part;
use crate::reading::Reading;
use crate::stream_layout::StreamLayout;
use crate::ways::Way;
use ::cudarc::driver::{CudaContext, CudaStream, DevicePtr, DevicePtrMut};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::{Element, FormatError, Shape, Value, ValueType};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::primitives::read_all::{self, ReadAll, ReadAllParams};
use ferrosz_simt::View;
use std::sync::Arc;

pub use crate::gpu::executor::pinned::PinnedMemory;
pub use address::AtAddress;
pub use batch::{BatchCompression, BatchDecompression, batch_fault};
pub use choice::FieldChoice;
pub use slabs::Slabs;
pub use transfer::{Packed, Transfer};

/// The crate whose types are in the signatures here. Any release of ferrosz may use another version of it.
// A module, as rustdoc would show a re-export.
#[doc(hidden)]
pub mod cudarc {
    pub use ::cudarc::*;
}

/// Gives the device memory that this process keeps for its next calls, and that nothing uses, back to the driver. Waits for the
/// work of the process on its GPUs. When another allocation of the process finds too little, the driver does so by itself.
pub fn release_memory() {
    DevicePool::trim();
}

/// An NVIDIA GPU with the kernels loaded.
#[derive(Clone)]
pub struct Gpu {
    kernels: Kernels,
}

impl Gpu {
    /// The GPU with this number, in its primary context. A kernel is loaded when a call first needs it, once in a
    /// process. Loading takes some milliseconds and cannot be captured in a graph.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if there is no driver or no such GPU; [`Error::OldGpu`] if the GPU is too old for the
    /// kernels.
    pub fn new(ordinal: usize) -> Result<Self, Error> {
        let kernels = Kernels::of_device(ordinal)?;
        Ok(Self { kernels })
    }

    /// The GPU of a context of the caller. Kernels will be loaded into this context.
    pub fn with_context(context: Arc<CudaContext>) -> Self {
        Self {
            kernels: Kernels::in_context(context),
        }
    }

    /// The context that the kernels are loaded into.
    pub fn context(&self) -> &Arc<CudaContext> {
        self.kernels.context()
    }

    /// Loads all kernels that compression and decompression of streams of this layout and type need. Later calls then
    /// neither wait for the driver to compile a kernel, nor load one while a graph is captured. Without the driver's
    /// cache, loading takes half a second for codecs of blocks, and up to four seconds for interpolation
    /// ([measured](https://github.com/ferrosz/ferrosz/blob/main/docs/measurements/h200-cold.md)); the driver keeps
    /// compiled kernels in a cache on the disk.
    ///
    /// ```no_run
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::cuda::Gpu;
    /// use ferrosz::{Bound, Codec, Compressor, Dtype};
    ///
    /// let gpu = Gpu::new(0)?;
    /// let compressor = Compressor::new(Codec::INTERP, Bound::range(1e-3)?).extents(&[64, 64, 64])?;
    /// gpu.prepare(compressor.layout_for(64 * 64 * 64)?, Dtype::F32)?;
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] if the driver refuses a kernel; [`Error::TooLarge`].
    pub fn prepare(
        &self,
        layout: impl Into<StreamLayout>,
        value_type: impl Into<ValueType>,
    ) -> Result<(), Error> {
        let layout = StreamLayout {
            value_type: value_type.into(),
            ..layout.into()
        };
        let mut loads = recorder::to_compress(&layout)?;
        loads.append(&mut recorder::to_decompress(&layout)?);
        self.kernels.load_all(loads)
    }

    /// A workspace for fields of up to `elements` elements that are coded in blocks of rank 1: 8 bytes for every 8192
    /// elements. It can be reused by calls on this stream.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn workspace(&self, stream: &Arc<CudaStream>, elements: u64) -> Result<Workspace, Error> {
        let grid = Grid::new(Shape::Line, &Extents::line(elements));
        Workspace::with_states(stream, grid.chunk_count())
    }

    /// A workspace for streams of this layout, which [`Compressor::stream_layout`] gives. It serves all layouts that have
    /// no more chunks, if neither has a mask, another order of axes or values of 16 bits; these need memory of their own.
    /// A [`StreamLayout`] says nothing of an order of axes.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn workspace_for(
        &self,
        stream: &Arc<CudaStream>,
        layout: impl Into<StreamLayout>,
    ) -> Result<Workspace, Error> {
        Workspace::with_states(stream, workspace_cells(&layout.into()) - cells::STATES)
    }

    /// A workspace for [`Gpu::decompress_part`] of streams of this layout and a part of this size, as large as
    /// [`Gpu::workspace_for`] needs, and for a codec of tiles with memory for the tiles that the part is in.
    ///
    /// # Errors
    ///
    /// [`Error::RangeOutside`], [`Error::BoxOutside`], [`Error::ScatteredPart`] and [`Error::Cuda`].
    pub fn workspace_for_part(
        &self,
        stream: &Arc<CudaStream>,
        layout: impl Into<StreamLayout>,
        part: &Part,
    ) -> Result<Workspace, Error> {
        let bytes = layout.into().workspace_bytes_for_part(part)?;
        Workspace::with_states(stream, bytes / 8 - cells::STATES)
    }

    /// As [`Gpu::workspace_for`], in device memory of the caller: `bytes` bytes at `address`, a multiple of 16. Enqueues
    /// the clearing of the first 256 bytes on `stream`: calls clear what else they need clear.
    /// [`StreamLayout::workspace_bytes`] bytes suffice.
    ///
    /// # Errors
    ///
    /// [`Error::WorkspaceTooSmall`], [`Error::Misaligned`] and [`Error::Cuda`].
    ///
    /// # Safety
    ///
    /// The memory must be of this GPU. It must stay valid, and nothing else may use it, until the last call with the workspace
    /// has finished its work.
    pub unsafe fn workspace_in(
        &self,
        stream: &Arc<CudaStream>,
        layout: impl Into<StreamLayout>,
        address: u64,
        bytes: u64,
    ) -> Result<Workspace, Error> {
        let chunks = workspace_cells(&layout.into()) - cells::STATES;
        let capacity = (bytes / 8).saturating_sub(cells::STATES);
        if capacity < chunks {
            return Err(Error::WorkspaceTooSmall { chunks, capacity });
        }
        // SAFETY: as the caller promises.
        let of_caller =
            |bytes| unsafe { CudaMemory::of_caller(stream, "workspace", address, bytes) };
        let memory = of_caller(bytes)?;
        // The rest may be half as long as a field.
        of_caller(8 * cells::STATES)?.clear()?;
        Ok(Workspace {
            memory,
            chunks: capacity,
            boxes: BoxMemory::default(),
        })
    }

    /// Enqueues the compression of the field in `input`, with a [`Compressor`] or with a [`FieldChoice`] for this field, to the
    /// start of `output`, which must have at least [`Compressor::max_compressed_len`] bytes. Does not allocate and does not wait,
    /// except that the first call of a kind loads its kernel. The stream's length will be in [`Workspace::stream_bytes`] and its
    /// device cell.
    ///
    /// Values of `f16`, `bf16`, `i16` and `u16` become elements in the kernels; their workspace is that of
    /// [`Gpu::workspace_for`]. They have no fill values here.
    ///
    /// Both buffers must be aligned to 16 bytes. [`AtAddress`] is one that is known by its address.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooSmall`], [`Error::WorkspaceTooSmall`], [`Error::WorkspaceStream`],
    /// [`Error::Misaligned`], [`Error::ExtentsMismatch`], [`Error::NotChosen`], [`Error::ConvertedOnDevice`],
    /// [`Error::MappingOfType`], and [`Error::Cuda`].
    pub fn compress<V: Value>(
        &self,
        stream: &Arc<CudaStream>,
        compressor: impl Into<FieldChoice>,
        input: &impl DevicePtr<V>,
        output: &mut impl DevicePtrMut<u8>,
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        let elements = input.len() as u64;
        let room = output.len() as u64;
        // The two guards, or the contract of `AtAddress`, keep the buffers valid, and ordered with other streams.
        let (input, _input_use) = input.device_ptr(stream);
        let (output, _output_use) = output.device_ptr_mut(stream);
        let choice = compressor.into();
        let compressor = choice.compressor();
        compressor.check_way::<V>(Way::Memory)?;
        check_values::<V>(compressor)?;
        let mapping = mapping_of::<V>(compressor)?;
        let layout = compressor.stream_layout(elements, V::TYPE)?;
        let needed = compressor.max_compressed_len(elements, V::TYPE)?;
        if room < needed {
            return Err(Error::OutputTooSmall {
                needed,
                found: room,
                unit: "bytes",
            });
        }
        let states = workspace_cells(&layout) - cells::STATES;
        let cells = workspace.cells_for(stream, states)?;
        // SAFETY: the guard keeps so many elements valid.
        let field = unsafe { words("input", input, bytes_of::<V>(elements))? };
        let call = Compression {
            layout: &layout,
            bound: compressor.bound(),
            tightening: compressor.tightening(),
            extremes: choice.extremes(),
            mapping: &mapping,
            fills: compressor.missing::<V>()?.len() as u32,
            field,
            // SAFETY: the guard keeps so many bytes valid.
            stream: unsafe { words("output", output, room)? },
            cells,
        };
        self.run(stream, |executor| {
            enqueue_compress::<V::Coded, _>(executor, &call)
        })
    }

    /// Enqueues the decompression of the stream at the start of `input` into `output`, whose length must be the number
    /// of elements of the field. Does not allocate, wait, or read the stream on the host, so the caller must give its
    /// layout: [`Compressor::stream_layout`] of the compressor that made it or, if the stream has updates, its own, which
    /// [`Gpu::layout_of`] reads. [`Workspace::check`] and the fault cell on the device tell whether the stream has this layout
    /// and is undamaged. A stream with records that are not of its mask, its axes or its values is a fault, too.
    ///
    /// Both buffers must be aligned to 16 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`], [`Error::WorkspaceStream`], [`Error::Misaligned`],
    /// [`Error::ConvertedOnDevice`] of integers of 32 bits, and [`Error::Cuda`].
    pub fn decompress<V: Value>(
        &self,
        stream: &Arc<CudaStream>,
        decompressor: &Decompressor,
        layout: impl Into<StreamLayout>,
        input: &impl DevicePtr<u8>,
        output: &mut impl DevicePtrMut<V>,
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        let layout = layout.into();
        let extents = layout.layout.extents;
        let elements = extents.elements();
        if output.len() as u64 != elements {
            return Err(Error::ExtentsMismatch {
                extents: extents.lengths().to_vec(),
                product: elements,
                elements: output.len() as u64,
            });
        }
        let whole = Part::Elements(0..elements);
        self.decompress_part(
            stream,
            decompressor,
            layout,
            input,
            &whole,
            output,
            workspace,
        )
    }

    /// As [`Gpu::decompress`], for a part of the field, whose values start at the start of `output`. Only the chunks that
    /// the part needs are decoded. Those of a codec of tiles are decoded in the workspace, which must have memory for them:
    /// [`Gpu::workspace_for_part`].
    ///
    /// # Errors
    ///
    /// [`Error::RangeOutside`], [`Error::BoxOutside`], [`Error::OutputTooSmall`], [`Error::WorkspaceTooSmall`], and as
    /// [`Gpu::decompress`].
    #[expect(
        clippy::too_many_arguments,
        reason = "each says one thing that the device cannot"
    )]
    pub fn decompress_part<V: Value>(
        &self,
        stream: &Arc<CudaStream>,
        decompressor: &Decompressor,
        layout: impl Into<StreamLayout>,
        input: &impl DevicePtr<u8>,
        part: &Part,
        output: &mut impl DevicePtrMut<V>,
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        let layout = StreamLayout {
            value_type: V::TYPE,
            ..layout.into()
        };
        if !V::TYPE.is_coded_as_is() && !converts(V::TYPE) {
            return Err(Error::ConvertedOnDevice(V::TYPE));
        }
        let elements = layout.layout.extents.elements();
        let part = (*part != Part::Elements(0..elements)).then_some(part);
        let wanted = Wanted::new(&Reading::new(&layout.layout, &layout.order, part)?)?;
        let needed = wanted.elements();
        let found = output.len() as u64;
        if found < needed {
            return Err(Error::OutputTooSmall {
                needed,
                found,
                unit: "elements",
            });
        }
        let states = cells_to_decompress(&layout, &wanted) - cells::STATES;
        let bytes = input.len() as u64;
        // The two guards, or the contract of `AtAddress`, keep the buffers valid, and ordered with other streams.
        let (input, _input_use) = input.device_ptr(stream);
        let (output, _output_use) = output.device_ptr_mut(stream);
        let call = Decompression {
            layout: &layout,
            wanted: &wanted,
            verify: decompressor.verifies_checksums(),
            // SAFETY: the guard keeps so many bytes valid.
            stream: unsafe { words("input", input, bytes)? },
            // SAFETY: the guard keeps at least so many elements valid.
            output: unsafe { words("output", output, bytes_of::<V>(needed))? },
            cells: workspace.cells_for(stream, states)?,
        };
        self.run(stream, |executor| {
            enqueue_decompress::<V::Coded, _>(executor, &call)
        })
    }

    /// Replaces a part of the field of the stream at the start of `compressed` by `values`, in host memory; returns the length of
    /// the stream in bytes from then on. `compressed` must have room for it. The chunks that the part touches travel to the host,
    /// which codes them again, and come back behind the stream: its bytes are those of [`Update`](crate::stream::Update).
    /// [`Gpu::layout_of`] has its layout, with which [`Gpu::decompress`] takes it; [`Gpu::compact`] makes it shorter. Waits for the
    /// work on `stream`.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooSmall`], [`Error::Misaligned`], [`Error::Io`] if the device cannot be read, [`Error::Cuda`] if it cannot
    /// be written, and those of [`Update::new`](crate::stream::Update::new).
    pub fn update<V: Value>(
        &self,
        stream: &Arc<CudaStream>,
        compressed: &mut impl DevicePtrMut<u8>,
        part: &Part,
        values: &[V],
    ) -> Result<u64, Error> {
        let bytes = compressed.len() as u64;
        let (address, _use) = compressed.device_ptr_mut(stream);
        // SAFETY: the guard keeps the buffer valid.
        let memory = unsafe { words("compressed", address, bytes)? };
        self.run(stream, |executor| {
            update::update(executor, memory, part, values)
        })
    }

    /// Copies the stream at the start of `input` to `output` without the chunks that updates replaced; returns the length of the
    /// copy in bytes, which is that of [`compact`](crate::stream::compact) byte for byte. The chunks stay on the device. Checksums
    /// of chunks are not compared: a damaged chunk is found when it is decoded. Waits for the work on `stream`.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the stream is damaged, [`Error::OutputTooSmall`], [`Error::Misaligned`], [`Error::OutOfMemory`],
    /// [`Error::Io`] if the device cannot be read, and [`Error::Cuda`].
    pub fn compact(
        &self,
        stream: &Arc<CudaStream>,
        input: &impl DevicePtr<u8>,
        output: &mut impl DevicePtrMut<u8>,
    ) -> Result<u64, Error> {
        let (bytes, room) = (input.len() as u64, output.len() as u64);
        let (input, _input_use) = input.device_ptr(stream);
        let (output, _output_use) = output.device_ptr_mut(stream);
        // SAFETY: the guard keeps the buffer valid.
        let memory = unsafe { words("input", input, bytes)? };
        // SAFETY: as above.
        let output = unsafe { words("output", output, room)? };
        self.run(stream, |executor| update::compact(executor, memory, output))
    }

    /// Reads the layout of a stream on the device. Waits for the work on `stream`.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if there is no stream, or not all of it; [`Error::Misaligned`]; [`Error::Cuda`].
    pub fn layout_of(
        &self,
        stream: &Arc<CudaStream>,
        input: &impl DevicePtr<u8>,
    ) -> Result<StreamLayout, Error> {
        let found = input.len() as u64;
        let (address, _use) = input.device_ptr(stream);
        // SAFETY: the guard keeps the buffer valid.
        let view = unsafe { words("input", address, found)? };
        let first_bytes = |count: u64| {
            let mut bytes = crate::memory::try_zeroed(count)?;
            if count > 0 {
                self.run(stream, |executor| executor.download(view, 0, &mut bytes))?;
            }
            Ok::<_, Error>(bytes)
        };
        // Copies are of whole words.
        let mut start = first_bytes(FIRST_BYTES.min(found / 4 * 4))?;
        let needed = Header::read(&start)?.stream_bytes();
        if needed > found {
            return Err(FormatError::Truncated { needed, found }.into());
        }
        if let Err(FormatError::Truncated { needed, .. }) = StreamLayout::of_start(&start) {
            start = first_bytes(needed)?;
        }
        Ok(StreamLayout::of_start(&start)?)
    }

    /// Enqueues a kernel that reads all words of `input`, and adds their sum modulo 2^32 to the lower half of the first
    /// item of `sum`. It serves only as an upper limit in measurements: no kernel that reads the whole field, such as
    /// the search for its range, is faster. Does not allocate and does not wait.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`], [`Error::OutputTooSmall`] if `sum` is empty, and [`Error::Cuda`].
    pub fn read_all<T: Element>(
        &self,
        stream: &Arc<CudaStream>,
        input: &impl DevicePtr<T>,
        sum: &mut impl DevicePtrMut<u64>,
    ) -> Result<(), Error> {
        if sum.is_empty() {
            return Err(Error::OutputTooSmall {
                needed: 1,
                found: 0,
                unit: "elements",
            });
        }
        let bytes = size_of::<T>() as u64 * input.len() as u64;
        let (input, _input_use) = input.device_ptr(stream);
        let (sum, _sum_use) = sum.device_ptr_mut(stream);
        let params = ReadAllParams {
            // SAFETY: the guard keeps the buffer valid, and ordered with other streams.
            input: unsafe { words("input", input, bytes)? },
            // SAFETY: as above; it has at least one item.
            sum: unsafe { View::new(sum as *mut u64, 1) },
        };
        let share = ALIGNMENT * read_all::IN_FLIGHT as u64 * u64::from(read_all::THREADS);
        let shares = u32::try_from(bytes.div_ceil(share).max(1)).unwrap_or(u32::MAX);
        self.run(stream, |executor| {
            executor.launch_over::<ReadAll>(shares, &params)
        })
    }

    /// Asks for work on a stream.
    #[doc(hidden)]
    pub fn run<R>(
        &self,
        stream: &Arc<CudaStream>,
        work: impl FnOnce(&CudaExecutor<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        stream
            .context()
            .bind_to_thread()
            .map_err(crate::gpu::driver::failed("use the GPU"))?;
        work(&CudaExecutor {
            kernels: &self.kernels,
            stream: stream.clone(),
        })
    }
}

/// Bytes of a stream that are read first: its header, and more records than the library writes.
const FIRST_BYTES: u64 = 1024;

/// Bytes of so many values in device memory, in whole words.
const fn bytes_of<V: Value>(values: u64) -> u64 {
    (values * V::TYPE.bytes() as u64).next_multiple_of(4)
}

/// Checks that values of a type can be compressed in device memory.
fn check_values<V: Value>(compressor: &Compressor) -> Result<(), Error> {
    compressor.check_conversion::<V>()?;
    compressor.check_way::<V>(Way::Memory)?;
    match V::TYPE.is_coded_as_is() || compressor.converts_on_machine::<V>()? {
        true => Ok(()),
        false => Err(Error::ConvertedOnDevice(V::TYPE)),
    }
}

/// The length of a stream, as the cell of a workspace has it.
pub(crate) fn length_in(cell: u64) -> Result<u64, Error> {
    match cell {
        0 => Err(Error::CloseToFill),
        length => Ok(length),
    }
}

/// The mapping of the elements that stand for values.
fn mapping_of<V: Value>(compressor: &Compressor) -> Result<ValueMapping, Error> {
    match V::TYPE.is_coded_as_is() {
        true => compressor.value_mapping(V::Coded::DTYPE),
        false => Ok(ValueMapping::default()),
    }
}

/// Device memory that the kernels of a call share. See [`Gpu::workspace`].
pub struct Workspace {
    memory: CudaMemory,
    chunks: u64,
    /// Where [`Gpu::choose`] copies samples through.
    boxes: BoxMemory<CudaMemory>,
}

impl Workspace {
    /// For calls on so many chunks.
    #[doc(hidden)]
    pub fn with_states(stream: &Arc<CudaStream>, chunks: u64) -> Result<Self, Error> {
        let memory = CudaMemory::new(stream, 8 * cells::count(chunks))?;
        memory.clear()?;
        Ok(Self {
            memory,
            chunks,
            boxes: BoxMemory::default(),
        })
    }

    /// The cells that a call on so many chunks needs, if it is on the workspace's stream.
    #[doc(hidden)]
    pub fn cells_for(&self, stream: &CudaStream, chunks: u64) -> Result<View<u64>, Error> {
        if stream.cu_stream() != self.memory.stream().cu_stream() {
            return Err(Error::WorkspaceStream);
        }
        if chunks > self.chunks {
            return Err(Error::WorkspaceTooSmall {
                chunks,
                capacity: self.chunks,
            });
        }
        let all = self.memory.view::<u64>();
        // SAFETY: a part of this workspace's memory.
        Ok(unsafe { View::new(all.address(), cells::count(chunks)) })
    }

    /// The device address of a `u64`: the length in bytes of the stream that the last compression made, from its end until
    /// the next compression; 0 if there is none: [`Error::CloseToFill`].
    pub fn stream_bytes_address(&self) -> u64 {
        self.memory.view::<u64>().address() as u64 + 8 * cells::STREAM_BYTES
    }

    /// The device address of a `u64`: 0 if the last decompression found no fault, after it has finished.
    pub fn fault_address(&self) -> u64 {
        self.memory.view::<u64>().address() as u64 + 8 * cells::FAULT
    }

    /// The length in bytes of the stream that the last compression on `stream` made. Waits for it.
    ///
    /// # Errors
    ///
    /// [`Error::CloseToFill`]; [`Error::Cuda`], also for a failed kernel.
    pub fn stream_bytes(&self, stream: &Arc<CudaStream>) -> Result<u64, Error> {
        length_in(self.read(stream, cells::STREAM_BYTES)?)
    }

    /// Waits for the last decompression on `stream` and returns the fault that it found.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the stream was damaged or has another layout; [`Error::Cuda`].
    pub fn check(&self, stream: &Arc<CudaStream>) -> Result<(), Error> {
        let cell = self.read(stream, cells::FAULT)?;
        fault_in(cell).map_err(|error: FormatError| error.into())
    }

    fn read(&self, stream: &Arc<CudaStream>, cell: u64) -> Result<u64, Error> {
        let mut bytes = [0; 8];
        self.memory.read(stream, 8 * cell, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

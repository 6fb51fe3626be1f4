//! A field in the memory of several GPUs, of which each has a slab.

use crate::compress::Compressor;
use crate::cuda::{Gpu, Workspace, bytes_of};
use crate::decompress::{self, Decompressor};
use crate::error::Error;
use crate::gpu::blocks::fault_in;
use crate::gpu::driver::failed;
use crate::gpu::executor::cuda::{CudaExecutor, CudaMemory, words};
use crate::gpu::executor::pinned::PinnedMemory;
use crate::gpu::executor::{Executor, put};
use crate::gpu::mapping::compress::{Compression, enqueue_compress};
use crate::gpu::mapping::decompress::{Decompression, Wanted, enqueue_decompress};
use crate::gpu::mapping::workspace::workspace_cells;
use crate::gpu::resolve::{UNREACHED, enqueue_extremes_from};
use crate::slabs::compress::{absolute, assemble};
use crate::slabs::decompress::{in_field, split};
use crate::slabs::{self, Slab};
use crate::stream_layout::StreamLayout;
use ::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, result};
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::{Bound, Value};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::View;
use std::ops::Range;
use std::sync::Arc;

/// A field in the memory of several GPUs: each has a slab of whole chunks along the slowest axis, and its part of the
/// stream. Together the parts are the stream that one GPU would make of the field.
///
/// ```no_run
/// # use ferrosz_host as ferrosz;
/// use ferrosz::cuda::{Gpu, Slabs};
/// use ferrosz::{Bound, Codec, Compressor, Decompressor};
///
/// # let to_error = |_| ferrosz::Error::OutOfMemory { bytes: 0 };
/// let mut gpus = Vec::new();
/// for ordinal in 0..2 {
///     let gpu = Gpu::new(ordinal)?;
///     let stream = gpu.context().default_stream();
///     gpus.push((gpu, stream));
/// }
/// let compressor = Compressor::new(Codec::PLAIN, Bound::range(1e-3)?).extents(&[1024, 512, 512])?;
/// let mut slabs = Slabs::new::<f32>(&gpus, &compressor)?;
/// let mut fields = Vec::new();
/// for (number, (_, stream)) in gpus.iter().enumerate().take(slabs.len()) {
///     let elements = slabs.elements(number);
///     let count = (elements.end - elements.start) as usize;
///     fields.push(stream.alloc_zeros::<f32>(count).map_err(to_error)?);
/// }
/// slabs.compress(&fields)?;
/// let stream: Vec<u8> = slabs.to_host()?;
/// slabs.decompress(&Decompressor::new(), &mut fields)?;
/// # Ok::<(), ferrosz::Error>(())
/// ```
///
/// Calls ask all GPUs for their work from one thread, and then wait for all of them. So none waits for another, except that a
/// relative bound needs the extremes of all slabs.
pub struct Slabs {
    layout: StreamLayout,
    bound: Bound,
    members: Vec<Member>,
}

/// A GPU and its slab.
struct Member {
    gpu: Gpu,
    stream: Arc<CudaStream>,
    slab: Slab,
    layout: StreamLayout,
    /// The stream of the slab as a field of its own.
    bytes: CudaMemory,
    /// Its room, and its length once there is one.
    room: u64,
    length: u64,
    workspace: Workspace,
    /// Page-locked memory for the numbers that the host needs.
    numbers: PinnedMemory,
}

/// The most numbers that the host takes at once.
const NUMBERS: u64 = 2;

impl Slabs {
    /// Divides fields of values `V` among GPUs, each with the stream that its work is asked for on, in the order of their
    /// slabs. Allocates room for the streams of the slabs. There are fewer slabs than GPUs if the field has fewer layers of
    /// chunks.
    ///
    /// The compressor has the extents of the field and a codec of blocks, and neither fill values nor another order of axes
    /// nor a bound that is relative to each value.
    ///
    /// # Errors
    ///
    /// [`Error::PartsSettings`] with other settings; [`Error::NotChosen`], [`Error::TooLarge`], [`Error::OutOfMemory`] and
    /// [`Error::Cuda`].
    pub fn new<V: Value>(
        gpus: &[(Gpu, Arc<CudaStream>)],
        compressor: &Compressor,
    ) -> Result<Self, Error> {
        let elements = compressor.elements_of_parts()?;
        let layout = compressor.stream_layout(elements, V::TYPE)?;
        compressor.max_compressed_len(elements, V::TYPE)?;
        let bound = compressor.bound();
        if !slabs::is_divisible(&layout, bound) {
            return Err(Error::PartsSettings(
                "several GPUs share fields of f32 and f64 with a codec of blocks, without a mask and in the order of their axes",
            ));
        }
        let slabs = slabs::divide(&layout.layout, gpus.len()).into_iter();
        let members = slabs.zip(gpus).map(|(slab, (gpu, stream))| {
            Member::new(gpu, stream, slab.stream_layout(&layout), slab)
        });
        Ok(Self {
            layout,
            bound,
            members: members.collect::<Result<_, _>>()?,
        })
    }

    /// The number of slabs; none of a field without elements.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no slabs.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The elements of a slab among those of the field, in C order; none if there is no such slab.
    pub fn elements(&self, number: usize) -> Range<u64> {
        let member = self.members.get(number);
        member.map_or(0..0, |member| member.slab.elements.clone())
    }

    /// The length of the stream that the parts make, in bytes.
    pub fn stream_bytes(&self) -> u64 {
        let heads = self
            .layout
            .layout
            .header(self.layout.dtype(), self.bound, 0);
        let payloads = self.members.iter().map(|member| {
            let start = member.slab.payload_start() as u64;
            member.length.saturating_sub(start)
        });
        heads.payload_start() + payloads.sum::<u64>()
    }

    /// Compresses a field, of which each GPU has its slab in its memory, aligned to 16 bytes. Returns when all are done. The
    /// parts of the stream stay in the GPUs' memory.
    ///
    /// # Errors
    ///
    /// [`Error::PartMismatch`], [`Error::Misaligned`] and [`Error::Cuda`].
    pub fn compress<V: Value>(&mut self, fields: &[impl DevicePtr<V>]) -> Result<(), Error> {
        self.check::<V>(fields.iter().map(|field| field.len() as u64))?;
        let streams = self.streams();
        let pointers = streams.iter().zip(fields);
        let pointers = pointers.map(|(stream, field)| field.device_ptr(stream));
        // The guards keep the buffers valid, and ordered with other streams.
        let (addresses, _uses): (Vec<u64>, Vec<_>) = pointers.unzip();
        let inputs = addresses.iter().zip(fields);
        // SAFETY: as above.
        let inputs = inputs.map(|(address, field)| unsafe {
            words("fields", *address, bytes_of::<V>(field.len() as u64))
        });
        let inputs: Vec<View<u32>> = inputs.collect::<Result<_, _>>()?;
        let bound = match self.bound.needs_extremes() {
            true => self.absolute::<V>(&inputs)?,
            false => self.bound,
        };
        let mut asked = Ok(());
        for (member, input) in self.members.iter().zip(&inputs) {
            asked = asked.and_then(|()| member.enqueue_compress::<V>(*input, bound));
        }
        // The host's next calls are asked for while the kernels run.
        for member in &mut self.members {
            asked = asked
                .and_then(|()| member.enqueue_number(cells::STREAM_BYTES, 1))
                .and_then(|()| member.prepare());
        }
        let lengths = self.take_numbers(asked)?;
        for (member, [length, _]) in self.members.iter_mut().zip(lengths) {
            member.length = length.min(member.room);
        }
        Ok(())
    }

    /// The absolute bound of the whole field.
    fn absolute<V: Value>(&mut self, inputs: &[View<u32>]) -> Result<Bound, Error> {
        let mut asked = Ok(());
        for (member, input) in self.members.iter().zip(inputs) {
            asked = asked.and_then(|()| member.enqueue_extremes::<V>(*input));
        }
        for member in &mut self.members {
            asked = asked.and_then(|()| member.enqueue_number(cells::EXTREMES, 2));
        }
        let found = self.take_numbers(asked)?;
        let largest = |i: usize| found.iter().map(|cells| cells[i]).max().unwrap_or(0);
        absolute::<V::Coded>(self.bound, [largest(0), largest(1)])
    }

    /// The stream of the field, in the host's memory.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if none was compressed or loaded; [`Error::OutOfMemory`]; [`Error::Cuda`].
    pub fn to_host(&self) -> Result<Vec<u8>, Error> {
        let streams = self.members.iter().map(|member| {
            let mut bytes = crate::memory::try_zeroed(member.length)?;
            let view = member.bytes.view::<u32>();
            member.run(|executor| executor.download(view, 0, &mut bytes))?;
            Ok(bytes)
        });
        let mut streams = streams.collect::<Result<Vec<Vec<u8>>, Error>>()?;
        let slabs: Vec<Slab> = self
            .members
            .iter()
            .map(|member| member.slab.clone())
            .collect();
        let mut stream = Vec::new();
        assemble(&slabs, &self.layout, self.bound, &mut streams, &mut stream)?;
        Ok(stream)
    }

    /// Copies the parts of a stream to the GPUs, for decompression. It is one of the layout that the compressor has.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the stream is damaged; [`Error::BadParts`] if it has another layout, records or updates;
    /// [`Error::Cuda`].
    pub fn load<V: Value>(&mut self, stream: &[u8]) -> Result<(), Error> {
        let read = decompress::read::<V>(stream)?;
        let header = &read.header;
        let is_plain = header.update_bytes + header.record_bytes == 0;
        if !is_plain || header.layout() != self.layout.layout {
            return Err(Error::BadParts(
                "the stream has another layout, records or updates".to_owned(),
            ));
        }
        let slabs: Vec<Slab> = self
            .members
            .iter()
            .map(|member| member.slab.clone())
            .collect();
        for (own, member) in split(&slabs, &read)?.iter().zip(&mut self.members) {
            let needed = (own.head.len() + own.payload.len()) as u64;
            if needed > member.room {
                return Err(Error::BadParts("a slab is longer than any".to_owned()));
            }
            let view = member.bytes.view::<u32>();
            member.run(|executor| {
                executor.upload(&own.head, view)?;
                executor.upload(own.payload, view.from(own.head.len() as u64 / 4))
            })?;
            member.length = needed;
        }
        Ok(())
    }

    /// Decompresses the parts that were compressed or loaded; each GPU writes its slab to its memory, aligned to 16 bytes.
    /// Returns when all are done.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the stream is damaged; [`Error::PartMismatch`], [`Error::Misaligned`] and [`Error::Cuda`].
    pub fn decompress<V: Value>(
        &mut self,
        decompressor: &Decompressor,
        fields: &mut [impl DevicePtrMut<V>],
    ) -> Result<(), Error> {
        self.check::<V>(fields.iter().map(|field| field.len() as u64))?;
        let lengths: Vec<u64> = fields.iter().map(|field| field.len() as u64).collect();
        let streams = self.streams();
        let pointers = streams.iter().zip(fields);
        let pointers = pointers.map(|(stream, field)| field.device_ptr_mut(stream));
        // The guards keep the buffers valid, and ordered with other streams.
        let (addresses, _uses): (Vec<u64>, Vec<_>) = pointers.unzip();
        let outputs = addresses.iter().zip(lengths);
        // SAFETY: as above.
        let outputs = outputs
            .map(|(address, length)| unsafe { words("fields", *address, bytes_of::<V>(length)) });
        let outputs: Vec<View<u32>> = outputs.collect::<Result<_, _>>()?;
        let mut asked = Ok(());
        for (member, output) in self.members.iter().zip(outputs) {
            let verify = decompressor.verifies_checksums();
            asked = asked.and_then(|()| member.enqueue_decompress::<V>(output, verify));
        }
        for member in &mut self.members {
            asked = asked.and_then(|()| member.enqueue_number(cells::FAULT, 1));
        }
        let faults = self.take_numbers(asked)?;
        for (member, [fault, _]) in self.members.iter().zip(faults) {
            let first = member.slab.chunks.start;
            fault_in(fault).map_err(|error| in_field(error.into(), first))?;
        }
        Ok(())
    }

    fn streams(&self) -> Vec<Arc<CudaStream>> {
        let streams = self.members.iter().map(|member| member.stream.clone());
        streams.collect()
    }

    /// Checks that there is a buffer for each slab.
    fn check<V: Value>(&self, lengths: impl ExactSizeIterator<Item = u64>) -> Result<(), Error> {
        if V::TYPE != self.layout.value_type || lengths.len() != self.members.len() {
            return Err(Error::BadParts(format!(
                "there are {} slabs of {}, but {} buffers of {}",
                self.members.len(),
                self.layout.value_type,
                lengths.len(),
                V::TYPE
            )));
        }
        for (member, found) in self.members.iter().zip(lengths) {
            let elements = member.elements();
            if found != elements {
                return Err(Error::PartMismatch { elements, found });
            }
        }
        Ok(())
    }

    /// Waits for all GPUs, also after an error, as their work uses the buffers of the call; the numbers that each has given.
    fn take_numbers(&self, asked: Result<(), Error>) -> Result<Vec<[u64; 2]>, Error> {
        let waited = self.members.iter().map(|member| {
            let waited = member.stream.synchronize();
            waited.map_err(failed("wait for a GPU"))
        });
        let waited: Vec<Result<(), Error>> = waited.collect();
        asked?;
        waited.into_iter().collect::<Result<(), Error>>()?;
        let numbers = self.members.iter().map(|member| {
            let (numbers, _) = member.numbers.as_chunks::<8>();
            [0, 1].map(|i| numbers.get(i).map_or(0, |bytes| u64::from_le_bytes(*bytes)))
        });
        Ok(numbers.collect())
    }
}

impl Member {
    fn new(
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        layout: StreamLayout,
        slab: Slab,
    ) -> Result<Self, Error> {
        let most = layout.max_stream_bytes().ok_or(Error::TooLarge {
            elements: slab.elements.end - slab.elements.start,
            dtype: layout.value_type,
        })?;
        let states = workspace_cells(&layout) - cells::STATES;
        let member = Self {
            bytes: CudaMemory::new(stream, most)?,
            room: most,
            length: 0,
            workspace: Workspace::with_states(stream, states)?,
            numbers: PinnedMemory::new(gpu.context(), 8 * NUMBERS)?,
            gpu: gpu.clone(),
            stream: stream.clone(),
            layout,
            slab,
        };
        member.prepare()?;
        Ok(member)
    }

    fn elements(&self) -> u64 {
        self.slab.elements.end - self.slab.elements.start
    }

    fn cells(&self) -> Result<View<u64>, Error> {
        let states = workspace_cells(&self.layout) - cells::STATES;
        self.workspace.cells_for(&self.stream, states)
    }

    fn run(&self, work: impl FnOnce(&CudaExecutor<'_>) -> Result<(), Error>) -> Result<(), Error> {
        self.gpu.run(&self.stream, work)
    }

    /// Asks for the extremes of the slab.
    fn enqueue_extremes<V: Value>(&self, input: View<u32>) -> Result<(), Error> {
        let cells = self.cells()?.first(cells::STATES);
        let elements = self.elements();
        self.run(|executor| enqueue_extremes_from::<V::Coded, _>(executor, elements, input, cells))
    }

    /// Asks for the stream of the slab.
    fn enqueue_compress<V: Value>(&self, input: View<u32>, bound: Bound) -> Result<(), Error> {
        let call = Compression {
            layout: &self.layout,
            bound,
            mapping: &ValueMapping::default(),
            field: input,
            stream: self.bytes.view(),
            cells: self.cells()?,
        };
        self.run(|executor| enqueue_compress::<V::Coded, _>(executor, &call))
    }

    /// Asks for the values of the slab's stream.
    fn enqueue_decompress<V: Value>(&self, output: View<u32>, verify: bool) -> Result<(), Error> {
        let call = Decompression {
            layout: &self.layout,
            wanted: &Wanted::of(&self.layout, None)?,
            verify,
            stream: self.bytes.view::<u32>().first(self.length / 4),
            output,
            cells: self.cells()?,
        };
        self.run(|executor| enqueue_decompress::<V::Coded, _>(executor, &call))
    }

    /// Asks for a workspace in which the extremes of a slab can be searched.
    fn prepare(&self) -> Result<(), Error> {
        let done = self.cells()?.from(cells::EXTREMES_DONE).words();
        self.run(|executor| put(executor, &UNREACHED, done))
    }

    /// Asks for the copy of numbers in the workspace to the host.
    fn enqueue_number(&mut self, first: u64, count: u64) -> Result<(), Error> {
        let address = self.cells()?.address() as u64 + 8 * first;
        let numbers = &mut self.numbers[..8 * count as usize];
        let raw = self.stream.cu_stream();
        self.gpu.run(&self.stream, |_| {
            // SAFETY: the cells are there, and the memory is page-locked and read after the stream has been waited for.
            unsafe { result::memcpy_dtoh_async(numbers, address, raw) }
                .map_err(failed("copy from the GPU"))
        })
    }
}

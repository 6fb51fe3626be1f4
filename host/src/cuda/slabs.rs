//! A field in the memory of several GPUs, of which each has a slab.

use crate::compress::Compressor;
use crate::cuda::{Gpu, Workspace, bytes_of};
use crate::decompress::{self, Decompressor};
use crate::error::Error;
use crate::gpu::blocks::fault_in;
use crate::gpu::driver::failed;
use crate::gpu::executor::Executor;
use crate::gpu::executor::cuda::{CudaExecutor, CudaMemory, words};
use crate::gpu::executor::pinned::PinnedMemory;
use crate::gpu::host_slices::Places;
use crate::gpu::resolve::Search;
use crate::gpu::tiles::slab::Others;
use crate::peers::{Group, Threads};
use crate::slabs::compress::{all_or_cause, assemble};
use crate::slabs::decompress::{in_field, split};
use crate::slabs::{self, Slab};
use crate::stream_layout::StreamLayout;
use crate::tolerance::Tolerance;
use crate::ways::Way;
use ::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, result};
use ferrosz_codec::Value;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header::HEADER_BYTES;
use ferrosz_codec::container::table::{ENTRY_BYTES, Entry};
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
    tolerance: Tolerance,
    members: Vec<Member>,
    /// The stream of the field, if a decompression needed chunks that other GPUs had made, or if it was loaded with such chunks.
    whole: Option<Vec<u8>>,
}

/// A GPU and its slab.
struct Member {
    gpu: Gpu,
    stream: Arc<CudaStream>,
    slab: Slab,
    /// The layout of the field's stream.
    layout: StreamLayout,
    /// The stream of the slab.
    bytes: CudaMemory,
    /// Its room, and its length once there is one.
    room: u64,
    length: u64,
    /// Bytes of its payload that the streams of all slabs have.
    shared: u64,
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
    /// The compressor has the extents of the field and a codec, and neither fill values nor another order of axes nor a bound
    /// that is relative to each value.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with settings that several GPUs [cannot have](crate::ways); [`Error::NoExtents`],
    /// [`Error::TooLarge`], [`Error::OutOfMemory`] and [`Error::Cuda`].
    pub fn new<V: Value>(
        gpus: &[(Gpu, Arc<CudaStream>)],
        compressor: &Compressor,
    ) -> Result<Self, Error> {
        compressor.check_way::<V>(Way::Slabs)?;
        let elements = compressor.elements_of_parts()?;
        let layout = compressor.stream_layout(elements, V::TYPE)?;
        compressor.max_compressed_len(elements, V::TYPE)?;
        let tolerance = compressor.tolerance(compressor.bound());
        let slabs = slabs::divide(&layout.layout, gpus.len()).into_iter();
        let members = slabs
            .zip(gpus)
            .map(|(slab, (gpu, stream))| Member::new(gpu, stream, layout, slab));
        Ok(Self {
            layout,
            tolerance,
            members: members.collect::<Result<_, _>>()?,
            whole: None,
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

    /// Elements of the next slab that a GPU has in its memory behind those of its own, for codecs that interpolate. A compression
    /// reads the first of them, which have one index along the divided axis; a decompression may overwrite all.
    pub fn elements_behind(&self, number: usize) -> u64 {
        let member = self.members.get(number);
        member.map_or(0, |member| member.slab.behind)
    }

    /// The length of the stream that the parts make, in bytes.
    pub fn stream_bytes(&self) -> u64 {
        if let Some(whole) = &self.whole {
            return whole.len() as u64;
        }
        let heads = self
            .layout
            .layout
            .header(self.layout.dtype(), self.tolerance.bound, 0);
        let payloads = (0..).zip(&self.members).map(|(number, member)| {
            let before = member.slab.payload_start() as u64;
            let shared = if number == 0 { 0 } else { member.shared };
            member.length.saturating_sub(before + shared)
        });
        heads.payload_start() + payloads.sum::<u64>()
    }

    /// Compresses a field. Each GPU has its slab in its memory, aligned to 16 bytes, followed by as many elements of the next
    /// slab as [`Slabs::elements_behind`] says. Returns when all are done. The parts of the stream stay in the GPUs' memory.
    ///
    /// With a codec of blocks no GPU waits for another, except for the extremes that a relative bound needs. With a codec of tiles
    /// they tell each other the coarse field, scores and statistics, through the host.
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
        let tolerance = match self.tolerance.needs_extremes() {
            true => self.absolute::<V>(&inputs)?,
            false => self.tolerance,
        };
        self.whole = None;
        let tell_each_other = self.layout.layout.tiles().is_some() && self.members.len() > 1;
        let mut asked = match tell_each_other {
            false => self.ask(&inputs, |member, input| {
                member.enqueue_compress::<V>(*input, tolerance, Others::default())
            }),
            true => {
                let members = &self.members;
                // A view stays in its thread.
                let inputs: Vec<[u64; 2]> = (inputs.iter())
                    .map(|input| [input.address() as u64, input.len()])
                    .collect();
                let asked = Threads::run(members.len(), std::io::empty(), |group| {
                    let [address, words] = inputs[group.rank()];
                    // SAFETY: as above, it is that of the member.
                    let input = unsafe { View::at(address, words) };
                    let others = Others(Some(group));
                    members[group.rank()].enqueue_compress::<V>(input, tolerance, others)
                });
                all_or_cause(asked).map(drop)
            }
        };
        for member in &mut self.members {
            asked = asked.and_then(|()| member.enqueue_lengths());
        }
        let split = self.layout.layout.split();
        let lengths = self.take_numbers(asked)?;
        for (member, [length, first]) in self.members.iter_mut().zip(lengths) {
            member.length = length.min(member.room);
            member.shared = match member.slab.shared {
                0 => 0,
                _ => Entry::from_words([first as u32, (first >> 32) as u32, 0, 0], split).start,
            };
        }
        Ok(())
    }

    /// Asks all GPUs for work, each with its item.
    fn ask<I>(
        &self,
        items: &[I],
        work: impl Fn(&Member, &I) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut members = self.members.iter().zip(items);
        members.try_for_each(|(member, item)| work(member, item))
    }

    /// The tolerance for the whole field.
    fn absolute<V: Value>(&mut self, inputs: &[View<u32>]) -> Result<Tolerance, Error> {
        let mut asked = self.ask(inputs, |member, input| member.enqueue_extremes::<V>(*input));
        for member in &mut self.members {
            asked = asked.and_then(|()| member.enqueue_number(cells::SEEN_EXTREMES, 2));
        }
        let found = self.take_numbers(asked)?;
        let largest = |i: usize| found.iter().map(|cells| cells[i]).max().unwrap_or(0);
        let extremes = Extremes::<V::Coded>::from_cells([largest(0), largest(1)]);
        self.tolerance.absolute(&extremes)
    }

    /// The stream of the field, in the host's memory.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if none was compressed or loaded; [`Error::OutOfMemory`]; [`Error::Cuda`].
    pub fn to_host(&self) -> Result<Vec<u8>, Error> {
        if let Some(whole) = &self.whole {
            return Ok(whole.clone());
        }
        let streams = self.members.iter().map(|member| {
            let mut bytes = crate::memory::try_zeroed(member.length)?;
            let view = member.bytes.view::<u32>();
            member.run(|executor| executor.download(view, 0, &mut bytes))?;
            Ok(bytes)
        });
        let streams = streams.collect::<Result<Vec<Vec<u8>>, Error>>()?;
        let slabs: Vec<Slab> = self
            .members
            .iter()
            .map(|member| member.slab.clone())
            .collect();
        let mut stream = Vec::new();
        assemble(
            &slabs,
            &self.layout,
            self.tolerance.bound,
            &streams,
            &mut stream,
        )?;
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
            let [shared, of_slab] = own.payload;
            let parts = [&own.head[..], shared, of_slab];
            let needed = parts.iter().map(|part| part.len() as u64).sum();
            if needed > member.room {
                return Err(Error::BadParts("a slab is longer than any".to_owned()));
            }
            let mut view = member.bytes.view::<u32>();
            member.run(|executor| {
                parts.iter().try_for_each(|part| {
                    executor.upload(part, view)?;
                    view = view.from(part.len() as u64 / 4);
                    Ok(())
                })
            })?;
            member.length = needed;
            member.shared = shared.len() as u64;
        }
        if slabs.iter().any(|slab| slab.chunks_behind > 0) {
            self.whole = Some(stream.to_vec());
        }
        Ok(())
    }

    /// Decompresses the parts that were compressed or loaded; each GPU writes its slab to its memory, aligned to 16 bytes, and
    /// may write to the elements behind it. Returns when all are done.
    ///
    /// A codec that interpolates needs the first chunks of the next slab, too. If the parts were compressed, not loaded, their
    /// stream is first copied to the host and back.
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
        let has_others = |member: &Member| member.slab.chunks_behind > 0;
        if self.whole.is_none() && self.members.iter().any(has_others) {
            let stream = self.to_host()?;
            self.load::<V>(&stream)?;
        }
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
        let verify = decompressor.verifies_checksums();
        let mut asked = self.ask(&outputs, |member, output| {
            member.enqueue_decompress::<V>(*output, verify)
        });
        for member in &mut self.members {
            asked = asked.and_then(|()| member.enqueue_number(cells::FAULT, 1));
        }
        let faults = self.take_numbers(asked)?;
        for (member, [fault, _]) in self.members.iter().zip(faults) {
            fault_in(fault).map_err(|error| in_field(error.into(), &member.slab))?;
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
            let elements = member.slab.count() + member.slab.behind;
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
        let most = slab.max_stream_bytes(&layout).ok_or(Error::TooLarge {
            elements: slab.count(),
            dtype: layout.value_type,
        })?;
        let states = slab.workspace_cells(&layout) - cells::STATES;
        Ok(Self {
            bytes: CudaMemory::new(stream, most)?,
            room: most,
            length: 0,
            shared: 0,
            workspace: Workspace::with_states(stream, states)?,
            numbers: PinnedMemory::new(gpu.context(), 8 * NUMBERS)?,
            gpu: gpu.clone(),
            stream: stream.clone(),
            layout,
            slab,
        })
    }

    fn cells(&self) -> Result<View<u64>, Error> {
        let states = self.slab.workspace_cells(&self.layout) - cells::STATES;
        self.workspace.cells_for(&self.stream, states)
    }

    fn run(&self, work: impl FnOnce(&CudaExecutor<'_>) -> Result<(), Error>) -> Result<(), Error> {
        self.gpu.run(&self.stream, work)
    }

    /// Asks for the extremes of the slab.
    fn enqueue_extremes<V: Value>(&self, input: View<u32>) -> Result<(), Error> {
        let cells = self.cells()?.first(cells::STATES);
        let elements = self.slab.count();
        let search = Search::default();
        self.run(|executor| search.enqueue::<V::Coded, _>(executor, elements, input, cells))
    }

    /// Asks for the stream of the slab.
    fn enqueue_compress<V: Value>(
        &self,
        input: View<u32>,
        tolerance: Tolerance,
        others: Others<'_>,
    ) -> Result<(), Error> {
        let places = Places {
            field: input,
            stream: self.bytes.view(),
            cells: self.cells()?,
        };
        self.run(|executor| {
            self.slab.enqueue_compress::<V::Coded, _>(
                executor,
                &self.layout,
                tolerance,
                &places,
                others,
            )
        })
    }

    /// Asks for the values of the slab's stream.
    fn enqueue_decompress<V: Value>(&self, output: View<u32>, verify: bool) -> Result<(), Error> {
        let places = Places {
            field: output,
            stream: self.bytes.view::<u32>().first(self.length / 4),
            cells: self.cells()?,
        };
        self.run(|executor| {
            self.slab
                .enqueue_decompress::<V::Coded, _>(executor, &self.layout, verify, &places)
        })
    }

    /// Asks for the copy of numbers in the workspace to the host.
    fn enqueue_number(&mut self, first: u64, count: u64) -> Result<(), Error> {
        let address = self.cells()?.address() as u64 + 8 * first;
        self.enqueue_copy(address, 0..count)
    }

    /// Asks for the length of the stream, and for the beginning of the first entry that other slabs do not have.
    fn enqueue_lengths(&mut self) -> Result<(), Error> {
        self.enqueue_number(cells::STREAM_BYTES, 1)?;
        let first = HEADER_BYTES as u64 + ENTRY_BYTES as u64 * self.slab.shared;
        let address = self.bytes.view::<u32>().address() as u64 + first;
        self.enqueue_copy(address, 1..2)
    }

    /// Asks for the copy of memory of the GPU to some of the numbers.
    fn enqueue_copy(&mut self, address: u64, to: Range<u64>) -> Result<(), Error> {
        let numbers = &mut self.numbers[8 * to.start as usize..8 * to.end as usize];
        let raw = self.stream.cu_stream();
        self.gpu.run(&self.stream, |_| {
            // SAFETY: the bytes are there, and the memory is page-locked and read after the stream has been waited for.
            unsafe { result::memcpy_dtoh_async(numbers, address, raw) }
                .map_err(failed("copy from the GPU"))
        })
    }
}

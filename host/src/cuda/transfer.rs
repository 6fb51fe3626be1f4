//! Fields that travel between the memory of a GPU and that of the host, or of another GPU, compressed: a window is
//! compressed by the kernels while earlier ones are copied, in a stream of their own, to or from page-locked memory.

use crate::compress::Compressor;
use crate::cuda::{AtAddress, Gpu, Workspace, length_in};
use crate::decompress::Decompressor;
use crate::device::Device;
use crate::error::Error;
use crate::gpu::blocks::fault_in;
use crate::gpu::driver::failed;
use crate::gpu::executor::cuda::{ALIGNMENT, CudaMemory};
use crate::gpu::executor::pinned::PinnedMemory;
use crate::gpu::mapping::workspace::workspace_cells;
use crate::ways::Way;
use crate::windows::{Window, Windows};
use ::cudarc::driver::{CudaEvent, CudaStream, DevicePtr, DevicePtrMut, result};
use ferrosz_codec::container::header::Header;
use ferrosz_codec::{FormatError, Value, ValueType};
use ferrosz_gpu_kernels::pipeline::cells;
use std::cell::RefCell;
use std::sync::Arc;

/// Called with a window and its stream.
type Arrived<'a> = &'a mut dyn FnMut(&Window, &[u8]) -> Result<(), Error>;

/// Windows that are between the kernels and the end of their copy at the same time.
const SLOTS: usize = 3;

/// Bytes of page-locked memory that are allocated at once.
const SEGMENT: u64 = 1 << 26;

/// A field in page-locked memory, compressed: the streams of its windows, each a ferrosz stream of its own.
///
/// The memory is kept by [`Packed::clear`], since it takes the driver long to lock pages.
#[derive(Default)]
pub struct Packed {
    segments: Vec<PinnedMemory>,
    /// Segment, start and length of each stream.
    places: Vec<(usize, usize, usize)>,
    /// The segment that is being filled, and its free start.
    free: (usize, usize),
}

impl Packed {
    /// No streams.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of streams.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no streams.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The bytes of all streams.
    pub fn bytes(&self) -> u64 {
        self.places
            .iter()
            .map(|(_, _, length)| *length as u64)
            .sum()
    }

    /// The stream of a window.
    pub fn stream(&self, number: usize) -> Option<&[u8]> {
        let (segment, start, length) = *self.places.get(number)?;
        self.segments.get(segment)?.get(start..start + length)
    }

    /// Removes the streams, and keeps their memory.
    pub fn clear(&mut self) {
        self.places.clear();
        self.free = (0, 0);
    }

    /// Memory behind the streams, 16-byte aligned.
    fn place(&mut self, kernels: &CudaStream, length: usize) -> Result<&mut [u8], Error> {
        let has_room = |memory: &PinnedMemory, start: usize| memory.len() - start >= length;
        let (mut segment, mut start) = self.free;
        while (self.segments.get(segment)).is_some_and(|memory| !has_room(memory, start)) {
            (segment, start) = (segment + 1, 0);
        }
        if segment == self.segments.len() {
            let bytes = SEGMENT.max(length as u64);
            self.segments
                .push(PinnedMemory::new(kernels.context(), bytes)?);
        }
        let end = start + length;
        self.places.push((segment, start, length));
        self.free = (
            segment,
            end.next_multiple_of(ALIGNMENT as usize)
                .min(self.segments[segment].len()),
        );
        Ok(&mut self.segments[segment][start..end])
    }
}

/// Moves fields of the same extents, compressed, between device memory and page-locked memory of the host.
///
/// ```no_run
/// # use ferrosz_host as ferrosz;
/// use ferrosz::cuda::{Gpu, Packed, Transfer};
/// use ferrosz::{Bound, Codec, Compressor};
/// use ferrosz::windows::Windows;
///
/// let gpu = Gpu::new(0)?;
/// let stream = gpu.context().default_stream();
/// # let to_error = |_| ferrosz::Error::OutOfMemory { bytes: 0 };
/// let field = stream.alloc_zeros::<f32>(512 << 20).map_err(to_error)?;
/// let mut back = stream.alloc_zeros::<f32>(512 << 20).map_err(to_error)?;
///
/// let windows = Windows::new(&[512, 1024, 1024], 16 << 20)?;
/// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(1e-3)?);
/// let mut transfer = Transfer::new::<f32>(&gpu, &compressor, &windows)?;
/// let mut packed = Packed::new();
/// transfer.pack(&field, &mut packed)?; // to the host
/// transfer.unpack(&packed, &mut back)?; // and back
/// # Ok::<(), ferrosz::Error>(())
/// ```
pub struct Transfer {
    gpu: Gpu,
    compressor: Compressor,
    windows: Windows,
    value_type: ValueType,
    /// Where kernels run, one after the other.
    kernels: Arc<CudaStream>,
    /// Where streams are copied.
    copies: Arc<CudaStream>,
    slots: Vec<Slot>,
    /// Page-locked memory for streams that do not stay in it.
    ring: Vec<PinnedMemory>,
    most_bytes: u64,
}

/// The device memory of a window that is on its way.
struct Slot {
    stream: CudaMemory,
    workspace: Workspace,
    /// A copy of the window's values where those of the field are not aligned.
    values: Option<CudaMemory>,
    /// The length of the stream, in page-locked memory.
    length: PinnedMemory,
    /// The kernels have ended.
    computed: CudaEvent,
    /// The copy has ended.
    copied: CudaEvent,
}

impl Transfer {
    /// Device memory and streams for the windows of a field of values `V`. The compressor has a codec, and a bound that is not
    /// relative to a field: [`Compressor::choose`] and [`Gpu::choose`] choose one, [`Compressor::absolute_for`] and
    /// [`Gpu::absolute_for`] resolve the other.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with a preset, [`Error::RelativeBound`], [`Error::OutOfMemory`], [`Error::TooLarge`] and [`Error::Cuda`].
    pub fn new<V: Value>(
        gpu: &Gpu,
        compressor: &Compressor,
        windows: &Windows,
    ) -> Result<Self, Error> {
        compressor.check_way::<V>(Way::Transfer)?;
        if compressor.bound().needs_extremes() {
            return Err(Error::RelativeBound);
        }
        let context = gpu.context();
        let stream = || context.new_stream().map_err(failed("make a stream"));
        let (kernels, copies) = (stream()?, stream()?);
        let (mut most_bytes, mut states) = (0, 0);
        for window in windows.iter() {
            let own = compressor.for_window(&window)?;
            let layout = own.stream_layout(window.count(), V::TYPE)?;
            most_bytes = most_bytes.max(own.max_compressed_len(window.count(), V::TYPE)?);
            states = states.max(workspace_cells(&layout) - cells::STATES);
        }
        let slot = |_| {
            let event = || context.new_event(None).map_err(failed("make an event"));
            Ok(Slot {
                stream: CudaMemory::new(&kernels, most_bytes)?,
                workspace: Workspace::with_states(&kernels, states)?,
                values: None,
                length: PinnedMemory::new(context, 8)?,
                computed: event()?,
                copied: event()?,
            })
        };
        let slots = (0..SLOTS).map(slot).collect::<Result<_, Error>>()?;
        Ok(Self {
            gpu: gpu.clone(),
            compressor: *compressor,
            windows: *windows,
            value_type: V::TYPE,
            kernels,
            copies,
            slots,
            ring: Vec::new(),
            most_bytes,
        })
    }

    /// Compresses a field in device memory, and copies the streams of its windows behind those that are in `packed`.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`], [`Error::OutOfMemory`], [`Error::ConvertedOnDevice`], [`Error::Misaligned`] and
    /// [`Error::Cuda`].
    pub fn pack<V: Value>(
        &mut self,
        field: &impl DevicePtr<V>,
        packed: &mut Packed,
    ) -> Result<(), Error> {
        let kernels = self.kernels.clone();
        let mut place = |_: &Window, length: usize| {
            let place = packed.place(&kernels, length)?;
            Ok(place.as_mut_ptr())
        };
        self.send(field, &mut place, &mut |_: &Window, _: &[u8]| Ok(()))
    }

    /// Compresses a field in device memory, and gives the streams of its windows to `arrived` in their order, each when it has
    /// arrived in page-locked memory, and while later ones are compressed and copied.
    ///
    /// # Errors
    ///
    /// As [`Transfer::pack`]; those of `arrived`.
    pub fn pack_each<V: Value>(
        &mut self,
        field: &impl DevicePtr<V>,
        mut arrived: impl FnMut(&Window, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut ring = self.take_ring()?;
        let mut place =
            |window: &Window, _: usize| Ok(ring[window.number as usize % SLOTS].as_mut_ptr());
        let sent = self.send(field, &mut place, &mut arrived);
        self.ring = ring;
        sent
    }

    /// Decompresses the streams of `packed`, which are those of the windows, to device memory.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if a stream is damaged or not that of its window; [`Error::ExtentsMismatch`],
    /// [`Error::ConvertedOnDevice`], [`Error::Misaligned`] and [`Error::Cuda`].
    pub fn unpack<V: Value>(
        &mut self,
        packed: &Packed,
        field: &mut impl DevicePtrMut<V>,
    ) -> Result<(), Error> {
        self.receive(field, |transfer, address, faults| {
            let windows = transfer.windows;
            for window in windows.iter() {
                let stream = packed.stream(window.number as usize).unwrap_or_default();
                // SAFETY: `receive` waits for the copies before it returns, and `packed` is borrowed as long.
                unsafe { transfer.enqueue_window::<V>(&window, stream, address, faults)? };
            }
            Ok(())
        })
    }

    /// Decompresses the streams of the windows to device memory. `fetch` gets page-locked memory, puts the stream of the
    /// window there and returns its length; it is called while earlier ones are copied and decompressed.
    ///
    /// # Errors
    ///
    /// As [`Transfer::unpack`]; those of `fetch`.
    pub fn unpack_each<V: Value>(
        &mut self,
        field: &mut impl DevicePtrMut<V>,
        mut fetch: impl FnMut(&Window, &mut [u8]) -> Result<usize, Error>,
    ) -> Result<(), Error> {
        let mut ring = self.take_ring()?;
        let received = self.receive(field, |transfer, address, faults| {
            let windows = transfer.windows;
            for window in windows.iter() {
                let number = window.number as usize % SLOTS;
                // The memory is free when the copy of an earlier window has ended.
                let waited = transfer.slots[number].copied.synchronize();
                waited.map_err(failed("copy to the GPU"))?;
                let memory = &mut ring[number];
                let length = fetch(&window, memory)?.min(memory.len());
                // SAFETY: the memory is written again after the copy, and `receive` waits for it before it returns.
                unsafe {
                    transfer.enqueue_window::<V>(&window, &memory[..length], address, faults)?;
                }
            }
            Ok(())
        });
        self.ring = ring;
        received
    }

    /// Moves a field to the memory of another GPU, or to other memory of the same one: the streams of its windows travel
    /// through page-locked memory, and are decompressed there. Both have the same windows and the same compressor.
    ///
    /// # Errors
    ///
    /// As [`Transfer::pack`] and [`Transfer::unpack`].
    pub fn move_to<V: Value>(
        &mut self,
        field: &impl DevicePtr<V>,
        other: &mut Self,
        output: &mut impl DevicePtrMut<V>,
    ) -> Result<(), Error> {
        let mut ring = self.take_ring()?;
        let addresses: Vec<*mut u8> = ring.iter_mut().map(|memory| memory.as_mut_ptr()).collect();
        let moved = other.receive(output, |other, address, faults| {
            let other = RefCell::new(other);
            let mut place = |window: &Window, _: usize| {
                let number = window.number as usize % SLOTS;
                // The memory is free when the other GPU has copied an earlier window.
                let waited = other.borrow().slots[number].copied.synchronize();
                waited.map_err(failed("copy to the GPU"))?;
                Ok(addresses[number])
            };
            let mut arrived = |window: &Window, stream: &[u8]| {
                // SAFETY: `place` waits before the memory is written again, and `receive` before it returns.
                unsafe {
                    other
                        .borrow_mut()
                        .enqueue_window::<V>(window, stream, address, faults)
                }
            };
            self.send(field, &mut place, &mut arrived)
        });
        self.ring = ring;
        moved
    }

    /// Moves a field from device memory to the host's: windows are decompressed on the CPU while others are compressed and
    /// copied.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooSmall`], and as [`Transfer::pack`].
    pub fn download<V: Value>(
        &mut self,
        field: &impl DevicePtr<V>,
        values: &mut [V],
    ) -> Result<(), Error> {
        let (needed, found) = (field.len() as u64, values.len() as u64);
        if found < needed {
            return Err(Error::OutputTooSmall {
                needed,
                found,
                unit: "elements",
            });
        }
        let decompressor = Decompressor::new().device(Device::Cpu);
        self.pack_each(field, |window, stream| {
            let (start, end) = (window.elements.start as usize, window.elements.end as usize);
            decompressor.decompress_into(stream, &mut values[start..end])?;
            Ok(())
        })
    }

    /// Moves a field from the host's memory to the device's: windows are compressed on the CPU while others are copied and
    /// decompressed.
    ///
    /// # Errors
    ///
    /// As [`Compressor::compress`] and [`Transfer::unpack`].
    pub fn upload<V: Value>(
        &mut self,
        values: &[V],
        field: &mut impl DevicePtrMut<V>,
    ) -> Result<(), Error> {
        let compressor = self.compressor.device(Device::Cpu);
        self.unpack_each(field, |window, memory| {
            let own = compressor.for_window(window)?;
            own.compress_into(window.of(values)?, memory)
        })
    }

    /// Compresses the windows one after the other, and copies the stream of each to the memory that `place` gives, which has
    /// room for it; `arrived` gets it when the copy has ended. For each window `arrived` is called before `place` of the third
    /// window after it.
    fn send<V: Value>(
        &mut self,
        field: &impl DevicePtr<V>,
        place: &mut dyn FnMut(&Window, usize) -> Result<*mut u8, Error>,
        arrived: Arrived<'_>,
    ) -> Result<(), Error> {
        self.check::<V>(field.len())?;
        let kernels = self.kernels.clone();
        let (address, _use) = field.device_ptr(&kernels);
        let sent = self.send_windows::<V>(address, place, arrived);
        // Also after an error: the copies go to memory of the caller.
        self.wait().and(sent)
    }

    fn send_windows<V: Value>(
        &mut self,
        address: u64,
        place: &mut dyn FnMut(&Window, usize) -> Result<*mut u8, Error>,
        arrived: Arrived<'_>,
    ) -> Result<(), Error> {
        let windows = self.windows;
        let before = |number: u64, steps: u64| {
            let number = number.checked_sub(steps)?;
            windows.get(number)
        };
        let mut on_the_way: Vec<(*mut u8, usize)> = vec![(std::ptr::null_mut(), 0); SLOTS];
        for number in 0..windows.len() + 2 {
            // 1. The kernels of a window are asked for while those of the window before run.
            if let Some(window) = windows.get(number) {
                self.enqueue_compression::<V>(&window, address)?;
            }
            // 2. The length of the stream before is known when its kernels have ended; then its copy is asked for.
            if let Some(window) = before(number, 1) {
                let slot = &self.slots[window.number as usize % SLOTS];
                let waited = slot.computed.synchronize();
                waited.map_err(failed("compress a window"))?;
                let length = slot
                    .length
                    .first_chunk()
                    .copied()
                    .map_or(0, u64::from_le_bytes);
                let length = length_in(length)?.min(self.most_bytes) as usize;
                let to = place(&window, length)?;
                // SAFETY: `place` gives so many bytes of memory that is not used otherwise, and `send` waits for the copy.
                let memory = unsafe { std::slice::from_raw_parts_mut(to, length) };
                let from = slot.stream.view::<u8>().address() as u64;
                // SAFETY: as above; the stream is in the slot, and its length is at most the slot's.
                unsafe { result::memcpy_dtoh_async(memory, from, self.copies.cu_stream()) }
                    .and_then(|()| slot.copied.record(&self.copies))
                    .map_err(failed("copy from the GPU"))?;
                on_the_way[window.number as usize % SLOTS] = (to, length);
            }
            // 3. The stream before that has arrived by now, or soon.
            if let Some(window) = before(number, 2) {
                let slot = &self.slots[window.number as usize % SLOTS];
                let waited = slot.copied.synchronize();
                waited.map_err(failed("copy from the GPU"))?;
                let (to, length) = on_the_way[window.number as usize % SLOTS];
                // SAFETY: the copy has ended, and the memory is as above.
                let stream = unsafe { std::slice::from_raw_parts(to, length) };
                arrived(&window, stream)?;
            }
        }
        Ok(())
    }

    /// Asks for the compression of a window, and for the length of its stream.
    fn enqueue_compression<V: Value>(&mut self, window: &Window, field: u64) -> Result<(), Error> {
        let own = self.compressor.for_window(window)?;
        let bytes = window.count() * size_of::<V>() as u64;
        let mut from = field + window.elements.start * size_of::<V>() as u64;
        let kernels = &self.kernels;
        let slot = &mut self.slots[window.number as usize % SLOTS];
        if !from.is_multiple_of(ALIGNMENT) {
            let values = aligned(kernels, &mut slot.values, bytes)?;
            // SAFETY: the window is within the field, and the memory has as many bytes.
            unsafe { result::memcpy_dtod_async(values, from, bytes as usize, kernels.cu_stream()) }
                .map_err(failed("align a window"))?;
            from = values;
        }
        let to = slot.stream.view::<u8>().address() as u64;
        // SAFETY: the field is valid until the work is done: `send` waits for it.
        let values = unsafe { AtAddress::<V>::new(kernels, from, window.count()) };
        // SAFETY: so is the slot.
        let mut room = unsafe { AtAddress::<u8>::new(kernels, to, self.most_bytes) };
        let workspace = &mut slot.workspace;
        (self.gpu).compress(kernels, &own, &values, &mut room, workspace)?;
        let length = slot.workspace.stream_bytes_address();
        // SAFETY: both have eight bytes; the host reads them after `computed`.
        unsafe { result::memcpy_dtoh_async(&mut slot.length[..8], length, kernels.cu_stream()) }
            .and_then(|()| slot.computed.record(kernels))
            .map_err(failed("compress a window"))
    }

    /// Asks, by `enqueue`, for the decompression of all windows to a field, and waits for it. `enqueue` gets the address of
    /// the field, and memory for the faults of the windows.
    fn receive<V: Value>(
        &mut self,
        field: &mut impl DevicePtrMut<V>,
        enqueue: impl FnOnce(&mut Self, u64, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.check::<V>(field.len())?;
        let kernels = self.kernels.clone();
        let faults = CudaMemory::new(&kernels, 8 * self.windows.len())?;
        let (address, _use) = field.device_ptr_mut(&kernels);
        let asked = enqueue(self, address, faults.view::<u8>().address() as u64);
        // Also after an error: the copies come from memory of the caller.
        self.wait().and(asked)?;
        let mut found = vec![0; 8 * self.windows.len() as usize];
        faults.read(&kernels, 0, &mut found)?;
        let (found, _) = found.as_chunks::<8>();
        for fault in found {
            fault_in(u64::from_le_bytes(*fault))?;
        }
        Ok(())
    }

    /// Asks for the copy of a stream to the device, and for its decompression. The fault will be at the window's place among
    /// `faults`.
    ///
    /// # Safety
    ///
    /// The stream must stay as it is until [`Slot::copied`] of the window's slot. `field` and `faults` must be device memory
    /// for all windows until the work is done.
    unsafe fn enqueue_window<V: Value>(
        &mut self,
        window: &Window,
        stream: &[u8],
        field: u64,
        faults: u64,
    ) -> Result<(), Error> {
        let own = self.compressor.for_window(window)?;
        let layout = own.stream_layout(window.count(), V::TYPE)?;
        // The kernels compare the rest of the header with the layout.
        let header = Header::read(stream)?;
        if header.stream_bytes() > stream.len().min(self.most_bytes as usize) as u64 {
            return Err(FormatError::InvalidHeader("the stream is cut off").into());
        }
        let stream = &stream[..header.stream_bytes() as usize];
        let (kernels, copies) = (&self.kernels, &self.copies);
        let slot = &mut self.slots[window.number as usize % SLOTS];
        let room = slot.stream.view::<u8>().address() as u64;
        // SAFETY: the slot has room; the copy waits for the kernels that read an earlier stream there.
        let copy = || unsafe { result::memcpy_htod_async(room, stream, copies.cu_stream()) };
        copies
            .wait(&slot.computed)
            .and_then(|()| copy())
            .and_then(|()| slot.copied.record(copies))
            .and_then(|()| kernels.wait(&slot.copied))
            .map_err(failed("copy to the GPU"))?;
        let bytes = window.count() * size_of::<V>() as u64;
        let to = field + window.elements.start * size_of::<V>() as u64;
        let values = match to.is_multiple_of(ALIGNMENT) {
            true => to,
            false => aligned(kernels, &mut slot.values, bytes)?,
        };
        // SAFETY: the slot is this object's.
        let input = unsafe { AtAddress::<u8>::new(kernels, room, stream.len() as u64) };
        // SAFETY: as the caller promises of the field.
        let mut output = unsafe { AtAddress::<V>::new(kernels, values, window.count()) };
        let (decompressor, workspace) = (Decompressor::new(), &mut slot.workspace);
        self.gpu.decompress(
            kernels,
            &decompressor,
            layout,
            &input,
            &mut output,
            workspace,
        )?;
        let fault = slot.workspace.fault_address();
        let place = faults + 8 * window.number;
        let stream = kernels.cu_stream();
        // SAFETY: there is a place for each window, and the window is within the field.
        unsafe {
            if values != to {
                result::memcpy_dtod_async(to, values, bytes as usize, stream)
                    .map_err(failed("place a window"))?;
            }
            result::memcpy_dtod_async(place, fault, 8, stream)
        }
        .and_then(|()| slot.computed.record(kernels))
        .map_err(failed("decompress a window"))
    }

    /// Checks that a field is one of the windows.
    fn check<V: Value>(&self, elements: usize) -> Result<(), Error> {
        let own: u64 = self.windows.extents().iter().product();
        if own != elements as u64 || V::TYPE != self.value_type {
            return Err(Error::ExtentsMismatch {
                extents: self.windows.extents().to_vec(),
                product: own,
                elements: elements as u64,
            });
        }
        Ok(())
    }

    /// The ring, which the caller gives back.
    fn take_ring(&mut self) -> Result<Vec<PinnedMemory>, Error> {
        while self.ring.len() < SLOTS {
            let memory = PinnedMemory::new(self.gpu.context(), self.most_bytes)?;
            self.ring.push(memory);
        }
        Ok(std::mem::take(&mut self.ring))
    }

    /// Waits for all work.
    fn wait(&self) -> Result<(), Error> {
        (self.kernels.synchronize())
            .and_then(|()| self.copies.synchronize())
            .map_err(failed("transfer a field"))
    }
}

/// Aligned memory of a slot.
fn aligned(
    kernels: &Arc<CudaStream>,
    memory: &mut Option<CudaMemory>,
    bytes: u64,
) -> Result<u64, Error> {
    let found = match memory.take() {
        Some(found) if found.view::<u8>().len() >= bytes => found,
        _ => CudaMemory::new(kernels, bytes)?,
    };
    let address = found.view::<u8>().address() as u64;
    *memory = Some(found);
    Ok(address)
}

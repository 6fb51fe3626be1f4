//! Decompression to host slices.

use crate::auto_device::{Direction, Workload};
use crate::backend::{Backend, Gpu};
use crate::cpu::mapping::conversion;
use crate::cpu::{self, Progress, Version};
use crate::device::Device;
use crate::error::Error;
use crate::gpu::host_slices::Target;
use crate::gpu::mapping::conversion::converts;
use crate::gpu::mapping::decompress::Wanted;
use crate::memory::try_zeroed;
use crate::number::{Number, parts_of};
use crate::part::{Part, Piece};
use crate::progress::SILENT;
use crate::reading::Reading;
use crate::slabs;
use crate::stream_layout::StreamLayout;
use crate::stream_ref::StreamRef;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::{Codec, Element, FormatError, Value, with_value};
use std::io::Read;
use std::ops::Range;

/// [`Decompressor::run`] of a type of values.
type DecompressValues<V> =
    fn(&Decompressor, Stream<'_>, Wish<'_>, &mut [V], Progress<'_>) -> Result<(), Error>;

/// The bytes of a stream, and the stream.
type Stream<'a> = (&'a [u8], &'a StreamRef<'a>);

/// What is decoded, and the part of the field that it is; none if it is all of it.
type Wish<'a> = (&'a Reading, Option<&'a Part>);

/// Decompresses streams.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Bound, Codec, Compressor, Decompressor};
///
/// let field: Vec<f64> = (0..50_000).map(|i| f64::from(i).sqrt()).collect();
/// let stream = Compressor::new(Codec::OUTLIER, Bound::abs(0.125)?).compress(&field)?;
/// // Only the chunks that hold these elements are read.
/// let part: Vec<f64> = Decompressor::new().decompress_range(&stream, 40_000..40_010)?;
/// assert!((part[3] - field[40_003]).abs() <= 0.125);
/// # Ok::<(), ferrosz::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decompressor {
    pub(crate) device: Device,
    verify: bool,
}

impl Default for Decompressor {
    fn default() -> Self {
        Self::new()
    }
}

impl Decompressor {
    /// Decompression on [`Device::Auto`], with checksums verified.
    pub fn new() -> Self {
        Self {
            device: Device::default(),
            verify: true,
        }
    }

    /// Sets the device to run on.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Sets whether the chunks' checksums are checked. Without the check, damage may go unnoticed; it can only cause
    /// wrong values or an error.
    #[must_use]
    pub fn verify_checksums(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Whether checksums are checked.
    pub fn verifies_checksums(&self) -> bool {
        self.verify
    }

    /// The device of a batch in host memory, which is never [`Device::Auto`].
    pub(crate) fn batch_device(&self) -> Device {
        self.device.or_cpu()
    }

    /// Decompresses a whole stream. One of complex numbers is decompressed to [`Complex`](crate::Complex) numbers, or to their
    /// parts: the real and the imaginary part of the first number, then those of the next.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the stream is damaged, cut off, or not of `N`; [`Error::NotComplex`]; [`Error::NoDevice`] and
    /// [`Error::Cuda`] from a GPU.
    pub fn decompress<N: Number>(&self, stream: &[u8]) -> Result<Vec<N>, Error> {
        self.values_of(stream, None, SILENT)
    }

    /// The numbers of a part, or of the whole field.
    pub(crate) fn values_of<N: Number>(
        &self,
        stream: &[u8],
        part: Option<&Part>,
        progress: Progress<'_>,
    ) -> Result<Vec<N>, Error> {
        let (read, reading, part) = reading::<N>(stream, part)?;
        let mut numbers = try_zeroed::<N>(reading.elements() / parts_of::<N>())?;
        let values: &mut [N::Part] = bytemuck::cast_slice_mut(&mut numbers);
        self.run((stream, &read), (&reading, part.as_ref()), values, progress)?;
        Ok(numbers)
    }

    /// Reads a stream to its end and decompresses it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] from the reader, and as [`Decompressor::decompress`].
    pub fn decompress_from<N: Number>(&self, mut reader: impl Read) -> Result<Vec<N>, Error> {
        let mut stream = Vec::new();
        let read = reader.read_to_end(&mut stream);
        read.map_err(Error::io("read the stream"))?;
        self.decompress(&stream)
    }

    /// The device that decompresses this many elements of a stream to host memory: the device that was set, or the
    /// choice of [`Device::Auto`], which is started if it is a GPU. Parts whose elements are apart in the coded field, streams of
    /// coefficients of wavelets, and levels in a box, are decoded on the CPU, whatever it is.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the stream's header is damaged; [`Error::NoDevice`] and [`Error::OldGpu`].
    pub fn device_for(&self, stream: &[u8], elements: usize) -> Result<Device, Error> {
        let header = Header::read(stream)?;
        let is_whole = elements as u64 == header.elements() && header.record_bytes == 0;
        let layout = StreamLayout {
            value_type: header.value_type,
            ..header.layout().into()
        };
        if is_whole && slabs::divided(self.device, &layout, header.bound)?.is_some() {
            return Ok(self.device);
        }
        let workload = workload(header.codec, elements, header.dtype.bytes());
        Backend::device_for(self.device, workload)
    }

    /// Decompresses a whole stream into the start of `out`; returns the number of elements.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooSmall`], and as [`Decompressor::decompress`]; the contents of `out` are then unspecified.
    pub fn decompress_into<N: Number>(&self, stream: &[u8], out: &mut [N]) -> Result<usize, Error> {
        self.values_into(stream, None, out, SILENT)
    }

    /// As [`Decompressor::decompress_into`], for a part of the field, as [`Decompressor::decompress_part`].
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor, Part};
    ///
    /// let field: Vec<f32> = (0..40 * 50).map(|i| (i as f32).sqrt()).collect();
    /// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1)?).extents(&[40, 50])?;
    /// let stream = compressor.compress(&field)?;
    /// let (part, mut row) = (Part::Box(vec![7..8, 0..50]), [0.0f32; 50]);
    /// Decompressor::new().decompress_part_into(&stream, &part, &mut row)?;
    /// assert!((row[3] - field[7 * 50 + 3]).abs() <= 0.1);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::RangeOutside`], [`Error::BoxOutside`], and as [`Decompressor::decompress_into`].
    pub fn decompress_part_into<N: Number>(
        &self,
        stream: &[u8],
        part: &Part,
        out: &mut [N],
    ) -> Result<usize, Error> {
        self.values_into(stream, Some(part), out, SILENT)
    }

    /// Decodes the numbers of a part, or of the whole field, into the start of `out`.
    pub(crate) fn values_into<N: Number>(
        &self,
        stream: &[u8],
        part: Option<&Part>,
        out: &mut [N],
        progress: Progress<'_>,
    ) -> Result<usize, Error> {
        let (read, reading, part) = reading::<N>(stream, part)?;
        let numbers = reading.elements() / parts_of::<N>();
        let found = out.len() as u64;
        let out = usize::try_from(numbers)
            .ok()
            .and_then(|numbers| out.get_mut(..numbers))
            .ok_or(Error::OutputTooSmall {
                needed: numbers,
                found,
                unit: "elements",
            })?;
        let values: &mut [N::Part] = bytemuck::cast_slice_mut(out);
        self.run((stream, &read), (&reading, part.as_ref()), values, progress)?;
        Ok(out.len())
    }

    /// Decompresses elements `range` of a stream. Reads only chunks that hold some of them.
    ///
    /// # Errors
    ///
    /// [`Error::RangeOutside`], and as [`Decompressor::decompress`].
    pub fn decompress_range<N: Number>(
        &self,
        stream: &[u8],
        range: Range<u64>,
    ) -> Result<Vec<N>, Error> {
        self.decompress_part(stream, &Part::Elements(range))
    }

    /// Decompresses a part of a stream's field. Reads only chunks that hold some of it. For a codec of blocks a GPU
    /// or of tiles a GPU gets only these chunks, and all if levels are coded apart; a part whose elements are apart in the coded field
    /// is decoded on the CPU, whatever the device. The values are in the order of the part's elements.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor, Part};
    ///
    /// let field: Vec<f32> = (0..40 * 50 * 60).map(|i| (i as f32).sqrt()).collect();
    /// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1)?).extents(&[40, 50, 60])?;
    /// let stream = compressor.with_rank(3)?.compress(&field)?;
    /// let part = Part::Box(vec![10..12, 0..50, 7..8]);
    /// let values: Vec<f32> = Decompressor::new().decompress_part(&stream, &part)?;
    /// assert_eq!(values.len(), 2 * 50 * 1);
    /// assert!((values[50 + 3] - field[(11 * 50 + 3) * 60 + 7]).abs() <= 0.1);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::RangeOutside`], [`Error::BoxOutside`], and as [`Decompressor::decompress`].
    pub fn decompress_part<N: Number>(&self, stream: &[u8], part: &Part) -> Result<Vec<N>, Error> {
        self.values_of(stream, Some(part), SILENT)
    }

    /// Decodes the values of a part, or of the whole field.
    fn run<V: Value>(
        &self,
        stream: Stream<'_>,
        wish: Wish<'_>,
        values: &mut [V],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        with_value!(V::TYPE, W => {
            compiled_here!(run: DecompressValues<W> = Decompressor::run_of);
            run()(self, stream, wish, bytemuck::cast_slice_mut(values), progress)
        })
    }

    fn run_of<V: Value>(
        &self,
        stream: Stream<'_>,
        (reading, part): Wish<'_>,
        values: &mut [V],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        if self.run_mended_on_gpu(stream, (reading, part), values)? {
            progress(values.len() as u64);
            return Ok(());
        }
        self.decode(stream, reading, values, progress)?;
        self.mend(stream.1, part, values)
    }

    /// Decodes values, and mends none.
    fn decode<V: Value>(
        &self,
        (bytes, stream): Stream<'_>,
        reading: &Reading,
        values: &mut [V],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        if reading.is_whole() {
            let target = Target::Memory(bytemuck::cast_slice_mut(values));
            if self.run_slabs::<V>(stream, target)?.is_none() {
                progress(values.len() as u64);
                return Ok(());
            }
        }
        let gpu = self.gpu_for::<V>(stream, reading, values.len())?;
        if let Some(gpu) = &gpu
            && converts(V::TYPE)
        {
            gpu.decompress(bytes, stream, reading, self.verify, values)?;
            progress(values.len() as u64);
            return Ok(());
        }
        conversion::decode_to(&stream.conversion, values, |elements| match &gpu {
            Some(gpu) => {
                gpu.decompress(bytes, stream, reading, self.verify, elements)?;
                progress(elements.len() as u64);
                Ok(())
            }
            None => self.run_pieces(stream, reading, elements, progress),
        })
    }

    /// Decodes a whole field on several machines; gives the target back if they are not for this field.
    fn run_slabs<'a, V: Value>(
        &self,
        stream: &StreamRef<'_>,
        target: Target<'a>,
    ) -> Result<Option<Target<'a>>, Error> {
        let header = &stream.header;
        if stream.wavelets.is_some() {
            return Ok(Some(target));
        }
        let layout = StreamLayout::of_header(header, stream.order);
        let Some((machines, slabs)) = slabs::divided(self.device, &layout, header.bound)? else {
            return Ok(Some(target));
        };
        let is_plain = header.update_bytes + header.record_bytes == 0 && !header.has_sections;
        let whole = match is_plain {
            true => None,
            false => Some(stream.rewrite(*header, &[], 0..header.chunks())?),
        };
        let decode = |stream: &StreamRef<'_>| {
            slabs::decompress::decompress::<V::Coded>(
                &machines,
                &slabs,
                stream,
                self.verify,
                target,
            )
        };
        match whole {
            None => decode(stream)?,
            Some(bytes) => decode(&StreamRef::read(&bytes)?)?,
        }
        Ok(None)
    }

    /// Decodes the elements of the pieces of a part, or of the whole field, on the CPU. A function of its own, so that it is
    /// compiled for each element type, not for each value type.
    fn run_pieces<T: Element>(
        &self,
        stream: &StreamRef<'_>,
        reading: &Reading,
        elements: &mut [T],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        self.read_pieces(Version::best(), stream, &reading.pieces, elements, progress)?;
        self.take_back(stream, reading, elements)
    }

    /// If a GPU decodes a whole field: its values as they lie in memory go to `take`, in pieces of whole values, in their
    /// order, and the result is true.
    ///
    /// # Errors
    ///
    /// As [`Decompressor::decompress`]; those of `take`.
    pub(crate) fn run_pieces_on_gpu<V: Value>(
        &self,
        bytes: &[u8],
        stream: &StreamRef<'_>,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let length = stream.header.elements() * size_of::<V>() as u64;
        let target = Target::Pieces(length, take);
        let Some(Target::Pieces(_, take)) = self.run_slabs::<V>(stream, target)? else {
            return Ok(true);
        };
        let whole = Reading::new(&stream.header.layout(), &stream.order, None)?;
        let elements = usize::try_from(stream.header.elements()).unwrap_or(usize::MAX);
        let Some(gpu) = self.gpu_for::<V>(stream, &whole, elements)? else {
            return Ok(false);
        };
        if V::TYPE.is_coded_as_is() || converts(V::TYPE) {
            gpu.decompress_pieces::<V>(bytes, stream, &whole, self.verify, take)?;
            return Ok(true);
        }
        let values: Vec<V> = self.decompress(bytes)?;
        take(bytemuck::cast_slice(&values))?;
        Ok(true)
    }

    /// The machine that runs kernels, if that is what decodes this.
    pub(crate) fn gpu_for<V: Value>(
        &self,
        stream: &StreamRef<'_>,
        reading: &Reading,
        elements: usize,
    ) -> Result<Option<Gpu>, Error> {
        // Kernels do not transform coefficients.
        if stream.wavelets.is_some() {
            return Ok(None);
        }
        let workload = workload(stream.header.codec, elements, V::Coded::BYTES);
        Ok(
            match (Backend::of(self.device, workload)?, Wanted::new(reading)) {
                (Backend::Gpu(gpu), Ok(_)) => Some(gpu),
                // Kernels do not gather the elements of a part that are apart.
                (Backend::Gpu(_), Err(_)) | (Backend::Cpu, _) => None,
            },
        )
    }

    /// Turns the decoded values of a part, or of the whole field, into elements.
    pub(crate) fn take_back<T: Element>(
        &self,
        stream: &StreamRef<'_>,
        reading: &Reading,
        mut values: &mut [T],
    ) -> Result<(), Error> {
        if stream.header.classes.all() == 0 && stream.mapping.back().is_identity() {
            return Ok(());
        }
        for piece in &reading.of_mask {
            let (own, rest) = values.split_at_mut(piece.elements() as usize);
            let mut coded = piece.gather(own).into_owned();
            let regions: Vec<Region> = piece.regions().collect();
            cpu::take_back(stream, &regions, self.verify, &mut coded)?;
            piece.place(&coded, own);
            values = rest;
        }
        Ok(())
    }

    /// Decodes pieces by a version of the CPU's code.
    fn read_pieces<T: Element>(
        &self,
        version: Version,
        stream: &StreamRef<'_>,
        pieces: &[Piece],
        elements: &mut [T],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        // Without elements nothing of the stream is read: a part of it may be unknown.
        if elements.is_empty() {
            return Ok(());
        }
        cpu::with_reader(version, stream, self.verify, progress, &mut |read| {
            read_in_order(read, pieces, elements)
        })
    }

    /// The whole field or a part of it on the CPU, by a version of its code.
    pub(crate) fn decompress_by<V: Value>(
        &self,
        version: Version,
        stream: &[u8],
        part: Option<&Part>,
    ) -> Result<Vec<V>, Error> {
        let read = read::<V>(stream)?;
        let reading = Reading::new(&read.header.layout(), &read.order, part)?;
        let mut coded = try_zeroed::<V::Coded>(reading.elements())?;
        self.read_pieces(version, &read, &reading.pieces, &mut coded, SILENT)?;
        self.take_back(&read, &reading, &mut coded)?;
        let mut values = conversion::to_values(&read.conversion, coded)?;
        self.mend(&read, part, &mut values)?;
        Ok(values)
    }

    /// Decodes a part on the CPU to the values that the stream stands for: converted back, with their mask, and mended.
    pub(crate) fn read_values<V: Value>(
        &self,
        stream: &StreamRef<'_>,
        (part, reading): (&Part, &Reading),
        read: cpu::Read<'_, V::Coded>,
        values: &mut [V],
    ) -> Result<(), Error> {
        conversion::decode_to(&stream.conversion, values, |elements| {
            read_in_order(read, &reading.pieces, elements)?;
            self.take_back(stream, reading, elements)
        })?;
        self.mend(stream, Some(part), values)
    }
}

/// Decodes the regions of pieces, one behind the other, and puts their elements into the order of the pieces.
pub(crate) fn read_in_order<T: Element>(
    read: cpu::Read<'_, T>,
    pieces: &[Piece],
    mut values: &mut [T],
) -> Result<(), Error> {
    let decode = |mut values: &mut [T]| {
        for region in pieces.iter().flat_map(Piece::regions) {
            let (own, rest) = values.split_at_mut(region.elements() as usize);
            if !own.is_empty() {
                read(&region, own)?;
            }
            values = rest;
        }
        Ok(())
    };
    if pieces.iter().all(Piece::is_in_order) {
        return decode(values);
    }
    let mut all = try_zeroed::<T>(values.len() as u64)?;
    decode(&mut all)?;
    let mut decoded = &all[..];
    for piece in pieces {
        let (own, behind) = decoded.split_at(piece.elements() as usize);
        let (place, rest) = values.split_at_mut(own.len());
        piece.place(own, place);
        (decoded, values) = (behind, rest);
    }
    Ok(())
}

pub(crate) fn workload(codec: Codec, elements: usize, bytes: usize) -> Workload {
    let field_bytes = (elements as u64).saturating_mul(bytes as u64);
    Workload::new(Direction::Decompress, codec, field_bytes)
}

/// A whole stream of `V`.
pub(crate) fn read<V: Value>(stream: &[u8]) -> Result<StreamRef<'_>, FormatError> {
    let read = StreamRef::read(stream)?;
    read.header.check_values::<V>()?;
    Ok(read)
}

/// A whole stream of these numbers, and the part of it that is to be read, that of the parts of complex numbers.
fn reading<'a, N: Number>(
    stream: &'a [u8],
    part: Option<&Part>,
) -> Result<(StreamRef<'a>, Reading, Option<Part>), Error> {
    let read = read::<N::Part>(stream)?;
    if N::IS_COMPLEX && !read.order.is_complex() {
        return Err(Error::NotComplex(read.header.value_type));
    }
    let part = part.map(|part| match N::IS_COMPLEX {
        true => part.of_parts(),
        false => part.clone(),
    });
    let reading = Reading::new(&read.header.layout(), &read.order, part.as_ref())?;
    Ok((read, reading, part))
}

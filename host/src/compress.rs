//! Compression of host slices.

mod choice;
mod complex;
mod settings;

use crate::auto_device::{Direction, Workload};
use crate::axes_setting::AxesSetting;
use crate::backend::Backend;
use crate::choice::Choice;
use crate::cpu::mapping::axes::Turn;
use crate::cpu::mapping::conversion;
use crate::cpu::sink::Sink;
use crate::cpu::{self, Progress, Version};
use crate::device::Device;
use crate::error::Error;
use crate::fill::Fills;
use crate::job::Job;
use crate::keeping::Keeping;
use crate::nearby::{Nearby, Reach};
use crate::number::Number;
use crate::progress::SILENT;
use crate::scratch::{Coded, Copies, Scratch};
use crate::statistics::{StatisticsPolicy, StatisticsSink};
use crate::stream_layout::StreamLayout;
use crate::stream_ref::StreamRef;
use crate::tolerance::Tolerance;
use crate::{memory, slabs, wavelet};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::mapping::mask::MAX_CLASSES;
use ferrosz_codec::predict::interp::tune::TighteningChoice;
use ferrosz_codec::safeguard::Safeguards;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_codec::{Bound, BoundMode, Codec, Dtype, Element, Shape, Value, with_value};
use std::io::Write;

/// [`Compressor::run`] of a type of values.
type CompressValues<V> =
    fn(&Compressor, Version, &[V], &mut dyn Sink, Progress<'_>) -> Result<(), Error>;

/// Compresses any number of fields with the same settings.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Bound, Compressor, Decompressor, Preset};
///
/// let field: Vec<f32> = (0..6000).map(|i| (i as f32 * 0.01).sin()).collect();
/// let compressor = Compressor::new(Preset::Small, Bound::range(1e-3)?).extents(&[60, 100])?;
/// let stream = compressor.compress(&field)?;
/// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
/// assert!(field.iter().zip(&decoded).all(|(x, y)| (x - y).abs() <= 2e-3));
/// assert!(stream.len() * 3 < 4 * field.len());
/// # Ok::<(), ferrosz::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compressor {
    choice: Choice,
    bound: Bound,
    /// None: the field's extents or a sample of the field decide.
    shape: Option<Shape>,
    /// In the user's order.
    extents: Option<Extents>,
    fills: Fills,
    keeping: Keeping,
    /// Whether decoded values that are compressed again must come back as they are.
    rewritable: bool,
    /// None: a preset searches them; a codec takes the default rule.
    axes: Option<AxesSetting>,
    /// Whether the last axis has the parts of complex numbers.
    is_complex: bool,
    /// None: a preset chooses it; a codec takes the shortest.
    chunk: Option<ChunkLength>,
    /// How many levels are coded apart.
    levels: u8,
    tightening: TighteningChoice,
    /// If the coefficients of wavelets are coded, and not values.
    wavelets: Option<CoefficientError>,
    pub(crate) statistics_policy: StatisticsPolicy,
    pub(crate) device: Device,
    pub(crate) copies: Copies,
    pub(crate) safeguards: Safeguards,
}

/// The error of the coefficients of wavelets.
#[derive(Debug, Clone, Copy, PartialEq)]
enum CoefficientError {
    /// A share of the bound of values.
    OfBound,
    /// An absolute error.
    Absolute(f64),
}

impl Compressor {
    /// The coded field of a field, before its axes are turned, and the compressor for it.
    fn convert<'a, V: Value>(&self, field: &'a [V]) -> Result<Converted<'a, V::Coded>, Error> {
        let (coder, conversion, nearby) = self.coder_of(field)?;
        Ok(Converted {
            conversion,
            coder,
            coded: conversion::to_coded(self.copies, &conversion, nearby.as_ref(), field)?,
        })
    }

    /// The compressor for the coded field of a field, the conversion of its values, and the values that are close to fill values.
    fn coder_of<V: Value>(
        &self,
        field: &[V],
    ) -> Result<(Self, Conversion, Option<Nearby<V>>), Error> {
        self.check_complex(V::TYPE)?;
        let (mut coder, mut conversion) = (*self, Conversion::none(V::TYPE));
        let mut missing = self.missing::<V>()?;
        if !conversion.is_none() {
            (coder, conversion) = self.planned(conversion::present(&missing, field))?;
        }
        let absolute = match conversion.is_none() && !missing.is_empty() {
            true => self.absolute_for(field)?.bound,
            false => coder.bound,
        };
        let nearby = self.nearby(&conversion, absolute, &missing, field)?;
        if let Some(nearby) = &nearby {
            missing.extend(nearby.neighbours());
            coder.bound = absolute;
        }
        if !conversion.is_none() || nearby.is_some() {
            coder.fills = Fills::of_bits(missing.into_iter().map(|bits| {
                let coded = conversion.to_coded(V::from_value_bits(bits));
                coded.to_bits64()
            }));
        }
        Ok((coder, conversion, nearby))
    }

    /// The compressor for the coded field of a field with the values that are [`conversion::present`], and their conversion.
    ///
    /// # Errors
    ///
    /// [`Error::MappingOfType`]; [`Error::KeptOfLargeIntegers`].
    pub(crate) fn planned<V: Value>(&self, present: Vec<V>) -> Result<(Self, Conversion), Error> {
        self.check_conversion::<V>()?;
        let plan = conversion::plan(self.bound, self.rewritable, present);
        let coder = Self {
            keeping: self.keeping_of(&plan.conversion)?,
            bound: Bound::abs(plan.error.to_f64())?,
            ..*self
        };
        Ok((coder, plan.conversion))
    }

    /// The values that are close to fill values of a field that is converted so, and coded within `coded_bound`; none if there
    /// are none.
    fn nearby<V: Value>(
        &self,
        conversion: &Conversion,
        coded_bound: Bound,
        missing: &[u64],
        field: &[V],
    ) -> Result<Option<Nearby<V>>, Error> {
        if missing.is_empty() {
            return Ok(None);
        }
        let absolute = conversion.absolute_error().unwrap_or(coded_bound.value());
        let reach = match (self.rewritable, self.bound.mode()) {
            (true, _) => Reach::Codes {
                quantizer: coded_bound.resolve(&Extremes::default()),
                conversion: *conversion,
                scale: self.value_mapping(V::Coded::DTYPE)?.scale,
            },
            (false, BoundMode::Pwrel) => Reach::Relative(absolute),
            (false, _) => Reach::Absolute(absolute),
        };
        let classes = match conversion.is_none() {
            true => self.value_mapping(V::Coded::DTYPE)?.classes.count(),
            false => self.fills.most_classes(V::TYPE, self.keep())?,
        };
        let room = MAX_CLASSES - usize::from(classes.all());
        let nearby = Nearby::of(missing, reach, room, field);
        Ok((!nearby.is_empty()).then_some(nearby))
    }

    /// Compresses a field to a stream. Its values are of any [`Value`] type: integers have an integer bound, and halves keep
    /// the bound after they are rounded. Or they are [`Complex`](crate::Complex) numbers: see [`Compressor::complex`].
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let image: Vec<u16> = (0..6000).map(|i| 500 + i % 100 + i % 7).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(2.0)?).extents(&[60, 100])?;
    /// let decoded: Vec<u16> = Decompressor::new().decompress(&compressor.compress(&image)?)?;
    /// assert!(image.iter().zip(&decoded).all(|(x, y)| x.abs_diff(*y) <= 2));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::OutOfMemory`]; [`Error::NoDevice`] and [`Error::Cuda`] from a GPU.
    pub fn compress<N: Number>(&self, field: &[N]) -> Result<Vec<u8>, Error> {
        self.progress(SILENT).compress(field)
    }

    /// As [`Compressor::compress`], with a version of the CPU's code.
    pub(crate) fn compress_by<V: Value>(
        &self,
        version: Version,
        field: &[V],
    ) -> Result<Vec<u8>, Error> {
        let mut stream = Vec::new();
        self.run(version, field, &mut stream, SILENT)?;
        Ok(stream)
    }

    /// Compresses a field and writes the stream; returns its length. The whole stream is in memory before the first
    /// byte is written, as its header has its length.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let field = [1.0f32; 1000];
    /// let mut file = Vec::new();
    /// let compressor = Compressor::new(Preset::Fast, Bound::abs(0.01)?);
    /// let bytes = compressor.compress_to(&field, &mut file)?;
    /// assert_eq!(bytes, file.len() as u64);
    /// let values: Vec<f32> = Decompressor::new().decompress_from(&file[..])?;
    /// assert_eq!(values.len(), field.len());
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] from the writer, and as [`Compressor::compress`].
    pub fn compress_to<N: Number>(
        &self,
        field: &[N],
        mut writer: impl Write,
    ) -> Result<u64, Error> {
        let stream = self.compress(field)?;
        let written = writer.write_all(&stream).and_then(|()| writer.flush());
        written.map_err(Error::io("write the stream"))?;
        Ok(stream.len() as u64)
    }

    /// As [`Compressor::run`], with a bound for each value if there are some.
    pub(crate) fn run_bounded<V: Value>(
        &self,
        version: Version,
        given: (&[V], Option<&[f64]>),
        sink: &mut dyn Sink,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        if self.statistics_policy == StatisticsPolicy::Never {
            return self.run_without_statistics(version, given, sink, progress);
        }
        let mut with_statistics = StatisticsSink {
            sink,
            values: given.0,
            statistics_policy: self.statistics_policy,
        };
        self.run_without_statistics(version, given, &mut with_statistics, progress)
    }

    /// As [`Compressor::run_bounded`], without statistics.
    fn run_without_statistics<V: Value>(
        &self,
        version: Version,
        (field, bounds): (&[V], Option<&[f64]>),
        sink: &mut dyn Sink,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        match bounds.is_none() && self.safeguards.is_empty() && self.wavelets.is_none() {
            true => self.run_plain(version, field, sink, progress),
            false => self.run_guarded(version, (field, bounds), sink, progress),
        }
    }

    pub(crate) fn run<V: Value>(
        &self,
        version: Version,
        field: &[V],
        sink: &mut dyn Sink,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        self.run_bounded(version, (field, None), sink, progress)
    }

    /// As [`Compressor::run`], without safeguards and statistics.
    pub(crate) fn run_plain<V: Value>(
        &self,
        version: Version,
        field: &[V],
        sink: &mut dyn Sink,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        with_value!(V::TYPE, W => {
            compiled_here!(run: CompressValues<W> = Compressor::run_of);
            run()(self, version, bytemuck::cast_slice(field), sink, progress)
        })
    }

    fn run_of<V: Value>(
        &self,
        version: Version,
        field: &[V],
        sink: &mut dyn Sink,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let elements = field.len() as u64;
        self.checked()?.extents_for(elements)?;
        if let Some(codec) = self.codec().filter(|_| self.wavelets.is_none())
            && self.converts_on_machine::<V>()?
            && let Backend::Gpu(gpu) = self.backend(workload(codec, elements, V::Coded::DTYPE))?
        {
            self.check_conversion::<V>()?;
            self.max_compressed_len(elements, V::TYPE)?;
            let layout = self.stream_layout(elements, V::TYPE)?;
            let tolerance = self.tolerance(self.bound);
            sink.take(gpu.compress(&layout, tolerance, &ValueMapping::default(), field)?)?;
            progress(elements);
            return Ok(());
        }
        let Converted {
            conversion,
            coder,
            coded,
        } = self.convert(field)?;
        let given = (self.bound, conversion);
        coder.run_on_coded(version, given, &coded, sink, progress)
    }

    /// Compresses the coded field, before its axes are turned, given the bound of the user's values and their conversion.
    fn run_on_coded<T: Element>(
        &self,
        version: Version,
        (bound_of_values, conversion): (Bound, Conversion),
        field: &[T],
        sink: &mut dyn Sink,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let elements = field.len() as u64;
        let (chosen, bound) = self.choose_on_coded(&conversion, field)?;
        chosen.max_compressed_len(elements, T::DTYPE)?;
        let mapping = chosen.value_mapping(T::DTYPE)?;
        let stream_layout = chosen.stream_layout(elements, T::DTYPE)?;
        let StreamLayout { layout, order, .. } = stream_layout;
        let tolerance = chosen.tolerance(self.bound);
        let job = Job {
            layout,
            tolerance: Tolerance { bound, ..tolerance },
            bound_of_values,
            mapping,
            order,
            conversion,
        };
        if self.wavelets.is_some() {
            let coded = in_order(self.copies, layout.extents.lengths(), &order, field)?;
            return wavelet::compress(self, version, &job, &coded, sink, progress);
        }
        if conversion.is_none()
            && let Some((machines, slabs)) =
                slabs::divided(self.device, &stream_layout, self.bound)?
        {
            slabs::compress::compress(&machines, &slabs, &stream_layout, tolerance, field, sink)?;
            progress(elements);
            return Ok(());
        }
        match self.backend(workload(layout.codec, elements, T::DTYPE))? {
            Backend::Cpu => {
                let coded = in_order(self.copies, layout.extents.lengths(), &order, field)?;
                cpu::compress(version, &job, self.copies, &coded, sink, progress)
            }
            Backend::Gpu(executor) => {
                let stream = executor.compress(&stream_layout, tolerance, &mapping, field)?;
                sink.take(with_conversion(stream, bound_of_values, &conversion)?)?;
                progress(elements);
                Ok(())
            }
        }
    }

    /// The machine for a workload.
    fn backend(&self, workload: Workload) -> Result<Backend, Error> {
        Backend::of(self.device, workload)
    }

    /// Compresses a field into the start of `out`; returns the stream's length. With reused memory, this saves the cost
    /// of new memory.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooSmall`], and as [`Compressor::compress`]; the contents of `out` are then unspecified. A buffer
    /// of [`Compressor::max_compressed_len`] bytes is never too small.
    pub fn compress_into<N: Number>(&self, field: &[N], out: &mut [u8]) -> Result<usize, Error> {
        let mut target = Place { out, length: 0 };
        let field: &[N::Part] = bytemuck::cast_slice(field);
        self.for_numbers::<N>()?
            .run(Version::best(), field, &mut target, SILENT)?;
        let (needed, found) = (target.length as u64, target.out.len() as u64);
        if needed > found {
            return Err(Error::OutputTooSmall {
                needed,
                found,
                unit: "bytes",
            });
        }
        Ok(target.length)
    }
}

/// The coded field of a field, before its axes are turned.
struct Converted<'a, T: Element> {
    conversion: Conversion,
    /// The compressor with the bound and the fill values of the coded field.
    coder: Compressor,
    coded: Coded<'a, T>,
}

/// The coded field of a field: the field itself, or a copy with its axes in another order, which then have these lengths.
///
/// # Errors
///
/// The errors of [`Scratch::zeroed`].
pub(crate) fn in_order<'a, T: Element>(
    copies: Copies,
    lengths: &[u64],
    order: &Order,
    field: &'a [T],
) -> Result<Coded<'a, T>, Error> {
    let Some(turn) = Turn::to_coded(lengths, order) else {
        return Ok(Coded::Field(field));
    };
    let mut coded = Scratch::zeroed(copies, field.len() as u64)?;
    turn.apply(field, &mut coded);
    Ok(Coded::Copy(coded))
}

/// A stream of a GPU, which has a mask and an order of axes, with the record of the conversion and with the bound of the
/// user's field.
fn with_conversion(
    stream: Vec<u8>,
    bound: Bound,
    conversion: &Conversion,
) -> Result<Vec<u8>, Error> {
    let of_conversion = conversion.to_records();
    let read = StreamRef::read(&stream)?;
    if of_conversion.is_empty() && read.header.bound == bound {
        return Ok(stream);
    }
    let stream = read;
    let header = Header {
        value_type: conversion.value_type(),
        conversion: conversion.kind(),
        bound,
        ..stream.header
    };
    let records = [stream.records, &of_conversion].concat();
    stream.rewrite(header, &records, 0..header.chunks())
}

fn workload(codec: Codec, elements: u64, dtype: Dtype) -> Workload {
    let field_bytes = elements.saturating_mul(dtype.bytes() as u64);
    Workload::new(Direction::Compress, codec, field_bytes)
}

/// The start of a slice, to which a stream is written. `length` also counts the bytes that do not fit and are not
/// written.
struct Place<'a> {
    out: &'a mut [u8],
    length: usize,
}

impl Sink for Place<'_> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let end = self.length + bytes.len();
        if let Some(place) = self.out.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
        }
        self.length = end;
        Ok(())
    }

    fn append_all(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        let room = self.out.get_mut(self.length..).unwrap_or_default();
        memory::copy_all(parts, room, <[u8]>::copy_from_slice);
        self.length += parts.iter().map(|part| part.len()).sum::<usize>();
        Ok(())
    }

    fn set_start(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(place) = self.out.get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
        }
        Ok(())
    }
}

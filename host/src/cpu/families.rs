//! Whole calls on the CPU, by the family of the codec.

use crate::cpu::blocks::compress::WholeValues;
use crate::cpu::mapping::coded::{Prepared, decode_values};
use crate::cpu::mapping::mask::MaskDecoder;
use crate::cpu::numbers::Numbers;
use crate::cpu::sink::Sink;
use crate::cpu::tiles::holder::Alone;
use crate::cpu::writer::Writer;
use crate::cpu::{Progress, Version, blocks, tiles};
use crate::encoded::{EncodedChunks, Put};
use crate::error::Error;
use crate::job::Job;
use crate::memory::try_zeroed;
use crate::parallel;
use crate::progress::SILENT;
use crate::scratch::Copies;
use crate::stream_ref::StreamRef;
use crate::tolerance::Tolerance;
use crate::wavelet;
use ferrosz_codec::Element;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::mapping::wavelet::Wavelets;
use ferrosz_codec::predict::interp::tune::TighteningChoice;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::with_element;

/// Values of a task of the search for extremes.
const SCAN: usize = 1 << 17;

/// The quantiser of a field, and the choice of its levels' bounds.
pub(crate) fn resolve<T: Element>(
    version: Version,
    tolerance: Tolerance,
    values: &[T],
) -> (Quantizer<T>, TighteningChoice) {
    let mut found = Extremes::default();
    if tolerance.needs_extremes() {
        found = extremes(version, values);
    }
    tolerance.resolve(&found)
}

/// Smallest and largest finite value of a field.
pub fn extremes<T: Element>(version: Version, values: &[T]) -> Extremes<T> {
    let of_tasks = parallel::map(values.chunks(SCAN), |values| version.extremes(values));
    of_tasks
        .into_iter()
        .fold(Extremes::default(), Extremes::union)
}

/// Compresses a field with its axes in the order of the coded field, whose extents have been checked.
///
/// # Errors
///
/// Those of the sink, and of copies of the field.
pub(crate) fn compress<T: Element>(
    version: Version,
    job: &Job,
    copies: Copies,
    values: &[T],
    sink: &mut dyn Sink,
    progress: Progress<'_>,
) -> Result<(), Error> {
    with_element!(T::DTYPE, E => {
        compiled_here!(compress: Compress<E> = compress_of::<E>);
        parallel::in_steps(|| compress()(version, job, copies, bytemuck::cast_slice(values), sink, progress))
    })
}

/// [`compress_of`] an element type.
type Compress<T> =
    fn(Version, &Job, Copies, &[T], &mut dyn Sink, Progress<'_>) -> Result<(), Error>;

fn compress_of<T: Element>(
    version: Version,
    job: &Job,
    copies: Copies,
    values: &[T],
    sink: &mut dyn Sink,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let Prepared {
        mask,
        coded,
        quantizer,
        tightening,
    } = Prepared::new(version, job, (copies, &job.layout), values)?;
    let values = coded.as_deref().unwrap_or(values);
    let records = job.records();
    let header = job.header(&records, quantizer.error().to_bits64());
    let mut writer = Writer::new(header, &records, sink)?;
    let put = &mut |wave: &[EncodedChunks], waves| writer.put(wave, waves);
    let levels = (&quantizer, tightening);
    encode(version, job.layout, levels, values, progress, put)?;
    writer.append(&[mask])?;
    writer.finish()
}

/// Encodes the prologue and all chunks of a coded field.
fn encode<T: Element>(
    version: Version,
    layout: Layout,
    (quantizer, tightening): (&Quantizer<T>, TighteningChoice),
    field: &[T],
    progress: Progress<'_>,
    put: Put<'_>,
) -> Result<(), Error> {
    match layout.family() {
        _ if field.is_empty() => Ok(()),
        Family::Blocks(layout) => {
            let grid = layout.grid;
            let (values, chunks) = (WholeValues { grid, field }, 0..grid.chunk_count());
            let chunks = Numbers::Range(chunks);
            blocks::compress::encode(version, layout, quantizer, &values, chunks, progress, put)
        }
        Family::Tiles(layout) => {
            let holder = Alone::new(&layout, field);
            let field = tiles::compress::Field {
                version,
                layout: &layout,
                quantizer,
            };
            field.encode_all(tightening, &holder, progress, put)
        }
    }
}

/// Turns the decoded values of regions, one after the other, into elements. The regions are those of the mask's
/// dimensions.
pub(crate) fn take_back<T: Element>(
    stream: &StreamRef<'_>,
    regions: &[Region],
    verify: bool,
    values: &mut [T],
) -> Result<(), Error> {
    decode_values(&stream.mapping, values);
    let Some(decoder) = MaskDecoder::new(stream, verify) else {
        return Ok(());
    };
    let mut rest = values;
    for region in regions {
        let (own, behind) = rest.split_at_mut(region.elements() as usize);
        if let Some((_, fault)) = decoder.lay_over(region, own).into_iter().next() {
            return Err(fault.into());
        }
        rest = behind;
    }
    Ok(())
}

/// Decodes a region, which is within the field and has elements, into values that are as many.
pub(crate) type Read<'a, T> = &'a dyn Fn(&Region, &mut [T]) -> Result<(), Error>;

/// Calls `work` with a function that decodes regions of a stream that has elements. They are those of the coded field.
pub(crate) fn with_reader<T: Element>(
    version: Version,
    stream: &StreamRef<'_>,
    verify: bool,
    progress: Progress<'_>,
    work: &mut dyn FnMut(Read<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    let job = (version, stream, verify, progress);
    with_element!(T::DTYPE, E => {
        compiled_here!(reader: fn(Decompression<'_>, Work<'_, E>) -> Result<(), Error> = with_reader_of::<E>);
        reader()(job, &mut |read| {
            work(&|region, values| read(region, bytemuck::cast_slice_mut(values)))
        })
    })
}

/// Decodes a region of a level, which has elements, into values that are as many.
pub(crate) type ReadLevel<'a, T> = &'a dyn Fn(u32, &Region, &mut [T]) -> Result<(), Error>;

/// As [`with_reader`], with regions of levels, of a codec that has levels.
pub(crate) fn with_level_reader<T: Element>(
    job: Decompression<'_>,
    work: &mut dyn FnMut(ReadLevel<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    with_element!(T::DTYPE, E => {
        compiled_here!(reader: fn(Decompression<'_>, LevelWork<'_, E>) -> Result<(), Error> = with_level_reader_of::<E>);
        reader()(job, &mut |read| {
            work(&|level, region, values| read(level, region, bytemuck::cast_slice_mut(values)))
        })
    })
}

type LevelWork<'a, T> = &'a mut dyn FnMut(ReadLevel<'_, T>) -> Result<(), Error>;

fn with_level_reader_of<T: Element>(
    (version, stream, verify, progress): Decompression<'_>,
    work: LevelWork<'_, T>,
) -> Result<(), Error> {
    let none = || Error::NoLevels(stream.header.codec.into());
    let layout = stream.header.layout();
    let of_tiles = layout.tiles().ok_or_else(none)?;
    let reader = tiles::LevelReader::new(version, stream, &of_tiles, verify)?;
    let reader = reader.ok_or_else(none)?;
    work(&|level, region, values| {
        let field = tiles::LevelField::new(&layout, &of_tiles, level).ok_or_else(none)?;
        reader.read(&field, region, values, progress)
    })
}

/// The arguments without the work.
type Decompression<'a> = (Version, &'a StreamRef<'a>, bool, Progress<'a>);

type Work<'a, T> = &'a mut dyn FnMut(Read<'_, T>) -> Result<(), Error>;

fn with_reader_of<T: Element>(
    (version, stream, verify, progress): Decompression<'_>,
    work: Work<'_, T>,
) -> Result<(), Error> {
    match stream.header.layout().family() {
        Family::Blocks(layout) => {
            let decoder = blocks::ChunkDecoder::new(version, stream, layout, verify)?;
            work(&|region, values| decoder.read(region, values, progress))
        }
        Family::Tiles(layout) => {
            let reader = tiles::Reader::new(version, stream, &layout, verify)?;
            if let Some(wavelets) = &stream.wavelets {
                return work_on_wavelets((stream, wavelets), &reader, progress, work);
            }
            work(&|region, values| reader.read(region, values, progress))
        }
    }
}

/// As [`with_reader_of`], of coefficients. A value depends on coefficients all over its box, so all are decoded.
fn work_on_wavelets<T: Element>(
    (stream, wavelets): (&StreamRef<'_>, &Wavelets),
    reader: &tiles::Reader<'_, T>,
    progress: Progress<'_>,
    work: Work<'_, T>,
) -> Result<(), Error> {
    let elements = stream.header.elements();
    let mut coefficients = try_zeroed(elements)?;
    reader.read(
        &Region::whole(&stream.header.grid()),
        &mut coefficients,
        SILENT,
    )?;
    let field = wavelet::field_of(wavelets, &stream.header.extents, &coefficients)?;
    work(&|region, values| {
        region.cut(0, elements, |run, at| {
            let run = &field[run.start as usize..run.end as usize];
            values[at as usize..][..run.len()].copy_from_slice(run);
        });
        progress(values.len() as u64);
        Ok(())
    })
}

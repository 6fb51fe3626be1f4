//! The coded field: with a hole in place of each fill value, and values in place of holes where a codec needs them.

use crate::cpu::families::resolve;
use crate::cpu::lanes::Lanes;
use crate::cpu::mapping::mask::encode_mask;
use crate::cpu::mapping::{fill, shell};
use crate::cpu::version::{Version, Work};
use crate::encoded::EncodedChunks;
use crate::error::Error;
use crate::job::Job;
use crate::parallel;
use crate::scratch::{Copies, Scratch};
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::mask::fill::Level;
use ferrosz_codec::mapping::mask::shell::Units;
use ferrosz_codec::mapping::{Scale, ValueMapping};
use ferrosz_codec::predict::interp::tune::TighteningChoice;
use ferrosz_codec::quantize::field::Quantizer;

/// Elements of a task that copies a field.
const COPY: usize = 1 << 12;

/// Puts values in place of holes where the codec of a layout needs them: what is coded.
///
/// # Errors
///
/// The errors of [`Scratch::zeroed`].
pub(crate) fn fill_field<T: Element>(
    copies: Copies,
    layout: &Layout,
    holes: &mut [T],
) -> Result<(), Error> {
    let level = Level::of_field(&layout.grid());
    match Units::of(layout) {
        Some(units) => shell::fill_shell(copies, &level, &units, holes),
        None => fill::fill(copies, &level, holes),
    }
}

/// As [`fill_field`], for a chunk of blocks as a field of its own.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(crate) fn fill_chunk<T: Element>(grid: &Grid, holes: &mut [T]) -> Result<(), Error> {
    let (level, units) = (Level::of_field(grid), Units::of_blocks(grid));
    shell::fill_shell(Copies::InMemory, &level, &units, holes)
}

/// What is coded of a field, and how.
pub(crate) struct Prepared<T> {
    /// The chunks of the mask.
    pub(crate) mask: EncodedChunks,
    /// The coded field; none if it is the field.
    pub(crate) coded: Option<Scratch<T>>,
    pub(crate) quantizer: Quantizer<T>,
    pub(crate) tightening: TighteningChoice,
}

impl<T: Element> Prepared<T> {
    /// That of a field with its axes in the order of the job. Holes get values where the codec of the layout `filled` needs them.
    ///
    /// # Errors
    ///
    /// Those of copies of the field.
    pub(crate) fn new(
        version: Version,
        job: &Job,
        (copies, filled): (Copies, &Layout),
        values: &[T],
    ) -> Result<Self, Error> {
        let mapping = &job.mapping;
        let mask = encode_mask(&job.layout, &mapping.classes, values)?;
        let mut coded = coded_values(copies, mapping, values)?;
        let of_coded = coded.as_deref().unwrap_or(values);
        let (quantizer, tightening) = resolve(version, job.tolerance, of_coded);
        if let Some(coded) = coded.as_mut().filter(|_| mapping.has_holes()) {
            fill_field(copies, filled, coded)?;
        }
        Ok(Self {
            mask,
            coded,
            quantizer: quantizer.with_holes(mapping.has_holes()),
            tightening,
        })
    }
}

/// The coded field with a hole in place of each fill value; none if it is the field.
///
/// # Errors
///
/// The errors of [`Scratch::zeroed`].
pub(crate) fn coded_values<T: Element>(
    copies: Copies,
    mapping: &ValueMapping,
    values: &[T],
) -> Result<Option<Scratch<T>>, Error> {
    if mapping.is_identity() {
        return Ok(None);
    }
    let mut coded = Scratch::<T>::zeroed(copies, values.len() as u64)?;
    let copies = coded.chunks_mut(COPY).zip(values.chunks(COPY));
    parallel::each(copies, |(coded, values)| {
        match mapping.scale {
            Scale::Linear => coded.copy_from_slice(values),
            Scale::Logarithm => {
                for (coded, value) in coded.iter_mut().zip(values) {
                    *coded = mapping.coded(*value, false);
                }
            }
        }
        Version::best().run_apart(MakeHoles {
            fills: mapping.classes.fills(),
            values,
            coded,
        });
    });
    Ok(Some(coded))
}

/// Makes holes of fill values.
struct MakeHoles<'a, T> {
    fills: &'a [u64],
    values: &'a [T],
    coded: &'a mut [T],
}

impl<T: Element> Work for MakeHoles<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        // One fill value after the other: most fields have few.
        for fill in self.fills {
            for (coded, value) in self.coded.iter_mut().zip(self.values) {
                *coded = match value.to_bits64() == *fill {
                    true => T::HOLE,
                    false => *coded,
                };
            }
        }
    }
}

/// Turns decoded values into elements, but for those of classes.
pub(crate) fn decode_values<T: Element>(mapping: &ValueMapping, values: &mut [T]) {
    let back = mapping.back();
    if !back.is_identity() {
        parallel::each(values.chunks_mut(COPY), |values| {
            for value in values {
                *value = back.element(*value);
            }
        });
    }
}

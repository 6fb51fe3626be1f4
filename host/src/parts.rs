//! Fields in parts: each member of a group compresses the part that it has, and together they write one stream. Without a
//! group, parts are made one by one by a [`Plan`].
//!
//! The stream has the bytes that [`Compressor::compress`] of the whole field has, however many members there are and
//! whatever boxes they have, and however many parts are planned.

mod blocks;
mod choice;
mod decomposition;
mod fetch;
mod gpu;
mod place;
mod plan;
mod tiles;
mod units;

pub use crate::peers::{Group, Message, Piece, Threads, agree};
pub use plan::Plan;

use crate::compress::{Compressor, in_order};
use crate::cpu::mapping::conversion;
use crate::cpu::tiles::compress::Field;
use crate::cpu::{self, Version};
use crate::encoded::EncodedChunks;
use crate::error::Error;
use crate::job::Job;
use crate::tolerance::Tolerance;
use crate::ways::{Setting, Way};
use decomposition::Decomposition;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::layout::Family;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::mapping::{Keep, ValueMapping};
use ferrosz_codec::predict::interp::tune::TighteningChoice;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, Element, Value, with_value};
use fetch::{Held, own_window};
use std::ops::Range;

impl Compressor {
    /// Compresses the part of a field that this member of a group has; returns the length of the stream, which all members
    /// write together. All members call it with the same settings; [`Compressor::extents`] are those of the whole field.
    ///
    /// `own` is the box of the member, one range for each axis, which may be empty; `values` are its values in C order. The
    /// boxes of all members make the field. The bound is that of the whole field, also a relative one. A preset chooses one
    /// codec for the whole field, as [`Compressor::choose_without_mask`] does: if the field asks for its signs and zeros, among
    /// the codecs that keep them without a mask.
    ///
    /// A chunk is encoded by the member that has its first element. What it does not have of it, other members send. This is
    /// least if boxes begin at multiples of the chunks' extents.
    ///
    /// The device is the CPU unless another one is set. Of several GPUs the members take turns. On a GPU a member compresses a
    /// slab of whole chunks along the slowest axis, which other members send it, as far as it does not have it: so boxes should
    /// be such slabs. If a member has no GPU, or if there are fewer slabs than members, all use their CPUs.
    ///
    /// Beside its values a member needs memory for its compressed chunks and for those values of others, and for a copy of its
    /// values if they are converted or if their axes are turned. The header is written last, so that a file is no stream before
    /// all members have written their parts.
    ///
    /// See [`Threads`](crate::parts::Threads) for an example.
    ///
    /// # Errors
    ///
    /// [`Error::BoxOutside`], [`Error::PartMismatch`] and [`Error::BadParts`] if the boxes are not the field;
    /// [`Error::Refused`] with settings that members [cannot have](crate::ways); [`Error::NoDevice`] and
    /// [`Error::OldGpu`]; [`Error::Group`] and [`Error::Io`] from the group. An error of one member is an error of all.
    pub fn compress_part<V: Value>(
        &self,
        group: &dyn Group,
        own: &[Range<u64>],
        values: &[V],
    ) -> Result<u64, Error> {
        with_value!(V::TYPE, W => {
            compiled_here!(compress: CompressPart<W> = Compressor::compress_part_of);
            compress()(self, group, own, bytemuck::cast_slice(values))
        })
    }

    fn compress_part_of<V: Value>(
        &self,
        group: &dyn Group,
        own: &[Range<u64>],
        values: &[V],
    ) -> Result<u64, Error> {
        // 1. The boxes of all members.
        let prepared = || {
            let elements = self.check_part::<V>(own, values.len())?;
            let extents = self.extents_for(elements)?;
            self.coded_extents(&extents)?;
            let gpu = gpu::of_member(self.device_set(), group.rank())?;
            Ok((elements, extents, gpu))
        };
        let (elements, extents, gpu) = agree(group, prepared())?;
        let decomposition = Decomposition::gather(group, extents.lengths(), own)?;
        // 2. The values of the coded field, by a conversion that follows from the values of all.
        let all = |numbers: &mut [u64]| group.max(numbers);
        let (coder, conversion) = self.convert_in_parts(Way::Members, values, all)?;
        let coded = conversion::to_coded(self.copies, &conversion, None, values);
        let coded = agree(group, coded)?;
        // 3. Codec, rank and axes.
        let chosen = match self.request(&extents)? {
            None => *self,
            Some(request) => {
                let request = coder.request_of(request, &conversion, V::Coded::DTYPE);
                let held = Held {
                    decomposition: &decomposition,
                    rank: group.rank(),
                    values: &coded[..],
                    own: None,
                };
                self.with_chosen(choice::choose(group, coder.bound(), &request, &held)?)
            }
        };
        chosen.max_compressed_len(elements, V::TYPE)?;
        // 4. The field with its axes in this order.
        let (layout, order) = (chosen.layout_for(elements)?, chosen.order_for(elements)?);
        let decomposition = decomposition.turned(&order)?;
        let axes = order.axes().iter().map(|axis| usize::from(*axis));
        let own: Vec<Range<u64>> = axes.map(|axis| own[axis].clone()).collect();
        let lengths: Vec<u64> = own.iter().map(|range| range.end - range.start).collect();
        let turned = agree(group, in_order(self.copies, &lengths, &order, &coded))?;
        let gpu = gpu::Member::new(group, gpu, &layout)?;
        let job = Job {
            layout,
            tolerance: chosen.tolerance(coder.bound()),
            bound_of_values: self.bound(),
            mapping: ValueMapping::default(),
            order,
            conversion,
        };
        let held = Held {
            decomposition: &decomposition,
            rank: group.rank(),
            values: &turned[..],
            own: own_window(&layout, &own),
        };
        encode(group, gpu.as_ref(), &job, &held)
    }

    /// Checks that a member can have this box; the elements of the whole field.
    fn check_part<V: Value>(&self, own: &[Range<u64>], found: usize) -> Result<u64, Error> {
        self.check_way::<V>(Way::Members)?;
        let elements = self.elements_of_parts()?;
        let of_box = (own.iter())
            .map(|range| range.end.saturating_sub(range.start))
            .fold(1, u64::saturating_mul);
        match of_box == found as u64 {
            true => Ok(elements),
            false => Err(Error::PartMismatch {
                elements: of_box,
                found: found as u64,
            }),
        }
    }

    /// The compressor for the coded field, and the conversion of the values of all members: `all` replaces numbers by the largest
    /// ones of all.
    fn convert_in_parts<V: Value>(
        &self,
        way: Way,
        values: &[V],
        all: impl FnOnce(&mut [u64]) -> Result<(), Error>,
    ) -> Result<(Self, Conversion), Error> {
        if V::TYPE.is_coded_as_is() {
            return Ok((*self, Conversion::none(V::TYPE)));
        }
        let present = conversion::present_in_parts::<V>(values, all);
        let (coder, conversion) = self.planned(present?)?;
        match coder.keep() == Keep::default() {
            true => Ok((coder, conversion)),
            false => Err(Error::Refused {
                way,
                setting: Setting::Mask,
            }),
        }
    }
}

/// [`Compressor::compress_part`] of a type of values.
type CompressPart<V> = fn(&Compressor, &dyn Group, &[Range<u64>], &[V]) -> Result<u64, Error>;

/// Encodes the member's part of the coded field, and writes the stream.
fn encode<T: Element>(
    group: &dyn Group,
    gpu: Option<&gpu::Member>,
    job: &Job,
    held: &Held<'_, T>,
) -> Result<u64, Error> {
    let version = Version::best();
    let (quantizer, tightening) = resolve(version, group, job.tolerance, held.values)?;
    let (layout, records) = (job.layout, job.records());
    let header = job.header(&records, quantizer.error().to_bits64());
    let own = match (gpu, layout.family()) {
        _ if layout.extents.elements() == 0 => EncodedChunks::default(),
        (Some(gpu), _) => {
            let bound = Bound::abs(quantizer.error().to_f64())?;
            gpu.encode(group, &layout, Tolerance { bound, tightening }, held)?
        }
        (None, Family::Blocks(layout)) => blocks::encode(version, group, layout, &quantizer, held)?,
        (None, Family::Tiles(layout)) => {
            let field = Field {
                version,
                layout: &layout,
                quantizer: &quantizer,
            };
            tiles::encode(group, &field, tightening, held)?
        }
    };
    place::write(group, header, &records, layout.entries(), &own)
}

/// The quantiser of the field of all members, and the choice of its levels' bounds.
fn resolve<T: Element>(
    version: Version,
    group: &dyn Group,
    tolerance: Tolerance,
    values: &[T],
) -> Result<(Quantizer<T>, TighteningChoice), Error> {
    let found = match tolerance.needs_extremes() {
        true => extremes(version, group, values)?,
        false => Extremes::default(),
    };
    Ok(tolerance.resolve(&found))
}

/// The extremes of the field of all members.
fn extremes<T: Element>(
    version: Version,
    group: &dyn Group,
    values: &[T],
) -> Result<Extremes<T>, Error> {
    let mut cells = cpu::extremes(version, values).to_cells();
    group.max(&mut cells)?;
    Ok(Extremes::from_cells(cells))
}

//! Fields in parts: each member of a group compresses the part that it has, and together they write one stream. Without a
//! group, parts are made one by one by a [`Plan`].
//!
//! The stream has the bytes that [`Compressor::compress`] of the whole field has, however many members there are and
//! whatever boxes they have, and however many parts are planned.

mod blocks;
mod decomposition;
mod fetch;
mod gpu;
mod group;
mod place;
mod plan;
mod threads;
mod tiles;
mod units;

pub use group::{Group, Message, Piece, agree};
pub use plan::Plan;
pub use threads::Threads;

use crate::compress::Compressor;
use crate::cpu::{self, Version};
use crate::error::Error;
use crate::heading::Heading;
use decomposition::Decomposition;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, BoundMode, Element, Value, with_element};
use fetch::{Held, own_window};
use std::ops::Range;

impl Compressor {
    /// Compresses the part of a field that this member of a group has; returns the length of the stream, which all members
    /// write together. All members call it with the same settings; [`Compressor::extents`] are those of the whole field.
    ///
    /// `own` is the box of the member, one range for each axis, which may be empty; `values` are its values in C order. The
    /// boxes of all members make the field. The bound is that of the whole field, also a relative one.
    ///
    /// A chunk is encoded by the member that has its first element. What it does not have of it, other members send. This is
    /// least if boxes begin at multiples of the chunks' extents.
    ///
    /// The device is the CPU unless another one is set. Of several GPUs the members take turns. On a GPU a member compresses a
    /// slab of whole chunks along the slowest axis, which other members send it, as far as it does not have it: so boxes should
    /// be such slabs. If a member has no GPU, or if there are fewer slabs than members, all use their CPUs.
    ///
    /// Beside its values a member needs memory for its compressed chunks and for those values of others. The header is
    /// written last, so that a file is no stream before all members have written their parts.
    ///
    /// See [`Threads`](crate::parts::Threads) for an example.
    ///
    /// # Errors
    ///
    /// [`Error::BoxOutside`], [`Error::PartMismatch`] and [`Error::BadParts`] if the boxes are not the field;
    /// [`Error::NotChosen`] with a preset; [`Error::PartsSettings`] with fill values, another order of axes, a bound
    /// relative to each value, signs or zeros that are kept, or values that are converted; [`Error::NoDevice`] and
    /// [`Error::OldGpu`]; [`Error::Group`] and [`Error::Io`] from the group. An error of one member is an error of all.
    pub fn compress_part<V: Value>(
        &self,
        group: &dyn Group,
        own: &[Range<u64>],
        values: &[V],
    ) -> Result<u64, Error> {
        let prepared = || {
            let layout = self.layout_of_parts::<V>(own, values.len())?;
            Ok((layout, gpu::of_member(self.device_set(), group.rank())?))
        };
        let (layout, gpu) = agree(group, prepared())?;
        let decomposition = Decomposition::gather(group, layout.extents.lengths(), own)?;
        let bound = self.bound();
        let gpu = gpu::Member::new(group, gpu, &layout)?;
        // A function for each type; see `cpu::compress`.
        with_element!(V::Coded::DTYPE, E => {
            #[inline(never)]
            fn compress() -> CompressPart<E> {
                compress_part
            }
            compress()(group, gpu.as_ref(), layout, bound, (&decomposition, own), bytemuck::cast_slice(values))
        })
    }

    /// The layout of a stream that is compressed in parts.
    fn layout_of_parts<V: Value>(&self, own: &[Range<u64>], found: usize) -> Result<Layout, Error> {
        if !V::TYPE.is_coded_as_is() {
            return Err(Error::PartsSettings(
                "values of 16 bits and integers are converted by a rule that follows from the whole field",
            ));
        }
        if self.bound().mode() == BoundMode::Pwrel {
            return Err(Error::PartsSettings(
                "a bound relative to each value needs a mask of signs and zeros",
            ));
        }
        if self.value_mapping(V::Coded::DTYPE)?.classes.count() > 0 {
            return Err(Error::PartsSettings(
                "fill values, and signs and zeros that are kept, need a mask",
            ));
        }
        let elements = self.elements_of_parts()?;
        if !self.order_for(elements)?.is_identity() {
            return Err(Error::PartsSettings("its axes are coded in another order"));
        }
        self.max_compressed_len(elements, V::TYPE)?;
        let own_elements = own
            .iter()
            .map(|range| range.end.saturating_sub(range.start));
        let elements_of_box = own_elements.fold(1, u64::saturating_mul);
        match elements_of_box == found as u64 {
            true => self.layout_for(elements),
            false => Err(Error::PartMismatch {
                elements: elements_of_box,
                found: found as u64,
            }),
        }
    }
}

/// [`compress_part`] of an element type.
type CompressPart<T> =
    fn(&dyn Group, Option<&gpu::Member>, Layout, Bound, Boxes<'_>, &[T]) -> Result<u64, Error>;

/// The boxes of all members, and that of this one.
type Boxes<'a> = (&'a Decomposition, &'a [Range<u64>]);

fn compress_part<T: Element>(
    group: &dyn Group,
    gpu: Option<&gpu::Member>,
    layout: Layout,
    bound: Bound,
    (decomposition, own): Boxes<'_>,
    values: &[T],
) -> Result<u64, Error> {
    let version = Version::best();
    let held = Held {
        decomposition,
        rank: group.rank(),
        values,
        own: own_window(&layout, own),
    };
    let quantizer = resolve(version, group, bound, values)?;
    let order = Order::identity(layout.extents.lengths().len());
    let header = layout.header(T::DTYPE, bound, quantizer.error().to_bits64());
    let header = Heading::plain::<T>(order, bound).header(header);
    let stored = match (gpu, layout.family()) {
        _ if layout.extents.elements() == 0 => Vec::new(),
        (Some(gpu), _) => {
            let bound = Bound::abs(quantizer.error().to_f64())?;
            gpu.encode(group, &layout, bound, &held)?
        }
        (None, Family::Blocks(layout)) => {
            blocks::encode(version, group, layout, &quantizer, &held)?
        }
        (None, Family::Tiles(layout)) => tiles::encode(version, group, &layout, &quantizer, &held)?,
    };
    place::write(group, header, layout.entries(), stored)
}

/// The quantiser of a bound on the field of all members.
fn resolve<T: Element>(
    version: Version,
    group: &dyn Group,
    bound: Bound,
    values: &[T],
) -> Result<Quantizer<T>, Error> {
    let mut found = Extremes::default();
    if bound.needs_extremes() {
        let mut cells = cpu::extremes(version, values).to_cells();
        group.max(&mut cells)?;
        found = Extremes::from_cells(cells);
    }
    Ok(bound.resolve(&found))
}

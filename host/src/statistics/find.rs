//! Values of a stream that are wanted, found without the chunks that cannot have any.

use crate::cpu::{self, Version};
use crate::damage::GridBox;
use crate::decompress::Decompressor;
use crate::error::Error;
use crate::info::fill_values;
use crate::memory::try_zeroed;
use crate::part::Part;
use crate::progress::SILENT;
use crate::reading::Reading;
use crate::statistics::Statistics;
use crate::statistics::reach::Reachable;
use crate::stream_ref::StreamRef;
use ferrosz_codec::container::grid::ChunkBox;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::statistics::{chunks, first_entry, units};
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::{Value, with_value};
use std::collections::BTreeSet;
use std::ops::RangeBounds;

/// The most elements that are decoded at once, but for a tile or a chunk.
const MOST: u64 = 1 << 22;

/// What a search of a stream read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Searched {
    /// Whether the stream has statistics; without them all chunks are read.
    pub has_statistics: bool,
    /// Chunks of the field.
    pub chunks: u64,
    /// Chunks whose statistics do not exclude a wanted value.
    pub chunks_wanted: u64,
    /// Bytes of the chunks that were decoded, those of the coarse field, the prologue and the mask among them.
    pub bytes_decoded: u64,
}

impl Decompressor {
    /// Finds the wanted values of a stream: calls `take` with the number and the value of each element of the decoded field
    /// that is among them, chunk by chunk. NaNs and fill values are not. Reads only chunks whose statistics do not exclude
    /// all wanted values; without statistics it reads all. Runs on the CPU.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    ///
    /// let field: Vec<f64> = (0..1_000_000).map(|i| (f64::from(i) * 1e-6).exp()).collect();
    /// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(1e-6)?).statistics(true);
    /// let stream = compressor.compress(&field)?;
    /// let mut found = Vec::new();
    /// let search = Decompressor::new().find(&stream, 2.718.., |at, _| found.push(at))?;
    /// assert!(!found.is_empty() && found.iter().all(|at| *at > 990_000));
    /// assert!(search.chunks_wanted < search.chunks / 10);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the stream is damaged; [`Error::OutOfMemory`].
    pub fn find(
        &self,
        stream: &[u8],
        wanted: impl RangeBounds<f64>,
        mut take: impl FnMut(u64, f64),
    ) -> Result<Searched, Error> {
        let stream = StreamRef::read(stream)?;
        let candidates = Candidates::of(&stream, &wanted)?;
        self.find_among(&stream, &candidates, &mut |place, number| {
            if wanted.contains(&number) {
                take(place, number);
            }
        })?;
        candidates.search(&stream)
    }

    /// Decodes candidates, and takes all values that are not missing.
    fn find_among(
        &self,
        stream: &StreamRef<'_>,
        candidates: &Candidates,
        take: &mut dyn FnMut(u64, f64),
    ) -> Result<(), Error> {
        if candidates.parts.is_empty() {
            return Ok(());
        }
        with_value!(stream.header.value_type, V => {
            self.find_values::<V>(stream, &candidates.parts, take)
        })
    }

    fn find_values<V: Value>(
        &self,
        stream: &StreamRef<'_>,
        parts: &[Part],
        take: &mut dyn FnMut(u64, f64),
    ) -> Result<(), Error> {
        let layout = stream.header.layout();
        let user = stream.order.user_extents(&layout.extents);
        let fills = fill_values(&stream.conversion, &stream.mapping.classes);
        let fills: Vec<u64> = fills.iter().map(|fill| fill.to_bits()).collect();
        let is_missing = |number: f64| number.is_nan() || fills.contains(&number.to_bits());
        let verify = self.verifies_checksums();
        cpu::with_reader::<V::Coded>(Version::best(), stream, verify, SILENT, &mut |read| {
            for part in parts {
                let reading = Reading::new(&layout, &stream.order, Some(part))?;
                let mut values = try_zeroed::<V>(reading.elements())?;
                self.read_values(stream, (part, &reading), read, &mut values)?;
                let places = part.runs(user.lengths()).into_iter().flatten();
                for (place, value) in places.zip(values) {
                    let number = value.to_number();
                    if !is_missing(number) {
                        take(place, number);
                    }
                }
            }
            Ok(())
        })
    }
}

/// The parts of a field that may have wanted values.
pub(crate) struct Candidates {
    parts: Vec<Part>,
    /// The entries of the chunk table that they need.
    pub(crate) entries: BTreeSet<u64>,
    chunks: u64,
    has_statistics: bool,
}

impl Candidates {
    /// Those of a stream of which only the start, the updates and the statistics may be known.
    pub(crate) fn of(
        stream: &StreamRef<'_>,
        wanted: &impl RangeBounds<f64>,
    ) -> Result<Self, Error> {
        let layout = stream.header.layout();
        let statistics = Statistics::read(stream)?;
        let numbers = match &statistics {
            Some(statistics) => wanted_chunks(stream, statistics, wanted),
            None => (0..chunks(&layout)).collect(),
        };
        let parts = parts_of_chunks(&layout, &stream.order, numbers.iter().copied());
        let mut entries = BTreeSet::new();
        for part in &parts {
            entries.extend(Reading::new(&layout, &stream.order, Some(part))?.entries());
        }
        Ok(Self {
            parts,
            entries,
            chunks: numbers.len() as u64,
            has_statistics: statistics.is_some(),
        })
    }

    fn search(&self, stream: &StreamRef<'_>) -> Result<Searched, Error> {
        let mut bytes_decoded = 0;
        for entry in &self.entries {
            bytes_decoded += stream.chunk(*entry)?.bytes.len() as u64;
        }
        Ok(Searched {
            has_statistics: self.has_statistics,
            chunks: chunks(&stream.header.layout()),
            chunks_wanted: self.chunks,
            bytes_decoded,
        })
    }
}

/// The chunks of the groups that may have wanted values. Of a group of which an update replaced something nothing is known.
fn wanted_chunks(
    stream: &StreamRef<'_>,
    statistics: &Statistics,
    wanted: &impl RangeBounds<f64>,
) -> Vec<u64> {
    let (layout, reach) = (stream.header.layout(), Reachable::of(stream));
    let is_replaced = |entry| stream.replacements.of(entry).is_some();
    let is_mask_replaced = (layout.field_entries()..layout.entries()).any(is_replaced);
    let mut numbers = Vec::new();
    for (number, group) in (0..).zip(statistics.groups()) {
        let chunks = statistics.of_groups.chunks_of(&layout, number);
        let mut entries = chunks.clone().map(|chunk| first_entry(&layout) + chunk);
        let is_unknown = is_mask_replaced || entries.any(is_replaced);
        if is_unknown || reach.may_meet(group, wanted) {
            numbers.extend(chunks);
        }
    }
    numbers
}

/// The parts of the user's field that chunks are, in ascending order; no element is in two of them.
pub(crate) fn parts_of_chunks(
    layout: &Layout,
    order: &Order,
    chunks: impl Iterator<Item = u64>,
) -> Vec<Part> {
    let units = chunks.flat_map(|chunk| units(layout, chunk));
    let boxes = joined(units.map(GridBox::from).collect()).into_iter();
    boxes
        .flat_map(|one| one.parts(&layout.grid(), &layout.extents, order))
        .collect()
}

impl From<ChunkBox> for GridBox {
    fn from(ChunkBox { origin, extents }: ChunkBox) -> Self {
        Self {
            origin,
            size: extents.map(u64::from),
        }
    }
}

/// Boxes, of which those that lie side by side in their order become one.
fn joined(mut boxes: Vec<GridBox>) -> Vec<GridBox> {
    for axis in [2, 1, 0] {
        let mut all: Vec<GridBox> = Vec::new();
        for next in boxes {
            let is_beside = |last: &GridBox| {
                let mut expected = *last;
                expected.origin[axis] += last.size[axis];
                expected.size[axis] = next.size[axis];
                expected == next && last.elements() + next.elements() <= MOST
            };
            match all.last_mut() {
                Some(last) if is_beside(last) => last.size[axis] += next.size[axis],
                _ => all.push(next),
            }
        }
        boxes = all;
    }
    boxes
}

//! A compression or a decompression on a machine that runs kernels, in a form for all codecs.

use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header::{HEADER_WORDS, Header};
use ferrosz_codec::container::header_words::LayoutWords;
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::predict::interp::tune::TighteningChoice;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, Element, ValueType};
use ferrosz_gpu_kernels::pipeline::cells::{self, Given};
use ferrosz_gpu_kernels::pipeline::identity::IdentityOf;
use ferrosz_simt::View;

/// What a codec of blocks codes.
#[derive(Clone, Copy)]
pub(crate) enum Coded {
    /// The coded field.
    Field,
    /// The logarithms of the user's field, which are computed where it is read; the coded field if that has holes.
    Logarithms {
        /// The words of the user's field, 16-byte aligned.
        field: View<u32>,
        /// One number, which is above 0 if the coded field has holes, and is there.
        holes: View<u64>,
    },
    /// The user's values of 16 bits, which become elements where they are read.
    Shorts {
        /// Their words, 16-byte aligned.
        field: View<u32>,
    },
}

/// The memory and parameters of a compression on the machine.
pub(crate) struct CompressJob {
    pub(crate) layout: Layout,
    /// The bound, and the type of the values to which it applies.
    pub(crate) bound: Bound,
    pub(crate) value_type: ValueType,
    /// The choice of the levels' bounds.
    pub(crate) tightening: TighteningChoice,
    /// The extremes of the coded field, as [`Extremes::to_cells`] has them, if they are known; else they are searched if the bound
    /// or the tightening needs them.
    pub(crate) extremes: Option<[u64; 2]>,
    /// Bytes of the stream's records, and their checksum; 0 if a conversion that is chosen on the machine changes them.
    pub(crate) record_bytes: u64,
    pub(crate) record_sum: u64,
    /// Whether holes of the field stand for elements of a mask.
    pub(crate) has_holes: bool,
    /// The coded field, 16-byte aligned.
    pub(crate) input: View<u32>,
    /// What a codec of blocks codes.
    pub(crate) coded: Coded,
    /// Memory for the longest stream without its records, 16-byte aligned: they are put before the chunk table when all
    /// else is there.
    pub(crate) stream: View<u32>,
    /// The workspace of the codec; the cells [`cells::OF_EXTREMES`] are clear.
    pub(crate) cells: View<u64>,
}

impl CompressJob {
    /// Whether the extremes of the coded field must be known.
    pub(crate) fn needs_extremes(&self) -> bool {
        self.bound.needs_extremes() || self.tightening.needs_range()
    }

    /// Whether the quantiser and the identity of the stream are in the workspace, as they depend on the field.
    pub(crate) fn is_resolved_on_machine(&self) -> bool {
        self.needs_extremes() || !self.value_type.is_coded_as_is()
    }

    /// The cells of its workspace that are cleared before the kernels of a codec.
    pub(crate) fn cells_of_chunks(&self) -> View<u64> {
        let chunks = match self.layout.family() {
            Family::Blocks(layout) => layout.grid.chunk_count(),
            Family::Tiles(layout) => layout.chunks(),
        };
        self.cells.first(cells::count(chunks))
    }

    /// Numbers that kernels take from the host, or from the workspace.
    pub(crate) fn given<const N: usize>(&self, known: [u64; N]) -> Given<N> {
        match self.is_resolved_on_machine() {
            true => Given::in_cells(),
            false => Given::known(known),
        }
    }

    /// The source from which kernels take the identity of the stream.
    pub(crate) fn identity<T: Element>(&self) -> IdentityOf {
        match self.is_resolved_on_machine() {
            true => IdentityOf::in_cells(),
            false => IdentityOf::known(self.header::<T>().identity()),
        }
    }

    /// The header of the stream, without the values that depend on the field.
    pub(crate) fn header<T: Element>(&self) -> Header {
        let resolved: Quantizer<T> = self.bound.resolve(&Extremes::default());
        let error_bits = resolved.error().to_bits64();
        Header {
            record_bytes: self.record_bytes,
            record_sum: self.record_sum,
            value_type: self.value_type,
            ..self.layout.header(T::DTYPE, self.bound, error_bits)
        }
    }
}

/// The memory and parameters of a decompression on the machine.
pub(crate) struct DecompressJob<'a> {
    pub(crate) layout: Layout,
    /// The type of the values.
    pub(crate) value_type: ValueType,
    /// Bytes of the stream's records.
    pub(crate) record_bytes: u64,
    /// Bytes of the stream's updates.
    pub(crate) update_bytes: u64,
    /// Memory for the entries of a stream with updates, 16-byte aligned.
    pub(crate) list: View<u32>,
    /// The regions to decode, in the order of their output.
    pub(crate) regions: &'a [Region],
    pub(crate) verify: bool,
    /// The stream, 16-byte aligned.
    pub(crate) stream: View<u32>,
    /// Memory for the elements, 16-byte aligned.
    pub(crate) output: View<u32>,
    /// Whether a codec of blocks writes values of 16 bits there, not elements.
    pub(crate) is_short: bool,
    /// Memory for regions of a codec of tiles: as many elements as
    /// [`scratch_elements`](crate::gpu::tiles::part::scratch_elements) says.
    pub(crate) scratch: View<u32>,
    /// The workspace of the codec, or at least `cells::count(0)` cells for a codec of blocks.
    pub(crate) cells: View<u64>,
}

impl DecompressJob<'_> {
    /// Whether the regions are all of the field.
    pub(crate) fn is_whole(&self) -> bool {
        let elements: u64 = self.regions.iter().map(Region::elements).sum();
        elements == self.layout.extents.elements()
    }

    /// The header's words.
    pub(crate) fn header(&self) -> View<u32> {
        self.stream.first(HEADER_WORDS as u64)
    }

    /// The words of the records.
    pub(crate) fn records(&self) -> View<u32> {
        let behind = self.stream.from(HEADER_WORDS as u64);
        behind.first(self.record_bytes / 4)
    }

    /// The stream as if it had no records: table and payload are at their places, and the header is not.
    pub(crate) fn behind_records(&self) -> View<u32> {
        self.stream.from(self.record_bytes / 4)
    }

    /// The chunk table: that of the stream, or the list of its entries if there are updates.
    pub(crate) fn table(&self) -> View<u32> {
        match self.update_bytes {
            0 => self.behind_records().from(HEADER_WORDS as u64),
            _ => self.list,
        }
    }

    /// The words of the header that describe such a stream, whatever its bound.
    pub(crate) fn layout_words(&self) -> LayoutWords {
        let lengths = [self.record_bytes, self.update_bytes];
        layout_words(self.layout, self.value_type, lengths)
    }
}

/// The cells that a decompression clears. The length of the stream that the last compression made is before them.
pub(crate) fn cells_to_clear(cells: View<u64>) -> View<u64> {
    cells.from(cells::FAULT)
}

/// The words of the header that describe a stream of this layout and type with so many bytes of records and of updates, whatever
/// its bound.
pub(crate) fn layout_words(
    layout: Layout,
    value_type: ValueType,
    [record_bytes, update_bytes]: [u64; 2],
) -> LayoutWords {
    LayoutWords::new(&Header {
        record_bytes,
        update_bytes,
        value_type,
        ..layout.header(value_type.coded(), Bound::default(), 0)
    })
}

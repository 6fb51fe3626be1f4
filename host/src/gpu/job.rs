//! A compression or a decompression on a machine that runs kernels, in a form for all codecs.

use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header::{HEADER_WORDS, Header};
use ferrosz_codec::container::header_words::{self, LAYOUT_WORDS};
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::pipeline::cells::Given;
use ferrosz_gpu_kernels::pipeline::identity::IdentityOf;
use ferrosz_simt::View;

/// A user's field whose logarithms are computed where it is read.
#[derive(Clone, Copy)]
pub(crate) struct Logarithms {
    /// Its words, 16-byte aligned.
    pub(crate) field: View<u32>,
    /// One number, which is above 0 if the coded field has holes, and is there.
    pub(crate) holes: View<u64>,
}

/// The memory and parameters of a compression on the machine.
pub(crate) struct CompressJob {
    pub(crate) layout: Layout,
    pub(crate) bound: Bound,
    /// Bytes of the stream's records, and their checksum.
    pub(crate) record_bytes: u64,
    pub(crate) record_sum: u64,
    /// Whether holes of the field stand for elements of a mask.
    pub(crate) has_holes: bool,
    /// The coded field, 16-byte aligned.
    pub(crate) input: View<u32>,
    /// The field whose logarithms are coded where it is, if the coded field is written only for holes.
    pub(crate) logarithms: Option<Logarithms>,
    /// Memory for the longest stream without its records, 16-byte aligned: they are put before the chunk table when all
    /// else is there.
    pub(crate) stream: View<u32>,
    /// The workspace of the codec; the cells [`cells::OF_EXTREMES`] are clear.
    pub(crate) cells: View<u64>,
}

impl CompressJob {
    /// The header of the stream, without the values that depend on the field.
    pub(crate) fn header<T: Element>(&self) -> Header {
        let resolved: Quantizer<T> = self.bound.resolve(&Extremes::default());
        let error_bits = resolved.error().to_bits64();
        Header {
            record_bytes: self.record_bytes,
            record_sum: self.record_sum,
            ..self.layout.header(T::DTYPE, self.bound, error_bits)
        }
    }
}

/// The memory and parameters of a decompression on the machine.
pub(crate) struct DecompressJob<'a> {
    pub(crate) layout: Layout,
    /// Bytes of the stream's records.
    pub(crate) record_bytes: u64,
    /// The regions to decode, in the order of their output.
    pub(crate) regions: &'a [Region],
    pub(crate) verify: bool,
    /// The stream, 16-byte aligned.
    pub(crate) stream: View<u32>,
    /// Memory for the elements, 16-byte aligned.
    pub(crate) output: View<u32>,
    /// The workspace of the codec, or at least `cells::count(0)` cells for a codec of blocks.
    pub(crate) cells: View<u64>,
}

impl DecompressJob<'_> {
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

    /// The words of the header that describe such a stream, whatever its bound.
    pub(crate) fn layout_words<T: Element>(&self) -> [u32; LAYOUT_WORDS] {
        layout_words::<T>(self.layout, self.record_bytes)
    }
}

/// Numbers that kernels take from the host, or from the workspace if the bound needs extremes.
pub(crate) const fn given<const N: usize>(needs_extremes: bool, known: [u64; N]) -> Given<N> {
    if needs_extremes {
        Given::in_cells()
    } else {
        Given::known(known)
    }
}

/// The source from which kernels take the identity of the stream of this header: the cells if its bound needs extremes,
/// as its error is then not yet known.
pub(crate) fn identity_of(header: &Header) -> IdentityOf {
    if header.bound.needs_extremes() {
        IdentityOf::in_cells()
    } else {
        IdentityOf::known(header.identity())
    }
}

/// The words of the header that describe a stream of this layout with so many bytes of records, whatever its bound.
pub(crate) fn layout_words<T: Element>(layout: Layout, record_bytes: u64) -> [u32; LAYOUT_WORDS] {
    header_words::layout_words(&Header {
        record_bytes,
        ..layout.header(T::DTYPE, Bound::default(), 0)
    })
}

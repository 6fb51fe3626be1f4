//! A compression or a decompression on a machine that runs kernels, as all codecs are asked for it.

use ferrosz_codec::container::header::{Header, LAYOUT_WORDS, Layout, to_words};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::pipeline::cells::Given;
use ferrosz_gpu_kernels::pipeline::identity::IdentityOf;
use ferrosz_simt::View;

/// What compression needs on the machine.
pub(crate) struct CompressJob {
    pub(crate) layout: Layout,
    pub(crate) bound: Bound,
    /// The field, 16-byte aligned.
    pub(crate) input: View<u32>,
    /// Room for the longest stream, 16-byte aligned.
    pub(crate) stream: View<u32>,
    /// `cells::count` cells, of which those of [`cells::OF_EXTREMES`] are clear.
    pub(crate) cells: View<u64>,
}

/// What decompression needs on the machine.
pub(crate) struct DecompressJob<'a> {
    pub(crate) layout: Layout,
    /// What to decode, one behind the other.
    pub(crate) regions: &'a [Region],
    pub(crate) verify: bool,
    /// The stream, 16-byte aligned.
    pub(crate) stream: View<u32>,
    /// Room for the elements, 16-byte aligned.
    pub(crate) output: View<u32>,
    /// At least `cells::count(0)` cells.
    pub(crate) cells: View<u64>,
}

/// What kernels are given of a bound: numbers that the host knows, or those in the workspace if it needs extremes.
pub(crate) const fn given<const N: usize>(needs_extremes: bool, known: [u64; N]) -> Given<N> {
    if needs_extremes {
        Given::in_cells()
    } else {
        Given::known(known)
    }
}

/// Where kernels find the identity of the stream of this header, whose error is not known if its bound needs extremes.
pub(crate) fn identity_of(header: &Header) -> IdentityOf {
    if header.bound.needs_extremes() {
        IdentityOf::in_cells()
    } else {
        IdentityOf::known(header.identity())
    }
}

/// The first words of the header of a stream, whatever its bound.
pub(crate) fn layout_words<T: Element>(layout: Layout) -> [u32; LAYOUT_WORDS] {
    let any_bound = Bound::default();
    let words = to_words(&layout.header(T::DTYPE, any_bound, 0).to_bytes());
    std::array::from_fn(|i| words[i])
}

//! A compression or a decompression on a machine that runs kernels, in a form for all codecs.

use ferrosz_codec::container::header::{Header, to_words};
use ferrosz_codec::container::header_words::LAYOUT_WORDS;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::pipeline::cells::Given;
use ferrosz_gpu_kernels::pipeline::identity::IdentityOf;
use ferrosz_simt::View;

/// The memory and parameters of a compression on the machine.
pub(crate) struct CompressJob {
    pub(crate) layout: Layout,
    pub(crate) bound: Bound,
    /// The field, 16-byte aligned.
    pub(crate) input: View<u32>,
    /// Memory for the longest stream, 16-byte aligned.
    pub(crate) stream: View<u32>,
    /// `cells::count` cells; the cells [`cells::OF_EXTREMES`] are clear.
    pub(crate) cells: View<u64>,
}

/// The memory and parameters of a decompression on the machine.
pub(crate) struct DecompressJob<'a> {
    pub(crate) layout: Layout,
    /// The regions to decode, in the order of their output.
    pub(crate) regions: &'a [Region],
    pub(crate) verify: bool,
    /// The stream, 16-byte aligned.
    pub(crate) stream: View<u32>,
    /// Memory for the elements, 16-byte aligned.
    pub(crate) output: View<u32>,
    /// At least `cells::count(0)` cells.
    pub(crate) cells: View<u64>,
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

/// The first words of the header of a stream, whatever its bound.
pub(crate) fn layout_words<T: Element>(layout: Layout) -> [u32; LAYOUT_WORDS] {
    let any_bound = Bound::default();
    let words = to_words(&layout.header(T::DTYPE, any_bound, 0).to_bytes());
    std::array::from_fn(|i| words[i])
}

//! The work of a machine on a slab.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::host_slices::Places;
use crate::gpu::job::{Coded, CompressJob, DecompressJob};
use crate::gpu::mapping::compress::{Compression, enqueue_compress};
use crate::gpu::mapping::decompress::{Decompression, Wanted, enqueue_decompress};
use crate::gpu::mapping::workspace::workspace_cells;
use crate::gpu::tiles;
use crate::gpu::tiles::slab::Others;
use crate::slabs::{Part, Slab};
use crate::stream_layout::StreamLayout;
use crate::tolerance::Tolerance;
use ferrosz_codec::Element;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::header::HEADER_BYTES;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::View;

impl Slab {
    /// A strict upper bound on the bytes of the slab's stream, given the layout of the field's. None if it does not fit in a
    /// `u64`.
    pub(crate) fn max_stream_bytes(&self, of_field: &StreamLayout) -> Option<u64> {
        match &self.part {
            Part::Field(layout) => as_field(layout, of_field).max_stream_bytes(),
            Part::Tiles(slab) => {
                let most = slab.decoded().max_bytes(of_field.dtype())?;
                most.checked_add(HEADER_BYTES as u64)
            }
        }
    }

    /// The cells of the workspace of a compression, and of a decompression.
    pub(crate) fn workspace_cells(&self, of_field: &StreamLayout) -> u64 {
        match &self.part {
            Part::Field(layout) => workspace_cells(&as_field(layout, of_field)),
            Part::Tiles(slab) => tiles::workspace::workspace_cells(&slab.decoded()),
        }
    }

    /// Enqueues the compression of the slab, with the absolute bound and the levels' bounds of the whole field. Waits only for the others, and they only
    /// share slabs of tiles.
    ///
    /// # Errors
    ///
    /// The machine's own; [`Error::Group`].
    pub(crate) fn enqueue_compress<T: Element, E: Executor>(
        &self,
        executor: &E,
        of_field: &StreamLayout,
        tolerance: Tolerance,
        places: &Places,
        others: Others<'_>,
    ) -> Result<(), Error> {
        let Places {
            field,
            stream,
            cells,
        } = *places;
        let Tolerance { bound, tightening } = tolerance;
        match &self.part {
            Part::Field(layout) => {
                let call = Compression {
                    layout: &as_field(layout, of_field),
                    bound,
                    tightening,
                    extremes: None,
                    mapping: &ValueMapping::default(),
                    fills: 0,
                    field,
                    stream,
                    cells,
                };
                enqueue_compress::<T, E>(executor, &call)
            }
            Part::Tiles(slab) => {
                let job = CompressJob {
                    layout: of_field.layout,
                    bound,
                    value_type: of_field.value_type,
                    tightening,
                    extremes: None,
                    record_bytes: 0,
                    record_sum: checksum(0, &[]),
                    has_holes: false,
                    input: field,
                    coded: Coded::Field,
                    stream,
                    cells,
                };
                executor.clear(cells.first(cells::count(slab.encoded().chunks())))?;
                tiles::enqueue_compress::<T, E>(executor, &job, slab, others)
            }
        }
    }

    /// Enqueues the decompression of the slab's stream.
    ///
    /// # Errors
    ///
    /// The machine's own.
    pub(crate) fn enqueue_decompress<T: Element, E: Executor>(
        &self,
        executor: &E,
        of_field: &StreamLayout,
        verify: bool,
        places: &Places,
    ) -> Result<(), Error> {
        let Places {
            field,
            stream,
            cells,
        } = *places;
        match &self.part {
            Part::Field(layout) => {
                let layout = &as_field(layout, of_field);
                let call = Decompression {
                    layout,
                    wanted: &Wanted::whole(layout)?,
                    verify,
                    stream,
                    output: field,
                    cells,
                };
                enqueue_decompress::<T, E>(executor, &call)
            }
            Part::Tiles(slab) => {
                let job = DecompressJob {
                    layout: of_field.layout,
                    value_type: of_field.value_type,
                    record_bytes: 0,
                    update_bytes: 0,
                    list: View::empty(),
                    regions: &[],
                    verify,
                    stream,
                    output: field,
                    is_short: false,
                    scratch: View::empty(),
                    cells,
                };
                tiles::decompress::enqueue_decompress::<T, E>(executor, &job, slab)
            }
        }
    }
}

/// The layout of the stream of a slab that is a field of its own.
fn as_field(layout: &Layout, of_field: &StreamLayout) -> StreamLayout {
    StreamLayout {
        value_type: of_field.value_type,
        ..(*layout).into()
    }
}

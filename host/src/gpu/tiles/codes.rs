//! Codes of tiles that are coded without a stream: there is no coarse field, all shifts are 0, and all tiles are counted.
//!
//! The kernels are those of streams. They get memory that is laid out as a stream, with a header that has the fields that they
//! check.

use crate::error::Error;
use crate::gpu::blocks::fault_in;
use crate::gpu::executor::{Executor, put};
use crate::gpu::job::{Coded, CompressJob, DecompressJob};
use crate::gpu::tiles::slab::{Others, TileSlab};
use crate::gpu::tiles::workspace::Workspace;
use crate::gpu::tiles::{Call, RUN_TILES, contents};
use crate::length::extents;
use crate::memory::try_zeroed;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::table::{CHUNK_ALIGNMENT, ENTRY_BYTES, Entry, Split};
use ferrosz_codec::container::tiles::{FIRST_ENTRY, TileLayout};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::TileCodec;
use ferrosz_codec::predict::interp::parameters::Parameters;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::tile::{ChunkLength, TileGrid};
use ferrosz_codec::{Bound, Codec, Dtype, Preference, ValueType, with_tile_coder};
use ferrosz_gpu_kernels::pipeline::cells::{self, Fault};
use ferrosz_gpu_kernels::pipeline::tiles::tiling::Counted;
use ferrosz_simt::View;
use std::borrow::Cow;

/// The codes of the tiles of a field on a machine.
pub struct TileCodes<'a, E: Executor> {
    executor: &'a E,
    /// Of streams with such a header.
    layout: Layout,
    slab: TileSlab,
    /// The cells of the workspace.
    cells: E::Memory,
    /// A word for each element of the field.
    values: E::Memory,
}

/// The bytes of coded tiles.
pub struct CodedTiles<'a> {
    /// The form and the bytes of each chunk.
    pub chunks: Vec<(Form, u64)>,
    /// The words of the frequencies.
    pub frequencies: Vec<u32>,
    /// The chunks, back to back.
    pub images: Cow<'a, [u8]>,
}

/// The memory that kernels read and write.
pub struct TileViews {
    /// The codes, as predictors leave them.
    pub regions: View<u32>,
    /// The words that stand for codes that have no token.
    pub values: View<u32>,
    /// The parameters of the field, with a radius and without shifts.
    pub parameters: View<u32>,
    /// The cells.
    pub cells: View<u64>,
}

impl<'a, E: Executor> TileCodes<'a, E> {
    /// Memory for the codes of a field, with cells that are clear and parameters of this radius.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]; the machine's own.
    pub fn new(
        executor: &'a E,
        codec: TileCodec,
        grid: &TileGrid,
        radius: u32,
    ) -> Result<Self, Error> {
        let tiles = TileLayout {
            codec,
            fine: *grid,
            coarse: None,
            chunk: ChunkLength::Four,
            levels: 0,
        };
        let (_, count) = Workspace::new(&tiles, Dtype::F32, View::empty());
        let codes = Self {
            executor,
            layout: Layout::new(Codec::INTERP, grid.shape(), extents(&grid.lengths())?),
            slab: TileSlab::whole(&tiles),
            cells: executor.allocate(8 * count)?,
            values: executor.allocate(4 * grid.elements())?,
        };
        let (workspace, _) = Workspace::new(&tiles, Dtype::F32, executor.view(&codes.cells));
        executor.clear(workspace.cells)?;
        executor.clear(workspace.counts)?;
        let resolved = Resolved::<f32>::new(Parameters::default(), 0.0).with_radius(radius);
        put(executor, &resolved.to_words(), workspace.parameters)?;
        Ok(codes)
    }

    /// The views of its memory.
    pub fn views(&self) -> TileViews {
        let cells = self.executor.view(&self.cells);
        let (workspace, _) = Workspace::new(&self.slab.encoded(), Dtype::F32, cells);
        TileViews {
            regions: workspace.regions,
            values: self.executor.view(&self.values),
            parameters: workspace.parameters,
            cells: workspace.cells,
        }
    }

    /// Encodes the codes in the regions. Waits.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]; the machine's own.
    pub fn encode(&self) -> Result<CodedTiles<'static>, Error> {
        let (executor, layout) = (self.executor, &self.slab.encoded());
        let most = self.layout.max_stream_bytes(Dtype::F32);
        let memory = executor.allocate(most.unwrap_or(u64::MAX))?;
        let job = CompressJob {
            layout: self.layout,
            bound: Bound::default(),
            value_type: ValueType::F32,
            tightening: Preference::default().tightening(),
            extremes: None,
            record_bytes: 0,
            record_sum: 0,
            has_holes: false,
            input: executor.view(&self.values),
            coded: Coded::Field,
            stream: executor.view(&memory),
            cells: executor.view(&self.cells),
        };
        let call = Call::<f32, E>::new(executor, &self.slab, layout, job.cells);
        let all = Counted::new(0, u64::from(RUN_TILES).min(layout.runs()));
        let parts = call.coded_parts(job.input, all);
        with_tile_coder!(layout.codec.coder, C => call.encode::<C>(&job, &parts, Others::default()), call.encode_planes(&job, &parts))?;
        let mut numbers = [0u64; 4];
        let bytes = bytemuck::cast_slice_mut(&mut numbers);
        executor.download(job.cells, 8 * cells::STREAM_BYTES, bytes)?;
        let [end, _, words, prologue] = numbers;
        let table = HEADER_BYTES as u64 + ENTRY_BYTES as u64 * FIRST_ENTRY;
        let mut entries = try_zeroed::<[u8; ENTRY_BYTES]>(layout.chunks())?;
        executor.download(job.stream, table, entries.as_flattened_mut())?;
        let mut frequencies = try_zeroed(words)?;
        let bytes = bytemuck::cast_slice_mut(&mut frequencies);
        executor.download(call.workspace.frequencies, 0, bytes)?;
        let mut images = try_zeroed(end.saturating_sub(prologue))?;
        let payload = table + ENTRY_BYTES as u64 * layout.chunks();
        executor.download(job.stream, payload + prologue, &mut images)?;
        let chunk = |entry: &[u8; ENTRY_BYTES]| {
            let entry = Entry::from_bytes(entry, Split::SHORT);
            (Form::from_id(entry.form).unwrap_or(Form::Raw), entry.bytes)
        };
        Ok(CodedTiles {
            chunks: entries.iter().map(chunk).collect(),
            frequencies,
            images: images.into(),
        })
    }

    /// Decodes tiles to the regions, and the values. Waits.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if they are damaged; [`Error::OutOfMemory`]; the machine's own.
    pub fn decode(&self, coded: &CodedTiles<'_>) -> Result<(), Error> {
        let (executor, layout) = (self.executor, &self.slab.decoded());
        let head = self.head(coded)?;
        let memory = executor.allocate((head.len() + coded.images.len()) as u64)?;
        let stream = executor.view(&memory);
        executor.upload(&head, stream)?;
        executor.upload(&coded.images, stream.from(head.len() as u64 / 4))?;
        let job = DecompressJob {
            layout: self.layout,
            value_type: ValueType::F32,
            record_bytes: 0,
            update_bytes: 0,
            list: View::empty(),
            regions: &[],
            verify: false,
            stream,
            output: executor.view(&self.values),
            is_short: false,
            scratch: View::empty(),
            cells: executor.view(&self.cells),
        };
        let call = Call::<f32, E>::new(executor, &self.slab, layout, job.cells);
        call.read_tables(&job)?;
        call.decode_parts(&job, job.output, 0)?;
        let mut fault = [0; 8];
        executor.download(job.cells, 8 * cells::FAULT, &mut fault)?;
        Ok(fault_in(u64::from_le_bytes(fault))?)
    }

    /// The bytes of a stream of coded tiles before its chunks.
    fn head(&self, coded: &CodedTiles<'_>) -> Result<Vec<u8>, Error> {
        let words = contents::<f32>(&self.slab.decoded()).frequencies_at();
        let prologue =
            (4 * (words + coded.frequencies.len() as u64)).next_multiple_of(CHUNK_ALIGNMENT);
        let header = Header {
            payload_bytes: prologue + coded.images.len() as u64,
            ..self.layout.header(Dtype::F32, Bound::default(), 0)
        };
        let mut head = header.to_bytes().to_vec();
        let mut start = prologue;
        head.extend([0; ENTRY_BYTES]);
        for (number, (form, bytes)) in (FIRST_ENTRY..).zip(&coded.chunks) {
            if *bytes > Split::SHORT.max_chunk_bytes() {
                let fault = Fault::Chunk(number, ChunkFault::Place as u32);
                fault_in(fault.to_cell())?;
            }
            head.extend(Entry::new(start, *bytes, *form, 0).to_bytes(Split::SHORT));
            start += bytes;
        }
        let end = head.len() + prologue as usize;
        head.extend(vec![0; 4 * words as usize]);
        head.extend(coded.frequencies.iter().flat_map(|word| word.to_le_bytes()));
        head.resize(end, 0);
        Ok(head)
    }
}

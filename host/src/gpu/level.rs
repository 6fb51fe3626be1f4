//! Levels of a field whose levels are coded apart, decoded by kernels.

use crate::backend::Gpu;
use crate::cpu::tiles::LevelField;
use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::host_slices::decode_by;
use crate::gpu::job::DecompressJob;
use crate::gpu::tiles::decompress::enqueue_decompress_level;
use crate::gpu::tiles::workspace::{Sections, workspace_cells};
use crate::memory::try_zeroed;
use crate::stream_ref::StreamRef;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::tiles::{FIRST_ENTRY, TileLayout};
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::{Element, with_element};
use ferrosz_simt::View;
use std::cell::RefCell;
use std::ops::Range;

/// Reads levels of a stream from a machine with kernels. Each level is decoded once, and not from the coarser ones.
pub(crate) struct DeviceLevels<'a, T> {
    gpu: &'a Gpu,
    stream: &'a StreamRef<'a>,
    verify: bool,
    /// The level that was read last.
    known: RefCell<Option<LevelElements<T>>>,
}

/// The coded elements of a level: those whose coordinates in the dimensions of the codec can all be divided by 2^level.
struct LevelElements<T> {
    level: u32,
    grid: TileGrid,
    elements: Vec<T>,
}

/// [`decode_of`] a type of elements.
type DecodeLevel<T> = fn(&Gpu, &LevelCall<'_>, &mut [T]) -> Result<(), Error>;

impl<'a, T: Element> DeviceLevels<'a, T> {
    /// Levels of a stream whose levels are coded apart.
    pub(crate) const fn new(gpu: &'a Gpu, stream: &'a StreamRef<'_>, verify: bool) -> Self {
        Self {
            gpu,
            stream,
            verify,
            known: RefCell::new(None),
        }
    }

    /// Copies a region of a level, along each axis of the user, to as many values. The level is below that of the anchors.
    ///
    /// # Errors
    ///
    /// [`Error::Format`]; [`Error::OutOfMemory`]; the machine's own.
    pub(crate) fn read(&self, level: u32, region: &Region, values: &mut [T]) -> Result<(), Error> {
        let none = || Error::NoLevels(self.stream.header.codec.into());
        let layout = self.stream.header.layout();
        let tiles = layout.tiles().ok_or_else(none)?;
        let field = LevelField::new(&layout, &tiles, level).ok_or_else(none)?;
        let mut known = self.known.borrow_mut();
        let found = match known.take() {
            Some(found) if found.level == level => found,
            _ => self.decode(&tiles, level)?,
        };
        field.put_elements(region, (level, &found.grid, &found.elements), values);
        *known = Some(found);
        Ok(())
    }

    fn decode(&self, layout: &TileLayout, level: u32) -> Result<LevelElements<T>, Error> {
        let stream = self.stream;
        let bytes = stream.rewrite(stream.header, stream.records, entries_from(layout, level))?;
        let header = Header::read(&bytes)?;
        let grid = layout.fine.coarse(1 << level);
        let mut elements = try_zeroed::<T>(grid.elements())?;
        let call = LevelCall {
            header: &header,
            bytes: &bytes[..header.stream_bytes() as usize],
            layout,
            level,
            verify: self.verify,
        };
        with_element!(T::DTYPE, E => {
            compiled_here!(decode: DecodeLevel<E> = decode_of::<E>);
            decode()(self.gpu, &call, bytemuck::cast_slice_mut(&mut elements))?;
        });
        Ok(LevelElements {
            level,
            grid,
            elements,
        })
    }
}

/// The entries of a level: the prologue, and the chunks of the coarse field and of the lines from the level on.
fn entries_from(layout: &TileLayout, level: u32) -> Range<u64> {
    let lines = layout
        .lines()
        .filter(|line| line.is_last || line.level >= level);
    let chunks: u64 = lines
        .map(|line| layout.chunk.count(&layout.line(line)))
        .sum();
    0..FIRST_ENTRY + layout.coarse_chunks() + chunks
}

fn decode_of<T: Element>(gpu: &Gpu, call: &LevelCall<'_>, elements: &mut [T]) -> Result<(), Error> {
    match *gpu {
        #[cfg(feature = "cuda")]
        Gpu::Cuda(ref kernels) => call.run(&kernels.on_default_stream(), elements),
        #[cfg(feature = "emulator")]
        Gpu::Emulator => call.run(&crate::gpu::executor::emulator::new(), elements),
    }
}

/// A decoding of a level.
struct LevelCall<'a> {
    header: &'a Header,
    bytes: &'a [u8],
    layout: &'a TileLayout,
    level: u32,
    verify: bool,
}

impl LevelCall<'_> {
    fn run<T: Element, E: Executor>(&self, executor: &E, elements: &mut [T]) -> Result<(), Error> {
        let mut sections = Sections::of(View::empty());
        sections.cells(workspace_cells(self.layout));
        sections.words(self.layout.fine.elements() * T::WORDS as u64);
        let bytes = size_of_val(elements) as u64;
        let output = decode_by(executor, &[self.bytes], [bytes, sections.end()], |places| {
            let mut sections = Sections::of(places.cells);
            let cells = sections.cells(workspace_cells(self.layout));
            let job = DecompressJob {
                layout: self.header.layout(),
                value_type: self.header.value_type,
                record_bytes: self.header.record_bytes,
                update_bytes: 0,
                list: View::empty(),
                regions: &[],
                verify: self.verify,
                stream: places.stream,
                output: places.field,
                is_short: false,
                scratch: sections.words(self.layout.fine.elements() * T::WORDS as u64),
                cells,
            };
            enqueue_decompress_level::<T, E>(executor, &job, self.layout, self.level)
        })?;
        executor.download(
            executor.view::<u32>(&output),
            0,
            bytemuck::cast_slice_mut(elements),
        )
    }
}

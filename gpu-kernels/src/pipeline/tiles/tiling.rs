//! Which tiles a chunk has: those of the coarse field, if there is one, come first.

use crate::choice::taken_tiles::TakenTiles;
use crate::pipeline::tiles::window::TileWindow;
use core::ops::Range;
use ferrosz_codec::code::entropy::counts;
use ferrosz_codec::tile::{ChunkLength, RUN_TILES, TileBox, TileGrid, TileOrder};
use ferrosz_simt::Thread;

/// The tiles of a field and of its coarse field, which share no chunk.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Tiling {
    /// Those of the coarse field; none, if it has no elements.
    coarse: TileGrid,
    /// Those of the field.
    fine: TileGrid,
    /// The positions of a tile that have codes, and their zones.
    pub order: TileOrder,
    /// Chunks of the coarse field.
    coarse_chunks: u64,
    /// Chunks of both, and the first one of a launch.
    chunks: u64,
    first_chunk: u64,
    /// Runs of the coarse field, and of both.
    coarse_runs: u64,
    runs: u64,
    /// Tiles of a whole chunk of the coarse field, and of the field.
    tiles_of_coarse_chunk: u32,
    tiles_of_chunk: u32,
}

/// A tile of one of the two fields.
#[derive(Clone, Copy)]
pub struct Tile {
    /// The tiles of its field.
    pub grid: TileGrid,
    /// Whether that is the coarse field.
    pub is_coarse: bool,
    /// Its position and extents.
    pub position: TileBox,
}

impl Tiling {
    /// The tiles of a coarse field, which may have no elements, and of its field, each with the length of its chunks.
    pub const fn new(
        (coarse, of_coarse): (TileGrid, ChunkLength),
        (fine, chunk): (TileGrid, ChunkLength),
        order: TileOrder,
    ) -> Self {
        let coarse_chunks = of_coarse.count(&coarse);
        let coarse_runs = coarse.runs();
        Self {
            coarse,
            fine,
            order,
            coarse_chunks,
            chunks: coarse_chunks + chunk.count(&fine),
            first_chunk: 0,
            coarse_runs,
            runs: coarse_runs + fine.runs(),
            tiles_of_coarse_chunk: of_coarse.tiles(),
            tiles_of_chunk: chunk.tiles(),
        }
    }

    /// The tiles of a line whose chunks lie behind so many others, which no launch has, and whose runs lie alone.
    #[must_use]
    pub fn of_line(line: TileGrid, chunk: ChunkLength, chunks_before: u64) -> Self {
        let none = TileGrid::new(line.shape(), [0; 3]);
        let order = TileOrder::flat(line.shape());
        let alone = Self::new((none, chunk), (line, chunk), order);
        Self {
            coarse_chunks: chunks_before,
            chunks: chunks_before + alone.chunks,
            first_chunk: chunks_before,
            ..alone
        }
    }

    /// The same with launches for these of its chunks alone.
    #[must_use]
    pub fn with_chunks(self, chunks: Range<u64>) -> Self {
        Self {
            chunks: chunks.end,
            first_chunk: chunks.start,
            ..self
        }
    }

    /// So many tiles of a field, each in a run of its own: see [`TakenTiles`].
    pub fn of_taken(fine: TileGrid, order: TileOrder, count: u64) -> Self {
        let none = TileGrid::new(fine.shape(), [0; 3]);
        Self {
            chunks: count,
            runs: count,
            ..Self::new((none, ChunkLength::Four), (fine, ChunkLength::Four), order)
        }
    }

    /// Chunks of both fields.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn chunks(&self) -> u64 {
        self.chunks
    }

    /// The chunk of thread block or warp number `at` of a launch for each chunk; too large a one for one too many.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn chunk_of_launch(&self, at: u64) -> u64 {
        self.first_chunk + at
    }

    /// How many chunks a launch has.
    pub const fn chunks_of_launch(&self) -> u64 {
        self.chunks - self.first_chunk
    }

    /// Runs of both fields.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn runs(&self) -> u64 {
        self.runs
    }

    /// Whether a chunk is one of the coarse field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn is_coarse(&self, chunk: u64) -> bool {
        chunk < self.coarse_chunks
    }

    /// Tiles of a whole chunk of the field that a chunk is of.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn whole_chunk(&self, chunk: u64) -> u32 {
        if self.is_coarse(chunk) {
            self.tiles_of_coarse_chunk
        } else {
            self.tiles_of_chunk
        }
    }

    /// The number of a chunk's first tile from the first tile of the runs of both fields on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn first_of_runs(&self, chunk: u64) -> u64 {
        let tiles = self.whole_chunk(chunk) as u64;
        if self.is_coarse(chunk) {
            chunk * tiles
        } else {
            self.coarse_runs * RUN_TILES as u64 + (chunk - self.coarse_chunks) * tiles
        }
    }

    /// A chunk of a window of the field: see [`TileWindow::chunk`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn chunk_of_window(&self, window: &TileWindow, at: u64) -> Option<u64> {
        let chunk = window.chunk(&self.fine, self.tiles_of_chunk, at)?;
        Some(self.coarse_chunks + chunk)
    }

    /// A chunk's field, and the number there of the chunk's first tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn first_tile(&self, chunk: u64) -> (TileGrid, u64) {
        let tiles = u64::from(self.whole_chunk(chunk));
        if self.is_coarse(chunk) {
            (self.coarse, chunk * tiles)
        } else {
            (self.fine, (chunk - self.coarse_chunks) * tiles)
        }
    }

    /// How many tiles a chunk has.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn tiles_of(&self, chunk: u64) -> u32 {
        let (grid, first) = self.first_tile(chunk);
        let left = grid.tiles().saturating_sub(first);
        left.min(u64::from(self.whole_chunk(chunk))) as u32
    }

    /// Tile number `tile` of a chunk or, of a list of tiles, that of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn taken_tile<T: Thread>(
        &self,
        t: T,
        taken: &TakenTiles,
        chunk: u64,
        tile: u32,
    ) -> TileBox {
        let (grid, first) = self.first_tile(chunk);
        let number = if taken.is_all() {
            first + u64::from(tile)
        } else {
            taken.number(t, chunk)
        };
        grid.tile(number)
    }

    /// Tile number `tile` of a chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn tile(&self, chunk: u64, tile: u32) -> Tile {
        let (grid, first) = self.first_tile(chunk);
        Tile {
            grid,
            is_coarse: self.is_coarse(chunk),
            position: grid.tile(first + u64::from(tile)),
        }
    }
}

/// The runs whose symbols are counted. The machine may have a slab of the field: then the runs of the coarse field, which all
/// machines have, are counted by the one that has the first slab.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// Runs of the field before those of the tiling.
    before: u64,
    /// Runs of the field.
    all: u64,
}

impl Counted {
    /// Those of a tiling that begins with run `before` of a field of `all` runs.
    pub const fn new(before: u64, all: u64) -> Self {
        Self { before, all }
    }

    /// Whether a run of a tiling is counted.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn has(&self, tiling: &Tiling, run: u64) -> bool {
        match run.checked_sub(tiling.coarse_runs) {
            None => self.before == 0,
            Some(run) => counts::is_counted(self.before + run, self.all),
        }
    }

    /// Whether some runs are not counted.
    pub const fn is_sample(&self) -> bool {
        counts::is_sample(self.all)
    }
}

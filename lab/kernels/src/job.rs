//! The launches of the kernels, and of the released ones beside them, on any machine.

use crate::layer::LayerParams;
use crate::layer::compress::CompressLayers;
use crate::layer::decompress::DecompressLayers;
use crate::pass::access::{OwnScalars, OwnVectors, WarpScalars, WarpVectors};
use crate::pass::block_length::{Of32, Of64};
use crate::pass::measure::Measure;
use crate::pass::offsets::{Chained, Known, LookBack};
use crate::pass::scan::ScanLengths;
use crate::pass::write::Pass;
use crate::pass::{LAYER_TILES, PassParams};
use ferrosz_codec::Element;
use ferrosz_codec::shape::{GROUP, Line, Shape};
use ferrosz_cuszp::aatrox::{LAYER, LAYER_BLOCKS, Layout as LayerLayout};
use ferrosz_cuszp::cuszp::mode::Mode;
use ferrosz_cuszp::cuszp::quantizer::Quantizer;
use ferrosz_cuszp::cuszp::{Framing, Layout};
use ferrosz_cuszp::kernels::compress::BareCompress;
use ferrosz_cuszp::kernels::decompress::BareDecompress;
use ferrosz_cuszp::kernels::{BareParams, Coder};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_host::Error;
use ferrosz_host::internals::Executor;
use ferrosz_simt::View;

/// A field of whole layers in the memory of a machine, with memory for its stream.
#[derive(Clone, Copy)]
pub struct Job<T> {
    /// The elements.
    pub elements: View<u32>,
    /// Room for [`stream_room`] bytes.
    pub stream: View<u32>,
    /// Room for [`cell_count`] cells; [`cells::STREAM_BYTES`] will be the length of a stream.
    pub cells: View<u64>,
    /// The number of layers.
    pub layers: u32,
    /// The quantiser.
    pub quantizer: Quantizer<T>,
}

/// A strict upper bound on the bytes of any stream of so many layers.
pub const fn stream_room(layers: u32) -> u64 {
    let longest_body = 4 * (1 + GROUP as u64);
    layers as u64 * (LAYER_BLOCKS as u64 * (1 + longest_body) + 4)
}

/// Cells of the workspace for so many layers.
pub const fn cell_count(layers: u32) -> u64 {
    cells::STATES + 2 * LAYER_TILES * layers as u64
}

/// A compression of cuSZp2's pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassVariant {
    /// As in the paper.
    LookBack,
    /// A chained scan for the look-back.
    Chained,
    /// Three launches for the look-back.
    Launches,
    /// The last of the three launches alone: no tile waits for another.
    Known,
    /// Scalars for vectors.
    OwnScalars,
    /// Coalesced vectors.
    WarpVectors,
    /// Coalesced scalars.
    WarpScalars,
    /// A chained scan and scalars.
    ChainedScalars,
    /// Blocks of 64.
    Of64,
    /// The kernel of `ferrosz-cuszp`.
    Released,
}

impl PassVariant {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::LookBack,
        Self::Chained,
        Self::Launches,
        Self::Known,
        Self::OwnScalars,
        Self::WarpVectors,
        Self::WarpScalars,
        Self::ChainedScalars,
        Self::Of64,
        Self::Released,
    ];

    /// The way to positions, the accesses, and the length of a block.
    pub const fn design(self) -> [&'static str; 3] {
        match self {
            Self::LookBack => ["look-back", "own block, vectors", "32"],
            Self::Chained => ["chained scan", "own block, vectors", "32"],
            Self::Launches => ["three launches", "own block, vectors", "32"],
            Self::Known => ["known before", "own block, vectors", "32"],
            Self::OwnScalars => ["look-back", "own block, scalars", "32"],
            Self::WarpVectors => ["look-back", "coalesced, vectors", "32"],
            Self::WarpScalars => ["look-back", "coalesced, scalars", "32"],
            Self::ChainedScalars => ["chained scan", "own block, scalars", "32"],
            Self::Of64 => ["look-back", "own block, vectors", "64"],
            Self::Released => ["look-back", "the released kernel", "32"],
        }
    }

    /// Asks for the launches that come before those of [`PassVariant::enqueue`] and are not part of it.
    ///
    /// # Errors
    ///
    /// Errors of the machine, here and below.
    pub fn prepare<T: Element, E: Executor>(self, executor: &E, job: &Job<T>) -> Result<(), Error> {
        match self {
            Self::Known => job.find_offsets(executor),
            _ => Ok(()),
        }
    }

    /// Asks for the compression. Nothing waits.
    pub fn enqueue<T: Element, E: Executor>(self, executor: &E, job: &Job<T>) -> Result<(), Error> {
        let params = job.pass(self.block_groups());
        let tiles = params.tiles;
        match self {
            Self::Launches => job.find_offsets(executor)?,
            Self::Known => {}
            _ => executor.clear(job.cells)?,
        }
        match self {
            Self::LookBack => {
                executor.launch::<Pass<T, LookBack, OwnVectors, Of32>>(tiles, &params)
            }
            Self::Chained => executor.launch::<Pass<T, Chained, OwnVectors, Of32>>(tiles, &params),
            Self::Launches | Self::Known => {
                executor.launch::<Pass<T, Known, OwnVectors, Of32>>(tiles, &params)
            }
            Self::OwnScalars => {
                executor.launch::<Pass<T, LookBack, OwnScalars, Of32>>(tiles, &params)
            }
            Self::WarpVectors => {
                executor.launch::<Pass<T, LookBack, WarpVectors, Of32>>(tiles, &params)
            }
            Self::WarpScalars => {
                executor.launch::<Pass<T, LookBack, WarpScalars, Of32>>(tiles, &params)
            }
            Self::ChainedScalars => {
                executor.launch::<Pass<T, Chained, OwnScalars, Of32>>(tiles, &params)
            }
            Self::Of64 => executor.launch::<Pass<T, LookBack, OwnVectors, Of64>>(tiles, &params),
            Self::Released => {
                let params = job.released(Coder::Cuszp(Mode::Plain), params.payload_start)?;
                executor.launch::<BareCompress<T, Line>>(tiles, &params)
            }
        }
    }

    /// Groups of a block.
    const fn block_groups(self) -> u64 {
        match self {
            Self::Of64 => 2,
            _ => 1,
        }
    }
}

/// A coder of AATROX's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerVariant {
    /// One warp for a layer, as in the paper.
    Warp,
    /// The kernels of `ferrosz-cuszp`: four thread blocks for a layer.
    Released,
}

impl LayerVariant {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Warp, Self::Released];

    /// What has a layer.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warp => "one warp",
            Self::Released => "four thread blocks, the released kernel",
        }
    }

    /// Asks for the compression. Nothing waits.
    ///
    /// # Errors
    ///
    /// Errors of the machine, here and below.
    pub fn enqueue_compress<T: Element, E: Executor>(
        self,
        executor: &E,
        job: &Job<T>,
    ) -> Result<(), Error> {
        executor.clear(job.cells)?;
        match self {
            Self::Warp => executor.launch::<CompressLayers<T>>(job.layers, &job.layer()),
            Self::Released => {
                let (tiles, params) = job.released_layers()?;
                executor.launch::<BareCompress<T, Line>>(tiles, &params)
            }
        }
    }

    /// Asks for the decompression of a valid stream to the elements. Nothing waits.
    pub fn enqueue_decompress<T: Element, E: Executor>(
        self,
        executor: &E,
        job: &Job<T>,
    ) -> Result<(), Error> {
        executor.clear(job.cells)?;
        match self {
            Self::Warp => executor.launch::<DecompressLayers<T>>(job.layers, &job.layer()),
            Self::Released => {
                let (tiles, params) = job.released_layers()?;
                executor.launch::<BareDecompress<T, Line>>(tiles, &params)
            }
        }
    }
}

impl<T: Element> Job<T> {
    /// The length of the last stream, at most [`stream_room`]. Waits.
    ///
    /// # Errors
    ///
    /// Errors of the machine.
    pub fn stream_bytes<E: Executor>(&self, executor: &E) -> Result<u64, Error> {
        let mut length = [0; 8];
        executor.download(self.cells, 8 * cells::STREAM_BYTES, &mut length)?;
        Ok(u64::from_le_bytes(length).min(stream_room(self.layers)))
    }

    fn tiles(&self) -> u32 {
        LAYER_TILES as u32 * self.layers
    }

    fn count(&self) -> u64 {
        LAYER as u64 * u64::from(self.layers)
    }

    fn quantizer_bits(&self) -> [u64; 2] {
        let Quantizer { inverse, error } = self.quantizer;
        [inverse.to_bits64(), error.to_bits64()]
    }

    /// The parameters of a pass with blocks of so many groups.
    fn pass(&self, block_groups: u64) -> PassParams {
        PassParams {
            elements: self.elements,
            stream: self.stream,
            cells: self.cells,
            tiles: self.tiles(),
            payload_start: self.count() / (GROUP as u64 * block_groups),
            quantizer: self.quantizer_bits(),
        }
    }

    /// Asks for the first two of three launches.
    fn find_offsets<E: Executor>(&self, executor: &E) -> Result<(), Error> {
        let params = self.pass(1);
        executor.launch::<Measure<T>>(params.tiles, &params)?;
        executor.launch::<ScanLengths>(1, &params)
    }

    /// The parameters of kernels of layers.
    fn layer(&self) -> LayerParams {
        LayerParams {
            elements: self.elements,
            stream: self.stream,
            cells: self.cells,
            layers: self.layers,
            quantizer: self.quantizer_bits(),
        }
    }

    /// The parameters of the released kernels.
    fn released(&self, coder: Coder, payload_start: u64) -> Result<BareParams, Error> {
        let elements = self.count();
        let layout = Layout::new(Shape::Line, Framing::V3, [1, 1, elements]);
        Ok(BareParams {
            elements: self.elements,
            stream: self.stream,
            cells: self.cells,
            layout: layout.map_err(|_| Error::TooLarge {
                elements,
                dtype: T::TYPE,
            })?,
            payload_start,
            quantizer: self.quantizer_bits(),
            coder: coder.id(),
        })
    }

    /// Blocks and parameters of the released kernels of layers.
    fn released_layers(&self) -> Result<(u32, BareParams), Error> {
        let start = LayerLayout::new(self.count()).payload_start();
        Ok((self.tiles(), self.released(Coder::Aatrox, start)?))
    }
}

//! The methods of prediction, each with kernels of its own.

use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::tile::TileBox;

/// The coefficients that predictions have, and so the kinds of predictions.
pub trait Method: Copy + Send + Sync + 'static {
    /// The start of the kernels' names.
    const NAME: &'static str;
    /// The kind of coefficients.
    const KIND: FittedKind;
    /// Whether there are any.
    const IS_FITTED: bool = !matches!(Self::KIND, FittedKind::None);
    /// Blocks of the prediction and the reconstruction of `f32` on a multiprocessor, as the registers allow.
    const BLOCKS: u32;
    /// Whether slices are predicted one by one.
    const IN_SLICES: bool = matches!(Self::KIND, FittedKind::Slices);

    /// A tile as it is predicted: slices do not need those behind the tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn tile(tile: TileBox) -> TileBox {
        if Self::IN_SLICES {
            tile.without_far_slices()
        } else {
            tile
        }
    }
}

/// Splines on all levels.
#[derive(Debug, Clone, Copy)]
pub struct Splines;

/// Stencils on fitted levels, splines on others.
#[derive(Debug, Clone, Copy)]
pub struct Stencils;

/// Stencils in slices, with terms of the slices before.
#[derive(Debug, Clone, Copy)]
pub struct Slices;

impl Method for Splines {
    const NAME: &'static str = "ferrosz_interp";
    const KIND: FittedKind = FittedKind::None;
    const BLOCKS: u32 = 3;
}

impl Method for Stencils {
    const NAME: &'static str = "ferrosz_stencil";
    const KIND: FittedKind = FittedKind::Stencils;
    const BLOCKS: u32 = 3;
}

impl Method for Slices {
    const NAME: &'static str = "ferrosz_slices";
    const KIND: FittedKind = FittedKind::Slices;
    const BLOCKS: u32 = 2;
}

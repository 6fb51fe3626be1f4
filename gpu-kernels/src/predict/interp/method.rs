//! The methods of prediction, each with kernels of its own.

#[cfg(feature = "toy")]
pub mod toy_fitted;

use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::tile::TileBox;

/// The coefficients that predictions have, and so the kinds of predictions.
pub trait Method: Copy + Send + Sync + 'static {
    /// The start of the kernels' names.
    const NAME: &'static str;
    /// The kind of coefficients.
    const KIND: FittedKind;
    /// Whether there are any.
    const IS_FITTED: bool = Self::KIND.is_some();
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

// Each row is a kind of coefficients of fields of all shapes, and its method. `$d` is a dollar sign, for the macro that this
// macro defines.
macro_rules! methods {
    ($d:tt $($kind:ident: $($M:ident)::+;)+) => {
        /// An expression in which `M` is the method and `S` the shape of fields of a shape that have coefficients of a kind:
        /// those of slices are of cubes.
        #[macro_export]
        macro_rules! with_method {
            ($d kind:expr, $d shape:expr, $d M:ident, $d S:ident => $d body:expr) => {
                match $d kind {
                    $(ferrosz_codec::predict::fitted::FittedKind::$kind => {
                        type $d M = $crate::predict::interp::method::$($M)::+;
                        ferrosz_codec::with_shape!($d shape, $d S => $d body)
                    })+
                    ferrosz_codec::predict::fitted::FittedKind::Slices => {
                        type $d M = $crate::predict::interp::method::Slices;
                        type $d S = ferrosz_codec::shape::Cube;
                        $d body
                    }
                }
            };
        }
    };
}

ferrosz_codec::with_toys! { methods! { $
    None: Splines;
    Stencils: Stencils;
}
    ToyFitted: toy_fitted::ToyFitted;
}

//! A tile's parameters, and coding or decoding of its positions once they are predicted.

use crate::predict::interp::method::Method;
use crate::predict::interp::values::Values;
use ferrosz_codec::Element;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::parameters::LevelFlags;
use ferrosz_codec::predict::interp::resolved::Words;
use ferrosz_codec::predict::interp::store::is_own;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::quantize::level::{LevelQuantizer, Quantized};
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::{self, TileBox};
use ferrosz_simt::{SharedAddress, Thread, View};

/// The window, along z and y, of the geometries whose finest level is taken in columns.
pub(super) const COLUMN_WINDOW: u32 = 16;

/// The parameters of a tile, for its block.
#[derive(Clone, Copy)]
pub struct TileSetup {
    /// The tile.
    pub tile: TileBox,
    /// The distance of anchors.
    pub spacing: u32,
    pub(super) window: [u32; 3],
    pub(super) flag_bits: u32,
    parameters: View<u32>,
    is_coarse: bool,
    /// The coefficients of stencils, or those of slices, two a word.
    pub(super) coefficients: View<u32>,
}

impl TileSetup {
    /// Reads the parameters. An unknown geometry is taken for the default: the host has looked at it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn read<T: Thread, S: StaticShape>(
        t: T,
        parameters: View<u32>,
        tile: TileBox,
        is_coarse: bool,
    ) -> Self {
        let words = Words(|at| t.load(parameters, at as u64));
        let geometry = words.geometry().unwrap_or_default();
        Self {
            tile,
            spacing: geometry.spacing(S::SHAPE),
            window: geometry.window(S::SHAPE),
            flag_bits: words.flag_bits(),
            parameters,
            is_coarse,
            coefficients: View::empty(),
        }
    }

    /// With the coefficients of all levels, if the method has any.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[must_use]
    pub fn with_coefficients<M: Method>(self, coefficients: View<u32>) -> Self {
        if M::IS_FITTED {
            Self {
                coefficients,
                ..self
            }
        } else {
            self
        }
    }

    /// Whether a level with these flags is predicted by stencils. The coarse field has no such levels.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) const fn is_fitted(&self, flags: LevelFlags) -> bool {
        flags.is_fitted() & !self.is_coarse
    }

    /// The bound.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn error<T: Thread, E: Element>(&self, t: T) -> E {
        Words(|at| t.load(self.parameters, at as u64)).error()
    }

    /// The radius: codes are less than it in magnitude.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn radius<T: Thread>(&self, t: T) -> u32 {
        Words(|at| t.load(self.parameters, at as u64)).radius()
    }

    /// Whether the finest level is taken in columns.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn has_columns<S: StaticShape>(&self) -> bool {
        let [depth, height, _] = self.window;
        let is_served = depth == COLUMN_WINDOW && height == COLUMN_WINDOW;
        matches!(S::SHAPE, Shape::Cube) && is_served && self.tile.left[0] >= COLUMN_WINDOW
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn quantizer<T: Thread, E: Element>(&self, t: T, level: u32) -> LevelQuantizer<E> {
        let level = if self.is_coarse {
            self.spacing.trailing_zeros()
        } else {
            level
        };
        Words(|at| t.load(self.parameters, at as u64)).quantizer(level)
    }
}

/// A position that is to be coded or decoded.
#[derive(Clone, Copy)]
pub struct Position {
    /// Its coordinates, counted from the start of the tile.
    pub position: [u32; 3],
    /// Whether it is in the tile itself and not on a far face.
    pub is_own: bool,
    /// If so, its number in the order of steps and lanes.
    pub index: u32,
}

/// Coding or decoding of positions whose predictions are known.
pub trait Residuals<E> {
    /// The coefficients that predictions have.
    const KIND: FittedKind = FittedKind::None;

    /// The positions that are evaluated.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn scope(&self) -> Scope {
        Scope::Whole
    }

    /// Quantises or decodes positions of which none depends on another. `slots` are their values in the store. The
    /// results are their known values, or any value for a rare position.
    fn residuals<T: Thread, const N: usize>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        positions: [Position; N],
        slots: [E; N],
        predictions: [E; N],
    ) -> [E; N];

    /// Whether a position is processed alone by [`Residuals::code_rare`], so that the usual path is simpler.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_rare(_: E) -> bool {
        false
    }

    /// Quantises or decodes a rare position.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn code_rare<T: Thread>(&self, _: T, _: &LevelQuantizer<E>, _: Position, slot: E, _: E) -> E {
        slot
    }
}

/// Quantises values as [`LevelQuantizer::encode_all`] does, with less code: the definition stands once, in a loop. Of
/// [`LevelQuantizer::encode_all`], N copies of it would be most of a kernel.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn encode_each<T: Thread, E: Element, M: Method, const N: usize>(
    t: T,
    quantizer: &LevelQuantizer<E>,
    values: [E; N],
    predictions: [E; N],
    error: E,
    radius: u32,
) -> [Quantized<E>; N] {
    // The kernels of slices have no registers left for the loop.
    if M::IN_SLICES {
        return quantizer.encode_all(values, predictions, error, radius);
    }
    let (mut all, is_usual) = quantizer.encode_usual(values, predictions, error, radius);
    if !is_usual {
        for number in 0..t.opaque(N as u32) {
            // LLVM would duplicate the loop for each number that it knows.
            let number = t.opaque(number);
            let (mut value, mut prediction) = (values[0], predictions[0]);
            for i in 1..N {
                if number == i as u32 {
                    (value, prediction) = (values[i], predictions[i]);
                }
            }
            let [quantized] = quantizer.encode_as_defined([value], [prediction], error, radius);
            for (i, of_number) in all.iter_mut().enumerate() {
                if number == i as u32 {
                    *of_number = quantized;
                }
            }
        }
    }
    all
}

/// Quantises or decodes the position at an address in the store of a tile of shape `S`, and leaves its known value there; that
/// value.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn code<T: Thread, E: Element, S: StaticShape, R: Residuals<E>>(
    t: T,
    residuals: &R,
    quantizer: &LevelQuantizer<E>,
    position: [u32; 3],
    address: SharedAddress,
    prediction: E,
) -> E {
    let position = Position {
        position,
        is_own: is_own(S::SHAPE, position),
        index: tile::index(S::SHAPE, position),
    };
    let slot = Values::<E, S>::load_at(t, address);
    let [mut known] = residuals.residuals(t, quantizer, [position], [slot], [prediction]);
    if R::is_rare(slot) {
        known = residuals.code_rare(t, quantizer, position, slot, prediction);
    }
    Values::<E, S>::store_at(t, address, known);
    known
}

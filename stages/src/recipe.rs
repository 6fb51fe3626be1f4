//! The recipe of a field: everything that composing it from its codes depends on, so that decoding never tunes.

use crate::order::{CodeLayout, CodeOrder};
use ferrosz_codec::bound::{Bound, BoundMode};
use ferrosz_codec::element::{Dtype, Element};
use ferrosz_codec::error::FormatError;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::{Resolved, WORDS, Words};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::tile::code::RADIUS;

/// The integer type of codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CodeWidth {
    /// `u8`.
    U8,
    /// `u16`.
    #[default]
    U16,
    /// `u32`.
    U32,
}

impl CodeWidth {
    /// All widths.
    pub const ALL: [Self; 3] = [Self::U8, Self::U16, Self::U32];

    /// Bytes of a code.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
        }
    }

    /// The width of this many bytes.
    pub fn of_bytes(bytes: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.bytes() == bytes)
    }

    /// The largest radius: stored codes are below twice the radius.
    pub const fn max_radius(self) -> u32 {
        match self {
            Self::U8 => 1 << 7,
            Self::U16 | Self::U32 => RADIUS,
        }
    }
}

/// The recipe for composing a field of `T`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe<T> {
    /// The field, in the dimensions of the predictor.
    pub grid: TileGrid,
    /// Parameters, bounds and radius. Codes are stored with the radius added; 0 marks a value without a code.
    pub resolved: Resolved<T>,
    /// The integer type of codes.
    pub width: CodeWidth,
    /// The order of codes.
    pub order: CodeOrder,
    /// The bound as the user gave it. Composing does not need it.
    pub bound: Bound,
}

/// `FZIP`, little-endian.
const MAGIC: u32 = u32::from_le_bytes(*b"FZIP");
const VERSION: u32 = 1;

const MAGIC_AT: usize = 0;
const KIND_AT: usize = 1;
const LENGTHS_AT: usize = 2;
const BOUND_AT: usize = LENGTHS_AT + 6;
const RESOLVED_AT: usize = BOUND_AT + 2;
const RECIPE_WORDS: usize = RESOLVED_AT + WORDS;

/// Bytes of a recipe.
pub const RECIPE_BYTES: usize = 4 * RECIPE_WORDS;

const CONTRADICTION: FormatError =
    FormatError::InvalidHeader("the parameters of an interpolation contradict themselves");

/// The words of a recipe of this version.
fn words_of(bytes: &[u8]) -> Result<[u32; RECIPE_WORDS], FormatError> {
    let bytes: &[u8; RECIPE_BYTES] = bytes.try_into().map_err(|_| FormatError::Truncated {
        needed: RECIPE_BYTES as u64,
        found: bytes.len() as u64,
    })?;
    let mut words = [0; RECIPE_WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    if words[MAGIC_AT] != MAGIC {
        return Err(FormatError::NotFerrosz);
    }
    match words[KIND_AT] & 0xff {
        VERSION => Ok(words),
        _ => Err(FormatError::InvalidHeader("a recipe of an unknown version")),
    }
}

/// The type of the elements of a recipe.
fn dtype_of(words: &[u32; RECIPE_WORDS]) -> Result<Dtype, FormatError> {
    let number = (words[KIND_AT] >> 8) as u8;
    Dtype::from_id(number).ok_or(FormatError::InvalidHeader("unknown type of elements"))
}

impl<T: Element> Recipe<T> {
    /// The distance between anchors.
    pub fn spacing(&self) -> u32 {
        let geometry = self.resolved.parameters.geometry;
        geometry.spacing(self.grid.shape())
    }

    /// The field of the anchors.
    pub fn coarse(&self) -> TileGrid {
        self.grid.coarse(self.spacing())
    }

    /// The positions of codes.
    pub fn layout(&self) -> CodeLayout {
        CodeLayout {
            grid: self.grid,
            order: self.order,
            anchor_level: self.spacing().trailing_zeros(),
        }
    }

    /// The recipe as bytes: little-endian words, at the positions that the constants of this module give.
    pub fn to_bytes(&self) -> [u8; RECIPE_BYTES] {
        let mut words = [0; RECIPE_WORDS];
        words[MAGIC_AT] = MAGIC;
        words[KIND_AT] = VERSION
            | u32::from(T::DTYPE.id()) << 8
            | u32::from(self.grid.shape().id()) << 16
            | self.width.bytes() << 20
            | self.order.id() << 24
            | u32::from(self.bound.mode().id()) << 28;
        let mut put = |at: usize, wide: u64| {
            words[at] = wide as u32;
            words[at + 1] = (wide >> 32) as u32;
        };
        for (number, length) in self.grid.lengths().into_iter().enumerate() {
            put(LENGTHS_AT + 2 * number, length);
        }
        put(BOUND_AT, self.bound.value().to_bits());
        let resolved = self.resolved.to_words();
        words[RESOLVED_AT..].copy_from_slice(&resolved);
        let mut bytes = [0; RECIPE_BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The recipe in these bytes.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if [`Recipe::to_bytes`] makes no such bytes of a field of `T`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let words = words_of(bytes)?;
        let found = dtype_of(&words)?;
        if found != T::DTYPE {
            return Err(FormatError::WrongDtype {
                wanted: T::TYPE,
                found: found.into(),
            });
        }
        // Bytes that no encoder writes, reserved bits included, are not written like this.
        Self::from_words(&words)
            .filter(|recipe| recipe.to_bytes() == bytes)
            .ok_or(CONTRADICTION)
    }

    /// The types of the elements and of the codes of the recipe in these bytes, whatever the elements are.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if it is no recipe.
    pub fn types_of(bytes: &[u8]) -> Result<(Dtype, CodeWidth), FormatError> {
        let words = words_of(bytes)?;
        let width = CodeWidth::of_bytes(words[KIND_AT] >> 20 & 15).ok_or(CONTRADICTION)?;
        Ok((dtype_of(&words)?, width))
    }

    fn from_words(words: &[u32; RECIPE_WORDS]) -> Option<Self> {
        let wide = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        let kind = words[KIND_AT];
        let shape = Shape::from_id((kind >> 16 & 15) as u8)?;
        let lengths: [u64; 3] = core::array::from_fn(|i| wide(LENGTHS_AT + 2 * i));
        lengths[0]
            .checked_mul(lengths[1])?
            .checked_mul(lengths[2])?;
        let is_line = matches!(shape, Shape::Line);
        let width = CodeWidth::of_bytes(kind >> 20 & 15)?;
        let mode = BoundMode::from_id((kind >> 28) as u8)?;
        let is_of_field = mode != BoundMode::Pwrel;
        let resolved: Resolved<T> = Words(|at| words.get(RESOLVED_AT + at).copied().unwrap_or(0))
            .read(shape, FittedKind::None)?;
        let fits = (!is_line || lengths[..2] == [1, 1]) && resolved.radius <= width.max_radius();
        (fits && is_of_field).then_some(Self {
            grid: TileGrid::new(shape, lengths),
            resolved,
            width,
            order: CodeOrder::from_id(kind >> 24 & 15)?,
            bound: Bound::new(mode, f64::from_bits(wide(BOUND_AT))).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::predict::interp::parameters::Parameters;

    fn recipe() -> Recipe<f64> {
        Recipe {
            grid: TileGrid::new(Shape::Plane, [3, 500, 1 << 40]),
            resolved: Resolved::new(Parameters::default(), 1e-3).with_radius(99),
            width: CodeWidth::U8,
            order: CodeOrder::Level,
            bound: Bound::range(0.25).unwrap(),
        }
    }

    #[test]
    fn bytes_come_back() {
        let bytes = recipe().to_bytes();
        let read = Recipe::<f64>::from_bytes(&bytes).unwrap();
        assert_eq!(read, recipe());
        assert!(matches!(
            Recipe::<f32>::from_bytes(&bytes),
            Err(FormatError::WrongDtype { .. })
        ));
        assert!(Recipe::<f64>::from_bytes(&bytes[1..]).is_err());
    }

    #[test]
    fn no_other_bytes_are_a_recipe() {
        let good = recipe().to_bytes();
        for bit in 0..8 * RECIPE_BYTES {
            let mut bytes = good;
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = Recipe::<f64>::from_bytes(&bytes) {
                // The bit belongs to a number of which every value is valid.
                assert_eq!(read.to_bytes(), bytes);
                assert!(read.resolved.radius <= 128 && read.grid.lengths()[0] < 1 << 20);
            }
        }
        let mut other = recipe();
        other.resolved.radius = 129;
        assert!(Recipe::<f64>::from_bytes(&other.to_bytes()).is_err());
    }
}

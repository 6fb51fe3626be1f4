//! Stages: what stands behind the interpolator, and turns its codes into bytes.

pub mod bit_planes;
pub mod entropy;
pub mod fixed_length;
pub(crate) mod machine;
mod machine_tiles;
pub mod plain;
pub mod stream;
mod tiles;

use crate::code::Code;
use crate::error::Error;
use crate::order::CodeLayout;
use crate::recipe::{CodeWidth, Recipe};
use ferrosz_codec::Element;
use ferrosz_codec::pipeline::TileCoder;
use ferrosz_host::Error as HostError;
use ferrosz_host::internals::try_zeroed;
use std::sync::Arc;

/// All that encoder and decoder know of the codes of a field.
#[derive(Debug, Clone, Copy)]
pub struct CodeFormat {
    layout: CodeLayout,
    width: CodeWidth,
    radius: u32,
}

/// The codes of a field.
#[derive(Debug, Clone, Copy)]
pub struct Codes<'a> {
    format: CodeFormat,
    bytes: &'a [u8],
}

/// A stage: an encoder of codes and its decoder. ferrosz's own are [`Rans`](entropy::Rans),
/// [`Huffman`](entropy::Huffman), [`BitPlanes`](bit_planes::BitPlanes), [`FixedLength`](fixed_length::FixedLength),
/// [`Stream`](stream::Stream) and [`Plain`](plain::Plain); any other type may be one.
///
/// ```
/// use ferrosz_stages::{Bound, CodeFormat, CodeOrder, Codes, Error, Interpolator, Pipeline, Stage};
///
/// /// Runs of equal bytes: a length and the byte.
/// struct Runs;
///
/// impl Stage for Runs {
///     fn name(&self) -> &str {
///         "example.org/runs"
///     }
///
///     fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
///         let runs = codes.bytes().chunk_by(|a, b| a == b);
///         let pairs = runs.flat_map(|run| run.chunks(255)).map(|run| [run.len() as u8, run[0]]);
///         Ok(pairs.flatten().collect())
///     }
///
///     fn decode(&self, bytes: &[u8], _: &CodeFormat) -> Result<Vec<u8>, Error> {
///         let (pairs, rest) = bytes.as_chunks();
///         if !rest.is_empty() {
///             return Err(Error::stage(self.name(), "half a run is left"));
///         }
///         Ok(pairs.iter().flat_map(|[count, byte]| vec![*byte; usize::from(*count)]).collect())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let field: Vec<f32> = (0..30 * 40 * 50).map(|i| (i as f32 * 1e-3).sin()).collect();
/// let interpolator = Interpolator::new(Bound::abs(1e-2)?)
///     .extents(&[30, 40, 50])?
///     .order(CodeOrder::Level);
/// let pipeline = Pipeline::new(interpolator, Runs);
/// let bytes = pipeline.compress(&field)?;
/// let back: Vec<f32> = pipeline.decompress(&bytes)?;
/// assert!(field.iter().zip(&back).all(|(x, y)| (x - y).abs() <= 1e-2));
/// // Who does not have the stage is told its name.
/// let unknown = ferrosz_stages::decompress::<f32>(&bytes, &[], Default::default());
/// assert_eq!(unknown, Err(Error::UnknownStage("example.org/runs".to_owned())));
/// # Ok(())
/// # }
/// ```
pub trait Stage: Send + Sync {
    /// The name that containers have: 1 to 32 bytes.
    fn name(&self) -> &str;

    /// The codes as bytes, as few as possible.
    ///
    /// # Errors
    ///
    /// [`Error::stage`] if the stage cannot encode them; [`Error::Ferrosz`] without memory.
    fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error>;

    /// The codes in these bytes, as [`Codes::bytes`] had them. The caller checks their number.
    ///
    /// # Errors
    ///
    /// [`Error::stage`] if [`Stage::encode`] makes no such bytes; [`Error::Ferrosz`] without memory.
    fn decode(&self, bytes: &[u8], format: &CodeFormat) -> Result<Vec<u8>, Error>;

    /// What machines with kernels run in place of this stage, with the same bytes, so that codes need not travel; none
    /// if only the CPU runs it.
    fn on_machine(&self) -> Option<MachineStage> {
        None
    }
}

/// A stage of ferrosz's own that machines with kernels run, too. The bytes are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MachineStage {
    /// [`Rans`](entropy::Rans), [`Huffman`](entropy::Huffman) or [`BitPlanes`](bit_planes::BitPlanes).
    Tiles(TileCoder),
    /// [`FixedLength`](fixed_length::FixedLength).
    FixedLength,
    /// [`Stream`](stream::Stream).
    Stream,
}

/// ferrosz's own stages.
pub fn own_stages() -> Vec<Arc<dyn Stage>> {
    vec![
        Arc::new(entropy::Rans),
        Arc::new(entropy::Huffman),
        Arc::new(bit_planes::BitPlanes),
        Arc::new(fixed_length::FixedLength),
        Arc::new(stream::Stream),
        Arc::new(plain::Plain),
    ]
}

/// ferrosz's own stage of this name.
///
/// # Errors
///
/// [`Error::UnknownStage`].
pub fn own_stage(name: &str) -> Result<Arc<dyn Stage>, Error> {
    let found = own_stages().into_iter().find(|stage| stage.name() == name);
    found.ok_or_else(|| Error::UnknownStage(name.to_owned()))
}

impl CodeFormat {
    /// The format of the codes of a recipe.
    ///
    /// # Errors
    ///
    /// [`Error::BadRadius`] if codes of the recipe's width cannot have its radius; [`HostError::TooLarge`] if the field
    /// has 2^32 elements or more.
    pub fn of<T: Element>(recipe: &Recipe<T>) -> Result<Self, Error> {
        let (radius, most) = (recipe.resolved.radius, recipe.width.max_radius());
        if !(1..=most).contains(&radius) {
            return Err(Error::BadRadius { radius, most });
        }
        let lengths = recipe.grid.lengths();
        let elements = (lengths.iter()).fold(1, |all: u64, length| all.saturating_mul(*length));
        if u32::try_from(elements).is_err() {
            let dtype = T::DTYPE.into();
            return Err(HostError::TooLarge { elements, dtype }.into());
        }
        Ok(Self {
            layout: recipe.layout(),
            width: recipe.width,
            radius,
        })
    }

    /// The field, and the order of its codes. The codes of anchors are the radius.
    pub fn layout(&self) -> &CodeLayout {
        &self.layout
    }

    /// The integer type of codes.
    pub fn width(&self) -> CodeWidth {
        self.width
    }

    /// Codes are below twice the radius, and most are near it.
    pub fn radius(&self) -> u32 {
        self.radius
    }

    /// The number of codes.
    pub fn count(&self) -> u64 {
        self.layout.grid.elements()
    }

    /// The bytes of these codes, as [`Codes::bytes`] has them.
    ///
    /// # Errors
    ///
    /// [`Error::BadDecomposition`] if a code is not below twice the radius.
    pub(crate) fn bytes_of(
        &self,
        codes: impl ExactSizeIterator<Item = u32>,
    ) -> Result<Vec<u8>, Error> {
        let width = self.width.bytes() as usize;
        let mut bytes = try_zeroed(codes.len() as u64 * width as u64)?;
        for (place, code) in bytes.chunks_exact_mut(width).zip(codes) {
            if code >= 2 * self.radius {
                return Err(Error::BAD_CODE);
            }
            place.copy_from_slice(&code.to_le_bytes()[..width]);
        }
        Ok(bytes)
    }

    /// The codes in bytes.
    pub(crate) fn codes_of<C: Code>(bytes: &[u8]) -> Vec<C> {
        (bytes.chunks_exact(C::WIDTH.bytes() as usize))
            .map(|bytes| C::from_u32(number(bytes)))
            .collect()
    }
}

/// A little-endian number of up to four bytes.
fn number(bytes: &[u8]) -> u32 {
    (bytes.iter().rev()).fold(0, |number, byte| number << 8 | u32::from(*byte))
}

impl<'a> Codes<'a> {
    /// Codes of this format.
    ///
    /// # Errors
    ///
    /// [`Error::BadDecomposition`] if they are too few or too many, or not below twice the radius.
    pub fn new(format: CodeFormat, bytes: &'a [u8]) -> Result<Self, Error> {
        let codes = Self { format, bytes };
        if bytes.len() as u64 != format.count() * u64::from(format.width.bytes()) {
            return Err(Error::CODE_COUNT);
        }
        match codes.iter().all(|code| code < 2 * format.radius) {
            true => Ok(codes),
            false => Err(Error::BAD_CODE),
        }
    }

    /// Their format.
    pub fn format(&self) -> &CodeFormat {
        &self.format
    }

    /// The codes as little-endian integers of the format's width, one behind the other.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The codes as numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        (self.bytes.chunks_exact(self.format.width.bytes() as usize)).map(number)
    }

    /// The codes without the radius: the quantised differences from the prediction.
    pub fn differences(&self) -> impl ExactSizeIterator<Item = i32> + use<'a> {
        let radius = self.format.radius;
        self.iter()
            .map(move |code| code.wrapping_sub(radius).cast_signed())
    }
}

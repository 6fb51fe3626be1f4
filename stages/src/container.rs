//! The container: the parts of a field in one array of bytes, with the name of the stage that encoded the codes.
//!
//! ```text
//! [ header: stage, lengths, checksums, recipe ][ codes ][ anchors ][ outlier values ]   each padded to 4 bytes
//! ```
//!
//! The positions of the outliers are those of the codes that are 0. See FORMAT.md, section 21.

use crate::code::Code;
use crate::decomposition::Decomposition;
use crate::error::Error;
use crate::recipe::{CodeWidth, RECIPE_BYTES, Recipe};
use crate::stage::{CodeFormat, Codes, Stage};
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::extents::{Extents, MAX_RANK};
use ferrosz_codec::{Dtype, Element, FormatError};
use ferrosz_host::Error as HostError;
use ferrosz_host::internals::{extents, try_zeroed};
use std::fmt;
use std::ops::Range;

const MAGIC: [u8; 4] = *b"FZPC";
const VERSION: u32 = 1;

/// The most bytes of the name of a stage.
const NAME_BYTES: usize = 32;

/// Parts behind the header.
const PARTS: usize = 3;

const VERSION_AT: usize = 4;
const NAME_AT: usize = 8;
const LENGTHS_AT: usize = NAME_AT + NAME_BYTES;
const CHECKSUMS_AT: usize = LENGTHS_AT + 8 * PARTS;
const RECIPE_AT: usize = CHECKSUMS_AT + 8 * PARTS;
const RANK_AT: usize = RECIPE_AT + RECIPE_BYTES;
const EXTENTS_AT: usize = RANK_AT + 8;
const HEADER_CHECKSUM_AT: usize = EXTENTS_AT + 8 * MAX_RANK;
const HEADER_BYTES: usize = HEADER_CHECKSUM_AT + 8;

/// Bytes of the longest part: the words of a checksum have numbers of 32 bits.
const MOST_BYTES: u64 = 4 * (u32::MAX as u64 - 1);

/// A part of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartName {
    /// The header.
    Header,
    /// The codes, as the stage encoded them.
    Codes,
    /// The values of the anchors.
    Anchors,
    /// The values of the outliers.
    Outliers,
}

impl PartName {
    /// The parts behind the header.
    const BEHIND: [Self; PARTS] = [Self::Codes, Self::Anchors, Self::Outliers];

    /// The seed of its checksum.
    const fn seed(self) -> u64 {
        (self as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    const fn damaged(self, reason: &'static str) -> Error {
        Error::DamagedPart { part: self, reason }
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "the header",
            Self::Codes => "the codes",
            Self::Anchors => "the anchors",
            Self::Outliers => "the outliers",
        })
    }
}

/// A container whose header and checksums are right.
#[derive(Debug, Clone, Copy)]
pub struct Container<'a> {
    stage: &'a str,
    recipe: &'a [u8],
    extents: Extents,
    dtype: Dtype,
    width: CodeWidth,
    codes: &'a [u8],
    anchors: &'a [u8],
    outliers: &'a [u8],
}

impl<'a> Container<'a> {
    /// The container in these bytes.
    ///
    /// # Errors
    ///
    /// [`Error::DamagedPart`]; [`Error::Ferrosz`] with a [`FormatError`] if it is no container, or one of another
    /// version.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let header = bytes.get(..HEADER_BYTES).ok_or(FormatError::Truncated {
            needed: HEADER_BYTES as u64,
            found: bytes.len() as u64,
        });
        let header = header.map_err(HostError::from)?;
        if header[..VERSION_AT] != MAGIC {
            return Err(HostError::from(FormatError::NotFerrosz).into());
        }
        let version = wide(header, VERSION_AT) as u32;
        if version != VERSION {
            let fault = FormatError::InvalidHeader("a container of parts of an unknown version");
            return Err(HostError::from(fault).into());
        }
        let sum = checksum(PartName::Header.seed(), &header[..HEADER_CHECKSUM_AT]);
        if sum != wide(header, HEADER_CHECKSUM_AT) {
            return Err(PartName::Header.damaged("its checksum does not match"));
        }
        let [codes, anchors, outliers] = parts(bytes, header)?;
        let recipe = &header[RECIPE_AT..RANK_AT];
        let (dtype, width) = Recipe::<f32>::types_of(recipe).map_err(HostError::from)?;
        Ok(Self {
            stage: name_of(header)?,
            recipe,
            extents: extents_of(header)?,
            dtype,
            width,
            codes,
            anchors,
            outliers,
        })
    }

    /// The name of the stage that encoded the codes.
    pub fn stage(&self) -> &'a str {
        self.stage
    }

    /// The extents of the field, slowest dimension first.
    pub fn extents(&self) -> &[u64] {
        self.extents.lengths()
    }

    /// The type of the field's elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The integer type of the codes.
    pub fn width(&self) -> CodeWidth {
        self.width
    }

    /// The recipe of the field.
    ///
    /// # Errors
    ///
    /// [`Error::Ferrosz`] with a [`FormatError`] if the field is not of `T`.
    pub fn recipe<T: Element>(&self) -> Result<Recipe<T>, Error> {
        Ok(Recipe::from_bytes(self.recipe).map_err(HostError::from)?)
    }

    /// The bytes of codes, anchors and outliers.
    pub(crate) fn encoded(&self) -> [&'a [u8]; PARTS] {
        [self.codes, self.anchors, self.outliers]
    }

    /// The recipe and the format of codes, with which the extents and the number of anchors agree.
    pub(crate) fn checked<T: Element>(&self) -> Result<(Recipe<T>, CodeFormat), Error> {
        let recipe = self.recipe::<T>()?;
        let format = CodeFormat::of(&recipe)?;
        if self.extents.elements() != format.count() {
            return Err(PartName::Header.damaged("its extents are not those of the recipe"));
        }
        if self.anchors.len() as u64 != recipe.coarse().elements() * T::BYTES as u64 {
            return Err(PartName::Anchors.damaged("their number is not that of the field"));
        }
        Ok((recipe, format))
    }

    /// The parts of the field; `stage` decodes the codes.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownStage`] if the stage has another name; [`Error::Stage`] and [`Error::DamagedPart`] if a part does
    /// not have what the recipe says; as [`Container::recipe`].
    pub fn parts<T: Element, C: Code>(
        &self,
        stage: &dyn Stage,
    ) -> Result<Decomposition<T, C>, Error> {
        if stage.name() != self.stage {
            return Err(Error::UnknownStage(self.stage.to_owned()));
        }
        let (recipe, format) = self.checked::<T>()?;
        if recipe.width != C::WIDTH {
            return Err(PartName::Codes.damaged("they have another width than was asked for"));
        }
        let codes = stage.decode(self.codes, &format)?;
        Codes::new(format, &codes).map_err(|error| error.of_stage(self.stage))?;
        let codes = CodeFormat::codes_of::<C>(&codes);
        let outlier_indices = outlier_indices(&recipe, &codes);
        if self.outliers.len() != outlier_indices.len() * T::BYTES {
            return Err(OUTLIER_COUNT);
        }
        Ok(Decomposition {
            recipe,
            codes,
            anchors: values_of(self.anchors),
            outlier_values: values_of(self.outliers),
            outlier_indices,
        })
    }
}

/// There are more or fewer outliers than codes that are 0.
pub(crate) const OUTLIER_COUNT: Error =
    PartName::Outliers.damaged("their number is not that of the codes");

/// The container of the parts of a field with these extents, whose codes `stage` encodes.
///
/// # Errors
///
/// [`Error::BadStageName`]; [`Error::BadDecomposition`] if the parts do not fit each other; [`Error::Stage`];
/// [`Error::Ferrosz`]: [`HostError::BadExtents`], [`HostError::ExtentsMismatch`] and [`HostError::OutOfMemory`].
pub fn write<T: Element, C: Code>(
    parts: &Decomposition<T, C>,
    extents: &[u64],
    stage: &dyn Stage,
) -> Result<Vec<u8>, Error> {
    checked_name(stage.name())?;
    checked_extents(extents, parts.codes.len() as u64)?;
    parts.check_lengths()?;
    if outlier_indices(&parts.recipe, &parts.codes) != parts.outlier_indices {
        return Err(Error::BAD_OUTLIERS);
    }
    let format = CodeFormat::of(&parts.recipe)?;
    let codes = format.bytes_of(parts.codes.iter().map(|code| code.to_u32()))?;
    let encoded = EncodedParts {
        recipe: parts.recipe,
        parts: [
            stage.encode(&Codes::new(format, &codes)?)?,
            bytes_of(&parts.anchors)?,
            bytes_of(&parts.outlier_values)?,
        ],
    };
    encoded.write(extents, stage.name())
}

/// The parts of a field as a container has them.
pub(crate) struct EncodedParts<T> {
    pub(crate) recipe: Recipe<T>,
    /// The bytes of codes, anchors and outliers.
    pub(crate) parts: [Vec<u8>; PARTS],
}

impl<T: Element> EncodedParts<T> {
    /// The container of a field with these extents, whose codes a stage of this name encoded.
    ///
    /// # Errors
    ///
    /// As [`write`].
    pub(crate) fn write(&self, extents: &[u64], stage: &str) -> Result<Vec<u8>, Error> {
        let name = checked_name(stage)?;
        let extents = checked_extents(extents, self.recipe.grid.elements())?;
        let lengths = self.parts.each_ref().map(|part| part.len() as u64);
        let places = places(lengths).ok_or_else(|| Error::stage(name, "its bytes are too many"))?;
        let mut bytes = try_zeroed(places[PARTS - 1].end as u64)?;
        for (part, place) in self.parts.iter().zip(&places) {
            bytes[place.clone()][..part.len()].copy_from_slice(part);
        }
        write_header(&mut bytes, name, &self.recipe, &extents, lengths, &places);
        Ok(bytes)
    }
}

/// Writes the header in front of parts of these lengths at these places.
fn write_header<T: Element>(
    bytes: &mut [u8],
    name: &str,
    recipe: &Recipe<T>,
    extents: &Extents,
    lengths: [u64; PARTS],
    places: &[Range<usize>; PARTS],
) {
    let sums: [u64; PARTS] = std::array::from_fn(|number| {
        checksum(
            PartName::BEHIND[number].seed(),
            &bytes[places[number].clone()],
        )
    });
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, &MAGIC);
    put(VERSION_AT, &VERSION.to_le_bytes());
    put(NAME_AT, name.as_bytes());
    put(RECIPE_AT, &recipe.to_bytes());
    put(RANK_AT, &(extents.lengths().len() as u64).to_le_bytes());
    let words = [
        (LENGTHS_AT, &lengths[..]),
        (CHECKSUMS_AT, &sums[..]),
        (EXTENTS_AT, extents.lengths()),
    ];
    for (first, words) in words {
        for (number, word) in words.iter().enumerate() {
            put(first + 8 * number, &word.to_le_bytes());
        }
    }
    let sum = checksum(PartName::Header.seed(), &bytes[..HEADER_CHECKSUM_AT]);
    bytes[HEADER_CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
}

/// The extents of a field of so many elements.
fn checked_extents(lengths: &[u64], elements: u64) -> Result<Extents, Error> {
    let found = extents(lengths)?;
    if found.elements() != elements {
        return Err(HostError::ExtentsMismatch {
            extents: lengths.to_vec(),
            product: found.elements(),
            elements,
        }
        .into());
    }
    Ok(found)
}

/// The extents in a header.
fn extents_of(header: &[u8]) -> Result<Extents, Error> {
    let damaged = || PartName::Header.damaged("its extents are none");
    let rank = usize::try_from(wide(header, RANK_AT)).map_err(|_| damaged())?;
    let all: [u64; MAX_RANK] = std::array::from_fn(|axis| wide(header, EXTENTS_AT + 8 * axis));
    let (lengths, rest) = all.split_at_checked(rank).ok_or_else(damaged)?;
    if rest.iter().any(|length| *length != 0) {
        return Err(damaged());
    }
    extents(lengths).map_err(|_| damaged())
}

/// The eight bytes at a position as a number.
fn wide(bytes: &[u8], at: usize) -> u64 {
    (bytes.get(at..).and_then(|bytes| bytes.first_chunk()))
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The places of parts of these lengths, with their padding; none if a part is too long.
fn places(lengths: [u64; PARTS]) -> Option<[Range<usize>; PARTS]> {
    let mut places = [const { 0..0 }; PARTS];
    let mut start = HEADER_BYTES;
    for (place, length) in places.iter_mut().zip(lengths) {
        if length > MOST_BYTES {
            return None;
        }
        let end = start.checked_add(usize::try_from(length.next_multiple_of(4)).ok()?)?;
        *place = start..end;
        start = end;
    }
    Some(places)
}

/// The parts behind the header, whose checksums are right.
fn parts<'a>(bytes: &'a [u8], header: &[u8]) -> Result<[&'a [u8]; PARTS], Error> {
    let lengths = std::array::from_fn(|number| wide(header, LENGTHS_AT + 8 * number));
    let places = places(lengths)
        .ok_or_else(|| PartName::Header.damaged("it has a length that no part can have"))?;
    if bytes.len() > places[PARTS - 1].end {
        return Err(PartName::Outliers.damaged("bytes follow them"));
    }
    let mut parts = [&[][..]; PARTS];
    for (number, name) in PartName::BEHIND.into_iter().enumerate() {
        let part = (bytes.get(places[number].clone())).ok_or(name.damaged("they are cut off"))?;
        if checksum(name.seed(), part) != wide(header, CHECKSUMS_AT + 8 * number) {
            return Err(name.damaged("their checksum does not match"));
        }
        let (part, padding) = part.split_at(lengths[number] as usize);
        if padding.iter().any(|byte| *byte != 0) {
            return Err(name.damaged("their padding is not zero"));
        }
        parts[number] = part;
    }
    Ok(parts)
}

/// A name that a container can have.
pub(crate) fn checked_name(name: &str) -> Result<&str, Error> {
    match (1..=NAME_BYTES).contains(&name.len()) && !name.contains('\0') {
        true => Ok(name),
        false => Err(Error::BadStageName(name.to_owned())),
    }
}

/// The name of the stage in a header.
fn name_of(header: &[u8]) -> Result<&str, Error> {
    let place = &header[NAME_AT..LENGTHS_AT];
    let length = place
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(NAME_BYTES);
    let (name, padding) = place.split_at(length);
    let name = str::from_utf8(name).ok().filter(|name| !name.is_empty());
    (name.filter(|_| padding.iter().all(|byte| *byte == 0)))
        .ok_or(PartName::Header.damaged("the name of the stage is none"))
}

/// The numbers in the field of the elements without a code, ascending.
fn outlier_indices<T: Element, C: Code>(recipe: &Recipe<T>, codes: &[C]) -> Vec<u32> {
    let layout = recipe.layout();
    let mut codes = codes.iter();
    let mut indices = Vec::new();
    layout.each(|at| {
        let code = codes.next().map_or(1, |code| code.to_u32());
        if code == 0 && layout.level(at) != layout.anchor_level {
            indices.push(layout.grid.flat(at) as u32);
        }
    });
    indices.sort_unstable();
    indices
}

/// Values as bytes, little-endian.
fn bytes_of<T: Element>(values: &[T]) -> Result<Vec<u8>, Error> {
    let mut bytes = try_zeroed((values.len() * T::BYTES) as u64)?;
    for (place, value) in bytes.chunks_exact_mut(T::BYTES).zip(values) {
        place.copy_from_slice(&value.to_bits64().to_le_bytes()[..T::BYTES]);
    }
    Ok(bytes)
}

/// The values in bytes.
fn values_of<T: Element>(bytes: &[u8]) -> Vec<T> {
    let value = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..T::BYTES].copy_from_slice(bytes);
        T::from_bits64(u64::from_le_bytes(wide))
    };
    bytes.chunks_exact(T::BYTES).map(value).collect()
}

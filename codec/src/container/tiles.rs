//! Streams of tile codecs: their chunks, and the prologue before the chunks.
//!
//! The first entry of the chunk table is the entry of the *prologue*: the parameters of the interpolation, the
//! frequencies of the tokens, and the anchors of the coarse field. Then come the chunks of the coarse field, if there
//! is one, and the chunks of the field. See FORMAT.md, section 15.

use crate::code::entropy::frequency_tables::{FrequencyTables, MAX_WORDS};
use crate::container::grid::Grid;
use crate::container::table::{CHUNK_ALIGNMENT, ENTRY_BYTES};
use crate::element::{Dtype, Element};
use crate::error::ChunkFault;
use crate::pipeline::TileCodec;
use crate::predict::fitted::Fitted;
use crate::predict::interp::resolved::{Resolved, WORDS, Words};
use crate::shape::Shape;
use crate::tile::{ChunkLength, LineLevel, Part, TileGrid};

/// Entries before those of the chunks: the entry of the prologue.
pub const FIRST_ENTRY: u64 = 1;

/// The tiles and chunks of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileLayout {
    /// Predictor and coder.
    pub codec: TileCodec,
    /// The tiles of the field.
    pub fine: TileGrid,
    /// The tiles of the field's anchors, if it has any.
    pub coarse: Option<TileGrid>,
    /// The length of the field's chunks.
    pub chunk: ChunkLength,
    /// How many levels of the field are coded apart, each in a line of its own.
    pub levels: u8,
}

impl TileLayout {
    /// The tiles of a field with the shape and lengths of `grid`, in chunks of this length.
    pub fn new(codec: TileCodec, grid: &Grid, chunk: ChunkLength) -> Self {
        let fine = TileGrid::sliced(grid.shape(), grid.slices(), grid.slice_lengths());
        let geometry = codec.predictor.geometry();
        let coarse = geometry.map(|geometry| fine.coarse(geometry.spacing(grid.shape())));
        Self {
            codec,
            fine,
            coarse,
            chunk,
            levels: 0,
        }
    }

    /// The shape of the tiles.
    pub fn shape(&self) -> Shape {
        self.fine.shape()
    }

    /// The lines of the field in the order of their chunks, the highest level first; none if its codes lie in its tiles.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = LineLevel> + use<> {
        let levels = u32::from(self.levels);
        let first = if levels == 0 { 1 } else { 0 };
        (first..=levels).rev().map(move |level| LineLevel {
            level,
            is_last: level == levels,
        })
    }

    /// The tiles of a line: its codes are those of the elements of a field of one dimension, without levels.
    pub fn line(&self, line: LineLevel) -> TileGrid {
        let order = self.codec.order(self.shape());
        let codes = order.start_in_line(&self.fine, self.fine.tiles(), line);
        TileGrid::new(Shape::Line, [1, 1, codes])
    }

    /// The tiles of a part.
    pub fn grid(&self, part: Part) -> &TileGrid {
        match (part, &self.coarse) {
            (Part::Coarse, Some(coarse)) => coarse,
            _ => &self.fine,
        }
    }

    /// The length of the chunks of a part. Most tiles of a coarse field are cut off, which takes a coder longer: chunks of one
    /// run would keep a GPU waiting for one warp.
    pub fn chunk_length(&self, part: Part) -> ChunkLength {
        match (part, self.chunk) {
            (Part::Coarse, ChunkLength::Four) if self.codec.coder.has_tables() => ChunkLength::One,
            (_, length) => length,
        }
    }

    /// Chunks of the coarse field.
    pub fn coarse_chunks(&self) -> u64 {
        let coarse = self.coarse.as_ref();
        coarse.map_or(0, |coarse| self.chunk_length(Part::Coarse).count(coarse))
    }

    /// Chunks of the field.
    pub fn fine_chunks(&self) -> u64 {
        match self.levels {
            0 => self.chunk.count(&self.fine),
            _ => (self.lines())
                .map(|line| self.chunk.count(&self.line(line)))
                .sum(),
        }
    }

    /// All chunks: first those of the coarse field, then those of the field.
    pub fn chunks(&self) -> u64 {
        self.coarse_chunks() + self.fine_chunks()
    }

    /// The runs of the coarse field.
    pub fn coarse_runs(&self) -> u64 {
        self.coarse.as_ref().map_or(0, TileGrid::runs)
    }

    /// All runs.
    pub fn runs(&self) -> u64 {
        self.coarse_runs() + self.fine.runs()
    }

    /// Entries of the chunk table.
    pub fn entries(&self) -> u64 {
        match self.fine.elements() {
            0 => 0,
            _ => FIRST_ENTRY + self.chunks(),
        }
    }

    /// The part that a chunk belongs to, and its number there.
    pub fn part_of(&self, chunk: u64) -> (Part, u64) {
        match chunk.checked_sub(self.coarse_chunks()) {
            Some(fine) => (Part::Fine, fine),
            None => (Part::Coarse, chunk),
        }
    }

    /// The field of the anchors of the coarse field, which the prologue holds; none without interpolation.
    pub fn prologue_anchors(&self) -> Option<TileGrid> {
        let geometry = self.codec.predictor.geometry()?;
        Some(self.coarse?.coarse(geometry.spacing(self.shape())))
    }

    /// The words of the prologue's parameters.
    pub fn parameter_words(&self) -> usize {
        self.codec.predictor.geometry().map_or(0, |_| WORDS)
    }

    /// The words of the prologue's coefficients if all levels are fitted.
    fn max_coefficients(&self) -> usize {
        self.coefficients(u32::MAX)
    }

    /// The words of the prologue's coefficients with these flags of all levels.
    pub fn coefficients(&self, flag_bits: u32) -> usize {
        let fitted = self.codec.predictor.fitted();
        fitted.stored(self.shape(), flag_bits)
    }

    /// A strict upper bound on the bytes of a stream behind its header; none if it does not fit in a `u64`.
    pub fn max_bytes(&self, dtype: Dtype) -> Option<u64> {
        let parts = [Some(self.fine), self.coarse, self.prologue_anchors()];
        let mut elements = 0u64;
        for grid in parts.iter().flatten() {
            let [z, y, x] = grid.lengths();
            elements = elements.checked_add(z.checked_mul(y)?.checked_mul(x)?)?;
        }
        let fixed = 4 * (WORDS + 1 + MAX_WORDS + self.max_coefficients()) as u64;
        (elements.checked_mul(dtype.bytes() as u64)?)
            .checked_add((self.entries()).checked_mul(ENTRY_BYTES as u64 + CHUNK_ALIGNMENT)?)?
            .checked_add(fixed)
    }
}

/// The contents of a prologue without its anchors.
#[derive(Debug, Clone, PartialEq)]
pub struct Prologue<T> {
    /// The parameters of the interpolation, if there is one.
    pub resolved: Option<Resolved<T>>,
    /// The coefficients that are fitted to the field, if there are any.
    pub coefficients: Option<Fitted>,
    /// The frequencies of the tokens, if the coder has any.
    pub frequencies: Option<FrequencyTables>,
}

/// The sections of a prologue, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sections {
    /// The position of the word that counts the words of the frequencies.
    pub frequencies: usize,
    /// The start of the anchors of the coarse field.
    pub anchors: usize,
    /// The start of the coefficients, the end of the anchors.
    pub coefficients: usize,
    /// The end of the coefficients.
    pub end: usize,
}

impl Sections {
    /// The sections of a prologue with this many words of frequencies and of coefficients.
    pub fn new(
        layout: &TileLayout,
        frequency_words: usize,
        coefficients: usize,
        dtype: Dtype,
    ) -> Self {
        let parameters = 4 * layout.parameter_words();
        let anchors = parameters + 4 * (1 + frequency_words);
        let count = layout.prologue_anchors().map_or(0, |grid| grid.elements());
        let end_of_anchors = anchors + count as usize * dtype.bytes();
        Self {
            frequencies: parameters,
            anchors,
            coefficients: end_of_anchors,
            end: end_of_anchors + 4 * coefficients,
        }
    }

    /// The longest sections of a prologue.
    pub fn longest(layout: &TileLayout, dtype: Dtype) -> Self {
        Self::new(layout, MAX_WORDS, layout.max_coefficients(), dtype)
    }

    /// Bytes of the prologue, padding included.
    pub const fn bytes(&self) -> usize {
        self.end.next_multiple_of(CHUNK_ALIGNMENT as usize)
    }
}

/// The most bytes of a prologue of this layout, padding included.
pub fn max_prologue_bytes(layout: &TileLayout, dtype: Dtype) -> u64 {
    Sections::longest(layout, dtype).bytes() as u64
}

/// Bytes of the prologue at the start of a payload, padding included, as its contents give them. They may be more than
/// the bytes of the payload. None if it cannot be a prologue of this layout.
pub fn prologue_bytes(layout: &TileLayout, dtype: Dtype, payload: &[u8]) -> Option<u64> {
    let word = |at: usize| payload.get(4 * at..)?.first_chunk::<4>();
    let word = |at: usize| word(at).map(|word| u32::from_le_bytes(*word));
    let count = usize::try_from(word(layout.parameter_words())?).ok()?;
    let coefficients = match layout.parameter_words() {
        0 => 0,
        _ => layout.coefficients(Words(|at| word(at).unwrap_or(0)).flag_bits()),
    };
    (count <= MAX_WORDS).then(|| Sections::new(layout, count, coefficients, dtype).bytes() as u64)
}

impl<T: Element> Prologue<T> {
    /// Reads a prologue; returns also the positions of its sections.
    ///
    /// # Errors
    ///
    /// [`ChunkFault`] if it is not the prologue of a stream of this layout with this error.
    pub fn read(
        layout: &TileLayout,
        error: T,
        bytes: &[u8],
    ) -> Result<(Self, Sections), ChunkFault> {
        let words = bytes.as_chunks::<4>().0;
        let word = |at: usize| words.get(at).map_or(0, |word| u32::from_le_bytes(*word));
        let resolved = match layout.codec.predictor.geometry() {
            None => None,
            Some(geometry) => {
                let fitted = layout.codec.predictor.fitted();
                let read = Words(word).read::<T>(layout.shape(), fitted);
                let read = read.ok_or(ChunkFault::Prologue)?;
                let has_error = read.error.to_bits64() == error.to_bits64();
                if read.parameters.geometry != geometry || !has_error {
                    return Err(ChunkFault::Prologue);
                }
                Some(read)
            }
        };
        let flag_bits = resolved.map_or(0, |resolved| resolved.parameters.flag_bits());
        let first = Sections::new(layout, 0, 0, T::DTYPE);
        let count = word(first.frequencies / 4) as usize;
        if count > MAX_WORDS {
            return Err(ChunkFault::Prologue);
        }
        let sections = Sections::new(layout, count, layout.coefficients(flag_bits), T::DTYPE);
        if sections.bytes() != bytes.len() {
            return Err(ChunkFault::Length);
        }
        // All sections are of whole words.
        let coefficient = |i: usize| word(sections.coefficients / 4 + i);
        let fitted = layout.codec.predictor.fitted();
        let coefficients = fitted.read(layout.shape(), flag_bits, coefficient)?;
        let mut stored = [0; MAX_WORDS];
        let first_frequency = first.frequencies / 4 + 1;
        for (i, position) in stored.iter_mut().take(count).enumerate() {
            *position = word(first_frequency + i);
        }
        let stored = &stored[..count];
        let frequencies = with_tile_coder!(
            layout.codec.coder,
            C => Some(FrequencyTables::read::<C>(stored).map_err(|_| ChunkFault::Prologue)?),
            if count == 0 { None } else { return Err(ChunkFault::Prologue) }
        );
        Ok((
            Self {
                resolved,
                coefficients,
                frequencies,
            },
            sections,
        ))
    }

    /// Writes a prologue into `bytes`, which are zero and at least [`Sections::bytes`]; returns its sections.
    pub fn write(
        &self,
        layout: &TileLayout,
        anchors: impl Iterator<Item = T>,
        bytes: &mut [u8],
    ) -> Sections {
        let mut stored = [0; MAX_WORDS];
        let write = |frequencies: &FrequencyTables| with_tile_coder!(layout.codec.coder, C => frequencies.write::<C>(&mut stored), 0);
        let count = self.frequencies.as_ref().map_or(0, write);
        let parameters = self
            .resolved
            .map(|resolved| resolved.parameters.flag_bits());
        let flag_bits = parameters.unwrap_or(0);
        let sections = Sections::new(layout, count, layout.coefficients(flag_bits), T::DTYPE);
        let parameters = self.resolved.map(|resolved| resolved.to_words());
        let frequencies = stored.iter().take(count);
        let words = parameters.into_iter().flatten().chain([count as u32]);
        let words = words.chain(frequencies.copied());
        for (position, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *position = u32::to_le_bytes(word);
        }
        let positions = bytes.get_mut(sections.anchors..).unwrap_or_default();
        for (position, anchor) in positions.chunks_exact_mut(T::BYTES).zip(anchors) {
            position.copy_from_slice(&anchor.to_bits64().to_le_bytes()[..T::BYTES]);
        }
        let positions = bytes.get_mut(sections.coefficients..).unwrap_or_default();
        let mut positions = positions.as_chunks_mut::<4>().0.iter_mut();
        let put = |word: u32| {
            if let Some(position) = positions.next() {
                *position = u32::to_le_bytes(word);
            }
        };
        if let Some(coefficients) = &self.coefficients {
            coefficients.each_word(layout.shape(), flag_bits, put);
        }
        sections
    }
}

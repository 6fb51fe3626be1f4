//! The oracle of the codecs of tiles: predictors over the whole field, position by position.

use crate::code::entropy::shifts::Shifts;
use crate::code::entropy::states::SymbolCoder;
use crate::container::chunk::Form;
use crate::container::table::Entry;
use crate::element::Element;
use crate::error::{ChunkFault, FormatError};
use crate::oracle::bytes::{Reader, element_bytes, pad};
use crate::oracle::entropy::{Decoded, decode, encode};
use crate::oracle::frequencies::{self, Contexts};
use crate::oracle::interp::{
    Codes, Method, Slices, Stencils, compose, compose_by, decompose, decompose_by, spacing,
};
use crate::oracle::order::{Field, code_of, in_order, z_of};
use crate::oracle::parameters::{all_of_level, parameter_words, parameters_of};
use crate::oracle::stencil::per_level;
use crate::oracle::tile_lorenzo::{lorenzo, unpredicted};
use crate::oracle::{bit_planes, tuning};
use crate::pipeline::{TileCodec, TilePredictor};
use crate::predict::interp::geometry::Geometry;
use crate::predict::interp::parameters::Parameters;
use crate::predict::interp::resolved::Resolved;
use crate::quantize::field::Quantizer;
use crate::shape::Shape;
use crate::tile::{TileBox, TileOrder};
use alloc::vec;
use alloc::vec::Vec;

/// The codec of a stream of tiles and its field.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    codec: TileCodec,
    fine: Field,
    /// Tiles of a chunk.
    chunk: usize,
}

/// The coarse field with its geometry and spacing, with interpolation.
struct Coarse {
    geometry: Geometry,
    spacing: u64,
    field: Field,
}

/// The method of a field, with its coefficients.
enum FieldMethod {
    Splines,
    Stencils(Stencils),
    Slices(Slices),
    #[cfg(feature = "toy")]
    ToyFitted(f32),
}

impl FieldMethod {
    fn method(&self) -> Method<'_> {
        match self {
            Self::Splines => Method::Splines,
            Self::Stencils(stencils) => Method::Stencils(stencils),
            Self::Slices(slices) => Method::Slices(slices),
            #[cfg(feature = "toy")]
            Self::ToyFitted(factor) => Method::ToyFitted(*factor),
        }
    }
}

impl Tiles {
    /// The stream of a field without its dimensions of length 1, in chunks of so many tiles.
    pub(super) fn new(codec: TileCodec, fine: Field, chunk: usize) -> Self {
        Self { codec, fine, chunk }
    }

    fn coarse(&self) -> Option<Coarse> {
        let geometry = match self.codec.predictor {
            TilePredictor::Lorenzo => return None,
            TilePredictor::Interp(geometry) => geometry,
            TilePredictor::Stencil | TilePredictor::Slices => Geometry::Wide,
            #[cfg(feature = "toy")]
            TilePredictor::ToyFitted => Geometry::Wide,
        };
        let spacing = spacing(geometry, self.fine.shape);
        Some(Coarse {
            geometry,
            spacing,
            field: self.fine.coarse(spacing),
        })
    }

    fn order(&self) -> TileOrder {
        TileOrder {
            shape: self.fine.shape,
            has_levels: self.coarse().is_some(),
            anchor_level: self
                .coarse()
                .map_or(u32::MAX, |coarse| coarse.spacing.ilog2()),
            level_shape: match self.codec.predictor {
                TilePredictor::Slices => Shape::Plane,
                _ => self.fine.shape,
            },
        }
    }

    /// The entries and bytes of a field: the prologue and all chunks. The codes of interpolation are less than `radius`
    /// in magnitude.
    pub(super) fn compress<T: Element>(
        &self,
        quantizer: &Quantizer<T>,
        radius: u32,
        values: &[T],
    ) -> Vec<(Form, Vec<u8>)> {
        if values.is_empty() {
            return Vec::new();
        }
        let mut prologue = Vec::new();
        let mut shifts = Shifts::NONE;
        let mut anchors = Vec::new();
        let mut coefficients = Vec::new();
        let mut parts = Vec::new();
        match self.coarse() {
            None => parts.push(Part::new(
                self.fine,
                &lorenzo(&self.fine, quantizer, values),
                values,
            )),
            Some(coarse) => {
                let (decided, fitted) = self.tuned(coarse.geometry, values, quantizer.error());
                coefficients = self.coefficient_bytes(&decided, &fitted);
                let resolved = Resolved {
                    radius,
                    ..tuning::resolved(&decided, quantizer.error())
                };
                prologue.extend(parameter_words(&resolved));
                shifts = decided.shifts;
                let coarse_values = self.fine.anchors(coarse.spacing, values);
                anchors = coarse.field.anchors(coarse.spacing, &coarse_values);
                let of_coarse = all_of_level(&resolved, coarse.spacing.ilog2());
                let found = decompose(
                    &coarse.field.grid(),
                    &of_coarse,
                    radius,
                    &coarse_values,
                    &anchors,
                );
                parts.push(Part::new(
                    coarse.field,
                    &z_of_all(&found.codes),
                    &coarse_values,
                ));
                let found = decompose_by(
                    &self.fine.grid(),
                    &resolved,
                    fitted.method(),
                    radius,
                    values,
                    &found.known,
                );
                parts.push(Part::new(self.fine, &z_of_all(&found.codes), values));
            }
        }
        let frequencies = self.frequencies(shifts, &parts);
        let words = frequencies.map_or(Vec::new(), |frequencies| {
            frequencies::to_words(&frequencies, self.has_lengths())
        });
        prologue.push(words.len() as u32);
        prologue.extend(words);
        let mut bytes: Vec<u8> = prologue
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        bytes.extend(anchors.iter().flat_map(|anchor| element_bytes(*anchor)));
        bytes.extend(coefficients);
        pad(&mut bytes, 16);
        let mut all = vec![(Form::Coded, bytes)];
        for part in &parts {
            let tiles = part.field.tiles();
            let length = self.tiles_of_chunk(&part.field);
            for (chunk, tiles) in tiles.chunks(length).enumerate() {
                let of_chunk = length * chunk..length * chunk + tiles.len();
                let (codes, values) = (&part.codes[of_chunk.clone()], &part.values[of_chunk]);
                all.push(self.encode(shifts, frequencies.as_ref(), tiles, codes, values));
            }
        }
        all
    }

    /// The parameters and the coefficients of a field.
    fn tuned<T: Element>(
        &self,
        geometry: Geometry,
        values: &[T],
        error: T,
    ) -> (Parameters, FieldMethod) {
        match self.codec.predictor {
            TilePredictor::Stencil => {
                let (decided, stencils) = tuning::tune_stencils(&self.fine, values, error);
                (decided, FieldMethod::Stencils(stencils))
            }
            TilePredictor::Slices => {
                let (decided, slices) = tuning::tune_slices(&self.fine, values, error);
                (decided, FieldMethod::Slices(slices))
            }
            #[cfg(feature = "toy")]
            TilePredictor::ToyFitted => {
                let (decided, factor) = tuning::toy_fitted::tune(&self.fine, values, error);
                (decided, FieldMethod::ToyFitted(factor))
            }
            TilePredictor::Lorenzo | TilePredictor::Interp(_) => {
                let decided = tuning::tune(&self.fine, geometry, values, error);
                (decided, FieldMethod::Splines)
            }
        }
    }

    /// The coefficients of fitted levels, or of slices, in the prologue.
    fn coefficient_bytes(&self, parameters: &Parameters, fitted: &FieldMethod) -> Vec<u8> {
        match fitted {
            FieldMethod::Splines => Vec::new(),
            FieldMethod::Stencils(Stencils(all)) => {
                let levels = all.chunks(per_level(self.fine.shape));
                let levels = levels.zip(&parameters.levels);
                let fitted = levels.filter(|(_, flags)| flags.is_multi && flags.is_reverse);
                let all = fitted.flat_map(|(of_level, _)| of_level);
                all.flat_map(|value| element_bytes(*value)).collect()
            }
            FieldMethod::Slices(Slices(all)) => {
                all.iter().flat_map(|bits| bits.to_le_bytes()).collect()
            }
            #[cfg(feature = "toy")]
            FieldMethod::ToyFitted(factor) => factor.to_le_bytes().to_vec(),
        }
    }

    /// The tiles of a whole chunk of the field or of the coarse field.
    fn tiles_of_chunk(&self, field: &Field) -> usize {
        let is_coarse = field.lengths != self.fine.lengths;
        match is_coarse && self.chunk == 4 && self.codec.coder.has_tables() {
            true => 1,
            false => self.chunk,
        }
    }

    /// Whether the frequencies are powers of two, so that only their lengths are stored.
    fn has_lengths(&self) -> bool {
        with_tile_coder!(self.codec.coder, C => C::POWERS_OF_TWO, false)
    }

    fn frequencies<T>(&self, shifts: Shifts, parts: &[Part<T>]) -> Option<Contexts<u16>> {
        let (fine, coarse) = parts.split_last()?;
        let coarse = coarse
            .first()
            .map(|coarse| (&coarse.field, &coarse.codes[..]));
        let count = || frequencies::count(self.order(), shifts, coarse, (&fine.field, &fine.codes));
        self.codec
            .coder
            .has_tables()
            .then(|| match self.has_lengths() {
                true => frequencies::for_huffman(&count()),
                false => frequencies::for_rans(&count()),
            })
    }

    fn encode<T: Element>(
        &self,
        shifts: Shifts,
        frequencies: Option<&Contexts<u16>>,
        tiles: &[TileBox],
        codes: &[Vec<u16>],
        values: &[Vec<T>],
    ) -> (Form, Vec<u8>) {
        let Some(frequencies) = frequencies else {
            return bit_planes::encode(self.order(), tiles, codes, values);
        };
        with_tile_coder!(
            self.codec.coder,
            C => encode::<C, T>(self.order(), shifts, tiles, frequencies, codes, values),
            bit_planes::encode(self.order(), tiles, codes, values)
        )
    }

    /// The field of these entries, given with their bytes.
    pub(super) fn decompress<T: Element>(
        &self,
        quantizer: &Quantizer<T>,
        entries: &[(Entry, &[u8])],
    ) -> Result<Vec<T>, FormatError> {
        let Some(((entry, bytes), chunks)) = entries.split_first() else {
            return Ok(Vec::new());
        };
        if entry.form != Form::Coded.id() {
            return Err(ChunkFault::Form.in_chunk(0));
        }
        let prologue = self.read_prologue(quantizer.error(), bytes);
        let (resolved, frequencies, anchors, fitted) =
            prologue.map_err(|fault| fault.in_chunk(0))?;
        let shifts = resolved.map_or(Shifts::NONE, |resolved| resolved.parameters.shifts);
        let coded = (shifts, frequencies.as_ref());
        let (Some(resolved), Some(coarse)) = (resolved, self.coarse()) else {
            let (codes, raw) = self.decode(coded, &self.fine, chunks, 1)?;
            return Ok(unpredicted(&self.fine, quantizer, &codes, &raw));
        };
        let length = self.tiles_of_chunk(&coarse.field);
        let coarse_chunks = coarse.field.tiles().len().div_ceil(length);
        let (of_coarse, of_fine) = chunks.split_at(coarse_chunks.min(chunks.len()));
        let radius = resolved.radius;
        let (codes, raw) = self.decode(coded, &coarse.field, of_coarse, 1)?;
        let one_level = all_of_level(&resolved, coarse.spacing.ilog2());
        let codes: Codes = codes.into_iter().map(code_of).collect();
        let known = compose(
            &coarse.field.grid(),
            &one_level,
            radius,
            &codes,
            &raw,
            &anchors,
        );
        let (codes, raw) = self.decode(coded, &self.fine, of_fine, 1 + coarse_chunks as u64)?;
        let codes: Codes = codes.into_iter().map(code_of).collect();
        let mut values = compose_by(
            &self.fine.grid(),
            &resolved,
            fitted.method(),
            radius,
            &codes,
            &raw,
            &known,
        );
        for ((value, raw), code) in values.iter_mut().zip(raw).zip(codes) {
            if code.is_none() {
                *value = raw;
            }
        }
        Ok(values)
    }

    /// Reads parameters, frequencies, anchors and coefficients.
    #[expect(clippy::type_complexity, reason = "the four sections of a prologue")]
    fn read_prologue<T: Element>(
        &self,
        error: T,
        bytes: &[u8],
    ) -> Result<
        (
            Option<Resolved<T>>,
            Option<Contexts<u16>>,
            Vec<T>,
            FieldMethod,
        ),
        ChunkFault,
    > {
        let mut reader = Reader(bytes);
        let mut resolved = None;
        let mut anchors = 0;
        if let Some(coarse) = self.coarse() {
            let mut words = Vec::new();
            for _ in 0..50 {
                words.push(reader.number(4)? as u32);
            }
            let shift_bits = match (self.codec.predictor, self.fine.shape) {
                (TilePredictor::Lorenzo | TilePredictor::Interp(_), _) => 0,
                (_, Shape::Line) => 0x00_f00f,
                (_, Shape::Plane) => 0x0f_f0ff,
                (_, Shape::Cube) => 0xff_ffff,
            };
            let parameters = parameters_of(coarse.geometry, shift_bits, error, &words);
            resolved = Some(parameters.ok_or(ChunkFault::Prologue)?);
            anchors = coarse.field.coarse(coarse.spacing).elements();
        }
        let count = reader.number(4)? as usize;
        // 16 heads, and 16 bodies of at most 32 words.
        if count > 16 * 33 {
            return Err(ChunkFault::Prologue);
        }
        let mut words = Vec::new();
        for _ in 0..count {
            words.push(reader.number(4)? as u32);
        }
        let frequencies = match self.codec.coder.has_tables() {
            true => Some(frequencies::from_words(&words, self.has_lengths())?),
            false if count > 0 => return Err(ChunkFault::Prologue),
            false => None,
        };
        let mut values = Vec::new();
        for _ in 0..anchors {
            values.push(reader.element()?);
        }
        let fitted = match (&resolved, self.codec.predictor) {
            (Some(resolved), TilePredictor::Stencil) => {
                FieldMethod::Stencils(self.read_stencils(&resolved.parameters, &mut reader)?)
            }
            (Some(_), TilePredictor::Slices) => {
                let numbers = (0..Slices::count()).map(|_| Ok(reader.number(2)? as u16 as i16));
                FieldMethod::Slices(Slices(numbers.collect::<Result<_, ChunkFault>>()?))
            }
            #[cfg(feature = "toy")]
            (Some(_), TilePredictor::ToyFitted) => {
                let factor = f32::from_bits(reader.number(4)? as u32);
                let factor = Some(factor).filter(|factor| factor.is_finite());
                FieldMethod::ToyFitted(factor.ok_or(ChunkFault::Prologue)?)
            }
            _ => FieldMethod::Splines,
        };
        let read = bytes.len() - reader.0.len();
        if read.next_multiple_of(16) != bytes.len() {
            return Err(ChunkFault::Length);
        }
        Ok((resolved, frequencies, values, fitted))
    }

    /// Reads the coefficients of fitted levels; those of other levels are zeros.
    fn read_stencils(
        &self,
        parameters: &Parameters,
        reader: &mut Reader<'_>,
    ) -> Result<Stencils, ChunkFault> {
        let levels = spacing(Geometry::Wide, self.fine.shape).ilog2() as usize;
        let mut all = Vec::new();
        for flags in &parameters.levels[..levels] {
            for _ in 0..per_level(self.fine.shape) {
                let mut coefficient = 0.0;
                if flags.is_multi && flags.is_reverse {
                    coefficient = f32::from_bits(reader.number(4)? as u32);
                }
                all.push(coefficient);
            }
        }
        match all.iter().all(|coefficient| coefficient.is_finite()) {
            true => Ok(Stencils(all)),
            false => Err(ChunkFault::Prologue),
        }
    }

    /// The codes and raw values of a field, in C order; its chunks begin at entry `first`.
    fn decode<T: Element>(
        &self,
        (shifts, frequencies): (Shifts, Option<&Contexts<u16>>),
        field: &Field,
        chunks: &[(Entry, &[u8])],
        first: u64,
    ) -> Result<(Vec<u16>, Vec<T>), FormatError> {
        let count = field.elements();
        let (mut codes, mut raw) = (vec![0; count], vec![T::ZERO; count]);
        let tiles = field.tiles();
        let in_chunks = tiles.chunks(self.tiles_of_chunk(field));
        for (number, (tiles, (entry, bytes))) in (first..).zip(in_chunks.zip(chunks)) {
            let form = Form::from_id(entry.form).ok_or(ChunkFault::Form.in_chunk(number))?;
            let planes = || bit_planes::decode(self.order(), tiles, form, bytes);
            let decoded: Result<Decoded<T>, _> = match frequencies {
                None => planes(),
                Some(frequencies) => with_tile_coder!(
                    self.codec.coder,
                    C => decode::<C, T>(self.order(), shifts, tiles, frequencies, form, bytes),
                    planes()
                ),
            };
            let (of_tiles, of_raw) = decoded.map_err(|fault| fault.in_chunk(number))?;
            let mut of_raw = of_raw.into_iter();
            for (tile, of_tile) in tiles.iter().zip(of_tiles) {
                for (at, z) in of_tile.into_iter().enumerate() {
                    if let Some(flat) = field.in_field(tile, at) {
                        codes[flat] = z;
                        if code_of(z).is_none() {
                            raw[flat] = of_raw.next().unwrap_or(T::ZERO);
                        }
                    }
                }
            }
        }
        Ok((codes, raw))
    }
}

/// A field in the order in which its chunks are coded.
struct Part<T> {
    field: Field,
    /// The codes of each tile.
    codes: Vec<Vec<u16>>,
    values: Vec<Vec<T>>,
}

impl<T: Element> Part<T> {
    /// A field whose codes and values are in C order.
    fn new(field: Field, codes: &[u16], values: &[T]) -> Self {
        let tiles = field.tiles();
        Self {
            field,
            codes: tiles
                .iter()
                .map(|tile| in_order(&field, tile, codes))
                .collect(),
            values: tiles
                .iter()
                .map(|tile| in_order(&field, tile, values))
                .collect(),
        }
    }
}

fn z_of_all(codes: &[Option<i32>]) -> Vec<u16> {
    codes.iter().map(|code| z_of(*code)).collect()
}

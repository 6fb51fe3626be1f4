//! The oracle of the codecs of tiles: predictors over the whole field, position by position.

use crate::code::entropy::shifts::Shifts;
use crate::code::entropy::states::SymbolCoder;
use crate::container::chunk::Form;
use crate::container::table::Entry;
use crate::element::Element;
use crate::error::{ChunkFault, FormatError};
use crate::oracle::bytes::{Reader, element_bytes, pad};
use crate::oracle::direct::{direct, of_codes};
use crate::oracle::entropy::{Decoded, decode, encode};
use crate::oracle::frequencies::{self, Contexts, Counted};
use crate::oracle::interp::{
    Codes, Method, Slices, Stencils, compose, compose_by, decompose, decompose_by, spacing,
};
use crate::oracle::order::{
    Field, POSITIONS, code_of, in_order, level_and_oddness, position, z_of, zone,
};
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
    /// How many levels are coded apart.
    levels: u32,
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
    /// The stream of a field without its dimensions of length 1, in chunks of so many tiles, with so many levels apart.
    pub(super) fn new(codec: TileCodec, fine: Field, chunk: usize, levels: u32) -> Self {
        Self {
            codec,
            fine,
            chunk,
            levels,
        }
    }

    /// The codes of a field without levels, in C order.
    fn flat_codes<T: Element>(&self, quantizer: &Quantizer<T>, values: &[T]) -> Vec<u16> {
        match self.codec.predictor.is_direct() {
            true => direct(quantizer, values),
            false => lorenzo(&self.fine, quantizer, values),
        }
    }

    fn coarse(&self) -> Option<Coarse> {
        let geometry = match self.codec.predictor {
            TilePredictor::Lorenzo | TilePredictor::Direct => return None,
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
        let mut anchors = Vec::new();
        let mut coefficients = Vec::new();
        let mut parts = Vec::new();
        match self.coarse() {
            None => {
                let codes = self.flat_codes(quantizer, values);
                parts.push(self.part(self.fine, &codes, values));
            }
            Some(coarse) => {
                let (decided, fitted) = self.tuned(coarse.geometry, values, quantizer.error());
                coefficients = self.coefficient_bytes(&decided, &fitted);
                let resolved = Resolved {
                    radius,
                    ..tuning::resolved(&decided, quantizer.error())
                };
                prologue.extend(parameter_words(&resolved));
                let shifts = decided.shifts;
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
                parts.push(Part {
                    order: self.order(),
                    shifts,
                    of_chunk: self.tiles_of_coarse_chunk(),
                    ..self.part(coarse.field, &z_of_all(&found.codes), &coarse_values)
                });
                let found = decompose_by(
                    &self.fine.grid(),
                    &resolved,
                    fitted.method(),
                    radius,
                    values,
                    &found.known,
                );
                parts.extend(self.parts_of_fine(shifts, &z_of_all(&found.codes), values));
            }
        }
        let frequencies = self.frequencies(&parts);
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
            let length = part.of_chunk;
            for (chunk, tiles) in tiles.chunks(length).enumerate() {
                let of_chunk = length * chunk..length * chunk + tiles.len();
                let (codes, values) = (&part.codes[of_chunk.clone()], &part.values[of_chunk]);
                let coding = (part.order, part.shifts);
                all.push(self.encode(coding, frequencies.as_ref(), tiles, codes, values));
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
            TilePredictor::Lorenzo | TilePredictor::Direct | TilePredictor::Interp(_) => {
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

    /// The tiles of a whole chunk of the coarse field.
    fn tiles_of_coarse_chunk(&self) -> usize {
        match self.chunk == 4 && self.codec.coder.has_tables() {
            true => 1,
            false => self.chunk,
        }
    }

    /// Whether the frequencies are powers of two, so that only their lengths are stored.
    fn has_lengths(&self) -> bool {
        with_tile_coder!(self.codec.coder, C => C::POWERS_OF_TWO, false)
    }

    fn frequencies<T>(&self, parts: &[Part<T>]) -> Option<Contexts<u16>> {
        let (coarse, others) = parts.split_at(usize::from(self.coarse().is_some()));
        let [coarse, others] = [coarse, others].map(|parts| {
            let counted = parts.iter().map(|part| Counted {
                order: part.order,
                shifts: part.shifts,
                field: &part.field,
                codes: &part.codes,
            });
            counted.collect::<Vec<_>>()
        });
        let count = || frequencies::count(&coarse, &others);
        self.codec
            .coder
            .has_tables()
            .then(|| match self.has_lengths() {
                true => frequencies::for_huffman(&count()),
                false => frequencies::for_rans(&count()),
            })
    }

    /// A field without levels, whose codes and values are in C order, in chunks of the usual length.
    fn part<T: Element>(&self, field: Field, codes: &[u16], values: &[T]) -> Part<T> {
        let tiles = field.tiles();
        Part {
            field,
            order: TileOrder::flat(field.shape),
            shifts: Shifts::NONE,
            of_chunk: self.chunk,
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

    /// The field as it is coded: its tiles, or its lines.
    fn parts_of_fine<T: Element>(
        &self,
        shifts: Shifts,
        codes: &[u16],
        values: &[T],
    ) -> Vec<Part<T>> {
        if self.levels == 0 {
            let part = self.part(self.fine, codes, values);
            let order = self.order();
            return vec![Part {
                order,
                shifts,
                ..part
            }];
        }
        let lines = self.lines();
        let parts = lines.iter().map(|line| {
            let codes: Vec<u16> = line.iter().map(|flat| codes[*flat]).collect();
            let values: Vec<T> = line.iter().map(|flat| values[*flat]).collect();
            self.part(line_field(line), &codes, &values)
        });
        parts.collect()
    }

    /// The elements of the field whose codes are in each line, in their order; the line of the highest levels is the first.
    fn lines(&self) -> Vec<Vec<usize>> {
        let order = self.order();
        let mut lines = vec![Vec::new(); self.levels as usize + 1];
        for tile in self.fine.tiles() {
            let mut places = Vec::new();
            for at in 0..POSITIONS {
                let position = position(order.shape, at);
                if zone(order, &tile, at).is_none() {
                    continue;
                }
                let (level, odd) = level_and_oddness(order, position);
                let flat = self.fine.in_field(&tile, at);
                places.extend(flat.map(|flat| (core::cmp::Reverse(level), odd, flat)));
            }
            places.sort();
            for (core::cmp::Reverse(level), _, flat) in places {
                lines[(self.levels - level.min(self.levels)) as usize].push(flat);
            }
        }
        lines
    }

    /// The codes and raw values of the field, in C order; its chunks begin at entry `first`.
    fn decode_fine<T: Element>(
        &self,
        (shifts, frequencies): (Shifts, Option<&Contexts<u16>>),
        mut chunks: &[(Entry, &[u8])],
        mut first: u64,
    ) -> Result<(Vec<u16>, Vec<T>), FormatError> {
        let count = self.fine.elements();
        if self.levels == 0 {
            let coded = (self.order(), shifts, frequencies);
            return self.decode(coded, (&self.fine, self.chunk), chunks, first);
        }
        let (mut codes, mut raw) = (vec![0; count], vec![T::ZERO; count]);
        for line in self.lines() {
            let field = line_field(&line);
            let own = field.tiles().len().div_ceil(self.chunk);
            let coded = (TileOrder::flat(Shape::Line), Shifts::NONE, frequencies);
            let of_line = self.decode(coded, (&field, self.chunk), chunks, first)?;
            let (of_line, raw_of_line) = of_line;
            for ((flat, z), value) in line.into_iter().zip(of_line).zip(raw_of_line) {
                (codes[flat], raw[flat]) = (z, value);
            }
            chunks = chunks.get(own..).unwrap_or_default();
            first += own as u64;
        }
        Ok((codes, raw))
    }

    fn encode<T: Element>(
        &self,
        (order, shifts): (TileOrder, Shifts),
        frequencies: Option<&Contexts<u16>>,
        tiles: &[TileBox],
        codes: &[Vec<u16>],
        values: &[Vec<T>],
    ) -> (Form, Vec<u8>) {
        let Some(frequencies) = frequencies else {
            return bit_planes::encode(order, tiles, codes, values);
        };
        with_tile_coder!(
            self.codec.coder,
            C => encode::<C, T>(order, shifts, tiles, frequencies, codes, values),
            bit_planes::encode(order, tiles, codes, values)
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
        let coded = (self.order(), shifts, frequencies.as_ref());
        let (Some(resolved), Some(coarse)) = (resolved, self.coarse()) else {
            let (codes, raw) = self.decode(coded, (&self.fine, self.chunk), chunks, 1)?;
            return Ok(match self.codec.predictor.is_direct() {
                true => of_codes(quantizer, &codes, &raw),
                false => unpredicted(&self.fine, quantizer, &codes, &raw),
            });
        };
        let length = self.tiles_of_coarse_chunk();
        let coarse_chunks = coarse.field.tiles().len().div_ceil(length);
        let (of_coarse, of_fine) = chunks.split_at(coarse_chunks.min(chunks.len()));
        let radius = resolved.radius;
        let (codes, raw) = self.decode(coded, (&coarse.field, length), of_coarse, 1)?;
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
        let coded = (shifts, frequencies.as_ref());
        let (codes, raw) = self.decode_fine(coded, of_fine, 1 + coarse_chunks as u64)?;
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
                (TilePredictor::Lorenzo | TilePredictor::Direct | TilePredictor::Interp(_), _) => 0,
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
        (order, shifts, frequencies): (TileOrder, Shifts, Option<&Contexts<u16>>),
        (field, of_chunk): (&Field, usize),
        chunks: &[(Entry, &[u8])],
        first: u64,
    ) -> Result<(Vec<u16>, Vec<T>), FormatError> {
        let count = field.elements();
        let (mut codes, mut raw) = (vec![0; count], vec![T::ZERO; count]);
        let tiles = field.tiles();
        let in_chunks = tiles.chunks(of_chunk);
        for (number, (tiles, (entry, bytes))) in (first..).zip(in_chunks.zip(chunks)) {
            let form = Form::from_id(entry.form).ok_or(ChunkFault::Form.in_chunk(number))?;
            let planes = || bit_planes::decode(order, tiles, form, bytes);
            let decoded: Result<Decoded<T>, _> = match frequencies {
                None => planes(),
                Some(frequencies) => with_tile_coder!(
                    self.codec.coder,
                    C => decode::<C, T>(order, shifts, tiles, frequencies, form, bytes),
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
    order: TileOrder,
    shifts: Shifts,
    /// Tiles of a whole chunk.
    of_chunk: usize,
    /// The codes of each tile.
    codes: Vec<Vec<u16>>,
    values: Vec<Vec<T>>,
}

/// The field of one dimension that a line is coded as.
fn line_field(line: &[usize]) -> Field {
    Field {
        shape: Shape::Line,
        slices: 1,
        lengths: [1, 1, line.len() as u64],
    }
}

fn z_of_all(codes: &[Option<i32>]) -> Vec<u16> {
    codes.iter().map(|code| z_of(*code)).collect()
}

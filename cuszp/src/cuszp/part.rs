//! Random access (SC'24 cuSZp2, section VI-B): some blocks are read, or replaced in place, without the bodies of others.
//! The rate bytes of all blocks are read: the place of a body is the sum of the lengths before it.

use crate::cuszp::block::{Block, Blocks};
use crate::cuszp::error::CuszpError;
use crate::cuszp::layout::{Layout, Place};
use crate::cuszp::params::Params;
use crate::cuszp::quantizer::Quantizer;
use crate::cuszp::reference::{Decoder, Walk, zeros};
use crate::cuszp::strict;
use crate::part::Part;
use core::ops::Range;
use ferrosz_codec::code::fixed_length::block::BODY_SCRATCH;
use ferrosz_codec::element::Element;
use ferrosz_codec::shape::Shape;

/// Decompresses a part of the array: the blocks that hold it, no others.
///
/// ```
/// use ferrosz_cuszp::cuszp::{self, Mode, Params};
/// use ferrosz_cuszp::{Part, Shape};
///
/// let field: Vec<f32> = (0..8 * 8 * 8).map(|i| (i as f32).sqrt()).collect();
/// let params = Params::new(Shape::Cube, Mode::Plain, [8, 8, 8], 1e-3);
/// let stream = cuszp::compress(&params, &field)?;
/// let whole = cuszp::decompress(&params, &stream)?;
/// let part = Part::elements(512, 100..103)?;
/// assert_eq!(cuszp::decompress_part(&params, &stream, &part)?, whole[100..103]);
/// let block = params.block(7)?;
/// assert_eq!(cuszp::decompress_part(&params, &stream, &block)?.len(), 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`decompress`](crate::cuszp::decompress); [`CuszpError::PartOfOther`].
pub fn decompress_part<T: Element>(
    params: &Params<T>,
    stream: &[u8],
    part: &Part,
) -> Result<Vec<T>, CuszpError> {
    Decoder::new(params, stream)?.part(part)
}

/// Replaces a part of the array in its stream, in place: each block that holds some of it is coded anew, and its new body
/// must have the length of the old one. Returns the number of these blocks. The codes of all other elements stay.
///
/// # Errors
///
/// As [`decompress`](crate::cuszp::decompress) and, if the parameters are strict,
/// [`compress`](crate::cuszp::compress); [`CuszpError::PartOfOther`]; [`CuszpError::ElementCount`] if there are not as
/// many values as the part has; [`CuszpError::BodyLength`] for the first block whose body has another length. The stream is
/// then unchanged.
pub fn replace_part<T: Element>(
    params: &Params<T>,
    stream: &mut [u8],
    part: &Part,
    values: &[T],
) -> Result<u64, CuszpError> {
    let decoder = Decoder::new(params, stream)?;
    let (needed, found) = (part.len(), values.len() as u64);
    if needed != found {
        return Err(CuszpError::ElementCount { needed, found });
    }
    let payload_start = decoder.layout().payload_start() as usize;
    let replacing = Replacing::new(params, &decoder, values)?;
    let mut walk = Walk::default();
    let changes = (blocks_of(decoder.layout(), part)?.into_iter())
        .map(|block| {
            let codes = replacing.codes_with(block, part, values, &mut walk);
            replacing.change(block, &codes, &mut walk)
        })
        .collect::<Result<Vec<_>, _>>()?;
    apply(&changes, payload_start, stream);
    Ok(changes.len() as u64)
}

/// Replaces some blocks of a stream in place by the values of their positions, as [`Decoder::positions`] gives them.
///
/// # Errors
///
/// As [`replace_part`].
pub(crate) fn replace_positions<T: Element>(
    params: &Params<T>,
    stream: &mut [u8],
    blocks: Range<u32>,
    values: &[T],
) -> Result<(), CuszpError> {
    let decoder = Decoder::new(params, stream)?;
    let payload_start = decoder.layout().payload_start() as usize;
    let replacing = Replacing::new(params, &decoder, values)?;
    let of_blocks = values.chunks(decoder.blocks.positions() as usize);
    let mut walk = Walk::default();
    let changes = (blocks.zip(of_blocks))
        .map(|(block, values)| {
            let codes = replacing.codes_of(block, values);
            replacing.change(block, &codes, &mut walk)
        })
        .collect::<Result<Vec<_>, _>>()?;
    apply(&changes, payload_start, stream);
    Ok(())
}

/// Writes the new blocks to their places in a stream.
fn apply(changes: &[Change], payload_start: usize, stream: &mut [u8]) {
    for change in changes {
        stream[change.block as usize] = change.byte;
        let body = change.body.start + payload_start..change.body.end + payload_start;
        // A tail that is missing, and allowed to be, stays missing.
        let end = body.end.min(stream.len());
        if let Some(place) = stream.get_mut(body.start..end) {
            place.copy_from_slice(&change.bytes[..place.len()]);
        }
    }
}

impl<T> Params<T> {
    /// The elements at the place of a block of the grid, as a part. Where rows have a length that is no multiple of 4, the
    /// bodies of neighbours hold some of them, too.
    ///
    /// # Errors
    ///
    /// As [`Params::layout`]; [`CuszpError::NoBlock`].
    pub fn block(&self, block: u32) -> Result<Part, CuszpError> {
        let layout = self.layout()?;
        let blocks = layout.blocks();
        let none = CuszpError::NoBlock { block, blocks };
        if block >= blocks {
            return Err(none);
        }
        let corner = layout.corner(block);
        let [z, y, x] = [corner.z, corner.y, corner.x].map(u64::from);
        let within = |start: u64, length: u64, end: u64| start.min(end)..(start + length).min(end);
        let [size_z, size_y, size_x] = self.dims;
        let part = match self.shape {
            Shape::Line => Part::elements(layout.elements(), within(4 * x, 32, layout.elements())),
            Shape::Plane => {
                let ranges = [z..z + 1, within(y, 8, size_y), within(x, 8, size_x)];
                Part::region(&self.dims, &ranges)
            }
            Shape::Cube => {
                let (z, y, x) = (
                    within(z, 4, size_z),
                    within(y, 4, size_y),
                    within(x, 4, size_x),
                );
                Part::region(&self.dims, &[z, y, x])
            }
        };
        part.map_err(|_| none)
    }
}

impl<T: Element> Decoder<'_, T> {
    /// Decodes a part of the array. The elements are stored block by block: where blocks share some, and a damaged stream
    /// has several values for one, the last is taken, as in a whole array.
    ///
    /// # Errors
    ///
    /// [`CuszpError::PartOfOther`], [`CuszpError::OutOfMemory`].
    pub fn part(&self, part: &Part) -> Result<Vec<T>, CuszpError> {
        let blocks = blocks_of(self.layout(), part)?;
        let mut values = zeros(part.len())?;
        let mut walk = Walk::default();
        for block in blocks {
            let Some(codes) = self.codes(block, &mut walk) else {
                continue;
            };
            for (position, slot) in slots(&self.blocks, block, part) {
                if let Some(value) = values.get_mut(slot) {
                    *value = self.quantizer.value(codes.as_flattened()[position]);
                }
            }
        }
        Ok(values)
    }
}

impl<T: Element> Decoder<'_, T> {
    /// The values of all positions of some blocks, one block after the other; 0 for a block without a body.
    pub(crate) fn positions(&self, blocks: Range<u32>) -> Result<Vec<T>, CuszpError> {
        let count = self.blocks.positions() as usize;
        let mut values = zeros(blocks.len() as u64 * count as u64)?;
        let mut walk = Walk::default();
        for (block, out) in blocks.zip(values.chunks_mut(count)) {
            let codes = self.codes(block, &mut walk);
            let codes = codes.iter().flat_map(|codes| codes.as_flattened());
            for (value, code) in out.iter_mut().zip(codes) {
                *value = self.quantizer.value(*code);
            }
        }
        Ok(values)
    }
}

/// The blocks that hold elements of a part, in rising order.
fn blocks_of(layout: &Layout, part: &Part) -> Result<Vec<u32>, CuszpError> {
    let (needed, found) = (layout.elements(), part.array_len());
    if needed != found {
        return Err(CuszpError::PartOfOther { needed, found });
    }
    let mut blocks = Vec::new();
    for run in part.runs() {
        for four in run.start / 4..run.end.div_ceil(4) {
            for block in layout.holders(four as u32) {
                if blocks.last() != Some(&block) {
                    blocks.push(block);
                }
            }
        }
    }
    blocks.sort_unstable();
    blocks.dedup();
    Ok(blocks)
}

/// The positions of a block that hold elements of a part, and the places of these in the part.
fn slots(blocks: &Blocks, block: u32, part: &Part) -> impl Iterator<Item = (usize, usize)> {
    let layout = blocks.layout;
    let corner = layout.corner(block);
    (0..blocks.positions()).filter_map(move |position| match layout.position(corner, position) {
        Place::Element(index) => Some((position as usize, part.slot(index)?)),
        Place::ZeroValue | Place::Nothing => None,
    })
}

/// Makes new blocks of a stream.
struct Replacing<'a, T> {
    decoder: &'a Decoder<'a, T>,
    quantizer: Quantizer<T>,
    strict: bool,
}

/// A block that is replaced: its new rate byte and body, and the place of the body in the payload.
struct Change {
    block: u32,
    byte: u8,
    body: Range<usize>,
    bytes: Vec<u8>,
}

impl<'a, T: Element> Replacing<'a, T> {
    fn new(
        params: &Params<T>,
        decoder: &'a Decoder<'a, T>,
        values: &[T],
    ) -> Result<Self, CuszpError> {
        let quantizer = Quantizer::new(params.error);
        if params.strict {
            strict::check_params(params)?;
            strict::check_values(&quantizer, 0, values)?;
        }
        Ok(Self {
            decoder,
            quantizer,
            strict: params.strict,
        })
    }

    /// The codes of a block, those of a part from its values.
    fn codes_with(&self, block: u32, part: &Part, values: &[T], walk: &mut Walk) -> Block {
        let mut codes = self.decoder.codes(block, walk).unwrap_or_default();
        for (position, slot) in slots(&self.decoder.blocks, block, part) {
            if let Some(value) = values.get(slot) {
                codes.as_flattened_mut()[position] = self.quantizer.code(*value);
            }
        }
        codes
    }

    /// The codes of a block with these values at its positions.
    fn codes_of(&self, block: u32, values: &[T]) -> Block {
        let layout = self.decoder.layout();
        let corner = layout.corner(block);
        let mut codes = Block::default();
        for (position, value) in (0..).zip(values) {
            let value = match layout.position(corner, position) {
                Place::ZeroValue => T::ZERO,
                Place::Element(_) | Place::Nothing => *value,
            };
            codes.as_flattened_mut()[position as usize] = self.quantizer.code(value);
        }
        codes
    }

    fn change(&self, block: u32, codes: &Block, walk: &mut Walk) -> Result<Change, CuszpError> {
        let blocks = &self.decoder.blocks;
        let mut bytes = [0; BODY_SCRATCH];
        let code = |position: u32, _| codes.as_flattened()[position as usize];
        let found = blocks.encode(block, code, &mut bytes);
        if self.strict {
            strict::check_block(blocks.kind, block, found.choice, found.magnitudes)?;
        }
        let body = self.decoder.body(block, walk);
        // With the bytes that are booked: a block of the rate-32 anomaly, which has none, does not fit anywhere.
        let (old, new) = (body.len() as u64, u64::from(found.choice.booked));
        if old != new {
            return Err(CuszpError::BodyLength { block, old, new });
        }
        Ok(Change {
            block,
            byte: found.choice.byte,
            body,
            bytes: bytes[..found.bytes].to_vec(),
        })
    }
}

//! Whole streams: an encoder of any range of chunks and a decoder of any span, and the serial
//! functions made of them.

use crate::cuszp::error::CuszpError;
use crate::cuszp::framing::{Framing, chunk_blocks};
use crate::cuszp::layout::{Corner, Layout, Place};
use crate::cuszp::params::Params;
use crate::cuszp::quantizer::Quantizer;
use crate::cuszp::rate::BlockKind;
use crate::cuszp::strict;
use core::ops::Range;
use ferrosz_codec::code::fixed_length::block::{BODY_SCRATCH, SignedGroup, read_body, write_body};
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, Shape};

/// A block's codes or differences; a line's second group is not there, and 0.
type Block = [Group; 2];

/// Compresses an array.
///
/// # Errors
///
/// If the parameters do not fit the array or each other, the array or stream is too long for
/// cuSZp, or the strict encoder refuses.
pub fn compress<T: Element>(params: &Params<T>, values: &[T]) -> Result<Vec<u8>, CuszpError> {
    let encoder = Encoder::new(params, values)?;
    encoder.check_elements(0..values.len())?;
    let chunks: Result<Vec<_>, _> = (0..encoder.chunks()).map(|c| encoder.chunk(c)).collect();
    encoder.assemble(&chunks?)
}

/// Decompresses a stream; bytes behind its end are ignored. Blocks store their elements one after
/// the other, and those without a body none: where blocks share elements and a damaged stream has
/// several values for one, the last is taken.
///
/// # Errors
///
/// If the parameters do not fit each other, or the stream is damaged or cut off.
pub fn decompress<T: Element>(params: &Params<T>, stream: &[u8]) -> Result<Vec<T>, CuszpError> {
    let decoder = Decoder::new(params, stream)?;
    let mut values = decoder.cleared_output()?;
    for span in 0..decoder.layout().spans() {
        decoder.blocks(span, 0, &mut values);
    }
    Ok(values)
}

/// Makes chunks of a stream, in any order.
#[derive(Debug, Clone)]
pub struct Encoder<'a, T> {
    layout: Layout,
    kind: BlockKind,
    quantizer: Quantizer<T>,
    strict: bool,
    values: &'a [T],
}

/// The bytes of a chunk of blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// A byte for every block.
    pub rates: Vec<u8>,
    /// The bodies, and after them as many zeros as the rate-32 anomaly leaves.
    pub payload: Vec<u8>,
}

impl<'a, T: Element> Encoder<'a, T> {
    /// For an array.
    ///
    /// # Errors
    ///
    /// As [`compress`], without the errors of single elements and blocks.
    pub fn new(params: &Params<T>, values: &'a [T]) -> Result<Self, CuszpError> {
        let layout = params.layout()?;
        let (needed, found) = (u64::from(layout.elements()), values.len() as u64);
        if needed != found {
            return Err(CuszpError::ElementCount { needed, found });
        }
        if params.strict {
            strict::check_params(params)?;
        }
        Ok(Self {
            layout,
            kind: BlockKind {
                shape: params.shape,
                mode: params.mode,
            },
            quantizer: Quantizer::new(params.error),
            strict: params.strict,
            values,
        })
    }

    /// Complains of these elements if the encoder is strict.
    ///
    /// # Errors
    ///
    /// [`CuszpError::Refused`] for the first element with a wrong code.
    pub fn check_elements(&self, range: Range<usize>) -> Result<(), CuszpError> {
        let first = range.start as u64;
        match self.values.get(range) {
            Some(values) if self.strict => {
                Ok(strict::check_values(&self.quantizer, first, values)?)
            }
            _ => Ok(()),
        }
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u32 {
        self.layout.blocks().div_ceil(self.chunk_blocks())
    }

    fn chunk_blocks(&self) -> u32 {
        chunk_blocks(self.kind.shape, T::DTYPE)
    }

    /// Codes the chunk of this number, below [`Encoder::chunks`].
    ///
    /// # Errors
    ///
    /// [`CuszpError::Refused`] if the encoder is strict and a block of it is lost.
    pub fn chunk(&self, chunk: u32) -> Result<Chunk, CuszpError> {
        let first = chunk.saturating_mul(self.chunk_blocks());
        let end = (first.saturating_add(self.chunk_blocks())).min(self.layout.blocks());
        let mut coded = Chunk::default();
        let mut body = [0; BODY_SCRATCH];
        let mut booked = 0;
        for block in first..end {
            let groups = self
                .differences(block)
                .map(|group| SignedGroup::split(&group));
            let (magnitude, mut others) = groups[0].first_and_others();
            let (second, rest) = groups[1].first_and_others();
            others |= second | rest;
            let choice = self.kind.choose(magnitude, others);
            if self.strict {
                strict::check_block(self.kind, block, choice, magnitude, others)?;
            }
            let rate = self.kind.rate(choice.byte);
            match self.kind.shape {
                Shape::Line => write_body([groups[0]], rate, &mut body),
                Shape::Plane | Shape::Cube => write_body(groups, rate, &mut body),
            }
            let bytes = rate.body_bytes(self.kind.shape.groups() as u32);
            coded.rates.push(choice.byte);
            coded.payload.extend(body.iter().take(bytes as usize));
            booked += choice.booked as usize;
        }
        coded.payload.resize(booked, 0);
        Ok(coded)
    }

    /// The differences of a block; those of a second half that there is not are 0.
    fn differences(&self, block: u32) -> Block {
        let corner = self.layout.corner(block);
        let (mut codes, mut nothing) = ([[0; GROUP]; 2], [[false; GROUP]; 2]);
        for half in 0..self.kind.shape.groups() {
            for e in 0..GROUP {
                let code = self.code(corner, (GROUP * half + e) as u32);
                codes[half][e] = code.unwrap_or(0);
                nothing[half][e] = code.is_none();
            }
        }
        let predictor = self.kind.mode.predictor();
        match self.kind.shape {
            Shape::Line => predictor.forward(Shape::Line, first_of(&mut codes)),
            shape => predictor.forward(shape, &mut codes),
        }
        // Positions that hold nothing have no difference, whatever their predecessor is.
        let positions = codes.as_flattened_mut().iter_mut();
        for (difference, nothing) in positions.zip(nothing.as_flattened()) {
            if *nothing {
                *difference = 0;
            }
        }
        codes
    }

    /// The code at a position; none if the position holds nothing.
    fn code(&self, corner: Corner, position: u32) -> Option<i32> {
        let value = match self.layout.position(corner, position) {
            Place::Element(index) => self.values.get(index as usize).copied()?,
            Place::ZeroValue => T::ZERO,
            Place::Nothing => return None,
        };
        Some(self.quantizer.code(value))
    }

    /// The stream of all chunks, in order.
    ///
    /// # Errors
    ///
    /// [`CuszpError::StreamTooLong`] if cuSZp's offsets are too short for the stream.
    pub fn assemble(&self, chunks: &[Chunk]) -> Result<Vec<u8>, CuszpError> {
        let start = self.layout.payload_start();
        let payload: u64 = chunks.iter().map(|c| c.payload.len() as u64).sum();
        let bytes = start + payload;
        if bytes >> 32 != 0 {
            return Err(CuszpError::StreamTooLong { bytes });
        }
        let mut stream = Vec::with_capacity(bytes as usize);
        for chunk in chunks {
            stream.extend_from_slice(&chunk.rates);
        }
        stream.resize(start as usize, 0);
        for chunk in chunks {
            stream.extend_from_slice(&chunk.payload);
        }
        Ok(stream)
    }
}

/// Reads spans of a stream, in any order.
#[derive(Debug, Clone)]
pub struct Decoder<'a, T> {
    layout: Layout,
    kind: BlockKind,
    quantizer: Quantizer<T>,
    rates: &'a [u8],
    payload: &'a [u8],
    /// The start of each span's first body in the payload.
    starts: Vec<u64>,
}

impl<'a, T: Element> Decoder<'a, T> {
    /// For a stream.
    ///
    /// # Errors
    ///
    /// As [`decompress`]; a stream that passes here decodes.
    pub fn new(params: &Params<T>, stream: &'a [u8]) -> Result<Self, CuszpError> {
        let layout = params.layout()?;
        let kind = BlockKind {
            shape: params.shape,
            mode: params.mode,
        };
        let blocks = layout.blocks() as usize;
        let rates = stream.get(..blocks).ok_or(CuszpError::CutInRates {
            needed: blocks as u64,
            found: stream.len() as u64,
        })?;
        let (starts, payload_bytes) = starts(&layout, kind, rates)?;
        let stream_bytes = stream.len() as u64;
        check_length::<T>(params, &layout, payload_bytes, stream_bytes)?;
        let payload = stream.get(layout.payload_start() as usize..);
        Ok(Self {
            layout,
            kind,
            quantizer: Quantizer::new(params.error),
            rates,
            payload: payload.unwrap_or_default(),
            starts,
        })
    }

    /// The positions of the elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A zero for every element.
    ///
    /// # Errors
    ///
    /// [`CuszpError::OutOfMemory`].
    pub fn cleared_output(&self) -> Result<Vec<T>, CuszpError> {
        let elements = self.layout.elements();
        let mut values = Vec::new();
        (values.try_reserve_exact(elements as usize)).map_err(|_| CuszpError::OutOfMemory {
            elements: u64::from(elements),
        })?;
        values.resize(elements as usize, T::ZERO);
        Ok(values)
    }

    /// Decodes the span of this number, below [`Layout::spans`], to its elements, `out`, which hold
    /// zeros. Elements without a value stay as they are.
    pub fn span(&self, span: u32, out: &mut [T]) {
        let first = self.layout.span(span).elements.start;
        self.seam(span, first, out);
        self.blocks(span, first, out);
    }

    /// Stores the first four elements of a span as the last block before it has them that shares
    /// them and has a body.
    fn seam(&self, span: u32, first: usize, out: &mut [T]) {
        let (blocks, start) = (self.layout.span(span).blocks, first as u32);
        let sharers = self.layout.sharers(start);
        let before = sharers.map(|row| self.layout.sharing_block(row, start));
        let has_body = |block: &u32| *block < blocks.start && self.body_bytes(*block) > 0;
        if let Some(block) = before.filter(has_body).max() {
            let owner = block / self.layout.span_blocks();
            let mut at = self.start(owner);
            for earlier in self.layout.span(owner).blocks.start..block {
                at += self.body_bytes(earlier);
            }
            self.block(block, at, first, out);
        }
    }

    /// Stores the blocks of a span, one after the other, in the elements from `first` on, `out`.
    fn blocks(&self, span: u32, first: usize, out: &mut [T]) {
        let mut at = self.start(span);
        for block in self.layout.span(span).blocks {
            self.block(block, at, first, out);
            at += self.body_bytes(block);
        }
    }

    /// Stores a block whose body begins at byte `at` of the payload; nothing if it has none.
    fn block(&self, block: u32, at: usize, first: usize, out: &mut [T]) {
        let bytes = self.body_bytes(block);
        if bytes == 0 {
            return;
        }
        let body = self.payload.get(at..self.payload.len().min(at + bytes));
        let codes = self.codes(self.rate(block), body.unwrap_or_default());
        let corner = self.layout.corner(block);
        for position in 0..GROUP * self.kind.shape.groups() {
            let Place::Element(index) = self.layout.position(corner, position as u32) else {
                continue;
            };
            let slot = (index as usize).checked_sub(first);
            if let Some(slot) = slot.and_then(|slot| out.get_mut(slot)) {
                *slot = self.quantizer.value(codes.as_flattened()[position]);
            }
        }
    }

    fn start(&self, span: u32) -> usize {
        self.starts.get(span as usize).copied().unwrap_or(0) as usize
    }

    fn rate(&self, block: u32) -> RateByte {
        let byte = self.rates.get(block as usize).copied().unwrap_or(0);
        self.kind.rate(byte)
    }

    fn body_bytes(&self, block: u32) -> usize {
        self.rate(block).body_bytes(self.kind.shape.groups() as u32) as usize
    }

    /// The codes of a block's body; missing bytes are 0.
    fn codes(&self, rate: RateByte, body: &[u8]) -> Block {
        let mut whole = [0; BODY_SCRATCH];
        for (to, byte) in whole.iter_mut().zip(body) {
            *to = *byte;
        }
        let predictor = self.kind.mode.predictor();
        match self.kind.shape {
            Shape::Line => {
                let mut codes = read_body::<1>(rate, &whole);
                predictor.backward(Shape::Line, &mut codes);
                [codes[0], [0; GROUP]]
            }
            shape => {
                let mut codes = read_body::<2>(rate, &whole);
                predictor.backward(shape, &mut codes);
                codes
            }
        }
    }
}

/// The first group alone.
fn first_of(block: &mut Block) -> &mut [Group; 1] {
    let [first, _] = block;
    core::array::from_mut(first)
}

/// The start of each span's bodies, and the end of the last one's.
fn starts(layout: &Layout, kind: BlockKind, rates: &[u8]) -> Result<(Vec<u64>, u64), CuszpError> {
    let mut starts = Vec::with_capacity(layout.spans() as usize);
    let mut at = 0;
    for span in 0..layout.spans() {
        starts.push(at);
        let blocks = layout.span(span).blocks;
        let bytes = rates.get(blocks.start as usize..blocks.end as usize);
        for (block, byte) in blocks.zip(bytes.unwrap_or_default()) {
            kind.check(*byte).map_err(|fault| CuszpError::CorruptRate {
                block,
                byte: *byte,
                fault,
            })?;
            at += u64::from(kind.rate(*byte).body_bytes(kind.shape.groups() as u32));
        }
    }
    Ok((starts, at))
}

/// Complains of a stream that is too short, and tells how cuSZp's own returned size may have made
/// it so (cuSZp stream, section 2.1).
fn check_length<T: Element>(
    params: &Params<T>,
    layout: &Layout,
    payload: u64,
    found: u64,
) -> Result<(), CuszpError> {
    let blocks = u64::from(layout.blocks());
    let needed = layout.payload_start() + payload;
    // Of a stream without bodies nobody misses the bytes between.
    if found >= needed || payload == 0 {
        return Ok(());
    }
    let has_one_chunk = layout.blocks() <= chunk_blocks(params.shape, T::DTYPE);
    let gap = layout.payload_start() - blocks;
    match (params.framing, needed - found) {
        (Framing::V3, _) if has_one_chunk && found == blocks => {
            Err(CuszpError::PayloadMissing { needed, found })
        }
        (Framing::V3, missing) if !has_one_chunk && missing == gap => {
            if params.allow_missing {
                Ok(())
            } else {
                Err(CuszpError::TailMissing {
                    missing,
                    needed,
                    found,
                })
            }
        }
        _ => Err(CuszpError::Truncated { needed, found }),
    }
}

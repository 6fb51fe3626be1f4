//! Whole streams: an encoder of any range of chunks and a decoder of any span, and the serial
//! functions made of them.

use crate::cuszp::block::{Block, Blocks};
use crate::cuszp::error::CuszpError;
use crate::cuszp::framing::{Framing, chunk_blocks};
use crate::cuszp::layout::{Layout, Place};
use crate::cuszp::params::Params;
use crate::cuszp::quantizer::Quantizer;
use crate::cuszp::strict;
use crate::outline::{Outline, count_rates};
use core::ops::Range;
use ferrosz_codec::code::fixed_length::block::BODY_SCRATCH;
use ferrosz_codec::element::Element;

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
    blocks: Blocks,
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
        let blocks = Blocks::of(params)?;
        let (needed, found) = (blocks.layout.elements(), values.len() as u64);
        if needed != found {
            return Err(CuszpError::ElementCount { needed, found });
        }
        if params.strict {
            strict::check_params(params)?;
        }
        Ok(Self {
            blocks,
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
        self.blocks.layout.blocks().div_ceil(self.chunk_blocks())
    }

    fn chunk_blocks(&self) -> u32 {
        chunk_blocks(self.blocks.kind.shape, T::DTYPE)
    }

    /// Codes the chunk of this number, below [`Encoder::chunks`].
    ///
    /// # Errors
    ///
    /// [`CuszpError::Refused`] if the encoder is strict and a block of it is lost.
    pub fn chunk(&self, chunk: u32) -> Result<Chunk, CuszpError> {
        let first = chunk.saturating_mul(self.chunk_blocks());
        let end = first.saturating_add(self.chunk_blocks());
        let mut coded = Chunk::default();
        let mut body = [0; BODY_SCRATCH];
        let mut booked = 0;
        for block in first..end.min(self.blocks.layout.blocks()) {
            let found = self
                .blocks
                .encode(block, |_, place| self.code(place), &mut body);
            if self.strict {
                strict::check_block(self.blocks.kind, block, found.choice, found.magnitudes)?;
            }
            coded.rates.push(found.choice.byte);
            coded.payload.extend(body.iter().take(found.bytes));
            booked += found.choice.booked as usize;
        }
        coded.payload.resize(booked, 0);
        Ok(coded)
    }

    /// The code of what a position holds.
    fn code(&self, place: Place) -> i32 {
        let value = match place {
            Place::Element(index) => self.values.get(index as usize).copied(),
            Place::ZeroValue | Place::Nothing => None,
        };
        self.quantizer.code(value.unwrap_or(T::ZERO))
    }

    /// The stream of all chunks, in order.
    ///
    /// # Errors
    ///
    /// [`CuszpError::StreamTooLong`] if cuSZp's offsets are too short for the stream.
    pub fn assemble(&self, chunks: &[Chunk]) -> Result<Vec<u8>, CuszpError> {
        let start = self.blocks.layout.payload_start();
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
    pub(crate) blocks: Blocks,
    pub(crate) quantizer: Quantizer<T>,
    rates: &'a [u8],
    payload: &'a [u8],
    /// The start of each span's first body in the payload.
    starts: Vec<u64>,
    /// Bytes of all bodies.
    payload_bytes: u64,
}

/// A body that was found, from which the next ones are found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Walk {
    block: u32,
    at: usize,
}

impl<'a, T: Element> Decoder<'a, T> {
    /// For a stream.
    ///
    /// # Errors
    ///
    /// As [`decompress`]; a stream that passes here decodes.
    pub fn new(params: &Params<T>, stream: &'a [u8]) -> Result<Self, CuszpError> {
        let blocks = Blocks::of(params)?;
        let layout = blocks.layout;
        let rates = rates_of(&layout, stream)?;
        let (starts, payload_bytes) = starts(&blocks, rates)?;
        let stream_bytes = stream.len() as u64;
        check_length::<T>(params, &layout, payload_bytes, stream_bytes)?;
        let payload = stream.get(layout.payload_start() as usize..);
        Ok(Self {
            blocks,
            quantizer: Quantizer::new(params.error),
            rates,
            payload: payload.unwrap_or_default(),
            starts,
            payload_bytes,
        })
    }

    /// The positions of the elements.
    pub fn layout(&self) -> &Layout {
        &self.blocks.layout
    }

    /// Bytes of the stream, by its rate bytes; those behind them are ignored.
    pub fn stream_bytes(&self) -> u64 {
        self.layout().payload_start() + self.payload_bytes
    }

    /// A zero for every element.
    ///
    /// # Errors
    ///
    /// [`CuszpError::OutOfMemory`].
    pub fn cleared_output(&self) -> Result<Vec<T>, CuszpError> {
        zeros(self.layout().elements())
    }

    /// Decodes the span of this number, below [`Layout::spans`], to its elements, `out`, which hold
    /// zeros. Elements without a value stay as they are.
    pub fn span(&self, span: u32, out: &mut [T]) {
        let first = self.layout().span(span).elements.start;
        self.seam(span, first, out);
        self.blocks(span, first, out);
    }

    /// Stores the first four elements of a span as the last block before it has them that shares
    /// them and has a body.
    fn seam(&self, span: u32, first: usize, out: &mut [T]) {
        let layout = self.layout();
        let (blocks, four) = (layout.span(span).blocks, (first / 4) as u32);
        let sharers = layout.sharers(four);
        let before = sharers.map(|row| layout.sharing_block(row, four));
        let has_body = |block: &u32| *block < blocks.start && self.body_bytes(*block) > 0;
        if let Some(block) = before.filter(has_body).max() {
            self.block(block, &mut Walk::default(), first, out);
        }
    }

    /// Stores the blocks of a span, one after the other, in the elements from `first` on, `out`.
    fn blocks(&self, span: u32, first: usize, out: &mut [T]) {
        let mut walk = Walk::default();
        for block in self.layout().span(span).blocks {
            self.block(block, &mut walk, first, out);
        }
    }

    /// Stores a block; nothing if it has no body.
    fn block(&self, block: u32, walk: &mut Walk, first: usize, out: &mut [T]) {
        let Some(codes) = self.codes(block, walk) else {
            return;
        };
        let corner = self.layout().corner(block);
        for position in 0..self.blocks.positions() {
            let Place::Element(index) = self.layout().position(corner, position) else {
                continue;
            };
            let slot = (index as usize).checked_sub(first);
            if let Some(slot) = slot.and_then(|slot| out.get_mut(slot)) {
                *slot = self
                    .quantizer
                    .value(codes.as_flattened()[position as usize]);
            }
        }
    }

    /// The codes of a block; none if it has no body. Only the rate bytes of its span are read for it, from the block
    /// before on that the walk has come to.
    pub(crate) fn codes(&self, block: u32, walk: &mut Walk) -> Option<Block> {
        let body = self.body(block, walk);
        (!body.is_empty()).then(|| {
            let end = self.payload.len().min(body.end);
            let body = self.payload.get(body.start..end);
            self.blocks
                .decode(self.rate_byte(block), body.unwrap_or_default())
        })
    }

    /// The place of a block's body in the payload.
    pub(crate) fn body(&self, block: u32, walk: &mut Walk) -> Range<usize> {
        let span = block / self.layout().span_blocks();
        let first = self.layout().span(span).blocks.start;
        if walk.block < first || walk.block > block {
            let at = self.start(span);
            *walk = Walk { block: first, at };
        }
        for earlier in walk.block..block {
            walk.at += self.body_bytes(earlier);
        }
        walk.block = block;
        walk.at..walk.at + self.body_bytes(block)
    }

    fn start(&self, span: u32) -> usize {
        self.starts.get(span as usize).copied().unwrap_or(0) as usize
    }

    pub(crate) fn rate_byte(&self, block: u32) -> u8 {
        self.rates.get(block as usize).copied().unwrap_or(0)
    }

    fn body_bytes(&self, block: u32) -> usize {
        self.blocks.body_bytes(self.rate_byte(block))
    }
}

/// So many zeros.
pub(crate) fn zeros<T: Element>(elements: u64) -> Result<Vec<T>, CuszpError> {
    let refused = CuszpError::OutOfMemory { elements };
    let count = usize::try_from(elements).map_err(|_| refused)?;
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| refused)?;
    values.resize(count, T::ZERO);
    Ok(values)
}

/// The sections and the forms of the blocks of a stream.
pub(crate) fn outline<T>(params: &Params<T>, stream: &[u8]) -> Result<Outline, CuszpError> {
    let blocks = Blocks::of(params)?;
    let rates = rates_of(&blocks.layout, stream)?;
    let (_, body_bytes) = starts(&blocks, rates)?;
    let rate_bytes = rates.len() as u64;
    Ok(Outline {
        rate_bytes,
        between_bytes: blocks.layout.payload_start() - rate_bytes,
        body_bytes,
        found_bytes: stream.len() as u64,
        rates: count_rates(rates, blocks.kind.shape.groups() as u32, |byte| {
            blocks.kind.rate(byte)
        }),
    })
}

/// The rate bytes of a stream.
fn rates_of<'a>(layout: &Layout, stream: &'a [u8]) -> Result<&'a [u8], CuszpError> {
    let blocks = layout.blocks() as usize;
    stream.get(..blocks).ok_or(CuszpError::CutInRates {
        needed: blocks as u64,
        found: stream.len() as u64,
    })
}

/// The start of each span's bodies, and the end of the last one's.
fn starts(blocks: &Blocks, rates: &[u8]) -> Result<(Vec<u64>, u64), CuszpError> {
    let Blocks { layout, kind } = blocks;
    let mut starts = Vec::with_capacity(layout.spans() as usize);
    let mut at = 0;
    for span in 0..layout.spans() {
        starts.push(at);
        let numbers = layout.span(span).blocks;
        let bytes = rates.get(numbers.start as usize..numbers.end as usize);
        for (block, byte) in numbers.zip(bytes.unwrap_or_default()) {
            kind.check(*byte).map_err(|fault| CuszpError::CorruptRate {
                block,
                byte: *byte,
                fault,
            })?;
            at += blocks.body_bytes(*byte) as u64;
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

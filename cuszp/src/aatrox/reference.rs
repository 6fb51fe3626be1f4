//! Whole streams: layers in any order, and the serial functions made of them.

use crate::aatrox::error::AatroxError;
use crate::aatrox::layout::{BLOCK, INITIAL_BYTES, LAYER, LAYER_BLOCKS, Layout};
use crate::aatrox::params::Params;
use crate::aatrox::rate::rate_from_byte;
use crate::cuszp::quantizer::Quantizer;
use crate::outline::{Outline, count_rates};
use core::ops::Range;
use ferrosz_codec::code::fixed_length::block::{BODY_SCRATCH, SignedGroup, read_body, write_body};
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::difference;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::Shape;

/// Compresses an array.
///
/// # Errors
///
/// [`AatroxError::ElementCount`].
pub fn compress<T: Element>(params: &Params<T>, values: &[T]) -> Result<Vec<u8>, AatroxError> {
    check_count(params, values)?;
    let quantizer = Quantizer::new(params.error);
    let layers: Vec<Layer> = values
        .chunks(LAYER)
        .map(|values| encode_layer(&quantizer, values))
        .collect();
    Ok(assemble(&layers))
}

/// Decompresses a stream; bytes behind its end are ignored.
///
/// # Errors
///
/// If the stream is damaged or cut off, or there is no memory.
pub fn decompress<T: Element>(params: &Params<T>, stream: &[u8]) -> Result<Vec<T>, AatroxError> {
    let decoder = Decoder::new(params, stream)?;
    let mut values = decoder.cleared_output()?;
    for (layer, out) in values.chunks_mut(LAYER).enumerate() {
        decoder.layer(layer, out);
    }
    Ok(values)
}

/// Complains of an array that has not the announced length.
///
/// # Errors
///
/// [`AatroxError::ElementCount`].
pub fn check_count<T>(params: &Params<T>, values: &[T]) -> Result<(), AatroxError> {
    let (needed, found) = (params.elements, values.len() as u64);
    if needed == found {
        Ok(())
    } else {
        Err(AatroxError::ElementCount { needed, found })
    }
}

/// The bytes of a layer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    /// A byte for every block, [`LAYER_BLOCKS`] of them.
    pub rates: Vec<u8>,
    /// The code of the first element.
    pub initial: i32,
    /// The bodies.
    pub payload: Vec<u8>,
}

/// Codes a layer of at most [`LAYER`] values.
pub fn encode_layer<T: Element>(quantizer: &Quantizer<T>, values: &[T]) -> Layer {
    let codes: Vec<i32> = values.iter().map(|value| quantizer.code(*value)).collect();
    encode_codes(&codes)
}

/// Makes the layer of these codes.
pub(crate) fn encode_codes(codes: &[i32]) -> Layer {
    let initial = codes.first().copied().unwrap_or(0);
    let mut layer = Layer {
        initial,
        ..Layer::default()
    };
    let mut before = initial;
    let mut body = [0; BODY_SCRATCH];
    for codes in codes.chunks(BLOCK) {
        // Behind the end the last code goes on, so that there is no difference.
        let last = codes.last().copied().unwrap_or(before);
        let mut block = [last; BLOCK];
        block[..codes.len()].copy_from_slice(codes);
        difference::forward(Shape::Line, &mut block, before);
        before = last;
        let group = SignedGroup::split(&block);
        let (first, others) = group.first_and_others();
        let rate = RateByte::plain(first | others);
        write_body([group], rate, &mut body);
        layer.rates.push(rate.to_byte());
        (layer.payload).extend(body.iter().take(rate.body_bytes(1) as usize));
    }
    layer.rates.resize(LAYER_BLOCKS, 0);
    layer
}

/// The stream of all layers, in order.
pub fn assemble(layers: &[Layer]) -> Vec<u8> {
    let mut stream = Vec::new();
    for layer in layers {
        stream.extend_from_slice(&layer.rates);
    }
    for layer in layers {
        stream.extend_from_slice(&layer.initial.to_le_bytes());
    }
    for layer in layers {
        stream.extend_from_slice(&layer.payload);
    }
    stream
}

/// Reads layers of a stream, in any order.
#[derive(Debug, Clone)]
pub struct Decoder<'a, T> {
    pub(crate) quantizer: Quantizer<T>,
    pub(crate) elements: u64,
    rates: &'a [[u8; LAYER_BLOCKS]],
    initials: &'a [[u8; INITIAL_BYTES]],
    payload: &'a [u8],
    /// The range of each layer's bodies in the payload.
    pub(crate) bodies: Vec<Range<usize>>,
}

impl<'a, T: Element> Decoder<'a, T> {
    /// For a stream.
    ///
    /// # Errors
    ///
    /// As [`decompress`]; a stream that passes here decodes.
    pub fn new(params: &Params<T>, stream: &'a [u8]) -> Result<Self, AatroxError> {
        let layout = Layout::new(params.elements);
        let (rates, initials, payload) = sections(&layout, stream)?;
        let bodies = bodies(rates)?;
        let needed = bodies.last().map_or(0, |bodies| bodies.end);
        if needed > payload.len() {
            return Err(AatroxError::Truncated {
                needed: layout.payload_start() + needed as u64,
                found: stream.len() as u64,
            });
        }
        Ok(Self {
            quantizer: Quantizer::new(params.error),
            elements: params.elements,
            rates,
            initials,
            payload,
            bodies,
        })
    }

    /// Bytes of the stream, by its rate bytes; those behind them are ignored.
    pub fn stream_bytes(&self) -> u64 {
        let bodies = self.bodies.last().map_or(0, |bodies| bodies.end);
        Layout::new(self.elements).payload_start() + bodies as u64
    }

    /// A zero for every element.
    ///
    /// # Errors
    ///
    /// [`AatroxError::OutOfMemory`].
    pub fn cleared_output(&self) -> Result<Vec<T>, AatroxError> {
        zeros(self.elements)
    }

    /// Decodes the layer of this number to its elements, `out`.
    pub fn layer(&self, layer: usize, out: &mut [T]) {
        self.blocks(layer, out.len().div_ceil(BLOCK), |block, codes| {
            let out = out.chunks_mut(BLOCK).nth(block).unwrap_or_default();
            for (value, code) in out.iter_mut().zip(codes) {
                *value = self.quantizer.value(*code);
            }
        });
    }

    /// The codes of a layer's elements.
    pub(crate) fn codes(&self, layer: usize) -> Vec<i32> {
        let behind = self.elements.saturating_sub((layer * LAYER) as u64);
        let elements = behind.min(LAYER as u64) as usize;
        let mut all = Vec::with_capacity(elements);
        self.blocks(layer, elements.div_ceil(BLOCK), |_, codes| {
            all.extend(codes)
        });
        all.truncate(elements);
        all
    }

    /// Decodes the first blocks of a layer, so many, and hands each one on.
    fn blocks(&self, layer: usize, count: usize, mut take: impl FnMut(usize, &Group)) {
        let (Some(rates), Some(initial), Some(bodies)) = (
            self.rates.get(layer),
            self.initials.get(layer),
            self.bodies.get(layer),
        ) else {
            return;
        };
        let mut bodies = self.payload.get(bodies.clone()).unwrap_or_default();
        let mut before = i32::from_le_bytes(*initial);
        for (block, byte) in rates.iter().take(count).enumerate() {
            let rate = rate_from_byte(*byte).unwrap_or_default();
            let cut = bodies.split_at_checked(rate.body_bytes(1) as usize);
            let (body, rest) = cut.unwrap_or_default();
            bodies = rest;
            let mut whole = [0; BODY_SCRATCH];
            for (to, byte) in whole.iter_mut().zip(body) {
                *to = *byte;
            }
            let [mut codes] = read_body::<1>(rate, &whole);
            difference::backward(Shape::Line, &mut codes);
            difference::add(&mut codes, before);
            before = codes[BLOCK - 1];
            take(block, &codes);
        }
    }
}

/// So many zeros.
pub(crate) fn zeros<T: Element>(elements: u64) -> Result<Vec<T>, AatroxError> {
    let refused = AatroxError::OutOfMemory { elements };
    let count = usize::try_from(elements).map_err(|_| refused)?;
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| refused)?;
    values.resize(count, T::ZERO);
    Ok(values)
}

/// The sections and the forms of the blocks of a stream.
pub(crate) fn outline<T>(params: &Params<T>, stream: &[u8]) -> Result<Outline, AatroxError> {
    let layout = Layout::new(params.elements);
    let (rates, _, _) = sections(&layout, stream)?;
    let bodies = bodies(rates)?;
    Ok(Outline {
        rate_bytes: layout.initials_start(),
        between_bytes: layout.payload_start() - layout.initials_start(),
        body_bytes: bodies.last().map_or(0, |bodies| bodies.end as u64),
        found_bytes: stream.len() as u64,
        rates: count_rates(rates.as_flattened(), 1, |byte| {
            rate_from_byte(byte).unwrap_or_default()
        }),
    })
}

/// The rate bytes, initial values and bodies of a stream.
type Sections<'a> = (
    &'a [[u8; LAYER_BLOCKS]],
    &'a [[u8; INITIAL_BYTES]],
    &'a [u8],
);

/// Cuts a stream into its sections.
fn sections<'a>(layout: &Layout, stream: &'a [u8]) -> Result<Sections<'a>, AatroxError> {
    let cut = AatroxError::CutInHead {
        needed: layout.payload_start(),
        found: stream.len() as u64,
    };
    let head = usize::try_from(layout.payload_start()).map_err(|_| cut)?;
    let (head, payload) = stream.split_at_checked(head).ok_or(cut)?;
    let (rates, initials) = head.split_at(layout.initials_start() as usize);
    let (rates, _) = rates.as_chunks();
    let (initials, _) = initials.as_chunks();
    Ok((rates, initials, payload))
}

/// The range of each layer's bodies in the payload.
fn bodies(rates: &[[u8; LAYER_BLOCKS]]) -> Result<Vec<Range<usize>>, AatroxError> {
    let mut start = 0;
    let mut block = 0;
    let layers = rates.iter().map(|rates| {
        let mut end = start;
        for byte in rates {
            let rate = rate_from_byte(*byte);
            let rate = rate.ok_or(AatroxError::CorruptRate { block, byte: *byte })?;
            end += rate.body_bytes(1) as usize;
            block += 1;
        }
        let bodies = start..end;
        start = end;
        Ok(bodies)
    });
    layers.collect()
}

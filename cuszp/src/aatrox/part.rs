//! Random access: some layers are read, or replaced in place, without the bodies of others. A layer is the unit, as its
//! differences run from its first element to its last. The rate bytes of all layers are read: the place of a body is the
//! sum of the lengths before it.

use crate::aatrox::error::AatroxError;
use crate::aatrox::layout::{LAYER, Layout};
use crate::aatrox::params::Params;
use crate::aatrox::reference::{Decoder, Layer, encode_codes, zeros};
use crate::part::Part;
use core::ops::Range;
use ferrosz_codec::element::Element;

/// Decompresses a part of the array: the layers that hold it, no others.
///
/// # Errors
///
/// As [`decompress`](crate::aatrox::decompress); [`AatroxError::PartOfOther`].
pub fn decompress_part<T: Element>(
    params: &Params<T>,
    stream: &[u8],
    part: &Part,
) -> Result<Vec<T>, AatroxError> {
    Decoder::new(params, stream)?.part(part)
}

/// Replaces a part of the array in its stream, in place: each layer that holds some of it is coded anew, and its new bodies
/// must have the length of the old ones. Returns the number of these layers. The codes of all other elements stay.
///
/// # Errors
///
/// As [`decompress`](crate::aatrox::decompress); [`AatroxError::PartOfOther`]; [`AatroxError::ElementCount`] if there are
/// not as many values as the part has; [`AatroxError::LayerLength`] for the first layer whose bodies have another length.
/// The stream is then unchanged.
pub fn replace_part<T: Element>(
    params: &Params<T>,
    stream: &mut [u8],
    part: &Part,
    values: &[T],
) -> Result<u64, AatroxError> {
    let (needed, found) = (part.len(), values.len() as u64);
    if needed != found {
        return Err(AatroxError::ElementCount { needed, found });
    }
    let decoder = Decoder::new(params, stream)?;
    let layers = layers_of(params.elements, part)?;
    let changes = (layers.into_iter())
        .map(|layer| change(&decoder, layer, &codes_with(&decoder, layer, part, values)))
        .collect::<Result<Vec<_>, _>>()?;
    apply(&changes, &Layout::new(params.elements), stream);
    Ok(changes.len() as u64)
}

/// Replaces some layers of a stream in place by the values of their positions, as [`Decoder::positions`] gives them.
///
/// # Errors
///
/// As [`replace_part`].
pub(crate) fn replace_positions<T: Element>(
    params: &Params<T>,
    stream: &mut [u8],
    layers: Range<u32>,
    values: &[T],
) -> Result<(), AatroxError> {
    let decoder = Decoder::new(params, stream)?;
    let changes = (layers.map(u64::from).zip(values.chunks(LAYER)))
        .map(|(layer, values)| {
            let elements = params.elements.saturating_sub(layer * LAYER as u64);
            let values = &values[..values.len().min(elements as usize)];
            let codes: Vec<i32> = (values.iter())
                .map(|value| decoder.quantizer.code(*value))
                .collect();
            change(&decoder, layer, &codes)
        })
        .collect::<Result<Vec<_>, _>>()?;
    apply(&changes, &Layout::new(params.elements), stream);
    Ok(())
}

/// A new layer: its number, and the place of its bodies in the payload.
type NewLayer = (u64, Layer, Range<usize>);

/// Writes the new layers to their places in a stream.
fn apply(changes: &[NewLayer], layout: &Layout, stream: &mut [u8]) {
    for (number, layer, bodies) in changes {
        let mut put = |at: u64, bytes: &[u8]| {
            stream[at as usize..][..bytes.len()].copy_from_slice(bytes);
        };
        put(layout.rates_of(*number), &layer.rates);
        put(layout.initial_of(*number), &layer.initial.to_le_bytes());
        put(layout.payload_start() + bodies.start as u64, &layer.payload);
    }
}

impl<T: Element> Decoder<'_, T> {
    /// Decodes a part of the array.
    ///
    /// # Errors
    ///
    /// [`AatroxError::PartOfOther`], [`AatroxError::OutOfMemory`].
    pub fn part(&self, part: &Part) -> Result<Vec<T>, AatroxError> {
        let layers = layers_of(self.elements, part)?;
        let mut values = zeros(part.len())?;
        for layer in layers {
            let first = layer * LAYER as u64;
            for (element, code) in (first..).zip(self.codes(layer as usize)) {
                let slot = part.slot(element);
                if let Some(value) = slot.and_then(|slot| values.get_mut(slot)) {
                    *value = self.quantizer.value(code);
                }
            }
        }
        Ok(values)
    }
}

impl<T: Element> Decoder<'_, T> {
    /// The values of all positions of some layers, one layer after the other.
    pub(crate) fn positions(&self, layers: Range<u32>) -> Result<Vec<T>, AatroxError> {
        let mut values = zeros(layers.len() as u64 * LAYER as u64)?;
        for (layer, out) in layers.zip(values.chunks_mut(LAYER)) {
            self.layer(layer as usize, out);
        }
        Ok(values)
    }
}

/// The layers that hold elements of a part, in rising order.
fn layers_of(elements: u64, part: &Part) -> Result<Vec<u64>, AatroxError> {
    let (needed, found) = (elements, part.array_len());
    if needed != found {
        return Err(AatroxError::PartOfOther { needed, found });
    }
    let mut layers = Vec::new();
    // Runs are in order.
    for run in part.runs() {
        for layer in run.start / LAYER as u64..run.end.div_ceil(LAYER as u64) {
            if layers.last() != Some(&layer) {
                layers.push(layer);
            }
        }
    }
    Ok(layers)
}

/// The codes of a layer, those of a part from its values.
fn codes_with<T: Element>(
    decoder: &Decoder<'_, T>,
    number: u64,
    part: &Part,
    values: &[T],
) -> Vec<i32> {
    let mut codes = decoder.codes(number as usize);
    for (element, code) in (number * LAYER as u64..).zip(&mut codes) {
        if let Some(value) = part.slot(element).and_then(|slot| values.get(slot)) {
            *code = decoder.quantizer.code(*value);
        }
    }
    codes
}

/// A layer of these codes, if it fits in the place of the old one.
fn change<T: Element>(
    decoder: &Decoder<'_, T>,
    number: u64,
    codes: &[i32],
) -> Result<NewLayer, AatroxError> {
    let layer = encode_codes(codes);
    let bodies = decoder.bodies.get(number as usize).cloned();
    let bodies = bodies.unwrap_or_default();
    let (old, new) = (bodies.len() as u64, layer.payload.len() as u64);
    if old != new {
        return Err(AatroxError::LayerLength {
            layer: number,
            old,
            new,
        });
    }
    Ok((number, layer, bodies))
}

//! The oracle of the codecs of tiles: predictors over the whole field, place by place.

use crate::element::Element;
use crate::entropy::counts::{Counts, is_counted, is_sample};
use crate::entropy::groups::{GroupMap, TileCodes};
use crate::entropy::image::{ChunkTiles, IMAGE_BYTES};
use crate::entropy::shares::{MAX_WORDS, Shares};
use crate::entropy::stack::{Huffman, Rans};
use crate::entropy::token::{RAW, unzigzag, zigzag};
use crate::entropy::{planes, reference};
use crate::error::{ChunkFault, FormatError};
use crate::interp;
use crate::interp::resolved::Resolved;
use crate::interp::tile::Part;
use crate::pipeline::{TileCoder, TilePredictor};
use crate::quantize::Quantizer;
use crate::stream::chunk::Form;
use crate::stream::table::Entry;
use crate::stream::tiles::{FIRST_ENTRY, Prologue, Sections, TileLayout};
use crate::tile::{self, CHUNK_TILES, LANES, TILE, TileBox, TileGrid};
use alloc::vec;
use alloc::vec::Vec;

/// A part of a field in the order in which its chunks are coded.
struct Coded<T> {
    part: Part,
    /// Of each tile.
    codes: Vec<Vec<u16>>,
    values: Vec<Vec<T>>,
}

/// The entries and bytes of a field: the prologue and all chunks.
pub(super) fn compress<T: Element>(
    layout: &TileLayout,
    quantizer: &Quantizer<T>,
    values: &[T],
) -> Vec<(Form, Vec<u8>)> {
    if values.is_empty() {
        return Vec::new();
    }
    let (resolved, anchors, parts) = match layout.codec.predictor {
        TilePredictor::Lorenzo => (None, Vec::new(), vec![lorenzo(layout, quantizer, values)]),
        TilePredictor::Interp(geometry) => {
            let parameters = interp::tune::tune(
                &layout.fine,
                |at| values[layout.fine.flat(at) as usize],
                quantizer.error(),
                // Such a tuning does not ask which part of the range the bound is.
                0.0,
                &interp::tune::Tuning::of_stream(geometry),
                &mut vec![T::ZERO; interp::store::len(layout.shape()) as usize],
            );
            let resolved = Resolved::new(parameters, quantizer.error());
            let (anchors, parts) = interpolate(layout, &resolved, values);
            (Some(resolved), anchors, parts)
        }
    };
    let shares = match layout.codec.coder {
        TileCoder::Rans => Some(Shares::of::<Rans>(&count(layout, &parts))),
        TileCoder::Huffman => Some(Shares::of::<Huffman>(&count(layout, &parts))),
        TileCoder::BitPlane => None,
    };
    let prologue = Prologue { resolved, shares };
    let mut bytes = vec![0; prologue_bytes::<T>(layout)];
    let length = prologue
        .write(layout, anchors.into_iter(), &mut bytes)
        .bytes();
    bytes.truncate(length);
    let mut all = vec![(Form::Coded, bytes)];
    for part in &parts {
        let tiles = boxes(layout.grid(part.part));
        let per_chunk = CHUNK_TILES as usize;
        for ((tiles, codes), values) in (tiles.chunks(per_chunk))
            .zip(part.codes.chunks(per_chunk))
            .zip(part.values.chunks(per_chunk))
        {
            all.push(encode(
                layout,
                prologue.shares.as_ref(),
                tiles,
                codes,
                values,
            ));
        }
    }
    all
}

/// Bytes that a prologue has at most.
fn prologue_bytes<T: Element>(layout: &TileLayout) -> usize {
    Sections::new(layout, MAX_WORDS, T::DTYPE).bytes()
}

fn boxes(grid: &TileGrid) -> Vec<TileBox> {
    (0..grid.tiles()).map(|tile| grid.tile(tile)).collect()
}

/// What a tile's places hold in order of steps and lanes; 0 outside the field.
fn in_order<V: Copy + Default>(grid: &TileGrid, tile: &TileBox, at: impl Fn(usize) -> V) -> Vec<V> {
    (0..TILE as u32)
        .map(|i| {
            let place = tile::place(grid.shape(), i / LANES, i % LANES);
            if tile.has(place) {
                at(grid.flat(tile.at(place)) as usize)
            } else {
                V::default()
            }
        })
        .collect()
}

/// A part of these codes and values, which lie in C order.
fn coded<T: Element>(layout: &TileLayout, part: Part, codes: &[u16], values: &[T]) -> Coded<T> {
    let grid = layout.grid(part);
    let tiles = boxes(grid);
    Coded {
        part,
        codes: tiles
            .iter()
            .map(|tile| in_order(grid, tile, |at| codes[at]))
            .collect(),
        values: tiles
            .iter()
            .map(|tile| in_order(grid, tile, |at| values[at]))
            .collect(),
    }
}

fn interpolate<T: Element>(
    layout: &TileLayout,
    resolved: &Resolved<T>,
    values: &[T],
) -> (Vec<T>, Vec<Coded<T>>) {
    let spacing = resolved.parameters.geometry.spacing(layout.shape());
    let coarse_values = interp::reference::anchors(&layout.fine, spacing, values);
    let coarse = layout.grid(Part::Coarse);
    let anchors = interp::reference::anchors(coarse, spacing, &coarse_values);
    let mut parts = Vec::new();
    let mut known = anchors.clone();
    for (part, values) in [(Part::Coarse, &coarse_values[..]), (Part::Fine, values)] {
        let of_part = Resolved {
            quantizers: resolved.quantizers_of(part, layout.shape()),
            ..*resolved
        };
        let found = interp::reference::decompose(
            layout.grid(part),
            &of_part,
            interp::quantize::RADIUS,
            values,
            &known,
        );
        let codes: Vec<u16> = (found.codes.iter())
            .map(|code| code.map_or(RAW, zigzag) as u16)
            .collect();
        parts.push(coded(layout, part, &codes, values));
        known = found.known;
    }
    (anchors, parts)
}

/// The place of a tile's places, one after the other in C order.
fn places(grid: &TileGrid, tile: &TileBox) -> Vec<[u32; 3]> {
    let [depth, height, width] = tile::extents(grid.shape());
    let all =
        (0..depth * height * width).map(|i| [i / width / height, i / width % height, i % width]);
    all.filter(|place| tile.has(*place)).collect()
}

/// The sum of what is known of the neighbours that come before a place, in the dimensions of the tile.
fn lorenzo_prediction(grid: &TileGrid, place: [u32; 3], known: impl Fn([u32; 3]) -> i32) -> i32 {
    let [depth, height, width] = tile::extents(grid.shape()).map(|extent| u32::from(extent > 1));
    let mut sum = 0i32;
    for back in 1..8u32 {
        let steps = [back >> 2 & 1, back >> 1 & 1, back & 1];
        let is_axis = steps[0] <= depth && steps[1] <= height && steps[2] <= width;
        if !is_axis || (0..3).any(|i| place[i] < steps[i]) {
            continue;
        }
        let code = known([
            place[0] - steps[0],
            place[1] - steps[1],
            place[2] - steps[2],
        ]);
        sum = if back.count_ones() % 2 == 1 {
            sum.wrapping_add(code)
        } else {
            sum.wrapping_sub(code)
        };
    }
    sum
}

fn lorenzo<T: Element>(layout: &TileLayout, quantizer: &Quantizer<T>, values: &[T]) -> Coded<T> {
    let grid = &layout.fine;
    let mut codes = vec![0; values.len()];
    for tile in boxes(grid) {
        let mut known = vec![0i32; TILE];
        for place in places(grid, &tile) {
            let at = grid.flat(tile.at(place)) as usize;
            let prediction = lorenzo_prediction(grid, place, |place| {
                known[tile::index(grid.shape(), place) as usize]
            });
            let code = quantizer.quantize(values[at]);
            let residual = code.map(|code| code.wrapping_sub(prediction));
            let fits = residual.filter(|residual| residual.unsigned_abs() < 1 << 15);
            codes[at] = fits.map_or(RAW, zigzag) as u16;
            known[tile::index(grid.shape(), place) as usize] = match (fits, place) {
                (Some(_), _) | (None, [0, 0, 0]) => code.unwrap_or(0),
                (None, _) => prediction,
            };
        }
    }
    coded(layout, Part::Fine, &codes, values)
}

fn count<T>(layout: &TileLayout, parts: &[Coded<T>]) -> Counts {
    let map = GroupMap::new(layout.codec.order(layout.shape()));
    let mut counts = Counts::default();
    let fine = layout.fine.chunks();
    for part in parts {
        for (number, (tile, codes)) in boxes(layout.grid(part.part))
            .iter()
            .zip(&part.codes)
            .enumerate()
        {
            let chunk = number as u64 / u64::from(CHUNK_TILES);
            if part.part == Part::Coarse || is_counted(chunk, fine) {
                let codes: &TileCodes = codes.as_slice().try_into().unwrap_or(&[0; TILE]);
                map.count(tile, codes, &mut counts);
            }
        }
    }
    counts.complete(is_sample(fine));
    counts
}

fn encode<T: Element>(
    layout: &TileLayout,
    shares: Option<&Shares>,
    tiles: &[TileBox],
    codes: &[Vec<u16>],
    values: &[Vec<T>],
) -> (Form, Vec<u8>) {
    let order = layout.codec.order(layout.shape());
    match (layout.codec.coder, shares) {
        (TileCoder::Rans, Some(shares)) => {
            reference::encode::<Rans, T>(order, tiles, shares, codes, values)
        }
        (TileCoder::Huffman, Some(shares)) => {
            reference::encode::<Huffman, T>(order, tiles, shares, codes, values)
        }
        _ => {
            // There is no way to write planes more plainly than the coder does.
            let map = GroupMap::new(order);
            let chunk = ChunkTiles { map: &map, tiles };
            let codes: Vec<TileCodes> = (codes.iter())
                .map(|codes| codes.as_slice().try_into().unwrap_or([0; TILE]))
                .collect();
            let mut image = vec![0; IMAGE_BYTES];
            let mut words = vec![0; planes::CHUNK_WORDS];
            let Ok(words) = words.as_mut_slice().try_into() else {
                return (Form::Zero, Vec::new());
            };
            let value = |tile: usize, at: usize| values[tile][at];
            let (form, length) = planes::encode(chunk, &codes, value, words, &mut image);
            image.truncate(length);
            (form, image)
        }
    }
}

/// The field of these entries, each with its bytes.
pub(super) fn decompress<T: Element>(
    layout: &TileLayout,
    quantizer: &Quantizer<T>,
    entries: &[(Entry, &[u8])],
) -> Result<Vec<T>, FormatError> {
    let Some(((entry, bytes), chunks)) = entries.split_first() else {
        return Ok(Vec::new());
    };
    let in_prologue = |fault: ChunkFault| fault.in_chunk(0);
    if entry.form != Form::Coded.id() {
        return Err(in_prologue(ChunkFault::Form));
    }
    let (prologue, sections) =
        Prologue::<T>::read(layout, quantizer.error(), bytes).map_err(in_prologue)?;
    let mut known: Vec<T> = bytes[sections.anchors..sections.end]
        .chunks_exact(T::BYTES)
        .map(|bytes| {
            let mut bits = [0; 8];
            bits[..T::BYTES].copy_from_slice(bytes);
            T::from_bits64(u64::from_le_bytes(bits))
        })
        .collect();
    let (coarse, fine) = chunks.split_at(layout.coarse_chunks() as usize);
    for (part, chunks, first) in [
        (Part::Coarse, coarse, FIRST_ENTRY),
        (Part::Fine, fine, FIRST_ENTRY + layout.coarse_chunks()),
    ] {
        if part == Part::Coarse && layout.coarse.is_none() {
            continue;
        }
        let grid = layout.grid(part);
        let (codes, raw) = decode(layout, &prologue, grid, chunks, first)?;
        known = match prologue.resolved {
            Some(resolved) => {
                let of_part = Resolved {
                    quantizers: resolved.quantizers_of(part, layout.shape()),
                    ..resolved
                };
                let codes: Vec<Option<i32>> = codes.into_iter().map(code_of).collect();
                let radius = interp::quantize::RADIUS;
                let mut found =
                    interp::reference::compose(grid, &of_part, radius, &codes, &raw, &known);
                let has_none = codes.iter().map(Option::is_none);
                for ((value, raw), has_none) in found.iter_mut().zip(raw).zip(has_none) {
                    if has_none && part == Part::Fine {
                        *value = raw;
                    }
                }
                found
            }
            None => unpredicted(grid, quantizer, &codes, &raw),
        };
    }
    Ok(known)
}

fn code_of(z: u16) -> Option<i32> {
    (u32::from(z) != RAW).then(|| unzigzag(u32::from(z)))
}

/// Codes and raw values of a part, in C order.
fn decode<T: Element>(
    layout: &TileLayout,
    prologue: &Prologue<T>,
    grid: &TileGrid,
    chunks: &[(Entry, &[u8])],
    first: u64,
) -> Result<(Vec<u16>, Vec<T>), FormatError> {
    let count = grid.elements() as usize;
    let (mut codes, mut raw) = (vec![0; count], vec![T::ZERO; count]);
    let tiles = boxes(grid);
    for (number, (tiles, (entry, bytes))) in
        (first..).zip(tiles.chunks(CHUNK_TILES as usize).zip(chunks))
    {
        let form = Form::from_id(entry.form).ok_or(ChunkFault::Form.in_chunk(number))?;
        let decoded = decode_chunk::<T>(layout, prologue, tiles, form, bytes);
        let (of_tiles, of_raw) = decoded.map_err(|fault| fault.in_chunk(number))?;
        let mut of_raw = of_raw.into_iter();
        for (tile, of_tile) in tiles.iter().zip(of_tiles) {
            for (i, z) in (0..).zip(of_tile) {
                let place = tile::place(grid.shape(), i / LANES, i % LANES);
                if tile.has(place) {
                    let at = grid.flat(tile.at(place)) as usize;
                    codes[at] = z;
                    if u32::from(z) == RAW {
                        raw[at] = of_raw.next().unwrap_or(T::ZERO);
                    }
                }
            }
        }
    }
    Ok((codes, raw))
}

type Decoded<T> = (Vec<Vec<u16>>, Vec<T>);

fn decode_chunk<T: Element>(
    layout: &TileLayout,
    prologue: &Prologue<T>,
    tiles: &[TileBox],
    form: Form,
    bytes: &[u8],
) -> Result<Decoded<T>, ChunkFault> {
    let order = layout.codec.order(layout.shape());
    match (layout.codec.coder, &prologue.shares) {
        (TileCoder::Rans, Some(shares)) => {
            reference::decode::<Rans, T>(order, tiles, shares, form, bytes)
        }
        (TileCoder::Huffman, Some(shares)) => {
            reference::decode::<Huffman, T>(order, tiles, shares, form, bytes)
        }
        _ => {
            let map = GroupMap::new(order);
            let chunk = ChunkTiles { map: &map, tiles };
            let mut codes = vec![[0; TILE]; tiles.len()];
            let mut words = vec![0; planes::CHUNK_WORDS];
            let words = words
                .as_mut_slice()
                .try_into()
                .map_err(|_| ChunkFault::Length)?;
            let mut raw = Vec::new();
            let set = |_, _, value| raw.push(value);
            planes::decode(chunk, form, bytes, &mut codes, set, words)?;
            Ok((codes.iter().map(|codes| codes.to_vec()).collect(), raw))
        }
    }
}

fn unpredicted<T: Element>(
    grid: &TileGrid,
    quantizer: &Quantizer<T>,
    codes: &[u16],
    raw: &[T],
) -> Vec<T> {
    let mut values = raw.to_vec();
    for tile in boxes(grid) {
        let mut known = vec![0i32; TILE];
        for place in places(grid, &tile) {
            let at = grid.flat(tile.at(place)) as usize;
            let prediction = lorenzo_prediction(grid, place, |place| {
                known[tile::index(grid.shape(), place) as usize]
            });
            let code = match (code_of(codes[at]), place) {
                (Some(residual), _) => prediction.wrapping_add(residual),
                (None, [0, 0, 0]) => quantizer.quantize(raw[at]).unwrap_or(0),
                (None, _) => prediction,
            };
            known[tile::index(grid.shape(), place) as usize] = code;
            if u32::from(codes[at]) != RAW {
                values[at] = quantizer.dequantize(code);
            }
        }
    }
    values
}

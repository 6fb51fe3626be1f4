//! Damaged streams of tiles: decodes the sound tiles, and finds the tiles that are lost with a damaged chunk.
//!
//! With a chunk of the field its tiles are lost. Interpolation also needs codes and anchors of the tiles behind a tile,
//! on its far faces, so the tiles before a lost tile are lost too. With a chunk of the coarse field all tiles that have
//! anchors in it are lost.

use crate::cpu::tiles::coder::Scratch;
use crate::cpu::tiles::decompress::{Decode, DecodedTiles};
use crate::cpu::tiles::lines::Lines;
use crate::cpu::tiles::rows::Rows;
use crate::cpu::{Progress, Version};
use crate::damage::GridBox;
use crate::damage::Lost;
use crate::error::Error;
use crate::memory;
use crate::parallel;
use crate::stream_ref::StreamRef;
use crate::tile_ranges::{TileRanges, all_tiles, numbers};
use ferrosz_codec::container::tiles::{FIRST_ENTRY, TileLayout};
use ferrosz_codec::tile::Part;
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::{Element, FormatError};
use std::collections::BTreeSet;
use std::ops::Range;

/// A fault of a chunk, by part and number in that part.
type Fault = (Part, u64, FormatError);

/// Decodes all of a field that is not lost; returns the faults, in the order of the chunks' numbers.
pub(crate) fn salvage<T: Element>(
    stream: &StreamRef<'_>,
    layout: &TileLayout,
    verify: bool,
    values: &mut [T],
    progress: Progress<'_>,
) -> Result<Vec<Lost>, Error> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let (decode, start) = Decode::begin::<T>(Version::best(), stream, layout, verify)?;
    let mut faults = Vec::new();
    let all = all_tiles(&layout.fine);
    match start {
        None => {
            let codes = sound_codes::<T>(&decode, layout, Part::Fine, &mut faults)?;
            let quantizer = stream.header.quantizer::<T>()?;
            let out = Rows::whole(&layout.fine, values);
            decode.unpredict(&quantizer, &codes, &all, &out, progress);
        }
        Some(start) => {
            let coarse = sound_codes::<T>(&decode, layout, Part::Coarse, &mut faults)?;
            let known = decode.coarse_of(&start, &coarse)?;
            let codes = sound_codes::<T>(&decode, layout, Part::Fine, &mut faults)?;
            let out = Rows::whole(&layout.fine, values);
            decode.compose(&start, &codes, &known, &all, &out, progress);
        }
    }
    Ok(lost(layout, faults))
}

/// Decodes all chunks without output; returns the faults, in the order of the chunks' numbers.
pub(crate) fn check<T: Element>(
    stream: &StreamRef<'_>,
    layout: &TileLayout,
    verify: bool,
    progress: Progress<'_>,
) -> Result<Vec<Lost>, Error> {
    if layout.fine.elements() == 0 {
        return Ok(Vec::new());
    }
    let (decode, _) = Decode::begin::<T>(Version::best(), stream, layout, verify)?;
    let coarse = layout.coarse_chunks();
    let all = 0..coarse + layout.fine_chunks();
    let elements = layout.fine.elements() / layout.fine_chunks().max(1);
    let length = layout.chunk;
    let lines = Lines::new(layout, 0);
    let scratch = || {
        let codes = memory::try_zeroed::<TileCodes>(length.tiles().into())?;
        Ok::<_, Error>((Scratch::new(length)?, codes))
    };
    let faults = parallel::try_map_with(all, scratch, |(scratch, codes), chunk| {
        let (part, chunk) = layout.part_of(chunk);
        if part == Part::Fine {
            progress(elements);
        }
        let (divided, in_line) = match part {
            Part::Fine if layout.levels > 0 => lines.divided(layout, &decode.line_map, chunk)?,
            _ => (decode.divided(part), chunk),
        };
        let fault = decode.chunk::<T>(divided, in_line, codes, scratch).err()?;
        Some((part, chunk, fault))
    })?;
    Ok(lost(layout, faults.into_iter().flatten().collect()))
}

/// The codes of all tiles of a part whose chunks are sound, and the faults of the other chunks.
fn sound_codes<T: Element>(
    decode: &Decode<'_>,
    layout: &TileLayout,
    part: Part,
    faults: &mut Vec<Fault>,
) -> Result<DecodedTiles<T>, Error> {
    let divided = decode.divided(part);
    let (tiles, found) = match part {
        Part::Fine if layout.levels > 0 => {
            decode.codes_of_lines((0..layout.fine.tiles()).collect(), 0, None)?
        }
        _ => decode.decoded(divided, (0..divided.length.count(divided.grid)).collect())?,
    };
    faults.extend(found.into_iter().map(|(chunk, fault)| (part, chunk, fault)));
    Ok(tiles)
}

/// The positions that are lost with faulty chunks, each with the first of these chunks.
fn lost(layout: &TileLayout, faults: Vec<Fault>) -> Vec<Lost> {
    let mut seen = BTreeSet::new();
    let lines = Lines::new(layout, 0);
    let lost = faults.into_iter().map(|(part, chunk, cause)| {
        let before = match part {
            Part::Coarse => 0,
            Part::Fine => layout.coarse_chunks(),
        };
        let tiles = lost_tiles(layout, &lines, part, chunk).into_iter();
        let new: Vec<u64> = tiles.filter(|tile| seen.insert(*tile)).collect();
        Lost {
            chunk: FIRST_ENTRY + before + chunk,
            cause,
            positions: new
                .iter()
                .map(|tile| position(&layout.fine, *tile))
                .collect(),
        }
    });
    lost.collect()
}

/// The numbers of the tiles of the field that are lost with a chunk.
fn lost_tiles(layout: &TileLayout, lines: &Lines, part: Part, chunk: u64) -> BTreeSet<u64> {
    let grid = layout.grid(part);
    let own = match part {
        Part::Fine if layout.levels > 0 => lines.tiles_of_chunk(layout, chunk),
        _ => layout.chunk_length(part).of_chunk(grid, chunk),
    };
    let Some(geometry) = layout.codec.predictor.geometry() else {
        return own.collect();
    };
    let spacing = geometry.spacing(layout.shape());
    // The coarse field has far faces along all axes of its shape.
    let first_of_fine = layout.codec.order(layout.shape()).first_axis();
    let first = match part {
        Part::Fine => first_of_fine,
        Part::Coarse => 3 - usize::from(grid.shape().rank()),
    };
    let mut tiles = BTreeSet::new();
    for tile in own {
        let with_near = with_near(grid, first, tile);
        match part {
            Part::Fine => tiles.extend(numbers(grid, &with_near)),
            Part::Coarse => {
                let users = users(&layout.fine, grid, first_of_fine, &with_near, spacing);
                tiles.extend(numbers(&layout.fine, &users));
            }
        }
    }
    tiles
}

/// A tile and the tiles before it along each dimension from `first` on, which have it on their far faces.
fn with_near(grid: &TileGrid, first: usize, tile: u64) -> TileRanges {
    let [_, rows, columns] = grid.counts();
    let at = [tile / columns / rows, tile / columns % rows, tile % columns];
    std::array::from_fn(|i| {
        let is_first = i < first || i == 0 && grid.ends_slice(at[0]);
        at[i].saturating_sub(u64::from(!is_first))..at[i] + 1
    })
}

/// The tiles of the field that have anchors, also on their far faces, in these tiles of the coarse field, which are all
/// of one slice. A tile of the coarse field has the anchors of `spacing` tiles along each dimension of its shape. Tiles of the
/// field have far faces along the dimensions from `first_of_fine` on.
fn users(
    fine: &TileGrid,
    grid: &TileGrid,
    first_of_fine: usize,
    coarse: &TileRanges,
    spacing: u32,
) -> TileRanges {
    let spacing = u64::from(spacing);
    let first = 3 - usize::from(fine.shape().rank());
    // Tiles of a slice along z.
    let [deep, of_coarse] = [fine, grid].map(|grid| grid.counts()[0] / grid.slices());
    let slice = coarse[0].start / of_coarse.max(1);
    let mut counts = fine.counts();
    counts[0] = deep;
    let mut users: TileRanges = std::array::from_fn(|i| {
        let Range { start, end } = coarse[i].clone();
        let before = if i == 0 { slice * of_coarse } else { 0 };
        match i >= first {
            true => {
                ((start - before) * spacing).saturating_sub(u64::from(i >= first_of_fine))
                    ..((end - before) * spacing).min(counts[i])
            }
            false => start - before..end - before,
        }
    });
    users[0] = users[0].start + slice * deep..users[0].end + slice * deep;
    users
}

/// The position of a tile in the field.
fn position(grid: &TileGrid, tile: u64) -> GridBox {
    let found = grid.tile(tile);
    GridBox {
        origin: found.origin,
        size: found.extents(grid.shape()).map(u64::from),
    }
}

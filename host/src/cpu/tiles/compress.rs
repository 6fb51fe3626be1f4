//! Compression: codes of all tiles, then their statistics, then the chunks.

use crate::cpu::code::image::ChunkTiles;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::mapping::mask::Mask;
use crate::cpu::predict::interp::{Model, Predictor, TileStore};
use crate::cpu::predict::tile_lorenzo;
use crate::cpu::predict::tune::tune;
use crate::cpu::sink::Sink;
use crate::cpu::tiles::coder::{self, Encoder, Scratch};
use crate::cpu::tiles::rows::Rows;
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::memory;
use ferrosz_codec::code::entropy::counts::{Counts, is_counted, is_sample};
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::table::Entry;
use ferrosz_codec::container::tiles::{Prologue, Sections, TileLayout};
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::Part;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{self, ChunkLength, LANES, RUN_TILES, TileBox, TileGrid};
use ferrosz_codec::{Element, Shape};
use rayon::prelude::*;
use std::ops::Range;

/// A part of a field, and its codes.
struct Coded<'a, T> {
    field: Strided<'a, T>,
    codes: Vec<TileCodes>,
}

/// The elements of a field whose positions in each dimension of its tiles are multiples of `spacing`.
#[derive(Clone, Copy)]
struct Strided<'a, T> {
    values: &'a [T],
    grid: TileGrid,
    strides: [usize; 3],
    /// Elements that the strides count too much for each slice, as the last spacing of a slice may be cut off.
    excess: usize,
    /// The extent of a slice along z.
    depth: u64,
}

impl<T: Element> Strided<'_, T> {
    #[inline(always)]
    fn index(&self, [z, y, x]: [u64; 3]) -> usize {
        let [slice, row, step] = self.strides;
        let at = z as usize * slice + y as usize * row + x as usize * step;
        match self.excess {
            0 => at,
            excess => at - (z / self.depth) as usize * excess,
        }
    }

    #[inline(always)]
    fn at(&self, at: [u64; 3]) -> T {
        self.values[self.index(at)]
    }

    /// Fills a slice with the elements along x from a position on.
    #[inline(always)]
    fn read(&self, at: [u64; 3], row: &mut [T]) {
        let values = &self.values[self.index(at)..];
        match self.strides[2] {
            1 => row.copy_from_slice(&values[..row.len()]),
            step => {
                for (position, value) in row.iter_mut().zip(values.iter().step_by(step)) {
                    *position = *value;
                }
            }
        }
    }
}

/// Compresses a coded field with this header, in which the payload's length is missing.
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments of every compression, and the field's tiles"
)]
pub(crate) fn compress<T: Element>(
    version: Version,
    tiles: &TileLayout,
    header: Header,
    mask: &Mask,
    quantizer: &Quantizer<T>,
    values: &[T],
    sink: &mut dyn Sink,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let mut table = Vec::new();
    let mut images = Vec::new();
    if !values.is_empty() {
        images = encode_all(version, tiles, quantizer, values, progress)?;
    }
    let (identity, split) = (header.identity(), header.layout().split());
    let mut payload_bytes = 0;
    let sums: Vec<u64> = (images.par_iter().chain(&mask.chunks).enumerate())
        .map(|(number, (form, bytes))| checksum(identity.seed(number as u64, form.id()), bytes))
        .collect();
    let chunks = images.iter().chain(&mask.chunks).zip(sums);
    for (number, ((form, bytes), sum)) in (0..).zip(chunks) {
        // The entry of the prologue has length 0, as its contents give its length.
        let length = if number == 0 { 0 } else { bytes.len() as u64 };
        table.extend(Entry::new(payload_bytes, length, *form, sum).to_bytes(split));
        payload_bytes += bytes.len() as u64;
    }
    let header = Header {
        payload_bytes,
        ..header
    };
    sink.append(&header.to_bytes())?;
    sink.append(&mask.records)?;
    sink.append(&table)?;
    sink.expect(payload_bytes);
    let mut chunks = images.iter().chain(&mask.chunks);
    chunks.try_for_each(|(_, bytes)| sink.append(bytes))
}

/// The prologue and all chunks of a field that has elements.
pub(super) fn encode_all<T: Element>(
    version: Version,
    layout: &TileLayout,
    quantizer: &Quantizer<T>,
    values: &[T],
    progress: Progress<'_>,
) -> Result<Vec<(Form, Vec<u8>)>, Error> {
    let fine = strided(layout, values, Part::Fine, 1);
    let mut anchors = Vec::new();
    let mut coefficients = None;
    let (resolved, parts) = match layout.codec.predictor.tuning() {
        None => {
            let codes = predict_lorenzo(version, &fine, quantizer)?;
            (None, vec![Coded { field: fine, codes }])
        }
        Some(tuning) => {
            let read = |at, row: &mut [T]| fine.read(at, row);
            let tuned = tune(version, &fine.grid, read, quantizer.error(), 0.0, &tuning);
            let resolved = Resolved::new(tuned.parameters, quantizer.error());
            coefficients = tuned.coefficients;
            let model = Model {
                resolved: &resolved,
                coefficients: coefficients.as_ref(),
            };
            let spacing = tuning.geometry.spacing(layout.shape());
            let coarse = strided(layout, values, Part::Coarse, u64::from(spacing));
            anchors = anchors_of(&coarse, spacing);
            let predictor = |part| Predictor::new(version, &layout.fine, model, part);
            let (codes, known) = interpolate_coarse(&predictor(Part::Coarse), &coarse, &anchors)?;
            let coarse = Coded {
                field: coarse,
                codes,
            };
            let codes = interpolate(&predictor(Part::Fine), &fine, &known, |_, _| {})?;
            let parts = vec![coarse, Coded { field: fine, codes }];
            (Some(resolved), parts)
        }
    };
    let shifts = resolved.map_or(Shifts::NONE, |resolved| resolved.parameters.shifts);
    let map = ZoneMap::new(layout.codec.order(layout.shape()), shifts);
    let frequencies =
        coder::frequencies(layout.codec.coder, || count(version, layout, &map, &parts));
    let encoder = Encoder::new(layout.codec.coder, frequencies.as_ref());
    let prologue = Prologue {
        resolved,
        coefficients,
        frequencies,
    };
    let most = Sections::longest(layout, T::DTYPE).bytes();
    let mut bytes = memory::try_zeroed(most as u64)?;
    let sections = prologue.write(layout, anchors.into_iter(), &mut bytes);
    bytes.truncate(sections.bytes());
    let mut images = vec![(Form::Coded, bytes)];
    for part in &parts {
        let of_part = encode_part(version, layout.chunk, &encoder, &map, part);
        let of_part: Result<Vec<_>, Error> = of_part.collect();
        images.append(&mut of_part?);
    }
    progress(values.len() as u64);
    Ok(images)
}

/// A part of the field: every `spacing`th position.
fn strided<'a, T>(
    layout: &TileLayout,
    values: &'a [T],
    part: Part,
    spacing: u64,
) -> Strided<'a, T> {
    let [_, height, width] = layout.fine.lengths().map(|length| length as usize);
    let step = spacing as usize;
    let strides = match layout.shape() {
        Shape::Line => [0, 0, step],
        Shape::Plane => [height * width, step * width, step],
        Shape::Cube => [step * height * width, step * width, step],
    };
    let grid = *layout.grid(part);
    let [fine, depth] = [layout.fine, grid].map(|grid| grid.slice_lengths()[0]);
    let excess = match layout.shape() {
        Shape::Cube if grid.slices() > 1 => (spacing * depth - fine) as usize * height * width,
        Shape::Line | Shape::Plane | Shape::Cube => 0,
    };
    Strided {
        values,
        grid,
        strides,
        excess,
        depth,
    }
}

/// The anchors of a part, in C order.
fn anchors_of<T: Element>(field: &Strided<'_, T>, spacing: u32) -> Vec<T> {
    let grid = field.grid.coarse(spacing);
    let [depth, height, width] = grid.lengths();
    let mut anchors = Vec::new();
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                anchors.push(field.at(field.grid.of_coarse(&grid, spacing, [z, y, x])));
            }
        }
    }
    anchors
}

/// The codes of the coarse field, and its decoded values, in C order.
fn interpolate_coarse<T: Element>(
    predictor: &Predictor<'_, T>,
    field: &Strided<'_, T>,
    anchors: &[T],
) -> Result<(Vec<TileCodes>, Vec<T>), Error> {
    let mut all = memory::try_zeroed(field.grid.elements())?;
    let out = Rows::whole(&field.grid, &mut all);
    let codes = interpolate(predictor, field, anchors, |tile, known| {
        out.put_tile(tile, known);
    })?;
    Ok((codes, all))
}

/// The codes of a part with these anchors. `known` is called with each tile and its decoded values.
fn interpolate<T: Element>(
    predictor: &Predictor<'_, T>,
    field: &Strided<'_, T>,
    anchors: &[T],
    known: impl Fn(&TileBox, &TileStore<T>) + Sync + Send,
) -> Result<Vec<TileCodes>, Error> {
    let coarse = predictor.anchor_grid();
    for_tiles(
        &field.grid,
        || predictor.store(),
        |store, tile, codes| {
            let anchor = |at| anchors[coarse.flat(at) as usize];
            predictor.encode(tile, |at, row| field.read(at, row), anchor, store, codes);
            known(tile, store);
        },
    )
}

fn predict_lorenzo<T: Element>(
    version: Version,
    field: &Strided<'_, T>,
    quantizer: &Quantizer<T>,
) -> Result<Vec<TileCodes>, Error> {
    let shape = field.grid.shape();
    for_tiles(
        &field.grid,
        || (),
        |(), tile, codes| {
            let read = |at, row: &mut [T]| field.read(at, row);
            tile_lorenzo::encode_on(version, shape, tile, quantizer, read, codes);
        },
    )
}

/// The codes of all tiles, each written by `encode`.
fn for_tiles<R>(
    grid: &TileGrid,
    scratch: impl Fn() -> R + Sync + Send,
    encode: impl Fn(&mut R, &TileBox, &mut TileCodes) + Sync + Send,
) -> Result<Vec<TileCodes>, Error> {
    let mut codes = memory::try_zeroed::<TileCodes>(grid.tiles())?;
    codes
        .par_iter_mut()
        .enumerate()
        .for_each_init(scratch, |scratch, (number, codes)| {
            apart(|| encode(scratch, &grid.tile(number as u64), codes));
        });
    Ok(codes)
}

/// Runs `work` in its own stack frame. In the frames of rayon's recursion, its arrays would exist once for each depth,
/// which exceeds a thread's stack.
#[inline(never)]
pub(super) fn apart<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// The boxes of these tiles.
pub(super) fn boxes(grid: &TileGrid, tiles: Range<u64>) -> Vec<TileBox> {
    tiles.map(|tile| grid.tile(tile)).collect()
}

fn count<T: Element>(
    version: Version,
    layout: &TileLayout,
    map: &ZoneMap,
    parts: &[Coded<'_, T>],
) -> Counts {
    let runs = layout.fine.runs();
    let mut counts = Counts::default();
    for (is_coarse, part) in parts.iter().rev().zip([false, true]).map(|(p, c)| (c, p)) {
        let of_part = (part.codes.par_iter().enumerate())
            .filter(|(tile, _)| is_coarse || is_counted(*tile as u64 / u64::from(RUN_TILES), runs))
            .fold(Box::<Counts>::default, |mut counts, (tile, codes)| {
                let tile = part.field.grid.tile(tile as u64);
                apart(|| map.count(version, &tile, codes, &mut counts));
                counts
            })
            .reduce(Box::default, |mut counts, other| {
                counts.merge(&other);
                counts
            });
        counts.merge(&of_part);
    }
    counts.complete(is_sample(runs));
    counts
}

/// The chunks of a part.
fn encode_part<T: Element>(
    version: Version,
    length: ChunkLength,
    encoder: &Encoder,
    map: &ZoneMap,
    part: &Coded<'_, T>,
) -> impl IndexedParallelIterator<Item = Result<(Form, Vec<u8>), Error>> {
    let chunks = part.codes.par_chunks(length.tiles() as usize).enumerate();
    let scratch = move || Scratch::new(length);
    chunks.map_init(scratch, move |scratch, (number, codes)| {
        let grid = &part.field.grid;
        let boxes = boxes(grid, length.of_chunk(grid, number as u64));
        let tiles = ChunkTiles { map, tiles: &boxes };
        let value = |tile: usize, at: usize| {
            let (step, lane) = (at as u32 / LANES, at as u32 % LANES);
            part.field
                .at(boxes[tile].at(tile::position(grid.shape(), step, lane)))
        };
        let (form, length) = apart(|| encoder.encode(version, tiles, codes, value, scratch));
        let mut bytes = memory::with_capacity(length as u64)?;
        bytes.extend_from_slice(&scratch.image[..length]);
        Ok((form, bytes))
    })
}

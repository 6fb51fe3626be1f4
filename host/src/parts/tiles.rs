//! A member's chunks of tiles.
//!
//! The parameters and frequencies are of the whole field, and the coarse field is a field of its own, of which each member
//! encodes some chunks. So the members follow the steps of `cpu/tiles/compress.rs` together.

use crate::cpu::Version;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::pool::Pool;
use crate::cpu::predict::interp::{Model, Predictor, TileStore};
use crate::cpu::predict::tune::{ReadRows, tune_on};
use crate::cpu::tiles::chunks::{Chunks, Image, Numbers};
use crate::cpu::tiles::coder::{self, Encoder};
use crate::cpu::tiles::codes::{Predict, TileValues, Tiles, count};
use crate::cpu::tiles::compress::prologue_image;
use crate::cpu::tiles::kept::{Kept, TilePlace};
use crate::error::Error;
use crate::parallel;
use crate::parts::fetch::{Held, Lattice, WINDOW_BYTES, Window, bad_message, exchange, fetch};
use crate::parts::group::{Group, agree};
use crate::parts::place::Stored;
use crate::parts::units::units_of;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::counts::{Counts, is_counted, is_sample};
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::container::tiles::{FIRST_ENTRY, Prologue, TileLayout};
use ferrosz_codec::predict::fitted::{Fitted, FittedKind};
use ferrosz_codec::predict::interp::resolved::{Resolved, WORDS, Words};
use ferrosz_codec::predict::interp::tune::Tuning;
use ferrosz_codec::predict::interp::tune::search::Search;
use ferrosz_codec::predict::{slices, stencil};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::{self, Part, RUN_TILES, TileBox, TileGrid};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The rank of the member that tunes, and that has the prologue.
const FIRST: usize = 0;

/// Encodes the chunks whose first element this member has, and on the first member the prologue.
///
/// # Errors
///
/// [`Error::Group`]; [`Error::OutOfMemory`].
pub(super) fn encode<T: Element>(
    version: Version,
    group: &dyn Group,
    layout: &TileLayout,
    quantizer: &Quantizer<T>,
    held: &Held<'_, T>,
) -> Result<Vec<Stored>, Error> {
    let tuning = layout.codec.predictor.tuning();
    // 1. The tiles of this member, with the faces behind them that a prediction reads.
    let has_faces = tuning.is_some();
    let lattice = Lattice::of_tiles(&layout.fine, &layout.fine, 1);
    let own = Own::of_field(layout, held);
    let values = Values::fetch(group, held, &lattice, &layout.fine, &own.tiles, has_faces)?;
    // 2. The parameters of the prediction, and the coarse field.
    let spacing = tuning.map_or(1, |tuning| tuning.geometry.spacing(layout.shape()));
    let coarse = layout.coarse.unwrap_or(layout.fine);
    let coarse = Coarse {
        layout,
        grid: &coarse,
        lattice: &Lattice::of_tiles(&layout.fine, &coarse, spacing),
        spacing,
        held,
    };
    let start = tuning.map(|tuning| {
        let resolved = tuned(version, group, &coarse, quantizer, &tuning)?;
        Start::new(version, group, &coarse, resolved, &own.tiles)
    });
    let start = start.transpose()?;
    let anchor = |_, at| {
        let known = start.as_ref().and_then(|start| start.known.get(at));
        // Every anchor that a tile needs was asked for.
        known.unwrap_or(T::ZERO)
    };
    let predict = match &start {
        None => Predict::Lorenzo { version, quantizer },
        Some(start) => Predict::Interpolation {
            predictor: Predictor::new(version, &layout.fine, start.model(), Part::Fine),
            anchor: &anchor,
        },
    };
    let tiles = Tiles::new(&layout.fine, &values, predict);
    // 3. The frequencies, from the codes of the tiles of all members that are counted.
    let coder = layout.codec.coder;
    let runs = layout.fine.runs();
    let counted = match coder::has_frequencies(coder) {
        true => {
            let is_counted = |tile: &u64| is_counted(tile / u64::from(RUN_TILES), runs);
            let numbers = own.tiles.iter().copied().filter(is_counted).collect();
            Kept::new(numbers, |places| tiles.encode(places, |_, _, _| {}))
        }
        false => Ok(Kept::default()),
    };
    let counted = agree(group, counted)?;
    let shifts = (start.as_ref()).map_or(Shifts::NONE, |start| start.resolved.parameters.shifts);
    let map = ZoneMap::new(layout.codec.order(layout.shape()), shifts);
    let mut counts = Counts::default();
    if coder::has_frequencies(coder) {
        counts = count(version, &map, &layout.fine, &counted);
        if let Some(Start { codes, .. }) = &start {
            counts.merge(&count(version, &map, coarse.grid, codes));
        }
        sum_counts(group, &mut counts)?;
        counts.complete(is_sample(runs));
    }
    // 4. The prologue.
    let prologue = Prologue {
        resolved: start.as_ref().map(|start| start.resolved),
        coefficients: start.as_ref().and_then(|start| start.coefficients),
        frequencies: coder::frequencies(coder, || counts),
    };
    let anchors = start.as_ref().map_or(&[][..], |start| &start.anchors);
    let image = match group.rank() {
        FIRST => prologue_image(layout, &prologue, anchors).map(Some),
        _ => Ok(None),
    };
    let mut stored: Vec<Stored> = (agree(group, image)?.into_iter())
        .map(|image| Stored {
            // The entry of a prologue has no length.
            listed: 0,
            ..Stored::of_image(0, &image)
        })
        .collect();
    // 5. The chunks of the coarse field, and those of the field.
    let chunks = Chunks {
        version,
        length: layout.chunk,
        encoder: Encoder::new(coder, prologue.frequencies.as_ref()),
        map: &map,
        scratch: Pool::default(),
    };
    let encoded = (|| {
        if let Some(start) = &start {
            let Start {
                own, values, codes, ..
            } = start;
            let mut put = store(FIRST_ENTRY, &own.chunks, &mut stored);
            let numbers = Numbers::Some(&own.chunks);
            // All of its codes are kept.
            chunks.encode(
                coarse.grid,
                values,
                numbers,
                codes,
                |_| {},
                &|_| {},
                &mut put,
            )?;
        }
        let first = FIRST_ENTRY + layout.coarse_chunks();
        let mut put = store(first, &own.chunks, &mut stored);
        let numbers = Numbers::Some(&own.chunks);
        let predict = |places: Vec<TilePlace<'_>>| tiles.encode(places, |_, _, _| {});
        chunks.encode(
            &layout.fine,
            &values,
            numbers,
            &counted,
            predict,
            &|_| {},
            &mut put,
        )
    })();
    agree(group, encoded)?;
    Ok(stored)
}

/// Appends images of the chunks with these numbers, of a part of the field whose first entry is `first`.
fn store<'a>(
    first: u64,
    numbers: &'a [u64],
    stored: &'a mut Vec<Stored>,
) -> impl FnMut(&[Image], u64) -> Result<(), Error> + Send + 'a {
    let mut numbers = numbers.iter();
    move |images, _| {
        for (image, number) in images.iter().zip(numbers.by_ref()) {
            stored.push(Stored::of_image(first + number, image));
        }
        Ok(())
    }
}

/// The sums of the counts of all members.
fn sum_counts(group: &dyn Group, counts: &mut Counts) -> Result<(), Error> {
    let own = counts
        .0
        .as_flattened()
        .iter()
        .map(|count| u64::from(*count));
    let mut sums: Vec<u64> = own.collect();
    group.sum(&mut sums)?;
    for (count, sum) in counts.0.as_flattened_mut().iter_mut().zip(sums) {
        *count = u32::try_from(sum).unwrap_or(u32::MAX);
    }
    Ok(())
}

/// The chunks of a member, and their tiles.
struct Own {
    chunks: Vec<u64>,
    tiles: Vec<u64>,
}

impl Own {
    fn new(layout: &TileLayout, grid: &TileGrid, chunks: Vec<u64>) -> Self {
        let tiles = chunks
            .iter()
            .flat_map(|chunk| layout.chunk.of_chunk(grid, *chunk));
        Self {
            tiles: tiles.collect(),
            chunks,
        }
    }

    /// The chunks of the field whose first element a member has.
    fn of_field<T: Element>(layout: &TileLayout, held: &Held<'_, T>) -> Self {
        let grid = &layout.fine;
        let starts_at = |at: [u64; 3]| {
            let tile = tile_of(grid, at);
            (grid.tile(tile).origin == at).then_some(tile)
        };
        let width = u64::from(tile::extents(grid.shape())[2]);
        let tiles = units_of(held, grid.lengths(), width, starts_at);
        let of_chunk = u64::from(layout.chunk.tiles());
        let chunks = tiles.iter().filter(|tile| tile.is_multiple_of(of_chunk));
        Self::new(layout, grid, chunks.map(|tile| tile / of_chunk).collect())
    }
}

/// The number of the tile that has a position.
fn tile_of(grid: &TileGrid, at: [u64; 3]) -> u64 {
    let [_, height, width] = tile::extents(grid.shape()).map(u64::from);
    let [_, rows, columns] = grid.counts();
    let z = grid.tiles_along_z(at[0], at[0] + 1).start;
    (z * rows + at[1] / height) * columns + at[2] / width
}

/// The positions that the prediction of a tile reads: its own, and those of its far faces.
fn window(grid: &TileGrid, tile: &TileBox, has_faces: bool) -> Window {
    let extents = tile::extents(grid.shape());
    let first = 3 - usize::from(grid.shape().rank());
    let extent = |axis: usize| {
        let face = u32::from(has_faces && axis >= first);
        u64::from(tile.left[axis].min(extents[axis] + face))
    };
    Window {
        origin: tile.origin,
        extents: std::array::from_fn(extent),
    }
}

/// The anchors among the positions of a window that begins with an anchor.
fn anchors_of(grid: &TileGrid, anchors: &TileGrid, spacing: u32, window: &Window) -> Window {
    let first = 3 - usize::from(grid.shape().rank());
    let extent = |axis: usize| match axis >= first {
        true => window.extents[axis].div_ceil(u64::from(spacing)),
        false => window.extents[axis],
    };
    Window {
        origin: grid.to_coarse(anchors, spacing, window.origin),
        extents: std::array::from_fn(extent),
    }
}

/// The values of a window.
type Box3<T> = (Window, Vec<T>);

/// The values of the tiles of a member.
struct Values<'a, T> {
    held: &'a Held<'a, T>,
    lattice: &'a Lattice<'a>,
    /// The tiles of which other members have some values.
    fetched: BTreeMap<u64, Box3<T>>,
}

impl<'a, T: Element> Values<'a, T> {
    /// Fetches the values of these tiles that this member does not have.
    fn fetch(
        group: &dyn Group,
        held: &'a Held<'a, T>,
        lattice: &'a Lattice<'a>,
        grid: &TileGrid,
        tiles: &[u64],
        has_faces: bool,
    ) -> Result<Self, Error> {
        let of_others = parallel::map(tiles.iter(), |number| {
            let window = window(grid, &grid.tile(*number), has_faces);
            (!held.has(lattice, &window)).then_some((*number, window))
        });
        let (numbers, windows): (Vec<_>, Vec<_>) = of_others.into_iter().flatten().unzip();
        let values = fetch(group, held, lattice, &windows)?;
        let boxes = windows.into_iter().zip(values);
        Ok(Self {
            held,
            lattice,
            fetched: numbers.into_iter().zip(boxes).collect(),
        })
    }
}

impl<T: Element> TileValues<T> for Values<'_, T> {
    fn read(&self, tile: u64, at: [u64; 3], row: &mut [T]) {
        if let Some((window, values)) = self.fetched.get(&tile) {
            let first = window.index(at).unwrap_or(0);
            row.copy_from_slice(&values[first..first + row.len()]);
            return;
        }
        let window = Window {
            origin: at,
            extents: [1, 1, row.len() as u64],
        };
        let mut rest = row;
        self.held.read(self.lattice, &window, |run| {
            let (to, behind) = std::mem::take(&mut rest).split_at_mut(run.len());
            to.copy_from_slice(run);
            rest = behind;
        });
    }
}

/// The coarse field of the members.
struct Coarse<'a, T> {
    layout: &'a TileLayout,
    grid: &'a TileGrid,
    lattice: &'a Lattice<'a>,
    /// The distance of its positions in the field.
    spacing: u32,
    held: &'a Held<'a, T>,
}

impl<T: Element> Coarse<'_, T> {
    /// The rank of the member that encodes the chunk of a tile: the one that has the chunk's first element.
    fn owner(&self, tile: u64) -> usize {
        let length = self.layout.chunk;
        let first = length.of_chunk(self.grid, length.chunk_of(tile)).start;
        let element = (self.lattice.element)(self.grid.tile(first).origin);
        self.held.decomposition.owner(element)
    }

    /// The chunks that this member encodes.
    fn own(&self) -> Own {
        let length = self.layout.chunk;
        let is_own =
            |chunk: &u64| self.owner(length.of_chunk(self.grid, *chunk).start) == self.held.rank;
        let chunks = (0..length.count(self.grid)).filter(is_own);
        Own::new(self.layout, self.grid, chunks.collect())
    }
}

/// The parameters of an interpolation, and the chunks of the coarse field that this member encodes.
struct Start<'a, T> {
    resolved: Resolved<T>,
    coefficients: Option<Fitted>,
    /// The anchors of the coarse field, on the first member only.
    anchors: Vec<T>,
    own: Own,
    values: Values<'a, T>,
    /// The codes of the own tiles of the coarse field.
    codes: Kept,
    /// The decoded values of the coarse field that are anchors of this member's tiles of the field.
    known: Known<'a, T>,
}

impl<'a, T: Element> Start<'a, T> {
    fn new(
        version: Version,
        group: &dyn Group,
        coarse: &Coarse<'a, T>,
        (resolved, coefficients): (Resolved<T>, Option<Fitted>),
        tiles: &[u64],
    ) -> Result<Self, Error> {
        let &Coarse {
            layout,
            grid,
            lattice,
            spacing,
            held,
        } = coarse;
        let own = coarse.own();
        let values = Values::fetch(group, held, lattice, grid, &own.tiles, true)?;
        // 1. The anchors of the coarse field: of the own tiles, and on the first member all.
        let anchor_grid = grid.coarse(spacing);
        let of_tile = |number: &u64| {
            let tile = window(grid, &grid.tile(*number), true);
            anchors_of(grid, &anchor_grid, spacing, &tile)
        };
        let mut windows: Vec<Window> = own.tiles.iter().map(of_tile).collect();
        if group.rank() == FIRST {
            windows.push(Window {
                origin: [0; 3],
                extents: anchor_grid.lengths(),
            });
        }
        let anchor_lattice = Lattice::of_tiles(&layout.fine, &anchor_grid, spacing * spacing);
        let mut anchors = fetch(group, held, &anchor_lattice, &windows)?;
        let all = match group.rank() {
            FIRST => anchors.pop().unwrap_or_default(),
            _ => Vec::new(),
        };
        let of_tiles: BTreeMap<u64, Box3<T>> = (own.tiles.iter().copied())
            .zip(windows.into_iter().zip(anchors))
            .collect();
        // 2. Their codes and decoded values.
        let anchor = |tile: u64, at| {
            let of_tile = of_tiles.get(&tile);
            let value = of_tile.and_then(|(window, values)| values.get(window.index(at)?));
            // A tile has no other anchors than those of its window.
            value.copied().unwrap_or(T::ZERO)
        };
        let predict = Predict::Interpolation {
            // The coarse field is predicted by splines alone, without coefficients.
            predictor: Predictor::new(version, &layout.fine, &resolved, Part::Coarse),
            anchor: &anchor,
        };
        let decoded = Mutex::new(BTreeMap::new());
        let codes = Kept::new(own.tiles.clone(), |places| {
            Tiles::new(grid, &values, predict).encode(places, |number, tile, store| {
                let of_tile = decoded_values(grid, tile, store);
                let mut decoded = decoded.lock().unwrap_or_else(PoisonError::into_inner);
                decoded.insert(number, of_tile);
            });
        });
        let codes = agree(group, codes)?;
        let decoded = decoded.into_inner().unwrap_or_else(PoisonError::into_inner);
        // 3. The decoded values that this member's tiles of the field need.
        let needed = tiles.iter().map(|number| {
            let tile = window(&layout.fine, &layout.fine.tile(*number), true);
            anchors_of(&layout.fine, grid, spacing, &tile)
        });
        let known = Known::fetch(group, coarse, needed, &decoded)?;
        Ok(Self {
            resolved,
            coefficients,
            anchors: all,
            own,
            values,
            codes,
            known,
        })
    }

    fn model(&self) -> Model<'_, T> {
        Model {
            resolved: &self.resolved,
            coefficients: self.coefficients.as_ref(),
        }
    }
}

/// The values of a tile that was encoded.
fn decoded_values<T: Element>(grid: &TileGrid, tile: &TileBox, store: &TileStore<T>) -> Box3<T> {
    let window = window(grid, tile, false);
    let mut values = vec![T::ZERO; window.positions() as usize];
    for row in 0..tile::ROWS {
        let first = tile::position(grid.shape(), 2 * row, 0);
        if let Some(at) = window.index(tile.at(first)) {
            let length = (tile.left[2] - first[2]).min(tile::ROW) as usize;
            store.read_row(first, &mut values[at..at + length]);
        }
    }
    (window, values)
}

/// The parameters that the first member tunes on sample tiles of the whole field, and then tells the others.
fn tuned<T: Element>(
    version: Version,
    group: &dyn Group,
    coarse: &Coarse<'_, T>,
    quantizer: &Quantizer<T>,
    tuning: &Tuning,
) -> Result<(Resolved<T>, Option<Fitted>), Error> {
    let &Coarse { layout, held, .. } = coarse;
    let (grid, shape) = (&layout.fine, layout.shape());
    let samples = tuning.samples(grid.tiles());
    let tiles: Vec<TileBox> = match group.rank() {
        FIRST => (0..samples.count())
            .map(|sample| grid.tile(samples.tile(sample)))
            .collect(),
        _ => Vec::new(),
    };
    let windows: Vec<Window> = tiles.iter().map(|tile| window(grid, tile, true)).collect();
    let values = fetch(group, held, &Lattice::of_tiles(grid, grid, 1), &windows)?;
    // 1. The parameters; the sum of the words of all members is that of the first.
    let mut words = [0u64; WORDS];
    let mut coefficients = None;
    if group.rank() == FIRST {
        let read = |(window, values): (&Window, &'_ Vec<T>)| {
            let (window, values) = (*window, values.clone());
            move |at, row: &mut [T]| {
                let first = window.index(at).unwrap_or(0);
                row.copy_from_slice(&values[first..first + row.len()]);
            }
        };
        let reads: Vec<_> = windows.iter().zip(&values).map(read).collect();
        let tiles: Vec<(TileBox, ReadRows<'_, T>)> = (tiles.into_iter())
            .zip(reads.iter().map(|read| read as _))
            .collect();
        let search = Search::of_field(*tuning, grid);
        let (scope, error) = (samples.scope(), quantizer.error());
        let tuned = tune_on(version, &search, scope, &tiles, 1, error, 0.0);
        words = Resolved::new(tuned.parameters, error)
            .to_words()
            .map(u64::from);
        coefficients = tuned.coefficients;
    }
    group.sum(&mut words)?;
    let fitted = layout.codec.predictor.fitted();
    let word = |at: usize| words.get(at).map_or(0, |word| *word as u32);
    let resolved = Words(word)
        .read::<T>(shape, fitted)
        .ok_or_else(bad_message)?;
    // 2. The coefficients, as many as these parameters have.
    let flag_bits = resolved.parameters.flag_bits();
    let of_levels = stencil::coefficients::fitted(shape, flag_bits);
    let own: Vec<u64> = match &coefficients {
        None => Vec::new(),
        Some(Fitted::Stencils(all)) => all.words(shape, of_levels).map(u64::from).collect(),
        Some(Fitted::Slices(all)) => all.words().iter().map(|word| u64::from(*word)).collect(),
    };
    let mut words = vec![0; layout.coefficients(flag_bits)];
    for (word, own) in words.iter_mut().zip(own) {
        *word = own;
    }
    group.sum(&mut words)?;
    let word = |at: usize| words.get(at).map_or(0, |word| *word as u32);
    let coefficients = match fitted {
        FittedKind::None => None,
        FittedKind::Stencils => Some(Fitted::Stencils(
            stencil::coefficients::Coefficients::from_words(shape, of_levels, word)
                .ok_or_else(bad_message)?,
        )),
        FittedKind::Slices => Some(Fitted::Slices(
            slices::coefficients::Coefficients::from_words(word),
        )),
    };
    Ok((resolved, coefficients))
}

/// Decoded values of the coarse field, by its tiles: of each tile the box that this member needs.
struct Known<'a, T> {
    grid: &'a TileGrid,
    boxes: BTreeMap<u64, Box3<T>>,
}

impl<'a, T: Element> Known<'a, T> {
    /// Fetches the values of the needed windows from the members that have decoded them.
    fn fetch(
        group: &dyn Group,
        coarse: &Coarse<'a, T>,
        needed: impl Iterator<Item = Window>,
        decoded: &BTreeMap<u64, Box3<T>>,
    ) -> Result<Self, Error> {
        let grid = coarse.grid;
        // 1. Of each tile the box around what is needed.
        let mut boxes = BTreeMap::<u64, Window>::new();
        for window in needed {
            for (tile, part) in parts_by_tile(grid, &window) {
                let of_tile = boxes.entry(tile).or_insert(part);
                *of_tile = of_tile.around(&part);
            }
        }
        // 2. A request is the number of a tile and a window of it.
        let mut requests = BTreeMap::<usize, Vec<u8>>::new();
        for (tile, window) in &boxes {
            let request = requests.entry(coarse.owner(*tile)).or_default();
            request.extend(tile.to_le_bytes());
            request.extend(window.to_bytes());
        }
        let requests = exchange(group, requests)?;
        let replies = requests.iter().map(|(rank, request)| {
            let (asked, _) = request.as_chunks::<REQUEST_BYTES>();
            let values = asked.iter().map(|asked| reply(decoded, asked));
            let values: Vec<T> = values.collect::<Option<Vec<_>>>()?.concat();
            Some((*rank, bytemuck::cast_slice(&values).to_vec()))
        });
        let replies = replies.collect::<Option<_>>().ok_or_else(bad_message);
        let replies = exchange(group, agree(group, replies)?)?;
        // 3. The values, in the order of the tiles.
        let mut rest: BTreeMap<usize, &[u8]> = (replies.iter())
            .map(|(rank, bytes)| (*rank, &bytes[..]))
            .collect();
        let boxes = boxes.into_iter().map(|(tile, window)| {
            let mut values = vec![T::ZERO; window.positions() as usize];
            let to = bytemuck::cast_slice_mut::<T, u8>(&mut values);
            let from = rest.get_mut(&coarse.owner(tile));
            let bytes = from.and_then(|from| from.split_off(..to.len()));
            to.copy_from_slice(bytes.ok_or_else(bad_message)?);
            Ok((tile, (window, values)))
        });
        Ok(Self {
            grid,
            boxes: agree(group, boxes.collect())?,
        })
    }

    fn get(&self, at: [u64; 3]) -> Option<T> {
        let (window, values) = self.boxes.get(&tile_of(self.grid, at))?;
        values.get(window.index(at)?).copied()
    }
}

/// Bytes of a request of decoded values.
const REQUEST_BYTES: usize = 8 + WINDOW_BYTES;

/// The decoded values of a window of a tile; none if this member does not have them.
fn reply<T: Element>(
    decoded: &BTreeMap<u64, Box3<T>>,
    request: &[u8; REQUEST_BYTES],
) -> Option<Vec<T>> {
    let (tile, window) = request.split_first_chunk::<8>()?;
    let window = Window::from_bytes(window.first_chunk()?);
    let (of_tile, values) = decoded.get(&u64::from_le_bytes(*tile))?;
    let [depth, height, width] = window.extents;
    let [z, y, x] = window.origin;
    let mut found = Vec::new();
    for row in 0..depth * height {
        let first = of_tile.index([z + row / height, y + row % height, x])?;
        found.extend_from_slice(values.get(first..first + width as usize)?);
    }
    Some(found)
}

/// The parts of a window in the tiles of a grid, with their numbers.
fn parts_by_tile(grid: &TileGrid, window: &Window) -> Vec<(u64, Window)> {
    let mut parts = Vec::new();
    let end = |axis: usize| window.origin[axis] + window.extents[axis];
    let mut z = window.origin[0];
    while z < end(0) {
        let mut next_z = end(0);
        let mut y = window.origin[1];
        while y < end(1) {
            let mut next_y = end(1);
            let mut x = window.origin[2];
            while x < end(2) {
                let number = tile_of(grid, [z, y, x]);
                let tile = grid.tile(number);
                let extents = tile.extents(grid.shape()).map(u64::from);
                let ends: [u64; 3] =
                    std::array::from_fn(|axis| end(axis).min(tile.origin[axis] + extents[axis]));
                (next_z, next_y) = (ends[0], ends[1]);
                let origin = [z, y, x];
                let extents = std::array::from_fn(|axis| ends[axis] - origin[axis]);
                parts.push((number, Window { origin, extents }));
                x = ends[2];
            }
            y = next_y;
        }
        z = next_z;
    }
    parts
}

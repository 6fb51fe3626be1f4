//! A member's chunks of tiles.
//!
//! The parameters and frequencies are of the whole field, and the coarse field is a field of its own, of which each member
//! encodes some chunks. The members take the steps of `cpu/tiles/compress.rs` together. This file has the messages between them.

use crate::cpu::Version;
use crate::cpu::numbers::Numbers;
use crate::cpu::predict::interp::TileStore;
use crate::cpu::predict::tune::{ReadRows, tune_on};
use crate::cpu::tiles::codes::TileValues;
use crate::cpu::tiles::compress::Field;
use crate::cpu::tiles::holder::{CoarseHolder, CoarsePart, Holder};
use crate::encoded::EncodedChunks;
use crate::error::Error;
use crate::parallel;
use crate::parts::fetch::{Held, Lattice, WINDOW_BYTES, Window, bad_message, exchange, fetch};
use crate::parts::units::units_of;
use crate::peers::{Group, agree, tell};
use crate::progress::SILENT;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::counts::{Counts, is_counted};
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::predict::fitted::Fitted;
use ferrosz_codec::predict::interp::resolved::{Resolved, WORDS, Words};
use ferrosz_codec::predict::interp::tune::search::Search;
use ferrosz_codec::predict::interp::tune::{TighteningChoice, Tuning};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::{self, ChunkLength, Part, RUN_TILES, TileBox, TileGrid};
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
    group: &dyn Group,
    field: &Field<'_, T>,
    tightening: TighteningChoice,
    held: &Held<'_, T>,
) -> Result<EncodedChunks, Error> {
    let layout = field.layout;
    let spacing = layout.codec.predictor.geometry();
    let spacing = spacing.map_or(1, |geometry| geometry.spacing(layout.shape()));
    let (fine, grid) = (&layout.fine, layout.grid(Part::Coarse));
    let coarse = Coarse {
        layout,
        grid,
        lattice: &Lattice::of_tiles(fine, grid, spacing),
        spacing,
        held,
    };
    let lattice = Lattice::of_tiles(fine, fine, 1);
    let member = TileMember::new(group, &coarse, &lattice)?;
    let mut own = EncodedChunks::default();
    let put = &mut |wave: &[EncodedChunks], _| own.append(wave);
    field.encode_all(tightening, &member, SILENT, put)?;
    Ok(own)
}

/// A member of a group: the chunks that it encodes, and the values of their tiles.
struct TileMember<'a, T> {
    group: &'a dyn Group,
    coarse: &'a Coarse<'a, T>,
    own: Own,
    values: Values<'a, T>,
}

impl<'a, T: Element> TileMember<'a, T> {
    /// Fetches the values of the member's tiles, with those of the faces behind them that a prediction reads.
    fn new(
        group: &'a dyn Group,
        coarse: &'a Coarse<'a, T>,
        lattice: &'a Lattice<'a>,
    ) -> Result<Self, Error> {
        let &Coarse { layout, held, .. } = coarse;
        let own = Own::of_field(layout, held);
        let has_faces = layout.codec.predictor.geometry().is_some();
        let values = Values::fetch(group, held, lattice, &layout.fine, &own.tiles, has_faces)?;
        Ok(Self {
            group,
            coarse,
            own,
            values,
        })
    }
}

impl<T: Element> Holder<T> for TileMember<'_, T> {
    fn values(&self) -> &dyn TileValues<T> {
        &self.values
    }

    fn chunks(&self) -> Numbers<'_> {
        Numbers::List(&self.own.chunks)
    }

    fn counted(&self) -> Vec<u64> {
        let runs = self.coarse.layout.fine.runs();
        let is_counted = |tile: &u64| is_counted(tile / u64::from(RUN_TILES), runs);
        self.own.tiles.iter().copied().filter(is_counted).collect()
    }

    fn is_first(&self) -> bool {
        self.group.rank() == FIRST
    }

    fn tuned(
        &self,
        version: Version,
        quantizer: &Quantizer<T>,
        tuning: &Tuning,
    ) -> Result<(Resolved<T>, Option<Fitted>), Error> {
        tuned(version, self.group, self.coarse, quantizer, tuning)
    }

    fn coarse(&self, _: u32) -> Result<Box<dyn CoarseHolder<T> + '_>, Error> {
        Ok(Box::new(MemberCoarse::new(self)?))
    }

    fn sum(&self, counts: &mut Counts) -> Result<(), Error> {
        sum_counts(self.group, counts)
    }

    fn tell(&self, has_failed: bool) -> Result<(), Error> {
        tell(self.group, has_failed)
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
    /// Those of a grid in chunks of a length.
    fn new(length: ChunkLength, grid: &TileGrid, chunks: Vec<u64>) -> Self {
        let tiles = chunks
            .iter()
            .flat_map(|chunk| length.of_chunk(grid, *chunk));
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
        let chunks = chunks.map(|tile| tile / of_chunk).collect();
        Self::new(layout.chunk, grid, chunks)
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
        let length = self.layout.chunk_length(Part::Coarse);
        let first = length.of_chunk(self.grid, length.chunk_of(tile)).start;
        let element = (self.lattice.element)(self.grid.tile(first).origin);
        self.held.decomposition.owner(element)
    }

    /// The chunks that this member encodes.
    fn own(&self) -> Own {
        let length = self.layout.chunk_length(Part::Coarse);
        let is_own =
            |chunk: &u64| self.owner(length.of_chunk(self.grid, *chunk).start) == self.held.rank;
        let chunks = (0..length.count(self.grid)).filter(is_own);
        Own::new(length, self.grid, chunks.collect())
    }
}

/// A member's part of the coarse field, and the others.
struct MemberCoarse<'a, T> {
    member: &'a TileMember<'a, T>,
    part: OwnCoarse<'a, T>,
}

/// The chunks of the coarse field that this member encodes.
struct OwnCoarse<'a, T> {
    grid: &'a TileGrid,
    own: Own,
    values: Values<'a, T>,
    /// The anchors of the whole coarse field, on the first member only.
    anchors: Vec<T>,
    /// The anchors of the own tiles.
    of_tiles: BTreeMap<u64, Box3<T>>,
    /// The decoded values of the own tiles.
    decoded: Mutex<BTreeMap<u64, Box3<T>>>,
    /// The decoded values of all members that are anchors of this member's tiles of the field.
    known: Known<'a, T>,
}

impl<'a, T: Element> MemberCoarse<'a, T> {
    fn new(member: &'a TileMember<'_, T>) -> Result<Self, Error> {
        let group = member.group;
        let &Coarse {
            layout,
            grid,
            lattice,
            spacing,
            held,
        } = member.coarse;
        let own = member.coarse.own();
        let values = Values::fetch(group, held, lattice, grid, &own.tiles, true)?;
        // The anchors: of the own tiles, and on the first member all.
        let anchor_grid = grid.coarse(spacing);
        let of_tile = |number: &u64| {
            let tile = window(grid, &grid.tile(*number), true);
            anchors_of(grid, &anchor_grid, spacing, &tile)
        };
        let mut windows: Vec<Window> = own.tiles.iter().map(of_tile).collect();
        if member.is_first() {
            windows.push(Window {
                origin: [0; 3],
                extents: anchor_grid.lengths(),
            });
        }
        let anchor_lattice = Lattice::of_tiles(&layout.fine, &anchor_grid, spacing * spacing);
        let mut anchors = fetch(group, held, &anchor_lattice, &windows)?;
        let all = match member.is_first() {
            true => anchors.pop().unwrap_or_default(),
            false => Vec::new(),
        };
        let of_tiles = (own.tiles.iter().copied()).zip(windows.into_iter().zip(anchors));
        let part = OwnCoarse {
            grid,
            of_tiles: of_tiles.collect(),
            own,
            values,
            anchors: all,
            decoded: Mutex::default(),
            known: Known {
                grid,
                boxes: BTreeMap::new(),
            },
        };
        Ok(Self { member, part })
    }
}

impl<T: Element> CoarseHolder<T> for MemberCoarse<'_, T> {
    fn part(&self) -> &dyn CoarsePart<T> {
        &self.part
    }

    fn complete<'s>(self: Box<Self>) -> Result<Box<dyn CoarsePart<T> + 's>, Error>
    where
        Self: 's,
    {
        let Self { member, mut part } = *self;
        let TileMember {
            group, coarse, own, ..
        } = member;
        let fine = &coarse.layout.fine;
        let needed = own.tiles.iter().map(|number| {
            let tile = window(fine, &fine.tile(*number), true);
            anchors_of(fine, coarse.grid, coarse.spacing, &tile)
        });
        let decoded = part.decoded.get_mut();
        let decoded = decoded.unwrap_or_else(PoisonError::into_inner);
        part.known = Known::fetch(*group, coarse, needed, decoded)?;
        Ok(Box::new(part))
    }
}

impl<T: Element> CoarsePart<T> for OwnCoarse<'_, T> {
    fn values(&self) -> &dyn TileValues<T> {
        &self.values
    }

    fn chunks(&self) -> Numbers<'_> {
        Numbers::List(&self.own.chunks)
    }

    fn tiles(&self) -> Vec<u64> {
        self.own.tiles.clone()
    }

    fn anchors(&self) -> &[T] {
        &self.anchors
    }

    fn anchor(&self, tile: u64, at: [u64; 3]) -> T {
        let of_tile = self.of_tiles.get(&tile);
        let value = of_tile.and_then(|(window, values)| values.get(window.index(at)?));
        // A tile has no other anchors than those of its window.
        value.copied().unwrap_or(T::ZERO)
    }

    fn keep(&self, number: u64, tile: &TileBox, store: &TileStore<T>) {
        let of_tile = decoded_values(self.grid, tile, store);
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        decoded.insert(number, of_tile);
    }

    fn known(&self, at: [u64; 3]) -> T {
        // Every anchor that a tile needs was asked for.
        self.known.get(at).unwrap_or(T::ZERO)
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
    let mut own = Vec::new();
    if let Some(coefficients) = &coefficients {
        coefficients.each_word(shape, flag_bits, |word| own.push(u64::from(word)));
    }
    let mut words = vec![0; layout.coefficients(flag_bits)];
    for (word, own) in words.iter_mut().zip(own) {
        *word = own;
    }
    group.sum(&mut words)?;
    let word = |at: usize| words.get(at).map_or(0, |word| *word as u32);
    let coefficients = fitted.read(shape, flag_bits, word);
    Ok((resolved, coefficients.map_err(|_| bad_message())?))
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

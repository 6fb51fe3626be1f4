//! Reconstruction: codes to a part of a field.

use crate::PACKAGE;
use crate::pipeline::tiles::codes;
use crate::predict::interp::InterpParams;
use crate::predict::interp::THREADS;
use crate::predict::interp::anchors::Anchor;
use crate::predict::interp::method::{Method, Splines};
use crate::predict::interp::residuals::{Position, Residuals, TileSetup};
use crate::predict::interp::rows::{InField, Row, WARPS};
use crate::predict::interp::stages::Staged;
use crate::predict::interp::values::Values;
use crate::primitives::element::by_width;
use core::array::from_fn;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::Words;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::code::{RAW, unzigzag};
use ferrosz_codec::tile::{self, TileBox, TileGrid};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, SharedAddress, Thread, View};

/// Parameters of [`Reconstruct`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReconstructParams {
    /// The part of the field. Strides are those of its memory.
    pub part: InterpParams,
    /// The numbers of the tiles that are reconstructed; none for all of them.
    pub tiles: View<u32>,
    /// Elements of the field before its memory: see [`MemoryBox::before`](crate::pipeline::tiles::window::MemoryBox::before).
    pub before: u64,
}

impl ReconstructParams {
    /// All tiles of a part.
    pub const fn all(part: InterpParams) -> Self {
        Self {
            part,
            tiles: View::empty(),
            before: 0,
        }
    }

    /// The field's memory, from the first element of a tile on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn field(&self, tile: &TileBox) -> InField {
        InField::new(self.part.field, self.part.strides, tile).behind(self.before)
    }
}

/// Reconstructs a field of `E` in tiles of shape `S` by method `M`. Launched with a block for each tile.
///
/// The values of positions without a code lie in the field already.
pub struct Reconstruct<E, S, M = Splines>(PhantomData<(E, S, M)>);

/// Rows whose codes a warp requests before it waits for the first.
const BATCH: usize = 8;

/// The words of a row of codes: lane i has two codes, of even positions for i below 16, of odd ones else.
const ROW_WORDS: u32 = 32;

impl<E: Element, S: StaticShape, M: Staged> Kernel for Reconstruct<E, S, M> {
    type Params = ReconstructParams;
    const NAME: &'static str =
        const { &Name::of(&[M::NAME, "reconstruct", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Decode::<E, S, M>::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(M::BLOCKS, 1);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ReconstructParams) {
        let source = Source::new::<T, S, M>(t, params);
        let part = &params.part;
        let setup = TileSetup::read::<T, S>(t, part.parameters, source.tile, part.is_coarse != 0);
        let setup = setup.with_coefficients::<M>(part.coefficients());
        let anchor = Anchor::<E>::read::<T, S>(t, part, &setup);
        let has_raws = source.fill::<T, E, S>(t);
        Decode::<E, S, M>::keep_first(t, params.field(&source.tile).first());
        let has_raws = t.barrier_or(has_raws);
        Anchor::set::<T, S>(t, anchor);
        t.barrier();
        let decode = Decode::<E, S, M> {
            params: part,
            error: setup.error(t),
            shape: PhantomData,
        };
        M::run::<T, E, S, _>(t, &setup, &decode);
        // Computed again: a thread would hold the tile's box in registers all along.
        let source = Source::new::<T, S, M>(t, params);
        if part.known.is_empty() {
            source.leave_field::<T, E, S>(t, has_raws);
        } else {
            let known = InField::in_order(part.known, &source.grid, &source.tile);
            known.leave::<T, E, S>(t, &source.tile);
        }
    }
}

/// A code as a value of the store.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn slot_of<E: Element>(code: u32) -> E {
    E::from_words([code, 0])
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn code_of<E: Element>(slot: E) -> u16 {
    slot.low_bits() as u16
}

struct Source<'a> {
    params: &'a ReconstructParams,
    grid: TileGrid,
    tile: TileBox,
    number: u64,
}

impl<'a> Source<'a> {
    /// That of the block's tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn new<T: Thread, S: StaticShape, M: Method>(t: T, params: &'a ReconstructParams) -> Self {
        let grid = params.part.grid(S::SHAPE);
        let mut number = params.part.first_tile + t.opaque(t.block_index());
        if !params.tiles.is_empty() {
            number = t.load(params.tiles, u64::from(number));
        }
        let number = u64::from(number);
        Self {
            params,
            grid,
            tile: M::tile(grid.tile(number)),
            number,
        }
    }

    /// Brings in the codes of the tile and its far faces, which are those of its neighbours' first positions. Whether
    /// any of the tile's own that this thread has seen is [`RAW`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn fill<T: Thread, E: Element, S: StaticShape>(&self, t: T) -> bool {
        let store = Values::<E, S>::kept_address(t);
        let mut has_raws = false;
        let codes = self.codes_of::<S>(0);
        let own = codes.here[0] + u64::from(t.lane());
        let mut number = t.warp();
        while number < tile::ROWS {
            let numbers: [u32; BATCH] = from_fn(|i| number + i as u32 * WARPS);
            let words: [u32; BATCH] = numbers.map(|number| {
                let word = own + u64::from(number * ROW_WORDS);
                t.load(self.params.part.codes, word)
            });
            for (number, word) in numbers.iter().zip(&words) {
                let row = Row::own(S::SHAPE, *number, &self.tile);
                has_raws |= Self::put::<T, E, S>(t, store, row, *word);
            }
            number += BATCH as u32 * WARPS;
        }
        let next = self.codes_of::<S>(1);
        // All codes of far faces are requested before the first of them is used.
        let far = Row::far_of_warp::<T, S>(t, &self.tile);
        let far_words = far.map(|row| {
            if row.width > 0 {
                let word = codes.first_word::<S>(row.position) + u64::from(t.lane());
                t.load(self.params.part.codes, word)
            } else {
                0
            }
        });
        let rows = Row::of_thread::<T, S>(t, &self.tile);
        let far_codes = rows.map(|row| {
            if row.has_far(S::SHAPE) {
                t.load_half(
                    self.params.part.codes,
                    2 * next.first_word::<S>(row.position),
                )
            } else {
                0
            }
        });
        for (row, word) in far.iter().zip(&far_words) {
            Self::put::<T, E, S>(t, store, *row, *word);
        }
        for (row, code) in rows.iter().zip(&far_codes) {
            if row.has_far(S::SHAPE) {
                let address = store + row.offset(S::SHAPE, tile::ROW);
                Values::<E, S>::store_at(t, address, slot_of(*code));
            }
        }
        has_raws
    }

    /// Where the codes of the tile and of those behind it lie; or of those that are `ahead` tiles further along x.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn codes_of<S: StaticShape>(&self, ahead: u64) -> Codes {
        let [_, height, width] = self.grid.counts();
        let behind = match S::SHAPE {
            Shape::Line => 1,
            Shape::Plane | Shape::Cube => width,
        };
        let word =
            |tiles| codes::first_word(self.params.part.first_run, self.number + ahead + tiles);
        Codes {
            here: [word(0), word(behind)],
            above: [word(height * width), word(height * width + behind)],
        }
    }

    /// Puts a row's codes, of which this lane has two, into the store at an address; whether one is [`RAW`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn put<T: Thread, E: Element, S: StaticShape>(
        t: T,
        store: SharedAddress,
        row: Row,
        word: u32,
    ) -> bool {
        let mut has_raws = false;
        let first = 4 * (t.lane() % 16) + t.lane() / 16;
        for half in 0..2 {
            let x = first + 2 * half;
            let code = word >> (16 * half) & 0xffff;
            if x < row.width {
                let address = store + row.offset(S::SHAPE, x);
                Values::<E, S>::store_at(t, address, slot_of(code));
            }
            has_raws |= code == u32::from(RAW);
        }
        has_raws
    }

    /// Writes the tile's values, but for those that lie in the field already: a neighbour may be about to read them,
    /// and the encoder may have known other values there.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn leave_field<T: Thread, E: Element, S: StaticShape>(&self, t: T, has_raws: bool) {
        let field = self.params.field(&self.tile);
        let first_half = 2 * codes::first_word(self.params.part.first_run, self.number);
        if !has_raws {
            field.leave::<T, E, S>(t, &self.tile);
            return;
        }
        field.leave_but::<T, E, S>(t, &self.tile, |row, x| {
            let half = (2 * row + x % 2) * tile::LANES + x / 2;
            t.load_half(self.params.part.codes, first_half + u64::from(half)) as u16 == RAW
        });
    }
}

/// The first words of the codes of a tile and its neighbours.
struct Codes {
    /// Of the tile, and of the one behind it along y, or x in a line.
    here: [u64; 2],
    /// Of those behind them along z.
    above: [u64; 2],
}

impl Codes {
    /// The first word of the codes of the row that begins with a position of the tile or its far faces.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn first_word<S: StaticShape>(&self, position: [u32; 3]) -> u64 {
        let extents = tile::extents(S::SHAPE);
        let axis = if matches!(S::SHAPE, Shape::Line) {
            2
        } else {
            1
        };
        let is_above = position[0] >= extents[0];
        let is_behind = position[axis] >= extents[axis];
        let mut own = position;
        own[0] -= if is_above { extents[0] } else { 0 };
        own[axis] -= if is_behind { extents[axis] } else { 0 };
        let here = if is_behind {
            self.here[1]
        } else {
            self.here[0]
        };
        let above = if is_behind {
            self.above[1]
        } else {
            self.above[0]
        };
        let row = tile::index(S::SHAPE, own) / (2 * tile::LANES);
        (if is_above { above } else { here }) + u64::from(row * ROW_WORDS)
    }
}

struct Decode<'a, E, S, M> {
    params: &'a InterpParams,
    error: E,
    shape: PhantomData<(S, M)>,
}

impl<E: Element, S: StaticShape, M: Method> Decode<'_, E, S, M> {
    /// Behind the store, the number of the tile's first element: a thread would hold it in registers for the sake of a
    /// few values.
    const SHARED: (Shared<u64>, Layout) = {
        let (_, mut layout) = Values::<E, S>::SHARED;
        (layout.array("first element", 1), layout)
    };

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn keep_first<T: Thread>(t: T, first: u64) {
        if t.thread_index() == 0 {
            Self::SHARED.0.store(t, 0, first);
        }
    }

    /// The value at a position of the tile or its far faces that has no code.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn raw<T: Thread>(&self, t: T, position: [u32; 3]) -> E {
        let first = Self::SHARED.0.load(t, 0);
        let field = InField::from_first(self.params.field, self.params.strides, first);
        field.load(t, field.element(position))
    }
}

impl<E: Element, S: StaticShape, M: Method> Residuals<E> for Decode<'_, E, S, M> {
    const KIND: FittedKind = M::KIND;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn residuals<T: Thread, const N: usize>(
        &self,
        _: T,
        quantizer: &LevelQuantizer<E>,
        _: [Position; N],
        slots: [E; N],
        predictions: [E; N],
    ) -> [E; N] {
        from_fn(|i| quantizer.decode(predictions[i], unzigzag(code_of(slots[i]))))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_rare(slot: E) -> bool {
        code_of(slot) == RAW
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn code_rare<T: Thread>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        position: Position,
        _: E,
        prediction: E,
    ) -> E {
        let value = self.raw(t, position.position);
        // Few values need these numbers: they are not kept in registers.
        let words = Words(|at| t.load(self.params.parameters, at as u64));
        let quantizer = quantizer.with_dead_zone(words.dead_zone());
        quantizer.known(value, prediction, self.error, words.radius())
    }
}

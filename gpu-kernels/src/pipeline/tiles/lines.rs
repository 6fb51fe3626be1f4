//! Codes between the tiles of a field and its lines, where levels are coded apart: predictors know tiles, coders lines. See
//! FORMAT.md, section 34.

use crate::PACKAGE;
use crate::pipeline::tiles::codes::REGION_WORDS;
use crate::pipeline::tiles::window::MemoryBox;
use crate::primitives::element::{load_element, store_element};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::token::RAW;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{
    LANES, LineLevel, STEPS, TILE, TileBox, TileGrid, TileOrder, index, position,
};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View};

/// Threads of a block.
const THREADS: u32 = 256;

/// The most lines of a field: one for each level of tiles of lines, which have the most.
pub const MAX_LINES: usize = 10;
/// The most levels of positions with codes.
const LEVELS: u32 = MAX_LINES as u32;
/// The sets of axes along which a position can be odd.
const ODDS: u32 = 8;

/// Parameters of [`ToLines`] and [`OfLines`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LinesParams {
    /// The tiles of the field.
    pub grid: TileGrid,
    /// The order of their codes.
    pub order: TileOrder,
    /// The regions of the field's runs.
    pub regions: View<u32>,
    /// The words of the elements of a box of the field.
    pub field: View<u32>,
    /// The box.
    pub memory: MemoryBox,
    /// The regions of all lines.
    pub of_lines: View<u32>,
    /// The words of the elements that their codes are of.
    pub values: View<u32>,
    /// The lines, that of level 0 first.
    pub lines: [LinePlace; MAX_LINES],
    /// How many there are.
    pub count: u32,
    /// The lowest level whose codes the lines have: codes of lower ones become 0.
    pub lowest: u32,
    /// The numbers of the tiles; none for all of them.
    pub tiles: View<u32>,
}

/// Where a line is.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct LinePlace {
    /// The first word of its regions.
    pub word: u64,
    /// The number of its first element among those of all lines.
    pub value: u64,
}

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    /// For each line the number of the first code of the tile, its first half word, and its first value.
    starts: Shared<u64>,
    halves: Shared<u64>,
    values: Shared<u64>,
    /// Where the codes of a level that are odd along some axes begin among those of the tile in their line.
    firsts: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        starts: layout.array("starts", MAX_LINES as u32),
        halves: layout.array("halves", MAX_LINES as u32),
        values: layout.array("values", MAX_LINES as u32),
        firsts: layout.array("firsts", LEVELS * ODDS),
    };
    (scratch, layout)
};

/// Copies the codes of tiles, as a predictor leaves them, to the regions of lines, and the elements of a field of `E` to the
/// values of lines. Launched with a block for each tile.
pub struct ToLines<E>(PhantomData<E>);

/// The inverse of [`ToLines`]: copies codes back, and only those elements whose code is [`RAW`]. Launched with a block for each
/// tile.
pub struct OfLines<E>(PhantomData<E>);

impl<E: Element> Kernel for ToLines<E> {
    type Params = LinesParams;
    const NAME: &'static str = const { &Name::of(&["ferrosz_to_lines", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &LinesParams) {
        let tile = TileOfLines::new(t, params);
        tile.each_position(t, |at, element, place| {
            if let Some(CodePlace { half, value }) = place {
                let code = t.load_half(params.regions, tile.first_half() + at);
                t.store_half(params.of_lines, half, code as u16);
                let element: E = load_element(t, params.field, element);
                store_element(t, params.values, value, element);
            }
        });
    }
}

impl<E: Element> Kernel for OfLines<E> {
    type Params = LinesParams;
    const NAME: &'static str = const { &Name::of(&["ferrosz_of_lines", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &LinesParams) {
        let tile = TileOfLines::new(t, params);
        tile.each_position(t, |at, element, place| {
            let mut code = 0;
            if let Some(CodePlace { half, value }) = place {
                code = t.load_half(params.of_lines, half);
                if code == RAW && element != OUTSIDE {
                    let value: E = load_element(t, params.values, value);
                    store_element(t, params.field, element, value);
                }
            }
            t.store_half(params.regions, tile.first_half() + at, code as u16);
        });
    }
}

/// The number of an element outside of the box in memory.
const OUTSIDE: u64 = u64::MAX;

/// Where the code of a position is in the memory of lines.
struct CodePlace {
    /// Its half word.
    half: u64,
    /// The number of its value.
    value: u64,
}

/// A tile of the field, by whose block the shared memory is filled.
struct TileOfLines<'a> {
    params: &'a LinesParams,
    number: u64,
    tile: TileBox,
}

impl<'a> TileOfLines<'a> {
    /// That of the block. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn new<T: Thread>(t: T, params: &'a LinesParams) -> Self {
        let mut number = t.block_index();
        if !params.tiles.is_empty() {
            number = t.load(params.tiles, u64::from(number));
        }
        let number = u64::from(number);
        let tile = params.grid.tile(number);
        let (order, own) = (&params.order, t.thread_index());
        if own < params.count {
            // Parameters with a number that only this thread knows would be read from local memory.
            let mut place = LinePlace::default();
            for (level, line) in (0..).zip(&params.lines) {
                place = if level == own { *line } else { place };
            }
            let start = order.start_in_line(&params.grid, number, line_of(params, own));
            SHARED.0.starts.store(t, own, start);
            SHARED.0.halves.store(t, own, 2 * place.word);
            SHARED.0.values.store(t, own, place.value);
        }
        let (level, odd) = (own / ODDS, own % ODDS);
        if level < LEVELS && level <= order.anchor_level {
            let line = line_of(params, level);
            let first = order.first_in_line(&tile, line, level, odd);
            SHARED.0.firsts.store(t, own, first);
        }
        t.barrier();
        Self {
            params,
            number,
            tile,
        }
    }

    /// The first half word of the tile's codes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn first_half(&self) -> u64 {
        2 * self.number * REGION_WORDS
    }

    /// Calls `visit` with the number of each position of the tile that this thread has, that of its element in the box, and where
    /// its code is, if it has one that the lines have.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn each_position<T: Thread>(&self, t: T, mut visit: impl FnMut(u64, u64, Option<CodePlace>)) {
        let (params, order) = (self.params, &self.params.order);
        let mut at = t.thread_index();
        while at < TILE as u32 {
            let (step, lane) = (at / LANES, at % LANES);
            let place = position(order.shape, step, lane);
            let is_coded = self.tile.has(place) && order.zone(step, lane).is_some();
            let is_there = is_coded && order.level_at(place) >= params.lowest;
            let code = if is_there {
                Some(self.code(t, place))
            } else {
                None
            };
            let element = if is_there {
                params
                    .memory
                    .element(self.tile.at(place))
                    .unwrap_or(OUTSIDE)
            } else {
                OUTSIDE
            };
            visit(u64::from(at), element, code);
            at += THREADS;
        }
    }

    /// Where the code of a position is.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn code<T: Thread>(&self, t: T, place: [u32; 3]) -> CodePlace {
        let order = &self.params.order;
        let (level, odd) = (order.level_at(place), order.odd_along(place));
        let line = line_of(self.params, level).level;
        let first = SHARED.0.firsts.load(t, level * ODDS + odd);
        let in_tile = first + order.number_of_odd(&self.tile, place);
        let element = SHARED.0.starts.load(t, line) + u64::from(in_tile);
        let (tile, rest) = (element / TILE as u64, (element % TILE as u64) as u32);
        let index = u64::from(index(Shape::Line, [0, 0, rest]));
        CodePlace {
            half: SHARED.0.halves.load(t, line) + 2 * tile * REGION_WORDS + index,
            value: SHARED.0.values.load(t, line) + element,
        }
    }
}

/// The line that has the codes of a level.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn line_of(params: &LinesParams, level: u32) -> LineLevel {
    let last = params.count.saturating_sub(1);
    LineLevel {
        level: if level < last { level } else { last },
        is_last: level >= last,
    }
}

const _: () = assert!(STEPS * LANES == TILE as u32 && LEVELS * ODDS <= THREADS);

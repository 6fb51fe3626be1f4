//! Clears the codes of the holes of sampled tiles, which values in place of them have. A thread block a tile.

use crate::PACKAGE;
use crate::choice::fill_tiles::is_hole;
use crate::choice::taken_tiles::TakenTiles;
use crate::pipeline::tiles::codes::first_word;
use crate::primitives::element::load_element;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::code::is_counted_hole;
use ferrosz_codec::tile::{LANES, RUN_TILES, TILE, position};
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Threads in a block: with fewer, each would wait for many elements, one after the other.
const THREADS: u32 = 1024;

/// Clears codes of tiles of shape `S` of a field of `E`. Launched with one block for each tile that is taken.
pub struct ClearHoles<E, S>(PhantomData<(E, S)>);

/// Parameters of [`ClearHoles`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ClearHolesParams {
    /// The elements of the tiles and their far faces, with the holes, each row by row: copies of slices of one tile each.
    pub tiles: View<u32>,
    /// The tiles that are taken. The codes of each begin where those of a run of tiles do.
    pub taken: TakenTiles,
    /// The tiles of a slice, which has one copy in its first tile, and the elements of a slice.
    pub of_slice: [u64; 2],
    /// Elements of a row and of a layer of a copy.
    pub steps: [u32; 2],
    /// The extents of a tile without its far faces.
    pub own: [u32; 3],
    /// Not 0 if zeros are holes, too.
    pub zeros: u32,
    /// Not 0 if the codes of [some](is_counted_hole) holes stay.
    pub counted: u32,
    /// The codes.
    pub codes: View<u32>,
}

impl<E: Element, S: StaticShape> Kernel for ClearHoles<E, S> {
    type Params = ClearHolesParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_clear_holes", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 1;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ClearHolesParams) {
        let at = u64::from(t.block_index());
        let [tiles, elements] = params.of_slice;
        let first = params.taken.number(t, at) / tiles.max(1) * elements;
        let first_code = 2 * first_word(0, u64::from(RUN_TILES) * at);
        let [row, layer] = params.steps;
        let mut code = t.thread_index();
        while code < TILE as u32 {
            let [z, y, x] = position(S::SHAPE, code / LANES, code % LANES);
            let [depth, height, width] = params.own;
            let is_own = z < depth && y < height && x < width;
            let stays = params.counted != 0 && is_counted_hole(code);
            if is_own && !stays {
                let inside = u64::from(z * layer + y * row + x);
                let element: E = load_element(t, params.tiles, first + inside);
                if is_hole(element, params.zeros) {
                    t.store_half(params.codes, first_code + u64::from(code), 0);
                }
            }
            code += THREADS;
        }
    }
}

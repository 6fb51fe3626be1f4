//! No prediction, a tile a thread block: each value has a code of its own, or is stored. Tiles are lines.
//!
//! Parameters and rows are those of [`tile_lorenzo`](crate::predict::tile_lorenzo). See `ferrosz_host::cpu::predict::direct`.

use crate::PACKAGE;
use crate::predict::tile_lorenzo::reconstruct::ReconstructParams;
use crate::predict::tile_lorenzo::rows::TileRows;
use crate::predict::tile_lorenzo::{HOLES, LorenzoParams, THREADS};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::token::{RAW, unzigzag, zigzag};
use ferrosz_codec::predict::tile_lorenzo::fits;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{Line, Shape};
use ferrosz_codec::tile;
use ferrosz_simt::{Kernel, Name, Package, Thread, WARP};

/// Makes the codes of a field of `E`. Launched with a block for each tile.
pub struct Predict<E>(PhantomData<E>);

/// Makes a field of `E` of its codes. Launched with a block for each tile.
///
/// The values of positions without a code lie in the field already, and stay there.
pub struct Reconstruct<E>(PhantomData<E>);

/// Warps of a block, each of which takes every so many-th row.
const WARPS: u32 = THREADS / WARP;

impl<E: Element> Kernel for Predict<E> {
    type Params = LorenzoParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_direct_predict", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &LorenzoParams) {
        let (number, tile) = params.taken_tile(t, Shape::Line, t.block_index());
        let quantizer = params.quantizer::<T, E>(t);
        let rows = TileRows::<Line, false>::new(params, number, &tile);
        let has_holes = params.flags & HOLES != 0;
        let mut at = t.warp();
        while at < t.opaque(tile::ROWS) {
            let row = rows.row(t, at);
            for half in 0..2 {
                let code = match rows.has(t, row, half) {
                    true => code_of(&quantizer, has_holes, rows.load(t, row, half)),
                    false => 0,
                };
                rows.store_code(t, row, half, code);
            }
            at += WARPS;
        }
    }
}

/// The code of a value.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn code_of<E: Element>(quantizer: &Quantizer<E>, has_holes: bool, value: E) -> u32 {
    match quantizer.quantize(value) {
        Some(code) if fits(code) => zigzag(code),
        None if has_holes && value.is_hole() => 0,
        _ => RAW,
    }
}

impl<E: Element> Kernel for Reconstruct<E> {
    type Params = ReconstructParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_direct_reconstruct", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ReconstructParams) {
        let (number, tile) = params.tile_of_block(t, Shape::Line);
        let quantizer = params.part.quantizer::<T, E>(t);
        let rows = TileRows::<Line, false>::new(&params.part, number, &tile).behind(params.before);
        let mut at = t.warp();
        while at < t.opaque(tile::ROWS) {
            let row = rows.row(t, at);
            for half in 0..2 {
                let code = rows.load_code(t, row, half);
                if rows.has(t, row, half) && code != RAW {
                    rows.store(t, row, half, quantizer.dequantize(unzigzag(code)));
                }
            }
            at += WARPS;
        }
    }
}

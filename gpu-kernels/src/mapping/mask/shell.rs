//! Values in place of missing elements beside valid ones: a warp has a word of holes, and reads valid elements alone.

use crate::PACKAGE;
use crate::mapping::mask::fill::{Cells, Launch, THREADS, Team};
use crate::primitives::element::{load_element, store_element};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::mask::part::WORD;
use ferrosz_codec::mapping::mask::shell::{LEAST, Units};
use ferrosz_simt::{Kernel, Name, Package, Thread, WARP};

/// Gives values to the missing elements of a field of `E` that are among valid ones, and to those that begin a unit. Launched
/// with any number of blocks.
pub struct FillShell<E>(PhantomData<E>);

/// Parameters of [`FillShell`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FillShellParams {
    /// The field, with the bits of its holes.
    pub cells: Cells,
    /// The blocks or tiles of the codec.
    pub units: Units,
}

impl<E: Element> Kernel for FillShell<E> {
    type Params = FillShellParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_mask_shell", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FillShellParams) {
        let FillShellParams { cells, units } = params;
        if !cells.has_holes(t) {
            return;
        }
        Launch::for_words(t, cells, |word, holes| {
            let first = word * u64::from(WORD);
            let cell = first + u64::from(t.lane());
            let at = cells.level.position(cell);
            let is_hole = holes >> t.lane() & 1 == 1;
            let mean: Option<E> = match is_hole {
                true => cells
                    .level
                    .mean(at, LEAST, |other| Self::valid(t, cells, other)),
                false => None,
            };
            if let Some(mean) = mean {
                store_element(t, cells.values, cell, mean);
            }
            let begins = is_hole && mean.is_none() && units.begin_at(at);
            let mut rest = t.ballot(begins);
            while rest != 0 {
                Self::begin(t, params, first + u64::from(rest.trailing_zeros()));
                rest &= rest - 1;
            }
        });
    }
}

impl<E: Element> FillShell<E> {
    /// A valid element; a hole in place of a missing one, which another thread may be writing.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn valid<T: Thread>(t: T, cells: &Cells, cell: u64) -> E {
        let holes = t.load(cells.holes, cell / u64::from(WORD));
        match holes >> (cell % u64::from(WORD)) & 1 {
            0 => load_element(t, cells.values, cell),
            _ => E::HOLE,
        }
    }

    /// Sets the first element of a unit to its first valid one, if there is one. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn begin<T: Thread>(t: T, params: &FillShellParams, cell: u64) {
        let FillShellParams { cells, units } = params;
        let begin = cells.level.position(cell);
        let mut before = 0;
        while before < units.positions() {
            let number = before + t.lane();
            let at = match number < units.positions() {
                true => units.position(begin, number),
                false => None,
            };
            let value = match at {
                Some(at) => Self::valid(t, cells, cells.level.flat(at)),
                None => E::HOLE,
            };
            let valid = t.ballot(value.is_finite());
            if valid != 0 {
                if t.lane() == valid.trailing_zeros() {
                    store_element(t, cells.values, cell, value);
                }
                return;
            }
            before += WARP;
        }
    }
}

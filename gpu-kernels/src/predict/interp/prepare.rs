//! Tuning, second half: the decision that follows from the scores, and the candidates of the next round.
//!
//! So a field is tuned without asking the host. `Prepare` runs for the start, then `Scores` and `Prepare` for each
//! round that has candidates. If the radius of the codes is to be found, both run once more, with the decided
//! parameters as the only candidate. The decided parameters lie at the start of the words, where prediction looks
//! for them.

use crate::PACKAGE;
use crate::pipeline::cells::{self, Given};
use crate::predict::interp::scores::{SCORE_CELLS, cost_cell, size_cell};
use core::marker::PhantomData;
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::predict::interp::parameters::{Parameters, Tightening};
use ferrosz_codec::predict::interp::resolved::{Resolved, WORDS};
use ferrosz_codec::predict::interp::tune::cost::CLASSES;
use ferrosz_codec::predict::interp::tune::radius::radius;
use ferrosz_codec::predict::interp::tune::relative;
use ferrosz_codec::predict::interp::tune::score::Size;
use ferrosz_codec::predict::interp::tune::search::{MAX_CANDIDATES, Round, Search};
use ferrosz_codec::tile::code::RADIUS;
use ferrosz_codec::{BoundMode, Element};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View};

/// Decides for fields of `E`. Launched with one block.
pub struct Prepare<E>(PhantomData<E>);

/// Parameters of [`Prepare`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PrepareParams {
    /// The parameters to decide, and the choices of each.
    pub search: Search,
    /// How many rounds have been scored, those of the search and that of the radius.
    pub rounds: u32,
    /// The radius of codes; 0 if that is to be found, and then the largest it may be.
    pub radius: u32,
    /// See above.
    pub max_radius: u32,
    /// The bits of the absolute error.
    pub error: Given<1>,
    /// The number of the bound as the user gave it.
    pub bound: f64,
    /// Its mode.
    pub mode: u32,
    /// The workspace: see [`cells`]. [`cells::RANGE`] is read if the tuning needs the range.
    pub workspace: View<u64>,
    /// The cells of tuning, [`CELLS`] of them.
    pub cells: View<u64>,
    /// [`PARAMETER_WORDS`] words, of which those of the decided parameters and of the next round's
    /// candidates are written.
    pub parameters: View<u32>,
}

/// The first of the cells of the decided parameters: the flags with the shifts above them, and two numbers of the
/// tightening.
const DECIDED: u64 = SCORE_CELLS;

/// The first of the cells that count classes of codes for the radius.
pub const CLASS_CELLS: u64 = DECIDED + 3;

/// Cells that tuning needs.
pub const CELLS: u64 = CLASS_CELLS + CLASSES as u64;

/// Rounds of a search, after which there may be one for the radius.
pub const ROUNDS: u32 = Round::ALL.len() as u32;

/// The words of the decided parameters, and behind them those of a round's candidates.
pub const PARAMETER_WORDS: u64 = candidate_words(MAX_CANDIDATES);

/// The first word of a candidate's parameters.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn candidate_words(candidate: u32) -> u64 {
    (1 + candidate as u64) * WORDS as u64
}

/// Threads in a block.
pub const THREADS: u32 = 128;

/// The shared memory of the block: the cells of tuning.
const SHARED: (Shared<u64>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("cells", CELLS as u32), layout)
};

impl<E: Element> Kernel for Prepare<E> {
    type Params = PrepareParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_interp_prepare", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 1;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &PrepareParams) {
        Self::take_costs(t, params.cells);
        t.barrier();
        if t.thread_index() == 0 {
            let decided = Self::decide(t, params);
            let bits = [
                u64::from(decided.flag_bits()) | u64::from(decided.shifts.to_word()) << 32,
                decided.tightening.alpha.to_bits(),
                decided.tightening.beta.to_bits(),
            ];
            for (i, bits) in (DECIDED..).zip(&bits) {
                t.atomic_store(params.cells, i, *bits);
                SHARED.0.store(t, i as u32, *bits);
            }
        }
        t.barrier();
        let decided = parameters(&params.search, |i| SHARED.0.load(t, i as u32));
        let error = Self::error(t, params);
        if t.thread_index() == 0 {
            let radius = Self::radius(t, params);
            let resolved = Resolved::new(decided, error).with_radius(radius);
            leave(t, params.parameters, &resolved);
        } else if let Some(round) = round(params.rounds)
            && t.thread_index() <= params.search.candidates(round)
        {
            let number = t.thread_index() - 1;
            let candidate = params.search.candidate(round, number, &decided);
            let words = params.parameters.from(candidate_words(number));
            leave(t, words, &Resolved::new(candidate, error));
        }
    }
}

impl<E: Element> Prepare<E> {
    /// Brings the scores and numbers of codes to shared memory and clears their cells for the next round.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn take_costs<T: Thread>(t: T, cells: View<u64>) {
        let mut cell = u64::from(t.thread_index());
        while cell < CELLS {
            if !(DECIDED..CLASS_CELLS).contains(&cell) {
                SHARED.0.store(t, cell as u32, t.atomic_load(cells, cell));
                t.atomic_store(cells, cell, 0);
            }
            cell += u64::from(THREADS);
        }
    }

    /// The radius as far as it is known.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn radius<T: Thread>(t: T, params: &PrepareParams) -> u32 {
        if params.radius != 0 {
            params.radius
        } else if params.rounds > ROUNDS {
            let count = |class| SHARED.0.load(t, CLASS_CELLS as u32 + class);
            radius(count, params.max_radius)
        } else {
            RADIUS
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn error<T: Thread>(t: T, params: &PrepareParams) -> E {
        let [bits] = params.error.find(t, params.workspace, cells::QUANTIZER);
        E::from_bits64(bits)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn decide<T: Thread>(t: T, params: &PrepareParams) -> Parameters {
        if params.rounds == 0 {
            return Self::start(t, params);
        }
        let decided = parameters(&params.search, |i| t.atomic_load(params.cells, i));
        let Some(round) = round(params.rounds - 1) else {
            return decided;
        };
        let load = |cell: u64| SHARED.0.load(t, cell as u32);
        params.search.decide(
            round,
            &decided,
            |number, level| load(cost_cell(number, level)),
            |number, level, oddness| {
                let cell = size_cell(number, level, oddness);
                Size {
                    codes: load(cell),
                    sum: load(cell + 1),
                }
            },
        )
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn start<T: Thread>(t: T, params: &PrepareParams) -> Parameters {
        let mut part = 0.0;
        if params.search.tuning.needs_range() {
            let mode = BoundMode::from_id(params.mode as u8).unwrap_or(BoundMode::Abs);
            let range = f64::from_bits(t.atomic_load(params.workspace, cells::RANGE));
            part = relative(mode, params.bound, Self::error(t, params).to_f64(), range);
        }
        params.search.start(part)
    }
}

/// The round that comes after so many; none after the last.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn round(number: u32) -> Option<Round> {
    match number {
        0 => Some(Round::Flags),
        1 => Some(Round::Tightening),
        _ => None,
    }
}

/// The decided parameters, from their cells.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn parameters(search: &Search, cell: impl Fn(u64) -> u64) -> Parameters {
    let flags_and_shifts = cell(DECIDED);
    let flag_bits = flags_and_shifts as u32;
    Parameters {
        geometry: search.tuning.geometry,
        levels: core::array::from_fn(|level| Parameters::flags_of(flag_bits, level as u32)),
        tightening: Tightening::new(
            f64::from_bits(cell(DECIDED + 1)),
            f64::from_bits(cell(DECIDED + 2)),
        )
        .with_dead_zone(search.tuning.dead_zone()),
        shifts: Shifts::from_word((flags_and_shifts >> 32) as u32),
    }
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn leave<T: Thread, E: Element>(t: T, words: View<u32>, resolved: &Resolved<E>) {
    for (at, word) in (0..).zip(&resolved.to_words()) {
        t.store(words, at, *word);
    }
}

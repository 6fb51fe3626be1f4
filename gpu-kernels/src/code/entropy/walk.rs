//! The way of a warp through a tile: eight steps at a time, a *quad* of four rows, which have at most four different
//! kinds of steps. So a lane finds the zones and levels of its positions once a quad, whatever the shape.

use crate::pipeline::tiles::codes::ROOM_WORDS;
use ferrosz_codec::code::entropy::class::FIRST_CLASSES;
use ferrosz_codec::code::entropy::shifts::{MAX_ODDNESS, Shifts, level_of_zone};
use ferrosz_codec::predict::interp::resolved::Words;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::{FIRST_SLICE, LANES, ROW, ROWS, TileBox, TileOrder};
use ferrosz_simt::{Thread, View};

/// Rows of a quad.
const QUAD_ROWS: u32 = 4;
/// Steps of a quad.
pub const QUAD_STEPS: u32 = 2 * QUAD_ROWS;
/// Quads of a tile.
pub const QUADS: u32 = ROWS / QUAD_ROWS;
/// Codes of a quad.
pub const QUAD_CODES: u32 = QUAD_STEPS * LANES;

/// The number, from a chunk's first code on, of the first half word of a quad's codes.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn first_half(quad: u32) -> u32 {
    quad * QUAD_CODES + quad / QUADS * (2 * ROOM_WORDS as u32)
}

/// The steps of a quad that start a row; the others have positions of level 0 alone.
const ROW_STARTS: u32 = 0b0101_0101;

/// A number for each zone of a tile, for example its class. Lane l holds that of zone l and, up to lane 4, that of zone
/// 32 + l.
#[derive(Clone, Copy)]
pub struct OfZones {
    /// That of zone `lane`.
    pub first: u32,
    /// That of zone 32 + `lane`.
    pub rest: u32,
}

/// A number for the positions of each oddness, from 1 on, of each zone of a tile, for example their context.
#[derive(Clone, Copy)]
pub struct OfCells {
    /// Those of zone `lane`, which are of level 0.
    first: [u32; MAX_ODDNESS as usize],
    /// Those of zone 32 + `lane`, of level 1; the same number three times for higher levels.
    rest: [u32; MAX_ODDNESS as usize],
    /// The number that zones without codes have, and positions without a zone.
    none: u32,
}

impl OfCells {
    /// The same number for all positions that have a zone, and another one for the others.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn all(number: u32, none: u32) -> Self {
        let all = [number; MAX_ODDNESS as usize];
        Self {
            first: all,
            rest: all,
            none,
        }
    }

    /// Numbers by the contexts of positions, which follow from the classes of zones; 0 is the context of positions without
    /// codes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn of_contexts<T: Thread>(
        t: T,
        order: &TileOrder,
        shifts: Shifts,
        classes: OfZones,
        number: impl Fn(u32) -> u32,
    ) -> Self {
        let context = |class: u32, zone: u32, oddness: u32| {
            let level = level_of_zone(order, zone);
            number(shifts.context(class, level, oddness))
        };
        let contexts =
            |class, zone| [1, 2, MAX_ODDNESS].map(|oddness| context(class, zone, oddness));
        Self {
            first: contexts(classes.first, t.lane()),
            rest: contexts(classes.rest, FIRST_CLASSES + t.lane()),
            none: number(0),
        }
    }
}

/// The shifts of a field with these parameters; none if it has no parameters.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn shifts_of<T: Thread>(t: T, parameters: View<u32>) -> Shifts {
    if parameters.is_empty() {
        return Shifts::NONE;
    }
    Words(|at| t.load(parameters, at as u64)).shifts()
}

/// Four rows of a tile, as a lane sees them.
#[derive(Clone, Copy)]
pub struct Quad {
    /// The number at the positions of the odd steps of rows 0 and 2, and of rows 1 and 3.
    odd_steps: [u32; 2],
    /// Of the step that starts row 0, row 2, and one of the others.
    row_starts: [u32; 3],
    /// Bit s says that in step s this lane has a position with a code.
    active: u32,
    /// Bit s says that some lane has one.
    pub any: u32,
    /// Whether each step has a position with a code, and all positions lie in the field: then a lane without a code is
    /// known by its zone's number ([`Quad::of_step`]).
    pub is_full: bool,
    /// The number of no zone.
    none: u32,
}

/// The bits of all steps.
const ALL_STEPS: u32 = (1 << QUAD_STEPS) - 1;
/// Stands beside them for: not all positions lie in the field.
const OUTSIDE: u32 = 1 << QUAD_STEPS;

impl Quad {
    /// Quad number `quad` of a tile. `is_complete` says that the whole tile lies in the field. It must be the same in all lanes;
    /// false is right for every tile, but takes longer. For the whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn of<T: Thread, S: StaticShape>(
        t: T,
        order: &TileOrder,
        (tile, is_complete): (&TileBox, bool),
        quad: u32,
        cells: OfCells,
    ) -> Self {
        let order = order.of_shape::<S>();
        let row = QUAD_ROWS * quad;
        let brick = order.brick(row, t.lane());
        let none = cells.none;
        // Rows of odd z have positions that are odd along one axis more.
        let is_odd_slice = matches!(S::LEVELS, Shape::Cube) && row / 16 % 2 == 1;
        let is_first_slice = order.has_slices() && row < 16;
        let [one, two, three] = by_slice(is_first_slice, cells.first);
        let odd_steps = match S::LEVELS {
            Shape::Line => [t.shuffle(one, brick); 2],
            Shape::Plane | Shape::Cube => {
                let numbers = if is_odd_slice {
                    [two, three]
                } else {
                    [one, two]
                };
                numbers.map(|number| t.shuffle(number, brick))
            }
        };
        let row_starts = if !order.has_levels {
            [odd_steps[0]; 3]
        } else if is_odd_slice {
            let even_rows = t.shuffle(one, brick);
            [even_rows, even_rows, odd_steps[0]]
        } else {
            let [one, two, three] = by_slice(is_first_slice, cells.rest);
            let of_rank = |rank: u8, number: u32| {
                if S::LEVELS.rank() >= rank {
                    t.shuffle(number, brick / 8)
                } else {
                    none
                }
            };
            let levels = Levels {
                level_0: odd_steps[0],
                level_1: [of_rank(1, one), of_rank(2, two), of_rank(3, three)],
                higher: t.shuffle(cells.rest[0], 4),
                none,
            };
            row_starts(&order, row, t.lane(), levels)
        };
        let has_codes = |number: u32| number != none;
        let (of_odd, of_starts) = (has_codes(odd_steps[0]), row_starts.map(has_codes));
        let mut active = steps_with(of_odd, of_starts);
        let of_all = if is_complete {
            // Four votes, which do not wait for each other, take less time than the reduction of all lanes' bits.
            steps_with(t.any(of_odd), of_starts.map(|has_codes| t.any(has_codes)))
        } else {
            let (is_inside, inside) = inside(S::SHAPE, tile, row, t.lane());
            active &= inside;
            t.reduce_or(active | if is_inside { 0 } else { OUTSIDE })
        };
        Self {
            odd_steps,
            row_starts,
            active,
            any: of_all & ALL_STEPS,
            is_full: of_all == ALL_STEPS,
            none,
        }
    }

    /// Whether this lane has a code in a step.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn is_active(&self, step: u32) -> bool {
        self.active >> step & 1 == 1
    }

    /// The number of the zone of this lane's position in a step, if it has a code there.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn of_code(&self, step: u32) -> u32 {
        if self.is_active(step) {
            self.of_step(step)
        } else {
            self.none
        }
    }

    /// The number of the zone of this lane's position in a step, even if that is not in the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn of_step(&self, step: u32) -> u32 {
        match Self::first_alike(step) {
            0 => self.row_starts[0],
            4 => self.row_starts[1],
            2 => self.row_starts[2],
            1 => self.odd_steps[0],
            _ => self.odd_steps[1],
        }
    }

    /// The first step whose positions are of the same zones and oddness.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn first_alike(step: u32) -> u32 {
        match step {
            0 | 4 => step,
            2 | 6 => 2,
            1 | 5 => 1,
            _ => 3,
        }
    }
}

/// The steps that have codes, if the odd ones have some, and those that start row 0, row 2 and the odd rows.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn steps_with(of_odd: bool, [first, third, others]: [bool; 3]) -> u32 {
    let mut steps = if of_odd { ALL_STEPS & !ROW_STARTS } else { 0 };
    steps |= if first { 1 } else { 0 };
    steps |= if third { 1 << 4 } else { 0 };
    steps | if others { 1 << 2 | 1 << 6 } else { 0 }
}

/// The numbers of a zone by oddness. All positions of the first of the slices that have levels of their own have the same
/// oddness, [`FIRST_SLICE`].
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn by_slice(is_first_slice: bool, numbers: [u32; 3]) -> [u32; 3] {
    if is_first_slice {
        [numbers[FIRST_SLICE as usize - 1]; 3]
    } else {
        numbers
    }
}

/// The numbers of the levels in the steps that start the rows of a quad.
struct Levels {
    /// Of level 0, which the odd rows have.
    level_0: u32,
    /// Of level 1, by oddness.
    level_1: [u32; MAX_ODDNESS as usize],
    higher: u32,
    none: u32,
}

/// The numbers of the steps that start row 0, row 2 and the odd rows of the quad that begins with row `row`, with levels, and
/// not in a slice of odd z.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn row_starts(order: &TileOrder, row: u32, lane: u32, levels: Levels) -> [u32; 3] {
    let Levels {
        level_0,
        level_1: [one, two, three],
        higher,
        none,
    } = levels;
    // Of positions whose other coordinates are all divisible by 4: x = 2 lane (+ 64 row).
    let is_odd_lane = lane % 2 == 1;
    let mixed = if is_odd_lane { one } else { higher };
    let one_or_two = if is_odd_lane { two } else { one };
    let two_or_three = if is_odd_lane { three } else { two };
    let may_be_anchor = level_of_row_start(order.level_shape, row, lane) >= order.anchor_level;
    let is_anchor = may_be_anchor & !(order.has_slices() && row >= 16);
    let first = if is_anchor { none } else { mixed };
    match order.level_shape {
        Shape::Line => [first, mixed, mixed],
        Shape::Plane => [first, one_or_two, level_0],
        Shape::Cube => match row / 16 % 4 {
            0 => [first, one_or_two, level_0],
            _ => [one_or_two, two_or_three, level_0],
        },
    }
}

/// The levels, 2 for all higher ones, of the positions of even and of odd lanes in the steps that start row 0, row 2
/// and the odd rows of the quad that begins with row `row`.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn levels_of_row_starts(shape: Shape, row: u32) -> [[u32; 2]; 3] {
    const MIXED: [u32; 2] = [2, 1];
    match shape {
        Shape::Line => [MIXED; 3],
        Shape::Plane => [MIXED, [1; 2], [0; 2]],
        Shape::Cube => match row / 16 % 4 {
            0 => [MIXED, [1; 2], [0; 2]],
            2 => [[1; 2], [1; 2], [0; 2]],
            _ => [[0; 2]; 3],
        },
    }
}

/// The level of the position that a lane has in the step that starts a row, whose number is a multiple of 4.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn level_of_row_start(shape: Shape, row: u32, lane: u32) -> u32 {
    let x = 2 * lane;
    let all = match shape {
        Shape::Line => (ROW * row) | x,
        Shape::Plane => row | x,
        Shape::Cube => (row / 16) | (row % 16) | x,
    };
    all.trailing_zeros()
}

/// Whether the whole quad that begins with row `row` lies in the field; bit s says whether a lane's position in step s
/// does.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn inside(shape: Shape, tile: &TileBox, row: u32, lane: u32) -> (bool, u32) {
    let [z, y, x] = tile.left;
    // Rows of the quad that have positions in the field, the width of the first, and how much less each next one has.
    let (rows, width, less) = match shape {
        Shape::Line => (QUAD_ROWS, x.saturating_sub(ROW * row), ROW),
        Shape::Plane => (y.saturating_sub(row), x, 0),
        Shape::Cube if row / 16 < z => (y.saturating_sub(row % 16), x, 0),
        Shape::Cube => (0, x, 0),
    };
    if rows >= QUAD_ROWS && width >= ROW + 3 * less {
        return (true, ALL_STEPS);
    }
    let mut inside = 0;
    for step in 0..QUAD_STEPS {
        let is_inside = step / 2 < rows && 2 * lane + step % 2 + less * (step / 2) < width;
        inside |= u32::from(is_inside) << step;
    }
    (false, inside)
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use ferrosz_codec::code::entropy::shifts::LEVELS;
    use ferrosz_codec::shape::{Cube, Line, Plane, Slices};
    use ferrosz_codec::tile::{STEPS, TileGrid, position};
    use ferrosz_simt::emulator::{Emulator, EmulatorThread};
    use ferrosz_simt::prelude::*;
    use std::cell::RefCell;
    use std::vec;

    /// Zones and oddness as numbers from 1 on.
    fn check<S: StaticShape>(order: &TileOrder, tile: &TileBox) {
        let found = RefCell::new(vec![0; (STEPS * LANES) as usize]);
        let kernel = |t: EmulatorThread<'_>| {
            let number = |zone: u32| core::array::from_fn(|i| 4 * (1 + zone) + i as u32);
            let cells = OfCells {
                first: number(t.lane()),
                rest: number(32 + t.lane()),
                none: 0,
            };
            let tile = (tile, tile.is_complete(S::SHAPE));
            for quad in 0..QUADS {
                let steps = Quad::of::<_, S>(t, order, tile, quad, cells);
                for step in 0..QUAD_STEPS {
                    assert_eq!(steps.any >> step & 1 == 1, t.any(steps.is_active(step)),);
                    if steps.is_full {
                        assert_eq!(steps.of_step(step), steps.of_code(step));
                    }
                    if steps.is_active(step) {
                        let at = (QUAD_STEPS * quad + step) * LANES + t.lane();
                        found.borrow_mut()[at as usize] = steps.of_step(step);
                    }
                }
            }
        };
        Emulator::new()
            .launch_with(1, 32, 0, kernel)
            .expect("no fault");
        for step in 0..STEPS {
            for lane in 0..LANES {
                let is_inside = tile.has(position(order.shape, step, lane));
                let zone = order.zone(step, lane).filter(|_| is_inside);
                let found = found.borrow()[(step * LANES + lane) as usize];
                assert_eq!(
                    found / 4,
                    zone.map_or(0, |zone| zone + 1),
                    "{order:?} {step} {lane}"
                );
                let level = zone.map(|zone| level_of_zone(order, zone));
                if level.is_some_and(|level| level < LEVELS) {
                    let oddness = order.oddness(step, lane);
                    assert_eq!(found % 4 + 1, oddness, "{order:?} {step} {lane}");
                }
            }
        }
    }

    #[test]
    fn every_position_is_in_its_zone() {
        for (shape, spacing, lengths) in [
            (Shape::Line, 512, [[1, 1, 40_000], [1, 1, 1], [1, 1, 3_333]]),
            (Shape::Plane, 16, [[1, 300, 70], [1, 1, 200], [1, 77, 3]]),
            (Shape::Cube, 16, [[17, 33, 65], [1, 1, 1], [5, 6, 37]]),
        ] {
            for lengths in lengths {
                let grid = TileGrid::new(shape, lengths);
                for tile in [0, grid.tiles() / 2, grid.tiles() - 1] {
                    for order in [TileOrder::levels(shape, spacing), TileOrder::flat(shape)] {
                        match shape {
                            Shape::Line => check::<Line>(&order, &grid.tile(tile)),
                            Shape::Plane => check::<Plane>(&order, &grid.tile(tile)),
                            Shape::Cube => check::<Cube>(&order, &grid.tile(tile)),
                        }
                    }
                    if shape == Shape::Cube {
                        check::<Slices>(&TileOrder::slices(spacing), &grid.tile(tile));
                    }
                }
            }
        }
    }
}

//! The stages of a tile whose slices are predicted one by one: see [`ferrosz_codec::predict::slices`].
//!
//! A thread has a *column*: the positions of all slices that have the same y and x. It goes through the slices in their order, and
//! keeps the differences and terms of the references in registers. So a stage needs one barrier for all slices.

use crate::predict::interp::THREADS;
use crate::predict::interp::method::Slices;
use crate::predict::interp::positions::Neighbourhood;
use crate::predict::interp::residuals::{Residuals, TileSetup, code};
use crate::predict::interp::stages::Staged;
use crate::predict::interp::values::Values;
use core::array::from_fn;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::spline::Order;
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::predict::slices::coefficients::{first, of_bits};
use ferrosz_codec::predict::slices::terms::{
    Around, MAX_TERMS, Past, REFERENCES, Site, Stencil, count, predict, root, terms,
};
use ferrosz_codec::predict::slices::{ROOT, SETS};
use ferrosz_codec::predict::stencil::terms::is_inside;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile;
use ferrosz_simt::{SharedAddress, Thread, WARP};

impl Staged for Slices {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread, E: Element, S: StaticShape, R: Residuals<E>>(
        t: T,
        setup: &TileSetup,
        residuals: &R,
    ) {
        run::<T, E, S, R>(t, setup, residuals);
    }
}

/// Predicts and codes all positions of a tile and its far faces along y and x but the anchors. For the whole block, after a
/// barrier behind which the store is filled; there is one behind each stage.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn run<T: Thread, E: Element, S: StaticShape, R: Residuals<E>>(
    t: T,
    setup: &TileSetup,
    residuals: &R,
) {
    let columns = Columns::<E, S>::new(t, setup, ROOT);
    let number = t.thread_index();
    let [height, width] = roots();
    if number < height * width {
        columns.run_root(t, number / width, number % width, residuals);
    }
    t.barrier();
    let mut level = t.opaque(ROOT);
    while level > 0 {
        level -= 1;
        let columns = Columns::<E, S>::new(t, setup, level);
        columns.run_sets::<T, R>(t, residuals);
    }
}

/// Positions of the [`ROOT`] level along y and x, with those on far faces.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn roots() -> [u32; 2] {
    let [_, height, width] = tile::extents(Shape::Cube);
    [(height >> ROOT) + 1, (width >> ROOT) + 1]
}

/// The columns of a level.
pub(super) struct Columns<'a, E, S> {
    setup: &'a TileSetup,
    quantizer: LevelQuantizer<E>,
    level: u32,
    reach: [Neighbourhood; 2],
    store: SharedAddress,
    shape: PhantomData<S>,
}

/// The column that a thread takes.
#[derive(Clone, Copy)]
struct Column {
    y: u32,
    x: u32,
}

impl<'a, E: Element, S: StaticShape> Columns<'a, E, S> {
    /// Those of a level of a tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn new<T: Thread>(t: T, setup: &'a TileSetup, level: u32) -> Self {
        Self {
            setup,
            quantizer: setup.quantizer(t, level),
            level,
            reach: [1, 2].map(|axis| Neighbourhood::new(Shape::Cube, axis, level)),
            store: Values::<E, S>::SHARED.0.address(t),
            shape: PhantomData,
        }
    }

    /// Both stages of a level, a barrier behind each.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run_sets<T: Thread, R: Residuals<E>>(&self, t: T, residuals: &R) {
        let rows = count_along(1, self.level);
        let lanes_log = count_along(2, self.level).trailing_zeros();
        // Rows of the columns that are odd along y, then of those that are odd along x, also on the far face along y; then the
        // columns on the far face along x, of which there is one in each row that is odd along y. Whole warps have each of
        // them, so that their lanes have columns side by side.
        let mut number = t.thread_index();
        let odd_along_y = (rows << lanes_log).next_multiple_of(WARP);
        let odd_along_x = odd_along_y + ((rows + 1) << lanes_log).next_multiple_of(WARP);
        let end = odd_along_x + rows.next_multiple_of(WARP);
        while number < end {
            if number < odd_along_y {
                let column = self.column(0b010, number, lanes_log);
                self.run_column::<T, 0b010, R>(t, column, residuals);
            } else if number < odd_along_x {
                let column = self.column(0b100, number - odd_along_y, lanes_log);
                self.run_column::<T, 0b100, R>(t, column, residuals);
            } else {
                let row = number - odd_along_x;
                let column = Column {
                    y: ((2 * row) + 1) << self.level,
                    x: tile::ROW,
                };
                self.run_column::<T, 0b010, R>(t, column, residuals);
            }
            number += THREADS;
        }
        t.barrier();
        let mut number = t.thread_index();
        while number < rows << lanes_log {
            let column = self.column(0b110, number, lanes_log);
            self.run_column::<T, 0b110, R>(t, column, residuals);
            number += THREADS;
        }
        t.barrier();
    }

    /// Column number `number` of those that are odd along the axes of `odd`, row after row. Of a number that there is not it is
    /// beyond the tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn column(&self, odd: u32, number: u32, lanes_log: u32) -> Column {
        let (row, lane) = (number >> lanes_log, number & ((1 << lanes_log) - 1));
        Column {
            y: ((2 * row) + (odd >> 1 & 1)) << self.level,
            x: ((2 * lane) + (odd >> 2 & 1)) << self.level,
        }
    }

    /// Whether the column is in the field and in the tile with its far faces.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn has(&self, Column { y, x }: Column) -> bool {
        let [_, height, width] = tile::extents(Shape::Cube);
        let [_, rows, columns] = self.setup.tile.left;
        (y <= height) & (x <= width) & (y < rows) & (x < columns)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run_column<T: Thread, const ODD: u32, R: Residuals<E>>(
        &self,
        t: T,
        column: Column,
        residuals: &R,
    ) {
        if !self.has(column) {
            return;
        }
        let site = self.site(ODD, column);
        let [depth, ..] =
            (residuals.scope()).ends(Shape::Cube, self.level, [self.slices(), u32::MAX, u32::MAX]);
        // In the first slice the coefficients of references are 0, and so are their terms. This changes at most the sign of a
        // prediction that is 0, and so no code and no known value.
        let mut coefficients = self.coefficients::<T>(t, ODD, true);
        let mut past = Past::NONE;
        let mut z = 0;
        while z < t.opaque(depth) {
            let address = self.address([z, column.y, column.x]);
            let own = self.stencil::<T>(t, &site, address);
            let terms = terms(ODD, false, &own, &past);
            let prediction = predict(own.base, count(0, ODD, false), &terms, |i| coefficients[i]);
            let quantizer = &self.quantizer;
            let position = [z, column.y, column.x];
            let known = code::<T, E, S, R>(t, residuals, quantizer, position, address, prediction);
            if z == 0 {
                coefficients = self.coefficients::<T>(t, ODD, false);
            }
            past = past.then(z == 0, known - own.base, own.terms);
            z += 1;
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run_root<T: Thread, R: Residuals<E>>(&self, t: T, row: u32, lane: u32, residuals: &R) {
        let column = Column {
            y: row << ROOT,
            x: lane << ROOT,
        };
        if !self.has(column) {
            return;
        }
        let coefficients = self.coefficients::<T>(t, 0, false);
        let anchor = Values::<E, S>::load_at(t, self.address([0, column.y, column.x]));
        let mut past = Past::NONE.then(true, anchor, [E::ZERO; _]);
        let mut z = 1;
        while z < t.opaque(self.slices()) {
            let position = [z, column.y, column.x];
            let address = self.address(position);
            let (base, terms) = root(&past);
            let prediction = predict(base, REFERENCES - 1, &terms, |i| coefficients[i]);
            let quantizer = &self.quantizer;
            let known = code::<T, E, S, R>(t, residuals, quantizer, position, address, prediction);
            past = past.then(false, known, [E::ZERO; _]);
            z += 1;
        }
    }

    /// Slices of the tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn slices(&self) -> u32 {
        self.setup.tile.left[0].min(tile::extents(Shape::Cube)[0])
    }

    /// The address of a position.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn address(&self, position: [u32; 3]) -> SharedAddress {
        self.store + 4 * store::index(Shape::Cube, position)
    }

    /// The coefficients of a set, and zeros.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn coefficients<T: Thread>(&self, t: T, odd: u32, is_first: bool) -> [E; MAX_TERMS] {
        let from = first(self.level, odd, is_first) as u64;
        from_fn(|i| {
            if i < count(self.level, odd, is_first) {
                of_bits(t.load_half(self.setup.coefficients, from + i as u64) as u16)
            } else {
                E::ZERO
            }
        })
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn site(&self, odd: u32, Column { y, x }: Column) -> Site {
        let (setup, unit) = (self.setup, 1 << self.level);
        let [_, window_y, window_x] = setup.window;
        let [_, rows, columns] = setup.tile.left;
        Site {
            odd,
            orders: [
                Order::at(y, unit, window_y, rows),
                Order::at(x, unit, window_x, columns),
            ],
            inside: [
                is_inside(y, unit, window_y, rows),
                is_inside(x, unit, window_x, columns),
            ],
        }
    }

    /// The stencil in the slice of an address.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn stencil<T: Thread>(&self, t: T, site: &Site, address: SharedAddress) -> Stencil<E> {
        let load = |address: SharedAddress| Values::<E, S>::load_at(t, address);
        let [along_y, along_x] = self.reach;
        let mut around = Around {
            along: [[E::ZERO; 4]; 2],
            beside: [E::ZERO; 4],
        };
        if site.odd & 0b010 != 0 {
            around.along[0] = along_y.nearest(address, site.orders[0]).map(load);
        }
        if site.odd & 0b100 != 0 {
            around.along[1] = along_x.nearest(address, site.orders[1]).map(load);
        }
        // Values that there are not are replaced by others.
        let next = |axis: usize| if site.orders[axis].next { 1 } else { -1 };
        let pairs = |axis: usize| i32::from(site.inside[axis]);
        around.beside = SIGNS.map(|(first, second)| {
            // Behind, or ahead if there is such a position.
            let odd = |axis: usize, reach: Neighbourhood, step: i32| {
                reach.beside_odd(if step < 0 { -1 } else { next(axis) })
            };
            let aside = match site.odd {
                0b010 => odd(0, along_y, first) + along_x.by_pairs(second * pairs(1)),
                0b100 => odd(1, along_x, first) + along_y.by_pairs(second * pairs(0)),
                _ => odd(0, along_y, first) + odd(1, along_x, second),
            };
            load(address.offset(aside))
        });
        Stencil::at(site, &around)
    }

    /// Base and terms of a position, given that all slices are known: those of its references are computed again.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn base_and_terms<T: Thread>(
        &self,
        t: T,
        odd: u32,
        position: [u32; 3],
    ) -> (E, [E; MAX_TERMS]) {
        let [z, y, x] = position;
        let known = |back: u32| {
            let address = self.address([z - back.min(z), y, x]);
            (address, Values::<E, S>::load_at(t, address))
        };
        let mut past = Past::NONE;
        if self.level >= ROOT {
            past.differences = [1, 2, 3].map(|back| known(back).1);
            return root(&past);
        }
        let site = self.site(odd, Column { y, x });
        let own = self.stencil(t, &site, self.address(position));
        let reference = |back: u32| {
            let (address, value) = known(back);
            let stencil = self.stencil(t, &site, address);
            (value - stencil.base, stencil.terms)
        };
        // Without a loop, so that the differences are in registers.
        const { assert!(REFERENCES == 3) };
        let (nearest, terms_of_nearest) = reference(1);
        past.differences = [nearest, reference(2).0, reference(3).0];
        past.terms = terms_of_nearest;
        (own.base, terms(odd, z == 0, &own, &past))
    }
}

/// The signs of the steps to four positions.
const SIGNS: [(i32, i32); 4] = [(-1, -1), (-1, 1), (1, -1), (1, 1)];

/// Odd or even multiples of the unit of a level along an axis of a tile, without the far face.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) const fn count_along(axis: usize, level: u32) -> u32 {
    tile::extents(Shape::Cube)[axis] >> (level + 1)
}

const _: () = assert!(SETS[0] == 0b010 && SETS[1] == 0b100 && SETS[2] == 0b110);

//! Slices at the positions of a piece of a row: stencils of the slice itself and of the slices before it.

use crate::cpu::lanes::Lanes;
use crate::cpu::predict::interp::piece::{PIECE, Piece};
use crate::cpu::predict::interp::products::{self, Integers, Sums, add_products};
use crate::cpu::predict::interp::rows::{Positions, Rows, Visitor};
use crate::cpu::predict::interp::samples::FitTile;
use crate::cpu::predict::interp::seen::Seen;
use crate::cpu::predict::interp::store::{TileStore, VECTOR, copy};
use crate::cpu::version::{Version, Work};
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::interp::parameters::Parameters;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::spline::Order;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::predict::interp::walk::OddAxes;
use ferrosz_codec::predict::slices::coefficients::Coefficients;
use ferrosz_codec::predict::slices::fit::{MAX_NUMBERS, first_sum};
use ferrosz_codec::predict::slices::terms::{
    Around, MAX_OWN, MAX_TERMS, Past, REFERENCES, Site, Stencil, count, own_count, predict, root,
    terms,
};
use ferrosz_codec::predict::slices::{ROOT, SETS};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{FIRST_SLICE, TileBox};

/// Predicts and visits all positions of a tile and its far faces from level `lowest` on, except the anchors, which the store must hold on their own
/// level. Within a class a slice follows the slices before it.
#[inline(always)]
pub(super) fn walk<T: Element>(
    version: Version,
    (tile, lowest): (&TileBox, u32),
    parameters: &Parameters,
    coefficients: &Coefficients,
    store: &mut TileStore<T>,
    visitor: &mut impl Visitor<T>,
) {
    walk_root(tile, coefficients, store, visitor);
    for level in (lowest..ROOT).rev() {
        store.refine_values(level);
        let rows = rows(version, tile, parameters, store, level, visitor.scope());
        let mut predictions = [T::ZERO; PIECE];
        for odd in SETS {
            let of_set = [true, false].map(|is_first| coefficients.of_set(level, odd, is_first));
            let [of_first, of_others] = &of_set;
            let (values, codes, mut seen) = store.parts_of_slices(level);
            for_pieces(&rows, odd, |place, positions| {
                let padded = positions.all.next_multiple_of(VECTOR);
                let predictions = &mut predictions[..padded];
                let is_first = place.in_tile == 0;
                version.run(PredictSlice {
                    place,
                    coefficients: if is_first { of_first } else { of_others },
                    values,
                    seen: seen.again(),
                    predictions,
                });
                let at = place.piece.own;
                visitor.visit(
                    positions,
                    predictions,
                    &mut values[at..at + padded],
                    &mut codes[at..at + padded],
                );
            });
        }
    }
}

/// Adds the sums of all own positions that count. `known` has the decoded values.
#[inline(always)]
pub(super) fn sum<T: Element>(
    fit: &FitTile<'_, T>,
    resolved: &Resolved<T>,
    known: &mut TileStore<T>,
    sums: &mut Sums,
) {
    let FitTile {
        version,
        scope,
        tile,
        values,
        ..
    } = *fit;
    let mut integers = products::NONE;
    for level in 0..ROOT {
        let inverse = resolved.quantizers[level as usize].inverse;
        let rows = rows(version, tile, &resolved.parameters, known, level, scope);
        let (known, _, mut seen) = known.parts_of_slices(level);
        for odd in SETS {
            for_pieces(&rows, odd, |place, positions| {
                let first = first_sum(level, odd, place.in_tile == 0);
                version.run(SumSlice {
                    place,
                    lanes: positions.own,
                    known,
                    seen: seen.again(),
                    values: values.values(),
                    inverse,
                    integers: &mut integers,
                    sums: &mut sums[first..],
                });
            });
        }
    }
    let inverse = resolved.quantizers[ROOT as usize].inverse;
    let first = first_sum(ROOT, 0, false);
    let positions = roots(tile, known).into_iter();
    for [z, y, x] in positions.filter(|position| own_root(*position)) {
        let (base, terms) = root(&past_of_root(known, [z, y, x]));
        let value = values.values()[known.level(ROOT).index([z, y, x])];
        let numbers = [terms[0], terms[1], value - base].map(|number| [number; PIECE]);
        let (count, sums) = (REFERENCES - 1, &mut sums[first..]);
        add_products(&numbers, inverse, 1, count, &mut integers, sums);
    }
}

fn rows<'a, T: Copy + Default>(
    version: Version,
    tile: &TileBox,
    parameters: &Parameters,
    store: &TileStore<T>,
    level: u32,
    scope: Scope,
) -> Rows<'a> {
    let layout = store.level(level);
    let (shape, of_levels) = (Shape::Cube, Shape::Plane);
    Rows::new(
        version, shape, of_levels, tile, parameters, layout, level, scope,
    )
}

/// A piece of a row of a slice.
#[derive(Clone, Copy)]
struct Place<'a> {
    piece: &'a Piece<'a>,
    odd: u32,
    /// The number of its slice in the tile.
    in_tile: usize,
    /// Its place in the slice.
    in_slice: usize,
}

impl Place<'_> {
    /// How many slices before its own a reference is.
    #[inline(always)]
    fn back(&self, reference: usize) -> usize {
        (1 + reference).min(self.in_tile)
    }

    /// The known values of a reference less the bases there.
    #[inline(always)]
    fn past<'v, T: Element>(
        &self,
        reference: usize,
        known: &'v [T],
        seen: &'v Seen<'_, T>,
        lanes: usize,
    ) -> [&'v [T]; 2] {
        let back = self.back(reference);
        let own = self.piece.own - back * self.piece.strides[0];
        [
            &known[own..][..lanes],
            seen.bases(self.in_tile - back, self.in_slice, lanes),
        ]
    }
}

/// Calls `call` with all pieces of the positions that are odd along the axes of `odd`, slice after slice.
#[inline(always)]
fn for_pieces(rows: &Rows<'_>, odd: u32, mut call: impl FnMut(Place<'_>, Positions)) {
    let [slice, _] = rows.layout.strides;
    let first = rows.layout.row(0, 0, false);
    rows.for_pieces(OddAxes { odd, axes: odd }, |piece, positions| {
        let in_tile = (piece.evens - first) / slice;
        let oddness = match in_tile {
            0 => FIRST_SLICE,
            _ => positions.oddness,
        };
        let place = Place {
            piece,
            odd,
            in_tile,
            in_slice: piece.own - first - in_tile * slice,
        };
        call(
            place,
            Positions {
                oddness,
                ..positions
            },
        );
    });
}

/// The positions of the [`ROOT`] level, counted in its unit, behind the first slice.
fn roots<T: Copy + Default>(tile: &TileBox, store: &TileStore<T>) -> Vec<[u32; 3]> {
    let counts = store.level(ROOT).counts;
    let [_, height, width] = [0, 1, 2].map(|i| counts[i].min(tile.left[i].div_ceil(1 << ROOT)));
    let mut all = Vec::new();
    for z in 1..counts[0].min(tile.left[0]) {
        all.extend((0..height).flat_map(|y| (0..width).map(move |x| [z, y, x])));
    }
    all
}

/// Whether a position of the [`ROOT`] level is not on a far face.
fn own_root([_, y, x]: [u32; 3]) -> bool {
    y < 1 && x < 4
}

fn past_of_root<T: Element>(store: &TileStore<T>, [z, y, x]: [u32; 3]) -> Past<T> {
    let layout = store.level(ROOT);
    let known = |back: u32| store.values()[layout.index([z - back.min(z), y, x])];
    Past {
        differences: [known(1), known(2), known(3)],
        ..Past::NONE
    }
}

/// There are few of them, so they are predicted one by one.
#[inline(always)]
fn walk_root<T: Element>(
    tile: &TileBox,
    coefficients: &Coefficients,
    store: &mut TileStore<T>,
    visitor: &mut impl Visitor<T>,
) {
    let layout = store.level(ROOT);
    let of_set = coefficients.of_set(ROOT, 0, false);
    for position in roots(tile, store) {
        let (base, terms) = root(&past_of_root(store, position));
        let prediction = predict(base, REFERENCES - 1, &terms, |i| of_set[i]);
        let at = layout.index(position);
        let (all, codes) = store.parts();
        let (mut values, mut code) = ([T::ZERO; VECTOR], [0; VECTOR]);
        (values[0], code[0]) = (all[at], codes[at]);
        let positions = Positions {
            level: ROOT,
            oddness: 1,
            all: 1,
            own: usize::from(own_root(position)),
        };
        visitor.visit(positions, &[prediction; VECTOR], &mut values, &mut code);
        (all[at], codes[at]) = (values[0], code[0]);
    }
}

/// The prediction of a piece.
struct PredictSlice<'a, T> {
    place: Place<'a>,
    coefficients: &'a [T; MAX_TERMS],
    values: &'a [T],
    seen: Seen<'a, T>,
    predictions: &'a mut [T],
}

impl<T: Element> Work for PredictSlice<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let lanes = self.predictions.len().min(PIECE);
        // The compiler sees that this is no memory of the values.
        let mut predictions = [T::ZERO; PIECE];
        let sink = Predictions {
            coefficients: *self.coefficients,
            predictions: &mut predictions,
        };
        for_terms(self.place, self.values, self.seen, lanes, sink);
        copy(&predictions[..lanes], &mut self.predictions[..lanes]);
    }
}

struct Predictions<'a, T> {
    coefficients: [T; MAX_TERMS],
    predictions: &'a mut [T; PIECE],
}

impl<T: Element> Sink<T> for Predictions<'_, T> {
    #[inline(always)]
    fn take(&mut self, i: usize, count: usize, base: T, terms: &[T; MAX_TERMS]) {
        self.predictions[i] = predict(base, count, terms, |term| self.coefficients[term]);
    }
}

/// Adds a piece to the sums of a fit.
struct SumSlice<'a, T> {
    place: Place<'a>,
    /// The positions of the piece that count.
    lanes: usize,
    known: &'a [T],
    seen: Seen<'a, T>,
    values: &'a [T],
    inverse: T,
    integers: &'a mut Integers,
    sums: &'a mut [u64],
}

impl<T: Element> Work for SumSlice<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Place {
            piece,
            odd,
            in_tile,
            ..
        } = self.place;
        let lanes = self.lanes.min(PIECE);
        let padded = lanes.next_multiple_of(VECTOR);
        let mut numbers = [[T::ZERO; PIECE]; MAX_NUMBERS];
        let sink = Numbers {
            values: &self.values[piece.own..][..padded],
            numbers: &mut numbers,
        };
        for_terms(self.place, self.known, self.seen, padded, sink);
        let count = count(0, odd, in_tile == 0);
        let (integers, sums) = (self.integers, self.sums);
        add_products(&numbers, self.inverse, lanes, count, integers, sums);
    }
}

struct Numbers<'a, T> {
    values: &'a [T],
    numbers: &'a mut [[T; PIECE]; MAX_NUMBERS],
}

impl<T: Element> Sink<T> for Numbers<'_, T> {
    #[inline(always)]
    fn take(&mut self, i: usize, count: usize, base: T, terms: &[T; MAX_TERMS]) {
        for (numbers, term) in self.numbers[..count].iter_mut().zip(terms) {
            numbers[i] = *term;
        }
        self.numbers[count][i] = self.values[i] - base;
    }
}

/// Takes base and terms of each position. A trait, as its functions are inlined at every call, but closures are not.
trait Sink<T> {
    fn take(&mut self, i: usize, count: usize, base: T, terms: &[T; MAX_TERMS]);
}

/// Hands over the first `lanes` positions of a piece, a multiple of [`VECTOR`]. Slices come one after the other.
#[inline(always)]
fn for_terms<T: Element>(
    place: Place<'_>,
    known: &[T],
    seen: Seen<'_, T>,
    lanes: usize,
    sink: impl Sink<T>,
) {
    // Each is a loop of its own, without branches.
    match (place.odd, place.in_tile) {
        (0b010, 0) => first::<T, 0b010>(place, known, seen, lanes, sink),
        (0b100, 0) => first::<T, 0b100>(place, known, seen, lanes, sink),
        (_, 0) => first::<T, 0b110>(place, known, seen, lanes, sink),
        (0b010, _) => others::<T, 0b010>(place, known, seen, lanes, sink),
        (0b100, _) => others::<T, 0b100>(place, known, seen, lanes, sink),
        _ => others::<T, 0b110>(place, known, seen, lanes, sink),
    }
}

#[inline(always)]
fn first<T: Element, const ODD: u32>(
    place: Place<'_>,
    known: &[T],
    mut seen: Seen<'_, T>,
    lanes: usize,
    mut sink: impl Sink<T>,
) {
    let lanes = lanes.min(PIECE) / VECTOR * VECTOR;
    let own = Taps::new::<ODD>(place.piece, known, lanes);
    let sites = Sites::of::<ODD>(place.piece, lanes);
    let mut bases = [T::ZERO; PIECE];
    let mut own_terms = [[T::ZERO; PIECE]; MAX_OWN];
    for i in 0..lanes {
        let stencil = own.stencil(&sites.at(i), i);
        let terms = terms(ODD, true, &stencil, &Past::NONE);
        sink.take(i, count(0, ODD, true), stencil.base, &terms);
        keep(i, &stencil, &mut bases, &mut own_terms);
    }
    let at = (place.in_tile, place.in_slice);
    seen.set(at, lanes, &bases, &own_terms, own_count(ODD));
}

#[inline(always)]
fn others<T: Element, const ODD: u32>(
    place: Place<'_>,
    known: &[T],
    mut seen: Seen<'_, T>,
    lanes: usize,
    mut sink: impl Sink<T>,
) {
    let lanes = lanes.min(PIECE) / VECTOR * VECTOR;
    let own = Taps::new::<ODD>(place.piece, known, lanes);
    // Spelled out: calls of `map` in a loop are not always inlined, and then the loop has no vectors.
    let [nearest, of_nearest] = place.past(0, known, &seen, lanes);
    let [second, of_second] = place.past(1, known, &seen, lanes);
    let [third, of_third] = place.past(2, known, &seen, lanes);
    let term = |term| seen.terms(place.in_tile - 1, term, place.in_slice, lanes);
    let (first, other) = ([term(0), term(1)], [term(2), term(3)]);
    let sites = Sites::of::<ODD>(place.piece, lanes);
    let mut bases = [T::ZERO; PIECE];
    let mut own_terms = [[T::ZERO; PIECE]; MAX_OWN];
    for i in 0..lanes {
        let stencil = own.stencil(&sites.at(i), i);
        let past = Past {
            differences: [
                nearest[i] - of_nearest[i],
                second[i] - of_second[i],
                third[i] - of_third[i],
            ],
            terms: [first[0][i], first[1][i], other[0][i], other[1][i]],
        };
        let terms = terms(ODD, false, &stencil, &past);
        sink.take(i, count(0, ODD, false), stencil.base, &terms);
        keep(i, &stencil, &mut bases, &mut own_terms);
    }
    let at = (place.in_tile, place.in_slice);
    seen.set(at, lanes, &bases, &own_terms, own_count(ODD));
}

/// Keeps a stencil for the slices behind it.
#[inline(always)]
fn keep<T: Copy>(
    i: usize,
    stencil: &Stencil<T>,
    bases: &mut [T; PIECE],
    terms: &mut [[T; PIECE]; MAX_OWN],
) {
    bases[i] = stencil.base;
    for (terms, term) in terms.iter_mut().zip(stencil.terms) {
        terms[i] = term;
    }
}

/// The sites of a piece's positions.
struct Sites<'a> {
    odd: u32,
    along_y: Order,
    is_inside_along_y: bool,
    next: &'a [bool],
    behind: &'a [bool],
    ahead: &'a [bool],
    inside: &'a [bool],
}

impl<'a> Sites<'a> {
    #[inline(always)]
    fn of<const ODD: u32>(piece: &Piece<'a>, lanes: usize) -> Self {
        let orders = piece.orders_along_x;
        Self {
            odd: ODD,
            along_y: piece.orders[1],
            is_inside_along_y: piece.inside[1],
            next: &orders.next[..lanes],
            behind: &orders.behind[..lanes],
            ahead: &orders.ahead[..lanes],
            inside: &piece.inside_along_x[..lanes],
        }
    }

    #[inline(always)]
    fn at(&self, i: usize) -> Site {
        let along_x = Order {
            next: self.next[i],
            behind: self.behind[i],
            ahead: self.ahead[i],
        };
        Site {
            odd: self.odd,
            orders: [self.along_y, along_x],
            inside: [self.is_inside_along_y, self.inside[i]],
        }
    }
}

/// Four values of each position of a piece. Those that a stencil does not read are the positions' own.
type Four<'v, T> = [&'v [T]; 4];

/// The values around the positions of a piece in one slice.
struct Taps<'v, T> {
    along_y: Four<'v, T>,
    along_x: Four<'v, T>,
    beside: Four<'v, T>,
}

impl<'v, T: Element> Taps<'v, T> {
    #[inline(always)]
    fn new<const ODD: u32>(piece: &Piece<'_>, known: &'v [T], lanes: usize) -> Self {
        let own = &known[piece.own..][..lanes];
        Self {
            along_y: match ODD & 0b010 {
                0 => [own; 4],
                _ => piece.across(1, ODD, known, lanes),
            },
            along_x: match ODD & 0b100 {
                0 => [own; 4],
                _ => piece.along_x(ODD, known, lanes),
            },
            beside: match ODD {
                0b010 => piece.beside(1, 2, 2, known, lanes),
                0b100 => piece.beside(2, 1, 2, known, lanes),
                _ => piece.beside(1, 2, 1, known, lanes),
            },
        }
    }

    #[inline(always)]
    fn stencil(&self, site: &Site, i: usize) -> Stencil<T> {
        let around = Around {
            along: [each(&self.along_y, i), each(&self.along_x, i)],
            beside: each(&self.beside, i),
        };
        Stencil::at(site, &around)
    }
}

#[inline(always)]
fn each<T: Copy>([a, b, c, d]: &Four<'_, T>, i: usize) -> [T; 4] {
    [a[i], b[i], c[i], d[i]]
}

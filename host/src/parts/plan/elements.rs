//! The elements of the coded field of a field whose parts are compressed one by one: each is made of its value when it is
//! read, so that a part reads only its own values and those of its neighbours.

use crate::cpu::blocks::compress::{ChunkValues, Lent};
use crate::cpu::code::fixed_length::Source;
use crate::cpu::tiles::codes::TileValues;
use ferrosz_codec::container::extents::{Extents, MAX_RANK};
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::{Element, Value};

/// The elements of a coded field in C order.
pub(super) trait Elements<T>: Sync {
    /// Fills a slice with the elements from this one on.
    fn read(&self, first: u64, elements: &mut [T]);

    /// All of them, if they are in memory.
    fn whole(&self) -> Option<&[T]> {
        None
    }
}

/// A field whose elements are its values, with its axes in their order.
pub(super) struct AsTheyAre<'a, T>(pub(super) &'a [T]);

impl<T: Element> Elements<T> for AsTheyAre<'_, T> {
    fn read(&self, first: u64, elements: &mut [T]) {
        elements.copy_from_slice(&self.0[first as usize..][..elements.len()]);
    }

    fn whole(&self) -> Option<&[T]> {
        Some(self.0)
    }
}

/// A field whose values are converted, or whose axes are turned.
pub(super) struct Mapped<'a, V> {
    field: &'a [V],
    conversion: Conversion,
    /// The lengths of the axes of the coded field, and how far apart in the user's field neighbours along them are.
    axes: Vec<(u64, u64)>,
}

impl<'a, V: Value> Mapped<'a, V> {
    /// A field whose coded field has these extents.
    pub(super) fn new(
        field: &'a [V],
        conversion: Conversion,
        order: &Order,
        coded: &Extents,
    ) -> Self {
        let of_user = order.user_extents(coded);
        let lengths = of_user.lengths();
        let mut strides = [1; MAX_RANK];
        for axis in (1..lengths.len()).rev() {
            strides[axis - 1] = strides[axis] * lengths[axis];
        }
        let strides = order.to_coded(&strides[..lengths.len()], 1);
        Self {
            field,
            conversion,
            axes: coded.lengths().iter().copied().zip(strides).collect(),
        }
    }
}

impl<V: Value> Elements<V::Coded> for Mapped<'_, V> {
    fn read(&self, first: u64, elements: &mut [V::Coded]) {
        let Some(((length, stride), slower)) = self.axes.split_last() else {
            return;
        };
        let (mut row, mut at) = (first / length, first % length);
        let mut rest = elements;
        while !rest.is_empty() {
            let (mut place, mut left) = (at * stride, row);
            for (length, stride) in slower.iter().rev() {
                place += left % length * stride;
                left /= length;
            }
            let count = rest.len().min((length - at) as usize);
            let (own, behind) = std::mem::take(&mut rest).split_at_mut(count);
            let values = self.field[place as usize..].iter();
            for (element, value) in own.iter_mut().zip(values.step_by(*stride as usize)) {
                *element = self.conversion.to_coded(*value);
            }
            (rest, at, row) = (behind, 0, row + 1);
        }
    }
}

/// The elements of the tiles of a grid.
pub(super) struct OfTiles<'a, T> {
    pub(super) grid: &'a TileGrid,
    pub(super) elements: &'a dyn Elements<T>,
}

impl<T: Element> TileValues<T> for OfTiles<'_, T> {
    fn read(&self, _: u64, at: [u64; 3], row: &mut [T]) {
        self.elements.read(self.grid.flat(at), row);
    }
}

/// The elements of the chunks of a grid.
pub(super) struct OfChunks<'a, T> {
    pub(super) grid: &'a Grid,
    pub(super) elements: &'a dyn Elements<T>,
}

impl<T: Element> ChunkValues<T> for OfChunks<'_, T> {
    fn source<'a>(&'a self, chunk: u64, lent: &'a mut Lent<T>) -> Source<'a, T> {
        if let Some(field) = self.elements.whole() {
            let grid = self.grid;
            return Source { field, grid, chunk };
        }
        let place = self.grid.chunk(chunk);
        lent.grid = Grid::alone(self.grid, &place);
        lent.values.resize(place.elements() as usize, T::ZERO);
        let ([z, y, x], [_, height, width]) = (place.origin, place.extents);
        for (row, elements) in (0..).zip(lent.values.chunks_mut(width as usize)) {
            let at = [z + row / u64::from(height), y + row % u64::from(height), x];
            self.elements.read(self.grid.flat(at), elements);
        }
        Source {
            field: &lent.values,
            grid: &lent.grid,
            chunk: 0,
        }
    }
}

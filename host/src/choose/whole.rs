//! Where a choice finds the whole field, to code it with its axes in one order or another.

use crate::choose::axes::{ElementRun, Turned};
use crate::choose::read_box;
use crate::error::Error;
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::mapping::axes::Order;

/// A field before its axes are turned.
pub(crate) trait WholeField<T> {
    /// The elements of boxes of the field with its axes in this order, each row by row.
    ///
    /// # Errors
    ///
    /// Those of whoever has the field.
    fn boxes(
        &mut self,
        order: &Order,
        grid: &Grid,
        places: &[ChunkBox],
    ) -> Result<Vec<Vec<T>>, Error>;

    /// The elements of runs, one behind the other.
    ///
    /// # Errors
    ///
    /// Those of whoever has the field.
    fn values(&mut self, runs: &[ElementRun]) -> Result<Vec<T>, Error>;
}

/// A field in memory.
pub(crate) struct InMemory<'a, T> {
    pub(crate) extents: &'a Extents,
    pub(crate) field: &'a [T],
}

impl<T: Element> InMemory<'_, T> {
    fn append(&self, run: ElementRun, values: &mut Vec<T>) {
        let numbers = (0..run.count).map(|i| (run.first + i * run.step) as usize);
        values.extend(numbers.map(|number| self.field[number]));
    }
}

impl<T: Element> WholeField<T> for InMemory<'_, T> {
    fn boxes(
        &mut self,
        order: &Order,
        grid: &Grid,
        places: &[ChunkBox],
    ) -> Result<Vec<Vec<T>>, Error> {
        if order.is_identity() {
            let read = |place| read_box(grid, place, self.field);
            return Ok(parallel::map(places.iter(), read));
        }
        let turned = Turned::new(self.extents, order);
        Ok(parallel::map(places.iter(), |place| {
            let mut values = Vec::with_capacity(place.elements() as usize);
            turned.runs_of(grid, place, &mut |run| self.append(run, &mut values));
            values
        }))
    }

    fn values(&mut self, runs: &[ElementRun]) -> Result<Vec<T>, Error> {
        let mut values = Vec::with_capacity(runs.len());
        runs.iter().for_each(|run| self.append(*run, &mut values));
        Ok(values)
    }
}

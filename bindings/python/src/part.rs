//! Boxes: the part of an array that an index names.

use crate::error::argument;
use ferrosz::level_extents_of_box;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PyTuple};
use std::ops::Range;

/// A box of an array, and the shape of the result.
pub struct IndexedBox {
    /// A range along each axis.
    pub ranges: Vec<Range<u64>>,
    /// How many values of the level they have, without axes that have an integer.
    pub shape: Vec<u64>,
    level: u32,
}

impl IndexedBox {
    /// The box that an index names as NumPy takes it: integers, slices of step 1, and at most one ellipsis, in a tuple
    /// or alone. Axes without an index are taken whole; the result has no axis for an integer.
    ///
    /// # Errors
    ///
    /// `ArgumentError`, which names the item and its axis.
    pub fn new(index: &Bound<'_, PyAny>, extents: &[u64]) -> PyResult<Self> {
        Self::of_level(index, extents, 0)
    }

    /// As [`IndexedBox::new`], with the shape of the values of a level in the box.
    ///
    /// # Errors
    ///
    /// `ArgumentError`, also for an integer that the level has not.
    pub fn of_level(index: &Bound<'_, PyAny>, extents: &[u64], level: u32) -> PyResult<Self> {
        let py = index.py();
        let items: Vec<Bound<'_, PyAny>> = match index.cast::<PyTuple>() {
            Ok(items) => items.iter().collect(),
            Err(_) => vec![index.clone()],
        };
        let is_ellipsis = |item: &Bound<'_, PyAny>| item.is_instance_of::<PyEllipsis>();
        let ellipses = items.iter().filter(|item| is_ellipsis(item)).count();
        let given = items.len() - ellipses;
        if ellipses > 1 {
            return Err(argument(py, "box: there is more than one ellipsis"));
        }
        if given > extents.len() {
            let message = format!(
                "box: {given} indices are too many for {} axes",
                extents.len()
            );
            return Err(argument(py, message));
        }
        let mut found = Self {
            ranges: Vec::new(),
            shape: Vec::new(),
            level,
        };
        for item in &items {
            match is_ellipsis(item) {
                true => found.whole(extents, extents.len() - given),
                false => found.index(item, extents)?,
            }
        }
        found.whole(extents, extents.len() - found.ranges.len());
        Ok(found)
    }

    /// Takes so many of the next axes whole.
    fn whole(&mut self, extents: &[u64], axes: usize) {
        for _ in 0..axes {
            self.slice(0..extents[self.ranges.len()]);
        }
    }

    /// Takes a range along the next axis.
    fn slice(&mut self, range: Range<u64>) {
        self.shape.push(self.values_in(range.clone()));
        self.ranges.push(range);
    }

    /// How many values the level has in a range.
    fn values_in(&self, range: Range<u64>) -> u64 {
        level_extents_of_box(&[range], self.level).iter().product()
    }

    /// Takes a slice or an integer along the next axis.
    fn index(&mut self, item: &Bound<'_, PyAny>, extents: &[u64]) -> PyResult<()> {
        let (py, axis) = (item.py(), self.ranges.len());
        let length = extents[axis];
        if let Ok(slice) = item.cast::<PySlice>() {
            let indices = isize::try_from(length)
                .map_err(|_| {
                    argument(
                        py,
                        format!("box: axis {axis} of length {length} is too long for a slice"),
                    )
                })
                .and_then(|length| slice.indices(length))?;
            if indices.step != 1 {
                let message = format!(
                    "box: {item} of axis {axis} has the step {}, not 1",
                    indices.step
                );
                return Err(argument(py, message));
            }
            let start = indices.start as u64;
            self.slice(start..start.max(indices.stop as u64));
            return Ok(());
        }
        let at: i64 = item.extract().map_err(|cause| {
            let message =
                format!("box: {item} of axis {axis} is not an integer, a slice or an ellipsis");
            let error = argument(py, message);
            error.set_cause(py, Some(cause));
            error
        })?;
        let from_start = if at < 0 {
            at.saturating_add_unsigned(length)
        } else {
            at
        };
        match u64::try_from(from_start) {
            Ok(at) if at < length && self.values_in(at..at + 1) == 0 => {
                let level = self.level;
                let message = format!(
                    "box: {at} of axis {axis} is not in level {level}: it cannot be divided by 2^{level}"
                );
                Err(argument(py, message))
            }
            Ok(at) if at < length => {
                self.ranges.push(at..at + 1);
                Ok(())
            }
            _ => {
                let message = format!("box: {at} is outside axis {axis} of length {length}");
                Err(argument(py, message))
            }
        }
    }
}

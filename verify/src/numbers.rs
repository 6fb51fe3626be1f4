//! The numbers of values, for comparisons: halves and integers as floating-point numbers that hold them exactly.

use bytemuck::cast_slice;
use ferrosz::scratch::{Coded, Copies, Scratch};
use ferrosz::{Error, Value};
use rayon::prelude::*;

/// The numbers of an array. Two values have the same bits if and only if their numbers do.
///
/// # Errors
///
/// [`Error::OutOfMemory`]; [`Error::TemporaryFile`].
pub fn numbers<V: Value>(values: &[V]) -> Result<Coded<'_, V::Coded>, Error> {
    if V::TYPE.is_coded_as_is() {
        return Ok(Coded::Field(cast_slice(values)));
    }
    let mut numbers = Scratch::<V::Coded>::zeroed(Copies::InFiles, values.len() as u64)?;
    let pairs = numbers.par_iter_mut().zip(values);
    pairs.for_each(|(number, value)| *number = value.widened());
    Ok(Coded::Copy(numbers))
}

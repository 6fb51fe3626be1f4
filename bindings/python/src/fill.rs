//! `detect_fill`: the values that stand for missing elements.

use crate::array_in::Field;
use crate::masked;
use crate::pool;
use ferrosz::codec::with_value;
use ferrosz::{Fill, Value};
use pyo3::prelude::*;

/// The values of an array that look like fill values: repeated values far outside the others, such as 1e20 or -9999, and
/// NaN if there are many. They are those that `compress` keeps apart by itself.
///
/// Of a masked array they have its fill value, which stands for the elements that are masked.
///
/// >>> array = np.linspace(270, 290, 1000, dtype="float32")
/// >>> array[100:200] = -9999
/// >>> ferrosz.detect_fill(array)
/// [-9999.0]
#[pyfunction]
pub fn detect_fill(array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let (array, of_mask) = masked::split(array)?;
    let field = Field::new(&array)?;
    let detect = || with_value!(field.value_type(), V => detect(field.values::<V>()));
    let mut found = array.py().detach(|| pool::run(detect))?;
    for fill in of_mask {
        if !found.iter().any(|known| known.to_bits() == fill.to_bits()) {
            found.push(fill);
        }
    }
    Ok(found)
}

fn detect<V: Value>(values: &[V]) -> Vec<f64> {
    let number = |fill| match fill {
        Fill::Value(value) => value,
        Fill::Nan => f64::NAN,
        Fill::Bits(bits) => V::from_value_bits(bits).to_number(),
    };
    Fill::detect(values).into_iter().map(number).collect()
}

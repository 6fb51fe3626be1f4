//! The arguments that an object was made with: what `repr`, `==`, `hash`, `pickle` and `copy` go by.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Arguments by name: numbers, strings and lists of them.
pub struct Arguments(Py<PyDict>);

impl Arguments {
    /// Those that are not `None`, which stands for a default.
    ///
    /// # Errors
    ///
    /// Those of dictionaries.
    pub fn new(given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let kept = PyDict::new(given.py());
        for (name, value) in given.iter().filter(|(_, value)| !value.is_none()) {
            kept.set_item(name, value)?;
        }
        Ok(Self(kept.unbind()))
    }

    /// The call that makes an equal object, such as `ferrosz.Compressor(abs=0.001)`.
    ///
    /// # Errors
    ///
    /// Those of `repr`.
    pub fn call(&self, py: Python<'_>, class: &str) -> PyResult<String> {
        let items = self.0.bind(py).iter();
        let items: PyResult<Vec<String>> = items
            .map(|(name, value)| Ok(format!("{name}={}", value.repr()?)))
            .collect();
        Ok(format!("ferrosz.{class}({})", items?.join(", ")))
    }

    /// Whether two objects were made with the same arguments. NaN is the same as NaN.
    ///
    /// # Errors
    ///
    /// Those of `repr`.
    pub fn is_same(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        Ok(self.call(py, "")? == other.call(py, "")?)
    }

    /// A hash that is equal for the same arguments.
    ///
    /// # Errors
    ///
    /// Those of `repr`.
    pub fn hash(&self, py: Python<'_>) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        self.call(py, "")?.hash(&mut hasher);
        Ok(hasher.finish())
    }

    /// What `__reduce__` returns for an object of this class.
    ///
    /// # Errors
    ///
    /// Those of imports.
    pub fn reduced<'py>(&self, class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyTuple>> {
        let py = class.py();
        let make = py.import("copyreg")?.getattr("__newobj_ex__")?;
        (make, (class, PyTuple::empty(py), self.0.bind(py))).into_pyobject(py)
    }
}

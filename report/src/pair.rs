//! A field and its reconstruction, value by value.

use ferrosz::Value;

/// A field and its reconstruction.
pub struct Pair<'a, V> {
    original: &'a [V],
    decoded: &'a [V],
    /// Lengths, slowest first.
    pub extents: Vec<usize>,
    /// The values of missing elements.
    fills: &'a [f64],
}

impl<'a, V: Value> Pair<'a, V> {
    /// Two arrays of these extents, whose elements with a fill value are missing.
    pub fn new(
        original: &'a [V],
        decoded: &'a [V],
        extents: &[u64],
        fills: &'a [f64],
    ) -> Pair<'a, V> {
        Self {
            original,
            decoded,
            extents: extents.iter().map(|length| *length as usize).collect(),
            fills,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.original.len().min(self.decoded.len())
    }

    /// A value of the original; none if it is missing, NaN or infinite.
    pub fn original(&self, at: usize) -> Option<f64> {
        let value = self.original.get(at)?.to_number();
        (value.is_finite() && !self.fills.contains(&value)).then_some(value)
    }

    /// A value and what it came back as; none if either is no number. A value that comes back as none is the judge's.
    pub fn both(&self, at: usize) -> Option<(f64, f64)> {
        let value = self.original(at)?;
        let back = self.decoded.get(at)?.to_number();
        back.is_finite().then_some((value, back))
    }

    /// The number of elements from one to its neighbour, of each axis.
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.extents.len()];
        for axis in (1..self.extents.len()).rev() {
            strides[axis - 1] = strides[axis] * self.extents[axis];
        }
        strides
    }

    /// The index of an element along each axis.
    pub fn index(&self, at: usize) -> Vec<usize> {
        let strides = self.strides();
        let index = |(stride, length): (&usize, &usize)| at / stride % (*length).max(1);
        strides.iter().zip(&self.extents).map(index).collect()
    }

    /// The axes with more than one value, fastest first.
    pub fn long_axes(&self) -> Vec<usize> {
        let axes = (0..self.extents.len()).rev();
        axes.filter(|axis| self.extents[*axis] > 1).collect()
    }

    /// The axes along which there is something to see: of at least 8 values, the two fastest of them; else the longest.
    pub fn line_axes(&self) -> Vec<usize> {
        let long: Vec<usize> = self.long_axes();
        let of_eight: Vec<usize> = (long.iter().copied())
            .filter(|axis| self.extents[*axis] >= 8)
            .take(2)
            .collect();
        match of_eight.is_empty() {
            true => {
                let longest = long.into_iter().max_by_key(|axis| self.extents[*axis]);
                longest.into_iter().collect()
            }
            false => of_eight,
        }
    }
}

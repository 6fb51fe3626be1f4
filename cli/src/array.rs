//! Arrays of the command: their types, lengths and values.

use crate::{failure::Failure, values::Values};
use ferrosz::codec::container::extents::MAX_RANK;
use ferrosz::codec::mapping::axes::PARTS;
use ferrosz::codec::value::types;
use ferrosz::codec::with_toys;
use ferrosz::{Fill, Info, Part, Value, ValueType};
use std::fmt;

/// An array of one type.
#[derive(Debug, PartialEq)]
pub struct Array<T: Value> {
    /// Lengths, slowest first: at most [`MAX_RANK`].
    pub extents: Vec<u64>,
    /// Whether the last axis, of length 2, has the parts of complex numbers.
    pub is_complex: bool,
    /// The values in memory order.
    pub values: Values<T>,
}

impl<V: Value> Array<V> {
    /// The type of the array's values, and its lengths.
    pub fn shape(&self) -> Shape {
        Shape {
            of: ArrayType {
                dtype: V::TYPE,
                is_complex: self.is_complex,
            },
            extents: self.extents.clone(),
        }
    }
}

// Each row is a value type: the name of its variant, and of the type in `.npy` files behind the order of its bytes. NumPy has
// none for bfloat16, and writes values without a type. `$d` is a dollar sign, for the macro that this macro defines.
macro_rules! fields {
    ($d:tt $($variant:ident, $npy:literal;)+) => {
        /// An array of any value type.
        #[derive(Debug, PartialEq)]
        pub enum Field {
            $(
                #[doc = concat!("Of [`ValueType::", stringify!($variant), "`].")]
                $variant(Array<types::$variant>),
            )+
        }

        $(
            impl From<Array<types::$variant>> for Field {
                fn from(array: Array<types::$variant>) -> Self {
                    Self::$variant(array)
                }
            }
        )+

        /// The name of a type in `.npy` files.
        pub const fn npy_name(dtype: ValueType) -> &'static str {
            match dtype {
                $(ValueType::$variant => $npy,)+
            }
        }

        /// Evaluates an expression with the array of a field, for every value type.
        #[macro_export]
        macro_rules! with_field {
            ($d field:expr, $d array:ident => $d body:expr) => {
                match $d field {
                    $($crate::array::Field::$variant($d array) => $d body,)+
                }
            };
        }
    };
}

with_toys! { fields! { $
    F32, "f4";
    F64, "f8";
    F16, "f2";
    Bf16, "V2";
    I16, "i2";
    U16, "u2";
    I32, "i4";
    U32, "u4";
}
    ToyValue, "i1";
    ToyElement, "V4";
}

/// Evaluates a result with the array of a field of `f32` or `f64`; other fields are refused.
#[macro_export]
macro_rules! with_element_field {
    ($field:expr, $array:ident => $body:expr) => {
        match $field {
            $crate::array::Field::F32($array) => $body,
            $crate::array::Field::F64($array) => $body,
            other => Err(other.is_not_of_elements()),
        }
    };
}

impl Field {
    /// The type of the field's values, and its lengths.
    pub fn shape(&self) -> Shape {
        with_field!(self, array => array.shape())
    }

    /// The refusal of a command that takes `f32` and `f64` alone.
    pub fn is_not_of_elements(&self) -> Failure {
        Failure::failed(format_args!(
            "the array holds {} values, and this command takes f32 and f64",
            self.shape().of
        ))
    }

    /// Refuses complex numbers, of which a command or an option knows nothing.
    ///
    /// # Errors
    ///
    /// If the field is of complex numbers.
    pub fn check_real(&self, what: &str) -> Result<(), Failure> {
        match self.shape().of.is_complex {
            true => Err(Failure::failed(format_args!(
                "the array holds complex numbers, and {what} takes real values: give it their parts, as in NumPy \
                 a.view(a.real.dtype)"
            ))),
            false => Ok(()),
        }
    }
}

/// The array of a file.
#[derive(Debug, PartialEq)]
pub struct Input {
    /// The array.
    pub field: Field,
    /// The values of missing elements, if the file names them.
    pub fills: Vec<Fill>,
    /// The unit of the values; empty if it is not known.
    pub unit: String,
    /// What a user should know about how the values were read.
    pub notes: Vec<String>,
}

impl Input {
    /// An array of which no more is known.
    pub fn new(field: Field) -> Self {
        Self {
            field,
            fills: Vec::new(),
            unit: String::new(),
            notes: Vec::new(),
        }
    }
}

/// The type of an array: that of its values, which may be the parts of complex numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayType {
    /// Type of the values.
    pub dtype: ValueType,
    /// Whether they are the real and imaginary parts of complex numbers.
    pub is_complex: bool,
}

impl ArrayType {
    /// The types of complex numbers: their names, and the types of their parts.
    pub const COMPLEX: [(&'static str, ValueType); 2] =
        [("c64", ValueType::F32), ("c128", ValueType::F64)];

    /// A type of real values.
    pub const fn real(dtype: ValueType) -> Self {
        Self {
            dtype,
            is_complex: false,
        }
    }

    /// The name: `c64` and `c128` of complex numbers.
    pub fn name(self) -> &'static str {
        let mut complex = Self::COMPLEX.iter();
        let found = complex.find(|(_, parts)| self.is_complex && *parts == self.dtype);
        found.map_or(self.dtype.name(), |(name, _)| name)
    }

    /// The extents of the values of an array whose numbers have these.
    pub fn of_values(self, mut numbers: Vec<u64>) -> Vec<u64> {
        if self.is_complex {
            numbers.push(PARTS);
        }
        numbers
    }

    /// A part of an array's numbers as a part of its values.
    pub fn part_of_values(self, numbers: &Part) -> Part {
        match self.is_complex {
            true => numbers.of_parts(),
            false => numbers.clone(),
        }
    }

    /// The extents of the numbers of an array whose values have these.
    pub fn of_numbers(self, values: &[u64]) -> &[u64] {
        match (self.is_complex, values.split_last()) {
            (true, Some((_, numbers))) => numbers,
            _ => values,
        }
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of an array, and the lengths of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The type.
    pub of: ArrayType,
    /// Lengths, slowest first: at most [`MAX_RANK`]. Of complex numbers the last one is that of their parts.
    pub extents: Vec<u64>,
}

impl Shape {
    /// The shape of a stream's array.
    pub fn of_stream(info: &Info) -> Self {
        Self {
            of: ArrayType {
                dtype: info.dtype,
                is_complex: info.is_complex,
            },
            extents: info.extents.clone(),
        }
    }

    /// The lengths of the array's numbers.
    pub fn numbers(&self) -> &[u64] {
        self.of.of_numbers(&self.extents)
    }

    /// Number of elements; none if the number of their bytes exceeds `u64`.
    pub fn elements(&self) -> Option<u64> {
        let elements =
            (self.extents.iter()).try_fold(1u64, |product, length| product.checked_mul(*length))?;
        elements.checked_mul(self.of.dtype.bytes() as u64)?;
        Some(elements)
    }

    /// Number of the array's numbers; none if the number of their bytes exceeds `u64`.
    pub fn numbers_count(&self) -> Option<u64> {
        let values = self.elements()?;
        Some(match self.of.is_complex {
            true => values / PARTS,
            false => values,
        })
    }

    /// The lengths as an argument of `--dims`.
    pub fn dims(&self) -> String {
        let lengths: Vec<String> = self.numbers().iter().map(u64::to_string).collect();
        lengths.join(",")
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.numbers().is_empty() {
            true => write!(f, "one {} value without dimensions", self.of),
            false => write!(f, "{} values of dimensions {}", self.of, self.dims()),
        }
    }
}

/// At most [`MAX_RANK`] lengths: if there are more, the leading ones are multiplied.
pub fn merge_leading(shape: &[u64]) -> Option<Vec<u64>> {
    let (leading, rest) = shape.split_at((shape.len() + 1).saturating_sub(MAX_RANK));
    let merged = (leading.iter()).try_fold(1u64, |product, length| product.checked_mul(*length))?;
    let merged = (!leading.is_empty()).then_some(merged);
    Some(merged.into_iter().chain(rest.iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_dimensions_are_merged() {
        let many: Vec<u64> = (2..).take(MAX_RANK + 2).collect();
        let merged = merge_leading(&many).unwrap();
        assert_eq!(merged[0], 2 * 3 * 4);
        assert_eq!(merged[1..], many[3..]);
        for kept in [&many[..MAX_RANK], &[4, 5], &[7], &[]] {
            assert_eq!(merge_leading(kept).as_deref(), Some(kept));
        }
        let long = [&[u64::MAX, 2][..], &[1; MAX_RANK]].concat();
        assert_eq!(merge_leading(&long), None);
    }
}

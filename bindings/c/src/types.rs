//! The types of values, and the modes of bounds, by their numbers in streams.

use crate::error::Failure;
use ferrosz::{BoundMode, ValueType};

/// The type of the values of a field: its number in streams, which never changes.
#[expect(non_camel_case_types, reason = "its name in C")]
pub type ferrosz_type = i32;

/// IEEE 754 binary32: `float`.
pub const FERROSZ_F32: ferrosz_type = 1;
/// IEEE 754 binary64: `double`.
pub const FERROSZ_F64: ferrosz_type = 2;
/// IEEE 754 binary16: `_Float16`.
pub const FERROSZ_F16: ferrosz_type = 3;
/// bfloat16: the upper half of a binary32.
pub const FERROSZ_BF16: ferrosz_type = 4;
/// `int16_t`.
pub const FERROSZ_I16: ferrosz_type = 5;
/// `uint16_t`.
pub const FERROSZ_U16: ferrosz_type = 6;
/// `int32_t`.
pub const FERROSZ_I32: ferrosz_type = 7;
/// `uint32_t`.
pub const FERROSZ_U32: ferrosz_type = 8;

/// What an error bound E is relative to: its number in streams, which never changes.
#[expect(non_camel_case_types, reason = "its name in C")]
pub type ferrosz_bound_mode = i32;

/// |x - x'| <= E.
pub const FERROSZ_ABS: ferrosz_bound_mode = 0;
/// |x - x'| <= E (max - min of the finite values).
pub const FERROSZ_RANGE: ferrosz_bound_mode = 1;
/// |x - x'| <= E (max |x| of the finite values).
pub const FERROSZ_MAX: ferrosz_bound_mode = 2;
/// |x - x'| <= E |x|, for each value; zeros and signs come back.
pub const FERROSZ_PWREL: ferrosz_bound_mode = 3;

/// The value type of a number.
pub(crate) fn value_type(number: ferrosz_type) -> Result<ValueType, Failure> {
    let found = u8::try_from(number).ok().and_then(ValueType::from_id);
    found.ok_or_else(|| Failure::argument("type", format!("{number} is not the number of a type")))
}

/// The mode of a bound of a number.
pub(crate) fn bound_mode(number: ferrosz_bound_mode) -> Result<BoundMode, Failure> {
    let found = u8::try_from(number).ok().and_then(BoundMode::from_id);
    found.ok_or_else(|| {
        let reason = format!("{number} is not the number of a mode of bounds");
        Failure::argument("bound_mode", reason)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_streams() {
        let types = [
            FERROSZ_F32,
            FERROSZ_F64,
            FERROSZ_F16,
            FERROSZ_BF16,
            FERROSZ_I16,
            FERROSZ_U16,
            FERROSZ_I32,
            FERROSZ_U32,
        ];
        assert_eq!(
            types.map(|number| value_type(number).unwrap()),
            ValueType::ALL
        );
        let modes = [FERROSZ_ABS, FERROSZ_RANGE, FERROSZ_MAX, FERROSZ_PWREL];
        assert_eq!(
            modes.map(|number| bound_mode(number).unwrap()),
            BoundMode::ALL
        );
        for number in [0, 9, -1, 257] {
            assert!(value_type(number).is_err());
        }
        for number in [4, -1, 256] {
            assert!(bound_mode(number).is_err());
        }
    }
}

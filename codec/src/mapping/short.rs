//! The conversion of values of 16 bits by their type at run time, as kernels need it: so one kernel serves all types.
//!
//! It is that of [`Conversion`](crate::mapping::conversion::Conversion).

use crate::element::Element;
use crate::mapping::conversion::{Kind, bits_of_order, order_of};
use crate::value::{HalfFormat, Value, ValueType};

/// Calls a macro with its own arguments, followed by the name and type of every type of values of 16 bits.
#[macro_export]
macro_rules! each_short {
    ([$($macro:tt)+] $($arguments:tt)*) => {
        $($macro)+! {
            $($arguments)*
            ("f16" $crate::value::F16) ("bf16" $crate::value::Bf16) ("i16" i16) ("u16" u16)
        }
    };
}

/// An expression in which `V` is the type of values of 16 bits that a [`ValueType`] names at run time; another one if it
/// names none.
#[macro_export]
macro_rules! with_short {
    ($value_type:expr, $V:ident => $body:expr, $other:expr) => {
        match $value_type {
            $crate::value::ValueType::F16 => {
                type $V = $crate::value::F16;
                $body
            }
            $crate::value::ValueType::Bf16 => {
                type $V = $crate::value::Bf16;
                $body
            }
            $crate::value::ValueType::I16 => {
                type $V = i16;
                $body
            }
            $crate::value::ValueType::U16 => {
                type $V = u16;
                $body
            }
            _ => $other,
        }
    };
}

/// How values of 16 bits become elements, and elements values.
#[derive(Debug, Clone, Copy)]
pub enum Short {
    /// A binary16 becomes the same number.
    F16,
    /// A bfloat16 becomes the same number.
    Bf16,
    /// A binary16 becomes its number among all values of its type in their order.
    OrderedF16,
    /// A bfloat16 becomes its number among all values of its type in their order.
    OrderedBf16,
    /// An integer with a sign becomes the same number.
    Signed,
    /// An integer without a sign becomes the same number.
    Unsigned,
}

impl Short {
    /// The conversion of a type of this number in the stream by a kind of this number. None if values of the type are not
    /// of 16 bits, or have no such conversion.
    #[inline(always)]
    pub const fn from_ids(value_type: u32, kind: u32) -> Option<Self> {
        const WIDENED: u32 = Kind::Widened.id() as u32;
        const ORDERED: u32 = Kind::Ordered.id() as u32;
        const F16: u32 = ValueType::F16.id() as u32;
        const BF16: u32 = ValueType::Bf16.id() as u32;
        const I16: u32 = ValueType::I16.id() as u32;
        const U16: u32 = ValueType::U16.id() as u32;
        match (value_type, kind) {
            (F16, WIDENED) => Some(Self::F16),
            (BF16, WIDENED) => Some(Self::Bf16),
            (F16, ORDERED) => Some(Self::OrderedF16),
            (BF16, ORDERED) => Some(Self::OrderedBf16),
            (I16, WIDENED) => Some(Self::Signed),
            (U16, WIDENED) => Some(Self::Unsigned),
            _ => None,
        }
    }

    /// The element of the value of these bits.
    #[inline(always)]
    pub fn to_coded(self, bits: u16) -> f32 {
        match self {
            Self::F16 => HalfFormat::F16.widen(bits),
            Self::Bf16 => HalfFormat::BF16.widen(bits),
            Self::OrderedF16 | Self::OrderedBf16 => f32::from_i32(order_of(bits)),
            Self::Signed => bits.cast_signed().widened(),
            Self::Unsigned => bits.widened(),
        }
    }

    /// The bits of the value of a decoded element.
    #[inline(always)]
    pub fn to_bits(self, coded: f32) -> u16 {
        match self {
            Self::F16 => HalfFormat::F16.narrow(coded),
            Self::Bf16 => HalfFormat::BF16.narrow(coded),
            Self::OrderedF16 if coded.is_nan() => HalfFormat::F16.nan(),
            Self::OrderedBf16 if coded.is_nan() => HalfFormat::BF16.nan(),
            Self::OrderedF16 | Self::OrderedBf16 => bits_of_order(i16::narrowed(coded, 0)),
            Self::Signed => i16::narrowed(coded, 0).cast_unsigned(),
            Self::Unsigned => u16::narrowed(coded, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::conversion::Conversion;

    #[test]
    fn shorts_are_converted_as_by_their_types() {
        let mut found = 0;
        for value_type in ValueType::ALL {
            for kind in Kind::ALL {
                let ids = (u32::from(value_type.id()), u32::from(kind.id()));
                let short = Short::from_ids(ids.0, ids.1);
                let is_short = value_type.bytes() == 2;
                assert_eq!(short.is_some(), is_short && kind.takes(value_type));
                let Some(short) = short else { continue };
                let conversion = Conversion::of(value_type, kind);
                found += 1;
                with_value!(value_type, V => {
                    let wanted = |bits: u16| {
                        let coded = conversion.to_coded(V::from_value_bits(bits.into()));
                        coded.to_bits64()
                    };
                    let back = |coded: f32| {
                        let coded = <V as Value>::Coded::from_bits64(coded.to_bits().into());
                        conversion.to_value::<V>(coded).to_value_bits()
                    };
                    for bits in 0..=u16::MAX {
                        let coded = short.to_coded(bits);
                        assert_eq!(u64::from(coded.to_bits()), wanted(bits), "{value_type}, {bits:x}");
                        assert_eq!(short.to_bits(coded), bits, "{value_type}, {coded}");
                    }
                    for bits in (0..=u32::MAX).step_by(40_009) {
                        let coded = f32::from_bits(bits);
                        assert_eq!(u64::from(short.to_bits(coded)), back(coded), "{value_type}, {coded:e}");
                    }
                });
            }
        }
        assert_eq!(found, 6);
    }
}

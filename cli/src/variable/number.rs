//! The numbers that files hold, which are more types than ferrosz compresses.

use bytemuck::Pod;
use ferrosz::scratch::Scratch;
use ferrosz::{Bf16, F16, Value};

/// A type of numbers that fill their bytes: two's complement, unsigned, or IEEE 754.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberType {
    /// Signed, of 8 bits.
    I8,
    /// Unsigned, of 8 bits.
    U8,
    /// Signed, of 16 bits.
    I16,
    /// Unsigned, of 16 bits.
    U16,
    /// Signed, of 32 bits.
    I32,
    /// Unsigned, of 32 bits.
    U32,
    /// Signed, of 64 bits.
    I64,
    /// Unsigned, of 64 bits.
    U64,
    /// Half precision.
    F16,
    /// The upper half of single precision.
    Bf16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl NumberType {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Whether the type has no sign; none for floating-point types.
    pub fn is_unsigned(self) -> Option<bool> {
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Some(true),
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => Some(false),
            Self::F16 | Self::Bf16 | Self::F32 | Self::F64 => None,
        }
    }

    /// The type of as many bits with the other sign; a floating-point type as it is.
    pub fn turned(self) -> Self {
        match self {
            Self::I8 => Self::U8,
            Self::U8 => Self::I8,
            Self::I16 => Self::U16,
            Self::U16 => Self::I16,
            Self::I32 => Self::U32,
            Self::U32 => Self::I32,
            Self::I64 => Self::U64,
            Self::U64 => Self::I64,
            Self::F16 | Self::Bf16 | Self::F32 | Self::F64 => self,
        }
    }

    /// The number of some little-endian bytes; none if they are not as many as the type has.
    pub fn number(self, bytes: &[u8]) -> Option<f64> {
        /// As many bytes as a number has.
        fn of<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
            bytes.try_into().ok()
        }
        Some(match self {
            Self::I8 => i8::from_le_bytes(of(bytes)?).into(),
            Self::U8 => u8::from_le_bytes(of(bytes)?).into(),
            Self::I16 => i16::from_le_bytes(of(bytes)?).into(),
            Self::U16 => u16::from_le_bytes(of(bytes)?).into(),
            Self::I32 => i32::from_le_bytes(of(bytes)?).into(),
            Self::U32 => u32::from_le_bytes(of(bytes)?).into(),
            Self::I64 => i64::from_le_bytes(of(bytes)?) as f64,
            Self::U64 => u64::from_le_bytes(of(bytes)?) as f64,
            Self::F16 => F16::from_value_bits(u16::from_le_bytes(of(bytes)?).into()).to_number(),
            Self::Bf16 => Bf16::from_value_bits(u16::from_le_bytes(of(bytes)?).into()).to_number(),
            Self::F32 => f32::from_le_bytes(of(bytes)?).into(),
            Self::F64 => f64::from_le_bytes(of(bytes)?),
        })
    }

    /// The number of the type that is nearest to this one; none if it is no number of an integer type.
    pub fn nearest(self, number: f64) -> Option<f64> {
        let (least, most) = match self {
            Self::F16 => return F16::from_number(number).map(F16::to_number),
            Self::Bf16 => return Bf16::from_number(number).map(Bf16::to_number),
            Self::F32 => return Some(f64::from(number as f32)),
            Self::F64 => return Some(number),
            Self::I8 => (i8::MIN.into(), i8::MAX.into()),
            Self::U8 => (0.0, u8::MAX.into()),
            Self::I16 => (i16::MIN.into(), i16::MAX.into()),
            Self::U16 => (0.0, u16::MAX.into()),
            Self::I32 => (i32::MIN.into(), i32::MAX.into()),
            Self::U32 => (0.0, u32::MAX.into()),
            Self::I64 => (i64::MIN as f64, i64::MAX as f64),
            Self::U64 => (0.0, u64::MAX as f64),
        };
        (number.fract() == 0.0 && (least..=most).contains(&number)).then_some(number)
    }
}

/// The numbers of a variable.
pub enum Numbers {
    /// Of `i8`.
    I8(Scratch<i8>),
    /// Of `u8`.
    U8(Scratch<u8>),
    /// Of `i16`.
    I16(Scratch<i16>),
    /// Of `u16`.
    U16(Scratch<u16>),
    /// Of `i32`.
    I32(Scratch<i32>),
    /// Of `u32`.
    U32(Scratch<u32>),
    /// Of `i64`.
    I64(Scratch<i64>),
    /// Of `u64`.
    U64(Scratch<u64>),
    /// Of `f16`.
    F16(Scratch<F16>),
    /// Of `bf16`.
    Bf16(Scratch<Bf16>),
    /// Of `f32`.
    F32(Scratch<f32>),
    /// Of `f64`.
    F64(Scratch<f64>),
}

/// A type with which [`Numbers`] are made.
pub trait Number: Pod {
    /// The numbers of a variable that has this type.
    fn numbers(numbers: Scratch<Self>) -> Numbers;
}

/// Says which variant of [`Numbers`] a type has.
macro_rules! number {
    ($($T:ident $Variant:ident),*) => {$(
        impl Number for $T {
            fn numbers(numbers: Scratch<Self>) -> Numbers {
                Numbers::$Variant(numbers)
            }
        }
    )*};
}

number!(i8 I8, u8 U8, i16 I16, u16 U16, i32 I32, u32 U32, i64 I64, u64 U64, F16 F16, Bf16 Bf16, f32 F32, f64 F64);

/// Evaluates an expression with the type of a number type's numbers.
macro_rules! with_number {
    ($number_type:expr, $T:ident => $body:expr) => {
        match $number_type {
            $crate::variable::number::NumberType::I8 => {
                type $T = i8;
                $body
            }
            $crate::variable::number::NumberType::U8 => {
                type $T = u8;
                $body
            }
            $crate::variable::number::NumberType::I16 => {
                type $T = i16;
                $body
            }
            $crate::variable::number::NumberType::U16 => {
                type $T = u16;
                $body
            }
            $crate::variable::number::NumberType::I32 => {
                type $T = i32;
                $body
            }
            $crate::variable::number::NumberType::U32 => {
                type $T = u32;
                $body
            }
            $crate::variable::number::NumberType::I64 => {
                type $T = i64;
                $body
            }
            $crate::variable::number::NumberType::U64 => {
                type $T = u64;
                $body
            }
            $crate::variable::number::NumberType::F16 => {
                type $T = ferrosz::F16;
                $body
            }
            $crate::variable::number::NumberType::Bf16 => {
                type $T = ferrosz::Bf16;
                $body
            }
            $crate::variable::number::NumberType::F32 => {
                type $T = f32;
                $body
            }
            $crate::variable::number::NumberType::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}
pub(crate) use with_number;

//! The integers that codes can be.

use crate::recipe::CodeWidth;

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
}

/// The integers that codes can be: `u8`, `u16` or `u32`.
pub trait Code: bytemuck::Pod + Send + Sync + sealed::Sealed {
    /// The width of the codes.
    const WIDTH: CodeWidth;
    /// The low bits of a number.
    fn from_u32(code: u32) -> Self;
    /// The number.
    fn to_u32(self) -> u32;
}

impl Code for u8 {
    const WIDTH: CodeWidth = CodeWidth::U8;

    fn from_u32(code: u32) -> Self {
        code as u8
    }

    fn to_u32(self) -> u32 {
        self.into()
    }
}

impl Code for u16 {
    const WIDTH: CodeWidth = CodeWidth::U16;

    fn from_u32(code: u32) -> Self {
        code as u16
    }

    fn to_u32(self) -> u32 {
        self.into()
    }
}

impl Code for u32 {
    const WIDTH: CodeWidth = CodeWidth::U32;

    fn from_u32(code: u32) -> Self {
        code
    }

    fn to_u32(self) -> u32 {
        self
    }
}

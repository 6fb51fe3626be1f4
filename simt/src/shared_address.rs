//! Addresses in shared memory.

use core::ops::{Add, AddAssign, Sub};

/// An address in shared memory, in bytes. It goes on and back by bytes, and no array's length is known to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct SharedAddress(u32);

impl SharedAddress {
    /// The address of a number that [`SharedAddress::bytes`] gave, or that is made from one.
    #[inline(always)]
    pub const fn from_bytes(bytes: u32) -> Self {
        Self(bytes)
    }

    /// The address as a number, for example for a shuffle.
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        self.0
    }

    /// The address so many bytes on, or back.
    #[inline(always)]
    pub const fn offset(self, bytes: i32) -> Self {
        Self(self.0.wrapping_add_signed(bytes))
    }
}

impl Add<u32> for SharedAddress {
    type Output = Self;
    #[inline(always)]
    fn add(self, bytes: u32) -> Self {
        Self(self.0 + bytes)
    }
}

impl AddAssign<u32> for SharedAddress {
    #[inline(always)]
    fn add_assign(&mut self, bytes: u32) {
        self.0 += bytes;
    }
}

impl Sub<u32> for SharedAddress {
    type Output = Self;
    #[inline(always)]
    fn sub(self, bytes: u32) -> Self {
        Self(self.0 - bytes)
    }
}

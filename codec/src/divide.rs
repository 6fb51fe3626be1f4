//! Division of numbers that are mostly small.

/// The quotient and the remainder of a division; a divisor of 0 counts as 1. On a GPU a division of 32 bits takes a fifth
/// of the instructions of one of 64 bits.
#[inline(always)]
pub const fn divide(number: u64, by: u64) -> (u64, u64) {
    let by = if by == 0 { 1 } else { by };
    if (number | by) >> 32 == 0 {
        // LLVM does not see that the low half is not 0, either.
        let (number, by) = (number as u32, by as u32 | (by as u32 == 0) as u32);
        ((number / by) as u64, (number % by) as u64)
    } else {
        (number / by, number % by)
    }
}

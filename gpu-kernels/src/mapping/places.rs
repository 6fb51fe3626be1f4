//! Where the elements of the coded field are among those of the user, whose axes may have another order.

use ferrosz_codec::container::extents::MAX_RANK;
use ferrosz_codec::divide::divide;

/// For each element of an array, its number in the user's order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Places {
    /// The lengths of the array's axes, slowest first; 1 where there is no axis.
    pub lengths: [u64; MAX_RANK],
    /// How many axes there are; 0 if elements have their numbers.
    pub rank: u32,
    /// The distance among the user's elements of neighbours along each of these axes.
    pub steps: [u64; MAX_RANK],
}

impl Places {
    /// Those of an array that has the user's order.
    pub const SAME: Self = Self {
        lengths: [1; MAX_RANK],
        rank: 0,
        steps: [0; MAX_RANK],
    };

    /// The user's number of element `number`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn of(&self, number: u64) -> u64 {
        if self.rank == 0 {
            return number;
        }
        let mut rest = number;
        let mut place = 0;
        for axis in (0..MAX_RANK).rev() {
            // The branch saves divisions.
            if self.lengths[axis] > 1 {
                let (quotient, at) = divide(rest, self.lengths[axis]);
                place += at * self.steps[axis];
                rest = quotient;
            }
        }
        // Without axes, the number itself is left.
        place + rest
    }
}

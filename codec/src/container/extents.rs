//! The extents of a field.

use crate::container::roles::{Role, Roles};
use core::ops::Range;

/// The most dimensions.
pub const MAX_RANK: usize = 8;

/// The extents of a field, slowest dimension first, and the roles of its axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extents {
    pub(super) rank: u8,
    /// The lengths of dimensions beyond the rank are 1.
    pub(super) lengths: [u64; MAX_RANK],
    pub(super) roles: Roles,
}

/// A field in the dimensions of cubes, z, y, x: slices of the same lengths, one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dimensions {
    pub(super) slices: u64,
    pub(super) lengths: [u64; 3],
    /// The most dimensions that blocks can have.
    pub(super) rank: u8,
}

impl Extents {
    /// Extents of at most [`MAX_RANK`] dimensions, slowest first, whose product fits in a `u64`. Those of no dimension are
    /// of a single element.
    pub fn new(lengths: &[u64]) -> Option<Self> {
        if lengths.len() > MAX_RANK {
            return None;
        }
        lengths
            .iter()
            .try_fold(1u64, |product, length| product.checked_mul(*length))?;
        let mut all = [1; MAX_RANK];
        all[..lengths.len()].copy_from_slice(lengths);
        Some(Self {
            rank: lengths.len() as u8,
            lengths: all,
            roles: Roles::DEFAULT,
        })
    }

    /// One dimension.
    pub const fn line(length: u64) -> Self {
        let mut lengths = [1; MAX_RANK];
        lengths[0] = length;
        Self {
            rank: 1,
            lengths,
            roles: Roles::DEFAULT,
        }
    }

    /// The lengths, slowest first.
    pub fn lengths(&self) -> &[u64] {
        &self.lengths[..usize::from(self.rank)]
    }

    /// The number of elements.
    pub fn elements(&self) -> u64 {
        self.lengths().iter().product()
    }

    /// The same extents with these roles of the axes; none if there are not as many roles as axes, or they are not
    /// possible.
    pub fn with_roles(mut self, roles: &[Role]) -> Option<Self> {
        if roles.len() != usize::from(self.rank) {
            return None;
        }
        self.roles = Roles::new(roles)?;
        Some(self)
    }

    /// Extents of these lengths with the same roles; none if there are not as many, or they are not possible.
    pub fn with_lengths(self, lengths: &[u64]) -> Option<Self> {
        let same = Self::new(lengths).filter(|same| same.rank == self.rank)?;
        Some(Self {
            roles: self.roles,
            ..same
        })
    }

    /// The same extents with the default rule for the roles of the axes.
    #[must_use]
    pub const fn with_default_roles(mut self) -> Self {
        self.roles = Roles::DEFAULT;
        self
    }

    /// The roles of the axes.
    pub const fn roles(&self) -> Roles {
        self.roles
    }

    /// The dimensions of cubes. Of a field without elements, all are 0.
    pub(super) fn dimensions(&self) -> Dimensions {
        // The product of all lengths fits, so that of some of them does, unless one is 0.
        if self.elements() == 0 {
            return Dimensions {
                slices: 1,
                lengths: [0; 3],
                rank: 1,
            };
        }
        if self.roles.is_default() {
            self.default_dimensions()
        } else {
            self.dimensions_of_roles()
        }
    }

    /// The last two axes that are longer than 1 are y and x, all before them are z.
    fn default_dimensions(&self) -> Dimensions {
        let mut lengths = [1; 3];
        let mut rank = 0;
        for length in self.lengths().iter().rev().filter(|length| **length != 1) {
            lengths[2 - rank.min(2)] *= *length;
            rank += 1;
        }
        Dimensions {
            slices: 1,
            lengths,
            rank: rank.min(3) as u8,
        }
    }

    fn dimensions_of_roles(&self) -> Dimensions {
        let mut all = [1; Role::ALL.len()];
        for (axis, length) in self.lengths().iter().enumerate() {
            all[usize::from(self.roles.of(axis).id())] *= length;
        }
        let [slices, z, y, x] = all;
        let rank = match [z, y, x].map(|length| length > 1) {
            [true, true, true] => 3,
            [_, true, true] => 2,
            _ => 1,
        };
        Dimensions {
            slices,
            lengths: [z, y, x],
            rank,
        }
    }

    /// The axes of each dimension of the coded field, z, y and x, as ranges of their numbers; slices belong to z. By
    /// the default rule axes of length 1 may belong to any dimension.
    pub fn axes_of_dimensions(&self) -> [Range<usize>; 3] {
        let rank = self.lengths().len();
        let mut starts = [0, 0];
        if self.roles.is_default() {
            let mut longer = (0..rank).rev().filter(|axis| self.lengths[*axis] != 1);
            // A dimension begins behind the last axis of the one before it.
            let mut behind = || longer.next().map_or(0, |axis| axis + 1);
            let (_, x, y) = (behind(), behind(), behind());
            starts = [y, x];
        } else {
            for (start, role) in starts.iter_mut().zip([Role::Y, Role::X]) {
                let before = |axis: &usize| self.roles.of(*axis) < role;
                *start = (0..rank).filter(before).count();
            }
        }
        let [y, x] = starts;
        [0..y, y..x, x..rank]
    }
}

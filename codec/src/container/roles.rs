//! The roles of a field's axes: which of them are coded together, and which are axes of slices.

use crate::container::extents::MAX_RANK;

/// What an axis of the coded field is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Its positions are slices, which are coded independently of each other.
    Slice,
    /// A part of the dimension z.
    Z,
    /// A part of the dimension y.
    Y,
    /// A part of the dimension x.
    X,
}

impl Role {
    /// All roles, in the order in which they follow each other in a coded field.
    pub const ALL: [Self; 4] = [Self::Slice, Self::Z, Self::Y, Self::X];

    /// Its number in the header.
    #[inline(always)]
    pub const fn id(self) -> u16 {
        match self {
            Self::Slice => 0,
            Self::Z => 1,
            Self::Y => 2,
            Self::X => 3,
        }
    }

    /// The role with this number modulo 4.
    const fn of_id(id: u16) -> Self {
        match id % 4 {
            0 => Self::Slice,
            1 => Self::Z,
            2 => Self::Y,
            _ => Self::X,
        }
    }

    /// Its letter in texts.
    pub const fn letter(self) -> char {
        match self {
            Self::Slice => 's',
            Self::Z => 'z',
            Self::Y => 'y',
            Self::X => 'x',
        }
    }

    /// The role with this letter.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.letter() == letter)
    }
}

/// The roles of the axes of a coded field, as the header has them: two bits for each axis, the slowest axis in the
/// lowest bits. 0 stands for the default rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Roles(u16);

impl Roles {
    /// The default rule of FORMAT.md, section 2.
    pub const DEFAULT: Self = Self(0);

    /// The roles of axes, slowest first. None if there are more than [`MAX_RANK`], if roles fall from one axis to the
    /// next, or if they leave out a dimension: there must be an x, a y if there is a z, and a z or a y only with those
    /// behind it.
    pub fn new(roles: &[Role]) -> Option<Self> {
        if roles.len() > MAX_RANK {
            return None;
        }
        let mut bits = 0;
        for (axis, role) in roles.iter().enumerate() {
            bits |= role.id() << (2 * axis);
        }
        Self::from_bits(bits, roles.len())
    }

    /// The roles in the header of a field with this many axes; none if the header is invalid.
    pub fn from_bits(bits: u16, rank: usize) -> Option<Self> {
        if bits == 0 {
            return Some(Self::DEFAULT);
        }
        let roles = Self(bits);
        let ends = rank >= MAX_RANK || bits >> (2 * rank) == 0;
        let rises = (1..rank).all(|axis| roles.of(axis - 1) <= roles.of(axis));
        let has = |role| (0..rank).any(|axis| roles.of(axis) == role);
        let are_whole = has(Role::X) && (has(Role::Y) || !has(Role::Z));
        (ends && rises && are_whole).then_some(roles)
    }

    /// The bits in the header.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether the default rule gives the dimensions.
    pub const fn is_default(self) -> bool {
        self.0 == 0
    }

    /// The role of an axis; only if the default rule does not hold.
    pub const fn of(self, axis: usize) -> Role {
        Role::of_id(self.0 >> (2 * axis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_rise_and_leave_out_no_dimension() {
        use Role::{Slice, X, Y, Z};
        let good = [
            &[X][..],
            &[Slice, X],
            &[Y, X],
            &[Slice, Slice, Z, Y, X],
            &[Z, Z, Y, Y, X, X],
            &[Slice, Slice, Slice, Slice, Slice, Z, Y, X],
        ];
        for roles in good {
            let packed = Roles::new(roles).expect("good roles");
            assert_eq!(Roles::from_bits(packed.bits(), roles.len()), Some(packed));
            assert!((0..roles.len()).all(|axis| packed.of(axis) == roles[axis]));
        }
        let bad = [
            &[X, Y][..],
            &[Slice, Y],
            &[Z, X],
            &[Slice, Z, Y],
            &[X, Slice],
        ];
        for roles in bad {
            assert_eq!(Roles::new(roles), None, "{roles:?}");
        }
        assert_eq!(Roles::new(&[X; MAX_RANK + 1]), None);
        // A role behind the last axis.
        assert_eq!(Roles::from_bits(0b11_11, 1), None);
        assert_eq!(Roles::from_bits(0, 3), Some(Roles::DEFAULT));
    }
}

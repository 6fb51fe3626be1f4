//! Axes: their order, and which of them are coded together. FORMAT.md, section 22.

use crate::container::extents::{Extents, MAX_RANK};
use crate::container::header::Header;
use crate::container::layout::Layout;
use crate::container::record;
use crate::container::record_kind::RecordKind;
use crate::container::roles::Role;
use crate::error::{AxesError, FormatError};
use crate::shape::Shape;
use core::fmt;
use core::str::FromStr;

/// The parts of a complex number: the length of their axis.
pub const PARTS: u64 = 2;

/// The order of a field's axes: for each axis of the coded field, the number of that axis in the user's order. Also whether
/// the last of the user's axes has the real and the imaginary parts of complex numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Order {
    rank: u8,
    axes: [u8; MAX_RANK],
    is_complex: bool,
}

impl Order {
    /// The order of these axes; none unless they are a permutation of the numbers of one to [`MAX_RANK`] axes.
    pub fn new(axes: &[u8]) -> Option<Self> {
        if axes.is_empty() || axes.len() > MAX_RANK {
            return None;
        }
        let has_each = (0..axes.len()).all(|axis| axes.contains(&(axis as u8)));
        let mut order = Self::identity(axes.len());
        order.axes[..axes.len()].copy_from_slice(axes);
        has_each.then_some(order)
    }

    /// The user's order, of this many axes, at most [`MAX_RANK`].
    pub fn identity(rank: usize) -> Self {
        Self {
            rank: rank.min(MAX_RANK) as u8,
            axes: core::array::from_fn(|axis| axis as u8),
            is_complex: false,
        }
    }

    /// The same order of a field of complex numbers, or of real ones.
    #[must_use]
    pub const fn with_complex(self, is_complex: bool) -> Self {
        Self { is_complex, ..self }
    }

    /// Whether the last of the user's axes has the real and the imaginary parts of complex numbers.
    pub const fn is_complex(&self) -> bool {
        self.is_complex
    }

    /// For each axis of the coded field, its number in the user's order.
    pub fn axes(&self) -> &[u8] {
        &self.axes[..usize::from(self.rank)]
    }

    /// Whether the coded field has the user's order.
    pub fn is_identity(&self) -> bool {
        let rank = usize::from(self.rank);
        self.axes() == Self::identity(rank).axes()
    }

    /// The order that leads back: for each of the user's axes, the number of that axis in the coded field.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let numbers = Self::identity(usize::from(self.rank)).axes;
        Self {
            axes: core::array::from_fn(|axis| match axis < usize::from(self.rank) {
                true => self.to_user(&numbers[..usize::from(self.rank)], 0)[axis],
                false => axis as u8,
            }),
            ..*self
        }
    }

    /// The order that the records of a stream with this header give. The records must have been checked.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidRecords`].
    pub fn of_records(records: &[u8], header: &Header) -> Result<Self, FormatError> {
        let order = Self::of_axes(records, &header.extents)?;
        let order = order.with_complex(has_complex(records)?);
        let parts = order
            .user_extents(&header.extents)
            .lengths()
            .last()
            .copied();
        if order.is_complex && (!header.value_type.is_coded_as_is() || parts != Some(PARTS)) {
            return Err(FormatError::InvalidRecords(
                "the record CPLX is of values that are no pairs of f32 or f64",
            ));
        }
        Ok(order)
    }

    /// The order by the record AXES.
    fn of_axes(mut records: &[u8], extents: &Extents) -> Result<Self, FormatError> {
        let rank = extents.lengths().len();
        let mut found = None;
        while let Some(record) = record::take(&mut records) {
            if record.kind != RecordKind::AXES {
                continue;
            }
            if found.is_some() {
                return Err(FormatError::InvalidRecords("there are two records AXES"));
            }
            let order = Self::new(record.contents);
            found = order.filter(|order| order.axes().len() == rank && !order.is_identity());
            if found.is_none() {
                return Err(FormatError::InvalidRecords(
                    "the record AXES is not another order of the axes",
                ));
            }
        }
        Ok(found.unwrap_or(Self::identity(rank)))
    }

    /// Brings one value for each of the user's axes, such as its length, into the order of the coded field's axes. The
    /// values behind the last axis are `rest`. `of_user` must have a value for each axis.
    pub fn to_coded<V: Copy>(&self, of_user: &[V], rest: V) -> [V; MAX_RANK] {
        let mut coded = [rest; MAX_RANK];
        for (value, axis) in coded.iter_mut().zip(self.axes()) {
            *value = of_user[usize::from(*axis)];
        }
        coded
    }

    /// Brings one value for each of the coded field's axes into the order of the user's axes. The values behind the last
    /// axis are `rest`. `coded` must have a value for each axis.
    pub fn to_user<V: Copy>(&self, coded: &[V], rest: V) -> [V; MAX_RANK] {
        let mut of_user = [rest; MAX_RANK];
        for (value, axis) in coded.iter().zip(self.axes()) {
            of_user[usize::from(*axis)] = *value;
        }
        of_user
    }

    /// The extents of the user's field, given those of the coded field.
    pub fn user_extents(&self, coded: &Extents) -> Extents {
        let lengths = self.to_user(coded.lengths(), 1);
        Extents::new(&lengths[..coded.lengths().len()]).unwrap_or(*coded)
    }
}

/// Whether there is a record CPLX, which has no contents.
fn has_complex(mut records: &[u8]) -> Result<bool, FormatError> {
    let mut found = false;
    while let Some(record) = record::take(&mut records) {
        if record.kind != RecordKind::CPLX {
            continue;
        }
        if found || !record.contents.is_empty() {
            return Err(FormatError::InvalidRecords(
                "there are two records CPLX, or one with contents",
            ));
        }
        found = true;
    }
    Ok(found)
}

/// The roles of a field's axes in the user's order.
///
/// Axes with the role *slice* separate fields that are coded independently of each other. The others are coded
/// together, in the dimensions z, y and x; several axes may have one role, and then they are one dimension. The coded
/// field has slices first, then z, y and x, each in the user's order; a field with another order is transposed for
/// that.
///
/// As text, the roles are letters with commas between:
///
/// ```
/// use ferrosz_codec::mapping::axes::Axes;
///
/// // Six times, each coded as a field of its own.
/// let axes: Axes = "s,z,y,x".parse()?;
/// assert!(axes.order().is_identity());
/// // A matrix whose columns are coded, instead of its rows.
/// let turned: Axes = "x,y".parse()?;
/// assert_eq!(turned.order().axes(), [1, 0]);
/// assert_eq!(turned.to_string(), "x,y");
/// # Ok::<(), ferrosz_codec::error::AxesError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Axes {
    rank: u8,
    roles: [Role; MAX_RANK],
}

impl Axes {
    /// These roles, in the user's order.
    ///
    /// # Errors
    ///
    /// [`AxesError`] if they are not one to [`MAX_RANK`], if none is x, or if there is a z without a y.
    pub fn new(roles: &[Role]) -> Result<Self, AxesError> {
        let has = |role| roles.contains(&role);
        if roles.len() > MAX_RANK || !has(Role::X) || has(Role::Z) && !has(Role::Y) {
            return Err(AxesError);
        }
        let mut all = [Role::Slice; MAX_RANK];
        all[..roles.len()].copy_from_slice(roles);
        Ok(Self {
            rank: roles.len() as u8,
            roles: all,
        })
    }

    /// The axes of a stream.
    pub fn of(layout: &Layout, order: &Order) -> Self {
        let extents = &layout.extents;
        let lengths = extents.lengths();
        let mut coded = [Role::X; MAX_RANK];
        let mut next = [Role::X, Role::Y, Role::Z].into_iter();
        let mut role = Role::X;
        for axis in (0..lengths.len()).rev() {
            // By the default rule, axes of length 1 do not count.
            if extents.roles().is_default() && lengths[axis] != 1 {
                role = next.next().unwrap_or(Role::Z);
            } else if !extents.roles().is_default() {
                role = extents.roles().of(axis);
            }
            // Planes are independent of each other along z.
            let is_slice = layout.shape == Shape::Plane && role == Role::Z;
            coded[axis] = if is_slice { Role::Slice } else { role };
        }
        if layout.shape == Shape::Line {
            coded = Self::of_line(order);
        }
        Self {
            rank: lengths.len() as u8,
            roles: order.to_user(&coded[..lengths.len()], Role::Slice),
        }
    }

    /// Roles for the axes of a coded field that is one line: those that give its order.
    fn of_line(order: &Order) -> [Role; MAX_RANK] {
        let mut slower = [Role::Y, Role::Z, Role::Slice].into_iter();
        let mut role = Role::X;
        let mut roles = [Role::X; MAX_RANK];
        let axes = order.axes();
        for axis in (0..axes.len()).rev() {
            // Axes of one role have the user's order.
            if axes
                .get(axis + 1)
                .is_some_and(|behind| *behind < axes[axis])
            {
                role = slower.next().unwrap_or(Role::Slice);
            }
            roles[axis] = role;
        }
        roles
    }

    /// The roles, in the user's order.
    pub fn roles(&self) -> &[Role] {
        &self.roles[..usize::from(self.rank)]
    }

    /// The order of the axes of the coded field.
    pub fn order(&self) -> Order {
        let mut axes = [0; MAX_RANK];
        let sorted = Role::ALL.into_iter().flat_map(|role| {
            let of_role = move |(_, found): &(u8, &Role)| **found == role;
            (0..).zip(self.roles()).filter(of_role)
        });
        for (place, (axis, _)) in axes.iter_mut().zip(sorted) {
            *place = axis;
        }
        Order {
            rank: self.rank,
            axes: core::array::from_fn(|axis| match axis < usize::from(self.rank) {
                true => axes[axis],
                false => axis as u8,
            }),
            is_complex: false,
        }
    }

    /// The extents of the coded field, given those of the user's field; none if there are not as many axes.
    pub fn coded_extents(&self, of_user: &Extents) -> Option<Extents> {
        let rank = of_user.lengths().len();
        if rank != usize::from(self.rank) {
            return None;
        }
        let order = self.order();
        let lengths = order.to_coded(of_user.lengths(), 1);
        let roles = order.to_coded(self.roles(), Role::X);
        Extents::new(&lengths[..rank])?.with_roles(&roles[..rank])
    }
}

impl FromStr for Axes {
    type Err = AxesError;

    fn from_str(text: &str) -> Result<Self, AxesError> {
        let mut roles = [Role::Slice; MAX_RANK];
        let mut rank = 0;
        for part in text.split(',') {
            let mut letters = part.trim().chars();
            let role = letters.next().and_then(Role::from_letter);
            let place = roles.get_mut(rank).ok_or(AxesError)?;
            *place = role.filter(|_| letters.next().is_none()).ok_or(AxesError)?;
            rank += 1;
        }
        Self::new(&roles[..rank])
    }
}

impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (axis, role) in self.roles().iter().enumerate() {
            let comma = if axis == 0 { "" } else { "," };
            write!(f, "{comma}{}", role.letter())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Bound;
    use crate::element::Dtype;
    use crate::pipeline::Codec;
    use crate::value::ValueType;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn records(kind: &[u8; 4], contents: &[u8]) -> Vec<u8> {
        record::to_bytes(&[record::Record {
            kind: RecordKind(*kind),
            contents,
        }])
    }

    #[test]
    fn texts_are_letters_with_commas() {
        for text in ["x", "s,z,y,x", "x,y", "z,y,x,s,s,z,y,x", "s,s,x"] {
            assert_eq!(text.parse::<Axes>().unwrap().to_string(), text);
        }
        assert_eq!(" s , x ".parse::<Axes>().unwrap().to_string(), "s,x");
        for bad in ["", "s", "z,x", "y", "q,x", "xy", "x,", "x,x,x,x,x,x,x,x,x"] {
            assert!(bad.parse::<Axes>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_coded_field_has_slices_first_and_x_last() {
        let axes: Axes = "x,s,y,z,s".parse().unwrap();
        assert_eq!(axes.order().axes(), [1, 4, 3, 2, 0]);
        assert_eq!(axes.order().inverse().axes(), [4, 0, 3, 2, 1]);
        let user = Extents::new(&[2, 3, 4, 5, 6]).unwrap();
        let coded = axes.coded_extents(&user).unwrap();
        assert_eq!(coded.lengths(), [3, 6, 5, 4, 2]);
        assert_eq!(axes.order().user_extents(&coded).lengths(), user.lengths());
        assert_eq!(axes.coded_extents(&Extents::line(7)), None);
        let layout = Layout::new(Codec::PLAIN, Shape::Cube, coded);
        assert_eq!(Axes::of(&layout, &axes.order()), axes);
    }

    #[test]
    fn the_default_rule_has_letters() {
        let of = |lengths: &[u64], shape| {
            let extents = Extents::new(lengths).unwrap();
            let layout = Layout::new(Codec::PLAIN, shape, extents);
            Axes::of(&layout, &Order::identity(lengths.len())).to_string()
        };
        assert_eq!(of(&[6, 10, 20, 30], Shape::Cube), "z,z,y,x");
        assert_eq!(of(&[6, 10, 20, 30], Shape::Plane), "s,s,y,x");
        assert_eq!(of(&[6, 10, 20, 30], Shape::Line), "x,x,x,x");
        assert_eq!(of(&[5, 20, 1, 30, 1], Shape::Cube), "z,y,x,x,x");
        // A line has the order that its axes give.
        let turned: Axes = "x,s,y,s".parse().unwrap();
        let coded = turned.coded_extents(&Extents::new(&[6, 10, 20, 30]).unwrap());
        let line = Layout::new(Codec::PLAIN, Shape::Line, coded.unwrap());
        let found = Axes::of(&line, &turned.order());
        assert_eq!(found.order(), turned.order());
    }

    #[test]
    fn records_are_permutations() {
        let extents = Extents::new(&[2, 3, 4]).unwrap();
        let of = |contents: &[u8]| Order::of_axes(&records(b"AXES", contents), &extents);
        assert_eq!(of(&[2, 0, 1]).unwrap().axes(), [2, 0, 1]);
        for bad in [
            &[0u8, 1, 2][..],
            &[1, 0],
            &[0, 0, 1],
            &[1, 2, 3],
            &[1, 0, 2, 3],
            &[],
        ] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
        let twice = [records(b"AXES", &[2, 0, 1]), records(b"AXES", &[2, 0, 1])].concat();
        assert!(Order::of_axes(&twice, &extents).is_err());
        let none = Order::of_axes(&records(b"note", &[1]), &extents).unwrap();
        assert!(none.is_identity());
    }

    #[test]
    fn complex_numbers_are_pairs_of_elements_along_the_users_last_axis() {
        let complex = records(b"CPLX", &[]);
        let turned = [records(b"AXES", &[2, 0, 1]), complex.clone()].concat();
        let of = |lengths: &[u64], value_type, records: &[u8]| {
            let extents = Extents::new(lengths).unwrap();
            let layout = Layout::new(Codec::PLAIN, Shape::Line, extents);
            let header = layout.header(Dtype::F32, Bound::default(), 0);
            let header = Header {
                value_type,
                ..header
            };
            Order::of_records(records, &header)
        };
        let found = of(&[3, 4, 2], ValueType::F32, &complex).unwrap();
        assert!(found.is_complex() && found.is_identity());
        // The coded field has the axis of the parts in front.
        let found = of(&[2, 3, 4], ValueType::F64, &turned).unwrap();
        assert_eq!((found.is_complex(), found.axes()), (true, &[2, 0, 1][..]));
        assert!(found.inverse().is_complex());
        assert!(!of(&[3, 4, 2], ValueType::F32, &[]).unwrap().is_complex());
        for (lengths, value_type, records) in [
            (&[3, 2, 4][..], ValueType::F32, complex.clone()),
            (&[3, 4, 2], ValueType::F32, turned),
            (&[3, 4, 2], ValueType::I16, complex.clone()),
            (&[3, 4, 2], ValueType::F16, complex.clone()),
            (&[], ValueType::F32, complex.clone()),
            (
                &[3, 4, 2],
                ValueType::F32,
                [complex.clone(), complex].concat(),
            ),
            (&[3, 4, 2], ValueType::F32, records(b"CPLX", &[0])),
        ] {
            assert!(
                of(lengths, value_type, &records).is_err(),
                "{lengths:?} {value_type}"
            );
        }
    }
}

//! The shapes of coding blocks: 32 elements in a line, 8 x 8 in a plane, 4 x 4 x 4 in a cube.
//!
//! These are the blocks of cuSZp2 and cuSZp3. A block is one or two *groups* of 32 elements, its first and second half.
//! One GPU thread holds a group; a group has one 32-bit word of every bit plane.

use core::fmt;

/// Elements of a group.
pub const GROUP: usize = 32;

/// The mask of a group in which every position holds an element.
pub const WHOLE_GROUP: u32 = u32::MAX;

/// The shape of a coding block.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// 32 neighbouring elements.
    Line,
    /// 8 rows of 8 elements.
    Plane,
    /// 4 slices of 4 rows of 4 elements.
    Cube,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 3] = [Self::Line, Self::Plane, Self::Cube];

    /// Its name in the names of kernels.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Plane => "plane",
            Self::Cube => "cube",
        }
    }

    /// Its number in the stream.
    pub const fn id(self) -> u8 {
        match self {
            Self::Line => 0,
            Self::Plane => 1,
            Self::Cube => 2,
        }
    }

    /// The shape with this number in the stream.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.id() == id)
    }

    /// The number of dimensions in which a block has an extent.
    pub const fn rank(self) -> u8 {
        self.id() + 1
    }

    /// The shape with this many dimensions.
    pub fn of_rank(rank: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.rank() == rank)
    }

    /// A block's extents, slowest dimension first.
    #[inline(always)]
    pub const fn extents(self) -> [u32; 3] {
        match self {
            Self::Line => [1, 1, 32],
            Self::Plane => [1, 8, 8],
            Self::Cube => [4, 4, 4],
        }
    }

    /// Elements of a row of a block.
    #[inline(always)]
    pub const fn row(self) -> usize {
        self.extents()[2] as usize
    }

    /// Elements of a slice of a block.
    #[inline(always)]
    pub const fn slice(self) -> usize {
        self.row() * self.extents()[1] as usize
    }

    /// Groups of a block.
    #[inline(always)]
    pub const fn groups(self) -> usize {
        self.elements() / GROUP
    }

    /// Elements of a block.
    #[inline(always)]
    pub const fn elements(self) -> usize {
        self.slice() * self.extents()[0] as usize
    }

    /// The distance between neighbours in the dimension in which groups follow each other: a row in a plane, a slice in
    /// a cube. This many last elements of the first group are the neighbours of the first elements of the second.
    #[inline(always)]
    pub const fn reach(self) -> usize {
        match self {
            Self::Line => 1,
            Self::Plane => self.row(),
            Self::Cube => self.slice(),
        }
    }

    /// The positions of a group at which a block holds elements: bit e for position e. In each dimension the field has
    /// `inside` elements from the block's first position on.
    #[inline(always)]
    pub fn inside(self, group: u32, inside: [u32; 3]) -> u32 {
        let [depth, height, width] = inside;
        let low = |count: u32| u32::MAX.unbounded_shr(32u32.saturating_sub(count));
        if matches!(self, Self::Line) {
            return if depth > 0 && height > 0 {
                low(width)
            } else {
                0
            };
        }
        let (row, slice) = (self.row(), self.slice());
        let width = low(width.min(row as u32));
        let mut mask = 0;
        for e in (0..GROUP).step_by(row) {
            let position = e + GROUP * group as usize;
            let is_inside =
                ((position / slice) as u32) < depth && ((position % slice / row) as u32) < height;
            mask |= if is_inside { width << e } else { 0 };
        }
        mask
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}D", self.rank())
    }
}

/// A shape as a type, for code that is compiled once for each.
pub trait StaticShape: 'static {
    /// The shape.
    const SHAPE: Shape;
    /// The shape in whose dimensions levels are counted: see [`TileOrder`](crate::tile::TileOrder).
    const LEVELS: Shape = Self::SHAPE;
    /// Its name in the names of kernels.
    const NAME: &'static str = Self::SHAPE.name();
}

/// An expression in which `S` is the type of a shape that is known only at run time: code is compiled once for each
/// shape, and this macro selects.
///
/// ```
/// use ferrosz_codec::shape::{Shape, StaticShape};
/// use ferrosz_codec::with_shape;
///
/// let shape = Shape::Plane;
/// assert_eq!(with_shape!(shape, S => S::SHAPE.rank()), 2);
/// ```
#[macro_export]
macro_rules! with_shape {
    ($shape:expr, $S:ident => $body:expr) => {
        match $shape {
            $crate::shape::Shape::Line => {
                type $S = $crate::shape::Line;
                $body
            }
            $crate::shape::Shape::Plane => {
                type $S = $crate::shape::Plane;
                $body
            }
            $crate::shape::Shape::Cube => {
                type $S = $crate::shape::Cube;
                $body
            }
        }
    };
}

/// Calls a macro with its own arguments, followed by every shape: its name in the names of kernels, and its type.
#[macro_export]
macro_rules! each_shape {
    ([$($macro:tt)+] $($arguments:tt)*) => {
        $($macro)+! {
            $($arguments)*
            ("line" $crate::shape::Line)
            ("plane" $crate::shape::Plane)
            ("cube" $crate::shape::Cube)
        }
    };
}

/// An expression in which `S` is the type of a [`TileOrder`](crate::tile::TileOrder) that is known only at run time: a shape, or
/// [`Slices`].
#[macro_export]
macro_rules! with_order {
    ($order:expr, $S:ident => $body:expr) => {{
        let order: $crate::tile::TileOrder = $order;
        if order.has_slices() {
            type $S = $crate::shape::Slices;
            $body
        } else {
            $crate::with_shape!(order.shape, $S => $body)
        }
    }};
}

/// As [`each_shape`](crate::each_shape), with [`Slices`] before the shapes.
#[macro_export]
macro_rules! each_order {
    ([$($macro:tt)+] $($arguments:tt)*) => {
        $crate::each_shape! {
            [$($macro)+] $($arguments)* ("slices" $crate::shape::Slices)
        }
    };
}

/// [`Shape::Line`] as a type.
pub struct Line;
/// [`Shape::Plane`] as a type.
pub struct Plane;
/// [`Shape::Cube`] as a type.
pub struct Cube;
/// Cubes whose slices have levels of their own.
pub struct Slices;

impl StaticShape for Line {
    const SHAPE: Shape = Shape::Line;
}

impl StaticShape for Plane {
    const SHAPE: Shape = Shape::Plane;
}

impl StaticShape for Cube {
    const SHAPE: Shape = Shape::Cube;
}

impl StaticShape for Slices {
    const SHAPE: Shape = Shape::Cube;
    const LEVELS: Shape = Shape::Plane;
    const NAME: &'static str = "slices";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_holds_what_the_block_has_inside() {
        for shape in Shape::ALL {
            let [d, h, w] = shape.extents();
            for inside in (0..125).map(|i| [i / 25, i / 5 % 5 * 2, i % 5 * 9]) {
                for group in 0..shape.groups() {
                    for e in 0..GROUP {
                        let position = group * GROUP + e;
                        let at = [
                            position / shape.slice(),
                            position % shape.slice() / shape.row(),
                            position % shape.row(),
                        ];
                        let wanted = (0..3).all(|i| (at[i] as u32) < inside[i]);
                        let found = shape.inside(group as u32, inside) >> e & 1 == 1;
                        assert_eq!(found, wanted, "{shape} {inside:?} {position}");
                    }
                }
            }
            assert_eq!(shape.elements() as u32, d * h * w);
            assert_eq!(
                shape.inside(shape.groups() as u32 - 1, [d, h, w]),
                WHOLE_GROUP
            );
        }
    }
}

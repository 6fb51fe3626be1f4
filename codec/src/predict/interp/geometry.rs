//! Anchors and windows.

use crate::shape::Shape;
use crate::tile;

/// The distance between anchors, and the positions that predictions use.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Geometry {
    /// cuSZ-i's geometry: in 3D anchors 8 apart and windows of 8 x 8 x 32.
    Narrow,
    /// cuSZ-Hi's geometry: in 3D anchors 16 apart and windows of 16 x 16 x 16.
    Square,
    /// As `Square`, but a window is a whole tile: 16 x 16 x 64 in 3D, 256 x 64 in 2D, 16,384 in 1D.
    #[default]
    Wide,
    /// As `Narrow`, but windows of 8 x 16 x 16 in 3D.
    #[cfg(feature = "toy")]
    ToyGeometry,
}

/// The most levels: those between anchors that are 512 apart.
pub const MAX_LEVELS: usize = 9;

impl Geometry {
    /// All geometries.
    pub const ALL: [Self; 3 + cfg!(feature = "toy") as usize] = [
        Self::Narrow,
        Self::Square,
        Self::Wide,
        #[cfg(feature = "toy")]
        Self::ToyGeometry,
    ];

    /// Its number in the stream.
    pub const fn id(self) -> u32 {
        match self {
            Self::Narrow => 0,
            Self::Square => 1,
            Self::Wide => 2,
            #[cfg(feature = "toy")]
            Self::ToyGeometry => 3,
        }
    }

    /// The geometry with this number in the stream.
    pub fn from_id(id: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|geometry| geometry.id() == id)
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Narrow => "narrow",
            Self::Square => "square",
            Self::Wide => "wide",
            #[cfg(feature = "toy")]
            Self::ToyGeometry => "toy-geometry",
        }
    }

    /// The distance between anchors; a power of two.
    #[inline(always)]
    pub const fn spacing(self, shape: Shape) -> u32 {
        match (shape, self) {
            (Shape::Line, _) => 512,
            (Shape::Cube, Self::Narrow) => 8,
            #[cfg(feature = "toy")]
            (Shape::Cube, Self::ToyGeometry) => 8,
            (Shape::Plane, _) | (Shape::Cube, Self::Square | Self::Wide) => 16,
        }
    }

    /// Levels of positions between anchors; the unit of level l is 2^l.
    #[inline(always)]
    pub const fn levels(self, shape: Shape) -> u32 {
        self.spacing(shape).trailing_zeros()
    }

    /// A window's extents; powers of two that divide the extents of a tile.
    #[inline(always)]
    pub const fn window(self, shape: Shape) -> [u32; 3] {
        match (shape, self) {
            (_, Self::Wide) => tile::extents(shape),
            (Shape::Line, _) => [1, 1, 512],
            (Shape::Plane, _) => [1, 16, 16],
            (Shape::Cube, Self::Narrow) => [8, 8, 32],
            (Shape::Cube, Self::Square) => [16, 16, 16],
            #[cfg(feature = "toy")]
            (Shape::Cube, Self::ToyGeometry) => [8, 16, 16],
        }
    }
}

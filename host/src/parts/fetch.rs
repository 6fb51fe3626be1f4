//! Values of other members: a member asks for boxes of positions, and gets their values.

use crate::error::Error;
use crate::memory;
use crate::parts::decomposition::{Decomposition, Run};
use crate::peers::{Group, Message, agree};
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::{Element, Shape};
use std::collections::BTreeMap;
use std::ops::Range;

/// The elements of the field at the positions of a grid: those of the field itself, or of a field of anchors.
pub(super) struct Lattice<'a> {
    /// The number in the field of the element at a position.
    pub(super) element: Box<dyn Fn([u64; 3]) -> u64 + Sync + 'a>,
    /// The distance of neighbours along x in the field.
    pub(super) spacing: u64,
}

impl<'a> Lattice<'a> {
    /// The positions of `grid`, which are those of `fine` with this spacing.
    pub(super) fn of_tiles(fine: &'a TileGrid, grid: &'a TileGrid, spacing: u32) -> Self {
        Self {
            element: Box::new(move |at| fine.flat(fine.of_coarse(grid, spacing, at))),
            spacing: u64::from(spacing),
        }
    }
}

/// A box of positions of a grid, slowest dimension first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) origin: [u64; 3],
    pub(super) extents: [u64; 3],
}

impl Window {
    /// The number of positions.
    pub(super) fn positions(&self) -> u64 {
        self.extents.iter().product()
    }

    /// The number of a position in C order; none if it is outside.
    pub(super) fn index(&self, at: [u64; 3]) -> Option<usize> {
        let mut index = 0;
        for ((at, origin), extent) in at.into_iter().zip(self.origin).zip(self.extents) {
            let inside = at.checked_sub(origin)?;
            if inside >= extent {
                return None;
            }
            index = index * extent + inside;
        }
        Some(index as usize)
    }

    /// Whether all positions of another window are in this one.
    fn has(&self, other: &Self) -> bool {
        (0..3).all(|axis| {
            let start = other.origin[axis].checked_sub(self.origin[axis]);
            start.is_some_and(|start| start + other.extents[axis] <= self.extents[axis])
        })
    }

    /// The smallest window that has both.
    pub(super) fn around(&self, other: &Self) -> Self {
        let origin = std::array::from_fn(|axis| self.origin[axis].min(other.origin[axis]));
        let end = |window: &Self, axis: usize| window.origin[axis] + window.extents[axis];
        Self {
            origin,
            extents: std::array::from_fn(|axis| {
                end(self, axis).max(end(other, axis)) - origin[axis]
            }),
        }
    }

    pub(super) fn to_bytes(self) -> impl Iterator<Item = u8> {
        let numbers = self.origin.into_iter().chain(self.extents);
        numbers.flat_map(u64::to_le_bytes)
    }

    pub(super) fn from_bytes(bytes: &[u8; WINDOW_BYTES]) -> Self {
        let number = |i: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 * i + byte]));
        Self {
            origin: std::array::from_fn(number),
            extents: std::array::from_fn(|i| number(3 + i)),
        }
    }
}

/// Bytes of a window in a message.
pub(super) const WINDOW_BYTES: usize = 48;

/// The part of the field that a member has.
#[derive(Clone, Copy)]
pub(super) struct Held<'a, T> {
    pub(super) decomposition: &'a Decomposition,
    pub(super) rank: usize,
    /// The values of its box, in C order.
    pub(super) values: &'a [T],
    /// The box in the dimensions of chunks and tiles, if it is one there.
    pub(super) own: Option<Window>,
}

/// A member's box in the dimensions z, y and x of chunks and tiles; none if it is no box there, as several axes are one
/// dimension.
pub(super) fn own_window(layout: &Layout, own: &[Range<u64>]) -> Option<Window> {
    let extents = &layout.extents;
    let mut dimensions = extents.axes_of_dimensions();
    if layout.shape == Shape::Line {
        dimensions = [0..0, 0..0, 0..own.len()];
    }
    let range = |axes: &Range<usize>| {
        let mut longer = axes.clone().filter(|axis| extents.lengths()[*axis] > 1);
        let found = longer.next().map_or(0..1, |axis| own[axis].clone());
        longer.next().is_none().then_some(found)
    };
    let [z, y, x] = [0, 1, 2].map(|dimension| range(&dimensions[dimension]));
    let ranges = [z?, y?, x?];
    let is_empty = own.iter().any(Range::is_empty);
    (!is_empty).then(|| Window {
        origin: ranges.clone().map(|range| range.start),
        extents: ranges.map(|range| range.end - range.start),
    })
}

impl<T: Element> Held<'_, T> {
    /// The elements at the positions of a window, in runs of one member.
    pub(super) fn runs(&self, lattice: &Lattice<'_>, window: &Window, mut each: impl FnMut(Run)) {
        let [depth, height, width] = window.extents;
        let [z, y, x] = window.origin;
        let own = self
            .own
            .filter(|own| lattice.spacing == 1 && own.has(window));
        for row in 0..depth * height {
            if let Some(place) =
                own.and_then(|own| own.index([z + row / height, y + row % height, x]))
            {
                each(Run {
                    owner: self.rank,
                    first: (lattice.element)([z + row / height, y + row % height, x]),
                    place,
                    count: width,
                });
                continue;
            }
            let first = (lattice.element)([z + row / height, y + row % height, x]);
            match lattice.spacing {
                1 => self.decomposition.runs(self.rank, first, width, &mut each),
                spacing => (0..width).for_each(|i| {
                    let element = first + i * spacing;
                    self.decomposition.runs(self.rank, element, 1, &mut each);
                }),
            }
        }
    }

    /// The values of an own run.
    fn own(&self, run: Run) -> &[T] {
        &self.values[run.place..run.place + run.count as usize]
    }

    /// Whether this member has all values of a window.
    pub(super) fn has(&self, lattice: &Lattice<'_>, window: &Window) -> bool {
        let mut has = true;
        self.runs(lattice, window, |run| has &= run.owner == self.rank);
        has
    }

    /// Calls `each` with the values of a window that this member has, in C order, without those that it does not have.
    pub(super) fn read(&self, lattice: &Lattice<'_>, window: &Window, mut each: impl FnMut(&[T])) {
        self.runs(lattice, window, |run| {
            if run.owner == self.rank {
                each(self.own(run));
            }
        });
    }

    /// As [`Held::read`], into a vector.
    pub(super) fn append(&self, lattice: &Lattice<'_>, window: &Window, values: &mut Vec<T>) {
        self.read(lattice, window, |run| values.extend_from_slice(run));
    }
}

/// The values of windows, each in C order, whichever members have them. All members call it, each with the windows that it
/// needs.
///
/// # Errors
///
/// [`Error::Group`]; [`Error::OutOfMemory`].
pub(super) fn fetch<T: Element>(
    group: &dyn Group,
    held: &Held<'_, T>,
    lattice: &Lattice<'_>,
    windows: &[Window],
) -> Result<Vec<Vec<T>>, Error> {
    // 1. Each member asks those that have some of its windows.
    let requests = exchange(group, requests(held, lattice, windows))?;
    // 2. They send what they have of them.
    let replies = requests.iter().map(|(rank, bytes)| {
        let (asked, rest) = bytes.as_chunks::<WINDOW_BYTES>();
        let mut values = Vec::new();
        for window in asked {
            held.append(lattice, &Window::from_bytes(window), &mut values);
        }
        match rest {
            [] => Ok((*rank, bytemuck::cast_slice(&values).to_vec())),
            _ => Err(bad_message()),
        }
    });
    let replies = agree(group, replies.collect())?;
    let replies = exchange(group, replies)?;
    // 3. The windows are put together.
    let mut rest: BTreeMap<usize, &[u8]> = (replies.iter())
        .map(|(rank, bytes)| (*rank, &bytes[..]))
        .collect();
    let assembled = windows.iter().map(|window| {
        let mut values: Vec<T> = memory::try_zeroed(window.positions())?;
        let mut next = &mut values[..];
        let mut missing = false;
        held.runs(lattice, window, |run| {
            let (to, behind) = std::mem::take(&mut next).split_at_mut(run.count as usize);
            next = behind;
            if run.owner == held.rank {
                to.copy_from_slice(held.own(run));
                return;
            }
            let to = bytemuck::cast_slice_mut::<T, u8>(to);
            let from = rest.get_mut(&run.owner);
            match from.and_then(|from| from.split_off(..to.len())) {
                Some(bytes) => to.copy_from_slice(bytes),
                None => missing = true,
            }
        });
        match missing {
            false => Ok(values),
            true => Err(bad_message()),
        }
    });
    agree(group, assembled.collect())
}

/// The messages that ask other members for what they have of these windows.
fn requests<T: Element>(
    held: &Held<'_, T>,
    lattice: &Lattice<'_>,
    windows: &[Window],
) -> BTreeMap<usize, Vec<u8>> {
    let mut requests = BTreeMap::<usize, Vec<u8>>::new();
    for window in windows {
        let mut owners = Vec::new();
        held.runs(lattice, window, |run| {
            if run.owner != held.rank && owners.last() != Some(&run.owner) {
                owners.push(run.owner);
            }
        });
        owners.sort_unstable();
        owners.dedup();
        for owner in owners {
            requests.entry(owner).or_default().extend(window.to_bytes());
        }
    }
    requests
}

/// Sends bytes to members, and returns what they sent.
///
/// # Errors
///
/// [`Error::Group`].
pub(super) fn exchange(
    group: &dyn Group,
    bytes: BTreeMap<usize, Vec<u8>>,
) -> Result<BTreeMap<usize, Vec<u8>>, Error> {
    let messages = bytes
        .into_iter()
        .map(|(rank, bytes)| Message { rank, bytes });
    let got = group.exchange(messages.collect())?;
    Ok(got.into_iter().map(|got| (got.rank, got.bytes)).collect())
}

/// The error of a message that no member sends.
pub(super) fn bad_message() -> Error {
    Error::Group {
        action: "read a message of another member",
        reason: "it has another length than asked for".to_owned(),
    }
}

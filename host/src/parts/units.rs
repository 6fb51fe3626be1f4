//! The chunks and tiles of a member: those whose first element it has.

use crate::parts::fetch::Held;
use ferrosz_codec::Element;

/// The numbers of the units whose first element a member has, in ascending order.
///
/// `lengths` are the extents of the field in the dimensions of its units, `width` is the extent of a unit along x, and
/// `starts_at` gives the number of the unit that starts at a position, if one does.
pub(super) fn units_of<T: Element>(
    held: &Held<'_, T>,
    lengths: [u64; 3],
    width: u64,
    starts_at: impl Fn([u64; 3]) -> Option<u64>,
) -> Vec<u64> {
    let [_, rows, columns] = lengths;
    let mut units = Vec::new();
    for run in held.decomposition.rows(held.rank) {
        // A row of a box is within a row of the units' dimensions.
        let [z, y, x] = [
            run.first / columns / rows,
            run.first / columns % rows,
            run.first % columns,
        ];
        let starts = (x.next_multiple_of(width)..x + run.count).step_by(width as usize);
        // If no unit starts at this z and y, none does along the row.
        units.extend(starts.map_while(|x| starts_at([z, y, x])));
    }
    units.sort_unstable();
    units
}

//! The summaries of a field's chunks, on the CPU.

use crate::parallel;
use crate::statistics::places::UserPlaces;
use ferrosz_codec::Value;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::statistics::{chunks, units};
use ferrosz_codec::container::summary::ValueSummary;
use ferrosz_codec::mapping::axes::Order;

/// The summaries of the chunks of a user's field, in which these numbers stand for missing values.
pub(crate) fn summaries<V: Value>(
    layout: &Layout,
    order: &Order,
    fills: &[f64],
    field: &[V],
) -> Vec<ValueSummary> {
    let fills: Vec<u64> = fills.iter().map(|fill| fill.to_bits()).collect();
    let field = SummedField {
        grid: layout.grid(),
        places: UserPlaces::new(&layout.extents, order),
        fills: &fills,
        values: field,
    };
    parallel::map_with(0..chunks(layout), Vec::new, |numbers, chunk| {
        let units = units(layout, chunk).into_iter();
        let of_units = units.map(|unit| {
            field.gather(&unit, numbers);
            ValueSummary::of_unit(numbers)
        });
        of_units
            .reduce(ValueSummary::and)
            .unwrap_or(ValueSummary::EMPTY)
    })
}

/// A user's field, and where the elements of its coded field are.
struct SummedField<'a, V> {
    grid: Grid,
    places: UserPlaces,
    fills: &'a [u64],
    values: &'a [V],
}

impl<V: Value> SummedField<'_, V> {
    /// The numbers of a unit in C order of its box, NaN in place of missing ones.
    fn gather(&self, unit: &ChunkBox, numbers: &mut Vec<f64>) {
        let ([z, y, x], [depth, height, width]) = (unit.origin, unit.extents.map(u64::from));
        numbers.clear();
        for row in 0..depth * height {
            let first = self.grid.flat([z + row / height, y + row % height, x]);
            (self.places).each(first, width, |place| {
                numbers.push(self.values[place as usize].to_number());
            });
        }
        if !self.fills.is_empty() {
            let is_missing = |number: &&mut f64| self.fills.contains(&number.to_bits());
            numbers
                .iter_mut()
                .filter(is_missing)
                .for_each(|number| *number = f64::NAN);
        }
    }
}

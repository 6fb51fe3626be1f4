//! A member's chunks of blocks.

use crate::cpu::Version;
use crate::cpu::blocks::compress::{self, ChunkValues, Lent};
use crate::cpu::code::fixed_length::Source;
use crate::cpu::numbers::Numbers;
use crate::encoded::EncodedChunks;
use crate::error::Error;
use crate::parallel;
use crate::parts::fetch::{Held, Lattice, Window, fetch};
use crate::parts::units::units_of;
use crate::peers::{Group, agree};
use crate::progress::SILENT;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::layout::BlockLayout;
use ferrosz_codec::quantize::field::Quantizer;
use std::collections::BTreeMap;

/// Encodes the chunks whose first element this member has.
///
/// # Errors
///
/// [`Error::Group`]; [`Error::OutOfMemory`].
pub(super) fn encode<T: Element>(
    version: Version,
    group: &dyn Group,
    layout: BlockLayout,
    quantizer: &Quantizer<T>,
    held: &Held<'_, T>,
) -> Result<EncodedChunks, Error> {
    let grid = layout.grid;
    let lattice = Lattice {
        element: Box::new(move |at| grid.flat(at)),
        spacing: 1,
    };
    let numbers = owned(&grid, held);
    let values = MemberValues::fetch(group, grid, held, lattice, &numbers)?;
    let mut own = EncodedChunks::default();
    let put = &mut |wave: &[EncodedChunks], _| own.append(wave);
    let numbers = Numbers::List(&numbers);
    let encoded = compress::encode(version, layout, quantizer, &values, numbers, SILENT, put);
    agree(group, encoded.map(|()| own))
}

/// The values of a member's chunks.
struct MemberValues<'a, T> {
    grid: Grid,
    held: &'a Held<'a, T>,
    lattice: Lattice<'a>,
    /// The chunks of which other members have some values.
    fetched: BTreeMap<u64, Vec<T>>,
}

impl<'a, T: Element> MemberValues<'a, T> {
    /// Fetches the values of these chunks that the member does not have.
    fn fetch(
        group: &dyn Group,
        grid: Grid,
        held: &'a Held<'a, T>,
        lattice: Lattice<'a>,
        numbers: &[u64],
    ) -> Result<Self, Error> {
        let of_others = parallel::map(numbers.iter(), |number| {
            let window = window(&grid.chunk(*number));
            (!held.has(&lattice, &window)).then_some((*number, window))
        });
        let (numbers, windows): (Vec<u64>, Vec<Window>) = of_others.into_iter().flatten().unzip();
        let values = fetch(group, held, &lattice, &windows)?;
        Ok(Self {
            grid,
            held,
            lattice,
            fetched: numbers.into_iter().zip(values).collect(),
        })
    }
}

impl<T: Element> ChunkValues<T> for MemberValues<'_, T> {
    fn source<'a>(&'a self, chunk: u64, lent: &'a mut Lent<T>) -> Source<'a, T> {
        let place = self.grid.chunk(chunk);
        lent.grid = Grid::alone(&self.grid, &place);
        let field = match self.fetched.get(&chunk) {
            Some(values) => values,
            None => {
                lent.values.clear();
                (self.held).append(&self.lattice, &window(&place), &mut lent.values);
                &lent.values
            }
        };
        Source {
            field,
            grid: &lent.grid,
            chunk: 0,
        }
    }
}

/// The numbers of the chunks whose first element a member has, in ascending order.
fn owned<T: Element>(grid: &Grid, held: &Held<'_, T>) -> Vec<u64> {
    let starts_at = |at: [u64; 3]| {
        let (number, index) = grid.chunk_of(at);
        (index == 0).then_some(number)
    };
    let width = 1 << grid.tile()[2];
    units_of(held, grid.lengths(), width, starts_at)
}

fn window(chunk: &ChunkBox) -> Window {
    Window {
        origin: chunk.origin,
        extents: chunk.extents.map(u64::from),
    }
}

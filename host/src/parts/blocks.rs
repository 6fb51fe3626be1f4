//! A member's chunks of blocks.

use crate::cpu::Version;
use crate::cpu::code::fixed_length::{IMAGE_BYTES, Source};
use crate::error::Error;
use crate::parallel;
use crate::parts::fetch::{Held, Lattice, Window, fetch};
use crate::parts::group::Group;
use crate::parts::place::Stored;
use crate::parts::units::units_of;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::layout::BlockLayout;
use ferrosz_codec::quantize::field::Quantizer;

/// Encodes the chunks whose first element this member has.
///
/// # Errors
///
/// [`Error::Group`]; [`Error::OutOfMemory`].
pub(super) fn encode<T: Element>(
    version: Version,
    group: &dyn Group,
    BlockLayout { codec, grid }: BlockLayout,
    quantizer: &Quantizer<T>,
    held: &Held<'_, T>,
) -> Result<Vec<Stored>, Error> {
    let lattice = Lattice {
        element: Box::new(|at| grid.flat(at)),
        spacing: 1,
    };
    // 1. The chunks of this member, and the values that it does not have.
    let numbers = owned(&grid, held);
    let chunks = parallel::map(numbers.into_iter(), |number| {
        let window = window(&grid.chunk(number));
        (number, window, held.has(&lattice, &window))
    });
    let of_others = chunks.iter().filter(|(_, _, is_own)| !is_own);
    let windows: Vec<Window> = of_others.map(|(_, window, _)| *window).collect();
    let mut fetched = fetch(group, held, &lattice, &windows)?.into_iter();
    // 2. Each chunk is encoded as a field of its own with the same blocks.
    let sources: Vec<_> = (chunks.iter())
        .map(|(number, window, is_own)| {
            let values = if *is_own { None } else { fetched.next() };
            (*number, window, values)
        })
        .collect();
    let scratch = || (Vec::new(), vec![0; IMAGE_BYTES]);
    let encode = |(own, image): &mut (Vec<T>, Vec<u8>), (number, window, values)| {
        let values: &Option<Vec<T>> = values;
        let values = match values {
            Some(values) => values,
            None => {
                own.clear();
                held.append(&lattice, window, own);
                own
            }
        };
        let source = Source {
            field: values,
            grid: &Grid::alone(&grid, &grid.chunk(number)),
            chunk: 0,
        };
        let (form, length, sum) = version.encode(codec, quantizer, source, image);
        Stored {
            number,
            form: form.id(),
            listed: length as u64,
            sum,
            bytes: image[..length].to_vec(),
        }
    };
    let stored = parallel::map_with(
        sources.iter(),
        scratch,
        |scratch, (number, window, values)| encode(scratch, (*number, *window, values)),
    );
    Ok(stored)
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

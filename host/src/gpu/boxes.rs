//! Boxes of a field on a machine that runs kernels, copied to the host: all boxes of a list with one copy.

use crate::error::Error;
use crate::gpu::executor::{Executor, blocks_of};
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_gpu_kernels::primitives::read_boxes::{
    BLOCKS_OF_BOX, BoxToRead, ReadBoxes, ReadBoxesParams,
};
use ferrosz_simt::View;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory that boxes are copied through: as much as the longest list so far has needed.
pub(crate) struct BoxMemory<M> {
    of_machine: Option<M>,
    of_host: HostMemory,
}

// Not derived: memory of a machine has no default.
impl<M> Default for BoxMemory<M> {
    fn default() -> Self {
        Self {
            of_machine: None,
            of_host: HostMemory::default(),
        }
    }
}

/// Memory of the host. The process keeps some for its next calls: the system needs longer for the first writes to new memory
/// than the copies from the machine take.
#[derive(Default)]
struct HostMemory(Vec<u64>);

/// What is kept: as many pieces, each of as many bytes at most. Samples have up to 17 MB.
const KEPT: usize = 2;
const LONGEST_KEPT: usize = 1 << 25;

static IDLE: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());

impl HostMemory {
    /// So many bytes, with any contents.
    fn bytes(&mut self, count: usize) -> &mut [u8] {
        if self.0.is_empty() {
            self.0 = idle().pop().unwrap_or_default();
        }
        let units = count.div_ceil(8);
        if self.0.len() < units {
            self.0.resize(units, 0);
        }
        &mut bytemuck::cast_slice_mut(&mut self.0)[..count]
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let mut idle = idle();
        if !self.0.is_empty() && idle.len() < KEPT && size_of_val(&*self.0) <= LONGEST_KEPT {
            idle.push(std::mem::take(&mut self.0));
        }
    }
}

fn idle() -> MutexGuard<'static, Vec<Vec<u64>>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M> BoxMemory<M> {
    /// The elements of boxes of a field, each row by row. Waits for the work so far.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] and [`Error::TooLarge`], or an error of the machine.
    pub(crate) fn read<T: Element, E: Executor<Memory = M>>(
        &mut self,
        executor: &E,
        field: View<u32>,
        grid: &Grid,
        places: &[ChunkBox],
    ) -> Result<Vec<Vec<T>>, Error> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let (list, elements) = to_list(grid, places);
        let (list_bytes, bytes) = (8 * list.len() as u64, elements * T::BYTES as u64);
        let memory = self.memory(executor, list_bytes + bytes)?;
        let (boxes, output) = (memory.first(list_bytes / 4), memory.from(list_bytes / 4));
        executor.upload(bytemuck::cast_slice(&list), boxes)?;
        let list = (boxes.pairs(), places.len() as u64);
        enqueue_read::<T, E>(executor, field, grid, list, output)?;
        let read = self.of_host.bytes(bytes as usize);
        executor.download(output, 0, read)?;
        Ok(parted(places, bytemuck::cast_slice(read)))
    }

    /// At least so many bytes of the machine.
    pub(crate) fn memory<E: Executor<Memory = M>>(
        &mut self,
        executor: &E,
        bytes: u64,
    ) -> Result<View<u32>, Error> {
        let words = |memory: &M| executor.view::<u32>(memory);
        let has_room = |memory: &M| 4 * words(memory).len() >= bytes;
        let memory = match self.of_machine.take().filter(has_room) {
            Some(memory) => memory,
            None => executor.allocate(bytes)?,
        };
        Ok(words(self.of_machine.insert(memory)))
    }
}

/// Enqueues the copying of boxes of a field: a list, as [`BoxToRead::to_list`] has it, of so many.
///
/// # Errors
///
/// [`Error::TooLarge`], or an error of the machine.
pub(super) fn enqueue_read<T: Element, E: Executor>(
    executor: &E,
    field: View<u32>,
    grid: &Grid,
    (boxes, count): (View<u64>, u64),
    output: View<u32>,
) -> Result<(), Error> {
    let [_, rows, row] = grid.lengths();
    let params = ReadBoxesParams {
        field,
        slice: rows * row,
        row,
        boxes,
        output,
    };
    let blocks = blocks_of::<T>(count * u64::from(BLOCKS_OF_BOX), grid.elements())?;
    executor.launch::<ReadBoxes<T>>(blocks, &params)
}

/// The list of boxes, whose elements lie one box behind the other, and the number of all elements.
fn to_list(grid: &Grid, places: &[ChunkBox]) -> (Vec<u64>, u64) {
    let mut to = 0;
    let in_list = |place: &ChunkBox| {
        let of = BoxToRead {
            from: grid.flat(place.origin),
            to,
            extents: place.extents,
        };
        to += u64::from(place.elements());
        of.to_list()
    };
    (places.iter().flat_map(in_list).collect(), to)
}

/// The elements of each box, which lie one box behind the other.
fn parted<T: Element>(places: &[ChunkBox], elements: &[T]) -> Vec<Vec<T>> {
    let mut rest = elements;
    let own = |place: &ChunkBox| {
        let (own, behind) = rest.split_at(place.elements() as usize);
        rest = behind;
        own
    };
    parallel::map(places.iter().map(own), <[T]>::to_vec)
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::choose;
    use crate::gpu::executor::emulator;
    use ferrosz_codec::Shape;
    use ferrosz_codec::container::extents::Extents;
    use ferrosz_codec::mapping::axes::Axes;

    /// Reads lists of boxes on the emulator through the same memory, beside the CPU.
    fn check<T: Element>(axes: &str, lengths: &[u64], shape: Shape, of_box: [u32; 3]) {
        let axes: Axes = axes.parse().unwrap();
        let extents = Extents::new(lengths).unwrap();
        let grid = Grid::new(shape, &axes.coded_extents(&extents).unwrap());
        let field: Vec<T> = (0..grid.elements())
            .map(|i| T::from_f64(i as f64 + 0.5))
            .collect();
        let executor = emulator::new();
        let memory = executor.allocate(size_of_val(&*field) as u64).unwrap();
        let view = executor.view(&memory);
        executor.upload(bytemuck::cast_slice(&field), view).unwrap();
        let mut boxes = BoxMemory::default();
        let lists = lists(grid.lengths(), of_box);
        for places in &lists {
            let found: Vec<Vec<T>> = boxes.read(&executor, view, &grid, places).unwrap();
            let wanted = places
                .iter()
                .map(|place| choose::read_box(&grid, place, &field));
            assert!(found.into_iter().eq(wanted), "{lengths:?} {places:?}");
        }
    }

    /// Some boxes: single elements at the corners, the whole, one from the middle on. All boxes of some extents, clipped at the
    /// far edges. None. Some again, for which there is more memory than they need.
    fn lists(lengths: [u64; 3], extents: [u32; 3]) -> [Vec<ChunkBox>; 4] {
        let clipped = |origin: [u64; 3], extents: [u32; 3]| {
            let left = |i: usize| (lengths[i] - origin[i]).min(u64::from(extents[i])) as u32;
            ChunkBox {
                origin,
                extents: std::array::from_fn(left),
            }
        };
        let last = lengths.map(|length| length - 1);
        let some = vec![
            clipped(last, [1; 3]),
            clipped([0; 3], [u32::MAX; 3]),
            clipped([0; 3], [1; 3]),
            clipped(last.map(|at| at / 2), extents),
        ];
        let steps = |i: usize| (0..lengths[i]).step_by(extents[i] as usize);
        let all = steps(0)
            .flat_map(|z| steps(1).flat_map(move |y| steps(2).map(move |x| [z, y, x])))
            .map(|origin| clipped(origin, extents));
        [some.clone(), all.collect(), Vec::new(), some]
    }

    fn check_all<T: Element>() {
        check::<T>("x", &[9001], Shape::Line, [1, 1, 65]);
        // The boxes of a line do not end with the rows of its field.
        check::<T>("y,x", &[21, 37], Shape::Line, [1, 1, 100]);
        check::<T>("y,x", &[70, 83], Shape::Plane, [1, 33, 33]);
        check::<T>("z,y,x", &[5, 21, 37], Shape::Plane, [2, 9, 17]);
        check::<T>("z,y,x", &[13, 18, 35], Shape::Cube, [5, 5, 5]);
        // Slices lie one behind the other along z, and boxes may reach from one into the next.
        check::<T>("s,z,y,x", &[4, 7, 10, 19], Shape::Cube, [5, 5, 17]);
    }

    #[test]
    fn boxes_are_those_of_the_cpu() {
        check_all::<f32>();
        check_all::<f64>();
    }
}
